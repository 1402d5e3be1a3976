package nb

import (
	"bytes"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// ShowPlot displays a plot of gonum/plot, 15 cm wide and 10 cm high. It panics on a plot that cannot be drawn.
func ShowPlot(p *plot.Plot) {
	displayPNG(Must(plotPNG(p)), "Figure: "+p.Title.Text, pageDPI)
}

func plotPNG(p *plot.Plot) ([]byte, error) {
	w, err := p.WriterTo(15*vg.Centimeter, 10*vg.Centimeter, "png")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		return nil, err
	}
	return compact(b.Bytes())
}

// ByClass returns the first two columns of x as what plotutil.AddScatters takes: the name of a class and its points, for each
// class in alphabetical order. A point with NaN is left out. It panics unless there are two columns, and a class per row.
func ByClass(x mat.Matrix, classes []string) (out []any) {
	checkPlane("ByClass", x, len(classes))
	names := slices.Compact(slices.Sorted(slices.Values(classes)))
	for _, name := range names {
		var points plotter.XYs
		for i, c := range classes {
			if c == name && !math.IsNaN(x.At(i, 0)+x.At(i, 1)) {
				points = append(points, plotter.XY{X: x.At(i, 0), Y: x.At(i, 1)})
			}
		}
		out = append(out, name, points)
	}
	return out
}
