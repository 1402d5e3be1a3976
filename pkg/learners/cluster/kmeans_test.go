package cluster

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
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// inertiaTol bounds the round-off of a sum of up to 200 squares, relative.
const inertiaTol = 1e-12

// groups returns n rows around the given number of random means.
func groups(rng *rand.Rand, n, d, k int, apart float64) *mat.Dense {
	means := mat.NewDense(k, d, nil)
	means.Apply(func(_, _ int, _ float64) float64 { return apart * rng.NormFloat64() }, means)
	x := mat.NewDense(n, d, nil)
	x.Apply(func(i, j int, _ float64) float64 { return means.At(i%k, j) + rng.NormFloat64() }, x)
	return x
}

// repeated returns n rows of which only the given number are different.
func repeated(rng *rand.Rand, n, d, different int) *mat.Dense {
	z := groups(rng, different, d, 1, 0)
	x := mat.NewDense(n, d, nil)
	for i := range n {
		x.SetRow(i, z.RawRowView(i%different))
	}
	return x
}

// gridded rounds entries to whole numbers, so that distances tie.
func gridded(x *mat.Dense) *mat.Dense {
	x.Apply(func(_, _ int, v float64) float64 { return math.Round(v) }, x)
	return x
}

type rowCase struct {
	name string
	x    *mat.Dense
	k    int
}

func rowCases() []rowCase {
	rng := rand.New(rand.NewPCG(61, 1))
	flat := groups(rng, 40, 4, 2, 3)
	for i := range 40 {
		flat.Set(i, 2, 7) // a constant feature
	}
	return []rowCase{
		{"groups", groups(rng, 60, 3, 4, 5), 4},
		{"overlapping", groups(rng, 100, 2, 3, 1), 5},
		{"line", groups(rng, 30, 1, 3, 2), 3},
		{"wide", groups(rng, 12, 30, 3, 1), 4},
		{"grid", gridded(groups(rng, 60, 2, 2, 1)), 6},
		{"constant feature", flat, 3},
		{"repeated", repeated(rng, 40, 3, 5), 5},
		{"fewer different rows than k", repeated(rng, 30, 3, 3), 6},
		{"every row", groups(rng, 10, 2, 2, 2), 10},
		{"one cluster", groups(rng, 20, 3, 2, 2), 1},
		{"one row", groups(rng, 1, 3, 1, 2), 1},
	}
}

// checkKMeans checks a converged result against the definitions.
func checkKMeans(t *testing.T, name string, x *mat.Dense, r *KMeans) {
	t.Helper()
	n, d := x.Dims()
	k, _ := r.Centres.Dims()
	if r.Status != learners.Converged {
		t.Errorf("%s: status %v", name, r.Status)
	}
	if !slices.Equal(r.Assign(x), r.Assignment) {
		t.Errorf("%s: a row is not with its nearest centre", name)
	}
	var sum float64
	size := make([]int, k)
	mean := mat.NewDense(k, d, nil)
	for i, c := range r.Assignment {
		size[c]++
		for j := range d {
			mean.Set(c, j, mean.At(c, j)+x.At(i, j))
			diff := x.At(i, j) - r.Centres.At(c, j)
			sum += diff * diff
		}
	}
	if math.Abs(sum-r.Inertia) > inertiaTol*sum {
		t.Errorf("%s: inertia %v, want %v", name, r.Inertia, sum)
	}
	different := map[string]bool{}
	for i := range n {
		different[fmt.Sprint(x.RawRowView(i))] = true
	}
	for c := range k {
		if size[c] == 0 {
			if len(different) >= k {
				t.Errorf("%s: cluster %d is empty", name, c)
			}
			continue
		}
		for j := range d {
			if m := mean.At(c, j) / float64(size[c]); math.Abs(m-r.Centres.At(c, j)) > inertiaTol*(1+math.Abs(m)) {
				t.Errorf("%s: centre %d, feature %d is %v, want %v", name, c, j, r.Centres.At(c, j), m)
			}
		}
	}
	if len(different) <= k && r.Inertia != 0 {
		t.Errorf("%s: inertia %v with a centre for each different row, want 0", name, r.Inertia)
	}
}

func TestKMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 1))
	for _, c := range rowCases() {
		for range 10 {
			before := mat.DenseCopyOf(c.x)
			r, err := FitKMeans(context.Background(), rng, c.x, KMeansParams{K: c.k})
			if err != nil {
				t.Fatal(err)
			}
			checkKMeans(t, c.name, c.x, r)
			for i := 1; i < len(r.Trace); i++ {
				if r.Trace[i] > r.Trace[i-1]*(1+inertiaTol) {
					t.Errorf("%s: iteration %d raises the inertia from %v to %v", c.name, i, r.Trace[i-1], r.Trace[i])
				}
			}
			if !mat.Equal(c.x, before) {
				t.Errorf("%s: the rows have changed", c.name)
			}
		}
	}
}

// TestEmptyClusters: centres that no row is nearest to get rows, and the inertia
// still never increases.
func TestEmptyClusters(t *testing.T) {
	for _, c := range rowCases() {
		_, d := c.x.Dims()
		centres := mat.NewDense(c.k, d, nil)
		for k := range c.k {
			centres.Set(k, 0, 1000*float64(k)) // beyond all rows but for the first
		}
		_, sq := nearest(c.x, centres)
		before := 0.0
		for _, s := range sq {
			before += s
		}
		r := lloyd(context.Background(), rowsOf(c.x), centres, 300, runs{}.report)
		checkKMeans(t, c.name, c.x, r)
		for _, v := range r.Trace {
			if v > before*(1+inertiaTol) {
				t.Errorf("%s: the inertia rises from %v to %v", c.name, before, v)
			}
			before = v
		}
	}
}

// TestKMeansFindsTheOptimum compares the best of many runs with all partitions.
func TestKMeansFindsTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	for trial := range 10 {
		const n = 8
		k := 2 + trial%2
		x := groups(rng, n, 2, 2, 1)
		best := math.Inf(1)
		labels := make([]int, n)
		for code := range int(math.Pow(float64(k), n)) {
			for i := range labels {
				labels[i] = code % k
				code /= k
			}
			size := make([]int, k)
			for _, c := range labels {
				size[c]++
			}
			r := &KMeans{Centres: mat.NewDense(k, 2, nil), Assignment: labels}
			means(rowsOf(x), r.Centres, labels, size)
			best = min(best, rowsOf(x).inertia(r.Centres, labels))
		}
		r, err := FitKMeans(context.Background(), rng, x, KMeansParams{K: k, Starts: 60})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.Inertia-best) > inertiaTol*best {
			t.Errorf("trial %d: inertia %v, the least is %v", trial, r.Inertia, best)
		}
	}
}

// TestDraw: frequencies follow the weights. With 6e4 draws a false alarm at 5
// standard deviations has a chance of about 3e-6; the seed is fixed.
func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 1))
	const draws = 60000
	weights := []float64{0, 1, 2, 0, 3, 0}
	got := make([]int, len(weights))
	for range draws {
		got[draw(weights, rng)]++
	}
	for i, w := range weights {
		p := w / 6
		if sd := math.Sqrt(draws * p * (1 - p)); math.Abs(float64(got[i])-draws*p) > 5*sd {
			t.Errorf("weight %v: %d of %d draws", w, got[i], draws)
		}
	}
	if i := draw(make([]float64, 3), rng); i != -1 {
		t.Errorf("of zero weights %d is drawn", i)
	}
}

// TestPlusPlusSpreads: with groups far apart and one centre for each, every start
// has a row of each group: two of one group have a chance of about 1e-6 here.
func TestPlusPlusSpreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(66, 1))
	x := mat.NewDense(40, 1, nil)
	for i := range 40 {
		x.Set(i, 0, 1000*float64(i%4)+rng.Float64())
	}
	for range 100 {
		centres := plusPlus(context.Background(), rowsOf(x), 4, rng)
		var seen [4]bool
		for c := range 4 {
			seen[int(centres.At(c, 0)/1000)] = true
		}
		if seen != [4]bool{true, true, true, true} {
			t.Fatalf("centres %v", centres.RawMatrix().Data)
		}
	}
}

func TestKMeansRunsAreReproducible(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(67, 1)), 80, 3, 3, 1)
	fit := func() *KMeans {
		r, err := FitKMeans(context.Background(), rand.New(rand.NewPCG(67, 2)), x, KMeansParams{K: 4, Starts: 3})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := fit(), fit()
	if !slices.Equal(a.Centres.RawMatrix().Data, b.Centres.RawMatrix().Data) || !slices.Equal(a.Trace, b.Trace) {
		t.Error("two runs differ")
	}
	short, err := FitKMeans(context.Background(), rand.New(rand.NewPCG(67, 2)), x, KMeansParams{K: 4, MaxIterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	if short.Status != learners.IterationCap || len(short.Trace) != 1 {
		t.Errorf("one iteration: status %v, trace %v", short.Status, short.Trace)
	}
	for c, i := range a.Prototypes(x) {
		for j := range 80 {
			e := metric.Euclidean{}
			if e.SqDist(x.RawRowView(j), a.Centres.RawRowView(c)) < e.SqDist(x.RawRowView(i), a.Centres.RawRowView(c)) {
				t.Errorf("prototype %d of cluster %d: row %d is nearer", i, c, j)
			}
		}
	}
}

func TestKMeansErrors(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(68, 1)), 5, 2, 1, 1)
	with := func(v float64) *mat.Dense {
		y := mat.DenseCopyOf(x)
		y.Set(3, 1, v)
		return y
	}
	for _, c := range []struct {
		x    *mat.Dense
		p    KMeansParams
		want string
	}{
		{x, KMeansParams{}, "kmeans: k: 0 is not allowed, want an integer from 1 to 5"},
		{x, KMeansParams{K: 6}, "k: 6 is not allowed"},
		{x, KMeansParams{K: 2, Starts: -1}, "starts: -1 is not allowed"},
		{x, KMeansParams{K: 2, MaxIterations: -1}, "max_iterations: -1 is not allowed"},
		{new(mat.Dense), KMeansParams{K: 1}, "x: no rows"},
		{with(math.NaN()), KMeansParams{K: 2}, "x: row 3, column 1: NaN is not allowed"},
		{with(math.Inf(1)), KMeansParams{K: 2}, "x: row 3, column 1: +Inf is not allowed"},
		{with(1e160), KMeansParams{K: 2}, "squared distances overflow"},
	} {
		if _, err := FitKMeans(context.Background(), rand.New(rand.NewPCG(1, 1)), c.x, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
}

func ExampleFitKMeans() {
	x := mat.NewDense(5, 1, []float64{0, 1, 2, 10, 12})
	r, err := FitKMeans(context.Background(), rand.New(rand.NewPCG(1, 2)), x, KMeansParams{K: 2, Starts: 5})
	if err != nil {
		panic(err)
	}
	centres := []float64{r.Centres.At(0, 0), r.Centres.At(1, 0)}
	slices.Sort(centres)
	fmt.Println(centres, r.Inertia, r.Status)
	// Output: [1 11] 4 converged
}

func ExampleKMeansParams_Resolved() {
	fmt.Printf("%+v\n", KMeansParams{K: 3}.Resolved())
	// Output: {K:3 Starts:1 MaxIterations:300 Progress:<nil>}
}

// Rows that differ, but whose squared distances vanish in float64, are refused; equal
// rows are not.
func TestVanishingDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range []float64{1e-155, 1e-170, 1e-300} {
		x := mat.NewDense(4, 1, []float64{0, s, 5 * s, 6 * s})
		if k, err := FitKMeans(context.Background(), rng, x, KMeansParams{K: 2}); err == nil || !strings.Contains(err.Error(), "vanish in float64, though rows differ: rescale the features") {
			t.Errorf("scale %g: %+v, error %v", s, k, err)
		}
	}
	x := mat.NewDense(4, 1, []float64{0, 1e-150, 5e-150, 6e-150})
	if k, err := FitKMeans(context.Background(), rng, x, KMeansParams{K: 2, Starts: 5}); err != nil || k.Assignment[0] != k.Assignment[1] || k.Assignment[1] == k.Assignment[2] {
		t.Errorf("%+v, error %v", k, err)
	}
	if _, err := FitKMeans(context.Background(), rng, mat.NewDense(4, 1, []float64{3, 3, 3, 3}), KMeansParams{K: 2}); err != nil {
		t.Error(err)
	}
}

// Sparse rows have the clusters and centres of the same rows as a dense matrix to the bit, ties and empty clusters included.
func TestSparseKMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for trial := range 60 {
		n, d := 6+rng.IntN(40), 2+rng.IntN(30)
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				if rng.IntN(4) == 0 {
					x.Set(i, j, float64(rng.IntN(3))) // many ties and duplicates
					if trial%3 == 0 {
						x.Set(i, j, rng.NormFloat64())
					}
				}
			}
		}
		s, err := sparse.Compress(x)
		if err != nil {
			t.Fatal(err)
		}
		p := KMeansParams{K: 1 + rng.IntN(min(n, 12)), Starts: 1 + trial%3}
		fit := func(x mat.Matrix) *KMeans {
			r, err := FitKMeans(t.Context(), rand.New(rand.NewPCG(uint64(trial), 3)), x, p)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		got, want := fit(s), fit(x)
		if !slices.Equal(got.Assignment, want.Assignment) || !mat.EqualApprox(got.Centres, want.Centres, 1e-12) || got.Result != want.Result || math.Abs(got.Inertia-want.Inertia) > 1e-12*want.Inertia+1e-12 {
			t.Fatalf("trial %d: %v, inertia %v, want %v, %v", trial, got.Assignment, got.Inertia, want.Assignment, want.Inertia)
		}
	}
	for want, values := range map[string][]float64{"overflow": {1e200, 1}, "vanish": {1e-200, 2e-200}} {
		x, err := sparse.Compress(mat.NewDense(2, 1, values))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := FitKMeans(t.Context(), rng, x, KMeansParams{K: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", values, err, want)
		}
		if _, err := FitKMeans(t.Context(), rng, x, KMeansParams{K: 3}); err == nil || !strings.Contains(err.Error(), "k: 3 is not allowed") {
			t.Errorf("3 clusters of 2 rows: error %v", err)
		}
	}
}
