// Package learnertest is the conformance suite of online learners. A learner of
// any feedback kind passes Suite.Run; a learner of pairs also passes Pairs.Run,
// which makes its own rounds.
//
//	func TestConformance(t *testing.T) {
//		learnertest.Pairs[*POLA]{New: ..., Load: LoadPOLA}.Run(t)
//	}
//
// # How it is built
//
// Suite holds the laws of learners.Online for any kind of feedback. Pairs and Classifiers add the laws of their
// kind, and make the rounds themselves. A test takes every online learner of the catalog through its suite.
//
//   - The type of the learner is a parameter of the suite. So snapshots, saving and loading need no interface: a
//     test gives functions of its own type.
//   - The suite reports by TB, a part of *testing.T. Its own tests put broken learners to it and record what it
//     finds.
//   - A learner that draws does so when it is made or at the end of Step, and saves its generator: the suite
//     compares Predict before Step with the outcome.
package learnertest

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"

	"metriclab/pkg/learners"
)

// TB is the part of *testing.T that the suite needs. Each violation is one call
// of Errorf, so that a recorder can stand in for a test.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Suite checks the laws of learners.Online. L is the learner's type as New
// returns it.
//
//   - Predict and Loss are pure: calling them changes no later outcome.
//   - Predict ignores the label or cost.
//   - Step returns the prediction and the loss held before the update, bit for
//     bit; a round that reports no update changes no prediction.
//   - Nothing writes to a round, and Step keeps no reference to it.
//   - A step that fails changes nothing.
//   - Learners with the same start and the same rounds give the same bits.
//   - Predict and Loss give finite numbers. On a round that Step refuses they may also panic,
//     with a text that begins with the name of the package; so may every method of the
//     zero value of the learner's type.
//   - A learner saved and loaded at any point continues bit for bit, saving
//     disturbs nothing, and a truncated file is an error.
//   - A snapshot is not changed by later steps.
//   - All methods but Step may be called concurrently, and change nothing. Called are Predict, Loss,
//     Save, Snapshot, Calls, and each other exported method whose only argument, if any, is a round. The race
//     detector sees most violations; without it only wrong answers are found.
type Suite[F, P any, L learners.Online[F, P]] struct {
	// New returns a learner at its start; every call returns an equal one.
	New func() L
	// Rounds are valid rounds, at least two, of which at least one updates.
	Rounds []F
	// Bad are rounds that Step must refuse, by name.
	Bad map[string]F
	// Clone returns a deep copy of a round. nil means that F holds no
	// reference, so that assignment copies it.
	Clone func(f F) F
	// Scramble overwrites the memory that f refers to. nil as for Clone.
	Scramble func(f F)
	// Relabel returns f with another label or cost, its memory shared or not.
	// nil means that the feedback has nothing that Predict could peek at.
	Relabel func(f F) F
	// Equal compares predictions. nil means reflect.DeepEqual.
	Equal func(a, b P) bool
	// Save and Load store a learner. Both nil: it cannot be saved.
	Save func(l L, w io.Writer) error
	Load func(r io.Reader) (L, error)
	// Snapshot takes a snapshot of what was learned (a metric, a kernel) and
	// returns a function that reads its numbers. nil: there is none.
	Snapshot func(l L) func() []float64
	// Calls are calls, by name, of methods with other arguments than one round, for the check of
	// concurrency. They may not change the learner.
	Calls map[string]func(l L)
}

// maxPoints bounds the number of points of the stream at which the suite saves,
// makes an error or takes a snapshot; they are spread evenly, both ends included.
const maxPoints = 9

func (s Suite[F, P, L]) points() []int {
	n := len(s.Rounds)
	k := min(n+1, maxPoints)
	out := make([]int, k)
	for i := range out {
		out[i] = i * n / (k - 1)
	}
	return out
}

// Run runs all checks.
func (s Suite[F, P, L]) Run(tb TB) {
	tb.Helper()
	t := &counting{TB: tb}
	if len(s.Rounds) < 2 {
		t.Errorf("suite: %d rounds, want at least 2", len(s.Rounds))
		return
	}
	if s.Clone == nil {
		s.Clone = func(f F) F { return f }
	}
	if s.Equal == nil {
		s.Equal = func(a, b P) bool { return reflect.DeepEqual(a, b) }
	}
	want, ok := s.reference(t)
	if !ok {
		return
	}
	s.purity(t, want)
	s.relabelling(t)
	s.references(t, want)
	s.errors(t, want)
	s.saving(t, want)
	s.snapshots(t)
	if t.violations == 0 { // else a race would be no news
		s.concurrency(t, want)
	}
	s.misuse(t, want)
}

// counting counts violations.
type counting struct {
	TB
	violations int
}

func (c *counting) Errorf(format string, args ...any) {
	c.Helper()
	c.violations++
	c.TB.Errorf(format, args...)
}

// reference runs the rounds once, checks each outcome against the hypothesis
// before and after it, and returns the outcomes.
func (s Suite[F, P, L]) reference(t TB) ([]learners.Outcome[P], bool) {
	t.Helper()
	l := s.New()
	out := make([]learners.Outcome[P], len(s.Rounds))
	updates := 0
	for i := range s.Rounds {
		f, probe := s.Clone(s.Rounds[i]), s.Clone(s.Rounds[(i+1)%len(s.Rounds)])
		p, loss := l.Predict(f), l.Loss(f)
		before := l.Predict(probe)
		o, err := l.Step(f)
		if err != nil {
			t.Errorf("round %d: valid round refused: %v", i, err)
			return nil, false
		}
		if !allFinite(reflect.ValueOf(p)) {
			t.Errorf("round %d: Predict gives %v, want finite numbers", i, p)
		}
		if !s.Equal(p, o.Prediction) {
			t.Errorf("round %d: Step returned the prediction %v, Predict before it %v", i, o.Prediction, p)
		}
		if !same(loss, o.Loss) {
			t.Errorf("round %d: Step returned the loss %v, Loss before it was %v", i, o.Loss, loss)
		}
		if !(loss >= 0) || math.IsInf(loss, 0) || math.IsNaN(o.StepSize) || math.IsInf(o.StepSize, 0) {
			t.Errorf("round %d: loss %v, step size %v: want finite numbers, the loss not negative", i, loss, o.StepSize)
		}
		if o.Updated {
			updates++
			if o.StepSize == 0 {
				t.Errorf("round %d: updated with step size 0", i)
			}
		} else if !s.Equal(before, l.Predict(probe)) || !s.Equal(p, l.Predict(f)) {
			t.Errorf("round %d: no update reported, but a prediction changed", i)
		}
		if !reflect.DeepEqual(f, s.Rounds[i]) {
			t.Errorf("round %d: the learner wrote to the round", i)
		}
		out[i] = o
	}
	if updates == 0 {
		t.Errorf("suite: no round updates, so that most checks are empty")
		return nil, false
	}
	return out, true
}

// follow steps l over the rounds from i on and reports the first outcome that
// differs from want.
func (s Suite[F, P, L]) follow(t TB, l L, i int, want []learners.Outcome[P], what string, args ...any) {
	t.Helper()
	for ; i < len(s.Rounds); i++ {
		o, err := l.Step(s.Rounds[i])
		if err != nil || !s.equal(o, want[i]) {
			t.Errorf("%s: round %d gives %+v (error %v), want %+v", fmt.Sprintf(what, args...), i, o, err, want[i])
			return
		}
	}
}

func (s Suite[F, P, L]) equal(a, b learners.Outcome[P]) bool {
	return s.Equal(a.Prediction, b.Prediction) && same(a.Loss, b.Loss) && same(a.StepSize, b.StepSize) &&
		a.Mistake == b.Mistake && a.Updated == b.Updated && a.Projections == b.Projections
}

// same compares bits.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// purity also shows that equal starts give equal outcomes: want came from
// another learner, of which other predictions were asked.
func (s Suite[F, P, L]) purity(t TB, want []learners.Outcome[P]) {
	t.Helper()
	s.follow(t, s.New(), 0, want, "second learner with the same start, asked for no prediction")
	l := s.New()
	for i, f := range s.Rounds {
		for _, g := range []F{f, s.Rounds[0], s.Rounds[len(s.Rounds)-1-i]} {
			p, loss := l.Predict(g), l.Loss(g)
			if !s.Equal(p, l.Predict(g)) {
				t.Errorf("round %d: two calls of Predict differ", i)
				return
			}
			if !same(loss, l.Loss(g)) {
				t.Errorf("round %d: two calls of Loss differ", i)
				return
			}
		}
		o, err := l.Step(f)
		if err != nil || !s.equal(o, want[i]) {
			t.Errorf("after more calls of Predict and Loss: round %d gives %+v (error %v), want %+v", i, o, err, want[i])
			return
		}
	}
}

func (s Suite[F, P, L]) relabelling(t TB) {
	t.Helper()
	if s.Relabel == nil {
		return
	}
	l := s.New()
	for i, f := range s.Rounds {
		if p, q := l.Predict(f), l.Predict(s.Relabel(s.Clone(f))); !s.Equal(p, q) {
			t.Errorf("round %d: Predict gives %v, and %v with another label", i, p, q)
			return
		}
		if _, err := l.Step(f); err != nil {
			t.Errorf("round %d: %v", i, err)
			return
		}
	}
}

func (s Suite[F, P, L]) references(t TB, want []learners.Outcome[P]) {
	t.Helper()
	l := s.New()
	for i, f := range s.Rounds {
		g := s.Clone(f)
		o, err := l.Step(g)
		if s.Scramble != nil {
			s.Scramble(g)
		}
		if err != nil || !s.equal(o, want[i]) {
			t.Errorf("after earlier rounds were overwritten: round %d gives %+v (error %v), want %+v", i, o, err, want[i])
			return
		}
	}
}

func (s Suite[F, P, L]) errors(t TB, want []learners.Outcome[P]) {
	t.Helper()
	for name, bad := range s.Bad {
		for _, at := range s.points() {
			l, ok := s.walk(t, at)
			if !ok {
				return
			}
			if o, err := l.Step(s.Clone(bad)); err == nil {
				t.Errorf("%s: accepted after %d rounds, outcome %+v", name, at, o)
				break
			}
			s.follow(t, l, at, want, "%s refused after %d rounds", name, at)
		}
	}
}

// walk returns a new learner after n rounds.
func (s Suite[F, P, L]) walk(t TB, n int) (L, bool) {
	t.Helper()
	l := s.New()
	for i, f := range s.Rounds[:n] {
		if _, err := l.Step(f); err != nil {
			t.Errorf("round %d: %v", i, err)
			return l, false
		}
	}
	return l, true
}

func (s Suite[F, P, L]) saving(t TB, want []learners.Outcome[P]) {
	t.Helper()
	if s.Save == nil && s.Load == nil {
		return
	}
	for _, at := range s.points() {
		l, ok := s.walk(t, at)
		if !ok {
			return
		}
		var file bytes.Buffer
		if err := s.Save(l, &file); err != nil {
			t.Errorf("save after %d rounds: %v", at, err)
			return
		}
		saved := bytes.Clone(file.Bytes())
		again, err := s.Load(&file)
		if err != nil {
			t.Errorf("load after %d rounds: %v", at, err)
			return
		}
		var second bytes.Buffer
		if err := s.Save(again, &second); err != nil || !bytes.Equal(saved, second.Bytes()) {
			t.Errorf("saved, loaded and saved again after %d rounds: the files differ (error %v)", at, err)
		}
		s.follow(t, l, at, want, "saved after %d rounds", at)
		s.follow(t, again, at, want, "saved and loaded after %d rounds", at)
		for _, n := range []int{0, 1, len(saved) / 2, len(saved) - 2} {
			if _, err := s.Load(bytes.NewReader(saved[:n])); err == nil {
				t.Errorf("load of the first %d of %d bytes: no error", n, len(saved))
			}
		}
	}
}

func (s Suite[F, P, L]) snapshots(t TB) {
	t.Helper()
	if s.Snapshot == nil {
		return
	}
	l := s.New()
	var read []func() []float64
	var want [][]float64
	take := func() {
		r := s.Snapshot(l)
		read = append(read, r)
		want = append(want, append([]float64(nil), r()...))
	}
	points := s.points()
	for i, f := range s.Rounds {
		if len(points) > 0 && points[0] == i {
			take()
			points = points[1:]
		}
		if _, err := l.Step(f); err != nil {
			t.Errorf("round %d: %v", i, err)
			return
		}
	}
	take()
	for i, r := range read {
		got := r()
		if len(got) != len(want[i]) {
			t.Errorf("snapshot %d: %d numbers, %d when it was taken", i, len(got), len(want[i]))
			continue
		}
		for j, v := range got {
			if !same(v, want[i][j]) {
				t.Errorf("snapshot %d: later steps changed number %d from %v to %v", i, j, want[i][j], v)
				break
			}
		}
	}
}
