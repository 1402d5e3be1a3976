package main

import (
	"context"
	"errors"
	"iter"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
	"metriclab/internal/plural"
	"metriclab/pkg/model"
	"metriclab/pkg/vectors"
)

// transformFlags are those of transform.
type transformFlags struct {
	model, format      string
	out                embedOutputs
	guard, subspace    bool
	cross, own, kernel string
	v                  vectorFlags
	dim                int
}

func (a *app) transformCommand() *cobra.Command {
	var f transformFlags
	c := &cobra.Command{
		Use:   "transform {DATA.csv | --vectors X.npy | --cross-gram K1.csv | } --model MODEL.json [--out EMBEDDED.csv] [--npy EMBEDDED.npy]",
		Short: "Write the coordinates of items under a fitted model",
		Long: `Write coordinates between which Euclidean distances are the learned ones.

  DATA.csv              of the rows of a table, prepared as the training rows were
  --vectors X.npy       of vectors; --npy keeps float32
  --cross-gram K1.csv   of objects, by their kernel values with those of fit --gram
  nothing               of the objects of fit --triplets, in --dim dimensions

The text is CSV, or JSON with --json: the class of the row, or the name of the object, if
there is one, then z1, z2, ... It goes to standard output if neither --out nor --npy is
given. The .npy file has the coordinates alone. Every number brings back every bit. The
model of kernel-itml is refused: its metric sees what no coordinates hold.

--subspace writes, of iplr, the coordinates in the subspace that differs, and the length
of what is outside. --self-gram, the kernel matrix of the new objects, brings what
--cross-gram lacks: --kernel-out then has the whole learned kernel among them.
--guard-formulas writes ' before a class or name that a spreadsheet would run as a
formula: one that begins with = + - or @, a tab or a carriage return.

A file gets its name once every row is right. What is read, what coordinates hold, and
how much is held in memory: metriclab help models.`,
		Example: "  metriclab transform wine.csv --model m.json --out z.csv\n  metriclab transform --vectors X.npy --model m.json --npy Y.npy",
		RunE: func(c *cobra.Command, args []string) error {
			about, err := flagsFor{
				"subspace": {ofTable}, "labels": {ofTable}, "guard-formulas": {ofTable, ofObjects}, "self-gram": {ofGram}, "kernel-out": {ofGram}, "dim": {ofObjects},
			}.check(c, args, ofTable, ofVectors, ofGram, ofObjects)
			if err != nil {
				return err
			}
			if c.Flags().Changed("kernel-out") && f.own == "" {
				return usageError{errors.New("flag --kernel-out: only together with --self-gram, which the learned kernel among new objects needs")}
			}
			if err := atLeastOne(c, "dim", f.dim); err != nil {
				return err
			}
			reads := append([]string{f.model, f.v.vectors, f.cross, f.own}, args...)
			if err := f.out.check(c, reads, outFile{flag: "kernel-out", path: &f.kernel}); err != nil {
				return err
			}
			switch about {
			case ofVectors:
				return a.transformVectors(c.Context(), &f)
			case ofGram:
				return a.transformGram(c.Context(), &f)
			case ofObjects:
				return a.transformObjects(c, &f)
			}
			return a.transformRows(c, &f, args[0])
		},
	}
	addModel(c, &f.model)
	addFormat(c, &f.format)
	addArrayLabels(c)
	c.Flags().StringVar(&f.cross, "cross-gram", "", "CSV or .npy file of kernel values, a row per new object and a column per object of fit --gram")
	c.Flags().StringVar(&f.own, "self-gram", "", "CSV or .npy file of the kernel matrix among the new objects, with --cross-gram")
	c.Flags().StringVar(&f.kernel, "kernel-out", "", "CSV or .npy file for the learned kernel matrix among the new objects, with --self-gram")
	addVectors(c, &f.v.vectors)
	c.Flags().IntVar(&f.dim, "dim", 2, "number of coordinates of the objects of fit --triplets")
	c.Flags().StringVar(&f.out.text, "out", "", "file for the text; - or none is standard output")
	c.Flags().StringVar(&f.out.npy, "npy", "", "NumPy file for the coordinates")
	addJSON(c, &f.out.json)
	c.Flags().BoolVar(&f.subspace, "subspace", false, "of iplr: write the coordinates in its subspace alone, and the length of what is outside")
	c.Flags().BoolVar(&f.guard, "guard-formulas", false, "write ' before a text that a spreadsheet would run as a formula")
	return c
}

// embed writes what a sequence yields, and more files.
func (a *app) embed(ctx context.Context, o embedOutputs, e embedding, blocks iter.Seq2[*model.Block, error], more ...*atomicfile.File) error {
	files, err := a.openEmbedded(ctx, o, e)
	if err != nil {
		return err
	}
	defer files.abort()
	progress, done := a.meter(ctx, work{noun: "row"})
	err = eachOf(ctx, blocks, func(b *model.Block) error {
		err := files.write(b)
		progress(files.rows, b.Total)
		return err
	})
	done()
	if err != nil {
		return err
	}
	return files.commit(a.noted, more...)
}

// transformVectors is transform on vectors.
func (a *app) transformVectors(ctx context.Context, f *transformFlags) error {
	in, err := f.v.open(ctx, a)
	if err != nil {
		return err
	}
	defer in.File.Close()
	m, err := atOnce(ctx, func() (*model.Vectors, error) { return loadVectors(f.model, in.File.Dim()) })
	if err != nil {
		return err
	}
	if err := a.agree(ctx, "coordinates of "+plural.Of(in.File.Rows(), "vector"), m.CostOfEmbed(in.File.Rows(), f.out.text != "" || f.out.stdout()).Seconds); err != nil {
		return err
	}
	then := func() error { return nil }
	if f.out.npy != "" { // in parallel, and in float32 if the vectors are
		out, err := vectors.Create(f.out.npy, in.File.Rows(), m.Rows(), in.File.Float32())
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
		then = out.Commit
	}
	if f.out.text != "" || f.out.stdout() {
		text := f.out
		text.npy = ""
		if err := a.embed(ctx, text, embedding{}, m.EmbedFile(ctx, in.File)); err != nil {
			return err
		}
	}
	return then()
}

// transformObjects is transform on objects that were compared.
func (a *app) transformObjects(c *cobra.Command, f *transformFlags) error {
	m, err := loadTriplets(f.model)
	if err != nil {
		return err
	}
	z, err := atOnce(c.Context(), func() (model.Coordinates, error) { return m.Coordinates(c.Context(), f.dim) })
	if err != nil {
		return tableError(err)
	}
	return a.embed(c.Context(), f.out, embedding{label: "object", records: records{guard: f.guard}}, blocksOf(z.Z, m.Names()))
}
