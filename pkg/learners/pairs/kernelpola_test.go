package pairs

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/internal/product"
	"metriclab/internal/vector"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func gaussian(gamma float64) kernels.Kernel { return must(kernels.NewGaussian(gamma)) }

func polynomial(degree int, offset float64) kernels.Kernel {
	return must(kernels.NewPolynomial(degree, offset))
}

func TestKernelPOLAConformance(t *testing.T) {
	for _, c := range []struct {
		k kernels.Kernel
		p POLAParams
	}{
		{kernels.Linear{}, POLAParams{}},
		{kernels.Linear{}, POLAParams{B1: new(-3.0), Gamma: 0.5}},
		{polynomial(2, 1), POLAParams{}},
		{polynomial(3, 0), POLAParams{Gamma: 1}},
		{gaussian(1), POLAParams{}},
		{gaussian(0.01), POLAParams{B1: new(0.0)}}, // a Gram matrix of low rank up to small numbers
		{gaussian(100), POLAParams{Gamma: 0.5}},    // one near the identity
	} {
		if testing.Short() && (c.p.Gamma > 0 || c.p.B1 == nil && c.k != kernels.Kernel(kernels.Linear{})) {
			continue
		}
		_, saturates := c.k.(kernels.Gaussian)
		learnertest.Pairs[*KernelPOLA]{
			New:          func(dim int) (*KernelPOLA, error) { return NewKernelPOLA(dim, c.k, c.p) },
			Load:         LoadKernelPOLA,
			MinThreshold: 1,
			Saturates:    saturates,
		}.Run(t)
	}
}

// dualTol bounds the difference between POLA on vectors and KernelPOLA after a
// whole stream, relative to the sizes involved: the largest squared distance so
// far, and b. Projections do not spread errors, so that those of the steps, some
// ε·d of the Gram matrix each, add up.
const dualTol = 1e-10

// dual runs primal on the rounds and a KernelPOLA on the rounds that raw gives,
// and compares distances, losses, steps and thresholds, and at the end distances
// between all sorts of points.
func dual(t *testing.T, primal *POLA, l *KernelPOLA, rounds, raw []metric.Pair) {
	t.Helper()
	size, worst := 1.0, 0.0
	near := func(i int, what string, got, want float64) {
		t.Helper()
		d := math.Abs(got-want) / size
		worst = max(worst, d)
		if !(d <= dualTol) {
			t.Fatalf("round %d: %s %v, primal %v, largest size %v", i, what, got, want, size)
		}
	}
	updates := 0
	for i, f := range rounds {
		want := mustStep(t, primal, f)
		got, err := l.Step(raw[i])
		if err != nil {
			t.Fatal(err)
		}
		size = max(size, math.Abs(want.Prediction.SqDist), math.Abs(primal.Threshold()))
		near(i, "d²", got.Prediction.SqDist, want.Prediction.SqDist)
		near(i, "loss", got.Loss, want.Loss)
		near(i, "step", got.StepSize, want.StepSize)
		near(i, "threshold", l.Threshold(), primal.Threshold())
		if want.Updated {
			updates++
		}
	}
	m := l.KernelMetric()
	for i := range 50 {
		j := (7*i + 3) % len(rounds)
		i %= len(rounds)
		f, g := metric.Pair{X: rounds[i].X, Y: rounds[j].Y}, metric.Pair{X: raw[i].X, Y: raw[j].Y}
		want := primal.Predict(f).SqDist
		size = max(size, want)
		near(i, "distance at the end", l.Predict(g).SqDist, want)
		near(i, "distance of the snapshot", m.SqDist(g.X, g.Y), want)
	}
	t.Logf("%d updates in %d rounds, %d points stored, core of order %d, worst difference %.1g", updates, len(rounds), l.Support(), l.e.a.n, worst)
}

// With the linear kernel KernelPOLA is POLA: on few points paired again and
// again, data of low rank, and all streams of the comparison with the dense
// reference. These have γ > 0, repeated and collinear pairs, x = y, labels that
// alternate, features of every scale. It stores dim points at most.
func TestLinearKernelIsPOLA(t *testing.T) {
	cases := streams()
	rng := rand.New(rand.NewPCG(40, 1))
	long := 1500
	if testing.Short() {
		long = 400
	}
	cases = append(cases,
		stream{"few points/dim=40", 40, POLAParams{}, fewPoints(rng, 40, 12, long)},
		stream{"few points, gamma/dim=60", 60, POLAParams{Gamma: 0.3}, fewPoints(rng, 60, 30, long)},
		stream{"long/dim=5", 5, POLAParams{}, randomLabels(rng, 5, 2*long)},
		stream{"long, gamma/dim=20", 20, POLAParams{Gamma: 1}, randomLabels(rng, 20, long)},
		stream{"shifted/dim=10", 10, POLAParams{}, shifted(gaussianPairs(rng, 10, long, 1), 3)},
		stream{"overlapping/dim=200", 200, POLAParams{}, gaussianPairs(rng, 200, 150, 1)})
	for _, s := range cases {
		t.Run(s.name, func(t *testing.T) {
			for i := range s.rounds {
				if i%17 == 5 { // x = y, with either label
					f := s.rounds[i]
					s.rounds[i] = metric.Pair{X: f.X, Y: slices.Clone(f.X), Label: f.Label}
				}
			}
			l := must(NewKernelPOLA(s.dim, kernels.Linear{}, s.params))
			dual(t, mustPOLA(t, s.dim, s.params), l, s.rounds, s.rounds)
			if l.Support() > s.dim {
				t.Errorf("%d points stored in %d dimensions", l.Support(), s.dim)
			}
		})
	}
}

// KernelPOLA makes the steps of the construction that the paper prints.
func TestKernelPOLAIsAsPrinted(t *testing.T) {
	const tol = 1e-7 // ‖v‖² of dependent pairs is known to about the root of the round-off
	for _, k := range []kernels.Kernel{kernels.Linear{}, polynomial(2, 1), gaussian(0.3)} {
		l, p := must(NewKernelPOLA(6, k, POLAParams{})), plain.NewKernelPOLA(k.Eval)
		projected := 0
		for i, f := range gaussianPairs(rand.New(rand.NewPCG(41, 1)), 6, 80, 1) {
			terms := len(p.Beta)
			p.Copy().Step(f) // leaves p as it is
			sq, loss, step := p.Step(f)
			if len(p.Beta) > terms+1 {
				projected++
			}
			got := must(l.Step(f))
			if math.Abs(got.Prediction.SqDist-sq) > tol*(1+sq) || math.Abs(got.Loss-loss) > tol*(1+loss) || math.Abs(got.StepSize-step) > tol || math.Abs(l.Threshold()-p.B) > tol*p.B {
				t.Fatalf("%T, round %d: d² %v, loss %v, step %v, threshold %v; as printed %v, %v, %v, %v",
					k, i, got.Prediction.SqDist, got.Loss, got.StepSize, l.Threshold(), sq, loss, step, p.B)
			}
		}
		if projected < 5 {
			t.Errorf("%T: %d projections: little was tested", k, projected)
		}
	}
}

// Among many streams there are some whose first points are nearly dependent, which
// costs Gram–Schmidt in their order up to half of the digits.
func TestLinearKernelIsPOLAOnManyStreams(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 60
	}
	renewed := 0
	for _, dim := range []int{1, 2, 3, 5, 10, 20} {
		worst := 0.0
		for seed := range n {
			l, p := must(NewKernelPOLA(dim, kernels.Linear{}, POLAParams{})), mustPOLA(t, dim, POLAParams{})
			size, basis := 1.0, l.c
			for _, f := range randomLabels(rand.New(rand.NewPCG(99, uint64(seed))), dim, 60) {
				got, want := must(l.Step(f)), mustStep(t, p, f)
				size = max(size, want.Prediction.SqDist, p.Threshold())
				worst = max(worst, math.Abs(got.Prediction.SqDist-want.Prediction.SqDist)/size, math.Abs(l.Threshold()-p.Threshold())/size)
				if l.c != basis {
					renewed++
					basis = l.c
				}
			}
			if l.Support() > dim {
				t.Errorf("d = %d, seed %d: %d points stored", dim, seed, l.Support())
			}
		}
		if worst > dualTol {
			t.Errorf("d = %d: worst difference %v", dim, worst)
		}
		t.Logf("d = %d: worst difference %.1g, %d new bases so far", dim, worst, renewed)
	}
	if renewed < 3 {
		t.Errorf("only %d new bases: little was tested", renewed)
	}
}

// A point far along an axis that came of a short rest makes the basis anew: the
// prediction is that of before to the bit, distances stay, and the loss after the
// update is that of POLA.
func TestSteepPointRenewsTheBasis(t *testing.T) {
	for _, rest := range []float64{0.1, 1e-3, 1e-4, 2e-5} {
		l, p := must(NewKernelPOLA(3, kernels.Linear{}, POLAParams{})), mustPOLA(t, 3, POLAParams{})
		near := []float64{1, rest, 0}
		step := func(x, y []float64, label metric.Label) {
			t.Helper()
			f := metric.Pair{X: x, Y: y, Label: label}
			before := l.Predict(f)
			got, want := must(l.Step(f)), mustStep(t, p, f)
			if got.Prediction != before || math.Abs(got.Loss-want.Loss) > 1e-12 || math.Abs(l.Loss(f)-p.Loss(f)) > 1e-12 {
				t.Errorf("rest %g: outcome %+v, prediction before %+v, primal %+v; loss then %v and %v", rest, got, before, want, l.Loss(f), p.Loss(f))
			}
		}
		step([]float64{1, 0, 0}, near, metric.Dissimilar)
		step(near, []float64{0, 0, 1}, metric.Dissimilar)
		basis := l.c
		step([]float64{0, 1, 0.5}, near, metric.Dissimilar)
		if renewed := l.c != basis; renewed != (rest < 0.1) {
			t.Errorf("rest %g: a new basis: %v", rest, renewed)
		}
		step([]float64{0, 1, 0}, []float64{0.5, 0, 0}, metric.Similar)
		step([]float64{0, -1, 0}, []float64{0.5, 2, 0}, metric.Dissimilar)
		if l.Support() != 3 {
			t.Errorf("rest %g: %d points stored", rest, l.Support())
		}
	}
}

// Other axes change no distance, and what depends on other columns goes.
func TestTurnKeepsA(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 1))
	f := newGrowingForm()
	f.grow(20)
	for range 15 {
		v := randn(rng, 20)
		f.look(v)
		f.add(v, vector.Dot(v, v), 1)
	}
	before := f.metric().M()
	turn := mat.NewDense(20, 12, randn(rng, 20*12)) // old axes are dependent in the new ones
	var want mat.Dense
	want.Product(turn.T(), before, turn)
	f.turn(turn)
	if f.n != 12 || f.dim != 12 {
		t.Errorf("order %d in %d dimensions, want 12", f.n, f.dim)
	}
	if d := matrixtest.Distance(f.metric().M(), &want); d > 1e-13*mat.Norm(&want, 2) {
		t.Errorf("A is off by %v of %v", d, mat.Norm(&want, 2))
	}
	if d := orthogonality(f); d > 1e-13 {
		t.Errorf("‖UᵀU − I‖ = %v", d)
	}
	empty := newGrowingForm()
	empty.grow(2)
	empty.turn(mat.NewDense(2, 3, nil))
	if empty.dim != 3 || empty.n != 0 {
		t.Errorf("a zero form: order %d in %d dimensions", empty.n, empty.dim)
	}
}

func shifted(rounds []metric.Pair, by float64) []metric.Pair {
	for _, f := range rounds {
		for j := range f.X {
			f.X[j] += by
			f.Y[j] += by
		}
	}
	return rounds
}

// With the polynomial kernel of degree 2 it is POLA on the monomials
// (x_i², √2·x_i·x_j, √(2c)·x_i, c).
func TestPolynomialKernelIsPOLAOnMonomials(t *testing.T) {
	for _, c := range []struct {
		dim    int
		offset float64
		p      POLAParams
	}{{2, 1, POLAParams{}}, {3, 0, POLAParams{}}, {5, 0.5, POLAParams{Gamma: 0.5}}, {8, 1, POLAParams{B1: new(4.0)}}} {
		t.Run(fmt.Sprintf("dim=%d", c.dim), func(t *testing.T) {
			phi := func(x []float64) []float64 {
				var out []float64
				for i, a := range x {
					out = append(out, a*a, math.Sqrt(2*c.offset)*a)
					for _, b := range x[:i] {
						out = append(out, math.Sqrt2*a*b)
					}
				}
				return append(out, c.offset)
			}
			raw := randomLabels(rand.New(rand.NewPCG(41, uint64(c.dim))), c.dim, 400)
			rounds := make([]metric.Pair, len(raw))
			for i, f := range raw {
				rounds[i] = metric.Pair{X: phi(f.X), Y: phi(f.Y), Label: f.Label}
			}
			dim := len(rounds[0].X)
			l := must(NewKernelPOLA(c.dim, polynomial(2, c.offset), c.p))
			dual(t, mustPOLA(t, dim, c.p), l, rounds, raw)
			if l.Support() > dim {
				t.Errorf("%d points stored for %d monomials", l.Support(), dim)
			}
		})
	}
}

// With any kernel it is POLA on coordinates of the images from an
// eigendecomposition of the Gram matrix of all points.
func TestGaussianKernelIsPOLAOnCoordinates(t *testing.T) {
	for _, gamma := range []float64{0.05, 0.5, 5, 500} {
		t.Run(fmt.Sprint(gamma), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(42, 1))
			const n, dim = 40, 3
			points := mat.NewDense(n, dim, randn(rng, n*dim))
			k := gaussian(gamma)
			var eig mat.EigenSym
			if !eig.Factorize(kernels.Gram(k, points), true) {
				t.Fatal("no eigendecomposition")
			}
			var vectors mat.Dense
			eig.VectorsTo(&vectors)
			image := func(i int) []float64 {
				z := make([]float64, n)
				for j, v := range eig.Values(nil) {
					z[j] = vectors.At(i, j) * math.Sqrt(math.Max(v, 0))
				}
				return z
			}
			var rounds, raw []metric.Pair
			for range 300 {
				i, j := rng.IntN(n), rng.IntN(n)
				y := metric.SameClass(rng.IntN(2) == 0)
				raw = append(raw, metric.Pair{X: points.RawRowView(i), Y: points.RawRowView(j), Label: y})
				rounds = append(rounds, metric.Pair{X: image(i), Y: image(j), Label: y})
			}
			l := must(NewKernelPOLA(dim, k, POLAParams{}))
			dual(t, mustPOLA(t, n, POLAParams{}), l, rounds, raw)
			if l.Support() > n {
				t.Errorf("%d points stored of %d", l.Support(), n)
			}
		})
	}
}

// A point is stored once, however often it comes back, and only by an update that
// needs it; −0 is 0.
func TestPointsAreStoredOnce(t *testing.T) {
	l := must(NewKernelPOLA(2, gaussian(1), POLAParams{}))
	a, b, c := []float64{0, 0}, []float64{3, 0}, []float64{0, 3}
	step := func(x, y []float64, label metric.Label, want int) {
		t.Helper()
		if _, err := l.Step(metric.Pair{X: x, Y: y, Label: label}); err != nil {
			t.Fatal(err)
		}
		if l.Support() != want {
			t.Errorf("%v, %v: %d points stored, want %d", x, y, l.Support(), want)
		}
	}
	step(a, b, metric.Similar, 0) // no loss
	step(a, a, metric.Dissimilar, 0)
	step(a, b, metric.Dissimilar, 2)
	step(b, a, metric.Dissimilar, 2)
	step([]float64{math.Copysign(0, -1), 0}, b, metric.Dissimilar, 2)
	step(c, b, metric.Dissimilar, 3)
	step(a, c, metric.Similar, 3)
	if got := l.c.points; !slices.Equal(got, slices.Concat(a, b, c)) && !slices.Equal(got, slices.Concat(b, a, c)) {
		t.Errorf("points %v", got)
	}
}

// A point in the span of those before, up to round-off, adds no axis; one that is
// hardly outside does, and the Gram matrix of the coordinates is that of the
// kernel.
func TestNearlyDependentPoints(t *testing.T) {
	for _, out := range []float64{1e-2, 1e-4, 1e-5, 1e-6, 1e-8, 0} {
		rng := rand.New(rand.NewPCG(43, 1))
		const dim = 6
		l := must(NewKernelPOLA(dim, kernels.Linear{}, POLAParams{}))
		points := [][]float64{randn(rng, dim), randn(rng, dim), randn(rng, dim)}
		last := make([]float64, dim)
		product.AddScaled(last, 0.5, points[0])
		product.AddScaled(last, -0.25, points[2])
		product.AddScaled(last, out, randn(rng, dim))
		points = append(points, last, points[1])
		for i := range points[1:] {
			if _, err := l.Step(metric.Pair{X: points[i], Y: points[i+1], Label: metric.Dissimilar}); err != nil {
				t.Fatal(err)
			}
		}
		want := 3
		if out > 1e-5 {
			want = 4
		}
		if out != 1e-5 && l.Support() != want {
			t.Errorf("%g outside the span: %d points stored, want %d", out, l.Support(), want)
		}
		z := mat.NewDense(len(points), l.Support(), nil)
		for i, x := range points {
			l.c.coords(z.RawRowView(i), x)
		}
		for i, x := range points {
			for j, y := range points {
				got := vector.Dot(z.RawRowView(i), z.RawRowView(j))
				if d := math.Abs(got - vector.Dot(x, y)); d > dropped*10*dim {
					t.Errorf("%g outside the span: inner product of points %d and %d off by %v", out, i, j, d)
				}
			}
		}
	}
}

// U grows by rows of zeros, whatever its order, and its core never turns dense.
func TestFormGrows(t *testing.T) {
	f := newGrowingForm()
	rng := rand.New(rand.NewPCG(44, 1))
	want := mat.NewSymDense(40, nil)
	for i := range 40 {
		f.grow(1)
		v := randn(rng, f.dim)
		f.look(v)
		f.add(v, vector.Dot(v, v), 1)
		want.SymRankOne(want, 1, mat.NewVecDense(40, append(slices.Clone(v), make([]float64, 40-i-1)...)))
		if f.n != i+1 || f.full() {
			t.Fatalf("order %d of %d dimensions, full %v", f.n, f.dim, f.full())
		}
	}
	if d := matrixtest.Distance(f.metric().M(), want); d > 1e-13*mat.Norm(want, 2) {
		t.Errorf("A is off by %v", d)
	}
	if d := orthogonality(f); d > 1e-13 {
		t.Errorf("‖UᵀU − I‖ = %v", d)
	}
}

// Saved after any round and resumed, the end is the same file.
func TestKernelPOLAResumeAnywhere(t *testing.T) {
	rounds := randomLabels(rand.New(rand.NewPCG(45, 1)), 4, 60)
	l := must(NewKernelPOLA(4, gaussian(2), POLAParams{Gamma: 0.1}))
	files := [][]byte{persisttest.Saved(l)}
	for _, f := range rounds {
		must(l.Step(f))
		files = append(files, persisttest.Saved(l))
	}
	if l.Support() < 30 || !l.e.a.res.ready() {
		t.Errorf("%d points, resolvent %v: a representation was not met", l.Support(), l.e.a.res.ready())
	}
	for i, file := range files {
		l, err := LoadKernelPOLA(strings.NewReader(string(file)))
		if err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
		for _, f := range rounds[i:] {
			must(l.Step(f))
		}
		if string(persisttest.Saved(l)) != string(files[len(files)-1]) {
			t.Errorf("resumed after round %d, the end differs", i)
		}
	}
}

// small is a learner whose file is short.
func small(k kernels.Kernel, rounds int) *KernelPOLA {
	l := must(NewKernelPOLA(2, k, POLAParams{}))
	for _, f := range randomLabels(rand.New(rand.NewPCG(46, 1)), 2, rounds) {
		must(l.Step(f))
	}
	return l
}

func TestKernelPOLASaved(t *testing.T) {
	for name, l := range map[string]*KernelPOLA{
		"new": small(gaussian(1), 0), "gaussian": small(gaussian(1), 4), "linear": small(kernels.Linear{}, 6),
	} {
		t.Run(name, func(t *testing.T) { persisttest.Check(t, persisttest.Saved(l), LoadKernelPOLA) })
	}
	form := func(key string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state["form"].(map[string]any)[key] = v }
	}
	set := func(key string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = v }
	}
	param := func(key string, v any) persisttest.Edit {
		return func(params, _ map[string]any) { params[key] = v }
	}
	l := small(gaussian(1), 3)
	if l.Support() != 4 || l.e.a.n != 2 {
		t.Fatalf("%d points, order %d: not the case to edit", l.Support(), l.e.a.n)
	}
	persisttest.Tampered(t, persisttest.Saved(l), LoadKernelPOLA, map[string]persisttest.Edit{
		"gamma":             param("gamma", -1),
		"b1":                param("b1", "x"),
		"kernel":            param("kernel", map[string]any{"name": "none"}),
		"kernel parameters": param("kernel", map[string]any{"name": "linear", "gamma": 1}),
		"dim":               set("dim", 0),
		"odd dim":           set("dim", 3),
		"fewer points":      set("dim", 4),
		"equal points":      set("points", persist.Floats{1, 2, 3, 4, 1, 2, 5, 6}),
		"NaN point":         set("points", persist.Floats{1, 2, 3, 4, 1, math.NaN(), 5, 6}),
		"short factor":      set("factor", persist.Floats{1, 2, 3}),
		"pivot 0":           set("factor", persist.Floats{1, 1, 0, 1, 1, 1, 1, 1, 1, 1}),
		"another factor":    set("factor", persist.Floats{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}),
		"Inf in factor":     set("factor", persist.Floats{1, 1, 1, 1, 1, 1, 1, 1, math.Inf(1), 1}),
		"age":               set("age", -1),
		"threshold":         set("threshold", "b"),
		"form dim":          form("dim", 3),
		"order":             form("order", 1),
		"huge order":        form("order", 1<<40),
		"basis":             form("basis", persist.Floats{1}),
		"NaN in the core":   form("core", persist.Floats{1, math.NaN(), 1}),
	})
	one := kernels.Func(func(x, y []float64) float64 { return 1 })
	if err := must(NewKernelPOLA(2, one, POLAParams{})).Save(io.Discard); err == nil || !strings.Contains(err.Error(), "cannot be saved") {
		t.Errorf("a function as kernel: %v", err)
	}
}

func FuzzLoadKernelPOLA(f *testing.F) {
	persisttest.Fuzz(f, LoadKernelPOLA, func(l *KernelPOLA) {
		if l.Dim() > 100 {
			return
		}
		for _, r := range randomLabels(rand.New(rand.NewPCG(19, 2)), l.Dim(), 3) {
			if _, err := l.Step(r); err != nil {
				return // a hypothesis whose d² overflows
			}
		}
		l.KernelMetric()
	}, persisttest.Saved(small(gaussian(1), 2)), persisttest.Saved(small(kernels.Linear{}, 2)), persisttest.Saved(small(polynomial(2, 1), 2)))
}

// Features near underflow and near overflow give finite hypotheses, which can be
// saved and loaded.
func TestKernelPOLAScales(t *testing.T) {
	for _, k := range []kernels.Kernel{kernels.Linear{}, gaussian(1)} {
		for _, scale := range []float64{1e70, 1e-70, 1e-155, 1e-160} {
			l := must(NewKernelPOLA(3, k, POLAParams{}))
			for i, f := range gaussianPairs(rand.New(rand.NewPCG(52, 1)), 3, 60, scale) {
				if o := must(l.Step(f)); math.IsNaN(o.Loss) || math.IsNaN(l.Threshold()) {
					t.Fatalf("%T, scale %g, round %d: %+v", k, scale, i, o)
				}
			}
			if _, err := LoadKernelPOLA(strings.NewReader(string(persisttest.Saved(l)))); err != nil {
				t.Errorf("%T, scale %g: %v", k, scale, err)
			}
		}
	}
}

// Predict, Loss and the snapshot share no memory: for the race detector.
func TestConcurrentPredictions(t *testing.T) {
	rounds := randomLabels(rand.New(rand.NewPCG(53, 1)), 70, 60)
	for _, l := range []learners.Pair{must(NewKernelPOLA(70, gaussian(1), POLAParams{})), mustPOLA(t, 70, POLAParams{})} {
		for _, f := range rounds {
			must(l.Step(f))
		}
		want := make([]float64, len(rounds))
		for i, f := range rounds {
			want[i] = l.Predict(f).SqDist + l.Loss(f)
		}
		got := [4][]float64{}
		var wg sync.WaitGroup
		for k := range got {
			wg.Go(func() {
				for _, f := range rounds {
					got[k] = append(got[k], l.Predict(f).SqDist+l.Loss(f))
				}
				if p, ok := l.(learners.PairKernel); ok {
					p.KernelMetric()
				}
			})
		}
		wg.Wait()
		for k := range got {
			if !slices.Equal(got[k], want) {
				t.Errorf("%T: goroutine %d predicts otherwise", l, k)
			}
		}
	}
}

func TestNewKernelPOLAErrors(t *testing.T) {
	for _, c := range []struct {
		dim  int
		k    kernels.Kernel
		p    POLAParams
		want string
	}{
		{0, kernels.Linear{}, POLAParams{}, "kernel-pola: dim: 0"},
		{2, kernels.Linear{}, POLAParams{Gamma: -0.1}, "kernel-pola: gamma: -0.1"},
		{2, kernels.Linear{}, POLAParams{B1: new(math.NaN())}, "kernel-pola: b1: NaN"},
	} {
		if _, err := NewKernelPOLA(c.dim, c.k, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("dim %d, %v, %+v: error %v, want one with %q", c.dim, c.k, c.p, err, c.want)
		}
	}
}

// Features whose kernel values overflow are errors, at the start and later, and
// change nothing.
func TestKernelOverflow(t *testing.T) {
	for _, k := range []kernels.Kernel{kernels.Linear{}, polynomial(3, 1)} {
		for _, rounds := range []int{0, 10} {
			l := small(k, rounds)
			before := persisttest.Saved(l)
			for _, big := range []float64{1e60, 1e200} {
				f := metric.Pair{X: []float64{big, 1}, Y: []float64{-big, 2}, Label: metric.Dissimilar}
				if _, err := l.Step(f); err == nil || !strings.Contains(err.Error(), "scale the features down") && !strings.Contains(err.Error(), "finite") {
					if _, linear := k.(kernels.Linear); !linear || big > 1e100 {
						t.Errorf("%T, %d rounds, features of %g: %v", k, rounds, big, err)
					}
					l = small(k, rounds)
				}
			}
			if string(persisttest.Saved(l)) != string(before) {
				t.Errorf("%T, %d rounds: a refused pair changed the learner", k, rounds)
			}
		}
	}
}

func TestNilPanics(t *testing.T) {
	for want, f := range map[string]func(){
		"pairs: NewKernelPOLA: the kernel is nil":   func() { NewKernelPOLA(2, nil, POLAParams{}) },
		"pairs: NewRecurringPA: the pairs are nil":  func() { NewRecurringPA(nil, PAParams{PSD: PSDAtEnd}) },
		"pairs: POLA: zero value, use NewPOLA":      func() { new(POLA).Dim() },
		"pairs: PA: zero value, use NewPA":          func() { (*PA)(nil).Metric() },
		"pairs: lego: x: has 1 numbers, want 2":     func() { must(NewLEGO(2, LEGOParams{})).Predict(metric.Pair{X: []float64{1}}) },
		"pairs: recurring-pa: pair: 1 is not":       func() { recurringOne(t).Predict(1) },
		"pairs: MulVec of a vector of length 3 int": func() { mustPOLA(t, 2, POLAParams{}).MulVec(nil, make([]float64, 3)) },
	} {
		func() {
			defer func() {
				if got, _ := recover().(string); !strings.HasPrefix(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			f()
		}()
	}
}

func recurringOne(t *testing.T) *RecurringPA {
	t.Helper()
	r := must(NewRecurring(mat.NewDense(2, 1, []float64{0, 1}), []metric.Link{{I: 0, J: 1, Label: 1}}))
	return must(NewRecurringPA(r, PAParams{PSD: PSDAtEnd}))
}

func TestKernelPOLAPanicsOnWrongLength(t *testing.T) {
	l := small(gaussian(1), 0)
	for _, p := range []metric.Pair{{X: []float64{1}, Y: []float64{1}}, {X: []float64{1, 2}, Y: []float64{1}}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("lengths %d and %d: no panic", len(p.X), len(p.Y))
				}
			}()
			l.Predict(p)
		}()
	}
}

// rings returns pairs of points on two rings of radii 1 and 3, similar iff on the
// same one, which no linear map tells apart.
func rings(rng *rand.Rand, n int) []metric.Pair {
	point := func(k int) []float64 {
		a, r := 2*math.Pi*rng.Float64(), 1+2*float64(k)
		return []float64{r * math.Cos(a), r * math.Sin(a)}
	}
	out := make([]metric.Pair, n)
	for i := range out {
		j, k := rng.IntN(2), rng.IntN(2)
		out[i] = metric.Pair{X: point(j), Y: point(k), Label: metric.SameClass(j == k)}
	}
	return out
}

// Rings are learned with kernels under which a metric separates them, and not
// with the linear one. ‖x‖² is linear in the features of the quadratic kernel.
func TestRings(t *testing.T) {
	mistakes := func(k kernels.Kernel) int {
		l := must(NewKernelPOLA(2, k, POLAParams{}))
		n := 0
		for i, f := range rings(rand.New(rand.NewPCG(47, 1)), 1200) {
			if o := must(l.Step(f)); i >= 1000 && o.Mistake {
				n++
			}
		}
		return n
	}
	linear, quadratic, gauss := mistakes(kernels.Linear{}), mistakes(polynomial(2, 0)), mistakes(gaussian(0.5))
	if !(linear > 50 && quadratic == 0 && gauss < 10) {
		t.Errorf("mistakes in the last 200 rounds: linear %d, quadratic %d, gaussian %d; want > 50, 0, < 10", linear, quadratic, gauss)
	}
}

func ExampleNewKernelPOLA() {
	// The class is the distance from the origin: under the quadratic kernel a
	// metric can tell, under the linear one none can.
	k, err := kernels.NewPolynomial(2, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := NewKernelPOLA(2, k, POLAParams{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, f := range []metric.Pair{
		{X: []float64{2, 0}, Y: []float64{1, 0}, Label: metric.Dissimilar},
		{X: []float64{0, 2}, Y: []float64{2, 0}, Label: metric.Similar},
		{X: []float64{0, 1}, Y: []float64{0, 2}, Label: metric.Dissimilar},
		{X: []float64{-1, 0}, Y: []float64{0, 2}, Label: metric.Dissimilar},
	} {
		o, err := l.Step(f)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d: d² = %.2f, loss %.2f, %d points stored\n", i+1, o.Prediction.SqDist, o.Loss, l.Support())
	}
	// Output:
	// 1: d² = 0.00, loss 2.00, 1 points stored
	// 2: d² = 3.51, loss 3.51, 2 points stored
	// 3: d² = 0.08, loss 1.92, 2 points stored
	// 4: d² = 3.37, loss 0.00, 2 points stored
}
