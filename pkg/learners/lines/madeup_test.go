package lines

import (
	"errors"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// madeUp is a catalog of learners that exist for these tests only.
var madeUp = []catalog.Entry{
	{
		Name: "counter", Use: catalog.Use{Feedback: catalog.Pairs}, Kind: "test/counter",
		New: func(s catalog.Shape, _ catalog.Values) (catalog.Learner, error) {
			if s.Dim == 13 {
				return nil, errors.New("counter: dim: 13 is not allowed")
			}
			return &counter{D: s.Dim}, nil
		},
		Load: func(r io.Reader) (catalog.Learner, error) { return loadAs[counter](r, "test/counter") },
	},
	{
		Name: "points", Use: catalog.Use{Feedback: catalog.Triplets}, Kind: "test/points",
		New: func(s catalog.Shape, _ catalog.Values) (catalog.Learner, error) {
			l := &points{Z: make([]float64, s.Objects)}
			for i := range l.Z {
				l.Z[i] = float64(i)
			}
			return l, nil
		},
		Load: func(r io.Reader) (catalog.Learner, error) { return loadAs[points](r, "test/points") },
	},
	{
		Name: "hedge", Use: catalog.Use{Feedback: catalog.Costs}, Kind: "test/hedge",
		New: func(s catalog.Shape, _ catalog.Values) (catalog.Learner, error) {
			return &hedge{A: s.Objects, B: s.Prototypes, W: make([]float64, s.Objects*s.Prototypes)}, nil
		},
		Load: func(r io.Reader) (catalog.Learner, error) { return loadAs[hedge](r, "test/hedge") },
	},
	{Name: "batch", Use: catalog.Use{Feedback: catalog.Links}},
}

var madeUpAndReal = append(catalog.All(), madeUp...)

func saveAs(w io.Writer, kind string, l any) error { return persist.Write(w, kind, struct{}{}, l) }

func loadAs[T any](r io.Reader, kind string) (*T, error) {
	env, err := persist.Read(r)
	if err != nil {
		return nil, err
	}
	if err := env.Expect(kind); err != nil {
		return nil, err
	}
	l := new(T)
	return l, env.Decode(&struct{}{}, l)
}

// counter is a pair learner that measures Euclidean distances and counts what
// it learned. A label that meets the difference 666 breaks it.
type counter struct{ D, N int }

func (l *counter) Dim() int           { return l.D }
func (l *counter) Threshold() float64 { return float64(l.N) }
func (l *counter) Support() int       { return 2 * l.N }

func (l *counter) Predict(f metric.Pair) learners.PairPrediction {
	sq := metric.Euclidean{}.SqDist(f.X, f.Y)
	return learners.PairPrediction{SqDist: sq, Similar: sq <= l.Threshold()}
}

func (l *counter) Loss(f metric.Pair) float64 { return math.Abs(float64(f.X[0] - f.Y[0])) }

func (l *counter) Step(f metric.Pair) (learners.PairOutcome, error) {
	o := learners.PairOutcome{Prediction: l.Predict(f), Loss: l.Loss(f), StepSize: 1, Updated: true}
	switch f.X[0] - f.Y[0] {
	case 13:
		return o, errors.New("counter: the difference 13 is not allowed")
	case 666:
		o.Loss = math.NaN()
	}
	o.Mistake = o.Prediction.Similar != (f.Label == metric.Similar)
	l.N++
	return o, nil
}

func (l *counter) Save(w io.Writer) error { return saveAs(w, "test/counter", l) }

// points is a triplet learner of points on a line.
type points struct{ Z []float64 }

func (l *points) Objects() int { return len(l.Z) }

func (l *points) Kernel() mat.Symmetric {
	k := mat.NewSymDense(len(l.Z), nil)
	k.SymOuterK(1, mat.NewVecDense(len(l.Z), slices.Clone(l.Z)))
	return k
}

func (l *points) Predict(f metric.Triplet) learners.TripletPrediction {
	sq := func(i, j int) float64 { return (l.Z[i] - l.Z[j]) * (l.Z[i] - l.Z[j]) }
	return learners.TripletPrediction{SqNear: sq(f.A, f.Near), SqFar: sq(f.A, f.Far)}
}

func (l *points) Loss(f metric.Triplet) float64 {
	p := l.Predict(f)
	return math.Max(0, 1+p.SqNear-p.SqFar)
}

func (l *points) Step(f metric.Triplet) (learners.TripletOutcome, error) {
	o := learners.TripletOutcome{Prediction: l.Predict(f), Loss: l.Loss(f)}
	if f.Near == f.Far {
		return o, errors.New("points: near and far are the same object")
	}
	o.Mistake = o.Prediction.SqNear >= o.Prediction.SqFar
	if o.Loss > 0 {
		o.StepSize, o.Updated = 0.5, true
		l.Z[f.A] += 0.5 * (l.Z[f.Near] - l.Z[f.Far])
	}
	return o, nil
}

func (l *points) Save(w io.Writer) error { return saveAs(w, "test/points", l) }

// hedge is a map learner: each object goes to the prototype of the smallest
// cost so far, the first one if they tie.
type hedge struct {
	A, B int
	W    []float64 // minus the sum of the costs
}

func (l *hedge) Dims() (a, b int)       { return l.A, l.B }
func (l *hedge) LogWeights() mat.Matrix { return mat.NewDense(l.A, l.B, slices.Clone(l.W)) }

func (l *hedge) Predict(metric.CostRound) []int {
	guess := make([]int, l.A)
	for i := range guess {
		for j := range l.B {
			if l.W[i*l.B+j] > l.W[i*l.B+guess[i]] {
				guess[i] = j
			}
		}
	}
	return guess
}

func (l *hedge) Loss(f metric.CostRound) float64 {
	var sum float64
	for i, j := range l.Predict(f) {
		sum += f.Cost.At(i, j)
	}
	return sum / float64(l.A)
}

func (l *hedge) Step(f metric.CostRound) (learners.MapOutcome, error) {
	o := learners.MapOutcome{Prediction: l.Predict(f), Loss: l.Loss(f), StepSize: 1, Updated: true}
	for i := range l.A {
		for j := range l.B {
			l.W[i*l.B+j] -= f.Cost.At(i, j)
		}
	}
	return o, nil
}

func (l *hedge) Save(w io.Writer) error { return saveAs(w, "test/hedge", l) }
