package main

import (
	"testing"
	"time"

	"metriclab/pkg/experiment/harness"
)

// TestBarNeverBlocks sends events for as long as the bar is drawn a few times:
// a bar that waits for the sender of events, which waits for the bar, hangs.
func TestBarNeverBlocks(t *testing.T) {
	c := newCommand(toys(nil))
	c.app.terminal = true
	done := make(chan struct{})
	go func() {
		defer close(done)
		p := c.app.progress(harness.Config{})
		p.event(harness.Event{Kind: harness.EventPlanned, Total: 1 << 40, Left: time.Hour})
		for n, start := 0, time.Now(); time.Since(start) < 700*time.Millisecond; n++ {
			p.event(harness.Event{Kind: harness.EventFinished, Experiment: "toy/lines", Cell: "a", Ended: n, Total: 1 << 40, Left: time.Hour})
		}
		p.close()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the progress bar hangs")
	}
}

// A report tells, now and then, how many experiments are rendered; a terminal shows a bar.
func TestReportProgress(t *testing.T) {
	for _, terminal := range []bool{false, true} {
		c := newCommand(toys(nil))
		c.app.terminal, c.app.every = terminal, time.Hour
		p := c.app.progress(harness.Config{})
		p.report = true
		p.event(harness.Event{Kind: harness.EventPlanned, ToDraw: 5})
		p.event(harness.Event{Kind: harness.EventDrawn, Drawn: 2, ToDraw: 5, Left: 3 * time.Second, Outcome: &harness.Outcome{}})
		p.mu.Lock()
		if got, want := p.counts(), "2 of 5 experiments rendered, about 3s left"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if (p.draws != nil) != terminal {
			t.Errorf("terminal %v: there is a bar: %v", terminal, p.draws != nil)
		}
		p.mu.Unlock()
		p.close()
		if !terminal && c.err.Len() > 0 {
			t.Errorf("stderr: %s", c.err.String())
		}
	}
}
