package harness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/limits"
	"metriclab/pkg/plots"
	"metriclab/pkg/table"
)

// DrawnView is a view with the files that show it: images, and its words in Markdown.
type DrawnView struct {
	experiment.View
	Files []plots.File
	// Failure says why there are no files; "" if there are.
	Failure string
}

// GradedClaim is a claim with its finding.
type GradedClaim struct {
	experiment.Claim
	Finding judge.Finding
}

// finish renders and writes what an experiment has, published or as a draft.
//
// The files of a published experiment are written one by one, meta.json last. It
// carries the SHA-256 of both tables, so that after a kill no meta.json matches
// tables that it does not describe. Until then the hidden file .publishing vouches
// for the new tables. The next run writes what is missing or differs.
func (r *runner) finish(p *plan, o *Outcome) {
	o.Jobs, o.Done, o.jobsSum = len(p.jobs), p.done(), p.jobsSum(p.cfg.seed())
	if r.cfg.Progress != nil { // who is not told needs no clock
		defer r.noteDrawn(o, r.cfg.World.now())
	}
	o.Watermark, o.Problem = p.watermark(), p.published.problem()
	if p.done() == 0 {
		return
	}
	if o.Watermark == "" && p.published.lostTimes != nil && p.fromPublished() {
		o.Watermark = "the published times are damaged" // and would be lost with what is published now
	}
	o.Published = o.Watermark == ""
	t, err := p.table()
	if err != nil {
		o.Published, o.Err = false, err
		return
	}
	o.Table = t
	o.Times = p.times()

	var csv, timing bytes.Buffer
	if err := errors.Join(o.Table.WriteCSV(&csv), o.Times.WriteCSV(&timing)); err != nil {
		o.Published, o.Err = false, err
		return
	}
	p.place(o, csv.Bytes(), timing.Bytes())
	if r.keeps && o.keep(csv.Bytes(), timing.Bytes()) {
		return
	}
	failed := drawAll(p.Spec, o)
	if len(failed) > 0 && o.Published {
		// What is published stays; what is there now goes to the drafts.
		o.Published, o.Watermark = false, "views or claims failed"
		p.place(o, csv.Bytes(), timing.Bytes())
	}
	files, problems := folderFiles(p, o, csv.Bytes(), timing.Bytes())
	failed = append(failed, problems...)
	files, figures, edited := leaveEdited(o, files)
	failed = append(failed, edited...)
	err = r.noteDrawnFiles(o.Dir, figures)
	if err == nil && o.Published {
		err = r.publish(o.Dir, files)
	} else if err == nil {
		err = r.writeAll(o.Dir, files)
	}
	if err == nil {
		err = r.noteDrawnFiles(o.Dir, figures)
	}
	for _, f := range files {
		if err == nil && f.Name != publishingFile {
			o.files = append(o.files, filepath.Join(o.Dir, f.Name))
		}
	}
	if err != nil {
		failed = append(failed, err)
	} else if o.Published {
		o.Problem = ""
	}
	o.Err = errors.Join(failed...)
}

// place says in which folder the files of an experiment lie, and what describes its tables there.
func (p *plan) place(o *Outcome, csv, timing []byte) {
	o.Dir = p.draftDir()
	state := stateDraft
	if o.Published {
		o.Dir, state = p.publishedDir(), statePublished
	}
	o.meta = p.meta(state, sum(csv), sum(timing))
}

// keep takes the views and findings that the folder of an experiment has, and reports whether it could: they are of
// these tables, and of the experiment as it is declared. Its pages are kept with them, since claims.json has fewer digits
// than what they are written from.
func (o *Outcome) keep(csv, timing []byte) bool {
	read := func(name string) []byte {
		data, _ := limits.ReadFile(filepath.Join(o.Dir, name)) // what cannot be read is rendered anew
		return data
	}
	meta, err := seal(o.meta)
	if err != nil || !bytes.Equal(read(metaFile), meta) || !bytes.Equal(read(tableFile), csv) || !bytes.Equal(read(timingFile), timing) {
		return false
	}
	if o.Published && (read(pageFile) == nil || len(o.Spec.Claims) > 0 && read(claimsPageFile) == nil) {
		return false
	}
	var views []DrawnView
	drawn := readDrawn(o.Dir)
	for _, v := range o.Spec.Views {
		d := DrawnView{View: v}
		for _, ext := range []string{".svg", ".png", ".gif", wordsExt} {
			f := plots.File{Name: v.Name + ext, Data: read(v.Name + ext)}
			if was := drawn.Figures[f.Name]; len(was) > 0 && was[0] != sum(f.Data) {
				return false
			}
			if f.Data != nil {
				d.Files = append(d.Files, f)
			}
		}
		if !d.whole(o.Watermark) {
			return false
		}
		views = append(views, d)
	}
	var graded []GradedClaim
	if len(o.Spec.Claims) > 0 {
		var found claims
		data := read(claimsFile)
		if err := unseal(data, &found); err != nil || len(found.Claims) != len(o.Spec.Claims) {
			return false
		}
		for i, c := range o.Spec.Claims {
			graded = append(graded, GradedClaim{c, found.Claims[i].Finding})
		}
		if now, err := encodeClaims(o.Spec, graded); err != nil || !bytes.Equal(now, data) {
			return false
		}
	}
	o.Views, o.Claims, o.kept = views, graded, true
	return true
}

// wordsExt is the extension of the words of a view.
const wordsExt = ".md"

// file is the content of the file of a view with an extension, nil if there is none.
func (d DrawnView) file(ext string) []byte {
	for _, f := range d.Files {
		if f.Name == d.Name+ext {
			return f.Data
		}
	}
	return nil
}

// whole reports whether a view has words with this watermark, and the images that they link to.
func (d DrawnView) whole(watermark string) bool {
	words := string(d.file(wordsExt))
	links := func(ext string) bool { return strings.Contains(words, "]("+d.Name+ext+")") }
	marked := strings.HasPrefix(words, "> ")
	switch {
	case words == "" || marked != (watermark != "") || marked && !strings.HasPrefix(words, "> "+watermark+"\n"):
		return false
	case links(".svg") && (d.file(".svg") == nil || d.file(".png") == nil):
		return false
	}
	return !links(".gif") || d.file(".gif") != nil
}

// noteDrawn tells that an experiment is rendered, which began at a time.
func (r *runner) noteDrawn(o *Outcome, start time.Time) {
	r.mu.Lock()
	r.drawing += r.cfg.World.now().Sub(start)
	r.mu.Unlock()
	r.emit(Event{Kind: EventDrawn, Experiment: o.Spec.ID, Outcome: o})
}

// drawAll renders the views and grades the claims of an experiment into o, and returns what failed.
func drawAll(s experiment.Spec, o *Outcome) (failed []error) {
	for _, v := range s.Views {
		d, err := render(v, o.Table, o.Times, o.Watermark)
		if err != nil {
			failed = append(failed, fmt.Errorf("view %s: %w", v.Name, err))
		}
		o.Views = append(o.Views, d)
	}
	for _, c := range s.Claims {
		f, err := graded(c, o.Table, o.Times, o.Watermark)
		if err != nil {
			failed = append(failed, err)
		}
		o.Claims = append(o.Claims, GradedClaim{c, f})
	}
	return failed
}

// folderFiles returns the files of an experiment's folder in the order in which they are written, and what could not
// be encoded.
func folderFiles(p *plan, o *Outcome, csv, timing []byte) (files []plots.File, failed []error) {
	meta, err := seal(o.meta)
	if err != nil {
		failed = append(failed, err)
	}
	if o.Published && !p.published.has(o.meta) {
		journal := strings.TrimSpace(o.meta.TableSHA256 + " " + o.meta.TimingSHA256)
		files = append(files, plots.File{Name: publishingFile, Data: []byte(journal)})
	}
	files = append(files, plots.File{Name: tableFile, Data: csv}, plots.File{Name: timingFile, Data: timing})
	for _, v := range o.Views {
		files = append(files, v.Files...)
	}
	if len(o.Claims) > 0 {
		claims, err := encodeClaims(p.Spec, o.Claims)
		if err != nil {
			failed = append(failed, err)
		}
		files = append(files, plots.File{Name: claimsFile, Data: claims})
	}
	return append(files, plots.File{Name: metaFile, Data: meta}), failed
}

// drawnFile holds the SHA-256 of each figure of a folder: as it is to be written, and as it was written before.
const drawnFile = ".drawn"

// drawnJSON is the JSON of drawnFile.
type drawnJSON struct {
	Figures map[string][]string `json:"figures"` // the last one first
}

// readDrawn returns what is known of the figures of a folder; nothing, if that cannot be read.
func readDrawn(dir string) drawnJSON {
	var d drawnJSON
	if data, err := limits.ReadFile(filepath.Join(dir, drawnFile)); err != nil || unseal(data, &d) != nil || d.Figures == nil {
		return drawnJSON{map[string][]string{}}
	}
	return d
}

// leaveEdited returns the files to write, without the figures that somebody has changed since they were written, which it names; and the figures
// among the files.
func leaveEdited(o *Outcome, files []plots.File) (write, figures []plots.File, edited []error) {
	drawn := readDrawn(o.Dir)
	for _, f := range files {
		if slices.ContainsFunc(o.Views, func(v DrawnView) bool { return strings.HasPrefix(f.Name, v.Name+".") }) {
			path, was := filepath.Join(o.Dir, f.Name), drawn.Figures[f.Name]
			there, err := limits.ReadFile(path)
			if err == nil && len(was) > 0 && len(there) > 0 && !bytes.Equal(there, f.Data) && !slices.Contains(was, sum(there)) {
				edited = append(edited, fmt.Errorf("%s was changed since it was written, and is left; move it to have it drawn anew", path))
				continue
			}
			figures = append(figures, f)
		}
		write = append(write, f)
	}
	return write, figures, edited
}

// noteDrawnFiles notes figures. It is called before they are written, so that those of a killed run are known, and after, so that they are where
// another process notes its own at the same time.
func (r *runner) noteDrawnFiles(dir string, figures []plots.File) error {
	drawn := readDrawn(dir)
	for _, f := range figures {
		const most = 16 // of several processes and killed runs
		digest := sum(f.Data)
		was := slices.DeleteFunc(drawn.Figures[f.Name], func(s string) bool { return s == digest })
		drawn.Figures[f.Name] = append([]string{digest}, was[:min(len(was), most)]...)
	}
	data, err := seal(drawn)
	if err != nil {
		return err
	}
	return r.store.writeChanged(filepath.Join(dir, drawnFile), data)
}

// publish writes the files of a published folder. Another process may do the same at
// the same time: whoever ends last sees to it that the files agree.
func (r *runner) publish(dir string, files []plots.File) error {
	journal := filepath.Join(dir, publishingFile)
	if _, err := os.Lstat(journal); err == nil && len(readJournal(dir)) == 0 {
		return fmt.Errorf("%s was not written by metriclab and would be replaced; move it", journal)
	}
	for range 10 {
		if err := r.writeAll(dir, files); err != nil {
			return err
		}
		if agree(dir) {
			_ = os.Remove(journal) // left over, it says what meta.json says
			return nil
		}
	}
	return fmt.Errorf("%s: other processes replace its files again and again", dir)
}

// agree reports whether the meta.json of a folder describes its tables.
func agree(dir string) bool {
	m, _, err := readMeta(dir)
	if err != nil {
		return false
	}
	rows, err := limits.ReadFile(filepath.Join(dir, tableFile))
	if err != nil || sum(rows) != m.TableSHA256 {
		return false
	}
	times, err := limits.ReadFile(filepath.Join(dir, timingFile))
	return err == nil && sum(times) == m.TimingSHA256
}

// writeAll writes the files that differ, in order, and stops at the first error.
func (r *runner) writeAll(dir string, files []plots.File) error {
	for _, f := range files {
		if err := r.store.writeChanged(filepath.Join(dir, f.Name), f.Data); err != nil {
			return err
		}
	}
	return nil
}

// render renders a view; a panic in rendering is an error.
func render(v experiment.View, t, times *table.Table, watermark string) (d DrawnView, err error) {
	d.View = v
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err != nil {
			d.Failure, d.Files = "This view could not be drawn: "+firstLine(err.Error()), nil
		}
	}()
	drawing, err := v.DrawWith(t, times)
	if err != nil {
		return d, err
	}
	d.Files, err = drawing.Render(v.Name, plots.Options{Watermark: watermark})
	return d, err
}

// graded grades a claim; with a watermark it is not graded.
func graded(c experiment.Claim, t, times *table.Table, watermark string) (f judge.Finding, err error) {
	if watermark != "" {
		return judge.Finding{Verdict: judge.NotGraded, Reason: "Graded on a complete full-scale table only; this one: " + watermark + "."}, nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("claim %s: panic: %v\n%s", c.ID, p, debug.Stack())
		}
		if err != nil {
			f = judge.Finding{Verdict: judge.NotGraded, Reason: gradingFailed + firstLine(err.Error())}
		}
	}()
	if f, err = c.Judge(t, times); err != nil {
		return f, fmt.Errorf("claim %s: %w", c.ID, err)
	}
	return f, nil
}

// gradingFailed begins the reason of a claim that could not be graded.
const gradingFailed = "The grading failed: "

func firstLine(s string) string {
	line, _, _ := bytes.Cut([]byte(s), []byte("\n"))
	return string(line)
}
