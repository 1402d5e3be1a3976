package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/tables"
)

// The values of Recipe.Given.
const (
	GivenPairs     = "pairs"     // a list of pairs
	GivenChunklets = "chunklets" // a column, see ByChunklets
)

// The largest numbers of a Recipe. Their product can be counted.
const (
	MaxPairs  = 1_000_000_000
	MaxPasses = 1_000_000_000
)

// Recipe says how something is learned from a Problem: all that a user chooses. A field that does not apply to the problem or the learner must be zero.
type Recipe struct {
	// Learner is one of Problem.Learners, by its name or an alias, which Resolved replaces by the name.
	Learner string `json:"learner"`
	// Params are its parameters as text; those not given have their defaults.
	Params map[string]string `json:"params"`
	// Pairs is the number of pairs drawn by classes, half of them similar (see sample.BalancedLinks), at most MaxPairs, for a learner of pairs; 0 means
	// 1000. Of known pairs of the rows of a table it is their number, which Fit sets.
	Pairs int `json:"pairs,omitempty"`
	// Given says that the pairs are known, and how they came about: GivenPairs or GivenChunklets. The problem sets it; "" draws.
	Given string `json:"given,omitempty"`
	// Passes is how often an online learner sees the pairs or comparisons, always in their order, at most MaxPasses; 0 means 1.
	Passes int `json:"passes,omitempty"`
	// Rank is the number of directions that are kept of a metric of vectors, those of the largest eigenvalues; 0 means all.
	Rank int `json:"rank,omitempty"`
	// Seed is the origin of all that is drawn; 0 means 1.
	Seed uint64 `json:"seed"`
	// Unit divides each vector by its length, so that Euclidean distances order as cosines do. A vector of zeros has no direction: it is left out where
	// metrics are learned or neighbours looked for, and has no coordinates.
	Unit bool `json:"unit,omitempty"`
	// ImputeMean fills a missing cell of a table with the mean of its column over the training rows; otherwise a missing cell is an error.
	ImputeMean bool `json:"impute_mean,omitempty"`
	// Raw leaves features as they are. Otherwise each feature of a table has its training mean subtracted and is divided by its training standard
	// deviation (divisor n), or by 1 if it is constant. Vectors are all multiplied by one number, such that the mean squared distance of what is
	// compared is 5, or by 1 if that mean is 0.
	Raw bool `json:"raw,omitempty"`
}

func (r Recipe) clone() Recipe {
	r.Params = maps.Clone(r.Params)
	return r
}

// scope says which fields of a Recipe a problem has, beside learner, parameters, passes and seed.
type scope struct {
	pairs, rank, unit, cells, raw bool
	given                         string
}

// notAllowed says that a choice in a recipe or plan is not allowed, and what is.
func notAllowed(format string, args ...any) error {
	return &tables.OptionError{Err: fmt.Errorf(format, args...)}
}

// fitting is a recipe with what it names.
type fitting struct {
	recipe Recipe // resolved
	entry  catalog.Entry
	values catalog.Values
}

// Resolved returns r with its defaults filled in, those of the parameters too. It returns a *tables.OptionError that says what is allowed for a learner that is
// unknown or does not take the problem, an unknown or bad parameter, and a field that does not apply. The problem may be without data.
func (pr Problem) Resolved(r Recipe) (Recipe, error) {
	f, err := pr.resolve(r)
	return f.recipe, err
}

// resolve is the one place where a learner is refused that cannot learn from what a problem has.
func (pr Problem) resolve(r Recipe) (f fitting, err error) {
	all := pr.Learners()
	if f.entry, err = catalog.FindIn(all, r.Learner); err != nil {
		if other, unknown := catalog.FindIn(slices.Concat(catalog.All(), baselines), r.Learner); unknown == nil {
			err = fmt.Errorf("learner %s learns from %s, not from %s; want one of %s", other.Name, other.Feedback, pr.about(), namesOf(all))
		}
		return fitting{}, notAllowed("%w", err)
	}
	r.Learner = f.entry.Name
	if f.values, err = f.entry.Parse(r.Params); err != nil {
		return fitting{}, notAllowed("%w", err)
	}
	r.Params = withDefaults(f.entry, r.Params)
	f.recipe, err = r.within(pr.scope(), f.entry, pr.about())
	return f, err
}

// within returns r with the defaults of what is neither learner nor parameter.
func (r Recipe) within(has scope, e catalog.Entry, from string) (Recipe, error) {
	if r.Given != "" && r.Given != has.given {
		return Recipe{}, notAllowed("given: %q is not allowed with %s", r.Given, from)
	}
	learns := !isBaseline(e.Name)
	if r.Given = ""; learns {
		r.Given = has.given
	}
	for _, f := range []struct {
		name    string
		applies bool
		given   bool
	}{{"rank", has.rank, r.Rank != 0}, {"unit", has.unit, r.Unit}, {"impute", has.cells, r.ImputeMean}, {"raw", has.raw, r.Raw}} {
		if f.given && !f.applies {
			return Recipe{}, notAllowed("%s: it does not apply to %s", f.name, from)
		}
	}
	for _, f := range []struct {
		name      string
		value     *int
		applies   bool
		byDefault int
		most      int
	}{
		{"pairs", &r.Pairs, has.pairs && Draws(e.Feedback), 1000, MaxPairs},
		{"passes", &r.Passes, e.Feedback.Online(), 1, MaxPasses},
	} {
		switch {
		case !f.applies && *f.value != 0 && !(f.name == "pairs" && has.given != ""):
			return Recipe{}, notAllowed("%s: %d does not apply to %s, which learns from %s", f.name, *f.value, e.Name, e.Feedback)
		case *f.value < 0 || *f.value > f.most:
			return Recipe{}, notAllowed("%s: %d is not allowed, want 1 to %d", f.name, *f.value, f.most)
		case f.applies && *f.value == 0:
			*f.value = f.byDefault
		}
	}
	if r.Rank < 0 {
		return Recipe{}, notAllowed("rank: %d is not allowed, want at least 1", r.Rank)
	}
	r.Raw = r.Raw || r.Learner == EuclideanRaw
	r.Seed = max(r.Seed, 1)
	return r, nil
}

// NeedsLabels reports whether a fit of a table by r, which must be resolved, needs classes: pca and others of feedback catalog.Data do without, and so does whoever gives pairs.
func (r Recipe) NeedsLabels() bool {
	if r.Given != "" {
		return false
	}
	e, err := catalog.FindIn(Learners(), r.Learner)
	return err != nil || e.Feedback != catalog.Data
}

// Draws reports whether learners of this feedback see drawn pairs.
func Draws(f catalog.Feedback) bool { return f == catalog.Pairs || f == catalog.Links }

// withDefaults returns the parameters of e, those not given with their defaults.
func withDefaults(e catalog.Entry, given map[string]string) map[string]string {
	params := maps.Clone(given)
	if params == nil {
		params = map[string]string{}
	}
	for _, p := range e.Params {
		chosen := func(name string) string { return params[name] } // an earlier parameter
		if _, ok := params[p.Name]; !ok && p.Applies(chosen) {
			params[p.Name] = p.Default
		}
	}
	return params
}

func namesOf(entries []catalog.Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}
