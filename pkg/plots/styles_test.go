package plots

import (
	"math"
	"strings"
	"testing"
)

// The first twelve names of a list are told apart in grey: as lines and as glyphs, each two
// differ by a step of lightness that is seen in thin lines, or else in dash and in shape.
func TestOrderedNamesInGrey(t *testing.T) {
	for i := range 12 {
		for j := range i {
			a, b := nth(i), nth(j)
			near := math.Abs(lightness(paint(a.Color))-lightness(paint(b.Color))) < greyStep
			if near && a.Dash == b.Dash {
				t.Errorf("lines %d and %d look alike in grey: %+v and %+v", j, i, b, a)
			}
			if near && a.Shape == b.Shape {
				t.Errorf("glyphs %d and %d look alike in grey: %+v and %+v", j, i, b, a)
			}
		}
	}
}

// Sixty names have sixty styles.
func TestManyStyles(t *testing.T) {
	first := map[Style]int{}
	for i := range 60 {
		if j, ok := first[nth(i)]; ok {
			t.Errorf("names %d and %d have one style: %+v", j, i, nth(i))
		}
		first[nth(i)] = i
	}
}

// A mark has name and style of the table, and one whose name is not there is refused.
func TestStyles(t *testing.T) {
	s := Ordered("POLA", "RCA")
	s["chance"] = Style{Color: Grey, Dash: Dotted, Shape: Ring}
	if got := s.Line("chance"); got.Name != "chance" || got.Color != Grey || got.Dash != Dotted {
		t.Errorf("line %+v", got)
	}
	if got := s.Lines("RCA", "chance"); len(got) != 2 || got[0].Name != "RCA" || got[1].Dash != Dotted {
		t.Errorf("lines %+v", got)
	}
	if got := s.Points("chance"); got.Name != "chance" || got.Color != Grey || got.Shape != Ring {
		t.Errorf("points %+v", got)
	}
	if got := s.Intervals("RCA"); got.Name != "RCA" || got.Color != Vermillion {
		t.Errorf("intervals %+v", got)
	}
	if got := s.Reference("chance", 50); got.Name != "chance" || got.Color != Grey || got.At != 50 {
		t.Errorf("reference %+v", got)
	}
	for _, m := range []Mark{s.Line("LDA"), s.Points("LDA"), s.Intervals("LDA"), s.Reference("LDA", 1)} {
		if _, err := panelOf(t, Panel{Marks: []Mark{m}}); err == nil || !strings.Contains(err.Error(), "a name that Styles lack") {
			t.Errorf("%T of a name that is not in the table: %v", m, err)
		}
	}
}
