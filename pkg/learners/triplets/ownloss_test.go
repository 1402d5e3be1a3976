package triplets_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/learners/triplets/losstest"
	"metriclab/pkg/metric"
)

// ownHinge and ownLogistic are the losses of the enum, written by a user.
type ownHinge struct{ margin float64 }

func (h ownHinge) Loss(_ metric.Triplet, d float64) float64 { return max(0, d+h.margin) }
func (h ownHinge) Slope(_ metric.Triplet, d float64) float64 {
	if d+h.margin > 0 {
		return 1
	}
	return 0
}

type ownLogistic struct{}

func (ownLogistic) Loss(_ metric.Triplet, d float64) float64 {
	return max(0, d) + math.Log1p(math.Exp(-math.Abs(d)))
}
func (ownLogistic) Slope(_ metric.Triplet, d float64) float64 { return 1 / (1 + math.Exp(-d)) }

// trusted weighs each answer by how far its head is trusted; a slice in it makes it a value that == cannot compare.
type trusted struct {
	ownHinge
	weight []float64
}

func (w trusted) Loss(t metric.Triplet, d float64) float64 {
	return w.weight[t.A] * w.ownHinge.Loss(t, d)
}
func (w trusted) Slope(t metric.Triplet, d float64) float64 {
	return w.weight[t.A] * w.ownHinge.Slope(t, d)
}

func someTriplets(seed uint64, objects, n int) []metric.Triplet {
	rng := rand.New(rand.NewPCG(seed, 9))
	out := make([]metric.Triplet, n)
	for i := range out {
		p := rng.Perm(objects)
		out[i] = metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
	}
	return out
}

func TestOwnLossConforms(t *testing.T) {
	ts := someTriplets(1, 4, 6)
	losstest.Check(t, ownHinge{2}, ts)
	losstest.Check(t, ownLogistic{}, ts)
	losstest.Check(t, trusted{ownHinge{1}, []float64{1, .5, 0, 2}}, ts)
}

// The losses of the enum, written by a user, give the same kernels: with the hinge to the bit, with the logistic loss, where δ·f is
// rounded twice and not once, to 1e-9 after 60 rounds.
func TestOwnLossIsThatOfTheEnum(t *testing.T) {
	const n = 12
	for _, step := range []triplets.StepRule{triplets.StepPassiveAggressive, triplets.StepConstant, triplets.StepInverseSqrt, triplets.StepInverse} {
		for _, beta := range []int{1, 4} {
			for _, trace := range []float64{0, .01} {
				for _, c := range []struct {
					name string
					enum triplets.ERKLEParams
					own  triplets.OwnLoss
					tol  float64
				}{
					{"hinge", triplets.ERKLEParams{Margin: .5}, ownHinge{.5}, 0},
					{"logistic", triplets.ERKLEParams{Loss: triplets.STE}, ownLogistic{}, 1e-9},
				} {
					if c.enum.Loss == triplets.STE && step == triplets.StepPassiveAggressive {
						continue // its aim is a probability
					}
					c.enum.Step, c.enum.Beta, c.enum.Trace, c.enum.Seed = step, beta, trace, 3
					own := c.enum
					own.Loss, own.Own = triplets.GNMDS, c.own
					a, err := triplets.NewERKLE(n, c.enum)
					if err != nil {
						t.Fatal(err)
					}
					b, err := triplets.NewERKLE(n, own)
					if err != nil {
						t.Fatal(err)
					}
					for i, x := range someTriplets(2, n, 60) {
						oa, errA := a.Step(x)
						ob, errB := b.Step(x)
						if errA != nil || errB != nil || !(math.Abs(oa.StepSize-ob.StepSize) <= c.tol) || oa.Mistake != ob.Mistake {
							t.Fatalf("%s, %v, beta %d, trace %v, round %d: %+v, %v; of the user's own %+v, %v", c.name, step, beta, trace, i, oa, errA, ob, errB)
						}
					}
					if !mat.EqualApprox(a.Kernel(), b.Kernel(), c.tol) {
						t.Errorf("%s, %v, beta %d, trace %v: the kernels differ", c.name, step, beta, trace)
					}
				}
			}
		}
	}
}

// A weight of ½ is half a step, and one of 0 is none, of the passive-aggressive rule too.
func TestOwnLossWeighsTriplets(t *testing.T) {
	own := trusted{ownHinge{1}, []float64{1, .5, 0, 1}}
	for _, step := range []triplets.StepRule{triplets.StepConstant, triplets.StepPassiveAggressive} {
		l, err := triplets.NewERKLE(4, triplets.ERKLEParams{Own: own, Step: step, Delta: .01})
		if err != nil {
			t.Fatal(err)
		}
		for a, want := range map[int]float64{0: .01, 1: .005, 2: 0} {
			x := metric.Triplet{A: a, Near: (a + 1) % 4, Far: (a + 2) % 4}
			o, err := l.Step(x)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case step == triplets.StepConstant && o.StepSize != want:
				t.Errorf("constant step of head %d: %v, want %v", a, o.StepSize, want)
			case step == triplets.StepPassiveAggressive && (o.StepSize > 0) != (want > 0):
				t.Errorf("passive-aggressive step of head %d: %v", a, o.StepSize)
			case step == triplets.StepPassiveAggressive && want > 0:
				// The target is reached before the projection, which never fires this near to I.
				if p := l.Predict(x); math.Abs(p.SqNear-p.SqFar+1) > 1e-12 {
					t.Errorf("D = %v after the step, want −1", p.SqNear-p.SqFar)
				}
			}
		}
	}
}

func TestOwnLossIsNotSaved(t *testing.T) {
	l, err := triplets.NewERKLE(3, triplets.ERKLEParams{Own: ownLogistic{}, Step: triplets.StepConstant})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := l.Save(&b); err == nil || !strings.Contains(err.Error(), "a file holds no code") || b.Len() > 0 {
		t.Errorf("Save: %v, %d bytes", err, b.Len())
	}
	// What the error suggests works.
	if _, err := triplets.NewERKLE(3, triplets.ERKLEParams{Own: ownLogistic{}, Step: triplets.StepConstant, Initial: l.Kernel()}); err != nil {
		t.Error(err)
	}
	if _, err := triplets.NewERKLE(3, triplets.ERKLEParams{Own: ownLogistic{}, Loss: triplets.STE}); err == nil {
		t.Error("two losses are allowed")
	}
}

// broken is a loss that breaks its promise.
type broken struct{ loss, slope float64 }

func (b broken) Loss(metric.Triplet, float64) float64  { return b.loss }
func (b broken) Slope(metric.Triplet, float64) float64 { return b.slope }

func TestOwnLossThatBreaksItsPromise(t *testing.T) {
	for _, own := range []broken{{-1, 1}, {math.NaN(), 1}, {1, -1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		l, err := triplets.NewERKLE(3, triplets.ERKLEParams{Own: own, Step: triplets.StepConstant})
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "ERKLEParams.Own") {
					t.Errorf("%+v: %v", own, r)
				}
			}()
			_, err := l.Step(metric.Triplet{A: 0, Near: 1, Far: 2})
			t.Errorf("%+v: no panic, error %v", own, err)
		}()
	}
}

// The learner conforms with a loss of the user's own.
func TestOwnLossLearnerConforms(t *testing.T) {
	learnertest.Suite[metric.Triplet, learners.TripletPrediction, *triplets.ERKLE]{
		New: func() *triplets.ERKLE {
			l, err := triplets.NewERKLE(10, triplets.ERKLEParams{Own: trusted{ownHinge{1}, []float64{1, 1, .5, 1, 1, 2, 1, 1, 0, 1}}, Step: triplets.StepConstant, Delta: .1, Beta: 2})
			if err != nil {
				t.Fatal(err)
			}
			return l
		},
		Rounds: someTriplets(3, 10, 30),
		Bad:    map[string]metric.Triplet{"object −1": {A: -1, Near: 1, Far: 2}, "near and far": {A: 0, Near: 1, Far: 1}},
	}.Run(t)
}

// ramp is a hinge that stops rising at D = 1: an answer that contradicts the kernel strongly moves nothing.
type ramp struct{}

func (ramp) Loss(_ metric.Triplet, d float64) float64 { return min(2, max(0, 1+d)) }
func (ramp) Slope(_ metric.Triplet, d float64) float64 {
	if -1 < d && d < 1 {
		return 1
	}
	return 0
}

// A loss that is bounded: an answer given ten times is learned, and one that then says the opposite is
// taken for an error.
func ExampleOwnLoss() {
	l, err := triplets.NewERKLE(3, triplets.ERKLEParams{Own: ramp{}, Step: triplets.StepConstant, Delta: .12})
	if err != nil {
		fmt.Println(err)
		return
	}
	right, wrong := metric.Triplet{A: 0, Near: 1, Far: 2}, metric.Triplet{A: 0, Near: 2, Far: 1}
	for range 10 {
		if _, err := l.Step(right); err != nil {
			fmt.Println(err)
			return
		}
	}
	p := l.Predict(right)
	fmt.Printf("d² to 1: %.2f, to 2: %.2f\n", p.SqNear, p.SqFar)
	o, err := l.Step(wrong)
	fmt.Println("loss", o.Loss, "updated", o.Updated, err)
	// Output:
	// d² to 1: 1.40, to 2: 2.60
	// loss 2 updated false <nil>
}
