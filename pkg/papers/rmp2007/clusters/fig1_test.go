package clusters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
)

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
