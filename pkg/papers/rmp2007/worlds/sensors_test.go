package worlds

import (
	"bytes"
	"image/gif"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

func TestSensorCosts(t *testing.T) {
	dst := mat.NewDense(2, sensorSide*sensorSide, nil)
	sensorSettings{Side: sensorSide}.costs(dst, [][2]float64{{3, 2}, {14, 14}})
	for _, c := range []struct {
		object, x, y int
		want         float64
	}{{0, 3, 2, 0}, {0, 6, 6, 25 / 56.25}, {0, 11, 2, 1}, {1, 14, 8, 36 / 56.25}, {1, 0, 0, 1}} {
		if got := dst.At(c.object, c.y*sensorSide+c.x); math.Abs(got-c.want) > 1e-15 { // one rounding
			t.Errorf("object %d, place (%d, %d): cost %v, want %v", c.object, c.x, c.y, got, c.want)
		}
	}
}

// Herds stay on the grid, near where their world says, and in one place if it says so.
func TestHerds(t *testing.T) {
	for _, w := range sensorWorlds {
		s := sensorSettings{World: w, Side: sensorSide}
		rng := rand.New(rand.NewPCG(1, 2))
		own := make([][2]float64, sensorHerds*sensorHerd)
		phases := make([]float64, sensorHerds)
		for _, part := range []float64{0, .3, .99} {
			for i, o := range s.herds(rng, phases, own, part) {
				x, y := s.centre(i/sensorHerd, 0, part)
				// The jitter has standard deviation 0.3: six of it.
				if d := math.Hypot(o[0]-x, o[1]-y); d > 1.8 || slices.Max(o[:]) > sensorSide-1 || slices.Min(o[:]) < 0 {
					t.Errorf("%s: object %d at %v, %v from (%v, %v)", w, i, o, d, x, y)
				}
			}
		}
		x0, y0 := s.centre(2, 0, 0)
		x1, y1 := s.centre(2, 0, .1)
		if moved := math.Hypot(x1-x0, y1-y0); (moved == 0) != (w == grazing) {
			t.Errorf("%s: a herd has moved by %v", w, moved)
		}
	}
}

func TestSensorFrames(t *testing.T) {
	got := sensorFrames(80)
	if want := []int{0, 2, 4, 6}; len(got) != allFrames || !slices.Equal(got[:4], want) || got[allFrames-1] != 78 {
		t.Errorf("%d frames %v, want %d from %v to 78", len(got), got, allFrames, want)
	}
}

// The view's animation has a frame per round shown, and is small enough for a page.
func TestSensorAnimation(t *testing.T) {
	tb := experimenttest.Table(Sensors)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range sensorFrames(60) {
		add := func(count int, kind, method string) {
			for range count {
				tb.Add(table.Key{"cell": "migrating", "trial": "0", "kind": kind, "method": method, "round": strconv.Itoa(n + 1)},
					table.Values{"x": (sensorSide - 1) * rng.Float64(), "y": (sensorSide - 1) * rng.Float64()})
			}
		}
		add(sensorHerds*sensorHerd, "object", "")
		add(4, "sensor", protocol.RMPDoubling)
		add(4, "sensor", protocol.RMPPrinted)
	}
	d, err := drawSensorFrames(tb)
	if err != nil {
		t.Fatal(err)
	}
	files, err := d.Render("frames", plots.Options{})
	if err != nil {
		t.Fatal(err)
	}
	k := slices.IndexFunc(files, func(f plots.File) bool { return f.Name == "frames.gif" })
	if k < 0 {
		t.Fatal("no animation")
	}
	g, err := gif.DecodeAll(bytes.NewReader(files[k].Data))
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Image) != allFrames || len(d.Panels) != sensorStills || len(files[k].Data) > 700_000 {
		t.Errorf("%d frames, %d panels, %d bytes, want %d, %d, and at most 700 kB", len(g.Image), len(d.Panels), len(files[k].Data), allFrames, sensorStills)
	}
	if first := d.Panels[1].Title; first != d.Frames[allFrames/sensorStills].Title {
		t.Errorf("the second panel is %s, want every fifth frame", first)
	}
}
