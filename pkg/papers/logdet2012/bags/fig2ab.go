// Package bags has the experiments on bags of words and of local features: Figs. 2(a, b) and 3.
package bags

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// Fig2ab is the comparison on texts: nearest neighbours of documents under the identity plus a matrix of low rank, against
// the size of its basis, which is made of the class labels. Beside the paper's lines it has controls, which tell what is
// learned from what the labels in the basis give.
//
// Vocabulary, idf and column means of a fold are those of its training documents. The cross-validation inside it uses them, too, and
// makes none anew.
var Fig2ab = experiment.Spec{
	ID:      protocol.PaperKey + "/fig2ab",
	Title:   "Texts: accuracy of nearest neighbours against the size of the basis of a low-rank metric",
	Source:  "Sections 3.6 and 6.2, Fig. 2(a, b)",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, c := range collections {
			for _, r := range c.readings() {
				s, dataset := c.settings(r, scale)
				cells = append(cells, experiment.Cell{Name: s.Collection + ", " + r.name, Dataset: dataset, Methods: textVersions, Settings: s})
			}
		}
		return cells
	},
	Trials:  experiment.Trials(5),
	Kinds:   fig2abKinds,
	Columns: fig2abColumns,
	Trial:   fig2abTrial,
	Views:   fig2abViews,
	Claims:  fig2abClaims,
	Choices: protocol.Fig2abChoices,
	Cost:    200 * time.Second,
}

var textVersions = map[string]int{
	"IPLR": iplr.Version, "basis": iplr.BasisVersion, "LSA": labels.LSAVersion, "LMNN": labels.LMNNVersion, "text": text.Version,
}

func (c collection) settings(r textReading, scale experiment.Scale) (s textSettings, dataset string) {
	dataset = c.dataset
	s = textSettings{
		Panel: c.panel, Collection: c.name, Norm: r.norm, Train: r.train, Terms: 5000, K: 10, Links: 100, Sizes: c.sizes,
		Gammas: protocol.MainSettings.Gammas, Ts: []float64{-0.5, 0, 1, 3, 10, 30, 100, 300}, Targets: []int{3}, Mus: []float64{0.25, 0.5, 0.75},
		Final: protocol.Budget{Projections: 1_000_000, Iterations: 1_000}, Choice: protocol.Budget{Projections: 200_000, Iterations: 200},
		Inner: 4000, Bounds: 2000, LMNN: 1000,
	}
	if scale == experiment.Smoke {
		s.Collection, s.Terms, s.K, s.Links, s.Sizes = c.madeUp, 150, 5, 15, c.madeUpSizes
		s.Gammas, s.Ts, s.Mus = []float64{0.1, 10}, []float64{0, 10}, []float64{0.5, 0.75}
		s.Final, s.Choice = protocol.Budget{Projections: 1_000, Iterations: 50}, protocol.Budget{Projections: 500, Iterations: 20}
		s.Inner, s.Bounds, s.LMNN = 40, 30, 30
		if s.Train > 0 {
			s.Train = 50
		}
		dataset = vectors.MadeUpNews
	}
	if r == allRaw {
		s.LMNN = 0
	}
	return s, dataset
}

// length is the cell of its rows.
func (s textSettings) length() string {
	return textReadings[slices.IndexFunc(textReadings, func(r textReading) bool { return r.norm == s.Norm && (r.train > 0) == (s.Train > 0) })].length
}

// topics is how many topics of made-up news a trial has.
func (s textSettings) topics() int {
	for _, c := range collections {
		if c.madeUp == s.Collection {
			return c.topics
		}
	}
	return 0
}

var (
	fig2abKinds = append([]experiment.Kind{
		{Name: "size", Meaning: "a size of the data, of a training fold, of its pairs or of the protocol"},
		{Name: "bound", Meaning: "u or ℓ among the squared Euclidean distances of training documents"},
		{Name: "rank", Meaning: "dimensions of a basis"},
		{Name: "pairs", Meaning: "pairs of a training fold that a fit cannot use, or that ask for nothing"},
		{Name: "wrong", Meaning: "test documents classified wrongly, per fold"},
		{Name: "inner", Meaning: "documents classified wrongly in the inner cross-validation of a fold, per candidate"},
	}, vectors.FitKinds...)
	fig2abColumns = experiment.Columns{
		experiment.Text("panel", "panel of the figure: a or b"),
		experiment.Text("collection", "the collection of documents"),
		experiment.Text("length", "length of the documents' vectors: unit, or none for tf-idf as it is of a part of the training documents, or of all"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "method, by the name in the figure's legend").In(append([]string{"pairs"}, vectors.PerMethod...)...),
		experiment.Text("basis", "size of the basis; of Euclidean, which has none, 0").In(append([]string{"rank", "pairs"}, vectors.PerMethod...)...),
		experiment.Text("fold", "number of the test fold, 0 or 1"),
		experiment.Text("at", "size: which one; bound: u or l; pairs: infeasible (similar, no metric of the basis satisfies them), vacuous (dissimilar, every one does) or skipped (none moves them); inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for those on the training fold").
			In("size", "bound", "pairs", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; bound: the squared distance; rank: the dimensions; otherwise how many documents, pairs, candidates or fits the kind counts"),
		experiment.Number("of", "", "size: what it is a part of, or the size itself; bound: the median squared distance; rank: the size asked for; pairs: those of that label, or all; wrong and inner: documents tested; chosen: candidates; stopped and failed: fits made"),
	}
)

// loadTexts returns the documents of a cell as bags of stems, and their classes.
func loadTexts(env *experiment.Env, seed random.Seed, dataset string, s textSettings) (bags []text.Bag, y []int, err error) {
	analyzer := text.NewAnalyzer(text.StemmerPorter)
	add := func(t *datasets.Texts) {
		for i, d := range t.Docs {
			bags, y = append(bags, analyzer.Bag(d.Text)), append(y, t.Y[i])
		}
	}
	switch dataset {
	case vectors.MadeUpNews:
		const each = 30 // documents of a topic
		c, err := vectors.DrawCorpus(synthetic.News(seed.Stream("news"), vectors.NewsItems), seed, vectors.WordSettings{Topics: s.topics(), PerTopic: each})
		if err != nil {
			return nil, nil, err
		}
		return c.Bags, c.Y, nil
	case "classic3":
		t, err := env.Data.Classic3()
		if err != nil {
			return nil, nil, err
		}
		add(t)
	default:
		train, test, err := env.Data.Newsgroups20(datasets.PostHeadersSubject)
		if err != nil {
			return nil, nil, err
		}
		add(train)
		add(test)
	}
	return bags, y, nil
}

func fig2abTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(textSettings)
	end := run.Lap("texts")
	bags, y, err := loadTexts(run.Env, run.Seed, run.Cell.Dataset, s)
	end()
	if err != nil {
		return err
	}
	t := &textTrial{settings: s, env: run.Env, rows: run.Rows}
	fold := sample.StratifiedFolds(run.Seed.Stream("folds"), y, protocol.Folds)
	for f := range protocol.Folds {
		t.fold = strconv.Itoa(f)
		if err := t.run(ctx, bags, y, fold, f, run.Seed); err != nil {
			return fmt.Errorf("fold %d: %w", f, err)
		}
	}
	return nil
}

// textTrial is a trial that fills its table.
type textTrial struct {
	settings textSettings
	env      *experiment.Env
	fold     string
	rows     *table.Table
}

// Add adds a row; a basis of 0 is none.
func (t *textTrial) Add(kind, method, basis, at string, value, of float64) {
	t.rows.Add(table.Key{
		"panel": t.settings.Panel, "collection": t.settings.Collection, "length": t.settings.length(),
		"kind": kind, "method": method, "basis": basis, "fold": t.fold, "at": at,
	}, table.Values{"value": value, "of": of})
}

// plan is a method with one size of its basis, and what becomes of it in a fold.
type plan struct {
	textMethod
	size   int
	choice protocol.Choice
}

// name is the size in the table.
func (p *plan) name() string { return strconv.Itoa(p.size) }

// run does a fold: choices, fits to the training fold, and the test. Of the test documents nothing enters the choices and fits.
func (t *textTrial) run(ctx context.Context, bags []text.Bag, y []int, fold []int, f int, seed random.Seed) error {
	s := t.settings
	name := "fold " + t.fold
	learn, test := protocol.Parted(fold, f)
	learn = atMost(seed, "training documents, "+name, learn, s.Train)
	docs := make([]text.Bag, len(learn))
	for i, d := range learn {
		docs[i] = bags[d]
	}
	v, err := text.FitVectorizer(docs, text.VectorizerParams{Size: s.Terms, Norm: s.Norm})
	if err != nil {
		return err
	}
	open := func(train, held []int, purpose string) (*textSession, error) {
		defer t.env.Lap("prepare")()
		return newTextSession(ctx, v, bags, y, train, held, s, seed, purpose)
	}

	var plans []*plan
	for _, m := range textMethodsOf(s) {
		sizes := s.Sizes
		if m.name == protocol.Euclidean {
			sizes = []int{0}
		}
		for _, size := range sizes {
			plans = append(plans, &plan{textMethod: m, size: size, choice: protocol.NewChoice(len(m.candidates))})
		}
	}

	drawn := atMost(seed, "inner documents, "+name, learn, s.Inner)
	classes := make([]int, len(drawn))
	for i, d := range drawn {
		classes[i] = y[d]
	}
	within := sample.StratifiedFolds(seed.Stream("inner folds, "+name), classes, protocol.Folds)
	for g := range protocol.Folds {
		inner, held := protocol.PartedOf(within, g, drawn)
		session, err := open(inner, held, fmt.Sprintf("%s, inner fold %d", name, g))
		if err != nil {
			return err
		}
		if err := t.Choose(ctx, session, plans); err != nil {
			return err
		}
	}
	for _, p := range plans {
		slices.SortStableFunc(p.choice.Order, func(i, j int) int { return p.choice.Wrong[i] - p.choice.Wrong[j] })
	}

	session, err := open(learn, test, name)
	if err != nil {
		return err
	}
	t.Sizes(session, len(y), len(drawn))
	return t.Score(ctx, session, plans)
}

// Choose scores all candidates of all plans on an inner fold. One that cannot be fitted counts all documents as wrong.
func (t *textTrial) Choose(ctx context.Context, s *textSession, plans []*plan) error {
	type entry struct {
		plan      *plan
		candidate int
	}
	var arms []arm
	var of []entry
	rows := len(s.testY)
	for _, p := range plans {
		if len(p.candidates) == 1 { // nothing to choose
			continue
		}
		p.choice.Rows += rows
		for i, c := range p.candidates {
			end := t.env.Lap("choose " + p.textMethod.name)
			a, stopped, err := p.fit(ctx, s, p.size, c, t.settings.Choice, nil)
			end()
			if err := ctx.Err(); err != nil { // a fit that was stopped has not failed
				return err
			}
			p.choice.Fits.Add(stopped, err)
			if err != nil {
				p.choice.Wrong[i] += rows
				continue
			}
			arms, of = append(arms, a), append(of, entry{p, i})
		}
	}
	defer t.env.Lap("inner neighbours")()
	wrong, err := s.Wrong(ctx, arms)
	if err != nil {
		return err
	}
	for i, e := range of {
		e.plan.choice.Wrong[e.candidate] += wrong[i]
	}
	return nil
}

// Score fits the best candidate of each plan to the training fold, or the next one if it fails there, counts the errors and adds the rows.
func (t *textTrial) Score(ctx context.Context, s *textSession, plans []*plan) error {
	arms := make([]arm, len(plans))
	which, fits := make([]int, len(plans)), make([]protocol.Tally, len(plans))
	for i, p := range plans {
		end := t.env.Lap("learn " + p.textMethod.name)
		var err error
		which[i], fits[i], err = protocol.FirstFit(ctx, p.choice.Order, p.candidates, func(c int) (stopped bool, err error) {
			arms[i], stopped, err = p.fit(ctx, s, p.size, p.candidates[c], t.settings.Final, func(at string, value, of int) {
				t.Add("pairs", p.textMethod.name, p.name(), at, float64(value), float64(of))
			})
			return stopped, err
		})
		end()
		if err != nil {
			return fmt.Errorf("%s, basis of %d: %w", p.textMethod.name, p.size, err)
		}
	}
	end := t.env.Lap("neighbours")
	wrong, err := s.Wrong(ctx, arms)
	end()
	if err != nil {
		return err
	}
	for i, p := range plans {
		p.choice.AddRows(p.candidates, which[i], fits[i], wrong[i], len(s.testY), func(kind, at string, value, of int) {
			if of > 0 { // no row for fits that nobody made
				t.Add(kind, p.textMethod.name, p.name(), at, float64(value), float64(of))
			}
		})
	}
	return nil
}

// Sizes adds those of a training fold and of the protocol.
func (t *textTrial) Sizes(s *textSession, documents, inner int) {
	n, d := s.train.Dims()
	m, _ := s.test.Dims()
	size := func(what string, value, of int) { t.Add("size", "", "", what, float64(value), float64(of)) }
	similar := protocol.SimilarIn(s.links)
	for _, c := range []struct {
		what      string
		value, of int
	}{
		{protocol.Objects, documents, documents}, {protocol.TrainRows, n, documents}, {wordsOf, d, t.settings.Terms}, {protocol.Classes, protocol.CountOf(s.trainY), protocol.CountOf(s.trainY)},
		{emptyTrain, emptyRows(s.train), n}, {emptyTest, emptyRows(s.test), m},
		{protocol.SimilarPairs, similar, len(s.links)}, {protocol.DissimilarPairs, len(s.links) - similar, len(s.links)},
		{protocol.Neighbours, t.settings.K, n}, {protocol.PairsPerClass, t.settings.Links, t.settings.Links},
		{innerDocuments, inner, n}, {lmnnDocuments, len(s.lmnnRows), n}, {boundDocuments, min(t.settings.Bounds, n), n},
	} {
		size(c.what, c.value, c.of)
	}
	protocol.CapSizes(t.settings.Choice, t.settings.Final, size)
	t.Add("bound", "", "", protocol.UpperBound, s.bounds.Upper, s.median)
	t.Add("bound", "", "", protocol.LowerBound, s.bounds.Lower, s.median)
	for i, b := range s.bases {
		t.Add("rank", "", strconv.Itoa(t.settings.Sizes[i]), "", float64(b.basis.Rank()), float64(b.basis.Asked()))
	}
}
