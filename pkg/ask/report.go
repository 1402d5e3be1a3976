package ask

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/judge"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Person is what is known of one person's answers.
type Person struct {
	Name    string `json:"name"`
	Answers int    `json:"answers"`
	// Again counts the answers to questions that the person had answered before, Agreed those that were the same.
	Again  int `json:"again"`
	Agreed int `json:"agreed"`
}

// People returns what is known of each person, most answers first.
func (s *Session) People() []Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Person, 0, len(s.people))
	for name, p := range s.people {
		out = append(out, Person{name, p.answers, p.again, p.agree})
	}
	slices.SortFunc(out, func(a, b Person) int {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// Agreement counts the answers to repeated questions, and returns the share of them that is the same, with its interval.
func (s *Session) Agreement() Share {
	var again, agreed int
	for _, p := range s.People() {
		again, agreed = again+p.Again, agreed+p.Agreed
	}
	return ShareOf(agreed, again)
}

// Share is k of n, or a difference of such shares, with its 95 % interval.
type Share struct {
	N     int     `json:"n"`
	Of    float64 `json:"of"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// ShareOf returns k of n with the interval of Wilson (1927), which is right for few, too. Of none it is from 0 to 1.
func ShareOf(k, n int) Share {
	if n == 0 {
		return Share{Most: 1}
	}
	const z = 1.959963984540054 // of 95 %
	p, m := float64(k)/float64(n), float64(n)
	mid, half := (p+z*z/(2*m))/(1+z*z/m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))/(1+z*z/m)
	return Share{n, p, max(0, mid-half), min(1, mid+half)}
}

const (
	// folds is the number of parts of the questions, each held out once.
	folds = 5
	// LastAnswers is how many of the last answers a Report leaves out, at least, to see what they brought. Of many it leaves out a quarter: a hundred of
	// thousands bring little even where twice as many would bring much.
	LastAnswers = 100
	// leastHeld is the number of held-out answers below which a Report says nothing of predictions.
	leastHeld = 20
	// EnoughGain is the gain of the last answers, as a difference of shares, below which more of them hardly pay.
	EnoughGain = .02
)

// Report is what is known after some answers.
type Report struct {
	Answers int
	// Map has coordinates in the plane: a row per item of Items, those that occur in answers; nil before there is an answer that compares.
	Map   *mat.Dense
	Items []int
	// Wrong is the share of held-out answers to random questions that maps of the other answers contradict. N is 0 while there are too few.
	Wrong Share
	// Gain is by how much the Last answers lowered that share, on the same held-out answers; N is 0 while there are too few.
	Gain Share
	Last int
}

// Square returns the coordinates of the map in the square from 0 to 1, scaled alike in both directions.
func (r Report) Square() [][2]float64 {
	if r.Map == nil {
		return nil
	}
	x, y := mat.Col(nil, 0, r.Map), mat.Col(nil, 1, r.Map)
	left, low := slices.Min(x), slices.Min(y)
	wide, high := slices.Max(x)-left, slices.Max(y)-low
	size := max(wide, high)
	if size == 0 {
		size = 1
	}
	out := make([][2]float64, len(x))
	for i := range out {
		out[i] = [2]float64{.5 + (x[i]-left-wide/2)/size, .5 + (y[i]-low-high/2)/size}
	}
	return out
}

// Enough tells whether the last answers lowered the share of wrong predictions by less than EnoughGain, by the end of the interval.
func (r Report) Enough() bool { return r.Gain.N > 0 && r.Gain.Most < EnoughGain }

// Report fits a map to all answers, and maps to parts of them. It calls between, unless that is nil, between fits, which take long. It
// returns the error of ctx once that is done.
func (s *Session) Report(ctx context.Context, between func()) (Report, error) {
	answers := s.Answers()
	r := Report{Answers: len(answers)}
	fit := func(keep func(i int) bool) (*plane, error) {
		if between != nil {
			between()
		}
		return fitPlane(ctx, s.n, s.p.Kind, answers, keep)
	}
	whole, err := fit(func(int) bool { return true })
	if err != nil || whole == nil {
		return r, err
	}
	r.Items = whole.items
	r.Map = mat.NewDense(len(r.Items), 2, nil)
	s.mu.Lock()
	before := s.shown
	s.shown = whole
	s.mu.Unlock()
	whole.turn(before)
	for i, item := range r.Items {
		r.Map.SetRow(i, whole.x.RawRowView(item))
	}
	part := make([]int, len(answers))
	held := make([][]int, folds) // of each part
	first := map[key]bool{}
	n := 0
	for i, a := range answers {
		of := s.p.Kind.key(a.Question)
		part[i] = partOf(of)
		if a.Why == ReasonRandom && !first[of] {
			held[part[i]] = append(held[part[i]], i)
			n++
		}
		first[of] = true
	}
	if n < leastHeld {
		return r, nil
	}
	r.Last = max(LastAnswers, len(answers)/4)
	last := len(answers) - r.Last
	var wrong float64
	var gains []float64
	for p := range held {
		now, err := fit(func(i int) bool { return part[i] != p })
		if err != nil {
			return r, err
		}
		var then *plane
		if last >= LastAnswers {
			if then, err = fit(func(i int) bool { return part[i] != p && i < last }); err != nil {
				return r, err
			}
		}
		for _, i := range held[p] {
			e := now.wrong(answers[i], s.p.Kind)
			wrong += e
			if then != nil {
				gains = append(gains, then.wrong(answers[i], s.p.Kind)-e)
			}
		}
	}
	r.Wrong = ShareOf(int(math.Round(wrong)), n)
	if len(gains) > 0 {
		r.Gain = gained(gains)
	}
	return r, nil
}

// gained returns the mean of paired differences from -1 to 1, with the interval of Bonett and Price (2012): one more won and one more lost.
// Without these two the interval of a few answers of which none changed would have no width.
func gained(differences []float64) Share {
	n := len(differences)
	mean, half := judge.Summarize(append(slices.Clone(differences), 1, -1)).Interval()
	return Share{n, floats.Sum(differences) / float64(n), max(-1, mean-half), min(1, mean+half)}
}

// partOf divides questions by what they are about, so that more answers move none.
func partOf(of key) int {
	h := fnv.New32a()
	for _, item := range of {
		h.Write([]byte{byte(item), byte(item >> 8), byte(item >> 16)})
	}
	return int(h.Sum32() % folds)
}

// plane is a map in two coordinates.
type plane struct {
	x     *mat.Dense // of all items
	items []int      // those that occur
	most  float64    // of KindAlike: the largest squared distance of two that are alike
}

const (
	// planeTau, planeStarts and planeIterations are those of the fit of a map. With few answers of people about 85 shoes, t-STE with this τ and CKL had fewer errors than SOE and STE.
	planeTau        = .1
	planeStarts     = 3
	planeIterations = 300
)

// fitPlane fits a map by t-STE to the answers that keep tells; nil if they compare nothing.
func fitPlane(ctx context.Context, n int, k Kind, answers []Answer, keep func(i int) bool) (*plane, error) {
	var kept []Answer
	for i, a := range answers {
		if keep(i) {
			kept = append(kept, a)
		}
	}
	ts := comparisons(k, kept)
	if len(ts) == 0 {
		return nil, ctx.Err()
	}
	out := &plane{x: mat.NewDense(n, 2, nil)}
	place := make([]int, n)
	for _, t := range ts {
		place[t.A], place[t.Near], place[t.Far] = 1, 1, 1
	}
	for item, occurs := range place {
		if occurs == 1 {
			place[item] = len(out.items)
			out.items = append(out.items, item)
		}
	}
	for i, t := range ts {
		ts[i] = metric.Triplet{A: place[t.A], Near: place[t.Near], Far: place[t.Far]}
	}
	r, err := triplets.FitCoordinates(ctx, rand.New(rand.NewPCG(1, 1)), len(out.items), ts, triplets.CoordinatesParams{Loss: triplets.TSTE, Tau: planeTau, Starts: planeStarts, Iterations: planeIterations})
	if err != nil {
		return nil, err
	}
	for i, item := range out.items {
		out.x.SetRow(item, r.X.RawRowView(i))
	}
	if k == KindAlike {
		out.most = out.threshold(kept)
	}
	return out, nil
}

// mostDerived bounds the comparisons that are made of each answer to a question about two items.
const mostDerived = 10

// comparisons returns what answers say of three items. Of answers about two, each that says alike is compared with the last ones about one of
// its items that say not, and the other way round: the item is more like the one than like the other.
func comparisons(k Kind, answers []Answer) (ts []metric.Triplet) {
	if k != KindAlike {
		for _, a := range answers {
			ts = append(ts, k.Comparisons(a)...)
		}
		return ts
	}
	others := map[int]*[2][]int{} // of each item: those that are not alike, and those that are
	for _, a := range answers {
		for i, item := range a.Items[:2] {
			if others[item] == nil {
				others[item] = &[2][]int{}
			}
			other := a.Items[1-i]
			known := others[item][1-a.Said]
			for _, o := range known[max(0, len(known)-mostDerived):] {
				t := metric.Triplet{A: item, Near: other, Far: o}
				if a.Said == 0 {
					t.Near, t.Far = o, other
				}
				if o != other {
					ts = append(ts, t)
				}
			}
			others[item][a.Said] = append(others[item][a.Said], other)
		}
	}
	return ts
}

// turn turns and reflects the map so that the items lie as near as can be to where they were.
func (p *plane) turn(before *plane) {
	if before == nil {
		return
	}
	// With rows as complex numbers z and w, the best rotation has the angle of Σ w·z̄, after a reflection of Σ w·z.
	var turned, reflected complex128
	for _, item := range before.items {
		z, w := p.x.RawRowView(item), before.x.RawRowView(item)
		turned += complex(w[0], w[1]) * complex(z[0], -z[1])
		reflected += complex(w[0], w[1]) * complex(z[0], z[1])
	}
	by, sign := turned, 1.
	if cmplx.Abs(reflected) > cmplx.Abs(turned) {
		by, sign = reflected, -1
	}
	if by == 0 {
		return
	}
	by /= complex(cmplx.Abs(by), 0)
	for _, item := range p.items {
		z := p.x.RawRowView(item)
		w := by * complex(z[0], sign*z[1])
		z[0], z[1] = real(w), imag(w)
	}
}

func (p *plane) sq(i, j int) float64 {
	return metric.Euclidean{}.SqDist(p.x.RawRowView(i), p.x.RawRowView(j))
}

// wrong is 1 if the map contradicts an answer, ½ where two distances are equal. A map of nothing guesses.
func (p *plane) wrong(a Answer, k Kind) float64 {
	if p == nil {
		return k.Chance()
	}
	if k == KindAlike {
		if (p.sq(a.Items[0], a.Items[1]) <= p.most) == (a.Said == 1) {
			return 0
		}
		return 1
	}
	i := a.Items
	var said, least float64 // of the pair that the answer says is nearest, and of those that it might have been
	if k == KindOdd {
		odd, x, y := i[a.Said], i[(a.Said+1)%3], i[(a.Said+2)%3]
		said, least = p.sq(x, y), min(p.sq(odd, x), p.sq(odd, y))
	} else {
		said, least = p.sq(i[0], i[a.Said]), p.sq(i[0], i[3-a.Said])
	}
	switch {
	case triplets.Tied(said, least):
		return .5
	case said > least:
		return 1
	}
	return 0
}

// threshold is the squared distance up to which two items are alike with the fewest contradictions.
func (p *plane) threshold(answers []Answer) float64 {
	sorted := slices.Clone(answers)
	sq := func(a Answer) float64 { return p.sq(a.Items[0], a.Items[1]) }
	slices.SortStableFunc(sorted, func(a, b Answer) int { return cmp.Compare(sq(a), sq(b)) })
	best, right, at := 0, 0, -1.
	for _, a := range sorted {
		right += 2*a.Said - 1
		if right > best {
			best, at = right, sq(a)
		}
	}
	return at
}
