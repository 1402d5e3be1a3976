package kernels_test

import (
	"encoding/json"
	"strings"
	"testing"

	"metriclab/pkg/kernels"
)

// A kernel comes back from its Spec, through JSON, as it was.
func TestSpecRoundTrip(t *testing.T) {
	for want, k := range map[string]kernels.Kernel{
		`{"name":"linear"}`:                             kernels.Linear{},
		`{"name":"polynomial","degree":3,"offset":0}`:   must(kernels.NewPolynomial(3, 0)),
		`{"name":"gaussian","gamma":0.1}`:               must(kernels.NewGaussian(0.1)),
		`{"name":"gaussian","gamma":1.5e-300}`:          must(kernels.NewGaussian(1.5e-300)),
		`{"name":"polynomial","degree":1,"offset":0.3}`: must(kernels.NewPolynomial(1, 0.3)),
	} {
		s, err := kernels.SpecOf(k)
		if err != nil {
			t.Fatalf("%v: %v", k, err)
		}
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw); got != want {
			t.Errorf("%v is written as %s, want %s", k, got, want)
		}
		var back kernels.Spec
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if got, err := back.Kernel(); err != nil || got != k {
			t.Errorf("%v came back as %v, error %v", k, got, err)
		}
	}
}

func TestSpecErrors(t *testing.T) {
	for _, k := range []kernels.Kernel{nil, kernels.Func(func(x, y []float64) float64 { return 1 }), kernels.Gaussian{}, kernels.Polynomial{}} {
		if s, err := kernels.SpecOf(k); err == nil {
			t.Errorf("%T has the Spec %+v", k, s)
		}
	}
	for text, want := range map[string]string{
		`{"name":"cosine"}`:                                     "want one of linear, polynomial, gaussian",
		`{"name":"gaussian"}`:                                   "want [gamma]",
		`{"name":"gaussian","gamma":0}`:                         "gamma: 0 is not allowed",
		`{"name":"gaussian","gamma":1,"degree":2}`:              "are [degree, gamma], want [gamma]",
		`{"name":"linear","offset":1}`:                          "want []",
		`{"name":"polynomial","degree":2}`:                      "want [degree, offset]",
		`{"name":"polynomial","degree":0,"offset":1}`:           "degree: 0 is not allowed",
		`{"name":"polynomial","degree":2,"offset":-1}`:          "offset: -1 is not allowed",
		`{"name":"polynomial","degree":2,"offset":1,"gamma":1}`: "are [degree, gamma, offset]",
	} {
		var s kernels.Spec
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if k, err := s.Kernel(); err == nil || k != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: kernel %v, error %v, want one with %q", text, k, err, want)
		}
	}
}
