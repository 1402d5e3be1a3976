package cores

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// procs sets GOMAXPROCS for a test, and checks at its end that no core is counted any more.
func procs(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() {
		runtime.GOMAXPROCS(before)
		if occupied != 0 || extra != 0 {
			t.Errorf("%d cores occupied, %d goroutines counted: want none", occupied, extra)
		}
	})
}

func TestDo(t *testing.T) {
	for _, p := range []int{1, 2, 3, 8} {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			procs(t, p)
			for _, n := range []int{-1, 0, 1, 2, 7, 1000} {
				times := make([]atomic.Int32, max(n, 0))
				made := atomic.Int32{}
				With(n, func() func(int) {
					made.Add(1)
					return func(i int) { times[i].Add(1) }
				})
				for i := range times {
					if got := times[i].Load(); got != 1 {
						t.Errorf("of %d blocks, block %d was done %d times", n, i, got)
					}
				}
				if got := int(made.Load()); got > min(max(n, 0), p) || n > 0 && got == 0 {
					t.Errorf("%d blocks had %d workers on %d cores", n, got, p)
				}
			}
		})
	}
}

// However calls are nested, no more goroutines work than there are cores.
func TestNested(t *testing.T) {
	const p = 4
	procs(t, p)
	var working, most, leaves atomic.Int32
	var nest func(depth int)
	nest = func(depth int) {
		Do(5, func(int) {
			if depth > 0 {
				nest(depth - 1)
				return
			}
			leaves.Add(1)
			now := working.Add(1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			runtime.Gosched()
			working.Add(-1)
		})
	}
	nest(3)
	if leaves.Load() != 625 || most.Load() > p {
		t.Errorf("%d of 625 blocks, up to %d at a time on %d cores", leaves.Load(), most.Load(), p)
	}
}

// A call uses cores that become idle after it began. Without that the first block would wait for ever.
func TestJoins(t *testing.T) {
	procs(t, 2)
	release := Occupy(All)
	if Idle() != 0 {
		t.Errorf("%d cores idle, all are occupied", Idle())
	}
	second := make(chan bool)
	Do(3, func(i int) {
		switch i {
		case 0:
			release()
			if Idle() != 1 {
				t.Errorf("%d cores idle, want 1", Idle())
			}
		case 1:
			<-second
		case 2:
			close(second)
		}
	})
}

// Of three cores one computation leaves two idle, two leave one, and so on.
func TestOccupy(t *testing.T) {
	procs(t, 3)
	for _, want := range []int{2, 2, 1, 0, 0} {
		if Idle() != want {
			t.Errorf("%d cores idle, want %d", Idle(), want)
		}
		defer Occupy(1)()
	}
}

func TestPanic(t *testing.T) {
	procs(t, 2)
	for _, bad := range []int{0, 1} { // of the caller, or of the other goroutine if it comes first
		var met sync.WaitGroup
		met.Add(2)
		said := func() (said any) {
			defer func() { said = recover() }()
			Do(1000, func(i int) {
				if i < 2 {
					met.Done()
					met.Wait() // both goroutines have a block
				}
				if i == bad {
					panic(fmt.Sprint("block ", i))
				}
			})
			return nil
		}()
		if want := fmt.Sprint("block ", bad); said != want {
			t.Errorf("panic %v, want %q", said, want)
		}
	}
	// A panic ends a call early.
	count := 0
	func() {
		defer func() { _ = recover() }()
		defer Occupy(All)()
		Do(10, func(int) { count++; panic("first") })
	}()
	if count != 1 {
		t.Errorf("%d blocks began, want only the one that panicked", count)
	}
}

// A helper that waits is taken before a new goroutine is started, and does not wait for ever.
func TestWaits(t *testing.T) {
	procs(t, 2)
	none()
	h, own := new(helper), new(team)
	waiting = append(waiting, h)
	own.recruit()
	if h.next.Load() != own || len(waiting) != 0 || extra != 1 {
		t.Errorf("the helper that waits has not been taken: %d wait, %d work", len(waiting), extra)
	}
	own.others.Done()
	extra--
	var met sync.WaitGroup
	met.Add(2)
	Do(2, func(int) {
		met.Done()
		met.Wait() // both goroutines have a block
	})
	none()
}

// none returns when no helper waits.
func none() {
	for left := 1; left > 0; runtime.Gosched() {
		mu.Lock()
		left = len(waiting)
		mu.Unlock()
	}
}

// Whatever calls run at once, nested, with panics and goroutines that exit, each block is done once, and in the end no core is taken.
func TestStorm(t *testing.T) {
	procs(t, 3)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			for range 300 {
				n, inner, bad, exit := r.IntN(20), r.IntN(4), r.IntN(40), r.IntN(40)
				times := make([]atomic.Int32, n*max(inner, 1))
				var gone sync.WaitGroup
				gone.Go(func() { // which may exit
					defer func() {
						if p := recover(); p != nil && p != bad {
							t.Errorf("panic %v, want %d", p, bad)
						}
					}()
					Do(n, func(i int) {
						switch i {
						case bad:
							panic(bad)
						case exit:
							runtime.Goexit()
						}
						Do(inner, func(j int) { times[i*inner+j].Add(1) })
					})
					for i := range times {
						if got := times[i].Load(); int(got) != min(inner, 1) && bad >= n && exit >= n {
							t.Errorf("block %d was done %d times", i, got)
						}
					}
				})
				gone.Wait()
			}
		})
	}
	all.Wait()
}
