package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// HMRFVersion changes whenever FitHMRF gives other numbers for the same input.
const HMRFVersion = 1

// FarthestVersion changes whenever HMRFParams.Farthest gives other numbers for the same
// input.
const FarthestVersion = 1

// HMRFParams are the parameters of FitHMRF.
type HMRFParams struct {
	KMeansParams
	// Weight is w ≥ 0, the weight of the links; nil means 1, at which a must-link that
	// is broken costs as much as putting one of its rows into a cluster whose centre
	// is the other. The objective is then in feature² throughout, and its minimiser
	// does not depend on the units. 0 is k-means. A value is given as new(0.5).
	Weight *float64 `json:"weight" range:">= 0"`
	// Farthest starts every run as Basu et al. do: the first centre is the mean of the
	// largest neighbourhood. Each further one is the mean of the neighbourhood whose
	// number of rows times squared distance from the nearest centre so far is largest.
	// Of equals the first is taken. False draws the centres.
	Farthest bool `json:"farthest"`
}

// Resolved returns p with its defaults filled in: those of KMeansParams, and Weight =
// 1.
func (p HMRFParams) Resolved() HMRFParams {
	p.KMeansParams = p.KMeansParams.Resolved()
	if p.Weight == nil {
		p.Weight = new(1.0)
	} else {
		p.Weight = new(*p.Weight) // a copy, so that the caller's variable is not kept
	}
	return p
}

// HMRF is a partition of rows into clusters around their means that respects links
// where that pays.
type HMRF struct {
	// Centres is K×d: the mean of each cluster.
	Centres *mat.Dense
	// Assignment is the cluster of each row.
	Assignment []int
	// Objective is Inertia + Penalty: Inertia is Σᵢ ‖xᵢ − centre of xᵢ‖², Penalty what
	// the broken links cost, both in feature².
	Objective, Inertia, Penalty float64
	// Broken counts the links that are not respected.
	Broken int
	// Result is of the run that is returned: learners.Converged if no row and no neighbourhood has a
	// better cluster, else learners.IterationCap. Residual is the number of rows that the last iteration
	// moved to another cluster, and 0 if it converged.
	learners.Result
	// Trace is the objective after each iteration of the run that is returned.
	Trace []float64
}

// FitHMRF is k-means with must-links (links labelled metric.Similar) and cannot-links
// (metric.Dissimilar) between the rows of the n×d matrix x: it looks for centres c
// and clusters a that minimise
//
//	Σᵢ ‖xᵢ − c_{aᵢ}‖² + w·Σ φ(i, j) over must-links with aᵢ ≠ aⱼ
//	                  + w·Σ (φ_max − φ(i, j)) over cannot-links with aᵢ = aⱼ,
//
// φ(i, j) = ‖xᵢ − xⱼ‖², φ_max the largest of all pairs of rows: it costs more to part
// rows that are far from each other, and to join rows that are near. A pair that is
// linked twice counts twice. Links may contradict each other: some are then broken.
//
// Source: HMRF-KMeans, Basu, Bilenko, Mooney, A Probabilistic Framework for
// Semi-Supervised Clustering, KDD 2004, with its penalties and the squared Euclidean
// distance. That is not learned: the step that updates the metric is left out, and
// with it the term log Z of their objective, a constant here. The program of the
// authors (WekaUT) differs, too. Here only links that are given cost something; theirs
// can add those that follow from them. The φ_max here is that of a pair of rows,
// theirs the diagonal of a box around them. Neighbourhoods move as a whole, too, and
// starts are drawn.
//
// An iteration gives the rows, one after the other in a random order, the cluster
// that is best while the others stay (iterated conditional modes), until none moves,
// and then each centre the mean of its rows. A neighbourhood (rows that must-links
// join, directly or through others) has its turn as a whole too, since with a large
// weight no row would leave it alone. The objective never increases, up to
// round-off. An empty cluster gets the row by which that lowers the objective most,
// if there is one.
//
// The first centres are means of neighbourhoods, drawn with probability
// proportional to their number of rows and to their squared distance from the
// nearest centre so far; where there are less than K, rows are drawn likewise. Every
// second start draws rows only: a few links may have all their neighbourhoods in one
// part of the data. Of all starts the first with the least objective is returned.
// Their program draws no neighbourhood: it starts with the largest and goes on with
// the farthest by weighted distance, as Farthest does in every start. Where there are
// too few, it perturbs the mean of all rows; Farthest draws rows.
//
// It returns an error if a parameter is not allowed, x is empty or has fewer than K
// rows, an entry is NaN or infinite, or ctx is done. It also does if a link has label
// 0, a row outside x or twice the same row, if squared distances or the weighted ones
// overflow, or if squared distances vanish though rows differ. It panics if x or rng is
// nil. Progress is told of the objective. An iteration costs O(nKd + s(n + m)K) for m
// links and s rounds through all rows, mostly a few; φ_max costs O(n²d), once, if there
// are cannot-links.
func FitHMRF(ctx context.Context, rng *rand.Rand, x mat.Matrix, links []metric.Link, p HMRFParams) (*HMRF, error) {
	xd := matrix.Dense(x)
	demandSource(rng)
	p = p.Resolved()
	if err := checkRows(xd, p.KMeansParams); err != nil {
		return nil, fmt.Errorf("hmrf: %w", err)
	}
	if err := ranges.Check("hmrf", p); err != nil {
		return nil, err
	}
	w := *p.Weight
	if err := checkSpread(xd); err != nil {
		return nil, fmt.Errorf("hmrf: %w", err)
	}
	n, _ := xd.Dims()
	if err := limits.Check(fmt.Sprintf("squared distances of %d rows to %d centres", n, p.K), limits.Floats(n, p.K)); err != nil {
		return nil, fmt.Errorf("hmrf: k: %w", err)
	}
	f, err := newField(ctx, xd, links, p.K, w)
	if err != nil {
		return nil, fmt.Errorf("hmrf: %w", err)
	}
	var best *HMRF
	for i := range p.Starts {
		how := drawNeighbourhoods
		switch {
		case p.Farthest:
			how = farthestNeighbourhoods
		case i%2 == 1:
			how = drawRows
		}
		r := f.run(how, p.MaxIterations, rng, runs{p.Progress, i, p.Starts}.report)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("hmrf: %w", err)
		}
		if best == nil || r.Objective < best.Objective {
			best = r
		}
	}
	return best, nil
}

// made returns r, and panics if no constructor made it.
func (r *HMRF) made() *HMRF {
	if r == nil || r.Centres == nil {
		panic("cluster: HMRF: zero value, use FitHMRF")
	}
	return r
}

// Assign returns the cluster of each row of x, which has no links: that of the
// nearest centre, of equally near ones the lowest. It panics if x is nil or does not
// have the columns of Centres.
func (r *HMRF) Assign(x mat.Matrix) []int {
	xd := matrix.Given("cluster: Assign: x", x)
	out, _ := nearest(xd, r.made().Centres)
	return out
}

// edge is a link as one of its rows sees it.
type edge struct {
	row  int
	must bool
	cost float64 // of breaking it
}

// field is the objective and its variables.
type field struct {
	ctx   context.Context // once it is done, all numbers are meaningless
	x     *mat.Dense
	k     int
	edges [][]edge // of each row
	// units are what moves as a whole: neighbourhoods, then single rows.
	units          [][]int
	neighbourhoods int

	centres *mat.Dense
	sq      *mat.Dense // n×K: squared distance of each row from each centre
	cluster []int      // of each row; −1 before its first turn
	turn    []bool     // scratch: the row is in the unit whose turn it is
}

func newField(ctx context.Context, x *mat.Dense, links []metric.Link, k int, w float64) (*field, error) {
	n, _ := x.Dims()
	f := &field{
		ctx: ctx, x: x, k: k, edges: make([][]edge, n),
		sq: mat.NewDense(n, k, nil), cluster: make([]int, n), turn: make([]bool, n),
	}
	var widest float64
	for i, l := range links {
		switch {
		case !l.Label.Valid():
			return nil, fmt.Errorf("links: link %d: label %d is not allowed, want 1 (similar) or -1 (dissimilar)", i, int8(l.Label))
		case l.I < 0 || l.I >= n || l.J < 0 || l.J >= n || l.I == l.J:
			return nil, fmt.Errorf("links: link %d: rows %d and %d are not allowed, want two different ones of 0 to %d", i, l.I, l.J, n-1)
		case l.Label == metric.Dissimilar && widest == 0:
			widest = largestSqDist(ctx, x)
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	var total float64
	for _, l := range links {
		cost := metric.Euclidean{}.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		if l.Label == metric.Dissimilar {
			cost = widest - cost
		}
		cost *= w
		total += cost
		f.edges[l.I] = append(f.edges[l.I], edge{l.J, l.Label == metric.Similar, cost})
		f.edges[l.J] = append(f.edges[l.J], edge{l.I, l.Label == metric.Similar, cost})
	}
	if math.IsInf(total, 0) {
		return nil, errors.New("weight: weighted squared distances overflow float64: rescale the features")
	}
	f.units = neighbourhoods(f.edges)
	f.neighbourhoods = len(f.units)
	for i := range n {
		f.units = append(f.units, []int{i})
	}
	return f, nil
}

func largestSqDist(ctx context.Context, x *mat.Dense) float64 {
	n, _ := x.Dims()
	var most float64
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		for j := range i {
			most = max(most, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)))
		}
	}
	return most
}

// neighbourhoods returns the sets of at least two rows that must-links join, each
// ascending, ordered by their first row.
func neighbourhoods(edges [][]edge) [][]int {
	seen := make([]bool, len(edges))
	var out [][]int
	for i := range edges {
		if seen[i] {
			continue
		}
		seen[i] = true
		set := []int{i}
		for at := 0; at < len(set); at++ {
			for _, e := range edges[set[at]] {
				if e.must && !seen[e.row] {
					seen[e.row] = true
					set = append(set, e.row)
				}
			}
		}
		if len(set) > 1 {
			slices.Sort(set)
			out = append(out, set)
		}
	}
	return out
}

// start is how the first centres are found.
type start int

const (
	drawNeighbourhoods start = iota
	drawRows
	farthestNeighbourhoods
)

// run is one start.
func (f *field) run(how start, most int, rng *rand.Rand, report func(iteration, most int, objective float64)) *HMRF {
	r := &HMRF{Result: learners.Result{Status: learners.IterationCap}}
	f.centres = f.drawCentres(how, rng)
	f.measure()
	f.begin(rng)
	if f.ctx.Err() != nil {
		return r
	}
	var before []int
	size := make([]int, f.k)
	for range most {
		f.measure()
		f.settle(rng)
		if f.ctx.Err() != nil {
			return r
		}
		clear(size)
		for _, c := range f.cluster {
			size[c]++
		}
		f.fill(size)
		if slices.Equal(f.cluster, before) {
			r.Status, r.Residual = learners.Converged, 0
			break
		}
		r.Iterations++
		r.Residual = moved(before, f.cluster)
		before = slices.Clone(f.cluster)
		means(rowsOf(f.x), f.centres, f.cluster, size)
		f.score(r)
		r.Trace = append(r.Trace, r.Objective)
		report(len(r.Trace), most, r.Objective)
	}
	r.Centres, r.Assignment = f.centres, before
	return r
}

// drawCentres draws or chooses K centres, neighbourhoods first if these are wanted.
func (f *field) drawCentres(how start, rng *rand.Rand) *mat.Dense {
	n, d := f.x.Dims()
	centres := mat.NewDense(f.k, d, nil)
	made := 0
	if how != drawRows && f.neighbourhoods > 0 {
		groups := mat.NewDense(f.neighbourhoods, d, nil)
		weights := make([]float64, f.neighbourhoods)
		for g := range weights {
			one := f.units[g]
			for _, i := range one {
				floats.AddScaled(groups.RawRowView(g), 1/float64(len(one)), f.x.RawRowView(i))
			}
			weights[g] = float64(len(one))
		}
		take := drawn(rng)
		if how == farthestNeighbourhoods {
			take = largest
		}
		made = spread(centres, 0, min(f.k, f.neighbourhoods), groups, weights, take)
	}
	made = spread(centres, made, f.k, f.x, slices.Repeat([]float64{1}, n), drawn(rng))
	for ; made < f.k; made++ { // every row is a centre
		centres.SetRow(made, f.x.RawRowView(rng.IntN(n)))
	}
	return centres
}

// drawn takes a point with probability proportional to its chance.
func drawn(rng *rand.Rand) func(chances []float64) int {
	return func(chances []float64) int { return draw(chances, rng) }
}

// largest takes the first point of the largest chance; −1 if all chances are 0.
func largest(chances []float64) int {
	if i := floats.MaxIdx(chances); chances[i] > 0 {
		return i
	}
	return -1
}

// spread takes centres from number made up to number upTo from the rows of points. The
// chance of a point is its weight times its squared distance from the nearest centre so
// far, or its weight alone if there is no centre. spread returns how many centres there
// are: less than upTo if all points are centres.
func spread(centres *mat.Dense, made, upTo int, points *mat.Dense, weights []float64, take func(chances []float64) int) int {
	chances := slices.Clone(weights)
	near := slices.Repeat([]float64{math.Inf(1)}, len(weights))
	taken := func(c int) {
		for i, w := range weights {
			near[i] = min(near[i], metric.Euclidean{}.SqDist(points.RawRowView(i), centres.RawRowView(c)))
			chances[i] = w * near[i]
		}
	}
	for c := range made {
		taken(c)
	}
	for ; made < upTo; made++ {
		i := take(chances)
		if i < 0 {
			break
		}
		centres.SetRow(made, points.RawRowView(i))
		taken(made)
	}
	return made
}

// begin gives each unit the cluster that is best with those of the units before it:
// first neighbourhoods, then rows that are in none.
func (f *field) begin(rng *rand.Rand) {
	for i := range f.cluster {
		f.cluster[i] = -1
	}
	for _, part := range [][][]int{f.units[:f.neighbourhoods], f.units[f.neighbourhoods:]} {
		for k, u := range rng.Perm(len(part)) {
			if k%looks == 0 && f.ctx.Err() != nil {
				return
			}
			if f.cluster[part[u][0]] < 0 {
				f.move(part[u])
			}
		}
	}
}

// measure computes the distances from the centres.
func (f *field) measure() {
	n, _ := f.x.Dims()
	for i := range n {
		if i%looks == 0 && f.ctx.Err() != nil {
			return
		}
		row := f.sq.RawRowView(i)
		for c := range row {
			row[c] = metric.Euclidean{}.SqDist(f.x.RawRowView(i), f.centres.RawRowView(c))
		}
	}
}

// settle moves units in random orders until none has a better cluster.
func (f *field) settle(rng *rand.Rand) {
	for moved := true; moved; {
		moved = false
		for k, u := range rng.Perm(len(f.units)) {
			if k%looks == 0 && f.ctx.Err() != nil {
				return
			}
			moved = f.move(f.units[u]) || moved
		}
	}
}

// moveTol is the least share of its cost by which a move must be better, well above
// round-off, so that rows do not move in circles.
const moveTol = 1e-12

// move gives the unit its best cluster and reports whether that is another one.
func (f *field) move(unit []int) bool {
	for _, i := range unit {
		f.turn[i] = true
	}
	best, least := -1, math.Inf(1)
	if f.cluster[unit[0]] >= 0 {
		least = f.cost(unit, -1)
		least -= moveTol * least
	}
	for c := range f.k {
		if cost := f.cost(unit, c); cost < least {
			best, least = c, cost
		}
	}
	for _, i := range unit {
		f.turn[i] = false
		if best >= 0 {
			f.cluster[i] = best
		}
	}
	return best >= 0
}

// cost returns what the objective has of the rows of the unit if they are in cluster
// c, or where they are if c is −1. Links to rows that are in no cluster yet count
// nothing.
func (f *field) cost(unit []int, c int) float64 {
	var sum float64
	for _, i := range unit {
		own := c
		if c < 0 {
			own = f.cluster[i]
		}
		sum += f.sq.At(i, own)
		for _, e := range f.edges[i] {
			other, share := f.cluster[e.row], e.cost
			if f.turn[e.row] { // counted at both rows
				share /= 2
				if c >= 0 {
					other = c
				}
			}
			if other >= 0 && e.must == (own != other) {
				sum += share
			}
		}
	}
	return sum
}

// fill gives each empty cluster the row that is better alone in it by most.
func (f *field) fill(size []int) {
	for c := range size {
		if size[c] > 0 {
			continue
		}
		best, most := -1, 0.0
		for i, a := range f.cluster {
			if size[a] == 1 {
				continue
			}
			one := []int{i}
			// Alone in the cluster, the row is its centre.
			alone := f.cost(one, c) - f.sq.At(i, c)
			now := f.cost(one, -1)
			if gain := now - alone; gain > moveTol*now && gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			return
		}
		size[f.cluster[best]]--
		f.cluster[best], size[c] = c, 1 // its centre moves there with the next means
	}
}

// score sets the parts of the objective of r.
func (f *field) score(r *HMRF) {
	r.Inertia, r.Penalty, r.Broken = 0, 0, 0
	for i, c := range f.cluster {
		r.Inertia += metric.Euclidean{}.SqDist(f.x.RawRowView(i), f.centres.RawRowView(c))
		for _, e := range f.edges[i] {
			if i < e.row && e.must == (c != f.cluster[e.row]) {
				r.Penalty += e.cost
				r.Broken++
			}
		}
	}
	r.Objective = r.Inertia + r.Penalty
}
