package harness

import (
	"sync"
	"time"
)

// meter shares the CPU time of the process among the jobs that run: while k
// jobs run, each is charged 1/k of what the process uses. That includes the
// goroutines that a job starts and the garbage collector, which no clock of a
// thread sees; the sum over jobs is what the process used, and a job that runs
// alone is charged exactly.
type meter struct {
	cpu func() time.Duration

	mu      sync.Mutex
	last    time.Duration
	running map[*account]bool
}

// account is what one job has been charged.
type account struct{ used time.Duration }

func newMeter(cpu func() time.Duration) *meter {
	return &meter{cpu: cpu, running: map[*account]bool{}}
}

// settle charges what has been used since the last call. The caller holds mu.
func (m *meter) settle() {
	now := m.cpu()
	if n := len(m.running); n > 0 {
		for a := range m.running {
			a.used += (now - m.last) / time.Duration(n)
		}
	}
	m.last = now
}

func (m *meter) begin() *account {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	a := new(account)
	m.running[a] = true
	return a
}

// read returns what the account has been charged up to now.
func (m *meter) read(a *account) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	return a.used
}

// end closes the account and returns what it was charged.
func (m *meter) end(a *account) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	delete(m.running, a)
	return a.used
}
