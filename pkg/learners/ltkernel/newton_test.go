package ltkernel

import (
	"math"
	"testing"

	"metriclab/pkg/learners"
)

// TestDiagonal: the diagonal that scales conjugate gradients is that of the generalised Hessian where a constraint has one term.
func TestDiagonal(t *testing.T) {
	x := normal(9, 5, 31)
	all := mixed(x, 12, 32)
	support, err := Support(9, all)
	if err != nil {
		t.Fatal(err)
	}
	for _, phi := range divergences(t) {
		p := Params{Divergence: phi, Slack: SlackL2, C: 0.5}.Resolved()
		d, err := newDual(x, support, all, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		lambda := make([]float64, len(all))
		for i := range lambda {
			lambda[i] = 0.05 * float64(i%3)
		}
		pt := d.at(lambda)
		got := d.diagonal(pt)
		for i, c := range all {
			e := make([]float64, len(all))
			e[i] = 1
			want := d.hessian(pt, e)[i]
			if len(c.Dists) > 1 {
				continue // an approximation
			}
			if want == 0 {
				want = 1
			}
			if math.Abs(got[i]-want) > 1e-10*(1+want) { // round-off
				t.Errorf("%s: constraint %d: %v, want %v", phi.Name(), i, got[i], want)
			}
		}
	}
}

// TestUnevenSlack: pairs whose distances differ by ten orders, with quadratic slack, whose share of the Hessian then
// differs by twenty. Without scaling, conjugate gradients do not see the small ones.
func TestUnevenSlack(t *testing.T) {
	x := normal(30, 4, 41)
	for i := range 30 {
		for j := range 4 {
			x.Set(i, j, x.At(i, j)*math.Pow(10, -5*float64(i%2)))
		}
	}
	var cs []Constraint
	for i := range 28 {
		d := side(AtMost(i, i+2, 0), gramOf(x))
		cs = append(cs, AtMost(i, i+2, d/4))
	}
	for _, phi := range divergences(t) {
		got, err := Fit(t.Context(), x, cs, Params{Divergence: phi, Slack: SlackL2, C: 1})
		if err != nil || got.Status != learners.Converged {
			t.Errorf("%s: %v after %d steps, residual %v, error %v", phi.Name(), got.Status, got.Iterations, got.Residual, err)
		}
	}
}
