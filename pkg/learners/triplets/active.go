package triplets

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/internal/matrix"
	"metriclab/internal/ranges"
	"metriclab/pkg/metric"
)

// SelectorVersion counts the changes of the questions that a Selector asks.
const SelectorVersion = 1

// Query asks whether Head is more like B or like C.
type Query struct{ Head, B, C int }

// QueryOf returns the question that t answers, B < C.
func QueryOf(t metric.Triplet) Query {
	return Query{t.A, min(t.Near, t.Far), max(t.Near, t.Far)}
}

// Answer returns the answer that Head is more like near. It panics unless near is B or C.
func (q Query) Answer(near int) metric.Triplet {
	switch near {
	case q.B:
		return metric.Triplet{A: q.Head, Near: q.B, Far: q.C}
	case q.C:
		return metric.Triplet{A: q.Head, Near: q.C, Far: q.B}
	}
	panic(fmt.Sprintf("triplets: answer %d to a question about %d and %d", near, q.B, q.C))
}

// SelectorRule says how a Selector chooses the two objects that the head is compared with.
type SelectorRule int

// The rules.
const (
	// SelectRandomThenUncertainty, the default, is SelectRandom while the head has fewer than RandomStart answers and SelectUncertainty
	// after that: a kernel of few answers does not know where it is uncertain.
	SelectRandomThenUncertainty SelectorRule = iota
	// SelectRandom: any two, with equal probability.
	SelectRandom
	// SelectUncertainty: the two whose comparison is least certain under the kernel, that is
	// with the smallest |d²(Head, B) − d²(Head, C)|: the loss STE gives both answers the
	// probability nearest ½.
	SelectUncertainty
	// SelectInformationGain: the two whose answer tells most about where the head is (Tamuz, Liu,
	// Belongie, Shamir, Kalai 2011, Section 4). The head may be where any of the n objects is
	// in the kernel's feature space, with the posterior
	//
	//	τ(x) ∝ Π p(answer | x)
	//
	// over its answers so far, from a uniform prior. The gain is the expected decrease of the entropy
	// of τ, which is the mutual information of the answer and x,
	//
	//	H(Σ_x τ(x)·p(b | x)) − Σ_x τ(x)·H(p(b | x)),
	//
	// with H(p) = −p·ln p − (1−p)·ln(1−p) in nats and p(b | x) the probability of the answer b from x
	// under the Model, which must be given. It should belong to the loss with which FitBatch fitted the kernel to all answers,
	// since p depends on the kernel's scale. The kernels of ERKLE have no such scale: see the table of Selector.
	SelectInformationGain
)

// RandomStart is the number of answers of a head with which the default rule stops asking at random. The figures of
// erkle2015/active start with as many random answers per object.
const RandomStart = 6

var ruleNames = enum.Of[SelectorRule]("Rule(%d)", "random-then-uncertainty", "random", "uncertainty", "information-gain")

// String returns "random-then-uncertainty", "random", "uncertainty" or "information-gain".
func (r SelectorRule) String() string { return ruleNames.Text(r) }

// MarshalText returns String.
func (r SelectorRule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what String returns of the four rules.
func (r *SelectorRule) UnmarshalText(text []byte) error { return ruleNames.Unmarshal(r, text) }

// AnswerModel gives the probability p(b | x) of the answer that the head is more like b than like c,
// if it is where x is, by the squared distances of x to both.
type AnswerModel int

// The models. The zero value is none.
const (
	// AnswerCrowd: (μ + d²(x, c)) / (2μ + d²(x, b) + d²(x, c)), that of the loss CKL, which Tamuz et
	// al. use.
	AnswerCrowd AnswerModel = iota + 1
	// AnswerLogistic: 1/(1 + exp(d²(x, b) − d²(x, c))), that of the loss STE.
	AnswerLogistic
)

var answerModelNames = enum.Of[AnswerModel]("AnswerModel(%d)", "none", "crowd", "logistic")

// String returns "none", "crowd" or "logistic".
func (m AnswerModel) String() string { return answerModelNames.Text(m) }

// MaxMu bounds SelectorParams.Mu, with which all answers are coin flips for any kernel that
// ERKLE learns.
const MaxMu = 1e100

// SelectorParams are the parameters of a Selector.
type SelectorParams struct {
	// Rule is the rule of selection. The default is SelectRandomThenUncertainty.
	Rule SelectorRule
	// Candidates is the number of pairs of objects that are weighed per question, from 1 to MaxCandidates: all that
	// were not asked if there are no more, else as many random ones. 0 means 5000: all for up to 101 objects.
	Candidates int `range:">= 1 and <= 10000000"`
	// Model is the model of an answer, which SelectInformationGain and Gain need and the other rules ignore. There is no default: AnswerCrowd
	// is for kernels fitted with the loss CKL, AnswerLogistic for those fitted with STE.
	Model AnswerModel
	// Mu is μ of AnswerCrowd, in units of d², > 0 and at most MaxMu; 0 means 0.05. The larger, the less certain are the
	// answers about close objects.
	Mu float64 `range:"> 0 and <= 1e100"`
}

// MaxSelected and MaxCandidates bound the objects and the candidates of a Selector.
const (
	MaxSelected   = 1 << 20 // whose questions can be counted
	MaxCandidates = 10_000_000
)

// Resolved returns p with its defaults filled in: Candidates = 5000, Mu = 0.05.
func (p SelectorParams) Resolved() SelectorParams {
	p.Candidates = cmp.Or(p.Candidates, 5000)
	p.Mu = cmp.Or(p.Mu, 0.05)
	return p
}

func (p SelectorParams) check() error {
	switch {
	case p.Rule < SelectRandomThenUncertainty || p.Rule > SelectInformationGain:
		return fmt.Errorf("selector: rule: %v is not allowed, want SelectRandomThenUncertainty, SelectRandom, SelectUncertainty or SelectInformationGain", p.Rule)
	case p.Model < 0 || p.Model > AnswerLogistic:
		return fmt.Errorf("selector: model: %v is not allowed, want AnswerCrowd or AnswerLogistic", p.Model)
	case p.Model == 0 && p.Rule == SelectInformationGain:
		return errors.New("selector: model: none given, and information gain needs one: AnswerCrowd for a kernel fitted with CKL, AnswerLogistic for one fitted with STE; for ERKLE take another rule")
	}
	return ranges.Check("selector", p)
}

// Selector chooses the next question by a kernel and the answers so far. By every rule the head is a random one of
// the objects that have been the head of the fewest answers, so that all are heads in turn. The Rule chooses the two
// objects to compare with. Equal pairs, all of them at K = I without answers, have equal chances. A question is asked
// again only when all n(n−1)(n−2)/2 are answered; then the next round of all begins. A question is Next of the
// learner's kernel; the answer goes to Learn and to Step of the learner (see the example).
//
// Which rule suits which learner, measured by erkle2015/active: the mean error in percent on comparisons not asked, after
// 40 answers per object about 60 points in R² and in R⁵⁰, the first 6 of each to random questions.
//
//	learner              points  random  uncertainty  gain (crowd)  gain (logistic)
//	PA-ERKLE             R²       20.05        18.20         33.98            27.62
//	PA-ERKLE             R⁵⁰      22.25        20.49         29.88            26.01
//	PA-ERKLE, 10 passes  R²       17.02        13.86         26.53            16.85
//	PA-ERKLE, 10 passes  R⁵⁰      19.17        16.18         26.73            22.82
//	STE-Batch            R²        7.24         3.95         20.81             5.00
//	STE-Batch            R⁵⁰      17.40        14.34         25.50            19.43
//	CKL-Batch            R²        6.83         1.82          4.81             6.90
//	CKL-Batch            R⁵⁰      25.38        23.00         27.95            28.70
//
// The same by erkle2015/active-learners, on the first seven of the ten sets of points:
//
//	STE-ERKLE             R²      21.79        18.66         35.66            20.39
//	STE-ERKLE             R⁵⁰     24.57        21.60         32.30            26.02
//	STE-ERKLE, 10 passes  R²      17.12        14.07         26.59            13.85
//	STE-ERKLE, 10 passes  R⁵⁰     19.33        16.66         26.96            21.85
//	GNMDS-Batch           R²      10.93         6.80         26.66             6.92
//	GNMDS-Batch           R⁵⁰     18.39        14.92         28.53            20.94
//
// SelectUncertainty has the least error for every learner and set of points there, but for STE-ERKLE with 10 passes in R², and the default rule asks in the
// same way. Information gain helps in few dimensions, for a batch fit with the loss of its model, and by the logistic model for STE-ERKLE and GNMDS; with
// one update of PA-ERKLE per answer it is far worse than random questions.
//
// A Selector is no learner and is not saved: what it knows are the answers, which Learn can give to a
// new one, and the state of its generator. Its methods may not be called concurrently.
type Selector struct {
	p        SelectorParams
	n        int
	rng      *rand.Rand
	answers  [][]metric.Triplet // by head
	answered map[Query]struct{} // in this round
	of       []int              // those of answered, by head
}

// NewSelector returns a Selector for n objects which draws from src. It returns an error unless n is from 3 to
// MaxSelected and the parameters are allowed, and panics if src is nil.
func NewSelector(src *rand.PCG, n int, p SelectorParams) (*Selector, error) {
	if src == nil {
		panic("triplets: NewSelector: the source is nil")
	}
	p = p.Resolved()
	if n < 3 || n > MaxSelected {
		return nil, fmt.Errorf("selector: n: %d is not allowed, want 3 to %d objects", n, MaxSelected)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return &Selector{p, n, rand.New(src), make([][]metric.Triplet, n), map[Query]struct{}{}, make([]int, n)}, nil
}

// Learn takes an answer to any question, asked by Next or not. It returns an error, and
// has not changed, unless t compares three different objects.
func (s *Selector) Learn(t metric.Triplet) error {
	if err := Check(s.n, t); err != nil {
		return err
	}
	s.answers[t.A] = append(s.answers[t.A], t)
	q := QueryOf(t)
	if _, again := s.answered[q]; !again {
		s.answered[q] = struct{}{}
		s.of[t.A]++
	}
	if len(s.answered) == s.n*s.perHead() {
		clear(s.answered)
		clear(s.of)
	}
	return nil
}

// perHead is the number of questions per head.
func (s *Selector) perHead() int { return (s.n - 1) * (s.n - 2) / 2 }

// demandOrder panics unless k is n×n.
func (s *Selector) demandOrder(k mat.Symmetric) {
	if matrix.IsNil(k) {
		panic("triplets: selector: the kernel is nil")
	}
	if got := k.SymmetricDim(); got != s.n {
		panic(fmt.Sprintf("triplets: selector: a kernel of order %d, want %d", got, s.n))
	}
}

// Next returns a question under the kernel k, with B < C. It changes nothing but the state of the generator: until
// Learn has an answer, the question may come again. With c candidates SelectInformationGain takes time proportional to n(n + c) beside the
// answers of the head (about 7 ms for n = 100 and all its pairs), the other rules to c. It panics unless k is n×n, and if squared
// distances it needs are not finite.
func (s *Selector) Next(k mat.Symmetric) Query {
	s.demandOrder(k)
	head := s.head()
	limit := s.p.Candidates
	if s.rule(head) == SelectRandom {
		limit = 1
	}
	return s.choose(k, head, s.candidates(head, limit))
}

// Among is Next where only some questions can be asked, as when all answers are there already: of qs, which share a head, it returns the
// one that the rule prefers, with equal chances for equal ones. It weighs all of qs, however many Candidates there are, and does not
// look whether one is answered. It panics if qs is empty, if a question does not compare three different objects or has
// another head than the first, and like Next.
func (s *Selector) Among(k mat.Symmetric, qs []Query) Query {
	s.demandOrder(k)
	if len(qs) == 0 {
		panic("triplets: selector: no questions to choose from")
	}
	for _, q := range qs {
		if err := Check(s.n, q.Answer(q.B)); err != nil {
			panic(err.Error())
		}
		if q.Head != qs[0].Head {
			panic(fmt.Sprintf("triplets: selector: questions with the heads %d and %d, want one head", qs[0].Head, q.Head))
		}
	}
	return s.choose(k, qs[0].Head, qs)
}

// choose returns the one of qs, questions with that head, that its rule prefers.
func (s *Selector) choose(k mat.Symmetric, head int, qs []Query) Query {
	scores := make([]float64, len(qs))
	switch s.rule(head) {
	case SelectUncertainty:
		scores = certainty(k, qs)
	case SelectInformationGain:
		scores = s.gains(k, head, qs)
	}
	return qs[s.best(scores)]
}

// rule returns the rule for a question about head.
func (s *Selector) rule(head int) SelectorRule {
	switch {
	case s.p.Rule != SelectRandomThenUncertainty:
		return s.p.Rule
	case len(s.answers[head]) < RandomStart:
		return SelectRandom
	}
	return SelectUncertainty
}

// Gain returns the expected information gain of a question under k, in nats, whatever the rule is. It panics without a
// Model, unless q compares three different objects, and like Next.
func (s *Selector) Gain(k mat.Symmetric, q Query) float64 {
	if s.p.Model == 0 {
		panic("triplets: selector: the gain needs a model of an answer")
	}
	s.demandOrder(k)
	if err := Check(s.n, q.Answer(q.B)); err != nil {
		panic(err.Error())
	}
	return s.gains(k, q.Head, []Query{q})[0]
}

// head draws one of the objects with the fewest answers among those that have a question left.
func (s *Selector) head() int {
	var least []int
	for a, answers := range s.answers {
		switch {
		case s.of[a] == s.perHead():
		case len(least) == 0 || len(answers) < len(s.answers[least[0]]):
			least = append(least[:0], a)
		case len(answers) == len(s.answers[least[0]]):
			least = append(least, a)
		}
	}
	return least[s.rng.IntN(len(least))]
}

// candidates returns questions with that head that are not answered: all, if there are at most limit in all,
// else up to limit random ones, of which some may be equal.
func (s *Selector) candidates(head, limit int) []Query {
	var out []Query
	if s.perHead() > limit {
		// So many draws fail only if nearly all questions of the head are answered.
		for tries := 4*limit + 100; tries > 0 && len(out) < limit; tries-- {
			b, c := s.draw(head)
			if q := (Query{head, min(b, c), max(b, c)}); s.open(q) {
				out = append(out, q)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	for b := range s.n {
		for c := b + 1; c < s.n; c++ {
			if q := (Query{head, b, c}); b != head && c != head && s.open(q) {
				out = append(out, q)
			}
		}
	}
	return out
}

// draw returns two different objects other than head.
func (s *Selector) draw(head int) (b, c int) {
	b, c = s.rng.IntN(s.n-1), s.rng.IntN(s.n-2)
	if c >= b {
		c++
	}
	if b >= head {
		b++
	}
	if c >= head {
		c++
	}
	return b, c
}

// open reports whether q has no answer in this round.
func (s *Selector) open(q Query) bool { _, answered := s.answered[q]; return !answered }

// best draws one of the largest scores. Scores within TieTolerance of the
// largest, relative to the largest magnitude and to 1, are equal.
func (s *Selector) best(scores []float64) int {
	most, size := math.Inf(-1), 1.0
	for _, v := range scores {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic("triplets: selector: a squared distance is not finite")
		}
		most, size = max(most, v), max(size, math.Abs(v))
	}
	var largest []int
	for i, v := range scores {
		if v >= most-TieTolerance*size {
			largest = append(largest, i)
		}
	}
	return largest[s.rng.IntN(len(largest))]
}

// certainty returns −|d²(Head, B) − d²(Head, C)| per question.
func certainty(k mat.Symmetric, qs []Query) []float64 {
	out := make([]float64, len(qs))
	for i, q := range qs {
		out[i] = -math.Abs(sqDist(k, q.Head, q.B) - sqDist(k, q.Head, q.C))
	}
	return out
}

// leastTau is the posterior probability below which a place is left out. Its share of a gain is at most 2·ln 2 times that.
const leastTau = 1e-15

// gains returns the expected information gain per question with that head.
func (s *Selector) gains(k mat.Symmetric, head int, qs []Query) []float64 {
	rows := distances{k, make([]float64, s.n)}
	tau := s.posterior(rows, head)
	mean, noise := make([]float64, len(qs)), make([]float64, len(qs))
	weigh := s.logistic
	if s.p.Model == AnswerCrowd {
		weigh = s.crowd
	}
	for x, w := range tau {
		if w < leastTau {
			continue
		}
		weigh(mean, noise, w, rows.from(x), qs)
	}
	out := make([]float64, len(qs))
	for i, p := range mean {
		out[i] = entropy(p) - noise[i]
	}
	return out
}

// posterior returns τ.
func (s *Selector) posterior(rows distances, head int) []float64 {
	tau := make([]float64, s.n)
	most := math.Inf(-1)
	for x := range tau {
		d := rows.from(x)
		for _, t := range s.answers[head] {
			tau[x] += s.logProbability(d[t.Near], d[t.Far])
		}
		most = max(most, tau[x])
	}
	var sum float64
	for x, v := range tau {
		tau[x] = math.Exp(v - most)
		sum += tau[x]
	}
	for x := range tau {
		tau[x] /= sum
	}
	return tau
}

// logProbability returns ln p(near | x) by the squared distances of x.
func (s *Selector) logProbability(near, far float64) float64 {
	if s.p.Model == AnswerCrowd {
		return math.Log((s.p.Mu + far) / (2*s.p.Mu + near + far))
	}
	return -logOnePlusExp(near - far)
}

// logOnePlusExp returns ln(1 + exp z) without overflow.
func logOnePlusExp(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

// crowd adds w·p(B | x) to mean and w·H(p(B | x)) to noise, per question, by the squared distances d from x. With u = μ + d² and
// S = u_B + u_C the entropy is ln S − (u_B·ln u_B + u_C·ln u_C)/S, of which the second logarithms are those of objects, not of pairs.
func (s *Selector) crowd(mean, noise []float64, w float64, d []float64, qs []Query) {
	u, v := make([]float64, s.n), make([]float64, s.n)
	for j, sq := range d {
		u[j] = s.p.Mu + sq
		v[j] = u[j] * math.Log(u[j])
	}
	for i, q := range qs {
		sum := u[q.B] + u[q.C]
		mean[i] += w * u[q.C] / sum
		noise[i] += w * (math.Log(sum) - (v[q.B]+v[q.C])/sum)
	}
}

// logistic is crowd for AnswerLogistic. With w = exp(−d²) and S = w_B + w_C the entropy is ln S + (w_B·d²_B + w_C·d²_C)/S.
func (s *Selector) logistic(mean, noise []float64, weight float64, d []float64, qs []Query) {
	w, v := make([]float64, s.n), make([]float64, s.n)
	for j, sq := range d {
		w[j] = math.Exp(-sq)
		v[j] = w[j] * sq
	}
	for i, q := range qs {
		sum := w[q.B] + w[q.C]
		if sum < leastSum { // both are far: by their difference
			z := d[q.B] - d[q.C]
			p := 1 / (1 + math.Exp(z))
			mean[i] += weight * p
			noise[i] += weight * entropy(p)
			continue
		}
		mean[i] += weight * w[q.B] / sum
		noise[i] += weight * (math.Log(sum) + (v[q.B]+v[q.C])/sum)
	}
}

// leastSum is the sum of two numbers exp(−d²) below which they lose digits.
const leastSum = 1e-290

// entropy returns −p·ln p − (1−p)·ln(1−p), 0 where round-off takes p out of (0, 1).
func entropy(p float64) float64 {
	if p <= 0 || p >= 1 {
		return 0
	}
	return -p*math.Log(p) - (1-p)*math.Log1p(-p)
}

// distances gives the squared distances of a kernel row by row.
type distances struct {
	k   mat.Symmetric
	row []float64
}

// from returns d²(x, ·), at least 0, in a slice that the next call overwrites.
func (r distances) from(x int) []float64 {
	xx := r.k.At(x, x)
	for j := range r.row {
		r.row[j] = max(0, xx+r.k.At(j, j)-2*r.k.At(x, j))
	}
	r.row[x] = 0
	return r.row
}
