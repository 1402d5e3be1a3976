package logdet2012

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/table"
	"metriclab/pkg/text"
)

// Fig1bc is a stand-in for the comparison on the traces of the Clarify system, which are not
// public: nearest neighbours on counts of words of news about nine topics, against the number of
// words. What stays of the paper's protocol: counts of events as features (there function calls),
// nine classes (as Latex has), selection of features by information gain, 5 to 25 of them.
//
// The words of a training fold are selected by that fold alone. The cross-validation inside
// it, which makes the choices of the methods, works on these words and selects none anew.
var Fig1bc = experiment.Spec{
	ID:      paperKey + "/fig1bc",
	Title:   "Stand-in for the Clarify data, nine Reuters topics: error of nearest neighbours against the number of features",
	Source:  "Section 6.1, Fig. 1(b, c)",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		dataset := "reuters21578"
		if scale == experiment.Smoke {
			dataset = "made-up news"
		}
		for _, by := range readings {
			cells = append(cells, experiment.Cell{Name: "counts " + describe[by.String()], Dataset: dataset, Methods: wordVersions, Params: wordSettingsOf(by, scale).params()})
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Index:  fig1bcIndex,
	Values: fig1bcValues,
	Trial:  fig1bcTrial,
	Views:  fig1bcViews,
	Claims: fig1bcClaims,
	Cost:   75 * time.Second,
}

// clarifyMethods are those of Fig. 1(b, c).
var clarifyMethods = []string{logDetLinear, logDetInvCov, lmnn, mcml, euclidean, invCovariance}

var wordVersions = map[string]int{
	"LogDet": versions["LogDet"], "InvCov": versions["InvCov"], "MCML": versions["MCML"], "LMNN": versions["LMNN"], "kNN": versions["kNN"], "text": text.Version,
}

// printedDims is the number of features of Fig. 1(b).
const printedDims = 20

// wordSettings are those of Fig. 1(a) with what the stand-in adds.
type wordSettings struct {
	settings
	// Topics is the number of classes, those with the most documents of one topic only.
	Topics int
	// PerTopic is the number of documents that a trial draws of a topic, at most. It is what
	// LMNN, which takes nine tenths of the time, does in about a minute per trial.
	PerTopic int
	// Dims are the numbers of words, ascending.
	Dims []int
}

func wordSettingsOf(by datasets.Preprocessing, scale experiment.Scale) wordSettings {
	s := wordSettings{settings: settingsOf(by, scale), Topics: 9, PerTopic: 60, Dims: []int{5, 10, 15, printedDims, 25}}
	s.Rules = []pairs.BoundRule{pairs.Percentiles}
	if scale == experiment.Smoke {
		s.Topics, s.PerTopic, s.Dims = 4, 12, []int{5, printedDims}
	}
	return s
}

func (s wordSettings) params() map[string]string {
	p := s.settings.params()
	delete(p, "widths") // of methods that are not in the figure
	delete(p, "etas")
	p["topics"], p["per topic"], p["dims"] = strconv.Itoa(s.Topics), strconv.Itoa(s.PerTopic), fmt.Sprint(s.Dims)
	return p
}

// The table of Fig. 1(b, c), by kind, of which the value counts something of so many:
//
//	class    at topic                    documents drawn, of those with this topic only
//	size     dims, fold, at what         as in Fig. 1(a); and documents without a word, of all
//	word     dims, fold, at word         place 1, 2, … of a word in the order of gain, of so many words
//	wrong    dims, fold, method          test rows that are classified wrongly, of the test fold
//	inner    dims, fold, method, at      the same of the inner cross-validation, at each candidate
//	chosen   dims, fold, method, at      candidates that are as good as the one chosen, of all
//	stopped  dims, fold, method, at      fits that did not converge, of those made: at "choice" or "final"
//	failed   dims, fold, method, at      fits that are impossible in float64, of those made
//
// dims is the number of words.
var (
	fig1bcIndex  = []string{"features", "kind", "method", "dims", "fold", "at"}
	fig1bcValues = []string{"value", "of"}
)

// wordless is the name of a size.
const wordless = "documents without a word"

// corpus is a draw of documents, each of one topic, in the order of their numbers.
type corpus struct {
	bags   []text.Bag
	y      []int // indices of topics
	topics []datasets.TopicCount
	drawn  []int // documents, by topic
}

// newsItems is the number of made-up items at smoke scale.
const newsItems = 700

// loadCorpus draws the documents of a trial.
func loadCorpus(env *experiment.Env, seed experiment.Seed, s wordSettings) (*corpus, error) {
	var news *datasets.Reuters
	if env.Scale == experiment.Smoke {
		news = datasets.News(seed.Stream("news"), newsItems)
	} else {
		var err error
		if news, err = env.Data.Reuters21578(); err != nil {
			return nil, err
		}
	}
	return drawCorpus(news, seed, s)
}

// drawCorpus draws documents of the ModApte split, of either part, that have one topic.
func drawCorpus(news *datasets.Reuters, seed experiment.Seed, s wordSettings) (*corpus, error) {
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
		for _, a := range datasets.Choose(seed.Stream("documents of "+topic.Topic), len(of), c.drawn[k]) {
			label[of[a]] = k
		}
	}
	var a text.Analyzer
	for _, i := range single {
		if k, ok := label[i]; ok {
			c.bags, c.y = append(c.bags, a.Bag(news.Docs[i].Text())), append(c.y, k)
		}
	}
	return c, nil
}

// words returns the n words that tell most about the topics of some documents.
func (c *corpus) words(of []int, n int) ([]string, error) {
	docs, y := make([]text.Bag, len(of)), make([]int, len(of))
	for k, i := range of {
		docs[k], y[k] = c.bags[i], c.y[i]
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

// counts returns how often each document has each of some words.
func (c *corpus) counts(words []string) *datasets.Set {
	column := map[string]int{}
	for j, w := range words {
		column[w] = j
	}
	x := mat.NewDense(len(c.bags), len(words), nil)
	for i, bag := range c.bags {
		for _, t := range bag {
			if j, ok := column[t.Term]; ok {
				x.Set(i, j, float64(t.N))
			}
		}
	}
	return &datasets.Set{X: x, Y: c.y}
}

// without counts the documents that have none of some words.
func (c *corpus) without(words []string) int {
	n := 0
	for _, bag := range c.bags {
		if !slices.ContainsFunc(bag, func(t text.Count) bool { return slices.Contains(words, t.Term) }) {
			n++
		}
	}
	return n
}

// problems returns those of a trial on so many words, and the words of each training fold. The sets of
// words are nested; folds and pairs are the same for all of them.
func (c *corpus) problems(dims int, s wordSettings, seed experiment.Seed) (out []*problem, words [][]string, err error) {
	out, err = newProblemsOf(c.y, func(train []int) (*datasets.Set, error) {
		w, err := c.words(train, dims)
		if err != nil {
			return nil, err
		}
		words = append(words, w)
		return c.counts(w), nil
	}, s.settings, seed)
	return out, words, err
}

func fig1bcTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	by, err := datasets.ParsePreprocessing(cell.Params["features"])
	if err != nil {
		return nil, err
	}
	s := wordSettingsOf(by, env.Scale)
	c, err := loadCorpus(env, seed, s)
	if err != nil {
		return nil, err
	}
	rows := table.New(fig1bcIndex, fig1bcValues)
	add := func(kind, method, dims, fold, at string, value, of float64) {
		rows.Add(table.Key{"features": by.String(), "kind": kind, "method": method, "dims": dims, "fold": fold, "at": at}, table.Values{"value": value, "of": of})
	}
	for k, topic := range c.topics {
		add("class", "", "", "", topic.Topic, float64(c.drawn[k]), float64(topic.Relevant))
	}
	for _, dims := range s.Dims {
		problems, words, err := c.problems(dims, s, seed)
		if err != nil {
			return nil, err
		}
		for i, p := range problems {
			d, f := strconv.Itoa(dims), strconv.Itoa(i)
			p.sizes(s.settings, func(what string, value, of int) { add("size", "", d, f, what, float64(value), float64(of)) })
			add("size", "", d, f, wordless, float64(c.without(words[i])), float64(len(c.y)))
			for place, w := range words[i] {
				add("word", "", d, f, w, float64(place+1), float64(dims))
			}
			for _, m := range methodsNamed(s.settings, clarifyMethods) {
				end := env.Lap(m.name)
				err := p.judge(ctx, m, s.Rules[0], s.settings, func(kind, at string, value, of int) { add(kind, m.name, d, f, at, float64(value), float64(of)) })
				end()
				if err != nil {
					return nil, fmt.Errorf("%s, %s words, fold %s: %w", m.name, d, f, err)
				}
			}
		}
	}
	return rows, nil
}
