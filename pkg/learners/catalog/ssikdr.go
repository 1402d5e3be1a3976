package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/ssikdr"
	"metriclab/pkg/metric"
)

var traceSSIKDR = underKernel(Entry{
	Name:        "trace-ssikdr",
	Doc:         "Trace-SSIKDR: pairs near or far in few dimensions of a kernel's space, and so for new points, which it embeds; it stores the rows that pairs join",
	When:        "pairs near or far that are to be seen in two or three dimensions of a kernel's space",
	Source:      "Jain, Kulis, Davis, Dhillon. Metric and Kernel Learning Using a Linear Transformation. JMLR 13, 2012, Section 5.4 and Algorithm 2",
	Version:     ssikdr.Version,
	Constructor: "ssikdr.Fit",
	Cost:        traceSSIKDRCost,
	Form:        Embedded,
	Use:         Use{Links, slices.Concat(ssikdrParams, itmlRule, kernelParams), fitSSIKDRLinks},
	Others:      []Use{{Constraints, ssikdrParams, fitSSIKDRConstraints}},
})

func fitSSIKDRLinks(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
	constraints, err := ssikdrConstraints(ctx, in.Kernel, in.X, in.Links, v)
	if err != nil {
		return Learned{}, err
	}
	p, rank, err := ssikdrOf(v, progress)
	if err != nil {
		return Learned{}, err
	}
	if v.Text("method") == ssikdrDirect {
		r, err := ssikdr.FitRankRows(ctx, source(v), in.Kernel, in.X, constraints, rank, ssikdrRank(p, v))
		if err != nil {
			return Learned{}, err
		}
		return Learned{Result: r.Result, Distance: r.Metric(in.Kernel, in.X, 0)}, nil
	}
	r, err := ssikdr.Fit(ctx, in.Kernel, in.X, constraints, p)
	switch {
	case err != nil:
		return Learned{}, err
	case r.Status == learners.Infeasible:
		return Learned{}, errors.New("trace-ssikdr: the pairs contradict each other under this kernel: want slack=l1 or l2, or other bounds")
	}
	return Learned{Result: r.Result, Distance: r.Metric(in.Kernel, in.X, rank)}, nil
}

func fitSSIKDRConstraints(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
	p, rank, err := ssikdrOf(v, progress)
	if err != nil {
		return Learned{}, err
	}
	var r ssikdr.Result
	if v.Text("method") == ssikdrDirect {
		r, err = ssikdr.FitRank(ctx, source(v), in.K0, in.Constraints, rank, ssikdrRank(p, v))
	} else {
		r, err = ssikdr.FitGram(ctx, in.K0, in.Constraints, p)
	}
	if err != nil {
		return Learned{}, err
	}
	if rank > 0 && r.Status != learners.Infeasible {
		if r, err = r.Leading(in.K0, in.Constraints, rank, p); err != nil {
			return Learned{}, err
		}
	}
	out := Learned{Result: r.Result, Solution: r.Solution, Kernel: r.Learned()}
	if r.Status == learners.Infeasible {
		q := ltkernel.Params{}
		if q.Divergence, err = ltkernel.Trace(p.Tau); err != nil {
			return Learned{}, err
		}
		if out.Conflict, out.Weights, err = ltkernel.Conflict(ctx, in.K0, in.Constraints, r.Certificate, q); err != nil {
			return Learned{}, err
		}
	} else if r.Rank > 0 {
		out.Coordinates = new(r.Coordinates(0))
	}
	return out, nil
}

// ssikdrDirect is the way of trace-ssikdr to a low rank that is not convex.
const ssikdrDirect = "direct"

// ssikdrParams are the parameters of trace-ssikdr beside the bounds of pairs and the kernel.
var ssikdrParams = slices.Concat(declared[ssikdr.Params]("tau", "slack", "c"), declared[lowRank](), declared[ssikdr.Params]("tol", "iterations"))

type lowRank struct {
	Method string `words:"convex|direct" doc:"the convex problem, whose leading directions are kept, or W = BB' of that rank itself, which is not convex: the best of several starts"`
	Rank   int    `range:">= 0" doc:"largest number of dimensions; 0 means all of the convex problem"`
	ssikdr.RankParams
	draws `needs:"method=direct"`
}

// ssikdrOf reads them. The rank is that of the parameters, 0 for all directions.
func ssikdrOf(v Values, progress Progress) (p ssikdr.Params, rank int, err error) {
	rank = v.Int("rank")
	if rank == 0 && v.Text("method") == ssikdrDirect {
		err = fmt.Errorf("trace-ssikdr: rank: 0 is not allowed with method=%s, want at least 1", ssikdrDirect)
	}
	return read[ssikdr.Params](v, progress), rank, err
}

// ssikdrRank returns the parameters of FitRank.
func ssikdrRank(p ssikdr.Params, v Values) ssikdr.RankParams {
	return ssikdr.RankParams{Tau: p.Tau, Slack: p.Slack, C: p.C, Tol: p.Tol, MaxIterations: p.MaxIterations, Starts: v.Int("starts"), Progress: p.Progress}
}

// ssikdrConstraints returns the constraints of links between the rows of x, by the rule of the bounds for squared distances under the kernel.
func ssikdrConstraints(ctx context.Context, k kernels.Kernel, x mat.Matrix, links []metric.Link, v Values) ([]ltkernel.Constraint, error) {
	xd := matrix.Given("catalog: x", x)
	n, _ := xd.Dims()
	if err := cmp.Or(metric.CheckLinks(n, links), metric.CheckFinite(xd)); err != nil {
		return nil, fmt.Errorf("trace-ssikdr: %w", err)
	}
	p := read[itml.Params](v, nil)
	if v.Text("rule") == "given" {
		if !(p.Upper > 0 && p.Upper < p.Lower) {
			return nil, fmt.Errorf("trace-ssikdr: upper: %v and lower: %v are not allowed with rule=given, want 0 < upper < lower", p.Upper, p.Lower)
		}
		return ssikdr.Constraints(links, p.Upper, p.Lower), nil
	}
	if err := bound("trace-ssikdr", &p, v); err != nil {
		return nil, err
	}
	sq := make([]float64, len(links))
	for i, l := range links {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("trace-ssikdr: %w", err)
		}
		a, b := xd.RawRowView(l.I), xd.RawRowView(l.J)
		size := k.Eval(a, a) + k.Eval(b, b)
		if sq[i] = size - 2*k.Eval(a, b); sq[i] <= 1e-12*size { // which kernel values do not tell from 0
			sq[i] = 0
		}
	}
	upper, lower, err := p.Bounds.OfSqDists(sq)
	if err != nil {
		return nil, fmt.Errorf("trace-ssikdr: %w", err)
	}
	return ssikdr.Constraints(links, upper, lower), nil
}
