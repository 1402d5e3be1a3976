package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Reading is the test of a claim under one way to read it, or one part of it.
type Reading struct {
	Name string
	Test Test
	// Afterwards is what was known when the reading was added, if results that tell its
	// outcome were published by then: "the errors of Fig. 3". It is "" of a reading that
	// was declared before its first run.
	Afterwards string
	// Headline says why this reading gives the verdict, though it is not the first: "as
	// printed", or "the program that the paper names", which can be so also afterwards.
	Headline string
}

// Readings tests a claim under all its readings. The verdict is that of the headline: the
// first reading with a Headline; else the first that was not added afterwards; else the
// first. Finding.Robustness counts how many agree. It refuses an empty list.
type Readings []Reading

func (r Readings) judge() Finding {
	f := together(KindReadings, r)
	h := r.headline()
	f.Readings[h].Headline = cmp.Or(r[h].Headline, "declared first")
	head := f.Readings[h].Finding
	f.Verdict, f.Need, f.Proof, f.Cases = head.Verdict, head.Need, head.Proof, head.Cases
	return f.worded()
}

// headline is the place of the reading that gives the verdict.
func (r Readings) headline() int {
	h := slices.IndexFunc(r, func(r Reading) bool { return r.Headline != "" })
	if h < 0 {
		h = slices.IndexFunc(r, func(r Reading) bool { return r.Afterwards == "" })
	}
	return max(h, 0)
}

// Both tests a claim of several parts that must all hold.
//
//   - NotGraded, Untestable: if any part is so.
//   - ByConstruction, Reproduced, NotReproduced: if all parts are so; beside others
//     ByConstruction counts as Reproduced.
//   - Partly: otherwise, if one part does not hold, or only partly, and another does, or partly.
//   - Undecided: otherwise.
//
// It refuses an empty list.
type Both []Reading

func (b Both) judge() Finding {
	f := together(KindBoth, b)
	count := map[Verdict]int{}
	for _, part := range f.Readings {
		count[part.Finding.Verdict]++
	}
	holds := count[Reproduced] + count[ByConstruction]
	switch n := len(b); {
	case count[NotGraded] > 0:
		f.Verdict = NotGraded
	case count[Untestable] > 0:
		f.Verdict = Untestable
	case count[ByConstruction] == n:
		f.Verdict = ByConstruction
	case holds == n:
		f.Verdict = Reproduced
	case count[NotReproduced] == n:
		f.Verdict = NotReproduced
	case count[NotReproduced]+count[Partly] > 0 && holds+count[Partly] > 0:
		f.Verdict = Partly
	default:
		f.Verdict = Undecided
		f.Need = f.needOfParts()
	}
	return f.worded()
}

// together judges all parts.
func together(kind Kind, parts []Reading) Finding {
	if len(parts) == 0 {
		Refuse("judge: no readings to grade, want at least 1")
	}
	f := Finding{Test: kind}
	for _, r := range parts {
		f.Readings = append(f.Readings, ReadingFinding{Name: r.Name, Afterwards: r.Afterwards, Finding: judged(r.Test, r.Name)})
	}
	return f
}

// judged is the finding of a test within another; it refuses one that is not there.
func judged(t Test, what string) Finding {
	if t == nil {
		Refuse("judge: %s has no test", what)
	}
	return t.judge()
}

// needOfParts collects what would decide the parts.
func (f Finding) needOfParts() string {
	var needs []string
	for _, r := range f.Readings {
		if r.Finding.Need != "" {
			needs = append(needs, r.Name+": "+r.Finding.Need)
		}
	}
	return strings.Join(needs, "; ")
}

// Robustness says how far a verdict depends on how a statement is read: of so many readings
// how many agree with the headline, and how many were added afterwards. Zero is that of a
// test with one reading only.
type Robustness struct {
	Agree int `json:"agree"`
	Of    int `json:"of"`
	Added int `json:"added,omitempty"`
}

// Add returns both together, as of the parts of a statement.
func (r Robustness) Add(s Robustness) Robustness {
	return Robustness{r.Agree + s.Agree, r.Of + s.Of, r.Added + s.Added}
}

// String is "k of n readings agree, j added afterwards"; of one reading only "added afterwards",
// or "".
func (r Robustness) String() string {
	switch {
	case r.Of < 2 && r.Added > 0:
		return "added afterwards"
	case r.Of < 2:
		return ""
	}
	s := fmt.Sprintf("%d of %d readings agree", r.Agree, r.Of)
	if r.Added > 0 {
		s += fmt.Sprintf(", %d added afterwards", r.Added)
	}
	return s
}

// Robustness counts the readings of a finding: of each of its parts those of the part, with
// the part's own headline. Further tests of the same statement count with their readings;
// what Afterwards says of a test holds for all of them.
func (r ReadingFinding) Robustness(again ...ReadingFinding) (out Robustness) {
	if r.Finding.Test == KindBoth && len(again) == 0 {
		for _, part := range r.Finding.Readings {
			part.Afterwards = cmp.Or(part.Afterwards, r.Afterwards)
			out = out.Add(part.Robustness())
		}
		return out
	}
	head := r.Finding.side()
	for _, x := range append([]ReadingFinding{r}, again...) {
		leaves := []ReadingFinding{x}
		if x.Finding.Test == KindReadings {
			leaves = x.Finding.Readings
		}
		for _, leaf := range leaves {
			out.Of++
			if leaf.Finding.side() == head {
				out.Agree++
			}
			if leaf.Afterwards != "" || x.Afterwards != "" {
				out.Added++
			}
		}
	}
	return out
}

// side is the verdict, or what it would be; Reproduced for what holds by construction.
func (f Finding) side() Verdict {
	v := cmp.Or(f.Would, f.Verdict)
	if v == ByConstruction {
		v = Reproduced
	}
	return v
}

// Each returns the readings that a list of choices gives.
func Each[T any](choices []T, reading func(T) (name string, t Test)) Readings {
	out := make(Readings, len(choices))
	for i, c := range choices {
		out[i].Name, out[i].Test = reading(c)
	}
	return out
}

// Under returns the readings of the given names.
func Under(names []string, test func(name string) Test) Readings {
	return Each(names, func(name string) (string, Test) { return name, test(name) })
}

// StandIn judges a test on other data than the claim is about: the finding is shown, but
// the claim is Untestable.
type StandIn struct {
	// Where are the data, "stand-in".
	Where string
	Test  Test
}

func (s StandIn) judge() Finding {
	f := judged(s.Test, s.Where)
	f.Would, f.Verdict, f.Need = f.Verdict, Untestable, ""
	f.Reason = f.wordsOfStandIn(s.Where)
	return f
}

// Check judges a test of what is proved, or cannot fail whatever the numbers are: where it is
// Reproduced it becomes ByConstruction. Any other verdict stays, for then the reason is wrong.
type Check struct {
	Test Test
	// Why it cannot fail, a sentence.
	Why string
	// Cases is how many independent cases are tried; 0 means one per trial. Trials that all
	// have the same sequence are one case.
	Cases int
}

func (c Check) judge() Finding {
	f := judged(c.Test, "what cannot fail")
	if c.Why == "" || c.Cases < 0 {
		Refuse("judge: a check with the reason %q and %d cases, want a reason why it cannot fail, and cases ≥ 0", c.Why, c.Cases)
	}
	f.Proof, f.Cases = c.Why, cmp.Or(c.Cases, f.trials())
	if f.Verdict == Reproduced {
		f.Verdict, f.Reason = ByConstruction, strings.TrimSpace(f.Reason+" "+c.Why)
	}
	return f
}

// trials is how many values each unit of a test has.
func (f Finding) trials() int {
	n := f.Trials
	if f.Mean != nil {
		n = f.Mean.N
	}
	for _, r := range f.Readings {
		n = max(n, r.Finding.trials())
	}
	return n
}

// Unfit is Untestable, for the reason given.
type Unfit struct{ Ours, Reason string }

func (u Unfit) judge() Finding {
	return Finding{Verdict: Untestable, Test: KindUntestable, Ours: u.Ours, Reason: u.Reason}
}

// Unsettled is undecided for the reason given: numbers are missing without which there is
// no test. Need says which.
type Unsettled struct{ Ours, Reason, Need string }

func (u Unsettled) judge() Finding {
	return Finding{Verdict: Undecided, Test: KindOpen, Ours: u.Ours, Reason: u.Reason, Need: u.Need}
}

// Shown judges a test and tells its numbers in other words: Ours, if not "", takes the
// place of our value, More is added to it, and Note, if not "", to the reason.
type Shown struct {
	Test             Test
	Ours, More, Note string
}

func (s Shown) judge() Finding {
	f := judged(s.Test, "what is shown")
	if s.Ours != "" {
		f.Ours = s.Ours
	}
	f.Ours += s.More
	if s.Note != "" {
		f.Note = s.Note
		f.Reason = strings.TrimSpace(f.Reason + " " + s.Note)
	}
	return f
}
