package model_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

const judged = "id,x,y,who\n1,0,5,ann\n2,0.5,1,ann\n3,1,3,ann\n4,4,-4,bob\n5,4.5,0,bob\n6,4,5,\n"

func readJudged(t *testing.T, c model.Columns) *model.Data {
	t.Helper()
	d, err := model.Read(strings.NewReader(judged), "judged.csv", c, false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A model of pairs that are given is that of the learner on these pairs of prepared rows, and comes back as it was.
func TestGivenPairs(t *testing.T) {
	d := readJudged(t, model.Columns{Unlabelled: true, Drop: []string{"id", "who"}})
	if d.Labels != nil || d.Layout.Label != "" || !slices.Equal(d.Layout.Features, []string{"x", "y"}) {
		t.Fatalf("%+v", d)
	}
	d.Links = []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 4, Label: metric.Dissimilar}, {I: 2, J: 5, Label: metric.Dissimilar}, {I: 3, J: 4, Label: metric.Similar}}
	m, err := model.Fit(t.Context(), d, model.Recipe{Learner: "pola", Given: model.GivenPairs, Passes: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, err := m.Prepare(d.X)
	if err != nil {
		t.Fatal(err)
	}
	want, err := pairs.NewPOLA(2, pairs.POLAParams{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, l := range d.Links {
			if _, err := want.Step(metric.Pair{X: x.RawRowView(l.I), Y: x.RawRowView(l.J), Label: l.Label}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r := m.Recipe(); r.Pairs != 4 || r.Given != model.GivenPairs {
		t.Errorf("%+v", r)
	}
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	back, err := model.Load(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		for j := range 6 {
			a, b := x.RawRowView(i), x.RawRowView(j)
			if g := m.Metric().SqDist(a, b); g != want.Metric().SqDist(a, b) || g != back.Metric().SqDist(a, b) {
				t.Errorf("rows %d and %d: %v, want %v", i, j, g, want.Metric().SqDist(a, b))
			}
		}
	}
	again, err := back.Read(strings.NewReader(judged), "judged.csv")
	if err != nil || !mat.Equal(again.X, d.X) || again.Labels != nil {
		t.Errorf("read for the model: %+v, %v", again, err)
	}
	if _, err := back.Plot(again); err != nil {
		t.Error(err)
	}
	if _, err := model.Evaluate(t.Context(), d, back.Recipe(), model.Plan{}); err == nil || !strings.Contains(err.Error(), "takes none that are known") {
		t.Errorf("evaluate: %v", err)
	}
}

// Without a header, the columns of a model without labels are found by number.
func TestGivenPairsWithoutHeader(t *testing.T) {
	d, err := model.Read(strings.NewReader("a,1,2\nb,2,4\nc,3,1\n"), "t", model.Columns{Unlabelled: true, Drop: []string{"1"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	d.Links = []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 1, J: 2, Label: metric.Similar}}
	m, err := model.Fit(t.Context(), d, model.Recipe{Learner: "rca", Given: model.GivenPairs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]float64{"q,5,6\n": 5, "5,6\n": 5} {
		if got, err := m.Read(strings.NewReader(text), "new"); err != nil || got.X.At(0, 0) != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestGivenErrors(t *testing.T) {
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}}
	for _, c := range []struct {
		recipe model.Recipe
		links  []metric.Link
		want   string
	}{
		{model.Recipe{Learner: "pola"}, links, `given: the recipe says ""`},
		{model.Recipe{Learner: "pola", Given: model.GivenPairs}, nil, `given: the recipe says "pairs"`},
		{model.Recipe{Learner: "pola", Given: "words"}, links, `given: "words" is not allowed, want pairs or chunklets`},
		{model.Recipe{Learner: "fda", Given: model.GivenPairs}, links, "fda learns from"},
		{model.Recipe{Learner: "rca", Given: model.GivenPairs}, []metric.Link{{I: 0, J: 6, Label: metric.Similar}}, "6"},
	} {
		d := readJudged(t, model.Columns{Unlabelled: true, Drop: []string{"id", "who"}})
		d.Links = c.links
		if _, err := model.Fit(t.Context(), d, c.recipe, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.recipe, err, c.want)
		}
	}
	d := readJudged(t, model.Columns{Unlabelled: true, Drop: []string{"id", "who"}})
	if err := d.GiveChunklets(model.Recipe{Learner: "rca", Given: model.GivenChunklets}, true); err == nil {
		t.Error("no chunklets, no error")
	}
	if err := d.GiveChunklets(model.Recipe{Learner: "rca", Given: model.GivenPairs}, true); err == nil {
		t.Error("a recipe of pairs, no error")
	}
	if _, err := model.Read(strings.NewReader(judged), "t", model.Columns{}, false); err == nil {
		t.Error("no label, no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.Links = links
	if _, err := model.Fit(ctx, d, model.Recipe{Learner: "pola", Given: model.GivenPairs}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// RCA by a column of chunklets has the inverse of the covariance within them, computed by its formula.
func TestGiveChunklets(t *testing.T) {
	d := readJudged(t, model.Columns{Unlabelled: true, Chunklets: "who", Drop: []string{"id"}})
	r := model.Recipe{Learner: "rca", Given: model.GivenChunklets, Raw: true}
	if err := d.GiveChunklets(r, true); err != nil {
		t.Fatal(err)
	}
	if len(d.Links) != 3 {
		t.Errorf("links %v", d.Links)
	}
	m, err := model.Fit(t.Context(), d, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	cov := mat.NewSymDense(2, nil)
	names, of := datasets.Classes(d.Chunklets)
	for c, name := range names {
		if name == "" {
			continue
		}
		var mean [2]float64
		n := 0.0
		for i, k := range of {
			if k == c {
				mean[0], mean[1], n = mean[0]+d.X.At(i, 0), mean[1]+d.X.At(i, 1), n+1
			}
		}
		for i, k := range of {
			if k == c {
				cov.SymRankOne(cov, 1./5, mat.NewVecDense(2, []float64{d.X.At(i, 0) - mean[0]/n, d.X.At(i, 1) - mean[1]/n}))
			}
		}
	}
	var inverse mat.Dense
	if err := inverse.Inverse(cov); err != nil {
		t.Fatal(err)
	}
	for _, v := range [][]float64{{1, 0}, {0, 1}, {1, 1}} {
		w := mat.NewVecDense(2, v)
		if got, want := m.Metric().SqDist(v, []float64{0, 0}), mat.Inner(w, &inverse, w); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
	r.Learner = "pola"
	if err := d.GiveChunklets(r, true); err != nil || len(d.Links) != 8 {
		t.Errorf("pairs: %v, %v", d.Links, err)
	}
	if err := d.GiveChunklets(r, false); err != nil || len(d.Links) != 4 {
		t.Errorf("similar pairs: %v, %v", d.Links, err)
	}
}
