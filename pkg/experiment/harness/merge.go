package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"metriclab/internal/shellword"
	"metriclab/pkg/table"
)

// Merged is what Merge did.
type Merged struct {
	// Sources are the folders merged, in the order given.
	Sources []MergedSource
	// Damaged are the files that cannot be used, here and in the sources.
	Damaged []DamagedFile
	// NoChecksum counts the files of finished jobs, here and in the sources, that
	// an earlier version wrote without a checksum. They count as missing.
	NoChecksum int
	// Missing are the experiments of which jobs are still missing.
	Missing []MissingJobs
	// Result is that of Report on what is there now; nil if Err is not.
	Result *Result
	// Err is the write error that ended the merge; what was copied is complete.
	Err error
}

// MergedSource counts the stored jobs of one source.
type MergedSource struct {
	Dir string
	// Same is the earlier folder that this one is, under another name or the
	// same; then nothing is counted. "" for none.
	Same string
	// New jobs were copied; Known ones are here already or in an earlier source.
	New, Known int
	// OtherScale counts the jobs of another scale; Stray the others that the
	// Config does not ask for: of other settings, trials, cells or versions. They
	// are left where they are.
	OtherScale, Stray int
	// Damaged files count as missing, and so do those without a checksum.
	Damaged, NoChecksum int
}

// DamagedFile is a file of a finished job, or of published results, that cannot
// be used, and why.
type DamagedFile struct {
	Path string
	Err  error
	// Published says that it is one of published results.
	Published bool
	// Replaced says that this run makes the file anew; Command is the command line
	// that does, "" if the next run with the same flags does.
	Replaced bool
	Command  string
}

// MissingJobs counts what an experiment lacks.
type MissingJobs struct {
	Experiment string
	Jobs       int // that the Config asks for
	Missing    int
	Failed     int // of the missing ones, those that failed in this store or a source
}

// ConflictError says that two files hold different values of the same job.
// Then a method has changed without a new version, or two machines compute
// differently.
type ConflictError struct {
	Experiment, Cell string
	Trial            int
	Files            [2]string
	More             int // further conflicts
}

func (e *ConflictError) Error() string {
	more := ""
	if e.More > 0 {
		more = fmt.Sprintf(" (and %d more)", e.More)
	}
	return fmt.Sprintf("experiment: %s, cell %s, trial %d: %s and %s hold different values of the same job%s; nothing was merged",
		e.Experiment, e.Cell, e.Trial, e.Files[0], e.Files[1], more)
}

// Merge copies the finished jobs of the selected experiments from the stores
// below the folders sources to that of cfg, then does what Report does. A job
// is copied if cfg asks for it and it is not here yet; what is here stays as it
// is, byte for byte. If two sources have a job, the record that ended first is
// taken, so that the order of the sources does not matter. No sources are fine:
// then it reports on the own store.
//
// All sources are read before anything is written. Two records of the same job
// with different values give a *ConflictError, a source that is no folder of
// results a *ConfigError, and nothing has changed. Merging again, or a folder
// with itself, changes nothing.
func Merge(ctx context.Context, sel []Selected, sources []string, cfg Config) (*Merged, error) {
	if err := cfg.check(sel); err != nil {
		return nil, err
	}
	if err := cfg.checkForeign(); err != nil {
		return nil, err
	}
	if cfg.Shard.some() {
		return nil, &ConfigError{"a merge has no shard"}
	}
	plans, err := cfg.plans(ctx, sel)
	if err != nil {
		return nil, err
	}
	m := &Merged{}
	if err := m.open(sources, cfg.Folders.Store); err != nil {
		return nil, err
	}
	u := &union{merged: m, found: map[string]*storedCell{}}
	for _, p := range plans {
		if err := u.read(ctx, p); err != nil {
			return nil, err
		}
	}
	if u.conflict != nil {
		return nil, u.conflict
	}

	store := openStore(cfg.Folders.Store)
	if err := checkWritable(cfg.Folders.Store); err != nil {
		return nil, err
	}
	hold, err := store.hold(cfg.Folders.Store)
	if err != nil {
		return nil, err
	}
	defer hold.release()
	for _, p := range plans {
		if m.Err = u.copy(ctx, p, store); m.Err != nil {
			return m, nil
		}
		if missing := u.missing(p, store); missing.Missing > 0 {
			m.Missing = append(m.Missing, missing)
		}
	}
	if m.Result, err = Report(ctx, sel, cfg); err != nil {
		return m, err
	}
	for _, d := range m.Result.Damaged {
		if !slices.ContainsFunc(m.Damaged, func(x DamagedFile) bool { return x.Path == d.Path }) {
			m.Damaged = append(m.Damaged, d)
		}
	}
	return m, nil
}

// MergeCommand returns the command line that merges the shards of a run; "" if
// cfg.Origin names no program.
func MergeCommand(sel []Selected, cfg Config) string {
	c := "merge" + flags(cfg.Scale, cfg.Trials, cfg.seed())
	if all, _ := Select(cfg.Papers, nil); len(sel) < len(all) { // no name cannot be unknown
		for _, s := range sel {
			c += " --experiment " + s.Spec.ID
		}
	}
	for _, cell := range cfg.Cells {
		c += " --cell " + shellword.Quote(cell)
	}
	return cfg.Origin.command(c)
}

// open checks that the sources are folders of results and tells which of them
// are the same.
func (m *Merged) open(sources []string, own string) error {
	type folder struct {
		dir  string
		info fs.FileInfo
	}
	var seen []folder
	if info, err := os.Stat(own); err == nil {
		seen = append(seen, folder{own, info})
	}
	for _, dir := range sources {
		info, err := os.Stat(dir)
		if err != nil {
			return &ConfigError{fmt.Sprintf("source %s: %v", dir, cause(err))}
		}
		if i := slices.IndexFunc(seen, func(f folder) bool { return os.SameFile(f.info, info) }); i >= 0 {
			m.Sources = append(m.Sources, MergedSource{Dir: dir, Same: seen[i].dir})
			continue
		}
		if cells, err := os.Stat(filepath.Join(dir, ".cells")); err != nil || !cells.IsDir() {
			return &ConfigError{fmt.Sprintf("source %s has no folder .cells, so it is no folder of results", dir)}
		}
		seen = append(seen, folder{dir, info})
		m.Sources = append(m.Sources, MergedSource{Dir: dir})
	}
	return nil
}

// union is the set of jobs that sources add to a store.
type union struct {
	merged   *Merged
	found    map[string]*storedCell // what is to be copied, by id
	conflict *ConflictError
}

// read takes the jobs of an experiment from all sources.
func (u *union) read(ctx context.Context, p *plan) error {
	jobs := map[string]Job{}
	for _, i := range p.wanted {
		jobs[p.jobs[i].ID] = p.jobs[i]
	}
	own, err := p.store.cells(p.Spec)
	if err != nil {
		return err
	}
	for _, c := range own {
		if c.err == nil && jobs[c.id].ID != "" {
			c.err = checkNames(c.rec.Rows, p.Spec.Columns)
		}
		switch {
		case errors.Is(c.err, errNoChecksum):
			if jobs[c.id].ID != "" {
				u.merged.NoChecksum++
			}
		case c.err != nil:
			u.merged.Damaged = append(u.merged.Damaged, DamagedFile{Path: c.path, Err: cause(c.err)})
		}
	}
	for i := range u.merged.Sources {
		src := &u.merged.Sources[i]
		if src.Same != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		cells, err := openStore(src.Dir).cells(p.Spec)
		if err != nil {
			return err
		}
		for _, c := range cells {
			job, current := jobs[c.id]
			if c.err == nil && current {
				c.err = checkNames(c.rec.Rows, p.Spec.Columns)
			}
			switch {
			case errors.Is(c.err, errNoChecksum) && current:
				src.NoChecksum++
				u.merged.NoChecksum++
			case errors.Is(c.err, errNoChecksum):
				src.Stray++
			case c.err != nil:
				src.Damaged++
				u.merged.Damaged = append(u.merged.Damaged, DamagedFile{Path: c.path, Err: cause(c.err)})
			case current:
				u.add(p, job, c, src)
			case c.rec.Key.Scale != p.cfg.Scale:
				src.OtherScale++
			default:
				src.Stray++
			}
		}
	}
	return nil
}

// add takes one job of a source, unless it is there already.
func (u *union) add(p *plan, job Job, c storedCell, src *MergedSource) {
	if old, ok := u.found[job.ID]; ok {
		src.Known++
		u.compare(job, old.path, old.rec.Rows, c)
		if c.before(old) {
			u.found[job.ID] = &c
		}
		return
	}
	rows, here := p.rows[job.ID]
	if here {
		path := p.store.cellPath(p.Spec.ID, job.ID)
		if p.records[job.ID] == nil {
			path = filepath.Join(p.publishedDir(), tableFile)
		}
		u.compare(job, path, rows, c)
	}
	if p.records[job.ID] != nil {
		src.Known++
		return
	}
	src.New++
	u.found[job.ID] = &c
}

// compare notes a conflict if the values of a job differ.
func (u *union) compare(job Job, path string, rows *table.Table, c storedCell) {
	switch {
	case slices.EqualFunc(rowStrings(rows), rowStrings(c.rec.Rows), slices.Equal):
	case u.conflict != nil:
		u.conflict.More++
	default:
		u.conflict = &ConflictError{Experiment: job.Key.Experiment, Cell: job.Cell.Name, Trial: job.Key.Trial, Files: [2]string{path, c.path}}
	}
}

// before orders records of the same job: by their end, then by their bytes.
func (c *storedCell) before(d *storedCell) bool {
	if n := c.rec.Run.End.Compare(d.rec.Run.End); n != 0 {
		return n < 0
	}
	return bytes.Compare(c.data, d.data) < 0
}

// copy stores the jobs of an experiment that were found.
func (u *union) copy(ctx context.Context, p *plan, store *jobStore) error {
	for _, job := range p.jobs {
		c, ok := u.found[job.ID]
		if !ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := store.write(store.cellPath(p.Spec.ID, job.ID), c.data); err != nil {
			return fmt.Errorf("experiment: %s could not be copied: %w", c.path, err)
		}
		store.clearFailure(job.ID)
	}
	return nil
}

// missing counts what an experiment lacks after the copy.
func (u *union) missing(p *plan, store *jobStore) MissingJobs {
	m := MissingJobs{Experiment: p.Spec.ID, Jobs: len(p.wanted)}
	stores := []*jobStore{store}
	for _, src := range u.merged.Sources {
		stores = append(stores, openStore(src.Dir))
	}
	for _, job := range p.without(p.wanted) {
		if u.found[job.ID] != nil {
			continue
		}
		m.Missing++
		if slices.ContainsFunc(stores, func(s *jobStore) bool { _, failed := s.failed(job.ID); return failed }) {
			m.Failed++
		}
	}
	return m
}
