// Command play makes the page of `make play`, and checks what a browser has recorded of it.
//
//	go run ./internal/tools/play             writes out/play/index.html
//	go run ./internal/tools/play check LOG   answers the calls of a log again, here, and compares
//
// The page is one file without links: the learners as WebAssembly, compressed, and the text, style and script of page/.
// A log is a JSON array of [name, arguments, answer], as scripts/play_test.py takes it from the page.
package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"metriclab/internal/atomicfile"
	"metriclab/internal/play"
)

//go:embed page
var files embed.FS

// Files of the page, and bounds that keep it small and readable.
var scripts = []string{"draw.js", "metric.js", "faces.js", "start.js"}

const (
	maxPage   = 2_500_000
	maxScript = 60_000
)

func main() {
	if err := command(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "play:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	switch {
	case len(args) == 0:
		return build(filepath.Join("out", "play"))
	case len(args) == 2 && args[0] == "check":
		return check(args[1])
	}
	return errors.New("usage: play, or play check LOG")
}

// build compiles the learners and writes index.html.
func build(dir string) error {
	scratch, err := os.MkdirTemp("", "metriclab-play-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	program := filepath.Join(scratch, "play.wasm")
	const source = "metriclab/internal/tools/play/wasm"
	// Without inlining the page is below its bound; the race of lesson 2 took 2.0 s in place of 1.8.
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l", "-o", program, source)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	wasm, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return err
	}
	start, err := os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	licences, err := licences(root, source)
	if err != nil {
		return err
	}
	page, err := assemble(wasm, string(start), licences)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, "index.html")
	if err := atomicfile.Write(path, page); err != nil {
		return err
	}
	fmt.Printf("%s: %.2f MB, of them %.2f MB the learners (%.2f MB before compression)\n", path, float64(len(page))/1e6, float64(base64.StdEncoding.EncodedLen(len(compressed(wasm))))/1e6, float64(len(wasm))/1e6)
	return nil
}

func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

func compressed(raw []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is one that there is
	w.Write(raw)                                          // into memory, as is Close: neither fails
	w.Close()
	return b.Bytes()
}

// assemble puts the parts of the page together.
func assemble(wasm []byte, start, licences string) ([]byte, error) {
	part := func(name string) string {
		raw, err := files.ReadFile("page/" + name)
		if err != nil {
			panic(err) // embedded
		}
		return string(raw)
	}
	var script strings.Builder
	for _, name := range scripts {
		script.WriteString(part(name))
	}
	if script.Len() > maxScript {
		return nil, fmt.Errorf("the script has %d bytes, want at most %d", script.Len(), maxScript)
	}
	page := strings.NewReplacer("/*STYLE*/", part("page.css"), "/*WASM_EXEC*/", start, "/*SCRIPT*/", script.String(),
		"/*WASM*/", base64.StdEncoding.EncodeToString(compressed(wasm)), "/*LICENCES*/", strings.ReplaceAll(licences, "--", "- -")).Replace(part("page.html"))
	if len(page) > maxPage {
		return nil, fmt.Errorf("the page has %d bytes, want at most %d", len(page), maxPage)
	}
	return []byte(page), nil
}

// licences are those of Go and of the modules that are compiled in.
func licences(root, source string) (string, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}", source)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		return "", err
	}
	modules := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(modules)
	var b strings.Builder
	for _, m := range append([]string{"Go\t" + root}, slices.Compact(modules)...) {
		name, dir, ok := strings.Cut(m, "\t")
		if !ok {
			continue // of the standard library
		}
		raw, err := os.ReadFile(filepath.Join(dir, "LICENSE"))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n%s\n\n%s\n", strings.TrimSpace(name), raw)
	}
	return b.String(), nil
}

// check answers the calls of a log again, in the program's own arithmetic, and fails where a number differs by more than tolerance.
func check(path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var log [][3]string
	if err := json.Unmarshal(raw, &log); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if len(log) == 0 {
		return fmt.Errorf("%s: no calls", path)
	}
	var p play.Player
	worst, numbers := 0.0, 0
	for i, entry := range log {
		var got, want any
		if err := errors.Join(json.Unmarshal(p.Call(entry[0], []byte(entry[1])), &got), json.Unmarshal([]byte(entry[2]), &want)); err != nil {
			return fmt.Errorf("%s: call %d: %w", path, i, err)
		}
		if !alike(got, want, &worst, &numbers) {
			return fmt.Errorf("%s: call %d, %s %.200s:\nhere    %.300v\nbrowser %.300v", path, i, entry[0], entry[1], got, want)
		}
	}
	fmt.Printf("%d calls, %d numbers: the largest relative difference is %.1e\n", len(log), numbers, worst)
	return nil
}

// tolerance is of numbers, relative to the larger of 1 and them: the browser's processor fuses no products and sums.
const tolerance = 1e-12

func alike(a, b any, worst *float64, numbers *int) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		d := math.Abs(x-y) / max(1, math.Abs(x), math.Abs(y))
		*worst = max(*worst, d)
		*numbers++
		return ok && d <= tolerance
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, func(p, q any) bool { return alike(p, q, worst, numbers) })
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, there := y[k]
			if !there || !alike(v, w, worst, numbers) {
				return false
			}
		}
		return true
	}
	return a == b
}
