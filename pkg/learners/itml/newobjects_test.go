package itml

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// among returns the links between the first n objects.
func among(links []metric.Link, n int) []metric.Link {
	return slices.DeleteFunc(slices.Clone(links), func(l metric.Link) bool { return l.I >= n || l.J >= n })
}

// split returns the blocks of k between the first old objects, between further ones and those, and among the further ones.
func split(k *mat.SymDense, old int) (k0 *mat.SymDense, cross, own *mat.Dense) {
	n := k.SymmetricDim()
	k0 = mat.NewSymDense(old, nil)
	k0.CopySym(k.SliceSym(0, old))
	all := mat.DenseCopyOf(k)
	return k0, mat.DenseCopyOf(all.Slice(old, n, 0, old)), mat.DenseCopyOf(all.Slice(old, n, old, n))
}

// newValues are all that a fit says of new objects.
type newValues struct {
	between, sqBetween *mat.Dense
	among, sqAmong     *mat.SymDense
	diagonal           []float64
}

func valuesOf(t testing.TB, l KernelResult, k0 *mat.SymDense, cross, own mat.Matrix) (v newValues) {
	t.Helper()
	r, _ := own.Dims()
	diag := make([]float64, r)
	for i := range diag {
		diag[i] = own.At(i, i)
	}
	var errs [5]error
	v.between, errs[0] = l.Between(k0, cross)
	v.among, errs[1] = l.Among(cross, own)
	v.diagonal, errs[2] = l.Diagonal(cross, diag)
	v.sqBetween, errs[3] = l.SqDistBetween(k0, cross, diag)
	v.sqAmong, errs[4] = l.SqDistAmong(cross, own)
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	return v
}

// Kernel values between new objects and old ones, and among the new ones, give what the enlarged Gram matrix gives, also
// where it is singular, of any kernel.
func TestKernelOfKernelValuesAlone(t *testing.T) {
	const old, tol = 40, 1e-9 // round-off of products through S
	for _, c := range []struct {
		kernel kernels.Kernel
		d      int
	}{{gaussian(0.2), 3}, {kernels.Linear{}, 3}, {kernels.Linear{}, 60}} {
		name, d := fmt.Sprintf("%T", c.kernel), c.d
		x, links, _, _ := linkedData(uint64(720+d), 52, d, 60, 0)
		gram, few := kernels.Gram(c.kernel, x), among(links, old)
		k0, cross, own := split(gram, old)
		l, err := FitKernel(context.Background(), k0, few, KernelParams{Gamma: 3})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.Support) == 0 {
			t.Fatalf("%s, d = %d: nothing was learned", name, d)
		}
		want, v := l.All(gram), valuesOf(t, l, k0, cross, own)
		_, wantBetween, wantAmong := split(want, old)
		scale := tol * mat.Norm(want, 2)
		if e := matrixtest.Distance(v.between, wantBetween); e > scale {
			t.Errorf("%s, d = %d: between: off by %v", name, d, e)
		}
		if e := matrixtest.Distance(v.among, wantAmong); e > scale {
			t.Errorf("%s, d = %d: among: off by %v", name, d, e)
		}
		for i := old; i < 52; i++ {
			if v.diagonal[i-old] != v.among.At(i-old, i-old) {
				t.Errorf("%s, d = %d: diagonal %v, among %v", name, d, v.diagonal[i-old], v.among.At(i-old, i-old))
			}
			for j := range i {
				got := 0.0
				if j < old {
					got = v.sqBetween.At(i-old, j)
				} else {
					got = v.sqAmong.At(i-old, j-old)
				}
				if d2 := sqDistOf(want, metric.Link{I: i, J: j}); math.Abs(got-d2) > scale {
					t.Fatalf("%s, d = %d: objects %d and %d: d² = %v, want %v", name, d, i, j, got, d2)
				}
			}
		}
	}
}

// With the linear kernel the squared distances of new objects are those of the metric that Fit learns.
func TestKernelValuesAreInputSpace(t *testing.T) {
	const old, tol = 30, 1e-9 // of two fits and of products through S
	x, links, upper, lower := linkedData(730, 36, 5, 60, 0)
	few := among(links, old)
	p := Params{Gamma: 2, Upper: upper, Lower: lower, Tol: tightTol, MaxCycles: 500}
	want, err := Fit(context.Background(), x, few, p)
	if err != nil {
		t.Fatal(err)
	}
	k0, cross, own := split(kernels.Gram(kernels.Linear{}, x), old)
	l, err := FitKernel(context.Background(), k0, few, withKernel(p))
	if err != nil {
		t.Fatal(err)
	}
	v := valuesOf(t, l, k0, cross, own)
	for i := old; i < 36; i++ {
		for j := range i {
			got := 0.0
			if j < old {
				got = v.sqBetween.At(i-old, j)
			} else {
				got = v.sqAmong.At(i-old, j-old)
			}
			if d2 := want.Metric.SqDist(x.RawRowView(i), x.RawRowView(j)); math.Abs(got-d2) > tol*d2 {
				t.Errorf("objects %d and %d: d² = %v, want %v", i, j, got, d2)
			}
		}
	}
}

// Far from the origin the squared distances of new objects keep digits that K_ii − 2K_ij + K_jj loses, and are 0 for a copy of an
// old object.
func TestKernelOfKernelValuesKeepsDigits(t *testing.T) {
	const old = 30
	x, links, upper, lower := linkedData(731, 36, 5, 60, 0)
	x.SetRow(35, x.RawRowView(3))
	few := among(links, old)
	p := KernelParams{Gamma: 100, Upper: upper, Lower: lower}
	near, err := FitKernelRows(context.Background(), kernels.Linear{}, x, few, p)
	if err != nil {
		t.Fatal(err)
	}
	k0, cross, own := split(kernels.Gram(kernels.Linear{}, x), old)
	want := valuesOf(t, near, k0, cross, own)
	// A constant in all of K₀ is a point far away: no distance changes, and no S.
	const far = 1 << 26
	shift := func(_, _ int, v float64) float64 { return v + far }
	for i := range old {
		for j := range i + 1 {
			k0.SetSym(i, j, k0.At(i, j)+far)
		}
	}
	cross.Apply(shift, cross)
	own.Apply(shift, own)
	got := valuesOf(t, near, k0, cross, own)
	// Each entry is rounded to 2⁻²⁷; the sums over 30 of them, times the squared distances, stay below 2⁻²⁰. By
	// K_ii − 2K_ij + K_jj of All the errors are above 0.01.
	const tol = 0x1p-19
	if e := matrixtest.Distance(got.sqBetween, want.sqBetween); e > tol {
		t.Errorf("between: off by %v, want at most %v", e, tol)
	}
	if e := matrixtest.Distance(got.sqAmong, want.sqAmong); e > tol {
		t.Errorf("among: off by %v, want at most %v", e, tol)
	}
	if d2 := got.sqBetween.At(35-old, 3); d2 != 0 {
		t.Errorf("a copy of an object is at the squared distance %v from it", d2)
	}
}

func TestKernelOfKernelValuesErrors(t *testing.T) {
	k0 := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 1})
	l, err := FitKernel(context.Background(), k0, []metric.Link{{I: 0, J: 1, Label: metric.Similar}}, KernelParams{Upper: 1, Lower: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Support) != 2 {
		t.Fatalf("support %v", l.Support)
	}
	cross, own := mat.NewDense(2, 3, []float64{1, 1, 0, 0, 1, .5}), mat.NewSymDense(2, []float64{1, .5, .5, 2})
	diag := []float64{1, 2}
	valuesOf(t, l, k0, cross, own)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		want  string
		k0    *mat.SymDense
		cross *mat.Dense
		own   mat.Matrix
		diag  []float64
	}{
		{"kernels: cross: 2 columns are not allowed, want 3, one per object of k0", k0, mat.NewDense(2, 2, nil), nil, diag},
		{"kernels: k0: entry (0, 1) is NaN", mat.NewSymDense(3, []float64{2, nan, 0, nan, 2, 0, 0, 0, 1}), nil, nil, diag},
		{"kernels: cross: entry (1, 0) is +Inf", k0, mat.NewDense(2, 3, []float64{1, 1, 0, inf, 1, .5}), own, diag},
		{"kernels: cross: 1 columns are not allowed, want more than 1, the last object of the support", nil, mat.NewDense(2, 1, nil), own, diag},
		{"kernels: own: 1 objects are not allowed, want 2, one per row of cross", nil, cross, mat.NewSymDense(1, nil), nil},
		{"kernels: own: kernels: gram: it is not symmetric: entries (1, 0) and (0, 1) are 0.2 and 0.5", nil, cross, mat.NewDense(2, 2, []float64{1, .5, .2, 2}), nil},
		{"kernels: own: kernels: gram: 2×3 is not allowed, want a square matrix", nil, cross, cross, nil},
		{"kernels: own: kernels: gram: entry (1, 0) is NaN", nil, cross, mat.NewDense(2, 2, []float64{1, nan, nan, 2}), nil},
		{"kernels: own: kernels: gram: it is not positive semi-definite", nil, cross, mat.NewDense(2, 2, []float64{1, 3, 3, 2}), nil},
		{"kernels: diag: 3 objects are not allowed, want 2, one per row of cross", nil, cross, nil, []float64{1, 2, 3}},
		{"kernels: diag: entry 1: -1 is not allowed, want a finite number ≥ 0", nil, cross, nil, []float64{1, -1}},
		{"kernels: diag: entry 0: NaN is not allowed", nil, cross, nil, []float64{nan, 1}},
		{"is not allowed: a kernel with these values is not positive semi-definite", nil, mat.NewDense(2, 3, []float64{9, -9, 0, 0, 0, 0}), own, diag},
		{"it overflows float64: scale the kernel down", nil, mat.NewDense(2, 3, []float64{1e200, -1e200, 0, 0, 0, 0}), own, diag},
	} {
		base, cr := c.k0, c.cross
		if cr == nil {
			cr = cross
		}
		calls := map[string]func() error{}
		if base != nil {
			if c.diag != nil {
				calls["SqDistBetween"] = func() error { _, err := l.SqDistBetween(base, cr, c.diag); return err }
			}
			if c.own == nil || strings.Contains(c.want, "cross") {
				calls["Between"] = func() error { _, err := l.Between(base, cr); return err }
			}
		} else {
			base = k0
		}
		if c.own != nil {
			calls["Among"] = func() error { _, err := l.Among(cr, c.own); return err }
			calls["SqDistAmong"] = func() error { _, err := l.SqDistAmong(cr, c.own); return err }
		}
		if c.diag != nil && c.k0 == nil {
			calls["Diagonal"] = func() error { _, err := l.Diagonal(cr, c.diag); return err }
		}
		for name, call := range calls {
			if err := call(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got error %v, want one with %q", name, err, c.want)
			}
		}
	}
	if _, err := l.SqDistBetween(k0, mat.NewDense(1, 3, []float64{9, 9, 9}), []float64{1}); !errors.Is(err, metric.ErrNotPSD) || !strings.Contains(err.Error(), "kernels: new object 0 and object 0: squared distance: ") {
		t.Errorf("error %v does not tell of a negative squared distance", err)
	}
	large := KernelResult{Learned: kernels.Learned{Alpha: 1, Support: []int{0, 1}, S: mat.NewSymDense(2, []float64{-10, 10, 10, -10})}}
	if _, err := large.Between(k0, mat.NewDense(1, 3, []float64{math.MaxFloat64, -math.MaxFloat64, 0})); err == nil || !strings.Contains(err.Error(), "kernels: learned kernel: it overflows float64") {
		t.Errorf("error %v does not tell of overflow", err)
	}
	for name, f := range map[string]func(){
		"empty k0":                  func() { l.Between(&mat.SymDense{}, cross) },
		"empty cross":               func() { l.Diagonal(&mat.Dense{}, diag) },
		"empty own":                 func() { l.Among(cross, &mat.SymDense{}) },
		"k0 without the support":    func() { l.Between(mat.NewSymDense(1, nil), mat.NewDense(1, 1, nil)) },
		"SqDist without its column": func() { l.SqDistBetween(mat.NewSymDense(1, nil), mat.NewDense(1, 1, nil), []float64{1}) },
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
}

// Where nothing was learned, new objects have the values that were given.
func TestKernelOfKernelValuesWithoutSupport(t *testing.T) {
	k0 := mat.NewSymDense(2, []float64{1, .2, .2, 1})
	cross, own := mat.NewDense(2, 2, []float64{.5, .1, .3, .6}), mat.NewSymDense(2, []float64{1, .4, .4, 2})
	v := valuesOf(t, KernelResult{Learned: kernels.Learned{Alpha: 1}}, k0, cross, own)
	if !mat.Equal(v.between, cross) || !mat.Equal(v.among, own) || v.sqBetween.At(1, 0) != 2-2*.3+1 || v.sqAmong.At(1, 0) != 1-2*.4+2 {
		t.Errorf("got %+v", v)
	}
}

func ExampleKernelResult_SqDistBetween() {
	// Only kernel values are known, by a Gaussian kernel of positions on a line.
	at := []float64{0, 1, 2, 5, 6, 7}
	kernel := func(x, z float64) float64 { return math.Exp(-(x - z) * (x - z) / 4) }
	k0 := mat.NewSymDense(len(at), nil)
	for i, x := range at {
		for j := range i + 1 {
			k0.SetSym(i, j, kernel(x, at[j]))
		}
	}
	links := []metric.Link{{I: 0, J: 2, Label: metric.Similar}, {I: 3, J: 5, Label: metric.Similar}, {I: 2, J: 3, Label: metric.Dissimilar}}
	l, err := FitKernel(context.Background(), k0, links, KernelParams{Gamma: 100, Upper: 0.1, Lower: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	// A new object: its kernel values with the old ones, and with itself.
	cross := mat.NewDense(1, len(at), nil)
	for j, z := range at {
		cross.Set(0, j, kernel(1.5, z))
	}
	d2, err := l.SqDistBetween(k0, cross, []float64{1})
	if err != nil {
		fmt.Println(err)
		return
	}
	before := func(j int) float64 { return 2 - 2*cross.At(0, j) }
	fmt.Printf("to object 0: %.2f, before %.2f; to object 3: %.2f, before %.2f\n", d2.At(0, 0), before(0), d2.At(0, 3), before(3))
	// Output:
	// to object 0: 0.13, before 0.86; to object 3: 2.31, before 1.91
}
