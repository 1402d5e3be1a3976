package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (m Ellipse) clean(p *Panel, n *notes) (Mark, error) {
	if err := checkColor(m.Color); err != nil {
		return nil, err
	}
	if p.XLog || p.YLog {
		return nil, fmt.Errorf("an ellipse needs linear axes, XLog is %t, YLog is %t", p.XLog, p.YLog)
	}
	a, b, c, d := m.M[0][0], m.M[0][1], m.M[1][0], m.M[1][1]
	if !isFinite(a, b, c, d, m.Center[0], m.Center[1]) {
		n.add("The ellipse %sis not finite and is not drawn.", of(m.Name))
		return nil, nil
	}
	// Round-off of a matrix that was computed, relative to its size.
	const tol = 1e-9
	scale := max(math.Abs(a), math.Abs(b), math.Abs(c), math.Abs(d))
	if math.Abs(b-c) > tol*scale {
		return nil, fmt.Errorf("field M is not symmetric: %v and %v", b, c)
	}
	l, _ := m.eigen()
	if l[1] < -tol*scale {
		return nil, fmt.Errorf("field M has the negative eigenvalue %v, want M ⪰ 0", l[1])
	}
	if l[0] <= 0 {
		n.add("The ellipse %sof a zero matrix is the whole plane and is not drawn.", of(m.Name))
		return nil, nil
	}
	return m, nil
}

// eigen returns the eigenvalues, larger first, and the eigenvector of the
// larger one.
func (m Ellipse) eigen() (l [2]float64, v [2]float64) {
	a, b, d := m.M[0][0], (m.M[0][1]+m.M[1][0])/2, m.M[1][1]
	mean, r := (a+d)/2, math.Hypot((a-d)/2, b)
	angle := math.Atan2(2*b, a-d) / 2
	v = [2]float64{math.Cos(angle), math.Sin(angle)}
	return [2]float64{mean + r, mean - r}, v
}

// axes returns the half axes as vectors, the shorter first; the longer one is
// zero if the ellipse has no end in that direction.
func (m Ellipse) axes() (short, long [2]float64) {
	const flat = 1e-12 // of the larger eigenvalue; less is a zero one
	l, v := m.eigen()
	s := 1 / math.Sqrt(l[0])
	short = [2]float64{s * v[0], s * v[1]}
	if l[1] > flat*l[0] {
		s = 1 / math.Sqrt(l[1])
		long = [2]float64{-s * v[1], s * v[0]}
	}
	return short, long
}

func (m Ellipse) extent(*Panel) (x, y span) {
	short, long := m.axes()
	half := func(i int) span {
		h := math.Hypot(short[i], long[i])
		return span{m.Center[i] - h, m.Center[i] + h}
	}
	return half(0), half(1)
}

func (m Ellipse) draw(f *frame) {
	s := lineStyle(paint(m.Color), 1.4, m.Dashed)
	short, long := m.axes()
	if long == [2]float64{} {
		// Two parallels, longer than the panel.
		far := 2 * (math.Hypot(f.x.hi-f.x.lo, f.y.hi-f.y.lo) + math.Abs(m.Center[0]-f.x.lo) + math.Abs(m.Center[1]-f.y.lo))
		n := math.Hypot(short[0], short[1])
		dx, dy := -short[1]/n*far, short[0]/n*far
		for _, side := range []float64{-1, 1} {
			x, y := m.Center[0]+side*short[0], m.Center[1]+side*short[1]
			f.stroke(s, f.at(x-dx, y-dy), f.at(x+dx, y+dy))
		}
		return
	}
	const steps = 240
	pts := make([]vg.Point, steps+1)
	for i := range pts {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / steps)
		pts[i] = f.at(m.Center[0]+cos*short[0]+sin*long[0], m.Center[1]+cos*short[1]+sin*long[1])
	}
	f.stroke(s, pts...)
}

func (m Ellipse) legend() []entry {
	if m.Name == "" {
		return nil
	}
	return []entry{{m.Name, fmt.Sprintf("ellipse %d %t", m.Color, m.Dashed), false, func(c *draw.Canvas) {
		p, w, h := c.Center(), c.Size().X/2, c.Size().Y/2
		pts := make([]vg.Point, 33)
		for i := range pts {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / 32)
			pts[i] = vg.Point{X: p.X + w*vg.Length(cos), Y: p.Y + h*vg.Length(sin)}
		}
		c.StrokeLines(lineStyle(paint(m.Color), 1.4, m.Dashed), pts)
	}}}
}
