package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

func (m Heat) clean(_ *Panel, n *notes) (Mark, error) {
	if len(m.Z) == 0 || len(m.Z[0]) == 0 {
		return nil, fmt.Errorf("field Z is empty, want at least one row and one column")
	}
	rows, cols := len(m.Z), len(m.Z[0])
	data := emptySpan
	bad := 0
	for i, row := range m.Z {
		if len(row) != cols {
			return nil, fmt.Errorf("field Z[%d] has %d elements, Z[0] has %d", i, len(row), cols)
		}
		for _, v := range row {
			if isFinite(v) {
				data = data.with(v)
			} else {
				bad++
			}
		}
	}
	if m.Nominal {
		for i, row := range m.Z {
			for j, v := range row {
				if isFinite(v) && (v != math.Trunc(v) || v < 0) {
					return nil, fmt.Errorf("field Z[%d][%d] is %v, want a whole number from 0", i, j, v)
				}
			}
		}
	}
	n.count(bad, "cell", "cells", areNot(bad)+" finite and drawn grey")
	if !isFinite(m.Min, m.Max) || m.Min > m.Max {
		return nil, fmt.Errorf("field Min is %v, field Max is %v, want a finite range with Min < Max, or equal for the data's", m.Min, m.Max)
	}
	if m.Min == m.Max {
		if data.empty() {
			data = span{0, 1}
		}
		if m.Min, m.Max = data.lo, data.hi; m.Min == m.Max {
			m.Min, m.Max = m.Min-0.5, m.Max+0.5
		}
	} else {
		out := 0
		for _, row := range m.Z {
			for _, v := range row {
				if isFinite(v) && (v < m.Min || v > m.Max) {
					out++
				}
			}
		}
		n.count(out, "cell", "cells", "outside the colour range "+takeEnd(out)+" the colour of its end")
	}
	for _, s := range m.Separators {
		if s < 0 || s > max(rows, cols) {
			return nil, fmt.Errorf("field Separators has %d, want 0 to %d", s, max(rows, cols))
		}
	}
	for _, c := range []struct {
		field string
		ticks []Tick
		n     int
	}{{"XTicks", m.XTicks, cols}, {"YTicks", m.YTicks, rows}} {
		for _, t := range c.ticks {
			if !(t.At >= -0.5 && t.At <= float64(c.n)-0.5) {
				return nil, fmt.Errorf("%s has %q at %v, want -0.5 to %v", c.field, t.Label, t.At, float64(c.n)-0.5)
			}
		}
	}
	return m, nil
}

func takeEnd(k int) string {
	if k == 1 {
		return "takes"
	}
	return "take"
}

func (m Heat) extent(*Panel) (x, y span) {
	return span{-0.5, float64(len(m.Z[0])) - 0.5}, span{-0.5, float64(len(m.Z)) - 0.5}
}

// heatLevels is the number of colours of a heat map; the last palette entry
// is kept for cells that are not finite.
const heatLevels = 255

func heatPalette(nominal bool) color.Palette {
	if nominal {
		p := make(color.Palette, 0, len(palette)+2)
		for _, c := range palette {
			p = append(p, c.NRGBA)
		}
		return append(p, color.White, badCell)
	}
	p := make(color.Palette, 0, heatLevels+1)
	for i := range heatLevels {
		p = append(p, heatColor(float64(i)/(heatLevels-1)))
	}
	return append(p, badCell)
}

// barImage is one column of all colours, the largest value at the top.
func barImage() image.Image {
	img := image.NewPaletted(image.Rect(0, 0, 1, heatLevels), heatPalette(false))
	for y := range heatLevels {
		img.SetColorIndex(0, y, uint8(heatLevels-1-y))
	}
	return enlarge(img)
}

func (m Heat) draw(f *frame) {
	rows, cols := len(m.Z), len(m.Z[0])
	img := image.NewPaletted(image.Rect(0, 0, cols, rows), heatPalette(m.Nominal))
	for i, row := range m.Z {
		for j, v := range row {
			level := uint8(heatLevels)
			switch {
			case m.Nominal && !isFinite(v):
				level = uint8(len(palette) + 1)
			case m.Nominal:
				level = uint8(min(v, float64(len(palette))))
			case isFinite(v):
				u := min(max((v-m.Min)/(m.Max-m.Min), 0), 1)
				level = uint8(math.Round(u * (heatLevels - 1)))
			}
			img.SetColorIndex(j, i, level)
		}
	}
	f.DrawImage(f.Rectangle, enlarge(img))
	if m.Nominal {
		m.drawBorders(f)
	}
	s := lineStyle(color.White, 0.8, Solid)
	for _, k := range m.Separators {
		if k <= cols {
			x := f.X(float64(k) / float64(cols))
			f.StrokeLine2(s, x, f.Min.Y, x, f.Max.Y)
		}
		if k <= rows {
			y := f.Y(1 - float64(k)/float64(rows))
			f.StrokeLine2(s, f.Min.X, y, f.Max.X, y)
		}
	}
}

// leastCell is the side of a cell below which borders would hide what they part, and a figure
// of many cells would be large.
const leastCell = 2

// drawBorders draws a line between neighbours that differ.
func (m Heat) drawBorders(f *frame) {
	rows, cols := len(m.Z), len(m.Z[0])
	if size := f.Size(); size.X < leastCell*vg.Length(cols) || size.Y < leastCell*vg.Length(rows) {
		return
	}
	s := lineStyle(color.Black, 0.5, Solid)
	x := func(j int) vg.Length { return f.X(float64(j) / float64(cols)) }
	y := func(i int) vg.Length { return f.Y(1 - float64(i)/float64(rows)) }
	for i, row := range m.Z {
		for j, v := range row {
			if j > 0 && row[j-1] != v {
				f.StrokeLine2(s, x(j), y(i), x(j), y(i+1))
			}
			if i > 0 && m.Z[i-1][j] != v {
				f.StrokeLine2(s, x(j), y(i), x(j+1), y(i))
			}
		}
	}
}

// enlarge repeats pixels so that viewers that smooth images keep cells sharp.
func enlarge(img *image.Paletted) *image.Paletted {
	const want = 600 // pixels, about one panel in print
	b := img.Bounds()
	k := (want + max(b.Dx(), b.Dy()) - 1) / max(b.Dx(), b.Dy())
	if k <= 1 {
		return img
	}
	out := image.NewPaletted(image.Rect(0, 0, b.Dx()*k, b.Dy()*k), img.Palette)
	for y := range b.Dy() * k {
		for x := range b.Dx() * k {
			out.SetColorIndex(x, y, img.ColorIndexAt(x/k, y/k))
		}
	}
	return out
}

func (m Heat) legend() (entry, bool) { return entry{}, false }

func (m Heat) cut(x, y axis) bool { return false }
