package closest

import (
	"slices"
	"testing"
)

func TestAlike(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "01", "1.", "+1", "1e0"}, {"Item 1", "item 1", "Item\u00a01", "Item  1", " Item1 "}, {"caf\u00e9", "cafe\u0301", "CAFÉ"}, {"No.", "no"}, {"0.50", ".5"}, {"Ａ1", "a1"}, {"-0", "-0.0"},
	} {
		if got := Alike(same); len(got) != 1 || !slices.Equal(got[0], same) {
			t.Errorf("%q: %q", same, got)
		}
	}
	for _, different := range [][]string{{"1", "10", "1.01"}, {"1 2", "12"}, {"a", "b", ""}, {"cafe", "café"}, {"nan", "NaNa"}, {"0x10", "16"}, {"1_0", "10"}, {"9007199254740993x", "9007199254740992x"}, {"9007199254740993", "9007199254740992"}, {"inf", "infinity"}} {
		if got := Alike(different); len(got) != 0 {
			t.Errorf("%q: %q", different, got)
		}
	}
	if got, want := AlikeNote("objects", []string{"a", "A", "b", "B", "c", "C", "d", "D", "e"}), `these objects count as different, though they are written alike: "a" and "A"; "b" and "B"; "c" and "C"; 1 more`; got != want {
		t.Errorf("%s", got)
	}
	if got := AlikeNote("classes", []string{"a", "b"}); got != "" {
		t.Errorf("%s", got)
	}
}

func TestWhole(t *testing.T) {
	for text, want := range map[string]int{"3": 3, "03": 3, "3.0": 3, "3e0": 3, "-2": -2, "+1": 1, "9007199254740993": 9007199254740993} {
		if v, ok := Whole(text); !ok || v != want {
			t.Errorf("%s: %d, %v", text, v, ok)
		}
	}
	for _, text := range []string{"", "1.5", "NaN", "1e300", "0x10", "1_0", "99999999999999999999", "a"} {
		if v, ok := Whole(text); ok {
			t.Errorf("%s: %d", text, v)
		}
	}
}
