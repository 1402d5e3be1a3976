package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/plots"
)

func (a *app) plotCommand() *cobra.Command {
	var path, out, format string
	c := &cobra.Command{
		Use:   "plot DATA.csv --model MODEL.json --out PLOT.png",
		Short: "Draw the first two dimensions of a table embedded by a fitted model",
		Long: `Draw the rows of a table, embedded by x -> Lx as transform does, along the two
directions in which the embedded rows vary most (principal components about their
mean), each class with its colour and shape. Both axes have the same scale: near
in the plot is near under the learned metric, up to what two dimensions can show;
the axes say how much that is. An embedding in one dimension is drawn against the
row of the file. --out chooses the format by its ending, .png or .svg. The model
of kernel-itml is refused, as by transform.`,
		Args: oneTable,
		RunE: func(c *cobra.Command, args []string) error {
			ending := strings.ToLower(filepath.Ext(out))
			if ending != ".png" && ending != ".svg" {
				return usageError{fmt.Errorf("flag --out: %q is not allowed, want a file name that ends in .png or .svg", out)}
			}
			rows, err := formatOf(c, format, args[0])
			if err != nil {
				return err
			}
			if out, err = outPath("out", out, args[0], path); err != nil {
				return err
			}
			m, err := loadModel(path)
			if err != nil {
				return err
			}
			d, err := a.readForModel(c.Context(), args[0], rows, m)
			if err != nil {
				return err
			}
			drawing, err := m.Plot(d)
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
	addArrayLabels(c)
	c.Flags().StringVar(&out, "out", "", "file for the plot, .png or .svg")
	return c
}
