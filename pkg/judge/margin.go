package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Margin judges a test at Value, a margin that is our word and not the statement's, and says at which
// others, from From to To, the verdict would be another.
type Margin struct {
	// What is varied, "the factor".
	What            string
	Value, From, To float64
	Test            func(value float64) Test
}

// marginSteps is how many margins are tried from From to To; between two with different verdicts the one at
// which it turns is found by halving.
const marginSteps = 100

func (m Margin) judge() Finding {
	if m.Test == nil || !(m.From <= m.Value && m.Value <= m.To && m.From < m.To) {
		Refuse("judge: margin %g from %g to %g, want a test, and finite margins in ascending order", m.Value, m.From, m.To)
	}
	at := func(v float64) Verdict { return judged(m.Test(v), m.What).Verdict }
	f := judged(m.Test(m.Value), m.What)
	words := ""
	low, now := m.From, at(m.From)
	for i := 1; i <= marginSteps; i++ {
		high := m.From + (m.To-m.From)*float64(i)/marginSteps
		next := at(high)
		if next != now {
			words += fmt.Sprintf("%s up to %.3g, ", now, turn(low, high, func(v float64) bool { return at(v) == now }))
		}
		low, now = high, next
	}
	f.Note = fmt.Sprintf("By %s, from %.3g to %.3g: %s%s beyond.", m.What, m.From, m.To, words, now)
	f.Reason = strings.TrimSpace(f.Reason + " " + f.Note)
	return f
}

// turn returns where what holds at low and not at high ceases to hold, to a millionth of their distance.
func turn(low, high float64, holds func(v float64) bool) float64 {
	for range 20 {
		if mid := low + (high-low)/2; holds(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// wordsOfMargin says with which margins Equivalent would have other verdicts: by the units that the
// share needs, in the order of the margins that take them in or leave them out.
func (f Finding) wordsOfMargin() string {
	k := int(math.Ceil(f.Share*float64(len(f.Units)))) - 1
	near := func(sign float64) float64 {
		var at []float64
		for _, u := range f.Units {
			at = append(at, math.Abs(u.Mean)+sign*u.Half)
		}
		slices.Sort(at)
		return at[k]
	}
	printed := func(margin float64) string { return f.printed(Estimate{Mean: margin}) }
	words := "By the margin: reproduced above " + printed(near(1))
	if least := near(-1); least > 0 {
		words += ", not reproduced below " + printed(least)
	}
	return words + "."
}
