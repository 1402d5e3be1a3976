package clusters

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/papers/rmp2007/protocol"
)

// The width of the Gaussians is what the paper asks for, on the mean over 40 draws of 400 points:
// the error of who knows the centres is under ½ % with 50 coordinates and over 5 % with 15.
func TestGaussiansAreAsSeparableAsThePaperSays(t *testing.T) {
	const draws = 40
	var at5, at15, at50 float64
	for s := range uint64(draws) {
		p := gaussiansOf(gaussianWidth)(rand.New(rand.NewPCG(70, s)), 400, 50)
		at5, at15, at50 = at5+p.mistaken(5)/draws, at15+p.mistaken(15)/draws, at50+p.mistaken(50)/draws
	}
	t.Logf("mistaken: %.3f with 5 coordinates, %.3f with 15, %.4f with 50", at5, at15, at50)
	if at50 > 0.005 || at15 < 0.05 || at5 < at15 {
		t.Errorf("mistaken: %.3f with 5 coordinates, %.3f with 15, %.4f with 50; want more than .05 with 15 and less than .005 with 50", at5, at15, at50)
	}
}

// The sparse sets are sparse.
func TestSparseSetsAreSparse(t *testing.T) {
	for name, most := range map[string]float64{"words": 0.06, "masked gaussians": 0.22} { // .0447 and .2 are expected
		x := pointSets[name](rand.New(rand.NewPCG(70, 100)), 400, 100).x
		filled := 0.0
		for _, v := range x.RawMatrix().Data {
			if v != 0 {
				filled++
			}
		}
		if share := filled / 40_000; share > most || share == 0 {
			t.Errorf("%s: a share of %.3f is not 0, want at most %.2f", name, share, most)
		}
	}
}

// Costs are in [0, 1], 1 is reached, and their sum over rounds is the scaled distortion of the points.
func TestGameCosts(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{0, 1, 3, 1, 1, 5})
	for _, c := range []struct {
		d     protocol.Distortion
		scale float64
		at    float64 // points 0 and 2
	}{{protocol.Distortions[0], 16, (1 + 16.) / 16}, {protocol.Distortions[1], 4, (1 + 4.) / 4}} {
		g, err := newGame(x, c.d)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.total().At(0, 2); g.scale != c.scale || math.Abs(got-c.at) > 1e-15 {
			t.Errorf("%s: scale %v and cost %v, want %v and %v", c.d, g.scale, got, c.scale, c.at)
		}
		cost := mat.NewDense(3, 3, nil)
		if g.round(1, cost); mat.Max(cost) != 1 || mat.Min(cost) != 0 {
			t.Errorf("%s: costs from %v to %v, want 0 to 1", c.d, mat.Min(cost), mat.Max(cost))
		}
	}
	if _, err := newGame(mat.NewDense(3, 2, nil), protocol.Distortions[0]); err == nil {
		t.Error("points that coincide give no error")
	}
}

// On data like those of Fig. 1 the dual bound alone is close.
func TestDualBoundIsClose(t *testing.T) {
	p := gaussiansOf(gaussianWidth)(rand.New(rand.NewPCG(72, 1)), 100, 50)
	g, err := newGame(p.x, protocol.Distortions[0])
	if err != nil {
		t.Fatal(err)
	}
	o, err := FindOptimum(context.Background(), g.total(), fig1Groups, searchStarts, rand.New(rand.NewPCG(72, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if gap := 1 - o.Dual/o.Cost; gap > 1e-3 {
		t.Errorf("the dual bound is %.2g below the best map, %d prototypes are left, want 0.001", gap, o.Left)
	}
}
