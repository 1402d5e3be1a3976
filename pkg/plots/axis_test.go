package plots

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg"
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
	const long, short = 6 * vg.Centimeter, 2.5 * vg.Centimeter
	for _, c := range []struct {
		a              axis
		length         vg.Length
		upright, whole bool
		want           []string
	}{
		{axis{0, 5, false}, long, false, false, []string{"0", "1", "2", "3", "4", "5"}},
		{axis{-1, 1, false}, long, true, false, []string{"−1.0", "−0.5", "0", "0.5", "1.0"}},
		{axis{0, 0.01, false}, long, false, false, []string{"0", "0.002", "0.004", "0.006", "0.008", "0.010"}},
		{axis{0, 2e6, false}, long, false, false, []string{"0", "0.5×10⁶", "1.0×10⁶", "1.5×10⁶", "2.0×10⁶"}},
		{axis{0, 4e-5, false}, long, true, false, []string{"0", "1×10⁻⁵", "2×10⁻⁵", "3×10⁻⁵", "4×10⁻⁵"}},
		{axis{-0.45, 0.95, false}, long, true, false, []string{"−0.4", "−0.2", "0", "0.2", "0.4", "0.6", "0.8"}}, // not 0 and 0.5 alone
		{axis{1, 1000, true}, long, false, false, []string{"1", "10", "100", "1000"}},
		{axis{0.01, 1, true}, long, false, false, []string{"0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"}},
		{axis{0.01, 1, true}, short, false, false, []string{"0.01", "0.1", "1"}},
		{axis{1e-6, 1e6, true}, long, false, false, []string{"10⁻⁶", "10⁻⁴", "10⁻²", "10⁰", "10²", "10⁴", "10⁶"}},
		{axis{0.0005, 5000, true}, long, true, false, []string{"10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²", "10³"}}, // 7 decades
		{axis{1, 20, true}, long, false, false, []string{"1", "2", "5", "10", "20"}},
		{axis{4, 60, true}, short, false, false, []string{"5", "10", "20", "50"}}, // not 10 alone
		{axis{2, 4, true}, long, false, false, []string{"2.0", "2.5", "3.0", "3.5", "4.0"}},
		{axis{1.9, 3.1, false}, long, false, false, []string{"2.0", "2.2", "2.4", "2.6", "2.8", "3.0"}},
		{axis{1.9, 3.1, false}, long, false, true, []string{"2", "3"}}, // counts
		{axis{0, 60, false}, long, false, true, []string{"0", "10", "20", "30", "40", "50", "60"}},
	} {
		if got := labels(c.a.ticks(c.length, c.upright, c.whole)); !slices.Equal(got, c.want) {
			t.Errorf("%+v of %v points, upright %t, whole %t: got %q, want %q", c.a, c.length, c.upright, c.whole, got, c.want)
		}
	}
}

// Every axis made from data holds the data and has between 2 and 25 labelled
// ticks, all inside, ascending and with distinct labels that do not touch.
func TestTicksOfRandomAxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 4000 {
		log, upright := i%2 == 1, i%8 > 3
		lo := math.Pow(10, 12*rng.Float64()-6)
		hi := lo * (1 + math.Pow(10, 8*rng.Float64()-3))
		if !log && i%4 == 0 {
			lo, hi = -hi, lo
		}
		length := minDataSize * vg.Length(1+4*rng.Float64())
		a := newAxis(span{lo, hi}, log, false)
		if !a.contains(lo) || !a.contains(hi) {
			t.Fatalf("axis %+v does not hold %v to %v", a, lo, hi)
		}
		ticks := a.ticks(length, upright, false)
		got := labels(ticks)
		if len(got) < 2 || len(got) > 25 {
			t.Errorf("%+v, %v points: labels %q", a, length, got)
		}
		seen := map[string]bool{}
		end := vg.Length(math.Inf(-1))
		for k, tk := range ticks {
			if !a.contains(tk.at) {
				t.Errorf("%+v: tick %v is outside", a, tk.at)
			}
			if k > 0 && tk.at <= ticks[k-1].at {
				t.Errorf("%+v: tick %v comes after %v", a, tk.at, ticks[k-1].at)
			}
			if tk.label == "" {
				continue
			}
			size := tickText.width(tk.label)
			if upright {
				size = tickText.height(1)
			}
			at := vg.Length(a.norm(tk.at)) * length
			if at-size/2 < end {
				t.Errorf("%+v, %v points: label %q touches the one before", a, length, tk.label)
			}
			end = at + size/2
			if seen[tk.label] {
				t.Errorf("%+v: label %q twice", a, tk.label)
			}
			seen[tk.label] = true
		}
	}
}

func TestNewAxis(t *testing.T) {
	for _, c := range []struct {
		data       span
		log, whole bool
		want       axis
	}{
		{emptySpan, false, false, axis{0, 1, false}},
		{emptySpan, true, false, axis{1, 10, true}},
		{span{0, 10}, false, false, axis{0, 10.5, false}},
		{span{2, 10}, false, false, axis{0, 10.4, false}},
		{span{8, 10}, false, false, axis{7.9, 10.1, false}},
		{span{-10, 10}, false, false, axis{-11, 11, false}},
		{span{0.2, 0.2}, false, false, axis{0, 0.7, false}},
		{span{4, 4}, true, false, axis{2, 8, true}},
		{span{1, 50}, false, true, axis{0.5, 52.45, false}}, // numbered from 1: there is no eigenvalue 0
		{span{1, 50}, false, false, axis{0, 52.45, false}},
		{span{1, 1000}, false, true, axis{0, 1049.95, false}},
	} {
		got := newAxis(c.data, c.log, c.whole)
		const tol = 1e-12 // a few roundings of numbers near 10
		if math.Abs(got.lo-c.want.lo) > tol || math.Abs(got.hi-c.want.hi) > tol || got.log != c.want.log {
			t.Errorf("%+v, log %t, whole %t: got %+v, want %+v", c.data, c.log, c.whole, got, c.want)
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

// Axes with one label begin at zero together, if one of them does; others, and those of a given range, do not care.
func TestSiblingsShareZero(t *testing.T) {
	line := func(lo, hi float64) []Mark { return []Mark{Line{X: []float64{8, 9.5}, Y: []float64{lo, hi}}} }
	begins := func(axes ...Panel) (out []bool) {
		panels, _, _, err := Drawing{Panels: axes}.prepare()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range panels {
			out = append(out, p.y.lo == 0)
		}
		return out
	}
	far, near := Panel{YLabel: "error (%)", Marks: line(30, 40)}, Panel{YLabel: "error (%)", Marks: line(2, 40)}
	with := func(p Panel, change func(p *Panel)) Panel { change(&p); return p }
	for _, c := range []struct {
		name   string
		panels []Panel
		want   []bool
	}{
		{"neither", []Panel{far, far}, []bool{false, false}},
		{"one", []Panel{far, near}, []bool{true, true}},
		{"other label", []Panel{with(far, func(p *Panel) { p.YLabel = "loss" }), near}, []bool{false, true}},
		{"no label", []Panel{with(far, func(p *Panel) { p.YLabel = "" }), with(near, func(p *Panel) { p.YLabel = "" })}, []bool{false, true}},
		{"given range", []Panel{with(far, func(p *Panel) { p.YMin, p.YMax = 20, 50 }), near}, []bool{false, true}},
		{"given from zero", []Panel{with(far, func(p *Panel) { p.YMin, p.YMax = 0, 50 }), far}, []bool{true, true}},
		{"logarithmic", []Panel{with(far, func(p *Panel) { p.YLog = true }), near}, []bool{false, true}},
		{"negative", []Panel{{YLabel: "error (%)", Marks: line(-1, 40)}, near}, []bool{false, true}},
	} {
		if got := begins(c.panels...); !slices.Equal(got, c.want) {
			t.Errorf("%s: begins at zero %v, want %v", c.name, got, c.want)
		}
	}
	rows := func(x float64) Panel {
		return Panel{XLabel: "error (%)", Marks: []Mark{Intervals{Labels: []string{"a", "b"}, X: []float64{x, 40}}}}
	}
	panels, _, _, err := Drawing{Panels: []Panel{rows(30), rows(2)}}.prepare()
	if err != nil || panels[0].x.lo != 0 || panels[1].x.lo != 0 {
		t.Errorf("intervals: axes %v, error %v", panels, err)
	}
	equal := Panel{YLabel: "error (%)", Equal: true, Marks: []Mark{Points{X: []float64{30, 40}, Y: []float64{30, 40}}}}
	if panels, _, _, err = (Drawing{Panels: []Panel{equal, near}}).prepare(); err != nil || panels[0].x != panels[0].y || panels[0].y.lo != 0 {
		t.Errorf("equal axes: %v and %v, error %v, want both from zero", panels[0].x, panels[0].y, err)
	}
}

// Axes on which all data are whole numbers have whole ticks. 0 and 1 may be shares.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name string
		m    Mark
		x, y bool
	}{
		{"line", Line{X: []float64{1, 2, 3}, Y: []float64{1, 2.5, 3}}, true, false},
		{"points", Points{X: []float64{1, 2.5}, Y: []float64{1, 2}}, false, true},
		{"missing", Line{X: []float64{1, nan, 3}, Y: []float64{1, 2, 3}}, true, true},
		{"shares", Line{X: []float64{0, 1}, Y: []float64{0, 1}}, false, false},
		{"signs", Line{X: []float64{-1, 1}, Y: []float64{0, 2}}, true, true},
		{"intervals", Intervals{Labels: []string{"a", "b"}, X: []float64{7, 9}, Err: []float64{0.5, 0.5}}, true, false},
		{"one number on the axis", Intervals{Labels: []string{"a"}, X: []float64{7}, Err: []float64{0.5}}, false, false},
		{"arrow", Arrow{X1: 2, Y1: 0.5}, true, false},
		{"none", Line{}, false, false},
	} {
		p, err := Panel{Marks: []Mark{c.m}}.prepare(&notes{})
		if err != nil || p.whole.x != c.x || p.whole.y != c.y {
			t.Errorf("%s: %+v, error %v, want %t, %t", c.name, p.whole, err, c.x, c.y)
		}
	}
	d := Drawing{Panels: []Panel{{Marks: []Mark{Line{X: []float64{2, 3}, Y: []float64{2.25, 2.5}}}}}}
	panels, _, _, err := d.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if got := labels(d.layout(panels, Options{}).panels[0].xTicks); !slices.Equal(got, []string{"2", "3"}) {
		t.Errorf("2 and 3 directions: ticks %q", got)
	}
}
