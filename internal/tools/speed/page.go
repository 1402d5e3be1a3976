package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/plots"
)

// fittedSizes is the number of last sizes through which the exponents are fitted: a factor
// of eight in size.
const fittedSizes = 4

// exponent is the slope of the least-squares line through the logarithms of the last
// sizes and values, NaN for fewer than two values that are positive.
func exponent(points []point, value func(point) float64) float64 {
	var x, y []float64
	for _, p := range points[max(0, len(points)-fittedSizes):] {
		if v := value(p); v > 0 {
			x, y = append(x, math.Log(float64(p.size))), append(y, math.Log(v))
		}
	}
	if len(x) < 2 {
		return math.NaN()
	}
	_, slope := stat.LinearRegression(x, y, nil, false)
	return slope
}

func secondsOf(p point) float64 { return p.seconds }

func bytesOf(p point) float64 { return p.bytes }

// timeText is a time with three digits and its unit.
func timeText(seconds float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}} {
		if seconds >= 0.9995*u.size {
			return digits(seconds/u.size) + " " + u.name
		}
	}
	return digits(seconds*1e9) + " ns"
}

// digits is v with three digits.
func digits(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// bytesText is a size in memory, empty for 0, which stands for what is not known.
func bytesText(bytes float64) string {
	if bytes == 0 {
		return ""
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if bytes >= 0.9995*u.size {
			return digits(bytes/u.size) + " " + u.name
		}
	}
	return fmt.Sprintf("%.0f B", bytes)
}

// slopeText is empty for what has no exponent.
func slopeText(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf("%.1f", v)
}

// page is what docs/speed holds besides the table of points: figures of time and memory, and
// README.md. points are those of works, in their order.
func page(h head, works []work, points []point) ([]plots.File, error) {
	of := map[string][]point{}
	for _, p := range points {
		of[p.name] = append(of[p.name], p)
	}
	var panels, names []string
	for _, w := range works {
		names = append(names, w.name)
		if !slices.Contains(panels, w.panel) {
			panels = append(panels, w.panel)
		}
	}
	styles := plots.Ordered(names...) // so that a work looks the same in both figures
	figure := func(label, commands string, value func(point) float64) plots.Drawing {
		d := plots.Drawing{Columns: 2}
		for _, title := range panels {
			panel := plots.Panel{Title: title, XLog: true, YLog: true, YLabel: label}
			if title == programs {
				panel.YLabel = commands
			}
			var by []string
			for _, w := range works {
				if w.panel != title {
					continue
				}
				style, line := styles[w.name], styles.Line(w.name)
				if s := slopeText(exponent(of[w.name], value)); s != "" {
					line.Name += ": " + s
				}
				for _, p := range of[w.name] {
					if v := value(p); v > 0 {
						line.X, line.Y = append(line.X, float64(p.size)), append(line.Y, v)
					}
				}
				// The product allocates nothing once its blocks are pooled.
				if len(line.X) > 0 {
					panel.Marks = append(panel.Marks, line, plots.Points{X: line.X, Y: line.Y, Color: style.Color, Shape: style.Shape})
				}
				if !slices.Contains(by, w.by) {
					by = append(by, w.by)
				}
			}
			panel.XLabel = strings.Join(by, ", ")
			d.Panels = append(d.Panels, panel)
		}
		return d
	}
	table := plots.TextTable{Head: []string{"work", "with", "size", "from", "to", "time there", "exponent", "memory there", "exponent"}}
	for _, w := range works {
		ps := of[w.name]
		if len(ps) == 0 {
			return nil, fmt.Errorf("%s was not measured", w.name)
		}
		last := ps[len(ps)-1]
		table.Rows = append(table.Rows, []string{
			w.name, w.fixed, w.by, fmt.Sprint(ps[0].size), fmt.Sprint(last.size),
			timeText(last.seconds), slopeText(exponent(ps, secondsOf)), bytesText(last.bytes), slopeText(exponent(ps, bytesOf)),
		})
	}
	var files []plots.File
	for name, d := range map[string]plots.Drawing{
		"time":   figure("CPU time in s", "CPU time in s", secondsOf),
		"memory": figure("bytes allocated", "peak of memory in bytes", bytesOf),
	} {
		rendered, err := d.Render(name, plots.Options{})
		if err != nil {
			return nil, err
		}
		for _, f := range rendered {
			if !strings.HasSuffix(f.Name, ".md") { // README.md shows both
				files = append(files, f)
			}
		}
	}
	slices.SortFunc(files, func(a, b plots.File) int { return strings.Compare(a.Name, b.Name) })
	return append(files, plots.File{Name: "README.md", Data: []byte(text(h, table))}), nil
}

func text(h head, t plots.TextTable) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# How cost grows

Made by `+"`go run ./internal/tools/speed`"+` on %s: %s, %s, commit %s; products of matrices: %s.

Times are CPU times of one core, the least of up to five. Each work doubled its size until the next one would have taken more than %s.
An exponent is the slope of the least-squares line through the last %d sizes, both axes logarithmic: twice the size costs 2 to that power. The figures give it beside the names. For a size beyond the last one, time ≈ time there · (size / to)^exponent.
Memory is what an operation allocates in all, which is more than what it holds at once; that of the commands is the peak of the process. Lines "per" something and steps are means over a whole pass.
Fits run to their default tolerance unless the line says otherwise: how many iterations they need depends on the data. The data are made up: five overlapping classes, features with variances that fall as 1/j².

![Time against size](time.svg)

![Memory against size](memory.svg)

`, h.Date, h.Machine, h.Go, h.Commit, h.Product, h.Limit, fittedSizes)
	b.WriteString(t.Markdown())
	fmt.Fprintf(&b, "\nAll points are in [%s](%s). What others take for the same work: [peers.md](peers.md), measured by `python3 scripts/peers.py`.\n", tableName, tableName)
	return b.String()
}
