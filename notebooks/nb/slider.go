package nb

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"metriclab/pkg/plots"
)

// maxFrames is the largest number of bytes of a slider's figures, as they stand in the notebook.
const maxFrames = 1 << 20

// frameDPI is the resolution of a slider's figures, of which there are many.
const frameDPI = 90

// Slider displays a slider with so many positions, counted from 0, and the figure of the
// position it is at, first of start. frame returns the text of a position, such as "C = 0.1",
// and its drawing, of which the figure is shown. All figures are rendered when the cell runs and
// travel in the output: moving the slider needs no kernel and no server, and nothing waits for
// it. Where scripts do not run, as in a notebook that is not trusted, the figure of start is
// shown. It panics unless 0 ≤ start < positions, on a drawing that cannot be rendered or has no
// panels, and on more than 1 MiB of figures.
func Slider(label string, positions, start int, frame func(position int) (text string, d plots.Drawing)) {
	s := newSlider(label, positions, start, maxFrames, frame)
	display(func() { send(s.data()) })
}

// slider is what is displayed of one.
type slider struct {
	label  string
	start  int
	texts  []string
	images [][]byte
}

func newSlider(label string, positions, start, most int, frame func(int) (string, plots.Drawing)) slider {
	if start < 0 || start >= positions {
		panic(fmt.Sprintf("nb: Slider of %d positions starts at %d, want at least one position, and to start at one of 0 to their number less 1", positions, start))
	}
	s := slider{label: label, start: start}
	total := 0
	for i := range positions {
		text, d := frame(i)
		img := Must(compact(Must(d.PNG(plots.Options{DPI: frameDPI}))))
		s.texts, s.images = append(s.texts, text), append(s.images, img)
		if total += base64.StdEncoding.EncodedLen(len(img)); total > most {
			panic(fmt.Sprintf("nb: the figures of Slider take more than %d bytes, %d of %d positions: want fewer positions or smaller figures", most, i+1, positions))
		}
	}
	return s
}

// data is the output in all its forms: front ends show the richest that they trust.
func (s slider) data() map[protocol.MIMEType]any {
	frames, err := json.Marshal(struct {
		Texts  []string `json:"texts"`
		Images [][]byte `json:"images"` // base64, as JSON writes bytes
	}{s.texts, s.images})
	Check(err)
	// The same cell has the same id in each run, so that outputs can be compared.
	sum := sha256.Sum256(frames)
	page := strings.NewReplacer(
		"ID", fmt.Sprintf("slider_%x", sum[:8]), "LABEL", html.EscapeString(s.label), "LAST", fmt.Sprint(len(s.images)-1), "START", fmt.Sprint(s.start),
		"TEXT", html.EscapeString(s.texts[s.start]), "IMAGE", base64.StdEncoding.EncodeToString(s.images[s.start]), "FRAMES", string(frames),
	).Replace(sliderPage)
	return map[protocol.MIMEType]any{
		protocol.MIMETextHTML:  page,
		protocol.MIMEImagePNG:  s.images[s.start],
		protocol.MIMETextPlain: fmt.Sprintf("%s: %s (a slider with %d positions, where scripts run)", s.label, s.texts[s.start], len(s.images)),
	}
}

// sliderPage shows the first figure by itself; the script makes the slider visible, and moves it.
// JSON in Go escapes <, > and &, so that no text can end the script.
const sliderPage = `<div id="ID" style="max-width:100%">
<div class="move" hidden><label style="display:inline">LABEL <input type="range" min="0" max="LAST" value="START" step="1" style="width:20em;max-width:60%;vertical-align:middle" aria-valuetext="TEXT"></label> <output>TEXT</output></div>
<img alt="LABEL: TEXT" style="max-width:100%" src="data:image/png;base64,IMAGE">
<script>
(function () {
  var root = document.getElementById("ID");
  if (!root || root.dataset.ready) { return; }
  root.dataset.ready = "1";
  var frames = FRAMES;
  var input = root.querySelector("input"), out = root.querySelector("output"), img = root.querySelector("img");
  input.addEventListener("input", function () {
    var text = frames.texts[+input.value];
    out.textContent = text;
    input.setAttribute("aria-valuetext", text);
    img.alt = input.parentNode.textContent.trim() + ": " + text;
    img.src = "data:image/png;base64," + frames.images[+input.value];
  });
  // A notebook's own keys, such as j and k, must not act while the slider has the focus.
  input.addEventListener("keydown", function (e) { e.stopPropagation(); });
  root.querySelector(".move").hidden = false;
})();
</script>
</div>`
