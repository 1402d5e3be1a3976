package plots

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func labels(ticks []tick) (out []string) {
	for _, t := range ticks {
		if t.label != "" {
			out = append(out, t.label)
		}
	}
	return out
}

func TestTickLabels(t *testing.T) {
	for _, c := range []struct {
		a    axis
		n    int
		want []string
	}{
		{axis{0, 5, false}, 5, []string{"0", "1", "2", "3", "4", "5"}},
		{axis{-1, 1, false}, 4, []string{"−1.0", "−0.5", "0", "0.5", "1.0"}},
		{axis{0, 0.01, false}, 5, []string{"0", "0.002", "0.004", "0.006", "0.008", "0.010"}},
		{axis{0, 2e6, false}, 4, []string{"0", "0.5×10⁶", "1.0×10⁶", "1.5×10⁶", "2.0×10⁶"}},
		{axis{0, 4e-5, false}, 4, []string{"0", "1×10⁻⁵", "2×10⁻⁵", "3×10⁻⁵", "4×10⁻⁵"}},
		{axis{1, 1000, true}, 5, []string{"1", "10", "100", "1000"}},
		{axis{0.01, 1, true}, 5, []string{"0.01", "0.1", "1"}},
		{axis{1e-6, 1e6, true}, 5, []string{"10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶"}},
		{axis{1, 20, true}, 5, []string{"1", "2", "5", "10", "20"}},
		{axis{2, 4, true}, 4, []string{"2.0", "2.5", "3.0", "3.5", "4.0"}},
	} {
		if got := labels(c.a.ticks(c.n)); !slices.Equal(got, c.want) {
			t.Errorf("%+v, %d ticks: got %q, want %q", c.a, c.n, got, c.want)
		}
	}
}

// Every axis made from data holds the data and has between 2 and 15 labelled
// ticks, all inside, ascending and with distinct labels.
func TestTicksOfRandomAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 2000 {
		log := i%2 == 1
		lo := math.Pow(10, 12*rng.Float64()-6)
		hi := lo * (1 + math.Pow(10, 8*rng.Float64()-3))
		if !log && i%4 == 0 {
			lo, hi = -hi, lo
		}
		a := newAxis(span{lo, hi}, log)
		if !a.contains(lo) || !a.contains(hi) {
			t.Fatalf("axis %+v does not hold %v to %v", a, lo, hi)
		}
		ticks := a.ticks(6)
		got := labels(ticks)
		if len(got) < 2 || len(got) > 15 {
			t.Errorf("%+v: labels %q", a, got)
		}
		seen := map[string]bool{}
		for k, tk := range ticks {
			if !a.contains(tk.at) {
				t.Errorf("%+v: tick %v is outside", a, tk.at)
			}
			if k > 0 && tk.at <= ticks[k-1].at {
				t.Errorf("%+v: tick %v comes after %v", a, tk.at, ticks[k-1].at)
			}
			if tk.label != "" && seen[tk.label] {
				t.Errorf("%+v: label %q twice", a, tk.label)
			}
			seen[tk.label] = true
		}
	}
}

func TestNewAxis(t *testing.T) {
	for _, c := range []struct {
		data span
		log  bool
		want axis
	}{
		{emptySpan, false, axis{0, 1, false}},
		{emptySpan, true, axis{1, 10, true}},
		{span{0, 10}, false, axis{0, 10.5, false}},
		{span{2, 10}, false, axis{0, 10.4, false}},
		{span{8, 10}, false, axis{7.9, 10.1, false}},
		{span{-10, 10}, false, axis{-11, 11, false}},
		{span{0.2, 0.2}, false, axis{0, 0.7, false}},
		{span{4, 4}, true, axis{2, 8, true}},
	} {
		got := newAxis(c.data, c.log)
		const tol = 1e-12 // a few roundings of numbers near 10
		if math.Abs(got.lo-c.want.lo) > tol || math.Abs(got.hi-c.want.hi) > tol || got.log != c.want.log {
			t.Errorf("%+v, log %t: got %+v, want %+v", c.data, c.log, got, c.want)
		}
	}
}

// Names at the ends of lines do not touch, stay in their order and inside the panel, and move no further than they
// must: a search on a grid finds no smaller sum of squares.
func TestApart(t *testing.T) {
	for _, tt := range []struct{ at, want []float64 }{
		{nil, nil},
		{[]float64{5}, []float64{5}},
		{[]float64{1, 9}, []float64{1, 9}},
		{[]float64{5, 5}, []float64{4.5, 5.5}},
		{[]float64{0, 0, 0}, []float64{0, 1, 2}},
		{[]float64{10, 10, 10}, []float64{8, 9, 10}},
		{[]float64{2, 2.5, 8, 8, 8}, []float64{1.75, 2.75, 7, 8, 9}},
	} {
		if got := apart(tt.at, 1, 0, 10); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.at, got, tt.want)
		}
	}
	if got := apart([]float64{0, 0, 0}, 1, 0, 1); !slices.Equal(got, []float64{0, 1, 2}) {
		t.Errorf("without room: %v, want them from the low end", got)
	}
	at := []float64{1, 1.5, 1.5, 4}
	cost := func(y []float64) (sum float64) {
		for i, v := range y {
			sum += (v - at[i]) * (v - at[i])
		}
		return sum
	}
	best := cost(apart(at, 1, 0, 6))
	const step = 0.25
	for a := 0.0; a <= 6; a += step {
		for b := a + 1; b <= 6; b += step {
			for c := b + 1; c <= 6; c += step {
				for d := c + 1; d <= 6; d += step {
					if got := cost([]float64{a, b, c, d}); got < best-1e-12 {
						t.Fatalf("%v, %v, %v, %v costs %v, less than %v", a, b, c, d, got, best)
					}
				}
			}
		}
	}
}

// Ticks that are given are drawn with their labels, those beyond the axis are not; labels that touch are turned.
func TestGivenTicks(t *testing.T) {
	line := Line{X: []float64{1, 1000}, Y: []float64{1, 2}}
	given := []Tick{{0.001, "beyond"}, {1, "1"}, {30, "30"}, {1000, "end"}}
	for _, c := range []struct {
		ticks  []Tick
		want   []tick
		turned bool
	}{
		{given, []tick{{1, "1"}, {30, "30"}, {1000, "end"}}, false},
		{[]Tick{{1, "a"}, {1.01, "b"}}, []tick{{1, "a"}, {1.01, "b"}}, true},
		{[]Tick{}, nil, false},
	} {
		p, err := Panel{XLog: true, XTicks: c.ticks, Marks: []Mark{line}}.prepare(&notes{})
		if err != nil {
			t.Fatal(err)
		}
		m := &measured{prepared: p, w: 200, h: 200}
		m.setTicks()
		if !slices.Equal(m.xTicks, c.want) || m.turned != c.turned {
			t.Errorf("ticks %v, turned %t, want %v, %t", m.xTicks, m.turned, c.want, c.turned)
		}
	}
}
