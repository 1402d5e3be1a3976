package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
)

// slowRFE fits anew for every elimination of chunk(survivors) features.
func slowRFE(t *testing.T, x *mat.Dense, y []classify.Label, p SVMParams, chunk func(alive int) int) []int {
	t.Helper()
	n, d := x.Dims()
	var alive []int
	for j := range d {
		alive = append(alive, j)
	}
	var gone []int // first eliminated first
	for len(alive) > 1 {
		sub := mat.NewDense(n, len(alive), nil)
		for i := range n {
			for c, j := range alive {
				sub.Set(i, c, x.At(i, j))
			}
		}
		s, err := FitSVM(t.Context(), rand.New(rand.NewPCG(101, uint64(len(alive)))), sub, y, p)
		if err != nil {
			t.Fatal(err)
		}
		w := s.Weights()
		for range min(chunk(len(alive)), len(alive)-1) {
			worst := 0
			for c := range w {
				if w[c]*w[c] <= w[worst]*w[worst] {
					worst = c
				}
			}
			gone = append(gone, alive[worst])
			alive = slices.Delete(alive, worst, worst+1)
			w = slices.Delete(w, worst, worst+1)
		}
	}
	gone = append(gone, alive[0])
	slices.Reverse(gone)
	return gone
}

// TestRFEAgainstDefinition: starting each fit from the last one changes no
// elimination. The tolerance makes weights accurate to 1e-5, and no two of these
// data tie so closely.
func TestRFEAgainstDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(102, 1))
	for _, p := range []RFEParams{{}, {Chunk: 0.5}, {Chunk: 0.3, Single: 8}, {SVM: SVMParams{Loss: SquaredHinge, C: 0.2}}} {
		p.SVM.Tol, p.SVM.MaxEpochs = 1e-11, 100000
		for _, s := range []struct{ n, d int }{{60, 12}, {15, 30}, {20, 1}, {20, 2}} {
			x, y := twoClasses(rng, s.n, s.d)
			r, err := FitRFE(t.Context(), rng, x, y, p)
			if err != nil {
				t.Fatal(err)
			}
			fits := 0
			want := slowRFE(t, x, y, p.SVM, func(alive int) int {
				fits++
				k := int(p.Chunk * float64(alive))
				return max(min(k, alive-p.Single), 1)
			})
			if !slices.Equal(r.Order(), want) || r.Fits() != fits || r.Status != learners.Converged {
				t.Errorf("%+v, %+v: order %v after %d fits (%v), want %v after %d", p, s, r.Order(), r.Fits(), r.Status, want, fits)
			}
		}
	}
}

func TestRFEFindsPlantedFeatures(t *testing.T) {
	rng := rand.New(rand.NewPCG(103, 1))
	const n, d = 400, 25
	x := mat.NewDense(n, d, nil)
	x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
	y := make([]classify.Label, n)
	for i := range y {
		y[i] = classify.LabelOf(2*x.At(i, 3)-2*x.At(i, 7)+x.At(i, 20) > 0)
	}
	for _, chunk := range []float64{0, 0.5} {
		r, err := FitRFE(t.Context(), rng, x, y, RFEParams{Chunk: chunk})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Top(3); !slices.Equal(got, []int{3, 7, 20}) {
			t.Errorf("chunk %v: top 3 are %v", chunk, got)
		}
		if got := r.Order(); got[2] != 20 {
			t.Errorf("chunk %v: order %v, want the weaker feature third", chunk, got)
		}
		all := r.Top(d)
		for j := range d {
			if all[j] != j {
				t.Fatalf("chunk %v: the order is no permutation: %v", chunk, r.Order())
			}
		}
		if len(r.Top(0)) != 0 || r.Iterations < r.Fits()/10 {
			t.Errorf("chunk %v: %d epochs in %d fits", chunk, r.Iterations, r.Fits())
		}
	}
}

// TestRFEZeros: features that are always 0 go first, the highest first, in one
// fit, and change nothing else.
func TestRFEZeros(t *testing.T) {
	rng := rand.New(rand.NewPCG(104, 1))
	small, y := twoClasses(rng, 40, 6)
	x := mat.NewDense(40, 10, nil)
	at := []int{1, 2, 4, 5, 8, 9}
	for i := range 40 {
		for c, j := range at {
			x.Set(i, j, small.At(i, c))
		}
	}
	p := RFEParams{SVM: SVMParams{Tol: 1e-9, MaxEpochs: 100000}}
	a, err := FitRFE(t.Context(), rng, x, y, p)
	if err != nil {
		t.Fatal(err)
	}
	b, err := FitRFE(t.Context(), rng, small, y, p)
	if err != nil {
		t.Fatal(err)
	}
	want := b.Order()
	for k, c := range want {
		want[k] = at[c]
	}
	want = append(want, 0, 3, 6, 7)
	if !slices.Equal(a.Order(), want) || a.Fits() != b.Fits()+1 {
		t.Errorf("order %v in %d fits, want %v in %d", a.Order(), a.Fits(), want, b.Fits()+1)
	}
	all, err := FitRFE(t.Context(), rng, mat.NewDense(4, 3, nil), []classify.Label{1, -1, 1, 1}, RFEParams{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(all.Order(), []int{0, 1, 2}) || all.Fits() != 1 {
		t.Errorf("no feature varies: order %v in %d fits", all.Order(), all.Fits())
	}
}

func TestRFEStatusAndErrors(t *testing.T) {
	x, y := twoClasses(rand.New(rand.NewPCG(105, 1)), 60, 5)
	fit := func() *RFE {
		r, err := FitRFE(t.Context(), rand.New(rand.NewPCG(105, 2)), x, y, RFEParams{SVM: SVMParams{C: 1000, MaxEpochs: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := fit(), fit()
	if a.Status != learners.IterationCap || a.Iterations != a.Fits() {
		t.Errorf("one epoch per fit: %v, %d epochs in %d fits", a.Status, a.Iterations, a.Fits())
	}
	if !slices.Equal(a.Order(), b.Order()) {
		t.Errorf("two runs differ: %v and %v", a.Order(), b.Order())
	}
	for want, p := range map[string]RFEParams{
		"rfe: chunk: 1 is not allowed":   {Chunk: 1},
		"rfe: chunk: NaN is not allowed": {Chunk: math.NaN()},
		"rfe: single: -1 is not allowed": {Single: -1},
	} {
		if _, err := FitRFE(t.Context(), rand.New(rand.NewPCG(1, 1)), x, y, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q", p, err, want)
		}
	}
}

// BenchmarkLinear measures the fits that a comparison of feature sets on digits
// needs: 200 images, nine pixels in ten of which are mostly empty.
func BenchmarkLinear(b *testing.B) {
	const n, d = 200, 784
	rng := rand.New(rand.NewPCG(106, 1))
	x := mat.NewDense(n, d, nil)
	labels := make([]classify.Label, n)
	for i := range n {
		labels[i] = classify.LabelOf(i%2 == 0)
		for j := range d {
			share := 0.1
			if j%10 == 0 || j%17 == i%2 {
				share = 0.6
			}
			if rng.Float64() < share {
				x.Set(i, j, rng.Float64())
			}
		}
	}
	y, err := classify.Targets(labels)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("alg=Ridge/n=200/dim=784", func(b *testing.B) {
		for b.Loop() {
			if _, err := FitRidge(b.Context(), x, y, RidgeParams{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("alg=SVM/n=200/dim=784", func(b *testing.B) {
		for b.Loop() {
			if _, err := FitSVM(b.Context(), rng, x, labels, SVMParams{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, chunk := range []float64{0, 0.1, 0.5} {
		b.Run(fmt.Sprintf("alg=RFE/chunk=%v/n=200/dim=784", chunk), func(b *testing.B) {
			for b.Loop() {
				r, err := FitRFE(b.Context(), rng, x, labels, RFEParams{Chunk: chunk})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Fits()), "fits")
				b.ReportMetric(float64(r.Iterations), "epochs")
			}
		})
	}
}

func ExampleFitRFE() {
	// Feature 1 tells the classes apart, feature 2 by a smaller margin, feature 0 not at all.
	x := mat.NewDense(4, 3, []float64{
		1, 2, 1,
		-1, 2, 1,
		1, -2, -1,
		-1, -2, -1,
	})
	y := []classify.Label{classify.Positive, classify.Positive, classify.Negative, classify.Negative}
	r, err := FitRFE(context.Background(), rand.New(rand.NewPCG(1, 2)), x, y, RFEParams{})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Order(), r.Top(2))
	// Output: [1 2 0] [1 2]
}

func ExampleRFEParams_Resolved() {
	fmt.Printf("%+v\n", RFEParams{Chunk: 0.5}.Resolved())
	// Output: {SVM:{Loss:hinge C:1 BiasScale:1 Tol:0.0001 MaxEpochs:1000} Chunk:0.5 Single:0}
}
