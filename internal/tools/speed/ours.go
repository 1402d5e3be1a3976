package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/spectral"
)

// answer is what `speed ours` prints. The matrices of the result lie beside the data.
type answer struct {
	Seconds float64 `json:"seconds"` // CPU time, the least of the runs
	Runs    int     `json:"runs"`
	Go      string  `json:"go"`
	Product string  `json:"product"`
	Commit  string  `json:"commit"`
	Machine string  `json:"machine"`
	// Of a fit that iterates.
	Status     string   `json:"status,omitempty"`
	Iterations int      `json:"iterations,omitempty"`
	Objective  *float64 `json:"objective,omitempty"`
}

// settings are those of params.json.
type settings struct {
	Runs    int     `json:"runs"`
	K       int     `json:"k"`
	N       int     `json:"n"`
	Loss    string  `json:"loss"`
	Tau     float64 `json:"tau"`
	Margin  float64 `json:"margin"`
	Starts  int     `json:"starts"`
	Tol     float64 `json:"tol"`
	Upper   float64 `json:"upper"`
	Lower   float64 `json:"lower"`
	Cycles  int     `json:"cycles"`
	Classes []int   `json:"classes"`
	Target  float64 `json:"target"` // objective at which a fit may stop; 0 is none
	Start   []int   `json:"start"`
	// Diagonal is the choice of MMC.
	Diagonal bool    `json:"diagonal"`
	Rate     float64 `json:"rate"`
	Steps    int     `json:"steps"` // of the random walk in a round; 0 is all sets
}

// peer is a work of `speed ours`: it reads matrices by their names in the folder,
// and returns what is timed. This fills in the result.
type peer func(ctx context.Context, in func(name string) *mat.Dense, s settings, r *result) func() error

type result struct {
	matrices  map[string]mat.Matrix
	status    *learners.Result
	objective *float64
}

var peers = map[string]peer{
	"product": func(_ context.Context, in func(string) *mat.Dense, _ settings, r *result) func() error {
		a, b := in("a"), in("b")
		n, _ := a.Dims()
		_, m := b.Dims()
		return func() error {
			dst := mat.NewDense(n, m, nil)
			product.Gemm(blas.NoTrans, blas.NoTrans, a.RawMatrix(), b.RawMatrix(), dst.RawMatrix())
			r.matrices = map[string]mat.Matrix{"product": dst}
			return nil
		}
	},
	"eigen": func(_ context.Context, in func(string) *mat.Dense, _ settings, r *result) func() error {
		a := in("a")
		n, _ := a.Dims()
		s := mat.NewSymDense(n, a.RawMatrix().Data)
		return func() error {
			var e spectral.EigenSym
			if !e.Factorize(s, true) {
				return errors.New("no eigenvalues")
			}
			var v mat.Dense
			e.VectorsTo(&v)
			r.matrices = map[string]mat.Matrix{"values": mat.NewDense(1, n, e.Values(nil)), "vectors": &v}
			return nil
		}
	},
	"knn": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x, q := in("x"), in("q")
		n, _ := x.Dims()
		queries, _ := q.Dims()
		return func() error {
			knn, err := nearest.NewKNN(metric.Euclidean{}, x, make([]int, n), nearest.KNNOptions{})
			if err != nil {
				return err
			}
			found, err := knn.Neighbours(ctx, q, s.K)
			if err != nil {
				return err
			}
			index, sq := mat.NewDense(queries, s.K, nil), mat.NewDense(queries, s.K, nil)
			for i, row := range found {
				for j, f := range row {
					index.Set(i, j, float64(f.Index))
					sq.Set(i, j, f.SqDist)
				}
			}
			r.matrices = map[string]mat.Matrix{"index": index, "sqdist": sq}
			return nil
		}
	},
	"pca": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x := in("x")
		return func() error {
			p, err := labels.FitPCA(ctx, x, s.K)
			if err == nil {
				v := p.Variances()
				r.matrices = map[string]mat.Matrix{"components": p.Components(), "variances": mat.NewDense(1, len(v), v)}
			}
			return err
		}
	},
	"fda": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x := in("x")
		return func() error {
			f, err := labels.FitFDA(ctx, x, s.Classes, labels.FDAParams{})
			if err == nil {
				r.matrices = map[string]mat.Matrix{"directions": f.Directions()}
			}
			return err
		}
	},
	"batch": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		ts := comparisons(in("triplets"))
		p := triplets.BatchParams{Tau: s.Tau}
		bad := p.Loss.UnmarshalText([]byte(s.Loss))
		return func() error {
			if bad != nil {
				return bad
			}
			b, err := triplets.FitBatch(ctx, s.N, ts, p)
			if err == nil {
				r.matrices, r.status, r.objective = map[string]mat.Matrix{"kernel": b.Kernel}, &b.Result, &b.Objective
			}
			return err
		}
	},
	"coordinates": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		ts := comparisons(in("triplets"))
		p := triplets.CoordinatesParams{Tau: s.Tau, Dim: s.K, Starts: s.Starts, Margin: s.Margin}
		bad := p.Loss.UnmarshalText([]byte(s.Loss))
		return func() error {
			if bad != nil {
				return bad
			}
			c, err := triplets.FitCoordinates(ctx, random.Seed{Base: 1, Experiment: "speed"}.Stream("coordinates"), s.N, ts, p)
			if err == nil {
				r.matrices, r.status, r.objective = map[string]mat.Matrix{"x": c.X}, &c.Result, &c.Objective
			}
			return err
		}
	},
	"itml": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x, links := in("x"), labelled(in("links"))
		return func() error {
			l, err := itml.Fit(ctx, x, links, itml.Params{Upper: s.Upper, Lower: s.Lower, MaxCycles: s.Cycles, Tol: s.Tol})
			if err == nil {
				r.matrices, r.status = map[string]mat.Matrix{"m": l.Metric.M()}, &l.Result
			}
			return err
		}
	},
	"mmc": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x, links := in("x"), labelled(in("links"))
		p := pairs.MMCParams{Diagonal: s.Diagonal}
		if s.Target > 0 { // the cap with which an objective is reached, by a fit that is not timed
			look := p
			look.Progress = func(now learners.Progress) {
				if p.MaxIterations == 0 && now.Objective >= s.Target {
					p.MaxIterations = now.Iteration
				}
			}
			if _, err := pairs.FitMMC(ctx, x, links, look); err != nil {
				return func() error { return err }
			}
		}
		return func() error {
			l, err := pairs.FitMMC(ctx, x, links, p)
			if err == nil {
				r.matrices, r.status, r.objective = map[string]mat.Matrix{"m": l.Metric.M()}, &l.Result, &l.Objective
			}
			return err
		}
	},
	// One pass over the pairs of rows of x and y, whose labels are in classes.
	"pola": func(_ context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x, y := in("x"), in("y")
		n, d := x.Dims()
		return func() error {
			l, err := pairs.NewPOLA(d, pairs.POLAParams{})
			for i := 0; i < n && err == nil; i++ {
				_, err = l.Step(metric.Pair{X: x.RawRowView(i), Y: y.RawRowView(i), Label: metric.Label(s.Classes[i])})
			}
			if err == nil {
				r.matrices = map[string]mat.Matrix{"m": l.Metric().M(), "threshold": mat.NewDense(1, 1, []float64{l.Threshold()})}
			}
			return err
		}
	},
	"erkle": func(_ context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		ts := comparisons(in("triplets"))
		return func() error {
			l, err := triplets.NewERKLE(s.N, triplets.ERKLEParams{})
			for i := 0; i < len(ts) && err == nil; i++ {
				_, err = l.Step(ts[i])
			}
			if err == nil {
				r.matrices = map[string]mat.Matrix{"kernel": l.Kernel()}
			}
			return err
		}
	},
	// A round for each row of costs, n of which are those of an object.
	"rmp": func(_ context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		costs := in("costs")
		all, b := costs.Dims()
		p := mapping.RMPParams{M: s.K, Eta: mapping.EtaFixed, Rate: s.Rate, Sampler: mapping.SampleEnumerate, ChainSteps: s.Steps}
		if s.Steps > 0 {
			p.Sampler = mapping.SampleMetropolis
		}
		return func() error {
			l, err := mapping.NewRMP(rand.NewPCG(1, 2), s.N, b, p)
			var losses, law []float64
			for i := 0; i < all && err == nil; i += s.N {
				var o learners.MapOutcome
				o, err = l.Step(metric.CostRound{Cost: costs.Slice(i, i+s.N, 0, b)})
				losses = append(losses, o.Loss)
			}
			if err != nil {
				return err
			}
			r.matrices = map[string]mat.Matrix{"losses": mat.NewDense(1, len(losses), losses)}
			if s.Steps > 0 {
				return nil
			}
			for _, p := range l.Sets() {
				law = append(law, p)
			}
			r.matrices["law"] = mat.NewDense(1, len(law), law)
			return nil
		}
	},
	"medoids": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		cost := in("cost")
		return func() error {
			m, err := cluster.FitFasterPAM(ctx, nil, cost, cluster.MedoidsParams{M: len(s.Start), Start: s.Start})
			if err == nil {
				r.status, r.objective = &m.Result, &m.Cost
			}
			return err
		}
	},
	// The folds of metriclab evaluate --seed 1 in its first repeat, for rows in its order.
	"folds": func(_ context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		given := in("classes").RawMatrix().Data
		y := make([]int, len(given))
		for i, c := range given {
			y[i] = int(c)
		}
		return func() error {
			seed := random.Seed{Base: 1, Experiment: "model/evaluate"}
			folds := mat.NewDense(1, len(y), nil)
			for i, f := range sample.StratifiedFolds(seed.Stream("folds"), y, s.K) {
				folds.Set(0, i, float64(f))
			}
			r.matrices = map[string]mat.Matrix{"folds": folds}
			return nil
		}
	},
	"lmnn": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x := in("x")
		p := labels.LMNNParams{K: s.K}
		if s.Target > 0 { // the cap with which the last look finds it, by a fit that is not timed
			reached := 0
			look := labels.LMNNParams{K: s.K, Progress: func(now learners.Progress) {
				if reached == 0 && now.Objective <= s.Target {
					reached = max(1, now.Iteration-1)
				}
			}}
			if _, err := labels.FitLMNN(ctx, x, s.Classes, look); err != nil {
				return func() error { return err }
			}
			p.MaxIterations = reached
		}
		return func() error {
			l, err := labels.FitLMNN(ctx, x, s.Classes, p)
			if err == nil {
				r.matrices, r.status, r.objective = map[string]mat.Matrix{"m": l.Metric.M()}, &l.Result, &l.Objective
			}
			return err
		}
	},
	"nca": func(ctx context.Context, in func(string) *mat.Dense, s settings, r *result) func() error {
		x := in("x")
		p := labels.NCAParams{Start: labels.NCAStartPCA}
		if s.Target > 0 { // as for lmnn; f is maximised
			reached := 0
			look := p
			look.Progress = func(now learners.Progress) {
				if reached == 0 && now.Objective >= s.Target {
					reached = now.Iteration
				}
			}
			if _, err := labels.FitNCA(ctx, source(0), x, s.Classes, look); err != nil {
				return func() error { return err }
			}
			p.MaxIterations = reached
		}
		return func() error {
			l, err := labels.FitNCA(ctx, source(0), x, s.Classes, p)
			if err == nil {
				r.matrices, r.status, r.objective = map[string]mat.Matrix{"m": l.Metric.M()}, &l.Result, &l.Objective
			}
			return err
		}
	},
}

// labelled are the rows (i, j, label) of a matrix.
func labelled(rows *mat.Dense) []metric.Link {
	m, _ := rows.Dims()
	links := make([]metric.Link, m)
	for i := range links {
		links[i] = metric.Link{I: int(rows.At(i, 0)), J: int(rows.At(i, 1)), Label: metric.Label(rows.At(i, 2))}
	}
	return links
}

// comparisons are the rows (a, near, far) of a matrix.
func comparisons(rows *mat.Dense) []metric.Triplet {
	m, _ := rows.Dims()
	ts := make([]metric.Triplet, m)
	for i := range ts {
		ts[i] = metric.Triplet{A: int(rows.At(i, 0)), Near: int(rows.At(i, 1)), Far: int(rows.At(i, 2))}
	}
	return ts
}

// ours does a work on the matrices in dir as often as params.json says, and writes the
// matrices of the result into dir, NAME.npy as ours-NAME.npy.
func ours(ctx context.Context, name, dir string, cpu func() time.Duration) (answer, error) {
	do, ok := peers[name]
	if !ok {
		var names []string
		for n := range peers {
			names = append(names, n)
		}
		slices.Sort(names)
		return answer{}, fmt.Errorf("there is no work %q, only %s", name, strings.Join(names, ", "))
	}
	raw, err := os.ReadFile(filepath.Join(dir, "params.json"))
	if err != nil {
		return answer{}, err
	}
	var s settings
	if err := json.Unmarshal(raw, &s); err != nil {
		return answer{}, fmt.Errorf("params.json: %w", err)
	}
	var r result
	var unread error
	op := do(ctx, func(name string) *mat.Dense {
		m, err := readNPY(filepath.Join(dir, name+".npy"))
		unread = errors.Join(unread, err)
		return m
	}, s, &r)
	if unread != nil {
		return answer{}, unread
	}
	h, _ := thisHead(0, time.Now())
	a := answer{Runs: max(1, s.Runs), Go: h.Go, Product: h.Product, Commit: h.Commit, Machine: h.Machine}
	for i := range a.Runs {
		start := cpu()
		if err := op(); err != nil {
			return answer{}, err
		}
		if took := (cpu() - start).Seconds(); i == 0 || took < a.Seconds {
			a.Seconds = took
		}
	}
	if r.status != nil {
		a.Status, a.Iterations = r.status.Status.String(), r.status.Iterations
	}
	a.Objective = r.objective
	for name, m := range r.matrices {
		var b bytes.Buffer
		if err := metric.WriteNPY(&b, m); err != nil {
			return answer{}, err
		}
		if err := os.WriteFile(filepath.Join(dir, "ours-"+name+".npy"), b.Bytes(), 0o644); err != nil {
			return answer{}, err
		}
	}
	return a, nil
}

// readNPY reads a matrix of float64; one that cannot be read is 1×1 beside the error.
func readNPY(path string) (*mat.Dense, error) {
	none := mat.NewDense(1, 1, nil)
	f, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	var m mat.Dense
	if err := npy.Read(f, &m); err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return &m, nil
}
