package triplets

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/persist/persisttest"
)

// The rules in the factored form are those by full eigendecompositions.
func TestTraceRulesAreTheFullProximalStep(t *testing.T) {
	const n, tol = 9, 1e-9 // as in TestTraceIsTheFullProximalStep
	for _, p := range []ERKLEParams{
		{TraceRule: TraceBudget}, {TraceRule: TraceShare}, {TraceRule: TraceShare, Beta: 3, Draws: DrawSeldom},
		{TraceRule: TraceBudget, Loss: STE, Step: StepConstant, Delta: 2, Gradient: GradientFrobenius},
		// Not whole numbers, by which a margin may be met exactly: then round-off, which differs by processor, says whether there is a loss.
		{TraceRule: TraceBudget, Initial: mat.NewDiagDense(n, []float64{3.1, 0, 1.3, 0, 2.2, 0, 0.9, 1.4, 1.6})},
	} {
		r := rand.New(rand.NewPCG(7, 4))
		l := must(NewERKLE(n, p))
		p.Projection = ProjectDense
		want := must(NewERKLE(n, p))
		for i := range 300 {
			f := randomTriplet(r, n)
			must(l.Step(f))
			must(want.Step(f))
			if got, want := l.Kernel(), want.Kernel(); !mat.EqualApprox(got, want, tol) {
				t.Fatalf("%+v: round %d: kernel %v, want %v", p, i, mat.Formatted(got), mat.Formatted(want))
			}
		}
	}
}

// By the budget the trace stays at or above that of K₀ and comes back to it. With long steps and no rule it rises without
// bound, by the budget by no more than what the last few projections added.
func TestTraceBudget(t *testing.T) {
	const n = 10
	run := func(rule TraceRule) (least, last float64) {
		r := rand.New(rand.NewPCG(7, 5))
		l := must(NewERKLE(n, ERKLEParams{TraceRule: rule, Loss: STE, Step: StepConstant, Delta: 1}))
		least = math.Inf(1)
		for range 2000 {
			must(l.Step(randomTriplet(r, n)))
			last = mat.Trace(l.Kernel())
			least = min(least, last)
		}
		return least, last
	}
	least, budget := run(TraceBudget)
	if least < n*(1-1e-9) {
		t.Errorf("the trace falls to %v, want at least %d", least, n)
	}
	if _, none := run(TraceFixed); !(budget < none/2) {
		t.Errorf("the trace ends at %v by the budget and at %v without it, want less than half", budget, none)
	}
}

// The share of update j is δ/j: a diagonal of K far from the cone's border shows it.
func TestTraceShare(t *testing.T) {
	const n = 6
	first := mat.NewDiagDense(n, []float64{50, 50, 50, 50, 50, 50})
	r := rand.New(rand.NewPCG(7, 6))
	l := must(NewERKLE(n, ERKLEParams{TraceRule: TraceShare, Initial: first, Step: StepConstant, Delta: .1, Loss: STE}))
	want := 300.0
	for j := 1; j <= 50; j++ {
		must(l.Step(randomTriplet(r, n)))
		want -= n * .1 / float64(j)
		if got := mat.Trace(l.Kernel()); math.Abs(got-want) > 1e-9 {
			t.Fatalf("update %d: trace %v, want %v", j, got, want)
		}
	}
}

func TestTraceRuleChecked(t *testing.T) {
	for _, p := range []ERKLEParams{
		{TraceRule: TraceBudget, Trace: .1}, {TraceRule: TraceShare, Projection: ProjectPrintedRule}, {TraceRule: 3}, {TraceRule: -1}, {Draws: 2}, {Draws: -1},
	} {
		if l, err := NewERKLE(3, p); l != nil || err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
	file := savedERKLE(t, ERKLEParams{Beta: 2, TraceRule: TraceBudget})
	persisttest.Check(t, file, LoadERKLE)
	persisttest.Tampered(t, file, LoadERKLE, map[string]persisttest.Edit{
		"negative budget": func(_, state map[string]any) { state["budget"] = -1 },
		"huge budget":     func(_, state map[string]any) { state["budget"] = 1e150 },
		"another rule":    func(params, _ map[string]any) { params["trace_rule"] = "share" },
		"unknown rule":    func(params, _ map[string]any) { params["trace_rule"] = "none" },
		"a weight too":    func(params, _ map[string]any) { params["trace"] = .5 },
	})
}
