package digits

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/learners/classify"
	"metriclab/pkg/papers/rmp2007/protocol"
	"metriclab/pkg/table"
)

// The reading with the fixed ridge takes its own column.
func TestFig2FixedRidge(t *testing.T) {
	tb := experimenttest.Table(Fig2)
	tb.Add(table.Key{"cell": "1-8", "method": fig2All, "images": "5"}, table.Values{"wrong": 1, wrongFixed: 3, "tested": 10})
	all := fig2Main[3]
	if a, b := all.errors(protocol.Curves[0])(tb), all.withFixed().errors(protocol.Curves[0])(tb); a[0] != .1 || b[0] != .3 {
		t.Errorf("errors %v and %v, want 0.1 and 0.3", a, b)
	}
}

func TestFig2Readings(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range fig2Readings() {
		if p.rmp.method != fig2RMP || p.rfe.method != fig2RFE || seen[p.name] {
			t.Errorf("reading %q: %s against %s", p.name, p.rmp.method, p.rfe.method)
		}
		seen[p.name] = true
	}
	if want := len(protocol.MapVariants) + len(rfeStrengths); len(seen) != want { // the main pair once more with the other ridge
		t.Errorf("%d readings, want %d", len(seen), want)
	}
}

// The errors that are recorded are those of the pixels that are given: the label is the first pixel.
func TestJudgeUsesTheGivenPixels(t *testing.T) {
	made := func(n int) (*mat.Dense, []classify.Label) {
		x, y := mat.NewDense(n, 2, nil), make([]classify.Label, n)
		for i := range n {
			y[i] = classify.Negative
			if i%2 == 0 {
				x.Set(i, 0, 1)
				y[i] = classify.Positive
			}
			x.Set(i, 1, float64(i/2%2)) // of no use
		}
		return x, y
	}
	s := &digitStream{rows: fig2Columns.Table(), ridge: fixedStrength}
	s.x, s.y = made(16)
	s.tested, s.truth = made(8)
	for _, f := range []int{0, 1} {
		if err := s.score(t.Context(), table.Key{"method": "made"}, 12, []int{f}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, column := range []string{"wrong", wrongFixed} {
		if got, want := s.rows.Values(column), []float64{0, 4}; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", column, got, want)
		}
	}
	if got, want := s.rows.Index("images"), []string{"12", "12"}; !slices.Equal(got, want) {
		t.Errorf("images: %v, want %v", got, want)
	}
}
