package datasets_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
)

func realSet(t *testing.T, name string) *datasets.Set {
	t.Helper()
	s, err := realdata.Store(t, name).Set(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func counts(s *datasets.Set) []int {
	out := make([]int, 1+slices.Max(s.Y))
	for _, y := range s.Y {
		out[y]++
	}
	return out
}

// TestRealSets compares the sets with their documentation, five of them also with
// Table 1 of Perez-Suay and Ferri (2013).
func TestRealSets(t *testing.T) {
	two := slices.Repeat([]int{200}, 10)
	for name, want := range map[string]struct {
		d      int
		counts []int
		lo, hi float64
	}{
		"wine":          {13, []int{59, 71, 48}, 0.13, 1680},
		"iris":          {4, []int{50, 50, 50}, 0.1, 7.9},
		"ionosphere":    {34, []int{225, 126}, -1, 1},
		"balance-scale": {4, []int{288, 49, 288}, 1, 5},
		"soybean-large": {35, []int{40, 20, 10, 10, 40, 20, 10, 10, 10, 40, 10, 16, 10, 10, 10}, 0, 6},
		"pendigits":     {16, []int{1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055}, 0, 100},
		"usps":          {256, []int{1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821}, -1, 1},
		"nist16":        {256, two, 0, 144},
		"mfeat":         {111, two, -16.45930481, 777.86182699},
	} {
		t.Run(name, func(t *testing.T) {
			s := realSet(t, name)
			if got := counts(s); s.Dim() != want.d || !slices.Equal(got, want.counts) || s.N() != len(s.Y) {
				t.Errorf("%d features, counts %v, want %d, %v", s.Dim(), got, want.d, want.counts)
			}
			if lo, hi := mat.Min(s.X), mat.Max(s.X); lo != want.lo || hi != want.hi {
				t.Errorf("values are in [%v, %v], want [%v, %v]", lo, hi, want.lo, want.hi)
			}
			if s.Classes != nil && len(s.Classes) != len(want.counts) {
				t.Errorf("classes %q", s.Classes)
			}
		})
	}
	if len(datasets.SetNames()) != 9 {
		t.Errorf("names are %q", datasets.SetNames())
	}
}

func TestRealIonosphereIsConstantInColumn2(t *testing.T) {
	s := realSet(t, "ionosphere")
	if _, constant, err := datasets.FitScaler(s.X, datasets.ZScore, false); err != nil || !slices.Equal(constant, []int{1}) {
		t.Errorf("constant columns %v, error %v", constant, err)
	}
}

// Three rows stand twice, always in one class: a distance of 0 between a training and
// a test row, or between the rows of a pair, can occur.
func TestRealSoybeanDuplicates(t *testing.T) {
	s := realSet(t, "soybean-large")
	first := map[string]int{}
	var twice []string
	for i := range s.N() {
		row := fmt.Sprint(s.X.RawRowView(i))
		if j, ok := first[row]; ok {
			twice = append(twice, s.Classes[s.Y[i]]+" "+s.Classes[s.Y[j]])
		}
		first[row] = i
	}
	want := []string{"brown-stem-rot brown-stem-rot", "brown-spot brown-spot", "alternarialeaf-spot alternarialeaf-spot"}
	if !slices.Equal(twice, want) {
		t.Errorf("equal rows: %q, want %q", twice, want)
	}
}

// A digit is upright and not mirrored if it is read row by row. Then the mean image
// of the digit 7 has most ink in its top rows; that of the digit 4 has more on its
// right than on its left in the lower half.
func TestRealNIST16IsStoredByRows(t *testing.T) {
	s := realSet(t, "nist16")
	if s.Height != 16 || s.Width != 16 {
		t.Fatalf("images of %d×%d", s.Height, s.Width)
	}
	ink := func(digit, top, bottom, left, right int) float64 {
		var sum float64
		for i, y := range s.Y {
			if y != digit {
				continue
			}
			for r := top; r < bottom; r++ {
				sum += floats.Sum(s.X.RawRowView(i)[r*16+left : r*16+right])
			}
		}
		return sum
	}
	if top, bottom := ink(7, 0, 8, 0, 16), ink(7, 8, 16, 0, 16); top <= 1.2*bottom {
		t.Errorf("digit 7 has ink %v in its upper half, %v in its lower half", top, bottom)
	}
	if left, right := ink(4, 8, 16, 0, 8), ink(4, 8, 16, 8, 16); right <= 1.2*left {
		t.Errorf("digit 4 has ink %v at its lower left, %v at its lower right", left, right)
	}
}

// The first of 64 Karhunen-Loève coefficients varies fifty times as much as the last,
// where a file read row by row would mix them; single numbers are those of another
// reader.
func TestRealMfeatColumns(t *testing.T) {
	s := realSet(t, "mfeat")
	variance := func(j int) float64 { return stat.PopVariance(mat.Col(nil, j, s.X), nil) }
	if first, last := variance(0), variance(63); first < 50*last {
		t.Errorf("variances are %v and %v", first, last)
	}
	for _, want := range []struct {
		i, j int
		v    float64
	}{{0, 0, -10.29700756}, {1, 0, -5.03600883}, {0, 1, -11.66678905}, {1999, 63, 0.04036858}, {0, 64, 0.01103274}, {1, 64, 0.03827074}, {1999, 110, 408.1714145}} {
		if got := s.X.At(want.i, want.j); got != want.v {
			t.Errorf("number %d, %d is %v, want %v", want.i, want.j, got, want.v)
		}
	}
}

func ExampleStore_Set() {
	s, err := datasets.Open("no-such-folder").Set("ionosphere")
	fmt.Println(s, filepath.ToSlash(err.Error())) // the path is one of this system
	// Output: <nil> datasets: no-such-folder/uci/ionosphere.data is missing; get it with: metriclab data get ionosphere   (or ./download.sh ionosphere)
}

// BenchmarkStoreSet loads each set from its files.
func BenchmarkStoreSet(b *testing.B) {
	for _, name := range datasets.SetNames() {
		store := realdata.Store(b, name)
		b.Run("alg=Store.Set/set="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := datasets.Open(store.Dir()).Set(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// No column of a set is constant but for round-off in any 10 rows or more, so that what FitScaler makes of such a column changes no published
// result. In m rows with a deviation of at most m·ε·|mean| all values lie within 2√m deviations of each other.
func TestRealSetsAreNotConstantByRoundOff(t *testing.T) {
	const epsilon = 1.0 / (1 << 52)
	for _, name := range datasets.SetNames() {
		s := realSet(t, name)
		m := float64(s.N())
		for j := range s.Dim() {
			column := mat.Col(nil, j, s.X)
			slices.Sort(column)
			within := 2 * math.Pow(m, 1.5) * epsilon * max(-column[0], column[len(column)-1])
			for i := 9; i < len(column); i++ {
				if column[i] != column[i-9] && column[i]-column[i-9] <= within {
					t.Errorf("%s, column %d: %v to %v", name, j, column[i-9], column[i])
				}
			}
		}
	}
}
