package lesson

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/notebooks/nb"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// POLAAfter is plain POLA in the plane after some pairs, from A = 0 and the threshold b1.
func POLAAfter(b1 float64, rounds []metric.Pair) *plain.POLA {
	l := plain.NewPOLA(2)
	l.B = b1
	for _, p := range rounds {
		l.Step(p)
	}
	return l
}

// POLARound takes a round of plain POLA apart: half is what the first projection gives, onto the hypotheses without loss on
// the pair, and after what the second makes of it. alpha is the length of the step.
func POLARound(before *plain.POLA, p metric.Pair) (half, after *plain.POLA, alpha float64) {
	after = &plain.POLA{A: mat.NewSymDense(2, nil), B: before.B}
	after.A.CopySym(before.A)
	_, step := after.Step(p)
	half = &plain.POLA{A: mat.NewSymDense(2, nil), B: before.B + step}
	half.A.SymRankOne(before.A, -step, mat.NewVecDense(2, metric.Sub(nil, p.X, p.Y)))
	return half, after, math.Abs(step)
}

// ShowRound draws round n, from 1, in three panels, before, after the first projection and after the second, and prints the
// three hypotheses.
func ShowRound(b1 float64, rounds []metric.Pair, n int) {
	if n < 1 || n > len(rounds) {
		panic(fmt.Sprintf("lesson: there is no round %d, want 1 to %d", n, len(rounds)))
	}
	p, before := rounds[n-1], POLAAfter(b1, rounds[:n-1])
	half, after, alpha := POLARound(before, p)
	panel := func(title string, now, was *plain.POLA) plots.Panel {
		return PairPanel(title, 3, p, Hypothesis{now.A, now.B}, Hypothesis{was.A, was.B})
	}
	nb.Show(plots.Drawing{Columns: 3, Panels: []plots.Panel{
		panel(fmt.Sprintf("round %d: %v", n, p.Label), before, before),
		panel("onto C_τ", half, before),
		panel("onto C_a", after, half),
	}})
	say := func(when string, l *plain.POLA) string {
		return fmt.Sprintf("%-9s b = %.3f, eigenvalues of A %6.3f; loss %.3f", when, l.B, Eigenvalues(l.A), l.Loss(p))
	}
	fmt.Printf("%s, α = %.3f\n", say("before:", before), alpha)
	fmt.Println(say("onto C_τ:", half))
	fmt.Println(say("onto C_a:", after))
}

// Document is one of a stream of news, as a vector of words, and whether it is about the topic.
type Document struct {
	X        []float64
	Relevant bool
}

// Tally counts right and wrong answers.
type Tally struct{ Relevant, Missed, Irrelevant, Alarms int }

// Add counts what was said of a document.
func (t *Tally) Add(said bool, d Document) {
	if d.Relevant {
		t.Relevant++
		if !said {
			t.Missed++
		}
		return
	}
	t.Irrelevant++
	if said {
		t.Alarms++
	}
}

// Balanced is the balanced error in per cent.
func (t Tally) Balanced() float64 {
	return 50 * (float64(t.Missed)/float64(max(t.Relevant, 1)) +
		float64(t.Alarms)/float64(max(t.Irrelevant, 1)))
}

// ShareOfDocuments returns in which part of the documents, relevant ones or the others, each word stands, in per cent.
func ShareOfDocuments(docs []Document, dim int, relevant bool) []float64 {
	n, out := 0.0, make([]float64, dim)
	for _, d := range docs {
		if d.Relevant != relevant {
			continue
		}
		n++
		for k, v := range d.X {
			if v > 0 {
				out[k]++
			}
		}
	}
	for k := range out {
		out[k] *= 100 / n
	}
	return out
}
