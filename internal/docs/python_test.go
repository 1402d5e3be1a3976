package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

var update = flag.Bool("update", false, "rewrite python/testdata")

// neighbours is python/testdata/neighbours.json: what python/test_pymetriclab.py compares with.
type neighbours struct {
	Train   [][]float64 `json:"train"`
	Labels  []int       `json:"labels"`
	Queries [][]float64 `json:"queries"`
	Cases   []struct {
		K     int     `json:"k"`
		Index [][]int `json:"index"`
		Class []int   `json:"class"`
		Last  []int   `json:"last"` // of a draw, the last class
	} `json:"cases"`
}

// TestPythonNeighbours holds python/testdata to nearest.KNN and Voters: rows on a grid, so that distances and votes tie, some of them moved by less than the
// tolerance of a tie.
func TestPythonNeighbours(t *testing.T) {
	m := metric.FromFactor(mat.NewDense(2, 3, []float64{1, 0, 0.5, 0, 2, -0.5}))
	rng := rand.New(rand.NewPCG(21, 6))
	var f neighbours
	rows := func(n int) (out [][]float64) {
		for range n {
			row := make([]float64, 3)
			for j := range row {
				row[j] = float64(rng.IntN(4))
				if rng.IntN(4) == 0 {
					row[j] *= 1 + 0x1p-52
				}
			}
			out = append(out, row)
		}
		return out
	}
	f.Train, f.Queries = rows(60), rows(40)
	for range f.Train {
		f.Labels = append(f.Labels, rng.IntN(4))
	}
	dense := func(rows [][]float64) *mat.Dense {
		x := mat.NewDense(len(rows), 3, nil)
		for i, row := range rows {
			x.SetRow(i, row)
		}
		return x
	}
	knn, err := nearest.NewKNN(m, dense(f.Train), f.Labels, nearest.KNNOptions{})
	if err != nil {
		t.Fatal(err)
	}
	voters, err := nearest.NewVoters(m, dense(f.Train), f.Labels)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{1, 2, 3, 4, 7, 60} {
		found, err := knn.Neighbours(context.Background(), dense(f.Queries), k)
		if err != nil {
			t.Fatal(err)
		}
		index := make([][]int, len(found))
		for i := range found {
			for _, n := range found[i] {
				index[i] = append(index[i], n.Index)
			}
		}
		elected, err := voters.Elect(context.Background(), dense(f.Queries), k)
		if err != nil {
			t.Fatal(err)
		}
		var class, last []int
		for _, e := range elected {
			class, last = append(class, e.Labels[0]), append(last, e.Labels[len(e.Labels)-1])
		}
		f.Cases = append(f.Cases, struct {
			K     int     `json:"k"`
			Index [][]int `json:"index"`
			Class []int   `json:"class"`
			Last  []int   `json:"last"` // of a draw, the last class
		}{k, index, class, last})
	}
	want, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"neighbours.json": append(want, '\n'), "metric.json": persisttest.Saved(m)} {
		path := filepath.Join("..", "..", "python", "testdata", name)
		if *update {
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s is not what Go makes of it (error %v): run go test ./internal/docs -run Python -update, and change python/pymetriclab/_models.py to match", path, err)
		}
	}
}
