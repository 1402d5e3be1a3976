package learning

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
)

// manyEvery is how many mini-batches lie between its fits.
const manyEvery = 4

// ErrorsOnline is a cell of an online method.
type ErrorsOnline struct {
	protocol.SplitSettings
	Method string `key:"method"`
}

// errorsSteps is a cell of one of stepMethods.
type errorsSteps struct {
	protocol.SplitSettings
	Method string    `key:"method"`
	Deltas []float64 `key:"deltas,list"`
	Taus   []float64 `key:"taus,list"`
}

// errorsMany is the cell of gnmdsMany, with τ by validation and best on test.
type errorsMany struct {
	protocol.SplitSettings
	protocol.Stopping
	Method string    `key:"method"`
	Taus   []float64 `key:"tau,list"`
}

// Fig2Errors compares the errors of PA-ERKLE and batch GNMDS where a batch step is affordable.
var Fig2Errors = experiment.Spec{
	ID:      "erkle2015/fig2-errors",
	Title:   "500 objects: error of PA-ERKLE and of GNMDS with few gradient steps per mini-batch",
	Source:  "Section 5.2, Fig. 2b, at a tenth of its size",
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := protocol.DataSetOf(protocol.Synthetic500)
		s, tau := d.Settings(scale), protocol.TauOf(protocol.Synthetic500, protocol.GNMDSBatch)
		cells := []experiment.Cell{d.Cell(scale, protocol.PAERKLE, ErrorsOnline{s, protocol.PAERKLE}, protocol.MethodVersions)}
		for _, m := range stepMethods {
			cells = append(cells, d.Cell(scale, m.Name, errorsSteps{s, m.Name, stepDeltas, stepTaus}, protocol.MethodVersions))
		}
		many := errorsMany{s, protocol.StopsEarly, gnmdsMany, []float64{tau.Validated, tau.BestOnTest}}
		return append(cells, d.Cell(scale, gnmdsMany, many, protocol.MethodVersions))
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig2ErrorsKinds,
	Columns: fig2ErrorsColumns,
	Trial:   protocol.Measured,
	Views:   fig2ErrorsViews,
	Claims:  fig2ErrorsClaims,
	Choices: stepChoices,
	Cost:    time.Minute,
}

var fig2ErrorsKinds = []experiment.Kind{
	{Name: protocol.SettingRow, Meaning: "a setting that was tried: errors summed over the checkpoints"},
	{Name: protocol.CurveRow, Meaning: "the method with the chosen setting, after so many triplets"},
}

var fig2ErrorsColumns = slices.Concat(experiment.Columns{
	experiment.Text("kind", "what the errors are of"),
	experiment.Text("rule", "how the setting was chosen").In(protocol.CurveRow),
	experiment.Text("delta", "size δ of the gradient steps; 0 of a method without it"),
	experiment.Text("tau", "weight τ of the trace; 0 of a method without it"),
	experiment.Text("triplets", "training triplets seen so far").In(protocol.CurveRow),
}, protocol.ErrorColumns("validation"), protocol.ErrorColumns("test"))

func (p ErrorsOnline) Measure(ctx context.Context, r protocol.SplitRun) error {
	params := protocol.ErkleParams(p.Method)
	var c protocol.Curve
	if err := protocol.RunERKLE(ctx, r.Split, params, r.Seed, r.Checkpoints(), func(seen int, l *triplets.ERKLE) { c.Add(r.Split, seen, l.Kernel()) }); err != nil {
		return err
	}
	r.AddCurve(NoSettings, c)
	return nil
}

func (p errorsMany) Measure(ctx context.Context, r protocol.SplitRun) error {
	var sizes []int
	for i, to := range r.Checkpoints() {
		if (len(r.Checkpoints())-1-i)%manyEvery == 0 { // the last is among them
			sizes = append(sizes, to)
		}
	}
	done := map[float64]protocol.Curve{}
	for i, rule := range []string{ChosenValid, ChosenTest} {
		tau := p.Taus[i]
		c, ok := done[tau]
		if !ok {
			c.Tau = tau
			params := triplets.BatchParams{Method: triplets.BatchAccelerated, Tau: tau, Iterations: p.Iterations, Tol: p.Tol}
			if err := protocol.FitPath(ctx, r.Split, sizes, params, func(seen int, f triplets.BatchResult) { c.Add(r.Split, seen, f.Kernel) }); err != nil {
				return err
			}
			done[tau] = c
		}
		r.AddCurve(rule, c)
	}
	return nil
}

// sum adds up errors over checkpoints.
func sum(counts []protocol.ErrorCount) protocol.ErrorCount {
	var out protocol.ErrorCount
	for _, c := range counts {
		out = protocol.ErrorCount{Wrong: out.Wrong + c.Wrong, Ties: out.Ties + c.Ties, Of: out.Of + c.Of}
	}
	return out
}

// Measure runs a method with the settings of the grids and keeps the curves of those that are best on validation and on test triplets,
// by the errors summed over checkpoints; of equals the first.
func (p errorsSteps) Measure(ctx context.Context, r protocol.SplitRun) error {
	i := slices.IndexFunc(stepMethods, func(m protocol.StepMethod) bool { return m.Name == p.Method })
	if i < 0 {
		return fmt.Errorf("erkle2015: method: %q is not known", p.Method)
	}
	done := map[[2]float64]protocol.Curve{}
	run := func(delta, tau float64) (protocol.Curve, error) {
		if c, ok := done[[2]float64{delta, tau}]; ok {
			return c, nil
		}
		c, err := r.Take(ctx, stepMethods[i], delta, tau)
		if err == nil {
			done[[2]float64{delta, tau}] = c
			r.AddErrors(protocol.SettingRow, "", c, "", sum(c.Validation), sum(c.Test))
		}
		return c, err
	}
	for _, rule := range []string{ChosenValid, ChosenTest} {
		var best protocol.Curve
		least := math.MaxInt
		try := func(delta, tau float64) error {
			c, err := run(delta, tau)
			wrong := sum(c.Validation).Wrong
			if rule == ChosenTest {
				wrong = sum(c.Test).Wrong
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
		delta := best.Delta
		for _, tau := range p.Taus {
			if err := try(delta, tau); err != nil {
				return err
			}
		}
		r.AddCurve(rule, best)
	}
	return nil
}
