package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

// crossFlags are the flags of transform for new objects known by their similarities.
type crossFlags struct{ cross, own, kernel string }

func (g *crossFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&g.cross, "cross-gram", "", "CSV or .npy file of kernel values, a row per new object and a column per object of fit --gram, in place of a table")
	c.Flags().StringVar(&g.own, "self-gram", "", "CSV or .npy file of the kernel matrix among the new objects, with --cross-gram")
	c.Flags().StringVar(&g.kernel, "kernel-out", "", "CSV or .npy file for the learned kernel matrix among the new objects, with --self-gram")
}

// given reports whether the command line is about new objects. It returns an error if a flag does not go with that.
func (g *crossFlags) given(c *cobra.Command) (bool, error) {
	changed := c.Flags().Changed
	switch {
	case changed("self-gram") && !changed("cross-gram"):
		return false, usageError{errors.New("flag --self-gram: only together with --cross-gram")}
	case changed("kernel-out") && !changed("self-gram"):
		return false, usageError{errors.New("flag --kernel-out: only together with --self-gram, which the learned kernel among new objects needs")}
	case changed("cross-gram") && changed("guard-formulas"):
		return false, usageError{errors.New("flag --guard-formulas: not together with --cross-gram: there are no classes")}
	case changed("cross-gram") && changed("subspace"):
		return false, usageError{errors.New("flag --subspace: not together with --cross-gram: it is for models of iplr")}
	case changed("cross-gram") && changed("format"):
		return false, usageError{errors.New("flag --format: not together with --cross-gram: it is for tables")}
	}
	return changed("cross-gram"), nil
}

// transformGram embeds new objects.
func (a *app) transformGram(c *cobra.Command, path string, out embedOutputs, g *crossFlags) error {
	for _, f := range []struct{ flag, path string }{{"cross-gram", g.cross}, {"self-gram", g.own}} {
		if c.Flags().Changed(f.flag) && f.path == "" {
			return usageError{fmt.Errorf("flag --%s: no file given", f.flag)}
		}
	}
	reads := []string{path, g.cross, g.own}
	if err := out.check(c, reads, outFile{flag: "kernel-out", path: &g.kernel}); err != nil {
		return err
	}
	ctx := c.Context()
	var kernel *mat.SymDense
	z, err := atOnce(ctx, func() (*mat.Dense, error) {
		m, err := loadGram(path)
		if err != nil {
			return nil, err
		}
		cross, err := readTold(ctx, a, g.cross, func(r io.Reader) (*mat.Dense, error) { return model.ReadCross(r, g.cross, m.Objects()) })
		if err != nil {
			return nil, err
		}
		if g.own != "" {
			own, err := readTold(ctx, a, g.own, func(r io.Reader) (*mat.SymDense, error) { return model.ReadGram(r, g.own) })
			if err != nil {
				return nil, err
			}
			if rows, _ := cross.Dims(); own.SymmetricDim() != rows {
				return nil, fmt.Errorf("%s: %s, want %d, one per row of %s", g.own, plural.Of(own.SymmetricDim(), "row"), rows, g.cross)
			}
			if kernel, err = m.Among(cross, own); err != nil {
				return nil, fmt.Errorf("%s and %s: %w", g.cross, g.own, err)
			}
		}
		z, err := m.Embed(cross)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.cross, err)
		}
		return z, nil
	})
	if err != nil {
		return err
	}
	e := &embedding{app: a, ctx: ctx}
	text := func(w io.Writer) error {
		const rows = 1024
		n, width := z.Dims()
		for i := 0; i < n; i += rows {
			if err := e.write(&model.Embedded{Z: z.Slice(i, min(i+rows, n), 0, width).(*mat.Dense)}, i == 0); err != nil {
				return err
			}
			if _, err := atOnce(ctx, func() (int, error) { return w.Write(bytes.Clone(e.text)) }); err != nil {
				return err
			}
		}
		return nil
	}
	outputs := []output{{out.csv, text}, {out.npy, func(w io.Writer) error { return metric.WriteNPY(w, z) }}}
	if g.kernel != "" {
		outputs = append(outputs, outputOf(ctx, g.kernel, kernel))
	}
	if out == (embedOutputs{}) {
		if err := text(a.data); err != nil {
			return err
		}
	}
	return writeOutputs(outputs...)
}
