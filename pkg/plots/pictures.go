package plots

import (
	"errors"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (m Pictures) clean(p *Panel, n *notes) (Mark, error) {
	for _, err := range []error{sameLength("X", len(m.X), "Y", len(m.Y), false), sameLength("X", len(m.X), "Pix", len(m.Pix), false)} {
		if err != nil {
			return nil, err
		}
	}
	if p.XLog || p.YLog {
		return nil, errors.New("pictures are not for a log axis")
	}
	if len(m.Pix) == 0 {
		return nil, nil
	}
	if _, err := m.image(m.Pix).clean(p, n); err != nil { // all at once: what is odd is said once
		return nil, err
	}
	out := Pictures{H: m.H, W: m.W}
	bad := 0
	for i, x := range m.X {
		if !isFinite(x, m.Y[i]) {
			bad++
			continue
		}
		out.X, out.Y, out.Pix = append(out.X, x), append(out.Y, m.Y[i]), append(out.Pix, m.Pix[i])
	}
	n.count(bad, "picture", "pictures", "is at no finite point and is not drawn")
	if len(out.X) == 0 {
		return nil, nil
	}
	return out, nil
}

func (m Pictures) image(pix [][]float64) Images { return Images{H: m.H, W: m.W, Pix: pix, Max: 1} }

// share is the side of a picture as a part of the larger side of the map: fewer pictures are larger.
func (m Pictures) share() float64 { return 0.5 / (1 + math.Sqrt(float64(len(m.X)))) }

// points is the range of the points themselves.
func (m Pictures) points() (x, y span) { return emptySpan.with(m.X...), emptySpan.with(m.Y...) }

func (m Pictures) extent(*Panel) (x, y span) {
	x, y = m.points()
	half := m.share() * max(x.hi-x.lo, y.hi-y.lo) / 2
	return span{x.lo - half, x.hi + half}, span{y.lo - half, y.hi + half}
}

func (m Pictures) draw(f *frame) {
	size := f.Size()
	side := vg.Length(m.share()) * min(size.X, size.Y)
	for i, x := range m.X {
		at := f.at(x, m.Y[i])
		half := vg.Point{X: side / 2, Y: side / 2 * vg.Length(m.H) / vg.Length(m.W)}
		one := m.image(m.Pix[i : i+1])
		one.Columns = 1
		one.draw(&frame{Canvas: draw.Canvas{Canvas: f.Canvas.Canvas, Rectangle: vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}}})
	}
}

func (m Pictures) legend() (entry, bool) { return entry{}, false }

func (m Pictures) cut(x, y axis) bool { return false }
