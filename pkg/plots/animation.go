package plots

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"maps"
	"slices"
)

// frameDelay is how long a frame is shown, in hundredths of a second; frameDPI
// the resolution of GIF, less than that of PNG since there are many frames.
const (
	frameDelay = 50
	frameDPI   = 90
)

// animate returns the frames as an animated GIF that plays in a loop. The
// errors name the frame whose size differs from that of the first.
func animate(frames []*prepared, o Options) ([]byte, error) {
	var images []image.Image
	for i, p := range frames {
		fig, err := Drawing{}.fitting([]*prepared{p}, o, frameDPI, len(frames))
		if err != nil {
			return nil, err
		}
		img := fig.raster(frameDPI)
		if got := img.Bounds(); i > 0 && got != images[0].Bounds() {
			want := images[0].Bounds()
			return nil, fmt.Errorf("plots: frame %d (%q): its image has %d×%d pixels, that of frame 0 has %d×%d, want equal sizes: the same axes, labels and legend",
				i, p.Title, got.Dx(), got.Dy(), want.Dx(), want.Dy())
		}
		images = append(images, img)
	}
	colors := commonPalette(images)
	index := map[color.RGBA]uint8{}
	out := gif.GIF{Config: image.Config{ColorModel: colors, Width: images[0].Bounds().Dx(), Height: images[0].Bounds().Dy()}}
	for _, img := range images {
		b := img.Bounds()
		p := image.NewPaletted(b, colors)
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				c := rgba(img.At(x, y))
				k, ok := index[c]
				if !ok {
					k = uint8(colors.Index(c))
					index[c] = k
				}
				p.SetColorIndex(x, y, k)
			}
		}
		out.Image, out.Delay = append(out.Image, p), append(out.Delay, frameDelay)
	}
	var buf bytes.Buffer
	if err := gif.EncodeAll(&buf, &out); err != nil {
		return nil, fmt.Errorf("plots: %w", err)
	}
	return buf.Bytes(), nil
}

// maxColors is the size of a GIF's palette.
const maxColors = 256

// commonPalette returns the 256 most frequent colours of the images, all if
// they are fewer. Flat colours are kept exactly; what is rounded to its
// neighbour are rare shades of smoothed edges.
func commonPalette(images []image.Image) color.Palette {
	count := map[color.RGBA]int{}
	for _, img := range images {
		b := img.Bounds()
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				count[rgba(img.At(x, y))]++
			}
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var out color.Palette
	for _, c := range all[:min(len(all), maxColors)] {
		out = append(out, c)
	}
	return out
}

func rgba(c color.Color) color.RGBA { return color.RGBAModel.Convert(c).(color.RGBA) }
