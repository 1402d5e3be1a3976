package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
)

// KMedoidsVersion changes whenever FitPAM or FitFasterPAM gives other medoids, or
// CertifyMedoids other bounds, for the same input.
const KMedoidsVersion = 1

// MedoidsParams are the parameters of FitPAM and FitFasterPAM.
type MedoidsParams struct {
	// M is the number of medoids, 1 to B.
	M int `json:"m" range:">= 1 and <= the number of candidates"`
	// Start is the set to start from: M different candidates. The default is the
	// greedy set of Build for FitPAM and a uniformly drawn one for FitFasterPAM.
	Start []int `json:"start,omitempty"`
	// Starts is the number of runs of FitFasterPAM from drawn sets, of which the
	// first best one is returned; 0 means 1. With Start it must be 0 or 1. FitPAM
	// ignores it.
	Starts int `json:"starts" range:">= 1"`
	// MaxPasses is the cap on passes over the candidates of one run; 0 means 100.
	MaxPasses int `json:"max_passes" range:">= 1"`
	// Progress, if not nil, is told of each pass of all runs, with the cost after it as
	// Objective; Residual is NaN.
	Progress func(learners.Progress) `json:"-"`
}

// Resolved returns p with its defaults filled in: Starts = 1, MaxPasses = 100.
func (p MedoidsParams) Resolved() MedoidsParams {
	p.Starts = cmp.Or(p.Starts, 1)
	p.MaxPasses = cmp.Or(p.MaxPasses, 100)
	return p
}

func (p MedoidsParams) check(b int) error {
	if err := ranges.Check("", p, ranges.Limit{Words: "the number of candidates", Value: b}); err != nil {
		return err
	}
	if p.Start != nil {
		if len(p.Start) != p.M {
			return fmt.Errorf("start: %d candidates, want m = %d", len(p.Start), p.M)
		}
		if err := checkSet("start", p.Start, b); err != nil {
			return err
		}
		if p.Starts > 1 {
			return fmt.Errorf("starts: %d is not allowed with a start, want 1", p.Starts)
		}
	}
	return nil
}

// checkSet returns an error unless set holds at least one of b candidates, and
// none twice.
func checkSet(name string, set []int, b int) error {
	if len(set) == 0 {
		return fmt.Errorf("%s: no candidates, want at least one", name)
	}
	seen := make(map[int]bool, len(set))
	for k, j := range set {
		if j < 0 || j >= b {
			return fmt.Errorf("%s[%d]: %d is not allowed, want 0 to %d", name, k, j, b-1)
		}
		if seen[j] {
			return fmt.Errorf("%s[%d]: %d is not allowed twice", name, k, j)
		}
		seen[j] = true
	}
	return nil
}

// Medoids is a set of candidates and what it costs to serve every point by the
// cheapest of them.
type Medoids struct {
	// Set holds the M chosen candidates in ascending order.
	Set []int
	// Prototype is, for each point, the candidate of Set that serves it: the
	// cheapest, of equally cheap ones the lowest.
	Prototype []int
	// Cost is the sum of the costs of the points' prototypes.
	Cost float64
	// Result has learners.Converged if no swap of one medoid lowers Cost, else learners.IterationCap.
	// Iterations counts passes over the candidates, and Residual is the number of exchanges that the last
	// of them made.
	learners.Result
	// Swaps counts the exchanges made.
	Swaps int
}

// FitFasterPAM looks for the m of B candidates that serve A points at the least
// cost,
//
//	min over |S| = m of Σᵢ min_{j in S} cost[i, j],
//
// by local search: it goes round the candidates in order and at once exchanges
// one for the medoid whose exchange saves most, if any saves, until a whole round
// changes nothing. Then no exchange of one medoid for one candidate lowers the
// cost; the set is a local optimum and need not be a global one. Source: Schubert
// and Rousseeuw, Fast and Eager k-Medoids Clustering, Information Systems 101,
// 2021 (FasterPAM). The losses of removing each medoid are shared, so that all m
// exchanges for one candidate are priced in O(A), and a round takes O(AB) without
// a factor m.
//
// cost is A×B and may hold any finite numbers. For the clustering of n objects it
// is their n×n matrix of dissimilarities; a rectangular one has prototypes that
// are not points, or a choice among few. An exchange is made only if the sum of
// costs, computed anew, is smaller, so that the search ends whatever the
// round-off. Duplicates do no harm: of equal candidates the lowest serves, and a
// medoid may serve no point.
//
// It returns an error if a parameter is not allowed, or if cost is empty or has
// an entry that is NaN or infinite, or whose sum overflows, or if ctx is done. It panics if cost is
// nil, or if rng is nil and there is no Start. Memory is O(AB), or O(A+B) if cost
// is a symmetric *mat.Dense or the transpose of any, whose rows are then read in place.
func FitFasterPAM(ctx context.Context, rng *rand.Rand, cost mat.Matrix, p MedoidsParams) (*Medoids, error) {
	cols, err := columns(cost)
	if err != nil {
		return nil, fmt.Errorf("fasterpam: %w", err)
	}
	p = p.Resolved()
	if err := p.check(len(cols)); err != nil {
		return nil, fmt.Errorf("fasterpam: %w", err)
	}
	var best *Medoids
	for i := range p.Starts {
		start := slices.Clone(p.Start)
		if start == nil {
			demandSource(rng)
			start = rng.Perm(len(cols))[:p.M]
		}
		slices.Sort(start)
		r := newSwapper(cols, start).eager(ctx, p.MaxPasses, runs{p.Progress, i, p.Starts}.report)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("fasterpam: %w", err)
		}
		if best == nil || r.Cost < best.Cost {
			best = r
		}
	}
	return best, nil
}

// FitPAM is the same search as published first: from the greedy set of Build,
// unless p has a start, each pass prices all exchanges and makes the one that
// saves most; of equal ones that for the lowest candidate. Source: Kaufman and
// Rousseeuw, Clustering by Means of Medoids, 1987 (PAM: BUILD and SWAP), with the
// exchanges priced as in FitFasterPAM. A pass makes one exchange at most, so that
// it needs many more passes than FitFasterPAM, which finds sets as good.
//
// It draws nothing. Its errors and panics are those of FitFasterPAM.
func FitPAM(ctx context.Context, cost mat.Matrix, p MedoidsParams) (*Medoids, error) {
	cols, err := columns(cost)
	if err != nil {
		return nil, fmt.Errorf("pam: %w", err)
	}
	p = p.Resolved()
	if err := p.check(len(cols)); err != nil {
		return nil, fmt.Errorf("pam: %w", err)
	}
	start := slices.Clone(p.Start)
	if start == nil {
		start = build(ctx, cols, p.M)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("pam: %w", err)
		}
	}
	slices.Sort(start)
	r := newSwapper(cols, start).steepest(ctx, p.MaxPasses, runs{p.Progress, 0, 1}.report)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("pam: %w", err)
	}
	return r, nil
}

// Build returns m candidates in the order in which the greedy algorithm takes
// them: the candidate that alone costs least, then each time the one whose
// addition leaves the least cost; of equal ones the lowest (Kaufman and
// Rousseeuw's BUILD). It costs O(mAB). Its errors and panics are those of
// FitFasterPAM.
func Build(cost mat.Matrix, m int) ([]int, error) {
	cols, err := columns(cost)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	if err := (MedoidsParams{M: m}).Resolved().check(len(cols)); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return build(context.Background(), cols, m), nil
}

// build is Build; if ctx is done, the set is smaller.
func build(ctx context.Context, cols [][]float64, m int) []int {
	near := slices.Repeat([]float64{math.Inf(1)}, len(cols[0]))
	taken := make([]bool, len(cols))
	set := make([]int, 0, m)
	for range m {
		best, least := -1, 0.0
		for j, col := range cols {
			if ctx.Err() != nil {
				return set
			}
			if taken[j] {
				continue
			}
			var sum float64
			for i, c := range col {
				sum += min(c, near[i])
			}
			if best < 0 || sum < least {
				best, least = j, sum
			}
		}
		taken[best] = true
		set = append(set, best)
		for i, c := range cols[best] {
			near[i] = min(near[i], c)
		}
	}
	return set
}

// Assign returns, for each of the A points of an A×B matrix of costs, the
// candidate of set that serves it at the least cost, of equal ones the lowest,
// and the sum of these costs. It returns an error if set is empty, holds a
// candidate twice or one that does not exist, or as FitFasterPAM does for cost.
func Assign(cost mat.Matrix, set []int) (prototype []int, total float64, err error) {
	cols, err := columns(cost)
	if err != nil {
		return nil, 0, fmt.Errorf("assign: %w", err)
	}
	if err := checkSet("set", set, len(cols)); err != nil {
		return nil, 0, fmt.Errorf("assign: %w", err)
	}
	prototype, total = assign(cols, slices.Sorted(slices.Values(set)))
	return prototype, total, nil
}

// assign is Assign for a set in ascending order.
func assign(cols [][]float64, set []int) (prototype []int, total float64) {
	prototype = make([]int, len(cols[0]))
	for i := range prototype {
		best := set[0]
		for _, j := range set[1:] {
			if cols[j][i] < cols[best][i] {
				best = j
			}
		}
		prototype[i] = best
		total += cols[best][i]
	}
	return prototype, total
}

// SwapCosts returns the m×B matrix whose entry (s, j) is what the sum of costs
// changes by when set[s] is exchanged for candidate j. For another member of the
// set that is the loss of removing set[s], and for set[s] itself 0, both up to
// round-off. All entries together take O(AB + mB); see FitFasterPAM for cost and
// Assign for the errors.
func SwapCosts(cost mat.Matrix, set []int) (*mat.Dense, error) {
	cols, err := columns(cost)
	if err != nil {
		return nil, fmt.Errorf("swap costs: %w", err)
	}
	if err := checkSet("set", set, len(cols)); err != nil {
		return nil, fmt.Errorf("swap costs: %w", err)
	}
	w := newSwapper(cols, set)
	out := mat.NewDense(len(set), len(cols), nil)
	for j := range cols {
		w.price(cols[j])
		out.SetCol(j, w.delta)
	}
	return out, nil
}

// columns returns the columns of cost, each contiguous: views where the layout
// allows it.
func columns(cost mat.Matrix) ([][]float64, error) {
	if matrix.IsNil(cost) {
		panic("cluster: the cost is nil")
	}
	a, b := cost.Dims()
	if a == 0 || b == 0 {
		return nil, errors.New("cost: no entries, want at least one point and one candidate")
	}
	cols := make([][]float64, b)
	if t, ok := cost.(mat.Transpose); ok {
		if d, ok := t.Matrix.(*mat.Dense); ok {
			for j := range cols {
				cols[j] = d.RawRowView(j)
			}
			return cols, checkCosts(cols)
		}
	}
	if d, ok := cost.(*mat.Dense); ok && symmetric(d) {
		for j := range cols {
			cols[j] = d.RawRowView(j)
		}
		return cols, checkCosts(cols)
	}
	if err := limits.Check(fmt.Sprintf("a copy of %d×%d costs", a, b), limits.Floats(a, b)); err != nil {
		return nil, fmt.Errorf("cost: %w", err)
	}
	all := make([]float64, a*b)
	for j := range cols {
		cols[j] = all[j*a : (j+1)*a : (j+1)*a]
	}
	if d, ok := cost.(*mat.Dense); ok {
		for lo := 0; lo < b; lo += tile {
			hi := min(lo+tile, b)
			for i := range a {
				for j, c := range d.RawRowView(i)[lo:hi] {
					all[(lo+j)*a+i] = c
				}
			}
		}
	} else {
		for j := range cols {
			mat.Col(cols[j], j, cost)
		}
	}
	return cols, checkCosts(cols)
}

// tile is how many columns of a matrix are read at a time, so that their ends stay in the cache.
const tile = 16

// symmetric reports whether d equals its transpose.
func symmetric(d *mat.Dense) bool {
	n, b := d.Dims()
	if n != b {
		return false
	}
	for lo := 0; lo < n; lo += tile {
		for i := lo; i < n; i++ {
			row := d.RawRowView(i)
			for j := lo; j < min(lo+tile, i); j++ {
				if row[j] != d.At(j, i) {
					return false
				}
			}
		}
	}
	return true
}

// checkCosts returns an error unless all entries are finite and so small that
// sums of them are, too.
func checkCosts(cols [][]float64) error {
	limit := math.MaxFloat64 / 8 / float64(len(cols[0]))
	for j, col := range cols {
		for i, c := range col {
			if -limit <= c && c <= limit {
				continue
			}
			if math.IsNaN(c) || math.IsInf(c, 0) {
				return fmt.Errorf("cost: row %d, column %d: %v is not allowed, want a finite number", i, j, c)
			}
			return fmt.Errorf("cost: row %d, column %d: %v is not allowed, want at most %.3g in size: sums would overflow", i, j, c, limit)
		}
	}
	return nil
}

// swapper holds a set of medoids and what pricing an exchange needs. A slot is a
// position in set.
type swapper struct {
	cols    [][]float64
	set     []int // candidate of each slot
	member  []bool
	near    []int32   // slot of the cheapest medoid of each point
	second  []int32   // slot of the second cheapest; with one medoid, 0
	dNear   []float64 // their costs; with one medoid, dSecond is unused
	dSecond []float64
	removal []float64 // per slot, the cost of removing it: Σ dSecond − dNear over its points
	total   float64   // Σ dNear in the order of the points

	delta []float64 // scratch of price
	hits  []int32   // scratch of price: points nearer to the candidate than to their second medoid
}

func newSwapper(cols [][]float64, start []int) *swapper {
	a, m := len(cols[0]), len(start)
	w := &swapper{
		cols:    cols,
		set:     slices.Clone(start),
		member:  make([]bool, len(cols)),
		near:    make([]int32, a),
		second:  make([]int32, a),
		dNear:   make([]float64, a),
		dSecond: make([]float64, a),
		removal: make([]float64, m),
		delta:   make([]float64, m),
		hits:    make([]int32, a),
	}
	for _, j := range start {
		w.member[j] = true
	}
	for i := range a {
		w.rank(i)
	}
	w.sum()
	return w
}

// rank finds the two cheapest medoids of point i.
func (w *swapper) rank(i int) {
	near, second := int32(0), int32(0)
	dNear, dSecond := w.cols[w.set[0]][i], math.Inf(1)
	for s, j := range w.set[1:] {
		slot := int32(s + 1)
		switch c := w.cols[j][i]; {
		case c < dNear:
			near, second, dNear, dSecond = slot, near, c, dNear
		case c < dSecond:
			second, dSecond = slot, c
		}
	}
	w.near[i], w.second[i], w.dNear[i], w.dSecond[i] = near, second, dNear, dSecond
}

// sum makes total and the losses of removal anew.
func (w *swapper) sum() {
	w.total = 0
	clear(w.removal)
	for i, d := range w.dNear {
		w.total += d
		w.removal[w.near[i]] += w.dSecond[i] - d
	}
}

// price sets delta[s] to the change of total if the medoid of slot s is exchanged
// for the candidate with costs col: the loss of removing it, less what the
// candidate saves. For a point nearer to the candidate than to its medoid the
// saving does not depend on s; for one that is only nearer than to its second
// medoid there is a saving where its medoid goes.
func (w *swapper) price(col []float64) {
	if len(w.set) == 1 {
		var sum float64
		for _, c := range col {
			sum += c
		}
		w.delta[0] = sum - w.total
		return
	}
	delta := w.delta
	copy(delta, w.removal)
	var shared float64
	near, dNear, dSecond := w.near[:len(col)], w.dNear[:len(col)], w.dSecond[:len(col)]
	// First the points that matter, then their savings, neither with a branch: it
	// would be taken at random.
	hits := w.hits[:len(col)]
	k := 0
	for i, c := range col {
		hits[k] = int32(i)
		if c < dSecond[i] {
			k++
		}
	}
	for _, i := range hits[:k] {
		c := col[i]
		saved := min(c-dNear[i], 0)
		shared += saved
		delta[near[i]] += c - dSecond[i] - saved
	}
	for s := range delta {
		delta[s] += shared
	}
}

// cheapest returns the first slot of the least delta.
func (w *swapper) cheapest() int {
	best := 0
	for s, d := range w.delta {
		if d < w.delta[best] {
			best = s
		}
	}
	return best
}

// lowers reports whether exchanging slot s for the candidate with costs col
// lowers the total as sum computes it.
func (w *swapper) lowers(s int, col []float64) bool {
	var sum float64
	for i, c := range col {
		d := w.dNear[i]
		if int(w.near[i]) == s {
			d = w.dSecond[i]
		}
		sum += min(c, d)
	}
	return sum < w.total
}

// swap exchanges the medoid of slot s for candidate j.
func (w *swapper) swap(s, j int) {
	w.member[w.set[s]] = false
	w.member[j] = true
	w.set[s] = j
	slot := int32(s)
	for i, c := range w.cols[j] {
		switch {
		case w.near[i] == slot && c < w.dSecond[i]:
			w.dNear[i] = c
		case w.near[i] == slot:
			w.rank(i)
		case c < w.dNear[i]:
			w.second[i], w.dSecond[i] = w.near[i], w.dNear[i]
			w.near[i], w.dNear[i] = slot, c
		case c < w.dSecond[i]:
			w.second[i], w.dSecond[i] = slot, c
		case w.second[i] == slot:
			w.rank(i)
		}
	}
	w.sum()
}

// eager exchanges as soon as an exchange lowers the total. If ctx is done, the answer is
// meaningless.
func (w *swapper) eager(ctx context.Context, maxPasses int, report func(iteration, most int, objective float64)) *Medoids {
	r := &Medoids{Result: learners.Result{Status: learners.IterationCap}}
	last := -1 // the candidate of the last exchange
	for r.Iterations = 0; r.Iterations < maxPasses && r.Status != learners.Converged; r.Iterations++ {
		before := r.Swaps
		for j, col := range w.cols {
			if j == last { // a whole round without an exchange
				r.Status = learners.Converged
				break
			}
			if ctx.Err() != nil {
				return r
			}
			if w.member[j] {
				continue
			}
			w.price(col)
			if s := w.cheapest(); w.delta[s] < 0 && w.lowers(s, col) {
				w.swap(s, j)
				r.Swaps++
				last = j
			}
		}
		if last < 0 {
			r.Status = learners.Converged
		}
		r.Residual = float64(r.Swaps - before)
		report(r.Iterations+1, maxPasses, w.total)
	}
	return w.finish(r)
}

// steepest makes the exchange that lowers the total most, once per pass. If ctx is done,
// the answer is meaningless.
func (w *swapper) steepest(ctx context.Context, maxPasses int, report func(iteration, most int, objective float64)) *Medoids {
	r := &Medoids{Result: learners.Result{Status: learners.IterationCap}}
	for r.Iterations = 0; r.Iterations < maxPasses && r.Status != learners.Converged; r.Iterations++ {
		slot, candidate, least := -1, -1, 0.0
		for j, col := range w.cols {
			if ctx.Err() != nil {
				return r
			}
			if w.member[j] {
				continue
			}
			w.price(col)
			if s := w.cheapest(); w.delta[s] < least && w.lowers(s, col) {
				slot, candidate, least = s, j, w.delta[s]
			}
		}
		if candidate < 0 {
			r.Status, r.Residual = learners.Converged, 0
		} else {
			w.swap(slot, candidate)
			r.Swaps++
			r.Residual = 1
		}
		report(r.Iterations+1, maxPasses, w.total)
	}
	return w.finish(r)
}

func (w *swapper) finish(r *Medoids) *Medoids {
	r.Set = slices.Sorted(slices.Values(w.set))
	r.Prototype, r.Cost = assign(w.cols, r.Set)
	return r
}
