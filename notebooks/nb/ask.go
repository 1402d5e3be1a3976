package nb

import (
	"fmt"
	"os"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"github.com/janpfeifer/gonb/gonbui/widgets"

	"metriclab/pkg/plots"
)

// Interview is a sequence of questions that have two answers, for Ask.
type Interview struct {
	// First and Second are the texts of the buttons of the two answers.
	First, Second string
	// Rounds is the largest number of questions, at least 1.
	Rounds int
	// Draw returns the figure with the question of a round, from 0; after the
	// last answer it is called once more, with the number of answers.
	Draw func(round int) plots.Drawing
	// Respond answers in place of a reader: true for Second.
	Respond func(round int) bool
	// Learn takes the answer to the question of a round: true for Second.
	Learn func(round int, second bool)
}

// Ask displays the figure of each question above two buttons, one for each
// answer, and a third, "Stop". After an answer the figure is replaced by that of the
// next question; the last one stays. It returns the number of answers. Where no Jupyter
// server runs the kernel nobody can press a button, and waiting would never
// end: there Respond answers all questions, and only the last figure is displayed.
// It panics unless Rounds ≥ 1, and on a figure that cannot be drawn or has no panels.
func Ask(q Interview) int {
	if q.Rounds < 1 {
		panic(fmt.Sprintf("nb: Ask with %d rounds, want at least 1", q.Rounds))
	}
	if os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) == "" {
		for round := range q.Rounds {
			q.Learn(round, q.Respond(round))
		}
		display(func() { gonbui.DisplayPNG(figure(q.Draw(q.Rounds))) })
		return q.Rounds
	}
	id := "ask_" + gonbui.UniqueId()
	draw := func(round int) {
		img := figure(q.Draw(round))
		display(func() {
			gonbui.SendData(&protocol.DisplayData{
				Data:      map[protocol.MIMEType]any{protocol.MIMEImagePNG: img},
				DisplayID: id,
			})
		})
	}
	draw(0)
	// Widgets wait for the browser, and stay below the cell when it has ended.
	first := widgets.Button(q.First).Done().Listen().LatestOnly()
	second := widgets.Button(q.Second).Done().Listen().LatestOnly()
	stop := widgets.Button("Stop").Done().Listen().LatestOnly()
	round := 0
	for round < q.Rounds {
		select {
		case <-first.C:
			q.Learn(round, false)
		case <-second.C:
			q.Learn(round, true)
		case <-stop.C:
			return round
		}
		round++
		draw(round)
	}
	return round
}
