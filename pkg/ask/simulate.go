package ask

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Plan says what Simulate does.
type Plan struct {
	// Choose is compared with random questions. Random is the share of random ones beside the chosen ones.
	Choose Choice
	Random float64
	// Answers is how many are given in each trial; 0 means 20 for each item, of people's own answers at most half of the questions.
	Answers int
	// Trials is the number of pairs of trials, at least 6; 0 means 10.
	Trials int
	// Flip is the probability that an answer by vectors is the opposite, from 0 to 1.
	Flip float64
	// Seed is the origin of all that is drawn.
	Seed uint64
	// Progress, if not nil, is told of each trial.
	Progress func(done, total int)
}

// Curve is what Simulate returns: errors are shares of held-out answers that a map in the plane contradicts, a tie as half of one.
type Curve struct {
	// Answers are the numbers of answers after which errors are taken.
	Answers []int
	// Random and Chosen are the errors by trial and number of answers. The trials of one index have the same held-out answers.
	Random, Chosen [][]float64
}

// Less returns by how much the error of random questions exceeds that of chosen ones, in the mean over the curve, with the 95 % interval over pairs
// of trials. Choosing pays where the interval lies above 0.
func (c Curve) Less() judge.Summary {
	var out []float64
	for t := range c.Random {
		out = append(out, judge.Summarize(judge.Minus(c.Random[t], c.Chosen[t])).Mean)
	}
	return judge.Summarize(out)
}

// At summarises errors at one number of answers over trials.
func At(errors [][]float64, i int) judge.Summary {
	var out []float64
	for _, trial := range errors {
		out = append(out, trial[i])
	}
	return judge.Summarize(out)
}

// stops is the number of points of a Curve, testedVectors how many held-out questions about vectors score each.
const (
	stops         = 8
	testedVectors = 2000
)

// world gives the answers of a trial.
type world struct {
	test   []metric.Triplet
	answer func(q triplets.Query) metric.Triplet
	open   map[int][]triplets.Query // questions of each head that have an answer and were not asked; nil if all have
}

// SimulateVectors asks somebody who answers by the Euclidean distances of the rows of x.
func SimulateVectors(ctx context.Context, x mat.Matrix, p Plan) (Curve, error) {
	xd := matrix.Given("ask: SimulateVectors: x", x)
	n, _ := xd.Dims()
	return simulate(ctx, n, 20*n, p, func(rng *rand.Rand) (world, error) {
		who, err := triplets.NewPointRespondent(rand.NewPCG(rng.Uint64(), rng.Uint64()), xd, p.Flip)
		if err != nil {
			return world{}, fmt.Errorf("ask: %w", err)
		}
		truth, err := triplets.NewPointRespondent(rand.NewPCG(rng.Uint64(), rng.Uint64()), xd, 0)
		if err != nil {
			return world{}, fmt.Errorf("ask: %w", err)
		}
		w := world{answer: who.Answer}
		for range testedVectors {
			w.test = append(w.test, truth.Answer(randomQuery(rng, n)))
		}
		return w, nil
	})
}

func randomQuery(rng *rand.Rand, n int) triplets.Query {
	for {
		if a, b, c := rng.IntN(n), rng.IntN(n), rng.IntN(n); a != b && a != c && b < c {
			return triplets.Query{Head: a, B: b, C: c}
		}
	}
}

// SimulateAnswers asks people whose answers about n items are there already: only those can be asked. A fifth of the questions is held out in each
// trial.
func SimulateAnswers(ctx context.Context, n int, ts []metric.Triplet, p Plan) (Curve, error) {
	said := map[triplets.Query][]metric.Triplet{}
	var questions []triplets.Query
	for i, t := range ts {
		if err := triplets.Check(n, t); err != nil {
			return Curve{}, fmt.Errorf("ask: comparison %d: %w", i, err)
		}
		q := triplets.QueryOf(t)
		if said[q] == nil {
			questions = append(questions, q)
		}
		said[q] = append(said[q], t)
	}
	if len(questions) < 10 {
		return Curve{}, fmt.Errorf("ask: answers to %d questions, want at least 10", len(questions))
	}
	return simulate(ctx, n, min(20*n, len(questions)/2), p, func(rng *rand.Rand) (world, error) {
		order := slices.Clone(questions)
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		w := world{open: map[int][]triplets.Query{}, answer: func(q triplets.Query) metric.Triplet { return said[q][rng.IntN(len(said[q]))] }}
		for i, q := range order {
			if i < len(order)/folds {
				w.test = append(w.test, said[q]...)
			} else {
				w.open[q.Head] = append(w.open[q.Head], q)
			}
		}
		return w, nil
	})
}

func simulate(ctx context.Context, n, usual int, p Plan, begin func(*rand.Rand) (world, error)) (Curve, error) {
	if p.Answers == 0 {
		p.Answers = usual
	}
	if p.Trials == 0 {
		p.Trials = 10
	}
	q := Params{Choose: p.Choose, Random: p.Random}
	switch err := q.check(n); {
	case err != nil:
		return Curve{}, err
	case p.Choose == ChoiceRandom:
		return Curve{}, errors.New("ask: random questions are what a choice is compared with: want another one")
	case p.Trials < 6:
		return Curve{}, fmt.Errorf("ask: %d trials are not allowed, want at least 6", p.Trials)
	case p.Answers < stops:
		return Curve{}, fmt.Errorf("ask: %d answers are not allowed, want at least %d", p.Answers, stops)
	}
	var c Curve
	for i := range stops {
		c.Answers = append(c.Answers, p.Answers*(i+1)/stops)
	}
	for trial := range p.Trials {
		for arm, random := range []float64{1, p.Random} {
			rng := rand.New(rand.NewPCG(p.Seed, uint64(trial))) // the same world for both
			w, err := begin(rng)
			if err != nil {
				return Curve{}, err
			}
			errs, err := w.run(ctx, rng, n, Params{Choose: p.Choose, Random: random}, c.Answers)
			if err != nil {
				return Curve{}, err
			}
			if arm == 0 {
				c.Random = append(c.Random, errs)
			} else {
				c.Chosen = append(c.Chosen, errs)
			}
		}
		if p.Progress != nil {
			p.Progress(trial+1, p.Trials)
		}
	}
	return c, nil
}

// between is how many answers come before a choice learns from them: those of people who answer at once.
const between = 8

// run asks until the last of stops, and returns the error at each.
func (w *world) run(ctx context.Context, rng *rand.Rand, n int, p Params, stops []int) ([]float64, error) {
	ch, err := newChooser(rand.NewPCG(rng.Uint64(), rng.Uint64()), n, p)
	if err != nil {
		return nil, err
	}
	var ts, news []metric.Triplet
	var out []float64
	for len(out) < len(stops) {
		q, ok := w.next(rng, n, p.Random, ch)
		if !ok {
			return nil, fmt.Errorf("ask: only %d answers are there to be asked for, want %d", len(ts), stops[len(stops)-1])
		}
		t := w.answer(q)
		ts, news = append(ts, t), append(news, t)
		if p.Random < 1 && len(news) == between {
			if err := ch.learn(ctx, news); err != nil {
				return nil, err
			}
			news = nil
		}
		if len(ts) == stops[len(out)] {
			answers := make([]Answer, len(ts))
			for i, t := range ts {
				answers[i] = Answer{Question: Question{Items: [3]int{t.A, t.Near, t.Far}}, Said: 1}
			}
			m, err := fitPlane(ctx, n, KindCompare, answers, func(int) bool { return true })
			if err != nil {
				return nil, err
			}
			var wrong float64
			for _, t := range w.test {
				wrong += m.wrong(Answer{Question: Question{Items: [3]int{t.A, t.Near, t.Far}}, Said: 1}, KindCompare)
			}
			out = append(out, wrong/float64(len(w.test)))
		}
	}
	return out, nil
}

// next returns a question, and false if none is left.
func (w *world) next(rng *rand.Rand, n int, share float64, ch *chooser) (triplets.Query, bool) {
	random := rng.Float64() < share
	if w.open == nil {
		if random {
			return randomQuery(rng, n), true
		}
		return ch.selector.Next(ch.kernel()), true
	}
	left := 0
	for head := range n {
		left += len(w.open[head])
	}
	if left == 0 {
		return triplets.Query{}, false
	}
	head, at := 0, rng.IntN(left) // of all questions one
	for ; at >= len(w.open[head]); head++ {
		at -= len(w.open[head])
	}
	of := w.open[head]
	if !random {
		at = slices.Index(of, ch.selector.Among(ch.kernel(), of))
	}
	q := of[at]
	of[at] = of[len(of)-1]
	w.open[head] = of[:len(of)-1]
	return q, true
}
