package spectral

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/mat"
)

// TestQL: a decomposition, with the bits of gonum where Go fuses no products and sums, and one column of Z as it is among all.
func TestQL(t *testing.T) {
	rng := rand.New(rand.NewPCG(56, 1))
	for _, n := range []int{2, 3, 4, 7, 30, 90} {
		for name, m := range tridiagonals(rng, n) {
			d, e := m[0], m[1]
			one := make([]float64, n*n)
			for i := range n {
				one[i*n+i] = 1
			}
			name = fmt.Sprintf("%s, n = %d", name, n)
			values, rows := slices.Clone(d), slices.Clone(one)
			if !TridiagonalVectors(values, slices.Clone(e), rows) {
				t.Errorf("%s: failed", name)
				continue
			}
			vectors := mat.DenseCopyOf(mat.NewDense(n, n, rows).T())
			a := tridiagonalOf(d, e)
			checkPairs(t, name, a, values, vectors)
			for j := range n {
				alone, column := slices.Clone(d), slices.Clone(one[j*n:(j+1)*n])
				if !TridiagonalVectors(alone, slices.Clone(e), column) || !slices.Equal(alone, values) || !slices.Equal(column, vectors.RawRowView(j)) {
					t.Errorf("%s: column %d alone differs", name, j)
				}
			}
			if runtime.GOARCH != "amd64" {
				continue
			}
			want, work, z := slices.Clone(d), slices.Clone(e), slices.Clone(one)
			ok := tridiagonal(want, work, func() bool { return impl.Dsteqr(lapack.EVOrig, n, want, work, z, n, make([]float64, 2*n)) })
			if !ok || !slices.Equal(values, want) || !slices.Equal(vectors.RawMatrix().Data, z) {
				t.Errorf("%s: the bits are not those of gonum", name)
			}
		}
	}
}
