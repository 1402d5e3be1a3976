package logdet2012

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
	ID:      paperKey + "/fig2ab",
	Title:   "Texts: accuracy of nearest neighbours against the size of the basis of a low-rank metric",
	Source:  "Sections 3.6 and 6.2, Fig. 2(a, b)",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, c := range collections {
			for _, norm := range textReadings {
				s, dataset := c.settings(norm, scale)
				cells = append(cells, experiment.Cell{Name: s.Collection + ", " + describeNorm[norm.String()], Dataset: dataset, Methods: textVersions, Settings: s})
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
	Choices: fig2abChoices,
	Cost:    200 * time.Second,
}

// The methods of Fig. 2(a, b) that no other figure has.
const (
	lsa = "LSA" // centred: "projecting the data via principal components analysis"

	// Readings and variations of LogDet Linear.
	logDetDropped = "LogDet Linear, infeasible pairs dropped"
	logDetFar     = "LogDet Linear, ℓ doubled"

	// Controls.
	plainLSA   = "LSA, not centred"
	basisAlone = "basis alone"
	scaledI    = "I + tUUᵀ"
	basisLMNN  = "LMNN in the basis"
)

// textMethods are all methods: those of the paper's legend first.
var textMethods = []string{logDetLinear, lsa, lmnn, euclidean, logDetDropped, logDetFar, plainLSA, basisAlone, scaledI, basisLMNN}

// textLines are those of the paper's figure, textControls what the second panel shows beside LogDet Linear.
var (
	textLines    = textMethods[:4]
	textControls = []string{logDetLinear, basisAlone, scaledI, basisLMNN, plainLSA}
)

var textVersions = map[string]int{
	"IPLR": iplr.Version, "basis": iplr.BasisVersion, "LSA": labels.LSAVersion, "LMNN": labels.LMNNVersion, "text": text.Version,
}

// textReadings are the lengths of the documents' vectors, which the paper does not tell. The first is that of the
// figure: its axis begins at 96 % for Euclidean distances on Classic3.
var textReadings = []text.Norm{text.NormUnit, text.NormNone}

// describeNorm says how long vectors are.
var describeNorm = map[string]string{text.NormUnit.String(): "unit length", text.NormNone.String(): "tf-idf as it is"}

// textSettings are what the paper fixes or leaves open.
type textSettings struct {
	// Panel is that of the figure, a or b.
	Panel      string    `key:"panel"`
	Collection string    `key:"collection"`
	Norm       text.Norm `key:"length"`
	// Terms is the number of words, those in most documents.
	Terms int `key:"words"`
	// K is the number of neighbours.
	K int `key:"k"`
	// Links is the number of similar and of dissimilar pairs per class.
	Links int `key:"links"`
	// Sizes are those of the basis, ascending.
	Sizes []int `key:"sizes"`
	// Gammas is the grid of γ, Ts that of the scalar t > −1.
	Gammas []float64 `key:"gammas"`
	Ts     []float64 `key:"ts"`
	// Targets and Mus are the grids of LMNN.
	Targets []int     `key:"targets"`
	Mus     []float64 `key:"mus"`
	// Final caps a fit to the training fold, Choice one of the inner cross-validation.
	Final  budget `key:"final"`
	Choice budget `key:"choice"`
	// Train is the number of training documents, at most, of which that many are drawn; 0 is all.
	Train int `key:"training documents,omitzero"`
	// Inner is that of the inner cross-validation, Bounds that of those between which u and ℓ are taken, and LMNN that of those from
	// which LMNN learns: drawn if there are more.
	Inner  int `key:"inner documents"`
	Bounds int `key:"documents of bounds"`
	LMNN   int `key:"LMNN documents"`
}

// collection is a panel of the figure.
type collection struct {
	panel, name, dataset string
	sizes                []int
	madeUp               string // in its place at smoke scale, with its topics and sizes of the basis
	topics               int
	madeUpSizes          []int
}

var collections = []collection{
	{"a", "Classic3", "classic3", []int{2, 3, 4, 5}, "made-up news of 3 topics", 3, []int{2, 3, 4}},
	{"b", "20 Newsgroups", "20news", []int{5, 10, 15, 20, 25}, "made-up news of 4 topics", 4, []int{2, 4, 5}},
}

// otherTrain is the number of training documents, at most, of readings other than the first.
const otherTrain = 4000

func (c collection) settings(norm text.Norm, scale experiment.Scale) (s textSettings, dataset string) {
	s = textSettings{
		Panel: c.panel, Collection: c.name, Norm: norm, Terms: 5000, K: 10, Links: 100, Sizes: c.sizes,
		Gammas: mainSettings.Gammas, Ts: []float64{-0.5, 0, 1, 3, 10, 30, 100, 300}, Targets: []int{3}, Mus: []float64{0.25, 0.5, 0.75},
		Final: budget{1_000_000, 1_000}, Choice: budget{200_000, 200},
		Inner: 4000, Bounds: 2000, LMNN: 1000,
	}
	if norm != textReadings[0] {
		s.Train = otherTrain
	}
	if scale == experiment.Smoke {
		s.Collection, s.Terms, s.K, s.Links, s.Sizes = c.madeUp, 150, 5, 15, c.madeUpSizes
		s.Gammas, s.Ts, s.Mus = []float64{0.1, 10}, []float64{0, 10}, []float64{0.5, 0.75}
		s.Final, s.Choice = budget{1_000, 50}, budget{500, 20}
		s.Inner, s.Bounds, s.LMNN = 40, 30, 30
		if s.Train > 0 {
			s.Train = 50
		}
		return s, madeUpNews
	}
	return s, c.dataset
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
	}, fitKinds...)
	fig2abColumns = experiment.Columns{
		experiment.Text("panel", "panel of the figure: a or b"),
		experiment.Text("collection", "the collection of documents"),
		experiment.Text("length", "length of the documents' vectors: unit, or none for tf-idf as it is"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "method, by the name in the figure's legend").In(append([]string{"pairs"}, perMethod...)...),
		experiment.Text("basis", "size of the basis; of Euclidean, which has none, 0").In(append([]string{"rank", "pairs"}, perMethod...)...),
		experiment.Text("fold", "number of the test fold, 0 or 1"),
		experiment.Text("at", "size: which one; bound: u or l; pairs: infeasible (similar, no metric of the basis satisfies them), vacuous (dissimilar, every one does) or skipped (none moves them); inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for those on the training fold").
			In("size", "bound", "pairs", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; bound: the squared distance; rank: the dimensions; otherwise how many documents, pairs, candidates or fits the kind counts"),
		experiment.Number("of", "", "size: what it is a part of, or the size itself; bound: the median squared distance; rank: the size asked for; pairs: those of that label, or all; wrong and inner: documents judged; chosen: candidates; stopped and failed: fits made"),
	}
)

// The sizes that only texts have.
const (
	wordsOf        = "words"
	emptyTrain     = "training documents without a word"
	emptyTest      = "test documents without a word"
	innerDocuments = "documents of the inner cross-validation"
	lmnnDocuments  = "documents that LMNN learns from"
	boundDocuments = "documents of the bounds"
)

// What a fit cannot use.
const (
	infeasiblePairs = "infeasible"
	vacuousPairs    = "vacuous"
	skippedPairs    = "skipped"
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
	case madeUpNews:
		const each = 30 // documents of a topic
		c, err := drawCorpus(synthetic.News(seed.Stream("news"), newsItems), seed, wordSettings{Topics: s.topics(), PerTopic: each})
		if err != nil {
			return nil, nil, err
		}
		return c.bags, c.y, nil
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

// atMost returns rows, or n of them in their order, drawn, if there are more and n > 0.
func atMost(seed random.Seed, purpose string, rows []int, n int) []int {
	if n == 0 || len(rows) <= n {
		return rows
	}
	out := make([]int, n)
	for i, k := range sample.Choose(seed.Stream(purpose), len(rows), n) {
		out[i] = rows[k]
	}
	slices.Sort(out)
	return out
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
	fold := sample.StratifiedFolds(run.Seed.Stream("folds"), y, folds)
	for f := range folds {
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

// add adds a row; a basis of 0 is none.
func (t *textTrial) add(kind, method, basis, at string, value, of float64) {
	t.rows.Add(table.Key{
		"panel": t.settings.Panel, "collection": t.settings.Collection, "length": t.settings.Norm.String(),
		"kind": kind, "method": method, "basis": basis, "fold": t.fold, "at": at,
	}, table.Values{"value": value, "of": of})
}

// plan is a method with one size of its basis, and what becomes of it in a fold.
type plan struct {
	textMethod
	size   int
	choice choice
}

// name is the size in the table.
func (p *plan) name() string { return strconv.Itoa(p.size) }

// run does a fold: choices, fits to the training fold, and the test. Of the test documents nothing enters the choices and fits.
func (t *textTrial) run(ctx context.Context, bags []text.Bag, y []int, fold []int, f int, seed random.Seed) error {
	s := t.settings
	name := "fold " + t.fold
	learn, test := parted(fold, f)
	learn = atMost(seed, "training documents, "+name, learn, s.Train)
	docs := make([]text.Bag, len(learn))
	for i, d := range learn {
		docs[i] = bags[d]
	}
	v, err := text.FitVectorizer(docs, text.VectorizerParams{Size: s.Terms, Norm: s.Norm})
	if err != nil {
		return err
	}
	open := func(train, judge []int, purpose string) (*textSession, error) {
		defer t.env.Lap("prepare")()
		return newTextSession(ctx, v, bags, y, train, judge, s, seed, purpose)
	}

	var plans []*plan
	for _, m := range textMethodsOf(s) {
		sizes := s.Sizes
		if m.name == euclidean {
			sizes = []int{0}
		}
		for _, size := range sizes {
			plans = append(plans, &plan{textMethod: m, size: size, choice: newChoice(len(m.candidates))})
		}
	}

	drawn := atMost(seed, "inner documents, "+name, learn, s.Inner)
	classes := make([]int, len(drawn))
	for i, d := range drawn {
		classes[i] = y[d]
	}
	within := sample.StratifiedFolds(seed.Stream("inner folds, "+name), classes, folds)
	for g := range folds {
		inner, judge := partedOf(within, g, drawn)
		session, err := open(inner, judge, fmt.Sprintf("%s, inner fold %d", name, g))
		if err != nil {
			return err
		}
		if err := t.choose(ctx, session, plans); err != nil {
			return err
		}
	}
	for _, p := range plans {
		slices.SortStableFunc(p.choice.order, func(i, j int) int { return p.choice.wrong[i] - p.choice.wrong[j] })
	}

	session, err := open(learn, test, name)
	if err != nil {
		return err
	}
	t.sizes(session, len(y), len(drawn))
	return t.judge(ctx, session, plans)
}

// choose judges all candidates of all plans on an inner fold. One that cannot be fitted counts all documents as wrong.
func (t *textTrial) choose(ctx context.Context, s *textSession, plans []*plan) error {
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
		p.choice.rows += rows
		for i, c := range p.candidates {
			end := t.env.Lap("choose " + p.textMethod.name)
			a, stopped, err := p.fit(ctx, s, p.size, c, t.settings.Choice, nil)
			end()
			if err := ctx.Err(); err != nil { // a fit that was stopped has not failed
				return err
			}
			p.choice.fits.add(stopped, err)
			if err != nil {
				p.choice.wrong[i] += rows
				continue
			}
			arms, of = append(arms, a), append(of, entry{p, i})
		}
	}
	defer t.env.Lap("inner neighbours")()
	wrong, err := s.wrong(ctx, arms)
	if err != nil {
		return err
	}
	for i, e := range of {
		e.plan.choice.wrong[e.candidate] += wrong[i]
	}
	return nil
}

// judge fits the best candidate of each plan to the training fold, or the next one if it fails there, counts the errors and adds the rows.
func (t *textTrial) judge(ctx context.Context, s *textSession, plans []*plan) error {
	arms := make([]arm, len(plans))
	which, fits := make([]int, len(plans)), make([]tally, len(plans))
	for i, p := range plans {
		end := t.env.Lap("learn " + p.textMethod.name)
		var err error
		which[i], fits[i], err = firstFit(ctx, p.choice.order, p.candidates, func(c int) (stopped bool, err error) {
			arms[i], stopped, err = p.fit(ctx, s, p.size, p.candidates[c], t.settings.Final, func(at string, value, of int) {
				t.add("pairs", p.textMethod.name, p.name(), at, float64(value), float64(of))
			})
			return stopped, err
		})
		end()
		if err != nil {
			return fmt.Errorf("%s, basis of %d: %w", p.textMethod.name, p.size, err)
		}
	}
	end := t.env.Lap("neighbours")
	wrong, err := s.wrong(ctx, arms)
	end()
	if err != nil {
		return err
	}
	for i, p := range plans {
		p.choice.addRows(p.candidates, which[i], fits[i], wrong[i], len(s.testY), func(kind, at string, value, of int) {
			if of > 0 { // no row for fits that nobody made
				t.add(kind, p.textMethod.name, p.name(), at, float64(value), float64(of))
			}
		})
	}
	return nil
}

// sizes adds those of a training fold and of the protocol.
func (t *textTrial) sizes(s *textSession, documents, inner int) {
	n, d := s.train.Dims()
	m, _ := s.test.Dims()
	size := func(what string, value, of int) { t.add("size", "", "", what, float64(value), float64(of)) }
	similar := similarIn(s.links)
	for _, c := range []struct {
		what      string
		value, of int
	}{
		{objects, documents, documents}, {trainRows, n, documents}, {wordsOf, d, t.settings.Terms}, {classes, countOf(s.trainY), countOf(s.trainY)},
		{emptyTrain, emptyRows(s.train), n}, {emptyTest, emptyRows(s.test), m},
		{similarPairs, similar, len(s.links)}, {dissimilarPairs, len(s.links) - similar, len(s.links)},
		{neighbours, t.settings.K, n}, {pairsPerClass, t.settings.Links, t.settings.Links},
		{innerDocuments, inner, n}, {lmnnDocuments, len(s.lmnnRows), n}, {boundDocuments, min(t.settings.Bounds, n), n},
	} {
		size(c.what, c.value, c.of)
	}
	capSizes(t.settings.Choice, t.settings.Final, size)
	t.add("bound", "", "", upperBound, s.bounds.upper, s.median)
	t.add("bound", "", "", lowerBound, s.bounds.lower, s.median)
	for i, b := range s.bases {
		t.add("rank", "", strconv.Itoa(t.settings.Sizes[i]), "", float64(b.basis.Rank()), float64(b.basis.Asked()))
	}
}
