package main

import (
	"errors"

	"github.com/spf13/cobra"

	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// transformVectors is transform on vectors.
func (a *app) transformVectors(c *cobra.Command, path, to string, v *vectorFlags) error {
	if !c.Flags().Changed("npy") {
		return usageError{errors.New("flag --npy: no file given, want one for the coordinates")}
	}
	to, err := outPath("npy", to, v.vectors, path)
	if err != nil {
		return err
	}
	ctx := c.Context()
	in, err := v.open(ctx, a)
	if err != nil {
		return err
	}
	defer in.File.Close()
	m, err := atOnce(ctx, func() (*model.Vectors, error) { return loadVectors(path, in.File.Dim()) })
	if err != nil {
		return err
	}
	out, err := vectors.Create(to, in.File.Rows(), m.Rows(), in.File.Float32())
	if err != nil {
		return err
	}
	defer out.Abort()
	progress, done := a.meter(ctx, work{noun: "row"})
	err = m.Transform(ctx, in.File, out, progress)
	done()
	if err != nil {
		return err
	}
	return out.Commit()
}
