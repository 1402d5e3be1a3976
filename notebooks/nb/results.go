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
	"time"
	"unicode/utf8"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
	"metriclab/pkg/judge"
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
	t, _, err := rows(root, spec, scale, false)
	return t, err
}

// Times returns the timing table of an experiment, with the columns of
// harness.TimesColumns; scale is as in Rows. At smoke scale the times are those
// of the run that made the rows. Errors are those of Rows, and full-scale times
// that are missing or not those that meta.json describes.
func Times(spec experiment.Spec, scale string) (*table.Table, error) {
	root, err := projectRoot()
	if err != nil {
		return nil, err
	}
	_, times, err := rows(root, spec, scale, true)
	return times, err
}

// rows returns the table and, if timed, the timing table of an experiment.
func rows(root string, spec experiment.Spec, name string, timed bool) (t, times *table.Table, err error) {
	scale, err := experiment.ParseScale(name)
	if err != nil {
		return nil, nil, err
	}
	if scale == experiment.Full {
		dir := filepath.Join(root, "results", filepath.FromSlash(spec.ID))
		t, err := harness.ReadTable(spec, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, &missingError{spec.ID}
		}
		if err != nil || !timed {
			return t, nil, err
		}
		times, err := harness.ReadTimes(spec, dir)
		return t, times, err
	}
	r, err := harness.Run(context.Background(), []harness.Selected{{Spec: spec}}, harness.Config{
		Scale: scale, Workers: runtime.NumCPU(),
		Folders: harness.FoldersFor(scale, filepath.Join(root, "out", "notebooks")),
		Data:    datasets.Open(filepath.Join(root, "data")),
		World:   harness.World{Now: time.Now, ProcessCPU: processCPU},
	})
	if err != nil {
		return nil, nil, err
	}
	failed := []error{r.StoreErr, r.Outcomes[0].Err}
	for _, f := range r.Failed {
		failed = append(failed, f.Err)
	}
	o := r.Outcomes[0]
	return o.Table, o.Times, errors.Join(failed...)
}

// missingError says that full-scale results are not there, and what makes them.
type missingError struct{ experiment string }

func (e *missingError) Error() string {
	return fmt.Sprintf("no full-scale results of %s; in the project's folder run: go run ./cmd/metriclab run %s --scale full", e.experiment, e.experiment)
}

// ShowView displays the named view of an experiment at a scale, see Rows. Where
// full-scale results are missing it displays the command that makes them. Of a
// long table it displays the first rows, and a link to all. It panics on every
// other error.
func ShowView(spec experiment.Spec, view, scale string) {
	i := slices.IndexFunc(spec.Views, func(v experiment.View) bool { return v.Name == view })
	if i < 0 {
		var names []string
		for _, v := range spec.Views {
			names = append(names, v.Name)
		}
		panic(fmt.Errorf("nb: %s has no view %q; it has %s", spec.ID, view, strings.Join(names, ", ")))
	}
	d, err := draw(Must(projectRoot()), spec, spec.Views[i], scale)
	if showMissing(err) {
		return
	}
	d, more := shortened(Must(d, err))
	show(d, watermark(scale))
	if more != "" && scale == string(experiment.Full) {
		more += fmt.Sprintf("; [all](../results/%s/%s.md)", spec.ID, view)
	}
	if more != "" {
		displayMarkdown(more + ".")
	}
}

// mostRows is the largest number of rows of a table that is displayed whole; of a longer one fewRows are.
const mostRows, fewRows = 24, 12

// shortened is a drawing of whose table, if it is long, the first rows are left, and a text that says so, without a full stop.
func shortened(d plots.Drawing) (plots.Drawing, string) {
	if d.Text == nil || len(d.Text.Rows) <= mostRows {
		return d, ""
	}
	text := *d.Text
	text.Rows = text.Rows[:fewRows]
	more := fmt.Sprintf("The first %d of %d rows", fewRows, len(d.Text.Rows))
	d.Text = &text
	return d, more
}

func draw(root string, spec experiment.Spec, view experiment.View, scale string) (plots.Drawing, error) {
	t, times, err := rows(root, spec, scale, view.Timed())
	if err != nil {
		return plots.Drawing{}, err
	}
	return view.DrawWith(t, times)
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

// ShowClaims displays one line a claim of the experiments: the verdict at full scale, the
// sentence, how many of its readings agree, and a link to all that is known of it. What the
// paper says happens comes first, then checks, then questions of ours; claims that test a
// sentence again count among its readings. At smoke scale claims are not graded. Experiments
// whose full-scale results are missing are named with the command that makes them. It panics
// on every other error.
func ShowClaims(specs []experiment.Spec, scale string) {
	root := Must(projectRoot())
	tables, err := claims(root, specs, scale, func(err error) bool { return showMissing(err) })
	Check(err)
	for i, text := range tables {
		if text != "" {
			displayMarkdown("**" + harness.Tables[i].Title() + "**\n\n" + text)
		}
	}
}

// maxRow is the largest number of characters of a claim's line; a longer sentence loses its last words.
const maxRow = 200

// claims are the lines of harness.Tables in Markdown, "" of a table without any; skip says whether an experiment without
// a table is left out.
func claims(root string, specs []experiment.Spec, scale string, skip func(error) bool) ([]string, error) {
	if _, err := experiment.ParseScale(scale); err != nil {
		return nil, err
	}
	full := scale == string(experiment.Full)
	type line struct {
		experiment string
		harness.GradedClaim
	}
	var lines []line
	again := map[string][]judge.ReadingFinding{}
	for _, spec := range specs {
		var t, times *table.Table
		if full {
			var err error
			if t, times, err = rows(root, spec, scale, slices.ContainsFunc(spec.Claims, experiment.Claim.Timed)); err != nil {
				if skip(err) {
					continue
				}
				return nil, err
			}
		}
		for _, c := range spec.Claims {
			f := judge.Finding{Verdict: judge.NotGraded}
			if full {
				var err error
				if f, err = c.Judge(t, times); err != nil {
					return nil, fmt.Errorf("nb: claim %s: %w", c.ID, err)
				}
			}
			lines = append(lines, line{spec.ID, harness.GradedClaim{Claim: c, Finding: f}})
			if c.Sentence != "" {
				again[c.Sentence] = append(again[c.Sentence], judge.ReadingFinding{Name: c.ID, Afterwards: c.Afterwards, Finding: f})
			}
		}
	}
	cell := strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "$", `\$`, "<", "&lt;", "\n", " ")
	out := make([]string, len(harness.Tables))
	for i, t := range harness.Tables {
		for _, l := range lines {
			if l.Table() != t {
				continue
			}
			if out[i] == "" {
				out[i] = "| verdict | claim | readings | more |\n|---|---|---|---|\n"
			}
			agree := ""
			if r := (judge.ReadingFinding{Afterwards: l.Afterwards, Finding: l.Finding}).Robustness(again[l.ID]...); full && r.Of > 1 {
				agree = fmt.Sprintf("%d of %d", r.Agree, r.Of)
			}
			_, name, _ := strings.Cut(l.experiment, "/")
			row := func(sentence string) string {
				return fmt.Sprintf("| %s | %s | %s | [%s](../results/%s/claims.md#%s) |\n", l.Finding.Verdict, cell.Replace(sentence), agree, name, l.experiment, l.ID)
			}
			text, words := row(l.Short()), strings.Fields(l.Short())
			for n := len(words) - 1; n > 0 && utf8.RuneCountInString(text) > maxRow; n-- {
				text = row(strings.Join(words[:n], " ") + " …")
			}
			out[i] += text
		}
	}
	return out, nil
}

// ShowMore displays the named experiments of a paper in short: the title with a link to all that is known, the verdicts of
// the claims at full scale, and the first figure. Scale is as in Rows; missing full-scale results are named with the
// command that makes them. It panics on a name that the paper does not have, and on every other error.
func ShowMore(paper experiment.Paper, scale string, names ...string) {
	root := Must(projectRoot())
	for _, name := range names {
		spec := Must(named(paper, name))
		d, err := draw(root, spec, spec.Views[0], scale)
		if showMissing(err) {
			continue
		}
		Check(err)
		line := fmt.Sprintf("**%s**: [%s](../results/%s/README.md)", name, spec.Title, spec.ID)
		if scale == string(experiment.Full) {
			line += Must(verdicts(root, spec))
		}
		displayMarkdown(line)
		img, text, err := render(d, plots.Options{DPI: frameDPI, Watermark: watermark(scale)})
		Check(err)
		if img == nil {
			displayMarkdown(text)
			continue
		}
		displayPNG(img, figureText(d), pageDPI)
	}
}

// named is the experiment of a paper by the part of its ID after the paper's key.
func named(paper experiment.Paper, name string) (experiment.Spec, error) {
	i := slices.IndexFunc(paper.Experiments, func(s experiment.Spec) bool { return s.ID == paper.Key+"/"+name })
	if i < 0 {
		var names []string
		for _, s := range paper.Experiments {
			names = append(names, strings.TrimPrefix(s.ID, paper.Key+"/"))
		}
		return experiment.Spec{}, fmt.Errorf("nb: %s has no experiment %q; it has %s", paper.Key, name, strings.Join(names, ", "))
	}
	return paper.Experiments[i], nil
}

// verdicts counts those of an experiment's claims in the order of the claims, "" without any: "; reproduced 2, undecided 1".
func verdicts(root string, spec experiment.Spec) (string, error) {
	t, times, err := rows(root, spec, string(experiment.Full), slices.ContainsFunc(spec.Claims, experiment.Claim.Timed))
	if err != nil {
		return "", err
	}
	var order []judge.Verdict
	counts := map[judge.Verdict]int{}
	for _, c := range spec.Claims {
		f, err := c.Judge(t, times)
		if err != nil {
			return "", fmt.Errorf("nb: claim %s: %w", c.ID, err)
		}
		if counts[f.Verdict]++; counts[f.Verdict] == 1 {
			order = append(order, f.Verdict)
		}
	}
	var out []string
	for _, v := range order {
		out = append(out, fmt.Sprintf("%s %d", v, counts[v]))
	}
	if out == nil {
		return "", nil
	}
	return ". Claims: " + strings.Join(out, ", "), nil
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
