package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/closest"
	"metriclab/internal/ranges"
)

// Type is the type of a parameter.
type Type string

// The types of parameters.
const (
	Number Type = "number"  // a finite float64
	Count  Type = "integer" // an int
	Choice Type = "choice"  // one of the words in Allowed
	// NumberOrWord is a Number or one of the words in Allowed, and stays text.
	NumberOrWord Type = "number or word"
	// CountOrWord is a Count or one of the words in Allowed, and stays text.
	CountOrWord Type = "integer or word"
)

// Param describes one parameter of a learner.
type Param struct {
	Name    string
	Doc     string // one line
	Type    Type
	Default string // as a user would type it
	Allowed string // the range in words, as errors quote it

	// Needs says when the parameter may be given: "name=word", or "name=word|word" and so on,
	// while the Choice, NumberOrWord or CountOrWord of that name, an earlier parameter, is one of these
	// words, and "name!=word" while it is not. Several conditions are joined by " and ", and before that by " or "; "" is always.
	Needs string

	within ranges.Range // of all but a Choice
	field  string       // of what parameters within is, such as pairs.PAParams.C; "" if of none
	auto   string       // a word allowed for a Number that depends on the dimension; it reads as 0
	words  []string     // of a Choice, NumberOrWord or CountOrWord
}

// maxCount bounds counts that have no upper end of their own: iterations, neighbours and pairs drawn.
// The pairs are all kept in memory: there the limit of that is reached earlier.
const maxCount = 1_000_000_000

// allow returns p with a range, beside the words that it has.
func (p Param) allow(r ranges.Range) Param {
	p.within, p.Allowed = r, r.Text()
	if p.auto != "" {
		p.Allowed += ", or " + p.auto
	}
	if len(p.words) > 0 {
		p.Allowed = strings.Join(p.words, ", ") + ", or " + p.Allowed
	}
	return p
}

// text returns the value of a field as a user would type it.
func text(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Int {
		return strconv.FormatInt(v.Int(), 10)
	}
	return number(v.Float())
}

// Applies reports whether the parameter goes with the choices made, by name.
func (p Param) Applies(chosen func(name string) string) bool {
	return p.hinders(chosen) == ""
}

// hinders returns the name of the first choice that the parameter does not go with, or "".
func (p Param) hinders(chosen func(name string) string) (first string) {
	if p.Needs == "" {
		return ""
	}
	for way := range strings.SplitSeq(p.Needs, " or ") {
		hinders := ""
		for condition := range strings.SplitSeq(way, " and ") {
			name, words, _ := strings.Cut(condition, "=")
			name, not := strings.CutSuffix(name, "!")
			if slices.Contains(strings.Split(words, "|"), chosen(name)) == not {
				hinders = name
				break
			}
		}
		if hinders == "" {
			return ""
		}
		first = cmp.Or(first, hinders)
	}
	return first
}

// parse returns the value of text, or an error that says what is allowed.
func (p Param) parse(text string) (any, error) {
	if p.Type == Choice {
		if !slices.Contains(p.words, text) {
			return nil, fmt.Errorf("parameter %s: %q is not allowed, want %s%s", p.Name, text, p.Allowed, closest.Hint(text, p.words))
		}
		return text, nil
	}
	if p.Type != Count && slices.Contains(p.words, text) {
		return text, nil
	}
	if p.auto != "" && text == p.auto {
		return 0.0, nil
	}
	refused := fmt.Errorf("parameter %s: %q is not allowed, want %s", p.Name, text, p.Allowed)
	if p.Type == Count || p.Type == CountOrWord { // not by way of float64, which rounds beyond 2⁵³
		n, err := strconv.Atoi(text)
		if err != nil || !p.within.AdmitsInt(n) {
			return nil, refused
		}
		if p.Type == CountOrWord {
			return text, nil
		}
		return n, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !p.within.Admits(v) {
		return nil, refused
	}
	if p.Type == NumberOrWord {
		return text, nil
	}
	return v, nil
}

// Values are the parsed parameters of one learner, defaults filled in.
type Values struct{ values map[string]any }

// Float returns the value of a Number. It panics if the learner has no such
// parameter of that name.
func (v Values) Float(name string) float64 { return value[float64](v, name) }

// Int returns the value of a Count. It panics like Float.
func (v Values) Int(name string) int { return value[int](v, name) }

// Text returns the value of a Choice, a NumberOrWord or a CountOrWord. It panics like Float.
func (v Values) Text(name string) string { return value[string](v, name) }

func value[T any](v Values, name string) T {
	x, ok := v.values[name].(T)
	if !ok {
		panic(fmt.Sprintf("catalog: no parameter %q of type %T", name, x))
	}
	return x
}

// Parse turns parameters as text into Values, with the default for every one that is not
// given. An unknown name, a value out of range or a parameter that does not go with the
// choice made is an error that says what is allowed. So are values of an online learner
// of pairs that do not go together.
func (e Entry) Parse(given map[string]string) (Values, error) {
	v := Values{make(map[string]any, len(e.Params))}
	var wrong []string // all of it is told at once
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(e.Params, func(p Param) bool { return p.Name == name }) {
			wrong = append(wrong, fmt.Sprintf("unknown parameter %q, want %s%s", name, e.names(), closest.Hint(name, e.paramNames())))
		}
	}
	for _, p := range e.Params {
		text, ok := given[p.Name]
		if !ok {
			text = p.Default
		}
		if choice := p.hinders(v.Text); ok && choice != "" {
			wrong = append(wrong, fmt.Sprintf("parameter %s is only for %s, but %s is %s", p.Name, p.Needs, choice, v.Text(choice)))
			text = p.Default
		}
		x, err := p.parse(text)
		if err != nil {
			wrong = append(wrong, err.Error())
			x, _ = p.parse(p.Default) // what depends on it is checked against the default
		}
		v.values[p.Name] = x
	}
	if len(wrong) > 0 {
		return Values{}, fmt.Errorf("%s: %s", e.Name, strings.Join(wrong, "; "))
	}
	if e.Feedback == Pairs && e.New != nil { // its parameters are allowed in every dimension or in none
		if _, err := e.New(Shape{Dim: 1}, v); err != nil {
			return Values{}, err
		}
	}
	return v, nil
}

// names lists the parameters for an error message.
func (e Entry) names() string {
	if len(e.Params) == 0 {
		return "none: this learner has no parameters"
	}
	return "one of " + strings.Join(e.paramNames(), ", ")
}

func (e Entry) paramNames() []string {
	names := make([]string, len(e.Params))
	for i, p := range e.Params {
		names[i] = p.Name
	}
	return names
}

// Words returns the words that p allows; those of a Number or Count are none.
func (p Param) Words() []string {
	if p.auto != "" {
		return append(slices.Clone(p.words), p.auto)
	}
	return slices.Clone(p.words)
}

// number formats a default.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
