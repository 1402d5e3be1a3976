package triplets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/persist/persisttest"
)

// tinyBlocks are kernels with blocks so small that the eigensolvers of gonum panic or are wrong by up to 1e122
// times: both orders of the blocks, and tiny as a whole. top is the largest eigenvalue, and rank counts those that
// are not negligible.
var tinyBlocks = []struct {
	name string
	k    *mat.SymDense
	top  float64
	rank int
}{
	{"tiny first", mat.NewSymDense(4, []float64{2e-130, 1e-130, 0, 0, 1e-130, 2e-130, 0, 0, 0, 0, 1, .5, 0, 0, .5, 1}), 1.5, 2},
	{"tiny last", mat.NewSymDense(4, []float64{1, .5, 0, 0, .5, 1, 0, 0, 0, 0, 2e-130, 1e-130, 0, 0, 1e-130, 2e-130}), 1.5, 2},
	{"all tiny", scaled(1e-140, []float64{4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4}), 7e-140, 4},
	{"all tinier", scaled(1e-300, []float64{4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4}), 7e-300, 4},
}

func scaled(c float64, data []float64) *mat.SymDense {
	k := mat.NewSymDense(4, data)
	k.ScaleSym(c, k)
	return k
}

// TestTinyBlocks: everything that decomposes a kernel is right on such, up to round-off of the largest eigenvalue.
func TestTinyBlocks(t *testing.T) {
	for _, c := range tinyBlocks {
		near := func(what string, got mat.Matrix) {
			t.Helper()
			for i := range 4 {
				for j := range 4 {
					if d := math.Abs(got.At(i, j) - c.k.At(i, j)); !(d <= 1e-14*c.top) {
						t.Errorf("%s: %s: entry (%d, %d) is %v, want %v", c.name, what, i, j, got.At(i, j), c.k.At(i, j))
						return
					}
				}
			}
		}
		if r := Rank(c.k, 0); r != c.rank {
			t.Errorf("%s: rank %d, want %d", c.name, r, c.rank)
		}
		x := Embed(c.k, 4)
		var outer mat.Dense
		outer.Mul(x, x.T())
		near("Embed", &outer)
		lower := make([]float64, 16)
		for i := range 4 {
			for j := range i + 1 {
				lower[i*4+j] = c.k.At(i, j)
			}
		}
		p := newProjector(4)
		projected := append([]float64(nil), lower...)
		p.project(projected, 4, false)
		full, err := fromTriangle(4, []float64{
			projected[0], projected[4], projected[5], projected[8], projected[9], projected[10], projected[12], projected[13], projected[14], projected[15],
		})
		if err != nil {
			t.Errorf("%s: project: %v", c.name, err)
			continue
		}
		near("project", mat.NewSymDense(4, full))
		if values := p.eigenvalues(lower, 4); math.Abs(values[3]-c.top) > 1e-14*c.top || values[0] < -1e-14*c.top {
			t.Errorf("%s: eigenvalues %v, want the largest %v", c.name, values, c.top)
		}
		d := newDense(4, c.k, false, 0)
		d.shrink(0)
		near("shrink", d.kernel())

		for _, projection := range []Projection{ProjectStructured, ProjectPrintedRule, ProjectDense} {
			for _, trace := range []float64{0, 0.1} {
				if trace > 0 && projection == ProjectPrintedRule {
					continue
				}
				l, err := NewERKLE(4, ERKLEParams{Initial: c.k, Projection: projection, Trace: trace})
				if err != nil {
					t.Errorf("%s: %v, trace %v: %v", c.name, projection, trace, err)
					continue
				}
				near(fmt.Sprintf("%v, trace %v", projection, trace), l.Kernel())
				for _, v := range []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 3, Near: 2, Far: 0}, {A: 1, Near: 3, Far: 0}} {
					if _, err := l.Step(v); err != nil {
						t.Fatal(err)
					}
				}
				// Nothing has grown beyond what three steps with γ ≤ 1 add.
				if norm := mat.Norm(l.Kernel(), 2); !(norm <= 12) {
					t.Errorf("%s: %v, trace %v: norm %v after 3 steps", c.name, projection, trace, norm)
				}
			}
		}

		ts := []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 0, Far: 3}}
		r, err := FitBatch(context.Background(), 4, ts, BatchParams{Method: BatchFixed, Delta: min(1e-200, 1e-18*c.top), Iterations: 1, Initial: c.k})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		near("FitBatch", r.Kernel)
		if r.Rank != c.rank {
			t.Errorf("%s: rank %d after FitBatch, want %d", c.name, r.Rank, c.rank)
		}
	}
}

// TestTinyIndefinite: a tiny kernel that is not positive semi-definite is refused with its eigenvalue, not by a panic.
func TestTinyIndefinite(t *testing.T) {
	k := mat.NewSymDense(3, []float64{1e-140, 2e-140, 0, 2e-140, 1e-140, 0, 0, 0, 1e-140})
	_, err := NewERKLE(3, ERKLEParams{Initial: k})
	_, errBatch := FitBatch(context.Background(), 3, []metric.Triplet{{A: 0, Near: 1, Far: 2}}, BatchParams{Initial: k})
	for _, err := range []error{err, errBatch} {
		if !errors.Is(err, metric.ErrNotPSD) {
			t.Errorf("error %v, want one of %v", err, metric.ErrNotPSD)
		}
	}
}

// TestTinyScale: kernel and steps so small that resolvents would overflow. Learners can be saved and loaded all the
// time, and stay positive semi-definite.
func TestTinyScale(t *testing.T) {
	const (
		n     = 20
		scale = 1e-300
		tol   = 1e-12 // relative to entries of size scale: the round-off of 150 steps
	)
	r := rand.New(rand.NewPCG(3, 3))
	start := scaledIdentity(n, scale)
	l := must(NewERKLE(n, ERKLEParams{Initial: start, Margin: scale}))
	want := must(NewERKLE(n, ERKLEParams{Initial: start, Margin: scale, Projection: ProjectDense}))
	for i := range 150 {
		f := randomTriplet(r, n)
		must(l.Step(f))
		must(want.Step(f))
		loaded, err := LoadERKLE(bytes.NewReader(persisttest.Saved(l)))
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		l = loaded
	}
	if l.Stats().Projected < 50 {
		t.Errorf("%+v: want many projections", l.Stats())
	}
	if v, _ := eigen(l.Kernel(), false); v[0] < -tol*v[n-1] {
		t.Errorf("eigenvalues from %v to %v", v[0], v[n-1])
	}
	for i := range n {
		for j := range n {
			if d := math.Abs(l.k.at(i, j) - want.k.at(i, j)); !(d <= tol*scale) {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, j, l.k.at(i, j), want.k.at(i, j))
			}
		}
	}
}
