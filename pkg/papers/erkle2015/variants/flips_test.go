package variants

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
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

func TestFlipsClaimsPointTheRightWay(t *testing.T) {
	of := func(ste, pa, rejecting float64) *table.Table {
		return flipsTable(protocol.PARejectsB, func(method string, share float64) float64 {
			switch method {
			case protocol.STEERKLE, protocol.STEERKLETen:
				return 100 + ste*share
			case protocol.PARejectsB:
				return 100 + rejecting*share
			}
			return 100 + pa*share
		})
	}
	yes, no := of(900, 600, 300), of(300, 600, 900)
	for _, c := range flipsClaims {
		if f := experimenttest.Judge(t, flipsClaims, c.ID, yes, nil); f.Verdict != judge.Reproduced {
			t.Errorf("%s on a supporting table: %s: %s", c.ID, f.Verdict, f.Reason)
		}
		if f := experimenttest.Judge(t, flipsClaims, c.ID, no, nil); f.Verdict != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s: %s", c.ID, f.Verdict, f.Reason)
		}
	}
}

// Growth is from no flipped answers: a method that is worse throughout by the same amount does not degrade faster.
func TestFlipsGrowthIsFromClean(t *testing.T) {
	tb := flipsTable(protocol.PARejectsA, func(method string, share float64) float64 {
		if method == protocol.STEERKLE || method == protocol.STEERKLETen {
			return 300 + 300*share // of 200 to lose: 1.5 per share
		}
		return 100 + 800*share // of 400: 2
	})
	if f := experimenttest.Judge(t, flipsClaims, "flips-degrades", tb, nil); f.Verdict != judge.NotReproduced {
		t.Errorf("growth: %s", f.Verdict)
	}
	if f := experimenttest.Judge(t, flipsClaims, "flips-lower", tb, nil); f.Verdict != judge.Reproduced {
		t.Errorf("level: %s", f.Verdict)
	}
}

// A method that is better without flipped answers has more to lose: it may grow by more points and lose the smaller share of them.
func TestFlipsGrowthAsShare(t *testing.T) {
	tb := flipsTable(protocol.PARejectsA, func(method string, share float64) float64 {
		if method == protocol.STEERKLE || method == protocol.STEERKLETen {
			return 400 + 300*share // of 100 to lose: 3 per share
		}
		return 100 + 600*share // of 400: 1.5
	})
	f := experimenttest.Judge(t, flipsClaims, "flips-degrades", tb, nil)
	if f.Verdict != judge.Partly || !strings.Contains(f.Reason, "2 reproduced, 2 not reproduced") {
		t.Errorf("growth in points and as a share: %s: %s", f.Verdict, f.Reason)
	}
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
