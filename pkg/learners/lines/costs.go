package lines

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

var costFields = []string{"cost"}

// costLines is the protocol of learners of maps from assignment costs.
type costLines struct {
	learner learners.MapLearner // nil until the shape is known
	make    func(a, b int) (learners.MapLearner, error)
	cost    []float64 // row by row
	columns int
	has     bool
}

// expecter is a learner that draws its maps and may know their law.
type expecter interface {
	// ExpectedLoss returns the expected loss of the current map in a round, and whether it is known.
	ExpectedLoss(f metric.CostRound) (float64, bool)
}

func (p *costLines) fields() []string { return costFields }

func (p *costLines) reset() { p.has = false }

func (p *costLines) field(_ int, d *decoder) error {
	p.has = true
	var err error
	p.cost, p.columns, err = d.matrix(p.cost[:0], "cost")
	return err
}

func (p *costLines) answer(dst []byte) ([]byte, error) {
	if !p.has {
		return dst, errors.New("cost: missing, want a list of rows")
	}
	a, b := len(p.cost)/p.columns, p.columns
	for k, v := range p.cost {
		if v < 0 || v > 1 {
			return dst, fmt.Errorf("cost[%d][%d]: %v is not allowed, want a number from 0 to 1", k/b, k%b, v)
		}
	}
	l := p.learner
	if l == nil {
		var err error
		if l, err = p.make(a, b); err != nil {
			return dst, err
		}
	} else if r, c := l.Dims(); a != r || b != c {
		return dst, fmt.Errorf("cost: has %d rows of %d numbers, want %d of %d", a, b, r, c)
	}
	f := metric.CostRound{Cost: mat.NewDense(a, b, p.cost)}
	var expected float64
	known := false
	if e, ok := l.(expecter); ok {
		expected, known = e.ExpectedLoss(f)
	}
	o, err := l.Step(f)
	if err != nil {
		return dst, err
	}
	if !finite(o.Loss, expected) {
		return dst, fmt.Errorf("%w: it accepted the line with loss %v, expected loss %v", ErrBroken, o.Loss, expected)
	}
	p.learner = l
	dst = append(dst, `,"map":[`...)
	for i, j := range o.Prediction {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(j), 10)
	}
	dst = appendNumber(append(dst, ']'), "loss", o.Loss)
	if known {
		dst = appendNumber(dst, "expected", expected)
	}
	return dst, nil
}

func (p *costLines) appendState(dst []byte) ([]byte, error) {
	return appendMatrix(append(dst, `"logweights":`...), p.learner.LogWeights())
}

func (p *costLines) save(w io.Writer) error {
	if p.learner == nil {
		return ErrNothing
	}
	return p.learner.Save(w)
}
