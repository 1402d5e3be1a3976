package lines

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

var tripletFields = []string{"a", "near", "far", "b", "c"}

// tripletLines is the protocol of learners of relative comparisons.
type tripletLines struct {
	learner learners.TripletLearner
	last    int    // object
	want    string // which objects are allowed, for errors
	object  [5]int // by index in tripletFields
	has     [5]bool
}

func newTripletLines(l learners.TripletLearner) *tripletLines {
	last := l.Objects() - 1
	return &tripletLines{learner: l, last: last, want: fmt.Sprintf("an object from 0 to %d", last)}
}

func (p *tripletLines) fields() []string { return tripletFields }

func (p *tripletLines) reset() { p.has = [5]bool{} }

func (p *tripletLines) field(i int, d *decoder) error {
	p.has[i] = true
	var err error
	p.object[i], err = d.whole(tripletFields[i], 0, p.last, p.want)
	return err
}

func (p *tripletLines) answer(dst []byte) ([]byte, error) {
	switch p.has {
	case [5]bool{true, true, true, false, false}:
		return p.learn(dst)
	case [5]bool{true, false, false, true, true}:
		return p.predict(dst)
	}
	return dst, errFields
}

var errFields = errors.New(`want the fields "a", "near", "far" to learn, or "a", "b", "c" to predict`)

func (p *tripletLines) learn(dst []byte) ([]byte, error) {
	o, err := p.learner.Step(metric.Triplet{A: p.object[0], Near: p.object[1], Far: p.object[2]})
	if err != nil {
		return dst, err
	}
	if !finite(o.Prediction.SqNear, o.Prediction.SqFar, o.Loss, o.StepSize) {
		return dst, fmt.Errorf("%w: it accepted the line with squared distances %v and %v, loss %v, step %v", ErrBroken, o.Prediction.SqNear, o.Prediction.SqFar, o.Loss, o.StepSize)
	}
	dst = appendNumber(dst, "sqnear", o.Prediction.SqNear)
	dst = appendNumber(dst, "sqfar", o.Prediction.SqFar)
	dst = appendNumber(dst, "loss", o.Loss)
	dst = appendBool(dst, "mistake", o.Mistake)
	return appendNumber(dst, "step", o.StepSize), nil
}

func (p *tripletLines) predict(dst []byte) ([]byte, error) {
	b, c := p.object[3], p.object[4]
	sq := p.learner.Predict(metric.Triplet{A: p.object[0], Near: b, Far: c})
	if !finite(sq.SqNear, sq.SqFar) {
		return dst, fmt.Errorf("a, b and c: squared distances are %v and %v, want finite numbers", sq.SqNear, sq.SqFar)
	}
	nearer := b
	if sq.SqFar < sq.SqNear {
		nearer = c
	}
	dst = appendNumber(dst, "sqb", sq.SqNear)
	dst = appendNumber(dst, "sqc", sq.SqFar)
	dst = append(dst, `,"nearer":`...)
	return strconv.AppendInt(dst, int64(nearer), 10), nil
}

func (p *tripletLines) appendState(dst []byte) ([]byte, error) {
	return appendMatrix(append(dst, `"kernel":`...), p.learner.Kernel())
}

func (p *tripletLines) save(w io.Writer) error { return p.learner.Save(w) }
