package labels

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// slowTargets are the k nearest others of the class of each row, by sorting all.
func slowTargets(x *mat.Dense, y []int, k int) [][]int {
	n, _ := x.Dims()
	out := make([][]int, n)
	for i := range n {
		var same []int
		for j := range n {
			if j != i && y[j] == y[i] {
				same = append(same, j)
			}
		}
		sq := func(j int) float64 { return metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)) }
		slices.SortStableFunc(same, func(a, b int) int {
			if sq(a) < sq(b) {
				return -1
			}
			if sq(a) > sq(b) {
				return 1
			}
			return a - b
		})
		out[i] = same[:min(k, len(same))]
	}
	return out
}

// slowLMNN is F, the sums of both kinds, and a subgradient, over all triplets.
func slowLMNN(x *mat.Dense, y []int, targets [][]int, mu float64, m mat.Symmetric) (f, pull, push float64, g *mat.SymDense) {
	n, d := x.Dims()
	g = mat.NewSymDense(d, nil)
	diff := func(i, j int) *mat.VecDense {
		v := mat.NewVecDense(d, nil)
		v.SubVec(x.RowView(i), x.RowView(j))
		return v
	}
	for i := range n {
		for _, j := range targets[i] {
			near := diff(i, j)
			dj := mat.Inner(near, m, near)
			pull += dj
			g.SymRankOne(g, 1-mu, near)
			for l := range n {
				if y[l] == y[i] {
					continue
				}
				far := diff(i, l)
				if z := 1 + dj - mat.Inner(far, m, far); z > 0 {
					push += z
					g.SymRankOne(g, mu, near)
					g.SymRankOne(g, -mu, far)
				}
			}
		}
	}
	return (1-mu)*pull + mu*push, pull, push, g
}

// TestLMNNTargets: against sorting, with ties on a grid and small classes.
func TestLMNNTargets(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 1))
	x := mat.NewDense(40, 2, nil)
	y := make([]int, 40)
	for i := range 40 {
		x.SetRow(i, []float64{float64(rng.IntN(4)), float64(rng.IntN(4))})
		y[i] = rng.IntN(3)
	}
	y[7], y[8], y[9], y[10] = 20, 20, 20, -5 // three rows, and one alone
	for _, k := range []int{1, 3, 100} {
		got, err := targetNeighbours(context.Background(), x, y, k)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range slowTargets(x, y, k) {
			if !slices.Equal(got[i], want) {
				t.Errorf("k = %d: targets of row %d are %v, want %v", k, i, got[i], want)
			}
		}
	}
}

// newTestFit returns the fit with all impostors looked at and random multipliers.
func newTestFit(t *testing.T, rng *rand.Rand, x *mat.Dense, y []int) (*lmnnFit, *coordinates) {
	t.Helper()
	targets, err := targetNeighbours(context.Background(), x, y, 3)
	if err != nil {
		t.Fatal(err)
	}
	f, c, err := newLMNNFit(context.Background(), x, y, targets, 0.3, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, r := f.x.Dims()
	f.survey(mat.NewSymDense(r, nil)) // all are impostors
	for i, near := range f.near {
		if want := 2 * len(y) / 3; len(near) != want {
			t.Fatalf("row %d has %d impostors, want %d", i, len(near), want)
		}
		planes := make([][]float64, len(f.targets[i]))
		for _, l := range near {
			if rng.IntN(8) == 0 {
				continue
			}
			f.shift[i].at = append(f.shift[i].at, l)
			for j := range planes {
				planes[j] = append(planes[j], max(0, 2*rng.Float64()-1))
			}
		}
		f.shift[i].a = slices.Concat(planes...)
	}
	return f, c
}

// TestLMNNGradient: of what descends, against central differences. Envelopes are once differentiable,
// so that few of the differences lie on a bend.
func TestLMNNGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 2))
	x, y := overlapping(rng, 24, 4, 3, 1)
	f, _ := newTestFit(t, rng, x, y)
	for _, scale := range []float64{0.01, 1, 10} {
		checkGradient(t, fmt.Sprintf("scale %g", scale), rng, f, psd(rng, 4, scale))
	}
}

// slowEnvelopes is what descends, over all triplets.
func slowEnvelopes(f *lmnnFit, m mat.Symmetric) float64 {
	sum := 0.0
	sq := func(i, j int) float64 {
		v := mat.NewVecDense(m.SymmetricDim(), nil)
		v.SubVec(f.x.RowView(i), f.x.RowView(j))
		return mat.Inner(v, m, v)
	}
	for i, targets := range f.targets {
		for l := range f.y {
			if f.y[l] == f.y[i] {
				continue
			}
			shift := make([]float64, len(targets))
			if at, ok := slices.BinarySearch(f.shift[i].at, int32(l)); ok {
				for j := range shift {
					shift[j] = f.shift[i].a[j*len(f.shift[i].at)+at]
				}
			}
			for j, t := range targets {
				z, s := 1+sq(i, t)-sq(i, l), shift[j]
				a := min(max(s+z/f.width, 0), 1)
				sum += a*z - f.width/2*(a-s)*(a-s)
			}
		}
	}
	for k, c := range f.pull {
		sum += c * m.At(k, k) / f.mu
	}
	return f.mu * sum
}

// TestLMNNValue: the sums over all triplets, the envelopes of all hinges, which lie below them by at most ½·width each, and
// the same F in the coordinates of x.
func TestLMNNValue(t *testing.T) {
	const tol = 1e-10 // round-off of a change of coordinates
	rng := rand.New(rand.NewPCG(54, 3))
	x, y := overlapping(rng, 24, 4, 3, 1)
	f, c := newTestFit(t, rng, x, y)
	for _, scale := range []float64{0.01, 1, 10} {
		m := psd(rng, 4, scale)
		smooth := f.value(m)
		s := f.survey(m)
		outer, _, err := c.metric(m)
		if err != nil {
			t.Fatal(err)
		}
		want, pull, push, _ := slowLMNN(x, y, f.targets, f.mu, outer.M())
		if math.Abs(s.total-want) > tol*want || math.Abs(s.pull-pull) > tol*pull || math.Abs(s.push-push) > tol*push {
			t.Errorf("scale %g: %+v, want %v, %v, %v", scale, s, want, pull, push)
		}
		if slow := slowEnvelopes(f, m); math.Abs(smooth-slow) > tol*math.Abs(slow) {
			t.Errorf("scale %g: the envelopes are %v, want %v", scale, smooth, slow)
		}
		if smooth > want*(1+tol) || smooth < want*(1-tol)-f.mu*f.width/2*24*3*16 {
			t.Errorf("scale %g: the envelope is %v, F %v", scale, smooth, want)
		}
	}
}

// TestLMNNLine: in one dimension F is piecewise linear in the only weight, and least at 0 or at a
// bend.
func TestLMNNLine(t *testing.T) {
	const tol = 1e-7
	rng := rand.New(rand.NewPCG(54, 4))
	for _, mu := range []float64{0.1, 0.5, 0.9} {
		for range 2 {
			x, y := overlapping(rng, 20, 1, 2, 1.5)
			l, err := FitLMNN(context.Background(), x, y, LMNNParams{K: 2, Mu: mu, Tol: tol})
			if err != nil {
				t.Fatal(err)
			}
			value := func(w float64) float64 {
				f, _, _, _ := slowLMNN(x, y, l.Targets, mu, mat.NewSymDense(1, []float64{w}))
				return f
			}
			least := value(0)
			for i := range 20 {
				for _, j := range l.Targets[i] {
					for k := range 20 {
						a, b := x.At(i, 0)-x.At(j, 0), x.At(i, 0)-x.At(k, 0)
						if gap := b*b - a*a; y[k] != y[i] && gap > 0 {
							least = min(least, value(1/gap))
						}
					}
				}
			}
			if l.Status != learners.Converged || l.Objective > least+tol*max(least, mu*40) || l.Objective < least*(1-1e-8) {
				t.Errorf("mu %g: %v, F = %v, least %v", mu, l.Status, l.Objective, least)
			}
		}
	}
}

// TestLMNNOptimum: the sums are those of the metric returned, over all triplets; the lower bound is
// below F of any metric; and a slow method, projected subgradients with short steps, ends between the
// bound and a little above.
func TestLMNNOptimum(t *testing.T) {
	const (
		tol   = 1e-5
		short = 0.02 // what the slow method lacks
	)
	rng := rand.New(rand.NewPCG(54, 5))
	for _, c := range []struct {
		n, d, classes int
		gap, mu       float64
	}{{21, 2, 3, 0.7, 0.5}, {24, 3, 2, 1, 0.5}, {24, 3, 3, 1, 0.2}, {30, 3, 2, 0.1, 0.8}} {
		x, y := overlapping(rng, c.n, c.d, c.classes, c.gap)
		l, err := FitLMNN(context.Background(), x, y, LMNNParams{Mu: c.mu, Tol: tol})
		if err != nil {
			t.Fatal(err)
		}
		if l.Status != learners.Converged || l.Residual > tol {
			t.Errorf("%+v: %v after %d, residual %g", c, l.Status, l.Iterations, l.Residual)
		}
		m := l.Metric.M()
		f, pull, push, _ := slowLMNN(x, y, l.Targets, c.mu, m)
		for _, v := range [][2]float64{{l.Objective, f}, {l.Pull, pull}, {l.Push, push}} {
			if math.Abs(v[0]-v[1]) > 1e-9*f {
				t.Errorf("%+v: %v, want %v", c, v[0], v[1])
			}
		}
		if f < l.Lower || f > l.Lower+tol*max(f, c.mu*3*float64(c.n))*(1+1e-6) {
			t.Errorf("%+v: F = %v, lower bound %v", c, f, l.Lower)
		}
		for range 30 {
			other := psd(rng, c.d, 0.1)
			addScaled(other, m, rng.Float64(), other)
			if v, _, _, _ := slowLMNN(x, y, l.Targets, c.mu, other); v < l.Lower {
				t.Errorf("%+v: F = %v of a random metric is below the bound %v", c, v, l.Lower)
			}
		}
		at := scaledIdentity(c.d, mat.Trace(m)/float64(c.d))
		best := math.Inf(1)
		for k := range 250 {
			v, _, _, g := slowLMNN(x, y, l.Targets, c.mu, at)
			best = min(best, v)
			step := 0.3 * mat.Norm(m, 2) / mat.Norm(g, 2) / math.Sqrt(float64(k+1))
			addScaled(at, at, -step, g)
			if at, _, err = metric.ProjectPSD(at); err != nil {
				t.Fatal(err)
			}
		}
		if best < l.Lower || best > f*(1+short) {
			t.Errorf("%+v: F = %v, subgradients %v, bound %v", c, f, best, l.Lower)
		}
	}
}

// TestLMNNResidual: F is within Residual of the least F, also where the fit is cut short.
func TestLMNNResidual(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 6))
	x, y := overlapping(rng, 60, 6, 3, 1)
	best, err := FitLMNN(context.Background(), x, y, LMNNParams{Tol: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{1, 5, 10, 20, 40} {
		l, err := FitLMNN(context.Background(), x, y, LMNNParams{Tol: 1e-6, MaxIterations: most})
		if err != nil {
			t.Fatal(err)
		}
		unit := max(l.Objective, 0.5*180)
		if off := (l.Objective - best.Objective) / unit; off > l.Residual+1e-6 || off < -1e-5 {
			t.Errorf("after %d: %g above the minimum, residual %g", most, off, l.Residual)
		}
		if l.Status != learners.IterationCap || l.Iterations != most {
			t.Errorf("cap of %d: %v after %d", most, l.Status, l.Iterations)
		}
	}
}

// TestLMNNBest: a longer fit, which goes through the points of a shorter one, never ends at a larger F; and
// Residual is what its definition says.
func TestLMNNBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 10))
	x, y := overlapping(rng, 60, 8, 3, 0.5)
	before := math.Inf(1)
	for most := lmnnEvery; most <= 15*lmnnEvery; most += lmnnEvery {
		l, err := FitLMNN(context.Background(), x, y, LMNNParams{Tol: 1e-12, Mu: 0.75, MaxIterations: most})
		if err != nil {
			t.Fatal(err)
		}
		if l.Objective > before*(1+1e-12) {
			t.Errorf("F = %v after %d iterations, %v before", l.Objective, most, before)
		}
		before = l.Objective
		want := (l.Objective - l.Lower) / max(l.Objective, 0.75*180)
		if math.Abs(l.Residual-want) > 1e-10 {
			t.Errorf("after %d: residual %v, want %v", most, l.Residual, want)
		}
	}
}

// TestLMNNRadius: R and ρ are those of the comment of FitLMNN, in the coordinates of x, and the bounds
// hold for metrics within R.
func TestLMNNRadius(t *testing.T) {
	const tol = 1e-9 // round-off of a change of coordinates
	rng := rand.New(rand.NewPCG(54, 11))
	x, y := overlapping(rng, 24, 4, 3, 1)
	f, c := newTestFit(t, rng, x, y)
	sigma, _ := covariance(x, upTo(24))
	within := 0
	for range 20 {
		m := psd(rng, 4, math.Exp(6*rng.Float64()-3)/12)
		outer, _, err := c.metric(m)
		if err != nil {
			t.Fatal(err)
		}
		trace := inner(outer.M(), sigma)
		if got, want := f.radius(m), max(2*trace, 1); math.Abs(got-want) > tol*want {
			t.Errorf("R = %v, want %v", got, want)
		}
		d := newDescent(f, m)
		f.renew(d)
		smooth, err := f.bound(d)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			other := psd(rng, 4, math.Exp(6*rng.Float64()-6)/12)
			o, _, err := c.metric(other)
			if err != nil {
				t.Fatal(err)
			}
			if inner(o.M(), sigma) > f.radius(m) {
				continue
			}
			within++
			full, _, _, _ := slowLMNN(x, y, f.targets, f.mu, o.M())
			if v := f.value(other); v < smooth || full < f.bounded(m) {
				t.Errorf("F = %v with bound %v, with envelopes %v with bound %v", full, f.bounded(m), v, smooth)
			}
		}
	}
	if within < 100 {
		t.Errorf("%d metrics lay within R", within)
	}
	for k, want := range []float64{1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2} {
		if got := f.ridge(k); math.Abs(got-want*0.7*72) > 1e-12*got {
			t.Errorf("ρ = %v, want %v", got, want*0.7*72)
		}
	}
}

// TestLMNNStart: of the powers of two, the multiple of I with the least F.
func TestLMNNStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 12))
	for _, gap := range []float64{0.1, 1, 3} {
		x, y := overlapping(rng, 24, 4, 3, gap)
		f, _ := newTestFit(t, rng, x, y)
		c := f.startScale()
		best := f.survey(scaledIdentity(4, c)).total
		for e := -30; e <= 30; e++ {
			if v := f.survey(scaledIdentity(4, math.Ldexp(c, e))).total; v < best*(1-1e-12) {
				t.Errorf("gap %g: F = %v at %g·I, 2^%d times it %v", gap, best, c, e, v)
			}
		}
	}
}

// TestLMNNScale: F is as small in other units, under the metric that has the same distances. Two
// fits are the same to the bit.
func TestLMNNScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 7))
	x, y := overlapping(rng, 45, 4, 3, 1)
	a, err := FitLMNN(context.Background(), x, y, LMNNParams{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := FitLMNN(context.Background(), x, y, LMNNParams{})
	if err != nil || !mat.Equal(a.Metric.M(), b.Metric.M()) {
		t.Errorf("two fits differ, error %v", err)
	}
	for _, scale := range []float64{1.0 / (1 << 20), 1 << 30} { // exact, so that targets stay
		var scaled mat.Dense
		scaled.Scale(scale, x)
		c, err := FitLMNN(context.Background(), &scaled, y, LMNNParams{})
		if err != nil {
			t.Fatal(err)
		}
		m := c.Metric.M()
		m.ScaleSym(scale*scale, m)
		if !mat.EqualApprox(m, a.Metric.M(), 1e-6*mat.Norm(m, 2)) || math.Abs(c.Objective-a.Objective) > 1e-6*a.Objective {
			t.Errorf("scale %g: F = %v, want %v", scale, c.Objective, a.Objective)
		}
	}
}

// TestLMNNEdges: rows alone, duplicates, constant features, more features than rows, directions in which
// targets do not differ, and classes that cannot be told apart.
func TestLMNNEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(54, 8))
	x, y := overlapping(rng, 30, 4, 3, 1)
	y[5] = 9                     // alone
	x.SetRow(1, x.RawRowView(0)) // of another class
	x.SetRow(6, x.RawRowView(3)) // of the same
	for i := range 30 {
		x.Set(i, 3, 0.1)
	}
	l, err := FitLMNN(context.Background(), x, y, LMNNParams{})
	if err != nil {
		t.Fatal(err)
	}
	if l.Status != learners.Converged || len(l.Targets[5]) != 0 || l.Push < 6 {
		t.Errorf("%v, targets of the row alone %v, hinges %v", l.Status, l.Targets[5], l.Push)
	}
	if w := l.Metric.M().At(3, 3); w != 0 {
		t.Errorf("weight %v of a constant feature", w)
	}

	// A feature that is the class: F can be as small as asked for.
	for i := range 30 {
		x.Set(i, 3, 3*float64(y[i]))
	}
	if l, err = FitLMNN(context.Background(), x, y, LMNNParams{}); err != nil || l.Status != learners.Converged || l.Objective > 1e-3*0.5*90 {
		t.Errorf("a feature that is the class: %v, F = %v, error %v", l.Status, l.Objective, err)
	}

	wide, labels := overlapping(rng, 20, 40, 2, 1)
	if l, err = FitLMNN(context.Background(), wide, labels, LMNNParams{}); err != nil || l.Status != learners.Converged {
		t.Errorf("more features than rows: %v after %d, residual %g, error %v", l.Status, l.Iterations, l.Residual, err)
	}

	// Each class has one point: the targets coincide.
	points := mat.NewDense(4, 2, []float64{0, 0, 0, 0, 1, 5, 1, 5})
	if l, err = FitLMNN(context.Background(), points, []int{0, 0, 1, 1}, LMNNParams{}); err != nil || l.Status != learners.Converged || l.Objective > 1e-3 {
		t.Errorf("classes that are points: %v, F = %v, error %v", l.Status, l.Objective, err)
	}

	// The classes lie in the same places: no metric is better than M = 0.
	line := mat.NewDense(6, 1, []float64{0, 1, 2, 0, 1, 2})
	if l, err = FitLMNN(context.Background(), line, []int{0, 1, 0, 1, 0, 1}, LMNNParams{K: 1}); err != nil || l.Status != learners.Converged {
		t.Errorf("classes in the same places: %v, residual %g, error %v", l.Status, l.Residual, err)
	}
	if f, _, _, _ := slowLMNN(line, []int{0, 1, 0, 1, 0, 1}, l.Targets, 0.5, mat.NewSymDense(1, nil)); math.Abs(l.Objective-f) > 1e-3*f {
		t.Errorf("classes in the same places: F = %v, want %v", l.Objective, f)
	}
}

func TestLMNNErrors(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 3, 4})
	y := []int{0, 0, 1, 1}
	fit := func(x *mat.Dense, y []int, p LMNNParams) error {
		_, err := FitLMNN(context.Background(), x, y, p)
		return err
	}
	for want, err := range map[string]error{
		"lmnn: 3 labels for 4 rows":                fit(x, y[:3], LMNNParams{}),
		"lmnn: labels: 1 class, want at least 2":   fit(x, []int{3, 3, 3, 3}, LMNNParams{}),
		"lmnn: labels: each class has one row":     fit(x, []int{0, 1, 2, 3}, LMNNParams{}),
		"lmnn: k: -1 is not allowed":               fit(x, y, LMNNParams{K: -1}),
		"lmnn: mu: 1 is not allowed":               fit(x, y, LMNNParams{Mu: 1}),
		"lmnn: mu: NaN is not allowed":             fit(x, y, LMNNParams{Mu: math.NaN()}),
		"lmnn: tol: +Inf is not allowed":           fit(x, y, LMNNParams{Tol: math.Inf(1)}),
		"lmnn: max_iterations: -1 is not allowed":  fit(x, y, LMNNParams{MaxIterations: -1}),
		"lmnn: row 1, column 0: +Inf":              fit(mat.NewDense(2, 1, []float64{0, math.Inf(1)}), []int{0, 1}, LMNNParams{}),
		"lmnn: all rows coincide":                  fit(mat.NewDense(4, 2, nil), y, LMNNParams{}),
		"lmnn: knn: training set: row 0: squared ": fit(mat.NewDense(4, 1, []float64{-1e300, 1e300, 0, 0}), y, LMNNParams{}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	mustPanic(t, "empty data", func() { FitLMNN(context.Background(), &mat.Dense{}, nil, LMNNParams{}) })
}

func ExampleFitLMNN() {
	// The classes differ along the first feature, the second varies more.
	x := mat.NewDense(8, 2, []float64{
		0, -9, 1, 2, 0.2, 8, 1.4, -3,
		2, 9, 3, -4, 2.7, 3, 1.3, -8,
	})
	l, err := FitLMNN(context.Background(), x, []int{0, 0, 0, 0, 1, 1, 1, 1}, LMNNParams{K: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	m := l.Metric.M()
	fmt.Printf("%v; F = %.2f, weights %.2f and %.2f\n", l.Status, l.Objective, m.At(0, 0), m.At(1, 1))
	fmt.Printf("%+v\n", LMNNParams{}.Resolved())
	// Output:
	// converged; F = 9.17, weights 0.28 and 0.01
	// {K:3 Mu:0.5 Ridge:0 Tol:0.001 MaxIterations:2000 Progress:<nil>}
}

func BenchmarkLMNN(b *testing.B) {
	for _, c := range []struct {
		n, d int
		gap  float64
	}{{350, 33, 0.7}, {900, 64, 0.7}, {900, 64, 0.3}, {1800, 64, 0.7}, {1800, 64, 0.3}} {
		x, y := overlapping(rand.New(rand.NewPCG(54, 9)), c.n, c.d, 3, c.gap)
		b.Run(fmt.Sprintf("alg=LMNN/n=%d/dim=%d/gap=%g", c.n, c.d, c.gap), func(b *testing.B) {
			var l LMNN
			for b.Loop() {
				var err error
				if l, err = FitLMNN(context.Background(), x, y, LMNNParams{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(l.Iterations), "iterations")
			b.ReportMetric(l.Residual, "residual")
		})
	}
}
