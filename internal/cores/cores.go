// Package cores shares the cores of the process among computations that can use several.
//
// A computation that divides into blocks gives them to Do. Its own goroutine works on them, and so do goroutines for
// cores that are idle, up to GOMAXPROCS in the whole process. Do never waits for a core. So a block may call Do again:
// inside of splits or jobs that use all cores, inner calls stay on one.
//
// Which goroutine does a block, and when, is open. So that results do not depend on it, each block writes what no other
// block reads or writes, and what is summed is summed in an order of its own.
package cores

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

var (
	mu       sync.Mutex
	occupied int       // by Occupy
	extra    int       // goroutines of all calls of Do, but for those that wait
	waiting  []*helper // for another call
)

// spins is how often a goroutine looks for what it waits for before it sleeps: some .2 ms. To wake it on another core takes
// a quarter of that, and many a call of Do is over by then. A fit that does between two calls what one core must do, such as
// an eigendecomposition of order 64, finds it awake.
const spins = 1 << 17

// spin reports whether ready became true.
func spin(ready func() bool) bool {
	for i := range spins {
		if ready() {
			return true
		}
		if i%1024 == 1023 {
			runtime.Gosched()
		}
	}
	return false
}

// idle returns the cores without work. A process in which nobody occupies a core works on one. The caller holds mu.
func idle() int { return max(0, runtime.GOMAXPROCS(0)-max(1, occupied)-extra) }

// Idle returns how many goroutines would help a call of Do at this moment, if it had blocks for them.
func Idle() int {
	mu.Lock()
	defer mu.Unlock()
	return idle()
}

// A helper is a goroutine for a core. After its part of one call it waits a little for the next.
type helper struct{ next atomic.Pointer[team] }

func (h *helper) run() {
	for h.assist(h.next.Swap(nil)) {
	}
}

// assist works for t and reports whether there is a next team.
func (h *helper) assist(t *team) bool {
	h.work(t)
	if spin(func() bool { return h.next.Load() != nil }) {
		return true
	}
	mu.Lock()
	defer mu.Unlock()
	i := slices.Index(waiting, h)
	if i < 0 {
		return true
	}
	waiting = slices.Delete(waiting, i, i+1)
	return false
}

func (h *helper) work(t *team) {
	ended := false
	defer func() {
		mu.Lock()
		extra--
		if ended { // not by runtime.Goexit
			waiting = append(waiting, h)
		}
		mu.Unlock()
		t.others.Done()
		t.helpers.Add(-1)
	}()
	t.assist()
	ended = true
}

// recruit gives the team one more helper, if a core is idle.
func (t *team) recruit() {
	mu.Lock()
	defer mu.Unlock()
	if idle() == 0 {
		return
	}
	extra++
	t.helpers.Add(1)
	t.others.Add(1)
	if last := len(waiting) - 1; last >= 0 {
		h := waiting[last]
		waiting = waiting[:last]
		h.next.Store(t)
		return
	}
	h := new(helper)
	h.next.Store(t)
	go h.run()
}

// All is more cores than there are.
const All = 1 << 30

// Occupy counts n cores as at work until release is called once, whether they are idle or not. Who runs n computations
// at a time on goroutines of its own occupies one core for each. With n = All, Do starts no goroutine.
func Occupy(n int) (release func()) {
	mu.Lock()
	defer mu.Unlock()
	occupied += n
	return func() {
		mu.Lock()
		defer mu.Unlock()
		occupied -= n
	}
}

// Do calls f for the blocks 0 to n−1 and returns when all calls have returned. The goroutine of the caller works on them,
// and one more for each core that is idle or becomes idle. Blocks begin in ascending order. After a panic in
// f no further block begins, and Do panics with its value.
func Do(n int, f func(block int)) { With(n, func() func(int) { return f }) }

// With is Do with a function f for each goroutine, which may have buffers of its own. newWorker makes it, on that goroutine, so that
// several calls of newWorker may run at once.
func With(n int, newWorker func() (f func(block int))) {
	t := &team{n: int64(n), newWorker: newWorker}
	defer func() {
		t.next.Store(t.n) // after a panic of the caller's own block
		spin(func() bool { return t.helpers.Load() == 0 })
		t.others.Wait()
		if fault := t.fault.Load(); fault != nil {
			panic(*fault)
		}
	}()
	t.work()
}

// team is what works on the blocks of a call.
type team struct {
	n         int64
	newWorker func() func(int)
	next      atomic.Int64
	others    sync.WaitGroup      // the helpers
	helpers   atomic.Int64        // not above their number in others
	fault     atomic.Pointer[any] // of the first of the others that panicked
}

func (t *team) work() {
	var f func(int)
	for {
		i := t.next.Add(1) - 1
		if i >= t.n {
			return
		}
		if i+1 < t.n {
			t.recruit()
		}
		if f == nil {
			f = t.newWorker()
		}
		f(int(i))
	}
}

func (t *team) assist() {
	defer func() {
		if p := recover(); p != nil {
			t.next.Store(t.n)
			t.fault.CompareAndSwap(nil, &p)
		}
	}()
	t.work()
}
