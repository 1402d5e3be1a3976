package nb

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
)

// compact returns a PNG with at most 256 colours, about a third of the size:
// notebooks carry their figures. Colours are rounded to multiples of the
// smallest step that leaves few enough, which the eye does not see.
func compact(data []byte) ([]byte, error) {
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var small *image.Paletted
	for step := 1; small == nil; step *= 2 {
		small = paletted(img, step)
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small)
	return out.Bytes(), err
}

// paletted rounds every channel to a multiple of step, or to 255; it returns
// nil if more than 256 colours remain.
func paletted(img image.Image, step int) *image.Paletted {
	round := func(v uint32) uint8 {
		return uint8(min((int(v>>8)+step/2)/step*step, 255))
	}
	b := img.Bounds()
	out := image.NewPaletted(b, nil)
	index := map[color.RGBA]uint8{}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := img.At(x, y).RGBA()
			c := color.RGBA{round(r), round(g), round(bl), 255}
			i, ok := index[c]
			if !ok {
				if len(index) == 256 {
					return nil
				}
				i = uint8(len(index))
				index[c] = i
				out.Palette = append(out.Palette, c)
			}
			out.SetColorIndex(x, y, i)
		}
	}
	return out
}
