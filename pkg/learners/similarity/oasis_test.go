package similarity

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// all are learners of every form.
var all = []OASISParams{{}, {C: 3}, {Form: FormSymmetric}, {Form: FormPSD}, {Form: FormPSD, C: 1, Every: 1}, {Form: FormPSD, Every: 7}}

func (p OASISParams) String() string {
	return fmt.Sprintf("form=%v/c=%g/every=%d", p.Form, p.C, p.Every)
}

func stream(seed uint64, dim, n int) []metric.Comparison {
	return learnertest.ComparisonStream(rand.New(rand.NewPCG(seed, 1)), dim, n)
}

func learned(t *testing.T, p OASISParams, rounds []metric.Comparison) *OASIS {
	t.Helper()
	l, err := NewOASIS(len(rounds[0].A), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rounds {
		if _, err := l.Step(f); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func TestConformance(t *testing.T) {
	for _, p := range all {
		t.Run(p.String(), func(t *testing.T) {
			learnertest.Comparisons[*OASIS]{New: func(dim int) (*OASIS, error) { return NewOASIS(dim, p) }, Load: LoadOASIS}.Run(t)
		})
	}
}

// TestPlain compares with the algorithm as it stands in the paper. Round-off of a sum of dim products, and of as many steps as there are,
// is some 1e-13 of what is added up.
func TestPlain(t *testing.T) {
	const tol = 1e-12
	for _, dim := range []int{1, 3, 40} {
		for _, c := range []float64{0.01, 0.1, 2} {
			l, err := NewOASIS(dim, OASISParams{C: c})
			if err != nil {
				t.Fatal(err)
			}
			slow := plain.NewOASIS(dim, c)
			for i, f := range stream(3, dim, 200) {
				loss, tau := slow.Step(f)
				if floats.Norm(f.A, 2) == 0 || floats.Equal(f.Near, f.Far) {
					tau = 0 // V = 0: whatever the step is, it moves nothing
				}
				o, err := l.Step(f)
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(o.Loss-loss) > tol*(1+loss) || math.Abs(o.StepSize-tau) > tol*(1+tau) {
					t.Fatalf("dim %d, C %v, round %d: loss %v, step %v, want %v, %v", dim, c, i, o.Loss, o.StepSize, loss, tau)
				}
			}
			if !mat.EqualApprox(l.Matrix(), slow.W, tol*(1+mat.Max(slow.W))) {
				t.Errorf("dim %d, C %v: another W", dim, c)
			}
		}
	}
}

// TestSparse: sparse vectors give the bits of dense ones, however few their entries are.
func TestSparse(t *testing.T) {
	const dim = 90
	for _, p := range all {
		for _, share := range []float64{0.02, 0.06, 0.3} {
			rng := rand.New(rand.NewPCG(5, 5))
			dense, _ := NewOASIS(dim, p)
			few, _ := NewOASIS(dim, p)
			draw := func() []float64 {
				x := make([]float64, dim)
				for j := range x {
					if rng.Float64() < share {
						x[j] = rng.NormFloat64()
					}
				}
				return x
			}
			for i := range 40 {
				f := metric.Comparison{A: draw(), Near: draw(), Far: draw()}
				a, err := dense.Step(f)
				if err != nil {
					t.Fatal(err)
				}
				b, err := few.StepSparse(compress(f.A), compress(f.Near), compress(f.Far))
				if err != nil || a != b {
					t.Fatalf("%v, share %v, round %d: %+v and %+v, error %v", p, share, i, a, b, err)
				}
			}
			if !mat.Equal(dense.Matrix(), few.Matrix()) {
				t.Errorf("%v, share %v: another W", p, share)
			}
		}
	}
}

// TestFewAndWhole: what is computed entry by entry has the bits of what is computed by rows; where gonum's sums fuse products, on systems other
// than amd64, all but the last digits, of numbers below 100.
func TestFewAndWhole(t *testing.T) {
	const dim = 64
	rng := rand.New(rand.NewPCG(6, 6))
	vector := func() sparse.Vector {
		var v sparse.Vector
		for j := range dim {
			if rng.IntN(12) == 0 {
				v.Index, v.Value = append(v.Index, j), append(v.Value, rng.NormFloat64())
			}
		}
		return v
	}
	l := learned(t, OASISParams{}, stream(6, dim, 50))
	l.rows[3], l.rows[40] = nil, nil
	for range 200 {
		a, y := vector(), vector()
		if got, want := l.similarity(a, y), y.DotDense(l.image(a)); got != want && (runtime.GOARCH == "amd64" || math.Abs(got-want) > 1e-12) {
			t.Fatalf("similarity %v by entries, %v by rows", got, want)
		}
	}
}

// TestPassive: after a step shorter than C the comparison has no loss; no shorter step does that.
func TestPassive(t *testing.T) {
	const dim, tol = 8, 1e-12
	l, _ := NewOASIS(dim, OASISParams{C: 1e6})
	moved := 0
	for _, f := range stream(7, dim, 100) {
		before := l.Matrix()
		o, err := l.Step(f)
		if err != nil {
			t.Fatal(err)
		}
		if !o.Updated {
			continue
		}
		moved++
		if l.Loss(f) > tol*(1+o.Loss) {
			t.Errorf("loss %v after the step", l.Loss(f))
		}
		var change mat.Dense
		change.Sub(l.Matrix(), before)
		v := metric.Sub(nil, f.Near, f.Far)
		// By Cauchy and Schwarz no change of a smaller norm lowers the loss so far.
		if want := o.Loss / (floats.Norm(f.A, 2) * floats.Norm(v, 2)); math.Abs(mat.Norm(&change, 2)-want) > 1e-10*(1+want) {
			t.Errorf("W changed by %v, want %v", mat.Norm(&change, 2), want)
		}
	}
	if moved < 20 {
		t.Errorf("%d updates", moved)
	}
}

// TestBound is the theorem of PA-I (Crammer et al., Online Passive-Aggressive Algorithms, JMLR 7, 2006, Theorem 4), shifted to start at I: for
// every U there are at most max(R², 1/C)·(‖U − I‖² + 2C Σ ℓ(U)) mistakes, where ‖V‖ ≤ R. It holds with projections, too, if U
// is in the set that they go to.
func TestBound(t *testing.T) {
	const dim, n = 6, 400
	for _, p := range all {
		rounds := stream(8, dim, n)
		l, err := NewOASIS(dim, p)
		if err != nil {
			t.Fatal(err)
		}
		mistakes, most := 0.0, 0.0
		for _, f := range rounds {
			o, err := l.Step(f)
			if err != nil {
				t.Fatal(err)
			}
			if o.Mistake {
				mistakes++
			}
			a, v := floats.Norm(f.A, 2), floats.Norm(metric.Sub(nil, f.Near, f.Far), 2)
			most = max(most, a*a*v*v)
		}
		tightest := math.Inf(1)
		for _, scale := range []float64{0, 0.5, 1, 2, 4, 8} { // U has what the stream was made by: the first half of the entries
			u := mat.NewDense(dim, dim, nil)
			for j := range dim / 2 {
				u.Set(j, j, scale)
			}
			var away mat.Dense
			away.Sub(u, mat.NewDiagDense(dim, ones(dim)))
			sum := 0.0
			for _, f := range rounds {
				a := mat.NewVecDense(dim, f.A)
				sum += max(0, 1-mat.Inner(a, u, mat.NewVecDense(dim, f.Near))+mat.Inner(a, u, mat.NewVecDense(dim, f.Far)))
			}
			norm := mat.Norm(&away, 2)
			tightest = min(tightest, max(most, 1/l.p.C)*(norm*norm+2*l.p.C*sum))
		}
		if mistakes > tightest {
			t.Errorf("%v: %v mistakes, at most %v", p, mistakes, tightest)
		}
	}
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// TestForms: a symmetric W is so to the bit, Matrix of FormPSD has no negative eigenvalue, and the metric of FormPSD has the inner products of its S.
func TestForms(t *testing.T) {
	const dim = 12
	for _, p := range all {
		l := learned(t, p, stream(9, dim, 300))
		w := l.Matrix()
		if symmetric := mat.Equal(w, w.T()); symmetric != (p.Form != FormFree) {
			t.Errorf("%v: W symmetric: %v", p, symmetric)
		}
		if p.Form != FormPSD {
			continue
		}
		m := l.Metric()
		if !mat.EqualApprox(m.M(), w, 1e-9*mat.Max(w)) {
			t.Errorf("%v: the metric's matrix is not W", p)
		}
		if p.Every == 1 {
			x, y := stream(9, dim, 1)[0].A, stream(9, dim, 1)[0].Near
			if got, want := floats.Dot(m.Embed(x), m.Embed(y)), l.Similarity(x, y); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("inner product %v of images, similarity %v", got, want)
			}
		}
	}
}

// TestScales: features of any size give finite answers, or an error that changes nothing.
func TestScales(t *testing.T) {
	for _, p := range all {
		for _, scale := range []float64{1e-320, 1e-160, 1e-150, 1e-80, 1e-30, 1e30, 1e70, 1e100, 1e150, 1e300} {
			l, _ := NewOASIS(3, p)
			for _, f := range stream(11, 3, 40) {
				for _, v := range [][]float64{f.A, f.Near, f.Far} {
					floats.Scale(scale, v)
				}
				var before, after bytes.Buffer
				if err := l.Save(&before); err != nil {
					t.Fatal(err)
				}
				if _, err := l.Step(f); err != nil {
					if err := l.Save(&after); err != nil || !bytes.Equal(before.Bytes(), after.Bytes()) {
						t.Fatalf("%v, scale %v: a refused step changed the learner (%v)", p, scale, err)
					}
				}
				if o := l.Predict(f); !finite(o.SimNear) || !finite(o.SimFar) || !finite(l.Loss(f)) {
					t.Fatalf("%v, scale %v: %v", p, scale, o)
				}
			}
			if w := l.Matrix(); !finite(mat.Sum(w)) {
				t.Errorf("%v, scale %v: W is not finite", p, scale)
			}
		}
	}
}

// TestNothingToLearn: a query of zeros, or two equal documents, move nothing.
func TestNothingToLearn(t *testing.T) {
	x, y, zero := []float64{1, 2}, []float64{0, 1}, []float64{0, 0}
	for _, f := range []metric.Comparison{{A: zero, Near: x, Far: y}, {A: x, Near: y, Far: y}} {
		l, _ := NewOASIS(2, OASISParams{})
		o, err := l.Step(f)
		if err != nil || o.Updated || o.StepSize != 0 || o.Loss != 1 || !o.Mistake || l.moved != 0 {
			t.Errorf("%v: %+v, error %v, %d rows moved", f, o, err, l.moved)
		}
	}
}

func TestParams(t *testing.T) {
	for want, p := range map[string]OASISParams{
		"c: -1 is not allowed":                     {C: -1},
		"c: NaN is not allowed":                    {C: math.NaN()},
		"form: 7 is not allowed":                   {Form: 7},
		"every: -1 is not allowed":                 {Form: FormPSD, Every: -1},
		"every: 2 is not allowed with form symmet": {Form: FormSymmetric, Every: 2},
	} {
		if _, err := NewOASIS(2, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", p, err, want)
		}
	}
}

// TestMemory: rows take memory when they move, and a step that does not fit changes nothing.
func TestMemory(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	const dim = 10000
	limits.SetMemory(3 * 8 * dim)
	l, err := NewOASIS(dim, OASISParams{})
	if err != nil {
		t.Fatal(err)
	}
	one := func(i int) sparse.Vector { return sparse.Vector{Index: []int{i}, Value: []float64{1}} }
	for i := range 3 {
		if _, err := l.StepSparse(one(i), one(7), one(8)); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := l.StepSparse(one(3), one(7), one(8)); err == nil || !strings.Contains(err.Error(), "the limit is") || l.moved != 3 {
		t.Errorf("%+v, error %v, %d rows moved", o, err, l.moved)
	}
	if _, err := l.StepSparse(one(2), one(7), one(9)); err != nil { // its row is there
		t.Error(err)
	}
	if _, err := NewOASIS(dim, OASISParams{Form: FormPSD}); err == nil {
		t.Error("a matrix of order 10,000 fits 240 kB")
	}
}

func TestSparseErrors(t *testing.T) {
	l, _ := NewOASIS(4, OASISParams{})
	good := sparse.Vector{Index: []int{1}, Value: []float64{1}}
	for _, bad := range []sparse.Vector{{Index: []int{4}, Value: []float64{1}}, {Index: []int{1, 0}, Value: []float64{1, 1}}, {Index: []int{0}}, {Index: []int{0}, Value: []float64{math.Inf(1)}}} {
		for name, f := range map[string][3]sparse.Vector{"a": {bad, good, good}, "near": {good, bad, good}, "far": {good, good, bad}} {
			if _, err := l.StepSparse(f[0], f[1], f[2]); err == nil || !strings.Contains(err.Error(), "oasis: "+name+": ") {
				t.Errorf("%v: error %v", f, err)
			}
		}
	}
}

// TestLoadsSymmetric: a file whose matrix is not symmetric is none of a symmetric learner.
func TestLoadsSymmetric(t *testing.T) {
	l := learned(t, OASISParams{}, stream(12, 4, 20))
	l.p.Form = FormSymmetric
	var file bytes.Buffer
	if err := l.Save(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadOASIS(&file); err == nil || !strings.Contains(err.Error(), "want a symmetric matrix") {
		t.Errorf("error %v", err)
	}
}

// BenchmarkStep is a step of 768 dense numbers, and of texts: 100 of 30,000 words.
func BenchmarkStep(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name         string
		dim, entries int
	}{{"dense/dim=768", 768, 768}, {"sparse/dim=30000", 30000, 100}} {
		vector := func() sparse.Vector {
			v := sparse.Vector{Index: make([]int, 0, c.entries), Value: make([]float64, 0, c.entries)}
			for k := range c.entries {
				v.Index = append(v.Index, k*c.dim/c.entries+rng.IntN(c.dim/c.entries))
				v.Value = append(v.Value, rng.NormFloat64()/math.Sqrt(float64(c.entries)))
			}
			return v
		}
		b.Run("alg=OASIS/"+c.name, func(b *testing.B) {
			l, err := NewOASIS(c.dim, OASISParams{})
			if err != nil {
				b.Fatal(err)
			}
			var rounds [][3]sparse.Vector
			for range 20 {
				rounds = append(rounds, [3]sparse.Vector{vector(), vector(), vector()})
			}
			for i := 0; b.Loop(); i++ {
				f := rounds[i%len(rounds)]
				if _, err := l.StepSparse(f[0], f[1], f[2]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
