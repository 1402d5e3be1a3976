package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/internal/shellword"
	"metriclab/internal/slurm"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/limits"
)

// maxShards bounds the tasks of an array: Slurm's own default is 1,001, and few sites allow more.
const maxShards = 10_000

// slurmFlags are those of submit slurm.
type slurmFlags struct {
	shards, maxRunning, cpus, requeues int
	partition, account, time, mem      string
	dry, resume                        bool
}

func (a *app) submitSlurmCommand() *cobra.Command {
	var f flags
	var few filters
	var s slurmFlags
	c := &cobra.Command{
		Use:   "slurm [paper|experiment ...]",
		Short: "Run as a Slurm job array, and merge at its end",
		Long: `Submit the jobs of the named experiments (all, if none is named) as a Slurm job array
of --shards tasks, of which --max-running run at a time. Slurm starts a merge when all
tasks have ended, whether they succeeded or not. Give 4 to 8 shards for each task that
runs at a time: shards are not equally long.

The folder slurm in the results folder holds the scripts array.sbatch and merge.sbatch,
which sbatch also takes by hand, the logs, a copy of this program, which all tasks run,
and submit.json. The results folder and --data must be reachable under the same
path on all nodes. Data are verified before anything is submitted.

metriclab status --results DIR shows how each shard stands, and why one failed.
--resume submits those shards again that miss jobs and do not wait or run, with the
program, the flags and the number of shards of the first time. Ctrl-C and scancel
lose nothing but jobs in flight.

--retry n puts a task that fails, is killed or runs out of time back into the queue, up
to n times; the merge waits for it. Without --time the limit is that of the partition.`,
		Example: `  metriclab submit slurm pola2004 --scale full --shards 32 --max-running 8 --results /shared/results --data /shared/data --time 02:00:00
  metriclab status --results /shared/results --scale full
  metriclab submit slurm --resume --results /shared/results`,
		ValidArgsFunction: a.completeExperiments,
		RunE: func(c *cobra.Command, args []string) error {
			if err := atLeastOne(c, "shards", s.shards, "max-running", s.maxRunning, "cpus", s.cpus); err != nil {
				return err
			}
			if err := s.check(); err != nil {
				return err
			}
			if !c.Flags().Changed("results") {
				return usageError{errors.New("flag --results: no folder given, want one that all nodes reach under the same path")}
			}
			if s.resume {
				for _, name := range []string{"scale", "data", "shards", "trials", "seed", "cell"} {
					if c.Flags().Changed(name) {
						return usageError{fmt.Errorf("flag --%s: --resume takes it from %s", name, filepath.Join(batchDir, batchFile))}
					}
				}
				if len(args) > 0 {
					return usageError{errors.New("submit slurm --resume takes no experiments: they are those of the first time")}
				}
				return a.resubmit(c, &f, s)
			}
			if s.shards == 0 {
				return usageError{errors.New("flag --shards: no number given, want 4 to 8 for each task that is to run at a time")}
			}
			return a.submit(c, args, &f, few, s)
		},
	}
	f.add(c)
	few.add(a, c, &f)
	c.Flags().IntVar(&s.shards, "shards", 0, fmt.Sprintf("tasks of the array, at most %d", maxShards))
	c.Flags().IntVar(&s.maxRunning, "max-running", 0, "tasks that run at a time (default: as Slurm allows)")
	c.Flags().IntVar(&s.cpus, "cpus", 1, "processors of a task, and jobs that it runs at a time")
	c.Flags().IntVar(&s.requeues, "retry", 0, "how often a task that ended too early goes back to the queue by itself, at most 100")
	c.Flags().StringVar(&s.partition, "partition", "", "Slurm partition")
	c.Flags().StringVar(&s.account, "account", "", "Slurm account")
	c.Flags().StringVar(&s.time, "time", "", "time limit of a task, such as 02:00:00")
	c.Flags().StringVar(&s.mem, "mem", "", "memory of a task, such as 4G")
	c.Flags().BoolVar(&s.dry, "dry-run", false, "print the scripts and the commands, and write and submit nothing")
	c.Flags().BoolVar(&s.resume, "resume", false, "submit again what is missing of an earlier submission into the same results folder")
	return c
}

var (
	slurmTime = regexp.MustCompile(`^([0-9]+-)?[0-9]+(:[0-9]+){0,2}$`)
	slurmMem  = regexp.MustCompile(`^[0-9]+[KMGT]?$`)
	slurmWord = regexp.MustCompile(`^[A-Za-z0-9._,-]+$`)
)

func (s slurmFlags) check() error {
	bad := func(flag, value, want string) error {
		return usageError{fmt.Errorf("flag --%s: %q is not allowed, want %s", flag, value, want)}
	}
	switch {
	case s.shards > maxShards:
		return usageError{fmt.Errorf("flag --shards: %d is not allowed, want at most %d", s.shards, maxShards)}
	case s.requeues < 0 || s.requeues > 100:
		return usageError{fmt.Errorf("flag --retry: %d is not allowed, want 0 to 100", s.requeues)}
	case s.time != "" && !slurmTime.MatchString(s.time):
		return bad("time", s.time, "minutes, hours:minutes:seconds or days-hours, as sbatch takes it")
	case s.mem != "" && !slurmMem.MatchString(s.mem):
		return bad("mem", s.mem, "a number with K, M, G or T")
	case s.partition != "" && !slurmWord.MatchString(s.partition):
		return bad("partition", s.partition, "names without blanks")
	case s.account != "" && !slurmWord.MatchString(s.account):
		return bad("account", s.account, "a name without blanks")
	}
	return nil
}

// submit writes the scripts and submits them.
func (a *app) submit(c *cobra.Command, args []string, f *flags, few filters, s slurmFlags) error {
	sel, cfg, err := a.selected(f, args)
	if err != nil {
		return err
	}
	if err := few.apply(c, &cfg); err != nil {
		return err
	}
	record := submitted{
		Schema: batchSchema, Experiments: args, Scale: cfg.Scale, Trials: cfg.Trials, Seed: cfg.Seed, Cells: cfg.Cells,
		Shards: s.shards, MaxRunning: s.maxRunning,
	}
	results, err := filepath.Abs(f.results)
	if err != nil {
		return err
	}
	if record.Data, err = filepath.Abs(f.data); err != nil {
		return err
	}
	cfg.Folders = harness.FoldersFor(cfg.Scale, results)
	home := filepath.Join(results, batchDir)
	if old, err := readSubmitted(home); err == nil {
		return usageError{fmt.Errorf("%s: %s was submitted here already; --resume goes on with it, or choose another folder", home, strings.Join(old.Arrays, ", "))}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	all, err := harness.Stand(c.Context(), sel, cfg)
	if err != nil {
		return err
	}
	toRun := 0
	for _, st := range all {
		toRun += st.ToRun
	}
	if toRun == 0 {
		return fmt.Errorf("all jobs are done in %s: nothing to submit; metriclab merge makes the report", results)
	}
	if err := harness.CheckData(c.Context(), sel, cfg); err != nil {
		return err
	}
	b, err := record.batch(home, s)
	if err != nil {
		return err
	}
	if s.dry {
		fmt.Fprintf(a.out, "# %s\n%s\n# %s\n%s\n", filepath.Join(home, arrayScript), b.Array(), filepath.Join(home, mergeScript), b.Merge())
		fmt.Fprintf(a.out, "# then: sbatch --parsable %s; sbatch --parsable --dependency=afterany:ARRAY %s\n", shellword.Quote(filepath.Join(home, arrayScript)), shellword.Quote(filepath.Join(home, mergeScript)))
		fmt.Fprintf(a.out, "# %s in %s\n", plural.Of(toRun, "job"), plural.Of(s.shards, "shard"))
		return nil
	}
	if err := os.MkdirAll(b.Logs, 0o777); err != nil { // a task whose log has no folder fails without a word
		return err
	}
	if err := copyProgram(b.Program); err != nil {
		return err
	}
	if err := errors.Join(atomicfile.Write(filepath.Join(home, arrayScript), b.Array()), atomicfile.Write(filepath.Join(home, mergeScript), b.Merge())); err != nil {
		return err
	}
	return a.send(c.Context(), home, results, &record, toRun)
}

const arrayScript, mergeScript = "array.sbatch", "merge.sbatch"

// batch returns what the scripts say.
func (r submitted) batch(home string, s slurmFlags) (slurm.Batch, error) {
	results := filepath.Dir(home)
	for _, path := range []string{results, r.Data} {
		if err := oneLinePath(path, " %\\\"'"); err != nil { // sbatch has a language of its own
			return slurm.Batch{}, err
		}
	}
	some := append((&filters{r.Trials, r.Seed, r.Cells}).words(string(r.Scale)), "--results", results, "--data", r.Data)
	merge := append([]string{"merge"}, some...)
	for _, e := range r.Experiments {
		merge = append(merge, "--experiment", e)
	}
	return slurm.Batch{
		Name: "metriclab", Program: filepath.Join(home, programName), Dir: results, Logs: filepath.Join(home, "logs"),
		Args: append(append(append([]string{"run"}, r.Experiments...), some...), "--jobs", fmt.Sprint(s.cpus)), MergeArgs: merge,
		Shards: r.Shards, MaxRunning: s.maxRunning, Requeues: s.requeues,
		Partition: s.partition, Account: s.account, Time: s.time, Mem: s.mem, CPUs: s.cpus,
	}, nil
}

// programName is the copy of the program that all tasks run.
const programName = "metriclab"

// copyProgram copies this program.
func copyProgram(to string) error {
	from, err := os.Executable()
	if err != nil {
		return err
	}
	data, err := limits.ReadFile(from)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(to, data); err != nil {
		return err
	}
	info, err := os.Stat(to)
	if err != nil {
		return err
	}
	return os.Chmod(to, info.Mode()|info.Mode()&0o444>>2) // for whom the umask lets read
}

// send submits the array, some tasks of it if which is given, and the merge, and keeps their ids.
func (a *app) send(ctx context.Context, home, results string, r *submitted, toRun int, which ...int) error {
	var some []string
	if len(which) > 0 {
		some = []string{"--array=" + slurm.Tasks(which, r.MaxRunning)}
	}
	array, err := a.engine.Submit(ctx, filepath.Join(home, arrayScript), some...)
	if err != nil {
		return fmt.Errorf("the array was not submitted: %w; the scripts are in %s", err, home)
	}
	r.Arrays = append(r.Arrays, array)
	merge, failed := a.engine.Submit(ctx, filepath.Join(home, mergeScript), "--dependency=afterany:"+array)
	if failed == nil {
		r.Merges = append(r.Merges, merge)
	}
	if err := r.write(home); err != nil {
		return fmt.Errorf("job %s was submitted, but that could not be noted: %w", array, err)
	}
	if failed != nil {
		return fmt.Errorf("the array is job %s, but its merge was not submitted: %w; run metriclab merge at its end", array, failed)
	}
	tasks := r.Shards
	if len(which) > 0 {
		tasks = len(which)
	}
	fmt.Fprintf(a.out, "submitted: job %s, %s with %s to run; and its merge, job %s\n", array, plural.Of(tasks, "task"), plural.Of(toRun, "job"), merge)
	where := " --results " + shellword.Quote(results) + " --scale " + string(r.Scale)
	fmt.Fprintf(a.out, "how it stands:    metriclab status%s\nto stop it:       scancel %s %s\nto go on then:    metriclab submit slurm --resume --results %s\n", where, array, merge, shellword.Quote(results))
	return nil
}

// resubmit is submit --resume.
func (a *app) resubmit(c *cobra.Command, f *flags, s slurmFlags) error {
	results, err := filepath.Abs(f.results)
	if err != nil {
		return err
	}
	home := filepath.Join(results, batchDir)
	r, err := readSubmitted(home)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: nothing was submitted here", home)
	}
	if err != nil {
		return err
	}
	if c.Flags().Changed("max-running") {
		r.MaxRunning = s.maxRunning
	}
	shards, err := a.shards(c.Context(), results, r)
	if err != nil {
		return err
	}
	var which []int
	toRun, alive := 0, 0
	for _, sh := range shards {
		switch {
		case sh.missing+sh.failed == 0:
		case sh.task.Alive():
			alive++
		default:
			which = append(which, sh.index)
			toRun += sh.missing + sh.failed
		}
	}
	if alive > 0 {
		fmt.Fprintf(a.out, "left alone, since it waits or runs: %s\n", plural.Of(alive, "task"))
	}
	if len(which) == 0 {
		if alive > 0 {
			return nil
		}
		return fmt.Errorf("all jobs are done in %s: nothing to submit; metriclab merge makes the report", results)
	}
	if s.dry {
		fmt.Fprintf(a.out, "# sbatch --parsable --array=%s %s\n", slurm.Tasks(which, r.MaxRunning), shellword.Quote(filepath.Join(home, arrayScript)))
		return nil
	}
	return a.send(c.Context(), home, results, &r, toRun, which...)
}
