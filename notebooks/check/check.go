package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxBytes is the largest size of a notebook that a browser still opens quickly.
const maxBytes = 3_000_000

// maxLines is the largest number of lines of a code cell, and maxColumns of characters of its lines and of what it prints: a
// student reads each line, and none scrolls sideways. Lines of JSON, which programs read, may be longer.
const (
	maxLines   = 25
	maxColumns = 100
)

// maxClaim is the largest number of characters of a line of nb.ShowClaims.
const maxClaim = 200

// setup begins the first code cell of every notebook; the imports of its cells follow, so that no other cell has any.
const setup = "!*rm -f go.work && go work init . $GONB_DIR $GONB_DIR/..\n%noautoget\nimport (\n"

// mistakes is what the kernel says where the set-up cell was not run, or %% forgotten; the text above that cell says what to do.
var mistakes = []string{"`undefined: nb`", "`expected declaration`"}

// machinePath finds paths that hold on one machine only.
var machinePath = regexp.MustCompile(`(?:^|[\s"'(=:])(/(?:tmp|root|home|work|usr/local|Users)/[^\s"')]*)`)

type notebook struct {
	Cells    []cell   `json:"cells"`
	Metadata metadata `json:"metadata"`

	size int
}

// metadata is that of a notebook, as far as it is ours.
type metadata struct {
	Metriclab struct {
		// Figures is the least number of figures (outputs of type image/png).
		Figures int `json:"figures"`
	} `json:"metriclab"`
}

type cell struct {
	Type    string   `json:"cell_type"`
	Source  text     `json:"source"`
	Count   *int     `json:"execution_count"`
	Outputs []output `json:"outputs"`
}

type output struct {
	Type  string                     `json:"output_type"`
	Name  string                     `json:"name"` // of a stream
	Text  text                       `json:"text"` // of a stream
	Data  map[string]json.RawMessage `json:"data"`
	Error string                     `json:"ename"`
	Value string                     `json:"evalue"`
}

// text is a string that the format may also write as a list of lines.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var lines []string
	if err := json.Unmarshal(b, &lines); err == nil {
		*t = text(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

func read(path string) (*notebook, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	nb, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}

func parse(raw []byte) (*notebook, error) {
	nb := &notebook{size: len(raw)}
	if err := json.Unmarshal(raw, nb); err != nil {
		return nil, err
	}
	return nb, nil
}

func (nb *notebook) codeCells() int {
	n := 0
	for _, c := range nb.Cells {
		if c.Type == "code" {
			n++
		}
	}
	return n
}

func (nb *notebook) figures() int {
	n := 0
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			if _, ok := o.Data["image/png"]; ok {
				n++
			}
		}
	}
	return n
}

// problems lists what is wrong with an executed notebook by itself. A Go
// program that fails in a cell writes an error output, a shell line that
// fails only "exit status N" to stderr; a sound cell writes nothing there.
func (nb *notebook) problems() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if nb.size > maxBytes {
		add("has %d bytes, want at most %d", nb.size, maxBytes)
	}
	if len(nb.Cells) == 0 || nb.Cells[0].Type != "markdown" || !strings.HasPrefix(string(nb.Cells[0].Source), "# ") {
		add("the first cell is not a title (# ...)")
	}
	first := slices.IndexFunc(nb.Cells, func(c cell) bool { return c.Type == "code" })
	if first < 0 {
		add("has no code cell")
	} else if rest, ok := strings.CutPrefix(string(nb.Cells[first].Source), setup); !ok || strings.Index(rest, "\n)") != len(strings.TrimRight(rest, "\n"))-2 {
		add("cell %d: the first code cell is not the set-up cell, which ends with the imports:\n%s", first+1, setup)
	} else if first > 0 {
		for _, m := range mistakes {
			if !strings.Contains(string(nb.Cells[first-1].Source), m) {
				add("cell %d: does not say what to do after %s", first, m)
			}
		}
	}
	for i, c := range nb.Cells {
		if p := machinePath.FindStringSubmatch(string(c.Source)); p != nil {
			add("cell %d: its source has the path %s", i+1, p[1])
		}
		if c.Type != "code" {
			continue
		}
		if c.Count == nil {
			add("cell %d: was not executed", i+1)
		}
		if strings.Contains(string(c.Source), "\t") {
			add("cell %d: has a tab, which Jupyter Notebook draws as an arrow: indent by four blanks", i+1)
		}
		lines := strings.Split(strings.TrimRight(string(c.Source), "\n"), "\n")
		if len(lines) > maxLines {
			add("cell %d: has %d lines, want at most %d; what a student need not read goes to package lesson", i+1, len(lines), maxLines)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > maxColumns {
				add("cell %d: a line has %d characters, want at most %d: %.60s", i+1, n, maxColumns, line)
			}
		}
		for _, o := range c.Outputs {
			if _, plain := o.Data["text/plain"]; o.Data != nil && !plain {
				add("cell %d: an output has no text/plain, which a notebook that is not trusted shows", i+1)
			}
			if o.Type == "error" {
				add("cell %d: %s: %s", i+1, o.Error, firstLine(o.Value))
			}
			if o.Type == "stream" && o.Name == "stderr" {
				add("cell %d: wrote to stderr: %s", i+1, firstLine(string(o.Text)))
			}
			for line := range strings.Lines(string(o.Text)) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > maxColumns && !strings.HasPrefix(line, "{") {
					add("cell %d: prints a line of %d characters, want at most %d: %.60s", i+1, n, maxColumns, line)
				}
			}
			if strings.Contains(string(c.Source), "nb.ShowClaims(") {
				for line := range strings.Lines(strings.Join(o.texts(), "\n")) {
					if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > maxClaim {
						add("cell %d: a claim has %d characters, want at most %d: %.60s", i+1, n, maxClaim, line)
					}
				}
			}
			for _, s := range append(o.texts(), string(o.Text)) {
				if p := machinePath.FindStringSubmatch(s); p != nil {
					add("cell %d: its output has the path %s", i+1, p[1])
				}
			}
		}
	}
	if want := nb.Metadata.Metriclab.Figures; want < 1 {
		add("does not say in its metadata how many figures it has, such as \"metriclab\": {\"figures\": 3}")
	} else if got := nb.figures(); got < want {
		add("has %d figures, want at least %d", got, want)
	}
	return out
}

// texts returns the outputs that are text.
func (o output) texts() []string {
	var out []string
	for kind, raw := range o.Data {
		if strings.HasPrefix(kind, "text/") {
			var t text
			if json.Unmarshal(raw, &t) == nil {
				out = append(out, string(t))
			}
		}
	}
	return out
}

// differences lists where the executed notebook differs from the committed one.
func (nb *notebook) differences(committed *notebook) []string {
	const advice = "; if the change is meant, run: make notebooks-update"
	if len(nb.Cells) != len(committed.Cells) {
		return []string{fmt.Sprintf("has %d cells, the committed notebook %d"+advice, len(nb.Cells), len(committed.Cells))}
	}
	var out []string
	for i, c := range nb.Cells {
		if d := c.difference(committed.Cells[i]); d != "" {
			out = append(out, fmt.Sprintf("cell %d: %s"+advice, i+1, d))
		}
	}
	return out
}

// difference says how a cell differs from the committed one; "" if it does not.
func (c cell) difference(committed cell) string {
	if c.Type != committed.Type || c.Source != committed.Source {
		return "the source differs from the committed one"
	}
	got, want := ordered(c.Outputs), ordered(committed.Outputs)
	if len(got) != len(want) {
		return fmt.Sprintf("has %d outputs, the committed cell %d", len(got), len(want))
	}
	for i, o := range got {
		w := want[i]
		if o.Type != w.Type || o.Name != w.Name {
			return fmt.Sprintf("output %d is %s %s, the committed one %s %s", i+1, o.Type, o.Name, w.Type, w.Name)
		}
		if d := lineDifference(string(o.Text), string(w.Text)); d != "" {
			return fmt.Sprintf("output %d differs: %s", i+1, d)
		}
		if len(o.Data) != len(w.Data) {
			return fmt.Sprintf("output %d has other types than the committed one", i+1)
		}
		for kind, raw := range o.Data {
			if d := dataDifference(kind, raw, w.Data[kind]); d != "" {
				return fmt.Sprintf("output %d (%s) differs: %s", i+1, kind, d)
			}
		}
	}
	return ""
}

// ordered returns what is displayed and then the text of each stream in one
// piece: the kernel cuts streams at random, and between displays also.
func ordered(outputs []output) []output {
	var displays []output
	streams := map[string]text{}
	for _, o := range outputs {
		if o.Type == "stream" {
			streams[o.Name] += o.Text
		} else {
			displays = append(displays, o)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(streams)) {
		displays = append(displays, output{Type: "stream", Name: name, Text: streams[name]})
	}
	return displays
}

func dataDifference(kind string, got, want json.RawMessage) string {
	if want == nil {
		return "the committed output has no such type"
	}
	var g, w text
	if json.Unmarshal(got, &g) != nil || json.Unmarshal(want, &w) != nil {
		if !bytes.Equal(got, want) {
			return "the values are not equal"
		}
		return ""
	}
	switch {
	case g == w:
		return ""
	case kind == "image/png":
		return imageDifference(string(g), string(w))
	}
	if kind == "text/html" {
		return pageDifference(string(g), string(w))
	}
	return lineDifference(string(g), string(w))
}

// embedded finds the PNGs in a page.
var embedded = regexp.MustCompile(`iVBORw0KGgo[A-Za-z0-9+/]+={0,2}`)

// pageDifference compares the PNGs of a page as images, and the rest line by line.
func pageDifference(got, want string) string {
	g, w := embedded.FindAllString(got, -1), embedded.FindAllString(want, -1)
	if len(g) != len(w) {
		return fmt.Sprintf("has %d images, the committed page %d", len(g), len(w))
	}
	for i := range g {
		if g[i] != w[i] {
			if d := imageDifference(g[i], w[i]); d != "" {
				return fmt.Sprintf("image %d: %s", i+1, d)
			}
		}
	}
	return lineDifference(embedded.ReplaceAllLiteralString(got, "PNG"), embedded.ReplaceAllLiteralString(want, "PNG"))
}

// Images are equal if at most maxShare of the pixels differ by more than
// maxStep of 65535 in a channel: the last bit of a number, which another
// processor may round differently, moves the edge of a line by less.
const (
	maxShare = 0.001
	maxStep  = 0x0a00
)

func imageDifference(got, want string) string {
	g, err := decodePNG(got)
	if err != nil {
		return err.Error()
	}
	w, err := decodePNG(want)
	if err != nil {
		return "the committed image: " + err.Error()
	}
	if g.Bounds() != w.Bounds() {
		return fmt.Sprintf("the image has size %v, the committed one %v", g.Bounds().Size(), w.Bounds().Size())
	}
	b := g.Bounds()
	other := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r1, g1, b1, a1 := g.At(x, y).RGBA()
			r2, g2, b2, a2 := w.At(x, y).RGBA()
			if apart(r1, r2) || apart(g1, g2) || apart(b1, b2) || apart(a1, a2) {
				other++
			}
		}
	}
	if float64(other) > maxShare*float64(b.Dx()*b.Dy()) {
		return fmt.Sprintf("%d of %d pixels", other, b.Dx()*b.Dy())
	}
	return ""
}

func apart(a, b uint32) bool { return max(a, b)-min(a, b) > maxStep }

func decodePNG(s string) (image.Image, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(s, "\n", ""))
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	img, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("not a PNG: %w", err)
	}
	return img, nil
}

// lineDifference shows the first line that differs; "" if none does.
func lineDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "no line", "no line"
		if i < len(g) {
			a = fmt.Sprintf("%q", g[i])
		}
		if i < len(w) {
			b = fmt.Sprintf("%q", w[i])
		}
		if a != b && !closeNumbers(a, b) {
			return fmt.Sprintf("line %d is %s, the committed one %s", i+1, a, b)
		}
	}
	return ""
}

// decimal is a number with decimals, without its sign.
var decimal = regexp.MustCompile(`[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?`)

// closeNumbers reports whether two lines are equal up to the last bits of their
// numbers, which another processor may round differently.
func closeNumbers(a, b string) bool {
	const relative = 1e-9
	if decimal.ReplaceAllString(a, "#") != decimal.ReplaceAllString(b, "#") {
		return false
	}
	x, y := decimal.FindAllString(a, -1), decimal.FindAllString(b, -1)
	for i := range x {
		v, err1 := strconv.ParseFloat(x[i], 64)
		w, err2 := strconv.ParseFloat(y[i], 64)
		if err1 != nil || err2 != nil || math.Abs(v-w) > relative*max(v, w) {
			return false
		}
	}
	return true
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
