package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/datasets"
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
func FoldersFor(scale Scale, dir string) Folders {
	out := filepath.Join("out", string(scale))
	switch {
	case scale == Full && dir == "":
		return Folders{Store: "results", Published: "results", Drafts: out, Report: filepath.Join(out, "report.html")}
	case scale == Full:
		return Folders{Store: dir, Published: dir, Drafts: filepath.Join(dir, "draft"), Report: filepath.Join(dir, "report.html")}
	case dir == "":
		dir = out
	}
	return Folders{Store: dir, Drafts: dir, Report: filepath.Join(dir, "report.html")}
}

// Config says what to run and where. It carries all that the harness may know
// of the world: this package reads no clock and no environment.
type Config struct {
	Scale   Scale
	Trials  int      // 0 means each experiment's default
	Seed    uint64   // base seed; 0 means 1
	Cells   []string // run only these cells; empty means all
	Shard   Shard    // run only this part of the jobs; the zero value is all
	Force   bool     // run jobs that are done, too
	Workers int      // parallel jobs; 0 means 1

	Folders Folders
	Data    *datasets.Store
	World   World
	// Papers are all papers: those that are not selected are in the report and
	// the scorecard too. nil means that there is no scorecard and the report
	// has the selected experiments only.
	Papers []Paper
	// Progress receives events, one at a time; nil for none.
	Progress func(Event)
}

// World is what the command lets the harness see of clock, machine and
// program. Nil functions read 0.
type World struct {
	Now        func() time.Time
	ProcessCPU func() time.Duration // user and system time so far
	PeakRSSKiB func() int64         // of the process
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
func (c Config) trials(s Spec) (requested, standard int) {
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
	if err := c.Shard.check(); err != nil {
		return err
	}
	var names []string
	for _, s := range sel {
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
			return &ConfigError{fmt.Sprintf("%s holds published full-scale results (%s); choose another folder for scale %s", c.Folders.Drafts, meta, c.Scale)}
		}
	}
	return nil
}

// publishedIn returns the path of some meta.json of published results in a
// folder, "" if there is none.
func publishedIn(dir string) string {
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "*", metaFile)) // the pattern is well-formed
	for _, p := range paths {
		if m, err := readMeta(filepath.Dir(p)); err == nil && m.State == statePublished {
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
	store   *Store
	jobs    []Job // of the table: at least the default number of trials
	wanted  []int // jobs that Config.Trials and Config.Cells ask for, ascending
	own     []int // those of them that are in Config.Shard
	pending []int // those of own that are to run

	records   map[string]*Record // done jobs with a cell file, by id
	rows      map[string]*table.Table
	published published
	expected  time.Duration // of one job, from earlier ones
	requested int           // trials
	standard  int           // default trials
}

// published is what the published folder holds of an experiment.
type published struct {
	table  *table.Table            // nil if there is none
	rows   map[string]*table.Table // its rows with Spec columns, by short job id
	times  *table.Table            // the timing table; of an experiment that is not marked Timing empty if it cannot be read
	timing map[string][]Phase      // its rows by short job id
	meta   *Meta                   // nil if there is none
	err    error                   // why the table cannot be used; nil if there is none

	sha256, timingSHA256 string // of table.csv; of timing.csv, with Spec.Timing only
}

// has reports whether the tables are those that a meta.json describes.
func (p published) has(m *Meta) bool {
	return m != nil && m.TableSHA256 == p.sha256 && m.TimingSHA256 == p.timingSHA256
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
	p := &plan{
		Selected: s, cfg: c, store: OpenStore(c.Folders.Store),
		records: map[string]*Record{}, rows: map[string]*table.Table{},
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
	if c.Folders.Published != "" {
		p.published = readPublished(p.publishedDir(), s.Spec)
		// Trials beyond the default that are published stay published.
		for len(p.published.rows) > 0 && p.hasTrial(trials, look) {
			trials++
		}
	}
	p.jobs = s.Spec.Jobs(c.Scale, trials, c.seed(), look)

	var wall float64
	for i, job := range p.jobs {
		if rec, ok := p.store.Get(job, s.Spec.Index, s.Spec.Values); ok {
			p.records[job.ID], p.rows[job.ID] = rec, rec.Rows
			wall += rec.Run.WallS
		} else if rows, ok := p.published.rows[job.short()]; ok {
			p.rows[job.ID] = rows
		}
		if job.Key.Trial >= p.requested || len(c.Cells) > 0 && !slices.Contains(c.Cells, job.Cell.Name) {
			continue
		}
		p.wanted = append(p.wanted, i)
		if c.Force || p.rows[job.ID] == nil {
			p.pending = append(p.pending, i)
		}
	}
	p.own = p.wanted
	switch {
	case len(p.records) > 0:
		p.expected = time.Duration(wall / float64(len(p.records)) * float64(time.Second))
	case c.Scale == Full:
		p.expected = s.Spec.Cost
	}
	return p, nil
}

// hasTrial reports whether all cells of a trial are published.
func (p *plan) hasTrial(trial int, look func(string) string) bool {
	for _, job := range p.Spec.Jobs(p.cfg.Scale, trial+1, p.cfg.seed(), look) {
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

func (p *plan) complete() bool { return p.done() == len(p.jobs) }

// obstacle says why the table would not be published even if it were
// complete; "" if it would.
func (p *plan) obstacle() string {
	switch {
	case p.cfg.Scale != Full:
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

// table returns the rows of all done jobs in the order of the jobs.
func (p *plan) table() *table.Table {
	index, values := p.Spec.Columns()
	t := table.New(index, values)
	for _, job := range p.jobs {
		rows, ok := p.rows[job.ID]
		if !ok {
			continue
		}
		addRows(t, rows, job.indexCells())
	}
	return t
}

// indexCells are the cells of a row that name its job.
func (j Job) indexCells() table.Key {
	return table.Key{"job": j.short(), "cell": j.Cell.Name, "trial": strconv.Itoa(j.Key.Trial)}
}

// addRows appends the rows of src to dst, with further index cells.
func addRows(dst, src *table.Table, with table.Key) {
	for i := range src.Len() {
		key, values := table.Key{}, table.Values{}
		for name, v := range with {
			key[name] = v
		}
		for _, name := range src.IndexNames() {
			key[name] = src.Index(name)[i]
		}
		for _, name := range src.ValueNames() {
			values[name] = src.Values(name)[i]
		}
		dst.Add(key, values)
	}
}

// The files of an experiment's folder beside the views'.
const (
	tableFile  = "table.csv"
	timingFile = "timing.csv"
	metaFile   = "meta.json"
	// publishingFile holds the SHA-256 of the table, and with Spec.Timing that of
	// the timing table, of a publication that is not finished.
	publishingFile = ".publishing"
)

// ReadTable reads the table.csv of an experiment's folder, such as
// results/pola2004/fig3, with the columns of s.Columns.
func (s Spec) ReadTable(dir string) (*table.Table, error) {
	data, err := os.ReadFile(filepath.Join(dir, tableFile))
	if err != nil {
		return nil, fmt.Errorf("experiment: %s has no table: %w", s.ID, err)
	}
	return s.parseTable(dir, data)
}

// ReadTimes reads the timing.csv of an experiment's folder, with the columns of
// TimesColumns. Of an experiment marked Timing it returns an error unless
// meta.json describes the file.
func (s Spec) ReadTimes(dir string) (*table.Table, error) {
	data, err := os.ReadFile(filepath.Join(dir, timingFile))
	if err != nil {
		return nil, fmt.Errorf("experiment: %s has no times: %w", s.ID, err)
	}
	if s.Timing {
		m, err := readMeta(dir)
		if err != nil {
			return nil, fmt.Errorf("experiment: %s: nothing vouches for the times: %w", s.ID, err)
		}
		if m.TimingSHA256 != sum(data) {
			return nil, errTiming(dir)
		}
	}
	return parseTimes(dir, data)
}

func errTiming(dir string) error {
	return fmt.Errorf("experiment: %s is not the timing table that %s describes", filepath.Join(dir, timingFile), metaFile)
}

func parseTimes(dir string, data []byte) (*table.Table, error) {
	index, values := TimesColumns()
	return table.ReadCSV(bytes.NewReader(data), filepath.Join(dir, timingFile), index, values)
}

func (s Spec) parseTable(dir string, data []byte) (*table.Table, error) {
	index, values := s.Columns()
	return table.ReadCSV(bytes.NewReader(data), filepath.Join(dir, tableFile), index, values)
}

// sum returns the SHA-256 of data in hexadecimal digits.
func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func readPublished(dir string, s Spec) published {
	p := published{rows: map[string]*table.Table{}, times: table.New(TimesColumns()), timing: map[string][]Phase{}}
	if m, err := readMeta(dir); err == nil {
		p.meta = m
	}
	data, err := os.ReadFile(filepath.Join(dir, tableFile))
	if err != nil {
		return p // nothing is published
	}
	p.sha256 = sum(data)
	// A table that is not the one that was written (edited, cut, a merge of two)
	// would give jobs wrong rows.
	text, _ := os.ReadFile(filepath.Join(dir, publishingFile)) // usually there is none
	journal := strings.Fields(string(text))
	if !slices.Contains(journal, p.sha256) && (p.meta == nil || p.sha256 != p.meta.TableSHA256) {
		p.err = fmt.Errorf("experiment: %s is not the table that %s describes", filepath.Join(dir, tableFile), metaFile)
		return p
	}
	t, err := s.parseTable(dir, data)
	if err != nil {
		p.err = err
		return p
	}
	if err := p.readTimes(dir, s, journal); err != nil && s.Timing {
		p.err = err // rows without their times are half a result
		return p
	}
	p.table = t
	jobs := t.Index("job")
	for i, id := range jobs {
		rows, ok := p.rows[id]
		if !ok {
			rows = table.New(s.Index, s.Values)
			p.rows[id] = rows
		}
		key, values := table.Key{}, table.Values{}
		for _, name := range s.Index {
			key[name] = t.Index(name)[i]
		}
		for _, name := range s.Values {
			values[name] = t.Values(name)[i]
		}
		rows.Add(key, values)
	}
	if s.Timing { // a table that was cut off before its timing table has more jobs
		maps.DeleteFunc(p.rows, func(id string, _ *table.Table) bool { return p.timing[id] == nil })
	}
	return p
}

// readTimes reads timing.csv; that of an experiment marked Timing must be the
// one that meta.json or the journal vouches for.
func (p *published) readTimes(dir string, s Spec, journal []string) error {
	data, err := os.ReadFile(filepath.Join(dir, timingFile))
	if err != nil {
		return fmt.Errorf("experiment: %s has no times: %w", s.ID, err)
	}
	if s.Timing {
		p.timingSHA256 = sum(data)
		if !slices.Contains(journal, p.timingSHA256) && (p.meta == nil || p.timingSHA256 != p.meta.TimingSHA256) {
			return errTiming(dir)
		}
	}
	t, err := parseTimes(dir, data)
	if err != nil {
		return err
	}
	p.times = t
	for i, id := range t.Index("job") {
		p.timing[id] = append(p.timing[id], Phase{t.Index("phase")[i], t.Values("wall_s")[i], t.Values("cpu_s")[i]})
	}
	return nil
}
