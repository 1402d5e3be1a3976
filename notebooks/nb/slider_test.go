package nb

import (
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"metriclab/pkg/plots"
)

// TestSliderWithoutServer: nobody can move it, so that it must not wait.
func TestSliderWithoutServer(t *testing.T) {
	t.Setenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV, "")
	var drawn []int
	at := Slider(-3, 5, 2, func(position int) plots.Drawing {
		drawn = append(drawn, position)
		return plots.Drawing{Panels: []plots.Panel{{Marks: []plots.Mark{plots.Points{X: []float64{1}, Y: []float64{2}}}}}}
	})
	if at != 2 || len(drawn) != 1 || drawn[0] != 2 {
		t.Errorf("returned %d and drew %v, want 2 and 2 alone", at, drawn)
	}
}

func TestSliderPanics(t *testing.T) {
	t.Setenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV, "")
	table := plots.Drawing{Text: &plots.TextTable{Head: []string{"a"}}}
	for name, start := range map[string]int{"a start below": -4, "a start above": 6, "no panels": 0} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Slider(-3, 5, start, func(int) plots.Drawing { return table })
		}()
	}
}
