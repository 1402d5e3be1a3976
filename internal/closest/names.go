package closest

import (
	"cmp"
	"slices"
	"strings"
)

// Names returns those of known that name may be a slip of the finger for, nearest first and at most three: names that are
// equal but for case, then by the number of slips. There may be half as many of these as letters, up to 3, and 2 among
// 3 letters; and one more than for the first name. Names that begin with it come after those with one slip. Of equally near
// ones the first in known comes first.
func Names(name string, known []string) []string {
	type near struct {
		name string
		d    int
	}
	lower := strings.ToLower(name)
	var all []near
	for _, k := range known {
		l := strings.ToLower(k)
		d := Distance(lower, l)
		switch {
		case slices.ContainsFunc(all, func(n near) bool { return n.name == k }):
		case d <= min(max(len(name)/2, min(len(name)-1, 2)), 3):
			all = append(all, near{k, 2 * d})
		case len(lower) >= 2 && strings.HasPrefix(l, lower):
			all = append(all, near{k, 3}) // after one slip, before two
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return cmp.Compare(a.d, b.d) })
	var names []string
	for _, n := range all[:min(len(all), 3)] {
		if n.d <= all[0].d+2 { // at most one slip more than the nearest
			names = append(names, n.name)
		}
	}
	return names
}

// Hint returns "; did you mean a or b?" for the Names, or "" if there are none.
func Hint(name string, known []string) string {
	if near := Names(name, known); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return ""
}
