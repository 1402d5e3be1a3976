package nb

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"metriclab/pkg/plots"
)

// Interview is a sequence of questions "is A more like B or like C?", for Ask.
type Interview struct {
	// Rounds is the largest number of questions, at least 1.
	Rounds int
	// Pictures returns A, B and C of the question of a round, from 0.
	Pictures func(round int) (a, b, c plots.Panel)
	// Map returns what has been learned from so many answers.
	Map func(answers int) plots.Panel
	// Respond answers in place of a reader: true for C.
	Respond func(round int) bool
	// Learn takes the answer to the question of a round: true for C.
	Learn func(round int, second bool)
	// Undo takes back the last answer, so that its question is asked again.
	Undo func()
}

// patience is how long Ask waits for the first answer. A cell that nobody looks at, as in "Run
// all", must end by itself.
const patience = 30 * time.Second

// Ask displays the question of each round with its pictures, a button below B and C, and what has
// been learned so far; it returns the number of answers. Answers are b and c; u takes back the last
// one, s stops.
//
// They come through Jupyter's own input line, which every front end has: one types a letter and
// Enter. Where scripts run, buttons and the keys b, c, u and s fill that line. If
// no answer comes within 30 seconds, or where no Jupyter server runs the kernel, Respond
// answers all questions, and the output says so. It panics unless Rounds ≥ 1, and on a figure that
// cannot be rendered.
func Ask(q Interview) int {
	q.check()
	if os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) == "" {
		return q.simulate("No Jupyter server runs this kernel")
	}
	id := uniqueID("ask")
	show := func(data map[protocol.MIMEType]any) {
		display(func() { gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: id}) })
	}
	return q.run(os.Stdin, show, func(prompt string) { gonbui.RequestInput(prompt, false) }, id, patience)
}

func (q Interview) check() {
	if q.Rounds < 1 {
		panic(fmt.Sprintf("nb: Ask with %d rounds, want at least 1", q.Rounds))
	}
}

// simulate lets Respond answer, and displays the last map.
func (q Interview) simulate(why string) int {
	q.respond(0)
	displayPNG(figure(plots.Drawing{Panels: []plots.Panel{q.Map(q.Rounds)}}), "Figure: the map")
	displayMarkdown(why + ": a simulated person answered.")
	return q.Rounds
}

func (q Interview) respond(from int) {
	for round := from; round < q.Rounds; round++ {
		q.Learn(round, q.Respond(round))
	}
}

// run asks until all rounds are answered, the reader stops, or nobody is there.
func (q Interview) run(in io.Reader, show func(map[protocol.MIMEType]any), request func(prompt string), id string, wait time.Duration) int {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	var nobody <-chan time.Time // until the first answer
	round, drawn := 0, -1
	for round < q.Rounds {
		if round != drawn {
			show(q.question(round, id))
			drawn = round
		}
		if nobody == nil {
			nobody = time.After(wait)
		}
		request(q.prompt(round))
		var line string
		var open bool
		select {
		case line, open = <-lines:
			nobody = make(chan time.Time) // somebody is there, and may think as long as they like
		case <-nobody:
		}
		if !open { // no answer in time, or an input line that was closed
			if round == 0 {
				q.respond(0)
				show(q.last(q.Rounds, fmt.Sprintf("No answer came within %.0f s: a simulated person answered. Run the cell alone to answer yourself.", wait.Seconds()), id))
				return q.Rounds
			}
			break
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "b", "c":
			q.Learn(round, strings.EqualFold(strings.TrimSpace(line), "c"))
			round++
		case "u":
			if round > 0 {
				q.Undo()
				round--
			}
		case "s":
			show(q.last(round, fmt.Sprintf("You stopped after %d of %d answers.", round, q.Rounds), id))
			return round
		}
	}
	show(q.last(round, fmt.Sprintf("You gave %d answers.", round), id))
	return round
}

// prompt begins with the round, by which the page tells whether the line is that of its question.
func (q Interview) prompt(round int) string {
	return fmt.Sprintf("%d of %d: b or c? (u: undo, s: stop) ", round+1, q.Rounds)
}

// question is what is displayed of a round: a page with buttons, and one figure of all.
func (q Interview) question(round int, id string) map[protocol.MIMEType]any {
	a, b, c := q.Pictures(round)
	learned := q.Map(round)
	image := func(p plots.Panel) string {
		return base64.StdEncoding.EncodeToString(figure(plots.Drawing{Panels: []plots.Panel{p}}))
	}
	page := strings.NewReplacer(
		"ID", id, "PROMPT", html.EscapeString(q.prompt(round)), "COUNT", fmt.Sprintf("%d of %d", round+1, q.Rounds),
		"PICTURE-A", image(a), "PICTURE-B", image(b), "PICTURE-C", image(c), "MAP", image(learned),
	).Replace(askPage)
	return map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  page,
		protocol.MIMEImagePNG:  figure(plots.Drawing{Columns: 4, Panels: []plots.Panel{a, b, c, learned}}),
		protocol.MIMETextPlain: fmt.Sprintf("%d of %d. Is A more like B or like C?", round+1, q.Rounds),
	}
}

// last is what stays: the map, and who answered.
func (q Interview) last(answers int, who, id string) map[protocol.MIMEType]any {
	img := figure(plots.Drawing{Panels: []plots.Panel{q.Map(answers)}})
	return map[protocol.MIMEType]any{
		protocol.MIMETextHTML: strings.NewReplacer("ID", id, "WHO", html.EscapeString(who), "MAP", base64.StdEncoding.EncodeToString(img)).Replace(lastPage),
		protocol.MIMEImagePNG: img, protocol.MIMETextPlain: who,
	}
}

// askPage has its buttons disabled until the input line of its question is there, so that a click
// counts for the question that is shown, and once.
const askPage = `<div id="ID" style="max-width:60em">
<p><b>Is A more like B or like C?</b> &nbsp; COUNT</p>
<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">
<div style="width:11em"><img alt="A" style="width:100%" src="data:image/png;base64,PICTURE-A"></div>
<div style="width:11em"><img alt="B" style="width:100%" src="data:image/png;base64,PICTURE-B"><button data-answer="b" disabled style="width:100%">more like B (key b)</button></div>
<div style="width:11em"><img alt="C" style="width:100%" src="data:image/png;base64,PICTURE-C"><button data-answer="c" disabled style="width:100%">more like C (key c)</button></div>
<div style="width:18em"><img alt="the map so far" style="width:100%" src="data:image/png;base64,MAP"></div>
</div>
<p><button data-answer="u" disabled>undo (key u)</button> <button data-answer="s" disabled>stop (key s)</button></p>
<script>
(function () {
  var root = document.getElementById("ID"), prompt = "PROMPT".trim(), done = false, tries = 0;
  if (!root) { return; }
  var buttons = root.querySelectorAll("button");
  // The input line is that of Jupyter Notebook or of JupyterLab, in the output of the same cell.
  function line() {
    var lines = document.querySelectorAll("input.raw_input, .jp-Stdin-input");
    for (var i = 0; i < lines.length; i++) {
      var box = lines[i].parentNode;
      if (box && box.textContent.indexOf(prompt) >= 0) { return lines[i]; }
    }
    return null;
  }
  function answer(letter) {
    var input = line();
    if (done || !input) { return; }
    done = true;
    buttons.forEach(function (b) { b.disabled = true; });
    input.value = letter;
    input.dispatchEvent(new Event("input", {bubbles: true}));
    input.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", code: "Enter", keyCode: 13, which: 13, bubbles: true, cancelable: true}));
  }
  buttons.forEach(function (b) { b.addEventListener("click", function () { answer(b.dataset.answer); }); });
  var timer = setInterval(function () {
    var input = line();
    if (input) {
      clearInterval(timer);
      buttons.forEach(function (b) { b.disabled = false; });
      input.addEventListener("keydown", function (e) {
        if (input.value === "" && !e.ctrlKey && !e.metaKey && !e.altKey && "bcus".indexOf(e.key) >= 0 && e.key.length === 1) {
          e.preventDefault();
          e.stopPropagation();
          answer(e.key);
        }
      });
    } else if (++tries > 100 || !document.body.contains(root)) {
      clearInterval(timer);
    }
  }, 100);
})();
</script>
</div>`

// lastPage removes the input line of a question that nobody answered.
const lastPage = `<div id="ID"><img alt="the map" style="max-width:100%" src="data:image/png;base64,MAP"><p>WHO</p>
<script>
(function () {
  var root = document.getElementById("ID");
  var cell = root && root.closest(".output_wrapper, .jp-OutputArea");
  var input = cell && cell.querySelector("input.raw_input, .jp-Stdin-input");
  var box = input && input.closest(".output_area, .jp-OutputArea-child");
  if (box && /\d+ of \d+: b or c\?/.test(box.textContent)) { box.remove(); }
})();
</script>
</div>`
