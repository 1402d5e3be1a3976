package erkle2015

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// pointsIn names n points in R⁵⁰.
func pointsIn(n int) string { return fmt.Sprintf("%d points in R50", n) }

// largeObjects is n of Section 5.2.
const largeObjects = 5000

// fig2Settings are those of the cell.
type fig2Settings struct {
	Objects int `key:"objects"`
	Test    int `key:"test"`
	Batches int `key:"mini-batches"`
	// Steps are the sizes at which batch steps are timed in every trial; at Objects the first trial times one by gonum's eigendecomposition, too.
	Steps []int `key:"steps at,list"`
	// Named are the ones of Steps at which the step of the program that the paper names is timed, too; the first trial times one at Objects.
	Named []int `key:"steps of the named program at,list"`
	// Twice is the one of Steps at which two steps are timed.
	Twice int     `key:"two steps at"`
	Delta float64 `key:"delta"`
}

func fig2At(scale experiment.Scale) fig2Settings {
	if scale == experiment.Smoke {
		return fig2Settings{60, 300, fig2Batches, []int{10, 20, 30}, []int{10, 20}, 20, fig2Delta}
	}
	return fig2Settings{largeObjects, 50000, fig2Batches, []int{250, 400, 630, 1000, 1600}, []int{250, 400, 630, 1000}, 630, fig2Delta}
}

// fig2Batches is the number of mini-batches of 2n triplets.
const fig2Batches = 20

// minibatch is the number of triplets of a mini-batch; 500 for n = 5000, as in the paper.
func minibatch(n, batches int) int { return max(1, 2*n/batches) }

// fig2Delta is the step size δ of the batch steps that are timed: that of PA-ERKLE for a triplet at K = I.
const fig2Delta = 0.1

// Fig2 times a pass of PA-ERKLE and steps of batch GNMDS.
var Fig2 = experiment.Spec{
	ID:      "erkle2015/fig2",
	Title:   "5,000 objects: time of a pass of PA-ERKLE and of steps of batch GNMDS, error of PA-ERKLE",
	Source:  "Section 5.2, Fig. 2",
	Version: 3,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := fig2At(scale)
		return []experiment.Cell{{Name: "large", Dataset: pointsIn(s.Objects), Settings: s, Methods: fig2Versions}}
	},
	Trials:  experiment.Trials(judge.MinTrials),
	Kinds:   fig2Kinds,
	Columns: fig2Columns,
	Trial:   fig2Trial,
	Views: []experiment.View{
		{Name: "fig2a", Title: "Fig. 2a: time of a pass of PA-ERKLE and of batch GNMDS, 5,000 objects", DrawTimed: drawFig2a},
		{Name: "fig2b-large", Title: "Fig. 2b: error of PA-ERKLE, 5,000 objects", Draw: fig2bLargeView.Draw},
		{Name: "fig2-skips", Title: "Share of updates that need no eigenpair, by certificate, 5,000 objects", Draw: fig2SkipsView.Draw},
		{Name: "fig2-steps", Title: "Time of one batch step and of a pass of PA-ERKLE against the number of objects", DrawTimed: drawFig2Steps},
	},
	Claims: fig2Claims,
	Cost:   30 * time.Minute,
}

// fig2Versions are those of what is timed.
var fig2Versions = map[string]int{"ERKLE": triplets.ERKLEVersion, "batch": triplets.BatchVersion, "released": triplets.ReleasedVersion}

// The kinds of rows.
const (
	fig2Pass = "pass"
	fig2Step = "step"
)

var fig2Kinds = []experiment.Kind{
	{Name: fig2Pass, Meaning: "a pass of PA-ERKLE over 2n triplets, after so many of them"},
	{Name: fig2Step, Meaning: "one batch step on all 2n triplets"},
}

var fig2Columns = slices.Concat(experiment.Columns{
	experiment.Text("kind", "what is timed"),
	experiment.Text("objects", "number of objects n"),
	experiment.Text("triplets", "triplets seen so far, or in the step"),
}, errorColumns("test", fig2Pass), countColumns(fig2Pass), experiment.Columns{
	experiment.Number("negative", "", "negative eigenvalues that the step removed").In(fig2Step),
})

// Names of the phases that are timed. A pass is timed from each mini-batch to the next.
func passPhase(n, to int) string { return fmt.Sprintf("pass n=%d to %d", n, to) }
func stepPhase(n int) string     { return fmt.Sprintf("step n=%d", n) }
func twicePhase(n int) string    { return fmt.Sprintf("two steps n=%d", n) }
func fitPhase(n int) string      { return fmt.Sprintf("step of FitBatch n=%d", n) }
func ownPhase(n int) string      { return fmt.Sprintf("step by our eigendecomposition n=%d", n) }
func namedPhase(n int) string    { return fmt.Sprintf("step of the named program n=%d", n) }

func fig2Trial(ctx context.Context, run *experiment.Run) error {
	x := run.Cell.Settings.(fig2Settings)
	t := &fig2Run{fig2Settings: x, env: run.Env, seed: run.Seed, rows: run.Rows}
	if err := t.pass(ctx, x.Objects, x.Test); err != nil {
		return err
	}
	for _, n := range append(slices.Clone(x.Steps), x.Objects) {
		small := n != x.Objects
		if small {
			if err := t.pass(ctx, n, 0); err != nil {
				return err
			}
		}
		first := run.Seed.Trial == 0 && !small
		if err := t.steps(ctx, n, small || first, slices.Contains(x.Named, n) || first); err != nil {
			return err
		}
	}
	return nil
}

// fig2Run is a trial that fills its table.
type fig2Run struct {
	fig2Settings
	env  *experiment.Env
	seed random.Seed
	rows *table.Table
}

// split draws comparisons of n points in R⁵⁰, of which 2n train, as in Section 5.2 (n = 5000).
func (r *fig2Run) split(n, test int) (split, error) {
	seed := sharedSeed(r.seed)
	seed.Dataset = pointsIn(n)
	return drawSynthetic(r.env, seed, counts{Objects: n, Train: 2 * n, Test: testCount(test)})
}

// pass runs PA-ERKLE over all triplets, timed from mini-batch to mini-batch.
func (r *fig2Run) pass(ctx context.Context, n, test int) error {
	s, err := r.split(n, test)
	if err != nil {
		return err
	}
	train, every := len(s.train), minibatch(n, r.Batches)
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
		r.rows.Add(table.Key{"kind": fig2Pass, "objects": strconv.Itoa(n), "triplets": strconv.Itoa(to)}, v)
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

// steps times one step of batch GNMDS from K = I on all 2n triplets: by our own full eigendecomposition, as triplets.FitBatch does it
// and, if asked for, by gonum's full eigendecomposition, at the size Twice two of them too, and that of the program that the paper names.
func (r *fig2Run) steps(ctx context.Context, n int, gonum, named bool) error {
	s, err := r.split(n, 0)
	if err != nil {
		return err
	}
	identity := identityOf(n)
	timed := func(phase string, step func() error) {
		if err != nil {
			return
		}
		if err = ctx.Err(); err != nil {
			return
		}
		end := r.env.Lap(phase)
		err = step()
		end()
	}
	if gonum {
		negative := 0
		timed(stepPhase(n), func() (err error) {
			_, negative, err = fullStep(new(mat.EigenSym), identity, s.train, r.Delta)
			return err
		})
		r.rows.Add(table.Key{"kind": fig2Step, "objects": strconv.Itoa(n), "triplets": strconv.Itoa(len(s.train))}, table.Values{"negative": float64(negative)})
	}
	if n == r.Twice {
		timed(twicePhase(n), func() error {
			k, _, err := fullStep(new(mat.EigenSym), identity, s.train, r.Delta)
			if err == nil {
				_, _, err = fullStep(new(mat.EigenSym), k, s.train, r.Delta)
			}
			return err
		})
	}
	timed(ownPhase(n), func() error {
		_, _, err := fullStep(new(spectral.EigenSym), identity, s.train, r.Delta)
		return err
	})
	timed(fitPhase(n), func() error {
		_, err := triplets.FitBatch(ctx, n, s.train, triplets.BatchParams{Method: triplets.BatchFixed, Delta: r.Delta, Iterations: 1})
		return err
	})
	if named { // the cost of I, the step, and the cost of what it makes
		timed(namedPhase(n), func() error {
			_, err := triplets.FitReleased(ctx, n, s.train, triplets.ReleasedParams{Iterations: 2})
			return err
		})
	}
	return err
}

// identityOf is the n×n identity.
func identityOf(n int) *mat.SymDense {
	k := mat.NewSymDense(n, nil)
	for i := range n {
		k.SetSym(i, i, 1)
	}
	return k
}

// eigenSym decomposes a symmetric matrix: mat.EigenSym, which is gonum's, or spectral.EigenSym, which is ours and faster.
type eigenSym interface {
	Factorize(a mat.Symmetric, vectors bool) (ok bool)
	Values(dst []float64) []float64
	VectorsTo(dst *mat.Dense)
}

// fullStep returns K after one step of projected gradient descent on the hinge losses without a trace term (Eqs. 3.7 and 3.8), and how many
// negative eigenvalues it had to remove. The projection takes the full eigendecomposition K' = VΛVᵀ and computes V[Λ]₊Vᵀ.
func fullStep(eigen eigenSym, k *mat.SymDense, ts []metric.Triplet, delta float64) (*mat.SymDense, int, error) {
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

// fig2Times are the CPU times of one trial in seconds, by phase.
type fig2Times struct {
	trial string
	spent map[string]float64
	// passes are the numbers of triplets of the checkpoints by number of objects; steps are the sizes at which steps were timed.
	passes map[int][]int
	steps  []int
}

func fig2TimesOf(t, times *table.Table) (out []fig2Times) {
	for trial, g := range t.Group("trial") {
		r := fig2Times{trial: trial, spent: spentOn(times.Where("trial", trial)), passes: map[int][]int{}}
		objects, seen := countsIn(g, "objects"), countsIn(g, "triplets")
		for i, kind := range g.Index("kind") {
			switch n := objects[i]; kind {
			case fig2Pass:
				r.passes[n] = append(r.passes[n], seen[i])
			case fig2Step:
				r.steps = append(r.steps, n)
			}
		}
		out = append(out, r)
	}
	return out
}

// sizes are the numbers of objects of the passes, ascending.
func (r fig2Times) sizes() []int { return slices.Sorted(maps.Keys(r.passes)) }

// large is the number of objects of the main pass, 0 if there is none.
func (r fig2Times) large() int { return slices.Max(append(r.sizes(), 0)) }

// middle is the largest number of objects but that of the main pass, 0 if there is none.
func (r fig2Times) middle() int {
	if s := r.sizes(); len(s) > 1 {
		return s[len(s)-2]
	}
	return 0
}

// measured is the time of the step at the largest size, if it was timed.
func (r fig2Times) measured() (float64, bool) {
	s, ok := r.spent[stepPhase(r.large())]
	return s, ok
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
