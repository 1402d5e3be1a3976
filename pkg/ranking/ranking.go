// Package ranking scores the order in which documents come for a query, by those of them that are judged. Documents at one score have no order of their
// own: each measure is its mean over all orders of these.
package ranking

import (
	"cmp"
	"math"
	"slices"
)

// A Block is the documents at one score of which some are relevant.
type Block struct {
	Ahead int // documents with better scores
	Size  int // documents in it, relevant or not
	// Gains are those of its relevant documents, each above 0.
	Gains []float64
}

// Gain is 2^grade − 1, that of a document of this grade in NDCG (Burges et al., Learning to Rank using Gradient Descent, ICML 2005).
func Gain(grade float64) float64 { return math.Exp2(grade) - 1 }

// Blocks divides documents that are all judged by their scores, the highest first; score a ties with b ≤ a where tied says so. The scores and gains of documents correspond.
func Blocks(scores, gains []float64, tied func(a, b float64) bool) (out []Block) {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for from := 0; from < len(order); {
		b := Block{Ahead: from}
		to := from
		for ; to < len(order) && tied(scores[order[from]], scores[order[to]]); to++ {
			if g := gains[order[to]]; g > 0 {
				b.Gains = append(b.Gains, g)
			}
		}
		b.Size = to - from
		if from = to; len(b.Gains) > 0 {
			out = append(out, b)
		}
	}
	return out
}

// NDCG is the normalised discounted cumulative gain of the first k documents: Σ gain/log₂(1 + rank), divided by that of the best order (Järvelin, Kekäläinen, ACM TOIS 20,
// 2002). It is NaN if no document is relevant.
func NDCG(blocks []Block, k int) float64 {
	var gains []float64
	got, best := 0.0, 0.0
	for _, b := range blocks {
		sum := 0.0
		for _, g := range b.Gains {
			sum += g
		}
		got += sum / float64(b.Size) * discounts(b.Ahead, b.Ahead+b.Size, k)
		gains = append(gains, b.Gains...)
	}
	slices.SortFunc(gains, func(a, b float64) int { return cmp.Compare(b, a) })
	for r, g := range gains[:min(len(gains), k)] {
		best += g * discounts(r, r+1, k)
	}
	return got / best
}

// discounts adds those of the ranks from+1 to to that are at most k.
func discounts(from, to, k int) (sum float64) {
	for r := from; r < min(to, k); r++ {
		sum += 1 / math.Log2(float64(2+r))
	}
	return sum
}

// ReciprocalRank is 1/rank of the first relevant document, and 0 if that is behind the first k or none is there. Its mean over queries is MRR@k.
func ReciprocalRank(blocks []Block, k int) (sum float64) {
	if len(blocks) == 0 {
		return 0
	}
	b := blocks[0] // one of its relevant documents is the first
	at := 1.0      // the chance that none of the places before has one
	for j, left := 0, b.Size; b.Ahead+j < k && left >= len(b.Gains); j, left = j+1, left-1 {
		here := float64(len(b.Gains)) / float64(left)
		sum += at * here / float64(b.Ahead+j+1)
		at *= 1 - here
	}
	return sum
}

// Recall is the share of the relevant documents that are among the first k. It is NaN if there are none.
func Recall(blocks []Block, k int) float64 {
	found, all := 0.0, 0
	for _, b := range blocks {
		all += len(b.Gains)
		found += float64(len(b.Gains)) * float64(max(0, min(k-b.Ahead, b.Size))) / float64(b.Size)
	}
	return found / float64(all)
}

// LogRank is the mean of ln rank over the relevant documents: its exponential is the geometric mean of their ranks. It is NaN if there are none.
func LogRank(blocks []Block) float64 {
	sum, all := 0.0, 0
	for _, b := range blocks {
		all += len(b.Gains)
		// Of ln(Ahead+1) to ln(Ahead+Size) the mean, by ln n! = ln Γ(n+1).
		upTo, _ := math.Lgamma(float64(b.Ahead+b.Size) + 1)
		before, _ := math.Lgamma(float64(b.Ahead) + 1)
		mean := (upTo - before) / float64(b.Size)
		if b.Size == 1 {
			mean = math.Log(float64(b.Ahead + 1)) // to the last bit
		}
		sum += float64(len(b.Gains)) * mean
	}
	return sum / float64(all)
}
