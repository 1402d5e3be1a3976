// Package nb is what the notebooks' cells share: errors as panics, figures as
// PNG, tables as Markdown, the results of the experiments, and the curves of
// the lessons in the plane. It displays through GoNB; outside a notebook the
// display functions do nothing.
package nb

import (
	"bytes"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

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
// it. It panics on a drawing that cannot be rendered.
func Show(d plots.Drawing) { show(d, "") }

// show is Show with a watermark in the figure and above the text.
func show(d plots.Drawing, watermark string) {
	img, text, err := render(d, plots.Options{DPI: drawnDPI, Watermark: watermark})
	Check(err)
	if img != nil {
		displayPNG(img, figureText(d), drawnDPI)
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

// send is what a cell displays, in all the forms of data: a front end shows the richest that it
// trusts, so that each output has a plain or PNG form.
func send(data map[protocol.MIMEType]any) { gonbui.SendData(&protocol.DisplayData{Data: data}) }

// markdown is a text in both its forms. Tables have aligned columns in their source, so that this
// is readable as it is where Markdown is not trusted.
func markdown(text string) map[protocol.MIMEType]any {
	return map[protocol.MIMEType]any{protocol.MIMETextMarkdown: text, protocol.MIMETextPlain: text}
}

func displayMarkdown(text string) { display(func() { send(markdown(text)) }) }

// pageDPI is the resolution at which a pixel of a figure is one of the page. drawnDPI is that of figures, sharp where a screen
// has more pixels.
const pageDPI, drawnDPI = 96, 150

// displayPNG displays a figure of a resolution in the size that it has on paper, and what stands in its place where figures
// do not show.
func displayPNG(img []byte, alt string, dpi int) {
	data := map[protocol.MIMEType]any{protocol.MIMEImagePNG: img, protocol.MIMETextPlain: alt}
	display(func() { gonbui.SendData(&protocol.DisplayData{Data: data, Metadata: onPage(img, dpi)}) })
}

// onPage is what Jupyter wants to know of the size of a figure on the page; nil of one whose pixels are those of the page.
func onPage(img []byte, dpi int) map[string]any {
	if dpi == pageDPI {
		return nil
	}
	size := Must(png.DecodeConfig(bytes.NewReader(img)))
	return map[string]any{string(protocol.MIMEImagePNG): map[string]int{"width": size.Width * pageDPI / dpi}}
}

// uniqueID is an id of the page's elements that no other cell's program makes.
func uniqueID(kind string) string { return kind + "_" + gonbui.UniqueId() }

// figure returns the PNG of a drawing with panels.
func figure(d plots.Drawing) []byte {
	img, _, err := render(d, plots.Options{DPI: drawnDPI})
	Check(err)
	if img == nil {
		panic("nb: a drawing without panels has no figure")
	}
	return img
}

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
	displayPNG(img, "Figure: "+filepath.Base(path), pageDPI)
}

// Live is a place below a cell whose text changes while the cell runs. The last
// text stays; without a front end it is the only one. NewLive makes one.
type Live struct{ id string }

// NewLive returns a Live that shows nothing yet.
func NewLive() *Live { return &Live{uniqueID("live")} }

// Markdown replaces the text by one that is formatted as by fmt.Sprintf.
func (l *Live) Markdown(format string, args ...any) {
	display(func() {
		gonbui.SendData(&protocol.DisplayData{Data: markdown(fmt.Sprintf(format, args...)), DisplayID: l.id})
	})
}

// figureText names the panels of a drawing, for who cannot see it.
func figureText(d plots.Drawing) string {
	var titles []string
	for _, p := range d.Panels {
		if p.Title != "" {
			titles = append(titles, p.Title)
		}
	}
	if len(titles) == 0 {
		return "Figure"
	}
	return "Figure: " + strings.Join(titles, "; ")
}

// render returns the figure, nil without panels, and the text of a drawing.
func render(d plots.Drawing, o plots.Options) (img []byte, text string, err error) {
	const name = "figure"
	files, err := d.Render(name, o)
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
