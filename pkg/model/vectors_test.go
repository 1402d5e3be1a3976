package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
	"metriclab/pkg/plots"
	"metriclab/pkg/vectors"
)

// vectorSet is vectors of three classes that differ in two of d columns, under louder noise in the others, and pairs of them.
func vectorSet(t testing.TB, n, d, m int, float32s bool) (*vectors.File, *mat.Dense, []metric.Link) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			v := 2 * rng.NormFloat64()
			if j < 2 {
				v = v/10 + 2*math.Sin(float64(i%3)+float64(j))
			}
			x.Set(i, j, float64(float32(v)))
		}
	}
	var links []metric.Link
	for len(links) < m {
		i, j := rng.IntN(n), rng.IntN(n)
		if i != j && (i%3 == j%3) == (len(links)%2 == 0) {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(i%3 == j%3)})
		}
	}
	return vectorFile(t, x, float32s), x, links
}

func vectorFile(t testing.TB, x *mat.Dense, float32s bool) *vectors.File {
	t.Helper()
	n, d := x.Dims()
	path := filepath.Join(t.TempDir(), "x.npy")
	w := Must(vectors.Create(path, n, d, float32s))
	Must(0, cmp.Or(w.WriteRows(x.RawMatrix().Data, 0), w.Commit()))
	f := Must(vectors.Open(path))
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func mustFitVectors(t testing.TB, f *vectors.File, links []metric.Link, r Recipe) *Vectors {
	t.Helper()
	return MustFit[*Vectors](t, PairsOfVectors(f, links), r)
}

// The metric is that of the learner on vectors that are scaled, and its threshold the best one.
func TestFitVectors(t *testing.T) {
	f, x, links := vectorSet(t, 60, 7, 120, true)
	for _, unit := range []bool{false, true} {
		y := mat.DenseCopyOf(x)
		if unit {
			for i := range 60 {
				floats.Scale(1/floats.Norm(y.RawRowView(i), 2), y.RawRowView(i))
			}
		}
		mean := 0.0
		for _, l := range links {
			mean += metric.Euclidean{}.SqDist(y.RawRowView(l.I), y.RawRowView(l.J)) / float64(len(links))
		}
		y.Scale(math.Sqrt(5/mean), y)
		want := map[string]*metric.Mahalanobis{}
		l := Must(pairs.NewPA(7, pairs.PAParams{Rule: pairs.PAI}))
		for range 2 {
			for _, link := range links {
				Must(l.Step(metric.Pair{X: y.RawRowView(link.I), Y: y.RawRowView(link.J), Label: link.Label}))
			}
		}
		want["pa"] = l.Metric()
		r := Must(itml.Fit(t.Context(), y, links, itml.Params{}))
		want["itml"] = r.Metric
		for _, recipe := range []Recipe{{Learner: "pa", Params: map[string]string{"rule": "pa1"}, Passes: 2, Unit: unit}, {Learner: "logdet", Unit: unit}} {
			m := mustFitVectors(t, f, links, recipe)
			a := want[m.Recipe().Learner]
			z := Must(m.Embed(x))
			sq := make([]float64, len(links))
			for i, l := range links {
				sq[i] = metric.Euclidean{}.SqDist(z.RawRowView(l.I), z.RawRowView(l.J))
				if d := a.SqDist(y.RawRowView(l.I), y.RawRowView(l.J)); math.Abs(d-sq[i]) > 1e-9*(1+d) {
					t.Fatalf("%s, unit %v: squared distance %v, want %v", recipe.Learner, unit, sq[i], d)
				}
			}
			rep := m.Report()
			if wrong := errorsAt(sq, links, m.Threshold()); wrong != rep.Wrong || wrong > leastErrors(sq, links) {
				t.Errorf("%s: %d errors, told %d, least %d", recipe.Learner, wrong, rep.Wrong, leastErrors(sq, links))
			}
			if rep.Similar != 60 || rep.Dissimilar != 60 || m.Dim() != 7 {
				t.Errorf("%+v", rep)
			}
			if unit {
				continue
			}
			factor := Must(m.Factor())
			if l := links[0]; math.Abs(factor.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))-sq[0]) > 1e-9*(1+sq[0]) {
				t.Errorf("%s: Factor gives another distance", recipe.Learner)
			}
		}
	}
}

// Of the eigenvectors of M, those of the k largest eigenvalues are kept, and the rest of the trace is told.
func TestRank(t *testing.T) {
	f, x, links := vectorSet(t, 60, 6, 100, false)
	whole := mustFitVectors(t, f, links, Recipe{Learner: "lego"})
	a := Must(whole.Factor())
	var eig mat.EigenSym
	if !eig.Factorize(a.M(), true) {
		t.Fatal("no eigenvalues")
	}
	values := eig.Values(nil)
	var q mat.Dense
	eig.VectorsTo(&q)
	for k := 1; k <= 6; k++ {
		m := mustFitVectors(t, f, links, Recipe{Learner: "lego", Rank: k})
		if lost := floats.Sum(values[:6-k]) / floats.Sum(values); m.Rows() != k || math.Abs(m.Report().Lost-lost) > 1e-9 {
			t.Errorf("rank %d: %d rows, %v lost, want %v", k, m.Rows(), m.Report().Lost, lost)
		}
		z := Must(m.Embed(x))
		var want float64
		for c := 6 - k; c < 6; c++ {
			p := 0.0
			for j := range 6 {
				p += q.At(j, c) * (x.At(0, j) - x.At(1, j))
			}
			want += values[c] * p * p
		}
		if got := (metric.Euclidean{}).SqDist(z.RawRowView(0), z.RawRowView(1)); math.Abs(got-want) > 1e-9*(1+want) {
			t.Errorf("rank %d: squared distance %v, want %v", k, got, want)
		}
	}
	if m := mustFitVectors(t, f, links[:2], Recipe{Learner: "pola", Rank: 5}); m.Rows() > 2 || m.Report().Lost != 0 {
		t.Errorf("rank 5 of 2 pairs: %d rows, %v lost", m.Rows(), m.Report().Lost)
	}
}

// What is saved is loaded: the same recipe, and the same bits of coordinates; a metric and a saved learner embed as they are.
func TestSaveVectors(t *testing.T) {
	f, x, links := vectorSet(t, 60, 5, 100, false)
	for _, learner := range []string{"pola", "lego", "itml", "iplr", "rca", "pola-batch"} {
		m := mustFitVectors(t, f, links, Recipe{Learner: learner, Unit: learner == "lego", Raw: learner == "rca"})
		file := persisttest.Saved(m)
		n := Must(LoadVectors(bytes.NewReader(file)))
		if z := Must(m.Embed(x)); !mat.Equal(z, Must(n.Embed(x))) || n.Threshold() != m.Threshold() || !reflect.DeepEqual(n.Recipe(), m.Recipe()) || m.Report().Items < 50 {
			t.Errorf("%s: another model was loaded: %+v, want %+v", learner, n.Recipe(), m.Recipe())
		}
		Refused(t, learner, ErrorOf(Load(bytes.NewReader(file))), persist.ErrKind)
	}
	l := Must(pairs.NewLEGO(5, pairs.LEGOParams{}))
	a := metric.FromFactor(mat.NewDense(1, 5, []float64{1, 2, 3, 4, 5}))
	for want, s := range map[float64]persist.Saver{5: l, math.Inf(1): a} {
		m := Must(LoadVectors(bytes.NewReader(persisttest.Saved(s))))
		if got := m.Threshold(); got != want && !(math.IsInf(want, 1) && math.IsNaN(got)) {
			t.Errorf("threshold %v", got)
		}
		if m.Recipe().Learner != "" || m.Save(io.Discard) == nil {
			t.Error("a model without a recipe is saved")
		}
	}
}

func TestLoadVectorsDamaged(t *testing.T) {
	f, _, links := vectorSet(t, 30, 3, 40, false)
	m := mustFitVectors(t, f, links, Recipe{Learner: "lego"})
	good := vectorState{VectorVersion, 1, 2, 1, 3, 4, 0, persisttest.Saved(metric.Identity(3))}
	for name, change := range map[string]func(*vectorRecipe, *vectorState){
		"learner":   func(r *vectorRecipe, _ *vectorState) { r.Learner = "" },
		"params":    func(r *vectorRecipe, _ *vectorState) { r.Params = nil },
		"rank":      func(r *vectorRecipe, _ *vectorState) { r.Rank = 4 },
		"passes":    func(r *vectorRecipe, _ *vectorState) { r.Passes = -1 },
		"scale":     func(_ *vectorRecipe, s *vectorState) { s.Scale = 0 },
		"raw":       func(r *vectorRecipe, _ *vectorState) { r.Raw = true },
		"threshold": func(_ *vectorRecipe, s *vectorState) { s.Threshold = -1 },
		"similar":   func(_ *vectorRecipe, s *vectorState) { s.Similar = -1 },
		"version":   func(_ *vectorRecipe, s *vectorState) { s.Version = -1 },
		"metric":    func(_ *vectorRecipe, s *vectorState) { s.Metric = []byte(`{}`) },
		"compared": func(r *vectorRecipe, s *vectorState) {
			r.Triplets, s.Similar, s.Dissimilar, s.Triplets = true, 0, 0, 1 // and a threshold
		},
		"compared, without any": func(r *vectorRecipe, s *vectorState) {
			r.Triplets, s.Similar, s.Dissimilar, s.Threshold = true, 0, 0, 0
		},
		"none": nil,
	} {
		r, s := vectorRecipe{Learner: "lego", Params: m.Recipe().Params, Passes: 1}, good
		if change != nil {
			change(&r, &s)
		}
		var b bytes.Buffer
		if err := persist.Write(&b, VectorsKind, r, s); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadVectors(&b); (err == nil) != (change == nil) || err != nil && !errors.Is(err, persist.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := LoadVectors(strings.NewReader("{}")); err == nil {
		t.Error("no file of ours is loaded")
	}
}

// Rows written are those of Embed, and have the same bits on any number of cores, though their blocks differ.
func TestTransformVectors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	for _, r := range []Recipe{{Learner: "lego"}, {Learner: "iplr", Unit: true}, {Learner: "lego", Rank: 3}} {
		n, d := 9000, 70 // several blocks
		if r.Rank > 0 {
			n, d = 1000, 600 // of 218 rows on 8 cores, and gonum has other bits below 256
		}
		f, x, links := vectorSet(t, n, d, 300, true)
		m := mustFitVectors(t, f, links, r)
		want := Must(m.Embed(x))
		path := filepath.Join(t.TempDir(), "y.npy")
		var first []byte
		for _, cores := range []int{1, 8, 3} {
			runtime.GOMAXPROCS(cores)
			w := Must(vectors.Create(path, n, m.Rows(), false))
			last := 0
			Must(0, m.Transform(t.Context(), f, w, func(done, _ int) { last = max(last, done) }))
			if err := w.Commit(); err != nil || last != n {
				t.Fatalf("%v, %d rows told", err, last)
			}
			bytes := Must(os.ReadFile(path))
			if first == nil {
				first = bytes
			}
			if !slices.Equal(first, bytes) {
				t.Errorf("%s: on %d cores the bits are others than on one", r.Learner, cores)
			}
		}
		y := Must(vectors.Open(path))
		got := Must(y.Select([]int{0, 1, n / 2, n - 1}))
		for i, row := range []int{0, 1, n / 2, n - 1} {
			if !floats.EqualApprox(got.RawRowView(i), want.RawRowView(row), 1e-11) {
				t.Errorf("%s: row %d differs", r.Learner, row)
			}
		}
		_ = y.Close()
	}
}

func TestTransformErrors(t *testing.T) {
	f, x, links := vectorSet(t, 4000, 70, 100, true)
	m := mustFitVectors(t, f, links, Recipe{Learner: "lego"})
	out := func() *vectors.Writer {
		w := Must(vectors.Create(filepath.Join(t.TempDir(), "y.npy"), 4000, 70, true))
		t.Cleanup(w.Abort)
		return w
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Refused(t, "cancelled", m.Transform(ctx, f, out(), nil), context.Canceled)
	zero := &Vectors{scale: 1, metric: metric.Zero(70)}
	Refused(t, "rank 0", zero.Transform(t.Context(), f, out(), nil), ErrZero)
	x.Set(3999, 5, 1e38)
	x.Set(100, 5, 3e38)
	big := vectorFile(t, x, true)
	grow := &Vectors{scale: 1e5, metric: metric.Identity(70)}
	Refused(t, "overflow", grow.Transform(t.Context(), big, out(), nil), "row 100, column 5")
	Refused(t, "overflow of float64", (&Vectors{scale: 1e300, metric: metric.Identity(70)}).Transform(t.Context(), big, out(), nil), "row 0, column")
}

// The neighbours are those of a search through all.
func TestVectorNeighbours(t *testing.T) {
	const n, d = 9000, 70
	f, x, links := vectorSet(t, n, d, 200, true)
	m := mustFitVectors(t, f, links, Recipe{Learner: "lego"})
	queries := x.Slice(5, 12, 0, d)
	got, _, err := m.Neighbours(t.Context(), f, queries, 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	z := Must(m.Embed(x))
	for q := range got {
		all := make([]nearest.Neighbour, n)
		for i := range all {
			all[i] = nearest.Neighbour{Index: i, SqDist: metric.Euclidean{}.SqDist(z.RawRowView(q+5), z.RawRowView(i))}
		}
		slices.SortStableFunc(all, func(a, b nearest.Neighbour) int { return cmp.Compare(a.SqDist, b.SqDist) })
		for k, nb := range got[q] {
			if nb.Index != all[k].Index || math.Abs(nb.SqDist-all[k].SqDist) > 1e-9 {
				t.Fatalf("query %d: neighbour %d is %+v, want %+v", q, k, nb, all[k])
			}
		}
	}
	if _, _, err := m.Neighbours(t.Context(), f, queries, n+1, nil); err == nil {
		t.Error("k = n + 1 is allowed")
	}
	far := mat.DenseCopyOf(queries)
	far.Set(3, 2, 1e200)
	if _, _, err := (&Vectors{scale: 1, metric: metric.Identity(d)}).Neighbours(t.Context(), f, far, 6, nil); err == nil || !strings.Contains(err.Error(), "row 3: squared distances overflow") {
		t.Errorf("distances that overflow: %v", err)
	}
	got, _, err = (&Vectors{scale: 1, metric: metric.Identity(2)}).Neighbours(t.Context(), vectorFile(t, mat.NewDense(9, 2, nil), false), mat.NewDense(1, 2, nil), 3, nil)
	if err != nil || fmt.Sprint(got) != "[[{0 0} {1 0} {2 0}]]" {
		t.Errorf("of equal vectors %v, error %v", got, err)
	}
}

// The classes of vectors are elected by the coordinates of all others, in blocks. Vectors of zeros elect nobody, and have no class.
func TestVectorClassifier(t *testing.T) {
	const n, d, k = 9000, 70, 3
	f, x, links := vectorSet(t, n, d, 200, true)
	m := mustFitVectors(t, f, links, Recipe{Learner: "lego", Unit: true})
	for _, row := range []int{4, 8000} {
		x.SetRow(row, make([]float64, d))
	}
	f = vectorFile(t, x, true)
	classes := make([]string, n)
	for i := range classes {
		classes[i] = string(rune('a' + i*i%7%3))
	}
	h := Must(m.Classifier(t.Context(), f, classes, k, nil))
	var idx, y []int
	for i := range n {
		if i != 4 && i != 8000 {
			idx, y = append(idx, i), append(y, int(classes[i][0]-'a'))
		}
	}
	z := Must(m.Embed(rowsOf(x, idx)))
	voters := Must(nearest.NewVoters(metric.Euclidean{}, z, y))
	want := Must(voters.Elect(t.Context(), z, k))
	at, notes := 0, []string(nil)
	for near, err := range h.Vectors(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		notes = near.Notes
		for i, e := range near.Elected {
			if row := near.First + i; row == 4 || row == 8000 {
				if e.Class != "" {
					t.Errorf("row %d, of zeros: %+v", row, e)
				}
				continue
			}
			if w := want[at]; e.Class != string(rune('a'+w.Labels[0])) || e.Share != w.Share {
				t.Fatalf("row %d: %+v, want %+v", near.First+i, e, w)
			}
			at++
		}
	}
	if all := strings.Join(append(h.Notes(), notes...), "; "); at != len(want) || strings.Count(all, "2 vectors of zeros, the first in row 4") != 2 {
		t.Errorf("%d of %d rows; notes %s", at, len(want), all)
	}
	x.Zero()
	Refused(t, "zeros alone", ErrorOf(m.Classifier(t.Context(), vectorFile(t, x, true), classes, k, nil)), "without direction, and no other")
}

// A plot of many vectors draws a sample, each with its own class, and says so.
func TestPlotVectors(t *testing.T) {
	const n, d = MaxPoints + 700, 6
	f, x, links := vectorSet(t, n, d, 200, false)
	m := mustFitVectors(t, f, links, Recipe{Learner: "lego"})
	classes := make([]string, n)
	for i := range classes {
		classes[i] = map[bool]string{true: "left", false: "right"}[x.At(i, 0) < 0]
	}
	p := Must(m.Plot(t.Context(), f, classes))
	want := map[string]int{}
	idx := plotted(n)
	for _, i := range idx {
		want["class "+classes[i]]++
	}
	for _, mark := range p.Panels[0].Marks {
		points := mark.(plots.Points)
		want[points.Name] -= len(points.X)
	}
	if p.Points != MaxPoints || p.Of != n || len(p.Shares) != 2 || !strings.HasPrefix(p.Caption.String(), fmt.Sprintf("A sample of %d of %d vectors", MaxPoints, n)) || want["class left"] != 0 || want["class right"] != 0 || len(want) != 2 {
		t.Errorf("%d of %d points, shares %v: %s; off by %v", p.Points, p.Of, p.Shares, p.Caption.String(), want)
	}
	if !slices.IsSorted(idx) || idx[0] < 0 || idx[len(idx)-1] >= n || len(slices.Compact(slices.Clone(idx))) != MaxPoints || idx[len(idx)-1] < MaxPoints {
		t.Errorf("a sample from %d to %d", idx[0], idx[len(idx)-1])
	}
}

// checkParts divides a list: either part has, in their order, what is known of items on its side, and nothing else.
func checkParts[T comparable](t *testing.T, all *known[T]) {
	t.Helper()
	out := make([]bool, len(all.rows))
	for i := range len(out) / 3 {
		out[i] = true
	}
	for _, held := range []bool{false, true} {
		part := all.part(out, held, all.items)
		var want []T
		for _, v := range all.list {
			if !slices.ContainsFunc(all.items(&v), func(i *int) bool { return out[*i] != held }) {
				want = append(want, v)
			}
		}
		for k := range part.list {
			for _, i := range all.items(&part.list[k]) {
				if row := part.rows[*i]; !slices.Equal(part.x.RawRowView(*i), all.x.RawRowView(row)) {
					t.Fatalf("item %d is not row %d", *i, row)
				} else {
					*i = row
				}
			}
		}
		if len(want) == 0 || !slices.Equal(part.list, want) {
			t.Errorf("held out %v: %d %ss, want %d, or others", held, len(part.list), all.noun, len(want))
		}
	}
}

// No item is on both sides, and pairs add up; distances and cosines do not depend on the scale of the vectors.
func TestEvaluateVectors(t *testing.T) {
	f, x, links := vectorSet(t, 150, 12, 900, false)
	all := Must(ofPairs.read(f, links))
	checkParts(t, all)
	_, ts := comparedVectors(150, 12, 900)
	checkParts(t, Must(ofComparisons.read(f, ts)))
	r, plan := Recipe{Learner: "itml"}, Plan{Repeats: 8}
	e := MustEvaluate(t, PairsOfVectors(f, links), r, plan)
	all.reorder()
	for s := range 8 {
		d, _, err := all.divide(itemsOf(1, s), s, 45)
		matrix.ToUnit(d.test.x)
		if want := slowAUC(sqDistsOf(metric.Euclidean{}, d.test.x, d.test.list), d.test.list); err != nil || math.Abs(e.Of(Cosine, MeasureAUC).Values[s]-want) > 1e-12 {
			t.Errorf("split %d: cosine %v, want %v", s, e.Of(Cosine, MeasureAUC).Values[s], want)
		}
		if e.Train[s]+e.Test[s]+e.Dropped[s] != len(links) {
			t.Errorf("split %d: %d + %d + %d pairs of %d", s, e.Train[s], e.Test[s], e.Dropped[s], len(links))
		}
	}
	learned, euclidean := e.Of("itml", MeasureAUC), e.Of(Euclidean, MeasureAUC)
	if e.Items != 150 || e.Known != 900 || e.Similar != 450 || learned.Summary.Mean < .95 || euclidean.Summary.Mean > .8 || !e.Minus(Cosine, MeasureAUC).Summary.HasInterval {
		t.Errorf("%+v", e)
	}
	x.Scale(1e3, x)
	scaled := MustEvaluate(t, PairsOfVectors(vectorFile(t, x, false), links), r, plan)
	if !floats.EqualApprox(scaled.Of("itml", MeasureAUC).Values, learned.Values, 1e-6) || !slices.Equal(scaled.Of(Euclidean, MeasureAUC).Values, euclidean.Values) {
		t.Error("another answer for scaled vectors")
	}
}

func TestVectorErrors(t *testing.T) {
	f, _, links := vectorSet(t, 30, 3, 40, false)
	similar := slices.DeleteFunc(slices.Clone(links), func(l metric.Link) bool { return l.Label != metric.Similar })
	_, ts := comparedVectors(30, 3, 30)
	for want, c := range map[string]struct {
		pr Problem
		r  Recipe
	}{
		"rank: 4 is not allowed, want 1 to 3":        {PairsOfVectors(f, links), Recipe{Learner: "itml", Rank: 4}},
		"rank: 5 is not allowed, want 1 to 3":        {ComparisonsOfVectors(f, ts), Recipe{Learner: "itml", Rank: 5}},
		`unknown parameter "bound-pairs"`:            {PairsOfVectors(f, links), Recipe{Learner: "iplr", Params: map[string]string{"bound-pairs": "3"}}},
		"no pairs, want at least one":                {PairsOfVectors(f, nil), Recipe{Learner: "itml"}},
		"link 0":                                     {PairsOfVectors(f, []metric.Link{{I: 0, J: 30, Label: metric.Similar}}), Recipe{Learner: "itml"}},
		"k: 31 is not allowed, want 1 to the number": {PairsOfVectors(f, links), Recipe{Learner: "iplr", Params: map[string]string{"k": "31", "basis": "rows"}}},
		"no comparisons, want at least one":          {ComparisonsOfVectors(f, nil), Recipe{Learner: "itml"}},
		"names row 30, want 0 to 29":                 {ComparisonsOfVectors(f, []metric.Triplet{{A: 0, Near: 1, Far: 30}}), Recipe{Learner: "itml"}},
		"want three rows":                            {ComparisonsOfVectors(f, []metric.Triplet{{A: 0, Near: 1, Far: 1}}), Recipe{Learner: "itml"}},
	} {
		Refused(t, "fit", ErrorOf(Fit(t.Context(), c.pr, c.r, nil)), want)
		if !strings.HasPrefix(want, "k: 31") { // of a part of the vectors
			Refused(t, "evaluate", ErrorOf(Evaluate(t.Context(), c.pr, c.r, Plan{})), want)
		}
	}
	Refused(t, "similar pairs alone", ErrorOf(Evaluate(t.Context(), PairsOfVectors(f, similar), Recipe{Learner: "lego"}, Plan{})), "no training pair is dissimilar")
	if m := mustFitVectors(t, f, similar, Recipe{Learner: "rca"}); m.Report().Wrong != 0 {
		t.Errorf("rca of similar pairs: %+v", m.Report())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, learner := range []string{"pola", "itml", "iplr"} {
		Refused(t, learner, ErrorOf(Fit(ctx, PairsOfVectors(f, links), Recipe{Learner: learner}, nil)), context.Canceled)
	}
	Limit(t, 500)
	Refused(t, "limit", ErrorOf(Fit(t.Context(), PairsOfVectors(f, links), Recipe{Learner: "pola"}, nil)), "limit")
}

// Vectors that coincide, are zero, or lie far out give an error or a metric, and no panic.
func TestHostileVectors(t *testing.T) {
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 2, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Similar}}
	for _, data := range [][]float64{
		{0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {1e300, 0, -1e300, 0, 0, 1e300}, {1e-300, 0, 0, 1e-300, 0, 0}, {math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64, 0, 0, 0}, {5e-324, 0, 0, 0, 0, 5e-324},
	} {
		f := vectorFile(t, mat.NewDense(3, 2, data), false)
		for _, e := range VectorLearners() {
			for _, r := range []Recipe{{Learner: e.Name}, {Learner: e.Name, Unit: true, Rank: 1}, {Learner: e.Name, Raw: true}} {
				m, err := Fit(t.Context(), PairsOfVectors(f, links), r, nil)
				if err != nil {
					continue
				}
				if _, err := LoadVectors(bytes.NewReader(persisttest.Saved(m))); err != nil {
					t.Errorf("%+v on %v: what was saved is not loaded: %v", r, data, err)
				}
			}
		}
	}
	_, x, links := vectorSet(t, 60, 3, 100, false)
	x.Scale(1e300, x) // squares overflow
	if c := MustCompare(t, PairsOfVectors(vectorFile(t, x, false), links), Recipe{}, []string{Euclidean}, Comparing{}); len(c.Ranked) > 0 || !strings.Contains(c.Others[0].Reason, "overflow") {
		t.Errorf("%+v", c)
	}
}

// Of a survey of 200 answers, folds of questions drop none, keep both answers to a question on one side, and tell the error to 8 points.
func TestFoldsOfQuestions(t *testing.T) {
	x, ts := comparedVectors(60, 8, 200)
	for i := range 10 { // asked twice, and answered the other way
		ts[199-i] = metric.Triplet{A: ts[i].A, Near: ts[i].Far, Far: ts[i].Near}
	}
	file := vectorFile(t, mat.NewDense(60, 8, x), false)
	e := MustEvaluate(t, ComparisonsOfVectors(file, ts), Recipe{Learner: "itml"}, Plan{Folds: 5})
	if len(e.Train) != 50 || slices.Max(e.Dropped) != 0 {
		t.Errorf("%d splits, %v dropped", len(e.Train), e.Dropped)
	}
	if s := e.Of("itml", MeasureTriplets).Summary; !(s.Half < .08) {
		t.Errorf("error %s", s.Percent())
	}
	all := Must(ofComparisons.read(file, ts))
	seen := map[int]int{}
	for fold := range 5 {
		d := Must(all.folded(itemsOf(1, 0), fold, 5))
		sides := map[[3]int]bool{}
		for held, side := range map[bool]*known[metric.Triplet]{false: d.train, true: d.test} {
			for _, v := range side.list {
				q := side.question(metric.Triplet{A: side.rows[v.A], Near: side.rows[v.Near], Far: side.rows[v.Far]})
				if was, ok := sides[q]; ok && was != held {
					t.Fatalf("fold %d: a question is on both sides", fold)
				}
				sides[q] = held
			}
		}
		seen[fold] = len(d.test.list)
	}
	if total := seen[0] + seen[1] + seen[2] + seen[3] + seen[4]; total != len(ts) {
		t.Errorf("%d answers are held out once, want %d", total, len(ts))
	}
	for want, p := range map[string]Plan{"folds and test-share": {Folds: 5, Share: .5}, "folds: 1": {Folds: 1}, "folds: 191": {Folds: 191}} {
		Refused(t, want, ErrorOf(Evaluate(t.Context(), ComparisonsOfVectors(file, ts), Recipe{Learner: "itml"}, p)), want)
	}
}
