package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/vectors"
)

// namedTriplets are relative comparisons and the vectors that they name.
type namedTriplets struct {
	x    *mat.Dense
	list []metric.Triplet // of rows of x
}

// readCompared reads the vectors that relative comparisons name. If wanted, it leaves out comparisons of vectors without direction, with a note.
func readCompared(f *vectors.File, ts []metric.Triplet, direction bool) (*namedTriplets, []string, error) {
	if len(ts) == 0 {
		return nil, nil, errors.New("model: no comparisons, want at least one")
	}
	rows := make([]int, 0, 3*len(ts))
	for i, t := range ts {
		for _, r := range []int{t.A, t.Near, t.Far} {
			if r < 0 || r >= f.Rows() {
				return nil, nil, fmt.Errorf("model: comparison %d names row %d, want 0 to %d", i, r, f.Rows()-1)
			}
			rows = append(rows, r)
		}
		if t.Degenerate() {
			return nil, nil, fmt.Errorf("model: comparison %d of rows %d, %d and %d, want three rows", i, t.A, t.Near, t.Far)
		}
	}
	slices.Sort(rows)
	rows = slices.Compact(rows)
	x, err := f.Select(rows)
	if err != nil {
		return nil, nil, err
	}
	out := &namedTriplets{x: x, list: make([]metric.Triplet, len(ts))}
	at := func(row int) int { i, _ := slices.BinarySearch(rows, row); return i }
	for i, t := range ts {
		out.list[i] = metric.Triplet{A: at(t.A), Near: at(t.Near), Far: at(t.Far)}
	}
	if direction {
		return out.directed(rows)
	}
	return out, nil, nil
}

// FitVectorTriplets learns a metric from relative comparisons of the vectors of a file, "A is more like Near than like Far", of which
// only those are read that a comparison names. The recipe has Triplets. Unless it is Raw, the vectors are multiplied by one number, such that the mean squared
// distance of the compared ones is 5. The model has no threshold.
//
// It returns an error if the recipe is not allowed (see VectorRecipe.Resolved), if there is no comparison, or one does not name three rows,
// and if what is read does not fit limits.Memory. So it does the errors of the file and of the learner, and one that wraps ctx's.
func FitVectorTriplets(ctx context.Context, f *vectors.File, ts []metric.Triplet, r VectorRecipe, p Progress) (*Vectors, error) {
	r, e, v, err := r.ofTriplets()
	if err != nil {
		return nil, err
	}
	if err := r.checkRank(f.Dim()); err != nil {
		return nil, err
	}
	named, notes, err := readCompared(f, ts, r.Unit)
	if err != nil {
		return nil, err
	}
	if r.Unit {
		toUnit(named.x)
	}
	m, err := fitCompared(ctx, named, r, e, v, p)
	if err == nil {
		m.report.Notes = notes
	}
	return m, err
}

func (r VectorRecipe) ofTriplets() (VectorRecipe, catalog.Entry, catalog.Values, error) {
	if !r.Triplets {
		return r, catalog.Entry{}, catalog.Values{}, notAllowed("recipe: it is for pairs, want one with triplets")
	}
	return r.resolve()
}

// fitCompared is FitVectorTriplets of unit vectors, if the recipe has them so. It scales named.x in place.
func fitCompared(ctx context.Context, named *namedTriplets, r VectorRecipe, e catalog.Entry, v catalog.Values, p Progress) (*Vectors, error) {
	m := &Vectors{recipe: r, version: VectorVersion, learner: e.Version, scale: 1, threshold: math.NaN(), triplets: len(named.list)}
	m.report.Items, _ = named.x.Dims()
	m.report.Triplets = len(named.list)
	var mean float64
	for _, t := range named.list {
		near, far := named.sqDists(metric.Euclidean{}, t)
		mean += (near + far) / 2 / float64(len(named.list))
	}
	if err := m.rescale(named.x, mean); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var told catalog.Progress
	if p != nil {
		told = func(q learners.Progress) { p(q.Iteration, q.Cap) }
	}
	learned, err := e.Fit(ctx, catalog.Input{X: named.x, Triplets: named.list}, v, told)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	m.report.Status = learned.Status
	kept := Metric(learned.Distance)
	if r.Rank > 0 {
		if kept, m.report.Lost, err = truncated(kept, r.Rank); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
	}
	m.metric = kept.(embedder)
	for _, t := range named.list {
		if near, far := named.sqDists(m.metric, t); near >= far {
			m.report.Contradicted++
		}
	}
	return m, ctx.Err()
}

// sqDists returns the squared distances of a comparison.
func (n *namedTriplets) sqDists(m metric.SqDister, t metric.Triplet) (near, far float64) {
	a := n.x.RawRowView(t.A)
	return m.SqDist(a, n.x.RawRowView(t.Near)), m.SqDist(a, n.x.RawRowView(t.Far))
}

// rescale sets the scale, unless the recipe is Raw, and multiplies x by it. mean is the mean squared distance of what is compared.
func (m *Vectors) rescale(x *mat.Dense, mean float64) error {
	if math.IsInf(mean, 0) || math.IsNaN(mean) {
		return errors.New("model: squared distances overflow: scale the vectors down")
	}
	if s := math.Sqrt(pairSquare / mean); !m.recipe.Raw && mean > 0 && s > 0 && s <= math.MaxFloat64 {
		m.scale = s
		x.Scale(s, x)
	}
	return nil
}

// VectorTripletEvaluation is what EvaluateVectorTriplets found.
type VectorTripletEvaluation struct {
	Recipe VectorRecipe // resolved
	Plan   VectorPlan   // resolved; K is not used
	// Items is the number of vectors that comparisons name, Triplets the number of these.
	Items, Triplets int
	// Train, Test and Dropped are the numbers of comparisons of each split within either part, and across.
	Train, Test, Dropped []int
	// Learner, Euclidean and Cosine are the shares of held-out comparisons that each distance contradicts, by split; a tie counts
	// half. OverEuclidean and OverCosine are the differences of the learner's from theirs, below 0 if it is better.
	Learner, Euclidean, Cosine VectorTripletScore
	OverEuclidean, OverCosine  VectorTripletScore
	// Notes are warnings on what the numbers mean.
	Notes []string
}

// VectorTripletScore has an error per split, and their mean with its interval.
type VectorTripletScore struct {
	Error   []float64
	Summary judge.Summary
}

// EvaluateVectorTriplets estimates what a recipe is worth on items of which it has seen no comparison. In each split a share of the items
// is held out. The metric is learned from comparisons of three other items and judged by those of three held-out ones, beside the
// Euclidean distance and that between vectors of length 1. Comparisons across are dropped, and those with a vector of zeros left out as
// EvaluateVectors does. Splits run in parallel. Intervals are those of EvaluateVectors.
//
// It returns the errors of FitVectorTriplets, naming the split; an *OptionError for a plan that is not allowed; and an error if a split has no
// comparison on either side.
func EvaluateVectorTriplets(ctx context.Context, f *vectors.File, ts []metric.Triplet, r VectorRecipe, p VectorPlan) (*VectorTripletEvaluation, error) {
	r, entry, values, err := r.ofTriplets()
	if err != nil {
		return nil, err
	}
	p = p.Resolved()
	if err := cmp.Or(p.check(), r.checkRank(f.Dim())); err != nil {
		return nil, err
	}
	all, notes, err := readCompared(f, ts, true)
	if err != nil {
		return nil, err
	}
	all.reorder()
	items, _ := all.x.Dims()
	ts = all.list
	e := &VectorTripletEvaluation{Recipe: r, Plan: p, Items: items, Triplets: len(ts), Notes: notes}
	held := int(math.Ceil(p.Share * float64(e.Items)))
	if held < 3 || e.Items-held < 3 {
		return nil, notAllowed("test-share: %v of %d items leaves less than 3 on a side", p.Share, e.Items)
	}
	if err := limits.Check(fmt.Sprintf("%d splits", p.Splits), limits.Floats(8, p.Splits)); err != nil {
		return nil, notAllowed("splits: %w", err)
	}
	e.Train, e.Test, e.Dropped = make([]int, p.Splits), make([]int, p.Splits), make([]int, p.Splits)
	for _, s := range []*VectorTripletScore{&e.Learner, &e.Euclidean, &e.Cosine} {
		s.Error = make([]float64, p.Splits)
	}
	redrawn := make([]bool, p.Splits)
	if err := parallel(ctx, p.Splits, p.Progress, func(ctx context.Context, s int) error {
		train, test, again, err := all.divide(p.itemsOf(s), s, held)
		if err != nil {
			return err
		}
		redrawn[s] = again
		shuffled(train.list, p.Seed, s)
		e.Train[s], e.Test[s] = len(train.list), len(test.list)
		e.Dropped[s] = len(ts) - len(train.list) - len(test.list)
		_, err = apart(ctx, p.inside(s), func(ctx context.Context, told Progress) (struct{}, error) {
			return struct{}{}, e.split(ctx, train, test, s, fittingVectors{r, entry, values}, told)
		})
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("split %d: %w", s+1, err)
		}
		return err
	}); err != nil {
		return nil, err
	}
	e.OverEuclidean.Error, e.OverCosine.Error = judge.Minus(e.Learner.Error, e.Euclidean.Error), judge.Minus(e.Learner.Error, e.Cosine.Error)
	ratio := float64(held) / float64(e.Items-held)
	for _, s := range []*VectorTripletScore{&e.Learner, &e.Euclidean, &e.Cosine, &e.OverEuclidean, &e.OverCosine} {
		s.Summary = judge.SummarizeResampled(s.Error, ratio)
	}
	e.Notes = append(e.Notes, redrawnNote(redrawn)...)
	if p.Splits < judge.MinTrials {
		e.Notes = append(e.Notes, fmt.Sprintf("fewer than %d splits give no interval", judge.MinTrials))
	}
	return e, nil
}

// part returns the comparisons of which all items are held out, or none, and the vectors of these.
func (n *namedTriplets) part(out []bool, held bool) *namedTriplets {
	place := make([]int, len(out))
	var rows []int
	p := &namedTriplets{}
	for _, t := range n.list {
		if out[t.A] != held || out[t.Near] != held || out[t.Far] != held {
			continue
		}
		for _, i := range []*int{&t.A, &t.Near, &t.Far} {
			if place[*i] == 0 {
				rows = append(rows, *i)
				place[*i] = len(rows)
			}
			*i = place[*i] - 1
		}
		p.list = append(p.list, t)
	}
	p.x = rowsOf(n.x, rows)
	return p
}

// divide draws which items are held out for split s, and returns the comparisons within either part. It tells whether it drew anew.
func (n *namedTriplets) divide(rng *rand.Rand, s, held int) (train, test *namedTriplets, again bool, err error) {
	items, _ := n.x.Dims()
	_, again, err = divided(rng, s, items, held, func(out []bool) error {
		if train, test = n.part(out, false), n.part(out, true); len(train.list) == 0 || len(test.list) == 0 {
			return fmt.Errorf("%d comparisons to learn from and %d held out: more comparisons, or another share of items to hold out, may help", len(train.list), len(test.list))
		}
		return nil
	})
	return train, test, again, err
}

// reorder puts items, and with them comparisons, in an order that the contents give.
func (n *namedTriplets) reorder() {
	items, _ := n.x.Dims()
	order := canonical(items, nearest.RowOrder(n.x), compared(items, n.list))
	n.x, n.list = rowsOf(n.x, order), recompared(n.list, placed(order))
}

// rowsOf returns some rows of x, nil for none.
func rowsOf(x *mat.Dense, rows []int) *mat.Dense {
	if len(rows) == 0 {
		return nil
	}
	_, d := x.Dims()
	out := mat.NewDense(len(rows), d, nil)
	for k, i := range rows {
		out.SetRow(k, x.RawRowView(i))
	}
	return out
}

// split learns and judges split s.
func (e *VectorTripletEvaluation) split(ctx context.Context, train, test *namedTriplets, s int, f fittingVectors, told Progress) error {
	e.Euclidean.Error[s] = contradicted(test.x, test.list)
	unit := mat.DenseCopyOf(test.x)
	toUnit(unit)
	e.Cosine.Error[s] = contradicted(unit, test.list)
	if f.recipe.Unit {
		toUnit(train.x)
	}
	m, err := fitCompared(ctx, train, f.recipe, f.entry, f.values, told)
	if err != nil {
		return err
	}
	z, err := m.Embed(test.x)
	if err != nil {
		return err
	}
	e.Learner.Error[s] = contradicted(z, test.list)
	return nil
}

// contradicted returns the share of comparisons that Euclidean distances of the rows of z contradict; a tie counts half.
func contradicted(z *mat.Dense, ts []metric.Triplet) float64 {
	named := namedTriplets{x: z}
	var wrong float64
	for _, t := range ts {
		switch near, far := named.sqDists(metric.Euclidean{}, t); {
		case near > far:
			wrong++
		case near == far:
			wrong += .5
		}
	}
	return wrong / float64(len(ts))
}
