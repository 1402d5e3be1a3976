package model

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

// PairsOfRows is the problem of a table whose d.Links are labelled pairs of rows. An evaluation holds out a share of the rows that pairs name. Means, scales and the metric are learned from
// all other rows and the pairs of two of these, and what is held out is prepared by these means and scales. With Recipe.Raw pairs of a row of zeros are left out.
func PairsOfRows(d *tables.Data) Problem { return Problem{rowPairs{d: d, given: GivenPairs}} }

// ByChunklets is the problem of a table whose d.Chunklets say which rows are alike: all pairs of rows of one
// chunklet are similar. With dissimilar, as many pairs of rows of different chunklets are drawn (see sample.ChunkletLinks), for learners that would otherwise
// bring everything together. A learner that sees only which rows are connected, such as rca (catalog.Entry.Chunklets), gets as few pairs as say
// that, and no dissimilar ones. An evaluation scores by pairs of both kinds, and gives a learner those of them that it would see here.
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
	out := rivals{shown: []string{EuclideanRaw}, verdict: []string{Euclidean, Cosine}, constants: always}
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
		if p.Folds != 0 {
			return nil, notAllowed("folds: they do not apply to chunklets, whose pairs follow from each other")
		}
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
	_, questions := laid.all.questions()
	held, err := p.holdOut(len(laid.all.rows), questions, ofPairs.least, len(*fits))
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

// trial learns from rows that are not held out and pairs of these, and scores by pairs of others.
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
		j := sides[metric.Link]{name: h.recipe.Learner, learned: h.train, tested: h.test, a: x, b: z, threshold: math.NaN()}
		under := metric.SqDister(metric.Euclidean{})
		switch {
		case h.recipe.Learner == Cosine: // of the rows that pairs name
			if h.all {
				j.a = mat.DenseCopyOf(x)
				matrix.ToUnit(j.a)
			}
			matrix.ToUnit(j.b)
		case m.metric != nil:
			var expand func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error)
			under, expand = coordinates(m.metric)
			if j.a, j.b, err = expand(x, z); err != nil {
				return outcome{}, err
			}
		}
		return scorePairs(ctx, under, j, k, h.all)
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

// layPairs orders rows and pairs of d, and leaves out what the recipe cannot take, with notes.
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
