package planes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/kernelized"
	"metriclab/pkg/learners/ssikdr"
	"metriclab/pkg/papers/logdet2012/bags"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Fig2cd embeds digits in the plane by what is learned from 100 labelled ones: Trace-SSIKDR beside kernel PCA, and kernel FDA as a control.
//
// Labelled digits and the unlabelled ones that a graph or kernel PCA may have come from zip.train. Queries are other digits, from zip.test and
// from zip.train: nothing of them enters a kernel, a choice or a fit.
var Fig2cd = experiment.Spec{
	ID:      protocol.PaperKey + "/fig2cd",
	Title:   "Digits in the plane: Trace-SSIKDR from 100 labelled digits beside kernel PCA",
	Source:  "Sections 5.4 and 6.4, Fig. 2(c, d)",
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, k := range planeKernels {
			s, dataset := planeSettingsOf(k, scale)
			cells = append(cells, experiment.Cell{Name: k, Dataset: dataset, Methods: planeVersions, Settings: s})
		}
		return cells
	},
	Trials:  experiment.Trials(12),
	Kinds:   fig2cdKinds,
	Columns: fig2cdColumns,
	Trial:   fig2cdTrial,
	Views:   fig2cdViews,
	Claims:  fig2cdClaims,
	Choices: fig2cdChoices,
	Cost:    35 * time.Second,
}

var planeVersions = map[string]int{"Trace-SSIKDR": ssikdr.Version, "kernelized": kernelized.Version}

var planeRules = []string{voteRule, meanRule}

var (
	fig2cdKinds = []experiment.Kind{
		{Name: "size", Meaning: "a size of the data or of the protocol"},
		{Name: "f1", Meaning: "F1 of each digit among the queries in a plane, left out one by one"},
		{Name: "wrong", Meaning: "queries that the nearest labelled digits in a plane classify wrongly"},
		{Name: "rank", Meaning: "rank of the learned W"},
		{Name: "path", Meaning: "rank of the W of (26) at a τ, with the kernel and C chosen for its top two directions"},
		{Name: "inner", Meaning: "labelled digits classified wrongly in the validation on them, of the chosen candidate"},
		{Name: "map", Meaning: "places of queries of one digit in a plane, whose largest coordinate is 1"},
	}
	fig2cdColumns = experiment.Columns{
		experiment.Text("kernel", "the kernel, by its graph"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "what makes the plane").In("f1", "wrong", "rank", "path", "inner", "map"),
		experiment.Text("queries", "where the queries come from: zip.test, or digits of zip.train that are not known to the methods").In("f1", "wrong", "map"),
		experiment.Text("rule", "f1: "+voteRule+", the vote of the five nearest queries, or "+meanRule+", the nearest mean of the queries of a digit").In("f1"),
		experiment.Text("at", "size: which one; path: τ as a share of the largest; inner: the chosen candidate; map: the digit").In("size", "path", "inner", "map"),
		experiment.Number("value", "", "size: the size; wrong: queries; rank, path: the rank; inner: digits").In("size", "wrong", "rank", "path", "inner"),
		experiment.Number("of", "", "size: what it is a part of, or the size itself; wrong: queries tested; rank, path: the number of labelled digits; inner: digits tested").In("size", "wrong", "rank", "path", "inner"),
		experiment.Vector("F1 of ", digitCount, "", "F1 of the digit").In("f1"),
		experiment.Vector("x", mapPoints, "", "first coordinates of queries, NaN beyond the last").In("map"),
		experiment.Vector("y", mapPoints, "", "second coordinates of queries").In("map"),
	}
)

// drawDigits draws labelled digits, as many of each class, then the unlabelled ones, then queries from what is left.
func drawDigits(env *experiment.Env, seed random.Seed, dataset string, s planeSettings) (*drawnDigits, error) {
	var set *datasets.Set
	train := datasets.USPSTrain
	if dataset == bags.MadeUpDigits {
		a, b := synthetic.GlyphDigits(seed.Stream("digits"), s.Known+s.Queries, s.Queries)
		x, y := a.Set(a.All(), datasets.Scale01), b.Set(b.All(), datasets.Scale01)
		whole := protocol.Part{X: x.X, Y: x.Y}.With(protocol.Part{X: y.X, Y: y.Y})
		set, train = &datasets.Set{X: whole.X, Y: whole.Y}, a.N
	} else {
		var err error
		if set, err = env.Data.Set(dataset); err != nil {
			return nil, err
		}
	}
	rowsOf := func(rows []int) protocol.Part { return protocol.RowsOf(set, rows) }
	var labelled, rest []int
	taken := make([]int, digitCount)
	for _, i := range seed.Stream("digits of zip.train").Perm(train) {
		if y := set.Y[i]; taken[y] < s.Each {
			taken[y]++
			labelled = append(labelled, i)
		} else {
			rest = append(rest, i)
		}
	}
	more := s.Known - len(labelled)
	if slices.Min(taken) < s.Each || more < 1 || len(rest) < more+s.Queries {
		return nil, fmt.Errorf("logdet2012: %s: %d digits for training do not do for %d of each class, %d known ones and %d queries", dataset, train, s.Each, s.Known, s.Queries)
	}
	out := &drawnDigits{labelled: rowsOf(labelled), unlabelled: rowsOf(rest[:more]), queries: map[string]protocol.Part{trainQueries: rowsOf(rest[more : more+s.Queries])}}
	test := sample.Choose(seed.Stream("digits of zip.test"), set.N()-train, s.Queries)
	for k := range test {
		test[k] += train
	}
	out.queries[testQueries] = rowsOf(test)
	return out, nil
}

func fig2cdTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(planeSettings)
	d, err := drawDigits(run.Env, run.Seed, run.Cell.Dataset, s)
	if err != nil {
		return err
	}
	add := func(key table.Key, values table.Values) {
		key["kernel"] = s.Kernel
		run.Rows.Add(key, values)
	}
	n := len(d.labelled.Y)
	for _, size := range []struct {
		what      string
		value, of int
	}{{labelledDigits, n, s.Known}, {unlabelledDigits, len(d.unlabelled.Y), s.Known}, {queryDigits, s.Queries, s.Queries}} {
		add(table.Key{"kind": "size", "at": size.what}, table.Values{"value": float64(size.value), "of": float64(size.of)})
	}

	methods := planeMethodsOf(s)
	candidates := s.kernels()
	end := run.Lap("choose")
	chosen, err := choosePlanes(ctx, d, s, run.Seed, methods, candidates)
	end()
	if err != nil {
		return err
	}
	problems := map[int]*planeProblem{} // by kernel
	for m, method := range methods {
		c := chosen[m]
		p := problems[c.kernel]
		if p == nil {
			end := run.Lap("kernels")
			p, err = newPlaneProblem(ctx, d.labelled, d.unlabelled, s, candidates[c.kernel], run.Seed, "labelled digits")
			end()
			if err != nil {
				return err
			}
			problems[c.kernel] = p
		}
		end := run.Lap("learn " + method.name)
		fit, err := method.fit(ctx, p, c.candidate, run.Seed.Own("starts", method.name), s.Starts[1])
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", method.name, err)
		}
		add(table.Key{"kind": "inner", "method": method.name, "at": candidates[c.kernel].label + method.label(c.candidate)}, table.Values{"value": float64(c.wrong), "of": float64(n)})
		if fit.rank > 0 {
			add(table.Key{"kind": "rank", "method": method.name}, table.Values{"value": float64(fit.rank), "of": float64(n)})
		}
		if method.name == ssikdrTop {
			path, err := p.path(ctx, c.candidate.c)
			if err != nil {
				return err
			}
			for i, r := range path {
				add(table.Key{"kind": "path", "method": method.name, "at": table.Format(s.Taus[i])}, table.Values{"value": float64(r.Rank), "of": float64(n)})
			}
		}
		near, err := fit.place(p.near(method.known, d.labelled))
		if err != nil {
			return err
		}
		for _, part := range queryParts {
			q := d.queries[part]
			end := run.Lap("places of queries")
			at, err := fit.place(p.near(method.known, q))
			if err != nil {
				return fmt.Errorf("%s: %w", method.name, err)
			}
			end()
			end = run.Lap("judge")
			key := func(kind, rule string) table.Key {
				return table.Key{"kind": kind, "method": method.name, "queries": part, "rule": rule}
			}
			for _, rule := range planeRules {
				values := table.Values{}
				for digit, v := range planeF1(at, q.Y, rule) {
					values[digitColumn(digit)] = v
				}
				add(key("f1", rule), values)
			}
			wrong := wrongVotes(near, d.labelled.Y, at, q.Y, planeNeighbours)
			add(key("wrong", ""), table.Values{"value": float64(wrong), "of": float64(len(q.Y))})
			if s.Kernel == knownGraph && part == testQueries && slices.Contains(mapMethods, method.name) {
				addMap(at, q.Y, func(digit int, values table.Values) {
					k := key("map", "")
					k["at"] = strconv.Itoa(digit)
					add(k, values)
				})
			}
			end()
		}
	}
	return nil
}
