package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"metriclab/pkg/persist"
)

// Save writes the learner, with a checksum.
func (l *Weights) Save(w io.Writer) error {
	return persist.Write(w, "mine/weights", struct{}{}, persist.Floats(l.w))
}

// LoadWeights reads what Save wrote.
func LoadWeights(r io.Reader) (*Weights, error) {
	var w persist.Floats
	if err := persist.Load(r, "mine/weights", &struct{}{}, &w); err != nil {
		return nil, err
	}
	if len(w) == 0 || slices.Min(w) < 0 || !(slices.Max(w) <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: weights %v", persist.ErrDamaged, w)
	}
	return &Weights{w}, nil
}
