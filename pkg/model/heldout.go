package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
	"metriclab/pkg/vectors"
)

// PairsOfVectors is the problem of the vectors of a file with labelled pairs of them, of which only those are read that a pair names. I and J of a link are rows of
// the file; an online learner sees the links in their order. In an evaluation no pair of a vector of zeros counts, which cosine cannot judge.
func PairsOfVectors(f *vectors.File, links []metric.Link) Problem {
	return Problem{ofVectors[metric.Link]{form: ofPairs, file: f, list: links, of: "vectors with pairs", takes: VectorLearners, learn: learnPairs, judge: judgePairs, measures: byOrder, always: always, kind: labelOf}}
}

// ComparisonsOfVectors is the problem of the vectors of a file with relative comparisons of them, "A is more like Near than like Far", of which only those are
// read that a comparison names.
func ComparisonsOfVectors(f *vectors.File, ts []metric.Triplet) Problem {
	return Problem{ofVectors[metric.Triplet]{form: ofComparisons, file: f, list: ts, of: "vectors with relative comparisons", takes: func() []catalog.Entry { return catalog.Of(catalog.RowTriplets) }, learn: learnComparisons, judge: judgeComparisons, measures: byAnswers, kind: func(metric.Triplet) int { return 0 }}}
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
	file     source
	list     []T
	of       string
	takes    func() []catalog.Entry
	learn    func(ctx context.Context, m *Vectors, f fitting, n *known[T], told Progress) (catalog.Distance, error)
	judge    func(ctx context.Context, under metric.SqDister, z judged[T], k int, all bool) (outcome, error)
	measures []Measure
	always   []string
	kind     func(T) int
}

func (t ofVectors[T]) about() string            { return t.of }
func (t ofVectors[T]) entries() []catalog.Entry { return t.takes() }
func (t ofVectors[T]) scope() scope             { return scope{rank: true, unit: true, raw: true} }
func (t ofVectors[T]) rivals(Recipe) rivals {
	return rivals{judged: []string{Euclidean, Cosine}, constants: t.always}
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
	if err := t.checkRank(f.recipe); err != nil {
		return nil, err
	}
	n, err := t.read(t.file, t.list)
	if err != nil {
		return nil, err
	}
	var notes []string
	if f.recipe.Unit {
		if n, notes, err = n.directed(); err != nil {
			return nil, err
		}
		toUnit(n.x)
	}
	m, err := t.fitKnown(ctx, n, f, told)
	if err != nil {
		return nil, err
	}
	m.report.Notes = notes
	return m, nil
}

// fitKnown is fit of unit vectors, if the recipe has them so. It scales n.x in place.
func (t ofVectors[T]) fitKnown(ctx context.Context, n *known[T], f fitting, told Progress) (*Vectors, error) {
	m := &Vectors{recipe: f.recipe, version: VectorVersion, learner: f.entry.Version, scale: 1, threshold: math.NaN()}
	m.report.Items = len(n.rows)
	mean := n.mean()
	if math.IsInf(mean, 0) || math.IsNaN(mean) {
		return nil, errOverflow
	}
	if s := math.Sqrt(pairSquare / mean); !f.recipe.Raw && mean > 0 && s > 0 && s <= math.MaxFloat64 {
		m.scale = s
		n.x.Scale(s, n.x)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	learned, err := t.learn(ctx, m, f, n, told)
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

func learnPairs(ctx context.Context, m *Vectors, f fitting, n *known[metric.Link], told Progress) (catalog.Distance, error) {
	m.report.Similar = countSimilar(n.list)
	m.report.Dissimilar = len(n.list) - m.report.Similar
	m.similar, m.other = m.report.Similar, m.report.Dissimilar
	learned, err := f.learn(ctx, catalog.Input{X: n.x, Links: n.list}, told, &m.report)
	if err == nil {
		learned, err = m.kept(learned)
	}
	if err != nil {
		return nil, err
	}
	sq, err := sqDists(ctx, learned.(embedder), n.x, n.list)
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

func learnComparisons(ctx context.Context, m *Vectors, f fitting, n *known[metric.Triplet], told Progress) (catalog.Distance, error) {
	m.triplets, m.report.Comparisons = len(n.list), len(n.list)
	learned, err := f.learn(ctx, catalog.Input{X: n.x, Triplets: n.list}, told, &m.report)
	if err == nil {
		learned, err = m.kept(learned)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range n.list {
		if near, far := sqDistsIn(learned, n.x, t); near >= far {
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
		return nil, notAllowed("k: it does not apply: comparisons of vectors are judged without neighbours")
	}
	held, err := p.holdOut(len(all.divisible()), t.least, len(*fits))
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
			return t.judge(ctx, metric.Euclidean{}, z, k, h.all)
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
func (t ofVectors[T]) coordinates(ctx context.Context, h heldRun[T], told Progress) (judged[T], error) {
	z := judged[T]{name: h.recipe.Learner, learned: h.train, tested: h.test, a: h.train.x, b: h.test.x, threshold: math.NaN()}
	switch h.recipe.Learner {
	case Euclidean:
		most := math.Sqrt(math.MaxFloat64 / 16 / float64(z.b.RawMatrix().Cols))
		if mat.Max(z.b) > most || mat.Min(z.b) < -most {
			return z, errOverflow
		}
	case Cosine:
		toUnit(z.a)
		toUnit(z.b)
	case alwaysSimilar, alwaysDissimilar:
	default:
		if h.recipe.Unit {
			toUnit(z.a)
		}
		m, err := t.fitKnown(ctx, h.train, h.fitting, told)
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

// judged are the items of a division under a distance: coordinates a of those to learn from, and b of those held out. A threshold that is NaN is made of a.
type judged[T any] struct {
	name            string
	learned, tested *known[T]
	a, b            *mat.Dense
	threshold       float64
}

func judgeComparisons(_ context.Context, _ metric.SqDister, z judged[metric.Triplet], _ int, _ bool) (outcome, error) {
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

// judgePairs judges by order and, if all measures are asked for, by the threshold that is best on what was learned from, and by neighbours.
func judgePairs(ctx context.Context, under metric.SqDister, z judged[metric.Link], k int, all bool) (o outcome, err error) {
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

// PairsOfRows is the problem of a table whose d.Links are labelled pairs of rows. An evaluation holds out a share of the rows that pairs name: means, scales and
// the metric are learned from all other rows and the pairs of two of these, and what is held out is prepared by these means and scales. With Recipe.Raw pairs of a row of zeros are left out.
func PairsOfRows(d *tables.Data) Problem { return Problem{rowPairs{d: d, given: GivenPairs}} }

// ByChunklets is the problem of a table whose d.Chunklets say which rows are alike: all pairs of rows of one
// chunklet are similar. With dissimilar, as many pairs of rows of different chunklets are drawn (see sample.ChunkletLinks), for learners that would otherwise
// bring everything together. A learner that sees only which rows are connected, such as rca (catalog.Entry.Chunklets), gets as few pairs as say
// that, and no dissimilar ones. An evaluation judges by pairs of both kinds, and gives a learner those of them that it would see here.
func ByChunklets(d *tables.Data, dissimilar bool) Problem {
	return Problem{rowPairs{d: d, given: GivenChunklets, dissimilar: dissimilar}}
}

type rowPairs struct {
	d          *tables.Data
	given      string
	dissimilar bool
}

func (t rowPairs) about() string {
	if t.given == GivenChunklets {
		return "a table with chunklets"
	}
	return "a table with pairs of rows"
}

func (t rowPairs) entries() []catalog.Entry {
	return slices.DeleteFunc(Learners(), func(e catalog.Entry) bool { return !Draws(e.Feedback) })
}

func (t rowPairs) scope() scope {
	return scope{cells: true, raw: true, given: t.given}
}

func (t rowPairs) rivals(r Recipe) rivals {
	out := rivals{shown: []string{EuclideanRaw}, judged: []string{Euclidean, Cosine}, constants: always}
	if r.Raw {
		out.shown = nil
	}
	return out
}

func (t rowPairs) cost(f fitting) catalog.Cost {
	n, width := t.d.Dims()
	if f.recipe.Pairs = len(t.d.Links); t.given == GivenChunklets {
		rows := map[string]int{}
		for _, c := range t.d.Chunklets {
			if c != "" && !f.entry.Chunklets {
				f.recipe.Pairs = min(f.recipe.Pairs+rows[c], MaxPairs)
			} else if c != "" && rows[c] > 0 {
				f.recipe.Pairs++
			}
			rows[c]++
		}
		if t.dissimilar && !f.entry.Chunklets {
			f.recipe.Pairs *= 2
		}
	}
	return f.cost(n, width, 0)
}

func (t rowPairs) sample(rng *rand.Rand, n int) (task, string, error) {
	if t.given == GivenChunklets {
		return t, "", notAllowed("sample: it does not apply to chunklets")
	}
	d, words := *t.d, ""
	order := rowOrder(&d)
	links := relinked(d.Links, placed(order))
	if links, words = sampled(rng, "pair", links, labelOf, n); words != "" {
		d.Links = relinked(links, order)
		t.d = &d
	}
	return t, words, nil
}

func (t rowPairs) fit(ctx context.Context, f fitting, told Progress) (Fitted, error) {
	d := t.d
	if t.given == GivenChunklets {
		rng := random.Seed{Base: f.recipe.Seed, Experiment: "model/fit"}.Stream("chunklets")
		links, err := chunklinks(d, rng, f.entry.Chunklets, t.dissimilar)
		if err != nil {
			return nil, err
		}
		with := *d
		with.Links = links
		d = &with
	}
	m, err := fitRows(ctx, d, f, told)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// chunklinks returns the pairs that chunklets make; chained ones only connect the rows of each.
func chunklinks(d *tables.Data, rng *rand.Rand, chained, dissimilar bool) (links []metric.Link, err error) {
	if n, _ := d.Dims(); len(d.Chunklets) != n {
		return nil, fmt.Errorf("model: %s: %d chunklets of %d rows", d.Name, len(d.Chunklets), n)
	}
	names, of := datasets.Classes(d.Chunklets)
	for i, c := range of {
		if names[c] == "" {
			of[i] = -1
		}
	}
	none := *d
	none.Links = nil
	order := rowOrder(&none) // which pairs are drawn does not depend on the numbers of rows
	ordered := make([]int, len(order))
	for k, i := range order {
		ordered[k] = of[i]
	}
	if chained {
		links, err = sample.ChainedLinks(ordered)
	} else {
		links, err = sample.ChunkletLinks(rng, ordered, dissimilar)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", d.Name, err)
	}
	for k, l := range links {
		links[k].I, links[k].J = order[l.I], order[l.J]
	}
	return links, nil
}

func (t rowPairs) lay(p *Comparing, fits *[]fitting, facts *Facts) (*course, error) {
	d := t.d
	if t.given == GivenChunklets {
		rng := random.Seed{Base: p.Seed, Experiment: "model/evaluate"}.Stream("chunklets")
		links, err := chunklinks(d, rng, false, true)
		if err != nil {
			return nil, err
		}
		with := *d
		with.Links = links
		d = &with
	}
	if err := checkData(d, t.given, false); err != nil {
		return nil, err
	}
	if len(d.Links) > MaxPairs {
		return nil, notAllowed("%d pairs are given, want at most %d", len(d.Links), MaxPairs)
	}
	for i := range *fits {
		if (*fits)[i].recipe.Given != "" {
			(*fits)[i].recipe.Pairs = len(d.Links)
		}
	}
	i := slices.IndexFunc(*fits, func(f fitting) bool { return f.recipe.Learner != EuclideanRaw })
	laid, notes, err := layPairs(d, (*fits)[max(i, 0)])
	if err != nil {
		return nil, err
	}
	held, err := p.holdOut(len(laid.all.rows), ofPairs.least, len(*fits))
	if err != nil {
		return nil, err
	}
	n, width := d.Dims()
	facts.Notes, facts.Measures, facts.Rows, facts.Features = notes, byOrder, n, width
	facts.Similar = countSimilar(laid.all.list)
	k := p.Ks[0]
	inside := func(d division[metric.Link]) *known[metric.Link] {
		links := slices.Clone(d.train.list)
		for k, l := range links {
			links[k].I, links[k].J = laid.all.rows[d.train.rows[l.I]], laid.all.rows[d.train.rows[l.J]]
		}
		return ofPairs.named(links)
	}
	c := courseOf(laid.all, p, facts, held, inside, func(ctx context.Context, h heldRun[metric.Link]) (outcome, error) {
		return t.trial(ctx, laid, h, k)
	})
	validation := p.Validation
	c.cost = func(f fitting) (catalog.Cost, float64, error) {
		cost := f.cost(n-held, width, 0)
		return cost, cost.Seconds * float64(1+validation), f.room(n-held, width, 0)
	}
	return c, nil
}

// trial learns from rows that are not held out and pairs of these, and judges by pairs of others.
func (t rowPairs) trial(ctx context.Context, l laidPairs, h heldRun[metric.Link], k int) (outcome, error) {
	rest := l.rest(h)
	learned := h.train.list
	if t.given == GivenChunklets && (!t.dissimilar || h.entry.Chunklets) {
		learned = slices.DeleteFunc(slices.Clone(learned), func(l metric.Link) bool { return l.Label == metric.Dissimilar })
	}
	m, x, z, err := h.onPairs(ctx, l.d, rest, learned, h.test.rows, h.told)
	h.fitted()
	if err != nil {
		return outcome{}, err
	}
	return abandon.Do(ctx, "model", func(ctx context.Context) (outcome, error) { // the rows are copies, and to embed them may take long
		j := judged[metric.Link]{name: h.recipe.Learner, learned: h.train, tested: h.test, a: x, b: z, threshold: math.NaN()}
		under := metric.SqDister(metric.Euclidean{})
		switch {
		case h.recipe.Learner == Cosine: // of the rows that pairs name
			if h.all {
				j.a = mat.DenseCopyOf(x)
				toUnit(j.a)
			}
			toUnit(j.b)
		case m.metric != nil:
			var expand func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error)
			under, expand = coordinates(m.metric)
			if j.a, j.b, err = expand(x, z); err != nil {
				return outcome{}, err
			}
		}
		return judgePairs(ctx, under, j, k, h.all)
	})
}

// onPairs learns from rows of d and pairs of these, unless there is nothing to learn, and prepares other rows.
func (f fitting) onPairs(ctx context.Context, d *tables.Data, rest []int, links []metric.Link, others []int, told Progress) (m *Model, x, z *mat.Dense, err error) {
	learned, tested := d.Rows(rest), d.Rows(others)
	tested.ForgetUnseen(learned)
	m = &Model{recipe: f.recipe, layout: d.Layout}
	prepared, _, err := m.prepare(learned, true)
	if err != nil {
		return nil, nil, nil, err
	}
	if f.recipe.Given != "" {
		if err := m.learn(ctx, f.entry, f.values, prepared, nil, links, nil, told); err != nil {
			return nil, nil, nil, err
		}
	}
	if z, err = m.scaler.Apply(tested.X); err != nil {
		return nil, nil, nil, named(err, d.Layout.Features, 0)
	}
	return m, prepared.(*mat.Dense), z, nil
}

// laidPairs are the rows of a table and pairs of them, in an order that the contents give.
type laidPairs struct {
	d   *tables.Data
	all *known[metric.Link] // items are the rows that are named
}

// layPairs orders rows and pairs of d, and leaves out what the recipe cannot judge, with notes.
func layPairs(d *tables.Data, f fitting) (l laidPairs, notes []string, err error) {
	order := rowOrder(d)
	links := relinked(d.Links, placed(order))
	notes = d.Look().Notes(true)
	if d, err = f.recipe.rowsFor(d, catalog.Entry{Name: f.entry.Name}); err != nil {
		return l, nil, err
	}
	l.d, l.all = d.Rows(order), ofPairs.named(links)
	if f.recipe.Raw { // which has rows of zeros, such as texts without a known word
		l.all.x = rowsOf(l.d.X, l.all.rows)
		var left []string
		if l.all, left, err = l.all.directed(); err != nil {
			return l, nil, err
		}
		l.all.x = nil
		notes = append(notes, left...)
	}
	return l, notes, nil
}

// rest returns the rows to learn from, those of the pairs and all that no pair names. It makes the items to learn from places among these, and those held out
// rows of the table.
func (l laidPairs) rest(h heldRun[metric.Link]) []int {
	n, _ := l.d.Dims()
	held := make([]bool, n)
	for k, i := range h.of.rows {
		held[i] = h.out[k]
	}
	if h.around != nil {
		for k, i := range l.all.rows {
			held[i] = held[i] || h.around.out[k]
		}
	}
	rest, place := make([]int, 0, n), make([]int, n)
	for i, out := range held {
		if !out {
			place[i] = len(rest)
			rest = append(rest, i)
		}
	}
	for k, item := range h.train.rows {
		h.train.rows[k] = place[h.of.rows[item]]
	}
	for k, item := range h.test.rows {
		h.test.rows[k] = h.of.rows[item]
	}
	for k, p := range h.train.list {
		h.train.list[k].I, h.train.list[k].J = h.train.rows[p.I], h.train.rows[p.J]
	}
	return rest
}

// Connects reports whether a learner of that name sees chunklets alone: see catalog.Entry.Chunklets.
func Connects(learner string) bool {
	e, err := catalog.FindIn(Learners(), learner)
	return err == nil && e.Chunklets
}
