package triplets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestRespondentAnswersByItsDistances(t *testing.T) {
	const n = 6
	rng := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, 2, nil)
	for i := range n {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
	}
	k := mat.NewSymDense(n, nil)
	k.SymOuterK(1, x)
	for _, flip := range []float64{0, 1} {
		points, err := NewPointRespondent(rand.NewPCG(1, 2), x, flip)
		if err != nil {
			t.Fatal(err)
		}
		kernel, err := NewKernelRespondent(rand.NewPCG(1, 2), k, flip)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range allQueries(n) {
			d := func(j int) float64 {
				return math.Hypot(x.At(q.Head, 0)-x.At(j, 0), x.At(q.Head, 1)-x.At(j, 1))
			}
			near := q.B
			if d(q.C) < d(q.B) != (flip == 1) {
				near = q.C
			}
			for _, r := range []*Respondent{points, kernel} {
				if got := r.Answer(q); got != q.Answer(near) {
					t.Errorf("flip %v: %v to %v, want near %d", flip, got, q, near)
				}
			}
		}
	}
}

// A fifth of the answers is flipped, to one query too, and ties are answered either way.
func TestRespondentFlips(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 3, -3})
	r, err := NewPointRespondent(rand.NewPCG(1, 2), x, .2)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 10000
	// Five standard deviations of a share of draws, at most ½/√draws each.
	const tol = 2.5 / 100
	for _, tt := range []struct {
		q    Query
		want float64 // share of answers C
	}{{Query{0, 1, 2}, .2}, {Query{0, 2, 1}, .8}, {Query{0, 2, 3}, .5}} {
		c := 0
		for range draws {
			if r.Answer(tt.q).Near == tt.q.C {
				c++
			}
		}
		if got := float64(c) / draws; math.Abs(got-tt.want) > tol {
			t.Errorf("%v: %v are answered by the second object, want %v", tt.q, got, tt.want)
		}
	}
}

func TestRespondentRefuses(t *testing.T) {
	src := rand.NewPCG(1, 2)
	x := mat.NewDense(3, 1, []float64{0, 1, math.Inf(1)})
	if _, err := NewPointRespondent(src, x, 0); err == nil || err.Error() != "respondent: point 2, coordinate 0: +Inf is not allowed, want a finite number" {
		t.Error(err)
	}
	bad := identity(3)
	bad.SetSym(0, 1, math.NaN())
	if _, err := NewKernelRespondent(src, bad, 0); err == nil {
		t.Error("NaN gave no error")
	}
	for _, tt := range []struct {
		src  *rand.PCG
		n    int
		flip float64
		want string
	}{
		{src, 2, 0, "respondent: n: 2 is not allowed, want at least 3 objects"},
		{src, 3, -.1, "respondent: flip: -0.1 is not allowed, want a number from 0 to 1"},
		{src, 3, math.NaN(), "respondent: flip: NaN is not allowed, want a number from 0 to 1"},
	} {
		if _, err := NewKernelRespondent(tt.src, identity(tt.n), tt.flip); err == nil || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
	func() {
		defer func() {
			if got := recover(); got != "triplets: the source of a Respondent is nil" {
				t.Errorf("a nil source: panic %v", got)
			}
		}()
		NewKernelRespondent(nil, identity(3), 0)
	}()
	r, err := NewKernelRespondent(src, identity(3), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a query about one object twice: no panic")
		}
	}()
	r.Answer(Query{0, 1, 1})
}
