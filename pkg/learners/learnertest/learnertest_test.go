package learnertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/metric"
)

// recorder collects violations instead of failing the test.
type recorder struct{ messages []string }

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.messages = append(r.messages, fmt.Sprintf(format, args...))
}

// wantViolation fails the test unless a message contains text.
func (r *recorder) wantViolation(t *testing.T, text string) {
	t.Helper()
	if !slices.ContainsFunc(r.messages, func(m string) bool { return strings.Contains(m, text) }) {
		t.Errorf("no violation contains %q; got %q", text, r.messages)
	}
}

// points is a made-up triplet learner: objects are points on a line, and a
// violated triplet moves A towards Near and away from Far.
type points struct{ Z []float64 }

func newPoints() *points { return &points{Z: []float64{0, 1, 2, 3, 4}} }

func (l *points) Predict(f metric.Triplet) learners.TripletPrediction {
	demand(l.check(f))
	sq := func(i, j int) float64 { return (l.Z[i] - l.Z[j]) * (l.Z[i] - l.Z[j]) }
	return learners.TripletPrediction{SqNear: sq(f.A, f.Near), SqFar: sq(f.A, f.Far)}
}

func (l *points) Loss(f metric.Triplet) float64 {
	p := l.Predict(f)
	return math.Max(0, 1+p.SqNear-p.SqFar)
}

func (l *points) check(f metric.Triplet) error {
	for _, i := range []int{f.A, f.Near, f.Far} {
		if i < 0 || i >= len(l.Z) {
			return fmt.Errorf("object %d, want 0 to %d", i, len(l.Z)-1)
		}
	}
	return nil
}

func (l *points) Step(f metric.Triplet) (learners.TripletOutcome, error) {
	var o learners.TripletOutcome
	if err := l.check(f); err != nil {
		return o, err
	}
	o.Prediction, o.Loss = l.Predict(f), l.Loss(f)
	o.Mistake = o.Prediction.SqNear >= o.Prediction.SqFar
	if o.Loss > 0 && f.Near != f.Far {
		o.StepSize, o.Updated = 0.1, true
		l.Z[f.A] += 0.1 * (l.Z[f.Near] - l.Z[f.Far])
	}
	return o, nil
}

type tripletSuite = learnertest.Suite[metric.Triplet, learners.TripletPrediction, learners.Online[metric.Triplet, learners.TripletPrediction]]

func triplets() tripletSuite {
	rng := rand.New(rand.NewPCG(1, 1))
	s := tripletSuite{
		New: func() learners.Online[metric.Triplet, learners.TripletPrediction] { return newPoints() },
		Bad: map[string]metric.Triplet{"object out of range": {A: 0, Near: 5, Far: 1}},
		Save: func(l learners.Online[metric.Triplet, learners.TripletPrediction], w io.Writer) error {
			return json.NewEncoder(w).Encode(l)
		},
		Load: func(r io.Reader) (learners.Online[metric.Triplet, learners.TripletPrediction], error) {
			l := new(points)
			err := json.NewDecoder(r).Decode(l)
			return l, err
		},
		Snapshot: func(l learners.Online[metric.Triplet, learners.TripletPrediction]) func() []float64 {
			z := slices.Clone(l.(*points).Z)
			return func() []float64 { return z }
		},
	}
	for range 40 {
		p := rng.Perm(5)
		s.Rounds = append(s.Rounds, metric.Triplet{A: p[0], Near: p[1], Far: p[2]})
	}
	return s
}

func TestTripletLearnerFits(t *testing.T) { triplets().Run(t) }

// guesser is a made-up map learner: it draws a map from weights at construction
// and at the end of Step, with a generator of its own.
type guesser struct {
	weights []float64 // A×B, row by row
	b       int
	guess   []int
	pcg     *rand.PCG
	last    mat.Matrix // only set by a broken variant
	fault   string
}

func newGuesser(fault string) *guesser {
	l := &guesser{weights: slices.Repeat([]float64{1}, 12), b: 4, pcg: rand.NewPCG(3, 4), fault: fault}
	l.draw()
	return l
}

func (l *guesser) draw() {
	rng := rand.New(l.pcg)
	l.guess = make([]int, len(l.weights)/l.b)
	for i := range l.guess {
		row := l.weights[i*l.b : (i+1)*l.b]
		var sum float64
		for _, w := range row {
			sum += w
		}
		u := rng.Float64() * sum
		for j, w := range row {
			l.guess[i] = j
			if u -= w; u < 0 {
				break
			}
		}
	}
}

func (l *guesser) Predict(f metric.CostRound) []int {
	switch l.fault {
	case "impure predict":
		l.pcg.Uint64()
	case "impure loss seen in predict":
		l.draw()
	case "peeks":
		if f.Cost.At(0, 0) > 0.5 {
			return []int{9, 9, 9}
		}
	case "shared prediction":
		return l.guess
	case "writes":
		f.Cost.(*mat.Dense).Set(0, 0, 0.5)
	}
	return slices.Clone(l.guess)
}

func (l *guesser) Loss(f metric.CostRound) float64 {
	if l.fault == "impure loss" {
		l.weights[0] *= 1.5
	}
	demand(l.check(f))
	var sum float64
	for i, j := range l.guess {
		sum += f.Cost.At(i, j)
	}
	return sum
}

func (l *guesser) check(f metric.CostRound) error {
	if f.Cost == nil {
		return errors.New("no cost")
	}
	if r, c := f.Cost.Dims(); r*c != len(l.weights) || c != l.b {
		return fmt.Errorf("cost is %d×%d", r, c)
	}
	return nil
}

func (l *guesser) Step(f metric.CostRound) (learners.MapOutcome, error) {
	o := learners.MapOutcome{Prediction: slices.Clone(l.guess), StepSize: 1, Updated: true}
	if err := l.check(f); err != nil {
		if f.Cost != nil && l.fault == "error changes state" {
			l.draw()
		}
		return o, err
	}
	if l.fault == "refuses" {
		return o, errors.New("no")
	}
	cost := f.Cost
	if l.fault == "keeps reference" {
		if l.last != nil {
			cost = l.last
		}
		l.last = f.Cost
	}
	o.Loss = l.Loss(f)
	for i := range l.guess {
		for j := range l.b {
			l.weights[i*l.b+j] *= math.Exp(-cost.At(i, j))
		}
	}
	l.draw()
	switch l.fault {
	case "loss after update":
		o.Loss = l.Loss(f)
	case "prediction after update":
		o.Prediction = slices.Clone(l.guess)
	case "hides updates", "never updates":
		o.Updated = false
	case "no step size":
		o.StepSize = 0
	case "NaN":
		o.StepSize = math.NaN()
	}
	return o, nil
}

type savedGuesser struct {
	Weights []float64
	Guess   []int
	PCG     []byte
}

type mapLearner = learners.Online[metric.CostRound, []int]

func costs(fault string) learnertest.Suite[metric.CostRound, []int, mapLearner] {
	rng := rand.New(rand.NewPCG(1, 2))
	calls := 0.0
	s := learnertest.Suite[metric.CostRound, []int, mapLearner]{
		New: func() mapLearner {
			l := newGuesser(fault)
			if fault == "start differs" {
				calls++
				l.weights[0] += calls
			}
			return l
		},
		Bad: map[string]metric.CostRound{"wrong size": {Cost: mat.NewDense(4, 3, nil)}, "nil": {}},
		Clone: func(f metric.CostRound) metric.CostRound {
			if f.Cost == nil {
				return f
			}
			return metric.CostRound{Cost: mat.DenseCopyOf(f.Cost)}
		},
		Scramble: func(f metric.CostRound) { f.Cost.(*mat.Dense).Scale(77, f.Cost) },
		Relabel: func(f metric.CostRound) metric.CostRound {
			var c mat.Dense
			c.Apply(func(_, _ int, v float64) float64 { return 1 - v }, f.Cost)
			return metric.CostRound{Cost: &c}
		},
		Save: func(l mapLearner, w io.Writer) error {
			g := l.(*guesser)
			if g.pcg == nil {
				demand(errors.New("zero value"))
			}
			p, err := g.pcg.MarshalBinary()
			if err != nil {
				return err
			}
			if fault == "save disturbs" {
				g.draw()
			}
			if fault == "save fails" {
				return errors.New("disk full")
			}
			if fault == "forgets the generator" {
				p, _ = rand.NewPCG(9, 9).MarshalBinary()
			}
			return json.NewEncoder(w).Encode(savedGuesser{g.weights, g.guess, p})
		},
		Load: func(r io.Reader) (mapLearner, error) {
			var s savedGuesser
			if err := json.NewDecoder(r).Decode(&s); err != nil && fault != "loads anything" {
				return nil, err
			}
			l := newGuesser(fault)
			if fault == "load fails" {
				return nil, errors.New("no")
			}
			if s.Weights != nil {
				l.weights, l.guess = s.Weights, s.Guess
				if err := l.pcg.UnmarshalBinary(s.PCG); err != nil {
					return nil, err
				}
			}
			return l, nil
		},
		Snapshot: func(l mapLearner) func() []float64 {
			w := l.(*guesser).weights
			if fault != "shared snapshot" {
				w = slices.Clone(w)
			}
			return func() []float64 { return w }
		},
	}
	for range 20 {
		c := mat.NewDense(3, 4, nil)
		c.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, c)
		s.Rounds = append(s.Rounds, metric.CostRound{Cost: c})
	}
	return s
}

func TestMapLearnerFits(t *testing.T) { costs("").Run(t) }

// Every fault is caught, by the check made for it.
func TestFaultsAreCaught(t *testing.T) {
	for fault, message := range map[string]string{
		"impure predict":              "gives",
		"impure loss seen in predict": "two calls of Predict differ",
		"impure loss":                 "more calls of Predict and Loss",
		"peeks":                       "with another label",
		"writes":                      "wrote to the round",
		"error changes state":         "wrong size refused",
		"keeps reference":             "after earlier rounds were overwritten",
		"loss after update":           "Step returned the loss",
		"prediction after update":     "Step returned the prediction",
		"hides updates":               "no update reported, but a prediction changed",
		"never updates":               "no round updates",
		"no step size":                "updated with step size 0",
		"NaN":                         "want finite numbers",
		"refuses":                     "valid round refused",
		"start differs":               "second learner with the same start",
		"save disturbs":               "saved after",
		"save fails":                  "disk full",
		"load fails":                  "load after",
		"forgets the generator":       "saved and loaded after",
		"loads anything":              "no error",
		"shared snapshot":             "later steps changed",
	} {
		t.Run(fault, func(t *testing.T) {
			var r recorder
			costs(fault).Run(&r)
			r.wantViolation(t, message)
		})
	}
}

// counted is a guesser whose further methods change it: without a race, but not
// without a trace.
type counted struct {
	*guesser
	calls atomic.Int64
}

func (l *counted) Count() int64 { return l.calls.Add(1) }

func (l *counted) Worst(metric.CostRound) int64 { return l.calls.Add(1) }

func (l *counted) Counts() iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) { yield(0, l.calls.Add(1)) }
}

func (l *counted) Step(f metric.CostRound) (learners.MapOutcome, error) {
	o, err := l.guesser.Step(f)
	o.StepSize += float64(l.calls.Load())
	return o, err
}

// A method that changes the learner, panics or answers otherwise when others are called at the same
// time is a violation; one that does not is none.
func TestConcurrencyFaults(t *testing.T) {
	suite := func() learnertest.Suite[metric.CostRound, []int, mapLearner] {
		s := costs("")
		s.New = func() mapLearner { return &counted{guesser: newGuesser("")} }
		s.Save, s.Load, s.Snapshot = nil, nil, nil
		return s
	}
	var r recorder
	suite().Run(&r)
	r.wantViolation(t, "after concurrent calls: round 0 gives")

	r = recorder{}
	s := suite()
	s.New = func() mapLearner { return newGuesser("") }
	s.Calls = map[string]func(mapLearner){"Explode": func(mapLearner) { panic("no") }}
	s.Run(&r)
	r.wantViolation(t, "called concurrently after 0 rounds: Explode panics: no")

	r = recorder{}
	s.Calls = nil
	var reads atomic.Int64
	s.Snapshot = func(mapLearner) func() []float64 {
		return func() []float64 { return []float64{float64(reads.Load())} }
	}
	s.Calls = map[string]func(mapLearner){"Read": func(mapLearner) { reads.Add(1) }}
	s.Run(&r)
	r.wantViolation(t, "Snapshot gives another answer than alone")
}

func TestSuiteNeedsRounds(t *testing.T) {
	var r recorder
	s := costs("")
	s.Rounds = s.Rounds[:1]
	s.Run(&r)
	r.wantViolation(t, "want at least 2")
}
