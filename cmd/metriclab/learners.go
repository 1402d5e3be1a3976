package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/model"
	"metriclab/pkg/papers"
)

// allEntries are the learners of the catalog, and the baseline of tables.
func allEntries() []catalog.Entry {
	all := catalog.All()
	for _, e := range model.Learners() {
		if !slices.ContainsFunc(all, func(o catalog.Entry) bool { return o.Name == e.Name }) {
			all = append(all, e)
		}
	}
	return all
}

func (a *app) learnersCommand() *cobra.Command {
	var words []string
	for _, e := range allEntries() {
		words = append(words, e.Name+"\t"+e.Doc)
	}
	return &cobra.Command{
		Use:     "learners [NAME ...]",
		Short:   "List the learners by feedback, or tell all about one: parameters, cost, source",
		Example: "  metriclab learners\n  metriclab learners itml",
		Long: `Without a name: the learners by what they learn from, a line each. With names: what each
learns from, with which commands it goes, its parameters with ranges and defaults, its cost
in time and memory, and its source.`,
		ValidArgsFunction: completeWords(words...),
		RunE: func(_ *cobra.Command, args []string) error {
			var chosen []catalog.Entry
			for _, name := range args {
				e, err := catalog.FindIn(allEntries(), name)
				if err != nil {
					return usageError{err}
				}
				chosen = append(chosen, e)
			}
			text := learnersByFeedback(allEntries())
			if len(chosen) > 0 {
				var parts []string
				for _, e := range chosen {
					parts = append(parts, aboutLearner(e))
				}
				text = strings.Join(parts, "\n")
			}
			_, err := fmt.Fprint(a.out, text)
			return err
		},
	}
}

// feedbacks are the kinds of feedback that some of the entries learn from, in the order of these.
func feedbacks(entries []catalog.Entry) (kinds []catalog.Feedback) {
	for _, e := range entries {
		if !slices.Contains(kinds, e.Feedback) {
			kinds = append(kinds, e.Feedback)
		}
	}
	return kinds
}

func ofFeedback(entries []catalog.Entry, f catalog.Feedback) []catalog.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e catalog.Entry) bool { return e.Feedback != f })
}

// learnersByFeedback lists learners, a line each.
func learnersByFeedback(entries []catalog.Entry) string {
	const names = 14
	var b strings.Builder
	for _, f := range feedbacks(entries) {
		fmt.Fprintf(&b, "%s:\n", f)
		for _, e := range ofFeedback(entries, f) {
			fmt.Fprintf(&b, "  %-*s %s\n", names, e.Name, wrapped(e.Doc, names+3))
		}
		b.WriteString("\n")
	}
	b.WriteString("metriclab learners NAME tells all about one.\n")
	return b.String()
}

// namesByFeedback lists the names of learners, a line per kind of feedback.
func namesByFeedback(entries []catalog.Entry) string {
	const kinds = 39
	var b strings.Builder
	for _, f := range feedbacks(entries) {
		fmt.Fprintf(&b, "  %-*s %s\n", kinds, f, namesOf(ofFeedback(entries, f)))
	}
	return b.String()
}

// aboutLearner tells all about a learner.
func aboutLearner(e catalog.Entry) string {
	const names = 13
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", wrapped(e.Name+": "+e.Doc, 0))
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-*s%s\n", names, name, wrapped(text, names+2))
		}
	}
	line("also called", strings.Join(e.Aliases, ", "))
	line("use it for", e.When)
	line("learns from", string(e.Feedback))
	line("goes with", strings.Join(commandsOf(e), "; "))
	line("source", e.Source)
	line("experiments", strings.Join(papers.UsedBy(e.Name), ", "))
	line("in Go", e.Constructor)
	describeParams(&b, "parameters, as --param name=value:", e.Params)
	for _, u := range e.Others {
		describeParams(&b, "parameters with "+inputsOf[u.Feedback]+":", u.Params)
	}
	b.WriteString(costOf(e))
	return b.String()
}

// describeParams tells of parameters, their defaults, ranges and meanings.
func describeParams(b *strings.Builder, title string, params []catalog.Param) {
	if len(params) == 0 {
		fmt.Fprintf(b, "  %s none\n", title)
		return
	}
	fmt.Fprintf(b, "  %s\n", title)
	for _, p := range params {
		only := ""
		if p.Needs != "" {
			only = "; only with " + p.Needs
		}
		fmt.Fprintf(b, "    %s=%s\n", p.Name, p.Default)
		fmt.Fprintf(b, "        %s\n", wrapped(p.Doc, 8))
		fmt.Fprintf(b, "        %s\n", wrapped(p.Allowed+only, 8))
	}
}

// inputsOf are the flags of a feedback for which a learner may have other parameters than for its first.
var inputsOf = map[catalog.Feedback]string{
	catalog.Links: "--vectors and --pairs", catalog.RowTriplets: "--vectors and --triplets", catalog.Constraints: "--gram and --constraints",
}

// commandsOf names the commands that take a learner, and what they read then.
func commandsOf(e catalog.Entry) (uses []string) {
	type use struct {
		words   string
		entries []catalog.Entry
	}
	var all []use
	for _, k := range slices.Backward(kinds) {
		words := "fit, evaluate and compare of " + k.bare.String()
		if slices.Contains(k.leads, "constraints") {
			words = "fit of " + k.bare.String()
		}
		all = append(all, use{words, k.bare.Learners()})
	}
	for _, u := range append(all, use{"learn", online(catalog.All())}) {
		if slices.ContainsFunc(u.entries, func(o catalog.Entry) bool { return o.Name == e.Name }) {
			uses = append(uses, u.words)
		}
	}
	return uses
}

// sizesShown are those for which the cost is told.
var sizesShown = []catalog.Size{
	{Rows: 200, Features: 10, Classes: 3, Pairs: 1000},
	{Rows: 2000, Features: 50, Classes: 10, Pairs: 1000},
	{Rows: 20000, Features: 200, Classes: 10, Pairs: 10000},
}

// orders tell the cost of learners without an estimate by what they learn from.
var orders = map[catalog.Feedback]string{
	catalog.Triplets:       "n objects: memory of the order of n², and as much time for a comparison that changes the kernel.",
	catalog.VectorTriplets: "d features: memory and time of the order of d²; of sparse vectors, time of the product of their numbers of entries.",
	catalog.Comparisons:    "n objects: memory of the order of n², time at most of the order of n³ for an iteration, in few coordinates of that of the comparisons.",
	catalog.Costs:          "a objects and b prototypes: memory of the order of a·b; a round takes as much time, and that of its sampler.",
	catalog.Constraints:    "n objects with constraints: memory of the order of n², time of the order of n³ for an iteration.",
}

// costOf tells the cost in time and memory.
func costOf(e catalog.Entry) string {
	var b strings.Builder
	if e.Feedback.Online() {
		memory := "grows with the stream"
		if e.Bounded {
			memory = "stays bounded over an endless stream"
		}
		fmt.Fprintf(&b, "  memory: %s\n", memory)
	}
	if e.Cost == nil {
		fmt.Fprintf(&b, "  cost: %s\n", wrapped(orders[e.Feedback], 8))
		return b.String()
	}
	v, err := e.Parse(nil)
	if err != nil {
		panic(err) // defaults are allowed
	}
	b.WriteString("  cost of a fit with the defaults, estimated within a factor of about 3, if iterating 10:\n")
	fmt.Fprintf(&b, "    %8s %9s %8s %8s   %-14s %s\n", "rows", "features", "classes", "pairs", "time", "memory beside the rows")
	for _, s := range sizesShown {
		c := e.Estimate(s, v)
		time := model.Roughly(c.Seconds)
		if c.Seconds < 1 {
			time = fmt.Sprintf("about %.1g s", c.Seconds)
		}
		fmt.Fprintf(&b, "    %8d %9d %8d %8d   %-14s %s\n", s.Rows, s.Features, s.Classes, s.Pairs, time, limits.Size(c.Bytes))
	}
	return b.String()
}
