package judge

import (
	"slices"
	"strings"
	"testing"
)

func TestPredicate(t *testing.T) {
	up := slices.Repeat([]float64{1, 2}, 4)
	unit := func(name string) Unit { return Unit{name, up} }
	one := Positive{Units: []Unit{unit("a")}}
	var many []Unit
	for _, name := range strings.Split("abcdefghij", "") {
		many = append(many, unit(name))
	}
	for name, tt := range map[string]struct {
		test Test
		want string
	}{
		"one":     {one, "a mean is above 0 (a); one value per trial"},
		"each":    {Positive{Units: many[:2], Rule: Rule{Sample: "fold"}}, "each of 2 units is above 0 (a; b); one value per fold"},
		"all but": {Positive{Units: many, Exceptions: 3}, "each of 10 units but 3 is above 0 (a; b; c; d; e; f; g; h; and 2 more); one value per trial"},
		"equivalent": {Equivalent{Units: many[:2], Margin: .01, Share: .75, Rule: Rule{Scale: 100, Unit: "points"}},
			"each of 2 units is within ±1 points of 0 in at least 75 % of the units (a; b); one value per trial"},
		"all equivalent":  {Equivalent{Units: many[:1], Margin: 2}, "a mean is within ±2 of 0 (a); one value per trial"},
		"number":          {Number{Theirs: 3, Ours: up}, "the mean over the trials is 3, to within its 95 % interval"},
		"tolerance":       {Number{Theirs: 3, Ours: up, Tolerance: .5}, "the mean over the trials is 3, to within its 95 % interval or 0.5"},
		"ratio":           {Ratio{Over: up, Under: up, Bound: 2}, "a quotient of means is at most 2, one value per trial"},
		"holds":           {Holds(slices.Repeat([]bool{true}, 7)), "a statement holds in every trial of 7"},
		"readings":        {Readings{{Name: "x", Test: one}, {Name: "y", Test: one}}, "by each of 2 readings (x; y): a mean is above 0 (a); one value per trial"},
		"unlike readings": {Readings{{Name: "x", Test: one}, {Name: "y", Test: Unfit{"o", "r"}}}, "by the reading x: a mean is above 0 (a); one value per trial. by the reading y: nothing is tested"},
		"parts":           {Both{{Name: "x", Test: one}}, "the part x: a mean is above 0 (a); one value per trial"},
		"stand-in":        {StandIn{"stand-in", one}, "a mean is above 0 (a); one value per trial"},
		"check":           {Check{Test: one, Why: "It must."}, "a mean is above 0 (a); one value per trial"},
		"nothing":         {Unsettled{"o", "r", "n"}, ""},
	} {
		f, err := Judge(tt.test)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Predicate(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
