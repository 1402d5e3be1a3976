package bags

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
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/plots"
	"metriclab/pkg/random"
	"metriclab/pkg/sparse"
	"metriclab/pkg/text"
)

// The methods of Fig. 2(a, b) that no other figure has.
const (
	lsa = "LSA" // centred: "projecting the data via principal components analysis"

	// Readings and variations of LogDet Linear.
	logDetDropped = "LogDet Linear, infeasible pairs dropped"
	logDetFar     = "LogDet Linear, ℓ doubled"

	// Controls.
	plainLSA   = "LSA, not centred"
	basisAlone = "basis alone"
	scaledI    = "I + tUUᵀ"
	basisLMNN  = "LMNN in the basis"
)

// textMethods are all methods: those of the paper's legend first.
var textMethods = []string{protocol.LogDetLinear, lsa, protocol.Lmnn, protocol.Euclidean, logDetDropped, logDetFar, plainLSA, basisAlone, scaledI, basisLMNN}

// textMethodNames are all methods, or those other than LMNN.
func textMethodNames(lmnn bool) []string {
	return slices.DeleteFunc(slices.Clone(textMethods), func(m string) bool { return !lmnn && (m == protocol.Lmnn || m == basisLMNN) })
}

// textStyles are those of the methods that are shown.
var textStyles = protocol.StylesWith(plots.Styles{
	lsa:        {Color: plots.Vermillion, Dash: plots.Dashed},
	plainLSA:   {Color: plots.Orange, Dash: plots.Dashed},
	basisAlone: {Color: plots.Black, Dash: plots.LongDashed},
	scaledI:    {Color: plots.Sky},
	basisLMNN:  {Color: plots.Brown, Dash: plots.Dotted},
})

// textLines are those of the paper's figure, textControls what the second panel shows beside LogDet Linear.
var (
	textLines    = textMethods[:4]
	textControls = []string{protocol.LogDetLinear, basisAlone, scaledI, basisLMNN, plainLSA}
)

// textReading is a length of the documents' vectors, which the paper does not tell, with the number of training documents.
type textReading struct {
	// length is the cell of its rows, name what readers see.
	length, name string
	norm         text.Norm
	// train is the number of training documents, at most; 0 is all.
	train int
	// afterwards is what was known when it was added; see judge.Reading.
	afterwards string
}

// textReadings begin with that of the figure: its axis begins at 96 % for Euclidean distances on Classic3.
var textReadings = []textReading{
	{length: text.NormUnit.String(), name: "unit length", norm: text.NormUnit},
	{length: text.NormNone.String(), name: "tf-idf as it is", norm: text.NormNone, train: rawTrain},
	allRaw,
}

// rawTrain is the number of training documents, at most, of tf-idf as it is.
const rawTrain = 4000

// allRaw is tf-idf as it is with all training documents. Of a collection that has no more than rawTrain of them it has no rows: it is the
// reading before. It has no LMNN, which learns from as many documents there.
var allRaw = textReading{
	length: "none, all documents", name: "tf-idf as it is, all documents", norm: text.NormNone, afterwards: "the findings with at most 4,000 training documents",
}

// readings are those of a collection.
func (c collection) readings() []textReading {
	if c.large {
		return textReadings
	}
	return textReadings[:2]
}

// textSettings are what the paper fixes or leaves open.
type textSettings struct {
	// Panel is that of the figure, a or b.
	Panel      string    `key:"panel"`
	Collection string    `key:"collection"`
	Norm       text.Norm `key:"length"`
	// Terms is the number of words, those in most documents.
	Terms int `key:"words"`
	// K is the number of neighbours.
	K int `key:"k"`
	// Links is the number of similar and of dissimilar pairs per class.
	Links int `key:"links"`
	// Sizes are those of the basis, ascending.
	Sizes []int `key:"sizes"`
	// Gammas is the grid of γ, Ts that of the scalar t > −1.
	Gammas []float64 `key:"gammas"`
	Ts     []float64 `key:"ts"`
	// Targets and Mus are the grids of LMNN.
	Targets []int     `key:"targets"`
	Mus     []float64 `key:"mus"`
	// Final caps a fit to the training fold, Choice one of the inner cross-validation.
	Final  protocol.Budget `key:"final"`
	Choice protocol.Budget `key:"choice"`
	// Train is the number of training documents, at most, of which that many are drawn; 0 is all.
	Train int `key:"training documents,omitzero"`
	// Inner is that of the inner cross-validation, Bounds that of those between which u and ℓ are taken, and LMNN that of those from
	// which LMNN learns: drawn if there are more. If LMNN is 0, it does not run.
	Inner  int `key:"inner documents"`
	Bounds int `key:"documents of bounds"`
	LMNN   int `key:"LMNN documents"`
}

// collection is a panel of the figure.
type collection struct {
	panel, name, dataset string
	sizes                []int
	madeUp               string // in its place at smoke scale, with its topics and sizes of the basis
	topics               int
	madeUpSizes          []int
	large                bool // more than rawTrain documents in a training fold
}

var collections = []collection{
	{"a", "Classic3", "classic3", []int{2, 3, 4, 5}, "made-up news of 3 topics", 3, []int{2, 3, 4}, false},
	{"b", "20 Newsgroups", "20news", []int{5, 10, 15, 20, 25}, "made-up news of 4 topics", 4, []int{2, 4, 5}, true},
}

// The sizes that only texts have.
const (
	wordsOf        = "words"
	emptyTrain     = "training documents without a word"
	emptyTest      = "test documents without a word"
	innerDocuments = "documents of the inner cross-validation"
	lmnnDocuments  = "documents that LMNN learns from"
	boundDocuments = "documents of the bounds"
)

// What a fit cannot use.
const (
	infeasiblePairs = "infeasible"
	vacuousPairs    = "vacuous"
	skippedPairs    = "skipped"
)

// atMost returns rows, or n of them in their order, drawn, if there are more and n > 0.
func atMost(seed random.Seed, purpose string, rows []int, n int) []int {
	if n == 0 || len(rows) <= n {
		return rows
	}
	out := make([]int, n)
	for i, k := range sample.Choose(seed.Stream(purpose), len(rows), n) {
		out[i] = rows[k]
	}
	slices.Sort(out)
	return out
}

// textSession is what methods learn from, and what they are scored on.
type textSession struct {
	train, test   *sparse.Matrix
	trainY, testY []int
	links         []metric.Link // of rows of train, in random order
	k             int
	bounds        protocol.Bounds
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
	all := protocol.Numbers(n)
	if err := out.takeBounds(ctx, atMost(seed, "documents of bounds, "+purpose, all, s.Bounds)); err != nil {
		return nil, err
	}
	if s.LMNN > 0 {
		out.lmnnRows = atMost(seed, "LMNN documents, "+purpose, all, s.LMNN)
	}

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
	if s.bounds.Upper, s.bounds.Lower, err = protocol.BoundsBy(itml.BoundPercentiles).OfSqDists(sq); err != nil {
		return err
	}
	slices.Sort(sq)
	s.median = sq[len(sq)/2]
	return nil
}

// basis returns that of a size.
func (s *textSession) basis(size int) textBasis { return s.bases[slices.Index(s.sizes, size)] }

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

// Wrong counts, for each metric, the test documents that their k nearest training documents classify wrongly. Equal distances
// go by the order of the training documents; of classes with equal votes that of the nearest wins. The sparse inner products
// of a block of queries are taken once for all metrics.
func (s *textSession) Wrong(ctx context.Context, arms []arm) ([]int, error) {
	n, m := len(s.trainY), len(s.testY)
	postings, err := sparse.NewPostings(s.train)
	if err != nil {
		return nil, err
	}
	whole := slices.ContainsFunc(arms, func(a arm) bool { return a.whole })
	block := min(textBlock, m)
	gram, inner := make([]float64, block*n), make([]float64, block*n)
	wrong := make([]int, len(arms))
	best := NewNearestRows(s.k)
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
				best.Reset()
				g, in := gram[q*n:(q+1)*n], inner[q*n:(q+1)*n]
				switch {
				case a.whole && a.a != nil:
					for j, h := range a.half {
						best.Offer(j, h-(g[j]+in[j]))
					}
				case a.whole:
					for j, h := range a.half {
						best.Offer(j, h-g[j])
					}
				default:
					for j, h := range a.half {
						best.Offer(j, h-in[j])
					}
				}
				if best.Vote(s.trainY) != s.testY[lo+q] {
					wrong[i]++
				}
			}
		}
	}
	return wrong, nil
}

// NearestRows are the k rows of the smallest numbers offered, ascending, equal ones as they came.
type NearestRows struct {
	k     int
	row   []int
	value []float64
	limit float64
}

func NewNearestRows(k int) *NearestRows {
	return &NearestRows{k: k, row: make([]int, 0, k+1), value: make([]float64, 0, k+1)}
}

func (b *NearestRows) Reset() { b.row, b.value = b.row[:0], b.value[:0] }

func (b *NearestRows) Offer(row int, value float64) { // short, so that it is no call for most rows
	if len(b.row) < b.k || value < b.limit {
		b.insert(row, value)
	}
}

func (b *NearestRows) insert(row int, value float64) {
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

// Vote returns the class with most rows; of several that of the nearest.
func (b *NearestRows) Vote(y []int) int {
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
	candidates []protocol.Candidate // of equally good ones the first is chosen
	// fit tells pairs, if not nil, of those that it cannot use.
	fit func(ctx context.Context, s *textSession, size int, c protocol.Candidate, b protocol.Budget, pairs func(at string, value, of int)) (a arm, stopped bool, err error)
}

// textMethodsOf returns the methods that run, in the order of textMethods.
func textMethodsOf(s textSettings) []textMethod {
	gammas, margins := protocol.GammasOf(s.Gammas), protocol.MarginsOf(s.Targets, s.Mus)
	// still is a method without a fit.
	still := func(name string, of func(s *textSession, size int) arm) textMethod {
		return textMethod{name, protocol.Fixed, func(_ context.Context, s *textSession, size int, _ protocol.Candidate, _ protocol.Budget, _ func(string, int, int)) (arm, bool, error) {
			return of(s, size), false, nil
		}}
	}
	all := []textMethod{
		{protocol.LogDetLinear, gammas, fitIPLR(iplr.InfeasibleSlack, 1)},
		{logDetDropped, gammas, fitIPLR(iplr.InfeasibleDrop, 1)},
		{logDetFar, gammas, fitIPLR(iplr.InfeasibleSlack, 2)},
		{protocol.Lmnn, margins, fitTextLMNN(func(s *textSession, size int) coordinates { return s.lsa[centred].first(size) })},
		{basisLMNN, margins, fitTextLMNN(func(s *textSession, size int) coordinates { return s.basis(size).coordinates })},
		{scaledI, protocol.WeightsOf("t", s.Ts), fitScalar},
		still(lsa, func(s *textSession, size int) arm { return coordinateArm(s.lsa[centred].first(size)) }),
		still(plainLSA, func(s *textSession, size int) arm { return coordinateArm(s.lsa[notCentred].first(size)) }),
		still(basisAlone, func(s *textSession, size int) arm { return coordinateArm(s.basis(size).coordinates) }),
		still(protocol.Euclidean, func(s *textSession, _ int) arm { return s.euclideanArm() }),
	}
	names := textMethodNames(s.LMNN > 0)
	out := make([]textMethod, len(names))
	for i, name := range names {
		out[i] = all[slices.IndexFunc(all, func(m textMethod) bool { return m.name == name })]
	}
	return out
}

// fitIPLR learns F in the basis, with ℓ times far.
func fitIPLR(rule iplr.InfeasibleRule, far float64) func(context.Context, *textSession, int, protocol.Candidate, protocol.Budget, func(string, int, int)) (arm, bool, error) {
	return func(ctx context.Context, s *textSession, size int, c protocol.Candidate, b protocol.Budget, pairs func(string, int, int)) (arm, bool, error) {
		basis := s.basis(size)
		r, err := basis.problem.Fit(ctx, iplr.Params{
			Gamma: c.Gamma, Upper: s.bounds.Upper, Lower: far * s.bounds.Lower, Infeasible: rule, MaxCycles: b.Cycles(len(s.links)),
		})
		if err != nil {
			return arm{}, false, err
		}
		if pairs != nil {
			similar := protocol.SimilarIn(s.links)
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
func fitScalar(_ context.Context, s *textSession, size int, c protocol.Candidate, _ protocol.Budget, _ func(string, int, int)) (arm, bool, error) {
	basis := s.basis(size)
	l := mat.NewSymDense(basis.basis.Rank(), nil)
	for i := range basis.basis.Rank() {
		l.SetSym(i, i, c.Weight)
	}
	return s.correctedArm(basis.coordinates, l), false, nil
}

// fitTextLMNN learns from some documents in coordinates.
func fitTextLMNN(in func(s *textSession, size int) coordinates) func(context.Context, *textSession, int, protocol.Candidate, protocol.Budget, func(string, int, int)) (arm, bool, error) {
	return func(ctx context.Context, s *textSession, size int, c protocol.Candidate, b protocol.Budget, _ func(string, int, int)) (arm, bool, error) {
		z := in(s, size)
		_, d := z.train.Dims()
		x, y := mat.NewDense(len(s.lmnnRows), d, nil), make([]int, len(s.lmnnRows))
		for i, r := range s.lmnnRows {
			x.SetRow(i, z.train.RawRowView(r))
			y[i] = s.trainY[r]
		}
		l, err := labels.FitLMNN(ctx, x, y, labels.LMNNParams{K: c.Targets, Mu: c.Mu, MaxIterations: b.Iterations})
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
