package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// hmrfTol bounds the round-off of a sum of up to 300 terms, relative.
const hmrfTol = 1e-11

// randomLinks returns m links between n rows; those of planted clusters, or of any
// label if planted is nil.
func randomLinks(rng *rand.Rand, n, m int, planted []int) []metric.Link {
	out := make([]metric.Link, 0, m)
	for len(out) < m {
		i, j := rng.IntN(n), rng.IntN(n)
		if i == j {
			continue
		}
		same := rng.IntN(2) == 0
		if planted != nil {
			same = planted[i] == planted[j]
		}
		out = append(out, metric.Link{I: i, J: j, Label: metric.SameClass(same)})
	}
	return out
}

// hmrfObjective is the objective by its definition, with the given clusters and the
// best centres for them.
func hmrfObjective(x *mat.Dense, links []metric.Link, w float64, k int, cluster []int) (objective float64, broken int) {
	n, d := x.Dims()
	e := metric.Euclidean{}
	for c := range k {
		mean, rows := make([]float64, d), 0
		for i := range n {
			if cluster[i] == c {
				rows++
				for j := range d {
					mean[j] += x.At(i, j)
				}
			}
		}
		for j := range d {
			mean[j] /= float64(max(rows, 1))
		}
		for i := range n {
			if cluster[i] == c {
				objective += e.SqDist(x.RawRowView(i), mean)
			}
		}
	}
	var widest float64
	for i := range n {
		for j := range n {
			widest = max(widest, e.SqDist(x.RawRowView(i), x.RawRowView(j)))
		}
	}
	for _, l := range links {
		q := e.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
		switch same := cluster[l.I] == cluster[l.J]; {
		case l.Label == metric.Similar && !same:
			objective += w * q
			broken++
		case l.Label == metric.Dissimilar && same:
			objective += w * (widest - q)
			broken++
		}
	}
	return objective, broken
}

func mustHMRF(t testing.TB, x *mat.Dense, links []metric.Link, p HMRFParams, rng *rand.Rand) *HMRF {
	t.Helper()
	r, err := FitHMRF(context.Background(), rng, x, links, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The result is what it says: its objective is that of the definition, it never rose,
// centres are means, and no move of one row or of one neighbourhood lowers it while
// centres and the other rows stay.
func TestHMRF(t *testing.T) {
	rng := rand.New(rand.NewPCG(84, 1))
	for _, c := range rowCases() {
		n, _ := c.x.Dims()
		for _, w := range []float64{0, 0.1, 1, 50} {
			for _, m := range []int{0, n / 4, 2 * n} {
				if n == 1 {
					m = 0
				}
				links := randomLinks(rng, n, m, nil) // contradictory ones too
				before := mat.DenseCopyOf(c.x)
				r := mustHMRF(t, c.x, links, HMRFParams{KMeansParams: KMeansParams{K: c.k}, Weight: new(w)}, rng)
				what := fmt.Sprintf("%s, w = %v, %d links", c.name, w, m)
				if r.Status != learners.Converged {
					t.Errorf("%s: status %v after %d iterations", what, r.Status, len(r.Trace))
				}
				want, broken := hmrfObjective(c.x, links, w, c.k, r.Assignment)
				if math.Abs(r.Objective-want) > hmrfTol*(1+want) || r.Broken != broken || r.Objective != r.Inertia+r.Penalty {
					t.Errorf("%s: objective %v = %v + %v, %d broken; want %v, %d", what, r.Objective, r.Inertia, r.Penalty, r.Broken, want, broken)
				}
				for i := 1; i < len(r.Trace); i++ {
					if r.Trace[i] > r.Trace[i-1]*(1+hmrfTol) {
						t.Errorf("%s: iteration %d raises the objective from %v to %v", what, i, r.Trace[i-1], r.Trace[i])
					}
				}
				if r.Trace[len(r.Trace)-1] != r.Objective {
					t.Errorf("%s: the trace ends at %v, objective %v", what, r.Trace[len(r.Trace)-1], r.Objective)
				}
				if !mat.Equal(before, c.x) {
					t.Errorf("%s: the rows have changed", what)
				}
				checkHMRFMoves(t, what, c.x, links, w, r)
			}
		}
	}
}

// checkHMRFMoves tries every move of a row and of a neighbourhood with fixed centres.
func checkHMRFMoves(t *testing.T, what string, x *mat.Dense, links []metric.Link, w float64, r *HMRF) {
	t.Helper()
	k, _ := r.Centres.Dims()
	n, _ := x.Dims()
	widest := largestSqDist(context.Background(), x)
	fixed := func(cluster []int) (sum float64) {
		for i, c := range cluster {
			sum += metric.Euclidean{}.SqDist(x.RawRowView(i), r.Centres.RawRowView(c))
		}
		for _, l := range links {
			q := metric.Euclidean{}.SqDist(x.RawRowView(l.I), x.RawRowView(l.J))
			switch same := cluster[l.I] == cluster[l.J]; {
			case l.Label == metric.Similar && !same:
				sum += w * q
			case l.Label == metric.Dissimilar && same:
				sum += w * (widest - q)
			}
		}
		return sum
	}
	least := fixed(r.Assignment)
	try := func(rows []int) {
		for c := range k {
			moved := slices.Clone(r.Assignment)
			for _, i := range rows {
				moved[i] = c
			}
			if f := fixed(moved); f < least*(1-hmrfTol) {
				t.Errorf("%s: rows %v would be better in cluster %d: %v, now %v", what, rows, c, f, least)
			}
		}
	}
	for i := range n {
		try([]int{i})
	}
	// The closure of must-links, by repeated joining.
	name := make([]int, n)
	for i := range name {
		name[i] = i
	}
	for range n {
		for _, l := range links {
			if l.Label == metric.Similar {
				name[l.I] = min(name[l.I], name[l.J])
				name[l.J] = name[l.I]
			}
		}
	}
	for g := range n {
		var rows []int
		for i := range n {
			if name[i] == g {
				rows = append(rows, i)
			}
		}
		if len(rows) > 1 {
			try(rows)
		}
	}
}

// The best of many starts is the best of all partitions.
func TestHMRFFindsTheOptimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(85, 1))
	for trial := range 30 {
		const n = 7
		k := 2 + trial%2
		w := []float64{0.2, 1, 30}[trial%3]
		x := groups(rng, n, 2, 2, 1)
		links := randomLinks(rng, n, 1+trial%6, nil)
		best := math.Inf(1)
		cluster := make([]int, n)
		for code := range int(math.Pow(float64(k), n)) {
			for i := range cluster {
				cluster[i] = code % k
				code /= k
			}
			f, _ := hmrfObjective(x, links, w, k, cluster)
			best = min(best, f)
		}
		r := mustHMRF(t, x, links, HMRFParams{KMeansParams: KMeansParams{K: k, Starts: 60}, Weight: new(w)}, rng)
		if math.Abs(r.Objective-best) > hmrfTol*best {
			t.Errorf("trial %d: k = %d, w = %v, links %v: objective %v, the least is %v", trial, k, w, links, r.Objective, best)
		}
	}
}

// With a large weight no must-link between different rows is broken, from any start:
// neighbourhoods start as a whole, and to break one costs more than all the rest.
func TestHMRFKeepsMustLinks(t *testing.T) {
	rng := rand.New(rand.NewPCG(86, 1))
	for trial := range 40 {
		x := groups(rng, 40, 3, 3, 2)
		var links []metric.Link
		for _, l := range randomLinks(rng, 40, 30, nil) {
			if l.Label == metric.Similar {
				links = append(links, l)
			}
		}
		if r := mustHMRF(t, x, links, HMRFParams{KMeansParams: KMeansParams{K: 4}, Weight: new(1e6)}, rng); r.Broken != 0 || r.Penalty != 0 {
			t.Errorf("trial %d: %d of %d must-links broken", trial, r.Broken, len(links))
		}
	}
}

// Links that a partition respects are all respected with a large weight, by the best
// of several starts.
func TestHMRFKeepsConsistentLinks(t *testing.T) {
	rng := rand.New(rand.NewPCG(87, 1))
	for trial := range 20 {
		const n, k = 45, 3
		x := groups(rng, n, 2, 1, 0) // no clusters to be seen
		planted := make([]int, n)
		for i := range planted {
			planted[i] = rng.IntN(k)
		}
		links := randomLinks(rng, n, 35, planted)
		r := mustHMRF(t, x, links, HMRFParams{KMeansParams: KMeansParams{K: k, Starts: 40}, Weight: new(1e6)}, rng)
		if r.Broken != 0 {
			t.Errorf("trial %d: %d links broken", trial, r.Broken)
		}
		free := mustHMRF(t, x, links, HMRFParams{KMeansParams: KMeansParams{K: k, Starts: 40}, Weight: new(0.0)}, rng)
		if free.Broken == 0 || free.Inertia > r.Inertia {
			t.Errorf("trial %d: without weight %d links are broken, inertia %v; with it %v", trial, free.Broken, free.Inertia, r.Inertia)
		}
	}
}

// Contradictory links: as few are broken as must be.
func TestHMRFContradictions(t *testing.T) {
	x := mat.NewDense(4, 1, []float64{0, 1, 2, 10})
	both := []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: 0, J: 1, Label: metric.Dissimilar}}
	odd := []metric.Link{
		{I: 0, J: 1, Label: metric.Dissimilar}, {I: 1, J: 2, Label: metric.Dissimilar}, {I: 2, J: 0, Label: metric.Dissimilar},
	}
	chain := []metric.Link{
		{I: 0, J: 1, Label: metric.Similar}, {I: 1, J: 2, Label: metric.Similar}, {I: 2, J: 0, Label: metric.Dissimilar},
	}
	for name, links := range map[string][]metric.Link{"both labels": both, "three that cannot, two clusters": odd, "a chain": chain} {
		r := mustHMRF(t, x, links, HMRFParams{KMeansParams: KMeansParams{K: 2, Starts: 10}, Weight: new(1e9)}, rand.New(rand.NewPCG(88, 1)))
		if r.Broken != 1 || r.Status != learners.Converged || math.IsInf(r.Objective, 0) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Without weight, or without links, the answer is one of k-means.
func TestHMRFIsKMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(89, 1))
	for _, c := range rowCases() {
		n, _ := c.x.Dims()
		for _, links := range [][]metric.Link{nil, {{I: 0, J: n - 1, Label: metric.Similar}}} {
			if n == 1 {
				links = nil
			}
			r := mustHMRF(t, c.x, links, HMRFParams{KMeansParams: KMeansParams{K: c.k}, Weight: new(0.0)}, rng)
			if r.Penalty != 0 || r.Objective != r.Inertia {
				t.Errorf("%s: penalty %v", c.name, r.Penalty)
			}
			// Ties stay where they are, so that only distances can be compared.
			for i, near := range r.Assign(c.x) {
				e := metric.Euclidean{}
				own, best := e.SqDist(c.x.RawRowView(i), r.Centres.RawRowView(r.Assignment[i])), e.SqDist(c.x.RawRowView(i), r.Centres.RawRowView(near))
				if own > best*(1+hmrfTol) {
					t.Errorf("%s: row %d is at %v from its centre, another is at %v", c.name, i, own, best)
				}
			}
		}
	}
}

func TestHMRFRunsAreReproducible(t *testing.T) {
	rng := rand.New(rand.NewPCG(90, 1))
	x := groups(rng, 80, 3, 3, 1)
	links := randomLinks(rng, 80, 30, nil)
	p := HMRFParams{KMeansParams: KMeansParams{K: 4, Starts: 3}}
	a := mustHMRF(t, x, links, p, rand.New(rand.NewPCG(90, 2)))
	b := mustHMRF(t, x, links, p, rand.New(rand.NewPCG(90, 2)))
	if !mat.Equal(a.Centres, b.Centres) || !slices.Equal(a.Trace, b.Trace) || !slices.Equal(a.Assignment, b.Assignment) {
		t.Error("two runs differ")
	}
	p.MaxIterations, p.Starts = 1, 1
	if r := mustHMRF(t, x, links, p, rand.New(rand.NewPCG(90, 2))); r.Status != learners.IterationCap || len(r.Trace) != 1 {
		t.Errorf("one iteration: status %v, trace %v", r.Status, r.Trace)
	}
	// The parameters are not kept, and the scale of the features does not matter. A
	// power of two scales without round-off.
	w := 0.5
	resolved := HMRFParams{Weight: &w}.Resolved()
	w = 7
	if *resolved.Weight != 0.5 || *(HMRFParams{}).Resolved().Weight != 1 || resolved.MaxIterations != 300 || resolved.Starts != 1 {
		t.Errorf("resolved %+v", resolved)
	}
	p.MaxIterations, p.Starts = 0, 3
	scaled := mat.DenseCopyOf(x)
	scaled.Scale(1<<20, scaled)
	if r := mustHMRF(t, scaled, links, p, rand.New(rand.NewPCG(90, 2))); !slices.Equal(r.Assignment, a.Assignment) || r.Objective != (1<<40)*a.Objective {
		t.Errorf("rescaled: objective %v, want 2⁴⁰ times %v", r.Objective, a.Objective)
	}
}

// Starts are drawn as the comment of FitHMRF says: centres are means of neighbourhoods, then rows; the
// first one by size, the others also by squared distance.
func TestHMRFDraws(t *testing.T) {
	const draws = 4000
	// Neighbourhoods {0, 1, 2} with mean 1, {3, 4} with mean 11, {5, 6} with mean 21; row 7 alone.
	x := mat.NewDense(8, 1, []float64{0, 1, 2, 10, 12, 20, 22, 5})
	links := []metric.Link{
		{I: 1, J: 0, Label: metric.Similar}, {I: 1, J: 2, Label: metric.Similar},
		{I: 4, J: 3, Label: metric.Similar}, {I: 5, J: 6, Label: metric.Similar}, {I: 7, J: 0, Label: metric.Dissimilar},
	}
	rng := rand.New(rand.NewPCG(93, 1))
	// Shares lie within 5 standard deviations, each at most ½/√n of n draws.
	within := func(n float64) float64 { return 2.5 / math.Sqrt(n) }
	first, second := map[float64]float64{}, map[float64]float64{}
	f, err := newField(context.Background(), x, links, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	afterOne := 0.0
	for range draws {
		c := f.drawCentres(drawNeighbourhoods, rng)
		first[c.At(0, 0)] += 1.0 / draws
		if c.At(0, 0) == 1 {
			second[c.At(1, 0)]++
			afterOne++
		}
	}
	for mean, want := range map[float64]float64{1: 3.0 / 7, 11: 2.0 / 7, 21: 2.0 / 7} {
		if math.Abs(first[mean]-want) > within(draws) {
			t.Errorf("mean %v is the first centre in a share of %v, want %v", mean, first[mean], want)
		}
	}
	if got, want := second[21]/afterOne, 400.0/500; math.Abs(got-want) > within(afterOne) || second[1] > 0 || len(second) != 2 {
		t.Errorf("after 1, 21 follows in a share of %v, want %v; all: %v", got, want, second)
	}

	// The means, then a row that is on none of them.
	if f, err = newField(context.Background(), x, links, 4, 1); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		c := mat.Col(nil, 0, f.drawCentres(drawNeighbourhoods, rng))
		means := slices.Sorted(slices.Values(c[:3]))
		if !slices.Equal(means, []float64{1, 11, 21}) || !slices.Contains(mat.Col(nil, 0, x), c[3]) || slices.Contains(means, c[3]) {
			t.Errorf("four centres %v, want the means of three neighbourhoods and a row", c)
		}
		for _, v := range mat.Col(nil, 0, f.drawCentres(drawRows, rng)) {
			if !slices.Contains(mat.Col(nil, 0, x), v) {
				t.Errorf("centre %v is no row", v)
			}
		}
	}
}

// Every second start draws rows only, and of equally good starts the first is returned.
func TestHMRFStarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(94, 1))
	x := groups(rng, 30, 2, 5, 1)
	links := randomLinks(rng, 30, 12, nil)
	for seed := range uint64(20) {
		f, err := newField(context.Background(), x, links, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		own := rand.New(rand.NewPCG(94, seed))
		want := f.run(drawNeighbourhoods, 300, own, runs{}.report)
		for _, how := range []start{drawRows, drawNeighbourhoods} {
			if r := f.run(how, 300, own, runs{}.report); r.Objective < want.Objective {
				want = r
			}
		}
		p := HMRFParams{KMeansParams: KMeansParams{K: 5, Starts: 3}}
		if got := mustHMRF(t, x, links, p, rand.New(rand.NewPCG(94, seed))); got.Objective != want.Objective || !slices.Equal(got.Assignment, want.Assignment) {
			t.Errorf("seed %d: objective %v, want %v", seed, got.Objective, want.Objective)
		}

		two := mat.NewDense(2, 1, []float64{0, 10}) // each start puts either row into cluster 0
		one := mustHMRF(t, two, nil, HMRFParams{KMeansParams: KMeansParams{K: 2}}, rand.New(rand.NewPCG(95, seed)))
		all := mustHMRF(t, two, nil, HMRFParams{KMeansParams: KMeansParams{K: 2, Starts: 6}}, rand.New(rand.NewPCG(95, seed)))
		if !slices.Equal(one.Assignment, all.Assignment) || all.Objective != 0 {
			t.Errorf("seed %d: six starts end at %v, the first at %v", seed, all.Assignment, one.Assignment)
		}
	}
}

// Farthest takes the means of neighbourhoods by the rule of Basu et al., draws none of
// them, and draws rows only where there are too few.
func TestHMRFFarthest(t *testing.T) {
	rng := rand.New(rand.NewPCG(96, 1))
	const n, k = 40, 4
	x := groups(rng, n, 2, 3, 1)
	size := func(f *field, g int) float64 { return float64(len(f.units[g])) }
	mean := func(f *field, g int) []float64 {
		m := make([]float64, 2)
		for _, i := range f.units[g] {
			for j := range m {
				m[j] += x.At(i, j) / size(f, g)
			}
		}
		return m
	}
	few := 0
	for range 40 {
		f, err := newField(context.Background(), x, randomLinks(rng, n, 4+rng.IntN(30), nil), k, 1)
		if err != nil {
			t.Fatal(err)
		}
		var want [][]float64
		for len(want) < min(k, f.neighbourhoods) {
			best, most := -1, 0.0
			for g := range f.neighbourhoods {
				worth := size(f, g)
				if len(want) > 0 {
					near := math.Inf(1)
					for _, c := range want {
						near = min(near, metric.Euclidean{}.SqDist(mean(f, g), c))
					}
					worth *= near
				}
				if worth > most*(1+hmrfTol) {
					best, most = g, worth
				}
			}
			want = append(want, mean(f, best))
		}
		if len(want) < k {
			few++
		}
		for seed := range uint64(2) {
			got := f.drawCentres(farthestNeighbourhoods, rand.New(rand.NewPCG(97, seed)))
			for c, w := range want {
				if !mat.EqualApprox(got.RowView(c), mat.NewVecDense(2, w), hmrfTol) {
					t.Errorf("%d neighbourhoods: centre %d is %v, want %v", f.neighbourhoods, c, got.RawRowView(c), w)
				}
			}
		}
	}
	if few == 0 || few == 40 {
		t.Errorf("%d of 40 problems have fewer than %d neighbourhoods, want some", few, k)
	}

	links := randomLinks(rng, n, 12, nil)
	p := HMRFParams{KMeansParams: KMeansParams{K: k}, Farthest: true}
	f, err := newField(context.Background(), x, links, k, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := f.run(farthestNeighbourhoods, 300, rand.New(rand.NewPCG(98, 1)), runs{}.report)
	if got := mustHMRF(t, x, links, p, rand.New(rand.NewPCG(98, 1))); !slices.Equal(got.Assignment, want.Assignment) {
		t.Errorf("the fit ends at %v, a start by this rule at %v", got.Assignment, want.Assignment)
	}
}

// An empty cluster gets the row of a cluster of several whose move pays most: distances and links count,
// and a row that is alone stays.
func TestHMRFFill(t *testing.T) {
	x := mat.NewDense(5, 1, []float64{0, 1, 4, 9, 50})
	for name, c := range map[string]struct {
		links []metric.Link
		want  []int
	}{
		"the farthest": {nil, []int{0, 0, 0, 2, 1}},
		// Alone, row 2 would no longer break its cannot-link, whose weight is 1000.
		"a link": {[]metric.Link{{I: 2, J: 0, Label: metric.Dissimilar}}, []int{0, 0, 2, 0, 1}},
		// Alone, row 3 would break a must-link.
		"a must-link": {[]metric.Link{{I: 3, J: 0, Label: metric.Similar}}, []int{0, 0, 2, 0, 1}},
	} {
		f, err := newField(context.Background(), x, c.links, 3, 1000)
		if err != nil {
			t.Fatal(err)
		}
		f.centres = mat.NewDense(3, 1, []float64{0, 20, 70})
		f.cluster = []int{0, 0, 0, 0, 1} // row 4 is farther from its centre than any other
		f.measure()
		size := []int{4, 1, 0}
		if f.fill(size); !slices.Equal(f.cluster, c.want) || !slices.Equal(size, []int{3, 1, 1}) {
			t.Errorf("%s: clusters %v with sizes %v, want %v", name, f.cluster, size, c.want)
		}
	}
}

func TestHMRFErrors(t *testing.T) {
	x := groups(rand.New(rand.NewPCG(91, 1)), 5, 2, 1, 1)
	with := func(v float64) *mat.Dense {
		y := mat.DenseCopyOf(x)
		y.Set(3, 1, v)
		return y
	}
	link := func(i, j int, l metric.Label) []metric.Link {
		return []metric.Link{{I: 0, J: 1, Label: metric.Similar}, {I: i, J: j, Label: l}}
	}
	two := HMRFParams{KMeansParams: KMeansParams{K: 2}}
	weighed := func(w float64) HMRFParams { return HMRFParams{KMeansParams: KMeansParams{K: 2}, Weight: new(w)} }
	for _, c := range []struct {
		x     *mat.Dense
		links []metric.Link
		p     HMRFParams
		want  string
	}{
		{x, nil, HMRFParams{}, "hmrf: k: 0 is not allowed, want an integer from 1 to 5"},
		{x, nil, HMRFParams{KMeansParams: KMeansParams{K: 6}}, "hmrf: k: 6 is not allowed, want an integer from 1 to 5, the number of rows"},
		{x, nil, HMRFParams{KMeansParams: KMeansParams{K: 2, Starts: -1}}, "hmrf: starts: -1 is not allowed"},
		{x, nil, weighed(-1), "hmrf: weight: -1 is not allowed"},
		{x, nil, weighed(math.NaN()), "hmrf: weight: NaN is not allowed"},
		{x, nil, weighed(math.Inf(1)), "hmrf: weight: +Inf is not allowed"},
		{x, link(1, 2, 0), two, "hmrf: links: link 1: label 0 is not allowed"},
		{x, link(1, 5, 1), two, "hmrf: links: link 1: rows 1 and 5 are not allowed, want two different ones of 0 to 4"},
		{x, link(-1, 2, -1), two, "link 1: rows -1 and 2"},
		{x, link(2, 2, -1), two, "link 1: rows 2 and 2"},
		{x, link(2, 3, -1), weighed(1e308), "hmrf: weight: weighted squared distances overflow"},
		{new(mat.Dense), nil, HMRFParams{KMeansParams: KMeansParams{K: 1}}, "hmrf: x: no rows"},
		{with(math.NaN()), nil, two, "hmrf: x: row 3, column 1: NaN is not allowed"},
		{with(1e160), nil, two, "hmrf: x: squared distances overflow"},
	} {
		if _, err := FitHMRF(context.Background(), rand.New(rand.NewPCG(1, 1)), c.x, c.links, c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.p, err, c.want)
		}
	}
}

func ExampleFitHMRF() {
	// Row 2 looks like row 1, but links say that it belongs with row 5.
	x := mat.NewDense(6, 1, []float64{0, 1, 2, 3, 20, 21})
	p := HMRFParams{KMeansParams: KMeansParams{K: 2, Starts: 5}}
	for _, links := range [][]metric.Link{
		nil,
		{{I: 1, J: 2, Label: metric.Dissimilar}, {I: 2, J: 5, Label: metric.Similar}},
	} {
		r, err := FitHMRF(context.Background(), rand.New(rand.NewPCG(1, 2)), x, links, p)
		if err != nil {
			panic(err)
		}
		with := make([]bool, 6) // row 0
		for i, c := range r.Assignment {
			with[i] = c == r.Assignment[0]
		}
		fmt.Printf("%v, objective %.2f, %d links broken\n", with, r.Objective, r.Broken)
	}
	// Output:
	// [true true true true false false], objective 5.50, 0 links broken
	// [true true false true false false], objective 233.33, 0 links broken
}

func ExampleHMRFParams_Resolved() {
	p := HMRFParams{KMeansParams: KMeansParams{K: 3}}.Resolved()
	fmt.Println(p.K, p.Starts, p.MaxIterations, *p.Weight)
	// Output: 3 1 300 1
}

// BenchmarkHMRF measures one start on 400 rows in 50 dimensions, with 50 links and
// with 1000; the reference is k-means.
func BenchmarkHMRF(b *testing.B) {
	x := groups(rand.New(rand.NewPCG(59, 1)), 400, 50, 4, 0.4)
	planted := make([]int, 400)
	for i := range planted {
		planted[i] = i % 4
	}
	for _, m := range []int{50, 1000} {
		links := randomLinks(rand.New(rand.NewPCG(92, 1)), 400, m, planted)
		b.Run(fmt.Sprintf("alg=HMRF/links=%d/n=400/dim=50", m), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(92, 2))
			for b.Loop() {
				mustHMRF(b, x, links, HMRFParams{KMeansParams: KMeansParams{K: 4}}, rng)
			}
		})
	}
	b.Run("alg=KMeans/n=400/dim=50", func(b *testing.B) {
		rng := rand.New(rand.NewPCG(92, 2))
		for b.Loop() {
			if _, err := FitKMeans(context.Background(), rng, x, KMeansParams{K: 4}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
