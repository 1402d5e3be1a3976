package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// vectorReference computes a dense vector straight from the formula.
func vectorReference(docs []Bag, terms []string, doc Bag) []float64 {
	w := make([]float64, len(terms))
	for i, term := range terms {
		df := 0
		for _, d := range docs {
			if hasTerm(d, term) {
				df++
			}
		}
		for _, c := range doc {
			if c.Term == term {
				w[i] = float64(c.N) * math.Log(float64(len(docs))/float64(df))
			}
		}
	}
	if norm := floats.Norm(w, 2); norm > 0 {
		floats.Scale(1/norm, w)
	}
	return w
}

func TestVectorEqualsReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for trial := range 50 {
		docs, relevant := randomBags(rng, 2+rng.IntN(40))
		p := VectorizerParams{Size: 1 + rng.IntN(12)}
		if trial%2 == 1 {
			p.Select, p.Relevant = SelectInformationGain, relevant
		}
		v, err := FitVectorizer(docs, p)
		if err != nil {
			t.Fatal(err)
		}
		var terms []string
		for i := range v.Dim() {
			term, _ := v.Term(i)
			terms = append(terms, term)
		}
		fresh, _ := randomBags(rng, 10)
		got := make([]float64, v.Dim())
		for _, d := range append(fresh, docs...) {
			s := v.Vector(d)
			got[0] = 99 // Dense overwrites
			s.Dense(got)
			// Some roundings in a sum of at most 12 squares, its root and a product.
			const tol = 1e-14
			if want := vectorReference(docs, terms, d); !floats.EqualApprox(got, want, tol) {
				t.Fatalf("trial %d: %v becomes %v, want %v", trial, d, got, want)
			}
			if norm := floats.Norm(s.Value, 2); len(s.Index) > 0 && math.Abs(norm-1) > tol {
				t.Errorf("trial %d: norm is %v, want 1", trial, norm)
			}
			if !slices.IsSorted(s.Index) || slices.Contains(s.Value, 0) || len(s.Index) != len(s.Value) {
				t.Errorf("trial %d: %+v is not sparse", trial, s)
			}
		}
	}
}

// A document is zero if all of its terms are unknown, or stand everywhere.
func TestVectorZero(t *testing.T) {
	var a Analyzer
	v, err := FitVectorizer([]Bag{a.Bag("reuter wheat"), a.Bag("reuter corn")}, VectorizerParams{})
	if err != nil {
		t.Fatal(err)
	}
	for doc, want := range map[string]int{"": 0, "gold": 0, "reuter": 0, "reuter gold": 0, "reuter corn": 1, "corn wheat": 2} {
		s := v.Vector(a.Bag(doc))
		if len(s.Index) != want {
			t.Errorf("%q has %d entries, want %d", doc, len(s.Index), want)
		}
		if slices.ContainsFunc(s.Value, math.IsNaN) {
			t.Errorf("%q becomes %v", doc, s.Value)
		}
	}
	if v.Dim() != 3 || v.Docs() != 2 {
		t.Errorf("%d terms of %d documents, want 3 of 2", v.Dim(), v.Docs())
	}
	if term, df := v.Term(1); term != "reuter" || df != 2 {
		t.Errorf("term 1 is %s in %d documents, want reuter in 2", term, df)
	}
}

// A vectorizer keeps nothing of its documents or labels.
func TestVectorizerIsImmutable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	docs, relevant := randomBags(rng, 30)
	v, err := FitVectorizer(docs, VectorizerParams{Size: 8, Select: SelectInformationGain, Relevant: relevant})
	if err != nil {
		t.Fatal(err)
	}
	doc := slices.Clone(docs[7])
	before := v.Vector(doc)
	if len(before.Index) == 0 {
		t.Fatal("the document is zero: the test sees nothing")
	}
	for i := range docs {
		for k := range docs[i] {
			docs[i][k] = Count{"z", 7}
		}
		relevant[i] = !relevant[i]
	}
	if after := v.Vector(doc); !slices.Equal(after.Index, before.Index) || !slices.Equal(after.Value, before.Value) {
		t.Errorf("vector is %v, want %v", after, before)
	}
}

func TestFitVectorizerRefuses(t *testing.T) {
	docs := []Bag{{{"corn", 1}}, {{"gold", 2}}}
	for _, tc := range []struct {
		name, want string
		docs       []Bag
		p          VectorizerParams
	}{
		{"size", "text: Size: -1 is not allowed, want at least 1", docs, VectorizerParams{Size: -1}},
		{"rule", "text: Select: Selection(7) is not allowed", docs, VectorizerParams{Select: 7}},
		{"no labels", "text: Relevant: 0 labels are not allowed, want 2", docs, VectorizerParams{Select: SelectInformationGain}},
		{"useless labels", "text: Relevant: labels are not allowed with document-frequency", docs, VectorizerParams{Relevant: make([]bool, 2)}},
		{"no document", "text: docs: 0 documents without a term", nil, VectorizerParams{}},
		{"no term", "text: docs: 2 documents without a term", []Bag{nil, {}}, VectorizerParams{}},
	} {
		v, err := FitVectorizer(tc.docs, tc.p)
		if err == nil || v != nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: got %v, %v; want an error that starts with %q", tc.name, v, err, tc.want)
		}
	}
}

func BenchmarkVector(b *testing.B) {
	rng := rand.New(rand.NewPCG(7, 8))
	docs, _ := randomBags(rng, 1000)
	v, err := FitVectorizer(docs, VectorizerParams{})
	if err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("alg=Vector/dim=%d", v.Dim()), func(b *testing.B) {
		for b.Loop() {
			v.Vector(docs[0])
		}
	})
}
