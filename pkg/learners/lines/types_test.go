package lines

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// asTyped writes rounds as JSON, gives them to a session, and compares its answers with
// the outcomes of an equal learner as JSON, byte for byte but for the number of the round.
func asTyped[F, P any](t *testing.T, s *Session, l learners.Online[F, P], rounds []F) {
	t.Helper()
	var in, want strings.Builder
	for i, f := range rounds {
		line, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&in, "%s\n", line)
		o, err := l.Step(f)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&want, `{"round":%d,%s`+"\n", i+1, answer[1:])
	}
	got, _, err := run(t, s, in.String())
	if err != nil || got != want.String() {
		t.Errorf("%s: the session answers (%v)\n%s\nthe outcomes are\n%s", s.Entry().Name, err, got, &want)
	}
}

// The feedback and outcome types of a Go program are the lines of the protocol.
func TestTypesAreLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	var pairs []metric.Pair
	var triplets []metric.Triplet
	var comparisons []metric.Comparison
	var costs []metric.CostRound
	for range 20 {
		x, y := []float64{rng.NormFloat64(), rng.NormFloat64()}, []float64{rng.NormFloat64(), 0}
		pairs = append(pairs, metric.Pair{X: x, Y: y, Label: metric.SameClass(rng.IntN(2) == 0)})
		comparisons = append(comparisons, metric.Comparison{A: x, Near: y, Far: []float64{x[1], 1}})
		o := rng.Perm(5)
		triplets = append(triplets, metric.Triplet{A: o[0], Near: o[1], Far: o[2]})
		costs = append(costs, metric.CostRound{Cost: mat.NewDense(2, 3, []float64{rng.Float64(), rng.Float64(), 0, 1, rng.Float64(), 0.5})})
	}
	made := func(name string) (*Session, *Session) {
		o := Options{}
		switch name {
		case "pola", "oasis":
			o.Dim = 2
		case "erkle":
			o.Objects = 5
		}
		return session(t, name, o), session(t, name, o)
	}
	s, other := made("pola")
	asTyped(t, s, other.p.(*pairLines).learner, pairs)
	question := metric.Pair{X: pairs[0].X, Y: pairs[0].Y}
	line, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	prediction, err := json.Marshal(other.p.(*pairLines).learner.Predict(question))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := run(t, s, string(line)); err != nil || got != `{"round":1,`+string(prediction[1:])+"\n" {
		t.Errorf("%s is answered %s (%v), want %s", line, got, err, prediction)
	}
	s, other = made("erkle")
	asTyped(t, s, other.p.(*tripletLines).learner, triplets)
	s, other = made("oasis")
	asTyped(t, s, other.p.(*comparisonLines).learner, comparisons)
	s, other = made("ftl")
	l, err := other.p.(*costLines).make(2, 3)
	if err != nil {
		t.Fatal(err)
	}
	asTyped(t, s, l, costs)
}
