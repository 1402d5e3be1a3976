package sets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
)

// PyramidVersion changes whenever Pyramid gives other values for the same sets.
const PyramidVersion = 1

// PyramidParams are the parameters of NewPyramid. The three slices have one number per coordinate.
type PyramidParams struct {
	// Low and High are the ends of a box that holds the features, both included. A feature outside is allowed, but the coarsest
	// bin does not hold it.
	Low  []float64 `range:"finite"`
	High []float64 `range:"finite"`
	// Side is the side of the finest bins, in the units of the coordinate.
	Side []float64 `range:"> 0"`
	// Codes is the number of columns behind the coordinates that hold codes, such as visual words. Features match only if their codes are equal.
	Codes int `range:">= 0"`
}

// Pyramid is the pyramid match kernel (Grauman and Darrell, The Pyramid Match Kernel: Efficient Learning with Sets of Features,
// JMLR 8, 2007, and ICCV 2005). Level i = 0, …, L has bins of side 2ⁱ·Side, and the coarsest bin holds the whole box. With the
// intersection I_i = Σ min(count in a, count in b) of two histograms of level i,
//
//	K̃(a, b) = Σᵢ 2⁻ⁱ(I_i − I_{i−1}),  I_{−1} = 0,  k(a, b) = K̃(a, b)/√(K̃(a, a)·K̃(b, b)).
//
// A pair of features that first shares a bin at level i counts 2⁻ⁱ. Since K̃ = Σᵢ cᵢI_i with cᵢ ≥ 0, it is positive semi-definite, and k has
// a unit diagonal. With I_{−1} = 0 equal features count 1 like all that share a bin of level 0.
//
// With positions as coordinates and the visual word as a code it is the spatial pyramid of Lazebnik, Schmid and Ponce (Beyond Bags
// of Features, CVPR 2006), up to the normalisation by self-matches.
//
// A Pyramid is immutable and safe for concurrent use.
type Pyramid struct {
	p      PyramidParams
	last   []float64 // the finest bin at High, by coordinate
	levels int
}

// maxCell bounds the number of a finest bin, and codes: whole numbers that float64 holds.
const maxCell = 1 << 52

// NewPyramid returns a pyramid match kernel. It returns an error if Low, High and Side differ in length or are empty, or if a number
// is out of its range. So it does if Low ≥ High, or if a side is less than 2⁻⁵² of the box.
func NewPyramid(p PyramidParams) (*Pyramid, error) {
	if len(p.Low) == 0 || len(p.High) != len(p.Low) || len(p.Side) != len(p.Low) {
		return nil, fmt.Errorf("pyramid: low, high and side have %d, %d and %d numbers, want one per coordinate of each", len(p.Low), len(p.High), len(p.Side))
	}
	if err := ranges.Check("pyramid", p); err != nil {
		return nil, err
	}
	k := &Pyramid{p: PyramidParams{slices.Clone(p.Low), slices.Clone(p.High), slices.Clone(p.Side), p.Codes}, levels: 1}
	for j, low := range p.Low {
		if low >= p.High[j] {
			return nil, fmt.Errorf("pyramid: low[%d]: %v is not allowed, want a number < high[%d] = %v", j, low, j, p.High[j])
		}
		cells := math.Ceil((p.High[j] - low) / p.Side[j])
		if !(cells <= maxCell) {
			return nil, fmt.Errorf("pyramid: side[%d]: %v is not allowed, want at least 2⁻⁵² of the box, %v", j, p.Side[j], p.High[j]-low)
		}
		for (int64(cells)-1)>>(k.levels-1) > 0 {
			k.levels++
		}
		k.last = append(k.last, cells-1)
	}
	return k, nil
}

// Levels returns L + 1, the number of resolutions.
func (k *Pyramid) Levels() int { return k.made().levels }

// made returns k, and panics if no constructor made it.
func (k *Pyramid) made() *Pyramid {
	if k == nil || k.levels == 0 {
		panic("sets: Pyramid: nil or the zero value, use NewPyramid")
	}
	return k
}

// Histogram is a set as Pyramid compares it. It is immutable.
type Histogram struct {
	bins []bin // by key
	self float64
}

// bin is one that holds a feature.
type bin struct {
	key string // the level, then the cell and the codes
	n   int
}

// weight is c_i, what one common feature in a bin of its level adds to K̃: 2⁻ⁱ − 2⁻⁽ⁱ⁺¹⁾, and 2⁻ᴸ at the coarsest level. Sums of
// such numbers are exact.
func (k *Pyramid) weight(key string) float64 {
	if level := int(key[0]); level < k.levels-1 {
		return math.Ldexp(1, -level-1)
	}
	return math.Ldexp(1, -(k.levels - 1))
}

// Prepare returns the histograms of a set, whose rows have a number per coordinate and then Codes whole numbers. It returns an error
// if the set is empty, if a row has another length or a number that is not finite, or if the histograms do not fit limits.Memory.
// So it does if a coordinate is more than 2⁵² finest bins from Low, or a code no whole number of magnitude at most 2⁵². It panics if set is nil.
func (k *Pyramid) Prepare(set mat.Matrix) (Histogram, error) {
	d := len(k.made().p.Low)
	x, err := features(set, d+k.p.Codes)
	if err != nil {
		return Histogram{}, err
	}
	n, width := x.Dims()
	const beside = 40 // bytes of a bin without its key
	if err := limits.Check(fmt.Sprintf("the pyramid of %d features", n), limits.Product(n, k.levels, 8*width+beside)); err != nil {
		return Histogram{}, err
	}
	bins := make([]bin, 0, n*k.levels)
	cell := make([]int64, width)
	key := make([]byte, 1+8*width)
	for i := range n {
		for j, v := range x.RawRowView(i) {
			if j < d {
				c := math.Floor((v - k.p.Low[j]) / k.p.Side[j])
				if v <= k.p.High[j] { // the last bin holds the end of the box, also where a quotient is rounded up
					c = min(c, k.last[j])
				}
				if !(math.Abs(c) <= maxCell) {
					return Histogram{}, fmt.Errorf("feature %d, column %d is %v, more than 2⁵² bins of side %v from %v", i, j, v, k.p.Side[j], k.p.Low[j])
				}
				cell[j] = int64(c)
			} else if v != math.Trunc(v) || math.Abs(v) > maxCell {
				return Histogram{}, fmt.Errorf("feature %d, column %d is %v, want a whole number as a code", i, j, v)
			} else {
				cell[j] = int64(v)
			}
		}
		for level := range k.levels {
			key[0] = byte(level)
			for j, c := range cell {
				if j < d {
					c >>= level // also of negative numbers the floor of c/2^level
				}
				binary.BigEndian.PutUint64(key[1+8*j:], uint64(c))
			}
			bins = append(bins, bin{string(key), 1})
		}
	}
	slices.SortFunc(bins, func(a, b bin) int { return strings.Compare(a.key, b.key) })
	kept := 0
	for i, b := range bins {
		if i > 0 && b.key == bins[kept-1].key {
			bins[kept-1].n++
			continue
		}
		bins[kept] = b
		kept++
	}
	// Every feature matches itself at the finest level, which counts 1.
	return Histogram{bins: slices.Clone(bins[:kept]), self: float64(n)}, nil
}

// Eval returns k(a, b), from 0 to 1. It panics if a or b is the zero value.
func (k *Pyramid) Eval(a, b Histogram) float64 {
	k.made()
	demandHistogram(a)
	demandHistogram(b)
	var sum float64
	for i, j := 0, 0; i < len(a.bins) && j < len(b.bins); {
		switch p, q := a.bins[i], b.bins[j]; strings.Compare(p.key, q.key) {
		case -1:
			i++
		case 1:
			j++
		default:
			sum += k.weight(p.key) * float64(min(p.n, q.n))
			i, j = i+1, j+1
		}
	}
	return normalised(sum, a, b)
}

// normalised divides K̃(a, b) by those of the sets with themselves; the square root of their product is the same both ways.
func normalised(sum float64, a, b Histogram) float64 { return sum / math.Sqrt(a.self*b.self) }

func demandHistogram(h Histogram) {
	if len(h.bins) == 0 {
		panic("sets: Pyramid: the zero value of Histogram, use Prepare")
	}
}

// batch numbers all bins, so that a set is compared by a table of its counts and no key is looked at twice.
func (k *Pyramid) batch(all []Histogram) (func(dst []float64, a Histogram, from int), error) {
	type counted struct {
		number int32
		n      float64
	}
	total := 0
	for _, h := range all {
		total += len(h.bins)
	}
	if total > math.MaxInt32 {
		return nil, errors.New("sets: more than 2³¹ bins")
	}
	if err := limits.Check(fmt.Sprintf("pyramids of %d sets", len(all)), limits.Product(total, 16+8+8+64)); err != nil {
		return nil, fmt.Errorf("sets: %w", err)
	}
	numbers := map[string]int32{}
	var weights []float64
	lists := make([][]counted, len(all))
	for i, h := range all {
		demandHistogram(h)
		lists[i] = make([]counted, len(h.bins))
		for b, bin := range h.bins {
			number, ok := numbers[bin.key]
			if !ok {
				number = int32(len(weights))
				numbers[bin.key] = number
				weights = append(weights, k.weight(bin.key))
			}
			lists[i][b] = counted{number, float64(bin.n)}
		}
	}
	counts := make([]float64, len(weights))
	return func(dst []float64, a Histogram, from int) {
		demandHistogram(a)
		set := func(zero bool) {
			for _, b := range a.bins {
				if number, ok := numbers[b.key]; ok {
					counts[number] = float64(b.n)
					if zero {
						counts[number] = 0
					}
				}
			}
		}
		set(false)
		for j := range dst {
			var sum float64
			for _, c := range lists[from+j] {
				sum += weights[c.number] * min(counts[c.number], c.n)
			}
			dst[j] = normalised(sum, a, all[from+j])
		}
		set(true)
	}, nil
}
