package lesson

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// The first projection leaves no loss, along the pair's own direction; the second ends where a step of plain POLA ends.
func TestPOLARound(t *testing.T) {
	rounds, projected := Teach(rand.New(rand.NewPCG(1, 0)), 30, 0), 0
	for n, p := range rounds {
		before, want := POLAAfter(1, rounds[:n]), POLAAfter(1, rounds[:n+1])
		loss := before.Loss(p)
		half, after, alpha := POLARound(before, p)
		if !near(alpha, loss/LengthOf(p)) || !near(half.Loss(p), 0) {
			t.Errorf("round %d: α = %g for loss %g, loss %g after the first projection", n+1, alpha, loss, half.Loss(p))
		}
		if !mat.EqualApprox(after.A, want.A, 1e-12) || !near(after.B, want.B) || before.Loss(p) != loss {
			t.Errorf("round %d ends at b = %g, want %g; loss before %g, then %g", n+1, after.B, want.B, loss, before.Loss(p))
		}
		if Eigenvalues(half.A)[0] < 0 {
			projected++
		}
	}
	if projected == 0 {
		t.Error("no round has a second projection")
	}
}

// A round that is not there is refused with those that are.
func TestShowRound(t *testing.T) {
	for _, n := range []int{0, 4} {
		func() {
			defer func() {
				if says, _ := recover().(string); !strings.Contains(says, "want 1 to 3") {
					t.Errorf("round %d: panic %q", n, says)
				}
			}()
			ShowRound(1, Teach(rand.New(rand.NewPCG(1, 0)), 3, 0), n)
		}()
	}
}

func TestTally(t *testing.T) {
	var tally Tally
	if tally.Balanced() != 0 {
		t.Errorf("balanced error %g of nothing", tally.Balanced())
	}
	for i := range 14 { // 4 relevant ones, of which one is missed, and 10 others, of which 2 are let through
		tally.Add(i < 3 || i >= 12, Document{Relevant: i < 4})
	}
	if tally != (Tally{4, 1, 10, 2}) || !near(tally.Balanced(), 22.5) {
		t.Errorf("%+v, balanced error %g %%", tally, tally.Balanced())
	}
}

func TestShareOfDocuments(t *testing.T) {
	docs := []Document{{[]float64{0.5, 0}, true}, {[]float64{0.1, 0.9}, true}, {[]float64{0, 1}, false}}
	for relevant, want := range map[bool][]float64{true: {100, 50}, false: {0, 100}} {
		if got := ShareOfDocuments(docs, 2, relevant); !slices.Equal(got, want) {
			t.Errorf("relevant %t: %v, want %v", relevant, got, want)
		}
	}
}

// What is called similar is what the teacher's direction says.
func TestTeach(t *testing.T) {
	for flip, want := range map[float64]int{0: 0, 0.25: 250, 1: 1000} {
		wrong := 0
		for _, p := range Teach(rand.New(rand.NewPCG(1, 0)), 1000, flip) {
			along := 0.8*(p.X[0]-p.Y[0]) + 0.6*(p.X[1]-p.Y[1])
			if sq := along * along; sq >= 0.6 && sq <= 1.4 {
				t.Errorf("a pair at %g, close to the boundary", sq)
			} else if p.Label != metric.SameClass(sq < 1) {
				wrong++
			}
		}
		if wrong < want-50 || wrong > want+50 {
			t.Errorf("flip %g: %d labels of 1000 are wrong", flip, wrong)
		}
	}
}
