package metric_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// TestSaveKeepsEveryBit: L comes back as it was, whatever its shape.
func TestSaveKeepsEveryBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 1))
	odd := mat.NewDense(2, 2, []float64{math.Copysign(0, -1), math.SmallestNonzeroFloat64, -math.MaxFloat64, 0.1})
	for name, m := range map[string]*metric.Mahalanobis{
		"full rank":    mustNew(t, psd(rng, 6, 6)),
		"low rank":     mustNew(t, psd(rng, 9, 2)),
		"more rows":    metric.FromFactor(normal(rng, 7, 3)),
		"rank 0":       metric.Zero(4),
		"identity":     metric.Identity(3),
		"odd numbers":  metric.FromFactor(odd),
		"slice of one": metric.FromFactor(normal(rng, 6, 6).Slice(1, 4, 2, 5)),
	} {
		got, err := metric.Load(bytes.NewReader(persisttest.Saved(m)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Dim() != m.Dim() || got.Rows() != m.Rows() {
			t.Errorf("%s: %d×%d became %d×%d", name, m.Rows(), m.Dim(), got.Rows(), got.Dim())
			continue
		}
		if m.Rows() == 0 {
			continue
		}
		a, b := m.Factor().RawMatrix().Data, got.Factor().RawMatrix().Data
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
				t.Errorf("%s: entry %d was %v, is %v", name, i, a[i], b[i])
			}
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for _, m := range []*metric.Mahalanobis{metric.Zero(3), metric.FromFactor(mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}))} {
		persisttest.Check(t, persisttest.Saved(m), metric.Load)
	}
	set := func(key string, value any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = value }
	}
	file := persisttest.Saved(metric.FromFactor(mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})))
	persisttest.Tampered(t, file, metric.Load, map[string]persisttest.Edit{
		"NaN":             set("factor", persist.Floats{1, 2, 3, 4, math.NaN(), 6}),
		"Inf":             set("factor", persist.Floats{math.Inf(1), 2, 3, 4, 5, 6}),
		"short factor":    set("factor", persist.Floats{1, 2, 3, 4, 5}),
		"long factor":     set("factor", persist.Floats{1, 2, 3, 4, 5, 6, 7}),
		"no factor":       set("factor", persist.Floats{}),
		"factor of text":  set("factor", "!"),
		"factor of list":  set("factor", []float64{1, 2, 3, 4, 5, 6}),
		"no dimension":    set("dim", 0),
		"negative rows":   set("rows", -2),
		"no rows":         set("rows", 0),
		"other shape":     set("rows", 3),
		"huge dimension":  set("dim", math.MaxInt64),
		"huge rows":       set("rows", math.MaxInt64),
		"product wraps":   func(_, s map[string]any) { s["rows"], s["dim"] = 1<<33, 1<<31-1 },
		"half a number":   set("factor", "AAAA"),
		"unknown field":   set("colour", 1),
		"dim is a string": set("dim", "3"),
		"parameters":      func(params, _ map[string]any) { params["gamma"] = 1 },
	})
	persisttest.Tampered(t, persisttest.Saved(metric.Zero(3)), metric.Load, map[string]persisttest.Edit{
		"huge dimension of rank 0": set("dim", math.MaxInt32+1),
		"negative dimension":       set("dim", -1),
	})
}

func TestSaveRefusesNaN(t *testing.T) {
	m := metric.FromFactor(mat.NewDense(1, 2, []float64{1, math.NaN()}))
	var b bytes.Buffer
	if err := m.Save(&b); err == nil || b.Len() > 0 || !strings.Contains(err.Error(), "row 0, column 1: NaN") {
		t.Errorf("error %v, %d bytes written", err, b.Len())
	}
}

func FuzzLoad(f *testing.F) {
	persisttest.Fuzz(f, metric.Load, func(m *metric.Mahalanobis) {
		if m.Dim() < 1000 {
			m.SqDist(make([]float64, m.Dim()), make([]float64, m.Dim()))
		}
	}, persisttest.Saved(metric.Zero(3)), persisttest.Saved(metric.Identity(2)))
}

func ExampleLoad() {
	m := metric.FromFactor(mat.NewDense(1, 2, []float64{1, 0.5}))
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(file.String())
	again, err := metric.Load(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.SqDist([]float64{1, 2}, []float64{0, 0}))
	// Output:
	// {"format":"metriclab","version":1,"kind":"metric/mahalanobis","params":{},"sha256":"c912641436c2befd53782e90551ada368c1ddb32c554542b37b007bdcae2a1ed","state":{"dim":2,"rows":1,"factor":"AAAAAAAA8D8AAAAAAADgPw=="}}
	// 4
}
