package plural_test

import (
	"testing"

	"metriclab/internal/plural"
)

func TestOf(t *testing.T) {
	for n, want := range map[int]string{0: "0 jobs", 1: "1 job", 2: "2 jobs"} {
		if got := plural.Of(n, "job"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
