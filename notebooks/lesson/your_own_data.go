package lesson

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/synthetic"
)

// Drinks draws n cups of coffee, tea and cocoa each, as four sensors that drift together smell them, and the humidity.
func Drinks(seed uint64, n int) *datasets.Set {
	cov := mat.NewSymDense(5, nil)
	cov.SymRankOne(cov, 1, mat.NewVecDense(5, []float64{2, 1.8, 2.2, 2, 0})) // the drift
	for i, noise := range []float64{0.05, 0.05, 0.05, 0.05, 25} {
		cov.SetSym(i, i, cov.At(i, i)+noise)
	}
	s := nb.Must(synthetic.GaussianMixture(rand.New(rand.NewPCG(seed, 1)), []synthetic.Component{
		{Class: 0, N: n, Mean: []float64{20.5, 19.5, 20, 20, 50}, Cov: cov},
		{Class: 1, N: n, Mean: []float64{19.5, 20, 20.5, 20, 50}, Cov: cov},
		{Class: 2, N: n, Mean: []float64{20, 20.5, 19.5, 20, 50}, Cov: cov},
	}))
	s.Classes = []string{"coffee", "tea", "cocoa"}
	return s
}

// WriteDrinks writes drinks.csv, 40 cups of each drink with the drink in the first column, and new.csv, ten others without it.
func WriteDrinks(folder string) {
	nb.Check(os.MkdirAll(folder, 0o755))
	writeTable(filepath.Join(folder, "drinks.csv"), Drinks(1, 40), false)
	writeTable(filepath.Join(folder, "new.csv"), Drinks(2, 10), true)
}

// writeTable writes a table whose first column is the class, unless it is to be hidden.
func writeTable(name string, s *datasets.Set, hidden bool) {
	rows := [][]string{{"drink", "s1", "s2", "s3", "s4", "humidity"}}
	for i, y := range s.Y {
		row := []string{s.Classes[y]}
		for _, v := range s.X.RawRowView(i) {
			row = append(row, strconv.FormatFloat(v, 'f', 2, 64))
		}
		rows = append(rows, row)
	}
	if hidden {
		for i := range rows {
			rows[i] = rows[i][1:]
		}
	}
	f := nb.Must(os.Create(name))
	nb.Check(csv.NewWriter(f).WriteAll(rows))
	nb.Check(f.Close())
}
