// Package harness runs what package experiment declares. It plans the jobs, runs them in
// parallel, and keeps each finished job in a store that survives a kill at any moment. It
// merges the stores of several machines, renders the views, grades the claims, publishes what
// is complete and writes the report. It knows no learner and no paper.
//
//	Run, Report, Merge   jobs, figures, findings, report
//	Stand, Explain       where experiments stand, and what was found; these write nothing
//	ReadTable, ReadTimes a published table
//	Collect              the table of an experiment in memory, for notebooks and tests
//
// # How it is built
//
// A run plans the jobs of each experiment, runs those without a result, and keeps each finished job in its own
// file. When the last job of an experiment has ended, its views are rendered and its claims graded. Pages and report
// come last.
//
//   - A job is done if the store or the published table has its id. So whoever clones the project goes on from
//     results/.
//   - There are no locks. Each file is written under another name and renamed, meta.json last: a kill leaves
//     nothing half-written, and processes may share a folder.
//   - Checksums find accidents. A damaged file is named, and its job runs again.
//   - Nothing is invented: clock, machine and program are what Config.World and Config.Origin tell.
package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"metriclab/internal/atomicfile"
	"metriclab/internal/cores"
	"metriclab/internal/cpushare"
	"metriclab/internal/plural"
	"metriclab/internal/shellword"
	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// EventKind says what an Event reports.
type EventKind string

// The kinds of events.
const (
	// EventPlanned comes once, before the first job; Total is the number of jobs to run.
	EventPlanned EventKind = "planned"
	// EventStarted, EventFinished and EventFailed concern one job.
	EventStarted  EventKind = "started"
	EventFinished EventKind = "finished"
	EventFailed   EventKind = "failed"
	// EventDamaged concerns one file that cannot be used. Those of the selected
	// experiments come before Planned.
	EventDamaged EventKind = "damaged"
	// EventDrawn comes when the last job of an experiment has ended and its files are written;
	// for the report, of experiments that were not selected, too.
	EventDrawn EventKind = "drawn"
)

// Event is one step of a run.
type Event struct {
	Kind       EventKind
	Experiment string        // not set when Planned
	Cell       string        // of Started, Finished, Failed
	Trial      int           // of Started, Finished, Failed
	Err        error         // of Failed
	File       DamagedFile   // of Damaged
	NoChecksum int           // of Planned: jobs to run, since their files have no checksum
	Outcome    *Outcome      // of Drawn
	Ended      int           // jobs that have ended, whatever way
	Total      int           // jobs to run
	Drawn      int           // experiments that are rendered
	ToDraw     int           // experiments to render, for the report those that were not selected too
	Left       time.Duration // expected time to the end, rendering included; 0 if unknown
}

// Outcome is what became of one experiment. Of a run of one shard it counts the
// jobs of the shard only, and nothing is rendered.
type Outcome struct {
	Paper experiment.Paper
	Spec  experiment.Spec
	// Jobs of the table, how many have rows, how many ran and failed now.
	Jobs, Done, Ran, Failed int
	// Published says that the results folder holds the complete table; else Dir
	// holds a draft, with Watermark, or is "" if there is nothing to render.
	Published bool
	Watermark string
	Dir       string
	Table     *table.Table
	Times     *table.Table // with the columns of TimesColumns
	Views     []DrawnView
	Claims    []GradedClaim
	// Problem says which published file cannot be used, and why; "" if none, or if
	// the run has made it anew.
	Problem string
	// Err says what went wrong in rendering, grading or writing.
	Err error

	meta *metaJSON // nil if there is no table
	// jobsSum is of the ids of the jobs of the standard trials, with the base seed of the run.
	jobsSum string
	files   []string // of Dir, that are complete
	kept    bool     // Dir has what is shown, rendered before
}

// FailedJob is one job that failed in this run.
type FailedJob struct {
	Experiment, Cell string
	Trial            int
	ID               string
	Err              error
	Stack            string // of a panic; else ""
}

// Result is what Run did.
type Result struct {
	Outcomes []*Outcome
	Failed   []FailedJob
	// NotRun counts the jobs that were not run, or not to their end, because
	// the run was interrupted or the store could not be written.
	NotRun int
	// All counts, in a run of one shard, the jobs of all shards, and Left those
	// of them that are not done.
	All, Left int
	// Interrupted says that the context ended the run.
	Interrupted bool
	// StoreErr is the write error that ended the run, or says that files which the
	// run had written are not there any more.
	StoreErr error
	// Damaged are the files that cannot be used: of finished jobs, and of published
	// results, of all experiments that were read. A run of a shard lists the jobs
	// of that shard only.
	Damaged []DamagedFile
	// NoChecksum counts the jobs of the selected experiments whose file an earlier
	// version wrote without a checksum, so that they run again. Those that the
	// published table holds, too, are not counted: they count as done.
	NoChecksum int
	// Unvouched are the meta.json files of published results that an earlier
	// version wrote without a checksum.
	Unvouched []string
	// Report is the path of the HTML report; "" if none was written.
	Report string

	scored []*section // what is published, with its findings
}

// OK reports whether everything that was asked for is there, and no published
// results are damaged.
func (s *Result) OK() bool {
	return len(s.Failed) == 0 && s.NotRun == 0 && s.StoreErr == nil &&
		!slices.ContainsFunc(s.Damaged, func(d DamagedFile) bool { return d.Published && !d.Replaced }) &&
		!slices.ContainsFunc(s.Outcomes, func(o *Outcome) bool { return o.Err != nil })
}

// RerunCommands returns one command line per experiment with failed jobs, which
// runs the cells that failed again; none if cfg.Origin names no program.
func (s *Result) RerunCommands(cfg Config) []string {
	var out []string
	if cfg.Origin.Program == "" {
		return out
	}
	for _, o := range s.Outcomes {
		var cells []string
		for _, f := range s.Failed {
			if f.Experiment == o.Spec.ID && !slices.Contains(cells, f.Cell) {
				cells = append(cells, f.Cell)
			}
		}
		if len(cells) == 0 {
			continue
		}
		c := "run " + o.Spec.ID + flags(cfg.Scale, cfg.Trials, cfg.seed())
		for _, cell := range cells {
			c += " --cell " + shellword.Quote(cell)
		}
		out = append(out, cfg.Origin.command(c))
	}
	return out
}

// Run runs the jobs of the selected experiments that are not done, in parallel,
// keeps each as it finishes, renders the views and writes the report.
//
// A job that fails, or panics, does not stop the others. When ctx ends, no
// further job starts, running ones are told, and what has finished is kept. A
// write error of the store (a full disk, a folder that was removed) ends the run,
// since nothing that follows could be kept. A damaged file of a finished job is in
// Result.Damaged, and the job runs again. Everything is in the Result; the error is
// for what is wrong before any job runs: a bad Config, a folder that cannot be
// written, a file that cannot be read, missing data.
//
// With Config.Shard only the jobs of the shard run, and nothing is rendered or
// reported: that is what Merge does when all shards are done.
func Run(ctx context.Context, sel []Selected, cfg Config) (*Result, error) {
	return run(ctx, sel, cfg, true)
}

// Report renders and reports what is done, as Run does, without running jobs.
func Report(ctx context.Context, sel []Selected, cfg Config) (*Result, error) {
	return run(ctx, sel, cfg, false)
}

// task is a job on its way through the runner.
type task struct {
	plan *plan
	job  Job
}

// ended is what became of a task.
type ended struct {
	task
	rec         *record
	err         error
	stack       string
	interrupted bool
	storeErr    error
}

type runner struct {
	cfg    *Config
	store  *jobStore
	result *Result
	total  int
	meter  *cpushare.Meter

	ready chan *plan // whose last job has ended, to be rendered; holds all plans
	keeps bool       // views and findings that are rendered already, and fit

	stored []string // files of the jobs that have finished

	mu            sync.Mutex // guards what follows, and orders events
	ended         int
	left          map[*plan]int // jobs not yet ended
	drawn, toDraw int
	drawing       time.Duration // what rendering has taken so far
	wall          map[*plan]time.Duration
	count         map[*plan]int
}

func run(ctx context.Context, sel []Selected, cfg Config, execute bool) (*Result, error) {
	if err := cfg.check(sel); err != nil {
		return nil, err
	}
	if err := cfg.checkForeign(); err != nil {
		return nil, err
	}
	cfg.Workers = max(cfg.Workers, 1)
	plans, err := cfg.plans(ctx, sel)
	if err != nil {
		return nil, err
	}
	if !execute {
		for _, p := range plans {
			p.pending = nil
		}
	}
	store, hold, err := cfg.open(ctx, plans)
	if err != nil {
		return nil, err
	}
	defer hold.release()

	r, outcomes := newRunner(&cfg, store, plans)
	start := cfg.World.now()
	if !cfg.Shard.some() {
		r.toDraw = max(len(plans), experimentsOf(cfg.Papers))
	}
	r.announce(plans, execute)
	r.execute(ctx, plans, outcomes)
	r.result.Interrupted = ctx.Err() != nil
	if execute {
		r.manifest(sel, start)
	}
	r.conclude(sel, plans, outcomes, hold)
	return r.result, nil
}

func experimentsOf(papers []experiment.Paper) int {
	n := 0
	for _, p := range papers {
		n += len(p.Experiments)
	}
	return n
}

// open checks that the data of the jobs to run are there and that the folders can be written, sweeps these and holds
// them open.
func (c *Config) open(ctx context.Context, plans []*plan) (*jobStore, *hold, error) {
	if err := checkData(ctx, c.Data, c.needed(plans)); err != nil {
		return nil, nil, err
	}
	for _, dir := range c.writtenDirs() {
		if err := checkWritable(dir); err != nil {
			return nil, nil, err
		}
	}
	atomicfile.Sweep(c.World.now(), c.filedDirs(plans)...)
	store := openStore(c.Folders.Store)
	hold, err := store.hold(c.writtenDirs()...)
	return store, hold, err
}

// newRunner returns what runs the pending jobs of the plans, with an empty outcome of each.
func newRunner(cfg *Config, store *jobStore, plans []*plan) (*runner, map[*plan]*Outcome) {
	r := &runner{
		cfg: cfg, store: store, result: &Result{}, ready: make(chan *plan, len(plans)), meter: cpushare.New(cfg.World.processCPU),
		left: map[*plan]int{}, wall: map[*plan]time.Duration{}, count: map[*plan]int{},
	}
	outcomes := map[*plan]*Outcome{}
	for _, p := range plans {
		r.left[p] = len(p.pending)
		r.total += len(p.pending)
		outcomes[p] = &Outcome{Paper: p.Paper, Spec: p.Spec, Jobs: len(p.jobs)}
		r.result.Outcomes = append(r.result.Outcomes, outcomes[p])
	}
	return r, outcomes
}

// announce books and tells what is known before any job runs: damaged files, and jobs without a checksum.
func (r *runner) announce(plans []*plan, execute bool) {
	for _, p := range plans {
		r.noteDamage(p, execute)
		for _, i := range p.unsummed {
			if !execute || slices.Contains(p.pending, i) {
				r.result.NoChecksum++
			}
		}
	}
	r.emit(Event{Kind: EventPlanned, NoChecksum: r.result.NoChecksum})
}

// execute runs the pending jobs, those of experiments marked Timing last and one by one, and renders beside them what
// is complete.
func (r *runner) execute(ctx context.Context, plans []*plan, outcomes map[*plan]*Outcome) {
	var parallel, single []task
	for _, p := range plans {
		for _, i := range p.pending {
			if p.Spec.Timing {
				single = append(single, task{p, p.jobs[i]})
			} else {
				parallel = append(parallel, task{p, p.jobs[i]})
			}
		}
	}
	var drawing sync.WaitGroup
	drawing.Go(func() {
		for p := range r.ready {
			r.finish(p, outcomes[p])
		}
	})
	r.pool(ctx, parallel, r.cfg.Workers, outcomes)
	if r.result.StoreErr == nil {
		r.pool(ctx, single, 1, outcomes)
	} else {
		r.result.NotRun += len(single)
	}
	close(r.ready)
	drawing.Wait()
}

// conclude renders what had no job to run and writes the report, unless the run was cut off; a shard only counts.
func (r *runner) conclude(sel []Selected, plans []*plan, outcomes map[*plan]*Outcome, hold *hold) {
	s := r.result
	if s.StoreErr == nil {
		s.StoreErr = r.checkKept(hold)
	}
	if s.Interrupted || s.StoreErr != nil {
		return
	}
	if r.cfg.Shard.some() {
		for _, p := range plans {
			o := outcomes[p]
			o.Jobs, o.Done = len(p.own), len(p.own)-len(p.without(p.own))
			s.All += len(p.wanted)
			s.Left += len(p.without(p.wanted))
		}
		return
	}
	for _, p := range plans {
		if len(p.pending) == 0 {
			r.finish(p, outcomes[p])
		}
	}
	path, err := r.report(sel, outcomes, plans)
	if err == nil {
		err = r.checkKept(hold)
	}
	if err != nil {
		s.StoreErr = err
	}
	s.Report = path
}

// noteDamage books and tells which files of an experiment cannot be used.
func (r *runner) noteDamage(p *plan, execute bool) {
	note := func(d DamagedFile) {
		r.result.Damaged = append(r.result.Damaged, d)
		r.emit(Event{Kind: EventDamaged, Experiment: p.Spec.ID, File: d})
	}
	for _, d := range p.damaged {
		again := slices.Contains(p.pending, d.job)
		if again || !r.cfg.Shard.some() {
			note(DamagedFile{Path: d.path, Err: d.err, Replaced: again})
		}
	}
	for _, d := range []*DamagedFile{p.published.damage, p.published.lostTimes} {
		if d == nil {
			continue
		}
		// The rows run again; the times alone are no reason to, so that it must be asked for.
		file, force := *d, ""
		if d == p.published.lostTimes {
			force = " --force"
		}
		file.Replaced = p.renews() || execute && r.cfg.Shard.some() && d == p.published.damage
		if !file.Replaced {
			file.Command = p.cfg.Origin.command("run " + p.Spec.ID + flags(p.cfg.Scale, 0, 1) + force)
		}
		note(file)
	}
	if p.published.unvouched {
		r.result.Unvouched = append(r.result.Unvouched, filepath.Join(p.publishedDir(), metaFile))
	}
}

// checkKept returns an error unless the folders of the run, the files of all jobs
// that it has finished, and those of what it has rendered are still there.
func (r *runner) checkKept(h *hold) error {
	if err := h.check(); err != nil {
		return err
	}
	lost, first := 0, ""
	files := slices.Clone(r.stored)
	for _, o := range r.result.Outcomes {
		files = append(files, o.files...)
	}
	for _, path := range files {
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			if lost++; lost == 1 {
				first = path
			}
		}
	}
	if lost > 0 {
		return fmt.Errorf("experiment: results were removed while the run went on: %s, the first is %s", plural.Of(lost, "file"), first)
	}
	return nil
}

// filedDirs lists the folders into which a run writes files: not those above or
// below them.
func (c *Config) filedDirs(plans []*plan) []string {
	store := openStore(c.Folders.Store)
	dirs := c.writtenDirs()
	for _, p := range plans {
		dirs = append(dirs, store.folders(p.Spec.ID)...)
		if c.Shard.some() {
			continue
		}
		dirs = append(dirs, p.draftDir())
		if c.Folders.Published != "" {
			dirs = append(dirs, p.publishedDir())
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// writtenDirs lists the folders that a run writes to.
func (c *Config) writtenDirs() []string {
	dirs := []string{c.Folders.Store, filepath.Join(c.Folders.Store, ".cells")}
	if !c.Shard.some() {
		dirs = append(dirs, c.Folders.Published, c.Folders.Drafts, filepath.Dir(c.Folders.Report))
	}
	var out []string
	for _, dir := range dirs {
		if dir != "" && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return out
}

// needed lists the data sets of the jobs to run. A shard also needs those on
// whose files the ids of its selection depend: without them this machine would
// share out other jobs than the others do.
func (c *Config) needed(plans []*plan) []string {
	var out []string
	add := func(name string) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, p := range plans {
		for _, i := range p.pending {
			add(p.jobs[i].Cell.Dataset)
		}
		for _, i := range p.wanted {
			if name := p.jobs[i].Cell.Dataset; c.Shard.some() && !bound(name) {
				add(name)
			}
		}
	}
	return out
}

// pool runs tasks on n workers and takes their results, in whatever order they
// come; the table takes them in the order of the jobs.
func (r *runner) pool(ctx context.Context, tasks []task, n int, outcomes map[*plan]*Outcome) {
	if len(tasks) == 0 {
		return
	}
	ctx, stop := context.WithCancel(ctx) // also ends the pool when the store fails
	defer stop()
	feed := make(chan task)
	results := make(chan ended, len(tasks))
	go func() {
		defer close(feed)
		for _, t := range tasks {
			if ctx.Err() != nil {
				return
			}
			select {
			case feed <- t:
			case <-ctx.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range min(n, len(tasks)) {
		workers.Go(func() {
			for t := range feed {
				e := r.do(ctx, t)
				if e.storeErr != nil {
					stop() // before this worker takes the next one
				}
				results <- e
			}
		})
	}
	go func() {
		workers.Wait()
		close(results)
	}()
	got := 0
	for e := range results {
		if r.take(e, outcomes[e.plan]) {
			got++
		}
	}
	r.result.NotRun += len(tasks) - got
}

// take books the result of a job and reports whether the job came to an end.
func (r *runner) take(e ended, o *Outcome) bool {
	event := Event{Kind: EventFinished, Experiment: e.plan.Spec.ID, Cell: e.job.Cell.Name, Trial: e.job.Key.Trial}
	switch {
	case e.storeErr != nil:
		event.Kind, event.Err = EventFailed, e.storeErr
		if r.result.StoreErr == nil {
			r.result.StoreErr = e.storeErr
		}
	case e.interrupted:
		return false
	case e.err != nil:
		event.Kind, event.Err = EventFailed, e.err
	}
	if event.Err != nil {
		o.Failed++
		r.result.Failed = append(r.result.Failed, FailedJob{
			Experiment: event.Experiment, Cell: event.Cell, Trial: event.Trial, ID: e.job.ID, Err: event.Err, Stack: e.stack,
		})
	} else {
		o.Ran++
		r.stored = append(r.stored, r.store.cellPath(e.plan.Spec.ID, e.job.ID))
		e.plan.records[e.job.ID], e.plan.rows[e.job.ID] = e.rec, e.rec.Rows
	}
	r.mu.Lock()
	r.ended++
	r.left[e.plan]--
	last := r.left[e.plan] == 0
	if e.rec != nil {
		r.wall[e.plan] += e.rec.Run.End.Sub(e.rec.Run.Start)
		r.count[e.plan]++
	}
	r.mu.Unlock()
	r.emit(event)
	if last && e.storeErr == nil && !r.cfg.Shard.some() {
		r.ready <- e.plan // rendered beside the jobs of other experiments
	}
	return true
}

// emit sends an event with the counts of the moment.
func (r *runner) emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cfg.Progress == nil {
		return
	}
	if e.Kind == EventDrawn {
		r.drawn++
	}
	e.Ended, e.Total, e.Drawn, e.ToDraw = r.ended, r.total, r.drawn, max(r.toDraw, r.drawn)
	var wall time.Duration // of all jobs that have ended
	count := 0
	for p, c := range r.count {
		wall, count = wall+r.wall[p], count+c
	}
	for p, n := range r.left {
		each := p.expected
		if c := r.count[p]; c > 0 {
			each = r.wall[p] / time.Duration(c)
		}
		if each == 0 && count > 0 {
			each = wall / time.Duration(count) // nothing is known of it: like the others
		}
		if n > 0 && each == 0 {
			e.Left = 0
			r.cfg.Progress(e)
			return
		}
		workers := r.cfg.Workers
		if p.Spec.Timing {
			workers = 1
		}
		e.Left += each * time.Duration(n) / time.Duration(workers)
	}
	if r.drawn > 0 {
		e.Left += r.drawing / time.Duration(r.drawn) * time.Duration(e.ToDraw-e.Drawn)
	}
	r.cfg.Progress(e)
}

// do runs one job and stores what comes of it.
func (r *runner) do(ctx context.Context, t task) ended {
	e := ended{task: t}
	if ctx.Err() != nil {
		e.interrupted = true
		return e
	}
	r.emit(Event{Kind: EventStarted, Experiment: t.plan.Spec.ID, Cell: t.job.Cell.Name, Trial: t.job.Key.Trial})
	w := r.cfg.World
	rows, info, stack, err := measured(ctx, t.plan.Spec, experiment.Env{Scale: r.cfg.Scale, Data: r.cfg.Data}, t.job, w, r.meter)
	if err != nil && ctx.Err() != nil {
		e.interrupted = true
		return e
	}
	if err != nil {
		e.err, e.stack = err, stack
		if err := r.store.putFailure(failure{ID: t.job.ID, Key: t.job.Key, Error: err.Error(), Stack: stack, Time: info.End, Host: w.Host}); err != nil {
			e.storeErr = fmt.Errorf("%w; its note could not be stored: %w", e.err, err)
		}
		return e
	}
	rec := &record{Key: t.job.Key, Rows: rows, Run: info}
	if err := r.store.put(rec); err != nil {
		e.storeErr = fmt.Errorf("finished, but could not be stored: %w", err)
		return e
	}
	r.store.clearFailure(t.job.ID)
	e.rec = rec
	return e
}

// measured runs a trial and its clocks. It occupies a core, so that the trials at work do not use more cores than there are; where
// times are the result it occupies all, so that they are those of one core.
func measured(ctx context.Context, s experiment.Spec, env experiment.Env, job Job, w World, m *cpushare.Meter) (rows *table.Table, info runInfo, stack string, err error) {
	used := 1
	if s.Timing {
		used = cores.All
	}
	defer cores.Occupy(used)()
	account := m.Begin()
	laps := &laps{now: w.now, cpu: func() time.Duration { return m.Read(account) }}
	env.Lap = laps.start
	start := w.now()
	rows, stack, err = trial(ctx, s, &env, job)
	end, cpu := w.now(), m.End(account)
	return rows, runInfo{
		Build: w.Build, Host: w.Host, PID: w.PID, Start: start.UTC(), End: end.UTC(),
		WallS: end.Sub(start).Seconds(), CPUS: cpu.Seconds(), PeakRSSKiB: w.peakRSSKiB(),
		Phases: laps.phases, Args: w.Args,
	}, stack, err
}

// trial calls Spec.Trial, turns a panic into an error with its stack, and
// checks what comes back.
func trial(ctx context.Context, s experiment.Spec, env *experiment.Env, job Job) (rows *table.Table, stack string, err error) {
	defer func() {
		if p := recover(); p != nil {
			rows, stack, err = nil, string(debug.Stack()), fmt.Errorf("panic: %v", p)
		}
	}()
	switch rows, err = s.Run(ctx, env, job.Cell, job.Seed); {
	case err != nil:
		return nil, "", err
	case rows.Len() == 0:
		return nil, "", errors.New("the trial added no rows")
	}
	for _, name := range rows.IndexNames() {
		for i, cell := range rows.Index(name) {
			if !utf8.ValidString(cell) { // JSON would have another text in its place
				return nil, "", fmt.Errorf("the trial added row %d with the %s %q, which is no UTF-8", i, name, cell)
			}
			if strings.Contains(cell, "\r\n") { // CSV would have another text in its place
				return nil, "", fmt.Errorf("the trial added row %d with the %s %q, which has a carriage return before a newline", i, name, cell)
			}
		}
	}
	return rows, "", nil
}

// laps measures the phases of one job as Env.Lap says.
type laps struct {
	now    func() time.Time
	cpu    func() time.Duration
	mu     sync.Mutex
	phases []phaseTime
}

func (l *laps) start(phase string) func() {
	if phase == "" || phase == experiment.TotalPhase {
		panic(fmt.Sprintf("harness: phase %q is not allowed, want a name other than %q", phase, experiment.TotalPhase))
	}
	wall, cpu := l.now(), l.cpu()
	return func() {
		w, c := l.now().Sub(wall), l.cpu()-cpu
		l.mu.Lock()
		defer l.mu.Unlock()
		i := slices.IndexFunc(l.phases, func(p phaseTime) bool { return p.Name == phase })
		if i < 0 {
			i = len(l.phases)
			l.phases = append(l.phases, phaseTime{Name: phase})
		}
		l.phases[i].WallS += w.Seconds()
		l.phases[i].CPUS += c.Seconds()
	}
}

// runManifest describes one invocation of Run.
type runManifest struct {
	Build
	Host        string           `json:"host"`
	PID         int              `json:"pid"`
	Args        []string         `json:"args"`
	Start       time.Time        `json:"start"`
	End         time.Time        `json:"end"`
	WallS       float64          `json:"wall_s"`
	CPUS        float64          `json:"process_cpu_s"`
	PeakRSSKiB  int64            `json:"process_peak_rss_kib"`
	Scale       experiment.Scale `json:"scale"`
	Seed        uint64           `json:"seed"`
	Shard       string           `json:"shard,omitempty"`
	Workers     int              `json:"workers"`
	Experiments []string         `json:"experiments"`
	Ran         int              `json:"ran"`
	Failed      []string         `json:"failed"` // ids
	NotRun      int              `json:"not_run"`
	Interrupted bool             `json:"interrupted"`
}

func (r *runner) manifest(sel []Selected, start time.Time) {
	w, s := r.cfg.World, r.result
	m := runManifest{
		Build: w.Build, Host: w.Host, PID: w.PID, Args: w.Args, Start: start.UTC(), End: w.now().UTC(),
		CPUS: w.processCPU().Seconds(), PeakRSSKiB: w.peakRSSKiB(), Scale: r.cfg.Scale, Seed: r.cfg.seed(), Shard: r.cfg.Shard.String(), Workers: r.cfg.Workers,
		NotRun: s.NotRun, Interrupted: s.Interrupted, Failed: []string{},
	}
	m.WallS = m.End.Sub(m.Start).Seconds()
	for _, x := range sel {
		m.Experiments = append(m.Experiments, x.Spec.ID)
	}
	for _, o := range s.Outcomes {
		m.Ran += o.Ran
	}
	for _, f := range s.Failed {
		m.Failed = append(m.Failed, f.ID)
	}
	name := fmt.Sprintf("%s-%s-%d", m.Start.Format("20060102T150405Z"), w.Host, w.PID)
	if r.cfg.Shard.some() { // containers may share a host's name and have the same process id
		name += fmt.Sprintf("-%d-of-%d", r.cfg.Shard.Index, r.cfg.Shard.Count)
	}
	if err := r.store.putManifest(name, m); err != nil && s.StoreErr == nil {
		s.StoreErr = fmt.Errorf("the manifest of the run could not be stored: %w", err)
	}
}

// Collect runs all jobs of an experiment one after another in memory and
// returns its table, for notebooks and tests. trials 0 means the default.
func Collect(ctx context.Context, s experiment.Spec, env *experiment.Env, trials int, base uint64) (*table.Table, error) {
	if err := s.Check(env.Scale); err != nil {
		return nil, &ConfigError{err.Error()}
	}
	e := *env
	if e.Lap == nil {
		e.Lap = func(string) func() { return func() {} }
	}
	if trials == 0 {
		trials = s.Trials(e.Scale)
	}
	s, err := supplied(s, e.Scale, e.Data, nil)
	if err != nil {
		return nil, err
	}
	t := table.New(columns(s))
	for _, job := range Jobs(s, e.Scale, trials, base, nil) {
		rows, _, err := trial(ctx, s, &e, job)
		if err != nil {
			return nil, fmt.Errorf("experiment: %s, cell %s, trial %d: %w", s.ID, job.Cell.Name, job.Key.Trial, err)
		}
		if rows, err = s.Columns.WithDerived(rows); err != nil {
			return nil, fmt.Errorf("experiment: %s: %w", s.ID, err)
		}
		addRows(t, rows, job.indexCells())
	}
	return t, nil
}
