package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"metriclab/internal/numeral"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
)

// Constraints are the linear constraints of a file, in its order.
type Constraints struct {
	// Name is that of the file, for messages.
	Name string
	List []ltkernel.Constraint
	// Lines holds the line of each constraint, counted from 1.
	Lines []int
}

// ReadConstraints reads constraints on a learned kernel of objects, counted from 0, a line of JSON each:
//
//	{"i":0,"j":1,"at_most":1.2}               d²(0, 1) ≤ 1.2, d² = K_ii − 2K_ij + K_jj
//	{"i":0,"j":5,"at_least":4}                d²(0, 5) ≥ 4
//	{"i":0,"j":4,"exactly":2}                 d²(0, 4) = 2
//	{"a":0,"near":2,"far":6,"margin":0.2}     d²(0, 2) + 0.2 ≤ d²(0, 6)
//	{"trace_at_most":9}                       tr K ≤ 9
//
// Bounds are at least 0, a margin is any finite number. A pair may have several constraints. name is that of the file, for
// messages. What the package documentation says of lines of learners holds here: a bad line is an error that names file and line,
// empty lines do not count. So are a file without constraints and one that takes more than limits.Memory errors.
// It panics if objects < 1.
func ReadConstraints(r io.Reader, name string, objects int) (*Constraints, error) {
	if objects < 1 {
		panic(fmt.Sprintf("lines: ReadConstraints: %d objects", objects))
	}
	p := &constraintLines{last: objects - 1, want: fmt.Sprintf("an object from 0 to %d", objects-1)}
	lr := lineReader{r: bufio.NewReaderSize(r, bufferSize), max: int(min(DefaultMaxLine, limits.Memory()))}
	out := &Constraints{Name: name}
	var d decoder
	for line := 1; ; line++ {
		text, err := lr.next()
		if err == io.EOF {
			break
		}
		if line == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		if err == nil && len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return nil, fmt.Errorf("lines: %s: %w", name, err)
		}
		var c ltkernel.Constraint
		if err == nil {
			if err = d.object(text, p); err == nil {
				c, err = p.constraint()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("lines: %s:%d: %w", name, line, err)
		}
		out.List, out.Lines = append(out.List, c), append(out.Lines, line)
		if err := limits.Check(plural.Of(len(out.List), "constraint"), limits.Product(constraintBytes, len(out.List))); err != nil {
			return nil, fmt.Errorf("lines: %s:%d: %w", name, line, err)
		}
	}
	if len(out.List) == 0 {
		return nil, fmt.Errorf("lines: %s: no line has a constraint, want at least one", name)
	}
	return out, nil
}

// constraintBytes is about what a constraint takes: itself, its line, two distances, and their growth.
const constraintBytes = 256

// CheckBounds returns an error, with file and lines, if two lines contradict each other about one pair without slack, such as at
// most 1 and at least 2. strict says that no distance of different objects, and no trace, may become 0, as with ltkernel.LogDet.
// Then a line that asks for that is an error, too. Objects i and j differ if differ(i, j) is true.
func (c *Constraints) CheckBounds(strict bool, differ func(i, j int) bool) error {
	type end struct {
		bound float64
		at    int // the constraint
	}
	type ends struct{ low, high end }
	pairs := map[[2]int]ends{}
	say := func(k int) string { return fmt.Sprintf("%s %v", c.List[k].Sense, c.List[k].Bound) }
	for k, l := range c.List {
		if l.Trace != 0 && strict && l.Bound == 0 {
			return fmt.Errorf("lines: %s:%d: trace_at_most: 0 is not allowed: the divergence keeps all objects apart", c.Name, c.Lines[k])
		}
		if len(l.Dists) != 1 {
			continue
		}
		pair := [2]int{min(l.Dists[0].I, l.Dists[0].J), max(l.Dists[0].I, l.Dists[0].J)}
		if strict && l.Bound == 0 && l.Sense != ltkernel.SenseAtLeast && differ(pair[0], pair[1]) {
			return fmt.Errorf("lines: %s:%d: the squared distance of objects %d and %d cannot be %s: the divergence keeps them apart", c.Name, c.Lines[k], pair[0], pair[1], say(k))
		}
		e, ok := pairs[pair]
		if !ok {
			e = ends{end{0, -1}, end{math.Inf(1), -1}}
		}
		if l.Sense != ltkernel.SenseAtMost && (l.Bound > e.low.bound || e.low.at < 0) {
			e.low = end{l.Bound, k}
		}
		if l.Sense != ltkernel.SenseAtLeast && l.Bound < e.high.bound {
			e.high = end{l.Bound, k}
		}
		pairs[pair] = e
		if e.low.bound > e.high.bound {
			other := e.low.at
			if other == k {
				other = e.high.at
			}
			return fmt.Errorf("lines: %s:%d: the squared distance of objects %d and %d cannot be %s and, by line %d, %s",
				c.Name, c.Lines[k], pair[0], pair[1], say(k), c.Lines[other], say(other))
		}
	}
	return nil
}

var constraintFields = []string{"i", "j", "at_most", "at_least", "exactly", "a", "near", "far", "margin", "trace_at_most"}

// The places of constraintFields.
const (
	fieldI = iota
	fieldJ
	fieldAtMost
	fieldAtLeast
	fieldExactly
	fieldA
	fieldNear
	fieldFar
	fieldMargin
	fieldTrace
)

// constraintLines reads the fields of a constraint.
type constraintLines struct {
	last   int    // object
	want   string // which objects are allowed, for errors
	object [10]int
	number [10]float64
	has    [10]bool
}

func (p *constraintLines) fields() []string { return constraintFields }

func (p *constraintLines) reset() { p.has = [10]bool{} }

func (p *constraintLines) field(i int, d *decoder) error {
	p.has[i] = true
	var err error
	name := constraintFields[i]
	switch i {
	case fieldI, fieldJ, fieldA, fieldNear, fieldFar:
		p.object[i], err = d.whole(name, 0, p.last, p.want)
	case fieldMargin:
		p.number[i], err = d.number(name, math.Inf(-1), "a finite number")
	default:
		p.number[i], err = d.number(name, 0, "a finite number >= 0, a squared distance or a trace")
	}
	return err
}

// constraint returns that of the line that was read.
func (p *constraintLines) constraint() (ltkernel.Constraint, error) {
	has := func(fields ...int) bool {
		var want [10]bool
		for _, f := range fields {
			want[f] = true
		}
		return p.has == want
	}
	i, j := p.object[fieldI], p.object[fieldJ]
	a, near, far := p.object[fieldA], p.object[fieldNear], p.object[fieldFar]
	fail := func(format string, args ...any) (ltkernel.Constraint, error) {
		return ltkernel.Constraint{}, fmt.Errorf(format, args...)
	}
	pair := p.has[fieldI] && p.has[fieldJ]
	switch {
	case pair && i == j:
		return fail("i and j: both are %d, want two objects", i)
	case has(fieldI, fieldJ, fieldAtMost):
		return ltkernel.AtMost(i, j, p.number[fieldAtMost]), nil
	case has(fieldI, fieldJ, fieldAtLeast):
		return ltkernel.AtLeast(i, j, p.number[fieldAtLeast]), nil
	case has(fieldI, fieldJ, fieldExactly):
		return ltkernel.Exactly(i, j, p.number[fieldExactly]), nil
	case has(fieldA, fieldNear, fieldFar, fieldMargin):
		if a == near || a == far || near == far {
			return fail("a, near and far: %d, %d and %d are not allowed, want three objects", a, near, far)
		}
		return ltkernel.Nearer(a, near, far, p.number[fieldMargin]), nil
	case has(fieldTrace):
		return ltkernel.TraceAtMost(p.number[fieldTrace]), nil
	}
	return fail(`want the fields "i", "j" and one of "at_most", "at_least", "exactly"; or "a", "near", "far", "margin"; or "trace_at_most"`)
}

// number reads a finite number of at least low.
func (d *decoder) number(field string, low float64, want string) (float64, error) {
	if k := d.PeekKind(); k != jsontext.KindNumber && k != jsontext.KindInvalid {
		return 0, fmt.Errorf("%s: %s is not allowed, want %s", field, spell(k), want)
	}
	raw, err := d.ReadValue()
	if err != nil {
		return 0, syntax(err)
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err == nil && numeral.Vanishes(string(raw), v) {
		return 0, fmt.Errorf("%s: %s is not allowed, want %s", field, clip(string(raw)), numeral.Held)
	}
	if err != nil || v < low {
		return 0, fmt.Errorf("%s: %s is not allowed, want %s", field, clip(string(raw)), want)
	}
	return v, nil
}
