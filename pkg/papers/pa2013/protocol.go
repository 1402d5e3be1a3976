package pa2013

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners"
	"metriclab/pkg/random"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
)

// database is a row of Table 1.
type database struct {
	cell    string // as the paper names it, or the stand-in's name
	paper   string // the paper's name in Table 1
	dataset string // in the registry, or of the generator
	// objects, features and classes are those that Table 1 prints.
	objects, features, classes int
	// standIn is true if the paper's data are not public.
	standIn bool
}

// databases are those of Table 1, in its order.
var databases = []database{
	{cell: "wine", paper: "wine", dataset: "wine", objects: 178, features: 13, classes: 3},
	{cell: "ionosphere", paper: "ionosphere", dataset: "ionosphere", objects: 351, features: 34, classes: 2},
	{cell: "balance", paper: "balance", dataset: "balance-scale", objects: 625, features: 4, classes: 3},
	{cell: "soybean", paper: "soybean", dataset: "soybean-large", objects: 266, features: 35, classes: 15},
	{cell: "mfeat", paper: "BDG100", dataset: "mfeat", objects: 1710, features: 104, classes: 10, standIn: true},
	{cell: "nist16", paper: "nist16", dataset: "nist16", objects: 2000, features: 256, classes: 10},
}

// bdg10 are the paper's own data, which are not public: a user who has them may supply them.
var bdg10 = database{cell: "BDG10", paper: "BDG100", dataset: "bdg10", objects: 1710, features: 104, classes: 10}

// small reports whether a database is one of the paper's with few objects.
func (d database) small() bool { return d.objects > 0 && d.objects < 1000 }

// The built-in data of smoke scale.
const (
	generatedBalance = "balance, from its rule"
	generatedMixture = "Gaussian mixture"
)

// databasesAt are the databases that are run at a scale.
func databasesAt(scale experiment.Scale) []database {
	if scale == experiment.Full {
		return databases
	}
	return []database{{cell: generatedMixture, dataset: generatedMixture}, {cell: generatedBalance, dataset: generatedBalance}}
}

// smallAt returns at full scale the databases that are small, else some generated ones.
func smallAt(scale experiment.Scale, generated int) []database {
	if scale == experiment.Full {
		return slices.DeleteFunc(slices.Clone(databases), func(d database) bool { return !d.small() })
	}
	return databasesAt(scale)[:generated]
}

// settings are what the paper fixes or leaves open.
type settings struct {
	// Scaling of features, learned from training rows.
	Scaling datasets.Preprocessing `key:"scaling"`
	// Share of the rows that train; the others test.
	Share float64 `key:"share"`
	// PerClasses is 40 of the 40c(c−1) pairs of c classes.
	PerClasses int `key:"per-classes"`
	// Part of the number of pairs of training rows that is exceeded by the number of steps.
	Part float64 `key:"part"`
	// Cs is the grid of C.
	Cs []float64 `key:"cs"`
	// Selection is the share of the training rows on which a candidate learns; the
	// others validate it. SelectionPart is Part for that.
	Selection     float64 `key:"selection"`
	SelectionPart float64 `key:"selection-part"`
	// ByPairs chooses C by the pairs predicted wrong instead of the objects classified wrong.
	ByPairs bool `key:"by-pairs"`
	// MaxK is the largest number of neighbours.
	MaxK int `key:"max-k"`
	// Bounds is the rule of ITML's bounds.
	Bounds itml.BoundRule `key:"bounds"`
	// Repeats is how often what is timed is done.
	Repeats int `key:"repeats"`
}

// mainSettings are those of the comparison. Scaling is that of the least mean error
// on validation rows in the sensitivity study (TestScalingIsThatOfTheTable).
var mainSettings = settings{
	Scaling: datasets.ZScore, Share: 0.5, PerClasses: 40, Part: 0.2,
	Cs:        []float64{1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100},
	Selection: 0.7, SelectionPart: 0.2 / 4,
	MaxK: 25, Bounds: itml.BoundBins, Repeats: 1,
}

// repeatsOfSmall times small problems often enough to last: their learners take milliseconds.
const repeatsOfSmall = 20

// online is one of the paper's six methods.
type online struct {
	name string
	rule pairs.PARule
	psd  pairs.PSD
}

// onlines are in the order of Table 2. A name ends in + if the constraints are enforced
// at each step and in - if only at the end.
var onlines = []online{
	{"PA-I+", pairs.PAI, pairs.PSDEachStep}, {"PA-I-", pairs.PAI, pairs.PSDAtEnd},
	{"PA-II+", pairs.PAII, pairs.PSDEachStep}, {"PA-II-", pairs.PAII, pairs.PSDAtEnd},
	{"PA-LS+", pairs.PALS, pairs.PSDEachStep}, {"PA-LS-", pairs.PALS, pairs.PSDAtEnd},
}

func (o online) params(c, tol float64) pairs.PAParams {
	return pairs.PAParams{Rule: o.rule, C: c, PSD: o.psd, Tol: tol}
}

// The other methods.
const (
	itmlTuned = "ITML"
	itmlPlain = "ITML, γ = 1"
	euclidean = "Euclidean"
)

// part is a training, test or validation set.
type part struct {
	x *mat.Dense
	y []int
}

func rowsOf(s *datasets.Set, idx []int) part { return part{s.Rows(idx), s.Labels(idx)} }

// scaled maps all parts by what is learned from the first.
func scaled(by datasets.Preprocessing, parts ...*part) error {
	s, _, err := datasets.FitScaler(parts[0].x, by, false)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.x, err = s.Apply(p.x); err != nil {
			return err
		}
	}
	return nil
}

// session is what a method learns from, and what it is scored on.
type session struct {
	train, test part
	links       []metric.Link // of rows of train
	order       []int         // of links, one per step; longer than steps where learning goes on
	steps       int           // T
	rank        []int         // of the labels, in the alphabetical order of their names
}

// problem is one trial of a database.
type problem struct {
	session           // all training rows; test rows
	selection session // a part of the training rows; the others
	held      []metric.Link
	classes   int
}

// load opens the data of a cell.
func load(env *experiment.Env, seed random.Seed, dataset string) (*datasets.Set, error) {
	switch dataset {
	case generatedBalance:
		return datasets.Balance(), nil
	case generatedMixture:
		// Three overlapping classes of five features, the last without information.
		var c []synthetic.Component
		for class, mean := range [][]float64{{0, 0, 0, 0, 0}, {2, 0, 1, 0, 0}, {0, 2, 0, 1, 0}} {
			c = append(c, synthetic.Component{Class: class, N: 60, Mean: mean, Cov: mat.NewDiagDense(5, []float64{1, 1, 1, 1, 25})})
		}
		return synthetic.GaussianMixture(seed.Stream("data"), c)
	}
	if dataset == bdg10.dataset {
		return loadBDG10(env.Data)
	}
	return env.Data.Set(dataset)
}

// newProblem splits, scales and draws as all methods of a trial see it.
func newProblem(env *experiment.Env, seed random.Seed, dataset string, s settings) (*problem, error) {
	set, err := load(env, seed, dataset)
	if err != nil {
		return nil, err
	}
	classes := len(slices.Compact(slices.Sorted(slices.Values(set.Y))))
	p := &problem{classes: classes}
	p.rank = ranks(set)
	p.selection.rank = p.rank
	train, test, err := sample.StratifiedSplit(seed.Stream("split"), set.Y, s.Share)
	if err != nil {
		return nil, err
	}
	p.train, p.test = rowsOf(set, train), rowsOf(set, test)
	sub, valid, err := sample.StratifiedSplit(seed.Stream("validation"), p.train.y, s.Selection)
	if err != nil {
		return nil, err
	}
	for _, rows := range [][]int{sub, valid} {
		for k, i := range rows {
			rows[k] = train[i]
		}
	}
	p.selection.train, p.selection.test = rowsOf(set, sub), rowsOf(set, valid)
	if err := scaled(s.Scaling, &p.train, &p.test); err != nil {
		return nil, err
	}
	if err := scaled(s.Scaling, &p.selection.train, &p.selection.test); err != nil {
		return nil, err
	}
	most := s.PerClasses * classes * (classes - 1)
	if err := p.session.draw(seed.Stream("pairs"), most, s.Part, lastSnapshot/s.Part); err != nil {
		return nil, err
	}
	if err := p.selection.draw(seed.Stream("validation pairs"), most, s.SelectionPart, 1); err != nil {
		return nil, err
	}
	y := p.selection.test.y
	p.held, err = sample.DistinctLinks(seed.Stream("held pairs"), y, min(heldPairs, pairsOf(len(y))))
	return p, err
}

// heldPairs is the number of pairs of validation rows, all of them where there are fewer.
const heldPairs = 1000

func pairsOf(n int) int { return n * (n - 1) / 2 }

// stepsOf is the least number of steps that exceeds the part of all pairs of n rows.
func stepsOf(n int, part float64) int { return int(math.Floor(part*float64(pairsOf(n)))) + 1 }

// draw chooses pairs, limit at most, and the order in which they are presented: all
// of them in random order, again and again, longer times the steps that Part asks for.
func (s *session) draw(rng *rand.Rand, limit int, part, longer float64) (err error) {
	n := len(s.train.y)
	if s.links, err = sample.DistinctLinks(rng, s.train.y, min(limit, pairsOf(n))); err != nil {
		return err
	}
	s.steps = stepsOf(n, part)
	last := stepsOf(n, part*longer)
	for len(s.order) < last {
		s.order = append(s.order, rng.Perm(len(s.links))...)
	}
	s.order = s.order[:last]
	return nil
}

// byIndex is a learner whose rounds are the indices of links.
type byIndex interface {
	Step(i int) (learners.PairOutcome, error)
	Final() (*metric.Mahalanobis, float64)
}

// direct steps on the pairs of links themselves.
type direct struct {
	*pairs.PA
	s *session
}

func (d direct) Step(i int) (learners.PairOutcome, error) {
	l := d.s.links[i]
	return d.PA.Step(metric.Pair{X: d.s.train.x.RawRowView(l.I), Y: d.s.train.x.RawRowView(l.J), Label: l.Label})
}

// recurring reports whether a "−" learner keeps one number per pair in place of a matrix. It
// does if its m²d/2 + Tm operations for m pairs of d features, the products of all pairs and
// then a column of them per step, are fewer than the matrix's Td². Both are exact.
func (s *session) recurring(o online) bool {
	_, d := s.train.x.Dims()
	return o.psd == pairs.PSDAtEnd && cheaperByPair(len(s.links), d, s.steps)
}

func cheaperByPair(m, d, steps int) bool { return m*m*d/2+steps*m < steps*d*d }

// prepare returns what all learners of a method on a session share; nil if that is nothing.
func (s *session) prepare(o online) (*pairs.Recurring, error) {
	if !s.recurring(o) {
		return nil, nil
	}
	return pairs.NewRecurring(s.train.x, s.links)
}

// learner returns a method at its start, with what prepare returned.
func (s *session) learner(o online, r *pairs.Recurring, c, tol float64) (byIndex, error) {
	if r != nil {
		return pairs.NewRecurringPA(r, o.params(c, tol))
	}
	_, d := s.train.x.Dims()
	l, err := pairs.NewPA(d, o.params(c, tol))
	return direct{l, s}, err
}

// learn takes the T steps in one go and returns the metric at the end.
func (s *session) learn(ctx context.Context, o online, c, tol float64) (m *metric.Mahalanobis, w work, err error) {
	shared, err := s.prepare(o)
	if err != nil {
		return nil, w, err
	}
	l, err := s.learner(o, shared, c, tol)
	if err != nil {
		return nil, w, err
	}
	if err := s.run(ctx, l, &w, 0, s.steps); err != nil {
		return nil, w, err
	}
	m, _ = l.Final()
	return m, w, nil
}

// work counts what a learner did.
type work struct{ steps, mistakes, updates, projections int }

// checkEvery is the number of steps after which a run looks at its context.
const checkEvery = 1024

// run takes the steps from..to of the order.
func (s *session) run(ctx context.Context, l byIndex, w *work, from, to int) error {
	for k, i := range s.order[from:to] {
		if k%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		o, err := l.Step(i)
		if err != nil {
			return fmt.Errorf("step %d: %w", from+k, err)
		}
		w.steps++
		w.projections += o.Projections
		if o.Mistake {
			w.mistakes++
		}
		if o.Updated {
			w.updates++
		}
	}
	return nil
}

// neighbours returns the numbers of neighbours 1..n that a training set of some
// rows allows.
func neighbours(most, rows int) []int {
	ks := make([]int, min(most, rows))
	for i := range ks {
		ks[i] = i + 1
	}
	return ks
}

// wrong counts, for each k, the test rows that the training rows classify wrongly.
func (s *session) wrong(ctx context.Context, m metric.SqDister, ties nearest.VoteTie, ks []int) ([]int, error) {
	knn, err := nearest.NewKNN(m, s.train.x, s.ranked(s.train.y), nearest.KNNOptions{VoteTie: ties})
	if err != nil {
		return nil, err
	}
	return knn.Errors(ctx, s.test.x, s.ranked(s.test.y), ks)
}

// wrongs is wrong for two rules of tied votes: to the nearest, and to the first class name.
func (s *session) wrongs(ctx context.Context, m metric.SqDister, ks []int) (toNearest, toLowest []int, err error) {
	if toNearest, err = s.wrong(ctx, m, nearest.TieNearest, ks); err != nil {
		return nil, nil, err
	}
	toLowest, err = s.wrong(ctx, m, nearest.TieLowestLabel, ks)
	return toNearest, toLowest, err
}

// ranked maps labels to their ranks, so that LowestLabel means the first name.
func (s *session) ranked(y []int) []int {
	out := make([]int, len(y))
	for i, label := range y {
		out[i] = s.rank[label]
	}
	return out
}

// ranks returns the rank of each label among the names of a set's classes; digits are their
// own.
func ranks(s *datasets.Set) []int {
	out := make([]int, slices.Max(s.Y)+1)
	for label := range out {
		out[label] = label
		if s.Classes != nil {
			out[label] = slices.Index(slices.Sorted(slices.Values(s.Classes)), s.Classes[label])
		}
	}
	return out
}

// candidate is a value of C, scored on validation rows.
type candidate struct {
	c     float64
	wrong []int // objects, by k
	pairs int   // pairs, counted only if they choose
}

// best is the first k with the fewest objects wrong.
func (c candidate) best() (k, wrong int) {
	wrong = slices.Min(c.wrong)
	return slices.Index(c.wrong, wrong) + 1, wrong
}

// choose scores all values of C on the validation rows and returns them, with the index
// of the best; the first of equals.
func (p *problem) choose(ctx context.Context, o online, s settings) (all []candidate, best int, err error) {
	v := &p.selection
	ks := neighbours(s.MaxK, len(v.train.y))
	shared, err := v.prepare(o)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range s.Cs {
		l, err := v.learner(o, shared, c, 0)
		if err != nil {
			return nil, 0, err
		}
		var w work
		if err := v.run(ctx, l, &w, 0, v.steps); err != nil {
			return nil, 0, fmt.Errorf("with C = %v: %w", c, err)
		}
		m, b := l.Final()
		wrong, err := v.wrong(ctx, m, nearest.TieNearest, ks)
		if err != nil {
			return nil, 0, fmt.Errorf("with C = %v: %w", c, err)
		}
		chosen := candidate{c: c, wrong: wrong}
		if s.ByPairs {
			chosen.pairs = wrongPairs(m, b, v.test.x, p.held)
		}
		all = append(all, chosen)
	}
	wrong := func(c candidate) int {
		if s.ByPairs {
			return c.pairs
		}
		_, wrong := c.best()
		return wrong
	}
	for i, c := range all {
		if wrong(c) < wrong(all[best]) {
			best = i
		}
	}
	return all, best, nil
}

// wrongPairs counts the links that m and b predict wrongly.
func wrongPairs(m metric.SqDister, b float64, x *mat.Dense, links []metric.Link) int {
	n := 0
	for _, l := range links {
		if metric.SameClass(m.SqDist(x.RawRowView(l.I), x.RawRowView(l.J)) <= b) != l.Label {
			n++
		}
	}
	return n
}

// itmlParams are those of every fit of ITML.
func (s settings) itmlParams() itml.LabelParams {
	var p itml.LabelParams
	p.Bounds.Rule = s.Bounds
	return p
}

// fitITML learns from the session's own pairs, with bounds from as many random pairs of
// training rows as itml.FitLabels draws.
func (s *session) fitITML(ctx context.Context, rng *rand.Rand, set settings, gamma float64) (itml.Result, error) {
	p := set.itmlParams()
	sample, err := sample.RandomLinks(rng, s.train.y, p.Resolved().BoundPairs)
	if err != nil {
		return itml.Result{}, err
	}
	if p.Upper, p.Lower, err = p.Bounds.Of(s.train.x, sample, metric.Euclidean{}); err != nil {
		return itml.Result{}, err
	}
	p.Gamma = gamma
	return itml.Fit(ctx, s.train.x, s.links, p.Params)
}
