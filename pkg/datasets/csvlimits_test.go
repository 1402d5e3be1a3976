package datasets

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"metriclab/pkg/limits"
)

// repeat is a text without an end.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(b), nil
}

// A table without an end is refused before it takes much more than the limit: one of
// rows, and one of a single row of empty or of long cells.
func TestReadCSVWithoutEnd(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	const limit = 8 << 20
	limits.SetMemory(limit)
	for name, r := range map[string]io.Reader{
		"rows": &repeat{text: "1,2,a\n"}, "empty cells": &repeat{text: ","}, "cells": &repeat{text: "1,"}, "one cell": &repeat{text: "x"}, "quoted": io.MultiReader(strings.NewReader(`"`), &repeat{text: ","}),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadCSV(r, "t.csv", CSVOptions{})
		runtime.ReadMemStats(&after)
		var large *limits.MemoryError
		if !errors.As(err, &large) {
			t.Errorf("%s: error %v, want a *limits.MemoryError", name, err)
		}
		// All that was ever allocated: growing arrays are copied some five times.
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*limit {
			t.Errorf("%s: %d MiB were allocated at a limit of %d MiB", name, took>>20, limit>>20)
		}
	}
}
