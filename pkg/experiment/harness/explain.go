package harness

import (
	"context"
	"slices"
	"strings"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
)

// Explained is what can be said of the claims of one experiment.
type Explained struct {
	// Schema is the version of these fields, that of claims.json.
	Schema     int    `json:"schema"`
	Experiment string `json:"experiment"`
	Title      string `json:"title"`
	// Ours says that it is a question of ours, not of the paper.
	Ours bool `json:"ours"`
	// State says where the results stand: "published", "stale" (of an earlier version of
	// the code), or "none"; then no claim is graded.
	State string `json:"state"`
	// Problem says why there are no results; "" if there are.
	Problem string `json:"problem,omitempty"`
	// Command regenerates the results; "" if nobody said how they were made.
	Command string `json:"command"`
	// Claims are those of the paper, then ours.
	Claims []ExplainedClaim `json:"claims"`
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
	seeds, err := cfg.otherSeeds()
	if err != nil {
		return nil, err
	}
	for _, selected := range sel {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		spec := selected.Spec
		e := Explained{
			Schema: claimsSchema, Experiment: spec.ID, Title: spec.Title, Ours: spec.Ours, State: stateNone,
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
		for _, c := range s.Ordered() {
			x := ExplainedClaim{ClaimEntry: newClaimEntry(spec, c), Ours: c.Ours}
			x.Seeds = s.reseeded[c.ID]
			if figure := s.figure(x.View); figure != "" {
				x.Figure = s.Dir + "/" + figure
			}
			e.Claims = append(e.Claims, x)
		}
		out = append(out, e)
	}
	return out, nil
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

// Tally counts claims by paper and verdict.
type Tally struct {
	Papers   []string        // in their order
	Verdicts []judge.Verdict // those that occur, best first
	Count    map[string]map[judge.Verdict]int
}

// Claims is the number of claims of a paper.
func (t Tally) Claims(paper string) int {
	n := 0
	for _, c := range t.Count[paper] {
		n += c
	}
	return n
}

// TallyOf counts those claims of experiments that are the papers', or ours.
func TallyOf(all []Explained, ours bool) Tally {
	t := Tally{Count: map[string]map[judge.Verdict]int{}}
	for _, e := range all {
		paper, _, _ := strings.Cut(e.Experiment, "/")
		if t.Count[paper] == nil {
			t.Papers, t.Count[paper] = append(t.Papers, paper), map[judge.Verdict]int{}
		}
		for _, c := range e.Claims {
			if c.Ours == ours {
				t.Count[paper][c.Finding.Verdict]++
			}
		}
	}
	for _, v := range judge.Verdicts {
		if slices.ContainsFunc(t.Papers, func(p string) bool { return t.Count[p][v] > 0 }) {
			t.Verdicts = append(t.Verdicts, v)
		}
	}
	return t
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
