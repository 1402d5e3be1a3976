package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"metriclab/internal/atomicfile"
)

func TestMain(m *testing.M) {
	atomicfile.WithoutSync()
	os.Exit(m.Run())
}

func TestTable(t *testing.T) {
	points := []point{{"a/b", 1, 12.5}, {"a/b", 2, 7}}
	got, err := read(text(points))
	if err != nil || !reflect.DeepEqual(got, points) {
		t.Errorf("read %v, error %v, want %v", got, err, points)
	}
	for _, c := range []struct{ table, says string }{
		{"experiment,workers,seconds\n", "want the columns"},
		{"experiment,workers\na/b,1\n", "want the columns"},
		{"experiment,workers,seconds\na/b,0,1\n", `"0" workers`},
		{"experiment,workers,seconds\na/b,1,-1\n", `"-1" seconds`},
		{"experiment,workers,seconds\na/b,1,NaN\n", `"NaN" seconds`},
	} {
		if _, err := read([]byte(c.table)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: error %v, want %q", c.table, err, c.says)
		}
	}
}

// The committed figure is rendered from the committed times. Each measured time is from half the predicted one to twice that: another machine, or a
// busy one, is slower as a whole, but a prediction that is wrong in kind is not.
func TestCommitted(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	raw, err := os.ReadFile(filepath.Join(root, "docs", "speed", "makespan.csv"))
	if err != nil {
		t.Fatal(err)
	}
	points, err := read(raw)
	if err != nil {
		t.Fatal(err)
	}
	files, err := render(t.Context(), points, filepath.Join(root, "results"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, p := range points {
		prediction, err := predict(t.Context(), p.experiment, filepath.Join(root, "results"))
		if err != nil {
			t.Fatal(err)
		}
		if share := p.seconds / prediction.OneProcess(p.workers).Seconds(); share < 0.5 || share > 2 {
			t.Errorf("%s with %d workers took %.0f s, predicted %v", p.experiment, p.workers, p.seconds, prediction.OneProcess(p.workers))
		}
	}
}

func TestCommandRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{{"measur"}, {"measure", "x"}} {
		if err := command(t.Context(), dir, args); err == nil {
			t.Errorf("%v is no error", args)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, error %v", len(left), err)
	}
}
