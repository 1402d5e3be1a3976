package lesson

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// Two cycles of LogDetAfter are two of plain.ITML, and many end where itml.Fit does.
func TestLogDetAfter(t *testing.T) {
	s, links := KnownPairs(Draw, 12)
	rounds, identity := PairsOf(s, links), mat.NewDiagDense(2, []float64{1, 1})
	for _, gamma := range []float64{3, math.Inf(1)} {
		got := LogDetAfter(2*len(rounds), rounds, gamma)
		want := plain.ITML(identity, s.X, links, plain.Bounds{Upper: Upper, Lower: Lower}, gamma, 2)
		if !mat.EqualApprox(got.K, want.K, 1e-12) {
			t.Errorf("γ = %g: W = %v, want %v", gamma, got.K, want.K)
		}
		for i := range links {
			if !near(got.Lambda[i], want.Lambda[i]) || !near(got.Xi[i], want.Xi[i]) {
				t.Errorf("γ = %g, pair %d: λ = %g and ξ = %g, want %g and %g", gamma, i, got.Lambda[i], got.Xi[i], want.Lambda[i], want.Xi[i])
			}
		}
	}
	fit, err := itml.Fit(context.Background(), s.X, links, itml.Params{Gamma: 3, Upper: Upper, Lower: Lower, Tol: 1e-10})
	if got := LogDetAfter(5000*len(rounds), rounds, 3); err != nil || !mat.EqualApprox(got.K, fit.Metric.M(), 1e-6) {
		t.Errorf("W = %v, of itml.Fit %v (error %v)", got.K, fit.Metric.M(), err)
	}
}

// The exercises' measured numbers are those of their solutions.
func TestLogDetExercises(t *testing.T) {
	check := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-7 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	cost := func(r float64) float64 { return r - math.Log(r) - 1 }
	check("D(W, I)", Divergence(OnePairFit(math.Inf(1)).Metric.M()), cost(0.5/4))
	check("p with γ = 3", OnePairFit(3).Metric.SqDist([]float64{0, 0}, []float64{1.2, 1.6}), 4/(1.0/4+3/0.5))
	check("D(F, I)", PlaneCost(5, 1, 2), cost(1.0/4))
	for i, want := range []float64{4, math.Exp(0.75), 1.75, 0} {
		check("ω of "+[]string{"LogDet", "von Neumann", "Frobenius", "trace"}[i], Omegas(0.75)[i], want)
	}
	check("k of two sets", OnLine([]float64{0.5, 3.2, 4.1, 7}, []float64{0.9, 2.8, 5}), 1/math.Sqrt(3))
	soft := OnePairFit(3)
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}}
	check("bounds given", BoundsGiven(soft, links), cost(soft.Slacks[0]/Upper))
}

// The last pairs have the wrong label, and only these.
func TestDoubtful(t *testing.T) {
	s, links := Doubtful(3, 4)
	for i, l := range links {
		if right := l.Label == metric.SameClass(s.Y[l.I] == s.Y[l.J]); right != (i < 16) {
			t.Errorf("pair %d of %d: right %t", i+1, len(links), right)
		}
	}
}

func TestMisjudged(t *testing.T) {
	pairs := []metric.Pair{OnePair(1, 0, metric.Similar), OnePair(0, 1.1, metric.Similar), OnePair(3, 0, metric.Dissimilar), OnePair(1.2, 0, metric.Dissimilar)}
	if got := Misjudged(metric.Euclidean{}, pairs, 1); got != 25 {
		t.Errorf("%g %% are misjudged, want 25", got)
	}
}

// Clusters have no names, and only rows without pairs count.
func TestUnmatched(t *testing.T) {
	s := &datasets.Set{Y: make([]int, 120)}
	for i := range s.Y {
		s.Y[i] = i % 2
	}
	for name, c := range map[string]struct {
		cluster func(i int) int
		want    float64
	}{
		"right":      {func(i int) int { return i % 2 }, 0},
		"swapped":    {func(i int) int { return 1 - i%2 }, 0},
		"one":        {func(int) int { return 1 }, 50},
		"first ones": {func(i int) int { return min(i/40, 1) * (i % 2) }, 0},
		"a quarter":  {func(i int) int { return i % 4 / 3 }, 25},
	} {
		a := make([]int, 120)
		for i := range a {
			a[i] = c.cluster(i)
		}
		if got := Unmatched(s, a); got != c.want {
			t.Errorf("%s: %g %%, want %g", name, got, c.want)
		}
	}
}

// In the plane of the two principal axes points of the plane, known or new, have the distances that they have, about the mean of
// those that are known.
func TestChart(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	x := mat.NewDense(20, 2, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return 5 + rng.NormFloat64() }, x)
	c := NewChart(kernels.Linear{}, x)
	fresh := []float64{-3, 40}
	at, middle := c.Place(fresh), [2]float64{}
	for i := range 20 {
		p, row := c.Place(x.RawRowView(i)), x.RawRowView(i)
		if got, want := math.Hypot(p[0]-at[0], p[1]-at[1]), math.Hypot(row[0]-fresh[0], row[1]-fresh[1]); !near(got, want) {
			t.Errorf("point %d is at %g of the new one, want %g", i, got, want)
		}
		middle[0], middle[1] = middle[0]+p[0]/20, middle[1]+p[1]/20
	}
	if c.Values[0] < c.Values[1] || !near(middle[0], 0) || !near(middle[1], 0) {
		t.Errorf("eigenvalues %g, the longer axis first; mean of the points %g", c.Values, middle)
	}
}

// A difference of documents is its part in the plane of two words and the rest; a projection puts its link on its bound.
func TestInPlane(t *testing.T) {
	x, links := WordCounts()
	zs, rests, s := InPlane(0)
	for k, l := range links {
		z := metric.Euclidean{}.SqDist(zs[k].X, zs[k].Y)
		if all := (metric.Euclidean{}).SqDist(x.RawRowView(l.I), x.RawRowView(l.J)); !near(z+rests[k], all) || !mat.Equal(s.K, mat.NewDiagDense(2, []float64{1, 1})) {
			t.Errorf("link %d: %g in the plane and %g outside, want %g", k+1, z, rests[k], all)
		}
	}
	for n, bound := range []float64{Near, Apart, Apart} {
		_, _, s := InPlane(n + 1)
		v := Difference(zs[n])
		if got := mat.Inner(v, s.K, v) + rests[n]; !near(got, bound) {
			t.Errorf("projection %d ends at %g, want %g", n+1, got, bound)
		}
	}
}

// JudgeMethods lets a method see half of the rows, and pairs with the labels of these, four times.
func TestJudgeMethods(t *testing.T) {
	s, seen := Objects(1, 60), 0
	judged := JudgeMethods(s, datasets.AsIs, []Method{{"far", func(x *mat.Dense, y []int, links []metric.Link) metric.SqDister {
		n, _ := x.Dims()
		seen += n
		for _, l := range links {
			if l.Label != metric.SameClass(y[l.I] == y[l.J]) {
				t.Errorf("pair %v of classes %d and %d", l, y[l.I], y[l.J])
			}
		}
		return farthest{}
	}}, Methods()[0]})
	if seen != 120 || judged[0] < 60 || judged[1] > 30 {
		t.Errorf("%d rows seen, errors %.1f %%", seen, judged)
	}
}

// farthest has those as neighbours that are far away.
type farthest struct{}

func (farthest) SqDist(x, y []float64) float64 { return 1 / (1 + metric.Euclidean{}.SqDist(x, y)) }

// What is out of range is said to be, with what is allowed.
func TestNotAllowed(t *testing.T) {
	one := []metric.Pair{OnePair(1, 0, metric.Similar)}
	for name, call := range map[string]func(){
		"γ = 0":           func() { LogDetAfter(1, one, 0) },
		"γ = −1":          func() { LogDetAfter(1, one, -1) },
		"γ = NaN":         func() { LogDetAfter(1, one, math.NaN()) },
		"projection 0":    func() { Projection(0, one, 1) },
		"step 0":          func() { PlaneStep(0) },
		"no pairs":        func() { KnownPairs(Draw, 0) },
		"no fresh pairs":  func() { FreshPairs(0) },
		"21 of 20 labels": func() { Doubtful(Draw, 21) },
		"-1 labels":       func() { Doubtful(Draw, -1) },
		"9 on the line":   func() { OnLine([]float64{1, 9}, []float64{1}) },
		"an empty set":    func() { OnLine(nil, []float64{1}) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, "lesson: ") || !strings.Contains(got, ", want ") {
					t.Errorf("%s: panic %q", name, got)
				}
			}()
			call()
		}()
	}
	PlaneStep(4) // of the pair outside the plane
}

// One point of the rings is joined by no binding pair, and that is the one far out.
func TestFarOut(t *testing.T) {
	if joined, bound := FarOut(); joined != 59 || bound {
		t.Errorf("%d points are joined, the one far out among them: %t", joined, bound)
	}
}

// Stems have the weights of the diagonal of W − I, and JLJᵀ is a product.
func TestStemWeights(t *testing.T) {
	x, links := WordCounts()
	u := mat.NewDense(2, 5, []float64{0.6, 0.8, 0, 0, 0, 0, 0, 1, 0, 0})
	basis := nb.Must(iplr.NewBasis(context.Background(), u))
	fit := nb.Must(iplr.Fit(context.Background(), x, basis, links, iplr.Params{Gamma: 1, Upper: Near, Lower: Apart}))
	less := mat.NewSymDense(2, nil)
	less.CopySym(fit.F)
	less.SetSym(0, 0, less.At(0, 0)-1)
	less.SetSym(1, 1, less.At(1, 1)-1)
	change := Sandwich(mat.DenseCopyOf(fit.Metric.Basis().T()), less)
	for i, got := range StemWeights(fit) {
		if want := fit.Metric.M().At(i, i) - 1; !near(got, want) || !near(change.At(i, i), want) {
			t.Errorf("stem %d weighs %g, by the product %g, want %g", i, got, change.At(i, i), want)
		}
	}
	if !near(change.At(0, 1), fit.Metric.M().At(0, 1)) {
		t.Errorf("W₁₂ is %g, by the product %g", fit.Metric.M().At(0, 1), change.At(0, 1))
	}
}
