package protocol

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/table"
)

// Online measures an ERKLE method with β passes, or with its own number if that is 0.
func (r SplitRun) Online(ctx context.Context, method string, beta int, checkpoints []int) error {
	p := ErkleParams(method)
	passes := ""
	if beta > 0 {
		p.Beta, passes = beta, strconv.Itoa(beta)
	}
	if err := RunERKLE(ctx, r.Split, p, r.Seed, checkpoints, func(seen int, l *triplets.ERKLE) {
		v := table.Values{}
		r.Split.TestErrors(l.Kernel()).Put(v, "test")
		r.Rows.Add(table.Key{"method": method, "triplets": strconv.Itoa(seen), "passes": passes}, v)
	}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Fig1Fit is a batch fit with its settings as columns, its test errors, and the number of errors by which it is chosen.
type Fig1Fit struct {
	triplets.BatchResult
	settings table.Values
	test     ErrorCount
	Wrong    int
}

// Fitted is a fit that is chosen by its errors on validation or, as the paper does on synthetic data, on test triplets.
func (r SplitRun) Fitted(f triplets.BatchResult, reading string, settings table.Values) Fig1Fit {
	out := Fig1Fit{f, settings, r.Split.TestErrors(f.Kernel), 0}
	if out.Wrong = out.test.Wrong; reading != ByTest {
		out.Wrong = ErrorsOf(f.Kernel, r.Split.Validation).Wrong
	}
	return out
}

// AddBatch adds the row of a fit.
func (r SplitRun) AddBatch(method, reading string, seen, passes int, f Fig1Fit) {
	v := table.Values{"iterations": float64(f.Iterations), "residual": f.Residual, "converged": 0, "rank": float64(f.Rank)}
	maps.Copy(v, f.settings)
	if f.Status == learners.Converged {
		v["converged"] = 1
	}
	f.test.Put(v, "test")
	key := table.Key{"method": method, "reading": reading, "triplets": strconv.Itoa(seen)}
	if passes > 0 {
		key["passes"] = strconv.Itoa(passes)
	}
	r.Rows.Add(key, v)
}

// StepMethod is GNMDS with a fixed number of gradient steps after each mini-batch, on all triplets so far.
type StepMethod struct {
	Name  string
	Steps int
	// Afresh starts every mini-batch at K = I; otherwise it goes on from the kernel of the one before.
	Afresh bool
}

// ErrorsMinibatch is the number of triplets of a mini-batch: a twentieth of those that train, as in the paper.
func ErrorsMinibatch(s Split) int { return len(s.Train) / 20 }

// The kinds of rows.
const (
	SettingRow = "setting"
	CurveRow   = "curve"
)

// Curve is a method's errors at the checkpoints.
type Curve struct {
	Delta, Tau       float64
	at               []int
	Validation, Test []ErrorCount
}

func (c *Curve) Add(s Split, seen int, k mat.Symmetric) {
	c.at = append(c.at, seen)
	c.Validation = append(c.Validation, ErrorsOf(k, s.Validation))
	c.Test = append(c.Test, s.TestErrors(k))
}

// Checkpoints are the ends of the mini-batches.
func (r SplitRun) Checkpoints() []int {
	var out []int
	for to := ErrorsMinibatch(r.Split); to <= len(r.Split.Train); to += ErrorsMinibatch(r.Split) {
		out = append(out, to)
	}
	return out
}

func (r SplitRun) AddErrors(kind, rule string, c Curve, at string, validation, test ErrorCount) {
	v := table.Values{}
	validation.Put(v, "validation")
	test.Put(v, "test")
	r.Rows.Add(table.Key{"kind": kind, "rule": rule, "delta": table.Format(c.Delta), "tau": table.Format(c.Tau), "triplets": at}, v)
}

func (r SplitRun) AddCurve(rule string, c Curve) {
	for i, at := range c.at {
		r.AddErrors(CurveRow, rule, c, strconv.Itoa(at), c.Validation[i], c.Test[i])
	}
}

// Take runs a method with one setting over all mini-batches.
func (r SplitRun) Take(ctx context.Context, m StepMethod, delta, tau float64) (Curve, error) {
	c := Curve{Delta: delta, Tau: tau}
	p := triplets.BatchParams{Method: triplets.BatchFixed, Delta: delta, Tau: tau, Iterations: m.Steps}
	add := func(seen int, f triplets.BatchResult) { c.Add(r.Split, seen, f.Kernel) }
	if !m.Afresh {
		err := FitPath(ctx, r.Split, r.Checkpoints(), p, add)
		return c, err
	}
	for _, seen := range r.Checkpoints() {
		if err := FitPath(ctx, r.Split, []int{seen}, p, add); err != nil {
			return c, err
		}
	}
	return c, nil
}

// Flipped is the split with flipped training and validation answers, whose test triplets are those of the clean one: which triplets
// test is told by their objects, not by the answers.
func (r SplitRun) Flipped(share float64) Split {
	s := r.Split
	s.Clean = slices.Concat(s.Train, s.Validation)
	s.Train = Flipped(r.Seed.Stream("flipped training answers"), s.Train, share)
	s.Validation = Flipped(r.Seed.Stream("flipped validation answers"), s.Validation, share)
	return s
}
