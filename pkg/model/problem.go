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

	"metriclab/internal/abandon"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/feedback"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/vectors"
)

// Problem is items and what is known of them, with the learners that learn from that: what Compare takes.
type Problem struct {
	// Learners are those that take it, baselines last.
	Learners []catalog.Entry
	// Measure is what ranks them, a share: the less the better.
	Measure string

	from    string // what is learned from
	draws   bool   // pairs by classes
	resolve func(Recipe) (fitting, error)
	// lay checks plan and data, fills in the defaults of the plan, and tells of the data.
	lay func(p *Comparing, fits *[]fitting, out *Comparison) (*course, error)
}

// The measures.
const (
	MeasureKNN      = "kNN error"
	MeasureOrder    = "1 − AUC"
	MeasureTriplets = "triplet error"
)

// course is how a problem is divided, and what a learner does in a division.
type course struct {
	splits int
	ratio  float64 // of what a split tests to what it learns from
	named  func(split int) string
	// redrawn tells of splits that were drawn anew, once they were tried; nil if none can be.
	redrawn []bool
	// cost estimates a fit, and the seconds of a split on one processor; its error says that there is no room.
	cost func(f fitting) (one catalog.Cost, split float64, err error)
	// ready is called before trials of a learner; nil for nothing to do.
	ready func(e *entrant) error
	// trial fits to what a split learns from, calls fitted, and judges by what the split tests; with inner > 0 it does so within the former.
	trial func(ctx context.Context, e *entrant, split, inner int, fitted func(), told Progress) (verdict, error)
}

// ByClasses is the problem of a table, or of sparse rows, with classes. d may be nil, for Comparable.
func ByClasses(d *Data) Problem {
	return Problem{
		Learners: Learners(), Measure: MeasureKNN, from: "a table with classes", draws: true,
		resolve: func(r Recipe) (f fitting, err error) {
			f.recipe, f.entry, f.values, err = r.resolve()
			return f, err
		},
		lay: func(p *Comparing, fits *[]fitting, out *Comparison) (*course, error) {
			if err := d.check("", true); err != nil {
				return nil, err
			}
			if d.Sparse != nil { // rows are as they are
				all := *fits
				*fits = slices.DeleteFunc(all, func(f fitting) bool { return f.recipe.Learner == EuclideanRaw && len(all) > 1 })
			}
			out.Notes = d.Look().Notes(true)
			return d.course(d.order(), p, *fits, out)
		},
	}
}

// ByGram is the problem of objects of which only the Gram matrix k0 is known, and classes. k0 and labels may be nil, for Comparable.
func ByGram(k0 mat.Symmetric, labels []string) Problem {
	euclideanUnder := baseline(Euclidean, "no learning: the distance under the kernel, the baseline")
	return Problem{
		Learners: append(GramLabelLearners(), euclideanUnder), Measure: MeasureKNN, from: "a Gram matrix with classes", draws: true,
		resolve: func(r Recipe) (fitting, error) {
			if r.Learner == Euclidean {
				v, err := euclideanUnder.Parse(r.Params)
				return fitting{Recipe{Learner: Euclidean, Params: map[string]string{}, Seed: max(r.Seed, 1), Raw: true}, euclideanUnder, v}, err
			}
			g, e, v, err := GramRecipe{Learner: r.Learner, Params: r.Params, Pairs: r.Pairs, Seed: r.Seed, Labels: true}.resolve()
			return fitting{Recipe{Learner: g.Learner, Params: g.Params, Pairs: g.Pairs, Seed: g.Seed, Raw: true}, e, v}, err
		},
		lay: func(p *Comparing, fits *[]fitting, out *Comparison) (*course, error) {
			u, err := under(k0, labels)
			if err != nil {
				return nil, err
			}
			for i, f := range *fits {
				(*fits)[i].entry = u.entry(f.entry)
			}
			c, err := u.d.course(gramOrder(k0, labels), p, *fits, out)
			out.Features = 0
			return c, err
		},
	}
}

// course divides rows into folds, in an order that their numbers have no part in.
func (d *Data) course(order []int, p *Comparing, fits []fitting, out *Comparison) (*course, error) {
	n, width := d.Dims()
	inner := Plan{Ks: p.Ks, Folds: p.Validation, Repeats: 1}
	var cut []string
	p.Plan, cut = p.forRows(n)
	if p.Seed == 0 {
		p.Seed = fits[0].recipe.Seed
	}
	if err := p.check(n); err != nil {
		return nil, err
	}
	out.Rows, out.Features, out.Validation = n, width, p.Validation
	var y []int
	out.Classes, out.Counts, y = d.classes()
	out.Notes = slices.Concat(out.Notes, cut, p.rare(out.Classes, out.Counts))
	test := (n + p.Folds - 1) / p.Folds
	train := n - test
	inner, err := p.withinRows(inner, train, len(fits), out)
	if err != nil {
		return nil, err
	}
	plan, v := p.Plan, out.Validation
	folds := plan.divisions(order, y)
	var dense *Data // of sparse rows, once a learner needs it
	return &course{
		splits: p.Folds * p.Repeats, ratio: 1 / float64(p.Folds-1),
		named: func(s int) string { return fmt.Sprintf("repeat %d, fold %d", s/plan.Folds+1, s%plan.Folds+1) },
		cost: func(f fitting) (catalog.Cost, float64, error) {
			one := func(train, test int) float64 {
				dims := width
				if f.entry.Form.Kernel() { // a number for each row that is stored
					if dims = train; f.recipe.Pairs > 0 {
						dims = min(train, 2*f.recipe.Pairs)
					}
				}
				queries := test
				if len(plan.Ks) > 1 {
					queries += train
				}
				return f.cost(train, width, len(out.Classes)).Seconds + catalog.KNN(queries, train, dims).Seconds
			}
			total := one(train, test)
			if v > 0 {
				total += float64(v) * one(train-train/v, train/v)
			}
			return f.cost(train, width, len(out.Classes)), total, f.room(train, width, len(out.Classes))
		},
		ready: func(e *entrant) (err error) {
			if d.Sparse == nil || e.recipe.keepsSparse(e.entry) {
				e.d = d
				return nil
			}
			if dense == nil {
				dense, err = d.forRecipe(e.recipe, e.entry)
			}
			e.d = dense
			return err
		},
		trial: func(ctx context.Context, e *entrant, s, i int, fitted func(), told Progress) (verdict, error) {
			train, test := part(order, folds[s/plan.Folds], s%plan.Folds)
			rng, judging := plan.pairs(s), plan
			if i > 0 {
				classes := make([]int, len(train))
				for k, row := range train {
					classes[k] = y[row]
				}
				within := sample.StratifiedFolds(random.Seed{Base: plan.Seed, Experiment: "model/compare", Trial: s}.Stream("folds"), classes, v)
				train, test = part(train, within, i-1)
				rng, judging = withinSplit(plan.Seed, s, i, v).Stream("pairs"), inner
			}
			t, err := e.train(ctx, e.d, y, train, test, rng, told)
			fitted()
			if err != nil {
				return verdict{}, err
			}
			return t.judge(ctx, t.model.metric, judging)
		},
	}, nil
}

// withinSplit is the origin of what is drawn in inner fold i, from 1, of v within split s.
func withinSplit(seed uint64, s, i, v int) random.Seed {
	return random.Seed{Base: seed, Experiment: "model/compare", Trial: s*v + i - 1}
}

// withinRows checks the inner folds of the validation within so many training rows, and leaves out what these do not suffice for.
func (p *Comparing) withinRows(inner Plan, train, learners int, out *Comparison) (Plan, error) {
	if err := p.checkValidation(learners, out); err != nil || out.Validation == 0 {
		return inner, err
	}
	inner, _ = inner.forRows(train)
	if err := inner.check(train); err != nil {
		out.Validation = 0
		out.Notes = append(out.Notes, fmt.Sprintf("no error of the choice by validation: in the training rows of a split, %v", unwrapped(err)))
	}
	return inner, nil
}

func (p *Comparing) checkValidation(learners int, out *Comparison) error {
	out.Validation = p.Validation
	switch {
	case p.Validation < 0 || p.Validation == 1:
		return notAllowed("validation: %d folds are not allowed, want 0 for none, or at least 2", p.Validation)
	case learners == 1: // there is nothing to choose
		out.Validation = 0
	}
	return nil
}

// gramUnder is a Gram matrix as rows: the numbers of the objects.
type gramUnder struct {
	d       *Data
	objects kernels.Objects
}

// under checks a Gram matrix and its classes.
func under(k0 mat.Symmetric, labels []string) (u gramUnder, err error) {
	n := k0.SymmetricDim()
	if err := cmp.Or(checkObjects(n), checkObjectLabels(labels, n)); err != nil {
		return u, err
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k0)
	if err := kernels.CheckGram(own); err != nil {
		return u, fmt.Errorf("model: k0: %w", err)
	}
	u.objects = kernels.NewObjects(own)
	u.d, err = NewData(u.objects.Points(), labels, nil)
	return u, err
}

// entry is a learner of rows that looks up the kernel values of objects.
func (u gramUnder) entry(e catalog.Entry) catalog.Entry {
	fit := e.Fit
	e.Fit = func(ctx context.Context, in catalog.Input, v catalog.Values, told catalog.Progress) (catalog.Learned, error) {
		in.Kernel = u.objects
		return fit(ctx, in, v, told)
	}
	if !e.Form.Kernel() { // the baseline
		e.Form = catalog.Transformed
		e.Fit = func(context.Context, catalog.Input, catalog.Values, catalog.Progress) (catalog.Learned, error) {
			k, err := kernels.NewTransformed(u.objects, 1, 1, nil, nil)
			return catalog.Learned{Distance: k}, err
		}
	}
	return e
}

// Cosine is the name of the baseline of vectors that are divided by their lengths.
const Cosine = "cosine"

// ofVectors is what problems of vectors have in common: common holds what all recipes share, and plan how items are held out.
func ofVectors(measure, from string, common VectorRecipe) Problem {
	entries, _ := common.learners()
	baselines := []catalog.Entry{baseline(Euclidean, "no learning: the Euclidean distance of the vectors"), baseline(Cosine, "no learning: the Euclidean distance of the vectors divided by their lengths")}
	return Problem{
		Learners: append(slices.Clone(entries), baselines...), Measure: measure, from: from,
		resolve: func(r Recipe) (fitting, error) {
			for _, e := range baselines {
				if e.Name == r.Learner {
					v, err := e.Parse(r.Params)
					return fitting{Recipe{Learner: e.Name, Params: map[string]string{}, Seed: max(r.Seed, 1)}, e, v}, err
				}
			}
			one := common
			one.Learner, one.Params, one.Passes = r.Learner, r.Params, r.Passes
			one, e, v, err := one.resolve()
			return fitting{Recipe{Learner: one.Learner, Params: one.Params, Passes: one.Passes, Seed: max(r.Seed, 1), Raw: one.Raw}, e, v}, err
		},
	}
}

// holdOut is the course of items that are held out.
func (p VectorPlan) holdOut(q *Comparing, fits []fitting, out *Comparison, items, dim, known, least int) (*course, int, error) {
	p.Splits, p.Seed = q.Repeats, q.Seed
	p = p.Resolved()
	if err := p.check(); err != nil {
		return nil, 0, err
	}
	held := int(math.Ceil(p.Share * float64(items)))
	if held < least || items-held < least {
		return nil, 0, notAllowed("test-share: %v of %d items leaves less than %d on a side", p.Share, items, least)
	}
	q.Folds, q.Repeats, q.Seed, q.Ks = 1, p.Splits, p.Seed, nil
	out.Rows, out.Features, out.Held, out.Feedback = items, dim, p.Share, known
	if err := q.checkValidation(len(fits), out); err != nil {
		return nil, 0, err
	}
	return &course{
		splits: p.Splits, ratio: float64(held) / float64(items-held), redrawn: make([]bool, p.Splits),
		named: func(s int) string { return fmt.Sprintf("split %d", s+1) },
		cost: func(f fitting) (catalog.Cost, float64, error) {
			if f.entry.Cost == nil {
				return catalog.Cost{}, 0, nil
			}
			cost := f.entry.Estimate(catalog.Size{Rows: items - held, Features: dim, Pairs: known, Passes: f.recipe.Passes}, f.values)
			return cost, cost.Seconds * float64(1+out.Validation), f.roomOf(cost, fmt.Sprintf("a fit to vectors of length %d", dim))
		},
	}, held, nil
}

// PairsOfVectors is the problem of vectors with pairs that are alike or not: which of two pairs, one of either kind, is the nearer one. common holds Unit, Raw and
// Rank of all recipes, plan what a split holds out. f may be nil, for Comparable. Pairs with a vector of zeros are left out, as EvaluateVectors does.
func PairsOfVectors(f *vectors.File, links []metric.Link, common VectorRecipe, plan VectorPlan) Problem {
	pr := ofVectors(MeasureOrder, "pairs of vectors", common)
	pr.lay = func(p *Comparing, fits *[]fitting, out *Comparison) (*course, error) {
		if err := common.checkRank(f.Dim()); err != nil {
			return nil, err
		}
		all, err := readNamed(f, links)
		if err != nil {
			return nil, err
		}
		if all, out.Notes, err = all.directed(); err != nil {
			return nil, err
		}
		all.reorder(canonical(all.items, nearest.RowOrder(all.x), linked(all.items, all.links)))
		c, held, err := plan.holdOut(p, *fits, out, all.items, f.Dim(), len(all.links), 2)
		if err != nil {
			return nil, err
		}
		seed := p.Seed
		c.trial = func(ctx context.Context, e *entrant, s, inner int, fitted func(), told Progress) (verdict, error) {
			d, again, err := all.divide(VectorPlan{Seed: seed}.itemsOf(s), s, held)
			if inner == 0 {
				c.redrawn[s] = again
			} else if err == nil {
				share := float64(held) / float64(all.items)
				d, _, err = d.train.divide(withinSplit(seed, s, inner, out.Validation).Stream("items"), s, int(math.Ceil(share*float64(d.train.items))))
			}
			if err != nil {
				return verdict{}, err
			}
			train, test := d.train, d.test
			shuffled(train.links, seed, s)
			return apart(ctx, told, func(ctx context.Context, told Progress) (verdict, error) {
				z, err := e.coordinates(common, train.x, test.x, func(r VectorRecipe) (*Vectors, error) {
					return fitNamed(ctx, train, r, e.entry, e.values, told)
				})
				if err != nil {
					return verdict{}, err
				}
				fitted()
				n := len(test.links)
				wrong := 1 - auc(sqDistsOf(metric.Euclidean{}, z, test.links), test.links)
				return verdict{wrong * float64(n), n, wrong, 0}, nil
			})
		}
		return c, nil
	}
	return pr
}

// coordinates are those of the vectors test under what an entrant learns from train, which it may change.
func (e *entrant) coordinates(common VectorRecipe, train, test *mat.Dense, fit func(VectorRecipe) (*Vectors, error)) (*mat.Dense, error) {
	switch e.recipe.Learner {
	case Euclidean:
		if most := math.Sqrt(math.MaxFloat64 / 16 / float64(test.RawMatrix().Cols)); mat.Max(test) > most || mat.Min(test) < -most {
			return nil, errors.New("model: squared distances overflow: scale the vectors down")
		}
		return test, nil
	case Cosine:
		toUnit(test)
		return test, nil
	}
	if common.Unit {
		toUnit(train)
	}
	common.Learner, common.Params, common.Passes = e.recipe.Learner, e.recipe.Params, e.recipe.Passes
	m, err := fit(common)
	if err != nil {
		return nil, err
	}
	return m.Embed(test)
}

// ComparisonsOfVectors is PairsOfVectors for relative comparisons, "A is more like Near than like Far".
func ComparisonsOfVectors(f *vectors.File, ts []metric.Triplet, common VectorRecipe, plan VectorPlan) Problem {
	common.Triplets = true
	pr := ofVectors(MeasureTriplets, "relative comparisons of vectors", common)
	pr.lay = func(p *Comparing, fits *[]fitting, out *Comparison) (*course, error) {
		if err := common.checkRank(f.Dim()); err != nil {
			return nil, err
		}
		all, notes, err := readCompared(f, ts, true)
		if err != nil {
			return nil, err
		}
		out.Notes = notes
		all.reorder()
		items, _ := all.x.Dims()
		c, held, err := plan.holdOut(p, *fits, out, items, f.Dim(), len(all.list), 3)
		if err != nil {
			return nil, err
		}
		seed := p.Seed
		c.trial = func(ctx context.Context, e *entrant, s, inner int, fitted func(), told Progress) (verdict, error) {
			train, test, again, err := all.divide(VectorPlan{Seed: seed}.itemsOf(s), s, held)
			if inner == 0 {
				c.redrawn[s] = again
			} else if err == nil {
				n, _ := train.x.Dims()
				train, test, _, err = train.divide(withinSplit(seed, s, inner, out.Validation).Stream("items"), s, int(math.Ceil(float64(held)/float64(items)*float64(n))))
			}
			if err != nil {
				return verdict{}, err
			}
			shuffled(train.list, seed, s)
			return apart(ctx, told, func(ctx context.Context, told Progress) (verdict, error) {
				z, err := e.coordinates(common, train.x, test.x, func(r VectorRecipe) (*Vectors, error) {
					return fitCompared(ctx, train, r, e.entry, e.values, told)
				})
				if err != nil {
					return verdict{}, err
				}
				fitted()
				n, wrong := len(test.list), contradicted(z, test.list)
				return verdict{wrong * float64(n), n, wrong, 0}, nil
			})
		}
		return c, nil
	}
	return pr
}

// PairsOfRows is the problem of a table whose d.Links are known pairs of rows: that of PairsOfVectors, of rows as those to learn from prepare them. d may be nil, for Comparable.
func PairsOfRows(d *Data, plan VectorPlan) Problem {
	learners := slices.DeleteFunc(Learners(), func(e catalog.Entry) bool { return !Draws(e.Feedback) })
	cosine := baseline(Cosine, "no learning: the distance of the prepared rows divided by their lengths")
	baselines := []catalog.Entry{euclidean, baseline(EuclideanRaw, "no learning and no scaling: the Euclidean distance of the rows as they are"), cosine}
	return Problem{
		Learners: append(learners, baselines...), Measure: MeasureOrder, from: "a table with pairs of rows",
		resolve: func(r Recipe) (f fitting, err error) {
			for _, e := range baselines {
				if e.Name == r.Learner {
					v, err := e.Parse(r.Params)
					return fitting{Recipe{Learner: e.Name, Params: map[string]string{}, Seed: max(r.Seed, 1), ImputeMean: r.ImputeMean, Raw: r.Raw || e.Name == EuclideanRaw}, e, v}, err
				}
			}
			f.recipe, f.entry, f.values, err = r.resolve()
			return f, err
		},
		lay: func(p *Comparing, fits *[]fitting, out *Comparison) (*course, error) {
			if err := d.check(GivenPairs, false); err != nil {
				return nil, err
			}
			i := slices.IndexFunc(*fits, func(f fitting) bool { return f.recipe.Learner != EuclideanRaw })
			laid, err := d.layPairs((*fits)[max(i, 0)].recipe, catalog.Entry{})
			if err != nil {
				return nil, err
			}
			_, width := d.Dims()
			out.Notes = laid.notes
			c, held, err := plan.holdOut(p, *fits, out, laid.all.items, width, len(laid.all.links), 2)
			if err != nil {
				return nil, err
			}
			seed := p.Seed
			c.trial = func(ctx context.Context, e *entrant, s, inner int, fitted func(), told Progress) (verdict, error) {
				split, again, err := laid.all.divide(VectorPlan{Seed: seed}.itemsOf(s), s, held)
				if err != nil {
					return verdict{}, err
				}
				rows := laid
				if inner == 0 {
					c.redrawn[s] = again
				} else {
					// Rows that the split holds out are not there for its inner divisions.
					rows = laid.without(split)
					share := float64(held) / float64(laid.all.items)
					if split, _, err = rows.all.divide(withinSplit(seed, s, inner, out.Validation).Stream("items"), s, int(math.Ceil(share*float64(rows.all.items)))); err != nil {
						return verdict{}, err
					}
				}
				train, test := split.train, split.test
				shuffled(train.links, seed, s)
				rest := rows.rest(split.out, train, test)
				m, x, z, err := e.onPairs(ctx, rows.d, rest, train.links, test.rows, told)
				fitted()
				if err != nil {
					return verdict{}, err
				}
				return abandon.Do(ctx, "model", func(context.Context) (verdict, error) { // to embed may take long
					under := metric.SqDister(metric.Euclidean{})
					switch {
					case e.recipe.Learner == Cosine:
						toUnit(z)
					case m.metric != nil:
						var expand func(a, b *mat.Dense) (*mat.Dense, *mat.Dense, error)
						under, expand = coordinates(m.metric)
						if _, z, err = expand(x, z); err != nil {
							return verdict{}, err
						}
					}
					n := len(test.links)
					wrong := 1 - auc(sqDistsOf(under, z, test.links), test.links)
					return verdict{wrong * float64(n), n, wrong, 0}, nil
				})
			}
			return c, nil
		},
	}
}

// without is l without the rows that a division holds out, and with the pairs that it learns from.
func (l laidPairs) without(split dividedPairs) laidPairs {
	n, _ := l.d.Dims()
	out := make([]bool, n)
	for k, i := range l.all.rows {
		out[i] = split.out[k]
	}
	var keep []int
	place := make([]int, n)
	for i, gone := range out {
		if !gone {
			place[i] = len(keep)
			keep = append(keep, i)
		}
	}
	links := slices.Clone(split.train.links)
	for k, p := range links {
		links[k].I, links[k].J = place[l.all.rows[split.train.rows[p.I]]], place[l.all.rows[split.train.rows[p.J]]]
	}
	return laidPairs{d: l.d.Rows(keep), all: nameItems(links)}
}

// onPairs learns from rows of d and pairs of these, unless there is nothing to learn, and prepares other rows.
func (f fitting) onPairs(ctx context.Context, d *Data, rest []int, links []metric.Link, others []int, told Progress) (m *Model, x, z *mat.Dense, err error) {
	learned, tested := d.Rows(rest), d.Rows(others)
	forgetUnseen(d.Layout, learned.X, tested.X)
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

// ByComparisons is the problem of objects of which only relative comparisons are known. plan has Dim; Folds, Repeats and Seed are those of Comparing. set may be nil, for Comparable.
func ByComparisons(set *feedback.Triplets, plan TripletPlan) Problem {
	return Problem{
		Learners: TripletLearners(), Measure: MeasureTriplets, from: "relative comparisons alone",
		resolve: func(r Recipe) (fitting, error) {
			t, e, v, err := TripletRecipe{Learner: r.Learner, Params: r.Params, Passes: r.Passes}.resolve()
			return fitting{Recipe{Learner: t.Learner, Params: t.Params, Passes: t.Passes, Seed: max(r.Seed, 1)}, e, v}, err
		},
		lay: func(p *Comparing, fits *[]fitting, out *Comparison) (*course, error) {
			plan.Folds, plan.Repeats, plan.Seed = p.Folds, p.Repeats, p.Seed
			all, err := layTriplets(set, plan)
			if err != nil {
				return nil, err
			}
			plan := all.plan
			p.Folds, p.Repeats, p.Seed, p.Ks = plan.Folds, plan.Repeats, plan.Seed, nil
			out.Rows, out.Feedback, out.Notes = all.objects, len(all.list), all.notes
			if err := p.checkValidation(len(*fits), out); err != nil {
				return nil, err
			}
			return &course{
				splits: plan.Folds * plan.Repeats, ratio: 1 / float64(plan.Folds-1),
				named: func(s int) string { return fmt.Sprintf("repeat %d, fold %d", s/plan.Folds+1, s%plan.Folds+1) },
				cost:  func(fitting) (catalog.Cost, float64, error) { return catalog.Cost{}, 0, nil },
				trial: func(ctx context.Context, e *entrant, s, inner int, fitted func(), told Progress) (verdict, error) {
					learned, tested := all.part(s)
					if inner > 0 {
						within, err := sample.TripletFolds(random.Seed{Base: plan.Seed, Experiment: "model/compare", Trial: s}.Stream("folds"), learned, out.Validation)
						if err != nil {
							return verdict{}, fmt.Errorf("model: %w", err)
						}
						learned, tested = partTriplets(learned, within, inner-1)
					}
					shuffled(learned, plan.Seed, s)
					k, _, err := all.fit(ctx, e.entry, e.values, learned, e.recipe.Passes, told)
					fitted()
					if err != nil {
						return verdict{}, err
					}
					_, wrong := triplets.Errors(k, tested)
					return verdict{wrong * float64(len(tested)), len(tested), wrong, 0}, nil
				},
			}, nil
		},
	}
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
