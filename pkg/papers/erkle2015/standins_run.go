package erkle2015

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/table"
)

// The table of Figs. 3 and 4, by kind:
//
//	curve   method, at setting, after so many triplets   errors; those of training are of the triplets seen so far; ranks; how a batch fit ended
//	step    method, at relation                          count triplets that stand so to those before them, and sum the lengths of the steps on them
//	chosen  family                                       count the setting with the least validation error of one pass
//	count   what                                         count it
//
// The setting is τ of a batch method, the value that a family of readings varies, and "" of the paper's ERKLE.
var (
	judgedIndex  = []string{"kind", "method", "setting", "triplets", "stopped"}
	judgedValues = slices.Concat(errorColumns("test"), errorColumns("train"), errorColumns("validation"), []string{looseRank, fineRank, "iterations", "residual", "count", "sum"})
)

// Rank counts the eigenvalues above a share of the largest one: the paper names no tolerance.
const (
	looseRank = "rank 1e-3"
	fineRank  = "rank 1e-6"
)

var rankTolerances = map[string]float64{looseRank: 1e-3, fineRank: 1e-6}

// judged is a trial that fills its table.
type judged struct {
	split
	data  dataSet
	sizes []int
	seed  experiment.Seed
	rows  *table.Table
}

func newJudged(env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*judged, error) {
	d, err := dataSetOf(cell.Params["data"])
	if err != nil {
		return nil, err
	}
	s, err := splitOf(env, d, seed)
	if err != nil {
		return nil, err
	}
	return &judged{split: s, data: d, sizes: d.sizes(env.Scale), seed: seed, rows: table.New(judgedIndex, judgedValues)}, nil
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
	if v == nil {
		v = table.Values{}
	}
	errorsOf(k, j.test).put(v, "test")
	errorsOf(k, j.train[:seen]).put(v, "train")
	errorsOf(k, j.validation).put(v, "validation")
	j.rows.Add(table.Key{"kind": "curve", "method": method, "setting": setting, "triplets": strconv.Itoa(seen), "stopped": stopped}, v)
}

// learn follows ERKLE; the seeds of its draws are the same for all settings.
func (j *judged) learn(ctx context.Context, method, setting string, p triplets.ERKLEParams, checkpoints []int) error {
	return runERKLE(ctx, j.split, p, j.seed, checkpoints, func(seen int, l *triplets.ERKLE) error {
		j.judge(method, setting, "", seen, l.Kernel(), nil)
		return nil
	})
}

// online follows the paper's ERKLE methods, at the sizes and every so many triplets; 0 means at the sizes only.
func (j *judged) online(ctx context.Context, every int) error {
	checkpoints := slices.Clone(j.sizes)
	for seen := every; every > 0 && seen <= len(j.train); seen += every {
		checkpoints = append(checkpoints, seen)
	}
	slices.Sort(checkpoints)
	checkpoints = slices.Compact(checkpoints)
	for _, method := range erkles {
		p, err := erkleParams(method)
		if err != nil {
			return err
		}
		if err := runERKLE(ctx, j.split, p, j.seed, checkpoints, func(seen int, l *triplets.ERKLE) error {
			k := l.Kernel()
			var v table.Values
			if slices.Contains(j.sizes, seen) {
				v = ranks(k)
			}
			j.judge(method, "", "", seen, k, v)
			return nil
		}); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	return nil
}

// evaluateEvery is the paper's number of triplets from one evaluation to the next.
const evaluateEvery = 100

// steps measures the lengths of the steps of one pass by how a triplet stands to those before it.
func (j *judged) steps(ctx context.Context) error {
	how := relations(j.train)
	for _, method := range []string{paERKLE, steERKLE} {
		p, err := erkleParams(method)
		if err != nil {
			return err
		}
		l, err := triplets.NewERKLE(j.objects, p)
		if err != nil {
			return err
		}
		var count, sum [len(relationNames)]float64
		for i, t := range j.train {
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
			j.rows.Add(table.Key{"kind": "step", "method": method, "setting": name}, table.Values{"count": count[r], "sum": sum[r]})
		}
	}
	return nil
}

// batch fits a batch method with the weights of the trace that erkle2015/tau chose. With that by validation the first and the
// last fit then run on.
func (j *judged) batch(ctx context.Context, b batchMethod) error {
	choice, err := tauOf(j.data.name, b.name)
	if err != nil {
		return err
	}
	for _, tau := range choice.distinct() {
		p := triplets.BatchParams{Loss: b.loss, Tau: tau, Iterations: batchIterations, Tol: batchTol}
		fitted := func(method string, seen int, r triplets.BatchResult) {
			v := ranks(r.Kernel)
			v["iterations"], v["residual"] = float64(r.Iterations), r.Residual
			j.judge(method, table.Format(tau), r.Status.String(), seen, r.Kernel, v)
		}
		var kernels []*mat.SymDense
		if err := fitPath(ctx, j.split, j.sizes, p, func(seen int, r triplets.BatchResult) error {
			fitted(b.name, seen, r)
			kernels = append(kernels, r.Kernel)
			return nil
		}); err != nil {
			return fmt.Errorf("%s, τ = %v: %w", b.name, tau, err)
		}
		if tau != choice.validated {
			continue
		}
		p.Iterations = convergedIterations
		for _, i := range []int{0, len(j.sizes) - 1} {
			p.Initial = kernels[i]
			r, err := triplets.FitBatch(ctx, j.objects, j.train[:j.sizes[i]], p)
			if err != nil {
				return fmt.Errorf("%s, τ = %v: %w", b.name, tau, err)
			}
			fitted(runOn(b.name), j.sizes[i], r)
		}
	}
	return nil
}

// runOn is the name of a batch method whose first and last fit have run on, to the paper's number of iterations.
func runOn(method string) string { return method + ", run on" }

// distinct returns the weights that the readings need.
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
		return triplets.ERKLEParams{Loss: triplets.STE, Step: triplets.Constant, Delta: x}
	}},
	{"PA-ERKLE, margin", "margin", []float64{0.1, 0.3, 1, 3}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Margin: x}
	}},
	{"PA-ERKLE, largest step", "largest step", []float64{0.15, 0.2, 0.3, 0.5, noLimit}, func(x float64) triplets.ERKLEParams {
		return triplets.ERKLEParams{Reject: x}
	}},
	{"PA-ERKLE, gradient", gradientForm, []float64{1, 2}, func(x float64) triplets.ERKLEParams {
		g := triplets.Printed
		if x == 1 {
			g = triplets.Frobenius
		}
		return triplets.ERKLEParams{Gradient: g}
	}},
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
		if err := j.learn(ctx, f.ten(), table.Format(best), p, j.sizes); err != nil {
			return fmt.Errorf("%s %v: %w", f.ten(), best, err)
		}
	}
	return nil
}

// choose learns with each value of a family and returns the one with the least validation error at the end, the
// first of equals.
func (j *judged) choose(ctx context.Context, f family) (best float64, err error) {
	least := len(j.validation) + 1
	for _, x := range f.values {
		if err := runERKLE(ctx, j.split, f.params(x), j.seed, j.sizes, func(seen int, l *triplets.ERKLE) error {
			k := l.Kernel()
			j.judge(f.name, table.Format(x), "", seen, k, nil)
			if e := errorsOf(k, j.validation); seen == len(j.train) && e.wrong < least {
				best, least = x, e.wrong
			}
			return nil
		}); err != nil {
			return 0, fmt.Errorf("%s %v: %w", f.name, x, err)
		}
	}
	j.rows.Add(table.Key{"kind": "chosen", "method": f.name}, table.Values{"count": best})
	return best, nil
}
