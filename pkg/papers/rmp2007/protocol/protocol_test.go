package protocol

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/table"

	"gonum.org/v1/gonum/mat"
)

func TestPixelCosts(t *testing.T) {
	x := []float64{0, 0.5, 1}
	for _, c := range []struct {
		distortion Distortion
		want       []float64
	}{
		{"squared", []float64{0, .25, 1, .25, 0, .25, 1, .25, 0}},
		{"L1", []float64{0, .5, 1, .5, 0, .5, 1, .5, 0}},
	} {
		dst := mat.NewDense(3, 3, []float64{9, 9, 9, 9, 9, 9, 9, 9, 9})
		PixelCosts(dst, x, Compare[c.distortion])
		if !slices.Equal(dst.RawMatrix().Data, c.want) {
			t.Errorf("%s: %v, want %v", c.distortion, dst.RawMatrix().Data, c.want)
		}
	}
}

func TestImage(t *testing.T) {
	if got, want := Image([]int{7, 3, 7, 0, 3}), []int{0, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("image %v, want %v", got, want)
	}
}

// A stream holds different training images of the two digits only, and its labels are theirs.
func TestTaskDraw(t *testing.T) {
	env := &experiment.Env{Scale: experiment.Smoke}
	seed := random.Seed{Base: 1, Experiment: "test", Dataset: "glyphs"}
	train, _, err := OpenDigits(env, seed, 1000, 500)
	if err != nil {
		t.Fatal(err)
	}
	task := DigitTasks[1]
	idx, err := task.Draw(seed.Stream("images"), train, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(slices.Compact(slices.Sorted(slices.Values(idx)))) != 100 {
		t.Error("an image comes twice")
	}
	for i, l := range task.Labels(train.Y(idx)) {
		want := map[int]classify.Label{3: classify.Negative, 8: classify.Positive}[train.Y(idx)[i]]
		if l != want {
			t.Fatalf("digit %d has label %v", train.Y(idx)[i], l)
		}
	}
	if _, err := task.Draw(seed.Stream("images"), train, 201); err == nil {
		t.Error("more images than there are gave no error")
	}
}

// What RMP pays is the sum of the distortions of its map, and the map that maps each pixel to itself pays nothing.
func TestVariantPays(t *testing.T) {
	const pixels = 6
	x := mat.NewDense(4, pixels, nil)
	x.Apply(func(i, j int, _ float64) float64 { return float64((i*j)%5) / 4 }, x)
	v := MapVariants[1]
	v.Steps = 20
	own, one := make([]int, pixels), make([]int, pixels)
	for i := range own {
		own[i] = i
	}
	n := 0
	err := v.Follow(t.Context(), random.Seed{}, x, DigitTasks[0], 2, func(at int, _ *mapping.RMP, f metric.CostRound, paid float64) error {
		n++
		want := 0.0
		for _, u := range x.RawRowView(at - 1) {
			want += math.Abs(u - x.At(at-1, 0))
		}
		if at != n || paid < 0 || paid > pixels || LossOf(own, f) != 0 || math.Abs(LossOf(one, f)-want) > 1e-12 { // round-off of 6 terms
			t.Errorf("image %d: RMP pays %v, one pixel for all %v, want %v", at, paid, LossOf(one, f), want)
		}
		return nil
	})
	if err != nil || n != 4 {
		t.Fatalf("%d images, %v", n, err)
	}
}

// A method's numbers stand beside the rows of all that agree with its own.
func TestBeside(t *testing.T) {
	tb := table.New([]string{"cell", "method"}, []string{"loss"})
	for i, k := range [][2]string{{"a", FTL}, {"a", RMPPrinted}, {"b", RMPPrinted}, {"b", FTL}, {"c", FTL}} {
		tb.Add(table.Key{"cell": k[0], "method": k[1]}, table.Values{"loss": float64(i)})
	}
	if got, want := Beside("printed", RMPPrinted, "loss", "cell")(tb).Index("printed"), []string{"1", "1", "2", "2", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A sum is sublinear where its second half adds less than its first.
func TestSublinear(t *testing.T) {
	for _, c := range []struct{ half, all, want float64 }{{6, 10, 2}, {5, 10, 0}, {4, 10, -2}} {
		tb := table.New([]string{"trial", "round"}, []string{"loss"})
		tb.Add(table.Key{"trial": "0", "round": "50"}, table.Values{"loss": c.half})
		tb.Add(table.Key{"trial": "0", "round": "100"}, table.Values{"loss": c.all})
		if got := Sublinear(Losses)(tb); len(got) != 1 || got[0] != c.want {
			t.Errorf("%v of %v after half of the rounds: %v, want %v", c.half, c.all, got, c.want)
		}
	}
}

// A rule of the learning rate that is not known is an error; the known ones learn.
func TestNewLearner(t *testing.T) {
	for _, rule := range []string{RMPPrinted, RMPCorrected, RMPAnytime, RMPDoubling, RMPTen, RMPHundred, FTL} {
		l, err := NewLearner(rand.NewPCG(1, 2), rule, 3, 3, 10, mapping.RMPParams{M: 2})
		if err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		if o, err := l.Step(metric.CostRound{Cost: mat.NewDense(3, 3, nil)}); err != nil || o.Loss != 0 {
			t.Errorf("%s: a round without costs costs %v, error %v", rule, o.Loss, err)
		}
	}
	if _, err := NewLearner(rand.NewPCG(1, 2), "eta", 3, 3, 10, mapping.RMPParams{M: 2}); err == nil || !strings.Contains(err.Error(), `"eta" is not known`) {
		t.Errorf("an unknown rule: error %v", err)
	}
}
