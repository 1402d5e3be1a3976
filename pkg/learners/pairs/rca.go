package pairs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// RCAVersion changes whenever FitRCA gives other numbers for the same input.
const RCAVersion = 2

// RCAParams are the parameters of FitRCA.
type RCAParams struct {
	// Ridge is the regularisation ρ ≥ 0, relative to the mean variance within
	// chunklets. The default is 0, plain RCA with the pseudo-inverse: no
	// regularisation unless it is asked for.
	Ridge float64 `json:"ridge" range:">= 0" doc:"regularisation, relative to the mean variance within chunklets"`
}

// Resolved returns p with defaults filled in. Zero is a legal ridge and the
// default, so it returns p.
func (p RCAParams) Resolved() RCAParams { return p }

// FitRCA learns a metric by relevant component analysis (Shental, Hertz,
// Weinshall and Pavel, ECCV 2002):
//
//	M = (C + ρ·s·I)⁻¹,  C = (1/p) Σ_chunklets Σ_{x in chunklet} (x−m)(x−m)ᵀ,  s = tr(C)/d,
//
// where m is the mean of the chunklet of x and p the number of points in
// chunklets. x is n×d, a row per object. Chunklets are the connected components
// of the similar links; dissimilar links are checked and then ignored, and so
// are repeated links and links of a row with itself.
//
// A direction without variance inside chunklets, such as a constant feature,
// has weight 1/(ρ·s) if ρ > 0, and weight 0 if ρ = 0 (see
// metric.InverseScatter). In all other directions, with ρ = 0, the embedded
// chunklets have covariance I.
//
// The answer is in closed form: Status is learners.Closed. FitRCA returns an error
// if no similar link joins two different rows, all linked points coincide with
// their chunklet's mean, or a link has label 0 or an index outside x. It also does
// if an entry of x is NaN or infinite, Ridge is negative or not finite, or ctx is
// done. It panics if x is nil or empty.
//
// The cost is that of metric.InverseScatter on a matrix with one row per
// non-redundant link: at most min(number of similar links, p−1).
//
// The same on a page, without speed: [metriclab/pkg/learners/plain.RCA].
func FitRCA(ctx context.Context, x mat.Matrix, links []metric.Link, p RCAParams) (learners.MetricResult, error) {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("pairs: FitRCA: x is nil or empty")
	}
	n, d := xd.Dims()
	p = p.Resolved()
	if err := ranges.Check("rca", p); err != nil {
		return learners.MetricResult{}, err
	}
	if err := metric.CheckFinite(xd); err != nil {
		return learners.MetricResult{}, fmt.Errorf("rca: %w", err)
	}
	chunks, err := chunklets(n, links)
	if err != nil {
		return learners.MetricResult{}, fmt.Errorf("rca: %w", err)
	}
	points := 0
	for _, c := range chunks {
		points += len(c)
	}
	if points == 0 {
		return learners.MetricResult{}, errors.New("rca: links: no similar link between two different rows, want at least one")
	}
	dev := mat.NewDense(points-len(chunks), d, nil)
	row := 0
	mean := make([]float64, d)
	for _, c := range chunks {
		// Helmert contrasts, row k = √(k/(k+1))·(x_k − mean of x_0…x_{k−1}),
		// have the scatter of the deviations from the mean with one row less.
		copy(mean, xd.RawRowView(c[0]))
		for k := 1; k < len(c); k++ {
			r := dev.RawRowView(row)
			row++
			floats.SubTo(r, xd.RawRowView(c[k]), mean)
			floats.AddScaled(mean, 1/float64(k+1), r)
			floats.Scale(math.Sqrt(float64(k)/float64(k+1)), r)
		}
	}
	fit := func(context.Context) (learners.MetricResult, error) {
		m, err := metric.InverseScatter(dev, float64(points), p.Ridge)
		if err != nil {
			return learners.MetricResult{}, fmt.Errorf("rca: within chunklets: %w", err)
		}
		return learners.MetricResult{Metric: m, Result: learners.Result{Status: learners.Closed}}, nil
	}
	if rows, _ := dev.Dims(); abandon.Long(rows+d, d, d) {
		return abandon.Do(ctx, "rca", fit) // nobody else has the deviations
	}
	if err := ctx.Err(); err != nil {
		return learners.MetricResult{}, fmt.Errorf("rca: %w", err)
	}
	return fit(ctx)
}

// chunklets returns the connected components of the similar links that have at
// least two rows, each ascending, ordered by their first row.
func chunklets(n int, links []metric.Link) ([][]int, error) {
	parent := make([]int, n)
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	if err := metric.CheckLinks(n, links); err != nil {
		return nil, err
	}
	for _, l := range links {
		if l.Label == metric.Similar {
			a, b := find(l.I), find(l.J)
			parent[max(a, b)] = min(a, b) // the root is the first row of its chunklet
		}
	}
	members := make([][]int, n)
	for i := range n {
		r := find(i)
		members[r] = append(members[r], i)
	}
	return slices.DeleteFunc(members, func(c []int) bool { return len(c) < 2 }), nil
}
