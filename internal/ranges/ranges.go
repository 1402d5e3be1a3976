// Package ranges reads the range of a parameter from the tag of its field, its one home:
//
//	C    float64 `json:"c" range:"> 0"`
//	Mu   float64 `range:"> 0 and < 1"`
//	Beta int     `range:">= 1 and <= 1000000"`
//
// A tag is "finite", or a comparison from below (>, >=), from above (<, <=), or both with "and" between them. What
// is compared with is a number, or words: then the bound is known to the caller only (see
// Limit), or relates two fields, which the caller checks. "0, or " before the
// comparisons allows 0 too, and ", or +Inf" behind them infinity. All
// else is finite; int fields hold whole numbers. Fields are float64, int, pointers to these or
// slices of these.
package ranges

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// tag is the key of a range in the tag of a field.
const tag = "range"

// Range is what a parameter may be. The zero value is any finite number.
type Range struct {
	low, high bound
	zero      bool // 0 is allowed whatever the bounds are
	infinite  bool // +Inf is allowed
	integer   bool
}

// bound is one end of a range.
type bound struct {
	set   bool
	open  bool // the end itself is not allowed
	value float64
	words string // in place of, or with Limit beside, the value
	known bool   // value counts
}

// Parse reads a range from the text of a tag, of whole numbers or of all.
func Parse(text string, integer bool) (Range, error) {
	r := Range{integer: integer}
	refused := fmt.Errorf("range %q is not allowed, want finite, or comparisons such as > 0 and <= 10", text)
	rest, zero := strings.CutPrefix(text, "0, or ")
	rest, infinite := strings.CutSuffix(rest, ", or +Inf")
	r.zero, r.infinite = zero, infinite
	if rest == "finite" {
		if zero || infinite {
			return Range{}, refused
		}
		return r, nil
	}
	comparisons := []string{rest}
	if low, high, both := strings.Cut(rest, " and <"); both {
		comparisons = []string{low, "<" + high}
	}
	for _, c := range comparisons {
		operator, operand, _ := strings.Cut(c, " ")
		b := bound{set: true, open: len(operator) == 1}
		end := &r.high
		switch operator {
		case ">", ">=":
			end = &r.low
		case "<", "<=":
		default:
			return Range{}, refused
		}
		if end.set || !b.read(operand, integer) {
			return Range{}, refused
		}
		*end = b
	}
	if infinite && (integer || r.high.set) || r.low.known && r.high.known && r.low.value >= r.high.value {
		return Range{}, refused
	}
	return r, nil
}

// read sets the end to a finite number, which is whole for a range of integers, or words.
func (b *bound) read(operand string, integer bool) bool {
	v, err := strconv.ParseFloat(operand, 64)
	if err != nil {
		b.words = operand
		return operand != "" && unicode.IsLetter([]rune(operand)[0]) && !strings.ContainsAny(operand, "<>")
	}
	b.value, b.known = v, true
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!integer || v == math.Trunc(v) && math.Abs(v) <= 1<<53)
}

// OrZero returns r with 0, whatever its lower end in words is.
func (r Range) OrZero() Range {
	r.zero = r.zero || !r.Admits(0) || r.low.words != ""
	return r
}

// WithoutZero returns r without the 0 that its bounds exclude.
func (r Range) WithoutZero() Range {
	r.zero = false
	return r
}

// Finite returns r without +Inf.
func (r Range) Finite() Range {
	r.infinite = false
	return r
}

// AtMost returns r with an upper end, unless it has one.
func (r Range) AtMost(v int) Range {
	if !r.high.set {
		r.high = bound{set: true, value: float64(v), known: true}
	}
	return r
}

// Integer reports whether r is a range of whole numbers.
func (r Range) Integer() bool { return r.integer }

// Ends returns the numeric ends of r and whether each is excluded. An end that is not there
// or is known in words only is infinite.
func (r Range) Ends() (low, high float64, lowOpen, highOpen bool) {
	low, high = math.Inf(-1), math.Inf(1)
	if r.low.known {
		low, lowOpen = r.low.value, r.low.open
	}
	if r.high.known {
		high, highOpen = r.high.value, r.high.open
	}
	return low, high, lowOpen, highOpen
}

// Words returns the ends that are known in words, "" for the others.
func (r Range) Words() (low, high string) { return r.low.words, r.high.words }

// Admits reports whether r holds v, as far as its ends are known.
func (r Range) Admits(v float64) bool {
	switch {
	case v == 0 && r.zero:
		return true
	case math.IsInf(v, 1):
		return r.infinite
	case math.IsNaN(v) || math.IsInf(v, 0) || r.integer && v != math.Trunc(v):
		return false
	}
	if low := r.low; low.known && (v < low.value || low.open && v == low.value) {
		return false
	}
	if high := r.high; high.known && (v > high.value || high.open && v == high.value) {
		return false
	}
	return true
}

// AdmitsInt is Admits for an integer, which may not be a float64.
func (r Range) AdmitsInt(v int) bool {
	if high := r.high; high.known && int64(v) > int64(math.Floor(high.value)) {
		return v == 0 && r.zero
	}
	return r.Admits(float64(v))
}

// Text returns the range in words, such as "a finite number > 0", "an integer from 1 to 10".
func (r Range) Text() string {
	low, high := r.low, r.high
	zero := r.zero
	if zero && high.words == "" && low.known {
		// "0, or a number > 0" and "0, or an integer from 1 to 3" begin at 0.
		if low.value == 0 && low.open || r.integer && low.value == 1 && !low.open {
			low, zero = bound{set: true, known: true}, false
		}
	}
	noun := "a number"
	switch {
	case r.integer:
		noun = "an integer"
	case !r.infinite && !high.set:
		noun = "a finite number"
	}
	var text string
	switch {
	case low.set && high.set && !low.open && !high.open:
		text = fmt.Sprintf("%s from %s to %s", noun, low.text(r.integer), high.text(r.integer))
	case low.set && high.set:
		text = fmt.Sprintf("%s %s and %s", noun, low.compared("> ", "≥ ", r.integer), high.compared("< ", "at most ", r.integer))
	case low.set:
		text = noun + " " + low.compared("> ", "≥ ", r.integer)
	case high.set:
		text = noun + " " + high.compared("< ", "at most ", r.integer)
	default:
		text = noun
	}
	if zero {
		text = "0, or " + text
	}
	if r.infinite {
		text += ", or +Inf"
	}
	return text
}

func (b bound) compared(open, closed string, integer bool) string {
	if b.open {
		return open + b.text(integer)
	}
	return closed + b.text(integer)
}

func (b bound) text(integer bool) string {
	var number string
	switch {
	case !b.known:
		return b.words
	case integer:
		number = strconv.FormatInt(int64(b.value), 10)
	default:
		number = strconv.FormatFloat(b.value, 'g', -1, 64)
	}
	if b.words != "" {
		return number + ", " + b.words
	}
	return number
}

// Limit is the value of an end that a tag has in words.
type Limit struct {
	Words string
	Value int
}

func (b *bound) resolve(limits []Limit) {
	for _, l := range limits {
		if b.words == l.Words {
			b.value, b.known = float64(l.Value), true
		}
	}
}

// Check returns an error for the first field of the struct params that is out of its range, such
// as "pa: c: -1 is not allowed, want a finite number > 0". The prefix "" is left out. A
// field is named as in JSON, or else in snake case. Ends in words count if limits tell them, and
// pointers unless nil. Embedded structs are not looked into. It panics if a tag is malformed,
// or if no tag has the words of a limit.
func Check(prefix string, params any, limits ...Limit) error {
	v := reflect.ValueOf(params)
	all := fieldsOf(v.Type())
	for _, l := range limits {
		if !all.have(l.Words) {
			panic(fmt.Sprintf("ranges: no range of %v ends in %q", v.Type(), l.Words))
		}
	}
	for _, f := range all {
		r := f.Range
		r.low.resolve(limits)
		r.high.resolve(limits)
		if err := r.check(f.name, v.Field(f.index)); err != nil {
			if prefix != "" {
				return fmt.Errorf("%s: %w", prefix, err)
			}
			return err
		}
	}
	return nil
}

func (r Range) check(name string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return r.check(name, v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if err := r.check(fmt.Sprintf("%s[%d]", name, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Int:
		if n := int(v.Int()); !r.AdmitsInt(n) {
			return fmt.Errorf("%s: %d is not allowed, want %s", name, n, r.Text())
		}
	default:
		if x := v.Float(); !r.Admits(x) {
			return fmt.Errorf("%s: %v is not allowed, want %s", name, x, r.Text())
		}
	}
	return nil
}

// Of returns the range of a field of the struct params, also one of an embedded struct. It
// panics if there is no such field or it has no range.
func Of(params any, name string) Range {
	t := reflect.TypeOf(params)
	f, ok := t.FieldByName(name)
	if !ok {
		panic(fmt.Sprintf("ranges: %v has no field %s", t, name))
	}
	if _, ok := f.Tag.Lookup(tag); !ok {
		panic(fmt.Sprintf("ranges: field %s of %v has no range", name, t))
	}
	return rangeOf(t, f)
}

// field is a field that has a range.
type field struct {
	Range
	name  string
	index int
}

type fields []field

// have reports whether an end of one of the ranges is in these words.
func (all fields) have(words string) bool {
	for _, f := range all {
		if f.low.words == words || f.high.words == words {
			return true
		}
	}
	return false
}

var known sync.Map // of reflect.Type to fields

func fieldsOf(t reflect.Type) fields {
	if all, ok := known.Load(t); ok {
		return all.(fields)
	}
	var all fields
	for i := range t.NumField() {
		f := t.Field(i)
		if _, ok := f.Tag.Lookup(tag); !ok {
			continue
		}
		all = append(all, field{rangeOf(t, f), NameOf(f), i})
	}
	known.Store(t, all)
	return all
}

// NameOf returns the name of a field as errors have it: that in JSON, or else in snake case.
func NameOf(f reflect.StructField) string {
	if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
		return name
	}
	return snake(f.Name)
}

func rangeOf(t reflect.Type, f reflect.StructField) Range {
	number := f.Type
	if kind := number.Kind(); kind == reflect.Pointer || kind == reflect.Slice {
		number = number.Elem()
	}
	if kind := number.Kind(); kind != reflect.Int && kind != reflect.Float64 {
		panic(fmt.Sprintf("ranges: field %s of %v is no number", f.Name, t))
	}
	r, err := Parse(f.Tag.Get(tag), number.Kind() == reflect.Int)
	if err != nil {
		panic(fmt.Sprintf("ranges: field %s of %v: %v", f.Name, t, err))
	}
	return r
}

// snake returns MaxIterations as max_iterations and W0 as w0.
func snake(name string) string {
	var b strings.Builder
	previous := 'A'
	for _, c := range name {
		if unicode.IsUpper(c) && !unicode.IsUpper(previous) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
		previous = c
	}
	return b.String()
}
