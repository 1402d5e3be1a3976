package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// nearFlags are those of predict and neighbours.
type nearFlags struct {
	model, train, out, format string
	cross, labels, id         string
	v                         vectorFlags
	queries                   string
	rows                      []string
	k                         int
	guard, json               bool
	elect, probabilities      bool // of predict
}

func (f *nearFlags) add(c *cobra.Command) {
	addModel(c, &f.model)
	addFormat(c, &f.format)
	addVectors(c, &f.v.vectors)
	c.Flags().StringVar(&f.out, "out", "", "file for the answer; - or none is standard output")
	c.Flags().IntVar(&f.k, "k", 5, "number of neighbours, to which the default is cut where there are fewer")
	c.Flags().StringVar(&f.cross, "cross-gram", "", "CSV or .npy file of kernel values, a row per new object and a column per object of fit --gram")
	c.Flags().BoolVar(&f.guard, "guard-formulas", false, "write ' before a text that a spreadsheet would run as a formula")
	addJSON(c, &f.json)
}

// about returns what the command line is about, or an error if flags do not go together.
func (f *nearFlags) about(c *cobra.Command, args []string) (input, error) {
	takes := []input{ofTable, ofVectors, ofGram}
	flags := flagsFor{"train": {ofTable, ofVectors}, "labels": {ofTable, ofVectors, ofGram}}
	if !f.elect {
		takes = append(takes, ofObjects)
		flags = flagsFor{"train": {ofTable}, "labels": {ofTable, ofGram}, "id": {ofTable}, "ids": {ofVectors}, "queries": {ofVectors}, "rows": {ofVectors}}
	}
	about, err := flags.check(c, args, takes...)
	if err != nil {
		return "", err
	}
	reads := append([]string{f.model, f.train, f.cross, f.labels, f.v.vectors, f.v.ids, f.queries}, args...)
	if err := together(atLeastOne(c, "k", f.k), noGuard(c), outPaths(c, reads, outFile{flag: "out", path: &f.out, stdout: true})); err != nil {
		return "", err
	}
	switch {
	case about == ofTable && f.train == "":
		err = errors.New("flag --train: no file given, want the table that the model was fitted on")
	case about == ofVectors && f.elect && f.train == "":
		err = errors.New("flag --train: no file given, want the .npy file of vectors whose classes are known")
	case about != ofTable && f.elect && f.labels == "":
		err = fmt.Errorf("flag --labels: no file given, want the classes of %s", map[input]string{ofVectors: "the vectors of --train", ofGram: "the objects of fit --gram"}[about])
	case about == ofVectors && !f.elect && (f.queries == "") == (len(f.rows) == 0):
		err = errors.New("flags --queries and --rows: want one of them, which says whose neighbours are asked for")
	}
	if err != nil {
		return "", usageError{err}
	}
	return about, nil
}

func (a *app) predictCommand() *cobra.Command {
	f := nearFlags{elect: true}
	c := &cobra.Command{
		Use:   "predict {NEW.csv --train TABLE.csv | --vectors NEW.npy --train X.npy --labels L.csv | --cross-gram K1.csv --labels L.csv} --model MODEL.json [--k 5] [--probabilities] [--out CLASSES.csv]",
		Short: "Predict the class of new items from their nearest known ones under a fitted model",
		Long: `Predict the class of each new item by the vote of its k nearest training items.

  NEW.csv --train TABLE.csv                  rows of a table, by those of the training table
  --vectors NEW.npy --train X.npy --labels L vectors, by those whose classes L holds
  --cross-gram K1.csv --labels L             objects, by those of fit --gram

The answer is CSV, or JSON with --json: the row, from 0, the class, its share of the k
votes, and the distance of the nearest training item. Of classes with as many votes, that
of the nearest wins, as in metriclab evaluate. If the new table has the column of the
class, the share of wrong rows is told at the end, on standard error and in the JSON.
Classes that are numbers compare as numbers: 1.0 is 1. Rows of a class that no training
row has are counted apart.

With --probabilities there is a column p:CLASS for each class of the training items: its
probability, from the votes and from how often such votes were right on training items held
out. None is above that of the class predicted, and none is 0. If the learner learns from
classes, five parts of the training items are held out in turn, and it is fitted anew to
the others: five more fits. Otherwise each item is left out of its own neighbours.

What is read, and how much is held: metriclab help models.`,
		Example: "  metriclab fit old.csv --label class --learner lmnn --out m.json\n  metriclab predict new.csv --model m.json --train old.csv --k 3 --out classes.csv",
		RunE:    func(c *cobra.Command, args []string) error { return a.near(c, args, &f) },
	}
	f.add(c)
	c.Flags().BoolVar(&f.probabilities, "probabilities", false, "write the probability of each class too")
	c.Flags().StringVar(&f.train, "train", "", "table, or .npy file of vectors, of the training items")
	c.Flags().StringVar(&f.labels, "labels", "", "file of the classes of the objects of fit --gram, or of the rows of a .npy file of --train")
	return c
}

func (a *app) neighboursCommand() *cobra.Command {
	var f nearFlags
	c := &cobra.Command{
		Use:   "neighbours {NEW.csv --train TABLE.csv [--id COLUMN] | --vectors X.npy {--queries Q.npy | --rows 0,7} | --cross-gram K1.csv [--labels L.csv] | } --model MODEL.json [--k 5] [--out NEAR.csv]",
		Short: "List the nearest known items of new ones under a fitted model",
		Long: `List the k nearest items of each item that is asked about, under the learned metric.

  NEW.csv --train TABLE.csv          of each new row, among the rows of the training table
  --vectors X.npy --queries Q.npy    of each vector of Q.npy, among those of X.npy
  --vectors X.npy --rows 0,7         of these vectors of X.npy, among the others
  --cross-gram K1.csv                of each new object, among those of fit --gram
  nothing                            of each object of fit --triplets, among the others

The answer is CSV, or JSON with --json, k lines per item, the nearest first. A line has
the item, the rank from 1 to k, the neighbour, its cell in the column of --id if that is
given, the distance, and the class of the neighbour if it has one. Items count from 0,
without the header, as in --pairs. Vectors have the ids of --ids, also for --rows;
objects of fit --triplets their names. An item is no neighbour of itself.

What is read, and how much is held: metriclab help models.`,
		Example: "  metriclab neighbours new.csv --model m.json --train old.csv --k 5 --id name\n  metriclab neighbours --vectors X.npy --ids ids.txt --model m.json --rows cat.jpg,dog.jpg",
		RunE:    func(c *cobra.Command, args []string) error { return a.near(c, args, &f) },
	}
	f.add(c)
	c.Flags().StringVar(&f.train, "train", "", "table of the training rows")
	c.Flags().StringVar(&f.labels, "labels", "", "file of the classes of the objects of fit --gram, or of the rows of a .npy table of --train")
	c.Flags().StringVar(&f.id, "id", "", "column of the table of --train that names its rows, by name or number")
	c.Flags().StringVar(&f.v.ids, "ids", "", "file with an id per line for the rows of --vectors")
	c.Flags().StringVar(&f.queries, "queries", "", ".npy file of vectors to find neighbours of")
	c.Flags().StringSliceVar(&f.rows, "rows", nil, "vectors of --vectors to find neighbours of, by number or id, separated by commas")
	return c
}
