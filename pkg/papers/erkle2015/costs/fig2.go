// Package costs has the experiments on what a step costs: Fig. 2(a), steps that are skipped, and speed.
package costs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// PointsIn names n points in R⁵⁰.
func PointsIn(n int) string { return fmt.Sprintf("%d points in R50", n) }

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
		return []experiment.Cell{{Name: "large", Dataset: PointsIn(s.Objects), Settings: s, Methods: fig2Versions}}
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
	Cost:   12 * time.Minute,
}

// fig2Versions are those of what is timed.
var fig2Versions = map[string]int{"ERKLE": triplets.ERKLEVersion, "large ERKLE": triplets.ERKLELargeVersion, "batch": triplets.BatchVersion, "large batch": triplets.BatchLargeVersion, "released": triplets.ReleasedVersion}

var fig2Kinds = []experiment.Kind{
	{Name: fig2Pass, Meaning: "a pass of PA-ERKLE over 2n triplets, after so many of them"},
	{Name: fig2Step, Meaning: "one batch step on all 2n triplets"},
}

var fig2Columns = slices.Concat(experiment.Columns{
	experiment.Text("kind", "what is timed"),
	experiment.Text("objects", "number of objects n"),
	experiment.Text("triplets", "triplets seen so far, or in the step"),
}, protocol.ErrorColumns("test", fig2Pass), countColumns(fig2Pass), experiment.Columns{
	experiment.Number("negative", "", "negative eigenvalues that the step removed").In(fig2Step),
})

func fig2Trial(ctx context.Context, run *experiment.Run) error {
	x := run.Cell.Settings.(fig2Settings)
	t := &fig2Run{x, run}
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
	*experiment.Run
}

// split draws comparisons of n points in R⁵⁰, of which 2n train, as in Section 5.2 (n = 5000).
func (r *fig2Run) split(n, test int) (protocol.Split, error) {
	seed := protocol.SharedSeed(r.Seed)
	seed.Dataset = PointsIn(n)
	return protocol.DrawSynthetic(r.Env, seed, protocol.Counts{Objects: n, Train: 2 * n, Test: protocol.TestCount(test)})
}

// pass runs PA-ERKLE over all triplets, timed from mini-batch to mini-batch.
func (r *fig2Run) pass(ctx context.Context, n, test int) error {
	s, err := r.split(n, test)
	if err != nil {
		return err
	}
	train, every := len(s.Train), minibatch(n, r.Batches)
	l, err := triplets.NewERKLE(n, triplets.ERKLEParams{})
	if err != nil {
		return err
	}
	rule := newPrintedRule(n)
	steps := make([]float64, every)
	removed := make([]bool, every)
	for from := 0; from < train; from += every {
		to := min(from+every, train)
		end := r.Lap(passPhase(n, to))
		for i, t := range s.Train[from:to] {
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
		for i, t := range s.Train[from:to] {
			if steps[i] > 0 {
				rule.update(t, steps[i], removed[i])
			}
		}
		v := skipCounts(l.Stats(), rule)
		if len(s.Test) > 0 {
			predicted(l, s.Test).Put(v, "test")
		}
		r.Rows.Add(table.Key{"kind": fig2Pass, "objects": strconv.Itoa(n), "triplets": strconv.Itoa(to)}, v)
	}
	return nil
}

// predicted counts the errors of a learner's predictions as protocol.ErrorsOf those of its kernel, without a kernel.
func predicted(l *triplets.ERKLE, ts []metric.Triplet) protocol.ErrorCount {
	c := protocol.ErrorCount{Of: len(ts)}
	for _, t := range ts {
		switch p := l.Predict(t); {
		case triplets.Tied(p.SqNear, p.SqFar):
			c.Ties++
			c.Wrong++
		case p.SqNear > p.SqFar:
			c.Wrong++
		}
	}
	return c
}

// steps times one step of batch GNMDS from K = I on all 2n triplets by our own full eigendecomposition, and as triplets.FitBatch does it.
// If asked for, it times one by gonum's, too, and that of the program that the paper names. At the size Twice it times two by gonum's.
func (r *fig2Run) steps(ctx context.Context, n int, gonum, named bool) error {
	s, err := r.split(n, 0)
	if err != nil {
		return err
	}
	identity := IdentityOf(n)
	timed := func(phase string, step func() error) {
		if err != nil {
			return
		}
		if err = ctx.Err(); err != nil {
			return
		}
		end := r.Lap(phase)
		err = step()
		end()
	}
	if gonum {
		negative := 0
		timed(stepPhase(n), func() (err error) {
			_, negative, err = fullStep(new(mat.EigenSym), identity, s.Train, r.Delta)
			return err
		})
		r.Rows.Add(table.Key{"kind": fig2Step, "objects": strconv.Itoa(n), "triplets": strconv.Itoa(len(s.Train))}, table.Values{"negative": float64(negative)})
	}
	if n == r.Twice {
		timed(twicePhase(n), func() error {
			k, _, err := fullStep(new(mat.EigenSym), identity, s.Train, r.Delta)
			if err == nil {
				_, _, err = fullStep(new(mat.EigenSym), k, s.Train, r.Delta)
			}
			return err
		})
	}
	timed(ownPhase(n), func() error {
		_, _, err := fullStep(new(spectral.EigenSym), identity, s.Train, r.Delta)
		return err
	})
	timed(fitPhase(n), func() error {
		_, err := triplets.FitBatch(ctx, n, s.Train, triplets.BatchParams{Method: triplets.BatchFixed, Delta: r.Delta, Iterations: 1})
		return err
	})
	if named { // the cost of I, the step, and the cost of what it makes
		timed(namedPhase(n), func() error {
			_, err := triplets.FitReleased(ctx, n, s.Train, triplets.ReleasedParams{Iterations: 2})
			return err
		})
	}
	return err
}

// IdentityOf is the n×n identity.
func IdentityOf(n int) *mat.SymDense {
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

// countColumns declare the columns of skipCounts, in rows of the kinds named; in all if none is.
func countColumns(kinds ...string) experiment.Columns {
	out := experiment.Columns{
		experiment.Number("active", "", "updates so far that changed the kernel"),
		experiment.Number("weyl", "", "of them, shown to need no eigenpair by a bound on the smallest eigenvalue"),
		experiment.Number("slack", "", "of the others, shown to need none by a slack per object"),
		experiment.Number("block", "", "of the others, shown to need none by the smallest eigenvalue of the block of connected objects"),
		experiment.Number("bound", "", "of the others, shown to need none by a bound from a Krylov space"),
		experiment.Number("computed", "", "eigenpairs computed so far"),
		experiment.Number("projected", "", "negative eigenpairs removed so far"),
		experiment.Number("printed", "", "eigenpairs that the paper's rule would have computed so far"),
	}
	for i := range out {
		out[i].Kinds = kinds
	}
	return out
}

// skipCounts are the cells of countColumns. ERKLE 3 has no slacks; the tables of ERKLE 2, which are published, have.
func skipCounts(s triplets.ERKLEStats, rule *printedRule) table.Values {
	return table.Values{
		"active": float64(s.Active), "weyl": float64(s.By[triplets.CertificateWeyl]), "slack": 0, "block": float64(s.By[triplets.CertificateBlock]),
		"bound": float64(s.By[triplets.CertificateBound]), "computed": float64(s.By[triplets.CertificateComputed]), "projected": float64(s.Projected), "printed": float64(rule.computed),
	}
}

// printedRule follows the rule of Section 4.2 beside a learner from K = I whose updates are the same. It keeps λ̂ ← λ̂ − 3γ, and where
// that is negative it computes the smallest eigenvalue λ and sets λ̂ ← max(0, λ). Up to the first negative one the kernel is I minus a
// sum of γG: sparse, with a block for the objects that triplets connect. λ is not computed before it matters: not while an upper bound
// of it is less than 3γ, since then the next update computes, too. Only the blocks that have changed are looked at.
//
// From the first negative eigenvalue on, K has a null vector v, and λ̂ is 0. An update that is not removed from raises λ to at
// most 3γ(wᵀv)², and only a step shorter than γ(wᵀv)² would be skipped; that is not followed, and every update is counted.
type printedRule struct {
	diagonal []float64
	off      [][]sparseEntry // row by row, without the diagonal
	blocks   []block         // by any of their objects, through parent
	parent   []int
	changed  []int   // objects of the blocks whose eigenpair is not known
	bound    float64 // λ̂, unless open
	open     bool    // λ̂ is max(0, λ) of K as it is, not computed yet
	v        []float64
	above    float64 // vᵀKv ≥ λ, v a unit vector
	singular bool
	computed int
}

type sparseEntry struct {
	j int
	v float64
}

// block is a set of objects that triplets connect, with the smallest eigenpair of K in it, unless it has changed.
type block struct {
	last    metric.Triplet
	changed bool
	lambda  float64
	vector  []sparseEntry
}

func newPrintedRule(n int) *printedRule {
	r := &printedRule{
		diagonal: make([]float64, n), off: make([][]sparseEntry, n), blocks: make([]block, n), parent: make([]int, n),
		bound: 1, v: make([]float64, n), above: math.Inf(1),
	}
	for i := range n {
		r.diagonal[i], r.parent[i] = 1, i
		r.blocks[i] = block{lambda: 1, vector: []sparseEntry{{i, 1}}}
	}
	return r
}

// update follows the update K − γG(t), of which it is told whether an eigenpair was removed.
func (r *printedRule) update(t metric.Triplet, gamma float64, removed bool) {
	if r.open && max(0, r.above) >= 3*gamma {
		r.smallest()
		r.bound, r.open = max(0, r.above), false
	}
	if !r.singular {
		r.diagonal[t.Near] -= gamma
		r.diagonal[t.Far] += gamma
		r.inc(t.A, t.Near, 2*gamma)
		r.inc(t.A, t.Far, -2*gamma)
		a, b, c := r.v[t.A], r.v[t.Near], r.v[t.Far]
		r.above -= gamma * (b*b - c*c - 4*a*b + 4*a*c)
		root := r.root(t.A)
		r.parent[r.root(t.Near)] = root
		r.parent[r.root(t.Far)] = root
		r.blocks[root] = block{last: t, changed: true}
		r.changed = append(r.changed, root)
	}
	if r.bound -= 3 * gamma; !r.open && r.bound >= 0 {
		return
	}
	r.computed++
	r.singular = r.singular || removed
	r.bound, r.open = 0, !r.singular
}

func (r *printedRule) inc(i, j int, v float64) {
	for _, e := range [][2]int{{i, j}, {j, i}} {
		row := r.off[e[0]]
		k := slices.IndexFunc(row, func(x sparseEntry) bool { return x.j == e[1] })
		if k < 0 {
			r.off[e[0]] = append(row, sparseEntry{e[1], v})
		} else {
			row[k].v += v
		}
	}
}

// root is the object by which the block of i is known.
func (r *printedRule) root(i int) int {
	for r.parent[i] != i {
		r.parent[i] = r.parent[r.parent[i]]
		i = r.parent[i]
	}
	return i
}

// smallest sets v and above to the smallest eigenpair of the sparse kernel.
func (r *printedRule) smallest() {
	const tol = 1e-6 // of λ̂, whose steps are about 0.3
	n := len(r.diagonal)
	op := spectral.Func{N: n, Mul: func(dst, x []float64) {
		for i, d := range r.diagonal {
			sum := d * x[i]
			for _, e := range r.off[i] {
				sum += e.v * x[e.j]
			}
			dst[i] = sum
		}
	}}
	start := make([]float64, n)
	for _, i := range r.changed {
		b := &r.blocks[r.root(i)]
		if !b.changed {
			continue
		}
		t := b.last
		start[t.A], start[t.Near], start[t.Far] = 2, -2, 1 // the direction that the last update lowered, and its block
		p := spectral.Smallest(op, 1, spectral.Options{Tol: tol, Start: start, StartOnly: true})
		start[t.A], start[t.Near], start[t.Far] = 0, 0, 0
		b.changed, b.lambda = false, p.Values[0]
		for j, v := range p.Vectors.RawRowView(0) {
			if v != 0 {
				b.vector = append(b.vector, sparseEntry{j, v})
			}
		}
	}
	r.changed = r.changed[:0]
	least := 0
	for i := range n {
		if r.parent[i] == i && r.blocks[i].lambda < r.blocks[r.root(least)].lambda {
			least = i
		}
	}
	b := r.blocks[r.root(least)]
	clear(r.v)
	for _, e := range b.vector {
		r.v[e.j] = e.v
	}
	r.above = b.lambda
}
