package digits

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// The reading with the fixed ridge takes its own column.
func TestFig2FixedRidge(t *testing.T) {
	tb := experimenttest.Table(Fig2)
	tb.Add(table.Key{"cell": "1-8", "method": fig2All, "images": "5"}, table.Values{"wrong": 1, wrongFixed: 3, "tested": 10})
	all := fig2Main[3]
	if a, b := all.errors(protocol.Curves[0])(tb), all.withFixed().errors(protocol.Curves[0])(tb); a[0] != .1 || b[0] != .3 {
		t.Errorf("errors %v and %v, want 0.1 and 0.3", a, b)
	}
}

func TestFig2Readings(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range fig2Readings() {
		if p.rmp.method != fig2RMP || p.rfe.method != fig2RFE || seen[p.name] {
			t.Errorf("reading %q: %s against %s", p.name, p.rmp.method, p.rfe.method)
		}
		seen[p.name] = true
	}
	if want := len(protocol.MapVariants) + len(rfeStrengths); len(seen) != want { // the main pair once more with the other ridge
		t.Errorf("%d readings, want %d", len(seen), want)
	}
}

func TestPixelCosts(t *testing.T) {
	x := []float64{0, 0.5, 1}
	for _, c := range []struct {
		distortion protocol.Distortion
		want       []float64
	}{
		{"squared", []float64{0, .25, 1, .25, 0, .25, 1, .25, 0}},
		{"L1", []float64{0, .5, 1, .5, 0, .5, 1, .5, 0}},
	} {
		dst := mat.NewDense(3, 3, []float64{9, 9, 9, 9, 9, 9, 9, 9, 9})
		protocol.PixelCosts(dst, x, protocol.Compare[c.distortion])
		if !slices.Equal(dst.RawMatrix().Data, c.want) {
			t.Errorf("%s: %v, want %v", c.distortion, dst.RawMatrix().Data, c.want)
		}
	}
}

// The errors that are recorded are those of the pixels that are given: the label is the first pixel.
func TestJudgeUsesTheGivenPixels(t *testing.T) {
	made := func(n int) (*mat.Dense, []classify.Label) {
		x, y := mat.NewDense(n, 2, nil), make([]classify.Label, n)
		for i := range n {
			y[i] = classify.Negative
			if i%2 == 0 {
				x.Set(i, 0, 1)
				y[i] = classify.Positive
			}
			x.Set(i, 1, float64(i/2%2)) // of no use
		}
		return x, y
	}
	s := &digitStream{rows: fig2Columns.Table(), ridge: fixedStrength}
	s.x, s.y = made(16)
	s.tested, s.truth = made(8)
	for _, f := range []int{0, 1} {
		if err := s.score(t.Context(), table.Key{"method": "made"}, 12, []int{f}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, column := range []string{"wrong", wrongFixed} {
		if got, want := s.rows.Values(column), []float64{0, 4}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
	if got, want := s.rows.Index("images"), []string{"12", "12"}; !slices.Equal(got, want) {
		t.Errorf("images: %v, want %v", got, want)
	}
}

func TestImage(t *testing.T) {
	if got, want := protocol.Image([]int{7, 3, 7, 0, 3}), []int{0, 3, 7}; !slices.Equal(got, want) {
		t.Errorf("image %v, want %v", got, want)
	}
}

// A stream holds different training images of the two digits only, and its labels are theirs.
func TestTaskDraw(t *testing.T) {
	env := &experiment.Env{Scale: experiment.Smoke}
	seed := random.Seed{Base: 1, Experiment: "test", Dataset: "glyphs"}
	train, _, err := protocol.OpenDigits(env, seed, 1000, 500)
	if err != nil {
		t.Fatal(err)
	}
	task := protocol.DigitTasks[1]
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
