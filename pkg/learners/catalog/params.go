package catalog

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
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
)

// Param describes one parameter of a learner.
type Param struct {
	Name    string
	Doc     string // one line
	Type    Type
	Default string // as a user would type it
	Allowed string // the range in words, as errors quote it

	// Needs is "name=word", or "name=word|word" and so on, if the parameter may be
	// given only while the Choice or NumberOrWord of that name, an earlier parameter, is one of
	// these words; several such conditions are joined by " and "; else it is "".
	Needs string

	min   float64  // smallest allowed value; −Inf for any
	max   float64  // largest allowed value; 0 for any
	auto  string   // a word allowed for a Number that depends on the dimension; it reads as 0
	words []string // of a Choice or NumberOrWord
}

// choice returns a Choice between words, of which the first is the default.
func choice(name, doc string, words ...string) Param {
	return Param{
		Name: name, Doc: doc, Type: Choice,
		Default: words[0], Allowed: "one of " + strings.Join(words, ", "), words: words,
	}
}

// only returns p for the choices of needs, see Needs.
func (p Param) only(needs string) Param {
	p.Needs = needs
	return p
}

// Applies reports whether the parameter goes with the choices made, by name.
func (p Param) Applies(chosen func(name string) string) bool {
	return p.hinders(chosen) == ""
}

// hinders returns the name of the first choice that the parameter does not go with, or "".
func (p Param) hinders(chosen func(name string) string) string {
	if p.Needs == "" {
		return ""
	}
	for condition := range strings.SplitSeq(p.Needs, " and ") {
		name, words, _ := strings.Cut(condition, "=")
		if !slices.Contains(strings.Split(words, "|"), chosen(name)) {
			return name
		}
	}
	return ""
}

// parse returns the value of text, or an error that says what is allowed.
func (p Param) parse(text string) (any, error) {
	if p.Type == Choice {
		if !slices.Contains(p.words, text) {
			return nil, fmt.Errorf("parameter %s: %q is not allowed, want %s", p.Name, text, p.Allowed)
		}
		return text, nil
	}
	if p.Type == NumberOrWord && slices.Contains(p.words, text) {
		return text, nil
	}
	if p.auto != "" && text == p.auto {
		return 0.0, nil
	}
	refused := fmt.Errorf("parameter %s: %q is not allowed, want %s", p.Name, text, p.Allowed)
	if p.Type == Count { // not by way of float64, which rounds beyond 2⁵³
		n, err := strconv.Atoi(text)
		if err != nil || !p.admits(float64(n)) || p.max != 0 && n > int(p.max) {
			return nil, refused
		}
		return n, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !p.admits(v) {
		return nil, refused
	}
	if p.Type == NumberOrWord {
		return text, nil
	}
	return v, nil
}

// admits reports whether v is finite and in the range of the parameter.
func (p Param) admits(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && v >= p.min && (p.max == 0 || v <= p.max)
}

// Values are the parsed parameters of one learner, defaults filled in.
type Values struct{ values map[string]any }

// Float returns the value of a Number. It panics if the learner has no such
// parameter of that name.
func (v Values) Float(name string) float64 { return value[float64](v, name) }

// Int returns the value of a Count. It panics like Float.
func (v Values) Int(name string) int { return value[int](v, name) }

// Text returns the value of a Choice or a NumberOrWord. It panics like Float.
func (v Values) Text(name string) string { return value[string](v, name) }

func value[T any](v Values, name string) T {
	x, ok := v.values[name].(T)
	if !ok {
		panic(fmt.Sprintf("catalog: no parameter %q of type %T", name, x))
	}
	return x
}

// Parse turns parameters as text into Values, with the default for every one
// that is not given. An unknown name, a value out of range or a parameter that
// does not go with the choice made is an error that says what is allowed; so are, for
// an online learner of pairs, values that do not go together.
func (e Entry) Parse(given map[string]string) (Values, error) {
	v := Values{make(map[string]any, len(e.Params))}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(e.Params, func(p Param) bool { return p.Name == name }) {
			return Values{}, fmt.Errorf("%s: unknown parameter %q, want %s", e.Name, name, e.names())
		}
	}
	for _, p := range e.Params {
		text, ok := given[p.Name]
		if !ok {
			text = p.Default
		}
		if choice := p.hinders(v.Text); ok && choice != "" {
			return Values{}, fmt.Errorf("%s: parameter %s is only for %s, but %s is %s", e.Name, p.Name, p.Needs, choice, v.Text(choice))
		}
		x, err := p.parse(text)
		if err != nil {
			return Values{}, fmt.Errorf("%s: %w", e.Name, err)
		}
		v.values[p.Name] = x
	}
	if e.NewPair != nil { // its parameters are allowed in every dimension or in none
		if _, err := e.NewPair(1, v); err != nil {
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
	names := make([]string, len(e.Params))
	for i, p := range e.Params {
		names[i] = p.Name
	}
	return "one of " + strings.Join(names, ", ")
}

// number formats a default.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
