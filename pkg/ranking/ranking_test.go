package ranking_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"metriclab/pkg/ranking"
)

// Three documents are as near as each other, and one of them is relevant.
func Example() {
	blocks := ranking.Blocks([]float64{.9, .5, .5, .5}, []float64{0, 1, 0, 0}, func(a, b float64) bool { return a == b })
	fmt.Printf("%.3f %.3f %.3f\n", ranking.NDCG(blocks, 2), ranking.ReciprocalRank(blocks, 2), ranking.Recall(blocks, 2))
	// Output: 0.210 0.167 0.333
}

// orders calls f with every order of 0 to n−1.
func orders(n int, f func([]int)) {
	var next func(at []int, left []int)
	next = func(at, left []int) {
		if len(left) == 0 {
			f(at)
		}
		for i, v := range left {
			next(append(slices.Clone(at), v), slices.Delete(slices.Clone(left), i, i+1))
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	next(nil, all)
}

// Each measure is its mean over all orders of documents that agree with the scores, computed here by its definition.
func TestMeasuresAreMeansOverOrders(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		const n = 6
		scores, gains := make([]float64, n), make([]float64, n)
		relevant := 0.0
		for i := range n {
			scores[i] = float64(rng.IntN(3))
			if gains[i] = ranking.Gain(float64(max(0, rng.IntN(5)-2))); gains[i] > 0 {
				relevant++
			}
		}
		if relevant == 0 {
			continue
		}
		ideal := slices.Sorted(slices.Values(gains))
		slices.Reverse(ideal)
		blocks := ranking.Blocks(scores, gains, func(a, b float64) bool { return a == b })
		for k := 1; k <= n; k++ {
			var ndcg, mrr, recall, logRank, count float64
			orders(n, func(order []int) {
				if !slices.IsSortedFunc(order, func(a, b int) int { return int(scores[b] - scores[a]) }) {
					return
				}
				count++
				got, best, first := 0.0, 0.0, true
				for r := range k {
					g := gains[order[r]]
					got, best = got+g/math.Log2(float64(r+2)), best+ideal[r]/math.Log2(float64(r+2))
					if g > 0 {
						recall += 1 / relevant
						if first {
							mrr += 1 / float64(r+1)
						}
						first = false
					}
				}
				ndcg += got / best
				for r, i := range order {
					if gains[i] > 0 {
						logRank += math.Log(float64(r+1)) / relevant
					}
				}
			})
			for _, m := range []struct {
				name      string
				got, want float64
			}{{"nDCG", ranking.NDCG(blocks, k), ndcg / count}, {"reciprocal rank", ranking.ReciprocalRank(blocks, k), mrr / count}, {"recall", ranking.Recall(blocks, k), recall / count}, {"log rank", ranking.LogRank(blocks), logRank / count}} {
				if math.Abs(m.got-m.want) > 1e-12 { // sums in another order
					t.Fatalf("%s at %d of scores %v, gains %v: %v, want %v", m.name, k, scores, gains, m.got, m.want)
				}
			}
		}
	}
}

func TestNothingRelevant(t *testing.T) {
	if v := ranking.ReciprocalRank(nil, 10); v != 0 {
		t.Errorf("reciprocal rank %v, want 0", v)
	}
	if a, b, c := ranking.NDCG(nil, 10), ranking.Recall(nil, 10), ranking.LogRank(nil); !math.IsNaN(a) || !math.IsNaN(b) || !math.IsNaN(c) {
		t.Errorf("nDCG %v, recall %v and log rank %v, want NaN", a, b, c)
	}
}
