package plots

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"metriclab/internal/printable"
)

// check refuses rows of the wrong length.
func (t TextTable) check() error {
	if len(t.Head) == 0 {
		return fmt.Errorf("field Head is empty, want at least one column")
	}
	for i, row := range t.Rows {
		if len(row) != len(t.Head) {
			return fmt.Errorf("field Rows[%d] has %d cells, Head has %d", i, len(row), len(t.Head))
		}
	}
	return nil
}

// widest is the width up to which a column of Markdown is padded: nobody reads a wider one aligned, and it would be mostly spaces.
const widest = 1000

// Markdown returns the table in GitHub's Markdown, columns of numbers to the
// right. Cells are plain text: characters with a meaning in Markdown are
// escaped. Short rows are filled with empty cells; it panics if a row is
// longer than Head.
func (t TextTable) Markdown() string {
	n := len(t.Head)
	lines := [][]string{make([]string, n)}
	for c, s := range t.Head {
		lines[0][c] = escapeCell(s)
	}
	right := make([]bool, n)
	for c := range right {
		right[c] = len(t.Rows) > 0
	}
	for i, row := range t.Rows {
		if len(row) > n {
			panic(fmt.Sprintf("plots: Rows[%d] has %d cells, Head has %d", i, len(row), n))
		}
		line := make([]string, n)
		for c, s := range row {
			line[c] = escapeCell(s)
		}
		for c := range right {
			right[c] = right[c] && (line[c] == "" || numeric(line[c]))
		}
		lines = append(lines, line)
	}
	width := make([]int, n)
	for c := range width {
		width[c] = 3
		for _, line := range lines {
			width[c] = max(width[c], utf8.RuneCountInString(line[c]))
		}
		if width[c] > widest {
			width[c] = 3
		}
	}
	var b strings.Builder
	for i, line := range lines {
		for c, s := range line {
			pad := strings.Repeat(" ", max(width[c]-utf8.RuneCountInString(s), 0))
			if right[c] {
				s = pad + s
			} else {
				s += pad
			}
			b.WriteString("| " + s + " ")
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for c := range line {
			if right[c] {
				b.WriteString("| " + strings.Repeat("-", width[c]-1) + ": ")
			} else {
				b.WriteString("| " + strings.Repeat("-", width[c]) + " ")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// numeric reports whether a cell starts with a number, as "12.5" and
// "1.2 ± 0.3" do.
func numeric(cell string) bool {
	first, _, _ := strings.Cut(cell, " ")
	first = strings.TrimSuffix(strings.Replace(first, "−", "-", 1), "%")
	_, err := strconv.ParseFloat(first, 64)
	return err == nil
}

// escaper makes characters literal that Markdown would take as mark-up.
var escaper = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;", "|", `\|`, "~", `\~`, "$", `\$`)

func escapeText(s string) string { return escaper.Replace(printable.Text(s)) }

// blockStart makes a heading, a list or a quotation of the line that it begins.
var blockStart = regexp.MustCompile(`^(?:([-+#>])|(\d+)([.)] ))`)

// escapeLine makes a text one line, which is nothing but text.
func escapeLine(s string) string {
	return blockStart.ReplaceAllString(escapeText(oneLine(s)), `$2\$1$3`)
}

func escapeCell(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimSpace(s))
	return strings.ReplaceAll(escapeText(s), "\n", "<br>")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// firstSentence ends at a full stop before a capital, which that of "Fig. 3"
// is not.
func firstSentence(s string) string {
	for i := 0; i+2 < len(s); i++ {
		if r, _ := utf8.DecodeRuneInString(s[i+2:]); s[i:i+2] == ". " && unicode.IsUpper(r) {
			return s[:i+1]
		}
	}
	return s
}

// markdown returns the text that goes with the images.
func (d Drawing) markdown(name string, warnings []string, o Options) []byte {
	var blocks []string
	if o.Watermark != "" {
		blocks = append(blocks, "> "+escapeLine(o.Watermark))
	}
	if len(d.Panels) > 0 {
		blocks = append(blocks, fmt.Sprintf("![%s](%s.svg)", escapeText(firstSentence(oneLine(d.Caption.String()))), name))
	}
	if len(d.Frames) > 0 {
		blocks = append(blocks, fmt.Sprintf("![Animation. %s](%s.gif)", escapeText(firstSentence(oneLine(d.Caption.String()))), name))
	}
	for _, p := range d.Caption.parts() {
		blocks = append(blocks, p.label("**%s.** ")+escapeLine(p.text))
	}
	var list []string
	for _, w := range warnings {
		list = append(list, "- "+escapeLine(w))
	}
	if list != nil {
		blocks = append(blocks, strings.Join(list, "\n"))
	}
	if d.Text != nil {
		blocks = append(blocks, strings.TrimSuffix(d.Text.Markdown(), "\n"))
	}
	return []byte(strings.Join(blocks, "\n\n") + "\n")
}
