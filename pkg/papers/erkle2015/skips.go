package erkle2015

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// skipsSteps are the step rules that are counted: the paper's, and one that does not look at how far a triplet is from satisfied.
const (
	skipsPA       = "PA"
	skipsConstant = "constant"
)

// stepDrop is by how much an update of magnitude 1 lowers d²(a, b) − d²(a, c) before the projection (Eq. 4.15).
const stepDrop = 10

// constantSuffix ends the names of the cells of the constant step.
const constantSuffix = ", constant step"

// skipsCell is a stream of triplets and a step rule.
type skipsCell struct {
	objects, train int
	step           string
}

func skipsCells(scale experiment.Scale) []skipsCell {
	if scale == experiment.Smoke {
		return []skipsCell{{20, 200, skipsPA}, {60, 200, skipsPA}, {20, 200, skipsConstant}}
	}
	return []skipsCell{
		{100, 10000, skipsPA}, {500, 10000, skipsPA}, {1000, 10000, skipsPA},
		{100, 10000, skipsConstant}, {500, 10000, skipsConstant},
	}
}

func (c skipsCell) name() string {
	if c.step == skipsConstant {
		return fmt.Sprintf("n = %d", c.objects) + constantSuffix
	}
	return fmt.Sprintf("n = %d", c.objects)
}

func (c skipsCell) params() (triplets.ERKLEParams, error) {
	switch c.step {
	case skipsPA:
		return triplets.ERKLEParams{}, nil
	case skipsConstant:
		return triplets.ERKLEParams{Step: triplets.Constant, Delta: 1}, nil
	}
	return triplets.ERKLEParams{}, fmt.Errorf("erkle2015: step rule: %q is not known", c.step)
}

// Skips counts how often an update of ERKLE can do without an eigenpair.
var Skips = experiment.Spec{
	ID:      "erkle2015/skips",
	Title:   "How many updates of ERKLE need no eigenpair, by the rule that shows it",
	Source:  "Section 4.2",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, c := range skipsCells(scale) {
			cells = append(cells, experiment.Cell{
				Name: c.name(), Dataset: pointsIn(c.objects, 0).dataset,
				Params:  map[string]string{"objects": strconv.Itoa(c.objects), "train": strconv.Itoa(c.train), "step": c.step},
				Methods: map[string]int{"ERKLE": triplets.ERKLEVersion},
			})
		}
		return cells
	},
	Trials: experiment.Trials(6),
	Index:  skipsIndex,
	Values: skipsValues,
	Trial:  skipsTrial,
	Views: []experiment.View{
		{Name: "skips", Title: "Share of updates that need no eigenpair, by certificate", Draw: drawSkips},
		{Name: "skips-counts", Title: "Eigenpairs computed and needed", Draw: drawSkipsCounts},
	},
	Claims: skipsClaims,
	Cost:   time.Minute,
}

// The table has a row per checkpoint, counts so far: updates that were active; those that each certificate showed to need no eigenpair, of which
// the cheapest that does is counted; eigenpairs computed, negative ones removed; what the paper's rule would have computed; and
// the sum of how far removals moved the margin of their triplet.
var (
	skipsIndex  = []string{"triplets"}
	countValues = []string{"active", "weyl", "slack", "block", "bound", "computed", "projected", "printed"}
	skipsValues = append(slices.Clone(countValues), "moved")
)

// skipCounts are the value columns.
func skipCounts(s triplets.ERKLEStats, rule *printedRule) table.Values {
	return table.Values{
		"active": float64(s.Active), "weyl": float64(s.By[triplets.Weyl]), "slack": float64(s.By[triplets.Slack]), "block": float64(s.By[triplets.Block]),
		"bound": float64(s.By[triplets.Bound]), "computed": float64(s.By[triplets.Computed]), "projected": float64(s.Projected), "printed": float64(rule.computed),
	}
}

func skipsTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	i := slices.IndexFunc(skipsCells(env.Scale), func(c skipsCell) bool { return c.name() == cell.Name })
	if i < 0 {
		return nil, fmt.Errorf("erkle2015: cell %q is not known", cell.Name)
	}
	c := skipsCells(env.Scale)[i]
	s, err := drawSynthetic(env, sharedSeed(seed), counts{objects: c.objects, train: c.train})
	if err != nil {
		return nil, err
	}
	p, err := c.params()
	if err != nil {
		return nil, err
	}
	l, err := triplets.NewERKLE(c.objects, p)
	if err != nil {
		return nil, err
	}
	rows := table.New(skipsIndex, skipsValues)
	rule := newPrintedRule(c.objects)
	checkpoints := skipsCheckpoints(c.train)
	moved := 0.0
	for i, t := range s.train {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		before := l.Stats()
		out, err := l.Step(t)
		if err != nil {
			return nil, err
		}
		stats := l.Stats()
		if stats.Active > before.Active {
			rule.update(t, out.StepSize, stats.Projected > before.Projected)
		}
		if stats.Projected > before.Projected {
			now, was := l.Predict(t), out.Prediction
			moved += math.Abs(now.SqNear - now.SqFar - (was.SqNear - was.SqFar - stepDrop*out.StepSize))
		}
		if slices.Contains(checkpoints, i+1) {
			v := skipCounts(stats, rule)
			v["moved"] = moved
			rows.Add(table.Key{"triplets": strconv.Itoa(i + 1)}, v)
		}
	}
	return rows, nil
}

// printedRule follows the rule of Section 4.2 beside a learner from K = I whose updates are the same: it keeps λ̂ ← λ̂ − 3γ,
// and where that is negative computes the smallest eigenvalue λ, λ̂ ← max(0, λ). Up to the first negative one the kernel is I minus a
// sum of γG: sparse, with a block for the objects that triplets connect. λ is not computed before it matters: while an upper bound of it is less
// than 3γ, the next update computes, too; and then only in the blocks that have changed.
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

// skipsCheckpoints are 1, 2 and 5 times the powers of ten, from 10, up to the number of triplets, which is among them.
func skipsCheckpoints(train int) []int {
	var out []int
	for n := 10; n < train; n *= 10 {
		for _, k := range []int{1, 2, 5} {
			if k*n < train {
				out = append(out, k*n)
			}
		}
	}
	return append(out, train)
}
