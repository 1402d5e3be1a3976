package logdet2012

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/kernelized"
	"metriclab/pkg/learners/ssikdr"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Fig2cd embeds digits in the plane by what is learned from 100 labelled ones: Trace-SSIKDR beside kernel PCA, and kernel FDA as a control.
//
// Labelled digits and the unlabelled ones that a graph or kernel PCA may have come from zip.train. Queries are other digits, from zip.test and
// from zip.train: nothing of them enters a kernel, a choice or a fit.
var Fig2cd = experiment.Spec{
	ID:      paperKey + "/fig2cd",
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

// The methods of Fig. 2(c, d), as they stand in the table.
const (
	// Trace-SSIKDR, by what makes its rank 2.
	ssikdrTop  = "Trace-SSIKDR, top two directions"
	ssikdrTau  = "Trace-SSIKDR, τ of rank 2"
	ssikdrRank = "Trace-SSIKDR, W of rank 2"

	// Kernel PCA, by the digits that it is fitted to: those with labels, or all that are known, these and the unlabelled ones.
	pcaLabelled      = "kernel PCA of labelled digits"
	pcaLabelledPlain = "kernel PCA of labelled digits, not centred"
	pcaKnown         = "kernel PCA of known digits"
	pcaKnownPlain    = "kernel PCA of known digits, not centred"

	// A control.
	kernelFDA = "kernel FDA"
)

var (
	ssikdrMethods = []string{ssikdrTop, ssikdrTau, ssikdrRank}
	pcaMethods    = []string{pcaLabelled, pcaLabelledPlain, pcaKnown, pcaKnownPlain}
)

// The kernels: data-dependent ones, whose graph has all known digits or those with labels alone, and the Gaussian kernel of which they are made.
const (
	knownGraph    = "graph of known digits"
	labelledGraph = "graph of labelled digits"
	noGraph       = "no graph"
)

var (
	planeKernels = []string{knownGraph, labelledGraph, noGraph}
	graphKernels = planeKernels[:2]
)

// The parts of the data from which queries come.
const (
	testQueries  = "zip.test"
	trainQueries = "zip.train"
)

var queryParts = []string{testQueries, trainQueries}

// The rules by which a plane is judged.
const (
	voteRule = "5-NN"
	meanRule = "class mean"
)

var planeRules = []string{voteRule, meanRule}

// digitCount is the number of classes.
const digitCount = 10

// digitColumn is the column of F1 of a digit.
func digitColumn(d int) string { return "F1 of " + strconv.Itoa(d) }

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
		experiment.Number("of", "", "size: what it is a part of, or the size itself; wrong: queries judged; rank, path: the number of labelled digits; inner: digits judged").In("size", "wrong", "rank", "path", "inner"),
		experiment.Vector("F1 of ", digitCount, "", "F1 of the digit").In("f1"),
		experiment.Vector("x", mapPoints, "", "first coordinates of queries, NaN beyond the last").In("map"),
		experiment.Vector("y", mapPoints, "", "second coordinates of queries").In("map"),
	}
)

// mapPoints is the number of queries in a row of the kind map, at most.
const mapPoints = 20

// planeSettings are what the paper fixes or leaves open.
type planeSettings struct {
	Kernel string `key:"kernel"`
	// Each is the number of labelled digits of a class, Known that of all known digits with the unlabelled ones, Queries that of each part.
	Each    int `key:"labelled per digit"`
	Known   int `key:"known"`
	Queries int `key:"queries"`
	// Far is the number of dissimilar pairs between two classes; all pairs within a class are similar.
	Far int `key:"dissimilar pairs"`
	// Widths is the grid of σ² of the Gaussian kernel, in medians of the squared distances of the labelled digits.
	Widths []float64 `key:"widths"`
	// Weights is the grid of the graph's weight; of no graph it is {0}. The graph has Neighbours, and a normalised Laplacian.
	Weights    []float64 `key:"graph weights"`
	Neighbours int       `key:"graph neighbours"`
	// Cs is the grid of C, the weight of quadratic slack, where the median squared distance of labelled digits is 1.
	Cs []float64 `key:"c"`
	// Taus is the grid of τ in shares of that at which W vanishes, descending.
	Taus []float64 `key:"tau"`
	// RankCs and RankTaus are those of a W whose rank is fixed.
	RankCs   []float64 `key:"c of fixed rank"`
	RankTaus []float64 `key:"tau of fixed rank"`
	// Ridges is the grid of kernel FDA.
	Ridges []float64 `key:"ridges"`
	// Starts is the number of starts of a W of fixed rank, in the choice and at last.
	Starts [2]int `key:"starts"`
	// Vote is the number of labelled neighbours by which candidates are chosen.
	Vote int `key:"vote"`
	// Tol is the tolerance of the fits.
	Tol float64 `key:"tolerance"`
}

func planeSettingsOf(kernel string, scale experiment.Scale) (s planeSettings, dataset string) {
	s = planeSettings{
		Kernel: kernel, Each: 10, Known: 1000, Queries: 2000, Far: 20,
		Widths: []float64{1, 4}, Weights: []float64{0.01, 1, 100}, Neighbours: 6,
		Cs: []float64{0.1, 1, 10}, Taus: []float64{0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1, 0.03, 0.01, 0.003}, RankCs: []float64{1, 10, 100}, RankTaus: []float64{0.003, 0.03},
		Ridges: []float64{0.01, 0.1, 1}, Starts: [2]int{2, 10}, Vote: 3, Tol: 1e-3,
	}
	dataset = "usps"
	if scale == experiment.Smoke {
		s.Each, s.Known, s.Queries, s.Far = 4, 80, 100, 4
		s.Widths, s.Weights, s.Ridges, s.Starts = []float64{1}, []float64{1}, []float64{0.1}, [2]int{1, 2}
		s.Cs, s.Taus, s.RankCs, s.RankTaus = []float64{0.1, 1}, []float64{0.8, 0.4, 0.1}, []float64{1}, []float64{0.03}
		dataset = madeUpDigits
	}
	if kernel == noGraph {
		s.Weights = []float64{0}
	}
	return s, dataset
}

// images are digits with their classes.
type images struct {
	x *mat.Dense
	y []int
}

// with returns these images and then others.
func (m images) with(other images) images {
	var x mat.Dense
	x.Stack(m.x, other.x)
	return images{&x, slices.Concat(m.y, other.y)}
}

// of returns some of the images, in that order.
func (m images) of(rows []int) images {
	_, d := m.x.Dims()
	out := images{mat.NewDense(len(rows), d, nil), make([]int, len(rows))}
	for k, i := range rows {
		out.x.SetRow(k, m.x.RawRowView(i))
		out.y[k] = m.y[i]
	}
	return out
}

// drawnDigits are those of a trial.
type drawnDigits struct {
	labelled, unlabelled images
	queries              map[string]images // by part
}

// drawDigits draws labelled digits, as many of each class, then the unlabelled ones, then queries from what is left.
func drawDigits(env *experiment.Env, seed random.Seed, dataset string, s planeSettings) (*drawnDigits, error) {
	var set *datasets.Set
	train := datasets.USPSTrain
	if dataset == madeUpDigits {
		a, b := synthetic.GlyphDigits(seed.Stream("digits"), s.Known+s.Queries, s.Queries)
		x, y := a.Set(a.All(), datasets.Scale01), b.Set(b.All(), datasets.Scale01)
		whole := images{x.X, x.Y}.with(images{y.X, y.Y})
		set, train = &datasets.Set{X: whole.x, Y: whole.y}, a.N
	} else {
		var err error
		if set, err = env.Data.Set(dataset); err != nil {
			return nil, err
		}
	}
	rowsOf := func(rows []int) images { return images{set.Rows(rows), set.Labels(rows)} }
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
	out := &drawnDigits{labelled: rowsOf(labelled), unlabelled: rowsOf(rest[:more]), queries: map[string]images{trainQueries: rowsOf(rest[more : more+s.Queries])}}
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
	n := len(d.labelled.y)
	for _, size := range []struct {
		what      string
		value, of int
	}{{labelledDigits, n, s.Known}, {unlabelledDigits, len(d.unlabelled.y), s.Known}, {queryDigits, s.Queries, s.Queries}} {
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
				for digit, v := range planeF1(at, q.y, rule) {
					values[digitColumn(digit)] = v
				}
				add(key("f1", rule), values)
			}
			wrong := wrongVotes(near, d.labelled.y, at, q.y, planeNeighbours)
			add(key("wrong", ""), table.Values{"value": float64(wrong), "of": float64(len(q.y))})
			if s.Kernel == knownGraph && part == testQueries && slices.Contains(mapMethods, method.name) {
				addMap(at, q.y, func(digit int, values table.Values) {
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

// Sizes of logdet2012/fig2cd.
const (
	labelledDigits   = "labelled digits"
	unlabelledDigits = "unlabelled digits"
	queryDigits      = "queries"
)

// mapMethods are those whose planes are drawn.
var mapMethods = []string{ssikdrTop, ssikdrRank, pcaLabelled}
