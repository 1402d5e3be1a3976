package harness

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// seededSpec is toySpec with x = the base seed, and two claims: one holds with seed 1
// only, one with any.
func seededSpec() experiment.Spec {
	s := toySpec(nil)
	s.Trial = func(ctx context.Context, run *experiment.Run) error {
		for range 3 {
			run.Rows.Add(table.Key{"point": "p"}, table.Values{"x": float64(run.Seed.Base), "y": 1})
		}
		return nil
	}
	claim := s.Claims[0]
	claim.ID, claim.Statement, claim.Predicate = "first", "x is 1.", "x < 2"
	claim.Test = func(t *table.Table) judge.Test {
		var holds []bool
		for _, g := range t.Group("trial") {
			holds = append(holds, g.Values("x")[0] < 2)
		}
		return judge.Holds(holds)
	}
	s.Claims = append(s.Claims, claim)
	return s
}

// reseeded runs the experiment with seeds 1 and 2 and publishes the list.
func reseeded(t *testing.T, s experiment.Spec) (Config, []Reseeded) {
	t.Helper()
	p := toyPaper(s)
	base := toyConfig(t.TempDir(), experiment.Full, p)
	mustRun(t, base)
	cfg := toyConfig(t.TempDir(), experiment.Full, p)
	cfg.Seed = 2
	_, seeds, err := Reseed(t.Context(), selected(p), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := PublishSeeds(seeds, base); err != nil {
		t.Fatal(err)
	}
	return base, seeds
}

func TestReseed(t *testing.T) {
	s := seededSpec()
	cfg, seeds := reseeded(t, s)
	if len(seeds) != 1 || seeds[0].Seed != 2 || seeds[0].Trials != 6 || seeds[0].Jobs != 24 {
		t.Fatalf("got %+v", seeds)
	}
	for _, c := range seeds[0].Claims {
		if want := map[string]judge.Verdict{"positive": judge.Reproduced, "first": judge.NotReproduced}[c.ID]; c.Verdict != want {
			t.Errorf("%s with seed 2: %s, want %s", c.ID, c.Verdict, want)
		}
	}
	if _, err := Report(t.Context(), selected(cfg.Papers[0]), cfg); err != nil {
		t.Fatal(err)
	}
	card := mustRead(t, cfg.Folders.Published, "README.md") + mustRead(t, cfg.Folders.Published, "seeds.md")
	for _, want := range []string{
		"| **reproduced** (seed 2: not reproduced) |",
		"[seeds.md](seeds.md)",
		"# Another seed\n\n1 experiment ran again with another base seed, which draws other data, folds and starts. Of 2 claims that were graded again, 1 got another verdict.",
		"- [toy/lines first](toy/lines/claims.md#first): x is 1.\n  - seed 1, **reproduced**: holds in 6 of 6 trials\n  - seed 2, **not reproduced**: holds in 0 of 6 trials\n",
	} {
		if !strings.Contains(card, want) {
			t.Errorf("the scorecard lacks %q:\n%s", want, card)
		}
	}
	all, err := Explain(t.Context(), selected(cfg.Papers[0]), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := all[0].FindClaim("first"); err != nil || len(c.Seeds) != 1 || c.Seeds[0].Verdict != judge.NotReproduced {
		t.Errorf("explained %+v, %v", c.Seeds, err)
	}
}

// Publishing the same seed again replaces its entry.
func TestPublishSeedsAgain(t *testing.T) {
	cfg, seeds := reseeded(t, seededSpec())
	seeds[0].Claims = seeds[0].Claims[:1]
	if _, err := PublishSeeds(seeds, cfg); err != nil {
		t.Fatal(err)
	}
	got, err := readSeeds(cfg.Folders.Published)
	if err != nil || len(got) != 1 || len(got[0].Claims) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// What another version of the experiment or another predicate gave is not compared.
func TestReseededOfEarlierVersion(t *testing.T) {
	for name, change := range map[string]func(*experiment.Spec){
		"version":   func(s *experiment.Spec) { s.Version++ },
		"predicate": func(s *experiment.Spec) { s.Claims[1].Predicate = "x < 1" },
	} {
		s := seededSpec()
		cfg, _ := reseeded(t, s)
		change(&s)
		p := toyPaper(s)
		cfg.Papers = []experiment.Paper{p}
		mustRun(t, cfg)
		if card := mustRead(t, cfg.Folders.Published, "README.md"); strings.Contains(card, "seed 2: ") {
			t.Errorf("%s changed, and the scorecard has still\n%s", name, card)
		}
	}
}

func TestSeedsDamaged(t *testing.T) {
	cfg, _ := reseeded(t, seededSpec())
	path := filepath.Join(cfg.Folders.Published, seedsFile)
	data := mustRead(t, cfg.Folders.Published, seedsFile)
	if err := os.WriteFile(path, []byte(strings.Replace(data, "not reproduced", "reproduced", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Explain(t.Context(), selected(cfg.Papers[0]), cfg); err == nil || !strings.Contains(err.Error(), path+" cannot be used: its content has the SHA-256") {
		t.Errorf("error %v", err)
	}
}

func TestReseedRefuses(t *testing.T) {
	p := toyPaper(toySpec(nil))
	for name, change := range map[string]func(*Config){
		"seed 1":    func(c *Config) { c.Seed = 1 },
		"smoke":     func(c *Config) { c.Scale = experiment.Smoke },
		"trials":    func(c *Config) { c.Trials = 1 },
		"one cell":  func(c *Config) { c.Cells = []string{"a"} },
		"one shard": func(c *Config) { c.Shard = Shard{0, 2} },
	} {
		cfg := toyConfig(t.TempDir(), experiment.Full, p)
		cfg.Seed = 2
		change(&cfg)
		if _, _, err := Reseed(t.Context(), selected(p), cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAffordable(t *testing.T) {
	p := toyPaper(toySpec(nil))
	cfg := toyConfig(t.TempDir(), experiment.Full, p)
	_, left, err := Affordable(t.Context(), selected(p), cfg, time.Hour)
	if err != nil || len(left) != 1 || left[0].Reason != "it has no published results to compare with" {
		t.Errorf("without results: %v, %v", left, err)
	}
	clock := time.Duration(0)
	cfg.World.ProcessCPU = func() time.Duration { clock += time.Minute; return clock }
	mustRun(t, cfg)
	if kept, left, err := Affordable(t.Context(), selected(p), cfg, time.Minute); err != nil || len(kept) != 0 || len(left) != 1 {
		t.Errorf("one minute: kept %d, left %v, %v", len(kept), left, err)
	}
	if kept, _, err := Affordable(t.Context(), selected(p), cfg, 100*time.Hour); err != nil || len(kept) != 1 {
		t.Errorf("100 hours: kept %d, %v", len(kept), err)
	}
}
