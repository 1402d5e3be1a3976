package triplets

import (
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// layout keeps kernels as blocks. Where neither the first kernel nor a triplet connects two
// objects, K_ij stays 0: K is block diagonal, one block per component, and to project it is to
// project each. The lower triangles of the blocks stand row by row in one slice, with zeros above
// them.
type layout struct {
	blocks   []block
	size     int        // of the slices: Σm²
	largest  int        // order of the largest block
	diagonal []int      // of each object: where its K_ii is
	refs     []blockRef // of each triplet
}

// block is one component: its objects in ascending order, and where its matrix begins.
type block struct {
	objects []int
	first   int
}

// blockRef is a triplet: its objects, and where the entries of its two pairs are.
type blockRef struct{ a, near, far, nearAt, farAt int }

// newLayout returns the layout for n objects, a first kernel, nil for I, and triplets that pass
// Check.
func newLayout(n int, initial mat.Symmetric, ts []metric.Triplet) *layout {
	parent := make([]int, n)
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	join := func(i, j int) { // the root of a component is its first object
		i, j = root(i), root(j)
		parent[max(i, j)] = min(i, j)
	}
	if initial != nil {
		for i := range n {
			for j := range i {
				if initial.At(i, j) != 0 {
					join(i, j)
				}
			}
		}
	}
	for _, t := range ts {
		join(t.A, t.Near)
		join(t.A, t.Far)
	}

	l := &layout{diagonal: make([]int, n), refs: make([]blockRef, len(ts))}
	of, place := make([]int, n), make([]int, n) // the block of each object, and where in it
	for i := range n {
		r := root(i)
		if r == i {
			of[i] = len(l.blocks)
			l.blocks = append(l.blocks, block{})
		}
		of[i] = of[r]
		b := &l.blocks[of[i]]
		place[i] = len(b.objects)
		b.objects = append(b.objects, i)
	}
	for k := range l.blocks {
		b := &l.blocks[k]
		m := len(b.objects)
		b.first = l.size
		l.size += m * m
		l.largest = max(l.largest, m)
		for j, i := range b.objects {
			l.diagonal[i] = b.first + j*m + j
		}
	}
	at := func(i, j int) int {
		b := l.blocks[of[i]]
		i, j = place[i], place[j]
		return b.first + max(i, j)*len(b.objects) + min(i, j)
	}
	for k, t := range ts {
		l.refs[k] = blockRef{t.A, t.Near, t.Far, at(t.A, t.Near), at(t.A, t.Far)}
	}
	return l
}

// fill sets k to the blocks of a kernel, nil for I.
func (l *layout) fill(k []float64, from mat.Symmetric) {
	if from == nil {
		for _, d := range l.diagonal {
			k[d] = 1
		}
		return
	}
	for _, b := range l.blocks {
		m := len(b.objects)
		for i, p := range b.objects {
			for j, q := range b.objects[:i+1] {
				k[b.first+i*m+j] = from.At(p, q)
			}
		}
	}
}

// kernel returns the matrix of k.
func (l *layout) kernel(k []float64) *mat.SymDense {
	out := mat.NewSymDense(len(l.diagonal), nil)
	for _, b := range l.blocks {
		m := len(b.objects)
		for i, p := range b.objects {
			for j, q := range b.objects[:i+1] {
				out.SetSym(p, q, k[b.first+i*m+j])
			}
		}
	}
	return out
}

// trace returns the trace of k.
func (l *layout) trace(k []float64) float64 {
	var sum float64
	for _, d := range l.diagonal {
		sum += k[d]
	}
	return sum
}

// sqDists sets near and far to the squared distances of each triplet under k ⪰ 0, 0 where round-off
// makes them negative. scratch has length n.
func (l *layout) sqDists(near, far, k, scratch []float64) {
	for i, d := range l.diagonal {
		scratch[i] = k[d]
	}
	for t, r := range l.refs {
		near[t] = max(0, scratch[r.a]+scratch[r.near]-2*k[r.nearAt])
		far[t] = max(0, scratch[r.a]+scratch[r.far]-2*k[r.farAt])
	}
}

// gradient sets g to Σ_t wn·∇d²(A, Near) + wf·∇d²(A, Far) + τI: with respect to the Frobenius inner
// product ∇d²(i, j) is 1 at (i, i) and (j, j), −1 at (i, j) and (j, i). scratch has length n.
func (l *layout) gradient(g, wn, wf, scratch []float64, tau float64) {
	clear(g)
	for i := range scratch {
		scratch[i] = tau
	}
	for t, r := range l.refs {
		n, f := wn[t], wf[t]
		g[r.nearAt] -= n
		g[r.farAt] -= f
		scratch[r.a] += n + f
		scratch[r.near] += n
		scratch[r.far] += f
	}
	for i, d := range l.diagonal {
		g[d] = scratch[i]
	}
}
