package ssikdr

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
)

// Version changes whenever a fit gives other numbers for the same input.
const Version = 1

// Params are the parameters of Fit, FitGram and Path.
type Params struct {
	// Tau is τ, the weight of the trace, >= 0. The larger it is, the lower the rank; 0 leaves ½‖W‖² alone.
	Tau float64 `range:">= 0" default:"1" doc:"weight of the trace: the larger, the lower the rank"`
	// Slack is the rule of what it costs to violate a constraint by s: not allowed, C·s, or (C/2)·s².
	Slack ltkernel.SlackRule `words:"l2|l1|hard" doc:"cost of violating a constraint by s: c s²/2 (l2), c s (l1), not allowed (hard)"`
	// C is the weight of slack, > 0; 0 means 1.
	C float64 `range:"> 0" needs:"slack=l2|l1" doc:"weight of slack"`
	// Tol is the tolerance of the KKT residual and of the relative duality gap, > 0; 0 means 1e-5.
	Tol float64 `range:"> 0" doc:"KKT residual at which to stop, relative to the size of a constraint"`
	// MaxIterations is the cap on steps, at least 1; 0 means 20,000.
	MaxIterations int `range:">= 1" name:"iterations" doc:"cap on steps, of each start"`
	// Progress, if not nil, is told of each step.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in.
func (p Params) Resolved() Params {
	p.C = cmp.Or(p.C, 1)
	p.Tol = cmp.Or(p.Tol, 1e-5)
	p.MaxIterations = cmp.Or(p.MaxIterations, 20000)
	return p
}

func (p Params) check() error {
	if err := checkSlack(p.Slack); err != nil {
		return err
	}
	return ranges.Check("ssikdr", p)
}

func checkSlack(r ltkernel.SlackRule) error {
	if r < ltkernel.SlackHard || r > ltkernel.SlackL2 {
		return fmt.Errorf("ssikdr: %s", r)
	}
	return nil
}

// Result is the answer for a Gram matrix: W = ΦSΦᵀ of rank k, S = GᵀG.
type Result struct {
	learners.Result
	// Solution has the numbers of the stopping rule. Its Rank is k.
	ltkernel.Solution
	// Support holds the objects that the constraints join, ascending. W is made of these.
	Support []int
	// Values holds the k positive eigenvalues of W, descending.
	Values []float64
	// G is k×len(Support). Row i times an object's kernel values with the support is the object's coordinate i, along the
	// eigenvector of Values[i]. The entry of the largest magnitude in each row is positive. G is nil if W = 0.
	G *mat.Dense
	// Objectives holds the objective at the end of each start of FitRank, which does not count violations of hard constraints; nil of others.
	Objectives []float64
	// Best is the start of the answer of FitRank: the one of least objective; without slack, of those with the fewest violated constraints.
	Best int
}

// Learned returns the learned kernel K(x, z) = k(x)ᵀSk(z), k(x) = κ of x and each object of the support.
func (r Result) Learned() kernels.Learned {
	s := mat.NewSymDense(len(r.Support), nil)
	if r.G != nil {
		s = matrix.Outer(1, r.G.T())
	}
	return kernels.Learned{Support: r.Support, S: s}
}

// Coordinates returns the coordinates of objects, known at the fit or not, along the first dims directions of W; 0 means all (Lemma 10 and the text
// after it). With all directions, Euclidean distances between coordinates are the learned ones. It panics if dims < 0.
func (r Result) Coordinates(dims int) kernels.Coordinates {
	if dims < 0 {
		panic(mat.ErrShape)
	}
	if r.G == nil {
		return kernels.Coordinates{}
	}
	g := r.G
	if k, t := g.Dims(); dims > 0 && dims < k {
		g = g.Slice(0, dims, 0, t).(*mat.Dense)
	}
	return kernels.Coordinates{Support: slices.Clone(r.Support), G: mat.DenseCopyOf(g)}
}

// Metric returns Coordinates(dims) as a metric of points, for the kernel k and the rows of x, n×d, whose Gram matrix K₀ is. It panics if k or x is nil, x
// lacks a row of the support, or dims < 0.
func (r Result) Metric(k kernels.Kernel, x mat.Matrix, dims int) *kernels.Metric {
	xd := matrix.Given("ssikdr: Metric: x", x)
	_, d := xd.Dims()
	c := r.Coordinates(dims)
	if c.G == nil {
		return kernels.NewMetric(k, d, nil, nil)
	}
	rows := mat.NewDense(len(r.Support), d, nil)
	for a, i := range r.Support {
		rows.SetRow(a, xd.RawRowView(i))
	}
	return kernels.NewMetric(k, d, rows, c.G)
}
