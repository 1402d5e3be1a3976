//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"metriclab/internal/printable"
	"metriclab/internal/slurm"
	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
	"metriclab/pkg/vectors"
)

// hostileTexts are what a terminal obeys, or what shows another text than there is.
var hostileTexts = []string{"\x1b[2J\x1b]0;t\a\b\b\x7f", "a\rb\x1b[31m", "\u009b2J\u0085\u202egpj.exe\u2066x\u2069\u2028", "\x9b2J\xff\xfe"}

// No text of a file, its name, a flag, Slurm, a server or a trial reaches a terminal raw. H stands for a hostile text. What another program
// reads, after "data:", is only looked at on standard error.
func TestHostileTextsAreShown(t *testing.T) {
	lines := []string{
		// names of files and folders
		"fit H.csv --label class --learner fda --out H.json", "fit goneH.csv --label class --learner fda --out m", "fit H.csv --label class --learner fda --out goneH/m", "evaluate H.csv --label class --learner fda", "compare H.csv --label class --learners fda,euclidean --resume H.jsonl",
		"data:transform H.csv --model H.json", "plot H.csv --model H.json --out H.png", "plot --metric H.json --out H.svg", "evaluate H.csv --label class --model H.json", "data:predict H.csv --model H.json --train H.csv", "data:neighbours H.csv --model H.json --train H.csv", "transform H.csv --model broken.json", "transform H.csv --model H.csv",
		"fit --vectors H.npy --pairs H.csv --learner pola --out m", "fit --gram H.csv --labels H.csv --learner kernel-fda --out m", "fit --triplets H.csv --learner ste --out m", "learn --load H.csv", "learn --load broken.json", "fit H.csv --label class --learner fda --out H.csv", "fit H.csv --label class --learner fda --out dirH",
		"run lines --jobs 1 --results rH", "status --results rH", "report --results rH", "merge rH", "merge goneH", "run --results H.csv", "plan lines --results rH", "explain lines lines --results rH", "reseed lines --results rH", "data list --data H", "data get wine --data H --mirror goneH", "data verify wine --data H", "data verify --as H H", "data verify --as uci/wine.data H.csv",
		// columns, cells, classes, objects
		"fit cols.csv --label class --learner fda --out cols.json", "fit cols.csv --label nearH --learner fda --out m", "fit cols.csv --label class --drop goneH --learner fda --out m", "fit words.csv --label class --learner fda --out m", "fit words.csv --label class --one-hot wH --learner fda --out words.json", "fit words.csv --label class --one-hot goneH --learner fda --out m", "fit cols.csv --label cH --learner fda --out m",
		"fit cls.csv --label class --learner fda --out cls.json", "fit one.csv --label class --learner fda --out m", "evaluate cls.csv --label class --learner fda", "evaluate cls.csv --label class --learner fda --json", "compare cls.csv --label class --learners fda,euclidean", "compare cls.csv --label class --learners fda,euclidean --json", "plot cls.csv --model cls.json --out cls.svg",
		"data:transform cls.csv --model cls.json", "data:transform words.csv --model words.json", "data:transform cols.csv --model words.json", "data:transform words.csv --model cols.json", "data:predict cls.csv --model cls.json --train cls.csv", "data:predict one.csv --model cls.json --train cls.csv", "data:predict cls.csv --model cls.json --train cls.csv --true class", "data:neighbours cls.csv --model cls.json --train cls.csv --id class",
		"fit twice.csv --label class --learner fda --out m", "fit cols.csv --drop class --pairs pairs.csv --learner itml --out m", "fit cols.csv --drop class --chunklets wH --learner rca --out m", "fit words.csv --drop class --chunklets wH --learner rca --out m",
		"fit --triplets tri.csv --learner ste --coordinates z.csv --out tri.json", "evaluate --triplets tri.csv --learner ste", "plot --model tri.json --out tri.svg", "data:neighbours --model tri.json --k 1", "data:transform --model tri.json", "plot --model tri.json --out tri.svg --json", "data:predict cls.csv --model cls.json --train cls.csv --json", "neighbours --model H", "data:neighbours --model tri.json --k 1 --json", "fit --vectors X.npy --ids ids.txt --pairs pairs.csv --learner itml --out m", "fit --vectors X.npy --ids cls.csv --pairs pairs.csv --learner itml --out m", "fit --gram k.csv --constraints bad.jsonl --learner spectral --out m", "fit --gram k.csv --labels ids.txt --learner kernel-fda --out m", "data:neighbours --vectors X.npy --ids ids.txt --model m --rows H",
		"learn --learner pola", "learn --learner pola --skip-bad", "learn --learner ste --objects 3", "learn --learner pola --vectors X.npy --ids ids.txt",
		// flags and arguments
		"H", "--H", "-H", "help H", "fit --H", "fit H H", "run H", "run --cell H", "run --scale H", "run --shard H", "run --jobs H", "run --seed H", "status H", "list H", "explain H", "explain lines H", "plan H", "plan --workers H", "reseed H", "report H", "merge --experiment H rH", "learners H", "completion H", "version H", "data H", "data get H", "data verify H", "--max-memory H list", "submit H",
		"fit cls.csv --label class --learner H --out m", "fit cls.csv --label class --learner fda --param H --out m", "fit cls.csv --label class --learner fda --param H=1 --out m", "fit cls.csv --label class --learner lmnn --param k=H --out m", "fit cls.csv --label class --learner fda --impute H --out m", "fit cls.csv --label class --learner fda --missing H --out m2", "fit cls.csv --label class --learner fda --separator H --out m", "fit cls.csv --label class --learner fda --header H --out m",
		"fit cls.csv --label class --learner fda --format H --out m", "fit cls.csv --label class --learner fda --out cls.json --factor-npy cls.json --matrix-npy H", "compare cls.csv --label class --learners H", "compare cls.csv --label class --param H:a=1", "evaluate cls.csv --label class --learner fda --k H", "plot cls.csv --model cls.json --out pH.H", "learn --learner H", "learn --learner pola --param H=1",
		"submit slurm lines --shards 2 --results H", "submit slurm lines --shards 2 --results s --partition H", "submit slurm lines --shards 2 --results s --time H", "submit kubernetes lines --image H --results-claim r --data-claim d --shards 2", "submit kubernetes lines --image i --results-claim H --data-claim d --shards 2", "submit parallel lines --shards 2 --results H",
		"__complete run H", "__complete fit --learner H", "__complete fit x.csv --learner itml --param H",
		// Slurm, servers, trials
		"submit slurm lines --shards 2 --results sl", "status lines --results sl", "submit slurm --resume --results sl", "data get wine --mirror http://SERVER/", "run digits --jobs 1 --results bad", "status --results bad", "report --results bad", "run digits --jobs 1 --results bad",
	}
	tried, raw, drawn := 0, 0, 0
	for _, h := range hostileTexts {
		t.Chdir(t.TempDir())
		hostileFiles(t, h)
		c := newCommand(hostilePaper(h))
		c.app.engine = slurm.Engine{Run: func(_ context.Context, name string, _ ...string) ([]byte, error) {
			switch name {
			case "sbatch":
				return []byte("1" + map[bool]string{true: h}[tried%2 == 0]), nil
			case "scontrol":
				return []byte("ArrayTaskId=0 JobState=" + h + " Reason=" + h + " ExitCode=" + h + "\nArrayTaskId=1 JobState=PENDING Reason=" + h + "\n"), nil
			}
			return nil, errors.New(h)
		}}
		server := hostileServer(t, h)
		for _, line := range lines {
			line, data := strings.CutPrefix(line, "data:")
			args := strings.Fields(line)
			for i := range args {
				args[i] = strings.NewReplacer("H", h, "SERVER", server).Replace(args[i])
			}
			c.app.in = strings.NewReader(fmt.Sprintf("{\"%s\":1}\n{\"x\":[1],\"y\":[2],\"label\":\"%[1]s\"}\n{\"a\":\"%[1]s\",\"b\":0,\"label\":1}\n", h))
			c.run(args...)
			for name, got := range map[string]string{"standard output": c.out.String(), "standard error": c.err.String()} {
				tried++
				if shown := printable.Text(got); shown != got && !(data && name == "standard output") {
					raw++
					t.Errorf("%q: %s has\n%q", args, name, got)
				}
				if strings.Contains(got, "panic") {
					t.Errorf("%q: %s", args, got)
				}
			}
		}
		for _, name := range []string{"cls.svg", "tri.svg", h + ".svg"} {
			svg, err := os.Open(name)
			if err != nil {
				continue // classes and objects are UTF-8
			}
			drawn++
			for d := xml.NewDecoder(svg); err == nil; {
				_, err = d.Token()
			}
			if err != io.EOF {
				t.Errorf("%q: %s: %v", h, name, err)
			}
			svg.Close()
		}
		filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && (ext == ".md" || ext == ".html") {
				if text := readTest(t, path); text != printable.Text(text) {
					t.Errorf("%q: %s has characters that are not printed", h, path)
				}
			}
			return nil
		})
	}
	t.Logf("%d outputs, %d raw; %d figures", tried, raw, drawn)
	if drawn < 2*len(hostileTexts) {
		t.Errorf("only %d figures are drawn", drawn)
	}
}

// hostileFiles makes files with a hostile text in their names and contents.
func hostileFiles(t *testing.T, h string) {
	t.Helper()
	cell := func(s string) string { return `"` + s + `"` }
	files := map[string]string{
		h + ".csv":    "x,y,class\n",
		"cols.csv":    "x," + cell("c"+h) + ",class\n",
		"twice.csv":   cell(h) + "," + cell(h) + ",class\n",
		"words.csv":   "x," + cell("w"+h) + ",class\n",
		"cls.csv":     "x,y,class\n",
		"one.csv":     "x,y,class\n",
		"ids.txt":     "",
		"pairs.csv":   "a,b,label\n" + cell(h) + ",1,1\n0," + cell(h) + ",-1\n",
		"tri.csv":     "a,near,far\n",
		"k.csv":       "1,0,0\n0,1,0\n0,0,1\n",
		"bad.jsonl":   `{"` + h + `":1,"i":0,"j":1,"at_most":1}` + "\n",
		"broken.json": `{"format":"metriclab","version":1,"kind":"` + h + `","` + h + `":1}`,
	}
	x := []float64{}
	for i := range 12 {
		y := (i*5)%7 + i%2
		files[h+".csv"] += fmt.Sprintf("%d,%d,%c\n", i, y, 'a'+i%2)
		files["cols.csv"] += fmt.Sprintf("%d,%d,%c\n", i, y, 'a'+i%2)
		files["twice.csv"] += fmt.Sprintf("%d,%d,%c\n", i, y, 'a'+i%2)
		files["words.csv"] += fmt.Sprintf("%d,%s,%c\n", i, cell(fmt.Sprint(h, i%3)), 'a'+i%2)
		files["cls.csv"] += fmt.Sprintf("%d,%d,%s\n", i, y, cell(fmt.Sprint(h, i%2)))
		files["one.csv"] += fmt.Sprintf("%d,%d,%s\n", i, y, cell(h))
		files["ids.txt"] += fmt.Sprint(h, i%11, "\n")
		files["tri.csv"] += fmt.Sprintf("%s,%s,%s\n", cell(fmt.Sprint(h, i%4)), cell(fmt.Sprint(h, (i+1)%4)), cell(fmt.Sprint(h, (i+2)%4)))
		x = append(x, float64(i), float64(y))
	}
	for name, text := range files {
		writeTest(t, name, text)
	}
	if err := os.Mkdir("dir"+h, 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := vectors.Create("X.npy", 12, 2, false)
	if err == nil {
		err = errors.Join(w.WriteRows(x, 0), w.Commit())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// hostilePaper has an experiment whose trials fail with a hostile text, and one whose view does.
func hostilePaper(h string) experiment.Paper {
	p := toys(func(_ context.Context, cell string) error {
		if cell == "0-8" {
			return errors.New(h)
		}
		return nil
	})
	p.Experiments[0].Views = append(p.Experiments[0].Views, experiment.View{Name: "broken", Title: "Broken", Draw: func(*table.Table) (plots.Drawing, error) { return plots.Drawing{}, errors.New(h) }})
	return p
}

// hostileServer answers each request with a hostile status, head and body.
func hostileServer(t *testing.T, h string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.SetDeadline(time.Now().Add(10 * time.Second))
			c.Read(make([]byte, 4096))
			fmt.Fprintf(c, "HTTP/1.1 404 %s\r\nContent-Type: %[1]s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%[1]s", h, len(h))
			c.Close()
		}
	}()
	return l.Addr().String()
}

// A write that fails is an error of every command that prints, with exit code 1.
func TestOutputFails(t *testing.T) {
	t.Chdir(t.TempDir())
	writeTest(t, "t.csv", "x,y,class\n0,5,a\n1,3,a\n2,4,b\n4,1,b\n3,3,a\n5,0,b\n6,2,a\n7,7,b\n8,0,a\n9,1,b\n")
	writeTest(t, "tri.csv", "a,near,far\nc,d,e\nd,e,c\nc,e,d\n")
	var out, said bytes.Buffer
	a := newCommand(toys(nil)).app
	for _, line := range []string{
		"", "--help", "help tables", "--version", "version", "version --json", "list", "list --json", "learners", "learners pola", "completion bash", "completion fish", "completion zsh", "completion powershell",
		"fit t.csv --label class --learner fda --out m.json", "fit --triplets tri.csv --learner ste --out tri.json", "transform t.csv --model m.json", "predict t.csv --model m.json --train t.csv", "neighbours t.csv --model m.json --train t.csv", "predict t.csv --model m.json --train t.csv --json", "neighbours --model tri.json", "transform --model tri.json --json", "plot t.csv --model m.json --out p.png --json",
		"evaluate t.csv --label class --learner fda", "evaluate t.csv --label class --learner fda --json", "evaluate --triplets tri.csv --learner ste", "compare t.csv --label class --learners fda,euclidean", "plot t.csv --model m.json --out p.png", "learn --learner pola",
		"run lines --jobs 1", "run lines --jobs 1 --dry-run", "run lines --jobs 1 --shard 0/2 --results s", "status", "status --json", "report", "explain lines", "plan lines", "merge", "data list", "data list --json",
		"submit slurm lines --shards 2 --results r --dry-run", "submit kubernetes lines --image i --results-claim r --data-claim d --shards 2", "submit parallel lines --shards 2 --results r", "__complete run l",
	} {
		out.Reset()
		said.Reset()
		a.in = strings.NewReader(`{"x":[1],"y":[2],"label":1}` + "\n")
		a.streams(&out, &said)
		code := execute(t.Context(), a, strings.Fields(line))
		if out.Len() == 0 {
			t.Errorf("%s: exit code %d, nothing is printed: %s", line, code, said.String())
		}
		a.in = strings.NewReader(`{"x":[1],"y":[2],"label":1}` + "\n")
		a.streams(fullDevice{}, &said)
		if code := execute(t.Context(), a, strings.Fields(line)); code == exitOK || code == exitFailed && !strings.Contains(said.String(), "no space left") {
			t.Errorf("%s: exit code %d where nothing can be printed: %s", line, code, said.String())
		}
	}
}

// fullDevice is /dev/full.
type fullDevice struct{}

func (fullDevice) Write([]byte) (int, error) { return 0, errors.New("no space left") }
