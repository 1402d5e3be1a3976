package main

import (
	"fmt"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
)

// listed is one experiment in the JSON of list.
type listed struct {
	Experiment string       `json:"experiment"`
	Title      string       `json:"title"`
	Source     string       `json:"source"`
	Ours       bool         `json:"ours"`
	Scale      string       `json:"scale"`
	Cells      []listedCell `json:"cells"`
	Trials     int          `json:"trials"`
	Jobs       int          `json:"jobs"`
	Views      []listedView `json:"views"`
	Claims     int          `json:"claims"`
	OursClaims int          `json:"claims_of_ours"` // among them
	// ExpectedS is the expected time of all jobs on all cores at full scale.
	ExpectedS float64 `json:"expected_s,omitempty"`
}

type listedCell struct {
	Name    string            `json:"name"`
	Dataset string            `json:"dataset"`
	Params  map[string]string `json:"params"`
	Methods map[string]int    `json:"methods"`
}

type listedView struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

type listedPaper struct {
	Paper       string   `json:"paper"`
	Citation    string   `json:"citation"`
	Experiments []listed `json:"experiments"`
}

func (a *app) listCommand() *cobra.Command {
	var scaleName string
	var asJSON bool
	c := &cobra.Command{
		Use:               "list [PAPER | EXPERIMENT ...]",
		Short:             "List papers, experiments, views, cells, jobs and expected times",
		ValidArgsFunction: a.completeExperiments,
		RunE: func(_ *cobra.Command, args []string) error {
			scale, err := experiment.ParseScale(scaleName)
			if err != nil {
				return usageError{fmt.Errorf("flag --scale: %w", err)}
			}
			sel, err := harness.Select(a.papers, args)
			if err != nil {
				return err
			}
			list := a.list(scale, sel)
			if asJSON {
				return a.printJSON(list)
			}
			return a.printList(list)
		},
	}
	c.Flags().StringVar(&scaleName, "scale", string(experiment.Smoke), "smoke or full")
	completeFlag(c, "scale", completeScales)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) list(scale experiment.Scale, sel []harness.Selected) []listedPaper {
	var out []listedPaper
	for _, p := range a.papers {
		lp := listedPaper{Paper: p.Key, Citation: p.Citation, Experiments: []listed{}}
		chosen := false
		for _, s := range p.Experiments {
			if !slices.ContainsFunc(sel, func(o harness.Selected) bool { return o.Spec.ID == s.ID }) {
				continue
			}
			chosen = true
			l := listed{
				Experiment: s.ID, Title: s.Title, Source: s.Source, Ours: s.Ours, Scale: string(scale),
				Trials: s.Trials(scale), Claims: len(s.Claims), Views: []listedView{},
			}
			for _, c := range s.Claims {
				if c.Ours {
					l.OursClaims++
				}
			}
			for _, cell := range s.Cells(scale) {
				l.Cells = append(l.Cells, listedCell{cell.Name, cell.Dataset, cell.Params(), cell.Methods})
			}
			for _, cell := range s.Cells(scale) {
				if !cell.Supplied {
					l.Jobs += l.Trials
				}
			}
			for _, v := range s.Views {
				l.Views = append(l.Views, listedView{v.Name, v.Title})
			}
			if scale == experiment.Full {
				workers := a.world.Build.GOMAXPROCS
				if s.Timing {
					workers = 1
				}
				l.ExpectedS = (s.Cost * time.Duration(l.Jobs) / time.Duration(workers)).Seconds()
			}
			lp.Experiments = append(lp.Experiments, l)
		}
		if chosen || len(p.Experiments) == 0 && len(sel) == 0 {
			out = append(out, lp)
		}
	}
	return out
}

func (a *app) printList(list []listedPaper) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for i, p := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n", p.Paper, p.Citation)
		for j, s := range p.Experiments {
			if s.Ours && (j == 0 || !p.Experiments[j-1].Ours) {
				fmt.Fprintln(w, "  questions of ours:")
			}
			expected, own := "", ""
			if s.OursClaims > 0 && !s.Ours {
				own = fmt.Sprintf(" (%d of ours)", s.OursClaims)
			}
			if s.ExpectedS > 0 {
				expected = ", " + about(time.Duration(s.ExpectedS*float64(time.Second)))
			}
			fmt.Fprintf(w, "  %s: %s (%s)\n", s.Experiment, s.Title, s.Source)
			fmt.Fprintf(w, "    %s x %s = %s, %s%s\n", plural.Of(len(s.Cells), "cell"), plural.Of(s.Trials, "trial"), plural.Of(s.Jobs, "job"), plural.Of(s.Claims, "claim")+own, expected)
			for _, v := range s.Views {
				fmt.Fprintf(w, "    view %s\t%s\n", v.Name, v.Title)
			}
		}
	}
	return w.Flush()
}
