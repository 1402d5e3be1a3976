package kernelized

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/metric"
)

// PCAParams are the parameters of FitPCA and FitPCAGram.
type PCAParams struct {
	// Dim is the number of components.
	Dim int `range:">= 1 and <= the number of dimensions that the images span" default:"2" doc:"number of components"`
	// Uncentred takes components about the origin of the space of the kernel, in place of the mean of the images.
	Uncentred bool `name:"centring" words:"mean|none" doc:"where components begin: at the mean of the images of the rows, or at the origin of the kernel's space"`
	// Landmarks is that of Params.
	Landmarks int `range:"0, or >= 1"`
}

// Resolved returns p: Dim has no default, and the other defaults are zeros.
func (p PCAParams) Resolved() PCAParams { return p }

// dimensions is the limit of Dim in its range.
const dimensions = "the number of dimensions that the images span"

// Components are the principal components of images.
type Components struct {
	// Variances are those of the scores of the n objects, divisor n, in descending order: the eigenvalues of K̃₀/n.
	Variances []float64
	// Total is the variance of all components, tr(K̃₀)/n.
	Total float64
}

// FitPCA is kernel principal component analysis: the orthonormal directions v₁, v₂, … in the space of the kernel k along which the images of
// the rows of x, n×d, vary most about their mean. The score of a point along v_c is
//
//	⟨v_c, φ(x) − μ⟩ = Σᵢ α_ci k̃ᵢ(x),  K̃₀α_c = λ_cα_c,  λ_c‖α_c‖² = 1,  K̃₀ = HK₀H,  H = I − 11ᵀ/n,
//	k̃ᵢ(x) = κ(x, xᵢ) − (1/n)Σⱼ κ(x, xⱼ) − (1/n)Σⱼ κ(xᵢ, xⱼ) + (1/n²)Σⱼₗ κ(xⱼ, xₗ),
//
// so that new points are centred with the means of the training points. Uncentred, K̃₀ = K₀ and k̃ᵢ(x) = κ(x, xᵢ). Source: Schölkopf, Smola,
// Müller, Nonlinear Component Analysis as a Kernel Eigenvalue Problem, Neural Computation 10, 1998, Section 3 and Appendix A.
//
// It is PCA of the rows of a factor of K₀ (see Fit), or LSA uncentred, so that the linear kernel gives their scores. Signs and equal variances are theirs: compare
// inner products of scores, not scores. Landmarks approximate. The Embed of the Metric gives scores of any point; Status is learners.Closed.
//
// Errors, panics and costs are those of Fit and of labels.FitPCA. Dim is at least 1 and at most the number of dimensions that the images span.
func FitPCA(ctx context.Context, k kernels.Kernel, x mat.Matrix, p PCAParams) (Result, error) {
	c := &projected{}
	p = p.Resolved()
	if err := ranges.Check("kernel-pca", p); err != nil {
		return Result{}, err
	}
	r, err := Fit(ctx, k, x, c.pca(p), Params{Landmarks: p.Landmarks})
	if err != nil {
		return Result{}, err
	}
	r.Metric = r.Metric.Shifted(c.shift)
	r.Components = c.components
	return r, nil
}

// FitPCAGram is FitPCA for objects of which only the Gram matrix K₀ is known, n×n. Its Embed gives scores from kernel values. Errors and panics are those of FitGram in place of Fit.
func FitPCAGram(ctx context.Context, k0 mat.Symmetric, p PCAParams) (GramResult, error) {
	c := &projected{}
	p = p.Resolved()
	if err := ranges.Check("kernel-pca", p); err != nil {
		return GramResult{}, err
	}
	r, err := FitGram(ctx, k0, c.pca(p), Params{Landmarks: p.Landmarks})
	if err != nil {
		return GramResult{}, err
	}
	r.shift = c.shift
	r.Components = c.components
	return r, nil
}

// FDAParams are the parameters of FitFDA and FitFDAGram.
type FDAParams struct {
	// K is the number of directions; 0 means all that separate class means, at most the number of classes minus one.
	K int `range:"0, or >= 1 and <= the number of classes minus one" name:"dim" doc:"number of directions; 0 means all that separate class means"`
	// Ridge is the regularisation ρ > 0, relative to the mean variance within classes of a dimension that the images span. The
	// default is 0.1, which was not tuned. Without a ridge the answer is not unique where images span as many dimensions as there
	// are objects: classes can be collapsed to points in many ways.
	Ridge float64 `range:"> 0" doc:"regularisation, relative to the mean variance within classes, over the dimensions that the rows span"`
	// Landmarks is that of Params.
	Landmarks int `range:"0, or >= 1"`
}

// Resolved returns p with its default filled in: Ridge = 0.1.
func (p FDAParams) Resolved() FDAParams {
	p.Ridge = cmp.Or(p.Ridge, 0.1)
	return p
}

// FitFDA is kernel Fisher discriminant analysis of several classes: the directions v of largest λ of
//
//	S_B v = λ(S_W + ρ·s·I)v,  s = tr(S_W)/r,
//
// with the scatter S_B of the class means and S_W within classes (see labels.FitFDA), of the images of the rows of x, n×d, in the space of the kernel k. The
// images span r dimensions; y has a class per row. Sources: Mika, Rätsch, Weston, Schölkopf, Müller, Fisher Discriminant Analysis with
// Kernels, Neural Networks for Signal Processing IX, 1999, with the ridge on ‖v‖²; Baudat, Anouar, Generalized Discriminant Analysis Using a Kernel Approach,
// Neural Computation 12, 2000, for several classes.
//
// It is FDA of the rows of a factor of K₀ (see Fit). With the linear kernel it is FDA of x with the ridge ρ·d/r. The Embed of the Metric gives scores
// about the mean of the images. Status is learners.Closed.
//
// Errors, panics and costs are those of Fit and of labels.FitFDA, but that Ridge must be > 0.
func FitFDA(ctx context.Context, k kernels.Kernel, x mat.Matrix, y []int, p FDAParams) (Result, error) {
	c := &projected{}
	p = p.Resolved()
	if err := ranges.Check("kernel-fda", p); err != nil {
		return Result{}, err
	}
	r, err := Fit(ctx, k, x, c.fda(y, p), Params{Landmarks: p.Landmarks})
	if err != nil {
		return Result{}, err
	}
	r.Metric = r.Metric.Shifted(c.shift)
	return r, nil
}

// FitFDAGram is FitFDA for objects of which only the Gram matrix K₀ is known, n×n. Errors and panics are those of FitGram in place of Fit.
func FitFDAGram(ctx context.Context, k0 mat.Symmetric, y []int, p FDAParams) (GramResult, error) {
	c := &projected{}
	p = p.Resolved()
	if err := ranges.Check("kernel-fda", p); err != nil {
		return GramResult{}, err
	}
	r, err := FitGram(ctx, k0, c.fda(y, p), Params{Landmarks: p.Landmarks})
	if err != nil {
		return GramResult{}, err
	}
	r.shift = c.shift
	return r, nil
}

// projected is what a projection of the rows of a factor tells beside its metric.
type projected struct {
	shift      []float64 // minus the scores of the point from which scores count
	components Components
}

// pca is the learner of kernel PCA, which fills in c.
func (c *projected) pca(p PCAParams) Learner {
	return func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
		zd := matrix.Dense(z)
		n, r := zd.Dims()
		if err := ranges.Check("kernel-pca", p, ranges.Limit{Words: dimensions, Value: r}); err != nil {
			return learners.MetricResult{}, err
		}
		var w interface {
			Metric() *metric.Mahalanobis
		}
		mean := make([]float64, r)
		if p.Uncentred {
			l, err := labels.FitLSA(ctx, zd, labels.LSAParams{K: p.Dim})
			if err != nil {
				return learners.MetricResult{}, err
			}
			w = l
			for _, s := range l.SingularValues() {
				c.components.Variances = append(c.components.Variances, s*s/float64(n))
			}
		} else {
			l, err := labels.FitPCA(ctx, zd, p.Dim)
			if err != nil {
				return learners.MetricResult{}, err
			}
			w, mean = l, l.Mean()
			c.components.Variances = l.Variances()
		}
		for i := range n {
			c.components.Total += metric.Euclidean{}.SqDist(zd.RawRowView(i), mean) / float64(n)
		}
		return c.of(w.Metric(), mean), nil
	}
}

// fda is the learner of kernel FDA, which fills in c.
func (c *projected) fda(y []int, p FDAParams) Learner {
	return func(ctx context.Context, z mat.Matrix) (learners.MetricResult, error) {
		l, err := labels.FitFDA(ctx, z, y, labels.FDAParams{K: p.K, Ridge: p.Ridge})
		if err != nil {
			return learners.MetricResult{}, err
		}
		return c.of(l.Metric(), l.Mean()), nil
	}
}

// of returns the metric m of rows as a result, with scores about origin.
func (c *projected) of(m *metric.Mahalanobis, origin []float64) learners.MetricResult {
	c.shift = m.Embed(origin)
	floats.Scale(-1, c.shift)
	return learners.MetricResult{Metric: m, Result: learners.Result{Status: learners.Closed}}
}
