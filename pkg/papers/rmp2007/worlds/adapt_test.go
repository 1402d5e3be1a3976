package worlds

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

func adaptTable(later map[string]float64, least map[string]float64) *table.Table {
	tb := experimenttest.Table(Adapt)
	for trial := range experimenttest.Trials {
		for _, w := range adaptWorlds {
			for _, m := range protocol.FeatureCounts {
				for _, method := range []string{protocol.RMPPrinted, protocol.RMPCorrected, rmpOneSwap, rmpCorrectedSwap, bestExchange} {
					for part := 1; part <= adaptParts; part++ {
						loss, kept := 50.0, 1.0
						if part > adaptParts/2 {
							loss = later[method] * (1 + .001*float64(trial%3))
						}
						if part == adaptParts {
							kept = least[method]
						}
						tb.Add(table.Key{"cell": w.name, "trial": strconv.Itoa(trial), "method": method, "m": strconv.Itoa(m), "round": strconv.Itoa(8 * part)},
							table.Values{"loss": loss, "pixels": 784, "kept": 1, "least_kept": kept})
					}
				}
			}
		}
	}
	return tb
}

// "Can" asks for one world and one m; "all" does not pass then.
func TestAdaptCompletelySomewhere(t *testing.T) {
	full := adaptTable(nil, nil)
	tb := experimenttest.Table(Adapt)
	for i := range full.Len() {
		key, v := full.Row(i)
		if key["round"] == strconv.Itoa(8*adaptParts) && (key["cell"] != adaptWorlds[1].name || key["m"] != "10") {
			v["least_kept"] = .1
		}
		tb.Add(key, v)
	}
	for some, want := range map[bool]judge.Verdict{true: judge.Reproduced, false: judge.NotReproduced} {
		f, err := judge.Judge(completely(protocol.RMPPrinted, 1, some)(tb))
		if err != nil || f.Verdict != want {
			t.Errorf("some %t: %s, %v, want %s", some, f.Verdict, err, want)
		}
	}
}

func TestTurn(t *testing.T) {
	image := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	turn(image, 3)
	if want := []float64{7, 4, 1, 8, 5, 2, 9, 6, 3}; !slices.Equal(image, want) {
		t.Errorf("turned: %v, want %v", image, want)
	}
}

// The second half of a stream holds other images, of the digits after the change, turned where the world says so.
func TestAdaptStream(t *testing.T) {
	train, _ := synthetic.GlyphDigits(rand.New(rand.NewPCG(1, 2)), 300, 0)
	order := rand.New(rand.NewPCG(3, 4)).Perm(train.N)
	for _, w := range adaptWorlds {
		x, err := w.stream(20, train, order)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for i := range 20 {
			row, digits := slices.Clone(x.RawRowView(i)), w.before
			if i >= 10 {
				digits = w.after
				if w.turned {
					for range 3 {
						turn(row, train.W)
					}
				}
			}
			found := false
			for _, j := range train.Filter(train.All(), digits...) {
				if !seen[j] && slices.Equal(train.Rows([]int{j}, datasets.Scale01).RawRowView(0), row) {
					seen[j], found = true, true
					break
				}
			}
			if !found {
				t.Fatalf("%s: image %d is none of digits %v, or comes twice", w.name, i, digits)
			}
		}
	}
	if _, err := adaptWorlds[0].stream(2000, train, order); err == nil {
		t.Error("more rounds than images gave no error")
	}
}

// After each round the set is the best that one exchange leads to, by trying all of them.
func TestExchanger(t *testing.T) {
	const n, m = 6, 2
	rng := rand.New(rand.NewPCG(5, 6))
	e := &exchanger{set: []int{0, 1}, total: mat.NewDense(n, n, nil)}
	total := mat.NewDense(n, n, nil)
	moved := false
	for range 30 {
		cost := mat.NewDense(n, n, nil)
		cost.Apply(func(_, _ int, _ float64) float64 { return rng.Float64() }, cost)
		before := slices.Clone(e.set)
		pi, _, err := cluster.Assign(total, before)
		if err != nil {
			t.Fatal(err)
		}
		f := metric.CostRound{Cost: cost}
		want := protocol.LossOf(pi, f)
		loss, had, err := e.pay(f)
		if err != nil {
			t.Fatal(err)
		}
		if loss != want || !slices.Equal(had, before) {
			t.Fatalf("loss %v with %v, want %v with %v", loss, had, want, before)
		}
		total.Add(total, cost)
		least := math.Inf(1)
		for k := range m {
			for j := range n {
				if set := slices.Clone(before); j == before[k] || !slices.Contains(before, j) {
					set[k] = j
					_, c, err := cluster.Assign(total, set)
					if err != nil {
						t.Fatal(err)
					}
					least = min(least, c)
				}
			}
		}
		_, got, err := cluster.Assign(total, e.set)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got-least) > 1e-9 { // round-off of sums of some 30 costs
			t.Fatalf("from %v to %v, which costs %v, want %v", before, e.set, got, least)
		}
		moved = moved || !slices.Equal(before, e.set)
	}
	if !moved {
		t.Error("no exchange was made")
	}
}

// The share is that of the new set, which stays as it is.
func TestKeptOf(t *testing.T) {
	set := []int{2, 3, 4, 5}
	if got := keptOf([]int{1, 2}, set); got != .25 || !slices.Equal(set, []int{2, 3, 4, 5}) {
		t.Errorf("kept %v of %v, want a quarter", got, set)
	}
}
