package plots

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"slices"
	"strings"
	"testing"
)

// drawMoving is a point that moves, one frame per place.
func drawMoving(places ...float64) Drawing {
	var frames []Panel
	for _, x := range places {
		frames = append(frames, Panel{Title: "frame", Equal: true, XMax: 4, YMax: 4, Marks: []Mark{
			Points{Name: "object", X: []float64{x}, Y: []float64{x}}, Points{Name: "sensor", X: []float64{2}, Y: []float64{1}, Color: 1, Shape: 2},
		}})
	}
	return Drawing{Caption: Caption{Shows: "A point that moves. It is alone."}, Panels: frames[:1], Frames: frames}
}

// animationOf renders a drawing and returns its GIF and Markdown.
func animationOf(t *testing.T, d Drawing, o Options) (data []byte, text string) {
	t.Helper()
	files, err := d.Render("x", o)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 || files[2].Name != "x.gif" || files[3].Name != "x.md" {
		t.Fatalf("%d files, want x.svg, x.png, x.gif and x.md", len(files))
	}
	return files[2].Data, string(files[3].Data)
}

// Lines may grow: the frames keep their size, since they have a legend.
func TestAnimatedLines(t *testing.T) {
	var frames []Panel
	for _, x := range []float64{1, 5, 10} {
		frames = append(frames, Panel{XLabel: "round", YLabel: "loss", XMax: 10, YMax: 1, Marks: []Mark{Line{Name: "mean loss", X: []float64{0, x}, Y: []float64{1, 0.5}}}})
	}
	animationOf(t, Drawing{Panels: frames[2:], Frames: frames}, Options{})
}

// The GIF shows each frame as it is drawn alone, half a second each, for ever.
func TestAnimation(t *testing.T) {
	d := drawMoving(1, 2, 3)
	data, text := animationOf(t, d, Options{})
	got, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Image) != 3 || got.LoopCount != 0 {
		t.Fatalf("%d frames, loop count %d, want 3 and 0", len(got.Image), got.LoopCount)
	}
	for i, img := range got.Image {
		if got.Delay[i] != 50 {
			t.Errorf("frame %d: delay %d, want 50 hundredths of a second", i, got.Delay[i])
		}
		alone := Drawing{Panels: d.Frames[i : i+1]}
		panels, _, _, err := alone.prepare()
		if err != nil {
			t.Fatal(err)
		}
		want := alone.layout(panels, Options{}).raster(frameDPI)
		if img.Bounds() != want.Bounds() {
			t.Fatalf("frame %d: bounds %v, want %v", i, img.Bounds(), want.Bounds())
		}
		wrong, off := 0, 0
		for y := range want.Bounds().Dy() {
			for x := range want.Bounds().Dx() {
				a, b := rgba(img.At(x, y)), rgba(want.At(x, y))
				for _, c := range [][2]uint8{{a.R, b.R}, {a.G, b.G}, {a.B, b.B}} {
					off = max(off, int(c[0])-int(c[1]), int(c[1])-int(c[0]))
				}
				if a != b {
					wrong++
				}
			}
		}
		// The palette rounds rare shades of edges: few pixels, not by much.
		if all := want.Bounds().Dx() * want.Bounds().Dy(); wrong > all/100 || off > 32 {
			t.Errorf("frame %d: %d of %d pixels differ from those of the panel alone, by up to %d of 255", i, wrong, all, off)
		}
	}
	still, moving := strings.Index(text, "](x.svg)"), strings.Index(text, "![Animation. A point that moves.](x.gif)")
	if still < 0 || moving < still {
		t.Errorf("want the animation below the figure, got\n%s", text)
	}

	if again, _ := animationOf(t, drawMoving(1, 2, 3), Options{}); !bytes.Equal(data, again) {
		t.Error("bytes differ between two renderings")
	}
	if marked, _ := animationOf(t, d, Options{Watermark: "smoke scale: not a result"}); bytes.Equal(data, marked) {
		t.Error("the watermark is missing in the animation")
	}
}

// The rarest colours give way, and only if there are more than 256.
func TestCommonPalette(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 600, 1))
	for x := range 600 {
		img.SetRGBA(x, 0, color.RGBA{uint8(x % 300 % 256), uint8(x % 300 / 256), 0, 255}) // 300 colours, each twice
	}
	rare := color.RGBA{B: 255, A: 255}
	img.SetRGBA(0, 0, rare)
	if got := commonPalette([]image.Image{img}); len(got) != 256 || slices.Contains(got, color.Color(rare)) {
		t.Errorf("%d colours, want 256 without the rare one", len(got))
	}
	got := commonPalette([]image.Image{img.SubImage(image.Rect(0, 0, 200, 1)), img.SubImage(image.Rect(100, 0, 255, 1))})
	// The 100 that both have are first; then the others, by red, green and blue.
	if len(got) != 255 || got[0] != (color.RGBA{R: 100, A: 255}) || got[100] != rare || got[254] != (color.RGBA{R: 254, A: 255}) {
		t.Errorf("%d colours, want the 255 of two images in order", len(got))
	}
}

func TestAnimationErrors(t *testing.T) {
	short, size, alone := drawMoving(1, 2), drawMoving(1, 2), drawMoving(1, 2)
	short.Frames[1].Marks = []Mark{Points{X: []float64{1}}}
	size.Frames[1].Marks = size.Frames[1].Marks[:0] // no legend
	alone.Panels = nil
	for _, c := range []struct {
		d    Drawing
		want string
	}{
		{short, `plots: frame 1 ("frame"): mark 0 (Points): Y has 0 elements, X has 1`},
		{size, `plots: frame 1 ("frame"): its image has `},
		{alone, "2 Frames and no Panels"},
	} {
		if _, err := c.d.Render("x", Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %q", err, c.want)
		}
	}
}

// What frames leave out is noted, by frame.
func TestAnimationNotes(t *testing.T) {
	got, err := drawMoving(1, nan).Warnings()
	if err != nil {
		t.Fatal(err)
	}
	if want := `Frame "frame": 1 point of "object" is not finite and is not drawn.`; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
