// Package datasets brings data to the learners: a registry that knows every
// data set's files, checksums and sources, a Store that downloads, verifies
// and loads them, and a reader of CSV files. Package sample draws links, splits and
// triplets from a set; package synthetic makes data that need no file.
//
// A row is an object. Labels are small integers: the digit for digit data, an
// index into Classes elsewhere.
package datasets

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
)

// Set is a labelled data set of real vectors.
type Set struct {
	Name string
	X    *mat.Dense // n×d, a row per object
	Y    []int      // n labels: a digit, or an index into Classes
	// Classes names the labels 0, 1, ...; nil if the labels are digits.
	Classes []string
	// Height and Width are set if a row is an image, stored row by row:
	// Height·Width = d. Otherwise both are 0.
	Height, Width int
}

// N returns the number of rows.
func (s *Set) N() int { n, _ := s.X.Dims(); return n }

// Dim returns d, the number of features.
func (s *Set) Dim() int { _, d := s.X.Dims(); return d }

// Rows returns a copy of the rows idx of X, in that order: len(idx)×d. It
// panics if idx is empty (gonum has no 0×d matrix) or an index is out of range.
func (s *Set) Rows(idx []int) *mat.Dense {
	out := mat.NewDense(len(idx), s.Dim(), nil)
	for k, i := range idx {
		out.SetRow(k, s.X.RawRowView(i))
	}
	return out
}

// Labels returns the classes of the rows idx, in that order. It panics if an index is out
// of range.
func (s *Set) Labels(idx []int) []int {
	out := make([]int, len(idx))
	for k, i := range idx {
		out[k] = s.Y[i]
	}
	return out
}

// Images is a set of grey images of equal size with the digit that each shows.
// Pixels stay bytes: all of MNIST is 47 MB, where float64 would take 376 MB.
// An Images is not changed by its methods, which are safe for concurrent use.
type Images struct {
	Name    string
	N, H, W int
	Pix     []byte  // N·H·W grey values 0..255, image by image, row by row
	Labels  []uint8 // N digits 0..9
}

// Dim returns H·W, the number of pixels of an image.
func (m *Images) Dim() int { return m.H * m.W }

// Image returns a view of the H·W pixels of image i. It panics if i is out of
// range.
func (m *Images) Image(i int) []byte {
	d := m.Dim()
	return m.Pix[i*d : (i+1)*d : (i+1)*d]
}

// Rows returns the images idx as the rows of a len(idx)×(H·W) matrix, scaled by
// s. It panics if idx is empty (gonum has no 0×d matrix), an index is out of
// range, or s is not one of the Scaling constants.
func (m *Images) Rows(idx []int, s Scaling) *mat.Dense {
	out := mat.NewDense(len(idx), m.Dim(), nil)
	for k, i := range idx {
		s.fill(out.RawRowView(k), m.Image(i))
	}
	return out
}

// Y returns the digits of the images idx. It panics if an index is out of range.
func (m *Images) Y(idx []int) []int {
	out := make([]int, len(idx))
	for k, i := range idx {
		out[k] = int(m.Labels[i])
	}
	return out
}

// All returns the indices 0..N−1.
func (m *Images) All() []int {
	out := make([]int, m.N)
	for i := range out {
		out[i] = i
	}
	return out
}

// Filter returns those of the indices idx, in their order, whose image shows
// one of the digits. It panics if an index is out of range.
func (m *Images) Filter(idx []int, digits ...int) []int {
	var out []int
	for _, i := range idx {
		if slices.Contains(digits, int(m.Labels[i])) {
			out = append(out, i)
		}
	}
	return out
}

// Counts returns how many images show each digit.
func (m *Images) Counts() [10]int {
	var c [10]int
	for _, y := range m.Labels {
		c[y]++
	}
	return c
}

// Set returns the images idx as a Set. It panics where Rows does.
func (m *Images) Set(idx []int, s Scaling) *Set {
	return &Set{Name: m.Name, X: m.Rows(idx, s), Y: m.Y(idx), Height: m.H, Width: m.W}
}

// Scaling says how grey values 0..255 become features. The zero value is ScaleRaw.
type Scaling int

const (
	// ScaleRaw keeps the grey value, 0..255.
	ScaleRaw Scaling = iota
	// Scale01 divides by 255, giving 0..1.
	Scale01
	// ScaleUnitNorm divides each image by its Euclidean norm, so that ‖x‖₂ = 1; an
	// image that is zero everywhere stays zero.
	ScaleUnitNorm
)

var scalingNames = enum.Of[Scaling]("Scaling(%d)", "raw", "unit01", "unitnorm")

// String returns "raw", "unit01" or "unitnorm".
func (s Scaling) String() string { return scalingNames.Text(s) }

func (s Scaling) fill(dst []float64, src []byte) {
	scale := 1.0
	switch s {
	case ScaleRaw:
	case Scale01:
		scale = 255
	case ScaleUnitNorm:
		var sum uint64 // exact: at most 255² per pixel
		for _, p := range src {
			sum += uint64(p) * uint64(p)
		}
		if sum > 0 {
			scale = math.Sqrt(float64(sum))
		}
	default:
		panic(fmt.Sprintf("datasets: %v is not a scaling", s))
	}
	for i, p := range src {
		dst[i] = float64(p) / scale
	}
}
