package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/plot/vg"
)

// Panels with titles, labels and legends must lie inside the figure and must
// not overlap: so a legend never covers data.
func TestLayoutKeepsPanelsApart(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			d := g.drawing()
			panels, _, _, err := d.prepare()
			if err != nil {
				t.Fatal(err)
			}
			f := d.layout(panels, g.options)
			if most := figureWidth + 1; f.w > most {
				t.Errorf("the figure is %.0f points wide, want at most %.0f", f.w, most)
			}
			var boxes []vg.Rectangle
			for i, m := range f.panels {
				p := f.at[i]
				boxes = append(boxes, vg.Rectangle{
					Min: vg.Point{X: p.X - m.room.left, Y: p.Y - m.room.bottom},
					Max: vg.Point{X: p.X + m.w + m.room.right, Y: p.Y + m.h + m.room.top},
				})
				if len(m.legendRows) > 0 && m.room.bottom < legendHeight(m.legendRows) {
					t.Errorf("panel %d: the legend needs %v below the data, has %v", i, legendHeight(m.legendRows), m.room.bottom)
				}
			}
			if f.legend != nil {
				boxes = append(boxes, vg.Rectangle{Min: vg.Point{X: 0, Y: margin}, Max: vg.Point{X: f.w, Y: margin + legendHeight(f.legend)}})
			}
			for i, a := range boxes {
				if a.Min.X < 0 || a.Min.Y < 0 || a.Max.X > f.w || a.Max.Y > f.h {
					t.Errorf("panel %d at %v leaves the figure of %v × %v", i, a, f.w, f.h)
				}
				for j, b := range boxes[:i] {
					if overlap(a, b) > 0 {
						t.Errorf("panels %d and %d overlap: %v and %v", j, i, b, a)
					}
				}
			}
		})
	}
}

// The edge of every figure is white: nothing is clipped.
func TestNothingIsClipped(t *testing.T) {
	long := strings.Repeat("a rather long text that must be broken ", 4)
	drawings := []func() Drawing{func() Drawing {
		d := drawGridOfPanels()
		for i := range d.Panels {
			p := &d.Panels[i]
			p.Title, p.XLabel, p.YLabel = long, long, long
			for k, m := range p.Marks {
				m := m.(Points)
				m.Name = long + m.Name
				p.Marks[k] = m
			}
		}
		d.Panels[1].Marks = d.Panels[1].Marks[:1] // legends are not shared
		return d
	}, func() Drawing {
		d := drawHeat()
		m := d.Panels[0].Marks[0].(Heat)
		m.BarLabel = long
		m.XTicks = []Tick{{0, "a long label"}, {1, "another long label"}, {2, "x"}}
		d.Panels[0].Marks[0] = m
		return d
	}}
	for _, g := range golden {
		drawings = append(drawings, g.drawing)
	}
	for i, draw := range drawings {
		d := draw()
		panels, _, _, err := d.prepare()
		if err != nil {
			t.Fatal(err)
		}
		data, err := d.layout(panels, Options{Watermark: long}).png(72)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		b := img.Bounds()
		const edge = 2 // pixels of the 6 of the margin
		inside := image.Rect(b.Min.X+edge, b.Min.Y+edge, b.Max.X-edge, b.Max.Y-edge)
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				if (image.Point{X: x, Y: y}).In(inside) {
					x = inside.Max.X
				}
				if c := color.GrayModel.Convert(img.At(x, y)).(color.Gray); c.Y != 255 {
					t.Fatalf("drawing %d: pixel (%d, %d) of %v at the edge is not white", i, x, y, b.Size())
				}
			}
		}
	}
}

// Drawings may be rendered at the same time.
func TestRenderInParallel(t *testing.T) {
	want, err := drawPoints().Render("x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	got := make([][]File, 4)
	for i := range got {
		wg.Go(func() { got[i], _ = drawPoints().Render("x", Options{}) })
	}
	wg.Wait()
	for i, files := range got {
		if len(files) != len(want) {
			t.Fatalf("rendering %d has %d files, want %d", i, len(files), len(want))
		}
		for k := range files {
			if !bytes.Equal(files[k].Data, want[k].Data) {
				t.Errorf("rendering %d: %s differs", i, files[k].Name)
			}
		}
	}
}

// Panels with the same legend share one; others keep their own.
func TestSharedLegend(t *testing.T) {
	count := func(d Drawing) int {
		files, err := d.Render("x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(files[0].Data), ">digit 0<")
	}
	d := drawGridOfPanels()
	if got := count(d); got != 1 {
		t.Errorf("equal legends: drawn %d times, want once", got)
	}
	for i := range d.Panels {
		m := d.Panels[i].Marks[1].(Points)
		m.Name, m.Shape = fmt.Sprintf("digit %d", 7+i), 2+i
		n := d.Panels[i].Marks[0].(Points)
		n.Name, n.Shape = fmt.Sprintf("digit %d", i), 5+i
		d.Panels[i].Marks = []Mark{n, m}
	}
	if panels, _, _, err := d.prepare(); err != nil || d.layout(panels, Options{}).legend != nil || count(d) != 1 {
		t.Errorf("no name is in two panels: one legend of all, or error %v", err)
	}
}

func TestWatermark(t *testing.T) {
	const mark = "smoke scale: not a result"
	for _, draw := range []func() Drawing{drawPoints, drawHeat, drawImages, drawIntervals} {
		with, err := draw().Render("x", Options{Watermark: mark})
		if err != nil {
			t.Fatal(err)
		}
		without, err := draw().Render("x", Options{})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(with[0].Data), mark) != 1 || !strings.HasPrefix(string(with[2].Data), "> "+mark) {
			t.Error("the watermark is missing in SVG or Markdown")
		}
		if strings.Contains(string(without[0].Data), mark) || bytes.Equal(with[1].Data, without[1].Data) {
			t.Error("the watermark is there without the option, or missing in PNG")
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	ok := drawReference()
	for _, c := range []struct {
		d          Drawing
		name, want string
	}{
		{Drawing{}, "x", "neither Panels nor Text"},
		{ok, "", `name ""`},
		{ok, "a/b", `name "a/b"`},
		{ok, "a b", `name "a b"`},
		{Drawing{Columns: -1, Panels: ok.Panels}, "x", "Columns is -1"},
		{Drawing{Text: &TextTable{}}, "x", "Head is empty"},
	} {
		if _, err := c.d.Render(c.name, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
}

// Notes name the panel if there are several.
func TestWarningsNamePanels(t *testing.T) {
	bad := Points{X: []float64{nan, 1}, Y: []float64{1, 1}}
	d := Drawing{Notes: []string{"own note"}, Panels: []Panel{{Title: "left", Marks: []Mark{bad}}, {Marks: []Mark{bad}}}}
	got, err := d.Warnings()
	if err != nil {
		t.Fatal(err)
	}
	want := "own note|Panel \"left\": 1 point is not finite and is not drawn.|Panel 2: 1 point is not finite and is not drawn."
	if strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
