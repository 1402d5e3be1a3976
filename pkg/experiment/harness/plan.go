package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/limits"
	"metriclab/pkg/table"
)

// Folders says where the results of a scale lie.
type Folders struct {
	// Store holds .cells, .failures and .runs.
	Store string
	// Published holds <paper>/<experiment>/ of complete full-scale runs; "" at
	// other scales, where nothing is published.
	Published string
	// Drafts holds <paper>/<experiment>/ of everything else.
	Drafts string
	// Report is the HTML report.
	Report string
}

// FoldersFor returns the folders of a scale. dir replaces the default ones if
// it is not empty:
//
//	scale   store         published     drafts        report
//	smoke   out/smoke     -             out/smoke     out/smoke/report.html
//	full    results       results       out/full      out/full/report.html
//	smoke   dir           -             dir           dir/report.html
//	full    dir           dir           dir/draft     dir/report.html
func FoldersFor(scale experiment.Scale, dir string) Folders {
	out := filepath.Join("out", string(scale))
	switch {
	case scale == experiment.Full && dir == "":
		return Folders{Store: "results", Published: "results", Drafts: out, Report: filepath.Join(out, "report.html")}
	case scale == experiment.Full:
		return Folders{Store: dir, Published: dir, Drafts: filepath.Join(dir, "draft"), Report: filepath.Join(dir, "report.html")}
	case dir == "":
		dir = out
	}
	return Folders{Store: dir, Drafts: dir, Report: filepath.Join(dir, "report.html")}
}

// Config says what to run and where. It carries all that the harness may know
// of the world: this package reads no clock and no environment.
type Config struct {
	Scale   experiment.Scale
	Trials  int      // 0 means each experiment's default
	Seed    uint64   // base seed; 0 means 1
	Cells   []string // run only these cells; empty means all
	Shard   Shard    // run only this part of the jobs; the zero value is all
	Force   bool     // run jobs that are done, too
	Workers int      // parallel jobs; 0 means 1

	Folders Folders
	Data    *datasets.Store
	World   World
	// Origin says how the caller's program was run.
	Origin Origin
	// Papers are all papers: those that are not selected are in the report and
	// the scorecard too. nil means that there is no scorecard and the report
	// has the selected experiments only.
	Papers []experiment.Paper
	// Progress receives events, one at a time; nil for none.
	Progress func(Event)
}

// Origin says by which program experiments run, for whoever wants to run them
// again. It is the caller's word: of the zero value nothing is written.
type Origin struct {
	// Program is a command line whose subcommands run, report and merge take
	// experiments and flags as those of metriclab do: "metriclab". meta.json, the
	// report and the scorecard cite it, and so do RerunCommands and MergeCommand.
	// If it is empty, none of them has a command.
	Program string
	// Verdicts is a text that says where the reader of the scorecard finds how
	// verdicts are made, such as a file and its section; empty means the
	// documentation of package judge.
	Verdicts string
}

// command returns a subcommand of the program with its arguments, "" without a
// program.
func (o Origin) command(args string) string {
	if o.Program == "" {
		return ""
	}
	return o.Program + " " + args
}

// World is what the caller lets the harness see of clock, machine and program;
// host.World has all of it. Nil functions read 0, which times are then in timing.csv;
// of a job of which neither the Build nor a time is told, meta.json has no run.
type World struct {
	Now        func() time.Time
	ProcessCPU func() time.Duration // user and system time so far
	PeakRSSKiB func() int64         // of the process; 0 is unknown
	Build      Build
	Host       string
	PID        int
	Args       []string // the command line
}

func (w World) now() time.Time {
	if w.Now == nil {
		return time.Time{}
	}
	return w.Now()
}

func (w World) processCPU() time.Duration {
	if w.ProcessCPU == nil {
		return 0
	}
	return w.ProcessCPU()
}

func (w World) peakRSSKiB() int64 {
	if w.PeakRSSKiB == nil {
		return 0
	}
	return w.PeakRSSKiB()
}

func (c Config) seed() uint64 { return max(c.Seed, 1) }

// trials returns the number of trials to run and the experiment's default.
func (c Config) trials(s experiment.Spec) (requested, standard int) {
	standard = s.Trials(c.Scale)
	if c.Trials > 0 {
		return c.Trials, standard
	}
	return standard, standard
}

// ConfigError is a Config that cannot be run.
type ConfigError struct{ Message string }

func (e *ConfigError) Error() string { return "experiment: " + e.Message }

func (c Config) check(sel []Selected) error {
	if c.Trials < 0 {
		return &ConfigError{fmt.Sprintf("trials %d, want at least 1", c.Trials)}
	}
	if _, err := experiment.ParseScale(string(c.Scale)); err != nil {
		return &ConfigError{err.Error()}
	}
	if err := c.Shard.check(); err != nil {
		return err
	}
	var names []string
	for _, s := range sel {
		if err := s.Spec.Check(c.Scale); err != nil {
			return &ConfigError{err.Error()}
		}
		for _, cell := range s.Spec.Cells(c.Scale) {
			names = append(names, cell.Name)
		}
	}
	for _, name := range c.Cells {
		if !slices.Contains(names, name) {
			return &UnknownError{Kind: "cell", Name: name, Nearest: nearest(name, names)}
		}
	}
	if c.Folders.Published == "" {
		if meta := publishedIn(c.Folders.Drafts); meta != "" {
			if _, _, err := readMeta(filepath.Dir(meta)); err != nil {
				return &ConfigError{fmt.Sprintf("%s may hold published full-scale results, since %s cannot be read: %v; remove this file, or choose another folder", c.Folders.Drafts, meta, cause(err))}
			}
			return &ConfigError{fmt.Sprintf("%s holds published full-scale results (%s); choose another folder for scale %s", c.Folders.Drafts, meta, c.Scale)}
		}
	}
	return nil
}

// checkForeign returns an error if a run would replace a user's file: the report
// and the scorecard have names that people use, too.
func (c Config) checkForeign() error {
	if c.Shard.some() {
		return nil // writes neither
	}
	ours := map[string]func(head []byte) bool{c.Folders.Report: func(head []byte) bool { return bytes.Contains(head, []byte(reportSign)) }}
	if c.Folders.Published != "" && c.Papers != nil {
		ours[filepath.Join(c.Folders.Published, scorecardFile)] = signed
		for _, page := range pagePaths(c.Papers) {
			ours[filepath.Join(c.Folders.Published, filepath.FromSlash(page))] = signedPage
		}
	}
	for _, path := range slices.Sorted(maps.Keys(ours)) {
		head, err := readHead(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && (len(head) == 0 || ours[path](head)) {
			continue
		}
		if err != nil {
			return fmt.Errorf("experiment: results folder: %w", err)
		}
		return &ConfigError{fmt.Sprintf("%s was not written by metriclab and would be replaced; move it, or choose another folder with --results", path)}
	}
	return nil
}

// readHead reads what stands at the head of a file. Of what is no regular file
// it returns a text that nobody signs.
func readHead(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return []byte("no regular file"), err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 4096))
}

// publishedIn returns the path of some meta.json of published results in a
// folder, "" if there is none. A damaged one may be of such results, unless it
// still says that it is a draft.
func publishedIn(dir string) string {
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "*", metaFile)) // the pattern is well-formed
	for _, p := range paths {
		m, _, err := readMeta(filepath.Dir(p))
		if err != nil {
			text, _ := limits.ReadFile(p)
			if !bytes.Contains(text, []byte(`"state": "`+stateDraft+`"`)) {
				return p
			}
		} else if m.State == statePublished {
			return p
		}
	}
	return ""
}

// plan is what is known of one experiment before it runs: its jobs, and the
// rows of those that are done.
type plan struct {
	Selected
	cfg     *Config
	store   *jobStore
	jobs    []Job // of the table: at least the default number of trials
	wanted  []int // jobs that Config.Trials and Config.Cells ask for, ascending
	own     []int // those of them that are in Config.Shard
	pending []int // those of own that are to run

	records   map[string]*record // done jobs with a cell file, by id
	rows      map[string]*table.Table
	published published
	damaged   []damagedJob
	unsummed  []int         // jobs without rows whose cell file has no checksum
	expected  time.Duration // of one job, from earlier ones
	requested int           // trials
	standard  int           // default trials
}

// damagedJob is a job whose cell file cannot be used.
type damagedJob struct {
	job  int
	path string
	err  error
}

// published is what the published folder holds of an experiment.
type published struct {
	table  *table.Table            // nil if there is none
	rows   map[string]*table.Table // its rows with Spec columns, by short job id
	times  *table.Table            // the timing table; of an experiment that is not marked Timing empty if it cannot be read
	timing map[string][]phaseTime  // its rows by short job id
	meta   *metaJSON               // nil if there is none

	// damage says why the rows cannot be used; lostTimes, of an experiment that is
	// not marked Timing, why the times cannot. nil if nothing is wrong.
	damage, lostTimes *DamagedFile
	// older says that the table is sound, but has the columns of an earlier version; nil
	// if it has not.
	older *olderError
	// unread is the error of a file that may be sound, but cannot be read now.
	unread error
	// unvouched says that meta.json has no checksum.
	unvouched bool

	sha256, timingSHA256 string // of table.csv and timing.csv
}

// has reports whether the tables are those that a meta.json describes. An
// earlier version described the times of experiments marked Timing only.
func (p published) has(m *metaJSON) bool {
	return m != nil && m.TableSHA256 == p.sha256 && (m.TimingSHA256 == p.timingSHA256 || m.TimingSHA256 == "" && p.damage == nil)
}

// problem says what is wrong with the published files; "" if nothing is.
func (p published) problem() string {
	for _, d := range []*DamagedFile{p.damage, p.lostTimes} {
		if d != nil {
			return fmt.Sprintf("%s: %v", d.Path, d.Err)
		}
	}
	if p.older != nil {
		return p.older.Error()
	}
	return ""
}

// plans plans the selected experiments and keeps the jobs of the shard.
func (c *Config) plans(ctx context.Context, sel []Selected) ([]*plan, error) {
	out := make([]*plan, len(sel))
	for i, s := range sel {
		p, err := c.plan(ctx, s)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	if c.Shard.some() {
		c.Shard.keep(out)
	}
	return out, nil
}

// plan plans one experiment, without regard to the shard.
func (c *Config) plan(ctx context.Context, s Selected) (*plan, error) {
	if err := s.Spec.Check(c.Scale); err != nil {
		return nil, &ConfigError{err.Error()}
	}
	var err error
	if s.Spec, err = supplied(s.Spec, c.Scale, c.Data, c.Cells); err != nil {
		return nil, err
	}
	p := &plan{
		Selected: s, cfg: c, store: openStore(c.Folders.Store),
		records: map[string]*record{}, rows: map[string]*table.Table{},
	}
	digests := map[string]string{}
	for _, cell := range s.Spec.Cells(c.Scale) {
		if _, ok := digests[cell.Dataset]; !ok {
			d, err := digest(ctx, c.Data, cell.Dataset)
			if err != nil {
				return nil, err
			}
			digests[cell.Dataset] = d
		}
	}
	look := func(name string) string { return digests[name] }

	p.requested, p.standard = c.trials(s.Spec)
	trials := max(p.requested, p.standard)
	const perJob = 512 // bytes, about
	if err := limits.Check(fmt.Sprintf("%s with %d trials", s.Spec.ID, trials), limits.Product(perJob, trials, len(s.Spec.Cells(c.Scale)))); err != nil {
		return nil, &ConfigError{fmt.Sprintf("trials: %v", err)}
	}
	if c.Folders.Published != "" {
		p.published = readPublished(p.publishedDir(), s.Spec)
		if err := p.published.unread; err != nil {
			return nil, fmt.Errorf("experiment: published results cannot be read: %w", err)
		}
		if err := p.checkPublishedCells(); err != nil {
			return nil, err
		}
		// Trials beyond the default that are published stay published.
		for len(p.published.rows) > 0 && p.hasTrial(trials, look) {
			trials++
		}
	}
	p.jobs = Jobs(s.Spec, c.Scale, trials, c.seed(), look)

	var wall float64
	for i, job := range p.jobs {
		rec, err := p.store.get(job, s.Spec.Columns)
		if err == nil {
			p.records[job.ID], p.rows[job.ID] = rec, rec.Rows
			wall += rec.Run.WallS
		} else if unreadable(err) {
			return nil, fmt.Errorf("experiment: a finished job cannot be read: %w", err)
		} else if rows, ok := p.published.rows[job.short()]; ok {
			p.rows[job.ID] = rows
		}
		damaged := false
		switch {
		case err == nil || errors.Is(err, fs.ErrNotExist):
		case !errors.Is(err, errNoChecksum):
			damaged = true
			p.damaged = append(p.damaged, damagedJob{i, p.store.cellPath(s.Spec.ID, job.ID), cause(err)})
		case p.rows[job.ID] == nil:
			p.unsummed = append(p.unsummed, i)
		}
		if job.Key.Trial >= p.requested || len(c.Cells) > 0 && !slices.Contains(c.Cells, job.Cell.Name) {
			continue
		}
		p.wanted = append(p.wanted, i)
		if c.Force || damaged || p.rows[job.ID] == nil {
			p.pending = append(p.pending, i)
		}
	}
	p.own = p.wanted
	switch {
	case len(p.records) > 0:
		p.expected = time.Duration(wall / float64(len(p.records)) * float64(time.Second))
	case c.Scale == experiment.Full:
		p.expected = s.Spec.Cost
	}
	return p, nil
}

// checkPublishedCells returns an error if the published table has a cell that is left out for want of its data: to publish anew would lose
// its rows.
func (p *plan) checkPublishedCells() error {
	if p.published.meta == nil {
		return nil
	}
	now := p.Spec.Cells(p.cfg.Scale)
	for _, paper := range p.Paper.Experiments {
		if paper.ID != p.Spec.ID {
			continue
		}
		for _, cell := range paper.Cells(p.cfg.Scale) {
			has := func(c experiment.Cell) bool { return c.Name == cell.Name }
			was := func(c metaCell) bool { return c.Name == cell.Name }
			if cell.Supplied && !slices.ContainsFunc(now, has) && slices.ContainsFunc(p.published.meta.Cells, was) {
				return &ConfigError{fmt.Sprintf("%s: the published results have the cell %q, but its data set %s is missing; supply it, or choose another folder with --results", p.Spec.ID, cell.Name, cell.Dataset)}
			}
		}
	}
	return nil
}

// hasTrial reports whether all cells of a trial are published.
func (p *plan) hasTrial(trial int, look func(string) string) bool {
	for _, job := range Jobs(p.Spec, p.cfg.Scale, trial+1, p.cfg.seed(), look) {
		if job.Key.Trial == trial && p.published.rows[job.short()] == nil {
			return false
		}
	}
	return true
}

func (p *plan) dir(root string) string { return filepath.Join(root, filepath.FromSlash(p.Spec.ID)) }

func (p *plan) publishedDir() string { return p.dir(p.cfg.Folders.Published) }

func (p *plan) draftDir() string { return p.dir(p.cfg.Folders.Drafts) }

// done counts the jobs that have rows.
func (p *plan) done() int { return len(p.rows) }

// trials is the number of trials in the table.
func (p *plan) trials() int { return p.jobs[len(p.jobs)-1].Key.Trial + 1 }

// without lists those of some jobs that have no rows.
func (p *plan) without(jobs []int) []Job {
	var out []Job
	for _, i := range jobs {
		if p.rows[p.jobs[i].ID] == nil {
			out = append(out, p.jobs[i])
		}
	}
	return out
}

// renews reports whether a run would make the published files anew: nothing
// keeps it from publishing, and all rows come from cell files or jobs to run.
func (p *plan) renews() bool {
	runs := map[int]bool{}
	for _, i := range p.pending {
		runs[i] = true
	}
	for i, job := range p.jobs {
		if p.records[job.ID] == nil && !runs[i] {
			return false
		}
	}
	return p.obstacle() == ""
}

func (p *plan) complete() bool { return p.done() == len(p.jobs) }

// obstacle says why the table would not be published even if it were
// complete; "" if it would.
func (p *plan) obstacle() string {
	switch {
	case p.cfg.Scale != experiment.Full:
		return string(p.cfg.Scale) + " scale, not a result"
	case p.cfg.seed() != 1:
		return fmt.Sprintf("base seed %d", p.cfg.seed())
	case p.requested < p.standard:
		return fmt.Sprintf("%d of %d trials", p.requested, p.standard)
	case len(p.cfg.Cells) > 0:
		return "cells " + strings.Join(p.cfg.Cells, ", ") + " only"
	}
	return ""
}

// watermark is what the figures carry; "" if the table is to be published.
func (p *plan) watermark() string {
	var parts []string
	if s := p.obstacle(); s != "" {
		parts = append(parts, s)
	}
	if !p.complete() {
		parts = append(parts, fmt.Sprintf("incomplete: %d of %d jobs", p.done(), len(p.jobs)))
	}
	return strings.Join(parts, ", ")
}

// table returns the rows of all done jobs in the order of the jobs. The error is that of a
// derived column.
func (p *plan) table() (*table.Table, error) {
	t := table.New(columns(p.Spec))
	for _, job := range p.jobs {
		rows, ok := p.rows[job.ID]
		if !ok {
			continue
		}
		rows, err := p.Spec.Columns.WithDerived(rows)
		if err != nil {
			return nil, err
		}
		addRows(t, rows, job.indexCells())
	}
	return t, nil
}

// indexCells are the cells of a row that name its job.
func (j Job) indexCells() table.Key {
	return table.Key{"job": j.short(), "cell": j.Cell.Name, "trial": strconv.Itoa(j.Key.Trial)}
}

// addRows appends the rows of src to dst, with further index cells.
func addRows(dst, src *table.Table, with table.Key) {
	for i := range src.Len() {
		key, values := src.Row(i)
		maps.Copy(key, with)
		dst.Add(key, values)
	}
}

// The files of an experiment's folder beside the views'.
const (
	tableFile  = "table.csv"
	timingFile = "timing.csv"
	metaFile   = "meta.json"
	// publishingFile holds the SHA-256 of the table and that of the timing table
	// of a publication that is not finished.
	publishingFile = ".publishing"
)

// What is wrong with a published file.
var (
	errNoTable = errors.New("it is missing, although meta.json describes it")
	errNoMeta  = errors.New("nothing vouches for it: there is no meta.json")
	errTable   = errors.New("it is not the table that meta.json describes")
	errTiming  = errors.New("it is not the timing table that meta.json describes")
)

// ReadTable reads the table.csv of an experiment's folder, such as
// results/pola2004/fig3, with the columns of s.Columns. It returns an error
// unless meta.json, or a publication that was cut off, describes the file.
func ReadTable(s experiment.Spec, dir string) (*table.Table, error) {
	data, err := limits.ReadFile(filepath.Join(dir, tableFile))
	if err != nil {
		return nil, fmt.Errorf("experiment: %s has no table: %w", s.ID, err)
	}
	m, _, err := readMeta(dir)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s: nothing vouches for it: %s: %v", filepath.Join(dir, tableFile), metaFile, cause(err))
	}
	if digest := sum(data); digest != m.TableSHA256 && !slices.Contains(readJournal(dir), digest) {
		return nil, fmt.Errorf("experiment: %s: %w", filepath.Join(dir, tableFile), errTable)
	}
	t, err := parseTable(s, dir, data, m)
	if err != nil {
		return nil, err
	}
	if t, err = withDerived(s, t); err != nil {
		return nil, fmt.Errorf("experiment: %s: %w", s.ID, err)
	}
	return t, nil
}

// ReadTimes reads the timing.csv of an experiment's folder, with the columns of
// TimesColumns. It returns an error unless meta.json, or a publication that was
// cut off, describes the file; a meta.json of an earlier version need not, if the
// experiment is not marked Timing.
func ReadTimes(s experiment.Spec, dir string) (*table.Table, error) {
	data, err := limits.ReadFile(filepath.Join(dir, timingFile))
	if err != nil {
		return nil, fmt.Errorf("experiment: %s has no times: %w", s.ID, err)
	}
	m, _, err := readMeta(dir)
	if err != nil {
		return nil, fmt.Errorf("experiment: %s: nothing vouches for it: %s: %v", filepath.Join(dir, timingFile), metaFile, cause(err))
	}
	if !describes(s, m, readJournal(dir), sum(data)) {
		return nil, fmt.Errorf("experiment: %s: %w", filepath.Join(dir, timingFile), errTiming)
	}
	return parseTimes(dir, data)
}

// describes reports whether a meta.json (nil for none) or the journal describes
// the timing table with this SHA-256.
func describes(s experiment.Spec, m *metaJSON, journal []string, digest string) bool {
	return slices.Contains(journal, digest) || m != nil && (m.TimingSHA256 == digest || m.TimingSHA256 == "" && !s.Timing)
}

// readJournal returns the SHA-256 of the tables of a publication that was cut
// off; usually there is none.
func readJournal(dir string) []string {
	text, _ := limits.ReadFile(filepath.Join(dir, publishingFile))
	sums := strings.Fields(string(text))
	if slices.ContainsFunc(sums, func(s string) bool { return !sha256Text.MatchString(s) }) {
		return nil // not ours
	}
	return sums
}

var sha256Text = regexp.MustCompile(`^[0-9a-f]{64}$`)

func parseTimes(dir string, data []byte) (*table.Table, error) {
	index, values := TimesColumns()
	return table.ReadCSV(bytes.NewReader(data), filepath.Join(dir, timingFile), index, values)
}

// parseTable reads a published table, described by m, which may be nil, without derived
// columns.
func parseTable(s experiment.Spec, dir string, data []byte, m *metaJSON) (*table.Table, error) {
	path := filepath.Join(dir, tableFile)
	head, err := csv.NewReader(bytes.NewReader(data)).Read()
	if err != nil {
		return nil, fmt.Errorf("experiment: %s:1: %w", path, err)
	}
	index, _ := columns(s)
	stored := s.Columns.Numbers()
	// Derived columns may have been declared, or dropped, after the file was written.
	derived := slices.Concat(s.Columns.Derived(), m.derived())
	all := slices.Clone(stored)
	for _, name := range head {
		if slices.Contains(derived, name) {
			all = append(all, name)
		}
	}
	if want := slices.Concat(index, all); !slices.Equal(head, want) && slices.Equal(head, m.names()) {
		return nil, &olderError{path, s.ID, head, want}
	}
	t, err := table.ReadCSV(bytes.NewReader(data), path, index, all)
	if err != nil {
		return nil, err
	}
	return t.Select(index, stored), nil
}

// olderError says that a sound table has the columns of an earlier version.
type olderError struct {
	path, experiment string
	has, want        []string
}

func (e *olderError) Error() string {
	return fmt.Sprintf("%s is of an earlier version of the code: its columns are %s, now they are %s; run: metriclab run %s --scale full",
		e.path, strings.Join(e.has, ","), strings.Join(e.want, ","), e.experiment)
}

// byJob takes a table apart: the numbers of the rows of each job, in the order in which the
// jobs first occur.
func byJob(t *table.Table) (ids []string, rows map[string][]int) {
	rows = map[string][]int{}
	for i, id := range t.Index("job") {
		if rows[id] == nil {
			ids = append(ids, id)
		}
		rows[id] = append(rows[id], i)
	}
	return ids, rows
}

// withDerived returns a published table with the derived columns.
func withDerived(s experiment.Spec, t *table.Table) (*table.Table, error) {
	if len(s.Columns.Derived()) == 0 {
		return t, nil
	}
	out := table.New(columns(s))
	ids, rows := byJob(t)
	for _, id := range ids {
		job, err := s.Columns.WithDerived(t.Rows(rows[id]...))
		if err != nil {
			return nil, err
		}
		addRows(out, job, nil)
	}
	return out, nil
}

// jobColumns are the columns of every table that name the job of a row.
var jobColumns = []string{"job", "cell", "trial"}

// columns returns the columns of an experiment's table: those of the job, and the declared
// ones.
func columns(s experiment.Spec) (index, values []string) {
	return slices.Concat(jobColumns, s.Columns.Texts()), slices.Concat(s.Columns.Numbers(), s.Columns.Derived())
}

// TimesColumns returns the columns of the timing table: job, cell and trial as in every
// table, and phase; and the wall and CPU time of the phase in seconds.
func TimesColumns() (index, values []string) {
	return slices.Concat(jobColumns, []string{"phase"}), []string{"wall_s", "cpu_s"}
}

// sum returns the SHA-256 of data in hexadecimal digits.
func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

// unreadable reports whether an error says nothing about what a file holds: it may
// be sound, so that it is not to be replaced.
func unreadable(err error) bool {
	if _, large := errors.AsType[*limits.MemoryError](err); large {
		return true
	}
	_, system := errors.AsType[*fs.PathError](err)
	return system && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, limits.ErrNotRegular)
}

// readPublished reads the published folder of an experiment. Rows count if meta.json, or a publication that was cut off,
// vouches for their table. Of an experiment marked Timing a job also needs its times, which are half of its result; times
// of others that are damaged or lost stay so until they are restored, or --force runs the jobs again.
func readPublished(dir string, s experiment.Spec) published {
	p := published{rows: map[string]*table.Table{}, times: table.New(TimesColumns()), timing: map[string][]phaseTime{}}
	damaged := func(name string, err error) *DamagedFile {
		return &DamagedFile{Path: filepath.Join(dir, name), Err: cause(err), Published: true}
	}
	m, vouched, noMeta := readMeta(dir)
	if noMeta == nil {
		p.meta, p.unvouched = m, !vouched
	}
	data, err := limits.ReadFile(filepath.Join(dir, tableFile))
	if err == nil {
		p.sha256 = sum(data)
	}
	for _, err := range []error{noMeta, err} {
		if unreadable(err) {
			p.unread = err
			return p
		}
	}
	// A table that is not the one that was written (edited, cut, a merge of two)
	// would give jobs wrong rows.
	journal := readJournal(dir)
	journaled := err == nil && slices.Contains(journal, p.sha256)
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.Is(noMeta, fs.ErrNotExist):
		return p // nothing is published
	case noMeta != nil && !errors.Is(noMeta, fs.ErrNotExist):
		p.damage = damaged(metaFile, noMeta)
	case noMeta == nil && m.Experiment != s.ID:
		p.damage = damaged(metaFile, fmt.Errorf("it is that of the experiment %q", m.Experiment))
	case errors.Is(err, fs.ErrNotExist):
		p.damage = damaged(tableFile, errNoTable)
	case err != nil:
		p.damage = damaged(tableFile, err)
	case p.meta == nil && !journaled:
		p.damage = damaged(tableFile, errNoMeta)
	case !journaled && p.sha256 != p.meta.TableSHA256:
		p.damage = damaged(tableFile, errTable)
	}
	if p.damage != nil {
		return p
	}
	t, err := parseTable(s, dir, data, m)
	if older, is := errors.AsType[*olderError](err); is {
		p.older = older
		return p
	}
	if err != nil {
		p.damage = damaged(tableFile, err)
		return p
	}
	if err := p.readTimes(dir, s, journal); err != nil {
		switch {
		case unreadable(err):
			p.unread = err
			return p
		case s.Timing:
			p.damage = damaged(timingFile, err) // rows without their times are half a result
			return p
		case errors.Is(err, fs.ErrNotExist) && (p.meta == nil || p.meta.TimingSHA256 == ""):
			// No file says that there are times.
		default:
			p.lostTimes = damaged(timingFile, err)
		}
	}
	ids, rows := byJob(t)
	for _, id := range ids {
		p.rows[id] = t.Rows(rows[id]...).Select(s.Columns.Texts(), s.Columns.Numbers())
	}
	// The rows are sound even if a derived column cannot be made of them; who renders says so.
	p.table = t
	if all, err := withDerived(s, t); err == nil {
		p.table = all
	}
	if s.Timing { // a table that was cut off before its timing table has more jobs
		maps.DeleteFunc(p.rows, func(id string, _ *table.Table) bool { return p.timing[id] == nil })
	}
	return p
}

// readTimes reads timing.csv, which must be the one that meta.json or the journal
// describes.
func (p *published) readTimes(dir string, s experiment.Spec, journal []string) error {
	data, err := limits.ReadFile(filepath.Join(dir, timingFile))
	if err != nil {
		return err
	}
	p.timingSHA256 = sum(data)
	if !describes(s, p.meta, journal, p.timingSHA256) {
		return errTiming
	}
	t, err := parseTimes(dir, data)
	if err != nil {
		return err
	}
	p.times = t
	for i, id := range t.Index("job") {
		p.timing[id] = append(p.timing[id], phaseTime{t.Index("phase")[i], t.Values("wall_s")[i], t.Values("cpu_s")[i]})
	}
	return nil
}
