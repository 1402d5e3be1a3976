package kernels_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// sqDists are the squared distances of rows.
func sqDists(x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			out.SetSym(i, j, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)))
		}
	}
	return out
}

// The Laplacian of four points on a line, 0, 1, 3 and 6, each joined to its nearest: edges 01, 12, 23.
func TestGraphLaplacian(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 3, 6})
	w := func(d float64) float64 { return math.Exp(-d * d / 8) } // σ = 2
	r := func(a, b float64) float64 { return -1 / math.Sqrt(a*b) }
	a, b, c := w(1), w(2), w(3)
	for name, tt := range map[string]struct {
		p    kernels.GraphParams
		want []float64
	}{
		"weights of 1": {kernels.GraphParams{Neighbours: 1}, []float64{1, -1, 0, 0, -1, 2, -1, 0, 0, -1, 2, -1, 0, 0, -1, 1}},
		"normalised":   {kernels.GraphParams{Neighbours: 1, Normalised: true}, []float64{1, r(1, 2), 0, 0, r(1, 2), 1, r(2, 2), 0, 0, r(2, 2), 1, r(2, 1), 0, 0, r(2, 1), 1}},
		"heat":         {kernels.GraphParams{Neighbours: 1, Width: 2}, []float64{a, -a, 0, 0, -a, a + b, -b, 0, 0, -b, b + c, -c, 0, 0, -c, c}},
		"all":          {kernels.GraphParams{}, []float64{3, -1, -1, -1, -1, 3, -1, -1, -1, -1, 3, -1, -1, -1, -1, 3}},
	} {
		got, err := kernels.GraphLaplacian(t.Context(), sqDists(x), tt.p)
		if err != nil || !mat.EqualApprox(got, mat.NewDense(4, 4, tt.want), 1e-15) {
			t.Errorf("%s:\n%.3f\nwant %.3f, error %v", name, mat.Formatted(got), tt.want, err)
		}
	}
	one, err := kernels.GraphLaplacian(t.Context(), mat.NewSymDense(1, []float64{7}), kernels.GraphParams{Normalised: true})
	if err != nil || one.At(0, 0) != 0 {
		t.Errorf("one point: %v, error %v", one, err)
	}
}

// Duplicates are neighbours, and of equal distances the lower index is the nearer.
func TestGraphLaplacianTies(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{0, 0, 1, -1, 0})
	got, err := kernels.GraphLaplacian(t.Context(), sqDists(x), kernels.GraphParams{Neighbours: 1})
	want := mat.NewDense(5, 5, []float64{4, -1, -1, -1, -1, -1, 1, 0, 0, 0, -1, 0, 1, 0, 0, -1, 0, 0, 1, 0, -1, 0, 0, 0, 1})
	if err != nil || !mat.Equal(got, want) {
		t.Errorf("got\n%v, error %v", mat.Formatted(got), err)
	}
}

// Rows of a Laplacian sum to 0, and eigenvalues of a normalised one are from 0 to 2.
func TestGraphLaplacianLaws(t *testing.T) {
	x := normal(rand.New(rand.NewPCG(20, 1)), 40, 3, 0)
	for _, width := range []float64{0, 0.7} {
		for _, normalised := range []bool{false, true} {
			l, err := kernels.GraphLaplacian(t.Context(), sqDists(x), kernels.GraphParams{Neighbours: 4, Width: width, Normalised: normalised})
			if err != nil {
				t.Fatal(err)
			}
			if err := kernels.CheckGram(l); err != nil {
				t.Error(err)
			}
			var eig mat.EigenSym
			eig.Factorize(l, false)
			if values := eig.Values(nil); normalised && values[39] > 2+1e-12 {
				t.Errorf("eigenvalue %v", values[39])
			}
			for i := range 40 {
				if sum := floats.Sum(mat.Row(nil, i, l)); !normalised && math.Abs(sum) > 1e-13 {
					t.Errorf("row %d sums to %v", i, sum)
				}
			}
		}
	}
}

// power is c·Lᵖ by products.
func power(l mat.Matrix, p int, c float64) *mat.Dense {
	m := mat.DenseCopyOf(l)
	for range p - 1 {
		var next mat.Dense
		next.Mul(m, l)
		m = &next
	}
	m.Scale(c, m)
	return m
}

// deformed is the kernel as printed, of rows whose first n are in the graph: k(x, z) − k(x)ᵀ(I + MG)⁻¹M·k(z), by an LU decomposition.
func deformed(t *testing.T, all *mat.SymDense, m *mat.Dense) *mat.Dense {
	t.Helper()
	n, _ := m.Dims()
	size := all.SymmetricDim()
	g := all.SliceSym(0, n).(*mat.SymDense)
	k := mat.DenseCopyOf(all).Slice(0, size, 0, n)
	var left, s, drop mat.Dense
	left.Mul(m, g)
	for i := range n {
		left.Set(i, i, left.At(i, i)+1)
	}
	if err := s.Solve(&left, m); err != nil {
		t.Fatal(err)
	}
	drop.Product(k, &s, k.T())
	drop.Sub(all, &drop)
	return &drop
}

// The kernel as printed, (K₀⁻¹ + M)⁻¹ and what DataDependent returns are one on the points of the graph. On others, in the three ways in which a Learned tells its
// kernel, it is the one as printed.
func TestDataDependentForms(t *testing.T) {
	const n, s = 25, 8
	rng := rand.New(rand.NewPCG(20, 2))
	x := normal(rng, n+s, 3, 0)
	k := must(kernels.NewGaussian(0.4))
	all := kernels.Gram(k, x)
	points := x.Slice(0, n, 0, 3).(*mat.Dense)
	k0 := all.SliceSym(0, n).(*mat.SymDense)
	cross := mat.DenseCopyOf(mat.DenseCopyOf(all).Slice(n, n+s, 0, n))
	own := mat.DenseCopyOf(all).Slice(n, n+s, n, n+s)
	for _, normalised := range []bool{false, true} {
		l, err := kernels.GraphLaplacian(t.Context(), sqDists(points), kernels.GraphParams{Neighbours: 5, Width: 1, Normalised: normalised})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []kernels.DataDependentParams{{}, {Power: 2, Weight: 0.3}, {Power: 3, Weight: 50}} {
			got, err := kernels.DataDependent(t.Context(), k0, l, p)
			if err != nil {
				t.Fatal(err)
			}
			q := p.Resolved()
			m := power(l, q.Power, q.Weight)
			want := deformed(t, all, m)
			const tol = 1e-11
			if k := got.All(all); !mat.EqualApprox(k, want, tol) {
				t.Errorf("%v %+v: all points: not the kernel as printed", normalised, p)
			}
			var inverse, sum mat.Dense
			if err := inverse.Inverse(k0); err != nil {
				t.Fatal(err)
			}
			sum.Add(&inverse, m)
			if err := inverse.Inverse(&sum); err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(got.All(k0), &inverse, 1e-9) { // of an ill-conditioned inverse
				t.Errorf("%v %+v: not (K₀⁻¹ + M)⁻¹", normalised, p)
			}
			between, err := got.Between(k0, cross)
			if err != nil || !mat.EqualApprox(between, want.Slice(n, n+s, 0, n), tol) {
				t.Errorf("%v %+v: between: error %v", normalised, p, err)
			}
			among, err := got.Among(cross, own)
			if err != nil || !mat.EqualApprox(among, want.Slice(n, n+s, n, n+s), tol) {
				t.Errorf("%v %+v: among: error %v", normalised, p, err)
			}
			function, err := got.Kernel(k, points)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(kernels.Gram(function, x), want, tol) {
				t.Errorf("%v %+v: not the kernel of points", normalised, p)
			}
		}
	}
}

// Ridge regression under the data-dependent kernel is Laplacian regularised least squares under the kernel itself (Belkin, Niyogi, Sindhwani, Manifold Regularization, JMLR 7,
// 2006, Eq. 8): with labels of 5 of 20 points, at a point outside of the graph as well. The points are fewer than dimensions, or K₀ is singular.
func TestDataDependentIsManifoldRegularization(t *testing.T) {
	const n, labelled, ridge, graph = 20, 5, 0.2, 1.7
	for _, d := range []int{2, 30} {
		rng := rand.New(rand.NewPCG(20, 3))
		x := normal(rng, n+1, d, 0)
		all := kernels.Gram(kernels.Linear{}, x)
		k0 := all.SliceSym(0, n).(*mat.SymDense)
		fresh := mat.DenseCopyOf(all).Slice(n, n+1, 0, n)
		y := normal(rng, labelled, 1, 0)
		l, err := kernels.GraphLaplacian(t.Context(), sqDists(x).SliceSym(0, n), kernels.GraphParams{Neighbours: 3})
		if err != nil {
			t.Fatal(err)
		}
		for p := 1; p <= 2; p++ {
			// The minimum over α of ‖y − JK₀α‖² + ridge·αᵀK₀α + graph·αᵀK₀LᵖK₀α.
			var system, alpha mat.Dense
			system.Mul(power(l, p, graph), k0)
			right := mat.NewDense(n, 1, nil)
			for i := range n {
				for j := range n {
					v := system.At(i, j)
					if i < labelled {
						v += k0.At(i, j)
					}
					if i == j {
						v += ridge
					}
					system.Set(i, j, v)
				}
				if i < labelled {
					right.Set(i, 0, y.At(i, 0))
				}
			}
			if err := alpha.Solve(&system, right); err != nil {
				t.Fatal(err)
			}
			want := mat.Dot(alpha.ColView(0), mat.NewVecDense(n, mat.Row(nil, 0, fresh)))

			ker, err := kernels.DataDependent(t.Context(), k0, l, kernels.DataDependentParams{Power: p, Weight: graph / ridge})
			if err != nil {
				t.Fatal(err)
			}
			k := ker.All(k0).SliceSym(0, labelled)
			var regular, beta mat.Dense
			regular.CloneFrom(k)
			for i := range labelled {
				regular.Set(i, i, regular.At(i, i)+ridge)
			}
			if err := beta.Solve(&regular, y); err != nil {
				t.Fatal(err)
			}
			row, err := ker.Between(k0, fresh)
			if err != nil {
				t.Fatal(err)
			}
			got := mat.Dot(beta.ColView(0), mat.NewVecDense(labelled, row.RawRowView(0)[:labelled]))
			if math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
				t.Errorf("%d dimensions, power %d: %v, want %v", d, p, got, want)
			}
		}
	}
}

// As the weight of a connected graph grows, all functions but constant ones are ruled out: K̃ tends to 1/(1ᵀK₀⁻¹1) everywhere.
func TestDataDependentLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 4))
	x := normal(rng, 12, 2, 0)
	k0 := kernels.Gram(must(kernels.NewGaussian(3)), x)
	l, err := kernels.GraphLaplacian(t.Context(), sqDists(x), kernels.GraphParams{Neighbours: 11})
	if err != nil {
		t.Fatal(err)
	}
	ker, err := kernels.DataDependent(t.Context(), k0, l, kernels.DataDependentParams{Weight: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	var inverse mat.Dense
	if err := inverse.Inverse(k0); err != nil {
		t.Fatal(err)
	}
	want := 1 / mat.Sum(&inverse)
	for i := range 12 {
		for j := range i + 1 {
			if v := ker.All(k0).At(i, j); math.Abs(v-want) > 1e-7*want {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, j, v, want)
			}
		}
	}
	// Without an edge nothing changes.
	none, err := kernels.DataDependent(t.Context(), k0, mat.NewSymDense(12, nil), kernels.DataDependentParams{})
	if err != nil || !mat.Equal(none.All(k0), k0) {
		t.Errorf("without edges: error %v", err)
	}
}

func TestDataDependentErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 5))
	x := normal(rng, 6, 2, 0)
	sq := sqDists(x)
	k0 := kernels.Gram(must(kernels.NewGaussian(1)), x)
	l, err := kernels.GraphLaplacian(t.Context(), sq, kernels.GraphParams{})
	if err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	entry := func(of mat.Symmetric, v float64) *mat.SymDense {
		out := mat.NewSymDense(6, nil)
		out.CopySym(of)
		out.SetSym(1, 2, v)
		return out
	}
	huge := mat.NewSymDense(6, nil)
	huge.ScaleSym(1e200, l)
	large := mat.NewSymDense(6, nil)
	large.ScaleSym(1e200, k0)
	for name, c := range map[string]struct {
		f    func() (any, error)
		want string
	}{
		"distance": {func() (any, error) { return kernels.GraphLaplacian(t.Context(), entry(sq, -1), kernels.GraphParams{}) }, "kernels: graph: squared distance (1, 2) is -1, want a finite number >= 0"},
		"NaN": {func() (any, error) {
			return kernels.GraphLaplacian(t.Context(), entry(sq, math.NaN()), kernels.GraphParams{})
		}, "squared distance (1, 2) is NaN"},
		"infinite": {func() (any, error) {
			return kernels.GraphLaplacian(t.Context(), entry(sq, math.Inf(1)), kernels.GraphParams{})
		}, "squared distance (1, 2) is +Inf"},
		"neighbours": {func() (any, error) {
			return kernels.GraphLaplacian(t.Context(), sq, kernels.GraphParams{Neighbours: 6})
		}, "kernels: graph: neighbours: 6 is not allowed"},
		"width":        {func() (any, error) { return kernels.GraphLaplacian(t.Context(), sq, kernels.GraphParams{Width: -1}) }, "kernels: graph: width: -1 is not allowed"},
		"narrow":       {func() (any, error) { return kernels.GraphLaplacian(t.Context(), sq, kernels.GraphParams{Width: 1e-9}) }, "all weights of point 0 vanish"},
		"graph, done":  {func() (any, error) { return kernels.GraphLaplacian(done, sq, kernels.GraphParams{}) }, "context canceled"},
		"kernel, done": {func() (any, error) { return kernels.DataDependent(done, k0, l, kernels.DataDependentParams{}) }, "context canceled"},
		"power": {func() (any, error) {
			return kernels.DataDependent(t.Context(), k0, l, kernels.DataDependentParams{Power: -1})
		}, "kernels: data-dependent: power: -1 is not allowed"},
		"weight": {func() (any, error) {
			return kernels.DataDependent(t.Context(), k0, l, kernels.DataDependentParams{Weight: math.Inf(1)})
		}, "weight: +Inf is not allowed"},
		"sizes": {func() (any, error) {
			return kernels.DataDependent(t.Context(), k0, mat.NewSymDense(5, nil), kernels.DataDependentParams{})
		}, "a laplacian of 5 points is not allowed, want 6 as k0 has"},
		"k0": {func() (any, error) {
			return kernels.DataDependent(t.Context(), entry(k0, 9), l, kernels.DataDependentParams{})
		}, "k0: it is not positive semi-definite"},
		"laplacian": {func() (any, error) {
			return kernels.DataDependent(t.Context(), k0, entry(l, 9), kernels.DataDependentParams{})
		}, "laplacian: it is not positive semi-definite"},
		"NaN weight": {func() (any, error) {
			return kernels.DataDependent(t.Context(), k0, entry(l, math.NaN()), kernels.DataDependentParams{})
		}, "kernels: data-dependent: laplacian: row 1, column 2: NaN is not allowed"},
		"huge power": {func() (any, error) {
			return kernels.DataDependent(t.Context(), k0, huge, kernels.DataDependentParams{Power: 2})
		}, "overflows float64"},
		"huge product": {func() (any, error) {
			return kernels.DataDependent(t.Context(), large, huge, kernels.DataDependentParams{})
		}, "overflows float64"},
	} {
		if got, err := c.f(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, error %v, want %q", name, got, err, c.want)
		}
	}
	for name, f := range map[string]func(){
		"no distances": func() { kernels.GraphLaplacian(t.Context(), nil, kernels.GraphParams{}) },
		"no point":     func() { kernels.GraphLaplacian(t.Context(), &mat.SymDense{}, kernels.GraphParams{}) },
		"no k0":        func() { kernels.DataDependent(t.Context(), nil, l, kernels.DataDependentParams{}) },
		"no laplacian": func() { kernels.DataDependent(t.Context(), k0, (*mat.SymDense)(nil), kernels.DataDependentParams{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	// Where a decomposition may be left the answer is the same, and none once the context is done.
	want, err := kernels.DataDependent(t.Context(), k0, l, kernels.DataDependentParams{Power: 2})
	if err != nil {
		t.Fatal(err)
	}
	abandon.Always(t)
	if got, err := kernels.DataDependent(t.Context(), k0, l, kernels.DataDependentParams{Power: 2}); err != nil || !mat.Equal(got.S, want.S) {
		t.Errorf("another answer, error %v", err)
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(8 * 36 * 3)
	for _, f := range []func() (any, error){
		func() (any, error) { return kernels.DataDependent(t.Context(), k0, l, kernels.DataDependentParams{}) },
		func() (any, error) {
			limits.SetMemory(8 * 35)
			return kernels.GraphLaplacian(t.Context(), sq, kernels.GraphParams{})
		},
	} {
		if _, err := f(); !errors.As(err, new(*limits.MemoryError)) {
			t.Errorf("error %v", err)
		}
	}
}

func ExampleDataDependent() {
	// Two lines of five points. By the kernel alone a new point near the far end of the lower one is similar to the first point of neither.
	// The graph, which joins the points of each line, makes it similar to that of its line.
	x := mat.NewDense(10, 2, nil)
	for i := range 5 {
		x.SetRow(i, []float64{float64(i), 0})
		x.SetRow(5+i, []float64{float64(i), 3})
	}
	k, err := kernels.NewGaussian(0.2)
	if err != nil {
		fmt.Println(err)
		return
	}
	sq := mat.NewSymDense(10, nil)
	for i := range 10 {
		for j := range i {
			sq.SetSym(i, j, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)))
		}
	}
	l, err := kernels.GraphLaplacian(context.Background(), sq, kernels.GraphParams{Neighbours: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	k0 := kernels.Gram(k, x)
	learned, err := kernels.DataDependent(context.Background(), k0, l, kernels.DataDependentParams{Weight: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fresh := mat.NewDense(1, 2, []float64{4, 1})
	cross := kernels.GramRect(k, fresh, x)
	between, err := learned.Between(k0, cross)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("kernel with the first points %.2f and %.2f, data-dependent %.2f and %.2f\n", cross.At(0, 0), cross.At(0, 5), between.At(0, 0), between.At(0, 5))
	// Output: kernel with the first points 0.03 and 0.02, data-dependent 0.39 and 0.22
}
