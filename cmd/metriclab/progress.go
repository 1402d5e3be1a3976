package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/pkg/experiment/harness"
)

// progress shows events on stderr: a bar on a terminal, else a line per
// finished experiment, per failure, and one every now and then.
type progress struct {
	mu sync.Mutex
	w  io.Writer // for lines
	// damaged is the line about a file that cannot be used.
	damaged func(harness.DamagedFile) string
	last    harness.Event
	bars    *mpb.Progress
	bar     *mpb.Bar
	draws   *mpb.Bar // of experiments, once all jobs have ended
	report  bool     // nothing runs
	// beside is the text after the bar. The bars' own goroutine reads it, and
	// must not wait for mu: whoever holds mu may wait for that goroutine.
	beside atomic.Pointer[string]
	done   chan struct{}
	wait   sync.WaitGroup
}

func (a *app) progress(cfg harness.Config) *progress {
	p := &progress{w: a.err, done: make(chan struct{}), damaged: func(d harness.DamagedFile) string { return a.damaged(d, cfg) }}
	if a.terminal {
		p.bars = mpb.New(mpb.WithOutput(a.stderr), mpb.WithAutoRefresh(), mpb.WithWidth(48))
		p.w = printable.NewMessages(p.bars)
		return p
	}
	p.wait.Go(func() {
		tick := time.NewTicker(a.every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.mu.Lock()
				if p.last.Total > 0 || p.last.ToDraw > 0 {
					fmt.Fprintln(p.w, p.counts())
				}
				p.mu.Unlock()
			case <-p.done:
				return
			}
		}
	})
	return p
}

// counts describes where the run is. The caller holds mu.
func (p *progress) counts() string {
	s := fmt.Sprintf("%d of %s", p.last.Ended, plural.Of(p.last.Total, "job"))
	if p.drawing() {
		s = fmt.Sprintf("%d of %s rendered", p.last.Drawn, plural.Of(p.last.ToDraw, "experiment"))
	}
	if p.last.Left > 0 {
		s += ", " + about(p.last.Left) + " left"
	}
	return s
}

// rendering reports whether all jobs have ended and something is left to render. The caller holds mu.
func (p *progress) drawing() bool { return p.last.Ended == p.last.Total && p.last.ToDraw > 0 }

func (p *progress) event(e harness.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Kind != harness.EventDrawn && e.Kind != harness.EventDamaged {
		p.last = e
	}
	p.last.Ended, p.last.Total, p.last.Drawn, p.last.ToDraw, p.last.Left = e.Ended, e.Total, e.Drawn, e.ToDraw, e.Left
	beside := p.remaining()
	p.beside.Store(&beside)
	switch e.Kind {
	case harness.EventDamaged:
		fmt.Fprintln(p.w, p.damaged(e.File))
	case harness.EventPlanned:
		if e.NoChecksum > 0 {
			fmt.Fprintln(p.w, noChecksum(e.NoChecksum)+": run again")
		}
		left := ""
		if e.Left > 0 {
			left = ", " + about(e.Left)
		}
		if !p.report {
			fmt.Fprintf(p.w, "%s to run%s\n", plural.Of(e.Total, "job"), left)
		}
		if p.bars != nil && e.Total > 0 {
			p.bar = p.bars.AddBar(int64(e.Total),
				mpb.PrependDecorators(decor.CountersNoUnit("%d of %d jobs ")),
				mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return *p.beside.Load() })),
				mpb.BarRemoveOnComplete())
		}
	case harness.EventFailed:
		fmt.Fprintf(p.w, "failed: %s, cell %s, trial %d: %v\n", e.Experiment, e.Cell, e.Trial, e.Err)
	case harness.EventDrawn:
		if e.Outcome.Ran+e.Outcome.Failed > 0 {
			fmt.Fprintf(p.w, "%s: %s run, %d failed, %d of %d done\n", e.Experiment, plural.Of(e.Outcome.Ran+e.Outcome.Failed, "job"), e.Outcome.Failed, e.Outcome.Done, e.Outcome.Jobs)
		}
	}
	if p.bar != nil {
		p.bar.SetCurrent(int64(e.Ended))
	}
	if p.bars != nil && p.draws == nil && p.drawing() && p.last.Drawn < p.last.ToDraw {
		p.draws = p.bars.AddBar(int64(p.last.ToDraw),
			mpb.PrependDecorators(decor.CountersNoUnit("%d of %d experiments rendered ")),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return *p.beside.Load() })),
			mpb.BarRemoveOnComplete())
	}
	if p.draws != nil {
		p.draws.SetCurrent(int64(p.last.Drawn))
	}
}

// interrupted says, above the bar if there is one, what an interrupt does.
func (p *progress) interrupted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintln(p.w, "metriclab: interrupted; finished jobs are kept; interrupt again to kill")
}

// remaining is the text after the bar. The caller holds mu.
func (p *progress) remaining() string {
	s := ""
	if p.last.Left > 0 {
		s = about(p.last.Left) + " left"
	}
	if p.last.Experiment != "" && !p.drawing() {
		s += "  " + p.last.Experiment + " " + printable.Text(p.last.Cell)
	}
	return s
}

// close ends the display.
func (p *progress) close() {
	close(p.done)
	p.wait.Wait()
	if p.bars != nil {
		if p.bar != nil {
			p.bar.Abort(true)
		}
		if p.draws != nil {
			p.draws.Abort(true)
		}
		p.bars.Wait()
	}
}
