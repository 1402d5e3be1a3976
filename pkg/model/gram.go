package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// GramKind is the kind under which package persist stores a Gram.
const GramKind = "model/gram"

// GramLearners returns the learners that a GramRecipe can name: those of the catalog that learn from a Gram matrix and
// constraints.
func GramLearners() []catalog.Entry {
	return slices.DeleteFunc(catalog.All(), func(e catalog.Entry) bool { return e.Feedback != catalog.Constraints })
}

// GramRecipe says how a Gram is fitted.
type GramRecipe struct {
	// Learner is one of GramLearners, by its name.
	Learner string `json:"learner"`
	// Params are its parameters as text; those not given have their defaults.
	Params map[string]string `json:"params"`
}

// Resolved returns r with its defaults filled in. It returns an *OptionError for an unknown learner and for an unknown or bad
// parameter.
func (r GramRecipe) Resolved() (GramRecipe, error) {
	r, _, _, err := r.resolve()
	return r, err
}

func (r GramRecipe) resolve() (GramRecipe, catalog.Entry, catalog.Values, error) {
	fail := func(err error) (GramRecipe, catalog.Entry, catalog.Values, error) {
		return GramRecipe{}, catalog.Entry{}, catalog.Values{}, notAllowed("%w", err)
	}
	e, err := catalog.FindIn(GramLearners(), r.Learner)
	if err != nil {
		if e, err := catalog.Find(r.Learner); err == nil {
			return fail(fmt.Errorf("learner %s learns from %s, want one that learns from a %s", e.Name, e.Feedback, catalog.Constraints))
		}
		return fail(err)
	}
	values, err := e.Parse(r.Params)
	if err != nil {
		return fail(err)
	}
	return GramRecipe{Learner: e.Name, Params: withDefaults(e, r.Params)}, e, values, nil
}

// Gram is a kernel learned from the similarities of n objects, their Gram matrix K₀, where no vectors are known:
//
//	K = αK₀ + K₀SK₀,  K(x, z) = α·κ(x, z) + k(x)ᵀSk(z),  k(x) = κ of x and each of the n objects
//
// (Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Eqs. 12 and 18).
// It is immutable and safe for concurrent use.
type Gram struct {
	recipe  GramRecipe
	learner int // version of the learner
	k0      *mat.SymDense
	learned kernels.Learned
	k       *mat.SymDense // K
	root    *mat.Dense    // M^(−1/2)Zᵀ of Embed, rank×n; nil if K is 0
	report  GramReport
}

// GramReport is what there is to say of one fit of a Gram.
type GramReport struct {
	learners.Result
	ltkernel.Solution
}

// InfeasibleError says that no kernel satisfies the constraints.
type InfeasibleError struct {
	// Report is that of the fit, whose Status is learners.Infeasible.
	Report GramReport
	// Conflict holds the indices of constraints that contradict each other, and Weights proves it (see ltkernel.Conflict).
	Conflict []int
	Weights  []float64
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("model: no kernel satisfies the constraints %v, counted from 0", e.Conflict)
}

// FitGram learns a kernel from the Gram matrix k0 of objects, n×n, and constraints on them. k0 is copied.
//
// It returns an *OptionError if the recipe is not allowed (see GramRecipe.Resolved), an *InfeasibleError if no kernel satisfies
// the constraints, the errors of kernels.CheckGram for k0 and those of the learner. One that wraps metric.ErrNotPSD
// and speaks of the learned kernel says that round-off hides it: bounds ask for distances many orders of magnitude smaller than
// they were. It panics if k0 is nil or empty.
func FitGram(ctx context.Context, k0 mat.Symmetric, constraints []ltkernel.Constraint, r GramRecipe, p Progress) (*Gram, error) {
	if matrix.IsNil(k0) || k0.SymmetricDim() == 0 {
		panic("model: FitGram: k0 is nil or empty")
	}
	r, e, values, err := r.resolve()
	if err != nil {
		return nil, err
	}
	n := k0.SymmetricDim()
	if err := checkObjects(n); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k0)
	g := &Gram{recipe: r, learner: e.Version, k0: own}
	var told catalog.Progress
	if p != nil {
		told = func(q learners.Progress) { p(q.Iteration, q.Cap) }
	}
	if !abandon.Long(n, n, n) {
		return g.fit(ctx, e, constraints, values, told)
	}
	constraints = slices.Clone(constraints)
	for i := range constraints {
		constraints[i].Dists = slices.Clone(constraints[i].Dists)
	}
	return abandon.Run(ctx, "model", told, func(ctx context.Context, told catalog.Progress) (*Gram, error) {
		return g.fit(ctx, e, constraints, values, told)
	})
}

// fit learns the kernel of g.k0.
func (g *Gram) fit(ctx context.Context, e catalog.Entry, constraints []ltkernel.Constraint, v catalog.Values, told catalog.Progress) (*Gram, error) {
	if err := kernels.CheckGram(g.k0); err != nil {
		return nil, fmt.Errorf("model: k0: %w", err)
	}
	res, err := e.FitGram(ctx, g.k0, constraints, v, told)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	g.learned, g.report = res.Learned, GramReport{res.Result, res.Solution}
	if res.Status == learners.Infeasible {
		return nil, &InfeasibleError{g.report, res.Conflict, res.Weights}
	}
	if err := g.finish(); err != nil {
		if errors.Is(err, metric.ErrNotPSD) {
			err = fmt.Errorf("%w: round-off hides it, want bounds nearer to the distances under k0", err)
		}
		return nil, fmt.Errorf("model: %s: %w", e.Name, err)
	}
	return g, nil
}

// checkObjects returns an error if a Gram of n objects does not fit limits.Memory: it holds three matrices, and
// makes as many to decompose one.
func checkObjects(n int) error {
	return limits.Check(fmt.Sprintf("a learned kernel of %d objects", n), limits.Floats(6, n, n))
}

// finish makes K and its root.
func (g *Gram) finish() (err error) {
	g.k = g.learned.All(g.k0)
	if g.root, err = kernels.Whitening(g.k); err != nil {
		return fmt.Errorf("learned kernel: %w", err)
	}
	return nil
}

// made returns g, and panics if no constructor made it.
func (g *Gram) made() *Gram {
	if g == nil || g.k0 == nil {
		panic("model: Gram: zero value, use FitGram or LoadGram")
	}
	return g
}

// Recipe returns what the kernel was fitted by, all defaults filled in.
func (g *Gram) Recipe() GramRecipe {
	r := g.made().recipe
	r.Params = maps.Clone(r.Params)
	return r
}

// LearnerVersion returns the version of the learner that fitted the kernel.
func (g *Gram) LearnerVersion() int { return g.made().learner }

// Objects returns n, the number of objects of K₀.
func (g *Gram) Objects() int { return g.made().k0.SymmetricDim() }

// Report returns what there is to say of the fit. A loaded Gram has none: the zero value.
func (g *Gram) Report() GramReport { return g.made().report }

// Kernel returns K, the learned kernel matrix of the n objects.
func (g *Gram) Kernel() *mat.SymDense {
	k := mat.NewSymDense(g.Objects(), nil)
	k.CopySym(g.k)
	return k
}

// Rank returns the rank of K but for round-off: the number of coordinates that Embed gives.
func (g *Gram) Rank() int {
	if g.made().root == nil {
		return 0
	}
	r, _ := g.root.Dims()
	return r
}

// Embed returns coordinates of m objects, known at the fit or not, one row each,
//
//	e(z) = M^(−1/2)Zᵀk̃(z),  k̃(z) = αk(z) + K₀Sk(z),  K = ZMZᵀ,
//
// from their kernel values with the n objects of K₀, cross, m×n, whose rows are k(z). k̃(z) is the learned kernel of z and
// each of the n objects (Eq. 18); M holds the eigenvalues of K that are not round-off, largest first. So these are
// kernel principal coordinates under K, without centring. Inner products of rows are the learned kernel of the
// parts of φ(z) in the span of the n objects, and distances are those between these parts:
//
//   - With rows of K₀, the n objects themselves, inner products are K and squared distances those of K.
//   - Between a new object z and one of the n, inner products are the learned kernel. The squared distance lacks α·ρ(z), where
//     ρ(z) = κ(z, z) − k(z)ᵀK₀⁺k(z) ≥ 0 is the part of z outside the span. It is the same for all n, so that the order of
//     neighbours is that of the learned distance.
//   - Between new objects the inner product lacks α(κ(z, z′) − k(z)ᵀK₀⁺k(z′)), which needs κ between new objects: see Among.
//
// If α is 0 nothing is lacking. A row of cross that no φ(z) could have given loses what does not fit. Embed costs O(n²m).
//
// It returns an error if cross does not have n columns, if an entry is NaN or infinite, if a coordinate overflows, and
// ErrZero if K is 0. It panics if cross is nil or empty.
func (g *Gram) Embed(cross mat.Matrix) (*mat.Dense, error) {
	k, err := g.made().learned.Between(g.k0, cross)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if g.root == nil {
		return nil, fmt.Errorf("model: %w", ErrZero)
	}
	z := matrix.Mul(k, g.root.T())
	if err := checkCoordinates(z, 0); err != nil {
		return nil, err
	}
	return z, nil
}

// Among returns the learned kernel matrix of m new objects, αK₂ + K₁SK₁ᵀ (Eq. 18), from K₁ = cross as for Embed and the
// kernel matrix among them, K₂ = own. It lacks nothing. Its errors and panics are those of kernels.Learned.Among; one
// that says that cross does not have n columns is beside them.
func (g *Gram) Among(cross, own mat.Matrix) (*mat.SymDense, error) {
	n := g.Objects()
	if !matrix.IsNil(cross) {
		if _, c := cross.Dims(); c != n && c != 0 {
			return nil, fmt.Errorf("model: cross: %d columns are not allowed, want %d, one per object of the fit", c, n)
		}
	}
	k, err := g.learned.Among(cross, own)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return k, nil
}

// gramState is what Save writes; the parameters are the recipe.
type gramState struct {
	Learner int            `json:"learner_version"`
	Objects int            `json:"objects"`
	Gram    persist.Floats `json:"gram"` // K₀ row by row, each from the diagonal on
	Alpha   float64        `json:"alpha"`
	Support []int          `json:"support"`
	S       persist.Floats `json:"s"` // row by row, each from the diagonal on
}

// Save writes the kernel in the format of package persist, kind "model/gram". One that is loaded from it embeds to the same
// bits. It panics if neither FitGram nor LoadGram made it.
func (g *Gram) Save(w io.Writer) error {
	s := gramState{Learner: g.made().learner, Objects: g.Objects(), Gram: upper(g.k0), Alpha: g.learned.Alpha, Support: g.learned.Support}
	if g.learned.S != nil {
		s.S = upper(g.learned.S)
	}
	return persist.Write(w, GramKind, g.recipe, s)
}

// LoadGram reads a kernel that Save wrote. Its errors wrap those of package persist: a file that is foreign, newer, damaged, or
// of another kind, such as a Model.
func LoadGram(r io.Reader) (*Gram, error) {
	g := &Gram{}
	var s gramState
	if err := persist.Load(r, GramKind, &g.recipe, &s); err != nil {
		return nil, err
	}
	if err := g.restore(s); err != nil {
		if _, ok := errors.AsType[*limits.MemoryError](err); ok {
			return nil, fmt.Errorf("model: %w", err)
		}
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, GramKind, err)
	}
	return g, nil
}

// restore sets all but the recipe, or returns an error if the parts do not fit.
func (g *Gram) restore(s gramState) error {
	if g.recipe.Learner == "" || g.recipe.Params == nil || s.Learner < 0 {
		return fmt.Errorf("recipe %+v, version %d of the learner", g.recipe, s.Learner)
	}
	n, t := s.Objects, len(s.Support)
	if n < 1 || limits.Product(n, n+1)/2 != int64(len(s.Gram)) || limits.Product(t, t+1)/2 != int64(len(s.S)) || t == 0 {
		return fmt.Errorf("arrays of %d and %d numbers do not fit %d objects, %d of them in the support", len(s.Gram), len(s.S), n, t)
	}
	if !(s.Alpha >= 0) || math.IsInf(s.Alpha, 1) {
		return fmt.Errorf("alpha is %v, want a finite number >= 0", s.Alpha)
	}
	for a, i := range s.Support {
		if i < 0 || i >= n || a > 0 && i <= s.Support[a-1] {
			return fmt.Errorf("support: %d is not allowed, want objects from 0 to %d, ascending", i, n-1)
		}
	}
	for _, v := range s.S {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("s: %v is not allowed, want a finite number", v)
		}
	}
	if err := checkObjects(n); err != nil {
		return err
	}
	g.learner, g.k0 = s.Learner, symmetric(n, s.Gram)
	g.learned = kernels.Learned{Alpha: s.Alpha, Support: s.Support, S: symmetric(t, s.S)}
	if err := kernels.CheckGram(g.k0); err != nil {
		return fmt.Errorf("gram: %w", err)
	}
	return g.finish()
}

// upper returns the rows of a, each from the diagonal on.
func upper(a *mat.SymDense) []float64 {
	var out []float64
	raw := a.RawSymmetric()
	for i := range raw.N {
		out = append(out, raw.Data[i*raw.Stride+i:i*raw.Stride+raw.N]...)
	}
	return out
}

// symmetric is the inverse of upper.
func symmetric(n int, rows []float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	raw := a.RawSymmetric()
	for i := range n {
		rows = rows[copy(raw.Data[i*raw.Stride+i:i*raw.Stride+n], rows):]
	}
	return a
}
