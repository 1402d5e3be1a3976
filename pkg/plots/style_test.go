package plots

import (
	"image/color"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// The lightness L* of the heat colours must grow evenly, so that equal steps
// of the data look equal and a grey print still reads.
func TestHeatLightnessGrowsEvenly(t *testing.T) {
	lightness := func(u float64) float64 { return lightness(heatColor(u)) }
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
				a, b := seen(m, palette[i].NRGBA), seen(m, palette[j].NRGBA)
				d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
				if d < 0.12 { // of the cube's edge; one step of a typical screen is 0.004
					t.Errorf("%s: %s and %s are only %.3f apart", view, palette[j].name, palette[i].name, d)
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

// The title of an axis ends in no lone word, and its lines are about equal.
func TestAxisLabel(t *testing.T) {
	for _, c := range []struct {
		text  string
		width vg.Length
		want  []string
		size  vg.Length // 0 is that of labels
	}{
		{"error (%)", 100, []string{"error (%)"}, 0},
		{"regret per object and round", 110, []string{"regret per object", "and round"}, 0},
		{"worst start above best (%)", 110, []string{"worst start", "above best (%)"}, 0},
		{"one two three four five six seven eight", 110, []string{"one two three four", "five six seven eight"}, 0},
		{"clustering (%)", 60, []string{"clustering (%)"}, 9.5}, // two lines would leave the unit alone
		{"a\nb", 100, []string{"a", "b"}, 0},
		{"extraordinarily_long_word (%)", 60, []string{"extraordinarily_long_word", "(%)"}, 0}, // nothing helps
		{"", 60, nil, 0},
	} {
		l := axisLabel(c.text, c.width)
		size := labelText.size
		if c.size != 0 {
			size = c.size
		}
		if !slices.Equal(l.lines, c.want) || l.style.size != size {
			t.Errorf("%q: %q of size %v, want %q of size %v", c.text, l.lines, l.style.size, c.want, size)
		}
	}
	words := strings.Fields("error of the best start among ten on held out comparisons per object and round (%)")
	for n := 2; n <= len(words); n++ {
		for w := vg.Length(60); w < 400; w += 10 {
			l := axisLabel(strings.Join(words[:n], " "), w)
			if k := len(l.lines); k > 1 && k <= 4 && !strings.Contains(l.lines[k-1], " ") {
				t.Errorf("%d words in %v: %q", n, w, l.lines)
			}
		}
	}
}

// Every colour is seen on white: at least as well as the orange of Okabe and Ito.
func TestPaletteOnWhite(t *testing.T) {
	const least = 2.2 // contrast as in WCAG 2, 1.05/(Y+0.05)
	for _, c := range palette {
		if got := 1.05 / (luminance(c.NRGBA) + 0.05); got < least {
			t.Errorf("%s has a contrast of %.2f to white, want %v", c.name, got, least)
		}
	}
}
