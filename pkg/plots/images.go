package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"

	"metriclab/pkg/limits"
)

func (m Images) clean(_ *Panel, n *notes) (Mark, error) {
	switch {
	case m.H < 1 || m.W < 1:
		return nil, fmt.Errorf("field H is %d, field W is %d, want at least 1", m.H, m.W)
	case len(m.Pix) == 0:
		return nil, fmt.Errorf("field Pix is empty, want at least one image")
	case m.Columns < 0:
		return nil, fmt.Errorf("field Columns is %d, want at least 0", m.Columns)
	case !isFinite(m.Min, m.Max) || m.Min > m.Max:
		return nil, fmt.Errorf("field Min is %v, field Max is %v, want a finite range with Min < Max, or equal for the data's", m.Min, m.Max)
	}
	data, bad := emptySpan, 0
	size := limits.Product(m.H, m.W)
	for i, pix := range m.Pix {
		if int64(len(pix)) != size {
			return nil, fmt.Errorf("field Pix[%d] has %d elements, want H·W = %d", i, len(pix), size)
		}
		for _, v := range pix {
			if isFinite(v) {
				data = data.with(v)
			} else {
				bad++
			}
		}
	}
	n.count(bad, "pixel", "pixels", areNot(bad)+" finite and drawn pink")
	if m.Min == m.Max {
		if data.empty() {
			data = span{0, 1}
		}
		if m.Min, m.Max = data.lo, data.hi; m.Min == m.Max {
			m.Max = m.Min + 1
		}
	}
	if m.Columns == 0 {
		m.Columns = int(math.Ceil(math.Sqrt(float64(len(m.Pix)))))
	}
	m.Columns = min(m.Columns, len(m.Pix))
	return m, nil
}

func (m Images) rows() int { return (len(m.Pix) + m.Columns - 1) / m.Columns }

// gap is the number of pixels between two images.
func (m Images) gap() int { return max(1, m.W/12) }

// size returns the number of pixels of the whole grid.
func (m Images) size() (w, h int) {
	return m.Columns*(m.W+m.gap()) + m.gap(), m.rows()*(m.H+m.gap()) + m.gap()
}

func (m Images) extent(*Panel) (x, y span) { return span{0, 1}, span{0, 1} }

const (
	greyLevels = 255
	pinkLevel  = 255
)

// greyPalette runs from white to black and ends with the colour of pixels
// that are not finite.
func greyPalette() color.Palette {
	p := make(color.Palette, 0, greyLevels+1)
	for i := range greyLevels {
		p = append(p, color.Gray{Y: uint8(255 - math.Round(255*float64(i)/(greyLevels-1)))})
	}
	return append(p, badPixel)
}

func (m Images) draw(f *frame) {
	w, h := m.size()
	img := image.NewPaletted(image.Rect(0, 0, w, h), greyPalette())
	corner := func(k int) (x, y int) {
		return m.gap() + (k%m.Columns)*(m.W+m.gap()), m.gap() + (k/m.Columns)*(m.H+m.gap())
	}
	for k, pix := range m.Pix {
		x, y := corner(k)
		for i, v := range pix {
			level := uint8(pinkLevel)
			if isFinite(v) {
				u := min(max((v-m.Min)/(m.Max-m.Min), 0), 1)
				level = uint8(math.Round(u * (greyLevels - 1)))
			}
			img.SetColorIndex(x+i%m.W, y+i/m.W, level)
		}
	}
	f.DrawImage(f.Rectangle, enlarge(img))
	// Frames show where white images end.
	f.SetLineStyle(lineStyle(color.Gray{Y: 0xb0}, 0.4, Solid))
	for k := range m.Pix {
		x, y := corner(k)
		box := vg.Rectangle{
			Min: vg.Point{X: f.X(float64(x) / float64(w)), Y: f.Y(1 - float64(y+m.H)/float64(h))},
			Max: vg.Point{X: f.X(float64(x+m.W) / float64(w)), Y: f.Y(1 - float64(y)/float64(h))},
		}
		f.Stroke(box.Path())
	}
}

func (m Images) legend() (entry, bool) { return entry{}, false }

func (m Images) cut(x, y axis) bool { return false }
