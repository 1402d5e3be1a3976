package costs

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/table"
)

// skipsSteps are the step rules that are counted: the paper's, and one that does not look at how far a triplet is from satisfied.
const (
	skipsPA       = "PA"
	skipsConstant = "constant"
)

// StepDrop is by how much an update of magnitude 1 lowers d²(a, b) − d²(a, c) before the projection (Eq. 4.15).
const StepDrop = 10

// skipsCell is a stream of triplets and a step rule: the settings of a cell.
type skipsCell struct {
	Objects int    `key:"objects"`
	Train   int    `key:"train"`
	Step    string `key:"step"`
}

// skipsMethods are the methods that have the step rules.
var skipsMethods = map[string]string{skipsPA: protocol.PAERKLE, skipsConstant: protocol.GNMDSConstant}

func skipsCells(scale experiment.Scale) []skipsCell {
	if scale == experiment.Smoke {
		return []skipsCell{{20, 200, skipsPA}, {60, 200, skipsPA}, {20, 200, skipsConstant}}
	}
	return []skipsCell{
		{100, 10000, skipsPA}, {500, 10000, skipsPA}, {1000, 10000, skipsPA},
		{100, 10000, skipsConstant}, {500, 10000, skipsConstant},
	}
}

func (c skipsCell) name() string {
	return fmt.Sprintf("n = %d", c.Objects) + map[string]string{skipsConstant: constantSuffix}[c.Step]
}

// Skips counts how often an update of ERKLE can do without an eigenpair.
var Skips = experiment.Spec{
	ID:      "erkle2015/skips",
	Title:   "How many updates of ERKLE need no eigenpair, by the rule that shows it",
	Source:  "Section 4.2",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		return protocol.Mapped(skipsCells(scale), func(c skipsCell) experiment.Cell {
			return experiment.Cell{Name: c.name(), Dataset: PointsIn(c.Objects), Settings: c, Methods: protocol.ERKLEVersion}
		})
	},
	Trials:  experiment.Trials(6),
	Columns: skipsColumns,
	Trial:   skipsTrial,
	Views: []experiment.View{
		{Name: "skips", Title: "Share of updates that need no eigenpair, by certificate", Draw: skipsView.Draw},
		{Name: "skips-counts", Title: "Eigenpairs computed and needed", Draw: skipsCountsView.Draw},
	},
	Claims: skipsClaims,
	Cost:   time.Minute,
}

var skipsColumns = slices.Concat(
	experiment.Columns{experiment.Text("triplets", "triplets seen so far")}, countColumns(),
	experiment.Columns{experiment.Number("moved", "", "sum over the removals so far: how far each moved d²(a, c) − d²(a, b) of its triplet")},
)

func skipsTrial(ctx context.Context, run *experiment.Run) error {
	c := run.Cell.Settings.(skipsCell)
	s, err := protocol.DrawSynthetic(run.Env, protocol.SharedSeed(run.Seed), protocol.Counts{Objects: c.Objects, Train: c.Train})
	if err != nil {
		return err
	}
	p := protocol.ErkleParams(skipsMethods[c.Step])
	l, err := triplets.NewERKLE(c.Objects, p)
	if err != nil {
		return err
	}
	rule := newPrintedRule(c.Objects)
	checkpoints := skipsCheckpoints(c.Train)
	moved := 0.0
	for i, t := range s.Train {
		if err := ctx.Err(); err != nil {
			return err
		}
		before := l.Stats()
		out, err := l.Step(t)
		if err != nil {
			return err
		}
		stats := l.Stats()
		if stats.Active > before.Active {
			rule.update(t, out.StepSize, stats.Projected > before.Projected)
		}
		if stats.Projected > before.Projected {
			now, was := l.Predict(t), out.Prediction
			moved += math.Abs(now.SqNear - now.SqFar - (was.SqNear - was.SqFar - StepDrop*out.StepSize))
		}
		if slices.Contains(checkpoints, i+1) {
			v := skipCounts(stats, rule)
			v["moved"] = moved
			run.Rows.Add(table.Key{"triplets": strconv.Itoa(i + 1)}, v)
		}
	}
	return nil
}

// skipsCheckpoints are 1, 2 and 5 times the powers of ten, from 10, up to the number of triplets, which is among them.
func skipsCheckpoints(train int) []int {
	var out []int
	for n := 10; n < train; n *= 10 {
		for _, k := range []int{1, 2, 5} {
			if k*n < train {
				out = append(out, k*n)
			}
		}
	}
	return append(out, train)
}
