package play

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Faces asks what ERKLE knows after answers (head, near, far) about 16 faces, and what to ask next.
type Faces struct {
	Who     string        `json:"who"` // whose answers they are: each has a learner that goes on
	Answers [][3]int      `json:"answers"`
	Rule    string        `json:"rule"` // random, uncertainty or information-gain
	Seed    uint64        `json:"seed"` // of the questions
	Last    []*[2]float64 `json:"last"` // a map that the new one is turned to, if there is one
}

// Map answers Faces. The map has the faces that were asked about, and is the one before while no plane is the best one. Thought are d²(head, near)
// and d²(head, far) before the last answer. Traits has R² of a linear function of the map that tells the mood, and of one that
// tells the width; it is nil until all faces are in the map.
type Map struct {
	Map     []*[2]float64 `json:"map"`
	Next    [3]int        `json:"next"`
	Thought *[2]float64   `json:"thought"`
	Wrong   int           `json:"wrong"` // answers that were not foreseen; a tie was not
	Traits  *[2]float64   `json:"traits"`
}

// Passes are ERKLE's updates per answer.
const Passes = 10

// facesLesson is a learner, its selector, and what they have been told.
type facesLesson struct {
	rule     string
	seed     uint64
	answers  [][3]int
	l        *triplets.ERKLE
	selector *triplets.Selector
	thought  *[2]float64
	wrong    int
	next     [3]int
}

// traits are those of synthetic.Faces: face 4m + w has mood m/3 and width w/3. That package would bring the loaders of data along,
// and with them half of the program's size.
func traits() *mat.Dense {
	t := mat.NewDense(16, 2, nil)
	for i := range 16 {
		t.SetRow(i, []float64{float64(i/4) / 3, float64(i%4) / 3})
	}
	return t
}

func newFaces(rule string, seed uint64) (*facesLesson, error) {
	n, _ := traits().Dims()
	p := triplets.SelectorParams{Model: triplets.AnswerLogistic}
	if err := p.Rule.UnmarshalText([]byte(rule)); err != nil {
		return nil, err
	}
	s, err := triplets.NewSelector(rand.NewPCG(seed, 1), n, p)
	if err != nil {
		return nil, err
	}
	l, err := triplets.NewERKLE(n, triplets.ERKLEParams{Beta: Passes})
	if err != nil {
		return nil, err
	}
	f := &facesLesson{rule: rule, seed: seed, l: l, selector: s}
	f.ask()
	return f, nil
}

// ask chooses the next question, once for each number of answers: what is drawn depends on the answers alone.
func (f *facesLesson) ask() {
	q := f.selector.Next(f.l.Kernel())
	f.next = [3]int{q.Head, q.B, q.C}
}

func (f *facesLesson) step(a [3]int) error {
	t := metric.Triplet{A: a[0], Near: a[1], Far: a[2]}
	if err := f.selector.Learn(t); err != nil {
		return err
	}
	o, err := f.l.Step(t)
	if err != nil {
		return err
	}
	f.answers, f.thought = append(f.answers, a), &[2]float64{o.Prediction.SqNear, o.Prediction.SqFar}
	if o.Mistake || triplets.Tied(o.Prediction.SqNear, o.Prediction.SqFar) {
		f.wrong++
	}
	f.ask()
	return nil
}

// told returns the learner after these answers.
func (p *Player) told(q Faces) (*facesLesson, error) {
	f := p.faces[q.Who]
	if f == nil || f.rule != q.Rule || f.seed != q.Seed || len(q.Answers) < len(f.answers) || !slices.Equal(f.answers, q.Answers[:len(f.answers)]) {
		var err error
		if f, err = newFaces(q.Rule, q.Seed); err != nil {
			return nil, err
		}
		if p.faces == nil {
			p.faces = map[string]*facesLesson{}
		}
		p.faces[q.Who] = f
	}
	for _, a := range q.Answers[len(f.answers):] {
		if err := f.step(a); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (p *Player) learnFaces(q Faces) (Map, error) {
	f, err := p.told(q)
	if err != nil {
		return Map{}, err
	}
	t := traits()
	n, _ := t.Dims()
	out := Map{Map: f.places(q.Last), Next: f.next, Thought: f.thought, Wrong: f.wrong}
	if out.Map == nil {
		out.Map = make([]*[2]float64, n)
		copy(out.Map, q.Last)
	}
	if !slices.Contains(out.Map, nil) {
		x := mat.NewDense(n, 2, nil)
		for i, at := range out.Map {
			x.SetRow(i, at[:])
		}
		out.Traits = &[2]float64{explained(x, t.ColView(0)), explained(x, t.ColView(1))}
	}
	return out, nil
}

// places returns the faces that were asked about in the best plane of their centred kernel, turned to where they were last. It returns nil where no plane is much better than
// another: K = I has none, and what is drawn of it is noise.
func (f *facesLesson) places(last []*[2]float64) []*[2]float64 {
	k := f.l.Kernel()
	n := k.SymmetricDim()
	var asked []int
	for i := range n {
		if slices.ContainsFunc(f.answers, func(a [3]int) bool { return slices.Contains(a[:], i) }) {
			asked = append(asked, i)
		}
	}
	if len(asked) < 3 {
		return nil
	}
	gram := centred(len(asked), func(i, j int) float64 { return k.At(asked[i], asked[j]) })
	x := triplets.Embed(gram, 3)
	var size [3]float64 // the largest eigenvalues
	for j := range size {
		size[j] = math.Pow(mat.Norm(x.ColView(j), 2), 2)
	}
	const clear = .01
	if size[1]-size[2] < clear*size[0] {
		return nil
	}
	out := make([]*[2]float64, n)
	for i, at := range asked {
		out[at] = &[2]float64{x.At(i, 0), x.At(i, 1)}
	}
	if len(last) == n {
		turn(out, last)
	}
	return out
}

// turn rotates, and reflects where that is nearer, the points so that those that are in both maps are nearest to where they were last.
func turn(points, last []*[2]float64) {
	best, way := -1.0, [4]float64{1, 0, 0, 1}
	for _, flip := range []float64{1, -1} {
		var along, across float64
		for i, p := range points {
			if q := last[i]; p != nil && q != nil {
				along += p[0]*q[0] + flip*p[1]*q[1]
				across += p[0]*q[1] - flip*p[1]*q[0]
			}
		}
		if r := math.Hypot(along, across); r > best && r > 0 {
			cos, sin := along/r, across/r
			best, way = r, [4]float64{cos, -flip * sin, sin, flip * cos}
		}
	}
	for _, p := range points {
		if p != nil {
			*p = [2]float64{way[0]*p[0] + way[1]*p[1], way[2]*p[0] + way[3]*p[1]}
		}
	}
}

// explained returns R² of the linear regression of y, with a constant, on the columns of x.
func explained(x *mat.Dense, y mat.Vector) float64 {
	n, d := x.Dims()
	design := mat.NewDense(n, d+1, nil)
	var mean float64
	for i := range n {
		design.SetRow(i, append([]float64{1}, x.RawRowView(i)...))
		mean += y.AtVec(i) / float64(n)
	}
	var svd mat.SVD
	svd.Factorize(design, mat.SVDThin)
	var u, c, fit mat.Dense
	svd.UTo(&u)
	rank := svd.Rank(1e-12)
	left := u.Slice(0, n, 0, rank)
	c.Mul(left.T(), y)
	fit.Mul(left, &c)
	var rest, all float64
	for i := range n {
		rest += math.Pow(y.AtVec(i)-fit.At(i, 0), 2)
		all += math.Pow(y.AtVec(i)-mean, 2)
	}
	return 1 - rest/all
}

// respondent answers as somebody who sees the mood alone, the width alone, or both.
func respondent(looks string, seed uint64) (*triplets.Respondent, error) {
	t := traits()
	weight, ok := map[string][2]float64{"mood": {1, 0}, "width": {0, 1}, "both": {1, 1}}[looks]
	if !ok {
		return nil, fmt.Errorf("looks: %q is not allowed, want mood, width or both", looks)
	}
	t.Apply(func(_, j int, v float64) float64 { return v * weight[j] }, t)
	return triplets.NewPointRespondent(rand.NewPCG(seed, 2), t, 0)
}

// Other asks for the answers (head, near, far) of a simulated person to questions (head, b, c).
type Other struct {
	Looks     string   `json:"looks"` // at: mood, width or both
	Questions [][3]int `json:"questions"`
	Seed      uint64   `json:"seed"` // of the coin that is flipped where both are equally far
}

func other(q Other) ([][3]int, error) {
	answers := [][3]int{}
	who, err := respondent(q.Looks, q.Seed)
	if err != nil {
		return nil, err
	}
	n, _ := traits().Dims()
	for _, a := range q.Questions {
		t := metric.Triplet{A: a[0], Near: a[1], Far: a[2]}
		if err := triplets.Check(n, t); err != nil {
			return nil, err
		}
		t = who.Answer(triplets.QueryOf(t))
		answers = append(answers, [3]int{t.A, t.Near, t.Far})
	}
	return answers, nil
}

// Differ asks where two persons disagree, by the kernels that their answers make.
type Differ struct {
	Mine   Faces `json:"mine"`
	Theirs Faces `json:"theirs"`
}

// Difference is a pair of faces, and the share of all pairs that are nearer, to each of the two persons.
type Difference struct {
	I      int     `json:"i"`
	J      int     `json:"j"`
	Mine   float64 `json:"mine"`
	Theirs float64 `json:"theirs"`
}

// differ returns all pairs, those first about which the two differ most.
func differ(q Differ) ([]Difference, error) {
	var shares [2][]float64
	var out []Difference
	for k, f := range []Faces{q.Mine, q.Theirs} {
		lesson, err := (&Player{}).told(f)
		if err != nil {
			return nil, err
		}
		var sq []float64
		kernel := lesson.l.Kernel()
		n := kernel.SymmetricDim()
		out = out[:0]
		for i := range n {
			for j := range i {
				sq = append(sq, kernel.At(i, i)+kernel.At(j, j)-2*kernel.At(i, j))
				out = append(out, Difference{I: j, J: i})
			}
		}
		for _, v := range sq {
			nearer := 0.0
			for _, w := range sq {
				switch {
				case triplets.Tied(v, w):
					nearer += .5
				case w < v:
					nearer++
				}
			}
			shares[k] = append(shares[k], nearer/float64(len(sq)))
		}
	}
	for i := range out {
		out[i].Mine, out[i].Theirs = shares[0][i], shares[1][i]
	}
	slices.SortStableFunc(out, func(a, b Difference) int {
		return cmp.Compare(math.Abs(b.Mine-b.Theirs), math.Abs(a.Mine-a.Theirs))
	})
	return out, nil
}

// Race asks how fast simulated persons who see both traits are understood when a rule chooses the questions. Its measure is the mean
// share of all questions that the kernel answers otherwise than they do, a tie half an error, after each eight answers up to 96.
type Race struct {
	Rule    string `json:"rule"`
	Persons int    `json:"persons"`
}

type raceKey struct {
	rule   string
	person int
}

func (p *Player) race(q Race) ([]float64, error) {
	if q.Persons < 1 || q.Persons > 100 {
		return nil, fmt.Errorf("persons: %d is not allowed, want 1 to 100", q.Persons)
	}
	if p.races == nil {
		p.races = map[raceKey][]float64{}
	}
	var mean []float64
	for person := range q.Persons {
		key := raceKey{q.Rule, person}
		if p.races[key] == nil {
			curve, err := run(q.Rule, uint64(person))
			if err != nil {
				return nil, err
			}
			p.races[key] = curve
		}
		if mean == nil {
			mean = make([]float64, len(p.races[key]))
		}
		for i, v := range p.races[key] {
			mean[i] += v / float64(q.Persons)
		}
	}
	return mean, nil
}

// run asks one person, and returns the errors.
func run(rule string, seed uint64) (errors []float64, err error) {
	const every, most = 8, 96
	f, err := newFaces(rule, seed)
	if err != nil {
		return nil, err
	}
	who, err := respondent("both", seed)
	if err != nil {
		return nil, err
	}
	truth := truth()
	for len(errors) < most/every {
		for range every {
			t := who.Answer(triplets.QueryOf(metric.Triplet{A: f.next[0], Near: f.next[1], Far: f.next[2]}))
			if err := f.step([3]int{t.A, t.Near, t.Far}); err != nil {
				return nil, err
			}
		}
		_, half := triplets.Errors(f.l.Kernel(), truth)
		errors = append(errors, half)
	}
	return errors, nil
}

// truth is what somebody who sees both traits says to all questions without a tie.
func truth() (ts []metric.Triplet) {
	t := traits()
	n, _ := t.Dims()
	for a := range n {
		for b := range n {
			for c := range n {
				if a == b || b == c || a == c {
					continue
				}
				near, far := metric.Euclidean{}.SqDist(t.RawRowView(a), t.RawRowView(b)), metric.Euclidean{}.SqDist(t.RawRowView(a), t.RawRowView(c))
				if near < far && !triplets.Tied(near, far) {
					ts = append(ts, metric.Triplet{A: a, Near: b, Far: c})
				}
			}
		}
	}
	return ts
}
