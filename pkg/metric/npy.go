package metric

import (
	"bufio"
	"fmt"
	"io"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
)

// WriteNPY writes x as a NumPy .npy file: two-dimensional, little-endian
// float64, C order (row by row), so that numpy.load gives back every bit. It
// returns an error, and writes nothing, if an entry is NaN or infinite. It panics
// if x is nil or empty.
func WriteNPY(w io.Writer, x mat.Matrix) error {
	d := mat.DenseCopyOf(x)
	if err := CheckFinite(d); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	b := bufio.NewWriter(w)
	if err := npy.Write(b, d); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return b.Flush()
}

// WriteFactorNPY writes the r×d factor L, M = LᵀL, by WriteNPY: in NumPy, X @ L.T
// embeds the rows of X. For a metric of rank 0 it writes one row of zeros, as
// EmbedRows does.
func (m *Mahalanobis) WriteFactorNPY(w io.Writer) error {
	if m.l == nil {
		return WriteNPY(w, mat.NewDense(1, m.dim, nil))
	}
	return WriteNPY(w, m.l)
}

// WriteMatrixNPY writes the d×d matrix M by WriteNPY. It returns an error if M and a
// copy do not fit limits.Memory.
func (m *Mahalanobis) WriteMatrixNPY(w io.Writer) error {
	if err := limits.Check(fmt.Sprintf("the matrix of a metric of %d features", m.dim), limits.Floats(2, m.dim, m.dim)); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return WriteNPY(w, m.M())
}
