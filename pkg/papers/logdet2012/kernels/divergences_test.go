package kernels

import (
	"math"
	"strconv"
	"testing"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/experimenttest"
	"metriclab/pkg/judge"
	"metriclab/pkg/learners"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/table"
)

// world is what a made-up run of logdet2012/divergences measures.
type world struct {
	wrong func(database, features, method, setting string) float64 // shares
	rank  func(method string) float64                              // shares of the order
	spent func(method string) float64                              // seconds
}

func plainWorld() world {
	return world{
		wrong: func(_, _, method, _ string) float64 {
			if method == protocol.Euclidean {
				return 0.2
			}
			return 0.1
		},
		rank:  func(string) float64 { return 1 },
		spent: func(string) float64 { return 1 },
	}
}

// madeDivergences makes the tables of a world, with a small spread over trials that differs between methods.
func madeDivergences(w world) (t, times *table.Table) {
	t = experimenttest.Table(Divergences)
	times = table.New([]string{"job", "cell", "trial", "phase"}, []string{"wall_s", "cpu_s"})
	for _, d := range protocol.Databases {
		for _, features := range scalings {
			for trial := range experimenttest.Trials {
				cell, at := d.Name+features, strconv.Itoa(trial)
				for i, m := range append([]string{protocol.Euclidean}, phiNames...) {
					spread := 1e-4 * float64((trial+i)%3)
					for _, setting := range []string{settingChosen, settingFixed} {
						for fold := range protocol.Folds {
							key := table.Key{"cell": cell, "trial": at, "database": d.Name, "features": features, "kind": "wrong", "method": m, "setting": setting, "fold": strconv.Itoa(fold)}
							if m == protocol.Euclidean {
								if setting == settingFixed {
									continue
								}
								key["setting"] = ""
							}
							t.Add(key, table.Values{"value": 500 * (w.wrong(d.Name, features, m, setting) + spread), "of": 500})
							if m != protocol.Euclidean {
								key["kind"] = "spectrum"
								t.Add(key, table.Values{"value": 10*w.rank(m) + 100*spread, "of": 10})
							}
						}
						times.Add(table.Key{"cell": cell, "trial": at, "phase": fitPhase(m, setting)}, table.Values{"cpu_s": w.spent(m) * (1 + spread)})
					}
				}
			}
		}
	}
	return t, times
}

func TestDivergenceClaimsPointTheRightWay(t *testing.T) {
	other := func(method string, by float64, only ...string) func(_, _, m, s string) float64 {
		return func(database, features, m, setting string) float64 {
			e := plainWorld().wrong(database, features, m, setting)
			if m == method && (len(only) == 0 || only[0] == database || only[0] == setting) {
				e += by
			}
			return e
		}
	}
	for _, c := range []struct {
		id   string
		set  func(w *world)
		want judge.Verdict
	}{
		{"divergences-error", func(*world) {}, judge.Reproduced},
		{"divergences-error", func(w *world) { w.wrong = other(phiTrace, 0.03) }, judge.NotReproduced},
		{"divergences-error", func(w *world) { w.wrong = other(phiTrace, 0.03, "iris") }, judge.Reproduced}, // on the average
		{"divergences-gain", func(*world) {}, judge.Reproduced},
		{"divergences-gain", func(w *world) { w.wrong = other(protocol.Euclidean, -0.2) }, judge.NotReproduced},
		{"divergences-gain", func(w *world) { w.wrong = other(phiFrobenius, 0.2) }, judge.Partly},
		{"divergences-scale", func(w *world) { w.wrong = other(phiVonNeumann, -0.05, "wine") }, judge.Reproduced},
		{"divergences-scale", func(w *world) { w.wrong = other(phiVonNeumann, 0.05, "wine") }, judge.NotReproduced},
		{"divergences-default", func(w *world) { w.wrong = other(phiLogDet, -0.05, settingFixed) }, judge.Reproduced},
		{"divergences-default", func(w *world) { w.wrong = other(phiLogDet, 0.05, settingFixed) }, judge.NotReproduced},
		{"divergences-rank", func(w *world) {
			w.rank = func(m string) float64 { return map[string]float64{phiTrace: 0.5}[m] + 0.1 }
		}, judge.NotReproduced},
		{"divergences-rank", func(w *world) {
			w.rank = func(m string) float64 { return map[string]float64{phiFrobenius: 0.5}[m] + 0.1 }
		}, judge.Reproduced},
		{"divergences-time", func(w *world) { w.spent = func(m string) float64 { return map[string]float64{phiLogDet: 1}[m] + 1 } }, judge.Reproduced},
		{"divergences-time", func(w *world) { w.spent = func(m string) float64 { return map[string]float64{phiTrace: 4}[m] + 1 } }, judge.NotReproduced},
	} {
		w := plainWorld()
		c.set(&w)
		tb, times := madeDivergences(w)
		if f := experimenttest.Judge(t, divergenceClaims, c.id, tb, times); f.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.id, f.Verdict, c.want, f.Reason)
		}
	}
}

// All φ get the same constraints, those of fig1a's pairs and bounds, in a unit that does not change the problem.
func TestConstrained(t *testing.T) {
	set := experimenttest.Must(protocol.Load(experimenttest.Env(), experimenttest.Seed(protocol.GeneratedLinear), protocol.GeneratedLinear))
	s := divergenceSettingsOf("made up", datasets.ZScore, experiment.Smoke)
	p := experimenttest.Must(protocol.NewProblems(set, protocol.Settings{Scaling: s.Scaling, K: s.K, Links: s.Links}, experimenttest.Seed(set.Name)))[0]
	c, err := newConstrained(p.Session)
	if err != nil {
		t.Fatal(err)
	}
	median, err := p.Median()
	if err != nil {
		t.Fatal(err)
	}
	if len(c.constraints) != len(p.Links) {
		t.Fatalf("%d constraints of %d pairs", len(c.constraints), len(p.Links))
	}
	for i, l := range p.Links {
		want := ltkernel.SenseAtMost
		if l.Label == metric.Dissimilar {
			want = ltkernel.SenseAtLeast
		}
		d := metric.Euclidean{}.SqDist(c.x.RawRowView(l.I), c.x.RawRowView(l.J))
		old := metric.Euclidean{}.SqDist(p.Train.X.RawRowView(l.I), p.Train.X.RawRowView(l.J)) / median
		if c.constraints[i].Sense != want || math.Abs(d-old) > 1e-12*(1+old) { // round-off
			t.Errorf("pair %d: %s at %v, want %s at %v", i, c.constraints[i].Sense, d, want, old)
		}
	}
	phis, err := phisOf(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range phis {
		if f.name != phiNames[i] || len(f.labels) != len(f.params) {
			t.Fatalf("φ %d is %s with %d labels for %d candidates", i, f.name, len(f.labels), len(f.params))
		}
		r, err := c.fit(t.Context(), f.fixed, s.Final)
		if err != nil || r.Status != learners.Converged {
			t.Fatalf("%s: %v, %v", f.name, r.Status, err)
		}
		values, rank, err := spectrumOf(r.Metric)
		if err != nil || rank != r.Rank || len(values) != 4 {
			t.Errorf("%s: rank %d of %v, want %d; %v", f.name, rank, values, r.Rank, err)
		}
	}
	if n := len(phis[3].params); n != len(s.Cs)*len(s.Taus) {
		t.Errorf("%d candidates of the trace", n)
	}
}
