package erkle2015

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/table"
)

// speedCell is a number of objects and how many triplets are timed, with the structured cone and with the dense one, which
// takes a full eigendecomposition at each active update; 0 leaves it out.
type speedCell struct{ objects, train, dense int }

func speedCells(scale experiment.Scale) []speedCell {
	if scale == experiment.Smoke {
		return []speedCell{{10, 40, 10}, {20, 40, 5}, {40, 80, 0}}
	}
	return []speedCell{{100, 1000, 100}, {250, 1000, 20}, {500, 2000, 6}, {1000, 2000, 3}, {2000, 2000, 0}, {largeObjects, 3000, 0}}
}

// checkpoints are those of erkle2015/skips, and half and twice the number of objects.
func (c speedCell) checkpoints() []int {
	out := append(skipsCheckpoints(c.train), c.objects/2)
	if 2*c.objects < c.train {
		out = append(out, 2*c.objects)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Speed measures ERKLE's time and memory per triplet.
var Speed = experiment.Spec{
	ID:      "erkle2015/speed",
	Title:   "Time and memory of ERKLE by the number of objects and of triplets seen, structured against dense",
	Source:  "Section 4.2, \"O(n²) complexity\"",
	Version: 1,
	Ours:    true,
	Timing:  true,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, c := range speedCells(scale) {
			cells = append(cells, experiment.Cell{
				Name: fmt.Sprintf("n = %d", c.objects), Dataset: pointsIn(c.objects, 0).dataset,
				Params:  map[string]string{"objects": strconv.Itoa(c.objects), "train": strconv.Itoa(c.train), "dense": strconv.Itoa(c.dense)},
				Methods: map[string]int{"ERKLE": triplets.ERKLEVersion},
			})
		}
		return cells
	},
	Trials: experiment.Trials(6),
	Index:  speedIndex,
	Values: speedValues,
	Trial:  speedTrial,
	Views: []experiment.View{
		{Name: "speed-triplets", Title: "Time per active triplet against triplets seen", DrawTimed: drawSpeedTriplets},
		{Name: "speed-objects", Title: "Time per active triplet, and memory, against the number of objects", DrawTimed: drawSpeedObjects},
	},
	Claims: speedClaims,
	Cost:   time.Minute,
}

// The table by kind:
//
//	structured, dense  triplets so far: active updates and eigenpairs removed so far, bytes of the saved state
//	read               repeats: bytes of the n×n kernel that is read so often
var (
	speedIndex  = []string{"kind", "objects", "triplets"}
	speedValues = []string{"active", "projected", "bytes", "repeats"}
)

// The kinds of rows.
const (
	speedStructured = "structured"
	speedDense      = "dense"
	speedRead       = "read"
)

func speedPhase(kind string, to int) string { return fmt.Sprintf("%s to %d", kind, to) }

func speedTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	cells := speedCells(env.Scale)
	i := slices.IndexFunc(cells, func(c speedCell) bool { return fmt.Sprintf("n = %d", c.objects) == cell.Name })
	if i < 0 {
		return nil, fmt.Errorf("erkle2015: cell %q is not known", cell.Name)
	}
	c := cells[i]
	s, err := drawSynthetic(env, sharedSeed(seed), counts{objects: c.objects, train: c.train})
	if err != nil {
		return nil, err
	}
	rows := table.New(speedIndex, speedValues)
	run := func(kind string, p triplets.Projection, checkpoints []int) error {
		l, err := triplets.NewERKLE(c.objects, triplets.ERKLEParams{Projection: p})
		if err != nil {
			return err
		}
		from := 0
		for _, to := range checkpoints {
			end := env.Lap(speedPhase(kind, to))
			for _, t := range s.train[from:to] {
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
			rows.Add(table.Key{"kind": kind, "objects": strconv.Itoa(c.objects), "triplets": strconv.Itoa(to)}, table.Values{
				"active": float64(stats.Active), "projected": float64(stats.Projected), "bytes": saved,
			})
		}
		return nil
	}
	if err := run(speedStructured, triplets.Structured, c.checkpoints()); err != nil {
		return nil, err
	}
	if c.dense > 0 {
		if err := run(speedDense, triplets.Dense, []int{c.dense}); err != nil {
			return nil, err
		}
	}
	// What any method pays that touches the whole kernel at an update: reading it once.
	kernel := make([]float64, c.objects*c.objects)
	for i := range kernel {
		kernel[i] = float64(i % 7)
	}
	repeats := max(3, 100_000_000/len(kernel))
	if env.Scale == experiment.Smoke {
		repeats = 3
	}
	read := 0.0
	end := env.Lap(speedPhase(speedRead, 0))
	for range repeats {
		read += floats.Sum(kernel)
	}
	end()
	if read < 0 {
		return nil, fmt.Errorf("erkle2015: a sum of positive numbers is %v", read)
	}
	rows.Add(table.Key{"kind": speedRead, "objects": strconv.Itoa(c.objects), "triplets": "0"}, table.Values{"bytes": float64(8 * len(kernel)), "repeats": float64(repeats)})
	return rows, ctx.Err()
}

// counter counts the bytes that are written to it.
type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// savedBytes is the size of a saved learner.
func savedBytes(l *triplets.ERKLE) (float64, error) {
	var c counter
	err := l.Save(&c)
	return float64(c.n), err
}
