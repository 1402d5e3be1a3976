package main

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/pkg/tables"
)

// transformGram is transform on new objects known by their similarities.
func (a *app) transformGram(ctx context.Context, f *transformFlags) error {
	var kernel *mat.SymDense
	z, err := atOnce(ctx, func() (*mat.Dense, error) {
		m, err := loadGram(f.model)
		if err != nil {
			return nil, err
		}
		cross, err := a.readCross(ctx, f.cross, m)
		if err != nil {
			return nil, err
		}
		if f.own != "" {
			own, err := readTold(ctx, a, f.own, func(r io.Reader) (*mat.SymDense, error) { return tables.ReadGram(r, f.own) })
			if err != nil {
				return nil, err
			}
			if rows, _ := cross.Dims(); own.SymmetricDim() != rows {
				return nil, fmt.Errorf("%s: %s, want %d, one per row of %s", f.own, plural.Of(own.SymmetricDim(), "row"), rows, f.cross)
			}
			if kernel, err = m.Among(cross, own); err != nil {
				return nil, fmt.Errorf("%s and %s: %w", f.cross, f.own, err)
			}
		}
		z, err := m.Embed(cross)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.cross, err)
		}
		return z, nil
	})
	if err != nil {
		return err
	}
	var more []*atomicfile.File
	if f.kernel != "" {
		file, err := atomicfile.Create(f.kernel)
		if err != nil {
			return fmt.Errorf("%s is not written: %w", f.kernel, err)
		}
		defer file.Abort() // does nothing after Commit
		if err := outputOf(ctx, f.kernel, kernel).write(file); err != nil {
			return fmt.Errorf("%s is not written: %w", f.kernel, err)
		}
		more = append(more, file)
	}
	return a.embed(ctx, f.out, embedding{}, blocksOf(z, nil), more...)
}
