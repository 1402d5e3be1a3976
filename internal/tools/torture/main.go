//go:build unix

// Command torture treats the results folder of a smoke run as badly as the world
// does, and the other files that one resumes from, and counts what is lost:
//
//	go run ./internal/tools/torture           at most 15 minutes
//	go run ./internal/tools/torture -short    at most 1 minute, as CI does
//
// It builds the command and runs some quick experiments once undisturbed. Then it
// kills, interrupts, merges, flips bits, limits files, runs two at a time and
// removes the folder under a run. After each of these the same command must go on
// to the tables and figures of the undisturbed run, byte for byte. Times differ
// from run to run: timing.csv, meta.json, report.html and .runs are not compared.
// The journal of compare --resume is treated likewise; a damaged saved learner must
// be refused. A kind of which fewer than a tenth of the tries are made, or none may
// be made though CI is set, fails.
//
// Moments and places are random. The seed is printed and can be given again, but
// a moment hits another instruction each time. It is for Unix only: Windows has
// no such signals and limits.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"metriclab/internal/printable"
)

// selection is quick and leaves out what draws measured times.
var selection = []string{
	"pola2004/theorem1", "pola2004/rings", "rmp2007/setcover", "rmp2007/example",
	"erkle2015/skips", "erkle2015/fig2-errors", "logdet2012/table1",
}

// kind is one way to disturb runs. Its attempt makes at least one try.
type kind struct {
	name    string
	tries   int // wanted
	attempt func(c *campaign, r *result) error
}

// The kinds in their order: what takes longest comes last and gets the time that
// the others left.
func kinds() []*kind {
	return []*kind{
		{"saved learner: bits flipped", 60, (*campaign).flipSaved},
		{"journal: bits flipped, cut off", 40, (*campaign).flipCompare},
		{"journal: limits on its size", 20, (*campaign).fillCompare},
		{"journal: two to four at once", 20, (*campaign).togetherCompare},
		{"journal: kill -9", 40, (*campaign).killCompare},
		{"merges of shards", 12, (*campaign).merge},
		{"bits flipped in cells", 200, (*campaign).flip},
		{"limits on file size", 30, (*campaign).fill},
		{"full disk", 20, (*campaign).fillDisk},
		{"two runs at once", 20, (*campaign).together},
		{"folder removed in mid-run", 20, (*campaign).remove},
		{"SIGINT or SIGTERM", 60, (*campaign).interrupt},
		{"kill -9", 200, (*campaign).kill},
	}
}

// quick is the selection for -short.
var quick = []string{"pola2004/rings", "rmp2007/setcover", "erkle2015/skips"}

// result counts the tries of one kind.
type result struct {
	tries, losses int
	refused       string         // why no try can be made here
	counts        map[string]int // of harmless outcomes worth knowing
	took          time.Duration
}

func main() {
	all := kinds()
	flags := []string{"saved-flips", "journal-flips", "journal-limits", "journal-pairs", "journal-kills", "merges", "flips", "limits", "disks", "pairs", "removals", "signals", "kills"}
	for i, k := range all {
		flag.IntVar(&k.tries, flags[i], k.tries, "tries: "+k.name)
	}
	short := flag.Bool("short", false, "a tenth of the tries on fewer experiments, and a minute at most")
	limit := flag.Duration("cap", 15*time.Minute, "time after which no try starts; each kind has its share")
	seed := flag.Uint64("seed", 0, "seed of moments and places (default: a new one)")
	bin := flag.String("bin", "", "program to torture (default: cmd/metriclab, built here)")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	experiments := selection
	if *short {
		experiments = quick
		for _, k := range all {
			if k.tries > 0 {
				k.tries = max(1, k.tries/10)
			}
		}
		*limit = min(*limit, time.Minute)
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	lost, err := torture(ctx, printable.NewWriter(os.Stdout), all, *bin, experiments, *seed, *limit, os.Getenv("CI") != "")
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(printable.NewWriter(os.Stderr), "torture:", err)
		os.Exit(1)
	case lost > 0:
		fmt.Fprintf(printable.NewWriter(os.Stderr), "torture: %d losses\n", lost)
		os.Exit(1)
	}
}

// torture makes the tries of all kinds, prints them, and returns the number of
// losses. An error is one of the torture itself.
func torture(ctx context.Context, w io.Writer, all []*kind, bin string, experiments []string, seed uint64, limit time.Duration, ci bool) (int, error) {
	dir, err := os.MkdirTemp("", "torture-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if bin == "" {
		bin = filepath.Join(dir, "metriclab")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "metriclab/cmd/metriclab").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	start := time.Now()
	fmt.Fprintf(w, "seed %d, at most %v\n", seed, limit)
	c := &campaign{ctx: ctx, out: w, bin: bin, dir: dir, experiments: experiments, rng: rand.New(rand.NewPCG(seed, 0))}
	if err := c.undisturbed(); err != nil {
		return 0, err
	}
	fmt.Fprintf(w, "undisturbed: %d files to compare, %.1f s\n", len(c.want), c.length.Seconds())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "kind\ttries\tlosses\tseconds\t")
	lost := 0
	var missing []string
	for i, k := range all {
		// An equal share of what is left.
		r, err := c.tries(k, time.Now().Add((limit-time.Since(start))/time.Duration(len(all)-i)))
		if err != nil {
			return lost, fmt.Errorf("%s: %w", k.name, err)
		}
		lost += r.losses
		fmt.Fprintf(t, "%s\t%d\t%d\t%.0f\t%s\n", k.name, r.tries, r.losses, r.took.Seconds(), r.remark(k))
		if least := (k.tries + 9) / 10; r.refused == "" && r.tries < least || r.refused != "" && ci && k.tries > 0 {
			missing = append(missing, fmt.Sprintf("%s: %d tries, want at least %d", k.name, r.tries, least))
		}
	}
	if err := t.Flush(); err != nil {
		return lost, err
	}
	if missing != nil {
		return lost, fmt.Errorf("too little was tried: %s", strings.Join(missing, "; "))
	}
	return lost, nil
}

// patience is how many attempts the first try of a kind may take after the deadline:
// a run may end before the moment at which it was to be disturbed.
const patience = 50

// tries makes the tries of one kind until the deadline, at least one.
func (c *campaign) tries(k *kind, deadline time.Time) (*result, error) {
	start := time.Now()
	r := &result{counts: map[string]int{}}
	for attempts := 0; r.refused == "" && r.tries < k.tries && (r.tries == 0 && attempts < patience || time.Now().Before(deadline)); attempts++ {
		if err := k.attempt(c, r); err != nil {
			return nil, err
		}
		if err := c.ctx.Err(); err != nil {
			return nil, err
		}
	}
	if r.tries == 0 && k.tries > 0 && r.refused == "" {
		return nil, fmt.Errorf("no try in %d attempts: each run ended before", patience)
	}
	r.took = time.Since(start)
	return r, nil
}
