package ssikdr

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

var slacks = []ltkernel.SlackRule{ltkernel.SlackHard, ltkernel.SlackL1, ltkernel.SlackL2}

func normal(n, d int, seed uint64) *mat.Dense {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, d, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return x
}

func gramOf(x *mat.Dense) *mat.SymDense {
	n, _ := x.Dims()
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, x)
	return k
}

// blobs returns n rows of several classes, and the classes.
func blobs(n, d, classes int, seed uint64) (*mat.Dense, []int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	centres := normal(classes, d, seed+7)
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % classes
		for j := range d {
			x.Set(i, j, centres.At(y[i], j)+0.7*rng.NormFloat64())
		}
	}
	return x, y
}

// digits returns a Gaussian kernel matrix of rows of ten classes and m pairs: near within a class, far between classes.
func digits(n, m int, seed uint64) (*mat.SymDense, []ltkernel.Constraint) {
	const d = 16
	x, y := blobs(n, d, 10, seed)
	k, err := kernels.NewGaussian(0.5 / d)
	if err != nil {
		panic(err)
	}
	return kernels.Gram(k, x), pairsOf(y, m, seed)
}

// pairsOf draws m pairs, half of them of one class.
func pairsOf(y []int, m int, seed uint64) []ltkernel.Constraint {
	rng := rand.New(rand.NewPCG(seed, 4))
	seen := map[[2]int]bool{}
	var cs []ltkernel.Constraint
	for len(cs) < m {
		i, j := rng.IntN(len(y)), rng.IntN(len(y))
		similar := y[i] == y[j]
		if i >= j || seen[[2]int{i, j}] || similar != (rng.IntN(2) == 0) && m < len(y)*len(y)/8 {
			continue
		}
		seen[[2]int{i, j}] = true
		if similar {
			cs = append(cs, ltkernel.AtMost(i, j, 0.3))
		} else {
			cs = append(cs, ltkernel.AtLeast(i, j, 1.5))
		}
	}
	return cs
}

// mixed returns constraints of all kinds that some W satisfies: the one that maps rows of x by a random matrix.
func mixed(x *mat.Dense, count int, seed uint64) []ltkernel.Constraint {
	rng := rand.New(rand.NewPCG(seed, 2))
	n, d := x.Dims()
	var y mat.Dense
	y.Mul(x, normal(d, d, seed+1))
	sq := func(i, j int) float64 { return metric.Euclidean{}.SqDist(y.RawRowView(i), y.RawRowView(j)) }
	var all []ltkernel.Constraint
	for len(all) < count {
		p := rng.Perm(n)
		a, b, c := p[0], p[1], p[2]
		switch len(all) % 4 {
		case 0:
			all = append(all, ltkernel.AtMost(a, b, 1.01*sq(a, b)))
		case 1:
			all = append(all, ltkernel.AtLeast(a, b, 0.9*sq(a, b)))
		case 2:
			if sq(a, b) > sq(a, c) {
				b, c = c, b
			}
			all = append(all, ltkernel.Nearer(a, b, c, 0.5*(sq(a, c)-sq(a, b))))
		case 3:
			if len(all) < 12 {
				all = append(all, ltkernel.Exactly(a, b, sq(a, b)))
			} else {
				all = append(all, ltkernel.TraceAtMost(2*mat.Trace(gramOf(&y))))
			}
		}
	}
	return all
}

// side returns tr(CK).
func side(c ltkernel.Constraint, k mat.Matrix) float64 {
	v := 0.0
	for _, d := range c.Dists {
		v += d.Weight * (k.At(d.I, d.I) - 2*k.At(d.I, d.J) + k.At(d.J, d.J))
	}
	if c.Trace != 0 {
		v += c.Trace * mat.Trace(k)
	}
	return v
}

// apart returns the largest difference of entries.
func apart(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return mat.Norm(&d, math.Inf(1))
}

func fit(t *testing.T, k0 mat.Symmetric, cs []ltkernel.Constraint, p Params) Result {
	t.Helper()
	r, err := FitGram(t.Context(), k0, cs, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAgreesWithNewton: package ltkernel solves the same problem, by a Newton method in all dimensions.
func TestAgreesWithNewton(t *testing.T) {
	const tol = 1e-6
	for seed := range uint64(2) {
		x := normal(12, 5, seed)
		blob, y := blobs(24, 6, 4, seed)
		g, err := kernels.NewGaussian(0.1)
		if err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct {
			k0 *mat.SymDense
			cs []ltkernel.Constraint
		}{
			"mixed, singular": {gramOf(x), mixed(x, 9, seed)},
			"mixed, trace":    {gramOf(x), mixed(x, 17, seed)},
			"pairs":           {kernels.Gram(g, blob), pairsOf(y, 60, seed)},
		} {
			for _, slack := range slacks {
				for _, tau := range []float64{0, 0.1, 5} {
					got := fit(t, tt.k0, tt.cs, Params{Tau: tau, Slack: slack, C: 2, Tol: 1e-9, MaxIterations: 100000})
					phi, err := ltkernel.Trace(tau)
					if err != nil {
						t.Fatal(err)
					}
					want, err := ltkernel.FitKernel(t.Context(), tt.k0, tt.cs, ltkernel.Params{Divergence: phi, Slack: slack, C: 2, Tol: 1e-10})
					if err != nil {
						t.Fatal(err)
					}
					k, l := got.Learned().All(tt.k0), want.All(tt.k0)
					if d := apart(k, l); got.Status != learners.Converged || d > tol*(1+mat.Norm(l, math.Inf(1))) {
						t.Errorf("%s, slack %v, tau %v: %v after %d, K is off by %v", name, slack, tau, got.Status, got.Iterations, d)
					}
					if math.Abs(got.Objective-want.Objective) > tol*(1+want.Objective) || !slices.Equal(got.Violated, want.Violated) || tau > 0 && got.Rank != want.Rank {
						t.Errorf("%s, slack %v, tau %v: objective %v, violated %v, rank %d; want %v, %v, %d", name, slack, tau,
							got.Objective, got.Violated, got.Rank, want.Objective, want.Violated, want.Rank)
					}
					for i, c := range tt.cs {
						if v := side(c, k); math.Abs(v-got.Sides[i]) > 1e-9*(1+mat.Trace(k)) {
							t.Errorf("%s: side %d is %v, told %v", name, i, v, got.Sides[i])
						}
					}
				}
			}
		}
	}
}

// plainOf are constraints as plain has them, an equation as two.
func plainOf(n int, cs []ltkernel.Constraint) (out []plain.Constraint) {
	for _, c := range cs {
		m := mat.NewSymDense(n, nil)
		add := func(i, j int, v float64) { m.SetSym(i, j, m.At(i, j)+v) }
		for _, d := range c.Dists {
			add(d.I, d.I, d.Weight)
			add(d.J, d.J, d.Weight)
			add(d.I, d.J, -d.Weight)
		}
		for i := range n {
			add(i, i, c.Trace)
		}
		if c.Sense != ltkernel.SenseAtLeast {
			out = append(out, plain.Constraint{C: m, Bound: c.Bound})
		}
		if c.Sense != ltkernel.SenseAtMost {
			minus := mat.NewSymDense(n, nil)
			minus.ScaleSym(-1, m)
			out = append(out, plain.Constraint{C: minus, Bound: -c.Bound})
		}
	}
	return out
}

func rootOf(k0 *mat.SymDense) *mat.Dense {
	n := k0.SymmetricDim()
	var eig mat.EigenSym
	eig.Factorize(k0, true)
	var u mat.Dense
	eig.VectorsTo(&u)
	root := mat.NewDense(n, n, nil)
	for j, v := range eig.Values(nil) {
		root.RankOne(root, math.Sqrt(max(v, 0)), u.ColView(j), u.ColView(j))
	}
	return root
}

func TestIsPlain(t *testing.T) {
	x := normal(6, 4, 3)
	x.Scale(0.5, x)
	cs := mixed(x, 5, 3)
	k0 := gramOf(x)
	for _, slack := range slacks {
		for _, tau := range []float64{0.2, 2} {
			p := Params{Tau: tau, Slack: slack, C: 1.5, Tol: 1e-10, MaxIterations: 100000}
			got := fit(t, k0, cs, p)
			ref := plain.SSIKDR{Tau: tau}
			switch slack {
			case ltkernel.SlackL1:
				ref.Linear = p.C
			case ltkernel.SlackL2:
				ref.Squared = p.C
			}
			want, _ := ref.Fit(k0, plainOf(6, cs), 30000)
			if d := apart(got.Learned().All(k0), want); d > 1e-6 {
				t.Errorf("slack %v, tau %v: %v, K is off by %v", slack, tau, got.Status, d)
			}
		}
	}
}

// run fits by a method.
func run(t testing.TB, k0 *mat.SymDense, cs []ltkernel.Constraint, p Params, how method) Result {
	t.Helper()
	support, block, err := prepare("run", k0, cs)
	if err != nil {
		t.Fatal(err)
	}
	out, err := path(context.Background(), block, support, cs, []float64{p.Tau}, p.Resolved(), how)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// TestFewEigenpairs: with a few eigenpairs, which follow those of the last step, the answer is that with all of them, in as many steps; and they are used.
func TestFewEigenpairs(t *testing.T) {
	k0, cs := digits(100, 600, 1)
	for _, slack := range slacks {
		for _, tau := range []float64{1, 5} {
			p := Params{Tau: tau, Slack: slack, Tol: 1e-6}
			all := run(t, k0, cs, p, method{dense: true})
			exact := 0
			few := run(t, k0, cs, p, method{seen: func(p *point) {
				if p.exact {
					exact++
				}
			}})
			if d := apart(few.Learned().All(k0), all.Learned().All(k0)); d > 1e-4 || few.Rank != all.Rank || few.Status != learners.Converged {
				t.Errorf("slack %v, tau %v: K is off by %v, rank %d, want %d", slack, tau, d, few.Rank, all.Rank)
			}
			if exact > 30 || few.Iterations > 2*all.Iterations {
				t.Errorf("slack %v, tau %v: %d decompositions in %d steps, with all in %d", slack, tau, exact, few.Iterations, all.Iterations)
			}
		}
	}
}

// TestLemma10: rows of G are multiples of eigenvectors v of −MK₀, M = ΣλᵢCᵢ, with vᵀK₀v = 1, and K₀^½v are eigenvectors of −K₀^½MK₀^½.
func TestLemma10(t *testing.T) {
	x := normal(9, 6, 4) // a singular K₀
	cs := mixed(x, 8, 4)
	k0 := gramOf(x)
	p := Params{Tau: 0.5, Tol: 1e-9}
	r := fit(t, k0, cs, p)
	if r.Rank < 2 {
		t.Fatalf("rank %d", r.Rank)
	}
	m := mat.NewDense(9, 9, nil)
	for i, c := range cs {
		sign := 1.0
		if c.Sense == ltkernel.SenseAtLeast {
			sign = -1
		}
		for _, d := range c.Dists {
			w := sign * d.Weight * r.Multipliers[i]
			for _, e := range [][3]float64{{float64(d.I), float64(d.I), w}, {float64(d.J), float64(d.J), w}, {float64(d.I), float64(d.J), -w}, {float64(d.J), float64(d.I), -w}} {
				m.Set(int(e[0]), int(e[1]), m.At(int(e[0]), int(e[1]))+e[2])
			}
		}
	}
	if len(r.Support) != 9 {
		t.Fatal("not all objects have a pair")
	}
	root := rootOf(k0)
	for a, x := range r.Values {
		g := mat.NewVecDense(9, r.G.RawRowView(a))
		var kg, mkg, u, mu mat.VecDense
		kg.MulVec(k0, g)
		mkg.MulVec(m, &kg)
		if v := mat.Dot(g, &kg); math.Abs(v-x) > 1e-8*x { // g = √x·v
			t.Errorf("direction %d: gᵀK₀g = %v, want %v", a, v, x)
		}
		u.MulVec(root, g)
		mu.MulVec(m, mat.NewVecDense(9, mulVec(root, &u)))
		image := mulVec(root, &mu)
		for i := range 9 {
			if math.Abs(mkg.AtVec(i)+(x+p.Tau)*g.AtVec(i)) > 1e-7 {
				t.Errorf("direction %d is no eigenvector of −MK₀", a)
			}
			if math.Abs(image[i]+(x+p.Tau)*u.AtVec(i)) > 1e-7 {
				t.Errorf("direction %d is no eigenvector of −K₀^½MK₀^½", a)
			}
		}
	}
}

func mulVec(a *mat.Dense, x *mat.VecDense) []float64 {
	var y mat.VecDense
	y.MulVec(a, x)
	return y.RawVector().Data
}

// TestEmbed: the embedding of objects, known at the fit or not, has the learned distances: those of the W of rows.
func TestEmbed(t *testing.T) {
	x, y := blobs(40, 5, 3, 5)
	fresh, _ := blobs(15, 5, 3, 5)
	k, err := kernels.NewGaussian(0.1)
	if err != nil {
		t.Fatal(err)
	}
	cs := pairsOf(y[:30], 60, 5) // ten rows without a pair
	p := Params{Tau: 0.3, Slack: ltkernel.SlackL2}
	rows, err := Fit(t.Context(), k, x, cs, p)
	if err != nil {
		t.Fatal(err)
	}
	gram := fit(t, kernels.Gram(k, x), cs, p)
	if rows.Rank != gram.Rank || math.Abs(rows.Objective-gram.Objective) > 1e-12*gram.Objective || rows.Metric(k, x, 0).Rows() != gram.Rank {
		t.Errorf("rank %d and %d, objective %v and %v", rows.Rank, gram.Rank, rows.Objective, gram.Objective)
	}
	cross := kernels.GramRect(k, fresh, x)
	z, err := gram.Coordinates(0).Embed(40, cross)
	if err != nil {
		t.Fatal(err)
	}
	learned, err := gram.Learned().Among(cross, kernels.Gram(k, fresh))
	if err != nil {
		t.Fatal(err)
	}
	if d := apart(learned, mulT(z)); d > 1e-9 {
		t.Errorf("inner products of the embedding are off by %v", d)
	}
	if d := apart(rows.Metric(k, x, 0).EmbedRows(fresh), z); d > 1e-9 {
		t.Errorf("rows: the embedding is off by %v", d)
	}
	two, err := gram.Coordinates(2).Embed(40, cross)
	if err != nil {
		t.Fatal(err)
	}
	if d := apart(two, z.Slice(0, 15, 0, 2)); d > 1e-12 {
		t.Errorf("two dimensions are off by %v", d)
	}
	if plane := gram.Metric(k, x, 2); apart(plane.EmbedRows(fresh), two) > 1e-12 || plane.Rows() != 2 {
		t.Error("the metric of two dimensions differs")
	}
	if more := gram.Coordinates(gram.Rank + 2); !mat.Equal(more.G, gram.G) {
		t.Error("beyond the rank there are no directions")
	}
}

func mulT(z *mat.Dense) *mat.Dense {
	var k mat.Dense
	k.Mul(z, z.T())
	return &k
}

// TestInfeasible: contradictions end with a certificate, their nearest neighbours with an answer.
func TestInfeasible(t *testing.T) {
	at, far, near := ltkernel.AtMost, ltkernel.AtLeast, ltkernel.Nearer
	is, trace := ltkernel.Exactly, ltkernel.TraceAtMost
	k0 := gramOf(normal(8, 12, 1))
	apart := 1e9
	if runtime.GOARCH != "amd64" { // where products and sums are fused, round-off is above the tolerance from 1e8 on
		apart = 1e7
	}
	for name, tt := range map[string]struct {
		cs       []ltkernel.Constraint
		feasible bool
	}{
		"same pair":        {[]ltkernel.Constraint{at(0, 1, 1), far(0, 1, 1.1), at(2, 3, 4)}, false},
		"triangle":         {[]ltkernel.Constraint{at(0, 1, 1), at(1, 2, 1), far(0, 2, 4.01), far(2, 3, 4)}, false},
		"trace":            {[]ltkernel.Constraint{trace(1), far(0, 2, 4)}, false},
		"trace enough":     {[]ltkernel.Constraint{trace(3), far(0, 2, 4)}, true},
		"negative":         {[]ltkernel.Constraint{at(0, 1, -1)}, false},
		"equations":        {[]ltkernel.Constraint{is(0, 1, 3), is(1, 2, 3), is(0, 2, 20)}, false},
		"equations enough": {[]ltkernel.Constraint{is(0, 1, 3), is(1, 2, 3), is(0, 2, 5)}, true},
		"order":            {[]ltkernel.Constraint{near(0, 1, 2, 1), near(0, 2, 3, 1), near(0, 3, 1, 1)}, false},
		"far apart":        {[]ltkernel.Constraint{far(0, 2, apart)}, true},
		"order enough":     {[]ltkernel.Constraint{near(0, 1, 2, 1), near(0, 2, 3, 1)}, true},
	} {
		for _, tau := range []float64{0, 0.5, 10} {
			got := fit(t, k0, tt.cs, Params{Tau: tau})
			want := learners.Converged
			if !tt.feasible {
				want = learners.Infeasible
			}
			if got.Status != want || (got.Certificate != nil) == tt.feasible {
				t.Errorf("%s, tau %v: %v after %d, residual %v, want %v", name, tau, got.Status, got.Iterations, got.Residual, want)
			}
			t.Log(name, tau, got.Status, got.Iterations)
			if got.Certificate == nil {
				continue
			}
			sum := 0.0
			for i, c := range tt.cs {
				if c.Sense == ltkernel.SenseAtLeast {
					c.Bound = -c.Bound
				}
				sum += got.Certificate[i] * c.Bound
				if c.Sense != ltkernel.SenseExactly && got.Certificate[i] < 0 {
					t.Errorf("%s: weight %d is %v", name, i, got.Certificate[i])
				}
			}
			if !(sum < 0) {
				t.Errorf("%s: bᵀv = %v", name, sum)
			}
			for seed := range uint64(20) {
				k := gramOf(normal(8, 3, seed))
				a := 0.0
				for i, c := range tt.cs {
					v := side(c, k)
					if c.Sense == ltkernel.SenseAtLeast {
						v = -v
					}
					a += got.Certificate[i] * v
				}
				if a < -1e-5*mat.Trace(k) {
					t.Errorf("%s: Σv·tr(CK) = %v", name, a)
				}
			}
		}
	}
}

// TestInfeasibleOfLowRank: few directions and many constraints, whose contradiction no single step shows, end with a certificate and not with a cap.
func TestInfeasibleOfLowRank(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 15))
		const n = 15
		k0 := gramOf(normal(n, 4, seed))
		var cs []ltkernel.Constraint
		for range 60 {
			i, j := rng.IntN(n), rng.IntN(n)
			if i == j {
				continue
			}
			d := k0.At(i, i) - 2*k0.At(i, j) + k0.At(j, j)
			if i%2 == j%2 {
				cs = append(cs, ltkernel.AtMost(i, j, d*(0.5+rng.Float64())))
			} else {
				cs = append(cs, ltkernel.AtLeast(i, j, d*(0.8+rng.Float64())))
			}
		}
		res := fit(t, k0, cs, Params{Tau: 1})
		t.Log(res.Status, res.Iterations)
		if res.Status != learners.Infeasible || res.Certificate == nil {
			t.Errorf("%v after %d steps", res.Status, res.Iterations)
		}
	}
}

// TestLeading: without its last directions W is told with the sides, the objective and the violations that it then has.
func TestLeading(t *testing.T) {
	k0, cs := digits(40, 150, 3)
	for _, slack := range slacks {
		p := Params{Tau: 0.5, Slack: slack}
		all := fit(t, k0, cs, p)
		two, err := all.Leading(k0, cs, 2, p)
		if err != nil {
			t.Fatal(err)
		}
		k := two.Learned().All(k0)
		cost, violated := 0.0, 0
		for _, x := range all.Values[:2] {
			cost += x * (p.Tau + x/2)
		}
		for i, c := range cs {
			v := side(c, k)
			if math.Abs(v-two.Sides[i]) > 1e-9 {
				t.Errorf("slack %v: side %d is %v, told %v", slack, i, v, two.Sides[i])
			}
			if v -= c.Bound; c.Sense == ltkernel.SenseAtLeast {
				v = -v
			}
			if v > 1e-4 {
				violated++
			}
			switch slack {
			case ltkernel.SlackL1:
				cost += max(v, 0)
			case ltkernel.SlackL2:
				cost += max(v, 0) * max(v, 0) / 2
			}
		}
		if two.Rank != 2 || math.Abs(two.Objective-cost) > 1e-8*cost || max(len(two.Violated)-violated, violated-len(two.Violated)) > 2 {
			t.Errorf("slack %v: rank %d, objective %v, %d violated, want 2, %v, %d", slack, two.Rank, two.Objective, len(two.Violated), cost, violated)
		}
		if d := two.Objective - all.Objective; slack != ltkernel.SlackHard && (d < 0 || math.Abs(two.Gap-all.Gap-d) > 1e-8*cost) {
			t.Errorf("slack %v: gap %v, objective %v above", slack, two.Gap, d)
		}
		if d := apart(k, mulT(must(all.Coordinates(2).Embed(40, k0)))); d > 1e-9 {
			t.Errorf("slack %v: K is off by %v", slack, d)
		}
		same, err := all.Leading(k0, cs, all.Rank, p)
		if err != nil || same.Objective != all.Objective {
			t.Errorf("slack %v: with all directions: %v", slack, err)
		}
	}
}

func must(z *mat.Dense, err error) *mat.Dense {
	if err != nil {
		panic(err)
	}
	return z
}

// TestPath: each τ has the answer of a fit of its own, the rank falls from that of least ½‖W‖² to 0, and W = 0 from MaxTau on.
func TestPath(t *testing.T) {
	k0, cs := digits(60, 200, 2)
	for _, slack := range []ltkernel.SlackRule{ltkernel.SlackL1, ltkernel.SlackL2} {
		p := Params{Slack: slack, Tol: 1e-8, MaxIterations: 50000}
		most, err := MaxTau(t.Context(), k0, cs, p)
		if err != nil {
			t.Fatal(err)
		}
		taus := []float64{0.01 * most, 0.1 * most, 0.3 * most, 0.9 * most, 0.999 * most, most, 2 * most}
		all, err := Path(t.Context(), k0, cs, taus, p)
		if err != nil {
			t.Fatal(err)
		}
		for i, tau := range taus {
			p.Tau = tau
			alone := fit(t, k0, cs, p)
			if d := apart(all[i].Learned().All(k0), alone.Learned().All(k0)); d > 1e-6 || all[i].Rank != alone.Rank || all[i].Status != learners.Converged {
				t.Errorf("slack %v, tau %v: %v, K is off by %v, rank %d, want %d", slack, tau, all[i].Status, d, all[i].Rank, alone.Rank)
			}
		}
		if all[4].Rank == 0 || all[5].Rank != 0 || all[6].Rank != 0 || all[0].Rank <= all[3].Rank {
			t.Errorf("slack %v: ranks %d, %d, %d, %d, %d", slack, all[0].Rank, all[3].Rank, all[4].Rank, all[5].Rank, all[6].Rank)
		}
		if z, err := all[6].Coordinates(2).Embed(60, k0); err != nil || floats.Norm(z.RawMatrix().Data, 1) != 0 {
			t.Errorf("W = 0: embedding %v, %v", z, err)
		}
	}
	most, err := MaxTau(t.Context(), k0, cs, Params{})
	if err != nil || !math.IsInf(most, 1) {
		t.Errorf("hard: %v, %v", most, err)
	}
	if most, err = MaxTau(t.Context(), k0, []ltkernel.Constraint{ltkernel.AtMost(0, 1, 1)}, Params{}); err != nil || most != 0 {
		t.Errorf("upper bounds alone: %v, %v", most, err)
	}
}
