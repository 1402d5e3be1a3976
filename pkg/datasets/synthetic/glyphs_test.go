package synthetic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/datasets"
	"metriclab/pkg/metric"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestGlyphs(t *testing.T) {
	for d := range 10 {
		g := Glyph(d)
		if len(g) != GlyphSide*GlyphSide {
			t.Fatalf("glyph %d has %d pixels, want %d", d, len(g), GlyphSide*GlyphSide)
		}
		for i, v := range g {
			y, x := i/GlyphSide, i%GlyphSide
			frame := y == 0 || x == 0 || y == GlyphSide-1 || x == GlyphSide-1
			if v != 0 && (v != 1 || frame) {
				t.Errorf("glyph %d, row %d, column %d is %v, want 0 or 1 and an empty frame", d, y, x, v)
			}
		}
		for e := range d {
			// 4 pixels is what a single stroke end takes.
			if diff := floats.Distance(g, Glyph(e), 1); diff < 4 {
				t.Errorf("glyphs %d and %d differ in %v pixels", d, e, diff)
			}
		}
		g[0] = 7
		if Glyph(d)[0] != 0 {
			t.Errorf("Glyph(%d) is not a copy", d)
		}
	}
}

// The number of different noise values in an image identifies the reading, and
// where the noise lies identifies the pattern.
func TestNoisyGlyphsPattern(t *testing.T) {
	values := map[NoiseReading]int{NoisePerImage: 1, NoisePerLine: GlyphSide / 2, NoisePerPixel: GlyphSide * GlyphSide / 2}
	for reading, want := range values {
		digits, per := []int{5, 2}, 16
		s, err := NoisyGlyphs(newRand(1), digits, per, reading, 1)
		if err != nil {
			t.Fatal(err)
		}
		if s.N() != 64 || s.Dim() != 144 || len(s.Y) != 64 || s.Height*s.Width != 144 {
			t.Fatalf("%v: %d×%d with %d labels, want 64×144", reading, s.N(), s.Dim(), len(s.Y))
		}
		for i := range s.N() {
			block := i / per // digit-major, then pattern
			if s.Y[i] != digits[block/2] {
				t.Fatalf("%v: image %d shows %d, want %d", reading, i, s.Y[i], digits[block/2])
			}
			noise := metric.Sub(nil, s.X.RawRowView(i), Glyph(s.Y[i]))
			var distinct []float64
			for k, z := range noise {
				line := k % GlyphSide
				if Pattern(block%2) == OddRows {
					line = k / GlyphSide
				}
				if line%2 == 1 { // 1-based: an even line
					if z != 0 {
						t.Fatalf("%v: image %d has noise at pixel %d outside its pattern", reading, i, k)
					}
					continue
				}
				// Adding to 0 and to 1 rounds differently.
				const tol = 1e-12
				if !slices.ContainsFunc(distinct, func(o float64) bool { return math.Abs(o-z) < tol }) {
					distinct = append(distinct, z)
				}
			}
			if len(distinct) != want {
				t.Fatalf("%v: image %d has %d different noise values, want %d", reading, i, len(distinct), want)
			}
		}
	}
}

func TestNoisyGlyphsSNR(t *testing.T) {
	for _, snr := range []float64{1, 4} {
		for reading := NoisePerImage; reading <= NoisePerPixel; reading++ {
			const per = 2000
			s, err := NoisyGlyphs(newRand(7), []int{2}, per, reading, snr)
			if err != nil {
				t.Fatal(err)
			}
			g := Glyph(2)
			var noise float64
			for i := range s.N() {
				noise += metric.Euclidean{}.SqDist(s.X.RawRowView(i), g)
			}
			got := floats.Dot(g, g) / (noise / float64(s.N()))
			// The energy of 4000 images is at worst (one value per image) a mean
			// of 4000 squared normals: standard error √(2/4000) = 2.2 %; 4 of them.
			const tol = 0.09
			if math.Abs(got/snr-1) > tol {
				t.Errorf("%v: SNR is %.3f, want %v", reading, got, snr)
			}
		}
	}
}

func TestNoisyGlyphsErrors(t *testing.T) {
	for name, call := range map[string]func() (*datasets.Set, error){
		"digit 10":  func() (*datasets.Set, error) { return NoisyGlyphs(newRand(1), []int{10}, 1, NoisePerImage, 1) },
		"no digit":  func() (*datasets.Set, error) { return NoisyGlyphs(newRand(1), nil, 1, NoisePerImage, 1) },
		"0 images":  func() (*datasets.Set, error) { return NoisyGlyphs(newRand(1), []int{1}, 0, NoisePerImage, 1) },
		"reading 9": func() (*datasets.Set, error) { return NoisyGlyphs(newRand(1), []int{1}, 1, 9, 1) },
		"snr 0":     func() (*datasets.Set, error) { return NoisyGlyphs(newRand(1), []int{1}, 1, NoisePerImage, 0) },
		"snr NaN":   func() (*datasets.Set, error) { return NoisyGlyphs(newRand(1), []int{1}, 1, NoisePerImage, math.NaN()) },
		"snr Inf":   func() (*datasets.Set, error) { return NoisyGlyphs(newRand(1), []int{1}, 1, NoisePerImage, math.Inf(1)) },
	} {
		if s, err := call(); err == nil || s != nil {
			t.Errorf("%s: got %v, want an error", name, s)
		}
	}
}

func TestPatternNames(t *testing.T) {
	if got := OddRows.String() + ", " + OddColumns.String(); got != "odd rows, odd columns" {
		t.Errorf("patterns are %q", got)
	}
}

func TestGlyphDigitsBalancedAndSeeded(t *testing.T) {
	train, test := GlyphDigits(newRand(3), 105, 40)
	for _, m := range []*datasets.Images{train, test} {
		c := m.Counts()
		if slices.Max(c[:])-slices.Min(c[:]) > 1 {
			t.Errorf("%s: counts %v differ by more than one", m.Name, c)
		}
		if len(m.Pix) != m.N*m.Dim() || m.H != GlyphSide || m.W != GlyphSide {
			t.Errorf("%s: %d×%d×%d with %d bytes", m.Name, m.N, m.H, m.W, len(m.Pix))
		}
	}
	if again, _ := GlyphDigits(newRand(3), 105, 40); !slices.Equal(again.Pix, train.Pix) {
		t.Error("the same seed gives other images")
	}
	if other, _ := GlyphDigits(newRand(4), 105, 40); slices.Equal(other.Pix, train.Pix) {
		t.Error("another seed gives the same images")
	}
}

// The stand-in for MNIST must leave a learner something to win: over the 45
// pairs of digits, nearest neighbours by Euclidean distance among 100 training
// images err on 2 to 15 % of the test images on average.
func TestGlyphDigitsAreNeitherTrivialNorHopeless(t *testing.T) {
	train, test := GlyphDigits(newRand(1), 500, 500)
	var mean, worst float64
	for a := range 10 {
		for b := range a {
			x, q := train.Set(train.Filter(train.All(), a, b), datasets.Scale01), test.Set(test.Filter(test.All(), a, b), datasets.Scale01)
			wrong := 0
			for i := range q.N() {
				best, near := math.Inf(1), 0
				for j := range x.N() {
					if d := (metric.Euclidean{}).SqDist(q.X.RawRowView(i), x.X.RawRowView(j)); d < best {
						best, near = d, j
					}
				}
				if x.Y[near] != q.Y[i] {
					wrong++
				}
			}
			e := float64(wrong) / float64(q.N())
			mean += e / 45
			worst = max(worst, e)
		}
	}
	t.Logf("1-NN error over 45 pairs: mean %.1f %%, worst %.1f %%", 100*mean, 100*worst)
	if mean < 0.02 || mean > 0.15 || worst > 0.4 {
		t.Errorf("1-NN error over 45 pairs: mean %.3f, worst %.3f, want a mean of 0.02 to 0.15 and at most 0.4", mean, worst)
	}
}

func TestGlyphPanics(t *testing.T) {
	for name, call := range map[string]func(){
		"glyph 10":        func() { Glyph(10) },
		"GlyphDigits(-1)": func() { GlyphDigits(newRand(1), -1, 0) },
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
