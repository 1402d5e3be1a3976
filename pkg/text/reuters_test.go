package text_test

import (
	"slices"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/text"
)

// TestReutersPins pins counts over Reuters-21578. If they change, then so do the
// values of every experiment on it: bump Version.
func TestReutersPins(t *testing.T) {
	r, err := realdata.Store(t, "reuters21578").Reuters21578()
	if err != nil {
		t.Fatal(err)
	}
	var a text.Analyzer
	bags := make([]text.Bag, len(r.Docs))
	df, words := map[string]int{}, 0
	for i := range r.Docs {
		bags[i] = a.Bag(r.Docs[i].Text())
		for _, c := range bags[i] {
			df[c.Term]++
			words += c.N
		}
	}
	if len(df) != 32037 || words != 1711749 || df["blah"] != 1 { // one title is about the January blahs
		t.Errorf("%d terms stand %d times, blah in %d documents; want 32037, 1711749, 1", len(df), words, df["blah"])
	}

	train, test := r.ModApte()
	split := slices.Sorted(slices.Values(append(slices.Clone(train), test...)))
	for _, tc := range []struct {
		name   string
		idx    []int
		fit    int // documents of the beginning on which the vectorizer is fitted
		leastN int // documents of the fit with the rarest term
		zero   int // documents without a vector
		nnz    int // entries that are not 0
	}{
		{"all", r.All(), 21578, 473, 19, 649553},
		{"all, frozen", r.All(), 1000, 23, 21, 642637},
		{"ModApte", split, 12902, 281, 1, 406508},
		{"ModApte, frozen", split, 1000, 22, 0, 402016},
	} {
		docs := make([]text.Bag, len(tc.idx))
		for k, i := range tc.idx {
			docs[k] = bags[i]
		}
		v, err := text.FitVectorizer(docs[:tc.fit], text.VectorizerParams{})
		if err != nil {
			t.Fatal(err)
		}
		least := v.Docs()
		for i := range v.Dim() {
			_, n := v.Term(i)
			least = min(least, n)
		}
		zero, nnz := 0, 0
		for _, d := range docs {
			s := v.Vector(d)
			nnz += len(s.Index)
			if len(s.Index) == 0 {
				zero++
			}
		}
		if v.Dim() != 500 || least != tc.leastN || zero != tc.zero || nnz != tc.nnz {
			t.Errorf("%s: %d terms, the rarest in %d documents, %d zero vectors, %d entries; want 500, %d, %d, %d",
				tc.name, v.Dim(), least, zero, nnz, tc.leastN, tc.zero, tc.nnz)
		}
	}

	// About grain, information gain finds the words that a reader would name.
	docs := make([]text.Bag, len(split))
	for k, i := range split {
		docs[k] = bags[i]
	}
	v, err := text.FitVectorizer(docs, text.VectorizerParams{Size: 6, Select: text.SelectInformationGain, Relevant: r.Relevant(split, "grain")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range v.Dim() {
		term, _ := v.Term(i)
		got = append(got, term)
	}
	if want := []string{"agricultur", "corn", "grain", "tonn", "usda", "wheat"}; !slices.Equal(got, want) {
		t.Errorf("terms about grain are %q, want %q", got, want)
	}
}

// BenchmarkReuters turns the whole collection, already loaded, into vectors.
func BenchmarkReuters(b *testing.B) {
	r, err := realdata.Store(b, "reuters21578").Reuters21578()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("alg=Vectorizer/docs=21578", func(b *testing.B) {
		for b.Loop() {
			var a text.Analyzer
			bags := make([]text.Bag, len(r.Docs))
			for i := range r.Docs {
				bags[i] = a.Bag(r.Docs[i].Text())
			}
			v, err := text.FitVectorizer(bags, text.VectorizerParams{})
			if err != nil {
				b.Fatal(err)
			}
			for _, d := range bags {
				v.Vector(d)
			}
		}
	})
}
