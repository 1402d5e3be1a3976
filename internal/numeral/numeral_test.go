package numeral

import (
	"strconv"
	"strings"
	"testing"
)

func TestVanishes(t *testing.T) {
	for text, want := range map[string]bool{
		"0": false, "-0": false, "0.000": false, "0e5": false, "0E-400": false, "1": false, "5e-324": false, "1e400": false,
		"1e-400": true, "-1E-400": true, "0.1e-330": true, "0." + strings.Repeat("0", 400) + "1": true,
	} {
		if v, _ := strconv.ParseFloat(text, 64); Vanishes(text, v) != want {
			t.Errorf("%s: %v, want %v", text, !want, want)
		}
	}
}
