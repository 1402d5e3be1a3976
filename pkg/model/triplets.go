package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/abandon"
	"metriclab/internal/plural"
	"metriclab/pkg/feedback"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/plots"
	"metriclab/pkg/tables"
)

// ComparedKind is the kind under which package persist stores a Compared.
const ComparedKind = "model/triplets"

// Compared is the kernel of objects that was learned from relative comparisons of them, and nothing else: it has no map for other objects.
// It is immutable and safe for concurrent use.
type Compared struct {
	recipe  Recipe
	learner int // version of the learner
	names   []string
	k       *mat.SymDense
	dim     int   // coordinates that k was fitted in; 0 for a kernel
	named   []int // how many comparisons of the fit name each object; nil of an old file
	report  Report
	fitted  []metric.Triplet // those of the fit
}

// number names the objects that occur, and returns the triplets with their places among these.
func (c *Compared) number(set *feedback.Triplets) ([]metric.Triplet, error) {
	place := make([]int, set.Objects)
	for i, t := range set.List {
		for _, o := range []int{t.A, t.Near, t.Far} {
			if o < 0 || o >= set.Objects {
				return nil, fmt.Errorf("triplet %d: object %d is not allowed, want 0 to %d", i, o, set.Objects-1)
			}
			place[o] = 1
		}
	}
	for o, occurs := range place {
		if occurs == 0 {
			c.report.Missing++
			continue
		}
		place[o] = len(c.names)
		name := strconv.Itoa(o)
		if set.Names != nil {
			name = set.Names[o]
		}
		c.names = append(c.names, name)
	}
	c.report.Items = len(c.names)
	ts := make([]metric.Triplet, len(set.List))
	c.named = make([]int, len(c.names))
	for i, t := range set.List {
		ts[i] = metric.Triplet{A: place[t.A], Near: place[t.Near], Far: place[t.Far]}
		c.named[ts[i].A]++
		c.named[ts[i].Near]++
		c.named[ts[i].Far]++
	}
	return ts, nil
}

// fitsDim returns an error if a recipe asks for more coordinates than objects.
func (f fitting) fitsDim(n int) error {
	if d, _ := strconv.Atoi(f.recipe.Params["dim"]); d > n {
		return notAllowed("dim: %d is not allowed, want 1 to the number of objects, %d", d, n)
	}
	return nil
}

// learnTriplets returns the kernel of n objects, and reports. threes is catalog.Input.Threes.
func learnTriplets(ctx context.Context, f fitting, n int, ts []metric.Triplet, threes bool, p Progress, rep *Report) (*mat.SymDense, error) {
	e, passes := f.entry, f.recipe.Passes
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := limits.Check(fmt.Sprintf("kernels of %d objects", n), limits.Floats(3, n, n)); err != nil {
		return nil, err
	}
	if !e.Feedback.Online() {
		r, err := e.Fit(ctx, catalog.Input{Triplets: ts, Objects: n, Threes: threes}, f.values, p.of())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		rep.Result, rep.Tau, rep.TauChosen, rep.Dim, rep.Dims, rep.DimErrors = r.Result, r.Tau, r.Chosen, r.Dim, r.Dims, r.DimErrors
		return r.K, checkKernel(e.Name, r.K)
	}
	l, err := catalog.As[learners.TripletLearner](e.New(catalog.Shape{Objects: n}, f.values))
	if err != nil {
		return nil, err
	}
	const between = 64 // triplets between reports
	for pass := range passes {
		done := 0
		for o, err := range learners.Run(l, slices.Values(ts)) {
			done++
			if err == nil {
				err = ctx.Err() // a step may take long
			}
			if err != nil {
				return nil, fmt.Errorf("%s: triplet %d: %w", e.Name, done, err)
			}
			if pass == passes-1 && o.Mistake {
				rep.Mistakes++
			}
			if p != nil && done%between == 0 {
				p(pass*len(ts)+done, passes*len(ts))
			}
		}
	}
	k := mat.NewSymDense(n, nil)
	k.CopySym(l.Kernel())
	return k, checkKernel(e.Name, k)
}

// checkKernel returns an error unless the entries of a learner's kernel are such that Load accepts them.
func checkKernel(learner string, k *mat.SymDense) error {
	n := k.SymmetricDim()
	for i := range n {
		for j := i; j < n; j++ {
			if x := k.At(i, j); !(math.Abs(x) <= largestKernel) {
				return fmt.Errorf("%s: the kernel overflows: entry (%d, %d) is %v, want a magnitude of at most %g", learner, i, j, x, largestKernel)
			}
		}
	}
	return nil
}

// largestKernel bounds the entries of a kernel, so that sums and squares of them do not overflow.
const largestKernel = 1e140

// made returns c, and panics if no constructor made it.
func (c *Compared) made() *Compared {
	if c == nil || c.k == nil {
		panic("model: Compared: zero value, use Fit or LoadTriplets")
	}
	return c
}

// Recipe returns what the kernel was fitted by, all defaults filled in.
func (c *Compared) Recipe() Recipe { return c.made().recipe.clone() }

// LearnerVersion returns the version of the learner that fitted the kernel.
func (c *Compared) LearnerVersion() int { return c.made().learner }

// Names returns the names of the objects, in the order of the rows of the kernel.
func (c *Compared) Names() []string { return slices.Clone(c.made().names) }

// Objects returns the number n of objects, all of which occur in triplets.
func (c *Compared) Objects() int { return len(c.made().names) }

// Report returns what there is to say of the fit. A loaded Compared has none: the zero value.
func (c *Compared) Report() Report { return c.made().report }

// Dim returns the number of coordinates that the objects were fitted in, those of Coordinates of so many dimensions; 0 of a kernel, whose rank nothing bounds.
func (c *Compared) Dim() int { return c.made().dim }

// Kernel returns K, the n×n learned kernel.
func (c *Compared) Kernel() *mat.SymDense {
	k := mat.NewSymDense(c.Objects(), nil)
	k.CopySym(c.k)
	return k
}

// Coordinates are those of objects in few dimensions.
type Coordinates struct {
	// Z is n×dim, a row per object, the directions of largest spread first.
	Z *mat.Dense
	// Share is the part of the spread, the sum of squared distances from the mean object, that these dimensions show; 0 if all objects coincide.
	Share float64
}

// Coordinates returns those of the objects in the dim directions in which they vary most, about their mean: the leading eigenvectors of the centred kernel. With dim = n squared distances are
// those of K, K_ii + K_jj − 2K_ij. It returns an error unless 1 ≤ dim ≤ n, and what wraps ctx's error once it is done.
func (c *Compared) Coordinates(ctx context.Context, dim int) (Coordinates, error) {
	n := c.Objects()
	if dim < 1 || dim > n {
		return Coordinates{}, notAllowed("dim: %d is not allowed, want 1 to the number of objects, %d", dim, n)
	}
	if err := ctx.Err(); err != nil {
		return Coordinates{}, err
	}
	k := c.Kernel()
	centre(k)
	trace := mat.Trace(k)
	embed := func(context.Context) (Coordinates, error) {
		out := Coordinates{Z: triplets.Embed(k, dim)}
		if norm := mat.Norm(out.Z, 2); trace > 0 {
			out.Share = min(1, norm*norm/trace)
		}
		return out, nil
	}
	if abandon.Long(n, n, n) {
		return abandon.Do(ctx, "model", embed) // nobody else has k
	}
	return embed(ctx)
}

// shares divides Share up among the dimensions.
func (c Coordinates) shares() []float64 {
	_, dim := c.Z.Dims()
	out := make([]float64, dim)
	for j := range dim {
		column := mat.Norm(c.Z.ColView(j), 2)
		out[j] = column * column
	}
	if all := floats.Sum(out); all > 0 {
		floats.Scale(c.Share/all, out)
	}
	return out
}

// Neighbours returns the k other objects that are nearest to each object, nearest first, of equally near ones those that come first. Squared distances are those
// of the kernel, K_ii + K_jj − 2K_ij. It returns a *tables.OptionError unless 1 ≤ k < n, an error if the answer exceeds limits.Memory, and the one of ctx.
func (c *Compared) Neighbours(ctx context.Context, k int) ([][]nearest.Neighbour, error) {
	n := c.Objects()
	if k < 1 || k >= n {
		return nil, notAllowed("k: %d is not allowed, want 1 to %d, the number of other objects", k, n-1)
	}
	if err := limits.Check(fmt.Sprintf("%d neighbours of %d objects", k, n), limits.Product(16, n, k)); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	found := make([][]nearest.Neighbour, n)
	others := make([]nearest.Neighbour, 0, n-1)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		others = others[:0]
		for j := range n {
			if j != i {
				others = append(others, nearest.Neighbour{Index: j, SqDist: max(0, c.k.At(i, i)+c.k.At(j, j)-2*c.k.At(i, j))})
			}
		}
		slices.SortStableFunc(others, func(a, b nearest.Neighbour) int { return cmp.Compare(a.SqDist, b.SqDist) })
		found[i] = slices.Clone(others[:k])
	}
	return found, nil
}

// centre subtracts from each entry of k the means of its row and of its column, and adds that of all.
func centre(k *mat.SymDense) {
	n := k.SymmetricDim()
	means := make([]float64, n)
	all := 0.0
	for i := range n {
		for j := range n {
			means[i] += k.At(i, j) / float64(n)
		}
		all += means[i] / float64(n)
	}
	for i := range n {
		for j := i; j < n; j++ {
			k.SetSym(i, j, k.At(i, j)-means[i]-means[j]+all)
		}
	}
}

// mostNamed is the largest number of objects whose names a plot shows.
const mostNamed = 60

// fewNamed is how many comparisons per coordinate must name an object, lest it is drawn pale: it may stand anywhere with little change of the objective.
const fewNamed = 2

// Plot shows the objects in two dimensions, those in which they vary most, with their names if they are at most 60. Those that fewer than 4 comparisons of the fit
// name, two for each coordinate, are pale: grey rings. It returns the errors of Coordinates.
func (c *Compared) Plot(ctx context.Context) (Picture, error) {
	n := c.Objects()
	z, err := c.Coordinates(ctx, min(2, n))
	if err != nil {
		return Picture{}, err
	}
	_, width := z.Z.Dims()
	few := fewNamed * width
	points := []plots.Points{{Color: plots.Blue}, {Color: plots.Grey, Shape: plots.Ring}}
	for i := range n {
		p := &points[0]
		if c.named != nil && c.named[i] < few {
			p = &points[1]
		}
		p.X = append(p.X, z.Z.At(i, 0))
		y := 0.0
		if width > 1 {
			y = z.Z.At(i, 1)
		}
		p.Y = append(p.Y, y)
		if n <= mostNamed {
			p.Labels = append(p.Labels, c.names[i])
		}
	}
	how := fmt.Sprintf("in the two directions in which they vary most under the kernel that %s learned from relative comparisons; they show %.3g %% of the spread, where a fit in two coordinates (dim=2) leaves nothing out", c.recipe.Learner, 100*z.Share)
	switch {
	case c.dim == width:
		how = fmt.Sprintf("in the %s that %s fitted to relative comparisons", plural.Of(width, "coordinate"), c.recipe.Learner)
	case c.dim > 0:
		how = fmt.Sprintf("in the two directions in which they vary most of the %s that %s fitted to relative comparisons; they show %.3g %% of the spread", plural.Of(c.dim, "coordinate"), c.recipe.Learner, 100*z.Share)
	}
	how += ". Both axes have the same scale."
	var marks []plots.Mark
	if pale := &points[1]; len(pale.X) > 0 {
		how += fmt.Sprintf(" Pale rings: the %d that fewer than %d comparisons name, whose place is little more than a guess.", len(pale.X), few)
		points[0].Name, pale.Name = fmt.Sprintf("in %d comparisons or more", few), fmt.Sprintf("in fewer than %d comparisons", few)
	}
	for _, p := range points {
		if len(p.X) > 0 {
			marks = append(marks, p)
		}
	}
	if n <= mostNamed {
		how += " Names stand where there is room."
	}
	return Picture{Points: n, Of: n, Shares: z.shares(), Drawing: plots.Drawing{
		Caption: plots.Caption{Shows: fmt.Sprintf("%s, %s", plural.Of(n, "object"), how)},
		Panels:  []plots.Panel{{Title: fmt.Sprintf("objects embedded by %s", c.recipe.Learner), XLabel: "z1", YLabel: "z2", Equal: true, Marks: marks}},
	}}, nil
}

// ErrorOf returns the share of the comparisons of the fit that coordinates contradict, a tie as half of one; 0 of what was loaded, which has none.
func (c *Compared) ErrorOf(z Coordinates) float64 {
	if len(c.made().fitted) == 0 {
		return 0
	}
	return contradicted(z.Z, c.fitted)
}

// comparedRecipe is what a file has of a Recipe; the parameters of the file.
type comparedRecipe struct {
	Learner string            `json:"learner"`
	Params  map[string]string `json:"params"`
	Passes  int               `json:"passes,omitempty"`
}

// comparedState is what Save writes.
type comparedState struct {
	Learner int            `json:"learner_version"`
	Names   []string       `json:"names"`
	Kernel  persist.Floats `json:"kernel"` // rows, each from the diagonal on
	Dim     int            `json:"dim,omitempty"`
	Named   []int          `json:"named,omitempty"`
}

// Save writes the kernel and the names of the objects in the format of package persist, kind "model/triplets". It comes back to the bit. It panics if neither
// Fit nor LoadTriplets made it.
func (c *Compared) Save(w io.Writer) error {
	r := c.made().recipe
	return persist.Write(w, ComparedKind, comparedRecipe{r.Learner, r.Params, r.Passes}, comparedState{c.learner, c.names, upper(c.k), c.dim, c.named})
}

// LoadTriplets reads a kernel that Save wrote. Its errors wrap those of package persist: a file that is foreign, newer, damaged, or
// of another kind, such as a Model.
func LoadTriplets(r io.Reader) (*Compared, error) {
	c := &Compared{}
	var s comparedState
	var q comparedRecipe
	if err := persist.Load(r, ComparedKind, &q, &s); err != nil {
		return nil, err
	}
	c.recipe = Recipe{Learner: q.Learner, Params: q.Params, Passes: q.Passes, Seed: 1}
	if err := c.restore(s); err != nil {
		if _, ok := errors.AsType[*limits.MemoryError](err); ok {
			return nil, fmt.Errorf("model: %w", err)
		}
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, ComparedKind, err)
	}
	return c, nil
}

// restore sets all but the recipe, or returns an error if the parts do not fit.
func (c *Compared) restore(s comparedState) error {
	n := len(s.Names)
	switch {
	case c.recipe.Learner == "" || c.recipe.Params == nil || c.recipe.Passes < 0 || c.recipe.Passes > MaxPasses || s.Learner < 0:
		return fmt.Errorf("recipe %+v, version %d of the learner", c.recipe, s.Learner)
	case n < 3 || limits.Product(n, n+1)/2 != int64(len(s.Kernel)):
		return fmt.Errorf("a kernel of %d numbers does not fit %d objects", len(s.Kernel), n)
	case s.Dim < 0 || s.Dim > n:
		return fmt.Errorf("%d coordinates do not fit %d objects", s.Dim, n)
	case s.Named != nil && (len(s.Named) != n || slices.Min(s.Named) < 1):
		return fmt.Errorf("named: %d counts do not fit %d objects, of which each is named", len(s.Named), n)
	}
	known := make(map[string]bool, n)
	for _, name := range s.Names {
		if err := tables.CheckText(name); err != nil || name == "" || known[name] {
			return fmt.Errorf("name %q is not allowed, want distinct texts", name)
		}
		known[name] = true
	}
	for _, v := range s.Kernel {
		if !(math.Abs(v) <= largestKernel) {
			return fmt.Errorf("kernel: %v is not allowed, want a number of magnitude at most %g", v, largestKernel)
		}
	}
	if err := limits.Check(fmt.Sprintf("a kernel of %d objects", n), limits.Floats(3, n, n)); err != nil {
		return err
	}
	c.learner, c.names, c.k, c.dim, c.named = s.Learner, s.Names, symmetric(n, s.Kernel), s.Dim, s.Named
	if err := kernels.CheckGram(c.k); err != nil {
		return fmt.Errorf("kernel: %w", err)
	}
	return nil
}
