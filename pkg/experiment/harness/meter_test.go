package harness

import (
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	var clock time.Duration
	m := newMeter(func() time.Duration { return clock })
	at := func(s time.Duration) { clock = s * time.Second }

	at(5) // nobody runs: nobody pays
	a := m.begin()
	at(7) // a alone: 2
	if got := m.read(a); got != 2*time.Second {
		t.Errorf("a alone: %v, want 2s", got)
	}
	b := m.begin()
	at(13) // 6 shared by two: 3 each
	if got := m.end(a); got != 5*time.Second {
		t.Errorf("a: %v, want 5s", got)
	}
	at(14) // b alone: 1
	if got := m.end(b); got != 4*time.Second {
		t.Errorf("b: %v, want 4s", got)
	}
	at(100) // nobody runs
	c := m.begin()
	if got := m.end(c); got != 0 {
		t.Errorf("c: %v, want 0", got)
	}
}
