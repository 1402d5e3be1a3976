package labels

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// withSpectrum returns QᵀDQ for a random rotation Q.
func withSpectrum(rng *rand.Rand, values []float64) *mat.SymDense {
	n := len(values)
	var qr mat.QR
	qr.Factorize(normal(rng, n, n))
	var q mat.Dense
	qr.QTo(&q)
	out := mat.NewSymDense(n, nil)
	for i, v := range values {
		out.SymRankOne(out, v, q.ColView(i))
	}
	return out
}

// TestTopEigen compares with a known spectrum, on spectra where Lanczos converges
// and on those where it sees too few copies of a multiple eigenvalue.
func TestTopEigen(t *testing.T) {
	const n, k = 160, 12
	spectrum := func(f func(i int) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	rng := rand.New(rand.NewPCG(7, 1))
	for name, c := range map[string]struct {
		values  []float64
		lanczos bool // must be accepted; otherwise it may be refused
	}{
		"decaying": {spectrum(func(i int) float64 { return 1 / float64(1+i*i) }), true},
		"rank 5":   {spectrum(func(i int) float64 { return float64(max(5-i, 0)) }), false},
		"all one":  {spectrum(func(int) float64 { return 1 }), false},
		"zero":     {spectrum(func(int) float64 { return 0 }), false},
		"two values": {spectrum(func(i int) float64 {
			if i < 15 {
				return 2
			}
			return 1
		}), false},
		"a pair on top": {spectrum(func(i int) float64 { return 1 / float64(1+max(i, 1)) }), false},
		"clustered":     {spectrum(func(i int) float64 { return 1 + 1e-9*float64(n-i) }), false},
	} {
		a := withSpectrum(rng, c.values)
		slices.Sort(c.values)
		slices.Reverse(c.values)
		e, err := topEigen(a, k)
		if err != nil {
			t.Fatal(err)
		}
		values, w, residual := e.values, e.vectors, e.residual
		var squares float64
		for i := range k {
			if d := values[i] - c.values[i]; d > pcaTol || d < -topTolerance*c.values[0]-pcaTol {
				t.Errorf("%s: eigenvalue %d is %v, want %v", name, i, values[i], c.values[i])
			}
			var r mat.VecDense
			r.MulVec(a, w.RowView(i))
			r.AddScaledVec(&r, -values[i], w.RowView(i))
			squares += mat.Dot(&r, &r)
			if mat.Norm(&r, 2) > pcaTol {
				t.Errorf("%s: eigenpair %d has residual %g", name, i, mat.Norm(&r, 2))
			}
		}
		// Both products round; with values up to 5 that is less than 1e-14·√n.
		if math.Abs(residual*max(values[0], 0)-math.Sqrt(squares)) > 1e-13 || residual > pcaTol {
			t.Errorf("%s: residual %g is reported, %g found", name, residual, math.Sqrt(squares))
		}
		if !mat.EqualApprox(gramRows(w), identity(k), pcaTol) {
			t.Errorf("%s: vectors are not orthonormal", name)
		}
		if c.lanczos {
			if _, ok := lanczosTop(a, k); !ok {
				t.Errorf("%s: Lanczos was not accepted", name)
			}
		}
	}
}

// The residual of many pairs is an estimate, of few it is exact: it shows one wrong pair among them, and round-off where there is none.
func TestResidual(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(7, 3))
	spectrum := make([]float64, n)
	for i := range spectrum {
		spectrum[i] = 1 + float64(n-i)/n
	}
	a := withSpectrum(rng, spectrum)
	for _, k := range []int{exactResiduals, exactResiduals + 1, n} {
		e, err := topEigen(a, k)
		if err != nil {
			t.Fatal(err)
		}
		if !(e.residual > 0 && e.residual < 1e-13) {
			t.Errorf("%d pairs: residual %g, want round-off", k, e.residual)
		}
		for _, wrong := range []int{0, k / 2, k - 1} {
			values := slices.Clone(e.values)
			values[wrong] += 1e-3
			got, want := residualOf(a, values, e.vectors), 1e-3/values[0]
			if low, high := want/3, want*3; got < low || got > high || k <= exactResiduals && math.Abs(got-want) > 1e-12 {
				t.Errorf("%d pairs, number %d wrong: residual %g, want %g", k, wrong, got, want)
			}
		}
	}
}

// Residuals of the largest numbers are numbers.
func TestResidualOfLargeValues(t *testing.T) {
	const n = exactResiduals + 1
	large := scaledIdentity(n, math.MaxFloat64)
	values, vectors := make([]float64, n), mat.NewDense(n, n, nil)
	for i := range n {
		values[i] = math.MaxFloat64
		vectors.Set(i, i, 1)
	}
	if r := residualOf(large, values, vectors); r != 0 {
		t.Errorf("residual %g, want 0", r)
	}
}

// A product of a triangle with itself has that triangle as its factor. With the last pivot less its square by some round-off or more it has none.
func TestCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, n := range []int{1, 2, 63, 64, 65, 128, 200} {
		r := mat.NewTriDense(n, mat.Upper, nil)
		for i := range n {
			for j := i; j < n; j++ {
				r.SetTri(i, j, rng.NormFloat64()/float64(n))
			}
			r.SetTri(i, i, 1+rng.Float64())
		}
		for _, shift := range []float64{0, -1 - 1e-9, -1 + 1e-9} {
			var a mat.SymDense
			a.SymOuterK(1, r.T())
			last := r.At(n-1, n-1)
			a.SetSym(n-1, n-1, a.At(n-1, n-1)+shift*last*last)
			a.ScaleSym(-1, &a)
			f, ok := cholesky(a.RawSymmetric())
			if want := shift > -1; ok != want {
				t.Errorf("order %d, last pivot times %g: %v, want %v", n, 1+shift, ok, want)
			}
			var got mat.TriDense
			got.SetRawTriangular(f)
			if shift == 0 && !mat.EqualApprox(&got, r, 1e-13) { // round-off of sums of 200 squares, each below 4
				t.Errorf("order %d: another factor", n)
			}
		}
	}
}

// TestCertifyRefuses: the certificate must notice a missing copy of an eigenvalue,
// which residuals cannot show.
func TestCertifyRefuses(t *testing.T) {
	values := []float64{3, 3, 2, 1, 0, 0}
	a := mat.NewSymDense(6, nil)
	for i, v := range values {
		a.SetSym(i, i, v)
	}
	unit := func(is ...int) *mat.Dense {
		w := mat.NewDense(len(is), 6, nil)
		for k, i := range is {
			w.Set(k, i, 1)
		}
		return w
	}
	if !certify(a, []float64{3, 3, 2}, unit(0, 1, 2)) {
		t.Error("refused the true top")
	}
	if !certify(a, []float64{3}, unit(1)) {
		t.Error("refused one of two equal eigenvectors")
	}
	if certify(a, []float64{3, 2}, unit(0, 2)) {
		t.Error("accepted a top that misses one copy of 3")
	}
	if certify(a, []float64{2, 1}, unit(2, 3)) {
		t.Error("accepted a top without the largest eigenvalue")
	}
}
