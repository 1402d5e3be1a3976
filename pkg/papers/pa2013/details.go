package pa2013

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/table"
)

// Details varies what Section 2.4 says of projections and of the start, the last pairs of which
// Section 1 warns, and the number of steps, which Section 4 leaves to a criterion.
var Details = experiment.Spec{
	ID:      "pa2013/details",
	Title:   "Projection after q updates, the initial model, the last pairs, and when to stop, on four databases",
	Source:  "Sections 1, 2.4 and 4",
	Version: 1,
	Cells: func(scale experiment.Scale) (cells []experiment.Cell) {
		for _, d := range smallAt(scale, 1) {
			cells = append(cells, experiment.Cell{Name: d.cell, Dataset: d.dataset, Methods: detailsMethods, Settings: mainSettings})
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   detailsKinds,
	Columns: detailsColumns,
	Trial:   detailsTrial,
	Views:   detailsViews,
	Claims:  detailsClaims,
	Cost:    10 * time.Second,
}

var detailsMethods = map[string]int{"PA": pairs.PAVersion, "kNN": nearest.KNNVersion}

// Kinds of rows.
const (
	kindProjection = "projection"
	kindStart      = "start"
	kindOrder      = "order"
	kindStop       = "stop"
)

var detailsKinds = []experiment.Kind{
	{Name: kindProjection, Meaning: "a rule whose matrix is projected after every so many updates"},
	{Name: kindStart, Meaning: "a method from one initial model"},
	{Name: kindOrder, Meaning: "a method on the same pairs, some of them in ten other orders"},
	{Name: kindStop, Meaning: "a method that ends at a fixed part of all pairs, or by a criterion"},
}

var detailsColumns = experiment.Columns{
	experiment.Text("kind", "what the row is about"),
	experiment.Text("method", "name of the method; of a projection, of the rule"),
	experiment.Text("at", "projection: number of updates, or \"end\"; start: b⁰ and the multiple of the identity; order: what is shuffled; stop: part of all pairs, or criterion"),
	experiment.Number("error", "share", "test rows classified wrongly, k by validation; order: mean over the orders"),
	experiment.Number("ratio", "", "test rows divided by training rows"),
	experiment.Number("validation", "share", "validation rows classified wrongly with the chosen C and k").In(kindProjection, kindStart),
	experiment.Number("loss", "share", "pairs predicted wrongly among the T steps").In(kindProjection, kindStart),
	experiment.Number("range", "share", "largest minus least error over the orders").In(kindOrder),
	experiment.Number("steps", "", "steps taken as a multiple of T").In(kindStop),
	experiment.Number("decompositions", "", "eigendecompositions, or searches for a negative eigenvalue, before the end").In(kindProjection),
	experiment.Number("negative", "", "negative eigenvalues of the running matrix after T steps").In(kindProjection),
	experiment.Number("mass", "share", "their sum as a share of the sum of all magnitudes").In(kindProjection),
}

// atEnd is the projection that only ends learning.
const atEnd = "end"

// everyUpdates are the numbers of updates between projections; 1 is the paper's "+", atEnd its "−".
var everyUpdates = []int{1, 3, 10, 30, 100, 300, 0}

func everyName(q int) string {
	if q == 0 {
		return atEnd
	}
	return fmt.Sprint(q)
}

// relaxation is a rule whose matrix is projected after every q updates; 0 is only at the end.
type relaxation struct {
	rule versions
	q    int
}

func (x relaxation) String() string { return x.rule.name + ", q = " + everyName(x.q) }

// relaxed are the rules with fewer projections than the paper's "+" has.
var relaxed = func() (all []relaxation) {
	for _, v := range rules {
		for _, q := range everyUpdates {
			if q != 1 {
				all = append(all, relaxation{v, q})
			}
		}
	}
	return all
}()

// start is an initial model.
type start struct{ b0, m0 float64 }

func (s start) String() string { return fmt.Sprintf("b⁰ = %g, M⁰ = %g·I", s.b0, s.m0) }

// starts are all combinations of three thresholds and three matrices; the first is the paper's.
// Standardised rows have a mean squared distance of about twice the number of features.
var starts = func() (all []start) {
	for _, m0 := range []float64{0, 0.1, 1} {
		for _, b0 := range []float64{0, 1, 10} {
			all = append(all, start{b0, m0})
		}
	}
	return all
}()

// Orders of the pairs that are tried.
const (
	orders    = 10
	tailPart  = 0.1 // of the steps
	orderTail = "last tenth"
	orderAll  = "all"
)

// Criteria that end the steps: what they watch.
const (
	byLoss = "loss settles"
	byStep = "steps settle"
)

// stopping are the parameters of both criteria, fixed before the first run.
var stopping = learners.PlateauParams{Window: 100, Fall: 0.05, Patience: 3}

func detailsTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(settings)
	p, err := newProblem(run.Env, run.Seed, run.Cell.Dataset, s)
	if err != nil {
		return err
	}
	t := &details{problem: p, set: s, rows: run.Rows}
	for _, v := range rules {
		for _, q := range everyUpdates {
			if err := t.projection(ctx, v.name, q, everyParams(v, q)); err != nil {
				return err
			}
		}
	}
	rng := run.Seed.Stream("orders")
	tail, all := t.shuffled(rng, tailPart), t.shuffled(rng, 1)
	for _, o := range onlines {
		for i, from := range starts {
			params := pairs.PAParams{Rule: o.rule, PSD: o.psd, B0: from.b0, M0: from.m0}
			chosen, err := t.from(ctx, o.name, from, params)
			if err != nil {
				return err
			}
			if i > 0 {
				continue
			}
			// The rest is from the paper's start.
			params.C = chosen.c
			k, _ := chosen.best()
			for _, c := range []struct {
				name   string
				orders [][]int
			}{{orderTail, tail}, {orderAll, all}} {
				if err := t.reorder(ctx, o.name, c.name, params, k, c.orders); err != nil {
					return err
				}
			}
			if err := t.stop(ctx, o.name, params, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// details is a trial that fills its table.
type details struct {
	*problem
	set  settings
	rows *table.Table
}

// add adds a row.
func (t *details) add(kind, method, at string, v table.Values) {
	v["ratio"] = float64(len(t.test.y)) / float64(len(t.train.y))
	t.rows.Add(table.Key{"kind": kind, "method": method, "at": at}, v)
}

// runPA takes the steps of an order from the start of a learner that keeps its matrix.
func (s *session) runPA(ctx context.Context, p pairs.PAParams, order []int) (*pairs.PA, work, error) {
	var w work
	_, d := s.train.x.Dims()
	l, err := pairs.NewPA(d, p)
	if err != nil {
		return nil, w, err
	}
	of := *s
	of.order = order
	return l, w, of.run(ctx, direct{l, s}, &w, 0, len(order))
}

// tune chooses C as choose does.
func (t *details) tune(ctx context.Context, p pairs.PAParams) (best candidate, err error) {
	v := &t.selection
	ks := neighbours(t.set.MaxK, len(v.train.y))
	for i, c := range t.set.Cs {
		p.C = c
		l, _, err := v.runPA(ctx, p, v.order[:v.steps])
		if err != nil {
			return best, fmt.Errorf("with C = %v: %w", c, err)
		}
		wrong, err := v.wrong(ctx, l.Metric(), nearest.TieNearest, ks)
		if err != nil {
			return best, err
		}
		if i == 0 || slices.Min(wrong) < slices.Min(best.wrong) {
			best = candidate{c: c, wrong: wrong}
		}
	}
	return best, nil
}

// errorOf is the share of test rows that are classified wrongly.
func (t *details) errorOf(ctx context.Context, m *metric.Mahalanobis, k int) (float64, error) {
	wrong, err := t.wrong(ctx, m, nearest.TieNearest, []int{k})
	if err != nil {
		return 0, err
	}
	return float64(wrong[0]) / float64(len(t.test.y)), nil
}

// learned tunes and learns, and returns what both kinds of rows with a choice of C have.
func (t *details) learned(ctx context.Context, p pairs.PAParams) (*pairs.PA, work, candidate, table.Values, error) {
	chosen, err := t.tune(ctx, p)
	if err != nil {
		return nil, work{}, chosen, nil, err
	}
	p.C = chosen.c
	l, w, err := t.runPA(ctx, p, t.order[:t.steps])
	if err != nil {
		return nil, w, chosen, nil, err
	}
	k, wrong := chosen.best()
	e, err := t.errorOf(ctx, l.Metric(), k)
	return l, w, chosen, table.Values{"error": e, "validation": float64(wrong) / float64(len(t.selection.test.y)), "loss": float64(w.mistakes) / float64(w.steps)}, err
}

func (t *details) projection(ctx context.Context, rule string, q int, p pairs.PAParams) error {
	l, w, _, values, err := t.learned(ctx, p)
	if err != nil {
		return fmt.Errorf("%s, q = %d: %w", rule, q, err)
	}
	var eig mat.EigenSym
	if !eig.Factorize(l.Matrix(), false) {
		return fmt.Errorf("%s, q = %d: no eigenvalues", rule, q)
	}
	lambda := eig.Values(nil)
	total := floats.Norm(lambda, 1)
	negative, mass := 0, 0.0
	for _, e := range lambda {
		if e < -1e-10*total { // round-off is none
			negative, mass = negative+1, mass-e
		}
	}
	values["negative"], values["mass"], values["decompositions"] = float64(negative), mass/math.Max(total, metric.LeastNormal), 0
	if q > 0 {
		values["decompositions"] = float64(w.updates / q)
	}
	t.add(kindProjection, rule, everyName(q), values)
	return nil
}

func (t *details) from(ctx context.Context, method string, from start, p pairs.PAParams) (candidate, error) {
	_, _, chosen, values, err := t.learned(ctx, p)
	if err != nil {
		return chosen, fmt.Errorf("%s, %v: %w", method, from, err)
	}
	t.add(kindStart, method, from.String(), values)
	return chosen, nil
}

// shuffled returns orders of the T steps whose last part is permuted.
func (t *details) shuffled(rng *rand.Rand, part float64) [][]int {
	out := make([][]int, orders)
	for i := range out {
		out[i] = slices.Clone(t.order[:t.steps])
		tail := out[i][len(out[i])-int(math.Ceil(part*float64(len(out[i])))):]
		rng.Shuffle(len(tail), func(a, b int) { tail[a], tail[b] = tail[b], tail[a] })
	}
	return out
}

func (t *details) reorder(ctx context.Context, method, what string, p pairs.PAParams, k int, tried [][]int) error {
	var errors []float64
	for _, order := range tried {
		l, _, err := t.runPA(ctx, p, order)
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		e, err := t.errorOf(ctx, l.Metric(), k)
		if err != nil {
			return err
		}
		errors = append(errors, e)
	}
	t.add(kindOrder, method, what, table.Values{"error": stat.Mean(errors, nil), "range": slices.Max(errors) - slices.Min(errors)})
	return nil
}

// stop scores a method at fixed parts of the pairs and where each criterion ends it; a criterion
// that has not by the last part ends there.
func (t *details) stop(ctx context.Context, method string, p pairs.PAParams, k int) error {
	_, d := t.train.x.Dims()
	l, err := pairs.NewPA(d, p)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	settle := map[string]*learners.Plateau{}
	for _, name := range []string{byLoss, byStep} {
		if settle[name], err = learners.NewPlateau(stopping); err != nil {
			return err
		}
	}
	ends := map[int]string{}
	for _, part := range snapshots {
		ends[stepsOf(len(t.train.y), part)] = table.Format(part)
	}
	add := func(at string, steps int) error {
		e, err := t.errorOf(ctx, l.Metric(), k)
		if err != nil {
			return err
		}
		t.add(kindStop, method, at, table.Values{"error": e, "steps": float64(steps) / float64(t.steps)})
		return nil
	}
	of := direct{l, &t.session}
	for i, link := range t.session.order {
		if i%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		o, err := of.Step(link)
		if err != nil {
			return fmt.Errorf("%s, step %d: %w", method, i, err)
		}
		for _, name := range []string{byLoss, byStep} {
			c, value := settle[name], o.Loss
			if name == byStep {
				value = math.Abs(o.StepSize)
			}
			if c != nil && (c.Add(value) || i+1 == len(t.session.order)) {
				settle[name] = nil
				if err := add(name, i+1); err != nil {
					return err
				}
			}
		}
		if part, ok := ends[i+1]; ok {
			if err := add(part, i+1); err != nil {
				return err
			}
		}
	}
	return nil
}
