package nb

import (
	"math"
	"strings"
	"testing"
)

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		yours float64
		want  string
	}{
		{math.NaN(), "no answer yet"},
		{1.1, "right, yours is 1.1"},
		{1.1 + 1e-13, "right"},
		{0.6, "yours is 0.6, measured 1.1: in Go 1/2 is 0"},
		{0, "in Go 1/2 is 0"},
		{-1.1, ": the sign"},
		{2.2, "too many"},
		{0.55, "missing"},
		{1 / 1.1, "inverse"},
		{1.1 * 1.1, "square"},
		{math.Sqrt(1.1), "root"},
		{1.095, "yours is 1.095, measured 1.1: close"},
		{110, "in per cent, and a share"},
		{0.011, "a share, and per cent"},
		{7, "yours is 7, measured 1.1"},
		{math.Inf(1), "yours is +Inf, measured 1.1"},
	} {
		if got := answer("1", c.yours, 1.1, 1e-12, []Slip{IntegerDivision(0.6)}); !strings.Contains(got, c.want) || !strings.HasPrefix(got, "exercise 1: ") {
			t.Errorf("answer %g: %q, want %q", c.yours, got, c.want)
		}
	}
	if got := answer("1", 0, 1e-17, 1e-6, nil); !strings.Contains(got, "right") {
		t.Errorf("answer 0 of 0: %q", got)
	}
	if got := answer("1", 0.1, 0, 1e-6, nil); !strings.HasSuffix(got, "measured 0") {
		t.Errorf("answer 0.1 of 0: %q", got)
	}
	if got := answer("1", 0.45, 5.0/11, 1e-9, nil); !strings.Contains(got, "if that is rounded") { // of two digits, 1 % away
		t.Errorf("answer 0.45 of 5/11: %q", got)
	}
}
