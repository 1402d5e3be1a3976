package sample

import (
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// TestChunkletLinks compares links with chunklets, pair by pair.
func TestChunkletLinks(t *testing.T) {
	chunklets := []int{5, -1, 5, 2, 5, 2, 9, -1}
	drawn := map[metric.Link]int{}
	for seed := range 400 {
		links, err := ChunkletLinks(newRand(uint64(seed)), chunklets, true)
		if err != nil {
			t.Fatal(err)
		}
		similar := map[metric.Link]bool{}
		dissimilar := 0
		for _, l := range links {
			a, b := chunklets[l.I], chunklets[l.J]
			if l.I == l.J || a < 0 || b < 0 || (a == b) != (l.Label == metric.Similar) {
				t.Fatalf("link %v of chunklets %d and %d", l, a, b)
			}
			if a == b {
				similar[l] = true
				continue
			}
			dissimilar++
			drawn[metric.Link{I: min(l.I, l.J), J: max(l.I, l.J), Label: l.Label}]++
		}
		if len(similar) != 4 || dissimilar != 4 || len(links) != 8 {
			t.Fatalf("%v", links)
		}
	}
	if len(drawn) != 11 { // 3·2 + 3·1 + 2·1
		t.Errorf("%d different dissimilar pairs, want 11", len(drawn))
	}
	for l, n := range drawn {
		if n < 90 || n > 200 { // 1600/11 = 145 ± 12
			t.Errorf("%v was drawn %d times, want about 145", l, n)
		}
	}
	links, err := ChunkletLinks(newRand(1), chunklets, false)
	if err != nil || len(links) != 4 {
		t.Errorf("without dissimilar pairs: %v, %v", links, err)
	}
	chain, err := ChainedLinks(chunklets)
	want := []metric.Link{{I: 3, J: 5, Label: metric.Similar}, {I: 0, J: 2, Label: metric.Similar}, {I: 2, J: 4, Label: metric.Similar}}
	if err != nil || !slices.Equal(chain, want) {
		t.Errorf("chain %v, %v", chain, err)
	}
}

func TestChunkletErrors(t *testing.T) {
	for _, c := range []struct {
		chunklets []int
		want      string
	}{{[]int{-1, -1}, "no two rows are in the same, of 0"}, {nil, "no two rows"}, {[]int{1, 2, 3}, "no two rows are in the same, of 3"}, {[]int{1, 1, -1}, "want at least 2 chunklets"}} {
		if _, err := ChunkletLinks(newRand(1), c.chunklets, true); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.chunklets, err)
		}
	}
	if _, err := ChainedLinks([]int{1, 2}); err == nil {
		t.Error("a chain of single rows is no error")
	}
	defer limits.SetMemory(0)
	limits.SetMemory(1 << 20)
	if _, err := ChunkletLinks(newRand(1), make([]int, 1000), false); err == nil || !strings.Contains(err.Error(), "499500 pairs") {
		t.Errorf("too many: %v", err)
	}
}
