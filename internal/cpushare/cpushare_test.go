package cpushare

import (
	"testing"
	"time"
)

func TestMeter(t *testing.T) {
	var clock time.Duration
	m := New(func() time.Duration { return clock })
	at := func(s time.Duration) { clock = s * time.Second }

	at(5) // nobody runs: nobody pays
	a := m.Begin()
	at(7) // a alone: 2
	if got := m.Read(a); got != 2*time.Second {
		t.Errorf("a alone: %v, want 2s", got)
	}
	b := m.Begin()
	at(13) // 6 shared by two: 3 each
	if got := m.End(a); got != 5*time.Second {
		t.Errorf("a: %v, want 5s", got)
	}
	at(14) // b alone: 1
	if got := m.End(b); got != 4*time.Second {
		t.Errorf("b: %v, want 4s", got)
	}
	at(100) // nobody runs
	c := m.Begin()
	if got := m.End(c); got != 0 {
		t.Errorf("c: %v, want 0", got)
	}
}
