package erkle2015

import (
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// judgedResults reads the rows of one data set of Figs. 3 and 4.
type judgedResults struct {
	data string
	t    *table.Table
}

// judgedReading is one way to compare the methods.
type judgedReading struct {
	name string
	tau  string  // how τ was chosen
	over bool    // the mean over the sizes in place of the end
	tie  float64 // what a tie is taken off an error
	on   bool    // batch fits have run on
}

// judgedReadings are those of the claims about errors. The paper's rule for τ is the third.
var judgedReadings = []judgedReading{
	{name: "at the end", tau: byValidation},
	{name: "mean over sizes", tau: byValidation, over: true},
	{name: "at the end, " + byTest, tau: byTest},
	{name: "at the end, " + byEnd, tau: byEnd},
	{name: "at the end, ties half", tau: byValidation, tie: 0.5},
	{name: "at the end, batch methods run on", tau: byValidation, on: true},
}

// isBatch reports whether a method has a τ.
func isBatch(method string) bool {
	_, err := batchOf(method)
	return err == nil
}

// setting returns τ of a batch method, "" of the paper's ERKLE.
func (r judgedResults) setting(method, tau string) (string, error) {
	if !isBatch(method) {
		return "", nil
	}
	c, err := tauOf(r.data, method)
	return table.Format(c.of(tau)), err
}

// curve returns the rows of a method.
func (r judgedResults) curve(method, tau string) (*table.Table, error) {
	if method == traceFamily.name {
		return r.chosen(traceFamily), nil
	}
	s, err := r.setting(method, tau)
	return r.t.Where("kind", "curve", "method", method, "setting", s), err
}

// fits returns the rows of a method under a reading.
func (r judgedResults) fits(method string, rd judgedReading) (*table.Table, error) {
	if rd.on && isBatch(method) {
		return r.t.Where("kind", "curve", "method", runOn(method)), nil
	}
	return r.curve(method, rd.tau)
}

// sizes are the numbers of triplets at which all methods are judged, ascending.
func (r judgedResults) sizes() ([]int, error) {
	var names []string
	for _, b := range batches {
		if names = r.t.Where("kind", "curve", "method", b.name).Unique("triplets"); len(names) > 0 {
			break
		}
	}
	out := make([]int, len(names))
	for i, s := range names {
		var err error
		if out[i], err = strconv.Atoi(s); err != nil {
			return nil, fmt.Errorf("erkle2015: column triplets: %w", err)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("erkle2015: %s has no batch method", r.data)
	}
	return out, nil
}

// errorsAt are a method's errors on a part after so many triplets, by trial.
func (r judgedResults) errorsAt(part, method string, rd judgedReading, size int) ([]float64, error) {
	g, err := r.fits(method, rd)
	if err != nil {
		return nil, err
	}
	return errorShares(g.Where("triplets", strconv.Itoa(size)), part, rd.tie), nil
}

// errors are a method's errors on a part under a reading, by trial.
func (r judgedResults) errors(part, method string, rd judgedReading) ([]float64, error) {
	sizes, err := r.sizes()
	if err != nil {
		return nil, err
	}
	if !rd.over {
		sizes = sizes[len(sizes)-1:]
	}
	return r.meanErrors(part, method, rd, sizes)
}

// meanErrors are a method's errors on a part, averaged over sizes, by trial.
func (r judgedResults) meanErrors(part, method string, rd judgedReading, sizes []int) ([]float64, error) {
	var sum []float64
	for _, size := range sizes {
		e, err := r.errorsAt(part, method, rd, size)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = make([]float64, len(e))
		}
		if len(e) != len(sum) {
			return nil, fmt.Errorf("erkle2015: %s, %s: %d trials after %d triplets, %d after others", r.data, method, len(e), size, len(sum))
		}
		floats.AddScaled(sum, 1/float64(len(sizes)), e)
	}
	return sum, nil
}

// chosen are the rows of a family's method with each trial's chosen setting.
func (r judgedResults) chosen(f family) *table.Table {
	out := table.New(r.t.IndexNames(), r.t.ValueNames())
	for _, g := range r.t.Group("trial") {
		for _, x := range g.Where("kind", "chosen", "method", f.name).Values("count") {
			rows := g.Where("kind", "curve", "method", f.name, "setting", table.Format(x))
			for i := range rows.Len() {
				key, v := table.Key{}, table.Values{}
				for _, name := range rows.IndexNames() {
					key[name] = rows.Index(name)[i]
				}
				for _, name := range rows.ValueNames() {
					v[name] = rows.Values(name)[i]
				}
				out.Add(key, v)
			}
		}
	}
	return out
}

// testRatio is n_test/n_train of the splits.
func (r judgedResults) testRatio() (float64, error) {
	sizes, err := r.sizes()
	if err != nil {
		return 0, err
	}
	of := r.t.Where("kind", "curve").Values(errorColumns("test")[2])
	return experiment.Ratio(r.data+": test to training triplets", experiment.NotEmpty("rows of a curve", of)[0], float64(sizes[len(sizes)-1])), nil
}

// less returns a unit with the errors of worse minus those of better, plus a margin, by trial.
func (r judgedResults) less(part, better, worse string, rd judgedReading, margin float64) (experiment.Unit, error) {
	u := experiment.Unit{Name: better + " and " + worse}
	b, err := r.errors(part, better, rd)
	if err != nil {
		return u, err
	}
	w, err := r.errors(part, worse, rd)
	if err != nil {
		return u, err
	}
	u.Diffs, err = excess(w, b, margin)
	return u, err
}

// excess returns a − b plus a margin.
func excess(a, b []float64, margin float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("erkle2015: %d trials against %d", len(a), len(b))
	}
	out := make([]float64, len(a))
	floats.SubTo(out, a, b)
	floats.AddConst(margin, out)
	return out, nil
}

// line draws a value per row of a method against the number of triplets, as a mean over trials; with bands, those of
// summarize.
func line(g *table.Table, style plots.Line, values func(*table.Table) []float64, summarize func([]float64) experiment.Summary) (plots.Line, error) {
	for at, rows := range g.Group("triplets") {
		v, err := strconv.ParseFloat(at, 64)
		if err != nil {
			return style, fmt.Errorf("erkle2015: column triplets: %w", err)
		}
		y := values(rows)
		if stat.Mean(y, nil) != stat.Mean(y, nil) {
			continue // not measured there
		}
		s := summarize(y)
		mean, half := s.Interval()
		style.X, style.Y = append(style.X, v), append(style.Y, mean)
		if s.HasInterval {
			style.Lo, style.Hi = append(style.Lo, mean-half), append(style.Hi, mean+half)
		}
	}
	return style, nil
}
