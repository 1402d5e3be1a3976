package learners_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/cores"

	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/kernelized"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/ssikdr"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// batchFits are the batch learners that iterate, on a problem with n rows in d dimensions that
// takes each of them several iterations.
func batchFits(t *testing.T, n, d int) map[string]func(ctx context.Context, p func(learners.Progress)) (any, error) {
	t.Helper()
	fits, _ := batchFitsOn(t, n, d)
	return fits
}

// batchFitsOn is batchFits with a function that overwrites all that was given to the fits.
func batchFitsOn(t *testing.T, n, d int) (fits map[string]func(ctx context.Context, p func(learners.Progress)) (any, error), spoil func()) {
	t.Helper()
	draw := func() *rand.Rand { return rand.New(rand.NewPCG(17, 1)) }
	rng := draw()
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % 3
		for j := range d {
			x.Set(i, j, rng.NormFloat64()+0.4*float64(y[i]*(j%2)))
		}
	}
	links, err := sample.RandomLinks(rng, y, 2*n)
	if err != nil {
		t.Fatal(err)
	}
	cost := mat.NewDense(n, n, nil)
	var ts []metric.Triplet
	for i := range n {
		for j := range n {
			cost.Set(i, j, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)))
		}
		for range 10 {
			p := rng.Perm(n)[:3]
			ts = append(ts, metric.Triplet{A: p[0], Near: p[1], Far: p[2]})
		}
	}
	gram := kernels.Gram(kernels.Linear{}, x)
	start := mat.NewSymDense(d, nil) // of LogDet
	for j := range d {
		start.SetSym(j, j, float64(j+1))
	}
	logDet := func(p func(learners.Progress)) itml.LabelParams {
		return itml.LabelParams{Params: itml.Params{Progress: p, MaxCycles: 12, Tol: 1e-9}, Links: n}
	}
	saved := func(b pairs.BatchPOLA, err error) (any, error) { // the learner as text, for it has functions, which no two are equal
		var file strings.Builder
		if b.Learner != nil {
			if err := b.Learner.Save(&file); err != nil {
				t.Fatal(err)
			}
		}
		b.Learner = nil
		return struct {
			pairs.BatchPOLA
			file string
		}{b, file.String()}, err
	}
	type told = func(learners.Progress)
	spoil = func() {
		x.Zero()
		cost.Zero()
		gram.Zero()
		start.Zero()
		clear(y)
		clear(links)
		clear(ts)
	}
	return map[string]func(context.Context, func(learners.Progress)) (any, error){
		"LMNN": func(ctx context.Context, p told) (any, error) {
			return labels.FitLMNN(ctx, x, y, labels.LMNNParams{Progress: p, MaxIterations: 40})
		},
		"MCML": func(ctx context.Context, p told) (any, error) {
			return labels.FitMCML(ctx, x, y, labels.MCMLParams{Progress: p, MaxIterations: 20})
		},
		"NCA": func(ctx context.Context, p told) (any, error) {
			return labels.FitNCA(ctx, draw(), x, y, labels.NCAParams{Progress: p, MaxIterations: 20})
		},
		"NCA, batches": func(ctx context.Context, p told) (any, error) {
			return labels.FitNCA(ctx, draw(), x, y, labels.NCAParams{Progress: p, Batch: 20, Passes: 4})
		},
		"LogDet": func(ctx context.Context, p told) (any, error) {
			return itml.Fit(ctx, x, links, logDet(p).Params)
		},
		"LogDet from a start": func(ctx context.Context, p told) (any, error) {
			q := logDet(p)
			q.W0 = start
			return itml.FitLabels(ctx, draw(), x, y, q)
		},
		"LogDetLabels": func(ctx context.Context, p told) (any, error) {
			return itml.FitLabels(ctx, draw(), x, y, logDet(p))
		},
		"LogDetTuned": func(ctx context.Context, p told) (any, error) {
			return itml.FitTuned(ctx, draw(), x, y, itml.TunedParams{LabelParams: logDet(p), Gammas: []float64{0.1, 1}})
		},
		"FitKernel": func(ctx context.Context, p told) (any, error) {
			return itml.FitKernel(ctx, gram, links, itml.KernelParams{Progress: p, MaxCycles: 12})
		},
		"FitKernelRows": func(ctx context.Context, p told) (any, error) {
			return itml.FitKernelRows(ctx, kernels.Linear{}, x, links, itml.KernelParams{Progress: p, MaxCycles: 12})
		},
		"kernelized": func(ctx context.Context, p told) (any, error) {
			return kernelized.Fit(ctx, kernels.Linear{}, x, func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
				l, err := labels.FitLMNN(ctx, z, y, labels.LMNNParams{Progress: p, MaxIterations: 40})
				return l.MetricResult, err
			}, kernelized.Params{})
		},
		"kernelized, Gram": func(ctx context.Context, p told) (any, error) {
			return kernelized.FitGram(ctx, gram, func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
				l, err := labels.FitMCML(ctx, z, y, labels.MCMLParams{Progress: p, MaxIterations: 20})
				return l.MetricResult, err
			}, kernelized.Params{})
		},
		"SSIKDR": func(ctx context.Context, p told) (any, error) {
			return ssikdr.FitGram(ctx, gram, ssikdr.Constraints(links, 1, 2), ssikdr.Params{Progress: p, MaxIterations: 15, Slack: ltkernel.SlackL2, Tol: 1e-12})
		},
		"SSIKDR, rows": func(ctx context.Context, p told) (any, error) {
			return ssikdr.Fit(ctx, kernels.Linear{}, x, ssikdr.Constraints(links, 1, 2), ssikdr.Params{Progress: p, MaxIterations: 60, Tau: 1})
		},
		"SSIKDR, path": func(ctx context.Context, p told) (any, error) {
			return ssikdr.Path(ctx, gram, ssikdr.Constraints(links, 1, 2), []float64{1, 2}, ssikdr.Params{Progress: p, MaxIterations: 15, Slack: ltkernel.SlackL1, Tol: 1e-12})
		},
		"SSIKDR, rank": func(ctx context.Context, p told) (any, error) {
			return ssikdr.FitRank(ctx, draw(), gram, ssikdr.Constraints(links, 1, 2), 2, ssikdr.RankParams{Progress: p, Tau: 1, Slack: ltkernel.SlackL1, Starts: 3})
		},
		"IPLR": func(ctx context.Context, p told) (any, error) {
			b, err := iplr.ClassBasis(ctx, draw(), x, y, iplr.ClassParams{K: 3})
			if err != nil {
				return iplr.Result{}, err
			}
			return iplr.Fit(ctx, x, b, links, iplr.Params{Progress: p, MaxCycles: 12, Tol: 1e-9})
		},
		"IPLR, labels": func(ctx context.Context, p told) (any, error) {
			return iplr.FitLabels(ctx, draw(), x, y, iplr.LabelParams{Params: iplr.Params{Progress: p, MaxCycles: 12, Tol: 1e-9}, Basis: iplr.BasisSingular, K: 3})
		},
		"IPLR, kernel": func(ctx context.Context, p told) (any, error) {
			return iplr.FitKernel(ctx, gram, iplr.RandomColumns(draw(), n, 3), links, iplr.Params{Progress: p, MaxCycles: 12, Tol: 1e-9, Infeasible: iplr.InfeasibleDrop})
		},
		"BatchPOLA, passes": func(ctx context.Context, p told) (any, error) {
			return saved(pairs.FitBatchPOLA(ctx, x, links, pairs.BatchPOLAParams{Progress: p, MaxIterations: 10}))
		},
		"BatchPOLA, violations": func(ctx context.Context, p told) (any, error) {
			return saved(pairs.FitBatchPOLA(ctx, x, links, pairs.BatchPOLAParams{Progress: p, Reading: pairs.BatchViolations, MaxIterations: 30}))
		},
		"KMeans": func(ctx context.Context, p told) (any, error) {
			return cluster.FitKMeans(ctx, draw(), x, cluster.KMeansParams{Progress: p, K: 5, Starts: 3})
		},
		"MetricKMeans": func(ctx context.Context, p told) (any, error) {
			return cluster.FitMetricKMeans(ctx, draw(), x, metric.Identity(d), cluster.KMeansParams{Progress: p, K: 5})
		},
		"HMRF": func(ctx context.Context, p told) (any, error) {
			return cluster.FitHMRF(ctx, draw(), x, links[:n/4], cluster.HMRFParams{KMeansParams: cluster.KMeansParams{Progress: p, K: 5, Starts: 2}})
		},
		"Mixture": func(ctx context.Context, p told) (any, error) {
			return cluster.FitMixture(ctx, draw(), x, cluster.MixtureParams{Progress: p, K: 3, Starts: 2, MaxIterations: 15})
		},
		"FasterPAM": func(ctx context.Context, p told) (any, error) {
			return cluster.FitFasterPAM(ctx, draw(), cost, cluster.MedoidsParams{Progress: p, M: 6, Starts: 3})
		},
		"PAM": func(ctx context.Context, p told) (any, error) {
			return cluster.FitPAM(ctx, cost, cluster.MedoidsParams{Progress: p, M: 6, Start: []int{0, 1, 2, 3, 4, 5}})
		},
		"Batch, accelerated": func(ctx context.Context, p told) (any, error) {
			return triplets.FitBatch(ctx, n, ts, triplets.BatchParams{Progress: p, Tau: 0.1, Iterations: 20})
		},
		"Batch, warm": func(ctx context.Context, p told) (any, error) {
			return triplets.FitBatch(ctx, n, ts, triplets.BatchParams{Progress: p, Tau: 0.1, Iterations: 5, Initial: gram})
		},
		"Batch, fixed": func(ctx context.Context, p told) (any, error) {
			return triplets.FitBatch(ctx, n, ts, triplets.BatchParams{Progress: p, Method: triplets.BatchFixed, Delta: 0.01, Iterations: 5})
		},
		"GNMDS, coordinates": func(ctx context.Context, p told) (any, error) {
			return triplets.FitCoordinates(ctx, draw(), n, ts, triplets.CoordinatesParams{Progress: p, Tau: 0.1, Starts: 2, Iterations: 30})
		},
		"STE, coordinates from x": func(ctx context.Context, p told) (any, error) {
			return triplets.FitCoordinates(ctx, draw(), n, ts, triplets.CoordinatesParams{Progress: p, Loss: triplets.STE, Tau: 0.1, Dim: d, Starts: 2, Iterations: 30, Initial: x})
		},
	}, spoil
}

// A fit tells of its iterations in order and answers the same; cancelled while it tells, it
// makes no other, and returns the context's error and no answer.
func TestProgress(t *testing.T) { testProgress(t, func(*testing.T) {}) }

// The same holds where decompositions are large, so that a fit is left once it is cancelled.
func TestProgressAbandoned(t *testing.T) {
	testProgress(t, func(t *testing.T) { abandon.Always(t) })
}

// testProgress calls large when it has an answer to compare with.
func testProgress(t *testing.T, large func(*testing.T)) {
	for name, fit := range batchFits(t, 60, 4) {
		t.Run(name, func(t *testing.T) {
			want, err := fit(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			large(t)
			var last learners.Progress
			calls := 0
			got, err := fit(t.Context(), func(p learners.Progress) {
				if calls++; p.Iteration <= last.Iteration || p.Iteration > p.Cap || last.Cap != 0 && p.Cap != last.Cap {
					t.Errorf("%+v after %+v", p, last)
				}
				last = p
			})
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("another answer where progress is watched, error %v", err)
			}
			if calls < 2 {
				t.Errorf("%d calls, want several", calls)
			}
			for _, at := range []int{1, calls / 2, calls} {
				if at == 0 {
					continue
				}
				ctx, cancel := context.WithCancel(t.Context())
				made := 0
				got, err := fit(ctx, func(learners.Progress) {
					if made++; made == at {
						cancel()
					}
				})
				cancel()
				noAnswer(t, got, err)
				if made != at {
					t.Errorf("%d iterations after it was cancelled in iteration %d", made-at, at)
				}
			}
		})
	}
}

// A fit that was left in the middle of a decomposition reads and writes nothing that the caller has,
// which the race detector checks.
func TestAbandonedTouchesNothing(t *testing.T) {
	abandon.Always(t)
	for name := range batchFits(t, 60, 4) {
		t.Run(name, func(t *testing.T) {
			for k := range 6 {
				fits, spoil := batchFitsOn(t, 60, 4)
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					for range k * k {
						runtime.Gosched()
					}
					cancel()
				}()
				got, err := fits[name](ctx, func(learners.Progress) {})
				spoil()
				if err != nil {
					noAnswer(t, got, err)
				}
				cancel()
			}
		})
	}
}

// closedFits are the batch learners in closed form and the linear classifiers.
func closedFits(t *testing.T, n, d int) (fits map[string]func(ctx context.Context) (any, error), spoil func()) {
	t.Helper()
	draw := func() *rand.Rand { return rand.New(rand.NewPCG(17, 1)) }
	rng := draw()
	x, y, targets, signs := mat.NewDense(n, d, nil), make([]int, n), make([]float64, n), make([]classify.Label, n)
	for i := range n {
		y[i] = i % 3
		signs[i] = classify.Label(1 - 2*(i%2))
		targets[i] = rng.NormFloat64()
		for j := range d {
			x.Set(i, j, rng.NormFloat64()+0.4*float64(y[i]*(j%2)))
		}
	}
	links, err := sample.RandomLinks(rng, y, 2*n)
	if err != nil {
		t.Fatal(err)
	}
	spoil = func() {
		x.Zero()
		clear(y)
		clear(targets)
		clear(signs)
		clear(links)
	}
	return map[string]func(context.Context) (any, error){
		"PCA": func(ctx context.Context) (any, error) { return labels.FitPCA(ctx, x, 3) },
		"FDA": func(ctx context.Context) (any, error) { return labels.FitFDA(ctx, x, y, labels.FDAParams{}) },
		"InvCov": func(ctx context.Context) (any, error) {
			return labels.FitInvCov(ctx, x, labels.InvCovParams{})
		},
		"ITMLStart": func(ctx context.Context) (any, error) {
			return labels.ITMLStart(ctx, x, labels.InvCovParams{})
		},
		"RCA": func(ctx context.Context) (any, error) {
			return pairs.FitRCA(ctx, x, links, pairs.RCAParams{Ridge: 0.1})
		},
		"Ridge": func(ctx context.Context) (any, error) {
			return linear.FitRidge(ctx, x, targets, linear.RidgeParams{})
		},
		"SVM": func(ctx context.Context) (any, error) {
			return linear.FitSVM(ctx, draw(), x, signs, linear.SVMParams{C: 10})
		},
		"RFE": func(ctx context.Context) (any, error) {
			return linear.FitRFE(ctx, draw(), x, signs, linear.RFEParams{})
		},
	}, spoil
}

// A closed form, too, gives up where its context is done, and answers the same if it may be left.
func TestClosedForms(t *testing.T) {
	fits, _ := closedFits(t, 40, 5)
	for name, fit := range fits {
		t.Run(name, func(t *testing.T) {
			want, err := fit(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			check := func() {
				t.Helper()
				if got, err := fit(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("another answer, error %v", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				got, err := fit(ctx)
				noAnswer(t, got, err)
			}
			check()
			release := cores.Occupy(cores.All) // on several cores the number of looks may vary
			all := &patient{Context: t.Context(), most: 1 << 60}
			if _, err := fit(all); err != nil {
				t.Fatal(err)
			}
			for k := range all.looks.Load() {
				got, err := fit(&patient{Context: t.Context(), most: k})
				noAnswer(t, got, err)
			}
			release()
			abandon.Always(t)
			check()
			for k := range 6 {
				fits, spoil := closedFits(t, 40, 5)
				ctx, cancel := context.WithCancel(t.Context())
				go func() {
					for range k * k {
						runtime.Gosched()
					}
					cancel()
				}()
				got, err := fits[name](ctx)
				spoil()
				if err != nil {
					noAnswer(t, got, err)
				}
				cancel()
			}
		})
	}
}

func noAnswer(t *testing.T, got any, err error) {
	t.Helper()
	if !errors.Is(err, context.Canceled) || !reflect.ValueOf(got).IsZero() {
		t.Errorf("error %v, want context.Canceled and no answer", err)
	}
}

// patient is a context that is done from the look of the given number on. Several goroutines may look.
type patient struct {
	context.Context
	looks atomic.Int64
	most  int64
}

func (c *patient) Err() error {
	if c.looks.Add(1) > c.most {
		return context.Canceled
	}
	return nil
}

// Wherever a fit finds its context done, in the middle of an iteration too, it gives up: it has no
// answer, tells of no further iteration, and looks at the context a few times more at most. On one core
// it is tried to the last look; on several, where their number varies, to the middle.
func TestCancelledAnywhere(t *testing.T) {
	const more = 100 // looks at the context; loops that begin anew have one each
	for name, fit := range batchFits(t, 60, 4) {
		t.Run(name, func(t *testing.T) {
			release := cores.Occupy(cores.All)
			all := &patient{Context: t.Context(), most: 1 << 60}
			iterations := 0
			if _, err := fit(all, func(learners.Progress) { iterations++ }); err != nil {
				t.Fatal(err)
			}
			looks := all.looks.Load()
			if looks <= int64(iterations) {
				t.Errorf("%d looks at the context in %d iterations, want more", looks, iterations)
			}
			done := func(most int64) {
				ctx := &patient{Context: t.Context(), most: most}
				late := 0
				got, err := fit(ctx, func(learners.Progress) {
					if ctx.looks.Load() > most {
						late++
					}
				})
				noAnswer(t, got, err)
				if n := ctx.looks.Load(); late > 0 || n > most+more {
					t.Errorf("done from look %d of %d on: %d iterations and %d looks after it", most+1, looks, late, n-most)
				}
			}
			for k := range int64(25) {
				done(k * (looks - 1) / 24)
			}
			release()
			for k := range int64(9) {
				done(k * (looks - 1) / 16)
			}
		})
	}
}
