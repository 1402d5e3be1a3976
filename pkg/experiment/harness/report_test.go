package harness

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

func TestReport(t *testing.T) {
	dir := t.TempDir()
	s := withPlot(toySpec(nil))
	p := toyPaper(s)
	res := mustRun(t, toyConfig(dir, experiment.Full, p))
	html := mustRead(t, res.Report)
	for _, want := range []string{
		`<meta name="viewport"`, "A. Toy. Lines. 1900.", "toy/lines: Lines with noise",
		"y | is &lt;positive&gt;.", "Section 0", experiment.FigureOnly, `<span class="verdict reproduced">reproduced</span>`, "holds in 6 of 6 trials",
		`href="#toy-lines-text"`, `id="toy-lines-text"`, `id="toy-lines-plot"`, `id="toy-lines-positive-claim" data-verdict="reproduced"`,
		`class="reproduced" style="flex-grow: 1" href="#toy" data-paper="toy"`, `href="toy/lines/table.csv"`, `href="toy/lines/plot.png"`, `<rect class="s-for"`,
		"Lines of the toy.", "Note: a note", "<td>72</td>", `alt="The lines. Lines of the toy."`,
		"metriclab run toy/lines --scale full", "24 of 24 jobs", "provenance", "<td>noise</td><td>small</td>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	// Self-contained: nothing is loaded. Links lead within it, and to files beside it.
	for _, pattern := range []string{`(?i)<script[^>]`, `(?i)<link`, `(?i)@import`, `(?i)src="(?:[^d]|d[^a])`, `(?i)href="(?:[a-z]+:|/)`, `(?i)url\(`, `(?i)\son\w+=`, `#?ZgotmplZ`} {
		if m := regexp.MustCompile(pattern).FindString(html); m != "" {
			t.Errorf("the report has %q", m)
		}
	}
	// Every tag is closed: with the empty elements of HTML it reads as XML.
	body := regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>`).ReplaceAllString(html, "")
	d := xml.NewDecoder(strings.NewReader(body))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the report is not well-formed: %v", err)
		}
	}
}

// TestReportLeavesEditedFigures: a figure that somebody changed since it was written stays, and is named; one that only the code draws otherwise does not.
func TestReportLeavesEditedFigures(t *testing.T) {
	for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
		dir := t.TempDir()
		caption := "Lines of the toy."
		s := withPlot(toySpec(nil))
		draw := s.Views[0].Draw
		s.Views[0].Draw = func(t *table.Table) (plots.Drawing, error) {
			d, err := draw(t)
			d.Caption, d.Panels[0].Title = plots.Caption{Shows: caption}, caption
			return d, err
		}
		cfg := toyConfig(dir, scale, toyPaper(s))
		o := mustRun(t, cfg).Outcomes[0]
		report := func() *Outcome {
			t.Helper()
			res, err := Report(t.Context(), selected(cfg.Papers[0]), cfg)
			if err != nil {
				t.Fatal(err)
			}
			return res.Outcomes[0]
		}
		if err := report().Err; err != nil {
			t.Error(err)
		}
		for _, name := range []string{"plot.svg", "plot.png", "plot.md", "text.md"} {
			path := filepath.Join(o.Dir, name)
			written := mustRead(t, path)
			for _, text := range []string{"edited by hand", written + "<!-- mine -->"} {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				for range 2 { // the second time, too
					if err := report().Err; err == nil || !strings.Contains(err.Error(), path+" was changed since it was written, and is left") || mustRead(t, path) != text {
						t.Errorf("%s, %s: error %v; the file holds %q", scale, name, err, mustRead(t, path))
					}
				}
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := report().Err; err != nil || mustRead(t, path) != written {
				t.Errorf("%s, %s is not drawn anew: %v", scale, name, err)
			}
		}
		// Other code draws another figure, of which a note of a killed run or another program says nothing.
		for i, note := range []string{"", "{}", `{"figures":null}`, `{"figures":{"plot.svg":[]}}`, "\x00"} {
			if note != "" {
				if err := os.WriteFile(filepath.Join(o.Dir, drawnFile), []byte(note), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			caption = fmt.Sprintf("Lines of version %d.", i)
			if err := report().Err; err != nil || !strings.Contains(mustRead(t, o.Dir, "plot.svg"), caption) {
				t.Errorf("%s, after the note %q: %v", scale, note, err)
			}
		}
	}
}

// TestReportShowsWhatWasNotSelected has two experiments, of which one is run
// at a time.
func TestReportShowsWhatWasNotSelected(t *testing.T) {
	dir := t.TempDir()
	a, b := toySpec(nil), toySpec(nil)
	b.ID, b.Title = "toy/second", "The second"
	p := toyPaper(a, b)
	cfg := toyConfig(dir, experiment.Full, p)
	for i, sel := range []Selected{{p, a}, {p, b}} {
		res, err := Run(t.Context(), []Selected{sel}, cfg)
		if err != nil || !res.OK() {
			t.Fatalf("%v %v", err, res)
		}
		html, card := mustRead(t, res.Report), mustRead(t, dir, "README.md")
		if !strings.Contains(html, `id="toy-lines"`) || strings.Contains(html, `id="toy-second"`) != (i == 1) {
			t.Errorf("run %d: the report shows the wrong experiments", i)
		}
		if !strings.Contains(card, "(toy/lines/claims.md#positive)") || strings.Contains(card, "(toy/second/claims.md#positive)") != (i == 1) {
			t.Errorf("run %d: the scorecard shows the wrong experiments", i)
		}
	}
	// Report draws the same without running anything.
	want := snapshot(t, dir)
	var drawn []string
	cfg.Progress = func(e Event) {
		if e.Kind == EventDrawn {
			drawn = append(drawn, fmt.Sprintf("%s %d/%d", e.Experiment, e.Drawn, e.ToDraw))
		}
	}
	if _, err := Report(t.Context(), selected(p)[1:], cfg); err != nil || !slices.Equal(drawn, []string{"toy/second 1/2", "toy/lines 2/2"}) {
		t.Errorf("events %q, error %v: want that of the report's other experiment, too", drawn, err)
	}
	res, err := Report(t.Context(), selected(p), cfg)
	if err != nil || !res.OK() || res.Outcomes[0].Ran != 0 {
		t.Fatalf("report: %v", err)
	}
	sameFiles(t, snapshot(t, dir), want)

	// Of an empty folder it says that there is nothing.
	empty, err := Report(t.Context(), selected(p), toyConfig(t.TempDir(), experiment.Full, p))
	if err != nil {
		t.Fatal(err)
	}
	if html := mustRead(t, empty.Report); !strings.Contains(html, "nothing to show yet") {
		t.Error("an empty report does not say that it is empty")
	}
}

// Drawing one experiment draws that one: what is shown of the others is read from their folders, as long as that fits, and
// is the same as if they were drawn.
func TestReportDrawsTheSelected(t *testing.T) {
	removed := func(name string) func(*experiment.Spec, string) {
		return func(_ *experiment.Spec, dir string) { remove(t, dir, name) }
	}
	written := func(name, text string) func(*experiment.Spec, string) {
		return func(_ *experiment.Spec, dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tt := range map[string]struct {
		scale  experiment.Scale
		view   func(experiment.Spec) experiment.Spec // of the experiment that is not selected, beside its table
		change func(s *experiment.Spec, dir string)  // to it
		anew   bool                                  // drawn and judged
	}{
		"nothing":            {experiment.Full, withPlot, func(*experiment.Spec, string) {}, false},
		"nothing of a draft": {experiment.Smoke, withPlot, func(*experiment.Spec, string) {}, false},
		"its title":          {experiment.Full, nil, func(s *experiment.Spec, _ string) { s.Title = "Other lines" }, true},
		"a claim":            {experiment.Full, nil, func(s *experiment.Spec, _ string) { s.Claims[0].Predicate = "y > 1" }, true},
		"one claim more":     {experiment.Full, nil, func(s *experiment.Spec, _ string) { s.Claims = append(s.Claims, s.Claims[0]); s.Claims[1].ID = "more" }, true},
		"one view more":      {experiment.Full, nil, func(s *experiment.Spec, _ string) { *s = withPlot(*s) }, true},
		"its words":          {experiment.Full, nil, removed("text.md"), true},
		"its image":          {experiment.Full, withPlot, removed("plot.png"), true},
		"an edited figure":   {experiment.Full, withPlot, written("plot.svg", "mine"), true},
		"its findings":       {experiment.Full, nil, removed(claimsFile), true},
		"its table":          {experiment.Full, nil, removed(tableFile), true}, // its jobs are stored
		"its times":          {experiment.Full, nil, removed(timingFile), true},
		"its page":           {experiment.Full, nil, removed(pageFile), true},
		"its claims' page":   {experiment.Full, nil, removed(claimsPageFile), true},
		"its origin":         {experiment.Full, nil, removed(metaFile), true},
		"no watermark": {experiment.Smoke, nil, func(_ *experiment.Spec, dir string) {
			remove(t, dir, drawnFile)
			written("text.md", "Rows.\n")(nil, dir)
		}, true},
		"a watermark": {experiment.Full, nil, func(_ *experiment.Spec, dir string) {
			remove(t, dir, drawnFile)
			written("text.md", "> smoke scale, not a result\n\nRows.\n")(nil, dir)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			drawn := map[string]int{}
			counting := func(id string, view func(experiment.Spec) experiment.Spec) experiment.Spec {
				s := toySpec(nil)
				if view != nil {
					s = view(s)
				}
				s.ID = id
				for i, v := range s.Views {
					s.Views[i].Draw = func(t *table.Table) (plots.Drawing, error) {
						drawn[id]++
						return v.Draw(t)
					}
				}
				test := s.Claims[0].Test
				s.Claims[0].Test = func(t *table.Table) judge.Test {
					drawn[id+" judged"]++
					return test(t)
				}
				return s
			}
			a, b := counting("toy/a", nil), counting("toy/b", tt.view)
			cfg := toyConfig(dir, tt.scale, toyPaper(a, b))
			mustRun(t, cfg)
			want := snapshot(t, dir)
			tt.change(&b, filepath.Join(dir, "toy", "b"))
			cfg.Papers = []experiment.Paper{toyPaper(a, b)}
			clear(drawn)
			if _, err := Report(t.Context(), selected(cfg.Papers[0])[:1], cfg); err != nil {
				t.Fatal(err)
			}
			if drawn["toy/a"] != 1 || (drawn["toy/a judged"] == 1) != (tt.scale == experiment.Full) {
				t.Errorf("drawn %v: want what was asked for, once", drawn)
			}
			if anew := drawn["toy/b"] > 0; anew != tt.anew {
				t.Errorf("drawn %v: the other anew: %v, want %v", drawn, anew, tt.anew)
			}
			if !tt.anew {
				if drawn["toy/b judged"] > 0 {
					t.Error("the other is judged anew")
				}
				sameFiles(t, snapshot(t, dir), want)
			}
		})
	}
}

func remove(t *testing.T, path ...string) {
	t.Helper()
	if err := os.Remove(filepath.Join(path...)); err != nil {
		t.Fatal(err)
	}
}

// The words of a view in HTML are those of its Markdown, without what makes them Markdown.
func TestWords(t *testing.T) {
	d := plots.Drawing{
		Caption: plots.Caption{Shows: "A_b *c* [d] <e> & f|g ~ $h$ \\ `i`.", Data: "Second."}, Notes: []string{"n_1", "n2"},
		Text: &plots.TextTable{Head: []string{"x|y", ""}, Rows: [][]string{{"", "1_0"}, {"two\nlines", ""}}},
	}
	files, err := d.Render("v", plots.Options{Watermark: "w"})
	if err != nil {
		t.Fatal(err)
	}
	const want = "<figcaption><p>A_b *c* [d] &lt;e> &amp; f|g ~ $h$ \\ `i`.</p><p><b>Data.</b> Second.</p>" +
		`<p class="note">Note: n_1</p><p class="note">Note: n2</p></figcaption>` + "\n" +
		`<div class="scroll long"><table class="numbers"><tr><th>x|y</th><th></th></tr>` + "\n" +
		"<tr><td></td><td>1_0</td></tr>\n<tr><td>two<br>lines</td><td></td></tr>\n</table></div>"
	v := DrawnView{View: experiment.View{Name: "v", Title: "T"}, Files: files}
	if got := string(wordsOf(v)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	v.Files = []plots.File{{Name: "v.md", Data: []byte("![A\\_b &lt;c.](v.svg)\n\nA\\_b &lt;c.\n")}}
	if got := altText(v); got != "T. A_b <c." {
		t.Errorf("the image is described by %q", got)
	}
	if got := string(wordsOf(DrawnView{Failure: "<no>"})); got != "<figcaption><p>&lt;no&gt;</p></figcaption>\n" {
		t.Errorf("a failure: %q", got)
	}
}

// TestReportStale shows the published figures of an earlier version, marked.
func TestReportStale(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, toyConfig(dir, experiment.Full, toyPaper(withPlot(toySpec(nil)))))
	s := withPlot(toySpec(nil))
	s.Version = 2
	p := toyPaper(s)
	res, err := Report(t.Context(), selected(p), toyConfig(dir, experiment.Full, p))
	if err != nil {
		t.Fatal(err)
	}
	html := mustRead(t, res.Report)
	if !strings.Contains(html, "of an earlier version of the code") || !strings.Contains(html, `alt="The lines.`) || !strings.Contains(html, "holds in 6 of 6") {
		t.Error("the stale results are not shown as such")
	}
}

// An SVG is taken unless it is twice as large as the PNG, whose colours are reduced if that makes it smaller.
func TestImageSource(t *testing.T) {
	svg, bitmap := plots.File{Name: "v.svg", Data: []byte("<a b=\"#1\">\n 5 %</a>")}, plots.File{Name: "v.png", Data: []byte("no picture")}
	for _, tt := range []struct {
		files []plots.File
		want  string
	}{
		{[]plots.File{svg, {Name: "v.png", Data: make([]byte, 20)}}, `src="data:image/svg+xml,%3Ca b='%231'%3E 5 %25%3C/a%3E"`},
		{[]plots.File{{Name: "v.svg", Data: make([]byte, 20)}, bitmap}, `src="data:image/png;base64,bm8gcGljdHVyZQ=="`},
		{[]plots.File{{Name: "v.md"}}, ""},
	} {
		if got := string(imageSource(DrawnView{Files: tt.files})); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestClassedSVG(t *testing.T) {
	const svg = "<?xml?>\n<svg width=\"5\" style=\"a:b\">\n<g style=\"x:1\"><path d=\"M0\"\n\tstyle=\"x:1\" /><text style=\"y:2;z:3\">style</text></g></svg>"
	const want = "<?xml?>\n<svg width=\"5\" style=\"a:b\"><style>.s0{x:1}.s1{y:2;z:3}</style>\n<g class=\"s0\"><path d=\"M0\"\n\t class=\"s0\" /><text class=\"s1\">style</text></g></svg>"
	if got := classedSVG(svg); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPaletted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, 100, 100))
	for y := range 100 {
		for x := range 100 {
			c := color.RGBA{255, 255, 255, 255}
			if y < 90 { // more shades than a palette has
				c = color.RGBA{uint8(random.IntN(200)), uint8(60 * random.IntN(4)), 10, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var file bytes.Buffer
	if err := png.Encode(&file, img); err != nil {
		t.Fatal(err)
	}
	small := paletted(file.Bytes())
	got, err := png.Decode(bytes.NewReader(small))
	if err != nil || len(small) >= file.Len() || got.Bounds() != img.Bounds() {
		t.Fatalf("%d bytes of %d, error %v", len(small), file.Len(), err)
	}
	for y := range 100 {
		for x := range 100 {
			r, g, b, _ := got.At(x, y).RGBA()
			want := img.RGBAAt(x, y)
			if y >= 90 && (r>>8 != 255 || g>>8 != 255 || b>>8 != 255) || y < 90 && (b>>8 != 10 || max(g>>8, uint32(want.G))-min(g>>8, uint32(want.G)) > 60) {
				t.Fatalf("the colour at %d, %d is %v, was %v", x, y, got.At(x, y), want)
			}
		}
	}
	if text := []byte("no picture"); &paletted(text)[0] != &text[0] {
		t.Error("what is no PNG is changed")
	}
}

// Dots stand in the order of their means at their places between the ends; numbers that are not finite are not drawn.
func TestStrip(t *testing.T) {
	unit := func(name string, mean, half float64, side judge.Side) judge.UnitFinding {
		return judge.UnitFinding{Name: name, Estimate: judge.Estimate{N: 5, Mean: mean, Half: half, Side: side}}
	}
	f := judge.Finding{Verdict: judge.Partly, Ours: "<ours>", Units: []judge.UnitFinding{unit("a", 9, 1, judge.For), unit("b", -9, 1, judge.Against), unit("c", 0, math.NaN(), judge.Open)}}
	got := string(stripOf(f))
	for _, want := range []string{
		`aria-label="&lt;ours&gt;"`, `<path class="zero" d="M75.0 0V22"/>`,
		`<g class="s-against"><path d="M4.0 3.7H18.2"/><circle cx="11.1" cy="3.7" r="3.0"/></g><g class="s-open"><circle cx="75.0"`, `<g class="s-for"><path d="M131.8 18.3H146.0"/>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the strip lacks %s:\n%s", want, got)
		}
	}
	if got := string(unitsOf(f)); strings.Count(got, "<tr>") != 4 || !strings.Contains(got, "<td>9 ± 1</td>") || !strings.Contains(got, "<td>a</td>") {
		t.Errorf("units:\n%s", got)
	}
	f.Units[0].Mean = math.Inf(1)
	if got := string(stripOf(f)) + string(unitsOf(f)); strings.Contains(got, "<circle") {
		t.Errorf("an infinite mean is drawn:\n%s", got)
	}
	// Readings of one unit are dots, others squares; so are trials.
	reading := func(unit string) judge.ReadingFinding {
		return judge.ReadingFinding{Name: "r", Finding: judge.Finding{Verdict: judge.Reproduced, Unit: unit, Mean: &judge.Estimate{Mean: 1, Half: .5}}}
	}
	for name, tt := range map[string]struct {
		f                judge.Finding
		circles, squares int
	}{
		"alike":  {judge.Finding{Readings: []judge.ReadingFinding{reading("points"), reading("points")}}, 2, 0},
		"unlike": {judge.Finding{Readings: []judge.ReadingFinding{reading("points"), reading("doublings")}}, 0, 2},
		"trials": {judge.Finding{Test: judge.KindHolds, Trials: 5, Failing: []int{1}}, 0, 5},
		"none":   {judge.Finding{Verdict: judge.Untestable}, 0, 0},
	} {
		got := string(stripOf(tt.f))
		if strings.Count(got, "<circle") != tt.circles || strings.Count(got, "<rect") != tt.squares {
			t.Errorf("%s: want %d dots and %d squares:\n%s", name, tt.circles, tt.squares, got)
		}
	}
}

// A smoke report says what was drawn and where graded results are, once, and "not graded" never.
func TestReportSmoke(t *testing.T) {
	p := toyPaper(withPlot(toySpec(nil)))
	html := mustRead(t, mustRun(t, toyConfig(t.TempDir(), experiment.Smoke, p)).Report)
	for _, want := range []string{"1 experiment with 2 figures drawn.", "<code>metriclab report --scale full</code>", "1 claim, graded at full scale", "y | is &lt;positive&gt;."} {
		if strings.Count(html, want) != 1 {
			t.Errorf("the report has %q %d times, want once", want, strings.Count(html, want))
		}
	}
	body := html[strings.Index(html, "<body>"):]
	if strings.Contains(body, "not graded") || strings.Contains(body, `class="bars"`) {
		t.Error("the report speaks of verdicts")
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{0.0123: "10ms", 9.876: "9.88s", 75.4: "1m15s", 7260: "2h1m"} {
		if got := seconds(s); got != want {
			t.Errorf("%v: got %s, want %s", s, got, want)
		}
	}
}
