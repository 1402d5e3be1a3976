package harness

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
)

var (
	//go:embed report.css
	reportCSS string
	//go:embed report.js
	reportJS string
)

// imageSource returns the attribute src of an image with a view's SVG in it, or its PNG if that is much smaller, "" if
// the view has no image.
func imageSource(v DrawnView) template.HTMLAttr {
	var svg, bitmap []byte
	for _, f := range v.Files {
		switch filepath.Ext(f.Name) {
		case ".svg":
			svg = f.Data
		case ".png":
			bitmap = f.Data
		}
	}
	best := ""
	switch {
	case svg != nil && (bitmap == nil || len(svg) < 2*len(bitmap)): // an SVG is sharp at any size
		best = "data:image/svg+xml," + escapeSVG(string(svg))
	case bitmap != nil:
		best = "data:image/png;base64," + base64.StdEncoding.EncodeToString(paletted(bitmap))
	default:
		return ""
	}
	return template.HTMLAttr(`src="` + best + `"`)
}

// wordsOf are the words of a view, as its Markdown has them, but for the images and the watermark: caption and notes,
// then the table.
func wordsOf(v DrawnView) template.HTML {
	var caption, below strings.Builder
	say := func(text string) { caption.WriteString("<p>" + text + "</p>") }
	if v.Failure != "" {
		say(template.HTMLEscapeString(v.Failure))
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(v.file(wordsExt))), "\n\n") {
		switch {
		case block == "" || strings.HasPrefix(block, "![") || strings.HasPrefix(block, "> "):
		case strings.HasPrefix(block, "| "):
			below.WriteString(tableHTML(block))
		case strings.HasPrefix(block, "- "):
			for line := range strings.SplitSeq(block, "\n") {
				caption.WriteString(`<p class="note">Note: ` + plainHTML(strings.TrimPrefix(line, "- ")) + "</p>")
			}
		default:
			say(plainHTML(labelled.ReplaceAllString(block, "<b>$1</b>")))
		}
	}
	return template.HTML("<figcaption>" + caption.String() + "</figcaption>\n" + below.String())
}

// labelled is the name of a caption's field.
var labelled = regexp.MustCompile(`^\*\*(\w+\.)\*\*`)

// tableHTML is a table of Markdown in HTML.
func tableHTML(block string) string {
	var b strings.Builder
	b.WriteString(`<div class="scroll long"><table class="numbers">`)
	for i, line := range strings.Split(block, "\n") {
		if i == 1 { // the dashes below the head
			continue
		}
		tag := "td"
		if i == 0 {
			tag = "th"
		}
		b.WriteString("<tr>")
		for cell := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(line, "| "), " |"), " | ") {
			fmt.Fprintf(&b, "<%s>%s</%s>", tag, plainHTML(strings.TrimSpace(cell)), tag)
		}
		b.WriteString("</tr>\n")
	}
	return b.String() + "</table></div>"
}

// plainHTML is a text of Markdown in HTML. Its signs are escaped, by a backslash or as entities; see plots.Drawing.Render.
func plainHTML(markdown string) string { return escaped.ReplaceAllString(markdown, "$1") }

var escaped = regexp.MustCompile(`\\([[:punct:]])`)

// altText describes the image of a view to those who do not see it: as its Markdown does.
func altText(v DrawnView) string {
	_, alt, _ := strings.Cut(string(v.file(wordsExt)), "![")
	alt, _, _ = strings.Cut(alt, "]("+v.Name)
	return v.Title + ". " + html.UnescapeString(plainHTML(alt))
}

// paletted returns a PNG with its 256 most frequent colours, and the others as the nearest of these; the PNG itself if
// that is not smaller. Figures have few colours and many shades of their edges.
func paletted(file []byte) []byte {
	img, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		return file
	}
	box, count := img.Bounds(), map[color.RGBA]int{}
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			count[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	bits := func(c color.RGBA) uint32 { return uint32(c.R)<<24 | uint32(c.G)<<16 | uint32(c.B)<<8 | uint32(c.A) }
	colours := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(bits(a), bits(b)))
	})
	var palette color.Palette
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	index := map[color.RGBA]uint8{}
	for _, c := range colours {
		index[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(box, palette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			out.SetColorIndex(x, y, index[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)])
		}
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if encoder.Encode(&b, out) != nil || b.Len() >= len(file) {
		return file
	}
	return b.Bytes()
}

// escapeSVG makes an SVG part of a data URL between double quotes; it is shorter than base64. Quotes in the text of an
// SVG are entities, so that those left are of attributes.
func escapeSVG(svg string) string {
	return svgEscaper.Replace(strings.Join(strings.Fields(classedSVG(svg)), " "))
}

var (
	svgHead  = regexp.MustCompile(`<svg[^>]*>`)
	svgStyle = regexp.MustCompile(` ?\bstyle="([^"]*)"`)
)

// classedSVG writes each style of an SVG once, as that of a class.
func classedSVG(svg string) string {
	head := svgHead.FindStringIndex(svg)
	if head == nil {
		return svg
	}
	names, styles := map[string]string{}, ""
	body := svgStyle.ReplaceAllStringFunc(svg[head[1]:], func(attribute string) string {
		style := svgStyle.FindStringSubmatch(attribute)[1]
		if names[style] == "" {
			names[style] = "s" + strconv.Itoa(len(names))
			styles += "." + names[style] + "{" + style + "}"
		}
		return ` class="` + names[style] + `"`
	})
	return svg[:head[1]] + "<style>" + styles + "</style>" + body
}

var svgEscaper = strings.NewReplacer(`"`, "'", "%", "%25", "#", "%23", "<", "%3C", ">", "%3E", "&", "%26",
	";font-variant:normal", "", ";font-style:normal", "", ";font-weight:normal", "")

// Name is that of the experiment within its paper, for the template.
func (s *section) Name() string { return s.name() }

// File is the way from the report to a file of the experiment, "" if there is none.
func (s *section) File(name string) string {
	if s.reportDir == "" || s.Dir == "" || s.Table == nil {
		return ""
	}
	rel, err := filepath.Rel(s.reportDir, filepath.Join(s.Dir, name))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

// Ungraded reports whether no claim of the experiment is graded.
func (s *section) Ungraded() bool {
	return !slices.ContainsFunc(s.Claims, func(c GradedClaim) bool { return c.Finding.Verdict != judge.NotGraded })
}

// Failure says that the grading of a claim failed, "" if it did not.
func (c GradedClaim) Failure() string {
	if c.Finding.Verdict == judge.NotGraded && strings.HasPrefix(c.Finding.Reason, gradingFailed) {
		return c.Finding.Reason
	}
	return ""
}

// reportTheirs is the paper's value in the line of a claim, "" if it prints none.
func reportTheirs(c experiment.Claim) string {
	if t := theirs(c); t != "–" {
		return cut(t, 60)
	}
	return ""
}

// reportBrief is our value in the line of a claim.
func reportBrief(f judge.Finding) string {
	return cmp.Or(brief(f, 90), "–")
}

// reportWhy says why the verdict is what it is.
func reportWhy(f judge.Finding) string {
	if f.Test == judge.KindBoth {
		return readingsWords(f)
	}
	if f.Verdict == judge.Undecided && f.Need != "" && !strings.Contains(f.Reason, f.Need) {
		return f.Reason + " " + f.Need
	}
	return f.Reason
}

// mark is one dot of a strip with its interval.
type mark struct {
	mean, half float64 // half is NaN without an interval
	side       string
}

// scale maps numbers to the width of a strip.
type scale struct{ low, high, width float64 }

// scaleOf holds all marks with their intervals, and the reference.
func scaleOf(marks []mark, reference, width float64) scale {
	s := scale{reference, reference, width}
	for _, m := range marks {
		half := m.half
		if math.IsNaN(half) {
			half = 0
		}
		s.low, s.high = min(s.low, m.mean-half), max(s.high, m.mean+half)
	}
	if s.high == s.low {
		s.low, s.high = s.low-1, s.high+1
	}
	return s
}

func (s scale) at(x float64) float64 { return 4 + (s.width-8)*(x-s.low)/(s.high-s.low) }

// draw writes a mark at a height.
func (s scale) draw(b *strings.Builder, m mark, y, radius float64) {
	fmt.Fprintf(b, `<g class="s-%s">`, m.side)
	s.drawPlain(b, m, y, radius)
	b.WriteString("</g>")
}

// drawPlain writes a mark in the colour of what is around it.
func (s scale) drawPlain(b *strings.Builder, m mark, y, radius float64) {
	if !math.IsNaN(m.half) && m.half > 0 {
		fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1f"/>`, s.at(m.mean-m.half), y, s.at(m.mean+m.half))
	}
	fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="%.1f"/>`, s.at(m.mean), y, radius)
}

func (s scale) reference(b *strings.Builder, x, height float64) {
	fmt.Fprintf(b, `<path class="zero" d="M%.1f 0V%g"/>`, s.at(x), height)
}

func sideOfVerdict(v judge.Verdict) string {
	switch v {
	case judge.Reproduced, judge.ByConstruction:
		return string(judge.For)
	case judge.NotReproduced:
		return string(judge.Against)
	case judge.Undecided, judge.Partly:
		return string(judge.Open)
	}
	return "excepted"
}

func finite(marks []mark) bool {
	return !slices.ContainsFunc(marks, func(m mark) bool { return math.IsNaN(m.mean) || math.IsInf(m.mean, 0) || math.IsInf(m.half, 0) })
}

// marksOf are the dots of a finding: its units, or the mean of each of its readings if these have one unit.
func marksOf(f judge.Finding) (marks []mark, reference float64) {
	if f.Theirs != nil && f.Test == judge.KindNumber {
		reference = *f.Theirs
	}
	switch {
	case len(f.Units) > 0:
		for _, u := range f.Units {
			marks = append(marks, mark{u.Mean, u.Half, cmp.Or(unitSide(u), string(judge.Open))})
		}
	case len(f.Readings) > 0:
		for _, r := range f.Readings {
			e := r.Finding.Mean
			if e == nil && len(r.Finding.Units) == 1 {
				e = &r.Finding.Units[0].Estimate
			}
			if e == nil || r.Finding.Unit != f.Readings[0].Finding.Unit || r.Finding.Test == judge.KindNumber {
				return nil, 0
			}
			marks = append(marks, mark{e.Mean, e.Half, sideOfVerdict(r.Finding.Verdict)})
		}
	case f.Mean != nil:
		marks = []mark{{f.Mean.Mean, f.Mean.Half, sideOfVerdict(f.Verdict)}}
	}
	if !finite(marks) || math.IsNaN(reference) || math.IsInf(reference, 0) {
		return nil, 0
	}
	slices.SortStableFunc(marks, func(x, y mark) int { return cmp.Compare(x.mean, y.mean) })
	return marks, reference
}

// squaresOf are the sides of trials, of which a statement holds or not, or of readings.
func squaresOf(f judge.Finding) []string {
	var out []string
	for _, r := range f.Readings {
		out = append(out, sideOfVerdict(r.Finding.Verdict))
	}
	if f.Test == judge.KindHolds {
		for i := range f.Trials {
			side := judge.For
			if slices.Contains(f.Failing, i) {
				side = judge.Against
			}
			out = append(out, string(side))
		}
	}
	return out
}

// stripOf draws a finding beside its claim: dots with their 95 % intervals about zero, or the printed number, or a
// square per trial or reading.
func stripOf(f judge.Finding) template.HTML {
	const width, height = 150.0, 22.0
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="strip" role="img" aria-label="%s">`, template.HTMLEscapeString(cut(cmp.Or(f.Ours, string(f.Verdict)), 80)))
	if marks, reference := marksOf(f); len(marks) > 0 {
		s := scaleOf(marks, reference, width)
		s.reference(&b, reference, height)
		for i, m := range marks {
			s.draw(&b, m, height*(float64(i)+.5)/float64(len(marks)), max(1.2, min(3, height/float64(len(marks))/2)))
		}
	} else if squares := squaresOf(f); len(squares) > 0 {
		step := min(11, width/float64(len(squares)))
		for i, side := range squares {
			fmt.Fprintf(&b, `<rect class="s-%s" x="%.1f" y="6" width="%.1f" height="10" rx="1"/>`, side, float64(i)*step, max(.5, step-2))
		}
	}
	return template.HTML(b.String() + "</svg>")
}

// unitsOf draws the units of a finding, a line each.
func unitsOf(f judge.Finding) template.HTML {
	if len(f.Units) == 0 {
		return ""
	}
	const width, height = 180.0, 14.0
	var marks []mark
	for _, u := range f.Units {
		marks = append(marks, mark{u.Mean, u.Half, cmp.Or(unitSide(u), string(judge.Open))})
	}
	ok, s := finite(marks), scale{}
	if ok {
		s = scaleOf(marks, 0, width)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<table class="units"><thead><tr><th>unit</th><th>against 0</th><th>%s</th><th>counts as</th></tr></thead><tbody>`, template.HTMLEscapeString(unitHead(f)))
	for i, u := range f.Units {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>", template.HTMLEscapeString(u.Name))
		if ok {
			fmt.Fprintf(&b, `<svg class="strip s-%s">`, marks[i].side)
			s.reference(&b, 0, height)
			s.drawPlain(&b, marks[i], height/2, 3)
			b.WriteString("</svg>")
		}
		fmt.Fprintf(&b, `</td><td>%s</td><td class="s-%s">%s</td></tr>`+"\n", estimate(u.Estimate), marks[i].side, template.HTMLEscapeString(unitSide(u)))
	}
	return template.HTML(b.String() + "</tbody></table>")
}

// readingsOf tells the findings of readings one after another.
func readingsOf(f judge.Finding) template.HTML {
	var b strings.Builder
	for _, r := range f.Readings {
		fmt.Fprintf(&b, `<div class="reading"><p><strong>%s</strong> <span class="verdict %s">%s</span>`, template.HTMLEscapeString(r.Name), verdictClass(r.Finding.Verdict), template.HTMLEscapeString(string(r.Finding.Verdict)))
		if r.Afterwards != "" {
			b.WriteString(` <span class="muted">` + template.HTMLEscapeString(judge.WordsAfterwards(r.Afterwards)) + "</span>")
		}
		b.WriteString("</p>\n")
		for _, line := range []string{r.Finding.Ours, reportWhy(r.Finding)} {
			if line != "" && (len(r.Finding.Readings) == 0 || line != r.Finding.Ours) {
				b.WriteString("<p>" + template.HTMLEscapeString(line) + "</p>\n")
			}
		}
		b.WriteString(string(unitsOf(r.Finding)) + string(readingsOf(r.Finding)) + "</div>\n")
	}
	return template.HTML(b.String())
}
