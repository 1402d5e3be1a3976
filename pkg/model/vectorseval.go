package model

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/judge"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/vectors"
)

// VectorPlan says how a VectorRecipe is evaluated.
type VectorPlan struct {
	// K is the number of neighbours among which similar items are looked for; 0 means 10.
	K int
	// Share is the share of items that is held out, more than 0 and less than 1; 0 means 0.3.
	Share float64
	// Splits is how often items are divided anew, at most MaxRepeats; 0 means 10.
	Splits int
	// Seed is the origin of the divisions; 0 means 1.
	Seed uint64
	// Progress is told of splits.
	Progress Progress
	// Inside, if not nil, is told what a fit tells of the fit of a split, counted from 0. Splits run at once, and so may its calls.
	Inside func(split, done, total int)
}

// inside is Inside of split s, as the fit takes it.
func (p VectorPlan) inside(s int) Progress {
	if p.Inside == nil {
		return nil
	}
	return func(done, total int) { p.Inside(s, done, total) }
}

// Resolved returns p with its defaults filled in.
func (p VectorPlan) Resolved() VectorPlan {
	p.K, p.Share, p.Splits, p.Seed = cmp.Or(p.K, 10), cmp.Or(p.Share, 0.3), cmp.Or(p.Splits, 10), cmp.Or(p.Seed, 1)
	return p
}

func (p VectorPlan) check() error {
	switch {
	case p.K < 1:
		return notAllowed("k: %d is not allowed, want at least 1", p.K)
	case !(p.Share > 0 && p.Share < 1):
		return notAllowed("test-share: %v is not allowed, want more than 0 and less than 1", p.Share)
	case p.Splits < 1 || p.Splits > MaxRepeats:
		return notAllowed("splits: %d is not allowed, want 1 to %d", p.Splits, MaxRepeats)
	}
	return nil
}

// VectorScore is what one distance gets on held-out items; each slice has a number per split, the summaries their mean and
// its interval.
type VectorScore struct {
	// AUC is the share of pairs of held-out pairs, a similar and a dissimilar one, of which the similar one is nearer; a tie counts half.
	AUC []float64
	// Error is the share of held-out pairs on the wrong side of the threshold that is best on the training pairs.
	Error []float64
	// Recall is the mean, over held-out items with similar ones among these, of the share of these that is among their K nearest held-out items.
	Recall                                  []float64
	AUCSummary, ErrorSummary, RecallSummary judge.Summary
}

// ConstantScore is the share of held-out pairs, split by split, about which one answer to all is wrong.
type ConstantScore struct {
	Error        []float64
	ErrorSummary judge.Summary
}

// HeldOut is what was found on held-out items, of which no pair was seen.
type HeldOut struct {
	Plan VectorPlan // resolved
	// Items is the number of vectors or rows that pairs name; Similar and Dissimilar are numbers of pairs.
	Items, Similar, Dissimilar int
	// Train, Test and Dropped are the numbers of pairs of each split within either part, and across.
	Train, Test, Dropped []int
	// Learner, Euclidean and Cosine are scores on the same splits, OverEuclidean and OverCosine the differences of the learner's from theirs.
	Learner, Euclidean, Cosine VectorScore
	OverEuclidean, OverCosine  VectorScore
	// Raw are the scores of the Euclidean distance of rows as they are; nil where Euclidean is that.
	Raw *VectorScore
	// AlwaysSimilar and AlwaysDissimilar are the errors of whoever looks at no distance.
	AlwaysSimilar, AlwaysDissimilar ConstantScore
	// Notes are warnings on what the numbers mean.
	Notes []string
}

// VectorEvaluation is what EvaluateVectors found.
type VectorEvaluation struct {
	Recipe VectorRecipe // resolved
	HeldOut
}

// EvaluateVectors estimates what a recipe is worth on items of which it has seen no pair. In each split a share of the items that pairs name
// is held out. The metric is learned from pairs of two other items and judged by pairs of two held-out ones, beside the Euclidean distance and the
// one between vectors of length 1, which orders as cosine does. Pairs across are dropped. Pairs with a vector of zeros, which cosine cannot judge, are left out and
// counted in Notes, so that all distances judge the same pairs. Splits run in parallel. An online learner sees the pairs of a split in a random
// order: no number depends on the order of vectors or pairs.
//
// An interval is the corrected resampled one (see judge.SummarizeResampled), with the ratio of the numbers of items.
//
// It returns the errors of FitVectors, naming the split; an *OptionError for a plan that is not allowed; and an error if a split has no similar or no
// dissimilar pair on either side.
func EvaluateVectors(ctx context.Context, f *vectors.File, links []metric.Link, r VectorRecipe, p VectorPlan) (*VectorEvaluation, error) {
	r, entry, values, err := r.ofPairs()
	if err != nil {
		return nil, err
	}
	p = p.Resolved()
	if err := cmp.Or(p.check(), r.checkRank(f.Dim())); err != nil {
		return nil, err
	}
	all, err := readNamed(f, links)
	if err != nil {
		return nil, err
	}
	e := &VectorEvaluation{Recipe: r}
	if all, e.Notes, err = all.directed(); err != nil {
		return nil, err
	}
	all.reorder(canonical(all.items, nearest.RowOrder(all.x), linked(all.items, all.links)))
	fit := fittingVectors{r, entry, values}
	if err := e.run(ctx, all, p, func(ctx context.Context, _ []bool, train, test *namedPairs, s int) error {
		_, err := apart(ctx, p.inside(s), func(ctx context.Context, told Progress) (struct{}, error) {
			return struct{}{}, e.split(ctx, train, test, s, fit, told)
		})
		return err
	}); err != nil {
		return nil, err
	}
	return e, nil
}

// run divides the items of all again and again, and calls split for each division: out tells of each item whether it is held out.
func (e *HeldOut) run(ctx context.Context, all *namedPairs, p VectorPlan, split func(ctx context.Context, out []bool, train, test *namedPairs, s int) error) error {
	e.Plan = p
	e.Items = all.items
	for _, l := range all.links {
		if l.Label == metric.Similar {
			e.Similar++
		}
	}
	e.Dissimilar = len(all.links) - e.Similar
	held := int(math.Ceil(p.Share * float64(e.Items)))
	if held < 2 || e.Items-held < 2 {
		return notAllowed("test-share: %v of %d items leaves less than 2 on a side", p.Share, e.Items)
	}
	if err := limits.Check(fmt.Sprintf("%d splits", p.Splits), limits.Floats(18, p.Splits)); err != nil {
		return notAllowed("splits: %w", err)
	}
	e.Train, e.Test, e.Dropped = make([]int, p.Splits), make([]int, p.Splits), make([]int, p.Splits)
	scores := []*VectorScore{&e.Learner, &e.Euclidean, &e.Cosine, &e.OverEuclidean, &e.OverCosine}
	if e.Raw != nil {
		scores = append(scores, e.Raw)
	}
	always := []*ConstantScore{&e.AlwaysSimilar, &e.AlwaysDissimilar}
	for _, s := range always {
		s.Error = make([]float64, p.Splits)
	}
	redrawn := make([]bool, p.Splits)
	for _, s := range scores {
		s.AUC, s.Error, s.Recall = make([]float64, p.Splits), make([]float64, p.Splits), make([]float64, p.Splits)
	}
	if err := parallel(ctx, p.Splits, p.Progress, func(ctx context.Context, s int) error {
		d, again, err := all.divide(p.itemsOf(s), s, held)
		if err != nil {
			return err
		}
		train, test := d.train, d.test
		redrawn[s] = again
		shuffled(train.links, p.Seed, s)
		e.Train[s], e.Test[s] = len(train.links), len(test.links)
		e.Dropped[s] = len(all.links) - len(train.links) - len(test.links)
		similar := 0
		for _, l := range test.links {
			if l.Label == metric.Similar {
				similar++
			}
		}
		e.AlwaysDissimilar.Error[s] = float64(similar) / float64(len(test.links))
		e.AlwaysSimilar.Error[s] = 1 - e.AlwaysDissimilar.Error[s]
		err = split(ctx, d.out, train, test, s)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("split %d: %w", s+1, err)
		}
		return err
	}); err != nil {
		return err
	}
	e.OverEuclidean.minus(&e.Learner, &e.Euclidean)
	e.OverCosine.minus(&e.Learner, &e.Cosine)
	ratio := float64(held) / float64(e.Items-held)
	for _, s := range scores {
		s.AUCSummary, s.ErrorSummary = judge.SummarizeResampled(s.AUC, ratio), judge.SummarizeResampled(s.Error, ratio)
		s.RecallSummary = judge.SummarizeResampled(s.Recall, ratio)
	}
	for _, s := range always {
		s.ErrorSummary = judge.SummarizeResampled(s.Error, ratio)
	}
	e.Notes = append(e.Notes, redrawnNote(redrawn)...)
	if p.Splits < judge.MinTrials {
		e.Notes = append(e.Notes, fmt.Sprintf("fewer than %d splits give no interval", judge.MinTrials))
	}
	return nil
}

// divide draws which items are held out for split s, and returns the pairs within either part. It tells whether it drew anew.
func (n *namedPairs) divide(rng *rand.Rand, s, held int) (d dividedPairs, again bool, err error) {
	d.out, again, err = divided(rng, s, n.items, held, func(out []bool) error {
		d.train, d.test = n.part(out, false), n.part(out, true)
		return cmp.Or(d.train.both("training"), d.test.both("held-out"))
	})
	return d, again, err
}

// dividedPairs are pairs of two items that are not held out, and of two that are; out tells of each item.
type dividedPairs struct {
	out         []bool
	train, test *namedPairs
}

// itemsOf is the source of the division of split s.
func (p VectorPlan) itemsOf(s int) *rand.Rand {
	return random.Seed{Base: p.Seed, Experiment: "model/vectors", Trial: s}.Stream("items")
}

// redrawnNote tells of splits that were drawn anew.
func redrawnNote(redrawn []bool) []string {
	n := 0
	for _, again := range redrawn {
		if again {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s drawn anew, since a side lacked a kind of answer: the splits are not quite random", map[bool]string{true: "1 split was", false: fmt.Sprintf("%d splits were", n)}[n == 1])}
}

func (s *VectorScore) minus(a, b *VectorScore) {
	s.AUC, s.Error, s.Recall = judge.Minus(a.AUC, b.AUC), judge.Minus(a.Error, b.Error), judge.Minus(a.Recall, b.Recall)
}

// part returns the pairs of which both items are held out, or neither, and the vectors of these pairs.
func (n *namedPairs) part(out []bool, held bool) *namedPairs {
	place := make([]int, len(out))
	p := &namedPairs{}
	for _, l := range n.links {
		if out[l.I] != held || out[l.J] != held {
			continue
		}
		for _, i := range []*int{&l.I, &l.J} {
			if place[*i] == 0 {
				p.rows = append(p.rows, *i)
				place[*i] = len(p.rows)
			}
			*i = place[*i] - 1
		}
		p.links = append(p.links, l)
	}
	p.items = len(p.rows)
	if n.x != nil {
		p.x = rowsOf(n.x, p.rows)
	}
	return p
}

// both returns an error unless there are similar and dissimilar pairs.
func (n *namedPairs) both(what string) error {
	for _, label := range []metric.Label{metric.Similar, metric.Dissimilar} {
		if !slices.ContainsFunc(n.links, func(l metric.Link) bool { return l.Label == label }) {
			return fmt.Errorf("no %s pair is %s: more pairs, or another share of items to hold out, may help", what, map[metric.Label]string{metric.Similar: "similar", metric.Dissimilar: "dissimilar"}[label])
		}
	}
	return nil
}

// fittingVectors is how each split fits.
type fittingVectors struct {
	recipe VectorRecipe // resolved
	entry  catalog.Entry
	values catalog.Values
}

// split learns and judges split s.
func (e *VectorEvaluation) split(ctx context.Context, train, test *namedPairs, s int, f fittingVectors, told Progress) error {
	if err := e.baselines(ctx, train, test, s); err != nil {
		return err
	}
	if f.recipe.Unit {
		toUnit(train.x)
	}
	m, err := fitNamed(ctx, train, f.recipe, f.entry, f.values, told)
	if err != nil {
		return err
	}
	z, err := m.Embed(test.x)
	if err != nil {
		return err
	}
	threshold := m.threshold
	if m.none {
		threshold = -1
	}
	return e.Learner.judge(ctx, metric.Euclidean{}, z, test.links, threshold, e.Plan.K, s)
}

// baselines judges the distances without learning in split s.
func (e *HeldOut) baselines(ctx context.Context, train, test *namedPairs, s int) error {
	for _, baseline := range []struct {
		score *VectorScore
		unit  bool
	}{{&e.Euclidean, false}, {&e.Cosine, true}} {
		a, b := train.x, test.x
		if baseline.unit {
			a, b = mat.DenseCopyOf(a), mat.DenseCopyOf(b)
			toUnit(a)
			toUnit(b)
		}
		threshold, _ := bestThreshold(sqDistsOf(metric.Euclidean{}, a, train.links), train.links)
		if err := baseline.score.judge(ctx, metric.Euclidean{}, b, test.links, threshold, e.Plan.K, s); err != nil {
			return err
		}
	}
	return nil
}

// judge sets the numbers of split s, for held-out items with coordinates z under a metric.
func (v *VectorScore) judge(ctx context.Context, under metric.SqDister, z *mat.Dense, links []metric.Link, threshold float64, k, s int) error {
	sq := sqDistsOf(under, z, links)
	v.Error[s] = float64(wrongAt(sq, links, threshold)) / float64(len(links))
	v.AUC[s] = auc(sq, links)
	var err error
	v.Recall[s], err = recall(ctx, under, z, links, k)
	return err
}

// auc returns the share of pairs of a similar and a dissimilar link of which the similar one has the smaller sq; a tie counts half. Both kinds are there.
func auc(sq []float64, links []metric.Link) float64 {
	order := make([]int, len(sq))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(sq[i], sq[j]) })
	var similar, other, won float64
	for k := 0; k < len(order); {
		at := sq[order[k]]
		var same, different float64
		for ; k < len(order) && sq[order[k]] == at; k++ {
			if links[order[k]].Label == metric.Similar {
				same++
			} else {
				different++
			}
		}
		won += different * (similar + same/2)
		similar += same
		other += different
	}
	return won / (similar * other)
}

// recall returns the mean share of the similar items of an item that is among its k nearest rows of z, or all others if these are fewer. Of rows at equal
// distances, of which only some are among the k, each counts by its chance in a random order.
func recall(ctx context.Context, under metric.SqDister, z *mat.Dense, links []metric.Link, k int) (float64, error) {
	n, r := z.Dims()
	alike := make([]map[int]bool, n)
	for _, l := range links {
		if l.Label != metric.Similar {
			continue
		}
		for _, p := range [][2]int{{l.I, l.J}, {l.J, l.I}} {
			if alike[p[0]] == nil {
				alike[p[0]] = map[int]bool{}
			}
			alike[p[0]][p[1]] = true
		}
	}
	var asked []int
	for i, a := range alike {
		if a != nil {
			asked = append(asked, i)
		}
	}
	knn, err := nearest.NewKNN(under, z, make([]int, n), nearest.KNNOptions{})
	if err != nil {
		return 0, err
	}
	k = min(k, n-1)
	queries := mat.NewDense(len(asked), r, nil)
	for q, i := range asked {
		queries.SetRow(q, z.RawRowView(i))
	}
	found, err := knn.Neighbours(ctx, queries, min(k+2, n)) // one of them is the item itself, or as near, and one tells whether the last is tied
	if err != nil {
		return 0, err
	}
	var sum float64
	for q, i := range asked {
		others := slices.DeleteFunc(found[q], func(nb nearest.Neighbour) bool { return nb.Index == i })
		if k < n-1 && tied(others[k-1].SqDist, others[k].SqDist) {
			sum += expectedHits(under, z, i, k, alike[i]) / float64(len(alike[i]))
			continue
		}
		hits := 0
		for _, nb := range others[:k] {
			if alike[i][nb.Index] {
				hits++
			}
		}
		sum += float64(hits) / float64(len(alike[i]))
	}
	return sum / float64(len(asked)), nil
}

// tied tells whether squared distances a ≤ b are equal but for round-off.
func tied(a, b float64) bool { return b <= a*(1+nearest.TieTolerance) }

// expectedHits returns how many of the alike rows are among the k nearest to row i, on average over the orders of rows at equal distances.
func expectedHits(under metric.SqDister, z *mat.Dense, i, k int, alike map[int]bool) float64 {
	n, _ := z.Dims()
	sq := make([]float64, 0, n-1)
	var hits []float64 // of the alike rows
	for j := range n {
		if j == i {
			continue
		}
		d := under.SqDist(z.RawRowView(i), z.RawRowView(j))
		sq = append(sq, d)
		if alike[j] {
			hits = append(hits, d)
		}
	}
	slices.Sort(sq)
	last := sq[k-1]
	nearer, upTo := 0, 0 // rows
	for _, d := range sq {
		if !tied(d, last) {
			nearer++
		}
		if tied(last, d) {
			upTo++
		}
	}
	share := float64(k-nearer) / float64(upTo-nearer)
	sum := 0.0
	for _, d := range hits {
		switch {
		case !tied(d, last):
			sum++
		case tied(last, d):
			sum += share
		}
	}
	return sum
}
