package nb

import (
	"fmt"
	"math"
	"strconv"
)

// Slip is a mistake that an exercise invites: the answer to which it leads, and what to say of it.
type Slip struct {
	Answer float64
	Says   string
}

// IntegerDivision is the slip of a quotient of two integers, such as 1/2, which is 0 in Go; answer is what comes of it.
func IntegerDivision(answer float64) Slip {
	return Slip{answer, "in Go 1/2 is 0, since both are integers; write 0.5 or 1.0/2"}
}

// CheckAnswer prints whether an answer to an exercise is that which was measured, up to a relative tolerance. If it is not,
// it prints both, and what may have slipped: one of slips, or a quotient of integers that is 0, a sign, a factor of 2 or 1/2, an
// inverse, a square or a root, per cent in place of a share, or a number that was rounded. NaN is no answer yet.
func CheckAnswer(exercise string, yours, measured, tolerance float64, slips ...Slip) {
	fmt.Println(answer(exercise, yours, measured, tolerance, slips))
}

func answer(exercise string, yours, measured, tolerance float64, slips []Slip) string {
	is := func(v float64) bool { // v may be 0, and its inverse infinite
		return !math.IsInf(v, 0) && math.Abs(yours-v) <= tolerance*max(math.Abs(v), tolerance)
	}
	switch {
	case math.IsNaN(yours):
		return fmt.Sprintf("exercise %s: no answer yet; write it in the function and run the cell again", exercise)
	case is(measured):
		return fmt.Sprintf("exercise %s: right, yours is %.6g, measured %.6g", exercise, yours, measured)
	}
	text := fmt.Sprintf("exercise %s: yours is %.6g, measured %.6g", exercise, yours, measured)
	general := []Slip{
		IntegerDivision(0),
		{-measured, "the sign"},
		{2 * measured, "a factor of 2 too many"},
		{measured / 2, "a factor of 2 is missing"},
		{100 * measured, "yours is in per cent, and a share is asked for"},
		{measured / 100, "yours is a share, and per cent are asked for"},
		{1 / measured, "it is the inverse"},
		{measured * measured, "it is the square"},
		{math.Sqrt(measured), "it is the root"},
	}
	for _, s := range append(slips, general...) {
		if is(s.Answer) {
			return text + ": " + s.Says
		}
	}
	if rounded(yours, measured) || math.Abs(yours-measured) <= 0.01*math.Abs(measured) {
		return text + ": close; if that is rounded, write the formula"
	}
	return text
}

// rounded reports whether a is b with fewer digits, but two at least.
func rounded(a, b float64) bool {
	for digits := 2; digits <= 15; digits++ {
		if r, err := strconv.ParseFloat(strconv.FormatFloat(b, 'g', digits, 64), 64); err == nil && r == a {
			return true
		}
	}
	return false
}
