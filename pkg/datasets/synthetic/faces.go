package synthetic

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// FaceSide is the height and width of a face of Faces.
const FaceSide = 48

// faceLevels is the number of values that each trait of Faces takes.
const faceLevels = 4

// Faces returns pictures of 16 faces after Chernoff (The use of faces to represent points in
// k-dimensional space graphically, 1973), something that people can compare at a
// glance. Row i of pix holds FaceSide×FaceSide pixels, row by row, from 0 for blank to 1
// for ink. Row i of traits holds what the face shows, each from 0 to 1 in four equal
// steps: its mood, from sad to happy (column 0), and its width, from narrow to wide
// (column 1). Face 4m + w has mood m/3 and width w/3.
func Faces() (pix, traits *mat.Dense) {
	const n = faceLevels * faceLevels
	pix, traits = mat.NewDense(n, FaceSide*FaceSide, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		mood, width := float64(i/faceLevels)/(faceLevels-1), float64(i%faceLevels)/(faceLevels-1)
		traits.SetRow(i, []float64{mood, width})
		drawFace(pix.RawRowView(i), mood, width)
	}
	return pix, traits
}

// drawFace fills dst with the share of samples of each pixel that hit ink.
func drawFace(dst []float64, mood, width float64) {
	const samples = 4 // per pixel and axis
	const step = 1.0 / (FaceSide * samples)
	for i := range dst {
		hits := 0
		for s := range samples * samples {
			x := float64(i%FaceSide*samples+s%samples) + .5
			y := float64(i/FaceSide*samples+s/samples) + .5
			if isInk(2*x*step-1, 2*y*step-1, mood, width) {
				hits++
			}
		}
		dst[i] = float64(hits) / (samples * samples)
	}
}

// isInk says whether the pen of a face touches (x, y) in [−1, 1]², y down.
func isInk(x, y, mood, width float64) bool {
	const (
		pen        = .05 // half the width of a stroke
		halfHeight = .95 - pen
	)
	halfWidth := .4 + .5*width
	// A curve f = 0 passes at a distance of about |f|/‖∇f‖.
	r := math.Hypot(x/halfWidth, y/halfHeight)
	outline := math.Abs(r-1)*r < pen*math.Hypot(x/(halfWidth*halfWidth), y/(halfHeight*halfHeight))
	eyes := math.Hypot(math.Abs(x)-.4*halfWidth, y+.25) < .08
	bend := .33 * (2*mood - 1) // of the parabola of the mouth, up at the ends if happy
	reach := .55 * halfWidth
	u := x / reach
	mouth := math.Abs(u) <= 1 && math.Abs(y-.45+bend*(u*u-.5)) < pen*math.Hypot(1, 2*bend*u/reach)
	return outline || eyes || mouth
}
