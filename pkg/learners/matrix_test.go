package learners_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/matrixtest"
	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// reader is a function that only reads a matrix of 12 rows; it returns all it computed.
type reader func(t *testing.T, x mat.Matrix) (any, error)

// readers are the functions that take a mat.Matrix as rows.
func readers() map[string]reader {
	const n = 12
	y, sides, targets := make([]int, n), make([]classify.Label, n), make([]float64, n)
	var links []metric.Link
	for i := range n {
		y[i], sides[i], targets[i] = i%2, classify.Label(2*(i%2)-1), float64(i*i%7)
		links = append(links, metric.Link{I: i, J: (i + 2) % n, Label: metric.Similar}, metric.Link{I: i, J: (i + 1) % n, Label: metric.Dissimilar})
	}
	source := func() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) }
	width := func(x mat.Matrix) int {
		if matrix.IsNil(x) {
			return 1
		}
		_, d := x.Dims()
		return d
	}
	// other is what a fit learned from, where the reader is a method of the answer.
	other := func(x mat.Matrix) *mat.Dense {
		o := mat.NewDense(n, width(x), nil)
		rng := source()
		for i := range n {
			for j := range width(x) {
				o.Set(i, j, rng.NormFloat64())
			}
		}
		return o
	}
	out := map[string]reader{
		"LMNN": func(t *testing.T, x mat.Matrix) (any, error) {
			return labels.FitLMNN(t.Context(), x, y, labels.LMNNParams{})
		},
		"MCML": func(t *testing.T, x mat.Matrix) (any, error) {
			return labels.FitMCML(t.Context(), x, y, labels.MCMLParams{MaxIterations: 50})
		},
		"NCA": func(t *testing.T, x mat.Matrix) (any, error) {
			return labels.FitNCA(t.Context(), source(), x, y, labels.NCAParams{MaxIterations: 50})
		},
		"FDA": func(t *testing.T, x mat.Matrix) (any, error) {
			return labels.FitFDA(t.Context(), x, y, labels.FDAParams{Ridge: 0.1})
		},
		"PCA": func(t *testing.T, x mat.Matrix) (any, error) { return labels.FitPCA(t.Context(), x, 2) },
		"InvCov": func(t *testing.T, x mat.Matrix) (any, error) {
			return labels.FitInvCov(t.Context(), x, labels.InvCovParams{Ridge: 0.1})
		},
		"ITMLStart": func(t *testing.T, x mat.Matrix) (any, error) {
			return labels.ITMLStart(t.Context(), x, labels.InvCovParams{Ridge: 0.1})
		},
		"PCA.Reconstruct": func(t *testing.T, x mat.Matrix) (any, error) {
			p, err := labels.FitPCA(t.Context(), other(x), 1)
			if err != nil {
				return nil, err
			}
			return p.Reconstruct(x), nil
		},
		"RCA": func(t *testing.T, x mat.Matrix) (any, error) {
			return pairs.FitRCA(t.Context(), x, links, pairs.RCAParams{Ridge: 0.1})
		},
		"BatchPOLA": func(t *testing.T, x mat.Matrix) (any, error) {
			b, err := pairs.FitBatchPOLA(t.Context(), x, links, pairs.BatchPOLAParams{MaxIterations: 5})
			return []any{b.MetricResult, b.Threshold}, err
		},
		"Recurring": func(_ *testing.T, x mat.Matrix) (any, error) { return pairs.NewRecurring(x, links) },
		"ITML": func(t *testing.T, x mat.Matrix) (any, error) {
			return itml.Fit(t.Context(), x, links, itml.Params{MaxCycles: 5})
		},
		"ITML, labels": func(t *testing.T, x mat.Matrix) (any, error) {
			return itml.FitLabels(t.Context(), source(), x, y, itml.LabelParams{Params: itml.Params{MaxCycles: 5}})
		},
		"ITML, tune": func(t *testing.T, x mat.Matrix) (any, error) {
			return itml.Tune(t.Context(), source(), x, y, tuned)
		},
		"ITML, tuned": func(t *testing.T, x mat.Matrix) (any, error) {
			return itml.FitTuned(t.Context(), source(), x, y, tuned)
		},
		"ITML, kernel": func(t *testing.T, x mat.Matrix) (any, error) {
			return itml.FitKernelRows(t.Context(), kernels.Linear{}, x, links, itml.KernelParams{MaxCycles: 5})
		},
		"ITML, learned kernel": func(_ *testing.T, x mat.Matrix) (any, error) {
			l := itml.KernelResult{Learned: kernels.Learned{Alpha: 1, Support: []int{0, 3}, S: mat.NewSymDense(2, []float64{1, 0.5, 0.5, 1})}}
			return l.Kernel(kernels.Linear{}, x)
		},
		"ITML, bounds": func(_ *testing.T, x mat.Matrix) (any, error) {
			u, l, err := itml.BoundParams{}.Of(x, links, metric.Euclidean{})
			return []float64{u, l}, err
		},
		"IPLR": func(t *testing.T, x mat.Matrix) (any, error) {
			b, err := iplr.ClassBasis(t.Context(), source(), x, y, iplr.ClassParams{K: 1})
			if err != nil {
				return nil, err
			}
			return iplr.Fit(t.Context(), x, b, links, iplr.Params{MaxCycles: 5})
		},
		"IPLR, labels": func(t *testing.T, x mat.Matrix) (any, error) {
			return iplr.FitLabels(t.Context(), source(), x, y, iplr.LabelParams{Params: iplr.Params{MaxCycles: 5}, K: 1})
		},
		"IPLR, bases": func(t *testing.T, x mat.Matrix) (any, error) {
			single, err := iplr.SingularBasis(t.Context(), x, 1)
			if err != nil {
				return nil, err
			}
			means, err := iplr.MeansBasis(t.Context(), x, y)
			if err != nil {
				return nil, err
			}
			clusters, err := iplr.KMeansBasis(t.Context(), source(), x, 2)
			if err != nil {
				return nil, err
			}
			combined, err := iplr.CombinedBasis(t.Context(), x, iplr.MeanCoefficients(y))
			return []any{single.Vectors(), means.Vectors(), clusters.Vectors(), combined}, err
		},
		"Ridge": func(t *testing.T, x mat.Matrix) (any, error) {
			return linear.FitRidge(t.Context(), x, targets, linear.RidgeParams{})
		},
		"SVM": func(t *testing.T, x mat.Matrix) (any, error) {
			return linear.FitSVM(t.Context(), source(), x, sides, linear.SVMParams{})
		},
		"RFE": func(t *testing.T, x mat.Matrix) (any, error) {
			return linear.FitRFE(t.Context(), source(), x, sides, linear.RFEParams{})
		},
		"SVM.Errors": func(t *testing.T, x mat.Matrix) (any, error) {
			s, err := linear.FitSVM(t.Context(), source(), other(x), sides, linear.SVMParams{})
			if err != nil {
				return nil, err
			}
			return s.Errors(x, sides), nil
		},
		"LinearlySeparable": func(_ *testing.T, x mat.Matrix) (any, error) {
			ok, margin, err := linear.LinearlySeparable(x, y)
			return []any{ok, margin}, err
		},
		"KMeans": func(t *testing.T, x mat.Matrix) (any, error) {
			k, err := cluster.FitKMeans(t.Context(), source(), x, cluster.KMeansParams{K: 2})
			if err != nil {
				return nil, err
			}
			return []any{k, k.Assign(x), k.Prototypes(x)}, nil
		},
		"KMeans.Assign": func(_ *testing.T, x mat.Matrix) (any, error) {
			return (&cluster.KMeans{Centres: other(x)}).Assign(x), nil
		},
		"KMeans.Prototypes": func(_ *testing.T, x mat.Matrix) (any, error) {
			return (&cluster.KMeans{Centres: other(x)}).Prototypes(x), nil
		},
		"MetricKMeans": func(t *testing.T, x mat.Matrix) (any, error) {
			m := metric.FromFactor(other(x))
			k, err := cluster.FitMetricKMeans(t.Context(), source(), x, m, cluster.KMeansParams{K: 2})
			if err != nil {
				return nil, err
			}
			return []any{k, k.Assign(x), k.Prototypes(x)}, nil
		},
		"HMRF": func(t *testing.T, x mat.Matrix) (any, error) {
			return cluster.FitHMRF(t.Context(), source(), x, links, cluster.HMRFParams{KMeansParams: cluster.KMeansParams{K: 2}})
		},
		"HMRF.Assign": func(_ *testing.T, x mat.Matrix) (any, error) {
			return (&cluster.HMRF{Centres: other(x)}).Assign(x), nil
		},
		"FasterPAM": func(t *testing.T, x mat.Matrix) (any, error) {
			return cluster.FitFasterPAM(t.Context(), source(), x, cluster.MedoidsParams{M: 2})
		},
		"PAM": func(t *testing.T, x mat.Matrix) (any, error) {
			return cluster.FitPAM(t.Context(), x, cluster.MedoidsParams{M: 2})
		},
		"Mixture": func(t *testing.T, x mat.Matrix) (any, error) {
			m, err := cluster.FitMixture(t.Context(), source(), x, cluster.MixtureParams{K: 2})
			if err != nil {
				return nil, err
			}
			return []any{m, m.Posterior(x), m.Assign(x), m.Prototypes(x)}, nil
		},
		"KNN": func(t *testing.T, x mat.Matrix) (any, error) {
			c, err := nearest.NewKNN(metric.Euclidean{}, x, y, nearest.KNNOptions{})
			if err != nil {
				return nil, err
			}
			return c.Neighbours(t.Context(), other(x), 3)
		},
		"KNN.Neighbours": func(t *testing.T, x mat.Matrix) (any, error) {
			return knn(t, other(x), y).Neighbours(t.Context(), x, 3)
		},
		"KNN.Classify": func(t *testing.T, x mat.Matrix) (any, error) { return knn(t, other(x), y).Classify(t.Context(), x, 3) },
		"KNN.Errors": func(t *testing.T, x mat.Matrix) (any, error) {
			return knn(t, other(x), y).Errors(t.Context(), x, y, []int{1, 3})
		},
		"Procrustes": func(_ *testing.T, x mat.Matrix) (any, error) { return triplets.Procrustes(x, other(x)), nil },
		"Procrustes of it": func(_ *testing.T, x mat.Matrix) (any, error) {
			return triplets.Procrustes(other(x), x), nil
		},
		"Respondent": func(_ *testing.T, x mat.Matrix) (any, error) {
			r, err := triplets.NewPointRespondent(rand.NewPCG(1, 1), x, 0)
			if err != nil {
				return nil, err
			}
			return r.Answer(triplets.Query{Head: 1, B: 5, C: 7}), nil
		},
		"Gram": func(_ *testing.T, x mat.Matrix) (any, error) { return kernels.Gram(kernels.Linear{}, x), nil },
		"GramContext": func(t *testing.T, x mat.Matrix) (any, error) {
			return kernels.GramContext(t.Context(), kernels.Linear{}, x)
		},
		"GramRect": func(_ *testing.T, x mat.Matrix) (any, error) {
			return kernels.GramRect(kernels.Linear{}, x, other(x)), nil
		},
		"GramRect, z": func(_ *testing.T, x mat.Matrix) (any, error) {
			return kernels.GramRect(kernels.Linear{}, other(x), x), nil
		},
		"MedianGaussian": func(_ *testing.T, x mat.Matrix) (any, error) {
			return kernels.MedianGaussian(nil, x)
		},
		"Expanded": func(_ *testing.T, x mat.Matrix) (any, error) {
			k, err := kernels.NewTransformed(kernels.Linear{}, 1, width(x), other(x), matrixtest.Identity(n))
			if err != nil {
				return nil, err
			}
			return k.Expanded().Rows(x), nil
		},
		"EmbedRows": func(_ *testing.T, x mat.Matrix) (any, error) { return metric.FromFactor(other(x)).EmbedRows(x), nil },
		"CheckFinite": func(_ *testing.T, x mat.Matrix) (any, error) {
			return nil, metric.CheckFinite(x)
		},
		"CheckWeights":   func(_ *testing.T, x mat.Matrix) (any, error) { return nil, metric.CheckWeights(x) },
		"InverseScatter": func(_ *testing.T, x mat.Matrix) (any, error) { return metric.InverseScatter(x, n, 0.1) },
		"Pairs":          func(_ *testing.T, x mat.Matrix) (any, error) { return slices.Collect(sample.Pairs(x, links)), nil },
		"Comparisons":    func(_ *testing.T, x mat.Matrix) (any, error) { return synthetic.NewComparisons(x) },
		"FitScaler": func(_ *testing.T, x mat.Matrix) (any, error) {
			s, _, err := datasets.FitScaler(x, datasets.ZScore, true)
			return s, err
		},
		"Scaler.Apply": func(_ *testing.T, x mat.Matrix) (any, error) { return (&datasets.Scaler{Dim: width(x)}).Apply(x) },
	}
	for _, e := range catalog.All() {
		v, err := e.Parse(nil)
		if err != nil {
			panic(err)
		}
		if rows := e.Feedback == catalog.Links || e.Feedback == catalog.Classes || e.Feedback == catalog.Data; rows && e.Form != catalog.LowRank {
			out["catalog, "+e.Name] = func(t *testing.T, x mat.Matrix) (any, error) {
				return e.Fit(t.Context(), catalog.Input{X: x, Y: y, Links: links}, v, nil)
			}
		}
	}
	return out
}

var tuned = itml.TunedParams{LabelParams: itml.LabelParams{Params: itml.Params{MaxCycles: 5}}, Folds: 2, K: 1, Gammas: []float64{0.1, 1}}

func knn(t *testing.T, x *mat.Dense, y []int) *nearest.KNN {
	c, err := nearest.NewKNN(metric.Euclidean{}, x, y, nearest.KNNOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The answer for a transposed view, or for a symmetric matrix, has the bits of that for its dense copy.
func TestAnyMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tall := mat.NewDense(3, 12, nil)
	for i := range 3 {
		for j := range 12 {
			tall.Set(i, j, rng.NormFloat64()+math.Mod(float64(j), 2))
		}
	}
	for kind, x := range map[string]mat.Matrix{"transposed": tall.T(), "symmetric": matrixtest.Definite(rng, 12)} {
		for name, f := range readers() {
			t.Run(kind+"/"+name, func(t *testing.T) {
				before := mat.DenseCopyOf(x)
				want, err := f(t, mat.DenseCopyOf(x))
				if err != nil {
					t.Fatal(err)
				}
				got, err := f(t, x)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("got %v, error %v, want %v", got, err, want)
				}
				if !mat.Equal(x, before) {
					t.Error("the matrix has changed")
				}
			})
		}
	}
}

// A nil interface and a nil pointer in it panic with the same message of the package's own.
func TestNilMatrixPanics(t *testing.T) {
	own := regexp.MustCompile(`^[a-z]+: .*nil`)
	for kind, x := range map[string]mat.Matrix{"nil": nil, "dense": (*mat.Dense)(nil), "symmetric": (*mat.SymDense)(nil)} {
		for name, f := range readers() {
			t.Run(kind+"/"+name, func(t *testing.T) {
				defer func() {
					p := recover()
					if s, ok := p.(string); !ok || !own.MatchString(s) {
						t.Errorf("panic %T %v", p, p)
					}
				}()
				_, err := f(t, x)
				t.Errorf("no panic, error %v", err)
			})
		}
	}
}
