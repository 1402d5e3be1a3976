package classify

import (
	"math"
	"strings"
	"testing"
)

func TestExampleErrors(t *testing.T) {
	for _, c := range []struct {
		f    Example
		want string
	}{
		{Example{[]float64{1, 2}, Positive}, ""},
		{Example{[]float64{1, 2}, 0}, "label: 0 is not allowed, want 1 (positive) or -1 (negative)"},
		{Example{[]float64{1}, Negative}, "x: has 1 numbers, want 2"},
		{Example{[]float64{1, math.Inf(-1)}, Negative}, "x[1]: -Inf is not allowed"},
	} {
		if err := c.f.Check(2); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.f, err, c.want)
		}
	}
	if Positive.String() != "positive" || Negative.String() != "negative" || Label(0).String() != "invalid label 0" {
		t.Errorf("labels are called %v, %v and %v", Positive, Negative, Label(0))
	}
	if LabelOf(true) != Positive || LabelOf(false) != Negative {
		t.Error("LabelOf")
	}
}

func TestParseLabel(t *testing.T) {
	for v := -600; v <= 600; v++ {
		l, err := ParseLabel(v)
		if want := v == 1 || v == -1; (err == nil) != want || want && int(l) != v || !want && l != 0 {
			t.Errorf("%d: label %v, error %v", v, l, err)
		}
	}
}
