package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"metriclab/pkg/feedback"
	"metriclab/pkg/learners/lines"
	"metriclab/pkg/vectors"
)

// vectorFlags name a file of vectors.
type vectorFlags struct{ vectors, ids string }

// add adds the flags that name vectors.
func (v *vectorFlags) add(c *cobra.Command) {
	addVectors(c, &v.vectors)
	c.Flags().StringVar(&v.ids, "ids", "", "file with an id per line for the rows of --vectors, by which pairs name them")
}

func addVectors(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "vectors", "", "a vector per row: a .npy file, or lines \"id<TAB>[0.1,0.2]\", or JSON lines with an id and a list; also gzip, or - for standard input")
	completeFlag(c, "vectors", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []cobra.Completion{"npy"}, cobra.ShellCompDirectiveFilterFileExt
	})
}

// addCorpus adds the flags that name documents and queries.
func addCorpus(c *cobra.Command, documents, queries *vectorFlags) {
	c.Flags().StringVar(&documents.vectors, "documents", "", "vectors of the documents that are searched, in a form of --vectors (.npy, text, JSON lines; gzip, -)")
	c.Flags().StringVar(&queries.vectors, "queries", "", "vectors of the queries, in the same forms")
}

// open opens the vectors and reads the ids.
func (v *vectorFlags) open(ctx context.Context, a *app) (*lines.Vectors, error) {
	f, err := atOnce(ctx, func() (*vectors.File, error) {
		if v.vectors == stdin {
			return vectors.Read(a.in, tableName(stdin))
		}
		return vectors.Open(v.vectors)
	})
	if err != nil {
		return nil, err
	}
	out := &lines.Vectors{File: f, Objects: feedback.Objects{Count: f.Rows(), Names: f.IDs()}}
	if v.ids != "" && f.IDs() != nil {
		err = usageError{fmt.Errorf("%s: not a file of ids beside vectors that have ids, as those of %s have", v.ids, tableName(v.vectors))}
	} else if v.ids != "" {
		out.Objects.Names, err = atOnce(ctx, func() ([]string, error) {
			return readTold(ctx, a, v.ids, func(r io.Reader) ([]string, error) { return vectors.ReadIDs(r, v.ids, f.Rows()) })
		})
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return out, nil
}

// given reports whether the command line is about vectors. It returns an error if one of others, flags that do not go with that, is given.
func (v *vectorFlags) given(c *cobra.Command, others ...string) (bool, error) {
	changed := c.Flags().Changed
	if !changed("vectors") {
		if changed("ids") {
			return false, usageError{errors.New("flag --ids: only together with --vectors")}
		}
		return false, nil
	}
	for _, name := range others {
		if changed(name) {
			return false, usageError{fmt.Errorf("flag --%s: not together with --vectors", name)}
		}
	}
	if v.vectors == "" || changed("ids") && v.ids == "" {
		return false, usageError{errors.New("flags --vectors and --ids: no file given")}
	}
	return true, nil
}
