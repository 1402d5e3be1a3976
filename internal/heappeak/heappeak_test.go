package heappeak

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// The peak is the most above the base, also once it has passed, and no less than 0.
func TestMeter(t *testing.T) {
	var now atomic.Int64
	now.Store(100)
	m := Start(now.Load)
	defer m.Stop()
	for _, step := range []struct{ bytes, want int64 }{{90, 0}, {150, 50}, {120, 50}, {151, 51}} {
		now.Store(step.bytes)
		if got := m.Peak(); got != step.want {
			t.Errorf("at %d: %d, want %d", step.bytes, got, step.want)
		}
	}
}

func TestBytes(t *testing.T) {
	before := Bytes()
	const size = 64 << 20
	b := make([]byte, size)
	after := Bytes()
	runtime.KeepAlive(b)
	// Garbage of before may have been swept meanwhile.
	if grown := after - before; grown < size-32<<20 || grown > 2*size {
		t.Errorf("%d bytes more for one object of %d", grown, size)
	}
}
