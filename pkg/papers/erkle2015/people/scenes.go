package people

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// activeFirst is the number of answers per object to random questions, with which all rules start, as the answers of Section 5.4
// did.
const activeFirst = 6

// Scenes asks for the answers of Fig. 4 as Section 5.4 did: random questions first, then rounds of adaptively chosen ones.
var Scenes = experiment.Spec{
	ID:      "erkle2015/scenes",
	Title:   "Few answers to questions asked as Section 5.4 did: at random first, then in adaptive rounds",
	Source:  "Section 5.4",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, name := range batch.StandIns {
			d := protocol.DataSetOf(name)
			s := scenesSettings{
				Data: name, Counts: d.At(scale), First: activeFirst, Totals: []int{3600, 5200}, Held: 1000, Candidates: 300,
				AskTau: activeTau, AskIterations: activeIterations, Sizes: []int{100, 250, 500, 750, 1000}, Taus: scenesTaus, Iterations: protocol.ConvergedIterations, Tol: protocol.BatchTol,
			}
			if scale == experiment.Smoke {
				s.Totals, s.Held, s.Candidates, s.Sizes, s.Taus = []int{190, 220}, 60, 20, []int{30, 80}, protocol.List[float64]{.1, 1}
			}
			methods := map[string]int{"ERKLE": triplets.ERKLEVersion, "batch": triplets.BatchVersion, "batch, factored": triplets.BatchFactoredVersion, "selector": triplets.SelectorVersion}
			cells = append(cells, d.Cell(scale, name, s, methods))
		}
		return cells
	},
	Trials:  experiment.Trials(10),
	Columns: scenesColumns,
	Trial:   scenesTrial,
	Views:   scenesViews,
	Claims:  scenesClaims,
	Choices: scenesChoices,
	Cost:    20 * time.Second,
}

// scenesSettings are those of a cell.
type scenesSettings struct {
	Data string `key:"data"` // the name of a protocol.DataSet
	protocol.Counts
	First  int   `key:"random answers per object"`
	Totals []int `key:"answers,list"` // the paper's total, and what its rounds sum up to
	// Held is the number of random answers that are never asked for.
	Held int `key:"random test"`
	// Candidates is how many questions about an object are weighed per round, random ones of those that have an answer.
	Candidates    int                    `key:"candidates"`
	AskTau        int                    `key:"τ of CKL"`          // whose kernel chooses the questions
	AskIterations int                    `key:"iterations of CKL"` // per round
	Sizes         []int                  `key:"sizes,list"`
	Taus          protocol.List[float64] `key:"tau"`
	Iterations    int                    `key:"iterations"`
	Tol           float64                `key:"tolerance"`
}

// collectionName is that of the first answers of those that were collected in a way.
func collectionName(how string, total int) string { return fmt.Sprintf("%s, %d answers", how, total) }

var scenesColumns = slices.Concat(experiment.Columns{
	experiment.Text("answers", "how the answers were asked for that are divided into the parts, and how many there are"),
	experiment.Text("method", "the learner"),
	experiment.Text("tau", "weight τ of the trace of a batch method; empty for ERKLE"),
	experiment.Text("triplets", "number of training triplets seen"),
}, protocol.ErrorColumns("test"), protocol.ErrorColumns("train"), protocol.ErrorColumns("validation"), experiment.Columns{
	experiment.Number(heldWrong, "", "of random answers that were never asked for, those that the kernel does not satisfy, ties among them"),
	experiment.Number(heldCount, "", "how many such answers there are"),
	experiment.Number("iterations", "", "iterations of a batch fit"),
	experiment.Number("residual", "", learning.GapMeaning),
})

func scenesTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(scenesSettings)
	pool, held, err := s.pool(run.Env, run.Seed)
	if err != nil {
		return err
	}
	for _, how := range []string{askedAdaptive, askedRandom} {
		totals := s.Totals
		if how == askedRandom {
			totals = totals[:1]
		}
		asked, err := s.collect(ctx, how, pool, slices.Max(totals), run.Seed)
		if err != nil {
			return fmt.Errorf("%s: %w", how, err)
		}
		for _, total := range totals {
			name := collectionName(how, total)
			parts, err := sample.SplitTriplets(run.Seed.Stream("split of "+name), asked[:total], s.Train, s.Validation, int(s.Test))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			drawn := protocol.Split{Objects: s.Objects, Train: parts[0], Validation: parts[1], Test: parts[2]}
			if err := s.learn(ctx, drawn, held, run.Seed, func(method, tau string, seen int, v table.Values) {
				run.Rows.Add(table.Key{"answers": name, "method": method, "tau": tau, "triplets": strconv.Itoa(seen)}, v)
			}); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// pool returns the answers of a data set that can be asked for, by head, and those that are held out. Of several answers to a
// question one is kept.
func (s scenesSettings) pool(env *experiment.Env, seed random.Seed) (byHead [][]metric.Triplet, held []metric.Triplet, err error) {
	var all []metric.Triplet
	if env.Scale == experiment.Smoke {
		n := s.Objects
		made, err := protocol.NoisyAnswers(protocol.SharedSeed(seed), protocol.Counts{Objects: n, Train: n * (n - 1) * (n - 2) / 2})
		if err != nil {
			return nil, nil, err
		}
		all = made.Train
	} else {
		set, err := env.Data.Triplets(seed.Dataset)
		if err != nil {
			return nil, nil, err
		}
		if set.Objects != s.Objects {
			return nil, nil, fmt.Errorf("erkle2015: %s: %d objects, want %d", s.Data, set.Objects, s.Objects)
		}
		all = set.Triplets
	}
	parts, err := sample.SplitTriplets(seed.Stream("order of all answers"), all, len(all))
	if err != nil {
		return nil, nil, err
	}
	byHead = make([][]metric.Triplet, s.Objects)
	seen := make(map[triplets.Query]struct{}, len(all))
	for _, t := range parts[0] {
		q := triplets.QueryOf(t)
		if _, again := seen[q]; again {
			continue
		}
		seen[q] = struct{}{}
		if len(held) < s.Held {
			held = append(held, t)
			continue
		}
		byHead[t.A] = append(byHead[t.A], t)
	}
	return byHead, held, nil
}

// collect asks for answers of the pool: about each object in turn, First random ones and then, with adaptive questions, those of the
// greatest information gain under the kernel that CKL fits to all answers before each round. An object without answers left is passed over.
func (s scenesSettings) collect(ctx context.Context, how string, pool [][]metric.Triplet, total int, seed random.Seed) ([]metric.Triplet, error) {
	chooser, err := triplets.NewSelector(seed.PCG("choice"), s.Objects, triplets.SelectorParams{Rule: triplets.SelectInformationGain, Model: triplets.AnswerCrowd})
	if err != nil {
		return nil, err
	}
	rng := seed.Stream("questions")
	left := make([][]metric.Triplet, len(pool))
	for head := range pool {
		left[head] = slices.Clone(pool[head])
	}
	fit := triplets.BatchParams{Loss: triplets.CKL, Tau: float64(s.AskTau), Iterations: s.AskIterations, Tol: s.Tol}
	var asked []metric.Triplet
	for round := 0; ; round++ {
		adaptive := how == askedAdaptive && round >= s.First
		if adaptive {
			r, err := triplets.FitBatch(ctx, s.Objects, asked, fit)
			if err != nil {
				return nil, err
			}
			fit.Initial = r.Kernel
		}
		before := len(asked)
		for head := range left {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if len(asked) == total {
				return asked, nil
			}
			if len(left[head]) == 0 {
				continue
			}
			weighed := 1
			if adaptive {
				weighed = s.Candidates
			}
			i := choose(rng, chooser, fit.Initial, left[head], weighed)
			t := left[head][i]
			left[head] = slices.Delete(left[head], i, i+1)
			asked = append(asked, t)
			if err := chooser.Learn(t); err != nil {
				return nil, err
			}
		}
		if len(asked) == before {
			return nil, fmt.Errorf("erkle2015: the pool has %d answers, want %d", before, total)
		}
	}
}

// choose puts so many random ones of left first and returns which of them has the greatest information gain.
func choose(rng *rand.Rand, chooser *triplets.Selector, k mat.Symmetric, left []metric.Triplet, weighed int) int {
	weighed = min(weighed, len(left))
	for i := range weighed {
		j := i + rng.IntN(len(left)-i)
		left[i], left[j] = left[j], left[i]
	}
	if weighed == 1 {
		return 0
	}
	qs := make([]triplets.Query, weighed)
	for i, t := range left[:weighed] {
		qs[i] = triplets.QueryOf(t)
	}
	return slices.Index(qs, chooser.Among(k, qs))
}

// learn runs all methods on a split and calls add after each size.
func (s scenesSettings) learn(ctx context.Context, d protocol.Split, held []metric.Triplet, seed random.Seed, add func(method, tau string, seen int, v table.Values)) error {
	measure := func(k mat.Symmetric, seen int) table.Values {
		v, c := d.ErrorsAfter(seen, k), protocol.ErrorsOf(k, held)
		v[heldWrong], v[heldCount] = float64(c.Wrong), float64(c.Of)
		return v
	}
	if err := batch.FollowERKLE(ctx, d, seed, s.Sizes, func(method string, seen int, k mat.Symmetric) { add(method, "", seen, measure(k, seen)) }); err != nil {
		return err
	}
	for _, b := range protocol.Batches {
		for _, tau := range s.Taus {
			p := triplets.BatchParams{Loss: b.Loss, Tau: tau, Iterations: s.Iterations, Tol: s.Tol}
			if err := protocol.FitPath(ctx, d, s.Sizes, p, func(seen int, r triplets.BatchResult) {
				v := measure(r.Kernel, seen)
				v["iterations"], v["residual"] = float64(r.Iterations), r.Residual
				add(b.Name, table.Format(tau), seen, v)
			}); err != nil {
				return fmt.Errorf("%s, τ = %v: %w", b.Name, tau, err)
			}
		}
	}
	return nil
}
