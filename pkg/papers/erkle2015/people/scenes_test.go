package people

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// scenesTable makes up errors per thousand: of the parts by method, of adaptive answers and, beside them, of random ones. Batch
// methods have a second τ, which is far worse on validation triplets and by second on the others.
func scenesTable(test, train map[string]int, adaptive, held, second int) *table.Table {
	tb := experimenttest.Table(Scenes)
	for _, data := range batch.StandIns {
		for trial := range experimenttest.Trials {
			for _, answers := range []string{collectionName(askedAdaptive, 3600), collectionName(askedAdaptive, 5200), collectionName(askedRandom, 3600)} {
				for m, method := range learning.AllMethods {
					for _, size := range []string{"100", "250", "500", "1000"} {
						add := func(tau string, test, train, validation, held int) {
							v := table.Values{heldWrong: float64(held + (trial+m)%3), heldCount: 1000}
							protocol.ErrorCount{Wrong: test + (trial+m)%3, Ties: 0, Of: 1000}.Put(v, "test")
							protocol.ErrorCount{Wrong: train + (trial+m)%3, Ties: 0, Of: 1000}.Put(v, "train")
							protocol.ErrorCount{Wrong: validation, Ties: 0, Of: 1000}.Put(v, "validation")
							tb.Add(table.Key{"cell": data, "trial": strconv.Itoa(trial), "answers": answers, "method": method, "tau": tau, "triplets": size}, v)
						}
						wrong, random := test[method], 500
						if strings.HasPrefix(answers, askedAdaptive) {
							wrong, random = wrong+adaptive, random-held
						}
						if !learning.IsBatch(method) {
							add("", wrong, train[method], 0, random)
							continue
						}
						add("1", wrong, train[method], 100, random)
						add("10", wrong+second, train[method]+second, 900, random)
					}
				}
			}
		}
	}
	return tb
}

// τ is chosen per trial, on the part that the rule names.
func TestScenesTau(t *testing.T) {
	tb := scenesTable(map[string]int{protocol.GNMDSBatch: 300}, nil, 0, 0, -20)
	of := tb.Where("cell", protocol.Material)
	for rule, want := range map[string]string{protocol.ByValidation: "1", protocol.ByTest: "10"} {
		if got := scenesBy(askedRandom, 0, rule).Rows(protocol.Material, protocol.GNMDSBatch)(of).Unique("tau"); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: τ = %v, want %s", rule, got, want)
		}
	}
	choices := scenesChoices(tb)
	if want := len(batch.StandIns) * 3 * len(protocol.Batches); len(choices) != want {
		t.Errorf("%d choices, want %d", len(choices), want)
	}
	if err := experimenttest.Refused(func() { scenesBy(askedRandom, 1, protocol.ByTest).Rows(protocol.Material, protocol.GNMDSBatch)(of) }); err == nil {
		t.Error("a second number of random answers is there")
	}
}

// Answers are asked for once, none that is held out, about each object in turn. The first are the same however it goes on. Then
// each is one of the greatest gain among all that can be asked for, if all are weighed.
func TestCollect(t *testing.T) {
	const rounds = 8
	s := Scenes.Cells(experiment.Smoke)[0].Settings.(scenesSettings)
	s.Candidates = 1000
	n, ctx := s.Objects, context.Background()
	env := &experiment.Env{Scale: experiment.Smoke}
	seed := random.Seed{Base: 5, Experiment: Scenes.ID, Dataset: "made"}
	pool, held, err := s.pool(env, seed)
	if err != nil {
		t.Fatal(err)
	}
	if len(held) != s.Held {
		t.Errorf("%d answers are held out, want %d", len(held), s.Held)
	}
	adaptive, err1 := s.collect(ctx, askedAdaptive, pool, rounds*n, seed)
	random, err2 := s.collect(ctx, askedRandom, pool, rounds*n, seed)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(adaptive[:s.First*n], random[:s.First*n]) {
		t.Error("the first questions depend on what follows")
	}
	for how, asked := range map[string][]metric.Triplet{askedAdaptive: adaptive, askedRandom: random} {
		seen := map[triplets.Query]bool{}
		for _, h := range held {
			seen[triplets.QueryOf(h)] = true
		}
		for i, a := range asked {
			if q := triplets.QueryOf(a); seen[q] {
				t.Errorf("%s: answer %d is held out or asked for again", how, i)
			} else {
				seen[q] = true
			}
			if a.A != i%n {
				t.Errorf("%s: answer %d is about object %d, want %d", how, i, a.A, i%n)
			}
		}
	}
	from := s.First * n
	r, err := triplets.FitBatch(ctx, n, adaptive[:from], triplets.BatchParams{Loss: triplets.CKL, Tau: float64(s.AskTau), Iterations: s.AskIterations, Tol: s.Tol})
	if err != nil {
		t.Fatal(err)
	}
	judged, err := triplets.NewSelector(seed.PCG("other"), n, triplets.SelectorParams{Rule: triplets.SelectInformationGain, Model: triplets.AnswerCrowd})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range adaptive[:from] {
		if err := judged.Learn(a); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range adaptive[from : from+n] { // answers about other heads change no gain
		got := judged.Gain(r.Kernel, triplets.QueryOf(a))
		for _, other := range pool[a.A] {
			if slices.Contains(adaptive[:from], other) {
				continue
			}
			if more := judged.Gain(r.Kernel, triplets.QueryOf(other)); more > got+1e-9 {
				t.Errorf("object %d: gain %v, and %v of another question", a.A, got, more)
			}
		}
	}
	if _, err := s.collect(ctx, askedRandom, pool, n*n*n, seed); err == nil || !strings.Contains(err.Error(), "the pool has") {
		t.Errorf("more answers than there are: %v", err)
	}
}
