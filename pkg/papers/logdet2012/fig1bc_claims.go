package logdet2012

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/table"
)

// Predicates and margins of Fig. 1(b, c), fixed before the first full run.
const (
	// "optimal (within the 95 % confidence intervals)": no worse than another method by as much as the
	// half-width of the 95 % interval of an error of 15 to 25 % that is counted once, on the 540
	// documents of a trial: 3.0 to 3.7 points. The smaller is taken.
	optimalMargin = 0.03
	// "relatively constant": within a sixth of the 30 points that the ticks of the figure's axis span.
	constantMargin = 0.05
	// fewDims are "five dimensions".
	fewDims = 5
)

// clarifySupply says what a user needs to run the original.
const clarifySupply = "To run the original, supply clarify/latex.csv, clarify/mpg321.csv, clarify/foxpro.csv and clarify/iptables.csv below the data folder, a row per run of the program, how often each function was called, and the class last; metriclab data get clarify says more."

const (
	clarifyNote   = " Readings: counts as they are and standardised. The traces of Ha et al. (2007) are not public: the finding is that on counts of words of news about nine topics, without a verdict. " + clarifySupply
	clarifyPlace  = "Section 6.1, Fig. 1(b)"
	clarifyCurves = "Section 6.1, Fig. 1(c)"
)

var fig1bcClaims = []experiment.Claim{
	{
		ID: "fig1b-optimal", View: "fig1b",
		Statement: "LogDet Linear is the only algorithm to be optimal (within the 95 % confidence intervals) across all datasets.",
		Where:     "Fig. 1, caption", Theirs: experiment.FigureOnly,
		Predicate: "With 20 features, per other method: its error minus that of LogDet Linear is > −3 points. (That each other method falls short on some data set takes more than one, and is left out.)" + clarifyNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return onNews(t, func(r wordResults) (experiment.Finding, error) {
				var units []experiment.Unit
				for _, m := range clarifyMethods {
					if m != logDetLinear {
						e := r.difference(m, printedDims, logDetLinear, printedDims)
						floats.AddConst(optimalMargin, e)
						units = append(units, experiment.Unit{Name: m, Diffs: e})
					}
				}
				return gradeWords(units)
			})
		},
	},
	{
		ID: "fig1b-gains", View: "fig1b",
		Statement: "The LogDet Linear algorithm yields significant gains for the Latex benchmark.",
		Where:     clarifyPlace, Theirs: experiment.FigureOnly,
		Predicate: "With 20 features, the error of Euclidean, the paper's baseline, minus that of LogDet Linear is > 0." + clarifyNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return onNews(t, func(r wordResults) (experiment.Finding, error) {
				return gradeWords([]experiment.Unit{{Name: euclidean, Diffs: r.difference(euclidean, printedDims, logDetLinear, printedDims)}})
			})
		},
	},
	{
		ID: "fig1b-start", View: "fig1b",
		Statement: "For datasets where Euclidean distance performs better than the inverse covariance metric, the LogDet Linear algorithm that normalizes to the standard Euclidean distance yields higher accuracy than that regularized to inverse covariance.",
		Where:     clarifyPlace, Theirs: experiment.FigureOnly,
		Predicate: "With 20 features, in those readings in which the mean error of Euclidean is less than that of Inv. Covariance: the error of LogDet-InvCov minus that of LogDet Linear is > 0." + clarifyNote,
		Grade:     gradeStart,
	},
	{
		ID: "fig1c-constant", View: "fig1c",
		Statement: "The error rate for the Latex dataset stays relatively constant for LogDet Linear.",
		Where:     clarifyCurves, Theirs: experiment.FigureOnly,
		Predicate: "At each number of features (5, 10, 15, 20, 25), the whole corrected interval of the error of LogDet Linear minus its mean over these numbers lies within ±5 points." + clarifyNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return onNews(t, func(r wordResults) (experiment.Finding, error) {
				dims, err := r.dims()
				if err != nil {
					return experiment.Finding{}, err
				}
				var mean []float64
				for _, d := range dims {
					e := r.errors(logDetLinear, d)
					if mean == nil {
						mean = make([]float64, len(e))
					}
					experiment.SameLength("folds with "+featuresOf(d), mean, e)
					floats.AddScaled(mean, 1/float64(len(dims)), e)
				}
				var units []experiment.Unit
				for _, d := range dims {
					units = append(units, experiment.Unit{Name: featuresOf(d), Diffs: minus(r.errors(logDetLinear, d), mean)})
				}
				f, err := experiment.GradeEquivalent(units, experiment.EquivalenceRule{Margin: constantMargin, Scale: 100, Unit: "points", Sample: aFold, TestRatio: testRatio})
				// The mean of the differences is 0, whatever the errors are.
				f.Ours = ""
				for i, d := range dims {
					if i > 0 {
						f.Ours += ", "
					}
					f.Ours += fmt.Sprintf("%.1f %% with %d", 100*stat.Mean(r.errors(logDetLinear, d), nil), d)
				}
				return f, err
			})
		},
	},
	{
		ID: "fig1c-five", View: "fig1c",
		Statement: "Euclidean distance, MCML, and LMNN all achieve their best error rates for five dimensions.",
		Where:     clarifyCurves, Theirs: experiment.FigureOnly,
		Predicate: "Per method of the three and number of features above 5: its error there minus that with 5 is > 0." + clarifyNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return gradeBestAt(t, fewDims, euclidean, mcml, lmnn)
		},
	},
	{
		ID: "fig1c-twenty", View: "fig1c",
		Statement: "LogDet Linear, however, attains its lowest error rate of .15 at d = 20 dimensions.",
		Where:     clarifyCurves, Theirs: ".15",
		Predicate: "Per other number of features: the error of LogDet Linear there minus that with 20 is > 0. The rate itself is that of Latex, and not compared." + clarifyNote,
		Grade: func(t *table.Table) (experiment.Finding, error) {
			return gradeBestAt(t, printedDims, logDetLinear)
		},
	},
}

// wordResults are the rows of Fig. 1(b, c) under one scaling.
type wordResults struct {
	by datasets.Preprocessing
	t  *table.Table
}

// wordResultsOf returns those under the scalings that a table has.
func wordResultsOf(t *table.Table) []wordResults {
	var out []wordResults
	for _, by := range readings {
		if g := t.Where("features", by.String()); g.Where("kind", "wrong").Len() > 0 {
			out = append(out, wordResults{by, g})
		}
	}
	return out
}

// title names the reading for a reader.
func (r wordResults) title() string { return "counts " + describe[r.by.String()] }

func featuresOf(dims int) string { return fmt.Sprintf("%d features", dims) }

// of returns the rows of a kind and a method with so many features.
func (r wordResults) of(kind, method string, dims int) *table.Table {
	return r.t.Where("kind", kind, "method", method, "dims", strconv.Itoa(dims))
}

// errors are the shares of test rows classified wrongly, by trial and fold.
func (r wordResults) errors(method string, dims int) []float64 {
	return shares(r.of("wrong", method, dims))
}

// difference is the first error minus the second, by trial and fold.
func (r wordResults) difference(method string, dims int, other string, otherDims int) []float64 {
	return minus(r.errors(method, dims), r.errors(other, otherDims))
}

// dims lists the numbers of features, ascending.
func (r wordResults) dims() ([]int, error) {
	var out []int
	for _, s := range r.t.Where("kind", "wrong").Unique("dims") {
		d, err := strconv.Atoi(s)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	slices.Sort(out)
	return out, nil
}

// sizeOf is the mean of a size over folds, trials and numbers of features.
func (r wordResults) sizeOf(what string) float64 {
	return stat.Mean(r.t.Where("kind", "size", "at", what).Values("value"), nil)
}

func gradeWords(units []experiment.Unit) (experiment.Finding, error) {
	return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "points", Sample: aFold, TestRatio: testRatio})
}

// onNews grades a claim on the stand-in, in all readings, and shows the finding without its
// verdict.
func onNews(t *table.Table, grade func(r wordResults) (experiment.Finding, error)) (experiment.Finding, error) {
	all, err := allWordResults(t)
	if err != nil {
		return experiment.Finding{}, err
	}
	return onReadings(all, grade)
}

// allWordResults returns the results of all readings, or an error if some are missing.
func allWordResults(t *table.Table) ([]wordResults, error) {
	all := wordResultsOf(t)
	if len(all) != len(readings) {
		return nil, fmt.Errorf("logdet2012: there are results of %d readings of the counts, want %d", len(all), len(readings))
	}
	return all, nil
}

func onReadings(all []wordResults, grade func(r wordResults) (experiment.Finding, error)) (experiment.Finding, error) {
	var out []experiment.Reading
	for _, r := range all {
		f, err := grade(r)
		if err != nil {
			return f, fmt.Errorf("%s: %w", r.title(), err)
		}
		out = append(out, experiment.Reading{Name: r.title(), Finding: f})
	}
	f := experiment.AllReadings(out)
	f.Reason = fmt.Sprintf("On the stand-in it would be %q. %s", f.Verdict, f.Reason)
	f.Verdict = experiment.Untestable
	return f, nil
}

// gradeStart grades the claim about W₀ in the readings in which its premise holds.
func gradeStart(t *table.Table) (experiment.Finding, error) {
	all, err := allWordResults(t)
	if err != nil {
		return experiment.Finding{}, err
	}
	var kept []wordResults
	var left []string
	for _, r := range all {
		premise := r.difference(invCovariance, printedDims, euclidean, printedDims)
		if stat.Mean(premise, nil) > 0 {
			kept = append(kept, r)
		} else {
			left = append(left, fmt.Sprintf("%s (Inv. Covariance minus Euclidean: %s points)", r.title(), summary(premise).Percent()))
		}
	}
	note := "The statement says nothing where Euclidean is not better than Inv. Covariance: " + strings.Join(left, ", ") + "."
	if len(kept) == 0 {
		return experiment.Finding{Verdict: experiment.Untestable, Ours: "Euclidean is not better in any reading", Reason: note}, nil
	}
	f, err := onReadings(kept, func(r wordResults) (experiment.Finding, error) {
		return gradeWords([]experiment.Unit{{Name: logDetInvCov, Diffs: r.difference(logDetInvCov, printedDims, logDetLinear, printedDims)}})
	})
	if left != nil {
		f.Reason += " " + note
	}
	return f, err
}

// gradeBestAt grades that methods have their lowest error with so many features.
func gradeBestAt(t *table.Table, best int, methods ...string) (experiment.Finding, error) {
	return onNews(t, func(r wordResults) (experiment.Finding, error) {
		dims, err := r.dims()
		if err != nil {
			return experiment.Finding{}, err
		}
		var units []experiment.Unit
		for _, m := range methods {
			for _, d := range dims {
				if d != best {
					units = append(units, experiment.Unit{Name: m + ", " + featuresOf(d), Diffs: r.difference(m, d, m, best)})
				}
			}
		}
		return gradeWords(units)
	})
}
