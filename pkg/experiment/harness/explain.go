package harness

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"metriclab/internal/enum"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
)

// Explained is what can be said of the claims of one experiment.
type Explained struct {
	Experiment, Title string
	Ours              bool // it is a question of ours, not of the paper
	// State says where the results stand: "published", "stale" (of an earlier version of
	// the code), or "none"; then no claim is graded.
	State   string
	Problem string           // why there are no results; "" if there are
	Command string           // regenerates the results; "" if nobody said how they were made
	Claims  []ExplainedClaim // those of the paper, then ours
}

// The states of Explained. A published table is current or stale.
const (
	stateCurrent = statePublished
	stateStale   = "stale"
	stateNone    = "none"
)

// Stale reports whether the results are of an earlier version of the code.
func (e Explained) Stale() bool { return e.State == stateStale }

// ExplainedClaim is a claim with its finding and where to look further.
type ExplainedClaim struct {
	ClaimEntry
	// Ours says that the paper does not make it.
	Ours bool `json:"ours"`
	// Table is where the claim is counted.
	Table Table `json:"table"`
	// Robustness counts its readings, and those of claims with its sentence.
	Robustness judge.Robustness `json:"robustness"`
	// Figure is the path of the view that shows the claim, "" if there is none.
	Figure string `json:"figure,omitempty"`
	// Seeds are the verdicts with other base seeds.
	Seeds []SeedVerdict `json:"seeds,omitempty"`
}

// Explain grades the claims of the selected experiments on what is published in
// cfg.Folders.Published. It runs and writes nothing. What is wrong with the results of an
// experiment is in its Problem; the error is that of ctx.
func Explain(ctx context.Context, sel []Selected, cfg Config) ([]Explained, error) {
	var out []Explained
	var sections []*section
	seeds, err := cfg.otherSeeds()
	if err != nil {
		return nil, err
	}
	for _, selected := range withSentences(sel) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		spec := selected.Spec
		e := Explained{
			Experiment: spec.ID, Title: spec.Title, Ours: spec.Ours, State: stateNone,
			Command: cfg.Origin.command("run " + spec.ID + flags(experiment.Full, 0, cfg.seed())), Claims: []ExplainedClaim{},
		}
		var s *section
		p, err := cfg.plan(ctx, selected)
		switch {
		case err != nil: // the other experiments are not to blame
			e.Problem = "The published results cannot be read: " + err.Error()
		case p.published.problem() != "" && p.published.table == nil:
			e.Problem = "The published results cannot be used: " + p.published.problem()
		default:
			if s = p.publishedSection(seeds); s == nil {
				e.Problem = "No complete results are in " + p.publishedDir() + "."
			}
		}
		if s == nil {
			s = &section{Outcome: &Outcome{Spec: spec}}
			for _, c := range spec.Claims {
				s.Claims = append(s.Claims, GradedClaim{c, judge.Finding{Verdict: judge.NotGraded, Reason: e.Problem}})
			}
		} else {
			e.State = stateCurrent
			if s.Stale {
				e.State = stateStale
			}
			if s.meta != nil {
				e.Command = s.meta.Command
			}
		}
		out, sections = append(out, e), append(sections, s)
	}
	out = out[:len(sel)]
	for i, s := range linked(sections)[:len(sel)] {
		e := &out[i]
		for _, c := range s.Ordered() {
			x := ExplainedClaim{ClaimEntry: newClaimEntry(s.Spec, c), Ours: c.Ours, Table: c.Table(), Robustness: s.robustness(c)}
			x.Seeds = s.reseeded[c.ID]
			if figure := s.figure(x.View); figure != "" {
				x.Figure = filepath.ToSlash(s.Dir) + "/" + figure // it is told to programs, too
			}
			e.Claims = append(e.Claims, x)
		}
	}
	return out, nil
}

// withSentences are the selected experiments, then those with further readings of their claims.
func withSentences(sel []Selected) []Selected {
	out := slices.Clone(sel)
	var claims []string
	for _, x := range sel {
		for _, c := range x.Spec.Claims {
			claims = append(claims, x.Paper.Key+"/"+c.ID)
		}
	}
	for i, x := range sel {
		if slices.ContainsFunc(sel[:i], func(y Selected) bool { return y.Paper.Key == x.Paper.Key }) {
			continue
		}
		for _, s := range x.Paper.Experiments {
			if !slices.ContainsFunc(sel, func(y Selected) bool { return y.Spec.ID == s.ID }) &&
				slices.ContainsFunc(s.Claims, func(c experiment.Claim) bool { return slices.Contains(claims, x.Paper.Key+"/"+c.Sentence) }) {
				out = append(out, Selected{x.Paper, s})
			}
		}
	}
	return out
}

// allClaims is the JSON of ClaimsDocument. It has a checksum, as its first member, over all of these.
type allClaims struct {
	Schema int           `json:"schema"`
	Claims []publicClaim `json:"claims"`
}

// allClaimsSchema is the version of the fields of allClaims and of docs/claims.schema.json.
const allClaimsSchema = 1

type publicClaim struct {
	Paper      string `json:"paper"`
	Experiment string `json:"experiment"`
	State      string `json:"state"`
	Command    string `json:"command"`
	ExplainedClaim
}

// ClaimsDocument is the JSON of explained claims, for other programs: docs/claims.schema.json has its fields.
func ClaimsDocument(all []Explained) ([]byte, error) {
	out := allClaims{allClaimsSchema, []publicClaim{}}
	for _, e := range all {
		paper, _, _ := strings.Cut(e.Experiment, "/")
		for _, c := range e.Claims {
			out.Claims = append(out.Claims, publicClaim{paper, e.Experiment, e.State, e.Command, c})
		}
	}
	return seal(out)
}

// FindClaim returns the claim of that ID, or an *UnknownError.
func (e Explained) FindClaim(id string) (ExplainedClaim, error) {
	var known []string
	for _, c := range e.Claims {
		if c.ID == id {
			return c, nil
		}
		known = append(known, c.ID)
	}
	return ExplainedClaim{}, &UnknownError{Kind: "claim of " + e.Experiment, Name: id, Nearest: nearest(id, known)}
}

// Table is one of the three in which claims are counted.
type Table int

// The tables. A claim with a Sentence of another is a reading of that one, and in none.
const (
	TableSentences Table = iota // what a paper says happens
	TableChecks                 // what is proved or cannot fail, of the papers and ours
	TableOurs                   // questions of ours
	again                       // a reading of another claim's sentence: in none of the three
)

// Tables has the three.
var Tables = []Table{TableSentences, TableChecks, TableOurs}

// Title says above a table what it counts.
func (t Table) Title() string {
	return [...]string{
		"Sentences of the papers about what happens",
		"Checks of the programs: what is proved, or cannot fail whatever the numbers",
		"Questions of ours, which the papers do not answer",
	}[t]
}

var tableNames = enum.Of[Table]("Table(%d)", "sentence", "check", "ours", "reading")

// String is what a claim of the table is called in claims --json and in the report's filters.
func (t Table) String() string { return tableNames.Text(t) }

// MarshalText is String.
func (t Table) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Robust says how many readings of a claim agree.
func (s *section) Robust(c GradedClaim) string { return s.robustness(c).String() }

// Table is where a claim counts.
func (c GradedClaim) Table() Table {
	switch {
	case c.Sentence != "":
		return again
	case c.Finding.Proof != "":
		return TableChecks
	case c.Ours:
		return TableOurs
	}
	return TableSentences
}

// Tally counts the claims of a table by paper and verdict.
type Tally struct {
	Table    Table
	Papers   []string        // in their order
	Verdicts []judge.Verdict // those that occur, best first
	Count    map[string]map[judge.Verdict]int
	Cases    int // of TableChecks, how many independent cases were tried: the claims of an experiment share theirs

	casesOf map[string]int // by experiment
}

// Claims is the number of claims of a paper.
func (t Tally) Claims(paper string) int {
	n := 0
	for _, c := range t.Count[paper] {
		n += c
	}
	return n
}

func (t Tally) all() int {
	n := 0
	for _, p := range t.Papers {
		n += t.Claims(p)
	}
	return n
}

// Total is the number of all claims with a verdict.
func (t Tally) Total(v judge.Verdict) int {
	n := 0
	for _, count := range t.Count {
		n += count[v]
	}
	return n
}

// String is "3 reproduced, 1 partly", best first; "" if nothing is counted.
func (t Tally) String() string {
	total := map[judge.Verdict]int{}
	for _, v := range t.Verdicts {
		total[v] = t.Total(v)
	}
	return countWords(total)
}

// TallyOf counts those claims of experiments that are in a table.
func TallyOf(all []Explained, table Table) Tally {
	t := newTally(table)
	for _, e := range all {
		paper, _, _ := strings.Cut(e.Experiment, "/")
		t.paper(paper)
		for _, c := range e.Claims {
			t.add(e.Experiment, c.Table, c.Finding)
		}
	}
	return t.ended()
}

// tallyOf counts those claims of sections that are in a table.
func tallyOf(sections []*section, table Table) Tally {
	t := newTally(table)
	for _, s := range sections {
		t.paper(s.paper())
		for _, c := range s.Claims {
			t.add(s.Spec.ID, c.Table(), c.Finding)
		}
	}
	return t.ended()
}

// Tally counts those claims that are in a table: of all published experiments, as the scorecard does.
func (r *Result) Tally(table Table) Tally { return tallyOf(r.scored, table) }

func newTally(table Table) Tally {
	return Tally{Table: table, Count: map[string]map[judge.Verdict]int{}, casesOf: map[string]int{}}
}

func (t *Tally) paper(key string) {
	if t.Count[key] == nil {
		t.Papers, t.Count[key] = append(t.Papers, key), map[judge.Verdict]int{}
	}
}

func (t *Tally) add(id string, table Table, f judge.Finding) {
	if table == t.Table {
		paper, _, _ := strings.Cut(id, "/")
		t.Count[paper][f.Verdict]++
		t.casesOf[id] = max(t.casesOf[id], f.Cases)
	}
}

func (t Tally) ended() Tally {
	for _, n := range t.casesOf {
		t.Cases += n
	}
	for _, v := range judge.Verdicts {
		if t.Total(v) > 0 {
			t.Verdicts = append(t.Verdicts, v)
		}
	}
	return t
}

// sentences are the claims of a paper that test the sentence of another one, by its ID, and where that one is.
type sentences struct {
	again map[string][]judge.ReadingFinding
	home  map[string]string // experiment by ID of the claim
}

// linked makes the sections of each paper know its sentences.
func linked(sections []*section) []*section {
	of := map[string]*sentences{}
	for _, s := range sections {
		p := of[s.paper()]
		if p == nil {
			p = &sentences{map[string][]judge.ReadingFinding{}, map[string]string{}}
			of[s.paper()] = p
		}
		s.sentences = p
		for _, c := range s.Claims {
			p.home[c.ID] = s.Spec.ID
			if c.Sentence != "" {
				p.again[c.Sentence] = append(p.again[c.Sentence], judge.ReadingFinding{Name: c.ID, Afterwards: c.Afterwards, Finding: c.Finding})
			}
		}
	}
	return sections
}

// robustness counts the readings of a claim, and those of claims with its sentence; without a verdict none agrees.
func (s *section) robustness(c GradedClaim) judge.Robustness {
	if c.Finding.Verdict == judge.NotGraded {
		return judge.Robustness{}
	}
	self := judge.ReadingFinding{Afterwards: c.Afterwards, Finding: c.Finding}
	if s.sentences == nil {
		return self.Robustness()
	}
	return self.Robustness(s.sentences.again[c.ID]...)
}

// paper is the key of the paper of an experiment.
func (s *section) paper() string {
	paper, _, _ := strings.Cut(s.Spec.ID, "/")
	return paper
}

// Pages returns the pages of what is published of the selected experiments, the scorecard
// first: the Markdown of results/README.md and of what it leads to.
func Pages(ctx context.Context, sel []Selected, cfg Config) ([]Page, error) {
	plans, err := cfg.plans(ctx, sel)
	if err != nil {
		return nil, err
	}
	seeds, err := cfg.otherSeeds()
	if err != nil {
		return nil, err
	}
	var scored []*section
	var missing []string
	for _, p := range plans {
		if s := p.publishedSection(seeds); s != nil {
			scored = append(scored, s)
		} else {
			missing = append(missing, p.Spec.ID)
		}
	}
	return pages(scored, missing, cfg.Origin), nil
}
