package harness

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"time"

	"metriclab/internal/shellword"
	"metriclab/pkg/experiment"
	"metriclab/pkg/limits"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// metaSchema is the version of the fields of a meta.json. Since 2 it has columns and kinds.
const metaSchema = 2

// The states of metaJSON.
const (
	statePublished = "published"
	stateDraft     = "draft"
)

// metaJSON is the provenance of a table: meta.json beside it. It holds no path and
// no name of a machine. The file has a checksum, as its first member, over all
// of these.
type metaJSON struct {
	Schema      int              `json:"schema"`
	Experiment  string           `json:"experiment"`
	Title       string           `json:"title"`
	Source      string           `json:"source"`
	Scale       experiment.Scale `json:"scale"`
	State       string           `json:"state"` // "published" or "draft"
	Command     string           `json:"command,omitempty"`
	Version     int              `json:"version"`
	Seed        uint64           `json:"seed"`
	SeedScheme  int              `json:"seed_scheme"`
	Trials      int              `json:"trials"`
	Jobs        int              `json:"jobs"`
	JobsDone    int              `json:"jobs_done"`
	TableSHA256 string           `json:"table_sha256"`
	// TimingSHA256 is that of timing.csv. Earlier versions wrote it only for
	// experiments marked Timing.
	TimingSHA256 string `json:"timing_sha256,omitempty"`
	// Kinds and Columns say what the rows and columns of table.csv are.
	Kinds   []metaKind   `json:"kinds,omitempty"`
	Columns []metaColumn `json:"columns,omitempty"`
	// Datasets maps each registered data set to the digest of its files.
	Datasets map[string]string `json:"datasets"`
	// Params and Methods are shared by all cells; a cell lists what is its own.
	Params  map[string]string `json:"params"`
	Methods map[string]int    `json:"methods"`
	Cells   []metaCell        `json:"cells"`
	// WallS and CPUS sum over the jobs; parallel jobs count in full.
	WallS float64   `json:"wall_s,omitempty"`
	CPUS  float64   `json:"cpu_s,omitempty"`
	Runs  []metaRun `json:"runs,omitempty"`
}

// metaKind is a kind of rows: what stands in the column "kind".
type metaKind struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// metaColumn describes a column of table.csv, or a vector of Length columns, whose names
// end in 0, 1, ….
type metaColumn struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"` // "text" or "number"
	Length  int      `json:"length,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Meaning string   `json:"meaning"`
	Kinds   []string `json:"kinds,omitzero"` // of rows in which it may be filled: all without this member, none if it is empty
	Derived bool     `json:"derived,omitempty"`
}

// described are the columns of an experiment's table for a meta.json.
func described(s experiment.Spec) []metaColumn {
	out := []metaColumn{
		{Name: "job", Type: "text", Meaning: "first 16 digits of the job's id"},
		{Name: "cell", Type: "text", Meaning: "name of the cell"},
		{Name: "trial", Type: "text", Meaning: "number of the trial, from 0"},
	}
	for _, c := range s.Columns {
		m := metaColumn{Name: c.Name, Type: "number", Length: c.Len, Unit: c.Unit, Meaning: c.Meaning, Kinds: c.Kinds, Derived: c.Derive != nil}
		if c.Text {
			m.Type = "text"
		}
		out = append(out, m)
	}
	return out
}

// CheckMeta returns an error unless the meta.json of an experiment's folder describes the
// columns and kinds as the experiment declares them.
func CheckMeta(s experiment.Spec, dir string) error {
	m, _, err := readMeta(dir)
	if err != nil {
		return err
	}
	for i, want := range described(s) {
		if i >= len(m.Columns) || !reflect.DeepEqual(m.Columns[i], want) {
			return fmt.Errorf("%s does not describe the column %s as it is declared", metaFile, want.Name)
		}
	}
	if len(m.Columns) > len(described(s)) || !slices.Equal(m.Kinds, kindsOf(s)) {
		return fmt.Errorf("%s describes other kinds of rows, or more columns, than are declared", metaFile)
	}
	return nil
}

// kindsOf are the kinds of an experiment's rows for a meta.json.
func kindsOf(s experiment.Spec) []metaKind {
	var out []metaKind
	for _, k := range s.Kinds {
		out = append(out, metaKind{Name: k.Name, Meaning: k.Meaning})
	}
	return out
}

// names lists the columns of the table that a meta.json, which may be nil, describes.
func (m *metaJSON) names() []string {
	var out []string
	if m != nil {
		for _, c := range m.Columns {
			out = append(out, experiment.Column{Name: c.Name, Len: c.Length}.Names()...)
		}
	}
	return out
}

// derived lists the columns that a meta.json, which may be nil, says are derived.
func (m *metaJSON) derived() []string {
	var out []string
	if m != nil {
		for _, c := range m.Columns {
			if c.Derived {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// metaCell is one cell of a metaJSON.
type metaCell struct {
	Name    string            `json:"name"`
	Dataset string            `json:"dataset"`
	Params  map[string]string `json:"params,omitempty"`
	Methods map[string]int    `json:"methods,omitempty"`
}

// metaRun sums up the jobs that one build ran on one kind of machine.
type metaRun struct {
	Build
	Jobs       int       `json:"jobs"`
	WallS      float64   `json:"wall_s"`
	CPUS       float64   `json:"cpu_s"`
	PeakRSSKiB int64     `json:"process_peak_rss_kib"`
	First      time.Time `json:"first"` // start of the first job, UTC
	Last       time.Time `json:"last"`  // end of the last job, UTC
}

// readMeta reads the meta.json of a folder. Without a checksum nothing vouches
// for it, as for those of earlier versions.
func readMeta(dir string) (m *metaJSON, vouched bool, err error) {
	data, err := limits.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		return nil, false, err
	}
	m = new(metaJSON)
	err = unseal(data, m)
	if err != nil && !errors.Is(err, errNoChecksum) {
		return nil, false, err
	}
	return m, err == nil, nil
}

// command is the command line that makes a table, without paths; "" if the caller
// does not say by which program.
func (p *plan) command() string {
	trials := p.requested
	if p.obstacle() == "" {
		trials = p.trials()
	}
	if trials == p.standard {
		trials = 0
	}
	args := "run " + p.Spec.ID + flags(p.cfg.Scale, trials, p.cfg.seed())
	for _, name := range p.cfg.Cells {
		args += " --cell " + shellword.Quote(name)
	}
	return p.cfg.Origin.command(args)
}

// flags are the flags of scale, trials (0 for the default) and seed that are
// not defaults.
func flags(scale experiment.Scale, trials int, seed uint64) string {
	s := ""
	if scale != experiment.Smoke {
		s += " --scale " + string(scale)
	}
	if trials > 0 {
		s += " --trials " + strconv.Itoa(trials)
	}
	if seed != 1 {
		s += " --seed " + strconv.FormatUint(seed, 10)
	}
	return s
}

// meta builds the provenance of the current rows.
func (p *plan) meta(state, tableSHA, timingSHA string) *metaJSON {
	m := &metaJSON{
		Schema: metaSchema, Experiment: p.Spec.ID, Title: p.Spec.Title, Source: p.Spec.Source,
		Scale: p.cfg.Scale, State: state, Command: p.command(), Version: p.Spec.Version,
		Seed: p.cfg.seed(), SeedScheme: random.Scheme, Jobs: len(p.jobs), JobsDone: p.done(), TableSHA256: tableSHA,
		TimingSHA256: timingSHA, Datasets: map[string]string{},
	}
	if old := p.published.meta; m.Command == "" && old != nil && old.TableSHA256 == tableSHA {
		m.Command = old.Command // of who ran the jobs
	}
	m.Kinds, m.Columns = kindsOf(p.Spec), described(p.Spec)
	cells := p.Spec.Cells(p.cfg.Scale)
	m.Trials = p.trials()
	m.Params, m.Methods = common(cells, experiment.Cell.Params), common(cells, func(c experiment.Cell) map[string]int { return c.Methods })
	for _, c := range cells {
		m.Cells = append(m.Cells, metaCell{c.Name, c.Dataset, without(c.Params(), m.Params), without(c.Methods, m.Methods)})
	}
	for _, job := range p.jobs {
		if job.Key.DatasetSHA256 != "" {
			m.Datasets[job.Cell.Dataset] = job.Key.DatasetSHA256
		}
	}

	old := p.published.meta
	if !p.fromPublished() || old == nil {
		old = &metaJSON{}
	}
	// Rows without a cell file come from the published table, and so does their
	// provenance; a meta.json that a kill left behind its table lacks the jobs
	// that ended later.
	m.Runs = slices.Clone(old.Runs)
	for _, job := range p.jobs {
		rec, ok := p.records[job.ID]
		counted := old.Runs != nil && p.published.rows[job.short()] != nil && (old.TableSHA256 == p.published.sha256 || !rec.endsAfter(old.Runs))
		if ok && !counted && rec.Run.told() {
			m.addRun(rec.Run)
		}
	}
	for _, r := range m.Runs {
		m.WallS += r.WallS
		m.CPUS += r.CPUS
	}
	return m
}

func (r *record) endsAfter(runs []metaRun) bool {
	return r != nil && !slices.ContainsFunc(runs, func(x metaRun) bool { return !r.Run.End.After(x.Last) })
}

// fromPublished reports whether some rows have no cell file.
func (p *plan) fromPublished() bool { return len(p.records) < len(p.rows) }

// told reports whether the caller told anything of the machine and the time.
func (r runInfo) told() bool { return r.Build != (Build{}) || !r.Start.IsZero() || !r.End.IsZero() }

func (m *metaJSON) addRun(r runInfo) {
	i := slices.IndexFunc(m.Runs, func(x metaRun) bool { return x.Build == r.Build })
	if i < 0 {
		i = len(m.Runs)
		m.Runs = append(m.Runs, metaRun{Build: r.Build, First: r.Start, Last: r.End})
	}
	x := &m.Runs[i]
	x.Jobs++
	x.WallS += r.WallS
	x.CPUS += r.CPUS
	x.PeakRSSKiB = max(x.PeakRSSKiB, r.PeakRSSKiB)
	if r.Start.Before(x.First) {
		x.First = r.Start
	}
	if r.End.After(x.Last) {
		x.Last = r.End
	}
}

// common returns the entries that the maps of all cells share.
func common[V comparable](cells []experiment.Cell, get func(experiment.Cell) map[string]V) map[string]V {
	out := map[string]V{}
	maps.Copy(out, get(cells[0]))
	for _, c := range cells[1:] {
		m := get(c)
		maps.DeleteFunc(out, func(k string, v V) bool { w, ok := m[k]; return !ok || w != v })
	}
	return out
}

// without returns the entries of m that are not in shared.
func without[V comparable](m, shared map[string]V) map[string]V {
	out := map[string]V{}
	maps.Copy(out, m)
	maps.DeleteFunc(out, func(k string, _ V) bool { _, ok := shared[k]; return ok })
	return out
}

// times returns the timing table of all done jobs: the times of cell files,
// else those of the published timing table.
func (p *plan) times() *table.Table {
	t := table.New(TimesColumns())
	for _, job := range p.jobs {
		if rec, ok := p.records[job.ID]; ok {
			addTimes(t, job, rec.Run.all())
		} else if p.rows[job.ID] != nil {
			addTimes(t, job, p.published.timing[job.short()])
		}
	}
	return t
}

// all returns the phases and the whole job's.
func (r runInfo) all() []phaseTime {
	return append(slices.Clone(r.Phases), phaseTime{experiment.TotalPhase, r.WallS, r.CPUS})
}

// addTimes appends the phases of a job to a timing table.
func addTimes(t *table.Table, job Job, phases []phaseTime) {
	for _, ph := range phases {
		key := job.indexCells()
		key["phase"] = ph.Name
		t.Add(key, table.Values{"wall_s": ph.WallS, "cpu_s": ph.CPUS})
	}
}
