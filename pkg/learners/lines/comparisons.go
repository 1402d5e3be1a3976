package lines

import (
	"errors"
	"fmt"
	"io"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// comparisonLines is the protocol of learners of comparisons of vectors. Its fields are tripletFields.
type comparisonLines struct {
	name    string // of the learner, a prefix of errors as in those of Step
	dim     int    // 0 until it is known
	learner learners.SimilarityLearner
	states  bool // answers have states
	make    func(dim int) (learners.SimilarityLearner, error)
	vector  [5][]float64 // by index in tripletFields
	has     [5]bool

	// Of vectors that lie in a file; nil where lines hold them.
	from *Vectors
	find func(item string) (int, error)
}

// made returns a learner for vectors of length dim.
func (p *comparisonLines) made(dim int) (learners.SimilarityLearner, error) {
	l, err := p.make(dim)
	if err == nil {
		err = checkState(l, p.states)
	}
	return l, err
}

// readFrom has the vectors of p, whose dimension is known, read from a file.
func (p *comparisonLines) readFrom(v *Vectors) error {
	var err error
	if p.find, err = v.Objects.Finder(); err != nil {
		return &OptionError{"vectors", err}
	}
	p.from = v
	for i := range p.vector {
		p.vector[i] = make([]float64, p.dim)
	}
	return nil
}

func (p *comparisonLines) fields() []string { return tripletFields }

func (p *comparisonLines) reset() { p.has = [5]bool{} }

func (p *comparisonLines) field(i int, d *decoder) error {
	p.has[i] = true
	name := tripletFields[i]
	if p.from == nil {
		var err error
		p.vector[i], err = d.numbers(p.vector[i][:0], name, -1)
		return err
	}
	text, err := d.item(name)
	if err != nil {
		return err
	}
	row, err := p.find(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return p.from.File.ReadRows(p.vector[i], row)
}

func (p *comparisonLines) answer(dst []byte) ([]byte, error) {
	names, at := tripletFields[:3], [3]int{0, 1, 2}
	learn := p.has == [5]bool{true, true, true, false, false}
	if !learn {
		if p.has != [5]bool{true, false, false, true, true} {
			return dst, errFields
		}
		names, at = []string{"a", "b", "c"}, [3]int{0, 3, 4}
	}
	dim := p.dim
	if dim == 0 {
		if dim = len(p.vector[0]); dim == 0 {
			return dst, errors.New("a: has 0 numbers, want at least 1")
		}
	}
	c := metric.Comparison{A: p.vector[at[0]], Near: p.vector[at[1]], Far: p.vector[at[2]]}
	for i, v := range [][]float64{c.A, c.Near, c.Far} { // what is longer or overflows names the field that the line has
		if len(v) != dim {
			return dst, fmt.Errorf("%s: has %d numbers, want %d", names[i], len(v), dim)
		}
	}
	if err := c.CheckVectors(dim); err != nil {
		return dst, err
	}
	l := p.learner
	if l == nil {
		var err error
		if l, err = p.made(dim); err != nil {
			return dst, err
		}
	}
	var o learners.SimilarityOutcome
	if learn {
		var err error
		if o, err = l.Step(c); err != nil {
			return dst, err
		}
	} else {
		o.Prediction = l.Predict(c)
		if err := o.Prediction.Check(); err != nil {
			return dst, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	s := o.Prediction
	if !finite(s.SimNear, s.SimFar, o.Loss, o.StepSize) {
		return dst, fmt.Errorf("%w: it accepted the line with similarities %v and %v, loss %v, step %v", ErrBroken, s.SimNear, s.SimFar, o.Loss, o.StepSize)
	}
	p.dim, p.learner = dim, l
	dst = appendNumber(dst, "sim"+names[1], s.SimNear)
	dst = appendNumber(dst, "sim"+names[2], s.SimFar)
	if learn {
		dst = appendNumber(dst, "loss", o.Loss)
		dst = appendBool(dst, "mistake", o.Mistake)
		return appendNumber(dst, "step", o.StepSize), nil
	}
	nearer := `,"nearer":"b"`
	if s.SimFar > s.SimNear {
		nearer = `,"nearer":"c"`
	}
	return append(dst, nearer...), nil
}

func (p *comparisonLines) appendState(dst []byte) ([]byte, error) {
	return appendMatrix(append(dst, `"w":`...), p.learner.Matrix())
}

func (p *comparisonLines) save(w io.Writer) error {
	if p.learner == nil {
		return ErrNothing
	}
	return p.learner.Save(w)
}
