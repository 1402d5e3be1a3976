package learnertest_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/metric"
)

// scaled is a made-up pair learner: M = W·I, and a step multiplies W.
type scaled struct {
	N     int
	W, B  float64
	fault string
}

// demand panics if err is not nil.
func demand(err error) {
	if err != nil {
		panic("learnertest_test: " + err.Error())
	}
}

func (l *scaled) Dim() int {
	if l.fault == "Dim" {
		return l.N + 1
	}
	return l.N
}

func (l *scaled) Threshold() float64 { return l.B }

func (l *scaled) Metric() *metric.Mahalanobis {
	if l.N == 0 {
		panic("learnertest_test: zero value")
	}
	f := mat.NewDense(l.N, l.N, nil)
	w := l.W
	if l.fault == "Metric disagrees" {
		w *= 1.01
	}
	if l.fault == "Metric not finite" {
		w = math.Inf(1)
	}
	for i := range l.N {
		f.Set(i, i, math.Sqrt(w))
	}
	return metric.FromFactor(f)
}

func (l *scaled) Predict(f metric.Pair) learners.PairPrediction {
	switch {
	case l.fault == "panics of gonum" && len(f.X) != len(f.Y):
		panic(mat.ErrShape)
	case l.fault != "takes NaN" || len(f.X) != len(f.Y):
		demand(f.CheckVectors(l.N))
	}
	q := l.W * metric.Euclidean{}.SqDist(f.X, f.Y)
	if l.fault != "infinite" {
		q = learners.Saturate(q)
	}
	if l.fault == "asymmetric" && f.X[0] > f.Y[0] {
		q *= 1.5
	}
	if l.fault == "d(x, x) > 0" {
		q += 1e-9
	}
	if l.fault == "negative" {
		q = -q
	}
	p := learners.PairPrediction{SqDist: q, Similar: q <= l.B}
	if l.fault == "wrong side" {
		p.Similar = !p.Similar
	}
	return p
}

func (l *scaled) Loss(f metric.Pair) float64 {
	if l.fault != "loss of no label" {
		demand(f.CheckLabel())
	}
	return math.Max(0, 1+float64(f.Label)*(l.Predict(f).SqDist-l.B))
}

func (l *scaled) Step(f metric.Pair) (learners.PairOutcome, error) {
	var o learners.PairOutcome
	if l.fault != "no check" {
		if err := f.Check(l.N); err != nil {
			return o, err
		}
		if err := l.Predict(f).Check(); err != nil {
			return o, err
		}
	}
	o.Prediction, o.Loss = l.Predict(f), l.Loss(f)
	o.Mistake = o.Prediction.Similar != (f.Label == metric.Similar)
	same := metric.Euclidean{}.SqDist(f.X, f.Y) == 0
	if l.fault == "refuses x = y" && same {
		return o, errors.New("x = y")
	}
	if o.Loss > 0 && (!same || l.fault == "x = y changes M") {
		o.Updated, o.StepSize = true, float64(f.Label)*0.1
		l.W *= 1 - 0.1*float64(f.Label)
		l.B = math.Max(1, l.B+0.1*float64(f.Label))
		if l.fault == "low threshold" {
			l.B = 0.5
		}
	}
	return o, nil
}

// Save writes the learner; the fault stays behind.
func (l *scaled) Save(w io.Writer) error { return json.NewEncoder(w).Encode(l) }

func scaledPairs(fault string) learnertest.Pairs[learners.Pair] {
	return learnertest.Pairs[learners.Pair]{
		New: func(dim int) (learners.Pair, error) {
			if fault == "New fails" {
				return nil, errors.New("no")
			}
			return &scaled{N: dim, W: 1, B: 1, fault: fault}, nil
		},
		Load: func(r io.Reader) (learners.Pair, error) {
			l := &scaled{fault: fault}
			err := json.NewDecoder(r).Decode(l)
			return l, err
		},
		MinThreshold: 1,
	}
}

func TestPairLearnerFits(t *testing.T) { scaledPairs("").Run(t) }

func TestPairFaultsAreCaught(t *testing.T) {
	for fault, message := range map[string]string{
		"New fails":         "New: no",
		"Dim":               "Dim = ",
		"Metric disagrees":  "Metric measures",
		"Metric not finite": "not finite",
		"asymmetric":        "d(y, x) give",
		"d(x, x) > 0":       "d²(x, x) =",
		"negative":          "d² = -",
		"wrong side":        "predicted similar",
		"refuses x = y":     "x = y, similar: x = y",
		"x = y changes M":   "a distance changed",
		"low threshold":     "threshold 0.5 after an update",
		"no check":          "label 0: accepted",
		"panics of gonum":   "short x: Predict panics with mat.Error",
		"takes NaN":         "NaN: Predict panics: false, want true",
		"infinite":          "overflow: Predict gives {+Inf false}",
		"loss of no label":  "label 0: Loss panics: false, want true",
	} {
		t.Run(fault, func(t *testing.T) {
			defer func() { // a learner that checks nothing panics on the wrong length
				if p := recover(); p != nil && fault != "no check" {
					panic(p)
				}
			}()
			var r recorder
			s := scaledPairs(fault)
			if fault == "no check" {
				s = scaledPairs("")
				s.New = func(dim int) (learners.Pair, error) { return &unchecked{scaled{N: dim, W: 1, B: 1}}, nil }
			}
			s.Run(&r)
			r.wantViolation(t, message)
		})
	}
}

// unchecked takes every label.
type unchecked struct{ scaled }

func (l *unchecked) Step(f metric.Pair) (learners.PairOutcome, error) {
	if !f.Label.Valid() {
		f.Label = metric.Similar
	}
	return l.scaled.Step(f)
}

// Without Load saving is not checked.
func TestPairsSaving(t *testing.T) {
	s := scaledPairs("")
	s.Load = nil
	s.Run(t)
}

// fragile is a learner whose zero value panics with an error of the runtime.
type fragile struct{ *scaled }

func TestZeroValue(t *testing.T) {
	var r recorder
	s := scaledPairs("")
	s.New = func(dim int) (learners.Pair, error) { return &fragile{&scaled{N: dim, W: 1, B: 1}}, nil }
	s.Load = nil
	s.Run(&r)
	r.wantViolation(t, "the zero value: Predict panics with runtime.")
	r.wantViolation(t, "the zero value: Metric panics with runtime.")
}

// A deferred learner reports negative squared distances.
func TestDeferred(t *testing.T) {
	s := scaledPairs("negative")
	s.Deferred = true
	s.Load = nil
	s.Run(t)
}

// below is a deferred learner with the matrix −W·I, whose projection is 0.
type below struct {
	scaled
	measures float64 // factor of Matrix, 1 if it is right
	projects bool
}

func (l *below) Matrix() *mat.SymDense {
	if l.N == 0 {
		panic("learnertest_test: zero value")
	}
	m := mat.NewSymDense(l.N, nil)
	for i := range l.N {
		m.SetSym(i, i, -l.W*l.measures)
	}
	return m
}

func (l *below) Metric() *metric.Mahalanobis {
	if l.projects {
		return metric.Zero(l.N)
	}
	return l.scaled.Metric()
}

func TestRunningMatrix(t *testing.T) {
	suite := func(measures float64, projects bool) learnertest.Pairs[*below] {
		return learnertest.Pairs[*below]{
			New: func(dim int) (*below, error) {
				return &below{scaled{N: dim, W: 1, B: 1, fault: "negative"}, measures, projects}, nil
			},
			MinThreshold: 1,
			Deferred:     true,
		}
	}
	suite(1, true).Run(t)
	var disagrees, unprojected recorder
	suite(1.01, true).Run(&disagrees)
	disagrees.wantViolation(t, "Matrix measures")
	suite(1, false).Run(&unprojected)
	unprojected.wantViolation(t, "not the projection")
}

func TestPairStream(t *testing.T) {
	a := learnertest.PairStream(rand.New(rand.NewPCG(1, 1)), 3, 50, 1)
	count := map[metric.Label]int{}
	for _, p := range a {
		if err := p.Check(3); err != nil {
			t.Fatal(err)
		}
		count[p.Label]++
	}
	if count[metric.Similar] < 10 || count[metric.Dissimilar] < 10 || a[0].Label != metric.Dissimilar {
		t.Errorf("labels %v, the first %v", count, a[0].Label)
	}
}
