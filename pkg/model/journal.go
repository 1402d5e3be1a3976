package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"metriclab/pkg/limits"
)

// A Journal keeps the trials of a comparison, so that a later run can go on: lines of JSON, the first of which names the
// table and all that the trials depend on.
type Journal struct{ head journalHead }

// journalHead is the first line.
type journalHead struct {
	Format     string `json:"format"`
	Version    int    `json:"version"`
	Table      string `json:"table"` // a hash of rows, classes and columns
	Rows       int    `json:"rows"`
	Features   int    `json:"features"`
	Folds      int    `json:"folds"`
	Repeats    int    `json:"repeats"`
	Seed       uint64 `json:"seed"`
	Ks         []int  `json:"ks"`
	Validation int    `json:"validation"`
	Pairs      int    `json:"pairs"`
	Passes     int    `json:"passes"`
	ImputeMean bool   `json:"impute_mean"`
	Raw        bool   `json:"raw"`
	// Params are those given, by the names of learners.
	Params map[string]map[string]string `json:"params,omitempty"`
}

const (
	journalFormat  = "metriclab comparison"
	journalVersion = 1
)

// ErrJournal says that a file is no journal, or a damaged one, or that of another comparison.
var ErrJournal = errors.New("not a journal of this comparison")

// NewJournal returns the journal of Compare with the same arguments. It panics if d is nil or has no rows.
func NewJournal(d *Data, base Recipe, p Comparing) Journal {
	n, width := d.Dims()
	q, _ := p.Plan.forRows(n)
	seed := q.Seed
	if seed == 0 {
		seed = max(base.Seed, 1)
	}
	params, err := ofLearners(p.Params)
	if err != nil {
		params = p.Params // which Compare refuses
	}
	return Journal{journalHead{
		Format: journalFormat, Version: journalVersion, Table: fingerprint(d), Rows: n, Features: width,
		Folds: q.Folds, Repeats: q.Repeats, Seed: seed, Ks: q.Ks, Validation: p.Validation,
		Pairs: base.Pairs, Passes: base.Passes, ImputeMean: base.ImputeMean, Raw: base.Raw, Params: params,
	}}
}

// fingerprint returns a hash of the rows of d, their classes and the names of the columns.
func fingerprint(d *Data) string {
	h := sha256.New()
	text := func(s string) {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s))))
		io.WriteString(h, s)
	}
	n, width := d.Dims()
	text(fmt.Sprint(n, width, d.Sparse != nil))
	for _, f := range d.Layout.Features {
		text(f)
	}
	for _, l := range d.Labels {
		text(l)
	}
	var b []byte
	add := func(v float64) {
		if v != v {
			v = math.NaN() // of any bits
		}
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	for i := range n {
		b = b[:0]
		if d.Sparse != nil {
			row := d.Sparse.Row(i)
			for k, j := range row.Index {
				b = binary.LittleEndian.AppendUint64(b, uint64(j))
				add(row.Value[k])
			}
			b = binary.LittleEndian.AppendUint64(b, math.MaxUint64) // ends the row
		} else {
			for _, v := range d.X.RawRowView(i) {
				add(v)
			}
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Head returns the first line.
func (j Journal) Head() []byte { return j.Line(j.head) }

// Line returns the line of a value, which is a Trial.
func (j Journal) Line(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("model: journal: " + err.Error()) // numbers and text only
	}
	return append(b, '\n')
}

// Read reads a journal; name is that of the file, for messages. It returns the trials and how many bytes of the file are
// whole lines: a last line without an end, which a killed run leaves, is not read, and whoever goes on writes from
// there. An empty file has no trials.
//
// It returns an error that wraps ErrJournal, with file and line: if the first line is that of another table, of other
// settings or of no journal; if a line is damaged or repeated; and if another version of a learner has written it.
// More than limits.Memory is a *limits.MemoryError.
func (j Journal) Read(r io.Reader, name string) (trials []Trial, whole int64, err error) {
	raw, err := limits.ReadAll(r, "journal "+name)
	if err != nil {
		return nil, 0, fmt.Errorf("model: %w", err)
	}
	bad := func(line int, format string, args ...any) ([]Trial, int64, error) {
		return nil, 0, fmt.Errorf("model: %s:%d: %w: %s", name, line, ErrJournal, fmt.Sprintf(format, args...))
	}
	versions := map[string]int{}
	for _, e := range Learners() {
		versions[e.Name] = e.Version
	}
	seen := map[trialKey]bool{}
	for line := 1; ; line++ {
		text, rest, ended := bytes.Cut(raw, []byte{'\n'})
		if !ended {
			if line == 1 && len(text) > 0 && !bytes.HasPrefix(j.Head(), text) {
				return bad(1, "it does not begin as a journal does; want a new file, or one that metriclab compare has written")
			}
			return trials, whole, nil
		}
		raw = rest
		whole += int64(len(text)) + 1
		if line == 1 {
			if why := j.other(text); why != "" {
				return bad(1, "%s", why)
			}
			continue
		}
		var t Trial
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&t); err != nil || d.More() {
			return bad(line, "the line is damaged; remove it to run what it held again")
		}
		version, known := versions[t.Learner]
		switch {
		case !known:
			return bad(line, "learner %q is unknown", t.Learner)
		case t.Version != version:
			return bad(line, "it is of version %d of %s, this program has version %d; want a new file", t.Version, t.Learner, version)
		case t.Split < 0 || t.Split >= j.head.Folds*j.head.Repeats || t.Inner < 0 || t.Inner > j.head.Validation:
			return bad(line, "split %d, inner fold %d: there is no such split", t.Split, t.Inner)
		case t.Rows < 1 || t.Rows > j.head.Rows || t.Wrong < 0 || t.Wrong > t.Rows:
			return bad(line, "%d of %d rows are wrong, want 0 to all of at least 1 and at most %d", t.Wrong, t.Rows, j.head.Rows)
		case !slices.Contains(j.head.Ks, t.K):
			return bad(line, "k: %d is none of those that are tried", t.K)
		case !(t.Seconds >= 0):
			return bad(line, "cpu_seconds: %v is not allowed, want at least 0", t.Seconds)
		case t.Peak < 0:
			return bad(line, "peak_bytes: %d is not allowed, want at least 0", t.Peak)
		}
		key := trialKey{t.Learner, t.Split, t.Inner}
		if seen[key] {
			return bad(line, "the same trial as on an earlier line")
		}
		seen[key] = true
		trials = append(trials, t)
	}
}

// other says why a first line is not that of the journal; "" if it is.
func (j Journal) other(text []byte) string {
	var h journalHead
	if err := json.Unmarshal(text, &h); err != nil || h.Format != journalFormat {
		return "it does not begin as a journal does; want a new file, or one that metriclab compare has written"
	}
	if h.Version != journalVersion {
		return fmt.Sprintf("it has format version %d, this program reads %d", h.Version, journalVersion)
	}
	if h.Table != j.head.Table {
		return fmt.Sprintf("it is of another table, of %d rows and %d features, or of other columns of this one; want a new file", h.Rows, h.Features)
	}
	for _, f := range []struct {
		name      string
		was, want any
	}{
		{"folds", h.Folds, j.head.Folds},
		{"repeats", h.Repeats, j.head.Repeats},
		{"seed", h.Seed, j.head.Seed},
		{"k", h.Ks, j.head.Ks},
		{"validation", h.Validation, j.head.Validation},
		{"pairs", h.Pairs, j.head.Pairs},
		{"passes", h.Passes, j.head.Passes},
		{"impute mean", h.ImputeMean, j.head.ImputeMean},
		{"features as they are", h.Raw, j.head.Raw},
		{"parameters", h.Params, j.head.Params},
	} {
		if fmt.Sprint(f.was) != fmt.Sprint(f.want) {
			return fmt.Sprintf("it is of a run with %s %v, this one has %v; want the same, or a new file", f.name, f.was, f.want)
		}
	}
	if !bytes.Equal(append(text, '\n'), j.Head()) {
		return "the line is damaged"
	}
	return ""
}
