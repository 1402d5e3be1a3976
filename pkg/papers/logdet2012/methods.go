package logdet2012

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/table"
)

// The methods by the names of Fig. 1(a), in the order of its legend.
const (
	logDetGaussian = "LogDet Gaussian"
	logDetLinear   = "LogDet Linear"
	logDetOnline   = "LogDet Online"
	euclidean      = "Euclidean"
	invCovariance  = "Inv. Covariance"
	mcml           = "MCML"
	lmnn           = "LMNN"
)

// logDetInvCov is LogDet Linear with the inverse covariance as W₀, of Fig. 1(b) only.
const logDetInvCov = "LogDet-InvCov"

var methodNames = []string{logDetGaussian, logDetLinear, logDetOnline, euclidean, invCovariance, mcml, lmnn}

// rivals are the methods that the paper compares its own with.
var rivals = []string{euclidean, invCovariance, mcml, lmnn}

var versions = map[string]int{
	"LogDet": itml.Version, "KernelLogDet": itml.KernelVersion, "LEGO": pairs.LEGOVersion,
	"InvCov": labels.InvCovVersion, "MCML": labels.MCMLVersion, "LMNN": labels.LMNNVersion, "kNN": nearest.KNNVersion,
}

// candidate is one setting of what a method leaves open; its label says which.
type candidate struct {
	label                 string
	gamma, width, eta, mu float64
	weight                float64 // of HMRF-KMeans
	targets               int
}

// candidatesOf are those of a grid.
func candidatesOf(name string, grid []float64, set func(c *candidate, v float64)) []candidate {
	out := make([]candidate, len(grid))
	for i, v := range grid {
		out[i].label = name + " = " + table.Format(v)
		set(&out[i], v)
	}
	return out
}

func gammasOf(grid []float64) []candidate {
	return candidatesOf("γ", grid, func(c *candidate, v float64) { c.gamma = v })
}

func weightsOf(name string, grid []float64) []candidate {
	return candidatesOf(name, grid, func(c *candidate, v float64) { c.weight = v })
}

// marginsOf are those of LMNN.
func marginsOf(targets []int, mus []float64) (out []candidate) {
	for _, k := range targets {
		for _, mu := range mus {
			out = append(out, candidate{label: fmt.Sprintf("%d targets, μ = %s", k, table.Format(mu)), targets: k, mu: mu})
		}
	}
	return out
}

// fixed is the one candidate of a method that leaves nothing open.
var fixed = []candidate{{label: "nothing to choose"}}

// learnt is a metric with the rows that it compares.
type learnt struct {
	metric      metric.SqDister
	train, test *mat.Dense
	stopped     bool // by a cap, or because nothing improved: not converged
}

// method learns from the training rows and pairs of a session.
type method struct {
	name       string
	bounded    bool        // it uses u and ℓ
	candidates []candidate // of equally good ones the first is chosen
	fit        func(ctx context.Context, s *session, rule itml.BoundRule, c candidate, b budget) (learnt, error)
}

// methodsNamed returns the methods of these names, in their order.
func methodsNamed(s settings, names []string) []method {
	gammas, etas, margins := gammasOf(s.Gammas), candidatesOf("ηℓ²", s.Etas, func(c *candidate, v float64) { c.eta = v }), marginsOf(s.Targets, s.Mus)
	var both []candidate
	for _, w := range s.Widths {
		for _, c := range gammas {
			c.width, c.label = w, c.label+", σ² = "+table.Format(w)+" medians"
			both = append(both, c)
		}
	}
	all := []method{
		{logDetGaussian, true, both, fitGaussian},
		{logDetWider, true, both, fitGaussian},
		{logDetLinear, true, gammas, fitLinear},
		{logDetInvCov, true, gammas, fitFromInvCov},
		{logDetOnline, true, etas, fitOnline},
		{euclidean, false, fixed, fitEuclidean},
		{invCovariance, false, fixed, fitInvCovariance},
		{mcml, false, fixed, fitMCML},
		{lmnn, false, margins, fitLMNN},
	}
	out := make([]method, len(names))
	for i, name := range names {
		out[i] = all[slices.IndexFunc(all, func(m method) bool { return m.name == name })]
	}
	return out
}

// inInputSpace is what was learnt as a metric of the features.
func (s *session) inInputSpace(m metric.SqDister, status learners.Status) learnt {
	return learnt{m, s.train.x, s.test.x, status == learners.IterationCap || status == learners.NoProgress}
}

func fitLinear(ctx context.Context, s *session, rule itml.BoundRule, c candidate, b budget) (learnt, error) {
	want, err := s.bounds(rule)
	if err != nil {
		return learnt{}, err
	}
	return s.fitLogDet(ctx, nil, want, c, b)
}

func fitFromInvCov(ctx context.Context, s *session, rule itml.BoundRule, c candidate, b budget) (learnt, error) {
	w, err := s.whitened(ctx, rule)
	if err != nil {
		return learnt{}, err
	}
	return s.fitLogDet(ctx, w.w0, w.bounds, c, b)
}

// fitLogDet fits LogDet in input space; w0 is nil for I.
func (s *session) fitLogDet(ctx context.Context, w0 mat.Symmetric, want bounds, c candidate, b budget) (learnt, error) {
	l, err := itml.Fit(ctx, s.train.x, s.links, itml.Params{Gamma: c.gamma, Upper: want.upper, Lower: want.lower, W0: w0, MaxCycles: b.cycles(len(s.links))})
	return s.inInputSpace(l.Metric, l.Status), err
}

// fitGaussian learns on the kernel matrix of the training rows and carries the answer to the
// test rows by Eq. 6.
func fitGaussian(ctx context.Context, s *session, rule itml.BoundRule, c candidate, b budget) (learnt, error) {
	k, err := s.kernel(c.width)
	if err != nil {
		return learnt{}, err
	}
	n := len(s.train.y)
	p := itml.KernelParams{Gamma: c.gamma, MaxCycles: b.cycles(len(s.links))}
	if p.Upper, p.Lower, err = boundsBy(rule).OfGram(k.train, allPairs(n)); err != nil {
		return learnt{}, err
	}
	l, err := itml.FitKernel(ctx, k.train, s.links, p)
	if err != nil {
		return learnt{}, err
	}
	return learnt{gramMetric{l.All(k.all)}, numbered(0, n), numbered(n, n+len(s.test.y)), l.Status != learners.Converged}, nil
}

// fitOnline passes once over the pairs.
func fitOnline(_ context.Context, s *session, rule itml.BoundRule, c candidate, _ budget) (learnt, error) {
	b, err := s.bounds(rule)
	if err != nil {
		return learnt{}, err
	}
	_, d := s.train.x.Dims()
	l, err := pairs.NewLEGO(d, pairs.LEGOParams{Eta: c.eta / (b.lower * b.lower), Upper: b.upper, Lower: b.lower})
	if err != nil {
		return learnt{}, err
	}
	for f := range sample.Pairs(s.train.x, s.links) {
		if _, err := l.Step(f); err != nil {
			return learnt{}, err
		}
	}
	return s.inInputSpace(l.Metric(), learners.Closed), nil
}

func fitEuclidean(_ context.Context, s *session, _ itml.BoundRule, _ candidate, _ budget) (learnt, error) {
	return s.inInputSpace(metric.Euclidean{}, learners.Closed), nil
}

func fitInvCovariance(ctx context.Context, s *session, _ itml.BoundRule, _ candidate, _ budget) (learnt, error) {
	l, err := labels.FitInvCov(ctx, s.train.x, labels.InvCovParams{})
	return s.inInputSpace(l.Metric, l.Status), err
}

func fitMCML(ctx context.Context, s *session, _ itml.BoundRule, _ candidate, b budget) (learnt, error) {
	l, err := labels.FitMCML(ctx, s.train.x, s.train.y, labels.MCMLParams{MaxIterations: b.Iterations})
	return s.inInputSpace(l.Metric, l.Status), err
}

func fitLMNN(ctx context.Context, s *session, _ itml.BoundRule, c candidate, b budget) (learnt, error) {
	l, err := labels.FitLMNN(ctx, s.train.x, s.train.y, labels.LMNNParams{K: c.targets, Mu: c.mu, MaxIterations: b.Iterations})
	return s.inInputSpace(l.Metric, l.Status), err
}

// choice is the outcome of an inner cross-validation.
type choice struct {
	wrong []int // of rows, by candidate; all rows for one that failed
	order []int // of candidates, best first
	rows  int   // that were judged
	fits  tally
}

// newChoice is one among n candidates of which none was judged.
func newChoice(n int) choice { return choice{wrong: make([]int, n), order: numbers(n)} }

// tally counts fits.
type tally struct{ made, stopped, failed int }

func (t *tally) add(stopped bool, err error) {
	t.made++
	switch {
	case err != nil:
		t.failed++
	case stopped:
		t.stopped++
	}
}

// task is a fold of an inner cross-validation: judge fits a candidate and counts how many
// of its rows are wrong.
type task struct {
	rows  int
	judge func(candidate int) (wrong int, stopped bool, err error)
}

// choose judges n candidates on all tasks. A candidate that cannot be fitted, for a step
// that float64 does not hold or a singular matrix, counts all rows as wrong. With one
// candidate nothing is fitted.
func choose(ctx context.Context, n int, tasks []task) (choice, error) {
	c := newChoice(n)
	if n == 1 {
		return c, nil
	}
	for _, t := range tasks {
		c.rows += t.rows
		for i := range n {
			if err := ctx.Err(); err != nil {
				return c, err
			}
			wrong, stopped, err := t.judge(i)
			if err := ctx.Err(); err != nil { // a fit that was stopped has not failed
				return c, err
			}
			c.fits.add(stopped, err)
			if err != nil {
				wrong = t.rows
			}
			c.wrong[i] += wrong
		}
	}
	slices.SortStableFunc(c.order, func(i, j int) int { return c.wrong[i] - c.wrong[j] })
	return c, nil
}

// asGoodAs counts the candidates with as few rows wrong as one of them, itself among them.
func (c choice) asGoodAs(which int) int {
	n := 0
	for _, w := range c.wrong {
		if w == c.wrong[which] {
			n++
		}
	}
	return n
}

// choose judges the candidates of a method in the inner cross-validation.
func (p *problem) choose(ctx context.Context, m method, rule itml.BoundRule, b budget) (choice, error) {
	var tasks []task
	for _, s := range p.inner {
		tasks = append(tasks, task{len(s.test.y), func(i int) (int, bool, error) {
			l, err := m.fit(ctx, s, rule, m.candidates[i], b)
			if err != nil {
				return 0, false, err
			}
			wrong, err := s.wrong(ctx, l)
			return wrong, l.stopped, err
		}})
	}
	return choose(ctx, len(m.candidates), tasks)
}

// firstFit fits the candidates in an order until one can be fitted.
func firstFit(ctx context.Context, order []int, candidates []candidate, fit func(i int) (stopped bool, err error)) (which int, fits tally, err error) {
	var errs []error
	for _, i := range order {
		if err := ctx.Err(); err != nil {
			return 0, fits, err
		}
		stopped, err := fit(i)
		if err := ctx.Err(); err != nil { // a fit that was stopped has not failed
			return 0, fits, err
		}
		fits.add(stopped, err)
		if err == nil {
			return i, fits, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", candidates[i].label, err))
	}
	return 0, fits, errors.Join(errs...)
}

// decide chooses among candidates by tasks, and fits the chosen one, or the next one if it fails. It returns what
// adds the rows of the table, of so many wrong of so many test rows.
func decide(ctx context.Context, candidates []candidate, tasks []task, fit func(i int) (stopped bool, err error)) (add func(wrong, rows int, add func(kind, at string, value, of int)), err error) {
	c, err := choose(ctx, len(candidates), tasks)
	if err != nil {
		return nil, err
	}
	which, fits, err := firstFit(ctx, c.order, candidates, fit)
	return func(wrong, rows int, add func(kind, at string, value, of int)) {
		c.addRows(candidates, which, fits, wrong, rows, add)
	}, err
}

// learn fits the best candidate to all training rows, or the next one if it fails there.
func (p *problem) learn(ctx context.Context, m method, rule itml.BoundRule, order []int, b budget) (which int, l learnt, fits tally, err error) {
	which, fits, err = firstFit(ctx, order, m.candidates, func(i int) (bool, error) {
		var err error
		l, err = m.fit(ctx, p.session, rule, m.candidates[i], b)
		return l.stopped, err
	})
	return which, l, fits, err
}

// addRows adds the rows of a table that say what was chosen, of which fits, and how many
// test rows are wrong: value counts something of so many.
func (c choice) addRows(candidates []candidate, which int, final tally, wrong, rows int, add func(kind, at string, value, of int)) {
	add("wrong", "", wrong, rows)
	if c.rows > 0 {
		for i, candidate := range candidates {
			add("inner", candidate.label, c.wrong[i], c.rows)
		}
	}
	add("chosen", candidates[which].label, c.asGoodAs(which), len(candidates))
	for _, f := range []struct {
		at string
		tally
	}{{choiceFits, c.fits}, {finalFits, final}} {
		add("stopped", f.at, f.stopped, f.made)
		add("failed", f.at, f.failed, f.made)
	}
}

// judge chooses, learns, counts the errors of a method and adds the rows of a table.
func (p *problem) judge(ctx context.Context, m method, rule itml.BoundRule, s settings, add func(kind, at string, value, of int)) error {
	c, err := p.choose(ctx, m, rule, s.Choice)
	if err != nil {
		return err
	}
	which, l, fits, err := p.learn(ctx, m, rule, c.order, s.Final)
	if err != nil {
		return err
	}
	wrong, err := p.wrong(ctx, l)
	if err != nil {
		return err
	}
	c.addRows(m.candidates, which, fits, wrong, len(p.test.y), add)
	return nil
}

// sizes adds those of the data and the protocol: value of so many.
func (p *problem) sizes(s settings, add func(what string, value, of int)) {
	p.dataSizes(s.Links, add)
	capSizes(s.Choice, s.Final, add)
}

// capSizes adds the caps of fits.
func capSizes(choice, final budget, add func(what string, value, of int)) {
	for _, f := range []struct {
		fits string
		budget
	}{{choiceFits, choice}, {finalFits, final}} {
		add(projectionCap(f.fits), f.Projections, final.Projections)
		add(iterationCap(f.fits), f.Iterations, final.Iterations)
	}
}

// similarIn counts the similar pairs.
func similarIn(links []metric.Link) int {
	n := 0
	for _, l := range links {
		if l.Label == metric.Similar {
			n++
		}
	}
	return n
}

// dataSizes adds those of the data, of so many pairs per class.
func (p *problem) dataSizes(perClass int, add func(what string, value, of int)) {
	similar, count := similarIn(p.links), countOf(slices.Concat(p.train.y, p.test.y))
	n := len(p.train.y) + len(p.test.y)
	_, d := p.train.x.Dims()
	for _, c := range []struct {
		what      string
		value, of int
	}{
		{objects, n, n}, {features, d, d}, {classes, count, count}, {trainRows, len(p.train.y), n},
		{similarPairs, similar, len(p.links)}, {dissimilarPairs, len(p.links) - similar, len(p.links)},
		{neighbours, p.k, len(p.train.y)}, {pairsPerClass, perClass, perClass},
	} {
		add(c.what, c.value, c.of)
	}
}
