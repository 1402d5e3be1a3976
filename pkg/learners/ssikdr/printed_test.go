package ssikdr

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/ltkernel"
)

// algorithm2 is Algorithm 2 with its own steps, or with the corrections of docs/errata.md, on dense matrices. It returns K = K₀VDXDVᵀK₀, and how often a zᵢ rose.
//
//	4: V_k and Σ_k, the top k eigenvectors and eigenvalues of Σzᵢ⁽ᵗ⁻¹⁾CᵢK₀, k = argmaxⱼ σⱼ > τ
//	5: D_k(i, i) = 1/√(vᵢᵀK₀vᵢ)
//	6: printed: zᵢ ← zᵢ − δ·max(tr(CᵢK₀V_kD_kΣ_kD_kV_kᵀK₀) − bᵢ, 0)
//	   corrected: zᵢ ← min(zᵢ − δ·(tr(CᵢK₀V_kD_k(Σ_k − τI)D_kV_kᵀK₀) − bᵢ), 0)
//	7: until convergence: z has not changed by more than 1e-12
func algorithm2(k0 *mat.SymDense, cs []ltkernel.Constraint, tau, delta float64, printed bool, most int) (k *mat.Dense, steps, rises int) {
	n := k0.SymmetricDim()
	z := make([]float64, len(cs))
	root := rootOf(k0)
	for steps = range most {
		c := mat.NewDense(n, n, nil)
		for i, v := range cs {
			sign := 1.0
			if v.Sense == ltkernel.SenseAtLeast {
				sign = -1
			}
			for _, d := range v.Dists {
				e := mat.NewVecDense(n, nil)
				e.SetVec(d.I, 1)
				e.SetVec(d.J, -1)
				c.RankOne(c, sign*d.Weight*z[i], e, e)
			}
		}
		// The eigenvectors of CK₀ are those of K₀^½CK₀^½ times K₀^(−½) (Lemma 10), so that K₀VD = K₀^½U.
		var y mat.Dense
		y.Product(root, c, root)
		var eig mat.EigenSym
		eig.Factorize(symmetric(&y), true)
		var u mat.Dense
		eig.VectorsTo(&u)
		x := mat.NewDense(n, n, nil)
		for j, v := range eig.Values(nil) {
			if v <= tau {
				continue
			}
			if !printed {
				v -= tau
			}
			x.RankOne(x, v, u.ColView(j), u.ColView(j))
		}
		k = new(mat.Dense)
		k.Product(root, x, root)
		moved := 0.0
		for i, v := range cs {
			a := side(v, k) - v.Bound
			if v.Sense == ltkernel.SenseAtLeast {
				a = -a
			}
			was := z[i]
			if printed {
				z[i] -= delta * max(a, 0)
			} else {
				z[i] = min(z[i]-delta*a, 0)
			}
			moved = max(moved, math.Abs(z[i]-was))
			if z[i] > was {
				rises++
			}
		}
		if moved <= 1e-12 {
			return k, steps, rises
		}
	}
	return k, most, rises
}

// objectiveOf returns τ·tr W + ½‖W‖² of K = K₀^½WK₀^½, and the largest violation.
func objectiveOf(k0 *mat.SymDense, k *mat.Dense, cs []ltkernel.Constraint, tau float64) (objective, worst float64) {
	var inverse, w mat.Dense
	if err := inverse.Inverse(rootOf(k0)); err != nil {
		panic(err)
	}
	w.Product(&inverse, k, &inverse)
	for _, c := range cs {
		v := side(c, k) - c.Bound
		if c.Sense == ltkernel.SenseAtLeast {
			v = -v
		}
		worst = max(worst, v)
	}
	norm := mat.Norm(&w, 2)
	return tau*mat.Trace(&w) + norm*norm/2, worst
}

// TestPrintedAlgorithm2: with K₀ = I and one pair to be at squared distance ≥ ℓ, W = ℓ/2·uuᵀ, u = (e₀ − e₁)/√2, is the answer. Printed, Algorithm 2 has σ in place of σ − τ in its step. It stops where σ ≥ ℓ/2, and
// with σ > τ any further. So for τ ≥ ℓ/2 its first W, of σ just above τ, is far too large. What it then returns is the first iterate that is feasible: z never comes back.
func TestPrintedAlgorithm2(t *testing.T) {
	k0 := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	cs := []ltkernel.Constraint{ltkernel.AtLeast(0, 1, 1)}
	const tau, best = 2.0, 2*0.5 + 0.125
	k, _, _ := algorithm2(k0, cs, tau, 0.05, false, 10000)
	if got, worst := objectiveOf(k0, k, cs, tau); math.Abs(got-best) > 1e-9 || worst > 1e-9 {
		t.Errorf("corrected: objective %v, violation %v, want %v and 0", got, worst, best)
	}
	k, _, rises := algorithm2(k0, cs, tau, 0.05, true, 10000)
	got, worst := objectiveOf(k0, k, cs, tau)
	if worst > 0 || rises > 0 || got < 5*best {
		t.Errorf("printed: objective %v, violation %v, %d rises, want more than %v", got, worst, rises, 5*best)
	}
	// A large step overshoots, and the printed one stays there: even where τ = 0 and nothing else is wrong.
	k, steps, _ := algorithm2(k0, cs, 0, 0.4, true, 10000)
	got, worst = objectiveOf(k0, k, cs, 0)
	corrected, _, _ := algorithm2(k0, cs, 0, 0.4, false, 10000)
	least, _ := objectiveOf(k0, corrected, cs, 0)
	if worst > 0 || steps > 3 || got < 2*least || math.Abs(least-0.125) > 1e-9 {
		t.Errorf("printed, tau 0: objective %v, violation %v after %d steps; corrected %v", got, worst, steps, least)
	}
}

// TestPrintedStopsAtTheWrongPoint: on pairs that pull against each other the printed algorithm stops at a feasible kernel that costs more, whatever the step; its z only fall. The
// corrected one is FitGram.
func TestPrintedStopsAtTheWrongPoint(t *testing.T) {
	x, y := blobs(12, 12, 3, 6)
	k0 := gramOf(x)
	for i := range 12 {
		k0.SetSym(i, i, k0.At(i, i)+1)
	}
	k0.ScaleSym(1.0/12, k0)
	cs := pairsOf(y, 12, 6)
	const tau = 0.5
	want := fit(t, k0, cs, Params{Tau: tau, Tol: 1e-9})
	corrected, steps, rises := algorithm2(k0, cs, tau, 0.03, false, 200000)
	if d := apart(corrected, want.Learned().All(k0)); d > 1e-5 || rises == 0 {
		t.Errorf("corrected: K is off by %v after %d steps, with %d rises", d, steps, rises)
	}
	for _, delta := range []float64{0.003, 0.03, 0.3} {
		k, steps, rises := algorithm2(k0, cs, tau, delta, true, 200000)
		got, worst := objectiveOf(k0, k, cs, tau)
		if rises > 0 {
			t.Errorf("step %v: z rose %d times", delta, rises)
		}
		t.Logf("step %v: %d steps, objective %v, violation %v, best %v", delta, steps, got, worst, want.Objective)
		if worst < 1e-6 && got < 1.05*want.Objective {
			t.Errorf("step %v: objective %v, violation %v, the best is %v", delta, got, worst, want.Objective)
		}
	}
}
