package clusters

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

// Cells that are compared have the same points, but for the width: their settings that decide points and best map agree.
func TestFig1CasesHaveTheSamePoints(t *testing.T) {
	cells := map[string]experiment.Cell{}
	for _, c := range Fig1.Cells(experiment.Full) {
		cells[c.Name] = c
	}
	for _, cases := range [][]fig1Case{fig1Alone, fig1Against, fig1Best, fig1Sparse4} {
		for _, c := range cases {
			first, there := cells[c.cells[0]]
			if !there {
				t.Fatalf("no cell %q", c.cells[0])
			}
			a := first.Settings.(fig1Settings)
			for _, rule := range protocol.EtaReadings {
				if !slices.Contains(a.RMP, rule) {
					t.Errorf("the first cell %s lacks %s", first.Name, rule)
				}
			}
			for _, name := range c.cells {
				other, there := cells[name]
				if !there {
					t.Fatalf("no cell %q", name)
				}
				b := other.Settings.(fig1Settings)
				if other.Dataset != first.Dataset || a.Distortion != b.Distortion || a.Rounds != b.Rounds || a.Points != b.Points || a.Width != b.Width {
					t.Errorf("%s and %s have other points", first.Name, name)
				}
			}
		}
	}
}

// A case takes the rows of a method from the first of its cells that has it, and refuses cells whose best maps differ.
func TestFig1CasesJoinCells(t *testing.T) {
	made := func(other float64) *table.Table {
		tb := experimenttest.Table(Fig1)
		add := func(cell, method string, loss float64) {
			for _, round := range []int{25, 50} {
				tb.Add(table.Key{"cell": cell, "trial": "0", "kind": "loss", "method": method, "round": strconv.Itoa(round)}, table.Values{"loss": loss})
			}
		}
		add(cellSquared, bestMap, 100)
		add(cellSquared, protocol.RMPPrinted, 110)
		add(cellSquaredRow, bestMap, other)
		add(cellSquaredRow, emSphereRow, 130)
		return tb
	}
	of := func(method string, other float64) (regrets []float64, err error) {
		defer judge.Refused(&err)
		return fig1Against[2].Of(method, atEnd)(withBest(made(other))), nil
	}
	for method, want := range map[string]float64{emSphereRow: 30, protocol.RMPPrinted: 10} {
		if got, err := of(method, 100); err != nil || !slices.Equal(got, []float64{want}) {
			t.Errorf("final regret of %s: %v (error %v), want %v", method, got, err, want)
		}
	}
	if got, err := of(emSphereRow, 101); err == nil {
		t.Errorf("cells of different points are joined: %v", got)
	}
}

// k-means sends each point of groups far apart to the prototype of its group, and keeps its random map while points coincide.
func TestKMeansPlayer(t *testing.T) {
	const n = 12
	x := mat.NewDense(n, 3, nil) // the first coordinate is the same for all
	for i := range n {
		x.Set(i, 1, 100*float64(i%4)+float64(i/4))
		x.Set(i, 2, 100*float64(i%4)+float64(i/4))
	}
	s := fig1Settings{Points: n, Rounds: 3, M: fig1Groups, KMeansStarts: kMeansStarts}
	g, err := newGame(x, protocol.Squared)
	if err != nil {
		t.Fatal(err)
	}
	p := s.kMeansPlayer(context.Background(), x, rand.New(rand.NewPCG(23, 1)))
	want := make([]int, n)
	for i := range want {
		want[i] = 4 + i%4
	}
	cost := mat.NewDense(n, n, nil)
	for round := range 3 {
		f := g.round(round, cost)
		loss, acceptance, err := p.Pay(round, f)
		if err != nil {
			t.Fatal(err)
		}
		if round == 2 && math.Abs(loss-protocol.LossOf(want, f)) > 1e-15 || !math.IsNaN(acceptance) {
			t.Errorf("round %d: loss %v, acceptance %v, want %v", round, loss, acceptance, protocol.LossOf(want, f))
		}
	}
}
