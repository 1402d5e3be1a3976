package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"metriclab/internal/closest"
	"metriclab/internal/printable"
	"metriclab/internal/slurm"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/limits"
)

// The exit codes; documented in the root command's help.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitMissing     = 3
	exitInterrupted = 130
)

// app is what the commands share: the papers and the world. Tests put their
// own in its place.
type app struct {
	papers         []experiment.Paper
	in             io.Reader    // of learn
	stdout, stderr io.Writer    // as they are: stderr for bars, which move the cursor
	heap           func() int64 // bytes that the heap takes; nil measures none

	// What is for people goes to out and err, where no text from a file or another program can do more to a terminal than be read, and no
	// message is longer than a screen. What another program reads, such as CSV, goes to data, byte for byte, unless that is a terminal, too. JSON may
	// go to either: it says the same in both.
	out       *printable.Writer
	err, data io.Writer

	terminal bool // err is one
	asks     bool // in is one, too
	mirror   string
	env      func(string) string // of the shard
	world    harness.World
	every    time.Duration // between lines of progress when piped
	engine   slurm.Engine
	args     []string // of the command line
	noted    []string // by note, for the JSON forms
}

func newApp(papers []experiment.Paper) *app {
	a := &app{
		papers: papers, in: os.Stdin, terminal: isTerminal(os.Stderr), asks: isTerminal(os.Stdin) && isTerminal(os.Stderr),
		mirror: os.Getenv("METRICLAB_MIRROR"), env: os.Getenv, world: world(), every: 30 * time.Second, heap: heapBytes,
	}
	a.streams(standardOutput(), os.Stderr)
	return a
}

// streams sets where all that is written goes.
func (a *app) streams(stdout, stderr io.Writer) {
	a.stdout, a.stderr = stdout, stderr
	a.out, a.err, a.data = printable.NewWriter(stdout), printable.NewMessages(stderr), stdout
	if a.showsData() {
		a.data = a.out
	}
}

// isTerminal reports whether f is a terminal that can show a bar: one without a
// size gets lines.
func isTerminal(f *os.File) bool {
	width, _, err := term.GetSize(int(f.Fd()))
	return err == nil && width > 0
}

// usageError is an error of whoever wrote the command line: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitError ends the program with a code; what there was to say is said.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// panicError is a panic, a bug of ours, with the stack.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n\n%s", e.value, e.stack) }

// safely makes an error of a panic of f: the runtime would print its text as it is.
func safely(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{v, debug.Stack()}
		}
	}()
	return f()
}

// execute runs a command line and returns the exit code. It works on a copy of a: what an interrupted command line left behind (see atOnce) may still use its own.
func execute(ctx context.Context, of *app, args []string) int {
	mine := *of
	a := &mine
	root := a.root()
	a.args, a.noted = args, nil
	root.SetArgs(args)
	err := safely(func() error { return root.ExecuteContext(ctx) })
	if err == nil {
		err = a.out.Err()
	}
	if _, bug := errors.AsType[*panicError](err); bug {
		a.err = printable.NewWriter(a.stderr) // the whole stack
	}
	var exit exitError
	var usage usageError
	var unknown *harness.UnknownError
	var config *harness.ConfigError
	var unknownData *datasets.UnknownError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		return int(exit)
	case ctx.Err() != nil:
		fmt.Fprintln(a.err, "metriclab: interrupted")
		return exitInterrupted
	}
	fmt.Fprintln(a.err, "metriclab:", err)
	if gone, ok := errors.AsType[*fs.PathError](err); ok && errors.Is(gone, fs.ErrNotExist) {
		if name := datasets.Holding(gone.Path); name != "" {
			fmt.Fprintf(a.err, "metriclab: that file is fetched by: metriclab data get %s\n", name)
		}
	}
	if errors.As(err, &usage) || errors.As(err, &unknown) || errors.As(err, &config) || errors.As(err, &unknownData) {
		return exitUsage
	}
	return exitFailed
}

// note tells what a reader should know of a file.
func (a *app) note(file string, notes []string) {
	for _, n := range notes {
		fmt.Fprintf(a.err, "%s: %s\n", file, n)
	}
	a.noted = append(a.noted, notes...)
}

// showsData tells whether standard output is a terminal.
func (a *app) showsData() bool {
	f, ok := a.stdout.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// interruptible returns a context that ends at the first interrupt or
// termination signal; the second one kills.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c := make(chan os.Signal, 1)
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has it ignored
		signals = append(signals, syscall.SIGHUP)
	}
	signal.Notify(c, signals...)
	go func() {
		select {
		case <-c:
			signal.Stop(c) // the next one has its default effect
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// maxMemory is the flag of limits.SetMemory.
const maxMemory = "max-memory"

func (a *app) root() *cobra.Command {
	var memory string
	root := &cobra.Command{
		Use:   "metriclab",
		Short: "Regenerate the figures of papers on metric learning and grade their claims",
		Long: `metriclab regenerates the figures and tables of papers on metric learning,
grades each of their claims against what it measured, and writes a report.

Exit codes: 0 all is well; 1 something failed (jobs, figures, data, files);
2 the command line or the environment is wrong, so that the same command never
succeeds; 3 merge: jobs are missing; 130 interrupted.

What a size in a file, a flag or a parameter would allocate is checked before it is
allocated. --max-memory is the limit for one object: a learner, a matrix, a table, a
saved file. The process needs a few times as much, since work on an object makes
copies. The units are B, kB, MB, GB, TB and KiB, MiB, GiB, TiB.`,
		Args:          noArgs,
		Version:       a.world.Build.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if !c.Flags().Changed(maxMemory) {
				return nil
			}
			bytes, err := limits.ParseSize(memory)
			if err != nil {
				return usageError{fmt.Errorf("flag --%s: %w", maxMemory, err)}
			}
			limits.SetMemory(bytes)
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.out, overview)
			return err
		},
	}
	root.PersistentFlags().StringVar(&memory, maxMemory, "4GiB", "largest `size` of one object in memory (learner, matrix, table, file), such as 500MB or 8GiB")
	completeFlag(root, maxMemory, cobra.NoFileCompletions)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if _, args, found := c.Root().Find(a.args); found == nil {
			if all := flagErrors(c, args); all != nil {
				err = all
			}
		}
		if errors.As(err, new(several)) {
			return usageError{fmt.Errorf("%w\n  see: %s --help", err, c.CommandPath())}
		}
		return usageError{fmt.Errorf("%w; see: %s --help", err, c.CommandPath())}
	})
	root.DisableAutoGenTag = true // the documentation has no date
	root.AddCommand(a.listCommand(), a.runCommand(), a.statusCommand(), a.mergeCommand(), a.submitCommand(), a.planCommand(), a.reportCommand(), a.reseedCommand(), a.explainCommand(), a.newCommand(), a.dataCommand(), a.lookCommand(), a.fitCommand(), a.evaluateCommand(), a.compareCommand(), a.adaptCommand(), a.askCommand(), a.transformCommand(), a.plotCommand(), a.predictCommand(), a.neighboursCommand(), a.learnCommand(), a.learnersCommand(), a.versionCommand(), a.completionCommand())
	root.AddCommand(topics()...)
	root.SetUsageTemplate(usageTemplate)
	root.SetVersionTemplate("metriclab {{.Version}}\n")
	completeData(root)
	return root
}

const overview = `metriclab: papers on metric learning, run again and graded. What it can do:
  metriclab run                      run everything on built-in data (seconds), end with a report
  metriclab run --scale full         the papers' protocols; resumes where it was stopped
  metriclab run pola2004/fig3        one experiment; --dry-run says what would run
  metriclab list                     the papers, experiments and figures
  metriclab status                   what is done, missing, failed
  metriclab merge DIR ...            one result from the shards of several machines (run --shard i/n)
  metriclab plan --workers 8         how long that takes, and where more workers stop helping
  metriclab submit slurm             the same as a Slurm job array, merged at its end
  metriclab report --scale full      the report and the scorecard from what is there
  metriclab reseed pola2004/fig3     again with another seed: which verdicts change
  metriclab explain pola2004/fig3    what was found of each claim; with a claim's name, why
  metriclab new experiment NAME      a program with an experiment of one's own, to begin with
  metriclab data get                 fetch the data that full scale needs
  metriclab fit DATA.csv             learn a metric on your own table and save it
  metriclab evaluate DATA.csv        its nearest-neighbour error, beside Euclidean
  metriclab compare DATA.csv         learners ranked by it, and which to take
  metriclab transform DATA.csv       the table embedded by a fitted metric
  metriclab plot DATA.csv            the same, as a plot
  metriclab predict NEW.csv          the classes of new rows, by their nearest training rows
  metriclab neighbours NEW.csv       the nearest training rows of new rows
  metriclab learn --learner pola     learn online from JSON lines, answer each with a prediction
  metriclab learners itml            all about a learner; without a name, which there are
Every command explains itself with --help. Exit codes: 0, 1 failed, 2 usage, 3 missing, 130 interrupted.
`

func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !c.HasSubCommands() {
		return usageError{fmt.Errorf("%s takes no arguments, got %q", c.CommandPath(), args)}
	}
	msg := fmt.Sprintf("unknown command %q for %q", args[0], c.CommandPath())
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return usageError{errors.New(msg + closest.Hint(args[0], names))}
}

// flags are those that choose experiments and folders.
type flags struct {
	scale   string
	results string
	data    string
}

func (f *flags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.scale, "scale", string(experiment.Smoke), "smoke (built-in data, seconds) or full (the papers' protocols)")
	completeFlag(c, "scale", completeScales)
	c.Flags().StringVar(&f.results, "results", "", "folder of results instead of results/ (full) or out/smoke/ (smoke)")
	completeFolder(c, "results")
	addData(c, &f.data)
}

func addData(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "data", "data", "folder of data sets")
	completeFolder(c, "data")
}

// selected turns flags into a Config and arguments into experiments.
func (a *app) selected(f *flags, args []string) ([]harness.Selected, harness.Config, error) {
	scale, err := experiment.ParseScale(f.scale)
	if err != nil {
		return nil, harness.Config{}, usageError{fmt.Errorf("flag --scale: %w", err)}
	}
	sel, err := harness.Select(a.papers, args)
	return sel, harness.Config{
		Scale: scale, Folders: harness.FoldersFor(scale, f.results), Workers: a.world.Build.GOMAXPROCS,
		Data: datasets.Open(f.data), World: a.world, Papers: a.papers,
		Origin: harness.Origin{Program: "metriclab", Verdicts: `docs/design.md, "Claims and verdicts"`},
	}, err
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// about rounds a duration for people: "about 5m", "less than 1s".
func about(d time.Duration) string {
	if d < time.Second {
		return "less than 1s"
	}
	if d < 10*time.Minute {
		d = d.Round(time.Second)
	} else {
		d = d.Round(time.Minute)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return "about " + s
}
