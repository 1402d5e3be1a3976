package closest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"metriclab/internal/printable"
)

// Whole reads a whole number as people and programs write it: 3, 03, 3.0, 3e0. From ±2⁵³ on only digits are one.
func Whole(text string) (int, bool) {
	if v, err := strconv.Atoi(text); err == nil {
		return v, true
	}
	v, ok := Number(text)
	return int(v), ok && v == math.Trunc(v)
}

// Fold returns what names have in common that are one to a reader. Case, blanks, a final dot and the form of a number (1, 1.0 and 01) do
// not count, nor how Unicode writes a letter (é as one character or two). A blank between digits does.
func Fold(name string) string {
	words := strings.Fields(strings.ToLower(norm.NFKC.String(name)))
	var b strings.Builder
	for i, w := range words {
		if i > 0 && unicode.IsDigit(rune(words[i-1][len(words[i-1])-1])) && unicode.IsDigit(rune(w[0])) {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	folded := strings.TrimRight(b.String(), ".")
	if v, ok := Number(folded); ok {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return folded
}

// Number reads a number in any decimal form, 1, 1.0, 01 or 1e0. From ±2⁵³ on, where different digits give one float64, nothing is one.
func Number(text string) (float64, bool) {
	const exact = 1 << 53
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) < exact) || strings.ContainsAny(text, "xX_") {
		return 0, false
	}
	return v + 0, true // no -0
}

// Alike returns the groups of different names with one Fold, each in the order of names.
func Alike(names []string) [][]string {
	at := map[string]int{}
	var groups [][]string
	for _, n := range names {
		key := Fold(n)
		i, ok := at[key]
		if !ok {
			i = len(groups)
			at[key], groups = i, append(groups, nil)
		}
		if !slices.Contains(groups[i], n) {
			groups[i] = append(groups[i], n)
		}
	}
	return slices.DeleteFunc(groups, func(g []string) bool { return len(g) < 2 })
}

// AlikeNote says which names of things, such as "objects", are Alike; "" if none are.
func AlikeNote(things string, names []string) string {
	groups := Alike(names)
	if len(groups) == 0 {
		return ""
	}
	const shown = 3
	var some []string
	for _, g := range groups[:min(len(groups), shown)] {
		some = append(some, fmt.Sprintf("%q and %q", printable.Short(g[0]), printable.Short(g[1])))
	}
	if more := len(groups) - len(some); more > 0 {
		some = append(some, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("these %s count as different, though they are written alike: %s", things, strings.Join(some, "; "))
}
