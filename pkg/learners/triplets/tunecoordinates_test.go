package triplets

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// The number of coordinates is that of the points behind the answers, where these are enough, and the coordinates are those of FitCoordinates with what was chosen.
func TestFitTunedCoordinates(t *testing.T) {
	for _, c := range []struct {
		loss Loss
		dim  int
	}{{STE, 1}, {TSTE, 2}, {CKL, 2}, {SOE, 2}} {
		ts := answers(rand.New(rand.NewPCG(41, 1)), 15, c.dim, 500, 0.1)
		last, most := 0, 0
		p := TunedCoordinatesParams{CoordinatesParams: CoordinatesParams{Loss: c.loss, Starts: 1, Progress: func(q learners.Progress) {
			if q.Iteration <= last || q.Iteration > q.Cap || most > 0 && q.Cap != most {
				t.Fatalf("%v: progress %+v after iteration %d of %d", c.loss, q, last, most)
			}
			last, most = q.Iteration, q.Cap
		}}, Dims: []int{1, 2}, Taus: []float64{0.01, 1}}
		rng := rand.New(rand.NewPCG(42, 1))
		r, err := FitTunedCoordinates(t.Context(), rng, 15, ts, p)
		if err != nil {
			t.Fatal(err)
		}
		if r.Dim != c.dim || len(r.Errors) != 2 || !slices.Contains(p.Taus, r.Tau) || last == 0 {
			t.Errorf("%v: dimension %d with τ = %v of errors %v, want %d", c.loss, r.Dim, r.Tau, r.Errors, c.dim)
		}
		again, err := FitTunedCoordinates(t.Context(), rand.New(rand.NewPCG(42, 1)), 15, ts, TunedCoordinatesParams{CoordinatesParams: CoordinatesParams{Loss: c.loss, Starts: 1}, Dims: p.Dims, Taus: p.Taus})
		if err != nil || !mat.Equal(again.X, r.X) || !slices.Equal(again.Errors, r.Errors) {
			t.Errorf("%v: the same draws give another X (%v)", c.loss, err)
		}
		if want := slowCoordinates(r.X, ts, CoordinatesParams{Loss: c.loss, Tau: r.Tau, Dim: r.Dim}); math.Abs(r.Objective-want) > 1e-12*want {
			t.Errorf("%v: objective %v, of its X %v", c.loss, r.Objective, want)
		}
	}
}

// Of dimensions the smallest is taken whose error is within one standard error of the least, by the difference on the same triplets; of weights the best, the
// largest of equals.
func TestTunedCoordinatesChoose(t *testing.T) {
	halves := func(text string) (out []uint8) {
		for _, c := range text {
			out = append(out, uint8(c-'0'))
		}
		return out
	}
	for _, c := range []struct {
		name  string
		wrong []string // of each dimension with each τ
		want  int
		errs  []float64
	}{
		// 8 of 20 against 7 of 20, which differ at one place: d = 1/20 with a standard error of √(19·20)/400 = 0.0487.
		{"just above one", []string{"22222222000000000000", "22222222000000000000", "22222220000000000000", "22222220000000000000"}, 3, []float64{0.4, 0.35}},
		// The same errors at other places: the difference has a standard error of √(15/20 − 1/400)/√20 = 0.19.
		{"within one", []string{"22222222000000000000", "22222222200000000000", "00000000000002222222", "00000000000002222222"}, 0, []float64{0.4, 0.35}},
		{"the best, though more", []string{"2222", "2222", "0000", "0001"}, 2, []float64{1, 0}},
		{"the larger of equal weights", []string{"1100", "1100", "1100", "1100"}, 1, []float64{0.25, 0.25}},
		{"ties count half", []string{"1111", "2000", "2220", "2200"}, 1, []float64{0.25, 0.5}},
	} {
		p := TunedCoordinatesParams{Dims: []int{1, 2}, Taus: []float64{0.1, 10}}
		var out TunedCoordinatesResult
		var wrong [][]uint8
		for _, w := range c.wrong {
			wrong = append(wrong, halves(w))
		}
		if got := p.choose(&out, wrong); got != c.want || !slices.Equal(out.Errors, c.errs) {
			t.Errorf("%s: candidate %d of errors %v, want %d of %v", c.name, got, out.Errors, c.want, c.errs)
		}
	}
}

func TestTunedCoordinatesErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 1))
	few := []metric.Triplet{{A: 0, Near: 1, Far: 2}}
	r, err := FitTunedCoordinates(t.Context(), rng, 3, few, TunedCoordinatesParams{CoordinatesParams: CoordinatesParams{Loss: STE}})
	if err != nil || r.Tau != DefaultTau || r.Dim != 2 || !slices.Equal(r.Dims, []int{1, 2}) || r.Errors != nil {
		t.Errorf("one question: %+v, %v", r, err)
	}
	if r, err = FitTunedCoordinates(t.Context(), rng, 3, few, TunedCoordinatesParams{Dims: []int{3}, Taus: []float64{0.5}}); err != nil || r.Tau != 0.5 || r.Dim != 3 {
		t.Errorf("one candidate: %+v, %v", r, err)
	}
	for _, c := range []struct {
		p    TunedCoordinatesParams
		want string
	}{
		{TunedCoordinatesParams{Taus: []float64{}}, "none given"},
		{TunedCoordinatesParams{Dims: []int{}}, "none given"},
		{TunedCoordinatesParams{Taus: []float64{1, math.NaN()}}, "taus: NaN is not allowed"},
		{TunedCoordinatesParams{Dims: []int{2, 2}}, "dims: 2 is not allowed"},
		{TunedCoordinatesParams{Dims: []int{0}}, "dims: 0 is not allowed"},
		{TunedCoordinatesParams{CoordinatesParams: CoordinatesParams{Margin: -1}}, "margin"},
	} {
		if _, err := FitTunedCoordinates(t.Context(), rng, 3, few, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	p := TunedCoordinatesParams{CoordinatesParams: CoordinatesParams{Loss: TSTE, Progress: func(learners.Progress) {
		if seen++; seen == 40 {
			cancel()
		}
	}}}
	if r, err := FitTunedCoordinates(ctx, rng, 12, answers(rng, 12, 2, 200, 0.2), p); !errors.Is(err, context.Canceled) || r.X != nil || seen != 40 {
		t.Errorf("cancelled: %+v, %v after %d iterations", r, err, seen)
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic without a generator")
		}
	}()
	_, _ = FitTunedCoordinates(t.Context(), nil, 3, few, TunedCoordinatesParams{})
}
