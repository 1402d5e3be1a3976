package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
)

// GlyphSide is the height and width of a glyph.
const GlyphSide = 12

// The glyphs of the ten digits, three rows of pictures; a column of blanks
// separates neighbours.
const glyphArt = `
............ ............ ............ ............
...######... .....##..... ...######... ..#######...
..########.. ....###..... ..########.. ..########..
..##....##.. ...####..... ..##....##.. ........##..
..##....##.. .....##..... ........##.. ........##..
..##....##.. .....##..... .......###.. ....#####...
..##....##.. .....##..... .....####... ....#####...
..##....##.. .....##..... ...####..... ........##..
..##....##.. .....##..... ..###....... ........##..
..########.. ...######... ..########.. ..########..
...######... ...######... ..########.. ..#######...
............ ............ ............ ............
............ ............ ............
......###... ..########.. ...######...
.....####... ..########.. ..########..
....##.##... ..##........ ..##........
...##..##... ..##........ ..##........
..##...##... ..#######... ..#######...
..########.. ..########.. ..########..
..########.. ........##.. ..##....##..
.......##... ..##....##.. ..##....##..
.......##... ..########.. ..########..
.......##... ...######... ...######...
............ ............ ............
............ ............ ............
..########.. ...######... ...######...
..########.. ..########.. ..########..
........##.. ..##....##.. ..##....##..
.......##... ..##....##.. ..##....##..
.......##... ...######... ..########..
......##.... ...######... ...#######..
......##.... ..##....##.. ........##..
.....##..... ..##....##.. ........##..
.....##..... ..########.. ..########..
.....##..... ...######... ...######...
............ ............ ............
`

var glyphs = parseGlyphs(glyphArt)

func parseGlyphs(art string) [10][]float64 {
	var out [10][]float64
	first := 0
	for i, line := range strings.Split(strings.TrimSpace(art), "\n") {
		cells := strings.Fields(line)
		for k, cell := range cells {
			for _, c := range cell {
				v := 0.0
				if c == '#' {
					v = 1
				}
				out[first+k] = append(out[first+k], v)
			}
		}
		if i%GlyphSide == GlyphSide-1 {
			first += len(cells)
		}
	}
	return out
}

// Glyph returns a copy of the picture of digit d: GlyphSide×GlyphSide pixels
// row by row, 1 for ink and 0 for paper, strokes about 2 pixels wide, an empty
// frame of one pixel. It panics unless 0 ≤ d ≤ 9.
func Glyph(d int) []float64 {
	return append([]float64(nil), glyphs[d]...)
}

// Pattern says which pixels of a noisy glyph carry noise. Columns and rows are
// counted from 1, as in the paper, so that the odd ones are the 1st, 3rd, ...,
// with indices 0, 2, ....
type Pattern int

const (
	OddColumns Pattern = iota
	OddRows
)

var patternNames = enum.Of[Pattern]("Pattern(%d)", "odd columns", "odd rows")

// String returns "odd columns" or "odd rows".
func (p Pattern) String() string { return patternNames.Text(p) }

// NoiseReading is a reading of "biased noise" in Shalev-Shwartz, Singer and Ng
// (2004), Section 7: "a zero mean Gaussian noise to all the odd columns". The
// paper does not say how many values are drawn.
type NoiseReading int

const (
	// NoisePerImage draws one Gaussian value per image and adds it to every pixel of
	// the odd columns (or rows). Under this reading the noise is one strong
	// direction, which PCA takes for signal.
	NoisePerImage NoiseReading = iota
	// NoisePerLine draws one Gaussian value per odd column (or row).
	NoisePerLine
	// NoisePerPixel draws one Gaussian value per pixel of the odd columns (or rows).
	NoisePerPixel
)

var readingNames = enum.Of[NoiseReading]("NoiseReading(%d)", "image", "line", "pixel")

// String returns "image", "line" or "pixel".
func (r NoiseReading) String() string { return readingNames.Text(r) }

// NoisyGlyphs returns the images of Shalev-Shwartz, Singer and Ng (2004),
// Fig. 2: for each digit in turn, perPattern images with noise on the odd
// columns and then perPattern with noise on the odd rows. The paper's 64 images
// are digits 5 and 2 with perPattern = 16.
//
// Noise is Gaussian with mean 0 and variance
//
//	σ² = ‖g‖² / (snr · m),
//
// with g the glyph and m = GlyphSide²/2 the number of noisy pixels, so that
// under each reading the expected noise energy of an image is ‖g‖²/snr; snr = 1
// is 0 dB, the paper's choice. Pixels are not clipped.
//
// It returns an error if a digit is outside 0..9, there is none, perPattern < 1,
// the reading is unknown, or snr is not positive and finite.
func NoisyGlyphs(rng *rand.Rand, digits []int, perPattern int, reading NoiseReading, snr float64) (*datasets.Set, error) {
	if len(digits) == 0 {
		return nil, fmt.Errorf("synthetic: digits: none given, want at least 1")
	}
	for _, d := range digits {
		if d < 0 || d > 9 {
			return nil, fmt.Errorf("synthetic: digits: %d is not allowed, want 0 to 9", d)
		}
	}
	if perPattern < 1 {
		return nil, fmt.Errorf("synthetic: perPattern: %d is not allowed, want at least 1", perPattern)
	}
	if reading < NoisePerImage || reading > NoisePerPixel {
		return nil, fmt.Errorf("synthetic: reading: %v is not allowed, want one of %q", reading, readingNames.List())
	}
	if !(snr > 0) || math.IsInf(snr, 1) {
		return nil, fmt.Errorf("synthetic: snr: %v is not allowed, want a positive number", snr)
	}
	const pixels = GlyphSide * GlyphSide
	if err := limits.Check(fmt.Sprintf("%d noisy images per pattern", perPattern), limits.Floats(len(digits), 2, perPattern, pixels)); err != nil {
		return nil, fmt.Errorf("synthetic: perPattern: %w", err)
	}
	n := len(digits) * 2 * perPattern
	out := &datasets.Set{Name: "noisy-glyphs", X: mat.NewDense(n, pixels, nil), Height: GlyphSide, Width: GlyphSide}
	for _, d := range digits {
		g := glyphs[d]
		sigma := math.Sqrt(floats.Dot(g, g) / (snr * pixels / 2))
		for _, pattern := range []Pattern{OddColumns, OddRows} {
			for range perPattern {
				row := out.X.RawRowView(len(out.Y))
				copy(row, g)
				addNoise(rng, row, pattern, reading, sigma)
				out.Y = append(out.Y, d)
			}
		}
	}
	return out, nil
}

func addNoise(rng *rand.Rand, image []float64, pattern Pattern, reading NoiseReading, sigma float64) {
	lineStride, pixelStride := 1, GlyphSide // columns
	if pattern == OddRows {
		lineStride, pixelStride = GlyphSide, 1
	}
	var z float64
	if reading == NoisePerImage {
		z = sigma * rng.NormFloat64()
	}
	for line := 0; line < GlyphSide; line += 2 {
		if reading == NoisePerLine {
			z = sigma * rng.NormFloat64()
		}
		for pixel := range GlyphSide {
			if reading == NoisePerPixel {
				z = sigma * rng.NormFloat64()
			}
			image[line*lineStride+pixel*pixelStride] += z
		}
	}
}

// GlyphDigits returns built-in images in the form of MNIST, for runs without
// any file: GlyphSide×GlyphSide pixels of all ten digits, each the glyph moved
// by −1, 0 or 1 pixel both ways, its ink of random strength, with Gaussian noise
// on every pixel, rounded and clipped to 0..255. In each part the digits are
// in random order and their counts differ by at most one. It panics if a count
// is negative.
func GlyphDigits(rng *rand.Rand, nTrain, nTest int) (train, test *datasets.Images) {
	return glyphImages(rng, "glyph-digits-train", nTrain), glyphImages(rng, "glyph-digits-test", nTest)
}

// Strength of ink and noise in grey values, chosen so that nearest neighbours
// by Euclidean distance err on a few per cent of the images of two digits.
const (
	glyphInkMin, glyphInkMax = 80, 255
	glyphNoise               = 75
)

func glyphImages(rng *rand.Rand, name string, n int) *datasets.Images {
	const pixels = GlyphSide * GlyphSide
	out := &datasets.Images{Name: name, N: n, H: GlyphSide, W: GlyphSide, Pix: make([]byte, n*pixels), Labels: make([]uint8, n)}
	for k, r := range rng.Perm(n) {
		d := r % 10
		out.Labels[k] = uint8(d)
		dy, dx := rng.IntN(3)-1, rng.IntN(3)-1
		ink := glyphInkMin + (glyphInkMax-glyphInkMin)*rng.Float64()
		image := out.Image(k)
		for y := range GlyphSide {
			for x := range GlyphSide {
				v := glyphNoise * rng.NormFloat64()
				// The frame is empty, so what moves in from outside is paper.
				if sy, sx := y-dy, x-dx; sy >= 0 && sy < GlyphSide && sx >= 0 && sx < GlyphSide {
					v += ink * glyphs[d][sy*GlyphSide+sx]
				}
				image[y*GlyphSide+x] = byte(math.Round(min(max(v, 0), 255)))
			}
		}
	}
	return out
}
