package plots

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// An interval is cut at what is possible and at the end of the axis, not by round-off; a value beyond what is possible is kept.
func TestCut(t *testing.T) {
	percent, linear := [2]float64{0, 100}, axis{lo: 0, hi: 60}
	for _, c := range []struct {
		name      string
		a         axis
		v, lo, hi float64
		possible  [2]float64
		want      bar
	}{
		{"inside", linear, 5, 4, 6, percent, bar{4, 6, false, false}},
		{"ends at zero", linear, 5, 0, 10, percent, bar{0, 10, false, false}},
		{"round-off", linear, 5, -1e-12, 10, percent, bar{0, 10, false, false}},
		{"below what is possible", axis{lo: -10, hi: 60}, 5, -1, 11, percent, bar{0, 11, true, false}},
		{"anything is possible", axis{lo: -10, hi: 60}, 5, -1, 11, [2]float64{}, bar{-1, 11, false, false}},
		{"beyond the axis", linear, 50, 30, 70, percent, bar{30, 60, false, true}},
		{"both ends", linear, 50, -10, 110, percent, bar{0, 60, true, true}},
		{"an impossible value", axis{lo: -10, hi: 60}, -2, -4, 0, percent, bar{-2, 0, true, false}},
		{"zero on a logarithmic axis", axis{0.1, 60, true}, 5, 0, 10, [2]float64{}, bar{0.1, 10, true, false}},
		{"a value beyond the axis", linear, 70, 50, 90, percent, bar{70, 70, false, false}},
	} {
		if got := c.a.cut(c.v, c.lo, c.hi, c.possible); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// triangle finds a path of three points in SVG.
var triangle = regexp.MustCompile(`d="M[^L"]*L[^L"]*L[^L"]*Z"`)

// A cut ends in an arrowhead, a filled triangle in place of a cap, in all marks with intervals; the caption says what it means
// where there is one, and only there.
func TestCutsAreMarked(t *testing.T) {
	percent := [2]float64{0, 100}
	x := []float64{1, 2}
	for _, c := range []struct {
		name string
		mark func(half float64) Mark
		p    Panel
		// heads is the number of arrowheads where intervals of ±5 about 2 and 50 are cut.
		heads int
	}{
		{"intervals", func(h float64) Mark {
			return Intervals{Name: "a", Labels: []string{"p", "q"}, X: []float64{2, 50}, Err: []float64{h, h}, Possible: percent}
		}, Panel{}, 1},
		{"intervals by their ends", func(h float64) Mark {
			return Intervals{Labels: []string{"p", "q"}, X: []float64{2, 50}, Lo: []float64{2 - h, 50 - h}, Hi: []float64{2 + h, 50 + h}, Possible: percent}
		}, Panel{}, 1},
		{"error bars", func(h float64) Mark {
			return Points{X: x, Y: []float64{2, 50}, YErr: []float64{h, h}, Possible: percent}
		}, Panel{}, 1},
		{"error bars to the right", func(h float64) Mark {
			return Points{X: []float64{2, 50}, Y: x, XErr: []float64{h, h}, Possible: percent}
		}, Panel{}, 1},
		{"error bars at the end of the axis", func(h float64) Mark {
			return Points{X: x, Y: []float64{2, 50}, YErr: []float64{h, h}}
		}, Panel{YMin: 0, YMax: 52}, 2},
		{"a band, at one stretch", func(h float64) Mark {
			return Line{X: []float64{1, 2, 3}, Y: []float64{2, 2, 50}, Lo: []float64{2 - h, 2 - h, 50 - h}, Hi: []float64{2 + h, 2 + h, 50 + h}, Possible: percent}
		}, Panel{}, 1},
		{"a band, at both sides", func(h float64) Mark {
			return Line{X: x, Y: []float64{2, 50}, Lo: []float64{2 - h, 50 - h}, Hi: []float64{2 + h, 50 + h}}
		}, Panel{YMin: 0, YMax: 52}, 2},
	} {
		for _, half := range []float64{5, 1} {
			heads := 0
			if half == 5 {
				heads = c.heads
			}
			c.p.Marks = []Mark{c.mark(half)}
			d := Drawing{Caption: Caption{Shows: "Shown.", Intervals: "Means."}, Panels: []Panel{c.p}}
			files, err := d.Render("f", Options{})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := len(triangle.FindAll(files[0].Data, -1)); got != heads {
				t.Errorf("%s, ± %v: %d arrowheads, want %d", c.name, half, got, heads)
			}
			if got, want := strings.Contains(string(files[2].Data), "Means. "+cutNote), heads > 0; got != want {
				t.Errorf("%s, ± %v: the caption explains arrowheads: %t, want %t", c.name, half, got, want)
			}
		}
	}
}

// The axis covers no more than what is possible.
func TestPossible(t *testing.T) {
	for _, c := range []struct {
		x, err []float64
		want   span
	}{
		{[]float64{1, 99}, []float64{3, 3}, span{0, 100}},
		{[]float64{1, 2}, []float64{0.5, 1}, span{0.5, 3}},
		{[]float64{-1, 101}, []float64{1, 1}, span{-1, 101}},
		{[]float64{1, 2}, nil, span{1, 2}},
	} {
		possible := [2]float64{0, 100}
		var lo, hi []float64
		for i := range c.err {
			lo, hi = append(lo, c.x[i]-c.err[i]), append(hi, c.x[i]+c.err[i])
		}
		of := func(x, y span) []span { return []span{x, y} }
		for name, got := range map[string]span{
			"intervals": of(Intervals{Labels: []string{"a", "b"}, X: c.x, Err: c.err, Possible: possible}.extent(&Panel{}))[0],
			"points":    of(Points{X: c.x, Y: c.x, XErr: c.err, Possible: possible}.extent(&Panel{}))[0],
			"line":      of(Line{X: c.x, Y: c.x, Lo: lo, Hi: hi, Possible: possible}.extent(&Panel{}))[1],
		} {
			if got != c.want {
				t.Errorf("%s, %v ± %v within 0 to 100: axis %v, want %v", name, c.x, c.err, got, c.want)
			}
		}
	}
	if _, err := (Panel{Marks: []Mark{Points{Possible: [2]float64{math.NaN(), 1}}}}).prepare(&notes{}); err == nil {
		t.Error("bounds that are no numbers are taken")
	}
}
