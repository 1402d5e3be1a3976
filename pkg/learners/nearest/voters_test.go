package nearest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/sparse"
)

// chances are the chances that each label is taken, by the words of Voters: all rows sorted, votes as shares.
func chances(sq []float64, y []int, k int) map[int]float64 {
	order := make([]int, len(sq))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(sq[i], sq[j]) })
	last := sq[order[k-1]]
	var m, t float64
	for _, d := range sq {
		if d < last {
			m++
		} else if d == last {
			t++
		}
	}
	votes, nearest := map[int]float64{}, map[int]float64{}
	for _, i := range order {
		switch {
		case sq[i] < last:
			votes[y[i]]++
		case sq[i] == last:
			votes[y[i]] += (float64(k) - m) / t
		default:
			continue
		}
		if _, ok := nearest[y[i]]; !ok {
			nearest[y[i]] = sq[i]
		}
	}
	most := 0.0
	for _, v := range votes {
		most = max(most, v)
	}
	near := math.Inf(1)
	for l, v := range votes {
		if v > most-1e-9 { // shares of small whole numbers differ by more
			near = min(near, nearest[l])
		}
	}
	out := map[int]float64{}
	for l, v := range votes {
		if v > most-1e-9 && nearest[l] == near {
			out[l] = 1
		}
	}
	for l := range out {
		out[l] = 1 / float64(len(out))
	}
	return out
}

// function hides a metric, so that it is searched as any other.
type function struct{ metric.SqDister }

// TestVoters compares with sorting all rows, where many distances are equal, in all ways of searching, and in any order of rows.
func TestVoters(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 7))
	for trial := range 120 {
		n, m, values := 4+rng.IntN(40), 1+rng.IntN(8), 1+rng.IntN(4)
		draw := func(n int) *mat.Dense {
			x := mat.NewDense(n, 2, nil)
			for i := range n {
				x.SetRow(i, []float64{float64(rng.IntN(values)), float64(rng.IntN(values))})
			}
			return x
		}
		x, q := draw(n), draw(m)
		y, want := make([]int, n), make([]int, m)
		for i := range y {
			y[i] = rng.IntN(3)
		}
		for i := range want {
			want[i] = rng.IntN(3)
		}
		ks := []int{1, 2, 1 + rng.IntN(n-1)}
		var errors, out [3]float64
		for j, k := range ks {
			for i := range m {
				sq := make([]float64, n)
				for r := range n {
					sq[r] = metric.Euclidean{}.SqDist(q.RawRowView(i), x.RawRowView(r))
				}
				errors[j] += 1 - chances(sq, y, k)[want[i]]
			}
			for i := range n {
				var sq []float64
				var others []int
				for r := range n {
					if r != i {
						sq = append(sq, metric.Euclidean{}.SqDist(x.RawRowView(i), x.RawRowView(r)))
						others = append(others, y[r])
					}
				}
				out[j] += 1 - chances(sq, others, k)[y[i]]
			}
		}
		perm := rng.Perm(n)
		xp, yp := mat.NewDense(n, 2, nil), make([]int, n)
		for i, p := range perm {
			xp.SetRow(i, x.RawRowView(p))
			yp[i] = y[p]
		}
		sparsely := func(x *mat.Dense) *sparse.Matrix {
			s, err := sparse.Compress(x)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		for name, of := range map[string]struct {
			m metric.SqDister
			x mat.Matrix
			y []int
		}{
			"product":  {metric.Euclidean{}, x, y},
			"permuted": {metric.Euclidean{}, xp, yp},
			"function": {function{metric.Euclidean{}}, x, y},
			"sparse":   {metric.Euclidean{}, sparsely(x), y},
		} {
			v, err := NewVoters(of.m, of.x, of.y)
			if err != nil {
				t.Fatal(err)
			}
			got, err := v.Errors(t.Context(), q, want, ks)
			if err != nil {
				t.Fatal(err)
			}
			left, err := v.LeaveOneOut(t.Context(), ks)
			if err != nil {
				t.Fatal(err)
			}
			for j, k := range ks {
				if math.Abs(got[j]-errors[j]) > 1e-9 || math.Abs(left[j]-out[j]) > 1e-9 { // sums of at most 44 shares
					t.Errorf("trial %d, %s, %d of %d rows: %v and %v wrong, want %v and %v", trial, name, k, n, got[j], left[j], errors[j], out[j])
				}
			}
		}
	}
}

// TestVotersWithoutTies: without equal distances, and with an odd k and two classes, there is nothing to share.
func TestVotersWithoutTies(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	x, y := mat.NewDense(300, 3, nil), make([]int, 300)
	for i := range y {
		x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		y[i] = rng.IntN(4)
	}
	knn, err := NewKNN(metric.Euclidean{}, x, y, KNNOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVoters(metric.Euclidean{}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	ks := []int{1, 2, 3, 8, 50}
	want, err := knn.LeaveOneOut(t.Context(), ks)
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.LeaveOneOut(t.Context(), ks)
	if err != nil {
		t.Fatal(err)
	}
	for j := range ks {
		if got[j] != float64(want[j]) {
			t.Errorf("k = %d: %v wrong, KNN has %v", ks[j], got[j], want[j])
		}
	}
	one, err := v.Elect(t.Context(), x, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range one {
		if !slices.Equal(e.Labels, []int{y[i]}) || e.Share != 1 {
			t.Errorf("row %d itself elects %v", i, e)
		}
	}
}

func ExampleNewVoters() {
	x := mat.NewDense(4, 1, []float64{0, 2, 2, 9})
	voters, err := NewVoters(metric.Euclidean{}, x, []int{0, 0, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	// Two rows of different classes are as near as the first neighbour of 2: they share its vote. Of 0 there is one.
	elections, _ := voters.Elect(context.Background(), mat.NewDense(2, 1, []float64{2, 0}), 1)
	for _, e := range elections {
		fmt.Println(e.Labels, e.Share)
	}
	// Output:
	// [0 1] 0.5
	// [0] 1
}

func ExampleBallots() {
	x := mat.NewDense(6, 1, []float64{0, 1, 2, 10, 11, 12})
	voters, err := NewVoters(metric.Euclidean{}, x, []int{0, 0, 1, 1, 1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, ballots := context.Background(), NewBallots(2)
	if err := voters.LeaveOut(ctx, 3, ballots); err != nil {
		fmt.Println(err)
		return
	}
	calibration, _ := ballots.Calibrate(ctx) // of a context that is not done no error
	elections, _ := voters.Elect(ctx, mat.NewDense(2, 1, []float64{11, .5}), 3)
	for _, e := range elections {
		fmt.Printf("%v: share %.2f, probability %.2f\n", e.Labels, e.Share, calibration.Probabilities(e)[e.Labels[0]])
	}
	// Output:
	// [1]: share 1.00, probability 0.88
	// [0]: share 0.67, probability 0.54
}

// TestVotersManyEqual: of a few distinct rows, each is searched once.
func TestVotersManyEqual(t *testing.T) {
	const n = 30_000
	x, y := mat.NewDense(n, 1, nil), make([]int, n)
	for i := range y {
		x.Set(i, 0, float64(i%3))
		y[i] = i % 5 % 2 // of every 5 rows at one place, 2 are of class 1
	}
	v, err := NewVoters(metric.Euclidean{}, x, y)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.of) != 3 {
		t.Errorf("%d distinct rows, want 3", len(v.of))
	}
	got, err := v.LeaveOneOut(t.Context(), []int{1, n / 2})
	if err != nil {
		t.Fatal(err)
	}
	for j, wrong := range got {
		if wrong != n*2/5 {
			t.Errorf("k %d of 2: %v wrong, want those of class 1, %d", j+1, wrong, n*2/5)
		}
	}
}

func TestVotersRefusals(t *testing.T) {
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	v, err := NewVoters(metric.Euclidean{}, x, []int{0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"labels":      func() error { _, err := NewVoters(metric.Euclidean{}, x, []int{0}); return err },
		"empty":       func() error { _, err := NewVoters(metric.Euclidean{}, &mat.Dense{}, nil); return err },
		"k":           func() error { _, err := v.Elect(t.Context(), x, 4); return err },
		"no k":        func() error { _, err := v.Errors(t.Context(), x, []int{0, 0, 1}, nil); return err },
		"want":        func() error { _, err := v.Errors(t.Context(), x, []int{0}, []int{1}); return err },
		"leave 3 out": func() error { _, err := v.LeaveOneOut(t.Context(), []int{3}); return err },
		"columns":     func() error { _, err := v.Elect(t.Context(), mat.NewDense(1, 2, nil), 1); return err },
	} {
		if err := do(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
