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

// skipsCell is a stream of triplets and a step rule: the settings of a cell.
type skipsCell struct {
	Objects int    `key:"objects"`
	Train   int    `key:"train"`
	Step    string `key:"step"`
}

// skipsMethods are the methods that have the step rules.
var skipsMethods = map[string]string{skipsPA: paERKLE, skipsConstant: gnmdsConstant}

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
	if c.Step == skipsConstant {
		return fmt.Sprintf("n = %d", c.Objects) + constantSuffix
	}
	return fmt.Sprintf("n = %d", c.Objects)
}

// Skips counts how often an update of ERKLE can do without an eigenpair.
var Skips = experiment.Spec{
	ID:      "erkle2015/skips",
	Title:   "How many updates of ERKLE need no eigenpair, by the rule that shows it",
	Source:  "Section 4.2",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return mapped(skipsCells(scale), func(c skipsCell) experiment.Cell {
			return experiment.Cell{Name: c.name(), Dataset: pointsIn(c.Objects), Settings: c, Methods: map[string]int{"ERKLE": triplets.ERKLEVersion}}
		})
	},
	Trials:  experiment.Trials(6),
	Columns: skipsColumns,
	Trial:   skipsTrial,
	Views: []experiment.View{
		{Name: "skips", Title: "Share of updates that need no eigenpair, by certificate", Draw: skipsView.Draw},
		{Name: "skips-counts", Title: "Eigenpairs computed and needed", Draw: skipsCountsView.Draw},
	},
	Claims: skipsClaims,
	Cost:   time.Minute,
}

var skipsColumns = slices.Concat(
	experiment.Columns{experiment.Text("triplets", "triplets seen so far")}, countColumns(),
	experiment.Columns{experiment.Number("moved", "", "sum over the removals so far: how far each moved d²(a, c) − d²(a, b) of its triplet")},
)

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

func skipsTrial(ctx context.Context, run *experiment.Run) error {
	c := run.Cell.Settings.(skipsCell)
	s, err := drawSynthetic(run.Env, sharedSeed(run.Seed), counts{Objects: c.Objects, Train: c.Train})
	if err != nil {
		return err
	}
	p, err := erkleParams(skipsMethods[c.Step])
	if err != nil {
		return err
	}
	l, err := triplets.NewERKLE(c.Objects, p)
	if err != nil {
		return err
	}
	rule := newPrintedRule(c.Objects)
	checkpoints := skipsCheckpoints(c.Train)
	moved := 0.0
	for i, t := range s.train {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := l.Stats()
		out, err := l.Step(t)
		if err != nil {
			return err
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
			run.Rows.Add(table.Key{"triplets": strconv.Itoa(i + 1)}, v)
		}
	}
	return nil
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
