package judge

import "strings"

// Reading is the test of a claim under one way to read it, or one part of it.
type Reading struct {
	Name string
	Test Test
	// Afterwards is what was known when the reading was added, if results that tell its
	// outcome were published by then: "the errors of Fig. 3". It is "" of a reading that
	// was declared before its first run.
	Afterwards string
}

// Readings tests a claim under all its declared readings.
//
//   - NotGraded, Untestable: if any reading is so.
//   - ByConstruction, Reproduced, NotReproduced: if all readings are so; beside others
//     ByConstruction counts as Reproduced.
//   - Partly: otherwise, if at least one reading is Reproduced or Partly.
//   - Undecided: otherwise.
//
// The reason names each reading, after a count of verdicts if there are more than three.
// It refuses an empty list.
type Readings []Reading

func (r Readings) judge() Finding {
	f, count := together(KindReadings, r)
	holds := count[Reproduced] + count[ByConstruction]
	switch {
	case count[ByConstruction] == len(r):
		f.Verdict = ByConstruction
	case count[NotGraded] > 0:
		f.Verdict = NotGraded
	case count[Untestable] > 0:
		f.Verdict = Untestable
	case holds == len(r):
		f.Verdict = Reproduced
	case count[NotReproduced] == len(r):
		f.Verdict = NotReproduced
	case holds+count[Partly] > 0:
		f.Verdict = Partly
	default:
		f.Verdict = Undecided
	}
	return f.needed().worded()
}

// Both tests a claim of several parts that must all hold: its verdict is that of the worst
// part. The worst is NotGraded, then come Untestable, NotReproduced, Undecided, Partly,
// Reproduced and ByConstruction. It refuses an empty list.
type Both []Reading

func (b Both) judge() Finding {
	f, count := together(KindBoth, b)
	for _, v := range []Verdict{NotGraded, Untestable, NotReproduced, Undecided, Partly, Reproduced, ByConstruction} {
		if count[v] > 0 {
			f.Verdict = v
			break
		}
	}
	return f.needed().worded()
}

// together judges all parts.
func together(kind Kind, parts []Reading) (Finding, map[Verdict]int) {
	if len(parts) == 0 {
		Refuse("judge: no readings to grade, want at least 1")
	}
	f, count := Finding{Test: kind}, map[Verdict]int{}
	for _, r := range parts {
		x := judged(r.Test, r.Name)
		count[x.Verdict]++
		f.Readings = append(f.Readings, ReadingFinding{r.Name, r.Afterwards, x})
	}
	return f, count
}

// judged is the finding of a test within another; it refuses one that is not there.
func judged(t Test, what string) Finding {
	if t == nil {
		Refuse("judge: %s has no test", what)
	}
	return t.judge()
}

// needed collects what would decide the readings, if they leave the whole undecided.
func (f Finding) needed() Finding {
	var needs []string
	for _, r := range f.Readings {
		if r.Finding.Need != "" && f.Verdict == Undecided {
			needs = append(needs, r.Name+": "+r.Finding.Need)
		}
	}
	f.Need = strings.Join(needs, "; ")
	return f
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

// Check judges a test of what cannot fail, whatever the numbers are: where it is Reproduced
// it becomes ByConstruction. Any other verdict stays, for then the reason is wrong.
type Check struct {
	Test Test
	// Why it cannot fail, a sentence.
	Why string
}

func (c Check) judge() Finding {
	f := judged(c.Test, "what cannot fail")
	if c.Why == "" {
		Refuse("judge: a check without a reason why it cannot fail")
	}
	if f.Verdict == Reproduced {
		f.Verdict, f.Note = ByConstruction, c.Why
		f.Reason = strings.TrimSpace(f.Reason + " " + c.Why)
	}
	return f
}

// Unfit is Untestable, for the reason given.
type Unfit struct{ Ours, Reason string }

func (u Unfit) judge() Finding {
	return Finding{Verdict: Untestable, Test: KindUntestable, Ours: u.Ours, Reason: u.Reason}
}

// Unsettled is undecided for the reason given: numbers are missing without which there is
// no test.
type Unsettled struct{ Ours, Reason string }

func (u Unsettled) judge() Finding {
	return Finding{Verdict: Undecided, Test: KindOpen, Ours: u.Ours, Reason: u.Reason}
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
