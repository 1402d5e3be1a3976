package triplets

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// After each triplet the space is orthonormal, its products are those with the resolvent, and most pairs come from it.
func TestRecycledFollows(t *testing.T) {
	const (
		n   = 150
		tol = 1e-9 // the round-off of hundreds of updates of a resolvent whose entries are up to 1e3
	)
	k := newAblated(n, nil, ablation{size: true})
	searched, found := 0, 0
	for i, tr := range stream(n, 4*n, 0.05, 1) {
		d := k.dense
		before := 0
		if d != nil {
			before = d.w.len()
		}
		add, ok := pa(k, tr, GradientPrinted)
		if !ok || d == nil {
			continue
		}
		searched += add.removed
		if most := recycledBound(n); d.w.len() > most {
			t.Fatalf("after %d triplets the space has %d vectors, want at most %d", i+1, d.w.len(), most)
		}
		if before > 0 && add.removed == 1 && overlapOf(d, d.v) > 1-1e-9 {
			found++
		}
		if i%20 > 0 || d.r[0].base == nil || d.w.len() == 0 {
			continue
		}
		size := 0.0
		product := make([]float64, n)
		for a := range d.w.len() {
			q := d.w.q[a*n : (a+1)*n]
			for b := range a + 1 {
				want := 0.0
				if a == b {
					want = 1
				}
				if got := dot(q, d.w.q[b*n:(b+1)*n]); math.Abs(got-want) > tol {
					t.Fatalf("after %d triplets vectors %d and %d have the product %v, want %v", i+1, a, b, got, want)
				}
			}
			d.r[0].mulTo(product, q)
			for j, x := range product {
				size = max(size, math.Abs(x))
				if e := math.Abs(x - d.w.rq[a*n+j]); e > tol*size {
					t.Fatalf("after %d triplets entry %d of product %d is off by %v, of a product of size %v", i+1, j, a, e, size)
				}
			}
			for b, h := range d.w.row(a) {
				if e := math.Abs(h - dot(product, d.w.q[b*n:(b+1)*n])); e > tol*size {
					t.Fatalf("after %d triplets entry (%d, %d) of QRQᵀ is off by %v, of a product of size %v", i+1, a, b, e, size)
				}
			}
		}
	}
	if searched < n || found < searched*9/10 {
		t.Errorf("%d of %d pairs were found in the recycled space, want 9 in 10 of at least %d", found, searched, n)
	}
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// overlapOf is the length of the part of v in the space.
func overlapOf(d *resolved, v []float64) float64 {
	sum := 0.0
	for a := range d.w.len() {
		c := dot(d.w.q[a*d.n:(a+1)*d.n], v)
		sum += c * c
	}
	return math.Sqrt(sum)
}

func TestInvert(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 20, 65} {
		a := initial(n, n+5, 1)
		m := mat.NewDense(n, n, nil)
		m.Copy(a)
		for i := range n {
			m.Set(i, i, m.At(i, i)+0.1)
		}
		var want mat.Dense
		if err := want.Inverse(m); err != nil {
			t.Fatal(err)
		}
		if !invert(m.RawMatrix(), 4) {
			t.Fatalf("n = %d: not positive definite", n)
		}
		matrix.Complete(m.RawMatrix())
		if !mat.EqualApprox(m, &want, 1e-9) {
			t.Errorf("n = %d: the inverse is not gonum's", n)
		}
		m.Copy(a)
		m.Set(n-1, n-1, -1)
		if invert(m.RawMatrix(), 4) {
			t.Errorf("n = %d: a matrix with a negative entry on its diagonal counts as positive definite", n)
		}
	}
}

// The root of a secular equation, against bisection, from anywhere.
func TestLargestRoot(t *testing.T) {
	const floor = 1e-300
	r := rand.New(rand.NewPCG(1, 1))
	rootOf := func(c, m []float64, start float64) float64 {
		return largestRoot(func(s float64) (f, slope float64) {
			for i, x := range c {
				f += x / (m[i] + s)
				slope -= x / ((m[i] + s) * (m[i] + s))
			}
			return f, slope
		}, start, floor, max(floor, floats.Sum(c)))
	}
	for range 300 {
		k := 1 + r.IntN(8)
		c, m := make([]float64, k), make([]float64, k)
		f := func(s float64) (sum float64) {
			for i := range c {
				sum += c[i] / (m[i] + s)
			}
			return sum
		}
		for i := range c {
			c[i], m[i] = math.Exp(10*r.NormFloat64()), math.Exp(10*r.NormFloat64())
			if r.IntN(4) == 0 {
				m[i] = 0
			}
		}
		starts := []float64{floor, floats.Sum(c), math.Sqrt(floats.Sum(c))}
		if f(floor) < 1 {
			for _, start := range starts {
				if got := rootOf(c, m, start); got != 0 {
					t.Errorf("of %v, %v from %v: root %v, want none", c, m, start, got)
				}
			}
			continue
		}
		lo, hi := floor, 1e300
		for range 3000 {
			if mid := math.Sqrt(lo) * math.Sqrt(hi); f(mid) >= 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
		for _, start := range append(starts, lo, lo/2, min(2*lo, floats.Sum(c))) {
			if got := rootOf(c, m, start); math.Abs(got/lo-1) > 1e-10 {
				t.Errorf("of %v, %v from %v: root %v, want %v", c, m, start, got, lo)
			}
		}
	}
	for _, none := range [][2][]float64{{{}, {}}, {{0}, {0}}, {{0, 0}, {1, 0}}, {{1}, {2}}} {
		if got := rootOf(none[0], none[1], floor); got != 0 {
			t.Errorf("of %v: root %v, want 0: there is none", none, got)
		}
	}
	if got := rootOf([]float64{1}, []float64{math.NaN()}, 0.5); !math.IsNaN(got) {
		t.Errorf("of a function that is NaN: root %v", got)
	}
}

// semidefinite returns a kernel K = P − c·uuᵀ, P of order n and rank, as a large kernel holds it before its projection, and P.
func semidefinite(r *rand.Rand, n, rank int) (*resolved, *mat.SymDense, step) {
	x := mat.NewDense(n, rank, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = r.NormFloat64() / float64(1+i%rank)
	}
	var p mat.SymDense
	p.SymOuterK(1, x)
	st := newStep(metric.Triplet{A: 3, Near: 0, Far: 7}, 0.7, GradientPrinted)
	k := slices.Clone(p.RawSymmetric().Data)
	for i, a := range st.o {
		for j, b := range st.o {
			k[a*n+b] -= st.c * st.u[i] * st.u[j]
		}
	}
	return newResolved(n, k, ablation{size: true}), &p, st
}

// inverseForm returns uᵀ(P + sI)⁻¹u.
func inverseForm(t *testing.T, p *mat.SymDense, st step, s float64) (float64, *mat.VecDense) {
	t.Helper()
	n := p.SymmetricDim()
	m := mat.NewSymDense(n, nil)
	u, x := mat.NewVecDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			m.SetSym(i, j, p.At(i, j))
		}
		m.SetSym(i, i, m.At(i, i)+s)
	}
	for i, o := range st.o {
		u.SetVec(o, st.u[i])
	}
	var c mat.Cholesky
	if !c.Factorize(m) {
		t.Fatal("P + sI is not positive definite")
	}
	if err := c.SolveVecTo(x, u); err != nil {
		t.Fatal(err)
	}
	return mat.Dot(u, x), x
}

// Galerkin's condition by a Schur complement is that of the whole space, and exact where the space has all dimensions.
func TestGalerkin(t *testing.T) {
	const n = 24
	r := rand.New(rand.NewPCG(3, 3))
	for _, sizes := range [][2]int{{0, 1}, {6, 0}, {6, 1}, {6, 5}, {0, n}, {n - 4, 4}, {n, 0}} {
		d, p, st := semidefinite(r, n, 9)
		if !d.build(st) {
			t.Fatal("no resolvent")
		}
		w := d.w
		grow := func(x []float64) {
			product := make([]float64, n)
			if w.orthogonalise(x, nil) {
				d.r[0].mulTo(product, x)
				w.add(x, product)
			}
		}
		random := func() []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = r.NormFloat64()
			}
			return x
		}
		u := make([]float64, n)
		for i, o := range st.o {
			u[o] = st.u[i]
		}
		for w.len() < sizes[0] {
			grow(append([]float64(nil), [][]float64{u, random()}[min(w.len(), 1)]...))
		}
		g := newGalerkin(w, st, d.shift[0])
		for w.len() < sizes[0]+sizes[1] {
			grow(append([]float64(nil), [][]float64{u, random()}[min(w.len(), 1)]...))
			g.extend()
		}
		c := st.c
		k := w.len()
		for _, s := range []float64{0.01 * d.shift[0], d.shift[0], 3, 100} {
			f, slope := g.at(s)
			xi := g.inBasis()
			delta := s - d.shift[0]
			m, h, want := mat.NewDense(k, k, nil), mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
			for i := range k {
				for j := range k {
					v := w.row(max(i, j))[min(i, j)]
					m.Set(i, j, delta*v)
					h.SetVec(i, h.AtVec(i)+v*g.a[j])
				}
				m.Set(i, i, 1+m.At(i, i))
			}
			if err := want.SolveVec(m, h); err != nil {
				t.Fatal(err)
			}
			const tol = 1e-8 // the condition of I + δH is up to 1e4, that of P + sI 1e6
			size := mat.Norm(want, 2)
			for i, v := range xi {
				if math.Abs(v-want.AtVec(i)) > tol*size {
					t.Fatalf("sizes %v, s = %v: ξ_%d = %v, want %v", sizes, s, i, v, want.AtVec(i))
				}
			}
			if e := f - c*mat.Dot(want, mat.NewVecDense(k, g.a)); math.Abs(e) > tol*size {
				t.Errorf("sizes %v, s = %v: f is off by %v", sizes, s, e)
			}
			if e := slope + c*size*size; math.Abs(e) > tol*size*size {
				t.Errorf("sizes %v, s = %v: the slope is off by %v", sizes, s, e)
			}
			if k < n {
				continue
			}
			if exact, _ := inverseForm(t, p, st, s); math.Abs(f/(c*exact)-1) > tol {
				t.Errorf("sizes %v, s = %v: f = %v in the whole space, want %v", sizes, s, f, c*exact)
			}
		}
	}
}

// The certificate bounds the form from above for any vector, and is exact for the solution.
func TestAbove(t *testing.T) {
	const n = 30
	r := rand.New(rand.NewPCG(4, 4))
	for _, s := range []float64{1e-3, 0.1, 10} {
		d, p, st := semidefinite(r, n, 12)
		value, x := inverseForm(t, p, st, s)
		value *= st.c
		for _, noise := range []float64{0, 1e-6, 1e-3, 0.1, 10} {
			for i := range d.v {
				d.v[i] = x.AtVec(i) + noise*r.NormFloat64()
			}
			got := d.above(st, s)
			if got < value*(1-1e-9) || noise == 0 && got > value*(1+1e-9) { // the condition of P + sI is up to 1e5
				t.Errorf("s = %v, noise %v: the bound is %v, the form %v", s, noise, got, value)
			}
		}
	}
}

// A large kernel that was saved goes on with the same bits, and a damaged space is refused.
func TestRecycledState(t *testing.T) {
	const n = 60
	large := ablation{size: true}
	ts := stream(n, 200, 0, 1)
	k := newAblated(n, nil, large)
	for _, tr := range ts[:120] {
		pa(k, tr, GradientPrinted)
	}
	if k.dense.w.len() == 0 {
		t.Fatal("no space is kept")
	}
	b, err := json.Marshal(k.state())
	if err != nil {
		t.Fatal(err)
	}
	load := func(change func(*structuredState)) (*structured, error) {
		var s structuredState
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		change(&s)
		return s.cone(n, large)
	}
	l, err := load(func(*structuredState) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range ts[120:] {
		pa(k, tr, GradientPrinted)
		pa(l, tr, GradientPrinted)
	}
	if e := gap(n, k, l); e != 0 {
		t.Errorf("kernels differ by %v", e)
	}
	for name, c := range map[string]struct {
		change func(*recycledState)
		want   string
	}{
		"short":      {func(s *recycledState) { s.Basis = s.Basis[1:] }, "recycled: basis: "},
		"products":   {func(s *recycledState) { s.Products = s.Products[1:] }, "recycled: products: "},
		"not a unit": {func(s *recycledState) { s.Basis[3] = 3 }, "recycled: basis: 3 "},
		"huge":       {func(s *recycledState) { s.Products[3] = -1e200 }, "recycled: products: -1e+200 "},
		"projected":  {func(s *recycledState) { s.Projected = s.Projected[1:] }, "recycled: projected: "},
		"vast":       {func(s *recycledState) { s.Projected[2] = 1e200 }, "recycled: projected: 1e+200 "},
	} {
		if _, err := load(func(s *structuredState) { c.change(s.Resolved.Recycled) }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	// A space that is none, with products that are not its, costs time and no digit.
	d := newDense(n, nil, false, 1)
	for _, tr := range ts[:160] {
		pa(d, tr, GradientPrinted)
	}
	for name, x := range map[string]float64{"zeros": 0, "equal vectors": 1, "huge products": 1e100} {
		l, err := load(func(s *structuredState) {
			r := s.Resolved.Recycled
			for i := range r.Basis {
				r.Basis[i], r.Products[i] = min(x, 1), x
			}
			for i := range r.Projected {
				r.Projected[i] = -x
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range ts[120:160] {
			pa(l, tr, GradientPrinted)
		}
		if e := gap(n, l, d); e > agreement {
			t.Errorf("%s: the kernel differs from the dense one by %v", name, e)
		}
	}
	for _, huge := range []float64{1e307, -1e308} { // a resolvent of no kernel: a step takes another
		l, err := load(func(s *structuredState) {
			for i := range s.Resolved.Resolvents[0].Base {
				s.Resolved.Resolvents[0].Base[i] = huge
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range ts[120:140] {
			pa(l, tr, GradientPrinted)
		}
		if v := l.at(0, 0); math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("with a resolvent of entries %v the kernel has the entry %v", huge, v)
		}
	}
	fourth, err := load(func(s *structuredState) { s.Resolved.Recycled.Projected = nil }) // as ERKLE 4 saved it
	if err != nil {
		t.Fatal(err)
	}
	for i := range fourth.dense.w.len() {
		for j, x := range fourth.dense.w.row(i) {
			if want := dot(fourth.dense.w.q[i*n:(i+1)*n], fourth.dense.w.rq[j*n:(j+1)*n]); math.Abs(x-want) > 1e-12*math.Abs(want)+1e-12 {
				t.Fatalf("entry (%d, %d) of QRQᵀ is %v, want %v", i, j, x, want)
			}
		}
	}
	former, err := load(func(s *structuredState) {
		s.Resolved.Recycled = nil
		s.Resolved.Resolvents[1], s.Resolved.Shifts[1] = s.Resolved.Resolvents[0], s.Resolved.Shifts[0]
	})
	if err != nil || former.dense.r[0].base != nil {
		t.Errorf("with two resolvents, as ERKLE 3 saved it: error %v, want none, and no resolvent", err)
	}
	small := &resolvedState{Patience: firstPatience(2), Kernel: bufferedState{Base: []float64{1, 0, 1}}, Recycled: &recycledState{Basis: []float64{1, 0}, Products: []float64{1, 0}}}
	if _, err := small.cone(2, ablation{}); err == nil || !strings.Contains(err.Error(), "want at least 2048") {
		t.Errorf("a small kernel with a space: error %v", err)
	}
}
