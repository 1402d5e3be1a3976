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

// Cells whose best maps differ are refused, and one whose EM is poor from random rows only makes the claim hold in part.
func TestFig1CasesJoinCells(t *testing.T) {
	root := func(t, _ float64) float64 { return 100 * math.Sqrt(t) }
	tb := fig1World{rmp: root, em: func(t, _ float64) float64 { return 100 * t }, shortWorse: 1}.table()
	em, rmp := fig1Against[2].Of(emSphereRow, atEnd)(withBest(tb)), fig1Against[2].Of(protocol.RMPPrinted, atEnd)(withBest(tb))
	if len(em) != experimenttest.Trials || len(rmp) != experimenttest.Trials || math.Abs(em[0]-5000) > 1e-9 || math.Abs(rmp[1]-100*math.Sqrt(50)) > 1 {
		t.Errorf("joined final regrets: %v and %v", em, rmp)
	}
	other := experimenttest.Table(Fig1)
	for _, cell := range []string{cellSquared, cellSquaredRow} {
		for _, round := range []int{25, 50} {
			loss := 100.0
			if cell == cellSquaredRow {
				loss = 101
			}
			for _, method := range []string{bestMap, map[string]string{cellSquared: protocol.RMPPrinted, cellSquaredRow: emSphereRow}[cell]} {
				other.Add(table.Key{"cell": cell, "trial": "0", "kind": "loss", "method": method, "round": strconv.Itoa(round)}, table.Values{"loss": loss})
			}
		}
	}
	err := func() (err error) {
		defer judge.Refused(&err)
		fig1Against[2].Of(emSphereRow, atEnd)(withBest(other))
		return nil
	}()
	if err == nil {
		t.Error("cells of different points are joined")
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
