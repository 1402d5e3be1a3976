package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"metriclab/internal/plural"
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/limits"
)

// seedsFile is the name of the list of other seeds' verdicts in the published folder.
const seedsFile = "seeds.json"

// seedsSchema is the version of the fields of seeds.json, and of the rule that makes a verdict of readings: verdicts by
// another rule are not compared.
const seedsSchema = 2

// seedsJSON is the JSON of seeds.json. The file has a checksum, as its first member, over
// all of these.
type seedsJSON struct {
	Schema int        `json:"schema"`
	Seeds  []Reseeded `json:"seeds"`
}

// Reseeded is what came of an experiment with another base seed.
type Reseeded struct {
	Experiment string `json:"experiment"`
	Seed       uint64 `json:"seed"`
	Trials     int    `json:"trials"`
	Jobs       int    `json:"jobs"`
	// JobsSHA256 is of the ids of the jobs: a later version of the experiment has others.
	JobsSHA256 string          `json:"jobs_sha256"`
	CPUS       float64         `json:"cpu_s,omitempty"`
	Claims     []ReseededClaim `json:"claims"`
}

// ReseededClaim is the verdict on a claim with another base seed.
type ReseededClaim struct {
	ID string `json:"id"`
	// Predicate is what was tested: a verdict by another predicate is not compared.
	Predicate string        `json:"predicate"`
	Verdict   judge.Verdict `json:"verdict"`
	Ours      string        `json:"ours"`
}

// jobsSum is the SHA-256 of the ids that the jobs of the standard trials have with a base
// seed.
func (p *plan) jobsSum(seed uint64) string {
	digests := map[string]string{}
	for _, j := range p.jobs {
		digests[j.Cell.Dataset] = j.Key.DatasetSHA256
	}
	var ids strings.Builder
	for _, j := range Jobs(p.Spec, p.cfg.Scale, p.standard, seed, func(name string) string { return digests[name] }) {
		ids.WriteString(j.ID + "\n")
	}
	return sum([]byte(ids.String()))
}

// LeftOut is an experiment that Reseed does not run.
type LeftOut struct {
	Experiment string
	// Reason says why, as a clause: "its published run took 2h24m0s on the CPU".
	Reason string
}

// Affordable splits experiments into those whose published run, in cfg.Folders.Published,
// took at most the given time on the CPU, and the others.
func Affordable(ctx context.Context, sel []Selected, cfg Config, atMost time.Duration) (kept []Selected, left []LeftOut, err error) {
	for _, s := range sel {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		m, _, err := readMeta((&plan{Selected: s, cfg: &cfg}).publishedDir())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			left = append(left, LeftOut{s.Spec.ID, "it has no published results to compare with"})
		case err != nil:
			return nil, nil, fmt.Errorf("experiment: %s: %w", s.Spec.ID, err)
		case m.CPUS > atMost.Seconds():
			left = append(left, LeftOut{s.Spec.ID, "its published run took " + seconds(m.CPUS) + " on the CPU"})
		default:
			kept = append(kept, s)
		}
	}
	return kept, left, nil
}

// Reseed runs experiments as Run does, at full scale with a base seed other than 1, and
// grades those that are complete. What it renders are drafts in cfg.Folders.
func Reseed(ctx context.Context, sel []Selected, cfg Config) (*Result, []Reseeded, error) {
	if cfg.Scale != experiment.Full || cfg.seed() == 1 || cfg.Trials != 0 || len(cfg.Cells) > 0 || cfg.Shard.some() {
		return nil, nil, &ConfigError{"another seed is compared at full scale, with all cells and the standard trials, by one process, and is not 1"}
	}
	res, err := Run(ctx, sel, cfg)
	if err != nil {
		return nil, nil, err
	}
	var out []Reseeded
	for _, o := range res.Outcomes {
		if o.Done < o.Jobs || o.Err != nil || o.Table == nil {
			continue
		}
		r := Reseeded{Experiment: o.Spec.ID, Seed: cfg.seed(), Trials: o.meta.Trials, Jobs: o.Jobs, JobsSHA256: o.jobsSum, CPUS: o.meta.CPUS, Claims: []ReseededClaim{}}
		for _, c := range o.Spec.Claims {
			f, err := graded(c, o.Table, o.Times, "")
			if err != nil {
				return nil, nil, fmt.Errorf("experiment: %s with base seed %d: %w", o.Spec.ID, cfg.seed(), err)
			}
			r.Claims = append(r.Claims, ReseededClaim{c.ID, c.Predicate, f.Verdict, f.Ours})
		}
		out = append(out, r)
	}
	return res, out, nil
}

// readSeeds reads seeds.json of a published folder; of none there is nothing.
func readSeeds(dir string) ([]Reseeded, error) {
	path := filepath.Join(dir, seedsFile)
	data, err := limits.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var s seedsJSON
	if err == nil {
		err = unseal(data, &s)
	}
	if err == nil && s.Schema != seedsSchema {
		err = fmt.Errorf("its schema is %d, want %d", s.Schema, seedsSchema)
	}
	if err != nil {
		return nil, fmt.Errorf("experiment: %s cannot be used: %w; restore it from a copy, or remove it and run metriclab reseed --publish", path, cause(err))
	}
	return s.Seeds, nil
}

// otherSeeds are the verdicts of other seeds in the published folder.
func (c Config) otherSeeds() ([]Reseeded, error) {
	if c.Folders.Published == "" {
		return nil, nil
	}
	return readSeeds(c.Folders.Published)
}

// PublishSeeds adds verdicts of other seeds to seeds.json in cfg.Folders.Published, in the
// place of those of the same experiments and seeds. Report puts them on the scorecard. A
// verdict counts while the experiment has these jobs and the claim this predicate. It
// returns the path.
func PublishSeeds(seeds []Reseeded, cfg Config) (string, error) {
	all, err := readSeeds(cfg.Folders.Published)
	if err != nil {
		return "", err
	}
	same := func(x, y Reseeded) bool { return x.Experiment == y.Experiment && x.Seed == y.Seed }
	all = slices.DeleteFunc(all, func(old Reseeded) bool {
		return slices.ContainsFunc(seeds, func(s Reseeded) bool { return same(old, s) })
	})
	all = append(all, seeds...)
	slices.SortFunc(all, func(x, y Reseeded) int {
		return cmp.Or(cmp.Compare(x.Seed, y.Seed), cmp.Compare(x.Experiment, y.Experiment))
	})
	data, err := seal(seedsJSON{seedsSchema, all})
	if err != nil {
		return "", err
	}
	path := filepath.Join(cfg.Folders.Published, seedsFile)
	return path, openStore(cfg.Folders.Store).writeChanged(path, data)
}

// SeedVerdict is the verdict on a claim with another base seed, beside that of seed 1.
type SeedVerdict struct {
	Seed    uint64        `json:"seed"`
	Verdict judge.Verdict `json:"verdict"`
	Ours    string        `json:"ours"`
}

// reseeded are the verdicts with other seeds on the published table of a plan, by claim.
// seeds are the experiment's own of current versions.
func (p *plan) reseeded(all []Reseeded) (byClaim map[string][]SeedVerdict, seeds []uint64) {
	byClaim = map[string][]SeedVerdict{}
	for _, r := range all {
		if r.Experiment != p.Spec.ID || r.JobsSHA256 != p.jobsSum(r.Seed) {
			continue
		}
		seeds = append(seeds, r.Seed)
		for _, c := range r.Claims {
			same := func(x experiment.Claim) bool { return x.ID == c.ID && x.Predicate == c.Predicate }
			if slices.ContainsFunc(p.Spec.Claims, same) {
				byClaim[c.ID] = append(byClaim[c.ID], SeedVerdict{r.Seed, c.Verdict, c.Ours})
			}
		}
	}
	return byClaim, seeds
}

// Differs reports whether the verdict with another seed is another one.
func (v SeedVerdict) Differs(from judge.Verdict) bool { return v.Verdict != from }

// SeedsOf says in words which verdicts on a claim other seeds give, "" if all are the same.
func (s *section) SeedsOf(c GradedClaim) string {
	var parts []string
	for _, v := range s.reseeded[c.ID] {
		if v.Differs(c.Finding.Verdict) {
			parts = append(parts, fmt.Sprintf("seed %d: %s", v.Seed, v.Verdict))
		}
	}
	return strings.Join(parts, ", ")
}

// seedsPage is the page on other base seeds, beside the scorecard, "" if no experiment was run
// with one.
func seedsPage(sections []*section) string {
	var lines, without []string
	experiments, claims, differ := 0, 0, 0
	for _, s := range sections {
		if len(s.seeds) == 0 {
			without = append(without, s.Spec.ID)
			continue
		}
		experiments++
		for _, c := range s.Claims {
			other := false
			for _, v := range s.reseeded[c.ID] {
				if !v.Differs(c.Finding.Verdict) {
					continue
				}
				other = true
				lines = append(lines, fmt.Sprintf("- [%s](%s/%s#%s): %s\n  - seed 1, **%s**: %s\n  - seed %d, **%s**: %s\n",
					s.Spec.ID+" "+c.ID, s.Spec.ID, claimsPageFile, c.ID, text(c.Short()), c.Finding.Verdict, text(c.Finding.Ours), v.Seed, v.Verdict, text(v.Ours)))
			}
			if len(s.reseeded[c.ID]) > 0 {
				claims++
			}
			if other {
				differ++
			}
		}
	}
	if experiments == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, pageSign+"# Another seed\n\n%s ran again with another base seed, which draws other data, folds and starts. "+
		"Of %s that were graded again, %s.\n", capital(plural.Of(experiments, "experiment")), plural.Of(claims, "claim"), ofThem(differ))
	if len(lines) > 0 {
		b.WriteString("\n" + strings.Join(lines, ""))
	}
	if len(without) > 0 {
		fmt.Fprintf(&b, "\nWith one seed only: %s.\n", strings.Join(without, ", "))
	}
	return b.String()
}

func ofThem(differ int) string {
	switch differ {
	case 0:
		return "none got another verdict"
	case 1:
		return "1 got another verdict"
	}
	return fmt.Sprintf("%d got another verdict", differ)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
