package lesson

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// The exercises' measured numbers are those of their solutions.
func TestERKLEExercises(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"printed step", StepLength(triplets.GradientPrinted), math.Sqrt(18) / 10},
		{"Frobenius step", StepLength(triplets.GradientFrobenius), math.Sqrt(6) / 6},
		{"P at margin 1", ProbabilityAfter(1), 1 / (1 + math.Exp(-1))},
		{"P at margin 3", ProbabilityAfter(3), 1 / (1 + math.Exp(-3))},
		{"one answer", StepsOfTwo(1), 0.1},
		{"25 answers", StepsOfTwo(25), 4.9},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
}

// Face 4m + w has mood m and width w, from 0 to 3, and the truth has each question about them but for ties.
func TestFaceTruth(t *testing.T) {
	pix, points := Faces()
	if n, _ := pix.Dims(); n != 16 {
		t.Fatalf("%d faces", n)
	}
	sq := func(a, b int) int { return (a/4-b/4)*(a/4-b/4) + (a%4-b%4)*(a%4-b%4) }
	var want []metric.Triplet
	for a := range 16 {
		if !near(3*points.At(a, 0), float64(a%4)) || !near(3*points.At(a, 1), float64(a/4)) {
			t.Errorf("face %d is at %v", a, points.RawRowView(a))
		}
		for b := range 16 {
			for c := range 16 {
				if a != b && a != c && sq(a, b) < sq(a, c) {
					want = append(want, metric.Triplet{A: a, Near: b, Far: c})
				}
			}
		}
	}
	if got := FaceTruth(); !slices.Equal(got, want) {
		t.Errorf("%d answers, want %d", len(got), len(want))
	}
}

// A question that was asked is left out, whatever the answer was.
func TestNotAsked(t *testing.T) {
	all := FaceTruth()
	asked := []metric.Triplet{all[0], {A: all[5].A, Near: all[5].Far, Far: all[5].Near}}
	if got, want := NotAsked(asked), slices.Concat(all[1:5], all[6:]); !slices.Equal(got, want) {
		t.Errorf("%d of %d questions are left", len(got), len(all))
	}
}

// Answers agree with points in ten dimensions: a kernel of these has no error.
func TestStreamOfAnswers(t *testing.T) {
	ts := StreamOfAnswers(20, 500)
	seen := map[int]int{}
	for _, q := range ts {
		seen[q.A]++
		if q.A == q.Near || q.A == q.Far || q.Near == q.Far {
			t.Fatalf("a question about %v", q)
		}
	}
	if len(ts) != 500 || len(seen) != 20 {
		t.Errorf("%d answers about %d heads", len(ts), len(seen))
	}
	x, rng := mat.NewDense(20, 10, nil), rand.New(rand.NewPCG(1, 0))
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	var k mat.SymDense
	k.SymOuterK(1, x)
	if strict, _ := triplets.Errors(&k, ts); strict != 0 {
		t.Errorf("the points' own kernel has an error of %g", strict)
	}
}

func TestSpread(t *testing.T) {
	var l plots.Line
	Spread(&l, 7, []float64{1, 2, 3}) // standard deviation 1
	if e := 2 / math.Sqrt(3); l.X[0] != 7 || !near(l.Y[0], 2) || !near(l.Lo[0], 2-e) || !near(l.Hi[0], 2+e) {
		t.Errorf("%+v", l)
	}
}

// The best question has the largest gain of the figure, and the worst the smallest.
func TestGains(t *testing.T) {
	s, err := triplets.NewSelector(rand.NewPCG(1, 2), 16, triplets.SelectorParams{Model: triplets.AnswerLogistic})
	if err != nil {
		t.Fatal(err)
	}
	_, points := Faces()
	var k mat.SymDense
	k.SymOuterK(4, points)
	for _, a := range FaceTruth()[:300:300] {
		if err := s.Learn(a); err != nil {
			t.Fatal(err)
		}
	}
	heat, best, worst := Gains(s, &k, 1)
	most, least, asked := math.Inf(-1), math.Inf(1), 0
	for b, row := range heat.Z {
		for c, g := range row {
			if want := b != c && b != 1 && c != 1; want == math.IsNaN(g) {
				t.Errorf("question (1, %d, %d): gain %g", b, c, g)
			} else if want {
				most, least, asked = max(most, g), min(least, g), asked+1
			}
		}
	}
	if asked != 15*14 || !near(heat.Z[best.B][best.C], most) || !near(heat.Z[worst.B][worst.C], least) || most <= least {
		t.Errorf("%d questions: best %v, worst %v, gains from %g to %g", asked, best, worst, least, most)
	}
}
