package vectors

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/realdata"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/protocol"
)

// The best of all permutations; and classes under other names are no error.
func TestMatching(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for range 50 {
		const k, n = 3, 40
		c := &clustering{k: k, y: make([]int, n)}
		assignment, renamed := make([]int, n), make([]int, n)
		for i := range n {
			c.y[i], assignment[i] = rng.IntN(k), rng.IntN(k)
			renamed[i] = []int{2, 0, 1}[c.y[i]]
			if i%3 > 0 {
				c.held = append(c.held, i)
			}
		}
		want := n
		for _, p := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			wrong := 0
			for _, i := range c.held {
				if p[assignment[i]] != c.y[i] {
					wrong++
				}
			}
			want = min(want, wrong)
		}
		if got := c.Wrong(assignment); got != want {
			t.Fatalf("%d wrong, want %d", got, want)
		}
		if got := c.Wrong(renamed); got != 0 {
			t.Fatalf("classes under other names: %d wrong", got)
		}
	}
}

func testClusterings(t *testing.T, dataset string) (x *mat.Dense, y []int, outer []*clustering, inner [][]*clustering) {
	t.Helper()
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(dataset), dataset))
	outer, inner, err := newClusterings(set.X, set.Y, clusterSettingsOf(experiment.Smoke), experimenttest.Seed(dataset))
	if err != nil {
		t.Fatal(err)
	}
	return set.X, set.Y, outer, inner
}

// Constraints and bounds are of training rows, and what is scored is not; all rows are
// clustered at the end, the training fold's in choosing.
func TestClusteringsAreTheProtocol(t *testing.T) {
	x, y, outer, inner := testClusterings(t, protocol.GeneratedLinear)
	for f, c := range outer {
		if n, _ := c.x.Dims(); n != len(y) || c.k != 3 {
			t.Errorf("fold %d: %d rows in %d clusters", f, n, c.k)
		}
		for _, in := range inner[f] {
			if n, _ := in.x.Dims(); n != len(c.learn) {
				t.Errorf("fold %d: %d rows of the inner cross-validation, want %d", f, n, len(c.learn))
			}
			for a := range in.y {
				if !slices.Equal(in.x.RawRowView(a), x.RawRowView(c.learn[a])) {
					t.Fatalf("fold %d: row %d of the inner cross-validation is not the training fold's", f, a)
				}
			}
		}
		for _, c := range append([]*clustering{c}, inner[f]...) {
			if n, _ := c.x.Dims(); len(c.learn)+len(c.held) != n || len(c.pairs) != len(c.learn)*(len(c.learn)-1)/2 {
				t.Errorf("fold %d: %d rows with labels, %d held out, of %d; %d pairs", f, len(c.learn), len(c.held), n, len(c.pairs))
			}
			for _, l := range slices.Concat(c.links, c.pairs) {
				if !slices.Contains(c.learn, l.I) || !slices.Contains(c.learn, l.J) || slices.Contains(c.held, l.I) || slices.Contains(c.held, l.J) {
					t.Fatalf("fold %d: pair %+v is not of rows with labels", f, l)
				}
			}
			if len(c.links) != printedConstraints || len(c.first(10)) != 10 || len(c.first(1000)) != printedConstraints {
				t.Errorf("fold %d: %d constraints, want %d", f, len(c.links), printedConstraints)
			}
			for _, l := range c.links {
				if (c.y[l.I] == c.y[l.J]) != (l.Label == metric.Similar) {
					t.Errorf("fold %d: pair %+v has the wrong label", f, l)
				}
			}
		}
	}
}

// The labels of test rows enter no choice and no clustering.
func TestTestLabelsClusterNothing(t *testing.T) {
	_, _, outer, inner := testClusterings(t, protocol.GeneratedXOR)
	s := clusterSettingsOf(experiment.Smoke)
	c := outer[0]
	spoilt := *c
	spoilt.y = slices.Clone(c.y)
	for _, i := range c.held {
		spoilt.y[i] = 0
	}
	for _, m := range clusterersOf(s) {
		read := func(c *clustering) (chosen []string, a []int) {
			err := scoreClusters(t.Context(), c, inner[0], m, printedConstraints, s, func(kind, at string, _, _ int) {
				if kind == "chosen" {
					chosen = append(chosen, at)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			a, _, err = m.fit(context.Background(), c, c.first(printedConstraints), m.candidates[0], s)
			if err != nil {
				t.Fatal(err)
			}
			return chosen, a
		}
		want, a := read(c)
		got, b := read(&spoilt)
		if len(want) != 1 || !slices.Equal(got, want) || !slices.Equal(a, b) {
			t.Errorf("%s: %v is chosen, with other test labels %v", m.name, want, got)
		}
	}
}

// HMRF-KMeans that knows all pairs finds the classes, which k-means cannot find where each
// is two groups.
func TestClusterersUseTheirPairs(t *testing.T) {
	_, _, outer, _ := testClusterings(t, protocol.GeneratedXOR)
	s := clusterSettingsOf(experiment.Smoke)
	c := outer[0]
	var all []metric.Link
	for _, l := range protocol.AllPairs(len(c.y)) {
		l.Label = metric.SameClass(c.y[l.I] == c.y[l.J])
		all = append(all, l)
	}
	a, _, err := clusterByHMRF(t.Context(), c, all, protocol.Candidate{Weight: 1}, s)
	if err != nil || c.Wrong(a) != 0 {
		t.Errorf("all pairs known: %d of %d wrong, error %v", c.Wrong(a), len(c.held), err)
	}
	a, _, err = clusterPlainly(t.Context(), c, nil, protocol.Candidate{}, s)
	if err != nil || c.Wrong(a) < len(c.held)/4 {
		t.Errorf("two classes of two Gaussians without pairs: %d of %d wrong, error %v", c.Wrong(a), len(c.held), err)
	}
}

// The data sets have the sizes that Table 1 prints.
func TestClusteredDataAreThoseOfTable1(t *testing.T) {
	for _, want := range []struct {
		name    string
		n, d, k int
	}{{Ionosphere, 351, 34, 2}, {Digits389, 317, 16, 3}} {
		cells := Table1.Cells(experiment.Full)
		cell := cells[slices.IndexFunc(cells, func(c experiment.Cell) bool { return c.Name == want.name })]
		env := experimenttest.Env()
		env.Data = realdata.Store(t, cell.Dataset)
		x, y, err := loadClusters(env, experimenttest.Seed(cell.Dataset), cell)
		if err != nil {
			t.Fatal(err)
		}
		if n, d := x.Dims(); n != want.n || d != want.d || len(y) != n || len(slices.Compact(slices.Sorted(slices.Values(y)))) != want.k || slices.Max(y) != want.k-1 {
			t.Errorf("%s: %d×%d, want %d×%d in %d classes", want.name, n, d, want.n, want.d, want.k)
		}
	}
}

// A table that lacks a reading of the starts gives no verdict.
func TestTable1NeedsAllStarts(t *testing.T) {
	all := experimenttest.Published(t, Table1)
	for _, c := range table1Claims {
		if _, err := c.Judge(frame.Only("cell", Ionosphere, Digits389)(all), nil); err == nil || !strings.Contains(err.Error(), "1 readings of the starts, want 4") {
			t.Errorf("%s: error is %v", c.ID, err)
		}
	}
}
