package worlds

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
)

// Of two pixels the first has ink on the even digits.
func TestSignedCosts(t *testing.T) {
	var images [10][]float64
	for digit := range images {
		images[digit] = []float64{float64(1 - digit%2), .25}
	}
	dst := mat.NewDense(45, 4, nil)
	signedCosts(dst, images)
	for k, pair := range digitPairs() {
		first := .5
		if pair.A%2 < pair.B%2 {
			first = 0
		} else if pair.A%2 > pair.B%2 {
			first = 1
		}
		if want := []float64{first, .5, 1 - first, .5}; !slices.Equal(dst.RawRowView(k), want) {
			t.Errorf("pair %v: costs %v, want %v", pair, dst.RawRowView(k), want)
		}
	}
}

// Each round has an image of each digit, and none comes twice.
func TestDrawDigits(t *testing.T) {
	images, _ := synthetic.GlyphDigits(rand.New(rand.NewPCG(1, 2)), 200, 0)
	rounds, err := drawDigits(rand.New(rand.NewPCG(3, 4)), images, 20)
	if err != nil {
		t.Fatal(err)
	}
	left := map[int][][]float64{}
	for digit := range 10 {
		x := images.Rows(images.Filter(images.All(), digit), datasets.Scale01)
		for i := range 20 {
			left[digit] = append(left[digit], x.RawRowView(i))
		}
	}
	for _, r := range rounds {
		for digit, v := range r {
			i := slices.IndexFunc(left[digit], func(u []float64) bool { return slices.Equal(u, v) })
			if i < 0 {
				t.Fatalf("an image of digit %d comes twice or shows another digit", digit)
			}
			left[digit] = slices.Delete(left[digit], i, i+1)
		}
	}
	if _, err := drawDigits(rand.New(rand.NewPCG(3, 4)), images, 21); err == nil {
		t.Error("more rounds than images gave no error")
	}
}

// A rival that may use some prototypes only is charged for these, and its map names them by their own numbers.
func TestRivalWithin(t *testing.T) {
	l, err := mapping.NewFTL(2, 2, mapping.FTLParams{M: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := rival{name: "made", l: l, within: []int{3, 1}}
	f := metric.CostRound{Cost: mat.NewDense(2, 4, []float64{0, .9, 0, .1, 0, .2, 0, .8})}
	if _, err := r.l.Step(r.costs(f)); err != nil {
		t.Fatal(err)
	}
	if got, want := r.current(), []int{3, 1}; !slices.Equal(got, want) {
		t.Errorf("map %v, want %v", got, want)
	}
}

func TestTenths(t *testing.T) {
	if got, want := tenths(100), []int{1, 2, 4, 8, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}; !slices.Equal(got, want) {
		t.Errorf("checkpoints %v, want %v", got, want)
	}
}
