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
// since most of what is drawn here are rates and losses; where things are numbered
// from one, it starts before the first.
func newAxis(data span, log, whole bool) axis {
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
	const numbered = 100 // up to which the lack of a zero is seen
	switch {
	case whole && data.lo == 1 && data.hi <= numbered:
		a.lo = max(a.lo, 0.5)
	case data.lo >= 0 && data.lo <= 0.3*data.hi:
		a.lo = 0
	}
	return a
}

// counts reports whether two whole numbers are on the axis.
func (a axis) counts() bool { return math.Floor(a.hi)-math.Ceil(a.lo) >= 1 }

// tick is a position on an axis; minor ticks have no label.
type tick struct {
	at    float64
	label string
}

// ticks returns ticks for an axis of the given length, whose labels do not touch. Those of whole numbers are whole. A
// logarithmic axis has at least two labels.
func (a axis) ticks(length vg.Length, upright, whole bool) []tick {
	fits := func(ticks []tick) bool {
		end := vg.Length(math.Inf(-1))
		for _, t := range ticks {
			if t.label == "" {
				continue
			}
			size, gap := tickText.width(t.label), tickText.size*0.4
			if upright {
				size, gap = tickText.height(1), tickText.size*0.3
			}
			at := vg.Length(a.norm(t.at)) * length
			if at-size/2 <= end+gap {
				return false
			}
			end = at + size/2
		}
		return true
	}
	if a.log && !a.within() {
		return a.logTicks(fits)
	}
	n := max(4, int(length/(1.2*vg.Centimeter)))
	for most := 2 * n; n < most && len(linearTicks(a.lo, a.hi, n, whole)) < 3; n++ { // two do not show a scale
	}
	all := linearTicks(a.lo, a.hi, 2*n, whole)
	for ; n >= 1; n-- {
		if out := linearTicks(a.lo, a.hi, n, whole); fits(out) && labelled(out) >= min(2, len(all)) {
			return out
		}
	}
	return atEnds(all)
}

// labelled counts the ticks with labels.
func labelled(ticks []tick) (n int) {
	for _, t := range ticks {
		if t.label != "" {
			n++
		}
	}
	return n
}

// atEnds leaves their labels to the first and the last of the ticks that have some.
func atEnds(ticks []tick) []tick {
	last := labelled(ticks)
	for i, n := 0, 0; i < len(ticks); i++ {
		if ticks[i].label == "" {
			continue
		}
		if n++; n > 1 && n < last {
			ticks[i].label = ""
		}
	}
	return ticks
}

// within reports whether a logarithmic axis is so short that round numbers at equal steps are its ticks.
func (a axis) within() bool {
	const decades = 0.7 // 2, 5 and 10 are two at least beyond
	return math.Log10(a.hi/a.lo) < decades
}

func linearTicks(lo, hi float64, n int, whole bool) []tick {
	if hi-lo < 1/largest {
		return nil
	}
	step := niceStep((hi - lo) / float64(max(n, 1)))
	if whole {
		step = max(step, 1)
	}
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

// logTicks labels powers of ten and 2 and 5 times them, or powers of ten, or each second, third, ... of these: the
// most that fit, but at least two. Between powers of ten that are all labelled, the others up to nine times have small
// ticks; else the powers have.
func (a axis) logTicks(fits func([]tick) bool) []tick {
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
	// with labels 2 and 5 times each power, or each so many powers.
	const crowd = 6 // decades beyond which small ticks would be a comb
	with := func(between bool, every int) (out []tick) {
		for e := first; e <= last; e++ {
			for m := 1.0; m < 10; m++ {
				t := tick{at: m * math.Pow(10, float64(e))}
				if !a.contains(t.at) || (every > 1 || last-first > crowd) && m > 1 {
					continue
				}
				if m == 1 && e%every == 0 || between && (m == 2 || m == 5) {
					t.label = label(m, e)
				}
				out = append(out, t)
			}
		}
		return out
	}
	const few = 2 // decades up to which 2 and 5 are wanted
	if out := with(true, 1); math.Log10(a.hi/a.lo) <= few && fits(out) {
		return out
	}
	for every := 1; every <= last-first; every++ {
		out := with(false, every)
		if labelled(out) < 2 {
			break
		}
		if fits(out) {
			return out
		}
	}
	return atEnds(with(true, 1))
}
