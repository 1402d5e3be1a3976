package labels

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// TestSavedProjectionsTransformAlike: means, directions, values and scores are
// those of before, to the bit.
func TestSavedProjectionsTransformAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(32, 1))
	for _, c := range []struct{ n, d, k int }{{30, 6, 6}, {30, 6, 2}, {5, 20, 3}, {1, 1, 1}} {
		x := stretched(rng, c.n, c.d)
		p, err := FitPCA(t.Context(), x, c.k)
		if err != nil {
			t.Fatal(err)
		}
		q, err := LoadPCA(bytes.NewReader(persisttest.Saved(p)))
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, fmt.Sprintf("PCA %+v", c), p.Mean(), q.Mean(), p.Variances(), q.Variances(),
			p.Components().RawMatrix().Data, q.Components().RawMatrix().Data,
			p.Transform(x).RawMatrix().Data, q.Transform(x).RawMatrix().Data)
	}
	x := stretched(rng, 30, 6)
	y := make([]int, 30)
	for i := range y {
		y[i] = i % 3
	}
	f, err := FitFDA(t.Context(), x, y, FDAParams{Ridge: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	g, err := LoadFDA(bytes.NewReader(persisttest.Saved(f)))
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, "FDA", f.Mean(), g.Mean(), f.Ratios(), g.Ratios(),
		f.Directions().RawMatrix().Data, g.Directions().RawMatrix().Data,
		f.Transform(x).RawMatrix().Data, g.Transform(x).RawMatrix().Data)
}

// sameBits compares each slice with the next one.
func sameBits(t *testing.T, what string, pairs ...[]float64) {
	t.Helper()
	for k := 0; k < len(pairs); k += 2 {
		a, b := pairs[k], pairs[k+1]
		if len(a) != len(b) {
			t.Errorf("%s: array %d of %d numbers became %d", what, k/2, len(a), len(b))
			continue
		}
		for i := range a {
			if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
				t.Errorf("%s: array %d, number %d: %v became %v", what, k/2, i, a[i], b[i])
				break
			}
		}
	}
}

func savedPCA(t testing.TB) []byte {
	t.Helper()
	p, err := FitPCA(t.Context(), mat.NewDense(3, 2, []float64{0, 0, 1, 0, 0, 2}), 1)
	if err != nil {
		t.Fatal(err)
	}
	return persisttest.Saved(p)
}

func savedFDA(t testing.TB) []byte {
	t.Helper()
	f, err := FitFDA(t.Context(), mat.NewDense(4, 2, []float64{0, 0, 1, 0, 5, 1, 6, 2}), []int{0, 0, 1, 1}, FDAParams{})
	if err != nil {
		t.Fatal(err)
	}
	return persisttest.Saved(f)
}

func TestLoadErrors(t *testing.T) {
	set := func(key string, value any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = value }
	}
	edits := map[string]persisttest.Edit{
		"NaN in the mean":   set("mean", persist.Floats{0, math.NaN()}),
		"Inf in the rows":   set("rows", persist.Floats{0, math.Inf(1)}),
		"NaN value":         set("values", persist.Floats{math.NaN()}),
		"infinite value":    set("values", persist.Floats{math.Inf(1)}),
		"negative value":    set("values", persist.Floats{-1}),
		"short mean":        set("mean", persist.Floats{0}),
		"short rows":        set("rows", persist.Floats{0}),
		"no values":         set("values", persist.Floats{}),
		"more rows than d":  func(_, s map[string]any) { s["rows"], s["values"] = make(persist.Floats, 6), make(persist.Floats, 3) },
		"nothing":           func(_, s map[string]any) { clear(s) },
		"array of integers": set("mean", []int{0, 0}),
		"parameters":        func(params, _ map[string]any) { params["k"] = 1 },
	}
	persisttest.Check(t, savedPCA(t), LoadPCA)
	persisttest.Tampered(t, savedPCA(t), LoadPCA, edits)
	persisttest.Check(t, savedFDA(t), LoadFDA)
	persisttest.Tampered(t, savedFDA(t), LoadFDA, edits)
	if _, err := LoadFDA(bytes.NewReader(savedPCA(t))); err == nil {
		t.Error("LoadFDA read components of PCA")
	}
}

func FuzzLoadPCA(f *testing.F) {
	persisttest.Fuzz(f, LoadPCA, func(p *PCA) { p.Reconstruct(mat.NewDense(1, len(p.Mean()), nil)) }, savedPCA(f))
}

func FuzzLoadFDA(f *testing.F) {
	persisttest.Fuzz(f, LoadFDA, func(p *FDA) { p.Transform(mat.NewDense(1, len(p.Mean()), nil)) }, savedFDA(f))
}

func ExampleLoadPCA() {
	p, err := FitPCA(context.Background(), mat.NewDense(4, 2, []float64{1, 1, 1.9, 2.1, 2.1, 1.9, 3, 3}), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer // or an *os.File
	if err := p.Save(&file); err != nil {
		fmt.Println(err)
		return
	}
	again, err := LoadPCA(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", again.Transform(mat.NewDense(1, 2, []float64{3, 1})).At(0, 0))
	fmt.Printf("%.3f\n", again.Transform(mat.NewDense(1, 2, []float64{4, 4})).At(0, 0))
	// Output:
	// 0.000
	// 2.828
}
