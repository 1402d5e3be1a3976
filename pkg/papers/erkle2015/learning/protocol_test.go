package learning

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

func smokeEnv() *experiment.Env {
	return &experiment.Env{Scale: experiment.Smoke, Lap: func(string) func() { return func() {} }}
}

func smokeSplit(t *testing.T, d protocol.DataSet, seed random.Seed) protocol.Split {
	t.Helper()
	seed.Dataset = d.DatasetAt(experiment.Smoke)
	s, err := protocol.SplitOf(smokeEnv(), d.Settings(experiment.Smoke), seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// All experiments of a trial see the same split, other trials another one, and its parts
// have no comparison in common.
func TestSplits(t *testing.T) {
	for _, d := range protocol.DataSets {
		s := smokeSplit(t, d, random.Seed{Base: 1, Experiment: "erkle2015/tau", Trial: 1})
		same := smokeSplit(t, d, random.Seed{Base: 1, Experiment: "erkle2015/fig1", Trial: 1})
		other := smokeSplit(t, d, random.Seed{Base: 1, Experiment: "erkle2015/tau", Trial: 2})
		if !slices.Equal(s.Train, same.Train) || !slices.Equal(s.Validation, same.Validation) || !slices.Equal(s.Test, same.Test) {
			t.Errorf("%s: two experiments see different splits of a trial", d.Name)
		}
		if slices.Equal(s.Train, other.Train) {
			t.Errorf("%s: two trials have the same training triplets", d.Name)
		}
		if len(s.Train) != d.Smoke.Train || len(s.Validation) != d.Smoke.Validation || len(s.Test) != int(d.Smoke.Test) || s.Objects != d.Smoke.Objects {
			t.Errorf("%s: parts of %d, %d and %d of %d objects, want %+v", d.Name, len(s.Train), len(s.Validation), len(s.Test), s.Objects, d.Smoke)
		}
		seen := map[metric.Triplet]bool{}
		for _, ts := range slices.Concat(s.Train, s.Validation, s.Test) {
			if seen[ts] || triplets.Check(s.Objects, ts) != nil {
				t.Errorf("%s: %+v stands twice or is no comparison", d.Name, ts)
			}
			seen[ts] = true
		}
	}
}

// The test errors of the synthetic data are those of an explicit list of all triplets that neither
// train nor validate; K = I satisfies none of them, all ties.
func TestTestErrorsAreOfAllOthers(t *testing.T) {
	d := protocol.DataSets[0]
	s := smokeSplit(t, d, random.Seed{Base: 1})
	var rest []metric.Triplet
	known := slices.Concat(s.Train, s.Validation)
	for ts := range s.All.All() {
		if !slices.Contains(known, ts) {
			rest = append(rest, ts)
		}
	}
	if len(rest) != s.All.Len()-len(known) {
		t.Fatalf("%d triplets are left of %d, want all but %d", len(rest), s.All.Len(), len(known))
	}
	p := protocol.ErkleParams(protocol.PAERKLE)
	err := protocol.RunERKLE(context.Background(), s, p, random.Seed{}, []int{1, 50, len(s.Train)}, func(seen int, l *triplets.ERKLE) {
		k := l.Kernel()
		if got, want := s.TestErrors(k), protocol.ErrorsOf(k, rest); got != want {
			t.Errorf("after %d triplets: %+v, want %+v", seen, got, want)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	identity := mat.NewDiagDense(s.Objects, nil)
	for i := range s.Objects {
		identity.SetDiag(i, 1)
	}
	if got, n := s.TestErrors(identity), len(rest); got != (protocol.ErrorCount{Wrong: n, Ties: n, Of: n}) {
		t.Errorf("K = I: %+v, want %d ties and nothing else", got, n)
	}
}

// Counts give back the shares.
func TestErrorShares(t *testing.T) {
	tb := table.New([]string{"trial"}, protocol.ErrorColumns("test").Numbers())
	v := table.Values{}
	protocol.NewErrorCount(0.75, 0.625, 8).Put(v, "test") // 4 wrong, 2 ties
	tb.Add(nil, v)
	if got := tb.Values("test wrong")[0]; got != 6 {
		t.Errorf("wrong: %v, want 6 with the ties", got)
	}
	if s, h := protocol.TestErrors(tb)[0], protocol.TestHalf(tb)[0]; s != 0.75 || h != 0.625 {
		t.Errorf("shares %v and %v, want 0.75 and 0.625", s, h)
	}
}

func TestLogSizes(t *testing.T) {
	if got, want := protocol.LogSizes(100, 10000, 12), []int{100, 152, 231, 351, 534, 811, 1233, 1874, 2848, 4329, 6579, 10000}; !slices.Equal(got, want) {
		t.Errorf("sizes %v, want %v", got, want)
	}
	if got := protocol.LogSizes(10, 12, 5); !slices.Equal(got, []int{10, 11, 12}) {
		t.Errorf("sizes %v, want no size twice", got)
	}
	for _, d := range protocol.DataSets {
		for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
			sizes := d.Sizes(scale)
			if last := sizes[len(sizes)-1]; last != d.At(scale).Train || len(sizes) < 3 {
				t.Errorf("%s: sizes %v, want at least 3, the last of %d", d.Name, sizes, d.At(scale).Train)
			}
		}
	}
}

// Two runs of a trial draw the same; checkpoints are met in order.
func TestRunERKLE(t *testing.T) {
	s := smokeSplit(t, protocol.DataSets[0], random.Seed{Base: 1})
	for _, method := range protocol.ERKLEs {
		p := protocol.ErkleParams(method)
		var met []int
		var kernels [2]mat.Matrix
		for i := range kernels {
			seed := random.Seed{Base: 1, Experiment: Fig1.ID, Trial: 3}
			if err := protocol.RunERKLE(context.Background(), s, p, seed, []int{1, 7, 60}, func(seen int, l *triplets.ERKLE) {
				met, kernels[i] = append(met, seen), l.Kernel()
			}); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(met, []int{1, 7, 60, 1, 7, 60}) || !mat.Equal(kernels[0], kernels[1]) {
			t.Errorf("%s: met %v, or two runs differ", method, met)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := protocol.RunERKLE(ctx, s, triplets.ERKLEParams{}, random.Seed{}, nil, nil); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown method has parameters")
		}
	}()
	protocol.ErkleParams("POLA")
}

// A path starts each fit from the kernel before: fixed steps add up.
func TestFitPath(t *testing.T) {
	s := smokeSplit(t, protocol.DataSets[0], random.Seed{Base: 1})
	p := triplets.BatchParams{Loss: triplets.STE, Tau: 0.1, Method: triplets.BatchFixed, Delta: 0.01, Iterations: 2}
	n := len(s.Train)
	var last mat.Matrix
	if err := protocol.FitPath(context.Background(), s, []int{n, n}, p, func(_ int, r triplets.BatchResult) { last = r.Kernel }); err != nil {
		t.Fatal(err)
	}
	p.Iterations = 4
	r, err := triplets.FitBatch(context.Background(), s.Objects, s.Train, p)
	if err != nil {
		t.Fatal(err)
	}
	const tol = 1e-9 // projections of nearly equal kernels, entries of the order of 1
	if !mat.EqualApprox(r.Kernel, last, tol) {
		t.Error("two fits of 2 steps are not one of 4")
	}
}
