package pairs

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/persist/persisttest"
)

// steps gives a learner of pairs that was loaded a similar pair and a dissimilar one.
// What it refuses must be an error, no panic.
func steps[L interface {
	Dim() int
	Step(metric.Pair) (learners.PairOutcome, error)
}](l L) {
	if l.Dim() > 1000 {
		return
	}
	for _, f := range randomLabels(rand.New(rand.NewPCG(61, 1)), l.Dim(), 4) {
		_, _ = l.Step(f)
	}
	switch l := any(l).(type) {
	case learners.PairMetric:
		l.Metric()
	case learners.PairKernel:
		l.KernelMetric()
	}
}

// No number of a file makes a loader or a loaded learner panic, or take more memory
// than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	stream := func(dim, n int) []metric.Pair { return randomLabels(rand.New(rand.NewPCG(61, 2)), dim, n) }
	for _, dim := range []int{2, stackDim} {
		for _, rounds := range []int{0, 1, 6} {
			l := mustPOLA(t, dim, POLAParams{})
			for _, f := range stream(dim, rounds) {
				must(l.Step(f))
			}
			persisttest.Numbers(t, persisttest.Saved(l), LoadPOLA, steps)
		}
	}
	for _, psd := range []PSD{PSDEachStep, PSDAtEnd} {
		l := must(NewPA(14, PAParams{Rule: PALS, PSD: psd}))
		for _, f := range stream(14, 5) {
			must(l.Step(f))
		}
		persisttest.Numbers(t, persisttest.Saved(l), LoadPA, steps)
	}
	for _, update := range []UpdateRule{UpdateAlways, UpdateViolated} {
		l := must(NewLEGO(3, LEGOParams{Update: update}))
		for _, f := range stream(3, 3) {
			must(l.Step(f))
		}
		persisttest.Numbers(t, persisttest.Saved(l), LoadLEGO, steps)
	}
	for _, k := range []kernels.Kernel{gaussian(1), polynomial(2, 1), kernels.Linear{}} {
		for _, rounds := range []int{0, 5} {
			persisttest.Numbers(t, persisttest.Saved(small(k, rounds)), LoadKernelPOLA, steps)
		}
	}
}

// A counter that the next step would make overflow, and what no step can have made,
// is refused although no number is NaN or infinite.
func TestLoadRefusesCounters(t *testing.T) {
	const most = math.MaxInt64
	form := func(key string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state["form"].(map[string]any)[key] = v }
	}
	set := func(key string, v any) persisttest.Edit {
		return func(_, state map[string]any) { state[key] = v }
	}
	edits := map[string]persisttest.Edit{
		"seen 2⁶³−1":      form("seen", most),
		"seen −1":         form("seen", -1),
		"age over seen":   form("age", 1),
		"turns 2⁶³−1":     form("turns", most),
		"turns 4096":      form("turns", turnsPerQR),
		"threshold 1e170": set("threshold", 1e170),
		"log_shift 1e6":   form("log_shift", 1e6),
		"core of 1e170":   form("core", persist.Floats{1e170, 0, 1}),
	}
	persisttest.Tampered(t, persisttest.Saved(mustPOLA(t, 2, POLAParams{})), LoadPOLA, edits)
	l := mustPOLA(t, stackDim, POLAParams{})
	for _, f := range randomLabels(rand.New(rand.NewPCG(61, 3)), stackDim, 1) {
		f.Label = metric.Dissimilar
		must(l.Step(f))
	}
	long := append(persist.Floats{2}, make(persist.Floats, stackDim-1)...)
	persisttest.Tampered(t, persisttest.Saved(l), LoadPOLA, map[string]persisttest.Edit{"long basis": form("basis", long)})
	persisttest.Tampered(t, persisttest.Saved(small(gaussian(1), 3)), LoadKernelPOLA, map[string]persisttest.Edit{
		"age 2⁶³−1": set("age", most),
		"seen":      form("seen", most),
		"threshold": set("threshold", -1e170),
	})
	free := must(NewPA(2, PAParams{PSD: PSDAtEnd}))
	persisttest.Tampered(t, persisttest.Saved(free), LoadPA, edits)
}

// Start thresholds and parameters over their range are errors; all in it give finite
// metrics.
func TestThresholdRange(t *testing.T) {
	for _, b := range []float64{1e170, -1e170, math.Nextafter(MaxThreshold, math.Inf(1)), math.NaN(), math.Inf(1)} {
		for name, err := range map[string]error{
			"pola":        second(NewPOLA(2, POLAParams{B1: new(b)})),
			"kernel-pola": second(NewKernelPOLA(2, kernels.Linear{}, POLAParams{B1: new(b)})),
			"pa":          second(NewPA(2, PAParams{B0: b})),
		} {
			if err == nil || !strings.Contains(err.Error(), "want a number from -1e+100 to 1e+100") {
				t.Errorf("%s: start threshold %v: error %v", name, b, err)
			}
		}
	}
	for _, b := range []float64{MaxThreshold, -MaxThreshold} {
		for _, dim := range []int{1, 2, 14} {
			for _, scale := range []float64{1, 1e-75} { // whose matrices are subnormal
				l := mustPOLA(t, dim, POLAParams{B1: new(b), Gamma: 1e170})
				free := must(NewPA(dim, PAParams{B0: b, Rule: PALS, PSD: PSDAtEnd}))
				for _, f := range randomLabels(rand.New(rand.NewPCG(61, 4)), dim, 30) {
					for j := range f.X {
						f.X[j] *= scale
						f.Y[j] *= scale
					}
					must(l.Step(f))
					must(free.Step(f))
					for _, m := range []*metric.Mahalanobis{l.Metric(), free.Metric()} {
						if err := metric.CheckFinite(mat.DenseCopyOf(m.M())); err != nil {
							t.Fatalf("b %g, dim %d, scale %g: %v", b, dim, scale, err)
						}
					}
				}
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Sizes beyond the limit are errors before anything is allocated.
func TestSizes(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	for _, dim := range []int{1 << 20, 1 << 40, math.MaxInt} {
		for name, err := range map[string]error{
			"pola":        second(NewPOLA(dim, POLAParams{})),
			"kernel-pola": second(NewKernelPOLA(dim, kernels.Linear{}, POLAParams{})),
			"pa":          second(NewPA(dim, PAParams{})),
			"lego":        second(NewLEGO(dim, LEGOParams{})),
		} {
			var e *limits.MemoryError
			if !errors.As(err, &e) {
				t.Errorf("%s with %d features: error %v", name, dim, err)
			}
		}
	}
	for _, dim := range []int{1, 15, 16, 17, 100, 300} {
		if asked, has := limits.Floats(dim, dim/2+stairEdge), limits.Floats(stairsLen(dim)); asked < has {
			t.Errorf("LEGO with %d features: %d bytes checked, %d made", dim, asked, has)
		}
		if second(NewLEGO(dim, LEGOParams{})) != nil {
			t.Errorf("LEGO with %d features is refused", dim)
		}
	}
}

// What a learner saves it loads again and saves as the same bytes after each step,
// also where all but round-off of its matrix has cancelled.
func TestSavedAfterEachStepLoads(t *testing.T) {
	reload := func(name string, saved []byte, load func() ([]byte, error)) {
		if again, err := load(); err != nil || string(again) != string(saved) {
			t.Errorf("%s: saved, then loaded: %v\n%s", name, err, saved)
		}
	}
	seeds := 10
	if testing.Short() {
		seeds = 2
	}
	for _, scale := range []float64{1, 1e2, 1e4, 2e4, 1e5, 1e8} {
		for _, shape := range []string{"one feature", "a line in 3", "one of 3 features"} {
			for seed := range uint64(seeds) {
				rng := rand.New(rand.NewPCG(seed, 64))
				dim := 3
				if shape == "one feature" {
					dim = 1
				}
				draw := func() []float64 {
					x, a := make([]float64, dim), scale*rng.NormFloat64()
					if shape == "one of 3 features" {
						x[rng.IntN(3)] = a
						return x
					}
					for i := range x {
						x[i] = a * float64(i+1)
					}
					return x
				}
				pola := mustPOLA(t, dim, POLAParams{})
				pa := must(NewPA(dim, PAParams{}))
				pals := must(NewPA(dim, PAParams{Rule: PALS}))
				kernel := must(NewKernelPOLA(dim, kernels.Linear{}, POLAParams{}))
				for range 8 {
					f := metric.Pair{X: draw(), Y: draw(), Label: metric.Label(2*rng.IntN(2) - 1)}
					for _, l := range []learners.Pair{pola, pa, pals, kernel} {
						_, _ = l.Step(f) // a refusal is as good
					}
					name := fmt.Sprintf("%s, scale %g, seed %d", shape, scale, seed)
					saved := persisttest.Saved(pola)
					reload("pola, "+name, saved, func() ([]byte, error) {
						l, err := LoadPOLA(bytes.NewReader(saved))
						if err != nil {
							return nil, err
						}
						return persisttest.Saved(l), nil
					})
					for _, pa := range []*PA{pa, pals} {
						saved := persisttest.Saved(pa)
						reload("pa, "+name, saved, func() ([]byte, error) {
							l, err := LoadPA(bytes.NewReader(saved))
							if err != nil {
								return nil, err
							}
							return persisttest.Saved(l), nil
						})
					}
					saved = persisttest.Saved(kernel)
					reload("kernel-pola, "+name, saved, func() ([]byte, error) {
						l, err := LoadKernelPOLA(bytes.NewReader(saved))
						if err != nil {
							return nil, err
						}
						return persisttest.Saved(l), nil
					})
				}
			}
		}
	}
}
