package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A legend is rows of cells, each an icon of a name's marks and the wrapped name.

type legendCell struct {
	icons       []entry
	lines       []string
	x, w, iconW vg.Length
}

func flowLegend(entries []entry, width vg.Length) [][]legendCell {
	iconW := vg.Length(iconHeight)
	for _, e := range entries {
		if e.look.kind != glyphLook || e.detail == wideIcon {
			iconW = iconWidth
		}
	}
	var out [][]legendCell
	x := vg.Length(0)
	names, icons := merged(entries)
	for i, name := range names {
		lines := legendText.wrap(name, width-iconW-labelGap)
		w := iconW + labelGap + legendText.maxWidth(lines)
		if len(out) == 0 || x+w > width {
			out = append(out, nil)
			x = 0
		}
		out[len(out)-1] = append(out[len(out)-1], legendCell{icons[i], lines, x, w, iconW})
		x += w + entryGap
	}
	return out
}

func rowHeight(row []legendCell) vg.Length {
	n := 0
	for _, c := range row {
		n = max(n, len(c.lines))
	}
	return legendText.height(n)
}

func legendHeight(rows [][]legendCell) vg.Length {
	h := vg.Length(0)
	for i, row := range rows {
		if i > 0 {
			h += labelGap
		}
		h += rowHeight(row)
	}
	return h
}

// drawLegend draws rows downwards from top, centred at its x.
func drawLegend(c draw.Canvas, top vg.Point, rows [][]legendCell) {
	y := top.Y
	var width vg.Length
	for _, row := range rows {
		last := row[len(row)-1]
		width = max(width, last.x+last.w)
	}
	for _, row := range rows {
		for _, cell := range row {
			x := top.X - width/2 + cell.x
			mid := y - legendText.size*capHeight/2
			icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: mid - iconHeight/2}, Max: vg.Point{X: x + cell.iconW, Y: mid + iconHeight/2},
			}}
			for _, e := range cell.icons {
				e.icon(&icon)
			}
			legendText.drawLines(c, vg.Point{X: x + cell.iconW + labelGap, Y: y}, cell.lines, 0)
		}
		y -= rowHeight(row) + labelGap
	}
}
