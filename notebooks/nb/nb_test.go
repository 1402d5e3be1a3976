package nb

import (
	"bytes"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/plots"
)

func TestMust(t *testing.T) {
	if got := Must(3, nil); got != 3 {
		t.Errorf("Must = %d, want 3", got)
	}
	broken := errors.New("broken")
	defer func() {
		if got := recover(); got != broken {
			t.Errorf("panic %v, want the error", got)
		}
	}()
	Must(3, broken)
}

func TestRender(t *testing.T) {
	d := plots.Drawing{
		Caption: plots.Caption{Shows: "A caption with A*."}, Notes: []string{"a note"},
		Panels: []plots.Panel{{Marks: []plots.Mark{plots.Points{X: []float64{1}, Y: []float64{2}}}}},
		Text:   &plots.TextTable{Head: []string{"a"}, Rows: [][]string{{"1"}}},
	}
	img, text, err := render(d, plots.Options{Watermark: "not a result"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(img)); err != nil {
		t.Errorf("image: %v", err)
	}
	for _, want := range []string{"> not a result\n\n", `A caption with A\*.`, "- a note", "|   a |"} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "](") {
		t.Errorf("text has a link to the figure:\n%s", text)
	}
	if img, _, err := render(plots.Drawing{Text: d.Text}, plots.Options{}); err != nil || img != nil {
		t.Errorf("a table alone: image of %d bytes, error %v", len(img), err)
	}
	if _, _, err := render(plots.Drawing{}, plots.Options{}); err == nil {
		t.Error("an empty drawing gives no error")
	}
}

func TestOnPage(t *testing.T) {
	img := figure(plots.Drawing{Panels: []plots.Panel{{Marks: []plots.Mark{plots.Points{X: []float64{1}, Y: []float64{2}}}}}})
	c := Must(png.DecodeConfig(bytes.NewReader(img)))
	got, _ := onPage(img, drawnDPI)["image/png"].(map[string]int)
	if want := c.Width * 96 / 150; got["width"] != want {
		t.Errorf("%v on the page, of %d pixels, want %d", got, c.Width, want)
	}
	if got := onPage(img, pageDPI); got != nil {
		t.Errorf("a figure with its own size has %v", got)
	}
}

func TestShowPNGOfNoPNG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figure.png")
	if err := os.WriteFile(path, []byte("no picture"), 0o644); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if got, _ := recover().(error); got == nil || !strings.Contains(got.Error(), path) {
			t.Errorf("panic %v, want an error that names the file", got)
		}
	}()
	ShowPNG(path)
}
