// Package kernels has the experiments on kernels (other divergences, reduced kernels) and on what fits cost, those of a slow rival too.
package kernels

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
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/spectral"
	"metriclab/pkg/table"
)

// Divergences puts the same pairs to four spectral functions φ: which should a user take?
var Divergences = experiment.Spec{
	ID:      protocol.PaperKey + "/divergences",
	Title:   "Which φ? LogDet, von Neumann, Frobenius and trace on the same pairs",
	Source:  "Sections 4 and 5, which compare no two φ",
	Version: 1,
	Ours:    true,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		all := vectors.CellsOf(scale, func(database string, by datasets.Preprocessing) (map[string]int, any) {
			return spectralVersions, divergenceSettingsOf(database, by, scale)
		})
		// The features of the others differ less in scale, and fits as they are take long.
		return slices.DeleteFunc(all, func(c experiment.Cell) bool {
			s := c.Settings.(divergenceSettings)
			return s.Scaling == datasets.AsIs && scale == experiment.Full && s.Database != unscaledDatabase
		})
	},
	Trials:  experiment.Trials(6),
	Kinds:   divergenceKinds,
	Columns: divergenceColumns,
	Trial:   divergencesTrial,
	Views:   divergenceViews,
	Claims:  divergenceClaims,
	Choices: protocol.DivergenceChoices,
	Cost:    10 * time.Second,
}

var spectralVersions = map[string]int{"spectral": ltkernel.Version, "kNN": protocol.Versions["kNN"]}

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
		Database: database, Scaling: by, K: protocol.MainSettings.K, Links: protocol.MainSettings.Links,
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
	labels []protocol.Candidate // with a label only
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
				out[i].labels = append(out[i].labels, protocol.Candidate{Label: "c = " + table.Format(c) + o.label})
				out[i].params = append(out[i].params, ltkernel.Params{Divergence: o.Divergence, Slack: s.Slack, C: c})
			}
		}
	}
	return out, errors.Join(errs...)
}

// constrained is a session in a unit of length in which the median squared distance of training rows is 1, so that
// c, α and τ mean the same on all data.
type constrained struct {
	*protocol.Session
	x           *mat.Dense // training rows
	constraints []ltkernel.Constraint
}

func newConstrained(s *protocol.Session) (*constrained, error) {
	median, err := s.Median()
	if err != nil {
		return nil, err
	}
	b, err := s.Bounds(itml.BoundPercentiles)
	if err != nil {
		return nil, err
	}
	c := &constrained{Session: s, x: mat.DenseCopyOf(s.Train.X)}
	c.x.Scale(1/math.Sqrt(median), c.x)
	for _, l := range s.Links {
		c.constraints = append(c.constraints, protocol.Within(l.Label == metric.Similar, l.I, l.J, b.Upper/median, b.Lower/median))
	}
	return c, nil
}

// fit learns W.
func (c *constrained) fit(ctx context.Context, p ltkernel.Params, end stop) (ltkernel.Result, error) {
	p.Tol, p.MaxIterations = end.Tol, end.Steps
	return ltkernel.Fit(ctx, c.x, c.constraints, p)
}

// wrongBy counts the test rows that are wrong under W, whose unit of length does not matter.
func (c *constrained) wrongBy(ctx context.Context, r ltkernel.Result) (int, error) {
	return c.Wrong(ctx, c.InInputSpace(r.Metric, r.Status))
}

var (
	perPhi          = []string{"wrong", "inner", "chosen", "stopped", "failed", "steps", "spectrum"}
	divergenceKinds = append([]experiment.Kind{
		{Name: "size", Meaning: "a size of the data set, of a training fold or of its pairs"},
		{Name: "wrong", Meaning: "test rows classified wrongly, per fold"},
		{Name: "inner", Meaning: "rows classified wrongly in the inner cross-validations of all folds, per candidate"},
		{Name: "steps", Meaning: "Newton steps of the fit to the training fold"},
		{Name: "spectrum", Meaning: "rank and eigenvalues of the W learned from the training fold"},
	}, vectors.FitKinds[0], vectors.FitKinds[1], experiment.Kind{Name: vectors.FitKinds[2].Name, Meaning: vectors.FitKinds[2].Meaning, Rare: true})
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
		experiment.Number("of", "", "size: the rows or pairs that it is a part of, or the size itself; wrong and inner: rows tested; chosen: candidates; stopped and failed: fits made; steps: the cap; spectrum: the order of W"),
		experiment.Vector("eigenvalue", mostFeatures, "", "spectrum: eigenvalues of W, descending, to four digits, in a unit of length in which the median squared distance of training rows is 1").In("spectrum"),
	}
)

func divergencesTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(divergenceSettings)
	problems, err := protocol.LoadProblems(run, protocol.Settings{Scaling: s.Scaling, K: s.K, Links: s.Links})
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
		if err := t.Score(ctx, p, phis); err != nil {
			return fmt.Errorf("fold %d: %w", f, err)
		}
	}
	t.fold = ""
	for _, c := range t.inner {
		t.Add("inner", c.Method, settingChosen, c.At, float64(c.Wrong), float64(c.Of), nil)
	}
	return nil
}

// divergenceTrial is a trial that fills its table.
type divergenceTrial struct {
	divergenceSettings
	env   *experiment.Env
	fold  string
	rows  *table.Table
	inner vectors.InnerSums
}

func (t *divergenceTrial) Add(kind, method, setting, at string, value, of float64, eigenvalues []float64) {
	v := table.Values{"value": value, "of": of}
	for i, e := range eigenvalues {
		v["eigenvalue"+strconv.Itoa(i)] = e
	}
	t.rows.Add(table.Key{"database": t.Database, "features": t.Scaling.String(), "kind": kind, "method": method, "setting": setting, "fold": t.fold, "at": at}, v)
}

// Score adds the rows of one fold.
func (t *divergenceTrial) Score(ctx context.Context, p *protocol.Problem, phis []phi) error {
	p.DataSizes(t.Links, func(what string, value, of int) { t.Add("size", "", "", what, float64(value), float64(of), nil) })
	plain, err := p.Wrong(ctx, p.InInputSpace(metric.Euclidean{}, learners.Closed))
	if err != nil {
		return err
	}
	t.Add("wrong", protocol.Euclidean, "", "", float64(plain), float64(len(p.Test.Y)), nil)
	outer, err := newConstrained(p.Session)
	if err != nil {
		return err
	}
	inner := make([]*constrained, len(p.Inner))
	for i, s := range p.Inner {
		if inner[i], err = newConstrained(s); err != nil {
			return err
		}
	}
	for _, f := range phis {
		if err := t.scorePhi(ctx, outer, inner, f); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func (t *divergenceTrial) scorePhi(ctx context.Context, outer *constrained, inner []*constrained, f phi) error {
	var tasks []protocol.Task
	for _, c := range inner {
		tasks = append(tasks, protocol.Task{Rows: len(c.Test.Y), Score: func(i int) (int, bool, error) {
			r, err := c.fit(ctx, f.params[i], t.Choice)
			if err != nil {
				return 0, false, err
			}
			wrong, err := c.wrongBy(ctx, r)
			return wrong, r.Status != learners.Converged, err
		}})
	}
	end := t.env.Lap(choicePhase(f.name))
	chosen, err := protocol.Choose(ctx, len(f.params), tasks)
	end()
	if err != nil {
		return err
	}
	var best ltkernel.Result
	end = t.env.Lap(fitPhase(f.name, settingChosen))
	which, fits, err := protocol.FirstFit(ctx, chosen.Order, f.labels, func(i int) (bool, error) {
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
	chosen.AddRows(f.labels, which, fits, wrong, len(outer.Test.Y), func(kind, at string, value, of int) {
		switch {
		case kind == "inner":
			t.inner.Add(vectors.InnerKey{Method: f.name, At: at}, value, of)
		case kind == "failed" && value == 0:
		default:
			t.Add(kind, f.name, settingChosen, at, float64(value), float64(of), nil)
		}
	})
	if wrong, err = outer.wrongBy(ctx, plain); err != nil {
		return err
	}
	t.Add("wrong", f.name, settingFixed, "", float64(wrong), float64(len(outer.Test.Y)), nil)
	stopped := 0.0
	if plain.Status != learners.Converged {
		stopped = 1
	}
	t.Add("stopped", f.name, settingFixed, protocol.FinalFits, stopped, 1, nil)
	for _, r := range []struct {
		setting string
		ltkernel.Result
	}{{settingChosen, best}, {settingFixed, plain}} {
		t.Add("steps", f.name, r.setting, "", float64(r.Iterations), float64(t.Final.Steps), nil)
		eigenvalues, rank, err := spectrumOf(r.Metric)
		if err != nil {
			return err
		}
		t.Add("spectrum", f.name, r.setting, "", float64(rank), float64(len(eigenvalues)), eigenvalues)
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
