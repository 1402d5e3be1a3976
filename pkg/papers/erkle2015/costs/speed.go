package costs

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// speedCell is a number of objects and how many triplets are timed, with the structured cone and with the dense one, which
// takes a full eigendecomposition at each active update; 0 leaves it out. It has the settings of a cell.
type speedCell struct {
	Objects int `key:"objects"`
	Train   int `key:"train"`
	Dense   int `key:"dense"`
}

func speedCells(scale experiment.Scale) []speedCell {
	if scale == experiment.Smoke {
		return []speedCell{{10, 40, 10}, {20, 40, 5}, {40, 80, 0}}
	}
	return []speedCell{{100, 1000, 100}, {250, 1000, 20}, {500, 2000, 6}, {1000, 2000, 3}, {2000, 2000, 0}, {largeObjects, 3000, 0}}
}

// Checkpoints are those of erkle2015/skips, and half and twice the number of objects.
func (c speedCell) Checkpoints() []int {
	out := append(skipsCheckpoints(c.Train), c.Objects/2)
	if 2*c.Objects < c.Train {
		out = append(out, 2*c.Objects)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Speed measures ERKLE's time and memory per triplet.
var Speed = experiment.Spec{
	ID:      "erkle2015/speed",
	Title:   "Time and memory of ERKLE by the number of objects and of triplets seen, structured against dense",
	Source:  "Section 4.2, \"O(n²) complexity\"",
	Version: 2,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return protocol.Mapped(speedCells(scale), func(c speedCell) experiment.Cell {
			return experiment.Cell{Name: fmt.Sprintf("n = %d", c.Objects), Dataset: PointsIn(c.Objects), Settings: c, Methods: protocol.ERKLEVersion}
		})
	},
	Trials:  experiment.Trials(6),
	Kinds:   speedKinds,
	Columns: speedColumns,
	Trial:   speedTrial,
	Views: []experiment.View{
		{Name: "speed-triplets", Title: "Time per active triplet against triplets seen", DrawTimed: drawTimed(speedTriplets)},
		{Name: "speed-objects", Title: "Time per active triplet, and memory, against the number of objects", DrawTimed: drawTimed(speedObjects)},
	},
	Claims: speedClaims,
	Cost:   time.Minute,
}

var speedKinds = []experiment.Kind{
	{Name: speedStructured, Meaning: "the learner that uses the structure of the kernel, after so many triplets"},
	{Name: speedDense, Meaning: "the learner with a full eigendecomposition at each active update, after so many triplets"},
	{Name: speedRead, Meaning: "reading an n×n kernel"},
}

var speedColumns = experiment.Columns{
	experiment.Text("kind", "what is timed"),
	experiment.Text("objects", "number of objects n"),
	experiment.Text("triplets", "triplets seen so far; 0 of kind "+speedRead),
	experiment.Number("active", "", "updates so far that changed the kernel").In(speedStructured, speedDense),
	experiment.Number("projected", "", "negative eigenpairs removed so far").In(speedStructured, speedDense),
	experiment.Number("bytes", "bytes", "size of the saved learner; of the kernel of kind "+speedRead),
	experiment.Number("repeats", "", "how often the kernel is read in the time measured").In(speedRead),
}

func speedTrial(ctx context.Context, run *experiment.Run) error {
	c := run.Cell.Settings.(speedCell)
	s, err := protocol.DrawSynthetic(run.Env, protocol.SharedSeed(run.Seed), protocol.Counts{Objects: c.Objects, Train: c.Train})
	if err != nil {
		return err
	}
	measure := func(kind string, p triplets.Projection, checkpoints []int) error {
		l, err := triplets.NewERKLE(c.Objects, triplets.ERKLEParams{Projection: p})
		if err != nil {
			return err
		}
		from := 0
		for _, to := range checkpoints {
			end := run.Lap(speedPhase(kind, strconv.Itoa(to)))
			for _, t := range s.Train[from:to] {
				if err := ctx.Err(); err != nil {
					return err
				}
				if _, err := l.Step(t); err != nil {
					return err
				}
			}
			end()
			from = to
			saved, err := savedBytes(l)
			if err != nil {
				return err
			}
			stats := l.Stats()
			run.Rows.Add(table.Key{"kind": kind, "objects": strconv.Itoa(c.Objects), "triplets": strconv.Itoa(to)}, table.Values{
				"active": float64(stats.Active), "projected": float64(stats.Projected), "bytes": saved,
			})
		}
		return nil
	}
	if err := measure(speedStructured, triplets.ProjectStructured, c.Checkpoints()); err != nil {
		return err
	}
	if c.Dense > 0 {
		if err := measure(speedDense, triplets.ProjectDense, []int{c.Dense}); err != nil {
			return err
		}
	}
	// What any method pays that touches the whole kernel at an update: reading it once.
	kernel := make([]float64, c.Objects*c.Objects)
	for i := range kernel {
		kernel[i] = float64(i % 7)
	}
	repeats := max(3, 100_000_000/len(kernel))
	if run.Scale == experiment.Smoke {
		repeats = 3
	}
	read := 0.0
	end := run.Lap(speedPhase(speedRead, "0"))
	for range repeats {
		read += floats.Sum(kernel)
	}
	end()
	if read < 0 {
		return fmt.Errorf("erkle2015: a sum of positive numbers is %v", read)
	}
	run.Rows.Add(table.Key{"kind": speedRead, "objects": strconv.Itoa(c.Objects), "triplets": "0"}, table.Values{"bytes": float64(8 * len(kernel)), "repeats": float64(repeats)})
	return ctx.Err()
}

// savedBytes is the size of a saved learner.
func savedBytes(l *triplets.ERKLE) (float64, error) {
	var b bytes.Buffer
	err := l.Save(&b)
	return float64(b.Len()), err
}
