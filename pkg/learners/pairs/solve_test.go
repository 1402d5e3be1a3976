package pairs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"metriclab/internal/vector"

	"gonum.org/v1/gonum/mat"
)

// problem is a form with core C, and the unit vector (w, ρ) to subtract.
type problem struct {
	name string
	f    *form
	c    *mat.SymDense
	w    []float64
	rho  float64
}

func problems() []problem {
	var out []problem
	for _, n := range []int{1, 2, 7, 30, 60} {
		for _, rank := range []int{1, n/2 + 1, n, 2 * n} {
			for _, rho := range []float64{0, 1e-6, 0.5, 0.999} {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(rank)))
				c := randomPSD(rng, n, rank)
				w := randn(rng, n)
				scale := math.Sqrt((1 - rho*rho) / vector.Dot(w, w))
				for i := range w {
					w[i] *= scale
				}
				f := &form{dim: n + 1, n: n, c: pack(c)}
				f.size()
				out = append(out, problem{fmt.Sprintf("n=%d/rank=%d/rho=%g", n, rank, rho), f, c, w, rho})
			}
		}
	}
	return out
}

// matrix returns [C 0; 0 0] − c(w, ρ)(w, ρ)ᵀ.
func (p problem) matrix(c float64) *mat.SymDense {
	n := len(p.w)
	b := mat.NewSymDense(n+1, nil)
	for i := range n {
		for j := range i + 1 {
			b.SetSym(i, j, p.c.At(i, j))
		}
	}
	b.SymRankOne(b, -c, mat.NewVecDense(n+1, append(append([]float64(nil), p.w...), p.rho)))
	return b
}

// Both solvers find the negative eigenpair that a full decomposition finds, for
// good and for poor shifts of the resolvent, and agree on whether there is one.
func TestSolversAgainstEigenSym(t *testing.T) {
	found := map[bool]int{}
	for _, p := range problems() {
		for _, c := range []float64{1e-3, 0.1, 1, 30} {
			b := p.matrix(c)
			var eig mat.EigenSym
			if !eig.Factorize(b, true) {
				t.Fatal("no eigendecomposition")
			}
			least := eig.Values(nil)[0]
			trace := p.f.c.trace(p.f.n)
			size := c + trace
			floor, tol := p.f.tolerances(c, trace)
			for _, solver := range []string{"direct", "shift 0.01", "shift 1", "shift 100"} {
				var ok bool
				switch solver {
				case "direct":
					ok = p.f.direct(c, p.w, p.rho, floor, tol)
				default:
					var factor float64
					fmt.Sscanf(solver, "shift %g", &factor)
					p.f.res = resolvent{logShift: math.Log(factor * math.Max(-least, 1e-3*size)), seen: 1}
					ok = p.f.iterative(c, p.w, p.rho, floor, tol)
				}
				name := fmt.Sprintf("%s/c=%g/%s", p.name, c, solver)
				// Within a residual of the floor either answer is right.
				if math.Abs(least) > 1e-9*size && ok != (least < 0) {
					t.Errorf("%s: found = %v, smallest eigenvalue %v", name, ok, least)
				}
				found[ok]++
				if !ok {
					continue
				}
				e := &p.f.eig
				if math.Abs(e.s+least) > 4*tol {
					t.Errorf("%s: eigenvalue %v, want %v", name, -e.s, least)
				}
				u := mat.NewVecDense(len(p.w)+1, append(append([]float64(nil), e.a...), e.last))
				if d := math.Abs(mat.Norm(u, 2) - 1); d > 1e-13 {
					t.Errorf("%s: ‖p‖ − 1 = %v", name, d)
				}
				var r mat.VecDense
				r.MulVec(b, u)
				r.AddScaledVec(&r, e.s, u)
				if res := mat.Norm(&r, 2); res > 2*tol {
					t.Errorf("%s: residual %v, tolerance %v", name, res, tol)
				}
			}
		}
	}
	if found[true] < 100 || found[false] < 100 {
		t.Errorf("eigenpairs found: %v; want many of both", found)
	}
}

// v orthogonal to the range of A is an eigenvector itself.
func TestSolveOrthogonal(t *testing.T) {
	f := &form{dim: 3, n: 2, c: sym{1, 0, 1}}
	f.size()
	if !f.solve(0.5, []float64{0, 0}, 1, 1e-15) || f.eig.s != 0.5 || f.eig.last != 1 || f.eig.a[0] != 0 || f.eig.a[1] != 0 {
		t.Errorf("eigenpair %+v, want (−0.5, e₃)", f.eig)
	}
}
