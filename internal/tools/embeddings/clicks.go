package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/adapt"
	"metriclab/pkg/datasets"
	"metriclab/pkg/feedback"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/random"
	"metriclab/pkg/text"
)

// posts are unit vectors with topics.
type posts struct {
	x     *mat.Dense
	topic []int
}

func news(folder string) posts {
	train, _ := must2(datasets.Open(folder).Newsgroups20(datasets.PostHeadersDrop))
	of := lsa
	if *wordVectors != "" {
		of = averages
	}
	x := of(train.Docs)
	n, d := x.Dims()
	var p posts
	var kept []float64
	for i := range n {
		row := x.RawRowView(i)
		if size := floats.Norm(row, 2); size > 0 {
			floats.Scale(1/size, row)
			kept = append(kept, row...)
			p.topic = append(p.topic, train.Y[i])
		}
	}
	p.x = mat.NewDense(len(p.topic), d, kept)
	return p
}

func lsa(docs []datasets.Document) *mat.Dense {
	analyzer := text.NewAnalyzer(text.StemmerPorter)
	var bags []text.Bag
	for _, d := range docs {
		bags = append(bags, analyzer.Bag(d.Text))
	}
	rows := must(must(text.FitVectorizer(bags, text.VectorizerParams{Size: 10000})).Matrix(bags))
	return must(labels.FitLSA(context.Background(), rows, labels.LSAParams{K: 256})).Transform(rows)
}

// averages are the means of the vectors of the words of a post.
func averages(docs []datasets.Document) *mat.Dense {
	var file struct {
		Dimensions int
		Vectors    map[string][]float64 // and two numbers behind
	}
	check(json.Unmarshal(must(os.ReadFile(*wordVectors)), &file))
	x := mat.NewDense(len(docs), file.Dimensions, nil)
	for i, d := range docs {
		for _, word := range strings.FieldsFunc(strings.ToLower(d.Text), func(c rune) bool { return !unicode.IsLetter(c) }) {
			if v, ok := file.Vectors[word]; ok {
				floats.Add(x.RawRowView(i), v[:file.Dimensions])
			}
		}
	}
	if *centred {
		for i := range len(docs) {
			if row := x.RawRowView(i); floats.Norm(row, 1) > 0 {
				floats.Scale(1/floats.Norm(row, 2), row)
			}
		}
		mean := make([]float64, file.Dimensions)
		for i := range len(docs) {
			floats.AddScaled(mean, -1/float64(len(docs)), x.RawRowView(i))
		}
		for i := range len(docs) {
			if row := x.RawRowView(i); floats.Norm(row, 1) > 0 {
				floats.Add(row, mean)
			}
		}
	}
	return x
}

// world is a division of the posts.
type world struct {
	documents, asked, unseen posts
	near                     [][]int     // of each query, the documents of its topic with a cosine above 0
	weight                   [][]float64 // these cosines, summed up
	rng                      *rand.Rand
}

const documents, queries, first = 8000, 1000, 7

func (p posts) divide(seed int) *world {
	rng := random.Seed{Base: 1, Experiment: "tools/clicks", Trial: seed}.Stream("world")
	order := rng.Perm(len(p.topic))
	part := func(from, n int) (out posts) {
		_, d := p.x.Dims()
		out.x = mat.NewDense(n, d, nil)
		for i, at := range order[from : from+n] {
			out.x.SetRow(i, p.x.RawRowView(at))
			out.topic = append(out.topic, p.topic[at])
		}
		return out
	}
	w := &world{documents: part(0, documents), asked: part(documents, queries), unseen: part(documents+queries, queries), rng: rng}
	scores := matrix.Mul(w.asked.x, w.documents.x.T())
	for q := range queries {
		var near []int
		var weight []float64
		sum := 0.0
		for d, c := range scores.RawRowView(q) {
			if c > 0 && w.documents.topic[d] == w.asked.topic[q] {
				sum += c
				near, weight = append(near, d), append(weight, sum)
			}
		}
		w.weight = append(w.weight, weight)
		w.near = append(w.near, near)
	}
	return w
}

// clicks draws n of them: a query, one of the documents of its topic, with its cosine as the weight, and any other document, which was passed over.
func (w *world) clicks(n int, shuffled bool) *adapt.Corpus {
	type pair struct{ query, document int }
	grade := map[pair]float64{}
	var order []pair
	for range n {
		q := w.rng.IntN(queries)
		if len(w.near[q]) == 0 {
			continue
		}
		last := len(w.near[q]) - 1
		r, _ := slices.BinarySearch(w.weight[q], w.rng.Float64()*w.weight[q][last])
		r = min(r, last)
		for side, d := range []int{w.near[q][r], w.rng.IntN(documents)} {
			p := pair{q, d}
			if _, seen := grade[p]; !seen {
				order = append(order, p)
			}
			grade[p] = max(grade[p], float64(1-side))
		}
	}
	c := &adapt.Corpus{Documents: inMemory{w.documents.x}, Queries: inMemory{w.asked.x}}
	for _, p := range order {
		c.Judged = append(c.Judged, feedback.Judgement{Query: p.query, Document: p.document, Grade: grade[p]})
	}
	if shuffled { // which document somebody clicked says nothing of the query
		w.rng.Shuffle(len(c.Judged), func(i, j int) {
			c.Judged[i].Grade, c.Judged[j].Grade = c.Judged[j].Grade, c.Judged[i].Grade
		})
	}
	return c
}

// topics judges all documents for the queries that nobody has asked.
func (w *world) topics() *adapt.Corpus {
	c := &adapt.Corpus{Documents: inMemory{w.documents.x}, Queries: inMemory{w.unseen.x}}
	for q, of := range w.unseen.topic {
		for d, topic := range w.documents.topic {
			if topic == of {
				c.Judged = append(c.Judged, feedback.Judgement{Query: q, Document: d, Grade: 1})
			}
		}
	}
	return c
}

func trial(p posts, seeds int) {
	ctx := context.Background()
	sizes := []int{300, 1500, 6000}
	over := map[string][][]float64{} // by way: of each size, a difference for each seed
	var ways []string
	var base []float64
	for seed := first; seed < first+seeds; seed++ {
		w := p.divide(seed)
		unseen := w.topics()
		for k, n := range sizes {
			c := w.clicks(n, false)
			var made []*adapt.Adapter
			for _, learner := range adapt.Defaults {
				for _, search := range []adapt.Search{adapt.QueryMap, adapt.Angle, adapt.Distance} {
					a, err := adapt.Fit(ctx, c, adapt.Way{Learner: learner, Search: search}, adapt.Options{Seed: uint64(seed)})
					if err == nil { // OASIS has a query map alone
						made = append(made, a)
					}
				}
			}
			for _, tuned := range []bool{false, true} {
				name := "linear adapter, 10 epochs"
				if tuned {
					name = "linear adapter, epochs and rate by validation"
				}
				made = append(made, &adapt.Adapter{Way: adapt.Way{Learner: name, Search: adapt.QueryMap}, Operator: adapt.Cosine, A: linear(c, uint64(seed), tuned)})
			}
			rows := must(adapt.Evaluate(ctx, unseen, made, adapt.Options{}))
			if k == 0 {
				base = append(base, rows[0].Mean[adapt.NDCG].Mean)
			}
			for _, r := range rows[1:] {
				name := r.Way.String()
				if over[name] == nil {
					over[name] = make([][]float64, len(sizes))
					ways = append(ways, name)
				}
				over[name][k] = append(over[name][k], r.Over[adapt.NDCG].Mean)
			}
			log.Printf("seed %d, %d clicks", seed, n)
		}
	}
	fmt.Printf("nDCG@10 of the cosine: %s\n\n| way to search | new index |", said(base, false))
	for _, n := range sizes {
		fmt.Printf(" %d clicks |", n)
	}
	fmt.Print("\n|---|---|---|---|---|\n")
	for _, name := range ways {
		index := "yes"
		if strings.HasSuffix(name, string(adapt.QueryMap)) {
			index = "no"
		}
		fmt.Printf("| %s | %s |", name, index)
		for _, d := range over[name] {
			fmt.Printf(" %s |", said(d, true))
		}
		fmt.Println()
	}
	ours := adapt.Way{Learner: "oasis", Search: adapt.QueryMap}.String()
	for _, name := range ways {
		if !strings.HasPrefix(name, "linear") {
			continue
		}
		fmt.Printf("| %s less %s | |", ours, name)
		for k, d := range over[name] {
			var less []float64
			for i, v := range over[ours][k] {
				less = append(less, v-d[i])
			}
			fmt.Printf(" %s |", said(less, true))
		}
		fmt.Println()
	}
}

// said is a mean with its interval; a standard error below 6 seeds.
func said(v []float64, sign bool) string {
	s := judge.Summarize(v)
	format := "%.3f"
	if sign {
		format = "%+.3f"
	}
	if s.HasInterval {
		return fmt.Sprintf(format+" ± %.3f", s.Mean, s.Half)
	}
	return fmt.Sprintf(format, s.Mean)
}

func verdicts(p posts, seeds int) {
	for _, shuffled := range []bool{false, true} {
		take := 0
		for seed := first; seed < first+seeds; seed++ {
			r := must(adapt.Compare(context.Background(), p.divide(seed).clicks(1500, shuffled), adapt.Options{Seed: uint64(seed)}))
			if r.Take {
				take++
			}
			log.Printf("seed %d, shuffled %v: %s", seed, shuffled, r.Sentence())
		}
		fmt.Printf("| %s | %d of %d | %d of %d |\n", map[bool]string{false: "true", true: "shuffled"}[shuffled], take, seeds, seeds-take, seeds)
	}
}

// linear is the adapter that others use: a matrix for the query alone from the identity on, a triplet loss with a margin on the cosine, one random document in place of a judged one as
// the negative, and Adam. Tuned, the rate and the number of epochs are those that are best on a fifth of the queries.
func linear(c *adapt.Corpus, seed uint64, tuned bool) *mat.Dense {
	rng := random.Seed{Base: seed, Experiment: "tools/clicks"}.Stream("linear")
	var clicks, train, held []feedback.Judgement
	for _, j := range c.Judged {
		if j.Grade > 0 {
			clicks = append(clicks, j)
			if j.Query%5 == 0 {
				held = append(held, j)
			} else {
				train = append(train, j)
			}
		}
	}
	if !tuned {
		w, _ := adam(c, clicks, nil, .001, 10, rng)
		return w
	}
	best, rate, epochs := math.Inf(-1), 0., 0
	for _, r := range []float64{3e-4, 1e-3, 3e-3} {
		if _, scores := adam(c, train, held, r, 20, rng); floats.Max(scores) > best {
			best, rate, epochs = floats.Max(scores), r, floats.MaxIdx(scores)+1
		}
	}
	w, _ := adam(c, clicks, nil, rate, epochs, rng)
	return w
}

// adam returns the matrix, and after each epoch how often a held-out click is nearer than a random document.
func adam(c *adapt.Corpus, clicks, held []feedback.Judgement, rate float64, epochs int, rng *rand.Rand) (w *mat.Dense, scores []float64) {
	const margin, batch, b1, b2, eps = .3, 32, .9, .999, 1e-8
	q, d := c.Queries.(inMemory), c.Documents.(inMemory)
	n := q.Dim()
	w = mat.NewDense(n, n, nil)
	for i := range n {
		w.Set(i, i, 1)
	}
	g, m, v := make([]float64, n*n), make([]float64, n*n), make([]float64, n*n)
	data := w.RawMatrix().Data
	y, u := mat.NewVecDense(n, nil), make([]float64, n)
	var others []int
	for range held {
		others = append(others, rng.IntN(d.Rows()))
	}
	step := 0
	for range epochs {
		order := rng.Perm(len(clicks))
		for from := 0; from < len(order); from += batch {
			clear(g)
			part := order[from:min(from+batch, len(order))]
			for _, i := range part {
				x, near, far := q.RawRowView(clicks[i].Query), d.RawRowView(clicks[i].Document), d.RawRowView(rng.IntN(d.Rows()))
				y.MulVec(w, mat.NewVecDense(n, x))
				size := mat.Norm(y, 2)
				floats.ScaleTo(u, 1/size, y.RawVector().Data)
				a, b := floats.Dot(u, near), floats.Dot(u, far)
				if margin-a+b <= 0 {
					continue
				}
				for r := range n { // of b − a by y, and so by row r of W
					by := (far[r] - near[r] - (b-a)*u[r]) / size / float64(len(part))
					floats.AddScaled(g[r*n:(r+1)*n], by, x)
				}
			}
			step++
			c1, c2 := 1-math.Pow(b1, float64(step)), 1-math.Pow(b2, float64(step))
			for i, gi := range g {
				m[i], v[i] = b1*m[i]+(1-b1)*gi, b2*v[i]+(1-b2)*gi*gi
				data[i] -= rate * m[i] / c1 / (math.Sqrt(v[i]/c2) + eps)
			}
		}
		right := 0.0
		for k, j := range held {
			y.MulVec(w, mat.NewVecDense(n, q.RawRowView(j.Query)))
			if floats.Dot(y.RawVector().Data, d.RawRowView(j.Document)) > floats.Dot(y.RawVector().Data, d.RawRowView(others[k])) {
				right++
			}
		}
		scores = append(scores, right)
	}
	return w, scores
}

// inMemory is a Source.
type inMemory struct{ *mat.Dense }

func (m inMemory) Rows() int { n, _ := m.Dims(); return n }
func (m inMemory) Dim() int  { _, d := m.Dims(); return d }

func (m inMemory) ReadRows(dst []float64, first int) error {
	copy(dst, m.RawMatrix().Data[first*m.Dim():])
	return nil
}

func (m inMemory) Select(rows []int) (*mat.Dense, error) {
	out := mat.NewDense(len(rows), m.Dim(), nil)
	for i, r := range rows {
		out.SetRow(i, m.RawRowView(r))
	}
	return out, nil
}

func writeClicks(p posts, folder string) {
	w := p.divide(0)
	c := w.clicks(1500, false)
	for name, of := range map[string]posts{"documents.txt": w.documents, "queries.txt": w.asked, "new.txt": w.unseen} {
		writeLines(filepath.Join(folder, name), func(to io.Writer) {
			for i := range of.topic {
				fmt.Fprintf(to, "%s%d\t[", name[:1], i)
				for j, v := range of.x.RawRowView(i) {
					if j > 0 {
						fmt.Fprint(to, ",")
					}
					fmt.Fprint(to, float32(v))
				}
				fmt.Fprintln(to, "]")
			}
		})
	}
	for name, c := range map[string]*adapt.Corpus{"qrels.tsv": c, "new.tsv": w.topics()} {
		writeLines(filepath.Join(folder, name), func(to io.Writer) {
			fmt.Fprintln(to, "query-id\tcorpus-id\tscore")
			for _, j := range c.Judged {
				fmt.Fprintf(to, "%s%d\td%d\t%v\n", map[bool]string{true: "q", false: "n"}[name == "qrels.tsv"], j.Query, j.Document, j.Grade)
			}
		})
	}
}
