package costs

import (
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/erkle2015/learning"
	"metriclab/pkg/papers/erkle2015/protocol"
)

// The numbers of the claims are those of the paper at equal numbers of triplets per object, and the data set is a quarter of its.
func TestFig2LargerIsAQuarter(t *testing.T) {
	c := learning.Fig2Larger.Cells(experiment.Full)[0].Settings.(learning.ErrorsOnline).Counts
	if 4*c.Objects != largeObjects || 4*c.Train != 10000 || 4*learning.LargerCrossing != 2500 || 4*learning.LargerAround != 1000 || protocol.ErrorsMinibatch(protocol.Split{Train: make([]metric.Triplet, c.Train)}) != 125 {
		t.Errorf("%+v, crossing at %d within %d", c, learning.LargerCrossing, learning.LargerAround)
	}
}
