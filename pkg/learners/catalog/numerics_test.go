package catalog_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/learnertest"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// scales are the sizes of features at which every learner must answer or refuse.
var scales = []float64{1e-150, 1e-100, 1e-76, 1e-70, 1e-50, 1e-30, 1, 1e30, 1e50, 1e70, 1e76, 1e100, 1e150}

// someScales returns the scales, or the most telling of them under -short.
func someScales() []float64 {
	if testing.Short() {
		return []float64{1e-150, 1e-76, 1, 1e70, 1e76, 1e150}
	}
	return scales
}

// psdTol bounds a negative eigenvalue relative to the largest entry of the matrix so far.
// What cancels in an update leaves round-off of the size before.
const psdTol = 1e-10

// variants are the parameters with which learners are tried; a learner without an entry
// here is tried with its defaults.
var variants = map[string][]map[string]string{
	"pola": {nil, {"gamma": "3"}, {"b1": "-1e60"}, {"b1": "1e60"}, {"b1": "1e170"}, {"b1": "-1e170", "gamma": "1e170"}},
	"kernel-pola": {
		{"kernel": "gaussian"}, {"kernel": "linear"}, {"kernel": "linear", "b1": "1e170"},
		{"kernel": "polynomial"}, {"kernel": "polynomial", "degree": "3", "offset": "0"},
	},
	"pa": {
		nil, {"rule": "pa1"}, {"rule": "pa2"}, {"rule": "pals"}, {"rule": "pals", "tol": "0.5"},
		{"psd": "end"}, {"rule": "pa1", "psd": "end"}, {"rule": "pa2", "psd": "end"}, {"rule": "pals", "psd": "end"},
		{"b0": "1e170"}, {"rule": "pals", "b0": "1e170", "psd": "end"}, {"rule": "pals", "b0": "-1e300", "c": "1e-300"},
	},
	"lego": {nil, {"update": "violated"}, {"eta": "1e150"}, {"u": "1e-150", "l": "1e100"}},
	"pola-batch": {
		{"iterations": "3"}, {"iterations": "60", "reading": "violations"},
	},
	"mmc":  {nil, {"ridge": "0.1"}, {"matrix": "diagonal"}, {"matrix": "diagonal", "ridge": "0.1"}},
	"rca":  {nil, {"ridge": "0"}},
	"itml": {nil, {"start": "invcov"}, {"rule": "bins"}, {"slack": "hard", "cycles": "20"}},
	"kernel-itml": {
		{"kernel": "gaussian"}, {"kernel": "linear"}, {"kernel": "polynomial"}, {"kernel": "polynomial", "degree": "3", "offset": "0"},
	},
	"kernel-rca": {
		{"kernel": "gaussian"}, {"kernel": "gaussian", "ridge": "0.1", "landmarks": "5"}, {"kernel": "linear"}, {"kernel": "polynomial", "degree": "3", "offset": "0"},
	},
	"kernel-lmnn": {
		{"kernel": "gaussian", "k": "2", "iterations": "60", "landmarks": "6"}, {"kernel": "linear", "k": "2", "iterations": "60"},
	},
	"kernel-mcml": {
		{"kernel": "gaussian", "iterations": "40"}, {"kernel": "linear", "iterations": "40"}, {"kernel": "polynomial", "iterations": "40", "landmarks": "6"},
	},
	"itml-tuned": {{"folds": "2", "links": "40", "bound-pairs": "50", "k": "1", "cycles": "5"}},
	"itml-labels": {
		{"links": "40", "bound-pairs": "50"}, {"links": "40", "bound-pairs": "50", "start": "invcov", "ridge": "0"},
	},
	"iplr": {
		{"cycles": "50"}, {"basis": "singular", "cycles": "50"}, {"basis": "kmeans", "k": "2", "cycles": "50"}, {"basis": "rows", "infeasible": "drop", "cycles": "50"},
	},
	"pca":    {nil},
	"invcov": {nil, {"ridge": "0"}},
	"fda":    {nil, {"ridge": "0"}},
	"lmnn":   {{"k": "2", "iterations": "60"}},
	"mcml":   {{"iterations": "40"}},
	"nca":    {nil, {"dim": "1"}, {"start": "pca"}, {"batch": "5", "passes": "3"}},
}

// parameters returns the variants of e.
func parameters(e catalog.Entry) []map[string]string {
	if v := variants[e.Name]; v != nil {
		return v
	}
	return []map[string]string{nil}
}

// scaledPairs returns streams in which features have the size s: all of them; one
// coordinate in two; those of the second half; those of the first half, before 1/s; and
// those of every other pair.
func scaledPairs(dim, rounds int, s float64) map[string][]metric.Pair {
	out := map[string][]metric.Pair{}
	add := func(name string, scale func(round, i int) float64) {
		stream := learnertest.PairStream(rand.New(rand.NewPCG(uint64(dim), 7)), dim, rounds, 1)
		for k, f := range stream {
			for i := range dim {
				f.X[i] *= scale(k, i)
				f.Y[i] *= scale(k, i)
			}
		}
		out[name] = stream
	}
	add("all", func(_, _ int) float64 { return s })
	add("coordinates", func(_, i int) float64 {
		if i%2 == 0 {
			return s
		}
		return 1
	})
	add("late", func(k, _ int) float64 {
		if 2*k >= rounds {
			return s
		}
		return 1
	})
	add("inverse", func(k, _ int) float64 {
		if 2*k >= rounds {
			return 1 / s
		}
		return s
	})
	add("alternating", func(k, _ int) float64 {
		if k%2 == 1 {
			return s
		}
		return 1
	})
	return out
}

// checkMatrix reports an entry that is not finite and an eigenvalue that is negative
// beyond round-off, with size the largest entry so far, which it returns.
func checkMatrix(m mat.Symmetric, size float64) (float64, error) {
	n := m.SymmetricDim()
	for i := range n {
		for j := range n {
			a := math.Abs(m.At(i, j))
			if !(a <= math.MaxFloat64) {
				return size, fmt.Errorf("entry (%d, %d) is %v", i, j, m.At(i, j))
			}
			size = max(size, a)
		}
	}
	if size == 0 {
		return 0, nil
	}
	scaled := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			scaled.SetSym(i, j, m.At(i, j)/size)
		}
	}
	var eig spectral.EigenSym
	if !eig.Factorize(scaled, false) {
		return size, fmt.Errorf("no eigenvalues")
	}
	if least := eig.Values(nil)[0]; !(least >= -psdTol) {
		return size, fmt.Errorf("eigenvalue %g, relative to the largest entry so far, %g", least, size)
	}
	return size, nil
}

func saved(t *testing.T, l interface{ Save(io.Writer) error }) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Save(&b); err != nil {
		t.Errorf("Save: %v", err)
	}
	return b.Bytes()
}

// runningMatrix returns the matrix that l predicts with.
func runningMatrix(l interface {
	MulVec(dst, x []float64) []float64
}, dim int) *mat.SymDense {
	m := mat.NewSymDense(dim, nil)
	e := make([]float64, dim)
	for i := range dim {
		e[i] = 1
		for j, a := range l.MulVec(nil, e) {
			m.SetSym(i, j, a)
		}
		e[i] = 0
	}
	return m
}

// sound checks the hypothesis of l; size is the largest entry of its matrix so far.
func sound(l learners.Pair, probes []metric.Pair, deferred bool, size *float64) error {
	if b := l.Threshold(); math.IsNaN(b) || math.IsInf(b, 0) {
		return fmt.Errorf("threshold %v", b)
	}
	var sqDist func(f metric.Pair) float64
	switch l := l.(type) {
	case learners.PairMetric:
		m := l.Metric()
		if _, err := checkMatrix(m.M(), 0); err != nil {
			return fmt.Errorf("Metric: %w", err)
		}
		running := runningMatrix(l.(interface {
			MulVec(dst, x []float64) []float64
		}), l.Dim())
		var err error
		if deferred {
			for i := range l.Dim() {
				for j := range l.Dim() {
					if a := math.Abs(running.At(i, j)); !(a <= math.MaxFloat64) {
						return fmt.Errorf("running matrix: entry (%d, %d) is %v", i, j, a)
					}
				}
			}
		} else if *size, err = checkMatrix(running, *size); err != nil {
			return fmt.Errorf("running matrix: %w", err)
		}
		sqDist = func(f metric.Pair) float64 { return m.SqDist(f.X, f.Y) }
	case learners.PairKernel:
		m := l.KernelMetric()
		sqDist = func(f metric.Pair) float64 { return m.SqDist(f.X, f.Y) }
	}
	for _, f := range probes {
		p := l.Predict(f)
		if math.IsNaN(p.SqDist) || p.SqDist < 0 && !deferred {
			return fmt.Errorf("Predict: %v", p)
		}
		if p.Similar != (p.SqDist <= l.Threshold()) {
			return fmt.Errorf("Predict: %v, threshold %v", p, l.Threshold())
		}
		if loss := l.Loss(f); !(loss >= 0) || loss > math.MaxFloat64 && math.Abs(p.SqDist) < 1e150 {
			return fmt.Errorf("Loss %v at %v", loss, p)
		}
		if d := sqDist(f); !(d >= 0) || d > math.MaxFloat64 && p.SqDist < 1e150 && !deferred {
			return fmt.Errorf("d² = %v under the snapshot, Predict: %v", d, p)
		}
	}
	return nil
}

// Whatever the size of features, a step of an online learner of pairs gives a finite
// positive semi-definite metric, or it is refused and leaves every bit as it was.
func TestPairLearnersAtAllScales(t *testing.T) {
	for _, e := range catalog.All() {
		if e.Feedback != catalog.Pairs {
			continue
		}
		for _, given := range parameters(e) {
			v, err := e.Parse(given)
			if err != nil {
				t.Logf("%s %v: refused: %v", e.Name, given, err)
				continue
			}
			dims := []int{1, 3, 20}
			if testing.Short() {
				dims = dims[1:]
			}
			for _, dim := range dims {
				rounds := 16
				if dim > 3 { // until the matrix is dense, after the resolvent has come and gone
					rounds = 30
				}
				if !testing.Short() {
					rounds *= 3
				}
				for _, s := range someScales() {
					for name, stream := range scaledPairs(dim, rounds, s) {
						if testing.Short() && (name == "coordinates" || name == "late") {
							continue
						}
						label := fmt.Sprintf("%s %v dim %d scale %g %s", e.Name, given, dim, s, name)
						allScales(t, label, e, v, dim, stream)
					}
				}
			}
		}
	}
}

func allScales(t *testing.T, label string, e catalog.Entry, v catalog.Values, dim int, stream []metric.Pair) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", label, r)
		}
	}()
	shape := catalog.Shape{Dim: dim}
	l, err := catalog.As[learners.Pair](e.New(shape, v))
	if err != nil {
		t.Fatal(err)
	}
	twin, _ := catalog.As[learners.Pair](e.New(shape, v)) // makes the steps that l makes, and none of those it refuses
	deferred := strings.Contains(label, "psd:end")
	size := 0.0
	ordinary := learnertest.PairStream(rand.New(rand.NewPCG(3, 9)), dim, 4, 1)
	probes := slices.Concat(stream[:2], stream[len(stream)-2:], ordinary)
	refused := 0
	for k, f := range slices.Concat(stream, ordinary) {
		was := l.Predict(f)
		o, err := l.Step(f)
		if err != nil {
			refused++
			if !strings.Contains(err.Error(), "want") && !strings.Contains(err.Error(), "scale the features") {
				t.Errorf("%s: round %d: the error says not what is allowed: %v", label, k, err)
			}
			if !bytes.Equal(saved(t, l), saved(t, twin)) {
				t.Errorf("%s: round %d: the state changed, but Step returned %v", label, k, err)
				return
			}
			if refused == k+1 { // a learner at its start must refuse f, too
				if _, errTwin := twin.Step(f); errTwin == nil {
					t.Errorf("%s: round %d: refused after refusals only: %v", label, k, err)
					return
				}
			}
			continue
		}
		if o.Prediction != was || !(o.Loss >= 0) || math.IsInf(o.Loss, 0) || math.IsInf(o.StepSize, 0) || math.IsNaN(o.StepSize) {
			t.Errorf("%s: round %d: outcome %+v, predicted %v", label, k, o, was)
			return
		}
		if err := sound(l, probes, deferred, &size); err != nil {
			t.Errorf("%s: round %d: %v", label, k, err)
			return
		}
		twin.Step(f)
	}
	if _, err := e.Load(bytes.NewReader(saved(t, l))); err != nil {
		t.Errorf("%s: saved, but not loaded: %v", label, err)
	}
}

// units says how a batch learner follows the unit of features: with s·x in place of x
// learned squared distances become s^units as large. Learners that are not here have a
// scale of their own.
func units(name string, given map[string]string) (exponent int, ok bool) {
	switch name {
	case "rca", "mmc", "invcov", "fda", "lmnn", "mcml", "nca":
		return 0, true
	case "itml", "itml-labels", "itml-tuned", "iplr", "pca":
		if given["start"] == "invcov" {
			return 0, true
		}
		return 2, true
	case "kernel-itml":
		return 2, given["kernel"] == "linear"
	case "kernel-rca", "kernel-lmnn", "kernel-mcml":
		return 0, given["kernel"] == "linear"
	}
	return 0, false
}

// unitsTol bounds what differs between units relative to the largest squared distance. Powers of two
// round nothing, but eigenvalues of matrices out of range are computed in another unit.
const unitsTol = 1e-6

// batchData returns n rows of three classes in dim dimensions, the classes, and links.
func batchData(n, dim int) (*mat.Dense, []int, []metric.Link) {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	x := mat.NewDense(n, dim, nil)
	y := make([]int, n)
	for i := range n {
		y[i] = i % 3
		for j := range dim {
			x.Set(i, j, rng.NormFloat64())
		}
		x.Set(i, 0, x.At(i, 0)+2*float64(y[i]))
	}
	var links []metric.Link
	for range 3 * n {
		i, j := rng.IntN(n), rng.IntN(n)
		if i != j {
			links = append(links, metric.Link{I: i, J: j, Label: metric.SameClass(y[i] == y[j])})
		}
	}
	return x, y, links
}

// fitted is what a batch learner learned: squared distances between rows.
type fitted struct {
	sqDist metric.SqDister
	m      interface{ M() *mat.SymDense } // nil for a kernel
	status learners.Status
	resid  float64
}

func fit(e catalog.Entry, v catalog.Values, x *mat.Dense, y []int, links []metric.Link) (f fitted, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	r, err := e.Fit(context.Background(), catalog.Input{X: x, Y: y, Links: links}, v, nil)
	m, _ := r.Distance.(interface{ M() *mat.SymDense })
	return fitted{r.Distance, m, r.Status, r.Residual}, err
}

// check reports a result that is not a metric of numbers, or one that differs from that of x in other units.
func (f fitted) check(x *mat.Dense) error {
	if math.IsNaN(f.resid) || math.IsInf(f.resid, 0) {
		return fmt.Errorf("residual %v", f.resid)
	}
	if f.m != nil {
		if _, err := checkMatrix(f.m.M(), 0); err != nil {
			return fmt.Errorf("M: %w", err)
		}
	}
	n, _ := x.Dims()
	for i := range n {
		for j := range i {
			if q := f.sqDist.SqDist(x.RawRowView(i), x.RawRowView(j)); !(q >= 0) || math.IsInf(q, 0) {
				return fmt.Errorf("squared distance of rows %d and %d: %v", i, j, q)
			}
		}
	}
	return nil
}

// Whatever the size of features, a batch learner returns a finite positive semi-definite
// metric or an error; if it follows the unit of features, it does so at all sizes.
func TestBatchLearnersAtAllScales(t *testing.T) {
	const n, dim = 24, 4
	x, y, links := batchData(n, dim)
	sizes := someScales()
	shapes := map[string]func(s float64, i, j int) float64{
		"all": func(s float64, _, _ int) float64 { return s },
		"coordinates": func(s float64, _, j int) float64 {
			if j == 0 {
				return s
			}
			return 1
		},
		"rows": func(s float64, i, _ int) float64 {
			if i >= n/2 {
				return s
			}
			return 1
		},
		"two sizes": func(s float64, _, j int) float64 {
			if j%2 == 0 {
				return s
			}
			return 1 / s
		},
	}
	for _, e := range catalog.All() {
		if e.Feedback.Online() || e.Feedback == catalog.Comparisons || e.Feedback == catalog.Constraints { // these have no rows: see TestGramAtAllScales of package model
			continue
		}
		for _, given := range parameters(e) {
			v := mustParse(t, e, given)
			base, err := fit(e, v, x, y, links)
			if err != nil {
				t.Errorf("%s %v: %v", e.Name, given, err)
				continue
			}
			for _, s := range sizes {
				exact := 1.0
				if s != 1 {
					_, k := math.Frexp(s)
					exact = math.Ldexp(1, k&^1)
				}
				for name, scale := range shapes {
					z := mat.NewDense(n, dim, nil)
					z.Apply(func(i, j int, a float64) float64 { return a * scale(exact, i, j) }, x)
					label := fmt.Sprintf("%s %v dim %d scale %g %s", e.Name, given, dim, s, name)
					f, err := fit(e, v, z, y, links)
					if err != nil {
						if strings.HasPrefix(err.Error(), "panic") {
							t.Errorf("%s: %v", label, err)
						}
						continue
					}
					if err := f.check(z); err != nil {
						t.Errorf("%s: %v", label, err)
						continue
					}
					u, ok := units(e.Name, given)
					if !ok || name != "all" {
						continue
					}
					if f.status != base.status {
						t.Errorf("%s: status %v, at scale 1 %v", label, f.status, base.status)
					}
					var off, most float64
					for i := range n {
						for j := range i {
							want := base.sqDist.SqDist(x.RawRowView(i), x.RawRowView(j))
							got := f.sqDist.SqDist(z.RawRowView(i), z.RawRowView(j)) / math.Pow(exact, float64(u))
							off, most = max(off, math.Abs(got-want)), max(most, want)
						}
					}
					if !(off <= unitsTol*most) {
						t.Errorf("%s: squared distances are off by %g of %g", label, off, most)
					}
				}
			}
		}
	}
}

// Learners of kernels and of maps see no features. Whatever the size of their steps, a
// round gives a finite hypothesis, or it is refused and leaves every bit as it was.
func TestOtherLearnersAtAllScales(t *testing.T) {
	for _, s := range someScales() {
		text := fmt.Sprint(s)
		for _, given := range []map[string]string{
			{"step": "constant", "delta": text}, {"step": "inverse", "delta": text}, {"step": "inverse-sqrt", "delta": text},
			{"step": "constant", "delta": text, "loss": "ste"}, {"step": "constant", "delta": text, "trace": text},
			{"margin": text}, {"margin": text, "beta": "4"}, {"trace": text}, {"loss": "ste", "trace": text}, {"reject": text},
			{"step": "constant", "delta": text, "gradient": "frobenius"},
		} {
			tripletScales(t, given)
		}
		for _, given := range []map[string]string{{"eta": text}, {"eta": text, "sampler": "metropolis", "chain-steps": "50"}, {"eta": text, "sampler": "heat-bath", "chain-steps": "50"}} {
			mapScales(t, "rmp", given, s)
		}
		mapScales(t, "ftl", nil, s)
	}
}

// Kernels to start from may have any size, and sizes that differ between objects.
func TestERKLEStartsAtAllScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for _, n := range []int{6, 24} {
		a := mat.NewDense(n, n, nil)
		a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
		for _, s := range someScales() {
			for mixed := range 2 {
				b := mat.DenseCopyOf(a)
				b.Apply(func(i, _ int, x float64) float64 {
					if mixed == 1 && i%2 == 0 {
						return x
					}
					return x * math.Sqrt(s)
				}, b)
				k := mat.NewSymDense(n, nil)
				k.SymOuterK(1, b)
				for _, p := range []triplets.ERKLEParams{
					{}, {Projection: triplets.ProjectDense}, {Projection: triplets.ProjectPrintedRule}, {Loss: triplets.STE}, {Gradient: triplets.GradientFrobenius},
					{Step: triplets.StepConstant, Delta: s}, {Trace: 0.01}, {Margin: s}, {Loss: triplets.STE, Trace: s}, {Beta: 3},
				} {
					p.Initial = k
					label := fmt.Sprintf("n %d scale %g mixed %d %v %v %v %v beta %d trace %g", n, s, mixed, p.Projection, p.Loss, p.Gradient, p.Step, p.Beta, p.Trace)
					l, err := triplets.NewERKLE(n, p)
					if err != nil {
						t.Logf("%s: refused: %v", label, err)
						continue
					}
					twin, _ := triplets.NewERKLE(n, p)
					tripletRounds(t, label, l, twin, n)
				}
			}
		}
	}
}

func tripletScales(t *testing.T, given map[string]string) {
	t.Helper()
	e, err := catalog.Find("erkle")
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Parse(given)
	if err != nil {
		return // out of the range of the parameter
	}
	const n = 6
	l, err := catalog.As[learners.TripletLearner](e.New(catalog.Shape{Objects: n}, v))
	if err != nil {
		t.Fatal(err)
	}
	twin, _ := catalog.As[learners.TripletLearner](e.New(catalog.Shape{Objects: n}, v))
	tripletRounds(t, fmt.Sprintf("erkle %v", given), l, twin, n)
}

// tripletRounds checks the rounds of a learner; twin is another one at the same start.
func tripletRounds(t *testing.T, label string, l, twin learners.TripletLearner, n int) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", label, r)
		}
	}()
	rng := rand.New(rand.NewPCG(1, 4))
	size, _ := checkMatrix(l.Kernel(), 0)
	for round := range 40 {
		p := rng.Perm(n)
		f := metric.Triplet{A: p[0], Near: p[1], Far: p[2]}
		o, err := l.Step(f)
		if err != nil {
			if !bytes.Equal(saved(t, l), saved(t, twin)) {
				t.Errorf("%s: round %d: the state changed, but Step returned %v", label, round, err)
			}
			continue
		}
		if !(o.Loss >= 0 && o.Loss <= math.MaxFloat64) || math.IsNaN(o.StepSize) || math.IsInf(o.StepSize, 0) {
			t.Errorf("%s: round %d: outcome %+v", label, round, o)
		}
		if size, err = checkMatrix(l.Kernel(), size); err != nil {
			t.Errorf("%s: round %d: kernel: %v", label, round, err)
			return
		}
		q := l.Predict(metric.Triplet{A: p[3], Near: p[4], Far: p[5]})
		for _, d := range []float64{q.SqNear, q.SqFar} {
			if !(d >= 0 && d <= math.MaxFloat64) {
				t.Errorf("%s: round %d: Predict %v", label, round, q)
			}
		}
		twin.Step(f)
	}
}

func mapScales(t *testing.T, name string, given map[string]string, s float64) {
	t.Helper()
	e, err := catalog.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Parse(given)
	if err != nil {
		return // out of the range of the parameter
	}
	const a, b = 5, 4
	l, err := catalog.As[learners.MapLearner](e.New(catalog.Shape{Objects: a, Prototypes: b}, v))
	if err != nil {
		t.Fatal(err)
	}
	twin, _ := catalog.As[learners.MapLearner](e.New(catalog.Shape{Objects: a, Prototypes: b}, v))
	rng := rand.New(rand.NewPCG(1, 4))
	for round := range 30 {
		f := metric.CostRound{Cost: mat.NewDense(a, b, nil)}
		f.Cost.(*mat.Dense).Apply(func(i, _ int, _ float64) float64 {
			if i%2 == 0 {
				return rng.Float64() * min(s, 1)
			}
			return rng.Float64()
		}, f.Cost)
		o, err := l.Step(f)
		if err != nil {
			if !bytes.Equal(saved(t, l), saved(t, twin)) {
				t.Errorf("%s %v: round %d: the state changed, but Step returned %v", name, given, round, err)
			}
			continue
		}
		if !(o.Loss >= 0 && o.Loss <= math.MaxFloat64) {
			t.Errorf("%s %v: round %d: loss %v", name, given, round, o.Loss)
		}
		for i := range a {
			if k := l.Predict(f)[i]; k < 0 || k >= b {
				t.Errorf("%s %v: round %d: prototype %d", name, given, round, k)
			}
			for j := range b {
				if w := l.LogWeights().At(i, j); math.IsNaN(w) || math.IsInf(w, 0) {
					t.Errorf("%s %v: round %d: log weight %v", name, given, round, w)
					return
				}
			}
		}
		twin.Step(f)
	}
}
