package pairs

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
)

// With Every = 1 the hypotheses are those of PSDEachStep, and so are the numbers of eigenvalues
// removed: that they come from an eigendecomposition in place of the solver is a second check of this.
func TestEveryStepIsEachStep(t *testing.T) {
	for _, rule := range []PARule{PlainPA, PAI, PAII, PALS} {
		for _, dim := range []int{4, 20} {
			rounds := gaussianPairs(rand.New(rand.NewPCG(60, uint64(dim))), dim, 150, 1)
			each := must(NewPA(dim, PAParams{Rule: rule, C: 0.3}))
			every := must(NewPA(dim, PAParams{Rule: rule, C: 0.3, PSD: PSDAtEnd, Every: 1}))
			removed := 0
			for i, f := range rounds {
				a, b := mustOutcome(t, each, f), mustOutcome(t, every, f)
				if math.Abs(a.Loss-b.Loss) > agreeTol*(1+a.Loss) {
					t.Fatalf("%v, round %d: loss %v, with Every = 1 %v", rule, i, a.Loss, b.Loss)
				}
				removed += b.Projections
			}
			if d := matrixtest.Distance(each.Matrix(), every.Matrix()); d > agreeTol*(1+mat.Norm(each.Matrix(), 2)) || math.Abs(each.Threshold()-every.Threshold()) > agreeTol*(1+each.Threshold()) {
				t.Errorf("%v: the matrices differ by %v, b = %v and %v", rule, d, each.Threshold(), every.Threshold())
			}
			if removed == 0 {
				t.Errorf("%v: nothing was projected", rule)
			}
		}
	}
}

// Every step's change is what LastChange says, with the terms that a projection adds; and right after
// a projection there is no negative eigenvalue beyond round-off.
func TestEveryTellsItsChange(t *testing.T) {
	for _, dim := range []int{5, 40} {
		l := must(NewPA(dim, PAParams{Rule: PALS, C: 0.3, PSD: PSDAtEnd, Every: 6}))
		most := 0
		for i, f := range gaussianPairs(rand.New(rand.NewPCG(61, uint64(dim))), dim, 60, 1) {
			before := l.Matrix()
			o := mustOutcome(t, l, f)
			after := l.Matrix()
			for _, term := range l.LastChange() {
				before.SymRankOne(before, term.C, mat.NewVecDense(dim, term.V))
			}
			if d := matrixtest.Distance(before, after); d > agreeTol*(1+mat.Norm(after, 2)) {
				t.Fatalf("d = %d, round %d: LastChange is off by %v", dim, i, d)
			}
			if (i+1)%6 != 0 {
				if o.Projections != 0 {
					t.Errorf("d = %d, round %d: %d projections", dim, i, o.Projections)
				}
				continue
			}
			most = max(most, o.Projections)
			var eig mat.EigenSym
			if !eig.Factorize(after, false) {
				t.Fatal("no eigenvalues")
			}
			if values := eig.Values(nil); values[0] < -1e-10*(1+values[dim-1]) || l.Threshold() < 1 {
				t.Errorf("d = %d, round %d: least eigenvalue %v, b = %v after the projection", dim, i, values[0], l.Threshold())
			}
		}
		if most < 2 {
			t.Errorf("d = %d: at most %d eigenvalues removed at once, want several", dim, most)
		}
	}
}

// What is saved between two projections goes on as if it had not been, and hostile numbers are refused.
func TestEveryIsSaved(t *testing.T) {
	p := PAParams{Rule: PAI, C: 0.3, PSD: PSDAtEnd, Every: 5, M0: 0.5}
	rounds := gaussianPairs(rand.New(rand.NewPCG(62, 1)), 20, 40, 1)
	l := must(NewPA(20, p))
	for _, f := range rounds[:13] {
		mustOutcome(t, l, f)
	}
	var file bytes.Buffer
	if err := l.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded := must(LoadPA(bytes.NewReader(file.Bytes())))
	if loaded.Params() != l.Params() {
		t.Errorf("parameters %+v, want %+v", loaded.Params(), l.Params())
	}
	for i, f := range rounds[13:] {
		if a, b := mustOutcome(t, l, f), mustOutcome(t, loaded, f); a != b {
			t.Fatalf("round %d: %+v, loaded %+v", i, a, b)
		}
	}
	if !reflect.DeepEqual(l.Matrix(), loaded.Matrix()) {
		t.Error("the loaded learner has another matrix")
	}
}

// Parameters that would do nothing are refused.
func TestEveryIsForTheEnd(t *testing.T) {
	for want, p := range map[string]PAParams{
		"every: 3 is not allowed with psd step": {Every: 3},
		"every":                                 {Every: -1, PSD: PSDAtEnd},
		"m0":                                    {M0: -1},
	} {
		if _, err := NewPA(3, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want one with %q", p, err, want)
		}
	}
	if _, err := NewRecurringPA(&Recurring{}, PAParams{PSD: PSDAtEnd, Every: 3}); err == nil || !strings.Contains(err.Error(), "every: 3 is not allowed") {
		t.Errorf("RecurringPA: error %v", err)
	}
}
