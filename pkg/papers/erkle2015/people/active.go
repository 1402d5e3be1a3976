// Package people has the experiments on answers of people, or of stand-ins: Figs. 3 and 4, scenes, and questions that are chosen.
package people

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/costs"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// activeSet are points about which questions are asked.
type activeSet struct {
	name, points string
	dim          int
	flipped      float64
}

// activeSets are those of Active, one per cell.
var activeSets = []activeSet{
	{"60 points in R²", "60 points in R2", 2, 0},
	{"60 points in R², 10 % flipped", "60 points in R2", 2, .1},
	{"60 points in R³", "60 points in R3", 3, 0},
	{"60 points in R⁵⁰", "60 points in R50", 50, 0},
}

// activeSettings are those of a cell.
type activeSettings struct {
	Objects int     `key:"objects"`
	Dim     int     `key:"dimensions"`
	Flipped float64 `key:"flipped"` // probability that an answer is flipped
	// Candidates is the number of pairs that are weighed per question. It is smaller than the number of pairs of an
	// object, so that a question can be drawn anew.
	Candidates int   `key:"candidates"`
	HeldOut    oneOf `key:"held out"` // share of the questions that test
	First      int   `key:"random answers per object"`
	At         []int `key:"answers per object,list"` // after which the error is measured
	Tau        int   `key:"τ"`                       // of the batch methods, which are fitted anew once per answer and object
	Iterations int   `key:"iterations"`
}

// oneOf is a share: one of so many.
type oneOf int

func (n oneOf) String() string {
	if n == 5 {
		return "a fifth"
	}
	return fmt.Sprintf("1/%d", int(n))
}

// activeOf are the settings of a scale, but for dimensions and flips.
func activeOf(scale experiment.Scale) activeSettings {
	s := activeSettings{
		Objects: 60, Candidates: 100, HeldOut: 5, First: activeFirst, At: []int{2, 4, 6, 8, 10, 15, 20, 25, 30, 40}, Tau: activeTau, Iterations: activeIterations,
	}
	if scale == experiment.Smoke {
		s.Objects, s.Candidates, s.At = 12, 10, []int{3, 6, 8, 10, 12}
	}
	return s
}

// The rules of erkle2015/active as tables name them.
const (
	askRandom    = "random"
	askUncertain = "uncertainty"
	askCrowd     = "gain (crowd)"
	askLogistic  = "gain (logistic)"
)

// activeRules are the rules by which questions are asked.
var activeRules = []string{askRandom, askUncertain, askCrowd, askLogistic}

// selectors are the parameters of the rules.
var selectors = map[string]triplets.SelectorParams{
	askRandom:    {Rule: triplets.SelectRandom},
	askUncertain: {Rule: triplets.SelectUncertainty},
	askCrowd:     {Rule: triplets.SelectInformationGain, Model: triplets.AnswerCrowd},
	askLogistic:  {Rule: triplets.SelectInformationGain, Model: triplets.AnswerLogistic},
}

// activeLearners learn the kernel by which the questions are asked.
var activeLearners = []string{protocol.PAERKLE, protocol.PAERKLETen, protocol.STEBatch, protocol.CKLBatch}

// activeID is the name of Active.
const activeID = "erkle2015/active"

// Active asks questions by four rules and learns from the answers.
var Active = experiment.Spec{
	ID:      activeID,
	Title:   "Questions chosen by what is known, against random ones",
	Source:  "Section 6, which names active selection as future work",
	Ours:    true,
	Version: 1,
	Cells:   func(scale experiment.Scale) []experiment.Cell { return activeCells(scale, activeSets) },
	Trials:  experiment.Trials(10),
	Columns: activeColumns,
	Trial:   activeTrial,
	Views: []experiment.View{
		{Name: "active", Title: "Error against the number of answers, PA-ERKLE", Draw: activeErrors(protocol.PAERKLE).Draw},
		{Name: "active-ten", Title: "Error against the number of answers, PA-ERKLE with 10 passes", Draw: activeErrors(protocol.PAERKLETen).Draw},
		{Name: "active-ste", Title: "Error against the number of answers, STE-Batch", Draw: activeErrors(protocol.STEBatch).Draw},
		{Name: "active-ckl", Title: "Error against the number of answers, CKL-Batch", Draw: activeErrors(protocol.CKLBatch).Draw},
		{Name: "active-answers", Title: "Answers that each rule needs", Draw: drawActiveAnswers},
	},
	Claims: activeClaims,
	Cost:   11 * time.Second,
}

// activeCells has a cell for each set of points.
func activeCells(scale experiment.Scale, sets []activeSet) []experiment.Cell {
	var cells []experiment.Cell
	for _, set := range sets {
		s, dataset := activeOf(scale), set.points
		s.Dim, s.Flipped = set.dim, set.flipped
		if scale == experiment.Smoke {
			s.Dim, dataset = min(set.dim, 5), "generated "+dataset
		}
		cells = append(cells, experiment.Cell{
			Name: set.name, Dataset: dataset, Settings: s,
			Methods: map[string]int{"ERKLE": triplets.ERKLEVersion, "batch": triplets.BatchVersion, "selector": triplets.SelectorVersion, "respondent": triplets.RespondentVersion},
		})
	}
	return cells
}

var activeColumns = append(experiment.Columns{
	experiment.Text("method", "the learner of the kernel by which questions are asked"),
	experiment.Text("rule", "the rule by which questions are chosen"),
	experiment.Text("per object", "number of answers per object so far"),
}, protocol.ErrorColumns("test")...)

func activeTrial(ctx context.Context, run *experiment.Run) error {
	return askedBy(ctx, run, activeLearners)
}

// askedBy has each learner ask by each rule, about the same points.
func askedBy(ctx context.Context, run *experiment.Run, learners []string) error {
	s, seed := run.Cell.Settings.(activeSettings), run.Seed
	all, err := synthetic.GaussianComparisons(seed.Stream("points"), s.Objects, s.Dim)
	if err != nil {
		return err
	}
	held, err := s.holdOut(all, seed)
	if err != nil {
		return err
	}
	for _, method := range learners {
		for _, rule := range activeRules {
			person, err := triplets.NewPointRespondent(seed.PCG("answers"), all.Points(), s.Flipped)
			if err != nil {
				return err
			}
			qs, err := newQuestions(s, rule, held, seed)
			if err != nil {
				return err
			}
			learner, err := newAsker(s, method, seed)
			if err != nil {
				return err
			}
			if err := ask(ctx, qs, person, learner, s.At, func(per int, k mat.Symmetric) {
				v := table.Values{}
				protocol.ErrorsOf(k, held).Put(v, "test")
				run.Rows.Add(table.Key{"method": method, "rule": rule, "per object": strconv.Itoa(per)}, v)
			}); err != nil {
				return fmt.Errorf("%s, %s: %w", method, rule, err)
			}
		}
	}
	return nil
}

// holdOut draws a share of all questions, which test and are never asked.
func (s activeSettings) holdOut(all *synthetic.Comparisons, seed random.Seed) ([]metric.Triplet, error) {
	parts, err := all.Sample(seed.Stream("held out"), all.Len()/int(s.HeldOut))
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}

// questions chooses questions that are not held out: the first ones of each object at random, the others by a rule. In a trial the
// first ones are the same for all rules.
type questions struct {
	random        int // how many per object are the first ones
	first, chosen *triplets.Selector
	held          map[triplets.Query]struct{}
}

func newQuestions(s activeSettings, rule string, held []metric.Triplet, seed random.Seed) (*questions, error) {
	p := selectors[rule]
	p.Candidates = s.Candidates
	first, err := triplets.NewSelector(seed.PCG("first questions"), s.Objects, triplets.SelectorParams{Rule: triplets.SelectRandom})
	if err != nil {
		return nil, err
	}
	chosen, err := triplets.NewSelector(seed.PCG("questions"), s.Objects, p)
	if err != nil {
		return nil, err
	}
	q := &questions{s.First, first, chosen, make(map[triplets.Query]struct{}, len(held))}
	for _, t := range held {
		q.held[triplets.QueryOf(t)] = struct{}{}
	}
	return q, nil
}

// maxDraws bounds the draws of a question. One draw in five is of a question that is held out, and more only where
// most others are answered.
const maxDraws = 10000

// next returns the next question under the kernel k, when each object has been the head of at least per answers.
func (q *questions) next(per int, k mat.Symmetric) (triplets.Query, error) {
	s := q.chosen
	if per < q.random {
		s = q.first
	}
	for range maxDraws {
		x := s.Next(k)
		if _, held := q.held[x]; !held {
			return x, nil
		}
	}
	return triplets.Query{}, fmt.Errorf("erkle2015: questions: %d draws were held out", maxDraws)
}

func (q *questions) learn(t metric.Triplet) error {
	return errors.Join(q.first.Learn(t), q.chosen.Learn(t))
}

// ask has a person answer questions and a learner learn from the answers, and calls at with its kernel after so many
// answers per object.
func ask(ctx context.Context, qs *questions, person *triplets.Respondent, learner asker, checkpoints []int, at func(per int, k mat.Symmetric)) error {
	for per := range slices.Max(checkpoints) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for range learner.kernel().SymmetricDim() {
			q, err := qs.next(per, learner.kernel())
			if err != nil {
				return err
			}
			t := person.Answer(q)
			if err := errors.Join(learner.learn(t), qs.learn(t)); err != nil {
				return err
			}
		}
		if err := learner.round(ctx); err != nil {
			return err
		}
		if slices.Contains(checkpoints, per+1) {
			at(per+1, learner.kernel())
		}
	}
	return nil
}

// asker learns the kernel by which questions are asked.
type asker interface {
	kernel() mat.Symmetric
	learn(t metric.Triplet) error
	// round is called when each object has been the head of one more answer.
	round(ctx context.Context) error
}

func newAsker(s activeSettings, method string, seed random.Seed) (asker, error) {
	if learning.IsBatch(method) {
		return &batchAsker{p: triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: protocol.BatchOf(method).Loss, Tau: float64(s.Tau), Iterations: s.Iterations, Tol: protocol.BatchTol}, k: costs.IdentityOf(s.Objects)}, nil
	}
	p := protocol.ErkleParams(method)
	p.Seed = seed.PCG("passes").Uint64()
	l, err := triplets.NewERKLE(s.Objects, p)
	return onlineAsker{l}, err
}

// onlineAsker learns from each answer.
type onlineAsker struct{ l *triplets.ERKLE }

func (a onlineAsker) kernel() mat.Symmetric { return a.l.Kernel() }

func (a onlineAsker) learn(t metric.Triplet) error { _, err := a.l.Step(t); return err }

func (a onlineAsker) round(context.Context) error { return nil }

// batchAsker fits a batch method to all answers once per round, as Tamuz et al. do with CKL.
type batchAsker struct {
	p  triplets.BatchParams
	k  *mat.SymDense
	ts []metric.Triplet
}

func (a *batchAsker) kernel() mat.Symmetric { return a.k }

func (a *batchAsker) learn(t metric.Triplet) error { a.ts = append(a.ts, t); return nil }

func (a *batchAsker) round(ctx context.Context) error {
	a.p.Initial = a.k
	r, err := triplets.FitBatch(ctx, a.k.SymmetricDim(), a.ts, a.p)
	a.k = r.Kernel
	return err
}

// activeStyles are the lines of the rules.
var activeStyles = []plots.Line{{Name: askRandom, Color: plots.Grey}, {Name: askUncertain}, {Name: askCrowd, Color: plots.Vermillion, Dash: plots.Dashed}, {Name: askLogistic, Color: plots.Green, Dash: plots.Dotted}}

// activePanel shows the errors of a learner on some points.
func activePanel(title string) frame.Panel {
	return frame.Panel{Panel: plots.Panel{Title: title, XLabel: "answers per object", YLabel: "error on questions held out (%)"}, Of: frame.Lines("rule", activeStyles, "per object", protocol.TestErrors, frame.Percent)}
}

// What the captions of active selection say of the questions, and of how they are chosen.
const (
	activeData  = "A simulated person answers questions \"is A more like B or like C?\" by the distances of points drawn from N(0, I) (ours; the paper names active selection as future work). A random fifth of all questions tests: none of them is asked, and a choice that falls on one is drawn anew."
	activeAbout = "All objects are A equally often, and the rules choose B and C. Random: at random. Uncertainty: of 100 random questions the one whose two distances under the current kernel differ least. " +
		"Gain: of these the one with the greatest expected information gain about where A is among the places of all objects (Tamuz et al. 2011). A model of an answer is their crowd model (μ = 0.05) or the logistic one of STE. The first 6 answers per object are to random questions, the same for all rules. No question is asked twice. "
	activeSmoke = " At smoke scale there are 12 points, in at most 5 dimensions, and 10 random questions are weighed."
)

var activeRefit = fmt.Sprintf("The kernel is fitted anew to all answers after one more per object, with the weight τ = %d of the trace (ours, not tuned), in up to %d accelerated steps from the one before. The questions in between are chosen by the same kernel.", activeTau, activeIterations)

var activeSetups = map[string]string{
	protocol.PAERKLE:    "The kernel is that of PA-ERKLE with one update per answer, and the next question is chosen by it.",
	protocol.PAERKLETen: "The kernel is that of PA-ERKLE with 10 passes: after each answer 9 more updates with random earlier ones.",
	protocol.STEBatch:   "The kernel is that of STE-Batch, whose loss the logistic model belongs to. " + activeRefit,
	protocol.CKLBatch:   "The kernel is that of CKL-Batch, whose loss the crowd model belongs to. " + activeRefit,
}

// activeErrors shows the errors of a learner.
func activeErrors(method string) frame.View {
	return frame.View{
		Of: []string{"method", method}, Columns: 2, Missing: "any trial",
		Panels: frame.PerGroup(func(cells []string) frame.Panel { return activePanel(cells[0]) }, "cell"),
		Caption: frame.Says("Share of the questions held out, which are answered without flips, whose answers the kernel does not satisfy, a tie counting as not satisfied, against the number of answers per object.",
			activeData, activeAbout+activeSetups[method]+activeSmoke, ""),
	}
}

// answersTo returns the number of answers per object after which the mean error first is at most target, by linear
// interpolation between checkpoints; NaN if it never is.
func answersTo(per, errors []float64, target float64) float64 {
	for i, e := range errors {
		switch {
		case e > target:
		case i == 0:
			return per[0]
		default:
			return per[i-1] + (per[i]-per[i-1])*(errors[i-1]-target)/(errors[i-1]-e)
		}
	}
	return math.NaN()
}

func drawActiveAnswers(t *table.Table) (plots.Drawing, error) {
	text := &plots.TextTable{Head: []string{"points", "learner", "rule", "error at the end (%)", "ties count half (%)", "answers per object to the error of random questions at the end"}}
	for key, g := range t.Groups("cell", "method") {
		target := math.NaN()
		for _, rule := range activeRules {
			g := g.Where("rule", rule)
			line, ok := frame.Line(plots.Line{}, "per object", protocol.TestErrors, frame.Percent)(g).(plots.Line)
			if !ok {
				continue
			}
			if rule == askRandom {
				target = line.Y[len(line.Y)-1]
			}
			needs := "more than asked"
			if v := answersTo(line.X, line.Y, target); v == v {
				needs = fmt.Sprintf("%.1f", v)
			}
			end := g.Where("per object", fmt.Sprint(line.X[len(line.X)-1]))
			text.Rows = append(text.Rows, []string{key[0], key[1], rule, judge.Summarize(protocol.TestErrors(end)).Percent(), judge.Summarize(protocol.TestHalf(end)).Percent(), needs})
		}
	}
	return frame.Given("any trial", plots.Drawing{Text: text}, func() plots.Caption {
		return frame.Says("Error on the questions held out, which are answered without flips, after the last answer. Then the number of answers per object after which the mean error, interpolated between the points of the figures, first is as small as that of random questions after the last answer.",
			activeData, activeAbout+"Of batch methods: "+activeRefit, "")(t)
	}), nil
}

// activeClaimsAt returns the numbers of answers per object at which the claims compare: a quarter of the last one, half
// of it and itself, which are 10, 20 and 40 at full scale.
func activeClaimsAt(t *table.Table) []string {
	last := int(experiment.Last("answers per object", frame.Numbers(t, "per object")))
	return []string{strconv.Itoa(last / 4), strconv.Itoa(last / 2), strconv.Itoa(last)}
}

const activePredicate = "Error on the comparisons held out with random questions minus that with the rule's, paired by trial, is positive after 10, 20 and 40 answers per object on each of the four sets of points. Readings: "

var activeClaims = experiment.Claims([]experiment.Claim{
	{
		ID:        "active-gain",
		Ours:      true,
		View:      "active",
		Title:     "Ours: after equally many answers, questions of the greatest information gain leave a smaller error than random ones.",
		Statement: "Ours: after equally many answers the error on comparisons never asked is smaller with questions of the greatest information gain than with random ones.",
		Where:     activeWhere, Theirs: "not in the paper",
		Predicate: activePredicate + "each learner with each model of an answer.",
		Test:      testActive(activeSets, protocol.Pairs(activeLearners, []string{askCrowd, askLogistic})),
	},
	{
		ID:        "active-gain-fitted",
		Ours:      true,
		View:      "active-ckl",
		Title:     "Ours: questions of the greatest information gain beat random ones where the kernel is fitted to all answers.",
		Statement: "Ours: where the kernel is fitted to all answers with the loss of the model of an answer, after equally many answers the error on comparisons never asked is smaller with questions of the greatest information gain than with random ones.",
		Where:     activeWhere, Theirs: "not in the paper",
		Predicate: activePredicate + "STE-Batch with the logistic model, CKL-Batch with the crowd model.",
		Test:      testActive(activeSets, [][2]string{{protocol.STEBatch, askLogistic}, {protocol.CKLBatch, askCrowd}}),
	},
	{
		ID:        "active-uncertainty",
		Ours:      true,
		View:      "active",
		Title:     "Ours: after equally many answers, questions whose answer is least certain leave a smaller error than random ones.",
		Statement: "Ours: after equally many answers the error on comparisons never asked is smaller with questions whose answer is least certain than with random ones.",
		Where:     activeWhere, Theirs: "not in the paper",
		Predicate: activePredicate + "each learner.",
		Test:      testActive(activeSets, protocol.Pairs(activeLearners, []string{askUncertain})),
	},
})

const activeWhere = "not in the paper (Section 6 names active selection as future work)"

// testActive tests that rules beat random questions: a reading for each learner with its rule.
func testActive(sets []activeSet, asked [][2]string) frame.Test {
	return frame.Under(asked, func(a [2]string) (string, frame.Test) {
		of := func(rule, per string) frame.Measure {
			return protocol.TestErrors.PerTrial("method", a[0], "rule", rule, "per object", per)
		}
		return a[0] + ", " + a[1], frame.Positive(protocol.Points, func(t *table.Table) (out []judge.Unit) {
			for _, set := range sets {
				out = append(out, frame.Over(activeClaimsAt(t), func(per string) (string, frame.Measure) {
					return set.name + " after " + per, of(askRandom, per).Minus(of(a[1], per)).Where("cell", set.name)
				})(t)...)
			}
			return out
		})
	})
}
