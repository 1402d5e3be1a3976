package datasets_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/pkg/datasets"
)

// gaussians returns n rows of d features with means and deviations of many sizes.
func gaussians(seed uint64, n, d int) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, d, nil)
	for j := range d {
		for i := range n {
			x.Set(i, j, math.Pow(10, float64(j-2))*(3+rng.NormFloat64()))
		}
	}
	return x
}

func fitScaler(t *testing.T, x *mat.Dense, p datasets.Preprocessing, impute bool) (*datasets.Scaler, []int) {
	t.Helper()
	s, constant, err := datasets.FitScaler(x, p, impute)
	if err != nil {
		t.Fatalf("%v: %v", p, err)
	}
	return s, constant
}

// Scaled training rows have mean 0 and deviation 1, or least 0 and greatest 1, or
// are what they were; the argument stays as it is.
func TestScaler(t *testing.T) {
	const tol = 1e-13 // 50 numbers of relative error ε
	x := gaussians(1, 50, 6)
	before := mat.DenseCopyOf(x)
	for _, p := range []datasets.Preprocessing{datasets.AsIs, datasets.ZScore, datasets.MinMax} {
		s, constant := fitScaler(t, x, p, false)
		out, err := s.Apply(x)
		if err != nil || constant != nil || !mat.Equal(x, before) {
			t.Fatalf("%v: constant %v, error %v", p, constant, err)
		}
		for j := range 6 {
			col := mat.Col(nil, j, out)
			switch p {
			case datasets.AsIs:
				if !slices.Equal(col, mat.Col(nil, j, x)) {
					t.Errorf("column %d changed", j)
				}
			case datasets.ZScore:
				if mean, sd := stat.PopMeanStdDev(col, nil); math.Abs(mean) > tol || math.Abs(sd-1) > tol {
					t.Errorf("column %d has mean %v and deviation %v", j, mean, sd)
				}
			case datasets.MinMax:
				if slices.Min(col) != 0 || slices.Max(col) != 1 {
					t.Errorf("column %d is in [%v, %v], want [0, 1]", j, slices.Min(col), slices.Max(col))
				}
			}
		}
	}
}

// New rows are measured by the training rows, and leave [0, 1] if they must.
func TestScalerOfNewRows(t *testing.T) {
	train := mat.NewDense(2, 1, []float64{2, 6})
	for p, want := range map[datasets.Preprocessing]float64{datasets.AsIs: 10, datasets.ZScore: 3, datasets.MinMax: 2} {
		s, _ := fitScaler(t, train, p, false)
		if out, err := s.Apply(mat.NewDense(1, 1, []float64{10})); err != nil || out.At(0, 0) != want {
			t.Errorf("%v: got %v, want %v, error %v", p, out, want, err)
		}
	}
}

// A constant feature becomes exactly 0 and moves by 1 where new rows move by 1, even
// where sums of its value round.
func TestScalerConstant(t *testing.T) {
	x := gaussians(2, 33, 3)
	for i := range 33 {
		x.Set(i, 1, 0.1)
	}
	for _, p := range []datasets.Preprocessing{datasets.ZScore, datasets.MinMax} {
		s, constant := fitScaler(t, x, p, false)
		if !slices.Equal(constant, []int{1}) {
			t.Errorf("%v: constant %v, want column 1", p, constant)
		}
		out, err := s.Apply(x)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if mat.Norm(out.ColView(1), 1) != 0 {
			t.Errorf("%v: a constant column became %v", p, mat.Formatted(out.ColView(1).T()))
		}
		if out, err := s.Apply(mat.NewDense(1, 3, []float64{0, 1.1, 0})); err != nil || out.At(0, 1) != 1 {
			t.Errorf("%v: got %v, error %v", p, out, err)
		}
	}
	// One value, computed in two ways: half of the cells are off by a unit in the last place.
	for _, unit := range []float64{1, -1, 1e-200, 1e150} {
		almost := mat.NewDense(8, 1, nil)
		for i := range 8 {
			almost.Set(i, 0, []float64{0.3 * unit, math.Nextafter(0.3*unit, unit)}[i%2])
		}
		for _, p := range []datasets.Preprocessing{datasets.ZScore, datasets.MinMax} {
			if s, constant := fitScaler(t, almost, p, false); s.Scale[0] != 1 || len(constant) != 1 {
				t.Errorf("%v, %v: scale %v, constant %v", p, unit, s.Scale, constant)
			}
		}
		almost.Set(0, 0, 0.3*unit*(1+1e-13)) // more than round-off
		if s, constant := fitScaler(t, almost, datasets.ZScore, false); s.Scale[0] == 1 || len(constant) != 0 {
			t.Errorf("%v: scale %v, constant %v", unit, s.Scale, constant)
		}
	}
	// Squares of deviations underflow here, but the feature is not constant.
	tiny := mat.NewDense(2, 1, []float64{0, 1e-200})
	if s, constant := fitScaler(t, tiny, datasets.ZScore, false); s.Scale[0] != 5e-201 || constant != nil {
		t.Errorf("scale %v, constant %v", s.Scale, constant)
	}
	if s, constant := fitScaler(t, tiny, datasets.MinMax, false); s.Scale[0] != 1e-200 || constant != nil {
		t.Errorf("scale %v, constant %v", s.Scale, constant)
	}
}

// A missing cell becomes the mean of the others and changes neither it nor the
// range.
func TestScalerImputes(t *testing.T) {
	nan := math.NaN()
	x := mat.NewDense(4, 2, []float64{nan, 1, 2, 3, 6, nan, nan, 5})
	for p, want := range map[datasets.Preprocessing][]float64{
		datasets.AsIs:   {4, 1, 2, 3, 6, 3, 4, 5},
		datasets.ZScore: {0, -math.Sqrt2, -math.Sqrt2, 0, math.Sqrt2, 0, 0, math.Sqrt2},
		datasets.MinMax: {0.5, 0, 0, 0.5, 1, 0.5, 0.5, 1},
	} {
		s, _ := fitScaler(t, x, p, true)
		const tol = 1e-15 // two roundings
		out, err := s.Apply(x)
		if err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		if !mat.EqualApprox(out, mat.NewDense(4, 2, want), tol) {
			t.Errorf("%v: got\n%v", p, mat.Formatted(out))
		}
	}
}

func TestScalerErrors(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	column := func(v ...float64) *mat.Dense {
		x := mat.NewDense(len(v), 2, nil)
		x.SetCol(1, v)
		return x
	}
	for _, tc := range []struct {
		x      *mat.Dense
		impute bool
		want   string
	}{
		{column(1, nan, 3), false, "datasets: column 1: 1 of 3 cells are missing"},
		{column(nan, nan), true, "datasets: column 1: all 2 cells are missing"},
		{column(nan, nan), false, "datasets: column 1: all 2 cells are missing"},
		{column(1e200, -1e200), false, "datasets: column 1: the variance overflows"},
		{column(1, inf), false, "datasets: column 1: the variance overflows"},
		{column(-inf, 1), true, "datasets: column 1: the variance overflows"},
	} {
		for _, p := range []datasets.Preprocessing{datasets.AsIs, datasets.ZScore, datasets.MinMax} {
			s, _, err := datasets.FitScaler(tc.x, p, tc.impute)
			if s != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, %v: error %v, want %q", mat.Formatted(tc.x.T()), p, err, tc.want)
			}
		}
	}
	s, _ := fitScaler(t, column(1, 2), datasets.ZScore, false)
	for v, want := range map[float64]string{nan: "row 1, column 1: the cell is missing", inf: "row 1, column 1: +Inf is too large", 1.7e308: "row 1, column 1: 1.7e+308 is too large"} {
		out, err := s.Apply(column(1, v))
		e, ok := errors.AsType[*datasets.FeatureError](err)
		if out != nil || !ok || e.Row != 1 || e.Column != 1 || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", v, err, want)
		}
	}
	for name, f := range map[string]func(){
		"columns":       func() { s.Apply(mat.NewDense(1, 3, nil)) },
		"preprocessing": func() { datasets.FitScaler(column(1, 2), 7, false) },
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

func ExampleFitScaler() {
	train := mat.NewDense(3, 2, []float64{1, 7, 2, 7, 3, 7})
	test := mat.NewDense(1, 2, []float64{4, 8})
	s, constant, err := datasets.FitScaler(train, datasets.MinMax, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	scaled, err := s.Apply(test)
	fmt.Println(scaled.RawRowView(0), constant, err)
	// Output: [1.5 1] [1] <nil>
}

// Standardised features do not depend on their unit, whether or not squares of
// deviations are in range; a constant feature is found in every unit.
func TestScalerFollowsUnits(t *testing.T) {
	x := mat.NewDense(5, 2, []float64{1, 3, 2, 3, 4, 3, 8, 3, math.NaN(), 3})
	for _, p := range []datasets.Preprocessing{datasets.ZScore, datasets.MinMax} {
		s, _, err := datasets.FitScaler(x, p, true)
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{-1000, -600, -565, -498, -300, 300, 498} {
			y := mat.NewDense(5, 2, nil)
			y.Apply(func(_, _ int, a float64) float64 { return math.Ldexp(a, k) }, x)
			s, constant, err := datasets.FitScaler(y, p, true)
			if err != nil {
				t.Fatalf("%v, 2^%d: %v", p, k, err)
			}
			if !slices.Equal(constant, []int{1}) {
				t.Errorf("%v, 2^%d: constant %v, want column 1", p, k, constant)
			}
			got, err := s.Apply(y)
			if err != nil {
				t.Fatalf("%v, 2^%d: %v", p, k, err)
			}
			var off mat.Dense
			if off.Sub(got, want); !(mat.Norm(&off, 1) <= 1e-14) {
				t.Errorf("%v, 2^%d: off by %v", p, k, mat.Norm(&off, 1))
			}
		}
	}
}

// ApplyInPlace gives the bits of Apply, and its errors.
func TestScalerInPlace(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, math.NaN(), 5, 4, -1})
	for _, p := range []datasets.Preprocessing{datasets.AsIs, datasets.ZScore, datasets.MinMax} {
		s, _ := fitScaler(t, x, p, true)
		want, err := s.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		got := mat.DenseCopyOf(x)
		if err := s.ApplyInPlace(got); err != nil || !mat.Equal(got, want) {
			t.Errorf("%v: got %v, want %v, error %v", p, mat.Formatted(got), mat.Formatted(want), err)
		}
	}
	s := &datasets.Scaler{Dim: 2}
	_, want := s.Apply(x)
	if err := s.ApplyInPlace(mat.DenseCopyOf(x)); want == nil || err == nil || err.Error() != want.Error() {
		t.Errorf("error %v, want %v", err, want)
	}
	for name, do := range map[string]func(){
		"nil":         func() { _ = s.ApplyInPlace(nil) },
		"other width": func() { _ = s.ApplyInPlace(mat.NewDense(1, 3, nil)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
}
