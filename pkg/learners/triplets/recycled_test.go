package triplets

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
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
		if d.w.len() > recycledBound {
			t.Fatalf("after %d triplets the space has %d vectors, want at most %d", i+1, d.w.len(), recycledBound)
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

// The root of a secular equation, against bisection.
func TestLargestRoot(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
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
		got := largestRoot(c, m, 1e-300)
		if f(1e-300) < 1 {
			if got != 0 {
				t.Errorf("largestRoot(%v, %v) = %v, want none", c, m, got)
			}
			continue
		}
		lo, hi := 1e-300, 1e300
		for range 3000 {
			if mid := math.Sqrt(lo) * math.Sqrt(hi); f(mid) >= 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
		if math.Abs(got/lo-1) > 1e-10 {
			t.Errorf("largestRoot(%v, %v) = %v, want %v", c, m, got, lo)
		}
	}
	for _, none := range [][2][]float64{{{}, {}}, {{0}, {0}}, {{0, 0}, {1, 0}}, {{1}, {2}}} {
		if got := largestRoot(none[0], none[1], 1e-300); got != 0 {
			t.Errorf("largestRoot(%v) = %v, want 0: there is none", none, got)
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
		"not a unit": {func(s *recycledState) { s.Basis[3] = 3 }, "recycled: basis, products: 3, "},
	} {
		if _, err := load(func(s *structuredState) { c.change(s.Resolved.Recycled) }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
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
