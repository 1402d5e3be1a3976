package pairs

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// chart gives the coordinates of images φ(x) under the feature map of a kernel K,
// in an orthonormal basis of the span of φ(s₁), …, φ(s_m), the stored points. It
// is the basis that Gram–Schmidt makes of them in this order, known through the
// Cholesky factor of their Gram matrix only,
//
//	K_S = LLᵀ,  φ(x) ↦ z = L⁻¹(K(s₁, x), …, K(s_m, x)),
//
// so that row i of L is the coordinates of s_i. What is left of φ(x) outside the
// span has the length √(K(x, x) − ‖z‖²), and is the next axis if x is stored.
type chart struct {
	kernel kernels.Kernel
	dim    int       // of the points
	points []float64 // s₁, …, s_m, one after the other
	l      sym
	cond   []float64        // K(s_j, s_j) over the square of L's pivot j
	age    int              // updates since the basis was made
	index  map[uint64][]int // points by hash
}

const (
	// dropped is the share of K(x, x) up to which ‖rest‖² counts as zero. A rest of
	// the share ρ² is known to ε/ρ² of itself, since it is left of a subtraction,
	// and coordinates along its axis inherit this; without the axis they are wrong
	// by up to ρ. The two balance at ρ = ε^⅓.
	dropped = 3.67e-11 // ε^⅔
	// steep and cliff: a point far along an axis that came of a short rest, z_j²/K(x,
	// x) more than this times ρ_j², loses that many ε. Before a steep point is
	// stored the basis is made anew, with pivoting. That costs as much as some m
	// updates: unless the point is a cliff, or m is at most few, it is done only
	// after m/rare updates since the last time.
	steep = 1e3
	cliff = 1e6
	few   = 32
	rare  = 4
)

func newChart(k kernels.Kernel, dim int) *chart {
	return &chart{kernel: k, dim: dim, index: map[uint64][]int{}}
}

// size returns m.
func (c *chart) size() int { return len(c.points) / c.dim }

func (c *chart) point(i int) []float64 { return c.points[i*c.dim : (i+1)*c.dim] }

// hash mixes the bits of x, for which −0 counts as 0.
func hash(x []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, a := range x {
		h = (h ^ math.Float64bits(a+0)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	return h
}

// find returns the index of the stored point x, or -1.
func (c *chart) find(x []float64) int {
	for _, i := range c.index[hash(x)] {
		if slices.Equal(c.point(i), x) {
			return i
		}
	}
	return -1
}

// coords sets z, of length m, to the coordinates of φ(x) within the span, and
// reports whether x is stored, so that nothing is left.
func (c *chart) coords(z, x []float64) (stored bool) {
	if i := c.find(x); i >= 0 {
		clear(z[copy(z, c.l.row(i)):])
		return true
	}
	for i := range z {
		z[i] = c.kernel.Eval(c.point(i), x)
	}
	c.l.solveLower(z)
	return false
}

// rest returns the length of φ(x) outside the span of len(z) axes, z being its
// coordinates on them and kxx = K(x, x); 0 if it counts as zero.
func rest(kxx float64, z []float64) float64 {
	if r := kxx - vector.Dot(z, z); r > dropped*kxx {
		return math.Sqrt(r)
	}
	return 0
}

// slope returns how steep coordinates are: the largest z_j²/K(x, x) over
// ρ_j²/K(s_j, s_j).
func (c *chart) slope(kxx float64, z []float64) float64 {
	var most float64
	for j, a := range z {
		most = math.Max(most, c.cond[j]*a*a)
	}
	if most == 0 {
		return 0
	}
	return most / kxx
}

// renew reports whether to make the basis anew before the points of an arrival
// are stored.
func (c *chart) renew(a *arrival) bool {
	m := c.size()
	return a.slope > steep && (a.slope > cliff || m <= few || rare*c.age >= m)
}

// arrival is a pair of points, their coordinates, and what storing them takes.
type arrival struct {
	zx, zy []float64
	// first and second are the points to be stored, with the coordinates along
	// all axes that they then have; nil if nothing is left of them.
	first, second []float64
	zf, zs        []float64
	slope         float64 // of the steeper point, if it is not stored
}

// errOverflow says that a kernel value is not finite.
var errOverflow = errors.New("x and y: a kernel value is not a finite number: scale the features down")

// arrive computes the coordinates of x and y, and returns those of φ(x) − φ(y):
// m of them, and one for each of the points that add an axis. Of two points that
// do, the one farther from the span comes first, so that the division is by the
// longer rest.
func (c *chart) arrive(a *arrival, v, x, y []float64) ([]float64, error) {
	m := c.size()
	a.zx, a.zy = fit(a.zx, m+2), fit(a.zy, m+2)
	a.first, a.second, a.slope = nil, nil, 0
	zx, zy := a.zx[:m], a.zy[:m]
	inx, iny := c.coords(zx, x), c.coords(zy, y)
	v = metric.Sub(fit(v, m+2)[:m], zx, zy)
	if inx && iny || slices.Equal(x, y) {
		return v, nil
	}
	kxx, kyy, kxy := c.kernel.Eval(x, x), c.kernel.Eval(y, y), c.kernel.Eval(x, y)
	if sum := kxx + kyy + math.Abs(kxy) + vector.Dot(zx, zx) + vector.Dot(zy, zy); math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errOverflow
	}
	var rx, ry float64
	if !inx {
		rx = rest(kxx, zx)
		a.slope = c.slope(kxx, zx)
	}
	if !iny {
		ry = rest(kyy, zy)
		a.slope = math.Max(a.slope, c.slope(kyy, zy))
	}
	sign := 1.0
	if ry > rx { // y first
		x, y, zx, zy, kyy, rx, iny, sign = y, x, zy, zx, kxx, ry, inx, -1
	}
	if rx == 0 {
		return v, nil
	}
	along := 0.0 // coordinate of the second point on the axis of the first
	if !iny {
		along = (kxy - vector.Dot(zx, zy)) / rx
	}
	zx, zy = append(zx, rx), append(zy, along)
	a.first, a.zf = x, zx
	v = append(v, sign*(rx-along))
	if ry = rest(kyy, zy); !iny && ry > 0 {
		a.second, a.zs = y, append(zy, ry)
		v = append(v, -sign*ry)
	}
	return v, nil
}

// store keeps the points of an arrival that add an axis.
func (c *chart) store(a *arrival) {
	c.add(a.first, a.zf)
	if a.second != nil {
		c.add(a.second, a.zs)
	}
}

// add stores x, of which z is the row of L.
func (c *chart) add(x, z []float64) {
	h := hash(x)
	c.index[h] = append(c.index[h], c.size())
	c.points = append(c.points, x...)
	c.l = append(c.l, z...)
	pivot := z[len(z)-1]
	c.cond = append(c.cond, vector.Dot(z, z)/(pivot*pivot))
}

// pivoted returns a chart of the span of the stored points and of x and y, from
// their Gram matrix by Cholesky with pivoting. The next point is always the one
// with the longest rest for its length, so that no coordinates are steep.
// Points in the span of others are left out. Row i of t is the present axis i
// in the axes of the new chart. It costs O(m²) evaluations of the kernel and
// O(m³).
func (c *chart) pivoted(x, y []float64) (next *chart, t *mat.Dense) {
	m := c.size()
	var points [][]float64
	for i := range m {
		points = append(points, c.point(i))
	}
	if c.find(x) < 0 {
		points = append(points, x)
	}
	if c.find(y) < 0 && !slices.Equal(x, y) {
		points = append(points, y)
	}
	n := len(points)
	square := make([]float64, n) // K(x, x)
	left := make([]float64, n)   // square of the rest; -1 once taken
	for i, p := range points {
		square[i] = c.kernel.Eval(p, p)
		left[i] = square[i]
	}
	z := mat.NewDense(n, n, nil) // coordinates
	next = newChart(c.kernel, c.dim)
	for k := range n {
		best := -1
		for i, a := range left {
			if a > dropped*square[i] && (best < 0 || a*square[best] > left[best]*square[i]) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		zb := z.RawRowView(best)
		zb[k] = math.Sqrt(left[best])
		left[best] = -1
		next.add(points[best], zb[:k+1])
		for i, a := range left {
			if a < 0 {
				continue
			}
			zi := z.RawRowView(i)
			zi[k] = (c.kernel.Eval(points[best], points[i]) - vector.Dot(zb[:k], zi[:k])) / zb[k]
			left[i] = math.Max(0, a-zi[k]*zi[k])
		}
	}
	t = mat.DenseCopyOf(z.Slice(0, m, 0, next.size())) // old points in new axes = L·t
	for i := range m {
		row, l := t.RawRowView(i), c.l.row(i)
		for j := range i {
			product.AddScaled(row, -l[j], t.RawRowView(j))
		}
		for j := range row {
			row[j] /= l[i]
		}
	}
	return next, t
}

// difference returns the m coordinates of φ(x) − φ(y) within the span. It may be
// called concurrently.
func (c *chart) difference(x, y []float64) []float64 {
	z := make([]float64, 2*c.size())
	zx, zy := z[:c.size()], z[c.size():]
	c.coords(zx, x)
	c.coords(zy, y)
	return metric.Sub(zx, zx, zy)
}

// metric returns the metric ‖F(z(x) − z(y))‖² for the factor F of a form in the
// coordinates of the chart; nil stands for the zero form.
func (c *chart) metric(factor *mat.Dense) *kernels.Metric {
	if factor == nil {
		return kernels.NewMetric(c.kernel, c.dim, nil, nil)
	}
	r, _ := factor.Dims()
	for i := range r {
		c.l.solveUpper(factor.RawRowView(i)) // a row of FL⁻¹
	}
	return kernels.NewMetric(c.kernel, c.dim, mat.NewDense(c.size(), c.dim, c.points), factor)
}

// misfit is more than the round-off between K(s, s) and a row of L, and less than
// what an edit would do; below underflow numbers have fewer digits.
const (
	misfit    = 1e-9
	underflow = 1e-290
)

// loadChart returns the chart with the given points and factor, or an error if
// they do not fit.
func loadChart(k kernels.Kernel, dim int, points, l []float64, age int) (*chart, error) {
	if age < 0 || age > maxCount {
		return nil, fmt.Errorf("age: %d, want 0 to %d", age, maxCount)
	}
	if dim < 1 || len(points)%dim != 0 {
		return nil, fmt.Errorf("points: %d numbers in %d dimensions", len(points), dim)
	}
	c := newChart(k, dim)
	c.age = age
	m := len(points) / dim
	if m > len(l) || len(l) != m*(m+1)/2 { // the first, so that m² does not overflow
		return nil, fmt.Errorf("factor: %d numbers for %d points", len(l), m)
	}
	for _, a := range slices.Concat(points, l) {
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return nil, errors.New("points or factor: NaN or Inf")
		}
	}
	for i := range m {
		if p := sym(l).row(i)[i]; !(p > 0) {
			return nil, fmt.Errorf("factor: pivot %d is %v, want a number > 0", i, p)
		}
		x, z := points[i*dim:(i+1)*dim], sym(l).row(i)
		if kxx := k.Eval(x, x); !(math.Abs(vector.Dot(z, z)-kxx) <= misfit*kxx+underflow) {
			return nil, fmt.Errorf("factor: row %d has the square %v, want %v", i, vector.Dot(z, z), kxx)
		}
		if j := c.find(x); j >= 0 {
			return nil, fmt.Errorf("points %d and %d are equal", j, i)
		}
		c.add(x, z)
	}
	return c, nil
}
