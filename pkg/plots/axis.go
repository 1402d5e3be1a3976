package plots

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
)

// span is an interval of data; empty if hi < lo.
type span struct{ lo, hi float64 }

var emptySpan = span{math.Inf(1), math.Inf(-1)}

func (s span) empty() bool { return s.hi < s.lo }

func (s span) with(vs ...float64) span {
	for _, v := range vs {
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
	return s
}

func (s span) union(t span) span {
	if t.empty() {
		return s
	}
	return s.with(t.lo, t.hi)
}

// axis maps data to the unit interval.
type axis struct {
	lo, hi float64
	log    bool
}

// norm returns where v is between the ends of the axis, 0 at lo and 1 at hi.
func (a axis) norm(v float64) float64 {
	if a.log {
		return math.Log(v/a.lo) / math.Log(a.hi/a.lo)
	}
	return (v - a.lo) / (a.hi - a.lo)
}

// contains allows for round-off at the ends.
func (a axis) contains(v float64) bool {
	const slack = 1e-9
	n := a.norm(v)
	return n >= -slack && n <= 1+slack
}

// newAxis pads the data's span so that marks keep off the frame. A linear axis
// of values that are not negative starts at zero if the data come near it,
// since most of what is drawn here are rates and losses.
func newAxis(data span, log bool) axis {
	const pad = 0.05
	switch {
	case data.empty() && log:
		return axis{1, 10, true}
	case data.empty():
		return axis{0, 1, false}
	case log:
		if data.lo == data.hi {
			return axis{data.lo / 2, data.hi * 2, true}
		}
		f := math.Pow(data.hi/data.lo, pad)
		if a := (axis{data.lo / f, data.hi * f, true}); a.hi/a.lo <= math.MaxFloat64 && a.lo > 0 {
			return a
		}
		return axis{data.lo, data.hi, true} // the widest there are have no room to pad
	case data.hi-data.lo < 1/largest:
		d := max(math.Abs(data.lo)/2, 0.5)
		if data.lo > 0 {
			return axis{max(0, data.lo-d), data.hi + d, false}
		}
		return axis{data.lo - d, data.hi + d, false}
	}
	d := pad * (data.hi - data.lo)
	a := axis{data.lo - d, data.hi + d, false}
	if data.lo >= 0 && data.lo <= 0.3*data.hi {
		a.lo = 0
	}
	return a
}

// tick is a position on an axis; minor ticks have no label.
type tick struct {
	at    float64
	label string
}

// ticks returns about n labelled ticks; minor ones are added on log axes.
func (a axis) ticks(n int) []tick {
	if a.log {
		return a.logTicks(n)
	}
	return linearTicks(a.lo, a.hi, n)
}

// fittingTicks returns ticks whose labels do not touch on a horizontal axis of
// the given length.
func (a axis) fittingTicks(length vg.Length) []tick {
	var out []tick
	for n := max(2, int(length/(1.5*vg.Centimeter))); n >= 1; n-- {
		out = a.ticks(n)
		end, fits := vg.Length(math.Inf(-1)), true
		for _, t := range out {
			if t.label == "" {
				continue
			}
			w := tickText.width(t.label)
			x := vg.Length(a.norm(t.at)) * length
			fits = fits && x-w/2 > end+tickText.size*0.4
			end = x + w/2
		}
		if fits {
			break
		}
	}
	return out
}

func linearTicks(lo, hi float64, n int) []tick {
	if hi-lo < 1/largest {
		return nil
	}
	step := niceStep((hi - lo) / float64(max(n, 1)))
	first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	// A range at the limit of the precision has no round numbers inside, and at
	// 2⁵³ steps from zero a step changes nothing.
	if !(last-first < 1000) || last < first || max(-first, last) >= 1<<53 {
		return nil
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	big := max(math.Abs(first), math.Abs(last)) * step
	var out []tick
	for k := first; k <= last; k++ {
		v := k * step
		label := ""
		switch {
		case k == 0:
			label = "0"
		case big >= 1e5 || big < 1e-3:
			label = scientific(v, big, step)
		default:
			label = strconv.FormatFloat(v, 'f', digits, 64)
		}
		out = append(out, tick{v, minus(label)})
	}
	return out
}

// niceStep returns 1, 2 or 5 times a power of ten near raw.
func niceStep(raw float64) float64 {
	const below = 0.75 // a step a little too small gives a few ticks more
	base := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*base >= raw*below {
			return m * base
		}
	}
	return 10 * base
}

// scientific writes v with the power of ten of the axis' largest value.
func scientific(v, big, step float64) string {
	e := math.Floor(math.Log10(big) + 1e-9)
	unit := math.Pow(10, e)
	digits := max(0, -int(math.Floor(math.Log10(step/unit)+1e-9)))
	return strconv.FormatFloat(v/unit, 'f', digits, 64) + "×" + power(int(e))
}

// power writes 10ᵉ.
func power(e int) string {
	up := strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	return "10" + up.Replace(strconv.Itoa(e))
}

func minus(s string) string { return strings.Replace(s, "-", "−", 1) }

// logTicks labels powers of ten, and 2 and 5 times them if the axis spans
// less than two decades. It falls back on linear ticks inside one decade.
func (a axis) logTicks(n int) []tick {
	decades := math.Log10(a.hi / a.lo)
	first, last := int(math.Floor(math.Log10(a.lo)+1e-9)), int(math.Ceil(math.Log10(a.hi)-1e-9))
	plain := first >= -3 && last <= 4
	label := func(m float64, e int) string {
		v := m * math.Pow(10, float64(e))
		switch {
		case plain:
			return strconv.FormatFloat(v, 'f', max(0, -e), 64)
		case m == 1:
			return power(e)
		}
		return strconv.FormatFloat(m, 'f', 0, 64) + "×" + power(e)
	}
	if decades < 0.7 {
		return linearTicks(a.lo, a.hi, n)
	}
	every := max(1, int(math.Ceil(decades/float64(max(n, 2)))))
	var out []tick
	for e := first; e <= last; e++ {
		for m := 1.0; m < 10; m++ {
			t := tick{at: m * math.Pow(10, float64(e))}
			if !a.contains(t.at) || every > 1 && m > 1 {
				continue
			}
			if m == 1 && e%every == 0 || decades < 2 && (m == 2 || m == 5) && n > 2 {
				t.label = label(m, e)
			}
			out = append(out, t)
		}
	}
	return out
}
