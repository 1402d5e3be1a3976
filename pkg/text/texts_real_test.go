package text_test

import (
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
	"metriclab/pkg/sparse"
	"metriclab/pkg/text"
)

// TestTextPins pins counts over Classic3 and 20 Newsgroups with the original stemmer and 5,000
// words by document frequency of the training posts. If they change, then so do the values of
// experiments on them.
func TestTextPins(t *testing.T) {
	store := realdata.Store(t, "20news", "classic3")
	abstracts, err := store.Classic3()
	if err != nil {
		t.Fatal(err)
	}
	type tc struct {
		name              string
		fit, test         *datasets.Texts
		terms             int // of the documents of the fit
		least             int // documents of the fit with the rarest word of the vocabulary
		entries, empty    int // of the fit
		testEntries, zero int // of the test
	}
	cases := []tc{{"classic3", abstracts, nil, 13451, 3, 209491, 0, 0, 0}}
	for h, want := range []tc{
		datasets.PostHeadersKeep:    {"", nil, nil, 69725, 30, 999763, 0, 649708, 0},
		datasets.PostHeadersSubject: {"", nil, nil, 67043, 28, 905048, 0, 587457, 3},
		datasets.PostHeadersDrop:    {"", nil, nil, 66788, 27, 883491, 23, 573444, 20},
	} {
		train, test, err := store.Newsgroups20(datasets.PostHeaders(h))
		if err != nil {
			t.Fatal(err)
		}
		want.name, want.fit, want.test = datasets.PostHeaders(h).String(), train, test
		cases = append(cases, want)
	}
	a := text.NewAnalyzer(text.StemmerPorter)
	bagsOf := func(x *datasets.Texts) []text.Bag {
		var out []text.Bag
		if x != nil {
			for _, d := range x.Docs {
				out = append(out, a.Bag(d.Text))
			}
		}
		return out
	}
	for _, c := range cases {
		bags := bagsOf(c.fit)
		all, err := text.FitVectorizer(bags, text.VectorizerParams{Size: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		v, err := text.FitVectorizer(bags, text.VectorizerParams{Size: 5000})
		if err != nil {
			t.Fatal(err)
		}
		least := v.Docs()
		for i := range v.Dim() {
			_, df := v.Term(i)
			least = min(least, df)
		}
		count := func(bags []text.Bag) (entries, empty int) {
			if bags == nil {
				return 0, 0
			}
			x, err := v.Matrix(bags)
			if err != nil {
				t.Fatal(err)
			}
			for i := range bags {
				if len(x.Row(i).Index) == 0 {
					empty++
				}
			}
			return x.Entries(), empty
		}
		got := c
		got.terms, got.least = all.Dim(), least
		got.entries, got.empty = count(bags)
		got.testEntries, got.zero = count(bagsOf(c.test))
		if v.Dim() != 5000 || got != c {
			t.Errorf("%s: %d words; terms %d, least %d, entries %d, empty %d, test entries %d, zero %d", c.name, v.Dim(),
				got.terms, got.least, got.entries, got.empty, got.testEntries, got.zero)
		}
	}
}

// BenchmarkTexts turns the training posts of 20 Newsgroups, already loaded, into rows, and rows
// into their Gram matrix.
func BenchmarkTexts(b *testing.B) {
	train, _, err := realdata.Store(b, "20news").Newsgroups20(datasets.PostHeadersKeep)
	if err != nil {
		b.Fatal(err)
	}
	rows := func() *sparse.Matrix {
		a := text.NewAnalyzer(text.StemmerPorter)
		bags := make([]text.Bag, train.N())
		for i, d := range train.Docs {
			bags[i] = a.Bag(d.Text)
		}
		v, err := text.FitVectorizer(bags, text.VectorizerParams{Size: 5000})
		if err != nil {
			b.Fatal(err)
		}
		x, err := v.Matrix(bags)
		if err != nil {
			b.Fatal(err)
		}
		return x
	}
	b.Run("alg=Matrix/docs=11314", func(b *testing.B) {
		for b.Loop() {
			rows()
		}
	})
	x := rows()
	b.Run("alg=Gram/docs=11314", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.Gram(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	})
}
