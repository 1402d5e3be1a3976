package labels

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// The kinds under which package persist stores the projections.
const (
	PCAKind = "labels/pca"
	FDAKind = "labels/fda"
)

// projection is what PCA, LSA and FDA save: x ↦ W(x − μ), and one value per row of W.
type projection struct {
	Mean   persist.Floats `json:"mean"`
	Rows   persist.Floats `json:"rows"` // W, row by row
	Values persist.Floats `json:"values"`
}

// Save writes the components in the format of package persist, kind
// "labels/pca". What is loaded from it transforms to the same bits.
func (p *PCA) Save(w io.Writer) error {
	return save(w, PCAKind, struct{}{}, p.made().mean, p.w, p.variances)
}

// LoadPCA reads what PCA.Save wrote. Its errors wrap those of package persist if
// the file is foreign, newer, damaged or of another kind.
func LoadPCA(r io.Reader) (*PCA, error) {
	s, w, err := load(r, PCAKind, &struct{}{})
	if err != nil {
		return nil, err
	}
	return &PCA{mean: s.Mean, w: w, variances: s.Values, residual: math.NaN()}, nil
}

// Save writes the directions in the format of package persist, kind
// "labels/fda". What is loaded from it transforms to the same bits.
func (f *FDA) Save(w io.Writer) error {
	return save(w, FDAKind, struct{}{}, f.made().mean, f.w, f.values)
}

// LoadFDA reads what FDA.Save wrote. Its errors wrap those of package persist if
// the file is foreign, newer, damaged or of another kind.
func LoadFDA(r io.Reader) (*FDA, error) {
	s, w, err := load(r, FDAKind, &struct{}{})
	if err != nil {
		return nil, err
	}
	return &FDA{mean: s.Mean, w: w, values: s.Values}, nil
}

func save(out io.Writer, kind string, params any, mean []float64, w *mat.Dense, values []float64) error {
	rows := mat.DenseCopyOf(w).RawMatrix().Data // without gaps between rows
	return persist.Write(out, kind, params, projection{mean, rows, values})
}

func load(r io.Reader, kind string, params any) (projection, *mat.Dense, error) {
	var s projection
	if err := persist.Load(r, kind, params, &s); err != nil {
		return projection{}, nil, err
	}
	w, err := s.matrix()
	if err != nil {
		return projection{}, nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, kind, err)
	}
	return s, w, nil
}

// matrix returns W, or an error if the parts do not fit or hold other numbers
// than a projection can.
func (s projection) matrix() (*mat.Dense, error) {
	k, d := len(s.Values), len(s.Mean)
	// k and d are numbers that were read, so that their product cannot overflow.
	if k < 1 || k > d || len(s.Rows) != k*d {
		return nil, fmt.Errorf("arrays of %d, %d and %d numbers are no projection", d, len(s.Rows), k)
	}
	w := mat.NewDense(k, d, s.Rows)
	if err := metric.CheckFinite(mat.NewDense(1, d, s.Mean)); err != nil {
		return nil, fmt.Errorf("mean: %w", err)
	}
	if err := metric.CheckFinite(w); err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	for i, v := range s.Values {
		if !(v >= 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("values[%d]: %v is not allowed, want a finite number ≥ 0", i, v)
		}
	}
	return w, nil
}
