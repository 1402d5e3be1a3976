package logdet2012

import (
	"testing"

	"metriclab/pkg/experiment/experimenttest"
)

func TestPaper(t *testing.T) { experimenttest.Paper(t, Paper) }
