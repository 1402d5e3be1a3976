package metric

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/persist"
)

// Kind is the kind under which package persist stores a Mahalanobis.
const Kind = "metric/mahalanobis"

// mahalanobisState is what Save writes; there are no parameters.
type mahalanobisState struct {
	Dim    int            `json:"dim"`
	Rows   int            `json:"rows"`
	Factor persist.Floats `json:"factor"` // L, row by row
}

// Save writes the metric in the format of package persist, kind
// "metric/mahalanobis": L as it is, so that a metric loaded from it measures
// every distance to the same bit. What a batch learner such as RCA returns
// (learners.MetricResult) is saved as its metric. It returns an error, and writes
// nothing, if an entry of L is NaN or infinite. It panics on nil and on the zero value.
func (m *Mahalanobis) Save(w io.Writer) error {
	if m == nil || m.dim == 0 {
		panic("metric: Mahalanobis: nil or the zero value, use NewMahalanobis or FromFactor")
	}
	s := mahalanobisState{Dim: m.dim, Rows: m.Rows()}
	if m.l != nil {
		if err := CheckFinite(m.l); err != nil {
			return fmt.Errorf("metric: factor: %w", err)
		}
		s.Factor = m.l.RawMatrix().Data // a matrix of its own: no gaps between rows
	}
	return persist.Write(w, Kind, struct{}{}, s)
}

// Load reads a metric that Save wrote. Its errors wrap those of package persist
// if the file is foreign, newer, damaged or of another kind.
func Load(r io.Reader) (*Mahalanobis, error) {
	var s mahalanobisState
	if err := persist.Load(r, Kind, &struct{}{}, &s); err != nil {
		return nil, err
	}
	m, err := s.metric()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, Kind, err)
	}
	return m, nil
}

// metric returns the saved metric, or an error if the parts do not fit.
func (s mahalanobisState) metric() (*Mahalanobis, error) {
	// Without rows nothing but this limit bounds the dimension; M has dim² entries.
	if s.Dim < 1 || s.Dim > math.MaxInt32 || s.Rows < 0 {
		return nil, fmt.Errorf("%d rows in %d dimensions", s.Rows, s.Dim)
	}
	if s.Rows == 0 && len(s.Factor) == 0 {
		return Zero(s.Dim), nil
	}
	if s.Rows == 0 || len(s.Factor)%s.Rows != 0 || len(s.Factor)/s.Rows != s.Dim {
		return nil, fmt.Errorf("factor: %d numbers do not fit %d rows in %d dimensions", len(s.Factor), s.Rows, s.Dim)
	}
	l := mat.NewDense(s.Rows, s.Dim, s.Factor)
	if err := CheckFinite(l); err != nil {
		return nil, fmt.Errorf("factor: %w", err)
	}
	return &Mahalanobis{dim: s.Dim, l: l}, nil
}
