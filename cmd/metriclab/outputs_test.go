package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"metriclab/internal/printable"
)

// Each flag that names a file to write takes "-" for standard output, which the command writes to without the flag, or refuses it.
func TestOutputDash(t *testing.T) {
	inGram(t)
	writeTest(t, "t.csv", tableFiles["letters.csv"])
	writeTest(t, "tri.csv", "a,near,far\nc,d,e\nd,e,c\nc,e,d\n")
	c := newCommand(toys(nil))
	for _, line := range []string{
		"fit t.csv --label class --learner fda --out m.json", "fit --gram k0.csv --constraints c.jsonl --learner spectral --param spectrum=0,1 --out g.json", "run lines --jobs 1 --results r",
	} {
		c.run(strings.Fields(line)...)
	}
	const fit = "fit t.csv --label class --learner fda --out m2.json "
	lines := map[string][]string{ // of each flag
		"fit --out":              {"fit t.csv --label class --learner fda --out -", "fit --triplets tri.csv --learner ste --out -", "fit --gram k0.csv --constraints c.jsonl --learner spectral --out -"},
		"fit --factor-npy":       {fit + "--factor-npy -"},
		"fit --matrix-npy":       {fit + "--matrix-npy -"},
		"fit --coordinates":      {"fit --triplets tri.csv --learner ste --coordinates -"},
		"fit --kernel-out":       {"fit --gram k0.csv --constraints c.jsonl --learner spectral --out g2.json --kernel-out -"},
		"compare --figure":       {"compare t.csv --label class --learners fda --figure -"},
		"compare --resume":       {"compare t.csv --label class --learners fda --resume -"},
		"transform --npy":        {"transform t.csv --model m.json --npy -", "transform t.csv --model m.json --out - --npy z.npy"},
		"transform --kernel-out": {"transform --model g.json --cross-gram k0.csv --self-gram k0.csv --kernel-out -"},
		"plot --out":             {"plot t.csv --model m.json --out -"},
		"learn --save":           {"learn --learner pola --save -"},
		"transform --out":        {"transform t.csv --model m.json"},
		"predict --out":          {"predict t.csv --model m.json --train t.csv --k 1"},
		"neighbours --out":       {"neighbours t.csv --model m.json --train t.csv --k 1"},
	}
	for _, all := range lines {
		toStdout := !strings.HasSuffix(all[0], " -")
		for _, line := range all {
			if !toStdout {
				if code := c.run(strings.Fields(line)...); code != exitUsage || c.out.Len() > 0 || !strings.Contains(c.err.String(), "-") {
					t.Errorf("%s: exit code %d: %s%s", line, code, c.out.String(), c.err.String())
				}
				continue
			}
			if code := c.run(strings.Fields(line)...); code != exitOK {
				t.Fatalf("%s: %s", line, c.err.String())
			}
			want := c.out.String()
			if code := c.run(append(strings.Fields(line), "--out", "-")...); code != exitOK || c.out.String() != want || want == "" {
				t.Errorf("%s --out -: exit code %d: %s%s", line, code, c.out.String(), c.err.String())
			}
		}
	}
	for _, name := range []string{"-", "m2.json", "g2.json", "z.npy"} {
		if _, err := os.Lstat(name); err == nil {
			t.Errorf("there is a file %s", name)
		}
	}
	// No flag is forgotten: the text of each says that it is for a file to write.
	for _, command := range c.app.root().Commands() {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if name := command.Name() + " --" + f.Name; writesFile(f) && lines[name] == nil {
				t.Errorf("%s is not tried", name)
			}
		})
	}
}

func writesFile(f *pflag.Flag) bool {
	return strings.Contains(f.Usage, "file for") || f.Name == "resume" && f.Value.Type() == "string"
}

// All files are written, or none.
func TestWriteOutputs(t *testing.T) {
	t.Chdir(t.TempDir())
	writeTest(t, "old", "old")
	text := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	fails := func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(err, errors.New("no more"))
	}
	if err := writeOutputs(output{"old", text}, output{"", fails}, output{"b", fails}); err == nil || err.Error() != "b is not written: no more" {
		t.Errorf("error %v", err)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 1 || readTest(t, "old") != "old" {
		t.Errorf("%v, %v", files, err)
	}
	if err := writeOutputs(output{"old", text}, output{"b", text}); err != nil || readTest(t, "old")+readTest(t, "b") != "newnew" {
		t.Errorf("error %v", err)
	}
	// A learner without a matrix leaves no model where its factor was asked for, too.
	inTables(t)
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit good.csv --label class --drop id --learner kernel-itml --pairs 20 --out m.json --factor-npy l.npy")...); code != exitFailed {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	if found, err := filepath.Glob("[lm].*"); err != nil || len(found) > 0 {
		t.Errorf("written: %q, %v", found, err)
	}
}

// What a killed process left beside an output is removed, by learn --save as well.
func TestOutputsAreSwept(t *testing.T) {
	for _, line := range []string{"learn --learner pola --save m.json", "fit good.csv --label class --learner fda --out m.json"} {
		inTables(t)
		writeTest(t, ".metriclab-1.tmp", "left")
		old := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(".metriclab-1.tmp", old, old); err != nil {
			t.Fatal(err)
		}
		c := newCommand(toys(nil))
		c.app.in = strings.NewReader(`{"x":[1],"y":[2],"label":1}` + "\n")
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Errorf("%s: exit code %d: %s", line, code, c.err.String())
		}
		if left, err := filepath.Glob(".metriclab-*"); err != nil || len(left) > 0 {
			t.Errorf("%s: left are %q, %v", line, left, err)
		}
	}
}

// No message is longer than a screen, however many or long the names are.
func TestMessagesFitAScreen(t *testing.T) {
	t.Chdir(t.TempDir())
	var head, words, numbers strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&head, "column_%d,", i)
		fmt.Fprintf(&words, "w%d,", i)
		fmt.Fprintf(&numbers, "%d,", i*i%13)
	}
	long := strings.Repeat("long", 5000)
	row := numbers.String() + "a\n" + numbers.String() + "b\n"
	writeTest(t, "wide.csv", head.String()+"class\n"+row+row)
	writeTest(t, "words.csv", head.String()+"class\n"+words.String()+"a\n"+words.String()+"b\n")
	writeTest(t, "t.csv", "column_0,column_1,class\n0,5,a\n1,3,a\n2,4,b\n4,1,b\n")
	writeTest(t, "name.csv", long+","+long+"2,class\n0,5,a\n1,3,a\n2,x,b\n4,1,b\n")
	c := newCommand(toys(nil))
	if code := c.run(strings.Fields("fit t.csv --label class --learner fda --out m.json")...); code != exitOK {
		t.Fatal(c.err.String())
	}
	for _, line := range []string{
		"transform wide.csv --model m.json", "transform words.csv --model m.json", "fit wide.csv --label gone --learner fda --out x", "fit wide.csv --label class --drop gone --learner fda --out x", "fit words.csv --label class --learner fda --out x", "fit words.csv --label class --one-hot gone --learner fda --out x",
		"fit name.csv --label class --learner fda --out x", "fit LONG --label class --learner fda --out x", "fit t.csv --label LONG --learner fda --out x", "fit t.csv --label class --learner LONG --out x", "fit t.csv --label class --learner fda --out LONG", "fit t.csv --label class --learner fda --param LONG=1 --out x",
		"LONG", "--LONG", "run LONG", "run --cell LONG", "learners LONG", "data get LONG", "fit t.csv --label class --learner fda --out x" + strings.Repeat(" extra", 3000), "run" + strings.Repeat(" gone", 3000), "data verify" + strings.Repeat(" gone", 3000),
	} {
		c.run(strings.Fields(strings.ReplaceAll(line, "LONG", long))...)
		if said := c.err.String(); said == "" || utf8.RuneCountInString(said) > printable.Characters+1 || strings.Count(said, "\n") > printable.Lines {
			t.Errorf("%.60s: %d characters in %d lines: %.300s", line, utf8.RuneCountInString(said), strings.Count(said, "\n"), said)
		}
	}
}
