package text

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The words that stand as examples in Porter's paper of 1980, with the stems that the Snowball
// project's own program of the original algorithm gives.
const porterSamples = `caresses caress ponies poni ties ti caress caress cats cat feed feed agreed agre plastered plaster bled bled
motoring motor sing sing conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz
failing fail filing file happy happi sky sky relational relat conditional condit rational ration valenci valenc hesitanci hesit
digitizer digit conformabli conform radicalli radic differentli differ vileli vile analogousli analog vietnamization vietnam
predication predic operator oper feudalism feudal decisiveness decis hopefulness hope callousness callous formaliti formal
sensitiviti sensit sensibiliti sensibl triplicate triplic formative form formalize formal electriciti electr electrical electr
hopeful hope goodness good revival reviv allowance allow inference infer airliner airlin gyroscopic gyroscop adjustable adjust
defensible defens irritant irrit replacement replac adjustment adjust dependent depend adoption adopt homologou homolog
communism commun activate activ angulariti angular homologous homolog effective effect bowdlerize bowdler probate probat rate rate
cease ceas controll control roll roll oscillators oscil generalizations gener connect connect connected connect connecting connect
connection connect connections connect`

func TestStemmerPorter(t *testing.T) {
	a := NewAnalyzer(StemmerPorter)
	check := func(samples string) {
		t.Helper()
		fields := strings.Fields(samples)
		for i := 0; i < len(fields); i += 2 {
			if got := a.Terms(fields[i]); !slices.Equal(got, fields[i+1:i+2]) {
				t.Errorf("%s becomes %q, want %s", fields[i], got, fields[i+1])
			}
		}
	}
	check(porterSamples)
	// The two departures, and what the stemmer of 2001 does otherwise.
	check("possibly possibl archaeology archaeolog")
	var two Analyzer
	for _, word := range []string{"communism", "generalizations", "relativity", "ties"} {
		if one, two := a.Terms(word), two.Terms(word); slices.Equal(one, two) {
			t.Errorf("%s becomes %q by both stemmers", word, one)
		}
	}
	// Stop words and the lengths of words do not depend on the stemmer.
	if got := a.Terms("I was there before the others, x " + strings.Repeat("y", 65)); !slices.Equal(got, []string{"other"}) {
		t.Errorf("terms are %q, want only other", got)
	}
}

func TestUnknownStemmer(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an unknown stemmer does not panic")
		}
	}()
	NewAnalyzer(7)
}

func FuzzStemmerPorter(f *testing.F) {
	for _, seed := range []string{"", "ies", "eed", "yyyy yYyY", "İSTANBUL ǅ ſtaff", "ingeding ational", strings.Repeat("eed", 21), "\xff\xfeoil"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		var words Analyzer
		count := len(words.Terms(doc))
		terms := NewAnalyzer(StemmerPorter).Terms(doc)
		if len(terms) != count {
			t.Fatalf("%d terms %q, want %d: as many as by the other stemmer", len(terms), terms, count)
		}
		for _, term := range terms {
			if term == "" || strings.TrimSpace(term) != term {
				t.Fatalf("term %q", term)
			}
		}
	})
}

// Without a norm the vectors are tf·idf, of which those of unit norm are multiples; the rows of
// a matrix are the vectors.
func TestVectorizerMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	docs, _ := randomBags(rng, 40)
	docs = append(docs, nil)
	fit := func(n Norm) *Vectorizer {
		v, err := FitVectorizer(docs[:25], VectorizerParams{Size: 9, Norm: n})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	unit, raw := fit(NormUnit), fit(NormNone)
	for _, v := range []*Vectorizer{unit, raw} {
		x, err := v.Matrix(docs)
		if err != nil {
			t.Fatal(err)
		}
		if n, d := x.Dims(); n != len(docs) || d != v.Dim() {
			t.Fatalf("the matrix is %d×%d, want %d×%d", n, d, len(docs), v.Dim())
		}
		for i, d := range docs {
			if row, want := x.Row(i), v.Vector(d); !slices.Equal(row.Index, want.Index) || !slices.Equal(row.Value, want.Value) {
				t.Fatalf("row %d is %v, want %v", i, row, want)
			}
		}
	}
	longest := 0
	for _, d := range docs {
		u, r := unit.Vector(d), raw.Vector(d)
		longest = max(longest, len(r.Index))
		for k, i := range r.Index {
			_, df := raw.Term(i)
			term, _ := raw.Term(i)
			n := 0
			for _, c := range d {
				if c.Term == term {
					n = c.N
				}
			}
			if want := float64(n) * raw.idf[i]; df < 1 || r.Value[k] != want {
				t.Fatalf("%s weighs %v, want %v", term, r.Value[k], want)
			}
			// A root and a quotient: two roundings each way.
			if ratio := r.Value[k] / u.Value[k]; ratio < r.Value[0]/u.Value[0]*(1-1e-14) || ratio > r.Value[0]/u.Value[0]*(1+1e-14) {
				t.Fatalf("%v is no multiple of %v", r, u)
			}
		}
	}
	if longest < 3 {
		t.Errorf("the longest vector has %d entries: the test sees nothing", longest)
	}
	if x, err := unit.Matrix(nil); err == nil || x != nil || !strings.HasPrefix(err.Error(), "text: docs: ") {
		t.Errorf("no document: %v, %v", x, err)
	}
	if _, err := FitVectorizer(docs, VectorizerParams{Norm: 7}); err == nil || !strings.HasPrefix(err.Error(), "text: Norm: Norm(7) is not allowed") {
		t.Errorf("an unknown norm: %v", err)
	}
}
