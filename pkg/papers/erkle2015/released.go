package erkle2015

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// How the rows of erkle2015/released and erkle2015/released-answers were learned. The named programs are those of
// triplets.FitReleased.
const (
	onlineHow    = "online"
	singleHow    = "named programs, single fits"
	chainedHow   = "named programs, chained"
	certifiedHow = "certified"
)

// The parts of the synthetic cells.
const (
	singlePart        = "single fits"
	chainedPart       = "chained fits"
	passesPart        = "passes"
	chainedPassesPart = "passes, chained"
)

// Caps, declared before any full run. The paper's is 1000.
const (
	releasedCap = 1000
	// chainedCap is that of each of the 100 mini-batches, which start from the kernel of the one before.
	chainedCap = 100
	// answersCap and musicCap are those of few answers and of music, where an iteration takes .3 s.
	answersCap = 300
	musicCap   = 100
	// certifiedCap is that of triplets.BatchFactored, which needs some hundred.
	certifiedCap = 5000
)

// cappedEta is the first step of CKL where its cap is less than the paper's. From the program's 1e-5, which grows by 1 % an iteration, 100 iterations
// would not leave I, by our cap and not by the program: 1,000 of its steps add up to 21, and 100 from 0.1 to 17.
const cappedEta = 0.1

// miniBatch is the paper's number of triplets of a mini-batch.
const miniBatch = 100

// releasedTaus are the weights to choose from, in the form τ = λ/(1 − λ), by method. The programs' CKL has no trace term, so that its τ is 0;
// certified fits of CKL have tauGrid, and those of GNMDS, which were best at the end of this one, 0.0001 too.
var releasedTaus = map[string]list[float64]{gnmdsBatch: {0.001, 0.01, 0.1, 1, 10}, steBatch: tauGrid, cklBatch: {0}}

// fewTaus are those where a fit takes long.
var fewTaus = map[string]list[float64]{gnmdsBatch: {0.1, 1, 10}, steBatch: {0.1, 1, 10}, cklBatch: {0}}

// musicTaus are those of music.
var musicTaus = map[string]list[float64]{gnmdsBatch: {1, 10}, steBatch: {1, 10}, cklBatch: {0}}

// releasedEtas are the first steps to choose from in Fig. 1c; 1 is the programs' own.
var releasedEtas = list[float64]{0.1, 0.3, 1, 3, 10}

// releasedSettings are those of a cell. What its part does not use is zero.
type releasedSettings struct {
	Part string `key:"part"`
	splitSettings
	Sizes         list[int]                `key:"sizes,omitzero"`
	Batch         int                      `key:"mini-batch,omitzero"`
	Iterations    int                      `key:"iterations,omitzero"`
	FirstOfCKL    float64                  `key:"first step of CKL,omitzero"` // 0 is the program's
	CertifiedIter int                      `key:"certified iterations,omitzero"`
	CertifiedTol  float64                  `key:"certified tolerance,omitzero"`
	Taus          map[string]list[float64] `key:"τ of %v"`
	CertifiedTaus map[string]list[float64] `key:"certified τ of %v"`
	Passes        list[int]                `key:"passes,omitzero"`
	Steps         list[int]                `key:"gradient steps,omitzero"`
	Etas          list[float64]            `key:"first steps,omitzero"`
}

// Released compares ERKLE with the batch programs that the paper names, as they were released.
var Released = experiment.Spec{
	ID:      "erkle2015/released",
	Title:   "ERKLE against the batch programs that the paper ran, on all comparisons of 100 points",
	Source:  "Sections 5 and 5.1, Figs. 1b and 1c",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		d := dataSets[0]
		batch, steps := miniBatch, list[int]{1, 2, 5, 10, 20, 50, 100}
		if scale == experiment.Smoke {
			batch, steps = 50, list[int]{1, 2, 5}
		}
		sizes := inBatches(d.sizes(scale), batch)
		cell := func(part string, set func(*releasedSettings)) experiment.Cell {
			s := releasedSettings{Part: part, splitSettings: d.settings(scale), Taus: fewTaus}
			set(&s)
			return experiment.Cell{Name: part, Dataset: d.datasetAt(scale), Settings: s, Methods: releasedVersions}
		}
		return []experiment.Cell{
			cell(singlePart, func(s *releasedSettings) {
				s.Sizes, s.Iterations, s.Taus = sizes, releasedCap, releasedTaus
				s.CertifiedIter, s.CertifiedTol = certifiedCap, batchTol
				s.CertifiedTaus = maps.Clone(releasedTaus)
				s.CertifiedTaus[cklBatch] = tauGrid
				s.CertifiedTaus[gnmdsBatch] = append(list[float64]{0.0001}, releasedTaus[gnmdsBatch]...)
			}),
			cell(chainedPart, func(s *releasedSettings) {
				s.Sizes, s.Iterations, s.Batch, s.FirstOfCKL = sizes, chainedCap, batch, cappedEta
			}),
			cell(passesPart, func(s *releasedSettings) {
				s.Passes, s.Steps, s.Etas = list[int]{1, 2, 5}, steps, releasedEtas
			}),
			cell(chainedPassesPart, func(s *releasedSettings) {
				s.Taus = map[string]list[float64]{gnmdsBatch: {1}, steBatch: {1}}
				s.Steps, s.Etas, s.Batch = list[int]{1, 2, 5}, releasedEtas, batch
			}),
		}
	},
	Trials:  experiment.Trials(10),
	Columns: releasedColumns,
	Trial:   releasedTrial,
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
		for _, d := range judgements[:3] {
			s := releasedSettings{Part: singlePart, splitSettings: d.settings(scale), Sizes: d.sizes(scale), Iterations: answersCap, FirstOfCKL: cappedEta, Taus: fewTaus}
			if d.name == music {
				s.Sizes, s.Iterations, s.Taus = tauSizes(d.sizes(scale)), musicCap, musicTaus
			}
			cells = append(cells, experiment.Cell{Name: d.name, Dataset: d.datasetAt(scale), Settings: s, Methods: releasedVersions})
		}
		return cells
	},
	Trials:  experiment.Trials(judge.MinTrials),
	Columns: releasedAnswersColumns,
	Trial:   releasedTrial,
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
}, errorColumns("test"), errorColumns("train"), errorColumns("validation"), experiment.Columns{
	experiment.Number("iterations", "", "iterations of the batch fit, of chained fits the sum"),
	experiment.Number("residual", "", "of a certified fit: "+gapMeaning),
	experiment.Number("excess", "", "of a named program that fits once: its objective minus that of the certified fit with the same τ, in units of the objective of K = 0"),
	experiment.Number(looseRank, "", "eigenvalues of the kernel above 0.001 of the largest"),
	experiment.Number(fineRank, "", "eigenvalues of the kernel above 0.000001 of the largest"),
})

// releasedAnswersColumns are the columns that single fits without certified ones fill.
var releasedAnswersColumns = slices.DeleteFunc(slices.Clone(releasedColumns), func(c experiment.Column) bool {
	return slices.Contains([]string{"passes", "first step", "residual", "excess"}, c.Name)
})

func releasedTrial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(releasedSettings)
	drawn, err := splitOf(run.Env, s.splitSettings, run.Seed)
	if err != nil {
		return err
	}
	r := releasedRun{drawn, s, run.Seed, run.Rows}
	switch s.Part {
	case singlePart:
		err = r.single(ctx)
	case chainedPart:
		err = r.chained(ctx)
	case passesPart:
		err = r.passes(ctx)
	default:
		err = r.chainedPasses(ctx)
	}
	return err
}

// releasedRun is a trial that fills its table.
type releasedRun struct {
	split
	releasedSettings
	seed random.Seed
	rows *table.Table
}

// judge adds the errors and ranks of a kernel after the first triplets.
func (r releasedRun) judge(key table.Key, seen int, k mat.Symmetric, v table.Values) {
	maps.Copy(v, ranks(k))
	r.testErrors(k).put(v, "test")
	errorsOf(k, r.train[:seen]).put(v, "train")
	errorsOf(k, r.validation).put(v, "validation")
	key["triplets"] = strconv.Itoa(seen)
	r.rows.Add(key, v)
}

// online follows an ERKLE method with β passes, or with its own number if that is 0.
func (r releasedRun) online(ctx context.Context, method string, beta int, sizes []int) error {
	p, err := erkleParams(method)
	if err != nil {
		return err
	}
	if beta > 0 {
		p.Beta = beta
	}
	return runERKLE(ctx, r.split, p, r.seed, sizes, func(seen int, l *triplets.ERKLE) {
		key := table.Key{"method": method, "how": onlineHow}
		if beta > 0 {
			key["passes"] = strconv.Itoa(beta)
		}
		r.judge(key, seen, l.Kernel(), table.Values{})
	})
}

// program fits the named program of a method to the first triplets.
func (r releasedRun) program(ctx context.Context, b batchMethod, tau float64, seen, iterations int, eta float64, first *mat.SymDense) (triplets.ReleasedResult, error) {
	p := triplets.ReleasedParams{Loss: b.loss, Weight: tau / (1 + tau), Iterations: iterations, Eta: eta}
	if b.loss == triplets.CKL && eta == 0 {
		p.Eta = r.FirstOfCKL
	}
	if first != nil {
		p.Initial = first
	}
	f, err := triplets.FitReleased(ctx, r.objects, r.train[:seen], p)
	if err != nil {
		err = fmt.Errorf("%s, τ = %v, %d triplets: %w", b.name, tau, seen, err)
	}
	return f, err
}

// each calls do for each batch method with each of its weights.
func (r releasedRun) each(taus map[string]list[float64], do func(b batchMethod, tau float64) error) error {
	for _, b := range batches {
		for _, tau := range taus[b.name] {
			if err := do(b, tau); err != nil {
				return err
			}
		}
	}
	return nil
}

// single follows ERKLE, and fits each method to the first triplets of each size, from I.
func (r releasedRun) single(ctx context.Context) error {
	for _, method := range erkles {
		if err := r.online(ctx, method, 0, r.Sizes); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	type at struct {
		method string
		tau    float64
		size   int
	}
	least := map[at]float64{}
	if err := r.each(r.CertifiedTaus, func(b batchMethod, tau float64) error {
		for _, size := range r.Sizes {
			f, err := triplets.FitBatch(ctx, r.objects, r.train[:size], triplets.BatchParams{Loss: b.loss, Tau: tau, Iterations: r.CertifiedIter, Tol: r.CertifiedTol})
			if err != nil {
				return fmt.Errorf("%s, τ = %v: %w", b.name, tau, err)
			}
			least[at{b.name, tau, size}] = f.Objective
			r.judge(table.Key{"method": b.name, "how": certifiedHow, "tau": table.Format(tau), "stopped": f.Status.String()}, size, f.Kernel,
				table.Values{"iterations": float64(f.Iterations), "residual": f.Residual})
		}
		return nil
	}); err != nil {
		return err
	}
	return r.each(r.Taus, func(b batchMethod, tau float64) error {
		for _, size := range r.Sizes {
			f, err := r.program(ctx, b, tau, size, r.Iterations, 0, nil)
			if err != nil {
				return err
			}
			v := table.Values{"iterations": float64(f.Iterations)}
			if best, ok := least[at{b.name, tau, size}]; ok {
				v["excess"] = (f.Cost*(1+tau) - best) / (float64(size) * zeroLoss[b.loss])
			}
			r.judge(table.Key{"method": b.name, "how": singleHow, "tau": table.Format(tau), "stopped": f.Status.String()}, size, f.Kernel, v)
		}
		return nil
	})
}

// zeroLoss is the loss of a triplet under K = 0.
var zeroLoss = map[triplets.Loss]float64{triplets.GNMDS: 1, triplets.STE: math.Ln2, triplets.CKL: math.Ln2}

// chained fits after each mini-batch, from the kernel of the one before.
func (r releasedRun) chained(ctx context.Context) error {
	return r.each(r.Taus, func(b batchMethod, tau float64) error {
		return r.chain(ctx, b, tau, r.Iterations, 0, func(seen int, f triplets.ReleasedResult) {
			if slices.Contains(r.Sizes, seen) {
				r.judge(table.Key{"method": b.name, "how": chainedHow, "tau": table.Format(tau), "stopped": f.Status.String()}, seen, f.Kernel, table.Values{"iterations": float64(f.Iterations)})
			}
		})
	})
}

// chain calls at after the fit to each mini-batch, with the sum of the iterations so far.
func (r releasedRun) chain(ctx context.Context, b batchMethod, tau float64, iterations int, eta float64, at func(seen int, f triplets.ReleasedResult)) error {
	var k *mat.SymDense
	sum := 0
	for seen := r.Batch; seen <= len(r.train); seen += r.Batch {
		f, err := r.program(ctx, b, tau, seen, iterations, eta, k)
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

// passes compares β of ERKLE with gradient steps of the named programs on all triplets. The kernel after so many steps has a
// cost only in the next iteration.
func (r releasedRun) passes(ctx context.Context) error {
	all := len(r.train)
	for _, pair := range fig1Pairs {
		for _, beta := range r.Passes {
			if err := r.online(ctx, pair.online, beta, []int{all}); err != nil {
				return fmt.Errorf("%s: %w", pair.online, err)
			}
		}
		for _, tau := range r.Taus[pair.batch.name] {
			for _, eta := range r.Etas {
				for _, steps := range r.Steps {
					f, err := r.program(ctx, pair.batch, tau, all, steps+1, eta, nil)
					if err != nil {
						return err
					}
					r.judge(stepsKey(pair.batch, singleHow, tau, steps, eta, f), all, f.Kernel, table.Values{"iterations": float64(f.Iterations)})
				}
			}
		}
	}
	return nil
}

// chainedPasses makes so many gradient steps after each mini-batch.
func (r releasedRun) chainedPasses(ctx context.Context) error {
	for _, pair := range fig1Pairs {
		for _, tau := range r.Taus[pair.batch.name] {
			for _, eta := range r.Etas {
				for _, steps := range r.Steps {
					if err := r.chain(ctx, pair.batch, tau, steps+1, eta, func(seen int, f triplets.ReleasedResult) {
						if seen == len(r.train) {
							r.judge(stepsKey(pair.batch, chainedHow, tau, steps, eta, f), seen, f.Kernel, table.Values{"iterations": float64(f.Iterations)})
						}
					}); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func stepsKey(b batchMethod, how string, tau float64, steps int, eta float64, f triplets.ReleasedResult) table.Key {
	return table.Key{"method": b.name, "how": how, "tau": table.Format(tau), "passes": strconv.Itoa(steps), "first step": table.Format(eta), "stopped": f.Status.String()}
}
