package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

// alikeTable has rows that are alike if they are near in the first feature; the second one is noise of a larger scale.
func alikeTable(t testing.TB, n, pairs int) *tables.Data {
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
	d := Must(tables.NewData(rowsOf(x, rows), nil, nil))
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

// TestEvaluatePairs compares the splits with fits of Fit to the rows that a split does not hold out, scored pair by pair.
func TestEvaluatePairs(t *testing.T) {
	d := alikeTable(t, 60, 400)
	grouped, paired := *d, *d
	grouped.Links, grouped.Chunklets = nil, make([]string, 60)
	for i := range 56 {
		grouped.Chunklets[i] = fmt.Sprint(i / 7)
	}
	links := Must(chunklinks(&grouped, random.Seed{Base: 1, Experiment: "model/evaluate"}.Stream("chunklets"), false, true))
	all := make([]int, 60)
	for i := range all {
		all[i] = i
	}
	paired.Links = relinked(links, all)
	for _, c := range []struct {
		pr      Problem
		d       *tables.Data // with the pairs
		learner string
	}{
		{PairsOfRows(d), d, "itml"}, {PairsOfRows(d), d, "pola"}, {PairsOfRows(d), d, "kernel-itml"}, {PairsOfRows(d), d, "kernel-pola"},
		{ByChunklets(&grouped, true), &paired, "pola"}, {ByChunklets(&grouped, true), &paired, "rca"},
	} {
		d, learner := c.d, c.learner
		r := Recipe{Learner: learner}
		e := MustEvaluate(t, c.pr, r, Plan{Ks: []int{3}, Repeats: 6})
		if e.Rows != 60 || e.Features != 3 || e.Items != 56 || e.Known != len(d.Links) || e.Similar != countSimilar(d.Links) || e.Recipe.Pairs != len(d.Links) {
			t.Errorf("%s: %+v", learner, e.Facts)
		}
		got := e.Of(learner, MeasureAUC)
		if euclidean := e.Of(Euclidean, MeasureAUC).Summary.Mean; learner == "itml" && got.Summary.Mean < euclidean+.1 {
			t.Errorf("AUC %v, Euclidean %v: want a gain where one feature of three tells", got.Summary.Mean, euclidean)
		}
		for s := range 6 {
			want := slowPairSplit(t, d, r, e, s)
			// Distances by coordinates and by the matrix differ by round-off, which orders no two of these pairs otherwise.
			if have := []float64{got.Values[s], e.Of(learner, MeasureError).Values[s], e.Of(Euclidean, MeasureAUC).Values[s], e.Of(Cosine, MeasureAUC).Values[s]}; !floats.EqualApprox(have, want, 1e-12) {
				t.Errorf("%s: split %d: AUC, error, and AUC by Euclidean distance and cosine %v, want %v", learner, s, have, want)
			}
		}
	}
}

// slowPairSplit does split s of e by Fit.
func slowPairSplit(t *testing.T, d *tables.Data, r Recipe, e *Evaluation, s int) []float64 {
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
	both := train.Links
	if r.Learner == "rca" { // which sees what is connected
		train.Links = slices.DeleteFunc(slices.Clone(both), func(l metric.Link) bool { return l.Label == metric.Dissimilar })
	}
	m := MustFit[*Model](t, PairsOfRows(train), r)
	dists := func(under metric.SqDister, x *mat.Dense, links []metric.Link) []float64 {
		p := Must(m.Prepare(x))
		return sqDistsOf(under, p, links)
	}
	threshold, _ := bestThreshold(dists(m.Metric(), train.X, both), both)
	sq := dists(m.Metric(), d.X, test)
	unit := Must(m.Prepare(d.X))
	matrix.ToUnit(unit)
	return []float64{
		slowAUC(sq, test), float64(errorsAt(sq, test, threshold)) / float64(len(test)),
		slowAUC(dists(metric.Euclidean{}, d.X, test), test), slowAUC(sqDistsOf(metric.Euclidean{}, unit, test), test),
	}
}

func TestEvaluatePairsErrors(t *testing.T) {
	d := alikeTable(t, 60, 400)
	for name, c := range map[string]struct {
		change func(d *tables.Data)
		want   string
		option bool
	}{
		"no pairs": {func(d *tables.Data) { d.Links = nil }, "0 links", true},
		"a row":    {func(d *tables.Data) { d.Links[3].I = 60 }, "60", false},
		"few":      {func(d *tables.Data) { d.Links = d.Links[:4] }, "more pairs", false},
		"one kind": {func(d *tables.Data) {
			d.Links = slices.DeleteFunc(d.Links, func(l metric.Link) bool { return l.Label == metric.Dissimilar })
		}, "pair is dissimilar", false},
	} {
		other := *d
		other.Links = slices.Clone(d.Links)
		c.change(&other)
		err := ErrorOf(Evaluate(t.Context(), PairsOfRows(&other), Recipe{Learner: "itml"}, Plan{}))
		Refused(t, name, err, c.want)
		if _, ok := errors.AsType[*tables.OptionError](err); ok != c.option {
			t.Errorf("%s: OptionError %v", name, ok)
		}
	}
}

const judgements = "id,x,y,who\n1,0,5,ann\n2,0.5,1,ann\n3,1,3,ann\n4,4,-4,bob\n5,4.5,0,bob\n6,4,5,\n"

func readJudged(t *testing.T, c tables.Columns) *tables.Data {
	t.Helper()
	return Must(tables.Read(strings.NewReader(judgements), "judged.csv", c, false))
}

// A model of pairs that are given is that of the learner on these pairs of prepared rows, and comes back as it was.
func TestGivenPairs(t *testing.T) {
	d := readJudged(t, tables.Columns{Unlabelled: true, Drop: []string{"id", "who"}})
	if d.Labels != nil || d.Layout.Label != "" || !slices.Equal(d.Layout.Features, []string{"x", "y"}) {
		t.Fatalf("%+v", d)
	}
	d.Links = []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 4, Label: metric.Dissimilar}, {I: 2, J: 5, Label: metric.Dissimilar}, {I: 3, J: 4, Label: metric.Similar}}
	m := MustFit[*Model](t, PairsOfRows(d), Recipe{Learner: "pola", Passes: 2})
	x := Must(m.Prepare(d.X))
	want := Must(pairs.NewPOLA(2, pairs.POLAParams{}))
	for range 2 {
		for _, l := range d.Links {
			Must(want.Step(metric.Pair{X: x.RawRowView(l.I), Y: x.RawRowView(l.J), Label: l.Label}))
		}
	}
	if r := m.Recipe(); r.Pairs != 4 || r.Given != GivenPairs {
		t.Errorf("%+v", r)
	}
	file := persisttest.Saved(m)
	persisttest.Numbers(t, file, Load, func(m *Model) { _, _ = m.Embed(d.X) })
	back := Must(Load(bytes.NewReader(file)))
	for i := range 6 {
		for j := range 6 {
			a, b := x.RawRowView(i), x.RawRowView(j)
			if g := m.Metric().SqDist(a, b); g != want.Metric().SqDist(a, b) || g != back.Metric().SqDist(a, b) {
				t.Errorf("rows %d and %d: %v, want %v", i, j, g, want.Metric().SqDist(a, b))
			}
		}
	}
	again, err := back.Read(strings.NewReader(judgements), "judged.csv")
	if err != nil || !mat.Equal(again.X, d.X) || again.Labels != nil {
		t.Errorf("read for the model: %+v, %v", again, err)
	}
	Must(back.Plot(again))
	Refused(t, "by classes", ErrorOf(Evaluate(t.Context(), ByClasses(d), back.Recipe(), Plan{})), `given: "pairs" is not allowed with a table with classes`)
}

func TestGivenErrors(t *testing.T) {
	one := []metric.Link{{I: 0, J: 1, Label: metric.Similar}}
	d := readJudged(t, tables.Columns{Unlabelled: true, Drop: []string{"id", "who"}})
	with := func(links []metric.Link, chunklets []string) *tables.Data {
		other := *d
		other.Links, other.Chunklets = links, chunklets
		return &other
	}
	for want, c := range map[string]struct {
		pr      Problem
		learner string
	}{
		`given: the recipe says ""`:      {ByClasses(with(one, nil)), "pola"},
		`given: the recipe says "pairs"`: {PairsOfRows(d), "pola"},
		"link 0":                         {PairsOfRows(with([]metric.Link{{I: 0, J: 6, Label: metric.Similar}}, nil)), "rca"},
		"0 chunklets of 6 rows":          {ByChunklets(d, true), "rca"},
		"1 chunklets of 6 rows":          {ByChunklets(with(nil, []string{"a"}), true), "pola"},
		"no two rows are in the same":    {ByChunklets(with(nil, []string{"", "a", "", "b", "c", ""}), true), "pola"},
	} {
		Refused(t, "fit", ErrorOf(Fit(t.Context(), c.pr, Recipe{Learner: c.learner}, nil)), want)
		Refused(t, "evaluate", ErrorOf(Evaluate(t.Context(), c.pr, Recipe{Learner: c.learner}, Plan{})), want)
	}
	Refused(t, "no label", ErrorOf(tables.Read(strings.NewReader(judgements), "t", tables.Columns{}, false)), "label: no column given")
}

// Chunklets are all similar pairs within them; rca sees as few as connect them.
func TestByChunklets(t *testing.T) {
	d := readJudged(t, tables.Columns{Unlabelled: true, Chunklets: "who", Drop: []string{"id"}})
	m := MustFit[*Model](t, ByChunklets(d, true), Recipe{Learner: "rca", Raw: true})
	if r := m.Report(); r.Similar != 3 || r.Dissimilar != 0 || m.Recipe().Given != GivenChunklets || d.Links != nil {
		t.Errorf("%+v, recipe %+v, links %v", r, m.Recipe(), d.Links)
	}
	all := *d
	for _, p := range [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}} {
		all.Links = append(all.Links, metric.Link{I: p[0], J: p[1], Label: metric.Similar})
	}
	want := MustFit[*Model](t, PairsOfRows(&all), Recipe{Learner: "rca", Raw: true})
	for _, v := range [][]float64{{1, 0}, {0, 1}, {1, 1}} {
		if got, want := m.Metric().SqDist(v, []float64{0, 0}), want.Metric().SqDist(v, []float64{0, 0}); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
	cost := func(pr Problem) float64 { return Must(pr.Estimate(Recipe{Learner: "pola"})).Seconds }
	twice := all
	twice.Links = slices.Concat(all.Links, all.Links)
	if a, b := cost(ByChunklets(d, false)), cost(ByChunklets(d, true)); a != cost(PairsOfRows(&all)) || b != cost(PairsOfRows(&twice)) {
		t.Errorf("fits of 4 and of 8 pairs are estimated at %v and %v s", a, b)
	}
	for dissimilar, want := range map[bool]int{true: 4, false: 0} {
		r := MustFit[*Model](t, ByChunklets(d, dissimilar), Recipe{Learner: "pola"}).Report()
		if r.Similar != 4 || r.Dissimilar != want {
			t.Errorf("dissimilar %v: %d similar pairs, %d others, want 4 and %d", dissimilar, r.Similar, r.Dissimilar, want)
		}
	}
}

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
		m := MustFit[*Vectors](t, ComparisonsOfVectors(f, ts), Recipe{Learner: "itml", Params: map[string]string{"c": "2"}})
		var mean float64
		at := func(i int) []float64 { return x[i*d : (i+1)*d] }
		for _, q := range ts {
			mean += (metric.Euclidean{}.SqDist(at(q.A), at(q.Near)) + metric.Euclidean{}.SqDist(at(q.A), at(q.Far))) / 2 / float64(len(ts))
		}
		scaled := mat.NewDense(n, d, slices.Clone(x))
		scaled.Scale(math.Sqrt(5/mean), scaled)
		r := Must(itml.FitNearer(t.Context(), scaled, ts, itml.NearerParams{C: 2}))
		var want metric.SqDister = r.Full
		if r.Full == nil {
			want = r.Metric
		}
		loaded := Must(LoadVectors(bytes.NewReader(persisttest.Saved(m))))
		for _, m := range []*Vectors{m, loaded} {
			z := Must(m.Embed(mat.NewDense(n, d, x)))
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
		if rep := m.Report(); rep.Comparisons != 80 || rep.Items != n || rep.Contradicted > 20 {
			t.Errorf("report %+v", rep)
		}
	}
}

// Where one coordinate of four decides, the learned metric predicts comparisons of held-out items better.
func TestEvaluateVectorTriplets(t *testing.T) {
	x, ts := comparedVectors(60, 4, 4000)
	f := vectorFile(t, mat.NewDense(60, 4, x), true)
	e := MustEvaluate(t, ComparisonsOfVectors(f, ts), Recipe{Learner: "itml"}, Plan{Repeats: 6})
	line := mat.NewDense(3, 1, []float64{0, 1, -1}) // on which one of three is a tie, and one wrong
	if got := contradicted(line, []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 0, Far: 2}, {A: 1, Near: 2, Far: 0}}); got != .5 {
		t.Errorf("%v are contradicted, want 0.5", got)
	}
	if e.Items != 60 || e.Known != 4000 || e.Train[0]+e.Test[0]+e.Dropped[0] != 4000 {
		t.Errorf("counts %+v", e)
	}
	if s := e.Minus(Euclidean, MeasureTriplets).Summary; s.Mean+s.Half >= 0 || e.Of("itml", MeasureTriplets).Summary.Mean > 0.15 {
		t.Errorf("learner %v, minus Euclidean %v", e.Of("itml", MeasureTriplets).Summary, s)
	}
}

// A category that no row to learn from has is no feature of what is held out.
func TestUnseenCategory(t *testing.T) {
	text := "x,colour\n"
	for i := range 40 {
		text += fmt.Sprintf("%d,%s\n", i*7%40, []string{"red", "blue"}[i%2])
	}
	with := Must(tables.Read(strings.NewReader(text+"50,once\n"), "t.csv", tables.Columns{Unlabelled: true, OneHot: []string{"colour"}}, false))
	rng := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		p := rng.Perm(41)
		with.Links = append(with.Links, metric.Link{I: p[0], J: p[1], Label: metric.SameClass((p[0]+p[1])%3 == 0)})
	}
	without := *with
	without.X = mat.DenseCopyOf(with.X)
	without.X.Set(40, slices.Index(with.Layout.Features, "colour=once"), 0)
	r, plan := Recipe{Learner: Euclidean}, Plan{Repeats: 20}
	want := MustEvaluate(t, PairsOfRows(&without), r, plan).Of(Euclidean, MeasureAUC).Values
	held := 0
	for s, got := range MustEvaluate(t, PairsOfRows(with), r, plan).Of(Euclidean, MeasureAUC).Values {
		if slices.Contains(itemsOf(1, s).Perm(41)[:13], 40) { // x is the order, and 50 the last
			if held++; got != want[s] {
				t.Errorf("split %d: %v, and %v without the category", s, got, want[s])
			}
		}
	}
	if held == 0 {
		t.Error("the row is never held out")
	}
}

// What an inner division holds out is no more learned from than what the split holds out.
func TestInnerRowsAreHeldOut(t *testing.T) {
	pr := PairsOfRows(alikeTable(t, 60, 400))
	f := Must(pr.resolve(Recipe{Learner: "itml"}))
	learn, rows := f.entry.Fit, 0
	f.entry.Fit = func(ctx context.Context, in catalog.Input, v catalog.Values, told catalog.Progress) (catalog.Learned, error) {
		rows, _ = in.X.Dims()
		return learn(ctx, in, v, told)
	}
	fits := []fitting{f, f}
	c := Must(pr.lay(&Comparing{Plan: Plan{Seed: 1}, Validation: 2}, &fits, &Facts{}))
	for inner, want := range map[int]int{0: 60 - 17, 1: 60 - 17 - 12} { // of 56 items, and of 39
		Must(c.trial(t.Context(), run{entrant: &entrant{fitting: f}, inner: inner, fitted: func() {}}))
		if rows != want {
			t.Errorf("inner %d: learned from %d rows, want %d", inner, rows, want)
		}
	}
}

// Where most pairs at distance 0 are dissimilar, the threshold takes none for similar, among held-out pairs too.
func TestThresholdBelowAll(t *testing.T) {
	x := mat.NewDense(30, 2, nil)
	var links []metric.Link
	for i := range 30 {
		x.SetRow(i, []float64{float64(i / 5), float64(i / 5 * i / 5 % 3)})
		for j := range i {
			if i/5 == j/5 {
				links = append(links, metric.Link{I: i, J: j, Label: metric.Dissimilar})
			} else if i%5 == j%5 && i/5 == j/5+1 {
				links = append(links, metric.Link{I: i, J: j, Label: metric.Similar})
			}
		}
	}
	for s, wrong := range MustEvaluate(t, PairsOfVectors(vectorFile(t, x, false), links), Recipe{Learner: "itml"}, Plan{}).Of("itml", MeasureError).Values {
		if wrong >= 1 {
			t.Errorf("split %d: all pairs are wrong", s)
		}
	}
}
