package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"metriclab/pkg/learners"
)

// likelihoodTol bounds the round-off of a log-likelihood per row and per unit of
// its size: about ε times the condition number of covariances, up to 1e6.
const likelihoodTol = 1e-9

var forms = []Covariance{CovarianceFull, CovarianceDiagonal, CovarianceSpherical}

// slowMixture is the log-likelihood and the posterior from their definitions.
func slowMixture(t *testing.T, m *Mixture, x *mat.Dense) (ll float64, post *mat.Dense) {
	t.Helper()
	n, _ := x.Dims()
	weights, means := m.Weights(), m.Means()
	post = mat.NewDense(n, len(weights), nil)
	for i := range n {
		var sum float64
		terms := make([]float64, len(weights))
		for c, w := range weights {
			dist, ok := distmv.NewNormal(means.RawRowView(c), m.Covariance(c), nil)
			if !ok {
				t.Fatalf("covariance %d is not positive definite", c)
			}
			terms[c] = w * math.Exp(dist.LogProb(x.RawRowView(i)))
			sum += terms[c]
		}
		for c, v := range terms {
			post.Set(i, c, v/sum)
		}
		ll += math.Log(sum)
	}
	return ll, post
}

// leastEigenvalue of a symmetric matrix.
func leastEigenvalue(s *mat.SymDense) float64 {
	var eig mat.EigenSym
	eig.Factorize(s, false)
	return eig.Values(nil)[0]
}

// variance is the mean variance of the features.
func variance(x *mat.Dense) float64 {
	n, d := x.Dims()
	var sum float64
	for j := range d {
		var mean, sq float64
		for i := range n {
			mean += x.At(i, j) / float64(n)
		}
		for i := range n {
			sq += (x.At(i, j) - mean) * (x.At(i, j) - mean)
		}
		sum += sq / float64(n) / float64(d)
	}
	return sum
}

// checkAscends checks that no iteration lowers ℓ, of n rows.
func checkAscends(t *testing.T, name string, m *Mixture, n int) {
	t.Helper()
	trace := m.Trace()
	for i := 1; i < len(trace); i++ {
		if trace[i] < trace[i-1]-likelihoodTol*(float64(n)+math.Abs(trace[i-1])) {
			t.Errorf("%s: iteration %d lowers ℓ from %v to %v", name, i, trace[i-1], trace[i])
		}
	}
}

// TestEMNeverLowersTheLikelihood: for every form, start and floor, also on
// repeated rows, constant features, fewer rows than features and a component for
// every row.
func TestEMNeverLowersTheLikelihood(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	raised := 0 // components held by the floor
	for _, c := range rowCases() {
		if c.name == "one row" {
			continue // all rows coincide
		}
		n, _ := c.x.Dims()
		for _, form := range forms {
			for _, start := range []MixtureStart{StartFromKMeans, StartFromRows} {
				for _, floor := range []float64{1e-9, 1e-6, 0.1} {
					name := fmt.Sprintf("%s, %v, %v, floor %g", c.name, form, start, floor)
					m, err := FitMixture(context.Background(), rng, c.x, MixtureParams{K: c.k, Covariance: form, Start: start, Floor: floor, MaxIterations: 60})
					if err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					checkAscends(t, name, m, n)
					var sum float64
					for k, w := range m.Weights() {
						sum += w
						if !(w >= 0) {
							t.Errorf("%s: weight %v", name, w)
						}
						least, bound := leastEigenvalue(m.Covariance(k)), floor*variance(c.x)
						const eigTol = 1e-12 // of an eigenvalue, relative to the largest, here at most 1e3 of the mean variance
						if least < bound-eigTol*1e3*variance(c.x) {
							t.Errorf("%s: component %d has an eigenvalue %g, the floor is %g", name, k, least, bound)
						}
						if least < bound*1.001 {
							raised++
						}
					}
					if math.Abs(sum-1) > 1e-12 {
						t.Errorf("%s: weights sum to %v", name, sum)
					}
				}
			}
		}
	}
	if raised < 50 {
		t.Errorf("the floor held %d components: the test does not see it", raised)
	}
}

// TestSparseRows: rows of many zeros, whose scatter has, where responsibilities
// underflow, blocks many orders of magnitude apart.
func TestSparseRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(79, 1))
	for k := range 3000 {
		n, d := 4+rng.IntN(12), 2+rng.IntN(5)
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				if rng.IntN(4) == 0 {
					x.Set(i, j, float64(1+rng.IntN(3)))
				}
			}
		}
		x.Set(0, 0, 1+x.At(1, 0)) // two rows differ
		name := fmt.Sprintf("fit %d", k)
		m, err := FitMixture(context.Background(), rng, x, MixtureParams{K: 1 + rng.IntN(min(4, n)), Start: MixtureStart(rng.IntN(2))})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkAscends(t, name, m, n)
	}
}

func TestMixtureAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(72, 1))
	x := groups(rng, 80, 3, 3, 2)
	for _, form := range forms {
		m, err := FitMixture(context.Background(), rng, x, MixtureParams{K: 3, Covariance: form})
		if err != nil {
			t.Fatal(err)
		}
		ll, post := slowMixture(t, m, x)
		if math.Abs(ll-m.LogLikelihood()) > likelihoodTol*math.Abs(ll) {
			t.Errorf("%v: ℓ = %v, want %v", form, m.LogLikelihood(), ll)
		}
		if got := m.Posterior(x); !mat.EqualApprox(got, post, 1e-9) {
			t.Errorf("%v: wrong posterior", form)
		}
		for i, c := range m.Assign(x) {
			for k := range 3 {
				if post.At(i, k) > post.At(i, c)+1e-9 {
					t.Errorf("%v: row %d has component %d, %d is more probable", form, i, c, k)
				}
			}
		}
	}
}

// TestOneComponent: the maximum is in closed form, and the second iteration gains
// nothing.
func TestOneComponent(t *testing.T) {
	rng := rand.New(rand.NewPCG(73, 1))
	x := groups(rng, 50, 3, 2, 2)
	n, d := x.Dims()
	mean := make([]float64, d)
	for i := range n {
		for j := range d {
			mean[j] += x.At(i, j) / float64(n)
		}
	}
	cov := mat.NewSymDense(d, nil)
	for i := range n {
		dev := mat.NewVecDense(d, nil)
		for j := range d {
			dev.SetVec(j, x.At(i, j)-mean[j])
		}
		cov.SymRankOne(cov, 1/float64(n), dev)
	}
	for _, form := range forms {
		m, err := FitMixture(context.Background(), rng, x, MixtureParams{K: 1, Covariance: form})
		if err != nil {
			t.Fatal(err)
		}
		if m.Status != learners.Converged || len(m.Trace()) != 2 {
			t.Errorf("%v: status %v after %d iterations", form, m.Status, len(m.Trace()))
		}
		want := mat.NewSymDense(d, nil)
		for i := range d {
			for j := range i + 1 {
				switch {
				case form == CovarianceFull || form == CovarianceDiagonal && i == j:
					want.SetSym(i, j, cov.At(i, j))
				case i == j:
					want.SetSym(i, i, mat.Trace(cov)/float64(d))
				}
			}
		}
		if !mat.EqualApprox(m.Covariance(0), want, 1e-12) || !mat.EqualApprox(m.Means(), mat.NewDense(1, d, mean), 1e-12) {
			t.Errorf("%v: mean or covariance is not that of the rows", form)
		}
	}
}

// TestRaisedIsOptimal: no matrix above the floor has a larger −ln|Σ| − tr(Σ⁻¹S)
// than S with its eigenvalues raised.
func TestRaisedIsOptimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(74, 1))
	const d = 4
	random := func(scale float64) *mat.SymDense {
		a := mat.NewDense(d, d, nil)
		a.Apply(func(_, j int, _ float64) float64 { return scale * math.Pow(4, -float64(j)) * rng.NormFloat64() }, a)
		s := mat.NewSymDense(d, nil)
		s.SymOuterK(1, a)
		return s
	}
	value := func(sigma, s *mat.SymDense) float64 {
		var chol mat.Cholesky
		if !chol.Factorize(sigma) {
			t.Fatal("not positive definite")
		}
		var inv mat.Dense
		if err := chol.SolveTo(&inv, s); err != nil {
			t.Fatal(err)
		}
		return -chol.LogDet() - mat.Trace(&inv)
	}
	for range 50 {
		s := random(1)
		floor := math.Pow(10, -3*rng.Float64())
		before := mat.NewSymDense(d, nil)
		before.CopySym(s)
		c, err := raised(s, floor)
		if err != nil {
			t.Fatal(err)
		}
		best := mat.NewSymDense(d, nil)
		best.SymOuterK(1, c.upper.T())
		if least := leastEigenvalue(best); least < floor*(1-1e-9) {
			t.Fatalf("eigenvalue %g below the floor %g", least, floor)
		}
		top := value(best, before)
		for range 200 {
			// Mixtures with matrices above the floor are above it.
			other := random(2)
			for j := range d {
				other.SetSym(j, j, other.At(j, j)+floor)
			}
			u := math.Pow(10, -4*rng.Float64())
			for i := range d {
				for j := range i + 1 {
					other.SetSym(i, j, u*other.At(i, j)+(1-u)*best.At(i, j))
				}
			}
			if v := value(other, before); v > top+1e-9 {
				t.Fatalf("floor %g: %v is exceeded by %v", floor, top, v)
			}
		}
	}
}

// TestMixtureFindsGroups: groups far apart, one long and one round, are found by
// every form, and the full form has their covariances.
func TestMixtureFindsGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 1))
	const n = 2000
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		if i%4 == 0 {
			x.SetRow(i, []float64{30 + a, 30 + b})
		} else {
			x.SetRow(i, []float64{3*a + b, b})
		}
	}
	for _, form := range forms {
		m, err := FitMixture(context.Background(), rng, x, MixtureParams{K: 2, Covariance: form, Starts: 2})
		if err != nil {
			t.Fatal(err)
		}
		labels := m.Assign(x)
		for i, c := range labels {
			if (c == labels[0]) != (i%4 == 0) {
				t.Fatalf("%v: row %d is in the wrong group", form, i)
			}
		}
		small, large := labels[0], labels[1]
		if w := m.Weights()[small]; math.Abs(w-0.25) > 1e-6 {
			t.Errorf("%v: weight %v, want a quarter", form, w)
		}
		for k, i := range m.Prototypes(x) {
			if labels[i] != k {
				t.Errorf("%v: prototype %d of component %d is of the other group", form, i, k)
			}
		}
		if form == CovarianceFull {
			// Four standard deviations of a sample covariance of 1,500 rows.
			for _, c := range []struct {
				i, j      int
				want, tol float64
			}{{0, 0, 10, 1.5}, {0, 1, 1, 0.35}, {1, 1, 1, 0.15}} {
				if got := m.Covariance(large).At(c.i, c.j); math.Abs(got-c.want) > c.tol {
					t.Errorf("covariance %d, %d is %v, want %v ± %v", c.i, c.j, got, c.want, c.tol)
				}
			}
		}
	}
}

func TestMixtureRunsAreReproducible(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(76, 1)), 60, 3, 3, 1)
	for _, start := range []MixtureStart{StartFromKMeans, StartFromRows} {
		fit := func(starts int) *Mixture {
			m, err := FitMixture(context.Background(), rand.New(rand.NewPCG(76, 2)), x, MixtureParams{K: 3, Start: start, Starts: starts})
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		a, b, one := fit(4), fit(4), fit(1)
		if !slices.Equal(a.Trace(), b.Trace()) || !mat.Equal(a.Means(), b.Means()) {
			t.Errorf("%v: two runs differ", start)
		}
		if a.LogLikelihood() < one.LogLikelihood() {
			t.Errorf("%v: the best of 4 runs has ℓ = %v, the first alone %v", start, a.LogLikelihood(), one.LogLikelihood())
		}
	}
	m, err := FitMixture(context.Background(), rand.New(rand.NewPCG(76, 2)), x, MixtureParams{K: 3, MaxIterations: 2})
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != learners.IterationCap || len(m.Trace()) != 2 || m.Form() != CovarianceFull {
		t.Errorf("two iterations: status %v, trace %v, form %v", m.Status, m.Trace(), m.Form())
	}
}

// TestMassIsLost: a component without rows keeps its parameters, with weight 0,
// and nothing becomes NaN.
func TestMassIsLost(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(77, 1)), 20, 2, 1, 1)
	e := &em{ctx: t.Context(), x: x, form: CovarianceDiagonal, floor: 1e-6, dev: mat.NewDense(20, 2, nil)}
	m := &Mixture{weights: []float64{0.5, 0.5}, means: mat.NewDense(2, 2, []float64{0, 0, 1e6, 1e6}), comps: slices.Repeat([]component{{variances: []float64{1, 1}}}, 2), form: CovarianceDiagonal}
	resp, _ := m.expect(context.Background(), x)
	if err := e.maximise(m, resp); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.weights, []float64{1, 0}) || m.means.At(1, 0) != 1e6 {
		t.Errorf("weights %v, means %v", m.weights, m.means.RawMatrix().Data)
	}
	if _, ll := m.expect(context.Background(), x); math.IsNaN(ll) || math.IsInf(ll, 0) {
		t.Errorf("ℓ = %v", ll)
	}
	m.trace = []float64{0}
	if got := m.Assign(x); slices.Contains(got, 1) {
		t.Errorf("assignment %v", got)
	}
}

func TestMixtureErrors(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(78, 1)), 5, 2, 1, 1)
	nan := mat.DenseCopyOf(x)
	nan.Set(3, 1, math.NaN())
	big := mat.DenseCopyOf(x)
	big.Set(3, 1, 1e160)
	for _, c := range []struct {
		x    *mat.Dense
		p    MixtureParams
		want string
	}{
		{x, MixtureParams{}, "mixture: k: 0 is not allowed, want an integer from 1 to 5"},
		{x, MixtureParams{K: 6}, "k: 6 is not allowed"},
		{x, MixtureParams{K: 2, Covariance: 3}, "covariance: 3 is not allowed, want 0 to 2"},
		{x, MixtureParams{K: 2, Start: -1}, "start: -1 is not allowed, want 0 to 1"},
		{x, MixtureParams{K: 2, Floor: -1}, "floor: -1 is not allowed, want a number from 1e-12 to 1"},
		{x, MixtureParams{K: 2, Floor: math.NaN()}, "floor: NaN is not allowed"},
		{x, MixtureParams{K: 2, Tol: -1}, "tol: -1 is not allowed"},
		{x, MixtureParams{K: 2, Tol: math.Inf(1)}, "tol: +Inf is not allowed"},
		{x, MixtureParams{K: 2, Starts: -1}, "starts: -1 is not allowed"},
		{x, MixtureParams{K: 2, MaxIterations: -1}, "max_iterations: -1 is not allowed"},
		{new(mat.Dense), MixtureParams{K: 1}, "x: no rows"},
		{mat.NewDense(4, 2, nil), MixtureParams{K: 2}, "x: all rows coincide"},
		{nan, MixtureParams{K: 2}, "x: row 3, column 1: NaN is not allowed"},
		{big, MixtureParams{K: 2}, "squared distances overflow"},
	} {
		if _, err := FitMixture(context.Background(), rand.New(rand.NewPCG(1, 1)), c.x, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
	m, err := FitMixture(context.Background(), rand.New(rand.NewPCG(1, 1)), x, MixtureParams{K: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("rows of another dimension do not panic")
		}
	}()
	m.Assign(mat.NewDense(2, 3, nil))
}

func TestNames(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{
		"full": CovarianceFull, "diagonal": CovarianceDiagonal, "spherical": CovarianceSpherical, "unknown covariance 9": Covariance(9),
		"from k-means": StartFromKMeans, "from rows": StartFromRows, "unknown start -1": MixtureStart(-1),
	} {
		if got.String() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func ExampleFitMixture() {
	x := mat.NewDense(8, 1, []float64{-1.5, -0.5, 0.5, 1.5, 99.5, 100.5, 99.5, 100.5})
	m, err := FitMixture(context.Background(), rand.New(rand.NewPCG(1, 2)), x, MixtureParams{K: 2})
	if err != nil {
		panic(err)
	}
	wide := m.Assign(x)[0]
	fmt.Printf("weight %.2f, mean %.2f, variance %.2f, %v\n",
		m.Weights()[wide], m.Means().At(wide, 0), m.Covariance(wide).At(0, 0), m.Status)
	// Output: weight 0.50, mean 0.00, variance 1.25, converged
}

func ExampleMixtureParams_Resolved() {
	fmt.Printf("%+v\n", MixtureParams{K: 3}.Resolved())
	// Output: {K:3 Covariance:full Floor:1e-06 Start:from k-means Starts:1 Tol:1e-06 MaxIterations:300 Progress:<nil>}
}
