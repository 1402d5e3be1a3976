package iplr

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrixtest"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/cluster"
)

func source() *rand.Rand { return rand.New(rand.NewPCG(31, 7)) }

// projector returns UUᵀ.
func projector(b *Basis) *mat.Dense {
	var p mat.Dense
	p.Mul(b.u.T(), b.u)
	return &p
}

// checkOrthonormal reports through t where rows of a basis are not orthonormal.
func checkOrthonormal(t *testing.T, b *Basis) {
	t.Helper()
	var g mat.Dense
	g.Mul(b.u, b.u.T())
	if d := matrixtest.Distance(&g, matrixtest.Identity(b.Rank())); d > 1e-13 {
		t.Errorf("UᵀU is off by %g", d)
	}
}

// The basis is orthonormal and spans its vectors, whatever their lengths and however near to dependent.
func TestNewBasis(t *testing.T) {
	for _, eps := range []float64{1, 1e-3, 1e-6, 1e-7} {
		r := normal(1, 4, 6)
		for j := range 6 {
			r.Set(1, j, r.At(0, j)+eps*r.At(1, j))
			r.Set(2, j, 1e-300*r.At(2, j))
			r.Set(3, j, 1e300*r.At(3, j))
		}
		b := must(NewBasis(t.Context(), r))
		if b.Rank() != 4 {
			t.Errorf("ε = %g: rank %d", eps, b.Rank())
		}
		checkOrthonormal(t, b)
		for i := range 4 {
			v := mat.NewVecDense(6, slices.Clone(r.RawRowView(i)))
			v.ScaleVec(1/mat.Norm(v, math.Inf(1)), v)
			var p mat.VecDense
			p.MulVec(projector(b), v)
			if d := matrixtest.Distance(&p, v); d > 1e-12/eps {
				t.Errorf("ε = %g: vector %d is %g outside the span", eps, i, d)
			}
		}
	}
	more := must(NewBasis(t.Context(), normal(2, 9, 4)))
	if more.Rank() != 4 || more.Asked() != 9 {
		t.Errorf("9 vectors in 4 dimensions: rank %d", more.Rank())
	}
	checkOrthonormal(t, more)
	for name, c := range map[string]struct {
		r    mat.Matrix
		want string
	}{
		"zero": {mat.NewDense(2, 3, nil), "all vectors are zero"},
		"NaN":  {mat.NewDense(1, 2, []float64{1, math.NaN()}), "row 0, column 1: NaN"},
	} {
		if _, err := NewBasis(t.Context(), c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Singular vectors are those of the SVD, by each way to find them.
func TestSingularBasis(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{20, 6, 3}, {6, 20, 3}, {7, 7, 7}, {400, 350, 5}, {350, 400, 5}} {
		x := normal(3, c.n, c.d)
		for i := range c.n { // singular values apart
			for j := range c.d {
				x.Set(i, j, x.At(i, j)*math.Exp(-float64(j)/3))
			}
		}
		b := must(SingularBasis(t.Context(), x, c.k))
		checkOrthonormal(t, b)
		var svd mat.SVD
		svd.Factorize(x, mat.SVDThin)
		var v mat.Dense
		svd.VTo(&v)
		for i := range c.k {
			if p := mat.Dot(mat.NewVecDense(c.d, b.u.RawRowView(i)), v.ColView(i)); math.Abs(math.Abs(p)-1) > 1e-9 {
				t.Errorf("%d×%d: vector %d has the product %v with that of the SVD", c.n, c.d, i, p)
			}
		}
	}
	flat := mat.NewDense(5, 4, nil)
	for i := range 5 {
		flat.Set(i, 1, 1e-200*float64(i))
		flat.Set(i, 2, 1e-200)
	}
	if b := must(SingularBasis(t.Context(), flat, 4)); b.Rank() != 2 || b.Asked() != 4 {
		t.Errorf("rank %d of %d, want 2 of 4", b.Rank(), b.Asked())
	}
	for k, want := range map[int]string{0: "k: 0", 5: "want 1 to min(n, d) = 4"} {
		if _, err := SingularBasis(t.Context(), flat, k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("k = %d: error %v", k, err)
		}
	}
	if _, err := SingularBasis(t.Context(), mat.NewDense(3, 3, nil), 1); err == nil || !strings.Contains(err.Error(), "x is zero") {
		t.Errorf("zero: error %v", err)
	}
}

// quotas share clusters evenly, as far as classes have rows.
func TestQuotas(t *testing.T) {
	sizes := func(n ...int) [][]int {
		g := make([][]int, len(n))
		for i, s := range n {
			g[i] = make([]int, s)
		}
		return g
	}
	for _, c := range []struct {
		groups [][]int
		k      int
		want   []int
	}{
		{sizes(10, 10, 10), 9, []int{3, 3, 3}},
		{sizes(10, 12, 11), 8, []int{2, 3, 3}},
		{sizes(5, 5, 5), 4, []int{2, 1, 1}},
		{sizes(1, 9, 2), 9, []int{1, 6, 2}},
		{sizes(1, 2), 3, []int{1, 2}},
	} {
		if got := quotas(c.groups, c.k); !slices.Equal(got, c.want) {
			t.Errorf("%d clusters: %v, want %v", c.k, got, c.want)
		}
	}
}

func TestClassBasis(t *testing.T) {
	x, y, _ := problem(50, 30, 8, 1)
	for i := range y {
		y[i] = 10 * y[i]
	}
	means := must(MeansBasis(t.Context(), x, y))
	if d := matrixtest.Distance(projector(must(ClassBasis(t.Context(), source(), x, y, ClassParams{K: 3}))), projector(means)); d != 0 {
		t.Errorf("k = c: off the means by %g", d)
	}
	for k := 1; k <= 8; k++ {
		b := must(ClassBasis(t.Context(), source(), x, y, ClassParams{K: k, Starts: 2}))
		checkOrthonormal(t, b)
		if again := must(ClassBasis(t.Context(), source(), x, y, ClassParams{K: k, Starts: 2})); b.Rank() != k || !mat.Equal(b.u, again.u) {
			t.Errorf("k = %d: rank %d, or not the same again", k, b.Rank())
		}
	}
	// One vector of several classes: the mean of the means, or one of them.
	groups := groupsOf(y)
	m := must(meansOf(rows{dense: x}, groups))
	one := must(ClassBasis(t.Context(), source(), x, y, ClassParams{K: 1}))
	if d := matrixtest.Distance(projector(one), projector(must(NewBasis(t.Context(), must(meansOf(rows{dense: m}, [][]int{{0, 1, 2}})))))); d > 1e-12 {
		t.Errorf("clustered: off the mean of the means by %g", d)
	}
	rng := source()
	var seen [3]bool
	for range 40 {
		p := projector(must(ClassBasis(t.Context(), rng, x, y, ClassParams{K: 1, Few: FewRandom})))
		found := false
		for c := range 3 {
			if matrixtest.Distance(p, projector(must(NewBasis(t.Context(), m.Slice(c, c+1, 0, 8))))) < 1e-12 {
				found, seen[c] = true, true
			}
		}
		if !found {
			t.Fatal("random: no class mean")
		}
	}
	if seen != [3]bool{true, true, true} {
		t.Errorf("random: classes %v of 40 draws", seen)
	}
	// Clusters are within classes: with rows e_i a centre has entries of one class only.
	unit := mat.NewDense(12, 12, nil)
	class := make([]int, 12)
	for i := range 12 {
		unit.Set(i, i, 1)
		class[i] = i % 2
	}
	b := must(ClassBasis(t.Context(), source(), unit, class, ClassParams{K: 6}))
	for i := range b.Rank() {
		var of [2]float64
		for j, v := range b.u.RawRowView(i) {
			of[j%2] += math.Abs(v)
		}
		if min(of[0], of[1]) > 1e-12 {
			t.Errorf("vector %d mixes classes: %v", i, b.u.RawRowView(i))
		}
	}
	// Duplicates, one class, k = n.
	same := mat.NewDense(6, 3, []float64{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 0, 1, 0, 0, 1, 0})
	for k, rank := range map[int]int{1: 1, 2: 2, 4: 2, 6: 2} {
		if b := must(ClassBasis(t.Context(), source(), same, []int{0, 0, 0, 0, 1, 1}, ClassParams{K: k})); b.Rank() != rank || b.Asked() != k {
			t.Errorf("duplicates, k = %d: rank %d of %d", k, b.Rank(), b.Asked())
		}
	}
	if b := must(ClassBasis(t.Context(), source(), x, make([]int, 30), ClassParams{K: 4})); b.Rank() != 4 {
		t.Errorf("one class: rank %d", b.Rank())
	}
	for name, c := range map[string]struct {
		y    []int
		p    ClassParams
		want string
	}{
		"k = 0":    {y, ClassParams{}, "k: 0 is not allowed"},
		"k > n":    {y, ClassParams{K: 31}, "k: 31 is not allowed"},
		"few":      {y, ClassParams{K: 1, Few: 7}, "few: 7"},
		"classes":  {y[:4], ClassParams{K: 2}, "y: 4 classes for 30 rows"},
		"starts":   {y, ClassParams{K: 2, Starts: -1}, "starts: -1"},
		"no class": {nil, ClassParams{K: 2}, "y: 0 classes for 30 rows"},
	} {
		if _, err := ClassBasis(t.Context(), source(), x, c.y, c.p); err == nil || !strings.HasPrefix(err.Error(), "iplr: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestKMeansBasis(t *testing.T) {
	x, _, _ := problem(51, 40, 5, 1)
	b := must(KMeansBasis(t.Context(), source(), x, 4))
	km := must(cluster.FitKMeans(t.Context(), source(), x, cluster.KMeansParams{K: 4}))
	if d := matrixtest.Distance(projector(b), projector(must(NewBasis(t.Context(), km.Centres)))); d != 0 {
		t.Errorf("off the centres by %g", d)
	}
	if _, err := KMeansBasis(t.Context(), source(), x, 41); err == nil || !strings.Contains(err.Error(), "k: 41") {
		t.Errorf("k > n: error %v", err)
	}
	// Any J of the objects gives the same basis as its combinations.
	j := MeanCoefficients(km.Assignment)
	if d := matrixtest.Distance(projector(b), projector(must(CombinedBasis(t.Context(), x, j)))); d > 1e-10 {
		t.Errorf("J of the assignment: off by %g", d)
	}
	if _, err := CombinedBasis(t.Context(), x, normal(1, 39, 2)); err == nil || !strings.Contains(err.Error(), "39 rows, want 40") {
		t.Errorf("rows: error %v", err)
	}
}

// Kernel k-means with a linear kernel is k-means, and both kernel clusterings find clusters that are plain.
func TestKernelClusters(t *testing.T) {
	x := mat.NewDense(30, 2, nil)
	rng := source()
	for i := range 30 {
		x.Set(i, 0, 10*float64(i%3)+rng.NormFloat64())
		x.Set(i, 1, 10*float64(i%3%2)+rng.NormFloat64())
	}
	groups := make([]int, 30)
	for i := range groups {
		groups[i] = i % 3
	}
	want := MeanCoefficients(groups)
	match := func(j *mat.Dense) bool { // up to the order of columns
		var a, b mat.Dense
		a.Mul(j, j.T())
		b.Mul(want, want.T())
		return mat.EqualApprox(&a, &b, 1e-14)
	}
	linear, gauss := kernels.Gram(kernels.Linear{}, x), kernels.Gram(must(kernels.NewGaussian(0.05)), x)
	for _, apart := range []bool{false, true} {
		if apart {
			abandon.Always(t)
		}
		for name, j := range map[string]*mat.Dense{
			"k-means, linear": must(KernelKMeans(t.Context(), source(), linear, 3)),
			"spectral":        must(SpectralClusters(t.Context(), source(), gauss, 3)),
		} {
			if !match(j) {
				t.Errorf("%s: other clusters than those of the data", name)
			}
		}
	}
	found := 0
	for seed := range uint64(20) { // one start each, which k-means++ may draw badly
		if match(must(KernelKMeans(t.Context(), rand.New(rand.NewPCG(seed, 3)), gauss, 3))) {
			found++
		}
	}
	if found < 15 {
		t.Errorf("kernel k-means with a Gaussian kernel: the clusters of the data %d times of 20", found)
	}
	// An isolated object, one object, duplicates, all zero affinities.
	alone := mat.NewSymDense(4, []float64{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0})
	for k := 1; k <= 4; k++ {
		for name, f := range map[string]func(context.Context, *rand.Rand, mat.Symmetric, int) (*mat.Dense, error){"k-means": KernelKMeans, "spectral": SpectralClusters} {
			j, err := f(t.Context(), source(), alone, k)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if _, c := j.Dims(); c < 1 || c > k || math.Abs(mat.Sum(j)-float64(c)) > 1e-14 {
				t.Errorf("%s: %d columns for k = %d, sum %v", name, c, k, mat.Sum(j))
			}
		}
	}
	if j := must(SpectralClusters(t.Context(), source(), mat.NewSymDense(3, nil), 2)); mat.Norm(j, 1) == 0 {
		t.Error("no affinities: no cluster")
	}
	negative := mat.NewSymDense(2, []float64{1, -0.5, -0.5, 1})
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"the affinity (1, 0) is -0.5":    errOf(SpectralClusters(t.Context(), source(), negative, 1)),
		"k: 3 is not allowed":            errOf(KernelKMeans(t.Context(), source(), negative, 3)),
		"k0: it is zero":                 errOf(KernelKMeans(t.Context(), source(), mat.NewSymDense(2, nil), 1)),
		"entry (0, 0) is NaN":            errOf(KernelKMeans(t.Context(), source(), mat.NewSymDense(1, []float64{math.NaN()}), 1)),
		"not positive semi-definite":     errOf(KernelKMeans(t.Context(), source(), mat.NewSymDense(1, []float64{-1}), 1)),
		"context canceled":               errOf(SpectralClusters(done, source(), gauss, 2)),
		"entry (1, 0) is +Inf, want a f": errOf(SpectralClusters(t.Context(), source(), mat.NewSymDense(2, []float64{1, math.Inf(1), math.Inf(1), 1}), 1)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "iplr: ") || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
		if strings.HasPrefix(name, "context") && !errors.Is(err, context.Canceled) {
			t.Errorf("%v does not wrap the context's", err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }

// Random coefficients are what they say, and the same again.
func TestRandomCoefficients(t *testing.T) {
	j := RandomColumns(source(), 9, 4)
	for c := range 4 {
		col := mat.Col(nil, c, j)
		slices.Sort(col)
		if col[8] != 1 || col[7] != 0 {
			t.Errorf("column %d: %v", c, col)
		}
	}
	for i := range 9 {
		if s := mat.Sum(j.Slice(i, i+1, 0, 4)); s > 1 {
			t.Errorf("object %d is in %v columns", i, s)
		}
	}
	if !mat.Equal(j, RandomColumns(source(), 9, 4)) || !mat.Equal(RandomCoefficients(source(), 5, 2), RandomCoefficients(source(), 5, 2)) {
		t.Error("not the same again")
	}
	big := RandomCoefficients(source(), 20000, 1)
	if m, v := mat.Sum(big)/20000, mat.Dot(big.ColView(0), big.ColView(0))/20000; math.Abs(m) > 0.03 || math.Abs(v-1) > 0.05 { // 4 and 5 standard errors
		t.Errorf("mean %v, variance %v", m, v)
	}
}

func TestEnums(t *testing.T) {
	for v, want := range map[string]string{
		InfeasibleSlack.String(): "slack", InfeasibleDrop.String(): "drop", InfeasibleRule(5).String(): "unknown rule 5",
		FewClustered.String(): "clustered", FewRandom.String(): "random",
	} {
		if v != want {
			t.Errorf("%q, want %q", v, want)
		}
	}
}
