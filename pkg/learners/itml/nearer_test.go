package itml

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
)

// madeNearer draws n points and comparisons by a metric that stretches every third axis.
func madeNearer(n, d, m int) (*mat.Dense, []metric.Triplet) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	dist := func(i, j int) (sum float64) {
		for k := range d {
			v := x.At(i, k) - x.At(j, k)
			if k%3 == 0 {
				v *= 3
			}
			sum += v * v
		}
		return sum
	}
	ts := make([]metric.Triplet, m)
	for k := range ts {
		p := rng.Perm(n)
		t := metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
		if dist(t.A, t.Near) > dist(t.A, t.Far) != (k%10 == 9) { // every tenth answer is wrong
			t.Near, t.Far = t.Far, t.Near
		}
		ts[k] = t
	}
	return x, ts
}

// FitNearer finds the optimum of ltkernel.Fit, a Newton method for any linear constraints,
// in the space and, with fewer points than features, in their span.
func TestFitNearerIsOptimal(t *testing.T) {
	for _, size := range [][3]int{{20, 4, 60}, {8, 20, 30}, {3, 5, 1}} {
		for _, c := range []float64{0.05, 1, 50} {
			x, ts := madeNearer(size[0], size[1], size[2])
			got, err := FitNearer(t.Context(), x, ts, NearerParams{C: c, Margin: 0.5, Tol: 1e-13, MaxCycles: 200_000})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != learners.Converged || got.KKT > 1e-5 || got.Gap > 1e-13*got.Objective {
				t.Errorf("%v, C = %g: %s, KKT %g, gap %g", size, c, got.Status, got.KKT, got.Gap)
			}
			var cs []ltkernel.Constraint
			for _, a := range ts {
				cs = append(cs, ltkernel.Nearer(a.A, a.Near, a.Far, 0.5))
			}
			want, err := ltkernel.Fit(t.Context(), x, cs, ltkernel.Params{Divergence: ltkernel.LogDet(), Slack: ltkernel.SlackL2, C: c, Tol: 1e-11})
			if err != nil {
				t.Fatal(err)
			}
			w := got.Full
			if (w == nil) == (got.Metric == nil) {
				t.Fatal("want one of Metric and Full")
			}
			if w == nil {
				if w, err = got.Metric.Mahalanobis(); err != nil {
					t.Fatal(err)
				}
			}
			var diff mat.Dense
			diff.Sub(w.M(), want.Metric.M())
			// The objective is strictly convex: W is off by about the root of the gap.
			if e := mat.Norm(&diff, 2) / mat.Norm(want.Metric.M(), 2); e > 1e-6 {
				t.Errorf("%v, C = %g: W is %g away from that of ltkernel.Fit", size, c, e)
			}
		}
	}
}

// By hand: x = 0, 1, 2 on a line. "0 is more like 2 than like 1" asks for W with
// 4w + m ≤ w + s, so for small w: 1/w = 1 + 3λ, s = 3w + m = λ/C.
func TestFitNearerByHand(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{0, 1, 2})
	got, err := FitNearer(t.Context(), x, []metric.Triplet{{A: 0, Near: 2, Far: 1}}, NearerParams{C: 1, Margin: 1, Tol: 1e-14})
	if err != nil {
		t.Fatal(err)
	}
	// λ = 3/(1 + 3λ) + 1: 3λ² − 2λ − 4 = 0.
	lambda := (2 + math.Sqrt(4+48)) / 6
	if math.Abs(got.Duals[0]-lambda) > 1e-10 || math.Abs(got.Full.M().At(0, 0)-1/(1+3*lambda)) > 1e-10 {
		t.Errorf("λ = %v, W = %v, want %v, %v", got.Duals[0], got.Full.M().At(0, 0), lambda, 1/(1+3*lambda))
	}
}

// Comparisons that hold by the margin already change nothing.
func TestFitNearerSatisfied(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 0, 1, 0, 0, 9})
	got, err := FitNearer(t.Context(), x, []metric.Triplet{{A: 0, Near: 1, Far: 2}}, NearerParams{})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(got.Full.M(), mat.NewDiagDense(2, []float64{1, 1}), 1e-15) || got.Gap != 0 {
		t.Errorf("W = %v, gap %g", mat.Formatted(got.Full.M()), got.Gap)
	}
}

// A metric learned from comparisons predicts others better than the Euclidean distance.
func TestFitNearerGeneralises(t *testing.T) {
	x, all := madeNearer(60, 6, 3000)
	train, test := all[:1000], all[1000:]
	got, err := FitNearer(t.Context(), x, train, NearerParams{})
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(m metric.SqDister) (n int) {
		for _, q := range test {
			if m.SqDist(x.RawRowView(q.A), x.RawRowView(q.Near)) >= m.SqDist(x.RawRowView(q.A), x.RawRowView(q.Far)) {
				n++
			}
		}
		return n
	}
	learned, euclid := wrong(got.Full), wrong(metric.Euclidean{})
	t.Logf("%d and %d of %d wrong, 200 of them by design", learned, euclid, len(test))
	if learned > euclid*3/4 {
		t.Errorf("%d wrong, Euclidean %d", learned, euclid)
	}
}

func TestFitNearerErrors(t *testing.T) {
	x, ts := madeNearer(5, 3, 4)
	nan := mat.DenseCopyOf(x)
	nan.Set(1, 1, math.NaN())
	huge := mat.DenseCopyOf(x)
	huge.Scale(1e150, huge)
	for want, call := range map[string]func() error{
		"no comparison": func() error { _, err := FitNearer(t.Context(), x, nil, NearerParams{}); return err },
		"comparison 0 of 0, 0 and 1: want three rows of 0 to 4": func() error {
			_, err := FitNearer(t.Context(), x, []metric.Triplet{{A: 0, Near: 0, Far: 1}}, NearerParams{})
			return err
		},
		"NaN":                    func() error { _, err := FitNearer(t.Context(), nan, ts, NearerParams{}); return err },
		"scale the vectors down": func() error { _, err := FitNearer(t.Context(), huge, ts, NearerParams{}); return err },
		"margin":                 func() error { _, err := FitNearer(t.Context(), x, ts, NearerParams{Margin: -1}); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitNearer(ctx, x, ts, NearerParams{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func BenchmarkFitNearer(b *testing.B) {
	x, ts := madeNearer(500, 64, 2000)
	b.Run("alg=ITML/dim=64", func(b *testing.B) {
		for b.Loop() {
			if _, err := FitNearer(b.Context(), x, ts, NearerParams{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
