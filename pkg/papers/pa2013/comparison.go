package pa2013

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners"
	"metriclab/pkg/random"

	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/table"
)

// Comparison is one run for Tables 1 and 2 and Figs. 1 and 2: the six online methods and
// ITML on the same training rows and pairs of each database.
var Comparison = experiment.Spec{
	ID:      "pa2013/comparison",
	Title:   "Six online metric learners and ITML on six databases: errors, losses, times",
	Source:  "Section 3, Tables 1 and 2, Figs. 1 and 2",
	Version: 2,
	Timing:  true,
	Cells: func(scale experiment.Scale) (cells []experiment.Cell) {
		for _, d := range databasesAt(scale) {
			s := mainSettings
			if d.small() {
				s.Repeats = repeatsOfSmall
			}
			cells = append(cells, experiment.Cell{Name: d.cell, Dataset: d.dataset, Methods: methods, Settings: s})
		}
		if scale == experiment.Full {
			cells = append(cells, experiment.Cell{Name: bdg10.cell, Dataset: bdg10.dataset, Methods: methods, Settings: mainSettings, Supplied: true})
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   comparisonKinds,
	Columns: comparisonColumns,
	Trial:   comparisonTrial,
	Views:   comparisonViews,
	Claims:  comparisonClaims,
	Choices: comparisonChoices,
	Cost:    40 * time.Second,
}

var methods = map[string]int{"LogDet": itml.Version, "PA": pairs.PAVersion, "kNN": nearest.KNNVersion}

var comparisonKinds = []experiment.Kind{
	{Name: "size", Meaning: "one size of the trial's data"},
	{Name: "selection", Meaning: "one candidate for C, or for ITML's γ, with its validation errors"},
	{Name: "chosen", Meaning: "the parameters that were chosen for a method"},
	{Name: "error", Meaning: "test errors of a method with one number of neighbours"},
	{Name: "loss", Meaning: "predictive loss of an online method up to a step"},
	{Name: "work", Meaning: "one count of what a method did to learn"},
	{Name: "snapshot", Meaning: "test errors of an online method after a part of all pairs"},
	{Name: "tolerance", Meaning: "PA-LS with a tolerance on its residual"},
}

var comparisonColumns = experiment.Columns{
	experiment.Text("kind", "what the row is about"),
	experiment.Text("method", `name of the method; of a size: "selection" for the rows on which C is chosen, otherwise empty`),
	experiment.Text("at", "size, work: what is counted; selection: C or γ; error: number of neighbours; loss: steps so far; "+
		"snapshot: steps as a part of all pairs of training rows; tolerance: the largest residual that is tolerated").
		In("size", "selection", "error", "loss", "work", "snapshot", "tolerance"),
	experiment.Number("count", "", "size: how many; work: how many, or 1 for yes and 0 for no; selection: validation rows classified wrongly with the best number of neighbours (ITML: training rows, in its own cross-validation); "+
		"error: test rows classified wrongly, with tied votes to the nearest; snapshot, tolerance: the same with the chosen number of neighbours; loss: pairs predicted wrongly so far").
		In("size", "selection", "error", "loss", "work", "snapshot", "tolerance"),
	experiment.Number("second", "", "error: test rows classified wrongly, with tied votes to the first class name; tolerance: steps that moved matrix or threshold").In("error", "tolerance"),
	experiment.Number("c", "", "the chosen C, of ITML γ").In("chosen"),
	experiment.Number("k", "", "number of neighbours with the fewest validation rows classified wrongly").In("selection", "chosen"),
}

// What sizes and work count.
const (
	objects      = "objects"
	features     = "features"
	classesOf    = "classes"
	trainRows    = "training rows"
	testRows     = "test rows"
	validRows    = "validation rows"
	links        = "pairs"
	similarLinks = "similar pairs"
	stepsTaken   = "steps"
	repeated     = "repeats"

	updates     = "updates"
	projections = "projections"
	perPair     = "one number per pair" // 1 if the learner keeps no matrix
	capped      = "stopped at the cap"
)

// checkpoints is the number of points of the curves of Fig. 1.
const checkpoints = 20

// snapshots are the parts of all pairs of training rows after which metrics are scored;
// the paper stops at 0.2.
var snapshots = []float64{0.05, 0.1, 0.2, lastSnapshot}

const lastSnapshot = 0.4

// tolerances of PA-LS that are tried, on |1 + y(d² − b)|; the paper's method has 0. From
// (M, b) = 0 the first residual is 1: with a tolerance of 1 nothing would be learned.
var tolerances = []float64{0.1, 0.2, gradedTolerance, 0.8}

// Names of the phases that are timed.
func learnPhase(method string) string { return "learn " + method }
func tunePhase(method string) string  { return "tune " + method }
func tolerancePhase(method string, tol float64) string {
	return "learn " + method + ", tolerance " + table.Format(tol)
}

func comparisonTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(settings)
	p, err := newProblem(run.Env, run.Seed, run.Cell.Dataset, s)
	if err != nil {
		return err
	}
	t := &comparison{problem: p, set: s, env: run.Env, rows: run.Rows}
	t.sizes()
	for _, o := range onlines {
		if err := t.method(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
	}
	if err := t.itml(ctx, run.Seed); err != nil {
		return fmt.Errorf("%s: %w", itmlTuned, err)
	}
	k, err := t.validated(ctx, metric.Euclidean{})
	if err != nil {
		return err
	}
	t.add("chosen", euclidean, "", table.Values{"k": float64(k)})
	return t.judge(ctx, euclidean, metric.Euclidean{})
}

// comparison is a trial that fills its table.
type comparison struct {
	*problem
	set  settings
	env  *experiment.Env
	rows *table.Table
}

func (t *comparison) add(kind, method, at string, v table.Values) {
	t.rows.Add(table.Key{"kind": kind, "method": method, "at": at}, v)
}

// count adds a row that has a count only.
func (t *comparison) count(kind, method, at string, n int) {
	t.add(kind, method, at, table.Values{"count": float64(n)})
}

// one is 1 for what is true.
func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (t *comparison) sizes() {
	_, d := t.train.x.Dims()
	similar := 0
	for _, l := range t.links {
		if l.Label == metric.Similar {
			similar++
		}
	}
	for _, c := range []struct {
		of   string
		what string
		n    int
	}{
		{"", objects, len(t.train.y) + len(t.test.y)}, {"", features, d}, {"", classesOf, t.classes}, {"", trainRows, len(t.train.y)}, {"", testRows, len(t.test.y)},
		{"", links, len(t.links)}, {"", similarLinks, similar}, {"", stepsTaken, t.steps},
		{"selection", trainRows, len(t.selection.train.y)}, {"selection", validRows, len(t.selection.test.y)},
		{"selection", links, len(t.selection.links)}, {"selection", stepsTaken, t.selection.steps},
		{"", repeated, t.set.Repeats},
	} {
		t.count("size", c.of, c.what, c.n)
	}
}

// method chooses C, learns, and scores one of the paper's methods.
func (t *comparison) method(ctx context.Context, o online) error {
	end := t.env.Lap(tunePhase(o.name))
	all, best, err := t.choose(ctx, o, t.set)
	end()
	if err != nil {
		return err
	}
	for _, c := range all {
		k, wrong := c.best()
		t.add("selection", o.name, table.Format(c.c), table.Values{"count": float64(wrong), "k": float64(k)})
	}
	k, _ := all[best].best()
	c := all[best].c
	t.add("chosen", o.name, "", table.Values{"c": c, "k": float64(k)})

	if _, _, err := t.timed(ctx, o, c, 0, learnPhase(o.name), t.set.Repeats-1); err != nil {
		return err
	}
	m, w, way, err := t.follow(ctx, o, c, k)
	if err != nil {
		return err
	}
	t.count("work", o.name, updates, w.updates)
	t.count("work", o.name, projections, w.projections)
	t.count("work", o.name, perPair, one(t.recurring(o)))
	if err := t.judge(ctx, o.name, m); err != nil {
		return err
	}
	for _, s := range way {
		t.count(s.kind, o.name, s.at, s.count)
	}
	if o.rule == pairs.PALS {
		return t.tolerate(ctx, o, c, k)
	}
	return nil
}

// timed learns n times, timed as a phase.
func (t *comparison) timed(ctx context.Context, o online, c, tol float64, phase string, n int) (m *metric.Mahalanobis, w work, err error) {
	for range n {
		end := t.env.Lap(phase)
		m, w, err = t.learn(ctx, o, c, tol)
		end()
		if err != nil {
			return nil, w, err
		}
	}
	return m, w, nil
}

// seen is what was counted on the way.
type seen struct {
	kind, at string
	count    int
}

// follow learns a last time, timed as the times before, and goes on beyond the T steps. It returns what learn does, and seen on
// the way: the mistakes, and what metrics after some parts of all pairs are worth.
func (t *comparison) follow(ctx context.Context, o online, c float64, k int) (m *metric.Mahalanobis, w work, way []seen, err error) {
	parts := map[int]float64{} // by step
	for _, part := range snapshots {
		parts[stepsOf(len(t.train.y), part)] = part
	}
	marked := map[int]bool{} // on the curve
	for i := range checkpoints {
		marked[(i+1)*t.steps/checkpoints] = true
	}
	stops := slices.AppendSeq(slices.Collect(maps.Keys(parts)), maps.Keys(marked))
	slices.Sort(stops)
	end := t.env.Lap(learnPhase(o.name))
	shared, err := t.prepare(o)
	if err != nil {
		return nil, w, nil, err
	}
	l, err := t.learner(o, shared, c, 0)
	if err != nil {
		return nil, w, nil, err
	}
	var now work
	for _, to := range slices.Compact(stops) {
		if err := t.run(ctx, l, &now, now.steps, to); err != nil {
			return nil, w, nil, err
		}
		if to == t.steps {
			m, _ = l.Final()
			end()
			w = now
		}
		if part, ok := parts[to]; ok {
			if to < t.steps {
				end()
			}
			snapshot, _ := l.Final()
			wrong, err := t.wrong(ctx, snapshot, nearest.TieNearest, []int{k})
			if err != nil {
				return nil, w, nil, err
			}
			way = append(way, seen{"snapshot", table.Format(part), wrong[0]})
			if to < t.steps {
				end = t.env.Lap(learnPhase(o.name))
			}
		}
		if marked[to] {
			way = append(way, seen{"loss", strconv.Itoa(to), now.mistakes})
		}
	}
	return m, w, way, nil
}

// tolerate learns with a tolerance on the residual, as the paper proposes in Section 4.
func (t *comparison) tolerate(ctx context.Context, o online, c float64, k int) error {
	for _, tol := range tolerances {
		m, w, err := t.timed(ctx, o, c, tol, tolerancePhase(o.name, tol), t.set.Repeats)
		if err != nil {
			return err
		}
		wrong, err := t.wrong(ctx, m, nearest.TieNearest, []int{k})
		if err != nil {
			return err
		}
		t.add("tolerance", o.name, table.Format(tol), table.Values{"count": float64(wrong[0]), "second": float64(w.updates)})
	}
	return nil
}

// itmlTuned learns and scores ITML with the γ that its own cross-validation chooses, and with γ = 1.
func (t *comparison) itml(ctx context.Context, seed random.Seed) error {
	end := t.env.Lap(tunePhase(itmlTuned))
	tuned, err := itml.Tune(ctx, seed.Stream("tune"), t.train.x, t.train.y, itml.TunedParams{LabelParams: t.set.itmlParams()})
	end()
	if err != nil {
		return err
	}
	for i, gamma := range tuned.Gammas {
		t.count("selection", itmlTuned, table.Format(gamma), tuned.Wrong[i])
	}
	for _, c := range []struct {
		name  string
		gamma float64
	}{{itmlTuned, tuned.Gamma}, {itmlPlain, 1}} {
		if err := ctx.Err(); err != nil {
			return err
		}
		var l itml.Result
		for range t.set.Repeats {
			end := t.env.Lap(learnPhase(c.name))
			l, err = t.fitITML(ctx, seed.Stream("bounds"), t.set, c.gamma)
			end()
			if err != nil {
				return err
			}
		}
		t.count("work", c.name, projections, l.Projections)
		t.count("work", c.name, capped, one(l.Status == learners.IterationCap))
		v, err := t.selection.fitITML(ctx, seed.Stream("validation bounds"), t.set, c.gamma)
		if err != nil {
			return err
		}
		k, err := t.validated(ctx, v.Metric)
		if err != nil {
			return err
		}
		t.add("chosen", c.name, "", table.Values{"c": c.gamma, "k": float64(k)})
		if err := t.judge(ctx, c.name, l.Metric); err != nil {
			return err
		}
	}
	return nil
}

// validated returns the k that is best on the validation rows.
func (t *comparison) validated(ctx context.Context, m metric.SqDister) (int, error) {
	v := &t.selection
	wrong, err := v.wrong(ctx, m, nearest.TieNearest, neighbours(t.set.MaxK, len(v.train.y)))
	if err != nil {
		return 0, err
	}
	k, _ := candidate{wrong: wrong}.best()
	return k, nil
}

// judge counts the errors on the test rows by k, for two rules of tied votes.
func (t *comparison) judge(ctx context.Context, method string, m metric.SqDister) error {
	ks := neighbours(t.set.MaxK, len(t.train.y))
	nearest, lowest, err := t.wrongs(ctx, m, ks)
	if err != nil {
		return err
	}
	for i, k := range ks {
		t.add("error", method, strconv.Itoa(k), table.Values{"count": float64(nearest[i]), "second": float64(lowest[i])})
	}
	return nil
}
