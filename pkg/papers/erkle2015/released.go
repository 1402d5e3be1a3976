package erkle2015

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
	Trial:   measured,
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
	Trial:   measured,
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

func (s releasedSettings) measure(ctx context.Context, run splitRun) error {
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
	splitRun
	releasedSettings
}

// judge adds the errors and ranks of a kernel after the first triplets.
func (r releasedRun) judge(key table.Key, seen int, k mat.Symmetric, v table.Values) {
	maps.Copy(v, ranks(k))
	maps.Copy(v, r.split.errorsAfter(seen, k))
	key["triplets"] = strconv.Itoa(seen)
	r.Rows.Add(key, v)
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
	f, err := triplets.FitReleased(ctx, r.split.objects, r.split.train[:seen], p)
	if err != nil {
		err = fmt.Errorf("%s, τ = %v, %d triplets: %w", b.name, tau, seen, err)
	}
	return f, err
}

// eachTau yields each batch method with each of its weights.
func eachTau(taus map[string]list[float64]) iter.Seq2[batchMethod, float64] {
	return func(yield func(batchMethod, float64) bool) {
		for _, b := range batches {
			for _, tau := range taus[b.name] {
				if !yield(b, tau) {
					return
				}
			}
		}
	}
}

// single follows ERKLE, and fits each method to the first triplets of each size, from I.
func (r releasedRun) single(ctx context.Context) error {
	if err := followERKLE(ctx, r.split, r.Seed, r.Sizes, func(method string, seen int, k mat.Symmetric) {
		r.judge(table.Key{"method": method, "how": onlineHow}, seen, k, table.Values{})
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
			f, err := triplets.FitBatch(ctx, r.split.objects, r.split.train[:size], triplets.BatchParams{Loss: b.loss, Tau: tau, Iterations: r.CertifiedIter, Tol: r.CertifiedTol})
			if err != nil {
				return fmt.Errorf("%s, τ = %v: %w", b.name, tau, err)
			}
			least[at{b.name, tau, size}] = f.Objective
			r.fitted(fitKey(b, certifiedHow, tau), size, f.Kernel, f.Result, table.Values{"residual": f.Residual})
		}
	}
	for b, tau := range eachTau(r.Taus) {
		for _, size := range r.Sizes {
			f, err := r.program(ctx, b, tau, size, r.Iterations, 0, nil)
			if err != nil {
				return err
			}
			v := table.Values{}
			if best, ok := least[at{b.name, tau, size}]; ok {
				v["excess"] = (f.Cost*(1+tau) - best) / (float64(size) * zeroLoss[b.loss])
			}
			r.fitted(fitKey(b, singleHow, tau), size, f.Kernel, f.Result, v)
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
				r.fitted(fitKey(b, chainedHow, tau), seen, f.Kernel, f.Result, table.Values{})
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

// chain calls at after the fit to each mini-batch, with the sum of the iterations so far.
func (r releasedRun) chain(ctx context.Context, b batchMethod, tau float64, iterations int, eta float64, at func(seen int, f triplets.ReleasedResult)) error {
	var k *mat.SymDense
	sum := 0
	for seen := r.Batch; seen <= len(r.split.train); seen += r.Batch {
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

// passes compares β of ERKLE with gradient steps of the named programs: on all triplets, or on each mini-batch in turn. The kernel after
// so many steps has a cost only in the next iteration.
func (r releasedRun) passes(ctx context.Context) error {
	all := len(r.split.train)
	for _, pair := range fig1Pairs {
		for _, beta := range r.Passes {
			p := onlineMethods[pair.online]
			p.Beta = beta
			if err := runERKLE(ctx, r.split, p, r.Seed, []int{all}, func(seen int, l *triplets.ERKLE) {
				r.judge(table.Key{"method": pair.online, "how": onlineHow, "passes": strconv.Itoa(beta)}, seen, l.Kernel(), table.Values{})
			}); err != nil {
				return fmt.Errorf("%s: %w", pair.online, err)
			}
		}
		for _, tau := range r.Taus[pair.batch.name] {
			for _, eta := range r.Etas {
				for _, steps := range r.Steps {
					var f triplets.ReleasedResult
					var err error
					how := singleHow
					if r.Batch > 0 {
						how, err = chainedHow, r.chain(ctx, pair.batch, tau, steps+1, eta, func(_ int, last triplets.ReleasedResult) { f = last })
					} else {
						f, err = r.program(ctx, pair.batch, tau, all, steps+1, eta, nil)
					}
					if err != nil {
						return err
					}
					key := fitKey(pair.batch, how, tau)
					key["passes"], key["first step"] = strconv.Itoa(steps), table.Format(eta)
					r.fitted(key, all, f.Kernel, f.Result, table.Values{})
				}
			}
		}
	}
	return nil
}

func fitKey(b batchMethod, how string, tau float64) table.Key {
	return table.Key{"method": b.name, "how": how, "tau": table.Format(tau)}
}

// fitted adds a fit of a batch method.
func (r releasedRun) fitted(key table.Key, seen int, k mat.Symmetric, how learners.Result, v table.Values) {
	key["stopped"], v["iterations"] = how.Status.String(), float64(how.Iterations)
	r.judge(key, seen, k, v)
}
