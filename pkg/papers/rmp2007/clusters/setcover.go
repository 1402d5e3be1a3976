package clusters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Instances of SET COVER have up to these elements and subsets.
const (
	coverElements = 10
	coverSubsets  = 8
)

// SetCover checks the reduction of Theorem 4.1.
var SetCover = experiment.Spec{
	ID:      "rmp2007/setcover",
	Title:   "Theorem 4.1's reduction: covers of size m against maps of cost 0, by brute force",
	Source:  "Section 4, Theorem 4.1, which has no experiment",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		s := coverSettings{1000, coverElements, coverSubsets, []float64{0.15, 0.3, 0.5}}
		if scale == experiment.Smoke {
			s.Instances = 50
		}
		return []experiment.Cell{{
			Name: "random instances", Dataset: "random subsets", Settings: s,
			Methods: map[string]int{"FTL": mapping.FTLVersion},
		}}
	},
	Trials:  experiment.Trials(10),
	Columns: coverColumns,
	Trial:   setCoverTrial,
	Views: []experiment.View{
		{Name: "setcover", Title: "Theorem 4.1's reduction: a worked example, and random instances", Draw: setCoverView.Draw},
	},
	Claims: experiment.Claims([]experiment.Claim{{
		ID:        "setcover-reduction",
		Title:     "A set cover of size m is equivalent to m columns of the binary matrix G with Φ_m = 0.",
		Statement: "Finding a set cover of size m is equivalent to finding m columns of the binary matrix G (0 where an element is in the subset) with a 0 in each row, i.e. Φ_m = 0 (T = 1, costs in {0, 1}).",
		Where:     "Section 4, proof of Theorem 4.1", Theirs: "a proof",
		Predicate: "In every random instance and for every m, there is a cover of size m exactly if Φ_m = 0, in both directions; Φ_m is the loss of the best map, found by trying all sets of m prototypes, the cover by the union of every set of m subsets. Both answers occur.",
		Test: func(t *table.Table) judge.Test {
			sum := func(rows *table.Table, column string) float64 { return floats.Sum(rows.Values(column)) }
			holds := frame.Always(func(trial *table.Table) bool {
				return sum(trial, "cover_without_map")+sum(trial, "map_without_cover") == 0 && sum(trial, "covers") > 0 && sum(trial, "no_covers") > 0
			})(t)
			check := judge.Check{Test: holds, Why: "A sum of entries of G over a map is 0 exactly if its image is a cover: both sides are one statement, asked of two programs."}
			covers := sum(t, "covers")
			return judge.Shown{Test: check, More: fmt.Sprintf(": %.0f questions, in %.0f of which there is a cover", covers+sum(t, "no_covers"), covers)}
		},
	}}),
	Cost: time.Second,
}

// coverSettings say how instances are drawn.
type coverSettings struct {
	Instances int       `key:"instances"`
	Elements  upTo      `key:"elements"`
	Subsets   upTo      `key:"subsets"`
	Densities []float64 `key:"densities"` // probabilities that an element is in a subset
}

// upTo is the largest number that is drawn; the least is 2.
type upTo int

func (u upTo) String() string { return fmt.Sprintf("2 to %d", int(u)) }

func (u upTo) Draw(rng *rand.Rand) int { return 2 + rng.IntN(int(u)-1) }

var coverColumns = experiment.Columns{
	experiment.Text("m", "size of the cover that is asked for"),
	experiment.Number("cases", "", "random instances of at least m subsets"),
	experiment.Number("covers", "", "instances with a cover of size m"),
	experiment.Number("no_covers", "", "instances without one"),
	experiment.Number("cover_without_map", "", "instances with a cover but Φ_m > 0"),
	experiment.Number("map_without_cover", "", "instances with Φ_m = 0 but no cover"),
}

// cover is an instance of SET COVER: subset j holds element i if bit i of Subsets[j] is 1.
type cover struct {
	Elements int
	Subsets  []uint
}

// costs is G of the proof of Theorem 4.1: elements by subsets, 0 if the element is in the subset.
func (c cover) costs() *mat.Dense {
	g := mat.NewDense(c.Elements, len(c.Subsets), nil)
	for j, s := range c.Subsets {
		for i := range c.Elements {
			if s>>i&1 == 0 {
				g.Set(i, j, 1)
			}
		}
	}
	return g
}

// cover returns the first m subsets, in lexicographic order, whose union is everything, or nil if
// there are none.
func (c cover) cover(m int) []int {
	for _, set := range combin.Combinations(len(c.Subsets), m) {
		var union uint
		for _, j := range set {
			union |= c.Subsets[j]
		}
		if union == 1<<c.Elements-1 {
			return set
		}
	}
	return nil
}

// phi returns Φ_m of Eq. 2 with T = 1, and the prototypes of the best map: what follow-the-leader
// predicts after one round of the costs G.
func (c cover) phi(m int) (float64, []int, error) {
	f := metric.CostRound{Cost: c.costs()}
	l, err := mapping.NewFTL(c.Elements, len(c.Subsets), mapping.FTLParams{M: m})
	if err != nil {
		return 0, nil, err
	}
	if _, err := l.Step(f); err != nil {
		return 0, nil, err
	}
	return l.Loss(f), l.Set(), nil
}

// Draw draws an instance.
func (s coverSettings) Draw(rng *rand.Rand) cover {
	c := cover{Elements: s.Elements.Draw(rng), Subsets: make([]uint, s.Subsets.Draw(rng))}
	density := s.Densities[rng.IntN(len(s.Densities))]
	for j := range c.Subsets {
		for i := range c.Elements {
			if rng.Float64() < density {
				c.Subsets[j] |= 1 << i
			}
		}
	}
	return c
}

func setCoverTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(coverSettings)
	rng := run.Seed.Stream("instances")
	count := make([]table.Values, s.Subsets+1) // by m
	for m := range count {
		count[m] = table.Values{"cases": 0, "covers": 0, "no_covers": 0, "cover_without_map": 0, "map_without_cover": 0}
	}
	for range s.Instances {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := s.Draw(rng)
		for m := 1; m <= len(c.Subsets); m++ {
			phi, _, err := c.phi(m)
			if err != nil {
				return err
			}
			covered, mapped := c.cover(m) != nil, phi == 0
			for name, is := range map[string]bool{"cases": true, "covers": covered, "no_covers": !covered, "cover_without_map": covered && !mapped, "map_without_cover": !covered && mapped} {
				if is {
					count[m][name]++
				}
			}
		}
	}
	for m, v := range count[1:] {
		run.Rows.Add(table.Key{"m": strconv.Itoa(m + 1)}, v)
	}
	return nil
}

// workedCover is the worked example: six elements, five subsets, of which three are needed although the
// largest ones overlap.
var workedCover = cover{Elements: 6, Subsets: []uint{0b000111, 0b001110, 0b011000, 0b100001, 0b110000}}

// workedHeat is G of the worked example.
func workedHeat() plots.Heat {
	heat := plots.Heat{Min: 0, Max: 1, BarLabel: "cost", Separators: []int{1, 2, 3, 4, 5}}
	for i := range workedCover.Elements {
		heat.Z = append(heat.Z, mat.Row(nil, i, workedCover.costs()))
		heat.YTicks = append(heat.YTicks, plots.Tick{At: float64(i), Label: strconv.Itoa(i + 1)})
	}
	for j := range workedCover.Subsets {
		heat.XTicks = append(heat.XTicks, plots.Tick{At: float64(j), Label: fmt.Sprintf("D%d", j+1)})
	}
	return heat
}

// worked is a column about the worked example, as long as that has m subsets.
func worked(head string, says func(m int, phi float64, set []int) string) frame.Cell {
	return frame.Cell{Head: head, Of: func(rows *table.Table) string {
		m := frame.Parse("m", experiment.FirstName(rows, "m"))
		if m < 1 || m > float64(len(workedCover.Subsets)) {
			return ""
		}
		phi, set, err := workedCover.phi(int(m))
		if err != nil {
			judge.Refuse("%v", err)
		}
		return says(int(m), phi, set)
	}}
}

// instances is a column with the sum of a count over trials.
func instances(head, count string) frame.Cell {
	return frame.Of(head, frame.Column(count).Reduce(floats.Sum), frame.Band{}, "%.0f")
}

var setCoverView = frame.View{
	Panels: frame.PerGroup(func([]string) frame.Panel {
		return frame.Panel{Panel: plots.Panel{Title: "G of the worked example", XLabel: "subset (prototype)", YLabel: "element (object)"}, Of: []frame.Mark{frame.Fixed(workedHeat())}}
	}, "cell"),
	Text: &frame.Text{By: []string{"m", "m"}, Cells: []frame.Cell{
		worked("worked example: Φ_m", func(_ int, phi float64, _ []int) string { return table.Format(phi) }),
		worked("best prototypes", func(_ int, _ float64, set []int) string {
			var names []string
			for _, j := range set {
				names = append(names, fmt.Sprintf("D%d", j+1))
			}
			return strings.Join(names, ", ")
		}),
		worked("a cover?", func(m int, _ float64, _ []int) string {
			return map[bool]string{true: "yes", false: "no"}[workedCover.cover(m) != nil]
		}),
		instances("random instances", "cases"), instances("with a cover of size m", "covers"), instances("without", "no_covers"),
		instances("cover but Φ_m > 0", "cover_without_map"), instances("Φ_m = 0 but no cover", "map_without_cover"),
	}},
	Caption: func(t *table.Table) plots.Caption {
		return plots.Caption{
			Shows: "Theorem 4.1: m of the subsets D cover all elements exactly if Φ_m is 0. Φ_m is the least cost of a map with at most m prototypes after one round of the costs G: 0 where the element (row) is in the subset (column), 1 elsewhere. Picture: a worked example of six elements. " +
				"Table: Φ_m and the prototypes of the best map there, the first in lexicographic order, and whether trying all sets of m subsets finds a cover; then random instances, where both ways to be wrong are counted.",
			Protocol: fmt.Sprintf("Each element costs 1 that none of the chosen subsets holds, so that Φ_m counts what m subsets must leave uncovered. "+
				"Random instances are sums over %d trials, of 2 to %d elements and 2 to %d subsets with each element in a subset with probability .15, .3 or .5. There are no instances of fewer than m subsets.", len(t.Unique("trial")), coverElements, coverSubsets),
		}
	},
	Missing: "any trial",
}
