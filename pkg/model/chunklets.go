package model

import (
	"fmt"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// GiveChunklets sets d.Links to pairs made of d.Chunklets, for a recipe with GivenChunklets. All pairs of rows of one
// chunklet are similar. With dissimilar, as many pairs of rows of different chunklets are drawn (see sample.ChunkletLinks), for learners that would otherwise
// bring everything together. A learner that sees only which rows are connected, such as rca (catalog.Entry.Chunklets), gets as few pairs as say
// that, and no dissimilar ones.
//
// It returns an *OptionError if the recipe is not allowed or is not of chunklets, and an error if d has no chunklets, or no two rows share one.
// Dissimilar pairs need at least two chunklets, and pairs must fit limits.Memory. It panics if d is nil or has no rows.
func (d *Data) GiveChunklets(r Recipe, dissimilar bool) error {
	d.given()
	r, e, _, err := r.resolve()
	switch {
	case err != nil:
		return err
	case r.Given != GivenChunklets:
		return notAllowed("given: %q is not allowed, want %s", r.Given, GivenChunklets)
	}
	if n, _ := d.Dims(); len(d.Chunklets) != n {
		return fmt.Errorf("model: %s: %d chunklets of %d rows", d.Name, len(d.Chunklets), n)
	}
	names, of := datasets.Classes(d.Chunklets)
	for i, c := range of {
		if names[c] == "" {
			of[i] = -1
		}
	}
	d.Links = nil
	order := d.order() // which pairs are drawn does not depend on the numbers of rows
	ordered := make([]int, len(order))
	for k, i := range order {
		ordered[k] = of[i]
	}
	var links []metric.Link
	if e.Chunklets {
		links, err = sample.ChainedLinks(ordered)
	} else {
		rng := random.Seed{Base: r.Seed, Experiment: "model/fit"}.Stream("chunklets")
		links, err = sample.ChunkletLinks(rng, ordered, dissimilar)
	}
	if err != nil {
		return fmt.Errorf("model: %s: %w", d.Name, err)
	}
	for k, l := range links {
		links[k].I, links[k].J = order[l.I], order[l.J]
	}
	d.Links = links
	return nil
}

// Connects reports whether a learner of that name sees chunklets alone: see catalog.Entry.Chunklets.
func Connects(learner string) bool {
	e, err := catalog.FindIn(Learners(), learner)
	return err == nil && e.Chunklets
}
