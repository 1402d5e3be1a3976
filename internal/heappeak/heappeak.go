// Package heappeak measures how much memory a work takes at its peak.
package heappeak

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// Bytes returns what the objects on the heap of the process take, those that the garbage collector has not yet swept among them.
func Bytes() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64())
}

// every is the time between two looks.
const every = 5 * time.Millisecond

// Meter looks at the memory of the process every 5 ms, and whenever Peak is called, from Start to Stop. A peak between two looks may escape it.
type Meter struct {
	bytes func() int64

	mu   sync.Mutex
	base int64
	peak int64
	stop chan struct{}
	done sync.WaitGroup
}

// Start collects garbage, takes what is left as the base, and begins to look. bytes is mostly Bytes.
func Start(bytes func() int64) *Meter {
	runtime.GC()
	m := &Meter{bytes: bytes, base: bytes(), stop: make(chan struct{})}
	m.done.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.Peak()
			case <-m.stop:
				return
			}
		}
	})
	return m
}

// Peak returns the most that was seen above the base so far, at least 0.
func (m *Meter) Peak() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.peak = max(m.peak, m.bytes()-m.base)
	return m.peak
}

// Stop ends the looks.
func (m *Meter) Stop() {
	close(m.stop)
	m.done.Wait()
}
