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
	stepDeltas = list[float64]{0.01, 0.03, 0.1, 0.3, 1}
	stepTaus   = list[float64]{0.1, 1, 10}
)

// errorsMinibatch is the number of triplets of a mini-batch: a twentieth of those that train, as in the paper.
func errorsMinibatch(s split) int { return len(s.train) / 20 }

// errorsOnline is a cell of an online method.
type errorsOnline struct {
	splitSettings
	Method string `key:"method"`
}

// errorsSteps is a cell of one of stepMethods.
type errorsSteps struct {
	splitSettings
	Method string    `key:"method"`
	Deltas []float64 `key:"deltas,list"`
	Taus   []float64 `key:"taus,list"`
}

// errorsMany is the cell of gnmdsMany, with τ by validation and best on test.
type errorsMany struct {
	splitSettings
	stopping
	Method string    `key:"method"`
	Taus   []float64 `key:"tau,list"`
}

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
		s, tau := d.settings(scale), tauOf(synthetic500, gnmdsBatch)
		cell := func(name string, part any) experiment.Cell {
			return experiment.Cell{Name: name, Dataset: d.datasetAt(scale), Settings: part, Methods: methodVersions}
		}
		cells := []experiment.Cell{cell(paERKLE, errorsOnline{s, paERKLE})}
		for _, m := range stepMethods {
			cells = append(cells, cell(m.name, errorsSteps{s, m.name, stepDeltas, stepTaus}))
		}
		return append(cells, cell(gnmdsMany, errorsMany{s, stopsEarly, gnmdsMany, []float64{tau.validated, tau.bestOnTest}}))
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig2ErrorsKinds,
	Columns: fig2ErrorsColumns,
	Trial:   measured,
	Views:   fig2ErrorsViews,
	Claims:  fig2ErrorsClaims,
	Choices: stepChoices,
	Cost:    time.Minute,
}

// The kinds of rows.
const (
	settingRow = "setting"
	curveRow   = "curve"
)

var fig2ErrorsKinds = []experiment.Kind{
	{Name: settingRow, Meaning: "a setting that was tried: errors summed over the checkpoints"},
	{Name: curveRow, Meaning: "the method with the chosen setting, after so many triplets"},
}

var fig2ErrorsColumns = slices.Concat(experiment.Columns{
	experiment.Text("kind", "what the errors are of"),
	experiment.Text("rule", "how the setting was chosen").In(curveRow),
	experiment.Text("delta", "size δ of the gradient steps; 0 of a method without it"),
	experiment.Text("tau", "weight τ of the trace; 0 of a method without it"),
	experiment.Text("triplets", "training triplets seen so far").In(curveRow),
}, errorColumns("validation"), errorColumns("test"))

// How the settings of a curve were chosen. PA-ERKLE has none.
const (
	noSettings  = "no settings"
	chosenValid = "settings by validation"
	chosenTest  = "settings best on test"
)

func (p errorsOnline) measure(ctx context.Context, r splitRun) error {
	params, err := erkleParams(p.Method)
	if err != nil {
		return err
	}
	var c curve
	if err := runERKLE(ctx, r.split, params, r.Seed, r.checkpoints(), func(seen int, l *triplets.ERKLE) { c.add(r.split, seen, l.Kernel()) }); err != nil {
		return err
	}
	r.addCurve(noSettings, c)
	return nil
}

func (p errorsMany) measure(ctx context.Context, r splitRun) error {
	var sizes []int
	for i, to := range r.checkpoints() {
		if (len(r.checkpoints())-1-i)%manyEvery == 0 { // the last is among them
			sizes = append(sizes, to)
		}
	}
	done := map[float64]curve{}
	for i, rule := range []string{chosenValid, chosenTest} {
		tau := p.Taus[i]
		c, ok := done[tau]
		if !ok {
			c.tau = tau
			params := triplets.BatchParams{Method: triplets.BatchAccelerated, Tau: tau, Iterations: p.Iterations, Tol: p.Tol}
			if err := fitPath(ctx, r.split, sizes, params, func(seen int, f triplets.BatchResult) { c.add(r.split, seen, f.Kernel) }); err != nil {
				return err
			}
			done[tau] = c
		}
		r.addCurve(rule, c)
	}
	return nil
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

// checkpoints are the ends of the mini-batches.
func (r splitRun) checkpoints() []int {
	var out []int
	for to := errorsMinibatch(r.split); to <= len(r.split.train); to += errorsMinibatch(r.split) {
		out = append(out, to)
	}
	return out
}

func (r splitRun) addErrors(kind, rule string, c curve, at string, validation, test errorCount) {
	v := table.Values{}
	validation.put(v, "validation")
	test.put(v, "test")
	r.Rows.Add(table.Key{"kind": kind, "rule": rule, "delta": table.Format(c.delta), "tau": table.Format(c.tau), "triplets": at}, v)
}

func (r splitRun) addCurve(rule string, c curve) {
	for i, at := range c.at {
		r.addErrors(curveRow, rule, c, strconv.Itoa(at), c.validation[i], c.test[i])
	}
}

// measure runs a method with the settings of the grids and keeps the curves of those that are best on validation and on test triplets,
// by the errors summed over checkpoints; of equals the first.
func (p errorsSteps) measure(ctx context.Context, r splitRun) error {
	i := slices.IndexFunc(stepMethods, func(m stepMethod) bool { return m.name == p.Method })
	if i < 0 {
		return fmt.Errorf("erkle2015: method: %q is not known", p.Method)
	}
	done := map[[2]float64]curve{}
	run := func(delta, tau float64) (curve, error) {
		if c, ok := done[[2]float64{delta, tau}]; ok {
			return c, nil
		}
		c, err := r.steps(ctx, stepMethods[i], delta, tau)
		if err == nil {
			done[[2]float64{delta, tau}] = c
			r.addErrors(settingRow, "", c, "", sum(c.validation), sum(c.test))
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
		for _, delta := range p.Deltas {
			if err := try(delta, 0); err != nil {
				return err
			}
		}
		delta := best.delta
		for _, tau := range p.Taus {
			if err := try(delta, tau); err != nil {
				return err
			}
		}
		r.addCurve(rule, best)
	}
	return nil
}

// steps runs a method with one setting over all mini-batches.
func (r splitRun) steps(ctx context.Context, m stepMethod, delta, tau float64) (curve, error) {
	c := curve{delta: delta, tau: tau}
	p := triplets.BatchParams{Method: triplets.BatchFixed, Delta: delta, Tau: tau, Iterations: m.steps}
	add := func(seen int, f triplets.BatchResult) { c.add(r.split, seen, f.Kernel) }
	if !m.afresh {
		err := fitPath(ctx, r.split, r.checkpoints(), p, add)
		return c, err
	}
	for _, seen := range r.checkpoints() {
		if err := fitPath(ctx, r.split, []int{seen}, p, add); err != nil {
			return c, err
		}
	}
	return c, nil
}
