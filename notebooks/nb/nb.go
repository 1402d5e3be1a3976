// Package nb is what the notebooks' cells share: errors as panics, figures as
// PNG, tables as Markdown, the results of the experiments, and the curves of
// the lessons in the plane. It displays through GoNB; outside a notebook the
// display functions do nothing.
package nb

import (
	"fmt"
	"os"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"

	"metriclab/pkg/plots"
)

// Must returns v, and panics if err is not nil.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check panics if err is not nil.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Show displays a drawing: the figure as PNG, then the text that belongs to
// it. It panics on a drawing that cannot be drawn.
func Show(d plots.Drawing) { show(d, "") }

// show is Show with a watermark in the figure and above the text.
func show(d plots.Drawing, watermark string) {
	img, text, err := render(d, watermark)
	Check(err)
	if img != nil {
		display(func() { gonbui.DisplayPNG(img) })
	}
	if text != "" {
		displayMarkdown(text)
	}
}

// display sends something to the notebook and waits until it is there. Without
// the wait it is lost if the program ends at once, and lines that are printed
// next can overtake it. What is printed before can still come later: a cell
// displays first and prints afterwards.
func display(send func()) {
	send()
	gonbui.Sync()
	Check(gonbui.Error())
}

func displayMarkdown(text string) { display(func() { gonbui.DisplayMarkdown(text) }) }

// Markdown displays text that is formatted as by fmt.Sprintf.
func Markdown(format string, args ...any) {
	displayMarkdown(fmt.Sprintf(format, args...))
}

// ShowPNG displays a PNG file. It panics if the file cannot be read or is no PNG.
func ShowPNG(path string) {
	img, err := compact(Must(os.ReadFile(path)))
	if err != nil {
		panic(fmt.Errorf("nb: %s: %w", path, err))
	}
	display(func() { gonbui.DisplayPNG(img) })
}

// Live is a place below a cell whose text changes while the cell runs. The last
// text stays; without a front end it is the only one. NewLive makes one.
type Live struct{ id string }

// NewLive returns a Live that shows nothing yet.
func NewLive() *Live { return &Live{"live_" + gonbui.UniqueId()} }

// Markdown replaces the text by one that is formatted as by fmt.Sprintf.
func (l *Live) Markdown(format string, args ...any) {
	display(func() { gonbui.UpdateMarkdown(l.id, fmt.Sprintf(format, args...)) })
}

// render returns the figure, nil without panels, and the text of a drawing.
func render(d plots.Drawing, watermark string) (img []byte, text string, err error) {
	const name = "figure"
	files, err := d.Render(name, plots.Options{Watermark: watermark})
	if err != nil {
		return nil, "", err
	}
	for _, f := range files {
		switch f.Name {
		case name + ".png":
			if img, err = compact(f.Data); err != nil {
				return nil, "", err
			}
		case name + ".md":
			text = string(f.Data)
		}
	}
	// The file's text shows the figure by a link; here it stands above.
	var blocks []string
	for _, b := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if !strings.HasPrefix(b, "![") {
			blocks = append(blocks, b)
		}
	}
	return img, strings.Join(blocks, "\n\n"), nil
}
