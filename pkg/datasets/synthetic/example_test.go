package synthetic_test

import (
	"fmt"
	"math/rand/v2"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/synthetic"
)

func ExampleGlyph() {
	g := synthetic.Glyph(2)
	for y := 0; y < synthetic.GlyphSide; y += 2 { // every second row
		for x := range synthetic.GlyphSide {
			fmt.Print(map[float64]string{0: ".", 1: "#"}[g[y*synthetic.GlyphSide+x]])
		}
		fmt.Println()
	}
	// Output:
	// ............
	// ..########..
	// ........##..
	// .....####...
	// ..###.......
	// ..########..
}

func ExampleNoisyGlyphs() {
	rng := rand.New(rand.NewPCG(1, 2))
	s, err := synthetic.NoisyGlyphs(rng, []int{5, 2}, 16, synthetic.NoisePerImage, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.N(), "images of", s.Height, "by", s.Width, "pixels; the first shows", s.Y[0])
	// Output: 64 images of 12 by 12 pixels; the first shows 5
}

func ExampleGlyphDigits() {
	train, _ := synthetic.GlyphDigits(rand.New(rand.NewPCG(1, 2)), 200, 100)
	idx := train.Filter(train.All(), 3, 8)
	x := train.Rows(idx, datasets.Scale01)
	n, d := x.Dims()
	fmt.Println(n, "rows of", d, "pixels; digits", train.Y(idx[:5]))
	// Output: 40 rows of 144 pixels; digits [3 8 3 8 8]
}

func ExampleSeparablePairs() {
	rng := rand.New(rand.NewPCG(1, 2))
	s, err := synthetic.SeparablePairs(rng, synthetic.SeparableConfig{N: 1000, Dim: 10, Rank: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	loss := 0.0
	for _, p := range s.Pairs {
		// 1e-9 leaves room for round-off at the margin.
		loss += max(0, 1-float64(p.Label)*(s.Threshold-s.Metric.SqDist(p.X, p.Y))-1e-9)
	}
	fmt.Println("hinge loss of the known metric:", loss)
	// Output: hinge loss of the known metric: 0
}
