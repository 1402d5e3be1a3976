package labels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/metric"
)

// invCovTol is about d·ε·κ(Σ) for d ≤ 6 and condition numbers up to 1e4, relative.
const invCovTol = 1e-10

// withConstant is stretched data with a constant feature and one that is the sum of two.
func withConstant(rng *rand.Rand, n int) *mat.Dense {
	x := stretched(rng, n, 5)
	for i := range n {
		x.Set(i, 1, 0.1)
		x.Set(i, 4, x.At(i, 0)+x.At(i, 2))
	}
	return x
}

// TestInvCov: M is the pseudo-inverse by the conditions of Penrose, and with a ridge the
// inverse.
func TestInvCov(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	for name, x := range map[string]*mat.Dense{
		"full rank": stretched(rng, 40, 4), "singular": withConstant(rng, 40), "fewer rows": stretched(rng, 4, 6),
	} {
		n, d := x.Dims()
		sigma, _ := covariance(x, upTo(n))
		r, err := FitInvCov(t.Context(), x, InvCovParams{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != learners.Closed {
			t.Errorf("%s: status %v", name, r.Status)
		}
		m := r.Metric.M()
		var sms, msm, sm mat.Dense
		sms.Product(sigma, m, sigma)
		msm.Product(m, sigma, m)
		sm.Mul(sigma, m)
		if !mat.EqualApprox(&sms, sigma, invCovTol*mat.Norm(sigma, 2)) || !mat.EqualApprox(&msm, m, invCovTol*mat.Norm(m, 2)) ||
			!mat.EqualApprox(&sm, sm.T(), invCovTol*mat.Norm(&sm, 2)) {
			t.Errorf("%s: not the pseudo-inverse", name)
		}
		// Embedded rows have covariance I.
		white, _ := covariance(r.Metric.EmbedRows(x), upTo(n))
		if !mat.EqualApprox(white, identity(r.Metric.Rows()), 1e-9) {
			t.Errorf("%s: embedded rows have covariance %v", name, mat.Formatted(white))
		}

		const ridge = 0.1
		if r, err = FitInvCov(t.Context(), x, InvCovParams{Ridge: ridge}); err != nil {
			t.Fatal(err)
		}
		s, _ := covariance(x, upTo(n))
		shift := ridge * mat.Trace(s) / float64(d)
		for j := range d {
			s.SetSym(j, j, s.At(j, j)+shift)
		}
		var product mat.Dense
		product.Mul(s, r.Metric.M())
		if !mat.EqualApprox(&product, identity(d), invCovTol) {
			t.Errorf("%s: (Σ + ρsI)M is not I", name)
		}
	}
}

// TestInvCovInvariance: squared distances do not change under an invertible linear map.
func TestInvCovInvariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 2))
	x, a := stretched(rng, 30, 4), normal(rng, 4, 4)
	var ax mat.Dense
	ax.Mul(x, a)
	m, err := FitInvCov(t.Context(), x, InvCovParams{})
	if err != nil {
		t.Fatal(err)
	}
	am, err := FitInvCov(t.Context(), &ax, InvCovParams{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		p, q := m.Metric.SqDist(x.RawRowView(i), x.RawRowView(0)), am.Metric.SqDist(ax.RawRowView(i), ax.RawRowView(0))
		if math.Abs(p-q) > 1e-7*max(p, 1) { // κ of the map enters squared
			t.Errorf("row %d: %v, mapped %v", i, p, q)
		}
	}
}

// TestITMLStart: W₀ is Σ⁺ between rows and positive definite, and LogDet takes it.
func TestITMLStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 3))
	for name, x := range map[string]*mat.Dense{
		"full rank": stretched(rng, 40, 4), "singular": withConstant(rng, 40), "fewer rows": stretched(rng, 4, 6),
	} {
		n, d := x.Dims()
		w, err := ITMLStart(t.Context(), x, InvCovParams{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := FitInvCov(t.Context(), x, InvCovParams{})
		if err != nil {
			t.Fatal(err)
		}
		var eig mat.EigenSym
		eig.Factorize(w, false)
		values := eig.Values(nil)
		sigma, _ := covariance(x, upTo(n))
		s := mat.Trace(sigma) / float64(r.Metric.Rows())
		if !(values[0] > 0) {
			t.Errorf("%s: eigenvalues %v", name, values)
		}
		ones := 0 // eigenvalues 1/s
		for _, v := range values {
			if math.Abs(v*s-1) < 1e-9 {
				ones++
			}
		}
		if ones < d-r.Metric.Rows() {
			t.Errorf("%s: eigenvalues %v, want %d of %v", name, values, d-r.Metric.Rows(), 1/s)
		}
		start, err := metric.NewMahalanobis(w)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < n; i++ {
			p, q := start.SqDist(x.RawRowView(0), x.RawRowView(i)), r.Metric.SqDist(x.RawRowView(0), x.RawRowView(i))
			if math.Abs(p-q) > 1e-9*q {
				t.Errorf("%s: row %d: %v, want %v", name, i, p, q)
			}
		}
		links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 2, Label: metric.Dissimilar}}
		// A bound that W₀ keeps leaves it as it is.
		l, err := itml.Fit(context.Background(), x, links[:1], itml.Params{W0: w, Upper: 1e6, Lower: 2e6})
		if err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(l.Metric.M(), w, invCovTol*mat.Norm(w, 2)) {
			t.Errorf("%s: LogDet moved from W0 without a reason", name)
		}
		if l, err = itml.Fit(context.Background(), x, links, itml.Params{W0: w, Upper: 0.1, Lower: 20}); err != nil || l.Projections == 0 {
			t.Errorf("%s: %d projections, error %v", name, l.Projections, err)
		}
	}
	x := withConstant(rng, 20)
	w, err := ITMLStart(t.Context(), x, InvCovParams{Ridge: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	r, err := FitInvCov(t.Context(), x, InvCovParams{Ridge: 0.2})
	if err != nil || !mat.Equal(w, r.Metric.M()) {
		t.Errorf("with a ridge W0 is not the matrix of FitInvCov: error %v", err)
	}
}

func TestInvCovErrors(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 1, 2})
	fit := func(x *mat.Dense, p InvCovParams) error {
		_, err := FitInvCov(t.Context(), x, p)
		if _, start := ITMLStart(t.Context(), x, p); (start == nil) != (err == nil) {
			return fmt.Errorf("ITMLStart: error %v", start)
		}
		return err
	}
	for want, err := range map[string]error{
		"invcov: ridge: -1 is not allowed":         fit(x, InvCovParams{Ridge: -1}),
		"invcov: ridge: +Inf is not allowed":       fit(x, InvCovParams{Ridge: math.Inf(1)}),
		"invcov: row 0, column 0: NaN":             fit(mat.NewDense(1, 1, []float64{math.NaN()}), InvCovParams{}),
		"invcov: all deviations are zero":          fit(mat.NewDense(2, 1, []float64{4, 4}), InvCovParams{}),
		"invcov: the scatter of the data overflow": fit(mat.NewDense(2, 1, []float64{1e200, 0}), InvCovParams{}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	mustPanic(t, "empty data", func() { FitInvCov(t.Context(), &mat.Dense{}, InvCovParams{}) })
}

func ExampleFitInvCov() {
	// Along the diagonal the rows vary most, so that a difference there counts least.
	x := mat.NewDense(4, 2, []float64{-3, -3, 3, 3, -1, 1, 1, -1})
	r, err := FitInvCov(context.Background(), x, InvCovParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	origin := []float64{0, 0}
	fmt.Printf("%.3f %.3f\n", r.Metric.SqDist(origin, []float64{1, 1}), r.Metric.SqDist(origin, []float64{1, -1}))
	// Output:
	// 0.222 2.000
}

func ExampleITMLStart() {
	// The second feature is constant, and the inverse covariance has weight 0 there.
	x := mat.NewDense(4, 2, []float64{0, 7, 1, 7, 4, 7, 5, 7})
	w, err := ITMLStart(context.Background(), x, InvCovParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 1, J: 2, Label: metric.Dissimilar}}
	l, err := itml.Fit(context.Background(), x, links, itml.Params{W0: w, Upper: 0.2, Lower: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("W0 %.3f %.3f\n", w.At(0, 0), w.At(1, 1))
	fmt.Printf("W  %.3f %.3f\n", l.Metric.M().At(0, 0), l.Metric.M().At(1, 1))
	// Output:
	// W0 0.235 0.235
	// W  0.261 0.235
}
