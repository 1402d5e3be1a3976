package batch

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
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
			d := protocol.DataSetOf(name)
			s := restartSettings{
				SplitSettings: d.Settings(scale), Stopping: protocol.Stopping{Iterations: 1000, Tol: protocol.BatchTol}, Starts: 10, Dims: restartDims, Tau: map[string]float64{},
				Sizes: []int{100, 250, 500, 1000},
			}
			if name == protocol.SyntheticPoints {
				s.Sizes = []int{1000, 2500, 5000, 10000}
			}
			if scale == experiment.Smoke {
				s.Starts, s.Dims, s.Sizes = 3, []int{2, 5}, []int{20, 80}
			}
			for _, b := range d.Batches {
				s.Tau[b.Name] = protocol.TauOf(name, b.Name).Validated
			}
			methods := map[string]int{"ERKLE": triplets.ERKLEVersion, "batch, factored": triplets.BatchFactoredVersion, "coordinates": triplets.CoordinatesVersion}
			cells = append(cells, d.Cell(scale, name, s, methods))
		}
		return cells
	},
	Trials:  experiment.Trials(judge.MinTrials),
	Columns: restartColumns,
	Trial:   protocol.Measured,
	Views: []experiment.View{
		{Name: "restarts", Title: "Objectives that starts of an embedding end with, and their test errors", Draw: drawRestarts},
		{Name: "restarts-followed", Title: "Which start of an embedding is best as triplets come in", Draw: drawRestartsFollowed},
	},
	Claims: restartClaims,
	Cost:   20 * time.Second,
}

// restartSettings are those of a cell. The weights of the trace are those of the fits of kernels, so that the objectives are the same.
type restartSettings struct {
	protocol.SplitSettings
	protocol.Stopping
	Starts int                `key:"starts"`
	Dims   []int              `key:"coordinates,list"`
	Sizes  []int              `key:"sizes,list"`
	Tau    map[string]float64 `key:"%v tau"`
}

var restartColumns = slices.Concat(experiment.Columns{
	experiment.Text("method", "the learner; of coordinates the batch method with the same loss and weight of the trace"),
	experiment.Text("coordinates", "number of coordinates; empty where a kernel is learned"),
	experiment.Text("from", "where the fits began: each start anew, or followed from the size before; kernel where one is fitted in their place; online"),
	experiment.Text("triplets", "training triplets seen"),
}, protocol.ErrorColumns("test"), experiment.Columns{
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
	experiment.Number("largest residual", "", "of coordinates the size of the gradient in units of the objective at 0, of a kernel a "+learning.GapMeaning),
	experiment.Number("iterations", "", "mean number of iterations"),
})

func (x restartSettings) Measure(ctx context.Context, run protocol.SplitRun) error {
	r := &restartRun{run, x}
	if err := FollowERKLE(ctx, run.Split, run.Seed, x.Sizes, func(method string, seen int, k mat.Symmetric) {
		v := table.Values{}
		run.Split.TestErrors(k).Put(v, "test")
		r.Add(method, "", fromOnline, seen, v)
	}); err != nil {
		return err
	}
	for _, b := range protocol.Batches {
		if err := r.kernel(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", b.Name, err)
		}
		for _, d := range x.Dims {
			if err := r.embed(ctx, b, d); err != nil {
				return fmt.Errorf("%s, %d coordinates: %w", b.Name, d, err)
			}
		}
	}
	return nil
}

// restartRun is a trial that fills its table.
type restartRun struct {
	protocol.SplitRun
	restartSettings
}

func (r *restartRun) Add(method, coordinates, from string, seen int, v table.Values) {
	r.Rows.Add(table.Key{"method": method, "coordinates": coordinates, "from": from, "triplets": strconv.Itoa(seen)}, v)
}

// atZero is the objective of all objects in one place.
func atZero(loss triplets.Loss, seen int) float64 { return zeroLoss[loss] * float64(seen) }

func (r *restartRun) kernel(ctx context.Context, b protocol.BatchMethod) error {
	p := triplets.BatchParams{Loss: b.Loss, Tau: r.Tau[b.Name], Iterations: r.Iterations, Tol: r.Tol}
	return protocol.FitPath(ctx, r.Split, r.Sizes, p, func(seen int, f triplets.BatchResult) {
		v := table.Values{"objective": f.Objective, "objective at 0": atZero(b.Loss, seen), "largest residual": f.Residual, "iterations": float64(f.Iterations), "starts": 1, "converged": 0}
		if f.Residual <= r.Tol {
			v["converged"] = 1
		}
		r.Split.TestErrors(f.Kernel).Put(v, "test")
		r.Add(b.Name, "", fromKernel, seen, v)
	})
}

// embed fits coordinates from each start to each number of triplets in turn, and from the same starts to all of them at once.
func (r *restartRun) embed(ctx context.Context, b protocol.BatchMethod, d int) error {
	p := triplets.CoordinatesParams{Loss: b.Loss, Tau: r.Tau[b.Name], Dim: d, Starts: r.Starts, Iterations: r.Iterations, Tol: r.Tol}
	stream := fmt.Sprintf("starts of %d coordinates", d)
	var now []triplets.CoordinatesStart
	first, former := -1, -1
	for i, size := range r.Sizes {
		if i == 0 {
			f, err := triplets.FitCoordinates(ctx, r.Seed.Stream(stream), r.Split.Objects, r.Split.Train[:size], p)
			if err != nil {
				return err
			}
			now = f.Starts
		} else {
			for j := range now {
				q := p
				q.Starts, q.Initial = 1, now[j].X
				f, err := triplets.FitCoordinates(ctx, r.Seed.Stream("none is drawn"), r.Split.Objects, r.Split.Train[:size], q)
				if err != nil {
					return err
				}
				now[j] = f.CoordinatesStart
			}
		}
		v := r.measure(b.Loss, size, now, first)
		if former >= 0 {
			v["former"] = now[former].Objective
		}
		former = int(v["best"])
		if first < 0 {
			first = former
			v["first wrong"] = v["test wrong"]
		}
		r.Add(b.Name, strconv.Itoa(d), fromFollowed, size, v)
	}
	size := r.Sizes[len(r.Sizes)-1]
	f, err := triplets.FitCoordinates(ctx, r.Seed.Stream(stream), r.Split.Objects, r.Split.Train[:size], p)
	if err != nil {
		return err
	}
	r.Add(b.Name, strconv.Itoa(d), fromAnew, size, r.measure(b.Loss, size, f.Starts, -1))
	return nil
}

// measure is a row about starts; first is the one that was best at the first size, -1 if there was none.
func (r *restartRun) measure(loss triplets.Loss, size int, starts []triplets.CoordinatesStart, first int) table.Values {
	v := table.Values{"objective at 0": atZero(loss, size), "objective": math.Inf(1), "starts": float64(len(starts)), "converged": 0, "mean wrong": 0, "least wrong": math.Inf(1), "iterations": 0}
	of := float64(len(starts))
	for i, s := range starts {
		c := r.Split.TestErrors(s.Kernel())
		wrong := float64(c.Wrong)
		if s.Objective < v["objective"] {
			v["objective"], v["best"] = s.Objective, float64(i)
			c.Put(v, "test")
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
