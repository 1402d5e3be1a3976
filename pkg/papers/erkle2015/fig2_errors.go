package erkle2015

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/table"
)

// stepMethod is GNMDS with a fixed number of gradient steps after each mini-batch, on all triplets so far.
type stepMethod struct {
	name  string
	steps int
	// afresh starts every mini-batch at K = I; otherwise it goes on from the kernel of the one before.
	afresh bool
}

var stepMethods = []stepMethod{
	{"GNMDS, 1 step", 1, false}, {"GNMDS, 2 steps", 2, false}, {"GNMDS, 1 step from I", 1, true}, {"GNMDS, 2 steps from I", 2, true},
}

// gnmdsMany is GNMDS nearer to convergence: up to batchIterations accelerated iterations after every fourth mini-batch, from the kernel before.
const gnmdsMany = "GNMDS, 100 iterations"

// manyEvery is how many mini-batches lie between its fits.
const manyEvery = 4

// The grids from which the settings of the steps are chosen: first the size δ with τ = 0, then the weight τ of the trace with that δ. The
// objective sums over triplets.
var (
	stepDeltas = []float64{0.01, 0.03, 0.1, 0.3, 1}
	stepTaus   = []float64{0.1, 1, 10}
)

// errorsMinibatch is the number of triplets of a mini-batch: a twentieth of those that train, as in the paper.
func errorsMinibatch(s split) int { return len(s.train) / 20 }

// Fig2Errors compares the errors of PA-ERKLE and batch GNMDS where a batch step is affordable.
var Fig2Errors = experiment.Spec{
	ID:      "erkle2015/fig2-errors",
	Title:   "500 objects: error of PA-ERKLE and of GNMDS with few gradient steps per mini-batch",
	Source:  "Section 5.2, Fig. 2b, at a tenth of its size",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d, err := dataSetOf(synthetic500)
		if err != nil {
			panic(err)
		}
		var cells []experiment.Cell
		add := func(name string, more map[string]string) {
			params := d.params(scale)
			params["method"] = name
			for k, v := range more {
				params[k] = v
			}
			cells = append(cells, experiment.Cell{Name: name, Dataset: d.datasetAt(scale), Params: params, Methods: methodVersions})
		}
		add(paERKLE, nil)
		for _, m := range stepMethods {
			add(m.name, map[string]string{"deltas": formatAll(stepDeltas), "taus": formatAll(stepTaus)})
		}
		tau, err := tauOf(synthetic500, gnmdsBatch)
		if err != nil {
			panic(err)
		}
		add(gnmdsMany, map[string]string{"tau": formatAll([]float64{tau.validated, tau.bestOnTest}), "iterations": strconv.Itoa(batchIterations), "tolerance": table.Format(batchTol)})
		return cells
	},
	Trials: experiment.Trials(10),
	Index:  fig2ErrorsIndex,
	Values: fig2ErrorsValues,
	Trial:  fig2ErrorsTrial,
	Views:  fig2ErrorsViews,
	Claims: fig2ErrorsClaims,
	Cost:   time.Minute,
}

// The table by kind:
//
//	setting  delta, tau: errors summed over the checkpoints
//	curve    rule, delta, tau, triplets so far: errors
var (
	fig2ErrorsIndex  = []string{"kind", "rule", "delta", "tau", "triplets"}
	fig2ErrorsValues = slices.Concat(errorColumns("validation"), errorColumns("test"))
)

// How the settings of a curve were chosen. PA-ERKLE has none.
const (
	noSettings  = "no settings"
	chosenValid = "settings by validation"
	chosenTest  = "settings best on test"
)

func fig2ErrorsTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	d, err := dataSetOf(synthetic500)
	if err != nil {
		return nil, err
	}
	s, err := splitOf(env, d, seed)
	if err != nil {
		return nil, err
	}
	r := &errorsRun{s: s, rows: table.New(fig2ErrorsIndex, fig2ErrorsValues)}
	switch name := cell.Params["method"]; name {
	case paERKLE:
		var c curve
		if err := runERKLE(ctx, s, triplets.ERKLEParams{}, seed, r.checkpoints(), func(seen int, l *triplets.ERKLE) error {
			c.add(s, seen, l.Kernel())
			return nil
		}); err != nil {
			return nil, err
		}
		r.curve(noSettings, c)
	case gnmdsMany:
		tau, err := tauOf(synthetic500, gnmdsBatch)
		if err != nil {
			return nil, err
		}
		var sizes []int
		for i, to := range r.checkpoints() {
			if (len(r.checkpoints())-1-i)%manyEvery == 0 { // the last is among them
				sizes = append(sizes, to)
			}
		}
		c := curve{tau: tau.validated}
		for _, rule := range []string{chosenValid, chosenTest} {
			if rule == chosenTest && tau.bestOnTest != c.tau {
				c = curve{tau: tau.bestOnTest}
			}
			if c.at == nil {
				p := triplets.BatchParams{Tau: c.tau, Iterations: batchIterations, Tol: batchTol}
				if err := fitPath(ctx, s, sizes, p, func(seen int, f triplets.BatchResult) error {
					c.add(s, seen, f.Kernel)
					return nil
				}); err != nil {
					return nil, err
				}
			}
			r.curve(rule, c)
		}
	default:
		i := slices.IndexFunc(stepMethods, func(m stepMethod) bool { return m.name == name })
		if i < 0 {
			return nil, fmt.Errorf("erkle2015: method: %q is not known", name)
		}
		if err := r.choose(ctx, stepMethods[i]); err != nil {
			return nil, err
		}
	}
	return r.rows, nil
}

// curve is a method's errors at the checkpoints.
type curve struct {
	delta, tau       float64
	at               []int
	validation, test []errorCount
}

func (c *curve) add(s split, seen int, k mat.Symmetric) {
	c.at = append(c.at, seen)
	c.validation = append(c.validation, errorsOf(k, s.validation))
	c.test = append(c.test, s.testErrors(k))
}

// sum adds up errors over checkpoints.
func sum(counts []errorCount) errorCount {
	var out errorCount
	for _, c := range counts {
		out = errorCount{out.wrong + c.wrong, out.ties + c.ties, out.of + c.of}
	}
	return out
}

// errorsRun is a trial that fills its table.
type errorsRun struct {
	s    split
	rows *table.Table
}

func (r *errorsRun) checkpoints() []int {
	var out []int
	for to := errorsMinibatch(r.s); to <= len(r.s.train); to += errorsMinibatch(r.s) {
		out = append(out, to)
	}
	return out
}

func (r *errorsRun) add(kind, rule string, c curve, at string, validation, test errorCount) {
	v := table.Values{}
	validation.put(v, "validation")
	test.put(v, "test")
	r.rows.Add(table.Key{"kind": kind, "rule": rule, "delta": table.Format(c.delta), "tau": table.Format(c.tau), "triplets": at}, v)
}

func (r *errorsRun) curve(rule string, c curve) {
	for i, at := range c.at {
		r.add("curve", rule, c, strconv.Itoa(at), c.validation[i], c.test[i])
	}
}

// choose runs a method with the settings of the grids and keeps the curves of those that are best on validation and on test triplets,
// by the errors summed over checkpoints; of equals the first.
func (r *errorsRun) choose(ctx context.Context, m stepMethod) error {
	done := map[[2]float64]curve{}
	run := func(delta, tau float64) (curve, error) {
		if c, ok := done[[2]float64{delta, tau}]; ok {
			return c, nil
		}
		c, err := r.steps(ctx, m, delta, tau)
		if err == nil {
			done[[2]float64{delta, tau}] = c
			r.add("setting", "", c, "", sum(c.validation), sum(c.test))
		}
		return c, err
	}
	for _, rule := range []string{chosenValid, chosenTest} {
		var best curve
		least := math.MaxInt
		try := func(delta, tau float64) error {
			c, err := run(delta, tau)
			wrong := sum(c.validation).wrong
			if rule == chosenTest {
				wrong = sum(c.test).wrong
			}
			if wrong < least {
				best, least = c, wrong
			}
			return err
		}
		for _, delta := range stepDeltas {
			if err := try(delta, 0); err != nil {
				return err
			}
		}
		delta := best.delta
		for _, tau := range stepTaus {
			if err := try(delta, tau); err != nil {
				return err
			}
		}
		r.curve(rule, best)
	}
	return nil
}

// steps runs a method with one setting over all mini-batches.
func (r *errorsRun) steps(ctx context.Context, m stepMethod, delta, tau float64) (curve, error) {
	c := curve{delta: delta, tau: tau}
	p := triplets.BatchParams{Method: triplets.Fixed, Delta: delta, Tau: tau, Iterations: m.steps}
	add := func(seen int, f triplets.BatchResult) error {
		c.add(r.s, seen, f.Kernel)
		return nil
	}
	if !m.afresh {
		return c, fitPath(ctx, r.s, r.checkpoints(), p, add)
	}
	for _, seen := range r.checkpoints() {
		if err := fitPath(ctx, r.s, []int{seen}, p, add); err != nil {
			return c, err
		}
	}
	return c, nil
}
