package learners_test

import (
	"io"
	"math/rand/v2"
	"regexp"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/kernelized"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/ssikdr"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Nil where a matrix, a kernel, a metric or a source is needed is a panic with a message of the
// package's own, whether or not the function returns errors.
func TestNilPanics(t *testing.T) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(1, 1))
	x, y := mat.NewDense(2, 1, []float64{0, 1}), []int{0, 1}
	own := regexp.MustCompile(`^[a-z]+: .*nil`)
	for name, f := range map[string]func() error{
		"LMNN":       func() error { _, err := labels.FitLMNN(ctx, nil, y, labels.LMNNParams{}); return err },
		"MCML":       func() error { _, err := labels.FitMCML(ctx, nil, y, labels.MCMLParams{}); return err },
		"NCA":        func() error { _, err := labels.FitNCA(ctx, rng, nil, y, labels.NCAParams{}); return err },
		"NCA source": func() error { _, err := labels.FitNCA(ctx, nil, x, y, labels.NCAParams{}); return err },
		"FDA":        func() error { _, err := labels.FitFDA(ctx, nil, y, labels.FDAParams{}); return err },
		"PCA":        func() error { _, err := labels.FitPCA(ctx, nil, 1); return err },
		"InvCov":     func() error { _, err := labels.FitInvCov(ctx, nil, labels.InvCovParams{}); return err },
		"RCA":        func() error { _, err := pairs.FitRCA(ctx, nil, nil, pairs.RCAParams{}); return err },
		"ITML":       func() error { _, err := itml.Fit(ctx, nil, nil, itml.Params{}); return err },
		"ITMLLabels": func() error { _, err := itml.FitLabels(ctx, rng, nil, y, itml.LabelParams{}); return err },
		"ITMLTune":   func() error { _, err := itml.Tune(ctx, rng, nil, y, itml.TunedParams{}); return err },
		"KernelITML": func() error { _, err := itml.FitKernel(ctx, nil, nil, itml.KernelParams{}); return err },
		"nil pointer": func() error {
			_, err := itml.FitKernel(ctx, (*mat.SymDense)(nil), nil, itml.KernelParams{})
			return err
		},
		"kernelized":    func() error { _, err := kernelized.Fit(ctx, nil, x, nil, kernelized.Params{}); return err },
		"kernelized k0": func() error { _, err := kernelized.FitGram(ctx, nil, nil, kernelized.Params{}); return err },
		"SSIKDR":        func() error { _, err := ssikdr.FitGram(ctx, nil, nil, ssikdr.Params{}); return err },
		"SSIKDR rows":   func() error { _, err := ssikdr.Fit(ctx, nil, x, nil, ssikdr.Params{}); return err },
		"SSIKDR rank": func() error {
			_, err := ssikdr.FitRank(ctx, nil, mat.NewSymDense(1, nil), nil, 1, ssikdr.RankParams{})
			return err
		},
		"SSIKDR path":    func() error { _, err := ssikdr.Path(ctx, nil, nil, []float64{1}, ssikdr.Params{}); return err },
		"NewFactor":      func() error { _, err := kernels.NewFactor(ctx, 1, nil, kernels.FactorParams{}); return err },
		"IPLR":           func() error { _, err := iplr.Fit(ctx, x, nil, nil, iplr.Params{}); return err },
		"IPLR rows":      func() error { _, err := iplr.NewProblem(ctx, nil, nil, nil); return err },
		"IPLR labels":    func() error { _, err := iplr.FitLabels(ctx, nil, x, y, iplr.LabelParams{}); return err },
		"IPLR kernel":    func() error { _, err := iplr.FitKernel(ctx, nil, x, nil, iplr.Params{}); return err },
		"IPLR basis":     func() error { _, err := iplr.NewBasis(ctx, nil); return err },
		"IPLR classes":   func() error { _, err := iplr.ClassBasis(ctx, nil, x, y, iplr.ClassParams{K: 1}); return err },
		"IPLR J":         func() error { _, err := iplr.CombinedBasis(ctx, x, nil); return err },
		"IPLR clusters":  func() error { _, err := iplr.KernelKMeans(ctx, rng, nil, 1); return err },
		"IPLR spectral":  func() error { _, err := iplr.SpectralClusters(ctx, nil, mat.NewSymDense(1, nil), 1); return err },
		"NewLowRank":     func() error { _, err := metric.NewLowRank(nil, x); return err },
		"LowRank":        func() error { (*metric.LowRank)(nil).Dim(); return nil },
		"Gram":           func() error { kernels.Gram(nil, x); return nil },
		"NewGram":        func() error { _, err := kernels.NewGram(nil); return err },
		"NewTransformed": func() error { _, err := kernels.NewTransformed(nil, 1, 1, x, mat.NewSymDense(2, nil)); return err },
		"NewMahalanobis": func() error { _, err := metric.NewMahalanobis((*mat.SymDense)(nil)); return err },
		"ProjectPSD":     func() error { _, _, err := metric.ProjectPSD(nil); return err },
		"bounds": func() error {
			_, _, err := itml.BoundParams{}.Of(x, []metric.Link{{I: 0, J: 1, Label: 1}}, nil)
			return err
		},
		"metric of kNN": func() error {
			_, err := nearest.NewKNN((*metric.Mahalanobis)(nil), x, y, nearest.KNNOptions{})
			return err
		},
		"Embed":   func() error { triplets.Embed(nil, 1); return nil },
		"all":     func() error { itml.KernelResult{}.All(nil); return nil },
		"among":   func() error { _, err := itml.KernelResult{}.Among(x, nil); return err },
		"between": func() error { _, err := itml.KernelResult{}.Between(nil, x); return err },
		"KernelITMLRows": func() error {
			_, err := itml.FitKernelRows(ctx, nil, x, nil, itml.KernelParams{})
			return err
		},
		"no rows": func() error {
			_, err := itml.FitKernelRows(ctx, kernels.Linear{}, nil, nil, itml.KernelParams{})
			return err
		},
		"BatchPOLA":   func() error { _, err := pairs.FitBatchPOLA(ctx, nil, nil, pairs.BatchPOLAParams{}); return err },
		"Recurring":   func() error { _, err := pairs.NewRecurring(nil, nil); return err },
		"RecurringPA": func() error { _, err := pairs.NewRecurringPA(nil, pairs.PAParams{PSD: pairs.PSDAtEnd}); return err },
		"KernelPOLA":  func() error { _, err := pairs.NewKernelPOLA(1, nil, pairs.POLAParams{}); return err },
		"RMP":         func() error { _, err := mapping.NewRMP(nil, 1, 1, mapping.RMPParams{}); return err },
		"Selector":    func() error { _, err := triplets.NewSelector(nil, 3, triplets.SelectorParams{}); return err },
		"Respondent":  func() error { _, err := triplets.NewPointRespondent(nil, x, 0); return err },
		"KNN":         func() error { _, err := nearest.NewKNN(nil, x, y, nearest.KNNOptions{}); return err },
		"no training": func() error { _, err := nearest.NewKNN(metric.Euclidean{}, nil, y, nearest.KNNOptions{}); return err },
		"no points":   func() error { _, err := triplets.NewPointRespondent(rand.NewPCG(1, 1), nil, 0); return err },
		"no links":    func() error { _, err := itml.FitLabels(ctx, nil, x, y, itml.LabelParams{}); return err },
		"no metric": func() error {
			_, err := cluster.FitMetricKMeans(ctx, rng, x, nil, cluster.KMeansParams{K: 1})
			return err
		},
		"SVM, no rng": func() error { _, err := linear.FitSVM(ctx, nil, x, nil, linear.SVMParams{}); return err },
		"RFE, no rng": func() error { _, err := linear.FitRFE(ctx, nil, x, nil, linear.RFEParams{}); return err },
		"HMRF":        func() error { _, err := cluster.FitHMRF(ctx, nil, x, nil, cluster.HMRFParams{}); return err },
		"no draws":    func() error { _, err := cluster.FitMixture(ctx, nil, x, cluster.MixtureParams{K: 1}); return err },
		"no starts":   func() error { _, err := cluster.FitFasterPAM(ctx, nil, x, cluster.MedoidsParams{M: 1}); return err },
		"Tracker":     func() error { nearest.NewTracker(nil); return nil },
		"SVM":         func() error { _, err := linear.FitSVM(ctx, rng, nil, nil, linear.SVMParams{}); return err },
		"Ridge":       func() error { _, err := linear.FitRidge(ctx, nil, nil, linear.RidgeParams{}); return err },
		"RFE":         func() error { _, err := linear.FitRFE(ctx, rng, nil, nil, linear.RFEParams{}); return err },
		"KMeans":      func() error { _, err := cluster.FitKMeans(ctx, rng, nil, cluster.KMeansParams{K: 1}); return err },
		"no rng":      func() error { _, err := cluster.FitKMeans(ctx, nil, x, cluster.KMeansParams{K: 1}); return err },
		"Mixture":     func() error { _, err := cluster.FitMixture(ctx, rng, nil, cluster.MixtureParams{K: 1}); return err },
		"FasterPAM":   func() error { _, err := cluster.FitFasterPAM(ctx, rng, nil, cluster.MedoidsParams{M: 1}); return err },
		"PAM":         func() error { _, err := cluster.FitPAM(ctx, nil, cluster.MedoidsParams{M: 1}); return err },
	} {
		func() {
			var err error
			defer func() {
				if p := recover(); p == nil {
					t.Errorf("%s: no panic, error %v", name, err)
				} else if s, ok := p.(string); !ok || !own.MatchString(s) {
					t.Errorf("%s: panic %T %v", name, p, p)
				}
			}()
			err = f()
		}()
	}
}

// A result that no fit made refuses to be saved, and to answer, with a message of the package's own:
// a file of it would be damaged.
func TestZeroValuePanics(t *testing.T) {
	x := mat.NewDense(2, 1, []float64{0, 1})
	own := regexp.MustCompile(`^[a-z]+: [A-Za-z]+: .*zero value, use `)
	for name, f := range map[string]func(){
		"SVM.Save":          func() { _ = new(linear.SVM).Save(io.Discard) },
		"SVM.Params":        func() { new(linear.SVM).Params() },
		"SVM.Multipliers":   func() { new(linear.SVM).Multipliers() },
		"nil SVM":           func() { _ = (*linear.SVM)(nil).Save(io.Discard) },
		"Ridge.Save":        func() { _ = new(linear.Ridge).Save(io.Discard) },
		"Ridge.Strength":    func() { new(linear.Ridge).Strength() },
		"Ridge.Path":        func() { new(linear.Ridge).Path() },
		"Ridge.Params":      func() { new(linear.Ridge).Params() },
		"Mahalanobis":       func() { _ = new(metric.Mahalanobis).Save(io.Discard) },
		"nil Mahalanobis":   func() { _ = learners.MetricResult{}.Metric.Save(io.Discard) },
		"PCA.Save":          func() { _ = new(labels.PCA).Save(io.Discard) },
		"PCA.Mean":          func() { new(labels.PCA).Mean() },
		"PCA.Components":    func() { new(labels.PCA).Components() },
		"PCA.Variances":     func() { new(labels.PCA).Variances() },
		"PCA.Transform":     func() { new(labels.PCA).Transform(x) },
		"PCA.Reconstruct":   func() { new(labels.PCA).Reconstruct(x) },
		"PCA.Metric":        func() { new(labels.PCA).Metric() },
		"FDA.Save":          func() { _ = new(labels.FDA).Save(io.Discard) },
		"FDA.Mean":          func() { new(labels.FDA).Mean() },
		"FDA.Directions":    func() { new(labels.FDA).Directions() },
		"FDA.Ratios":        func() { new(labels.FDA).Ratios() },
		"FDA.Transform":     func() { new(labels.FDA).Transform(x) },
		"FDA.Metric":        func() { new(labels.FDA).Metric() },
		"KMeans.Assign":     func() { new(cluster.KMeans).Assign(x) },
		"KMeans.Prototypes": func() { new(cluster.KMeans).Prototypes(x) },
		"HMRF.Assign":       func() { new(cluster.HMRF).Assign(x) },
		"Mixture.Assign":    func() { new(cluster.Mixture).Assign(x) },
		"Mixture.Posterior": func() { new(cluster.Mixture).Posterior(x) },
		"Mixture.Prototypes": func() {
			new(cluster.Mixture).Prototypes(x)
		},
		"Mixture.Weights":       func() { new(cluster.Mixture).Weights() },
		"Mixture.Means":         func() { new(cluster.Mixture).Means() },
		"Mixture.Covariance":    func() { new(cluster.Mixture).Covariance(0) },
		"Mixture.Form":          func() { new(cluster.Mixture).Form() },
		"Mixture.LogLikelihood": func() { new(cluster.Mixture).LogLikelihood() },
		"Mixture.Trace":         func() { new(cluster.Mixture).Trace() },
		"KNN.Classify":          func() { _, _ = new(nearest.KNN).Classify(t.Context(), x, 1) },
		"KNN.Errors":            func() { _, _ = new(nearest.KNN).Errors(t.Context(), x, []int{0, 1}, []int{1}) },
		"KNN.Neighbours":        func() { _, _ = new(nearest.KNN).Neighbours(t.Context(), x, 1) },
	} {
		func() {
			defer func() {
				if s, ok := recover().(string); !ok || !own.MatchString(s) {
					t.Errorf("%s: panic %q, want one of the package's own", name, s)
				}
			}()
			f()
		}()
	}
}
