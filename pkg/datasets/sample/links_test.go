package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

// labels with classes of 1, 2, 3 and 6 points, interleaved.
var unevenLabels = []int{4, 9, 9, 2, 9, 2, 9, 7, 2, 9, 7, 9}

func checkLinks(t *testing.T, y []int, links []metric.Link) (similar int) {
	t.Helper()
	for _, l := range links {
		if l.I == l.J || l.I < 0 || l.J < 0 || l.I >= len(y) || l.J >= len(y) {
			t.Fatalf("link %+v of %d points", l, len(y))
		}
		if l.Label != metric.SameClass(y[l.I] == y[l.J]) {
			t.Fatalf("link %+v between classes %d and %d", l, y[l.I], y[l.J])
		}
		if l.Label == metric.Similar {
			similar++
		}
	}
	return similar
}

// uniform checks that each of the wanted links comes as often as the others.
func uniform(t *testing.T, name string, links []metric.Link, want int) {
	t.Helper()
	counts := map[[2]int]int{}
	for _, l := range links {
		counts[[2]int{l.I, l.J}]++
	}
	if len(counts) != want {
		t.Errorf("%s: %d different links, want %d", name, len(counts), want)
	}
	mean := float64(len(links)) / float64(want)
	for l, c := range counts {
		// Binomial counts: six standard deviations leave 1e-7 for all of them.
		if tol := 6 * math.Sqrt(mean); math.Abs(float64(c)-mean) > tol {
			t.Errorf("%s: link %v comes %d times, want %.0f ± %.0f", name, l, c, mean, tol)
		}
	}
}

func TestRandomLinks(t *testing.T) {
	y := unevenLabels
	links, err := RandomLinks(newRand(1), y, 60000)
	if err != nil {
		t.Fatal(err)
	}
	checkLinks(t, y, links)
	uniform(t, "random", links, len(y)*(len(y)-1))
}

// All pairs, once each, in every number of points up to 60; few of them are uniform;
// and pair numbers of large sets, where the square root is rounded, decode too.
func TestDistinctLinks(t *testing.T) {
	for n := range 60 {
		y := make([]int, n)
		for i := range y {
			y[i] = i % 3
		}
		all := n * (n - 1) / 2
		links, err := DistinctLinks(newRand(uint64(n)), y, all)
		if err != nil {
			t.Fatal(err)
		}
		checkLinks(t, y, links)
		seen := map[[2]int]bool{}
		for _, l := range links {
			seen[[2]int{max(l.I, l.J), min(l.I, l.J)}] = true
		}
		if len(seen) != all {
			t.Fatalf("%d points: %d different pairs of %d", n, len(seen), all)
		}
	}
	var many []metric.Link
	rng := newRand(2)
	for range 20000 {
		links, err := DistinctLinks(rng, unevenLabels, 3)
		if err != nil {
			t.Fatal(err)
		}
		many = append(many, links...)
	}
	uniform(t, "distinct", many, len(unevenLabels)*(len(unevenLabels)-1)/2)
	for _, n := range []int{-1, 67} {
		if _, err := DistinctLinks(rng, unevenLabels, n); err == nil || !strings.Contains(err.Error(), "n: ") {
			t.Errorf("%d links of 12 points: error %v", n, err)
		}
	}
}

func TestBalancedLinks(t *testing.T) {
	y := unevenLabels
	links, err := BalancedLinks(newRand(2), y, 60001)
	if err != nil {
		t.Fatal(err)
	}
	if similar := checkLinks(t, y, links); similar != 30001 {
		t.Errorf("%d similar of 60001, want 30001", similar)
	}
	var same, other []metric.Link
	for _, l := range links {
		if l.Label == metric.Similar {
			same = append(same, l)
		} else {
			other = append(other, l)
		}
	}
	ordered := 2*1 + 3*2 + 6*5
	uniform(t, "similar", same, ordered)
	uniform(t, "dissimilar", other, len(y)*(len(y)-1)-ordered)
	if head := checkLinks(t, y, links[:2000]); head < 850 || head > 1150 { // 1000 ± 6.7 standard deviations
		t.Errorf("%d of the first 2000 links are similar: the order is not random", head)
	}
}

func TestPerClassLinks(t *testing.T) {
	y := []int{0, 1, 1, 2, 0, 2, 2, 1}
	const similar, dissimilar = 7, 4
	links, err := PerClassLinks(newRand(3), y, 3, similar, dissimilar)
	if err != nil {
		t.Fatal(err)
	}
	checkLinks(t, y, links)
	var counts [3][3]int
	for _, l := range links {
		a, b := y[l.I], y[l.J]
		counts[min(a, b)][max(a, b)]++
	}
	if want := [3][3]int{{similar, dissimilar, dissimilar}, {0, similar, dissimilar}, {0, 0, similar}}; counts != want {
		t.Errorf("links per pair of classes %v, want %v", counts, want)
	}
}

func TestLinksAreSeeded(t *testing.T) {
	y := []int{0, 1, 1, 2, 0, 2, 2, 1}
	for name, draw := range map[string]func(seed uint64) []metric.Link{
		"random":    func(seed uint64) []metric.Link { l, _ := RandomLinks(newRand(seed), y, 20); return l },
		"balanced":  func(seed uint64) []metric.Link { l, _ := BalancedLinks(newRand(seed), y, 20); return l },
		"per class": func(seed uint64) []metric.Link { l, _ := PerClassLinks(newRand(seed), y, 3, 4, 4); return l },
	} {
		a, b, c := draw(5), draw(5), draw(6)
		if len(a) == 0 || !slices.Equal(a, b) || slices.Equal(a, c) {
			t.Errorf("%s: seed 5 gives %v and %v, seed 6 %v", name, a, b, c)
		}
	}
}

func TestLinkErrors(t *testing.T) {
	rng := newRand(1)
	one := func(f func(*rand.Rand, []int, int) ([]metric.Link, error), y []int, n int) error {
		_, err := f(rng, y, n)
		return err
	}
	per := func(y []int, classes, similar, dissimilar int) error {
		_, err := PerClassLinks(rng, y, classes, similar, dissimilar)
		return err
	}
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"random n < 0", one(RandomLinks, []int{0, 1}, -1), "n: -1"},
		{"random one point", one(RandomLinks, []int{0}, 1), "1 row(s)"},
		{"random no point", one(RandomLinks, nil, 0), "0 row(s)"},
		{"balanced n < 0", one(BalancedLinks, []int{0, 1}, -1), "n: -1"},
		{"balanced one point", one(BalancedLinks, []int{3}, 1), "at least 2 rows"},
		{"balanced singletons", one(BalancedLinks, []int{0, 1, 2}, 1), "at least 2 rows"},
		{"balanced one class", one(BalancedLinks, []int{1, 1, 1}, 2), "1 class"},
		{"per class similar < 0", per([]int{0, 1}, 2, -1, 0), "similar: -1"},
		{"per class dissimilar < 0", per([]int{0, 1}, 2, 0, -1), "dissimilar: -1"},
		{"per class no class", per(nil, 0, 0, 0), "classes: 0"},
		{"per class label", per([]int{0, 2}, 2, 0, 1), "y[1] = 2"},
		{"per class empty", per([]int{0, 0, 2, 2}, 3, 1, 1), "class 1 is empty"},
		{"per class single", per([]int{0, 0, 1}, 2, 1, 1), "class 1 has 1 row"},
		{"per class only one", per([]int{0, 0}, 1, 1, 1), "1 class"},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: error %v does not say %q", tc.name, tc.err, tc.want)
		}
	}
	// What is not asked for need not be possible.
	if err := per([]int{0, 1}, 2, 0, 3); err != nil {
		t.Error(err)
	}
	if err := one(BalancedLinks, []int{1, 1}, 1); err != nil {
		t.Error(err)
	}
	if err := one(BalancedLinks, nil, 0); err != nil {
		t.Error(err)
	}
}

func TestPairsAreViews(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	links := []metric.Link{{I: 0, J: 2, Label: metric.Similar}, {I: 1, J: 0, Label: metric.Dissimilar}}
	k := 0
	for p := range Pairs(x, links) {
		if &p.X[0] != &x.RawRowView(links[k].I)[0] || &p.Y[0] != &x.RawRowView(links[k].J)[0] || p.Label != links[k].Label {
			t.Errorf("pair %d is %v", k, p)
		}
		k++
	}
	if k != 2 {
		t.Errorf("%d pairs, want 2", k)
	}
	for range Pairs(x, links) {
		break // a consumer may stop
	}
}

func TestChoose(t *testing.T) {
	rng := newRand(4)
	const n, k, draws = 5, 3, 60000
	counts := map[[k]int]int{}
	for range draws {
		c := Choose(rng, n, k)
		if len(c) != k {
			t.Fatalf("%d numbers, want %d", len(c), k)
		}
		counts[[k]int(c)]++
	}
	// 5·4·3 = 60 ordered choices, 1000 each: six standard deviations.
	if len(counts) != 60 {
		t.Errorf("%d different ordered choices, want 60", len(counts))
	}
	for c, got := range counts {
		if c[0] == c[1] || c[0] == c[2] || c[1] == c[2] || math.Abs(float64(got)-1000) > 6*math.Sqrt(1000) {
			t.Errorf("choice %v comes %d times, want about 1000", c, got)
		}
	}
	if got := Choose(rng, 4, 0); len(got) != 0 {
		t.Errorf("Choose 0 of 4 = %v", got)
	}
	all := Choose(rng, 9, 9)
	slices.Sort(all)
	if !slices.Equal(all, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("Choose 9 of 9 = %v, want a permutation", all)
	}
}

// BalancedLinks finds the other row of a dissimilar pair by bisection: as one who steps over the class does.
func TestBalancedLinksOthers(t *testing.T) {
	y := unevenLabels
	links, err := BalancedLinks(newRand(12), y, 3000)
	if err != nil {
		t.Fatal(err)
	}
	// The draws again, with the other rows counted out one by one.
	rng := newRand(12)
	classes, members := byClass(y)
	var pairs, partners []int
	for _, m := range members {
		pairs, partners = append(pairs, len(m)*(len(m)-1)), append(partners, len(m)*(len(y)-len(m)))
	}
	want := make([]metric.Link, len(links))
	for k := range want {
		if k < 1500 {
			m := members[pick(rng, pairs)]
			i, j := twoOf(rng, len(m))
			want[k] = metric.Link{I: m[i], J: m[j], Label: metric.Similar}
			continue
		}
		c := pick(rng, partners)
		i := members[c][rng.IntN(len(members[c]))]
		var others []int
		for j := range y {
			if y[j] != classes[c] {
				others = append(others, j)
			}
		}
		want[k] = metric.Link{I: i, J: others[rng.IntN(len(others))], Label: metric.Dissimilar}
	}
	rng.Shuffle(len(want), func(a, b int) { want[a], want[b] = want[b], want[a] })
	if !slices.Equal(links, want) {
		t.Error("other links than one by one")
	}
}

// vast is a matrix of more rows than memory holds, whose entries are their row numbers.
type vast struct{}

func (vast) Dims() (int, int)    { return math.MaxInt32, 2 }
func (vast) At(i, j int) float64 { return float64(i) + float64(j)/2 }
func (v vast) T() mat.Matrix     { return mat.Transpose{Matrix: v} }

// Pairs never copies the data: views of rows where there are, else two rows at a time, which stay as they are.
func TestPairsWithoutCopy(t *testing.T) {
	links := []metric.Link{{I: 0, J: math.MaxInt32 - 1, Label: metric.Similar}, {I: 5, J: 7, Label: metric.Dissimilar}}
	pairs := slices.Collect(Pairs(vast{}, links))
	for k, l := range links {
		for _, v := range []struct {
			got []float64
			row int
		}{{pairs[k].X, l.I}, {pairs[k].Y, l.J}} {
			if want := []float64{float64(v.row), float64(v.row) + 0.5}; !slices.Equal(v.got, want) {
				t.Errorf("pair %d: %v, want %v", k, v.got, want)
			}
		}
	}
	x := mat.NewDense(8, 2, nil)
	for p := range Pairs(x, links[1:]) {
		if &p.X[0] != &x.RawRowView(5)[0] || &p.Y[0] != &x.RawRowView(7)[0] {
			t.Error("the vectors are no views")
		}
	}
	allocations := func(links []metric.Link) float64 {
		return testing.AllocsPerRun(10, func() {
			for range Pairs(x, links) {
			}
		})
	}
	if few, many := allocations(links[1:]), allocations(slices.Repeat(links[1:], 1000)); many != few {
		t.Errorf("%v allocations for a pair, %v for a thousand", few, many)
	}
}
