package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/vectors"
)

// A form is what is known of items, T: labelled pairs, or relative comparisons. Division, order and vectors of zeros are the same for both.
type form[T any] struct {
	noun  string // of one
	least int    // items that a side of a division needs
	items func(*T) []*int
	// divides are the items by which a division holds out; nil for all.
	divides  func(*T) []*int
	check    func(rows int, all []T) error
	related  func(items int, all []T) func(i int) []relation
	replaced func(all []T, place []int) []T
	// lacks returns an error unless a division has what is needed to learn from and to score by.
	lacks func(train, test []T) error
	// size is the squared distance that the scale of vectors is made by.
	size func(x mat.RawRowViewer, v T) float64
}

var ofPairs = form[metric.Link]{
	noun: "pair", least: 2,
	items: func(l *metric.Link) []*int { return []*int{&l.I, &l.J} },
	check: func(rows int, all []metric.Link) error {
		if err := metric.CheckLinks(rows, all); err != nil {
			return fmt.Errorf("model: %w", err)
		}
		return nil
	},
	related: linked, replaced: relinked,
	lacks: func(train, test []metric.Link) error { return cmp.Or(both(train, "training"), both(test, "held-out")) },
	size: func(x mat.RawRowViewer, l metric.Link) float64 {
		return metric.Euclidean{}.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
	},
}

var ofComparisons = form[metric.Triplet]{
	noun: "comparison", least: 3,
	items: func(t *metric.Triplet) []*int { return []*int{&t.A, &t.Near, &t.Far} },
	check: func(rows int, all []metric.Triplet) error {
		for i, t := range all {
			for _, r := range []int{t.A, t.Near, t.Far} {
				if r < 0 || r >= rows {
					return fmt.Errorf("model: comparison %d names row %d, want 0 to %d", i, r, rows-1)
				}
			}
			if t.Degenerate() {
				return fmt.Errorf("model: comparison %d of rows %d, %d and %d, want three rows", i, t.A, t.Near, t.Far)
			}
		}
		return nil
	},
	related: compared, replaced: recompared,
	lacks: func(train, test []metric.Triplet) error {
		if len(train) == 0 || len(test) == 0 {
			return fmt.Errorf("%d comparisons to learn from and %d held out: more comparisons, or another share or other folds to hold out, may help", len(train), len(test))
		}
		return nil
	},
	size: func(x mat.RawRowViewer, t metric.Triplet) float64 {
		near, far := sqDistsIn(metric.Euclidean{}, x, t)
		return (near + far) / 2
	},
}

// both returns an error unless there are similar and dissimilar pairs.
func both(links []metric.Link, what string) error {
	for _, label := range []metric.Label{metric.Similar, metric.Dissimilar} {
		if !slices.ContainsFunc(links, func(l metric.Link) bool { return l.Label == label }) {
			return fmt.Errorf("no %s pair is %s: more pairs, or another share or other folds to hold out, may help", what, map[metric.Label]string{metric.Similar: "similar", metric.Dissimilar: "dissimilar"}[label])
		}
	}
	return nil
}

// sqDistsIn returns the squared distances of a comparison of rows of x.
func sqDistsIn(m metric.SqDister, x mat.RawRowViewer, t metric.Triplet) (near, far float64) {
	a := x.RawRowView(t.A)
	return m.SqDist(a, x.RawRowView(t.Near)), m.SqDist(a, x.RawRowView(t.Far))
}

// known are pairs or comparisons, and the items that they name.
type known[T any] struct {
	form[T]
	rows []int      // the row of each item in what it was taken of, ascending
	x    *mat.Dense // a row per item; nil if it is not wanted
	list []T        // of items
}

// named returns what a list of rows is known of, as items.
func (f form[T]) named(list []T) *known[T] {
	out := &known[T]{form: f, list: slices.Clone(list)}
	for k := range list {
		for _, i := range f.items(&out.list[k]) {
			out.rows = append(out.rows, *i)
		}
	}
	slices.Sort(out.rows)
	out.rows = slices.Compact(out.rows)
	for k := range list {
		for _, i := range f.items(&out.list[k]) {
			*i, _ = slices.BinarySearch(out.rows, *i)
		}
	}
	return out
}

// checked returns what a list of rows of a file is known of, without the vectors.
func (f form[T]) checked(file Source, list []T) (*known[T], error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("model: no %ss, want at least one", f.noun)
	}
	if err := f.check(file.Rows(), list); err != nil {
		return nil, err
	}
	return f.named(list), nil
}

// read reads the vectors that a list names.
func (f form[T]) read(file Source, list []T) (*known[T], error) {
	out, err := f.checked(file, list)
	if err == nil {
		out.x, err = file.Select(out.rows)
	}
	return out, err
}

// reorder puts items, and with them the list, in an order that the contents give.
func (n *known[T]) reorder() {
	items := len(n.rows)
	order := canonical(items, nearest.RowOrder(n.x), n.related(items, n.list))
	n.x, n.list = rowsOf(n.x, order), n.replaced(n.list, placed(order))
	rows := slices.Clone(n.rows)
	for k, i := range order {
		n.rows[k] = rows[i]
	}
}

// part returns what is known of items that are all held out, or none of them, and the vectors of these. by says which items count.
func (n *known[T]) part(out []bool, held bool, by func(*T) []*int) *known[T] {
	return n.take(func(_ int, v T) bool {
		return !slices.ContainsFunc(by(&v), func(i *int) bool { return out[*i] != held })
	})
}

// take returns a part of the list, and the vectors that it names.
func (n *known[T]) take(keep func(at int, v T) bool) *known[T] {
	place := make([]int, len(n.rows))
	p := &known[T]{form: n.form}
	for k, v := range n.list {
		if !keep(k, v) {
			continue
		}
		for _, i := range n.items(&v) {
			if place[*i] == 0 {
				p.rows = append(p.rows, *i)
				place[*i] = len(p.rows)
			}
			*i = place[*i] - 1
		}
		p.list = append(p.list, v)
	}
	if n.x != nil {
		p.x = rowsOf(n.x, p.rows)
	}
	return p
}

// division is what is known of items that are not held out, and of those that are; out tells of each item.
type division[T any] struct {
	out         []bool
	train, test *known[T]
}

// divide draws which items are held out for split s, and tells whether it drew anew.
func (n *known[T]) divide(rng *rand.Rand, s, held int) (d division[T], again bool, err error) {
	of := n.divisible()
	_, again, err = divided(rng, s, len(of), held, func(out []bool) error {
		d.out = make([]bool, len(n.rows))
		for k, i := range of {
			d.out[i] = out[k]
		}
		d.train, d.test = n.part(d.out, false, n.dividing), n.part(d.out, true, n.dividing)
		return n.lacks(d.train.list, d.test.list)
	})
	return d, again, err
}

// question tells what v answers, whatever the answer is: its items, the first one before the others if it is compared with them; of a judgement, its query.
func (f form[T]) question(v T) (q [3]int) {
	if f.divides != nil {
		for k, i := range f.divides(&v) {
			q[k] = *i
		}
		return q
	}
	items := f.items(&v)
	from := len(items) - 2 // a pair has no order
	for k, i := range items {
		q[k] = *i
	}
	slices.Sort(q[from:len(items)])
	return q
}

// questions numbers those of the list.
func (n *known[T]) questions() (of []int, count int) {
	numbers := map[[3]int]int{}
	for _, v := range n.list {
		q := n.question(v)
		if _, seen := numbers[q]; !seen {
			numbers[q] = len(numbers)
		}
		of = append(of, numbers[q])
	}
	return of, len(numbers)
}

// folded holds out part fold of the questions, in an order that rng draws. Items are known on both sides.
func (n *known[T]) folded(rng *rand.Rand, fold, folds int) (d division[T], err error) {
	of, count := n.questions()
	place := rng.Perm(count)
	side := func(held bool) *known[T] {
		return n.take(func(at int, _ T) bool { return (place[of[at]]%folds == fold) == held })
	}
	d.out, d.train, d.test = make([]bool, len(n.rows)), side(false), side(true)
	return d, n.lacks(d.train.list, d.test.list)
}

// dividing are the items of v by which a division holds out.
func (f form[T]) dividing(v *T) []*int {
	if f.divides != nil {
		return f.divides(v)
	}
	return f.items(v)
}

// divisible are the items that a division can hold out.
func (n *known[T]) divisible() (of []int) {
	there := make([]bool, len(n.rows))
	for _, v := range n.list {
		for _, i := range n.dividing(&v) {
			there[*i] = true
		}
	}
	for i, is := range there {
		if is {
			of = append(of, i)
		}
	}
	return of
}

// directed returns what is known of vectors that have a direction, with a note on the others. It returns an error if there is none.
func (n *known[T]) directed() (*known[T], []string, error) {
	return n.without(zeroRows(n.x, func(i int) int { return n.rows[i] }))
}

// without is directed if none are the vectors of zeros, counted by z.
func (n *known[T]) without(none []bool, z vectors.Zeros) (*known[T], []string, error) {
	if z.Count == 0 {
		return n, nil, nil
	}
	p := n.part(none, false, n.items)
	for k, item := range p.rows {
		p.rows[k] = n.rows[item]
	}
	note, err := leftOut(z, len(n.list)-len(p.list), len(n.list), n.noun)
	return p, []string{note}, err
}

// mean is the mean of size, of vectors x. It is NaN once ctx is done.
func (n *known[T]) mean(ctx context.Context, x mat.RawRowViewer) (mean float64) {
	for _, v := range n.list {
		if ctx.Err() != nil {
			return math.NaN()
		}
		mean += n.size(x, v) / float64(len(n.list))
	}
	return mean
}

// sampled draws some of a list: what each kind of it has its share of.
func sampled[T any](rng *rand.Rand, noun string, list []T, kind func(T) int, n int) ([]T, string) {
	if n >= len(list) {
		return list, ""
	}
	y := make([]int, len(list))
	kinds := map[int]int{}
	order := make([]int, len(list))
	for i, v := range list {
		k, ok := kinds[kind(v)]
		if !ok {
			k = len(kinds)
			kinds[kind(v)] = k
		}
		y[i], order[i] = k, i
	}
	var out []T
	for _, i := range stratified(rng, order, y, n) {
		out = append(out, list[i])
	}
	words := fmt.Sprintf("a sample of %d of %s", len(out), plural.Of(len(list), noun))
	if len(kinds) > 1 {
		words += ", stratified by label"
	}
	return out, words
}

func labelOf(l metric.Link) int { return int(l.Label) }

// divided draws which of n items are held out, and draws anew as long as lacks returns an error. It returns the error of the first draw if that does not help.
func divided(rng *rand.Rand, s, n, held int, lacks func(out []bool) error) (out []bool, again bool, err error) {
	const most = 200
	for range most {
		out = make([]bool, n)
		for _, i := range rng.Perm(n)[:held] {
			out[i] = true
		}
		e := lacks(out)
		if e == nil {
			return out, err != nil, nil
		}
		err = cmp.Or(err, e)
	}
	return nil, false, fmt.Errorf("model: split %d, drawn %d times: %w", s+1, most, err)
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

// items is the source of the division of split s.
func itemsOf(seed uint64, s int) *rand.Rand {
	return random.Seed{Base: seed, Experiment: "model/vectors", Trial: s}.Stream("items")
}

// holdOut checks a plan that holds out a share of items, at least least on either side, and returns how many are held out; or folds of so many questions, and returns 0.
func (p *Comparing) holdOut(items, questions, least, learners int) (held int, err error) {
	if p.Dim != 0 {
		return 0, notAllowed("dim: it does not apply: distances count in all dimensions")
	}
	if p.Ks == nil {
		p.Ks = []int{10}
	}
	p.Repeats = cmp.Or(p.Repeats, 10)
	if p.Folds == 0 {
		p.Share = cmp.Or(p.Share, 0.3)
	}
	switch {
	case p.Folds != 0 && p.Share != 0:
		return 0, notAllowed("folds and test-share: want one of them: parts of what is known are held out, or items with all that is known of them")
	case p.Folds != 0 && (p.Folds < 2 || p.Folds > questions):
		return 0, notAllowed("folds: %d is not allowed, want 2 to the number of questions, %d", p.Folds, questions)
	case len(p.Ks) != 1:
		return 0, notAllowed("k: %d numbers are given, want one", len(p.Ks))
	case p.Ks[0] < 1:
		return 0, notAllowed("k: %d is not allowed, want at least 1", p.Ks[0])
	case p.Folds == 0 && !(p.Share > 0 && p.Share < 1):
		return 0, notAllowed("test-share: %v is not allowed, want more than 0 and less than 1", p.Share)
	case p.Repeats < 1 || p.Repeats > MaxRepeats:
		return 0, notAllowed("repeats: %d is not allowed, want 1 to %d", p.Repeats, MaxRepeats)
	}
	if p.Folds != 0 {
		return 0, p.checkValidation(learners)
	}
	held = int(math.Ceil(p.Share * float64(items)))
	if held < least || items-held < least {
		return 0, notAllowed("test-share: %v of %d items leaves less than %d on a side", p.Share, items, least)
	}
	return held, p.checkValidation(learners)
}

// run is a trial that is asked for: of a learner, in a split or, with inner > 0, in an inner division of what that learns from.
type run struct {
	*entrant
	split, inner int
	all          bool   // all measures, not only that which ranks
	fitted       func() // is called once it has learned
	told         Progress
}

// heldRun is a run with its division of items, and that of the split around it if it is an inner one.
type heldRun[T any] struct {
	run
	division[T]
	of     *known[T] // what was divided
	around *division[T]
}

// courseOf divides what is known of items. within is what an inner division divides of what a split learns from; trial learns and scores.
func courseOf[T any](all *known[T], p *Comparing, facts *Facts, held int, within func(d division[T]) *known[T], trial func(ctx context.Context, r heldRun[T]) (outcome, error)) *course {
	items, seed, validation, folds, splits := len(all.divisible()), p.Seed, p.Validation, p.Folds, max(p.Folds, 1)*p.Repeats
	facts.Items, facts.Known = items, len(all.list)
	c := &course{
		splits: splits, ratio: float64(held) / float64(items-held), redrawn: make([]bool, splits), counts: make([][2]int, splits),
		named: func(s int) string { return fmt.Sprintf("split %d", s+1) },
	}
	if folds > 0 {
		c.ratio = 1 / float64(folds-1)
	}
	var mu sync.Mutex // inner divisions of a split run at once
	divide := func(s int) (d division[T], err error) {
		var again bool
		if folds > 0 {
			d, err = all.folded(itemsOf(seed, s/folds), s%folds, folds)
		} else {
			d, again, err = all.divide(itemsOf(seed, s), s, held)
		}
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			c.redrawn[s], c.counts[s] = again, [2]int{len(d.train.list), len(d.test.list)}
		}
		return d, err
	}
	c.count = func(s int) { _, _ = divide(s) }
	c.trial = func(ctx context.Context, r run) (outcome, error) {
		d, err := divide(r.split)
		if err != nil {
			return outcome{}, err
		}
		h := heldRun[T]{run: r, division: d, of: all}
		if r.inner > 0 {
			h.around, h.of = &d, within(d)
			share := float64(held) / float64(items)
			rng := withinSplit(seed, r.split, r.inner, validation).Stream("items")
			if folds > 0 {
				h.division, err = h.of.folded(rng, 0, folds)
			} else {
				h.division, _, err = h.of.divide(rng, r.split, int(math.Ceil(share*float64(len(h.of.divisible())))))
			}
			if err != nil {
				return outcome{}, err
			}
		}
		shuffled(h.train.list, seed, r.split)
		return trial(ctx, h)
	}
	return c
}

// apart does work on private copies, as package abandon has it, and passes on what it tells.
func apart[T any](ctx context.Context, told Progress, work func(ctx context.Context, told Progress) (T, error)) (T, error) {
	type step struct{ done, total int }
	var tell func(step)
	if told != nil {
		tell = func(q step) { told(q.done, q.total) }
	}
	return abandon.Run(ctx, "model", tell, func(ctx context.Context, told func(step)) (T, error) {
		var inside Progress
		if told != nil {
			inside = func(done, total int) { told(step{done, total}) }
		}
		return work(ctx, inside)
	})
}

var errOverflow = errors.New("model: squared distances overflow: scale the vectors down")
