package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
)

// sumTol bounds the round-off of sums of up to 400 costs of size 1, in two orders
// of addition.
const sumTol = 1e-12

// costs returns an A×B matrix of uniform numbers; coarse ones have many ties.
func costs(rng *rand.Rand, a, b int, coarse bool) *mat.Dense {
	c := mat.NewDense(a, b, nil)
	for i := range a {
		for j := range b {
			v := rng.Float64()
			if coarse {
				v = math.Floor(4*v) / 4
			}
			c.Set(i, j, v)
		}
	}
	return c
}

// plane returns the distances between n points in the plane, the first few of
// them repeated.
func plane(rng *rand.Rand, n, repeated int) *mat.Dense {
	z := make([][2]float64, n)
	for i := range z {
		z[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
		if i >= n-repeated {
			z[i] = z[i%3]
		}
	}
	c := mat.NewDense(n, n, nil)
	for i, p := range z {
		for j, q := range z {
			c.Set(i, j, math.Hypot(p[0]-q[0], p[1]-q[1]))
		}
	}
	return c
}

// slowCost is the sum of costs of a set from its definition.
func slowCost(c mat.Matrix, set []int) float64 {
	a, _ := c.Dims()
	var sum float64
	for i := range a {
		least := math.Inf(1)
		for _, j := range set {
			least = min(least, c.At(i, j))
		}
		sum += least
	}
	return sum
}

// exchanged returns set with set[s] replaced by j.
func exchanged(set []int, s, j int) []int {
	out := slices.Clone(set)
	out[s] = j
	return out
}

// slowPAM is PAM as printed: BUILD and SWAP, every sum from its definition.
func slowPAM(c *mat.Dense, m int) []int {
	_, b := c.Dims()
	best := func(candidates func(yield func([]int) bool)) []int {
		var out []int
		least := math.Inf(1)
		for set := range candidates {
			if cost := slowCost(c, set); cost < least-sumTol {
				out, least = set, cost
			}
		}
		return out
	}
	var set []int
	for range m {
		set = best(func(yield func([]int) bool) {
			for j := range b {
				if !slices.Contains(set, j) && !yield(append(slices.Clone(set), j)) {
					return
				}
			}
		})
	}
	slices.Sort(set)
	for {
		next := best(func(yield func([]int) bool) {
			if !yield(set) {
				return
			}
			for j := range b {
				for s := range set {
					if !slices.Contains(set, j) && !yield(exchanged(set, s, j)) {
						return
					}
				}
			}
		})
		if slices.Equal(next, set) {
			slices.Sort(set)
			return set
		}
		set = next
	}
}

type medoidCase struct {
	name string
	c    *mat.Dense
	m    int
}

func medoidCases() []medoidCase {
	rng := rand.New(rand.NewPCG(51, 1))
	var out []medoidCase
	for _, m := range []int{1, 2, 3, 7} {
		out = append(out,
			medoidCase{fmt.Sprintf("points m=%d", m), plane(rng, 40, 0), m},
			medoidCase{fmt.Sprintf("duplicates m=%d", m), plane(rng, 30, 24), m},
			medoidCase{fmt.Sprintf("wide m=%d", m), costs(rng, 12, 40, false), m},
			medoidCase{fmt.Sprintf("tall m=%d", m), costs(rng, 60, 9, false), m},
			medoidCase{fmt.Sprintf("ties m=%d", m), costs(rng, 25, 15, true), m})
	}
	negative := costs(rng, 20, 10, false)
	negative.Apply(func(_, _ int, v float64) float64 { return v - 0.5 }, negative)
	return append(out,
		medoidCase{"negative", negative, 3},
		medoidCase{"all candidates", costs(rng, 10, 6, false), 6},
		medoidCase{"one point", costs(rng, 1, 6, false), 3},
		medoidCase{"one candidate", costs(rng, 6, 1, false), 1},
		medoidCase{"all equal", mat.NewDense(8, 8, nil), 3})
}

// checkMedoids checks a result against the definitions: a set in order, the
// cheapest prototypes, lowest first, and no exchange that lowers the cost.
func checkMedoids(t *testing.T, name string, c mat.Matrix, m int, r *Medoids) {
	t.Helper()
	_, b := c.Dims()
	if len(r.Set) != m || !slices.IsSorted(r.Set) || len(slices.Compact(slices.Clone(r.Set))) != m {
		t.Fatalf("%s: set %v, want %d different candidates in order", name, r.Set, m)
	}
	for i, p := range r.Prototype {
		want := r.Set[0]
		for _, j := range r.Set {
			if c.At(i, j) < c.At(i, want) {
				want = j
			}
		}
		if p != want {
			t.Fatalf("%s: point %d has prototype %d, want %d", name, i, p, want)
		}
	}
	cost := slowCost(c, r.Set)
	if math.Abs(cost-r.Cost) > sumTol {
		t.Errorf("%s: cost %v, want %v", name, r.Cost, cost)
	}
	if r.Status != learners.Converged {
		t.Errorf("%s: status %v", name, r.Status)
	}
	for s := range r.Set {
		for j := range b {
			if slices.Contains(r.Set, j) {
				continue
			}
			if after := slowCost(c, exchanged(r.Set, s, j)); after < cost-sumTol {
				t.Fatalf("%s: exchanging %d for %d lowers %v to %v", name, r.Set[s], j, cost, after)
			}
		}
	}
}

func TestFasterPAMEndsAtALocalOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(52, 1))
	for _, c := range medoidCases() {
		for range 5 {
			r, err := FitFasterPAM(context.Background(), rng, c.c, MedoidsParams{M: c.m})
			if err != nil {
				t.Fatal(err)
			}
			checkMedoids(t, c.name, c.c, c.m, r)
		}
	}
}

func TestPAMIsPAMAsPrinted(t *testing.T) {
	for _, c := range medoidCases() {
		r, err := FitPAM(context.Background(), c.c, MedoidsParams{M: c.m})
		if err != nil {
			t.Fatal(err)
		}
		checkMedoids(t, c.name, c.c, c.m, r)
		if strings.HasPrefix(c.name, "ties") || strings.HasPrefix(c.name, "duplicates") {
			continue // round-off may choose among exchanges that save the same
		}
		if want := slowPAM(c.c, c.m); !slices.Equal(r.Set, want) {
			t.Errorf("%s: set %v, want %v", c.name, r.Set, want)
		}
	}
}

// TestFasterPAMFindsGroups: with groups far apart the local optimum from any
// start is the best medoid of each group, and the number of runs does no harm.
func TestFasterPAMFindsGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 1))
	const groups, each = 4, 9
	n := groups * each
	z := make([]float64, n)
	for i := range z {
		z[i] = 100*float64(i%groups) + rng.Float64()
	}
	c := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			c.Set(i, j, math.Abs(z[i]-z[j]))
		}
	}
	for _, starts := range []int{1, 3} {
		r, err := FitFasterPAM(context.Background(), rng, c, MedoidsParams{M: groups, Starts: starts})
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range r.Prototype {
			if p%groups != i%groups {
				t.Errorf("point %d of group %d has a prototype in group %d", i, i%groups, p%groups)
			}
		}
		// The medoid of points on a line is the middle one.
		for _, p := range r.Set {
			below := 0
			for i := range n {
				if i%groups == p%groups && z[i] < z[p] {
					below++
				}
			}
			if below != each/2 {
				t.Errorf("medoid %d has %d of %d points of its group below it", p, below, each)
			}
		}
	}
}

func TestSwapCostsArePricedByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 1))
	for _, c := range medoidCases() {
		_, b := c.c.Dims()
		set := rng.Perm(b)[:c.m] // in any order
		got, err := SwapCosts(c.c, set)
		if err != nil {
			t.Fatal(err)
		}
		before := slowCost(c.c, set)
		for s := range set {
			for j := range b {
				if want := slowCost(c.c, exchanged(set, s, j)) - before; math.Abs(got.At(s, j)-want) > sumTol {
					t.Fatalf("%s: exchange %d for %d costs %v, want %v", c.name, set[s], j, got.At(s, j), want)
				}
			}
		}
		_, total, err := Assign(c.c, set)
		if err != nil || math.Abs(total-before) > sumTol {
			t.Errorf("%s: Assign's total is %v, %v; want %v", c.name, total, err, before)
		}
	}
}

// TestSwapperStaysCurrent: what exchanges leave is what a fresh start computes.
func TestSwapperStaysCurrent(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 1))
	for _, c := range medoidCases() {
		cols, err := columns(c.c)
		if err != nil {
			t.Fatal(err)
		}
		w := newSwapper(cols, rng.Perm(len(cols))[:c.m])
		for range 50 {
			j := rng.IntN(len(cols))
			if w.member[j] {
				continue
			}
			w.swap(rng.IntN(c.m), j)
			fresh := newSwapper(cols, w.set)
			if w.total != fresh.total || !slices.Equal(w.dNear, fresh.dNear) || !slices.Equal(w.dSecond, fresh.dSecond) || !slices.Equal(w.member, fresh.member) {
				t.Fatalf("%s: the state after an exchange differs from a fresh one", c.name)
			}
		}
	}
}

// TestCostLayouts: dense, transposed, symmetric and any other matrix are read
// alike, and not changed.
func TestCostLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 1))
	square := plane(rng, 21, 0)
	sym := mat.NewSymDense(21, nil)
	for i := range 21 {
		for j := range i + 1 {
			sym.SetSym(i, j, square.At(i, j))
		}
	}
	wide := mat.DenseCopyOf(costs(rng, 30, 40, false).Slice(2, 21, 3, 37)) // without gaps
	gaps := mat.NewDense(25, 50, nil).Slice(1, 20, 5, 39).(*mat.Dense)
	gaps.Copy(wide)
	back := mat.DenseCopyOf(wide.T())
	for _, group := range [][]mat.Matrix{{square, sym, sym.T(), square.T()}, {wide, gaps, back.T(), back.T().T().T()}} {
		before := mat.DenseCopyOf(group[0])
		var want *Medoids
		for k, c := range group {
			r, err := FitFasterPAM(context.Background(), rand.New(rand.NewPCG(1, 2)), c, MedoidsParams{M: 4})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = r
			}
			if !slices.Equal(r.Set, want.Set) || r.Cost != want.Cost || !slices.Equal(r.Prototype, want.Prototype) || r.Swaps != want.Swaps {
				t.Errorf("layout %d gives another answer", k)
			}
			if !mat.Equal(c, before) {
				t.Errorf("layout %d: the costs have changed", k)
			}
		}
	}
}

func TestStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(57, 1))
	c := plane(rng, 40, 0)
	pam, err := FitPAM(context.Background(), c, MedoidsParams{M: 3})
	if err != nil {
		t.Fatal(err)
	}
	start := []int{pam.Set[2], pam.Set[0], pam.Set[1]}
	kept := slices.Clone(start)
	for name, fit := range map[string]func(MedoidsParams) (*Medoids, error){
		"FasterPAM": func(p MedoidsParams) (*Medoids, error) { return FitFasterPAM(context.Background(), nil, c, p) },
		"PAM":       func(p MedoidsParams) (*Medoids, error) { return FitPAM(context.Background(), c, p) },
	} {
		r, err := fit(MedoidsParams{M: 3, Start: start})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Set, pam.Set) || r.Swaps != 0 || r.Iterations != 1 || r.Status != learners.Converged {
			t.Errorf("%s from an optimum: %+v", name, r)
		}
		if !slices.Equal(start, kept) {
			t.Errorf("%s changed the start", name)
		}
		r, err = fit(MedoidsParams{M: 3, Start: []int{0, 1, 2}, MaxPasses: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != learners.IterationCap || r.Iterations != 1 || r.Swaps == 0 {
			t.Errorf("%s with one pass: status %v, %d passes, %d swaps", name, r.Status, r.Iterations, r.Swaps)
		}
	}
	first, err := Build(c, 40)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(first); first[0] != 0 || first[39] != 39 {
		t.Errorf("Build of all candidates is %v", first)
	}
}

func TestMedoidErrors(t *testing.T) {
	c := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	with := func(v float64) *mat.Dense {
		d := mat.DenseCopyOf(c)
		d.Set(1, 2, v)
		return d
	}
	for _, bad := range []struct {
		cost mat.Matrix
		p    MedoidsParams
		want string
	}{
		{c, MedoidsParams{}, "m: 0 is not allowed, want an integer from 1 to 3"},
		{c, MedoidsParams{M: 4}, "m: 4 is not allowed"},
		{c, MedoidsParams{M: 2, Start: []int{0}}, "start: 1 candidates, want m = 2"},
		{c, MedoidsParams{M: 2, Start: []int{0, 3}}, "start[1]: 3 is not allowed, want 0 to 2"},
		{c, MedoidsParams{M: 2, Start: []int{1, 1}}, "start[1]: 1 is not allowed twice"},
		{c, MedoidsParams{M: 1, Start: []int{1}, Starts: 2}, "starts: 2 is not allowed with a start"},
		{c, MedoidsParams{M: 1, Starts: -1}, "starts: -1 is not allowed"},
		{c, MedoidsParams{M: 1, MaxPasses: -2}, "max_passes: -2 is not allowed"},
		{new(mat.Dense), MedoidsParams{M: 1}, "cost: no entries"},
		{with(math.NaN()), MedoidsParams{M: 1}, "cost: row 1, column 2: NaN is not allowed"},
		{with(math.Inf(-1)), MedoidsParams{M: 1}, "cost: row 1, column 2: -Inf is not allowed"},
		{with(1e308), MedoidsParams{M: 1}, "sums would overflow"},
	} {
		_, eager := FitFasterPAM(context.Background(), rand.New(rand.NewPCG(1, 1)), bad.cost, bad.p)
		_, steepest := FitPAM(context.Background(), bad.cost, bad.p)
		for _, err := range []error{eager, steepest} {
			if err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%+v: error %v, want %q", bad.p, err, bad.want)
			}
		}
	}
	_, _, noSet := Assign(c, nil)
	_, twice := SwapCosts(c, []int{2, 2})
	_, none := Build(c, 0)
	_, empty := Build(new(mat.Dense), 1)
	for want, err := range map[string]error{
		"assign: set: no candidates": noSet, "swap costs: set[1]: 2 is not allowed twice": twice,
		"build: m: 0 is not allowed": none, "build: cost: no entries": empty,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func ExampleFitFasterPAM() {
	// Four points may be served by three stations; two are to be built.
	cost := mat.NewDense(4, 3, []float64{
		1, 5, 9,
		2, 1, 8,
		9, 4, 1,
		9, 3, 2,
	})
	r, err := FitFasterPAM(context.Background(), rand.New(rand.NewPCG(1, 2)), cost, MedoidsParams{M: 2})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Set, r.Prototype, r.Cost, r.Status)
	// Output: [0 2] [0 0 2 2] 6 converged
}

func ExampleFitPAM() {
	cost := mat.NewDense(4, 3, []float64{
		1, 5, 9,
		2, 1, 8,
		9, 4, 1,
		9, 3, 2,
	})
	first, err := Build(cost, 2)
	if err != nil {
		panic(err)
	}
	r, err := FitPAM(context.Background(), cost, MedoidsParams{M: 2, Start: first})
	if err != nil {
		panic(err)
	}
	fmt.Println(first, r.Set, r.Cost)
	// Output: [1 0] [0 2] 6
}

func ExampleMedoidsParams_Resolved() {
	fmt.Printf("%+v\n", MedoidsParams{M: 3}.Resolved())
	// Output: {M:3 Start:[] Starts:1 MaxPasses:100 Progress:<nil>}
}

// TestSymmetricInPlace: rows of a symmetric matrix are read in place; one entry that differs, and the columns are copied.
func TestSymmetricInPlace(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 50} {
		d := plane(rand.New(rand.NewPCG(uint64(n), 9)), n, 0)
		sym := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				sym.SetSym(i, j, d.At(i, j))
			}
		}
		cols, err := columns(d)
		if err != nil || &cols[0][0] != &d.RawRowView(0)[0] {
			t.Errorf("n = %d: copied, error %v", n, err)
		}
		p := MedoidsParams{M: min(3, n), Start: []int{0, 1, 2}[:min(3, n)]}
		got, err := FitFasterPAM(t.Context(), nil, d, p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := FitFasterPAM(t.Context(), nil, sym, p)
		if err != nil || !slices.Equal(got.Set, want.Set) || got.Cost != want.Cost || got.Swaps != want.Swaps {
			t.Errorf("n = %d: %v, want %v, error %v", n, got, want, err)
		}
		for _, at := range [][2]int{{0, n - 1}, {n - 1, 0}, {n - 1, n / 2}} {
			if at[0] == at[1] {
				continue
			}
			e := mat.DenseCopyOf(d)
			e.Set(at[0], at[1], e.At(at[0], at[1])+1)
			cols, err := columns(e)
			if err != nil {
				t.Fatal(err)
			}
			for j, col := range cols {
				for i, c := range col {
					if c != e.At(i, j) {
						t.Errorf("n = %d, %v: cost %d, %d is %v, want %v", n, at, i, j, c, e.At(i, j))
					}
				}
			}
		}
	}
}
