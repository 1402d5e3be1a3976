package harness

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/experiment"
	"metriclab/pkg/limits"
	"metriclab/pkg/table"
)

// Build describes the program and the machine that ran a job. What is empty or 0 was
// not told, and is not written.
type Build struct {
	Revision   string `json:"revision,omitempty"` // commit, or "unknown"
	Dirty      bool   `json:"dirty"`              // the source differed from the commit; says nothing without a revision
	Version    string `json:"version,omitempty"`  // of the module
	Go         string `json:"go,omitempty"`
	GOOS       string `json:"goos,omitempty"`
	GOARCH     string `json:"goarch,omitempty"`
	GOAMD64    string `json:"goamd64,omitempty"`
	CPU        string `json:"cpu,omitempty"`
	Cores      int    `json:"cores,omitempty"`
	GOMAXPROCS int    `json:"gomaxprocs,omitempty"`
	Product    string `json:"product,omitempty"` // how matrices are multiplied: the path that the processor allows
}

// runInfo is the provenance of one finished job. It is never compared.
type runInfo struct {
	Build
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	WallS float64   `json:"wall_s"`
	// CPUS is the job's share of the CPU time of the process: while k jobs run,
	// each is charged 1/k of it. The time of the job's own thread would be far too small, as
	// gonum multiplies matrices on several. It is a cost; what is measured needs Timing.
	CPUS float64 `json:"cpu_s"`
	// PeakRSSKiB is that of the whole process so far, with all its parallel jobs.
	PeakRSSKiB int64       `json:"process_peak_rss_kib"`
	Phases     []phaseTime `json:"phases"`
	Args       []string    `json:"args"`
}

// phaseTime is the time that one named phase of a job took.
type phaseTime struct {
	Name  string  `json:"name"`
	WallS float64 `json:"wall_s"`
	CPUS  float64 `json:"cpu_s"`
}

// record is one finished job: its rows and where they come from.
type record struct {
	Key  Key
	Rows *table.Table // those of Spec.Columns that are not derived
	Run  runInfo
}

// failure is one failed job.
type failure struct {
	ID      string    `json:"id"`
	Key     Key       `json:"key"`
	Error   string    `json:"error"`
	Stack   string    `json:"stack,omitempty"`
	Attempt int       `json:"attempt"`
	Time    time.Time `json:"time"`
	Host    string    `json:"host"`
}

// cellFile is the JSON of a record. Rows are strings, as in the CSV, because
// JSON has no NaN and no infinity.
type cellFile struct {
	Key    Key `json:"key"`
	Values struct {
		Index  []string   `json:"index"`
		Values []string   `json:"values"`
		Rows   [][]string `json:"rows"`
	} `json:"values"`
	Run runInfo `json:"run"`
}

// jobStore keeps finished and failed jobs below a folder:
//
//	.cells/<paper>/<experiment>/<first two digits of id>/<id>.json
//	.failures/<id>.json
//	.runs/<utc>-<host>-<pid>.json
//
// A file appears complete or not at all. That of a finished job carries a
// checksum over its key, rows, times and provenance. Reading checks it: what is
// damaged, or has no checksum, is named and counts as missing.
type jobStore struct {
	dir   string
	write func(path string, data []byte) error
}

// openStore returns the store below a folder, which need not exist.
func openStore(dir string) *jobStore { return &jobStore{dir: dir, write: atomicfile.Write} }

func (s *jobStore) cellsDir(experiment string) string {
	return filepath.Join(s.dir, ".cells", filepath.FromSlash(experiment))
}

func (s *jobStore) cellPath(experiment, id string) string {
	return filepath.Join(s.cellsDir(experiment), id[:2], id+".json")
}

func (s *jobStore) failurePath(id string) string {
	return filepath.Join(s.dir, ".failures", id+".json")
}

// get returns the record of a job with the given columns. The error is
// fs.ErrNotExist if the store has none; any other says why its file cannot be
// used.
func (s *jobStore) get(job Job, want experiment.Columns) (*record, error) {
	_, rec, err := readCell(s.cellPath(job.Key.Experiment, job.ID), job.ID)
	if err != nil {
		return nil, err
	}
	if err := checkNames(rec.Rows, want); err != nil {
		return nil, err
	}
	return rec, nil
}

// put stores a record.
func (s *jobStore) put(rec *record) error {
	data, err := encodeCell(rec)
	if err != nil {
		return err
	}
	if len(data) > maxCell {
		return fmt.Errorf("experiment: the rows of a job take %s, want at most %s", limits.Size(int64(len(data))), limits.Size(maxCell))
	}
	path := s.cellPath(rec.Key.Experiment, rec.Key.ID())
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		_ = os.Remove(path) // an empty folder; another one stays, and is named
	}
	return s.write(path, data)
}

// storedCell is one file of a finished job as it lies in a store.
type storedCell struct {
	path string
	id   string // the file's name
	data []byte
	rec  *record // nil if the file cannot be used
	err  error   // why it cannot
}

// cells reads the files of the finished jobs of an experiment, in the order of
// their names. A file is used only if its content, its name and its folder
// agree; that it has the columns of s matters for current jobs only. The error
// is that of a folder that cannot be read.
func (s *jobStore) cells(spec experiment.Spec) ([]storedCell, error) {
	dir := s.cellsDir(spec.ID)
	folders, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("experiment: store: %w", err)
	}
	var out []storedCell
	for _, folder := range folders {
		if info, err := os.Stat(filepath.Join(dir, folder.Name())); err != nil || !info.IsDir() {
			continue // not ours
		}
		files, err := os.ReadDir(filepath.Join(dir, folder.Name()))
		if err != nil {
			return nil, fmt.Errorf("experiment: store: %w", err)
		}
		for _, f := range files {
			id, ok := strings.CutSuffix(f.Name(), ".json")
			if !ok {
				continue
			}
			c := storedCell{path: filepath.Join(dir, folder.Name(), f.Name()), id: id}
			c.data, c.rec, c.err = readCell(c.path, id)
			if c.err == nil && (c.rec.Key.Experiment != spec.ID || c.path != s.cellPath(spec.ID, id)) {
				c.rec, c.err = nil, fmt.Errorf("the file of a job of %s lies in the wrong folder", c.rec.Key.Experiment)
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// maxCell is the largest file of a finished job in bytes. A larger one is damaged, and is not read to find that out.
const maxCell = 256 << 20

func readCell(path, id string) ([]byte, *record, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > maxCell {
		return nil, nil, fmt.Errorf("it has %s, that of a finished job at most %s", limits.Size(info.Size()), limits.Size(maxCell))
	}
	data, err := limits.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	rec, err := decodeCell(data)
	if err != nil {
		return nil, nil, err
	}
	if got := rec.Key.ID(); got != id {
		return nil, nil, fmt.Errorf("its key has the id %s, which is not its name", got)
	}
	return data, rec, nil
}

// checkNames returns an error unless the rows of a job have these columns, but for
// derived ones.
func checkNames(t *table.Table, want experiment.Columns) error {
	index, values := want.Texts(), want.Numbers()
	if !slices.Equal(t.IndexNames(), index) || !slices.Equal(t.ValueNames(), values) {
		return fmt.Errorf("the columns are %s, want %s",
			strings.Join(slices.Concat(t.IndexNames(), t.ValueNames()), ","), strings.Join(slices.Concat(index, values), ","))
	}
	return nil
}

// failed returns the stored failure of a job, if there is one.
func (s *jobStore) failed(id string) (*failure, bool) {
	data, err := limits.ReadFile(s.failurePath(id))
	if err != nil {
		return nil, false
	}
	var f failure
	if err := unseal(data, &f); err != nil && !errors.Is(err, errNoChecksum) || f.ID != id {
		return nil, false
	}
	return &f, true
}

// putFailure stores a failure and counts the attempts.
func (s *jobStore) putFailure(f failure) error {
	f.Attempt = 1
	if old, ok := s.failed(f.ID); ok {
		f.Attempt = old.Attempt + 1
	}
	data, err := seal(f)
	if err != nil {
		return err
	}
	return s.write(s.failurePath(f.ID), data)
}

// clearFailure removes the failure of a job that has now succeeded.
func (s *jobStore) clearFailure(id string) {
	_ = os.Remove(s.failurePath(id)) // it usually does not exist, and is only a note
}

// putManifest stores the manifest of one invocation.
func (s *jobStore) putManifest(name string, manifest any) error {
	data, err := indentJSON(manifest)
	if err != nil {
		return err
	}
	return s.write(filepath.Join(s.dir, ".runs", name+".json"), data)
}

func encodeCell(rec *record) ([]byte, error) {
	var c cellFile
	c.Key, c.Run = rec.Key, rec.Run
	c.Values.Index, c.Values.Values = rec.Rows.IndexNames(), rec.Rows.ValueNames()
	c.Values.Rows = rowStrings(rec.Rows)
	return seal(c)
}

// decodeCell returns the record of encodeCell, or errNoChecksum if nothing is
// wrong but that.
func decodeCell(data []byte) (*record, error) {
	var c cellFile
	unsealed := unseal(data, &c)
	if unsealed != nil && !errors.Is(unsealed, errNoChecksum) {
		return nil, unsealed
	}
	if err := checkColumns(c.Values.Index, c.Values.Values); err != nil {
		return nil, err
	}
	rows := table.New(c.Values.Index, c.Values.Values)
	for i, row := range c.Values.Rows {
		if len(row) != len(c.Values.Index)+len(c.Values.Values) {
			return nil, fmt.Errorf("row %d has %d cells, want %d", i, len(row), len(c.Values.Index)+len(c.Values.Values))
		}
		key, values := table.Key{}, table.Values{}
		for j, name := range c.Values.Index {
			if strings.Contains(row[j], "\r\n") { // which a table cannot hold
				return nil, fmt.Errorf("row %d, column %s: %q has a carriage return before a newline", i, name, row[j])
			}
			key[name] = row[j]
		}
		for j, name := range c.Values.Values {
			v := math.NaN()
			if cell := row[len(c.Values.Index)+j]; cell != "" {
				var err error
				if v, err = strconv.ParseFloat(cell, 64); err != nil {
					return nil, fmt.Errorf("row %d, column %s: %w", i, name, err)
				}
			}
			values[name] = v
		}
		rows.Add(key, values)
	}
	if rows.Len() == 0 {
		return nil, errors.New("no rows")
	}
	if unsealed != nil {
		return nil, unsealed
	}
	return &record{Key: c.Key, Rows: rows, Run: c.Run}, nil
}

// checkColumns returns an error where table.New would panic.
func checkColumns(index, values []string) error {
	seen := map[string]bool{}
	for _, name := range slices.Concat(index, values) {
		if name == "" || seen[name] {
			return fmt.Errorf("column name %q is empty or occurs twice", name)
		}
		seen[name] = true
	}
	return nil
}

// rowStrings formats the rows of a table as its CSV does.
func rowStrings(t *table.Table) [][]string {
	rows := make([][]string, t.Len())
	for _, name := range t.IndexNames() {
		for i, s := range t.Index(name) {
			rows[i] = append(rows[i], s)
		}
	}
	for _, name := range t.ValueNames() {
		for i, v := range t.Values(name) {
			rows[i] = append(rows[i], table.Format(v))
		}
	}
	return rows
}

func indentJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeChanged writes a file unless it has this content already, so that
// nothing changes where nothing has changed.
func (s *jobStore) writeChanged(path string, data []byte) error {
	if old, err := limits.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return s.write(path, data)
}

// checkWritable returns an error unless files can be made in a folder.
func checkWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("experiment: results folder: %w", err)
	}
	if err := atomicfile.CheckWritable(dir); err != nil {
		return fmt.Errorf("experiment: results folder is not writable: %w", err)
	}
	return nil
}

// folders lists the folders below the store in which it writes files of an
// experiment.
func (s *jobStore) folders(experiment string) []string {
	dirs := []string{filepath.Join(s.dir, ".failures"), filepath.Join(s.dir, ".runs")}
	cells, _ := os.ReadDir(s.cellsDir(experiment)) // what cannot be read cannot be swept
	for _, c := range cells {
		if cellFolder.MatchString(c.Name()) {
			dirs = append(dirs, filepath.Join(s.cellsDir(experiment), c.Name()))
		}
	}
	return dirs
}

// cellFolder matches the names of the folders of cell files.
var cellFolder = regexp.MustCompile(`^[0-9a-f]{2}$`)
