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
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
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

// fig1Part are the settings of a cell, which measures what they say.
type fig1Part interface {
	draws() splitSettings
	measure(ctx context.Context, r fig1Run) error
}

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
		cell := func(name string, part fig1Part) experiment.Cell {
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
	Trial:   fig1Trial,
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

func fig1Trial(ctx context.Context, run *experiment.Run) error {
	part := run.Cell.Settings.(fig1Part)
	s, err := splitOf(run.Env, part.draws(), run.Seed)
	if err != nil {
		return err
	}
	r := fig1Run{split: s, seed: run.Seed, rows: run.Rows}
	return part.measure(ctx, r)
}

// fig1Run is a trial that fills its table.
type fig1Run struct {
	split split
	seed  random.Seed
	rows  *table.Table
}

// online measures an ERKLE method with β passes, or with its own number if that is 0.
func (r fig1Run) online(ctx context.Context, method string, beta int, checkpoints []int) error {
	p, err := erkleParams(method)
	if err != nil {
		return err
	}
	passes := ""
	if beta > 0 {
		p.Beta, passes = beta, strconv.Itoa(beta)
	}
	if err := runERKLE(ctx, r.split, p, r.seed, checkpoints, func(seen int, l *triplets.ERKLE) {
		v := table.Values{}
		r.split.testErrors(l.Kernel()).put(v, "test")
		r.rows.Add(table.Key{"method": method, "triplets": strconv.Itoa(seen), "passes": passes}, v)
	}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// measure measures ERKLE after each part of the training triplets, and at the sizes of the batch methods.
func (p fig1OnlinePart) measure(ctx context.Context, r fig1Run) error {
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

// addBatch adds the row of a fit.
func (r fig1Run) addBatch(method, reading string, seen, passes int, b triplets.BatchResult, test errorCount, settings table.Values) {
	v := table.Values{"iterations": float64(b.Iterations), "residual": b.Residual, "converged": 0, "rank": float64(b.Rank)}
	maps.Copy(v, settings)
	if b.Status == learners.Converged {
		v["converged"] = 1
	}
	test.put(v, "test")
	key := table.Key{"method": method, "reading": reading, "triplets": strconv.Itoa(seen)}
	if passes > 0 {
		key["passes"] = strconv.Itoa(passes)
	}
	r.rows.Add(key, v)
}

// measure measures the batch methods at the sizes.
func (p fig1BatchPart) measure(ctx context.Context, r fig1Run) error {
	type fit struct {
		triplets.BatchResult
		tau   float64
		test  errorCount
		wrong int // of the validation triplets
	}
	for _, g := range p.Grids {
		b, err := batchOf(g.Method)
		if err != nil {
			return err
		}
		path := func(tau float64, s stopping) (out []fit, err error) {
			err = fitPath(ctx, r.split, p.Sizes, triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.loss, Tau: tau, Iterations: s.Iterations, Tol: s.Tol}, func(_ int, f triplets.BatchResult) {
				out = append(out, fit{f, tau, r.split.testErrors(f.Kernel), errorsOf(f.Kernel, r.split.validation).wrong})
			})
			if err != nil {
				err = fmt.Errorf("%s: %w", b.name, err)
			}
			return out, err
		}
		chosen := p.Chosen[b.name]
		byReading := map[string][]fit{}
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
			best := byReading[atEachSize]
			if best == nil {
				best = slices.Clone(fits)
			}
			for i, f := range fits {
				if f.wrong < best[i].wrong {
					best[i] = f
				}
			}
			byReading[atEachSize] = best
		}
		if byReading[toConvergence], err = path(chosen[0], stopping{p.ConvergedIterations, p.ConvergedTol}); err != nil {
			return err
		}
		for _, reading := range batchReadings {
			for i, f := range byReading[reading] {
				r.addBatch(b.name, reading, p.Sizes[i], 0, f.BatchResult, f.test, table.Values{"tau": f.tau})
			}
		}
	}
	return nil
}

// measure measures ERKLE with several β, and batch methods after some gradient steps, over all training triplets.
func (p fig1PassesPart) measure(ctx context.Context, r fig1Run) error {
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
			r.addBatch(b.name, accelerated, all, n, f, r.split.testErrors(f.Kernel), table.Values{"tau": chosen[0]})
		}
	}
	return nil
}

// fixedSteps adds, for each number of plain gradient steps, the fit whose step size is best on validation or, by the paper's
// rule, on test triplets: the smallest of equals.
func (p fig1PassesPart) fixedSteps(ctx context.Context, r fig1Run, b batchMethod, reading string, tau float64) error {
	type fit struct {
		triplets.BatchResult
		test  errorCount
		step  float64
		wrong int
	}
	best := make([]fit, len(p.Steps))
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
			test := r.split.testErrors(f.Kernel)
			wrong := errorsOf(f.Kernel, r.split.validation).wrong
			if reading == byTest {
				wrong = test.wrong
			}
			if best[i].Kernel == nil || wrong < best[i].wrong {
				best[i] = fit{f, test, delta, wrong}
			}
		}
	}
	for i, n := range p.Steps {
		r.addBatch(b.name, reading, len(r.split.train), n, best[i].BatchResult, best[i].test, table.Values{"tau": tau, "step": best[i].step})
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

var fig1Views = []experiment.View{
	{Name: "fig1a", Title: "Fig. 1a: ERKLE by its step rule", Draw: func(t *table.Table) (plots.Drawing, error) {
		last := lastSize(t)
		part := func(seen int) bool { return seen*fig1Parts%last == 0 }
		return drawFig1(t.Where("cell", onlineCell), "triplets", "triplets seen", part, false, []fig1Panel{
			{"as in the paper", "", []string{steInverse, steInverseSqrt, steERKLE, paERKLE}},
			{"with the hinge loss", "", []string{gnmdsInverse, gnmdsRoot, gnmdsConstant, paERKLE}},
			{"forms of the gradient", "", []string{steERKLE, steFrobenius, paERKLE, paFrobenius}},
		}, "Test error of ERKLE against the number of triplets seen, one update per triplet. Step sizes δ fall as 1/j or 1/√j, are constantly 1, or passive-aggressive (PA, margin 1). The paper does not say which loss the falling step sizes have: the second panel has the hinge. Third: the true gradient of the squared distances in place of the paper's printed matrix G.")
	}},
	{Name: "fig1b", Title: "Fig. 1b: ERKLE and batch methods against triplets seen", Draw: func(t *table.Table) (plots.Drawing, error) {
		sizes := t.Where("cell", batchCell).Unique("triplets")
		fitted := func(seen int) bool { return slices.Contains(sizes, strconv.Itoa(seen)) }
		return logErrors(drawFig1(t, "triplets", "triplets seen", fitted, true, []fig1Panel{
			{byTest + " (the paper's rule)", byTest, allMethods},
			{toConvergence, toConvergence, allMethods},
		}, fig1Batch+" In the second panel the residual asked for is 10⁻⁴, the cap 1000 iterations."+howFar(t, byTest)+howFar(t, toConvergence)+ninePasses))
	}},
	{Name: "fig1b-readings", Title: "Fig. 1b under two more rules for τ", Draw: func(t *table.Table) (plots.Drawing, error) {
		sizes := t.Where("cell", batchCell).Unique("triplets")
		fitted := func(seen int) bool { return slices.Contains(sizes, strconv.Itoa(seen)) }
		reached := ""
		if c := t.Where("reading", byValidation, "passes", "").Values("converged"); len(c) > 0 {
			reached = fmt.Sprintf(" Of the fits of the first panel, %.0f %% reached the residual.", 100*judge.Summarize(c).Mean)
		}
		return logErrors(drawFig1(t, "triplets", "triplets seen", fitted, true, []fig1Panel{
			{byValidation, byValidation, allMethods},
			{atEachSize, atEachSize, allMethods},
		}, fig1Batch+" A sum of losses wants a τ that grows with the triplets: in the second panel each size has the one with the least validation error of its trial."+reached+ninePasses))
	}},
	{Name: "fig1c", Title: "Fig. 1c: error against passes over all triplets", Draw: func(t *table.Table) (plots.Drawing, error) {
		methods := []string{paERKLE, steERKLE, gnmdsBatch, steBatch}
		return drawFig1(t.Where("cell", passesCell), "passes", "passes, or gradient steps", func(int) bool { return true }, true, []fig1Panel{
			{"gradient steps δ by validation", byValidation, methods},
			{"gradient steps δ best on test", byTest, methods},
			{"accelerated steps", accelerated, methods},
		}, "Test error after all training triplets against the number of passes: β of ERKLE, full gradient steps of the batch methods. Their step size is, for each number of steps, the best of "+fig1Steps.String()+
			" on validation triplets, or on test triplets (the paper's rule); in the third panel, accelerated steps with a step size found by line search. τ as in Fig. 1b.")
	}},
	{Name: "fig1-final", Title: "Errors after all triplets", Draw: drawFig1Final},
	{Name: "fig1-stopping", Title: "Iterations, stopping and rank of the batch methods of Fig. 1b", Draw: experiment.WithEnds(drawFig1Stopping, fig1Choices)},
}

// fig1Panel is a panel by the reading of its batch methods.
type fig1Panel struct {
	title, reading string
	methods        []string
}

// fig1Styles are the lines of methods of Fig. 1 alone.
var fig1Styles = map[string]plots.Line{
	steInverse: {Color: 2}, steInverseSqrt: {Color: 3}, gnmdsInverse: {Color: 2}, gnmdsRoot: {Color: 3}, gnmdsConstant: {Color: 4},
	paFrobenius: {Color: 0}, steFrobenius: {Color: 1},
}

// curveRows are the rows of a method's curve against triplets or passes.
func curveRows(t *table.Table, method, reading string) *table.Table {
	if g := t.Where("method", method, "reading", ""); g.Len() > 0 {
		return g
	}
	return t.Where("method", method, "reading", reading)
}

// drawFig1 draws the errors of each panel's methods against the column x, where keep holds.
func drawFig1(t *table.Table, x, label string, keep func(int) bool, log bool, panels []fig1Panel, about string) (plots.Drawing, error) {
	d := plots.Drawing{Columns: len(panels)}
	if d.Columns > 3 {
		d.Columns = 2
	}
	for _, pn := range panels {
		p := plots.Panel{Title: pn.title, XLabel: label, YLabel: "test error (%)", XLog: log}
		for _, method := range pn.methods {
			g := curveRows(t, method, pn.reading)
			if x == "triplets" {
				g = g.Where("passes", "")
			}
			style, ok := styles[method]
			if !ok {
				style = fig1Styles[method]
				style.Name = method
			}
			if g.Len() == 0 {
				continue
			}
			p.Marks = append(p.Marks, kept(curveOf(g, x, style, testErrors), keep))
		}
		if len(p.Marks) > 0 {
			d.Panels = append(d.Panels, p)
		}
	}
	d.Caption = plots.Caption{Shows: about + " " + fig1Setup + " " + trialsNote(t)}
	return orMissing(d, "any trial")
}

// ninePasses explains "10 passes" of Fig. 1b.
const ninePasses = " With 10 passes ERKLE makes, after each triplet, 9 more updates with random earlier ones."

// logErrors gives the panels of a figure of Fig. 1b a logarithmic axis from 10 % and names at the lines' ends.
func logErrors(d plots.Drawing, err error) (plots.Drawing, error) {
	for i := range d.Panels {
		p := &d.Panels[i]
		p.YLog, p.YMin, p.YMax, p.Direct = true, 10, 50, true
	}
	d.Columns = 1
	return d, err
}

// kept returns a line at the points where keep holds.
func kept(line plots.Line, keep func(int) bool) plots.Line {
	if line.Lo != nil {
		judge.SameLength("trials at the points of the curve of "+line.Name, line.X, line.Lo)
	}
	out := line
	out.X, out.Y, out.Lo, out.Hi = nil, nil, nil, nil
	for i, x := range line.X {
		if !keep(int(x)) {
			continue
		}
		out.X, out.Y = append(out.X, x), append(out.Y, line.Y[i])
		if line.Lo != nil {
			out.Lo, out.Hi = append(out.Lo, line.Lo[i]), append(out.Hi, line.Hi[i])
		}
	}
	return out
}

func drawFig1Final(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"method", "reading", "passes or steps", "test error (%)", "ties count half (%)", "step δ"}}
	last := strconv.Itoa(lastSize(t))
	for key, g := range groups(t.Where("triplets", last), "cell", "method", "reading", "passes") {
		if key[0] == passesCell && key[3] == "" {
			continue
		}
		step := ""
		if d := g.Values("step"); d[0] == d[0] {
			step = valueRange(d)
		}
		text.Rows = append(text.Rows, append(key[1:], judge.Summarize(testErrors(g)).Percent(), judge.Summarize(halfErrors(g, "test")).Percent(), step))
	}
	return orMissing(plots.Drawing{Text: text, Caption: plots.Caption{Shows: "Test errors after all training triplets: of Figs. 1a and 1b where no number of passes is given, and of Fig. 1c; with the step sizes of its gradient steps. " + fig1Setup + " " + trialsNote(t)}}, "any trial")
}

func drawFig1Stopping(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"method", "reading", "triplets", "τ", "iterations", "converged (%)", "largest residual", "rank", "test error (%)"}}
	for key, g := range groups(t.Where("cell", batchCell), "method", "reading", "triplets") {
		text.Rows = append(text.Rows, append(key,
			valueRange(g.Values("tau")), fmt.Sprintf("%.0f", judge.Summarize(g.Values("iterations")).Mean), fmt.Sprintf("%.0f", 100*judge.Summarize(g.Values("converged")).Mean),
			fmt.Sprintf("%.2g", slices.Max(g.Values("residual"))), fmt.Sprintf("%.1f", judge.Summarize(g.Values("rank")).Mean), judge.Summarize(testErrors(g)).Percent(),
		))
	}
	return orMissing(plots.Drawing{Text: text, Caption: plots.Caption{Shows: "How the fits of Fig. 1b ended: mean iterations, the share that reached the residual of 10⁻³ before the cap, the largest residual, the mean rank of the kernel and its error. " + fig1Batch + " " + fig1Setup + " " + trialsNote(t)}}, "any fit")
}

// valueRange writes settings that may differ between trials.
func valueRange(v []float64) string {
	low, high := slices.Min(v), slices.Max(v)
	if low == high {
		return table.Format(low)
	}
	return table.Format(low) + " to " + table.Format(high)
}
