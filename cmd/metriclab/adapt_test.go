package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/pkg/adapt"
)

// inCorpus makes documents and queries of six topics, which three of eight numbers tell, with judgements, clicks, pairs and comparisons, in an empty working folder. Those of
// noise.tsv say nothing.
func inCorpus(t *testing.T) *command {
	t.Helper()
	t.Chdir(t.TempDir())
	const documents, queries, d, kinds = 240, 90, 8, 6
	rng := rand.New(rand.NewPCG(42, 1))
	vector := func(kind int) string {
		cells := make([]string, d)
		for j := range cells {
			v := 1.6 * rng.NormFloat64()
			if j < 3 {
				v = 1.5*float64((kind>>j)&1) + .3*rng.NormFloat64() - .7
			}
			cells[j] = fmt.Sprintf("%.4f", v)
		}
		return "[" + strings.Join(cells, ",") + "]"
	}
	kind := func(i int) int { return i % kinds }
	files := map[string]*strings.Builder{}
	say := func(name, format string, values ...any) {
		if files[name] == nil {
			files[name] = &strings.Builder{}
		}
		fmt.Fprintf(files[name], format, values...)
	}
	for i := range documents {
		v := vector(kind(i))
		say("d.txt", "d%d\t%s\n", i, v)
		say("d.jsonl", "{\"id\":\"d%d\",\"embedding\":%s}\n", i, v)
	}
	say("r.tsv", "query-id\tcorpus-id\tscore\n")
	say("noise.tsv", "query-id\tcorpus-id\tscore\n")
	other := func(same bool, of, not int) int {
		for {
			if i := rng.IntN(documents); i != not && (kind(i) == of) == same {
				return i
			}
		}
	}
	for q := range queries {
		say("q.txt", "q%d\t%s\n", q, vector(kind(q)))
		for r := range 2 {
			near, far := kind(q)+kinds*((3*q+17*r)%40), (kind(q)+1+r)%kinds+kinds*((5*q+13*r)%40)
			say("r.tsv", "q%d\td%d\t1\nq%d\td%d\t0\n", q, near, q, far)
			say("e.jsonl", `{"query":"q%d","shown":["d%d","d%d"],"clicked":["d%d"]}`+"\n", q, far, near, near)
		}
		a, b := rng.IntN(documents), rng.IntN(documents-1)
		if b >= a {
			b++
		}
		say("noise.tsv", "q%d\td%d\t1\nq%d\td%d\t0\n", q, a, q, b)
	}
	say("p.csv", "a,b,label\n")
	for range 300 {
		i := rng.IntN(documents)
		say("p.csv", "d%d,d%d,1\nd%d,d%d,-1\n", i, other(true, kind(i), i), i, other(false, kind(i), i))
		say("t.csv", "d%d,d%d,d%d\n", i, other(true, kind(i), i), other(false, kind(i), i))
	}
	for name, b := range files {
		writeTest(t, name, b.String())
	}
	return newCommand(toys(nil))
}

// From each kind of feedback to an adapter; the same vectors in another form give the same answer.
func TestAdapt(t *testing.T) {
	c := inCorpus(t)
	var first string
	for i, line := range []string{
		"--documents d.txt --queries q.txt --qrels r.tsv --learners oasis,itml --out a/b",
		"--documents d.jsonl --queries q.txt --qrels r.tsv --learners oasis,itml --out a/b",
		"--documents d.txt --queries q.txt --events e.jsonl --learners itml --out a/c",
		"--documents d.txt --pairs p.csv --learners itml,rca --out a/d",
		"--documents d.txt --triplets t.csv --learners itml --out a/e",
	} {
		args := append([]string{"adapt"}, strings.Fields(line)...)
		if code := c.run(args...); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", line, code, c.err.String())
		}
		if !strings.Contains(c.out.String(), "\ntake ") {
			t.Errorf("%s: no verdict in\n%s", line, c.out.String())
		}
		if i == 0 {
			first = c.out.String()
		} else if i == 1 && c.out.String() != first {
			t.Errorf("JSON lines: %s, want %s", c.out.String(), first)
		}
		for _, name := range adapt.Files() {
			if info, err := os.Stat(filepath.Join(args[len(args)-1], name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %s: %v", line, name, err)
			}
		}
		if code := c.run(append(args, "--json")...); code != exitOK {
			t.Fatal(c.err.String())
		}
		var j adaptedJSON
		if err := json.Unmarshal(c.out.Bytes(), &j); err != nil || j.Verdict != "take" || j.Out == "" || j.Ways[0].Search != "as it is" || j.Ways[j.Chosen].Learner == "" || j.Ways[2].Over["log_rank"].Half == nil {
			t.Errorf("%s: %+v, %v", line, j, err)
		}
	}
}

// Where nothing is better nothing is written, but for a way that is asked for.
func TestAdaptLeaves(t *testing.T) {
	c := inCorpus(t)
	line := "adapt --documents d.txt --queries q.txt --qrels noise.tsv --learners oasis --out a"
	if code := c.run(strings.Fields(line)...); code != exitOK || !strings.Contains(c.out.String(), "\nleave: ") || !strings.Contains(c.out.String(), "Nothing is written.") {
		t.Errorf("exit code %d: %s%s", code, c.out.String(), c.err.String())
	}
	if _, err := os.Stat("a"); err == nil {
		t.Error("the folder was made")
	}
	if code := c.run(strings.Fields(line + " --way oasis:query")...); code != exitOK || !strings.Contains(c.out.String(), "oasis, query map: map.npy") {
		t.Errorf("exit code %d: %s%s", code, c.out.String(), c.err.String())
	}
}

func TestAdaptRefused(t *testing.T) {
	c := inCorpus(t)
	if err := os.Mkdir("mine", 0o777); err != nil {
		t.Fatal(err)
	}
	writeTest(t, "mine/notes.txt", "mine\n")
	if err := os.MkdirAll("folder/map.npy", 0o777); err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{
		"":                                  "flag --documents: no file given",
		"--documents d.txt":                 "want one of them, got none",
		"--documents d.txt --queries q.txt": "want one of them, got none",
		"--documents d.txt --queries q.txt --qrels r.tsv --events e.jsonl":                            "want one of them, got --qrels, --events",
		"--documents d.txt --qrels r.tsv":                                                             "flag --queries: no file given",
		"--documents d.txt --queries q.txt --pairs p.csv":                                             "flag --queries: not together with --pairs",
		"--documents d.txt --queries q.txt --events e.jsonl --no-header":                              "not together with --events",
		"--documents - --queries - --qrels r.tsv":                                                     "want it once",
		"--documents d.txt --queries q.txt --qrels r.tsv --operator dot":                              `operator: "dot" is not allowed`,
		"--documents d.txt --queries q.txt --qrels r.tsv --learners fda":                              `learners: "fda" is not known`,
		"--documents d.txt --queries q.txt --qrels r.tsv --learners pa,pa":                            "pa is named twice",
		"--documents d.txt --queries q.txt --qrels r.tsv --folds 1":                                   "folds: 1 is not allowed",
		"--documents d.txt --queries q.txt --qrels r.tsv --k 0":                                       "flag --k: 0 is not allowed",
		"--documents d.txt --queries q.txt --qrels r.tsv --seed 0":                                    "flag --seed: 0 is not allowed",
		"--documents d.txt --queries q.txt --qrels r.tsv --way itml:query":                            "flag --way: only together with --out",
		"--documents d.txt --queries q.txt --qrels r.tsv --out a --way rca:query":                     "flag --way: rca is none of --learners",
		"--documents d.txt --queries q.txt --qrels r.tsv --out a --way oasis:cosine":                  `flag --way: "oasis:cosine" is not allowed`,
		"--documents d.txt --queries q.txt --qrels r.tsv --out mine":                                  "mine has notes.txt, which is no file of an adapter",
		"--documents d.txt --queries q.txt --qrels r.tsv --out folder":                                "folder has map.npy, which is no file of an adapter",
		"--documents d.txt --queries q.txt --qrels r.tsv --document-ids q.txt":                        "d.txt have",
		"--documents d.txt --queries p.csv --qrels r.tsv":                                             "p.csv:1: want a list of numbers",
		"--documents q.txt --queries q.txt --qrels r.tsv":                                             "is the name of no object",
		"--documents d.txt --queries q.txt --qrels r.tsv --folds 80":                                  "folds: 80 is not allowed, want 2 to 45",
		"--documents d.txt --queries q.txt --qrels r.tsv extra":                                       "takes flags only",
		"--documents d.txt --queries q.txt --qrels r.tsv --columns query=1,document=2,grade=9 --k 10": "columns: grade",
	}
	_ = os.Symlink("nowhere", "link") // which not every system allows, and Wine only says
	if _, err := os.Lstat("link"); err == nil {
		refused["--documents d.txt --queries q.txt --qrels r.tsv --out link"] = "link is a link to no folder"
	}
	for line, want := range refused {
		if code := c.run(append([]string{"adapt"}, strings.Fields(line)...)...); code == exitOK || !strings.Contains(c.err.String(), want) {
			t.Errorf("%s: exit code %d: %s, want %q", line, code, c.err.String(), want)
		}
	}
	if _, err := os.Stat("a"); err == nil {
		t.Error("a folder was made")
	}
}

// Before the work it is known whether the folder can be made: here a file is in its way.
func TestAdaptUnwritable(t *testing.T) {
	c := inCorpus(t)
	for _, out := range []string{"q.txt", "q.txt/new/a"} {
		line := "adapt --documents absent --queries q.txt --qrels r.tsv --out " + out
		if code := c.run(strings.Fields(line)...); code == exitOK || !strings.Contains(c.err.String(), "flag --out: ") || strings.Contains(c.err.String(), "absent") {
			t.Errorf("%s: exit code %d: %s", line, code, c.err.String())
		}
	}
}

// The documents as queries are documents among themselves: what is judged of one for another is not learned from while that one is held out.
func TestAdaptAmong(t *testing.T) {
	c := inCorpus(t)
	var qrels, pairs strings.Builder
	qrels.WriteString("query,document,grade\nd0,d0,1\n")
	pairs.WriteString("i,j,label\n")
	for i := range 60 {
		near, far := i+60, i+121
		fmt.Fprintf(&qrels, "d%d,d%d,1\nd%d,d%d,0\n", i, near, i, far)
		fmt.Fprintf(&pairs, "d%d,d%d,1\nd%d,d%d,-1\n", i, near, i, far)
	}
	writeTest(t, "qrels.csv", qrels.String())
	writeTest(t, "pairs.csv", pairs.String())
	table := func(line string) string {
		if code := c.run(strings.Fields("adapt --documents d.txt --learners OASIS --out a --way oasis:query " + line)...); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", line, code, c.err.String())
		}
		_, after, _ := strings.Cut(c.out.String(), "\n")
		return after
	}
	want := table("--pairs pairs.csv")
	if err := os.WriteFile("a/.metriclab-7.tmp", nil, 0o666); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	if got := table("--queries ./d.txt --qrels qrels.csv"); got != want || !strings.Contains(c.err.String(), "judge a document for itself: 1 judgement") {
		t.Errorf("%s%s, want %s", c.err.String(), got, want)
	}
}

// The same judgements are a problem of fit, evaluate and compare.
func TestJudgedQueries(t *testing.T) {
	c := inCorpus(t)
	of := " --documents d.txt --queries q.txt --qrels r.tsv "
	for line, want := range map[string]string{
		"fit" + of + "--learner itml --unit --out m.json":     "360 judgements, 180 relevant, of ",
		"evaluate" + of + "--learner lego --repeats 6 --k 5":  "nDCG in %",
		"compare" + of + "--learners itml,cosine --repeats 6": "nDCG in %",
	} {
		if code := c.run(strings.Fields(line)...); code != exitOK || !strings.Contains(c.out.String(), want) {
			t.Errorf("%s: exit code %d: %s%s, want %q", line, code, c.out.String(), c.err.String(), want)
		}
	}
	for _, line := range []string{"evaluate --documents - --queries - --qrels r.tsv --learner itml", "compare --vectors d.txt --pairs - --ids -"} {
		if code := c.run(strings.Fields(line)...); code != exitUsage || !strings.Contains(c.err.String(), "- is standard input: want it once") {
			t.Errorf("%s: exit code %d: %s", line, code, c.err.String())
		}
	}
	if code := c.run(strings.Fields("evaluate" + of + "--learner lego --folds 5 --repeats 2 --json")...); code != exitOK || !strings.Contains(c.out.String(), `"judgements": 360`) || strings.Contains(c.out.String(), `"pairs"`) {
		t.Errorf("exit code %d: %s%s", code, c.out.String(), c.err.String())
	}
	if code := c.run(strings.Fields("fit --documents d.txt --queries q.txt --learner itml")...); code != exitUsage || !strings.Contains(c.err.String(), "flags --queries and --qrels: want both") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
}
