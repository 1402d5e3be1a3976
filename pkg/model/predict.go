package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
	"metriclab/pkg/tables"
	"metriclab/pkg/vectors"
)

// ErrUnlabelled is returned, wrapped, where classes are asked for and the training rows have none.
var ErrUnlabelled = errors.New("the training rows have no classes to predict")

// Neighbourhood finds the k nearest training rows of new rows under a learned metric, as nearest.KNN has them, or else the class that they elect, as
// nearest.Voters has it and Evaluate scores: of tied classes the first. It is safe for concurrent use.
type Neighbourhood struct {
	knn     *nearest.KNN    // of Neighbourhood
	voters  *nearest.Voters // of Classifier
	k       int
	prepare *Model                      // of CSV, SVMLight and NPY; nil of others
	expand  func(mat.Matrix) mat.Matrix // what knn takes in place of prepared rows
	extra   int                         // numbers for a row beside its features
	gram    *Gram                       // of Objects; nil of others
	vectors *Vectors                    // of Vectors; nil of others
	classes []string                    // nil if the training rows have none
	y       []int
	names   map[string]string  // the classes by their names
	numbers map[float64]string // the classes that are numbers, by value; "" where several have one value
	notes   []string

	calibration *Calibration // of Probabilities; nil of others
}

// perNeighbour is about how many numbers the search keeps for each of the k neighbours of a row.
const perNeighbour = 12

// Neighbourhood returns the rows of train, which m.Read or m.ReadSVMLight has read, as those among which neighbours are looked for.
// They are usually the rows that m was fitted on, but others do: see Notes. They may have no labels.
// Memory is that of the prepared rows and their coordinates. Sparse rows stay sparse where Embed leaves them so.
//
// It returns the errors of Prepare and nearest.NewKNN, a *tables.OptionError unless 1 ≤ k ≤ rows of train, and an error if the
// coordinates exceed limits.Memory. It panics if train is nil or does not have the columns of m.
func (m *Model) Neighbourhood(train *tables.Data, k int) (*Neighbourhood, error) {
	return m.neighbourhood(train, k, false)
}

// Classifier is Neighbourhood to predict classes: it yields Blocks with Elected. It returns an error that wraps ErrUnlabelled if train has no labels.
func (m *Model) Classifier(train *tables.Data, k int) (*Neighbourhood, error) {
	return m.neighbourhood(train, k, true)
}

func (m *Model) neighbourhood(train *tables.Data, k int, elect bool) (*Neighbourhood, error) {
	n, d := train.Dims()
	if d != m.made().metric.Dim() {
		panic(fmt.Sprintf("model: Neighbourhood: %d features, want %d", d, m.metric.Dim()))
	}
	h := &Neighbourhood{k: k, prepare: m}
	if err := h.train(n, train.Labels, m.classes, m.counts); err != nil {
		return nil, err
	}
	width := m.width()
	h.extra = width + perNeighbour*k
	x, err := m.prepareRows(train.Matrix(), 0)
	if err != nil {
		return nil, err
	}
	if _, isSparse := x.(*sparse.Matrix); !isSparse {
		if err := limits.Check(fmt.Sprintf("%s: coordinates of %s", train.Name, plural.Of(n, "row")), limits.Floats(n, width)); err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
	}
	var under metric.SqDister
	under, h.expand = searched(m.metric)
	if err := h.among(under, h.expand(x), elect); err != nil {
		return nil, fmt.Errorf("model: %s: %w", train.Name, err)
	}
	return h, nil
}

// Neighbourhood returns the n objects that g was fitted on as those among which neighbours are looked for, by Euclidean distances between the coordinates
// of Embed. What these lack is told there; the order of neighbours lacks nothing. labels holds the class of each object, or is nil.
//
// It returns an error if there are fewer or more labels than objects, the errors of Embed, and a *tables.OptionError unless 1 ≤ k ≤ n.
func (g *Gram) Neighbourhood(labels []string, k int) (*Neighbourhood, error) {
	return g.neighbourhood(labels, k, false)
}

// Classifier is Neighbourhood to predict classes, as that of a Model is.
func (g *Gram) Classifier(labels []string, k int) (*Neighbourhood, error) {
	return g.neighbourhood(labels, k, true)
}

func (g *Gram) neighbourhood(labels []string, k int, elect bool) (*Neighbourhood, error) {
	n := g.Objects()
	if labels != nil && len(labels) != n {
		return nil, fmt.Errorf("model: %s for %s", plural.Of(len(labels), "label"), plural.Of(n, "object"))
	}
	h := &Neighbourhood{k: k, gram: g}
	if err := h.train(n, labels, g.classes, g.counts); err != nil {
		return nil, err
	}
	z, err := g.Embed(g.k0)
	if err != nil {
		return nil, err
	}
	if err := h.among(metric.Euclidean{}, z, elect); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return h, nil
}

// Classifier returns the vectors of a file, whose classes labels holds, as those that elect the classes of others by their votes, as the rows of a Model do. Vectors
// of zeros have no votes if the recipe has Unit: Notes tells of them. Memory is that of the coordinates.
//
// It returns a *tables.OptionError unless 1 ≤ k ≤ the number of vectors that vote, an error if the coordinates exceed limits.Memory, the errors of the file and of Embed,
// and the one of ctx. It panics if the file does not have the dimension of the model, or labels another length.
func (m *Vectors) Classifier(ctx context.Context, f *vectors.File, labels []string, k int, p Progress) (*Neighbourhood, error) {
	n, r := f.Rows(), m.Rows()
	if f.Dim() != m.Dim() || len(labels) != n {
		panic(fmt.Sprintf("model: Vectors: Classifier: %d vectors of %d numbers with %d labels, want a dimension of %d", n, f.Dim(), len(labels), m.Dim()))
	}
	if err := limits.Check(fmt.Sprintf("%s: coordinates of %s", f.Name(), plural.Of(n, "vector")), limits.Floats(n, r)); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	z := mat.NewDense(n, r, nil)
	var zeros vectors.Zeros
	var classes []string
	for b, err := range m.blocks(ctx, f) {
		if err != nil {
			return nil, err
		}
		zeros.Join(b.zeros)
		rows, _ := b.z.Dims()
		for i := range rows {
			if b.none == nil || !b.none[i] {
				z.SetRow(len(classes), b.z.RawRowView(i))
				classes = append(classes, labels[b.first+i])
			}
		}
		if p != nil {
			p(b.first+rows, n)
		}
	}
	if len(classes) == 0 {
		return nil, fmt.Errorf("model: %s: %s, without direction, and no other", f.Name(), zeros)
	}
	h := &Neighbourhood{k: k, vectors: m}
	if zeros.Count > 0 {
		h.notes = append(h.notes, fmt.Sprintf("%s, without direction and without votes", zeros))
	}
	if err := h.train(len(classes), classes, nil, nil); err != nil {
		return nil, err
	}
	if err := h.among(metric.Euclidean{}, z.Slice(0, len(classes), 0, r), true); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return h, nil
}

// Vectors yields the vectors of a file, block by block, with the classes that are elected. One of zeros has the class "" if the recipe has Unit, and the notes count them.
// Memory does not grow with the file. An error ends the sequence: those of the file and of Embed, and the one of ctx. It panics if h is of no Vectors, or if the file does
// not have the dimension of the model.
func (h *Neighbourhood) Vectors(ctx context.Context, f *vectors.File) iter.Seq2[*Block, error] {
	if h.vectors == nil || f.Dim() != h.vectors.Dim() {
		panic("model: Neighbourhood: Vectors of another model, or of vectors of another length")
	}
	return func(yield func(*Block, error) bool) {
		var zeros vectors.Zeros
		for b, err := range h.vectors.blocks(ctx, f) {
			var near *Block
			if err == nil {
				near = &Block{First: b.first, Total: f.Rows(), x: b.z}
				err = h.search(ctx, near)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i, none := range b.none {
				if none {
					near.Elected[i] = Elected{}
				}
			}
			if zeros.Join(b.zeros); zeros.Count > 0 {
				near.Notes = []string{fmt.Sprintf("%s, without direction and without a class", zeros)}
			}
			if !yield(near, nil) {
				return
			}
		}
	}
}

// among sets the rows among which neighbours are looked for, or which elect.
func (h *Neighbourhood) among(under metric.SqDister, x mat.Matrix, elect bool) (err error) {
	switch {
	case !elect:
		h.knn, err = nearest.NewKNN(under, x, h.y, nearest.KNNOptions{})
	case h.classes == nil:
		err = ErrUnlabelled
	default:
		h.voters, err = nearest.NewVoters(under, x, h.y)
	}
	return err
}

// train sets the classes of the n training rows; fitted and counts are those of the fit.
func (h *Neighbourhood) train(n int, labels, fitted []string, counts []int) error {
	if h.k < 1 || h.k > n {
		return notAllowed("k: %d is not allowed, want 1 to %d, the number of training rows", h.k, n)
	}
	h.y = make([]int, n)
	if labels == nil {
		return nil
	}
	h.classes, h.y = datasets.Classes(labels)
	there := make([]int, len(h.classes))
	for _, c := range h.y {
		there[c]++
	}
	if len(fitted) > 0 && !(slices.Equal(h.classes, fitted) && slices.Equal(there, counts)) {
		rows := 0
		for _, c := range counts {
			rows += c
		}
		h.notes = append(h.notes, fmt.Sprintf("the training rows are not those of the fit; classes: %d with %s here, %d with %s there",
			len(h.classes), plural.Of(n, "row"), len(fitted), plural.Of(rows, "row")))
	}
	if note := closest.AlikeNote("classes, of the fit and of the training rows,", slices.Concat(fitted, h.classes)); note != "" {
		h.notes = append(h.notes, note)
	}
	h.names, h.numbers = map[string]string{}, map[float64]string{}
	for _, name := range h.classes {
		h.names[name] = name
		if v, ok := closest.Number(name); ok {
			if _, twice := h.numbers[v]; twice {
				name = ""
			}
			h.numbers[v] = name
		}
	}
	return nil
}

// Class returns the class of the training rows that a label of other rows names, "" if there is none. It is the class of that name or else,
// if the label is a number, the one class that is the same number, such as 1 for 1.0.
func (h *Neighbourhood) Class(label string) string {
	v, ok := closest.Number(label)
	if name := h.names[label]; name != "" || !ok {
		return name
	}
	return h.numbers[v]
}

// Classes returns the classes of the training rows, nil if they have none.
func (h *Neighbourhood) Classes() []string { return slices.Clone(h.classes) }

// Notes are warnings on the training rows: such as that their classes are not those that the model was fitted on, row for row.
func (h *Neighbourhood) Notes() []string { return slices.Clone(h.notes) }

// K returns the number of neighbours.
func (h *Neighbourhood) K() int { return h.k }

// Labelled tells whether the training rows have classes.
func (h *Neighbourhood) Labelled() bool { return h.classes != nil }

// Label returns the class of training row i, "" if it has none. It panics if there is no such row.
func (h *Neighbourhood) Label(i int) string {
	if h.classes == nil {
		return ""
	}
	return h.classes[h.y[i]]
}

// Elected is the predicted class of a row.
type Elected struct {
	// Class is "" for a row that has none: see Vectors.
	Class string
	// Share is its share of the votes of the k nearest training rows, more than 0 and at most 1.
	Share float64
	// Distance is that to the nearest training row.
	Distance float64
	// Probabilities has one for each of Classes, of which none is above that of Class; nil but of a Neighbourhood that Probabilities made.
	Probabilities []float64
}

// search answers for the prepared rows of b, which it forgets.
func (h *Neighbourhood) search(ctx context.Context, b *Block) error {
	x := b.x
	if b.x = nil; h.expand != nil {
		x = h.expand(x)
	}
	var all []nearest.Election
	var err error
	if h.voters == nil {
		b.Found, err = h.knn.Neighbours(ctx, x, h.k)
	} else {
		all, err = h.voters.Elect(ctx, x, h.k)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("model: of the rows from %d on: %w", b.First, err)
	}
	for _, e := range all {
		row := Elected{Class: h.classes[e.Labels[0]], Share: e.Share, Distance: math.Sqrt(e.SqDist)}
		if h.calibration != nil {
			row.Probabilities = h.calibration.Probabilities(e)
		}
		b.Elected = append(b.Elected, row)
	}
	return nil
}

// CSV reads a CSV file as Model.Read does, and yields its rows block by block with their neighbours. Beside the training rows, memory is that of
// a few blocks, about 1 MB or 256 rows each, however long the file is. What is found for a row does not depend on other rows. An error ends the sequence: those of Read and
// of nearest.KNN.Neighbours, and that of ctx. It panics if h is of a Gram.
func (h *Neighbourhood) CSV(ctx context.Context, r io.Reader, name string) iter.Seq2[*Block, error] {
	m := h.ofModel("CSV")
	return h.rows(ctx, func() (iter.Seq2[*tables.Data, error], int, error) {
		return m.reader().Blocks(r, name, h.extra), 0, nil
	})
}

// SVMLight is CSV for rows of svmlight, which are all read first: see Model.ReadSVMLight.
func (h *Neighbourhood) SVMLight(ctx context.Context, r io.Reader, name string, base datasets.IndexBase) iter.Seq2[*Block, error] {
	m := h.ofModel("SVMLight")
	return h.rows(ctx, func() (iter.Seq2[*tables.Data, error], int, error) {
		return blocksOf(h.extra)(m.ReadSVMLight(r, name, base))
	})
}

// NPY is CSV for a NumPy array, which is all read first: see Model.ReadNPY. It has no labels.
func (h *Neighbourhood) NPY(ctx context.Context, r io.Reader, name string) iter.Seq2[*Block, error] {
	m := h.ofModel("NPY")
	return h.rows(ctx, func() (iter.Seq2[*tables.Data, error], int, error) {
		return blocksOf(h.extra)(m.ReadNPY(r, name, nil))
	})
}

// rows yields the rows of a file in blocks. open opens it, and returns the number of rows, 0 if that is not known.
func (h *Neighbourhood) rows(ctx context.Context, open func() (blocks iter.Seq2[*tables.Data, error], total int, err error)) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		blocks, total, err := open()
		if err != nil {
			yield(nil, err)
			return
		}
		for b, err := range h.prepare.prepared(blocks, total) {
			if err == nil {
				err = h.search(ctx, b)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// ofModel returns the model that prepares rows.
func (h *Neighbourhood) ofModel(method string) *Model {
	if h.prepare == nil {
		panic(fmt.Sprintf("model: Neighbourhood: %s of a Gram or a Vectors, use Objects or Vectors", method))
	}
	return h.prepare
}

// Objects returns the neighbours of new objects from their kernel values with those of the fit, as Gram.Embed takes them. Its errors are those of Embed and of
// nearest.KNN.Neighbours. It panics if h is of a Model, or cross is nil or empty.
func (h *Neighbourhood) Objects(ctx context.Context, cross mat.Matrix) (*Block, error) {
	if h.gram == nil {
		panic("model: Neighbourhood: Objects of a Model, use CSV, SVMLight or NPY; of a Vectors, use Vectors")
	}
	z, err := h.gram.Embed(cross)
	if err != nil {
		return nil, err
	}
	b := &Block{x: z}
	if err := h.search(ctx, b); err != nil {
		return nil, err
	}
	return b, nil
}

// CostOfNear estimates the time to find the neighbours of queries among training rows.
func (m *Model) CostOfNear(queries, rows int) catalog.Cost {
	return catalog.KNN(queries, rows, m.width())
}

// width returns how many numbers the search compares of a row.
func (m *Model) width() int {
	switch a := m.made().metric.(type) {
	case *kernels.Transformed:
		return a.Expanded().Dim()
	case embedder:
		return a.Rows() + between(a)
	}
	return m.metric.Dim()
}
