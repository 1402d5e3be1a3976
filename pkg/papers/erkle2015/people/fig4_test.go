package people

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/table"
)

// fig4Table is made of test and training errors by method.
func fig4Table(test, train map[string]float64) *table.Table {
	t := experimenttest.Table(Fig4)
	w := answeredWorld{
		wrong: func(part, method, setting string, _ int) float64 {
			if method == variants.TraceFamily.Name && setting != "0.03" {
				return 1 - test[method] // not chosen
			}
			if part == "train" {
				return train[method]
			}
			return test[method]
		},
		rank:   func(string, int) float64 { return 10 },
		chosen: map[string]float64{variants.TraceFamily.Name: .03},
	}
	for _, data := range batch.StandIns {
		w.features = data == protocol.Zappos
		w.fill(t, data, data, []int{100, 400, 1000})
	}
	return t
}

// Claims of the paper are never graded on the stand-ins, and their findings point the right way.
func TestFig4ClaimsPointTheRightWay(t *testing.T) {
	yes := fig4Table(
		map[string]float64{protocol.STEERKLE: .2, protocol.STEERKLETen: .19, protocol.PAERKLE: .25, protocol.PAERKLETen: .24, protocol.GNMDSBatch: .26, protocol.STEBatch: .27, protocol.CKLBatch: .28, protocol.PAFeatures: .1, protocol.PAFeaturesTen: .1, protocol.FeaturesAlone: .3, variants.TraceFamily.Name: .2},
		map[string]float64{protocol.STEERKLE: .2, protocol.STEERKLETen: .19, protocol.PAERKLE: .11, protocol.PAERKLETen: .1, protocol.GNMDSBatch: .26, protocol.STEBatch: .27, protocol.CKLBatch: .28})
	no := fig4Table(
		map[string]float64{protocol.STEERKLE: .4, protocol.STEERKLETen: .39, protocol.PAERKLE: .35, protocol.PAERKLETen: .34, protocol.GNMDSBatch: .26, protocol.STEBatch: .27, protocol.CKLBatch: .28, protocol.PAFeatures: .5, protocol.PAFeaturesTen: .5, protocol.FeaturesAlone: .3, variants.TraceFamily.Name: .4},
		map[string]float64{protocol.STEERKLE: .2, protocol.STEERKLETen: .19, protocol.PAERKLE: .41, protocol.PAERKLETen: .4, protocol.GNMDSBatch: .26, protocol.STEBatch: .27, protocol.CKLBatch: .28})
	for _, c := range batch.Fig4Claims {
		for _, w := range []struct {
			t    *table.Table
			want judge.Verdict
		}{{yes, judge.Reproduced}, {no, judge.NotReproduced}} {
			f := experimenttest.Judge(t, batch.Fig4Claims, c.ID, w.t, nil)
			if strings.HasPrefix(c.Statement, "Ours") {
				if f.Verdict != w.want {
					t.Errorf("%s: %s, want %s: %s", c.ID, f.Verdict, w.want, f.Reason)
				}
				continue
			}
			if f.Verdict != judge.Untestable {
				t.Errorf("%s: %s on stand-ins, want no verdict", c.ID, f.Verdict)
			}
			if begin := "On the stand-ins it would be \"" + string(w.want) + "\"."; !strings.HasPrefix(f.Reason, begin) {
				t.Errorf("%s: %q, want it to begin with %q", c.ID, f.Reason, begin)
			}
		}
	}
}

// The distances of the scaled Gram matrix are those of the rows, but for a factor; their squares are 2 on average.
func TestScaledGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n, d = 6, 9
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, 5+rng.NormFloat64())
		}
	}
	k := protocol.ScaledGram(x)
	sq := func(i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
	row := func(i, j int) float64 {
		var s float64
		for l := range d {
			s += (x.At(i, l) - x.At(j, l)) * (x.At(i, l) - x.At(j, l))
		}
		return s
	}
	const tol = 1e-12 // ≈ d·ε of numbers near 2
	var mean float64
	for i := range n {
		for j := range n {
			mean += sq(i, j) / (n * (n - 1))
			if q := sq(i, j)/row(i, j) - sq(0, 1)/row(0, 1); i != j && math.Abs(q) > tol {
				t.Errorf("objects %d and %d: quotient of distances differs by %v", i, j, q)
			}
		}
	}
	if math.Abs(mean-2) > tol {
		t.Errorf("mean squared distance %v, want 2", mean)
	}
	if _, err := triplets.NewERKLE(n, triplets.ERKLEParams{Initial: k}); err != nil {
		t.Errorf("ERKLE refuses it: %v", err)
	}
}
