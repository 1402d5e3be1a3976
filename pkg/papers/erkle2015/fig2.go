package erkle2015

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// pointsIn is the source of comparisons of n points in R⁵⁰, of which 2n train, as in Section 5.2 (n = 5000).
func pointsIn(n, test int) dataSet {
	return dataSet{
		name: fmt.Sprintf("n = %d", n), dataset: fmt.Sprintf("%d points in R50", n),
		full: counts{objects: n, train: 2 * n, test: test}, draw: drawSynthetic,
	}
}

// largeObjects is n of Section 5.2.
const largeObjects = 5000

// fig2Size is what a trial of Fig. 2 measures.
type fig2Size struct {
	objects, test int
	// steps are the sizes at which batch steps are timed in every trial; the first trial times one at objects, too.
	steps []int
	// twice is the one of steps at which two steps are timed.
	twice int
}

func fig2SizeAt(scale experiment.Scale) fig2Size {
	if scale == experiment.Smoke {
		return fig2Size{objects: 60, test: 300, steps: []int{10, 20, 30}, twice: 20}
	}
	return fig2Size{objects: largeObjects, test: 50000, steps: []int{250, 400, 630, 1000, 1600}, twice: 630}
}

// fig2Batches is the number of mini-batches of 2n triplets.
const fig2Batches = 20

// minibatch is the number of triplets of a mini-batch; 500 for n = 5000, as in the paper.
func minibatch(n int) int { return max(1, 2*n/fig2Batches) }

// fig2Delta is the step size δ of the batch steps that are timed: that of PA-ERKLE for a triplet at K = I.
const fig2Delta = 0.1

// Fig2 times a pass of PA-ERKLE and steps of batch GNMDS.
var Fig2 = experiment.Spec{
	ID:      "erkle2015/fig2",
	Title:   "5,000 objects: time of a pass of PA-ERKLE and of steps of batch GNMDS, error of PA-ERKLE",
	Source:  "Section 5.2, Fig. 2",
	Version: 1,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := fig2SizeAt(scale)
		return []experiment.Cell{{
			Name: "large", Dataset: pointsIn(s.objects, s.test).dataset,
			Params: map[string]string{
				"objects": strconv.Itoa(s.objects), "test": strconv.Itoa(s.test), "mini-batches": strconv.Itoa(fig2Batches),
				"steps at": formatInts(s.steps), "two steps at": strconv.Itoa(s.twice), "delta": table.Format(fig2Delta),
			},
			Methods: methodVersions,
		}}
	},
	Trials: experiment.Trials(experiment.MinTrials),
	Index:  fig2Index,
	Values: fig2Values,
	Trial:  fig2Trial,
	Views: []experiment.View{
		{Name: "fig2a", Title: "Fig. 2a: time of a pass of PA-ERKLE and of batch GNMDS, 5,000 objects", DrawTimed: drawFig2a},
		{Name: "fig2b-large", Title: "Fig. 2b: error of PA-ERKLE, 5,000 objects", Draw: drawFig2bLarge},
		{Name: "fig2-skips", Title: "Share of updates that need no eigenpair, by certificate, 5,000 objects", Draw: drawFig2Skips},
		{Name: "fig2-steps", Title: "Time of one batch step and of a pass of PA-ERKLE against the number of objects", DrawTimed: drawFig2Steps},
	},
	Claims: fig2Claims,
	Cost:   12 * time.Minute,
}

// The table by kind:
//
//	pass  objects, triplets so far: test errors of PA-ERKLE (largest size) and the counts of erkle2015/skips
//	step  objects, triplets in all: negative eigenvalues that a batch step removed
var (
	fig2Index  = []string{"kind", "objects", "triplets"}
	fig2Values = slices.Concat(errorColumns("test"), countValues, []string{"negative"})
)

// Names of the phases that are timed. A pass is timed from each mini-batch to the next.
func passPhase(n, to int) string { return fmt.Sprintf("pass n=%d to %d", n, to) }
func stepPhase(n int) string     { return fmt.Sprintf("step n=%d", n) }
func twicePhase(n int) string    { return fmt.Sprintf("two steps n=%d", n) }
func fitPhase(n int) string      { return fmt.Sprintf("step of FitBatch n=%d", n) }

func fig2Trial(ctx context.Context, env *experiment.Env, _ experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	size := fig2SizeAt(env.Scale)
	t := &fig2Run{env: env, seed: seed, rows: table.New(fig2Index, fig2Values)}
	if err := t.pass(ctx, pointsIn(size.objects, size.test)); err != nil {
		return nil, err
	}
	at := size.steps
	if seed.Trial == 0 {
		at = append(slices.Clone(at), size.objects)
	}
	for _, n := range at {
		if n != size.objects {
			if err := t.pass(ctx, pointsIn(n, 0)); err != nil {
				return nil, err
			}
		}
		if err := t.steps(ctx, n, n == size.twice, n != size.objects); err != nil {
			return nil, err
		}
	}
	return t.rows, nil
}

// fig2Run is a trial that fills its table.
type fig2Run struct {
	env  *experiment.Env
	seed experiment.Seed
	rows *table.Table
}

func (r *fig2Run) split(d dataSet) (split, error) {
	seed := sharedSeed(r.seed)
	seed.Dataset = d.dataset
	return d.draw(r.env, seed, d.full)
}

// pass runs PA-ERKLE over all triplets, timed from mini-batch to mini-batch.
func (r *fig2Run) pass(ctx context.Context, d dataSet) error {
	s, err := r.split(d)
	if err != nil {
		return err
	}
	n, train := s.objects, len(s.train)
	every := minibatch(n)
	l, err := triplets.NewERKLE(n, triplets.ERKLEParams{})
	if err != nil {
		return err
	}
	rule := newPrintedRule(n)
	steps := make([]float64, every)
	removed := make([]bool, every)
	for from := 0; from < train; from += every {
		to := min(from+every, train)
		end := r.env.Lap(passPhase(n, to))
		for i, t := range s.train[from:to] {
			if err := ctx.Err(); err != nil {
				return err
			}
			out, err := l.Step(t)
			if err != nil {
				return err
			}
			steps[i], removed[i] = out.StepSize, out.Projections > 0
		}
		end()
		for i, t := range s.train[from:to] {
			if steps[i] > 0 {
				rule.update(t, steps[i], removed[i])
			}
		}
		v := skipCounts(l.Stats(), rule)
		if len(s.test) > 0 {
			predicted(l, s.test).put(v, "test")
		}
		r.rows.Add(table.Key{"kind": "pass", "objects": strconv.Itoa(n), "triplets": strconv.Itoa(to)}, v)
	}
	return nil
}

// predicted counts the errors of a learner's predictions as errorsOf those of its kernel, without a kernel.
func predicted(l *triplets.ERKLE, ts []metric.Triplet) errorCount {
	c := errorCount{of: len(ts)}
	for _, t := range ts {
		switch p := l.Predict(t); {
		case triplets.Tied(p.SqNear, p.SqFar):
			c.ties++
			c.wrong++
		case p.SqNear > p.SqFar:
			c.wrong++
		}
	}
	return c
}

// steps times one step of batch GNMDS from K = I on all 2n triplets: by a full eigendecomposition, as the paper, twice if asked for, and
// that of triplets.FitBatch if asked for.
func (r *fig2Run) steps(ctx context.Context, n int, twice, fit bool) error {
	s, err := r.split(pointsIn(n, 0))
	if err != nil {
		return err
	}
	identity := mat.NewSymDense(n, nil)
	for i := range n {
		identity.SetSym(i, i, 1)
	}
	end := r.env.Lap(stepPhase(n))
	_, negative, err := fullStep(identity, s.train, fig2Delta)
	end()
	if err != nil {
		return err
	}
	r.rows.Add(table.Key{"kind": "step", "objects": strconv.Itoa(n), "triplets": strconv.Itoa(len(s.train))}, table.Values{"negative": float64(negative)})
	if twice {
		end := r.env.Lap(twicePhase(n))
		k, _, err := fullStep(identity, s.train, fig2Delta)
		if err == nil {
			_, _, err = fullStep(k, s.train, fig2Delta)
		}
		end()
		if err != nil {
			return err
		}
	}
	if !fit {
		return ctx.Err()
	}
	end = r.env.Lap(fitPhase(n))
	_, err = triplets.FitBatch(ctx, n, s.train, triplets.BatchParams{Method: triplets.Fixed, Delta: fig2Delta, Iterations: 1})
	end()
	return err
}

// fullStep returns K after one step of projected gradient descent on the hinge losses without a trace term (Eqs. 3.7 and 3.8), and how many
// negative eigenvalues it had to remove. The projection takes the full eigendecomposition K' = VΛVᵀ and computes V[Λ]₊Vᵀ.
func fullStep(k *mat.SymDense, ts []metric.Triplet, delta float64) (*mat.SymDense, int, error) {
	n := k.SymmetricDim()
	next := mat.NewSymDense(n, nil)
	next.CopySym(k)
	inc := func(i, j int, v float64) { next.SetSym(i, j, next.At(i, j)+v) }
	for _, t := range ts {
		if k.At(t.Near, t.Near)-2*k.At(t.A, t.Near)-k.At(t.Far, t.Far)+2*k.At(t.A, t.Far)+1 <= 0 {
			continue
		}
		inc(t.Near, t.Near, -delta)
		inc(t.Far, t.Far, delta)
		inc(t.A, t.Near, delta)
		inc(t.A, t.Far, -delta)
	}
	var eigen spectral.EigenSym
	if !eigen.Factorize(next, true) {
		return nil, 0, errors.New("erkle2015: eigendecomposition of a batch step did not converge")
	}
	negative := 0
	var v, scaled, product mat.Dense
	eigen.VectorsTo(&v)
	scaled.CloneFrom(&v)
	for j, lambda := range eigen.Values(nil) {
		if lambda < 0 {
			negative++
		}
		for i := range n {
			scaled.Set(i, j, max(0, lambda)*v.At(i, j))
		}
	}
	product.Mul(&scaled, v.T())
	for i := range n {
		for j := range i + 1 {
			next.SetSym(i, j, product.At(i, j))
		}
	}
	return next, negative, nil
}

// leastTime is what a phase takes at least, in seconds: the clock's resolution, so that logarithms exist.
const leastTime = 1e-6

// fig2Times are the CPU times of one trial in seconds, by phase.
type fig2Times struct {
	trial string
	spent map[string]float64
	// passes are the numbers of triplets of the checkpoints by number of objects; steps are the sizes at which steps were timed.
	passes map[int][]int
	steps  []int
}

func fig2TimesOf(t, times *table.Table) ([]fig2Times, error) {
	var out []fig2Times
	for trial, g := range t.Group("trial") {
		r := fig2Times{trial: trial, spent: map[string]float64{}, passes: map[int][]int{}}
		own := times.Where("trial", trial)
		for i, phase := range own.Index("phase") {
			r.spent[phase] = max(leastTime, own.Values("cpu_s")[i])
		}
		for i, kind := range g.Index("kind") {
			switch n := count(g.Index("objects")[i]); kind {
			case "pass":
				r.passes[n] = append(r.passes[n], count(g.Index("triplets")[i]))
			case "step":
				r.steps = append(r.steps, n)
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// large is the number of objects of the main pass.
func (r fig2Times) large() int {
	n := 0
	for k := range r.passes {
		n = max(n, k)
	}
	return n
}

// middle is the largest number of objects but that of the main pass.
func (r fig2Times) middle() int {
	n := 0
	for k := range r.passes {
		if k != r.large() {
			n = max(n, k)
		}
	}
	return n
}

// pass returns the cumulative times of a pass at its checkpoints.
func (r fig2Times) pass(n int) []float64 {
	out := make([]float64, len(r.passes[n]))
	sum := 0.0
	for i, to := range r.passes[n] {
		sum += r.spent[passPhase(n, to)]
		out[i] = sum
	}
	return out
}

// whole is the time of a whole pass, over 2n triplets.
func (r fig2Times) whole(n int) float64 {
	return experiment.Last(fmt.Sprintf("checkpoints of the pass with %d objects in trial %s", n, r.trial), r.pass(n))
}

// one is the time of one step; at the largest n by a power law through the others.
func (r fig2Times) one(phase func(n int) string, n int) float64 {
	if n == r.large() {
		s, _ := r.stepLaw(phase, n)
		return s
	}
	return r.spent[phase(n)]
}

// stepLaw fits times of steps as c·nᵖ through all sizes but the largest, in logarithms, and returns the value at n, and p.
func (r fig2Times) stepLaw(phase func(n int) string, n int) (seconds, p float64) {
	var x, y []float64
	for _, k := range r.steps {
		if k < r.large() {
			x, y = append(x, math.Log(float64(k))), append(y, math.Log(r.spent[phase(k)]))
		}
	}
	experiment.NotEmpty("steps timed at fewer than the most objects in trial "+r.trial, x)
	c, p := stat.LinearRegression(x, y, nil, false)
	return math.Exp(c + p*math.Log(float64(n))), p
}
