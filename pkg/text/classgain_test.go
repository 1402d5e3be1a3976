package text

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
)

// classGainReference is the mutual information of "has the term" and the class, cell by cell:
// Σ p(t,c)·log₂(p(t,c)/(p(t)·p(c))).
func classGainReference(documents, having []int) float64 {
	n, df := 0.0, 0.0
	for c := range documents {
		n, df = n+float64(documents[c]), df+float64(having[c])
	}
	g := 0.0
	for c := range documents {
		for _, cell := range [][2]float64{{float64(having[c]), df}, {float64(documents[c] - having[c]), n - df}} {
			if cell[0] > 0 {
				g += cell[0] / n * math.Log2(cell[0]*n/(cell[1]*float64(documents[c])))
			}
		}
	}
	return g
}

// Entropies of nine classes are at most 3.2 bits: cancellation leaves a few ε.
const classGainTol = 1e-13

func TestClassGain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		documents, having := make([]int, 1+rng.IntN(9)), []int(nil)
		documents[0] = 1
		for c := range documents {
			documents[c] += rng.IntN(20)
			having = append(having, rng.IntN(documents[c]+1))
		}
		got, want := ClassGain(documents, having), classGainReference(documents, having)
		if !scalar.EqualWithinAbs(got, want, classGainTol) || got < 0 {
			t.Fatalf("ClassGain(%v, %v) = %v, want %v", documents, having, got, want)
		}
		order := rng.Perm(len(documents))
		var a, b []int
		for _, c := range order {
			a, b = append(a, documents[c]), append(b, having[c])
		}
		if again := ClassGain(a, b); again != got {
			t.Fatalf("ClassGain(%v, %v) = %v, and %v in another order of classes", documents, having, got, again)
		}
	}
	if got := ClassGain([]int{4, 4, 4, 4}, []int{4, 4, 0, 0}); got != 1 {
		t.Errorf("a term that halves four classes gains %v, want 1 bit", got)
	}
	if got := ClassGain([]int{6, 3}, []int{2, 1}); got > classGainTol {
		t.Errorf("an independent term gains %v, want 0", got)
	}
}

// With two classes it is the gain about a binary label.
func TestClassGainOfTwoClasses(t *testing.T) {
	for relevant := range 8 {
		for df := range 8 {
			for k := max(0, df+relevant-7); k <= min(df, relevant); k++ {
				if got, want := ClassGain([]int{relevant, 7 - relevant}, []int{k, df - k}), Gain(7, relevant, df, k); !scalar.EqualWithinAbs(got, want, classGainTol) {
					t.Errorf("ClassGain = %v, Gain(7, %d, %d, %d) = %v", got, relevant, df, k, want)
				}
			}
		}
	}
}

func TestByClassGain(t *testing.T) {
	var a Analyzer
	var docs []Bag
	for _, s := range []string{"ship ship rain", "ship rain zinc", "zinc zinc gold", "gold rain zinc", "wool rain", "wool rain"} {
		docs = append(docs, a.Bag(s))
	}
	class := []int{7, 7, -1, -1, 3, 3}
	// gold, ship and wool each tell one of three classes of two from the others.
	got := ByClassGain(docs, class, 4)
	var terms []string
	for _, s := range got {
		terms = append(terms, s.Term)
	}
	if !slices.Equal(terms, []string{"gold", "ship", "wool", "zinc"}) || got[0].Gain != got[2].Gain || got[2].Gain <= got[3].Gain {
		t.Errorf("%v", got)
	}
	if want := classGainReference([]int{2, 2, 2}, []int{2, 0, 1}); !scalar.EqualWithinAbs(got[3].Gain, want, classGainTol) {
		t.Errorf("zinc gains %v, want %v", got[3].Gain, want)
	}
	if all := ByClassGain(docs, class, 99); len(all) != 5 || !slices.Equal(all[:4], got) {
		t.Errorf("all terms: %v", all)
	}
	if none := ByClassGain(nil, nil, 3); len(none) != 0 {
		t.Errorf("terms of no documents: %v", none)
	}
}

func TestClassGainPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"more than there are": func() { ClassGain([]int{2, 1}, []int{1, 2}) },
		"negative":            func() { ClassGain([]int{2, 1}, []int{-1, 1}) },
		"another length":      func() { ClassGain([]int{2, 1}, []int{1}) },
		"none":                func() { ClassGain([]int{0, 0}, []int{0, 0}) },
		"labels":              func() { ByClassGain(make([]Bag, 2), []int{1}, 3) },
		"size":                func() { ByClassGain(nil, nil, -1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func ExampleByClassGain() {
	var a Analyzer
	docs := []Bag{a.Bag("wheat corn"), a.Bag("wheat price"), a.Bag("crude oil"), a.Bag("oil price")}
	for _, s := range ByClassGain(docs, []int{0, 0, 1, 1}, 3) {
		fmt.Printf("%s %.2f\n", s.Term, s.Gain)
	}
	// Output:
	// oil 1.00
	// wheat 1.00
	// corn 0.31
}
