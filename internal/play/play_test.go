package play

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets/synthetic"
	"metriclab/pkg/learners/plain"
	"metriclab/pkg/metric"
)

// ask calls a Player as the page does.
func ask[R any](t *testing.T, p *Player, name string, args any) (out R) {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	answer := p.Call(name, raw)
	if strings.HasPrefix(string(answer), `{"error"`) {
		t.Fatalf("%s: %s", name, answer)
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// stream is what the page tells of a set of points.
func stream(t *testing.T, d Data) (Points, [][5]float64) {
	points := ask[Points](t, &Player{}, "data", d)
	var out [][5]float64
	for _, p := range points.Pairs {
		a, b := points.Points[p[0]], points.Points[p[1]]
		out = append(out, [5]float64{a[0], a[1], b[0], b[1], float64(p[2])})
	}
	return points, out
}

// Rounds are those of the algorithms as printed. Both compute some ten products a round, of numbers below 100.
func TestPairsArePlain(t *testing.T) {
	const tolerance = 1e-9
	_, pairs := stream(t, Data{Set: "clouds", Angle: 30, Wrong: .1, Pairs: 60})
	pola := plain.NewPOLA(2)
	pola.Gamma = .5
	pa, pa1, pa2 := plain.NewPA(2, plain.HardRate), plain.NewPA(2, plain.LinearRate(.2)), plain.NewPA(2, plain.SquaredRate(.2))
	for _, c := range []struct {
		rule Rule
		step func(metric.Pair) (float64, float64)
		held func() (*mat.SymDense, float64)
	}{
		{Rule{Name: "pola", Gamma: .5}, pola.Step, func() (*mat.SymDense, float64) { return pola.A, pola.B }},
		{Rule{Name: "pa"}, pa.Step, func() (*mat.SymDense, float64) { return pa.M, pa.B }},
		{Rule{Name: "pa1", C: .2}, pa1.Step, func() (*mat.SymDense, float64) { return pa1.M, pa1.B }},
		{Rule{Name: "pa2", C: .2}, pa2.Step, func() (*mat.SymDense, float64) { return pa2.M, pa2.B }},
	} {
		learned := ask[Learned](t, &Player{}, "pairs", Pairs{Rule: c.rule, Pairs: pairs})
		wrongs := 0
		for i, p := range pairs {
			r := learned.Rounds[i]
			_, step := c.step(metric.Pair{X: p[:2], Y: p[2:4], Label: metric.Label(p[4])})
			a, b := c.held()
			got := []float64{r.Step, r.After.A[0], r.After.A[1], r.After.A[2], r.After.B, r.BAfter}
			want := []float64{step, a.At(0, 0), a.At(0, 1), a.At(1, 1), b, b}
			for k := range got {
				if math.Abs(got[k]-want[k]) > tolerance {
					t.Fatalf("%s, pair %d: got %v, want %v", c.rule.Name, i, got, want)
				}
			}
			// The second projection takes Lambda away from the first one's hypothesis, and nothing else.
			low, _, _ := eigen(r.Half.A)
			if removed := r.Half.A[0] + r.Half.A[2] - r.After.A[0] - r.After.A[2]; r.Step != 0 && (math.Abs(removed-r.Lambda) > tolerance || math.Abs(math.Min(0, low)-r.Lambda) > tolerance) {
				t.Fatalf("%s, pair %d: the trace falls by %v, λ is %v", c.rule.Name, i, removed, r.Lambda)
			}
			if r.Wrong {
				wrongs++
			}
			recent := 0
			for _, q := range learned.Rounds[max(0, i-19) : i+1] {
				if q.Wrong {
					recent++
				}
			}
			if r.Wrongs != wrongs || r.Recent != recent {
				t.Fatalf("%s, pair %d: %d wrong, %d of the last 20, want %d, %d", c.rule.Name, i, r.Wrongs, r.Recent, wrongs, recent)
			}
		}
	}
}

func TestLiftIsPlain(t *testing.T) {
	_, pairs := stream(t, Data{Set: "rings", Pairs: 30})
	learned := ask[Learned](t, &Player{}, "pairs", Pairs{Rule: Rule{Name: "kernel-pola"}, Pairs: pairs})
	l := plain.NewKernelPOLA(func(x, y []float64) float64 { return math.Pow(x[0]*y[0]+x[1]*y[1], 2) })
	for i, p := range pairs {
		sq, loss, step := l.Step(metric.Pair{X: p[:2], Y: p[2:4], Label: metric.Label(p[4])})
		r := learned.Rounds[i]
		// Kernel Gram–Schmidt loses some digits on both sides.
		for _, v := range [][2]float64{{r.SqDist, sq}, {r.Loss, loss}, {r.Step, step}, {r.BAfter, l.B}} {
			if math.Abs(v[0]-v[1]) > 1e-6*max(1, math.Abs(v[1])) {
				t.Fatalf("pair %d: got %v, want %v", i, v[0], v[1])
			}
		}
	}
}

// The comparator is without loss, so that the theorem applies, and it holds.
func TestBound(t *testing.T) {
	_, pairs := stream(t, Data{Set: "clouds", Angle: 75, Pairs: 80})
	for n := 1; n <= len(pairs); n++ {
		b := ask[Learned](t, &Player{}, "pairs", Pairs{Rule: Rule{Name: "pola"}, Pairs: pairs[:n]}).Bound
		if b == nil {
			t.Fatalf("no metric is right about %d pairs of clouds that a line separates", n)
		}
		star := plain.NewPOLA(2)
		star.A, star.B = mat.NewSymDense(2, []float64{b.Star.A[0], b.Star.A[1], b.Star.A[1], b.Star.A[2]}), b.Star.B
		for _, p := range pairs[:n] {
			if loss := star.Loss(metric.Pair{X: p[:2], Y: p[2:4], Label: metric.Label(p[4])}); loss > 1e-9 {
				t.Fatalf("after %d pairs: (A*, b*) has the loss %v", n, loss)
			}
		}
		if want := b.R * (math.Pow(mat.Norm(star.A, 2), 2) + math.Pow(star.B-1, 2)); math.Abs(b.Bound-want) > 1e-9*want || b.Losses > b.Bound {
			t.Fatalf("after %d pairs: Σℓ² = %v ≤ %v, want the bound %v", n, b.Losses, b.Bound, want)
		}
	}
	if b := ask[Learned](t, &Player{}, "pairs", Pairs{Rule: Rule{Name: "pola"}, Pairs: [][5]float64{{0, 0, 1, 0, 1}, {0, 0, 1, 0, -1}}}).Bound; b != nil {
		t.Errorf("a pair with both labels has a bound: %v", b)
	}
}

// Where the dots are laid out, Euclid's distances are those learned: always for a metric of the plane, nearly for the lifted one.
func TestPlaces(t *testing.T) {
	points, pairs := stream(t, Data{Set: "clouds", Angle: 20, Pairs: 40})
	l := ask[Learned](t, &Player{}, "pairs", Pairs{Rule: Rule{Name: "pola"}, Pairs: pairs, Places: points.Points, Around: &points.Points[3], Grid: 3, Half: 1})
	a := l.Rounds[len(l.Rounds)-1].After.A
	at := func(u, v float64) float64 { return a[0]*u*u + 2*a[1]*u*v + a[2]*v*v }
	for i := range points.Points {
		u, v := points.Points[i][0]-points.Points[0][0], points.Points[i][1]-points.Points[0][1]
		if got, want := math.Pow(math.Hypot(l.Places[i][0]-l.Places[0][0], l.Places[i][1]-l.Places[0][1]), 2), at(u, v); math.Abs(got-want) > 1e-9*max(1, want) {
			t.Fatalf("dot %d: d² is %v, want %v", i, got, want)
		}
	}
	x, y := points.Points[0], points.Points[1]
	g := ask[Learned](t, &Player{}, "pairs", Pairs{Rule: Rule{Name: "pola"}, Pairs: pairs, Asked: &[4]float64{x[0], x[1], y[0], y[1]}}).Asked
	if want := at(x[0]-y[0], x[1]-y[1]); math.Abs(g.SqDist-want) > 1e-9*max(1, want) || g.Alike != (want <= g.B) || g.B != l.Rounds[len(l.Rounds)-1].BAfter {
		t.Errorf("asked about a pair with d² = %v it says %v", want, *g)
	}
	if got, want := l.Field[5], at(1-points.Points[3][0], -points.Points[3][1]); math.Abs(got-want) > 1e-9*max(1, want) {
		t.Errorf("d² to (1, 0) is %v, want %v", got, want)
	}
}

func TestFacesArePlain(t *testing.T) {
	_, want := synthetic.Faces()
	if got := traits(); !mat.Equal(got, want) {
		t.Fatalf("the traits are\n%v\nwant\n%v", mat.Formatted(got), mat.Formatted(want))
	}
	p, slow := &Player{}, plain.NewERKLE(16)
	slow.Beta = 1 // up to 2·Passes answers all passes are one
	var answers [][3]int
	for n := range 2 * Passes {
		m := ask[Map](t, p, "faces", Faces{Who: "me", Answers: answers, Rule: "uncertainty", Seed: 1})
		answers = append(answers, ask[[][3]int](t, p, "other", Other{Looks: "both", Questions: [][3]int{m.Next}, Seed: uint64(n)})...)
		last := metric.Triplet{A: answers[n][0], Near: answers[n][1], Far: answers[n][2]}
		sq := func(i, j int) float64 { return slow.K.At(i, i) + slow.K.At(j, j) - 2*slow.K.At(i, j) }
		near, far := sq(last.A, last.Near), sq(last.A, last.Far)
		slow.Step(last)
		got := ask[Map](t, p, "faces", Faces{Who: "me", Answers: answers, Rule: "uncertainty", Seed: 1})
		// Round-off of up to 20 eigendecompositions of order 16.
		if math.Abs(got.Thought[0]-near) > 1e-9 || math.Abs(got.Thought[1]-far) > 1e-9 {
			t.Fatalf("answer %d: thought %v, want %v and %v", n+1, *got.Thought, near, far)
		}
	}
}

// What a call answers rests on its arguments alone, whatever was called before.
func TestCallsAreIndependent(t *testing.T) {
	_, pairs := stream(t, Data{Set: "clouds", Pairs: 50})
	var p Player
	rng := rand.New(rand.NewPCG(1, 0))
	for range 30 {
		q := Pairs{Rule: Rule{Name: []string{"pola", "pa"}[rng.IntN(2)]}, Pairs: pairs[:rng.IntN(50)]}
		if got, want := ask[Learned](t, &p, "pairs", q), ask[Learned](t, &Player{}, "pairs", q); !reflect.DeepEqual(got, want) {
			t.Fatalf("%v: after other calls the answer is another one", q.Rule)
		}
	}
	var answers [][3]int
	for len(answers) < 30 {
		next := ask[Map](t, &Player{}, "faces", Faces{Who: "me", Answers: answers, Rule: "information-gain", Seed: 2}).Next
		answers = append(answers, ask[[][3]int](t, &p, "other", Other{Looks: "width", Questions: [][3]int{next}})...)
	}
	for range 30 {
		q := Faces{Who: []string{"me", "them"}[rng.IntN(2)], Answers: answers[:rng.IntN(31)], Rule: "information-gain", Seed: 2}
		if got, want := ask[Map](t, &p, "faces", q), ask[Map](t, &Player{}, "faces", q); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d answers: after other calls the answer is another one", len(q.Answers))
		}
	}
}

// Faces come into the map when they have been asked about, a map is turned to the one before, and somebody who looks at the width makes a map of it.
func TestMap(t *testing.T) {
	var p Player
	var answers [][3]int
	var last []*[2]float64
	var m Map
	for n := range 120 {
		m = ask[Map](t, &p, "faces", Faces{Who: "me", Answers: answers, Rule: "uncertainty", Seed: 3, Last: last})
		for i, at := range m.Map {
			if asked := slices.ContainsFunc(answers, func(a [3]int) bool { return slices.Contains(a[:], i) }); at != nil && !asked {
				t.Fatalf("after %d answers face %d is in the map and was not asked about", n, i)
			}
		}
		if last != nil {
			var still, away float64
			for i, at := range m.Map {
				if at != nil && last[i] != nil {
					still += math.Pow(at[0]-last[i][0], 2) + math.Pow(at[1]-last[i][1], 2)
					away += math.Pow(at[0]+last[i][0], 2) + math.Pow(at[1]+last[i][1], 2) // turned by half
				}
			}
			if still > away+1e-9 {
				t.Fatalf("after %d answers the map is nearer to the last one turned by half", n)
			}
		}
		last = m.Map
		answers = append(answers, ask[[][3]int](t, &p, "other", Other{Looks: "width", Questions: [][3]int{m.Next}, Seed: uint64(n)})...)
	}
	if m.Traits == nil || m.Traits[1] < .8 || m.Traits[0] > .5 {
		t.Errorf("R² of mood and width is %v for somebody who looks at the width", m.Traits)
	}
	theirs := ask[[][3]int](t, &p, "other", Other{Looks: "mood", Questions: answers})
	d := ask[[]Difference](t, &p, "differ", Differ{Faces{Who: "me", Answers: answers, Rule: "random"}, Faces{Who: "them", Answers: theirs, Rule: "random"}})
	if len(d) != 120 || math.Abs(d[0].Mine-d[0].Theirs) < .5 || math.Abs(d[0].Mine-d[0].Theirs) < math.Abs(d[119].Mine-d[119].Theirs) {
		t.Errorf("somebody who looks at the width and somebody who looks at the mood differ by %v at most, of %d pairs", d[0], len(d))
	}
}

func TestRace(t *testing.T) {
	var p Player
	two, one := ask[[]float64](t, &p, "race", Race{"random", 2}), ask[[]float64](t, &p, "race", Race{"random", 1})
	first, err := run("random", 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range two {
		if want := (one[i] + first[i]) / 2; math.Abs(two[i]-want) > 1e-15 {
			t.Errorf("after %d answers the mean of two is %v, want %v", 8*(i+1), two[i], want)
		}
	}
	if len(two) != 12 || two[0] > .5 || two[11] > two[0]-.1 {
		t.Errorf("the errors are %v", two)
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{"walk", `{}`, "no call has the name"},
		{"pairs", `{"rule":`, "unexpected end"},
		{"pairs", `{"rule":{"name":"perceptron"}}`, "perceptron"},
		{"pairs", `{"rule":{"name":"pola"},"grid":1000}`, "grid: 1000 is not allowed"},
		{"pairs", `{"rule":{"name":"pola"},"pairs":[[1e200,0,0,0,1]]}`, "pola"},
		{"data", `{"set":"moons"}`, `set: "moons" is not allowed`},
		{"data", `{"set":"rings","wrong":2}`, "wrong: 2 is not allowed"},
		{"data", `{"set":"rings","pairs":-1}`, "pairs: -1 is not allowed"},
		{"faces", `{"rule":"guess"}`, "guess"},
		{"faces", `{"rule":"random","answers":[[1,1,2]]}`, "1"},
		{"other", `{"looks":"hair"}`, "looks"},
		{"other", `{"looks":"mood","questions":[[1,2,16]]}`, "16"},
		{"race", `{"rule":"random"}`, "persons: 0 is not allowed"},
	} {
		var got struct{ Error string }
		var p Player
		if err := json.Unmarshal(p.Call(c.name, []byte(c.args)), &got); err != nil || !strings.Contains(got.Error, c.want) {
			t.Errorf("%s %s: got %q, %v, want %q", c.name, c.args, got.Error, err, c.want)
		}
		// Whatever was refused, the next call is answered.
		ask[Map](t, &p, "faces", Faces{Who: "me", Rule: "random"})
	}
}
