package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/pkg/experiment/host"
)

// work is something whose cost grows with a size.
type work struct {
	panel string // of the figure
	name  string // unique
	by    string // what is doubled, such as "n"
	fixed string // what is not
	from  int    // the first size
	most  int    // the largest size, for the memory it takes; 0 means that time alone decides
	// prepare makes the data of a size; what it returns is measured.
	prepare func(ctx context.Context, size int) (op func() error, err error)
	// parts is the number of equal parts of the operation, such as steps: times and
	// memory are of one part. nil means 1.
	parts func(size int) int
	// command, in the place of prepare, is measured as a process.
	command func(ctx context.Context, size int) (args []string, err error)
}

// point is what one size of a work costs.
type point struct {
	name    string
	size    int
	seconds float64 // CPU time
	bytes   float64 // allocated, for a command the peak of its memory; 0 where the system does not tell
}

const tableName, tableHead = "growth.csv", "work,size,seconds,bytes\n"

// line is p in the table. No name of a work has a comma or a quote.
func (p point) line() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	return fmt.Sprintf("%s,%d,%s,%s\n", p.name, p.size, number(p.seconds), number(p.bytes))
}

// text is p for people.
func (p point) text() string {
	return fmt.Sprintf("%-34s %9d %10s %10s", p.name, p.size, timeText(p.seconds), bytesText(p.bytes))
}

// text is h as comments of the table.
func (h head) text() string {
	var b strings.Builder
	for _, f := range h.fields() {
		fmt.Fprintf(&b, "# %s: %s\n", f.name, *f.value)
	}
	return b.String()
}

type field struct {
	name  string
	value *string
}

func (h *head) fields() []field {
	return []field{{"date", &h.Date}, {"machine", &h.Machine}, {"go", &h.Go}, {"commit", &h.Commit}, {"product", &h.Product}, {"limit", &h.Limit}}
}

// readTable reads what a run has written. A last line without an end is left out: the
// run was killed there.
func readTable(text string) (h head, points []point, err error) {
	fields := h.fields()
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	for i, f := range fields {
		rest, ok := "", false
		if i < len(lines) {
			rest, ok = strings.CutPrefix(lines[i], "# "+f.name+": ")
		}
		if !ok {
			return head{}, nil, fmt.Errorf("line %d does not tell the %s", i+1, f.name)
		}
		*f.value = strings.TrimSuffix(rest, "\n")
	}
	if len(lines) == len(fields) || lines[len(fields)] != tableHead {
		return head{}, nil, fmt.Errorf("line %d is not %q", len(fields)+1, tableHead)
	}
	for i, line := range lines[len(fields)+1:] {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		bad := fmt.Errorf("line %d is no point: %q", len(fields)+2+i, line)
		if len(cells) != 4 {
			return head{}, nil, bad
		}
		p := point{name: cells[0]}
		var errs [3]error
		p.size, errs[0] = strconv.Atoi(cells[1])
		p.seconds, errs[1] = strconv.ParseFloat(cells[2], 64)
		p.bytes, errs[2] = strconv.ParseFloat(cells[3], 64)
		if errs != [3]error{} || p.size < 1 || !(p.seconds >= 0) || !(p.bytes >= 0) {
			return head{}, nil, bad
		}
		points = append(points, p)
	}
	return h, points, nil
}

// measureAll measures the works in order, but for what is known, and reports each
// point, the known ones too.
func measureAll(ctx context.Context, works []work, limit time.Duration, cpu func() time.Duration, known []point, report func(point) error) ([]point, error) {
	var points []point
	for _, w := range works {
		last, next := 0., 0. // seconds of the last size, and what the next one will take
		for size := w.from; (w.most == 0 || size <= w.most) && next <= limit.Seconds(); size *= 2 {
			i := slices.IndexFunc(known, func(p point) bool { return p.name == w.name && p.size == size })
			var p point
			if i >= 0 {
				p = known[i]
			} else {
				var err error
				if p, err = w.measure(ctx, size, limit, cpu); err != nil {
					return nil, fmt.Errorf("%s, %s = %d: %w", w.name, w.by, size, err)
				}
			}
			points = append(points, p)
			if err := report(p); err != nil {
				return nil, err
			}
			seconds := p.seconds * float64(w.partsOf(size))
			growth := 2. // what grows more slowly is still mostly the fixed part
			if last > 0 {
				growth = max(growth, seconds/last)
			}
			last, next = seconds, seconds*growth
		}
	}
	return points, nil
}

func (w work) partsOf(size int) int {
	if w.parts == nil {
		return 1
	}
	return w.parts(size)
}

// measure returns what one part of the work costs at a size: the least of
// five samples, of fewer where they take more than a quarter of the limit together. A sample
// repeats what is shorter than a fiftieth of the limit.
func (w work) measure(ctx context.Context, size int, limit time.Duration, cpu func() time.Duration) (point, error) {
	p := point{name: w.name, size: size}
	if w.command != nil {
		args, err := w.command(ctx, size)
		if err != nil {
			return p, err
		}
		seconds, peak, err := process(ctx, args)
		p.seconds, p.bytes = seconds, peak
		return p, err
	}
	op, err := w.prepare(ctx, size)
	if err != nil {
		return p, err
	}
	runtime.GC()
	p.seconds, p.bytes = math.Inf(1), math.Inf(1)
	spent := time.Duration(0)
	for repeat, samples := 1, 0; samples < 5 && (samples == 0 || spent < limit/4); {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := cpu()
		for range repeat {
			if err := op(); err != nil {
				return p, err
			}
			if err := ctx.Err(); err != nil {
				return p, err
			}
		}
		took := cpu() - start
		spent += took
		if took < limit/50 && repeat < 1<<20 {
			repeat *= 2
			continue
		}
		samples++
		runtime.ReadMemStats(&after)
		count := float64(repeat * w.partsOf(size))
		p.seconds = min(p.seconds, took.Seconds()/count)
		p.bytes = min(p.bytes, float64(after.TotalAlloc-before.TotalAlloc)/count)
	}
	return p, nil
}

// process runs a command of one core, and returns its CPU time and the peak of its
// memory, 0 where that is not known.
func process(ctx context.Context, args []string) (seconds, peak float64, err error) {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	if text, err := c.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, text)
	}
	peak = peakOf(c.ProcessState)
	// A process begins with the peak of the one that started it.
	if own := float64(host.World(time.Now).PeakRSSKiB()) * 1024; peak > 0 && peak <= own {
		return 0, 0, fmt.Errorf("this process has taken more memory (%s) than %s: its peak cannot be known", bytesText(own), args[1])
	}
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), peak, nil
}
