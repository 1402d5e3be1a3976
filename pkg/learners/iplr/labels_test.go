package iplr

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// FitLabels is Fit on what the packages below draw, for every basis, and the same on sparse rows.
func TestLabels(t *testing.T) {
	x, s, y, _ := sparseProblem(8, 40, 25, 0.3, 1)
	source := func() *rand.Rand { return rand.New(rand.NewPCG(5, 6)) }
	for rule := BasisClasses; rule <= BasisCoefficients; rule++ {
		for _, k := range []int{0, 2, 7} {
			p := LabelParams{Params: Params{MaxCycles: 20, Gamma: 0.1}, Basis: rule, K: k, Links: 30, BoundPairs: 200}
			got := must(FitLabels(t.Context(), source(), x, y, p))
			rng := source()
			links := must(sample.EachClassLinks(rng, y, 30))
			upper, lower, err := itml.BoundParams{}.Of(x, must(sample.RandomLinks(rng, y, 200)), metric.Euclidean{})
			if err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				k = 3
			}
			var b *Basis
			switch rule {
			case BasisClasses:
				b = must(ClassBasis(t.Context(), rng, x, y, ClassParams{K: k}))
			case BasisRandomClasses:
				b = must(ClassBasis(t.Context(), rng, x, y, ClassParams{K: k, Few: FewRandom}))
			case BasisSingular:
				b = must(SingularBasis(t.Context(), x, k))
			case BasisKMeans:
				b = must(KMeansBasis(t.Context(), rng, x, k))
			case BasisRows:
				b = must(CombinedBasis(t.Context(), x, RandomColumns(rng, 40, k)))
			case BasisCoefficients:
				b = must(CombinedBasis(t.Context(), x, RandomCoefficients(rng, 40, k)))
			}
			want := must(Fit(t.Context(), x, b, links, Params{MaxCycles: 20, Gamma: 0.1, Upper: upper, Lower: lower}))
			if !reflect.DeepEqual(got, want) || !mat.Equal(got.Basis.u, b.u) || got.Links != len(links) {
				t.Errorf("%v, k = %d: not the fit of its parts", rule, k)
			}
			few := must(FitLabels(t.Context(), source(), s, y, p))
			for i := range 40 {
				a, b := few.Metric.SqDistSparse(s.Row(i), s.Row(0)), got.Metric.SqDist(x.RawRowView(i), x.RawRowView(0))
				if d := a - b; d > 1e-10*b || d < -1e-10*b {
					t.Errorf("%v, k = %d: sparse rows: squared distance %v, want %v", rule, k, a, b)
				}
			}
		}
	}
}

// Classes of one row, rows of zeros and vectors in the span of others do no harm; what cannot be fitted is said.
func TestLabelsOfOddData(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(7, 3, []float64{1, 0, 2, 1.5, 0, 2.5, 0, 0, 0, 0, 0, 0, 3, 0, 1, 3.5, 0, 0.5, 9, 0, 9})
	y := []int{0, 0, 0, 1, 1, 1, 2} // class 2 has one row, and the second feature is constant
	sp := must(sparse.Compress(x))
	for _, x := range []mat.Matrix{x, sp} {
		r, err := FitLabels(t.Context(), rng, x, y, LabelParams{})
		if err != nil || r.Basis.Asked() != 3 || r.Basis.Rank() != 2 {
			t.Errorf("%d of %d vectors, error %v, want 2 of 3", r.Basis.Rank(), r.Basis.Asked(), err)
		}
		for want, c := range map[string]struct {
			y []int
			p LabelParams
		}{
			"iplr: labels: 1 class, want at least 2":              {make([]int, 7), LabelParams{}},
			"iplr: y: 2 classes for 7 rows":                       {[]int{0, 1}, LabelParams{}},
			"k: 8 is not allowed":                                 {y, LabelParams{K: 8}},
			"want 1 to min(n, d) = 3":                             {y, LabelParams{Basis: BasisSingular, K: 4}},
			"basis: 9 is not allowed":                             {y, LabelParams{Basis: 9}},
			"links: -1 is not allowed":                            {y, LabelParams{Links: -1}},
			"bound_pairs: -1 is not allowed":                      {y, LabelParams{BoundPairs: -1}},
			"upper: 2 and lower: 1 are not allowed":               {y, LabelParams{Params: Params{Upper: 2, Lower: 1}}},
			"low: 60 and high: 50 are not allowed":                {y, LabelParams{Params: Params{Bounds: itml.BoundParams{Low: 60, High: 50}}}},
			"upper 2 and lower 2, by percentiles 1 and 99":        {},
			"iplr: basis: all vectors are zero, want one that is": {},
		} {
			z := x
			if c.y == nil {
				equal := mat.NewDense(4, 3, []float64{1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0})
				c.y, c.p = []int{0, 0, 1, 1}, LabelParams{}
				if strings.Contains(want, "zero") { // opposite rows, whose means vanish
					equal = mat.NewDense(4, 3, []float64{1, 0, 0, -1, 0, 0, 0, 3, 0, 0, -3, 0})
				}
				if z = equal; x == mat.Matrix(sp) {
					z = must(sparse.Compress(equal))
				}
			}
			if _, err := FitLabels(t.Context(), rng, z, c.y, c.p); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		}
	}
}

func ExampleFitLabels() {
	// Documents as counts of five words, most of them 0; the last word tells nothing.
	x, err := sparse.NewMatrix([]sparse.Vector{
		{Index: []int{0, 1, 4}, Value: []float64{2, 1, 1}}, {Index: []int{0}, Value: []float64{1}}, {Index: []int{1, 4}, Value: []float64{2, 3}},
		{Index: []int{2, 4}, Value: []float64{1, 2}}, {Index: []int{2, 3}, Value: []float64{1, 2}}, {Index: []int{3}, Value: []float64{2}},
	}, 5)
	if err != nil {
		fmt.Println(err)
		return
	}
	y := []int{0, 0, 0, 1, 1, 1}
	r, err := FitLabels(context.Background(), rand.New(rand.NewPCG(1, 2)), x, y, LabelParams{Params: Params{Gamma: 10, Upper: 2, Lower: 12}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, rank %d, %d links\n", r.Status, r.Metric.Rank(), r.Links)
	for _, l := range [][2]int{{1, 2}, {0, 4}} {
		a, b := x.Row(l[0]), x.Row(l[1])
		fmt.Printf("rows %d and %d: %.1f before, %.1f after\n", l[0], l[1], a.SqDist(b), r.Metric.SqDistSparse(a, b))
	}
	// Output:
	// converged, rank 2, 24 links
	// rows 1 and 2: 14.0 before, 7.5 after
	// rows 0 and 4: 11.0 before, 12.1 after
}

// RowsBasis makes the bases of the functions named like the rules, and no others.
func TestRowsBasis(t *testing.T) {
	ctx, x := context.Background(), mat.NewDense(4, 3, []float64{1, 0, 2, 0, 3, 1, 2, 2, 0, 1, 1, 4})
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 0)) }
	for rule, want := range map[BasisRule]func() (*Basis, error){
		BasisSingular: func() (*Basis, error) { return SingularBasis(ctx, x, 2) },
		BasisKMeans:   func() (*Basis, error) { return KMeansBasis(ctx, rng(), x, 2) },
		BasisRows:     func() (*Basis, error) { return CombinedBasis(ctx, x, RandomColumns(rng(), 4, 2)) },
	} {
		got, err := LabelParams{Basis: rule, K: 2}.RowsBasis(ctx, rng(), x)
		b, wantErr := want()
		if err != nil || wantErr != nil || !mat.Equal(got.Vectors(), b.Vectors()) {
			t.Errorf("%v: another basis, errors %v, %v", rule, err, wantErr)
		}
		for _, k := range []int{0, 5} {
			if _, err := (LabelParams{Basis: rule, K: k}).RowsBasis(ctx, rng(), x); err == nil || !strings.Contains(err.Error(), "want 1 to") {
				t.Errorf("%v: %d vectors: error %v", rule, k, err)
			}
		}
	}
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "classes needs classes") {
			t.Errorf("panic %q", got)
		}
	}()
	_, _ = LabelParams{K: 2}.RowsBasis(ctx, rng(), x)
}
