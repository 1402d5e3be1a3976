package datasets

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// tinyImages has three 2×2 images, the second of them empty.
func tinyImages() *Images {
	return &Images{Name: "tiny", N: 3, H: 2, W: 2, Pix: []byte{0, 255, 51, 0, 0, 0, 0, 0, 3, 0, 4, 0}, Labels: []uint8{7, 0, 7}}
}

func TestImagesRows(t *testing.T) {
	m := tinyImages()
	for _, tc := range []struct {
		s    Scaling
		want []float64 // images 2, 1, 0
	}{
		{ScaleRaw, []float64{3, 0, 4, 0, 0, 0, 0, 0, 0, 255, 51, 0}},
		{Scale01, []float64{3. / 255, 0, 4. / 255, 0, 0, 0, 0, 0, 0, 1, 0.2, 0}},
		{ScaleUnitNorm, []float64{0.6, 0, 0.8, 0, 0, 0, 0, 0, 0, 255 / math.Hypot(255, 51), 51 / math.Hypot(255, 51), 0}},
	} {
		got := m.Rows([]int{2, 1, 0}, tc.s)
		// One rounding each in the division and the norm.
		const tol = 1e-15
		if !mat.EqualApprox(got, mat.NewDense(3, 4, tc.want), tol) {
			t.Errorf("%v: got %v, want %v", tc.s, mat.Formatted(got), tc.want)
		}
	}
	x := m.Rows(m.All(), ScaleUnitNorm)
	for i := range 3 {
		want := 1.0
		if i == 1 {
			want = 0
		}
		if n := floats.Norm(x.RawRowView(i), 2); math.Abs(n-want) > 1e-15 {
			t.Errorf("unitnorm: row %d has norm %v, want %v", i, n, want)
		}
	}
}

func TestImagesSelection(t *testing.T) {
	m := tinyImages()
	if got := m.Filter(m.All(), 7); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("Filter(all, 7) = %v", got)
	}
	if got := m.Filter([]int{2, 1, 0}, 7, 0); !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("Filter keeps the order: got %v", got)
	}
	if got := m.Y([]int{1, 2}); !slices.Equal(got, []int{0, 7}) {
		t.Errorf("Y = %v", got)
	}
	if got := m.Counts(); got != [10]int{0: 1, 7: 2} {
		t.Errorf("Counts = %v", got)
	}
	s := m.Set([]int{2, 0}, ScaleRaw)
	if s.N() != 2 || s.Dim() != 4 || !slices.Equal(s.Y, []int{7, 7}) || s.Height != 2 || s.Width != 2 || s.Name != "tiny" {
		t.Errorf("Set = %+v", s)
	}
	if got := s.Rows([]int{1}).RawRowView(0); !slices.Equal(got, []float64{0, 255, 51, 0}) {
		t.Errorf("Set.Rows = %v", got)
	}
	if img := m.Image(1); len(img) != 4 || cap(img) != 4 {
		t.Errorf("Image has length %d and capacity %d, want 4 and 4", len(img), cap(img))
	}
}

func TestMisusePanics(t *testing.T) {
	m := tinyImages()
	for name, call := range map[string]func(){
		"Rows of nothing":   func() { m.Rows(nil, ScaleRaw) },
		"Rows out of range": func() { m.Rows([]int{3}, ScaleRaw) },
		"unknown scaling":   func() { m.Rows([]int{0}, Scaling(9)) },
		"Set.Rows of none":  func() { m.Set([]int{0}, ScaleRaw).Rows(nil) },
		"Y out of range":    func() { m.Y([]int{-1}) },
		"IDX of 4 dims":     func() { _, _ = readIDX(nil, "x", 4) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			call()
		}()
	}
}

func TestSetLabels(t *testing.T) {
	s := Set{Y: []int{5, 6, 7}}
	if got := s.Labels([]int{2, 0, 2}); !slices.Equal(got, []int{7, 5, 7}) {
		t.Errorf("got %v", got)
	}
}
