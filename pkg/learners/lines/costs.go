package lines

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
)

var costFields = []string{"cost"}

// costLines is the protocol of learners of maps from assignment costs.
type costLines struct {
	learner catalog.MapLearner // nil until the shape is known
	make    func(a, b int) (catalog.MapLearner, error)
	cost    []float64 // row by row
	columns int
	has     bool
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
	o, err := l.Step(metric.CostRound{Cost: mat.NewDense(a, b, p.cost)})
	if err != nil {
		return dst, err
	}
	if !finite(o.Loss) {
		return dst, fmt.Errorf("%w: it accepted the line with loss %v", ErrBroken, o.Loss)
	}
	p.learner = l
	dst = append(dst, `,"map":[`...)
	for i, j := range o.Prediction {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(j), 10)
	}
	return appendNumber(append(dst, ']'), "loss", o.Loss), nil
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
