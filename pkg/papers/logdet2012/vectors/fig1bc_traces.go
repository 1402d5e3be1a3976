package vectors

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/limits"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// clarifyMethods are those of Fig. 1(b, c).
var clarifyMethods = []string{protocol.LogDetLinear, protocol.LogDetInvCov, protocol.Lmnn, protocol.Mcml, protocol.Euclidean, protocol.InvCovariance}

// printedDims is the number of features of Fig. 1(b).
const printedDims = 20

// WordSettings are those of Fig. 1(a) with what the stand-in adds.
type WordSettings struct {
	protocol.Settings
	// Program is that of the traces; "" for documents, to which the next two belong.
	Program string `key:"program,omitzero"`
	// Topics is the number of classes, those with the most documents of one topic only.
	Topics int `key:"topics"`
	// PerTopic is the number of documents that a trial draws of a topic, at most. It is what
	// LMNN, which takes nine tenths of the time, does in about a minute per trial.
	PerTopic int `key:"per topic"`
	// Dims are the numbers of words, ascending.
	Dims []int `key:"dims"`
}

func wordSettingsOf(by datasets.Preprocessing, scale experiment.Scale) WordSettings {
	s := WordSettings{Settings: protocol.SettingsOf(by, scale), Topics: 9, PerTopic: 60, Dims: []int{5, 10, 15, printedDims, 25}}
	s.Rules = []itml.BoundRule{itml.BoundPercentiles}
	s.Widths, s.Etas = nil, nil // of methods that are not in the figure
	if scale == experiment.Smoke {
		s.Topics, s.PerTopic, s.Dims = 4, 12, []int{5, printedDims}
	}
	return s
}

// wordless is the name of a size.
const wordless = "documents without a word"

// classSize is the number of objects of a class that a trial has, of those that there are.
type classSize struct {
	name      string
	drawn, of int
}

// wordReading are the rows of one scaling of the counts, of a program or on the stand-in.
type wordReading struct {
	program string // "" for the stand-in
	by      datasets.Preprocessing
}

// wordRows are the rows of each program, if a table has traces, and else of the stand-in, by program and reading.
func wordRows(t *table.Table) *table.Table {
	for _, all := range [][]program{programs, {{}}} {
		var readings []wordReading
		for _, p := range all {
			for _, by := range protocol.Readings {
				readings = append(readings, wordReading{p.name, by})
			}
		}
		rows := frame.Named("reading", readings, func(r wordReading) (string, frame.Rows) {
			name, rows := "counts "+Describe[r.by.String()], frame.Only("features", r.by.String())
			if r.program != "" {
				name = r.program + ", " + name
				rows = frame.Only("cell", name)
			}
			return name, func(t *table.Table) *table.Table {
				if g := rows(t); g.Where("kind", "wrong").Len() > 0 {
					return g
				}
				return t.Rows()
			}
		}).Then(frame.Called("program", "reading", func(reading string) string {
			program, _, of := strings.Cut(reading, ", ")
			if !of {
				return ""
			}
			return program
		}))(t)
		if rows.Len() > 0 {
			return rows
		}
	}
	return t.Rows().With("reading", nil).With("program", nil)
}

// onLatex are the rows of Latex, or on the stand-in.
var onLatex = frame.Only("program", "", latex)

// dims are the numbers of features, ascending.
func dims(rows *table.Table) (out []int) {
	for _, v := range frame.Numbers(rows.Where("kind", "wrong"), "dims") {
		out = append(out, int(v))
	}
	return out
}

func featuresOf(dims int) string { return fmt.Sprintf("%d features", dims) }

// with is the error of a method with some features, by trial and fold; worse is that less the error of another.
func with(method string, dims int) frame.Measure {
	return ErrorOf(method, "dims", strconv.Itoa(dims))
}

func worse(method, than string, dims int) frame.Measure {
	return with(method, dims).Minus(with(than, dims))
}

// program is one whose traces the Clarify system has.
type program struct{ name, file string }

// programs are those of Fig. 1(b), in its order.
var programs = []program{{"Latex", "clarify/latex.csv"}, {"Mpg321", "clarify/mpg321.csv"}, {"Foxpro", "clarify/foxpro.csv"}, {"Iptables", "clarify/iptables.csv"}}

// latex is the program of Fig. 1(c).
const latex = "Latex"

// clarify is the data set of the traces, which only a user can supply.
const clarify = "clarify"

// traceVersions are wordVersions without words.
var traceVersions = map[string]int{
	"LogDet": protocol.Versions["LogDet"], "InvCov": protocol.Versions["InvCov"], "MCML": protocol.Versions["MCML"], "LMNN": protocol.Versions["LMNN"], "kNN": protocol.Versions["kNN"],
}

// traceName is the cell of a program under a reading.
func traceName(p program, by datasets.Preprocessing) string {
	return p.name + ", counts " + Describe[by.String()]
}

// traceCells are those of the original. Their trials have all runs of a program, in folds of their own.
func traceCells() []experiment.Cell {
	var cells []experiment.Cell
	for _, p := range programs {
		for _, by := range protocol.Readings {
			s := wordSettingsOf(by, experiment.Full)
			s.Topics, s.PerTopic, s.Program = 0, 0, p.name
			cells = append(cells, experiment.Cell{Name: traceName(p, by), Dataset: clarify, Methods: traceVersions, Settings: s, Supplied: true})
		}
	}
	return cells
}

// traces are the runs of a program.
type traces struct {
	x         *mat.Dense // runs × functions, how often each was called
	y         []int
	functions []string
	names     []string // of classes
}

// loadTraces reads the runs of a program: a column per function, and last the class.
func loadTraces(store *datasets.Store, name string) (*traces, error) {
	i := slices.IndexFunc(programs, func(p program) bool { return p.name == name })
	path := store.Path(programs[i].file)
	f, err := limits.Open(path)
	if err != nil {
		return nil, fmt.Errorf("logdet2012: %w", err)
	}
	defer f.Close()
	table, err := datasets.ReadCSV(f, path, datasets.CSVOptions{Header: datasets.HeaderYes})
	if err != nil {
		return nil, err
	}
	last := table.Width() - 1
	labels, err := table.Words(last)
	if err != nil {
		return nil, err
	}
	var columns []int
	t := &traces{}
	for j := range last {
		columns, t.functions = append(columns, j), append(t.functions, table.ColumnName(j))
	}
	if t.x, err = table.Numbers(columns, false); err != nil {
		return nil, err
	}
	t.names, t.y = datasets.Classes(labels)
	return t, nil
}

func (t *traces) labels() []int { return t.y }

func (t *traces) classes() []classSize {
	out := make([]classSize, len(t.names))
	for k, name := range t.names {
		out[k].name = name
	}
	for _, k := range t.y {
		out[k].drawn++
		out[k].of++
	}
	return out
}

// words returns the n functions whose best threshold tells most about the classes of some runs: of equal gains the first column. Functions are counted, unlike words, in
// nearly every run, so that presence would tell little.
func (t *traces) words(of []int, n int) ([]string, error) {
	if n > len(t.functions) {
		return nil, fmt.Errorf("logdet2012: the traces have %d functions, want %d", len(t.functions), n)
	}
	gains, order := make([]float64, len(t.functions)), make([]int, len(t.functions))
	for j := range gains {
		gains[j], order[j] = t.gain(of, j), j
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gains[b], gains[a]) })
	var out []string
	for _, j := range order[:n] {
		out = append(out, t.functions[j])
	}
	return out, nil
}

// gain is the greatest information gain of a split of runs into those that call function j at most v times and more often, over v.
func (t *traces) gain(of []int, j int) float64 {
	order := slices.Clone(of)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(t.x.At(a, j), t.x.At(b, j)) })
	all, above := make([]int, len(t.names)), make([]int, len(t.names))
	for _, i := range of {
		all[t.y[i]]++
		above[t.y[i]]++
	}
	best := 0.0
	for k, i := range order[:len(order)-1] {
		above[t.y[i]]--
		if t.x.At(order[k+1], j) > t.x.At(i, j) {
			best = max(best, text.ClassGain(all, above))
		}
	}
	return best
}

func (t *traces) counts(words []string) *datasets.Set {
	x := mat.NewDense(len(t.y), len(words), nil)
	for c, w := range words {
		j := slices.Index(t.functions, w)
		for i := range t.y {
			x.Set(i, c, t.x.At(i, j))
		}
	}
	return &datasets.Set{X: x, Y: t.y}
}

func (t *traces) without(words []string) int {
	x := t.counts(words).X
	n := 0
	for i := range t.y {
		if !slices.ContainsFunc(x.RawRowView(i), func(v float64) bool { return v != 0 }) {
			n++
		}
	}
	return n
}
