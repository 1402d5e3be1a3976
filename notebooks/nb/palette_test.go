package nb

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
)

func encode(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCompactIsExactWithFewColours(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		img.Set(i%16, i/16, color.RGBA{uint8(i), 255 - uint8(i), 7, 255})
	}
	small, err := compact(encode(t, img))
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 256 {
		r1, g1, b1, _ := got.At(i%16, i/16).RGBA()
		r2, g2, b2, _ := img.At(i%16, i/16).RGBA()
		if r1 != r2 || g1 != g2 || b1 != b2 {
			t.Fatalf("pixel %d is %v, want %v", i, got.At(i%16, i/16), img.At(i%16, i/16))
		}
	}
}

func TestCompactRoundsManyColours(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			img.Set(x, y, color.RGBA{uint8(4 * x), uint8(4 * y), 255, 255})
		}
	}
	small, err := compact(encode(t, img))
	if err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := got.(*image.Paletted); !ok || len(p.Palette) > 256 {
		t.Fatalf("%T, want a palette of at most 256 colours", got)
	}
	// 64×64 shades need a step of 32, so that 9×9 remain: off by at most 16.
	for y := range 64 {
		for x := range 64 {
			r, g, b, _ := got.At(x, y).RGBA()
			if off(r>>8, 4*x) > 16 || off(g>>8, 4*y) > 16 || b>>8 != 255 {
				t.Fatalf("pixel (%d, %d) is %v", x, y, got.At(x, y))
			}
		}
	}
}

func off(got uint32, want int) int { return max(int(got)-want, want-int(got)) }

func TestCompactRefusesWhatIsNoPNG(t *testing.T) {
	if _, err := compact([]byte("GIF89a")); err == nil {
		t.Error("no error")
	}
}
