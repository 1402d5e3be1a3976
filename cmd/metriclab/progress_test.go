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
