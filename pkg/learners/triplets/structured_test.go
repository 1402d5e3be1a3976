package triplets

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// points answers random comparisons of n points of N(0, I₅₀).
func points(n int, seed uint64) func() metric.Triplet {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float64, n*50)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return func() metric.Triplet {
		a, b, c := r.IntN(n), r.IntN(n), r.IntN(n)
		for b == a {
			b = r.IntN(n)
		}
		for c == a || c == b {
			c = r.IntN(n)
		}
		var d float64
		for k := range 50 {
			p, q := x[a*50+k]-x[b*50+k], x[a*50+k]-x[c*50+k]
			d += p*p - q*q
		}
		if d > 0 {
			b, c = c, b
		}
		return metric.Triplet{A: a, Near: b, Far: c}
	}
}

func pa(k cone, t metric.Triplet, g Gradient) (addition, bool) {
	d := k.at(t.Near, t.Near) - k.at(t.Far, t.Far) - 2*k.at(t.A, t.Near) + 2*k.at(t.A, t.Far)
	gamma := (d + 1) / g.drop()
	if gamma <= 0 {
		return addition{}, false
	}
	return k.add(t, gamma, g), true
}

// agreement is how far the structured kernel may be from the dense one after a long stream: the round-off
// of thousands of eigenpairs in either.
const agreement = 1e-8

// gap returns the largest difference of the entries of two kernels.
func gap(n int, k, d cone) float64 {
	var worst float64
	for i := range n {
		for j := range n {
			worst = max(worst, math.Abs(k.at(i, j)-d.at(i, j)))
		}
	}
	return worst
}

// stream returns m comparisons of n points of which a share conflicts with the points, and some are repeated.
func stream(n, m int, conflicts float64, seed uint64) []metric.Triplet {
	next := points(n, seed)
	r := rand.New(rand.NewPCG(seed, 3))
	var ts []metric.Triplet
	for range m {
		t := next()
		switch {
		case len(ts) > 0 && r.Float64() < 0.1:
			t = ts[r.IntN(len(ts))]
		case r.Float64() < conflicts:
			t.Near, t.Far = t.Far, t.Near
		}
		ts = append(ts, t)
	}
	return ts
}

// initial returns a random kernel of the given rank, of size scale.
func initial(n, rank int, scale float64) mat.Symmetric {
	r := rand.New(rand.NewPCG(uint64(n), uint64(rank)))
	x := mat.NewDense(n, rank, nil)
	for i := range n {
		for j := range rank {
			x.Set(i, j, r.NormFloat64())
		}
	}
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(scale/float64(rank), x)
	return k
}

func diagonal(n int) mat.Symmetric {
	d := make([]float64, n)
	for i := range d {
		d[i] = 0.01 * float64(1+i*i%7)
	}
	return mat.NewDiagDense(n, d)
}

// Over long streams with repetitions and conflicts, from kernels of full and of low rank.
func TestStructuredIsDense(t *testing.T) {
	for _, c := range []struct {
		name      string
		n, m      int
		conflicts float64
		initial   mat.Symmetric
		constant  float64 // step; 0: passive-aggressive
	}{
		{name: "three objects", n: 3, m: 60, conflicts: 0.3},
		{name: "identity", n: 30, m: 1500},
		{name: "conflicts", n: 30, m: 800, conflicts: 0.3},
		{name: "larger", n: 120, m: 240, conflicts: 0.05},
		{name: "long steps", n: 40, m: 300, constant: 1},
		{name: "short steps", n: 60, m: 400, constant: 0.01},
		{name: "diagonal", n: 50, m: 400, initial: diagonal(50)},
		{name: "full rank", n: 40, m: 400, initial: initial(40, 40, 1)},
		{name: "low rank", n: 40, m: 400, initial: initial(40, 3, 1)},
		{name: "large", n: 30, m: 300, initial: initial(30, 30, 1e6)},
		{name: "zero", n: 30, m: 300, initial: mat.NewSymDense(30, nil)},
	} {
		for _, g := range []Gradient{GradientPrinted, GradientFrobenius} {
			if testing.Short() {
				c.m = min(c.m, 200)
			}
			k, l, d := newStructured(c.n, c.initial), newAblated(c.n, c.initial, ablation{size: true}), newDense(c.n, c.initial, false, 0)
			scale := 1.0
			for i, tr := range stream(c.n, c.m, c.conflicts, 1) {
				for _, cone := range []cone{k, l, d} {
					if c.constant > 0 {
						cone.add(tr, c.constant, g)
					} else {
						pa(cone, tr, g)
					}
				}
				if i%97 == 0 || i == c.m-1 {
					for j := range c.n {
						scale = max(scale, d.at(j, j))
					}
					for form, k := range map[string]cone{"resolved": k, "of large kernels": l} {
						if e := gap(c.n, k, d); e > agreement*scale {
							t.Fatalf("%s, %v, %s: after %d triplets kernels of size %v differ by %v", c.name, g, form, i+1, scale, e)
						}
					}
				}
			}
		}
	}
}

// A saved form continues with the same bits, from every kind of state.
func TestStructuredState(t *testing.T) {
	const n = 100
	kinds := map[string]bool{}
	ts := stream(n, 200, 0.1, 5)
	for from := 0; from < len(ts); from += 5 {
		k := newStructured(n, nil)
		for _, tr := range ts[:from] {
			pa(k, tr, GradientPrinted)
		}
		b, err := json.Marshal(k.state())
		if err != nil {
			t.Fatal(err)
		}
		var s structuredState
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		l, err := s.cone(n, ablation{})
		if err != nil {
			t.Fatalf("after %d triplets: %v", from, err)
		}
		switch {
		case k.dense != nil:
			kinds["resolved"] = true
		default:
			kinds["sparse"] = true
		}
		for _, tr := range ts[from:] {
			a, _ := pa(k, tr, GradientPrinted)
			if b, _ := pa(l, tr, GradientPrinted); a != b {
				t.Fatalf("after %d triplets: %v, loaded %v", from, a, b)
			}
		}
		if d, e := k.dense, l.dense; d.seen != e.seen || d.age != e.age || d.patience != e.patience || !slices.Equal(d.shift, e.shift) || d.logShift != e.logShift || d.trace != e.trace {
			t.Errorf("after %d triplets: the resolvents' records differ", from)
		}
		if e := gap(n, k, l); e != 0 {
			t.Errorf("after %d triplets: kernels differ by %v", from, e)
		}
	}
	for _, kind := range []string{"sparse", "resolved"} {
		if !kinds[kind] {
			t.Errorf("no state was %s", kind)
		}
	}
}

func least(k mat.Symmetric) float64 {
	var e mat.EigenSym
	e.Factorize(k, false)
	return e.Values(nil)[0]
}

func TestStepIsGradient(t *testing.T) {
	for _, g := range []Gradient{GradientPrinted, GradientFrobenius} {
		s := newStep(metric.Triplet{A: 0, Near: 1, Far: 2}, 0.3, g)
		var want [3][3]float64
		for _, e := range s.entries() {
			want[e.i][e.j], want[e.j][e.i] = e.x, e.x
		}
		for i := range 3 {
			for j := range 3 {
				if got := s.c * (s.w[i]*s.w[j] - s.u[i]*s.u[j]); math.Abs(got-want[i][j]) > 1e-15 {
					t.Errorf("%v: c(wwᵀ − uuᵀ) is %v at (%d, %d), want %v", g, got, i, j, want[i][j])
				}
			}
		}
		var norm [3]float64
		for i := range 3 {
			norm[0] += s.w[i] * s.w[i]
			norm[1] += s.u[i] * s.u[i]
			norm[2] += s.w[i] * s.u[i]
		}
		if math.Abs(norm[0]-1)+math.Abs(norm[1]-1)+math.Abs(norm[2]) > 1e-15 {
			t.Errorf("%v: w and u have the products %v, want 1, 1, 0", g, norm)
		}
	}
}

// A certificate is never wrong, and only a negative eigenvalue, or too many entries, end the sparse form.
func TestCertificatesHold(t *testing.T) {
	const tol = 1e-13 // the round-off of eigenvalues of matrices of size 1, and the floor of the search
	var by [certificates]int
	for seed := range uint64(6) {
		n := 60
		if seed == 5 {
			n = 4 // whose Krylov spaces are exhausted first
		}
		k := newStructured(n, nil)
		for _, tr := range stream(n, 90, 0.1, seed) {
			before := mat.NewSymDense(n, nil)
			before.CopySym(k.kernel())
			sparse := k.sparse
			d := differenceOf(before, tr)
			a, ok := pa(k, tr, Gradient(seed%2))
			if !ok || sparse == nil {
				continue
			}
			by[a.certificate]++
			g := Gradient(seed % 2)
			before.AddSym(before, symScaled(-(d+1)/g.drop(), gradientMatrix(n, tr, g)))
			got := least(before)
			if a.certificate != CertificateComputed && got < -tol || a.certificate == CertificateComputed && got > tol {
				t.Fatalf("seed %d: %v, with the smallest eigenvalue %v", seed, a.certificate, got)
			}
			if (k.sparse == nil) != (a.removed == 1 || sparse.crowded()) {
				t.Fatalf("seed %d: %d removed, crowded: %t, sparse: %t", seed, a.removed, sparse.crowded(), k.sparse != nil)
			}
		}
	}
	for c := range certificates {
		if by[c] == 0 && c != CertificateWeyl {
			t.Errorf("the certificate %v was not met", c)
		}
	}
}

func symScaled(x float64, m *mat.SymDense) *mat.SymDense {
	m.ScaleSym(x, m)
	return m
}

func TestBuffered(t *testing.T) {
	const n = 70
	r := rand.New(rand.NewPCG(6, 6))
	m := &buffered{n: n, base: make([]float64, n*n)}
	want := mat.NewSymDense(n, nil)
	x, dst := make([]float64, n), make([]float64, n)
	for round := range 3 * terms(n) {
		for i := range x {
			x[i] = r.NormFloat64()
		}
		c := r.NormFloat64()
		m.push(c, x)
		want.SymRankOne(want, c, mat.NewVecDense(n, x))
		o := [3]int{3, 40, 69}
		y := make([]float64, n)
		for i, p := range o {
			y[p] = float64(i + 1)
		}
		var product mat.VecDense
		product.MulVec(want, mat.NewVecDense(n, y))
		m.mulTo(dst, y)
		x3 := make([]float64, n)
		m.combine(x3, o, [3]float64{1, 2, 3})
		for i := range n {
			const tol = 1e-12 // sums of some fifty terms of size 10
			if w := product.AtVec(i); math.Abs(dst[i]-w) > tol || math.Abs(x3[i]-w) > tol {
				t.Fatalf("round %d: product %v and %v at %d, want %v", round, dst[i], x3[i], i, w)
			}
			if w := want.At(i, 5); math.Abs(m.at(i, 5)-w) > tol || m.at(i, 5) != m.at(5, i) {
				t.Fatalf("round %d: entry (%d, 5) is %v and %v, want %v", round, i, m.at(i, 5), m.at(5, i), w)
			}
		}
	}
}

// Each resolvent is (K + s₀I)⁻¹ after each triplet, and the one that is chosen is nearer to the root.
func TestResolvents(t *testing.T) {
	const (
		n = 100
		// K + s₀I has condition 1e4 at most, and some hundred corrections add up.
		tol = 1e-7
		// A root this near to the geometric mean of the shifts may be taken for one on the other side.
		unsure = 1.5
	)
	k := newStructured(n, nil)
	r := rand.New(rand.NewPCG(8, 8))
	x, z, back := make([]float64, n), make([]float64, n), make([]float64, n)
	both, chosen := 0, [2]int{}
	for _, tr := range stream(n, 600, 0.1, 9) {
		which, middle := 0, 0.0
		if d := k.dense; d != nil && d.r[1].base != nil {
			both++
			for i := range x {
				x[i] = r.NormFloat64()
			}
			for j, shift := range d.shift {
				d.k.mulTo(z, x)
				floats.AddScaled(z, shift, x)
				d.r[j].mulTo(back, z)
				for i := range x {
					if math.Abs(back[i]-x[i]) > tol {
						t.Fatalf("resolvent %d of K + %vI is off by %v", j, shift, back[i]-x[i])
					}
				}
			}
			middle = d.shift[0] * d.shift[1]
			gamma := (1 + k.at(tr.Near, tr.Near) - k.at(tr.Far, tr.Far) - 2*k.at(tr.A, tr.Near) + 2*k.at(tr.A, tr.Far)) / GradientPrinted.drop()
			if gamma > 0 {
				// The root of the secular equation of K − γG, whose form without −c·uuᵀ has the resolvents by then.
				st := newStep(tr, gamma, GradientPrinted)
				m := mat.NewSymDense(n, nil)
				m.CopySym(k.kernel())
				for _, e := range st.entries() {
					m.SetSym(e.i, e.j, m.At(e.i, e.j)+e.x)
				}
				root := -least(m)
				if root*root > middle*unsure*unsure {
					which = 1
				} else if root <= 0 || root*root*unsure*unsure > middle {
					which = -1 // none, or not sure
				}
				c := &resolved{n: n, r: []buffered{clone(d.r[0]), clone(d.r[1])}, shift: d.shift, x: z, y: back}
				c.correct(st.c, st.o, st.w)
				if got := c.nearer(st); c.r[1].base != nil && which >= 0 {
					chosen[which]++
					if got != which {
						t.Errorf("shifts %v: chose %d for the root %v", d.shift, got, root)
					}
				}
			}
		}
		pa(k, tr, GradientPrinted)
	}
	if both < 50 || chosen[0] < 5 || chosen[1] < 5 {
		t.Errorf("both resolvents after %d triplets, chosen %v, want some of each", both, chosen)
	}
}

func clone(m buffered) buffered {
	return buffered{n: m.n, base: slices.Clone(m.base), c: slices.Clone(m.c), z: slices.Clone(m.z)}
}

// A product with a buffered matrix, by tiles and by rows, is that of its entries.
func TestBufferedProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{tileRows + 1, -tileRows - 1, tileCols + 37, -tileCols - 37} { // < 0: a wide one
		m := buffered{n: max(n, -n), wide: n < 0}
		n := m.n
		m.base = make([]float64, n*n)
		for i := range n {
			for j := i; j < n; j++ {
				m.base[i*n+j] = r.NormFloat64()
			}
		}
		mirror(n, m.base)
		x := make([]float64, n)
		want := make([]float64, n) // by entries, which the matrix adds in another order
		for i := range n {
			x[i] = r.NormFloat64()
		}
		for i := range n {
			for j := range n {
				want[i] += m.base[min(i, j)*n+max(i, j)] * x[j]
			}
		}
		check := func(what string) {
			t.Helper()
			got := make([]float64, n)
			m.mulTo(got, x)
			for i := range n {
				if math.Abs(got[i]-want[i]) > 1e-10 { // round-off of n products of order 1
					t.Fatalf("n = %d, wide %v, %s: row %d of the product is %v, want %v", n, m.wide, what, i, got[i], want[i])
				}
			}
		}
		check("base")
		z := make([]float64, n)
		for i := range n {
			z[i] = r.NormFloat64() / math.Sqrt(float64(n))
		}
		zx := floats.Dot(z, x)
		m.push(-2, z)
		for i := range n {
			want[i] -= 2 * zx * z[i]
		}
		check("with a term")
		m.flush()
		check("flushed")
	}
}

// Resolvents that have lost digits are built anew, and the kernel has all of its digits.
func TestSpoiledResolvents(t *testing.T) {
	const n = 80
	k, d := newStructured(n, nil), newDense(n, nil, false, 1)
	r := rand.New(rand.NewPCG(7, 7))
	spoiled, rebuilt := 0, 0
	for i, tr := range stream(n, 400, 0.1, 10) {
		s := k.dense
		spoil := i%4 == 0 && s != nil && s.r[0].base != nil
		if spoil {
			spoiled++
			for j := range s.r {
				i, l := r.IntN(n), r.IntN(n)
				if i > l {
					i, l = l, i
				}
				s.r[j].base[i*n+l] *= 1 + 1e-3
				mirror(n, s.r[j].base)
			}
			s.age, s.patience = 1000, 1<<40 // so that nothing else builds them anew
		}
		pa(k, tr, GradientPrinted)
		if spoil && s.age < 1000 {
			rebuilt++
		}
		pa(d, tr, GradientPrinted)
	}
	if spoiled < 50 || rebuilt < 25 {
		t.Errorf("%d times spoiled, %d times built anew", spoiled, rebuilt)
	}
	if g := gap(n, k, d); g > agreement {
		t.Errorf("differs from the dense kernel by %v", g)
	}
}
