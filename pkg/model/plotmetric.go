package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"metriclab/internal/plural"
	"metriclab/pkg/metric"
	"metriclab/pkg/plots"
)

// MaxPlotted is the number of features that PlotMetric names.
const MaxPlotted = 30

// PlotMetric shows which features the metric M = LᵀL of m counts, in one panel or two:
//
//   - M_jj, the share of feature j in the squared distance of two rows that differ by 1 in it alone, in per cent of the trace, the
//     largest first. Beyond MaxPlotted features the sum of the others has the last row.
//   - the loadings of the same features on the two leading axes, the unit eigenvectors of M with the largest eigenvalues, where
//     M is not 0. The entry of largest magnitude is positive.
//
// The points of the picture are the features that it names, and the shares those of the axes in the trace.
//
// It returns ErrKernel, wrapped, if the metric has no matrix, ErrZero if M is 0, and an error if M overflows or does not fit limits.Memory.
func (m *Model) PlotMetric() (Picture, error) {
	fail := func(err error) (Picture, error) {
		return Picture{}, fmt.Errorf("model: %s: %w", m.recipe.Learner, err)
	}
	var a *metric.Mahalanobis
	switch l := m.made().metric.(type) {
	case *metric.Mahalanobis:
		a = l
	case *metric.LowRank:
		var err error
		if a, err = l.Mahalanobis(); err != nil {
			return fail(err)
		}
	default:
		return fail(ErrKernel)
	}
	l := a.Factor()
	if l == nil {
		return fail(ErrZero)
	}
	r, d := l.Dims()
	weight := make([]float64, d)
	total := 0.0
	for i := range r {
		for j, v := range l.RawRowView(i) {
			weight[j] += v * v
		}
	}
	order := make([]int, d)
	for j, w := range weight {
		order[j] = j
		total += w
	}
	switch {
	case total == 0:
		return fail(ErrZero)
	case math.IsInf(total, 1):
		return fail(fmt.Errorf("the trace of M overflows: rescale the features"))
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(weight[j], weight[i]) })
	shown := order[:min(d, MaxPlotted)]
	names := make([]string, len(shown))
	taken := map[string]bool{}
	for i, j := range shown {
		names[i] = shortened(m.layout.Features[j])
		if !m.layout.Header {
			names[i] = "column " + names[i]
		}
		if taken[names[i]] { // shortened alike
			names[i] = fmt.Sprintf("%s (feature %d)", names[i], j+1)
		}
		taken[names[i]] = true
	}
	diagonal := plots.Intervals{Labels: slices.Clone(names), Possible: [2]float64{0, 100}}
	for _, j := range shown {
		diagonal.X = append(diagonal.X, 100*weight[j]/total)
	}
	if d > len(shown) {
		rest := 0.0
		for _, j := range order[len(shown):] {
			rest += weight[j]
		}
		diagonal.Labels = append(diagonal.Labels, fmt.Sprintf("%s, summed", plural.Of(d-len(shown), "other feature")))
		diagonal.X = append(diagonal.X, 100*rest/total)
	}
	k := min(2, r, d)
	values, vectors := a.Principal(k)
	axes := plots.Panel{
		Title:  "Leading axes of M",
		XLabel: "loading",
		Marks:  []plots.Mark{plots.Reference{At: 0, Vertical: true, Color: plots.Grey}},
	}
	p := Picture{Points: len(shown), Of: d}
	for i := range k {
		if !(values[i] > 0) {
			break
		}
		p.Shares = append(p.Shares, values[i]/total)
		v := plots.Intervals{Name: fmt.Sprintf("axis %d (%.3g %% of the trace)", i+1, 100*values[i]/total), Labels: names, Color: i, Shape: i}
		for _, j := range shown {
			v.X = append(v.X, vectors.At(i, j))
		}
		axes.Marks = append(axes.Marks, v)
	}
	features := "standardised features"
	if m.recipe.Raw {
		features = "features as they are, so that their units count"
	}
	p.Drawing = plots.Drawing{
		Caption: plots.Caption{Shows: fmt.Sprintf("The metric M that %s learned from %s with %s, in %s. On the left its diagonal, in per cent of the trace: the weight of a feature in squared distances. On the right what the same features contribute to its leading axes, the eigenvectors of M.",
			m.recipe.Learner, plural.Of(m.n, "row"), plural.Of(d, "feature"), features)},
		Panels: []plots.Panel{
			{Title: "Which features count", XLabel: "diagonal of M, % of the trace", Marks: []plots.Mark{diagonal}},
			axes,
		},
		Columns: 2,
	}
	return p, nil
}

// shortened cuts a long name.
func shortened(name string) string {
	const longest = 24 // characters
	if r := []rune(name); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return name
}
