package people

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/batch"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/papers/erkle2015/variants"
	"metriclab/pkg/table"
)

// answeredKinds are the kinds of rows of both figures.
var answeredKinds = []experiment.Kind{
	{Name: variants.CurveKind, Meaning: "a method with a setting after some training triplets: its errors, ranks and how a batch fit ended"},
	{Name: variants.ChosenKind, Meaning: "the setting of a family of ERKLE methods that has the least validation error after all training triplets"},
}

// answeredChoices are the settings of families and, on data that a user has supplied, the weights of the trace that were chosen on validation triplets.
func answeredChoices(t *table.Table) []experiment.Choice {
	return append(variants.FamilyChoices(t), variants.SuppliedTaus(t)...)
}

// answeredColumns declare the columns of a table with rows of some kinds. Both figures have all
// columns, since they share views.
func answeredColumns(kinds []experiment.Kind) experiment.Columns {
	out := slices.Concat(experiment.Columns{
		experiment.Text(experiment.KindColumn, "the kind of the row"),
		experiment.Text("method", "the learner; in rows of kind chosen the family").In(variants.CurveKind, variants.ChosenKind, variants.StepKind),
		experiment.Text("setting", "τ of a batch method, or the value that a family varies, empty for the paper's ERKLE; of a step how its triplet stands to those before it; of a count what is counted").In(variants.CurveKind, variants.StepKind, variants.CountKind),
		experiment.Text("triplets", "number of training triplets seen").In(variants.CurveKind),
		experiment.Text("stopped", "why a batch fit stopped; empty for ERKLE").In(variants.CurveKind),
	}, protocol.ErrorColumns("test", variants.CurveKind), protocol.ErrorColumns("train", variants.CurveKind), protocol.ErrorColumns("validation", variants.CurveKind), experiment.Columns{
		experiment.Number(batch.LooseRank, "", "eigenvalues of the kernel above 0.001 of the largest").In(variants.CurveKind),
		experiment.Number(batch.FineRank, "", "eigenvalues of the kernel above 0.000001 of the largest").In(variants.CurveKind),
		experiment.Number("iterations", "", "iterations of a batch fit; those of one that has run on are counted anew").In(variants.CurveKind),
		experiment.Number("residual", "", learning.GapMeaning).In(variants.CurveKind),
		experiment.Number("count", "", "the number counted; of steps the number of triplets; of a chosen setting its value").In(variants.ChosenKind, variants.StepKind, variants.CountKind),
		experiment.Number("sum", "", "sum of the lengths γ of the steps on the triplets of count").In(variants.StepKind),
	})
	for i, c := range out {
		if c.Kinds != nil {
			out[i].Kinds = slices.DeleteFunc(c.Kinds, func(name string) bool {
				return !slices.ContainsFunc(kinds, func(k experiment.Kind) bool { return k.Name == name })
			})
		}
	}
	return out
}

// batchSettings are the settings of a batch method; in a cell without one they are zero.
type batchSettings struct {
	// Tau are the weights of the trace. The fits run on with the first; on data that a user has supplied, with that of the least validation error over the sizes.
	Tau        protocol.List[float64] `key:"tau,omitzero"`
	Iterations caps                   `key:"iterations,omitzero"`
	Tolerance  float64                `key:"tolerance,omitzero"`
}

// caps are the largest numbers of iterations of a fit and of one that runs on.
type caps struct{ Fit, RunOn int }

func (c caps) String() string { return protocol.List[int]{c.Fit, c.RunOn}.String() }

// batchSettingsOf are those of a batch method, with the weights that erkle2015/tau chose or, on data that a user has supplied, all that it would choose from.
func batchSettingsOf(data, method string) batchSettings {
	var taus protocol.List[float64]
	if protocol.IsSupplied(data) {
		taus = protocol.DataSetOf(data).Grid(method)
	} else {
		taus = protocol.TauOf(data, method).Distinct()
	}
	return batchSettings{taus, caps{protocol.BatchIterations, protocol.ConvergedIterations}, protocol.BatchTol}
}

// answered is a trial that fills the table.
type answered struct {
	protocol.SplitRun
	protocol.AnsweredSettings
}

// score adds the errors of a kernel that was learned from the first triplets.
func (j *answered) score(method, setting, stopped string, seen int, k mat.Symmetric, v table.Values) {
	e := j.Split.ErrorsAfter(seen, k)
	maps.Copy(e, v)
	j.Rows.Add(table.Key{"kind": variants.CurveKind, "method": method, "setting": setting, "triplets": strconv.Itoa(seen), "stopped": stopped}, e)
}

// learn follows ERKLE at the sizes; the seeds of its draws are the same for all settings.
func (j *answered) learn(ctx context.Context, method, setting string, p triplets.ERKLEParams) error {
	return protocol.RunERKLE(ctx, j.Split, p, j.Seed, j.Sizes, func(seen int, l *triplets.ERKLE) {
		j.score(method, setting, "", seen, l.Kernel(), nil)
	})
}

// Online follows the paper's ERKLE methods: at the sizes and, unless every is 0, at its multiples.
func (j *answered) Online(ctx context.Context, every int) error {
	checkpoints := slices.Clone(j.Sizes)
	for seen := every; every > 0 && seen <= len(j.Split.Train); seen += every {
		checkpoints = append(checkpoints, seen)
	}
	slices.Sort(checkpoints)
	return batch.FollowERKLE(ctx, j.Split, j.Seed, slices.Compact(checkpoints), func(method string, seen int, k mat.Symmetric) {
		var v table.Values
		if slices.Contains(j.Sizes, seen) {
			v = batch.Ranks(k)
		}
		j.score(method, "", "", seen, k, v)
	})
}

// evaluateEvery is the paper's number of triplets from one evaluation to the next.
const evaluateEvery = 100

// steps measures the lengths of the steps of one pass by how a triplet stands to those before it.
func (j *answered) steps(ctx context.Context) error {
	how := protocol.Relations(j.Split.Train)
	for _, method := range []string{protocol.PAERKLE, protocol.STEERKLE} {
		l, err := triplets.NewERKLE(j.Split.Objects, protocol.OnlineMethods[method])
		if err != nil {
			return err
		}
		var count, sum [len(protocol.RelationNames)]float64
		for i, t := range j.Split.Train {
			if err := ctx.Err(); err != nil {
				return err
			}
			o, err := l.Step(t)
			if err != nil {
				return err
			}
			count[how[i]]++
			sum[how[i]] += o.StepSize
		}
		for r, name := range protocol.RelationNames {
			j.Rows.Add(table.Key{"kind": variants.StepKind, "method": method, "setting": name}, table.Values{"count": count[r], "sum": sum[r]})
		}
	}
	return nil
}

// batch fits a batch method with each weight of the trace. With the chosen one, the first and the last fit then run on.
func (j *answered) batch(ctx context.Context, b protocol.BatchMethod, s batchSettings) error {
	chooses := protocol.IsSupplied(j.AnsweredSettings.Data)
	var best []*mat.SymDense // kernels by size, with the weight bestTau
	bestTau, least := 0., math.MaxInt
	for i, tau := range s.Tau {
		p := triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.Loss, Tau: tau, Iterations: s.Iterations.Fit, Tol: s.Tolerance}
		var kernels []*mat.SymDense
		wrong := 0
		if err := protocol.FitPath(ctx, j.Split, j.Sizes, p, func(seen int, r triplets.BatchResult) {
			j.fitted(b.Name, tau, seen, r)
			kernels = append(kernels, r.Kernel)
			if chooses {
				wrong += protocol.ErrorsOf(r.Kernel, j.Split.Validation).Wrong
			}
		}); err != nil {
			return fmt.Errorf("%s, τ = %v: %w", b.Name, tau, err)
		}
		switch {
		case chooses && wrong < least:
			best, bestTau, least = kernels, tau, wrong
		case !chooses && i == 0:
			if err := j.runOn(ctx, b, s, tau, kernels); err != nil {
				return err
			}
		}
	}
	if chooses {
		return j.runOn(ctx, b, s, bestTau, best)
	}
	return nil
}

// runOn lets the first and the last of the fits run on from their kernels.
func (j *answered) runOn(ctx context.Context, b protocol.BatchMethod, s batchSettings, tau float64, kernels []*mat.SymDense) error {
	p := triplets.BatchParams{Method: triplets.BatchAccelerated, Loss: b.Loss, Tau: tau, Iterations: s.Iterations.RunOn, Tol: s.Tolerance}
	for _, at := range []int{0, len(j.Sizes) - 1} {
		p.Initial = kernels[at]
		r, err := triplets.FitBatch(ctx, j.Split.Objects, j.Split.Train[:j.Sizes[at]], p)
		if err != nil {
			return fmt.Errorf("%s, τ = %v: %w", b.Name, tau, err)
		}
		j.fitted(batch.RunOn(b.Name), tau, j.Sizes[at], r)
	}
	return nil
}

// fitted adds a batch fit to the first triplets.
func (j *answered) fitted(method string, tau float64, seen int, r triplets.BatchResult) {
	v := batch.Ranks(r.Kernel)
	v["iterations"], v["residual"] = float64(r.Iterations), r.Residual
	j.score(method, table.Format(tau), r.Status.String(), seen, r.Kernel, v)
}

// valuesOf are the values of families, by name.
func valuesOf(families ...variants.Family) map[string]protocol.List[float64] {
	out := map[string]protocol.List[float64]{}
	for _, f := range families {
		out[f.Name] = f.Values
	}
	return out
}

// readings runs one pass with each value of each family, and ten passes with the value that has the
// least validation error after one.
func (j *answered) readings(ctx context.Context) error {
	for _, f := range variants.Families {
		best, err := j.choose(ctx, f)
		if err != nil {
			return err
		}
		p := f.Params(best)
		p.Beta = protocol.TenPasses
		if err := j.learn(ctx, f.Ten(), table.Format(best), p); err != nil {
			return fmt.Errorf("%s %v: %w", f.Ten(), best, err)
		}
	}
	return nil
}

// choose learns with each value of a family and returns the one with the least validation error at the end, the
// first of equals.
func (j *answered) choose(ctx context.Context, f variants.Family) (best float64, err error) {
	least := len(j.Split.Validation) + 1
	for _, x := range j.Families[f.Name] {
		if err := protocol.RunERKLE(ctx, j.Split, f.Params(x), j.Seed, j.Sizes, func(seen int, l *triplets.ERKLE) {
			k := l.Kernel()
			j.score(f.Name, table.Format(x), "", seen, k, nil)
			if e := protocol.ErrorsOf(k, j.Split.Validation); seen == len(j.Split.Train) && e.Wrong < least {
				best, least = x, e.Wrong
			}
		}); err != nil {
			return 0, fmt.Errorf("%s %v: %w", f.Name, x, err)
		}
	}
	j.Rows.Add(table.Key{"kind": variants.ChosenKind, "method": f.Name}, table.Values{"count": best})
	return best, nil
}
