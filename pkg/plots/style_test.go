package plots

import (
	"image/color"
	"math"
	"reflect"
	"testing"

	"gonum.org/v1/plot/vg"
)

// luminance is that of sRGB (IEC 61966-2-1).
func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		u := float64(v) / 255
		if u <= 0.04045 {
			return u / 12.92
		}
		return math.Pow((u+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}

// The lightness L* of the heat colours must grow evenly, so that equal steps
// of the data look equal and a grey print still reads.
func TestHeatLightnessGrowsEvenly(t *testing.T) {
	lightness := func(u float64) float64 { return 116*math.Cbrt(luminance(heatColor(u))) - 16 }
	const n = 64
	mean := (lightness(1) - lightness(0)) / n
	for i := range n {
		d := lightness(float64(i+1)/n) - lightness(float64(i)/n)
		// Within a factor of two of the mean: eight bits per channel and nine
		// anchors do not give more.
		if d < mean/2 || d > 2*mean {
			t.Errorf("step %d changes L* by %.2f, the mean step by %.2f", i, d, mean)
		}
	}
}

// Colours must stay apart for readers who lack one kind of cones (Viénot,
// Brettel and Mollon, 1999, matrices for protanopia and deuteranopia in linear
// RGB).
func TestPaletteForColourBlindReaders(t *testing.T) {
	views := map[string][3][3]float64{
		"normal":       {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia":   {{0.11238, 0.88762, 0}, {0.11238, 0.88762, 0}, {0.00401, -0.00401, 1}},
		"deuteranopia": {{0.29275, 0.70725, 0}, {0.29275, 0.70725, 0}, {-0.02234, 0.02234, 1}},
	}
	seen := func(m [3][3]float64, c color.NRGBA) (out [3]float64) {
		lin := [3]float64{}
		for i, v := range []uint8{c.R, c.G, c.B} {
			lin[i] = math.Pow(float64(v)/255, 2.2)
		}
		for i := range out {
			v := m[i][0]*lin[0] + m[i][1]*lin[1] + m[i][2]*lin[2]
			out[i] = math.Pow(min(max(v, 0), 1), 1/2.2)
		}
		return out
	}
	for view, m := range views {
		for i := range palette {
			for j := range i {
				a, b := seen(m, palette[i]), seen(m, palette[j])
				d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
				if d < 0.12 { // of the cube's edge; one step of a typical screen is 0.004
					t.Errorf("%s: colours %d and %d are only %.3f apart", view, j, i, d)
				}
			}
		}
	}
}

func TestRuns(t *testing.T) {
	got := runs("λ₁ of 10⁻³, A ⪰ 0")
	want := []run{{"λ", 0}, {"1", -1}, {" of 10", 0}, {"−3", 1}, {", A ≥ 0", 0}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLacking(t *testing.T) {
	if got := lacking("Σ λ₁ u₁ᵀ ≤ 10⁻³ ± ½ − ‖x‖ ⪰\n0 ß é … –"); got != "" {
		t.Errorf("the font lacks %q", got)
	}
	if got := lacking("a 漢 b 漢"); got != "漢" {
		t.Errorf("got %q, want 漢", got)
	}
}

func TestWrap(t *testing.T) {
	const width = 100
	lines := labelText.wrap("a long label that cannot stand on one line\nand a second paragraph", width)
	if len(lines) < 4 {
		t.Errorf("got only %d lines: %q", len(lines), lines)
	}
	for _, l := range lines {
		if w := labelText.width(l); w > width {
			t.Errorf("%q is %v wide, want at most %v", l, w, vg.Length(width))
		}
	}
	if got := labelText.wrap("", width); got != nil {
		t.Errorf("empty text: got %q", got)
	}
}

func TestColors(t *testing.T) {
	if paint(0) != paint(len(palette)) || paint(0) == paint(1) || paint(Grey) != greyLine {
		t.Error("the palette does not repeat, or Grey is not grey")
	}
}
