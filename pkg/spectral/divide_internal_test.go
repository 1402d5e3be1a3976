package spectral

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// symmetricOf returns the n×n matrix with these entries on and above the diagonal.
func symmetricOf(n int, entry func(i, j int) float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			a.SetSym(i, j, entry(i, j))
		}
	}
	return a
}

// tridiagonalOf returns the tridiagonal matrix with the diagonal d, and e beside it.
func tridiagonalOf(d, e []float64) *mat.SymDense {
	return symmetricOf(len(d), func(i, j int) float64 {
		switch j - i {
		case 0:
			return d[i]
		case 1:
			return e[i]
		}
		return 0
	})
}

// tridiagonals are matrices that are hard for divide and conquer, or deflate in ways of their own.
func tridiagonals(rng *rand.Rand, n int) map[string][2][]float64 {
	all := make(map[string][2][]float64)
	add := func(name string, diagonal, beside func(i int) float64) {
		d, e := make([]float64, n), make([]float64, n-1)
		for i := range d {
			d[i] = diagonal(i)
		}
		for i := range e {
			e[i] = beside(i)
		}
		all[name] = [2][]float64{d, e}
	}
	constant := func(c float64) func(int) float64 { return func(int) float64 { return c } }
	normal := func(int) float64 { return rng.NormFloat64() }
	power := func(base float64) func(int) float64 {
		return func(i int) float64 { return math.Pow(base, float64(i)) }
	}
	wilkinson := func(i int) float64 { return math.Abs(float64(i%21 - 10)) }
	glue := func(g float64) func(int) float64 {
		return func(i int) float64 {
			if i%21 == 20 {
				return g
			}
			return 1
		}
	}
	add("zero", constant(0), constant(0))
	add("identity", constant(1), constant(0))
	add("diagonal", normal, constant(0))
	add("1-2-1", constant(2), constant(1))
	add("1-2-1 negative", constant(2), constant(-1))
	add("random", normal, normal)
	add("Wilkinson", func(i int) float64 { return math.Abs(float64(i) - float64(n-1)/2) }, constant(1))
	for _, g := range []float64{1e-3, 1e-8, 1e-14, 1e-40} {
		add(fmt.Sprintf("Wilkinson 21 glued by %g", g), wilkinson, glue(g))
	}
	add("some zeros beside", normal, func(i int) float64 { return float64(i%7/2) * rng.NormFloat64() })
	add("diagonal zero", constant(0), normal)
	add("graded down", power(0.7), power(0.7))
	add("graded up", power(1.4), power(1.4))
	add("steep", power(1e-3), power(1e-3))
	add("tiny beside", normal, constant(1e-15))
	add("around round-off beside", constant(1), func(i int) float64 { return math.Pow(10, -14-3*rng.Float64()) })
	add("two values", func(i int) float64 { return float64(i % 2) }, constant(1e-9))
	add("blocks of all scales", func(i int) float64 { return math.Pow(10, float64(-i/9%4)*40) * rng.NormFloat64() },
		func(i int) float64 { return math.Pow(10, float64(-i/9%4)*40) * rng.NormFloat64() })
	add("rank one", func(i int) float64 { return float64(i / (n - 1)) }, constant(0))
	return all
}

// checkPairs fails unless the values ascend and the columns of v are their eigenvectors: orthonormal up to 1e-14·n, and with
// residuals up to that times ‖a‖. It is some ten times what comes about.
func checkPairs(t *testing.T, name string, a mat.Symmetric, values []float64, v mat.Matrix) {
	t.Helper()
	n := len(values)
	norm := mat.Norm(a, math.Inf(1))
	if norm == 0 {
		norm = 1
	}
	var av, gram mat.Dense
	av.Mul(mat.DenseCopyOf(a), v)
	gram.Mul(v.T(), v)
	tol := 1e-14 * float64(n)
	for j := range n {
		if j > 0 && values[j] < values[j-1] {
			t.Errorf("%s: eigenvalues %d and %d are %v and %v", name, j-1, j, values[j-1], values[j])
			return
		}
		for i := range n {
			r, g := math.Abs(av.At(i, j)-values[j]*v.At(i, j))/norm, math.Abs(gram.At(i, j))
			if i == j {
				g = math.Abs(gram.At(i, j) - 1)
			}
			if !(r <= tol && g <= tol) {
				t.Errorf("%s: eigenpair %d has a residual of %g·‖A‖ in row %d, and the product %g with vector %d", name, j, r, i, g, i)
				return
			}
		}
	}
}

// turned returns the matrix whose column j is row order[j] of x.
func turned(v eigenvectors) *mat.Dense {
	n := len(v.order)
	out := mat.NewDense(n, n, nil)
	for j, i := range v.order {
		out.SetCol(j, v.data[i*n:(i+1)*n])
	}
	return out
}

// TestDivide: orders from one leaf to three levels of mergers, with halves of unequal order.
func TestDivide(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	for _, n := range []int{2, leafSize, leafSize + 1, 2*leafSize + 1, 100, 4*leafSize + 3, 270} {
		for name, m := range tridiagonals(rng, n) {
			name = fmt.Sprintf("%s, n = %d", name, n)
			d, e := m[0], m[1]
			a := tridiagonalOf(d, e)
			values := slices.Clone(d)
			v, ok := tridiagonalByDivision(values, slices.Clone(e))
			if !ok {
				t.Errorf("%s: failed", name)
				continue
			}
			checkPairs(t, name, a, values, turned(v))
			want := slices.Clone(d)
			if !TridiagonalValues(want, slices.Clone(e)) {
				t.Fatalf("%s: the QL iterations failed", name)
			}
			norm := math.Max(math.Abs(want[0]), math.Abs(want[n-1]))
			for i, w := range want {
				if !(math.Abs(values[i]-w) <= 1e-15*float64(n)*norm) { // round-off of both
					t.Errorf("%s: eigenvalue %d is %v, want %v", name, i, values[i], w)
					break
				}
			}
		}
	}
}

// TestDivideKnown: 1-2-1 of order n has the eigenvalues 2 − 2·cos(kπ/(n+1)) and sines for vectors.
func TestDivideKnown(t *testing.T) {
	const n = 150
	d, e := make([]float64, n), make([]float64, n-1)
	for i := range d {
		d[i] = 2
	}
	for i := range e {
		e[i] = -1
	}
	v, ok := divide(d, e)
	if !ok {
		t.Fatal("failed")
	}
	for k := range n {
		angle := float64(k+1) * math.Pi / (n + 1)
		if want := 2 - 2*math.Cos(angle); math.Abs(d[k]-want) > 1e-14 {
			t.Errorf("eigenvalue %d is %v, want %v", k, d[k], want)
		}
		row := v.data[v.order[k]*n:][:n]
		sign := math.Copysign(math.Sqrt(2./(n+1)), row[0])
		for i, got := range row {
			// Round-off over the least gap, 1e-3.
			if want := sign * math.Sin(float64(i+1)*angle); math.Abs(got-want) > 1e-11 {
				t.Fatalf("entry %d of vector %d is %v, want %v", i, k, got, want)
			}
		}
	}
}

// TestReduce: QTQᵀ = A and QᵀQ = I, for orders around those of blocks.
func TestReduce(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 1))
	for _, n := range []int{2, 3, 5, reduceBlock, reduceBlock + 1, reduceBlock + 2, applyBlock + 1, applyBlock + 2, updateRows + reduceBlock + 3, 230} {
		for name, entry := range map[string]func(i, j int) float64{
			"dense":       func(i, j int) float64 { return rng.NormFloat64() },
			"diagonal":    func(i, j int) float64 { return float64((i + 1) * (1 - min(1, j-i))) },
			"tridiagonal": func(i, j int) float64 { return float64(1 - min(1, (j-i)/2)) },
			"rank one":    func(i, j int) float64 { return float64((i + 1) * (j + 1)) },
			"zero":        func(i, j int) float64 { return 0 },
			"sparse":      func(i, j int) float64 { return max(0, rng.NormFloat64()-2) },
		} {
			a := symmetricOf(n, entry)
			work := mat.NewSymDense(n, nil)
			work.CopySym(a)
			d, e := make([]float64, n), make([]float64, n-1)
			r := reduce(n, work.RawSymmetric().Data, d, e)
			q := mat.NewDense(n, n, nil) // Qᵀ
			for i := range n {
				q.Set(i, i, 1)
			}
			r.applyTo(q.RawMatrix().Data)
			tri := tridiagonalOf(d, e)
			var qt, qtq, gram mat.Dense
			qt.Mul(q.T(), mat.DenseCopyOf(tri))
			qtq.Mul(&qt, q)
			gram.Mul(q, q.T())
			tol := 1e-15 * float64(n)
			norm := mat.Norm(a, 2)
			for i := range n {
				for j := range n {
					unit := 0.0
					if i == j {
						unit = 1
					}
					if !(math.Abs(qtq.At(i, j)-a.At(i, j)) <= tol*norm && math.Abs(gram.At(i, j)-unit) <= tol) {
						t.Fatalf("%s, n = %d: entry (%d, %d) of QTQᵀ is %v, want %v; of QQᵀ %v", name, n, i, j, qtq.At(i, j), a.At(i, j), gram.At(i, j))
					}
				}
			}
		}
	}
}

// equations are secular equations as they are left by deflation: norm 1, gaps and weights not below round-off.
func equations(rng *rand.Rand) []secularEquation {
	var all []secularEquation
	for _, k := range []int{1, 2, 3, 7, 16} {
		for _, gap := range []float64{1, 1e-5, 1e-13} {
			for _, small := range []float64{1, 1e-3, 1e-14} {
				for _, rho := range []float64{2, 1e-3} {
					s := secularEquation{d: make([]float64, k), z: make([]float64, k), rho: rho}
					at := -rng.Float64()
					for i := range k {
						s.d[i] = at
						at += math.Pow(gap, rng.Float64()) * rng.Float64() / float64(k)
						at = math.Max(at, math.Nextafter(s.d[i], 2)+8e-16)
						s.z[i] = math.Pow(small, rng.Float64()) * (0.1 + rng.Float64()) * float64(1-2*rng.IntN(2))
					}
					norm := blas64.Nrm2(blas64.Vector{N: k, Inc: 1, Data: s.z})
					for i := range s.z {
						s.z[i] /= norm
					}
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// slowRoot finds the i-th root by bisection in 200 bits, and returns d[origin] − λ for an origin.
func slowRoot(s secularEquation, i, origin int) *big.Float {
	const bits = 200
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(x) }
	sign := func(t *big.Float) int { // of g at d[origin] + t
		sum := new(big.Float).SetPrec(bits).Quo(number(1), number(s.rho))
		for j, z := range s.z {
			away := number(s.d[j])
			away.Sub(away, number(s.d[origin])).Sub(away, t)
			term := number(z)
			term.Mul(term, term).Quo(term, away)
			sum.Add(sum, term)
		}
		return sum.Sign()
	}
	lo, hi := number(s.d[i]), number(0)
	lo.Sub(lo, number(s.d[origin]))
	if i+1 < len(s.d) {
		hi.Sub(number(s.d[i+1]), number(s.d[origin]))
	} else {
		hi.Add(lo, number(4*s.rho))
	}
	for range 160 {
		mid := new(big.Float).SetPrec(bits).Add(lo, hi)
		mid.Quo(mid, number(2))
		if sign(mid) < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo.Neg(lo)
}

// TestSecularRoots: roots are those of bisection in 200 bits, as far as their condition allows; and, which is what
// orthogonality rests on, the weights of which they are the exact roots are those given, each to some k·ε.
func TestSecularRoots(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 1))
	for c, s := range equations(rng) {
		k := len(s.d)
		roots := make([]root, k)
		for i := range roots {
			r := s.root(i)
			roots[i] = r
			if r.origin != i && r.origin != i+1 || r.origin == k {
				t.Fatalf("equation %d: root %d is said to be near pole %d", c, i, r.origin)
			}
			if got := s.d[r.origin] + r.offset; got < s.d[i] || i+1 < k && got > s.d[i+1] {
				t.Errorf("equation %d: root %d = %v is not between its poles", c, i, got)
			}
			want, _ := slowRoot(s, i, r.origin).Float64()
			// Round-off in g over its slope.
			g := s.eval(r.origin, -want, max(0, min(i, k-2)))
			if k == 1 {
				g = at{below: s.z[0] * s.z[0] / (want * want), bound: 8 / s.rho}
			}
			tol := 4*epsilon*g.bound/(g.below+g.above) + 4*epsilon*math.Abs(want)
			if !(math.Abs(-r.offset-want) <= tol) {
				t.Errorf("equation %d (k = %d): root %d is %g below pole %d, want %g ± %g", c, k, i, -r.offset, r.origin, want, tol)
			}
		}
		given := slices.Clone(s.z)
		s.reweigh(roots, make([]float64, k))
		// They are up to a factor, √ρ.
		factor := math.Sqrt(s.rho)
		for j, z := range s.z {
			if !(math.Abs(z/factor-given[j]) <= 64*float64(k)*epsilon*math.Abs(given[j])) {
				t.Errorf("equation %d (k = %d): weight %d is %v, was %v", c, k, j, z/factor, given[j])
			}
		}
	}
}

// TestHalve: brackets of either sign, wide, narrow and with an end at 0, shrink to nothing in few steps.
func TestHalve(t *testing.T) {
	for _, b := range [][2]float64{{0, 1}, {-1, 0}, {1, 2}, {-2, -1}, {1e-300, 1}, {-1, -1e-300}} {
		for _, target := range []float64{1e-30, 1e-3, .3, 1.7} {
			lo, hi := b[0], b[1]
			if lo < 0 {
				target = -target
			}
			if target < lo || target > hi {
				continue
			}
			steps := 0
			for hi-lo > 2*epsilon*max(math.Abs(lo), math.Abs(hi)) && steps < 1000 {
				m := halve(lo, hi)
				if !(m > lo && m < hi) {
					t.Fatalf("%v halves (%v, %v)", m, lo, hi)
				}
				if m < target {
					lo = m
				} else {
					hi = m
				}
				steps++
			}
			if steps > 100 {
				t.Errorf("%v to %v takes %d steps", b, target, steps)
			}
		}
	}
}

// TestByDivision: eigendecompositions of dense matrices with hard spectra, of orders around the crossover and around
// those of leaves, blocks and panels.
func TestByDivision(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 1))
	for _, n := range []int{2, 3, reduceBlock + 1, 2*leafSize + 1, crossover - 1, crossover, crossover + 1, panelRows + 5} {
		// Q of a random matrix, for Q·diag(spectrum)·Qᵀ.
		g := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				g.Set(i, j, rng.NormFloat64())
			}
		}
		var qr mat.QR
		qr.Factorize(g)
		var q mat.Dense
		qr.QTo(&q)
		of := func(spectrum func(i int) float64) *mat.SymDense {
			scaled := mat.NewDense(n, n, nil)
			for j := range n {
				for i := range n {
					scaled.Set(i, j, q.At(i, j)*spectrum(j))
				}
			}
			var p mat.Dense
			p.Mul(scaled, q.T())
			return symmetricOf(n, func(i, j int) float64 { return p.At(i, j) })
		}
		for name, a := range map[string]*mat.SymDense{
			"random":         symmetricOf(n, func(i, j int) float64 { return rng.NormFloat64() }),
			"graded":         symmetricOf(n, func(i, j int) float64 { return math.Pow(10, -float64(i+j)/10) * rng.NormFloat64() }),
			"identity":       of(func(int) float64 { return 1 }),
			"three clusters": of(func(i int) float64 { return float64(i%3) + 1e-12*rng.NormFloat64() }),
			"multiple":       of(func(i int) float64 { return float64(i % 4) }),
			"rank 5":         of(func(i int) float64 { return max(0, float64(5-i)) }),
			"geometric":      of(func(i int) float64 { return math.Pow(10, -18*float64(i)/float64(n)) }),
			"one large":      of(func(i int) float64 { return 1 + 1e12*float64(max(0, 1-i)) }),
			"plus minus":     of(func(i int) float64 { return float64(1-2*(i%2)) * float64(1+i/2) }),
			"ones":           symmetricOf(n, func(i, j int) float64 { return 1 }),
			"blocks":         symmetricOf(n, func(i, j int) float64 { return float64(1 - min(1, j/40-i/40)) }),
			"arrow":          symmetricOf(n, func(i, j int) float64 { return float64(1-min(1, i)) + float64(i*(1-min(1, j-i))) }),
		} {
			name = fmt.Sprintf("%s, n = %d", name, n)
			work := mat.NewSymDense(n, nil)
			work.CopySym(a)
			values, v, ok := byDivision(n, work.RawSymmetric().Data, true)
			if !ok {
				t.Errorf("%s: failed", name)
				continue
			}
			checkPairs(t, name, a, values, turned(v))
			work.CopySym(a)
			only, none, ok := byDivision(n, work.RawSymmetric().Data, false)
			if !ok || none.data != nil {
				t.Errorf("%s: without vectors: %v, %v", name, ok, none)
				continue
			}
			work.CopySym(a)
			want, _, ok := byQL(n, work.RawSymmetric().Data, true)
			if !ok {
				t.Fatalf("%s: the QL iterations failed", name)
			}
			norm := math.Max(math.Abs(want[0]), math.Abs(want[n-1]))
			for i, w := range want {
				if tol := 1e-14 * float64(n) * norm; !(math.Abs(values[i]-w) <= tol && math.Abs(only[i]-w) <= tol) {
					t.Errorf("%s: eigenvalue %d is %v, without vectors %v, want %v", name, i, values[i], only[i], w)
					break
				}
			}
		}
	}
}

// TestDeterministic: concurrent calls give the same bits.
func TestDeterministic(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 1))
	const n = crossover + 40
	a := symmetricOf(n, func(i, j int) float64 { return rng.NormFloat64() })
	var results [4]EigenSym
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() { results[i].Factorize(a, true) })
	}
	wg.Wait()
	for i := range results {
		var v, first mat.Dense
		results[i].VectorsTo(&v)
		results[0].VectorsTo(&first)
		if !slices.Equal(results[i].values, results[0].values) || !mat.Equal(&v, &first) {
			t.Fatalf("call %d differs from call 0", i)
		}
	}
}
