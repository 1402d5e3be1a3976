package nb

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/ask"
	"metriclab/pkg/plots"
)

// Interview asks a reader the questions of a session "is A more like B or like C?", for Ask.
type Interview struct {
	// Session is one of ask.KindCompare.
	Session *ask.Session
	// Rounds is the largest number of answers, at least 1.
	Rounds int
	// Picture shows an item.
	Picture func(item int, title string) plots.Panel
	// Map shows the kernel of the session after so many answers. It is not called before each item was asked about.
	Map func(k mat.Symmetric, answers int) plots.Panel
	// Respond answers in place of a reader: with the place in the question, 1 for B or 2 for C.
	Respond func(q ask.Question) int
	// Wait is how long Ask waits for the first answer until Respond answers all questions, so that a cell that nobody looks at, as in "Run all", ends by
	// itself. 0 waits for ever: then nobody takes over while a lecturer talks about the question.
	Wait time.Duration
}

// reader is who answers.
const reader = "reader"

// Ask displays questions with their pictures, a button below B and C, and what has
// been learned so far; it returns the number of answers. Answers are b and c; u takes back the last
// one, s stops.
//
// They come through Jupyter's own input line, which every front end has: one types a letter and
// Enter. Where scripts run, buttons and the keys b, c, u and s fill that line. If
// no answer comes within Wait, or where no Jupyter server runs the kernel, Respond
// answers all questions, and the output says so. It panics unless Rounds ≥ 1, and on a figure that
// cannot be rendered.
func Ask(q Interview) int {
	if q.Rounds < 1 {
		panic(fmt.Sprintf("nb: Ask with %d rounds, want at least 1", q.Rounds))
	}
	Check(q.Session.Advance(context.Background()))
	if os.Getenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV) == "" {
		q.respond()
		if p, ok := q.mapped(); ok {
			displayPNG(figure(plots.Drawing{Panels: []plots.Panel{p}}), "Figure: the map", drawnDPI)
		}
		displayMarkdown("No Jupyter server runs this kernel: a simulated person answered.")
		return q.Rounds
	}
	id := uniqueID("ask")
	show := func(data map[protocol.MIMEType]any) {
		display(func() { gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: id}) })
	}
	return q.run(os.Stdin, show, func(prompt string) { gonbui.RequestInput(prompt, false) }, id)
}

// respond lets Respond answer what is left.
func (q Interview) respond() {
	for q.Session.Count() < q.Rounds {
		question := q.Session.Next(reader)
		q.learn(question, q.Respond(question))
	}
}

func (q Interview) learn(question ask.Question, said int) {
	Check(q.Session.Learn(ask.Answer{Question: question, Said: said, Person: reader}))
	Check(q.Session.Advance(context.Background()))
}

// mapped is the map, false before each item was asked about.
func (q Interview) mapped() (plots.Panel, bool) {
	if q.Session.Unasked() > 0 {
		return plots.Panel{}, false
	}
	return q.Map(q.Session.Kernel(), q.Session.Count()), true
}

// run asks until all rounds are answered, the reader stops, or nobody is there.
func (q Interview) run(in io.Reader, show func(map[protocol.MIMEType]any), request func(prompt string), id string) int {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(in); s.Scan(); {
			lines <- s.Text()
		}
	}()
	var nobody <-chan time.Time // until the first answer; nil waits for ever
	if q.Wait > 0 {
		nobody = time.After(q.Wait)
	}
	question := q.Session.Next(reader)
	for drawn := -1; q.Session.Count() < q.Rounds; {
		round := q.Session.Count()
		if round != drawn {
			show(q.question(question, id))
			drawn = round
		}
		request(q.prompt(round))
		var line string
		var open bool
		select {
		case line, open = <-lines:
			if open {
				nobody = nil // somebody is there, and may think as long as they like
			}
		case <-nobody:
		}
		if !open { // no answer in time, or an input line that was closed
			if round > 0 || q.Wait == 0 {
				break
			}
			q.respond()
			show(q.last(fmt.Sprintf("No answer came within %.0f s: a simulated person answered. Run the cell alone to answer yourself, with --wait=0 to take your time.", q.Wait.Seconds()), id))
			return q.Rounds
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "b":
			q.learn(question, 1)
			question = q.Session.Next(reader)
		case "c":
			q.learn(question, 2)
			question = q.Session.Next(reader)
		case "u":
			if last, ok := q.Session.Undo(); ok {
				Check(q.Session.Advance(context.Background()))
				question = last.Question
			}
		case "s":
			show(q.last(fmt.Sprintf("You stopped after %d of %d answers.", round, q.Rounds), id))
			return round
		}
	}
	n := q.Session.Count()
	show(q.last(fmt.Sprintf("You gave %d answers.", n), id))
	return n
}

// prompt begins with the round, by which the page tells whether the line is that of its question.
func (q Interview) prompt(round int) string {
	return fmt.Sprintf("%d of %d: b or c? (u: undo, s: stop) ", round+1, q.Rounds)
}

// question is what is displayed of a round: a page with buttons, and one figure of all.
func (q Interview) question(of ask.Question, id string) map[protocol.MIMEType]any {
	round := q.Session.Count()
	var panels []plots.Panel
	words := []string{"ID", id, "PROMPT", html.EscapeString(q.prompt(round)), "COUNT", fmt.Sprintf("%d of %d", round+1, q.Rounds)}
	for i, letter := range []string{"A", "B", "C"} {
		panels = append(panels, q.Picture(of.Items[i], letter))
		words = append(words, "PICTURE-"+letter, picture(panels[i], letter))
	}
	learned := fmt.Sprintf("<p>The map is drawn once each was asked about: %d to go.</p>", q.Session.Unasked())
	if p, ok := q.mapped(); ok {
		panels = append(panels, p)
		learned = picture(p, "the map so far")
	}
	return map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  strings.NewReplacer(append(words, "MAP", learned)...).Replace(askPage),
		protocol.MIMEImagePNG:  figure(plots.Drawing{Columns: len(panels), Panels: panels}),
		protocol.MIMETextPlain: fmt.Sprintf("%d of %d. Is A more like B or like C?", round+1, q.Rounds),
	}
}

// picture is a panel as an element of a page.
func picture(p plots.Panel, alt string) string {
	return `<img alt="` + alt + `" style="width:100%" src="data:image/png;base64,` + base64.StdEncoding.EncodeToString(figure(plots.Drawing{Panels: []plots.Panel{p}})) + `">`
}

// last is what stays: the map, and who answered.
func (q Interview) last(who, id string) map[protocol.MIMEType]any {
	out := map[protocol.MIMEType]any{protocol.MIMETextPlain: who}
	learned := ""
	if p, ok := q.mapped(); ok {
		out[protocol.MIMEImagePNG] = figure(plots.Drawing{Panels: []plots.Panel{p}})
		learned = picture(p, "the map")
	}
	out[protocol.MIMETextHTML] = strings.NewReplacer("ID", id, "WHO", html.EscapeString(who), "MAP", learned).Replace(lastPage)
	return out
}

// askPage has its buttons disabled until the input line of its question is there, so that a click
// counts for the question that is shown, and once.
const askPage = `<div id="ID" style="max-width:60em">
<p><b>Is A more like B or like C?</b> &nbsp; COUNT</p>
<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">
<div style="width:11em">PICTURE-A</div>
<div style="width:11em">PICTURE-B<button data-answer="b" disabled style="width:100%">more like B (key b)</button></div>
<div style="width:11em">PICTURE-C<button data-answer="c" disabled style="width:100%">more like C (key c)</button></div>
<div style="width:18em">MAP</div>
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
const lastPage = `<div id="ID"><div style="max-width:36em">MAP</div><p>WHO</p>
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
