package nb

import (
	"fmt"
	"slices"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"metriclab/pkg/plots"
)

// TestAskWithoutServer: nobody can press a button, so that Respond answers.
func TestAskWithoutServer(t *testing.T) {
	t.Setenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV, "")
	var log []string
	n := Ask(Interview{
		First: "B", Second: "C", Rounds: 2,
		Draw: func(round int) plots.Drawing {
			log = append(log, fmt.Sprint("draw ", round))
			return plots.Drawing{Panels: []plots.Panel{{Marks: []plots.Mark{plots.Points{X: []float64{1}, Y: []float64{2}}}}}}
		},
		Respond: func(round int) bool { return round == 1 },
		Learn:   func(round int, second bool) { log = append(log, fmt.Sprintf("%d%t", round, second)) },
	})
	if want := []string{"0false", "1true", "draw 2"}; n != 2 || !slices.Equal(log, want) {
		t.Errorf("%d answers with %q, want 2 with %q", n, log, want)
	}
}

func TestAskWithoutRounds(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Ask(Interview{})
}
