package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/model"
	"metriclab/pkg/plots"
	"metriclab/pkg/tables"
)

// plotFlags are those of plot.
type plotFlags struct {
	model, metric, out, format string
	cross, labels              string
	v                          vectorFlags
	json                       bool
}

// plotted is the JSON of plot.
type plotted struct {
	Schema int    `json:"schema"`
	File   string `json:"file"`
	// Points of Of items are shown; with --metric the features that are named.
	Points int `json:"points"`
	Of     int `json:"of"`
	// Shares is what each axis shows of the variance; with --metric its share of the trace.
	Shares   []float64 `json:"shares"`
	Caption  string    `json:"caption"`
	Warnings []string  `json:"warnings"`
	Notes    []string  `json:"notes"`
}

func (a *app) plotCommand() *cobra.Command {
	var f plotFlags
	c := &cobra.Command{
		Use:   "plot {DATA.csv | --vectors X.npy | --cross-gram K1.csv | } --model MODEL.json --out PLOT.svg\n  metriclab plot --metric MODEL.json --out PLOT.svg",
		Short: "Plot items embedded by a fitted model, or the metric itself",
		Long: fmt.Sprintf(`Plot items along the two directions in which their coordinates, those that transform
writes, vary most (principal components about their mean).

  DATA.csv              the rows of a table
  --vectors X.npy       vectors
  --cross-gram K1.csv   objects, by their kernel values with those of fit --gram
  nothing               the objects of fit --triplets, with names if they are few
  --metric m.json       the metric of a table, and no item

Each class has its colour and shape; --labels gives those of vectors, of objects of
--cross-gram, and of a .npy table. Both axes have the same scale: near in the plot is near
under the learned metric, up to what two dimensions can show; the axes say how much that
is. An embedding in one dimension is shown against the row of the file. Of more than
%d items a sample is shown, the same each time, and the caption says so. The model of
kernel-itml is refused, as by transform. --out chooses the format by its ending, .png or
.svg. --json prints what is shown.

--metric shows M = LᵀL: its diagonal, the weight of each feature in squared distances, the
largest first and those beyond %d summed; and the loadings of the same features on the
two leading axes of M. Kernel learners have no matrix of the features, and are refused.`, model.MaxPoints, model.MaxPlotted),
		Example: "  metriclab plot wine.csv --model m.json --out wine.png\n  metriclab plot --vectors X.npy --labels L.csv --model m.json --out x.svg",
		RunE: func(c *cobra.Command, args []string) error {
			ending := strings.ToLower(filepath.Ext(f.out))
			if ending != ".png" && ending != ".svg" {
				return usageError{fmt.Errorf("flag --out: %q is not allowed, want a file name that ends in .png or .svg", f.out)}
			}
			picture, err := a.picture(c, args, &f)
			if err != nil {
				return err
			}
			warnings, err := picture.Warnings()
			if err != nil {
				return err
			}
			for _, w := range warnings {
				fmt.Fprintln(a.err, w)
			}
			files, err := picture.Render("plot", plots.Options{})
			if err != nil {
				return err
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			for _, file := range files {
				if file.Name == "plot"+ending {
					if err := atomicfile.Write(f.out, file.Data); err != nil {
						return err
					}
				}
			}
			if f.json {
				return a.printJSON(plotted{
					Schema: jsonSchema, File: f.out, Points: picture.Points, Of: picture.Of, Shares: append([]float64{}, picture.Shares...), Caption: picture.Caption.String(),
					Warnings: append([]string{}, warnings...), Notes: append([]string{}, a.noted...),
				})
			}
			_, err = fmt.Fprintf(a.out, "%s\nwritten to %s\n", picture.Caption, f.out)
			return err
		},
	}
	addModel(c, &f.model)
	addFormat(c, &f.format)
	c.Flags().StringVar(&f.metric, "metric", "", "file that metriclab fit has written, whose metric is shown")
	completeFlag(c, "metric", completeJSON)
	addVectors(c, &f.v.vectors)
	c.Flags().StringVar(&f.cross, "cross-gram", "", "CSV or .npy file of kernel values, a row per object and a column per object of fit --gram")
	c.Flags().StringVar(&f.labels, "labels", "", "CSV or .npy file with the class of each row of a .npy file or of --cross-gram")
	c.Flags().StringVar(&f.out, "out", "", "file for the plot, .png or .svg")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

// picture plots, and completes the path of --out.
func (a *app) picture(c *cobra.Command, args []string, f *plotFlags) (model.Picture, error) {
	fail := func(err error) (model.Picture, error) { return model.Picture{}, err }
	ctx := c.Context()
	if c.Flags().Changed("metric") {
		return f.plotMetric(c, args)
	}
	about, err := flagsFor{"labels": {ofTable, ofVectors, ofGram}}.check(c, args, ofTable, ofVectors, ofGram, ofObjects)
	if err != nil {
		return fail(err)
	}
	if f.out, err = outPath("out", f.out, append([]string{f.model, f.v.vectors, f.cross, f.labels}, args...)...); err != nil {
		return fail(err)
	}
	switch about {
	case ofVectors:
		in, err := f.v.open(ctx, a)
		if err != nil {
			return fail(err)
		}
		defer in.File.Close()
		m, err := loadVectors(f.model, in.File.Dim())
		if err != nil {
			return fail(err)
		}
		return atOnce(ctx, func() (model.Picture, error) {
			labels, err := f.classes(in.File.Rows())
			if err != nil {
				return model.Picture{}, err
			}
			return m.Plot(ctx, in.File, labels)
		})
	case ofGram:
		return atOnce(ctx, func() (model.Picture, error) { return a.plotGram(ctx, f) })
	case ofObjects:
		m, err := loadTriplets(f.model)
		if err != nil {
			return fail(err)
		}
		return m.Plot(ctx)
	}
	rows, err := formatOf(c, f.format, args[0])
	if err != nil {
		return fail(err)
	}
	m, err := loadModel(f.model)
	if err != nil {
		return fail(err)
	}
	d, err := a.readForModel(ctx, args[0], rows, m)
	if err != nil {
		return fail(err)
	}
	return atOnce(ctx, func() (model.Picture, error) { return m.Plot(d) })
}

// classes reads the classes of n items, nil if none are given.
func (f *plotFlags) classes(n int) ([]string, error) {
	if f.labels == "" {
		return nil, nil
	}
	return tableFormat{labels: f.labels}.readLabels()(n)
}

// plotGram shows objects known by their similarities.
func (a *app) plotGram(ctx context.Context, f *plotFlags) (model.Picture, error) {
	g, err := loadGram(f.model)
	if err != nil {
		return model.Picture{}, err
	}
	cross, err := a.readCross(ctx, f.cross, g)
	if err != nil {
		return model.Picture{}, err
	}
	var labels []string
	if f.labels != "" {
		n, _ := cross.Dims()
		if labels, err = readTold(ctx, a, f.labels, func(r io.Reader) ([]string, error) { return tables.ReadLabels(r, f.labels, n) }); err != nil {
			return model.Picture{}, err
		}
	}
	p, err := g.Plot(ctx, filepath.Base(f.cross), cross, labels)
	if err != nil {
		err = fmt.Errorf("%s: %w", f.cross, err)
	}
	return p, err
}

// plotMetric shows the metric of a model.
func (f *plotFlags) plotMetric(c *cobra.Command, args []string) (model.Picture, error) {
	fail := func(err error) (model.Picture, error) { return model.Picture{}, err }
	if len(args) > 0 {
		return fail(usageError{fmt.Errorf("flag --metric: not together with a table: it shows the metric alone, got %q", args)})
	}
	for _, name := range append([]string{"model", "vectors", "cross-gram", "labels"}, tableOnly...) {
		if c.Flags().Changed(name) {
			return fail(usageError{fmt.Errorf("flag --%s: not together with --metric, which takes the model and no data", name)})
		}
	}
	if f.metric == "" {
		return fail(usageError{errors.New("flag --metric: no file given; metriclab fit makes one")})
	}
	var err error
	if f.out, err = outPath("out", f.out, f.metric); err != nil {
		return fail(err)
	}
	m, err := loadModel(f.metric)
	if err != nil {
		return fail(err)
	}
	return atOnce(c.Context(), m.PlotMetric)
}
