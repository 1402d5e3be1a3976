// Command makespan compares how long runs are predicted to take with how long they took.
//
//	go run ./internal/tools/makespan          renders docs/speed/makespan.svg and .png from what is measured
//	go run ./internal/tools/makespan measure  first runs the selections with 1 and 2 jobs at a time, some 12 minutes
//
// Times are wall times, so that the machine should do nothing else meanwhile. Measured times are
// kept in docs/speed/makespan.csv; predictions are those of metriclab plan.
package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/internal/printable"
	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/papers"
	"metriclab/pkg/plots"
)

// selections are measured: minutes each, of many jobs and of few.
var selections = []string{"logdet2012/table1", "rmp2007/objective"}

// everything is the selection of all experiments, which is predicted only.
const everything = "all experiments"

// mostDrawn is the largest number of workers in the figure.
const mostDrawn = 128

var header = []string{"experiment", "workers", "seconds"}

type point struct {
	experiment string
	workers    int
	seconds    float64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, filepath.Join("docs", "speed"), os.Args[1:]); err != nil {
		stop()
		fmt.Fprintln(printable.NewWriter(os.Stderr), "makespan:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, dir string, args []string) error {
	table := filepath.Join(dir, "makespan.csv")
	switch {
	case len(args) == 0:
	case len(args) == 1 && args[0] == "measure":
		points, err := measure(ctx)
		if err != nil {
			return err
		}
		if err := atomicfile.Write(table, text(points)); err != nil {
			return err
		}
	default:
		return errors.New("want no argument, or measure")
	}
	raw, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	points, err := read(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	files, err := render(ctx, points, "results")
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := atomicfile.Write(filepath.Join(dir, f.Name), f.Data); err != nil {
			return err
		}
	}
	return nil
}

// measure runs each selection anew with 1 and with 2 jobs at a time.
func measure(ctx context.Context) ([]point, error) {
	scratch, err := os.MkdirTemp("", "makespan")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	bin := filepath.Join(scratch, "metriclab")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", bin, "./cmd/metriclab").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	var points []point
	for _, s := range selections {
		for _, workers := range []int{1, 2} {
			results := filepath.Join(scratch, fmt.Sprint(len(points)))
			start := time.Now()
			if out, err := exec.CommandContext(ctx, bin, "run", s, "--scale", "full", "--jobs", fmt.Sprint(workers), "--results", results).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s with %d workers: %w\n%s", s, workers, err, out)
			}
			points = append(points, point{s, workers, time.Since(start).Seconds()})
			fmt.Printf("%s, %d workers: %.1f s\n", s, workers, points[len(points)-1].seconds)
		}
	}
	return points, nil
}

func text(points []point) []byte {
	rows := [][]string{header}
	for _, p := range points {
		rows = append(rows, []string{p.experiment, fmt.Sprint(p.workers), strconv.FormatFloat(p.seconds, 'f', 1, 64)})
	}
	var b bytes.Buffer
	_ = csv.NewWriter(&b).WriteAll(rows) // a bytes.Buffer never fails
	return b.Bytes()
}

func read(raw []byte) ([]point, error) {
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 || len(rows[0]) != len(header) {
		return nil, fmt.Errorf("want the columns %v and a row", header)
	}
	var points []point
	for _, row := range rows[1:] {
		p := point{experiment: row[0]}
		if p.workers, err = strconv.Atoi(row[1]); err != nil || p.workers < 1 {
			return nil, fmt.Errorf("%q workers, want a number of at least 1", row[1])
		}
		if p.seconds, err = strconv.ParseFloat(row[2], 64); err != nil || !(p.seconds > 0) {
			return nil, fmt.Errorf("%q seconds, want a number above 0", row[2])
		}
		points = append(points, p)
	}
	return points, nil
}

// render shows predictions for each selection as lines, measured times as points.
func render(ctx context.Context, points []point, results string) ([]plots.File, error) {
	panel := plots.Panel{Title: "Wall time of a run at full scale", XLabel: "workers", YLabel: "minutes", XLog: true, YLog: true, XMin: 0.9, XMax: 1.5 * mostDrawn}
	for color, s := range append([]string{everything}, selections...) {
		prediction, err := predict(ctx, s, results)
		if err != nil {
			return nil, err
		}
		line := func(name string, dashed bool, of func(int) time.Duration) plots.Line {
			l := plots.Line{Name: name, Color: color, Dash: map[bool]int{true: plots.Dashed}[dashed]}
			for n := 1; n <= mostDrawn; n *= 2 {
				l.X, l.Y = append(l.X, float64(n)), append(l.Y, of(n).Minutes())
			}
			return l
		}
		panel.Marks = append(panel.Marks, line(s+", predicted", false, prediction.Spread))
		if s == everything {
			panel.Marks = append(panel.Marks, line(s+", in one process", true, prediction.OneProcess))
		}
		measured := plots.Points{Name: s + ", measured", Color: color, Shape: color}
		for _, p := range points {
			if p.experiment == s {
				measured.X, measured.Y = append(measured.X, float64(p.workers)), append(measured.Y, p.seconds/60)
			}
		}
		if len(measured.X) > 0 {
			panel.Marks = append(panel.Marks, measured)
		}
	}
	d := plots.Drawing{Panels: []plots.Panel{panel}, Caption: plots.Caption{Shows: "Predicted wall time of a run against the number of workers, from the committed tables of times, and times measured on one machine of two cores. Solid: one job at a time on each of so many workers, the longest first. Dash: map[bool]int{true: plots.Dashed}[one process], which runs experiments that compare times one job after the other."}}
	return d.Render("makespan", plots.Options{})
}

// predict is what metriclab plan says, from the committed tables of times.
func predict(ctx context.Context, selection, results string) (harness.Prediction, error) {
	var names []string
	if selection != everything {
		names = []string{selection}
	}
	sel, err := harness.Select(papers.All, names)
	if err != nil {
		return harness.Prediction{}, err
	}
	return harness.Predict(ctx, sel, harness.Config{
		Scale: experiment.Full, Folders: harness.FoldersFor(experiment.Full, results), Data: datasets.Open("data"), Origin: harness.Origin{Program: "makespan"},
	})
}
