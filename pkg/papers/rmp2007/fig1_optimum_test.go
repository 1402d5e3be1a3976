package rmp2007

import (
	"context"
	"math/rand/v2"
	"testing"
)

// On data like those of Fig. 1 the dual bound alone is close.
func TestDualBoundIsClose(t *testing.T) {
	p := gaussiansOf(gaussianWidth)(rand.New(rand.NewPCG(72, 1)), 100, 50)
	g, err := newGame(p.x, distortions[0])
	if err != nil {
		t.Fatal(err)
	}
	o, err := findOptimum(context.Background(), g.total(), fig1Groups, searchStarts, rand.New(rand.NewPCG(72, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if gap := 1 - o.Dual/o.Cost; gap > 1e-3 {
		t.Errorf("the dual bound is %.2g below the best map, %d prototypes are left, want 0.001", gap, o.Left)
	}
}
