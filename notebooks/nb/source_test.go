package nb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSource(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, c := range []struct{ name, path, begins, has string }{
		{"plain.POLA", "pkg/learners/plain/pola.go", "// POLA is the pseudo-metric", "Gamma float64"},
		{"plain.POLA.Step", "pkg/learners/plain/pola.go", "// Step learns from a pair", "    l.A.SymRankOne("},
		{"plain.project", "pkg/learners/plain/doc.go", "// project makes", "SymRankOne(a, lambda"},
		{"nb.sourceWidth", "notebooks/nb/source.go", "// sourceWidth is", "const sourceWidth = 100"},
		{"metric.Pair", "pkg/metric/metric.go", "// Pair is", "type Pair struct"},
	} {
		text, path, err := source(root, c.name)
		if err != nil || path != c.path || !strings.HasPrefix(text, c.begins) || !strings.Contains(text, c.has) || strings.Contains(text, "\t") {
			t.Errorf("%s: %s (error %v):\n%s", c.name, path, err, text)
		}
	}
	for _, name := range []string{"plain.NoSuch", "plain", "nosuch.POLA", "plain.Step"} {
		if text, _, err := source(root, name); err == nil {
			t.Errorf("%q gives %q, want an error", name, text)
		}
	}
	broken := t.TempDir()
	if err := os.MkdirAll(filepath.Join(broken, "pkg", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "pkg", "x", "x.go"), []byte("package x\nfunc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := source(broken, "x.F"); err == nil {
		t.Error("a file that is no Go gives no error")
	}
}

// A long line gets its comment above it, and a long comment several lines.
func TestNarrow(t *testing.T) {
	long := "\tx := f(" + strings.Repeat("a", 80) + ") // " + strings.Repeat("word ", 30) + "end"
	got := narrow(long)
	lines := strings.Split(got, "\n")
	if len(lines) != 3 || lines[2] != "    x := f("+strings.Repeat("a", 80)+")" || !strings.HasSuffix(lines[1], " end") {
		t.Errorf("narrow gives\n%s", got)
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > sourceWidth {
			t.Errorf("%d characters: %s", utf8.RuneCountInString(l), l)
		}
	}
}

// A line of a comment that is too long gives its last words to the next; a list stays.
func TestNarrowComment(t *testing.T) {
	long := "// " + strings.Repeat("word ", 20) + "end\n// of it.\n//\n//  - item\nx := 1"
	if got, want := narrow(long), "// "+strings.TrimSpace(strings.Repeat("word ", 19))+"\n// word end of it.\n//\n//  - item\nx := 1"; got != want {
		t.Errorf("narrow gives\n%s\nwant\n%s", got, want)
	}
}
