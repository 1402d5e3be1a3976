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
)

// Param describes one parameter of a learner.
type Param struct {
	Name    string
	Doc     string // one line
	Type    Type
	Default string // as a user would type it
	Allowed string // the range in words, as errors quote it

	// min is the smallest allowed value; −Inf for any.
	min float64
}

// parse returns the value of text, or an error that says what is allowed.
func (p Param) parse(text string) (float64, error) {
	var v float64
	var err error
	switch p.Type {
	case Count:
		var n int
		n, err = strconv.Atoi(text)
		v = float64(n)
	case Number:
		v, err = strconv.ParseFloat(text, 64)
	}
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < p.min {
		return 0, fmt.Errorf("parameter %s: %q is not allowed, want %s", p.Name, text, p.Allowed)
	}
	return v, nil
}

// Values are the parsed parameters of one learner, defaults filled in.
type Values struct{ values map[string]float64 }

// Float returns the value of a Number. It panics if the learner has no
// parameter of that name.
func (v Values) Float(name string) float64 {
	f, ok := v.values[name]
	if !ok {
		panic(fmt.Sprintf("catalog: no parameter %q", name))
	}
	return f
}

// Int returns the value of a Count. It panics like Float.
func (v Values) Int(name string) int { return int(v.Float(name)) }

// Parse turns parameters as text into Values, with the default for every one
// that is not given. An unknown name or a value out of range is an error that
// says what is allowed.
func (e Entry) Parse(given map[string]string) (Values, error) {
	v := Values{make(map[string]float64, len(e.Params))}
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
		f, err := p.parse(text)
		if err != nil {
			return Values{}, fmt.Errorf("%s: %w", e.Name, err)
		}
		v.values[p.Name] = f
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
