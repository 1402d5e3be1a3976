package localfeatures_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/localfeatures"
)

// picture returns an image whose pixels are f at their centres.
func picture(w, h int, f func(x, y float64) float64) localfeatures.Gray {
	g := localfeatures.Gray{Width: w, Height: h}
	for y := range h {
		for x := range w {
			g.Pix = append(g.Pix, f(float64(x)+0.5, float64(y)+0.5))
		}
	}
	return g
}

func step(v, at float64) float64 {
	if v > at {
		return 1
	}
	return 0
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A vertical edge gives a point per row at the edge, whose gradient points to the bright side. Brightness and contrast change nothing.
func TestEdgePointsOfAStep(t *testing.T) {
	for _, gain := range []float64{1, 1e-90, 1e90, -3} {
		g := picture(20, 10, func(x, _ float64) float64 { return gain * (step(x, 8) + 7) })
		e := must(localfeatures.EdgePoints(g, localfeatures.EdgeParams{}))
		n, c := e.Dims()
		if n != 10 || c != localfeatures.Columns {
			t.Fatalf("gain %v: %d×%d", gain, n, c)
		}
		side := math.Copysign(1, gain)
		for i := range n {
			x, y := e.At(i, localfeatures.ColumnX)*20, e.At(i, localfeatures.ColumnY)*20
			if math.Abs(x-8) > 0.51 || y != float64(i)+0.5 {
				t.Errorf("point %d at (%v, %v)", i, x, y)
			}
			if math.Abs(e.At(i, localfeatures.ColumnCos)-side) > 1e-9 || math.Abs(e.At(i, localfeatures.ColumnSin)) > 1e-9 {
				t.Errorf("direction (%v, %v)", e.At(i, localfeatures.ColumnCos), e.At(i, localfeatures.ColumnSin))
			}
		}
	}
}

// Points of a disc lie on its circle and their gradients point to the centre.
func TestEdgePointsOfADisc(t *testing.T) {
	g := picture(41, 41, func(x, y float64) float64 { return 1 - step(math.Hypot(x-20.5, y-20.5), 12) })
	e := must(localfeatures.EdgePoints(g, localfeatures.EdgeParams{}))
	n, _ := e.Dims()
	if n < 50 {
		t.Errorf("%d points", n)
	}
	for i := range n {
		x, y := e.At(i, localfeatures.ColumnX)*41-20.5, e.At(i, localfeatures.ColumnY)*41-20.5
		r := math.Hypot(x, y)
		inward := -(x*e.At(i, localfeatures.ColumnCos) + y*e.At(i, localfeatures.ColumnSin)) / r
		if math.Abs(r-12) > 1.2 || inward < 0.95 {
			t.Errorf("point %d: radius %v, cosine with the way to the centre %v", i, r, inward)
		}
	}
	some := must(localfeatures.EdgePoints(g, localfeatures.EdgeParams{Most: 7}))
	m, _ := some.Dims()
	at := 0
	for i := range n { // each is one of all, in their order
		if at < m && mat.Equal(some.RowView(at), e.RowView(i)) {
			at++
		}
	}
	if m != 7 || at != 7 {
		t.Errorf("%d points, %d of them in the order of all", m, at)
	}
}

// slowBlur is a descriptor by its definition: each sample is a weighted sum over the pixels within 3 widths, those beyond the border as on it.
func slowBlur(g localfeatures.Gray, px, py float64, p localfeatures.BlurParams) []float64 {
	at := func(x, y int) float64 {
		return g.Pix[min(max(y, 0), g.Height-1)*g.Width+min(max(x, 0), g.Width-1)]
	}
	// Clamped pixels have the gradient of the pixel on the border.
	channel := func(k, x, y int) float64 {
		x, y = min(max(x, 0), g.Width-1), min(max(y, 0), g.Height-1)
		dx, dy := (at(x+1, y)-at(x-1, y))/2, (at(x, y+1)-at(x, y-1))/2
		return max(0, []float64{dx, dy, -dx, -dy}[k])
	}
	side := float64(max(g.Width, g.Height))
	var out []float64
	for _, r := range p.Radii {
		n := p.Angles
		if r == 0 {
			n = 1
		}
		for k := range 4 {
			for a := range n {
				angle := 2 * math.Pi * float64(a) / float64(n)
				x, y := int(math.Floor((px+r*math.Cos(angle))*side)), int(math.Floor((py+r*math.Sin(angle))*side))
				if x < 0 || y < 0 || x >= g.Width || y >= g.Height {
					out = append(out, 0)
					continue
				}
				sigma := p.Alpha*r*side + p.Beta
				reach := int(math.Ceil(3 * sigma))
				var sum, weights float64
				for v := -reach; v <= reach; v++ {
					for u := -reach; u <= reach; u++ {
						w := math.Exp(-float64(u*u+v*v) / (2 * sigma * sigma))
						weights += w
						sum += w * channel(k, x+u, y+v)
					}
				}
				out = append(out, sum/weights)
			}
		}
	}
	var sq float64
	for _, v := range out {
		sq += v * v
	}
	for i := range out {
		if sq > 0 {
			out[i] /= math.Sqrt(sq)
		}
	}
	return out
}

func TestGeometricBlur(t *testing.T) {
	const tol = 1e-13
	rng := rand.New(rand.NewPCG(20, 6))
	for _, size := range [][2]int{{1, 1}, {5, 9}, {17, 12}} {
		g := picture(size[0], size[1], func(_, _ float64) float64 { return rng.Float64() })
		// Directions at which no sample lies on a border between pixels.
		p := localfeatures.BlurParams{Radii: []float64{0, 0.13, 0.31}, Angles: 5, Alpha: 0.4, Beta: 0.8}
		points := mat.NewDense(8, localfeatures.Columns, nil)
		for i := range 8 {
			points.Set(i, localfeatures.ColumnX, rng.Float64())
			points.Set(i, localfeatures.ColumnY, rng.Float64())
		}
		points.Set(7, localfeatures.ColumnX, 40) // far outside: all samples are 0
		got := must(localfeatures.GeometricBlur(g, points, p))
		if _, c := got.Dims(); c != p.Width() || c != 4*11 {
			t.Fatalf("%d columns, Width %d", c, p.Width())
		}
		for i := range 8 {
			want := slowBlur(g, points.At(i, localfeatures.ColumnX), points.At(i, localfeatures.ColumnY), p)
			for j, v := range got.RawRowView(i) {
				if math.Abs(v-want[j]) > tol {
					t.Errorf("%v: point %d, column %d: %v, want %v", size, i, j, v, want[j])
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	good := picture(6, 6, func(x, _ float64) float64 { return step(x, 3) })
	for _, c := range []struct {
		g    localfeatures.Gray
		p    localfeatures.EdgeParams
		want string
	}{
		{localfeatures.Gray{}, localfeatures.EdgeParams{}, "0×0 image with 0 pixels"},
		{localfeatures.Gray{Width: 1 << 40, Height: 1 << 40, Pix: []float64{1}}, localfeatures.EdgeParams{}, "want one pixel per place"},
		{localfeatures.Gray{Width: 1, Height: 1, Pix: []float64{math.NaN()}}, localfeatures.EdgeParams{}, "pixel (0, 0) is NaN"},
		{localfeatures.Gray{Width: 1, Height: 2, Pix: []float64{0, 1e200}}, localfeatures.EdgeParams{}, "pixel (0, 1) is 1e+200"},
		{picture(6, 6, func(_, _ float64) float64 { return 3 }), localfeatures.EdgeParams{}, "no edge"},
		{picture(1, 1, func(_, _ float64) float64 { return 0 }), localfeatures.EdgeParams{}, "no edge"},
		{good, localfeatures.EdgeParams{Sigma: -1}, "sigma: -1 is not allowed"},
		{good, localfeatures.EdgeParams{Threshold: 2}, "threshold: 2 is not allowed"},
		{good, localfeatures.EdgeParams{Most: -1}, "most: -1 is not allowed"},
	} {
		if _, err := localfeatures.EdgePoints(c.g, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	point := mat.NewDense(1, localfeatures.Columns, nil)
	for _, c := range []struct {
		points mat.Matrix
		p      localfeatures.BlurParams
		want   string
	}{
		{mat.NewDense(1, 2, nil), localfeatures.BlurParams{}, "1×2 numbers, want 4"},
		{mat.NewDense(1, 4, []float64{math.NaN(), 0, 0, 0}), localfeatures.BlurParams{}, "entry (0, 0) is NaN"},
		{point, localfeatures.BlurParams{Radii: []float64{}}, "radii: none"},
		{point, localfeatures.BlurParams{Radii: []float64{2}}, "radii[0]: 2 is not allowed"},
		{point, localfeatures.BlurParams{Angles: -1}, "angles: -1"},
		{point, localfeatures.BlurParams{Alpha: math.Inf(1)}, "alpha"},
		{point, localfeatures.BlurParams{Beta: -1}, "beta"},
	} {
		if _, err := localfeatures.GeometricBlur(good, c.points, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	func() {
		defer func() {
			if s, _ := recover().(string); !strings.Contains(s, "points is nil") {
				t.Errorf("no points: panic %q", s)
			}
		}()
		_, _ = localfeatures.GeometricBlur(good, nil, localfeatures.BlurParams{})
	}()
	limits.SetMemory(1000)
	defer limits.SetMemory(0)
	var over *limits.MemoryError
	if _, err := localfeatures.EdgePoints(good, localfeatures.EdgeParams{}); !errors.As(err, &over) {
		t.Errorf("memory: %v", err)
	}
	if _, err := localfeatures.GeometricBlur(localfeatures.Gray{Width: 1, Height: 1, Pix: []float64{1}}, point, localfeatures.BlurParams{Angles: 360}); !errors.As(err, &over) {
		t.Errorf("memory of descriptors: %v", err)
	}
}

// A bright square: the gradients point to its inside.
func ExampleEdgePoints() {
	g := localfeatures.Gray{Width: 8, Height: 8, Pix: make([]float64, 64)}
	for y := 2; y < 6; y++ {
		for x := 2; x < 6; x++ {
			g.Pix[8*y+x] = 1
		}
	}
	points, err := localfeatures.EdgePoints(g, localfeatures.EdgeParams{Most: 4})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.2f\n", mat.Formatted(points))
	blur, err := localfeatures.GeometricBlur(g, points, localfeatures.BlurParams{})
	if err != nil {
		panic(err)
	}
	fmt.Println(blur.Dims())
	// Output:
	// ⎡ 0.44   0.31   0.27   0.96⎤
	// ⎢ 0.31   0.44   0.96   0.27⎥
	// ⎢ 0.69   0.56  -0.96  -0.27⎥
	// ⎣ 0.56   0.69  -0.27  -0.96⎦
	// 4 52
}

func ExampleBlurParams_Resolved() {
	fmt.Printf("%+v\n%+v\n", localfeatures.EdgeParams{}.Resolved(), localfeatures.BlurParams{}.Resolved())
	// Output:
	// {Sigma:1 Threshold:0.2 Most:0}
	// {Radii:[0 0.1 0.2] Angles:6 Alpha:0.3 Beta:1}
}
