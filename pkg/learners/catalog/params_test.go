package catalog_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
)

func TestParse(t *testing.T) {
	pola, err := catalog.Find("pola")
	if err != nil {
		t.Fatal(err)
	}
	v, err := pola.Parse(map[string]string{"b1": "-2.5"})
	if err != nil || v.Float("b1") != -2.5 || v.Float("gamma") != 0 {
		t.Errorf("b1 = %v, gamma = %v, error %v", v.Float("b1"), v.Float("gamma"), err)
	}
	l, err := catalog.As[learners.Pair](pola.New(catalog.Shape{Dim: 2}, v))
	if err != nil || l.Threshold() != -2.5 || l.Dim() != 2 {
		t.Errorf("learner %v, error %v", l, err)
	}
	fda, err := catalog.Find("fda")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := fda.Parse(map[string]string{"dim": "3"}); err != nil || v.Int("dim") != 3 {
		t.Errorf("dim = %v, error %v", v.Int("dim"), err)
	}
	kernel, err := catalog.Find("kernel-pola")
	if err != nil {
		t.Fatal(err)
	}
	rmp, err := catalog.Find("rmp")
	if err != nil {
		t.Fatal(err)
	}
	itml, err := catalog.Find("itml-labels")
	if err != nil {
		t.Fatal(err)
	}
	lego, err := catalog.Find("lego")
	if err != nil {
		t.Fatal(err)
	}
	for _, eta := range []string{"hundredfold", "printed", "0.5", "1e-3", "anytime"} {
		if v, err := rmp.Parse(map[string]string{"eta": eta}); err != nil || v.Text("eta") != eta {
			t.Errorf("eta = %v, error %v", v.Text("eta"), err)
		}
	}
	if _, err := rmp.Parse(map[string]string{"eta": "0.5", "rounds": "3"}); err == nil || !strings.Contains(err.Error(), "rounds is only for eta=hundredfold|printed|corrected, but eta is 0.5") {
		t.Errorf("a horizon with a fixed rate: error %v", err)
	}
	for _, c := range []struct {
		entry       catalog.Entry
		name, value string
		want        []string // in the error
	}{
		{pola, "c", "1", []string{`"c"`, "b1", "gamma"}},
		{pola, "b1", "one", []string{"b1", `"one"`, "number from -1e+100 to 1e+100"}},
		{pola, "b1", "NaN", []string{"b1", "number from -1e+100 to 1e+100"}},
		{pola, "b1", "-Inf", []string{"b1", "number from -1e+100 to 1e+100"}},
		{pola, "b1", "1e999", []string{"b1", "number from -1e+100 to 1e+100"}},
		{pola, "gamma", "-0.1", []string{"gamma", `"-0.1"`, "≥ 0"}},
		{pola, "gamma", "", []string{"gamma", "≥ 0"}},
		{fda, "dim", "1.5", []string{"dim", "integer"}},
		{fda, "dim", "-1", []string{"dim", "integer"}},
		{kernel, "kernel", "cosine", []string{"kernel", `"cosine"`, "gaussian, linear, polynomial"}},
		{kernel, "kernel", "", []string{"kernel", "gaussian, linear, polynomial"}},
		{kernel, "kernel-gamma", "0", []string{"kernel-gamma", `"0"`, "> 0"}},
		{rmp, "eta", "fixed", []string{"eta", `"fixed"`, "printed, corrected, anytime, or a number > 0 and at most 1e+100"}},
		{rmp, "eta", "0", []string{"eta", `"0"`, "> 0"}},
		{rmp, "eta", "NaN", []string{"eta", "at most"}},
		{rmp, "eta", "-1", []string{"eta", "at most"}},
		{rmp, "eta", "1e308", []string{"eta", `"1e308"`, "at most"}},
		{rmp, "eta", "", []string{"eta", "at most"}},
		{rmp, "rounds", "9223372036854775808", []string{"rounds", `"9223372036854775808"`, "an integer from 0 to 9007199254740992"}},
		{rmp, "m", "-1", []string{"m", "from 1"}},
		{itml, "links", "1000000001", []string{"links", "from 0 to 1000000000"}},
		{itml, "bound-pairs", "9223372036854775807", []string{"bound-pairs", "from 1 to 1000000000"}},
		{itml, "upper", "2", []string{"upper", "only for rule=given", "rule is percentiles"}},
		{itml, "rule", "none", []string{"rule", `"none"`, "percentiles, bins, given"}},
		{itml, "start", "covariance", []string{"start", `"covariance"`, "identity, invcov"}},
		{itml, "ridge", "0.1", []string{"ridge", "only for start=invcov", "start is identity"}},
		{lego, "u", "0", []string{"u", `"0"`, "> 0"}},
		{lego, "u", "8", []string{"u: 8", "l: 8", "want u < l"}},
		{lego, "l", "1.5", []string{"u: 2", "l: 1.5", "want u < l"}},
		{kernel, "degree", "2", []string{"degree", "only for kernel=polynomial", "kernel is gaussian"}},
	} {
		_, err := c.entry.Parse(map[string]string{c.name: c.value})
		if err == nil {
			t.Errorf("%s=%s: no error", c.name, c.value)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s=%s: error %q does not contain %q", c.name, c.value, err, w)
			}
		}
	}
	none := catalog.Entry{Name: "none"}
	if _, err := none.Parse(map[string]string{"x": "1"}); err == nil || !strings.Contains(err.Error(), "no parameters") {
		t.Errorf("error %v", err)
	}
}

// Integers are exact, also where not every one is a float64.
func TestCountsAreExact(t *testing.T) {
	rmp, err := catalog.Find("rmp")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{0, 1<<53 - 1, 1<<53 + 1, math.MaxInt - 1, math.MaxInt} {
		v, err := rmp.Parse(map[string]string{"seed": strconv.Itoa(want)})
		if err != nil || v.Int("seed") != want {
			t.Errorf("%d: seed %d, error %v", want, v.Int("seed"), err)
		}
		v, err = rmp.Parse(map[string]string{"rounds": strconv.Itoa(want)})
		if want > mapping.MaxRounds {
			if err == nil {
				t.Errorf("%d rounds are allowed", want)
			}
			continue
		}
		if l, err := rmp.New(catalog.Shape{Objects: 2, Prototypes: 3}, v); err != nil || l.(*mapping.RMP).Params().Rounds != want {
			t.Errorf("%d rounds: %v, error %v", want, l, err)
		}
	}
}

func TestValuesPanicOnUnknownName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	pola, _ := catalog.Find("pola")
	v, _ := pola.Parse(nil)
	v.Float("b2")
}

// Each kernel is built with its own parameters and refuses those of others.
func TestKernelChoices(t *testing.T) {
	e, err := catalog.Find("kernel-pola")
	if err != nil {
		t.Fatal(err)
	}
	batch, err := catalog.Find("kernel-itml")
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(3, 2, []float64{0, 1, 3, 0, 2, 2})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Similar}}
	for want, given := range map[kernels.Kernel]map[string]string{
		kernels.Linear{}:                  {"kernel": "linear"},
		must(kernels.NewPolynomial(2, 1)): {"kernel": "polynomial"},
		must(kernels.NewPolynomial(3, 0)): {"kernel": "polynomial", "degree": "3", "offset": "0"},
		must(kernels.NewGaussian(1. / 2)): {"kernel": "gaussian"}, // 1/dim
		must(kernels.NewGaussian(0.7)):    {"kernel": "gaussian", "kernel-gamma": "0.7"},
	} {
		v, err := e.Parse(given)
		if err != nil {
			t.Errorf("%v: %v", given, err)
			continue
		}
		l, err := e.New(catalog.Shape{Dim: 2}, v)
		if err != nil || l.(*pairs.KernelPOLA).Kernel() != want {
			t.Errorf("%v: learner %v, error %v, want kernel %v", given, l, err, want)
		}
		v, err = batch.Parse(given)
		if err != nil {
			t.Errorf("%v: %v", given, err)
			continue
		}
		if r, err := batch.Fit(t.Context(), catalog.Input{X: x, Links: links}, v, nil); err != nil || r.Distance.(*kernels.Transformed).Kernel() != want {
			t.Errorf("%v: %+v, error %v, want kernel %v", given, r, err, want)
		}
	}
	for _, given := range []map[string]string{
		{"kernel": "linear", "kernel-gamma": "1"},
		{"kernel": "linear", "offset": "1"},
		{"kernel": "polynomial", "kernel-gamma": "1"},
		{"kernel": "gaussian", "degree": "2"},
	} {
		for _, e := range []catalog.Entry{e, batch} {
			if _, err := e.Parse(given); err == nil || !strings.Contains(err.Error(), "is only for kernel=") {
				t.Errorf("%s %v: error %v", e.Name, given, err)
			}
		}
	}
}

// Each rule and each policy of pa is built as asked for; c and tol are refused where
// they would do nothing.
func TestPassiveAggressiveChoices(t *testing.T) {
	e, err := catalog.Find("pa")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		given map[string]string
		want  pairs.PAParams
	}{
		{nil, pairs.PAParams{C: 1}},
		{map[string]string{"psd": "end", "b0": "-2"}, pairs.PAParams{C: 1, PSD: pairs.PSDAtEnd, B0: -2}},
		{map[string]string{"rule": "pa1"}, pairs.PAParams{Rule: pairs.PAI, C: 1}},
		{map[string]string{"rule": "pa2", "c": "0.5"}, pairs.PAParams{Rule: pairs.PAII, C: 0.5}},
		{map[string]string{"rule": "pals", "c": "3", "psd": "end"}, pairs.PAParams{Rule: pairs.PALS, C: 3, PSD: pairs.PSDAtEnd}},
		{map[string]string{"rule": "pals", "tol": "0.25"}, pairs.PAParams{Rule: pairs.PALS, C: 1, Tol: 0.25}},
		{map[string]string{"m0": "2"}, pairs.PAParams{C: 1, M0: 2}},
		{map[string]string{"psd": "end", "every": "7"}, pairs.PAParams{C: 1, PSD: pairs.PSDAtEnd, Every: 7}},
	} {
		v, err := e.Parse(c.given)
		if err != nil {
			t.Errorf("%v: %v", c.given, err)
			continue
		}
		l, err := e.New(catalog.Shape{Dim: 2}, v)
		if err != nil || l.(*pairs.PA).Params() != c.want {
			t.Errorf("%v: learner %v, error %v, want %v", c.given, l, err, c.want)
		}
	}
	for want, given := range map[string]map[string]string{
		"c is only for rule=pa1|pa2|pals, but rule is pa": {"c": "1"},
		"tol is only for rule=pals, but rule is pa2":      {"rule": "pa2", "tol": "0"},
		"every is only for psd=end, but psd is step":      {"every": "7"},
		`m0: "-1" is not allowed`:                         {"m0": "-1"},
		`tol: "-1" is not allowed`:                        {"rule": "pals", "tol": "-1"},
		`rule: "pa3" is not allowed`:                      {"rule": "pa3"},
		`psd: "never" is not allowed`:                     {"psd": "never"},
		`c: "0" is not allowed`:                           {"rule": "pa1", "c": "0"},
	} {
		if _, err := e.Parse(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want one with %q", given, err, want)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestTextPanicsOnNumber(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	pola, _ := catalog.Find("pola")
	v, _ := pola.Parse(nil)
	v.Text("b1")
}

// The readings of batch POLA differ: one pass is three steps here.
func TestReadings(t *testing.T) {
	e, err := catalog.Find("pola-batch")
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(3, 1, []float64{0, 1, 3})
	links := []metric.Link{{I: 0, J: 1, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Similar}, {I: 0, J: 2, Label: metric.Dissimilar}}
	var weight []float64
	for _, reading := range []string{"passes", "violations"} {
		v, err := e.Parse(map[string]string{"reading": reading, "iterations": "1", "beta": "0.001"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Fit(t.Context(), catalog.Input{X: x, Links: links}, v, nil)
		if err != nil || r.Status != learners.IterationCap || r.Iterations != 1 {
			t.Fatalf("%s: %+v, error %v", reading, r, err)
		}
		weight = append(weight, matrixOf(r).At(0, 0))
	}
	if weight[0] == weight[1] || weight[1] != 1 { // α = 2/(1+1) on the first pair
		t.Errorf("A = %v", weight)
	}
}
