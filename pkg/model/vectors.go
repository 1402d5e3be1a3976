package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/cores"
	"metriclab/internal/matrix"
	"metriclab/internal/product"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/vectors"
)

// VectorVersion changes whenever Fit gives another model for the same vectors, pairs and recipe, apart from changes of the
// learners, which have versions of their own.
const VectorVersion = 2 // 1 gave vectors of zeros a direction under Unit

// pairSquare is the mean squared distance of the training pairs once vectors are scaled. It is halfway between the targets that
// lego has by default, and in the range where the thresholds of pola and pa move.
const pairSquare = 5

// Vectors is a metric of vectors without columns, learned from pairs or relative comparisons of them. It is immutable and safe for concurrent use.
type Vectors struct {
	recipe    Recipe
	version   int     // VectorVersion of the fit
	learner   int     // version
	scale     float64 // of vectors, after Unit
	metric    embedder
	threshold float64 // NaN if not known
	none      bool    // the best threshold lies below all distances, and so below 0, which a file does not have
	similar   int     // training pairs
	other     int
	triplets  int // training comparisons
	report    Report
}

// Recipe returns what the model was fitted by, all defaults filled in; the zero value of a model that no Fit made.
func (m *Vectors) Recipe() Recipe { return m.made().recipe.clone() }

// LearnerVersion returns the version of the learner that fitted the model.
func (m *Vectors) LearnerVersion() int { return m.made().learner }

// Dim returns the length d of the vectors.
func (m *Vectors) Dim() int { return m.made().metric.Dim() }

// Rows returns the number r of coordinates, at least 1: a metric of rank 0 has the coordinate 0.
func (m *Vectors) Rows() int { return max(1, m.made().metric.Rows()) }

// Threshold returns the squared distance up to which pairs are taken for similar: the one with the fewest errors on the training pairs. It is NaN where there
// is none.
func (m *Vectors) Threshold() float64 { return m.made().threshold }

// Report returns what there is to say of the fit. A loaded model has none: the zero value.
func (m *Vectors) Report() Report { return m.made().report }

func (m *Vectors) made() *Vectors {
	if m == nil || m.metric == nil {
		panic("model: Vectors: zero value, use Fit or LoadVectors")
	}
	return m
}

// Factor returns L, r×d, such that the coordinates of x are Lx, or Lx/‖x‖ if the recipe has Unit. It returns an error if it does not fit limits.Memory.
func (m *Vectors) Factor() (*metric.Mahalanobis, error) {
	linear, err := linearOf(m.made().metric)
	if err != nil || m.scale == 1 {
		return linear, err
	}
	l := linear.Factor()
	if l == nil {
		return linear, nil
	}
	l.Scale(m.scale, l)
	return metric.FromFactor(l), nil
}

// linearOf returns a metric as one with a factor; ErrKernel if it has none.
func linearOf(m catalog.Distance) (*metric.Mahalanobis, error) {
	switch d := m.(type) {
	case *metric.Mahalanobis:
		return d, nil
	case *metric.LowRank:
		return d.Mahalanobis()
	}
	return nil, ErrKernel
}

// prepare makes rows ready for the metric, in place.
func (m *Vectors) prepare(x *mat.Dense) {
	if m.recipe.Unit {
		matrix.ToUnit(x)
	}
	if m.scale != 1 {
		x.Scale(m.scale, x)
	}
}

// Embed returns the n×r matrix of coordinates of the rows of x, n×d, between which Euclidean distances are those of the metric. It
// returns an error that names row and column of a coordinate that overflows, and one for a row of zeros if the recipe has Unit. It panics if x is nil or does not have d columns.
func (m *Vectors) Embed(x mat.Matrix) (*mat.Dense, error) {
	p := mat.DenseCopyOf(x)
	if _, z := m.made().undirected(p, 0); z.Count > 0 {
		return nil, undirected(z)
	}
	m.prepare(p)
	z := m.metric.EmbedRows(p)
	return z, checkCoordinates(z, 0)
}

// undirected tells which rows of x the metric cannot take, since they are zeros and the recipe has Unit; nil for none. Row 0 of x is row first of a file.
func (m *Vectors) undirected(x *mat.Dense, first int) ([]bool, vectors.Zeros) {
	if !m.recipe.Unit {
		return nil, vectors.Zeros{}
	}
	return zeroRows(x, func(i int) int { return first + i })
}

// truncated returns the metric of the k largest eigenvalues of M, and the share of the trace that the others have.
func truncated(m catalog.Distance, k int) (catalog.Distance, float64, error) {
	full, err := linearOf(m)
	if err != nil {
		return nil, 0, err
	}
	l := full.Factor()
	if l == nil {
		return full, 0, nil
	}
	var trace, kept float64
	for i := range full.Rows() {
		row := l.RawRowView(i)
		trace += floats.Dot(row, row)
	}
	values, axes := full.Principal(min(k, full.Rows(), full.Dim()))
	rank := 0
	for i, value := range values {
		if value <= metric.PSDTolerance*values[0] {
			break
		}
		kept += value
		floats.Scale(math.Sqrt(value), axes.RawRowView(i))
		rank++
	}
	if rank == 0 || math.IsInf(kept, 0) {
		return full, 0, nil
	}
	lost := 0.0
	if rank == k { // otherwise only round-off is cut off
		lost = max(0, 1-kept/trace)
	}
	return metric.FromFactor(axes.Slice(0, rank, 0, full.Dim())), lost, nil
}

// embedTogether is how many vectors sqDists embeds at once at least, if there are as many. The bits of a product of gonum, which matrix.Mul takes for few
// coordinates, depend on whether the left factor has more than 3 blocks of 64 rows.
const embedTogether = 256

// sqDists returns the squared distances of links between vectors of x. It embeds them in blocks of about so many numbers. It keeps all coordinates if they take at most so
// many bytes; else it goes link by link, in the order of the first vector, so that memory does not depend on how many vectors there are.
func sqDists(ctx context.Context, m embedder, x *fileRows, links []metric.Link, numbers int, bytes int64) ([]float64, error) {
	n, d := x.Dims()
	most := max(2, min(n, max(embedTogether, numbers/max(d, m.Rows()))))
	if err := limits.Check(fmt.Sprintf("%d vectors and their coordinates", most), limits.Product(8, most, d+m.Rows())); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if most >= n && x.held == n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		z := m.EmbedRows(x.kept)
		if err := checkCoordinates(z, 0); err != nil {
			return nil, err
		}
		return sqDistsOf(metric.Euclidean{}, z, links), nil
	}
	block := mat.NewDense(most, d, nil)
	embed := func(at []int) (*mat.Dense, error) { // the vectors of block
		z := m.EmbedRows(block.Slice(0, max(len(at), min(most, embedTogether)), 0, d)) // rows left from the last block do no harm
		_, r := z.Dims()
		for p, i := range at {
			if err := checkCoordinates(z.Slice(p, p+1, 0, r).(*mat.Dense), i); err != nil {
				return nil, err
			}
		}
		return z, ctx.Err()
	}
	if size := limits.Floats(n, max(1, m.Rows())); size <= min(bytes, limits.Memory()) {
		all := mat.NewDense(n, max(1, m.Rows()), nil)
		for first := 0; first < n; first += most {
			var at []int
			for i := first; i < min(first+most, n); i++ {
				block.SetRow(len(at), x.RawRowView(i))
				at = append(at, i)
			}
			z, err := embed(at)
			if err != nil {
				return nil, err
			}
			for p, i := range at {
				all.SetRow(i, z.RawRowView(p))
			}
		}
		return sqDistsOf(metric.Euclidean{}, all, links), nil
	}
	order := make([]int, len(links))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(links[a].I, links[b].I) })
	sq := make([]float64, len(links))
	for len(order) > 0 {
		var at []int
		place := map[int]int{} // in block
		these := 0             // links of order
		for ; these < len(order) && len(at)+2 <= most; these++ {
			for _, i := range []int{links[order[these]].I, links[order[these]].J} {
				if _, there := place[i]; !there {
					block.SetRow(len(at), x.RawRowView(i))
					place[i] = len(at)
					at = append(at, i)
				}
			}
		}
		z, err := embed(at)
		if err != nil {
			return nil, err
		}
		for _, k := range order[:these] {
			sq[k] = metric.Euclidean{}.SqDist(z.RawRowView(place[links[k].I]), z.RawRowView(place[links[k].J]))
		}
		order = order[these:]
	}
	return sq, nil
}

// vectorBlock is about how many numbers a goroutine of Transform holds of vectors, and of coordinates, at most; vectorBlocks how many all hold.
const vectorBlock, vectorBlocks = 1 << 19, 1 << 20

// vectorWorkers bounds the goroutines of Transform, each of which a product takes 2 MB for; with more the file is the bottleneck.
const vectorWorkers = 8

// Transform writes the coordinates of all vectors of a file, in blocks. Memory does not depend on the length of the file. It is a block of at most 4 MB of
// vectors, and as much of coordinates, for each idle core, at most 8, and 8 MB for all together; a row may take more. It returns the errors of
// both files, the first one of the lowest row, and the one of ctx. The metric of rank 0 gives ErrZero. The caller commits out. It panics if the files do not
// fit each other or the model.
func (m *Vectors) Transform(ctx context.Context, in *vectors.File, out *vectors.Writer, p Progress) error {
	d, r := m.Dim(), m.Rows()
	if m.metric.Rows() == 0 {
		return fmt.Errorf("model: %w; more pairs or passes may help", ErrZero)
	}
	if in.Dim() != d {
		panic(fmt.Sprintf("model: Vectors: Transform: vectors of %d numbers, want %d", in.Dim(), d))
	}
	workers := min(runtime.GOMAXPROCS(0), vectorWorkers)
	per := max(1, min(vectorBlock, vectorBlocks/workers)/max(d, r))
	blocks := (in.Rows() + per - 1) / per
	var l *mat.Dense // L, if the metric is kept as that
	if a, ok := m.metric.(*metric.Mahalanobis); ok {
		l = a.Factor()
	}
	var mu sync.Mutex
	next, done, failed := 0, 0, blocks
	var first error
	var zeros vectors.Zeros
	cores.Do(min(workers, blocks), func(int) {
		var buffer, z []float64
		for {
			mu.Lock()
			b := next
			next++
			stop := b >= failed || ctx.Err() != nil
			mu.Unlock()
			if stop {
				return
			}
			if buffer == nil {
				buffer, z = make([]float64, min(per, in.Rows())*d), make([]float64, min(per, in.Rows())*r)
			}
			top := b * per
			n := min(per, in.Rows()-top)
			none, err := m.transformBlock(in, out, l, buffer[:n*d], z[:n*r], top)
			mu.Lock()
			zeros.Join(none)
			if err != nil && b < failed {
				failed, first = b, err
			}
			if done += n; p != nil {
				p(done, in.Rows())
			}
			mu.Unlock()
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	if first == nil && zeros.Count > 0 {
		return undirected(zeros)
	}
	return first
}

// transformBlock embeds rows from top on, by l if it is not nil. It has buffer for the vectors and z for the coordinates. Where vectors have no direction it writes nothing.
func (m *Vectors) transformBlock(in *vectors.File, out *vectors.Writer, l *mat.Dense, buffer, z []float64, top int) (vectors.Zeros, error) {
	if err := in.ReadRows(buffer, top); err != nil {
		return vectors.Zeros{}, err
	}
	x := mat.NewDense(len(buffer)/in.Dim(), in.Dim(), buffer)
	if _, none := m.undirected(x, top); none.Count > 0 {
		return none, nil
	}
	m.prepare(x)
	if l == nil {
		z = m.metric.EmbedRows(x).RawMatrix().Data
	} else {
		// Not by gonum, whose bits for few coordinates depend on the size of a block, and so on the cores.
		product.Gemm(blas.NoTrans, blas.Trans, x.RawMatrix(), l.RawMatrix(), mat.NewDense(x.RawMatrix().Rows, m.Rows(), z).RawMatrix())
	}
	return vectors.Zeros{}, out.WriteRows(z, top) // which refuses what overflows
}

// VectorsKind is the kind under which package persist stores a Vectors.
const VectorsKind = "model/vectors"

// vectorRecipe is what a file has of a Recipe; the parameters of the file.
type vectorRecipe struct {
	Learner  string            `json:"learner"`
	Params   map[string]string `json:"params"`
	Triplets bool              `json:"triplets,omitempty"`
	Passes   int               `json:"passes,omitempty"`
	Rank     int               `json:"rank,omitempty"`
	Unit     bool              `json:"unit"`
	Raw      bool              `json:"raw"`
}

// vectorState is what Save writes.
type vectorState struct {
	Version    int             `json:"version"`
	Learner    int             `json:"learner_version"`
	Scale      float64         `json:"scale"`
	Threshold  float64         `json:"threshold"` // 0 of comparisons, which give none
	Similar    int             `json:"similar"`
	Dissimilar int             `json:"dissimilar"`
	Triplets   int             `json:"triplets,omitempty"`
	Metric     json.RawMessage `json:"metric"` // a file of its own kind
}

// Save writes the model in the format of package persist, kind "model/vectors". A model loaded from it embeds to the same bits. It returns an
// error if the model was not made by Fit.
func (m *Vectors) Save(w io.Writer) error {
	if m.made().recipe.Learner == "" {
		return errors.New("model: only what was fitted to vectors is saved as their model")
	}
	var inner bytes.Buffer
	if err := m.metric.(interface{ Save(io.Writer) error }).Save(&inner); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	threshold := m.threshold
	if m.triplets > 0 {
		threshold = 0
	}
	r := vectorRecipe{m.recipe.Learner, m.recipe.Params, m.triplets > 0, m.recipe.Passes, m.recipe.Rank, m.recipe.Unit, m.recipe.Raw}
	return persist.Write(w, VectorsKind, r, vectorState{m.version, m.learner, m.scale, threshold, m.similar, m.other, m.triplets, inner.Bytes()})
}

// LoadVectors reads a model that Save wrote, or another file with a metric that is a linear map of vectors as they are: a saved metric, or the state of an
// online learner of pairs. These have no recipe; the threshold of a learner is its own. Its errors wrap those of package persist.
func LoadVectors(r io.Reader) (*Vectors, error) {
	raw, err := persist.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("persist: %w", err)
	}
	env, err := persist.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	switch env.Kind {
	case VectorsKind:
		return loadVectors(raw)
	case metric.Kind, metric.LowRankKind:
		a, err := loadMetric(raw)
		if err != nil {
			return nil, err
		}
		return &Vectors{scale: 1, metric: a.(embedder), threshold: math.NaN()}, nil
	}
	e, err := catalog.OfKind(VectorLearners(), env.Kind)
	if err != nil {
		return nil, fmt.Errorf("file is %w: it holds %q, want %s, a metric, or an online learner of pairs whose metric is a linear map", persist.ErrKind, env.Kind, VectorsKind)
	}
	l, err := catalog.As[learners.PairMetric](e.Load(bytes.NewReader(raw)))
	if err != nil {
		return nil, err
	}
	return &Vectors{scale: 1, metric: l.Metric(), threshold: l.Threshold()}, nil
}

func loadVectors(raw []byte) (*Vectors, error) {
	m := &Vectors{}
	var s vectorState
	var r vectorRecipe
	if err := persist.Load(bytes.NewReader(raw), VectorsKind, &r, &s); err != nil {
		return nil, err
	}
	m.recipe = Recipe{Learner: r.Learner, Params: r.Params, Passes: r.Passes, Rank: r.Rank, Seed: 1, Unit: r.Unit, Raw: r.Raw}
	damaged := func(format string, args ...any) (*Vectors, error) {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, VectorsKind, fmt.Errorf(format, args...))
	}
	learned, err := loadMetric(s.Metric)
	if err != nil {
		return damaged("metric: %w", err)
	}
	switch learned.(type) {
	case *metric.Mahalanobis, *metric.LowRank:
	default:
		return damaged("metric: a %T is not allowed", learned)
	}
	m.version, m.learner, m.scale, m.threshold, m.similar, m.other, m.triplets, m.metric = s.Version, s.Learner, s.Scale, s.Threshold, s.Similar, s.Dissimilar, s.Triplets, learned.(embedder)
	switch {
	case m.recipe.Learner == "" || m.recipe.Params == nil || m.recipe.Passes < 0 || m.recipe.Passes > MaxPasses || m.recipe.Rank < 0 || m.recipe.Rank > m.metric.Dim():
		return damaged("recipe %+v is not complete", m.recipe)
	case !(m.scale > 0) || m.recipe.Raw && m.scale != 1:
		return damaged("scale %v", m.scale)
	case !(m.threshold >= 0) || r.Triplets && m.threshold > 0:
		return damaged("threshold %v, want at least 0, and 0 of comparisons", m.threshold)
	case (m.triplets > 0) != r.Triplets || r.Triplets && m.similar+m.other > 0:
		return damaged("%d comparisons and %d pairs, of a recipe that learns from %s", m.triplets, m.similar+m.other, map[bool]string{true: "comparisons", false: "pairs"}[r.Triplets])
	case m.similar < 0 || m.other < 0 || m.learner < 0 || m.version < 0:
		return damaged("%d similar and %d dissimilar pairs, versions %d and %d", m.similar, m.other, m.learner, m.version)
	}
	if r.Triplets {
		m.threshold = math.NaN()
	}
	return m, nil
}

// vectorRows are successive vectors of a file.
type vectorRows struct {
	first int
	z     *mat.Dense    // their coordinates
	none  []bool        // those that have no direction, and wrong coordinates; nil for none
	zeros vectors.Zeros // the same, counted
}

// blocks reads the vectors of a file in blocks, and yields their coordinates. An error ends the sequence.
func (m *Vectors) blocks(ctx context.Context, f *vectors.File) iter.Seq2[vectorRows, error] {
	return func(yield func(vectorRows, error) bool) {
		per := max(1, vectorBlock/max(m.Dim(), m.Rows()))
		buffer := make([]float64, min(per, f.Rows())*f.Dim())
		for first := 0; first < f.Rows(); first += per {
			n := min(per, f.Rows()-first)
			err := ctx.Err()
			if err == nil {
				err = f.ReadRows(buffer[:n*f.Dim()], first)
			}
			if err != nil {
				yield(vectorRows{}, err)
				return
			}
			x := mat.NewDense(n, f.Dim(), buffer[:n*f.Dim()])
			b := vectorRows{first: first}
			b.none, b.zeros = m.undirected(x, first)
			m.prepare(x)
			b.z = m.metric.EmbedRows(x)
			if err := checkCoordinates(b.z, first); err != nil {
				yield(vectorRows{}, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// EmbedFile yields the coordinates of the vectors of a file, block by block: memory does not depend on its length. An error ends the sequence: those of the file and of Embed, ErrZero
// for the metric of rank 0, and the one of ctx. It panics if the file does not have the dimension of the model.
func (m *Vectors) EmbedFile(ctx context.Context, f *vectors.File) iter.Seq2[*Block, error] {
	if f.Dim() != m.Dim() {
		panic(fmt.Sprintf("model: Vectors: EmbedFile: vectors of %d numbers, want %d", f.Dim(), m.Dim()))
	}
	return func(yield func(*Block, error) bool) {
		if m.metric.Rows() == 0 {
			yield(nil, fmt.Errorf("model: %w; more pairs or passes may help", ErrZero))
			return
		}
		for b, err := range m.blocks(ctx, f) {
			if err == nil && b.zeros.Count > 0 {
				err = undirected(b.zeros)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&Block{First: b.first, Z: b.z, Total: f.Rows()}, nil) {
				return
			}
		}
	}
}

// CostOfEmbed estimates the time to embed vectors, and to write their coordinates as text or not.
func (m *Vectors) CostOfEmbed(rows int, text bool) catalog.Cost {
	d, r := float64(m.Dim()), float64(m.Rows())
	number := 1e-8
	if text {
		number = 1.5e-7
	}
	return catalog.Cost{Seconds: float64(rows) * (1e-8*d + number*r + 1e-9*d*r)}
}

// CostOfNeighbours estimates the time to find the neighbours of queries among vectors.
func (m *Vectors) CostOfNeighbours(queries, rows int) catalog.Cost {
	return catalog.Cost{Seconds: float64(queries) * float64(rows) * (2e-8 + 4e-11*float64(m.Rows()))}
}

// Neighbours returns the k vectors of a file that are nearest to each row of queries under the metric, nearest first, of equal ones the first of the file.
// The file is read in blocks. If the recipe has Unit, vectors of zeros are no neighbours, and are counted; a query of zeros has no neighbours, and other queries have fewer than k
// if there are not as many. It returns an error unless 1 ≤ k ≤ the number of vectors, if no query has a direction or squared distances overflow, the errors of the file and of Embed, and the one of ctx. It panics if queries or the file does not have the dimension of the model.
func (m *Vectors) Neighbours(ctx context.Context, f *vectors.File, queries mat.Matrix, k int, p Progress) (found [][]nearest.Neighbour, zeros vectors.Zeros, err error) {
	fail := func(err error) ([][]nearest.Neighbour, vectors.Zeros, error) { return nil, vectors.Zeros{}, err }
	if f.Dim() != m.Dim() {
		panic(fmt.Sprintf("model: Vectors: Neighbours: vectors of %d numbers, want %d", f.Dim(), m.Dim()))
	}
	if k < 1 || k > f.Rows() {
		return fail(notAllowed("k: %d is not allowed, want 1 to %d, the number of vectors", k, f.Rows()))
	}
	asked := mat.DenseCopyOf(queries)
	none, undirected := m.undirected(asked, 0)
	nq, _ := asked.Dims()
	if undirected.Count == nq {
		return fail(errors.New("model: unit: the queries are zeros, without direction, so that they have no neighbours"))
	}
	at := make([]int, 0, nq) // of the queries that have neighbours
	for i := range nq {
		if none == nil || !none[i] {
			at = append(at, i)
		}
	}
	q, err := m.Embed(rowsOf(asked, at))
	if err != nil {
		return fail(err)
	}
	if err := limits.Check(fmt.Sprintf("%d neighbours of %d vectors", k, nq), limits.Product(16, nq, k+1)); err != nil {
		return fail(fmt.Errorf("model: %w", err))
	}
	lists := make([][]nearest.Neighbour, len(at))
	for b, err := range m.blocks(ctx, f) {
		if err != nil {
			return fail(err)
		}
		zeros.Join(b.zeros)
		nearer(lists, q, b.z, b.none, b.first, k)
		if p != nil {
			n, _ := b.z.Dims()
			p(b.first+n, f.Rows())
		}
	}
	found = make([][]nearest.Neighbour, nq)
	for j, i := range at {
		if n := len(lists[j]); n > 0 && math.IsInf(lists[j][n-1].SqDist, 1) {
			return fail(fmt.Errorf("model: queries: row %d: squared distances overflow float64: rescale the vectors", i))
		}
		found[i] = lists[j]
	}
	return found, zeros, nil
}

// nearer takes the rows of z, the first of which is row top, but for those to skip, into the lists of the k nearest of each row of q.
func nearer(lists [][]nearest.Neighbour, q, z *mat.Dense, skip []bool, top, k int) {
	n, _ := z.Dims()
	squares := make([]float64, n)
	for j := range squares {
		row := z.RawRowView(j)
		squares[j] = floats.Dot(row, row)
	}
	const chunk = 256 // queries at a time
	nq, r := q.Dims()
	for low := 0; low < nq; low += chunk {
		high := min(low+chunk, nq)
		dots := matrix.Mul(q.Slice(low, high, 0, r), z.T())
		for i := low; i < high; i++ {
			query := q.RawRowView(i)
			own := floats.Dot(query, query)
			for j, dot := range dots.RawRowView(i - low) {
				if skip != nil && skip[j] {
					continue
				}
				list := lists[i]
				// The sum tells what is far; the difference of the rows decides.
				if size := own + squares[j]; len(list) == k && size-2*dot > list[k-1].SqDist+1e-9*size {
					continue
				}
				sq := metric.Euclidean{}.SqDist(query, z.RawRowView(j))
				if len(list) == k && sq >= list[k-1].SqDist {
					continue
				}
				at, _ := slices.BinarySearchFunc(list, sq, func(a nearest.Neighbour, sq float64) int {
					if a.SqDist <= sq {
						return -1
					}
					return 1
				})
				list = slices.Insert(list, at, nearest.Neighbour{Index: top + j, SqDist: sq})
				lists[i] = list[:min(len(list), k)]
			}
		}
	}
}
