package triplets

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"metriclab/internal/enum"
)

// Draws says which earlier triplets ERKLE's repeated updates draw (Algorithm 2, line 7).
type Draws int

// The ways to draw.
const (
	// DrawUniform: each of the triplets so far with the same probability.
	DrawUniform Draws = iota
	// DrawSeldom: each with a probability in proportion to 1/(1 + how often it was drawn before). "When a triplet gets chosen on
	// line 7, one could reduce the probability of that triplet being chosen subsequently", so that the first ones are not
	// chosen "drastically more times" (Heim et al. 2015, Appendix B, which names no probability).
	DrawSeldom
)

var drawsNames = enum.Of[Draws]("Draws(%d)", "uniform", "seldom")

// String returns "uniform" or "seldom".
func (d Draws) String() string { return drawsNames.Text(d) }

// MarshalText returns String.
func (d Draws) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what String returns of the two.
func (d *Draws) UnmarshalText(text []byte) error { return drawsNames.Unmarshal(d, text) }

// seldom draws numbers with a probability in proportion to 1/(1 + times drawn), by rejection: its state is the counts
// alone. A draw tries (1 + mean count)/(1 + least count) times on average, or less.
type seldom struct {
	times []int // how often each number was drawn
	least int   // the least of times
	left  int   // how many numbers were drawn so often
}

// newSeldom returns one with these counts, which it keeps.
func newSeldom(times []int) *seldom {
	s := &seldom{times: times}
	s.settle()
	return s
}

// settle finds the least count.
func (s *seldom) settle() {
	if len(s.times) == 0 {
		s.least, s.left = 0, 0
		return
	}
	s.least, s.left = slices.Min(s.times), 0
	for _, c := range s.times {
		if c == s.least {
			s.left++
		}
	}
}

// add adds the next number.
func (s *seldom) add() {
	if s.times = append(s.times, 0); s.least > 0 {
		s.least, s.left = 0, 0
	}
	s.left++
}

// draw returns one of the numbers, of which there is one at least.
func (s *seldom) draw(rng *rand.Rand) int {
	for {
		i := rng.IntN(len(s.times))
		c := s.times[i]
		if rng.Float64()*float64(1+c) >= float64(1+s.least) {
			continue
		}
		s.times[i]++
		if c == s.least {
			if s.left--; s.left == 0 {
				s.settle()
			}
		}
		return i
	}
}

// checkTimes returns an error unless times has a count for each of the triplets and they add up to draws.
func checkTimes(times []int, triplets, draws int) error {
	if len(times) != triplets {
		return fmt.Errorf("times: %d numbers, want %d", len(times), triplets)
	}
	left := draws
	for i, c := range times {
		if c < 0 || c > left {
			return fmt.Errorf("times: entry %d: %d is not allowed, want counts that add up to %d", i, c, draws)
		}
		left -= c
	}
	if triplets > 0 && left != 0 {
		return fmt.Errorf("times: add up to %d, want %d", draws-left, draws)
	}
	return nil
}
