package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
	"metriclab/pkg/persist"
)

// input is what a verb that uses a model is asked about.
type input string

const (
	ofTable   input = "tables"
	ofVectors input = "--vectors"
	ofGram    input = "--cross-gram"
	ofObjects input = "models of fit --triplets" // whose objects are all that there is
)

// use is what a saved file is for.
type use struct {
	kinds []string // of package persist
	from  string   // what made it
	verbs string
	with  input
	line  string // a command to paste, before --model
}

var uses = []use{
	{[]string{model.Kind}, "a table", "predict, neighbours, transform, plot and evaluate, with a table", ofTable, "neighbours NEW.csv --train TABLE.csv"},
	{[]string{model.VectorsKind, metric.Kind, metric.LowRankKind}, "fit --vectors", "predict, neighbours, transform and plot, with --vectors", ofVectors, "neighbours --vectors X.npy --rows 0"},
	{[]string{model.GramKind}, "fit --gram", "predict, neighbours, transform and plot, with --cross-gram", ofGram, "neighbours --cross-gram K1.csv"},
	{[]string{model.ComparedKind}, "fit --triplets", "neighbours, transform and plot of the objects compared, without data: there is no map for new ones", ofObjects, "plot --out map.svg"},
}

// useOf is a command that uses a file of the kind; "" if there is none.
func useOf(kind, path string) string {
	for _, u := range uses {
		if slices.Contains(u.kinds, kind) {
			return "metriclab " + u.line + " --model " + path
		}
	}
	if _, err := catalog.OfKind(catalog.All(), kind); err != nil {
		return ""
	}
	return "metriclab learn --load " + path + " <FEEDBACK.jsonl"
}

// loadFor reads the file of --model. One of another kind is refused with what it is for.
func loadFor[T any](path string, load func(io.Reader) (T, error)) (T, error) {
	var none T
	if path == "" {
		return none, usageError{errors.New("flag --model: no file given; metriclab fit makes one")}
	}
	f, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	m, err := load(f)
	if err == nil {
		return m, nil
	}
	if errors.Is(err, persist.ErrKind) {
		hint := "only metriclab fit makes models"
		kind := kindOf(f)
		for _, u := range uses {
			if slices.Contains(u.kinds, kind) {
				hint = fmt.Sprintf("a model of %s is for %s", u.from, u.verbs)
			}
		}
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return none, fmt.Errorf("%s: %w", path, err)
}

func loadModel(path string) (*model.Model, error)       { return loadFor(path, model.Load) }
func loadGram(path string) (*model.Gram, error)         { return loadFor(path, model.LoadGram) }
func loadTriplets(path string) (*model.Compared, error) { return loadFor(path, model.LoadTriplets) }

// loadVectors reads the model of --model for vectors of a length.
func loadVectors(path string, dim int) (*model.Vectors, error) {
	m, err := loadFor(path, model.LoadVectors)
	if err == nil && m.Dim() != dim {
		return nil, fmt.Errorf("%s: the metric is of vectors of %d numbers, --vectors has %d", path, m.Dim(), dim)
	}
	return m, err
}

// kindOf returns the kind of an open file of package persist, "" of another.
func kindOf(f *os.File) string {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	env, err := persist.Read(f)
	if err != nil {
		return ""
	}
	return env.Kind
}

// flagsFor are flags and the inputs that they are for.
type flagsFor map[string][]input

// tableOnly are the flags on how a table is read.
var tableOnly = []string{"format", "separator", "decimal-comma", "missing"}

// check returns what the command line of a verb is about, or an error if a flag is not for that. takes are the inputs that the verb can have.
func (f flagsFor) check(c *cobra.Command, args []string, takes ...input) (input, error) {
	changed := c.Flags().Changed
	about := ofTable
	for _, in := range []input{ofVectors, ofGram} {
		if name, isFlag := strings.CutPrefix(string(in), "--"); isFlag && slices.Contains(takes, in) && changed(name) {
			switch {
			case about != ofTable:
				return "", usageError{fmt.Errorf("flag %s: not together with %s", in, about)}
			case len(args) > 0:
				return "", usageError{fmt.Errorf("%s takes no table with %s, got %q", c.CommandPath(), in, args)}
			}
			about = in
		}
	}
	if about == ofTable && len(args) == 0 && slices.Contains(takes, ofObjects) {
		about = ofObjects
	}
	if about == ofTable {
		if err := oneTable(c, args); err != nil {
			return "", err
		}
	}
	for _, name := range tableOnly {
		f[name] = []input{ofTable}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !changed(name) || slices.Contains(f[name], about) {
			continue
		}
		var flags []string
		for _, in := range f[name] {
			flags = append(flags, string(in))
		}
		only := strings.Join(flags, " and ")
		switch {
		case about == ofTable:
			return "", usageError{fmt.Errorf("flag --%s: only together with %s", name, only)}
		case about == ofObjects:
			return "", usageError{fmt.Errorf("flag --%s: it is for %s, and none is given", name, only)}
		}
		return "", usageError{fmt.Errorf("flag --%s: not together with %s: it is for %s", name, about, only)}
	}
	for _, name := range []string{"vectors", "cross-gram", "self-gram", "labels", "ids", "queries", "train"} {
		if changed(name) && c.Flags().Lookup(name).Value.String() == "" {
			return "", usageError{fmt.Errorf("flag --%s: no file given", name)}
		}
	}
	return about, nil
}
