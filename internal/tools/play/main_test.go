package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAssemble(t *testing.T) {
	page, err := assemble([]byte("the program"), "// starts it", "MIT -- or so")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	for _, want := range []string{"<!doctype html>", "// starts it", "const metric = ", "const faces = ", "--alike: ", "MIT - - or so"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, name := range []string{"/*STYLE*/", "/*WASM", "/*SCRIPT*/", "/*LICENCES*/", "src=", "http-equiv", "https://"} {
		if strings.Contains(text, name) {
			t.Errorf("the page has %q", name)
		}
	}
	random := make([]byte, maxPage)
	for i := range random {
		random[i] = byte(i * i * i >> 7)
	}
	if _, err := assemble(random, strings.Repeat(" ", maxPage), ""); err == nil {
		t.Error("a page that is too large is made")
	}
}

func TestCheck(t *testing.T) {
	for log, want := range map[string]string{
		`[["race","{\"rule\":\"random\",\"persons\":0}","{\"error\":\"persons: 0 is not allowed, want 1 to 100\"}"]]`: "",
		`[["race","{\"rule\":\"random\",\"persons\":0}","{\"error\":\"another\"}"]]`:                                  "call 0, race",
		`[["data","{\"set\":\"rings\",\"pairs\":0}","{\"points\":[[1,2]],\"class\":[0],\"pairs\":null}"]]`:            "call 0, data",
		`[]`: "no calls",
		`{}`: "cannot unmarshal",
	} {
		path := filepath.Join(t.TempDir(), "log.json")
		if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := check(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", log, err, want)
		}
	}
	var worst float64
	var numbers int
	if !alike(map[string]any{"a": []any{1., true, nil}}, map[string]any{"a": []any{1 + 1e-13, true, nil}}, &worst, &numbers) || worst == 0 || numbers != 1 {
		t.Errorf("numbers that differ by 1e-13 are not alike, worst %v of %d", worst, numbers)
	}
	for _, other := range []any{1 + 1e-11, "1", nil, []any{1.}} {
		if alike(1., other, &worst, &numbers) {
			t.Errorf("1 is %v", other)
		}
	}
}
