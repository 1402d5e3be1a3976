package logdet2012

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// Divergences puts the same pairs to four spectral functions φ: which should a user take?
var Divergences = experiment.Spec{
	ID:      paperKey + "/divergences",
	Title:   "Which φ? LogDet, von Neumann, Frobenius and trace on the same pairs",
	Source:  "Sections 4 and 5, which compare no two φ",
	Version: 1,
	Ours:    true,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		all := databases
		if scale == experiment.Smoke {
			all = generated
		}
		var cells []experiment.Cell
		for _, d := range all {
			for _, by := range readings {
				if by == datasets.AsIs && scale == experiment.Full && d.name != unscaledDatabase {
					continue // the features of the others differ less in scale, and fits as they are take long
				}
				cells = append(cells, experiment.Cell{Name: d.name + " features " + describe[by.String()], Dataset: d.dataset, Methods: spectralVersions, Settings: divergenceSettingsOf(d.name, by, scale)})
			}
		}
		return cells
	},
	Trials:  experiment.Trials(6),
	Kinds:   divergenceKinds,
	Columns: divergenceColumns,
	Trial:   divergencesTrial,
	Views:   divergenceViews,
	Claims:  divergenceClaims,
	Choices: divergenceChoices,
	Cost:    10 * time.Second,
}

var spectralVersions = map[string]int{"spectral": ltkernel.Version, "kNN": versions["kNN"]}

// The four φ, by the names of a reader, in the order of the paper.
const (
	phiLogDet     = "LogDet"
	phiVonNeumann = "von Neumann"
	phiFrobenius  = "Frobenius"
	phiTrace      = "trace"
)

var phiNames = []string{phiLogDet, phiVonNeumann, phiFrobenius, phiTrace}

// divergenceSettings are those of one data set under one scaling of its features.
type divergenceSettings struct {
	// Database is the name by which the paper calls the data set.
	Database string `key:"database"`
	// Scaling of features, learned from training rows.
	Scaling datasets.Preprocessing `key:"features"`
	// K is the number of neighbours.
	K int `key:"k"`
	// Links is the number of similar and of dissimilar pairs per class.
	Links int `key:"links"`
	// Slack is the rule of slack, Cs the grid of its weight.
	Slack ltkernel.SlackRule `key:"slack"`
	Cs    []float64          `key:"c"`
	// Alphas is the grid of α of Frobenius, Taus that of τ of the trace.
	Alphas []float64 `key:"alphas"`
	Taus   []float64 `key:"taus"`
	// Fixed are c, α and τ of a user who chooses nothing.
	FixedC     float64 `key:"fixed c"`
	FixedAlpha float64 `key:"fixed alpha"`
	FixedTau   float64 `key:"fixed tau"`
	// Final caps a fit to the training fold, Choice one of the inner cross-validation.
	Final  stop `key:"final"`
	Choice stop `key:"choice"`
}

// stop ends a fit: at a KKT residual, or after so many steps.
type stop struct {
	Tol   float64
	Steps int
}

func divergenceSettingsOf(database string, by datasets.Preprocessing, scale experiment.Scale) divergenceSettings {
	s := divergenceSettings{
		Database: database, Scaling: by, K: mainSettings.K, Links: mainSettings.Links,
		Slack: ltkernel.SlackL2, Cs: []float64{0.01, 0.1, 1, 10}, Alphas: []float64{0, 1}, Taus: []float64{0.1, 1, 10},
		FixedC: 1, FixedAlpha: 1, FixedTau: 1,
		Final: stop{1e-6, 100}, Choice: stop{1e-2, 30},
	}
	if by == datasets.AsIs {
		s.Cs = []float64{0.1, 1, 10, 100}
	}
	if scale == experiment.Smoke {
		s.K, s.Links, s.Cs = 5, 30, []float64{0.1, 1}
	}
	return s
}

// phi is one spectral function with the candidates for what it leaves open.
type phi struct {
	name   string
	labels []candidate // with a label only
	params []ltkernel.Params
	fixed  ltkernel.Params
}

// phisOf returns the functions in the order of phiNames.
func phisOf(s divergenceSettings) ([]phi, error) {
	var errs []error
	of := func(name string, alpha, tau float64) ltkernel.Divergence {
		d, err := ltkernel.ParseDivergence(name, alpha, tau)
		errs = append(errs, err)
		return d
	}
	type open struct {
		label string
		ltkernel.Divergence
	}
	var byAlpha, byTau []open
	for _, a := range s.Alphas {
		byAlpha = append(byAlpha, open{", α = " + table.Format(a), of("frobenius", a, 0)})
	}
	for _, v := range s.Taus {
		byTau = append(byTau, open{", τ = " + table.Format(v), of("trace", 0, v)})
	}
	out := make([]phi, len(phiNames))
	for i, f := range []struct {
		open  []open
		fixed ltkernel.Divergence
	}{
		{[]open{{"", ltkernel.LogDet()}}, ltkernel.LogDet()},
		{[]open{{"", ltkernel.VonNeumann()}}, ltkernel.VonNeumann()},
		{byAlpha, of("frobenius", s.FixedAlpha, 0)},
		{byTau, of("trace", 0, s.FixedTau)},
	} {
		out[i].name, out[i].fixed = phiNames[i], ltkernel.Params{Divergence: f.fixed, Slack: s.Slack, C: s.FixedC}
		for _, c := range s.Cs {
			for _, o := range f.open {
				out[i].labels = append(out[i].labels, candidate{label: "c = " + table.Format(c) + o.label})
				out[i].params = append(out[i].params, ltkernel.Params{Divergence: o.Divergence, Slack: s.Slack, C: c})
			}
		}
	}
	return out, errors.Join(errs...)
}

// constrained is a session in a unit of length in which the median squared distance of training rows is 1, so that
// c, α and τ mean the same on all data.
type constrained struct {
	*session
	x           *mat.Dense // training rows
	constraints []ltkernel.Constraint
}

func newConstrained(s *session) (*constrained, error) {
	median, err := s.median()
	if err != nil {
		return nil, err
	}
	b, err := s.bounds(itml.BoundPercentiles)
	if err != nil {
		return nil, err
	}
	c := &constrained{session: s, x: mat.DenseCopyOf(s.train.x)}
	c.x.Scale(1/math.Sqrt(median), c.x)
	for _, l := range s.links {
		c.constraints = append(c.constraints, within(l.Label == metric.Similar, l.I, l.J, b.upper/median, b.lower/median))
	}
	return c, nil
}

// within is a similar pair at a squared distance of at most u, or a dissimilar one at one of at least l.
func within(similar bool, i, j int, u, l float64) ltkernel.Constraint {
	if similar {
		return ltkernel.AtMost(i, j, u)
	}
	return ltkernel.AtLeast(i, j, l)
}

// fit learns W.
func (c *constrained) fit(ctx context.Context, p ltkernel.Params, end stop) (ltkernel.Result, error) {
	p.Tol, p.MaxIterations = end.Tol, end.Steps
	return ltkernel.Fit(ctx, c.x, c.constraints, p)
}

// wrongBy counts the test rows that are wrong under W, whose unit of length does not matter.
func (c *constrained) wrongBy(ctx context.Context, r ltkernel.Result) (int, error) {
	return c.wrong(ctx, c.inInputSpace(r.Metric, r.Status))
}

// The settings of a φ: chosen by the inner cross-validation, or the fixed ones.
const (
	settingChosen = "chosen"
	settingFixed  = "fixed"
)

// mostFeatures is the largest number of features of the databases.
const mostFeatures = 35

var (
	perPhi          = []string{"wrong", "inner", "chosen", "stopped", "failed", "steps", "spectrum"}
	divergenceKinds = append([]experiment.Kind{
		{Name: "size", Meaning: "a size of the data set, of a training fold or of its pairs"},
		{Name: "wrong", Meaning: "test rows classified wrongly, per fold"},
		{Name: "inner", Meaning: "rows classified wrongly in the inner cross-validations of all folds, per candidate"},
		{Name: "steps", Meaning: "Newton steps of the fit to the training fold"},
		{Name: "spectrum", Meaning: "rank and eigenvalues of the W learned from the training fold"},
	}, fitKinds[0], fitKinds[1], experiment.Kind{Name: fitKinds[2].Name, Meaning: fitKinds[2].Meaning, Rare: true})
	divergenceColumns = experiment.Columns{
		experiment.Text("database", "data set, by the paper's name"),
		experiment.Text("features", "scaling of the features: raw, or zscore by the training rows"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "the φ, or Euclidean").In(perPhi...),
		experiment.Text("setting", "chosen by the inner cross-validation, or fixed; empty of Euclidean").In(perPhi...),
		experiment.Text("fold", "number of the test fold, 0 or 1").In("size", "wrong", "chosen", "stopped", "failed", "steps", "spectrum"),
		experiment.Text("at", "size: which one; inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for those on the training fold").
			In("size", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; steps: the steps; spectrum: the rank; otherwise how many rows, candidates or fits the kind counts"),
		experiment.Number("of", "", "size: the rows or pairs that it is a part of, or the size itself; wrong and inner: rows judged; chosen: candidates; stopped and failed: fits made; steps: the cap; spectrum: the order of W"),
		experiment.Vector("eigenvalue", mostFeatures, "", "spectrum: eigenvalues of W, descending, to four digits, in a unit of length in which the median squared distance of training rows is 1").In("spectrum"),
	}
)

// Phases of the timing table: the inner cross-validation of a φ, and its fits to the training folds.
func choicePhase(name string) string       { return name + ", choice" }
func fitPhase(name, setting string) string { return name + ", fit, " + setting }

func divergencesTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(divergenceSettings)
	set, err := load(run.Env, run.Seed, run.Cell.Dataset)
	if err != nil {
		return err
	}
	problems, err := newProblems(set, settings{Scaling: s.Scaling, K: s.K, Links: s.Links}, run.Seed)
	if err != nil {
		return err
	}
	phis, err := phisOf(s)
	if err != nil {
		return err
	}
	t := &divergenceTrial{divergenceSettings: s, env: run.Env, rows: run.Rows}
	for f, p := range problems {
		t.fold = strconv.Itoa(f)
		if err := t.judge(ctx, p, phis); err != nil {
			return fmt.Errorf("fold %d: %w", f, err)
		}
	}
	t.fold = ""
	for i, c := range t.inner {
		t.add("inner", c.method, settingChosen, c.at, float64(t.inner[i].wrong), float64(t.inner[i].of), nil)
	}
	return nil
}

// divergenceTrial is a trial that fills its table.
type divergenceTrial struct {
	divergenceSettings
	env   *experiment.Env
	fold  string
	rows  *table.Table
	inner []innerSum
}

func (t *divergenceTrial) add(kind, method, setting, at string, value, of float64, eigenvalues []float64) {
	v := table.Values{"value": value, "of": of}
	for i, e := range eigenvalues {
		v["eigenvalue"+strconv.Itoa(i)] = e
	}
	t.rows.Add(table.Key{"database": t.Database, "features": t.Scaling.String(), "kind": kind, "method": method, "setting": setting, "fold": t.fold, "at": at}, v)
}

// judge adds the rows of one fold.
func (t *divergenceTrial) judge(ctx context.Context, p *problem, phis []phi) error {
	p.dataSizes(t.Links, func(what string, value, of int) { t.add("size", "", "", what, float64(value), float64(of), nil) })
	plain, err := p.wrong(ctx, p.inInputSpace(metric.Euclidean{}, learners.Closed))
	if err != nil {
		return err
	}
	t.add("wrong", euclidean, "", "", float64(plain), float64(len(p.test.y)), nil)
	outer, err := newConstrained(p.session)
	if err != nil {
		return err
	}
	inner := make([]*constrained, len(p.inner))
	for i, s := range p.inner {
		if inner[i], err = newConstrained(s); err != nil {
			return err
		}
	}
	for _, f := range phis {
		if err := t.judgePhi(ctx, outer, inner, f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func (t *divergenceTrial) judgePhi(ctx context.Context, outer *constrained, inner []*constrained, f phi) error {
	var tasks []task
	for _, c := range inner {
		tasks = append(tasks, task{len(c.test.y), func(i int) (int, bool, error) {
			r, err := c.fit(ctx, f.params[i], t.Choice)
			if err != nil {
				return 0, false, err
			}
			wrong, err := c.wrongBy(ctx, r)
			return wrong, r.Status != learners.Converged, err
		}})
	}
	end := t.env.Lap(choicePhase(f.name))
	chosen, err := choose(ctx, len(f.params), tasks)
	end()
	if err != nil {
		return err
	}
	var best ltkernel.Result
	end = t.env.Lap(fitPhase(f.name, settingChosen))
	which, fits, err := firstFit(ctx, chosen.order, f.labels, func(i int) (bool, error) {
		var err error
		best, err = outer.fit(ctx, f.params[i], t.Final)
		return best.Status != learners.Converged, err
	})
	end()
	if err != nil {
		return err
	}
	end = t.env.Lap(fitPhase(f.name, settingFixed))
	plain, err := outer.fit(ctx, f.fixed, t.Final)
	end()
	if err != nil {
		return err
	}
	wrong, err := outer.wrongBy(ctx, best)
	if err != nil {
		return err
	}
	chosen.addRows(f.labels, which, fits, wrong, len(outer.test.y), func(kind, at string, value, of int) {
		switch {
		case kind == "inner":
			k := innerKey{f.name, settingChosen, at}
			i := slices.IndexFunc(t.inner, func(c innerSum) bool { return c.innerKey == k })
			if i < 0 {
				i, t.inner = len(t.inner), append(t.inner, innerSum{innerKey: k})
			}
			t.inner[i].wrong += value
			t.inner[i].of += of
		case kind == "failed" && value == 0:
		default:
			t.add(kind, f.name, settingChosen, at, float64(value), float64(of), nil)
		}
	})
	if wrong, err = outer.wrongBy(ctx, plain); err != nil {
		return err
	}
	t.add("wrong", f.name, settingFixed, "", float64(wrong), float64(len(outer.test.y)), nil)
	stopped := 0.0
	if plain.Status != learners.Converged {
		stopped = 1
	}
	t.add("stopped", f.name, settingFixed, finalFits, stopped, 1, nil)
	for _, r := range []struct {
		setting string
		ltkernel.Result
	}{{settingChosen, best}, {settingFixed, plain}} {
		t.add("steps", f.name, r.setting, "", float64(r.Iterations), float64(t.Final.Steps), nil)
		eigenvalues, rank, err := spectrumOf(r.Metric)
		if err != nil {
			return err
		}
		t.add("spectrum", f.name, r.setting, "", float64(rank), float64(len(eigenvalues)), eigenvalues)
	}
	return nil
}

// noEigenvalue is the share of the largest eigenvalue of W below which one is the round-off of 0.
const noEigenvalue = 1e-12

// spectrumOf returns the eigenvalues of W, descending and rounded, and how many are not 0.
func spectrumOf(m *metric.Mahalanobis) (values []float64, rank int, err error) {
	var eig spectral.EigenSym
	if !eig.Factorize(m.M(), false) {
		return nil, 0, errors.New("logdet2012: the eigenvalues of W overflow float64")
	}
	values = eig.Values(nil)
	slices.Reverse(values)
	for i, v := range values {
		if v <= noEigenvalue*values[0] {
			values[i] = 0
			continue
		}
		rank++
		if values[i], err = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64); err != nil {
			return nil, 0, err
		}
	}
	return values, rank, nil
}
