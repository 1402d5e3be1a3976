package pairs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/metric"
)

// table returns n points around as many centres as there are classes, and m links
// between random rows, similar iff of the same class but for one in twenty; row 0 is
// linked to itself.
func table(rng *rand.Rand, n, dim, classes, m int) (*mat.Dense, []metric.Link) {
	x := mat.NewDense(n, dim, nil)
	centres := make([][]float64, classes)
	for c := range centres {
		centres[c] = randn(rng, dim)
	}
	for i := range n {
		for j := range dim {
			x.Set(i, j, (centres[i%classes][j]+rng.NormFloat64())/math.Sqrt(float64(dim)))
		}
	}
	links := make([]metric.Link, m)
	for k := range links {
		i, j := rng.IntN(n), rng.IntN(n)
		links[k] = metric.Link{I: i, J: j, Label: metric.SameClass(i%classes == j%classes)}
		if rng.IntN(20) == 0 {
			links[k].Label = -links[k].Label
		}
	}
	links[0] = metric.Link{I: 0, J: 0, Label: metric.Similar}
	return x, links
}

func atEnd() []PAParams {
	return slices.DeleteFunc(slices.Concat(allPA(), tolerant()), func(p PAParams) bool { return p.PSD == PSDEachStep })
}

// sameTol bounds the difference between PA and RecurringPA after thousands of
// steps, relative to the sizes involved: each step leaves some ε of its term in both.
const sameTol = 1e-10

// Over many passes in random order the outcomes, thresholds and matrices are those
// of PA, and so is what follows after the learner went on as a PA.
func TestRecurringIsPA(t *testing.T) {
	const passes = 100
	for _, p := range atEnd() {
		t.Run(p.String(), func(t *testing.T) {
			for _, c := range []struct{ n, dim, classes, m int }{{60, 3, 2, 80}, {90, 13, 3, 240}, {40, 70, 4, 150}} {
				rng := rand.New(rand.NewPCG(60, uint64(c.dim)))
				x, links := table(rng, c.n, c.dim, c.classes, c.m)
				r := must(NewRecurring(x, links))
				if r.Len() != c.m || r.Dim() != c.dim || r.Label(1) != links[1].Label {
					t.Fatalf("%d pairs in %d dimensions", r.Len(), r.Dim())
				}
				pair := func(i int) metric.Pair {
					return metric.Pair{X: x.RawRowView(links[i].I), Y: x.RawRowView(links[i].J), Label: links[i].Label}
				}
				l, want := must(NewRecurringPA(r, p)), must(NewPA(c.dim, p))
				updates, largest := 0, 1.0
				for pass := range passes {
					for _, i := range rng.Perm(c.m) {
						o, err := l.Step(i)
						if err != nil {
							t.Fatal(err)
						}
						w := mustOutcome(t, want, pair(i))
						largest = max(largest, math.Abs(w.Prediction.SqDist))
						off := math.Abs(o.Prediction.SqDist-w.Prediction.SqDist) + math.Abs(o.Loss-w.Loss) + math.Abs(o.StepSize-w.StepSize)
						// A slack of the size of round-off is an update of one or the other.
						if off > sameTol*largest || o.Updated != w.Updated && math.Abs(o.StepSize-w.StepSize) < math.Abs(w.StepSize)/2 {
							t.Fatalf("d = %d, pass %d, pair %d: %+v, PA %+v", c.dim, pass, i, o, w)
						}
						if o.Updated {
							updates++
						}
					}
				}
				if updates < 5*passes {
					t.Errorf("d = %d: only %d updates", c.dim, updates)
				}
				again := l.Learner()
				size := mat.Norm(want.Matrix(), 2)
				if d := matrixtest.Distance(again.Matrix(), want.Matrix()); d > sameTol*size || math.Abs(l.Threshold()-want.Threshold()) > sameTol*largest {
					t.Errorf("d = %d: ‖M − M of PA‖ = %v, ‖M‖ = %v, b = %v, %v", c.dim, d, size, l.Threshold(), want.Threshold())
				}
				m, b := l.Final()
				wantM, wantB := want.Final()
				if d := matrixtest.Distance(m.M(), wantM.M()); d > sameTol*size || math.Abs(b-wantB) > sameTol*largest {
					t.Errorf("d = %d: the last M is off by %v, b = %v, %v", c.dim, d, b, wantB)
				}
				if again.Params() != want.Params() || l.Params() != p {
					t.Errorf("d = %d: parameters %v, %v", c.dim, again.Params(), l.Params())
				}
				for i := range 50 {
					o, w := mustOutcome(t, again, pair(i)), mustOutcome(t, want, pair(i))
					if math.Abs(o.StepSize-w.StepSize) > sameTol*largest {
						t.Fatalf("d = %d: gone on as PA, pair %d: %+v, want %+v", c.dim, i, o, w)
					}
				}
			}
		})
	}
}

func TestRecurringConformance(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	x, links := table(rng, 40, 5, 2, 60)
	r := must(NewRecurring(x, links))
	rounds := make([]int, 150)
	for k := range rounds {
		rounds[k] = rng.IntN(len(links))
	}
	for _, p := range atEnd() {
		learnertest.Suite[int, learners.PairPrediction, *RecurringPA]{
			New:    func() *RecurringPA { return must(NewRecurringPA(r, p)) },
			Rounds: rounds,
			Bad:    map[string]int{"−1": -1, "m": len(links)},
			Snapshot: func(l *RecurringPA) func() []float64 {
				m := l.Metric()
				return func() []float64 { return m.M().RawSymmetric().Data }
			},
		}.Run(t)
	}
}

func TestRecurringErrors(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	link := metric.Link{I: 0, J: 1, Label: metric.Similar}
	for _, c := range []struct {
		x     *mat.Dense
		links []metric.Link
		want  string
	}{
		{x, nil, "links: none"},
		{x, []metric.Link{{I: 0, J: 1}}, "link 0: label 0"},
		{x, []metric.Link{link, {I: 0, J: 2, Label: 1}}, "link 1: row 2"},
		{mat.NewDense(2, 1, []float64{0, math.NaN()}), []metric.Link{link}, "NaN"},
		{mat.NewDense(2, 1, []float64{0, 1e80}), []metric.Link{link}, "links 0 and 0"},
		{mat.NewDense(3, 1, []float64{0, 1, 1e160}), []metric.Link{link, {I: 0, J: 2, Label: 1}}, "links 0 and 1"},
	} {
		if _, err := NewRecurring(c.x, c.links); err == nil || !strings.HasPrefix(err.Error(), "recurring: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	r := must(NewRecurring(x, []metric.Link{link}))
	for _, c := range []struct {
		p    PAParams
		want string
	}{
		{PAParams{}, "psd: PSDEachStep is not allowed"},
		{PAParams{PSD: PSDAtEnd, C: -1}, "c: -1"},
		{PAParams{PSD: PSDAtEnd, Tol: 1}, "tol: 1 is not allowed with rule pa"},
	} {
		if _, err := NewRecurringPA(r, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func ExampleNewRecurringPA() {
	x := mat.NewDense(4, 2, []float64{0, 0, 0, 1, 2, 0, 2, 1}) // two classes, apart along the first axis
	r, err := NewRecurring(x, []metric.Link{
		{I: 0, J: 1, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Similar},
		{I: 0, J: 2, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Dissimilar},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := NewRecurringPA(r, PAParams{Rule: PAII, C: 10, PSD: PSDAtEnd})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 100 {
		for i := range r.Len() {
			if _, err := l.Step(i); err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	for i := range r.Len() {
		fmt.Printf("%-11vd² = %.1f\n", r.Label(i), l.Predict(i).SqDist)
	}
	fmt.Printf("b = %.1f\n", l.Threshold())
	// Output:
	// similar    d² = -0.5
	// similar    d² = -0.5
	// dissimilar d² = 1.8
	// dissimilar d² = 1.5
	// b = 0.5
}

// BenchmarkPA is one step of a long stream over m = 40c(c−1) pairs that recur, at
// the sizes of the paper's data sets, in both representations. Of RecurringPA it
// says also how many of the steps made an update: the others are a look-up.
func BenchmarkPA(b *testing.B) {
	for _, c := range []struct {
		data            string
		n, dim, classes int
	}{{"wine", 120, 13, 3}, {"ionosphere", 230, 34, 2}, {"mfeat", 1000, 111, 10}, {"nist16", 1000, 256, 10}} {
		m := 40 * c.classes * (c.classes - 1)
		rng := rand.New(rand.NewPCG(62, 1))
		x, links := table(rng, c.n, c.dim, c.classes, m)
		order := make([]int, 1<<16)
		for k := range order {
			order[k] = rng.IntN(m)
		}
		p := PAParams{Rule: PALS, C: 1, PSD: PSDAtEnd}
		b.Run(fmt.Sprintf("data=%s/alg=PA/dim=%d/pairs=%d", c.data, c.dim, m), func(b *testing.B) {
			l := must(NewPA(c.dim, p))
			pairs := make([]metric.Pair, m)
			for k, link := range links {
				pairs[k] = metric.Pair{X: x.RawRowView(link.I), Y: x.RawRowView(link.J), Label: link.Label}
			}
			for _, i := range order[:min(m, 600)] {
				mustOutcome(b, l, pairs[i])
			}
			k := 0
			for b.Loop() {
				mustOutcome(b, l, pairs[order[k%len(order)]])
				k++
			}
		})
		r := must(NewRecurring(x, links))
		for _, rule := range []PARule{PlainPA, PAI, PAII, PALS} {
			b.Run(fmt.Sprintf("data=%s/alg=RecurringPA/rule=%v/dim=%d/pairs=%d", c.data, rule, c.dim, m), func(b *testing.B) {
				l := must(NewRecurringPA(r, PAParams{Rule: rule, C: 1, PSD: PSDAtEnd}))
				step := func(k int) bool {
					o, err := l.Step(order[k%len(order)])
					if err != nil {
						b.Fatal(err)
					}
					return o.Updated
				}
				for k := range 10 * m {
					step(k)
				}
				k, updates := 0, 0
				for b.Loop() {
					if step(k) {
						updates++
					}
					k++
				}
				b.ReportMetric(float64(updates)/float64(k), "updates/op")
			})
		}
		b.Run(fmt.Sprintf("data=%s/alg=NewRecurring/dim=%d/pairs=%d", c.data, c.dim, m), func(b *testing.B) {
			for b.Loop() {
				must(NewRecurring(x, links))
			}
		})
	}
}

// BenchmarkPAStep is one step at any dimension: of a stream that never repeats a
// pair, after 500 of them.
func BenchmarkPAStep(b *testing.B) {
	for _, psd := range []PSD{PSDEachStep, PSDAtEnd} {
		for _, dim := range []int{64, 784} {
			rounds := randomLabels(rand.New(rand.NewPCG(63, uint64(dim))), dim, 1000)
			b.Run(fmt.Sprintf("alg=PA-I/psd=%v/dim=%d", psd, dim), func(b *testing.B) {
				l := must(NewPA(dim, PAParams{Rule: PAI, C: 1, PSD: psd}))
				for _, f := range rounds[:500] {
					mustOutcome(b, l, f)
				}
				i := 500
				for b.Loop() {
					mustOutcome(b, l, rounds[i%len(rounds)])
					i++
				}
			})
		}
	}
}
