package nearest

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// Calibration makes probabilities of classes of the votes of the k nearest rows. Class c with a share s_c of the votes has
//
//	p_c = (s_c + Shift)^Power / Σ_j (s_j + Shift)^Power,  j over all Classes.
//
// Shift and Power are those of the least log loss, −Σ log p of the class that each of the Rows held out has (see Ballots.Calibrate). Votes alone are no probabilities: they are
// 0 or 1 with one neighbour, and too timid where 4 votes of 5 are nearly always right. The shift is Lidstone's additive smoothing. The power is the temperature of Guo, Pleiss,
// Sun, Weinberger (On Calibration of Modern Neural Networks, ICML 2017, Section 4.2) at logits log(s_c + Shift). To learn both from rows that were held out is of Platt
// (Probabilistic Outputs for Support Vector Machines, 1999). More votes are never less probable, so no class is more probable than the one elected.
//
// Of two classes, one with all votes and one with none, the odds are at most Rows + 1: where all rows held out were right, this is Laplace's rule of succession,
// (Rows + 1)/(Rows + Classes) for the class with all votes. No probability is below 1/((Rows + 1)·Classes).
type Calibration struct {
	Classes      int // at least 1
	Rows         int // that were held out
	Shift, Power float64
}

// Probabilities returns the probability of each label 0 to Classes − 1: all above 0, of sum 1 but for round-off. The first of e.Labels has the most: in a tie, by
// the last bit. It panics if a label of e is not one of these.
func (c Calibration) Probabilities(e Election) []float64 {
	p := make([]float64, c.Classes)
	var sum float64
	none := c.raised(0)
	for i := range p {
		p[i] = none
	}
	for _, v := range e.Votes {
		p[v.Label] = c.raised(v.Share)
	}
	for _, q := range p {
		sum += q
	}
	for i := range p {
		p[i] /= sum
	}
	elected, most := e.Labels[0], 0.0
	for i, q := range p {
		if i != elected {
			most = max(most, q)
		}
	}
	if p[elected] <= most {
		p[elected] = math.Nextafter(most, 2)
	}
	return p
}

// raised is ((share + Shift)/Shift)^Power, from 1 to Rows + 1.
func (c Calibration) raised(share float64) float64 {
	return math.Exp(c.Power * logOdds(share, c.Shift))
}

func logOdds(share, shift float64) float64 { return math.Log1p(share / shift) }

// Ballots are votes on rows of known label that were held out. They are counted, so that memory is that of the different ones. They are safe for concurrent use.
type Ballots struct {
	classes int
	mu      sync.Mutex
	n       map[string]int // by the share of the row's own label and all shares, descending: 8 bytes each
}

// NewBallots returns none, on rows of labels 0 to classes − 1. It panics unless classes is at least 1.
func NewBallots(classes int) *Ballots {
	if classes < 1 {
		panic(fmt.Sprintf("nearest: NewBallots: %d classes", classes))
	}
	return &Ballots{classes: classes, n: map[string]int{}}
}

// add counts n rows of a label.
func (b *Ballots) add(e Election, label, n int) {
	all := make([]float64, 1, 1+len(e.Votes))
	for _, v := range e.Votes {
		if all = append(all, v.Share); v.Label == label {
			all[0] = v.Share
		}
	}
	slices.SortFunc(all[1:], func(x, y float64) int { return cmp.Compare(y, x) })
	key := make([]byte, 0, 8*len(all))
	for _, share := range all {
		key = binary.BigEndian.AppendUint64(key, math.Float64bits(share))
	}
	b.mu.Lock()
	b.n[string(key)] += n
	b.mu.Unlock()
}

// HoldOut adds to b the votes of the k nearest training rows, or of all if there are fewer, on rows that are none of them and have the labels want. Its other errors and its
// panics are those of Errors.
func (v *Voters) HoldOut(ctx context.Context, queries mat.Matrix, want []int, k int, b *Ballots) error {
	k = min(k, v.rows)
	m, err := v.queries("HoldOut", &queries, k)
	if err != nil {
		return err
	}
	if len(want) != m {
		return fmt.Errorf("knn: %d labels for %d queries", len(want), m)
	}
	return v.poll(ctx, queries, k, func(i int, found []Neighbour) { b.add(v.elect(found, k, -1, 0), want[i], 1) })
}

// LeaveOut adds to b the votes on each training row of its k nearest others, or of all others if there are fewer. With one row it adds nothing. Its other errors are those of LeaveOneOut.
func (v *Voters) LeaveOut(ctx context.Context, k int, b *Ballots) error {
	if v.rows == 1 {
		return nil
	}
	k = min(k, v.rows-1)
	if _, err := v.knn.made().checkKs([]int{k}, v.rows-1, "the number of other training rows"); err != nil {
		return err
	}
	return v.poll(ctx, nil, k, func(i int, found []Neighbour) {
		for _, own := range v.of[i] {
			b.add(v.elect(found, k, i, own.label), own.label, own.n)
		}
	})
}

// Calibrate returns the Calibration of least log loss on the ballots. Shift is a power of 2 from 2⁻¹² to 4; the loss is convex in Power, which is within 1e-9 of the best one, relatively,
// or at an end: 0 where votes tell nothing. Without ballots all classes are equally probable. Neither the order of rows nor the names of classes have a part in it. It returns an error if ctx is done.
func (b *Ballots) Calibrate(ctx context.Context) (Calibration, error) {
	type ballot struct {
		own   int // the place of the own share, −1 if it is 0
		share []float64
		n     float64
	}
	var all []ballot
	rows := 0
	for _, key := range slices.Sorted(maps.Keys(b.n)) {
		shares := make([]float64, len(key)/8)
		for i := range shares {
			shares[i] = math.Float64frombits(binary.BigEndian.Uint64([]byte(key[8*i:])))
		}
		all = append(all, ballot{slices.Index(shares[1:], shares[0]), shares[1:], float64(b.n[key])})
		rows += b.n[key]
	}
	best, least := Calibration{b.classes, rows, 1, 0}, math.Inf(1)
	odds := make([][]float64, len(all))
	for e := -12; e <= 2; e++ {
		shift := math.Ldexp(1, e)
		for i, x := range all {
			odds[i] = make([]float64, len(x.share))
			for j, s := range x.share {
				odds[i][j] = logOdds(s, shift)
			}
		}
		// at returns the loss at a power, and its first two derivatives.
		at := func(power float64) (loss, slope, curve float64) {
			for i, x := range all {
				sum, mean, square := float64(b.classes-len(odds[i])), 0.0, 0.0
				for _, o := range odds[i] {
					w := math.Exp(power * o)
					sum, mean, square = sum+w, mean+w*o, square+w*o*o
				}
				mean, square = mean/sum, square/sum
				own := 0.0
				if x.own >= 0 {
					own = odds[i][x.own]
				}
				loss += x.n * (math.Log(sum) - power*own)
				slope += x.n * (mean - own)
				curve += x.n * (square - mean*mean)
			}
			return loss, slope, curve
		}
		power := lowest(math.Log(float64(rows+1))/logOdds(1, shift), func(p float64) (slope, curve float64) {
			if ctx.Err() == nil {
				_, slope, curve = at(p)
			}
			return slope, curve
		})
		if err := ctx.Err(); err != nil {
			return Calibration{}, fmt.Errorf("knn: %w", err)
		}
		if loss, _, _ := at(power); loss < least*(1-1e-12) { // with one neighbour all shifts are as good
			least, best = loss, Calibration{b.classes, rows, shift, power}
		}
	}
	return best, nil
}

// lowest returns where in [0, most] a convex function has its minimum, given its first two derivatives: by Newton's steps, or by halving where one leaves the bracket.
func lowest(most float64, at func(x float64) (slope, curve float64)) float64 {
	if slope, _ := at(0); slope >= 0 {
		return 0
	}
	if slope, _ := at(most); slope <= 0 {
		return most
	}
	lo, hi := 0.0, most
	x := most / 2
	for {
		slope, curve := at(x)
		if slope > 0 {
			hi = x
		} else {
			lo = x
		}
		next := x - slope/curve
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-x) <= 1e-10*x || hi-lo <= 1e-10*hi {
			return next
		}
		x = next
	}
}
