package experimenttest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Mutants per table of an experiment; there are two tables, three with times.
const (
	shortMutants = 25 // under -short
	longMutants  = 300
	// A large table has fewer, whose rows add up to about as many.
	shortRows = 1_000
	longRows  = 25_000
)

const (
	// mutantBytes bounds what a view or claim may allocate on a mutant beyond
	// eight times what it allocates on the sound table. A cell of 1e9 that is
	// taken for a count exceeds it.
	mutantBytes = 64 << 20
	// mutantTime is when a call is reported as hanging, with its name. Calls
	// take milliseconds.
	mutantTime = 2 * time.Minute
)

// strange are the values that stand in a mutant's value cells. A loop that runs
// to 1e15 never ends.
var strange = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 0.5, 1.5, 1e9, 1e15, 1e308, -1e308, 5e-324}

// names are what stands in a mutant's index cells.
var names = []string{"", "no such name", "0", "-1", "1.5", "1000000000", "1e308", "NaN", "99999999999999999999", "-", "a-b", "0.5 0.5"}

// mutant is a table with the declared columns and rows that no trial returned.
type mutant struct {
	what string
	tab  *table.Table
}

// mutate returns about n mutants of a table, the same for the same table. Every
// kind of change occurs, however small n is.
func mutate(tab *table.Table, n int) []mutant {
	if tab.Len() == 0 {
		return nil
	}
	m := newMutator(tab)
	out := []mutant{{"no rows", tab.Rows()}, {"shuffled", tab.Rows(m.rng.Perm(tab.Len())...)}}
	for _, v := range []float64{math.NaN(), 1e9} {
		for _, c := range tab.ValueNames()[:min(len(tab.ValueNames()), 1+n/6)] {
			t := table.Concat(tab)
			for r := range m.all {
				t.Values(c)[r] = v
			}
			out = append(out, mutant{fmt.Sprintf("%s = %v in all rows", c, v), t})
		}
	}
	kinds := []func(t *table.Table) (*table.Table, string){m.values, m.cells, m.fewer, m.only, m.twice, m.shuffled, m.half}
	for i := 0; len(out) < n; i++ {
		// Cells are changed more often than rows; t is a copy, so that they may be.
		t, what := kinds[max(0, i%(len(kinds)+3)-3)](table.Concat(tab))
		out = append(out, mutant{what, t})
	}
	return out
}

// mutator makes changes of a table, drawn at random. Its methods values to half each return a changed table, made of a copy t of tab
// that they may change, and what is changed.
type mutator struct {
	tab   *table.Table
	rng   *rand.Rand
	all   []int    // rows
	index []string // columns by which rows are grouped
}

func newMutator(tab *table.Table) *mutator {
	m := &mutator{tab: tab, rng: rand.New(rand.NewPCG(1, uint64(tab.Len()))), all: make([]int, tab.Len())}
	for i := range m.all {
		m.all[i] = i
	}
	m.index = slices.DeleteFunc(tab.IndexNames(), func(c string) bool { return c == "job" })
	return m
}

func (m *mutator) pick(s []string) string { return s[m.rng.IntN(len(s))] }

// group returns the rows that share a cell of a column, and what they share.
// Rare rows are picked as often as frequent ones.
func (m *mutator) group() (rows []int, what string) {
	c := m.pick(m.index)
	cell := m.pick(m.tab.Unique(c))
	for i, v := range m.tab.Index(c) {
		if v == cell {
			rows = append(rows, i)
		}
	}
	return rows, fmt.Sprintf("%s=%q", c, cell)
}

// somewhere returns one row, or a group, or all rows.
func (m *mutator) somewhere() (rows []int, what string) {
	rows, what = m.group()
	switch m.rng.IntN(5) {
	case 0:
		return rows, "rows of " + what
	case 1:
		other, also := m.group()
		if both := slices.DeleteFunc(slices.Clone(rows), func(r int) bool { return !slices.Contains(other, r) }); len(both) > 0 {
			return both, "rows of " + what + " and " + also
		}
	case 2:
		if m.rng.IntN(3) == 0 {
			return m.all, "all rows"
		}
	}
	r := rows[m.rng.IntN(len(rows))]
	return []int{r}, fmt.Sprintf("row %d (%s)", r, what)
}

func (m *mutator) values(t *table.Table) (*table.Table, string) {
	rows, where := m.somewhere()
	columns := slices.DeleteFunc(m.tab.ValueNames(), func(c string) bool { // a cell that holds something, if there is one
		return math.IsNaN(m.tab.Values(c)[rows[0]])
	})
	if len(columns) == 0 {
		columns = m.tab.ValueNames()
	}
	c, v := m.pick(columns), strange[m.rng.IntN(len(strange))]
	for _, r := range rows {
		t.Values(c)[r] = v
	}
	return t, fmt.Sprintf("%s = %v in %s", c, v, where)
}

// cells changes cells of an index column.
func (m *mutator) cells(t *table.Table) (*table.Table, string) {
	rows, where := m.somewhere()
	c := m.pick(m.tab.IndexNames())
	name := m.pick(names)
	if m.rng.IntN(2) == 0 {
		name = m.pick(m.tab.Index(m.pick(m.tab.IndexNames()))) // of another row, or another column
	}
	for _, r := range rows {
		t.Index(c)[r] = name
	}
	return t, fmt.Sprintf("%s = %q in %s", c, name, where)
}

func (m *mutator) fewer(t *table.Table) (*table.Table, string) {
	rows, where := m.somewhere()
	kept := slices.DeleteFunc(slices.Clone(m.all), func(r int) bool { return slices.Contains(rows, r) })
	return t.Rows(kept...), "without " + where
}

func (m *mutator) only(t *table.Table) (*table.Table, string) {
	rows, what := m.group()
	return t.Rows(rows...), "nothing but " + what
}

func (m *mutator) twice(t *table.Table) (*table.Table, string) {
	rows, where := m.somewhere()
	return t.Rows(append(slices.Clone(m.all), rows...)...), "twice " + where
}

func (m *mutator) shuffled(t *table.Table) (*table.Table, string) {
	return t.Rows(m.rng.Perm(t.Len())...), "shuffled"
}

func (m *mutator) half(t *table.Table) (*table.Table, string) {
	kept := slices.DeleteFunc(slices.Clone(m.all), func(int) bool { return m.rng.IntN(2) == 0 })
	return t.Rows(kept...), "half of the rows"
}

// repeated returns the table with n trials that are all as the first, so that
// claims get an interval.
func repeated(tab *table.Table, n int) *table.Table {
	out := table.Concat(slices.Repeat([]*table.Table{tab}, n)...)
	for i := range out.Len() {
		if k := i / tab.Len(); k > 0 {
			out.Index("trial")[i] = fmt.Sprint(k)
			out.Index("job")[i] += fmt.Sprintf("-%d", k)
		}
	}
	return out
}

// survive renders every view and grades every claim on mutants of the table and of
// the timing table. Drawings and errors are fine, whatever they say; a panic,
// a call that does not end and one that allocates without bound are not.
func survive(t tb, s experiment.Spec, tab, times *table.Table) {
	t.Helper()
	n := min(longMutants, longMutants/6+longRows/max(tab.Len(), 1))
	if testing.Short() {
		n = min(shortMutants, shortMutants/6+shortRows/max(tab.Len(), 1))
	}
	many, manyTimes := repeated(tab, judge.MinTrials), repeated(times, judge.MinTrials)
	c := newCaller(t, s)
	c.all(many, manyTimes, "", false)
	c.all(tab, times, "", false)
	for _, m := range mutate(tab, n/2) {
		c.all(m.tab, times, m.what, false)
	}
	for _, m := range mutate(many, n-n/2) {
		c.all(m.tab, manyTimes, m.what+fmt.Sprintf(" of %d trials", judge.MinTrials), false)
	}
	if s.Timing {
		for _, m := range mutate(manyTimes, n/2) {
			c.all(many, m.tab, "times: "+m.what, true)
		}
	}
	c.report()
}

// caller calls views and claims and collects their faults.
type caller struct {
	t      tb
	s      experiment.Spec
	calls  map[string]func(tab, times *table.Table) error
	timed  map[string]bool
	order  []string
	sound  map[string]uint64 // bytes allocated on the sound tables
	faults map[string]string // by view and place: the first of its kind
	seen   []string          // keys of faults in order
}

func newCaller(t tb, s experiment.Spec) *caller {
	c := &caller{t: t, s: s, calls: map[string]func(tab, times *table.Table) error{}, timed: map[string]bool{}, sound: map[string]uint64{}, faults: map[string]string{}}
	add := func(name string, timed bool, f func(tab, times *table.Table) error) {
		c.calls[name], c.timed[name], c.order = f, timed, append(c.order, name)
	}
	for _, v := range s.Views {
		add("view "+v.Name, v.Timed(), func(tab, times *table.Table) error {
			d, err := v.DrawWith(tab, times)
			if err != nil {
				return err
			}
			return prepared(d)
		})
	}
	for _, cl := range s.Claims {
		add("claim "+cl.ID, cl.Timed(), func(tab, times *table.Table) error {
			_, err := cl.Judge(tab, times)
			return err
		})
	}
	return c
}

// prepared checks a drawing up to the point where pixels are set.
func prepared(d plots.Drawing) error {
	_, err := d.Warnings()
	return err
}

// all calls every view and claim; only those about times if timed is set. An
// empty what stands for the sound tables.
func (c *caller) all(tab, times *table.Table, what string, timed bool) {
	for _, name := range c.order {
		if !timed || c.timed[name] {
			c.one(name, tab, times, what)
		}
	}
}

func (c *caller) one(name string, tab, times *table.Table, what string) {
	watch := time.AfterFunc(mutantTime, func() {
		panic(fmt.Sprintf("%s: %s has not ended after %v; mutant: %s", c.s.ID, name, mutantTime, what))
	})
	defer watch.Stop()
	before := allocated()
	defer func() {
		if p := recover(); p != nil {
			c.fault(name, panickedAt(), fmt.Sprintf("panic: %v", p), what)
			return
		}
		used := allocated() - before
		if what == "" {
			c.sound[name] = max(c.sound[name], used)
		} else if used > 8*c.sound[name]+mutantBytes {
			c.fault(name, "memory", fmt.Sprintf("allocates %d MiB, on the sound table %d MiB", used>>20, c.sound[name]>>20), what)
		}
	}()
	if err := c.calls[name](tab, times); err != nil && strings.TrimSpace(err.Error()) == "" {
		c.fault(name, "empty", "the error says nothing", what)
	}
}

func (c *caller) fault(name, at, problem, what string) {
	key := name + "\x00" + at
	if _, ok := c.faults[key]; ok {
		return
	}
	c.seen = append(c.seen, key)
	c.faults[key] = fmt.Sprintf("%s: %s: %s\n\tat %s\n\tmutant: %s", c.s.ID, name, problem, at, what)
}

func (c *caller) report() {
	c.t.Helper()
	for _, key := range c.seen {
		c.t.Errorf("%s", c.faults[key])
	}
}

// allocated is the number of bytes allocated so far; it does not stop the world.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// panickedAt lists the innermost functions of this module below a recovered panic,
// the first one if it was recovered and raised again.
func panickedAt() string {
	pc := make([]uintptr, 64)
	frames := runtime.CallersFrames(pc[:runtime.Callers(0, pc)])
	var out []string
	for seen := false; ; {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" {
			seen, out = true, nil
		}
		if seen && strings.HasPrefix(f.Function, "metriclab/") && len(out) < 3 {
			_, file, _ := strings.Cut(f.File, "/pkg/")
			out = append(out, fmt.Sprintf("%s:%d %s", file, f.Line, f.Function[strings.LastIndex(f.Function, "/")+1:]))
		}
		if !more {
			return strings.Join(out, " < ")
		}
	}
}
