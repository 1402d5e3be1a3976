package triplets

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"metriclab/pkg/persist"
)

// structuredState is what is saved of a structured form: one of its two kinds.
type structuredState struct {
	Sparse   *sparseState   `json:"sparse,omitempty"`
	Resolved *resolvedState `json:"resolved,omitempty"`
}

type sparseState struct {
	Trace   float64        `json:"trace"`
	Diag    persist.Floats `json:"diag"`
	Places  []int          `json:"places,omitempty"` // i < j of each entry off the diagonal, by rows
	Entries persist.Floats `json:"entries,omitempty"`
}

type resolvedState struct {
	Trace      float64          `json:"trace"`
	Kernel     bufferedState    `json:"kernel"`
	Resolvents [2]bufferedState `json:"resolvents"`
	Shifts     [2]float64       `json:"shifts"`
	LogShift   float64          `json:"log_shift"`
	Seen       int              `json:"seen"`
	Age        int              `json:"age"`
	Patience   int              `json:"patience"`
	Recycled   *recycledState   `json:"recycled,omitempty"`
}

type bufferedState struct {
	Base    persist.Floats `json:"base,omitempty"` // the lower triangle, by rows
	Factors persist.Floats `json:"factors,omitempty"`
	Vectors persist.Floats `json:"vectors,omitempty"`
}

func (k *structured) state() *structuredState {
	if k.dense != nil {
		d := k.dense
		s := &resolvedState{
			Trace: d.trace, Kernel: d.k.state(), LogShift: d.logShift, Seen: d.seen, Age: d.age, Patience: d.patience, Recycled: d.w.state(),
		}
		for j := range d.r {
			s.Resolvents[j] = d.r[j].state()
		}
		copy(s.Shifts[:], d.shift) // of none while none was built
		return &structuredState{Resolved: s}
	}
	return &structuredState{Sparse: k.sparse.state()}
}

func (m *buffered) state() bufferedState {
	if m.base == nil {
		return bufferedState{}
	}
	s := bufferedState{Factors: slices.Clone(m.c), Vectors: slices.Clone(m.z)}
	for i := range m.n {
		for j := range i + 1 {
			s.Base = append(s.Base, m.base[j*m.n+i])
		}
	}
	return s
}

func (k *sparse) state() *sparseState {
	s := &sparseState{Trace: k.trace, Diag: slices.Clone(k.diag)}
	for i, row := range k.rows {
		for _, e := range row {
			if e.j > i {
				s.Places, s.Entries = append(s.Places, i, e.j), append(s.Entries, e.x)
			}
		}
	}
	return s
}

// cone returns the form of n objects that was saved.
func (s *structuredState) cone(n int, without ablation) (*structured, error) {
	switch {
	case (s.Sparse == nil) == (s.Resolved == nil):
		return nil, errors.New("structured: the kernel is not in one form")
	case s.Sparse != nil:
		k, err := s.Sparse.cone(n)
		if err != nil {
			return nil, fmt.Errorf("structured: %w", err)
		}
		return &structured{n: n, sparse: k, without: without}, nil
	}
	d, err := s.Resolved.cone(n, without)
	if err != nil {
		return nil, fmt.Errorf("structured: %w", err)
	}
	return &structured{n: n, dense: d, without: without}, nil
}

// finite returns an error unless x has n finite numbers.
func finite(field string, x []float64, n int) error {
	if len(x) != n {
		return fmt.Errorf("%s: %d numbers, want %d", field, len(x), n)
	}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: number %d is %v, want a finite one", field, i, v)
		}
	}
	return nil
}

func (s *sparseState) cone(n int) (*sparse, error) {
	for _, f := range []struct {
		field string
		x     []float64
		n     int
	}{
		{"trace", []float64{s.Trace}, 1}, {"diag", s.Diag, n}, {"entries", s.Entries, len(s.Places) / 2},
	} {
		if err := finite(f.field, f.x, f.n); err != nil {
			return nil, err
		}
	}
	if len(s.Places)%2 != 0 {
		return nil, fmt.Errorf("places: %d numbers, want pairs", len(s.Places))
	}
	for _, v := range slices.Concat(s.Diag, s.Entries) {
		if !(math.Abs(v) <= maxEntry) {
			return nil, fmt.Errorf("diag, entries: %v is not allowed, want a number of magnitude at most %v", v, maxEntry)
		}
	}
	k := newSparse(slices.Clone(s.Diag))
	k.trace = s.Trace
	last := [2]int{-1, -1}
	for p := 0; p < len(s.Places); p += 2 {
		at := [2]int{s.Places[p], s.Places[p+1]}
		i, j := at[0], at[1]
		if i < 0 || i >= j || j >= n || slices.Compare(last[:], at[:]) >= 0 {
			return nil, fmt.Errorf("places: (%d, %d) after (%d, %d), want rows in order and i < j < %d", i, j, last[0], last[1], n)
		}
		last = at
		k.inc(i, j, s.Entries[p/2])
		k.inc(j, i, s.Entries[p/2])
	}
	return k, nil
}

func (s *resolvedState) cone(n int, without ablation) (*resolved, error) {
	if err := finite("trace, shifts and log_shift", []float64{s.Trace, s.Shifts[0], s.Shifts[1], s.LogShift}, 4); err != nil {
		return nil, err
	}
	if most := 1000.0; math.Abs(s.LogShift) > most {
		return nil, fmt.Errorf("log_shift: %v is not allowed, want a magnitude of at most %v", s.LogShift, most)
	}
	if most := maxRounds; s.Seen < 0 || s.Seen > most || s.Age < 0 || s.Age > most || s.Patience < firstPatience(n) || s.Patience > most {
		return nil, fmt.Errorf("seen: %d, age: %d, patience: %d are not allowed, want 0 to %d and patience at least %d", s.Seen, s.Age, s.Patience, most, firstPatience(n))
	}
	k, err := s.Kernel.matrix("kernel", n)
	if err != nil {
		return nil, err
	}
	for i, c := range s.Kernel.Factors {
		for _, z := range s.Kernel.Vectors[i*n : (i+1)*n] {
			if !(math.Abs(c)*z*z <= maxEntry) {
				return nil, fmt.Errorf("kernel: vectors: %v·%v² is not allowed, want at most %v", c, z, maxEntry)
			}
		}
	}
	for _, v := range k.base {
		if !(math.Abs(v) <= maxEntry) {
			return nil, fmt.Errorf("kernel: base: %v is not allowed, want a number of magnitude at most %v", v, maxEntry)
		}
	}
	d := newResolved(n, k.base, without)
	d.k = *k
	d.k.wide = d.w != nil
	if s.Recycled != nil {
		if d.w == nil {
			return nil, fmt.Errorf("recycled: of %d objects, want at least %d", n, largeFrom)
		}
		if err := d.w.restore(s.Recycled); err != nil {
			return nil, fmt.Errorf("recycled: %w", err)
		}
	}
	d.trace, d.shift, d.logShift, d.seen, d.age, d.patience = s.Trace, s.Shifts[:len(d.r)], s.LogShift, s.Seen, s.Age, s.Patience
	for j, saved := range s.Resolvents {
		switch given, first := len(saved.Base) > 0, len(s.Resolvents[0].Base) > 0; {
		case j < len(d.r) && given != first:
			return nil, errors.New("resolvents: one without the other")
		case j >= len(d.r) && given: // a large kernel of ERKLE 3, which had two: they are made anew
			d.drop()
			continue
		case !given:
			continue
		case s.Shifts[j] <= 0:
			return nil, fmt.Errorf("shifts: %v is not allowed with a resolvent, want a number > 0", s.Shifts[j])
		}
		r, err := saved.matrix("resolvents", n)
		if err != nil {
			return nil, err
		}
		r.wide = d.w != nil
		d.r[j] = *r
	}
	return d, nil
}

func (s *bufferedState) matrix(field string, n int) (*buffered, error) {
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("%s: of %d objects, want at most %d", field, n, math.MaxInt32)
	}
	if len(s.Factors) >= terms(n) {
		return nil, fmt.Errorf("%s: factors: %d numbers, want less than %d", field, len(s.Factors), terms(n))
	}
	for _, f := range []struct {
		field string
		x     []float64
		n     int
	}{{"base", s.Base, n * (n + 1) / 2}, {"factors", s.Factors, len(s.Factors)}, {"vectors", s.Vectors, len(s.Factors) * n}} {
		if err := finite(f.field, f.x, f.n); err != nil {
			return nil, fmt.Errorf("%s: %w", field, err)
		}
	}
	m := &buffered{n: n, base: make([]float64, n*n), c: slices.Clone(s.Factors), z: slices.Clone(s.Vectors)}
	for i := range n {
		for j := range i + 1 {
			v := s.Base[i*(i+1)/2+j]
			m.base[i*n+j], m.base[j*n+i] = v, v
		}
	}
	return m, nil
}
