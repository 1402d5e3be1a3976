package ask

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

const (
	// cklDim is the number of coordinates in which CKL is fitted to choose questions.
	cklDim = 4
	// cklIterations is the cap of a fit that begins at the one before.
	cklIterations = 60
	// erkleBeta is β of ERKLE, steps per answer.
	erkleBeta = 10
	// candidates and candidatesOfGain are how many pairs are weighed for a question.
	candidates       = 400
	candidatesOfGain = 100
)

// chooser chooses questions by a kernel.
type chooser struct {
	n        int
	selector *triplets.Selector
	learned  int // answers
	erkle    *triplets.ERKLE
	// Of CKL: the answers, the coordinates and what draws the first ones.
	ts  []metric.Triplet
	x   *mat.Dense
	rng *rand.Rand
}

func newChooser(src *rand.PCG, n int, p Params) (*chooser, error) {
	q := triplets.SelectorParams{Rule: triplets.SelectRandomThenUncertainty, Model: triplets.AnswerCrowd, Candidates: candidates}
	if p.Choose == ChoiceCKLGain || p.Choose == ChoiceERKLEGain {
		q.Rule, q.Candidates = triplets.SelectInformationGain, candidatesOfGain
	}
	rng := rand.New(src)
	c := &chooser{n: n, rng: rng}
	var err error
	if p.Choose == ChoiceERKLE || p.Choose == ChoiceERKLEGain {
		q.Model = triplets.AnswerLogistic
		if c.erkle, err = triplets.NewERKLE(n, triplets.ERKLEParams{Beta: erkleBeta, Seed: rng.Uint64()}); err != nil {
			return nil, err
		}
	} else {
		c.x = mat.NewDense(n, cklDim, nil)
		for i := range n {
			for j := range cklDim {
				c.x.Set(i, j, rng.NormFloat64()/2)
			}
		}
	}
	c.selector, err = triplets.NewSelector(rand.NewPCG(rng.Uint64(), rng.Uint64()), n, q)
	return c, err
}

// learn takes more answers.
func (c *chooser) learn(ctx context.Context, ts []metric.Triplet) error {
	for _, t := range ts {
		if err := c.selector.Learn(t); err != nil {
			return err
		}
		if c.erkle == nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := c.erkle.Step(t); err != nil {
			return err
		}
	}
	if c.erkle != nil || len(ts) == 0 {
		return nil
	}
	c.ts = append(c.ts, ts...)
	r, err := triplets.FitCoordinates(ctx, c.rng, c.n, c.ts, triplets.CoordinatesParams{Loss: triplets.CKL, Dim: cklDim, Starts: 1, Iterations: cklIterations, Initial: c.x})
	if err != nil {
		return err
	}
	c.x = r.X
	return nil
}

// kernel is that by which questions are chosen.
func (c *chooser) kernel() mat.Symmetric {
	if c.erkle != nil {
		return c.erkle.Kernel()
	}
	return gramOf(c.x)
}

// gram is XXᵀ, an entry at a time: of few coordinates that is as fast as to look it up.
type gram struct{ x [][cklDim]float64 }

func (g gram) Dims() (r, c int)  { return len(g.x), len(g.x) }
func (g gram) T() mat.Matrix     { return g }
func (g gram) SymmetricDim() int { return len(g.x) }
func (g gram) At(i, j int) (sum float64) {
	a, b := &g.x[i], &g.x[j]
	for c, v := range a {
		sum += v * b[c]
	}
	return sum
}

func gramOf(x *mat.Dense) gram {
	n, _ := x.Dims()
	g := gram{make([][cklDim]float64, n)}
	for i := range g.x {
		copy(g.x[i][:], x.RawRowView(i))
	}
	return g
}
