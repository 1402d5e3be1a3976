package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"metriclab/pkg/learners/catalog"
)

// pyWords are the parts of names of learners that are no acronyms.
var pyWords = map[string]string{
	"batch": "Batch", "invcov": "InvCov", "kernel": "Kernel", "labels": "Labels", "spectral": "Spectral", "trace": "Trace", "tuned": "Tuned",
}

// pyName is the class of a learner: kernel-pola is KernelPOLA.
func pyName(learner string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(learner, "-") {
		b.WriteString(cmp.Or(pyWords[part], strings.ToUpper(part)))
	}
	return b.String()
}

// pyParam is a parameter of a class: its type and default, as Python writes them.
type pyParam struct{ name, typ, value, doc string }

// pyShared are the parameters that a class has beside the learner's, in order.
var pyShared = map[string]pyParam{
	"n_constraints": {"n_constraints", "Optional[int]", "None", "pairs that are drawn from classes, half of them similar; None means 1000"},
	"random_state":  {"random_state", "Optional[int]", "None", "origin of these draws, from 0, which None means; --seed of metriclab is one more"},
	"passes":        {"passes", "Optional[int]", "None", "how often the feedback is seen; None means once"},
	"n_neighbors":   {"n_neighbors", "int", "3", ""},
	"standardise":   {"standardise", "bool", "True", ""},
	"impute":        {"impute", "bool", "False", ""},
	"preprocessor":  {"preprocessor", "Optional[ArrayLike]", "None", ""},
	"n_jobs":        {"n_jobs", "Optional[int]", "None", ""},
	"verbose":       {"verbose", "bool", "False", ""},
	"max_memory":    {"max_memory", "Optional[str]", "None", ""},
	"command":       {"command", "Optional[str]", "None", ""},
}

// pyOf returns the parameter p of the catalog.
func pyOf(p catalog.Param) pyParam {
	typ, quoted := map[catalog.Type]string{catalog.Number: "float", catalog.NumberOrWord: "float", catalog.Count: "int", catalog.CountOrWord: "int"}[p.Type], p.Default
	var words []string
	for _, w := range p.Words() {
		words = append(words, strconv.Quote(w))
	}
	if slices.Contains(p.Words(), p.Default) {
		quoted = strconv.Quote(p.Default)
	}
	switch literal := "Literal[" + strings.Join(words, ", ") + "]"; {
	case typ == "":
		typ = literal
	case len(words) > 0:
		typ = "Union[" + typ + ", " + literal + "]"
	}
	doc := p.Doc
	if p.Type != catalog.Choice {
		doc += "; " + p.Allowed
	}
	if p.Needs != "" {
		doc += "; only with " + p.Needs
	}
	return pyParam{strings.ReplaceAll(p.Name, "-", "_"), typ, quoted, doc}
}

// pyClass returns the class of the learner e.
func pyClass(e catalog.Entry) string {
	takes := func(f ...catalog.Feedback) bool { _, ok := e.For(f...); return ok }
	rows := []string{"n_neighbors", "standardise", "impute"}
	var base string
	var shared []string
	switch {
	case takes(catalog.Pairs, catalog.Links):
		base, shared = "_PairLearner", append(rows, "preprocessor")
		if !takes(catalog.Classes) {
			shared = append([]string{"n_constraints", "random_state"}, shared...)
		}
		if takes(catalog.Pairs) {
			shared = append([]string{"passes"}, shared...)
		}
	case takes(catalog.Classes):
		base, shared = "_ClassLearner", rows
	case takes(catalog.Data):
		base, shared = "_DataLearner", rows[1:]
	case takes(catalog.Triplets):
		base, shared = "_Comparisons", []string{"passes"}
	case takes(catalog.Comparisons):
		base = "_Comparisons"
	case takes(catalog.VectorTriplets):
		base = "_Similarity"
	case takes(catalog.Costs):
		base = "_Maps"
	case takes(catalog.Constraints):
		base = "_Constrained"
	}
	var own []pyParam
	for _, u := range append([]catalog.Use{e.Use}, e.Others...) {
		if u.Feedback == catalog.Constraints && e.Feedback != u.Feedback { // whose class learns from rows
			continue
		}
		for _, p := range u.Params {
			q := pyOf(p)
			i := slices.IndexFunc(own, func(o pyParam) bool { return o.name == q.name })
			switch {
			case i < 0 && u.Feedback != e.Feedback:
				q.doc += "; only with " + strings.TrimPrefix(string(u.Feedback), "data set and ")
				own = append(own, q)
			case i < 0:
				own = append(own, q)
			case own[i].value != q.value:
				own[i].doc += fmt.Sprintf("; the default is %s, with %s %s", own[i].value, strings.TrimPrefix(string(u.Feedback), "data set and "), q.value)
				own[i].typ, own[i].value = "Optional["+own[i].typ+"]", "None"
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n\nclass %s(%s):\n    \"\"\"%s.\n\n    Use it for: %s.\n    Source: %s.\n\n", pyName(e.Name), base, e.Doc, e.When, e.Source)
	all := slices.Clone(own)
	for _, name := range append(shared, "n_jobs", "verbose", "max_memory", "command") {
		all = append(all, pyShared[name])
	}
	var names []string
	for _, p := range own {
		names = append(names, strconv.Quote(p.name))
	}
	for _, p := range all {
		fmt.Fprintf(&b, "    %s : %s, default %s\n        %s\n", p.name, p.typ, p.value, p.doc)
	}
	fmt.Fprintf(&b, "    \"\"\"\n\n    _learner = %q\n    _own = (%s", e.Name, strings.Join(names, ", "))
	if len(names) == 1 {
		b.WriteString(",")
	}
	b.WriteString(")\n")
	if base == "_PairLearner" && e.Form.Kernel() {
		b.WriteString("    _table = True\n")
	}
	b.WriteString("\n    def __init__(\n        self,\n        *,\n")
	for _, p := range all {
		fmt.Fprintf(&b, "        %s: %s = %s,\n", p.name, p.typ, p.value)
	}
	b.WriteString("    ):\n")
	for _, p := range all {
		fmt.Fprintf(&b, "        self.%s = %s\n", p.name, p.name)
	}
	return b.String()
}

// TestCLIDocsPython keeps the classes of python/pymetriclab/learners.py those of the catalog.
func TestCLIDocsPython(t *testing.T) {
	var names, bases, classes []string
	for _, e := range catalog.All() {
		class := pyClass(e)
		names = append(names, fmt.Sprintf("%q", pyName(e.Name)))
		_, base, _ := strings.Cut(class, "(")
		base, _, _ = strings.Cut(base, ")")
		bases, classes = append(bases, base), append(classes, class)
	}
	slices.Sort(bases)
	slices.Sort(names)
	head := "\"\"\"A class for each learner. Generated from the catalog by go generate ./cmd/metriclab; do not edit.\"\"\"\n\nfrom __future__ import annotations\n\n" +
		"from typing import Literal, Optional, Union\n\nfrom numpy.typing import ArrayLike\n\nfrom ._estimators import " + strings.Join(slices.Compact(bases), ", ") +
		"\n\n__all__ = [" + strings.Join(names, ", ") + "]\n"
	compare(t, filepath.Join("..", "..", "python", "pymetriclab", "learners.py"), head+strings.Join(classes, ""))
}
