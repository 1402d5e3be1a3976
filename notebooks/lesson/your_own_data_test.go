package lesson

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// A drink is told by which of the first three sensors smells most, beside a drift that all four share; the humidity says nothing.
func TestDrinks(t *testing.T) {
	const n = 4000
	s := Drinks(1, n)
	if rows, d := s.X.Dims(); rows != 3*n || d != 5 || !slices.Equal(s.Classes, []string{"coffee", "tea", "cocoa"}) {
		t.Fatalf("%d rows of %d columns, classes %v", rows, d, s.Classes)
	}
	if !mat.Equal(s.X, Drinks(1, n).X) || mat.Equal(s.X, Drinks(2, n).X) {
		t.Error("the seed does not say which cups")
	}
	strongest := []int{0, 2, 1} // sensor
	for class, name := range s.Classes {
		var rows []int
		for i, y := range s.Y {
			if y == class {
				rows = append(rows, i)
			}
		}
		if len(rows) != n {
			t.Fatalf("%d cups of %s", len(rows), name)
		}
		var mean, sd [5]float64
		x := s.Rows(rows)
		for j := range mean {
			mean[j], sd[j] = stat.MeanStdDev(mat.Col(nil, j, x), nil)
		}
		// 0.16 is five standard errors of a mean; the largest is 0.5 above the next.
		if top := strongest[class]; math.Abs(mean[top]-20.5) > 0.16 || slices.Max(mean[:4]) != mean[top] || math.Abs(mean[4]-50) > 0.4 {
			t.Errorf("%s: means %.2f", name, mean)
		}
		drift := stat.Correlation(mat.Col(nil, 0, x), mat.Col(nil, 3, x), nil)
		humidity := stat.Correlation(mat.Col(nil, 0, x), mat.Col(nil, 4, x), nil)
		if drift < 0.95 || math.Abs(humidity) > 0.1 || math.Abs(sd[4]-5) > 0.3 {
			t.Errorf("%s: correlation of sensors 1 and 4 %.2f, with the humidity %.2f, whose standard deviation is %.2f", name, drift, humidity, sd[4])
		}
	}
}

func TestWriteDrinks(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "made")
	WriteDrinks(folder)
	for name, want := range map[string]struct {
		header []string
		rows   int
	}{"drinks.csv": {[]string{"drink", "s1", "s2", "s3", "s4", "humidity"}, 120}, "new.csv": {[]string{"s1", "s2", "s3", "s4", "humidity"}, 30}} {
		f, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil || len(rows) != 1+want.rows || !slices.Equal(rows[0], want.header) {
			t.Errorf("%s: %d rows, the first %v (error %v)", name, len(rows), rows[0], err)
		}
	}
}
