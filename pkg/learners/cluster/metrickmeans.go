package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/metric"
)

// MetricKMeansVersion changes whenever FitMetricKMeans gives other numbers for the
// same input.
const MetricKMeansVersion = 1

// MetricKMeans is k-means under a learned metric M = LᵀL.
type MetricKMeans struct {
	// KMeans is that of the images Lx: its Centres are K×r, r = Metric.Rows() or 1,
	// and its Inertia is Σᵢ (xᵢ−cᵢ)ᵀM(xᵢ−cᵢ) with cᵢ the mean of the cluster of xᵢ.
	KMeans
	// Metric is the metric.
	Metric *metric.Mahalanobis
}

// FitMetricKMeans is FitKMeans under the metric m: it looks for K centres that
// minimise Σᵢ min_k (xᵢ−c_k)ᵀM(xᵢ−c_k) over the rows of the n×d matrix x. The
// distance under M = LᵀL is the Euclidean one between images Lx, and the mean of
// images the image of the mean, so that it is k-means of the images. Source: the
// clustering experiments of Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning
// Using a Linear Transformation, JMLR 13, 2012, Section 6.
//
// It returns the errors of FitKMeans. It panics if x, m or rng is nil, or if x has
// rows but not the columns that m compares.
func FitMetricKMeans(ctx context.Context, rng *rand.Rand, x mat.Matrix, m *metric.Mahalanobis, p KMeansParams) (*MetricKMeans, error) {
	xd := matrix.Dense(x)
	if m == nil {
		panic("cluster: FitMetricKMeans: the metric is nil")
	}
	p = p.Resolved()
	if err := checkRows(xd, p); err != nil {
		return nil, fmt.Errorf("kmeans: %w", err)
	}
	z, err := embedded(ctx, m, xd)
	if err != nil {
		return nil, fmt.Errorf("kmeans: %w", err)
	}
	r, err := FitKMeans(ctx, rng, z, p)
	if err != nil {
		return nil, err
	}
	return &MetricKMeans{*r, m}, nil
}

// embedded returns the images of the rows of x, unless ctx is done.
func embedded(ctx context.Context, m *metric.Mahalanobis, x *mat.Dense) (*mat.Dense, error) {
	if n, d := x.Dims(); !abandon.Long(n, d, m.Rows()) {
		return m.EmbedRows(x), nil
	}
	x = mat.DenseCopyOf(x)
	return abandon.Do(ctx, "embedding", func(context.Context) (*mat.Dense, error) { return m.EmbedRows(x), nil })
}

// Assign returns the cluster of each row of x: that of the nearest centre under the
// metric, of equally near ones the lowest. It panics if x is nil or does not have the
// columns that the metric compares.
func (k *MetricKMeans) Assign(x mat.Matrix) []int { return k.KMeans.Assign(k.Metric.EmbedRows(x)) }

// Prototypes returns, for each cluster, the row of x nearest to its centre under the
// metric, of equally near ones the lowest. It panics if x is nil or empty or does not
// have the columns that the metric compares.
func (k *MetricKMeans) Prototypes(x mat.Matrix) []int {
	return k.KMeans.Prototypes(k.Metric.EmbedRows(x))
}
