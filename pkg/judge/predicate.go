package judge

import (
	"fmt"
	"strings"
)

// Predicate says what the test asks of the numbers, made of the finding alone, so that it
// cannot say another thing than the test does: "each of 2 units is above 0 (wine; iris); one
// value per trial". Readings and parts that ask the same are told once. It is "" of Unfit and
// Unsettled, which ask nothing.
func (f Finding) Predicate() string {
	switch f.Test {
	case KindPositive:
		return f.subject("above 0", f.Exceptions)
	case KindEquivalent:
		within := "within ±" + f.printed(Estimate{Mean: f.Margin}) + " of 0"
		if f.Share < 1 {
			within += fmt.Sprintf(" in at least %.3g %% of the units", 100*f.Share)
		}
		return f.subject(within, 0)
	case KindNumber:
		text := fmt.Sprintf("the mean over the trials is %g, to within its 95 %% interval", *f.Theirs)
		if f.Tolerance > 0 {
			text += fmt.Sprintf(" or %g", f.Tolerance)
		}
		return text
	case KindRatio:
		return fmt.Sprintf("a quotient of means is %s %.4g, one value per %s", f.Bound, *f.Theirs, f.Sample)
	case KindHolds:
		return fmt.Sprintf("a statement holds in every trial of %d", f.Trials)
	case KindReadings:
		return f.predicates("by each of %d readings (%s): %s", "by the reading %[2]s: %[3]s")
	case KindBoth:
		return f.predicates("each of %d parts (%s): %s", "the part %[2]s: %[3]s")
	}
	return ""
}

// subject says of which units something is asked, all but some.
func (f Finding) subject(what string, exceptions int) string {
	names := make([]string, 0, maxUnitNames)
	for _, u := range f.Units[:min(len(f.Units), maxUnitNames)] {
		names = append(names, u.Name)
	}
	if more := len(f.Units) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	who := fmt.Sprintf("each of %d units is ", len(f.Units))
	switch {
	case len(f.Units) == 1:
		who = "a mean is "
	case exceptions > 0:
		who = fmt.Sprintf("each of %d units but %d is ", len(f.Units), exceptions)
	}
	return fmt.Sprintf("%s%s (%s); one value per %s", who, what, strings.Join(names, "; "), f.Sample)
}

// maxUnitNames is how many units a predicate names.
const maxUnitNames = 8

// predicates tells those of the readings or parts, equal ones together.
func (f Finding) predicates(several, one string) string {
	names := map[string][]string{}
	var order []string
	for _, r := range f.Readings {
		p := r.Finding.Predicate()
		if p == "" {
			p = "nothing is tested"
		}
		if names[p] == nil {
			order = append(order, p)
		}
		names[p] = append(names[p], r.Name)
	}
	var out []string
	for _, p := range order {
		format := several
		if len(names[p]) == 1 {
			format = one
		}
		out = append(out, fmt.Sprintf(format, len(names[p]), strings.Join(names[p], "; "), p))
	}
	return strings.Join(out, ". ")
}
