package harness

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
)

//go:embed report.tmpl.html
var reportHTML string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"image": imageSource, "class": verdictClass, "anchor": anchor, "seconds": seconds, "short": shortRevision, "alt": altText, "words": wordsOf, "whose": whose,
	"css": func() template.CSS { return template.CSS(reportCSS) }, "js": func() template.JS { return template.JS(reportJS) },
	"plural": plural.Of, "theirs": reportTheirs, "brief": reportBrief, "why": reportWhy, "where": experiment.Claim.Source, "strip": stripOf, "units": unitsOf, "readings": readingsOf,
}).Parse(reportHTML))

// reportSign stands at the head of each report that we wrote.
const reportSign = "<title>metriclab report"

// scorecardFile is the scorecard's name in the published folder.
const scorecardFile = "README.md"

// report writes the HTML report of all experiments that have something to
// show and, at full scale, the scorecard. It returns the report's path. The
// scorecard stays as it is if published rows are damaged, since without them it
// would lack their claims.
func (r *runner) report(sel []Selected, outcomes map[*plan]*Outcome, plans []*plan) (string, error) {
	all := sel
	if r.cfg.Papers != nil {
		all, _ = Select(r.cfg.Papers, nil) // no name cannot be unknown
	}
	// Experiments that were not selected are shown as the default run has them.
	rest := *r.cfg
	rest.Trials, rest.Seed, rest.Cells, rest.Progress = 0, 0, nil, nil
	quiet := &runner{cfg: &rest, store: r.store, result: &Result{}, keeps: true}

	seeds, err := r.cfg.otherSeeds()
	if err != nil {
		return "", err
	}
	var shown, scored []*section
	var missing []string // experiments without results
	whole := true
	for _, s := range all {
		i := slices.IndexFunc(plans, func(p *plan) bool { return p.Spec.ID == s.Spec.ID })
		var p *plan
		var o *Outcome
		if i >= 0 {
			p, o = plans[i], outcomes[plans[i]]
		} else {
			var err error
			if p, err = rest.plan(context.Background(), s); err != nil {
				// Its data or results cannot be read; the others are not to blame.
				d := DamagedFile{Path: s.Spec.ID, Err: err}
				r.result.Damaged = append(r.result.Damaged, d)
				r.emit(Event{Kind: EventDamaged, Experiment: s.Spec.ID, File: d})
				shown = append(shown, &section{Outcome: &Outcome{Paper: s.Paper, Spec: s.Spec, Problem: err.Error()}})
				whole = false
				r.noteDrawn(shown[len(shown)-1].Outcome, r.cfg.World.now())
				continue
			}
			p.pending = nil
			r.noteDamage(p, false)
			o = &Outcome{Paper: s.Paper, Spec: s.Spec}
			start := r.cfg.World.now()
			quiet.finish(p, o)
			r.noteDrawn(o, start)
		}
		if o.Published {
			now := &section{Outcome: o}
			now.reseeded, now.seeds = p.reseeded(seeds)
			shown, scored = append(shown, now), append(scored, now)
			continue
		}
		old := p.publishedSection(seeds)
		if old != nil {
			scored = append(scored, old)
		} else {
			missing = append(missing, s.Spec.ID)
		}
		whole = whole && p.published.damage == nil && p.published.older == nil
		switch {
		case o.Done > 0 || old == nil && (i >= 0 || o.Problem != ""):
			shown = append(shown, &section{Outcome: o})
		case old != nil:
			for _, v := range p.Spec.Views {
				d, _ := render(v, old.Table, old.Times, "") // its caption says what went wrong
				old.Views = append(old.Views, d)
			}
			shown = append(shown, old)
		}
	}

	r.result.scored = scored
	html, err := renderReport(r.cfg.Scale, shown, filepath.Dir(r.cfg.Folders.Report), r.cfg.Origin)
	if err != nil {
		return "", err
	}
	if err := r.store.writeChanged(r.cfg.Folders.Report, html); err != nil {
		return "", err
	}
	if r.cfg.Folders.Published != "" && r.cfg.Papers != nil && len(scored) > 0 && whole {
		for _, p := range pages(scored, missing, r.cfg.Origin) {
			if err := r.store.writeChanged(filepath.Join(r.cfg.Folders.Published, filepath.FromSlash(p.Path)), p.Data); err != nil {
				return "", err
			}
		}
	}
	return r.cfg.Folders.Report, nil
}

// reportPaper is one paper in the report.
type reportPaper struct {
	Paper    experiment.Paper
	Sections []*section
}

// reportCount counts the claims with a verdict.
type reportCount struct {
	Verdict judge.Verdict
	N       int
}

// reportTable is one of the three tables of the overview: its totals, and a bar a paper.
type reportTable struct {
	Table Table
	Total []reportCount
	Bars  []reportBar
}

type reportBar struct {
	Paper  string
	Counts []reportCount
	All    int
}

// scorecardFrom returns the path of the committed results' scorecard from a folder, with slashes, or "" if there are none.
func scorecardFrom(dir string) string {
	card, err := filepath.Abs(filepath.Join(FoldersFor(experiment.Full, "").Published, scorecardFile))
	if err != nil {
		return ""
	}
	if from, err := filepath.Abs(dir); err == nil {
		dir = from
	}
	path, err := filepath.Rel(dir, card)
	if _, there := os.Stat(card); err != nil || there != nil {
		return ""
	}
	return filepath.ToSlash(path)
}

// renderReport renders the report that stands in a folder.
func renderReport(scale experiment.Scale, sections []*section, dir string, o Origin) ([]byte, error) {
	data := struct {
		Scale     experiment.Scale
		Smoke     bool
		Papers    []reportPaper
		Tables    []reportTable
		Tally     []judge.Verdict // those that occur
		Drawn     string          // what a smoke run drew
		Graded    string          // the command that shows what is graded
		Scorecard string          // of the results that a smoke run stands beside
	}{Scale: scale, Smoke: scale == experiment.Smoke, Papers: byPaper(linked(sections)), Drawn: drawnWords(sections)}
	if o.Program != "" {
		data.Graded = o.command("report --scale full")
	}
	if data.Smoke {
		data.Scorecard = scorecardFrom(dir)
	}
	var graded []*section
	for _, s := range sections {
		s.reportDir = dir
		if !s.Ungraded() {
			graded = append(graded, s)
		}
	}
	occur := map[judge.Verdict]bool{}
	for _, table := range Tables {
		t := tallyOf(graded, table)
		overview := reportTable{Table: table}
		for _, v := range t.Verdicts {
			occur[v] = true
			overview.Total = append(overview.Total, reportCount{v, t.Total(v)})
		}
		for _, p := range t.Papers {
			bar := reportBar{Paper: p, All: t.Claims(p)}
			for _, v := range t.Verdicts {
				if n := t.Count[p][v]; n > 0 {
					bar.Counts = append(bar.Counts, reportCount{v, n})
				}
			}
			if bar.All > 0 {
				overview.Bars = append(overview.Bars, bar)
			}
		}
		if len(overview.Bars) > 0 {
			data.Tables = append(data.Tables, overview)
		}
	}
	for _, v := range judge.Verdicts {
		if occur[v] {
			data.Tally = append(data.Tally, v)
		}
	}
	var b bytes.Buffer
	if err := reportTemplate.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("experiment: report: %w", err)
	}
	return []byte(printable.Text(b.String())), nil
}

// drawnWords says how much sections show: "3 experiments with 5 figures drawn."
func drawnWords(sections []*section) string {
	experiments, views := 0, 0
	for _, s := range sections {
		if s.Done > 0 {
			experiments, views = experiments+1, views+len(s.Views)
		}
	}
	return fmt.Sprintf("%s with %s drawn.", plural.Of(experiments, "experiment"), plural.Of(views, "figure"))
}

// State says in words where an experiment stands.
func (s *section) State() string {
	switch {
	case s.Stale:
		return "complete, of an earlier version of the code; a run is due"
	case s.Published:
		return "complete, full scale"
	case s.Done == 0 && s.Problem != "":
		return "nothing to show: the published results are damaged"
	case s.Done == 0:
		return "nothing to show yet: no job has finished"
	case s.Done == s.Jobs:
		return "complete; " + s.Watermark
	}
	return s.Watermark
}

// ViewOf names the view that shows a claim, "" if there is none.
func (s *section) ViewOf(c GradedClaim) string { return viewOf(c.Claim, s.Spec) }

// Meta is the provenance, for the template.
func (s *section) Meta() *metaJSON { return s.meta }

// Command is the command line that makes the experiment's table, "" if nobody said
// which it was.
func (s *section) Command() string {
	if s.meta == nil {
		return ""
	}
	return s.meta.Command
}

// figure names the image file of a view in the experiment's folder: PNG,
// because every viewer of Markdown shows it, else the text.
func (s *section) figure(view string) string {
	for _, ext := range []string{".png", ".svg", ".md"} {
		if _, err := os.Stat(filepath.Join(s.Dir, view+ext)); err == nil {
			return view + ext
		}
	}
	return ""
}

// whose says whose question something is, for the filter of the report.
func whose(ours bool) string {
	if ours {
		return "ours"
	}
	return "paper"
}

func verdictClass(v judge.Verdict) string { return strings.ReplaceAll(string(v), " ", "-") }

func anchor(parts ...string) string {
	return strings.NewReplacer("/", "-", " ", "-").Replace(strings.Join(parts, "-"))
}

// seconds prints a time in seconds as people read it.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

func shortRevision(r string) string {
	if len(r) > 12 {
		return r[:12]
	}
	return r
}
