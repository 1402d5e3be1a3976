package nb

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"metriclab/pkg/plots"
)

func pointAt(x float64) plots.Drawing {
	return plots.Drawing{Panels: []plots.Panel{{XMin: 0, XMax: 10, Marks: []plots.Mark{plots.Points{X: []float64{x}, Y: []float64{2}}}}}}
}

// Each form of the output has the figure or the text of the start, and the page has all figures.
func TestSlider(t *testing.T) {
	var drawn []int
	s := newSlider("C & more", 3, 1, maxFrames, func(i int) (string, plots.Drawing) {
		drawn = append(drawn, i)
		return fmt.Sprintf("C < %d", i), pointAt(float64(i))
	})
	if fmt.Sprint(drawn) != "[0 1 2]" {
		t.Errorf("drew %v", drawn)
	}
	data := s.data()
	page := data[protocol.MIMETextHTML].(string)
	for _, want := range []string{`<div id="slider_`, "C &amp; more", `max="2" value="1"`, "C &lt; 1", base64.StdEncoding.EncodeToString(s.images[1]) + `">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if !bytes.Equal(data[protocol.MIMEImagePNG].([]byte), s.images[1]) {
		t.Error("the PNG is not that of the start")
	}
	if got, want := data[protocol.MIMETextPlain], "C & more: C < 1 (a slider with 3 positions, where scripts run)"; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
	var frames struct {
		Texts  []string
		Images [][]byte
	}
	if err := json.Unmarshal([]byte(regexp.MustCompile(`frames = (.*);\n`).FindStringSubmatch(page)[1]), &frames); err != nil {
		t.Fatal(err)
	}
	if len(frames.Images) != 3 || !bytes.Equal(frames.Images[2], s.images[2]) || frames.Texts[2] != "C < 2" {
		t.Errorf("the page has %d figures and the texts %q", len(frames.Images), frames.Texts)
	}
}

func TestSliderPanics(t *testing.T) {
	table := plots.Drawing{Text: &plots.TextTable{Head: []string{"a"}}}
	for name, f := range map[string]func(){
		"a start below": func() { newSlider("", 3, -1, maxFrames, nil) },
		"a start above": func() { newSlider("", 3, 3, maxFrames, nil) },
		"no panels":     func() { newSlider("", 3, 0, maxFrames, func(int) (string, plots.Drawing) { return "", table }) },
		"too much": func() {
			newSlider("", 3, 0, 5_000, func(i int) (string, plots.Drawing) { return "", pointAt(float64(i % 10)) })
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
