package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	for _, tc := range []struct{ doc, want string }{
		{"", ""},
		{"The U.S. crude-oil prices rose to $17.50", "crude oil price rose"},
		{"OIL Oil oil", "oil oil oil"},
		{"it's OPEC's", "opec"},
		{"b52 x2y", ""},
		{"after\nthe\tends", "end"},
		{"Müller fährt", "müller fährt"},
		{"bad\xffbyte", "bad byte"},
		{"mln\u00a0dlrs", "mln dlrs"},
		{strings.Repeat("x", 64) + " " + strings.Repeat("y", 65) + " z oil", strings.Repeat("x", 64) + " oil"},
	} {
		var a Analyzer
		if got := strings.Join(a.Terms(tc.doc), " "); got != tc.want {
			t.Errorf("Terms(%q) = %q, want %q", tc.doc, got, tc.want)
		}
	}
}

// TestStemmer holds the sample vocabulary that Porter publishes with the English
// (Porter2) stemmer, and the examples of his 1980 paper that stand for whole
// words.
func TestStemmer(t *testing.T) {
	const samples = `consign consign
consigned consign consigning consign consignment consign consist consist consisted consist consistency consist
consistent consist consistently consist consisting consist consists consist consolation consol consolations consol
consolatory consolatori console consol consoled consol consoles consol consolidate consolid consolidated consolid
consolidating consolid consoling consol consolingly consol consols consol consonant conson consort consort
consorted consort consorting consort conspicuous conspicu conspicuously conspicu conspiracy conspiraci
conspirator conspir conspirators conspir conspire conspir conspired conspir conspiring conspir constable constabl
constables constabl constance constanc constancy constanc constant constant
knack knack knackeries knackeri knacks knack knag knag knave knave knaves knave knavish knavish kneaded knead
kneading knead knee knee kneel kneel kneeled kneel kneeling kneel kneels kneel knees knee knell knell knelt knelt
knew knew knick knick knif knif knife knife knight knight knightly knight knights knight knit knit knits knit
knitted knit knitting knit knives knive knob knob knobs knob knock knock knocked knock knocker knocker
knockers knocker knocking knock knocks knock knopp knopp knot knot knots knot
connect connect connected connect connecting connect connection connect connections connect
caresses caress ponies poni caress caress cats cat feed feed plastered plaster bled bled motoring motor sing sing
conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz
failing fail filing file happy happi sky sky relational relat conditional condit rational ration operator oper
vietnamization vietnam predication predic decisiveness decis hopefulness hope callousness callous
triplicate triplic formalize formal electrical electr hopeful hope goodness good revival reviv allowance allow
inference infer airliner airlin gyroscopic gyroscop adjustable adjust defensible defens irritant irrit
replacement replac adjustment adjust dependent depend adoption adopt activate activ homologous homolog
effective effect bowdlerize bowdler probate probat rate rate cease ceas roll roll oscillators oscil`
	var a Analyzer
	fields := strings.Fields(samples)
	for i := 0; i < len(fields); i += 2 {
		if got := a.Terms(fields[i]); !slices.Equal(got, fields[i+1:i+2]) {
			t.Errorf("%s becomes %q, want %s", fields[i], got, fields[i+1])
		}
	}
}

func TestStopWords(t *testing.T) {
	var a Analyzer
	if got := a.Terms("I and the others will have been there before them, but not now"); !slices.Equal(got, []string{"other"}) {
		t.Errorf("terms are %q, want only other", got)
	}
}

func TestBag(t *testing.T) {
	var a Analyzer
	got := a.Bag("Wheat: prices of wheat and corn, priced in dlrs. WHEAT")
	want := Bag{{"corn", 1}, {"dlrs", 1}, {"price", 2}, {"wheat", 3}}
	if !slices.Equal(got, want) {
		t.Errorf("bag is %v, want %v", got, want)
	}
	if got := a.Bag("of the 17.50"); len(got) != 0 {
		t.Errorf("bag of no term is %v", got)
	}
}

// A full memory of stems changes no result and grows no further.
func TestAnalyzerForgets(t *testing.T) {
	full := Analyzer{term: map[string]string{}}
	for i := range maxCached {
		full.term[fmt.Sprint(i)] = "wrong"
	}
	var fresh Analyzer
	const doc = "The prices of crude oil were rising"
	if got, want := full.Terms(doc), fresh.Terms(doc); !slices.Equal(got, want) {
		t.Errorf("terms are %q, want %q", got, want)
	}
	if len(full.term) != maxCached {
		t.Errorf("%d words are remembered, want at most %d", len(full.term), maxCached)
	}
}

func FuzzAnalyzer(f *testing.F) {
	for _, seed := range []string{"", "The U.S. crude-oil prices rose", "''''yyyyy yYyY skies", "İSTANBUL ǅ ſtaff", "\xff\xfeoil", strings.Repeat("eed", 30)} {
		f.Add(seed)
	}
	var used Analyzer // across inputs
	f.Fuzz(func(t *testing.T, doc string) {
		var fresh Analyzer
		terms := fresh.Terms(doc)
		if again := used.Terms(doc); !slices.Equal(terms, again) {
			t.Fatalf("terms are %q, with a used analyzer %q", terms, again)
		}
		counts := map[string]int{}
		for _, term := range terms {
			counts[term]++
			if term == "" || !utf8.ValidString(term) || strings.ContainsFunc(term, func(r rune) bool { return !unicode.IsLetter(r) }) {
				t.Fatalf("term %q is not of letters", term)
			}
		}
		bag := fresh.Bag(doc)
		for i, c := range bag {
			if i > 0 && c.Term <= bag[i-1].Term {
				t.Fatalf("terms of the bag do not ascend at %d: %v", i, bag)
			}
			if counts[c.Term] != c.N {
				t.Fatalf("%q stands %d times, bag says %d", c.Term, counts[c.Term], c.N)
			}
		}
		if len(bag) != len(counts) {
			t.Fatalf("bag has %d terms, want %d", len(bag), len(counts))
		}
	})
}

// benchDoc has the length of an average news item.
var benchDoc = strings.Repeat("Showers continued throughout the week in the Bahia cocoa zone, alleviating the drought since early January. ", 8)

func BenchmarkBag(b *testing.B) {
	b.Run(fmt.Sprintf("alg=Bag/bytes=%d", len(benchDoc)), func(b *testing.B) {
		var a Analyzer
		b.SetBytes(int64(len(benchDoc)))
		for b.Loop() {
			a.Bag(benchDoc)
		}
	})
}
