package erkle2015

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/table"

	"gonum.org/v1/gonum/mat"
)

// Restarts fits coordinates in place of kernels, which is not convex, from several starts.
var Restarts = experiment.Spec{
	ID:      "erkle2015/restarts",
	Title:   "Embeddings in few dimensions from several starts, against fits of kernels and ERKLE",
	Source:  "Section 2: \"which only guarantee convergence to a local minimum. In the typical non-convex batch setting, multiple solutions are found with different initializations and the best is chosen among them\"",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, name := range restartData {
			d, err := dataSetOf(name)
			if err != nil {
				panic(err)
			}
			s := restartSettings{
				splitSettings: d.settings(scale), stopping: stopping{1000, batchTol}, Starts: 10, Dims: restartDims, Tau: map[string]float64{},
				Sizes: []int{100, 250, 500, 1000},
			}
			if name == syntheticPoints {
				s.Sizes = []int{1000, 2500, 5000, 10000}
			}
			if scale == experiment.Smoke {
				s.Starts, s.Dims, s.Sizes = 3, []int{2, 5}, []int{20, 80}
			}
			for _, b := range d.batches {
				s.Tau[b.name] = tauOf(name, b.name).validated
			}
			cells = append(cells, experiment.Cell{
				Name: name, Dataset: d.datasetAt(scale), Settings: s,
				Methods: map[string]int{"ERKLE": triplets.ERKLEVersion, "batch, factored": triplets.BatchFactoredVersion, "coordinates": triplets.CoordinatesVersion},
			})
		}
		return cells
	},
	Trials:  experiment.Trials(judge.MinTrials),
	Columns: restartColumns,
	Trial:   measured,
	Views: []experiment.View{
		{Name: "restarts", Title: "Objectives that starts of an embedding end with, and their test errors", Draw: drawRestarts},
		{Name: "restarts-followed", Title: "Which start of an embedding is best as triplets come in", Draw: drawRestartsFollowed},
	},
	Claims: restartClaims,
	Cost:   20 * time.Second,
}

// restartData are the data sets, and restartDims the numbers of coordinates.
var (
	restartData = []string{syntheticPoints, material, zappos}
	restartDims = []int{2, 10, 50}
)

// restartSettings are those of a cell. The weights of the trace are those of the fits of kernels, so that the objectives are the same.
type restartSettings struct {
	splitSettings
	stopping
	Starts int                `key:"starts"`
	Dims   []int              `key:"coordinates,list"`
	Sizes  []int              `key:"sizes,list"`
	Tau    map[string]float64 `key:"%v tau"`
}

// How starts came to a number of triplets, as tables name it.
const (
	fromAnew     = "anew"     // from their random X
	fromFollowed = "followed" // from where they were at the size before
	fromKernel   = "kernel"   // the fit of a kernel in their place, from that of the size before
	fromOnline   = "online"
)

var restartColumns = slices.Concat(experiment.Columns{
	experiment.Text("method", "the learner; of coordinates the batch method with the same loss and weight of the trace"),
	experiment.Text("coordinates", "number of coordinates; empty where a kernel is learned"),
	experiment.Text("from", "where the fits began: each start anew, or followed from the size before; kernel where one is fitted in their place; online"),
	experiment.Text("triplets", "training triplets seen"),
}, errorColumns("test"), experiment.Columns{
	experiment.Number("objective", "", "the least objective of the starts, that of the kernel; the test errors above are its"),
	experiment.Number("largest objective", "", "the largest objective of the starts"),
	experiment.Number("objective at 0", "", "that of all objects in one place"),
	experiment.Number("best", "", "which start has the least objective, from 0"),
	experiment.Number("former", "", "the objective of the start that had the least at the size before"),
	experiment.Number("first wrong", "", "test triplets that the start does not satisfy that had the least objective at the first size"),
	experiment.Number("mean wrong", "", "test triplets that a start does not satisfy, mean over starts"),
	experiment.Number("least wrong", "", "the least of these numbers"),
	experiment.Number("largest wrong", "", "the largest of these numbers"),
	experiment.Number("starts", "", "how many starts there are; of a kernel 1"),
	experiment.Number("converged", "", "how many of them reached the residual"),
	experiment.Number("largest residual", "", "of coordinates the size of the gradient in units of the objective at 0, of a kernel a "+gapMeaning),
	experiment.Number("iterations", "", "mean number of iterations"),
})

func (x restartSettings) measure(ctx context.Context, run splitRun) error {
	r := &restartRun{run, x}
	if err := followERKLE(ctx, run.split, run.Seed, x.Sizes, func(method string, seen int, k mat.Symmetric) {
		v := table.Values{}
		run.split.testErrors(k).put(v, "test")
		r.add(method, "", fromOnline, seen, v)
	}); err != nil {
		return err
	}
	for _, b := range batches {
		if err := r.kernel(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		for _, d := range x.Dims {
			if err := r.embed(ctx, b, d); err != nil {
				return fmt.Errorf("%s, %d coordinates: %w", b.name, d, err)
			}
		}
	}
	return nil
}

// restartRun is a trial that fills its table.
type restartRun struct {
	splitRun
	restartSettings
}

func (r *restartRun) add(method, coordinates, from string, seen int, v table.Values) {
	r.Rows.Add(table.Key{"method": method, "coordinates": coordinates, "from": from, "triplets": strconv.Itoa(seen)}, v)
}

// atZero is the objective of all objects in one place.
func atZero(loss triplets.Loss, seen int) float64 { return zeroLoss[loss] * float64(seen) }

func (r *restartRun) kernel(ctx context.Context, b batchMethod) error {
	p := triplets.BatchParams{Loss: b.loss, Tau: r.Tau[b.name], Iterations: r.Iterations, Tol: r.Tol}
	return fitPath(ctx, r.split, r.Sizes, p, func(seen int, f triplets.BatchResult) {
		v := table.Values{"objective": f.Objective, "objective at 0": atZero(b.loss, seen), "largest residual": f.Residual, "iterations": float64(f.Iterations), "starts": 1, "converged": 0}
		if f.Residual <= r.Tol {
			v["converged"] = 1
		}
		r.split.testErrors(f.Kernel).put(v, "test")
		r.add(b.name, "", fromKernel, seen, v)
	})
}

// embed fits coordinates from each start to each number of triplets in turn, and from the same starts to all of them at once.
func (r *restartRun) embed(ctx context.Context, b batchMethod, d int) error {
	p := triplets.CoordinatesParams{Loss: b.loss, Tau: r.Tau[b.name], Dim: d, Starts: r.Starts, Iterations: r.Iterations, Tol: r.Tol}
	stream := fmt.Sprintf("starts of %d coordinates", d)
	var now []triplets.CoordinatesStart
	first, former := -1, -1
	for i, size := range r.Sizes {
		if i == 0 {
			f, err := triplets.FitCoordinates(ctx, r.Seed.Stream(stream), r.split.objects, r.split.train[:size], p)
			if err != nil {
				return err
			}
			now = f.Starts
		} else {
			for j := range now {
				q := p
				q.Starts, q.Initial = 1, now[j].X
				f, err := triplets.FitCoordinates(ctx, r.Seed.Stream("none is drawn"), r.split.objects, r.split.train[:size], q)
				if err != nil {
					return err
				}
				now[j] = f.CoordinatesStart
			}
		}
		v := r.measure(b.loss, size, now, first)
		if former >= 0 {
			v["former"] = now[former].Objective
		}
		former = int(v["best"])
		if first < 0 {
			first = former
			v["first wrong"] = v["test wrong"]
		}
		r.add(b.name, strconv.Itoa(d), fromFollowed, size, v)
	}
	size := r.Sizes[len(r.Sizes)-1]
	f, err := triplets.FitCoordinates(ctx, r.Seed.Stream(stream), r.split.objects, r.split.train[:size], p)
	if err != nil {
		return err
	}
	r.add(b.name, strconv.Itoa(d), fromAnew, size, r.measure(b.loss, size, f.Starts, -1))
	return nil
}

// measure is a row about starts; first is the one that was best at the first size, -1 if there was none.
func (r *restartRun) measure(loss triplets.Loss, size int, starts []triplets.CoordinatesStart, first int) table.Values {
	v := table.Values{"objective at 0": atZero(loss, size), "objective": math.Inf(1), "starts": float64(len(starts)), "converged": 0, "mean wrong": 0, "least wrong": math.Inf(1), "iterations": 0}
	of := float64(len(starts))
	for i, s := range starts {
		c := r.split.testErrors(s.Kernel())
		wrong := float64(c.wrong)
		if s.Objective < v["objective"] {
			v["objective"], v["best"] = s.Objective, float64(i)
			c.put(v, "test")
		}
		v["largest objective"] = max(v["largest objective"], s.Objective)
		v["mean wrong"] += wrong / of
		v["least wrong"] = min(v["least wrong"], wrong)
		v["largest wrong"] = max(v["largest wrong"], wrong)
		v["largest residual"] = max(v["largest residual"], s.Residual)
		v["iterations"] += float64(s.Iterations) / of
		if s.Residual <= r.Tol {
			v["converged"]++
		}
		if i == first {
			v["first wrong"] = wrong
		}
	}
	return v
}
