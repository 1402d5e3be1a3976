package ltkernel

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/ranges"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
)

// Version changes whenever a fit gives other numbers for the same input.
const Version = 3

// SlackRule is what it costs to violate a constraint by s ≥ 0.
type SlackRule int

// The rules of slack.
const (
	SlackHard SlackRule = iota // no constraint may be violated
	SlackL1                    // C·s
	SlackL2                    // (C/2)·s²
)

var slackNames = enum.Of[SlackRule]("unknown slack %d", "hard", "l1", "l2")

// String names the rule.
func (r SlackRule) String() string { return slackNames.Text(r) }

// Params are the parameters of Fit.
type Params struct {
	// Divergence is Φ; the zero value means LogDet.
	Divergence Divergence
	// Slack is the rule, and C > 0 its weight; 0 means 1.
	Slack SlackRule `words:"hard|l1|l2" doc:"cost of violating a constraint by s: not allowed (hard), c s (l1), c s²/2 (l2)"`
	C     float64   `range:"> 0" needs:"slack=l1|l2" doc:"weight of slack"`
	// Tol is the tolerance of the stopping rule, > 0; 0 means 1e-8.
	Tol float64 `range:"> 0" doc:"KKT residual at which to stop, relative to the size of a constraint"`
	// MaxIterations is the cap on Newton steps, at least 1; 0 means 1,000.
	MaxIterations int `range:">= 1" name:"iterations" doc:"cap on Newton steps"`
	// Progress, if not nil, is told of each step.
	Progress func(learners.Progress)
}

// Resolved returns p with its defaults filled in.
func (p Params) Resolved() Params {
	if p.Divergence.value == nil {
		p.Divergence = LogDet()
	}
	if p.C == 0 {
		p.C = 1
	}
	if p.Tol == 0 {
		p.Tol = 1e-8
	}
	if p.MaxIterations == 0 {
		p.MaxIterations = 1000
	}
	return p
}

// Solution is what a fit says about its answer.
type Solution struct {
	// Objective is Φ(W) − Φ(αI) and the cost of the slack.
	Objective float64
	// Gap is Objective less the dual objective. It bounds how far Objective is above its minimum, where
	// there is slack; else it is negative where W violates constraints.
	Gap float64
	// Multipliers holds λ of each constraint: at least 0, but for an equation; 0 for one that does not bind.
	Multipliers []float64
	// Sides holds tr(CK) of each constraint.
	Sides []float64
	// Violated holds the constraints, ascending, that Sides violates by more than Tol times their size: Σ|weight|·d² under K₀, and
	// |trace|·tr K₀, or the bound if that is larger.
	Violated []int
	// Rank counts the eigenvalues of W that are not 0 but for round-off, in the span of the objects that the constraints join.
	Rank int
	// Certificate proves that no W satisfies the constraints if the status is learners.Infeasible, else it is nil. It holds
	// weights v of the constraints, of which those with ≥ count as −tr(CK) ≤ −Bound. They are at least 0 but for equations,
	// Σvᵢtr(CᵢK) ≥ 0 for each K, and Σvᵢbᵢ < 0. This is to working precision: a W that satisfies the constraints all the same
	// has a trace a million times larger than what they ask for.
	Certificate []float64
}

// Result is what Fit returns.
type Result struct {
	learners.MetricResult
	Solution
}

// KernelResult is what FitKernel returns.
type KernelResult struct {
	learners.Result
	Solution
	// Learned is the kernel, W = αI + ΦSΦᵀ, of the objects of K₀ and of others. Its Support holds those that the
	// constraints join.
	kernels.Learned
}

// ReducedResult is what FitReduced returns.
type ReducedResult struct {
	learners.Result
	Solution
	// Alpha is α, and L, k×k, the matrix of W = αI + ΦJLJᵀΦᵀ.
	Alpha float64
	L     *mat.SymDense
	// Dropped counts the columns of J that depend on the others in the space of φ.
	Dropped int
}

func (p Params) check() error {
	if p.Slack < SlackHard || p.Slack > SlackL2 {
		return fmt.Errorf("ltkernel: %s", p.Slack)
	}
	return ranges.Check("ltkernel", p)
}
