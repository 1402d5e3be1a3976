package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"
)

// MedoidsCertificate is a set of candidates and what is proved of the best set of as many.
type MedoidsCertificate struct {
	// Set is the best set that is known, in ascending order, Prototype and Cost what Assign
	// says of it. No set of as many candidates costs less than Lower, which is Cost where
	// Set is proved to be a best one.
	Set         []int
	Prototype   []int
	Cost, Lower float64
	// Dual is the bound that the Lagrangian dual alone proves. It may exceed Cost by
	// round-off.
	Dual float64
	// Left is the number of candidates that the dual leaves to a better set; the size of Set
	// where it proves that there is none.
	Left int
}

const (
	// dualSteps is the largest number of subgradient steps.
	dualSteps = 4000
	// dualRoundOff is the share of a cost within which sums of costs in another order are equal.
	dualRoundOff = 1e-10
	// maxTried is the largest number of sets that are all tried.
	maxTried = 3e6
)

// CertifyMedoids bounds from below what any set of as many candidates as the given one costs,
// such as that of FitFasterPAM, which is a local optimum only. For any λ the Lagrangian dual of
// the k-median problem (Cornuéjols, Fisher and Nemhauser, Location of Bank Accounts to Optimize
// Float, Management Science 23, 1977),
//
//	L(λ) = Σᵢ λᵢ + the sum of the m least ρⱼ,  ρⱼ = Σᵢ min(0, cᵢⱼ − λᵢ),
//
// is at most the cost of every set: points are relieved of having to be served, at the price λᵢ.
// It is raised by at most 4000 subgradient steps. A candidate outside the m least that belongs to
// a set as good as the given one must have L − (the m-th least ρ) + ρⱼ ≤ Cost. Where at most
// three million sets of such candidates are left, all are tried: the answer is then a best set,
// be it another one. Bounds hold up to a share of 1e-10 of the cost.
//
// It draws nothing. It returns an error for a set or a cost that Assign refuses, for a negative
// cost, or if ctx is done, and panics if cost is nil. A step takes O(AB), and each of the sets
// that are tried about O(A); memory is that of FitFasterPAM. KMedoidsVersion counts its changes.
func CertifyMedoids(ctx context.Context, cost mat.Matrix, set []int) (*MedoidsCertificate, error) {
	cols, err := columns(cost)
	if err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	if err := checkSet("set", set, len(cols)); err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	for j, col := range cols {
		for i, c := range col {
			if c < 0 {
				return nil, fmt.Errorf("certify: cost: row %d, column %d: %v is not allowed, want at least 0: less the least of its row, say", i, j, c)
			}
		}
	}
	m := len(set)
	c := &MedoidsCertificate{Set: slices.Sorted(slices.Values(set))}
	c.Prototype, c.Cost = assign(cols, c.Set)
	d := newMedoidsDual(cols, c.Set)
	if err := d.raise(ctx, c.Cost); err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	c.Dual, c.Lower = d.bound, min(d.bound, c.Cost)
	if reaches(d.bound, c.Cost) {
		c.Lower, c.Left = c.Cost, m
		return c, nil
	}
	left := d.candidates(c.Cost)
	c.Left = len(left)
	if combin.LogGeneralizedBinomial(float64(len(left)), float64(m)) > math.Log(maxTried) {
		return c, nil
	}
	best, least, err := tryAll(ctx, cols, left, m)
	if err != nil {
		return nil, fmt.Errorf("certify: %w", err)
	}
	if least < c.Cost {
		c.Set = best
		c.Prototype, c.Cost = assign(cols, best)
	}
	c.Lower = c.Cost
	return c, nil
}

// reaches reports whether a lower bound proves that nothing costs less, up to round-off.
func reaches(bound, cost float64) bool { return bound >= cost*(1-dualRoundOff) }

// medoidsDual is the Lagrangian dual at some prices, and the best bound so far.
type medoidsDual struct {
	cols   [][]float64
	m      int
	lambda []float64 // the price of each point
	rho    []float64 // of each candidate, what it saves at these prices: at most 0
	order  []int     // the candidates from the least ρ on

	bound    float64   // the largest value so far
	boundRho []float64 // the ρ of the step that gave it
	cut      float64   // the m-th least of these
}

// newMedoidsDual starts λ at the second cheapest of the given set, the price up to which no
// other member would serve.
func newMedoidsDual(cols [][]float64, set []int) *medoidsDual {
	d := &medoidsDual{
		cols: cols, m: len(set), bound: math.Inf(-1),
		lambda: make([]float64, len(cols[0])), rho: make([]float64, len(cols)), order: make([]int, len(cols)),
	}
	served := make([]float64, d.m)
	for i := range d.lambda {
		for k, j := range set {
			served[k] = cols[j][i]
		}
		slices.Sort(served)
		d.lambda[i] = served[min(1, d.m-1)]
	}
	return d
}

// raise takes subgradient steps until the bound reaches cost or no longer grows.
func (d *medoidsDual) raise(ctx context.Context, cost float64) error {
	theta, stale := 1.5, 0
	g := make([]float64, len(d.lambda))
	for range dualSteps {
		value, err := d.value(ctx)
		if err != nil {
			return err
		}
		if value > d.bound {
			d.bound, d.boundRho, d.cut, stale = value, slices.Clone(d.rho), d.rho[d.order[d.m-1]], 0
		} else if stale++; stale == 30 {
			theta, stale = theta/2, 0
		}
		norm := d.subgradient(g)
		if norm == 0 || theta < 1e-4 || reaches(d.bound, cost) {
			break
		}
		step := theta * (cost*(1+1e-6) - value) / norm
		for i := range d.lambda {
			d.lambda[i] += step * g[i]
		}
	}
	return nil
}

// value makes rho and order anew and returns L(λ).
func (d *medoidsDual) value(ctx context.Context) (float64, error) {
	for j, col := range d.cols {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		d.rho[j], d.order[j] = 0, j
		for i, c := range col {
			if c < d.lambda[i] {
				d.rho[j] += c - d.lambda[i]
			}
		}
	}
	slices.SortStableFunc(d.order, func(j, k int) int { return cmp.Compare(d.rho[j], d.rho[k]) })
	value := 0.0
	for _, l := range d.lambda {
		value += l
	}
	for _, j := range d.order[:d.m] {
		value += d.rho[j]
	}
	return value, nil
}

// subgradient sets g to that of L, 1 minus the number of open candidates that a point would use,
// and returns ‖g‖².
func (d *medoidsDual) subgradient(g []float64) float64 {
	norm := 0.0
	for i := range g {
		g[i] = 1
		for _, j := range d.order[:d.m] {
			if d.cols[j][i] < d.lambda[i] {
				g[i]--
			}
		}
		norm += g[i] * g[i]
	}
	return norm
}

// candidates returns those that the bound leaves to a set of at most this cost, in ascending order.
func (d *medoidsDual) candidates(cost float64) []int {
	var left []int
	for j, r := range d.boundRho {
		if d.bound-d.cut+r <= cost*(1+dualRoundOff) {
			left = append(left, j)
		}
	}
	return left
}

// tryAll returns the set of m of the given candidates that serves at the least cost, the first
// of equal ones, and that cost. Its only error is that of ctx.
func tryAll(ctx context.Context, cols [][]float64, from []int, m int) ([]int, float64, error) {
	served := make([][]float64, m+1) // served[d] by the first d members
	for d := range served {
		served[d] = make([]float64, len(cols[0]))
	}
	for i := range served[0] {
		served[0][i] = math.Inf(1)
	}
	set, best := make([]int, m), make([]int, m)
	least := math.Inf(1)
	var descend func(d, start int)
	descend = func(d, start int) {
		if d == m {
			sum := 0.0
			for _, c := range served[m] {
				sum += c
			}
			if sum < least {
				least = sum
				copy(best, set)
			}
			return
		}
		for k := start; k <= len(from)-m+d && ctx.Err() == nil; k++ {
			set[d] = from[k]
			for i, c := range cols[from[k]] {
				served[d+1][i] = min(served[d][i], c)
			}
			descend(d+1, k+1)
		}
	}
	descend(0, 0)
	return best, least, ctx.Err()
}
