package rmp2007

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
)

// optimum is the best map in hindsight as far as it is known.
type optimum struct {
	// pi is the best map found, upper what it costs; no map costs less than lower.
	pi           []int
	upper, lower float64
	// dual is the lower bound before sets are tried, left the number of prototypes that can
	// belong to a better map.
	dual float64
	left int
}

const (
	// searchStarts is the number of random sets from which the best map is searched.
	searchStarts = 50
	// dualSteps is the largest number of subgradient steps.
	dualSteps = 4000
	// roundOff is the share of a cost within which sums of costs in another order are equal.
	roundOff = 1e-10
)

// findOptimum looks for the map with at most m prototypes of least total cost, and for a proof. The map is
// that of FasterPAM from many starts. For any λ the Lagrangian dual of the k-median problem (Cornuéjols, Fisher
// and Nemhauser 1977),
//
//	L(λ) = Σᵢ λᵢ + the sum of the m least ρⱼ,  ρⱼ = Σᵢ min(0, cᵢⱼ − λᵢ),
//
// is at most the cost of every map: objects are relieved of having to be served, at the price λᵢ. It is raised by
// subgradient steps. A prototype j outside the m least that belongs to a map as good as the one found must have
// L − (the m-th least ρ) + ρⱼ ≤ upper. Where few such prototypes are left, all their sets are tried and the
// optimum is exact.
func findOptimum(ctx context.Context, cost *mat.Dense, m, starts int, rng *rand.Rand) (optimum, error) {
	best, err := cluster.FitFasterPAM(ctx, cost, cluster.MedoidsParams{M: m, Starts: starts}, rng)
	if err != nil {
		return optimum{}, err
	}
	return certify(cost, best.Set)
}

// certify returns the best map that it finds, at worst that to the given set of prototypes, and what it proves of
// it.
func certify(cost *mat.Dense, found []int) (optimum, error) {
	pi, upper, err := cluster.Assign(cost, found)
	if err != nil {
		return optimum{}, err
	}
	o := optimum{pi: pi, upper: upper}
	m := len(found)
	a, b := cost.Dims()
	columns := mat.DenseCopyOf(cost.T())

	// λ starts at the second cheapest of the prototypes found, the price up to which no other would serve.
	lambda := make([]float64, a)
	for i := range lambda {
		served := make([]float64, m)
		for k, j := range found {
			served[k] = cost.At(i, j)
		}
		slices.Sort(served)
		lambda[i] = served[min(1, m-1)]
	}
	o.dual = math.Inf(-1)
	var bestRho []float64
	var bestCut float64
	theta, stale := 1.5, 0
	for range dualSteps {
		rho := make([]float64, b)
		for j := range rho {
			for i, c := range columns.RawRowView(j) {
				if c < lambda[i] {
					rho[j] += c - lambda[i]
				}
			}
		}
		order := make([]int, b)
		for j := range order {
			order[j] = j
		}
		slices.SortStableFunc(order, func(j, k int) int { return cmp.Compare(rho[j], rho[k]) })
		value := 0.0
		for _, l := range lambda {
			value += l
		}
		for _, j := range order[:m] {
			value += rho[j]
		}
		if value > o.dual {
			o.dual, bestRho, bestCut, stale = value, rho, rho[order[m-1]], 0
		} else if stale++; stale == 30 {
			theta, stale = theta/2, 0
		}
		// The subgradient: 1 minus the number of open prototypes that object i would use.
		norm := 0.0
		g := make([]float64, a)
		for i := range g {
			g[i] = 1
			for _, j := range order[:m] {
				if columns.At(j, i) < lambda[i] {
					g[i]--
				}
			}
			norm += g[i] * g[i]
		}
		if norm == 0 || theta < 1e-4 || o.dual >= o.upper*(1-roundOff) {
			break
		}
		step := theta * (o.upper*(1+1e-6) - value) / norm
		for i := range lambda {
			lambda[i] += step * g[i]
		}
	}
	o.lower = min(o.dual, o.upper)
	if o.dual >= o.upper*(1-roundOff) {
		o.lower, o.left = o.upper, m
		return o, nil
	}
	var left []int
	for j, r := range bestRho {
		if o.dual-bestCut+r <= o.upper*(1+roundOff) {
			left = append(left, j)
		}
	}
	o.left = len(left)
	if sets := logSets(len(left), m); sets > math.Log(maxTried) {
		return o, nil
	}
	if set, least := tryAll(columns, left, m); least < o.upper {
		if o.pi, o.upper, err = cluster.Assign(cost, set); err != nil {
			return o, err
		}
	}
	o.lower = o.upper
	return o, nil
}

// maxTried is the largest number of sets that are all tried.
const maxTried = 3e6

// logSets returns ln C(n, m).
func logSets(n, m int) float64 { return mapping.LogMaps(1, n, m) - math.Log(float64(m)) }

// tryAll returns the set of m of the given columns that serves at the least cost, and that cost.
func tryAll(columns *mat.Dense, from []int, m int) ([]int, float64) {
	_, a := columns.Dims()
	served := make([][]float64, m+1) // served[d] by the first d members
	for d := range served {
		served[d] = make([]float64, a)
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
		for k := start; k <= len(from)-m+d; k++ {
			set[d] = from[k]
			for i, c := range columns.RawRowView(from[k]) {
				served[d+1][i] = min(served[d][i], c)
			}
			descend(d+1, k+1)
		}
	}
	descend(0, 0)
	return best, least
}
