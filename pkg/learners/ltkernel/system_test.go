package ltkernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// halved returns pairs of the rows of x: similar ones are to be at half their squared distance, dissimilar ones at its double.
func halved(x *mat.Dense, classes, count int, seed uint64) []Constraint {
	rng := rand.New(rand.NewPCG(seed, 3))
	n, _ := x.Dims()
	var all []Constraint
	for len(all) < count {
		i, j := rng.IntN(n), rng.IntN(n)
		same := i%classes == j%classes
		if i == j || same != (len(all)%2 == 0) {
			continue
		}
		d := metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j))
		if same {
			all = append(all, AtMost(i, j, d/2))
		} else {
			all = append(all, AtLeast(i, j, 2*d))
		}
	}
	return all
}

// TestInverse: both forms are the inverse of the Hessian that its products give, of constraints of all kinds.
func TestInverse(t *testing.T) {
	for _, dims := range [][3]int{{9, 5, 40}, {9, 5, 12}, {4, 6, 10}} { // 15 entries of W and 40 or 12 constraints; 10 and 10
		x := normal(dims[0], dims[1], 31)
		all := mixed(x, dims[2], 32)
		for _, phi := range divergences(t) {
			p := Params{Divergence: phi, Slack: SlackL2, C: 0.5}.Resolved()
			support, err := Support(dims[0], all)
			if err != nil {
				t.Fatal(err)
			}
			d, err := newDual(x, support, all, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			lambda := make([]float64, len(all))
			for i := range lambda {
				lambda[i] = 0.05 * float64(i%3)
			}
			s := &system{d: d, p: d.at(lambda), at: make([]bool, len(all)), mu: 1e-3}
			s.at[1], s.at[4] = true, true
			inverse := s.inverse(t.Context())
			if inverse == nil {
				t.Fatalf("%v %s: no inverse", dims, phi.Name())
			}
			v := normal(1, len(all), 5).RawRowView(0)
			for i, a := range s.at {
				if a {
					v[i] = 0
				}
			}
			product := d.hessian(s.p, v)
			for i := range product {
				product[i] += s.mu * v[i]
				if s.at[i] {
					product[i] = 0
				}
			}
			got := make([]float64, len(v))
			inverse(got, product)
			for i := range got {
				if math.Abs(got[i]-v[i]) > 1e-9 { // ε times the condition of H + μI, some 1e6
					t.Errorf("%v %s: %d: %v, want %v", dims, phi.Name(), i, got[i], v[i])
				}
			}
		}
	}
}

// TestScaledByInverse: no objective is above that of conjugate gradients scaled by the diagonal alone, but for the tolerance.
func TestScaledByInverse(t *testing.T) {
	used := 0
	for _, dims := range [][3]int{{12, 16, 40}, {12, 3, 40}} {
		x := normal(dims[0], dims[1], 51)
		for i := range dims[0] {
			for j, row := range x.RawRowView(i) {
				x.Set(i, j, row/float64(1+j))
			}
		}
		for kind, cs := range map[string][]Constraint{"halved": halved(x, 4, dims[2], 52), "mixed": mixed(x, dims[2], 53)} {
			for _, phi := range divergences(t) {
				for _, slack := range slacks {
					if kind == "halved" && slack == SlackHard {
						continue // infeasible
					}
					p := Params{Divergence: phi, Slack: slack}.Resolved()
					support, err := Support(dims[0], cs)
					if err != nil {
						t.Fatal(err)
					}
					var sols [2]Solution
					for k, most := range []int{0, mostOrder} {
						f, err := factor(blockOf(gramOf(x), support))
						if err != nil {
							t.Fatal(err)
						}
						d, err := newDual(f, support, cs, p, nil)
						if err != nil {
							t.Fatal(err)
						}
						d.mostOrder, d.fewest = most, 1
						_, res, sol, err := d.solve(t.Context(), p)
						if err != nil || res.Status != learners.Converged {
							t.Errorf("%v %s, %s, %s, order %d: %v, error %v", dims, kind, phi.Name(), slack, most, res.Status, err)
						}
						sols[k] = sol
					}
					want, got := sols[0], sols[1]
					// Both are within the duality gap of the minimum.
					if tol := 1e-7 * (1 + math.Abs(want.Objective)); got.Objective > want.Objective+tol {
						t.Errorf("%v %s, %s, %s: objective %v, want %v", dims, kind, phi.Name(), slack, got.Objective, want.Objective)
					}
					if !slices.Equal(got.Multipliers, want.Multipliers) {
						used++
					}
				}
			}
		}
	}
	if used < 20 {
		t.Errorf("the inverse changed %d fits: the test compares equal things", used)
	}
}
