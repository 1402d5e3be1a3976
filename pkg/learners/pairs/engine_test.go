package pairs

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/matrixtest"
	"metriclab/pkg/metric"
)

// The engine takes any rate rule: here one that is capped, and one whose τ is
// negative when the loss is zero with room to spare, so that a dissimilar pair
// can call for a projection. The reference projects after every update.
func TestEngineTakesOtherRates(t *testing.T) {
	for name, r := range map[string]rate{
		"capped":        func(slack, norm4 float64) float64 { return math.Min(0.2, math.Max(0, slack)/(norm4+1)) },
		"least squares": func(slack, norm4 float64) float64 { return slack / (norm4 + 1.5) },
	} {
		for _, dim := range []int{6, 45} {
			e := newEngine(name, dim, r, 0)
			a, b := mat.NewSymDense(dim, nil), 0.0
			projected := map[metric.Label]int{}
			for i, f := range randomLabels(rand.New(rand.NewPCG(30, uint64(dim))), dim, 150) {
				o, err := e.step(f)
				if err != nil {
					t.Fatal(err)
				}
				projected[f.Label] += o.Projections
				v := mat.NewVecDense(dim, metric.Sub(nil, f.X, f.Y))
				y := float64(f.Label)
				slack := 1 + y*(mat.Inner(v, a, v)-b)
				if math.Abs(o.Loss-math.Max(0, slack)) > agreeTol*(1+math.Abs(slack)) {
					t.Fatalf("%s, d = %d, round %d: loss %v, slack of the reference %v", name, dim, i, o.Loss, slack)
				}
				tau := r(slack, math.Pow(mat.Dot(v, v), 2))
				if tau == 0 {
					continue
				}
				a.SymRankOne(a, -y*tau, v)
				if a, _, err = metric.ProjectPSD(a); err != nil {
					t.Fatal(err)
				}
				b = math.Max(1, b+y*tau)
			}
			if d := matrixtest.Distance(e.a.metric().M(), a); d > agreeTol*(1+mat.Norm(a, 2)) || math.Abs(e.b-b) > agreeTol*b {
				t.Errorf("%s, d = %d: ‖A − reference‖ = %v, b = %v, reference %v", name, dim, d, e.b, b)
			}
			if projected[metric.Similar] == 0 || name == "least squares" && dim == 6 && projected[metric.Dissimilar] == 0 {
				t.Errorf("%s, d = %d: projections %v", name, dim, projected)
			}
		}
	}
}
