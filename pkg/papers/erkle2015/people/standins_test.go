package people

import (
	"slices"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/experiment"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
)

// The splits have the sizes that the captions name, compare objects that there are, and no answer of a set
// without repetitions stands in two parts.
func TestAnswersAreSplitAsDeclared(t *testing.T) {
	for _, d := range protocol.Answered {
		t.Run(d.Name, func(t *testing.T) {
			for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
				env := &experiment.Env{Scale: scale}
				if scale == experiment.Full {
					env.Data = realdata.Store(t, d.Dataset)
				}
				s, err := protocol.SplitOf(env, d.Settings(scale), random.Seed{Base: 1, Dataset: d.Dataset})
				if err != nil {
					t.Fatal(err)
				}
				c := d.At(scale)
				if s.Objects != c.Objects || len(s.Train) != c.Train || len(s.Validation) != c.Validation || len(s.Test) != int(c.Test) {
					t.Errorf("%s: %d objects, %d + %d + %d triplets, want %+v", scale, s.Objects, len(s.Train), len(s.Validation), len(s.Test), c)
				}
				seen := map[metric.Triplet]int{}
				for part, ts := range [][]metric.Triplet{s.Train, s.Validation, s.Test} {
					for _, x := range ts {
						if max(x.A, x.Near, x.Far) >= s.Objects {
							t.Fatalf("%s: %v of %d objects", scale, x, s.Objects)
						}
						if before, ok := seen[x]; ok && before != part && d.Name == protocol.Music && scale == experiment.Full {
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
	d := protocol.Answered[0]
	env := &experiment.Env{Scale: experiment.Smoke}
	of := func(experimentID string, trial int) []metric.Triplet {
		s, err := protocol.SplitOf(env, d.Settings(env.Scale), random.Seed{Base: 1, Experiment: experimentID, Dataset: d.DatasetAt(env.Scale), Trial: trial})
		if err != nil {
			t.Fatal(err)
		}
		return s.Train
	}
	if !slices.Equal(of(Fig3.ID, 0), of(batch.Tau.ID, 0)) {
		t.Error("fig3 and tau have different splits of one trial")
	}
	if slices.Equal(of(Fig3.ID, 0), of(Fig3.ID, 1)) {
		t.Error("two trials have the same split")
	}
}
