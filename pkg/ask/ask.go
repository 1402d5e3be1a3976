// Package ask asks people which of some items are alike: which question comes next, what the answers say, how far they can be
// predicted, and when more of them stop paying. A Session is shared by the page of metriclab ask and by the notebooks; it
// shows nothing, reads no clock and stores nothing.
//
//	s.Next(person)   the next question: chosen, random, or one that the person has answered before
//	s.Learn(answer)  takes an answer
//	s.Advance(ctx)   learns from the answers since, and chooses questions ahead: the slow part, for a goroutine of its own
//	s.Report(ctx)    a map, how well held-out answers are predicted by it, and whether more answers pay
//
// # How it is built
//
// Next and Learn hold a lock for microseconds. Advance learns under a lock of its own and puts chosen questions into a queue; where
// that is empty, Next asks at random, which is honest, and is counted as random.
//
// What is chosen is harder than what is not, so only answers to random questions are held out, and no answer to one question is on
// both sides.
package ask

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/enum"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
)

// Kind is the form of a question.
type Kind int

// The forms.
const (
	KindCompare Kind = iota // is A more like B or like C?
	KindOdd                 // which of three is the odd one out?
	KindAlike               // are two alike, or not?
)

var kindNames = enum.Of[Kind]("Kind(%d)", "compare", "odd", "alike")

func (k Kind) String() string { return kindNames.Text(k) }

// ParseKind reads "compare", "odd" or "alike".
func ParseKind(text string) (Kind, error) { return kindNames.Parse("question", text) }

// shown is how many items a question shows.
func (k Kind) shown() int {
	if k == KindAlike {
		return 2
	}
	return 3
}

// Chance is the share of answers that are wrong at random.
func (k Kind) Chance() float64 {
	if k == KindOdd {
		return 2. / 3
	}
	return .5
}

// Choice is how questions are chosen: by the kernel of a learner, the one whose answer is least certain, or tells most.
type Choice int

// The choices.
const (
	ChoiceRandom    Choice = iota // none: all questions have equal chances
	ChoiceCKL                     // triplets.SelectRandomThenUncertainty under CKL
	ChoiceCKLGain                 // triplets.SelectInformationGain under CKL and its model of an answer
	ChoiceERKLE                   // triplets.SelectRandomThenUncertainty under PA-ERKLE, ten steps an answer
	ChoiceERKLEGain               // triplets.SelectInformationGain under that, with the logistic model
)

var choiceNames = enum.Of[Choice]("Choice(%d)", "random", "ckl", "ckl-gain", "erkle", "erkle-gain")

func (c Choice) String() string { return choiceNames.Text(c) }

// Choices lists the texts of all choices.
func Choices() []string { return choiceNames.List() }

// ParseChoice reads the text of a Choice.
func ParseChoice(text string) (Choice, error) { return choiceNames.Parse("choice", text) }

// Reason is why a question is asked.
type Reason int

// The reasons.
const (
	ReasonRandom   Reason = iota
	ReasonChosen          // by the Choice
	ReasonRepeated        // the person has answered it before
)

var reasonNames = enum.Of[Reason]("Reason(%d)", "random", "chosen", "repeated")

func (r Reason) String() string { return reasonNames.Text(r) }

// Question shows items, by number from 0, in their places from the left: of KindCompare the one that is compared comes first. Of KindAlike the third is −1.
type Question struct {
	Items [3]int
	Why   Reason
}

// Answer is what a person said to a question.
type Answer struct {
	Question
	// Said is a place in Items: of KindOdd that of the odd one out, of KindCompare that of the nearer one, 1 or 2. Of KindAlike it is 1 for
	// alike and 0 for not.
	Said   int
	Person string
	At     time.Time
	Took   time.Duration
}

// key is a question without the places in which its items are shown.
type key [3]int

func (k Kind) key(q Question) key {
	of := key(q.Items)
	if k == KindCompare {
		slices.Sort(of[1:])
	} else {
		slices.Sort(of[:])
	}
	return of
}

// said is the answer without places: the item, or Said of KindAlike.
func (k Kind) said(a Answer) int {
	if k == KindAlike {
		return a.Said
	}
	return a.Items[a.Said]
}

// Comparisons returns what an answer says of three items; none of KindAlike.
func (k Kind) Comparisons(a Answer) []metric.Triplet {
	i := a.Items
	switch k {
	case KindCompare:
		return []metric.Triplet{{A: i[0], Near: i[a.Said], Far: i[3-a.Said]}}
	case KindOdd:
		odd, x, y := i[a.Said], i[(a.Said+1)%3], i[(a.Said+2)%3]
		return []metric.Triplet{{A: x, Near: y, Far: odd}, {A: y, Near: x, Far: odd}}
	}
	return nil
}

// ErrAnswer is wrapped by the errors of what is no answer to a question.
var ErrAnswer = errors.New("ask: no answer to the question")

// check returns an error unless an answer is one to a question about n items.
func (k Kind) check(n int, a Answer) error {
	from, to := 0, k.shown()-1
	if k == KindCompare {
		from = 1
	}
	if a.Said < from || a.Said > to {
		return fmt.Errorf("%w: %d is not allowed, want %d to %d", ErrAnswer, a.Said, from, to)
	}
	for i, item := range a.Items[:k.shown()] {
		if item < 0 || item >= n || slices.Contains(a.Items[:i], item) {
			return fmt.Errorf("%w: items %v are not allowed, want %d different ones from 0 to %d", ErrAnswer, a.Items, k.shown(), n-1)
		}
	}
	return nil
}

// MostChosen is the largest number of items among which questions are chosen: a kernel of more is too slow for people who wait.
const MostChosen = 2000

// Params are the parameters of a Session.
type Params struct {
	Kind   Kind
	Choose Choice
	// Random is the share of random questions among those that are not repeated, from 0 to 1. By them predictions are scored.
	Random float64
	// Repeat is the share of questions that the person has answered before, from 0 to 1. By them people are seen to agree with themselves.
	Repeat float64
}

func (p Params) check(n int) error {
	least := p.Kind.shown()
	switch {
	case n < least:
		return fmt.Errorf("ask: %d items, want at least %d", n, least)
	case n > triplets.MaxSelected:
		return fmt.Errorf("ask: %d items, want at most %d", n, triplets.MaxSelected)
	case p.Choose != ChoiceRandom && p.Kind == KindAlike:
		return fmt.Errorf("ask: choice %v is not for questions about two items, which are random", p.Choose)
	case p.Choose != ChoiceRandom && n > MostChosen:
		return fmt.Errorf("ask: choice %v is for at most %d items, got %d: want random", p.Choose, MostChosen, n)
	}
	for _, share := range []float64{p.Random, p.Repeat} {
		if !(share >= 0 && share <= 1) {
			return fmt.Errorf("ask: a share of %v questions is not allowed, want 0 to 1", share)
		}
	}
	return nil
}

// Session is questions and answers about items. Its methods may be called at once.
type Session struct {
	n int
	p Params

	mu      sync.Mutex
	rng     *rand.Rand
	answers []Answer // only ever appended to, or cut and copied by Undo
	people  map[string]*person
	asked   []int // how often each item occurs in answers
	unasked int
	queue   []triplets.Query
	undone  int    // counts Undo
	shown   *plane // of the last report

	work    sync.Mutex // of Advance
	chooser *chooser
	of      int // undone, of the chooser
}

// person is what was asked of one.
type person struct {
	said         map[key]int
	order        []Question // different ones, oldest first
	next         int        // in order: the next to repeat
	answers      int
	again, agree int
}

// New returns a Session about n items. It returns an error unless the parameters are allowed, and panics if src is nil.
func New(src *rand.PCG, n int, p Params) (*Session, error) {
	if src == nil {
		panic("ask: New: the source is nil")
	}
	if err := p.check(n); err != nil {
		return nil, err
	}
	return &Session{n: n, p: p, rng: rand.New(src), people: map[string]*person{}, asked: make([]int, n), unasked: n}, nil
}

// Params returns the parameters.
func (s *Session) Params() Params { return s.p }

// apart is how many other questions lie at least between a question and its repetition.
const apart = 8

// Next returns a question for a person. Until Learn has the answer, it may come again.
func (s *Session) Next(name string) Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.people[name]; p != nil && len(p.order)-p.next > apart && s.rng.Float64() < s.p.Repeat {
		q := p.order[p.next]
		p.next++
		return s.show(q.Items, ReasonRepeated)
	}
	if s.p.Choose != ChoiceRandom && len(s.queue) > 0 && s.rng.Float64() >= s.p.Random {
		q := s.queue[0]
		s.queue = s.queue[1:]
		return s.show([3]int{q.Head, q.B, q.C}, ReasonChosen)
	}
	return s.show(s.draw(), ReasonRandom)
}

// draw returns different items.
func (s *Session) draw() [3]int {
	of := [3]int{-1, -1, -1}
	for i := range s.p.Kind.shown() {
		for {
			if item := s.rng.IntN(s.n); !slices.Contains(of[:], item) {
				of[i] = item
				break
			}
		}
	}
	return of
}

// show puts items into random places.
func (s *Session) show(items [3]int, why Reason) Question {
	from, to := 0, s.p.Kind.shown()
	if s.p.Kind == KindCompare {
		from = 1
	}
	places := items[from:to]
	s.rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	return Question{items, why}
}

// Check returns an error that wraps ErrAnswer unless Learn would take the answer.
func (s *Session) Check(a Answer) error { return s.p.Kind.check(s.n, a) }

// Learn takes an answer, also one to a question that Next did not ask. It returns an error, and nothing has changed, if it is none.
func (s *Session) Learn(a Answer) error {
	if err := s.Check(a); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learn(a)
	return nil
}

func (s *Session) learn(a Answer) {
	s.answers = append(s.answers, a)
	for _, item := range a.Items[:s.p.Kind.shown()] {
		if s.asked[item] == 0 {
			s.unasked--
		}
		s.asked[item]++
	}
	p := s.people[a.Person]
	if p == nil {
		p = &person{said: map[key]int{}}
		s.people[a.Person] = p
	}
	p.answers++
	of, said := s.p.Kind.key(a.Question), s.p.Kind.said(a)
	before, again := p.said[of]
	switch {
	case !again:
		p.said[of] = said
		p.order = append(p.order, a.Question)
	case a.Why == ReasonRepeated:
		p.again++
		if before == said {
			p.agree++
		}
	}
}

// Undo takes back the last answer and returns it; false if there is none.
func (s *Session) Undo() (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.answers) == 0 {
		return Answer{}, false
	}
	kept := s.answers[:len(s.answers)-1]
	last := s.answers[len(kept)]
	s.answers, s.people, s.asked, s.unasked = nil, map[string]*person{}, make([]int, s.n), s.n
	for _, a := range kept {
		s.learn(a)
	}
	s.queue = nil
	s.undone++
	return last, true
}

// Answers returns all answers so far, oldest first.
func (s *Session) Answers() []Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clip(s.answers)
}

// Count counts the answers so far.
func (s *Session) Count() int { return len(s.Answers()) }

// Comparisons returns what the answers say of three items each; of KindAlike, what pairs of them about one item say.
func (s *Session) Comparisons() []metric.Triplet { return comparisons(s.p.Kind, s.Answers()) }

// Unasked counts the items that occur in no answer.
func (s *Session) Unasked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unasked
}

// ahead is how many questions are chosen at once.
const ahead = 64

// Advance learns from the answers since the last call and chooses the questions that Next will ask. With ChoiceRandom it does nothing. It
// returns the error of ctx once that is done.
func (s *Session) Advance(ctx context.Context) error {
	if s.p.Choose == ChoiceRandom {
		return nil
	}
	s.work.Lock()
	defer s.work.Unlock()
	s.mu.Lock()
	answers, undone := slices.Clip(s.answers), s.undone
	seed := [2]uint64{s.rng.Uint64(), s.rng.Uint64()}
	s.mu.Unlock()
	if s.chooser == nil || s.of != undone {
		c, err := newChooser(rand.NewPCG(seed[0], seed[1]), s.n, s.p)
		if err != nil {
			return err
		}
		s.chooser, s.of = c, undone
	}
	var ts []metric.Triplet
	for _, a := range answers[s.chooser.learned:] {
		ts = append(ts, s.p.Kind.Comparisons(a)...)
	}
	if err := s.chooser.learn(ctx, ts); err != nil {
		s.chooser = nil
		return err
	}
	s.chooser.learned = len(answers)
	queue, k := make([]triplets.Query, 0, ahead), s.chooser.kernel()
	for range ahead {
		if err := ctx.Err(); err != nil {
			return err
		}
		queue = append(queue, s.chooser.selector.Next(k))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.undone == undone {
		s.queue = queue
	}
	return nil
}

// Kernel returns that of the learner by which questions are chosen, as of the last Advance, which may not run at the same time; nil before
// the first, and with ChoiceRandom.
func (s *Session) Kernel() mat.Symmetric {
	s.work.Lock()
	defer s.work.Unlock()
	if s.chooser == nil {
		return nil
	}
	return s.chooser.kernel()
}
