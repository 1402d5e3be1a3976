package model

import (
	"context"
	"fmt"

	"metriclab/internal/abandon"
	"metriclab/internal/plural"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
	"metriclab/pkg/vectors"
)

// CalibrationFolds is the number of folds in which rows are held out for a Calibration, or that of the rows if there are fewer.
const CalibrationFolds = 5

// Calibration says how votes became probabilities, and on which rows that was learned.
type Calibration struct {
	nearest.Calibration
	// Folds is the number of fits to all rows but those of a fold; 0 if no fit was needed, as classes had no part in the metric. Each row was left out of its neighbours then.
	Folds int
}

// Probabilities is Classifier whose Blocks have Elected with Probabilities too, from votes as a nearest.Calibration has them. That is learned from rows of train which were held out:
//
//   - If the metric was learned from classes, its training rows are nearer to their own class than new rows are. So they are divided into CalibrationFolds folds, stratified by class. Each
//     fold has the votes of the other ones, under the metric that the recipe of m learns from these.
//   - If the classes had no part in the metric (Recipe.NeedsLabels), each row has the votes of all others under the metric of m.
//
// Neither the order of the rows nor the number of cores has a part in it.
//
// Its errors are those of Classifier and of Fit to the rows outside of a fold, which may be too few or of one class. It returns within .2 s an error that wraps that of ctx once ctx is done.
func (m *Model) Probabilities(ctx context.Context, train *tables.Data, k int) (*Neighbourhood, error) {
	h, err := m.Classifier(train, k)
	if err != nil {
		return nil, err
	}
	if !m.recipe.NeedsLabels() || len(h.classes) == 1 {
		return h.calibrate(ctx)
	}
	f, err := ByClasses(train).resolve(m.recipe)
	if err != nil {
		return nil, err
	}
	d, err := m.recipe.rowsFor(train, f.entry)
	if err != nil {
		return nil, err
	}
	return h.calibrateAnew(ctx, f, d, rowOrder(d))
}

// Probabilities is Classifier with probabilities, as those of a Model are.
func (g *Gram) Probabilities(ctx context.Context, labels []string, k int) (*Neighbourhood, error) {
	h, err := g.Classifier(labels, k)
	if err != nil {
		return nil, err
	}
	if len(g.classes) == 0 || !g.recipe.NeedsLabels() || len(h.classes) == 1 {
		return h.calibrate(ctx)
	}
	f, err := ByGram(g.k0, labels).resolve(g.recipe)
	if err != nil {
		return nil, err
	}
	u, err := under(g.k0, labels)
	if err != nil {
		return nil, err
	}
	f.entry, f.recipe.Raw = u.entry(f.entry), true
	return h.calibrateAnew(ctx, f, u.d, gramOrder(g.k0, labels))
}

// Probabilities is Classifier with probabilities, as those of a Model are whose classes had no part in its metric.
func (m *Vectors) Probabilities(ctx context.Context, f *vectors.File, labels []string, k int, p Progress) (*Neighbourhood, error) {
	h, err := m.Classifier(ctx, f, labels, k, p)
	if err != nil {
		return nil, err
	}
	return h.calibrate(ctx)
}

// Calibration returns how votes become probabilities: the zero value unless Probabilities made h.
func (h *Neighbourhood) Calibration() Calibration {
	if h.calibration == nil {
		return Calibration{}
	}
	return *h.calibration
}

// calibrate learns from the votes on each training row of the others.
func (h *Neighbourhood) calibrate(ctx context.Context) (*Neighbourhood, error) {
	b := nearest.NewBallots(len(h.classes))
	if err := h.voters.LeaveOut(ctx, h.k, b); err != nil {
		return nil, fmt.Errorf("model: probabilities: %w", err)
	}
	return h.with(ctx, b, 0)
}

// calibrateAnew learns from the votes on the rows of each fold of d under what f learns from the others.
func (h *Neighbourhood) calibrateAnew(ctx context.Context, f fitting, d *tables.Data, order []int) (*Neighbourhood, error) {
	n, width := d.Dims()
	if err := f.room(n, width, len(h.classes)); err != nil {
		return nil, fmt.Errorf("model: probabilities: %w", err)
	}
	b := nearest.NewBallots(len(h.classes))
	folds := min(CalibrationFolds, len(order)) // each with at most one row of a class that has no more rows than folds
	seed := random.Seed{Base: f.recipe.Seed, Experiment: "model/probabilities"}
	fold := Plan{Folds: folds, Repeats: 1, Seed: f.recipe.Seed}.divisions(order, h.y)
	for s := range folds {
		train, test := part(order, fold[0], s)
		seed.Trial = s
		held, err := f.train(ctx, d, h.y, train, test, seed.Stream("pairs"), nil)
		if err == nil {
			_, err = abandon.Do(ctx, "model", func(ctx context.Context) (struct{}, error) {
				voters, queries, err := held.voters(held.model.metric)
				if err == nil {
					err = voters.HoldOut(ctx, queries, held.want, h.k, b)
				}
				return struct{}{}, err
			})
		}
		if err != nil {
			return nil, fmt.Errorf("model: probabilities: without the %s of fold %d of %d: %w", plural.Of(len(test), "row"), s+1, folds, err)
		}
	}
	return h.with(ctx, b, folds)
}

// with sets the calibration.
func (h *Neighbourhood) with(ctx context.Context, b *nearest.Ballots, folds int) (*Neighbourhood, error) {
	c, err := b.Calibrate(ctx)
	if err != nil {
		return nil, fmt.Errorf("model: probabilities: %w", err)
	}
	h.calibration = &Calibration{c, folds}
	h.extra += len(h.classes)
	return h, nil
}

// CostOfProbabilities estimates the time to learn how votes on rows like those of train become probabilities.
func (m *Model) CostOfProbabilities(train *tables.Data) catalog.Cost {
	n, _ := train.Dims()
	one := m.CostOfNear(n, n)
	f, err := ByClasses(train).resolve(m.made().recipe)
	if err != nil || !m.recipe.NeedsLabels() {
		return one
	}
	one.Seconds += CalibrationFolds * ByClasses(train).cost(f).Seconds
	return one
}
