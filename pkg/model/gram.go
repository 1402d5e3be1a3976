package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/matrix"
	"metriclab/pkg/datasets/sample"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/random"
	"metriclab/pkg/tables"
)

// GramKind is the kind under which package persist stores a Gram.
const GramKind = "model/gram"

// Gram is a kernel learned from the similarities of n objects, their Gram matrix K₀, where no vectors are known:
//
//	K = αK₀ + K₀SK₀,  K(x, z) = α·κ(x, z) + k(x)ᵀSk(z),  k(x) = κ of x and each of the n objects
//
// (Jain, Kulis, Davis, Dhillon, Metric and Kernel Learning Using a Linear Transformation, JMLR 13, 2012, Eqs. 12 and 18).
// It is immutable and safe for concurrent use.
type Gram struct {
	recipe      Recipe
	learner     int // version of the learner
	classes     []string
	counts      []int // of the n objects, per class; none without labels
	k0          *mat.SymDense
	learned     kernels.Learned
	coordinates *kernels.Coordinates // of a learner that embeds; nil for others
	k           *mat.SymDense        // K
	root        *mat.Dense           // M^(−1/2)Zᵀ of Embed, rank×n; nil if K is 0, or with coordinates
	report      Report
}

// InfeasibleError says that no kernel satisfies the constraints.
type InfeasibleError struct {
	// Report is that of the fit, whose Status is learners.Infeasible.
	Report Report
	// Conflict holds the indices of constraints that contradict each other, and Weights proves it (see ltkernel.Conflict).
	Conflict []int
	Weights  []float64
}

func (e *InfeasibleError) Error() string {
	return fmt.Sprintf("model: no kernel satisfies the constraints %v, counted from 0", e.Conflict)
}

// fitGram learns a kernel from a copy of k0, left to itself once ctx is done if there are many objects.
func fitGram(ctx context.Context, k0 mat.Symmetric, f fitting, p Progress, learn func(ctx context.Context, g *Gram, told catalog.Progress) error) (Fitted, error) {
	n := k0.SymmetricDim()
	if err := checkObjects(n); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	own := mat.NewSymDense(n, nil)
	own.CopySym(k0)
	g := &Gram{recipe: f.recipe, learner: f.entry.Version, k0: own}
	fit := func(ctx context.Context, told catalog.Progress) (Fitted, error) {
		if err := kernels.CheckGram(g.k0); err != nil {
			return nil, fmt.Errorf("model: k0: %w", err)
		}
		if err := learn(ctx, g, told); err != nil {
			return nil, err
		}
		return g, nil
	}
	if abandon.Long(n, n, n) {
		return abandon.Run(ctx, "model", p.of(), fit)
	}
	return fit(ctx, p.of())
}

// fitConstraints learns the kernel of g.k0. An error that wraps metric.ErrNotPSD
// and speaks of the learned kernel says that round-off hides it: bounds ask for distances many orders of magnitude smaller than
// they were.
func (g *Gram) fitConstraints(ctx context.Context, f fitting, constraints []ltkernel.Constraint, told catalog.Progress) error {
	res, err := f.entry.Fit(ctx, catalog.Input{K0: g.k0, Constraints: constraints}, f.values, told)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	g.learned, g.coordinates, g.report = res.Kernel, res.Coordinates, Report{Result: res.Result, Solution: &res.Solution}
	if res.Status == learners.Infeasible {
		return &InfeasibleError{g.report, res.Conflict, res.Weights}
	}
	if err := g.finish(); err != nil {
		if errors.Is(err, metric.ErrNotPSD) {
			err = fmt.Errorf("%w: round-off hides it, want bounds nearer to the distances under k0", err)
		}
		return fmt.Errorf("model: %s: %w", f.entry.Name, err)
	}
	return nil
}

// fitLabels learns the kernel of g.k0.
func (g *Gram) fitLabels(ctx context.Context, f fitting, y []int, told catalog.Progress) error {
	e := f.entry
	var links []metric.Link
	if Draws(e.Feedback) {
		var err error
		rng := random.Seed{Base: g.recipe.Seed, Experiment: "model/fit"}.Stream("pairs")
		if links, err = sample.BalancedLinks(rng, y, g.recipe.Pairs); err != nil {
			return fmt.Errorf("model: %w", err)
		}
	}
	objects := kernels.NewObjects(g.k0)
	res, err := e.Fit(ctx, catalog.Input{X: objects.Points(), Y: y, Links: links, Kernel: objects}, f.values, told)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	g.report = Report{Result: res.Result, Landmarks: res.Landmarks, Left: res.Left}
	switch d := res.Distance.(type) {
	case *kernels.Metric:
		c := d.OfObjects()
		if c.G == nil {
			return fmt.Errorf("model: %s: %w", e.Name, ErrZero)
		}
		g.coordinates = &c
	case *kernels.Transformed:
		g.learned = d.OfObjects()
	}
	if err := g.finish(); err != nil {
		return fmt.Errorf("model: %s: %w", e.Name, err)
	}
	return ctx.Err()
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
		panic("model: Gram: zero value, use Fit or LoadGram")
	}
	return g
}

// Recipe returns what the kernel was fitted by, all defaults filled in.
func (g *Gram) Recipe() Recipe { return g.made().recipe.clone() }

// LearnerVersion returns the version of the learner that fitted the kernel.
func (g *Gram) LearnerVersion() int { return g.made().learner }

// Objects returns n, the number of objects of K₀.
func (g *Gram) Objects() int { return g.made().k0.SymmetricDim() }

// Report returns what there is to say of the fit. A loaded Gram has none: the zero value.
func (g *Gram) Report() Report { return g.made().report }

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

// gramRecipe is what a file has of a Recipe; the parameters of the file.
type gramRecipe struct {
	Learner string            `json:"learner"`
	Params  map[string]string `json:"params"`
	Labels  bool              `json:"labels,omitempty"`
	Pairs   int               `json:"pairs,omitempty"`
	Seed    uint64            `json:"seed,omitempty"` // 0 without labels
}

// gramState is what Save writes.
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
// bits. It panics if neither Fit nor LoadGram made it.
func (g *Gram) Save(w io.Writer) error {
	s := gramState{Learner: g.made().learner, Objects: g.Objects(), Gram: upper(g.k0), Alpha: g.learned.Alpha, Support: g.learned.Support, Classes: g.classes, Counts: g.counts}
	switch {
	case g.coordinates != nil:
		s.G, s.Shift = g.coordinates.G.RawMatrix().Data, g.coordinates.Shift
	case g.learned.S != nil:
		s.S = upper(g.learned.S)
	}
	r := gramRecipe{Learner: g.recipe.Learner, Params: g.recipe.Params}
	if r.Labels = len(g.classes) > 0; r.Labels {
		r.Pairs, r.Seed = g.recipe.Pairs, g.recipe.Seed
	}
	return persist.Write(w, GramKind, r, s)
}

// LoadGram reads a kernel that Save wrote. Its errors wrap those of package persist: a file that is foreign, newer, damaged, or
// of another kind, such as a Model.
func LoadGram(r io.Reader) (*Gram, error) {
	g := &Gram{}
	var s gramState
	var q gramRecipe
	if err := persist.Load(r, GramKind, &q, &s); err != nil {
		return nil, err
	}
	g.recipe = Recipe{Learner: q.Learner, Params: q.Params, Pairs: q.Pairs, Seed: max(q.Seed, 1)}
	if err := g.restore(q, s); err != nil {
		if _, ok := errors.AsType[*limits.MemoryError](err); ok {
			return nil, fmt.Errorf("model: %w", err)
		}
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, GramKind, err)
	}
	return g, nil
}

// restore sets all but the recipe, or returns an error if the parts do not fit.
func (g *Gram) restore(r gramRecipe, s gramState) error {
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
	if err := g.restoreClasses(r, s); err != nil {
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
func (g *Gram) restoreClasses(r gramRecipe, s gramState) error {
	objects := 0
	for i, c := range s.Counts {
		if c < 1 || c > s.Objects {
			return fmt.Errorf("class %d has %d objects", i, c)
		}
		objects += c
	}
	switch {
	case len(s.Classes) != len(s.Counts) || (len(s.Classes) > 1) != r.Labels || r.Labels && objects != s.Objects:
		return fmt.Errorf("%d classes, %d counts of %d objects", len(s.Classes), len(s.Counts), objects)
	case r.Pairs < 0 || r.Pairs > MaxPairs || r.Labels == (r.Seed == 0):
		return fmt.Errorf("recipe %+v", r)
	}
	if err := tables.CheckLabels(s.Classes, len(s.Classes)); err != nil {
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
