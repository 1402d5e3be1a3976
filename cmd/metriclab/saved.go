package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"metriclab/internal/plural"
	"metriclab/internal/shellword"
	"metriclab/pkg/model"
	"metriclab/pkg/persist"
)

// lookedSaved is the JSON of look on a file of learned state.
type lookedSaved struct {
	Schema int             `json:"schema"`
	Model  string          `json:"model"`
	Kind   string          `json:"kind"`
	Params json.RawMessage `json:"params"`
	// A kind has features or objects; the other is 0.
	Features int `json:"features"`
	Objects  int `json:"objects"`
	// Command is a line to paste; "" if only Go uses the kind.
	Command string `json:"command"`
}

// lookSaved tells what a file of learned state holds.
func (a *app) lookSaved(c *cobra.Command, path string, asJSON bool) error {
	other := ""
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "model" && f.Name != "json" {
			other = f.Name
		}
	})
	switch {
	case other != "":
		return usageError{fmt.Errorf("flag --%s: not together with --model", other)}
	case path == "":
		return usageError{errors.New("flag --model: no file given; metriclab fit makes one")}
	}
	type opened struct {
		persist.Envelope
		persist.Saver
	}
	f, err := persist.ReadFile(path, func(r io.Reader) (opened, error) {
		env, v, err := model.Open(r)
		return opened{env, v}, err
	})
	if err != nil {
		return err
	}
	out := lookedSaved{Schema: 1, Model: path, Kind: f.Kind, Params: f.Params, Command: useOf(f.Kind, shellword.Quote(path))}
	switch v := f.Saver.(type) {
	case *model.Model:
		out.Features = len(v.Layout().Features)
	case interface{ Dim() int }:
		out.Features = v.Dim()
	case interface{ Mean() []float64 }:
		out.Features = len(v.Mean())
	case interface{ Objects() int }:
		out.Objects = v.Objects()
	case interface{ Dims() (a, b int) }: // a map of objects to prototypes
		out.Objects, _ = v.Dims()
	}
	if asJSON {
		return a.printJSON(out)
	}
	var params bytes.Buffer
	if err := json.Compact(&params, f.Params); err != nil {
		return err
	}
	size := plural.Of(out.Features, "feature")
	if out.Objects > 0 {
		size = plural.Of(out.Objects, "object")
	}
	fmt.Fprintf(a.out, "%s: %s, %s, whole\nparameters: %s\n\n", filepath.Base(path), f.Kind, size, &params)
	if out.Command == "" {
		_, err = fmt.Fprintln(a.out, "No command uses this kind; model.Open reads it in Go.")
	} else {
		_, err = fmt.Fprintf(a.out, "To paste:\n%s\n", out.Command)
	}
	return err
}
