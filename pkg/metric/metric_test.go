package metric_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/metric/metrictest"
)

func normal(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	return x
}

func rows(x *mat.Dense) [][]float64 {
	n, _ := x.Dims()
	out := make([][]float64, n)
	for i := range out {
		out[i] = x.RawRowView(i)
	}
	return out
}

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

func TestEuclidean(t *testing.T) {
	const tol = 1e-13 // d·ε, d ≤ 20, points of norm about 5
	metrictest.Check(t, metric.Euclidean{}, rows(normal(rand.New(rand.NewPCG(1, 1)), 12, 20)), tol)
	if got := (metric.Euclidean{}).SqDist([]float64{1, 2}, []float64{4, -2}); got != 25 {
		t.Errorf("squared distance %v, want 25", got)
	}
}

func TestLabel(t *testing.T) {
	for l, want := range map[metric.Label]struct {
		name  string
		valid bool
	}{
		metric.Similar:    {"similar", true},
		metric.Dissimilar: {"dissimilar", true},
		0:                 {"invalid label 0", false},
		-7:                {"invalid label -7", false},
	} {
		if l.String() != want.name || l.Valid() != want.valid {
			t.Errorf("label %d: %q, valid = %v, want %q, %v", int8(l), l.String(), l.Valid(), want.name, want.valid)
		}
	}
	if metric.SameClass(true) != metric.Similar || metric.SameClass(false) != metric.Dissimilar {
		t.Error("SameClass is the wrong way round")
	}
}

func TestPairCheck(t *testing.T) {
	good := []float64{1, 2}
	for _, c := range []struct {
		p    metric.Pair
		want string // "" for no error
	}{
		{metric.Pair{X: good, Y: good, Label: 1}, ""},
		{metric.Pair{X: good, Y: good, Label: -1}, ""},
		{metric.Pair{X: good, Y: good}, "label: 0 is not allowed"},
		{metric.Pair{X: good, Y: good, Label: 2}, "label: 2 is not allowed"},
		{metric.Pair{X: good[:1], Y: good, Label: 1}, "x: has 1 numbers, want 2"},
		{metric.Pair{X: good, Label: 1}, "y: has 0 numbers, want 2"},
		{metric.Pair{X: good, Y: []float64{0, math.NaN()}, Label: 1}, "y[1]: NaN is not allowed"},
		{metric.Pair{X: []float64{math.Inf(-1), 0}, Y: good, Label: 1}, "x[0]: -Inf is not allowed"},
		{metric.Pair{X: []float64{1e77, 0}, Y: good, Label: 1}, ""}, // ‖x−y‖⁴ = 1e308
		{metric.Pair{X: []float64{1e78, 0}, Y: good, Label: 1}, "‖x−y‖⁴ = +Inf, want a finite number"},
		{metric.Pair{X: []float64{math.MaxFloat64, 0}, Y: []float64{-math.MaxFloat64, 0}, Label: -1}, "‖x−y‖⁴ = +Inf"},
	} {
		err := c.p.Check(2)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: got %v, want %q", c.p, err, c.want)
		}
	}
	if err := (metric.Pair{X: good, Y: good}).CheckVectors(2); err != nil {
		t.Errorf("CheckVectors minds the label: %v", err)
	}
	far := metric.Pair{X: []float64{1e300, 0}, Y: good, Label: 1}
	if err := errors.Join(far.CheckVectors(2), far.CheckLabel()); err != nil {
		t.Errorf("CheckVectors or CheckLabel minds the distance: %v", err)
	}
}

// ParseLabel knows every label and nothing that a conversion to int8 takes for one.
func TestParseLabel(t *testing.T) {
	for v := -600; v <= 600; v++ {
		l, err := metric.ParseLabel(v)
		if want := v == 1 || v == -1; (err == nil) != want || want && int(l) != v || !want && l != 0 {
			t.Errorf("%d: label %v, error %v", v, l, err)
		}
	}
	if _, err := metric.ParseLabel(257); err == nil || err.Error() != "label: 257 is not allowed, want 1 (similar) or -1 (dissimilar)" {
		t.Errorf("257: error %v", err)
	}
}

func TestSub(t *testing.T) {
	x, y := []float64{5, 7}, []float64{1, 10}
	if got := metric.Sub(nil, x, y); !slices.Equal(got, []float64{4, -3}) {
		t.Errorf("got %v", got)
	}
	dst := make([]float64, 2)
	if got := metric.Sub(dst, x, y); &got[0] != &dst[0] || !slices.Equal(dst, []float64{4, -3}) {
		t.Errorf("dst is %v", dst)
	}
	mustPanic(t, "lengths differ", func() { metric.Sub(nil, x, y[:1]) })
	mustPanic(t, "dst too short", func() { metric.Sub(dst[:1], x, y) })
}

// A triplet of JSON is whole, or refused.
func TestTripletJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":2,"near":0,"far":1}`: true, `{"near":1,"far":2}`: false, `{}`: false, `null`: false, `{"a":1,"near":2,"far":3,"b":4}`: false, `{"a":1.5,"near":2,"far":3}`: false,
	} {
		got := metric.Triplet{7, 8, 9}
		if err := json.Unmarshal([]byte(text), &got); (err == nil) != want {
			t.Errorf("%s: error %v", text, err)
		} else if err != nil && got != (metric.Triplet{7, 8, 9}) || err == nil && got != (metric.Triplet{2, 0, 1}) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
