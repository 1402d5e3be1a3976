// Package numeral tells what is lost when the text of a number becomes a float64.
package numeral

import "strings"

// Held is what is wanted in place of a number that Vanishes.
const Held = "0 or a number of at least ±4.9e-324"

// Vanishes tells whether text, which strconv.ParseFloat has read as v, is not 0, though v is: 1e-400 is nearer to 0 than any other float64.
// It is the mirror of a number that overflows, which ParseFloat itself refuses.
func Vanishes(text string, v float64) bool {
	if v != 0 {
		return false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	return strings.ContainsAny(mantissa, "123456789")
}
