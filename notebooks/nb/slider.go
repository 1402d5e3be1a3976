package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/janpfeifer/gonb/gonbui/widgets"

	"metriclab/pkg/plots"
)

// Slider displays a slider with the positions lo to hi and the drawing of the
// position it is at, first of start: the figure only, without text. It returns
// the position at which the button beside it, "Done", is pressed; the last
// figure stays. Where no Jupyter server runs the kernel nobody can move a slider,
// and waiting for one would never end: there Slider displays the drawing of start,
// and returns it. It panics unless lo ≤ start ≤ hi, and on a drawing that
// cannot be drawn or has no panels.
func Slider(lo, hi, start int, draw func(position int) plots.Drawing) int {
	if start < lo || start > hi {
		panic(fmt.Sprintf("nb: Slider from %d to %d starts at %d, want it between them", lo, hi, start))
	}
	if os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) == "" {
		display(func() { gonbui.DisplayPNG(figure(draw(start))) })
		return start
	}
	// Both widgets wait for the browser, and stay below the cell when it has ended.
	slider := widgets.Slider(lo, hi, start).Done()
	done := widgets.Button("Done").Done().Listen().LatestOnly()
	moved := slider.Listen().LatestOnly()
	id, at := "slider_"+gonbui.UniqueId(), start
	for {
		display(func() {
			gonbui.SendData(&protocol.DisplayData{
				Data:      map[protocol.MIMEType]any{protocol.MIMEImagePNG: figure(draw(at))},
				DisplayID: id,
			})
		})
		select {
		case at = <-moved.C:
		case <-done.C:
			return at
		}
	}
}

// figure returns the PNG of a drawing with panels.
func figure(d plots.Drawing) []byte {
	img, _, err := render(d, "")
	Check(err)
	if img == nil {
		panic("nb: a drawing without panels has no figure")
	}
	return img
}
