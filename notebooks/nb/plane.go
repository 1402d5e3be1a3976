package nb

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// Level is the curve {v : vᵀMv = b} in the square |v₁|, |v₂| ≤ half, b ≠ 0: an
// ellipse if M is positive definite, a strip's two edges if it has rank one, a
// hyperbola if its eigenvalues have different signs. Where it leaves the square
// it is cut, so that it has several lines, or none. All take their name, colour
// and dashes from style. It panics unless M is 2×2 and half > 0.
func Level(style plots.Line, m mat.Symmetric, b, half float64) []plots.Mark {
	if n := m.SymmetricDim(); n != 2 {
		panic(fmt.Sprintf("nb: Level of a %d×%d matrix, want 2×2", n, n))
	}
	if !(half > 0) {
		panic(fmt.Sprintf("nb: Level in a square of half-width %g, want a positive one", half))
	}
	const rays = 1440 // each meets the curve once or never
	var marks []plots.Mark
	line := style
	end := func() {
		if len(line.X) > 1 {
			marks = append(marks, line)
			style.Name = "" // one entry in the legend
		}
		line = style
	}
	for k := range rays + 1 {
		s, c := math.Sincos(2 * math.Pi * float64(k) / rays)
		q := m.At(0, 0)*c*c + 2*m.At(0, 1)*c*s + m.At(1, 1)*s*s
		r := math.Sqrt(b / q) // NaN if b and q have different signs
		if r > 0 && r*max(math.Abs(c), math.Abs(s)) <= half {
			line.X, line.Y = append(line.X, r*c), append(line.Y, r*s)
		} else {
			end()
		}
	}
	end()
	return marks
}

// Square returns a panel with axes from −half to half and equal units, for
// differences v = x − x′.
func Square(title string, half float64, marks ...plots.Mark) plots.Panel {
	return plots.Panel{
		Title: title, XLabel: "v₁", YLabel: "v₂", Equal: true,
		XMin: -half, XMax: half, YMin: -half, YMax: half, Marks: marks,
	}
}

// Differences are the differences v = x − x′ of pairs, similar ones in the
// first mark and dissimilar ones in the second. A mark without points is left out.
// It panics unless the vectors have length 2.
func Differences(pairs []metric.Pair) []plots.Mark {
	similar := plots.Points{Name: "similar pair", Color: 0}
	dissimilar := plots.Points{Name: "dissimilar pair", Color: 1, Shape: 1}
	for _, p := range pairs {
		if len(p.X) != 2 || len(p.Y) != 2 {
			panic(fmt.Sprintf("nb: Differences of vectors of length %d and %d, want 2", len(p.X), len(p.Y)))
		}
		at := &similar
		if p.Label == metric.Dissimilar {
			at = &dissimilar
		}
		v := metric.Sub(nil, p.X, p.Y)
		at.X, at.Y = append(at.X, v[0]), append(at.Y, v[1])
	}
	var marks []plots.Mark
	for _, m := range []plots.Points{similar, dissimilar} {
		if len(m.X) > 0 {
			marks = append(marks, m)
		}
	}
	return marks
}

// Classes shows the rows of the n×2 matrix x, a colour and shape per label of y: others than
// those of Differences, for one drawing may have both. It panics unless y has a label per row.
func Classes(x *mat.Dense, y []int) []plots.Mark {
	checkPlane("Classes", x, len(y))
	at := map[int]*plots.Points{}
	var order []int
	for i, label := range y {
		p := at[label]
		if p == nil {
			p = &plots.Points{Name: fmt.Sprintf("class %d", label)}
			at[label] = p
			order = append(order, label)
		}
		p.X, p.Y = append(p.X, x.At(i, 0)), append(p.Y, x.At(i, 1))
	}
	slices.Sort(order)
	var marks []plots.Mark
	for k, label := range order {
		at[label].Color, at[label].Shape = k+2, k+2
		marks = append(marks, *at[label])
	}
	return marks
}

// checkPlane panics unless x has two columns at least and a label per row.
func checkPlane(caller string, x mat.Matrix, labels int) {
	if rows, columns := x.Dims(); rows != labels || columns < 2 {
		panic(fmt.Sprintf("nb: %s of %d rows of %d columns with %d labels, want two columns and a label per row", caller, rows, columns, labels))
	}
}

// BestThreshold returns the b ≥ 0 for which "similar iff d² ≤ b" is wrong on the
// fewest pairs, and on how many. Of equals it takes the smallest, half-way
// between two neighbouring squared distances. It panics without pairs.
func BestThreshold(d metric.SqDister, pairs []metric.Pair) (b float64, mistakes int) {
	if len(pairs) == 0 {
		panic("nb: BestThreshold without pairs")
	}
	dist := make([]float64, len(pairs))
	for i, p := range pairs {
		dist[i] = d.SqDist(p.X, p.Y)
	}
	sorted := append([]float64{0}, dist...)
	slices.Sort(sorted)
	mistakes = len(pairs) + 1
	for i, low := range sorted {
		high := low
		if i+1 < len(sorted) {
			high = sorted[i+1]
		}
		try := (low + high) / 2
		wrong := 0
		for j, p := range pairs {
			if (dist[j] <= try) != (p.Label == metric.Similar) {
				wrong++
			}
		}
		if wrong < mistakes {
			b, mistakes = try, wrong
		}
	}
	return b, mistakes
}
