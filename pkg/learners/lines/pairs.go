package lines

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/vectors"
)

type pairLearner = learners.Pair

// supporter is a pair learner that stores points instead of a matrix.
type supporter interface{ Support() int }

// running is a pair learner that has the matrix it predicts with. That of Metric
// may be its projection.
type running interface{ Matrix() *mat.SymDense }

var pairFields = []string{"x", "y", "label"}

// pairLines is the protocol of learners of labelled pairs.
type pairLines struct {
	name    string      // of the learner, a prefix of errors as in those of Step
	dim     int         // 0 until it is known
	learner pairLearner // nil until it is
	states  bool        // answers have states
	make    func(dim int) (pairLearner, error)
	f       metric.Pair
	has     [3]bool // by index in pairFields
}

func (p *pairLines) fields() []string { return pairFields }

func (p *pairLines) reset() { p.has = [3]bool{} }

func (p *pairLines) field(i int, d *decoder) error {
	p.has[i] = true
	var err error
	switch i {
	case 0:
		p.f.X, err = d.numbers(p.f.X[:0], "x", -1)
	case 1:
		p.f.Y, err = d.numbers(p.f.Y[:0], "y", -1)
	default:
		p.f.Label, err = d.label()
	}
	return err
}

// made returns a learner for vectors of length dim.
func (p *pairLines) made(dim int) (pairLearner, error) {
	l, err := p.make(dim)
	if err == nil {
		err = checkState(l, p.states)
	}
	return l, err
}

// checkState returns an error if answers have states, and the matrix of the learner's, unless it is a Pair without,
// does not fit limits.Memory: a learner may do without a matrix of all features.
func checkState(l interface{ Dim() int }, states bool) error {
	_, pair := l.(learners.Pair)
	if _, has := l.(learners.PairMetric); pair && !has || !states {
		return nil
	}
	const copies = 4 // the matrix, what it comes from, its text
	return limits.Check(fmt.Sprintf("the state of a learner with %d features", l.Dim()), limits.Floats(copies, l.Dim(), l.Dim()))
}

func (p *pairLines) answer(dst []byte) ([]byte, error) {
	for i, name := range pairFields[:2] {
		if !p.has[i] {
			return dst, fmt.Errorf("%s: missing, want a list of numbers", name)
		}
	}
	return p.step(dst)
}

// step is answer once x and y are there.
func (p *pairLines) step(dst []byte) ([]byte, error) {
	dim := p.dim
	if dim == 0 {
		if dim = len(p.f.X); dim == 0 {
			return dst, errors.New("x: has 0 numbers, want at least 1")
		}
	}
	if err := p.f.CheckVectors(dim); err != nil {
		return dst, err
	}
	l := p.learner
	if l == nil {
		var err error
		if l, err = p.made(dim); err != nil {
			return dst, err
		}
	}
	var o learners.PairOutcome
	if p.has[2] {
		var err error
		if o, err = l.Step(p.f); err != nil {
			return dst, err
		}
		if !finite(o.Prediction.SqDist, o.Loss, o.StepSize) {
			return dst, fmt.Errorf("%w: it accepted the line with squared distance %v, loss %v, step %v", ErrBroken, o.Prediction.SqDist, o.Loss, o.StepSize)
		}
	} else {
		o.Prediction = l.Predict(p.f)
		if err := o.Prediction.Check(); err != nil {
			return dst, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	p.dim, p.learner = dim, l
	dst = appendNumber(dst, "sqdist", o.Prediction.SqDist)
	dst = appendBool(dst, "similar", o.Prediction.Similar)
	if p.has[2] {
		dst = appendNumber(dst, "loss", o.Loss)
		dst = appendBool(dst, "mistake", o.Mistake)
		dst = appendNumber(dst, "step", o.StepSize)
	}
	return dst, nil
}

func (p *pairLines) appendState(dst []byte) ([]byte, error) {
	var m *mat.SymDense
	switch l := p.learner.(type) {
	case running:
		m = l.Matrix()
	case learners.PairMetric:
		m = l.Metric().M()
	case supporter:
		dst = append(dst, `"support":`...)
		dst = strconv.AppendInt(dst, int64(l.Support()), 10)
		dst = append(dst, ',')
	}
	if m != nil {
		var err error
		dst = append(dst, `"m":`...)
		if dst, err = appendMatrix(dst, m); err != nil {
			return dst, err
		}
		dst = append(dst, ',')
	}
	b := p.learner.Threshold()
	if !finite(b) {
		return dst, fmt.Errorf("%w: its threshold is %v", ErrBroken, b)
	}
	dst = append(dst, `"threshold":`...)
	return appendFloat(dst, b), nil
}

func (p *pairLines) save(w io.Writer) error {
	if p.learner == nil {
		return ErrNothing
	}
	return p.learner.Save(w)
}

// vectorLines is the protocol of pairs whose vectors lie in a file.
type vectorLines struct {
	*pairLines
	from *vectors.File
	line itemLine
}

// fromVectors has the vectors of p, whose dimension is known, read from a file.
func (p *pairLines) fromVectors(v *Vectors) (*vectorLines, error) {
	find, err := v.Objects.Finder()
	if err != nil {
		return nil, &OptionError{"vectors", err}
	}
	p.f.X, p.f.Y = make([]float64, p.dim), make([]float64, p.dim)
	return &vectorLines{pairLines: p, from: v.File, line: itemLine{find: find}}, nil
}

func (p *vectorLines) fields() []string { return p.line.fields() }

func (p *vectorLines) reset() { p.line.reset() }

func (p *vectorLines) field(i int, d *decoder) error { return p.line.field(i, d) }

func (p *vectorLines) answer(dst []byte) ([]byte, error) {
	if err := p.line.complete(); err != nil {
		return dst, err
	}
	for i, x := range [][]float64{p.f.X, p.f.Y} {
		if err := p.from.ReadRows(x, p.line.row[i]); err != nil {
			return dst, err
		}
	}
	p.f.Label, p.has[2] = p.line.label, p.line.has[2]
	return p.step(dst)
}
