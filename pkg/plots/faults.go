package plots

import (
	"fmt"
	"math"
	"strings"
)

// Faults lists what makes a drawing hard to read, though it can be drawn: names that look alike in grey, and what ranges,
// ticks and titles ask for that the rules of the layout would not give. Its errors are those of Render.
func (d Drawing) Faults() ([]string, error) {
	panels, _, _, err := d.prepare()
	if err != nil || len(panels) == 0 {
		return nil, err
	}
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	measured := d.layout(panels, Options{}).panels
	for _, pair := range alikeInGrey(measured) {
		add("%q and %q look alike in grey", pair[0], pair[1])
	}
	for i, m := range measured {
		for _, side := range m.sides() {
			last := len(side.label.lines) - 1
			if last > 0 && !strings.Contains(side.label.lines[last], " ") {
				add("panel %d: the title of the %s axis ends in the lone word %q", i, side.name, side.label.lines[last])
			}
			if !m.hasScales() || m.HideAxes {
				continue
			}
			if side.numbers && labelled(side.ticks) < 2 {
				add("panel %d: the %s axis has %d labelled ticks, want two at least", i, side.name, labelled(side.ticks))
			}
			for _, t := range side.ticks {
				if side.whole && !side.axis.log && t.at != math.Trunc(t.at) {
					add("panel %d: the %s axis counts, and has a tick at %v", i, side.name, t.at)
				}
			}
			for k, o := range measured[:i] {
				other := o.sides()[side.which]
				if o.hasScales() && other.title != "" && other.title == side.title && side.positive && other.positive && !side.axis.log && !other.axis.log && (side.axis.lo == 0) != (other.axis.lo == 0) {
					add("panels %d and %d: of two %s axes of one title one begins at 0", k, i, side.name)
				}
			}
		}
	}
	return out, nil
}

// side is an axis with all that is written on it.
type side struct {
	which           int
	name            string
	axis            axis
	title           string
	label           label
	ticks           []tick
	numbers         bool // it has numbers, not names
	whole, positive bool // all of its data are so
}

func (m *measured) sides() [2]side {
	return [2]side{
		{0, "x", m.x, m.XLabel, m.xLabel, m.xTicks, true, m.whole.x, m.data.x.lo >= 0},
		{1, "y", m.y, m.YLabel, m.yLabel, m.yTicks, m.kind == axesPanel, m.whole.y, m.data.y.lo >= 0},
	}
}
