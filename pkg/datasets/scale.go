package datasets

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/matrix"
)

// Preprocessing says how features are brought to comparable scales. The zero value
// leaves them as they are.
type Preprocessing int

const (
	// AsIs leaves features as they are.
	AsIs Preprocessing = iota
	// ZScore subtracts the mean and divides by the standard deviation (divisor n).
	ZScore
	// MinMax subtracts the least value and divides by the range, so that training
	// values become 0..1. Other rows may leave that interval.
	MinMax
)

var preprocessingNames = enum.Of[Preprocessing]("Preprocessing(%d)", "raw", "zscore", "minmax")

// String returns "raw", "zscore" or "minmax".
func (p Preprocessing) String() string { return preprocessingNames.Text(p) }

// Scaler maps each feature by x ↦ (x − shift)/scale, with numbers learned from
// training rows. A Scaler is not changed by its methods, which are safe for
// concurrent use.
type Scaler struct {
	// Dim is d, the number of features.
	Dim int
	// Fill holds per feature what stands for a missing cell (NaN), before scaling;
	// nil if no cell may be missing.
	Fill []float64
	// Shift and Scale hold one number per feature, Scale > 0; both are nil if
	// features stay as they are.
	Shift, Scale []float64
}

// FeatureError says which feature cannot be scaled, and why.
type FeatureError struct {
	Row    int // from 0; −1 if the error is of the column as a whole
	Column int // from 0
	Err    error
}

func (e *FeatureError) Error() string {
	if e.Row < 0 {
		return fmt.Sprintf("datasets: column %d: %v", e.Column, e.Err)
	}
	return fmt.Sprintf("datasets: row %d, column %d: %v", e.Row, e.Column, e.Err)
}

// Unwrap returns the cause.
func (e *FeatureError) Unwrap() error { return e.Err }

// FitScaler learns a Scaler from the rows of x, n×d. They should be the training
// rows alone: numbers learned from test rows too would tell about them.
//
// A feature is constant on x if its standard deviation is at most n·ε·|mean|, what round-off alone makes of one value
// computed in several ways, such as 0.1+0.2 and 0.3. It has scale 1, so that its training values become
// 0, or vanish beside those of other features, and others stay finite; constant lists such features, ascending. With impute, a
// missing cell (NaN) becomes the mean of the other cells of its column; it takes no
// part in the least and the greatest value, and deviates from the mean by 0.
//
// The error is a *FeatureError if a cell is missing and impute is false, if all
// cells of a column are, or if a variance overflows (so that squared distances
// would too), as it does if a cell is infinite. It panics if x is nil or empty or p
// is not one of the Preprocessing constants.
func FitScaler(x mat.Matrix, p Preprocessing, impute bool) (s *Scaler, constant []int, err error) {
	xd := matrix.Given("datasets: FitScaler: x", x)
	n, d := xd.Dims()
	s = &Scaler{Dim: d}
	if impute {
		s.Fill = make([]float64, d)
	}
	if p != AsIs {
		s.Shift, s.Scale = make([]float64, d), make([]float64, d)
	}
	for j := range d {
		c := column(xd, j)
		switch {
		case c.count == 0:
			return nil, nil, &FeatureError{-1, j, fmt.Errorf("all %d cells are missing, so there is no mean to impute", n)}
		case c.count < n && !impute:
			return nil, nil, &FeatureError{-1, j, fmt.Errorf("%d of %d cells are missing, want none, or missing cells imputed", n-c.count, n)}
		case math.IsNaN(c.deviation) || math.IsInf(c.deviation, 0):
			return nil, nil, &FeatureError{-1, j, errors.New("the variance overflows float64: rescale the feature")}
		}
		var shift, scale float64
		switch p {
		case AsIs, ZScore:
			shift, scale = c.mean, c.deviation
		case MinMax:
			shift, scale = c.least, c.greatest-c.least
		default:
			panic(fmt.Sprintf("datasets: %v is not a preprocessing", p))
		}
		if c.constant() {
			constant = append(constant, j)
			scale = 1
		}
		if s.Fill != nil {
			s.Fill[j] = c.mean
		}
		if s.Shift != nil {
			s.Shift[j], s.Scale[j] = shift, scale
		}
	}
	return s, constant, nil
}

// moments describe the cells of a column that are not missing.
type moments struct {
	count           int
	mean            float64
	deviation       float64 // divisor: all cells of the column
	least, greatest float64
}

func column(x *mat.Dense, j int) moments {
	n, _ := x.Dims()
	c := moments{least: math.Inf(1), greatest: math.Inf(-1)}
	// Sums are taken about the first value, so that a constant feature has exactly
	// its value as mean and a deviation of exactly 0.
	first := math.NaN()
	var sum, sq float64
	for i := range n {
		v := x.At(i, j)
		if math.IsNaN(v) {
			continue
		}
		if c.count == 0 {
			first = v
		}
		sum += v - first
		c.count++
		c.least, c.greatest = min(c.least, v), max(c.greatest, v)
	}
	c.mean = first + sum/float64(c.count)
	for i := range n {
		if v := x.At(i, j); !math.IsNaN(v) {
			sq += (v - c.mean) * (v - c.mean)
		}
	}
	c.deviation = math.Sqrt(sq / float64(n))
	if widest := max(c.greatest-c.mean, c.mean-c.least); sq < leastSquares && widest > 0 {
		// Squares vanish, or lose digits, though the feature varies.
		sq = 0
		for i := range n {
			if v := x.At(i, j); !math.IsNaN(v) {
				sq += (v - c.mean) / widest * ((v - c.mean) / widest)
			}
		}
		c.deviation = widest * math.Sqrt(sq/float64(n))
	}
	return c
}

// constant tells whether the cells differ by round-off at most. Where the deviation is in range, the bound is that of scikit-learn's StandardScaler.
func (c moments) constant() bool {
	const epsilon = 1.0 / (1 << 52)
	return c.deviation <= float64(c.count)*epsilon*math.Abs(c.mean)
}

// leastSquares is a sum of squares below which some of them may have lost digits.
const leastSquares = 1e-280

// Apply returns the scaled rows of x, n×d; x is left as it is. The error is a
// *FeatureError for a cell that is missing while Fill is nil, that is infinite, or
// that overflows when scaled. It panics if x is nil or does not have Dim columns.
func (s *Scaler) Apply(x mat.Matrix) (*mat.Dense, error) {
	xd := matrix.Given("datasets: Apply: x", x)
	n, d := xd.Dims()
	out := mat.NewDense(n, d, nil)
	if err := s.apply(out, xd); err != nil {
		return nil, err
	}
	return out, nil
}

// ApplyInPlace is Apply with the scaled rows in x itself. After an error the rows before that of the error, and part
// of this one, are scaled.
func (s *Scaler) ApplyInPlace(x *mat.Dense) error {
	if x == nil {
		panic("datasets: ApplyInPlace: x is nil")
	}
	return s.apply(x, x)
}

// apply sets dst to the scaled rows of x, which may be dst.
func (s *Scaler) apply(dst, x *mat.Dense) error {
	n, d := x.Dims()
	if d != s.Dim {
		panic(mat.ErrShape)
	}
	for i := range n {
		row := dst.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			if math.IsNaN(v) {
				if s.Fill == nil {
					return &FeatureError{i, j, errors.New("the cell is missing, and missing cells are not imputed")}
				}
				v = s.Fill[j]
			}
			u := v
			if s.Shift != nil {
				u = (v - s.Shift[j]) / s.Scale[j]
			}
			if math.IsInf(u, 0) || math.IsNaN(u) {
				return &FeatureError{i, j, fmt.Errorf("%v is too large", v)}
			}
			row[j] = u
		}
	}
	return nil
}
