package vectors

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// Fig1bc is a stand-in for the comparison on the traces of the Clarify system, which are not
// public: nearest neighbours on counts of words of news about nine topics, against the number of
// words. What stays of the paper's protocol: counts of events as features (there function calls),
// nine classes (as Latex has), selection of features by information gain, 5 to 25 of them.
// A user who supplies the traces gets the protocol on them, and findings with a verdict.
//
// The words of a training fold are selected by that fold alone. The cross-validation inside
// it, which makes the choices of the methods, works on these words and selects none anew.
var Fig1bc = experiment.Spec{
	ID:      protocol.PaperKey + "/fig1bc",
	Title:   "Stand-in for the Clarify data, nine Reuters topics: error of nearest neighbours against the number of features",
	Source:  "Section 6.1, Fig. 1(b, c)",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		dataset := reuters
		if scale == experiment.Smoke {
			dataset = MadeUpNews
		}
		for _, by := range protocol.Readings {
			cells = append(cells, experiment.Cell{Name: "counts " + Describe[by.String()], Dataset: dataset, Methods: wordVersions, Settings: wordSettingsOf(by, scale)})
		}
		if scale == experiment.Full {
			cells = append(cells, traceCells()...)
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig1bcKinds,
	Columns: fig1bcColumns,
	Trial:   fig1bcTrial,
	Views:   fig1bcViews,
	Claims:  slices.Concat(fig1bcClaims, moreWordClaims),
	Choices: protocol.Fig1bcChoices,
	Cost:    75 * time.Second,
}

var wordVersions = map[string]int{
	"LogDet": protocol.Versions["LogDet"], "InvCov": protocol.Versions["InvCov"], "MCML": protocol.Versions["MCML"], "LMNN": protocol.Versions["LMNN"], "kNN": protocol.Versions["kNN"], "text": text.Version,
}

// FitKinds are the kinds of rows that say what was chosen, of which fits.
var FitKinds = []experiment.Kind{
	{Name: "chosen", Meaning: "candidates with as few inner errors as the one that was chosen"},
	{Name: "stopped", Meaning: "fits that did not converge"},
	{Name: "failed", Meaning: "fits that are impossible in float64"},
}

var (
	fig1bcKinds = append([]experiment.Kind{
		{Name: "class", Meaning: "documents of a topic that the trial draws"},
		{Name: "size", Meaning: "a size of the data, of a training fold, of its pairs or of the protocol"},
		{Name: "word", Meaning: "a word that is a feature of a training fold"},
		{Name: "wrong", Meaning: "test documents classified wrongly, per fold"},
		{Name: "inner", Meaning: "documents classified wrongly in the inner cross-validation of a fold, per candidate"},
	}, FitKinds...)
	fig1bcColumns = experiment.Columns{
		experiment.Text("features", "scaling of the counts of words: raw, or zscore by the training documents"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "method, by the name in the figure's legend").In(PerMethod...),
		experiment.Text("dims", "number of words that are features").In(append([]string{"size", "word"}, PerMethod...)...),
		experiment.Text("fold", "number of the test fold, 0 or 1").In(append([]string{"size", "word"}, PerMethod...)...),
		experiment.Text("at", "class: the topic; size: which one; word: the stem; inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for those on the training fold").
			In("class", "size", "word", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; word: its place in the order of information gain, from 1; otherwise how many documents, candidates or fits the kind counts"),
		experiment.Number("of", "", "class: documents with this topic only; size: the documents, pairs or cap that it is a part of, or the size itself; word: words selected; wrong and inner: documents tested; chosen: candidates; stopped and failed: fits made"),
	}
)

// corpus is a draw of documents, each of one topic, in the order of their numbers.
type corpus struct {
	Bags   []text.Bag
	Y      []int // indices of topics
	topics []datasets.TopicCount
	drawn  []int // documents, by topic
}

// The data sets of the stand-in, of which the made-up one has NewsItems.
const (
	reuters    = "reuters21578"
	MadeUpNews = "made-up news"
	NewsItems  = 700
)

// countedData are objects of classes with counts of many words or functions.
type countedData interface {
	labels() []int
	classes() []classSize
	// words returns the n words that tell most about the classes of some objects.
	words(of []int, n int) ([]string, error)
	// counts returns how often each object has each of some words.
	counts(words []string) *datasets.Set
	// without counts the objects that have none of some words.
	without(words []string) int
}

// loadCounted returns the data of a trial.
func loadCounted(env *experiment.Env, seed random.Seed, dataset string, s WordSettings) (countedData, error) {
	if s.Program != "" {
		return loadTraces(env.Data, s.Program)
	}
	return loadCorpus(env, seed, dataset, s)
}

// loadCorpus draws the documents of a trial.
func loadCorpus(env *experiment.Env, seed random.Seed, dataset string, s WordSettings) (*corpus, error) {
	if dataset == MadeUpNews {
		return DrawCorpus(synthetic.News(seed.Stream("news"), NewsItems), seed, s)
	}
	news, err := env.Data.Reuters21578()
	if err != nil {
		return nil, err
	}
	return DrawCorpus(news, seed, s)
}

// DrawCorpus draws documents of the ModApte split, of either part, that have one topic.
func DrawCorpus(news *datasets.Reuters, seed random.Seed, s WordSettings) (*corpus, error) {
	train, test := news.ModApte()
	single := slices.DeleteFunc(slices.Concat(train, test), func(i int) bool { return len(news.Docs[i].Topics) != 1 })
	slices.Sort(single)
	c := &corpus{topics: news.TopicCounts(single)}
	if len(c.topics) < s.Topics {
		return nil, fmt.Errorf("logdet2012: %d topics, want %d", len(c.topics), s.Topics)
	}
	c.topics = c.topics[:s.Topics]
	label := map[int]int{}
	for k, topic := range c.topics {
		of := slices.DeleteFunc(slices.Clone(single), func(i int) bool { return news.Docs[i].Topics[0] != topic.Topic })
		c.drawn = append(c.drawn, min(s.PerTopic, len(of)))
		for _, a := range sample.Choose(seed.Stream("documents of "+topic.Topic), len(of), c.drawn[k]) {
			label[of[a]] = k
		}
	}
	var a text.Analyzer
	for _, i := range single {
		if k, ok := label[i]; ok {
			c.Bags, c.Y = append(c.Bags, a.Bag(news.Docs[i].Text())), append(c.Y, k)
		}
	}
	return c, nil
}

func (c *corpus) labels() []int { return c.Y }

func (c *corpus) classes() []classSize {
	out := make([]classSize, len(c.topics))
	for k, topic := range c.topics {
		out[k] = classSize{topic.Topic, c.drawn[k], topic.Relevant}
	}
	return out
}

func (c *corpus) words(of []int, n int) ([]string, error) {
	docs, y := make([]text.Bag, len(of)), make([]int, len(of))
	for k, i := range of {
		docs[k], y[k] = c.Bags[i], c.Y[i]
	}
	var out []string
	for _, w := range text.ByClassGain(docs, y, n) {
		out = append(out, w.Term)
	}
	if len(out) < n {
		return nil, fmt.Errorf("logdet2012: %d documents have %d words, want %d", len(of), len(out), n)
	}
	return out, nil
}

func (c *corpus) counts(words []string) *datasets.Set {
	column := map[string]int{}
	for j, w := range words {
		column[w] = j
	}
	x := mat.NewDense(len(c.Bags), len(words), nil)
	for i, bag := range c.Bags {
		for _, t := range bag {
			if j, ok := column[t.Term]; ok {
				x.Set(i, j, float64(t.N))
			}
		}
	}
	return &datasets.Set{X: x, Y: c.Y}
}

func (c *corpus) without(words []string) int {
	n := 0
	for _, bag := range c.Bags {
		if !slices.ContainsFunc(bag, func(t text.Count) bool { return slices.Contains(words, t.Term) }) {
			n++
		}
	}
	return n
}

// countedProblems returns those of a trial on so many words, and the words of each training fold. The sets of
// words are nested; folds and pairs are the same for all of them.
func countedProblems(c countedData, dims int, s WordSettings, seed random.Seed) (out []*protocol.Problem, words [][]string, err error) {
	out, err = protocol.NewProblemsOf(c.labels(), func(train []int) (*datasets.Set, error) {
		w, err := c.words(train, dims)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
		return c.counts(w), nil
	}, s.Settings, seed)
	return out, words, err
}

func fig1bcTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(WordSettings)
	c, err := loadCounted(run.Env, run.Seed, run.Cell.Dataset, s)
	if err != nil {
		return err
	}
	add := func(kind, method, dims, fold, at string, value, of int) {
		run.Rows.Add(table.Key{"features": s.Scaling.String(), "kind": kind, "method": method, "dims": dims, "fold": fold, "at": at}, table.Values{"value": float64(value), "of": float64(of)})
	}
	for _, k := range c.classes() {
		add("class", "", "", "", k.name, k.drawn, k.of)
	}
	for _, dims := range s.Dims {
		problems, words, err := countedProblems(c, dims, s, run.Seed)
		if err != nil {
			return err
		}
		for i, p := range problems {
			d, f := strconv.Itoa(dims), strconv.Itoa(i)
			p.Sizes(s.Settings, func(what string, value, of int) { add("size", "", d, f, what, value, of) })
			add("size", "", d, f, wordless, c.without(words[i]), len(c.labels()))
			for place, w := range words[i] {
				add("word", "", d, f, w, place+1, dims)
			}
			for _, m := range protocol.MethodsNamed(s.Settings, clarifyMethods) {
				end := run.Lap(m.Name)
				err := p.Score(ctx, m, s.Rules[0], s.Settings, func(kind, at string, value, of int) { add(kind, m.Name, d, f, at, value, of) })
				end()
				if err != nil {
					return fmt.Errorf("%s, %s words, fold %s: %w", m.Name, d, f, err)
				}
			}
		}
	}
	return nil
}
