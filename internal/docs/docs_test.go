// Package docs tests what the documents promise: that the README's program and
// commands work, and that the tests named in the errata exist.
package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"metriclab/internal/needs"
)

func read(t *testing.T, elem ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// blocks returns the contents of the fenced blocks of one language.
func blocks(text, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

func TestErrataNamesTestsThatExist(t *testing.T) {
	names := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(read(t, "docs", "errata.md"), -1)
	if len(names) == 0 {
		t.Fatal("docs/errata.md names no test")
	}
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join("..", "..", "pkg"), func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			raw, err := os.ReadFile(path)
			all.Write(raw)
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if !strings.Contains(all.String(), "func "+n[1]+"(") {
			t.Errorf("docs/errata.md names %s, which does not exist", n[1])
		}
	}
}

// The programs of the README and of the library's guide are built as a reader would: in a module of its own with
// the require and replace lines shown.
func TestREADMEProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program: not run under -short")
	}
	for _, doc := range []string{"README.md", "docs/guides/library.md"} {
		t.Run(doc, func(t *testing.T) { testProgram(t, doc) })
	}
}

func testProgram(t *testing.T, doc string) {
	text := read(t, doc)
	programs, outputs := blocks(text, "go"), blocks(text, "text")
	if len(programs) != 1 || len(outputs) != 1 {
		t.Fatalf("%s has %d go blocks and %d text blocks, want one program and its output", doc, len(programs), len(outputs))
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	module := "module example\n\ngo 1.26\n\nrequire metriclab v0.0.0\n\nreplace metriclab => " + root + "\n"
	for name, content := range map[string]string{"go.mod": module, "main.go": programs[0]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"mod", "tidy"}, {"run", "."}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.Output()
		if err != nil {
			stderr := ""
			if e, ok := err.(*exec.ExitError); ok {
				stderr = string(e.Stderr)
			}
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr)
		}
		if args[0] == "run" && string(out) != outputs[0] {
			t.Errorf("the program prints\n%s\n%s says\n%s", out, doc, outputs[0])
		}
	}
}

// Every command of the command line that the README shows parses and names
// experiments that exist: it is run with --dry-run or --help.
func TestREADMECommands(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command: not run under -short")
	}
	bin := filepath.Join(t.TempDir(), "metriclab")
	build(t, bin)
	commands := regexp.MustCompile(`go run \./cmd/metriclab ([^#\n`+"`"+`]*)`).FindAllStringSubmatch(read(t, "README.md")+read(t, "docs", "guides", "full-scale.md"), -1)
	if len(commands) < 2 {
		t.Fatalf("README.md and the guide to full scale show %d commands", len(commands))
	}
	for _, c := range commands {
		args := append(strings.Fields(c[1]), "--help")
		if args[0] == "run" {
			args[len(args)-1] = "--dry-run"
			args = append(args, "--results", t.TempDir())
		}
		if out, err := exec.Command(bin, args...).CombinedOutput(); err != nil {
			t.Errorf("metriclab %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// The sessions of the README and of the guides print what these say, each line typed into a shell in
// one folder that has the data.
func TestREADMESessions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command: not run under -short")
	}
	data, err := filepath.Abs(filepath.Join("..", "..", "data"))
	if err != nil {
		t.Fatal(err)
	}
	for file, name := range map[string]string{"uci/wine.data": "wine", "triplets/music/music_triplets.mat": "music"} {
		if _, err := os.Stat(filepath.Join(data, filepath.FromSlash(file))); err != nil {
			needs.Missing(t, "needs data/", file, "; fetch it with ./download.sh ", name, ": ", err)
		}
	}
	dir := t.TempDir()
	build(t, filepath.Join(dir, "bin", "metriclab"))
	if err := os.Symlink(data, filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	var sessions []string
	for _, doc := range []string{"README.md", "docs/guides/tables.md", "docs/guides/tables-more.md", "docs/guides/streams.md", "docs/guides/ask.md"} {
		found := blocks(read(t, doc), "console")
		if len(found) == 0 {
			t.Fatalf("%s shows no session", doc)
		}
		sessions = append(sessions, found...)
	}
	for _, s := range sessions {
		for _, step := range strings.Split(strings.TrimPrefix("\n"+s, "\n$ "), "\n$ ") {
			command, want, _ := strings.Cut(step, "\n")
			if file, ok := strings.CutPrefix(command, "cat "); ok { // a file that the reader is to have
				if err := os.WriteFile(filepath.Join(dir, file), []byte(want+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			var stderr strings.Builder
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir, cmd.Stderr = dir, &stderr
			cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.Output()
			if got := strings.TrimRight(string(out), "\n"); err != nil || got != strings.TrimRight(want, "\n") {
				t.Errorf("$ %s\n%s\n(error %v, %s) the document says\n%s", command, got, err, stderr.String(), want)
			}
		}
	}
}

func build(t *testing.T, bin string) {
	t.Helper()
	if out, err := exec.Command("go", "build", "-o", bin, "metriclab/cmd/metriclab").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// A path that a document links to exists.
func TestLinksExist(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)`)
	fence := regexp.MustCompile("(?s)```.*?```")
	docs := []string{"README.md", "CONTRIBUTING.md", "python/README.md", "notebooks/README.md"}
	for _, folder := range []string{"results", "results/*", "results/*/*", "docs", "docs/guides", "docs/papers", "docs/protocol", "docs/speed"} {
		found, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(folder), "*.md"))
		if err != nil || len(found) == 0 {
			t.Fatalf("%d documents in %s, error %v", len(found), folder, err)
		}
		for _, f := range found {
			below, err := filepath.Rel(filepath.Join("..", ".."), f)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, filepath.ToSlash(below))
		}
	}
	for _, doc := range docs {
		prose := fence.ReplaceAllString(read(t, filepath.FromSlash(doc)), "")
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path := filepath.Join("..", "..", filepath.Dir(filepath.FromSlash(doc)), filepath.FromSlash(m[1]))
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s links to %s: %v", doc, m[1], err)
			}
		}
	}
}

// README, design and the first page for each question stay short enough to be read: words as wc counts them, tables and code included.
func TestDocumentsAreShort(t *testing.T) {
	docs := map[string]int{"README.md": 900, "docs/design.md": 3000}
	for _, link := range regexp.MustCompile(`\| \[\w+\]\((guides/[\w-]+\.md)\)`).FindAllStringSubmatch(read(t, "docs", "README.md"), -1) {
		docs["docs/"+link[1]] = 600
	}
	if len(docs) < 8 {
		t.Errorf("docs/README.md leads to %d guides, want at least 6", len(docs)-2)
	}
	for doc, most := range docs {
		if n := len(strings.Fields(read(t, filepath.FromSlash(doc)))); n > most {
			t.Errorf("%s has %d words, at most %d are allowed: longer stories go to docs/papers, docs/guides, docs/protocol or the documentation of a package", doc, n, most)
		}
	}
}

// The README's rows of speed are those of docs/speed/peers.md, and its version of Go is that of go.mod.
func TestREADMENumbers(t *testing.T) {
	readme, peers := read(t, "README.md"), read(t, "docs", "speed", "peers.md")
	_, after, ok := strings.Cut(readme, "\n| work | metriclab | reference | ratio |\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("README.md has no table of speed")
	}
	table, _, _ := strings.Cut(after, "\n\n")
	for row := range strings.SplitSeq(table, "\n") {
		if !strings.Contains(peers, "\n"+row) { // a table may have one more column, of an earlier commit
			t.Errorf("docs/speed/peers.md lacks README.md's row %q", row)
		}
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	if version == nil || !strings.Contains(readme, "Go "+version[1]+" and nothing else") {
		t.Errorf("README.md does not ask for the Go of go.mod, %v", version)
	}
}
