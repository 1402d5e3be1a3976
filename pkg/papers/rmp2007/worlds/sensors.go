package worlds

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// The world of the sensors: herds of objects on a grid of 15×15 places.
const (
	sensorSide    = 15
	sensorHerds   = 4
	sensorHerd    = 10 // objects in a herd
	sensorObjects = sensorHerds * sensorHerd
	sensorScatter = 1.0
	sensorStart   = "random places"
)

// sensorSettings are the settings of a cell.
type sensorSettings struct {
	World   string `key:"-" because:"it is the cell's name"`
	M       int    `key:"m"`
	Side    int    `key:"side"` // of the grid
	Objects int    `key:"objects"`
	Rounds  int    `key:"rounds"`
	Steps   int    `key:"chain steps"` // R of the walk of a round
}

// How the herds move.
const (
	grazing   = "grazing"
	circling  = "circling"
	migrating = "migrating"
)

var sensorWorlds = []string{grazing, circling, migrating}

// centre returns where a herd is at a part of the run, 0 to 1. A herd of grazing or circling lives in the middle of a
// quarter of the grid; in circling it has a phase of its own.
func (s sensorSettings) centre(herd int, phase, part float64) (x, y float64) {
	middle := float64(s.Side-1) / 2
	x, y = middle+3.5*float64(2*(herd%2)-1), middle+3.5*float64(2*(herd/2)-1)
	var radius, angle float64
	switch s.World {
	case circling:
		radius, angle = 2.5, phase+2*math.Pi*5*part
	case migrating:
		x, y = middle, middle
		radius, angle = 5.5, 2*math.Pi*(float64(herd)/sensorHerds+part)
	}
	return x + radius*math.Cos(angle), y + radius*math.Sin(angle)
}

// Sensors places a few sensors on a grid near objects that move.
var Sensors = experiment.Spec{
	ID:      "rmp2007/sensors",
	Title:   "Four sensors that follow moving objects on a grid: regret against the best fixed placement",
	Source:  "Section 1, application 4, which the paper only names",
	Version: 2,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := sensorSettings{M: 4, Side: sensorSide, Objects: sensorObjects, Rounds: 400, Steps: 2000}
		if scale == experiment.Smoke {
			s.Rounds, s.Steps = 60, 200
		}
		var cells []experiment.Cell
		for _, s.World = range sensorWorlds {
			cells = append(cells, experiment.Cell{
				Name: s.World, Dataset: "herds", Settings: s,
				Methods: map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion, "k-medoids": cluster.KMedoidsVersion},
			})
		}
		return cells
	},
	Trials: experiment.Trials(10),
	Kinds: []experiment.Kind{
		{Name: "loss", Meaning: "losses of a learner so far"},
		{Name: "object", Meaning: "where one object is in a round; first trial of the migrating herds only"},
		{Name: "sensor", Meaning: "where a learner has one sensor in that round"},
	},
	Columns: sensorColumns,
	Trial:   sensorTrial,
	Views: []experiment.View{
		{Name: "sensors", Title: "Regret of moving sensors against the best fixed placement", Draw: sensorsView.Draw},
		{Name: "sensors-frames", Title: "Sensors that follow migrating herds", Draw: drawSensorFrames},
	},
	Claims: sensorClaims,
	Cost:   5 * time.Second,
}

var sensorColumns = experiment.Columns{
	experiment.Text("kind", "what the row is of"),
	experiment.Text("method", "learner").In("loss", "sensor"),
	experiment.Text("round", "rounds so far; the round of the frame"),
	experiment.Number("loss", "", "sum over rounds and objects of the loss so far").In("loss"),
	experiment.Number("best", "", "the same of the best fixed placement found").In("loss"),
	experiment.Number("x", "", "column on the grid, from 0").In("object", "sensor"),
	experiment.Number("y", "", "row on the grid, from 0").In("object", "sensor"),
}

// costs fills dst, one row per object and one column per place of the grid, with min(1, d²/r²). d is the distance of
// the object from the place and r half the side of the grid: beyond that a sensor sees nothing.
func (s sensorSettings) costs(dst *mat.Dense, objects [][2]float64) metric.CostRound {
	reach := float64(s.Side) / 2
	for i, o := range objects {
		row := dst.RawRowView(i)
		for j := range row {
			x, y := s.place(j)
			row[j] = min(1, ((o[0]-x)*(o[0]-x)+(o[1]-y)*(o[1]-y))/(reach*reach))
		}
	}
	return metric.CostRound{Cost: dst}
}

// place returns where grid point j is.
func (s sensorSettings) place(j int) (x, y float64) { return float64(j % s.Side), float64(j / s.Side) }

// herds returns the positions of all objects at a part of the run. Each keeps its place in its herd, and moves a little
// about it, but not beyond the edge of the grid.
func (s sensorSettings) herds(rng *rand.Rand, phases []float64, own [][2]float64, part float64) [][2]float64 {
	inside := func(v float64) float64 { return min(max(v, 0), float64(s.Side-1)) }
	out := make([][2]float64, len(own))
	for i, o := range own {
		x, y := s.centre(i/sensorHerd, phases[i/sensorHerd], part)
		out[i] = [2]float64{inside(x + o[0] + 0.3*rng.NormFloat64()), inside(y + o[1] + 0.3*rng.NormFloat64())}
	}
	return out
}

// sensorMethods are the learners in the order of a figure. With the doubling trick RMP forgets what is old.
var sensorMethods = []string{protocol.RMPPrinted, protocol.RMPCorrected, protocol.RMPDoubling, protocol.FTL, sensorStart}

// rivals returns the learners.
func (s sensorSettings) rivals(seed random.Seed) ([]rival, error) {
	places := s.Side * s.Side
	var of []rival
	for _, method := range sensorMethods {
		r := rival{name: method, rule: method, purpose: fmt.Sprintf("maps %s %s", s.World, method), m: s.M}
		if method == sensorStart {
			r.rule, r.within = protocol.RMPPrinted, seed.Stream(fmt.Sprintf("random places %s", s.World)).Perm(places)[:s.M]
		}
		of = append(of, r)
	}
	return newRivals(seed, s.Objects, places, s.Rounds, s.Steps, of...)
}

// The first trial of the migrating herds is shown in frames: sensorStills of them in the figure, all in the
// animation.
const (
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

func sensorTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(sensorSettings)
	rng := run.Seed.Stream(fmt.Sprintf("herds %s", s.World))
	phases, own := make([]float64, sensorHerds), make([][2]float64, s.Objects)
	for k := range phases {
		phases[k] = 2 * math.Pi * rng.Float64()
	}
	for i := range own {
		own[i] = [2]float64{sensorScatter * rng.NormFloat64(), sensorScatter * rng.NormFloat64()}
	}
	rivals, err := s.rivals(run.Seed)
	if err != nil {
		return err
	}
	costs, total := mat.NewDense(s.Objects, s.Side*s.Side, nil), mat.NewDense(s.Objects, s.Side*s.Side, nil)
	best := run.Seed.Stream(fmt.Sprintf("best placement %s", s.World))
	round := func(t int) metric.CostRound {
		at := s.herds(rng, phases, own, float64(t)/float64(s.Rounds))
		if run.Seed.Trial == 0 && s.World == migrating && slices.Contains(sensorFrames(s.Rounds), t) {
			for _, o := range at {
				run.Rows.Add(table.Key{"kind": "object", "round": strconv.Itoa(t + 1)}, table.Values{"x": o[0], "y": o[1]})
			}
			for _, r := range rivals {
				for _, j := range protocol.Image(r.current()) {
					x, y := s.place(j)
					run.Rows.Add(table.Key{"kind": "sensor", "method": r.name, "round": strconv.Itoa(t + 1)}, table.Values{"x": x, "y": y})
				}
			}
		}
		return s.costs(costs, at)
	}
	return contest(ctx, rivals, s.Rounds, round, total, func(n int) error {
		fixed, err := cluster.FitFasterPAM(ctx, best, total, cluster.MedoidsParams{M: s.M, Starts: 10})
		if err != nil {
			return err
		}
		for _, r := range rivals {
			run.Rows.Add(table.Key{"kind": "loss", "method": r.name, "round": strconv.Itoa(n)}, table.Values{"loss": r.loss, "best": fixed.Cost})
		}
		return nil
	})
}

// perObject is a sum of losses so far per object and round.
func perObject(m frame.Measure) frame.Measure { return protocol.PerRound(m).Times(1. / sensorObjects) }

// sensorRegret is the regret per object and round against the best placement of as many rounds.
var sensorRegret = perObject(protocol.Losses.Minus(protocol.Bests))

// describeSensors is the protocol in captions.
const describeSensors = "Four herds of 10 objects move on a grid of 15×15 places; each object keeps its place in its herd, with a spread of 1, and moves about it a little. In each round the learner places at most 4 sensors on grid points and maps each object to one of them, before it sees where " +
	"the objects are; an object at distance d from its sensor costs min(1, d²/7.5²)."

var sensorsView = frame.View{
	Of:      []string{"kind", "loss"},
	Columns: 3,
	Panels: frame.PerGroup(func(cells []string) frame.Panel {
		return frame.Panel{
			Panel: plots.Panel{Title: cells[0], XLabel: "rounds", YLabel: "regret per object", XLog: true},
			Of:    append(frame.Lines("method", styles.Lines(sensorMethods...), "round", sensorRegret, frame.Band{}), protocol.NoRegret),
		}
	}, "cell"),
	Text: &frame.Text{By: []string{"cell", "world", "method", "method"}, Cells: []frame.Cell{
		frame.Of("loss", protocol.After(10, perObject(protocol.Losses)), frame.Band{}, "%.4f"),
		frame.Of("best fixed placement", protocol.After(10, perObject(protocol.Bests)), frame.Band{}, "%.4f"),
		frame.PlusMinus("regret", protocol.After(10, sensorRegret), frame.Band{}, "%.4f"),
	}},
	Caption: func(t *table.Table) plots.Caption {
		return frame.Says("Regret per object and round so far of sensors that follow moving objects (ours; the paper only names the application). It is the loss minus that of the best fixed placement of as many rounds, as found by 10 runs of FasterPAM: a local optimum, so that the true regret may be a little larger. "+
			"Below 0 the learner does better than any fixed placement it is compared with. "+
			fmt.Sprintf("The table is after %d rounds.", protocol.LastRound(t)),
			describeSensors+" Worlds: grazing: herds stay where they are. circling: herds go round in small circles, five times. migrating: herds go round the grid, once.",
			"RMP: η as printed or corrected for the length of the run, or as printed with the doubling trick, which forgets all costs after 1, 3, 7, ... rounds. FTL: follow-the-leader, by k-medoids. "+
				"Random places: η as printed over 4 random places.", protocol.TrialsCover)(t)
	},
	Missing: "losses in any world",
}

func drawSensorFrames(t *table.Table) (plots.Drawing, error) {
	g := t.Where("cell", migrating)
	objects, sensors := g.Where("kind", "object"), g.Where("kind", "sensor", "method", protocol.RMPDoubling)
	if objects.Len() == 0 {
		return plots.Missing("the first trial of the migrating herds"), nil
	}
	fixed := g.Where("kind", "sensor", "method", protocol.RMPPrinted)
	d := plots.Drawing{Columns: 4}
	for _, round := range objects.Unique("round") {
		o, s, f := objects.Where("round", round), sensors.Where("round", round), fixed.Where("round", round)
		d.Frames = append(d.Frames, plots.Panel{Title: "round " + round, XLabel: "column", YLabel: "row", Equal: true, XMin: -0.5, XMax: sensorSide - 0.5, YMin: -0.5, YMax: sensorSide - 0.5, Marks: []plots.Mark{
			plots.Points{Name: "object", X: o.Values("x"), Y: o.Values("y"), Color: plots.Grey},
			plots.Points{Name: "sensor, RMP doubling", X: s.Values("x"), Y: s.Values("y"), Color: styles[protocol.RMPDoubling].Color, Shape: plots.Square},
			plots.Points{Name: "sensor, RMP printed", X: f.Values("x"), Y: f.Values("y"), Color: styles[protocol.RMPPrinted].Color, Shape: plots.Triangle},
		}})
	}
	for k := 0; k < len(d.Frames); k += allFrames / sensorStills {
		d.Panels = append(d.Panels, d.Frames[k])
	}
	d.Caption = plots.Caption{Shows: "Frames of one run (first trial; ours) in which four herds go round the grid once: the objects of a round, and the sensors that two forms of RMP have placed before they see them. With the doubling trick RMP forgets all costs after 1, 3, 7, ... rounds; " +
		"with η as printed for the length of the run it remembers all. " + fmt.Sprintf("The animation has %d frames.", len(d.Frames)), Data: describeSensors}
	return d, nil
}

var sensorClaims = experiment.Claims([]experiment.Claim{{
	ID:        "sensors-vanishing",
	Statement: "Our approach yields vanishing per-round error (here in the paper's application to sensors, in worlds of ours).",
	Where:     "Section 1, after the applications", Theirs: "no number",
	Predicate: "RMP's regret per object and round against the best fixed placement is smaller after all rounds than after a tenth of them, paired by trial, in each world. Readings: η as printed and corrected.",
	Test:      protocol.Vanishing(sensorRegret, judge.Rule{Scale: 100, Unit: "hundredths of the largest cost"}, sensorWorlds...).StandIn(protocol.OurWorlds),
}})
