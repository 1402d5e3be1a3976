package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"metriclab/pkg/limits"
	"metriclab/pkg/tables"
)

// A Journal keeps the trials of a comparison, so that a later run can go on: lines of JSON, the first of which names the
// table and all that the trials depend on. Each line ends with a seal, the beginning of a SHA-256 of that first line and its own text: a line that
// was damaged, or is of another comparison, is never trusted. Lines are only ever appended, whole, so several runs may share a file.
type Journal struct {
	head     journalHead
	text     []byte         // of the head
	versions map[string]int // of learners
}

// journalHead is the first line.
type journalHead struct {
	Format     string `json:"format"`
	Version    int    `json:"version"`
	Fit        int    `json:"fit"`   // Version
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
	// Problem is "" of a table with classes, which has none of the fields behind it.
	Problem string  `json:"problem,omitempty"`
	Share   float64 `json:"test_share,omitempty"`
	Dim     int     `json:"dim,omitempty"`
	Rank    int     `json:"rank,omitempty"`
	Unit    bool    `json:"unit,omitempty"`
	// Params are those given, by the names of learners.
	Params map[string]map[string]string `json:"params,omitempty"`
}

const (
	journalFormat  = "metriclab comparison"
	journalVersion = 3 // 1 had no seals; 2 divided rows by their numbers
)

// ErrJournal says that a file is no journal, or a damaged one, or that of another comparison.
var ErrJournal = errors.New("not a journal of this comparison")

// journal returns the journal of a comparison that was laid.
func (p *Comparing) journal(pr Problem, base Recipe, params map[string]map[string]string, facts *Facts) Journal {
	h := journalHead{
		Format: journalFormat, Version: journalVersion, Fit: Version, Table: pr.sum(), Rows: max(facts.Items, facts.Known), Features: facts.Features,
		Folds: p.Folds, Repeats: p.Repeats, Seed: p.Seed, Ks: p.Ks, Validation: p.asked,
		Pairs: base.Pairs, Passes: base.Passes, ImputeMean: base.ImputeMean, Raw: base.Raw, Params: params,
	}
	if _, ok := pr.task.(rows); !ok {
		h.Problem, h.Share, h.Dim, h.Rank, h.Unit = pr.about(), p.Share, p.Dim, base.Rank, base.Unit
		h.Fit, h.Ks = max(Version, VectorVersion), nil
		if facts.Classes != nil {
			h.Ks = p.Ks
		}
	}
	j := journalOf(h)
	j.versions = map[string]int{}
	for _, e := range pr.Learners() {
		j.versions[e.Name] = e.Version
	}
	return j
}

func journalOf(h journalHead) Journal { return Journal{head: h, text: plainJSON(h)} }

// sum is a hash of what a problem is about.
func (pr Problem) sum() string {
	h := sha256.New()
	pr.task.digest(h)
	return hex.EncodeToString(h.Sum(nil))
}

// digest writes all of a value, as JSON has it.
func digest(h io.Writer, values ...any) {
	for _, v := range values {
		h.Write(plainJSON(v))
	}
}

// digestRows writes the rows of d, their classes and the names of the columns.
func digestRows(h io.Writer, d *tables.Data) {
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
}

// Head returns the first line.
func (j Journal) Head() []byte { return j.seal(j.head) }

// Line returns the line of a trial.
func (j Journal) Line(t Trial) []byte { return j.seal(t) }

// sealMark stands before the seal of a line, sealLength hexadecimal digits, and sealEnd behind it.
const (
	sealMark   = `,"seal":"`
	sealLength = 16
	sealEnd    = `"}`
)

// seal returns the line of an object.
func (j Journal) seal(v any) []byte {
	b := bytes.TrimSuffix(plainJSON(v), []byte("}"))
	return fmt.Appendf(b, "%s%s%s\n", sealMark, j.sum(b), sealEnd)
}

// sum is the seal of the text of a line before it.
func (j Journal) sum(text []byte) string {
	h := sha256.New()
	h.Write(j.text)
	h.Write([]byte{'\n'})
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))[:sealLength]
}

func plainJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("model: journal: " + err.Error()) // numbers and text only
	}
	return b
}

// unseal returns the object of a line, and whether its seal is that of this journal.
func (j Journal) unseal(line []byte) (object []byte, ok bool) {
	end := len(line) - len(sealMark) - sealLength - len(sealEnd)
	if end < 0 || string(line[end:end+len(sealMark)]) != sealMark || !bytes.HasSuffix(line, []byte(sealEnd)) {
		return nil, false
	}
	seal := string(line[end+len(sealMark) : len(line)-len(sealEnd)])
	return append(bytes.Clone(line[:end]), '}'), seal == j.sum(line[:end])
}

// Read reads a journal; name is that of the file, for messages. It returns the trials, and notes on lines that are damaged, whose trials are to run
// again. A last line without an end, which a killed run leaves, is such a line without a note; whole is false then, and whoever goes on writes an end of line first. An empty file has
// no trials.
//
// It returns an error that wraps ErrJournal, with file and line, if the first line is that of another table, of other settings or
// of no journal. It also does if two lines have different results of one trial, or another version of a learner has written one.
// More than limits.Memory is a *limits.MemoryError.
func (j Journal) Read(r io.Reader, name string) (trials []Trial, notes []string, whole bool, err error) {
	raw, err := limits.ReadAll(r, "journal "+name)
	if err != nil {
		return nil, nil, false, fmt.Errorf("model: %w", err)
	}
	bad := func(line int, format string, args ...any) ([]Trial, []string, bool, error) {
		return nil, nil, false, fmt.Errorf("model: %s:%d: %w: %s", name, line, ErrJournal, fmt.Sprintf(format, args...))
	}
	type place struct{ trial, line int }
	seen := map[trialKey]place{}
	var damaged []int
	head := false // a line of this journal was seen
	why := ""     // there was none
	whole = len(raw) == 0 || raw[len(raw)-1] == '\n'
	for line := 1; len(raw) > 0; line++ {
		text, rest, ended := bytes.Cut(raw, []byte{'\n'})
		raw = rest
		object, ok := j.unseal(text)
		switch {
		case ok && bytes.Equal(object, j.text): // of each run that found the file empty
			head = true
			continue
		case ok:
		case !ended && (line > 1 || bytes.HasPrefix(j.Head(), text)): // cut off
			continue
		case line == 1:
			why = j.other(text)
			fallthrough
		default:
			if len(text) > 0 { // an empty line closes one that was cut off
				damaged = append(damaged, line)
			}
			continue
		}
		head = true
		var t Trial
		d := json.NewDecoder(bytes.NewReader(object))
		d.DisallowUnknownFields()
		if err := d.Decode(&t); err != nil || d.More() {
			return bad(line, "its seal is right and its text is not that of a trial")
		}
		version, known := j.versions[t.Learner]
		switch {
		case !known:
			return bad(line, "learner %q is unknown", t.Learner)
		case t.Version != version:
			return bad(line, "it is of version %d of %s, this program has version %d; want a new file", t.Version, t.Learner, version)
		case t.Split < 0 || t.Split >= max(j.head.Folds, 1)*j.head.Repeats || t.Inner < 0 || t.Inner > j.head.Validation:
			return bad(line, "split %d, inner fold %d: there is no such split", t.Split, t.Inner)
		case t.Rows < 1 || t.Rows > j.head.Rows || !(t.Wrong >= 0) || t.Wrong > float64(t.Rows):
			return bad(line, "%v of %d rows are wrong, want 0 to all of at least 1 and at most %d", t.Wrong, t.Rows, j.head.Rows)
		case t.K != 0 && j.head.Ks == nil || j.head.Ks != nil && !slices.Contains(j.head.Ks, t.K):
			return bad(line, "k: %d is none of those that are tried", t.K)
		case !(t.Seconds >= 0):
			return bad(line, "cpu_seconds: %v is not allowed, want at least 0", t.Seconds)
		case t.Peak < 0:
			return bad(line, "peak_bytes: %d is not allowed, want at least 0", t.Peak)
		}
		key := trialKey{t.Learner, t.Split, t.Inner}
		if at, twice := seen[key]; twice { // two runs at once may do the same
			if was := trials[at.trial]; was.Wrong != t.Wrong || was.Rows != t.Rows || was.K != t.K {
				return bad(line, "%v of %d rows are wrong with k = %d, and %v of %d with k = %d on line %d, of the same split of %s; want a new file", t.Wrong, t.Rows, t.K, was.Wrong, was.Rows, was.K, at.line, t.Learner)
			}
			continue
		}
		seen[key] = place{len(trials), line}
		trials = append(trials, t)
	}
	if !head && len(damaged) > 0 {
		return bad(damaged[0], "%s", cmp.Or(why, notBegun))
	}
	if len(damaged) > 0 {
		where := fmt.Sprintf("line %d is", damaged[0])
		if n := len(damaged); n > 1 {
			where = fmt.Sprintf("%d lines are, the first is line %d,", n, damaged[0])
		}
		notes = append(notes, strings.Replace(where, "lines are, the", "lines, the", 1)+" damaged and not used: what is missing is run again")
	}
	return trials, notes, whole, nil
}

const notBegun = "it does not begin as a journal does; want a new file, or one that metriclab compare has written"

// other says why a first line is that of no journal, or of another one; "" if it may be the damaged one of this.
func (j Journal) other(text []byte) string {
	var h struct {
		journalHead
		Seal string `json:"seal"`
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return "" // the other lines tell
	}
	if h.Format != journalFormat {
		return notBegun
	}
	if h.Version == journalVersion && journalOf(h.journalHead).sum(bytes.TrimSuffix(plainJSON(h.journalHead), []byte("}"))) != h.Seal {
		return ""
	}
	if h.Version != journalVersion {
		return fmt.Sprintf("it has format version %d, this program reads %d", h.Version, journalVersion)
	}
	about := func(problem string) string { return cmp.Or(problem, rows{}.about()) }
	if h.Problem != j.head.Problem {
		return fmt.Sprintf("it is of %s, this comparison of %s; want a new file", about(h.Problem), about(j.head.Problem))
	}
	if h.Table != j.head.Table && h.Problem != "" {
		return fmt.Sprintf("it is of other data, with %d features; want a new file", h.Features)
	}
	if h.Table != j.head.Table {
		return fmt.Sprintf("it is of another table, of %d rows and %d features, or of other columns of this one; want a new file", h.Rows, h.Features)
	}
	for _, f := range []struct {
		name      string
		was, want any
	}{
		{"fits of version", h.Fit, j.head.Fit},
		{"folds", h.Folds, j.head.Folds},
		{"repeats", h.Repeats, j.head.Repeats},
		{"seed", h.Seed, j.head.Seed},
		{"k", h.Ks, j.head.Ks},
		{"validation", h.Validation, j.head.Validation},
		{"pairs", h.Pairs, j.head.Pairs},
		{"passes", h.Passes, j.head.Passes},
		{"impute mean", h.ImputeMean, j.head.ImputeMean},
		{"features as they are", h.Raw, j.head.Raw},
		{"test-share", h.Share, j.head.Share},
		{"dim", h.Dim, j.head.Dim},
		{"rank", h.Rank, j.head.Rank},
		{"unit", h.Unit, j.head.Unit},
		{"parameters", h.Params, j.head.Params},
	} {
		if fmt.Sprint(f.was) != fmt.Sprint(f.want) {
			return fmt.Sprintf("it is of a run with %s %v, this one has %v; want the same, or a new file", f.name, f.was, f.want)
		}
	}
	return ""
}

func (t rows) digest(h io.Writer)    { digestRows(h, t.d) }
func (t objects) digest(h io.Writer) { digest(h, upper(matrixOf(t.k0, nil)), t.labels) }

func (t rowPairs) digest(h io.Writer) {
	digestRows(h, t.d)
	digest(h, t.d.Links, t.d.Chunklets, t.dissimilar)
}

func (t ofVectors[T]) digest(h io.Writer) {
	digest(h, t.list)
	if n, err := t.read(t.file, t.list); err == nil { // which was read before
		digest(h, n.x.RawMatrix().Data)
	}
}

func (t answers) digest(h io.Writer)     { digest(h, t.set.Names, t.set.List) }
func (t constrained) digest(h io.Writer) { digest(h, upper(matrixOf(t.k0, nil)), t.constraints) }
