package pola2004

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/random"
)

func TestPaper(t *testing.T) { experimenttest.Paper(t, Paper) }

func TestOrderProbability(t *testing.T) {
	// Two classes on a line: {0, 1} and {3, 5}. Same-digit distances² 1 and 4;
	// different-digit distances² 9, 25, 4, 16. Of the 8 comparisons one ties
	// (4 with 4), all others are in order: (7 + ½)/8.
	x := mat.NewDense(4, 1, []float64{0, 1, 3, 5})
	if got, want := orderProbability(x, []int{2, 2, 5, 5}), 7.5/8; got != want {
		t.Errorf("order probability %v, want %v", got, want)
	}
	same := mat.NewDense(4, 1, nil)
	if got := orderProbability(same, []int{2, 2, 5, 5}); got != 0.5 {
		t.Errorf("all distances tie: order probability %v, want 0.5", got)
	}
}

func TestReconstruct(t *testing.T) {
	// Along u = (3, 4)/5 from μ = (1, 1): x = (1+3, 1+4) lies on the line and is
	// its own reconstruction; x = (1+4, 1−3) is orthogonal and becomes μ.
	x := mat.NewDense(2, 2, []float64{4, 5, 5, -2})
	got := reconstruct(x, []float64{1, 1}, []float64{0.6, 0.8})
	want := mat.NewDense(2, 2, []float64{4, 5, 1, 1})
	if !mat.EqualApprox(got, want, 1e-14) { // a few roundings of numbers below 10
		t.Errorf("reconstruction\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(want))
	}
}

// The training images of a trial are the same for all problems, the validation
// images are others, and the pairs join training images of the two digits.
func TestLoadSharesImagesAcrossProblems(t *testing.T) {
	env := &experiment.Env{Scale: experiment.Smoke}
	seed := random.Seed{Base: 1, Experiment: "test", Dataset: "glyphs"}
	s := mainSettings.at(experiment.Smoke)
	p, err := load(env, seed, digits{0, 8}, s)
	if err != nil {
		t.Fatal(err)
	}
	q, err := load(env, seed, digits{0, 3}, s)
	if err != nil {
		t.Fatal(err)
	}
	zeros := func(pt part) [][]float64 {
		var out [][]float64
		for i, y := range pt.y {
			if y == 0 {
				out = append(out, pt.x.RawRowView(i))
			}
		}
		return out
	}
	if !slices.EqualFunc(zeros(p.train), zeros(q.train), slices.Equal[[]float64]) {
		t.Error("the zeros of problems 0-8 and 0-3 differ in the same trial")
	}
	for _, v := range zeros(p.valid) {
		for _, u := range zeros(p.train) {
			if slices.Equal(u, v) {
				t.Fatal("a validation image is also a training image")
			}
		}
	}
	if len(p.links) != s.Pairs {
		t.Errorf("%d pairs, want %d", len(p.links), s.Pairs)
	}
	for _, l := range p.links {
		if (p.train.y[l.I] == p.train.y[l.J]) != (l.Label == 1) {
			t.Fatalf("link %v joins digits %d and %d", l, p.train.y[l.I], p.train.y[l.J])
		}
	}
}

func TestDigitProblemsAreAllPairs(t *testing.T) {
	ps := allDigitPairs()
	if len(ps) != 45 {
		t.Fatalf("%d digit pairs, want 45", len(ps))
	}
	for _, s := range sensitivityProblems {
		if !slices.Contains(ps, s) {
			t.Errorf("sensitivity problem %s is no digit pair", s)
		}
	}
}

func TestNoiseReadingsAreDescribed(t *testing.T) {
	for _, r := range noiseReadings {
		if describeNoise[r] == "" {
			t.Errorf("reading %v has no description", r)
		}
	}
}
