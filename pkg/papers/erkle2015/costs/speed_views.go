package costs

import (
	"slices"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// The kinds of rows.
const (
	speedStructured = "structured"
	speedDense      = "dense"
	speedRead       = "read"
)

func speedPhase(kind, to string) string { return kind + " to " + to }

// timed adds to each row the mean time per active triplet in seconds: "between" the checkpoint before and this one, and the "mean" up to
// this one. A row that reads the kernel has the time to read it once. It also adds how many triplets there are "per object".
func timed(t, times *table.Table) *table.Table {
	out := table.New(append(slices.Clone(t.IndexNames()), "per object"), append(slices.Clone(t.ValueNames()), "between", "mean"))
	for cells, g := range t.Groups("cell", "trial", "kind") {
		spent := spentOn(times.Where("cell", cells[0], "trial", cells[1]))
		sum, before := 0.0, 0.0
		for i := range g.Len() {
			key, v := g.Row(i)
			s := spent[speedPhase(cells[2], key["triplets"])]
			if sum += s; v["active"] == 0 {
				judge.Refuse("erkle2015: %s: no active triplet among the first %s", cells[0], key["triplets"])
			}
			v["between"], v["mean"] = s/(v["active"]-before), sum/v["active"]
			if before = v["active"]; cells[2] == speedRead {
				v["mean"] = s / v["repeats"]
			}
			key["per object"] = table.Format(frame.Parse("triplets", key["triplets"]) / frame.Parse("objects", key["objects"]))
			out.Add(key, v)
		}
	}
	return out
}

const (
	speedData  = "Random triplets of n points drawn from N(0, I) in R⁵⁰."
	speedSetup = "PA-ERKLE from K = I; CPU time of updates that change the kernel. " +
		"Structured: certificates that no eigenpair is needed, else that pair alone. Dense: a full eigendecomposition at each update, timed over the first triplets of the stream, when the kernel is near I, which makes it faster than later."
)

// drawTimed renders a view of timed rows.
func drawTimed(v frame.View) func(t, times *table.Table) (plots.Drawing, error) {
	return func(t, times *table.Table) (plots.Drawing, error) { return v.Draw(timed(t, times)) }
}

// The measures that are shown.
var (
	betweenMS = frame.Column("between").Times(1e3)
	meanMS    = frame.Column("mean").Times(1e3)
	savedMB   = frame.Column("bytes").Map(func(b float64) float64 { return b / 1e6 })
)

// speedPanels have time and memory against a column.
func speedPanels(label string) (time, memory plots.Panel) {
	return plots.Panel{Title: "time", XLabel: label, YLabel: "CPU time per active triplet (ms)", XLog: true, YLog: true},
		plots.Panel{Title: "memory", XLabel: label, YLabel: "saved learner (MB)", XLog: true, YLog: true}
}

var speedTriplets = frame.View{
	Of: []string{"kind", speedStructured}, Columns: 2, Missing: "any trial",
	Panels: func(t *table.Table) (out []plots.Panel) {
		time, memory := speedPanels("triplets seen")
		lines := func(p plots.Panel, m frame.Measure) []plots.Panel {
			sizes := t.Unique("cell")
			return frame.Each(frame.Panel{Panel: p, Of: frame.Lines("cell", protocol.Mapped(sizes, plots.Ordered(sizes...).Line), "triplets", m, frame.Band{})})(t)
		}
		return append(lines(time, betweenMS), lines(memory, savedMB)...)
	},
	Caption: frame.Says("Time per active triplet between one checkpoint and the next, and what the learner saves then.", speedData, speedSetup, ""),
}

// speedRun is a kind of rows, after so many triplets per object or, if that is "", all there are.
type speedRun struct {
	line        plots.Line
	kind, ratio string
}

var speedRuns = []speedRun{
	{plots.Line{Name: "structured, first n/2 triplets", Dash: plots.Dashed}, speedStructured, "0.5"},
	{plots.Line{Name: "structured, first 2n triplets"}, speedStructured, "2"},
	{plots.Line{Name: "dense", Color: plots.Vermillion, Dash: plots.LongDashed}, speedDense, ""},
	{plots.Line{Name: "reading the n×n kernel once", Color: plots.Grey, Dash: plots.DashDotDot}, speedRead, ""},
}

var speedObjects = frame.View{
	From: frame.Named("what", speedRuns, func(r speedRun) (string, frame.Rows) {
		return r.line.Name, func(t *table.Table) *table.Table {
			if r.ratio == "" {
				return t.Where("kind", r.kind)
			}
			return t.Where("kind", r.kind, "per object", r.ratio)
		}
	}),
	Columns: 2, Missing: "any trial",
	Panels: func(t *table.Table) []plots.Panel {
		time, memory := speedPanels("objects n")
		lines := protocol.Mapped(speedRuns, func(r speedRun) plots.Line { return r.line })
		saved := frame.Lines("what", lines[:3], "objects", savedMB, frame.Band{})
		all := frame.Line(plots.Line{Name: "n² numbers of 8 bytes", Color: plots.Grey, Dash: plots.Dotted}, "objects", savedMB, frame.Band{}.Without())
		return frame.Each(
			frame.Panel{Panel: time, Of: frame.Lines("what", lines, "objects", meanMS, frame.Band{})},
			frame.Panel{Panel: memory, Of: append(saved, all.Where("kind", speedRead))},
		)(t)
	},
	Text: &frame.Text{
		By: []string{"what", "", "objects", "n", "what", "what"},
		Cells: []frame.Cell{
			unlessRead(frame.Name("triplets", "triplets")),
			{Head: "time per active triplet (ms)", Of: func(g *table.Table) string { return plusMinus(meanMS(g), 3) }}, frame.Of("saved learner (MB)", savedMB, frame.Band{}, "%.3g"),
			unlessRead(frame.Of("eigenpairs removed", frame.Column("projected"), frame.Band{}, "%.0f")),
		},
	},
	Caption: frame.Says("Time per active triplet, and what the learner saves, against the number of objects. The grey line on the left is the time to sum up the n² entries of a kernel, at the speed of the memory where they do not fit into the cache. An update that touches all of them costs at least that.",
		speedData, speedSetup+" Memory is what the learner saves after these triplets, of which numbers in base64 take a third more than in memory, and buffers that speed up the search are left out; a saved dense kernel is one triangle.", ""),
}

// unlessRead is a column that is empty of the rows of reading a kernel.
func unlessRead(c frame.Cell) frame.Cell {
	of := c.Of
	c.Of = func(g *table.Table) string {
		if experiment.FirstName(g, "kind") == speedRead {
			return ""
		}
		return of(g)
	}
	return c
}
