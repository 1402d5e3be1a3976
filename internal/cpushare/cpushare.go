// Package cpushare shares the CPU time of the process among the jobs that run at a time.
package cpushare

import (
	"sync"
	"time"
)

// Meter shares the CPU time of the process among the jobs that run: while k
// jobs run, each is charged 1/k of what the process uses. That includes the
// goroutines that a job starts and the garbage collector, which no clock of a
// thread sees; the sum over jobs is what the process used, and a job that runs
// alone is charged exactly.
type Meter struct {
	cpu func() time.Duration

	mu      sync.Mutex
	last    time.Duration
	running map[*Account]bool
}

// Account is what one job has been charged.
type Account struct{ used time.Duration }

// New returns a Meter that reads the CPU time of the process by cpu.
func New(cpu func() time.Duration) *Meter {
	return &Meter{cpu: cpu, running: map[*Account]bool{}}
}

// settle charges what has been used since the last call. The caller holds mu.
func (m *Meter) settle() {
	now := m.cpu()
	if n := len(m.running); n > 0 {
		for a := range m.running {
			a.used += (now - m.last) / time.Duration(n)
		}
	}
	m.last = now
}

// Begin opens the account of a job that begins.
func (m *Meter) Begin() *Account {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	a := new(Account)
	m.running[a] = true
	return a
}

// Read returns what the account has been charged up to now.
func (m *Meter) Read(a *Account) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	return a.used
}

// End closes the account and returns what it was charged.
func (m *Meter) End(a *Account) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	delete(m.running, a)
	return a.used
}
