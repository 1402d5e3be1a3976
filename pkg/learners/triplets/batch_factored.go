package triplets

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"metriclab/internal/lbfgs"
	"metriclab/internal/product"
	"metriclab/internal/vector"
)

const (
	// legs are the steps between two projections: legLeast, or legShare of all iterations so far if
	// that is more.
	legLeast, legShare = 20, 0.25
	// smoothingFactored is ε of the hinge's envelope in units of the margin. The multipliers move every
	// legLeast steps: by experiment, as smoothing.
	smoothingFactored = 2
	// memory is the number of pairs that L-BFGS keeps; 10 saved no time.
	memory = 3
)

// factors is K = XXᵀ, one X per block, and L-BFGS over X.
type factors struct {
	lbfgs.State
	columns, first []int     // of each block: the columns of its X, and where it begins
	full           []float64 // a square matrix of the largest order, and a copy for its factorisation
	pivots         []int
	work           []float64
	residual       float64 // at the last projection
}

func newFactors(l *layout) *factors {
	return &factors{
		State:   lbfgs.New(l.size, memory),
		columns: make([]int, len(l.blocks)), first: make([]int, len(l.blocks)),
		full: make([]float64, l.largest*l.largest), pivots: make([]int, l.largest), work: make([]float64, 2*l.largest),
	}
}

// leg makes steps on X from now, as many as there are between two projections.
func (f *batchFit) leg() error {
	c := f.factors
	f.factorise()
	f.refresh()
	if len(c.X) == 0 {
		return nil
	}
	if c.Scale == 0 {
		top := 0.0
		for _, d := range f.diagonal {
			top = max(top, f.now.k[d])
		}
		c.Scale = f.step / (4 * top)
	}
	c.Pairs = 0
	for i := range max(legLeast, int(legShare*float64(f.iterations))) {
		if f.iterations == f.p.Iterations {
			break
		}
		f.report()
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if i > 0 && i%legLeast == 0 {
			f.refresh()
		}
		if !f.factorStep() {
			c.Scale = 0
			break
		}
		f.iterations++
	}
	return f.ctx.Err()
}

// refresh moves the multipliers of the hinge, and takes the gradient by X at now.
func (f *batchFit) refresh() {
	if f.p.Loss == GNMDS {
		f.loss.move(f.now.near, f.now.far)
	}
	f.now.smooth = f.loss.smooth(f.now.near, f.now.far, f.wn, f.wf) + f.p.Tau*f.trace(f.now.k)
	f.factorGradient(f.factors.G, f.factors.X)
}

// factorStep makes one step of L-BFGS, and reports whether it lowered the objective.
func (f *batchFit) factorStep() bool {
	c := f.factors
	c.Aim()
	if !c.Search(f.ctx, f.now.smooth, func() float64 {
		f.product(f.next, c.Next)
		f.sqDists(f.next.near, f.next.far, f.next.k, f.diag)
		f.next.smooth = f.loss.smooth(f.next.near, f.next.far, f.wn, f.wf) + f.p.Tau*f.trace(f.next.k)
		return f.next.smooth
	}) {
		return false
	}
	f.finish(f.next)
	f.factorGradient(c.GNext, c.Next)
	c.Remember()
	f.advance()
	return true
}

// matrix returns the X of block i within x.
func (c *factors) matrix(x []float64, i, order int) blas64.General {
	r := c.columns[i]
	return blas64.General{Rows: order, Cols: r, Stride: max(1, r), Data: x[c.first[i] : c.first[i]+order*r]}
}

// factorise sets x to factors of now by a Cholesky decomposition with pivots of each block, and
// resizes what depends on their ranks.
func (f *batchFit) factorise() {
	c := f.factors
	size := 0
	for i, b := range f.blocks {
		m := len(b.objects)
		a := c.full[:m*m]
		copy(a, f.now.k[b.first:])
		rank, _ := impl.Dpstrf(blas.Lower, m, a, m, c.pivots[:m], -1, c.work[:2*m])
		c.columns[i], c.first[i] = rank, size
		size += m * rank
		c.X = c.X[:size]
		x := c.matrix(c.X, i, m)
		for row, to := range c.pivots[:m] {
			for j := range rank {
				v := 0.0
				if j <= row {
					v = a[row*m+j]
				}
				x.Data[to*x.Stride+j] = v
			}
		}
	}
	c.Resize(size)
}

// product sets q.k to XXᵀ.
func (f *batchFit) product(q *point, x []float64) {
	c := f.factors
	q.spectra = nil
	for i, b := range f.blocks {
		m := len(b.objects)
		full := c.full[:m*m]
		product.Syrk(blas.NoTrans, c.matrix(x, i, m), blas64.Symmetric{Uplo: blas.Upper, N: m, Stride: m, Data: full})
		transpose(q.k[b.first:b.first+m*m], full, m, false)
	}
}

// factorGradient sets g to 2GX, G the gradient by K with the weights of the triplets.
func (f *batchFit) factorGradient(g, x []float64) {
	c := f.factors
	f.gradient(f.g, f.wn, f.wf, f.diag, f.p.Tau)
	for i, b := range f.blocks {
		m := len(b.objects)
		full := c.full[:m*m]
		lower := f.g[b.first : b.first+m*m]
		transpose(full, lower, m, true)
		product.Gemm(blas.NoTrans, blas.NoTrans, blas64.General{Rows: m, Cols: m, Stride: m, Data: full}, c.matrix(x, i, m), c.matrix(g, i, m))
	}
	blas64.Scal(2, vector.Of(g))
}

// transpose sets the lower triangle of the m×m matrix dst to the transposed upper one of src, or, for
// both, dst to the symmetric matrix with the lower triangle src.
func transpose(dst, src []float64, m int, both bool) {
	const tile = 32
	for p := 0; p < m; p += tile {
		for q := 0; q <= p; q += tile {
			for i := p; i < min(m, p+tile); i++ {
				for j := q; j < min(i+1, q+tile); j++ {
					if both {
						v := src[i*m+j]
						dst[i*m+j], dst[j*m+i] = v, v
					} else {
						dst[i*m+j] = src[j*m+i]
					}
				}
			}
		}
	}
}
