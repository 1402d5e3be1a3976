package plain_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// Rows of two classes, which the first feature tells apart and the second does not.
var (
	rows    = mat.NewDense(6, 2, []float64{0, 0, 0.2, 2, 0.1, -2, 2, 0.1, 2.2, 2, 1.9, -2})
	classes = []int{0, 0, 0, 1, 1, 1}
)

// links are all pairs of rows.
func links() (out []metric.Link) {
	for i := range classes {
		for j := range i {
			out = append(out, metric.Link{I: j, J: i, Label: metric.SameClass(classes[i] == classes[j])})
		}
	}
	return out
}

// pairs are the links as pairs of vectors.
func pairs() (out []metric.Pair) {
	for _, l := range links() {
		out = append(out, metric.Pair{X: rows.RawRowView(l.I), Y: rows.RawRowView(l.J), Label: l.Label})
	}
	return out
}

// show prints a matrix with two decimals.
func show(name string, m mat.Matrix) {
	fmt.Printf("%s = %.2f\n", name, mat.Formatted(m, mat.Prefix("    "), mat.Squeeze()))
}

func ExamplePOLA() {
	l := plain.NewPOLA(2)
	for _, p := range pairs() {
		l.Step(p)
	}
	show("A", l.A)
	fmt.Printf("b = %.2f\n", l.B)
	// Output:
	// A = ⎡ 0.61  -0.03⎤
	//     ⎣-0.03   0.00⎦
	// b = 1.00
}

// With inner products as they are, POLA between images is POLA.
func ExampleKernelPOLA() {
	l, images := plain.NewPOLA(2), plain.NewKernelPOLA(floats.Dot)
	var losses [2]float64
	for _, p := range pairs() {
		loss, _ := l.Step(p)
		_, same, _ := images.Step(p)
		losses[0] += loss
		losses[1] += same
	}
	fmt.Printf("losses %.4f, b = %.2f; terms of A: %d\n", losses, images.B, len(images.Beta))
	// Output:
	// losses [3.5524 3.5524], b = 1.00; terms of A: 9
}

func ExampleNCA() {
	l := mat.NewDense(1, 2, []float64{0.5, 0.5}) // to one dimension
	before, _ := plain.NCAObjective(rows, classes, l)
	l = plain.NCA(rows, classes, l, 0.1, 100)
	after, _ := plain.NCAObjective(rows, classes, l)
	fmt.Printf("f = %.2f, then %.2f of 6\n", before, after)
	show("L", l)
	// Output:
	// f = 1.93, then 6.00 of 6
	// L = [1.61  -0.07]
}

func ExampleBatchPOLA() {
	l := plain.NewPOLA(2)
	steps := plain.BatchPOLA(l, pairs(), 0.01, 1000)
	fmt.Println("no loss above 0.01:", steps < 1000)
	show("A", l.A)
	fmt.Printf("b = %.2f\n", l.B)
	// Output:
	// no loss above 0.01: true
	// A = ⎡ 0.62  -0.02⎤
	//     ⎣-0.02   0.00⎦
	// b = 1.01
}

func ExampleBatchPOLAPasses() {
	l := plain.NewPOLA(2)
	passes := plain.BatchPOLAPasses(l, pairs(), 0.01, 1000)
	fmt.Println("no loss above 0.01:", passes < 1000)
	// Output:
	// no loss above 0.01: true
}

func ExamplePA() {
	for _, r := range []struct {
		name string
		rate plain.Rate
	}{{"PA", plain.HardRate}, {"PA-I", plain.LinearRate(0.05)}, {"PA-II", plain.SquaredRate(0.05)}} {
		l := plain.NewPA(2, r.rate)
		for _, p := range pairs() {
			l.Step(p)
		}
		fmt.Printf("%s: M is %.2f and %.2f on its diagonal, b = %.2f\n", r.name, l.M.At(0, 0), l.M.At(1, 1), l.B)
	}
	// Output:
	// PA: M is 0.61 and 0.00 on its diagonal, b = 1.00
	// PA-I: M is 0.62 and 0.00 on its diagonal, b = 1.01
	// PA-II: M is 0.54 and 0.00 on its diagonal, b = 1.01
}

func ExampleLeastSquaresRate() {
	l := plain.NewPA(2, plain.LeastSquaresRate(0.5))
	l.Every = 0 // the "−" version
	for _, p := range pairs() {
		l.Step(p)
	}
	m, b := l.Final()
	show("M", m)
	fmt.Printf("b = %.2f\n", b)
	// Output:
	// M = ⎡ 0.32  -0.10⎤
	//     ⎣-0.10   0.03⎦
	// b = 1.00
}

func ExampleLEGO() {
	l := plain.NewLEGO(2, 0.5, 1, 3)
	for _, p := range pairs() {
		l.Step(p)
	}
	show("A", l.A)
	// Output:
	// A = ⎡ 0.78  -0.04⎤
	//     ⎣-0.04   0.08⎦
}

func ExampleITML() {
	r := plain.ITML(mat.NewDiagDense(2, []float64{1, 1}), rows, links(), plain.Bounds{Upper: 1, Lower: 3}, 10, 100)
	show("W", r.K)
	// Output:
	// W = ⎡ 0.99  -0.05⎤
	//     ⎣-0.05   0.07⎦
}

func ExampleLogDet() {
	k0 := mat.NewSymDense(6, nil)
	k0.SymOuterK(1, rows)
	r := plain.LogDet(k0, links(), plain.Bounds{Upper: 1, Lower: 3}, 10, 100)
	sq := func(k mat.Symmetric, i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
	fmt.Printf("rows 1 and 2, of one class: %.2f before, %.2f after\n", sq(k0, 1, 2), sq(r.K, 1, 2))
	// Output:
	// rows 1 and 2, of one class: 16.01 before, 1.05 after
}

func ExampleIPLR() {
	first := mat.NewDense(1, 2, []float64{1, 0}) // learn along the first feature alone
	r := plain.IPLR(rows, first, links(), plain.Bounds{Upper: 20, Lower: 30}, 1, 100)
	fmt.Printf("F = %.2f\n", r.K.At(0, 0))
	// Output:
	// F = 3.80
}

func ExampleRCA() {
	show("M", plain.RCA(rows, links(), 0))
	// Output:
	// M = ⎡222.09  -11.05⎤
	//     ⎣-11.05    0.92⎦
}

func ExampleMMC() {
	a, updates, _ := plain.MMC(rows, links(), 10_000)
	show("A", a)
	fmt.Println(updates, "updates")
	// Output:
	// A = ⎡12.08  -0.51⎤
	//     ⎣-0.51   0.02⎦
	// 13 updates
}

func ExampleSSIKDR() {
	k0 := mat.NewSymDense(6, nil)
	k0.SymOuterK(1, rows)
	var cs []plain.Constraint
	for _, l := range links() {
		sign, bound := 1.0, 0.5
		if l.Label == metric.Dissimilar {
			sign, bound = -1, 4
		}
		e := mat.NewVecDense(6, nil)
		e.SetVec(l.I, 1)
		e.SetVec(l.J, -1)
		c := mat.NewSymDense(6, nil)
		c.SymRankOne(c, sign, e)
		cs = append(cs, plain.Constraint{C: c, Bound: sign * bound})
	}
	k, _ := plain.SSIKDR{Tau: 4, Linear: 10}.Fit(k0, cs, 2000)
	sq := func(k mat.Symmetric, i, j int) float64 { return k.At(i, i) + k.At(j, j) - 2*k.At(i, j) }
	fmt.Printf("rows 1 and 2, of one class: %.2f before, %.2f after\n", sq(k0, 1, 2), sq(k, 1, 2))
	fmt.Printf("rows 0 and 3, of different ones: %.2f before, %.2f after\n", sq(k0, 0, 3), sq(k, 0, 3))
	// Output:
	// rows 1 and 2, of one class: 16.01 before, 0.35 after
	// rows 0 and 3, of different ones: 4.01 before, 4.66 after
}

func ExampleERKLE() {
	l := plain.NewERKLE(3)
	for range 3 {
		l.Step(metric.Triplet{A: 0, Near: 1, Far: 2}) // 0 is nearer to 1 than to 2
	}
	sq := func(i, j int) float64 { return l.K.At(i, i) + l.K.At(j, j) - 2*l.K.At(i, j) }
	fmt.Printf("d²(0, 1) = %.2f, d²(0, 2) = %.2f\n", sq(0, 1), sq(0, 2))
	// Output:
	// d²(0, 1) = 1.50, d²(0, 2) = 2.50
}

// Only the first feature says what is alike.
func ExampleOASIS() {
	l := plain.NewOASIS(2, 1)
	for range 2 {
		loss, tau := l.Step(metric.Comparison{A: []float64{1, 1}, Near: []float64{1, 0}, Far: []float64{0, 1}})
		fmt.Printf("loss %.2f, step %.2f\n", loss, tau)
	}
	show("W", l.W)
	// Output:
	// loss 1.00, step 0.25
	// loss 0.00, step 0.00
	// W = ⎡1.25  -0.25⎤
	//     ⎣0.25   0.75⎦
}

func ExampleRMP() {
	l := plain.NewRMP(2, 3, 1, math.Ln2)
	l.Step(mat.NewDense(2, 3, []float64{0, 1, 1, 0, 0, 1})) // prototype 0 is best for both objects
	sets, p := l.Law()
	for k, s := range sets {
		fmt.Printf("%v with probability %.3f\n", s, p[k])
	}
	fmt.Println(len(l.Draw(rand.New(rand.NewPCG(1, 1)))), "objects mapped")
	// Output:
	// [0] with probability 0.571
	// [1] with probability 0.286
	// [2] with probability 0.143
	// 2 objects mapped
}
