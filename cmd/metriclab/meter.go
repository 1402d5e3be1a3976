package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/pkg/model"
)

// atOnce returns what f returns, or the error of ctx as soon as that is done: f, which
// must write no file, is then left to the end of the program.
func atOnce[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		r.err = safely(func() (err error) {
			r.value, err = f()
			return err
		})
		done <- r
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// work is what a meter counts: things by their noun, or what was read, in a unit. The total is exact, or rough, or a cap.
type work struct {
	noun   string
	capped bool
	rough  bool
	unit   string
	inside *atomic.Pointer[string] // what is known of the thing that is being done; nil if nothing ever is
	part   func() float64          // with inside, how many things are done, parts of them counted
}

// now returns what is being done, after a separator, or "".
func (w work) now() string {
	if w.inside == nil || w.inside.Load() == nil {
		return ""
	}
	return "; " + *w.inside.Load()
}

// insideSplits returns a plan's Inside, which shows on the meter of splits what a split does.
func (a *app) insideSplits(ctx context.Context, splits int) (progress model.Progress, inside func(split, done, total int), end func()) {
	var now atomic.Pointer[string]
	var mu sync.Mutex
	finished, parts := 0, map[int]float64{}
	show, end := a.meter(ctx, work{noun: "split", inside: &now, part: func() float64 {
		mu.Lock()
		defer mu.Unlock()
		done := float64(finished)
		for _, part := range parts {
			done += part
		}
		return min(done, float64(splits))
	}})
	progress = func(done, total int) {
		mu.Lock()
		for ; finished < done; finished++ { // which has ended is not told: the farthest
			far := -1
			for s, part := range parts {
				if far < 0 || part > parts[far] {
					far = s
				}
			}
			delete(parts, far)
		}
		mu.Unlock()
		show(done, total)
	}
	inside = func(split, done, total int) {
		mu.Lock()
		parts[split] = max(parts[split], float64(done)/float64(max(total, 1)))
		whole := finished
		mu.Unlock()
		now.Store(new(fmt.Sprintf("in split %d: %d of at most %d", split+1, done, total)))
		show(whole, splits)
	}
	return progress, inside, end
}

// scale is how finely a bar counts.
func (w work) scale() int64 {
	if w.part != nil {
		return 1000
	}
	return 1
}

// bar returns the words of a bar, before and after it.
func (w work) bar() (counters, left string) {
	switch {
	case w.unit != "":
		return "read %d of %d " + w.unit + " ", " left"
	case w.rough:
		return "%d of about %d " + w.noun + "s ", " left"
	case w.capped:
		return "%d of at most %d " + w.noun + "s ", " to the last"
	}
	return "%d of %d " + w.noun + "s ", " left"
}

// line returns the line that is written where there is no terminal. A total of 0 is not known.
func (w work) line(done, total int, left time.Duration) string {
	switch {
	case w.inside != nil && left < 0:
		return fmt.Sprintf("0 of %s%s\n", plural.Of(total, w.noun), w.now())
	case w.inside != nil:
		return fmt.Sprintf("%d of %s, %s left%s\n", done, plural.Of(total, w.noun), about(left), w.now())
	case w.unit != "":
		return fmt.Sprintf("read %d of %d %s, %s left\n", done, total, w.unit, about(left))
	case total == 0:
		return plural.Of(done, w.noun) + "\n"
	case w.rough:
		return fmt.Sprintf("%d of about %s, %s left\n", done, plural.Of(total, w.noun), about(left))
	case w.capped:
		return fmt.Sprintf("%d of at most %s, the last in %s\n", done, plural.Of(total, w.noun), about(left))
	}
	return fmt.Sprintf("%d of %s, %s left\n", done, plural.Of(total, w.noun), about(left))
}

// meter shows how much of a long work is done: a bar with the time left on a
// terminal, else a line now and then, until ctx is done. The returned function
// ends the display.
func (a *app) meter(ctx context.Context, w work) (model.Progress, func()) {
	var mu sync.Mutex
	var bars *mpb.Progress
	var bar *mpb.Bar
	begin, next := time.Now(), time.Now().Add(a.every)
	var whole atomic.Int64
	left := func(done, total int) (time.Duration, bool) {
		exact := float64(done)
		if w.part != nil {
			exact = w.part()
		}
		return time.Duration(float64(time.Since(begin)) * (float64(total) - exact) / exact), exact > 0
	}
	show := func(done, total int) {
		whole.Store(int64(done))
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if a.terminal {
			if bar == nil {
				bars = mpb.NewWithContext(ctx, mpb.WithOutput(a.stderr), mpb.WithAutoRefresh(), mpb.WithWidth(48))
				if total == 0 {
					bar = bars.AddSpinner(0, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.CurrentNoUnit("%d "+w.noun+"s ")))
				} else {
					counters, to := w.bar()
					eta := func(s decor.Statistics) string {
						if left, ok := left(int(whole.Load()), total); ok {
							return left.Round(time.Second).String() + to + printable.Text(w.now())
						}
						return printable.Text(w.now())
					}
					count := func(s decor.Statistics) string { return fmt.Sprintf(counters, whole.Load(), s.Total/w.scale()) }
					bar = bars.AddBar(int64(total)*w.scale(), mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Any(count)), mpb.AppendDecorators(decor.Any(eta)))
				}
			}
			if w.part != nil {
				bar.SetCurrent(int64(w.part() * float64(w.scale())))
				return
			}
			if w.rough && total > 0 {
				bar.SetTotal(int64(total), false)
			}
			bar.SetCurrent(int64(done))
			return
		}
		now := time.Now()
		if now.Before(next) || done == total {
			return
		}
		next = now.Add(a.every)
		left, known := left(done, total)
		if !known {
			left = -1
		}
		fmt.Fprint(a.err, w.line(done, total, left))
	}
	return show, func() {
		mu.Lock()
		defer mu.Unlock()
		if bar != nil {
			bar.Abort(true)
			bars.Wait()
		}
	}
}

// waiting shows that something goes on of which no part is known: a spinner on a terminal, from the first second on, else
// a line now and then. It ends with ctx, or when the returned function is called, which may be called again.
func (a *app) waiting(ctx context.Context, what string) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	after := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d):
			return true
		}
	}
	var wait sync.WaitGroup
	begin := time.Now()
	wait.Go(func() {
		if !a.terminal {
			for after(max(a.every, 10*time.Second)) {
				fmt.Fprintf(a.err, "%s, for %s so far\n", what, time.Since(begin).Round(time.Second))
			}
			return
		}
		if after(time.Second) {
			bars := mpb.NewWithContext(ctx, mpb.WithOutput(a.stderr), mpb.WithAutoRefresh(), mpb.WithWidth(48))
			so := func(decor.Statistics) string {
				return printable.Text(what) + ", for " + time.Since(begin).Round(time.Second).String() + " so far "
			}
			bar := bars.AddSpinner(0, mpb.BarRemoveOnComplete(), mpb.PrependDecorators(decor.Any(so)))
			<-ctx.Done()
			bar.Abort(true)
			bars.Wait()
		}
	})
	return func() {
		cancel()
		wait.Wait()
	}
}

// meterOfRows is meter for the rows of a table; rows is about their number, 0 if it is not known. Rows of svmlight and arrays are all read first,
// which it shows, too, and their number is known then.
func (a *app) meterOfRows(ctx context.Context, t *tableFile, rows int) (model.Progress, func()) {
	var mu sync.Mutex // reading goes on beside
	var show model.Progress
	reading, end := a.meter(ctx, work{unit: "MB"})
	t.tell = func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if show == nil {
			reading(done, total)
		}
	}
	return func(done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if show == nil {
			end()
			show, end = a.meter(ctx, work{noun: "row", rough: total == 0})
		}
		if total == 0 && rows > 0 {
			total = max(rows, done+1)
		}
		show(done, total)
	}, func() { end() }
}

// longWork and hugeWork are the estimated times in seconds from which on they are told, and asked about.
const longWork, hugeWork = 20, 3600

// agree tells of a long time, by estimate, that something will take. Where somebody at a terminal can answer, it asks before a huge one, and returns an
// error if that is not wanted. No meter may show while it asks.
func (a *app) agree(ctx context.Context, what string, seconds float64) error {
	if !(seconds >= longWork) {
		return nil
	}
	fmt.Fprintf(a.err, "%s: %s of one processor, by a rough estimate\n", what, model.Roughly(seconds))
	if seconds < hugeWork || !a.asks {
		return nil
	}
	fmt.Fprint(a.err, "Begin? [y/N] ")
	answer, err := atOnce(ctx, func() (string, error) {
		text, err := bufio.NewReader(io.LimitReader(a.in, 100)).ReadString('\n')
		if err == io.EOF { // no answer is no
			err = nil
		}
		return strings.ToLower(strings.TrimSpace(text)), err
	})
	if err != nil {
		return err
	}
	if answer != "y" && answer != "yes" {
		fmt.Fprintln(a.err, "metriclab: not begun")
		return exitError(exitInterrupted)
	}
	return nil
}
