package learnertest

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"metriclab/pkg/learners"
)

// callers is the number of goroutines that call a learner at once. Each begins at
// another call, so that different methods meet.
const callers = 4

// call is one call of a learner. equal compares what it returns; nil means that any
// answer will do.
type call[L any] struct {
	name  string
	run   func(l L) any
	equal func(a, b any) bool
}

// concurrency calls a learner from several goroutines, and an equal one from a single
// one, at some points of the stream. Nothing has read the first since its last step, so that
// what a first reader would write is still to be written.
func (s Suite[F, P, L]) concurrency(t TB, want []learners.Outcome[P]) {
	t.Helper()
	l, alone := s.New(), s.New()
	points := s.points()
	for i := 0; ; i++ {
		if slices.Contains(points, i) {
			calls := s.calls(l, i)
			answers := make([][]any, callers)
			failures := make([]error, callers)
			start := make(chan struct{})
			var wg sync.WaitGroup
			for k := range callers {
				wg.Go(func() {
					<-start
					answers[k], failures[k] = answer(calls, l, k*len(calls)/callers)
				})
			}
			close(start)
			wg.Wait()
			expected, _ := answer(calls, alone, 0) // what panics here has panicked there
			for k := range callers {
				if failures[k] != nil {
					t.Errorf("called concurrently after %d rounds: %v", i, failures[k])
					return
				}
				for j, c := range calls {
					if c.equal != nil && !c.equal(answers[k][j], expected[j]) {
						t.Errorf("called concurrently after %d rounds: %s gives another answer than alone", i, c.name)
						return
					}
				}
			}
		}
		if i == len(s.Rounds) {
			return
		}
		for _, x := range []L{l, alone} {
			if o, err := x.Step(s.Rounds[i]); err != nil || !s.equal(o, want[i]) {
				t.Errorf("after concurrent calls: round %d gives %+v (error %v), want %+v", i, o, err, want[i])
				return
			}
		}
	}
}

// answer makes all calls of l, from the given one on, and returns the answers in the order
// of calls. A panic is an error.
func answer[L any](calls []call[L], l L, from int) (out []any, err error) {
	name := ""
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panics: %v", name, p)
		}
	}()
	out = make([]any, len(calls))
	for i := range calls {
		at := (from + i) % len(calls)
		name = calls[at].name
		out[at] = calls[at].run(l)
	}
	return out, nil
}

// calls returns the calls to make of l after i rounds.
func (s Suite[F, P, L]) calls(l L, i int) []call[L] {
	var out []call[L]
	for _, at := range []int{i % len(s.Rounds), len(s.Rounds) - 1} {
		f := s.Rounds[at]
		out = append(out,
			call[L]{"Predict", func(l L) any { return l.Predict(f) }, func(a, b any) bool { return s.Equal(a.(P), b.(P)) }},
			call[L]{"Loss", func(l L) any { return l.Loss(f) }, func(a, b any) bool { return same(a.(float64), b.(float64)) }},
		)
	}
	if s.Save != nil {
		out = append(out, call[L]{"Save", func(l L) any {
			var file bytes.Buffer
			if err := s.Save(l, &file); err != nil {
				return []byte(err.Error())
			}
			return file.Bytes()
		}, func(a, b any) bool { return bytes.Equal(a.([]byte), b.([]byte)) }})
	}
	if s.Snapshot != nil {
		out = append(out, call[L]{"Snapshot", func(l L) any { return slices.Clone(s.Snapshot(l)()) },
			func(a, b any) bool { return slices.EqualFunc(a.([]float64), b.([]float64), same) }})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Calls)) {
		out = append(out, call[L]{name: name, run: func(l L) any { s.Calls[name](l); return nil }})
	}
	return append(out, s.others(l, i)...)
}

// others returns a call of each exported method that takes nothing or a round, but
// for those of learners.Online. What is returned is not compared, since it may hold pointers and
// functions; an iterator is followed.
func (s Suite[F, P, L]) others(l L, i int) []call[L] {
	var out []call[L]
	methods := reflect.TypeOf(l)
	for k := range methods.NumMethod() {
		name := methods.Method(k).Name
		m := reflect.ValueOf(l).Method(k).Type()
		var args []reflect.Value
		switch {
		case name == "Step" || name == "Predict" || name == "Loss":
			continue
		case m.NumIn() == 0:
		case m.NumIn() == 1 && !m.IsVariadic() && m.In(0) == reflect.TypeFor[F]():
			args = []reflect.Value{reflect.ValueOf(s.Rounds[i%len(s.Rounds)])}
		default:
			continue
		}
		out = append(out, call[L]{name: name, run: func(l L) any {
			for _, r := range reflect.ValueOf(l).Method(k).Call(args) {
				follow(r)
			}
			return nil
		}})
	}
	return out
}

// follow runs through r if it is an iterator.
func follow(r reflect.Value) {
	if r.Kind() != reflect.Func || r.IsNil() {
		return
	}
	if r.Type().CanSeq() {
		for range r.Seq() {
		}
	} else if r.Type().CanSeq2() {
		for range r.Seq2() {
		}
	}
}
