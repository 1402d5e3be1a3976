package harness

import (
	"cmp"
	"context"
	"slices"
	"time"

	"metriclab/pkg/experiment"
)

// JobTime is what a job is expected to take.
type JobTime struct {
	Experiment, Cell string
	Trial            int
	Wall, CPU        time.Duration
	// Measured says that the time is that of the job itself in the published timing table, or
	// of its file; else it is the mean of its experiment, or what the experiment declares.
	Measured bool
	// Alone says that it is a job of an experiment marked Timing, of which one process runs one
	// at a time.
	Alone bool
}

// Prediction is what the jobs that a run asks for are expected to take, done or not.
type Prediction struct {
	Jobs []JobTime // in their order
	// PeakRSSKiB is the largest memory of a process that ran one of the experiments; 0 is unknown.
	PeakRSSKiB int64
}

// Predict looks up what jobs took when they ran last. It writes nothing.
func Predict(ctx context.Context, sel []Selected, cfg Config) (Prediction, error) {
	if err := cfg.check(sel); err != nil {
		return Prediction{}, err
	}
	plans, err := cfg.plans(ctx, sel)
	if err != nil {
		return Prediction{}, err
	}
	var out Prediction
	for _, p := range plans {
		var known []JobTime
		first := len(out.Jobs)
		for _, i := range p.wanted {
			job := p.jobs[i]
			j := JobTime{Experiment: p.Spec.ID, Cell: job.Cell.Name, Trial: job.Key.Trial, Alone: p.Spec.Timing}
			for _, ph := range p.timesOf(job) {
				if ph.Name == experiment.TotalPhase {
					j.Wall, j.CPU, j.Measured = inSeconds(ph.WallS), inSeconds(ph.CPUS), true
				}
			}
			if j.Measured {
				known = append(known, j)
			}
			out.Jobs = append(out.Jobs, j)
		}
		for k := first; k < len(out.Jobs); k++ {
			if j := &out.Jobs[k]; !j.Measured {
				j.Wall, j.CPU = meanTime(known, p.expected)
			}
		}
		if m := p.published.meta; m != nil {
			for _, r := range m.Runs {
				out.PeakRSSKiB = max(out.PeakRSSKiB, r.PeakRSSKiB)
			}
		}
	}
	return out, nil
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// timesOf returns the phases of a done job, nil of others.
func (p *plan) timesOf(job Job) []phaseTime {
	if rec, ok := p.records[job.ID]; ok {
		return rec.Run.all()
	}
	return p.published.timing[job.short()]
}

// meanTime is the mean of known jobs, or without any the time that is declared.
func meanTime(known []JobTime, declared time.Duration) (wall, cpu time.Duration) {
	if len(known) == 0 {
		return declared, declared
	}
	for _, j := range known {
		wall, cpu = wall+j.Wall, cpu+j.CPU
	}
	return wall / time.Duration(len(known)), cpu / time.Duration(len(known))
}

// Spread is how long workers need for all jobs if the longest begin first and each worker takes the
// next job as it ends one: at most 4/3 of the shortest time that there is (Graham 1969). The longest
// job is a floor under any number of workers.
func (p Prediction) Spread(workers int) time.Duration {
	times := make([]time.Duration, len(p.Jobs))
	for i, j := range p.Jobs {
		times[i] = j.Wall
	}
	slices.SortFunc(times, func(x, y time.Duration) int { return cmp.Compare(y, x) })
	return makespan(times, workers)
}

// OneProcess is how long metriclab run --jobs takes: in the order of the jobs, those marked Alone
// one by one at the end.
func (p Prediction) OneProcess(workers int) time.Duration {
	var beside []time.Duration
	var alone time.Duration
	for _, j := range p.Jobs {
		if j.Alone {
			alone += j.Wall
		} else {
			beside = append(beside, j.Wall)
		}
	}
	return makespan(beside, workers) + alone
}

// makespan gives each job in turn to the worker that is free first.
func makespan(times []time.Duration, workers int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	free := make([]time.Duration, min(workers, len(times)))
	for _, t := range times {
		i := 0
		for k, f := range free {
			if f < free[i] {
				i = k
			}
		}
		free[i] += t
	}
	return slices.Max(free)
}

// Longest returns the n longest jobs, longest first.
func (p Prediction) Longest(n int) []JobTime {
	jobs := slices.Clone(p.Jobs)
	slices.SortStableFunc(jobs, func(x, y JobTime) int { return cmp.Compare(y.Wall, x.Wall) })
	return jobs[:min(n, len(jobs))]
}

// CPU is the time of all jobs on the processor.
func (p Prediction) CPU() (sum time.Duration) {
	for _, j := range p.Jobs {
		sum += j.CPU
	}
	return sum
}
