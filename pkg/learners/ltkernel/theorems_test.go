package ltkernel

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// TestLemma5: Φ(αI_d + ULUᵀ) is Φ(αI_k + L) but for a constant, for any U with orthonormal columns. Value leaves the constant out.
func TestLemma5(t *testing.T) {
	for seed := range uint64(20) {
		d, k := 7, 1+int(seed%5)
		var qr mat.QR
		qr.Factorize(normal(d, d, seed))
		var q mat.Dense
		qr.QTo(&q)
		u := q.Slice(0, d, 0, k)
		w := gramOf(normal(k, k, seed+100)) // αI + L
		for _, phi := range divergences(t) {
			var ul, big mat.Dense
			l := mat.NewDense(k, k, nil)
			l.Copy(w)
			for i := range k {
				l.Set(i, i, l.At(i, i)-phi.Alpha())
			}
			ul.Mul(u, l)
			big.Mul(&ul, u.T())
			for i := range d {
				big.Set(i, i, big.At(i, i)+phi.Alpha())
			}
			if got, want := phiOf(phi, matrix.Symmetric(&big)), phiOf(phi, w); math.Abs(got-want) > 1e-9*(1+want) { // round-off
				t.Errorf("%s, k = %d: %v, want %v", phi.Name(), k, got, want)
			}
		}
	}
}

// withThreshold adds two objects o and p to a Gram matrix, φ(o) = 0 and φ(p) of length 1 and orthogonal to all others. Their
// squared distance is POLA's threshold b: by pinching (Lemma 6) W has no entries between φ(p) and the rest at the optimum, so that
// ½‖W‖² is ½‖A‖² + ½b².
func withThreshold(k0 *mat.SymDense, links []metric.Link) (*mat.SymDense, []Constraint) {
	n := k0.SymmetricDim()
	k := mat.NewSymDense(n+2, nil)
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, k0.At(i, j))
		}
	}
	k.SetSym(n+1, n+1, 1)
	cs := []Constraint{AtLeast(n, n+1, 1)} // b ≥ 1
	for _, l := range links {              // y(b − d²) ≥ 1
		y := float64(l.Label)
		cs = append(cs, Constraint{Dists: []Dist{{l.I, l.J, y}, {n, n + 1, -y}}, Sense: SenseAtMost, Bound: -1})
	}
	return k, cs
}

// polaLinks are pairs of x that are similar if their first coordinates are close.
func polaLinks(x *mat.Dense) []metric.Link {
	n, _ := x.Dims()
	var links []metric.Link
	for i := range n {
		for j := range i {
			switch gap := math.Abs(x.At(i, 0) - x.At(j, 0)); {
			case gap < 0.4:
				links = append(links, metric.Link{I: i, J: j, Label: metric.Similar})
			case gap > 1:
				links = append(links, metric.Link{I: i, J: j, Label: metric.Dissimilar})
			}
		}
	}
	return links
}

// TestPOLA: the batch problem of POLA with its threshold (Section 5.2) is Frobenius with α = 0. Batch POLA ends at a point that is
// feasible after a division by 1 − β, and no better.
func TestPOLA(t *testing.T) {
	x := normal(12, 3, 51)
	links := polaLinks(x)
	k0, cs := withThreshold(gramOf(x), links)
	phi, err := Frobenius(0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := FitKernel(t.Context(), k0, cs, Params{Divergence: phi, Tol: 1e-10})
	if err != nil || got.Status != learners.Converged {
		t.Fatal(got.Status, err)
	}
	k := got.All(k0)
	b := side(AtMost(12, 13, 0), k)
	for _, l := range links {
		if loss := 1 - float64(l.Label)*(b-side(AtMost(l.I, l.J, 0), k)); loss > 1e-7 {
			t.Errorf("pair %d, %d: hinge loss %v", l.I, l.J, loss)
		}
	}
	const beta = 0.02
	batch, err := pairs.FitBatchPOLA(t.Context(), x, links, pairs.BatchPOLAParams{Beta: beta, MaxIterations: 20000})
	if err != nil || batch.Status != learners.Converged {
		t.Fatal(batch.Status, err)
	}
	a := batch.Metric.M()
	cost := (mat.Norm(a, 2)*mat.Norm(a, 2) + batch.Threshold*batch.Threshold) / 2
	if got.Objective > cost/((1-beta)*(1-beta))+1e-9 {
		t.Errorf("objective %v, batch POLA %v", got.Objective, cost)
	}
	// In input space the two objects are rows of one more column.
	rows := mat.NewDense(14, 4, nil)
	rows.Slice(0, 12, 0, 3).(*mat.Dense).Copy(x)
	rows.Set(13, 3, 1)
	in, err := Fit(t.Context(), rows, cs, Params{Divergence: phi, Tol: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	w := in.Metric.M()
	if math.Abs(in.Objective-got.Objective) > 1e-8*got.Objective || math.Abs(w.At(3, 3)-b) > 1e-6*b {
		t.Errorf("input space: objective %v and b %v, want %v and %v", in.Objective, w.At(3, 3), got.Objective, b)
	}
	for i := range 3 {
		if math.Abs(w.At(i, 3)) > 1e-6 {
			t.Errorf("W[%d][3] = %v, want 0", i, w.At(i, 3))
		}
	}
}

// BenchmarkPOLA solves the same problem under a Gaussian kernel: by FitKernel to the optimum, and by kernel POLA, passing over
// the pairs until no hinge loss is above .1. Kernel POLA is there sooner than FitKernel at the optimum.
func BenchmarkPOLA(b *testing.B) {
	x := normal(40, 3, 52)
	links := polaLinks(x)
	g, err := kernels.NewGaussian(0.5)
	if err != nil {
		b.Fatal(err)
	}
	k0, cs := withThreshold(kernels.Gram(g, x), links)
	phi, err := Frobenius(0)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("method=spectral", func(b *testing.B) {
		for b.Loop() {
			res, err := FitKernel(b.Context(), k0, cs, Params{Divergence: phi, Tol: 1e-6})
			if err != nil || res.Status != learners.Converged {
				b.Fatal(res.Status, err)
			}
			b.ReportMetric(float64(res.Iterations), "steps")
			b.ReportMetric(res.Objective, "objective")
		}
	})
	b.Run("method=kernel-pola", func(b *testing.B) {
		for b.Loop() {
			l, err := pairs.NewKernelPOLA(3, g, pairs.POLAParams{})
			if err != nil {
				b.Fatal(err)
			}
			passes, worst := 0, math.Inf(1)
			for worst > 0.1 && passes < 2000 {
				worst = 0
				for _, link := range links {
					f := metric.Pair{X: x.RawRowView(link.I), Y: x.RawRowView(link.J), Label: link.Label}
					o, err := l.Step(f)
					if err != nil {
						b.Fatal(err)
					}
					worst = max(worst, o.Loss)
				}
				passes++
			}
			b.ReportMetric(float64(passes*len(links)), "steps")
			b.ReportMetric(worst, "loss")
		}
	})
}

// bregman is Bregman's method for hard constraints: one constraint after another is met exactly, or its multiplier becomes 0. It
// returns the point and the number of eigendecompositions. For von Neumann a projection has no closed form: its
// multiplier is a root.
func bregman(d *dual, tol float64, most int) (*point, int) {
	lambda, evaluations := make([]float64, len(d.b)), 0
	at := func() *point {
		evaluations++
		return d.at(append([]float64(nil), lambda...))
	}
	for p := at(); ; {
		if floats.Norm(d.projected(p), math.Inf(1)) <= tol || evaluations >= most {
			return p, evaluations
		}
		for i := range lambda {
			if math.Abs(lambda[i]-min(max(lambda[i]-p.grad[i], d.lo[i]), d.hi[i])) <= tol/10 {
				continue
			}
			// h is convex in λᵢ: Newton with a bracket, in which the curvature is that of the diagonal.
			low, high := d.lo[i], d.hi[i]
			for range 60 {
				if p.grad[i] > 0 {
					high = min(high, lambda[i])
				} else {
					low = max(low, lambda[i])
				}
				next := min(max(lambda[i]-p.grad[i]/d.diagonal(p)[i], d.lo[i]), d.hi[i])
				if !(next > low && next < high) && next != d.lo[i] {
					if math.IsInf(high, 1) || math.IsInf(low, -1) {
						next = lambda[i] - p.grad[i]
					} else {
						next = low/2 + high/2
					}
				}
				if next == lambda[i] {
					break
				}
				lambda[i] = next
				q := at()
				if q.overrun {
					high = lambda[i]
					lambda[i] = low/2 + high/2
					q = at()
				}
				if p = q; math.Abs(p.grad[i]) <= tol/10 || lambda[i] == d.lo[i] && p.grad[i] > 0 {
					break
				}
			}
		}
	}
}

// firstOrder is accelerated projected gradient descent on the dual with backtracking and restarts (Section 5.1: "any first-order
// smooth optimization method").
func firstOrder(d *dual, tol float64, most int) (*point, int) {
	p := d.at(make([]float64, len(d.b)))
	evaluations, rate, momentum := 1, 1.0, 1.0
	y := p
	for evaluations < most {
		if floats.Norm(d.projected(p), math.Inf(1)) <= tol {
			break
		}
		var q *point
		for {
			lambda := make([]float64, len(d.b))
			floats.AddScaledTo(lambda, y.lambda, -rate, y.grad)
			d.clip(lambda)
			q = d.at(lambda)
			evaluations++
			step := make([]float64, len(lambda))
			floats.SubTo(step, lambda, y.lambda)
			if !q.overrun && q.h <= y.h+floats.Dot(y.grad, step)+floats.Dot(step, step)/(2*rate)+1e-14*(1+math.Abs(y.h)) {
				break
			}
			rate /= 2
		}
		if q.h > p.h && y != p { // restart
			y, momentum = p, 1
			continue
		}
		next := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		ahead := make([]float64, len(d.b))
		for i := range ahead {
			ahead[i] = q.lambda[i] + (momentum-1)/next*(q.lambda[i]-p.lambda[i])
		}
		d.clip(ahead)
		momentum, p = next, q
		if y = d.at(ahead); y.overrun {
			y, momentum = q, 1
		}
		evaluations++
	}
	return p, evaluations
}

// vonNeumannDual is a feasible problem with hard bounds on distances.
func vonNeumannDual(tb testing.TB, n, dim, count int) (*dual, *mat.Dense, []Constraint, Params) {
	x := normal(n, dim, 61)
	var cs []Constraint
	for _, c := range mixed(x, 4*count, 62) {
		if len(c.Dists) == 1 && c.Sense != SenseExactly {
			cs = append(cs, c)
		}
	}
	support, err := Support(n, cs)
	if err != nil {
		tb.Fatal(err)
	}
	rows := mat.NewDense(len(support), dim, nil)
	for a, i := range support {
		copy(rows.RawRowView(a), x.RawRowView(i))
	}
	p := Params{Divergence: VonNeumann(), Tol: 1e-6}.Resolved()
	d, err := newDual(rows, support, cs, p, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return d, x, cs, p
}

// TestVonNeumannMethods: Bregman projections, the first-order dual and Fit have one answer.
func TestVonNeumannMethods(t *testing.T) {
	d, x, cs, p := vonNeumannDual(t, 14, 5, 6)
	want, err := Fit(t.Context(), x, cs, p)
	if err != nil || want.Status != learners.Converged {
		t.Fatal(want.Status, err)
	}
	for name, method := range map[string]func(*dual, float64, int) (*point, int){"Bregman": bregman, "first order": firstOrder} {
		got, n := method(d, 1e-6, 200000)
		if math.Abs(-got.h-want.Objective) > 1e-5*(1+want.Objective) {
			t.Errorf("%s: %v after %d eigendecompositions, want %v", name, -got.h, n, want.Objective)
		}
	}
}

// BenchmarkVonNeumann counts eigendecompositions to a KKT residual of 1e-6. At order 20 with 30 constraints Bregman projections take 2,300,
// the first-order dual 480, and Fit 8 steps: so the other two are in tests only.
func BenchmarkVonNeumann(b *testing.B) {
	for _, size := range [][3]int{{20, 6, 10}, {40, 20, 30}} {
		d, x, cs, p := vonNeumannDual(b, size[0], size[1], size[2])
		for _, m := range []struct {
			name string
			run  func(*dual, float64, int) (*point, int)
		}{{"bregman", bregman}, {"first-order", firstOrder}} {
			b.Run(fmt.Sprintf("method=%s/dim=%d", m.name, size[1]), func(b *testing.B) {
				for b.Loop() {
					q, n := m.run(d, p.Tol, 50000)
					b.ReportMetric(float64(n), "eigen")
					b.ReportMetric(floats.Norm(d.projected(q), math.Inf(1)), "residual")
				}
			})
		}
		b.Run(fmt.Sprintf("method=newton/dim=%d", size[1]), func(b *testing.B) {
			for b.Loop() {
				res, err := Fit(b.Context(), x, cs, p)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(res.Iterations), "steps")
				b.ReportMetric(res.Residual, "residual")
			}
		})
	}
}

// TestSmoothLoss: Theorem 4 for an unconstrained problem with a smooth convex loss of distances (Section 4.1), here
//
//	min over W ⪰ 0 of ½‖W − αI‖² + c·Σ log(1 + exp(y(d² − b))),
//
// in input space and over K in the coordinates of a factor of K₀, by plain projected gradients. K agrees, and W is αI + ΦSΦᵀ
// with S from the derivatives of the loss, where no eigenvalue of W is 0.
func TestSmoothLoss(t *testing.T) {
	const alpha, c, b = 1, 0.05, 6
	for _, dims := range [][2]int{{9, 4}, {5, 8}} {
		x := normal(dims[0], dims[1], 71)
		links := polaLinks(x)
		f, err := factor(gramOf(x))
		if err != nil {
			t.Fatal(err)
		}
		input, inKernel := smoothFit(t, x, links, alpha, c, b), smoothFit(t, f, links, alpha, c, b)
		kernelOf := func(x *mat.Dense, w *mat.SymDense) *mat.SymDense {
			var xw, k mat.Dense
			xw.Mul(x, w)
			k.Mul(&xw, x.T())
			return matrix.Symmetric(&k)
		}
		k := kernelOf(x, input)
		if !mat.EqualApprox(k, kernelOf(f, inKernel), 1e-6) {
			t.Errorf("%v: K differs", dims)
		}
		// W = [αI − cΣyσ·zzᵀ]₊, and S has the weights of a Laplacian.
		want := mat.NewSymDense(dims[1], nil)
		for i := range dims[1] {
			want.SetSym(i, i, alpha)
		}
		for _, l := range links {
			z := make([]float64, dims[1])
			floats.SubTo(z, x.RawRowView(l.I), x.RawRowView(l.J))
			y := float64(l.Label)
			want.SymRankOne(want, -c*y/(1+math.Exp(-y*(side(AtMost(l.I, l.J, 0), k)-b))), mat.NewVecDense(dims[1], z))
		}
		if !mat.EqualApprox(input, positive(t, want), 1e-6) {
			t.Errorf("%v: W is not [αI + ΦSΦᵀ]₊", dims)
		}
	}
}

// positive is the nearest positive semi-definite matrix.
func positive(t *testing.T, a *mat.SymDense) *mat.SymDense {
	var eig spectral.EigenSym
	if !eig.Factorize(a, true) {
		t.Fatal("no eigenvalues")
	}
	var q, scaled, out mat.Dense
	eig.VectorsTo(&q)
	scaled.CloneFrom(&q)
	for k, v := range eig.Values(nil) {
		for i := range a.SymmetricDim() {
			scaled.Set(i, k, q.At(i, k)*max(v, 0))
		}
	}
	out.Mul(&scaled, q.T())
	return matrix.Symmetric(&out)
}

// smoothFit minimises the problem of TestSmoothLoss over W of the rows of x.
func smoothFit(t *testing.T, x *mat.Dense, links []metric.Link, alpha, c, b float64) *mat.SymDense {
	_, d := x.Dims()
	w := mat.NewSymDense(d, nil)
	lipschitz := 1.0
	for _, l := range links {
		s := metric.Euclidean{}.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		lipschitz += c * s * s / 4
	}
	z := make([]float64, d)
	for range 100000 {
		g := mat.NewSymDense(d, nil) // W less a gradient step
		g.CopySym(w)
		g.ScaleSym(1-1/lipschitz, g)
		for i := range d {
			g.SetSym(i, i, g.At(i, i)+alpha/lipschitz)
		}
		for _, l := range links {
			floats.SubTo(z, x.RawRowView(l.I), x.RawRowView(l.J))
			v := mat.NewVecDense(d, z)
			y := float64(l.Label)
			g.SymRankOne(g, -c*y/(1+math.Exp(-y*(mat.Inner(v, w, v)-b)))/lipschitz, v)
		}
		next := positive(t, g)
		var moved mat.Dense
		moved.Sub(next, w)
		if w = next; mat.Norm(&moved, 2)*lipschitz < 1e-9 {
			return w
		}
	}
	t.Fatal("the reference did not converge")
	return nil
}
