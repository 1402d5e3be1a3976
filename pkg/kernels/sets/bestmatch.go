package sets

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/product"
	"metriclab/internal/ranges"
	"metriclab/pkg/limits"
)

// BestMatchVersion changes whenever BestMatch gives other values for the same sets.
const BestMatchVersion = 1

// BestMatchParams are the parameters of NewBestMatch.
type BestMatchParams struct {
	// Width is σ > 0, in units of D: squared units of the features.
	Width float64 `range:"> 0"`
}

// BestMatch is the similarity by correspondences
//
//	k(a, b) = exp(−D(a, b)/σ),  D(a, b) = meanᵢ minⱼ ‖aᵢ − bⱼ‖² + meanⱼ minᵢ ‖aᵢ − bⱼ‖²,
//
// where each feature takes the nearest one of the other set (Zhang, Berg, Maire and Malik, SVM-KNN, CVPR 2006, where the
// features are geometric blur). Columns that hold positions, scaled by √(λ/r₀), give the version that charges for displacement. Nearest
// features are no matching and D is no squared distance in a Hilbert space, so that k is symmetric with a unit diagonal, but
// indefinite: kernels.Clip removes what is negative on training objects.
//
// A BestMatch is immutable and safe for concurrent use.
type BestMatch struct{ width float64 }

// NewBestMatch returns the similarity of width σ. It returns an error unless σ is finite and > 0.
func NewBestMatch(p BestMatchParams) (*BestMatch, error) {
	if err := ranges.Check("best match", p); err != nil {
		return nil, err
	}
	return &BestMatch{p.Width}, nil
}

// Width returns σ.
func (k *BestMatch) Width() float64 { return k.made().width }

func (k *BestMatch) made() *BestMatch {
	if k == nil || k.width == 0 {
		panic("sets: BestMatch: nil or the zero value, use NewBestMatch")
	}
	return k
}

// Features is a set as BestMatch compares it. It is immutable.
type Features struct {
	x  *mat.Dense
	sq []float64 // ‖xᵢ‖²
}

// maxFeature bounds an entry of a feature, so that no squared distance overflows.
const maxFeature = 1e140

// Prepare returns a copy of a set. It returns an error if the set is empty, or if a number is not finite or exceeds 1e140 in magnitude. It panics if set is nil.
func (k *BestMatch) Prepare(set mat.Matrix) (Features, error) {
	k.made()
	given, err := features(set, 0)
	if err != nil {
		return Features{}, err
	}
	n, d := given.Dims()
	if err := limits.Check(fmt.Sprintf("a set of %d features", n), limits.Floats(n, d+1)); err != nil {
		return Features{}, err
	}
	f := Features{mat.DenseCopyOf(given), make([]float64, n)}
	for i := range n {
		row := f.x.RawRowView(i)
		for j, v := range row {
			if math.Abs(v) > maxFeature {
				return Features{}, fmt.Errorf("feature %d, column %d is %v, want a magnitude of at most %v", i, j, v, maxFeature)
			}
		}
		// In the order and with the rounding of a product of package product, so that equal features are at distance 0.
		for _, v := range row {
			f.sq[i] = math.FMA(v, v, f.sq[i])
		}
	}
	return f, nil
}

// Eval returns k(a, b), from 0 to 1, and 1 for equal sets. D is accurate to about 4(d+8)u times the largest squared norm, u = 2⁻⁵³. It panics if a or b is the zero value, or
// if their features differ in length.
func (k *BestMatch) Eval(a, b Features) float64 {
	row, err := k.batch([]Features{b})
	if err != nil {
		panic(err.Error()) // one set that was prepared fits
	}
	var out [1]float64
	row(out[:], a, 0)
	return out[0]
}

// Distance returns D(a, b), in squared units of the features, with the accuracy and panics of Eval.
func (k *BestMatch) Distance(a, b Features) float64 {
	k.made()
	demandFeatures(b)
	var out float64
	stackOf([]Features{b}).distances(a, 0, 1, func(_ int, d float64) { out = d })
	return out
}

// batch puts the features of all sets into one matrix, of which large parts are multiplied with those of a set.
func (k *BestMatch) batch(all []Features) (func(dst []float64, a Features, from int), error) {
	k.made()
	total, d := 0, 0
	for _, f := range all {
		demandFeatures(f)
		n, c := f.x.Dims()
		if d > 0 && c != d {
			return nil, fmt.Errorf("sets: features of %d and of %d numbers, want the same of all sets", d, c)
		}
		total, d = total+n, c
	}
	if err := limits.Check(fmt.Sprintf("%d features of %d sets", total, len(all)), limits.Floats(total, d+1)); err != nil {
		return nil, fmt.Errorf("sets: %w", err)
	}
	s := stackOf(all)
	return func(dst []float64, a Features, from int) {
		s.distances(a, from, from+len(dst), func(j int, d float64) { dst[j-from] = math.Exp(-d / k.width) })
	}, nil
}

// stack holds the features of several sets, one set after the other.
type stack struct {
	x     *mat.Dense
	sq    []float64 // ‖xᵢ‖²
	first []int     // of each set, the first row; then the number of rows
	inner []float64 // scratch
}

func stackOf(all []Features) *stack {
	s := &stack{first: make([]int, len(all)+1)}
	d := 0
	for i, f := range all {
		n, c := f.x.Dims()
		s.first[i+1], d = s.first[i]+n, c
		s.sq = append(s.sq, f.sq...)
	}
	s.x = mat.NewDense(len(s.sq), d, nil)
	for i, f := range all {
		s.x.Slice(s.first[i], s.first[i+1], 0, d).(*mat.Dense).Copy(f.x)
	}
	return s
}

// blockFeatures is about the number of features that are multiplied with a set at once: products of that size are fast, and stay in a cache.
const blockFeatures = 2048

// distances calls visit with D between a and each of the sets from, …, to−1.
func (s *stack) distances(a Features, from, to int, visit func(j int, d float64)) {
	demandFeatures(a)
	n, c := a.x.Dims()
	if _, d := s.x.Dims(); c != d {
		panic(mat.ErrShape)
	}
	for from < to {
		end := from + 1
		for end < to && s.first[end+1]-s.first[from] <= blockFeatures {
			end++
		}
		lo, m := s.first[from], s.first[end]-s.first[from]
		if cap(s.inner) < n*m {
			s.inner = make([]float64, n*m)
		}
		inner := s.inner[:n*m]
		// Each inner product is one chain of sums, so that blocks do not change its bits.
		product.Gemm(blas.NoTrans, blas.Trans, a.x.RawMatrix(), s.x.Slice(lo, lo+m, 0, c).(*mat.Dense).RawMatrix(),
			blas64.General{Rows: n, Cols: m, Stride: m, Data: inner})
		for j := from; j < end; j++ {
			visit(j, s.mean(inner, a, m, s.first[j]-lo, s.first[j+1]-lo, lo))
		}
		from = end
	}
}

// mean returns D between a and the set in the columns left, …, right−1 of inner products, m a row, which begin at feature lo.
func (s *stack) mean(inner []float64, a Features, m, left, right, lo int) float64 {
	sq := s.sq[lo+left : lo+right]
	least := make([]float64, len(sq)) // from each feature of the set to a
	for j := range least {
		least[j] = math.Inf(1)
	}
	var there float64
	for i, own := range a.sq {
		nearest := math.Inf(1)
		row := inner[i*m+left : i*m+right][:len(sq)]
		for j, y := range sq { // comparisons in place of min and max, which look for NaN
			d := own + y - 2*row[j]
			if d < nearest {
				nearest = d
			}
			if d < least[j] {
				least[j] = d
			}
		}
		there += max(nearest, 0)
	}
	var back float64
	for _, d := range least {
		back += max(d, 0)
	}
	return there/float64(len(a.sq)) + back/float64(len(sq))
}

func demandFeatures(f Features) {
	if f.x == nil {
		panic("sets: BestMatch: the zero value of Features, use Prepare")
	}
}
