package plots

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// shifted returns the marks of a panel, where lines that coincide in the frame over most of their length are moved side by
// side, up or down by a width or less: each stays in sight.
func shifted(f *frame, marks []Mark) []Mark {
	out := slices.Clone(marks)
	var lines []int
	var paths [][]vg.Point
	group := map[int]int{} // of a line, the first one that it coincides with
	for i, m := range marks {
		l, ok := m.(Line)
		if !ok {
			continue
		}
		path := l.path(f)
		for k := range lines {
			if coincide(path, paths[k]) {
				from, to := group[i], group[lines[k]]
				if _, there := group[i]; !there {
					group[i] = to
					continue
				}
				for j, g := range group {
					if g == max(from, to) {
						group[j] = min(from, to)
					}
				}
			}
		}
		if _, there := group[i]; !there {
			group[i] = i
		}
		lines, paths = append(lines, i), append(paths, path)
	}
	const most = 3 * lineWidth // of all lines of a group from the first to the last
	for _, first := range lines {
		var of []int
		for _, i := range lines {
			if group[i] == first {
				of = append(of, i)
			}
		}
		if len(of) < 2 {
			continue
		}
		step := min(lineWidth, most/vg.Length(len(of)-1))
		half := step * vg.Length(len(of)-1) / 2
		// Where they run along the frame's edge, all are moved inside.
		low, high := f.Max.Y, f.Min.Y
		for k, i := range lines {
			for _, p := range paths[k] {
				if slices.Contains(of, i) && f.Contains(p) {
					low, high = min(low, p.Y), max(high, p.Y)
				}
			}
		}
		inside := max(0, f.Min.Y-(low-half)) - max(0, high+half-f.Max.Y)
		for k, i := range of {
			l := out[i].(Line)
			l.shift = inside + half - step*vg.Length(k)
			out[i] = l
		}
	}
	return out
}

// path returns the points of a line in the frame from left to right, nil if it turns back.
func (m Line) path(f *frame) []vg.Point {
	left, right, ok := m.ends()
	if !ok {
		return nil
	}
	var out []vg.Point
	for i, x := range m.X {
		if isFinite(x) {
			out = append(out, f.at(x, m.Y[i]))
		}
	}
	if left > right {
		slices.Reverse(out)
	}
	return out
}

// coincide reports whether two paths are nearer than half a line's width over more than half of the shorter one.
func coincide(a, b []vg.Point) bool {
	if len(a) < 2 || len(b) < 2 {
		return false
	}
	length := func(p []vg.Point) vg.Length { return p[len(p)-1].X - p[0].X }
	var xs []vg.Length
	for _, p := range slices.Concat(a, b) {
		xs = append(xs, p.X)
	}
	slices.Sort(xs)
	near := func(x vg.Length) bool {
		p, q := height(a, x), height(b, x)
		return math.Abs(float64(p-q)) < lineWidth/2 // not if one is NaN
	}
	var together vg.Length
	for i := 1; i < len(xs); i++ {
		if xs[i-1] < xs[i] && near(xs[i-1]) && near(xs[i]) {
			together += xs[i] - xs[i-1]
		}
	}
	return together > min(length(a), length(b))/2
}

// height returns that of a path at x, NaN outside of it.
func height(path []vg.Point, x vg.Length) vg.Length {
	i, _ := slices.BinarySearchFunc(path, x, func(p vg.Point, x vg.Length) int {
		if p.X < x {
			return -1
		}
		return 1
	})
	switch {
	case i < len(path) && path[i].X == x:
		return path[i].Y
	case i == 0 || i == len(path):
		return vg.Length(math.NaN())
	}
	p, q := path[i-1], path[i]
	return p.Y + (q.Y-p.Y)*(x-p.X)/(q.X-p.X)
}
