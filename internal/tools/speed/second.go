package main

import (
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

const (
	texts       = "texts: latent semantic analysis, identity plus low rank"
	constrained = "kernels under constraints"
)

// documents returns n sparse rows of 80 of d terms each, or of a quarter of them, and their classes. Half of the terms of a document are of its
// class; the j-th term is drawn as often as 1/(1+j).
func documents(rng *rand.Rand, n, d int) (*sparse.Matrix, []int, error) {
	terms := min(80, d/4)
	var b sparse.Builder
	y := make([]int, n)
	for i := range n {
		y[i] = i % classes
		has := map[int]float64{}
		for tries := 0; len(has) < terms; tries++ {
			j := int(math.Pow(float64(d), rng.Float64())) - 1
			if tries%2 == 0 {
				j = j/classes*classes + y[i]
			}
			if has[j] == 3 { // no more of frequent terms, which would take all draws
				j = rng.IntN(d)
			}
			if j < d {
				has[j]++
			}
		}
		var row sparse.Vector
		for _, j := range slices.Sorted(maps.Keys(has)) {
			row.Index, row.Value = append(row.Index, j), append(row.Value, 1+math.Log(has[j]))
		}
		if err := b.Add(row); err != nil {
			return nil, nil, err
		}
	}
	x, err := b.Matrix(d)
	return x, y, err
}

// secondHalf are works of Jain et al. (2012), Sections 3.6 to 6.2.
func secondHalf() []work {
	lsa := func(name, by, fixed string, from, most int, shape func(size int) (n, d int)) work {
		return work{panel: texts, name: name, by: by, fixed: fixed, from: from, most: most,
			prepare: func(ctx context.Context, size int) (func() error, error) {
				n, d := shape(size)
				x, _, err := documents(source(size), n, d)
				return func() error {
					_, err := labels.FitLSA(ctx, x, labels.LSAParams{K: 20})
					return err
				}, err
			}}
	}
	// Cycles are few and equal, so that the growth is that of a projection.
	few := iplr.Params{Tol: 1e-300, MaxCycles: 10}
	all := []work{
		lsa("LSA to 20 by documents", "n", "5000 terms, 80 in a document", 256, 1<<17, func(n int) (int, int) { return n, 5000 }),
		lsa("LSA to 20 by terms", "d", "2000 documents of 80 terms", 256, 1<<17, func(d int) (int, int) { return 2000, d }),
		{panel: texts, name: "IPLR by links (10 cycles)", by: "links", fixed: "5000 terms, k = 5", from: 128, most: 1 << 18,
			prepare: func(ctx context.Context, m int) (func() error, error) {
				rng := source(m)
				x, y, err := documents(rng, 1000, 5000)
				if err != nil {
					return nil, err
				}
				basis, err := iplr.MeansBasis(ctx, x, y)
				links := linked(rng, y, m)
				return func() error {
					_, err := iplr.Fit(ctx, x, basis, links, few)
					return err
				}, err
			}},
		{panel: texts, name: "IPLR by basis vectors (10 cycles)", by: "k", fixed: "400 links, projected before", from: 5, most: 320,
			prepare: func(ctx context.Context, k int) (func() error, error) {
				const n, d = 500, 500
				rng := source(k)
				x, y := grouped(rng, n, d)
				basis, err := iplr.NewBasis(ctx, normal(rng, k, d))
				if err != nil {
					return nil, err
				}
				p, err := iplr.NewProblem(ctx, x, basis, linked(rng, y, 400))
				return func() error {
					_, err := p.Fit(ctx, few)
					return err
				}, err
			}},
	}
	fit := func(ctx context.Context, size, n, count int, of func() (ltkernel.Divergence, error)) (func() error, error) {
		rng := source(size)
		x, y := grouped(rng, n, 20)
		k0 := kernels.Gram(kernels.Linear{}, x)
		var cs []ltkernel.Constraint
		for _, l := range linked(rng, y, count) {
			d := metric.Euclidean{}.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
			if l.Label == metric.Similar {
				cs = append(cs, ltkernel.AtMost(l.I, l.J, d/2))
			} else {
				cs = append(cs, ltkernel.AtLeast(l.I, l.J, 2*d))
			}
		}
		phi, err := of()
		return func() error {
			_, err := ltkernel.FitKernel(ctx, k0, cs, ltkernel.Params{Divergence: phi, Slack: ltkernel.SlackL2})
			return err
		}, err
	}
	for _, phi := range []struct {
		name string
		of   func() (ltkernel.Divergence, error)
	}{
		{"LogDet", func() (ltkernel.Divergence, error) { return ltkernel.LogDet(), nil }},
		{"trace", func() (ltkernel.Divergence, error) { return ltkernel.Trace(1) }},
	} {
		all = append(all,
			work{panel: constrained, name: phi.name + " by objects", by: "n", fixed: "4 pairs per object, d = 20, quadratic slack", from: 16, most: 2048,
				prepare: func(ctx context.Context, n int) (func() error, error) { return fit(ctx, n, n, 4*n, phi.of) }},
			work{panel: constrained, name: phi.name + " by pairs", by: "pairs", fixed: "50 objects, d = 20, quadratic slack", from: 32, most: 1 << 16,
				prepare: func(ctx context.Context, m int) (func() error, error) { return fit(ctx, m, 50, m, phi.of) }})
	}
	return all
}
