package triplets

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

// Each number is drawn with the probability 1/(1 + times) over the sum of these.
func TestSeldomDrawsInProportion(t *testing.T) {
	const draws = 60_000
	rng := rand.New(rand.NewPCG(11, 1))
	for _, times := range [][]int{{0, 0, 0}, {0, 1, 3, 9}, {5, 5, 11}, {2}} {
		var sum float64
		for _, c := range times {
			sum += 1 / float64(1+c)
		}
		got := make([]int, len(times))
		for range draws {
			got[newSeldom(slices.Clone(times)).draw(rng)]++
		}
		for i, c := range times {
			p := 1 / float64(1+c) / sum
			// Five standard deviations.
			if diff := math.Abs(float64(got[i])/draws - p); diff > 5*math.Sqrt(p*(1-p)/draws) {
				t.Errorf("%v: number %d in %d of %d draws, want the share %v", times, i, got[i], draws, p)
			}
		}
	}
}

// What it keeps beside the counts is what a new one finds, so that a saved learner goes on as it would have.
func TestSeldomKeepsWhatCountsSay(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 2))
	s := newSeldom(nil)
	for round := range 300 {
		s.add()
		for range round % 5 {
			i, before := 0, slices.Clone(s.times)
			i = s.draw(rng)
			before[i]++
			if !slices.Equal(before, s.times) {
				t.Fatalf("round %d: counts %v after number %d, want %v", round, s.times, i, before)
			}
		}
		if again := newSeldom(s.times); again.least != s.least || again.left != s.left {
			t.Fatalf("round %d: least %d of %d, want %d of %d", round, s.least, s.left, again.least, again.left)
		}
	}
}

// Early triplets are drawn far more often than late ones by uniform draws, and less so by the others.
func TestSeldomEvensOut(t *testing.T) {
	const rounds, beta = 400, 5
	spread := func(d Draws) float64 {
		rng := rand.New(rand.NewPCG(11, 3))
		s := newSeldom(nil)
		for range rounds {
			s.add()
			for range beta - 1 {
				if d == DrawSeldom {
					s.draw(rng)
				} else {
					s.times[rng.IntN(len(s.times))]++
				}
			}
		}
		first, last := 0, 0
		for i := range rounds / 4 {
			first, last = first+s.times[i], last+s.times[rounds-1-i]
		}
		return float64(first) / float64(last)
	}
	if u, s := spread(DrawUniform), spread(DrawSeldom); !(u > 8 && s < u/2) {
		t.Errorf("the first quarter is drawn %.2f times as often as the last one by uniform draws, %.2f times by the others", u, s)
	}
}

// The learner of a rule's parameters is the plain one that is given the triplets drawn.
func TestDrawsReachTheLearner(t *testing.T) {
	const n = 8
	r := rand.New(rand.NewPCG(11, 4))
	p := ERKLEParams{Beta: 3, Draws: DrawSeldom, Seed: 5}
	l, plain := must(NewERKLE(n, p)), must(NewERKLE(n, ERKLEParams{}))
	rng, naive := rand.New(rand.NewPCG(5, 0)), newSeldom(nil)
	var history []metric.Triplet
	step := func(t metric.Triplet) { must(plain.Step(t)) }
	for round := range 40 {
		x := randomTriplet(r, n)
		must(l.Step(x))
		step(x)
		history = append(history, x)
		if naive.add(); round+1 > 2*p.Beta {
			for range p.Beta - 1 {
				step(history[naive.draw(rng)])
			}
		}
	}
	if !mat.Equal(l.Kernel(), plain.Kernel()) {
		t.Error("the kernels differ")
	}
}

func TestDrawsSaved(t *testing.T) {
	l := must(NewERKLE(4, ERKLEParams{Beta: 2, Draws: DrawSeldom}))
	for i := range 9 {
		must(l.Step(metric.Triplet{A: i % 2, Near: 2, Far: 3}))
	}
	times := func(v any) persisttest.Edit {
		return func(_, state map[string]any) { state["times"] = v }
	}
	file := persisttest.Saved(l)
	persisttest.Check(t, file, LoadERKLE)
	persisttest.Tampered(t, file, LoadERKLE, map[string]persisttest.Edit{
		"none": times(nil), "too few": times([]int{5}), "negative": times([]int{6, -1, 0, 0, 0, 0, 0, 0, 0}),
		"another sum": times([]int{4, 0, 0, 0, 0, 0, 0, 0, 0}), "huge": times([]int{1 << 62, 1 << 62, 0, 0, 0, 0, 0, 0, 0}),
		"uniform": func(params, _ map[string]any) { delete(params, "draws") },
		"unknown": func(params, _ map[string]any) { params["draws"] = "often" },
		"budget":  func(_, state map[string]any) { state["budget"] = 1 },
	})
}
