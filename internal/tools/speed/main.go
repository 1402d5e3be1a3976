// Command speed measures how time and memory grow with the size of the data.
//
//	go run ./internal/tools/speed               all works, some ten minutes; writes docs/speed
//	go run ./internal/tools/speed -limit 200ms  smaller sizes, a minute
//	go run ./internal/tools/speed -only kNN     these works alone, printed and not written
//	go run ./internal/tools/speed ours WORK DIR what scripts/peers.py calls
//
// Each work doubles its size until the next one would take longer than -limit. All
// runs on one core, and times are CPU times, so that other programs disturb them
// little. A line is printed and stored as soon as it is known: a run that was
// stopped goes on when it is started again on the same commit, without changes
// beside docs/speed.
//
// How cost grows is measured by a program (internal/tools/speed), not by a subcommand or by go test -bench. A user
// needs its table (docs/speed: time at a size, and the exponent beyond it), not a run of ten minutes. In process it
// has CPU times and allocations without parsing the output of another program, and a size that would take too long is
// left out beforehand. What others take is measured from their side (scripts/peers.py): both get the same files, and
// no time is printed before the results agree.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/internal/printable"
	"metriclab/internal/product"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/experiment/host"
)

func main() {
	runtime.GOMAXPROCS(1)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, printable.NewWriter(os.Stdout), os.Args[1:]); err != nil {
		stop()
		fmt.Fprintln(printable.NewWriter(os.Stderr), "speed:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, out io.Writer, args []string) error {
	if len(args) > 0 && args[0] == "ours" {
		if len(args) != 3 {
			return errors.New("usage: speed ours WORK DIR")
		}
		answer, err := ours(ctx, args[1], args[2], stopwatch())
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(answer)
	}
	flags := flag.NewFlagSet("speed", flag.ContinueOnError)
	limit := flags.Duration("limit", 5*time.Second, "CPU time that a size may take")
	only := flags.String("only", "", "measure the works whose name matches this regular expression, and write nothing")
	dir := flags.String("out", filepath.Join("docs", "speed"), "folder to write to")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() > 0 || *limit <= 0 {
		return errors.New("want no arguments, and a -limit above 0")
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	bin := filepath.Join(scratch, "metriclab")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	if text, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "metriclab/cmd/metriclab").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, text)
	}
	var works []work
	for _, w := range allWorks(bin, scratch) {
		if pattern.MatchString(w.name) {
			works = append(works, w)
		}
	}
	if len(works) == 0 {
		return fmt.Errorf("-only %s: no such work", *only)
	}
	if *only != "" {
		_, err := measureAll(ctx, works, *limit, stopwatch(), nil, func(p point) error {
			_, err := fmt.Fprintln(out, p.text())
			return err
		})
		return err
	}
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		return err
	}
	h, clean := thisHead(*limit, time.Now())
	return grow(ctx, out, *dir, works, h, clean, *limit)
}

// grow measures what the folder's table lacks, and renders it.
func grow(ctx context.Context, out io.Writer, dir string, works []work, h head, clean bool, limit time.Duration) error {
	path := filepath.Join(dir, tableName)
	var known []point
	if raw, err := os.ReadFile(path); err == nil && clean {
		if old, points, err := readTable(string(raw)); err == nil && old.same(h) {
			h, known = old, points
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(h.text() + tableHead); err != nil {
		return err
	}
	points, err := measureAll(ctx, works, limit, stopwatch(), known, func(p point) error {
		fmt.Fprintln(out, p.text())
		_, err := f.WriteString(p.line())
		return err
	})
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	files, err := page(h, works, points)
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := atomicfile.Write(filepath.Join(dir, file.Name), file.Data); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, "written to", dir)
	return nil
}

// stopwatch reads the CPU time of this process.
func stopwatch() func() time.Duration { return host.World(time.Now).ProcessCPU }

// head says where and of what a table was measured.
type head struct {
	Date, Machine, Go, Commit, Product, Limit string
}

// thisHead is that of a run now. clean says that the commit is all there is to say of
// the program: nothing but docs/speed differs from it.
func thisHead(limit time.Duration, now time.Time) (h head, clean bool) {
	b := host.World(time.Now).Build
	commit := host.Unknown
	if raw, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output(); err == nil {
		commit = strings.TrimSpace(string(raw))
		changes, err := exec.Command("git", "status", "--porcelain", "--", ":/", ":(top,exclude)docs/speed").Output()
		if clean = err == nil && len(changes) == 0; !clean {
			commit += " with changes"
		}
	}
	return head{
		Date: now.UTC().Format(time.DateOnly), Machine: machine(b), Go: fmt.Sprintf("%s %s/%s", b.Go, b.GOOS, b.GOARCH),
		Commit: commit, Product: product.Path(), Limit: limit.String(),
	}, clean
}

// machine says how many cores the program may use, of which it uses one.
func machine(b harness.Build) string {
	if b.Cores == 1 {
		return b.CPU + ", one core"
	}
	return fmt.Sprintf("%s, %d cores, one used", b.CPU, b.Cores)
}

// same says that both heads are of one program on one machine.
func (h head) same(g head) bool {
	h.Date = g.Date
	return h == g
}
