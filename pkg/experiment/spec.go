// Package experiment is what the author of an experiment declares: its cells with their
// settings, the columns of its table, the trial that fills them, the views that are rendered
// from them and the claims that are graded on them. It runs nothing: that is package
// harness. It knows no learner and no paper.
//
// # How it is built
//
// Each method has a …Version constant beside its code, which enters the key of every job that uses the method.
// Whoever changes values of a method bumps it by hand, and the jobs run again. A change of bits at sizes that no
// experiment has needs no bump.
package experiment

import (
	"context"
	"fmt"
	"time"

	"metriclab/pkg/datasets"
	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Scale is how large an experiment is run.
type Scale string

const (
	// Smoke runs on built-in data in seconds. Its figures are watermarked and
	// its claims are not graded.
	Smoke Scale = "smoke"
	// Full is the paper's protocol.
	Full Scale = "full"
)

// ParseScale returns the scale of that name, or an error that lists the names.
func ParseScale(s string) (Scale, error) {
	switch Scale(s) {
	case Smoke, Full:
		return Scale(s), nil
	}
	return "", fmt.Errorf("scale %q is not allowed, want %s or %s", s, Smoke, Full)
}

// Spec declares one experiment. The command, the notebooks, the tests, a
// cluster's array and the scorecard all use this one value.
type Spec struct {
	// ID is "<paper>/<experiment>", for example "pola2004/fig3".
	ID string
	// Title says in one line what is measured.
	Title string
	// Source is where the paper describes it, for example "Section 7, Fig. 3".
	Source string
	// Version is bumped by hand when the trial's own computation changes;
	// changes inside a method are the method's version in Cell.Methods.
	Version int

	// Cells lists the cells of a scale in a fixed order.
	Cells func(Scale) []Cell
	// Trials is the default number of trials per cell at a scale.
	Trials func(Scale) int
	// Kinds are the kinds of rows, if there are several: the cells of the column "kind".
	Kinds []Kind
	// Columns are the columns of the table.
	Columns Columns
	// Trial runs one job and adds to run.Rows. What it adds depends on the cell and the seed
	// alone. It returns ctx.Err() soon after ctx is done.
	Trial func(ctx context.Context, run *Run) error

	// Views are the figures and tables rendered from the one table.
	Views []View
	// Claims are what the paper asserts about it.
	Claims []Claim
	// Choices lists what its trials chose from grids, of a table as Claims take it; nil if
	// they choose nothing. A caption says (EndsNote) where most took an end.
	Choices func(t *table.Table) []Choice
	// Timing marks an experiment whose result is time: its jobs run one by one,
	// and a published job whose times are lost or changed runs again. Setting it
	// later needs a new Version.
	Timing bool
	// Ours marks a question of ours: Source is no figure, table or sentence of the paper that
	// says what is measured, but a choice that it leaves open, or what it only names.
	Ours bool
	// Pending marks an experiment whose claims are committed, but whose first full run is
	// still to come.
	Pending bool
	// Cost is the expected CPU time of one job at full scale, for the plan and
	// the first ETA.
	Cost time.Duration
}

// Trials returns a Spec.Trials that runs full trials at full scale, and two at smoke scale.
func Trials(full int) func(Scale) int {
	return func(scale Scale) int {
		if scale == Smoke {
			return 2
		}
		return full
	}
}

// Cell is one point of an experiment's design. All its fields but Supplied enter the job's
// key, so that changing one makes a new job.
type Cell struct {
	// Name is unique within the experiment, for example "0-8".
	Name string
	// Dataset is the name in the data registry, or a built-in generator's.
	Dataset string
	// Settings is a struct with what else decides the values; see Params. nil is none.
	Settings any
	// Methods maps each method used to its version.
	Methods map[string]int
	// Supplied marks a cell on data that only a user can supply. While no file of its data set is there, the experiment
	// is run without the cell; views and claims take a table with or without its rows.
	Supplied bool
}

// Run is one job: what its trial is given, and the rows that it adds.
type Run struct {
	*Env
	Cell Cell
	Seed random.Seed
	// Rows has the columns of Spec.Columns that are not derived, and no row at first.
	Rows *table.Table
}

// Run runs one job and returns its rows.
func (s Spec) Run(ctx context.Context, env *Env, cell Cell, seed random.Seed) (*table.Table, error) {
	run := &Run{env, cell, seed, s.Columns.Table()}
	return run.Rows, s.Trial(ctx, run)
}

// Env is what a trial may use of the world.
type Env struct {
	Scale Scale
	// Data opens data sets. It is shared by all jobs and safe for concurrent use.
	Data *datasets.Store
	// Lap starts a named phase and returns the function that ends it. The phases'
	// wall and CPU times go to the timing table, never into rows. Phases of one
	// name in a job are summed, also where they overlap; the phases stand in the
	// order in which they first ended. A phase that is not ended is not there. The
	// name is not "" and not TotalPhase.
	Lap func(phase string) (end func())
}

// View is one figure or table of an experiment.
type View struct {
	// Name is the file name without extension, for example "fig3a".
	Name string
	// Title names it for a reader, for example "Fig. 3, top left: POLA against Euclidean".
	Title string
	// Draw renders what the table has and notes what is missing. The table has the columns
	// job (the first 16 digits of the job's id), cell and trial, and those of Spec.Columns.
	Draw func(t *table.Table) (plots.Drawing, error)
	// DrawTimed takes the place of Draw in a view that shows times. Exactly one of the two
	// is set, and DrawTimed only in an experiment marked Timing. The table times has the
	// columns job, cell, trial and phase, wall_s and cpu_s, and the rows of the jobs in t:
	// one per phase, in seconds, and one of TotalPhase. Jobs may have run on different
	// machines, so that times are comparable within a job.
	DrawTimed func(t, times *table.Table) (plots.Drawing, error)
}

// DrawWith calls whichever of Draw and DrawTimed is set. times is not used if
// it is Draw. A table with the declared columns gives a drawing or an error,
// whatever its rows and cells are; see judge.Refuse.
func (v View) DrawWith(t, times *table.Table) (d plots.Drawing, err error) {
	defer judge.Refused(&err)
	if v.DrawTimed != nil {
		return v.DrawTimed(t, times)
	}
	return v.Draw(t)
}

// Timed reports whether the view needs times.
func (v View) Timed() bool { return v.DrawTimed != nil }

// TotalPhase is the phase of the timing table that stands for the whole job.
const TotalPhase = "total"

// Paper groups the experiments of one paper.
type Paper struct {
	Key         string // "pola2004"
	Citation    string // authors, title, venue, year
	Experiments []Spec // the paper's in its order, then ours
}
