package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Homeworks are the papers with homework, and mistakes that students make in the ten minutes and in the hour: what stands in
// the solution, and what they write.
var homeworks = []struct{ paper, notebook, minutes, slip, hour, mistake string }{
	{"pola2004", "01_pola2004.ipynb", "(bStar-b1)*(bStar-b1)", "bStar*bStar", "-y*alpha, v", "y*alpha, v"},
	{"pola2004", "01_pola2004.ipynb", "r * (", "1 + r*(", "return next, max(1, b+y*alpha)", "return next, b + y*alpha"},
	{"pola2004", "01_pola2004.ipynb", "r * (", "1 + r*(", "lambda < 0", "lambda < -1e9"},
	{"pa2013", "02_pa2013.ipynb", "s / n", "n / s", "max(0, s)", "s"},
	{"pa2013", "02_pa2013.ipynb", "s / n", "s", "1/(2*c)", "1/c"},
	{"rmp2007", "03_rmp2007.ipynb", "/ float64(i+1)", "", "logW[k] = -eta", "logW[k] = eta"},
	{"rmp2007", "03_rmp2007.ipynb", "range m", "range m - 1", "floats.LogSumExp(logW)", "math.Log(func() (z float64) { for _, v := range logW { z += math.Exp(v) }; return z }())"},
	{"erkle2015", "04_erkle2015.ipynb", " / 2", "", "2*gamma)", "gamma)"},
	{"erkle2015", "04_erkle2015.ipynb", " / 2", "", "lambda < 0", "lambda < -1e9"},
	{"logdet2012", "05_logdet2012.ipynb", "gamma/xi", "1/xi", "float64(pair.Label)*(p-xi)", "p-xi"},
	{"logdet2012", "05_logdet2012.ipynb", "(gamma + 1)", "gamma", "(p*p)", "p"},
}

// The model solution of each paper's homework passes its tests, as a program of the notebook's set-up cell, the solution and the
// tests; a solution with a mistake in both functions fails a test of each.
func TestHomework(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs a program per solution")
	}
	done := map[string]bool{}
	for _, h := range homeworks {
		t.Run(h.paper, func(t *testing.T) {
			nb, err := read(filepath.Join("..", h.notebook))
			if err != nil {
				t.Fatal(err)
			}
			solution, tests := text(file(t, h.paper+".solution.txt")), file(t, h.paper+".txt")
			if !done[h.paper] {
				done[h.paper] = true
				for _, line := range exercises(t, nb, solution, tests) {
					if !strings.Contains(line, ": right") {
						t.Errorf("of the solution: %s", line)
					}
				}
			}
			s := replace(t, replace(t, string(solution), h.minutes, h.slip), h.hour, h.mistake)
			wrong := map[string]bool{}
			for _, line := range exercises(t, nb, text(s), tests) {
				if !strings.Contains(line, ": right") {
					wrong[strings.Fields(line)[1]] = true
				}
			}
			if !wrong["ten"] || !wrong["an"] {
				t.Errorf("%s and %s: no test says that they are wrong", h.slip, h.mistake)
			}
		})
	}
}

func file(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "homework", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func replace(t *testing.T, s, old, new string) string {
	t.Helper()
	if !strings.Contains(s, old) {
		t.Fatalf("the solution has no %q", old)
	}
	return strings.Replace(s, old, new, 1)
}

// exercises runs the program of a graded notebook, and returns its lines on exercises, of both parts.
func exercises(t *testing.T, student *notebook, solution text, tests string) (lines []string) {
	t.Helper()
	handedIn := *student
	handedIn.Cells = append(handedIn.Cells[:len(handedIn.Cells):len(handedIn.Cells)], cell{Type: "code", Source: solution})
	raw, err := graded(&handedIn, tests)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	var declarations, body strings.Builder
	for _, c := range nb.Cells {
		s := string(c.Source)
		if cell, ok := strings.CutPrefix(s, program); ok {
			body.WriteString("{\n" + cell + "\n}\n")
			continue
		}
		declarations.WriteString(s[max(0, strings.Index(s, "import (")):] + "\n") // without the shell line and %noautoget
	}
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte("package main\n"+declarations.String()+"func main() {\n"+body.String()+"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// As in the kernel, goimports drops the imports that are not used, and adds those of the standard library.
	for _, args := range [][]string{{"tool", "goimports", "-w", source}, {"run", source}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = ".."
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "exercise ") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	said := strings.Join(lines, "\n")
	if !strings.Contains(said, "exercise ten minutes: ") || !strings.Contains(said, "exercise an hour") {
		t.Fatalf("no test of a part: %q", said)
	}
	return lines
}
