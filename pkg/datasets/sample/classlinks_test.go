package sample

import (
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/metric"
)

// Counts per class: n, or all pairs where there are fewer, each of them once.
func TestEachClassLinks(t *testing.T) {
	y := unevenLabels
	size := map[int]int{}
	for _, c := range y {
		size[c]++
	}
	for _, n := range []int{0, 1, 4, 20, 100} {
		links, err := EachClassLinks(newRand(uint64(n)), y, n)
		if err != nil {
			t.Fatal(err)
		}
		checkLinks(t, y, links)
		within, between := map[int]map[[2]int]bool{}, map[int]map[[2]int]bool{}
		for c := range size {
			within[c], between[c] = map[[2]int]bool{}, map[[2]int]bool{}
		}
		for _, l := range links {
			to, pair := between, [2]int{l.I, l.J}
			if l.Label == metric.Similar {
				to, pair = within, [2]int{max(l.I, l.J), min(l.I, l.J)}
			}
			c := y[l.I] // the class a link was drawn for is that of its first row
			if to[c][pair] {
				t.Errorf("n = %d: %+v comes twice for class %d", n, l, c)
			}
			to[c][pair] = true
		}
		for c, m := range size {
			if want := min(n, m*(m-1)/2); len(within[c]) != want {
				t.Errorf("n = %d, class %d of %d: %d similar, want %d", n, c, m, len(within[c]), want)
			}
			if want := min(n, m*(len(y)-m)); len(between[c]) != want {
				t.Errorf("n = %d, class %d of %d: %d dissimilar, want %d", n, c, m, len(between[c]), want)
			}
		}
	}
	if _, err := EachClassLinks(newRand(1), y, -1); err == nil || !strings.Contains(err.Error(), "n: -1") {
		t.Errorf("n = -1: error %v", err)
	}
	one, err := EachClassLinks(newRand(1), []int{5, 5, 5}, 2)
	if err != nil || len(one) != 2 || one[0].Label != metric.Similar || one[1].Label != metric.Similar {
		t.Errorf("a single class: %v, error %v", one, err)
	}
}

// Within a class and between it and the others every pair is as likely as any other, and
// the order is random.
func TestEachClassLinksAreUniform(t *testing.T) {
	y := unevenLabels
	var same, other []metric.Link
	first := map[metric.Label]int{}
	const draws = 20000
	rng := newRand(3)
	for range draws {
		links, err := EachClassLinks(rng, y, 2)
		if err != nil {
			t.Fatal(err)
		}
		first[links[0].Label]++
		for _, l := range links {
			switch {
			case l.Label == metric.Dissimilar && y[l.I] == 9:
				other = append(other, l)
			case l.Label == metric.Similar && y[l.I] == 9:
				same = append(same, metric.Link{I: max(l.I, l.J), J: min(l.I, l.J)})
			}
		}
	}
	uniform(t, "within", same, 6*5/2)
	uniform(t, "between", other, 6*6)
	// Of 5 similar and 8 dissimilar links the first is similar 5 times in 13: six standard
	// deviations of a binomial count, 66 each.
	if got, want := first[metric.Similar], draws*5/13; got < want-400 || got > want+400 {
		t.Errorf("the first link is similar %d times, want about %d", got, want)
	}
	a, _ := EachClassLinks(newRand(4), y, 3)
	b, _ := EachClassLinks(newRand(4), y, 3)
	if !slices.Equal(a, b) {
		t.Error("the same stream gives other links")
	}
}
