package catalog_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

// huge are sizes that no machine has, and two that overflow when squared.
var huge = []int{1_000_000_000, 1 << 31, 1 << 33, 1 << 53, math.MaxInt}

// few runs f and reports it if that allocates more than 8 MiB in all.
func few(t *testing.T, what string, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("%s: %d bytes were allocated", what, got)
	}
}

// A size beyond the limit is an error of every learner's constructor, at once, and
// before what it asks for is allocated.
func TestHugeSizes(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(64 << 20)
	for _, e := range catalog.All() {
		v, err := e.Parse(nil)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, err error) {
			var m *limits.MemoryError
			if err == nil {
				t.Errorf("%s of %s is allowed", what, e.Name)
			}
			if err != nil && !errors.As(err, &m) && !strings.Contains(err.Error(), "is not allowed") {
				t.Errorf("%s of %s: error %v", what, e.Name, err)
			}
		}
		for _, n := range huge {
			few(t, fmt.Sprintf("%s, size %d", e.Name, n), func() {
				for _, s := range map[catalog.Feedback][]catalog.Shape{
					catalog.Pairs: {{Dim: n}}, catalog.Triplets: {{Objects: n}},
					catalog.Costs: {{Objects: n, Prototypes: 2}, {Objects: 2, Prototypes: n}, {Objects: n, Prototypes: n}, {Objects: 1, Prototypes: n}},
				}[e.Feedback] {
					_, err := e.New(s, v)
					refused(fmt.Sprintf("shape %+v", s), err)
				}
			})
		}
	}
}

// Data with very many features or rows are an error of each batch learner that makes a
// matrix of their square.
func TestWideData(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	const n, d = 6, 2000 // d² numbers are 32 MB
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, math.Sin(float64(i*d+j)))
		}
	}
	y := []int{0, 0, 0, 1, 1, 1}
	links := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 3, Label: metric.Dissimilar}, {I: 4, J: 5, Label: metric.Similar}}
	square := map[string]bool{"itml": true, "itml-labels": true, "itml-tuned": true}
	span := map[string]bool{"lmnn": true, "mcml": true} // whose ridge acts in the span of the rows
	for _, e := range catalog.All() {
		var some map[string]string
		if e.Name == "itml-tuned" {
			some = map[string]string{"k": "1"} // there are few rows
		}
		v, err := e.Parse(some)
		if err != nil {
			t.Fatal(err)
		}
		for _, given := range []map[string]string{nil, {"ridge": "0.1"}} {
			if given != nil {
				if v, err = e.Parse(given); err != nil {
					continue
				}
			}
			if e.Feedback != catalog.Links && e.Feedback != catalog.Classes && e.Feedback != catalog.Data || e.Form.Kernel() {
				continue
			}
			_, err = e.Fit(t.Context(), catalog.Input{X: x, Y: y, Links: links}, v, nil)
			var m *limits.MemoryError
			if want := square[e.Name] || given != nil && !span[e.Name]; errors.As(err, &m) != want {
				t.Errorf("%s %v: error %v, want one about memory: %t", e.Name, given, err, want)
			}
		}
	}
}

// Every integer parameter has an end, and no allowed value makes a constructor
// allocate.
func TestHugeParameters(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(64 << 20)
	for _, e := range catalog.All() {
		for _, p := range e.Params {
			if p.Type != catalog.Count && p.Type != catalog.CountOrWord {
				continue
			}
			for _, n := range append(huge, -1, math.MinInt) {
				few(t, fmt.Sprintf("%s, %s=%d", e.Name, p.Name, n), func() {
					given := map[string]string{p.Name: strconv.Itoa(n)}
					way, _, _ := strings.Cut(p.Needs, " or ")
					for condition := range strings.SplitSeq(way, " and ") {
						if name, not := strings.CutSuffix(condition, "!=all"); not {
							given[name] = "auto"
						} else if name, words, ok := strings.Cut(condition, "="); ok {
							given[name], _, _ = strings.Cut(words, "|")
						}
					}
					v, err := e.Parse(given)
					if err != nil {
						if !strings.Contains(err.Error(), "is not allowed") {
							t.Errorf("%s: %s=%d: error %v", e.Name, p.Name, n, err)
						}
						return
					}
					if n < 0 || n > 1<<53 && p.Name != "seed" && !strings.Contains(p.Allowed, " to the ") { // which data bound
						t.Errorf("%s: %s=%d is allowed", e.Name, p.Name, n)
					}
					small := catalog.Shape{Dim: 3, Objects: 3, Prototypes: 3}
					if e.Feedback.Online() {
						_, err = e.New(small, v)
					} else if e.Feedback == catalog.Classes || e.Feedback == catalog.Data {
						x := mat.NewDense(8, 2, []float64{0, 0, 1, 0, 0, 1, 1, 1, 5, 5, 6, 5, 5, 6, 6, 6})
						y := []int{0, 0, 0, 0, 1, 1, 1, 1}
						bounded := slices.Contains([]string{"folds", "k", "dim", "links", "bound-pairs"}, p.Name)
						if bounded && e.Form == catalog.Linear || e.Form == catalog.LowRank && p.Name != "seed" && p.Name != "cycles" {
							_, err = e.Fit(t.Context(), catalog.Input{X: x, Y: y}, v, nil)
						}
					}
					var m *limits.MemoryError
					if err != nil && !errors.As(err, &m) && !strings.Contains(err.Error(), "not allowed") && !strings.Contains(err.Error(), "want ") {
						t.Errorf("%s: %s=%d: error %v", e.Name, p.Name, n, err)
					}
				})
			}
		}
	}
}

// A learner's own file is loaded with a small multiple of its bytes.
func TestLoadsOfCatalog(t *testing.T) {
	for _, e := range catalog.All() {
		v, err := e.Parse(nil)
		if err != nil {
			t.Fatal(err)
		}
		if !e.Feedback.Online() {
			continue
		}
		l, err := e.New(catalog.Shape{Dim: 300, Objects: 300, Prototypes: 300}, v)
		if err != nil {
			t.Fatal(err)
		}
		file := persisttest.Saved(l)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = e.Load(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > 16*uint64(len(file))+4<<20 {
			t.Errorf("%s: %d bytes were allocated for a file of %d, error %v", e.Name, got, len(file), err)
		}
	}
}
