package synthetic

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// checkStream verifies the premise of Theorem 1: zero hinge loss of (A*, b*) on
// every pair, and the bound on the norm.
func checkStream(t *testing.T, name string, s *PairStream) {
	t.Helper()
	// d² is of order μ·8 and sums at most 800 squares: 1e-12 is ≈ 5·800·ε.
	tol := 1e-12 * 8 * s.Margin
	similar, tight := 0, math.Inf(1)
	for i, p := range s.Pairs {
		if err := p.Check(s.Metric.Dim()); err != nil {
			t.Fatalf("%s: pair %d: %v", name, i, err)
		}
		margin := float64(p.Label) * (s.Threshold - s.Metric.SqDist(p.X, p.Y))
		if margin < s.Margin-tol {
			t.Fatalf("%s: pair %d has y(b−d²) = %v, want at least %v", name, i, margin, s.Margin)
		}
		tight = min(tight, margin/s.Margin)
		if norm := math.Sqrt(metric.Euclidean{}.SqDist(p.X, p.Y)); norm > s.MaxNorm*(1+1e-12) {
			t.Fatalf("%s: pair %d has ‖x−x'‖ = %v, want at most %v", name, i, norm, s.MaxNorm)
		}
		if p.Label == metric.Similar {
			similar++
		}
	}
	if n := float64(len(s.Pairs)); math.Abs(float64(similar)-n/2) > 3*math.Sqrt(n) { // six standard deviations
		t.Errorf("%s: %d of %v pairs are similar", name, similar, n)
	}
	if tight > 1.2 {
		t.Errorf("%s: the smallest margin is %v times the promised one: the stream is easier than stated", name, tight)
	}
	if s.Threshold < 1 {
		t.Errorf("%s: b* = %v, Theorem 1 wants at least 1", name, s.Threshold)
	}
}

func TestSeparablePairs(t *testing.T) {
	for name, cfg := range map[string]SeparableConfig{
		"defaults": {N: 400, Dim: 5, Rank: 2},
		"rank 1":   {N: 400, Dim: 3, Rank: 1, Margin: 2, MaxNorm: 0.1},
		"full":     {N: 400, Dim: 4, Rank: 4, MaxNorm: 30},
		"one dim":  {N: 400, Dim: 1, Rank: 1},
		"wide":     {N: 300, Dim: 784, Rank: 3},
	} {
		s, err := SeparablePairs(newRand(1), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Pairs) != cfg.N || s.Metric.Dim() != cfg.Dim || s.Metric.Rows() != cfg.Rank {
			t.Errorf("%s: %d pairs, A* is %d×%d of rank %d", name, len(s.Pairs), s.Metric.Dim(), s.Metric.Dim(), s.Metric.Rows())
		}
		checkStream(t, name, s)

		c := cfg.Resolved()
		want := 8 * c.Margin * math.Sqrt(float64(c.Rank)) / (c.MaxNorm * c.MaxNorm)
		// Orthonormal rows are so to about d·ε.
		const tol = 1e-12
		if got := math.Sqrt(s.Metric.SqNorm()); !scalar.EqualWithinRel(got, want, tol) {
			t.Errorf("%s: ‖A*‖ = %v, want %v", name, got, want)
		}
		if cfg.Dim < 100 {
			if got := mat.Norm(s.Metric.M(), 2); !scalar.EqualWithinRel(got, want, tol) {
				t.Errorf("%s: Frobenius norm of A* is %v, want %v", name, got, want)
			}
		}
	}
}

func TestEmbeddingsKeepTheStream(t *testing.T) {
	s, err := SeparablePairs(newRand(2), SeparableConfig{N: 200, Dim: 6, Rank: 2})
	if err != nil {
		t.Fatal(err)
	}
	padded := s.Pad(60)
	turned := padded.Rotate(newRand(3))
	checkStream(t, "padded", padded)
	checkStream(t, "rotated", turned)
	used := 0
	for k := range turned.Pairs[0].X {
		if turned.Pairs[0].X[k] != 0 {
			used++
		}
	}
	if used != 60 {
		t.Errorf("a rotated pair uses %d of 60 coordinates", used)
	}
	for i, p := range s.Pairs {
		want, q, r := s.Metric.SqDist(p.X, p.Y), padded.Pairs[i], turned.Pairs[i]
		const tol = 1e-12 // sums of 60 products in another order, values of order 10
		if got := padded.Metric.SqDist(q.X, q.Y); !scalar.EqualWithinAbsOrRel(got, want, tol, tol) {
			t.Fatalf("padded pair %d: d² = %v, want %v", i, got, want)
		}
		if got := turned.Metric.SqDist(r.X, r.Y); !scalar.EqualWithinAbsOrRel(got, want, tol, tol) {
			t.Fatalf("rotated pair %d: d² = %v, want %v", i, got, want)
		}
	}
	if a, b, c := s.Metric.SqNorm(), padded.Metric.SqNorm(), turned.Metric.SqNorm(); !scalar.EqualWithinRel(a, b, 1e-12) || !scalar.EqualWithinRel(a, c, 1e-12) {
		t.Errorf("‖A*‖² = %v, padded %v, rotated %v", a, b, c)
	}
	defer func() {
		if recover() == nil {
			t.Error("padding to fewer dimensions does not panic")
		}
	}()
	s.Pad(5)
}

func TestSeparableErrors(t *testing.T) {
	for _, tc := range []struct {
		cfg  SeparableConfig
		want string
	}{
		{SeparableConfig{N: -1, Dim: 1, Rank: 1}, "N: -1"},
		{SeparableConfig{N: 1, Dim: 0, Rank: 1}, "Dim: 0"},
		{SeparableConfig{N: 1, Dim: 2, Rank: 3}, "Rank: 3"},
		{SeparableConfig{N: 1, Dim: 2, Rank: 0}, "Rank: 0"},
		{SeparableConfig{N: 1, Dim: 2, Rank: 1, Margin: 0.5}, "Margin: 0.5"},
		{SeparableConfig{N: 1, Dim: 2, Rank: 1, Margin: math.NaN()}, "Margin: NaN"},
		{SeparableConfig{N: 1, Dim: 2, Rank: 1, MaxNorm: -1}, "MaxNorm: -1"},
		{SeparableConfig{N: 1, Dim: 2, Rank: 1, MaxNorm: math.Inf(1)}, "MaxNorm: +Inf"},
	} {
		if _, err := SeparablePairs(newRand(1), tc.cfg); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v does not say %q", tc.cfg, err, tc.want)
		}
	}
}

func TestGaussianMixture(t *testing.T) {
	const n = 20000
	cov := mat.NewSymDense(2, []float64{4, 1.5, 1.5, 1})
	flat := mat.NewSymDense(2, []float64{1, 1, 1, 1}) // rank 1
	s, err := GaussianMixture(newRand(1), []Component{
		{Class: 1, N: n, Mean: []float64{3, -2}, Cov: cov},
		{Class: 0, N: n, Mean: []float64{0, 0}},
		{Class: 0, N: n, Mean: []float64{0, 5}, Cov: flat},
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.N() != 3*n || s.Dim() != 2 {
		t.Fatalf("%d×%d, want %d×2", s.N(), s.Dim(), 3*n)
	}
	wantMean := [][]float64{{3, -2}, {0, 0}, {0, 5}}
	wantCov := []mat.Symmetric{cov, mat.NewSymDense(2, []float64{1, 0, 0, 1}), flat}
	for k := range 3 {
		var sum, sq [2][2]float64
		for i := k * n; i < (k+1)*n; i++ {
			if want := []int{1, 0, 0}[k]; s.Y[i] != want {
				t.Fatalf("row %d has class %d, want %d", i, s.Y[i], want)
			}
			v := metric.Sub(nil, s.X.RawRowView(i), wantMean[k])
			for a := range 2 {
				sum[0][a] += v[a]
				for b := range 2 {
					sq[a][b] += v[a] * v[b]
				}
			}
		}
		for a := range 2 {
			// Standard errors: mean √(4/20000) = 0.014, variance 4√(2/20000) = 0.04;
			// five of them.
			if m := sum[0][a] / n; math.Abs(m) > 0.07 {
				t.Errorf("component %d: mean is off by %v in feature %d", k, m, a)
			}
			for b := range 2 {
				if got, want := sq[a][b]/n, wantCov[k].At(a, b); math.Abs(got-want) > 0.2 {
					t.Errorf("component %d: covariance (%d, %d) is %v, want %v", k, a, b, got, want)
				}
			}
		}
	}
	for i := 2 * n; i < 2*n+100; i++ { // of rank 1: on the line y = x + 5
		if r := s.X.RawRowView(i); math.Abs(r[1]-r[0]-5) > 1e-7 { // √PSDTolerance·‖z‖
			t.Fatalf("row %d is %v, want it on the line y = x + 5", i, r)
		}
	}
}

func TestGaussianMixtureErrors(t *testing.T) {
	ok := Component{N: 1, Mean: []float64{0, 0}}
	for _, tc := range []struct {
		c    Component
		want string
	}{
		{Component{N: 0, Mean: ok.Mean}, "component 1, N: 0"},
		{Component{N: 1, Class: -1, Mean: ok.Mean}, "component 1, Class: -1"},
		{Component{N: 1, Mean: []float64{0}}, "component 1, Mean: length 1"},
		{Component{N: 1, Mean: []float64{0, math.NaN()}}, "component 1, Mean: NaN"},
		{Component{N: 1, Mean: ok.Mean, Cov: mat.NewSymDense(3, nil)}, "component 1, Cov: order 3"},
		{Component{N: 1, Mean: ok.Mean, Cov: mat.NewSymDense(2, []float64{1, 2, 2, 1})}, "component 1, Cov"},
	} {
		if _, err := GaussianMixture(newRand(1), []Component{ok, tc.c}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: error %v does not say %q", tc.c, err, tc.want)
		}
	}
	for name, cs := range map[string][]Component{"none": nil, "no feature": {{N: 1}}} {
		if _, err := GaussianMixture(newRand(1), cs); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestStreamsAreSeeded(t *testing.T) {
	cfg := SeparableConfig{N: 3, Dim: 4, Rank: 2}
	draw := func(seed uint64) []float64 {
		s, err := SeparablePairs(newRand(seed), cfg)
		if err != nil {
			t.Fatal(err)
		}
		g, err := GaussianMixture(newRand(seed), []Component{{N: 2, Mean: []float64{0}}})
		if err != nil {
			t.Fatal(err)
		}
		return append(s.Pairs[2].X, g.X.At(1, 0))
	}
	if a, b, c := draw(1), draw(1), draw(2); !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("seed 1 gives %v and %v, seed 2 %v", a, b, c)
	}
}
