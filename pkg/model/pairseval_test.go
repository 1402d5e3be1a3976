package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// judgedTable has rows that are alike if they are near in the first feature; the second one is noise of a larger scale.
func judgedTable(t testing.TB, n, pairs int) *Data {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	x := mat.NewDense(n, 3, nil)
	for i := range n {
		x.SetRow(i, []float64{float64(i%2) + .3*rng.NormFloat64(), 5 * rng.NormFloat64(), rng.NormFloat64()})
	}
	// In the order in which an evaluation takes rows and, below, pairs.
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	slices.SortFunc(rows, nearest.RowOrder(x))
	d, err := NewData(rowsOf(x, rows), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range pairs {
		i := rng.IntN(n - 4) // the last rows are in no pair
		j := rng.IntN(n - 4)
		if i == j {
			continue
		}
		l := metric.Link{I: i, J: j, Label: metric.Dissimilar}
		if rows[i]%2 == rows[j]%2 {
			l.Label = metric.Similar
		}
		d.Links = append(d.Links, l)
	}
	slices.Sort(rows)
	d.Links = relinked(d.Links, rows)
	return d
}

// TestEvaluatePairs compares the splits with fits of Fit to the rows that a split does not hold out, judged pair by pair.
func TestEvaluatePairs(t *testing.T) {
	d := judgedTable(t, 60, 400)
	for _, learner := range []string{"itml", "pola", "kernel-itml", "kernel-pola"} {
		r := Recipe{Learner: learner, Given: GivenPairs}
		e, err := EvaluatePairs(t.Context(), d, r, VectorPlan{K: 3, Splits: 6})
		if err != nil {
			t.Fatalf("%s: %v", learner, err)
		}
		if e.Rows != 60 || e.Features != 3 || e.Items != 56 || e.Similar+e.Dissimilar != len(d.Links) || e.Recipe.Pairs != len(d.Links) {
			t.Errorf("%s: %d rows, %d features, %d items, %d + %d pairs", learner, e.Rows, e.Features, e.Items, e.Similar, e.Dissimilar)
		}
		if learner == "itml" && e.Learner.AUCSummary.Mean < e.Euclidean.AUCSummary.Mean+.1 {
			t.Errorf("AUC %v, Euclidean %v: want a gain where one feature of three tells", e.Learner.AUCSummary.Mean, e.Euclidean.AUCSummary.Mean)
		}
		for s := range e.Plan.Splits {
			auc, wrong, euclidean := slowPairSplit(t, d, r, e, s)
			// Distances by coordinates and by the matrix differ by round-off, which orders no two of these pairs otherwise.
			if math.Abs(auc-e.Learner.AUC[s]) > 1e-12 || math.Abs(wrong-e.Learner.Error[s]) > 1e-12 || math.Abs(euclidean-e.Euclidean.AUC[s]) > 1e-12 {
				t.Errorf("%s: split %d: AUC %v, error %v, Euclidean %v, want %v, %v, %v", learner, s, e.Learner.AUC[s], e.Learner.Error[s], e.Euclidean.AUC[s], auc, wrong, euclidean)
			}
		}
	}
}

// slowPairSplit does split s of e by Fit.
func slowPairSplit(t *testing.T, d *Data, r Recipe, e *PairEvaluation, s int) (won, wrong, euclidean float64) {
	t.Helper()
	out := map[int]bool{} // items are rows 0 to 55
	for _, i := range (random.Seed{Base: 1, Experiment: "model/vectors", Trial: s}).Stream("items").Perm(56)[:17] {
		out[i] = true
	}
	var rows []int
	for i := range 60 {
		if !out[i] {
			rows = append(rows, i)
		}
	}
	train := d.Rows(rows)
	var test []metric.Link
	for _, l := range d.Links {
		switch {
		case out[l.I] && out[l.J]:
			test = append(test, l)
		case !out[l.I] && !out[l.J]:
			train.Links = append(train.Links, metric.Link{I: slices.Index(rows, l.I), J: slices.Index(rows, l.J), Label: l.Label})
		}
	}
	if len(train.Links) != e.Train[s] || len(test) != e.Test[s] || len(d.Links)-len(train.Links)-len(test) != e.Dropped[s] {
		t.Fatalf("split %d: %d, %d and %d pairs, want %d, %d", s, e.Train[s], e.Test[s], e.Dropped[s], len(train.Links), len(test))
	}
	shuffled(train.Links, 1, s)
	m, err := Fit(t.Context(), train, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	dists := func(under metric.SqDister, x *mat.Dense, links []metric.Link) []float64 {
		p, err := m.Prepare(x)
		if err != nil {
			t.Fatal(err)
		}
		return sqDistsOf(under, p, links)
	}
	share := func(sq []float64) float64 {
		var won, all float64
		for i, a := range test {
			for j, b := range test {
				if a.Label != metric.Similar || b.Label != metric.Dissimilar {
					continue
				}
				all++
				switch {
				case sq[i] < sq[j]:
					won++
				case sq[i] == sq[j]:
					won += .5
				}
			}
		}
		return won / all
	}
	threshold, _ := bestThreshold(dists(m.Metric(), train.X, train.Links), train.Links)
	sq := dists(m.Metric(), d.X, test)
	for i, l := range test {
		if (sq[i] <= threshold) != (l.Label == metric.Similar) {
			wrong++
		}
	}
	return share(sq), wrong / float64(len(test)), share(dists(metric.Euclidean{}, d.X, test))
}

func TestEvaluatePairsErrors(t *testing.T) {
	d := judgedTable(t, 60, 400)
	option := func(err error) bool { _, ok := errors.AsType[*OptionError](err); return ok }
	for name, c := range map[string]struct {
		change func(d *Data, r *Recipe, p *VectorPlan)
		want   string
		option bool
	}{
		"drawn":    {func(_ *Data, r *Recipe, _ *VectorPlan) { r.Given = "" }, "draws its pairs", true},
		"classes":  {func(_ *Data, r *Recipe, _ *VectorPlan) { r.Learner = "lmnn" }, "not from pairs", true},
		"no pairs": {func(d *Data, _ *Recipe, _ *VectorPlan) { d.Links = nil }, "0 links", true},
		"a row":    {func(d *Data, _ *Recipe, _ *VectorPlan) { d.Links[3].I = 60 }, "60", false},
		"share":    {func(_ *Data, _ *Recipe, p *VectorPlan) { p.Share = .99 }, "test-share", true},
		"few":      {func(d *Data, _ *Recipe, _ *VectorPlan) { d.Links = d.Links[:4] }, "more pairs", false},
		"one kind": {func(d *Data, _ *Recipe, _ *VectorPlan) {
			d.Links = slices.DeleteFunc(d.Links, func(l metric.Link) bool { return l.Label == metric.Dissimilar })
		}, "pair is dissimilar", false},
		"splits": {func(_ *Data, _ *Recipe, p *VectorPlan) { p.Splits = -1 }, "splits", true},
	} {
		other := *d
		other.Links = slices.Clone(d.Links)
		r, p := Recipe{Learner: "itml", Given: GivenPairs}, VectorPlan{}
		c.change(&other, &r, &p)
		if _, err := EvaluatePairs(t.Context(), &other, r, p); err == nil || !strings.Contains(err.Error(), c.want) || option(err) != c.option {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
