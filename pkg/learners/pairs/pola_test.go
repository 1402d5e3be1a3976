package pairs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/internal/vector"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

func mustPOLA(t testing.TB, dim int, p POLAParams) *POLA {
	t.Helper()
	l, err := NewPOLA(dim, p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustStep(t testing.TB, l *POLA, f metric.Pair) learners.PairOutcome {
	t.Helper()
	o, err := l.Step(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestPOLAConformance(t *testing.T) {
	for _, p := range []POLAParams{{}, {Gamma: 0.5}, {B1: new(0.0)}, {B1: new(-3.0)}, {B1: new(5.0)}} {
		learnertest.Pairs[*POLA]{
			New:          func(dim int) (*POLA, error) { return NewPOLA(dim, p) },
			Load:         LoadPOLA,
			MinThreshold: 1,
		}.Run(t)
	}
}

// stream is a named list of rounds.
type stream struct {
	name   string
	dim    int
	params POLAParams
	rounds []metric.Pair
}

// streams are the cases for the comparison with the reference.
func streams() []stream {
	var out []stream
	add := func(name string, dim int, p POLAParams, rounds []metric.Pair) {
		out = append(out, stream{fmt.Sprintf("%s/dim=%d", name, dim), dim, p, rounds})
	}
	rng := func(i int) *rand.Rand { return rand.New(rand.NewPCG(5, uint64(i))) }
	for _, d := range []int{1, 2, 3, 12, 13, 33, 50} {
		add("overlapping", d, POLAParams{}, gaussianPairs(rng(d), d, 300, 1))
		add("random labels", d, POLAParams{}, randomLabels(rng(d), d, 300))
	}
	add("below dense order", 100, POLAParams{}, randomLabels(rng(1), 100, 160))
	add("gamma", 10, POLAParams{Gamma: 0.7}, randomLabels(rng(2), 10, 300))
	add("gamma", 40, POLAParams{Gamma: 3}, randomLabels(rng(2), 40, 200))
	for _, b1 := range []float64{-3, 0, 5} {
		add(fmt.Sprintf("b1=%g", b1), 6, POLAParams{B1: new(b1)}, randomLabels(rng(3), 6, 200))
		add(fmt.Sprintf("b1=%g", b1), 45, POLAParams{B1: new(b1)}, randomLabels(rng(3), 45, 100))
	}
	for _, d := range []int{4, 40} {
		for _, scale := range []float64{1e3, 1e-3} {
			add(fmt.Sprintf("scale=%g", scale), d, POLAParams{}, gaussianPairs(rng(4), d, 200, scale))
		}
		// The same pair again and again, with alternating labels.
		alternating := slices.Repeat(randomLabels(rng(5), d, 1), 100)
		for i := range alternating {
			alternating[i].Label = metric.SameClass(i%2 == 1)
		}
		add("alternating", d, POLAParams{}, alternating)
		// Each pair five times.
		var repeated []metric.Pair
		for _, f := range randomLabels(rng(6), d, 50) {
			repeated = append(repeated, slices.Repeat([]metric.Pair{f}, 5)...)
		}
		add("repeated", d, POLAParams{}, repeated)
		// Differences in a space of three dimensions only, and on lines.
		base := [3][]float64{randn(rng(7), d), randn(rng(8), d), randn(rng(9), d)}
		flat := randomLabels(rng(10), d, 200)
		r := rng(11)
		for i := range flat {
			flat[i].X, flat[i].Y = make([]float64, d), make([]float64, d)
			for k := range base {
				c := r.NormFloat64()
				if i%4 == 0 && k > 0 {
					c = 0
				}
				for j := range flat[i].X {
					flat[i].X[j] += c * base[k][j] / math.Sqrt(float64(d))
				}
			}
		}
		add("collinear", d, POLAParams{}, flat)
	}
	return out
}

// randomLabels returns pairs whose labels no metric explains: updates go on for
// ever, about half of each kind.
func randomLabels(rng *rand.Rand, dim, n int) []metric.Pair {
	out := make([]metric.Pair, n)
	for i := range out {
		x, y := randn(rng, dim), randn(rng, dim)
		for j := range x {
			x[j] /= math.Sqrt(2 * float64(dim))
			y[j] /= math.Sqrt(2 * float64(dim))
		}
		out[i] = metric.Pair{X: x, Y: y, Label: metric.SameClass(rng.IntN(2) == 0)}
	}
	return out
}

// agreeTol bounds the difference between POLA and the dense reference after a
// whole stream, relative to the sizes involved. Each step adds up to
// residualTol; a few hundred of them stay far below.
const agreeTol = 1e-9

// POLA gives the outcomes, A and b of the algorithm as printed. On the way:
// Â has at most one negative eigenvalue, A ⪰ 0 and b ≥ 1.
func TestPOLAIsPlain(t *testing.T) {
	for _, s := range streams() {
		t.Run(s.name, func(t *testing.T) {
			l, ref := mustPOLA(t, s.dim, s.params), newPlain(s.dim, s.params)
			var removed, kept int
			for i, f := range s.rounds {
				moved := mat.NewSymDense(s.dim, nil) // Â
				moved.CopySym(ref.A)
				before := mat.Norm(ref.A, 2)
				o := mustStep(t, l, f)
				loss, size := ref.Step(f)
				if math.Abs(o.Loss-loss) > agreeTol*(1+loss) || math.Abs(o.StepSize-size) > agreeTol*(1+math.Abs(size)) {
					t.Fatalf("round %d: loss %v, step %v; reference %v, %v", i, o.Loss, o.StepSize, loss, size)
				}
				if o.Updated && !(l.Threshold() >= 1) {
					t.Fatalf("round %d: b = %v", i, l.Threshold())
				}
				if size <= 0 {
					if o.Projections != 0 {
						t.Fatalf("round %d: %d projections without a similar update", i, o.Projections)
					}
					continue
				}
				moved.SymRankOne(moved, -size, mat.NewVecDense(s.dim, metric.Sub(nil, f.X, f.Y)))
				var eig mat.EigenSym
				if !eig.Factorize(moved, false) {
					t.Fatal("no eigenvalues")
				}
				values := eig.Values(nil)
				scale := before + math.Abs(size)*metric.Euclidean{}.SqDist(f.X, f.Y)
				if s.dim > 1 && values[1] < -1e-12*scale {
					t.Fatalf("round %d: two negative eigenvalues, %v", i, values[:2])
				}
				// Between these two the sign of the eigenvalue is round-off. So is
				// all of an update from A = 0 that the reference makes because
				// its projection left some.
				least := values[0]
				if scale > 1e-12 && (least < -1e-9*scale && o.Projections != 1 || least > 1e-12*scale && o.Projections != 0) {
					t.Fatalf("round %d: smallest eigenvalue %v, %d projections", i, least, o.Projections)
				}
				if o.Projections == 1 {
					removed++
				} else {
					kept++
				}
			}
			if d := matrixtest.Distance(matrixOf(l), ref.A); d > agreeTol*mat.Norm(ref.A, 2) {
				t.Errorf("‖A − reference‖ = %v, ‖A‖ = %v", d, mat.Norm(ref.A, 2))
			}
			if d := math.Abs(l.Threshold() - ref.B); d > agreeTol*ref.B {
				t.Errorf("b = %v, reference %v", l.Threshold(), ref.B)
			}
			t.Logf("%d eigenvalues removed, %d similar updates without", removed, kept)
		})
	}
}

// At d = 784, and with the Lanczos reference.
func TestAgainstLanczosLarge(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 60
	}
	rounds := images(rand.New(rand.NewPCG(12, 1)), n)
	l, ref := mustPOLA(t, 784, POLAParams{}), newKrylov(784)
	for _, f := range rounds {
		mustStep(t, l, f)
		ref.step(t, f)
	}
	if d := matrixtest.Distance(matrixOf(l), mat.NewDense(784, 784, ref.a.Data)); d > 1e-8 {
		t.Errorf("‖A − reference‖ = %v", d)
	}
	if d := math.Abs(l.Threshold() - ref.b); d > 1e-8 {
		t.Errorf("b = %v, reference %v", l.Threshold(), ref.b)
	}
}

// separable returns pairs on which (A*, b*) has zero loss, and (A*, b*).
func separable(rng *rand.Rand, dim, n int) (rounds []metric.Pair, a *mat.SymDense, b float64) {
	g := mat.NewDense(2, dim, nil)
	for i := range 2 {
		g.SetRow(i, randn(rng, dim))
	}
	a = mat.NewSymDense(dim, nil)
	a.SymOuterK(1, g.T())
	b = 3.0
	for len(rounds) < n {
		x, y := randn(rng, dim), randn(rng, dim)
		v := mat.NewVecDense(dim, metric.Sub(nil, x, y))
		q := mat.Inner(v, a, v)
		if math.Abs(q-b) < 1 {
			continue
		}
		rounds = append(rounds, metric.Pair{X: x, Y: y, Label: metric.SameClass(q < b)})
	}
	return rounds, a, b
}

// Theorem 1, the inequality behind it at each step, and the corrected Lemma 3.
// roundOffTol is for sums of some hundred terms of order one.
func TestTheorem1AndLemma3(t *testing.T) {
	const roundOffTol = 1e-9
	for _, b1 := range []float64{-3, 0, 1, 2.5, 20} {
		for _, dim := range []int{2, 6, 36} {
			rounds, a, b := separable(rand.New(rand.NewPCG(13, uint64(dim))), dim, 150)
			l := mustPOLA(t, dim, POLAParams{B1: new(b1)})
			norm2 := math.Pow(mat.Norm(a, 2), 2)
			start := norm2 + (b-b1)*(b-b1)
			var radius, sum float64
			distance := start // ‖(A, b) − (A*, b*)‖²
			for i, f := range rounds {
				v4 := math.Pow(metric.Euclidean{}.SqDist(f.X, f.Y), 2)
				radius = math.Max(radius, v4+1)
				o := mustStep(t, l, f)
				sum += o.Loss * o.Loss
				m := matrixOf(l)
				next := math.Pow(matrixtest.Distance(m, a), 2) + math.Pow(l.Threshold()-b, 2)
				if next > distance-o.Loss*o.Loss/(v4+1)+roundOffTol*start {
					t.Fatalf("b₁ = %v, d = %d, round %d: ‖w − w*‖² went from %v to %v, loss %v", b1, dim, i, distance, next, o.Loss)
				}
				distance = next
				if sum > radius*start*(1+roundOffTol) {
					t.Fatalf("b₁ = %v, d = %d, round %d: Σℓ² = %v above the bound %v", b1, dim, i, sum, radius*start)
				}
				if got := math.Pow(mat.Norm(m, 2), 2) + math.Pow(l.Threshold()-b1, 2); got > 4*start*(1+roundOffTol) {
					t.Fatalf("b₁ = %v, d = %d, round %d: ‖A‖² + (b−b₁)² = %v above %v", b1, dim, i, got, 4*start)
				}
			}
			if sum == 0 {
				t.Errorf("b₁ = %v, d = %d: no loss, so that nothing was tested", b1, dim)
			}
		}
	}
}

// Lemma 3 as printed, ‖A‖² + (b−1)² ≤ 4(‖A*‖² + b*²), fails for b₁ = 10: on x =
// y similar, (A*, b*) = (0, 1) has no loss, and neither has (0, 10), which stays.
func TestPrintedLemma3IsFalse(t *testing.T) {
	l := mustPOLA(t, 2, POLAParams{B1: new(10.0)})
	f := metric.Pair{X: []float64{1, 2}, Y: []float64{1, 2}, Label: metric.Similar}
	best, bStar := mustPOLA(t, 2, POLAParams{}), 1.0 // (0, 1)
	if loss := best.Loss(f); loss != 0 {
		t.Fatalf("loss of (A*, b*) = %v", loss)
	}
	mustStep(t, l, f)
	left := math.Pow(mat.Norm(matrixOf(l), 2), 2) + math.Pow(l.Threshold()-1, 2)
	if right := 4 * bStar * bStar; !(left > right) {
		t.Errorf("%v ≤ %v: no counterexample", left, right)
	}
	if left, right := math.Pow(l.Threshold()-10, 2), 4*math.Pow(bStar-10, 2); left > right {
		t.Errorf("corrected: %v > %v", left, right)
	}
}

// Fig. 1 as printed leaves b₂ = 1/17 here, outside [1, ∞).
func TestPrintedFig1IsIncomplete(t *testing.T) {
	l := mustPOLA(t, 2, POLAParams{B1: new(0.0)})
	o := mustStep(t, l, metric.Pair{X: []float64{2, 0}, Y: []float64{0, 0}, Label: metric.Similar})
	if o.Loss != 1 || o.StepSize != 1.0/17 || o.Projections != 1 {
		t.Errorf("outcome %+v, want loss 1, step 1/17, one projection", o)
	}
	if l.Threshold() != 1 {
		t.Errorf("b = %v, want 1", l.Threshold())
	}
}

// A rotation of the data rotates A and changes nothing else.
func TestRotation(t *testing.T) {
	for _, dim := range []int{5, 12, 40} {
		rng := rand.New(rand.NewPCG(14, uint64(dim)))
		g := mat.NewDense(dim, dim, randn(rng, dim*dim))
		var qr mat.QR
		qr.Factorize(g)
		var q mat.Dense
		qr.QTo(&q)
		turn := func(x []float64) []float64 {
			var y mat.VecDense
			y.MulVec(&q, mat.NewVecDense(dim, x))
			return y.RawVector().Data
		}
		l, r := mustPOLA(t, dim, POLAParams{}), mustPOLA(t, dim, POLAParams{})
		mistakes := 0
		for i, f := range gaussianPairs(rng, dim, 300, 1) {
			o := mustStep(t, l, f)
			p := mustStep(t, r, metric.Pair{X: turn(f.X), Y: turn(f.Y), Label: f.Label})
			if o.Mistake != p.Mistake || math.Abs(o.Prediction.SqDist-p.Prediction.SqDist) > agreeTol*(1+o.Prediction.SqDist) {
				t.Fatalf("d = %d, round %d: %+v, rotated %+v", dim, i, o, p)
			}
			if o.Mistake {
				mistakes++
			}
		}
		if mistakes == 0 {
			t.Errorf("d = %d: no mistakes, so that little was tested", dim)
		}
	}
}

// With γ = 0 a step that meets neither boundary attains zero loss exactly.
func TestZeroLossAfterUnprojectedStep(t *testing.T) {
	for _, dim := range []int{3, 40} {
		l := mustPOLA(t, dim, POLAParams{B1: new(3.0)})
		count := map[metric.Label]int{}
		for i, f := range randomLabels(rand.New(rand.NewPCG(15, 1)), dim, 300) {
			o := mustStep(t, l, f)
			if !o.Updated || o.Projections > 0 || l.Threshold() == 1 {
				continue
			}
			count[f.Label]++
			if loss := l.Loss(f); loss > 1e-12*(1+o.Loss) {
				t.Errorf("d = %d, round %d: loss %v, then %v", dim, i, o.Loss, loss)
			}
		}
		if count[metric.Dissimilar] == 0 || dim == 3 && count[metric.Similar] == 0 {
			t.Errorf("d = %d: unprojected steps %v", dim, count)
		}
	}
}

// From A = 0 and b = 1 nothing is learned before the first dissimilar pair.
func TestNothingBeforeFirstDissimilar(t *testing.T) {
	l := mustPOLA(t, 4, POLAParams{})
	for _, f := range randomLabels(rand.New(rand.NewPCG(16, 1)), 4, 20) {
		f.Label = metric.Similar
		if o := mustStep(t, l, f); o.Updated || o.Loss != 0 || o.StepSize != 0 || o.Mistake {
			t.Fatalf("outcome %+v", o)
		}
	}
	f := metric.Pair{X: []float64{1, 0, 0, 0}, Y: make([]float64, 4), Label: metric.Dissimilar}
	if o := mustStep(t, l, f); !o.Updated || !o.Mistake || o.Loss != 2 || o.StepSize != -1 {
		t.Errorf("outcome %+v, want loss 2 and step −1", o)
	}
}

// A similar pair at d² = b is predicted right, though Section 4 counts it.
func TestBoundaryIsNoMistake(t *testing.T) {
	l := mustPOLA(t, 1, POLAParams{})
	mustStep(t, l, metric.Pair{X: []float64{1}, Y: []float64{0}, Label: metric.Dissimilar}) // A = b = 1
	f := metric.Pair{X: []float64{1}, Y: []float64{0}, Label: metric.Similar}
	p := l.Predict(f)
	if p.SqDist != l.Threshold() || !p.Similar {
		t.Fatalf("d² = %v, b = %v, similar %v: not the case to test", p.SqDist, l.Threshold(), p.Similar)
	}
	if o := mustStep(t, l, f); o.Mistake || o.Loss != 1 {
		t.Errorf("outcome %+v, want loss 1 and no mistake", o)
	}
}

func TestCoincidentPairUpdatesOnlyB(t *testing.T) {
	x := []float64{1, 2}
	l := mustPOLA(t, 2, POLAParams{B1: new(0.5), Gamma: 1})
	if o := mustStep(t, l, metric.Pair{X: x, Y: x, Label: metric.Similar}); o.Loss != 0.5 || o.StepSize != 0.25 || !o.Updated || l.Threshold() != 1 {
		t.Errorf("similar: %+v, b = %v; want loss 0.5, step 0.25, b = 1", o, l.Threshold())
	}
	if o := mustStep(t, l, metric.Pair{X: x, Y: x, Label: metric.Dissimilar}); o.Loss != 2 || o.StepSize != -1 || o.Updated || l.Threshold() != 1 {
		t.Errorf("dissimilar: %+v, b = %v; want loss 2, step −1, nothing changed", o, l.Threshold())
	}
	if m := matrixOf(l); mat.Norm(m, 2) != 0 {
		t.Errorf("A = %v", m)
	}
}

// Saved after any round and resumed, the end is the same file. The stream in 40
// dimensions passes through every representation.
func TestResumeAnywhere(t *testing.T) {
	for _, c := range []struct{ dim, n int }{{3, 40}, {40, 130}} {
		rounds := randomLabels(rand.New(rand.NewPCG(17, uint64(c.dim))), c.dim, c.n)
		save := func(l *POLA) []byte {
			var b bytes.Buffer
			if err := l.Save(&b); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		l := mustPOLA(t, c.dim, POLAParams{Gamma: 0.1})
		files := [][]byte{save(l)}
		var orders []int
		resolvent := false
		for _, f := range rounds {
			mustStep(t, l, f)
			files = append(files, save(l))
			orders = append(orders, l.e.a.n)
			resolvent = resolvent || l.e.a.res.ready()
		}
		if c.dim == 40 && !(slices.Min(orders) < directOrder && slices.Contains(orders, 34) && slices.Max(orders) == 40 && resolvent) {
			t.Errorf("orders %v, resolvent %v: a representation was not met", orders, resolvent)
		}
		for i, file := range files {
			l, err := LoadPOLA(bytes.NewReader(file))
			if err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
			if p := l.Params(); *p.B1 != 1 || p.Gamma != 0.1 {
				t.Fatalf("round %d: parameters %v, %v", i, *p.B1, p.Gamma)
			}
			for _, f := range rounds[i:] {
				mustStep(t, l, f)
			}
			if !bytes.Equal(save(l), files[len(files)-1]) {
				t.Errorf("d = %d: resumed after round %d, the end differs", c.dim, i)
			}
		}
	}
}

// changeTol bounds what LastChange leaves out, relative to ‖A‖ and the length of
// its terms: a remainder that counts as inside the range of U, and round-off.
const changeTol = 2e-11

// The terms of LastChange are what the step did to A, at most two, and none if A
// did not change. The streams pass through every representation.
func TestLastChange(t *testing.T) {
	cases := streams()
	rng := rand.New(rand.NewPCG(33, 1))
	cases = append(cases,
		stream{"few points/dim=40", 40, POLAParams{}, fewPoints(rng, 40, 12, 1500)},
		stream{"low rank, gamma/dim=48", 48, POLAParams{Gamma: 0.3}, fewPoints(rng, 48, 20, 1000)},
		stream{"overlapping/dim=200", 200, POLAParams{}, gaussianPairs(rng, 200, 300, 1)},
		stream{"random labels/dim=200", 200, POLAParams{}, randomLabels(rng, 200, 300)})
	var counts [3]int
	for _, s := range cases {
		t.Run(s.name, func(t *testing.T) {
			l := mustPOLA(t, s.dim, s.params)
			if c := l.LastChange(); len(c) != 0 {
				t.Errorf("before the first step: %v", c)
			}
			before := mat.NewSymDense(s.dim, nil)
			for i, f := range s.rounds {
				o := mustStep(t, l, f)
				after := matrixOf(l)
				want := mat.NewSymDense(s.dim, nil)
				want.CopySym(before)
				size := mat.Norm(before, 2)
				terms := l.LastChange()
				for _, r := range terms {
					v := mat.NewVecDense(s.dim, r.V)
					want.SymRankOne(want, r.C, v)
					size += math.Abs(r.C) * mat.Dot(v, v)
				}
				if d := matrixtest.Distance(after, want); d > changeTol*size {
					t.Fatalf("round %d: A is off by %v, terms and A of length %v", i, d, size)
				}
				if len(terms) > 2 || len(terms) > 0 && !o.Updated || len(terms) == 2 && o.Projections == 0 {
					t.Fatalf("round %d: %d terms, outcome %+v", i, len(terms), o)
				}
				counts[len(terms)]++
				before = after
			}
		})
	}
	if slices.Min(counts[:]) < 100 {
		t.Errorf("steps with 0, 1 and 2 terms: %v", counts)
	}
}

// A step that leaves A = 0 or fails has no terms, and neither has a loaded
// learner. A step that ends at A = 0 has two.
func TestLastChangeEmpty(t *testing.T) {
	l := mustPOLA(t, 1, POLAParams{B1: new(0.0)})
	step := func(x float64, y metric.Label, want int) {
		t.Helper()
		mustStep(t, l, metric.Pair{X: []float64{x}, Y: []float64{0}, Label: y})
		if c := l.LastChange(); len(c) != want {
			t.Errorf("x = %v, %v: terms %v, want %d", x, y, c, want)
		}
	}
	step(1, metric.Similar, 0) // A = 0 stays, b moves
	step(0, metric.Dissimilar, 0)
	step(1, metric.Dissimilar, 1)
	var file bytes.Buffer
	if err := l.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := LoadPOLA(&file)
	if err != nil {
		t.Fatal(err)
	}
	if c := loaded.LastChange(); len(c) != 0 {
		t.Errorf("loaded: terms %v", c)
	}
	if _, err := l.Step(metric.Pair{X: []float64{math.NaN()}, Y: []float64{0}, Label: 1}); err == nil || len(l.LastChange()) != 0 {
		t.Errorf("failed step: error %v, terms %v", err, l.LastChange())
	}
}

// A step from A = 1 to A = 0 changes A, and has two terms.
func TestLastChangeToZero(t *testing.T) {
	e := newEngine("far", 1, func(float64, float64) float64 { return 1 }, 1)
	for _, f := range []metric.Pair{
		{X: []float64{1}, Y: []float64{0}, Label: metric.Dissimilar},
		{X: []float64{3}, Y: []float64{0}, Label: metric.Similar},
	} {
		if _, err := e.step(f); err != nil {
			t.Fatal(err)
		}
	}
	sum := e.a.c[0] - 1
	for _, r := range e.lastChange() {
		sum -= r.C * r.V[0] * r.V[0]
	}
	if n := len(e.lastChange()); n != 2 || e.a.c[0] > 1e-14 || math.Abs(sum) > 1e-14 {
		t.Errorf("%d terms, A = %v, terms off by %v", n, e.a.c[0], sum)
	}
}

// mulTol bounds MulVec against the snapshot's matrix, of which both take some
// d·ε of the largest A so far.
const mulTol = 1e-11

// MulVec is the product with the matrix of the snapshot, in every representation.
func TestMulVec(t *testing.T) {
	for _, dim := range []int{1, 12, 40, 120} {
		l := mustPOLA(t, dim, POLAParams{})
		for i, f := range append(randomLabels(rand.New(rand.NewPCG(34, uint64(dim))), dim, 100), metric.Pair{X: make([]float64, dim), Y: make([]float64, dim), Label: 1}) {
			m := matrixOf(l)
			var want mat.VecDense
			want.MulVec(m, mat.NewVecDense(dim, f.X))
			got := l.MulVec(nil, f.X)
			same := l.MulVec(slices.Clone(f.Y), f.X)
			if d := matrixtest.Distance(mat.NewVecDense(dim, got), &want); d > mulTol*mat.Norm(m, 2)*math.Sqrt(vector.Dot(f.X, f.X)) || !slices.Equal(got, same) {
				t.Fatalf("d = %d, round %d: Ax is off by %v", dim, i, d)
			}
			mustStep(t, l, f)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic for a vector of wrong length")
		}
	}()
	mustPOLA(t, 2, POLAParams{}).MulVec(nil, []float64{1})
}

func TestNewPOLAErrors(t *testing.T) {
	for _, c := range []struct {
		dim  int
		p    POLAParams
		want string
	}{
		{0, POLAParams{}, "dim: 0"},
		{-1, POLAParams{}, "dim: -1"},
		{2, POLAParams{Gamma: -0.1}, "gamma: -0.1"},
		{2, POLAParams{Gamma: math.NaN()}, "gamma: NaN"},
		{2, POLAParams{Gamma: math.Inf(1)}, "gamma: +Inf"},
		{2, POLAParams{B1: new(math.NaN())}, "b1: NaN"},
		{2, POLAParams{B1: new(math.Inf(-1))}, "b1: -Inf"},
	} {
		if _, err := NewPOLA(c.dim, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("dim %d, %+v: error %v, want one with %q", c.dim, c.p, err, c.want)
		}
	}
}

// The caller's b₁ is copied.
func TestParamsAreCopied(t *testing.T) {
	b1 := 2.0
	l := mustPOLA(t, 1, POLAParams{B1: &b1})
	b1 = 7
	*l.Params().B1 = 8
	if got := *l.Params().B1; got != 2 {
		t.Errorf("b₁ = %v, want 2", got)
	}
}

func TestStepErrorsName(t *testing.T) {
	l := mustPOLA(t, 2, POLAParams{})
	for _, c := range []struct {
		f    metric.Pair
		want string
	}{
		{metric.Pair{X: []float64{1, 2}, Y: []float64{1, 2}}, "pola: label: 0"},
		{metric.Pair{X: []float64{1}, Y: []float64{1, 2}, Label: 1}, "pola: x: has 1 numbers, want 2"},
		{metric.Pair{X: []float64{1, 2}, Y: []float64{1, math.NaN()}, Label: 1}, "pola: y[1]: NaN"},
		{metric.Pair{X: []float64{1e100, 2}, Y: []float64{1, 2}, Label: -1}, "‖x−y‖⁴ = +Inf, want a finite number"},
	} {
		if _, err := l.Step(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// Features just below overflow still give finite hypotheses.
func TestNearOverflow(t *testing.T) {
	for _, dim := range []int{2, 40} {
		for _, scale := range []float64{1e70, 1e-70, 1e-160} {
			l := mustPOLA(t, dim, POLAParams{})
			for i, f := range gaussianPairs(rand.New(rand.NewPCG(18, 1)), dim, 150, scale) {
				if o := mustStep(t, l, f); math.IsNaN(o.Loss) || math.IsNaN(l.Threshold()) {
					t.Fatalf("d = %d, scale %g, round %d: %+v", dim, scale, i, o)
				}
			}
			for _, a := range matrixOf(l).RawSymmetric().Data {
				if math.IsNaN(a) || math.IsInf(a, 0) {
					t.Fatalf("d = %d, scale %g: A is not finite", dim, scale)
				}
			}
		}
	}
}

func TestPredictPanicsOnWrongLength(t *testing.T) {
	l := mustPOLA(t, 2, POLAParams{})
	for name, f := range map[string]func(metric.Pair){
		"Predict": func(f metric.Pair) { l.Predict(f) },
		"Loss":    func(f metric.Pair) { l.Loss(f) },
	} {
		for _, p := range []metric.Pair{{X: []float64{1}, Y: []float64{1}}, {X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}}, {X: []float64{1, 2}, Y: []float64{1}}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s with lengths %d and %d: no panic", name, len(p.X), len(p.Y))
					}
				}()
				f(p)
			}()
		}
	}
}

func TestLoadPOLAErrors(t *testing.T) {
	var good bytes.Buffer
	l := mustPOLA(t, 2, POLAParams{})
	if err := l.Save(&good); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPOLA(strings.NewReader("x")); !errors.Is(err, persist.ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
	if _, err := LoadPOLA(strings.NewReader(strings.Replace(good.String(), `"dim":2`, `"dim":3`, 1))); !errors.Is(err, persist.ErrDamaged) {
		t.Errorf("edited: %v", err)
	}
	var other bytes.Buffer
	if err := persist.Write(&other, "pairs/other", POLAParams{}, struct{}{}); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadPOLA(&other); !errors.Is(err, persist.ErrKind) {
		t.Errorf("other kind: %v", err)
	}
	fine := formState{Dim: 2, Order: 2, Core: make([]float64, 3)}
	for name, change := range map[string]func(p *POLAParams, s *polaState){
		"gamma":           func(p *POLAParams, _ *polaState) { p.Gamma = -1 },
		"no dimension":    func(_ *POLAParams, s *polaState) { s.Form.Dim = 0 },
		"order":           func(_ *POLAParams, s *polaState) { s.Form.Order = 1 },
		"negative order":  func(_ *POLAParams, s *polaState) { s.Form.Order = -1 },
		"huge order":      func(_ *POLAParams, s *polaState) { s.Form.Dim, s.Form.Order = 1<<40, 1<<40 },
		"short core":      func(_ *POLAParams, s *polaState) { s.Form.Core = s.Form.Core[1:] },
		"basis":           func(_ *POLAParams, s *polaState) { s.Form.Basis = []float64{1} },
		"missing basis":   func(_ *POLAParams, s *polaState) { s.Form.Dim = 50 },
		"NaN in the core": func(_ *POLAParams, s *polaState) { s.Form.Core = []float64{1, math.NaN(), 1} },
		"resolvent":       func(_ *POLAParams, s *polaState) { s.Form.Resolvent = make([]float64, 3) },
		"no shift":        func(_ *POLAParams, s *polaState) { s.Form.Resolvent = make([]float64, 4) },
	} {
		p, s := POLAParams{}.Resolved(), polaState{1, fine}
		change(&p, &s)
		var file bytes.Buffer
		if err := persist.Write(&file, POLAKind, p, s); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadPOLA(&file); !errors.Is(err, persist.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzLoadPOLA: any state in a valid envelope is loaded or refused, and what is
// loaded can step.
func FuzzLoadPOLA(f *testing.F) {
	for _, dim := range []int{2, 40} {
		l := mustPOLA(f, dim, POLAParams{})
		for _, r := range randomLabels(rand.New(rand.NewPCG(19, 1)), dim, 4) {
			mustStep(f, l, r)
		}
		var file bytes.Buffer
		if err := l.Save(&file); err != nil {
			f.Fatal(err)
		}
		env, err := persist.Read(&file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(env.Params), []byte(env.State))
	}
	f.Add([]byte(`{"b1":null,"gamma":0}`), []byte(`{"threshold":1,"form":{"dim":999999999999,"order":0,"core":""}}`))
	f.Fuzz(func(t *testing.T, params, state []byte) {
		var file bytes.Buffer
		if persist.Write(&file, POLAKind, raw(params), raw(state)) != nil {
			return
		}
		l, err := LoadPOLA(&file)
		if err != nil || l.Dim() > 100 {
			return
		}
		for _, r := range randomLabels(rand.New(rand.NewPCG(19, 2)), l.Dim(), 3) {
			if _, err := l.Step(r); err != nil {
				return // a hypothesis whose d² overflows
			}
		}
	})
}

// raw marshals as itself.
type raw []byte

func (r raw) MarshalJSON() ([]byte, error) { return r, nil }

func ExampleNewPOLA() {
	// The first feature tells the classes apart, the second is noise.
	l, err := NewPOLA(2, POLAParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range []metric.Pair{
		{X: []float64{1, 1}, Y: []float64{0, 0}, Label: metric.Dissimilar},
		{X: []float64{0, 1}, Y: []float64{0, 0}, Label: metric.Similar},
		{X: []float64{1, 0}, Y: []float64{0, 1}, Label: metric.Dissimilar},
	} {
		o, err := l.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("d² = %.2f, loss %.2f, step %+.2f\n", o.Prediction.SqDist, o.Loss, o.StepSize)
	}
	m := l.Metric().M()
	fmt.Printf("A = [%.2f %.2f; %.2f %.2f], b = %.2f\n", m.At(0, 0), m.At(0, 1), m.At(1, 0), m.At(1, 1), l.Threshold())
	// Output:
	// d² = 0.00, loss 2.00, step -0.40
	// d² = 0.40, loss 0.40, step +0.20
	// d² = 0.02, loss 2.18, step -0.44
	// A = [0.88 -0.09; -0.09 0.71], b = 1.00
}
