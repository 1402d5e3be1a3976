// Learner is an online learner of one's own, which weighs features. Its test shows it to
// the conformance suite, which tells what a learner lacks.
//
//	go run ./examples/learner && go test ./examples/learner
package main

import (
	"fmt"
	"io"
	"math/rand/v2"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// Weights measures d² = Σ (wᵢ(xᵢ−yᵢ))². A pair is similar iff d² ≤ 1; the loss of one with
// label y is the hinge loss max(0, ½ + y(d² − 1)).
type Weights []float64

func (w Weights) Dim() int                 { return len(w) }
func (w Weights) Threshold() float64       { return 1 }
func (w Weights) Save(out io.Writer) error { return persist.Write(out, "mine/weights", "", w) }

// Load reads what Save wrote.
func Load(in io.Reader) (w Weights, err error) {
	err = persist.Load(in, "mine/weights", new(string), &w)
	return w, err
}

// Predict ignores the label. It panics on what Step refuses, as Loss does.
func (w Weights) Predict(p metric.Pair) learners.PairPrediction {
	must(p.CheckVectors(w.Dim()))
	d := 0.0
	for i, wi := range w {
		d += wi * (p.X[i] - p.Y[i]) * wi * (p.X[i] - p.Y[i])
	}
	return learners.PairPrediction{SqDist: learners.Saturate(d), Similar: d <= 1}
}

func (w Weights) Loss(p metric.Pair) float64 {
	must(p.CheckLabel())
	return max(0, learners.Saturate(0.5+float64(p.Label)*(w.Predict(p).SqDist-1)))
}

// Step lets the weights of features in which x and y differ grow or shrink.
func (w Weights) Step(p metric.Pair) (out learners.PairOutcome, err error) {
	if err := p.Check(w.Dim()); err != nil {
		return out, err
	}
	out.Prediction, out.Loss = w.Predict(p), w.Loss(p)
	if err := out.Prediction.Check(); err != nil {
		return out, err
	}
	out.Mistake = out.Prediction.Similar != (p.Label == metric.Similar)
	out.Updated = out.Loss > 0
	out.StepSize = -float64(p.Label) * out.Loss / (1 + out.Prediction.SqDist) / (1 + metric.Euclidean{}.SqDist(p.X, p.Y))
	for i := range w {
		w[i] *= 1 + out.StepSize*(p.X[i]-p.Y[i])*(p.X[i]-p.Y[i])
	}
	return out, nil
}

func must(err error) {
	if err != nil {
		panic("main: " + err.Error())
	}
}

// Pairs are similar iff their first features are near; the other is noise.
func main() {
	learner, rng := Weights{1, 1}, rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x, y := []float64{4 * rng.Float64(), rng.NormFloat64()}, []float64{4 * rng.Float64(), rng.NormFloat64()}
		_, err := learner.Step(metric.Pair{X: x, Y: y, Label: metric.SameClass(max(x[0]-y[0], y[0]-x[0]) < 1)})
		must(err)
	}
	fmt.Printf("weights: %.2f\n", learner)
}
