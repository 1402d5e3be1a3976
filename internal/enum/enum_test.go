package enum

import (
	"slices"
	"testing"
)

type colour int

var colours = Of[colour]("colour %d", "", "red", "deep blue")

func TestText(t *testing.T) {
	for v, want := range map[colour]string{-1: "colour -1", 0: "colour 0", 1: "red", 2: "deep blue", 3: "colour 3"} {
		if got := colours.Text(v); got != want {
			t.Errorf("%d is %q, want %q", int(v), got, want)
		}
	}
	if got := colours.List(); !slices.Equal(got, []string{"red", "deep blue"}) {
		t.Errorf("the names are %q", got)
	}
	colours.List()[0] = "changed"
	if colours.Text(1) != "red" {
		t.Error("a caller's change of the list changed the names")
	}
}

// Both readers read each name, and nothing else.
func TestRead(t *testing.T) {
	for v, name := range map[colour]string{1: "red", 2: "deep blue"} {
		if got, err := colours.Parse("colour", name); got != v || err != nil {
			t.Errorf("%q is parsed as %d, %v", name, got, err)
		}
		var u colour
		if err := colours.Unmarshal(&u, []byte(name)); u != v || err != nil {
			t.Errorf("%q is unmarshalled as %d, %v", name, u, err)
		}
	}
	for _, name := range []string{"", "colour 0", "colour 3", "Red", " red", "1"} {
		if v, err := colours.Parse("paint", name); v != 0 || err == nil {
			t.Errorf("%q is parsed as %d, %v", name, v, err)
		}
		u := colour(2)
		if err := colours.Unmarshal(&u, []byte(name)); u != 2 || err == nil {
			t.Errorf("%q is unmarshalled as %d, %v", name, u, err)
		}
	}
	if _, err := colours.Parse("paint", "green"); err.Error() != `paint "green" is not allowed, want one of ["red" "deep blue"]` {
		t.Errorf("the error is %v", err)
	}
	if err := colours.Unmarshal(new(colour), []byte("green")); err.Error() != `"green" is not allowed, want one of red, deep blue` {
		t.Errorf("the error is %v", err)
	}
}

func TestOfPanics(t *testing.T) {
	for what, names := range map[string][]string{"no names": nil, "a name twice": {"red", "blue", "red"}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			Of[colour]("colour %d", names...)
		}()
	}
}
