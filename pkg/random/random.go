// Package random derives independent streams of random numbers from one seed by names, so that any draw can be made again on its own.
package random

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
)

// Scheme is the version of the derivation of streams from seeds. Streams
// are a promise: a change of the derivation is a new scheme.
const Scheme = 1

// Seed is the origin of all randomness of one job: every stream is derived
// from SHA-256 over length-prefixed (scheme, base, experiment, dataset,
// purpose, trial). The cell and the learner are left out, so that all cells
// and learners of a trial see the same draw of the same purpose. A trial that
// wants a draw of its own per cell says so in the purpose.
type Seed struct {
	Base       uint64 // set by the user; default 1
	Experiment string // Spec.ID
	Dataset    string // Cell.Dataset
	Trial      int    // 0, 1, ...
}

// Stream returns the generator of a named purpose. Equal purposes give equal
// streams; different purposes give independent ones.
func (s Seed) Stream(purpose string) *rand.Rand {
	return rand.New(s.PCG(purpose))
}

// PCG returns the source behind Stream, for learners that save their state.
func (s Seed) PCG(purpose string) *rand.PCG {
	h := sha256.New()
	for _, field := range []string{
		strconv.Itoa(Scheme), strconv.FormatUint(s.Base, 10), s.Experiment, s.Dataset, purpose, strconv.Itoa(s.Trial),
	} {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(field)))
		h.Write(n[:])
		h.Write([]byte(field))
	}
	sum := h.Sum(nil)
	return rand.NewPCG(binary.LittleEndian.Uint64(sum), binary.LittleEndian.Uint64(sum[8:]))
}

// Own returns the generator of a purpose that belongs to one learner, for
// learners that draw.
func (s Seed) Own(purpose, learner string) *rand.Rand {
	return s.Stream(strconv.Itoa(len(learner)) + ":" + learner + ":" + purpose)
}
