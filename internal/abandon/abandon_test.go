package abandon

import (
	"context"
	"errors"
	"testing"
)

func TestLong(t *testing.T) {
	if Long() || Long(1000, 1000) || Long(100, 100, 100) || !Long(200, 200, 200) || !Long(1<<40, 1<<40) {
		t.Error("Long")
	}
	t.Run("always", func(t *testing.T) {
		if Always(t); !Long(1) {
			t.Error("a step is short")
		}
	})
	if Long(1) {
		t.Error("Always outlives its test")
	}
}

// TestAnswer: what work returns is returned, and progress is told in order before it goes on.
func TestAnswer(t *testing.T) {
	var told []int
	got, err := Run(t.Context(), "test", func(i int) { told = append(told, i) }, func(_ context.Context, progress func(int)) (int, error) {
		for i := range 3 {
			progress(i)
			if len(told) != i+1 {
				return 0, errors.New("progress was not told at once")
			}
		}
		return 7, nil
	})
	if got != 7 || err != nil || len(told) != 3 {
		t.Errorf("%d, %v, told %v", got, err, told)
	}
	fault := errors.New("fault")
	if got, err := Do(t.Context(), "test", func(context.Context) (int, error) { return 1, fault }); got != 0 || err != fault {
		t.Errorf("of an error: %d, %v", got, err)
	}
	_, err = Run(t.Context(), "test", nil, func(_ context.Context, progress func(int)) (int, error) {
		if progress != nil {
			return 0, errors.New("a function where there is none")
		}
		return 0, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLeaves: Run returns while work is stuck, and work that goes on afterwards tells nobody.
func TestLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stuck, ended := make(chan struct{}), make(chan error, 1)
	calls := 0
	got, err := Run(ctx, "test", func(int) { calls++ }, func(inner context.Context, progress func(int)) (int, error) {
		progress(1)
		cancel()
		<-stuck
		progress(2)
		ended <- inner.Err()
		return 7, nil
	})
	if got != 0 || !errors.Is(err, context.Canceled) || err.Error() != "test: context canceled" {
		t.Errorf("%d, %v", got, err)
	}
	close(stuck)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the context of work: %v", err)
	}
	if calls != 1 {
		t.Errorf("%d calls, want 1", calls)
	}
}

// TestCancelledInProgress: a context that ends while the caller is told ends Run.
func TestCancelledInProgress(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := Run(ctx, "test", func(int) { calls++; cancel() }, func(_ context.Context, progress func(int)) (int, error) {
		progress(1)
		progress(2)
		return 7, nil
	})
	if !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestCancelledBefore: with a context that is done nothing begins.
func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Do(ctx, "test", func(context.Context) (int, error) { panic("begun") }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPanics: a panic of work is one of Run, and one of progress sets work free.
func TestPanics(t *testing.T) {
	catch := func(f func()) (fault any) {
		defer func() { fault = recover() }()
		f()
		return nil
	}
	if got := catch(func() { Do(t.Context(), "test", func(context.Context) (int, error) { panic("work") }) }); got != "work" {
		t.Errorf("panic %v", got)
	}
	free := make(chan struct{})
	if got := catch(func() {
		Run(t.Context(), "test", func(int) { panic("progress") }, func(_ context.Context, progress func(int)) (int, error) {
			progress(1)
			close(free)
			return 0, nil
		})
	}); got != "progress" {
		t.Errorf("panic %v", got)
	}
	<-free
}
