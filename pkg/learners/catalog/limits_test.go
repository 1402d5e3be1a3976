package catalog_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
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
				switch e.Feedback {
				case catalog.Pairs:
					_, err := e.NewPair(n, v)
					refused(fmt.Sprintf("dim %d", n), err)
				case catalog.Triplets:
					_, err := e.NewTriplet(n, v)
					refused(fmt.Sprintf("n = %d", n), err)
				case catalog.Costs:
					for _, shape := range [][2]int{{n, 2}, {2, n}, {n, n}, {1, n}} {
						_, err := e.NewMap(shape[0], shape[1], v)
						refused(fmt.Sprintf("shape %d", shape), err)
					}
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
			switch {
			case e.FitLinks != nil:
				_, err = e.FitLinks(context.Background(), x, links, v, nil)
			case e.FitData != nil:
				_, err = e.FitData(context.Background(), x, y, v, nil)
			case e.FitLowRank != nil:
				_, err = e.FitLowRank(context.Background(), x, y, v, nil)
			default:
				continue
			}
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
			if p.Type != catalog.Count {
				continue
			}
			for _, n := range append(huge, -1, math.MinInt) {
				few(t, fmt.Sprintf("%s, %s=%d", e.Name, p.Name, n), func() {
					given := map[string]string{p.Name: strconv.Itoa(n)}
					for condition := range strings.SplitSeq(p.Needs, " and ") {
						if name, words, ok := strings.Cut(condition, "="); ok {
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
					switch e.Feedback {
					case catalog.Pairs:
						_, err = e.NewPair(3, v)
					case catalog.Triplets:
						_, err = e.NewTriplet(3, v)
					case catalog.Costs:
						_, err = e.NewMap(2, 3, v)
					default:
						x := mat.NewDense(8, 2, []float64{0, 0, 1, 0, 0, 1, 1, 1, 5, 5, 6, 5, 5, 6, 6, 6})
						y := []int{0, 0, 0, 0, 1, 1, 1, 1}
						if (p.Name == "folds" || p.Name == "k" || p.Name == "dim" || p.Name == "links" || p.Name == "bound-pairs") && e.FitData != nil {
							_, err = e.FitData(context.Background(), x, y, v, nil)
						}
						if e.FitLowRank != nil && p.Name != "seed" && p.Name != "cycles" {
							_, err = e.FitLowRank(context.Background(), x, y, v, nil)
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
		var file []byte
		var load func() error
		switch e.Feedback {
		case catalog.Pairs:
			l, err := e.NewPair(300, v)
			if err != nil {
				t.Fatal(err)
			}
			file = persisttest.Saved(l.(persisttest.Saver))
			load = func() error { _, err := e.LoadPair(bytes.NewReader(file)); return err }
		case catalog.Triplets:
			l, err := e.NewTriplet(300, v)
			if err != nil {
				t.Fatal(err)
			}
			file = persisttest.Saved(l)
			load = func() error { _, err := e.LoadTriplet(bytes.NewReader(file)); return err }
		case catalog.Costs:
			l, err := e.NewMap(300, 300, v)
			if err != nil {
				t.Fatal(err)
			}
			file = persisttest.Saved(l)
			load = func() error { _, err := e.LoadMap(bytes.NewReader(file)); return err }
		default:
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = load()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > 16*uint64(len(file))+4<<20 {
			t.Errorf("%s: %d bytes were allocated for a file of %d, error %v", e.Name, got, len(file), err)
		}
	}
}
