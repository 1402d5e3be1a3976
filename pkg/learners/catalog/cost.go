package catalog

import (
	"math"

	"metriclab/pkg/kernels"
	"metriclab/pkg/limits"
)

// Size is what the cost of a fit depends on.
type Size struct {
	Rows, Features, Classes int
	// Pairs is the number of pairs, of a learner of pairs, and Passes how often an online one sees them.
	Pairs, Passes int
}

// Cost is a rough estimate of what a fit takes. Seconds were fitted to synthetic rows, classes of about their
// distance in width, on one core of 2.5 GHz (BenchmarkEstimate); with other rows an iterating learner may take a tenth of them or ten times
// as many. Bytes follow from the largest matrices that a fit holds.
type Cost struct {
	Seconds float64 // CPU time
	Bytes   int64   // at the peak, beside the rows given
}

// Estimate returns the cost of a fit with the parameters v, the zero Cost for a learner without Entry.Cost. Its time is
// rough: see Cost.
func (e Entry) Estimate(s Size, v Values) Cost {
	if e.Cost == nil {
		return Cost{}
	}
	return e.Cost(s, v)
}

// sizes are those of a Size as numbers that do not overflow in products.
type sizes struct{ n, d, c, m, passes float64 }

func sizesOf(s Size) sizes {
	return sizes{float64(s.Rows), float64(s.Features), float64(s.Classes), float64(s.Pairs), float64(max(s.Passes, 1))}
}

// cost returns seconds and the bytes of float64 numbers.
func cost(seconds, numbers float64) Cost {
	bytes := 8 * numbers
	if bytes >= math.MaxInt64/2 {
		return Cost{seconds, math.MaxInt64}
	}
	return Cost{seconds, int64(bytes)}
}

// overhead is what the smallest fit takes.
const overhead = 3e-5

// links is the size of pairs in numbers.
func (z sizes) links() float64 { return 3 * z.m }

// joined is the largest number of rows that the pairs join.
func (z sizes) joined() float64 { return min(z.n, 2*z.m) }

// small is the smaller of the numbers of rows and features.
func (z sizes) small() float64 { return min(z.n, z.d) }

func (z sizes) polaStep() float64 { return 1.5e-7*z.d + 1e-10*z.d*z.d }

func polaCost(s Size, _ Values) Cost {
	z := sizesOf(s)
	return cost(overhead+z.m*z.passes*z.polaStep(), 4*z.d*z.d+z.links())
}

func kernelPOLACost(s Size, _ Values) Cost {
	z := sizesOf(s)
	t := z.joined()
	return cost(overhead+z.m*z.passes*3.5e-7*t, 4*t*t+t*z.d+z.links())
}

func legoCost(s Size, _ Values) Cost {
	z := sizesOf(s)
	return cost(overhead+z.m*z.passes*(1.5e-8*z.d+4e-10*z.d*z.d), 3*z.d*z.d+z.links())
}

// batchPOLACost takes the fit to go on to its cap, as it does where the pairs cannot be separated.
func batchPOLACost(s Size, v Values) Cost {
	z := sizesOf(s)
	passes := 1000.0
	if n := v.Int("iterations"); n > 0 {
		passes = float64(n)
	}
	return cost(overhead+z.m*passes*z.polaStep(), 4*z.d*z.d+z.links())
}

func mmcCost(s Size, v Values) Cost {
	z := sizesOf(s)
	r := z.d
	if v.Text("matrix") == "diagonal" {
		return cost(overhead+1e-7*z.m*z.d, 2*z.m*z.d+z.d*z.d)
	}
	if v.Float("ridge") == 0 {
		r = min(z.d, z.m)
	}
	return cost(overhead+1e-7*z.m*r+2e-10*z.m*r*r+1e-9*r*r*r, z.m*z.d+z.m*r+4*r*r)
}

func rcaCost(s Size, _ Values) Cost {
	z := sizesOf(s)
	c := covarianceCost(s, Values{})
	c.Bytes = max(c.Bytes, c.Bytes+8*int64(z.links())) // of large ones the sum may overflow
	return c
}

// projectionCost is that of learners with one decomposition of the order of the smaller side of the rows.
func projectionCost(s Size, _ Values) Cost {
	z := sizesOf(s)
	q := z.small()
	return cost(overhead+1e-8*z.n*z.d+1.2e-10*z.n*z.d*q+5e-11*q*q*q, z.n*z.d+4*q*q)
}

// covarianceCost is that of learners with decompositions of the order of the features, or of the rows if these are fewer.
func covarianceCost(s Size, _ Values) Cost {
	z := sizesOf(s)
	q := z.small()
	return cost(overhead+1e-8*z.n*z.d+1.5e-10*z.n*z.d*q+2e-10*q*q*z.d, z.n*z.d+2*z.d*q+2*q*q)
}

func (z sizes) itmlStep() float64 { return 1e-8*z.d + 1e-10*z.d*z.d }

// itmlSteps returns the cap of projections onto the bounds of m links.
func itmlSteps(m float64, v Values) float64 {
	if n := v.Int("cycles"); n > 0 {
		return float64(n) * m
	}
	return 1e5
}

func itmlCost(s Size, v Values) Cost {
	z := sizesOf(s)
	return cost(overhead+itmlSteps(z.m, v)*z.itmlStep(), 4*z.d*z.d+2*z.links())
}

func itmlLabelsCost(s Size, v Values) Cost {
	z := sizesOf(s)
	m := float64(v.Int("links"))
	if m == 0 {
		m = 40 * z.c * (z.c - 1)
	}
	steps := 0.25 * itmlSteps(m, v)
	return cost(0.004+steps*z.itmlStep()+1e-7*m, 4*z.d*z.d+6*m)
}

func itmlTunedCost(s Size, v Values) Cost {
	z, one := sizesOf(s), itmlLabelsCost(s, v)
	return cost(12*one.Seconds+9*knnSeconds(z.n, z.n, z.d), float64(one.Bytes)/8+2*z.n*z.d)
}

func kernelITMLCost(s Size, v Values) Cost {
	z := sizesOf(s)
	t := z.joined()
	q := rankOf(z, t, v)
	return cost(overhead+itmlSteps(z.m, v)*1.2e-8*min(q, z.m)+1.5e-7*t*q+4e-10*t*q*q, 10*t*q+t*z.d+z.links())
}

func iplrCost(s Size, v Values) Cost {
	z := sizesOf(s)
	k := float64(v.Int("k"))
	if k == 0 {
		k = z.c
	}
	m := 2 * float64(v.Int("links")) * z.c
	return cost(overhead+1e-3*k*k+7e-6*z.n+2e-9*(z.n+m)*z.d*k, 3*z.d*k+4*k*k+m*(k+6)+z.n)
}

// rankOf returns the largest number of dimensions that the images of n rows span under the kernel of v.
func rankOf(z sizes, n float64, v Values) float64 {
	if l := v.Int("landmarks"); l > 0 {
		return min(n, float64(l))
	}
	return min(n, spanned(z, v))
}

func spanned(z sizes, v Values) float64 {
	switch v.Text("kernel") {
	case kernels.LinearName:
		return z.d
	case kernels.PolynomialName: // the binomial of d + degree over degree
		r := 1.0
		for i := range min(v.Int("degree"), 64) {
			r *= (z.d + float64(i) + 1) / float64(i+1)
		}
		return r
	}
	return math.Inf(1)
}

// inKernelSpace adds to the cost of a learner on rows in the space of a kernel that of making these, of rank q.
func inKernelSpace(z sizes, q float64, c Cost) Cost {
	const copies = 20 // of n×q numbers, for which package kernelized demands room
	made := cost(overhead+1.5e-7*z.n*q+4e-10*z.n*q*q+1e-9*z.n*z.d*q, copies*z.n*q)
	return Cost{c.Seconds + made.Seconds, max(c.Bytes, made.Bytes)}
}

// imagesOf returns the cost of a learner in the space of a kernel.
func imagesOf(of func(Size, Values) Cost) func(Size, Values) Cost {
	return func(s Size, v Values) Cost {
		z := sizesOf(s)
		q := rankOf(z, z.n, v)
		t := s
		t.Features = int(min(q, math.MaxInt32))
		return inKernelSpace(z, q, of(t, v))
	}
}

// closedInKernelSpace is that of learners in closed form, whose decompositions are part of making the rows.
func closedInKernelSpace(s Size, v Values) Cost {
	z := sizesOf(s)
	return inKernelSpace(z, rankOf(z, z.n, v), Cost{})
}

func lmnnCost(s Size, _ Values) Cost {
	z := sizesOf(s)
	return cost(overhead+6e-6*z.n*z.d+5e-8*z.n*z.n+2e-9*z.n*z.d*z.small(), z.n*(6*z.d+64+100)+4*z.d*z.d)
}

func mcmlCost(s Size, v Values) Cost {
	z := sizesOf(s)
	copies := 5.0
	if v.Float("ridge") > 0 {
		copies = 7
	}
	// Iterations become fewer where features are many.
	return cost(overhead+1.2e-8*z.n*z.n*min(z.d, 0.3*z.n), z.n*(copies*z.d+64)+4*z.d*z.d)
}

func ncaCost(s Size, v Values) Cost {
	z := sizesOf(s)
	k, passes := z.small(), 60.0
	if dim := v.Int("dim"); dim > 0 {
		k = min(k, float64(dim))
	}
	if v.Int("batch") > 0 {
		passes = 6 + float64(v.Int("passes"))
	}
	return cost(overhead+passes*z.n*z.n*(7e-9+1.5e-10*k), z.n*(9*z.d+256)+4*z.d*z.d)
}

func traceSSIKDRCost(s Size, v Values) Cost {
	z := sizesOf(s)
	t := z.joined()
	return cost(overhead+3e-3*t+1.5e-9*t*t*t, 12*t*t+z.links())
}

// knnSeconds estimates the time to classify a queries by their neighbours among n rows in r dimensions. In few
// dimensions a query looks at few rows.
func knnSeconds(a, n, r float64) float64 {
	return a * min(n*(3.5e-11*r+1e-9), 2e-6*math.Pow(1.32, r))
}

// KNN estimates the time to classify queries by their nearest neighbours among rows, under a metric with that number of
// dimensions.
func KNN(queries, rows, dimensions int) Cost {
	return Cost{
		Seconds: knnSeconds(float64(queries), float64(rows), float64(dimensions)),
		Bytes:   limits.Floats(queries+rows, dimensions),
	}
}
