package clusters

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

// fig1World makes up what a run may have measured: regrets after t of T rounds.
type fig1World struct {
	rmp, em    func(t, rounds float64) float64
	spread     float64 // of EM's final regret over trials, relative
	gap        float64
	shortWorse float64 // relative regret of the other walks
}

func (w fig1World) table() *table.Table {
	tb := experimenttest.Table(Fig1)
	for _, c := range Fig1.Cells(experiment.Full) {
		s := c.Settings.(fig1Settings)
		rounds := float64(s.Rounds)
		for trial := range experimenttest.Trials {
			noise := 1 + 1e-3*float64(trial%3-1)
			add := func(kind, method string, round int, v table.Values) {
				tb.Add(table.Key{"cell": c.Name, "trial": strconv.Itoa(trial), "kind": kind, "method": method, "round": strconv.Itoa(round)}, v)
			}
			add("optimum", bestMap, 0, table.Values{"loss": 100, "lower": 100 * (1 - w.gap), "dual": 99, "left": 5, "groups": 101})
			for _, t := range fig1Checkpoints(s.Rounds) {
				best := 10 * float64(t)
				add("loss", bestMap, t, table.Values{"loss": best})
				rivals := s.EM
				if s.KMeansStarts > 0 {
					rivals = append(slices.Clone(rivals), kMeansName)
				}
				for run := 1; run <= max(1, s.Restarts); run++ {
					name := func(method string) string { return method }
					spread := 1 + w.spread*float64(trial%3-1)
					if s.Restarts > 0 {
						name = func(method string) string { return restarted(method, run) }
						spread = 1 + w.spread*float64(run%2)
					}
					for _, m := range s.RMP {
						r := w.rmp(float64(t), rounds) * noise
						if s.Restarts > 0 {
							r *= 1 + 1e-3*float64(run%2)
						}
						if m == rmpShort || m == rmpHeatBath {
							r *= w.shortWorse
						}
						if m == rmpHeatBath {
							r *= w.shortWorse
						}
						add("loss", name(m), t, table.Values{"loss": best + r})
					}
					for _, m := range rivals {
						add("loss", name(m), t, table.Values{"loss": best + w.em(float64(t), rounds)*spread})
					}
				}
			}
		}
	}
	return tb
}

func TestFig1ClaimsPointTheRightWay(t *testing.T) {
	root := func(t, _ float64) float64 { return 100 * math.Sqrt(t) }
	linear := func(t, _ float64) float64 { return 100 * t }
	yes := fig1World{rmp: root, em: linear, spread: 0.3, gap: 0, shortWorse: 1}.table()
	no := fig1World{
		rmp: func(t, _ float64) float64 { return 1500 * math.Pow(t, 1.2) }, // above the bound too
		em:  root, spread: 1e-4, gap: 0.01, shortWorse: 1.2,
	}.table()
	for _, c := range fig1Claims {
		want := judge.Reproduced
		if c.ID == "fig1-bound" { // no regret exceeds A·T, which is less
			want = judge.ByConstruction
		}
		if v := experimenttest.Verdict(t, fig1Claims, c.ID, yes); v != want {
			t.Errorf("%s on a supporting table: %s", c.ID, v)
		}
		if v := experimenttest.Verdict(t, fig1Claims, c.ID, no); v != judge.NotReproduced {
			t.Errorf("%s on an opposing table: %s", c.ID, v)
		}
	}
	// Sublinear is not root: an exponent of 0.9, and a flat curve.
	for _, power := range []float64{0.9, 0} {
		tb := fig1World{rmp: func(t, _ float64) float64 { return 100 * math.Pow(t, power) }, em: linear, shortWorse: 1}.table()
		if v := experimenttest.Verdict(t, fig1Claims, "fig1-sublinear", tb); v != judge.Reproduced {
			t.Errorf("exponent %v as sublinear: %s", power, v)
		}
		if v := experimenttest.Verdict(t, fig1Claims, "fig1-root", tb); v != judge.NotReproduced {
			t.Errorf("exponent %v as root: %s", power, v)
		}
	}
	// Better than EM, but not by half, is not substantially better.
	better := fig1World{rmp: func(t, _ float64) float64 { return 70 * t }, em: linear, shortWorse: 1}.table()
	if v := experimenttest.Verdict(t, fig1Claims, "fig1-em-poor", better); v != judge.Reproduced {
		t.Errorf("30 %% less regret as better: %s", v)
	}
	if v := experimenttest.Verdict(t, fig1Claims, "fig1-sparse", better); v != judge.NotReproduced {
		t.Errorf("30 %% less regret as substantially better: %s", v)
	}
}

func TestFig1Checkpoints(t *testing.T) {
	for rounds, want := range map[int][]int{
		50: {1, 2, 3, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50},
		20: {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20},
	} {
		if got := fig1Checkpoints(rounds); !slices.Equal(got, want) {
			t.Errorf("checkpoints of %d rounds: %v, want %v", rounds, got, want)
		}
	}
}

// On groups far apart EM's map sends each point to one prototype per group, the one nearest to its mean.
func TestEMMapOfFarGroups(t *testing.T) {
	x := mat.NewDense(12, 1, nil)
	for i := range 12 {
		x.Set(i, 0, 100*float64(i%4)+float64(i/4)) // groups {0, 1, 2}, {100, 101, 102}, ...; the means are points 4 to 7
	}
	for name, form := range emForms {
		if emStarts[name] == cluster.StartFromRows {
			continue // four random rows may lie in two groups, from where EM does not find all
		}
		pi, err := clusterMap(x, func(x *mat.Dense) (clustering, error) {
			return cluster.FitMixture(t.Context(), rand.New(rand.NewPCG(73, 1)), x, cluster.MixtureParams{K: fig1Groups, Covariance: form, Floor: emFloor})
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, j := range pi {
			if want := 4 + i%4; j != want {
				t.Errorf("%v: point %d is mapped to %d, want %d", form, i, j, want)
			}
		}
	}
	if pi, err := clusterMap(mat.NewDense(5, 2, nil), func(*mat.Dense) (clustering, error) { panic("nothing to cluster") }); pi != nil || err != nil {
		t.Errorf("points that coincide: %v, %v, want no map", pi, err)
	}
}

// Groups cost what their best prototypes cost, by hand.
func TestByGroups(t *testing.T) {
	g, err := newGame(mat.NewDense(4, 1, []float64{0, 1, 2, 9}), protocol.Distortions[1])
	if err != nil {
		t.Fatal(err)
	}
	// {0, 1, 2} is served from 1 for 1 + 1, {9} from itself; costs are over 9.
	if got, pi := byGroups(g.total(), []int{0, 0, 0, 1}); math.Abs(got-2./9) > 1e-15 || !slices.Equal(pi, []int{1, 1, 1, 3}) {
		t.Errorf("the groups cost %v with map %v, want 2/9 with [1 1 1 3]", got, pi)
	}
	if got := protocol.LossOf([]int{1, 1, 1, 3}, metric.CostRound{Cost: g.total()}); math.Abs(got-2./9) > 1e-15 {
		t.Errorf("the map costs %v, want 2/9", got)
	}
}
