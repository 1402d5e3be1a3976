package pa2013

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

var comparisonViews = []experiment.View{
	{Name: "table1", Title: "Table 1: the databases, and what is drawn from them", Draw: onDatabases(1, "sizes of any database", drawTable1)},
	{Name: "fig1", Title: "Fig. 1: predictive 0–1 loss over time", Draw: onDatabases(1, "losses on any database", drawFig1)},
	{Name: "table2", Title: "Table 2: classification error of nearest neighbours under the learned metrics", Draw: onDatabases(1, "errors on any database", drawTable2)},
	{Name: "significance", Title: "Which differences of Table 2 are significant, and what could have been seen", Draw: onDatabases(2, "errors on at least two databases", drawSignificance)},
	{Name: "choice", Title: "What was chosen: C by validation, γ by ITML's cross-validation", Draw: experiment.WithEnds(onDatabases(1, "choices on any database", drawChoice), comparisonChoices)},
	{Name: "fig2", Title: "Fig. 2: CPU time relative to ITML", DrawTimed: onTimes(drawFig2)},
	{Name: "tradeoff", Title: "Error against the number of steps: is 20 % of the pairs a good trade-off?", Draw: onDatabases(1, "errors on any database", drawTradeoff)},
	{Name: "tolerance", Title: "Ours: a tolerance on the residual of PA-LS, time against error", DrawTimed: onTimes(drawTolerance)},
}

// onDatabases renders the databases that a table has. With fewer than least, it notes what is missing.
func onDatabases(least int, missing string, draw func([]results) plots.Drawing) func(*table.Table) (plots.Drawing, error) {
	return func(t *table.Table) (plots.Drawing, error) {
		all := resultsOf(t)
		if len(all) < least {
			return plots.Missing(missing), nil
		}
		return draw(all), nil
	}
}

// onTimes is onDatabases for a view that shows times.
func onTimes(draw func(all []results, times *table.Table) plots.Drawing) func(t, times *table.Table) (plots.Drawing, error) {
	return func(t, times *table.Table) (plots.Drawing, error) {
		all := resultsOf(t)
		if len(all) == 0 || times.Len() == 0 {
			return plots.Missing("times on any database"), nil
		}
		return draw(all, times), nil
	}
}

func drawTable1(all []results) plots.Drawing {
	text := &plots.TextTable{Head: []string{"database", "objects", "paper", "features", "paper", "classes", "paper", "training rows", "test rows", "pairs", "similar", "steps T", "choice of C: rows", "held out", "pairs", "steps"}}
	for _, r := range all {
		n := func(what string) string { return fmt.Sprintf("%.0f", r.size(what)) }
		in := func(what string) string { return fmt.Sprintf("%.0f", r.sizeIn("selection", what)) }
		d := r.database()
		theirs := func(v int) string {
			if v == 0 {
				return "–"
			}
			return strconv.Itoa(v)
		}
		text.Rows = append(text.Rows, []string{r.title(), n(objects), theirs(d.objects), n(features), theirs(d.features), n(classesOf), theirs(d.classes),
			n(trainRows), n(testRows), n(links), fmt.Sprintf("%.0f", stat.Mean(column("size", "", similarLinks, "count")(r.t), nil)), n(stepsTaken),
			in(trainRows), in(validRows), in(links), in(stepsTaken)})
	}
	return plots.Drawing{Text: text, Caption: plots.Caption{
		Shows: "Objects, features and classes, beside what Table 1 prints, and what a trial draws. Similar: mean over the trials.",
		Data:  "The paper's BDG100 (Table 1; BDG10 in Table 2) is not public: mfeat, Karhunen-Loève and Zernike features of handwritten digits, is a stand-in.",
		Protocol: "Half of the objects train, the others test (stratified; two halves as in Davis et al. 2007, which the paper follows). There are 40c(c−1) different random pairs of training rows of c classes, or all pairs if there are fewer. " +
			"T steps, the first number beyond 20 % of all pairs of training rows, present them in random order, again and again (in soybean there are more pairs than steps: none recurs). " +
			"C is chosen on 30 % of the training rows after learning on the other 70 %, with T/4 steps of their T.",
	}}
}

// comparisonCaption is a caption with data and settings; how is what a view adds to them.
func comparisonCaption(all []results, shows, how string) plots.Caption {
	names := "wine, ionosphere, balance, soybean (UCI), nist16 (PRTools), mfeat as a stand-in for BDG100"
	if all[0].database().cell == "" {
		names = "a built-in Gaussian mixture and the rule of balance, in place of the paper's"
	}
	return plots.Caption{
		Shows: shows,
		Data:  fmt.Sprintf("Databases: %s. Features are %s with numbers from the training rows.", names, describeScaling[mainSettings.Scaling.String()]),
		Protocol: how + "The start is (M, b) = 0. C is from 10⁻⁴ to 10² by the error of nearest neighbours on validation rows, per method, database and trial, the smallest of equals, and k with it. " +
			"ITML has the same pairs. Its bounds are by the rule of its authors' program (bins 5 and 95 of 100 between the extreme squared distances of 1,000 random pairs), and γ is from 10⁻⁴ to 10⁴ by its two-fold cross-validation (k = 4). Splits, pairs and their order are the same for all methods of a trial; " +
			"on soybean ITML has all 8,400 pairs, of which an online method sees T.",
		Intervals: splitsNote(all),
	}
}

var describeScaling = map[string]string{"raw": "as they are", "zscore": "standardised", "minmax": "scaled to 0–1"}

// splitsNote describes intervals of errors.
func splitsNote(all []results) string {
	n := len(all[0].t.Unique("trial"))
	if n < judge.MinTrials {
		return fmt.Sprintf("Means over %d trial(s); fewer than %d, so no intervals are given.", n, judge.MinTrials)
	}
	return fmt.Sprintf("Means over %d random splits with corrected resampled 95 %% t intervals (Nadeau and Bengio 2003), since splits of the same objects overlap.", n)
}

func drawFig1(all []results) plots.Drawing {
	d := plots.Drawing{Columns: min(2, len(all)), Text: &plots.TextTable{Head: append([]string{"predictive loss at the end (%)"}, shownNames(onlineNames)...)}}
	for _, r := range all {
		p := plots.Panel{Title: r.title(), XLabel: "steps", YLabel: "predictive 0–1 loss (%)"}
		row := []string{r.title()}
		for _, o := range onlines {
			line := styles.Line(shown.Replace(o.name))
			for _, at := range r.t.Where("kind", "loss", "method", o.name).Unique("at") {
				step := frame.Parse("at", at)
				line.X, line.Y = append(line.X, step), append(line.Y, stat.Mean(column("loss", o.name, at, "count").Times(100/step)(r.t), nil))
			}
			p.Marks = append(p.Marks, line)
			row = append(row, r.summary(losses(o.name)(r.t)).Percent())
		}
		d.Panels = append(d.Panels, p)
		d.Text.Rows = append(d.Text.Rows, row)
	}
	d.Caption = comparisonCaption(all, "Predictive 0–1 loss: the share of wrong predictions, each made before the pair's label is learned from, among the steps so far. ⁺: constraints at each step; ⁻: only at the end, where predictions use the running matrix, which may be indefinite.",
		"C was chosen for the errors of nearest neighbours, not for this loss; it and the scaling of features move the curves (pa2013/sensitivity). Pairs recur: late predictions are often of pairs seen before. ")
	d.Caption.Intervals += " The figure has no bands, which would hide each other; the table has the intervals of the losses at the end."
	return d
}

func drawTable2(all []results) plots.Drawing {
	d := plots.Drawing{Columns: min(3, len(all)), Text: &plots.TextTable{Head: append([]string{"database", "error (%)"}, shownNames(allMethods)...)}}
	for _, r := range all {
		p := plots.Panel{Title: r.title(), XLabel: "test error (%)"}
		ours := plots.Intervals{Name: "ours, k by validation"}
		best := plots.Intervals{Name: "ours, best k on the test rows", Color: plots.Vermillion, Shape: plots.Triangle}
		theirs := plots.Intervals{Name: "paper's Table 2 (best k on its test rows)", Color: plots.Black, Shape: plots.Diamond}
		rows := [][]string{{r.title(), "paper (k)"}, {"", "ours, best k (k)"}, {"", "ours, best k, tied votes to the first class name (k)"}, {"", "ours, k by validation"}}
		for _, method := range allMethods {
			v := r.summary(validated(method)(r.t))
			b, k := optimistic(method, nearestOfTied)(r.t), r.bestK(method, nearestOfTied)
			low, kLow := optimistic(method, firstName)(r.t), r.bestK(method, firstName)
			label := shown.Replace(method)
			frame.Percent.By(r.summary).AddRow(&ours, label, validated(method)(r.t))
			best.Labels, best.X = append(best.Labels, label), append(best.X, 100*stat.Mean(b, nil))
			paper := "–"
			if v, ok := printed[r.database().paper][method]; ok {
				paper = fmt.Sprintf("%.2f (%d)", v.percent, v.k)
				if !r.database().standIn {
					theirs.Labels, theirs.X = append(theirs.Labels, label), append(theirs.X, v.percent)
				}
			}
			for i, cell := range []string{paper, fmt.Sprintf("%.2f (%s)", 100*stat.Mean(b, nil), k), fmt.Sprintf("%.2f (%s)", 100*stat.Mean(low, nil), kLow), v.Percent()} {
				rows[i] = append(rows[i], cell)
			}
		}
		p.Marks = []plots.Mark{ours, best, theirs} // also where theirs is empty: panels of a row are of one height
		d.Panels = append(d.Panels, p)
		d.Text.Rows = append(d.Text.Rows, rows...)
	}
	d.Caption = comparisonCaption(all, fmt.Sprintf("Test error of the k nearest neighbours among all training rows, k from 1 to %d. The paper takes the best k on the test rows, which is optimistic; so does \"best k\" here, with the k of the least mean error. "+
		"\"k by validation\" is chosen per trial on the validation rows. γ = 1 is ITML without tuning; Euclidean has no learning.", mainSettings.MaxK),
		"Tied votes go to the nearest of the tied neighbours. Under that rule k = 2 gives the answers of k = 1: the paper's best k = 2 shows another rule, or the last of equal k. The table adds tied votes to the class whose name comes first. ")
	return d
}

// significance of a table of errors by method.
const (
	testLevel = 0.05
	powerAt   = 0.5
)

// meanErrors has a row per database and a column per method of Table 2: mean validated errors.
func meanErrors(all []results) [][]float64 {
	out := make([][]float64, len(all))
	for i, r := range all {
		for _, m := range inTable2 {
			out[i] = append(out[i], stat.Mean(validated(m)(r.t), nil))
		}
	}
	return out
}

// friedman tests the ranks of the seven methods over databases. Its permutations are
// those of a fixed generator.
func friedman(all []results) judge.Friedman {
	f, err := judge.FriedmanTest(rand.New(rand.NewPCG(1, 1)), meanErrors(all))
	if err != nil {
		judge.Refuse("pa2013: %w", err)
	}
	return f
}

func drawSignificance(all []results) plots.Drawing {
	d := plots.Drawing{Text: &plots.TextTable{Head: []string{"database", "pairs of methods", fmt.Sprintf("interval within ±%g percentage points", 100*equivalent), "significant (Holm, 5 %)", "which", "smallest and largest half-width (percentage points)"}}}
	for _, r := range all {
		d.Text.Rows = append(d.Text.Rows, significant(r))
	}
	ranks := plots.Panel{XLabel: "mean rank of the error (1 is best)", XMin: 1, XMax: float64(len(inTable2))}
	sets := [][]results{all}
	if p := slices.DeleteFunc(slices.Clone(all), func(r results) bool { return r.database().standIn }); len(p) < len(all) {
		sets = append(sets, p)
	}
	note := ""
	for i, set := range sets {
		f, name := friedman(set), []string{"all databases", "without the stand-in"}[i]
		half := make([]float64, len(inTable2))
		for k := range half {
			half[k] = judge.NemenyiDifference(len(set), len(inTable2)) / 2
		}
		ranks.Marks = append(ranks.Marks, plots.Intervals{Name: name, Color: i, Shape: i, Labels: shownNames(inTable2), X: f.MeanRanks, Err: half, Possible: [2]float64{1, float64(len(inTable2))}})
		note += fmt.Sprintf(" Friedman's test, %s: p = %.2g over %d databases.", name, f.P, len(set))
	}
	n := len(sets[len(sets)-1])
	power := judge.FriedmanPower(rand.New(rand.NewPCG(1, 2)), n, len(inTable2), powerAt)
	d.Panels = []plots.Panel{ranks}
	d.Caption = comparisonCaption(all, fmt.Sprintf("Errors with k by validation, seven methods. Figure: mean ranks; two methods differ (Nemenyi's test) if their bars do not overlap. "+
		"Table: per database, how many of the 21 differences have their 95 %% interval within ±%g percentage points (equivalent), and how many are significant after Holm's correction; a difference that is neither is open. Half-widths of the intervals say how large a difference can be seen at all.%s", 100*equivalent, note),
		fmt.Sprintf("With %d databases the power of Friedman's test is low: if one method were the best in each database with probability %g and the others alike, the test would reject at 5 %% with probability %.2f. Only methods whose mean ranks differ by at least %.1f could be told apart (Nemenyi). ",
			n, powerAt, power, judge.NemenyiDifference(n, len(inTable2))))
	return d
}

// significant counts the differences of a database that are small, and those that are
// significant.
func significant(r results) []string {
	var p []float64
	var names, which []string
	same, lo, hi := 0, math.Inf(1), 0.0
	for _, c := range couples() {
		diff := judge.Minus(validated(c.a)(r.t), validated(c.b)(r.t))
		s, sign := r.summary(diff), " < "
		if s.Mean > 0 {
			sign = " > "
		}
		p, names = append(p, judge.ResampledP(diff, r.testRatio())), append(names, shown.Replace(c.a+sign+c.b))
		if s.HasInterval {
			lo, hi = math.Min(lo, s.Half), math.Max(hi, s.Half)
			same += one(math.Abs(s.Mean)+s.Half < equivalent)
		}
	}
	for i, q := range judge.Holm(p) {
		if q <= testLevel {
			which = append(which, names[i])
		}
	}
	width := "–"
	if hi > 0 {
		width = fmt.Sprintf("%.2f to %.2f", 100*lo, 100*hi)
	}
	return []string{r.title(), strconv.Itoa(len(p)), strconv.Itoa(same), strconv.Itoa(len(which)), strings.Join(which, ", "), width}
}

// drawChoice counts, over the trials, which C or γ was chosen and how often all were as good.
func drawChoice(all []results) plots.Drawing {
	text := &plots.TextTable{Head: []string{"database", "method", "chosen (trials)", "as good as the chosen one, mean number", "trials in which all are as good", "largest minus least validation error (percentage points)", "fits stopped at the cap (trials)"}}
	for _, r := range all {
		for _, m := range inTable2 {
			counts := map[float64]int{}
			for _, c := range column("chosen", m, "", "c")(r.t) {
				counts[c]++
			}
			var chosen []string
			for _, c := range slices.Sorted(maps.Keys(counts)) {
				chosen = append(chosen, fmt.Sprintf("%s (%d)", table.Format(c), counts[c]))
			}
			rows := r.sizeIn("selection", validRows)
			if m == itmlTuned {
				rows = r.size(trainRows) // of its own cross-validation
			}
			ties := 0
			var tied, spread []float64
			for _, g := range r.t.Where("kind", "selection", "method", m).Group("trial") {
				wrong := g.Values("count")
				least := slices.Min(wrong)
				n := floats.Count(func(w float64) bool { return w == least }, wrong)
				ties += one(n == len(wrong))
				tied, spread = append(tied, float64(n)), append(spread, (slices.Max(wrong)-least)/rows)
			}
			atCap := "–"
			if m == itmlTuned {
				atCap = fmt.Sprintf("%.0f", floats.Sum(column("work", itmlTuned, capped, "count")(r.t)))
			}
			text.Rows = append(text.Rows, []string{r.title(), shown.Replace(m), strings.Join(chosen, ", "), fmt.Sprintf("%.1f", stat.Mean(tied, nil)), strconv.Itoa(ties),
				fmt.Sprintf("%.1f", 100*stat.Mean(spread, nil)), atCap})
		}
	}
	return plots.Drawing{Text: text, Caption: comparisonCaption(all, "C of the online methods, of seven values, by the error on validation rows, and γ of ITML, of nine values, by its own cross-validation on all training rows. "+
		"Of equals the smallest is taken, which decides where many are as good.", "A fit of ITML at the cap of 100,000 steps has not converged. ")}
}

func drawFig2(all []results, times *table.Table) plots.Drawing {
	d := plots.Drawing{Columns: min(3, len(all)), Text: &plots.TextTable{Head: []string{"database", "method", "learning (s)", "% of ITML", "choice of C or γ (s)", "both, % of ITML", "updates", "projections", "representation"}}}
	least, most := 100., 100.
	for _, r := range all {
		p := plots.Panel{Title: r.title(), XLabel: "CPU time (% of ITML's)", XLog: true}
		alone := plots.Intervals{Name: "learning alone, C and γ given"}
		both := plots.Intervals{Name: "with the choice of C or γ", Color: plots.Vermillion, Shape: plots.Triangle}
		for _, m := range inTable2 {
			learn, tune := spent(times, learnPhase(m))(r.t), spent(times, tunePhase(m))(r.t)
			a := relativeTimeOf(learn, spent(times, learnPhase(itmlTuned))(r.t))
			b := relativeTimeOf(total(times, m)(r.t), total(times, itmlTuned)(r.t))
			updated, removed, kept := "–", mean(column("work", m, projections, "count")(r.t)), "matrix"
			if m != itmlTuned {
				label := shown.Replace(m)
				a.addTo(&alone, label)
				b.addTo(&both, label)
				updated = mean(column("work", m, updates, "count")(r.t))
				if experiment.First(r.t.Where("kind", "work", "method", m, "at", perPair), "count") == 1 {
					kept = perPair
				}
			}
			d.Text.Rows = append(d.Text.Rows, []string{r.title(), shown.Replace(m), seconds(learn), fmt.Sprintf("%.3g", 100*a.of), seconds(tune), fmt.Sprintf("%.3g", 100*b.of), updated, removed, kept})
		}
		for _, v := range slices.Concat(alone.X, alone.Lo, alone.Hi, both.X, both.Lo, both.Hi) {
			if v > 0 { // not NaN
				least, most = min(least, v), max(most, v)
			}
		}
		itml := styles.Reference(itmlTuned, 100)
		itml.Vertical = true
		p.Marks = []plots.Mark{itml, alone, both}
		d.Panels = append(d.Panels, p)
	}
	for i := range d.Panels {
		d.Panels[i].XMin, d.Panels[i].XMax = least/1.2, most*1.2
	}
	d.Caption = comparisonCaption(all, "Mean CPU time of each method divided by ITML's. Learning alone: the T steps and the metric at the end, with what is prepared for them, against ITML's fit with the γ it chose. "+
		"With the choice: adds seven values of C, each with a quarter of the steps that the selection's own training rows would take, and nearest neighbours on validation rows, against ITML's cross-validation of nine γ (18 fits). "+
		"Updates are steps that moved matrix or threshold; projections are eigenvalues removed on the way (online; the projection at the end of ⁻ is in the time) or Bregman projections (ITML).",
		"ITML's time depends on γ and, where it stops there, on its cap of 100,000 steps (see the choices). \""+perPair+"\": a ⁻ learner keeps the squared distance of each pair in place of a matrix where that takes fewer operations; the hypotheses are the same. Jobs run one at a time; learning on small databases is repeated to be measurable. The paper restricted the code to one CPU; here what a method uses on all cores is added up. ")
	d.Caption.Intervals = "Intervals are 95 % jackknife intervals over the trials, of the logarithm."
	return d
}

// relativeTime is a quotient of mean times, with the ends of its interval, which are NaN if there is none.
type relativeTime struct{ of, lo, hi float64 }

// relativeTimeOf compares the times of two methods. The interval is that of the logarithm: a quotient of times is
// positive, and its own interval need not be.
func relativeTimeOf(a, b []float64) relativeTime {
	q := relativeTime{stat.Mean(a, nil) / stat.Mean(b, nil), math.NaN(), math.NaN()}
	if len(a) < judge.MinTrials {
		return q
	}
	of := relative(a, b)
	s := judge.Summarize(judge.PseudoValues(len(a), func(keep func(int) bool) float64 { return math.Log(of(keep)) }))
	if s.HasInterval {
		q.lo, q.hi = q.of*math.Exp(-s.Half), q.of*math.Exp(s.Half)
	}
	return q
}

// addTo adds the quotient to a mark, in per cent.
func (q relativeTime) addTo(m *plots.Intervals, label string) {
	m.Labels, m.X, m.Lo, m.Hi = append(m.Labels, label), append(m.X, 100*q.of), append(m.Lo, 100*q.lo), append(m.Hi, 100*q.hi)
}

// mean formats a mean count.
func mean(values []float64) string { return fmt.Sprintf("%.0f", stat.Mean(values, nil)) }

func seconds(values []float64) string { return fmt.Sprintf("%.3g", stat.Mean(values, nil)) }

func drawTradeoff(all []results) plots.Drawing {
	d := plots.Drawing{Columns: min(3, len(all))}
	for _, r := range all {
		p := plots.Panel{Title: r.title(), XLabel: "error − error at 20 % (points)", Marks: []plots.Mark{plots.Reference{Name: "as at 20 %", Vertical: true, Color: plots.Grey}}}
		for i, part := range slices.DeleteFunc(slices.Clone(snapshots), func(part float64) bool { return part == mainSettings.Part }) {
			mark := plots.Intervals{Name: fmt.Sprintf("after %g %% of all pairs", 100*part), Color: i, Shape: i}
			for _, o := range onlines {
				at := func(part float64) frame.Measure {
					return ofSize(column("snapshot", o.name, table.Format(part), "count"), "", testRows)
				}
				frame.Band{Scale: 100}.By(r.summary).AddRow(&mark, shown.Replace(o.name), at(part).Minus(at(mainSettings.Part))(r.t))
			}
			p.Marks = append(p.Marks, mark)
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = comparisonCaption(all, "Test error, k by validation, of the metric after 5, 10 and 40 % of all pairs of training rows as steps, minus that after the paper's 20 %, in percentage points. To the right of the line 20 % is better.", "C is the one chosen for 20 %. ")
	return d
}

func drawTolerance(all []results, times *table.Table) plots.Drawing {
	d := plots.Drawing{Columns: min(3, len(all)), Text: &plots.TextTable{Head: []string{"database", "method", "tolerance", "updates", "CPU time (s)", "% of tolerance 0", "test error (%)", "change of the error (percentage points)"}}}
	var tried []string
	for _, tol := range tolerances {
		tried = append(tried, table.Format(tol))
	}
	for _, r := range all {
		p := plots.Panel{Title: r.title(), XLabel: "CPU time (% of tolerance 0)", YLabel: "test error (%)"}
		for _, o := range onlines {
			if !strings.HasPrefix(o.name, "PA-LS") {
				continue
			}
			line := styles.Points(shown.Replace(o.name))
			base, before := spent(times, learnPhase(o.name))(r.t), validated(o.name)(r.t)
			add := func(tol float64, took, errors, updates []float64) {
				rel, _ := judge.Summarize(jackknifed(took, base)).Interval()
				line.X, line.Y = append(line.X, 100*rel), append(line.Y, 100*stat.Mean(errors, nil))
				label := ""
				if tol == tolerances[len(tolerances)-1] {
					label = table.Format(tol)
				}
				line.Labels = append(line.Labels, label)
				d.Text.Rows = append(d.Text.Rows, []string{r.title(), shown.Replace(o.name), table.Format(tol), mean(updates), seconds(took), fmt.Sprintf("%.3g", 100*rel),
					fmt.Sprintf("%.2f", 100*stat.Mean(errors, nil)), r.summary(judge.Minus(errors, before)).Percent()})
			}
			add(0, base, before, column("work", o.name, updates, "count")(r.t))
			for _, tol := range tolerances {
				at := table.Format(tol)
				add(tol, spent(times, tolerancePhase(o.name, tol))(r.t), ofSize(column("tolerance", o.name, at, "count"), "", testRows)(r.t), column("tolerance", o.name, at, "second")(r.t))
			}
			p.Marks = append(p.Marks, plots.Line{X: line.X, Y: line.Y, Color: line.Color}, line)
		}
		d.Panels = append(d.Panels, p)
	}
	d.Caption = comparisonCaption(all, fmt.Sprintf("The paper's future work: PA-LS with a tolerance of 0 (at 100 %%, the paper's method) and then, along the line, %s, which is written beside its point. ", strings.Join(tried, ", "))+
		"Horizontal: mean CPU time to learn, relative to tolerance 0; vertical: mean test error.", "A step is passive if the residual |1 + y(d² − b)|, by which the pair misses its ideal distance, is at most the tolerance. k and C are those of tolerance 0. ")
	return d
}

// comparisonChoices are C of the online methods and γ of ITML, per database and method.
func comparisonChoices(t *table.Table) []experiment.Choice {
	var out []experiment.Choice
	for _, r := range resultsOf(t) {
		for _, m := range inTable2 {
			parameter := "C"
			if m == itmlTuned {
				parameter = "γ"
			}
			c := experiment.Choice{What: r.title() + ", " + shown.Replace(m) + ": " + parameter, Chosen: column("chosen", m, "", "c")(r.t)}
			for _, at := range r.t.Where("kind", "selection", "method", m).Unique("at") {
				c.Grid = append(c.Grid, frame.Parse("at", at))
			}
			if len(c.Chosen) > 0 && len(c.Grid) > 0 {
				out = append(out, c)
			}
		}
	}
	return out
}
