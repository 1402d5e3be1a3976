package nearest

import (
	"fmt"
	"io"
	"math"
	"sync"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/persist"
)

// OnlineNNVersion counts the changes of the values that OnlineNN computes.
const OnlineNNVersion = 1

// OnlineNNKind is the kind under which package persist stores an OnlineNN.
const OnlineNNKind = "classify/onlinenn"

// OnlineNN predicts the label of the nearest of all examples seen so far, by
// Euclidean distance (the nearest neighbour rule of Cover and Hart, Nearest
// neighbor pattern classification, 1967, on a stream). Squared distances within
// TieTolerance of the smallest count as equal to it, and the earliest of these
// examples is taken, as in KNN. Before the first example it predicts negative.
//
// Score is the label of the nearest example, ±1, or 0 before the first. The loss
// is 1 for a mistake, else 0. Every step stores its example, and so is an update;
// StepSize is its label.
//
// It is made for sparse rows: what is stored are the entries that are not 0, by
// example and, as an inverted index, by feature. A prediction adds up inner
// products along the lists of the features of x, which with rigorous bounds on
// their round-off leaves few candidates, and compares these by their exact
// distances, those of metric.Euclidean to the bit. It costs one pass over these
// lists and over the examples. If the data are far from the origin relative to
// their distances, so that round-off of the inner products hides these, more
// candidates are left: slower, the same answer.
//
// Memory is not bounded: about 32 bytes per stored entry and 56 per example.
//
// All methods but Step may be called concurrently.
type OnlineNN struct {
	dim      int
	examples []stored
	postings map[int][]posting // by feature
	scratch  sync.Pool         // of *nnSearch
}

var _ learners.Online[classify.Example, classify.Prediction] = (*OnlineNN)(nil)

// stored is an example by its entries that are not 0, in order of features.
type stored struct {
	entries []entry
	sq      float64 // ‖x‖²
	label   classify.Label
}

type entry struct {
	feature int
	value   float64
}

type posting struct {
	example int
	value   float64
}

// nnSearch holds the buffers of one search.
type nnSearch struct {
	inner []float64 // by example
	query []entry
	best  *best
}

// NewOnlineNN returns an OnlineNN for vectors of length dim. It returns an error
// unless dim ≥ 1.
func NewOnlineNN(dim int) (*OnlineNN, error) {
	if dim < 1 {
		return nil, fmt.Errorf("onlinenn: dim: %d is not allowed, want at least 1", dim)
	}
	n := &OnlineNN{dim: dim, postings: map[int][]posting{}}
	n.scratch.New = func() any { return &nnSearch{best: newBest(1)} }
	return n, nil
}

// made returns n, and panics unless a constructor made it.
func (n *OnlineNN) made() *OnlineNN {
	if n == nil || n.postings == nil {
		panic("nearest: OnlineNN: zero value, use NewOnlineNN")
	}
	return n
}

// Dim returns the dimension of the vectors.
func (n *OnlineNN) Dim() int { return n.made().dim }

// Len returns the number of examples it holds.
func (n *OnlineNN) Len() int { return len(n.made().examples) }

// Nearest returns the example nearest to x: Index counts steps from 0. ok is
// false before the first example. It panics unless x has length Dim and finite entries; if ‖x‖²
// overflows, no distance is reliable, and ok is false.
func (n *OnlineNN) Nearest(x []float64) (nearest Neighbour, ok bool) {
	n.made()
	demand(classify.CheckVector(x, n.dim))
	s := n.scratch.Get().(*nnSearch)
	defer n.scratch.Put(s)
	sq := s.sparse(x)
	if len(n.examples) == 0 || !representable(sq) {
		return Neighbour{}, false
	}
	return n.search(s, sq), true
}

// sparse sets the query to the entries of x that are not 0 and returns ‖x‖².
func (s *nnSearch) sparse(x []float64) float64 {
	s.query = s.query[:0]
	for j, a := range x {
		if a != 0 {
			s.query = append(s.query, entry{j, a})
		}
	}
	return sqNorm(s.query)
}

func sqNorm(x []entry) float64 {
	var sq float64
	for _, e := range x {
		sq += e.value * e.value
	}
	return sq
}

// search returns the nearest of the examples, of which there is one, to the query
// of squared norm sq. The bound on round-off is that of searcher.block with centre
// 0 and, as width, a bound on the number of features that are not 0 in one of the
// vectors: the other terms are exact zeros. Products that underflow add an absolute
// error each, of at most half the smallest number.
func (n *OnlineNN) search(s *nnSearch, sq float64) Neighbour {
	if cap(s.inner) < len(n.examples) {
		s.inner = make([]float64, len(n.examples)+len(n.examples)/2)
	}
	inner := s.inner[:len(n.examples)]
	clear(inner)
	for _, q := range s.query {
		for _, p := range n.postings[q.feature] {
			inner[p.example] += q.value * p.value
		}
	}
	s.best.reset()
	for i := range n.examples {
		e := &n.examples[i]
		norms := sq + e.sq
		mid := norms - 2*inner[i]
		slack := 4 * float64(len(s.query)+len(e.entries)+8) * (0x1p-53*norms + math.SmallestNonzeroFloat64)
		if mid-slack <= s.best.limit {
			s.best.offer(i, mid-slack, mid+slack)
		}
	}
	return s.best.nearest(func(c candidate) float64 { return sqDist(s.query, n.examples[c.index].entries) })[0]
}

// sqDist returns ‖x−y‖², adding in the order of features like metric.Euclidean:
// terms that are 0 change no bit of the sum.
func sqDist(x, y []entry) float64 {
	var s float64
	for len(x) > 0 || len(y) > 0 {
		var d float64
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].feature < y[0].feature:
			d, x = x[0].value, x[1:]
		case len(x) == 0 || y[0].feature < x[0].feature:
			d, y = y[0].value, y[1:]
		default:
			d, x, y = x[0].value-y[0].value, x[1:], y[1:]
		}
		s += d * d
	}
	return s
}

// Predict returns the label of the nearest example as score and class; if there is
// none, or ‖x‖² overflows, the score is 0. It ignores the label of f. It panics
// unless X has length Dim and finite entries.
func (n *OnlineNN) Predict(f classify.Example) classify.Prediction {
	n.made()
	nearest, ok := n.Nearest(f.X)
	return n.predict(nearest, ok)
}

func (n *OnlineNN) predict(nearest Neighbour, ok bool) classify.Prediction {
	if !ok {
		return classify.PredictionOf(0)
	}
	return classify.PredictionOf(float64(n.examples[nearest.Index].label))
}

// Loss returns 1 if Predict is wrong about f, else 0. It panics as Predict
// does, and if the label is neither 1 nor -1.
func (n *OnlineNN) Loss(f classify.Example) float64 {
	n.made()
	demand(f.CheckLabel())
	if n.Predict(f).Positive != (f.Label == classify.Positive) {
		return 1
	}
	return 0
}

// Step predicts, suffers the loss and stores the example. It returns an error,
// and changes nothing, if the label is neither 1 nor -1, X is not of length Dim,
// an entry is NaN or infinite, or distances overflow.
func (n *OnlineNN) Step(f classify.Example) (learners.Outcome[classify.Prediction], error) {
	n.made()
	var o learners.Outcome[classify.Prediction]
	if err := f.Check(n.dim); err != nil {
		return o, fmt.Errorf("onlinenn: %w", err)
	}
	s := n.scratch.Get().(*nnSearch)
	defer n.scratch.Put(s)
	sq := s.sparse(f.X)
	if !representable(sq) {
		return o, fmt.Errorf("onlinenn: x: ‖x‖² = %v, squared distances overflow float64: scale the features down", sq)
	}
	if len(n.examples) > 0 {
		o.Prediction = n.predict(n.search(s, sq), true)
	}
	o.Mistake = o.Prediction.Positive != (f.Label == classify.Positive)
	if o.Mistake {
		o.Loss = 1
	}
	o.StepSize = float64(f.Label)
	o.Updated = true
	n.add(append([]entry(nil), s.query...), sq, f.Label)
	return o, nil
}

// add stores an example, and keeps entries.
func (n *OnlineNN) add(entries []entry, sq float64, label classify.Label) {
	for _, e := range entries {
		n.postings[e.feature] = append(n.postings[e.feature], posting{len(n.examples), e.value})
	}
	n.examples = append(n.examples, stored{entries, sq, label})
}

// nnState is what Save writes; there are no parameters. The examples stand one
// after the other.
type nnState struct {
	Dim      int              `json:"dim"`
	Labels   []classify.Label `json:"labels"`
	Counts   []int            `json:"counts"` // entries of each example
	Features []int            `json:"features"`
	Values   persist.Floats   `json:"values"`
}

// Save writes the learner in the format of package persist, kind
// "classify/onlinenn", with all its examples. A learner loaded from it continues
// bit for bit.
func (n *OnlineNN) Save(w io.Writer) error {
	n.made()
	s := nnState{Dim: n.dim, Labels: []classify.Label{}, Counts: []int{}, Features: []int{}}
	for _, e := range n.examples {
		s.Labels = append(s.Labels, e.label)
		s.Counts = append(s.Counts, len(e.entries))
		for _, x := range e.entries {
			s.Features = append(s.Features, x.feature)
			s.Values = append(s.Values, x.value)
		}
	}
	return persist.Write(w, OnlineNNKind, struct{}{}, s)
}

// LoadOnlineNN reads a learner that Save wrote. Its errors wrap those of package
// persist if the file is foreign, newer, damaged or of another kind.
func LoadOnlineNN(r io.Reader) (*OnlineNN, error) {
	var s nnState
	if err := persist.Load(r, OnlineNNKind, &struct{}{}, &s); err != nil {
		return nil, err
	}
	n, err := s.learner()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, OnlineNNKind, err)
	}
	return n, nil
}

// learner returns the saved learner, or an error if the parts do not fit.
func (s nnState) learner() (*OnlineNN, error) {
	n, err := NewOnlineNN(s.Dim)
	if err != nil {
		return nil, err
	}
	if len(s.Counts) != len(s.Labels) || len(s.Features) != len(s.Values) {
		return nil, fmt.Errorf("%d labels and %d counts, %d features and %d values", len(s.Labels), len(s.Counts), len(s.Features), len(s.Values))
	}
	at := 0
	for i, count := range s.Counts {
		if count < 0 || count > len(s.Values)-at {
			return nil, fmt.Errorf("example %d: %d entries, of which %d are there", i, count, len(s.Values)-at)
		}
		if !s.Labels[i].Valid() {
			return nil, fmt.Errorf("example %d: label: %d is not allowed, want 1 or -1", i, int8(s.Labels[i]))
		}
		entries := make([]entry, count)
		last := -1
		for k := range entries {
			e := entry{s.Features[at+k], s.Values[at+k]}
			if e.feature <= last || e.feature >= s.Dim {
				return nil, fmt.Errorf("example %d: feature %d after %d, want ascending features below %d", i, e.feature, last, s.Dim)
			}
			if e.value == 0 || math.IsNaN(e.value) || math.IsInf(e.value, 0) {
				return nil, fmt.Errorf("example %d: feature %d: %v is not allowed, want a finite number other than 0", i, e.feature, e.value)
			}
			entries[k], last = e, e.feature
		}
		sq := sqNorm(entries)
		if !representable(sq) {
			return nil, fmt.Errorf("example %d: ‖x‖² = %v: distances overflow", i, sq)
		}
		n.add(entries, sq, s.Labels[i])
		at += count
	}
	if at != len(s.Values) {
		return nil, fmt.Errorf("%d values belong to no example", len(s.Values)-at)
	}
	return n, nil
}

// demand panics if err is not nil.
func demand(err error) {
	if err != nil {
		panic(fmt.Sprintf("nearest: OnlineNN: %v", err))
	}
}
