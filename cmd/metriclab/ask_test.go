package main

import (
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/ask"
)

// What ask cannot do is refused before it serves.
func TestAskRefuses(t *testing.T) {
	files(t, map[string]string{"words.txt": "one\ntwo\nthree\nfour\n", "two.txt": "one\ntwo\n", "x.npy": npyOf(t, "<f8", "(3, 1)", []float64{1, 2, 3}), "t.csv": "0,1,2\n1,2,0\n"})
	writeTest(t, "nan.npy", npyOf(t, "<f8", "(4, 1)", []float64{1, math.NaN(), 3, 4}))
	for _, name := range []string{"empty", "answers", "strangers"} {
		if err := os.Mkdir(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeTest(t, filepath.Join("answers", "answers.csv"), "x,y\n")
	strangers := string(ask.KindCompare.Header()) + string(ask.KindCompare.Line([]string{"x", "y", "z"}, ask.Answer{Question: ask.Question{Items: [3]int{0, 1, 2}}, Said: 1}))
	writeTest(t, filepath.Join("strangers", "answers.csv"), strangers)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	say(t, []said{
		{"ask", 2, []string{"takes a folder of pictures or a file"}, nil},
		{"ask a b", 2, []string{"takes a folder of pictures or a file"}, nil},
		{"ask none.txt", 1, []string{"none.txt"}, nil},
		{"ask empty", 2, []string{"empty: ask: 0 items, want at least 3"}, nil},
		{"ask two.txt", 2, []string{"2 items, want at least 3"}, nil},
		{"ask words.txt --question odds --choose luck", 2, []string{`question "odds" is not allowed`, `choice "luck" is not allowed`}, nil},
		{"ask words.txt --question alike --choose ckl", 2, []string{"questions about two items, which are random"}, nil},
		{"ask words.txt --random 2", 2, []string{"a share of 2"}, nil},
		{"ask words.txt --code abcd", 2, []string{"flag --code: only with --listen for others"}, nil},
		{"ask words.txt --listen :0 --code abc", 2, []string{"flag --code: 3 characters are not allowed"}, nil},
		{"ask words.txt --listen :0 --code abcdefghijklmnopqrstu", 2, []string{"flag --code: 21 characters are not allowed"}, nil}, // more than the page takes
		{"ask words.txt --listen :0 --code abcd\x01", 2, []string{"flag --code: blanks around it"}, nil},
		{"ask words.txt --host https://room.example --host room.example:443", 2, []string{`flag --host: "https://room.example"`, `flag --host: "room.example:443"`}, nil},
		{"ask words.txt --listen bad --out none", 2, []string{"flag --listen: address bad: missing port"}, nil},
		{"ask words.txt --listen :99999 --out none", 2, []string{"flag --listen: address 99999: invalid port"}, nil},
		{"ask words.txt --listen " + taken.Addr().String() + " --out none", 1, []string{"listen tcp " + taken.Addr().String()}, nil},
		{"ask words.txt --vectors nan.npy --out none", 1, []string{"nan.npy: row 1, column 0: NaN"}, nil},
		{"ask words.txt --out strangers", 2, []string{"no answer in " + filepath.Join("strangers", "answers.csv") + " is about items of words.txt"}, nil},
		{"ask words.txt --flip .1 --trials 3", 2, []string{"flag --trials: only together with --simulate", "flag --flip: only together with --simulate"}, nil},
		{"ask words.txt --vectors x.npy", 1, []string{"x.npy: 3 vectors, want one for each of 4 items"}, nil},
		{"ask words.txt --vectors -", 2, []string{"read again at the end"}, nil},
		{"ask words.txt --ids words.txt", 2, []string{"--ids: only together with --vectors"}, nil},
		{"ask words.txt", 1, []string{"answers.csv:1: columns x,y, want a,near,far", "another kind, or of another program"}, nil},
		{"ask words.txt --simulate x.npy --listen :0", 2, []string{"takes no folder or file", "flag --listen: not together with --simulate"}, nil},
		{"ask --simulate x.npy --choose random", 1, []string{"want another one"}, nil},
		{"ask --simulate t.csv", 1, []string{"answers to 2 questions, want at least 10"}, nil},
	})
	if raw, err := os.ReadFile(filepath.Join("strangers", "answers.csv")); err != nil || string(raw) != strangers || exists("none") || exists(filepath.Join("strangers", "items.txt")) {
		t.Errorf("what is refused leaves something: %q, %v", raw, err)
	}
}

// A simulation ends with one sentence on whether choosing pays.
func TestAskSimulate(t *testing.T) {
	files(t, map[string]string{"x.npy": npyOf(t, "<f8", "(6, 1)", []float64{1, 2, 4, 8, 16, 32})})
	c := newCommand(toys(nil))
	if code := c.run("ask", "--simulate", "x.npy", "--answers", "40", "--trials", "6"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, c.err.String())
	}
	lines := strings.Split(strings.TrimSpace(c.out.String()), "\n")
	if len(lines) != 11 || !strings.HasPrefix(lines[1], "5 ") || !strings.HasPrefix(lines[8], "40 ") || !strings.Contains(lines[10], "6 pairs of trials") {
		t.Errorf("%s", c.out.String())
	}
}

// What cannot be written is named before anybody is asked.
func TestAskUnwritable(t *testing.T) {
	files(t, map[string]string{"words.txt": "one\ntwo\nthree\n"})
	if err := os.MkdirAll(filepath.Join("answers", "answers.csv"), 0o755); err != nil {
		t.Fatal(err)
	}
	say(t, []said{{"ask words.txt", 1, []string{filepath.Join("answers", "answers.csv")}, nil}})
}

// A folder without answers that has files of the names written there is somebody else's.
func TestAskForeignFolder(t *testing.T) {
	files(t, map[string]string{"words.txt": "one\ntwo\nthree\n"})
	for _, name := range []string{"items.txt", "comparisons.csv", "coordinates.csv", "map.json", "map.svg", "metric.json"} {
		if err := os.MkdirAll(name+".d", 0o755); err != nil {
			t.Fatal(err)
		}
		theirs := filepath.Join(name+".d", name)
		if err := os.WriteFile(theirs, []byte("theirs"), 0o644); err != nil {
			t.Fatal(err)
		}
		say(t, []said{{"ask words.txt --out " + name + ".d", 2, []string{theirs + " is there", "want another folder"}, nil}})
		if all, err := os.ReadDir(name + ".d"); err != nil || len(all) != 1 {
			t.Errorf("%d files beside %s, %v", len(all)-1, theirs, err)
		}
		if raw, err := os.ReadFile(theirs); err != nil || string(raw) != "theirs" {
			t.Errorf("%s: %q, %v", theirs, raw, err)
		}
	}
}
