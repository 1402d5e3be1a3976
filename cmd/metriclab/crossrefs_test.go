package main

import (
	"strings"
	"testing"

	"metriclab/pkg/experiment"
	"metriclab/pkg/papers/pola2004"
)

// TestCrossReferences: a claim tells its notebook's section and the learners of its experiment, a learner its experiments.
func TestCrossReferences(t *testing.T) {
	c := newCommand(pola2004.Paper)
	notebook, learners := c.app.crossReferences("pola2004/fig3", "fig3-fda")
	if !strings.HasPrefix(notebook, "notebooks/01_pola2004.ipynb, Fig. 3") || !strings.Contains(learners, "pola") || !strings.Contains(learners, "fda") {
		t.Errorf("got %q, %q", notebook, learners)
	}
	if notebook, learners := c.app.crossReferences("pola2004/fig3", "none"); notebook != "" || learners == "" {
		t.Errorf("a claim that is not there has the section %q, its experiment the learners %q", notebook, learners)
	}
	if c.run("learners", "lego") != exitOK || !strings.Contains(c.out.String(), "logdet2012/fig1a") {
		t.Errorf("the experiments of lego are not told:\n%s", c.out.String())
	}
}

// Of claims that may have been meant, those of exactly that name come first.
func TestExactClaimsFirst(t *testing.T) {
	all := toys(nil)
	lines := all.Experiments[0].Claims
	if len(lines) == 0 {
		t.Fatal("the first toy has no claim")
	}
	near, exact := lines[0], lines[0]
	near.ID, exact.ID = "similar-x", "similar"
	all.Experiments[0].Claims = append(lines, near)
	for _, id := range []string{"toy/more", "toy/yet"} {
		e := all.Experiments[0]
		e.ID, e.Claims = id, []experiment.Claim{exact}
		all.Experiments = append(all.Experiments, e)
	}
	c := newCommand(all)
	if code := c.run("explain", "similar"); code != exitUsage || !strings.Contains(c.err.String(), "did you mean toy/more similar or toy/yet similar or toy/lines similar-x") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
}
