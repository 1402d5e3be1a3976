package iplr

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// sparseProblem returns n rows in d dimensions, of three classes with words of their own, of which about the share filled is not 0, and links. Row 1 has no entry,
// row 4 is row 7.
func sparseProblem(seed uint64, n, d int, filled float64, m int) (x *mat.Dense, s *sparse.Matrix, y []int, links []metric.Link) {
	rng := rand.New(rand.NewPCG(21, seed))
	x, y = mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % 3
		for j := range d {
			if share := filled * (0.5 + float64((j+y[i])%3)/2); i != 1 && rng.Float64() < share {
				x.Set(i, j, math.Abs(rng.NormFloat64())+0.1)
			}
		}
	}
	x.SetRow(4, x.RawRowView(7))
	for len(links) < m {
		if i, j := rng.IntN(n), rng.IntN(n); i != j {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(y[i] == y[j])})
		}
	}
	return x, must(sparse.Compress(x)), y, append(links, metric.Link{I: 4, J: 7, Label: metric.Similar}, metric.Link{I: 1, J: 4, Label: metric.Similar})
}

// bases are all ways to make a basis of k vectors of rows.
func bases(ctx context.Context, x mat.Matrix, gram mat.Symmetric, y []int, k int) map[string]func() (*Basis, error) {
	n, _ := x.Dims()
	source := func() *rand.Rand { return rand.New(rand.NewPCG(22, 1)) }
	combined := func(j *mat.Dense, err error) (*Basis, error) {
		if err != nil {
			return nil, err
		}
		return CombinedBasis(ctx, x, j)
	}
	return map[string]func() (*Basis, error){
		"singular":     func() (*Basis, error) { return SingularBasis(ctx, x, k) },
		"means":        func() (*Basis, error) { return MeansBasis(ctx, x, y) },
		"classes":      func() (*Basis, error) { return ClassBasis(ctx, source(), x, y, ClassParams{K: k, Starts: 2}) },
		"two of three": func() (*Basis, error) { return ClassBasis(ctx, source(), x, y, ClassParams{K: 2}) },
		"random classes": func() (*Basis, error) {
			return ClassBasis(ctx, source(), x, y, ClassParams{K: 2, Few: FewRandom})
		},
		"k-means":        func() (*Basis, error) { return KMeansBasis(ctx, source(), x, k) },
		"rows":           func() (*Basis, error) { return combined(RandomColumns(source(), n, k), nil) },
		"coefficients":   func() (*Basis, error) { return combined(RandomCoefficients(source(), n, k), nil) },
		"kernel k-means": func() (*Basis, error) { return combined(KernelKMeans(ctx, source(), gram, k)) },
		"spectral":       func() (*Basis, error) { return combined(SpectralClusters(ctx, source(), gram, k)) },
	}
}

// Sparse rows give the bases, the fit and the distances of the same rows as a dense matrix, with n < d and n > d, few and many vectors.
func TestSparseIsDense(t *testing.T) {
	const tol = 1e-10
	for _, c := range []struct {
		n, d, k int
		filled  float64
	}{{40, 130, 5, 0.05}, {90, 30, 6, 0.2}, {12, 9, 9, 0.4}} {
		x, s, y, links := sparseProblem(uint64(c.n), c.n, c.d, c.filled, 120)
		gram := must(s.Gram(t.Context()))
		dense := bases(t.Context(), x, gram, y, c.k)
		for name, make := range bases(t.Context(), s, gram, y, c.k) {
			got, err := make()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want := must(dense[name]())
			checkOrthonormal(t, got)
			if off := matrixtest.Distance(projector(got), projector(want)); got.Rank() != want.Rank() || got.Asked() != want.Asked() || off > tol {
				t.Errorf("%d×%d: %s: rank %d of %d, want %d of %d; off by %g", c.n, c.d, name, got.Rank(), got.Asked(), want.Rank(), want.Asked(), off)
				continue
			}
			// With bounds that leave little of a link in the basis, as percentiles do here with drop and γ = 100, one ulp of x moves the dense answer by 1e-6.
			for _, p := range []Params{{}, {Gamma: 0.1, Infeasible: InfeasibleDrop, Upper: 1, Lower: 2}, {Gamma: 0.1, Bounds: itml.BoundParams{Low: 5, High: 95}}} {
				a, err := Fit(t.Context(), s, got, links, p)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				b := must(Fit(t.Context(), x, got, links, p))
				if a.Status != b.Status || a.Iterations != b.Iterations || a.Skipped != b.Skipped || len(a.Infeasible) != len(b.Infeasible) || a.Vacuous != b.Vacuous {
					t.Errorf("%d×%d: %s: %+v, want %+v", c.n, c.d, name, a.Result, b.Result)
				}
				var off, size float64
				for i := range c.n {
					for j := range i {
						want := b.Metric.SqDist(x.RawRowView(i), x.RawRowView(j))
						size = max(size, want)
						off = max(off, math.Abs(a.Metric.SqDistSparse(s.Row(i), s.Row(j))-want), math.Abs(a.Metric.SqDist(x.RawRowView(i), x.RawRowView(j))-want))
					}
				}
				if off > tol*size {
					t.Errorf("%d×%d: %s, %+v: squared distances are off by %g of %g", c.n, c.d, name, p, off, size)
				}
			}
		}
	}
}

// Few singular vectors of many come from products with the matrix; what these overflow or lose at once is as at other scales.
func TestSparseSingularLarge(t *testing.T) {
	for _, c := range []struct{ n, d int }{{340, 400}, {400, 330}} {
		x, _, _, _ := sparseProblem(3, c.n, c.d, 0.05, 1)
		for j := range 8 { // directions apart from the rest
			for i := range c.n {
				x.Set(i, 5*j, x.At(i, 5*j)*float64(3+j))
			}
		}
		want := must(SingularBasis(t.Context(), x, 8))
		for _, e := range []int{0, -500, 500} {
			scaled := mat.NewDense(c.n, c.d, nil)
			scaled.Apply(func(_, _ int, a float64) float64 { return math.Ldexp(a, e) }, x)
			got := must(SingularBasis(t.Context(), must(sparse.Compress(scaled)), 8))
			if off := matrixtest.Distance(got.Vectors(), want.Vectors()); off > 1e-10 {
				t.Errorf("%d×%d·2^%d: off by %g", c.n, c.d, e, off)
			}
		}
	}
}

// What no fit can use is said, and nothing dense is made of it.
func TestSparseErrors(t *testing.T) {
	_, s, y, links := sparseProblem(5, 9, 1<<20, 0.000002, 20)
	empty := must(sparse.NewMatrix(make([]sparse.Vector, 3), 4))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	limits.SetMemory(16 << 20)
	t.Cleanup(func() { limits.SetMemory(0) })
	tooLarge := new(*limits.MemoryError)
	for name, f := range map[string]func() error{
		"classes":  func() error { _, err := MeansBasis(t.Context(), s, y); return err },
		"k-means":  func() error { _, err := KMeansBasis(t.Context(), rand.New(rand.NewPCG(1, 1)), s, 3); return err },
		"rows":     func() error { _, err := CombinedBasis(t.Context(), s, mat.NewDense(9, 3, nil)); return err },
		"singular": func() error { _, err := SingularBasis(t.Context(), s, 3); return err },
		"given":    func() error { _, err := NewBasis(t.Context(), s); return err },
	} {
		if err := f(); !errors.As(err, tooLarge) {
			t.Errorf("%s: error %v, want one about memory", name, err)
		}
	}
	limits.SetMemory(0)
	for want, f := range map[string]func() error{
		"x is zero":               func() error { _, err := SingularBasis(t.Context(), empty, 2); return err },
		"all vectors are zero":    func() error { _, err := MeansBasis(t.Context(), empty, []int{0, 0, 1}); return err },
		"want 1 to min(n, d) = 3": func() error { _, err := SingularBasis(t.Context(), empty, 4); return err },
		"2 classes for 3 rows":    func() error { _, err := MeansBasis(t.Context(), empty, []int{0, 0}); return err },
		"like the rows": func() error {
			_, err := NewProblem(t.Context(), empty, randomBasis(1, 1, 5), links)
			return err
		},
		"scale the data down": func() error {
			huge := must(sparse.NewMatrix([]sparse.Vector{{Index: []int{0}, Value: []float64{1e200}}, {}}, 4))
			_, err := NewProblem(t.Context(), huge, randomBasis(1, 1, 4), []metric.Link{{I: 0, J: 1, Label: 1}})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	small, sm, y, links := sparseProblem(6, 12, 20, 0.3, 10)
	b := must(MeansBasis(t.Context(), small, y))
	for name, f := range map[string]func() error{
		"fit":      func() error { _, err := Fit(done, sm, b, links, Params{}); return err },
		"singular": func() error { _, err := SingularBasis(done, sm, 3); return err },
		"k-means":  func() error { _, err := KMeansBasis(done, rand.New(rand.NewPCG(1, 1)), sm, 3); return err },
	} {
		if err := f(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want context.Canceled", name, err)
		}
	}
}
