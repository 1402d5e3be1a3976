package pairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"metriclab/internal/matrixtest"

	"gonum.org/v1/gonum/mat"
)

// residualOf returns ‖R(C + s₀I) − I‖.
func residualOf(f *form) float64 {
	n := f.n
	c := unpack(f.c, n)
	for i := range n {
		c.SetSym(i, i, c.At(i, i)+f.res.shift)
	}
	var p mat.Dense
	p.Mul(mat.NewDense(n, n, f.res.compact()), c)
	for i := range n {
		p.Set(i, i, p.At(i, i)-1)
	}
	return mat.Norm(&p, 2)
}

// Through hundreds of corrections R stays the resolvent of C: growing, trimmed,
// and dense. resolventTol: each correction adds some ε times the condition
// number of C + s₀I, up to 10³ here.
func TestResolventFollowsCore(t *testing.T) {
	const resolventTol = 1e-9
	for _, c := range []struct{ dim, n int }{{400, 250}, {60, 400}} {
		l := mustPOLA(t, c.dim, POLAParams{})
		f := l.e.a
		checked, dense := 0, 0
		for i, p := range randomLabels(rand.New(rand.NewPCG(22, 1)), c.dim, c.n) {
			mustStep(t, l, p)
			if !f.res.ready() {
				continue
			}
			if f.res.n != f.n {
				t.Fatalf("d = %d, round %d: R of order %d, C of order %d", c.dim, i, f.res.n, f.n)
			}
			if i%10 != 0 {
				continue
			}
			checked++
			if f.full() {
				dense++
			}
			if r := residualOf(f); r > resolventTol {
				t.Fatalf("d = %d, round %d: ‖R(C + s₀I) − I‖ = %v", c.dim, i, r)
			}
		}
		if checked < 5 || c.dim == 60 && dense < 5 {
			t.Errorf("d = %d: checked %d times, %d of them dense", c.dim, checked, dense)
		}
	}
}

// An inaccurate R is noticed by its residual and built anew.
func TestInaccurateResolventIsRebuilt(t *testing.T) {
	l, ref := mustPOLA(t, 100, POLAParams{}), newPlain(100, POLAParams{})
	damaged := 0
	for i, p := range randomLabels(rand.New(rand.NewPCG(23, 1)), 100, 130) {
		if r := &l.e.a.res; r.ready() && i%5 == 0 {
			damaged++
			for j := range r.r {
				r.r[j] *= 1 + 1e-3*float64(j%7)
			}
		}
		mustStep(t, l, p)
		ref.Step(p)
	}
	if damaged == 0 {
		t.Fatal("there was no resolvent to damage")
	}
	if d := matrixtest.Distance(matrixOf(l), ref.A); d > agreeTol*mat.Norm(ref.A, 2) {
		t.Errorf("‖A − reference‖ = %v", d)
	}
}

// When the roots leave the shift behind, R is built at their mean.
func TestShiftFollowsRoots(t *testing.T) {
	var r resolvent
	c := pack(randomPSD(rand.New(rand.NewPCG(24, 1)), 3, 3))
	for range 2 * staleAge {
		r.note(0.01)
	}
	if !r.build(c, 3) || math.Abs(r.shift-0.01) > 1e-12 || r.stale() {
		t.Fatalf("shift %v, stale %v; want 0.01, false", r.shift, r.stale())
	}
	for i := range 2 * staleAge {
		r.note(0.1)
		if r.stale() && i < staleAge-1 {
			t.Fatalf("stale after %d roots", i+1)
		}
	}
	if !r.stale() {
		t.Error("not stale with the roots at ten times the shift")
	}
	if r.build(sym{-1}, 1) || r.ready() {
		t.Error("an indefinite core has no resolvent")
	}
}

// A saved resolvent has no gaps, whatever the capacity it had.
func TestCompact(t *testing.T) {
	r := resolvent{r: []float64{1, 2, 0, 2, 3, 0, 0, 0, 0}, n: 2, stride: 3}
	got := r.compact()
	for i, want := range []float64{1, 2, 2, 3} {
		if got[i] != want {
			t.Fatalf("compact = %v", got)
		}
	}
	r.border(2, []float64{5, 7}, 9)
	r.border(1, []float64{1, 1, 1}, 4) // has to move
	if got := r.compact(); len(got) != 16 || got[2] != 10 || got[4*2+1] != 14 || got[4*2+2] != 9 || got[15] != 4 {
		t.Errorf("after two borders: %v", got)
	}
}
