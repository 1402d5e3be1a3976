package random

import "testing"

// The first values of some streams. They are a promise: a change of the
// derivation needs a new Scheme, and then new values here.
func TestSeedGolden(t *testing.T) {
	s := Seed{Base: 1, Experiment: "toy/lines", Dataset: "toy", Trial: 0}
	if got, want := s.Stream("pairs").Uint64(), uint64(16570034981325803717); got != want {
		t.Errorf("Stream: got %d, want %d", got, want)
	}
	if got, want := s.Own("start", "RMP").Uint64(), uint64(14825103044544179598); got != want {
		t.Errorf("Own: got %d, want %d", got, want)
	}
	if s.PCG("pairs").Uint64() != s.Stream("pairs").Uint64() {
		t.Error("Stream does not draw from PCG")
	}
}

func TestSeedFieldsMatter(t *testing.T) {
	draw := func(s Seed, purpose string) uint64 { return s.Stream(purpose).Uint64() }
	s := Seed{Base: 1, Experiment: "e", Dataset: "d", Trial: 0}
	all := map[uint64]string{}
	for name, v := range map[string]uint64{
		"base": draw(Seed{2, "e", "d", 0}, "p"), "trial": draw(Seed{1, "e", "d", 1}, "p"),
		"experiment": draw(Seed{1, "x", "d", 0}, "p"), "dataset": draw(Seed{1, "e", "x", 0}, "p"),
		"purpose": draw(s, "x"), "none": draw(s, "p"),
		"boundary":      draw(Seed{1, "ed", "", 0}, "p"), // the same letters, cut elsewhere
		"own":           s.Own("p", "l").Uint64(),
		"other learner": s.Own("p", "m").Uint64(),
		"own boundary":  s.Own("lp", "").Uint64(),
	} {
		if other, ok := all[v]; ok {
			t.Errorf("%s and %s give the same stream", name, other)
		}
		all[v] = name
	}
	if again := draw(s, "p"); all[again] != "none" {
		t.Error("equal seeds give different streams")
	}
}
