// Gram learns a kernel of words, of which nothing is known but how many pieces any
// two have in common, from pairs of one family and of two. New words follow.
//
//	go run ./examples/gram
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/itml"
)

func must[T any](v T, err error) T { // for programs of one page; elsewhere, return the error
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	const known, fresh = 80, 80 // words
	rng := rand.New(rand.NewPCG(1, 2))
	words, family := make([]string, known+fresh), make([]int, known+fresh)
	for i := range words {
		family[i] = i % 2
		words[i] = word(rng, []string{"gattac", "ccagtg"}[family[i]])
	}
	gram, cross, own := mat.NewSymDense(known, nil), mat.NewDense(fresh, known, nil), make([]float64, fresh)
	for j := range known {
		for i := range known {
			gram.SetSym(i, j, common(words[i], words[j]))
		}
		for i := range fresh {
			cross.Set(i, j, common(words[known+i], words[j]))
			own[i] = common(words[known+i], words[known+i])
		}
	}
	links := must(sample.BalancedLinks(rng, family[:known], 300))
	fit := must(itml.FitKernel(context.Background(), gram, links, itml.KernelParams{Gamma: 10}))
	learned := must(fit.SqDistBetween(gram, cross, own))
	given := mat.NewDense(fresh, known, nil)
	given.Apply(func(i, j int, k float64) float64 { return own[i] - 2*k + gram.At(j, j) }, cross)
	for k, sqDist := range []*mat.Dense{given, learned} {
		wrong := 0
		for i := range fresh {
			if family[floats.MinIdx(sqDist.RawRowView(i))] != family[known+i] {
				wrong++
			}
		}
		fmt.Printf("%-9s %d of %d new words are nearest to one of the other family\n", []string{"as given:", "learned:"}[k], wrong, fresh)
	}
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
