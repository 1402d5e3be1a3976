package kernels

import (
	"context"
	"fmt"
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
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Reduction learns a kernel with fewer parameters, K = αK₀ + K₀JLJᵀK₀ with J n×k, for several kinds of J.
var Reduction = experiment.Spec{
	ID:      protocol.PaperKey + "/reduction",
	Title:   "Fewer parameters: error and time against the columns of J, random, of k-means, or indicators",
	Source:  "Section 4.3, Theorems 7 and 8, Eqs. 19 to 21, of which the paper shows no experiment",
	Version: 1,
	Ours:    true,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		all := []protocol.Database{{Name: vectors.Digits389, Dataset: vectors.Pendigits}, {Name: vectors.Ionosphere, Dataset: vectors.Ionosphere}}
		if scale == experiment.Smoke {
			all = protocol.Generated[:1]
		}
		var cells []experiment.Cell
		for _, d := range all {
			for _, name := range []string{phiLogDet, phiTrace} {
				cells = append(cells, experiment.Cell{Name: d.Name + ", " + name, Dataset: d.Dataset, Methods: reductionVersions, Settings: reductionSettingsOf(d.Name, name, scale)})
			}
		}
		return cells
	},
	Trials:  experiment.Trials(6),
	Kinds:   reductionKinds,
	Columns: reductionColumns,
	Trial:   reductionTrial,
	Views:   reductionViews,
	Claims:  reductionClaims,
	Cost:    30 * time.Second,
}

var reductionVersions = map[string]int{"spectral": ltkernel.Version, "kNN": protocol.Versions["kNN"], "KMeans": cluster.KMeansVersion}

// reductionSettings are those of one data set and φ.
type reductionSettings struct {
	Database string `key:"database"`
	// Phi is φ: LogDet, or trace with Tau.
	Phi string  `key:"φ"`
	Tau float64 `key:"tau,omitzero"`
	// Rows are drawn, half of which train; of these Constrained have pairs.
	Rows        int `key:"rows"`
	Constrained int `key:"constrained rows"`
	Pairs       int `key:"pairs"`
	// Ks are the numbers of columns of J.
	Ks []int `key:"k,list"`
	// C is the weight of quadratic slack, where the median squared distance is 1.
	C   float64 `key:"c"`
	K   int     `key:"neighbours"`
	End stop    `key:"stop"`
}

func reductionSettingsOf(database, phi string, scale experiment.Scale) reductionSettings {
	s := reductionSettings{Database: database, Phi: phi, Rows: 600, Constrained: 100, Pairs: 300, Ks: []int{5, 10, 20, 40, 70, 100, 200}, C: 1, K: protocol.MainSettings.K, End: stop{1e-6, 150}}
	if phi == phiTrace {
		s.Tau = 1
	}
	if database == vectors.Ionosphere {
		s.Rows, s.Constrained, s.Ks = 350, 60, []int{5, 10, 20, 40, 60, 120}
	}
	if scale == experiment.Smoke {
		s.Rows, s.Constrained, s.Pairs, s.Ks, s.K = 48, 12, 30, []int{4, 12, 16}, 5
	}
	return s
}

var (
	perJ           = []string{"wrong", "objective", "steps", "rank"}
	reductionKinds = []experiment.Kind{
		{Name: "size", Meaning: "training rows, constrained rows or pairs"},
		{Name: "wrong", Meaning: "test rows classified wrongly"},
		{Name: "objective", Meaning: "what the fit minimises: Φ and the cost of the slack"},
		{Name: "steps", Meaning: "Newton steps"},
		{Name: "rank", Meaning: "columns of J that are independent in the space of φ"},
	}
	reductionColumns = experiment.Columns{
		experiment.Text("database", "data set"),
		experiment.Text("φ", "the spectral function"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("J", "kind of J: "+jRandom+", "+jKMeans+", "+jConstrained+"; "+noReduction+"; "+fitKernel+", which leaves out the objects without pairs by itself; or "+protocol.Euclidean+", nothing learned").In(perJ...),
		experiment.Text("k", "columns of J").In(perJ...),
		experiment.Text("at", "size: which one").In("size"),
		experiment.Number("value", "", "size: the size; wrong: test rows; objective: its value; steps: the steps; rank: columns"),
		experiment.Number("of", "", "size: the training rows; wrong: test rows tested; objective: that of "+fitKernel+"; steps: the cap; rank: the columns of J"),
	}
)

// reducible is the problem of a trial.
type reducible struct {
	*protocol.Session
	kernel      *protocol.Kernelised // in units in which the median squared distance is 1
	constraints []ltkernel.Constraint
	constrained []int // rows that have pairs, in random order
}

// newReducible draws rows, half of which train, some of these for pairs, and the pairs.
func newReducible(set *datasets.Set, s reductionSettings, seed random.Seed) (*reducible, error) {
	rows := sample.Choose(seed.Stream("rows"), set.N(), min(s.Rows, set.N()))
	y := set.Labels(rows)
	train, test := protocol.PartedOf(sample.StratifiedFolds(seed.Stream("folds"), y, protocol.Folds), 1, rows)
	session, err := protocol.NewSession(set, train, test, protocol.Settings{Scaling: datasets.ZScore, K: s.K}, seed, "reduction")
	if err != nil {
		return nil, err
	}
	r := &reducible{Session: session}
	plain, err := session.Kernel(1)
	if err != nil {
		return nil, err
	}
	n := len(train)
	u, l, err := protocol.BoundsBy(itml.BoundPercentiles).OfGram(plain.Train, protocol.AllPairs(n))
	if err != nil {
		return nil, err
	}
	var all []float64
	for _, p := range protocol.AllPairs(n) {
		all = append(all, plain.Train.At(p.I, p.I)-2*plain.Train.At(p.I, p.J)+plain.Train.At(p.J, p.J))
	}
	slices.Sort(all)
	median := all[len(all)/2]
	k := mat.NewSymDense(plain.All.SymmetricDim(), nil)
	k.ScaleSym(1/median, plain.All)
	r.kernel = &protocol.Kernelised{All: k, Train: k.SliceSym(0, n)}

	chosen := sample.Choose(seed.Stream("constrained rows"), n, min(s.Constrained, n))
	links, err := sample.DistinctLinks(seed.Stream("pairs"), session.Train.Of(chosen).Y, min(s.Pairs, len(chosen)*(len(chosen)-1)/2))
	if err != nil {
		return nil, err
	}
	joined := map[int]bool{}
	for _, link := range links {
		i, j := chosen[link.I], chosen[link.J]
		joined[i], joined[j] = true, true
		r.constraints = append(r.constraints, protocol.Within(link.Label == metric.Similar, i, j, u/median, l/median))
	}
	for _, i := range chosen {
		if joined[i] {
			r.constrained = append(r.constrained, i)
		}
	}
	return r, nil
}

// basis returns J of a kind with k columns.
func (r *reducible) basis(ctx context.Context, kind string, k int, rng *rand.Rand) (*mat.Dense, error) {
	n := len(r.Train.Y)
	j := mat.NewDense(n, k, nil)
	switch kind {
	case jRandom:
		for i := range n {
			for c := range k {
				j.Set(i, c, rng.NormFloat64())
			}
		}
	case jKMeans: // Φ times the indicator of a cluster points to its mean
		fit, err := cluster.FitKMeans(ctx, rng, r.Train.X, cluster.KMeansParams{K: k, Starts: 1})
		if err != nil {
			return nil, err
		}
		for i, c := range fit.Assignment {
			j.Set(i, c, 1)
		}
	case jConstrained:
		for c, i := range r.constrained[:k] {
			j.Set(i, c, 1)
		}
	case noReduction:
		for i := range n {
			j.Set(i, i, 1)
		}
	}
	return j, nil
}

// wrongBy counts the wrong test rows under K = αK₀ + K₀SK₀ with S = JLJᵀ.
func (r *reducible) wrongBy(ctx context.Context, k *mat.SymDense) (int, error) {
	n := len(r.Train.Y)
	return r.Wrong(ctx, protocol.Learnt{Metric: protocol.GramMetric{K: k}, Train: protocol.Numbered(0, n), Test: protocol.Numbered(n, k.SymmetricDim())})
}

// reducedKernel is K of training and test rows, αK₀ + (K₀J)L(K₀J)ᵀ.
func (r *reducible) reducedKernel(j *mat.Dense, fit ltkernel.ReducedResult) *mat.SymDense {
	n, k := j.Dims()
	m := r.kernel.All.SymmetricDim()
	padded := mat.NewDense(m, k, nil) // no test row is in J
	padded.Slice(0, n, 0, k).(*mat.Dense).Copy(j)
	var kj, kjl, out mat.Dense
	kj.Mul(r.kernel.All, padded)
	kjl.Mul(&kj, fit.L)
	out.Mul(&kjl, kj.T())
	sym := mat.NewSymDense(m, nil)
	for i := range m {
		for c := i; c < m; c++ {
			sym.SetSym(i, c, fit.Alpha*r.kernel.All.At(i, c)+out.At(i, c)/2+out.At(c, i)/2)
		}
	}
	return sym
}

func reductionTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(reductionSettings)
	set, err := protocol.Load(run.Env, run.Seed, run.Cell.Dataset)
	if err != nil {
		return err
	}
	if s.Database == vectors.Digits389 {
		set = vectors.OnlyClasses(set, 3, 8, 9)
	}
	r, err := newReducible(set, s, run.Seed)
	if err != nil {
		return err
	}
	p := ltkernel.Params{Divergence: ltkernel.LogDet(), Slack: ltkernel.SlackL2, C: s.C, Tol: s.End.Tol, MaxIterations: s.End.Steps}
	if s.Phi == phiTrace {
		if p.Divergence, err = ltkernel.Trace(s.Tau); err != nil {
			return err
		}
	}
	add := func(kind, j string, k int, at string, value, of float64) {
		key := table.Key{"database": s.Database, "φ": s.Phi, "kind": kind, "J": j, "at": at}
		if j != "" {
			key["k"] = strconv.Itoa(k)
		}
		run.Rows.Add(key, table.Values{"value": value, "of": of})
	}
	n := len(r.Train.Y)
	for _, size := range []struct {
		what  string
		value int
	}{{protocol.TrainRows, n}, {constrainedRows, len(r.constrained)}, {pairsGiven, len(r.constraints)}} {
		add("size", "", 0, size.what, float64(size.value), float64(n))
	}
	score := func(j string, k int, kernel *mat.SymDense) error {
		wrong, err := r.wrongBy(ctx, kernel)
		add("wrong", j, k, "", float64(wrong), float64(len(r.Test.Y)))
		return err
	}
	if err := score(protocol.Euclidean, 0, r.kernel.All); err != nil {
		return err
	}
	end := run.Lap(reductionPhase(fitKernel, strconv.Itoa(len(r.constrained))))
	exact, err := ltkernel.FitKernel(ctx, r.kernel.Train, r.constraints, p)
	end()
	if err != nil {
		return err
	}
	fitted := func(j string, k, rank int, res learners.Result, objective float64) {
		add("objective", j, k, "", objective, exact.Objective)
		add("steps", j, k, "", float64(res.Iterations), float64(s.End.Steps))
		add("rank", j, k, "", float64(rank), float64(k))
	}
	fitted(fitKernel, len(r.constrained), len(r.constrained), exact.Result, exact.Objective)
	if err := score(fitKernel, len(r.constrained), exact.All(r.kernel.All)); err != nil {
		return err
	}
	for _, kind := range append(slices.Clone(jNames), noReduction) {
		ks := s.Ks
		switch kind {
		case noReduction:
			ks = []int{n}
		case jConstrained: // from all on, the answer is exact
			ks = append(slices.DeleteFunc(slices.Clone(ks), func(k int) bool { return k >= len(r.constrained) }), len(r.constrained))
		}
		for _, k := range ks {
			end := run.Lap(reductionPhase(kind, strconv.Itoa(k)))
			j, err := r.basis(ctx, kind, k, run.Seed.Stream(fmt.Sprintf("J, %s, %d", kind, k)))
			if err != nil {
				return err
			}
			fit, err := ltkernel.FitReduced(ctx, r.kernel.Train, j, r.constraints, p)
			end()
			if err != nil {
				return fmt.Errorf("%s, k = %d: %w", kind, k, err)
			}
			fitted(kind, k, k-fit.Dropped, fit.Result, fit.Objective)
			if err := score(kind, k, r.reducedKernel(j, fit)); err != nil {
				return err
			}
		}
	}
	return nil
}
