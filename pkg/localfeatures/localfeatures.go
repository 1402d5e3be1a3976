// Package localfeatures describes a grey image by a set of local features: edge points with the direction of the edge, and the
// geometric blur around them. The kernels of package kernels/sets compare such sets.
package localfeatures

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
)

// Version changes whenever EdgePoints or GeometricBlur gives other numbers for the same image.
const Version = 1

// Gray is an image of grey values on any scale, row by row: pixel (x, y) is Pix[y·Width + x].
type Gray struct {
	Width, Height int
	Pix           []float64
}

// check returns an error unless the image has pixels, all finite and of magnitude at most 1e100.
func (g Gray) check() error {
	const most = 1e100
	if g.Width < 1 || g.Height < 1 || limits.Product(g.Width, g.Height) != int64(len(g.Pix)) {
		return fmt.Errorf("%d×%d image with %d pixels, want one pixel per place", g.Width, g.Height, len(g.Pix))
	}
	for i, v := range g.Pix {
		if !(math.Abs(v) <= most) {
			return fmt.Errorf("pixel (%d, %d) is %v, want a finite number of magnitude at most %v", i%g.Width, i/g.Width, v, float64(most))
		}
	}
	// The image, two directions of its gradient, four channels and room to blur them.
	return limits.Check(fmt.Sprintf("a %d×%d image", g.Width, g.Height), limits.Floats(len(g.Pix), 9))
}

// side is the longer side in pixels, the unit of positions.
func (g Gray) side() float64 { return float64(max(g.Width, g.Height)) }

// at returns the pixel of pix nearest to (x, y), also outside of the image.
func (g Gray) at(pix []float64, x, y int) float64 {
	return pix[min(max(y, 0), g.Height-1)*g.Width+min(max(x, 0), g.Width-1)]
}

// EdgeParams are the parameters of EdgePoints.
type EdgeParams struct {
	// Sigma is the width of the Gaussian by which the image is smoothed, in pixels; 0 means 1.
	Sigma float64 `range:"> 0 and <= 100"`
	// Threshold is the least magnitude of the gradient at an edge, as a share of the largest one; 0 means 0.2.
	Threshold float64 `range:"> 0 and <= 1"`
	// Most is the largest number of edge points; 0 means all. Of more, as many are kept at even steps in the order of rows.
	Most int `range:"0, or >= 1"`
}

// Resolved returns p with its defaults filled in: Sigma = 1, Threshold = 0.2.
func (p EdgeParams) Resolved() EdgeParams {
	p.Sigma = cmp.Or(p.Sigma, 1)
	p.Threshold = cmp.Or(p.Threshold, 0.2)
	return p
}

// The columns of edge points. Positions are those of the centre of the pixel, in units of the longer side; the direction of the
// gradient, from dark to bright, is a unit vector.
const (
	ColumnX = iota
	ColumnY
	ColumnCos
	ColumnSin
	// Columns is the number of columns of edge points.
	Columns
)

// EdgePoints returns the edge points of an image, n×Columns, in the order of rows. There the gradient of the smoothed
// image is at least Threshold of its largest magnitude, and no less than at both neighbours in its direction. Pixels beyond the border
// are as those on it. Source: Canny, A Computational Approach to Edge Detection, IEEE PAMI 8, 1986; here without hysteresis.
//
// It returns an error if the image has no edge, or its pixels do not fit its size or are not finite. So it does if the image does not fit
// limits.Memory, or if a parameter is out of its range.
func EdgePoints(g Gray, p EdgeParams) (*mat.Dense, error) {
	p = p.Resolved()
	if err := ranges.Check("edge points", p); err != nil {
		return nil, err
	}
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("edge points: %w", err)
	}
	dx, dy := g.gradient(g.blurred(g.Pix, p.Sigma))
	size := make([]float64, len(dx))
	for i := range size {
		size[i] = math.Hypot(dx[i], dy[i])
	}
	largest := floats.Max(size)
	if largest <= flat*floats.Norm(g.Pix, math.Inf(1)) {
		return nil, errors.New("edge points: the image has no edge")
	}
	var found []int
	for y := range g.Height {
		for x := range g.Width {
			i := y*g.Width + x
			if size[i] < p.Threshold*largest {
				continue
			}
			// The neighbour in the direction of the gradient, of eight.
			sx, sy := int(math.Round(dx[i]/size[i])), int(math.Round(dy[i]/size[i]))
			// Of two equal neighbours, which a symmetric edge has, one is kept.
			behind := !g.inside(x-sx, y-sy) || size[i] > size[i-sy*g.Width-sx]
			if behind && size[i] >= g.at(size, x+sx, y+sy) {
				found = append(found, i)
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New("edge points: the image has no edge")
	}
	n := len(found)
	if p.Most > 0 {
		n = min(n, p.Most)
	}
	out := mat.NewDense(n, Columns, nil)
	for a := range n {
		i := found[(2*a+1)*len(found)/(2*n)]
		out.SetRow(a, []float64{(float64(i%g.Width) + 0.5) / g.side(), (float64(i/g.Width) + 0.5) / g.side(), dx[i] / size[i], dy[i] / size[i]})
	}
	return out, nil
}

// flat is the magnitude of a gradient, relative to the largest grey value, that is round-off of a constant image.
const flat = 1e-12

func (g Gray) inside(x, y int) bool { return x >= 0 && y >= 0 && x < g.Width && y < g.Height }

// gradient returns the derivatives of an image by central differences.
func (g Gray) gradient(pix []float64) (dx, dy []float64) {
	dx, dy = make([]float64, len(pix)), make([]float64, len(pix))
	for y := range g.Height {
		for x := range g.Width {
			i := y*g.Width + x
			dx[i] = (g.at(pix, x+1, y) - g.at(pix, x-1, y)) / 2
			dy[i] = (g.at(pix, x, y+1) - g.at(pix, x, y-1)) / 2
		}
	}
	return dx, dy
}

// blurred returns an image of this size after a Gaussian of width sigma pixels, cut off at 3 sigma.
func (g Gray) blurred(pix []float64, sigma float64) []float64 {
	reach := int(math.Ceil(3 * sigma))
	weights := make([]float64, reach+1)
	var sum float64
	for d := range weights {
		weights[d] = math.Exp(-float64(d*d) / (2 * sigma * sigma))
		sum += weights[d]
		if d > 0 {
			sum += weights[d]
		}
	}
	floats.Scale(1/sum, weights)
	pass := func(from []float64, sx, sy int) []float64 {
		to := make([]float64, len(from))
		for y := range g.Height {
			for x := range g.Width {
				v := weights[0] * from[y*g.Width+x]
				for d := 1; d <= reach; d++ {
					v += weights[d] * (g.at(from, x-d*sx, y-d*sy) + g.at(from, x+d*sx, y+d*sy))
				}
				to[y*g.Width+x] = v
			}
		}
		return to
	}
	return pass(pass(pix, 1, 0), 0, 1)
}

// BlurParams are the parameters of GeometricBlur.
type BlurParams struct {
	// Radii are the distances of the samples from the point, in units of the longer side; nil means 0, 0.1, 0.2.
	Radii []float64 `range:">= 0 and <= 1"`
	// Angles is the number of samples at each distance but 0, which has one; 0 means 6.
	Angles int `range:">= 1 and <= 360"`
	// Alpha is the growth of the blur with the distance: the Gaussian at distance r has the width α·r + β; 0 means 0.3.
	Alpha float64 `range:"> 0 and <= 1"`
	// Beta is β in pixels, the blur at the point itself; 0 means 1.
	Beta float64 `range:"> 0 and <= 100"`
}

// Resolved returns p with its defaults filled in: Radii = 0, 0.1, 0.2, Angles = 6, Alpha = 0.3, Beta = 1.
func (p BlurParams) Resolved() BlurParams {
	if p.Radii == nil {
		p.Radii = []float64{0, 0.1, 0.2}
	}
	p.Angles = cmp.Or(p.Angles, 6)
	p.Alpha = cmp.Or(p.Alpha, 0.3)
	p.Beta = cmp.Or(p.Beta, 1)
	return p
}

// channels is the number of directions of edges that geometric blur tells apart: gradients to the right, down, left and up.
const channels = 4

// Width returns the number of columns of GeometricBlur.
func (p BlurParams) Width() int {
	p = p.Resolved()
	n := 0
	for _, r := range p.Radii {
		if r > 0 {
			n += p.Angles
		} else {
			n++
		}
	}
	return channels * n
}

// GeometricBlur returns the descriptors of an image around points, of which ColumnX and ColumnY are read: n×Width, of length 1 each, or 0 where there is no edge within
// reach. Each of four channels holds the gradients to one side, max(0, ±∂/∂x) or max(0, ±∂/∂y). Samples at distance r from the point
// are taken from the channels after a Gaussian of width α·r + β, so that what is far off is vague. Samples outside of the image are 0, the others
// those of the nearest pixel. The descriptor is invariant neither to scale nor to rotation. Source: Berg and Malik, Geometric Blur for Template
// Matching, CVPR 2001; channels and samples are simpler here.
//
// It returns an error if points has another width than that of EdgePoints or a number that is not finite, or if the descriptors do not fit
// limits.Memory. So it does where EdgePoints refuses the image or its parameters. It panics if points is nil.
func GeometricBlur(g Gray, points mat.Matrix, p BlurParams) (*mat.Dense, error) {
	if matrix.IsNil(points) {
		panic("localfeatures: GeometricBlur: points is nil")
	}
	p = p.Resolved()
	if err := ranges.Check("geometric blur", p); err != nil {
		return nil, err
	}
	if len(p.Radii) == 0 {
		return nil, errors.New("geometric blur: radii: none, want at least one")
	}
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("geometric blur: %w", err)
	}
	n, c := points.Dims()
	if n == 0 || c != Columns {
		return nil, fmt.Errorf("geometric blur: points: %d×%d numbers, want %d per point", n, c, Columns)
	}
	for i := range n {
		for _, j := range []int{ColumnX, ColumnY} {
			if v := points.At(i, j); !(math.Abs(v) <= farthest) {
				return nil, fmt.Errorf("geometric blur: points: entry (%d, %d) is %v, want a number of magnitude at most %v", i, j, v, float64(farthest))
			}
		}
	}
	if err := limits.Check(fmt.Sprintf("geometric blur at %d points", n), limits.Floats(n, p.Width())); err != nil {
		return nil, fmt.Errorf("geometric blur: %w", err)
	}
	dx, dy := g.gradient(g.Pix)
	var sides [channels][]float64
	for k := range sides {
		sides[k] = make([]float64, len(dx))
		for i := range dx {
			sides[k][i] = max(0, [channels]float64{dx[i], dy[i], -dx[i], -dy[i]}[k])
		}
	}
	out := mat.NewDense(n, p.Width(), nil)
	column := 0
	for _, r := range p.Radii {
		r *= g.side()
		samples := p.Angles
		if r == 0 {
			samples = 1
		}
		for _, channel := range sides {
			soft := g.blurred(channel, p.Alpha*r+p.Beta)
			for a := range samples {
				sin, cos := math.Sincos(2 * math.Pi * float64(a) / float64(samples))
				for i := range n {
					x := int(math.Floor(points.At(i, ColumnX)*g.side() + r*cos))
					y := int(math.Floor(points.At(i, ColumnY)*g.side() + r*sin))
					if g.inside(x, y) {
						out.Set(i, column, soft[y*g.Width+x])
					}
				}
				column++
			}
		}
	}
	for i := range n {
		row := out.RawRowView(i)
		if largest := floats.Max(row); largest > 0 {
			floats.Scale(1/largest, row) // first, so that no square overflows or vanishes
			floats.Scale(1/floats.Norm(row, 2), row)
		}
	}
	return out, nil
}

// farthest bounds positions, in units of the longer side.
const farthest = 1e6
