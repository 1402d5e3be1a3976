package vectors

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// OnlyClasses returns the rows of some classes.
func OnlyClasses(set *datasets.Set, classes ...int) *datasets.Set {
	var rows []int
	for i, y := range set.Y {
		if slices.Contains(classes, y) {
			rows = append(rows, i)
		}
	}
	return &datasets.Set{Name: set.Name, X: set.Rows(rows), Y: set.Labels(rows)}
}

// Table1 is clustering with pairs known to be of one class or of two: k-means, k-means
// under a LogDet metric, and HMRF-KMeans.
var Table1 = experiment.Spec{
	ID:      protocol.PaperKey + "/table1",
	Title:   "Clustering with constraints: k-means, LogDet and HMRF-KMeans",
	Source:  "Section 6.1, Table 1",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		all := []protocol.Database{{Name: Ionosphere, Dataset: Ionosphere}, {Name: Digits389, Dataset: Pendigits}}
		if scale == experiment.Smoke {
			all = protocol.Generated
		}
		for _, d := range all {
			cells = append(cells, experiment.Cell{Name: d.Name, Dataset: d.Dataset, Methods: clusterVersions, Settings: clusterSettingsOf(scale)})
		}
		for _, by := range startings[1:] {
			for _, d := range all {
				cells = append(cells, experiment.Cell{Name: by.cell(d.Name), Dataset: d.Dataset, Methods: by.methods(), Settings: by.settings(scale)})
			}
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   table1Kinds,
	Columns: table1Columns,
	Trial:   table1Trial,
	Views:   table1Views,
	Claims:  table1Claims,
	Choices: protocol.ClusterChoices,
	Cost:    4 * time.Second,
}

// digitsDrawn is the number of digits 3, 8 and 9 that Digits-389 has.
const digitsDrawn = 317

var clusterVersions = map[string]int{
	"LogDet": itml.Version, "KMeans": cluster.KMeansVersion, "MetricKMeans": cluster.MetricKMeansVersion, "HMRF": cluster.HMRFVersion,
}

// clusterSettings are what Table 1 leaves open but for 50 constraints and the grid of γ.
type clusterSettings struct {
	// Constraints are the numbers of pairs that are tried.
	Constraints []int `key:"constraints"`
	// Gammas is the grid of γ.
	Gammas []float64 `key:"gammas"`
	// Weights is the grid of HMRF-KMeans' w.
	Weights []float64 `key:"weights"`
	// Starts is the number of starts of each clustering; the objective chooses.
	Starts int `key:"starts"`
	// Projections caps a fit of LogDet.
	Projections int `key:"projections"`
	// Farthest starts HMRF-KMeans as Basu et al. do, in every start.
	Farthest bool `key:"farthest,omitzero"`
}

func clusterSettingsOf(scale experiment.Scale) clusterSettings {
	s := clusterSettings{
		Constraints: []int{10, 25, printedConstraints, 100, 200}, Gammas: protocol.MainSettings.Gammas, Weights: []float64{0.1, 1, 10, 100},
		Starts: 20, Projections: protocol.MainSettings.Final.Projections,
	}
	if scale == experiment.Smoke {
		s.Constraints, s.Starts, s.Projections = []int{10, printedConstraints}, 4, 2_000
	}
	return s
}

// cell names the cell of a data set.
func (s starting) cell(dataset string) string {
	if s == startings[0] {
		return dataset
	}
	return dataset + ", " + s.name
}

// methods are those of Table 1 and what else the reading uses.
func (s starting) methods() map[string]int {
	m := maps.Clone(clusterVersions)
	if s.farthest {
		m["HMRFFarthest"] = cluster.FarthestVersion
	}
	return m
}

func (s starting) settings(scale experiment.Scale) clusterSettings {
	out := clusterSettingsOf(scale)
	out.Constraints, out.Farthest = []int{printedConstraints}, s.farthest
	if s.one {
		out.Starts = 1
	}
	return out
}

var (
	table1Kinds = append([]experiment.Kind{
		{Name: "size", Meaning: "a size of the data set, of a training fold or of the protocol"},
		{Name: "wrong", Meaning: "test rows outside the cluster that is matched with their class, per fold"},
		{Name: "inner", Meaning: "rows outside that cluster in the inner cross-validation of a fold, per candidate"},
	}, FitKinds...)
	table1Columns = experiment.Columns{
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "method, by the name in the paper's table").In(PerMethod...),
		experiment.Text("constraints", "number of pairs that the method is given; 0 in rows of sizes; the first number tried for Unsupervised, which uses none"),
		experiment.Text("fold", "number of the test fold, 0 or 1"),
		experiment.Text("at", "size: which one; inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for the clustering of all rows").
			In("size", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; otherwise how many rows, candidates or fits the kind counts"),
		experiment.Number("of", "", "size: rows of the data set; wrong and inner: rows tested; chosen: candidates; stopped and failed: fits made"),
	}
)

// clustering is a set of rows to be clustered, of which some have labels that pairs are
// drawn from, and others are scored.
type clustering struct {
	x      *mat.Dense
	y      []int // 0..k−1
	k      int
	learn  []int
	held   []int
	links  []metric.Link     // between rows of learn, in random order
	starts func() *rand.Rand // the same for all methods
	pairs  []metric.Link     // all pairs of learn, for bounds
}

func newClustering(x *mat.Dense, y []int, k int, learn, held []int, most int, seed random.Seed, purpose string) (*clustering, error) {
	known := protocol.Part{X: x, Y: y}.Of(learn).Y
	links, err := sample.DistinctLinks(seed.Stream("pairs, "+purpose), known, min(most, len(learn)*(len(learn)-1)/2))
	if err != nil {
		return nil, err
	}
	c := &clustering{x: x, y: y, k: k, learn: learn, held: held, links: links, pairs: protocol.AllPairs(len(learn)), starts: func() *rand.Rand { return seed.Stream("starts, " + purpose) }}
	for _, set := range [][]metric.Link{c.links, c.pairs} {
		for a, l := range set {
			set[a].I, set[a].J = learn[l.I], learn[l.J]
		}
	}
	return c, nil
}

// Wrong counts the rows of held outside the cluster of their class, for the best
// one-to-one matching of clusters and classes on these rows.
func (c *clustering) Wrong(assignment []int) int {
	together := make([][]int, c.k) // rows of cluster a and class b
	for a := range together {
		together[a] = make([]int, c.k)
	}
	for _, i := range c.held {
		together[assignment[i]][c.y[i]]++
	}
	return len(c.held) - mostMatched(together, 0, make([]bool, len(together)))
}

// mostMatched returns the largest sum of one entry from each row on, in different columns
// that are not taken.
func mostMatched(m [][]int, row int, taken []bool) int {
	if row == len(m) {
		return 0
	}
	most := 0
	for col, v := range m[row] {
		if !taken[col] {
			taken[col] = true
			most = max(most, v+mostMatched(m, row+1, taken))
			taken[col] = false
		}
	}
	return most
}

// clusterer is a method of Table 1; of equally good candidates the first is chosen.
type clusterer struct {
	name       string
	candidates []protocol.Candidate
	fit        func(ctx context.Context, c *clustering, links []metric.Link, by protocol.Candidate, s clusterSettings) (assignment []int, stopped bool, err error)
}

// clusterersOf returns the methods in the order of clusterNames.
func clusterersOf(s clusterSettings) []clusterer {
	return []clusterer{
		{unsupervised, protocol.Fixed, clusterPlainly},
		{protocol.LogDetLinear, protocol.GammasOf(s.Gammas), clusterByLogDet},
		{hmrf, protocol.WeightsOf("w", s.Weights), clusterByHMRF},
		{plainLogDet, protocol.GammasOf([]float64{1}), clusterByLogDet},
		{plainHMRF, protocol.WeightsOf("w", []float64{1}), clusterByHMRF},
	}
}

func (c *clustering) kMeans(s clusterSettings) cluster.KMeansParams {
	return cluster.KMeansParams{K: c.k, Starts: s.Starts}
}

func clusterPlainly(ctx context.Context, c *clustering, _ []metric.Link, _ protocol.Candidate, s clusterSettings) ([]int, bool, error) {
	r, err := cluster.FitKMeans(ctx, c.starts(), c.x, c.kMeans(s))
	if err != nil {
		return nil, false, err
	}
	return r.Assignment, r.Status != learners.Converged, nil
}

func clusterByLogDet(ctx context.Context, c *clustering, links []metric.Link, by protocol.Candidate, s clusterSettings) ([]int, bool, error) {
	u, l, err := protocol.BoundsBy(itml.BoundPercentiles).Of(c.x, c.pairs, metric.Euclidean{})
	if err != nil {
		return nil, false, err
	}
	fit, err := itml.Fit(ctx, c.x, links, itml.Params{Gamma: by.Gamma, Upper: u, Lower: l, MaxCycles: protocol.Budget{Projections: s.Projections}.Cycles(len(links))})
	if err != nil {
		return nil, false, err
	}
	r, err := cluster.FitMetricKMeans(ctx, c.starts(), c.x, fit.Metric, c.kMeans(s))
	if err != nil {
		return nil, false, err
	}
	return r.Assignment, fit.Status != learners.Converged || r.Status != learners.Converged, nil
}

func clusterByHMRF(ctx context.Context, c *clustering, links []metric.Link, by protocol.Candidate, s clusterSettings) ([]int, bool, error) {
	r, err := cluster.FitHMRF(ctx, c.starts(), c.x, links, cluster.HMRFParams{KMeansParams: c.kMeans(s), Weight: &by.Weight, Farthest: s.Farthest})
	if err != nil {
		return nil, false, err
	}
	return r.Assignment, r.Status != learners.Converged, nil
}

// loadClusters opens the data of a cell; classes are numbered from 0.
func loadClusters(env *experiment.Env, seed random.Seed, cell experiment.Cell) (x *mat.Dense, y []int, err error) {
	set, err := protocol.Load(env, seed, cell.Dataset)
	if err != nil {
		return nil, nil, err
	}
	if cell.Dataset != Pendigits {
		return set.X, set.Y, nil
	}
	wanted := []int{3, 8, 9}
	digits := OnlyClasses(set, wanted...)
	drawn := sample.Choose(seed.Stream("draw"), digits.N(), digitsDrawn)
	slices.Sort(drawn)
	p := protocol.RowsOf(digits, drawn)
	for k, label := range p.Y {
		p.Y[k] = slices.Index(wanted, label)
	}
	return p.X, p.Y, nil
}

// newClusterings returns per fold the whole set, of which the training fold has labels
// and the test fold is scored, and the cross-validation inside the training fold.
func newClusterings(x *mat.Dense, y []int, s clusterSettings, seed random.Seed) (outer []*clustering, inner [][]*clustering, err error) {
	k := slices.Max(y) + 1
	most := slices.Max(s.Constraints)
	fold := sample.StratifiedFolds(seed.Stream("folds"), y, protocol.Folds)
	for f := range protocol.Folds {
		train, test := protocol.Parted(fold, f)
		name := fmt.Sprintf("fold %d", f)
		c, err := newClustering(x, y, k, train, test, most, seed, name)
		if err != nil {
			return nil, nil, err
		}
		rows := protocol.Part{X: x, Y: y}.Of(train)
		within := sample.StratifiedFolds(seed.Stream("inner folds, "+name), rows.Y, protocol.Folds)
		var parts []*clustering
		for g := range protocol.Folds {
			learn, held := protocol.Parted(within, g)
			p, err := newClustering(rows.X, rows.Y, k, learn, held, most, seed, fmt.Sprintf("%s, inner fold %d", name, g))
			if err != nil {
				return nil, nil, err
			}
			parts = append(parts, p)
		}
		outer, inner = append(outer, c), append(inner, parts)
	}
	return outer, inner, nil
}

func table1Trial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(clusterSettings)
	x, y, err := loadClusters(run.Env, run.Seed, run.Cell)
	if err != nil {
		return err
	}
	outer, inner, err := newClusterings(x, y, s, run.Seed)
	if err != nil {
		return err
	}
	for f, c := range outer {
		add := func(kind, method string, constraints int, at string, value, of int) {
			run.Rows.Add(table.Key{"kind": kind, "method": method, "constraints": strconv.Itoa(constraints), "fold": strconv.Itoa(f), "at": at},
				table.Values{"value": float64(value), "of": float64(of)})
		}
		n, d := x.Dims()
		for _, size := range []struct {
			what  string
			value int
		}{{protocol.Objects, n}, {protocol.Features, d}, {protocol.Classes, c.k}, {protocol.TrainRows, len(c.learn)}, {startsOf, s.Starts}, {protocol.ProjectionCap(protocol.FinalFits), s.Projections}} {
			add("size", "", 0, size.what, size.value, n)
		}
		for _, m := range clusterersOf(s) {
			for _, constraints := range s.Constraints {
				end := run.Lap(m.name)
				err := scoreClusters(ctx, c, inner[f], m, constraints, s, func(kind, at string, value, of int) { add(kind, m.name, constraints, at, value, of) })
				end()
				if err != nil {
					return fmt.Errorf("%s, %d constraints, fold %d: %w", m.name, constraints, f, err)
				}
				if m.name == unsupervised {
					break // it has none, whatever their number
				}
			}
		}
	}
	return nil
}

// first returns the first pairs, or all of them.
func (c *clustering) first(n int) []metric.Link { return c.links[:min(n, len(c.links))] }

// scoreClusters chooses, clusters and counts the errors of a method.
func scoreClusters(ctx context.Context, c *clustering, inner []*clustering, m clusterer, constraints int, s clusterSettings, add func(kind, at string, value, of int)) error {
	var tasks []protocol.Task
	for _, in := range inner {
		tasks = append(tasks, protocol.Task{Rows: len(in.held), Score: func(i int) (int, bool, error) {
			a, stopped, err := m.fit(ctx, in, in.first(constraints), m.candidates[i], s)
			if err != nil {
				return 0, false, err
			}
			return in.Wrong(a), stopped, nil
		}})
	}
	var assignment []int
	addRows, err := protocol.Decide(ctx, m.candidates, tasks, func(i int) (stopped bool, err error) {
		assignment, stopped, err = m.fit(ctx, c, c.first(constraints), m.candidates[i], s)
		return stopped, err
	})
	if err != nil {
		return err
	}
	addRows(c.Wrong(assignment), len(c.held), add)
	return nil
}
