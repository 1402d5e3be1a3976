package nearest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// shares are the votes by the words of Voters: all rows sorted.
func shares(sq []float64, y []int, k, classes int) []float64 {
	last := slices.Sorted(slices.Values(sq))[k-1]
	var m, t float64
	for _, d := range sq {
		if d < last {
			m++
		} else if d == last {
			t++
		}
	}
	out := make([]float64, classes)
	for i, d := range sq {
		if d < last {
			out[y[i]] += 1 / float64(k)
		} else if d == last {
			out[y[i]] += (float64(k) - m) / t / float64(k)
		}
	}
	return out
}

// smoothed is the formula of Calibration.
func smoothed(share []float64, shift, power float64) []float64 {
	out := make([]float64, len(share))
	sum := 0.0
	for c, s := range share {
		out[c] = math.Pow(s+shift, power)
		sum += out[c]
	}
	for c := range out {
		out[c] /= sum
	}
	return out
}

// tied draws rows of few different values, so that many distances are equal, and their labels.
func tied(rng *rand.Rand, n, classes int) (*mat.Dense, []int) {
	x, y := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		y[i] = rng.IntN(classes)
		for j := range 2 {
			x.Set(i, j, float64(rng.IntN(4)+(y[i]%2)*rng.IntN(2)))
		}
	}
	return x, y
}

func calibrated(t *testing.T, v *Voters, k, classes int) Calibration {
	t.Helper()
	b := NewBallots(classes)
	if err := v.LeaveOut(t.Context(), k, b); err != nil {
		t.Fatal(err)
	}
	return learned(t, b)
}

func learned(t *testing.T, b *Ballots) Calibration {
	t.Helper()
	c, err := b.Calibrate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCalibration compares with votes by sorting all rows, the formula as written, and the loss on a grid.
func TestCalibration(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 11))
	for trial := range 60 {
		n, classes := 2+rng.IntN(40), 1+rng.IntN(4)
		x, y := tied(rng, n, classes)
		k := 1 + rng.IntN(n+2)
		others := min(k, n-1)
		v, err := NewVoters(metric.Euclidean{}, x, y)
		if err != nil {
			t.Fatal(err)
		}
		c := calibrated(t, v, k, classes)
		held := make([][]float64, n) // by the others
		for i := range n {
			var sq []float64
			var label []int
			for j := range n {
				if j != i {
					sq = append(sq, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(j)))
					label = append(label, y[j])
				}
			}
			held[i] = shares(sq, label, others, classes)
		}
		loss := func(shift, power float64) (sum float64) {
			for i, s := range held {
				sum -= math.Log(smoothed(s, shift, power)[y[i]])
			}
			return sum
		}
		got := loss(c.Shift, c.Power)
		const tol = 1e-9 // of a sum of some 40 terms, at a minimum that is found to 1e-9
		for e := -12; e <= 2; e++ {
			shift := math.Ldexp(1, e)
			most := math.Log(float64(n+1)) / math.Log1p(1/shift)
			for step := range 101 {
				if want := loss(shift, most*float64(step)/100); got > want+tol*(1+want) {
					t.Fatalf("trial %d: loss %v at %+v, %v at %v, %v", trial, got, c, want, shift, most*float64(step)/100)
				}
			}
		}
		if c.Rows != n || c.Classes != classes {
			t.Errorf("trial %d: %+v of %d rows", trial, c, n)
		}
		q, _ := tied(rng, 8, classes)
		elected, err := v.Elect(t.Context(), q, min(k, n))
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range elected {
			sq := make([]float64, n)
			for j := range sq {
				sq[j] = metric.Euclidean{}.SqDist(q.RawRowView(i), x.RawRowView(j))
			}
			p, want := c.Probabilities(e), smoothed(shares(sq, y, min(k, n), classes), c.Shift, c.Power)
			var sum float64
			for l, p := range p {
				if sum += p; math.Abs(p-want[l]) > 1e-12 || p < 1/float64(n+1)/float64(classes)*(1-1e-12) || l != e.Labels[0] && p >= c.Probabilities(e)[e.Labels[0]] {
					t.Errorf("trial %d: %v elect %v, want %v", trial, c.Probabilities(e), e, want)
				}
			}
			if math.Abs(sum-1) > 1e-14 {
				t.Errorf("trial %d: the sum is %v", trial, sum)
			}
		}
		// HoldOut of the same rows one by one is LeaveOut, but for the order of what is added, which is none.
		if n > 2 {
			b := NewBallots(classes)
			for i := range n {
				rest := mat.NewDense(n-1, 2, nil)
				var label []int
				for j := range n {
					if j != i {
						rest.SetRow(len(label), x.RawRowView(j))
						label = append(label, y[j])
					}
				}
				w, err := NewVoters(metric.Euclidean{}, rest, label)
				if err == nil {
					err = w.HoldOut(t.Context(), x.Slice(i, i+1, 0, 2), y[i:i+1], k, b)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if other := learned(t, b); other != c {
				t.Errorf("trial %d: %+v of rows held out, %+v of rows left out", trial, other, c)
			}
		}
	}
}

// Where all rows are right, probabilities are Laplace's; where votes tell nothing, all are equal; and of one class it is 1.
func TestCalibrationEnds(t *testing.T) {
	for _, test := range []struct {
		name    string
		right   int // of 30 ballots, each of one vote
		classes int
		want    float64
	}{{"all right", 30, 3, 31. / 33}, {"a third", 10, 3, 1. / 3}, {"none", 0, 3, 1. / 3}, {"27", 27, 3, .9}, {"one class", 30, 1, 1}, {"no ballots", -1, 4, .25}} {
		b := NewBallots(test.classes)
		e := Election{Labels: []int{0}, Share: 1, Votes: []Vote{{0, 1}}}
		for i := range 30 {
			if test.right >= 0 {
				label := 0
				if i >= test.right {
					label = 1 + i%2
				}
				b.add(e, label, 1)
			}
		}
		if p := learned(t, b).Probabilities(e); math.Abs(p[0]-test.want) > 1e-9 { // as near as the power is
			t.Errorf("%s: %v, want %v", test.name, p[0], test.want)
		}
	}
	v, err := NewVoters(metric.Euclidean{}, mat.NewDense(1, 1, nil), []int{0})
	if err != nil {
		t.Fatal(err)
	}
	if c := calibrated(t, v, 1, 1); c.Rows != 0 {
		t.Errorf("of one row: %+v", c)
	}
}

// Classes of known posterior: x is uniform on (0, 1), and class 1 has the probability f(x), as class 0 has at 1 − x. What probability p is said of is true of a share p. Of the
// shares of votes it is not: those of one neighbour are 0 and 1.
func TestCalibrationOfKnownPosterior(t *testing.T) {
	for _, k := range []int{1, 2, 3, 10, 40} {
		for name, f := range map[string]func(x float64) float64{
			"line":  func(x float64) float64 { return x },
			"curve": func(x float64) float64 { return 1 / (1 + math.Exp(4-8*x)) },
		} {
			rng := rand.New(rand.NewPCG(uint64(k), 3))
			const n = 8000
			x, y := mat.NewDense(n, 1, nil), make([]int, n)
			for i := range n {
				u := rng.Float64()
				if x.Set(i, 0, u); rng.Float64() < f(u) {
					y[i] = 1
				}
			}
			v, err := NewVoters(metric.Euclidean{}, x, y)
			if err != nil {
				t.Fatal(err)
			}
			c := calibrated(t, v, k, 2)
			q := mat.NewDense(2000, 1, nil)
			for i := range 2000 {
				q.Set(i, 0, (float64(i)+.5)/2000)
			}
			elected, err := v.Elect(t.Context(), q, k)
			if err != nil {
				t.Fatal(err)
			}
			type bin struct{ said, votes, truth, n float64 }
			bins := make([]bin, 10)
			for i, e := range elected {
				p := c.Probabilities(e)[1]
				b := &bins[min(9, int(10*p))]
				b.said, b.truth, b.n = b.said+p, b.truth+f(q.At(i, 0)), b.n+1
				for _, v := range e.Votes {
					if v.Label == 1 {
						b.votes += v.Share
					}
				}
			}
			var off, raw float64
			for _, b := range bins {
				off += math.Abs(b.said-b.truth) / 2000
				raw += math.Abs(b.votes-b.truth) / 2000
			}
			const counted = .02 // 3.6 errors of the mean of 8,000 rows in halves
			if off > counted || k == 1 && raw < .1 {
				t.Errorf("%s, k = %d: off by %.4f on average, the shares of votes by %.3f", name, k, off, raw)
			}
		}
	}
}

// Neither the order of rows, names of classes, scales, the way of searching nor the number of cores changes a bit.
func TestCalibrationDependsOnVotesAlone(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	x, y := tied(rng, 300, 3)
	const k = 6
	of := func(m metric.SqDister, x *mat.Dense, y []int) Calibration {
		v, err := NewVoters(m, x, y)
		if err != nil {
			t.Fatal(err)
		}
		return calibrated(t, v, k, 3)
	}
	want := of(metric.Euclidean{}, x, y)
	if want.Power == 0 {
		t.Fatalf("%+v", want)
	}
	order := rng.Perm(300)
	shuffled, renamed := mat.NewDense(300, 2, nil), make([]int, 300)
	for i, from := range order {
		shuffled.SetRow(i, x.RawRowView(from))
		renamed[i] = (y[from] + 1) % 3
	}
	got := map[string]Calibration{"another order and other names": of(metric.Euclidean{}, shuffled, renamed), "a function": of(function{metric.Euclidean{}}, x, y)}
	for _, e := range []int{-490, 490} {
		var scaled mat.Dense
		scaled.Scale(math.Ldexp(1, e), x)
		got[fmt.Sprintf("scaled by 2^%d", e)] = of(metric.Euclidean{}, &scaled, y)
	}
	procs := runtime.GOMAXPROCS(1)
	got["one core"] = of(metric.Euclidean{}, x, y)
	runtime.GOMAXPROCS(procs)
	for name, c := range got {
		if c != want {
			t.Errorf("%s: %+v, want %+v", name, c, want)
		}
	}
}

func TestCalibrationErrors(t *testing.T) {
	x, y := tied(rand.New(rand.NewPCG(1, 1)), 50, 2)
	v, err := NewVoters(metric.Euclidean{}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBallots(2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, stopped := b.Calibrate(ctx)
	for name, err := range map[string]error{
		"cancelled before the fit": stopped,
		"k 0 of others":            v.LeaveOut(t.Context(), 0, b),
		"k 0":                      v.HoldOut(t.Context(), x, y, 0, b),
		"fewer labels":             v.HoldOut(t.Context(), x, y[1:], 1, b),
		"cancelled":                v.LeaveOut(ctx, 1, b),
		"cancelled, held":          v.HoldOut(ctx, x, y, 1, b),
	} {
		if err == nil {
			t.Errorf("%s passes", name)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("no classes pass")
		}
	}()
	NewBallots(0)
}
