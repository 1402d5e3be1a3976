package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/feedback"
	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
	"metriclab/pkg/vectors"
)

// perms calls do with all orders of 0 to n−1.
func perms(n int, do func([]int)) {
	var next func(order []int, left []int)
	next = func(order, left []int) {
		if len(left) == 0 {
			do(order)
		}
		for i, v := range left {
			next(append(slices.Clone(order), v), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	next(nil, all)
}

// TestRecallTies compares with the mean of recall over all orders in which rows at equal distances may come.
func TestRecallTies(t *testing.T) {
	const n = 6
	rng := rand.New(rand.NewPCG(1, 1))
	for trial := range 40 {
		z := mat.NewDense(n, 1, nil)
		for i := range n {
			z.Set(i, 0, float64(rng.IntN(1+trial%4)))
		}
		links := []metric.Link{{I: 0, J: 1 + rng.IntN(n-1), Label: metric.Similar}, {I: 2, J: 3, Label: metric.Similar}, {I: 1, J: 4, Label: metric.Dissimilar}}
		for k := 1; k <= n; k++ {
			got, err := recall(t.Context(), metric.Euclidean{}, z, links, k)
			if err != nil {
				t.Fatal(err)
			}
			want, orders := 0.0, 0.0
			perms(n, func(order []int) {
				orders++
				want += recallInOrder(z, links, k, order)
			})
			if want /= orders; math.Abs(got-want) > 1e-12 { // sums of at most 6 shares
				t.Errorf("%v, %v, k = %d: %v, want %v", mat.Formatted(z.T()), links, k, got, want)
			}
		}
	}
}

// recallInOrder is recall where rows at equal distances come in the given order.
func recallInOrder(z *mat.Dense, links []metric.Link, k int, order []int) float64 {
	n, _ := z.Dims()
	alike := map[int]map[int]bool{}
	for _, l := range links {
		if l.Label == metric.Similar {
			for _, p := range [][2]int{{l.I, l.J}, {l.J, l.I}} {
				if alike[p[0]] == nil {
					alike[p[0]] = map[int]bool{}
				}
				alike[p[0]][p[1]] = true
			}
		}
	}
	sum := 0.0
	for i, of := range alike {
		rows := slices.DeleteFunc(slices.Clone(order), func(j int) bool { return j == i })
		slices.SortStableFunc(rows, func(a, b int) int {
			return int(math.Abs(z.At(a, 0)-z.At(i, 0)) - math.Abs(z.At(b, 0)-z.At(i, 0)))
		})
		for _, j := range rows[:min(k, n-1)] {
			if of[j] {
				sum += 1 / float64(len(of))
			}
		}
	}
	return sum / float64(len(alike))
}

// TestScoresIgnoreOrder: no score of a split changes when rows and pairs are permuted, whatever is tied.
func TestScoresIgnoreOrder(t *testing.T) {
	const n = 30
	rng := rand.New(rand.NewPCG(2, 1))
	for range 30 {
		z := mat.NewDense(n, 2, nil)
		for i := range n {
			z.SetRow(i, []float64{float64(rng.IntN(3)), float64(rng.IntN(2))})
		}
		var links []metric.Link
		for k := range 60 {
			i := rng.IntN(n)
			links = append(links, metric.Link{I: i, J: (i + 1 + rng.IntN(n-1)) % n, Label: metric.Label(2*(k%2) - 1)})
		}
		score := func(z *mat.Dense, links []metric.Link) [3]float64 {
			v := VectorScore{AUC: make([]float64, 1), Error: make([]float64, 1), Recall: make([]float64, 1)}
			threshold, _ := bestThreshold(sqDistsOf(metric.Euclidean{}, z, links), links)
			if err := v.judge(t.Context(), metric.Euclidean{}, z, links, threshold, 5, 0); err != nil {
				t.Fatal(err)
			}
			return [3]float64{v.AUC[0], v.Error[0], v.Recall[0]}
		}
		perm := rng.Perm(n)
		zp := mat.NewDense(n, 2, nil)
		for i, p := range perm {
			zp.SetRow(p, z.RawRowView(i))
		}
		other := slices.Clone(links)
		for k := range other {
			other[k].I, other[k].J = perm[other[k].J], perm[other[k].I]
		}
		rng.Shuffle(len(other), func(a, b int) { other[a], other[b] = other[b], other[a] })
		a, b := score(z, links), score(zp, other)
		for k := range a {
			if math.Abs(a[k]-b[k]) > 1e-12 { // the order of sums
				t.Errorf("%v, permuted %v", a, b)
			}
		}
	}
}

// TestBestThresholdAtZero: where pairs at distance 0 are dissimilar, none is taken for similar.
func TestBestThresholdAtZero(t *testing.T) {
	links := []metric.Link{{I: 0, J: 1, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Dissimilar}, {I: 0, J: 2, Label: metric.Similar}}
	if b, wrong := bestThreshold([]float64{0, 0, 0}, links); b >= 0 || wrong != 1 {
		t.Errorf("%v, %d wrong", b, wrong)
	}
	if b, wrong := bestThreshold([]float64{0, 1}, links[:2]); b >= 0 || wrong != 0 {
		t.Errorf("%v, %d wrong", b, wrong)
	}
}

// given is what p points to, if anything.
func given[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// TestEvaluationsIgnoreOrder: no evaluation changes, to the bit, when rows or lines are permuted, however many distances are equal.
func TestEvaluationsIgnoreOrder(t *testing.T) {
	const n = 36
	rng := rand.New(rand.NewPCG(8, 1))
	x, labels := mat.NewDense(n, 3, nil), make([]string, n)
	for i := range n {
		x.SetRow(i, []float64{float64(rng.IntN(3)), float64(rng.IntN(2)), float64(rng.IntN(3))})
		labels[i] = string(rune('a' + rng.IntN(3)))
	}
	var links []metric.Link
	var ts []metric.Triplet
	for range 90 {
		p := rng.Perm(n)
		links = append(links, metric.Link{I: p[0], J: p[1], Label: metric.Label(2*rng.IntN(2) - 1)})
		ts = append(ts, metric.Triplet{A: p[0], Near: p[1], Far: p[2]})
	}
	vectorsOf := func(x *mat.Dense) *vectors.File { return vectorFile(t, x, false) }
	type input struct {
		x     *mat.Dense
		y     []string
		links []metric.Link
		ts    []metric.Triplet
	}
	table := func(in input) *Data {
		d, err := NewData(in.x, in.y, nil)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	numbers := func(v any, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%+v", v)
	}
	plan, vectorPlan := Plan{Folds: 3, Repeats: 2, Ks: []int{1, 2, 3}}, VectorPlan{K: 3, Splits: 4}
	scores := func(e *Evaluation, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return numbers([]any{e.Learner, e.Baseline, given(e.Raw), e.Difference, e.Counts}, nil)
	}
	held := func(e *HeldOut, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return numbers([]any{e.Learner, e.Euclidean, e.Cosine, given(e.Raw), e.AlwaysSimilar, e.Train, e.Dropped}, nil)
	}
	all := map[string]func(in input) string{
		"gram": func(in input) string {
			k0 := kernels.Gram(kernels.Linear{}, in.x)
			return scores(EvaluateGram(t.Context(), k0, in.y, GramRecipe{Learner: "kernel-itml", Pairs: 40}, plan))
		},
		"chunklets": func(in input) string {
			d := table(in)
			d.Chunklets = in.y
			r := Recipe{Learner: "pola", Given: GivenChunklets}
			if err := d.GiveChunklets(r, true); err != nil {
				t.Fatal(err)
			}
			e, err := EvaluatePairs(t.Context(), d, r, vectorPlan)
			return held(&e.HeldOut, err)
		},
		"compare": func(in input) string {
			c, err := Compare(t.Context(), ByClasses(table(in)), Recipe{Pairs: 30}, []string{"pola", "lmnn", "fda"}, Comparing{Plan: plan, Validation: 2})
			if err != nil {
				t.Fatal(err)
			}
			out := numbers([]any{*c.ByValidation, c.Chosen}, nil)
			for _, r := range c.Ranked {
				out += numbers([]any{r.Recipe.Learner, r.Score, r.P, r.Holm}, nil)
			}
			return out
		},
		"triplets": func(in input) string {
			set := &feedback.Triplets{Name: "t", Objects: n, List: in.ts}
			for i := range n { // names go with their objects
				set.Names = append(set.Names, fmt.Sprintf("%02d", i))
			}
			e, err := EvaluateTriplets(t.Context(), set, TripletRecipe{Learner: "erkle"}, TripletPlan{})
			if err != nil {
				t.Fatal(err)
			}
			return numbers(e.Errors, nil)
		},
	}
	for _, learner := range []string{"itml", "pola", "fda", "lmnn", "kernel-pca"} {
		all["table "+learner] = func(in input) string {
			return scores(Evaluate(t.Context(), table(in), Recipe{Learner: learner}, plan))
		}
	}
	for _, learner := range []string{"itml", "pola"} {
		all["pairs "+learner] = func(in input) string {
			d := table(in)
			d.Links = in.links
			e, err := EvaluatePairs(t.Context(), d, Recipe{Learner: learner, Given: GivenPairs}, vectorPlan)
			return held(&e.HeldOut, err)
		}
		all["vectors "+learner] = func(in input) string {
			e, err := EvaluateVectors(t.Context(), vectorsOf(in.x), in.links, VectorRecipe{Learner: learner}, vectorPlan)
			return held(&e.HeldOut, err)
		}
	}
	all["vectors and triplets"] = func(in input) string {
		e, err := EvaluateVectorTriplets(t.Context(), vectorsOf(in.x), in.ts, VectorRecipe{Learner: "itml", Triplets: true}, vectorPlan)
		if err != nil {
			t.Fatal(err)
		}
		return numbers([]any{e.Learner, e.Euclidean, e.Cosine, e.Train}, nil)
	}
	for name, evaluate := range all {
		t.Run(name, func(t *testing.T) {
			want := evaluate(input{x, labels, links, ts})
			for range 3 {
				perm := rng.Perm(n)
				in := input{mat.NewDense(n, 3, nil), make([]string, n), slices.Clone(links), slices.Clone(ts)}
				for i, p := range perm {
					in.x.SetRow(p, x.RawRowView(i))
					in.y[p] = labels[i]
				}
				for k, l := range links {
					in.links[k] = metric.Link{I: perm[l.J], J: perm[l.I], Label: l.Label}
				}
				if name != "triplets" {
					for k, v := range ts {
						in.ts[k] = metric.Triplet{A: perm[v.A], Near: perm[v.Near], Far: perm[v.Far]}
					}
				}
				rng.Shuffle(len(links), func(a, b int) {
					in.links[a], in.links[b] = in.links[b], in.links[a]
					in.ts[a], in.ts[b] = in.ts[b], in.ts[a]
				})
				if got := evaluate(in); got != want {
					t.Errorf("%s\npermuted %s", want, got)
				}
			}
		})
	}
}
