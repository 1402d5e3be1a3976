package planes

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/kernels"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// sweepFactor is a choice that the paper leaves open.
type sweepFactor struct {
	column, title, meaning string
	values                 []float64 // the grid, ascending
	main                   float64   // what most seeds of Fig2cd chose for a W of rank 2
	noLower                bool      // below the grid there is nothing
	set                    func(s *planeSettings, v float64)
}

var sweepFactors = []sweepFactor{
	{"width", "σ² (medians)", "σ² of the Gaussian kernel, in medians of the squared distances of labelled digits", []float64{0.125, 0.25, 0.5, 1, 2, 4}, 1, false, func(s *planeSettings, v float64) { s.Widths = []float64{v} }},
	{"graph", "weight of the graph", "weight of the graph, 0 for none", []float64{0, 0.01, 1, 100, 10_000}, 1, true, func(s *planeSettings, v float64) { s.Weights = []float64{v} }},
	{"power", "power of the Laplacian", "power of the graph's Laplacian", []float64{1, 2}, 1, true, func(s *planeSettings, v float64) { s.Power = int(v) }},
	{"heat", "heat kernel (1: yes)", "weights of the graph's edges: 0 for 1, 1 for the heat kernel, which is the Gaussian kernel", []float64{0, 1}, 0, true, func(s *planeSettings, v float64) { s.Heat = v == 1 }},
	{"neighbours", "neighbours", "neighbours of the graph", []float64{4, 6, 8, 10, 12}, 6, false, func(s *planeSettings, v float64) { s.Neighbours = int(v) }},
	{"C", "C", "weight of quadratic slack", []float64{0.1, 1, 10, 100, 1000}, 100, false, func(s *planeSettings, v float64) { s.Cs, s.RankCs = []float64{v}, []float64{v} }},
	{"τ", "τ (of the largest)", "τ in shares of that at which W vanishes", []float64{0, 0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3}, 0.003, true, func(s *planeSettings, v float64) { s.Taus, s.RankTaus = []float64{v}, []float64{v} }},
	{knownFactor, "known digits (× 500)", "known digits, in multiples of those of the main setting", []float64{0.5, 1, 2}, 1, false, func(s *planeSettings, v float64) { s.Known = int(v * float64(s.Known)) }},
}

// knownFactor is not drawn, for its cost: the time of a graph grows with the third power of its size.
const knownFactor = "known"

// ofKernel reports whether the factor changes the kernel, and not the fit of W alone.
func (f sweepFactor) ofKernel() bool { return f.column != "C" && f.column != "τ" }

// What differs from the main setting, beside the column of one factor.
const (
	noFactor   = "nothing"
	allFactors = "all"
)

const (
	sweepMain = "main setting"
	// drawnSettings is the number of settings drawn from all grids.
	drawnSettings = 30
	// sweepKnownDigits are half of those of Fig2cd, for the time of their graph.
	sweepKnownDigits = 500
)

// sweepSettings are one setting of the sweep: grids of one value each.
type sweepSettings struct {
	planeSettings
	Setting string    `key:"-" because:"it is the name of the cell"`
	Changed string    `key:"changed"`
	Point   []float64 `key:"-" because:"the fields of the plane have the values of the factors, too"`
	PCA     bool      `key:"kernel PCA"`
}

// sweepSettingsOf lists the main setting, those that differ from it in one factor, and those drawn. At smoke scale each factor has one other
// value, and few are drawn. Kernel PCA is run once for each kernel.
func sweepSettingsOf(scale experiment.Scale) (out []sweepSettings) {
	base, _ := planeSettingsOf(knownGraph, scale)
	base.Ridges, base.Known = nil, min(base.Known, sweepKnownDigits)
	add := func(name, changed string, point []float64, kernel bool) {
		s := sweepSettings{base, name, changed, point, kernel}
		for i, f := range sweepFactors {
			f.set(&s.planeSettings, point[i])
		}
		out = append(out, s)
	}
	main := make([]float64, len(sweepFactors))
	for i, f := range sweepFactors {
		main[i] = f.main
	}
	add(sweepMain, noFactor, main, true)
	drawn := drawnSettings
	for i, f := range sweepFactors {
		others := slices.DeleteFunc(slices.Clone(f.values), func(v float64) bool { return v == f.main })
		if scale == experiment.Smoke {
			others, drawn = others[len(others)-1:], 2
		}
		for _, v := range others {
			point := slices.Clone(main)
			point[i] = v
			add(f.column+" "+table.Format(v), f.column, point, f.ofKernel())
		}
	}
	rng := random.Seed{Base: 1, Experiment: protocol.PaperKey + "/fig2cd-sweep"}.Stream("settings")
	for k := range drawn {
		point := make([]float64, len(sweepFactors))
		for i, f := range sweepFactors {
			if point[i] = f.main; f.column != knownFactor {
				point[i] = f.values[rng.IntN(len(f.values))]
			}
		}
		add("drawn "+strconv.Itoa(k+1), allFactors, point, true)
	}
	return out
}

// The methods of the sweep. τ of rank 2 follows from the path of ranks and cannot be swept; kernel PCA of all known digits takes as long as all else.
var (
	ssikdrSwept = []string{ssikdrTop, ssikdrRank}
	sweepWays   = append(slices.Clone(ssikdrSwept), pcaLabelled)
)

var sweepColumns = append(append(experiment.Columns{
	experiment.Text("setting", "name of the setting"),
	experiment.Text("changed", "the factor in which it differs from the main setting, "+noFactor+" or "+allFactors),
}, factorColumns()...),
	experiment.Text("method", "what makes the plane"),
	experiment.Text("queries", "where the queries come from: zip.test, or digits of zip.train that are not known to the methods"),
	experiment.Number("separated", "", "digits that the plane separates"),
	experiment.Number("F1", "", "mean over the digits of F1 by the vote of the five nearest queries"),
	experiment.Number("wrong", "share", "queries that the nearest labelled digits in the plane classify wrongly"),
	experiment.Number("inner", "share", "labelled digits classified wrongly in the validation on them"),
)

func factorColumns() (out experiment.Columns) {
	for _, f := range sweepFactors {
		out = append(out, experiment.Text(f.column, f.meaning))
	}
	return out
}

func sweepTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(sweepSettings)
	d, err := drawDigits(run.Env, run.Seed, run.Cell.Dataset, s.planeSettings)
	if err != nil {
		return err
	}
	methods := slices.DeleteFunc(planeMethodsOf(s.planeSettings), func(m planeMethod) bool {
		return !slices.Contains(ssikdrSwept, m.name) && !(s.PCA && m.name == pcaLabelled)
	})
	kernel := s.kernels()
	end := run.Lap("validate")
	chosen, err := choosePlanes(ctx, d, s.planeSettings, run.Seed, methods, kernel)
	end()
	if err != nil {
		return err
	}
	end = run.Lap("kernels")
	p, err := newPlaneProblem(ctx, d.labelled, d.unlabelled, s.planeSettings, kernel[0], run.Seed, "labelled digits")
	end()
	if err != nil {
		return err
	}
	end = run.Lap("kernel values of queries")
	cross, labelled := map[string]*mat.Dense{}, p.toLabelled()
	for _, part := range queryParts {
		cross[part] = labelled(d.queries[part].X)
	}
	near := labelled(d.labelled.X)
	end()
	for m, method := range methods {
		end := run.Lap("learn " + method.name)
		fit, err := method.fit(ctx, p, chosen[m].candidate, run.Seed.Own("starts", method.name), s.Starts[1])
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", method.name, err)
		}
		known, err := fit.place(near)
		if err != nil {
			return err
		}
		for _, part := range queryParts {
			q := d.queries[part]
			at, err := fit.place(cross[part])
			if err != nil {
				return fmt.Errorf("%s: %w", method.name, err)
			}
			f1 := planeF1(at, q.Y, voteRule)
			separated := 0
			for _, v := range f1 {
				if v >= separatedF1 {
					separated++
				}
			}
			key := table.Key{"setting": s.Setting, "changed": s.Changed, "method": method.name, "queries": part}
			for i, f := range sweepFactors {
				key[f.column] = table.Format(s.Point[i])
			}
			run.Rows.Add(key, table.Values{
				"separated": float64(separated), "F1": floats.Sum(f1[:]) / digitCount,
				"wrong": float64(wrongVotes(known, d.labelled.Y, at, q.Y, planeNeighbours)) / float64(len(q.Y)),
				"inner": float64(chosen[m].wrong) / float64(len(d.labelled.Y)),
			})
		}
	}
	return nil
}

// toLabelled returns what gives the kernel values between rows and the labelled digits: as near, but with the product of S and the labelled
// digits made once, which takes a tenth of the time.
func (p *planeProblem) toLabelled() func(rows *mat.Dense) *mat.Dense {
	var right *mat.Dense
	if p.s != nil {
		right = matrix.Mul(p.s, kernels.GramRect(p.gaussian, p.graph, p.labelled.X))
	}
	return func(rows *mat.Dense) *mat.Dense {
		k := kernels.GramRect(p.gaussian, rows, p.labelled.X)
		if right != nil {
			k.Add(k, matrix.Mul(kernels.GramRect(p.gaussian, rows, p.graph), right))
		}
		k.Scale(1/p.unit, k)
		return k
	}
}

// validated is what a measure is, of the rows of a method with queries of a part, with the setting that the rule of choice takes in each trial.
// It takes, of all settings of the sweep, that with the least validation error on the labelled digits, of equals the first in the list. It sees
// no query, and no number of digits.
func validated(of frame.Measure) frame.Measure {
	return func(rows *table.Table) []float64 {
		least, _ := frame.Least(frame.Column("inner"), of, "setting", rows.Unique("setting")...)
		return least(rows)
	}
}

// sweepChoices are the values of each factor that the rule of choice takes. Weights of edges are no numbers.
func sweepChoices(t *table.Table) (out []experiment.Choice) {
	for _, method := range sweepWays {
		g := t.Where("method", method, "queries", testQueries)
		for _, f := range sweepFactors {
			if f.column != "heat" && g.Len() > 0 && (method != pcaLabelled || f.ofKernel()) {
				out = append(out, experiment.Choice{What: method + ": " + f.title, NoLower: f.noLower, Grid: frame.Numbers(g, f.column), Chosen: validated(frame.Cells(f.column))(g)})
			}
		}
	}
	return out
}
