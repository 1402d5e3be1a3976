package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
	"metriclab/pkg/papers"
)

func (a *app) explainCommand() *cobra.Command {
	f := flags{scale: string(experiment.Full)}
	var asJSON bool
	var verdicts []string
	c := &cobra.Command{
		Use:     "explain [paper | experiment [claim] | claim]",
		Aliases: []string{"claims"},
		Short:   "Tell what was found of the claims, and why",
		Long: `Tell what was found of the claims of a paper, on the published results of the full
scale. Without a name: tables of verdicts by paper. Of a paper or an experiment: a
table of its claims, those of the paper before ours. Of a claim: what the paper says
and where, what is tested, the verdict, where the test stands, and how to run it
again. Each unit has its 95 % interval, the side on which it lies, and what would
decide it. The numbers of units are what is tested to be positive: differences less
the margin, if there is one.

A claim may be given as paper/experiment/claim, too. --verdict keeps the claims with
that verdict. --json prints the claims of all papers, or those that are named, in one
document with a checksum; docs/claims.schema.json has its fields.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return usageError{fmt.Errorf("explain takes a paper, or an experiment and a claim, got %q", args)}
			}
			return checkVerdicts(verdicts)
		},
		ValidArgsFunction: a.completeExplained,
		RunE: func(c *cobra.Command, args []string) error {
			args, err := a.withExperiment(args)
			if err != nil {
				return err
			}
			sel, cfg, err := a.selected(&f, args[:min(len(args), 1)])
			if err != nil {
				return err
			}
			all, err := harness.Explain(c.Context(), sel, cfg)
			if err != nil {
				return err
			}
			if len(args) == 2 {
				claim, err := all[0].FindClaim(args[1])
				if err != nil {
					return err
				}
				all[0].Claims = []harness.ExplainedClaim{claim}
			}
			if len(verdicts) > 0 {
				all = withVerdicts(all, verdicts)
			}
			var text bytes.Buffer
			switch out := (printer{&text}); {
			case asJSON:
				data, err := harness.ClaimsDocument(all)
				if err != nil {
					return err
				}
				text.Write(data)
			case len(args) == 0 && len(verdicts) == 0:
				for _, table := range harness.Tables {
					if t := harness.TallyOf(all, table); len(t.Verdicts) > 0 {
						out.tally(t)
					}
				}
			case len(all) == 0:
				of := ""
				if len(args) > 0 {
					of = " of " + strings.Join(args, " ")
				}
				fmt.Fprintf(out, "no claim%s is %s\n", of, strings.Join(verdicts, " or "))
			case len(args) < 2:
				out.claims(all)
			default:
				out.claim(a, all[0], all[0].Claims[0])
			}
			_, err = a.out.Write(text.Bytes())
			return err
		},
	}
	c.Flags().StringVar(&f.results, "results", "", "folder of results instead of results/")
	completeFolder(c, "results")
	addData(c, &f.data)
	c.Flags().StringArrayVar(&verdicts, "verdict", nil, "only claims with this verdict, such as \"not reproduced\"; may be repeated")
	completeFlag(c, "verdict", completeWords(verdictNames()...))
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func verdictNames() (names []string) {
	for _, v := range judge.Verdicts {
		names = append(names, string(v))
	}
	return names
}

// checkVerdicts refuses what is no verdict.
func checkVerdicts(verdicts []string) error {
	for _, v := range verdicts {
		if !slices.Contains(verdictNames(), v) {
			return usageError{fmt.Errorf("flag --verdict: %q is not allowed, want one of %s", v, strings.Join(verdictNames(), ", "))}
		}
	}
	return nil
}

// withVerdicts are the experiments that have claims with one of the verdicts, with these alone.
func withVerdicts(all []harness.Explained, verdicts []string) []harness.Explained {
	for i := range all {
		all[i].Claims = slices.DeleteFunc(all[i].Claims, func(c harness.ExplainedClaim) bool {
			return !slices.Contains(verdicts, string(c.Finding.Verdict))
		})
	}
	return slices.DeleteFunc(all, func(e harness.Explained) bool { return len(e.Claims) == 0 })
}

// withExperiment puts the experiment before a claim that is named alone, after its paper, or in
// one word with them, if it is the only one of that name there. Of a name that is nothing else it says which claims
// are near.
func (a *app) withExperiment(args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	sel, err := harness.Select(a.papers, args[:1])
	var unknown *harness.UnknownError
	if err != nil && !errors.As(err, &unknown) || err == nil && (len(args) == 1 || len(sel) == 1) || len(args) == 2 && err != nil {
		return args, err
	}
	if at := strings.LastIndexByte(args[0], '/'); len(args) == 1 && at > 0 { // paper/claim or paper/experiment/claim
		both, err := a.withExperiment([]string{args[0][:at], args[0][at+1:]})
		if err == nil || strings.Contains(args[0][:at], "/") {
			return both, err
		}
	}
	if len(args) == 1 {
		sel, _ = harness.Select(a.papers, nil) // no name cannot be unknown
	}
	claim := args[len(args)-1]
	var found []string
	type candidate struct {
		name string
		d    int
	}
	var near []candidate
	for _, s := range sel {
		for _, c := range s.Spec.Claims {
			if c.ID == claim {
				found = append(found, s.Spec.ID)
			}
			if d := closest.Distance(c.ID, claim[strings.LastIndexByte(claim, '/')+1:]); d <= 2 {
				near = append(near, candidate{s.Spec.ID + " " + c.ID, d})
			}
		}
	}
	if len(found) == 1 {
		return []string{found[0], claim}, nil
	}
	if unknown == nil {
		unknown = &harness.UnknownError{Kind: "claim of " + args[0], Name: claim}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.d, b.d) }) // exact matches first
	var names []string
	for _, c := range near {
		names = append(names, c.name)
	}
	unknown.Nearest = append(names, unknown.Nearest...)
	return args, unknown
}

// completeExplained completes by papers and experiments, then by the claims of the
// experiment.
func (a *app) completeExplained(c *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeExperiments(c, args, start)
	}
	var words []string
	if sel, err := harness.Select(a.papers, args[:1]); err == nil && len(args) == 1 {
		for _, s := range sel {
			for _, claim := range s.Spec.Claims {
				words = append(words, claim.ID+"\t"+claim.Statement)
			}
		}
	}
	return completeWords(words...)(c, nil, start)
}

// printer prints what is explained.
type printer struct{ *bytes.Buffer }

// tally prints how many claims of each paper have which verdict.
func (o printer) tally(t harness.Tally) {
	if o.Len() > 0 {
		fmt.Fprintln(o)
	}
	fmt.Fprintf(o, "%s:\n", t.Table.Title())
	w := tabwriter.NewWriter(o, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "paper\tclaims")
	for _, v := range t.Verdicts {
		fmt.Fprintf(w, "\t%s", v)
	}
	fmt.Fprintln(w)
	for _, p := range t.Papers {
		fmt.Fprintf(w, "%s\t%d", p, t.Claims(p))
		for _, v := range t.Verdicts {
			fmt.Fprintf(w, "\t%d", t.Count[p][v])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a buffer does not fail
}

// claims prints a table of claims by experiment.
func (o printer) claims(all []harness.Explained) {
	w := tabwriter.NewWriter(o, 0, 0, 2, ' ', 0)
	for _, e := range all {
		whose := ""
		if e.Ours {
			whose = " (" + ofOurs + ")"
		}
		fmt.Fprintf(w, "%s: %s%s\n", e.Experiment, e.Title, whose)
		if e.Stale() {
			fmt.Fprintln(w, "  These results are of an earlier version of the code; a run is due.")
		}
		if e.Problem != "" {
			fmt.Fprintf(w, "  %s\n", e.Problem)
		}
		if len(e.Claims) == 0 {
			fmt.Fprintln(w, "  no claims")
		}
		for i, c := range e.Claims {
			if c.Ours && !e.Ours && (i == 0 || !e.Claims[i-1].Ours) {
				fmt.Fprintln(w, "  questions of ours:")
			}
			verdict := string(c.Finding.Verdict)
			if robust := c.Robustness.String(); robust != "" {
				verdict += "; " + robust
			}
			if c.Sentence != "" {
				verdict += "; a reading of " + c.Sentence
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\n", c.ID, verdict, c.Statement)
		}
	}
	_ = w.Flush() // a buffer does not fail
}

// ofOurs marks what the paper does not ask.
const ofOurs = "a question of ours"

// textWidth is the width of a line of text.
const textWidth = 100

// claim prints all that is known of a claim.
func (o printer) claim(a *app, e harness.Explained, c harness.ExplainedClaim) {
	fmt.Fprintf(o, "%s %s: %s\n\n", e.Experiment, c.ID, c.Finding.Verdict)
	if e.Stale() {
		fmt.Fprintf(o, "These results are of an earlier version of the code; a run is due.\n\n")
	}
	whose := ""
	if c.Ours {
		whose = ofOurs
	}
	o.lines(2, [][2]string{{"statement", c.Statement}, {"whose", whose}, {"reading of", c.Sentence}, {"robust", c.Robustness.String()}, {"where", c.Where}, {"added", afterwards(c.Afterwards)}, {"paper", c.Theirs}, {"tested", c.Predicate}, {"in the test", c.Finding.Predicate()}})
	o.why(2, c.Finding)
	for _, v := range c.Seeds {
		o.lines(2, [][2]string{{fmt.Sprintf("with seed %d", v.Seed), string(v.Verdict)}})
	}
	notebook, learners := a.crossReferences(e.Experiment, c.ID)
	o.lines(2, [][2]string{{"figure", c.Figure}, {"notebook", notebook}, {"learners", learners}, {"source", c.Source}, {"run again", e.Command}})
	if len(c.Finding.Units) > 0 {
		fmt.Fprintln(o)
	}
	o.units(2, c.Finding)
	o.readings("", c.Finding)
}

// crossReferences names the section of a notebook on a claim, and the learners that its experiment runs.
func (a *app) crossReferences(id, claim string) (notebook, learners string) {
	for _, p := range a.papers {
		for _, s := range p.Experiments {
			if s.ID != id {
				continue
			}
			learners = strings.Join(papers.LearnersOf(s), ", ")
			for _, c := range s.Claims {
				if section, ok := papers.SectionOf(s, c); ok && c.ID == claim {
					notebook = section.String()
				}
			}
		}
	}
	return notebook, learners
}

// afterwards says what was known when a claim or a reading was added, "" if nothing was.
func afterwards(known string) string {
	if known == "" {
		return ""
	}
	return "afterwards, knowing " + known
}

// lines prints names with their texts, but for empty ones.
func (o printer) lines(indent int, lines [][2]string) {
	const names = 14
	for _, l := range lines {
		if l[1] != "" {
			fmt.Fprintf(o, "%*s%-*s%s\n", indent, "", names, l[0], wrapped(l[1], indent+names))
		}
	}
}

// why prints our value and why the verdict is what it is; of a finding with parts how
// many of them have which verdict.
func (o printer) why(indent int, f judge.Finding) {
	ours, why, need := f.Ours, f.Reason, f.Need
	if f.Test == judge.KindBoth {
		ours, need = "", ""
		count := map[judge.Verdict]int{}
		for _, r := range f.Readings {
			count[r.Finding.Verdict]++
		}
		var parts []string
		for _, v := range judge.Verdicts {
			if count[v] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
			}
		}
		why = fmt.Sprintf("Of %d parts, of which all must hold: %s. %s", len(f.Readings), strings.Join(parts, ", "), f.Note)
	}
	if f.Verdict != judge.Undecided || strings.Contains(why, need) {
		need = ""
	}
	o.lines(indent, [][2]string{{"ours", ours}, {"would be", string(f.Would)}, {"why", why}, {"would decide", need}})
}

// readings prints the findings of the readings one after another.
func (o printer) readings(of string, f judge.Finding) {
	for _, r := range f.Readings {
		name := r.Name
		if of != "" {
			name = of + ", " + name
		}
		fmt.Fprintf(o, "\n  %s: %s\n", name, r.Finding.Verdict)
		o.lines(4, [][2]string{{"headline", headlineOf(f, r)}, {"added", afterwards(r.Afterwards)}})
		o.why(4, r.Finding)
		o.units(4, r.Finding)
		o.readings(name, r.Finding)
	}
}

// headlineOf says why a reading gives the verdict of all, "" if it does not.
func headlineOf(f judge.Finding, r judge.ReadingFinding) string {
	if len(f.Readings) < 2 {
		return ""
	}
	return r.Headline
}

// wrapped breaks a text into lines, indented but for the first.
func wrapped(text string, indent int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case i == 0:
		case column+1+n > textWidth && word != "%": // which stays with its number
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// units prints the units of a finding by their sides.
func (o printer) units(indent int, f judge.Finding) {
	width := 0
	for _, u := range f.Units {
		width = max(width, len([]rune(u.Name)))
	}
	for _, side := range []string{string(judge.Against), string(judge.Open), string(judge.For), excepted} {
		group := slices.DeleteFunc(slices.Clone(f.Units), func(u judge.UnitFinding) bool { return sideOf(u) != side })
		if len(group) == 0 {
			continue
		}
		slices.SortStableFunc(group, func(x, y judge.UnitFinding) int { return cmp.Compare(x.Mean, y.Mean) })
		fmt.Fprintf(o, "%*s%s: %s\n", indent, "", side, plural.Of(len(group), "unit"))
		for _, u := range group {
			half := ""
			if !math.IsNaN(u.Half) {
				half = fmt.Sprintf(" ± %.2g", u.Half)
			}
			value := strings.TrimSpace(fmt.Sprintf("%.3g%s %s", u.Mean, half, f.Unit))
			fmt.Fprintf(o, "%*s%-*s  %s, %s\n", indent+2, "", width, u.Name, value, plural.Of(u.N, f.Sample))
		}
	}
}

// excepted is the side of the units that a statement excepts.
const excepted = "excepted"

func sideOf(u judge.UnitFinding) string {
	if u.Excepted {
		return excepted
	}
	return string(u.Side)
}
