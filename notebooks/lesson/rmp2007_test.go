package lesson

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/plain"
)

// All that BruteForce lists follows from package plain and the two laws' definitions.
func TestBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	l := plain.NewRMP(3, Places, Sensors, 0.7)
	l.C.Apply(func(_, _ int, _ float64) float64 { return 3 * rng.Float64() }, l.C)
	logW := func(i, j int) float64 { return -l.Eta * l.C.At(i, j) }
	sets, maps, alg1, eq1 := BruteForce(logW)
	all, law := l.Law()
	if len(maps) != 216 || len(sets) != len(law) {
		t.Fatalf("%d sets and %d maps", len(sets), len(maps))
	}
	total := 0.0 // weight of all maps onto at most two places
	weight := func(pi []int) float64 { return math.Exp(logW(0, pi[0]) + logW(1, pi[1]) + logW(2, pi[2])) }
	for _, pi := range maps {
		if Image(pi) <= Sensors {
			total += weight(pi)
		}
	}
	for n, pi := range maps {
		drawn, allowed := 0.0, 0.0
		for k, set := range all {
			p := law[k]
			for i, j := range pi {
				if !slices.Contains(set, j) {
					p = 0
				}
				p *= math.Exp(logW(i, j)) / (math.Exp(logW(i, set[0])) + math.Exp(logW(i, set[1])))
			}
			drawn += p
		}
		if Image(pi) <= Sensors {
			allowed = weight(pi) / total
		}
		if !near(alg1[n], drawn) || !near(eq1[n], allowed) {
			t.Errorf("map %v: %g by Algorithm 1, want %g; %g by Eq. 1, want %g", pi, alg1[n], drawn, eq1[n], allowed)
		}
	}
	for k := range law {
		if !near(sets[k], law[k]) {
			t.Errorf("set %v: %g, want %g", all[k], sets[k], law[k])
		}
	}
}

// Before the first round 6 of 96 maps put all objects in one place, and 2 of the 8 onto the members of a set.
func TestCompareMaps(t *testing.T) {
	for rounds, want := range map[int]string{0: "one place for all has probability 0.062 by Eq. 1, 0.250 by Algorithm 1", 30: "one place for all"} {
		_, says := CompareMaps(rounds)
		if !strings.Contains(says, "15 sets and 216 maps agree with the library to 1e-14: true") || !strings.Contains(says, want) {
			t.Errorf("after %d rounds: %s", rounds, says)
		}
	}
}

// The walk stays in each set as often as its law says.
func TestSharesOf(t *testing.T) {
	const steps = 100_000
	l := Tracker(10)
	var last []float64
	SharesOf(l, steps, func(step, set int, share []float64) {
		if step == steps {
			last = share
		}
	})
	k := 0
	for set, p := range l.Sets() {
		if math.Abs(last[k]-p) > 0.01 {
			t.Errorf("%v: a share of %.3f, want %.3f", set, last[k], p)
		}
		k++
	}
}

// The rounds of Reveal add up to the squared distances of the points, in one unit, below 1 each.
func TestReveal(t *testing.T) {
	x, group, _ := Blobs()
	sum := mat.NewDense(Points, Points, nil)
	for k := range Dims {
		cost := Reveal(x, k).Cost
		if mat.Max(cost) > 1 || mat.Min(cost) < 0 {
			t.Errorf("round %d: costs from %g to %g", k, mat.Min(cost), mat.Max(cost))
		}
		sum.Add(sum, cost)
	}
	sq := func(i, j int) (d float64) {
		for k, v := range x.RawRowView(i) {
			d += (v - x.At(j, k)) * (v - x.At(j, k))
		}
		return d
	}
	unit := sq(0, 1) / sum.At(0, 1)
	for i := range Points {
		if group[i] != i%Groups || !near(unit*sum.At(i, 7), sq(i, 7)) {
			t.Errorf("points %d and 7: costs %g in all, squared distance %g", i, unit*sum.At(i, 7), sq(i, 7))
		}
	}
}

func TestServe(t *testing.T) {
	cost := Serve([]float64{0, 5, 2}).Cost
	if want := mat.NewDense(3, Places, []float64{0, .2, .4, .6, .8, 1, 1, .8, .6, .4, .2, 0, .4, .2, 0, .2, .4, .6}); !mat.EqualApprox(cost, want, 1e-15) {
		t.Errorf("costs %v", mat.Formatted(cost))
	}
}

// Two sets of the family are the rows; one has eight elements at most.
func TestFewestUncovered(t *testing.T) {
	for m, want := range []int{14, 6, 0, 0} {
		if got := FewestUncovered(m); got != want {
			t.Errorf("%d sets leave %d elements, want %d", m, got, want)
		}
	}
}

// The exercises' numbers, by hand.
func TestRMPExercises(t *testing.T) {
	for n, want := range []float64{0, 0.5, 0.5, 0.75, 0.75} { // E|H − n/2|
		if got := FairCoin(n); !near(got, want) {
			t.Errorf("%d throws: regret %g, want %g", n, got, want)
		}
	}
	if got := TimesAsLikely(); !near(got, 10) { // the sets of 4 of 7 that have two given ones
		t.Errorf("%g times as likely, want 10", got)
	}
	if got, want := mapping.CorrectedEta(12, 9, 3, 70), math.Sqrt(8*mapping.LogMaps(12, 9, 3)/70)/12; !near(got, want) {
		t.Errorf("η = %g, want %g", got, want)
	}
}

// More prototypes than groups have colours of their own, too.
func TestClustersOfMorePrototypes(t *testing.T) {
	_, group, xy := Blobs()
	pi := make([]int, Points)
	for i := range pi {
		pi[i] = i % 7
	}
	if got := len(Clusters("", xy, pi, []int{0, 1, 2, 3, 4, 5, 6}, group).Marks); got != 8 {
		t.Errorf("%d marks, want 7 colours and the prototypes", got)
	}
}
