package main

import (
	"fmt"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// Weights measures d² = Σ wᵢ(xᵢ−yᵢ)² with w ≥ 0, at first 0. Pairs are similar iff
// d² ≤ 1; a similar pair should have d² ≤ ½, a dissimilar one d² ≥ 1½.
type Weights struct{ w []float64 }

var _ learners.Pair = (*Weights)(nil)

// NewWeights returns a learner for vectors of length dim.
func NewWeights(dim int) (*Weights, error) {
	if dim < 1 {
		return nil, fmt.Errorf("dim is %d, want at least 1", dim)
	}
	return &Weights{make([]float64, dim)}, nil
}

func (l *Weights) Dim() int           { return len(l.w) }
func (l *Weights) Threshold() float64 { return 1 }

// Predict ignores the label, and panics on vectors that Step refuses.
func (l *Weights) Predict(p metric.Pair) learners.PairPrediction {
	if err := p.CheckVectors(l.Dim()); err != nil {
		panic(fmt.Sprintf("main: Predict: %v", err))
	}
	d := 0.0
	for i, w := range l.w {
		d += w * (p.X[i] - p.Y[i]) * (p.X[i] - p.Y[i])
	}
	return learners.PairPrediction{SqDist: learners.Saturate(d), Similar: d <= 1}
}

// Loss is the hinge loss max(0, ½ + y(d² − 1)).
func (l *Weights) Loss(p metric.Pair) float64 {
	if err := p.CheckLabel(); err != nil {
		panic(fmt.Sprintf("main: Loss: %v", err))
	}
	return max(0, learners.Saturate(0.5+float64(p.Label)*(l.Predict(p).SqDist-1)))
}

// Step moves the weights about as far as the pair asks for.
func (l *Weights) Step(p metric.Pair) (out learners.PairOutcome, err error) {
	if err := p.Check(l.Dim()); err != nil {
		return out, err
	}
	sq, norm := make([]float64, l.Dim()), 1.0
	for i := range sq {
		sq[i] = (p.X[i] - p.Y[i]) * (p.X[i] - p.Y[i])
		norm += sq[i] * sq[i]
	}
	out.Prediction, out.Loss = l.Predict(p), l.Loss(p)
	out.Mistake = out.Prediction.Similar != (p.Label == metric.Similar)
	out.StepSize = -float64(p.Label) * out.Loss / norm
	for i, w := range l.w {
		l.w[i] = max(0, w+out.StepSize*sq[i])
		out.Updated = out.Updated || l.w[i] != w
	}
	return out, nil
}
