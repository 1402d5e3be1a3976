package bags

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/experiment"
	"metriclab/pkg/kernels"
	"metriclab/pkg/kernels/sets"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/limits"
	"metriclab/pkg/localfeatures"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

// What the images are of. The names are those of cells.
const (
	digitsStandIn = "digits"
	caltechGrams  = "Caltech-101"
	caltechPhotos = "Caltech-101, our features"
)

// MadeUpDigits are the images of smoke scale, of Fig. 2(c, d) too.
const MadeUpDigits = "made-up digits"

// The base kernels of the figure.
const (
	kernelPMK  = "PMK"
	kernelCORR = "CORR"
	kernelSUM  = "SUM"
)

var imageKernels = []string{kernelPMK, kernelCORR, kernelSUM}

// What is done with a kernel; the name of a method is that and the kernel, as in the figure's legend: LogDet+PMK.
const (
	learnedNN = "LogDet"
	plainNN   = "NN"
	// rawNN, ours, has the similarities as they are, without clipping.
	rawNN    = "NN, not clipped"
	plainSVM = "SVM" // one machine per class
)

func imageMethod(rule, kernel string) string { return rule + "+" + kernel }

// imageSettings are what the paper fixes or leaves open.
type imageSettings struct {
	// Data is what the images are of.
	Data string `key:"data"`
	// Train are the numbers T of training images per class, ascending. All others of a class test.
	Train []int `key:"training images per class"`
	// PerClass is the number of images that a trial draws of a class, at most; 0 is all.
	PerClass int `key:"images per class,omitzero"`
	// Links is the number of similar and of dissimilar pairs per class.
	Links int `key:"links"`
	// Gammas is the grid of γ, Cs that of the SVM's C.
	Gammas []float64 `key:"gammas"`
	Cs     []float64 `key:"cs"`
	// Final caps a fit to the training images, Choice one of the inner cross-validation: projections of LogDet, passes of the SVM.
	Final  protocol.Budget `key:"final"`
	Choice protocol.Budget `key:"choice"`
	// Local are the features and kernels of images, where these are not supplied.
	Local localSettings `key:"local,omitzero"`
}

// localSettings describe an image and compare sets of its features. Positions are in units of the longer side. None was tuned.
type localSettings struct {
	// Side is the longer side in pixels to which photographs are reduced; 0 leaves images as they are.
	Side int
	// Points is the largest number of edge points.
	Points int
	// Grid is the side of the finest bins of positions, Turn that of a component of the gradient's direction, both of PMK.
	Grid, Turn float64
	// Cell is the side of the finest bins of the spatial pyramid, Words the number of its words: sectors of directions.
	Cell  float64
	Words int
	// Lambda is the weight of squared distances between positions beside those between descriptors, in CORR.
	Lambda float64
}

// The sizes that only images have.
const (
	featuresPerImage = "features per image"
	testImages       = "test images, most"
)

// imageData is what a trial knows of its images.
type imageData struct {
	y     []int   // class of each image
	order [][]int // of each class, its images in random order: the first ones train
	// features is the mean number of features per image; 0 if kernels are supplied.
	features float64
	// similarities returns a kernel between all images.
	similarities func(ctx context.Context, kernel string) (mat.Matrix, error)
}

// parted returns the training and the test images with so many training images per class. Those with fewer are among those with more.
func (d *imageData) parted(per int) (train, test []int) {
	for _, of := range d.order {
		train, test = append(train, of[:per]...), append(test, of[per:]...)
	}
	return train, test
}

// loadImages opens the data of a cell and draws the order of the images.
func loadImages(ctx context.Context, env *experiment.Env, dataset string, s imageSettings, seed random.Seed) (*imageData, error) {
	switch dataset {
	case MadeUpDigits:
		const each = 10 // images of a digit
		images, _ := synthetic.GlyphDigits(seed.Stream("glyphs"), 10*each, 0)
		return localDigits(ctx, images, s, seed)
	case "mnist":
		images, _, err := env.Data.MNIST()
		if err != nil {
			return nil, err
		}
		return localDigits(ctx, images, s, seed)
	case "caltech-101":
		photos, err := env.Data.Caltech101(ctx, s.Local.Side)
		if err != nil {
			return nil, err
		}
		return localData(ctx, func(i int) localfeatures.Gray {
			p := photos.Images[i]
			return gray(p.Width, p.Height, p.Pix)
		}, func(i int) string { return photos.Names[i] }, photos.Y, s, seed)
	}
	return suppliedData(env.Data, s, seed)
}

// drawOrder draws the order of the images of each class, of which most are kept; 0 keeps all.
func drawOrder(y []int, most int, seed random.Seed) [][]int {
	var of [][]int
	for i, c := range y {
		for len(of) <= c {
			of = append(of, nil)
		}
		of[c] = append(of[c], i)
	}
	for c, images := range of {
		n := len(images)
		if most > 0 {
			n = min(n, most)
		}
		drawn := make([]int, n)
		for k, a := range sample.Choose(seed.Stream("images of class "+strconv.Itoa(c)), len(images), n) {
			drawn[k] = images[a]
		}
		of[c] = drawn
	}
	return of
}

// localDigits is localData of digits.
func localDigits(ctx context.Context, m *datasets.Images, s imageSettings, seed random.Seed) (*imageData, error) {
	y := make([]int, m.N)
	for i, d := range m.Labels {
		y[i] = int(d)
	}
	image := func(i int) localfeatures.Gray { return gray(m.W, m.H, m.Image(i)) }
	return localData(ctx, image, func(i int) string { return fmt.Sprintf("%s: image %d", m.Name, i) }, y, s, seed)
}

func gray(w, h int, pix []byte) localfeatures.Gray {
	g := localfeatures.Gray{Width: w, Height: h, Pix: make([]float64, len(pix))}
	for i, v := range pix {
		g.Pix[i] = float64(v)
	}
	return g
}

// localData draws images, describes them and compares them by our own kernels.
func localData(ctx context.Context, image func(i int) localfeatures.Gray, name func(i int) string, y []int, s imageSettings, seed random.Seed) (*imageData, error) {
	d := &imageData{}
	f := newLocalKernels(s.Local)
	for c, of := range drawOrder(y, s.PerClass, seed) {
		var renumbered []int
		for k, i := range of {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			points, err := f.describe(image(i))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name(i), err)
			}
			if k < s.Train[0] {
				f.always = append(f.always, len(d.y))
			}
			renumbered = append(renumbered, len(d.y))
			d.y = append(d.y, c)
			d.features += float64(points)
		}
		d.order = append(d.order, renumbered)
	}
	d.features /= float64(max(len(d.y), 1))
	d.similarities = f.Kernel
	return d, nil
}

// localKernels describes images by sets of features and compares the sets.
type localKernels struct {
	settings localSettings
	features map[string][]mat.Matrix // by part, a set per image
	always   []int                   // images that train whatever T is
	made     map[string]*mat.SymDense
}

func newLocalKernels(s localSettings) *localKernels {
	return &localKernels{settings: s, features: map[string][]mat.Matrix{}, made: map[string]*mat.SymDense{}}
}

// The parts of SUM: PMK, the spatial pyramid, and geometric blur without positions and with them, which is CORR.
const (
	partPMK       = kernelPMK
	partSpatial   = "spatial PMK"
	partBlur      = "geometric blur"
	partBlurPlace = "geometric blur with positions"
)

var sumParts = []string{partPMK, partSpatial, partBlur, partBlurPlace}

// describe adds the sets of an image and returns the number of its features.
func (f *localKernels) describe(g localfeatures.Gray) (points int, err error) {
	edges, err := localfeatures.EdgePoints(g, localfeatures.EdgeParams{Most: f.settings.Points})
	if err != nil {
		return 0, err
	}
	blur, err := localfeatures.GeometricBlur(g, edges, localfeatures.BlurParams{})
	if err != nil {
		return 0, err
	}
	n, _ := edges.Dims()
	_, width := blur.Dims()
	words, placed := mat.NewDense(n, 3, nil), mat.NewDense(n, width+2, nil)
	scale := math.Sqrt(f.settings.Lambda)
	for i := range n {
		x, y := edges.At(i, localfeatures.ColumnX), edges.At(i, localfeatures.ColumnY)
		turn := math.Atan2(edges.At(i, localfeatures.ColumnSin), edges.At(i, localfeatures.ColumnCos))/(2*math.Pi) + 0.5 // 0 to 1
		words.SetRow(i, []float64{x, y, math.Mod(math.Floor(turn*float64(f.settings.Words)), float64(f.settings.Words))})
		placed.SetRow(i, append(slices.Clone(blur.RawRowView(i)), scale*x, scale*y))
	}
	for part, set := range map[string]mat.Matrix{partPMK: edges, partSpatial: words, partBlur: blur, partBlurPlace: placed} {
		f.features[part] = append(f.features[part], set)
	}
	return n, nil
}

// Kernel returns a kernel between all images, with a unit diagonal.
func (f *localKernels) Kernel(ctx context.Context, kernel string) (mat.Matrix, error) {
	switch kernel {
	case kernelPMK:
		return f.part(ctx, partPMK)
	case kernelCORR:
		return f.part(ctx, partBlurPlace)
	}
	var parts []mat.Matrix
	for _, p := range sumParts {
		k, err := f.part(ctx, p)
		if err != nil {
			return nil, err
		}
		parts = append(parts, k)
	}
	return sets.Mean(parts...), nil
}

// part returns a part of SUM, which is computed once.
func (f *localKernels) part(ctx context.Context, part string) (*mat.SymDense, error) {
	return protocol.Once(f.made, part, func() (*mat.SymDense, error) { return f.gram(ctx, part) })
}

func (f *localKernels) gram(ctx context.Context, part string) (*mat.SymDense, error) {
	s, given := f.settings, f.features[part]
	switch part {
	case partPMK:
		p := sets.PyramidParams{Low: []float64{0, 0, -1, -1}, High: []float64{1, 1, 1, 1}, Side: []float64{s.Grid, s.Grid, s.Turn, s.Turn}}
		k, err := sets.NewPyramid(p)
		if err != nil {
			return nil, err
		}
		return sets.Gram(ctx, k, given)
	case partSpatial:
		k, err := sets.NewPyramid(sets.PyramidParams{Low: []float64{0, 0}, High: []float64{1, 1}, Side: []float64{s.Cell, s.Cell}, Codes: 1})
		if err != nil {
			return nil, err
		}
		return sets.Gram(ctx, k, given)
	}
	width, err := f.width(ctx, given)
	if err != nil {
		return nil, err
	}
	k, err := sets.NewBestMatch(sets.BestMatchParams{Width: width})
	if err != nil {
		return nil, err
	}
	return sets.Gram(ctx, k, given)
}

// width returns the median distance D between images that always train, so that no test image enters it.
func (f *localKernels) width(ctx context.Context, given []mat.Matrix) (float64, error) {
	k, err := sets.NewBestMatch(sets.BestMatchParams{Width: 1})
	if err != nil {
		return 0, err
	}
	var few []sets.Features
	for _, i := range f.always {
		p, err := k.Prepare(given[i])
		if err != nil {
			return 0, err
		}
		few = append(few, p)
	}
	var all []float64
	for i, a := range few {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for _, b := range few[:i] {
			all = append(all, k.Distance(a, b))
		}
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}

// suppliedData reads labels; kernel matrices are read when they are asked for, since each may take much memory.
func suppliedData(store *datasets.Store, s imageSettings, seed random.Seed) (*imageData, error) {
	const folder = "caltech-101/"
	name := store.Path(folder + "labels.csv")
	raw, err := limits.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("logdet2012: %w", err)
	}
	labels, err := datasets.ReadCSV(bytes.NewReader(raw), name, datasets.CSVOptions{Header: datasets.HeaderYes})
	if err != nil {
		return nil, err
	}
	words, err := labels.Words(labels.Width() - 1)
	if err != nil {
		return nil, err
	}
	d := &imageData{}
	_, d.y = datasets.Classes(words)
	d.order = drawOrder(d.y, s.PerClass, seed)
	files := map[string]string{kernelPMK: "pmk.gram", kernelCORR: "corr.gram", kernelSUM: "sum.gram"}
	d.similarities = func(_ context.Context, kernel string) (mat.Matrix, error) {
		return readSimilarities(store.Path(folder+files[kernel]), len(d.y))
	}
	return d, nil
}

// npyMagic is how NumPy's files begin.
const npyMagic = "\x93NUMPY"

// readSimilarities reads a symmetric n×n matrix, NumPy's or CSV by its content. It need not be positive semi-definite.
func readSimilarities(name string, n int) (mat.Matrix, error) {
	f, err := limits.Open(name)
	if err != nil {
		return nil, fmt.Errorf("logdet2012: %w", err)
	}
	defer f.Close()
	head, err := bufio.NewReader(f).Peek(len(npyMagic))
	if err != nil {
		return nil, fmt.Errorf("logdet2012: %s: %w", name, err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, fmt.Errorf("logdet2012: %s: %w", name, err)
	}
	as := name // what tables.ReadCross tells the format by
	if string(head) == npyMagic {
		as += ".npy"
	}
	k, err := tables.ReadCross(f, as, n)
	if err != nil {
		return nil, err
	}
	x := k
	rows, _ := x.Dims()
	if rows != n {
		return nil, fmt.Errorf("logdet2012: %s: %d rows, want %d, one per row of labels.csv", name, rows, n)
	}
	largest := max(mat.Max(x), -mat.Min(x))
	for i := range n {
		if !(x.At(i, i) > 0) {
			return nil, fmt.Errorf("logdet2012: %s: entry (%d, %d) is %v, want a number > 0 on the diagonal", name, i+1, i+1, x.At(i, i))
		}
		for j := range i {
			a, b := x.At(i, j), x.At(j, i)
			if math.Abs(a-b) > suppliedTolerance*largest {
				return nil, fmt.Errorf("logdet2012: %s: entries (%d, %d) and (%d, %d) are %v and %v: the matrix is not symmetric", name, i+1, j+1, j+1, i+1, a, b)
			}
			x.Set(i, j, a/2+b/2)
			x.Set(j, i, a/2+b/2)
		}
	}
	return x, nil
}

// suppliedTolerance is the largest difference between k_ij and k_ji, relative to the largest entry: that of float32.
const suppliedTolerance = 1e-6

// imageSession is what a method learns from, and what it is scored on.
type imageSession struct {
	clipped *kernels.Clipped
	k       *mat.SymDense // between training images, clipped
	cross   *mat.Dense    // of each test image with them, clipped with them
	raw     *mat.Dense    // and as it is
	rawDiag []float64     // of training images

	train, test   []int // images
	trainY, testY []int
	classes       int
	links         []metric.Link // of rows of k
	upper, lower  float64
	machines      *linear.KernelSVMProblem // nil until needed
	seed          random.Seed
	purpose       string // of streams
}

// newImageSession clips the similarities of the training images, draws pairs of them and takes u and ℓ from them.
func newImageSession(ctx context.Context, raw mat.Matrix, y, train, test []int, s imageSettings, seed random.Seed, purpose string) (*imageSession, error) {
	out := &imageSession{train: train, test: test, seed: seed, purpose: purpose}
	own := mat.NewSymDense(len(train), nil)
	for a, i := range train {
		out.trainY, out.rawDiag = append(out.trainY, y[i]), append(out.rawDiag, raw.At(i, i))
		for b, j := range train[:a+1] {
			own.SetSym(a, b, raw.At(i, j))
		}
	}
	out.raw = mat.NewDense(len(test), len(train), nil)
	for a, i := range test {
		out.testY = append(out.testY, y[i])
		for b, j := range train {
			out.raw.Set(a, b, raw.At(i, j))
		}
	}
	out.classes = slices.Max(out.trainY) + 1
	var err error
	if out.clipped, err = kernels.Clip(ctx, own); err != nil {
		return nil, err
	}
	out.k, out.cross = out.clipped.Gram(), out.clipped.Cross(out.raw)
	if out.links, err = sample.EachClassLinks(seed.Stream("pairs, "+purpose), out.trainY, s.Links); err != nil {
		return nil, err
	}
	out.upper, out.lower, err = protocol.BoundsBy(itml.BoundPercentiles).OfGram(out.k, protocol.AllPairs(len(train)))
	return out, err
}

// inner returns the sessions of a cross-validation of the training images.
func (s *imageSession) inner(ctx context.Context, raw mat.Matrix, y []int, settings imageSettings, seed random.Seed, purpose string) ([]*imageSession, error) {
	fold := sample.StratifiedFolds(seed.Stream("inner folds, "+purpose), s.trainY, protocol.Folds)
	var out []*imageSession
	for g := range protocol.Folds {
		learn, held := protocol.PartedOf(fold, g, s.train)
		in, err := newImageSession(ctx, raw, y, learn, held, settings, seed, fmt.Sprintf("%s, inner fold %d", purpose, g))
		if err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	return out, nil
}

// missed counts the test images that are classified wrongly, and sums the shares of each class that are.
func (s *imageSession) missed(predicted []int) (wrong int, shares float64) {
	count, bad := make([]float64, s.classes), make([]float64, s.classes)
	for i, c := range s.testY {
		count[c]++
		if predicted[i] != c {
			bad[c]++
			wrong++
		}
	}
	for c, n := range count {
		if n > 0 {
			shares += bad[c] / n
		}
	}
	return wrong, shares
}

// nearest returns the class of the nearest training image of each test image, the first of equals: the one of least
// κ(z, z) − 2κ(x, z), since κ(x, x) is the same for all.
func (s *imageSession) nearest(diag []float64, cross *mat.Dense) []int {
	out := make([]int, len(s.testY))
	for i := range out {
		best := math.Inf(1)
		for j, v := range cross.RawRowView(i) {
			if d := diag[j] - 2*v; d < best {
				best, out[i] = d, s.trainY[j]
			}
		}
	}
	return out
}

// imageRule is a method with any kernel.
type imageRule struct {
	rule       string
	candidates []protocol.Candidate
	// fit returns the classes that it predicts of the test images.
	fit func(ctx context.Context, s *imageSession, c protocol.Candidate, b protocol.Budget) (predicted []int, stopped bool, err error)
}

func imageMethodsOf(s imageSettings) []imageRule {
	return []imageRule{
		{learnedNN, protocol.GammasOf(s.Gammas), byLogDet},
		{plainNN, protocol.Fixed, byKernel},
		{rawNN, protocol.Fixed, bySimilarity},
		{plainSVM, protocol.WeightsOf("C", s.Cs), bySVM},
	}
}

// byLogDet learns the kernel on the training images, and carries it to the test images by Eq. 6.
func byLogDet(ctx context.Context, s *imageSession, c protocol.Candidate, b protocol.Budget) ([]int, bool, error) {
	l, err := itml.FitKernel(ctx, s.k, s.links, itml.KernelParams{Gamma: c.Gamma, Upper: s.upper, Lower: s.lower, MaxCycles: b.Cycles(len(s.links))})
	if err != nil {
		return nil, false, err
	}
	cross, err := l.Between(s.k, s.cross)
	if err != nil {
		return nil, false, err
	}
	diag, err := l.Diagonal(s.k, diagonal(s.k))
	if err != nil {
		return nil, false, err
	}
	return s.nearest(diag, cross), l.Status != learners.Converged, nil
}

func byKernel(_ context.Context, s *imageSession, _ protocol.Candidate, _ protocol.Budget) ([]int, bool, error) {
	return s.nearest(diagonal(s.k), s.cross), false, nil
}

func bySimilarity(_ context.Context, s *imageSession, _ protocol.Candidate, _ protocol.Budget) ([]int, bool, error) {
	return s.nearest(s.rawDiag, s.raw), false, nil
}

// bySVM trains a machine for each class against the others; the greatest score decides, of equal ones the first.
func bySVM(ctx context.Context, s *imageSession, c protocol.Candidate, b protocol.Budget) ([]int, bool, error) {
	if s.machines == nil {
		var err error
		if s.machines, err = linear.NewKernelSVMProblem(ctx, s.k); err != nil {
			return nil, false, err
		}
	}
	out, best := make([]int, len(s.testY)), make([]float64, len(s.testY))
	stopped := false
	own := make([]classify.Label, len(s.trainY))
	for class := range s.classes {
		for i, y := range s.trainY {
			own[i] = classify.LabelOf(y == class)
		}
		m, err := s.machines.Fit(ctx, s.seed.Stream("passes, "+s.purpose+", class "+strconv.Itoa(class)), own, linear.SVMParams{C: c.Weight, MaxEpochs: b.Iterations})
		if err != nil {
			return nil, stopped, err
		}
		stopped = stopped || m.Status != learners.Converged
		for i := range out {
			if v := m.Predict(s.cross.RawRowView(i)).Score; class == 0 || v > best[i] {
				out[i], best[i] = class, v
			}
		}
	}
	return out, stopped, nil
}

func diagonal(k *mat.SymDense) []float64 {
	out := make([]float64, k.SymmetricDim())
	for i := range out {
		out[i] = k.At(i, i)
	}
	return out
}
