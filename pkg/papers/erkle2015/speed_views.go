package erkle2015

import (
	"fmt"
	"slices"
	"strconv"

	"metriclab/pkg/judge"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

const speedSetup = "PA-ERKLE from K = I on random comparisons of n points drawn from N(0, I) in R⁵⁰; CPU time of updates that change the kernel. " +
	"Structured: certificates that no eigenpair is needed, else that pair alone. Dense: a full eigendecomposition at each update, timed over the first triplets of the stream, when the kernel is near I, which makes it faster than later. "

func drawSpeedTriplets(t, times *table.Table) (plots.Drawing, error) {
	p := plots.Panel{Title: "time", XLabel: "triplets seen", YLabel: "CPU time per active triplet (ms)", XLog: true, YLog: true}
	memory := plots.Panel{Title: "memory", XLabel: "triplets seen", YLabel: "saved learner (MB)", XLog: true, YLog: true}
	order, runs := byObjects(t, times, speedStructured)
	for k, n := range order {
		rs := runs[n]
		values, bytes := make([][]float64, len(rs[0].to)), make([][]float64, len(rs[0].to))
		var x []float64
		for i, to := range rs[0].to {
			x = append(x, float64(to))
			for _, r := range rs {
				if len(r.to) != len(rs[0].to) {
					judge.Refuse("erkle2015: n = %d: trials with %d and %d checkpoints, want as many", n, len(rs[0].to), len(r.to))
				}
				values[i] = append(values[i], 1e3*r.perTriplet()[i])
				bytes[i] = append(bytes[i], r.bytes[i]/1e6)
			}
		}
		memory.Marks = append(memory.Marks, bandOf(plots.Line{Name: fmt.Sprintf("n = %d", n), Color: k}, x, bytes))
		p.Marks = append(p.Marks, bandOf(plots.Line{Name: fmt.Sprintf("n = %d", n), Color: k}, x, values))
	}
	if len(p.Marks) == 0 {
		return plots.Missing("any trial"), nil
	}
	return plots.Drawing{Panels: []plots.Panel{p, memory}, Columns: 2, Caption: plots.Caption{Shows: "Time per active triplet between one checkpoint and the next, and what the learner saves then. " + speedSetup + trialsNote(t)}}, nil
}

func drawSpeedObjects(t, times *table.Table) (plots.Drawing, error) {
	timed := plots.Panel{Title: "time", XLabel: "objects n", YLabel: "CPU time per active triplet (ms)", XLog: true, YLog: true}
	memory := plots.Panel{Title: "memory", XLabel: "objects n", YLabel: "saved learner (MB)", XLog: true, YLog: true}
	text := &plots.TextTable{Head: []string{"n", "what", "triplets", "time per active triplet (ms)", "saved learner (MB)", "eigenpairs removed"}}
	for _, c := range []struct {
		style plots.Line
		kind  string
		ratio float64 // triplets per object; 0 means all there are
	}{
		{plots.Line{Name: "structured, first n/2 triplets", Color: 0, Dashed: true}, speedStructured, 0.5},
		{plots.Line{Name: "structured, first 2n triplets", Color: 0}, speedStructured, 2},
		{plots.Line{Name: "dense", Color: 1}, speedDense, 0},
	} {
		order, runs := byObjects(t, times, c.kind)
		var x []float64
		var spent, bytes [][]float64
		for _, n := range order {
			to := int(c.ratio * float64(n))
			if c.ratio == 0 {
				to = slices.Max(runs[n][0].to)
			}
			if !slices.Contains(runs[n][0].to, to) {
				continue // the stream is shorter
			}
			var s, b []float64
			for _, r := range runs[n] {
				at := slices.Index(r.to, to)
				if at < 0 {
					judge.Refuse("erkle2015: n = %d: a trial has no checkpoint at %d triplets, others have", n, to)
				}
				s, b = append(s, 1e3*r.mean(to)), append(b, r.bytes[at]/1e6)
			}
			x, spent, bytes = append(x, float64(n)), append(spent, s), append(bytes, b)
			removed := t.Where("kind", c.kind, "objects", strconv.Itoa(n), "triplets", strconv.Itoa(to)).Values("projected")
			text.Rows = append(text.Rows, []string{strconv.Itoa(n), c.style.Name, strconv.Itoa(to), plusMinus(s, 3), fmt.Sprintf("%.3g", judge.Summarize(b).Mean), fmt.Sprintf("%.0f", judge.Summarize(removed).Mean)})
		}
		if len(x) == 0 {
			continue
		}
		timed.Marks = append(timed.Marks, bandOf(c.style, x, spent))
		memory.Marks = append(memory.Marks, bandOf(c.style, x, bytes))
	}
	order, read := readTimes(t, times)
	var x, full []float64
	var spent [][]float64
	for _, n := range order {
		var ms []float64
		for _, s := range read[n] {
			ms = append(ms, 1e3*s)
		}
		x, spent, full = append(x, float64(n)), append(spent, ms), append(full, 8e-6*float64(n)*float64(n))
		text.Rows = append(text.Rows, []string{strconv.Itoa(n), "reading the n×n kernel once", "", plusMinus(ms, 3), fmt.Sprintf("%.3g", full[len(full)-1]), ""})
	}
	if len(x) == 0 {
		return plots.Missing("any trial"), nil
	}
	grey := plots.Line{Name: "reading the n×n kernel once", Color: plots.Grey, Dashed: true}
	timed.Marks = append(timed.Marks, bandOf(grey, x, spent))
	memory.Marks = append(memory.Marks, plots.Line{Name: "n² numbers of 8 bytes", Color: plots.Grey, Dashed: true, X: x, Y: full})
	return plots.Drawing{
		Panels: []plots.Panel{timed, memory}, Columns: 2, Text: text,
		Caption: plots.Caption{Shows: speedSetup + "The grey line on the left is the time to sum up the n² entries of a kernel, at the speed of the memory where they do not fit into the cache: what an update costs at least that touches all of them. " +
			"Memory is what the learner saves after these triplets, of which numbers in base64 take a third more than in memory, and buffers that speed up the search are left out; a saved dense kernel is one triangle. " + trialsNote(t)},
	}, nil
}
