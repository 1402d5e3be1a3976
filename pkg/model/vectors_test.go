package model

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
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
	w, err := vectors.Create(path, n, d, float32s)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmp.Or(w.WriteRows(x.RawMatrix().Data, 0), w.Commit()); err != nil {
		t.Fatal(err)
	}
	f, err := vectors.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func mustFitVectors(t testing.TB, f *vectors.File, links []metric.Link, r VectorRecipe) *Vectors {
	t.Helper()
	m, err := FitVectors(t.Context(), f, links, r, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
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
		l, err := pairs.NewPA(7, pairs.PAParams{Rule: pairs.PAI})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, link := range links {
				if _, err := l.Step(metric.Pair{X: y.RawRowView(link.I), Y: y.RawRowView(link.J), Label: link.Label}); err != nil {
					t.Fatal(err)
				}
			}
		}
		want["pa"] = l.Metric()
		r, err := itml.Fit(t.Context(), y, links, itml.Params{})
		if err != nil {
			t.Fatal(err)
		}
		want["itml"] = r.Metric
		for _, recipe := range []VectorRecipe{{Learner: "pa", Params: map[string]string{"rule": "pa1"}, Passes: 2, Unit: unit}, {Learner: "logdet", Unit: unit}} {
			m := mustFitVectors(t, f, links, recipe)
			a := want[m.Recipe().Learner]
			z, err := m.Embed(x)
			if err != nil {
				t.Fatal(err)
			}
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
			factor, err := m.Factor()
			if err != nil {
				t.Fatal(err)
			}
			if l := links[0]; math.Abs(factor.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))-sq[0]) > 1e-9*(1+sq[0]) {
				t.Errorf("%s: Factor gives another distance", recipe.Learner)
			}
		}
	}
}

// errorsAt counts links on the wrong side of b, leastErrors those of the best b.
func errorsAt(sq []float64, links []metric.Link, b float64) int {
	n := 0
	for i, l := range links {
		if (sq[i] <= b) != (l.Label == metric.Similar) {
			n++
		}
	}
	return n
}

func leastErrors(sq []float64, links []metric.Link) int {
	least := errorsAt(sq, links, -1)
	for _, b := range sq {
		least = min(least, errorsAt(sq, links, b))
	}
	return least
}

func TestThresholdAndAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 2 + rng.IntN(12)
		sq, links := make([]float64, n), make([]metric.Link, n)
		for i := range sq {
			sq[i] = float64(1 + rng.IntN(6)) // with ties
			links[i].Label = metric.SameClass(i != 0 && (i == 1 || rng.IntN(2) == 0))
		}
		b, wrong := bestThreshold(sq, links)
		if got := errorsAt(sq, links, b); got != wrong || wrong != leastErrors(sq, links) || b < 0 {
			t.Fatalf("%v %v: %d errors at %v, told %d, least %d", sq, links, got, b, wrong, leastErrors(sq, links))
		}
		var won, all float64
		for i := range sq {
			for j := range sq {
				if links[i].Label == metric.Similar && links[j].Label == metric.Dissimilar {
					all++
					if sq[i] < sq[j] {
						won++
					} else if sq[i] == sq[j] {
						won += .5
					}
				}
			}
		}
		if got := auc(sq, links); math.Abs(got-won/all) > 1e-12 {
			t.Fatalf("%v %v: AUC %v, want %v", sq, links, got, won/all)
		}
	}
}

func TestRecall(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n, k := 3+rng.IntN(20), 1+rng.IntN(6)
		z := mat.NewDense(n, 3, nil)
		z.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, z)
		var links []metric.Link
		for range 2 * n {
			if i, j := rng.IntN(n), rng.IntN(n); i != j {
				links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(rng.IntN(2) == 0)})
			}
		}
		links = append(links, metric.Link{I: 0, J: 1, Label: metric.Similar})
		var sum float64
		asked := 0
		for i := range n {
			alike := map[int]bool{}
			for _, l := range links {
				if l.Label == metric.Similar && (l.I == i || l.J == i) {
					alike[l.I+l.J-i] = true
				}
			}
			if len(alike) == 0 {
				continue
			}
			asked++
			var order []int
			for j := range n {
				if j != i {
					order = append(order, j)
				}
			}
			slices.SortFunc(order, func(a, b int) int {
				return cmp.Compare(floats.Distance(z.RawRowView(i), z.RawRowView(a), 2), floats.Distance(z.RawRowView(i), z.RawRowView(b), 2))
			})
			hits := 0
			for _, j := range order[:min(k, len(order))] {
				if alike[j] {
					hits++
				}
			}
			sum += float64(hits) / float64(len(alike))
		}
		got, err := recall(t.Context(), metric.Euclidean{}, z, links, k)
		if err != nil || math.Abs(got-sum/float64(asked)) > 1e-12 {
			t.Fatalf("recall %v, want %v, %v", got, sum/float64(asked), err)
		}
	}
}

// Of the eigenvectors of M, those of the k largest eigenvalues are kept, and the rest of the trace is told.
func TestRank(t *testing.T) {
	f, x, links := vectorSet(t, 60, 6, 100, false)
	whole := mustFitVectors(t, f, links, VectorRecipe{Learner: "lego"})
	a, err := whole.Factor()
	if err != nil {
		t.Fatal(err)
	}
	var eig mat.EigenSym
	if !eig.Factorize(a.M(), true) {
		t.Fatal("no eigenvalues")
	}
	values := eig.Values(nil)
	var q mat.Dense
	eig.VectorsTo(&q)
	for k := 1; k <= 6; k++ {
		m := mustFitVectors(t, f, links, VectorRecipe{Learner: "lego", Rank: k})
		if lost := floats.Sum(values[:6-k]) / floats.Sum(values); m.Rows() != k || math.Abs(m.Report().Lost-lost) > 1e-9 {
			t.Errorf("rank %d: %d rows, %v lost, want %v", k, m.Rows(), m.Report().Lost, lost)
		}
		z, err := m.Embed(x)
		if err != nil {
			t.Fatal(err)
		}
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
	if m := mustFitVectors(t, f, links[:2], VectorRecipe{Learner: "pola", Rank: 5}); m.Rows() > 2 || m.Report().Lost != 0 {
		t.Errorf("rank 5 of 2 pairs: %d rows, %v lost", m.Rows(), m.Report().Lost)
	}
}

// A saved model embeds to the same bits; a metric and a saved learner embed as they are.
func TestSaveVectors(t *testing.T) {
	f, x, links := vectorSet(t, 60, 5, 100, false)
	for _, learner := range []string{"pola", "lego", "itml", "iplr", "rca", "pola-batch"} {
		m := mustFitVectors(t, f, links, VectorRecipe{Learner: learner, Unit: learner == "lego"})
		var b bytes.Buffer
		if err := m.Save(&b); err != nil {
			t.Fatal(err)
		}
		n, err := LoadVectors(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		z, _ := m.Embed(x)
		w, err := n.Embed(x)
		if err != nil || !mat.Equal(z, w) || n.Threshold() != m.Threshold() || n.LearnerVersion() != m.LearnerVersion() || n.Recipe().Learner != learner {
			t.Errorf("%s: another model was loaded: %v", learner, err)
		}
		if _, err := Load(bytes.NewReader(b.Bytes())); !errors.Is(err, persist.ErrKind) {
			t.Errorf("%s: Load: %v", learner, err)
		}
		if m.Report().Items != 60 && m.Report().Items < 50 {
			t.Errorf("%s: %d items", learner, m.Report().Items)
		}
	}
	l, err := pairs.NewLEGO(5, pairs.LEGOParams{})
	if err != nil {
		t.Fatal(err)
	}
	a := metric.FromFactor(mat.NewDense(1, 5, []float64{1, 2, 3, 4, 5}))
	for want, s := range map[float64]persist.Saver{5: l, math.Inf(1): a} {
		var b bytes.Buffer
		if err := s.Save(&b); err != nil {
			t.Fatal(err)
		}
		m, err := LoadVectors(&b)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Threshold(); got != want && !(math.IsInf(want, 1) && math.IsNaN(got)) {
			t.Errorf("threshold %v", got)
		}
		if m.Recipe().Learner != "" || m.Save(&b) == nil {
			t.Error("a model without a recipe is saved")
		}
	}
}

func TestLoadVectorsDamaged(t *testing.T) {
	f, _, links := vectorSet(t, 30, 3, 40, false)
	m := mustFitVectors(t, f, links, VectorRecipe{Learner: "lego"})
	var inner bytes.Buffer
	if err := metric.Identity(3).Save(&inner); err != nil {
		t.Fatal(err)
	}
	good := vectorState{VectorVersion, 1, 2, 1, 3, 4, 0, inner.Bytes()}
	for name, change := range map[string]func(*VectorRecipe, *vectorState){
		"learner":   func(r *VectorRecipe, _ *vectorState) { r.Learner = "" },
		"params":    func(r *VectorRecipe, _ *vectorState) { r.Params = nil },
		"rank":      func(r *VectorRecipe, _ *vectorState) { r.Rank = 4 },
		"passes":    func(r *VectorRecipe, _ *vectorState) { r.Passes = -1 },
		"scale":     func(_ *VectorRecipe, s *vectorState) { s.Scale = 0 },
		"raw":       func(r *VectorRecipe, _ *vectorState) { r.Raw = true },
		"threshold": func(_ *VectorRecipe, s *vectorState) { s.Threshold = -1 },
		"similar":   func(_ *VectorRecipe, s *vectorState) { s.Similar = -1 },
		"version":   func(_ *VectorRecipe, s *vectorState) { s.Version = -1 },
		"metric":    func(_ *VectorRecipe, s *vectorState) { s.Metric = []byte(`{}`) },
		"compared": func(r *VectorRecipe, s *vectorState) {
			r.Triplets, s.Similar, s.Dissimilar, s.Triplets = true, 0, 0, 1 // and a threshold
		},
		"none": nil,
	} {
		r, s := m.Recipe(), good
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

// Rows written are those of Embed, whatever the number of goroutines.
func TestTransformVectors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	const n, d = 9000, 70 // several blocks
	f, x, links := vectorSet(t, n, d, 300, true)
	for _, r := range []VectorRecipe{{Learner: "lego"}, {Learner: "iplr", Unit: true}, {Learner: "lego", Rank: 3}} {
		m := mustFitVectors(t, f, links, r)
		want, err := m.Embed(x)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "y.npy")
		w, err := vectors.Create(path, n, m.Rows(), false)
		if err != nil {
			t.Fatal(err)
		}
		last := 0
		if err := m.Transform(t.Context(), f, w, func(done, _ int) { last = max(last, done) }); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil || last != n {
			t.Fatalf("%v, %d rows told", err, last)
		}
		y, err := vectors.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := y.Select([]int{0, 1, n / 2, n - 1})
		if err != nil {
			t.Fatal(err)
		}
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
	m := mustFitVectors(t, f, links, VectorRecipe{Learner: "lego"})
	out := func() *vectors.Writer {
		w, err := vectors.Create(filepath.Join(t.TempDir(), "y.npy"), 4000, 70, true)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Abort)
		return w
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Transform(ctx, f, out(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	zero := &Vectors{scale: 1, metric: metric.Zero(70)}
	if err := zero.Transform(t.Context(), f, out(), nil); !errors.Is(err, ErrZero) {
		t.Errorf("rank 0: %v", err)
	}
	x.Set(3999, 5, 1e38)
	x.Set(100, 5, 3e38)
	big := vectorFile(t, x, true)
	grow := &Vectors{scale: 1e5, metric: metric.Identity(70)}
	if err := grow.Transform(t.Context(), big, out(), nil); err == nil || !strings.Contains(err.Error(), "row 100, column 5") {
		t.Errorf("overflow: %v", err)
	}
	if err := (&Vectors{scale: 1e300, metric: metric.Identity(70)}).Transform(t.Context(), big, out(), nil); err == nil || !strings.Contains(err.Error(), "row 0, column") {
		t.Errorf("overflow of float64: %v", err)
	}
}

// The neighbours are those of a search through all.
func TestVectorNeighbours(t *testing.T) {
	const n, d = 9000, 70
	f, x, links := vectorSet(t, n, d, 200, true)
	m := mustFitVectors(t, f, links, VectorRecipe{Learner: "lego"})
	queries := x.Slice(5, 12, 0, d)
	got, _, err := m.Neighbours(t.Context(), f, queries, 6, nil)
	if err != nil {
		t.Fatal(err)
	}
	z, err := m.Embed(x)
	if err != nil {
		t.Fatal(err)
	}
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
}

// The classes of vectors are elected by the coordinates of all others, in blocks. Vectors of zeros elect nobody, and have no class.
func TestVectorClassifier(t *testing.T) {
	const n, d, k = 9000, 70, 3
	f, x, links := vectorSet(t, n, d, 200, true)
	m := mustFitVectors(t, f, links, VectorRecipe{Learner: "lego", Unit: true})
	for _, row := range []int{4, 8000} {
		x.SetRow(row, make([]float64, d))
	}
	f = vectorFile(t, x, true)
	classes := make([]string, n)
	for i := range classes {
		classes[i] = string(rune('a' + i*i%7%3))
	}
	h, err := m.Classifier(t.Context(), f, classes, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	var idx, y []int
	for i := range n {
		if i != 4 && i != 8000 {
			idx, y = append(idx, i), append(y, int(classes[i][0]-'a'))
		}
	}
	z, err := m.Embed(rowsOf(x, idx))
	if err != nil {
		t.Fatal(err)
	}
	voters, err := nearest.NewVoters(metric.Euclidean{}, z, y)
	if err != nil {
		t.Fatal(err)
	}
	want, err := voters.Elect(t.Context(), z, k)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := m.Classifier(t.Context(), vectorFile(t, x, true), classes, k, nil); err == nil || !strings.Contains(err.Error(), "without direction, and no other") {
		t.Errorf("zeros alone: %v", err)
	}
}

// A plot of many vectors draws a sample, each with its own class, and says so.
func TestPlotVectors(t *testing.T) {
	const n, d = MaxPoints + 700, 6
	f, x, links := vectorSet(t, n, d, 200, false)
	m := mustFitVectors(t, f, links, VectorRecipe{Learner: "lego"})
	classes := make([]string, n)
	for i := range classes {
		classes[i] = map[bool]string{true: "left", false: "right"}[x.At(i, 0) < 0]
	}
	p, err := m.Plot(t.Context(), f, classes)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{}
	idx := sampled(n)
	for _, i := range idx {
		want["class "+classes[i]]++
	}
	for _, mark := range p.Panels[0].Marks {
		points := mark.(plots.Points)
		want[points.Name] -= len(points.X)
	}
	if p.Points != MaxPoints || p.Of != n || len(p.Shares) != 2 || !strings.HasPrefix(p.Caption, fmt.Sprintf("A sample of %d of %d vectors", MaxPoints, n)) || want["class left"] != 0 || want["class right"] != 0 || len(want) != 2 {
		t.Errorf("%d of %d points, shares %v: %s; off by %v", p.Points, p.Of, p.Shares, p.Caption, want)
	}
	if !slices.IsSorted(idx) || idx[0] < 0 || idx[len(idx)-1] >= n || len(slices.Compact(slices.Clone(idx))) != MaxPoints || idx[len(idx)-1] < MaxPoints {
		t.Errorf("a sample from %d to %d", idx[0], idx[len(idx)-1])
	}
}

// No item is on both sides, and what is printed of pairs adds up; more goroutines change nothing.
func TestEvaluateVectors(t *testing.T) {
	f, x, links := vectorSet(t, 150, 12, 900, false)
	all, err := readNamed(f, links)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := all.x.Dims()
	out := make([]bool, n)
	for i := range n / 3 {
		out[i] = true
	}
	train, test := all.part(out, false), all.part(out, true)
	rows := map[string]bool{}
	for i := range train.x.RawMatrix().Rows {
		rows[string(strconvRow(train.x.RawRowView(i)))] = true
	}
	for i := range test.x.RawMatrix().Rows {
		if rows[string(strconvRow(test.x.RawRowView(i)))] {
			t.Error("an item is on both sides")
		}
	}
	k := 0
	for _, l := range all.links {
		if !out[l.I] && !out[l.J] {
			got := train.links[k]
			if !slices.Equal(train.x.RawRowView(got.I), all.x.RawRowView(l.I)) || !slices.Equal(train.x.RawRowView(got.J), all.x.RawRowView(l.J)) || got.Label != l.Label {
				t.Fatalf("pair %d is another", k)
			}
			k++
		}
	}
	if k != len(train.links) {
		t.Errorf("%d pairs to learn from, want %d", len(train.links), k)
	}
	recipe := VectorRecipe{Learner: "itml"}
	e, err := EvaluateVectors(t.Context(), f, links, recipe, VectorPlan{Splits: 8})
	if err != nil {
		t.Fatal(err)
	}
	for s := range 8 {
		if e.Train[s]+e.Test[s]+e.Dropped[s] != len(links) {
			t.Errorf("split %d: %d + %d + %d pairs of %d", s, e.Train[s], e.Test[s], e.Dropped[s], len(links))
		}
		if e.Learner.AUC[s]-e.Cosine.AUC[s] != e.OverCosine.AUC[s] || e.Learner.Recall[s]-e.Euclidean.Recall[s] != e.OverEuclidean.Recall[s] {
			t.Errorf("split %d: differences", s)
		}
	}
	if e.Items != n || e.Similar != 450 || e.Dissimilar != 450 || e.Learner.AUCSummary.Mean < .95 || e.Euclidean.AUCSummary.Mean > .8 || !e.OverCosine.AUCSummary.HasInterval {
		t.Errorf("%+v", e)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, err := EvaluateVectors(t.Context(), f, links, recipe, VectorPlan{Splits: 8})
	if err != nil || !slices.Equal(again.Learner.AUC, e.Learner.AUC) || !slices.Equal(again.Learner.Error, e.Learner.Error) || !slices.Equal(again.Learner.Recall, e.Learner.Recall) {
		t.Errorf("another answer on one goroutine: %v", err)
	}
	// Distances and cosines do not depend on the scale of the vectors.
	x.Scale(1e3, x)
	scaled, err := EvaluateVectors(t.Context(), vectorFile(t, x, false), links, recipe, VectorPlan{Splits: 8})
	if err != nil || !floats.EqualApprox(scaled.Learner.AUC, e.Learner.AUC, 1e-6) || !slices.Equal(scaled.Euclidean.AUC, e.Euclidean.AUC) {
		t.Errorf("another answer for scaled vectors: %v", err)
	}
}

func strconvRow(row []float64) []byte {
	var b bytes.Buffer
	for _, v := range row {
		b.WriteByte(byte(math.Float64bits(v)))
		b.WriteByte(byte(math.Float64bits(v) >> 32))
		b.WriteByte(byte(math.Float64bits(v) >> 48))
	}
	return b.Bytes()
}

func TestVectorErrors(t *testing.T) {
	f, _, links := vectorSet(t, 30, 3, 40, false)
	similar := slices.DeleteFunc(slices.Clone(links), func(l metric.Link) bool { return l.Label != metric.Similar })
	for want, c := range map[string]struct {
		links []metric.Link
		r     VectorRecipe
	}{
		"unknown learner":                            {links, VectorRecipe{Learner: "none"}},
		"kernel-pola does not learn a linear map":    {links, VectorRecipe{Learner: "kernel-pola"}},
		"lmnn does not learn a linear map":           {links, VectorRecipe{Learner: "lmnn"}},
		"passes: 2 does not apply to itml":           {links, VectorRecipe{Learner: "itml", Passes: 2}},
		"rank: 4 is not allowed, want 1 to 3":        {links, VectorRecipe{Learner: "itml", Rank: 4}},
		"rank: -1 is not allowed":                    {links, VectorRecipe{Learner: "itml", Rank: -1}},
		`unknown parameter "bound-pairs"`:            {links, VectorRecipe{Learner: "iplr", Params: map[string]string{"bound-pairs": "3"}}},
		"no pairs, want at least one":                {nil, VectorRecipe{Learner: "itml"}},
		"link 0":                                     {[]metric.Link{{I: 0, J: 30, Label: metric.Similar}}, VectorRecipe{Learner: "itml"}},
		"k: 31 is not allowed, want 1 to the number": {links, VectorRecipe{Learner: "iplr", Params: map[string]string{"k": "31", "basis": "rows"}}},
	} {
		if _, err := FitVectors(t.Context(), f, c.links, c.r, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	for want, p := range map[string]VectorPlan{
		"k: -1 is not allowed": {K: -1}, "test-share: 1 is not allowed": {Share: 1}, "splits: -2 is not allowed": {Splits: -2},
		"test-share: 0.01 of": {Share: 0.01},
	} {
		if _, err := EvaluateVectors(t.Context(), f, links, VectorRecipe{Learner: "lego"}, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := EvaluateVectors(t.Context(), f, similar, VectorRecipe{Learner: "lego"}, VectorPlan{}); err == nil || !strings.Contains(err.Error(), "no training pair is dissimilar") {
		t.Errorf("similar pairs alone: %v", err)
	}
	if m := mustFitVectors(t, f, similar, VectorRecipe{Learner: "rca"}); m.Report().Wrong != 0 {
		t.Errorf("rca of similar pairs: %+v", m.Report())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, learner := range []string{"pola", "itml", "iplr"} {
		if _, err := FitVectors(ctx, f, links, VectorRecipe{Learner: learner}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", learner, err)
		}
	}
	limits.SetMemory(500)
	defer limits.SetMemory(0)
	if _, err := FitVectors(t.Context(), f, links, VectorRecipe{Learner: "pola"}, nil); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("limit: %v", err)
	}
}

// Vectors that coincide, are zero, or lie far out give an error or a metric, and no panic.
func TestHostileVectors(t *testing.T) {
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 2, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Similar}}
	for _, data := range [][]float64{
		{0, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1}, {1e300, 0, -1e300, 0, 0, 1e300}, {1e-300, 0, 0, 1e-300, 0, 0}, {math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64, 0, 0, 0}, {5e-324, 0, 0, 0, 0, 5e-324},
	} {
		f := vectorFile(t, mat.NewDense(3, 2, data), false)
		for _, e := range VectorLearners() {
			for _, r := range []VectorRecipe{{Learner: e.Name}, {Learner: e.Name, Unit: true, Rank: 1}, {Learner: e.Name, Raw: true}} {
				m, err := FitVectors(t.Context(), f, links, r, nil)
				if err != nil {
					continue
				}
				var b bytes.Buffer
				if err := m.Save(&b); err != nil {
					t.Errorf("%s on %v: %v", e.Name, data, err)
				} else if _, err := LoadVectors(&b); err != nil {
					t.Errorf("%+v on %v: what was saved is not loaded: %v", r, data, err)
				}
			}
		}
	}
}
