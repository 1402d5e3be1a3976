package variants

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// flipsTable makes up errors per thousand by method and share; on validation triplets the threshold valid is the best.
func flipsTable(valid string, wrong func(method string, share float64) float64) *table.Table {
	tb := experimenttest.Table(Flips)
	for _, share := range flipShares {
		for trial := range experimenttest.Trials {
			for m, method := range flipOnline {
				v := table.Values{}
				protocol.ErrorCount{Wrong: int(wrong(method, share)) + (trial+m)%3, Ties: 0, Of: 1000}.Put(v, "test")
				onValidation := 500
				if method == valid {
					onValidation = 100
				}
				protocol.ErrorCount{Wrong: onValidation, Ties: 0, Of: 1000}.Put(v, "validation")
				tb.Add(table.Key{"cell": flipName(share), "trial": strconv.Itoa(trial), "method": method, "share": table.Format(share)}, v)
			}
		}
	}
	return tb
}

// Who is no better than chance without flipped answers has nothing to lose.
func TestFlipsShareNeedsSomethingToLose(t *testing.T) {
	tb := flipsTable(protocol.PARejectsA, func(string, float64) float64 { return 500 })
	for _, c := range flipsClaims {
		if c.ID == "flips-degrades" {
			if f, err := c.Judge(tb, nil); err == nil {
				t.Errorf("no error: %v", f)
			}
		}
	}
}

// The threshold is chosen on validation, not on test triplets.
func TestRejectionIsChosenOnValidation(t *testing.T) {
	wrong := func(method string, share float64) float64 {
		switch method {
		case protocol.PARejectsA:
			return 50
		case protocol.PARejectsC:
			return 400
		}
		return 200
	}
	if f := experimenttest.Judge(t, flipsClaims, "flips-rejection", flipsTable(protocol.PARejectsA, wrong), nil); f.Verdict != judge.Reproduced {
		t.Errorf("validation chooses the good one: %s", f.Verdict)
	}
	if f := experimenttest.Judge(t, flipsClaims, "flips-rejection", flipsTable(protocol.PARejectsC, wrong), nil); f.Verdict != judge.NotReproduced {
		t.Errorf("validation chooses the bad one: %s", f.Verdict)
	}
}

func TestFlipped(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ts := experimenttest.Must(experimenttest.Must(synthetic.GaussianComparisons(rng, 25, 3)).Sample(rng, 5000))[0]
	kept := slices.Clone(ts)
	var before []bool
	for _, share := range []float64{0, .05, .3, 1} {
		out := protocol.Flipped(rand.New(rand.NewPCG(3, 4)), ts, share)
		is := make([]bool, len(ts))
		n := 0
		for i, x := range out {
			is[i] = x != ts[i]
			if is[i] {
				n++
				if x != (metric.Triplet{A: ts[i].A, Near: ts[i].Far, Far: ts[i].Near}) {
					t.Fatalf("%v became %v", ts[i], x)
				}
			}
			if before != nil && before[i] && !is[i] {
				t.Fatalf("triplet %d is flipped at a smaller share only", i)
			}
		}
		// Five standard deviations of a share of 5,000, at most ½/√5000.
		if got := float64(n) / float64(len(ts)); math.Abs(got-share) > .036 {
			t.Errorf("share %v: %v are flipped", share, got)
		}
		before = is
	}
	if !slices.Equal(ts, kept) {
		t.Error("the triplets were changed")
	}
}
