package nb

import (
	"bytes"
	"image/png"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
)

func TestPlot(t *testing.T) {
	by := ByClass(mat.NewDense(4, 3, []float64{1, 2, 9, 3, 4, 9, 5, 6, 9, math.NaN(), 7, 9}), []string{"tea", "cocoa", "tea", "tea"})
	if len(by) != 4 || by[0] != "cocoa" || by[2] != "tea" || len(by[3].(plotter.XYs)) != 2 || by[3].(plotter.XYs)[1] != (plotter.XY{X: 5, Y: 6}) {
		t.Errorf("ByClass = %v", by)
	}
	p := plot.New()
	if err := plotutil.AddScatters(p, by...); err != nil {
		t.Fatal(err)
	}
	img, err := plotPNG(p)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := png.DecodeConfig(bytes.NewReader(img)); err != nil || c.Width != 567 || c.Height != 378 {
		t.Errorf("the figure has %d×%d points, error %v", c.Width, c.Height, err)
	}
}
