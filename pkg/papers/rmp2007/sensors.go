package rmp2007

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// The world of the sensors: herds of objects on a grid of 15×15 places.
const (
	sensorSide    = 15
	sensorHerds   = 4
	sensorHerd    = 10 // objects in a herd
	sensorCount   = 4  // m
	sensorScatter = 1.0
	sensorStart   = "random places"
)

// sensorWorld is how the herds move.
type sensorWorld struct {
	name, about string
	// centre returns where a herd is at a part of the run, 0 to 1. Each herd has a phase of its own.
	centre func(herd int, phase, part float64) (x, y float64)
}

var sensorWorlds = []sensorWorld{
	{"grazing", "herds stay where they are", func(herd int, _, _ float64) (x, y float64) { return around(homeOf(herd), 0, 0) }},
	{"circling", "herds go round in small circles, five times", func(herd int, phase, part float64) (x, y float64) {
		return around(homeOf(herd), 2.5, phase+2*math.Pi*5*part)
	}},
	{"migrating", "herds go round the grid, once", func(herd int, _, part float64) (x, y float64) {
		return around([2]float64{middle, middle}, 5.5, 2*math.Pi*(float64(herd)/sensorHerds+part))
	}},
}

const middle = (sensorSide - 1) / 2.0

// homeOf returns where a herd lives: the middle of a quarter of the grid.
func homeOf(herd int) [2]float64 {
	return [2]float64{middle + 3.5*float64(2*(herd%2)-1), middle + 3.5*float64(2*(herd/2)-1)}
}

func around(home [2]float64, radius, angle float64) (x, y float64) {
	return home[0] + radius*math.Cos(angle), home[1] + radius*math.Sin(angle)
}

// Sensors places a few sensors on a grid near objects that move.
var Sensors = experiment.Spec{
	ID:      "rmp2007/sensors",
	Title:   "Four sensors that follow moving objects on a grid: regret against the best fixed placement",
	Source:  "Section 1, application 4, which the paper only names",
	Ours:    true,
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		for _, w := range sensorWorlds {
			cells = append(cells, experiment.Cell{
				Name: w.name, Dataset: "herds",
				Params:  map[string]string{"m": strconv.Itoa(sensorCount), "side": strconv.Itoa(sensorSide), "objects": strconv.Itoa(sensorHerds * sensorHerd), "rounds": strconv.Itoa(sensorRounds(scale)), "chain steps": strconv.Itoa(sensorSteps(scale))},
				Methods: map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion, "k-medoids": cluster.KMedoidsVersion},
			})
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Index:  sensorIndex,
	Values: sensorValues,
	Trial:  sensorTrial,
	Views: []experiment.View{
		{Name: "sensors", Title: "Regret of moving sensors against the best fixed placement", Draw: drawSensors},
		{Name: "sensors-frames", Title: "Sensors that follow migrating herds", Draw: drawSensorFrames},
	},
	Claims: sensorClaims,
	Cost:   5 * time.Second,
}

var (
	sensorIndex  = []string{"kind", "method", "round"}
	sensorValues = []string{"loss", "best", "x", "y"}
)

func sensorRounds(scale experiment.Scale) int {
	if scale == experiment.Smoke {
		return 60
	}
	return 400
}

func sensorSteps(scale experiment.Scale) int {
	if scale == experiment.Smoke {
		return 200
	}
	return 2000
}

// sensorCosts fills dst, one row per object and one column per place of the grid, with min(1, d²/r²), d the distance of
// the object from the place and r half the side of the grid: beyond that a sensor sees nothing.
func sensorCosts(dst *mat.Dense, objects [][2]float64) metric.CostRound {
	const reach = sensorSide / 2.0
	for i, o := range objects {
		row := dst.RawRowView(i)
		for j := range row {
			x, y := place(j)
			row[j] = min(1, ((o[0]-x)*(o[0]-x)+(o[1]-y)*(o[1]-y))/(reach*reach))
		}
	}
	return metric.CostRound{Cost: dst}
}

// place returns where grid point j is.
func place(j int) (x, y float64) { return float64(j % sensorSide), float64(j / sensorSide) }

// herds returns the positions of all objects at a part of the run. Each keeps its place in its herd, and moves a little
// about it, but not beyond the edge of the grid.
func herds(rng *rand.Rand, world sensorWorld, phases []float64, own [][2]float64, part float64) [][2]float64 {
	out := make([][2]float64, len(own))
	for i, o := range own {
		x, y := world.centre(i/sensorHerd, phases[i/sensorHerd], part)
		out[i] = [2]float64{inside(x + o[0] + 0.3*rng.NormFloat64()), inside(y + o[1] + 0.3*rng.NormFloat64())}
	}
	return out
}

func inside(v float64) float64 { return min(max(v, 0), sensorSide-1) }

// sensorMethods are the learners in the order of a figure. With the doubling trick RMP forgets what is old.
var sensorMethods = []string{rmpPrinted, rmpCorrected, rmpDoubling, ftlName, sensorStart}

// sensorRivals returns the learners.
func sensorRivals(seed experiment.Seed, world string, rounds, steps int) ([]rival, error) {
	const objects, places = sensorHerds * sensorHerd, sensorSide * sensorSide
	var out []rival
	for _, method := range sensorMethods {
		r := rival{name: method}
		b, rule := places, method
		switch method {
		case ftlName:
			l, err := mapping.NewFTL(objects, places, mapping.FTLParams{M: sensorCount})
			if err != nil {
				return nil, err
			}
			r.l = l
			out = append(out, r)
			continue
		case sensorStart:
			r.within, b, rule = seed.Stream("random places " + world).Perm(places)[:sensorCount], sensorCount, rmpPrinted
		}
		p, err := rmpParams(rule, objects, b, sensorCount, rounds)
		if err != nil {
			return nil, err
		}
		p.Sampler, p.ChainSteps = mapping.Metropolis, steps
		l, err := mapping.NewRMP(seed.PCG("maps "+world+" "+method), objects, b, p)
		if err != nil {
			return nil, err
		}
		r.l = l
		out = append(out, r)
	}
	return out, nil
}

// framedWorld is the one whose first trial is shown in frames: sensorStills of them in the figure, all in
// the animation.
const (
	framedWorld  = "migrating"
	sensorStills = 8
	allFrames    = 5 * sensorStills
)

// sensorFrames are the rounds, counted from 0, of the frames.
func sensorFrames(rounds int) []int {
	var out []int
	for k := range allFrames {
		out = append(out, k*rounds/allFrames)
	}
	return out
}

func sensorTrial(ctx context.Context, env *experiment.Env, cell experiment.Cell, seed experiment.Seed) (*table.Table, error) {
	k := slices.IndexFunc(sensorWorlds, func(w sensorWorld) bool { return w.name == cell.Name })
	if k < 0 {
		return nil, fmt.Errorf("rmp2007: world %q is not known", cell.Name)
	}
	world := sensorWorlds[k]
	const objects, places = sensorHerds * sensorHerd, sensorSide * sensorSide
	rounds := sensorRounds(env.Scale)
	rng := seed.Stream("herds " + cell.Name)
	phases, own := make([]float64, sensorHerds), make([][2]float64, objects)
	for k := range phases {
		phases[k] = 2 * math.Pi * rng.Float64()
	}
	for i := range own {
		own[i] = [2]float64{sensorScatter * rng.NormFloat64(), sensorScatter * rng.NormFloat64()}
	}
	rivals, err := sensorRivals(seed, cell.Name, rounds, sensorSteps(env.Scale))
	if err != nil {
		return nil, err
	}
	rows := table.New(sensorIndex, sensorValues)
	costs, total := mat.NewDense(objects, places, nil), mat.NewDense(objects, places, nil)
	best := seed.Stream("best placement " + cell.Name)
	losses := make([]float64, len(rivals))
	for t := range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		at := herds(rng, world, phases, own, float64(t)/float64(rounds))
		round := sensorCosts(costs, at)
		if seed.Trial == 0 && cell.Name == framedWorld && slices.Contains(sensorFrames(rounds), t) {
			for _, o := range at {
				rows.Add(table.Key{"kind": "object", "round": strconv.Itoa(t + 1)}, table.Values{"x": o[0], "y": o[1]})
			}
			for _, r := range rivals {
				for _, j := range image(r.current(round)) {
					x, y := place(j)
					rows.Add(table.Key{"kind": "sensor", "method": r.name, "round": strconv.Itoa(t + 1)}, table.Values{"x": x, "y": y})
				}
			}
		}
		total.Add(total, round.Cost)
		for k, r := range rivals {
			o, err := r.l.Step(r.costs(round))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			losses[k] += o.Loss
		}
		if !slices.Contains(tenths(rounds), t+1) {
			continue
		}
		fixed, err := cluster.FitFasterPAM(total, cluster.MedoidsParams{M: sensorCount, Starts: 10}, best)
		if err != nil {
			return nil, err
		}
		for k, r := range rivals {
			rows.Add(table.Key{"kind": "loss", "method": r.name, "round": strconv.Itoa(t + 1)}, table.Values{"loss": losses[k], "best": fixed.Cost})
		}
	}
	return rows, nil
}

// sensorRegret returns the regret per object and round against the best placement of so many rounds, per trial.
func sensorRegret(t *table.Table, world, method string, round int) []float64 {
	g := t.Where("kind", "loss", "cell", world, "method", method, "round", strconv.Itoa(round))
	out := slices.Clone(g.Values("loss"))
	floats.Sub(out, g.Values("best"))
	floats.Scale(1/float64(round*sensorHerds*sensorHerd), out)
	return out
}

// sensorShown returns the checkpoints of a table, in ascending order.
func sensorShown(t *table.Table) ([]int, error) {
	var out []int
	for _, s := range t.Where("kind", "loss").Unique("round") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, fmt.Errorf("rmp2007: round %q, want a number", s)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return out, nil
}

// describeSensors is the protocol in captions.
const describeSensors = "Four herds of 10 objects move on a grid of 15×15 places; each object keeps its place in its herd, with a spread of 1, and moves about it a little. In each round the learner places at most 4 sensors on grid points and maps each object to one of them, before it sees where " +
	"the objects are; an object at distance d from its sensor costs min(1, d²/7.5²)."

func drawSensors(t *table.Table) (plots.Drawing, error) {
	checkpoints, err := sensorShown(t)
	if err != nil {
		return plots.Drawing{}, err
	}
	if len(checkpoints) == 0 {
		return plots.Missing("losses in any world"), nil
	}
	last := checkpoints[len(checkpoints)-1]
	d := plots.Drawing{Columns: 2, Text: &plots.TextTable{Head: []string{"world", "method", "loss", "best fixed placement", "regret"}}}
	about := ""
	for _, w := range sensorWorlds {
		if t.Where("kind", "loss", "cell", w.name).Len() == 0 {
			continue
		}
		p := plots.Panel{Title: w.name, XLabel: "rounds", YLabel: "regret per object and round", XLog: true}
		for k, method := range sensorMethods {
			line := plots.Line{Name: method, Color: k}
			for _, n := range checkpoints {
				mean, half := experiment.Summarize(sensorRegret(t, w.name, method, n)).Interval()
				line.X, line.Y = append(line.X, float64(n)), append(line.Y, mean)
				line.Lo, line.Hi = append(line.Lo, mean-half), append(line.Hi, mean+half)
			}
			p.Marks = append(p.Marks, line)
			g := t.Where("kind", "loss", "cell", w.name, "method", method, "round", strconv.Itoa(last))
			each := 1 / float64(last*sensorHerds*sensorHerd)
			d.Text.Rows = append(d.Text.Rows, []string{w.name, method, fmt.Sprintf("%.4f", each*stat.Mean(g.Values("loss"), nil)),
				fmt.Sprintf("%.4f", each*stat.Mean(g.Values("best"), nil)), plusMinus(sensorRegret(t, w.name, method, last))})
		}
		p.Marks = append(p.Marks, plots.Reference{Name: "no regret", At: 0, Color: plots.Grey})
		d.Panels = append(d.Panels, p)
		about += fmt.Sprintf(" %s: %s.", w.name, w.about)
	}
	d.Caption = fmt.Sprintf("Regret per object and round so far of sensors that follow moving objects (ours; the paper only names the application): the loss minus that of the best fixed placement of as many rounds, as found by 10 runs of FasterPAM, a local optimum, so that the true regret may be a little larger; below 0 the "+
		"learner does better than any fixed placement it is compared with. %s Worlds:%s RMP: η as printed or corrected for the length of the run, or as printed with the doubling trick, which forgets all costs after 1, 3, 7, ... rounds. FTL: follow-the-leader, by k-medoids. "+
		"Random places: η as printed over 4 random places. The table is after %d rounds. Bands are 95 %% intervals. %s", describeSensors, about, last, trialsNote(t))
	return d, nil
}

func drawSensorFrames(t *table.Table) (plots.Drawing, error) {
	g := t.Where("cell", framedWorld)
	objects, sensors := g.Where("kind", "object"), g.Where("kind", "sensor", "method", rmpDoubling)
	if objects.Len() == 0 {
		return plots.Missing("the first trial of the migrating herds"), nil
	}
	fixed := g.Where("kind", "sensor", "method", rmpPrinted)
	d := plots.Drawing{Columns: 4}
	for _, round := range objects.Unique("round") {
		o, s, f := objects.Where("round", round), sensors.Where("round", round), fixed.Where("round", round)
		d.Frames = append(d.Frames, plots.Panel{Title: "round " + round, XLabel: "column", YLabel: "row", Equal: true, XMin: -0.5, XMax: sensorSide - 0.5, YMin: -0.5, YMax: sensorSide - 0.5, Marks: []plots.Mark{
			plots.Points{Name: "object", X: o.Values("x"), Y: o.Values("y"), Color: plots.Grey},
			plots.Points{Name: "sensor, RMP doubling", X: s.Values("x"), Y: s.Values("y"), Color: 1, Shape: 2},
			plots.Points{Name: "sensor, RMP printed", X: f.Values("x"), Y: f.Values("y"), Color: 0, Shape: 1},
		}})
	}
	for k := 0; k < len(d.Frames); k += allFrames / sensorStills {
		d.Panels = append(d.Panels, d.Frames[k])
	}
	d.Caption = "Frames of one run (first trial; ours) in which four herds go round the grid once: the objects of a round, and the sensors that two forms of RMP have placed before they see them. With the doubling trick RMP forgets all costs after 1, 3, 7, ... rounds; " +
		"with η as printed for the length of the run it remembers all. " + describeSensors + fmt.Sprintf(" The animation has %d frames.", len(d.Frames))
	return d, nil
}

var sensorClaims = []experiment.Claim{{
	ID:        "sensors-vanishing",
	View:      "sensors",
	Statement: "Our approach yields vanishing per-round error (here in the paper's application to sensors, in worlds of ours).",
	Where:     "Section 1, after the applications", Theirs: "no number",
	Predicate: "RMP's regret per object and round against the best fixed placement is smaller after all rounds than after a tenth of them, paired by trial, in each world. Readings: η as printed and corrected.",
	Grade: func(t *table.Table) (experiment.Finding, error) {
		checkpoints, err := sensorShown(t)
		if err != nil {
			return experiment.Finding{}, err
		}
		if len(checkpoints) == 0 {
			return experiment.Finding{}, errors.New("rmp2007: no losses of any world")
		}
		last := checkpoints[len(checkpoints)-1]
		return rulesReadings([]string{rmpPrinted, rmpCorrected}, func(rule string) (experiment.Finding, error) {
			var units []experiment.Unit
			for _, w := range sensorWorlds {
				early, late := sensorRegret(t, w.name, rule, last/10), sensorRegret(t, w.name, rule, last)
				if len(early) != len(late) {
					return experiment.Finding{}, fmt.Errorf("rmp2007: world %s: %d trials early, %d late", w.name, len(early), len(late))
				}
				floats.Sub(early, late)
				units = append(units, experiment.Unit{Name: w.name, Diffs: early})
			}
			return experiment.GradeUnits(units, experiment.UnitRule{Scale: 100, Unit: "hundredths of the largest cost"})
		})
	},
}}
