package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/pkg/datasets"
	"metriclab/pkg/feedback"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
	"metriclab/pkg/vectors"
)

// printNotes writes warnings.
func printNotes(b *strings.Builder, notes []string) {
	for _, n := range notes {
		fmt.Fprintf(b, "Note: %s.\n", n)
	}
}

// printStatus says why a learner stopped early, if it did.
func printStatus(b *strings.Builder, s learners.Status) {
	switch s {
	case learners.NotRun, learners.Closed, learners.Converged:
	default:
		fmt.Fprintf(b, "the learner stopped early: %s\n", s)
	}
}

// few lists names, the first ten if there are many.
func few(names []string) string {
	const shown = 10
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

func countClasses(n int) string {
	if n == 1 {
		return "1 class"
	}
	return fmt.Sprintf("%d classes", n)
}

// classCounts lists classes with their numbers of rows, the first ten.
func classCounts(classes []string, counts []int) string {
	const shown = 10
	var parts []string
	for i, c := range classes {
		if i == shown && len(classes) > shown+1 {
			parts = append(parts, fmt.Sprintf("%d more", len(classes)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d)", oneLine(c), counts[i]))
	}
	return strings.Join(parts, ", ")
}

// oneLine shortens a long name, and keeps one that has line feeds on its line.
func oneLine(name string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable.Short(name))
}

// describe says in a line what is learned, and how.
func (k kind) describe(r model.Recipe) string {
	s := r.Learner
	for _, e := range k.bare.Learners() {
		for _, p := range e.Params { // in the order of the catalog
			if v, ok := r.Params[p.Name]; ok && e.Name == r.Learner {
				s += " " + p.Name + "=" + v
			}
		}
	}
	drawn := r.Pairs > 0
	switch {
	case r.Given != "":
		s += fmt.Sprintf("; %s given", plural.Of(r.Pairs, "pair"))
		drawn = r.Given == model.GivenChunklets && !model.Connects(r.Learner)
	case drawn:
		s += fmt.Sprintf("; %s drawn, half of them similar", plural.Of(r.Pairs, "pair"))
	}
	and := "; "
	if r.Pairs > 0 {
		and = ", "
	}
	if r.Passes > 0 {
		s += and + passes(r.Passes)
	}
	if drawn {
		s += fmt.Sprintf("%sseed %d", and, r.Seed)
	}
	if r.Unit {
		s += "; vectors of length 1"
	}
	if r.Rank > 0 {
		s += fmt.Sprintf("; rank %d", r.Rank)
	}
	scaling := k.scaled
	if r.Raw {
		scaling = k.raw
	}
	if scaling != "" {
		s += "; " + scaling
	}
	return s
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}

// dimensions counts those in which a metric embeds.
func dimensions(n int) string {
	if n == 0 {
		return "0 dimensions: all distances are 0"
	}
	return plural.Of(n, "dimension")
}

// namesOf lists learners.
func namesOf(entries []catalog.Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return strings.Join(names, ", ")
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func average(counts []int) float64 {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / float64(len(counts))
}

// interval writes a share and its interval in per cent.
func interval(s judge.Summary) string {
	if !s.HasInterval {
		return fmt.Sprintf("%.2f", 100*s.Mean)
	}
	return fmt.Sprintf("%.2f ± %.2f", 100*s.Mean, 100*s.Half)
}

// taken lists what splits chose, and how many each.
func taken(chosen []float64) string {
	count := map[float64]int{}
	for _, k := range chosen {
		count[k]++
	}
	var parts []string
	for _, k := range slices.Compact(slices.Sorted(slices.Values(chosen))) {
		if len(count) == 1 {
			return number(k)
		}
		parts = append(parts, fmt.Sprintf("%g (%dx)", k, count[k]))
	}
	return strings.Join(parts, ", ")
}

// describeKs says which numbers of neighbours there were.
func describeKs(ks []int) string {
	if len(ks) == 1 {
		return fmt.Sprintf("k = %d", ks[0])
	}
	words := make([]string, len(ks))
	for i, k := range ks {
		words[i] = strconv.Itoa(k)
	}
	return fmt.Sprintf("k from %s, in each split the best on its training rows with one left out", strings.Join(words, ", "))
}

// occur says that some objects occur.
func occur(n int) string {
	if n == 1 {
		return "1 object occurs"
	}
	return fmt.Sprintf("%d objects occur", n)
}

// aboutFile says what a file of vectors is.
func aboutFile(f *vectors.File) string {
	kind := "float64"
	if f.Float32() {
		kind = "float32"
	}
	return fmt.Sprintf("%s: %s of %s, %s", filepath.Base(f.Name()), plural.Of(f.Rows(), "vector"), plural.Of(f.Dim(), "number"), kind)
}

// describeTriplets says what a file of comparisons holds, objects those that occur.
func describeTriplets(set *feedback.Triplets, objects int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s\n", filepath.Base(set.Name), plural.Of(len(set.List), "comparison"), plural.Of(objects, "object"))
	if set.Degenerate > 0 {
		fmt.Fprintf(&b, "dropped, since their objects are not distinct: %s\n", plural.Of(set.Degenerate, "comparison"))
	}
	if set.Ties > 0 {
		fmt.Fprintf(&b, "dropped, since as many votes are for as against: %s\n", plural.Of(set.Ties, "comparison"))
	}
	if missing := set.Objects - objects; missing > 0 {
		fmt.Fprintf(&b, "left out: %s in no comparison\n", occur(missing))
	}
	a := set.Agreement()
	fmt.Fprintf(&b, "%s, %d of them answered both ways", plural.Of(a.Questions, "question"), a.Contradicted)
	if a.Outvoted > 0 {
		fmt.Fprintf(&b, ": any distances contradict at least %.2f %% of the comparisons", 100*float64(a.Outvoted)/float64(len(set.List)))
	}
	b.WriteString("\n")
	return b.String()
}

// describeRows says what a table is.
func describeRows(d *tables.Data) string {
	n, width := d.Dims()
	s := fmt.Sprintf("%s: %s, %s", d.Name, plural.Of(n, "row"), plural.Of(width, "feature"))
	if d.Labels != nil {
		s += ", " + describeClasses(d.Labels)
	}
	return s + "\n"
}

// describeClasses lists classes with their numbers.
func describeClasses(labels []string) string {
	classes, of := datasets.Classes(labels)
	counts := make([]int, len(classes))
	for _, c := range of {
		counts[c]++
	}
	return fmt.Sprintf("%s: %s", countClasses(len(classes)), classCounts(classes, counts))
}

func countSimilar(links []metric.Link) (n int) {
	for _, l := range links {
		if l.Label == metric.Similar {
			n++
		}
	}
	return n
}

// describeChunklets says what a column of chunklets holds.
func describeChunklets(d *tables.Data, column string) string {
	chunklets := map[string]int{}
	for _, c := range d.Chunklets {
		if c != "" {
			chunklets[c]++
		}
	}
	rows, shared := 0, 0
	for _, n := range chunklets {
		rows += n
		if n > 1 {
			shared++
		}
	}
	return fmt.Sprintf("column %s: %s in %s, %d with at least two\n", oneLine(column), plural.Of(rows, "row"), plural.Of(len(chunklets), "chunklet"), shared)
}
