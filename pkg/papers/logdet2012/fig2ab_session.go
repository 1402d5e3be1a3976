package logdet2012

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/metric"
	"metriclab/pkg/random"
	"metriclab/pkg/sparse"
	"metriclab/pkg/text"
)

// textSession is what methods learn from, and what they are judged on.
type textSession struct {
	train, test   *sparse.Matrix
	trainY, testY []int
	links         []metric.Link // of rows of train, in random order
	k             int
	bounds        bounds
	median        float64 // of squared distances
	sizes         []int
	bases         []textBasis // by size
	lsa           [2]coordinates
	lmnnRows      []int // those of train that LMNN learns from
}

// coordinates are those of training and test documents, a row each.
type coordinates struct{ train, test *mat.Dense }

// first returns the first k coordinates.
func (c coordinates) first(k int) coordinates {
	at := func(x *mat.Dense) *mat.Dense {
		n, d := x.Dims()
		return x.Slice(0, n, 0, min(k, d)).(*mat.Dense)
	}
	return coordinates{at(c.train), at(c.test)}
}

// textBasis is a basis made of the class labels, the pairs in it, and the coordinates of the documents.
type textBasis struct {
	basis   *iplr.Basis
	problem *iplr.Problem
	coordinates
}

// places of LSA in a session.
const (
	notCentred = iota
	centred
)

// newTextSession draws pairs, takes u and ℓ, and makes all bases of the training documents.
func newTextSession(ctx context.Context, v *text.Vectorizer, bags []text.Bag, y, train, test []int, s textSettings, seed random.Seed, purpose string) (*textSession, error) {
	out := &textSession{k: s.K, sizes: s.Sizes}
	for _, part := range []struct {
		rows []int
		x    **sparse.Matrix
		y    *[]int
	}{{train, &out.train, &out.trainY}, {test, &out.test, &out.testY}} {
		docs := make([]text.Bag, len(part.rows))
		for i, d := range part.rows {
			docs[i] = bags[d]
			*part.y = append(*part.y, y[d])
		}
		var err error
		if *part.x, err = v.Matrix(docs); err != nil {
			return nil, err
		}
	}
	n, d := out.train.Dims()
	if n < s.K {
		return nil, fmt.Errorf("logdet2012: %s: %d training documents for %d neighbours", purpose, n, s.K)
	}
	var err error
	if out.links, err = sample.EachClassLinks(seed.Stream("pairs, "+purpose), out.trainY, s.Links); err != nil {
		return nil, err
	}
	all := numbers(n)
	if err := out.takeBounds(ctx, atMost(seed, "documents of bounds, "+purpose, all, s.Bounds)); err != nil {
		return nil, err
	}
	out.lmnnRows = atMost(seed, "LMNN documents, "+purpose, all, s.LMNN)

	most := min(slices.Max(s.Sizes), n, d)
	for i := range out.lsa {
		l, err := labels.FitLSA(ctx, out.train, labels.LSAParams{K: most, Centred: i == centred})
		if err != nil {
			return nil, err
		}
		out.lsa[i] = coordinates{l.Transform(out.train), l.Transform(out.test)}
	}
	for _, size := range s.Sizes {
		b := textBasis{}
		rng := seed.Stream(fmt.Sprintf("basis of %d, %s", size, purpose))
		if b.basis, err = iplr.ClassBasis(ctx, rng, out.train, out.trainY, iplr.ClassParams{K: size, Few: iplr.FewRandom}); err != nil {
			return nil, err
		}
		if b.problem, err = iplr.NewProblem(ctx, out.train, b.basis, out.links); err != nil {
			return nil, err
		}
		u := b.basis.Vectors().T()
		if b.train, err = out.train.Mul(ctx, u); err != nil {
			return nil, err
		}
		if b.test, err = out.test.Mul(ctx, u); err != nil {
			return nil, err
		}
		out.bases = append(out.bases, b)
	}
	return out, nil
}

// takeBounds sets u and ℓ to the percentiles of the squared Euclidean distances between all pairs of some training documents.
func (s *textSession) takeBounds(ctx context.Context, rows []int) error {
	x, err := s.train.Rows(rows)
	if err != nil {
		return err
	}
	g, err := x.Gram(ctx)
	if err != nil {
		return err
	}
	var sq []float64
	for i := range rows {
		for j := range i {
			sq = append(sq, max(g.At(i, i)-2*g.At(i, j)+g.At(j, j), 0))
		}
	}
	if s.bounds.upper, s.bounds.lower, err = boundsBy(itml.BoundPercentiles).OfSqDists(sq); err != nil {
		return err
	}
	slices.Sort(sq)
	s.median = sq[len(sq)/2]
	return nil
}

// basis returns that of a size.
func (s *textSession) basis(size int) textBasis { return s.bases[slices.Index(s.sizes, size)] }

func countOf(y []int) int {
	seen := map[int]bool{}
	for _, c := range y {
		seen[c] = true
	}
	return len(seen)
}

// emptyRows counts the rows without an entry.
func emptyRows(x *sparse.Matrix) int {
	n, _ := x.Dims()
	empty := 0
	for i := range n {
		if len(x.Row(i).Index) == 0 {
			empty++
		}
	}
	return empty
}

// arm is a metric on the documents, as far as ranks need it: the squared distance of query q and training document x is
//
//	‖x‖²_W − 2(qᵀx + a_qᵀb_x) + what only q decides,
//
// qᵀx only if whole. Of W = I + ULUᵀ, whole, a = Lz and b = z for the coordinates z = Uᵀx, and no dense distance is taken.
type arm struct {
	whole bool
	a, b  *mat.Dense // nil if there is no correction
	half  []float64  // ‖x‖²_W/2 of the training documents
}

// euclideanArm is W = I.
func (s *textSession) euclideanArm() arm {
	half := s.train.SqNorms()
	floats.Scale(0.5, half)
	return arm{whole: true, half: half}
}

// correctedArm is W = I + ULUᵀ for the coordinates z = Uᵀx.
func (s *textSession) correctedArm(z coordinates, l mat.Symmetric) arm {
	out := s.euclideanArm()
	var a, image mat.Dense
	a.Mul(z.test, l)
	image.Mul(z.train, l)
	out.a, out.b = &a, z.train
	for i := range out.half {
		out.half[i] += floats.Dot(image.RawRowView(i), z.train.RawRowView(i)) / 2
	}
	return out
}

// coordinateArm is the Euclidean distance between coordinates.
func coordinateArm(c coordinates) arm {
	n, _ := c.train.Dims()
	out := arm{a: c.test, b: c.train, half: make([]float64, n)}
	for i := range out.half {
		row := c.train.RawRowView(i)
		out.half[i] = floats.Dot(row, row) / 2
	}
	return out
}

// textBlock is the number of queries that are answered together.
const textBlock = 128

// wrong counts, for each metric, the test documents that their k nearest training documents classify wrongly. Equal distances
// go by the order of the training documents; of classes with equal votes that of the nearest wins. The sparse inner products
// of a block of queries are taken once for all metrics.
func (s *textSession) wrong(ctx context.Context, arms []arm) ([]int, error) {
	n, m := len(s.trainY), len(s.testY)
	postings, err := sparse.NewPostings(s.train)
	if err != nil {
		return nil, err
	}
	whole := slices.ContainsFunc(arms, func(a arm) bool { return a.whole })
	block := min(textBlock, m)
	gram, inner := make([]float64, block*n), make([]float64, block*n)
	wrong := make([]int, len(arms))
	best := newNearestRows(s.k)
	for lo := 0; lo < m; lo += block {
		rows := min(block, m-lo)
		for q := 0; whole && q < rows; q++ {
			postings.Dots(gram[q*n:(q+1)*n], s.test.Row(lo+q))
		}
		for i, a := range arms {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if a.a != nil {
				part := a.a.Slice(lo, lo+rows, 0, a.a.RawMatrix().Cols).(*mat.Dense)
				product.Gemm(blas.NoTrans, blas.Trans, part.RawMatrix(), a.b.RawMatrix(), blas64.General{Rows: rows, Cols: n, Stride: n, Data: inner})
			}
			for q := range rows {
				best.reset()
				g, in := gram[q*n:(q+1)*n], inner[q*n:(q+1)*n]
				switch {
				case a.whole && a.a != nil:
					for j, h := range a.half {
						best.offer(j, h-(g[j]+in[j]))
					}
				case a.whole:
					for j, h := range a.half {
						best.offer(j, h-g[j])
					}
				default:
					for j, h := range a.half {
						best.offer(j, h-in[j])
					}
				}
				if best.vote(s.trainY) != s.testY[lo+q] {
					wrong[i]++
				}
			}
		}
	}
	return wrong, nil
}

// nearestRows are the k rows of the smallest numbers offered, ascending, equal ones as they came.
type nearestRows struct {
	k     int
	row   []int
	value []float64
	limit float64
}

func newNearestRows(k int) *nearestRows {
	return &nearestRows{k: k, row: make([]int, 0, k+1), value: make([]float64, 0, k+1)}
}

func (b *nearestRows) reset() { b.row, b.value = b.row[:0], b.value[:0] }

func (b *nearestRows) offer(row int, value float64) {
	if len(b.row) == b.k && !(value < b.limit) {
		return
	}
	at := len(b.value)
	for at > 0 && value < b.value[at-1] {
		at--
	}
	b.row, b.value = slices.Insert(b.row, at, row), slices.Insert(b.value, at, value)
	if len(b.row) > b.k {
		b.row, b.value = b.row[:b.k], b.value[:b.k]
	}
	b.limit = b.value[len(b.value)-1]
}

// vote returns the class with most rows; of several that of the nearest.
func (b *nearestRows) vote(y []int) int {
	best, most := 0, 0
	for i, r := range b.row {
		votes := 0
		for _, o := range b.row[i:] { // of a class that stood before, fewer than there
			if y[o] == y[r] {
				votes++
			}
		}
		if votes > most {
			best, most = y[r], votes
		}
	}
	return best
}

// textMethod makes a metric of a basis of a size.
type textMethod struct {
	name       string
	candidates []candidate // of equally good ones the first is chosen
	// fit tells pairs, if not nil, of those that it cannot use.
	fit func(ctx context.Context, s *textSession, size int, c candidate, b budget, pairs func(at string, value, of int)) (a arm, stopped bool, err error)
}

// textMethodsOf returns the methods in the order of textMethods.
func textMethodsOf(s textSettings) []textMethod {
	gammas, margins := gammasOf(s.Gammas), marginsOf(s.Targets, s.Mus)
	// still is a method without a fit.
	still := func(name string, of func(s *textSession, size int) arm) textMethod {
		return textMethod{name, fixed, func(_ context.Context, s *textSession, size int, _ candidate, _ budget, _ func(string, int, int)) (arm, bool, error) {
			return of(s, size), false, nil
		}}
	}
	all := []textMethod{
		{logDetLinear, gammas, fitIPLR(iplr.InfeasibleSlack, 1)},
		{logDetDropped, gammas, fitIPLR(iplr.InfeasibleDrop, 1)},
		{logDetFar, gammas, fitIPLR(iplr.InfeasibleSlack, 2)},
		{lmnn, margins, fitTextLMNN(func(s *textSession, size int) coordinates { return s.lsa[centred].first(size) })},
		{basisLMNN, margins, fitTextLMNN(func(s *textSession, size int) coordinates { return s.basis(size).coordinates })},
		{scaledI, weightsOf("t", s.Ts), fitScalar},
		still(lsa, func(s *textSession, size int) arm { return coordinateArm(s.lsa[centred].first(size)) }),
		still(plainLSA, func(s *textSession, size int) arm { return coordinateArm(s.lsa[notCentred].first(size)) }),
		still(basisAlone, func(s *textSession, size int) arm { return coordinateArm(s.basis(size).coordinates) }),
		still(euclidean, func(s *textSession, _ int) arm { return s.euclideanArm() }),
	}
	out := make([]textMethod, len(textMethods))
	for i, name := range textMethods {
		out[i] = all[slices.IndexFunc(all, func(m textMethod) bool { return m.name == name })]
	}
	return out
}

// fitIPLR learns F in the basis, with ℓ times far.
func fitIPLR(rule iplr.InfeasibleRule, far float64) func(context.Context, *textSession, int, candidate, budget, func(string, int, int)) (arm, bool, error) {
	return func(ctx context.Context, s *textSession, size int, c candidate, b budget, pairs func(string, int, int)) (arm, bool, error) {
		basis := s.basis(size)
		r, err := basis.problem.Fit(ctx, iplr.Params{
			Gamma: c.gamma, Upper: s.bounds.upper, Lower: far * s.bounds.lower, Infeasible: rule, MaxCycles: b.cycles(len(s.links)),
		})
		if err != nil {
			return arm{}, false, err
		}
		if pairs != nil {
			similar := similarIn(s.links)
			pairs(infeasiblePairs, len(r.Infeasible), similar)
			pairs(vacuousPairs, r.Vacuous, len(s.links)-similar)
			pairs(skippedPairs, r.Skipped, len(s.links))
		}
		return s.correctedArm(basis.coordinates, minusIdentity(r.F)), r.Status != learners.Converged, nil
	}
}

// minusIdentity returns F − I.
func minusIdentity(f mat.Symmetric) *mat.SymDense {
	k := f.SymmetricDim()
	l := mat.NewSymDense(k, nil)
	l.CopySym(f)
	for i := range k {
		l.SetSym(i, i, l.At(i, i)-1)
	}
	return l
}

// fitScalar is W = I + tUUᵀ: the basis with one number.
func fitScalar(_ context.Context, s *textSession, size int, c candidate, _ budget, _ func(string, int, int)) (arm, bool, error) {
	basis := s.basis(size)
	l := mat.NewSymDense(basis.basis.Rank(), nil)
	for i := range basis.basis.Rank() {
		l.SetSym(i, i, c.weight)
	}
	return s.correctedArm(basis.coordinates, l), false, nil
}

// fitTextLMNN learns from some documents in coordinates.
func fitTextLMNN(in func(s *textSession, size int) coordinates) func(context.Context, *textSession, int, candidate, budget, func(string, int, int)) (arm, bool, error) {
	return func(ctx context.Context, s *textSession, size int, c candidate, b budget, _ func(string, int, int)) (arm, bool, error) {
		z := in(s, size)
		_, d := z.train.Dims()
		x, y := mat.NewDense(len(s.lmnnRows), d, nil), make([]int, len(s.lmnnRows))
		for i, r := range s.lmnnRows {
			x.SetRow(i, z.train.RawRowView(r))
			y[i] = s.trainY[r]
		}
		l, err := labels.FitLMNN(ctx, x, y, labels.LMNNParams{K: c.targets, Mu: c.mu, MaxIterations: b.Iterations})
		if err != nil {
			return arm{}, false, err
		}
		factor := l.Metric.Factor()
		if factor == nil {
			return arm{}, false, errors.New("logdet2012: LMNN: the metric is zero")
		}
		var train, test mat.Dense
		train.Mul(z.train, factor.T())
		test.Mul(z.test, factor.T())
		return coordinateArm(coordinates{&train, &test}), l.Status == learners.IterationCap || l.Status == learners.NoProgress, nil
	}
}
