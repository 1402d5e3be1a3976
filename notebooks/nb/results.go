package nb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// Rows returns the table of an experiment.
//
//   - scale "smoke" runs the jobs that are not done yet, on built-in data, and
//     keeps them below out/notebooks of the project;
//   - scale "full" reads the complete table below results.
//
// The error for missing full-scale results says which command makes them.
func Rows(spec experiment.Spec, scale string) (*table.Table, error) {
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	return rows(root, spec, scale)
}

func rows(root string, spec experiment.Spec, name string) (*table.Table, error) {
	scale, err := experiment.ParseScale(name)
	if err != nil {
		return nil, err
	}
	if scale == experiment.Full {
		t, err := spec.ReadTable(filepath.Join(root, "results", filepath.FromSlash(spec.ID)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &missingError{spec.ID}
		}
		return t, err
	}
	r, err := experiment.Run(context.Background(), []experiment.Selected{{Spec: spec}}, experiment.Config{
		Scale: scale, Workers: runtime.NumCPU(),
		Folders: experiment.FoldersFor(scale, filepath.Join(root, "out", "notebooks")),
		Data:    datasets.Open(filepath.Join(root, "data")),
	})
	if err != nil {
		return nil, err
	}
	failed := []error{r.StoreErr, r.Outcomes[0].Err}
	for _, f := range r.Failed {
		failed = append(failed, f.Err)
	}
	return r.Outcomes[0].Table, errors.Join(failed...)
}

// missingError says that full-scale results are not there, and what makes them.
type missingError struct{ experiment string }

func (e *missingError) Error() string {
	return fmt.Sprintf("no full-scale results of %s; in the project's folder run: go run ./cmd/metriclab run %s --scale full", e.experiment, e.experiment)
}

// ShowView displays the named view of an experiment at a scale, see Rows. Where
// full-scale results are missing it displays the command that makes them. It
// panics on every other error.
func ShowView(spec experiment.Spec, view, scale string) {
	i := slices.IndexFunc(spec.Views, func(v experiment.View) bool { return v.Name == view })
	if i < 0 {
		var names []string
		for _, v := range spec.Views {
			names = append(names, v.Name)
		}
		panic(fmt.Errorf("nb: %s has no view %q; it has %s", spec.ID, view, strings.Join(names, ", ")))
	}
	t, err := Rows(spec, scale)
	if showMissing(err) {
		return
	}
	show(Must(spec.Views[i].Draw(Must(t, err))), watermark(scale))
}

// watermark marks figures that are not results.
func watermark(scale string) string {
	if scale == string(experiment.Full) {
		return ""
	}
	return scale + " scale: not a result"
}

// showMissing displays the command that makes missing results, if that is err.
func showMissing(err error) bool {
	var m *missingError
	if !errors.As(err, &m) {
		return false
	}
	displayMarkdown("> **Missing**: no full-scale results of " + m.experiment + " here. In the project's folder run\n>\n> `go run ./cmd/metriclab run " + m.experiment + " --scale full`")
	return true
}

// ShowClaims displays the claims of the experiments, at full scale with our
// value and the verdict; at smoke scale claims are not graded. Experiments
// whose full-scale results are missing are named with the command that makes
// them. It panics on every other error.
func ShowClaims(specs []experiment.Spec, scale string) {
	root := Must(projectRoot())
	t, err := claims(root, specs, scale, func(err error) bool { return showMissing(err) })
	Check(err)
	if len(t.Rows) > 0 {
		displayMarkdown(t.Markdown())
	}
}

// claims lists the claims; skip says whether an experiment without a table is
// left out.
func claims(root string, specs []experiment.Spec, scale string, skip func(error) bool) (plots.TextTable, error) {
	out := plots.TextTable{Head: []string{"where", "the paper says", "printed value", "we find", "verdict"}}
	full := scale == string(experiment.Full)
	if !full {
		out.Head = []string{"where", "the paper says", "printed value", "what would count as reproduced", "verdict"}
	}
	for _, spec := range specs {
		var t *table.Table
		if full {
			var err error
			t, err = rows(root, spec, scale)
			if err != nil {
				if skip(err) {
					continue
				}
				return out, err
			}
		}
		for _, c := range spec.Claims {
			row := []string{c.Where, c.Statement, c.Theirs, c.Predicate, string(experiment.NotGraded)}
			if full {
				f, err := c.Grade(t)
				if err != nil {
					return out, fmt.Errorf("nb: claim %s: %w", c.ID, err)
				}
				row[3], row[4] = f.Ours, string(f.Verdict)+". "+f.Reason
			}
			out.Rows = append(out.Rows, row)
		}
	}
	return out, nil
}

// projectRoot is the nearest folder, from the working folder upwards, that
// holds the module metriclab.
func projectRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if line, _, _ := strings.Cut(string(mod), "\n"); err == nil && strings.TrimSpace(line) == "module metriclab" {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("nb: no module metriclab in %s and above; a notebook runs inside the project", start)
		}
	}
}
