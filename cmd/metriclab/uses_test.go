package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// useKinds fits a model of each kind, and has what each verb is given with it; "" where a verb has no meaning.
var useKinds = []struct{ fit, predict, neighbours, transform, plot string }{
	{"fit train.csv --label class --learner fda --out m.json", "new.csv --train train.csv", "new.csv --train train.csv --id x", "new.csv", "new.csv"},
	{"fit --vectors X.npy --pairs pairs.csv --learner itml --out m.json", "--vectors X.npy --train X.npy --labels all.csv", "--vectors X.npy --rows 0,7", "--vectors X.npy", "--vectors X.npy --labels all.csv"},
	{"fit --gram k0.csv --labels l.csv --learner kernel-fda --out m.json", "--cross-gram k1.csv --labels l.csv", "--cross-gram k1.csv --labels l.csv", "--cross-gram k1.csv", "--cross-gram k0.csv --labels l.csv"},
	{"fit --triplets t.csv --learner ste --out m.json --coordinates z.csv", "", "--k 3", "--dim 2", " "},
}

// Each verb that has a meaning for a kind of model answers as CSV and, with the same numbers, as JSON; one that has none says what has.
func TestUses(t *testing.T) {
	everyFile(t)
	c := newCommand(toys(nil))
	run := func(line string, code int) string {
		t.Helper()
		if got := c.run(strings.Fields(line)...); got != code {
			t.Errorf("%s: exit code %d, want %d: %s", line, got, code, c.err.String())
		}
		return c.out.String()
	}
	for _, kind := range useKinds {
		run(kind.fit, exitOK)
		for verb, given := range map[string]string{"predict": kind.predict, "neighbours": kind.neighbours, "transform": kind.transform} {
			line := verb + " " + given + " --model m.json"
			if given == "" {
				run(verb+" new.csv --train train.csv --model m.json", exitFailed)
				if !strings.Contains(c.err.String(), "is for neighbours, transform and plot") {
					t.Errorf("%s after %s: %s", verb, kind.fit, c.err.String())
				}
				continue
			}
			text := run(line, exitOK)
			rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			var got struct {
				Schema  int
				Columns []string
				Rows    [][]any
				Notes   []string
			}
			answer := run(line+" --json", exitOK)
			d := json.NewDecoder(strings.NewReader(answer))
			d.UseNumber()
			if err := d.Decode(&got); err != nil || d.More() || got.Schema != jsonSchema || !strings.HasPrefix(answer, "{\n\"schema\": 1,") || got.Notes == nil {
				t.Fatalf("%s --json: %v\n%s", line, err, answer)
			}
			same := slices.Equal(got.Columns, rows[0]) && len(got.Rows) == len(rows)-1 && len(rows) > 1
			for i, row := range got.Rows {
				var cells []string
				for _, cell := range row {
					cells = append(cells, fmt.Sprint(cell))
				}
				same = same && slices.Equal(cells, rows[i+1])
			}
			if !same {
				t.Errorf("%s: CSV and JSON differ:\n%s%s", line, text, answer)
			}
			if run(line+" --json --out a.json", exitOK) != "" || readTest(t, "a.json") != answer {
				t.Errorf("%s --json --out: another answer", line)
			}
		}
		var drawn plotted
		if err := json.Unmarshal([]byte(run("plot "+kind.plot+" --model m.json --out p.svg --json", exitOK)), &drawn); err != nil {
			t.Fatal(err)
		}
		if svg := readTest(t, "p.svg"); drawn.Schema != jsonSchema || drawn.File != "p.svg" || drawn.Points != drawn.Of || drawn.Points < 12 || len(drawn.Shares) != 2 || !strings.Contains(svg, "<svg") {
			t.Errorf("plot after %s: %+v", kind.fit, drawn)
		}
	}
	if fitted := readTest(t, "z.csv"); run("transform --model m.json", exitOK) != fitted {
		t.Error("transform writes other coordinates of objects than fit --coordinates")
	}
}

// Flags that are for another kind of input are refused before anything is read, and so is input that is missing.
func TestUseFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	writeTest(t, "t.csv", "")
	c := newCommand(toys(nil))
	for line, want := range map[string]string{
		"predict --model m":                                             "takes one table",
		"predict t.csv --model m":                                       "flag --train: no file given, want the table",
		"predict --vectors t --model m --labels t":                      "flag --train: no file given, want the .npy file",
		"predict --vectors t --model m --train t":                       "flag --labels: no file given, want the classes of the vectors",
		"predict --cross-gram t --model m":                              "flag --labels: no file given, want the classes of the objects",
		"predict --cross-gram t --vectors t --model m":                  "flag --cross-gram: not together with --vectors",
		"predict t.csv --vectors t --model m":                           "takes no table with --vectors",
		"predict --vectors= --train t --labels t --model m":             "flag --vectors: no file given",
		"predict --cross-gram t --labels t --model m --train t":         "flag --train: not together with --cross-gram: it is for tables and --vectors",
		"predict t.csv --train t.csv --model m --json --guard-formulas": "flag --guard-formulas: not together with --json",
		"neighbours t.csv --train t.csv --model m --rows 1":             "flag --rows: only together with --vectors",
		"neighbours --train t.csv --model m":                            "flag --train: it is for tables, and none is given",
		"neighbours --vectors t --model m":                              "flags --queries and --rows: want one of them",
		"neighbours --vectors t --model m --queries t --rows 1":         "flags --queries and --rows: want one of them",
		"neighbours --vectors t --rows 1 --model m --separator comma":   "flag --separator: not together with --vectors: it is for tables",
		"neighbours --model m --k 0":                                    "flag --k: 0 is not allowed",
		"transform t.csv --model m --dim 2":                             "flag --dim: only together with models of fit --triplets",
		"transform t.csv --model m --self-gram t":                       "flag --self-gram: only together with --cross-gram",
		"transform --cross-gram t --model m --kernel-out k":             "flag --kernel-out: only together with --self-gram",
		"transform --model m --dim 0":                                   "flag --dim: 0 is not allowed",
		"transform --model m --npy z.npy --json":                        "flag --json: not with --npy alone",
		"transform --vectors t --model m --guard-formulas":              "flag --guard-formulas: not together with --vectors",
		"plot --model m --labels t --out p.svg":                         "flag --labels: it is for tables and --vectors and --cross-gram, and none is given",
		"plot --metric m --vectors t --out p.svg":                       "flag --vectors: not together with --metric",
		"plot --vectors t --cross-gram t --model m --out p.svg":         "not together with --vectors",
		"plot --vectors t --model m --out t":                            "want a file name that ends in .png or .svg",
	} {
		if code := c.run(strings.Fields(line)...); code != exitUsage || !strings.Contains(c.err.String(), want) || c.out.Len() > 0 {
			t.Errorf("%s: exit code %d: %s, want %s", line, code, c.err.String(), want)
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 1 {
		t.Errorf("files %v, error %v", files, err)
	}
}

// The time of a search among many rows is told before they are read, and who does not want to wait has read nothing.
func TestNearIsEstimated(t *testing.T) {
	t.Chdir(t.TempDir())
	head, row := strings.Repeat("x,", 52)+"class\n", strings.Repeat("1,", 52)+"a\n"
	for i := range 52 {
		head = strings.Replace(head, "x,", fmt.Sprintf("c%d,", i), 1)
	}
	writeTest(t, "few.csv", head+row+strings.Repeat("2,", 52)+"b\n")
	writeTest(t, "new.csv", head+strings.Repeat(row, 100_000))
	writeTest(t, "train.csv", head+"1,2\n"+strings.Repeat(row, 100_000))
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit few.csv --label class --learner euclidean --no-standardise --out m.json")...); code != exitOK {
		t.Fatal(c.err.String())
	}
	for verb, what := range map[string]string{"predict": "classes", "neighbours": "neighbours"} {
		code := c.run(verb, "new.csv", "--model", "m.json", "--train", "train.csv")
		said := what + " of about 99"
		if got := c.err.String(); !strings.HasPrefix(got, said) || !strings.Contains(got, " rows among about 99") || !strings.Contains(got, "estimate") || code != exitFailed {
			t.Errorf("%s: exit code %d: %s", verb, code, got)
		}
		if code := c.run(verb, "few.csv", "--model", "m.json", "--train", "train.csv"); code != exitFailed || strings.Contains(c.err.String(), "estimate") {
			t.Errorf("%s of few: exit code %d: %s", verb, code, c.err.String())
		}
	}
}
