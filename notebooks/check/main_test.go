package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// name is that of the notebook in the tests.
const name = "00_start_here.ipynb"

func TestJudge(t *testing.T) {
	raw, err := os.ReadFile("../00_start_here.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	executed := filepath.Join(".executed", name)
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if problems, _ := judge(name, executed, true); len(problems) == 0 {
		t.Error("a notebook that was not executed has no problem")
	}
	write(executed, string(raw))
	if problems, _ := judge(name, executed, true); len(problems) != 1 || !strings.Contains(problems[0], name) {
		t.Errorf("without a committed notebook: problems %q", problems)
	}
	if problems, summary := judge(name, executed, false); len(problems) != 0 || summary != "7 code cells, 3 figures" {
		t.Errorf("not compared: problems %q, summary %q", problems, summary)
	}
	write(name, strings.Replace(string(raw), "Start here", "Start there", 1))
	if problems, _ := judge(name, executed, true); len(problems) != 1 || !strings.Contains(problems[0], "cell 1: the source differs") {
		t.Errorf("other title: problems %q", problems)
	}
}
