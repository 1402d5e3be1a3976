package itml

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/metric"
)

// edges returns the matrix of the v of f for the rows of x, which is its own reference.
func edges(f *forest, x *mat.Dense) *mat.Dense {
	_, d := x.Dims()
	v := mat.NewDense(len(f.child), d, nil)
	for e, i := range f.child {
		floats.SubTo(v.RawRowView(e), x.RawRowView(i), x.RawRowView(f.parent[i]))
	}
	return v
}

// Paths lead from one object of a link to the other, and no edge on one is 256 times as long, squared, as the link;
// there is one edge less than objects in each component.
func TestForest(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	const n, d = 90, 4
	x := normal(rng, n, d)
	var links []metric.Link
	for i := range 40 { // a chain of pairs of very different lengths
		x.SetRow(i+1, x.RawRowView(i))
		x.Set(i+1, 0, x.At(i, 0)+math.Pow(10, -7*rng.Float64()))
		links = append(links, metric.Link{I: i + 1, J: i})
	}
	for range 80 { // 0 to 69, with repetitions
		links = append(links, metric.Link{I: rng.IntN(70), J: rng.IntN(70)})
	}
	links = append(links, metric.Link{I: 75, J: 75}, metric.Link{I: 80, J: 81}, metric.Link{I: 81, J: 80}, links[3])
	sq := make([]float64, len(links))
	component := make([]int, n)
	for i := range component {
		component[i] = i
	}
	for k, l := range links {
		sq[k] = metric.Euclidean{}.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		for from, to, i := component[l.I], component[l.J], 0; i < n; i++ {
			if component[i] == from {
				component[i] = to
			}
		}
	}
	distinct := map[int]bool{}
	for _, c := range component {
		distinct[c] = true
	}
	f := newForest(n, links, sq)
	if want := n - len(distinct); len(f.child) != want {
		t.Errorf("%d edges, want %d", len(f.child), want)
	}
	v := edges(f, x)
	longest := 0
	for k, l := range links {
		length := 0
		f.path(l, func(e int, _ float64) {
			length++
			if q := floats.Dot(v.RawRowView(e), v.RawRowView(e)); q > 256*sq[k]*(1+1e-6) {
				t.Errorf("link %d of squared length %v: an edge of %v is on its path", k, sq[k], q)
			}
		})
		longest = max(longest, length)
		got := f.sum(make([]float64, d), v, l)
		want := metric.Sub(make([]float64, d), x.RawRowView(l.I), x.RawRowView(l.J))
		if !floats.EqualApprox(got, want, 1e-13) { // sums of up to 40 numbers of size 4
			t.Errorf("link %d: sum %v, want %v", k, got, want)
		}
	}
	if longest < 3 {
		t.Errorf("the longest path has %d edges", longest)
	}
	k := kernels.Gram(kernels.Linear{}, x)
	var want mat.Dense
	want.Mul(v, v.T())
	if g := f.gram(k); !mat.EqualApprox(g, &want, 1e-13) { // entries of k are up to 20
		t.Error("the Gram matrix of the edges is not that of their vectors")
	}
}

// A forest's steps by blocks are those of W in the space of its vectors, one by one: with several blocks, repeated links,
// links left out, and W made anew in the middle of a block.
func TestForestFormIsInputForm(t *testing.T) {
	for _, c := range []struct{ n, d, m int }{{2, 1, 3}, {30, 40, 20}, {60, 80, 300}, {260, 270, 500}, {40, 9, 200}} {
		x, links, upper, lower := linkedData(uint64(800+c.n), c.n, c.d, c.m, 0)
		links[len(links)-1] = links[0]
		links[1] = links[0]
		links[2].J = links[2].I // skipped
		k0 := kernels.Gram(kernels.Linear{}, x)
		f := newForest(c.n, links, gramSqDists(k0, links))
		if len(f.child) == 0 {
			t.Fatalf("%+v: no edges", c)
		}
		for _, gamma := range gammas {
			reference, err := newInputForm(context.Background(), x, nil)
			if err != nil {
				t.Fatal(err)
			}
			what := fmt.Sprintf("%+v, γ = %v", c, gamma)
			p := Params{Gamma: gamma, Upper: upper, Lower: lower, Tol: 1e-300, MaxCycles: 1}
			want := newLoop(context.Background(), reference, links, p)
			got := newLoop(context.Background(), newForestForm(context.Background(), f, edges(f, x)), links, p)
			for cycle := range 4 {
				for _, l := range []*loop{want, got} {
					l.skip[2] = true
					if err := l.cycle(); err != nil {
						t.Fatal(err)
					}
					if cycle == 2 && !l.remake() {
						t.Fatalf("%s: no W", what)
					}
				}
				if got.projections == 0 { // round-off decides whether a link that is met is moved by ε
					t.Errorf("%s: no projections", what)
				}
				const tol = 1e-9 // some 10³ steps, each of which stretches errors of ε
				for k, l := range links {
					if k == 2 {
						continue
					}
					a, xi := want.lambda[k], want.xi[k]
					if math.Abs(got.lambda[k]-a)*xi > tol*(1+a*xi) || math.Abs(got.xi[k]-xi) > tol*xi {
						t.Fatalf("%s, cycle %d, link %d: λ = %v, ξ = %v, want %v, %v", what, cycle, k, got.lambda[k], got.xi[k], a, xi)
					}
					if cycle == 2 {
						if p, q := got.w.exact(l), want.w.exact(l); math.Abs(p-q) > tol*q {
							t.Fatalf("%s, link %d: p = %v after a remake, want %v", what, k, p, q)
						}
					}
				}
			}
		}
	}
}

// A remake in the middle of a block continues with the links that are left.
func TestForestFormRemakeInBlock(t *testing.T) {
	x, links, upper, lower := linkedData(820, 30, 40, 60, 0)
	k0 := kernels.Gram(kernels.Linear{}, x)
	f := newForest(30, links, gramSqDists(k0, links))
	w := newForestForm(context.Background(), f, edges(f, x))
	l := newLoop(context.Background(), w, links, Params{Gamma: 1, Upper: upper, Lower: lower})
	if err := l.cycle(); err != nil {
		t.Fatal(err)
	}
	w.ahead(links)
	w.sqDist(links[20])
	if len(w.moved) != 0 || w.at != 20 {
		t.Fatalf("at link %d after %d moves", w.at, len(w.moved))
	}
	if !l.remake() {
		t.Fatal("no W")
	}
	for _, link := range links[20:] {
		const tol = 1e-10
		if got, want := w.sqDist(link), w.exact(link); math.Abs(got-want) > tol*want {
			t.Errorf("link %v: p = %v, want %v", link, got, want)
		}
	}
}

// A fit takes the form that is faster, and has the multipliers of the fit in input space with either.
func TestKernelFormOfSize(t *testing.T) {
	for _, c := range []struct {
		n, d, m int
		forest  bool
	}{{60, 80, 300, false}, {240, 250, 600, true}, {240, 250, 100, false}, {420, 170, 900, false}} {
		x, links, upper, lower := linkedData(uint64(840+c.n), c.n, c.d, c.m, 0)
		k0 := kernels.Gram(kernels.Linear{}, x)
		f, err := newKernelForm(context.Background(), k0, links)
		if err != nil {
			t.Fatal(err)
		}
		if _, forest := f.(*forestForm); forest != c.forest {
			t.Errorf("%+v: %T", c, f)
		}
		p := KernelParams{Upper: upper, Lower: lower, Tol: 1e-300, MaxCycles: 3}
		got, err := FitKernel(context.Background(), k0, links, p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Fit(context.Background(), x, links, p.input())
		if err != nil {
			t.Fatal(err)
		}
		const tol = 1e-9 // as TestForestFormIsInputForm
		for k, a := range want.Duals {
			if math.Abs(got.Duals[k]-a)*want.Slacks[k] > tol*(1+a*want.Slacks[k]) {
				t.Fatalf("%+v, link %d: λ = %v, want %v", c, k, got.Duals[k], a)
			}
		}
	}
}

// Pairs of objects that nearly coincide, some of them dissimilar, stretch W by 10¹⁰; the fit has digits left, as in input space.
func TestKernelOfNearDuplicates(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(72, seed))
		n, d := 10+rng.IntN(60), 1+rng.IntN(80)
		x := normal(rng, n, d)
		for i := 1; i < n; i += 2 {
			x.SetRow(i, x.RawRowView(i-1))
			x.Set(i, 0, x.At(i, 0)+math.Pow(10, -5*rng.Float64()))
		}
		var links []metric.Link
		for range 5 + rng.IntN(300) {
			links = append(links, metric.Link{I: rng.IntN(n), J: rng.IntN(n), Label: []metric.Label{metric.Similar, metric.Dissimilar}[rng.IntN(2)]})
		}
		if _, err := Fit(context.Background(), x, links, Params{}); err != nil {
			t.Fatalf("seed %d: in input space: %v", seed, err)
		}
		if _, err := FitKernel(context.Background(), kernels.Gram(kernels.Linear{}, x), links, KernelParams{}); err != nil {
			t.Errorf("seed %d, n = %d, d = %d, %d links: %v", seed, n, d, len(links), err)
		}
	}
}

// BenchmarkForms is ten cycles with either form, by the number of objects and the rank; leastRank and lowRank are from here.
func BenchmarkForms(b *testing.B) {
	for _, c := range []struct{ n, d, m int }{{30, 80, 300}, {120, 200, 400}, {200, 60, 1000}, {200, 120, 1000}, {200, 300, 1000}, {800, 200, 1500}, {800, 300, 1500}, {800, 450, 1500}} {
		x, links, upper, lower := linkedData(850, c.n, c.d, c.m, 0)
		k0 := kernels.Gram(kernels.Linear{}, x)
		tree := newForest(c.n, links, gramSqDists(k0, links))
		v := tree.vectors(k0)
		for name, make := range map[string]func() (form, error){
			"single": func() (form, error) { return newInputForm(b.Context(), tree.points(v), nil) },
			"forest": func() (form, error) { return newForestForm(b.Context(), tree, v), nil },
		} {
			_, r := v.Dims()
			b.Run(fmt.Sprintf("alg=%s/edges=%d/rank=%d", name, len(tree.child), r), func(b *testing.B) {
				for b.Loop() {
					f, err := make()
					if err != nil {
						b.Fatal(err)
					}
					l := newLoop(b.Context(), f, links, Params{Gamma: 1, Upper: upper, Lower: lower})
					for range 10 {
						if err := l.cycle(); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
