// Package experimenttest tests the experiments of a paper: what they declare, what they
// compute at smoke scale, and what is committed of them. A paper's test is one line:
//
//	func TestPaper(t *testing.T) { experimenttest.Paper(t, Paper) }
package experimenttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// update makes the tests of a paper rewrite their golden files.
var update = flag.Bool("update", false, "rewrite golden files")

// pinnedTrials is the number of trials that a pin covers.
const pinnedTrials = 1

// testing.TB as far as it is used, so that this package can be tested.
type tb interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	TempDir() string
	Context() context.Context
}

// pinSmoke runs every experiment of a paper at smoke scale, one trial per cell, as the
// command does, and fails unless
//
//   - the Spec is well-formed: IDs below the paper's key, unique names of views,
//     claims and columns, versions of at least 1, all texts that a reader sees, and
//     timed views and claims only where the experiment is marked Timing;
//   - every field of a cell's settings is in the key: changing it changes the job's id;
//   - each trial returns rows with the declared columns, of declared kinds, that are
//     filled only where the declaration says so;
//   - every view renders and every claim is graded without error (the verdict means
//     nothing at this scale), with the times of a clock that goes on by a
//     millisecond whenever it is read, and none panics on mutants of the table;
//   - the values, and of an experiment marked Timing the names of the phases, equal the
//     pin: a hash per experiment in the file, beside the versions of the experiment and
//     its methods. Values that differ while all versions are the pinned ones mean that a
//     change of the code needs a new version, since finished jobs would not run again,
//     or that the experiment is not deterministic.
//
// With rewrite the file is rewritten, but for values that have changed under the
// same versions. Pins are made on amd64 and compared only
// there: other machines round differently (fused multiply-add).
func pinSmoke(t tb, p experiment.Paper, file string, rewrite bool, arch string) {
	t.Helper()
	if !checkPaper(t, p) {
		return
	}
	pins, err := readPins(file)
	if err != nil && !(rewrite && errors.Is(err, os.ErrNotExist)) {
		t.Fatalf("%v; make the file with: go test -update", err)
	}
	var now []pin
	for _, s := range p.Experiments {
		tab, times := run(t, p, s)
		if tab == nil {
			continue
		}
		if err := checkRows(s, tab); err != nil {
			t.Errorf("%v", err)
		}
		draw(t, s, tab, times)
		survive(t, s, tab, times)
		x := newPin(s, tab, times)
		now = append(now, x)
		i := slices.IndexFunc(pins, func(q pin) bool { return q.id == x.id })
		switch {
		case rewrite && i >= 0 && arch == "amd64" && pins[i].versions == x.versions && pins[i].hash != x.hash:
			t.Errorf("%s: the values have changed, but no version (%s): the pin is kept", s.ID, x.versions)
			now[len(now)-1] = pins[i]
		case rewrite:
		case i < 0:
			t.Errorf("%s is not pinned in %s; add it with: go test -update", s.ID, file)
		case pins[i].versions != x.versions:
			t.Errorf("%s: versions are %q, pinned are %q; pin them with: go test -update", s.ID, x.versions, pins[i].versions)
		case arch != "amd64":
			t.Logf("%s: the pin is not compared on %s", s.ID, arch)
		case pins[i].hash != x.hash:
			t.Errorf("%s: the values have changed, but no version: bump the version of what has changed (%s), "+
				"so that finished jobs run again, then go test -update; or two runs of the same jobs differ", s.ID, x.versions)
		}
	}
	for _, q := range pins {
		if !rewrite && !slices.ContainsFunc(p.Experiments, func(s experiment.Spec) bool { return s.ID == q.id }) {
			t.Errorf("%s pins %s, which is no experiment; remove it with: go test -update", file, q.id)
		}
	}
	if rewrite {
		if arch != "amd64" {
			t.Fatalf("pins are made on amd64, not on %s", arch)
		}
		if err := writePins(file, now); err != nil {
			t.Fatalf("%v", err)
		}
		t.Logf("wrote %s", file)
	}
}

// checkPaper reports whether the declarations are well-formed.
func checkPaper(t tb, p experiment.Paper) bool {
	t.Helper()
	ok := true
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf(format, args...)
		ok = false
	}
	if p.Key == "" || p.Citation == "" {
		fail("the paper lacks a key or a citation")
	}
	ids, claims := map[string]bool{}, map[string]bool{}
	for i, s := range p.Experiments {
		if ids[s.ID] || !strings.HasPrefix(s.ID, p.Key+"/") {
			fail("experiment %q: the ID occurs twice or does not begin with %s/", s.ID, p.Key)
		}
		ids[s.ID] = true
		if i > 0 && p.Experiments[i-1].Ours && !s.Ours {
			fail("%s: it is the paper's and follows one of ours", s.ID)
		}
		checkClaims(s, claims, fail)
		for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
			if err := s.Check(scale); err != nil {
				fail("%v", err)
				break
			}
			checkCells(s, scale, fail)
		}
	}
	return ok
}

// checkClaims tells fail what is wrong with the claims of an experiment of a paper; claims are the IDs so far, those of
// the paper's other experiments too, to which it adds.
func checkClaims(s experiment.Spec, claims map[string]bool, fail func(format string, args ...any)) {
	if len(s.Claims) > 0 && !s.Ours && !slices.ContainsFunc(s.Claims, func(c experiment.Claim) bool { return !c.Ours }) {
		fail("%s: all its claims are ours, and it is not marked Ours", s.ID)
	}
	for _, c := range s.Claims {
		if claims[c.ID] {
			fail("%s: claim ID %q occurs twice in the paper", s.ID, c.ID)
		}
		claims[c.ID] = true
		if c.Statement == "" || c.Where == "" || c.Theirs == "" || c.Predicate == "" || c.Source() == "" {
			fail("%s: claim %s: want statement, where, theirs and predicate, in a list of experiment.Claims", s.ID, c.ID)
		}
		switch said := strings.HasPrefix(c.Statement, "Ours") || strings.HasPrefix(c.Theirs, "not in the paper"); {
		case said && !c.Ours:
			fail("%s: claim %s says that it is ours, and is not marked Ours", s.ID, c.ID)
		case s.Ours && !c.Ours:
			fail("%s: claim %s is the paper's, and the experiment is marked Ours", s.ID, c.ID)
		}
		if err := c.CheckTitle(); err != nil {
			fail("%s: %v", s.ID, err)
		}
	}
}

// checkCells tells fail what is wrong with the cells of an experiment at a scale.
func checkCells(s experiment.Spec, scale experiment.Scale, fail func(format string, args ...any)) {
	for _, c := range s.Cells(scale) {
		if err := checkSettings(c); err != nil {
			fail("%s: cell %s: %v", s.ID, c.Name, err)
		}
		for name, v := range c.Methods {
			if v < 1 {
				fail("%s: cell %s: version %d of %s, want at least 1", s.ID, c.Name, v, name)
			}
		}
		if _, err := datasets.Lookup(c.Dataset); err == nil && scale == experiment.Smoke {
			fail("%s: cell %s needs the data set %s at smoke scale, which must run on built-in data", s.ID, c.Name, c.Dataset)
		}
	}
}

// run runs the experiment as the command does, in parallel, and returns what it kept; nil if
// it failed.
func run(t tb, p experiment.Paper, s experiment.Spec) (tab, times *table.Table) {
	t.Helper()
	atomicfile.WithoutSync() // no plug is pulled
	bare := s                // its views and claims are tested on what it keeps
	bare.Views, bare.Claims = []experiment.View{{Name: "none", Title: "None", Draw: func(*table.Table) (plots.Drawing, error) { return plots.Missing("views"), nil }}}, nil
	bare.Trials = func(experiment.Scale) int { return pinnedTrials }
	dir := t.TempDir()
	res, err := harness.Run(t.Context(), []harness.Selected{{Paper: p, Spec: bare}}, harness.Config{
		Scale: experiment.Smoke, Trials: pinnedTrials, Workers: 2, Data: datasets.Open(t.TempDir()),
		Folders: harness.FoldersFor(experiment.Smoke, dir), World: clocks(),
	})
	if err != nil {
		t.Errorf("%s: %v", s.ID, err)
		return nil, nil
	}
	for _, f := range res.Failed {
		t.Errorf("%s, cell %s: %v", s.ID, f.Cell, f.Err)
	}
	if !res.OK() {
		t.Errorf("%s: the run failed: %+v", s.ID, res)
		return nil, nil
	}
	dir = filepath.Join(dir, filepath.FromSlash(s.ID))
	if tab, err = harness.ReadTable(s, dir); err != nil {
		t.Errorf("%v", err)
		return nil, nil
	}
	if times, err = harness.ReadTimes(s, dir); err != nil {
		t.Errorf("%v", err)
		return nil, nil
	}
	return tab, times
}

// clocks goes on by a millisecond whenever one of its clocks is read, so that
// no phase takes no time and a test does not depend on the machine.
func clocks() harness.World {
	var reads atomic.Int64
	tick := func() time.Duration { return time.Duration(reads.Add(1)) * time.Millisecond }
	return harness.World{Now: func() time.Time { return time.Unix(0, 0).Add(tick()) }, ProcessCPU: tick}
}

func draw(t tb, s experiment.Spec, tab, times *table.Table) {
	t.Helper()
	for _, v := range s.Views {
		d, err := v.DrawWith(tab, times)
		if err == nil && testing.Short() { // pixels take a while
			err = prepared(d)
		} else if err == nil {
			_, err = d.Render(v.Name, plots.Options{Watermark: "smoke scale"})
		}
		if err != nil {
			t.Errorf("%s: view %s: %v", s.ID, v.Name, err)
		} else if d.Caption == (plots.Caption{}) {
			t.Errorf("%s: view %s has no caption", s.ID, v.Name)
		}
	}
	for _, c := range s.Claims {
		if _, err := c.Judge(tab, times); err != nil {
			t.Errorf("%s: claim %s: %v", s.ID, c.ID, err)
		}
	}
}

// pin is one line of the file: experiment, versions and hash, separated by tabs.
type pin struct{ id, versions, hash string }

// newPin hashes the table without the column job, since an id changes with every version,
// whether the values do or not, and without derived columns; and the phases of a timing
// table.
func newPin(s experiment.Spec, tab, times *table.Table) pin {
	h := sha256.New()
	for _, name := range tab.IndexNames() {
		if name != "job" {
			fmt.Fprintf(h, "%s: %q\n", name, tab.Index(name))
		}
	}
	if s.Timing {
		fmt.Fprintf(h, "phases: %q\n", times.Index("phase"))
	}
	for _, name := range s.Columns.Numbers() {
		fmt.Fprintf(h, "%s:", name)
		for _, v := range tab.Values(name) {
			fmt.Fprintf(h, " %s", table.Format(v))
		}
		fmt.Fprintln(h)
	}
	methods := map[string]int{}
	for _, c := range s.Cells(experiment.Smoke) {
		maps.Copy(methods, c.Methods)
	}
	versions := fmt.Sprintf("experiment %d", s.Version)
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		versions += fmt.Sprintf(", %s %d", name, methods[name])
	}
	return pin{s.ID, versions, hex.EncodeToString(h.Sum(nil))}
}

func readPins(file string) ([]pin, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var pins []pin
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			return nil, fmt.Errorf("%s:%d: %d fields, want experiment, versions and hash separated by tabs", file, i+1, len(f))
		}
		pins = append(pins, pin{f[0], f[1], f[2]})
	}
	return pins, nil
}

func writePins(file string, pins []pin) error {
	var b strings.Builder
	for _, p := range pins {
		fmt.Fprintf(&b, "%s\t%s\t%s\n", p.id, p.versions, p.hash)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// Trials is how many trials a table that is made up for a test has: enough for intervals.
const Trials = 8

// Verdict is that of Judge, of a claim that is not about times.
func Verdict(t *testing.T, claims []experiment.Claim, id string, tab *table.Table) judge.Verdict {
	t.Helper()
	return Judge(t, claims, id, tab, nil).Verdict
}

// Env is what a trial of a test is given: smoke scale, no data but what is built in, no times.
func Env() *experiment.Env {
	return &experiment.Env{Scale: experiment.Smoke, Lap: func(string) func() { return func() {} }}
}

// Seed is that of a test on a data set.
func Seed(dataset string) random.Seed {
	return random.Seed{Base: 1, Experiment: "test", Dataset: dataset}
}

// Must returns v, and panics with an error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Refused returns the error by which a reader of a table ends; see judge.Refuse.
func Refused(read func()) (err error) {
	defer judge.Refused(&err)
	read()
	return nil
}

// Table returns an empty table with the columns that a claim or a view gets, but for derived
// ones, to be made up in a test; experiment.Columns.WithDerived adds these at the end.
func Table(s experiment.Spec) *table.Table {
	return table.New(slices.Concat([]string{"job", "cell", "trial"}, s.Columns.Texts()), s.Columns.Numbers())
}

// Published returns the committed table of an experiment to a test of a paper's room.
func Published(t *testing.T, s experiment.Spec) *table.Table {
	t.Helper()
	tab, err := harness.ReadTable(s, filepath.Join("..", resultsDir, filepath.FromSlash(s.ID)))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// Judge returns the finding of the claim of that ID on a made-up table; times is nil for
// a claim that is not about times. It ends the test if there is no such claim or it
// cannot be judged.
func Judge(t *testing.T, claims []experiment.Claim, id string, tab, times *table.Table) judge.Finding {
	t.Helper()
	for _, c := range claims {
		if c.ID == id {
			f, err := c.Judge(tab, times)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			return f
		}
	}
	t.Fatalf("no claim %s", id)
	return judge.Finding{}
}
