package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/spectral"
)

// source is where the data of a size are drawn from.
func source(size int) *rand.Rand { return rand.New(rand.NewPCG(18, uint64(size))) }

const classes = 5

// grouped returns n rows of d features around the means of five classes, which
// overlap, and their classes. The variance of feature j is 1/j², as it falls in most
// tables once they are rotated.
func grouped(rng *rand.Rand, n, d int) (*mat.Dense, []int) {
	return around(rng, n, d, 1.5, func(j int) float64 { return 1 / float64(1+j) })
}

// around is grouped with a standard deviation of one's own for each feature, and means
// that vary apart times as much as the rows around them.
func around(rng *rand.Rand, n, d int, apart float64, deviation func(j int) float64) (*mat.Dense, []int) {
	scale := make([]float64, d)
	for j := range scale {
		scale[j] = deviation(j)
	}
	means := mat.NewDense(classes, d, nil)
	for c := range classes {
		for j, s := range scale {
			means.Set(c, j, apart*s*rng.NormFloat64())
		}
	}
	x, y := mat.NewDense(n, d, nil), make([]int, n)
	for i := range n {
		y[i] = i % classes
		for j, s := range scale {
			x.Set(i, j, means.At(y[i], j)+s*rng.NormFloat64())
		}
	}
	return x, y
}

// linked returns count links between rows, every other one of two rows of one class.
func linked(rng *rand.Rand, y []int, count int) []metric.Link {
	out := make([]metric.Link, 0, count)
	for len(out) < count {
		i, j := rng.IntN(len(y)), rng.IntN(len(y))
		same := len(out)%2 == 0
		if i != j && (y[i] == y[j]) == same {
			out = append(out, metric.Link{I: i, J: j, Label: metric.SameClass(same)})
		}
	}
	return out
}

// compared returns count comparisons of n points in the plane.
func compared(rng *rand.Rand, n, count int) []metric.Triplet {
	x := make([][2]float64, n)
	for i := range x {
		x[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	square := func(i, j int) float64 {
		u, v := x[i][0]-x[j][0], x[i][1]-x[j][1]
		return u*u + v*v
	}
	out := make([]metric.Triplet, count)
	for k := range out {
		t := metric.Triplet{A: rng.IntN(n), Near: rng.IntN(n), Far: rng.IntN(n)}
		for triplets.Check(n, t) != nil { // two are one
			t.Near, t.Far = rng.IntN(n), rng.IntN(n)
		}
		if square(t.A, t.Near) > square(t.A, t.Far) {
			t.Near, t.Far = t.Far, t.Near
		}
		out[k] = t
	}
	return out
}

const (
	online    = "a step of an online learner"
	byRows    = "metrics from labels and links, by rows or links"
	byDim     = "metrics from labels and links, by features"
	searching = "nearest neighbours"
	matrices  = "matrices"
	byObjects = "kernels from comparisons, by objects"
	byAnswers = "kernels from comparisons, by comparisons"
	others    = "kernels of links, medoids, maps"
	programs  = "commands"
)

// allWorks are the works. bin is the command metriclab, scratch a folder for tables. The commands
// come first: the peak of their memory cannot be told from that of this process once this has
// taken more.
func allWorks(bin, scratch string) []work {
	all := commands(bin, scratch)

	steps := func(d int) int { return 2 * d }
	type pairLearner interface {
		Step(metric.Pair) (learners.PairOutcome, error)
	}
	// The squared distances are near 2, and those between classes only a little larger
	// in many dimensions, so that most steps update.
	step := func(name string, make func(d int) (pairLearner, error)) {
		all = append(all, work{panel: online, name: name, by: "d", fixed: "2 pairs per feature from the start, most of which update", from: 16, most: 4096, parts: steps,
			prepare: func(_ context.Context, d int) (func() error, error) {
				rng := source(d)
				x, y := around(rng, 500, d, 2/math.Sqrt(float64(d)), func(int) float64 { return 1 / math.Sqrt(float64(d)) })
				links := linked(rng, y, steps(d))
				return func() error {
					l, err := make(d)
					for _, k := range links {
						if err == nil {
							_, err = l.Step(metric.Pair{X: x.RawRowView(k.I), Y: x.RawRowView(k.J), Label: k.Label})
						}
					}
					return err
				}, nil
			}})
	}
	step("POLA", func(d int) (pairLearner, error) { return pairs.NewPOLA(d, pairs.POLAParams{}) })
	step("PA-II", func(d int) (pairLearner, error) { return pairs.NewPA(d, pairs.PAParams{Rule: pairs.PAII}) })
	step("LEGO", func(d int) (pairLearner, error) { return pairs.NewLEGO(d, pairs.LEGOParams{}) })

	// Fits to rows with classes, against n and against d.
	type fit func(ctx context.Context, rng *rand.Rand, x *mat.Dense, y []int) error
	fitted := func(name string, n, d int, run fit) {
		prepare := func(ctx context.Context, size, n, d int) (func() error, error) {
			x, y := grouped(source(size), n, d)
			return func() error { return run(ctx, source(size), x, y) }, nil
		}
		all = append(all,
			work{panel: byRows, name: name + " by rows", by: "n", fixed: fmt.Sprintf("d = %d", d), from: 128, most: 1 << 20,
				prepare: func(ctx context.Context, size int) (func() error, error) { return prepare(ctx, size, size, d) }},
			work{panel: byDim, name: name + " by features", by: "d", fixed: fmt.Sprintf("n = %d", n), from: 8, most: 2048,
				prepare: func(ctx context.Context, size int) (func() error, error) { return prepare(ctx, size, n, size) }})
	}
	fitted("LMNN", 400, 20, func(ctx context.Context, _ *rand.Rand, x *mat.Dense, y []int) error {
		_, err := labels.FitLMNN(ctx, x, y, labels.LMNNParams{})
		return err
	})
	fitted("MCML", 400, 20, func(ctx context.Context, _ *rand.Rand, x *mat.Dense, y []int) error {
		_, err := labels.FitMCML(ctx, x, y, labels.MCMLParams{})
		return err
	})
	fitted("NCA", 400, 20, func(ctx context.Context, rng *rand.Rand, x *mat.Dense, y []int) error {
		_, err := labels.FitNCA(ctx, rng, x, y, labels.NCAParams{})
		return err
	})
	fitted("NCA to 2 by batches of 256", 2000, 64, func(ctx context.Context, rng *rand.Rand, x *mat.Dense, y []int) error {
		_, err := labels.FitNCA(ctx, rng, x, y, labels.NCAParams{Dim: 2, Batch: 256})
		return err
	})
	fitted("FDA", 2000, 50, func(ctx context.Context, _ *rand.Rand, x *mat.Dense, y []int) error {
		_, err := labels.FitFDA(ctx, x, y, labels.FDAParams{Ridge: 1e-3})
		return err
	})
	fitted("PCA to 8", 2000, 50, func(ctx context.Context, _ *rand.Rand, x *mat.Dense, _ []int) error {
		_, err := labels.FitPCA(ctx, x, 8)
		return err
	})
	const someLinks = 400
	fitITML := func(ctx context.Context, size, n, d, count int) (func() error, error) {
		rng := source(size)
		x, y := grouped(rng, n, d)
		links := linked(rng, y, count)
		return func() error {
			// Cycles are few and equal, so that the growth is that of a step.
			_, err := itml.Fit(ctx, x, links, itml.Params{Tol: 1e-300, MaxCycles: 10})
			return err
		}, nil
	}
	all = append(all,
		work{panel: byRows, name: "ITML by links (10 cycles)", by: "links", fixed: "d = 20", from: 128, most: 1 << 20,
			prepare: func(ctx context.Context, m int) (func() error, error) { return fitITML(ctx, m, 1000, 20, m) }},
		work{panel: byDim, name: "ITML by features (10 cycles)", by: "d", fixed: fmt.Sprintf("%d links", someLinks), from: 8, most: 2048,
			prepare: func(ctx context.Context, d int) (func() error, error) { return fitITML(ctx, d, 400, d, someLinks) }})

	search := func(name, by, fixed string, from, most int, shape func(size int) (n, d int)) work {
		const queries, k = 500, 5
		return work{panel: searching, name: name, by: by, fixed: fixed + ", 500 queries", from: from, most: most,
			prepare: func(ctx context.Context, size int) (func() error, error) {
				n, d := shape(size)
				x, y := grouped(source(size), n+queries, d)
				return func() error {
					knn, err := nearest.NewKNN(metric.Euclidean{}, x.Slice(queries, n+queries, 0, d), y[queries:], nearest.KNNOptions{})
					if err != nil {
						return err
					}
					_, err = knn.Neighbours(ctx, x.Slice(0, queries, 0, d), k)
					return err
				}, nil
			}}
	}
	all = append(all,
		search("5-NN by rows with d = 10", "n", "d = 10", 512, 1<<18, func(n int) (int, int) { return n, 10 }),
		search("5-NN by rows with d = 784", "n", "d = 784", 512, 1<<15, func(n int) (int, int) { return n, 784 }),
		search("5-NN by features", "d", "n = 10000", 8, 1024, func(d int) (int, int) { return 10000, d }))

	all = append(all,
		work{panel: matrices, name: "product of two squares", by: "n", from: 64, most: 4096,
			prepare: func(_ context.Context, n int) (func() error, error) {
				rng := source(n)
				a, b, dst := normal(rng, n, n), normal(rng, n, n), mat.NewDense(n, n, nil)
				return func() error {
					product.Gemm(blas.NoTrans, blas.NoTrans, a.RawMatrix(), b.RawMatrix(), dst.RawMatrix())
					return nil
				}, nil
			}},
		eigen("eigenvalues", false), eigen("eigenvectors", true),
		work{panel: matrices, name: "two largest eigenpairs of a Gram matrix", by: "n", fixed: "rank 20", from: 64, most: 4096,
			prepare: func(_ context.Context, n int) (func() error, error) {
				a := spectral.Matrix(kernels.Gram(kernels.Linear{}, normal(source(n), n, 20)))
				return func() error {
					if r := spectral.Largest(a, 2, spectral.Options{}); r.Status != spectral.Converged {
						return fmt.Errorf("two largest eigenpairs: %v", r.Status)
					}
					return nil
				}, nil
			}})

	batch := func(loss string, of triplets.Loss) {
		run := func(ctx context.Context, n, count int) (func() error, error) {
			ts := compared(source(n), n, count)
			return func() error {
				_, err := triplets.FitBatch(ctx, n, ts, triplets.BatchParams{Loss: of, Tau: 1})
				return err
			}, nil
		}
		all = append(all,
			work{panel: byObjects, name: loss + " by objects", by: "n", fixed: "20 comparisons per object", from: 16, most: 2048,
				prepare: func(ctx context.Context, n int) (func() error, error) { return run(ctx, n, 20*n) }},
			work{panel: byAnswers, name: loss + " by comparisons", by: "comparisons", fixed: "50 objects", from: 250, most: 1 << 18,
				prepare: func(ctx context.Context, m int) (func() error, error) { return run(ctx, 50, m) }})
	}
	batch("GNMDS", triplets.GNMDS)
	batch("STE", triplets.STE)
	batch("CKL", triplets.CKL)
	plane := func(ctx context.Context, n, count int) (func() error, error) {
		ts := compared(source(n), n, count)
		return func() error {
			_, err := triplets.FitCoordinates(ctx, source(n), n, ts, triplets.CoordinatesParams{Loss: triplets.TSTE, Tau: 1, Starts: 1})
			return err
		}, nil
	}
	all = append(all,
		work{panel: byObjects, name: "t-STE in the plane by objects", by: "n", fixed: "20 comparisons per object, a start", from: 16, most: 2048,
			prepare: func(ctx context.Context, n int) (func() error, error) { return plane(ctx, n, 20*n) }},
		work{panel: byAnswers, name: "t-STE in the plane by comparisons", by: "comparisons", fixed: "50 objects, a start", from: 250, most: 1 << 18,
			prepare: func(ctx context.Context, m int) (func() error, error) { return plane(ctx, 50, m) }})
	pass := func(n int) int { return 2 * n }
	all = append(all, work{panel: byObjects, name: "ERKLE per comparison", by: "n", fixed: "2 comparisons per object from the start", from: 64, most: 8192, parts: pass,
		prepare: func(_ context.Context, n int) (func() error, error) {
			ts := compared(source(n), n, pass(n))
			return func() error {
				l, err := triplets.NewERKLE(n, triplets.ERKLEParams{})
				for _, t := range ts {
					if err == nil {
						_, err = l.Step(t)
					}
				}
				return err
			}, nil
		}})

	all = append(all,
		work{panel: others, name: "kernel ITML (10 cycles)", by: "n", fixed: "d = 10, 400 links", from: 64, most: 1 << 18,
			prepare: func(ctx context.Context, n int) (func() error, error) {
				rng := source(n)
				x, y := grouped(rng, n, 10)
				links := linked(rng, y, someLinks)
				kernel, err := kernels.NewGaussian(0.5)
				return func() error {
					_, err := itml.FitKernelRows(ctx, kernel, x, links, itml.KernelParams{Tol: 1e-300, MaxCycles: 10})
					return err
				}, err
			}},
		work{panel: others, name: "k-medoids (FasterPAM)", by: "n", fixed: "10 medoids", from: 64, most: 8192,
			prepare: func(ctx context.Context, n int) (func() error, error) {
				x, _ := grouped(source(n), n, 10)
				cost := mat.NewDense(n, n, nil)
				for i := range n {
					for j := range n {
						cost.Set(i, j, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)))
					}
				}
				return func() error {
					_, err := cluster.FitFasterPAM(ctx, source(n), cost, cluster.MedoidsParams{M: 10})
					return err
				}, nil
			}},
		work{panel: others, name: "RMP per round", by: "n", fixed: "4 prototypes, 5000 steps of the walk", from: 64, most: 4096,
			prepare: func(_ context.Context, n int) (func() error, error) {
				cost := normal(source(n), n, n)
				cost.Apply(func(_, _ int, v float64) float64 { return min(v*v/9, 1) }, cost)
				l, err := mapping.NewRMP(rand.NewPCG(1, 2), n, n, mapping.RMPParams{M: 4})
				return func() error {
					_, err := l.Step(metric.CostRound{Cost: cost})
					return err
				}, err
			}})
	return append(all, secondHalf()...)
}

func normal(rng *rand.Rand, n, d int) *mat.Dense {
	x := mat.NewDense(n, d, nil)
	for i := range x.RawMatrix().Data {
		x.RawMatrix().Data[i] = rng.NormFloat64()
	}
	return x
}

func eigen(name string, vectors bool) work {
	return work{panel: matrices, name: name + " of a symmetric matrix", by: "n", from: 64, most: 4096,
		prepare: func(_ context.Context, n int) (func() error, error) {
			x, a := normal(source(n), n, n), mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i + 1 {
					a.SetSym(i, j, x.At(i, j))
				}
			}
			return func() error {
				var e spectral.EigenSym
				if !e.Factorize(a, vectors) {
					return fmt.Errorf("no eigenvalues")
				}
				return nil
			}, nil
		}}
}

// commands are those of metriclab, each on a CSV file of 20 features.
func commands(bin, scratch string) []work {
	const d = 20
	file := func(name string) string { return filepath.Join(scratch, name) }
	table := func(n int) (path string, err error) {
		path = file(fmt.Sprintf("rows%d.csv", n))
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		return path, writeTable(path, n, d)
	}
	run := func(name, fixed string, from, most int, args func(table string) []string) work {
		return work{panel: programs, name: name, by: "n", fixed: fixed, from: from, most: most,
			command: func(_ context.Context, n int) ([]string, error) {
				path, err := table(n)
				return append([]string{bin}, args(path)...), err
			}}
	}
	transform := run("metriclab transform", "d = 20", 2000, 1<<20, func(table string) []string {
		return []string{"transform", table, "--model", file("model.json"), "--out", file("embedded.csv")}
	})
	onRows := transform.command
	transform.command = func(ctx context.Context, n int) ([]string, error) {
		small, err := table(500)
		if err != nil {
			return nil, err
		}
		if text, err := exec.CommandContext(ctx, bin, "fit", small, "--label", "class", "--learner", "fda", "--out", file("model.json")).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("metriclab fit: %w\n%s", err, text)
		}
		return onRows(ctx, n)
	}
	return []work{
		transform,
		run("metriclab fit with FDA", "d = 20", 2000, 1<<20, func(table string) []string {
			return []string{"fit", table, "--label", "class", "--learner", "fda", "--out", file("fda.json")}
		}),
		run("metriclab fit with POLA", "d = 20, 1000 pairs", 2000, 1<<20, func(table string) []string {
			return []string{"fit", table, "--label", "class", "--learner", "pola", "--out", file("pola.json")}
		}),
		run("metriclab evaluate with FDA", "d = 20, 5 splits", 500, 1<<18, func(table string) []string {
			return []string{"evaluate", table, "--label", "class", "--learner", "fda", "--repeats", "1"}
		}),
	}
}

// writeTable writes the rows of grouped as CSV, a row at a time, so that this process stays
// small.
func writeTable(path string, n, d int) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	w.WriteString("class")
	for j := range d {
		fmt.Fprintf(w, ",x%d", j)
	}
	rng := source(n)
	means, _ := grouped(rng, classes, d)
	var line []byte
	for i := range n {
		line = strconv.AppendInt(append(line[:0], '\n'), int64(i%classes), 10)
		for j := range d {
			line = strconv.AppendFloat(append(line, ','), means.At(i%classes, j)+rng.NormFloat64()/float64(1+j), 'g', 6, 64)
		}
		w.Write(line)
	}
	w.WriteByte('\n')
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
