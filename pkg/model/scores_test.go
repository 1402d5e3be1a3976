package model

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
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

// errorsAt counts links on the wrong side of b, leastErrors those of the best b.
func errorsAt(sq []float64, links []metric.Link, b float64) int {
	n := 0
	for i, l := range links {
		if (sq[i] <= b) != (l.Label == metric.Similar) {
			n++
		}
	}
	return n
}

func leastErrors(sq []float64, links []metric.Link) int {
	least := errorsAt(sq, links, -1)
	for _, b := range sq {
		least = min(least, errorsAt(sq, links, b))
	}
	return least
}

func TestThresholdAndAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n := 2 + rng.IntN(12)
		sq, links := make([]float64, n), make([]metric.Link, n)
		for i := range sq {
			sq[i] = float64(1 + rng.IntN(6)) // with ties
			links[i].Label = metric.SameClass(i != 0 && (i == 1 || rng.IntN(2) == 0))
		}
		b, wrong := bestThreshold(sq, links)
		if got := errorsAt(sq, links, b); got != wrong || wrong != leastErrors(sq, links) || b < 0 {
			t.Fatalf("%v %v: %d errors at %v, told %d, least %d", sq, links, got, b, wrong, leastErrors(sq, links))
		}
		if got, want := auc(sq, links), slowAUC(sq, links); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v %v: AUC %v, want %v", sq, links, got, want)
		}
	}
}

// slowAUC looks at each similar and each other pair.
func slowAUC(sq []float64, links []metric.Link) float64 {
	var won, all float64
	for i, a := range links {
		for j, b := range links {
			if a.Label == metric.Similar && b.Label == metric.Dissimilar {
				all++
				won += map[int]float64{-1: 1, 0: .5}[cmp.Compare(sq[i], sq[j])]
			}
		}
	}
	return won / all
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
			got := Must(recall(t.Context(), metric.Euclidean{}, z, links, k))
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
			return cmp.Compare(metric.Euclidean{}.SqDist(z.RawRowView(i), z.RawRowView(a)), metric.Euclidean{}.SqDist(z.RawRowView(i), z.RawRowView(b)))
		})
		for _, j := range rows[:min(k, n-1)] {
			if of[j] {
				sum += 1 / float64(len(of))
			}
		}
	}
	return sum / float64(len(alike))
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

// Without ties one order tells.
func TestRecall(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n, k := 3+rng.IntN(20), 1+rng.IntN(6)
		z := mat.NewDense(n, 3, nil)
		z.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, z)
		links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}}
		for range 2 * n {
			if i, j := rng.IntN(n), rng.IntN(n); i != j {
				links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(rng.IntN(2) == 0)})
			}
		}
		if got, want := Must(recall(t.Context(), metric.Euclidean{}, z, links, k)), recallInOrder(z, links, k, rng.Perm(n)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("recall %v, want %v", got, want)
		}
	}
}
