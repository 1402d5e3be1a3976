// Command fuzz runs every fuzz target of the module and says how many inputs
// each one tried.
//
//	go run ./internal/tools/fuzz                      10000 inputs per target; CI has 4000
//	go run ./internal/tools/fuzz -time 10m            ten minutes per target
//	go run ./internal/tools/fuzz -time 10m ReadCSV    the targets that match a pattern
//
// A target fails if an input fails, or if it tried fewer inputs than -least: a
// target that slow finds nothing. After a failure the others run all the same.
// The input that failed lies in the package's testdata/fuzz/<target>: commit it
// with the repair, and go test tries it from then on.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"metriclab/internal/printable"
)

func main() {
	limit := flag.String("time", "10000x", "per target: inputs, such as 10000x, or a duration, such as 10m")
	minimize := flag.String("minimize", "10x", "inputs or duration for making one input smaller")
	least := flag.Int("least", 10000, "a target that tried fewer inputs fails")
	corpus := flag.String("corpus", "", "folder that keeps inputs of new coverage from run to run (default: Go's build cache; - for a new one)")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: fuzz [flags] [pattern of package.target]")
		flag.PrintDefaults()
	}
	flag.Parse()
	pattern, err := regexp.Compile(flag.Arg(0))
	if err != nil || flag.NArg() > 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(printable.NewWriter(os.Stdout), pattern, *limit, *minimize, *corpus, *least); err != nil {
		fmt.Fprintln(printable.NewWriter(os.Stderr), "fuzz:", err)
		os.Exit(1)
	}
}

// pkg is what go list says of a package, and its targets.
type pkg struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
	targets                   []string
}

var target = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// packages returns the packages of the current module that have targets.
func packages() ([]pkg, error) {
	list := exec.Command("go", "list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []pkg
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			src, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			for _, m := range target.FindAllSubmatch(src, -1) {
				p.targets = append(p.targets, string(m[1]))
			}
		}
		if len(p.targets) > 0 {
			all = append(all, p)
		}
	}
}

func run(w io.Writer, pattern *regexp.Regexp, limit, minimize, corpus string, least int) error {
	all, err := packages()
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	switch corpus {
	case "":
		out, err := exec.Command("go", "env", "GOCACHE").Output()
		if err != nil {
			return fmt.Errorf("go env: %w", err)
		}
		corpus = filepath.Join(strings.TrimSpace(string(out)), "fuzz")
	case "-":
		corpus = filepath.Join(scratch, "corpus")
	}
	if corpus, err = filepath.Abs(corpus); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	start := time.Now()
	var failed []string
	targets, inputs := 0, 0
	for i, p := range all {
		bin := filepath.Join(scratch, strconv.Itoa(i)+".test")
		names := slices.DeleteFunc(p.targets, func(name string) bool { return !pattern.MatchString(p.ImportPath + "." + name) })
		if len(names) == 0 {
			continue
		}
		// One link per package; go test links anew for each target.
		if out, err := exec.Command("go", "test", "-c", "-fuzz=.", "-o", bin, p.ImportPath).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", p.ImportPath, err, out)
		}
		for _, name := range names {
			began := time.Now()
			n, out, err := fuzz(p, bin, name, limit, minimize, filepath.Join(corpus, filepath.FromSlash(p.ImportPath)))
			verdict := "ok"
			switch {
			case err != nil:
				verdict = "FAILED: " + err.Error()
				fmt.Fprintf(printable.NewWriter(os.Stderr), "%s %s\n%s\n", p.ImportPath, name, out)
			case n < least:
				verdict = fmt.Sprintf("FAILED: want at least %d inputs", least)
			}
			if verdict != "ok" {
				failed = append(failed, p.ImportPath+"."+name)
			}
			targets, inputs = targets+1, inputs+n
			fmt.Fprintf(t, "%s\t%s\t%d inputs\t%.1f s\t%s\n", p.ImportPath, name, n, time.Since(began).Seconds(), verdict)
		}
		if err := t.Flush(); err != nil { // a table per package: a long run is watched
			return err
		}
		if err := os.Remove(bin); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%d fuzz targets, %d inputs, %.0f s\n", targets, inputs, time.Since(start).Seconds())
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%d failed: %s; an input that fails is in testdata/fuzz of its package: commit it with the repair", len(failed), strings.Join(failed, ", "))
	case targets == 0:
		return errors.New("no target matches")
	}
	return nil
}

// fuzz runs one target and returns how many inputs it tried.
func fuzz(p pkg, bin, name, limit, minimize, corpus string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience(limit))
	defer cancel()
	c := exec.CommandContext(ctx, bin, "-test.run=^$", "-test.fuzz=^"+name+"$", "-test.fuzztime="+limit,
		"-test.fuzzminimizetime="+minimize, "-test.fuzzcachedir="+corpus, "-test.timeout=0")
	c.Dir = p.Dir                                                     // go test does so, and puts testdata/fuzz there
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // its workers end with it
	c.WaitDelay = 10 * time.Second
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		err = fmt.Errorf("ended after %v", patience(limit))
	}
	return executions(out), out, err
}

// patience is when a target that should have ended is ended.
func patience(limit string) time.Duration {
	d, err := time.ParseDuration(limit)
	if err != nil {
		d = 0 // a number of inputs
	}
	return d + 2*time.Minute
}

var execs = regexp.MustCompile(`\bexecs: ([0-9]+) `)

// executions reads from the output how many inputs were tried: its last count.
func executions(out []byte) int {
	all := execs.FindAllSubmatch(out, -1)
	if len(all) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(all[len(all)-1][1]))
	if err != nil {
		return 0
	}
	return n
}
