package variants

import (
	"slices"
	"strconv"
	"testing"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// denoiseTable makes up errors per thousand by handling and passes; on validation triplets the threshold valid is the best.
func denoiseTable(valid string, wrong func(handling string, passes int) int) *table.Table {
	tb := experimenttest.Table(Denoise)
	for _, share := range flipShares {
		for trial := range experimenttest.Trials {
			for _, passes := range denoisePasses {
				for m, name := range slices.Concat([]string{handleNone, handleDenoise}, handleRejects) {
					v := table.Values{}
					protocol.ErrorCount{Wrong: wrong(name, passes) + (trial+m)%3, Ties: 0, Of: 1000}.Put(v, "test")
					onValidation := 500
					if name == valid {
						onValidation = 100
					}
					protocol.ErrorCount{Wrong: onValidation, Ties: 0, Of: 1000}.Put(v, "validation")
					tb.Add(table.Key{"cell": flipName(share), "trial": strconv.Itoa(trial), "handling": name, "passes": strconv.Itoa(passes), "share": table.Format(share)}, v)
				}
			}
		}
	}
	return tb
}

func TestDenoiseClaims(t *testing.T) {
	good, bad := handleReject(.15), handleReject(.3)
	wrong := func(denoised, denoisedTen int) func(string, int) int {
		return func(handling string, passes int) int {
			switch {
			case handling == handleDenoise && passes == 1:
				return denoised
			case handling == handleDenoise:
				return denoisedTen
			case handling == good:
				return 100
			case handling == bad:
				return 400
			}
			return 300
		}
	}
	for _, c := range []struct {
		claim, valid string
		one, ten     int
		want         judge.Verdict
		agree        int // of two readings
	}{
		{"denoise-helps", good, 200, 200, judge.Reproduced, 2},
		{"denoise-helps", good, 350, 350, judge.NotReproduced, 2},
		{"denoise-helps", good, 200, 350, judge.Reproduced, 1},
		// The threshold is chosen on validation, not on test triplets.
		{"denoise-reject", bad, 200, 200, judge.Reproduced, 2},
		{"denoise-reject", good, 200, 200, judge.NotReproduced, 2},
		{"denoise-reject", bad, 200, 450, judge.Reproduced, 1},
	} {
		if f := experimenttest.Judge(t, denoiseClaims, c.claim, denoiseTable(c.valid, wrong(c.one, c.ten)), nil); f.Verdict != c.want || (judge.ReadingFinding{Finding: f}).Robustness().Agree != c.agree {
			t.Errorf("%s, %d and %d of 1000: %s, want %s: %s", c.claim, c.one, c.ten, f.Verdict, c.want, f.Reason)
		}
	}
}
