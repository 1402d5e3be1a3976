package linear

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/learnertest"
)

// BenchmarkOnline measures a step of each online classifier on sparse vectors in R^500.
func BenchmarkOnline(b *testing.B) {
	const dim = 500
	examples := learnertest.ExampleStream(rand.New(rand.NewPCG(44, 4)), dim, 2000)
	perceptron, err := NewPerceptron(dim)
	if err != nil {
		b.Fatal(err)
	}
	paum, err := newTestPAUM(dim)
	if err != nil {
		b.Fatal(err)
	}
	for _, l := range []struct {
		name string
		step func(classify.Example) (learners.Outcome[classify.Prediction], error)
	}{{"Perceptron", perceptron.Step}, {"PAUM", paum.Step}} {
		b.Run(fmt.Sprintf("alg=%s/dim=%d", l.name, dim), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := l.step(examples[i%len(examples)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
