package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// picture returns a white PNG whose first n pixels are black, as in a notebook.
func picture(t *testing.T, n int) json.RawMessage {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 100, 50))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for i := range n {
		img.SetGray(i%100, i/100, color.Gray{})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return quote(t, base64.StdEncoding.EncodeToString(b.Bytes())+"\n")
}

func quote(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// sound is a notebook without a fault.
func sound(t *testing.T) *notebook {
	one := 1
	figure := output{Type: "display_data", Data: map[string]json.RawMessage{"image/png": picture(t, 0), "text/plain": quote(t, "Figure")}}
	note := output{Type: "display_data", Data: map[string]json.RawMessage{"text/markdown": quote(t, []string{"one\n", "two"}), "text/plain": quote(t, "one")}}
	nb := &notebook{size: 1000, Cells: []cell{
		{Type: "markdown", Source: "# Title\n\ntext: `undefined: nb` and `expected declaration`"},
		{Type: "code", Source: setup + "    \"fmt\"\n)", Count: &one},
		{Type: "code", Source: "%%\nfmt.Println(1)", Count: &one, Outputs: []output{
			{Type: "stream", Name: "stdout", Text: "1\n2\n"}, figure, note, figure, figure,
		}},
	}}
	nb.Metadata.Metriclab.Figures = 3
	return nb
}

func TestSoundNotebook(t *testing.T) {
	if got := sound(t).problems(); got != nil {
		t.Errorf("problems = %q, want none", got)
	}
	if got := sound(t).differences(sound(t)); got != nil {
		t.Errorf("differences = %q, want none", got)
	}
}

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		what  string
		spoil func(*notebook)
		want  string
	}{
		{"error output", func(nb *notebook) {
			nb.Cells[2].Outputs = append(nb.Cells[2].Outputs, output{Type: "error", Error: "panic", Value: "runtime error\nstack"})
		}, "cell 3: panic: runtime error"},
		{"shell line that fails", func(nb *notebook) {
			nb.Cells[1].Outputs = []output{{Type: "stream", Name: "stderr", Text: "exit status 3\n"}}
		}, "cell 2: wrote to stderr: exit status 3"},
		{"missing figure", func(nb *notebook) {
			nb.Cells[2].Outputs = nb.Cells[2].Outputs[:4]
		}, "has 2 figures, want at least 3"},
		{"not executed", func(nb *notebook) { nb.Cells[2].Count = nil }, "cell 3: was not executed"},
		{"number of figures not said", func(nb *notebook) { nb.Metadata.Metriclab.Figures = 0 }, "does not say in its metadata"},
		{"other set-up cell", func(nb *notebook) { nb.Cells[1].Source = "!pwd" }, "cell 2: the first code cell is not the set-up cell"},
		{"more than imports", func(nb *notebook) { nb.Cells[1].Source += "\nvar x = 1" }, "cell 2: the first code cell is not the set-up cell"},
		{"mistakes", func(nb *notebook) { nb.Cells[0].Source = "# Title" }, "cell 1: does not say what to do after `undefined: nb`"},
		{"no code", func(nb *notebook) { nb.Cells = nb.Cells[:1] }, "has no code cell"},
		{"no title", func(nb *notebook) { nb.Cells[0].Source = "text" }, "the first cell is not a title"},
		{"path in the source", func(nb *notebook) { nb.Cells[0].Source += ` "/home/me/x"` }, "cell 1: its source has the path /home/me/x"},
		{"path in a stream", func(nb *notebook) { nb.Cells[2].Outputs[0].Text = "at /tmp/gonb_1/x.go" }, "cell 3: its output has the path /tmp/gonb_1/x.go"},
		{"path in Markdown", func(nb *notebook) {
			nb.Cells[2].Outputs[2].Data["text/markdown"] = json.RawMessage(`"see (/home/x)"`)
		}, "cell 3: its output has the path /home/x"},
		{"no plain form", func(nb *notebook) { delete(nb.Cells[2].Outputs[2].Data, "text/plain") }, "cell 3: an output has no text/plain"},
		{"tab", func(nb *notebook) { nb.Cells[2].Source = "%%\n\tfmt.Println(1)" }, "cell 3: has a tab"},
		{"long cell", func(nb *notebook) { nb.Cells[2].Source = text("%%" + strings.Repeat("\nx()", maxLines)) }, "cell 3: has 26 lines, want at most 25"},
		{"wide line", func(nb *notebook) { nb.Cells[2].Source = text("%%\n// " + strings.Repeat("é", maxColumns)) }, "cell 3: a line has 103 characters"},
		{"wide output", func(nb *notebook) {
			nb.Cells[2].Outputs[0].Text = text("{" + strings.Repeat("1", 200) + "}\n" + strings.Repeat("1", 101))
		}, "cell 3: prints a line of 101 characters"},
		{"long claim", func(nb *notebook) {
			nb.Cells[2].Source += "\nnb.ShowClaims(x)"
			nb.Cells[2].Outputs[2].Data["text/markdown"] = quote(t, "| short |\n| "+strings.Repeat("é", maxClaim)+" |\n")
		}, "cell 3: a claim has 204 characters, want at most 200"},
		{"too large", func(nb *notebook) { nb.size = maxBytes + 1 }, "want at most 3000000"},
	} {
		t.Run(c.what, func(t *testing.T) {
			nb := sound(t)
			c.spoil(nb)
			if got := strings.Join(nb.problems(), "\n"); !strings.Contains(got, c.want) {
				t.Errorf("problems = %q, want one with %q", got, c.want)
			}
		})
	}
}

// A page is compared image by image: one that moved by a pixel is equal, another one is not.
func TestPageDifference(t *testing.T) {
	page := func(black int, title string) string {
		var png string
		if err := json.Unmarshal(picture(t, black), &png); err != nil {
			t.Fatal(err)
		}
		return "<img src=\"" + strings.TrimSpace(png) + "\">\n<p>" + title + "</p>"
	}
	for _, c := range []struct{ got, want, says string }{
		{page(0, "one"), page(0, "one"), ""},
		{page(5, "one"), page(0, "one"), ""},
		{page(50, "one"), page(0, "one"), "image 1: 50 of 5000 pixels"},
		{page(0, "two"), page(0, "one"), "line 2"},
		{page(0, "one") + page(0, "one"), page(0, "one"), "has 2 images"},
	} {
		if d := pageDifference(c.got, c.want); (d == "") != (c.says == "") || !strings.Contains(d, c.says) {
			t.Errorf("%q, want %q", d, c.says)
		}
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*notebook)
		want   string // "" means no difference
	}{
		{"source", func(nb *notebook) { nb.Cells[2].Source += " " }, "cell 3: the source differs"},
		{"number of cells", func(nb *notebook) { nb.Cells = nb.Cells[:2] }, "has 2 cells, the committed notebook 3"},
		{"number of outputs", func(nb *notebook) { nb.Cells[2].Outputs = nb.Cells[2].Outputs[:4] }, "has 4 outputs, the committed cell 5"},
		{"stream", func(nb *notebook) { nb.Cells[2].Outputs[0].Text = "1\n3\n" }, `line 2 is "3", the committed one "2"`},
		{"stream in other pieces and places", func(nb *notebook) {
			o := nb.Cells[2].Outputs
			nb.Cells[2].Outputs = []output{o[1], {Type: "stream", Name: "stdout", Text: "1\n"}, o[2], {Type: "stream", Name: "stdout", Text: "2\n"}, o[3], o[4]}
		}, ""},
		{"stderr for stdout", func(nb *notebook) { nb.Cells[2].Outputs[0].Name = "stderr" }, "is stream stderr, the committed one stream stdout"},
		{"Markdown", func(nb *notebook) {
			nb.Cells[2].Outputs[2].Data["text/markdown"] = json.RawMessage(`"one\ntoo"`)
		}, `line 2 is "too", the committed one "two"`},
		{"Markdown as one string", func(nb *notebook) {
			nb.Cells[2].Outputs[2].Data["text/markdown"] = json.RawMessage(`"one\ntwo"`)
		}, ""},
		{"type", func(nb *notebook) {
			nb.Cells[2].Outputs[2].Data = map[string]json.RawMessage{"text/html": json.RawMessage(`"one"`), "text/plain": json.RawMessage(`"one"`)}
		}, "the committed output has no such type"},
		{"more types", func(nb *notebook) {
			nb.Cells[2].Outputs[2].Data["text/html"] = json.RawMessage(`"one"`)
		}, "has other types than"},
		{"value that is not text", func(nb *notebook) {
			nb.Cells[2].Outputs[2].Data["text/markdown"] = json.RawMessage(`{"a":1}`)
		}, "the values are not equal"},
		{"image within round-off", func(nb *notebook) { nb.Cells[2].Outputs[1].Data["image/png"] = picture(t, 5) }, ""},
		{"image", func(nb *notebook) { nb.Cells[2].Outputs[1].Data["image/png"] = picture(t, 6) }, "6 of 5000 pixels"},
		{"damaged image", func(nb *notebook) { nb.Cells[2].Outputs[1].Data["image/png"] = json.RawMessage(`"AAAA"`) }, "not a PNG"},
		{"no base64", func(nb *notebook) { nb.Cells[2].Outputs[1].Data["image/png"] = json.RawMessage(`"?"`) }, "not base64"},
	} {
		t.Run(c.what, func(t *testing.T) {
			nb := sound(t)
			c.change(nb)
			got := strings.Join(nb.differences(sound(t)), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("differences = %q, want %q", got, c.want)
			}
		})
	}
}

func TestCloseNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"sqdist":1.7631024945235576}`, `{"sqdist":1.7631024945235578}`, true},
		{`{"sqdist":1.7631024945235576}`, `{"sqdist":1.7631024}`, false},
		{`{"sqdist":1.7631024945235576}`, `{"loss":1.7631024945235576}`, false},
		{"1.5e-20 of 2.0", "1.5000000000001e-20 of 2.0", true},
		{"1.5e-20", "1.5e-21", false},
		{"d = 1.5", "d = -1.5", false},
		{"7 of 30", "8 of 30", false}, // counts are exact
		{"1.0 2.0", "1.0", false},
	} {
		if got := closeNumbers(c.a, c.b); got != c.want {
			t.Errorf("closeNumbers(%q, %q) = %t, want %t", c.a, c.b, got, c.want)
		}
	}
}

func TestImageOfOtherSize(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 4))); err != nil {
		t.Fatal(err)
	}
	nb := sound(t)
	nb.Cells[2].Outputs[1].Data["image/png"] = quote(t, base64.StdEncoding.EncodeToString(b.Bytes()))
	if got := strings.Join(nb.differences(sound(t)), ""); !strings.Contains(got, "size (3,4), the committed one (100,50)") {
		t.Errorf("differences = %q, want the two sizes", got)
	}
}

func TestParse(t *testing.T) {
	nb, err := parse([]byte(`{"cells":[{"cell_type":"markdown","source":["# A\n","b"]},{"cell_type":"code","source":"x","execution_count":2,
		"outputs":[{"output_type":"stream","name":"stdout","text":["1\n","2\n"]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := nb.Cells[0].Source; got != "# A\nb" {
		t.Errorf("source = %q, want the lines joined", got)
	}
	if c := nb.Cells[1]; c.Source != "x" || *c.Count != 2 || c.Outputs[0].Text != "1\n2\n" {
		t.Errorf("code cell = %+v", c)
	}
	if _, err := parse([]byte(`{"cells":[{"source":3}]}`)); err == nil {
		t.Error("a source that is a number gives no error")
	}
}

// TestCommittedNotebooks checks what is in the folder: the committed outputs of every
// notebook are those of a sound run.
func TestCommittedNotebooks(t *testing.T) {
	files, err := filepath.Glob("../*.ipynb")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d notebooks (error %v)", len(files), err)
	}
	for _, f := range files {
		nb, err := read(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range nb.problems() {
			t.Errorf("%s: %s", filepath.Base(f), p)
		}
	}
}

func TestReadErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.ipynb")
	if _, err := read(path); err == nil {
		t.Error("a missing file gives no error")
	}
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v does not name the file", err)
	}
}
