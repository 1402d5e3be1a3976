package tables

import (
	"errors"
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

// Refused fails unless an error of what says want, or is want.
func Refused(t testing.TB, what any, err error, want any) {
	t.Helper()
	if is, ok := want.(error); ok && !errors.Is(err, is) || !ok && (err == nil || !strings.Contains(err.Error(), want.(string))) {
		t.Errorf("%v: error %v, want %q", what, err, want)
	}
}

// ErrorOf is the error of a call.
func ErrorOf[T any](_ T, err error) error { return err }

// Limit holds memory to so many bytes until the end of a test.
func Limit(t testing.TB, bytes int64) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(bytes)
}

// Panics fails unless f panics.
func Panics(t testing.TB, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}
