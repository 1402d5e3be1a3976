package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/spectral"
)

// MixtureVersion changes whenever FitMixture gives other numbers for the same
// input.
const MixtureVersion = 3

// Covariance is the form of the covariance matrices of a mixture.
type Covariance int

const (
	// CovarianceFull: any covariance matrix. The default.
	CovarianceFull Covariance = iota
	// CovarianceDiagonal: a variance per feature.
	CovarianceDiagonal
	// CovarianceSpherical: one variance σ², the matrix σ²I.
	CovarianceSpherical
)

var covarianceNames = enum.Of[Covariance]("unknown covariance %d", "full", "diagonal", "spherical")

// String returns the form in a word.
func (c Covariance) String() string { return covarianceNames.Text(c) }

// MixtureStart says where EM starts. In either case the components start with
// equal weights and a common covariance matrix.
type MixtureStart int

const (
	// StartFromKMeans: the centres of one run of FitKMeans, and the covariance within
	// its clusters. The default.
	StartFromKMeans MixtureStart = iota
	// StartFromRows: K different rows drawn uniformly, and the covariance of all rows.
	StartFromRows
)

var mixtureStartNames = enum.Of[MixtureStart]("unknown start %d", "from k-means", "from rows")

// String returns the start in words.
func (s MixtureStart) String() string { return mixtureStartNames.Text(s) }

// MixtureParams are the parameters of FitMixture.
type MixtureParams struct {
	// K is the number of components, 1 to the number of rows.
	K int `json:"k" range:">= 1 and <= the number of rows"`
	// Covariance is the form of the covariance matrices; the zero value is CovarianceFull.
	Covariance Covariance `json:"covariance"`
	// Floor is the least variance that a component may have in any direction, relative to
	// the mean variance of the features, from 1e-12 to 1; 0 means 1e-6.
	Floor float64 `json:"floor" range:">= 1e-12 and <= 1"`
	// Start is where EM starts; the zero value is StartFromKMeans.
	Start MixtureStart `json:"start"`
	// Starts is the number of runs, of which the first with the largest
	// likelihood is returned; 0 means 1.
	Starts int `json:"starts" range:">= 1"`
	// Tol > 0 ends a run when an iteration raises the log-likelihood by Tol per
	// row or less; 0 means 1e-6.
	Tol float64 `json:"tol" range:"> 0"`
	// MaxIterations is the cap on iterations of one run; 0 means 300.
	MaxIterations int `json:"max_iterations" range:">= 1"`
	// Progress, if not nil, is told of each iteration of all runs, with the log-likelihood
	// before it as Objective, which EM maximises; Residual is NaN.
	Progress func(learners.Progress) `json:"-"`
}

// Resolved returns p with its defaults filled in: Floor = 1e-6, Starts = 1, Tol =
// 1e-6, MaxIterations = 300.
func (p MixtureParams) Resolved() MixtureParams {
	p.Floor = cmp.Or(p.Floor, 1e-6)
	p.Starts = cmp.Or(p.Starts, 1)
	p.Tol = cmp.Or(p.Tol, 1e-6)
	p.MaxIterations = cmp.Or(p.MaxIterations, 300)
	return p
}

func (p MixtureParams) check(x *mat.Dense) error {
	if err := checkRows(x, p); err != nil {
		return err
	}
	if p.Covariance < CovarianceFull || p.Covariance > CovarianceSpherical {
		return fmt.Errorf("covariance: %d is not allowed, want %d to %d", p.Covariance, CovarianceFull, CovarianceSpherical)
	}
	if p.Start < StartFromKMeans || p.Start > StartFromRows {
		return fmt.Errorf("start: %d is not allowed, want %d to %d", p.Start, StartFromKMeans, StartFromRows)
	}
	n, d := x.Dims()
	size := limits.Floats(2, n, p.K) // responsibilities
	if p.Covariance == CovarianceFull {
		size = max(size, limits.Floats(2*p.K+4, d, d)) // covariances, their factors, and an eigendecomposition
	}
	if err := limits.Check(fmt.Sprintf("%d components for %d×%d numbers", p.K, n, d), size); err != nil {
		return fmt.Errorf("k: %w", err)
	}
	return nil
}

// Mixture is a mixture of Gaussians. It is immutable and safe for concurrent use.
type Mixture struct {
	// Result is of the run that is returned: learners.Converged if the last iteration raised the
	// log-likelihood by Tol per row or less, else learners.IterationCap. Residual is that rise per row, +Inf
	// after one iteration. Iterations counts evaluations of the log-likelihood.
	learners.Result
	weights []float64
	means   *mat.Dense
	comps   []component
	form    Covariance
	trace   []float64
}

// component is the covariance matrix of one component.
type component struct {
	upper     *mat.TriDense // UᵀU = Σ; CovarianceFull only
	variances []float64     // one per feature, equal if CovarianceSpherical; nil if CovarianceFull
	logDet    float64
}

// FitMixture fits a mixture of K Gaussians to the rows of the n×d matrix x by the
// EM algorithm (Dempster, Laird and Rubin 1977): it climbs to a local maximum of
//
//	ℓ = Σᵢ ln Σ_k π_k N(xᵢ; μ_k, Σ_k)
//
// over weights π, means μ and covariance matrices Σ of the given form, all of
// whose eigenvalues are at least ρ = Floor·s, where s is the mean variance of the
// features.
//
// That floor is the regularisation: without it ℓ has no maximum, since a
// component may shrink on a single row. The matrix that maximises the expected
// log-likelihood under the floor is the weighted scatter of the component with
// its eigenvalues (its variances, its variance) below ρ raised to ρ: −ln λ − s/λ
// increases up to λ = s and decreases beyond. So EM remains EM, and ℓ never
// decreases, up to round-off. Source: Ingrassia and Rocci, Constrained Monotone
// EM Algorithms for Finite Mixture of Multivariate Gaussians, 2007. Adding ρ to
// the diagonal, as is often done, has not this property.
//
// A component that has lost all rows keeps its mean and covariance, with weight
// 0. It returns an error if a parameter is not allowed, x is empty or has fewer
// than K rows, all rows coincide, an entry is NaN or infinite, squared distances
// overflow, or vanish though rows differ, or ctx is done. It panics if x or rng
// is nil. An iteration costs O(nKd), or O(nKd² + Kd³) if CovarianceFull.
func FitMixture(ctx context.Context, rng *rand.Rand, x mat.Matrix, p MixtureParams) (*Mixture, error) {
	xd := matrix.Dense(x)
	demandSource(rng)
	p = p.Resolved()
	if err := p.check(xd); err != nil {
		return nil, fmt.Errorf("mixture: %w", err)
	}
	if err := checkSpread(xd); err != nil {
		return nil, fmt.Errorf("mixture: %w", err)
	}
	var best *Mixture
	for i := range p.Starts {
		m, err := climb(ctx, xd, p, rng, runs{p.Progress, i, p.Starts}.report)
		if stopped := ctx.Err(); stopped != nil {
			return nil, fmt.Errorf("mixture: %w", stopped)
		}
		if err != nil {
			return nil, fmt.Errorf("mixture: %w", err)
		}
		if best == nil || m.LogLikelihood() > best.LogLikelihood() {
			best = m
		}
	}
	return best, nil
}

// climb is one run of EM.
func climb(ctx context.Context, x *mat.Dense, p MixtureParams, rng *rand.Rand, report func(iteration, most int, objective float64)) (*Mixture, error) {
	n, d := x.Dims()
	e := &em{ctx: ctx, x: x, form: p.Covariance, dev: mat.NewDense(n, d, nil)}
	one := slices.Repeat([]float64{1}, n)
	mean := make([]float64, d)
	means(rowsOf(x), mat.NewDense(1, d, mean), make([]int, n), []int{n})
	e.deviate(mean)
	var total float64
	for i := range n {
		row := e.dev.RawRowView(i)
		total += floats.Dot(row, row)
	}
	if total == 0 {
		return nil, errors.New("x: all rows coincide, want at least two different ones")
	}
	e.floor = p.Floor * total / float64(n) / float64(d)

	m := &Mixture{weights: slices.Repeat([]float64{1 / float64(p.K)}, p.K), comps: make([]component, p.K), form: p.Covariance, Result: learners.Result{Status: learners.IterationCap}}
	switch p.Start {
	case StartFromKMeans:
		k := lloyd(ctx, rowsOf(x), plusPlus(ctx, rowsOf(x), p.K, rng), KMeansParams{}.Resolved().MaxIterations, runs{}.report)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.means = k.Centres
		for i, c := range k.Assignment {
			floats.SubTo(e.dev.RawRowView(i), x.RawRowView(i), m.means.RawRowView(c))
		}
	case StartFromRows:
		m.means = mat.NewDense(p.K, d, nil)
		for c, i := range rng.Perm(n)[:p.K] {
			m.means.SetRow(c, x.RawRowView(i))
		}
	}
	common, err := e.covariance(one, float64(n))
	if err != nil {
		return nil, err
	}
	for c := range m.comps {
		m.comps[c] = common
	}
	for range p.MaxIterations {
		resp, ll := m.expect(ctx, x)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gain := math.Inf(1)
		if k := len(m.trace); k > 0 {
			gain = ll - m.trace[k-1]
		}
		m.trace = append(m.trace, ll)
		m.Iterations, m.Residual = len(m.trace), gain/float64(n)
		report(len(m.trace), p.MaxIterations, ll)
		if gain <= p.Tol*float64(n) {
			m.Status = learners.Converged
			break
		}
		if len(m.trace) == p.MaxIterations {
			break
		}
		if err := e.maximise(m, resp); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// em is what the maximisation needs beside the mixture.
type em struct {
	ctx   context.Context
	x     *mat.Dense
	form  Covariance
	floor float64    // least eigenvalue
	dev   *mat.Dense // scratch: rows minus a mean
}

func (e *em) deviate(mean []float64) {
	n, _ := e.x.Dims()
	for i := range n {
		floats.SubTo(e.dev.RawRowView(i), e.x.RawRowView(i), mean)
	}
}

// maximise sets weights, means and covariances to those of the K×n
// responsibilities.
func (e *em) maximise(m *Mixture, resp *mat.Dense) error {
	n, _ := e.x.Dims()
	for c := range m.comps {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		r := resp.RawRowView(c)
		mass := floats.Sum(r)
		m.weights[c] = mass / float64(n)
		const none = 1e-200 // less than this has no mean to working precision
		if mass < none {
			m.weights[c] = 0
			continue
		}
		mean := m.means.RawRowView(c)
		clear(mean)
		for i, w := range r {
			floats.AddScaled(mean, w/mass, e.x.RawRowView(i))
		}
		e.deviate(mean)
		comp, err := e.covariance(r, mass)
		if err != nil {
			return err
		}
		m.comps[c] = comp
	}
	floats.Scale(1/floats.Sum(m.weights), m.weights)
	return nil
}

// covariance returns the matrix of the given form that is most likely for the
// deviations with weights w of sum mass, of all with eigenvalues at or above the
// floor. It overwrites the deviations.
func (e *em) covariance(w []float64, mass float64) (component, error) {
	n, d := e.dev.Dims()
	if e.form == CovarianceFull {
		for i := range n {
			floats.Scale(math.Sqrt(w[i]/mass), e.dev.RawRowView(i))
		}
		dev, floor := e.dev, e.floor
		fit := func(context.Context) (component, error) {
			return raised(matrix.Outer(1, dev.T()), floor)
		}
		if abandon.Long(n+d, d, d) {
			return abandon.Do(e.ctx, "covariance", fit) // e is not used again if that fails
		}
		return fit(e.ctx)
	}
	v := make([]float64, d)
	for i := range n {
		share := w[i] / mass
		for j, a := range e.dev.RawRowView(i) {
			v[j] += share * a * a
		}
	}
	if e.form == CovarianceSpherical {
		mean := floats.Sum(v) / float64(d)
		for j := range v {
			v[j] = mean
		}
	}
	c := component{variances: v}
	for j := range v {
		v[j] = max(v[j], e.floor)
		c.logDet += math.Log(v[j])
	}
	return c, nil
}

// raised returns s with its eigenvalues below floor raised to it.
func raised(s *mat.SymDense, floor float64) (component, error) {
	d := s.SymmetricDim()
	shifted := mat.NewSymDense(d, nil)
	shifted.CopySym(s)
	for j := range d {
		shifted.SetSym(j, j, s.At(j, j)-floor)
	}
	var chol mat.Cholesky
	if !chol.Factorize(shifted) { // some eigenvalue is at or below the floor
		// The eigenvectors are those of s. Of s itself gonum gets them wrong where it has a
		// block of 1e-130, say, beside one of order 1; shifted, that block is about −floor.
		var eig spectral.EigenSym
		if !eig.Factorize(shifted, true) {
			return component{}, errors.New("eigendecomposition did not converge")
		}
		var q mat.Dense
		eig.VectorsTo(&q)
		for j, v := range eig.Values(nil) {
			if v < 0 {
				s.SymRankOne(s, -v, q.ColView(j))
			}
		}
	}
	if !chol.Factorize(s) {
		return component{}, errors.New("floor: a covariance matrix is singular to working precision, want a larger floor")
	}
	c := component{upper: mat.NewTriDense(d, mat.Upper, nil), logDet: chol.LogDet()}
	chol.UTo(c.upper)
	return c, nil
}

// expect returns, unless ctx is done, the K×n posterior probabilities of the components and the
// log-likelihood.
func (m *Mixture) expect(ctx context.Context, x *mat.Dense) (resp *mat.Dense, ll float64) {
	n, d := x.Dims()
	k := len(m.weights)
	resp = mat.NewDense(k, n, nil)
	long := m.comps[0].upper != nil && abandon.Long(n, d, d)
	if long {
		x = mat.DenseCopyOf(x) // of the caller, whose rows are not read once the call has returned
	}
	for c, comp := range m.comps {
		if ctx.Err() != nil {
			return nil, 0
		}
		row, mean := resp.RawRowView(c), m.means.RawRowView(c)
		solve := func(context.Context) (struct{}, error) {
			comp.distances(row, x, mean)
			return struct{}{}, nil
		}
		if !long {
			solve(ctx)
		} else if _, err := abandon.Do(ctx, "mixture", solve); err != nil { // resp is lost
			return nil, 0
		}
		constant := math.Log(m.weights[c]) - (float64(d)*math.Log(2*math.Pi)+comp.logDet)/2
		for i, sq := range row {
			row[i] = constant - sq/2
		}
	}
	for i := range n {
		top := math.Inf(-1)
		for c := range k {
			top = max(top, resp.At(c, i))
		}
		var sum float64
		for c := range k {
			v := math.Exp(resp.At(c, i) - top)
			resp.Set(c, i, v)
			sum += v
		}
		for c := range k {
			resp.Set(c, i, resp.At(c, i)/sum)
		}
		ll += top + math.Log(sum)
	}
	return resp, ll
}

// distances sets sq to (x−μ)ᵀΣ⁻¹(x−μ) for each row of x.
func (c component) distances(sq []float64, x *mat.Dense, mean []float64) {
	n, d := x.Dims()
	if c.upper == nil {
		for i := range n {
			var sum float64
			for j, v := range x.RawRowView(i) {
				a := v - mean[j]
				sum += a * a / c.variances[j]
			}
			sq[i] = sum
		}
		return
	}
	// It is ‖U⁻ᵀ(x−μ)‖². Some rows are columns here, so that each step is one of long vectors that lie in the caches.
	const most = 256
	dev, v := mat.NewDense(d, min(n, most), nil), make([]float64, d)
	for lo := 0; lo < n; lo += most {
		hi := min(lo+most, n)
		for i := lo; i < hi; i++ {
			for j, a := range x.RawRowView(i) {
				dev.Set(j, i-lo, a-mean[j])
			}
		}
		for k := range d {
			row := dev.RawRowView(k)[:hi-lo]
			scale := c.upper.At(k, k)
			for i := range row {
				row[i] /= scale
			}
			for j := k + 1; j < d; j++ {
				floats.AddScaled(dev.RawRowView(j)[:hi-lo], -c.upper.At(k, j), row)
			}
		}
		for i := lo; i < hi; i++ {
			mat.Col(v, i-lo, dev)
			sq[i] = floats.Dot(v, v)
		}
	}
}

// Weights returns a copy of the weights π, of sum 1.
func (m *Mixture) Weights() []float64 { return slices.Clone(m.made().weights) }

// Means returns a copy of the K×d matrix of means.
func (m *Mixture) Means() *mat.Dense { return mat.DenseCopyOf(m.made().means) }

// Covariance returns a copy of the d×d covariance matrix of component k. It
// panics unless 0 ≤ k < K.
func (m *Mixture) Covariance(k int) *mat.SymDense {
	_, d := m.made().means.Dims()
	c := m.comps[k]
	if c.upper != nil {
		return matrix.Outer(1, c.upper.T())
	}
	s := mat.NewSymDense(d, nil)
	for j, v := range c.variances {
		s.SetSym(j, j, v)
	}
	return s
}

// Form returns the form of the covariance matrices.
func (m *Mixture) Form() Covariance { return m.made().form }

// LogLikelihood returns ℓ of the fitted rows.
func (m *Mixture) LogLikelihood() float64 { return m.made().trace[len(m.trace)-1] }

// Trace returns a copy of ℓ before each iteration of the run that is returned,
// and after the last.
func (m *Mixture) Trace() []float64 { return slices.Clone(m.made().trace) }

// Posterior returns the n×K matrix of the probabilities of the components given
// each row of x. It panics if x is nil or empty or does not have the columns of
// the fitted rows.
func (m *Mixture) Posterior(x mat.Matrix) *mat.Dense {
	resp, _ := m.expect(context.Background(), m.checked(x))
	return mat.DenseCopyOf(resp.T())
}

// Assign returns the most probable component of each row of x, of equally
// probable ones the lowest. Its panics are those of Posterior.
func (m *Mixture) Assign(x mat.Matrix) []int {
	post := m.Posterior(x)
	n, _ := post.Dims()
	out := make([]int, n)
	for i := range out {
		out[i] = floats.MaxIdx(post.RawRowView(i))
	}
	return out
}

// Prototypes returns, for each component, the row of x nearest to its mean in
// Euclidean distance, of equally near ones the lowest. Its panics are those of
// Posterior.
func (m *Mixture) Prototypes(x mat.Matrix) []int {
	out, _ := nearest(m.made().means, m.checked(x))
	return out
}

// made returns m, and panics if no constructor made it.
func (m *Mixture) made() *Mixture {
	if m == nil || m.means == nil {
		panic("cluster: Mixture: zero value, use FitMixture")
	}
	return m
}

func (m *Mixture) checked(x mat.Matrix) *mat.Dense {
	xd := matrix.Dense(x)
	if xd == nil || xd.IsEmpty() {
		panic("cluster: Mixture: x is nil or empty")
	}
	_, d := m.made().means.Dims()
	if _, c := xd.Dims(); c != d {
		panic(fmt.Sprintf("cluster: Mixture: x has %d columns, want %d", c, d))
	}
	return xd
}
