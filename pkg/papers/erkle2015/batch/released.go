package batch

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// miniBatch is the paper's number of triplets of a mini-batch.
const miniBatch = 100

// releasedSettings are those of a cell. What its part does not use is zero.
type releasedSettings struct {
	Part string `key:"part"`
	protocol.SplitSettings
	Sizes         protocol.List[int]                `key:"sizes,omitzero"`
	Batch         int                               `key:"mini-batch,omitzero"`
	Iterations    int                               `key:"iterations,omitzero"`
	FirstOfCKL    float64                           `key:"first step of CKL,omitzero"` // 0 is the program's
	CertifiedIter int                               `key:"certified iterations,omitzero"`
	CertifiedTol  float64                           `key:"certified tolerance,omitzero"`
	Taus          map[string]protocol.List[float64] `key:"τ of %v"`
	CertifiedTaus map[string]protocol.List[float64] `key:"certified τ of %v"`
	Passes        protocol.List[int]                `key:"passes,omitzero"`
	Steps         protocol.List[int]                `key:"gradient steps,omitzero"`
	Etas          protocol.List[float64]            `key:"first steps,omitzero"`
}

// Released compares ERKLE with the batch programs that the paper names, as they were released.
var Released = experiment.Spec{
	ID:      "erkle2015/released",
	Title:   "ERKLE against the batch programs that the paper ran, on all comparisons of 100 points",
	Source:  "Sections 5 and 5.1, Figs. 1b and 1c",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := protocol.DataSets[0]
		batch, steps := miniBatch, protocol.List[int]{1, 2, 5, 10, 20, 50, 100}
		if scale == experiment.Smoke {
			batch, steps = 50, protocol.List[int]{1, 2, 5}
		}
		sizes := inBatches(d.Sizes(scale), batch)
		cell := func(part string, set func(*releasedSettings)) experiment.Cell {
			s := releasedSettings{Part: part, SplitSettings: d.Settings(scale), Taus: fewTaus}
			set(&s)
			return d.Cell(scale, part, s, releasedVersions)
		}
		return []experiment.Cell{
			cell(singlePart, func(s *releasedSettings) {
				s.Sizes, s.Iterations, s.Taus = sizes, releasedCap, releasedTaus
				s.CertifiedIter, s.CertifiedTol = certifiedCap, protocol.BatchTol
				s.CertifiedTaus = maps.Clone(releasedTaus)
				s.CertifiedTaus[protocol.CKLBatch] = protocol.TauGrid
				s.CertifiedTaus[protocol.GNMDSBatch] = append(protocol.List[float64]{0.0001}, releasedTaus[protocol.GNMDSBatch]...)
			}),
			cell(chainedPart, func(s *releasedSettings) {
				s.Sizes, s.Iterations, s.Batch, s.FirstOfCKL = sizes, chainedCap, batch, cappedEta
			}),
			cell(passesPart, func(s *releasedSettings) {
				s.Passes, s.Steps, s.Etas = protocol.List[int]{1, 2, 5}, steps, releasedEtas
			}),
			cell(chainedPassesPart, func(s *releasedSettings) {
				s.Taus = map[string]protocol.List[float64]{protocol.GNMDSBatch: {1}, protocol.STEBatch: {1}}
				s.Steps, s.Etas, s.Batch = protocol.List[int]{1, 2, 5}, releasedEtas, batch
			}),
		}
	},
	Trials:  experiment.Trials(10),
	Columns: releasedColumns,
	Trial:   protocol.Measured,
	Views:   releasedViews,
	Claims:  releasedClaims,
	Cost:    4 * time.Minute,
}

// ReleasedAnswers does so on answers of people, in single fits.
var ReleasedAnswers = experiment.Spec{
	ID:      "erkle2015/released-answers",
	Title:   "ERKLE against the batch programs that the paper ran, on answers about music, materials and shoes",
	Source:  "Sections 5.3 and 5.4, Figs. 3 and 4",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		var cells []experiment.Cell
		sets := slices.Clone(protocol.Answered[:3])
		if scale == experiment.Full {
			sets = append(sets, protocol.Supplied...)
		}
		for _, d := range sets {
			s := releasedSettings{Part: singlePart, SplitSettings: d.Settings(scale), Sizes: d.Sizes(scale), Iterations: answersCap, FirstOfCKL: cappedEta, Taus: fewTaus}
			if d.Name == protocol.Music || d.Name == protocol.FullSurvey {
				s.Sizes, s.Iterations, s.Taus = tauSizes(d.Sizes(scale)), musicCap, musicTaus
			}
			cells = append(cells, d.Cell(scale, d.Name, s, releasedVersions))
		}
		return cells
	},
	Trials:  experiment.Trials(judge.MinTrials),
	Columns: releasedAnswersColumns,
	Trial:   protocol.Measured,
	Views:   releasedAnswersViews,
	Claims:  releasedAnswersClaims,
	Cost:    5 * time.Minute,
}

var releasedVersions = map[string]int{"ERKLE": triplets.ERKLEVersion, "released": triplets.ReleasedVersion, "batch": triplets.BatchFactoredVersion}

// inBatches rounds sizes up to whole mini-batches.
func inBatches(sizes []int, batch int) []int {
	out := make([]int, len(sizes))
	for i, s := range sizes {
		out[i] = (s + batch - 1) / batch * batch
	}
	return slices.Compact(out)
}

var releasedColumns = slices.Concat(experiment.Columns{
	experiment.Text("method", "the online or batch method"),
	experiment.Text("how", "online; or of a batch method which program, and whether each fit starts from I or from the kernel of the mini-batch before"),
	experiment.Text("tau", "of a batch method, weight τ of the trace beside losses of weight 1: λ/(1 − λ) of the named programs"),
	experiment.Text("triplets", "training triplets seen, or fitted to"),
	experiment.Text("passes", "where they are varied: β of ERKLE, or gradient steps of the batch method (in each mini-batch if chained)"),
	experiment.Text("first step", "where it is varied: η of the named programs at the start"),
	experiment.Text("stopped", "why a batch fit ended, of chained fits the last one"),
}, protocol.ErrorColumns("test"), protocol.ErrorColumns("train"), protocol.ErrorColumns("validation"), experiment.Columns{
	experiment.Number("iterations", "", "iterations of the batch fit, of chained fits the sum"),
	experiment.Number("residual", "", "of a certified fit: "+learning.GapMeaning),
	experiment.Number("excess", "", "of a named program that fits once: its objective minus that of the certified fit with the same τ, in units of the objective of K = 0"),
	experiment.Number(LooseRank, "", "eigenvalues of the kernel above 0.001 of the largest"),
	experiment.Number(FineRank, "", "eigenvalues of the kernel above 0.000001 of the largest"),
})

// releasedAnswersColumns are the columns that single fits without certified ones fill.
var releasedAnswersColumns = slices.DeleteFunc(slices.Clone(releasedColumns), func(c experiment.Column) bool {
	return slices.Contains([]string{"passes", "first step", "residual", "excess"}, c.Name)
})

func (s releasedSettings) Measure(ctx context.Context, run protocol.SplitRun) error {
	r := releasedRun{run, s}
	switch s.Part {
	case singlePart:
		return r.single(ctx)
	case chainedPart:
		return r.chained(ctx)
	}
	return r.passes(ctx)
}

// releasedRun is a trial that fills its table.
type releasedRun struct {
	protocol.SplitRun
	releasedSettings
}

// score adds the errors and ranks of a kernel after the first triplets.
func (r releasedRun) score(key table.Key, seen int, k mat.Symmetric, v table.Values) {
	maps.Copy(v, Ranks(k))
	maps.Copy(v, r.Split.ErrorsAfter(seen, k))
	key["triplets"] = strconv.Itoa(seen)
	r.Rows.Add(key, v)
}

// program fits the named program of a method to the first triplets.
func (r releasedRun) program(ctx context.Context, b protocol.BatchMethod, tau float64, seen int, p triplets.ReleasedParams) (triplets.ReleasedResult, error) {
	p.Loss, p.Weight = b.Loss, tau/(1+tau)
	if b.Loss == triplets.CKL && p.Eta == 0 {
		p.Eta = r.FirstOfCKL
	}
	f, err := triplets.FitReleased(ctx, r.Split.Objects, r.Split.Train[:seen], p)
	if err != nil {
		err = fmt.Errorf("%s, τ = %v, %d triplets: %w", b.Name, tau, seen, err)
	}
	return f, err
}

// eachTau yields each batch method with each of its weights.
func eachTau(taus map[string]protocol.List[float64]) iter.Seq2[protocol.BatchMethod, float64] {
	return func(yield func(protocol.BatchMethod, float64) bool) {
		for _, b := range protocol.Batches {
			for _, tau := range taus[b.Name] {
				if !yield(b, tau) {
					return
				}
			}
		}
	}
}

// single follows ERKLE, and fits each method to the first triplets of each size, from I.
func (r releasedRun) single(ctx context.Context) error {
	if err := FollowERKLE(ctx, r.Split, r.Seed, r.Sizes, func(method string, seen int, k mat.Symmetric) {
		r.score(table.Key{"method": method, "how": onlineHow}, seen, k, table.Values{})
	}); err != nil {
		return err
	}
	type at struct {
		method string
		tau    float64
		size   int
	}
	least := map[at]float64{}
	for b, tau := range eachTau(r.CertifiedTaus) {
		for _, size := range r.Sizes {
			f, err := triplets.FitBatch(ctx, r.Split.Objects, r.Split.Train[:size], triplets.BatchParams{Loss: b.Loss, Tau: tau, Iterations: r.CertifiedIter, Tol: r.CertifiedTol})
			if err != nil {
				return fmt.Errorf("%s, τ = %v: %w", b.Name, tau, err)
			}
			least[at{b.Name, tau, size}] = f.Objective
			r.Fitted(fitKey(b, certifiedHow, tau), size, f.Kernel, f.Result, table.Values{"residual": f.Residual})
		}
	}
	for b, tau := range eachTau(r.Taus) {
		for _, size := range r.Sizes {
			f, err := r.program(ctx, b, tau, size, triplets.ReleasedParams{Iterations: r.Iterations})
			if err != nil {
				return err
			}
			v := table.Values{}
			if best, ok := least[at{b.Name, tau, size}]; ok {
				v["excess"] = (f.Cost*(1+tau) - best) / (float64(size) * zeroLoss[b.Loss])
			}
			r.Fitted(fitKey(b, singleHow, tau), size, f.Kernel, f.Result, v)
		}
	}
	return nil
}

// zeroLoss is the loss of a triplet under K = 0.
var zeroLoss = map[triplets.Loss]float64{triplets.GNMDS: 1, triplets.STE: math.Ln2, triplets.CKL: math.Ln2}

// chained fits after each mini-batch, from the kernel of the one before.
func (r releasedRun) chained(ctx context.Context) error {
	for b, tau := range eachTau(r.Taus) {
		if err := r.chain(ctx, b, tau, r.Iterations, 0, func(seen int, f triplets.ReleasedResult) {
			if slices.Contains(r.Sizes, seen) {
				r.Fitted(fitKey(b, chainedHow, tau), seen, f.Kernel, f.Result, table.Values{})
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// chain calls at after the fit to each mini-batch, with the sum of the iterations so far.
func (r releasedRun) chain(ctx context.Context, b protocol.BatchMethod, tau float64, iterations int, eta float64, at func(seen int, f triplets.ReleasedResult)) error {
	var k *mat.SymDense
	sum := 0
	for seen := r.Batch; seen <= len(r.Split.Train); seen += r.Batch {
		f, err := r.program(ctx, b, tau, seen, triplets.ReleasedParams{Iterations: iterations, Eta: eta, Initial: k})
		if err != nil {
			return err
		}
		k = f.Kernel
		sum += f.Iterations
		f.Iterations = sum
		at(seen, f)
	}
	return nil
}

// passes compares β of ERKLE with gradient steps of the named programs: on all triplets, or on each mini-batch in turn. The kernel after
// so many steps has a cost only in the next iteration.
func (r releasedRun) passes(ctx context.Context) error {
	all := len(r.Split.Train)
	for _, pair := range learning.Fig1Pairs {
		for _, beta := range r.Passes {
			p := protocol.OnlineMethods[pair.Online]
			p.Beta = beta
			if err := protocol.RunERKLE(ctx, r.Split, p, r.Seed, []int{all}, func(seen int, l *triplets.ERKLE) {
				r.score(table.Key{"method": pair.Online, "how": onlineHow, "passes": strconv.Itoa(beta)}, seen, l.Kernel(), table.Values{})
			}); err != nil {
				return fmt.Errorf("%s: %w", pair.Online, err)
			}
		}
		for _, tau := range r.Taus[pair.Batch.Name] {
			for _, eta := range r.Etas {
				how := singleHow
				after := make([]triplets.ReleasedResult, len(r.Steps)) // of the numbers of steps
				if r.Batch > 0 {
					how = chainedHow
					for i, steps := range r.Steps {
						if err := r.chain(ctx, pair.Batch, tau, steps+1, eta, func(_ int, last triplets.ReleasedResult) { after[i] = last }); err != nil {
							return err
						}
					}
				} else {
					f, err := r.program(ctx, pair.Batch, tau, all, triplets.ReleasedParams{Iterations: slices.Max(r.Steps) + 1, Eta: eta, Each: func(f triplets.ReleasedResult) {
						if i := slices.Index(r.Steps, f.Iterations-1); i >= 0 {
							after[i], after[i].Kernel = f, mat.NewSymDense(r.Split.Objects, nil)
							after[i].Kernel.CopySym(f.Kernel)
						}
					}})
					if err != nil {
						return err
					}
					for i := range after {
						if after[i].Kernel == nil { // the fit ended before
							after[i] = f
						}
					}
				}
				for i, steps := range r.Steps {
					f, key := after[i], fitKey(pair.Batch, how, tau)
					key["passes"], key["first step"] = strconv.Itoa(steps), table.Format(eta)
					r.Fitted(key, all, f.Kernel, f.Result, table.Values{})
				}
			}
		}
	}
	return nil
}

func fitKey(b protocol.BatchMethod, how string, tau float64) table.Key {
	return table.Key{"method": b.Name, "how": how, "tau": table.Format(tau)}
}

// Fitted adds a fit of a batch method.
func (r releasedRun) Fitted(key table.Key, seen int, k mat.Symmetric, how learners.Result, v table.Values) {
	key["stopped"], v["iterations"] = how.Status.String(), float64(how.Iterations)
	r.score(key, seen, k, v)
}

var rankTolerances = map[string]float64{LooseRank: 1e-3, FineRank: 1e-6}

// Ranks returns the ranks of a kernel.
func Ranks(k mat.Symmetric) table.Values {
	v := table.Values{}
	for name, tol := range rankTolerances {
		v[name] = float64(triplets.Rank(k, tol))
	}
	return v
}

// FollowERKLE runs the paper's ERKLE methods and calls at after each number of triplets.
func FollowERKLE(ctx context.Context, s protocol.Split, seed random.Seed, checkpoints []int, at func(method string, seen int, k mat.Symmetric)) error {
	for _, method := range protocol.ERKLEs {
		if err := protocol.RunERKLE(ctx, s, protocol.OnlineMethods[method], seed, checkpoints, func(seen int, l *triplets.ERKLE) { at(method, seen, l.Kernel()) }); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	return nil
}
