package ssikdr

import (
	"cmp"
	"fmt"

	"gonum.org/v1/gonum/mat"

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
	Tau float64 `range:">= 0"`
	// Slack is the rule of what it costs to violate a constraint by s: not allowed, C·s, or (C/2)·s².
	Slack ltkernel.SlackRule
	// C is the weight of slack, > 0; 0 means 1.
	C float64 `range:"> 0"`
	// Tol is the tolerance of the KKT residual and of the relative duality gap, > 0; 0 means 1e-5.
	Tol float64 `range:"> 0"`
	// MaxIterations is the cap on steps, at least 1; 0 means 20,000.
	MaxIterations int `range:">= 1"`
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
	// G is k×len(Support). Row i times the kernel values between an object and the support is coordinate i of that
	// object, along the eigenvector of Values[i]. The entry of the largest magnitude in each row is positive. G is nil if W = 0.
	G *mat.Dense
}

// Learned returns the learned kernel K(x, z) = k(x)ᵀSk(z), k(x) = κ of x and each object of the support.
func (r Result) Learned() kernels.Learned {
	return kernels.Learned{Support: r.Support, S: r.square()}
}
