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

// GramLearners returns the learners that a GramRecipe can name without Labels: those of the catalog that learn from a Gram matrix and
// constraints.
func GramLearners() []catalog.Entry {
	return catalog.Of(catalog.Constraints)
}

// GramLabelLearners returns the learners that a GramRecipe can name with Labels: those of the catalog that learn from rows under any kernel, without the
// parameters that name one.
func GramLabelLearners() []catalog.Entry {
	out := slices.DeleteFunc(catalog.Of(catalog.Links, catalog.Classes, catalog.Data), func(e catalog.Entry) bool { return !e.Form.Kernel() })
	for i, e := range out {
		out[i] = e.WithoutKernel()
	}
	return out
}

// GramRecipe says how a Gram is fitted.
type GramRecipe struct {
	// Learner is one of GramLearners or, with Labels, of GramLabelLearners, by its name or an alias, which Resolved replaces by the name.
	Learner string `json:"learner"`
	// Params are its parameters as text; those not given have their defaults.
	Params map[string]string `json:"params"`
	// Labels says that the objects have classes, and that there are no constraints.
	Labels bool `json:"labels,omitempty"`
	// Pairs is that of Recipe, for a learner of pairs with Labels.
	Pairs int `json:"pairs,omitempty"`
	// Seed is the origin of the pairs drawn with Labels; 0 means 1. It must be 0 without.
	Seed uint64 `json:"seed,omitempty"`
}

// Resolved returns r with its defaults filled in. It returns an *OptionError for an unknown learner, for an unknown or bad
// parameter, and for a field that does not apply.
func (r GramRecipe) Resolved() (GramRecipe, error) {
	r, _, _, err := r.resolve()
	return r, err
}

func (r GramRecipe) resolve() (GramRecipe, catalog.Entry, catalog.Values, error) {
	fail := func(err error) (GramRecipe, catalog.Entry, catalog.Values, error) {
		return GramRecipe{}, catalog.Entry{}, catalog.Values{}, notAllowed("%w", err)
	}
	all, others, from, instead := GramLearners(), GramLabelLearners(), "constraints", "labels"
	if r.Labels {
		all, others, from, instead = others, all, instead, from
	}
	e, err := catalog.FindIn(all, r.Learner)
	if err != nil {
		if e, err := catalog.FindIn(others, r.Learner); err == nil {
			return fail(fmt.Errorf("learner %s learns from a Gram matrix with %s, not with %s", e.Name, instead, from))
		}
		if e, err := catalog.Find(r.Learner); err == nil {
			return fail(fmt.Errorf("learner %s learns from %s, want one that learns from a Gram matrix and %s", e.Name, e.Feedback, from))
		}
		return fail(err)
	}
	values, err := e.Parse(r.Params)
	if err != nil {
		return fail(err)
	}
	out := GramRecipe{Learner: e.Name, Params: withDefaults(e, r.Params), Labels: r.Labels, Pairs: r.Pairs, Seed: r.Seed}
	if !r.Labels {
		if r.Pairs != 0 || r.Seed != 0 {
			return fail(errors.New("pairs and seed are for labels: from constraints nothing is drawn"))
		}
		return out, e, values, nil
	}
	q, err := Recipe{Pairs: r.Pairs, Seed: r.Seed}.draws(e)
	if err != nil {
		return GramRecipe{}, catalog.Entry{}, catalog.Values{}, err
	}
	out.Pairs, out.Seed = q.Pairs, q.Seed
	return out, e, values, nil
}

// Gram is a kernel learned from the similarities of n objects, their Gram matrix K₀, where no vectors are known:
//
//	K = αK₀ + K₀SK₀,  K(x, z) = α·κ(x, z) + k(x)ᵀSk(z),  k(x) = κ of x and each of the n objects
//
// (Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Eqs. 12 and 18).
// It is immutable and safe for concurrent use.
type Gram struct {
	recipe      GramRecipe
	learner     int // version of the learner
	classes     []string
	counts      []int // of the n objects, per class; none without labels
	k0          *mat.SymDense
	learned     kernels.Learned
	coordinates *kernels.Coordinates // of a learner that embeds; nil for others
	k           *mat.SymDense        // K
	root        *mat.Dense           // M^(−1/2)Zᵀ of Embed, rank×n; nil if K is 0, or with coordinates
	report      GramReport
}

// GramReport is what there is to say of one fit of a Gram. Solution is of a fit with constraints, Landmarks and Left of one with labels.
type GramReport struct {
	learners.Result
	ltkernel.Solution
	// Landmarks and Left are those of Report.
	Landmarks int
	Left      float64
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
	if r.Labels {
		panic("model: FitGram: the recipe is for labels, use FitGramLabels")
	}
	r, e, values, err := r.resolve()
	if err != nil {
		return nil, err
	}
	g, err := newGram(k0, r, e)
	if err != nil {
		return nil, err
	}
	constraints = slices.Clone(constraints)
	for i := range constraints {
		constraints[i].Dists = slices.Clone(constraints[i].Dists)
	}
	return g.run(ctx, p, func(ctx context.Context, told catalog.Progress) (*Gram, error) {
		return g.fit(ctx, e, constraints, values, told)
	})
}

// newGram returns a Gram that is to be fitted to a copy of k0.
func newGram(k0 mat.Symmetric, r GramRecipe, e catalog.Entry) (*Gram, error) {
	n := k0.SymmetricDim()
	if err := checkObjects(n); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k0)
	return &Gram{recipe: r, learner: e.Version, k0: own}, nil
}

// run is fit, left to itself once ctx is done if there are many objects.
func (g *Gram) run(ctx context.Context, p Progress, fit func(context.Context, catalog.Progress) (*Gram, error)) (*Gram, error) {
	var told catalog.Progress
	if p != nil {
		told = func(q learners.Progress) { p(q.Iteration, q.Cap) }
	}
	if n := g.Objects(); abandon.Long(n, n, n) {
		return abandon.Run(ctx, "model", told, fit)
	}
	return fit(ctx, told)
}

// fit learns the kernel of g.k0.
func (g *Gram) fit(ctx context.Context, e catalog.Entry, constraints []ltkernel.Constraint, v catalog.Values, told catalog.Progress) (*Gram, error) {
	if err := kernels.CheckGram(g.k0); err != nil {
		return nil, fmt.Errorf("model: k0: %w", err)
	}
	res, err := e.Fit(ctx, catalog.Input{K0: g.k0, Constraints: constraints}, v, told)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	g.learned, g.coordinates, g.report = res.Kernel, res.Coordinates, GramReport{Result: res.Result, Solution: res.Solution}
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

// finish makes K, and its root or S.
func (g *Gram) finish() (err error) {
	if g.coordinates != nil {
		if g.learned, err = g.coordinates.Learned(); err != nil {
			return err
		}
		g.k = g.learned.All(g.k0)
		return nil
	}
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

// Classes returns the names of the classes and how many objects each has; none without labels.
func (g *Gram) Classes() (names []string, objects []int) {
	return slices.Clone(g.made().classes), slices.Clone(g.counts)
}

// Kernel returns K, the learned kernel matrix of the n objects.
func (g *Gram) Kernel() *mat.SymDense {
	k := mat.NewSymDense(g.Objects(), nil)
	k.CopySym(g.k)
	return k
}

// Rank returns the rank of K but for round-off: the number of coordinates that Embed gives.
func (g *Gram) Rank() int {
	if g.made().coordinates != nil {
		r, _ := g.coordinates.G.Dims()
		return r
	}
	if g.root == nil {
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
// With a learner that embeds, such as kernel-lmnn, kernel-pca or trace-ssikdr, they are its own coordinates, in its order, e(z) = Gk(z) + c (see kernels.Coordinates): α is 0. Those of
// kernel-pca and kernel-fda are scores about the mean of the n objects.
//
// It returns an error if cross does not have n columns, if an entry is NaN or infinite, if a coordinate overflows, and
// ErrZero if K is 0. It panics if cross is nil or empty.
func (g *Gram) Embed(cross mat.Matrix) (*mat.Dense, error) {
	if c := g.made().coordinates; c != nil {
		z, err := c.Embed(g.Objects(), cross)
		if err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		if err := checkCoordinates(z, 0); err != nil {
			return nil, err
		}
		return z, nil
	}
	k, err := g.learned.Between(g.k0, cross)
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
	Support []int          `json:"support" persist:"null"`
	S       persist.Floats `json:"s"` // row by row, each from the diagonal on; empty if there are coordinates
	Classes []string       `json:"classes,omitempty"`
	Counts  []int          `json:"counts,omitempty"`
	G       persist.Floats `json:"g,omitempty"` // of coordinates, row by row
	Shift   persist.Floats `json:"shift,omitempty"`
}

// Save writes the kernel in the format of package persist, kind "model/gram". One that is loaded from it embeds to the same
// bits. It panics if neither FitGram nor LoadGram made it.
func (g *Gram) Save(w io.Writer) error {
	s := gramState{Learner: g.made().learner, Objects: g.Objects(), Gram: upper(g.k0), Alpha: g.learned.Alpha, Support: g.learned.Support, Classes: g.classes, Counts: g.counts}
	switch {
	case g.coordinates != nil:
		s.G, s.Shift = g.coordinates.G.RawMatrix().Data, g.coordinates.Shift
	case g.learned.S != nil:
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
	embeds := len(s.G) > 0
	if n < 1 || limits.Product(n, n+1)/2 != int64(len(s.Gram)) || t == 0 && embeds || !embeds && limits.Product(t, t+1)/2 != int64(len(s.S)) || embeds && (len(s.S) > 0 || len(s.G)%t != 0) {
		return fmt.Errorf("arrays of %d, %d and %d numbers do not fit %d objects, %d of them in the support", len(s.Gram), len(s.S), len(s.G), n, t)
	}
	if len(s.Shift) > 0 && (!embeds || len(s.Shift) != len(s.G)/t) || embeds && s.Alpha != 0 {
		return fmt.Errorf("alpha %v, a shift of %d and coordinates of %d numbers do not fit", s.Alpha, len(s.Shift), len(s.G))
	}
	if err := g.restoreClasses(s); err != nil {
		return err
	}
	if !(s.Alpha >= 0) || math.IsInf(s.Alpha, 1) {
		return fmt.Errorf("alpha is %v, want a finite number >= 0", s.Alpha)
	}
	for a, i := range s.Support {
		if i < 0 || i >= n || a > 0 && i <= s.Support[a-1] {
			return fmt.Errorf("support: %d is not allowed, want objects from 0 to %d, ascending", i, n-1)
		}
	}
	for name, values := range map[string][]float64{"s": s.S, "g": s.G, "shift": s.Shift} {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: %v is not allowed, want a finite number", name, v)
			}
		}
	}
	if err := checkObjects(n); err != nil {
		return err
	}
	g.learner, g.k0 = s.Learner, symmetric(n, s.Gram)
	if embeds {
		g.coordinates = &kernels.Coordinates{Support: s.Support, G: mat.NewDense(len(s.G)/t, t, s.G)}
		if len(s.Shift) > 0 {
			g.coordinates.Shift = s.Shift
		}
	} else {
		g.learned = kernels.Learned{Alpha: s.Alpha}
		if t > 0 { // or the fit left αK₀
			g.learned.Support, g.learned.S = s.Support, symmetric(t, s.S)
		}
	}
	if err := kernels.CheckGram(g.k0); err != nil {
		return fmt.Errorf("gram: %w", err)
	}
	return g.finish()
}

// restoreClasses sets the classes, or returns an error if they do not fit.
func (g *Gram) restoreClasses(s gramState) error {
	objects := 0
	for i, c := range s.Counts {
		if c < 1 || c > s.Objects {
			return fmt.Errorf("class %d has %d objects", i, c)
		}
		objects += c
	}
	switch r := g.recipe; {
	case len(s.Classes) != len(s.Counts) || (len(s.Classes) > 1) != r.Labels || r.Labels && objects != s.Objects:
		return fmt.Errorf("%d classes, %d counts of %d objects", len(s.Classes), len(s.Counts), objects)
	case r.Pairs < 0 || r.Pairs > MaxPairs || r.Labels == (r.Seed == 0):
		return fmt.Errorf("recipe %+v", r)
	}
	if err := checkLabels(s.Classes, len(s.Classes)); err != nil {
		return err
	}
	g.classes, g.counts = s.Classes, s.Counts
	return nil
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
