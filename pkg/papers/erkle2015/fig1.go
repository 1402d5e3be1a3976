package erkle2015

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// The cells of Fig. 1. They see the same split in a trial.
const (
	onlineCell = "online" // ERKLE against triplets seen
	batchCell  = "batch"  // batch methods against triplets seen
	passesCell = "passes" // both against passes over all triplets
)

// Methods of Fig. 1 beside those of all figures: other step rules, and other readings of the gradient.
const (
	steInverse     = "STE-ERKLE, δ = 1/j"
	steInverseSqrt = "STE-ERKLE, δ = 1/√j"
	gnmdsInverse   = "GNMDS-ERKLE, δ = 1/j"
	gnmdsRoot      = "GNMDS-ERKLE, δ = 1/√j"
	gnmdsConstant  = "GNMDS-ERKLE, δ = 1"
	paFrobenius    = "PA-ERKLE, Frobenius gradient"
	steFrobenius   = "STE-ERKLE, Frobenius gradient"
)

// fig1Online are the online methods of Figs. 1a and 1b.
var fig1Online = []string{
	steInverse, steInverseSqrt, steERKLE, paERKLE, gnmdsInverse, gnmdsRoot, gnmdsConstant, paFrobenius, steFrobenius, paERKLETen, steERKLETen,
}

// The readings of the batch methods beside byValidation and byTest.
const (
	atEachSize    = "τ by validation at each size"
	toConvergence = "τ by validation, up to 1000 iterations"
	accelerated   = "accelerated"
)

// batchReadings are the readings of the batch methods of Fig. 1b.
var batchReadings = []string{byValidation, byTest, atEachSize, toConvergence}

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
var fig1Steps = list[float64]{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}

// fig1Pairs are the online methods of Fig. 1c, each with the batch method of its loss.
var fig1Pairs = []struct {
	online string
	batch  batchMethod
}{{paERKLE, batches[0]}, {steERKLE, batches[1]}}

// The settings of a cell, which measures what they say.
type fig1OnlinePart struct {
	splitSettings
	Parts int   `key:"parts"`
	Sizes []int `key:"sizes,list"`
}

type fig1BatchPart struct {
	splitSettings
	stopping
	Sizes               []int                `key:"sizes,list"`
	Grids               tauGrids             `key:"τ"`
	ConvergedIterations int                  `key:"iterations to convergence"`
	ConvergedTol        float64              `key:"tolerance of convergence"`
	Chosen              map[string]chosenTau `key:"τ of %v"`
}

type fig1PassesPart struct {
	splitSettings
	Passes []int                `key:"passes,list"`
	Steps  []int                `key:"gradient steps,list"`
	Deltas []float64            `key:"step sizes,list"`
	Chosen map[string]chosenTau `key:"τ of %v"`
}

// tauGrids are the weights of the trace to choose from, by batch method.
type tauGrids []tauGridOf

type tauGridOf struct {
	Method string
	Taus   list[float64]
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

var tauRules = []string{byValidation, byTest}

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
		d := dataSets[0]
		s, sizes := d.settings(scale), d.sizes(scale)
		online, steps := fig1Passes(scale)
		var grids tauGrids
		chosen := map[string]chosenTau{}
		for _, b := range d.batches {
			grids = append(grids, tauGridOf{b.name, d.grid(b.name)})
			c := tauOf(d.name, b.name)
			chosen[b.name] = chosenTau{c.validated, c.bestOnTest}
		}
		cell := func(name string, part any) experiment.Cell {
			return experiment.Cell{Name: name, Dataset: d.datasetAt(scale), Settings: part, Methods: methodVersions}
		}
		return []experiment.Cell{
			cell(onlineCell, fig1OnlinePart{s, fig1Parts, sizes}),
			cell(batchCell, fig1BatchPart{s, stopsEarly, sizes, grids, convergedIterations, convergedTol, chosen}),
			cell(passesCell, fig1PassesPart{s, online, steps, fig1Steps, chosen}),
		}
	},
	Trials:  experiment.Trials(10),
	Columns: fig1Columns,
	Trial:   measured,
	Views:   fig1Views,
	Claims:  slices.Concat(fig1Claims, fig1Afterwards),
	Choices: fig1Choices,
	Cost:    90 * time.Second,
}

var fig1Columns = slices.Concat(experiment.Columns{
	experiment.Text("method", "the online or batch method"),
	experiment.Text("reading", "of a batch method, how τ was chosen or which steps it took"),
	experiment.Text("triplets", "training triplets seen, or fitted to"),
	experiment.Text("passes", "in the cell "+passesCell+": β of ERKLE, or gradient steps of the batch method"),
}, errorColumns("test"), experiment.Columns{
	experiment.Number("iterations", "", "iterations of the batch fit"),
	experiment.Number("residual", "", gapMeaning),
	experiment.Number("converged", "", "1 if the batch fit reached its tolerance, else 0"),
	experiment.Number("rank", "", "rank of the kernel of the batch fit"),
	experiment.Number("tau", "", "weight τ of the trace in the batch fit"),
	experiment.Number("step", "", "size δ of the plain gradient steps, chosen by the reading"),
})

// online measures an ERKLE method with β passes, or with its own number if that is 0.
func (r splitRun) online(ctx context.Context, method string, beta int, checkpoints []int) error {
	p, err := erkleParams(method)
	if err != nil {
		return err
	}
	passes := ""
	if beta > 0 {
		p.Beta, passes = beta, strconv.Itoa(beta)
	}
	if err := runERKLE(ctx, r.split, p, r.Seed, checkpoints, func(seen int, l *triplets.ERKLE) {
		v := table.Values{}
		r.split.testErrors(l.Kernel()).put(v, "test")
		r.Rows.Add(table.Key{"method": method, "triplets": strconv.Itoa(seen), "passes": passes}, v)
	}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// measure measures ERKLE after each part of the training triplets, and at the sizes of the batch methods.
func (p fig1OnlinePart) measure(ctx context.Context, r splitRun) error {
	at := slices.Clone(p.Sizes)
	for i := range p.Parts {
		at = append(at, (i+1)*len(r.split.train)/p.Parts)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, method := range fig1Online {
		if err := r.online(ctx, method, 0, at); err != nil {
			return err
		}
	}
	return nil
}

// fig1Fit is a batch fit with its settings as columns, its test errors, and the number of errors by which it is chosen.
type fig1Fit struct {
	triplets.BatchResult
	settings table.Values
	test     errorCount
	wrong    int
}

// fitted is a fit that is chosen by its errors on validation or, by the paper's rule, on test triplets.
func (r splitRun) fitted(f triplets.BatchResult, reading string, settings table.Values) fig1Fit {
	out := fig1Fit{f, settings, r.split.testErrors(f.Kernel), 0}
	if out.wrong = out.test.wrong; reading != byTest {
		out.wrong = errorsOf(f.Kernel, r.split.validation).wrong
	}
	return out
}

// addBatch adds the row of a fit.
func (r splitRun) addBatch(method, reading string, seen, passes int, f fig1Fit) {
	v := table.Values{"iterations": float64(f.Iterations), "residual": f.Residual, "converged": 0, "rank": float64(f.Rank)}
	maps.Copy(v, f.settings)
	if f.Status == learners.Converged {
		v["converged"] = 1
	}
	f.test.put(v, "test")
	key := table.Key{"method": method, "reading": reading, "triplets": strconv.Itoa(seen)}
	if passes > 0 {
		key["passes"] = strconv.Itoa(passes)
	}
	r.Rows.Add(key, v)
}

// measure measures the batch methods at the sizes.
func (p fig1BatchPart) measure(ctx context.Context, r splitRun) error {
	for _, g := range p.Grids {
		b, err := batchOf(g.Method)
		if err != nil {
			return err
		}
		path := func(tau float64, s stopping) (out []fig1Fit, err error) {
			params := triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.loss, Tau: tau, Iterations: s.Iterations, Tol: s.Tol}
			if err = fitPath(ctx, r.split, p.Sizes, params, func(_ int, f triplets.BatchResult) {
				out = append(out, r.fitted(f, byValidation, table.Values{"tau": tau}))
			}); err != nil {
				err = fmt.Errorf("%s: %w", b.name, err)
			}
			return out, err
		}
		chosen := p.Chosen[b.name]
		byReading := map[string][]fig1Fit{}
		for _, tau := range g.Taus {
			fits, err := path(tau, p.stopping)
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
				if fits[i].wrong < best.wrong {
					byReading[atEachSize][i] = fits[i]
				}
			}
		}
		if byReading[toConvergence], err = path(chosen[0], stopping{p.ConvergedIterations, p.ConvergedTol}); err != nil {
			return err
		}
		for _, reading := range batchReadings {
			for i, f := range byReading[reading] {
				r.addBatch(b.name, reading, p.Sizes[i], 0, f)
			}
		}
	}
	return nil
}

// measure measures ERKLE with several β, and batch methods after some gradient steps, over all training triplets.
func (p fig1PassesPart) measure(ctx context.Context, r splitRun) error {
	all := len(r.split.train)
	for _, pair := range fig1Pairs {
		for _, beta := range p.Passes {
			if err := r.online(ctx, pair.online, beta, []int{all}); err != nil {
				return err
			}
		}
		b, chosen := pair.batch, p.Chosen[pair.batch.name]
		for i, reading := range tauRules {
			if err := p.fixedSteps(ctx, r, b, reading, chosen[i]); err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
		}
		for _, n := range p.Steps {
			f, err := triplets.FitBatch(ctx, r.split.objects, r.split.train, triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.loss, Tau: chosen[0], Iterations: n, Tol: batchTol})
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			r.addBatch(b.name, accelerated, all, n, r.fitted(f, byTest, table.Values{"tau": chosen[0]}))
		}
	}
	return nil
}

// fixedSteps adds, for each number of plain gradient steps, the fit whose step size is best on validation or, by the paper's
// rule, on test triplets: the smallest of equals.
func (p fig1PassesPart) fixedSteps(ctx context.Context, r splitRun, b batchMethod, reading string, tau float64) error {
	best := make([]fig1Fit, len(p.Steps))
	for _, delta := range p.Deltas {
		params := triplets.BatchParams{Loss: b.loss, Tau: tau, Method: triplets.BatchFixed, Delta: delta}
		done := 0
		for i, n := range p.Steps {
			params.Iterations = n - done
			f, err := triplets.FitBatch(ctx, r.split.objects, r.split.train, params)
			if err != nil {
				return err
			}
			params.Initial, done = f.Kernel, n
			f.Iterations = n
			if fit := r.fitted(f, reading, table.Values{"tau": tau, "step": delta}); best[i].Kernel == nil || fit.wrong < best[i].wrong {
				best[i] = fit
			}
		}
	}
	for i, n := range p.Steps {
		r.addBatch(b.name, reading, len(r.split.train), n, best[i])
	}
	return nil
}

const fig1Setup = "100 points drawn from N(0, I) in R⁵⁰ answer all 485,100 comparisons by their distances (20 points in R⁵ at smoke scale); 10,000 random ones train, 1,000 others validate, the remaining 474,100 test (the paper keeps no validation set apart and tests on 475,100). " +
	"The error is the share of test triplets that the kernel does not satisfy, a tie counting as not satisfied. K₀ = I."

// howFar says how the fits of a reading to all triplets ended; the methods' residuals are of one trial each.
func howFar(t *table.Table, reading string) string {
	var out []string
	for _, b := range batches {
		g := t.Where("reading", reading, "method", b.name, "passes", "", "triplets", strconv.Itoa(lastSize(t)))
		if g.Len() == 0 {
			continue
		}
		reached, residuals := 0.0, g.Values("residual")
		for _, c := range g.Values("converged") {
			reached += c
		}
		out = append(out, fmt.Sprintf("%s %.0f of %d (residuals from %.2g to %.2g)", b.name, reached, g.Len(), slices.Min(residuals), slices.Max(residuals)))
	}
	if len(out) == 0 {
		return ""
	}
	return fmt.Sprintf(" Of the fits to all triplets, %s, these reached the residual: %s.", reading, strings.Join(out, ", "))
}

const fig1Batch = "Batch methods minimise Σ l + τ·trace K with true gradients, accelerated, from the kernel of the size before, until the residual is 10⁻³ (GNMDS and STE: a bound on the distance from the minimum in units of the objective of K = 0) or after 100 iterations, where most fits of GNMDS and STE to many triplets end; with one τ per method from erkle2015/tau unless it says otherwise. The paper's ran plain gradient descent for up to 1000 iterations."

// ninePasses explains "10 passes" of Fig. 1b.
const ninePasses = " With 10 passes ERKLE makes, after each triplet, 9 more updates with random earlier ones."

var fig1Views = []experiment.View{
	{Name: "fig1a", Title: "Fig. 1a: ERKLE by its step rule", Draw: frame.View{
		Of: []string{"cell", onlineCell}, Columns: 3, Missing: "any trial",
		Panels: atSizes(fig1Parted, frame.Each(
			fig1Panel("as in the paper", "", steInverse, steInverseSqrt, steERKLE, paERKLE),
			fig1Panel("with the hinge loss", "", gnmdsInverse, gnmdsRoot, gnmdsConstant, paERKLE),
			fig1Panel("forms of the gradient", "", steERKLE, steFrobenius, paERKLE, paFrobenius),
		)),
		Caption: frame.Says("Test error of ERKLE against the number of triplets seen, one update per triplet. Step sizes δ fall as 1/j or 1/√j, are constantly 1, or passive-aggressive (PA, margin 1). The paper does not say which loss the falling step sizes have: the second panel has the hinge. Third: the true gradient of the squared distances in place of the paper's printed matrix G.", fig1Setup, "", ""),
	}.Draw},
	{Name: "fig1b", Title: "Fig. 1b: ERKLE and batch methods against triplets seen", Draw: fig1bView(func(t *table.Table) string {
		return fig1Batch + " In the second panel the residual asked for is 10⁻⁴, the cap 1000 iterations." + howFar(t, byTest) + howFar(t, toConvergence) + ninePasses
	}, fig1bPanel(byTest+" (the paper's rule)", byTest), fig1bPanel(toConvergence, toConvergence)).Draw},
	{Name: "fig1b-readings", Title: "Fig. 1b under two more rules for τ", Draw: fig1bView(func(t *table.Table) string {
		reached := ""
		if c := t.Where("reading", byValidation, "passes", "").Values("converged"); len(c) > 0 {
			reached = fmt.Sprintf(" Of the fits of the first panel, %.0f %% reached the residual.", frame.Percent.Mean(c))
		}
		return fig1Batch + " A sum of losses wants a τ that grows with the triplets: in the second panel each size has the one with the least validation error of its trial." + reached + ninePasses
	}, fig1bPanel(byValidation, byValidation), fig1bPanel(atEachSize, atEachSize)).Draw},
	{Name: "fig1c", Title: "Fig. 1c: error against passes over all triplets", Draw: frame.View{
		Of: []string{"cell", passesCell}, Columns: 3, Missing: "any trial",
		Panels: frame.Each(
			fig1cPanel("gradient steps δ by validation", byValidation), fig1cPanel("gradient steps δ best on test", byTest), fig1cPanel("accelerated steps", accelerated),
		),
		Caption: frame.Says("Test error after all training triplets against the number of passes: β of ERKLE, full gradient steps of the batch methods. Their step size is, for each number of steps, the best of "+fig1Steps.String()+
			" on validation triplets, or on test triplets (the paper's rule); in the third panel, accelerated steps with a step size found by line search. τ as in Fig. 1b.", fig1Setup, "", ""),
	}.Draw},
	{Name: "fig1-final", Title: "Errors after all triplets", Draw: frame.View{
		From: func(t *table.Table) *table.Table { return t.Where("triplets", strconv.Itoa(lastSize(t))) },
		Text: &frame.Text{By: []string{"cell", "", "method", "method", "reading", "reading", "passes", "passes or steps"}, Cells: []frame.Cell{
			frame.WithInterval("test error (%)", testErrors, frame.Band{}), frame.WithInterval("ties count half (%)", testHalf, frame.Band{}), valueRange("step δ", "step"),
		}},
		Caption: frame.Says("Test errors after all training triplets: of Figs. 1a and 1b where no number of passes is given, and of Fig. 1c; with the step sizes of its gradient steps.", fig1Setup, "", ""), Missing: "any trial",
	}.Draw},
	{Name: "fig1-stopping", Title: "Iterations, stopping and rank of the batch methods of Fig. 1b", Draw: experiment.WithEnds(frame.View{
		Text: &frame.Text{By: []string{"method", "method", "reading", "reading", "triplets", "triplets"}, Cells: []frame.Cell{
			valueRange("τ", "tau"), frame.Of("iterations", frame.Column("iterations"), frame.Band{}, "%.0f"), frame.Of("converged (%)", frame.Column("converged"), frame.Percent, "%.0f"),
			{Head: "largest residual", Of: func(g *table.Table) string { return fmt.Sprintf("%.2g", slices.Max(g.Values("residual"))) }},
			frame.Of("rank", frame.Column("rank"), frame.Band{}, "%.1f"), frame.WithInterval("test error (%)", testErrors, frame.Band{}),
		}},
		Of:      []string{"cell", batchCell},
		Caption: frame.Says("How the fits of Fig. 1b ended: mean iterations, the share that reached the residual of 10⁻³ before the cap, the largest residual, the mean rank of the kernel and its error.", "", fig1Batch+" "+fig1Setup, ""), Missing: "any fit",
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

// fig1bPanel has a logarithmic axis from 10 % and names at the lines' ends.
func fig1bPanel(title, reading string) frame.Panel {
	p := fig1Panel(title, reading, allMethods...)
	p.XLog, p.YLog, p.YMin, p.YMax, p.Direct = true, true, 10, 50, true
	return p
}

func fig1cPanel(title, reading string) frame.Panel {
	p := fig1Curves(title, "passes", "passes, or gradient steps", reading, []string{paERKLE, steERKLE, gnmdsBatch, steBatch})
	p.XLog = true
	return p
}

// fig1Curves has the errors of methods against a column, of batch methods by one reading.
func fig1Curves(title, x, label, reading string, methods []string) frame.Panel {
	p := frame.Panel{Panel: plots.Panel{Title: title, XLabel: label, YLabel: "test error (%)"}, Of: frame.Lines("method", stylesOf(methods), x, testErrors, frame.Percent)}
	for i, method := range methods {
		of := ""
		if isBatch(method) {
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
		Panels:  atSizes(func(t *table.Table) []string { return t.Where("cell", batchCell).Unique("triplets") }, frame.Each(panels...)),
		Caption: saysOf(about, fig1Setup, ""),
	}
}

// atSizes are the panels of the rows with some numbers of triplets.
func atSizes(sizes func(t *table.Table) []string, of frame.Panels) frame.Panels {
	return func(t *table.Table) []plots.Panel { return of(frame.Only("triplets", sizes(t)...)(t)) }
}

// fig1Parted are the numbers of triplets after each part of them.
func fig1Parted(t *table.Table) []string {
	last := lastSize(t)
	return slices.DeleteFunc(slices.Clone(t.Unique("triplets")), func(cell string) bool { return count("triplets", cell)*fig1Parts%last != 0 })
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
