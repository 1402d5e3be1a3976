package erkle2015

import (
	"testing"

	"metriclab/pkg/experiment/experimenttest"
)

func TestPaper(t *testing.T) { experimenttest.Paper(t, Paper) }
