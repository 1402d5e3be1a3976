package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/plots"
)

func (a *app) plotCommand() *cobra.Command {
	var path, out, format, metricOf string
	c := &cobra.Command{
		Use:   "plot {DATA.csv --model MODEL.json | --model TRIPLETS.json | --metric MODEL.json} --out PLOT.png",
		Short: "Draw a table embedded by a fitted model, objects of triplets, or the metric itself",
		Long: `Draw the rows of a table, embedded by x -> Lx as transform does, along the two
directions in which the embedded rows vary most (principal components about their
mean), each class with its colour and shape. Both axes have the same scale: near
in the plot is near under the learned metric, up to what two dimensions can show;
the axes say how much that is. An embedding in one dimension is drawn against the
row of the file. --out chooses the format by its ending, .png or .svg. The model
of kernel-itml is refused, as by transform. Without a table, the model is that of
fit --triplets: its objects are drawn, with their names if there are few.

With --metric and no table the learned metric M = LᵀL itself is drawn: its diagonal,
the weight of each feature in squared distances, the largest first and those beyond
30 summed; and the loadings of the same features on the two leading axes of M. Models
of kernel learners have no matrix of the features, and are refused.`,
		Example: "  metriclab plot wine.csv --model m.json --out wine.png\n  metriclab plot --metric m.json --out metric.svg",
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("metric") && len(args) > 0 {
				return usageError{fmt.Errorf("flag --metric: not together with a table: it draws the metric alone, got %q", args)}
			}
			if len(args) > 1 {
				return oneTable(c, args)
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			ending := strings.ToLower(filepath.Ext(out))
			if ending != ".png" && ending != ".svg" {
				return usageError{fmt.Errorf("flag --out: %q is not allowed, want a file name that ends in .png or .svg", out)}
			}
			var drawing plots.Drawing
			var err error
			if c.Flags().Changed("metric") {
				drawing, out, err = drawMetric(c, metricOf, out)
			} else {
				drawing, out, err = a.drawRows(c, args, format, path, out)
			}
			if err != nil {
				return err
			}
			warnings, err := drawing.Warnings()
			if err != nil {
				return err
			}
			for _, w := range warnings {
				fmt.Fprintln(a.err, w)
			}
			files, err := drawing.Render("plot", plots.Options{})
			if err != nil {
				return err
			}
			if err := c.Context().Err(); err != nil {
				return err
			}
			for _, f := range files {
				if f.Name == "plot"+ending {
					if err := atomicfile.Write(out, f.Data); err != nil {
						return err
					}
				}
			}
			_, err = fmt.Fprintf(a.out, "%s\nwritten to %s\n", drawing.Caption, out)
			return err
		},
	}
	addModel(c, &path)
	addFormat(c, &format)
	c.Flags().StringVar(&metricOf, "metric", "", "file that metriclab fit has written, whose metric is drawn")
	completeFlag(c, "metric", completeJSON)
	addArrayLabels(c)
	c.Flags().StringVar(&out, "out", "", "file for the plot, .png or .svg")
	return c
}

// drawRows draws the rows of a table or, without one, the objects of a model of fit --triplets, and returns the file to write as a whole.
func (a *app) drawRows(c *cobra.Command, tables []string, format, path, out string) (plots.Drawing, string, error) {
	fail := func(err error) (plots.Drawing, string, error) { return plots.Drawing{}, "", err }
	out, err := outPath("out", out, append(tables, path)...)
	if err != nil {
		return fail(err)
	}
	if len(tables) == 0 {
		if c.Flags().Changed("format") {
			return fail(usageError{errors.New("flag --format: it is for tables, and none is given")})
		}
		m, err := loadTriplets(path)
		if err != nil {
			return fail(err)
		}
		drawing, err := m.Plot(c.Context())
		return drawing, out, err
	}
	rows, err := formatOf(c, format, tables[0])
	if err != nil {
		return fail(err)
	}
	m, err := loadModel(path)
	if err != nil {
		return fail(err)
	}
	d, err := a.readForModel(c.Context(), tables[0], rows, m)
	if err != nil {
		return fail(err)
	}
	drawing, err := m.Plot(d)
	return drawing, out, err
}

// drawMetric draws the metric of a model, and returns the file to write as a whole.
func drawMetric(c *cobra.Command, path, out string) (plots.Drawing, string, error) {
	fail := func(err error) (plots.Drawing, string, error) { return plots.Drawing{}, "", err }
	for _, name := range []string{"model", "format"} {
		if c.Flags().Changed(name) {
			return fail(usageError{fmt.Errorf("flag --%s: not together with --metric, which takes the model and no table", name)})
		}
	}
	if path == "" {
		return fail(usageError{errors.New("flag --metric: no file given; metriclab fit makes one")})
	}
	out, err := outPath("out", out, path)
	if err != nil {
		return fail(err)
	}
	m, err := loadModel(path)
	if err != nil {
		return fail(err)
	}
	drawing, err := atOnce(c.Context(), m.PlotMetric)
	return drawing, out, err
}
