// Command embeddings writes vectors and feedback for docs/guides/embeddings.md: LSA vectors of 20 Newsgroups with pairs of posts of one topic
// and of two, and CNN features of shoes with pairs on whose likeness people agree, and with their comparisons.
//
//	go run ./cmd/metriclab data get 20news zappos
//	go run ./internal/tools/embeddings DATA-FOLDER OUTPUT-FOLDER
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/metric"
	"metriclab/pkg/text"
	"metriclab/pkg/vectors"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: embeddings DATA-FOLDER OUTPUT-FOLDER")
	}
	store, out := datasets.Open(os.Args[1]), os.Args[2]
	train, _ := must2(store.Newsgroups20(datasets.PostHeadersDrop))
	analyzer := text.NewAnalyzer(text.StemmerPorter)
	var bags []text.Bag
	for _, d := range train.Docs {
		bags = append(bags, analyzer.Bag(d.Text))
	}
	rows := must(must(text.FitVectorizer(bags, text.VectorizerParams{Size: 10000})).Matrix(bags))
	lsa := must(labels.FitLSA(context.Background(), rows, labels.LSAParams{K: 256}))
	rng := rand.New(rand.NewPCG(1, 1))
	var links []metric.Link
	for len(links) < 20000 {
		i, j := rng.IntN(len(bags)), rng.IntN(len(bags))
		if same := train.Y[i] == train.Y[j]; i != j && same == (len(links)%2 == 0) {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(same)})
		}
	}
	write(filepath.Join(out, "news"), lsa.Transform(rows), links)

	shoes := must(store.Triplets("zappos"))
	near := map[[2]int]int{} // how often two were found nearer than another, less how often farther
	for _, t := range shoes.Triplets {
		near[[2]int{min(t.A, t.Near), max(t.A, t.Near)}]++
		near[[2]int{min(t.A, t.Far), max(t.A, t.Far)}]--
	}
	links = links[:0]
	for i := range shoes.Objects {
		for j := range i {
			if n := near[[2]int{j, i}]; max(n, -n) >= 10 {
				links = append(links, metric.Link{I: j, J: i, Label: metric.SameClass(n > 0)})
			}
		}
	}
	write(filepath.Join(out, "shoes"), shoes.Features, links)
	writeLines(filepath.Join(out, "shoes-triplets.csv"), func(w io.Writer) {
		for _, t := range shoes.Triplets {
			fmt.Fprintf(w, "%d,%d,%d\n", t.A, t.Near, t.Far)
		}
	})
	fmt.Printf("shoes-triplets.csv: %d comparisons\n", len(shoes.Triplets))
}

func write(name string, x *mat.Dense, links []metric.Link) {
	n, d := x.Dims()
	w := must(vectors.Create(name+".npy", n, d, true))
	check(w.WriteRows(x.RawMatrix().Data, 0))
	check(w.Commit())
	similar := 0
	writeLines(name+".csv", func(w io.Writer) {
		for _, l := range links {
			fmt.Fprintf(w, "%d,%d,%d\n", l.I, l.J, l.Label)
			similar += (int(l.Label) + 1) / 2
		}
	})
	fmt.Printf("%s: %d vectors of %d numbers, %d pairs, %d similar\n", name, n, d, len(links), similar)
}

func writeLines(name string, lines func(io.Writer)) {
	f := must(os.Create(name))
	b := bufio.NewWriter(f)
	lines(b)
	check(b.Flush())
	check(f.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must[T any](v T, err error) T { check(err); return v }

func must2[T any](a, b T, err error) (T, T) { check(err); return a, b }
