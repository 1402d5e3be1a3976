package catalog_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/experiment/host"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
)

var calibrate = flag.Bool("calibrate", false, "measure fits and print them beside their estimates")
var only = flag.String("only", "", "calibrate this learner only")

// overlapping draws n rows of c classes, whose means differ by about the width of a class.
func overlapping(n, d, c int) (*mat.Dense, []int) {
	rng := rand.New(rand.NewPCG(1, 2))
	means := mat.NewDense(c, d, nil)
	for i := range c {
		for j := range d {
			means.Set(i, j, rng.NormFloat64())
		}
	}
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % c
		for j := range d {
			x.Set(i, j, means.At(y[i], j)+1.2*rng.NormFloat64())
		}
	}
	return x, y
}

func fitOnce(ctx context.Context, e catalog.Entry, x *mat.Dense, y []int, pairs int) error {
	v, err := e.Parse(nil)
	if err != nil {
		return err
	}
	_, d := x.Dims()
	links, err := sample.BalancedLinks(rand.New(rand.NewPCG(3, 4)), y, pairs)
	if err != nil {
		return err
	}
	switch {
	case e.NewPair != nil:
		l, err := e.NewPair(d, v)
		if err != nil {
			return err
		}
		for _, err := range learners.Run(l, sample.Pairs(x, links)) {
			if err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	case e.FitLinks != nil:
		_, err = e.FitLinks(ctx, x, links, v, nil)
	case e.FitKernel != nil:
		_, err = e.FitKernel(ctx, x, links, v, nil)
	case e.FitKernelData != nil:
		_, err = e.FitKernelData(ctx, x, y, v, nil)
	case e.FitLowRank != nil:
		_, err = e.FitLowRank(ctx, x, y, v, nil)
	case e.FitData != nil:
		_, err = e.FitData(ctx, x, y, v, nil)
	}
	return err
}

func TestCalibrate(t *testing.T) {
	if !*calibrate {
		t.Skip("with -calibrate only")
	}
	cpu := host.World(time.Now).ProcessCPU
	for _, e := range catalog.All() {
		if *only != "" && e.Name != *only {
			continue
		}
		if e.Feedback != catalog.Pairs && e.Feedback != catalog.Links && e.Feedback != catalog.Classes && e.Feedback != catalog.Data {
			continue
		}
		for _, s := range [][4]int{{200, 10, 3, 1000}, {800, 10, 3, 1000}, {500, 150, 4, 2000}, {400, 500, 3, 1000}, {10000, 20, 4, 1000}} {
			x, y := overlapping(s[0], s[1], s[2])
			if v, _ := e.Parse(nil); e.Estimate(catalog.Size{Rows: s[0], Features: s[1], Classes: s[2], Pairs: s[3], Passes: 1}, v).Seconds > 30 {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
			runs, begin := 0, cpu()
			var err error
			for runs == 0 || runs < 20 && cpu()-begin < 30*time.Millisecond && err == nil {
				err = fitOnce(ctx, e, x, y, s[3])
				runs++
			}
			cancel()
			used := (cpu() - begin).Seconds() / float64(runs)
			state := ""
			if err != nil {
				state = err.Error()
			}
			v, err := e.Parse(nil)
			if err != nil {
				t.Fatal(err)
			}
			c := e.Estimate(catalog.Size{Rows: s[0], Features: s[1], Classes: s[2], Pairs: s[3], Passes: 1}, v)
			fmt.Printf("%-14s n=%5d d=%3d c=%d m=%d %9.4f s, estimate %9.4f s (x %.2f), %.3g MB %s\n", e.Name, s[0], s[1], s[2], s[3], used, c.Seconds, c.Seconds/used, float64(c.Bytes)/1e6, state)
		}
	}
}
