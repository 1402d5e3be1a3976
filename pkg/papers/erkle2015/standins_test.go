package erkle2015

import (
	"slices"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/experiment"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
)

// The splits have the sizes that the captions name, compare objects that there are, and no answer of a set
// without repetitions stands in two parts.
func TestJudgementsAreSplitAsDeclared(t *testing.T) {
	for _, d := range judgements {
		t.Run(d.name, func(t *testing.T) {
			for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
				env := &experiment.Env{Scale: scale}
				if scale == experiment.Full {
					env.Data = realdata.Store(t, d.dataset)
				}
				s, err := splitOf(env, d.settings(scale), random.Seed{Base: 1, Dataset: d.dataset})
				if err != nil {
					t.Fatal(err)
				}
				c := d.at(scale)
				if s.objects != c.Objects || len(s.train) != c.Train || len(s.validation) != c.Validation || len(s.test) != int(c.Test) {
					t.Errorf("%s: %d objects, %d + %d + %d triplets, want %+v", scale, s.objects, len(s.train), len(s.validation), len(s.test), c)
				}
				seen := map[metric.Triplet]int{}
				for part, ts := range [][]metric.Triplet{s.train, s.validation, s.test} {
					for _, x := range ts {
						if max(x.A, x.Near, x.Far) >= s.objects {
							t.Fatalf("%s: %v of %d objects", scale, x, s.objects)
						}
						if before, ok := seen[x]; ok && before != part && d.name == music && scale == experiment.Full {
							t.Errorf("%v stands in parts %d and %d", x, before, part)
						}
						seen[x] = part
					}
				}
			}
		})
	}
}

// Another trial has another split; the same trial of another experiment has the same one.
func TestSplitsBelongToTrials(t *testing.T) {
	d := judgements[0]
	env := &experiment.Env{Scale: experiment.Smoke}
	of := func(experimentID string, trial int) []metric.Triplet {
		s, err := splitOf(env, d.settings(env.Scale), random.Seed{Base: 1, Experiment: experimentID, Dataset: d.datasetAt(env.Scale), Trial: trial})
		if err != nil {
			t.Fatal(err)
		}
		return s.train
	}
	if !slices.Equal(of(Fig3.ID, 0), of(Tau.ID, 0)) {
		t.Error("fig3 and tau have different splits of one trial")
	}
	if slices.Equal(of(Fig3.ID, 0), of(Fig3.ID, 1)) {
		t.Error("two trials have the same split")
	}
}
