package model

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// comparedVectors are vectors of a file, and comparisons by their first coordinate alone.
func comparedVectors(n, d, m int) ([]float64, []metric.Triplet) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := make([]float64, n*d)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	ts := make([]metric.Triplet, m)
	for k := range ts {
		p := rng.Perm(n)
		t := metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
		if math.Abs(x[t.A*d]-x[t.Near*d]) > math.Abs(x[t.A*d]-x[t.Far*d]) {
			t.Near, t.Far = t.Far, t.Near
		}
		ts[k] = t
	}
	return x, ts
}

// The model's distances are those of itml.FitNearer on the scaled vectors, after saving and loading, too; with fewer vectors than features as well.
func TestFitVectorTriplets(t *testing.T) {
	for _, size := range [][2]int{{30, 3}, {5, 9}} {
		n, d := size[0], size[1]
		x, ts := comparedVectors(n, d, 80)
		f := vectorFile(t, mat.NewDense(n, d, x), false)
		m, err := FitVectorTriplets(t.Context(), f, ts, VectorRecipe{Learner: "itml", Triplets: true, Params: map[string]string{"c": "2"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var mean float64
		at := func(i int) []float64 { return x[i*d : (i+1)*d] }
		for _, q := range ts {
			mean += (metric.Euclidean{}.SqDist(at(q.A), at(q.Near)) + metric.Euclidean{}.SqDist(at(q.A), at(q.Far))) / 2 / float64(len(ts))
		}
		scaled := mat.NewDense(n, d, slices.Clone(x))
		scaled.Scale(math.Sqrt(5/mean), scaled)
		r, err := itml.FitNearer(t.Context(), scaled, ts, itml.NearerParams{C: 2})
		if err != nil {
			t.Fatal(err)
		}
		var want metric.SqDister = r.Full
		if r.Full == nil {
			want = r.Metric
		}
		var file bytes.Buffer
		if err := m.Save(&file); err != nil {
			t.Fatal(err)
		}
		loaded, err := LoadVectors(&file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Vectors{m, loaded} {
			z, err := m.Embed(mat.NewDense(n, d, x))
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				w := want.SqDist(scaled.RawRowView(0), scaled.RawRowView(i))
				if got := (metric.Euclidean{}).SqDist(z.RawRowView(0), z.RawRowView(i)); math.Abs(got-w) > 1e-9*(1+w) {
					t.Errorf("n = %d: d²(0, %d) = %v, want %v", n, i, got, w)
				}
			}
			if !math.IsNaN(m.Threshold()) {
				t.Errorf("threshold %v, want none", m.Threshold())
			}
		}
		if rep := m.Report(); rep.Triplets != 80 || rep.Items != n || rep.Contradicted > 20 {
			t.Errorf("report %+v", rep)
		}
	}
}

// Where one coordinate of four decides, the learned metric predicts comparisons of held-out items better.
func TestEvaluateVectorTriplets(t *testing.T) {
	x, ts := comparedVectors(60, 4, 4000)
	f := vectorFile(t, mat.NewDense(60, 4, x), true)
	e, err := EvaluateVectorTriplets(t.Context(), f, ts, VectorRecipe{Learner: "itml", Triplets: true}, VectorPlan{Splits: 6})
	if err != nil {
		t.Fatal(err)
	}
	if e.Items != 60 || e.Triplets != 4000 || e.Train[0]+e.Test[0]+e.Dropped[0] != 4000 {
		t.Errorf("counts %+v", e)
	}
	if s := e.OverEuclidean.Summary; s.Mean+s.Half >= 0 || e.Learner.Summary.Mean > 0.15 {
		t.Errorf("learner %v, minus Euclidean %v", e.Learner.Summary, s)
	}
	for s := range e.Learner.Error {
		if e.OverCosine.Error[s] != e.Learner.Error[s]-e.Cosine.Error[s] {
			t.Error("difference from cosine")
		}
	}
}

func TestVectorTripletErrors(t *testing.T) {
	x, ts := comparedVectors(10, 2, 30)
	f := vectorFile(t, mat.NewDense(10, 2, x), false)
	good := VectorRecipe{Learner: "itml", Triplets: true}
	for _, tt := range []struct {
		want string
		ts   []metric.Triplet
		r    VectorRecipe
	}{
		{"no comparisons", nil, good},
		{"names row 10, want 0 to 9", []metric.Triplet{{A: 0, Near: 1, Far: 10}}, good},
		{"want three rows", []metric.Triplet{{A: 0, Near: 1, Far: 1}}, good},
		{"it is for pairs", ts, VectorRecipe{Learner: "itml"}},
		{"does not learn a linear map of vectors from relative comparisons", ts, VectorRecipe{Learner: "pola", Triplets: true}},
		{"rank: 3 is not allowed", ts, VectorRecipe{Learner: "itml", Triplets: true, Rank: 3}},
	} {
		if _, err := FitVectorTriplets(t.Context(), f, tt.ts, tt.r, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("fit: %v, want %q", err, tt.want)
		}
		if _, err := EvaluateVectorTriplets(t.Context(), f, tt.ts, tt.r, VectorPlan{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("evaluate: %v, want %q", err, tt.want)
		}
	}
	if _, err := FitVectors(t.Context(), f, []metric.Link{{I: 0, J: 1, Label: 1}}, good, nil); err == nil || !strings.Contains(err.Error(), "relative comparisons") {
		t.Errorf("pairs with a recipe of comparisons: %v", err)
	}
}

// A file whose counts do not fit its recipe is damaged.
func TestLoadVectorTripletsDamaged(t *testing.T) {
	x, ts := comparedVectors(10, 2, 30)
	m, err := FitVectorTriplets(t.Context(), vectorFile(t, mat.NewDense(10, 2, x), false), ts, VectorRecipe{Learner: "itml", Triplets: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m.triplets = 0
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadVectors(&file); err == nil || !strings.Contains(err.Error(), persist.ErrDamaged.Error()) {
		t.Errorf("error %v", err)
	}
}
