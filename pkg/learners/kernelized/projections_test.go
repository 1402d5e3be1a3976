package kernelized

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/labels"
)

// products are the inner products of rows, which signs and turns of components leave as they are.
func products(z *mat.Dense) *mat.Dense {
	var g mat.Dense
	g.Mul(z, z.T())
	return &g
}

// stacked is a above b.
func stacked(a, b mat.Matrix) *mat.Dense {
	var s mat.Dense
	s.Stack(a, b)
	return &s
}

// far is the largest difference of entries, relative to the largest entry.
func far(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, math.Inf(1)) / (1e-300 + mat.Norm(b, math.Inf(1)))
}

// With the linear kernel the scores of kernel PCA are those of PCA, or of LSA uncentred, on points not seen too: of rows and of
// their Gram matrix, with more rows than dimensions or fewer.
func TestLinearPCA(t *testing.T) {
	const tol = 1e-9
	for _, size := range [][2]int{{40, 6}, {15, 30}} {
		x, _, _ := blobs(31, size[0], size[1])
		fresh, _, _ := blobs(32, 7, size[1])
		both := stacked(x, fresh)
		for _, uncentred := range []bool{false, true} {
			for _, dim := range []int{1, 3} {
				want, err := labels.FitLSA(t.Context(), x, labels.LSAParams{K: dim, Centred: !uncentred})
				if err != nil {
					t.Fatal(err)
				}
				p := PCAParams{Dim: dim, Uncentred: uncentred}
				got, err := FitPCA(t.Context(), kernels.Linear{}, x, p)
				if err != nil {
					t.Fatal(err)
				}
				gram, err := FitPCAGram(t.Context(), kernels.Gram(kernels.Linear{}, x), p)
				if err != nil {
					t.Fatal(err)
				}
				scores, err := gram.Embed(kernels.GramRect(kernels.Linear{}, both, x))
				if err != nil {
					t.Fatal(err)
				}
				wanted := products(want.Transform(both))
				if a, b := far(products(got.Metric.EmbedRows(both)), wanted), far(products(scores), wanted); a > tol || b > tol {
					t.Errorf("%v, uncentred %v, %d components: scores differ by %g of rows, %g of the Gram matrix", size, uncentred, dim, a, b)
				}
				for c, s := range want.SingularValues() {
					if v := s * s / float64(size[0]); math.Abs(got.Variances[c]-v) > tol*v || math.Abs(gram.Variances[c]-v) > tol*v {
						t.Errorf("variance %d: %v of rows, %v of the Gram matrix, want %v", c, got.Variances[c], gram.Variances[c], v)
					}
				}
				if got.Status != learners.Closed || gram.Status != learners.Closed || got.Metric.Rows() != dim {
					t.Errorf("status %v and %v, %d coordinates", got.Status, gram.Status, got.Metric.Rows())
				}
			}
		}
	}
}

// The scores are those of the textbook: eigenvectors of the centred Gram matrix, and new points centred with the means of the training
// points, written out entry by entry.
func TestPCAOfTheBook(t *testing.T) {
	const n, s, dim = 20, 6, 4
	x, _, _ := blobs(33, n, 3)
	fresh, _, _ := blobs(34, s, 3)
	k := gaussian(t, 0.1)
	k0, cross := kernels.Gram(k, x), kernels.GramRect(k, stacked(x, fresh), x)
	for _, uncentred := range []bool{false, true} {
		centred := func(row []float64) []float64 { // k̃(x)
			out := make([]float64, n)
			for i := range n {
				out[i] = row[i]
				for j := range n {
					if uncentred {
						break
					}
					out[i] -= row[j]/n + k0.At(i, j)/n
					for l := range n {
						out[i] += k0.At(j, l) / n / n
					}
				}
			}
			return out
		}
		tilde := mat.NewSymDense(n, nil)
		for i := range n {
			row := centred(mat.Row(nil, i, k0))
			for j := range i + 1 {
				tilde.SetSym(i, j, row[j])
			}
		}
		var eig mat.EigenSym
		if !eig.Factorize(tilde, true) {
			t.Fatal("no eigenvalues")
		}
		var v mat.Dense
		eig.VectorsTo(&v)
		values := eig.Values(nil)
		want := mat.NewDense(n+s, dim, nil)
		for i := range n + s {
			row := mat.NewVecDense(n, centred(cross.RawRowView(i)))
			for c := range dim {
				want.Set(i, c, mat.Dot(v.ColView(n-1-c), row)/math.Sqrt(values[n-1-c]))
			}
		}
		got, err := FitPCAGram(t.Context(), k0, PCAParams{Dim: dim, Uncentred: uncentred})
		if err != nil {
			t.Fatal(err)
		}
		z, err := got.Embed(cross)
		if err != nil {
			t.Fatal(err)
		}
		const tol = 1e-8 // the factor leaves out directions of less than 1e-10 of the kernel
		if d := far(products(z), products(want)); d > tol {
			t.Errorf("uncentred %v: inner products of scores differ by %g", uncentred, d)
		}
		var total float64
		for c := range n {
			total += values[c] / n
		}
		for c, v := range got.Variances {
			if w := values[n-1-c] / n; math.Abs(v-w) > tol*w {
				t.Errorf("uncentred %v: variance %d is %v, want %v", uncentred, c, v, w)
			}
		}
		if math.Abs(got.Total-total) > tol*total {
			t.Errorf("uncentred %v: total %v, want %v", uncentred, got.Total, total)
		}
		for c := range dim { // scores of training objects are about their mean, unless uncentred
			if m := mat.Sum(z.Slice(0, n, c, c+1)) / n; !uncentred && math.Abs(m) > 1e-9 {
				t.Errorf("mean of score %d is %v", c, m)
			}
		}
		rows, err := FitPCA(t.Context(), k, x, PCAParams{Dim: dim, Uncentred: uncentred})
		if err != nil {
			t.Fatal(err)
		}
		if d := far(rows.Metric.EmbedRows(stacked(x, fresh)), z); d > tol {
			t.Errorf("uncentred %v: rows and Gram matrix give other scores, by %g", uncentred, d)
		}
	}
}

// With the linear kernel kernel FDA is FDA with the same ridge on ‖w‖², whether rows span all dimensions or not.
func TestLinearFDA(t *testing.T) {
	const tol, ridge = 1e-8, 0.3
	for _, size := range [][2]int{{40, 6}, {15, 30}} {
		x, y, _ := blobs(35, size[0], size[1])
		fresh, _, _ := blobs(36, 7, size[1])
		both := stacked(x, fresh)
		rank := min(size[0], size[1])
		for _, k := range []int{0, 1} {
			want, err := labels.FitFDA(t.Context(), x, y, labels.FDAParams{K: k, Ridge: ridge})
			if err != nil {
				t.Fatal(err)
			}
			p := FDAParams{K: k, Ridge: ridge * float64(rank) / float64(size[1])}
			got, err := FitFDA(t.Context(), kernels.Linear{}, x, y, p)
			if err != nil {
				t.Fatal(err)
			}
			gram, err := FitFDAGram(t.Context(), kernels.Gram(kernels.Linear{}, x), y, p)
			if err != nil {
				t.Fatal(err)
			}
			z, err := gram.Embed(kernels.GramRect(kernels.Linear{}, both, x))
			if err != nil {
				t.Fatal(err)
			}
			wanted := products(want.Transform(both))
			if a, b := far(products(got.Metric.EmbedRows(both)), wanted), far(products(z), wanted); a > tol || b > tol {
				t.Errorf("%v, %d directions: scores differ by %g of rows, %g of the Gram matrix", size, k, a, b)
			}
		}
	}
}

// In the space of a kernel the directions of kernel FDA solve its equation: no other direction of the span has a larger quotient.
func TestFDAIsOptimal(t *testing.T) {
	x, y, _ := blobs(37, 30, 3)
	k := gaussian(t, 0.1)
	const ridge = 0.2
	got, err := FitFDAGram(t.Context(), kernels.Gram(k, x), y, FDAParams{K: 1, Ridge: ridge})
	if err != nil {
		t.Fatal(err)
	}
	z, err := got.Embed(kernels.Gram(k, x))
	if err != nil {
		t.Fatal(err)
	}
	// quotient of the scores f of the objects and the squared norm of the direction
	var s float64
	quotient := func(f []float64, norm float64) float64 {
		var between, within, mean float64
		means, counts := make([]float64, 3), make([]float64, 3)
		for i, c := range y {
			means[c] += f[i]
			counts[c]++
			mean += f[i] / float64(len(y))
		}
		for c := range means {
			means[c] /= counts[c]
			between += counts[c] * (means[c] - mean) * (means[c] - mean) / float64(len(y))
		}
		for i, c := range y {
			within += (f[i] - means[c]) * (f[i] - means[c]) / float64(len(y))
		}
		return between / (within + ridge*s*norm)
	}
	k0 := kernels.Gram(k, x)
	n, _ := x.Dims()
	factor, err := kernels.NewFactor(t.Context(), n, k0.At, kernels.FactorParams{})
	if err != nil {
		t.Fatal(err)
	}
	rows := factor.Rows()
	r := factor.Rank()
	for j := range r { // s = tr(S_W)/r
		col := mat.Col(nil, j, rows)
		means, counts := make([]float64, 3), make([]float64, 3)
		for i, c := range y {
			means[c] += col[i]
			counts[c]++
		}
		for i, c := range y {
			d := col[i] - means[c]/counts[c]
			s += d * d / float64(n) / float64(r)
		}
	}
	// The direction Σ βᵢφ(xᵢ) has scores K₀β and squared norm βᵀK₀β. Its β from the scores about the origin:
	raw := mat.NewVecDense(n, mat.Col(nil, 0, z))
	raw.AddScaledVec(raw, -got.shift[0], mat.NewVecDense(n, ones(n)))
	var direction mat.VecDense
	if err := direction.SolveVec(rows, raw); err != nil {
		t.Fatal(err)
	}
	best := quotient(raw.RawVector().Data, mat.Dot(&direction, &direction))
	for j := range r {
		for _, h := range []float64{0.1, -0.1, 1e-3, -1e-3, 10} {
			other := mat.VecDenseCopyOf(&direction)
			other.SetVec(j, other.AtVec(j)+h*mat.Norm(&direction, 2))
			var f mat.VecDense
			f.MulVec(rows, other)
			if q := quotient(f.RawVector().Data, mat.Dot(other, other)); q > best*(1+1e-9) {
				t.Fatalf("quotient %v, another direction has %v", best, q)
			}
		}
	}
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

func TestProjectionErrors(t *testing.T) {
	x, y, _ := blobs(38, 12, 2)
	k := kernels.Linear{}
	gram := kernels.Gram(k, x)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		fit  func() (any, error)
		want string
	}{
		"no components": {func() (any, error) { return FitPCA(t.Context(), k, x, PCAParams{}) }, "kernel-pca: dim: 0 is not allowed, want an integer from 1"},
		"many":          {func() (any, error) { return FitPCAGram(t.Context(), gram, PCAParams{Dim: 3}) }, "kernel-pca: dim: 3 is not allowed, want an integer from 1 to 2, the number of dimensions that the images span"},
		"of landmarks":  {func() (any, error) { return FitPCA(t.Context(), k, x, PCAParams{Dim: 2, Landmarks: 1}) }, "kernel-pca: dim: 2 is not allowed, want an integer from 1 to 1"},
		"landmarks":     {func() (any, error) { return FitPCA(t.Context(), k, x, PCAParams{Dim: 2, Landmarks: -1}) }, "kernel-pca: landmarks: -1 is not allowed"},
		"PCA, done":     {func() (any, error) { return FitPCA(done, k, x, PCAParams{Dim: 1}) }, "context canceled"},
		"PCA of NaN": {func() (any, error) {
			return FitPCAGram(t.Context(), mat.NewSymDense(1, []float64{math.NaN()}), PCAParams{Dim: 1})
		}, "entry (0, 0) is NaN"},
		"ridge":           {func() (any, error) { return FitFDA(t.Context(), k, x, y, FDAParams{Ridge: -1}) }, "kernel-fda: ridge: -1 is not allowed, want"},
		"infinite ridge":  {func() (any, error) { return FitFDAGram(t.Context(), gram, y, FDAParams{Ridge: math.Inf(1)}) }, "kernel-fda: ridge: +Inf is not allowed"},
		"many directions": {func() (any, error) { return FitFDA(t.Context(), k, x, y, FDAParams{K: 3}) }, "k: 3 is not allowed"},
		"one class":       {func() (any, error) { return FitFDAGram(t.Context(), gram, make([]int, 12), FDAParams{}) }, "fda: "},
		"few labels":      {func() (any, error) { return FitFDA(t.Context(), k, x, y[:3], FDAParams{}) }, "3 labels for 12 rows"},
		"FDA, done":       {func() (any, error) { return FitFDA(done, k, x, y, FDAParams{}) }, "context canceled"},
		"FDA of equal row": {func() (any, error) {
			return FitFDA(t.Context(), gaussian(t, 1), mat.NewDense(12, 2, nil), y, FDAParams{})
		}, "fda: "},
	} {
		if _, err := c.fit(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	// All objects coincide: there is a component, without variance.
	r, err := FitPCA(t.Context(), gaussian(t, 1), mat.NewDense(4, 2, nil), PCAParams{Dim: 1})
	if err != nil || r.Variances[0] != 0 || r.Metric.Embed([]float64{0, 0})[0] != 0 {
		t.Errorf("equal rows: %+v, error %v", r, err)
	}
}

// A large projection gives the answer of a small one.
func TestProjectionAbandoned(t *testing.T) {
	x, _, _ := blobs(39, 20, 2)
	k0 := kernels.Gram(gaussian(t, 0.1), x)
	want, err := FitPCAGram(t.Context(), k0, PCAParams{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	abandon.Always(t)
	got, err := FitPCAGram(t.Context(), k0, PCAParams{Dim: 2})
	if err != nil || !mat.Equal(got.S, want.S) || got.shift[0] != want.shift[0] {
		t.Errorf("another answer, error %v", err)
	}
}

func ExampleFitPCA() {
	// A ring around a point: along no line of the plane does the distance from the centre show.
	x := mat.NewDense(9, 2, []float64{0, 0, 2, 0, -2, 0, 0, 2, 0, -2, 1.4, 1.4, -1.4, 1.4, 1.4, -1.4, -1.4, -1.4})
	k, err := kernels.NewPolynomial(2, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	pca, err := FitPCA(context.Background(), k, x, PCAParams{Dim: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	inside, on := pca.Metric.Embed([]float64{0.5, 0}), pca.Metric.Embed([]float64{0, 2})
	fmt.Printf("shares of the variance %.2f; the third score tells inside from the ring: %t\n", share(pca.Components), (inside[2] > 0) != (on[2] > 0))
	// Output: shares of the variance [0.46 0.44 0.10]; the third score tells inside from the ring: true
}

func share(c Components) []float64 {
	var out []float64
	for _, v := range c.Variances {
		out = append(out, v/c.Total)
	}
	return out
}

func ExampleFitFDAGram() {
	// Four objects of two classes, known by their similarities alone, and a fifth that is like the first two.
	k0 := mat.NewSymDense(4, []float64{
		1, 0.8, 0.1, 0.2,
		0.8, 1, 0.2, 0.1,
		0.1, 0.2, 1, 0.7,
		0.2, 0.1, 0.7, 1,
	})
	fda, err := FitFDAGram(context.Background(), k0, []int{0, 0, 1, 1}, FDAParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	z, err := fda.Embed(mat.NewDense(3, 4, []float64{1, 0.8, 0.1, 0.2, 0.2, 0.1, 0.7, 1, 0.8, 0.9, 0.1, 0.2}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the fifth is on the side of the first:", (z.At(2, 0) > 0) == (z.At(0, 0) > 0), "and not of the fourth:", (z.At(2, 0) > 0) != (z.At(1, 0) > 0))
	// Output: the fifth is on the side of the first: true and not of the fourth: true
}
