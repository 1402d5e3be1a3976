package harness

import (
	"encoding/xml"
	"io"
	"regexp"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
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
		`href="#toy-lines-text"`, `id="toy-lines-text"`, `href="#toy-lines-plot"`, `id="toy-lines-plot"`,
		"Lines of the toy.", "Note: a note", "<td>72</td>", `alt="The lines. Lines of the toy."`,
		"metriclab run toy/lines --scale full", "24 of 24 jobs", "Provenance", "<td>noise</td><td>small</td>",
	} {
		if !strings.Contains(html, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	// Self-contained: nothing is loaded and nothing runs.
	for _, pattern := range []string{`(?i)<script`, `(?i)<link`, `(?i)@import`, `(?i)src="(?:[^d]|d[^a])`, `(?i)href="[^#]`, `(?i)url\(`, `(?i)\son\w+=`, `#ZgotmplZ`} {
		if m := regexp.MustCompile(pattern).FindString(html); m != "" {
			t.Errorf("the report has %q", m)
		}
	}
	// Every tag is closed: with the empty elements of HTML it reads as XML.
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the report is not well-formed: %v", err)
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
	if !strings.Contains(html, "of an earlier version of the code") || !strings.Contains(html, "<img") || !strings.Contains(html, "holds in 6 of 6") {
		t.Error("the stale results are not shown as such")
	}
}

func TestImageURLTakesTheSmaller(t *testing.T) {
	svg, png := plots.File{Name: "v.svg", Data: []byte("abc")}, plots.File{Name: "v.png", Data: []byte("ab")}
	if got := string(imageURL(DrawnView{Files: []plots.File{svg, png}})); got != "data:image/png;base64,YWI=" {
		t.Errorf("got %s", got)
	}
	svg.Data = []byte("a")
	if got := string(imageURL(DrawnView{Files: []plots.File{svg, png}})); got != "data:image/svg+xml;base64,YQ==" {
		t.Errorf("got %s", got)
	}
	if got := imageURL(DrawnView{Files: []plots.File{{Name: "v.md"}}}); got != "" {
		t.Errorf("no image: got %s", got)
	}
}

func TestSeconds(t *testing.T) {
	for s, want := range map[float64]string{0.0123: "10ms", 9.876: "9.88s", 75.4: "1m15s", 7260: "2h1m"} {
		if got := seconds(s); got != want {
			t.Errorf("%v: got %s, want %s", s, got, want)
		}
	}
}
