package linear

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
)

// RFEVersion changes whenever FitRFE gives another ranking for the same input.
const RFEVersion = 1

// RFEParams are the parameters of FitRFE.
type RFEParams struct {
	// SVM are the parameters of the classifier that ranks the features.
	SVM SVMParams `json:"svm"`
	// Chunk in [0, 1) is the share of the surviving features that goes in one
	// round, rounded down, but at least one. The default is 0: one at a time.
	Chunk float64 `json:"chunk" range:">= 0 and < 1"`
	// Single ≥ 0 is the number of survivors from which on features go one at a
	// time: no chunk takes fewer than that. The default is 0.
	Single int `json:"single" range:">= 0"`
}

// Resolved returns p with its defaults filled in: those of SVM.
func (p RFEParams) Resolved() RFEParams {
	p.SVM = p.SVM.Resolved()
	return p
}

// RFE is a ranking of features by recursive feature elimination. It is immutable
// and safe for concurrent use.
type RFE struct {
	// Result has learners.Converged if every fit did, else why the last that did not stopped.
	// Iterations counts the passes over the rows in all fits, and Residual is the largest of their
	// duality gaps.
	learners.Result
	order []int // best first
	fits  int
}

// FitRFE ranks the features of the n×d matrix x by how late they are eliminated:
// it fits a linear SVM (see FitSVM) to the surviving features, drops those of
// smallest w², and so on. Source: Guyon, Weston, Barnhill and Vapnik, Gene
// Selection for Cancer Classification using Support Vector Machines, Machine
// Learning 46, 2002 (SVM-RFE). One path serves every number of features.
//
// With Chunk several go in a round, ordered among themselves by w²: faster, and
// another ranking. Guyon et al. halve the survivors (Chunk = 0.5). Of equal w²
// the feature of higher index goes first. Features whose weight is exactly 0,
// such as constant zeros, go together in any case: without them the solution is
// the same, so that one at a time they would go next, in the same order.
//
// Each fit starts from the multipliers of the one before, which stay feasible.
// The errors and panics are those of FitSVM, and it returns an error if Chunk or
// Single is not allowed. A round costs some passes over the surviving features.
func FitRFE(ctx context.Context, rng *rand.Rand, x mat.Matrix, y []classify.Label, p RFEParams) (*RFE, error) {
	xd := matrix.Dense(x)
	if rng == nil {
		panic("linear: FitRFE: the source of random numbers is nil")
	}
	p = p.Resolved()
	if err := ranges.Check("rfe", p); err != nil {
		return nil, err
	}
	s, err := newSVMSolver(ctx, xd, y, p.SVM)
	if err != nil {
		return nil, fmt.Errorf("rfe: %w", err)
	}
	_, d := xd.Dims()
	r := &RFE{order: make([]int, d), Result: learners.Result{Status: learners.Converged}}
	alive := make([]int, d) // features, by column of s
	for j := range alive {
		alive[j] = j
	}
	for len(alive) > 1 {
		status, epochs := s.solve(rng)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("rfe: %w", err)
		}
		r.fits++
		r.Iterations += epochs
		r.Residual = max(r.Residual, s.gap)
		if status != learners.Converged {
			r.Status = status
		}
		w, b := s.hyperplane()
		if err := (&Hyperplane{w, b}).check(); err != nil {
			return nil, fmt.Errorf("rfe: rescale the features: %w", err)
		}
		worst := make([]int, len(alive)) // columns, smallest w² first
		zero := 0
		for k, v := range w {
			worst[k] = k
			if v == 0 {
				zero++
			}
		}
		slices.SortFunc(worst, func(i, j int) int {
			return cmp.Or(cmp.Compare(math.Abs(w[i]), math.Abs(w[j])), cmp.Compare(j, i))
		})
		drop := max(int(p.Chunk*float64(len(alive))), 1)
		drop = max(min(drop, len(alive)-p.Single), zero, 1)
		drop = min(drop, len(alive)-1)
		gone := make([]bool, len(alive))
		for k, c := range worst[:drop] {
			gone[c] = true
			r.order[len(alive)-1-k] = alive[c]
		}
		s.drop(gone)
		kept := alive[:0]
		for c, j := range alive {
			if !gone[c] {
				kept = append(kept, j)
			}
		}
		alive = kept
	}
	if err := ctx.Err(); err != nil { // of a single feature
		return nil, fmt.Errorf("rfe: %w", err)
	}
	r.order[0] = alive[0]
	return r, nil
}

// drop removes the columns that are gone; w is made anew by the next audit.
func (s *svmSolver) drop(gone []bool) {
	to := 0
	for i := range s.y {
		for c, v := range s.row(i) {
			if c == len(gone) || !gone[c] { // the last column is the constant
				s.rows[to] = v
				to++
			}
		}
	}
	s.width = to / len(s.y)
}

// Order returns a copy of the ranking: the feature that survives longest first.
func (r *RFE) Order() []int { return slices.Clone(r.order) }

// Top returns the m features that survive longest, in ascending order. It panics
// unless 0 ≤ m ≤ d.
func (r *RFE) Top(m int) []int { return slices.Sorted(slices.Values(r.order[:m])) }

// Fits returns the number of fits.
func (r *RFE) Fits() int { return r.fits }
