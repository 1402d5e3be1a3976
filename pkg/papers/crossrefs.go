package papers

import (
	_ "embed"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/catalog"
)

// Section is a place in a notebook.
type Section struct{ Notebook, Heading string }

// String returns "notebooks/01_pola2004.ipynb, Fig. 2: noisy digits".
func (s Section) String() string { return "notebooks/" + s.Notebook + ", " + s.Heading }

// sectionsTable has a line per view that a notebook shows: experiment, view, notebook and heading, separated by tabs. A line
// without a view is of the whole experiment, one with a paper's key in place of the experiment of all its claims. It is
// made of the notebooks by go generate ./pkg/papers.
//
//go:embed sections.tsv
var sectionsTable string

//go:generate go test -run TestSections -update .

// sections are those of the table by experiment and view.
var sections = func() map[[2]string]Section {
	m := map[[2]string]Section{}
	for line := range strings.Lines(sectionsTable) {
		if f := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(f) == 4 {
			m[[2]string{f[0], f[1]}] = Section{f[2], f[3]}
		}
	}
	return m
}()

// SectionOf returns the section of a notebook that shows a claim of the experiment: its view, or another view of the
// experiment, or the table of all claims. ok is false for an experiment of no paper here.
func SectionOf(s experiment.Spec, c experiment.Claim) (section Section, ok bool) {
	view := c.View
	if view == "" && len(s.Views) > 0 {
		view = s.Views[0].Name
	}
	paper, _, _ := strings.Cut(s.ID, "/")
	for _, key := range [][2]string{{s.ID, view}, {s.ID, ""}, {paper, ""}} {
		if section, ok = sections[key]; ok {
			return section, true
		}
	}
	return Section{}, false
}

// learnersOf are the learners of the catalog behind those methods of cells that are not named like their learner, but for
// the case of letters. A method with none is no learner of the catalog: a classifier, a clustering, a rival of its own, or
// part of a protocol.
var learnersOf = map[string][]string{
	"LogDet": {"itml"}, "KernelLogDet": {"kernel-itml"}, "KernelPOLA": {"kernel-pola"}, "kernel POLA, Gaussian": {"kernel-pola"}, "kernel POLA": {"kernel-pola"}, "batch POLA": {"pola-batch"},
	"batch": {"gnmds", "ste", "ckl"}, "batch, factored": {"gnmds", "ste", "ckl"}, "large batch": {"gnmds", "ste", "ckl"}, "large ERKLE": {"erkle"},
	"coordinates": nil,
	"1-NN":        nil,
	"EM":          nil,
	"HMRF":        nil,
	"KernelSVM":   nil, "HMRFFarthest": nil, "KMeans": nil, "MetricKMeans": nil, "PAUM": nil, "Perceptron": nil, "RFE": nil, "SVM": nil,
	"basis": nil, "best match": nil, "denoise": nil, "k-means": nil, "k-medoids": nil, "kNN": nil, "kernelized": nil, "local features": nil,
	"pyramid": nil, "released": nil, "respondent": nil, "ridge": nil, "selector": nil, "text": nil, "tracker": nil,
}

// learnersOfMethod returns the learners of the catalog behind a method. ok is false if it is neither one nor known to be none.
func learnersOfMethod(method string) (names []string, ok bool) {
	if names, ok = learnersOf[method]; ok {
		return names, true
	}
	if e, err := catalog.Find(strings.ToLower(method)); err == nil {
		return []string{e.Name}, true
	}
	return nil, false
}

// LearnersOf returns the learners of the catalog that an experiment runs, in the catalog's order.
func LearnersOf(s experiment.Spec) (names []string) {
	used := map[string]bool{}
	for _, scale := range []experiment.Scale{experiment.Smoke, experiment.Full} {
		for _, cell := range s.Cells(scale) {
			for method := range cell.Methods {
				of, _ := learnersOfMethod(method)
				for _, name := range of {
					used[name] = true
				}
			}
		}
	}
	for _, e := range catalog.All() {
		if used[e.Name] {
			names = append(names, e.Name)
		}
	}
	return names
}

// UsedBy returns the experiments that run a learner of the catalog, in the order of All.
func UsedBy(learner string) (ids []string) {
	for _, p := range All {
		for _, s := range p.Experiments {
			if slices.Contains(LearnersOf(s), learner) {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids
}
