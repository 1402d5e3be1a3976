package learning

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// fig1Online are the online methods of Figs. 1a and 1b.
var fig1Online = []string{
	protocol.STEInverse, protocol.STEInverseSqrt, protocol.STEERKLE, protocol.PAERKLE, protocol.GNMDSInverse, protocol.GNMDSRoot, protocol.GNMDSConstant, protocol.PAFrobenius, protocol.STEFrobenius, protocol.PAERKLETen, protocol.STEERKLETen,
}

// fig1Parts is the number of equal parts of the training triplets after which the error is measured.
const fig1Parts = 20

// fig1Passes are the numbers of passes of Fig. 1c: β of ERKLE, and gradient steps of batch methods.
func fig1Passes(scale experiment.Scale) (online, batch []int) {
	if scale == experiment.Smoke {
		return []int{1, 2, 5}, []int{1, 2, 5, 10}
	}
	return []int{1, 2, 5, 10, 20, 50}, []int{1, 2, 5, 10, 20, 50, 100}
}

// fig1Steps are the step sizes of Fig. 1c's batch methods.
var fig1Steps = protocol.List[float64]{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}

// The settings of a cell, which measures what they say.
type fig1OnlinePart struct {
	protocol.SplitSettings
	Parts int   `key:"parts"`
	Sizes []int `key:"sizes,list"`
}

type fig1BatchPart struct {
	protocol.SplitSettings
	protocol.Stopping
	Sizes               []int                `key:"sizes,list"`
	Grids               tauGrids             `key:"τ"`
	ConvergedIterations int                  `key:"iterations to convergence"`
	ConvergedTol        float64              `key:"tolerance of convergence"`
	Chosen              map[string]chosenTau `key:"τ of %v"`
}

type fig1PassesPart struct {
	protocol.SplitSettings
	Passes []int                `key:"passes,list"`
	Steps  []int                `key:"gradient steps,list"`
	Deltas []float64            `key:"step sizes,list"`
	Chosen map[string]chosenTau `key:"τ of %v"`
}

// tauGrids are the weights of the trace to choose from, by batch method.
type tauGrids []tauGridOf

type tauGridOf struct {
	Method string
	Taus   protocol.List[float64]
}

func (g tauGrids) String() string {
	out := make([]string, len(g))
	for i, x := range g {
		out[i] = x.Method + ": " + x.Taus.String()
	}
	return strings.Join(out, "; ")
}

// chosenTau is the weight of the trace under each of tauRules.
type chosenTau [2]float64

var tauRules = []string{protocol.ByValidation, protocol.ByTest}

func (c chosenTau) String() string {
	return table.Format(c[0]) + ", best on test " + table.Format(c[1])
}

// Fig1 compares step rules, ERKLE with batch methods, and passes on the small synthetic data.
var Fig1 = experiment.Spec{
	ID:      "erkle2015/fig1",
	Title:   "ERKLE against batch kernel learning on all comparisons of 100 points",
	Source:  "Section 5.1, Fig. 1",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := protocol.DataSets[0]
		s, sizes := d.Settings(scale), d.Sizes(scale)
		online, steps := fig1Passes(scale)
		var grids tauGrids
		chosen := map[string]chosenTau{}
		for _, b := range d.Batches {
			grids = append(grids, tauGridOf{b.Name, d.Grid(b.Name)})
			c := protocol.TauOf(d.Name, b.Name)
			chosen[b.Name] = chosenTau{c.Validated, c.BestOnTest}
		}
		return []experiment.Cell{
			d.Cell(scale, onlineCell, fig1OnlinePart{s, fig1Parts, sizes}, protocol.MethodVersions),
			d.Cell(scale, batchCell, fig1BatchPart{s, protocol.StopsEarly, sizes, grids, protocol.ConvergedIterations, protocol.ConvergedTol, chosen}, protocol.MethodVersions),
			d.Cell(scale, passesCell, fig1PassesPart{s, online, steps, fig1Steps, chosen}, protocol.MethodVersions),
		}
	},
	Trials:  experiment.Trials(10),
	Columns: fig1Columns,
	Trial:   protocol.Measured,
	Views:   fig1Views,
	Claims:  slices.Concat(Fig1Claims, fig1Afterwards),
	Choices: fig1Choices,
	Cost:    90 * time.Second,
}

var fig1Columns = slices.Concat(experiment.Columns{
	experiment.Text("method", "the online or batch method"),
	experiment.Text("reading", "of a batch method, how τ was chosen or which steps it took"),
	experiment.Text("triplets", "training triplets seen, or fitted to"),
	experiment.Text("passes", "in the cell "+passesCell+": β of ERKLE, or gradient steps of the batch method"),
}, protocol.ErrorColumns("test"), experiment.Columns{
	experiment.Number("iterations", "", "iterations of the batch fit"),
	experiment.Number("residual", "", GapMeaning),
	experiment.Number("converged", "", "1 if the batch fit reached its tolerance, else 0"),
	experiment.Number("rank", "", "rank of the kernel of the batch fit"),
	experiment.Number("tau", "", "weight τ of the trace in the batch fit"),
	experiment.Number("step", "", "size δ of the plain gradient steps, chosen by the reading"),
})

// Measure measures ERKLE after each part of the training triplets, and at the sizes of the batch methods.
func (p fig1OnlinePart) Measure(ctx context.Context, r protocol.SplitRun) error {
	at := slices.Clone(p.Sizes)
	for i := range p.Parts {
		at = append(at, (i+1)*len(r.Split.Train)/p.Parts)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, method := range fig1Online {
		if err := r.Online(ctx, method, 0, at); err != nil {
			return err
		}
	}
	return nil
}

// Measure measures the batch methods at the sizes.
func (p fig1BatchPart) Measure(ctx context.Context, r protocol.SplitRun) error {
	for _, g := range p.Grids {
		b := protocol.BatchOf(g.Method)
		path := func(tau float64, s protocol.Stopping) (out []protocol.Fig1Fit, err error) {
			params := triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.Loss, Tau: tau, Iterations: s.Iterations, Tol: s.Tol}
			if err = protocol.FitPath(ctx, r.Split, p.Sizes, params, func(_ int, f triplets.BatchResult) {
				out = append(out, r.Fitted(f, protocol.ByValidation, table.Values{"tau": tau}))
			}); err != nil {
				err = fmt.Errorf("%s: %w", b.Name, err)
			}
			return out, err
		}
		chosen := p.Chosen[b.Name]
		byReading := map[string][]protocol.Fig1Fit{}
		for _, tau := range g.Taus {
			fits, err := path(tau, p.Stopping)
			if err != nil {
				return err
			}
			for i, reading := range tauRules {
				if tau == chosen[i] {
					byReading[reading] = fits
				}
			}
			if byReading[atEachSize] == nil {
				byReading[atEachSize] = slices.Clone(fits)
			}
			for i, best := range byReading[atEachSize] {
				if fits[i].Wrong < best.Wrong {
					byReading[atEachSize][i] = fits[i]
				}
			}
		}
		fits, err := path(chosen[0], protocol.Stopping{Iterations: p.ConvergedIterations, Tol: p.ConvergedTol})
		if err != nil {
			return err
		}
		byReading[ToConvergence] = fits
		for _, reading := range batchReadings {
			for i, f := range byReading[reading] {
				r.AddBatch(b.Name, reading, p.Sizes[i], 0, f)
			}
		}
	}
	return nil
}

// Measure measures ERKLE with several β, and batch methods after some gradient steps, over all training triplets.
func (p fig1PassesPart) Measure(ctx context.Context, r protocol.SplitRun) error {
	all := len(r.Split.Train)
	for _, pair := range Fig1Pairs {
		for _, beta := range p.Passes {
			if err := r.Online(ctx, pair.Online, beta, []int{all}); err != nil {
				return err
			}
		}
		b, chosen := pair.Batch, p.Chosen[pair.Batch.Name]
		for i, reading := range tauRules {
			if err := p.fixedSteps(ctx, r, b, reading, chosen[i]); err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
		}
		for _, n := range p.Steps {
			f, err := triplets.FitBatch(ctx, r.Split.Objects, r.Split.Train, triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.Loss, Tau: chosen[0], Iterations: n, Tol: protocol.BatchTol})
			if err != nil {
				return fmt.Errorf("%s: %w", b.Name, err)
			}
			r.AddBatch(b.Name, accelerated, all, n, r.Fitted(f, protocol.ByTest, table.Values{"tau": chosen[0]}))
		}
	}
	return nil
}

// fixedSteps adds, for each number of plain gradient steps, the fit whose step size is best on validation or, by the paper's
// rule, on test triplets: the smallest of equals.
func (p fig1PassesPart) fixedSteps(ctx context.Context, r protocol.SplitRun, b protocol.BatchMethod, reading string, tau float64) error {
	best := make([]protocol.Fig1Fit, len(p.Steps))
	for _, delta := range p.Deltas {
		params := triplets.BatchParams{Loss: b.Loss, Tau: tau, Method: triplets.BatchFixed, Delta: delta}
		done := 0
		for i, n := range p.Steps {
			params.Iterations = n - done
			f, err := triplets.FitBatch(ctx, r.Split.Objects, r.Split.Train, params)
			if err != nil {
				return err
			}
			params.Initial, done = f.Kernel, n
			f.Iterations = n
			if fit := r.Fitted(f, reading, table.Values{"tau": tau, "step": delta}); best[i].Kernel == nil || fit.Wrong < best[i].Wrong {
				best[i] = fit
			}
		}
	}
	for i, n := range p.Steps {
		r.AddBatch(b.Name, reading, len(r.Split.Train), n, best[i])
	}
	return nil
}

// What the captions of Fig. 1 say of the data, of errors, and of batch methods.
const (
	Fig1Data  = "The distances of 100 points drawn from N(0, I) in R⁵⁰ answer all 485,100 questions (20 points in R⁵ at smoke scale): 10,000 random triplets train, 1,000 others validate, the remaining 474,100 test. The paper keeps no validation set apart and tests on 475,100."
	ErrorIs   = " The error is the share of test triplets that the kernel does not satisfy, a tie counting as not satisfied."
	fig1Batch = "Batch methods minimise Σ l + τ·trace K with true gradients, accelerated, from the kernel of the size before, the first from I. " +
		"They stop at a residual of 10⁻³ or after 100 iterations, where most fits of GNMDS and STE to many triplets end. Of these two the residual bounds the distance from the minimum in units of the objective of K = 0. " +
		"τ is one per method, from erkle2015/tau, unless it says otherwise. The paper's ran plain gradient descent for up to 1000 iterations."
	// NinePasses explains "10 passes".
	NinePasses = " ERKLE begins at K₀ = I. With 10 passes it makes, after each triplet, 9 more updates with random earlier ones."
)

// howFar says how the fits of a reading to all triplets ended; the methods' residuals are of one trial each.
func howFar(t *table.Table, reading string) string {
	var out []string
	for _, b := range protocol.Batches {
		g := t.Where("reading", reading, "method", b.Name, "passes", "", "triplets", strconv.Itoa(LastSize(t)))
		if g.Len() == 0 {
			continue
		}
		reached, residuals := 0.0, g.Values("residual")
		for _, c := range g.Values("converged") {
			reached += c
		}
		out = append(out, fmt.Sprintf("%s %.0f of %d (residuals from %.2g to %.2g)", b.Name, reached, g.Len(), slices.Min(residuals), slices.Max(residuals)))
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf(" Of the fits to all triplets, %s, these reached the residual: %s.", reading, strings.Join(out, ", "))
}

var fig1Views = []experiment.View{
	{Name: "fig1a", Title: "Fig. 1a: ERKLE by its step rule", Draw: frame.View{
		Of: []string{"cell", onlineCell}, Missing: "any trial",
		Panels: atSizes(fig1Parted, frame.Each(
			fig1Panel("as in the paper", "", protocol.STEInverse, protocol.STEInverseSqrt, protocol.STEERKLE, protocol.PAERKLE),
			fig1Panel("with the hinge loss", "", protocol.GNMDSInverse, protocol.GNMDSRoot, protocol.GNMDSConstant, protocol.PAERKLE),
			fig1Panel("forms of the gradient", "", protocol.STEERKLE, protocol.STEFrobenius, protocol.PAERKLE, protocol.PAFrobenius),
		)),
		Caption: frame.Says("Test error of ERKLE against the number of triplets seen."+ErrorIs, Fig1Data, "From K₀ = I, one update per triplet. Step sizes δ fall as 1/j or 1/√j, are constantly 1, or passive-aggressive (PA, margin 1). The paper does not say which loss the falling step sizes have: the second panel has the hinge. Third: the true gradient of the squared distances in place of the paper's printed matrix G.", ""),
	}.Draw},
	{Name: "fig1b", Title: "Fig. 1b: ERKLE and batch methods against triplets seen", Draw: fig1bView(func(t *table.Table) string {
		return fig1Batch + howFar(t, protocol.ByTest) + NinePasses
	}, fig1bPanel("τ best on test, as in the paper", protocol.ByTest, false), fig1bPanel("the same on logarithmic axes", protocol.ByTest, true)).Draw},
	{Name: "fig1b-readings", Title: "Fig. 1b under other rules for τ, and with fits that run on", Draw: fig1bView(func(t *table.Table) string {
		reached := ""
		if c := t.Where("reading", protocol.ByValidation, "passes", "").Values("converged"); len(c) > 0 {
			reached = fmt.Sprintf(" Of the fits of the first panel, %.0f %% reached the residual.", frame.Percent.Mean(c))
		}
		return fig1Batch + " A sum of losses wants a τ that grows with the triplets: in the second panel each size has the one with the least validation error of its trial. In the third the residual asked for is 10⁻⁴, the cap 1000 iterations." + reached + howFar(t, ToConvergence) + NinePasses
	}, fig1bPanel(protocol.ByValidation, protocol.ByValidation, true), fig1bPanel(atEachSize, atEachSize, true), fig1bPanel(ToConvergence, ToConvergence, true)).Draw},
	{Name: "fig1c", Title: "Fig. 1c: error against passes over all triplets", Draw: frame.View{
		Of: []string{"cell", passesCell}, Columns: 2, Missing: "any trial",
		Panels: frame.Each(fig1cPanel("gradient steps δ best on test, as in the paper", protocol.ByTest), fig1cPanel("accelerated steps", accelerated)),
		Caption: frame.Says("Test error after all training triplets against the number of passes: β of ERKLE, full gradient steps of the batch methods."+ErrorIs, Fig1Data, "Left: the step size of the batch methods is, for each number of steps, the best of "+fig1Steps.String()+
			" on test triplets (the paper's rule); fig1-final has those chosen on validation triplets. Right: accelerated steps with a step size found by line search. All begin at K = I. τ as in Fig. 1b.", ""),
	}.Draw},
	{Name: "fig1-final", Title: "Errors after all triplets", Draw: frame.View{
		From: func(t *table.Table) *table.Table { return t.Where("triplets", strconv.Itoa(LastSize(t))) },
		Text: &frame.Text{By: []string{"cell", "", "method", "method", "reading", "reading", "passes", "passes or steps"}, Cells: []frame.Cell{
			frame.WithInterval("test error (%)", protocol.TestErrors, frame.Band{}), frame.WithInterval("ties count half (%)", protocol.TestHalf, frame.Band{}), valueRange("step δ", "step"),
		}},
		Caption: frame.Says("Test errors after all training triplets: of Figs. 1a and 1b where no number of passes is given, and of Fig. 1c; with the step sizes of its gradient steps."+ErrorIs, Fig1Data, "", ""), Missing: "any trial",
	}.Draw},
	{Name: "fig1-stopping", Title: "Iterations, stopping and rank of the batch methods of Fig. 1b", Draw: experiment.WithEnds(frame.View{
		Text: &frame.Text{By: []string{"method", "method", "reading", "reading", "triplets", "triplets"}, Cells: []frame.Cell{
			valueRange("τ", "tau"), frame.Of("iterations", frame.Column("iterations"), frame.Band{}, "%.0f"), frame.Of("converged (%)", frame.Column("converged"), frame.Percent, "%.0f"),
			{Head: "largest residual", Of: func(g *table.Table) string { return fmt.Sprintf("%.2g", slices.Max(g.Values("residual"))) }},
			frame.Of("rank", frame.Column("rank"), frame.Band{}, "%.1f"), frame.WithInterval("test error (%)", protocol.TestErrors, frame.Band{}),
		}},
		Of:      []string{"cell", batchCell},
		Caption: frame.Says("How the fits of Fig. 1b ended: mean iterations, the share that reached the residual of 10⁻³ before the cap, the largest residual, the mean rank of the kernel and its error."+ErrorIs, Fig1Data, fig1Batch, ""), Missing: "any fit",
	}.Draw, fig1Choices)},
}

// fig1Panel has the errors of methods against triplets, of batch methods by one reading.
func fig1Panel(title, reading string, methods ...string) frame.Panel {
	p := fig1Curves(title, "triplets", "triplets seen", reading, methods)
	for i := range p.Of {
		p.Of[i] = p.Of[i].Where("passes", "")
	}
	return p
}

// fig1bPanel has all methods on logarithmic axes, or on the paper's.
func fig1bPanel(title, reading string, log bool) frame.Panel {
	p := fig1Panel(title, reading, AllMethods...)
	p.XLog, p.YLog, p.YMin, p.YMax = log, log, 10, 50
	return p
}

func fig1cPanel(title, reading string) frame.Panel {
	p := fig1Curves(title, "passes", "passes, or gradient steps", reading, []string{protocol.PAERKLE, protocol.STEERKLE, protocol.GNMDSBatch, protocol.STEBatch})
	p.XLog = true
	return p
}

// fig1Curves has the errors of methods against a column, of batch methods by one reading.
func fig1Curves(title, x, label, reading string, methods []string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: label, YLabel: "test error (%)"}, Of: frame.Lines("method", protocol.Mapped(methods, protocol.Styles.Line), x, protocol.TestErrors, frame.Percent)}
	for i, method := range methods {
		of := ""
		if IsBatch(method) {
			of = reading
		}
		p.Of[i] = p.Of[i].Where("reading", of)
	}
	return p
}

// fig1bView is a view of panels at the sizes of the batch methods.
func fig1bView(about func(t *table.Table) string, panels ...frame.Panel) frame.View {
	return frame.View{
		Columns: 1, Missing: "any trial",
		Panels: atSizes(func(t *table.Table) []string { return t.Where("cell", batchCell).Unique("triplets") }, frame.Each(panels...)),
		Caption: func(t *table.Table) plots.Caption {
			return frame.Says("Test error against the number of triplets seen."+ErrorIs, Fig1Data, about(t), "")(t)
		},
	}
}

// atSizes are the panels of the rows with some numbers of triplets.
func atSizes(sizes func(t *table.Table) []string, of frame.Panels) frame.Panels {
	return func(t *table.Table) []plots.Panel { return of(frame.Only("triplets", sizes(t)...)(t)) }
}

// fig1Parted are the numbers of triplets after each part of them.
func fig1Parted(t *table.Table) []string {
	last := LastSize(t)
	return slices.DeleteFunc(slices.Clone(t.Unique("triplets")), func(cell string) bool { return protocol.Count("triplets", cell)*fig1Parts%last != 0 })
}

// valueRange is a column with settings that may differ between trials; empty of rows without one.
func valueRange(head, column string) frame.Cell {
	return frame.Cell{Head: head, Of: func(g *table.Table) string {
		v := g.Values(column)
		low, high := slices.Min(v), slices.Max(v)
		if low == high || low != low {
			return table.Format(low)
		}
		return table.Format(low) + " to " + table.Format(high)
	}}
}

// AllMethods are those of a figure, in the order of its legend.
var AllMethods = slices.Concat(protocol.ERKLEs, BatchNames)

// ChoicesOf are the choices of the rows of each combination of cells of some columns, but those that nothing was chosen for.
func ChoicesOf(of func(cells []string, g *table.Table) []experiment.Choice, columns ...string) func(*table.Table) []experiment.Choice {
	return func(t *table.Table) (out []experiment.Choice) {
		for cells, g := range t.Groups(columns...) {
			out = append(out, slices.DeleteFunc(of(cells, g), func(c experiment.Choice) bool { return len(c.Chosen) == 0 })...)
		}
		return out
	}
}

// fig1Choices are what each trial of Fig. 1 chose: the weight of the trace at each size, and the size of plain gradient
// steps for each number of them, on validation or on test triplets.
func fig1Choices(t *table.Table) []experiment.Choice {
	return slices.Concat(fig1Taus(t.Where("cell", batchCell, "reading", atEachSize)), fig1Deltas(t.Where("cell", passesCell)))
}

var (
	fig1Taus = ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
		return []experiment.Choice{{What: cells[0] + ", " + cells[1] + " triplets: τ", Grid: protocol.DataSets[0].Grid(cells[0]), Chosen: g.Values("tau")}}
	}, "method", "triplets")
	fig1Deltas = ChoicesOf(func(cells []string, g *table.Table) []experiment.Choice {
		on := map[string]string{protocol.ByValidation: "validation", protocol.ByTest: "test"}[cells[1]]
		if on == "" || !IsBatch(cells[0]) {
			return nil
		}
		return []experiment.Choice{{What: cells[0] + ", gradient steps: " + cells[2] + ", on " + on + " triplets: δ", Grid: fig1Steps, Chosen: g.Values("step")}}
	}, "method", "reading", "passes")
)

// IsBatch reports whether a method has a τ.
func IsBatch(method string) bool { return slices.Contains(BatchNames, method) }

// GapMeaning says what the residual of a batch fit is.
const GapMeaning = "bound on how far the objective of a batch fit is from its minimum (CKL: of its linearisation), in units of the objective of K = 0"
