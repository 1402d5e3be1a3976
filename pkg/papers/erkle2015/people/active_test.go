package people

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// activeTable makes up the error of each rule, in per cent of 1,000 comparisons.
func activeTable(wrong map[string]float64) *table.Table {
	tb := experimenttest.Table(Active)
	for _, set := range activeSets {
		for trial := range experimenttest.Trials {
			for _, method := range slices.Concat(activeLearners, otherLearners) {
				for r, rule := range activeRules {
					for _, per := range []string{"10", "20", "40"} {
						v := table.Values{}
						protocol.ErrorCount{Wrong: int(10*wrong[rule]) + (trial+r)%3, Ties: 0, Of: 1000}.Put(v, "test")
						tb.Add(table.Key{"cell": set.name, "trial": strconv.Itoa(trial), "method": method, "rule": rule, "per object": per}, v)
					}
				}
			}
		}
	}
	return tb
}

// The claims compare where the error is measured, at both scales.
func TestActiveClaimsHaveCheckpoints(t *testing.T) {
	for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
		checkpoints := activeOf(scale).At
		last := slices.Max(checkpoints)
		for _, per := range []int{last / 4, last / 2, last} {
			if !slices.Contains(checkpoints, per) {
				t.Errorf("%s: %d answers per object are no checkpoint", scale, per)
			}
		}
	}
	if at := activeClaimsAt(activeTable(nil)); !slices.Equal(at, []string{"10", "20", "40"}) {
		t.Errorf("claims compare at %v", at)
	}
}

// What tests is a fifth of the comparisons, of which none is asked, by whatever rule.
func TestHeldOutIsNotAsked(t *testing.T) {
	const rounds = 14
	s := activeOf(experiment.Smoke)
	n := s.Objects
	seed := random.Seed{Base: 1, Experiment: Active.ID, Dataset: "made"}
	all, err := synthetic.GaussianComparisons(seed.Stream("points"), n, 3)
	if err != nil {
		t.Fatal(err)
	}
	held, err := s.holdOut(all, seed)
	if err != nil {
		t.Fatal(err)
	}
	heldOut := map[triplets.Query]bool{}
	for _, x := range held {
		heldOut[triplets.QueryOf(x)] = true
	}
	if len(heldOut) != all.Len()/5 {
		t.Fatalf("%d comparisons are held out of %d", len(heldOut), all.Len())
	}
	var start []triplets.Query
	for _, rule := range activeRules {
		qs, err := newQuestions(s, rule, held, seed)
		if err != nil {
			t.Fatal(err)
		}
		learner, err := newAsker(s, protocol.PAERKLE, seed)
		if err != nil {
			t.Fatal(err)
		}
		var asked []triplets.Query
		heads := make([]int, n)
		for i := range rounds * n {
			q, err := qs.next(i/n, learner.kernel())
			if err != nil {
				t.Fatal(err)
			}
			if heldOut[q] {
				t.Fatalf("%s: question %d, %v, is held out", rule, i, q)
			}
			asked = append(asked, q)
			heads[q.Head]++
			answer := all.Answer(q.Head, q.B, q.C)
			if err := errors.Join(qs.learn(answer), learner.learn(answer)); err != nil {
				t.Fatal(err)
			}
		}
		for a, of := range heads {
			if of != rounds {
				t.Errorf("%s: object %d is the head of %d questions, want %d", rule, a, of, rounds)
			}
		}
		if start == nil {
			start = asked[:activeFirst*n]
		} else if !slices.Equal(asked[:activeFirst*n], start) {
			t.Errorf("%s: the first questions are its own", rule)
		}
	}
}

func TestAnswersTo(t *testing.T) {
	per, errors := []float64{2, 4, 8}, []float64{40, 30, 20}
	for _, tt := range []struct{ target, want float64 }{{50, 2}, {40, 2}, {35, 3}, {30, 4}, {25, 6}, {20, 8}} {
		if got := answersTo(per, errors, tt.target); got != tt.want {
			t.Errorf("to %v: %v, want %v", tt.target, got, tt.want)
		}
	}
	if got := answersTo(per, errors, 19); !math.IsNaN(got) {
		t.Errorf("to an error that is not reached: %v", got)
	}
}
