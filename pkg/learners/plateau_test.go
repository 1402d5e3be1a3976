package learners_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"metriclab/pkg/learners"
)

// settledAt is the definition, from all values at once: the first step at which the last
// Patience means are none of them below (1 − Fall) times the least mean before; 0 if there is none.
func settledAt(values []float64, p learners.PlateauParams) int {
	least, stale := math.Inf(1), 0
	for w := 0; (w+1)*p.Window <= len(values); w++ {
		sum := 0.0
		for _, v := range values[w*p.Window : (w+1)*p.Window] {
			sum += v
		}
		if mean := sum / float64(p.Window); mean < (1-p.Fall)*least {
			least, stale = mean, 0
		} else if stale++; stale == p.Patience {
			return (w + 1) * p.Window
		}
	}
	return 0
}

func TestPlateauIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	met, never := 0, 0
	for range 200 {
		p := learners.PlateauParams{Window: 1 + rng.IntN(5), Fall: 0.1 * rng.Float64(), Patience: 1 + rng.IntN(4)}
		values := make([]float64, 40)
		rate := 0.1 * rng.Float64()
		for i := range values {
			values[i] = math.Exp(-rate*float64(i)) * (1 + 0.2*rng.Float64())
		}
		c, err := learners.NewPlateau(p)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for i, v := range values {
			if c.Add(v) {
				got = i + 1
				break
			}
		}
		if want := settledAt(values, p); got != want {
			t.Errorf("%+v: settled at %d, want %d", p, got, want)
		}
		if got == 0 {
			never++
		} else {
			met++
		}
	}
	if met < 20 || never < 20 {
		t.Errorf("%d runs settle and %d do not, want many of both", met, never)
	}
}

// Values that fall by more than Fall from window to window never settle; equal ones do, as soon as they can.
func TestPlateauEnds(t *testing.T) {
	falling, _ := learners.NewPlateau(learners.PlateauParams{Window: 2, Fall: 0.1, Patience: 1})
	equal, _ := learners.NewPlateau(learners.PlateauParams{Window: 2, Fall: 0, Patience: 3})
	v := 1.0
	for i := range 200 {
		if i%2 == 0 {
			v *= 0.8
		}
		if falling.Add(v) {
			t.Fatalf("settled at step %d while values fall", i+1)
		}
		if got, want := equal.Add(0), i+1 >= 8; got != want {
			t.Fatalf("step %d of equal values: settled %t, want %t", i+1, got, want)
		}
	}
}

func TestPlateauRefuses(t *testing.T) {
	for want, p := range map[string]learners.PlateauParams{
		"window: 0":    {Window: 0, Patience: 1},
		"fall: 1":      {Window: 1, Fall: 1, Patience: 1},
		"fall: NaN":    {Window: 1, Fall: math.NaN(), Patience: 1},
		"patience: -1": {Window: 1, Patience: -1},
	} {
		if _, err := learners.NewPlateau(p); err == nil || !strings.Contains(err.Error(), want+" is not allowed") {
			t.Errorf("%+v: error %v", p, err)
		}
	}
	c, _ := learners.NewPlateau(learners.PlateauParams{Window: 1, Patience: 1})
	for _, bad := range []func(){func() { c.Add(-1) }, func() { c.Add(math.NaN()) }, func() { new(learners.Plateau).Add(1) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			bad()
		}()
	}
}

func ExampleNewPlateau() {
	c, err := learners.NewPlateau(learners.PlateauParams{Window: 2, Fall: 0.05, Patience: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, loss := range []float64{9, 7, 4, 4, 4, 3.9, 4.1, 4, 3.9, 4} {
		if c.Add(loss) {
			fmt.Println("settled after", i+1, "steps")
			break
		}
	}
	// Output: settled after 8 steps
}
