package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"metriclab/pkg/datasets"
	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/tables"
)

// Kind is the kind under which package persist stores a Model.
const Kind = "model"

// tableRecipe is what a file has of a Recipe; the parameters of the file.
type tableRecipe struct {
	Learner    string            `json:"learner"`
	Params     map[string]string `json:"params"`
	Pairs      int               `json:"pairs,omitempty"`
	Given      string            `json:"given,omitempty"`
	Passes     int               `json:"passes,omitempty"`
	Seed       uint64            `json:"seed"`
	ImputeMean bool              `json:"impute_mean"`
	Raw        bool              `json:"raw"`
}

// state is what Save writes.
type state struct {
	Learner int             `json:"learner_version"`
	Layout  tables.Layout   `json:"layout"`
	Classes []string        `json:"classes"`
	Counts  []int           `json:"counts"`
	Rows    int             `json:"rows,omitempty"` // of the training table, if it had no labels
	Means   persist.Floats  `json:"means"`          // empty if the recipe does not impute
	Shift   persist.Floats  `json:"shift"`          // empty if features stay as they are
	Scale   persist.Floats  `json:"scale"`
	Metric  json.RawMessage `json:"metric"` // a file of its own kind
}

// Save writes the model in the format of package persist, kind "model". A model
// loaded from it prepares, measures and embeds to the same bits. It panics if neither Fit nor
// Load made the model.
func (m *Model) Save(w io.Writer) error {
	var inner bytes.Buffer
	if err := m.made().metric.Save(&inner); err != nil {
		return fmt.Errorf("model: %w", err)
	}
	rows := m.n
	if len(m.classes) > 0 { // counts say it
		rows = 0
	}
	r := m.recipe
	return persist.Write(w, Kind, tableRecipe{r.Learner, r.Params, r.Pairs, r.Given, r.Passes, r.Seed, r.ImputeMean, r.Raw}, state{
		m.learner, m.layout, append([]string{}, m.classes...), m.counts, rows, m.scaler.Fill, m.scaler.Shift, m.scaler.Scale, inner.Bytes(),
	})
}

// Load reads a model that Save wrote. Its errors wrap those of package persist: a
// file that is foreign, newer, damaged, or of another kind, such as the state of
// an online learner.
func Load(r io.Reader) (*Model, error) {
	m := &Model{}
	var s state
	var q tableRecipe
	if err := persist.Load(r, Kind, &q, &s); err != nil {
		return nil, err
	}
	m.recipe = Recipe{Learner: q.Learner, Params: q.Params, Pairs: q.Pairs, Given: q.Given, Passes: q.Passes, Seed: q.Seed, ImputeMean: q.ImputeMean, Raw: q.Raw}
	m.learner, m.layout, m.classes, m.counts = s.Learner, s.Layout, s.Classes, s.Counts
	m.n = s.Rows
	for _, c := range s.Counts {
		m.n += min(max(c, 0), math.MaxInt32) // others are refused below
	}
	m.scaler = &datasets.Scaler{Dim: len(s.Layout.Features)}
	for _, part := range []struct {
		saved persist.Floats
		into  *[]float64
	}{{s.Means, &m.scaler.Fill}, {s.Shift, &m.scaler.Shift}, {s.Scale, &m.scaler.Scale}} {
		if len(part.saved) > 0 {
			*part.into = part.saved
		}
	}
	var err error
	if m.metric, err = loadMetric(s.Metric); err != nil {
		return nil, fmt.Errorf("%w: %s: metric: %w", persist.ErrDamaged, Kind, err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", persist.ErrDamaged, Kind, err)
	}
	return m, nil
}

func loadMetric(raw []byte) (catalog.Distance, error) {
	env, err := persist.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	switch env.Kind {
	case kernels.MetricKind:
		return kernels.LoadMetric(bytes.NewReader(raw))
	case kernels.TransformedKind:
		return kernels.LoadTransformed(bytes.NewReader(raw))
	case metric.LowRankKind:
		return metric.LoadLowRank(bytes.NewReader(raw))
	}
	return metric.Load(bytes.NewReader(raw))
}

// check returns an error if the parts of a loaded model do not fit.
func (m *Model) check() error {
	if e, err := catalog.FindIn(Learners(), m.recipe.Learner); err == nil { // or it is of another program version
		m.recipe.Learner = e.Name // an earlier version may have saved it under what is an alias now
		if catalog.FormOf(m.metric) != e.Form {
			return fmt.Errorf("learner %s does not learn a %T", e.Name, m.metric)
		}
	}
	d := len(m.layout.Features)
	for i, c := range m.counts {
		if c < 1 || c > math.MaxInt32 {
			return fmt.Errorf("class %d has %d rows", i, c)
		}
	}
	given, unlabelled := m.recipe.Given != "", len(m.classes) == 0 && !m.recipe.NeedsLabels()
	switch {
	case m.n < 1 || m.n > math.MaxInt32 || given && m.recipe.Given != GivenPairs && m.recipe.Given != GivenChunklets:
		return fmt.Errorf("%d rows, pairs given as %q", m.n, m.recipe.Given)
	case m.recipe.Learner == "" || m.recipe.Params == nil || m.recipe.Pairs < 0 || m.recipe.Passes < 0 || m.recipe.Seed == 0:
		return fmt.Errorf("recipe %+v is not complete", m.recipe)
	case m.recipe.Pairs > MaxPairs || m.recipe.Passes > MaxPasses || m.learner < 0:
		return fmt.Errorf("%d pairs, %d passes, version %d of the learner: want at most %d, %d, and a version ≥ 0",
			m.recipe.Pairs, m.recipe.Passes, m.learner, MaxPairs, MaxPasses)
	case !unlabelled && len(m.classes) < 2 || len(m.counts) != len(m.classes):
		return fmt.Errorf("%d classes, %d counts", len(m.classes), len(m.counts))
	case m.recipe.ImputeMean != (m.scaler.Fill != nil) || m.recipe.Raw != (m.scaler.Shift == nil) || m.recipe.Raw != (m.scaler.Scale == nil):
		return fmt.Errorf("the recipe does not match what is saved")
	}
	if err := m.layout.Check(m.metric.Dim()); err != nil {
		return err
	}
	for _, values := range [][]float64{m.scaler.Fill, m.scaler.Shift, m.scaler.Scale} {
		if values == nil {
			continue
		}
		if len(values) != d {
			return fmt.Errorf("%d numbers for %d features", len(values), d)
		}
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%v is not allowed, want a finite number", v)
			}
		}
	}
	if i := slices.IndexFunc(m.scaler.Scale, func(s float64) bool { return s <= 0 }); i >= 0 {
		return fmt.Errorf("the scale of feature %s is %v, want more than 0", m.layout.Features[i], m.scaler.Scale[i])
	}
	return nil
}
