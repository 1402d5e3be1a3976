package erkle2015

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// The kinds of rows of Figs. 3 and 4.
const (
	curveKind  = "curve"
	chosenKind = "chosen"
	stepKind   = "step"
	countKind  = "count"
)

// judgedKinds are the kinds of rows of both figures.
var judgedKinds = []experiment.Kind{
	{Name: curveKind, Meaning: "a method with a setting after some training triplets: its errors, ranks and how a batch fit ended"},
	{Name: chosenKind, Meaning: "the setting of a family of ERKLE methods that has the least validation error after all training triplets"},
}

// judgedColumns declare the columns of a table with rows of some kinds. Both figures have all
// columns, since they share views.
func judgedColumns(kinds []experiment.Kind) experiment.Columns {
	out := slices.Concat(experiment.Columns{
		experiment.Text(experiment.KindColumn, "the kind of the row"),
		experiment.Text("method", "the learner; in rows of kind chosen the family").In(curveKind, chosenKind, stepKind),
		experiment.Text("setting", "τ of a batch method, or the value that a family varies, empty for the paper's ERKLE; of a step how its triplet stands to those before it; of a count what is counted").In(curveKind, stepKind, countKind),
		experiment.Text("triplets", "number of training triplets seen").In(curveKind),
		experiment.Text("stopped", "why a batch fit stopped; empty for ERKLE").In(curveKind),
	}, errorColumns("test", curveKind), errorColumns("train", curveKind), errorColumns("validation", curveKind), experiment.Columns{
		experiment.Number(looseRank, "", "eigenvalues of the kernel above 0.001 of the largest").In(curveKind),
		experiment.Number(fineRank, "", "eigenvalues of the kernel above 0.000001 of the largest").In(curveKind),
		experiment.Number("iterations", "", "iterations of a batch fit; those of one that has run on are counted anew").In(curveKind),
		experiment.Number("residual", "", gapMeaning).In(curveKind),
		experiment.Number("count", "", "the number counted; of steps the number of triplets; of a chosen setting its value").In(chosenKind, stepKind, countKind),
		experiment.Number("sum", "", "sum of the lengths γ of the steps on the triplets of count").In(stepKind),
	})
	for i, c := range out {
		if c.Kinds != nil {
			out[i].Kinds = slices.DeleteFunc(c.Kinds, func(name string) bool {
				return !slices.ContainsFunc(kinds, func(k experiment.Kind) bool { return k.Name == name })
			})
		}
	}
	return out
}

// Rank counts the eigenvalues above a share of the largest one: the paper names no tolerance.
const (
	looseRank = "rank 1e-3"
	fineRank  = "rank 1e-6"
)

var rankTolerances = map[string]float64{looseRank: 1e-3, fineRank: 1e-6}

// judgedSettings are the settings that all cells of Figs. 3 and 4 have.
type judgedSettings struct {
	splitSettings
	Sizes []int `key:"sizes,list"` // numbers of triplets at which all methods are judged
	// Every is the number of triplets from one evaluation of the paper's ERKLE methods to the next. The
	// cell of materialOwn does not heed it.
	Every int `key:"every,omitzero"`
	// Families are the values to choose from, by family of ERKLE methods.
	Families map[string]list[float64] `key:"%v"`
}

// judged returns the settings of a scale.
func (d dataSet) judged(scale experiment.Scale) judgedSettings {
	return judgedSettings{splitSettings: d.settings(scale), Sizes: d.sizes(scale)}
}

// batchSettings are the settings of a batch method; in a cell without one they are zero.
type batchSettings struct {
	// Tau are the weights of the trace. With the first the fits run on.
	Tau        list[float64] `key:"tau,omitzero"`
	Iterations caps          `key:"iterations,omitzero"`
	Tolerance  float64       `key:"tolerance,omitzero"`
}

// caps are the largest numbers of iterations of a fit and of one that runs on.
type caps struct{ Fit, RunOn int }

func (c caps) String() string { return list[int]{c.Fit, c.RunOn}.String() }

// batchSettingsOf are those of a batch method, with the weights that erkle2015/tau chose.
func batchSettingsOf(data, method string) batchSettings {
	return batchSettings{tauOf(data, method).distinct(), caps{batchIterations, convergedIterations}, batchTol}
}

// judged is a trial that fills the table.
type judged struct {
	splitRun
	judgedSettings
}

// ranks returns the ranks of a kernel.
func ranks(k mat.Symmetric) table.Values {
	v := table.Values{}
	for name, tol := range rankTolerances {
		v[name] = float64(triplets.Rank(k, tol))
	}
	return v
}

// judge adds the errors of a kernel that was learned from the first triplets.
func (j *judged) judge(method, setting, stopped string, seen int, k mat.Symmetric, v table.Values) {
	e := j.split.errorsAfter(seen, k)
	maps.Copy(e, v)
	j.Rows.Add(table.Key{"kind": curveKind, "method": method, "setting": setting, "triplets": strconv.Itoa(seen), "stopped": stopped}, e)
}

// errorsAfter are the cells of the errors of a kernel that was learned from the first triplets, on these, too.
func (s split) errorsAfter(seen int, k mat.Symmetric) table.Values {
	v := s.errors(k)
	errorsOf(k, s.train[:seen]).put(v, "train")
	return v
}

// followERKLE runs the paper's ERKLE methods and calls at after each number of triplets.
func followERKLE(ctx context.Context, s split, seed random.Seed, checkpoints []int, at func(method string, seen int, k mat.Symmetric)) error {
	for _, method := range erkles {
		if err := runERKLE(ctx, s, onlineMethods[method], seed, checkpoints, func(seen int, l *triplets.ERKLE) { at(method, seen, l.Kernel()) }); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	return nil
}

// learn follows ERKLE at the sizes; the seeds of its draws are the same for all settings.
func (j *judged) learn(ctx context.Context, method, setting string, p triplets.ERKLEParams) error {
	return runERKLE(ctx, j.split, p, j.Seed, j.Sizes, func(seen int, l *triplets.ERKLE) {
		j.judge(method, setting, "", seen, l.Kernel(), nil)
	})
}

// online follows the paper's ERKLE methods: at the sizes and, unless every is 0, at its multiples.
func (j *judged) online(ctx context.Context, every int) error {
	checkpoints := slices.Clone(j.Sizes)
	for seen := every; every > 0 && seen <= len(j.split.train); seen += every {
		checkpoints = append(checkpoints, seen)
	}
	slices.Sort(checkpoints)
	return followERKLE(ctx, j.split, j.Seed, slices.Compact(checkpoints), func(method string, seen int, k mat.Symmetric) {
		var v table.Values
		if slices.Contains(j.Sizes, seen) {
			v = ranks(k)
		}
		j.judge(method, "", "", seen, k, v)
	})
}

// evaluateEvery is the paper's number of triplets from one evaluation to the next.
const evaluateEvery = 100

// steps measures the lengths of the steps of one pass by how a triplet stands to those before it.
func (j *judged) steps(ctx context.Context) error {
	how := relations(j.split.train)
	for _, method := range []string{paERKLE, steERKLE} {
		l, err := triplets.NewERKLE(j.split.objects, onlineMethods[method])
		if err != nil {
			return err
		}
		var count, sum [len(relationNames)]float64
		for i, t := range j.split.train {
			if err := ctx.Err(); err != nil {
				return err
			}
			o, err := l.Step(t)
			if err != nil {
				return err
			}
			count[how[i]]++
			sum[how[i]] += o.StepSize
		}
		for r, name := range relationNames {
			j.Rows.Add(table.Key{"kind": stepKind, "method": method, "setting": name}, table.Values{"count": count[r], "sum": sum[r]})
		}
	}
	return nil
}

// batch fits a batch method with each weight of the trace. With the one by validation, the first and the
// last fit then run on.
func (j *judged) batch(ctx context.Context, b batchMethod, s batchSettings) error {
	for i, tau := range s.Tau {
		p := triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.loss, Tau: tau, Iterations: s.Iterations.Fit, Tol: s.Tolerance}
		fitted := func(method string, seen int, r triplets.BatchResult) {
			v := ranks(r.Kernel)
			v["iterations"], v["residual"] = float64(r.Iterations), r.Residual
			j.judge(method, table.Format(tau), r.Status.String(), seen, r.Kernel, v)
		}
		var kernels []*mat.SymDense
		if err := fitPath(ctx, j.split, j.Sizes, p, func(seen int, r triplets.BatchResult) {
			fitted(b.name, seen, r)
			kernels = append(kernels, r.Kernel)
		}); err != nil {
			return fmt.Errorf("%s, τ = %v: %w", b.name, tau, err)
		}
		if i > 0 {
			continue
		}
		p.Iterations = s.Iterations.RunOn
		for _, at := range []int{0, len(j.Sizes) - 1} {
			p.Initial = kernels[at]
			r, err := triplets.FitBatch(ctx, j.split.objects, j.split.train[:j.Sizes[at]], p)
			if err != nil {
				return fmt.Errorf("%s, τ = %v: %w", b.name, tau, err)
			}
			fitted(runOn(b.name), j.Sizes[at], r)
		}
	}
	return nil
}

// runOn is the name of a batch method whose first and last fit have run on, to the paper's number of iterations.
func runOn(method string) string { return method + ", run on" }

// distinct returns the weights that the readings need, first the one by validation.
func (c tauChoice) distinct() []float64 {
	out := []float64{c.validated}
	for _, tau := range []float64{c.bestOnTest, c.atEnd} {
		if !slices.Contains(out, tau) {
			out = append(out, tau)
		}
	}
	return out
}

// family is a setting of ERKLE that the paper leaves open or fixes, varied.
type family struct {
	name   string // of the method
	varies string // what the numbers are, for a reader
	values []float64
	params func(x float64) triplets.ERKLEParams
}

// families are the readings of ERKLE that are chosen on validation triplets. Each has the paper's own value.
var families = []family{
	{"STE-ERKLE, step", "δ", []float64{0.03, 0.1, 0.3, 1}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Loss: triplets.STE, Step: triplets.StepConstant, Delta: x}
	}},
	{"PA-ERKLE, margin", "margin", []float64{0.1, 0.3, 1, 3}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Margin: x}
	}},
	{"PA-ERKLE, largest step", "largest step", []float64{0.15, 0.2, 0.3, 0.5, noLimit}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Reject: x}
	}},
	{"PA-ERKLE, gradient", gradientForm, []float64{1, 2}, func(x float64) triplets.ERKLEParams {
		g := triplets.GradientPrinted
		if x == 1 {
			g = triplets.GradientFrobenius
		}
		return triplets.ERKLEParams{Gradient: g}
	}},
}

// valuesOf are the values of families, by name.
func valuesOf(families ...family) map[string]list[float64] {
	out := map[string]list[float64]{}
	for _, f := range families {
		out[f.name] = f.values
	}
	return out
}

// gradientForm marks the family of the forms of the gradient, by their off-diagonal entries.
const gradientForm = "gradient"

// traceFamily is the trace penalty of the paper's future work, with ten passes. Its values span the improvement on the validation
// triplets of one split that no trial has.
var traceFamily = family{"PA-ERKLE, trace", "τ", []float64{0.01, 0.03, 0.05}, func(x float64) triplets.ERKLEParams {
	return triplets.ERKLEParams{Trace: x, Beta: tenPasses}
}}

// noLimit is a largest step that no step reaches.
const noLimit = 1e6

// ten is the name of a family's method with ten passes.
func (f family) ten() string { return f.name + ", 10 passes" }

// readings runs one pass with each value of each family, and ten passes with the value that has the
// least validation error after one.
func (j *judged) readings(ctx context.Context) error {
	for _, f := range families {
		best, err := j.choose(ctx, f)
		if err != nil {
			return err
		}
		p := f.params(best)
		p.Beta = tenPasses
		if err := j.learn(ctx, f.ten(), table.Format(best), p); err != nil {
			return fmt.Errorf("%s %v: %w", f.ten(), best, err)
		}
	}
	return nil
}

// choose learns with each value of a family and returns the one with the least validation error at the end, the
// first of equals.
func (j *judged) choose(ctx context.Context, f family) (best float64, err error) {
	least := len(j.split.validation) + 1
	for _, x := range j.Families[f.name] {
		if err := runERKLE(ctx, j.split, f.params(x), j.Seed, j.Sizes, func(seen int, l *triplets.ERKLE) {
			k := l.Kernel()
			j.judge(f.name, table.Format(x), "", seen, k, nil)
			if e := errorsOf(k, j.split.validation); seen == len(j.split.train) && e.wrong < least {
				best, least = x, e.wrong
			}
		}); err != nil {
			return 0, fmt.Errorf("%s %v: %w", f.name, x, err)
		}
	}
	j.Rows.Add(table.Key{"kind": chosenKind, "method": f.name}, table.Values{"count": best})
	return best, nil
}
