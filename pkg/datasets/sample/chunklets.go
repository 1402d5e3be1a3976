package sample

import (
	"fmt"
	"math/rand/v2"

	"metriclab/pkg/metric"
)

// ChunkletLinks returns all pairs of rows of one chunklet as similar and, if dissimilar is true, as many dissimilar ones, each drawn
// with replacement from all pairs of rows of different chunklets. The links are in random order. chunklets holds the chunklet of each row, any number;
// a row of a negative one is in none, and in no link. It returns an error if no chunklet has two rows, if
// dissimilar ones are wanted and there is only one chunklet, or if the links do not fit limits.Memory.
func ChunkletLinks(rng *rand.Rand, chunklets []int, dissimilar bool) ([]metric.Link, error) {
	y, rows := inChunklets(chunklets)
	classes, members := byClass(y)
	partners := make([]int, len(members))
	var similar int64
	for c, m := range members {
		similar += int64(len(m)) * int64(len(m)-1) / 2
		partners[c] = len(m) * (len(y) - len(m))
	}
	partners = cumulated(partners)
	links := similar
	if dissimilar {
		links *= 2
	}
	switch err := linksFit(links); {
	case err != nil:
		return nil, fmt.Errorf("sample: chunklets: %w", err)
	case similar == 0:
		return nil, noChunklet(rows)
	case dissimilar && len(classes) < 2:
		return nil, fmt.Errorf("sample: chunklets: all %d rows that have one are in the same, want at least 2 chunklets for dissimilar pairs", len(rows))
	}
	out := make([]metric.Link, 0, links)
	for _, m := range members {
		for a := range m {
			for _, j := range m[a+1:] {
				out = append(out, metric.Link{I: rows[m[a]], J: rows[j], Label: metric.Similar})
			}
		}
	}
	for range int(links - similar) {
		l := dissimilarLink(rng, len(y), members, partners)
		l.I, l.J = rows[l.I], rows[l.J]
		out = append(out, l)
	}
	rng.Shuffle(len(out), func(a, b int) { out[a], out[b] = out[b], out[a] })
	return out, nil
}

// ChainedLinks joins the rows of each chunklet by as few similar links as can be, each row with the next one. Learners that take
// chunklets for the connected components of links need no more. chunklets and errors are those of ChunkletLinks.
func ChainedLinks(chunklets []int) ([]metric.Link, error) {
	y, rows := inChunklets(chunklets)
	_, members := byClass(y)
	if err := linksFit(int64(len(rows))); err != nil {
		return nil, fmt.Errorf("sample: chunklets: %w", err)
	}
	var out []metric.Link
	for _, m := range members {
		for k := 1; k < len(m); k++ {
			out = append(out, metric.Link{I: rows[m[k-1]], J: rows[m[k]], Label: metric.Similar})
		}
	}
	if out == nil {
		return nil, noChunklet(rows)
	}
	return out, nil
}

func noChunklet(rows []int) error {
	return fmt.Errorf("sample: chunklets: no two rows are in the same, of %d that have one", len(rows))
}

// inChunklets returns the rows that have a chunklet, and the chunklets of these.
func inChunklets(chunklets []int) (y, rows []int) {
	for i, c := range chunklets {
		if c >= 0 {
			y, rows = append(y, c), append(rows, i)
		}
	}
	return y, rows
}
