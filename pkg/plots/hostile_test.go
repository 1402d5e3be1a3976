package plots

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"metriclab/internal/printable"
)

// hostile are numbers at the ends of what a float64 holds, and near 1, where
// two that differ by one bit leave no room for round numbers between them.
var hostile = []float64{
	math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1, -1, 1 + 0x1p-52, 1 - 0x1p-53, 0.5, 1e9, 1e15, 1e16, 1e17, 1e17 + 16,
	5e-324, 1e-308, 1e-160, 1e-150, 1.1e-150, 1e-149, -1e-150, 1e149, 1e150, -1e150, 1.0000001e150, 1e308, -1e308, math.MaxFloat64, 3, 1e-3, 0.1, 99999, 100001,
}

// renderable fails unless the drawing renders, its SVG is XML and its Markdown printable, or says what is wrong.
func renderable(t *testing.T, name string, d Drawing) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", name, p)
		}
	}()
	files, err := d.Render("f", Options{Watermark: "hostile"})
	switch {
	case err != nil && !strings.HasPrefix(err.Error(), "plots: "):
		t.Errorf("%s: the error is %v, want one of this package", name, err)
	case err == nil && len(files) == 0:
		t.Errorf("%s: neither files nor an error", name)
	}
	for _, f := range files {
		switch path.Ext(f.Name) {
		case ".svg":
			for d := xml.NewDecoder(bytes.NewReader(f.Data)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Errorf("%s: %v", name, err)
					break
				}
			}
			fallthrough
		case ".md":
			if text := string(f.Data); text != printable.Text(text) {
				t.Errorf("%s: %s has characters that are not printed: %q", name, f.Name, text)
			}
		}
	}
}

// Ticks are few and finite, and the loop over them ends, whatever the axis.
func TestTicksOfHostileAxes(t *testing.T) {
	for _, lo := range hostile {
		for _, hi := range hostile {
			for _, log := range []bool{false, true} {
				if !isFinite(lo, hi) || lo > hi || log && !isPositive(lo) {
					continue // does not come from newAxis, nor from a fixed range
				}
				for _, a := range []axis{newAxis(span{lo, hi}, log, false), {lo, hi, log}} {
					if !(a.lo < a.hi) {
						continue
					}
					ticks := a.ticks(200, false, false)
					if len(ticks) > 3000 {
						t.Errorf("axis %+v: %d ticks", a, len(ticks))
					}
					for _, tk := range ticks {
						if !a.contains(tk.at) || strings.Contains(tk.label, "N") || len(tk.label) > 40 {
							t.Errorf("axis %+v: tick %+v", a, tk)
						}
					}
				}
				for _, v := range []float64{lo, hi} {
					if a := newAxis(span{lo, hi}, log, false); !a.contains(v) {
						t.Errorf("data from %v to %v (log %t): axis %+v does not contain %v", lo, hi, log, a, v)
					}
				}
			}
		}
	}
}

// hostileDrawing draws numbers from those of pick into every mark.
func hostileDrawing(rng *rand.Rand, pick func() float64) Drawing {
	some := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = pick()
		}
		return out
	}
	widths := func(n int) []float64 {
		out := some(n)
		for i := range out {
			out[i] = math.Abs(out[i])
		}
		return out
	}
	n := rng.IntN(5)
	p := Panel{Title: "t", XLabel: "x", YLabel: "y", XLog: rng.IntN(2) == 0, YLog: rng.IntN(2) == 0, Equal: rng.IntN(4) == 0}
	if rng.IntN(3) == 0 {
		p.XMin, p.XMax = pick(), pick()
	}
	if rng.IntN(3) == 0 {
		p.YMin, p.YMax = pick(), pick()
	}
	lo, hi := some(n), some(n)
	for i := range lo {
		if lo[i] > hi[i] {
			lo[i], hi[i] = hi[i], lo[i]
		}
	}
	labels := []string{"a", "b", "c", "d"}
	switch rng.IntN(5) {
	case 0:
		z := make([][]float64, 1+rng.IntN(3))
		for i := range z {
			z[i] = some(1 + n)
		}
		p.Marks = []Mark{Heat{Z: z, BarLabel: "bar", Min: 0, Max: math.Abs(pick())}}
	case 1:
		p.Marks = []Mark{Images{H: 1, W: 2, Pix: [][]float64{some(2), some(2)}}}
	case 2:
		p.YLog, p.Equal = false, false
		p.Marks = []Mark{Intervals{Name: "i", Labels: labels[:n], X: some(n), Err: widths(n)}, Reference{At: pick(), Vertical: true}}
	default:
		p.Marks = []Mark{
			Points{Name: "p", X: some(n), Y: some(n), XErr: widths(n), YErr: widths(n), Labels: labels[:n]},
			Line{Name: "l", X: some(n), Y: some(n), Lo: lo, Hi: hi, Dash: Dashed},
			Reference{Name: "r", At: pick(), Vertical: rng.IntN(2) == 0},
			Arrow{X0: pick(), Y0: pick(), X1: pick(), Y1: pick(), Dash: Dashed},
		}
		if p.XLog == p.YLog {
			p.Marks = append(p.Marks, Diagonal{Name: "d"})
		}
	}
	return Drawing{Panels: []Panel{p}}
}

func TestRenderHostileNumbers(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 12
	}
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(1, seed))
		d := hostileDrawing(rng, func() float64 { return hostile[rng.IntN(len(hostile))] })
		if seed%10 > 1 { // the layout finds ticks and sizes; drawing it takes most of the time
			if panels, _, _, err := d.prepare(); err == nil {
				d.layout(panels, Options{})
			}
			continue
		}
		renderable(t, "numbers", d)
	}
}

// Sizes that would need too much memory are refused before an image is made.
func TestRenderHostileSizes(t *testing.T) {
	line := Panel{Marks: []Mark{Line{X: []float64{0, 1}, Y: []float64{0, 1}}}}
	many := make([]Panel, 3000)
	for i := range many {
		many[i] = line
	}
	for name, d := range map[string]Drawing{
		"many panels":    {Panels: many[:500]},
		"many frames":    {Panels: []Panel{line}, Frames: many},
		"a huge image":   {Panels: []Panel{{Marks: []Mark{Images{H: math.MaxInt, W: 2, Pix: [][]float64{{1, 2}}}}}}},
		"an image wraps": {Panels: []Panel{{Marks: []Mark{Images{H: 1 << 32, W: 1 << 32, Pix: [][]float64{{}}}}}}},
	} {
		if _, err := d.Render("f", Options{}); err == nil || !strings.HasPrefix(err.Error(), "plots: ") {
			t.Errorf("%s: the error is %v, want one of this package", name, err)
		}
	}
	controls := ""
	for r := range rune(0xa0) {
		controls += string(r)
	}
	for _, text := range []string{"\x00", "a\x1b[2J\u009b\u2028\u2066", controls, "\ufffe\uffff", "\r", "a\tb", "\xff\xfe", strings.Repeat("\u0301", 50), strings.Repeat("m", 2_000), "\u202e]]><&\"'", "\n\n\n"} {
		p := line
		p.Title, p.XLabel = text, text
		p.Marks = append(p.Marks, Points{Name: text, X: []float64{1}, Y: []float64{1}, Labels: []string{text}})
		renderable(t, "labels", Drawing{Panels: []Panel{{Marks: []Mark{Intervals{Labels: []string{text}, X: []float64{1}}}}}, Notes: []string{text}})
		renderable(t, "text", Drawing{Panels: []Panel{p}, Caption: Caption{Shows: text + "."}, Text: &TextTable{Head: []string{text}, Rows: [][]string{{text}}}})
	}
}

// One in so many inputs of FuzzRender is drawn to the end, which takes most of the time.
const pixels = 64

func FuzzRender(f *testing.F) {
	for _, v := range hostile {
		f.Add(uint64(pixels), v, 1.0, 2.0)
	}
	f.Add(uint64(2*pixels), 1.0, 1+0x1p-52, 1.0)
	f.Fuzz(func(t *testing.T, seed uint64, a, b, c float64) {
		rng := rand.New(rand.NewPCG(2, seed))
		values := []float64{a, b, c, 0, 1}
		d := hostileDrawing(rng, func() float64 { return values[rng.IntN(len(values))] })
		if seed%pixels == 0 {
			renderable(t, "fuzz", d)
		} else if _, err := d.Warnings(); err != nil && !strings.HasPrefix(err.Error(), "plots: ") {
			t.Errorf("the error is %v, want one of this package", err)
		}
	})
}
