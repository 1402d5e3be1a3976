package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/internal/heappeak"
	"metriclab/internal/plural"
	"metriclab/pkg/limits"
	"metriclab/pkg/model"
	"metriclab/pkg/plots"
)

// heapBytes is what the command measures memory by.
var heapBytes = heappeak.Bytes

// allLearners is the word that stands for all of them.
const allLearners = "all"

func (a *app) compareCommand() *cobra.Command {
	var f recipeFlags
	var names, given []string
	var ks []int
	var folds, repeats, validation int
	var limit time.Duration
	var figure, resume string
	var asJSON bool
	byDefault := model.Plan{}.Resolved()
	c := &cobra.Command{
		Use:     "compare {DATA.csv | DATA.svm} --label COLUMN [--learners NAME,NAME,...]",
		Short:   "Compare learners on your own table: error, time, memory, and which to take",
		Example: "  metriclab compare wine.csv --label class --learners euclidean,fda,lmnn,itml --figure compare.svg\n  metriclab compare wine.csv --label class --resume wine.jsonl --time-limit 2h",
		Long: `Evaluate learners on the same splits of a table, those of metriclab evaluate with the
same --seed, and rank them by nearest-neighbour error. Their parameters are the defaults
but for those of --param, such as --param lmnn:k=5.
In each split everything is learned anew from the training rows. The learner of least
estimated cost begins; a line on stderr tells of each that ends. The time of a fit is
measured. Peak memory is what the process took for the splits of a learner, of which
several run at a time, above what it held before: looked at every 5 ms, with garbage
that was not yet collected. What one fit takes is estimated beside it.

Intervals are those of metriclab evaluate. Each learner is compared with the best by the
corrected resampled t test, and the p-values are corrected for their number (Holm 1979).
Where the rows do not tell some learners from the best, the cheapest of these is advised.
The best is chosen by the same errors that the tests use, which flatters it a little.

The least of many errors is too good an estimate: chance helped to choose it. The row
"best by validation" is honest: each split takes the learner that was best in a
cross-validation of its training rows (--validation folds), and its error is that on the
test rows. That costs as many more fits; --validation 0 leaves it out.

A learner is left out before it begins if a fit exceeds --max-memory or all its fits
exceed --time-limit, by rough estimates: within a factor of about 3 on many tables, but
an iterating learner may take 10 times as long. When the time is over, or after an
interrupt, what has finished is ranked, and the others are named. With --resume FILE
finished splits are kept in FILE, and the same command with it goes on from there.

metriclab help tables says how a table is read.`,
		Args: oneTable,
		RunE: func(c *cobra.Command, args []string) error {
			errs := []error{atLeastOne(c, "folds", folds, "repeats", repeats), atLeastOneEach(ks)}
			if limit < 0 {
				errs = append(errs, usageError{fmt.Errorf("flag --time-limit: %v is not allowed, want at least 0, which means none", limit)})
			}
			rows := f.checkRows(c, args[0])
			base, columns, err := f.base(c)
			errs = append(errs, rows, err)
			if rows == nil && err == nil && columns.Unlabelled {
				errs = append(errs, errNoLabel)
			}
			if base.Given != "" {
				errs = append(errs, usageError{errors.New("flag --pairs: want how many to draw: learners are compared on pairs drawn by the classes of training rows, not on a file of pairs")})
			}
			p := model.Comparing{
				Plan:       planned(c, ks, folds, repeats),
				Validation: validation, MostSeconds: limit.Seconds(), CPU: a.world.ProcessCPU, Heap: a.heap,
			}
			if p.Params, err = learnerParams(given); err != nil {
				errs = append(errs, usageError{err})
			}
			if err := together(errs...); err != nil {
				return err
			}
			chosen := names
			if slices.Contains(names, allLearners) {
				if len(names) > 1 {
					return usageError{fmt.Errorf("flag --learners: %q is not allowed, want all, or names", strings.Join(names, ","))}
				}
				chosen = nil
			}
			if !base.Raw && len(chosen) > 0 && !slices.Contains(chosen, model.EuclideanRaw) {
				chosen = append(slices.Clone(chosen), model.EuclideanRaw) // what scaling alone does is seen in every comparison
			}
			if _, _, err := model.Comparable(base, chosen, p.Params); err != nil {
				return usageError{fmt.Errorf("flags --learners and --param: %w", err)}
			}
			if c.Flags().Changed("figure") {
				if ending := strings.ToLower(filepath.Ext(figure)); ending != ".png" && ending != ".svg" {
					return usageError{fmt.Errorf("flag --figure: %q is not allowed, want a file name that ends in .png or .svg", figure)}
				}
				if figure, err = outPath("figure", figure, args[0]); err != nil {
					return err
				}
			}
			if c.Flags().Changed("resume") {
				if resume, err = outPath("resume", resume, args[0]); err != nil {
					return err
				}
				if figure != "" && samePath(resume, figure) {
					return usageError{errors.New("flag --resume: the file is that of --figure, want another one")}
				}
			}
			return a.compare(c.Context(), &comparison{
				table: args[0], rows: f.rows, columns: columns, base: base, names: chosen, plan: p,
				limit: limit, figure: figure, resume: resume, json: asJSON,
			})
		},
	}
	f.addTable(c)
	addArrayLabels(c)
	c.Flags().StringSliceVar(&names, "learners", []string{allLearners}, "learners separated by commas, or all that take a table with classes; metriclab learners lists them")
	completeFlag(c, "learners", completeWords(learnerNames()...))
	c.Flags().StringArrayVar(&given, "param", nil, "parameter of a learner as learner:name=value, such as lmnn:k=5; may be repeated")
	completeFlag(c, "param", completeCompared)
	c.Flags().IntSliceVar(&ks, "k", byDefault.Ks, "numbers of neighbours, separated by commas; of several, each split takes its best")
	c.Flags().IntVar(&folds, "folds", byDefault.Folds, "parts of a cross-validation, from 2 to the number of rows")
	c.Flags().IntVar(&repeats, "repeats", byDefault.Repeats, fmt.Sprintf("how often the rows are divided anew, at most %d", model.MaxRepeats))
	c.Flags().IntVar(&validation, "validation", 3, "folds of the training rows by which a learner is chosen in each split, at least 2; 0 leaves that out")
	c.Flags().DurationVar(&limit, "time-limit", 10*time.Minute, "when to end with what has finished, such as 90s or 2h; 0 means no limit")
	c.Flags().StringVar(&figure, "figure", "", "file for a plot of errors with intervals, .png or .svg")
	c.Flags().StringVar(&resume, "resume", "", "journal of finished splits, to go on from; made if it is not there")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// learnerParams reads the values of --param of compare.
func learnerParams(given []string) (map[string]map[string]string, error) {
	lists := map[string][]string{}
	for _, p := range given {
		learner, param, ok := strings.Cut(p, ":")
		if !ok || learner == "" {
			return nil, fmt.Errorf("flag --param: %q is not allowed: want learner:name=value", p)
		}
		lists[learner] = append(lists[learner], param)
	}
	out := map[string]map[string]string{}
	for learner, list := range lists {
		params, err := parseParams(list)
		if err != nil {
			return nil, err
		}
		out[learner] = params
	}
	return out, nil
}

// givenParams lists parameters by learner: "lmnn k=5, pca dim=2".
func givenParams(params map[string]map[string]string) string {
	var parts []string
	for _, learner := range slices.Sorted(maps.Keys(params)) {
		for _, name := range slices.Sorted(maps.Keys(params[learner])) {
			parts = append(parts, fmt.Sprintf("%s %s=%s", learner, name, params[learner][name]))
		}
	}
	return strings.Join(parts, ", ")
}

// learnerNames are the names with their documentation, for completion.
func learnerNames() []string {
	words := []string{allLearners}
	for _, e := range model.Learners() {
		words = append(words, e.Name+"\t"+e.Doc)
	}
	return words
}

// comparison is what the flags of compare say.
type comparison struct {
	table          string
	rows           tableFormat
	columns        model.Columns
	base           model.Recipe
	names          []string // nil for all
	plan           model.Comparing
	limit          time.Duration
	figure, resume string
	json           bool
}

func (a *app) compare(ctx context.Context, q *comparison) error {
	d, err := atOnce(ctx, func() (*model.Data, error) {
		return a.readLabelled(ctx, q.table, q.rows, q.columns, q.base.ImputeMean)
	})
	if err != nil {
		return err
	}
	limited := ctx
	if q.limit > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, q.limit)
		defer cancel()
	}
	if q.resume != "" {
		j, err := openJournal(q.resume, model.NewJournal(d, q.base, q.plan))
		if err != nil {
			return err
		}
		defer j.Close()
		a.note(q.resume, j.notes)
		if len(j.trials) > 0 {
			fmt.Fprintf(a.err, "%s: %s of an earlier run\n", q.resume, plural.Of(len(j.trials), "finished trial"))
		}
		q.plan.Done, q.plan.Record = j.trials, j.record
	}
	// A meter for each learner and for the validation, which ends before the line on it.
	var mu sync.Mutex
	var show model.Progress
	var inside func(split, done, total int)
	end := func() {}
	q.plan.Progress = func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if show == nil {
			show, inside, end = a.insideSplits(limited, total)
		}
		show(done, total)
	}
	q.plan.Inside = func(split, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if show != nil {
			inside(split, done, total)
		}
	}
	ended := func() {
		mu.Lock()
		defer mu.Unlock()
		end()
		show, end = nil, func() {}
	}
	q.plan.Ended = func(e model.Contender) {
		ended()
		fmt.Fprintln(a.err, progressLine(e))
	}
	r, err := model.Compare(limited, d, q.base, q.names, q.plan)
	ended()
	if err != nil {
		return tableError(err)
	}
	if q.figure != "" && len(r.Ranked) > 0 {
		if err := drawComparison(q.figure, d.Name, r); err != nil {
			return err
		}
	}
	if q.json {
		err = a.printJSON(comparisonJSON(d, r))
	} else {
		err = a.printComparison(d, r, q)
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case len(r.Ranked) == 0:
		return errors.New("no learner has finished")
	}
	return nil
}

// progressLine tells of a learner that has ended.
func progressLine(e model.Contender) string {
	name := e.Recipe.Learner
	switch e.State {
	case model.Finished:
		return fmt.Sprintf("%s: error %s %%%s", name, e.Score.Summary.Percent(), perFit(e))
	case model.LeftOut:
		return fmt.Sprintf("%s: left out, %s", name, e.Reason)
	}
	return fmt.Sprintf("%s: %s, %s", name, e.State, e.Reason)
}

// perFit tells the CPU time of a fit, if it was measured.
func perFit(e model.Contender) string {
	if e.Fit == 0 {
		return ""
	}
	return fmt.Sprintf(", %s a fit", seconds(e.Fit))
}

// seconds writes a CPU time.
func seconds(s float64) string {
	switch {
	case s == 0:
		return "-"
	case s < 0.001:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}

// pValue writes a p-value.
func pValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case p < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func (a *app) printComparison(d *model.Data, r *model.Comparison, q *comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, %s: %s\n", d.Name, plural.Of(r.Rows, "row"), plural.Of(r.Features, "feature"), countClasses(len(r.Classes)), classCounts(r.Classes, r.Counts))
	how := "features standardised"
	if q.base.Raw {
		how = "features as they are"
	}
	fmt.Fprintf(&b, "%d x %d-fold stratified cross-validation, seed %d; %s; everything learned anew in each split\n%s\n", r.Plan.Repeats, r.Plan.Folds, r.Plan.Seed, how, describeKs(r.Plan.Ks))
	if given := givenParams(q.plan.Params); given != "" {
		fmt.Fprintf(&b, "other parameters than the defaults: %s\n", given)
	}
	fmt.Fprintln(&b)
	if len(r.Ranked) > 0 {
		w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
		fmt.Fprintln(w, "learner\tkNN error in %, 95 % interval\tminus the best\tp\tp (Holm)\tCPU time of a fit\tpeak memory\tof a fit, estimated")
		for i, e := range r.Ranked {
			minus := interval(e.Difference)
			if i == 0 {
				minus = "-"
			}
			peak := "-"
			if e.Peak > 0 {
				peak = limits.Size(e.Peak)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Recipe.Learner, interval(e.Score.Summary), minus, pValue(e.P), pValue(e.Holm), seconds(e.Fit), peak, limits.Size(e.Cost.Bytes))
		}
		if s := r.ByValidation; s != nil {
			fmt.Fprintf(w, "best by validation\t%s\t\t\t\t\t\t\n", interval(s.Summary))
		}
		w.Flush()
		fmt.Fprintln(&b)
	}
	if len(r.Chosen) > 0 {
		fmt.Fprintf(&b, "Best by validation: %d folds of the training rows chose %s.\n", r.Validation, chosenWords(r.Chosen))
	}
	for _, e := range r.Others {
		fmt.Fprintf(&b, "%s: %s: %s.\n", upperFirst(string(e.State)), e.Recipe.Learner, e.Reason)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "Note: %s.\n", n)
	}
	switch {
	case r.Err == nil:
	case errors.Is(r.Err, context.DeadlineExceeded):
		fmt.Fprintf(&b, "The time limit of %v ended the comparison.%s\n", q.limit, hintResume(q))
	default:
		fmt.Fprintf(&b, "Interrupted.%s\n", hintResume(q))
	}
	fmt.Fprintln(&b, advice(r))
	if q.figure != "" && len(r.Ranked) > 0 {
		fmt.Fprintf(&b, "drawn to %s\n", q.figure)
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

func hintResume(q *comparison) string {
	if q.resume == "" {
		return " --resume FILE would keep what is done."
	}
	return " The same command goes on from " + q.resume + "."
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// chosenWords counts names: "fda in 30 splits, lmnn in 20".
func chosenWords(names []string) string {
	count := map[string]int{}
	for _, n := range names {
		count[n]++
	}
	order := slices.Compact(slices.Sorted(slices.Values(names)))
	slices.SortStableFunc(order, func(x, y string) int { return count[y] - count[x] })
	var parts []string
	for _, n := range order {
		parts = append(parts, fmt.Sprintf("%s in %s", n, plural.Of(count[n], "split")))
	}
	return strings.Join(parts, ", ")
}

// advice is the sentence on which learner to take.
func advice(r *model.Comparison) string {
	if len(r.Ranked) == 0 {
		return "No learner has finished."
	}
	best := r.Ranked[0].Recipe.Learner
	tied := r.Tied()
	take, ok := r.Take()
	switch {
	case len(r.Ranked) == 1:
		return fmt.Sprintf("Only %s has finished: there is nothing to compare it with.", best)
	case !ok:
		return fmt.Sprintf("Too few splits to compare; %s has the least error on these.", best)
	case len(tied) == 1:
		return fmt.Sprintf("Take %s: it is better than each other at a level of 0.05, corrected for their number.", best)
	}
	var others []string
	for _, e := range tied[1:] {
		others = append(others, e.Recipe.Learner)
	}
	from := strings.Join(others, ", ")
	if len(tied) == len(r.Ranked) && len(others) > 1 {
		from = "any other"
	}
	s := fmt.Sprintf("These rows do not tell %s from %s. ", best, from)
	switch take.Recipe.Learner {
	case model.Euclidean, model.EuclideanRaw:
		return s + fmt.Sprintf("Take %s: nothing needs to be learned.", take.Recipe.Learner)
	case best:
		return s + fmt.Sprintf("Take %s: it has the least error and is the cheapest of these.", best)
	}
	return s + fmt.Sprintf("Take %s, the cheapest of these, by estimate.", take.Recipe.Learner)
}

// drawComparison draws the errors.
func drawComparison(path, name string, r *model.Comparison) error {
	files, err := r.Drawing(name).Render("compare", plots.Options{})
	if err != nil {
		return err
	}
	ending := strings.ToLower(filepath.Ext(path))
	for _, f := range files {
		if f.Name == "compare"+ending {
			return atomicfile.Write(path, f.Data)
		}
	}
	return nil
}

// journal is an open journal.
type journal struct {
	f      *os.File
	j      model.Journal
	trials []model.Trial
	notes  []string
}

// openJournal opens a journal to go on, or begins one. It writes only at the end, a whole line at a time, so that other runs may do so at once.
func openJournal(path string, j model.Journal) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	trials, notes, whole, err := j.Read(f, path)
	var begin []byte
	if !whole {
		begin = []byte("\n") // ends the last line, whose writer was killed
	}
	if len(trials) == 0 {
		begin = append(begin, j.Head()...)
	}
	if err == nil && len(begin) > 0 {
		_, err = f.Write(begin)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("flag --resume: %w", err)
	}
	return &journal{f, j, trials, notes}, nil
}

func (j *journal) record(t model.Trial) error {
	_, err := j.f.Write(j.j.Line(t))
	return err
}

func (j *journal) Close() error { return j.f.Close() }

// compared is the JSON of compare. Errors are shares; p-values are null where there is no test.
type compared struct {
	Data         string         `json:"data"`
	Rows         int            `json:"rows"`
	Features     int            `json:"features"`
	Classes      map[string]int `json:"classes"`
	Folds        int            `json:"folds"`
	Repeats      int            `json:"repeats"`
	Seed         uint64         `json:"seed"`
	Ks           []int          `json:"ks"`
	Validation   int            `json:"validation_folds"`
	Level        float64        `json:"level"`
	IntervalFrom string         `json:"interval"`

	Ranked       []comparedLearner `json:"ranked"`
	ByValidation *comparedScore    `json:"best_by_validation"`
	Chosen       []string          `json:"chosen_by_validation"` // in each split
	Others       []comparedOther   `json:"others"`
	Take         string            `json:"take"`
	Tied         []string          `json:"tied"`
	Notes        []string          `json:"notes"`
	Complete     bool              `json:"complete"` // neither time limit nor interrupt ended it
	Advice       string            `json:"advice"`
}

type comparedScore = evaluatedScore

type comparedLearner struct {
	Recipe model.Recipe `json:"recipe"`
	comparedScore
	Difference evaluatedMean `json:"minus_best"`
	P          *float64      `json:"p"`
	Holm       *float64      `json:"p_holm"`
	FitSeconds float64       `json:"fit_cpu_seconds"`
	FitBytes   int64         `json:"fit_bytes_estimated"`
	PeakBytes  int64         `json:"peak_bytes"` // of the process, for the splits that ran at a time; 0 if not measured
}

type comparedOther struct {
	Learner string      `json:"learner"`
	State   model.State `json:"state"`
	Reason  string      `json:"reason"`
}

func comparisonJSON(d *model.Data, r *model.Comparison) compared {
	number := func(p float64) *float64 {
		if math.IsNaN(p) {
			return nil
		}
		return &p
	}
	out := compared{
		Data: d.Name, Rows: r.Rows, Features: r.Features, Classes: map[string]int{}, Folds: r.Plan.Folds, Repeats: r.Plan.Repeats, Seed: r.Plan.Seed,
		Ks: r.Plan.Ks, Validation: r.Validation, Level: 0.95, IntervalFrom: "corrected resampled t (Nadeau and Bengio 2003)",
		Ranked: []comparedLearner{}, Chosen: append([]string{}, r.Chosen...), Others: []comparedOther{}, Tied: []string{},
		Notes: append([]string{}, r.Notes...), Complete: r.Err == nil, Advice: advice(r),
	}
	for i, c := range r.Classes {
		out.Classes[c] = r.Counts[i]
	}
	score := func(s *model.Score) comparedScore { return comparedScore{meanJSON(s.Summary), s.Errors, s.Ks} }
	for _, e := range r.Ranked {
		out.Ranked = append(out.Ranked, comparedLearner{e.Recipe, score(&e.Score), meanJSON(e.Difference), number(e.P), number(e.Holm), e.Fit, e.Cost.Bytes, e.Peak})
	}
	if s := r.ByValidation; s != nil {
		out.ByValidation = new(score(s))
	}
	for _, e := range r.Others {
		out.Others = append(out.Others, comparedOther{e.Recipe.Learner, e.State, e.Reason})
	}
	if take, ok := r.Take(); ok {
		out.Take = take.Recipe.Learner
	}
	for _, e := range r.Tied() {
		out.Tied = append(out.Tied, e.Recipe.Learner)
	}
	return out
}
