package plots

import (
	"strings"
	"testing"
)

func TestMarkdownTable(t *testing.T) {
	table := TextTable{
		Head: []string{"method", "error (%)", "remark"},
		Rows: [][]string{{"a_b", "1.2 ± 0.3", "x|y"}, {"*c*", "−12", "two\nlines"}, {"short"}},
	}
	want := strings.Join([]string{
		`| method | error (%) | remark       |`,
		`| ------ | --------: | ------------ |`,
		`| a\_b   | 1.2 ± 0.3 | x\|y         |`,
		`| \*c\*  |       −12 | two<br>lines |`,
		`| short  |           |              |`,
		``,
	}, "\n")
	if got := table.Markdown(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A cell must not be able to end its cell, its row or the table.
func TestMarkdownCellsStayCells(t *testing.T) {
	nasty := []string{"|", "a\nb", "\r\n", `\`, `\|`, "`|`", "<td>", "[x](y)", "&#124;"}
	got := TextTable{Head: []string{"nasty", "second"}, Rows: func() (rows [][]string) {
		for _, s := range nasty {
			rows = append(rows, []string{s, "end"})
		}
		return rows
	}()}.Markdown()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != len(nasty)+2 {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(nasty)+2, got)
	}
	for i, l := range lines {
		l = strings.ReplaceAll(l, `\\`, "")
		if n := strings.Count(l, "|") - strings.Count(l, `\|`); n != 3 {
			t.Errorf("line %d has %d cell borders, want 3: %s", i, n, l)
		}
		if i >= 2 && strings.Contains(l, "<td>") {
			t.Errorf("line %d has mark-up: %s", i, l)
		}
	}
}

func TestMarkdownRefusesLongRows(t *testing.T) {
	table := TextTable{Head: []string{"a"}, Rows: [][]string{{"1", "2"}}}
	_, err := Drawing{Text: &table}.Render("x", Options{})
	if err == nil || !strings.Contains(err.Error(), "Rows[0] has 2 cells, Head has 1") {
		t.Errorf("Render: got error %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Markdown did not panic")
		}
	}()
	table.Markdown()
}

// A drawing with only text has only the Markdown file, without an image.
func TestTextOnly(t *testing.T) {
	d := Drawing{Caption: Caption{Shows: "A [caption].", Intervals: "Over 6\ntrials*."}, Notes: []string{"One\nnote."}, Text: &TextTable{Head: []string{"a"}, Rows: [][]string{{"1"}}}}
	files, err := d.Render("x", Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "A \\[caption\\].\n\n**Intervals.** Over 6 trials\\*.\n\n- One note.\n\n|   a |\n| --: |\n|   1 |\n"
	if len(files) != 1 || files[0].Name != "x.md" || string(files[0].Data) != want {
		t.Errorf("got %d files, %s:\n%s\nwant x.md:\n%s", len(files), files[0].Name, files[0].Data, want)
	}
	if _, err := d.PNG(Options{}); err == nil {
		t.Error("PNG of a drawing without panels: no error")
	}
}

func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "One": "One", "As in Fig. 3 of it. Then more.": "As in Fig. 3 of it.", "One. ": "One. ", "Fehler. Über": "Fehler.",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// A column with a cell of more than widest characters is not padded.
func TestMarkdownWide(t *testing.T) {
	long := strings.Repeat("x", widest+1)
	got := TextTable{Head: []string{"a", "b"}, Rows: [][]string{{"one", long}, {"three", "y"}}}.Markdown()
	want := "| a     | b   |\n| ----- | --- |\n| one   | " + long + " |\n| three | y   |\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// What begins a caption or a note makes no heading, list or quotation of it.
func TestBlocks(t *testing.T) {
	d := Drawing{Text: &TextTable{Head: []string{"a"}}}
	for text, want := range map[string]string{
		"- a.": "\\- a.", "+ a.": "\\+ a.", "# a.": "\\# a.", "> a.": "\\> a.", "1. a.": "1\\. a.", "2) a.": "2\\) a.", "1.5 a.": "1.5 a.", "1-NN a.": "1-NN a.", "a - b.": "a - b.", "−1 a.": "−1 a.",
	} {
		d.Caption, d.Notes = Caption{Shows: text}, []string{text}
		files, err := d.Render("x", Options{})
		if got := string(files[0].Data); err != nil || !strings.HasPrefix(got, want+"\n\n- "+want+"\n\n") {
			t.Errorf("%q: got %q (error %v), want %q", text, got, err, want)
		}
	}
}

// Each field of a caption ends as a sentence does, and leaves its name to the drawing.
func TestCaptionFields(t *testing.T) {
	d := Drawing{Text: &TextTable{Head: []string{"a"}}}
	for _, ok := range []Caption{{}, {Shows: "Shown.", Data: " \n"}, {Shows: "Shown. ", Data: "Whose?", Protocol: "How!", Intervals: "Over 6 trials.", Ends: "None."}} {
		d.Caption = ok
		if _, err := d.Render("x", Options{}); err != nil {
			t.Errorf("%+v: %v", ok, err)
		}
	}
	for want, bad := range map[string]Caption{
		"Shows ends with": {Shows: "Shown"}, "Data ends with": {Shows: "Shown.", Data: "of rows"}, "Protocol ends with": {Protocol: "as printed:"},
		"Intervals ends with": {Intervals: "±"}, "Ends ends with": {Ends: "most (of 3)"},
		`Data begins with "Data:"`: {Data: "Data: rows."}, `Intervals begins with "Intervals:"`: {Intervals: " Intervals: none."},
	} {
		d.Caption = bad
		if _, err := d.Render("x", Options{}); err == nil || !strings.Contains(err.Error(), "Caption: field "+want) {
			t.Errorf("%+v: error %v, want %q", bad, err, want)
		}
	}
}
