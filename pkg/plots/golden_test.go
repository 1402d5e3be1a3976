package plots

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/cmpimg"
)

// golden are the drawings whose images are kept in testdata; one per mark and
// some for the layout. After a wanted change run
//
//	go test ./pkg/plots -run Golden -regen
//
// and look at the images.
var golden = []struct {
	name    string
	dpi     int // less than that of Render where the file would be large
	options Options
	drawing func() Drawing
}{
	{"points", 110, Options{}, drawPoints},
	{"line", 110, Options{}, drawLine},
	{"reference", defaultDPI, Options{}, drawReference},
	{"heat", defaultDPI, Options{}, drawHeat},
	{"images", defaultDPI, Options{Watermark: "smoke scale: not a result"}, drawImages},
	{"pictures", defaultDPI, Options{}, drawPictures},
	{"arrow", defaultDPI, Options{}, drawArrows},
	{"intervals", defaultDPI, Options{}, drawIntervals},
	{"log", 100, Options{}, drawLog},
	{"grid", 75, Options{Watermark: "smoke scale: not a result"}, drawGridOfPanels},
	{"figure2", 75, Options{Watermark: "smoke scale: not a result"}, drawImagesAndHeats},
	{"direct", 100, Options{}, drawDirect},
	{"styles", 75, Options{}, drawStyles},
	{"cut", 100, Options{}, drawCut},
	{"coincide", 100, Options{}, drawCoincide},
	{"nominal", 100, Options{}, drawNominal},
	{"empty", defaultDPI, Options{}, drawEmpty},
}

func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func drawPoints() Drawing {
	rng := random()
	a := Points{Name: "POLA against Euclidean"}
	b := Points{Name: "POLA against RCA", Color: 1, Shape: 1}
	for i := range 20 {
		x := 0.2 + 4*rng.Float64()
		a.X, a.Y = append(a.X, x), append(a.Y, x*(0.4+0.4*rng.Float64()))
		a.XErr, a.YErr = append(a.XErr, 0.1+0.2*rng.Float64()), append(a.YErr, 0.1+0.2*rng.Float64())
		b.X, b.Y = append(b.X, x*1.2), append(b.Y, x*(0.5+0.6*rng.Float64()))
		label := ""
		if i%5 == 0 {
			label = string(rune('0'+i%10)) + " vs 8"
		}
		a.Labels = append(a.Labels, label)
	}
	return Drawing{
		Caption: Caption{Shows: "Error of two methods."},
		Panels: []Panel{{
			Title: "Test error on pairs of digits", XLabel: "error of the other method (%)", YLabel: "error of POLA (%)",
			Equal: true, Marks: []Mark{Diagonal{Name: "equal error"}, a, b},
		}},
	}
}

// drawDirect has names at the ends of lines, and two panels that share one entry of their legends of two.
func drawDirect() Drawing {
	line := func(name string, color int, end float64) Line {
		return Line{Name: name, Color: color, X: []float64{1, 10, 100}, Y: []float64{50, 30, end}}
	}
	return Drawing{
		Caption: Caption{Shows: "Names at the lines, one legend."}, Columns: 2,
		Panels: []Panel{
			{Title: "apart", XLabel: "triplets", YLabel: "error (%)", XLog: true, YLog: true, YMin: 10, YMax: 60, Marks: []Mark{
				line("one", 0, 12), line("two", 1, 12.2), line("three", 2, 12.2), line("above", 4, 25), Reference{Name: "chance", At: 50, Color: Grey},
			}},
			{Title: "legends", XLabel: "triplets", YLabel: "error (%)", Marks: []Mark{
				line("one", 0, 12), Reference{Name: "chance", At: 50, Color: Grey},
			}},
		},
	}
}

// drawStyles has the first twelve names of a list, as lines with a legend, as lines with their names, and as glyphs.
func drawStyles() Drawing {
	var names []string
	for i := range 12 {
		names = append(names, fmt.Sprintf("name %d", i+1))
	}
	styles := Ordered(names...)
	d := Drawing{Caption: Caption{Shows: "All styles."}, Columns: 2, Panels: []Panel{{Title: "lines"}, {Title: "glyphs"}}}
	for i, name := range names {
		l, p := styles.Line(name), styles.Points(name)
		l.X, l.Y = []float64{0, 3, 10}, []float64{float64(i), float64(i), float64(i) + 1}
		p.X, p.Y = []float64{0, 3, 10}, l.Y
		d.Panels[0].Marks, d.Panels[1].Marks = append(d.Panels[0].Marks, l), append(d.Panels[1].Marks, p)
	}
	return d
}

// drawCut has intervals that are cut at what is possible, at the end of the axis, and on a logarithmic axis.
func drawCut() Drawing {
	percent := [2]float64{0, 100}
	x := []float64{1, 2, 3, 4}
	return Drawing{
		Caption: Caption{Shows: "Cut intervals."}, Columns: 2,
		Panels: []Panel{
			{Title: "possible", XLabel: "error (%)", Marks: []Mark{
				Intervals{Name: "ours", Labels: []string{"cut at 0", "ends at 0", "at 0"}, X: []float64{2, 3, 0}, Err: []float64{4, 3, 1}, Possible: percent},
				Intervals{Name: "theirs", Labels: []string{"cut at 0", "ends at 0", "at 0"}, X: []float64{98, 90, 50}, Err: []float64{4, 10, 60}, Possible: percent, Color: Vermillion, Shape: Triangle},
			}},
			{Title: "axis", XLabel: "triplets", YLabel: "error (%)", YMin: 0, YMax: 60, Marks: []Mark{
				Line{Name: "line", X: x, Y: []float64{50, 20, 5, 3}, Lo: []float64{20, 10, -5, -10}, Hi: []float64{80, 30, 15, 16}, Possible: percent},
				Line{Name: "other", X: x, Y: []float64{58, 40, 15, 8}, Lo: []float64{50, 30, -5, -10}, Hi: []float64{65, 50, 35, 20}, Possible: percent, Color: Green},
				Points{Name: "points", X: []float64{1.5, 2.5, 3.5}, Y: []float64{57, 30, 2}, YErr: []float64{8, 8, 8}, Possible: percent, Color: Purple, Shape: Diamond},
			}},
			{Title: "logarithmic", XLabel: "triplets", YLabel: "time (s)", YLog: true, Marks: []Mark{
				Points{Name: "points", X: x, Y: []float64{1, 3, 10, 1000}, YErr: []float64{2, 1, 5, 2000}, Color: Purple, Shape: Diamond},
			}},
		},
	}
}

// drawCoincide has lines that lie on each other, in part and at the frame's edge.
func drawCoincide() Drawing {
	line := func(name string, color, dash int, y ...float64) Line {
		l := Line{Name: name, Color: color, Dash: dash, Y: y}
		for i := range y {
			l.X = append(l.X, float64(i))
		}
		return l
	}
	return Drawing{
		Caption: Caption{Shows: "Lines that coincide."}, Columns: 2,
		Panels: []Panel{
			{YLabel: "error (%)", Marks: []Mark{
				line("a", Blue, Solid, 50, 30, 20, 15, 10), line("b", Orange, Solid, 50, 30, 20, 15, 10), line("c", Green, Solid, 50, 30, 20.1, 18, 5), line("alone", Purple, Solid, 40, 35, 30, 28, 27),
			}},
			{YLabel: "error (%)", Marks: []Mark{line("d", Black, Solid, 9, 0, 0, 0, 0), line("e", Sky, Dashed, 5, 0, 0, 0, 0)}},
		},
	}
}

func drawNominal() Drawing {
	return Drawing{
		Caption: Caption{Shows: "Names as colours, and intervals that are not symmetric."}, Columns: 2,
		Panels: []Panel{
			{Title: "groups", HideAxes: true, Marks: []Mark{Heat{Nominal: true, Z: [][]float64{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 10, 11, math.NaN()}, {8, 10, 10, 11}}}}},
			{Title: "quotients of times", XLabel: "% of the other's", XLog: true, Marks: []Mark{
				Intervals{Name: "learning", Labels: []string{"a", "b", "c"}, X: []float64{1, 30, 100}, Lo: []float64{.2, 20, math.NaN()}, Hi: []float64{5, 80, math.NaN()}},
			}},
		},
	}
}

func drawLine() Drawing {
	var a, b, c Line
	a = Line{Name: "cumulative squared loss (mean, 95 % interval)", Color: 0}
	b = Line{Name: "bound of Theorem 1", Color: 1, Dash: Dashed}
	c = Line{Name: "broken where the data are missing", Color: 2}
	for i := range 41 {
		x := 250 * float64(i)
		y := 30 * (1 - math.Exp(-x/2500))
		a.X, a.Y, a.Lo, a.Hi = append(a.X, x), append(a.Y, y), append(a.Lo, y*0.85), append(a.Hi, y*1.1)
		b.X, b.Y = append(b.X, x), append(b.Y, 45)
		z := 10 + x/1000
		if i > 15 && i < 20 || i == 21 {
			z = math.NaN()
		}
		c.X, c.Y = append(c.X, x), append(c.Y, z)
	}
	return Drawing{Panels: []Panel{{XLabel: "pairs seen", YLabel: "squared loss", Marks: []Mark{a, b, c}}}}
}

func drawReference() Drawing {
	return Drawing{Panels: []Panel{{
		Title: "Reference lines", XLabel: "k", YLabel: "error (%)", YMin: 0, YMax: 8, XMin: 0, XMax: 20,
		Marks: []Mark{
			Line{Name: "measured", X: []float64{1, 3, 5, 9, 15, 19}, Y: []float64{5, 4, 3.6, 3.9, 4.4, 5}},
			Reference{Name: "the paper's value", At: 3.2, Color: 1},
			Reference{Name: "chosen k", At: 5, Vertical: true, Color: Grey},
		},
	}}}
}

func drawHeat() Drawing {
	z := make([][]float64, 16)
	rng := random()
	for i := range z {
		z[i] = make([]float64, 16)
		for j := range z[i] {
			z[i][j] = 0.4 * rng.Float64()
			if (i < 6) != (j < 6) {
				z[i][j]++
			}
		}
	}
	z[3][12] = math.NaN()
	return Drawing{Panels: []Panel{{
		Title: "Distances between noisy digits", XLabel: "image", YLabel: "image",
		Marks: []Mark{Heat{
			Z: z, BarLabel: "distance", Separators: []int{6},
			XTicks: []Tick{{2.5, "digit 2"}, {10.5, "digit 5"}}, YTicks: []Tick{{2.5, "digit 2"}, {10.5, "digit 5"}},
		}},
	}}}
}

func drawImages() Drawing {
	rng := random()
	m := Images{H: 8, W: 8, Columns: 7}
	for k := range 17 {
		pix := make([]float64, 64)
		for i := range pix {
			x, y := float64(i%8)-3.5, float64(i/8)-3.5
			if r := math.Hypot(x, y); r > 1.5 && r < 3.6 && (k%2 == 0 || x > 0) {
				pix[i] = 1
			}
			pix[i] += 0.3 * rng.Float64()
		}
		m.Pix = append(m.Pix, pix)
	}
	m.Pix[3][9] = math.Inf(1)
	return Drawing{Panels: []Panel{{Title: "Noisy images", HideAxes: true, Marks: []Mark{m}}}}
}

func drawPictures() Drawing {
	m := Pictures{H: 8, W: 8, Pix: drawImages().Panels[0].Marks[0].(Images).Pix[4:10]}
	for i, pix := range m.Pix {
		m.X, m.Y = append(m.X, math.Cos(float64(i))), append(m.Y, 2*math.Sin(float64(i)))
		for j := range pix {
			pix[j] = min(pix[j], 1)
		}
	}
	return Drawing{Panels: []Panel{{Title: "A map of images", Equal: true, HideAxes: true, Marks: []Mark{m}}}}
}

func drawArrows() Drawing {
	return Drawing{Panels: []Panel{{
		Title: "Eigenvectors", XLabel: "x₁", YLabel: "x₂", Equal: true,
		Marks: []Mark{
			Points{Name: "pair", X: []float64{-1, 1.5}, Y: []float64{0.5, 1.4}, Labels: []string{"x", "x′"}},
			Arrow{Name: "√λ₁ u₁", X1: 1.8, Y1: -0.9, Color: 1},
			Arrow{Name: "√λ₂ u₂", X1: 0.4, Y1: 0.8, Color: Orange},
			Arrow{Name: "difference of the pair", X0: -1, Y0: 0.5, X1: 1.5, Y1: 1.4, Color: Grey, Dash: Dashed},
		},
	}}}
}

func drawIntervals() Drawing {
	labels := []string{"k-nearest neighbours with the Euclidean metric", "RCA after PCA-40", "RCA", "POLA"}
	return Drawing{Panels: []Panel{{
		Title: "Mean test error over 45 pairs", XLabel: "error (%)",
		Marks: []Mark{
			Intervals{Name: "10,000 images", Labels: labels, X: []float64{1.4, 1.3, 4.1, 0.9}, Err: []float64{0.1, 0.15, 0.6, 0.1}, Possible: [2]float64{0.85, 4.4}}, // cuts both ends of bars
			Intervals{Name: "1,000 images", Labels: labels, X: []float64{2.4, 2.6, math.NaN(), 1.6}, Err: []float64{0.2, 0.4, 0, 0.2}, Color: Vermillion, Shape: Triangle},
			Reference{Name: "printed value", At: 0.7, Vertical: true, Color: Grey},
		},
	}}}
}

func drawLog() Drawing {
	var a Line
	p := Points{Name: "measured", Color: 1}
	a.Name = "1/√T"
	for e := -2.0; e <= 6; e += 0.5 {
		x := math.Pow(10, e)
		a.X, a.Y = append(a.X, x), append(a.Y, 1/math.Sqrt(x))
		p.X, p.Y = append(p.X, x), append(p.Y, 1.3/math.Sqrt(x))
		p.YErr = append(p.YErr, 0.5/math.Sqrt(x))
	}
	p.X, p.Y, p.YErr = append(p.X, 0), append(p.Y, 1), append(p.YErr, 0)
	near := Points{Name: "near", Shape: Triangle, X: []float64{1.5, 3, 20}, Y: []float64{0.02, 0.1, 0.4}}
	return Drawing{Columns: 2, Panels: []Panel{
		{Title: "Many decades", XLabel: "rounds T", YLabel: "mean loss", XLog: true, YLog: true, Marks: []Mark{a, p}},
		{Title: "Few decades", XLabel: "k", YLabel: "error", XLog: true, YLog: true, Marks: []Mark{near}},
	}}
}

func drawGridOfPanels() Drawing {
	rng := random()
	d := Drawing{Columns: 2}
	for _, title := range []string{"PCA, training images", "POLA, training images", "POLA, held-out images that it has never seen, a title of two lines"} {
		p := Panel{Title: title, XLabel: "first eigenvector", YLabel: "second eigenvector"}
		for c := range 2 {
			m := Points{Name: []string{"digit 0", "digit 8"}[c], Color: c, Shape: c}
			for range 12 {
				m.X, m.Y = append(m.X, float64(3*c)+rng.NormFloat64()), append(m.Y, rng.NormFloat64())
			}
			p.Marks = append(p.Marks, m)
		}
		d.Panels = append(d.Panels, p)
	}
	return d
}

func drawImagesAndHeats() Drawing {
	d := Drawing{Columns: 2}
	for range 2 {
		p := drawImages().Panels[0]
		p.Title = "images"
		d.Panels = append(d.Panels, p)
	}
	for range 2 {
		p := drawHeat().Panels[0]
		p.Title = "distances"
		d.Panels = append(d.Panels, p)
	}
	return d
}

func drawEmpty() Drawing {
	return Drawing{Panels: []Panel{{Title: "Nothing measured yet", XLabel: "x", YLabel: "y", Equal: true, Marks: []Mark{
		Diagonal{Name: "equal error"}, Points{Name: "POLA", X: []float64{math.NaN()}, Y: []float64{1}},
	}}}}
}

func regen() bool { return flag.Lookup("regen").Value.String() == "true" }

// maxGolden keeps the repository small.
const maxGolden = 60 << 10

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			d := g.drawing()
			panels, _, _, err := d.prepare()
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.layout(panels, g.options).png(g.dpi)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) > maxGolden {
				t.Errorf("%d bytes, want at most %d", len(got), maxGolden)
			}
			path := filepath.Join("testdata", g.name+"_golden.png")
			if regen() {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			// Other processors round differently (fused multiply-add), which moves
			// the shade of single edge pixels a little.
			const delta = 0.05
			ok, err := cmpimg.EqualApprox("png", got, want, delta)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				file := filepath.Join(t.ArtifactDir(), g.name+".png")
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				t.Errorf("the image differs from %s; with -artifacts it is kept in %s", path, file)
			}
		})
	}
}

// Every golden drawing must give the same bytes again, and an SVG that is
// self-contained.
func TestBytesAreStable(t *testing.T) {
	for i, g := range golden {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			first, err := g.drawing().Render("fig", g.options)
			if err != nil {
				t.Fatal(err)
			}
			second, err := g.drawing().Render("fig", g.options)
			if err != nil {
				t.Fatal(err)
			}
			if len(first) != 3 {
				t.Fatalf("got %d files, want 3", len(first))
			}
			for i, f := range first {
				if f.Name != second[i].Name || !bytes.Equal(f.Data, second[i].Data) {
					t.Errorf("%s: bytes differ between two renderings", f.Name)
				}
			}
			svg := string(first[0].Data)
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("the SVG has coordinates that are not finite")
			}
			if strings.Contains(svg, `href="http`) {
				t.Errorf("the SVG refers to another file")
			}
		})
	}
}

// The resolution of PNG is that of the options; others than 36 to 600 are refused.
func TestDPI(t *testing.T) {
	d := Drawing{Panels: []Panel{{Marks: []Mark{Points{X: []float64{1}, Y: []float64{2}}}}}}
	width := func(o Options) int {
		raw, err := d.PNG(o)
		if err != nil {
			t.Fatal(err)
		}
		c, err := png.DecodeConfig(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return c.Width
	}
	whole, half := width(Options{}), width(Options{DPI: defaultDPI / 2})
	if whole != width(Options{DPI: defaultDPI}) || half < whole/2-1 || half > whole/2+1 {
		t.Errorf("%d pixels wide, and %d at half the resolution", whole, half)
	}
	for _, bad := range []int{-1, 35, 601} {
		if _, err := d.PNG(Options{DPI: bad}); err == nil {
			t.Errorf("PNG takes %d dpi", bad)
		}
		if _, err := d.Render("a", Options{DPI: bad}); err == nil {
			t.Errorf("Render takes %d dpi", bad)
		}
	}
}
