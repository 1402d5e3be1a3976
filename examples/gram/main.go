// Gram learns a kernel of words, of which nothing is known but how many pieces any two
// have in common, from their families, tells what it is worth, and places a new word.
//
//	go run ./examples/gram
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/model"
)

// must is for programs of one page; elsewhere, return the error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	ctx, rng, n := context.Background(), rand.New(rand.NewPCG(1, 2)), 200
	words, families, gram := make([]string, n), make([]string, n), mat.NewSymDense(n, nil)
	for i := range n {
		families[i] = []string{"gattac", "ccagtg"}[i%2]
		words[i] = word(rng, families[i])
		for j := range i + 1 {
			gram.SetSym(i, j, common(words[i], words[j]))
		}
	}
	problem, recipe := model.ByGram(gram, families), model.Recipe{Learner: "kernel-fda", Params: map[string]string{"ridge": "1"}}

	e := must(model.Evaluate(ctx, problem, recipe, model.Plan{Repeats: 4}))
	fmt.Printf("errors of nearest neighbours in %%: as given %s, %s %s\n", e.Of(model.Euclidean, model.MeasureKNN).Summary.Percent(), recipe.Learner, e.Of(recipe.Learner, model.MeasureKNN).Summary.Percent())

	m := must(model.Fit(ctx, problem, recipe, nil)).(*model.Gram)
	fresh, cross := word(rng, "gattac"), mat.NewDense(1, n, nil)
	cross.Apply(func(_, j int, _ float64) float64 { return common(fresh, words[j]) }, cross)
	elected := must(must(m.Classifier(families, 5)).Objects(ctx, cross)).Elected[0]
	fmt.Printf("%s is of the family %s\n", fresh, elected.Class)
}

// word returns 28 letters in random order, but for a motif somewhere.
func word(rng *rand.Rand, motif string) string {
	letters := []byte("acgtacgtacgtacgtacgtacgtacgt")
	rng.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
	copy(letters[rng.IntN(len(letters)-len(motif)+1):], motif)
	return string(letters)
}

// common is the spectrum kernel: the number of pairs of equal pieces of three letters.
func common(a, b string) (n float64) {
	for i := range len(a) - 2 {
		for j := range len(b) - 2 {
			if a[i:i+3] == b[j:j+3] {
				n++
			}
		}
	}
	return n
}
