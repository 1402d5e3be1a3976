package labels

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
)

// meanVariance is tr(Σ)/d.
func meanVariance(x *mat.Dense) float64 {
	n, d := x.Dims()
	var s float64
	for j := range d {
		var sum, sq float64
		for i := range n {
			sum += x.At(i, j)
		}
		for i := range n {
			v := x.At(i, j) - sum/float64(n)
			sq += v * v
		}
		s += sq / float64(n)
	}
	return s / float64(d)
}

// With a ridge LMNN minimises F + (1−μ)Tρs·tr(M): its bound holds for all metrics, and it is that near.
func TestLMNNRidge(t *testing.T) {
	const tol, mu = 1e-5, 0.4
	rng := rand.New(rand.NewPCG(61, 1))
	x, y := overlapping(rng, 24, 3, 2, 1)
	last := math.Inf(1)
	for _, ridge := range []float64{0.05, 0.5, 5} {
		l, err := FitLMNN(t.Context(), x, y, LMNNParams{Mu: mu, Tol: tol, Ridge: ridge})
		if err != nil || l.Status != learners.Converged {
			t.Fatalf("status %v, error %v", l.Status, err)
		}
		pairs := 0
		for _, targets := range l.Targets {
			pairs += len(targets)
		}
		weight := (1 - mu) * float64(pairs) * ridge * meanVariance(x)
		value := func(m mat.Symmetric) float64 {
			f, _, _, _ := slowLMNN(x, y, l.Targets, mu, m)
			return f + weight*mat.Trace(m)
		}
		m := l.Metric.M()
		f := value(m)
		if math.Abs(l.Objective-f) > 1e-9*f || math.Abs((1-mu)*l.Penalty-weight*mat.Trace(m)) > 1e-9*f {
			t.Errorf("ridge %v: objective %v, penalty %v, want %v and %v", ridge, l.Objective, l.Penalty, f, weight*mat.Trace(m)/(1-mu))
		}
		if f < l.Lower || f > l.Lower+tol*max(f, mu*float64(pairs))*(1+1e-6) {
			t.Errorf("ridge %v: F = %v, lower bound %v", ridge, f, l.Lower)
		}
		for range 30 {
			other := psd(rng, 3, 0.1)
			addScaled(other, m, rng.Float64()/10, other)
			if v := value(other); v < l.Lower {
				t.Errorf("ridge %v: F = %v of a random metric is below the bound %v", ridge, v, l.Lower)
			}
		}
		if now := mat.Trace(m); !(now < last) {
			t.Errorf("ridge %v: trace %v, with a smaller ridge %v", ridge, now, last)
		} else {
			last = now
		}
	}
}

// With a ridge MCML minimises F + rows·ρs·tr(M): by a tangent, no metric of at most twice the trace is better by more than tol.
func TestMCMLRidge(t *testing.T) {
	const tol = 1e-9
	rng := rand.New(rand.NewPCG(61, 2))
	x, y := overlapping(rng, 20, 3, 2, 3)
	for _, ridge := range []float64{0.01, 0.1, 1} {
		l, err := FitMCML(t.Context(), x, y, MCMLParams{Tol: tol, Ridge: ridge})
		if err != nil || l.Status != learners.Converged {
			t.Fatalf("status %v, error %v", l.Status, err)
		}
		m := l.Metric.M()
		weight := 20 * ridge * meanVariance(x)
		f, g := slowMCML(x, y, m)
		f += weight * mat.Trace(m)
		for i := range 3 {
			g.SetSym(i, i, g.At(i, i)+weight)
		}
		if math.Abs(l.Objective-f) > 1e-9*f {
			t.Errorf("ridge %v: objective %v, want %v", ridge, l.Objective, f)
		}
		var eig mat.EigenSym
		eig.Factorize(g, false)
		if above := inner(g, m) - 2*mat.Trace(m)*min(eig.Values(nil)[0], 0); math.Abs(above) > 1e-6 {
			t.Errorf("ridge %v: F may be %v above its minimum", ridge, above)
		}
	}
}

// A ridge follows the units of features, and says what is wrong where it cannot.
func TestRidgeUnits(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 3))
	x, y := overlapping(rng, 18, 3, 2, 1)
	fits := map[string]func(x mat.Matrix, ridge float64) (learners.MetricResult, error){
		"lmnn": func(x mat.Matrix, ridge float64) (learners.MetricResult, error) {
			l, err := FitLMNN(t.Context(), x, y, LMNNParams{K: 2, Ridge: ridge})
			return l.MetricResult, err
		},
		"mcml": func(x mat.Matrix, ridge float64) (learners.MetricResult, error) {
			l, err := FitMCML(t.Context(), x, y, MCMLParams{Ridge: ridge})
			return l.MetricResult, err
		},
	}
	for name, fit := range fits {
		want, err := fit(x, 0.2)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{-400, 8, 400} {
			var scaled mat.Dense
			scaled.Scale(math.Ldexp(1, k), x)
			got, err := fit(&scaled, 0.2)
			if err != nil {
				t.Errorf("%s: in units of 2^%d: %v", name, k, err)
				continue
			}
			for i := range 18 {
				v, q := got.Metric.SqDist(scaled.RawRowView(i), scaled.RawRowView(0)), want.Metric.SqDist(x.RawRowView(i), x.RawRowView(0))
				if math.Abs(v-q) > 1e-6*(1+q) { // roots of powers of two are exact
					t.Errorf("%s: in units of 2^%d: squared distance %v, want %v", name, k, v, q)
				}
			}
		}
		wide := mat.DenseCopyOf(x)
		for i := range 18 {
			wide.Set(i, 0, 1e150*wide.At(i, 0))
			wide.Set(i, 1, 1e-150*wide.At(i, 1))
		}
		if _, err := fit(wide, 0.2); err == nil || !strings.Contains(err.Error(), "rescale") {
			t.Errorf("%s: features of sizes 1e150 and 1e-150: error %v", name, err)
		}
		for _, ridge := range []float64{-1, math.NaN(), math.Inf(1)} {
			if _, err := fit(x, ridge); err == nil || !strings.Contains(err.Error(), name+": ridge: ") {
				t.Errorf("%s: ridge %v: error %v", name, ridge, err)
			}
		}
	}
}
