// Command recompute runs some jobs of the committed results anew and compares their rows with the committed ones.
//
//	go run ./internal/tools/recompute             50 jobs, or as many as took 260 s together, chosen by the commit's hash
//	go run ./internal/tools/recompute -list       says which, with the times that they took
//	go run ./internal/tools/recompute -n 5 -by 7  five jobs, chosen by another text
//
// It chooses among first trials at full scale that took less than two minutes, so that over many commits all are
// recomputed. Times are those committed, of the processor. Rows are equal to the last digit on amd64 with fused multiply-adds, and up to
// -tolerance elsewhere. A data set that is missing is an error, and so are committed rows whose job has another id now.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"metriclab/internal/cores"
	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/internal/product"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/papers"
	"metriclab/pkg/table"
)

const (
	longest  = 120 // seconds of the processor that a job took that is recomputed
	together = 260 // seconds of the processor after which no further job is chosen
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Stdout, os.Args[1:]); err != nil {
		stop()
		fmt.Fprintln(printable.NewWriter(os.Stderr), "recompute:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("recompute", flag.ContinueOnError)
	most := flags.Int("n", 50, "how many jobs")
	by := flags.String("by", "", "text by whose hash they are chosen (default: the commit)")
	list := flags.Bool("list", false, "list the jobs, and run none")
	results := flags.String("results", "results", "folder of the committed results")
	data := flags.String("data", "data", "folder of data sets")
	tolerance := flags.Float64("tolerance", 1e-6, "relative difference of numbers that is allowed where other processors round otherwise")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *most < 1 || !(*tolerance >= 0) {
		return errors.New("usage: recompute [-n JOBS] [-by TEXT] [-list] [-results DIR] [-data DIR] [-tolerance T]")
	}
	if *by == "" {
		commit, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
		if err != nil {
			return fmt.Errorf("the commit is not known; -by chooses by another text: %w", err)
		}
		*by = strings.TrimSpace(string(commit))
	}
	exact := runtime.GOARCH == "amd64" && !strings.HasPrefix(product.Path(), "gonum")
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "tolerance" })
	if exact && !given {
		*tolerance = 0
	}
	store := datasets.Open(*data)
	var jobs []job
	for _, p := range papers.All {
		for _, s := range p.Experiments {
			some, err := jobsOf(ctx, s, *results, store)
			if err != nil {
				return err
			}
			jobs = append(jobs, some...)
		}
	}
	all := len(jobs)
	jobs = chosen(jobs, *by, *most)
	var took float64
	for i, j := range jobs {
		if took += j.seconds; took > together {
			jobs = jobs[:i+1]
			break
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(b.seconds, a.seconds) }) // no long one alone at the end
	fmt.Fprintf(out, "%d of %s under %d s, by %s; committed times together %s\n", len(jobs), plural.Of(all, "first trial"), longest, *by, time.Duration(took*float64(time.Second)).Round(time.Second))
	if *list {
		for _, j := range jobs {
			fmt.Fprintf(out, "%6.1f s  %s\n", j.seconds, j)
		}
		return nil
	}
	differ := run(ctx, out, jobs, store, *tolerance)
	if err := ctx.Err(); err != nil {
		return err
	}
	if differ > 0 {
		return fmt.Errorf("%d of %s differ from the committed rows", differ, plural.Of(len(jobs), "job"))
	}
	fmt.Fprintf(out, "%d passed, 0 failed\n", len(jobs))
	return nil
}

// job is a first trial with its committed rows.
type job struct {
	harness.Job
	spec    experiment.Spec
	rows    *table.Table
	seconds float64
}

func (j job) String() string { return j.spec.ID + ", " + j.Cell.Name }

// chosen returns most of the jobs, in an order that a text decides.
func chosen(jobs []job, by string, most int) []job {
	rank := func(j job) string {
		sum := sha256.Sum256([]byte(by + " " + j.ID))
		return hex.EncodeToString(sum[:])
	}
	jobs = slices.SortedFunc(slices.Values(jobs), func(a, b job) int { return cmp.Compare(rank(a), rank(b)) })
	return jobs[:min(most, len(jobs))]
}

// jobsOf returns the first trials of an experiment, but for long ones and those whose data only a user can supply.
func jobsOf(ctx context.Context, s experiment.Spec, results string, store *datasets.Store) ([]job, error) {
	dir := filepath.Join(results, filepath.FromSlash(s.ID))
	rows, err := harness.ReadTable(s, dir)
	if s.Pending && errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	times, err := harness.ReadTimes(s, dir)
	if err != nil {
		return nil, err
	}
	wrong := map[string]error{} // by data set
	digest := func(name string) string {
		if _, err := datasets.Lookup(name); err != nil {
			return "" // generated
		}
		sum, err := store.Checksum(ctx, name)
		wrong[name] = err
		return sum
	}
	var out []job
	for _, j := range harness.Jobs(s, experiment.Full, 1, 1, digest) {
		if j.Cell.Supplied {
			continue
		}
		if err := wrong[j.Cell.Dataset]; err != nil {
			return nil, fmt.Errorf("%s: %w", s.ID, err)
		}
		mine := rows.Where("cell", j.Cell.Name, "trial", "0")
		total := times.Where("cell", j.Cell.Name, "trial", "0", "phase", experiment.TotalPhase)
		if mine.Len() == 0 || total.Len() == 0 || !strings.HasPrefix(j.ID, mine.Index("job")[0]) {
			return nil, fmt.Errorf("%s, %s: what is committed is not of the job %.16s; run it at full scale", s.ID, j.Cell.Name, j.ID)
		}
		if seconds := total.Values("cpu_s")[0]; seconds < longest {
			out = append(out, job{j, s, mine, seconds})
		}
	}
	return out, nil
}

// run recomputes the jobs on all cores, and returns how many differ. It says what differs, and which job ended.
func run(ctx context.Context, out io.Writer, jobs []job, store *datasets.Store, tolerance float64) (differ int) {
	var mu sync.Mutex
	cores.Do(len(jobs), func(i int) {
		if ctx.Err() != nil {
			return
		}
		j := jobs[i]
		env := &experiment.Env{Scale: experiment.Full, Data: store, Lap: func(string) func() { return func() {} }}
		rows, err := j.spec.Run(ctx, env, j.Cell, j.Seed)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = difference(j.rows, rows, tolerance)
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			differ++
			fmt.Fprintf(out, "DIFFERS  %s: %v\n", j, err)
			return
		}
		fmt.Fprintf(out, "equal    %s\n", j)
	})
	return differ
}

// difference tells the first cell in which the rows computed are not the committed ones.
func difference(committed, computed *table.Table, tolerance float64) error {
	if a, b := committed.Len(), computed.Len(); a != b {
		return fmt.Errorf("%s are committed, %d computed", plural.Of(a, "row"), b)
	}
	for _, name := range computed.IndexNames() {
		want := committed.Index(name)
		for i, got := range computed.Index(name) {
			if got != want[i] {
				return fmt.Errorf("row %d, %s: committed is %q, computed %q", i+1, name, want[i], got)
			}
		}
	}
	for _, name := range computed.ValueNames() {
		want := committed.Values(name)
		for i, got := range asWritten(computed.Values(name)) {
			if !(math.Abs(got-want[i]) <= tolerance*math.Abs(want[i])) && !(math.IsNaN(got) && math.IsNaN(want[i])) && got != want[i] {
				return fmt.Errorf("row %d, %s: committed is %v, computed %v", i+1, name, want[i], got)
			}
		}
	}
	return nil
}

// asWritten returns values as a table of results has them.
func asWritten(values []float64) []float64 {
	t := table.New(nil, []string{"v"})
	for _, v := range values {
		t.Add(nil, table.Values{"v": v})
	}
	var b bytes.Buffer
	if err := t.WriteCSV(&b); err != nil {
		return values
	}
	read, err := table.ReadCSV(&b, "rows", nil, []string{"v"})
	if err != nil {
		return values
	}
	return read.Values("v")
}
