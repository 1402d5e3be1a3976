package metric_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// TestInverseScatter compares with the inverse from the definition, and without a
// ridge checks the Moore–Penrose conditions.
func TestInverseScatter(t *testing.T) {
	const tol = 1e-8 // d·ε·κ², κ ≤ 1e3
	rng := rand.New(rand.NewPCG(4, 1))
	for _, c := range []struct {
		q, d  int
		ridge float64
	}{{9, 4, 0}, {9, 4, 0.1}, {4, 9, 0}, {4, 9, 1e-3}, {1, 1, 0}, {6, 6, 2}} {
		dev := normal(rng, c.q, c.d)
		const n = 7
		m, err := metric.InverseScatter(dev, n, c.ridge)
		if err != nil {
			t.Fatal(err)
		}
		s := mat.NewSymDense(c.d, nil)
		s.SymOuterK(1.0/n, dev.T())
		shift := c.ridge * mat.Trace(s) / float64(c.d)
		for i := range c.d {
			s.SetSym(i, i, s.At(i, i)+shift)
		}
		got := m.M()
		var sms, msm mat.Dense
		sms.Product(s, got, s)
		msm.Product(got, s, got)
		if !mat.EqualApprox(&sms, s, tol*mat.Norm(s, 2)) || !mat.EqualApprox(&msm, got, tol*mat.Norm(got, 2)) {
			t.Errorf("%+v: M is not the pseudo-inverse of S + ridge", c)
		}
		var sm, ms mat.Dense
		sm.Mul(s, got)
		ms.Mul(got, s)
		if !mat.EqualApprox(&sm, ms.T(), tol) {
			t.Errorf("%+v: SM and MS are not each other's transpose", c)
		}
		if want := min(c.q, c.d); c.ridge == 0 && m.Rows() != want {
			t.Errorf("%+v: %d rows, want %d", c, m.Rows(), want)
		}
		if c.q < c.d {
			continue
		}
		dtd, squares := mat.NewSymDense(c.d, nil), math.Pow(mat.Norm(dev, 2), 2)
		dtd.SymOuterK(1, dev.T())
		before := mat.NewDense(c.d, c.d, nil)
		before.Copy(dtd)
		if of, err := metric.InverseScatterOf(dtd, squares, n, c.ridge); err != nil || !mat.EqualApprox(of.M(), got, tol*mat.Norm(got, 2)) {
			t.Errorf("%+v: another M from DᵀD (%v)", c, err)
		}
		if !mat.Equal(dtd, before) {
			t.Errorf("%+v: DᵀD is overwritten", c)
		}
	}
}

func TestInverseScatterErrors(t *testing.T) {
	one := mat.NewDense(1, 2, []float64{1, 1})
	scatter := func(dev *mat.Dense, ridge float64) error { _, err := metric.InverseScatter(dev, 1, ridge); return err }
	of := func(dev mat.Matrix, squares, ridge float64) error {
		s := mat.NewSymDense(1, nil)
		s.SymOuterK(1, dev.T())
		_, err := metric.InverseScatterOf(s, squares, 1, ridge)
		return err
	}
	for want, err := range map[string]error{
		"ridge: -1 is not allowed":     scatter(one, -1),
		"ridge: NaN is not allowed":    scatter(one, math.NaN()),
		"ridge: +Inf is not allowed":   scatter(one, math.Inf(1)),
		"is lost in round-off":         scatter(one, 1e-20),
		"row 0, column 1: NaN":         scatter(mat.NewDense(1, 2, []float64{0, math.NaN()}), 0),
		"the scatter of the data over": scatter(mat.NewDense(1, 1, []float64{1e200}), 0),
		"all deviations are zero":      scatter(mat.NewDense(2, 2, nil), 1),
		"ridge: -2 is not allowed":     of(one.T(), 1, -2),
		"the scatter of the data ove":  of(one.T(), math.Inf(1), 0),
		"weights overflow float64":     of(one.T(), 0, 0),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if err := scatter(mat.NewDense(2, 2, nil), 0); !errors.Is(err, metric.ErrNoScatter) {
		t.Errorf("got %v, want ErrNoScatter", err)
	}
	mustPanic(t, "no deviations", func() { metric.InverseScatter(&mat.Dense{}, 1, 0) })
	mustPanic(t, "weight 0", func() { metric.InverseScatter(one, 0, 0) })
	mustPanic(t, "no scatter", func() { metric.InverseScatterOf(nil, 1, 1, 0) })
	mustPanic(t, "scatter of weight 0", func() { metric.InverseScatterOf(mat.NewSymDense(1, nil), 1, 0, 0) })
}

func TestCheckFinite(t *testing.T) {
	x := mat.NewDense(2, 3, nil)
	if err := metric.CheckFinite(x); err != nil {
		t.Error(err)
	}
	x.Set(1, 2, math.Inf(-1))
	if err := metric.CheckFinite(x); err == nil || !strings.Contains(err.Error(), "row 1, column 2: -Inf") {
		t.Errorf("got %v, want an error that names row and column", err)
	}
	// A view must not be checked beyond its columns.
	if err := metric.CheckFinite(x.Slice(0, 2, 0, 2).(*mat.Dense)); err != nil {
		t.Errorf("view: %v", err)
	}
}

// A scatter that vanishes in float64, or whose inverse overflows, is refused, with a ridge or
// without, also where only some directions are so narrow.
func TestInverseScatterOutOfRange(t *testing.T) {
	for _, dev := range [][]float64{
		{1e-170, 0, 0, 1e-170}, {1e-158, 2e-158, 3e-158, 1e-158}, {5e-324, 0, 0, 0},
		{1e-152, 0, 0, 1e-156}, // its inverse overflows in one direction
	} {
		for _, ridge := range []float64{0, 1e-12, 0.1} {
			m, err := metric.InverseScatter(mat.NewDense(2, 2, dev), 2, ridge)
			if err != nil {
				if !strings.Contains(err.Error(), "weights overflow float64: rescale the features") && !strings.Contains(err.Error(), "lost in round-off") {
					t.Errorf("%v, ridge %v: error %v", dev, ridge, err)
				}
				continue
			}
			for _, a := range m.M().RawSymmetric().Data {
				if math.IsNaN(a) || math.IsInf(a, 0) {
					t.Errorf("%v, ridge %v: entry %v", dev, ridge, a)
				}
			}
			if dev[0] != 1e-152 {
				t.Errorf("%v, ridge %v: no error", dev, ridge)
			}
		}
	}
}
