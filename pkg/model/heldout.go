package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
)

// PairsOfVectors is the problem of the vectors of a file with labelled pairs of them, of which only those are read that a pair names. A fit by a learner that asks for rows (see
// catalog.Entry.ByRows) keeps 64 MB of them in memory, whatever their number, and up to 128 MB of coordinates for the threshold; other fits, and every evaluation, keep all within limits.Memory. I and J of a link are rows of
// the file; an online learner sees the links in their order. In an evaluation no pair of a vector of zeros counts, for which there is no cosine.
func PairsOfVectors(f Source, links []metric.Link) Problem {
	return Problem{ofVectors[metric.Link]{form: ofPairs, file: f, list: links, of: "vectors with pairs", takes: VectorLearners, learn: learnPairs, score: scorePairs, measures: byOrder, always: always, kind: labelOf}}
}

// ComparisonsOfVectors is the problem of the vectors of a file with relative comparisons of them, "A is more like Near than like Far", of which only those are
// read that a comparison names.
func ComparisonsOfVectors(f Source, ts []metric.Triplet) Problem {
	return Problem{ofVectors[metric.Triplet]{form: ofComparisons, file: f, list: ts, of: "vectors with relative comparisons", takes: func() []catalog.Entry { return catalog.Of(catalog.RowTriplets) }, learn: learnComparisons, score: scoreComparisons, measures: byAnswers, kind: func(metric.Triplet) int { return 0 }}}
}

// The measures.
const (
	MeasureKNN      = "kNN error"
	MeasureAUC      = "AUC" // how often a similar pair is nearer than a dissimilar one
	MeasureError    = "error"
	MeasureRecall   = "recall"
	MeasureTriplets = "triplet error"
)

var (
	byOrder   = []Measure{{MeasureAUC, false}, {MeasureError, true}, {MeasureRecall, false}}
	byAnswers = []Measure{{MeasureTriplets, true}}
	always    = []string{alwaysSimilar, alwaysDissimilar}
)

// VectorLearners returns the learners of vectors with pairs: those of the catalog that learn from labelled pairs and whose
// metric is a linear map.
func VectorLearners() []catalog.Entry {
	return slices.DeleteFunc(catalog.Of(catalog.Pairs, catalog.Links), func(e catalog.Entry) bool { return e.Form.Kernel() })
}

// ofVectors are vectors of which T is known.
type ofVectors[T any] struct {
	form[T]
	file     Source
	list     []T
	of       string
	takes    func() []catalog.Entry
	learn    func(ctx context.Context, m *Vectors, f fitting, n *known[T], x *fileRows, told Progress) (catalog.Distance, error)
	score    func(ctx context.Context, under metric.SqDister, z sides[T], k int, all bool) (outcome, error)
	measures []Measure
	always   []string
	kind     func(T) int
}

func (t ofVectors[T]) about() string { return t.of }

func (t ofVectors[T]) entries() []catalog.Entry { return t.takes() }

func (t ofVectors[T]) scope() scope { return scope{rank: true, unit: true, raw: true} }

func (t ofVectors[T]) rivals(Recipe) rivals {
	return rivals{verdict: []string{Euclidean, Cosine}, constants: t.always}
}

func (t ofVectors[T]) cost(f fitting) catalog.Cost {
	return t.costOf(f, len(t.named(t.list).rows))
}

func (t ofVectors[T]) costOf(f fitting, items int) catalog.Cost {
	if f.entry.Cost == nil {
		return catalog.Cost{}
	}
	return f.entry.Estimate(catalog.Size{Rows: items, Features: t.file.Dim(), Pairs: len(t.list), Passes: f.recipe.Passes}, f.values)
}

func (t ofVectors[T]) sample(rng *rand.Rand, n int) (task, string, error) {
	if n >= len(t.list) {
		return t, "", nil
	}
	all, err := t.read(t.file, t.list)
	if err != nil {
		return t, "", err
	}
	all.reorder()
	var words string
	t.list, words = sampled(rng, t.noun, all.list, t.kind, n)
	t.list = t.replaced(t.list, all.rows)
	return t, words, nil
}

func (t ofVectors[T]) checkRank(r Recipe) error {
	if d := t.file.Dim(); r.Rank > d {
		return notAllowed("rank: %d is not allowed, want 1 to %d, the length of a vector", r.Rank, d)
	}
	return nil
}

func (t ofVectors[T]) fit(ctx context.Context, f fitting, told Progress) (Fitted, error) {
	return t.fitWithin(ctx, f, told, heldBytes)
}

// fitWithin is fit that keeps so many bytes of vectors, if the learner asks for rows.
func (t ofVectors[T]) fitWithin(ctx context.Context, f fitting, told Progress, bytes int64) (Fitted, error) {
	if err := t.checkRank(f.recipe); err != nil {
		return nil, err
	}
	n, err := t.checked(t.file, t.list)
	if err != nil {
		return nil, err
	}
	held, err := f.holds(len(n.rows), t.file.Dim(), bytes)
	if err != nil {
		return nil, err
	}
	x, none, zeros, err := openRows(ctx, t.file, n.rows, held)
	if err != nil {
		return nil, err
	}
	var notes []string
	if f.recipe.Unit {
		if n, notes, err = n.without(none, zeros); err != nil {
			return nil, err
		}
		if zeros.Count > 0 {
			x = nil // before the memory of another is taken
			if x, _, _, err = openRows(ctx, t.file, n.rows, min(held, len(n.rows))); err != nil {
				return nil, err
			}
		}
		x.toUnit()
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	x.fail, x.over = stop, inner.Err
	m, err := t.fitKnown(inner, n, x, f, told)
	if unread := context.Cause(inner); unread != nil && ctx.Err() == nil {
		return nil, unread
	}
	if err != nil {
		return nil, err
	}
	m.report.Notes = notes
	return m, nil
}

// fitKnown is fit to vectors x, of length one if the recipe has them so. It scales x in place.
func (t ofVectors[T]) fitKnown(ctx context.Context, n *known[T], x *fileRows, f fitting, told Progress) (*Vectors, error) {
	m := &Vectors{recipe: f.recipe, version: VectorVersion, learner: f.entry.Version, scale: 1, threshold: math.NaN()}
	m.report.Items = len(n.rows)
	mean := n.mean(ctx, x)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if math.IsInf(mean, 0) || math.IsNaN(mean) {
		return nil, errOverflow
	}
	if s := math.Sqrt(pairSquare / mean); !f.recipe.Raw && mean > 0 && s > 0 && s <= math.MaxFloat64 {
		m.scale = s
		x.scaleBy(s)
	}
	learned, err := t.learn(ctx, m, f, n, x, told)
	if err != nil {
		return nil, err
	}
	m.metric = learned.(embedder)
	return m, ctx.Err()
}

// kept cuts a metric down to the rank of the recipe.
func (m *Vectors) kept(learned catalog.Distance) (catalog.Distance, error) {
	if m.recipe.Rank == 0 {
		return learned, nil
	}
	var err error
	if learned, m.report.Lost, err = truncated(learned, m.recipe.Rank); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return learned, nil
}

func learnPairs(ctx context.Context, m *Vectors, f fitting, n *known[metric.Link], x *fileRows, told Progress) (catalog.Distance, error) {
	m.report.Similar = countSimilar(n.list)
	m.report.Dissimilar = len(n.list) - m.report.Similar
	m.similar, m.other = m.report.Similar, m.report.Dissimilar
	learned, err := f.learn(ctx, catalog.Input{X: x.matrix(), Links: n.list}, told, &m.report)
	if err == nil {
		learned, err = m.kept(learned)
	}
	if err != nil {
		return nil, err
	}
	sq, err := sqDists(ctx, learned.(embedder), x, n.list, vectorBlock, 2*heldBytes)
	if err != nil {
		return nil, err
	}
	m.threshold, m.report.Wrong = bestThreshold(sq, n.list)
	if m.threshold < 0 {
		m.threshold, m.none = 0, true
		m.report.Wrong = wrongAt(sq, n.list, 0)
	}
	return learned, nil
}

func learnComparisons(ctx context.Context, m *Vectors, f fitting, n *known[metric.Triplet], x *fileRows, told Progress) (catalog.Distance, error) {
	m.triplets, m.report.Comparisons = len(n.list), len(n.list)
	learned, err := f.learn(ctx, catalog.Input{X: x.matrix(), Triplets: n.list}, told, &m.report)
	if err == nil {
		learned, err = m.kept(learned)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range n.list {
		if near, far := sqDistsIn(learned, x, t); near >= far {
			m.report.Contradicted++
		}
	}
	return learned, nil
}

// lay holds out items.
func (t ofVectors[T]) lay(p *Comparing, fits *[]fitting, facts *Facts) (*course, error) {
	for _, f := range *fits {
		if err := t.checkRank(f.recipe); err != nil {
			return nil, err
		}
	}
	all, err := t.read(t.file, t.list)
	if err != nil {
		return nil, err
	}
	if all, facts.Notes, err = all.directed(); err != nil {
		return nil, err
	}
	all.reorder()
	alone := t.measures[0].Name == MeasureTriplets // no measure has neighbours
	if alone && p.Ks != nil {
		return nil, notAllowed("k: it does not apply: comparisons of vectors are scored without neighbours")
	}
	_, questions := all.questions()
	held, err := p.holdOut(len(all.divisible()), questions, t.least, len(*fits))
	if err != nil {
		return nil, err
	}
	facts.Measures, facts.Features = t.measures, t.file.Dim()
	facts.Similar = t.similar(all.list)
	k := p.Ks[0]
	if alone {
		p.Ks = nil
	}
	c := courseOf(all, p, facts, held, func(d division[T]) *known[T] { return d.train }, func(ctx context.Context, h heldRun[T]) (outcome, error) {
		return apart(ctx, h.told, func(ctx context.Context, told Progress) (outcome, error) {
			z, err := t.coordinates(ctx, h, told)
			if err != nil {
				return outcome{}, err
			}
			h.fitted()
			return t.score(ctx, metric.Euclidean{}, z, k, h.all)
		})
	})
	validation := p.Validation
	c.cost = func(f fitting) (catalog.Cost, float64, error) {
		cost := t.costOf(f, len(all.rows)-held)
		return cost, cost.Seconds * float64(1+validation), f.roomOf(cost, fmt.Sprintf("a fit to vectors of length %d", t.file.Dim()))
	}
	return c, nil
}

// similar counts the similar pairs; 0 of comparisons.
func (t ofVectors[T]) similar(list []T) int {
	if links, ok := any(list).([]metric.Link); ok {
		return countSimilar(links)
	}
	return 0
}

func countSimilar(links []metric.Link) (n int) {
	for _, l := range links {
		if l.Label == metric.Similar {
			n++
		}
	}
	return n
}

// coordinates are those of the items of a division under what a learner or a baseline makes of those to learn from, which it may change.
func (t ofVectors[T]) coordinates(ctx context.Context, h heldRun[T], told Progress) (sides[T], error) {
	z := sides[T]{name: h.recipe.Learner, learned: h.train, tested: h.test, a: h.train.x, b: h.test.x, threshold: math.NaN()}
	switch h.recipe.Learner {
	case Euclidean:
		most := math.Sqrt(math.MaxFloat64 / 16 / float64(z.b.RawMatrix().Cols))
		if mat.Max(z.b) > most || mat.Min(z.b) < -most {
			return z, errOverflow
		}
	case Cosine:
		matrix.ToUnit(z.a)
		matrix.ToUnit(z.b)
	case alwaysSimilar, alwaysDissimilar:
	default:
		if h.recipe.Unit {
			matrix.ToUnit(z.a)
		}
		m, err := t.fitKnown(ctx, h.train, inMemory(h.train.x), h.fitting, told)
		if err != nil {
			return z, err
		}
		if z.threshold = m.threshold; m.none {
			z.threshold = -1
		}
		z.b, err = m.Embed(z.b)
		return z, err
	}
	return z, nil
}

// sides are the items of a division under a distance: coordinates a of those to learn from, and b of those held out. A threshold that is NaN is made of a.
type sides[T any] struct {
	name            string
	learned, tested *known[T]
	a, b            *mat.Dense
	threshold       float64
}

func scoreComparisons(_ context.Context, _ metric.SqDister, z sides[metric.Triplet], _ int, _ bool) (outcome, error) {
	return share(contradicted(z.b, z.tested.list), len(z.tested.list)), nil
}

// contradicted returns the share of comparisons that Euclidean distances of the rows of z contradict; a tie counts half.
func contradicted(z *mat.Dense, ts []metric.Triplet) float64 {
	var wrong float64
	for _, t := range ts {
		switch near, far := sqDistsIn(metric.Euclidean{}, z, t); {
		case near > far:
			wrong++
		case near == far:
			wrong += .5
		}
	}
	return wrong / float64(len(ts))
}

// share is the outcome of a share of n that is the less the better.
func share(wrong float64, n int) outcome {
	return outcome{values: []float64{wrong}, wrong: wrong * float64(n), rows: n}
}

// scorePairs scores by order and, if all measures are asked for, by the threshold that is best on what was learned from, and by neighbours.
func scorePairs(ctx context.Context, under metric.SqDister, z sides[metric.Link], k int, all bool) (o outcome, err error) {
	links := z.tested.list
	n := len(links)
	if slices.Contains(always, z.name) {
		similar := float64(countSimilar(links)) / float64(n)
		o.values = []float64{math.NaN(), similar, math.NaN()}
		if z.name == alwaysSimilar {
			o.values[1] = 1 - similar
		}
		return o, nil
	}
	sq := sqDistsOf(under, z.b, links)
	right := auc(sq, links)
	o = outcome{values: []float64{right}, wrong: (1 - right) * float64(n), rows: n}
	if !all {
		return o, nil
	}
	threshold := z.threshold
	if threshold != threshold {
		threshold, _ = bestThreshold(sqDistsOf(under, z.a, z.learned.list), z.learned.list)
	}
	found, err := recall(ctx, under, z.b, links, k)
	o.values = append(o.values, float64(wrongAt(sq, links, threshold))/float64(n), found)
	return o, err
}
