package erkle2015

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/experiment"
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

func fig1Params(method string) (triplets.ERKLEParams, error) {
	switch method {
	case steInverse:
		return triplets.ERKLEParams{Loss: triplets.STE, Step: triplets.Inverse, Delta: 1}, nil
	case steInverseSqrt:
		return triplets.ERKLEParams{Loss: triplets.STE, Step: triplets.InverseSqrt, Delta: 1}, nil
	case gnmdsInverse:
		return triplets.ERKLEParams{Step: triplets.Inverse, Delta: 1}, nil
	case gnmdsRoot:
		return triplets.ERKLEParams{Step: triplets.InverseSqrt, Delta: 1}, nil
	case gnmdsConstant:
		return triplets.ERKLEParams{Step: triplets.Constant, Delta: 1}, nil
	case paFrobenius:
		return triplets.ERKLEParams{Gradient: triplets.Frobenius}, nil
	case steFrobenius:
		return triplets.ERKLEParams{Loss: triplets.STE, Step: triplets.Constant, Delta: 1, Gradient: triplets.Frobenius}, nil
	}
	return erkleParams(method)
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
var fig1Steps = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}

// fig1Pairs are the online methods of Fig. 1c, each with the batch method of its loss.
var fig1Pairs = []struct {
	online string
	batch  batchMethod
}{{paERKLE, batches[0]}, {steERKLE, batches[1]}}

// Fig1 compares step rules, ERKLE with batch methods, and passes on the small synthetic data.
var Fig1 = experiment.Spec{
	ID:      "erkle2015/fig1",
	Title:   "ERKLE against batch kernel learning on all comparisons of 100 points",
	Source:  "Section 5.1, Fig. 1",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := dataSets[0]
		online, batch := fig1Passes(scale)
		own := map[string]map[string]string{
			onlineCell: {"parts": strconv.Itoa(fig1Parts), "sizes": formatInts(d.sizes(scale))},
			batchCell: {
				"sizes": formatInts(d.sizes(scale)), "τ": formatGrids(d), "iterations": strconv.Itoa(batchIterations), "iterations to convergence": strconv.Itoa(convergedIterations), "tolerance": table.Format(batchTol), "tolerance of convergence": table.Format(convergedTol),
			},
			passesCell: {"passes": formatInts(online), "gradient steps": formatInts(batch), "step sizes": formatAll(fig1Steps)},
		}
		var cells []experiment.Cell
		for _, name := range []string{onlineCell, batchCell, passesCell} {
			params := d.params(scale)
			maps.Copy(params, own[name])
			if name != onlineCell {
				for _, b := range batches {
					c := tauChosen[d.name][b.name]
					params["τ of "+b.name] = table.Format(c.validated) + ", best on test " + table.Format(c.bestOnTest)
				}
			}
			cells = append(cells, experiment.Cell{Name: name, Dataset: d.datasetAt(scale), Params: params, Methods: methodVersions})
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Index:  fig1Index,
	Values: fig1Values,
	Trial:  fig1Trial,
	Views:  fig1Views,
	Claims: fig1Claims,
	Cost:   90 * time.Second,
}

var (
	fig1Index  = []string{"method", "reading", "triplets", "passes"}
	fig1Values = slices.Concat(errorColumns("test"), []string{"iterations", "residual", "converged", "rank", "tau", "step"})
)

func fig1Trial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	d := dataSets[0]
	s, err := splitOf(env, d, seed)
	if err != nil {
		return nil, err
	}
	r := fig1Run{split: s, data: d, scale: env.Scale, seed: seed, rows: table.New(fig1Index, fig1Values)}
	switch cell.Name {
	case onlineCell:
		err = r.online(ctx)
	case batchCell:
		err = r.batch(ctx)
	case passesCell:
		err = r.passes(ctx)
	default:
		err = fmt.Errorf("erkle2015: cell: %q is not known", cell.Name)
	}
	return r.rows, err
}

// fig1Run is a trial of a cell.
type fig1Run struct {
	split split
	data  dataSet
	scale experiment.Scale
	seed  experiment.Seed
	rows  *table.Table
}

// online measures ERKLE after each part of the training triplets, and at the sizes of the batch methods.
func (r fig1Run) online(ctx context.Context) error {
	at := r.data.sizes(r.scale)
	for i := range fig1Parts {
		at = append(at, (i+1)*len(r.split.train)/fig1Parts)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	for _, method := range fig1Online {
		p, err := fig1Params(method)
		if err != nil {
			return err
		}
		if err := runERKLE(ctx, r.split, p, r.seed, at, func(seen int, l *triplets.ERKLE) error {
			v := table.Values{}
			r.split.testErrors(l.Kernel()).put(v, "test")
			r.rows.Add(table.Key{"method": method, "triplets": strconv.Itoa(seen)}, v)
			return nil
		}); err != nil {
			return fmt.Errorf("%s: %w", method, err)
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

// batch measures the batch methods at the sizes.
func (r fig1Run) batch(ctx context.Context) error {
	sizes := r.data.sizes(r.scale)
	type fit struct {
		triplets.BatchResult
		tau   float64
		test  errorCount
		wrong int // of the validation triplets
	}
	path := func(b batchMethod, tau float64, iterations int, tol float64) ([]fit, error) {
		var out []fit
		p := triplets.BatchParams{Loss: b.loss, Tau: tau, Iterations: iterations, Tol: tol}
		err := fitPath(ctx, r.split, sizes, p, func(_ int, f triplets.BatchResult) error {
			out = append(out, fit{f, tau, r.split.testErrors(f.Kernel), errorsOf(f.Kernel, r.split.validation).wrong})
			return nil
		})
		return out, err
	}
	for _, b := range batches {
		c, err := tauOf(r.data.name, b.name)
		if err != nil {
			return err
		}
		byReading := map[string][]fit{}
		for _, tau := range r.data.grid(b.name) {
			fits, err := path(b, tau, batchIterations, batchTol)
			if err != nil {
				return fmt.Errorf("%s: %w", b.name, err)
			}
			for _, reading := range []string{byValidation, byTest} {
				if tau == c.of(reading) {
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
		if byReading[toConvergence], err = path(b, c.validated, convergedIterations, convergedTol); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		for _, reading := range batchReadings {
			for i, f := range byReading[reading] {
				r.addBatch(b.name, reading, sizes[i], 0, f.BatchResult, f.test, table.Values{"tau": f.tau})
			}
		}
	}
	return nil
}

// passes measures ERKLE with several β, and batch methods after some gradient steps, over all training triplets.
func (r fig1Run) passes(ctx context.Context) error {
	online, steps := fig1Passes(r.scale)
	all := len(r.split.train)
	for _, pair := range fig1Pairs {
		for _, beta := range online {
			p, err := fig1Params(pair.online)
			if err != nil {
				return err
			}
			p.Beta = beta
			if err := runERKLE(ctx, r.split, p, r.seed, []int{all}, func(seen int, l *triplets.ERKLE) error {
				v := table.Values{}
				r.split.testErrors(l.Kernel()).put(v, "test")
				r.rows.Add(table.Key{"method": pair.online, "triplets": strconv.Itoa(seen), "passes": strconv.Itoa(beta)}, v)
				return nil
			}); err != nil {
				return fmt.Errorf("%s: %w", pair.online, err)
			}
		}
		c, err := tauOf(r.data.name, pair.batch.name)
		if err != nil {
			return err
		}
		for _, reading := range []string{byValidation, byTest} {
			if err := r.fixedSteps(ctx, pair.batch, reading, c.of(reading), steps); err != nil {
				return fmt.Errorf("%s: %w", pair.batch.name, err)
			}
		}
		for _, n := range steps {
			f, err := triplets.FitBatch(ctx, r.split.objects, r.split.train, triplets.BatchParams{
				Loss: pair.batch.loss, Tau: c.validated, Iterations: n, Tol: batchTol,
			})
			if err != nil {
				return fmt.Errorf("%s: %w", pair.batch.name, err)
			}
			r.addBatch(pair.batch.name, accelerated, all, n, f, r.split.testErrors(f.Kernel), table.Values{"tau": c.validated})
		}
	}
	return nil
}

// fixedSteps adds, for each number of plain gradient steps, the fit whose step size is best on validation or, by the paper's
// rule, on test triplets: the smallest of equals.
func (r fig1Run) fixedSteps(ctx context.Context, b batchMethod, reading string, tau float64, steps []int) error {
	type fit struct {
		triplets.BatchResult
		test  errorCount
		step  float64
		wrong int
	}
	best := make([]fit, len(steps))
	for _, delta := range fig1Steps {
		p := triplets.BatchParams{Loss: b.loss, Tau: tau, Method: triplets.Fixed, Delta: delta}
		done := 0
		for i, n := range steps {
			p.Iterations = n - done
			f, err := triplets.FitBatch(ctx, r.split.objects, r.split.train, p)
			if err != nil {
				return err
			}
			p.Initial, done = f.Kernel, n
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
	for i, n := range steps {
		r.addBatch(b.name, reading, len(r.split.train), n, best[i].BatchResult, best[i].test, table.Values{"tau": tau, "step": best[i].step})
	}
	return nil
}

const fig1Setup = "100 points drawn from N(0, I) in R⁵⁰ answer all 485,100 comparisons by their distances (20 points in R⁵ at smoke scale); 10,000 random ones train, 1,000 others validate, the remaining 474,100 test (the paper keeps no validation set apart and tests on 475,100). " +
	"The error is the share of test triplets that the kernel does not satisfy, a tie counting as not satisfied. K₀ = I."

const fig1Batch = "Batch methods minimise Σ l + τ·trace K with true gradients, accelerated, from the kernel of the size before, to a residual of 10⁻³ or 100 iterations; with one τ per method from erkle2015/tau unless it says otherwise. The paper's ran plain gradient descent for up to 1000 iterations."

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
		reached := ""
		if c := t.Where("reading", byValidation, "passes", "").Values("converged"); len(c) > 0 {
			reached = fmt.Sprintf(" Of the fits of the first panel, %.0f %% reached the residual.", 100*experiment.Summarize(c).Mean)
		}
		return drawFig1(t, "triplets", "triplets seen", fitted, true, []fig1Panel{
			{byValidation, byValidation, fig1Compared()},
			{byTest, byTest, fig1Compared()},
			{atEachSize, atEachSize, fig1Compared()},
			{toConvergence, toConvergence, fig1Compared()},
		}, fig1Batch+" The paper's rule for τ is that of the second panel. A sum of losses wants a τ that grows with the triplets: in the third panel each size has the one with the least validation error of its trial. In the last panel the residual is 10⁻⁴."+reached+" With 10 passes ERKLE makes, after each triplet, 9 more updates with random earlier ones.")
	}},
	{Name: "fig1c", Title: "Fig. 1c: error against passes over all triplets", Draw: func(t *table.Table) (plots.Drawing, error) {
		methods := []string{paERKLE, steERKLE, gnmdsBatch, steBatch}
		return drawFig1(t.Where("cell", passesCell), "passes", "passes, or gradient steps", func(int) bool { return true }, true, []fig1Panel{
			{"gradient steps δ by validation", byValidation, methods},
			{"gradient steps δ best on test", byTest, methods},
			{"accelerated steps", accelerated, methods},
		}, "Test error after all training triplets against the number of passes: β of ERKLE, full gradient steps of the batch methods. Their step size is, for each number of steps, the best of "+formatAll(fig1Steps)+
			" on validation triplets, or on test triplets (the paper's rule); in the third panel, accelerated steps with a step size found by line search. τ as in Fig. 1b.")
	}},
	{Name: "fig1-final", Title: "Errors after all triplets", Draw: drawFig1Final},
	{Name: "fig1-stopping", Title: "Iterations, stopping and rank of the batch methods of Fig. 1b", Draw: drawFig1Stopping},
}

// fig1Compared are the methods of Fig. 1b.
func fig1Compared() []string {
	out := slices.Clone(erkles)
	for _, b := range batches {
		out = append(out, b.name)
	}
	return out
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
			line, err := curveOf(g, x, style, func(g *table.Table) []float64 { return strictErrors(g, "test") })
			if err != nil {
				return d, err
			}
			p.Marks = append(p.Marks, kept(line, keep))
		}
		if len(p.Marks) > 0 {
			d.Panels = append(d.Panels, p)
		}
	}
	if len(d.Panels) == 0 {
		return plots.Missing("any trial"), nil
	}
	d.Caption = about + " " + fig1Setup + " " + trialsNote(t)
	return d, nil
}

// kept returns a line at the points where keep holds.
func kept(line plots.Line, keep func(int) bool) plots.Line {
	if line.Lo != nil {
		experiment.SameLength("trials at the points of the curve of "+line.Name, line.X, line.Lo)
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
	for cell, c := range t.Group("cell") {
		for method, g := range c.Where("triplets", last).Group("method") {
			for reading, g := range g.Group("reading") {
				for passes, g := range g.Group("passes") {
					if cell == passesCell && passes == "" {
						continue
					}
					step := ""
					if d := g.Values("step"); d[0] == d[0] {
						step = valueRange(d)
					}
					text.Rows = append(text.Rows, []string{
						method, reading, passes, experiment.Summarize(strictErrors(g, "test")).Percent(), experiment.Summarize(halfErrors(g, "test")).Percent(), step,
					})
				}
			}
		}
	}
	if len(text.Rows) == 0 {
		return plots.Missing("any trial"), nil
	}
	return plots.Drawing{Text: text, Caption: "Test errors after all training triplets: of Figs. 1a and 1b where no number of passes is given, and of Fig. 1c; with the step sizes of its gradient steps. " + fig1Setup + " " + trialsNote(t)}, nil
}

func drawFig1Stopping(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"method", "reading", "triplets", "τ", "iterations", "converged (%)", "largest residual", "rank", "test error (%)"}}
	for method, g := range t.Where("cell", batchCell).Group("method") {
		for reading, g := range g.Group("reading") {
			for size, g := range g.Group("triplets") {
				text.Rows = append(text.Rows, []string{
					method, reading, size, valueRange(g.Values("tau")), fmt.Sprintf("%.0f", experiment.Summarize(g.Values("iterations")).Mean), fmt.Sprintf("%.0f", 100*experiment.Summarize(g.Values("converged")).Mean),
					fmt.Sprintf("%.2g", slices.Max(g.Values("residual"))), fmt.Sprintf("%.1f", experiment.Summarize(g.Values("rank")).Mean), experiment.Summarize(strictErrors(g, "test")).Percent(),
				})
			}
		}
	}
	if len(text.Rows) == 0 {
		return plots.Missing("any fit"), nil
	}
	return plots.Drawing{Text: text, Caption: "How the fits of Fig. 1b ended: mean iterations, the share that reached the residual of 10⁻³ before the cap, the largest residual, the mean rank of the kernel and its error. " + fig1Batch + " " + fig1Setup + " " + trialsNote(t)}, nil
}

// valueRange writes settings that may differ between trials.
func valueRange(v []float64) string {
	low, high := slices.Min(v), slices.Max(v)
	if low == high {
		return table.Format(low)
	}
	return table.Format(low) + " to " + table.Format(high)
}
