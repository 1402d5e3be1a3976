// Package abandon lets a caller leave a computation that cannot be interrupted, such as the
// decomposition of one large matrix, once a context is done.
//
// # How it is built
//
// The work runs in a goroutine of its own, on copies that nobody else has. Once the context is done, the caller
// gets an error within .2 s, and the goroutine is left to itself. It ends at its next look at the context, mostly
// within seconds, and keeps its memory until then. It calls nothing of the caller's any more. Whoever cancels many
// large fits in a row has as many of them still at work, and may wait longer.
//
// Small fits stay in the caller's goroutine (see Long). A work that iterates looks at the context in every loop
// over rows, links or candidates; only what cannot look, such as a decomposition, needs this package.
package abandon

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Always makes Long report true until the test ends that it is for, so that small problems try what
// large ones do.
func Always(t interface{ Cleanup(func()) }) {
	always.Store(true)
	t.Cleanup(func() { always.Store(false) })
}

var always atomic.Bool

// long is the number of multiplications of a step from which it may take more than some .05 s: an
// eigendecomposition of order n costs about 10n³, and a fit has several such steps.
const long = 1 << 22

// Long reports whether a step that multiplies as often as the product of sizes says may take so long
// that a caller should not have to wait for it.
func Long(sizes ...int) bool {
	product := 1.0
	for _, s := range sizes {
		product *= float64(s)
	}
	return product >= long || always.Load()
}

// Run returns what work returns. Once ctx is done it returns the zero answer and an error that
// wraps ctx's, and leaves work to itself in a goroutine. The context of work is done by then: work
// ends when it next looks at it, and nobody reads its answer. So work must neither read nor
// write what the caller may change: give it private copies.
//
// The function progress, if not nil, is called from the caller's goroutine whenever work calls
// the one that it gets, which returns after it, and never after Run has returned. work gets nil if progress is nil.
// A panic of work is one of Run, with the value but not the stack; after Run has returned it is dropped.
func Run[T, P any](ctx context.Context, name string, progress func(P), work func(ctx context.Context, progress func(P)) (T, error)) (T, error) {
	var zero T
	inner, cancel := context.WithCancel(ctx)
	defer cancel() // sets work free if progress panics
	type answer struct {
		value T
		err   error
		fault any // of a panic
	}
	answers, reports, told := make(chan answer, 1), make(chan P), make(chan struct{})
	var tell func(P)
	if progress != nil {
		tell = func(p P) {
			select {
			case reports <- p:
			case <-inner.Done():
				return
			}
			select {
			case <-told:
			case <-inner.Done():
			}
		}
	}
	if ctx.Err() == nil {
		go func() {
			var a answer
			defer func() {
				a.fault = recover()
				answers <- a
			}()
			a.value, a.err = work(inner, tell)
		}()
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case p := <-reports:
			progress(p)
			select {
			case told <- struct{}{}:
			case <-ctx.Done():
			}
		case a := <-answers:
			switch {
			case a.fault != nil:
				panic(a.fault)
			case a.err != nil:
				return zero, a.err
			case ctx.Err() == nil:
				return a.value, nil
			}
		}
	}
	return zero, fmt.Errorf("%s: %w", name, ctx.Err())
}

// Do is Run for work that tells nothing.
func Do[T any](ctx context.Context, name string, work func(ctx context.Context) (T, error)) (T, error) {
	return Run(ctx, name, nil, func(ctx context.Context, _ func(struct{})) (T, error) { return work(ctx) })
}
