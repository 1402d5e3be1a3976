package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/needs"
	"metriclab/pkg/learners/catalog"
)

// learn runs a command line on an input and returns the exit code.
func (c *command) learn(in string, args ...string) int {
	c.app.in = strings.NewReader(in)
	return c.run(append([]string{"learn"}, args...)...)
}

func writeTest(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readTest(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// transcript runs commands as a shell would show them. It knows "cat FILE",
// which makes the file of what follows, "metriclab ... <FILE" and
// "echo 'LINE' | metriclab ...".
func transcript(t *testing.T, c *command, script string) string {
	t.Helper()
	var got strings.Builder
	for _, block := range strings.Split(script, "$ ")[1:] {
		line, rest, _ := strings.Cut(block, "\n")
		got.WriteString("$ " + line + "\n")
		if file, ok := strings.CutPrefix(line, "cat "); ok {
			writeTest(t, file, rest)
			got.WriteString(rest)
			continue
		}
		in := ""
		if echo, command, ok := strings.Cut(line, " | "); ok {
			in = strings.TrimSuffix(strings.TrimPrefix(echo, "echo '"), "'") + "\n"
			line = command
		} else if command, file, ok := strings.Cut(line, " <"); ok {
			in, line = readTest(t, file), command
		}
		code := c.learn(in, strings.Fields(strings.TrimPrefix(line, "metriclab learn"))...)
		got.WriteString(c.out.String())
		if c.err.Len() > 0 {
			got.WriteString("--- stderr\n" + c.err.String())
		}
		if code != 0 {
			fmt.Fprintf(&got, "--- exit code %d\n", code)
		}
	}
	return got.String()
}

// The examples of the help text give what it says.
func TestLearnExamples(t *testing.T) {
	t.Chdir(t.TempDir())
	var script strings.Builder
	for _, line := range strings.Split(learnExamples, "\n") {
		if text, ok := strings.CutPrefix(line, "  "); ok {
			script.WriteString(text + "\n")
		}
	}
	if got := transcript(t, newCommand(toys(nil)), script.String()); got != script.String() {
		t.Errorf("the examples give\n%s", got)
	}
}

// The help lists every online learner, and no other.
func TestLearnHelp(t *testing.T) {
	c := newCommand(toys(nil))
	if code := c.run("learn", "--help"); code != 0 {
		t.Fatal(c.err.String())
	}
	_, list, _ := strings.Cut(c.out.String(), "\nLearners ")
	list, _, _ = strings.Cut(list, "\nUsage:")
	words := strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" ,\n", r) })
	for _, e := range catalog.All() {
		if got := slices.Contains(words, e.Name); got != e.Feedback.Online() {
			t.Errorf("%s: listed %t", e.Name, got)
		}
	}
}

// TestLearnGolden is a session with all that a user meets.
func TestLearnGolden(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "learn.golden"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeTest(t, "notes.txt", "hello\n")
	got := transcript(t, newCommand(toys(nil)), `$ cat pairs.jsonl
{"x":[0,0],"y":[1,0],"label":-1}

{"x":[0,0],"y":[1,0]}
{"x":[0,0,0],"y":[1,0,0],"label":1}
{"label":1.0,"y":[0,1],"x":[0,0]}
{"x":[0,0],"y":[1,NaN],"label":1}
{"x":[0,0],"y":[1,0],"label":0}
{"x":[1,1],"y":[2,1],"label":-1}
$ metriclab learn --learner pola --save a.json <pairs.jsonl
$ metriclab learn --learner pola --skip-bad --state-every 2 --save b.json <pairs.jsonl
$ metriclab learn --learner pola --max-line 30 <pairs.jsonl
$ metriclab learn --learner pola --dim 3 --save c.json <pairs.jsonl
$ echo '{"x":[3,4],"y":[0,0]}' | metriclab learn --load b.json
$ echo '{"x":[3,4],"y":[0,0]}' | metriclab learn --load b.json --learner pola --dim 2 --state-every 1
$ echo '{"x":[3,4],"y":[0,0],"label":1}' | metriclab learn --learner pola --param gamma=3 --param b1=-1
$ metriclab learn --learner pa --param rule=pals --param c=1 --param psd=end --param b0=0 --skip-bad <pairs.jsonl
$ echo '{"x":[3,4],"y":[0,0],"label":1}' | metriclab learn --learner pa --param rule=pa1 --param c=0.5 --param psd=step
$ echo '' | metriclab learn --learner pa --param rule=pa3
$ echo '' | metriclab learn --learner pa --param rule=pa2 --param tol=0.1
$ echo '' | metriclab learn --learner pola --save d.json
$ echo '' | metriclab learn --learner pola --dim 2 --save d.json
$ echo '' | metriclab learn --learner pola --param c=1
$ echo '' | metriclab learn --learner pola --param gamma=-1
$ echo '' | metriclab learn --learner pola --param gamma
$ echo '' | metriclab learn --learner pola --param gamma=1 --param gamma=2
$ echo '' | metriclab learn --learner pola --objects 3
$ echo '' | metriclab learn --learner pola --dim 0
$ echo '' | metriclab learn --learner pola --max-line 0
$ echo '' | metriclab learn --learner pola --state-every -1
$ echo '' | metriclab learn --learner pola pairs.jsonl
$ echo '' | metriclab learn --load b.json --param gamma=1
$ echo '' | metriclab learn --load b.json --dim 3
$ echo '' | metriclab learn --load nowhere.json
$ echo '' | metriclab learn --load notes.txt
$ echo '' | metriclab learn --learner pola --save .
`)
	compare(t, golden, got)
}

// Unknown learners are answered with the names there are.
func TestLearnUnknown(t *testing.T) {
	c := newCommand(toys(nil))
	for _, args := range [][]string{{"--learner", "polo"}, {"--learner", "pca"}, {}} {
		if code := c.learn("", args...); code != exitUsage {
			t.Errorf("%q: exit code %d", args, code)
		}
		for _, e := range catalog.All() {
			if e.Feedback.Online() && !strings.Contains(c.err.String(), e.Name) {
				t.Errorf("%q: %s is not named: %s", args, e.Name, c.err.String())
			}
		}
	}
	if code := c.learn("", "--load", "", "--learner", "pola"); code == exitOK {
		t.Error("--load without a file is passed over")
	}
}

// A link to the file of --save stays one.
func TestLearnSaveLink(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	const line = `{"x":[1],"y":[2],"label":-1}`
	if code := c.learn(line, "--learner", "pola", "--save", "real.json"); code != 0 {
		t.Fatal(c.err.String())
	}
	old := readTest(t, "real.json")
	needs.Symlink(t, "real.json", "link.json")
	if code := c.learn(line, "--load", "link.json", "--save", "link.json"); code != 0 {
		t.Fatal(c.err.String())
	}
	if info, err := os.Lstat("link.json"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is replaced: %v, %v", info, err)
	}
	if readTest(t, "real.json") == old {
		t.Error("nothing was saved through the link")
	}
	onlyFiles(t, "link.json", "real.json")
}

// The file of --save: what is no file is left alone, a folder that is not there
// is told at once.
func TestLearnSavePath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("folder", 0o755); err != nil {
		t.Fatal(err)
	}
	c := newCommand(toys(nil))
	const line = `{"x":[1],"y":[2],"label":-1}`
	for _, path := range append(noRegularFiles(t), "nowhere/l.json", "folder", os.DevNull, "") {
		code := c.learn(line, "--learner", "pola", "--save", path)
		if code == 0 || !strings.Contains(c.err.String(), "--save") || c.out.Len() > 0 {
			t.Errorf("--save %s: exit code %d, %s", path, code, c.err.String())
		}
	}
	onlyFiles(t, "folder")
}

// onlyFiles checks what the working folder holds, hidden files too.
func onlyFiles(t *testing.T, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("files %q, %v, want %q", got, err, want)
	}
}

// The folder of --save has gone when the learner is to be saved.
func TestLearnCannotSave(t *testing.T) {
	for _, interrupted := range []bool{false, true} {
		t.Chdir(t.TempDir())
		if err := os.Mkdir("folder", 0o755); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		c := newCommand(toys(nil))
		c.app.in = io.MultiReader(strings.NewReader("{\"x\":[1],\"y\":[2],\"label\":-1}\n"), readerFunc(func([]byte) (int, error) {
			if err := os.Remove("folder"); err != nil {
				t.Error(err)
			}
			if writeTest(t, "folder", "a file"); interrupted {
				cancel()
				select {}
			}
			return 0, io.EOF
		}))
		if code := execute(ctx, c.app, strings.Fields("learn --learner pola --save folder/l.json")); code != exitFailed || !strings.Contains(portable(c.err.String()), "folder/l.json is not written") {
			t.Errorf("interrupted %v: exit code %d, %s", interrupted, code, c.err.String())
		}
		cancel()
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// child is the command in a process of its own, in a folder.
type child struct {
	*exec.Cmd
	in       io.WriteCloser
	out      *bufio.Reader
	closeOut func() error
	stderr   bytes.Buffer
}

// interruption is a way in which a user or the system ends a command.
type interruption struct {
	name    string
	prepare func(*exec.Cmd)
	send    func(*testing.T, *exec.Cmd) error
}

// startLearn starts learn in a folder, after prepare, if not nil, has set what
// the process needs.
func startLearn(t *testing.T, dir string, prepare func(*exec.Cmd), args ...string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(self, append([]string{"learn"}, args...)...)}
	c.Dir, c.Stderr, c.Env = dir, &c.stderr, append(os.Environ(), asChild+"=1")
	if prepare != nil {
		prepare(c.Cmd)
	}
	if c.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.out, c.closeOut = bufio.NewReader(out), out.Close
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ask sends a line and waits for the answer.
func (c *child) ask(t *testing.T, line string) string {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%v\n%s", err, c.stderr.String())
	}
	return answer
}

// end waits for the process and returns its exit code.
func (c *child) end(t *testing.T) int {
	t.Helper()
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode()
}

// learned returns the file of a learner that has seen lines.
func learned(t *testing.T, in string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "l.json")
	c := newCommand(toys(nil))
	if code := c.learn(in, "--learner", "pola", "--save", path); code != 0 {
		t.Fatal(c.err.String())
	}
	return readTest(t, path)
}

const (
	firstPair  = `{"x":[1,2],"y":[2,0],"label":-1}`
	secondPair = `{"x":[3,2],"y":[2,0],"label":1}`
)

// Ctrl-C and a request to end while the command waits for input: what was
// answered is saved.
func TestLearnInterrupted(t *testing.T) {
	for _, sig := range interrupts {
		dir := t.TempDir()
		c := startLearn(t, dir, sig.prepare, "--learner", "pola", "--save", "l.json")
		c.ask(t, firstPair)
		if err := sig.send(t, c.Cmd); err != nil {
			t.Fatal(err)
		}
		code := c.end(t)
		if s := c.stderr.String(); code != exitInterrupted || !strings.Contains(s, "interrupted after 1 accepted line") || !strings.Contains(s, "l.json") {
			t.Errorf("%s: exit code %d, %s", sig.name, code, s)
		}
		if readTest(t, filepath.Join(dir, "l.json")) != learned(t, firstPair) {
			t.Errorf("%s: the file is not that of the learner", sig.name)
		}
	}
}

// A kill leaves the old file.
func TestLearnKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "l.json")
	old := learned(t, firstPair)
	writeTest(t, path, old)
	c := startLearn(t, dir, nil, "--load", "l.json", "--save", "l.json")
	c.ask(t, secondPair)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if code := c.end(t); code == exitOK || readTest(t, path) != old {
		t.Errorf("exit code %d, or another file", code)
	}
}

// Nobody reads the answers any more: the command ends without a word, and saves.
func TestLearnClosedOutput(t *testing.T) {
	dir := t.TempDir()
	c := startLearn(t, dir, nil, "--learner", "pola", "--save", "l.json")
	c.ask(t, firstPair)
	if err := c.closeOut(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c.in, secondPair+"\n"); err != nil {
		t.Fatal(err)
	}
	if code := c.end(t); code != exitFailed || c.stderr.Len() > 0 {
		t.Errorf("exit code %d, %s", code, c.stderr.String())
	}
	if readTest(t, filepath.Join(dir, "l.json")) != learned(t, firstPair+"\n"+secondPair) {
		t.Error("the file is not that of the learner")
	}
}

// A signal that comes before anything was read.
func TestLearnInterruptedAtOnce(t *testing.T) {
	t.Chdir(t.TempDir())
	c := newCommand(toys(nil))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c.app.in = readerFunc(func([]byte) (int, error) { select {} })
	code := execute(ctx, c.app, []string{"learn", "--learner", "pola", "--save", "l.json"})
	if code != exitInterrupted || !strings.Contains(c.err.String(), "interrupted after 0 accepted lines") || !strings.Contains(c.err.String(), "l.json is not written") {
		t.Errorf("exit code %d, %s", code, c.err.String())
	}
}
