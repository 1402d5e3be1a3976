package model

import (
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"metriclab/pkg/limits"
)

// Must returns v, which nothing keeps from being made.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// All are what comes without an error.
func All[T any](seq iter.Seq2[T, error]) (all []T) {
	for v, err := range seq {
		all = append(all, Must(v, err))
	}
	return all
}

// Text is what write writes.
func Text(write func(io.Writer) error) string {
	var b strings.Builder
	Must(0, write(&b))
	return b.String()
}

// MustFit is Fit of what can be learned.
func MustFit[T Fitted](t testing.TB, pr Problem, r Recipe) T {
	t.Helper()
	m, err := Fit(t.Context(), pr, r, nil)
	if err != nil {
		t.Fatalf("%v, %+v: %v", pr, r, err)
	}
	return m.(T)
}

// MustEvaluate is Evaluate of what can be evaluated.
func MustEvaluate(t testing.TB, pr Problem, r Recipe, p Plan) *Evaluation {
	t.Helper()
	e, err := Evaluate(t.Context(), pr, r, p)
	if err != nil {
		t.Fatalf("%v, %+v: %v", pr, r, err)
	}
	return e
}

// MustCompare is Compare of what can be compared.
func MustCompare(t testing.TB, pr Problem, base Recipe, names []string, p Comparing) *Comparison {
	t.Helper()
	c, err := Compare(t.Context(), pr, base, names, p)
	if err != nil {
		t.Fatalf("%v, %q: %v", pr, names, err)
	}
	return c
}

// Refused fails unless an error of what says want, or is want.
func Refused(t testing.TB, what any, err error, want any) {
	t.Helper()
	if is, ok := want.(error); ok && !errors.Is(err, is) || !ok && (err == nil || !strings.Contains(err.Error(), want.(string))) {
		t.Errorf("%v: error %v, want %q", what, err, want)
	}
}

// Limit holds memory to so many bytes until the end of a test.
func Limit(t testing.TB, bytes int64) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(bytes)
}

// Panics fails unless f panics, with want if it is not nil.
func Panics(t testing.TB, what string, want any, f func()) {
	t.Helper()
	defer func() {
		if p := recover(); p == nil || want != nil && p != want {
			t.Errorf("%s: panic %v, want %v", what, p, want)
		}
	}()
	f()
}

// ErrorOf is the error of a call.
func ErrorOf[T any](_ T, err error) error { return err }
