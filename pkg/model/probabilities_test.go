package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/tables"
)

// noise draws rows whose classes, a and b in turn, differ by shift in the first feature alone.
func noise(seed uint64, n, d int, shift float64) *tables.Data {
	rng := rand.New(rand.NewPCG(seed, 4))
	x, labels := mat.NewDense(n, d, nil), make([]string, n)
	for i := range n {
		labels[i] = string(rune('a' + i%2))
		for j := range d {
			x.Set(i, j, rng.NormFloat64())
		}
		x.Set(i, 0, x.At(i, 0)+shift*float64(i%2))
	}
	return Must(tables.NewData(x, labels, nil))
}

// ask returns what is predicted for rows.
func ask(t *testing.T, h *Neighbourhood, d *tables.Data) []Elected {
	t.Helper()
	b := &Block{x: Must(h.prepare.prepareRows(d.Matrix(), 0))}
	if err := h.search(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b.Elected
}

// What is held out has the votes of the others under what Fit learns from these, and the classes are those of Classifier.
func TestProbabilities(t *testing.T) {
	d, asked := noise(1, 61, 3, 2), noise(2, 200, 3, 2)
	for _, learner := range []string{"fda", "rca", "kernel-fda"} {
		m := MustFit[*Model](t, ByClasses(d), Recipe{Learner: learner})
		h := Must(m.Probabilities(t.Context(), d, 4))
		b := nearest.NewBallots(2)
		y := datasetsY(d.Labels)
		order := rowOrder(d)
		fold := Plan{Folds: 5, Repeats: 1, Seed: 1}.divisions(order, y)[0]
		for s := range 5 {
			train, test := part(order, fold, s)
			part := MustFit[*Model](t, ByClasses(d.Rows(train)), Recipe{Learner: learner})
			c := Must(part.Classifier(d.Rows(train), 4))
			x := Must(part.prepareRows(d.Rows(test).Matrix(), 0))
			if c.expand != nil {
				x = c.expand(x)
			}
			if err := c.voters.HoldOut(t.Context(), x, datasetsY(d.Rows(test).Labels), 4, b); err != nil {
				t.Fatal(err)
			}
		}
		got, want := h.Calibration(), Must(b.Calibrate(t.Context()))
		if got.Folds != 5 || got.Rows != 61 || got.Shift != want.Shift || math.Abs(got.Power-want.Power) > 1e-8*want.Power {
			t.Errorf("%s: %+v, want %+v", learner, got, want)
		}
		plain := ask(t, Must(m.Classifier(d, 4)), asked)
		for i, e := range ask(t, h, asked) {
			if e.Class != plain[i].Class || e.Share != plain[i].Share || e.Distance != plain[i].Distance || plain[i].Probabilities != nil {
				t.Fatalf("%s, row %d: %+v, want %+v", learner, i, e, plain[i])
			}
			for c, p := range e.Probabilities {
				if h.classes[c] != e.Class && p >= e.Probabilities[1-c] {
					t.Fatalf("%s, row %d: %+v", learner, i, e)
				}
			}
		}
		back := make([]int, 61)
		for i := range back {
			back[i] = 60 - i
		}
		if other := Must(m.Probabilities(t.Context(), d.Rows(back), 4)).Calibration(); other != got {
			t.Errorf("%s: %+v of rows in another order, %+v", learner, other, got)
		}
	}
}

func datasetsY(labels []string) []int { _, y := datasets.Classes(labels); return y }

// A metric with nearly as many features as rows has all rows at their own class, though classes tell nothing. Probabilities are near a half all the same;
// those of rows left out under the metric that was learned from them too would be near 1.
func TestProbabilitiesOfAnOverfit(t *testing.T) {
	d := noise(3, 80, 50, 0)
	m := MustFit[*Model](t, ByClasses(d), Recipe{Learner: "fda"})
	most := func(h *Neighbourhood) (p float64) {
		for _, e := range ask(t, h, noise(4, 100, 50, 0)) {
			p = max(p, e.Probabilities[0], e.Probabilities[1])
		}
		return p
	}
	h := Must(m.Probabilities(t.Context(), d, 3))
	if p := most(h); p > .65 { // 80 rows tell a half within .15, at 2.7 deviations
		t.Errorf("a probability of %v", p)
	}
	if p := most(Must(h.calibrate(t.Context()))); p < .9 {
		t.Errorf("of rows that had a part in the metric: %v", p)
	}
}

// Where classes had no part in the metric, nothing is fitted anew, so that the calibration is that of rows left out.
func TestProbabilitiesWithoutFits(t *testing.T) {
	d := noise(5, 40, 3, 3)
	k0 := kernels.Gram(kernels.Linear{}, d.X)
	vectors := vectorFile(t, d.X, false)
	constraints := []ltkernel.Constraint{ltkernel.AtMost(0, 2, 9), ltkernel.AtLeast(0, 1, .1)}
	paired := *d
	paired.Links = []metric.Link{{I: 0, J: 2, Label: metric.Similar}, {I: 0, J: 1, Label: metric.Dissimilar}}
	for name, h := range map[string]*Neighbourhood{
		"pca":         Must(MustFit[*Model](t, ByClasses(d), Recipe{Learner: "pca"}).Probabilities(t.Context(), d, 3)),
		"euclidean":   Must(MustFit[*Model](t, ByClasses(d), Recipe{Learner: Euclidean}).Probabilities(t.Context(), d, 3)),
		"pairs":       Must(MustFit[*Model](t, PairsOfRows(&paired), Recipe{Learner: "pola"}).Probabilities(t.Context(), d, 3)),
		"constraints": Must(MustFit[*Gram](t, ByConstraints(k0, constraints), Recipe{Learner: "spectral"}).Probabilities(t.Context(), d.Labels, 3)),
		"kernel-pca":  Must(MustFit[*Gram](t, ByGram(k0, d.Labels), Recipe{Learner: "kernel-pca"}).Probabilities(t.Context(), d.Labels, 3)),
		"vectors":     Must(MustFit[*Vectors](t, PairsOfVectors(vectors, paired.Links), Recipe{Learner: "lego"}).Probabilities(t.Context(), vectors, d.Labels, 3, nil)),
	} {
		b := nearest.NewBallots(2)
		if err := h.voters.LeaveOut(t.Context(), 3, b); err != nil {
			t.Fatal(err)
		}
		if c, want := h.Calibration(), Must(b.Calibrate(t.Context())); c.Folds != 0 || c.Calibration != want || c.Rows != 40 || c.Power == 0 {
			t.Errorf("%s: %+v, want %+v", name, c, want)
		}
	}
	// By a Gram matrix with classes a learner of classes is fitted anew; so is one of sparse rows.
	g := Must(MustFit[*Gram](t, ByGram(k0, d.Labels), Recipe{Learner: "kernel-fda"}).Probabilities(t.Context(), d.Labels, 3))
	if c := g.Calibration(); c.Folds != 5 || c.Rows != 40 || c.Power == 0 {
		t.Errorf("Gram: %+v", c)
	}
	var svm strings.Builder
	for i := range 30 {
		fmt.Fprintf(&svm, "%d %d:1 %d:%d\n", i%2, 1+i%2, 3+i%3, 1+i%5)
	}
	sparse := Must(tables.ReadSVMLight(strings.NewReader(svm.String()), "a.svm", datasets.IndexBaseOne))
	m := MustFit[*Model](t, ByClasses(sparse), Recipe{Learner: "iplr", Raw: true, Params: map[string]string{"k": "2"}})
	if c := Must(m.Probabilities(t.Context(), sparse, 3)).Calibration(); c.Folds != 5 || c.Rows != 30 {
		t.Errorf("sparse rows: %+v", c)
	}
}

func TestProbabilitiesErrors(t *testing.T) {
	d := noise(6, 30, 2, 3)
	m := MustFit[*Model](t, ByClasses(d), Recipe{Learner: "rca"})
	// All rows of one class.
	one := Must(m.Probabilities(t.Context(), d.Rows([]int{0, 2, 4}), 3))
	if e := ask(t, one, d)[1]; e.Class != "a" || len(e.Probabilities) != 1 || e.Probabilities[0] != 1 {
		t.Errorf("of one class: %+v", e)
	}
	// k is cut to what a fold leaves.
	if c := Must(m.Probabilities(t.Context(), d, 30)).Calibration(); c.Rows != 30 {
		t.Errorf("k of all rows: %+v", c)
	}
	few := d.Rows([]int{0, 1, 2, 4, 3}) // two rows of b are enough
	if c := Must(m.Probabilities(t.Context(), few, 1)).Calibration(); c.Rows != 5 || c.Folds != 5 {
		t.Errorf("of five rows: %+v", c)
	}
	Refused(t, "one row of b", ErrorOf(m.Probabilities(t.Context(), d.Rows([]int{0, 1, 2, 4}), 1)), "model: probabilities: without the 1 row of fold ")
	Refused(t, "k", ErrorOf(m.Probabilities(t.Context(), d, 31)), "want 1 to 30")
	bare := d.Rows([]int{0, 1, 2, 3})
	bare.Labels = nil
	Refused(t, "no classes", ErrorOf(m.Probabilities(t.Context(), bare, 1)), ErrUnlabelled)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	Refused(t, "cancelled", ErrorOf(m.Probabilities(ctx, d, 3)), context.Canceled)
	if c := Must(m.Classifier(d, 3)).Calibration(); c != (Calibration{}) {
		t.Errorf("of a Classifier: %+v", c)
	}
	if a, b := m.CostOfProbabilities(d).Seconds, m.CostOfNear(30, 30).Seconds; a <= b {
		t.Errorf("%v seconds with five fits, %v without", a, b)
	}
}
