package synthetic

import (
	"testing"

	"gonum.org/v1/gonum/floats"
)

func TestFaces(t *testing.T) {
	pix, traits := Faces()
	n, d := pix.Dims()
	if n != 16 || d != FaceSide*FaceSide {
		t.Fatalf("%d faces of %d pixels, want 16 of %d", n, d, FaceSide*FaceSide)
	}
	for i := range n {
		row := pix.RawRowView(i)
		if floats.Min(row) != 0 || floats.Max(row) != 1 {
			t.Errorf("face %d: pixels from %g to %g, want 0 to 1", i, floats.Min(row), floats.Max(row))
		}
		// Faces are symmetric, and their frame is blank.
		for y := range FaceSide {
			for x := range FaceSide {
				if row[y*FaceSide+x] != row[y*FaceSide+FaceSide-1-x] {
					t.Fatalf("face %d is not symmetric at row %d, column %d", i, y, x)
				}
			}
		}
		for j := range i {
			if floats.Distance(row, pix.RawRowView(j), 1) < 1 {
				t.Errorf("faces %d and %d differ by less than a pixel", i, j)
			}
		}
	}
	if got := traits.RawRowView(7); got[0] != 1./3 || got[1] != 1 {
		t.Errorf("face 7 has traits %v, want 1/3 and 1", got)
	}
	// The corners of a happy mouth are above its middle, those of a sad one below.
	corner := func(mood float64) bool {
		return isInk(.99*.55*.4, .45-.33*(2*mood-1)*.48, mood, 0) && !isInk(0, .45-.33*(2*mood-1)*.48, mood, 0)
	}
	if !corner(0) || !corner(1) {
		t.Error("the ends of the mouth are not where the mood says")
	}
}
