package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"metriclab/internal/plural"
	"metriclab/internal/shellword"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/limits"
	"metriclab/pkg/model"
	"metriclab/pkg/tables"
	"metriclab/pkg/vectors"
)

// looked is the JSON of look.
type looked struct {
	Schema  int                 `json:"schema"`
	Data    string              `json:"data"`
	Rows    int                 `json:"rows"`
	Columns []tables.CellColumn `json:"columns"`
	Notes   []string            `json:"notes"`
	// Command is the line to paste; "" if there is none that works.
	Command string `json:"command"`
}

func (a *app) lookCommand() *cobra.Command {
	f := &problemFlags{}
	var asJSON bool
	var saved string
	c := &cobra.Command{
		Use:   "look {DATA.csv | DATA.svm | DATA.npy [--labels L.csv] | --vectors X.npy | PROBLEM | --model MODEL.json}",
		Short: "Look at your own data before anything is learned: columns, oddities, and the line to paste",
		Long: `Tell of each column what it holds, its range and how many cells are missing. Name what
would make numbers wrong unless meant: columns that number the rows, values such
as -999 that may mean missing, constant columns, repeated rows, classes that differ only
in case, blanks or the form of numbers, vectors of zeros. Nothing is learned and nothing
is written. The last line is a command to paste, with the flags that settle what was
found. What looks like the class is guessed if --label does not give it.

Of these problems it tells what there is, and what an evaluation would leave out:
` + usages("constraints", "label") + `
fit, evaluate and compare look in the same way, and note what they find.

--model tells of a file that metriclab or Save in Go has written what it holds, of any
kind of docs/format.md, and that it is whole.`,
		Example: "  metriclab look iris.csv\n  metriclab look --vectors X.npy --pairs feedback.csv\n  metriclab look --model model.json",
		Args:    tableOr(append(slices.Clone(leads), "model")...),
		RunE: func(c *cobra.Command, args []string) error {
			f.seed = 1 // which is no flag here
			known := f.pairs.file != ""
			for _, lead := range []string{"gram", "triplets", "chunklets"} {
				known = known || c.Flags().Changed(lead)
			}
			switch {
			case c.Flags().Changed("model"):
				return a.lookSaved(c, saved, asJSON)
			case known:
				return a.lookProblem(c, f, args, asJSON)
			case c.Flags().Changed("vectors"):
				if err := f.refuse(c, kinds[0]); err != nil {
					return err
				}
				if f.vectors == "" {
					return usageError{errors.New("flag --vectors: no file given")}
				}
				return a.lookVectors(c.Context(), &f.vectorFlags, asJSON)
			}
			return a.look(c, &f.recipeFlags, args[0], asJSON)
		},
	}
	f.addColumns(c)
	f.known.add(c)
	f.vectorFlags.add(c)
	c.Flags().Var(&f.pairs, "pairs", "file of labelled pairs of rows or vectors")
	c.Flags().Var(&f.recipeFlags.columns, "columns", "which columns of a file of pairs or comparisons are i, j and label, or a, near and far, by name or number")
	c.Flags().StringVar(&f.gram, "gram", "", "CSV or .npy file of the kernel matrix of the objects")
	c.Flags().StringVar(&f.labels, "labels", "", "CSV or .npy file of the classes, of the objects of --gram or of the rows of a .npy table")
	c.Flags().StringVar(&f.triplets, "triplets", "", "file of relative comparisons, of vectors or of objects alone")
	c.Flags().IntVar(&f.objects, "objects", 0, "number of objects of --triplets alone (default: one more than the largest number)")
	addModel(c, &saved)
	c.Flags().Lookup("model").Usage = "file that metriclab fit, learn or Save in Go has written"
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// lookProblem tells what an evaluation would begin with.
func (a *app) lookProblem(c *cobra.Command, f *problemFlags, args []string, asJSON bool) error {
	q, err := f.name(c, args)
	if err != nil {
		return err
	}
	ctx := c.Context()
	on, err := atOnce(ctx, func() (ready, error) { return f.open(ctx, a, q) })
	if on.close != nil {
		defer on.close()
	}
	if err != nil {
		return err
	}
	e, err := atOnce(ctx, on.problem.Look)
	if err != nil {
		return tableError(err)
	}
	learner := ""
	for _, name := range []string{"ste", "kernel-fda", "itml"} { // the last one that takes the problem
		if _, err := catalog.FindIn(q.bare.Learners(), name); err == nil {
			learner = name
		}
	}
	words := []string{"metriclab", "fit"}
	if q.table != "" {
		words = append(words, shellword.Quote(q.table))
	}
	c.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || flag.Name == "json" {
			return
		}
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		words = append(words, shellword.Quote("--"+flag.Name+"="+value))
	})
	command := strings.Join(append(words, "--learner", learner, "--out", "model.json"), " ")
	if asJSON {
		return a.printJSON(struct {
			factsJSON
			Command string `json:"command"`
		}{a.factsJSON(on, e, model.Plan{}), command})
	}
	var b strings.Builder
	b.WriteString(on.about(e.Items))
	printNotes(&b, e.Notes)
	fmt.Fprintf(&b, "To paste:\n%s\n", command)
	_, err = io.WriteString(a.out, b.String())
	return err
}

// look looks at a table.
func (a *app) look(c *cobra.Command, f *recipeFlags, path string, asJSON bool) error {
	var err error
	if f.rows, err = formatOf(c, f.format, path); err == nil {
		err = f.rows.checkFlags(c)
	}
	if err != nil {
		return err
	}
	columns, err := f.tableColumns(c)
	if err != nil {
		return err
	}
	columns.Unlabelled = true
	out := looked{Schema: 1, Data: path}
	flags := []string{"metriclab", "fit", shellword.Quote(path)}
	if f.rows.sparse || f.rows.array {
		d, err := a.readTable(c.Context(), path, func(r io.Reader) (*tables.Data, error) { return f.rows.read(r, tableName(path), columns, false) })
		if err != nil {
			return err
		}
		l := d.Look()
		out.Rows, out.Notes = l.Rows, l.Notes(true)
		for _, k := range l.Columns {
			kind := "numbers"
			if k.Whole {
				kind = "whole numbers"
			}
			out.Columns = append(out.Columns, tables.CellColumn{Name: k.Name, Kind: kind, Least: k.Least, Greatest: k.Greatest, Missing: k.Missing, Problems: []string{}})
		}
		if f.rows.labels != "" {
			flags = append(flags, "--labels "+shellword.Quote(f.rows.labels))
		}
		return a.printLook(out, append(flags, lookLearner(d.Labels != nil)), asJSON)
	}
	l, err := readTold(c.Context(), a, path, func(r io.Reader) (*tables.TableLook, error) {
		s, err := again(r)
		if err != nil {
			return nil, err
		}
		return tables.LookCSV(s, tableName(path), columns)
	})
	if err != nil {
		return tableError(err)
	}
	out.Rows, out.Columns, out.Notes = l.Rows, l.Columns, l.Notes
	a.tellDialect(tableName(path), l.Dialect)
	if l.Failure != nil {
		out.Notes = append(out.Notes, l.Failure.Error())
		return a.printLook(out, nil, asJSON)
	}
	for _, name := range []string{"format", "separator", "decimal-comma"} {
		if c.Flags().Changed(name) {
			flags = append(flags, "--"+name+"="+c.Flags().Lookup(name).Value.String())
		}
	}
	if l.Label != "" {
		flags = append(flags, "--label "+shellword.Quote(l.Label))
	}
	flags = append(flags, l.Flags...)
	return a.printLook(out, append(flags, lookLearner(l.Label != "")), asJSON)
}

// lookLearner is the end of the line to paste: a learner in closed form.
func lookLearner(labelled bool) string {
	if labelled {
		return "--learner fda --out model.json"
	}
	return "--learner pca --out model.json"
}

// again returns r as what can be read again, from memory if it is no regular file.
func again(r io.Reader) (io.ReadSeeker, error) {
	if t, ok := r.(*tableFile); ok && t.twice {
		return t, nil
	}
	most := limits.Memory() / 4
	raw, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(raw)) > most {
		err = &limits.MemoryError{What: "a table that is not in a regular file", Limit: most}
	}
	return bytes.NewReader(raw), err
}

// printLook prints what was found, and the line to paste.
func (a *app) printLook(out looked, command []string, asJSON bool) error {
	out.Command = strings.Join(command, " ")
	if asJSON {
		if out.Notes == nil {
			out.Notes = []string{}
		}
		return a.printJSON(out)
	}
	const most = 40 // columns, which fit on a screen
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s\n\n", filepath.Base(out.Data), plural.Of(out.Rows, "row"), plural.Of(len(out.Columns), "column"))
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "column\tholds\tfrom\tto\tmissing")
	shown := 0
	for _, k := range out.Columns {
		if len(out.Columns) > most && (shown == most || len(k.Problems) == 0 && !k.Class) {
			continue
		}
		shown++
		holds, least, greatest := k.Kind, "", ""
		if k.Kind != "words" && k.Kind != "empty" && !math.IsNaN(k.Least) {
			least, greatest = fmt.Sprintf("%.6g", k.Least), fmt.Sprintf("%.6g", k.Greatest)
		}
		if k.Kind == "words" {
			holds = fmt.Sprintf("words, %d different", k.Values)
		}
		if k.Class {
			holds = fmt.Sprintf("the class, %d different", k.Values)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\n", k.Name, holds, least, greatest, k.Missing)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if more := len(out.Columns) - shown; more > 0 {
		fmt.Fprintf(&b, "%s more, which --json lists\n", plural.Of(more, "column"))
	}
	fmt.Fprintln(&b)
	printNotes(&b, out.Notes)
	switch {
	case out.Command == "":
		fmt.Fprintln(&b, "No flag makes this a table to learn from.")
	default:
		fmt.Fprintf(&b, "To paste:\n%s\n", out.Command)
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// lookedVectors is the JSON of look on vectors.
type lookedVectors struct {
	Schema   int      `json:"schema"`
	Vectors  string   `json:"vectors"`
	Rows     int      `json:"rows"`
	Dim      int      `json:"dim"`
	Shortest float64  `json:"shortest"`
	Longest  float64  `json:"longest"`
	Zeros    int      `json:"zeros"`
	Notes    []string `json:"notes"`
	Command  string   `json:"command"`
}

// lookVectors looks at vectors.
func (a *app) lookVectors(ctx context.Context, v *vectorFlags, asJSON bool) error {
	opened, err := v.open(ctx, a)
	if err != nil {
		return err
	}
	in := opened.File
	defer in.Close()
	l, err := atOnce(ctx, func() (*vectors.Looked, error) { return in.Look(ctx) })
	if err != nil {
		return err
	}
	out := lookedVectors{1, filepath.Base(v.vectors), in.Rows(), in.Dim(), l.Shortest, l.Longest, l.Zeros.Count, append([]string{}, l.Notes()...),
		"metriclab fit --vectors " + shellword.Quote(v.vectors) + " --pairs PAIRS.csv --learner itml --out model.json"}
	if asJSON {
		return a.printJSON(out)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, of length %.6g to %.6g\n", aboutFile(in), out.Shortest, out.Longest)
	printNotes(&b, out.Notes)
	fmt.Fprintf(&b, "To paste, with a file of pairs (metriclab help pairs):\n%s\n", out.Command)
	_, err = io.WriteString(a.out, b.String())
	return err
}
