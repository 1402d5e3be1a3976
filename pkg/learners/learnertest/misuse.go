package learnertest

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// ownMessage is what a panic of a learner says: the name of a package first.
var ownMessage = regexp.MustCompile(`^[a-z][a-z0-9_]*: .`)

// try calls f. It returns what f returns, or the value of its panic.
func try(f func() any) (answer, panicked any) {
	defer func() { panicked = recover() }()
	return f(), nil
}

// tolerable reports a panic without a message of the learner's own, and an answer that
// is not finite.
func tolerable(t TB, answer, panicked any, what string) {
	t.Helper()
	if panicked != nil {
		if message, ok := panicked.(string); !ok || !ownMessage.MatchString(message) {
			t.Errorf("%s panics with %T %v, want a text that begins with the name of the package", what, panicked, panicked)
		}
	} else if !allFinite(reflect.ValueOf(answer)) {
		t.Errorf("%s gives %v, want finite numbers", what, answer)
	}
}

// allFinite reports whether no number in v, whose lists and structs are looked into, is
// NaN or infinite.
func allFinite(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		return math.Abs(v.Float()) <= math.MaxFloat64
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !allFinite(field) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !allFinite(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

// misuse gives Predict and Loss the rounds that Step refuses, and calls the zero value.
func (s Suite[F, P, L]) misuse(t TB, want []learners.Outcome[P]) {
	t.Helper()
	for _, at := range []int{0, len(s.Rounds)} {
		l, ok := s.walk(t, at)
		if !ok {
			return
		}
		for name, bad := range s.Bad {
			answer, panicked := try(func() any { return l.Predict(s.Clone(bad)) })
			tolerable(t, answer, panicked, name+": Predict")
			answer, panicked = try(func() any { return l.Loss(s.Clone(bad)) })
			tolerable(t, answer, panicked, name+": Loss")
		}
		s.follow(t, l, at, want, "refused rounds given to Predict and Loss after %d rounds", at)
	}
	made := reflect.TypeOf(s.New())
	if made.Kind() != reflect.Pointer {
		return
	}
	zero := func() L { return reflect.New(made.Elem()).Interface().(L) }
	f := s.Clone(s.Rounds[0])
	calls := []call[L]{
		{name: "Predict", run: func(l L) any { return l.Predict(f) }},
		{name: "Loss", run: func(l L) any { return l.Loss(f) }},
		{name: "Step", run: func(l L) any { l.Step(f); return nil }},
	}
	if s.Save != nil {
		calls = append(calls, call[L]{name: "Save", run: func(l L) any { s.Save(l, new(bytes.Buffer)); return nil }})
	}
	for _, c := range append(calls, s.others(zero(), 0)...) {
		answer, panicked := try(func() any { return c.run(zero()) })
		tolerable(t, answer, panicked, "the zero value: "+c.name)
	}
}

// malformed checks which pairs make Predict and Loss panic, and that finite numbers do not.
func (s Pairs[L]) malformed(t TB, dim int, rounds []metric.Pair, bad map[string]metric.Pair) {
	t.Helper()
	l := s.start(t, dim)
	for _, f := range rounds {
		if _, err := l.Step(f); err != nil {
			return // laws has told
		}
	}
	pairs := maps.Clone(bad)
	for _, size := range []float64{1e100, 1e160, 1e300, math.MaxFloat64} {
		f := clonePair(rounds[0])
		f.X[0], f.Y[dim-1] = size, -size
		pairs[fmt.Sprintf("entries of %g", size)] = f
	}
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		f := pairs[name]
		p, panicked := try(func() any { return l.Predict(f) })
		if want := f.CheckVectors(dim) != nil; want != (panicked != nil) {
			t.Errorf("%s: Predict panics: %v, want %v", name, panicked != nil, want)
		}
		_, lost := try(func() any { return l.Loss(f) })
		if want := f.CheckLabel() != nil || f.CheckVectors(dim) != nil; want != (lost != nil) {
			t.Errorf("%s: Loss panics: %v, want %v", name, lost != nil, want)
		}
		if panicked != nil {
			continue
		}
		overflow := p.(learners.PairPrediction).Check()
		if _, err := l.Step(f); err == nil && overflow != nil {
			t.Errorf("%s: Step accepts what Predict cannot measure: %v", name, overflow)
		} else if err == nil { // it has learned from the pair
			l = s.start(t, dim)
		}
	}
}
