// Package slurm writes the batch scripts of a run that is shared out as a Slurm job array, and asks
// Slurm how its tasks stand.
package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"metriclab/internal/shellword"
)

// Batch is what the scripts of an array and its merge say.
type Batch struct {
	Name       string // of the job
	Program    string // absolute path of the program
	Args       []string
	MergeArgs  []string
	Logs       string // absolute folder
	Dir        string // absolute working folder
	Shards     int
	MaxRunning int // 0 means as many as Slurm allows
	// Requeues is how often a task that fails, is killed or runs out of time goes back to
	// the queue by itself.
	Requeues int

	Partition, Account, Time, Mem string // "" leaves it to Slurm
	CPUs                          int
}

// grace is about how long before its time limit Slurm tells the shell of a task that requeues
// itself. One that does not is told at the limit, and killed some 30 s later: the program ends
// at once, without the jobs in flight.
const grace = 30 * time.Second

// directives are the lines that the array and the merge share.
func (b Batch) directives(w *bytes.Buffer, name, log string) {
	fmt.Fprintf(w, "#!/bin/bash\n#SBATCH --job-name=%s\n", name)
	fmt.Fprintf(w, "#SBATCH --chdir=%s\n#SBATCH --output=%s\n#SBATCH --open-mode=append\n", b.Dir, b.Logs+"/"+log)
	fmt.Fprintf(w, "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%d\n", b.CPUs)
	for _, d := range [][2]string{{"partition", b.Partition}, {"account", b.Account}, {"time", b.Time}, {"mem", b.Mem}} {
		if d[1] != "" {
			fmt.Fprintf(w, "#SBATCH --%s=%s\n", d[0], d[1])
		}
	}
}

// Array is the script of the array: task i runs shard i of Shards, whatever tasks are submitted
// with it.
func (b Batch) Array() []byte {
	var w bytes.Buffer
	b.directives(&w, b.Name, "%x-%A_%a.out")
	fmt.Fprintf(&w, "#SBATCH --array=%s\n#SBATCH --requeue\n", Tasks(all(b.Shards), b.MaxRunning))
	if b.Requeues > 0 {
		fmt.Fprintf(&w, "#SBATCH --signal=B:TERM@%d\n", int(grace.Seconds()))
	}
	fmt.Fprintf(&w, "\nexport SHARD_INDEX=$SLURM_ARRAY_TASK_ID SHARD_COUNT=%d\nexport GOMAXPROCS=${SLURM_CPUS_PER_TASK:-%d}\n", b.Shards, b.CPUs)
	line := shellword.Join(append([]string{b.Program}, b.Args...))
	if b.Requeues == 0 {
		fmt.Fprintf(&w, "exec %s\n", line)
		return w.Bytes()
	}
	fmt.Fprintf(&w, `
# The shell stays, to put a task that ended too early back into the queue. Exit code 2 is a
# wrong command line, which no second try mends.
%s &
program=$!
trap 'kill -TERM $program' TERM
wait $program
code=$?
while kill -0 $program 2>/dev/null; do wait $program; code=$?; done
if [ $code -ne 0 ] && [ $code -ne 2 ] && [ ${SLURM_RESTART_COUNT:-0} -lt %d ]; then
	echo "exit code $code: back to the queue, for the $((${SLURM_RESTART_COUNT:-0} + 1)). time"
	scontrol requeue ${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}
fi
exit $code
`, line, b.Requeues)
	return w.Bytes()
}

// Merge is the script of the merge, to be submitted with a dependency on the array.
func (b Batch) Merge() []byte {
	var w bytes.Buffer
	b.directives(&w, b.Name+"-merge", "%x-%j.out")
	fmt.Fprintf(&w, "\nexport GOMAXPROCS=${SLURM_CPUS_PER_TASK:-%d}\nexec %s\n", b.CPUs, shellword.Join(append([]string{b.Program}, b.MergeArgs...)))
	return w.Bytes()
}

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Tasks writes indices as sbatch --array takes them, such as 0-3,7%2; maxRunning 0 sets no limit.
func Tasks(indices []int, maxRunning int) string {
	indices = slices.Sorted(slices.Values(indices))
	var parts []string
	for i := 0; i < len(indices); {
		j := i
		for j+1 < len(indices) && indices[j+1] == indices[j]+1 {
			j++
		}
		if j == i {
			parts = append(parts, strconv.Itoa(indices[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", indices[i], indices[j]))
		}
		i = j + 1
	}
	s := strings.Join(parts, ",")
	if maxRunning > 0 {
		s += "%" + strconv.Itoa(maxRunning)
	}
	return s
}

// Engine runs the commands of Slurm.
type Engine struct {
	// Run runs a command and returns its output; nil means exec.
	Run func(ctx context.Context, name string, args ...string) ([]byte, error)
}

// ErrAbsent says that a command of Slurm is not on this machine.
var ErrAbsent = errors.New("no Slurm on this machine")

func (e Engine) run(ctx context.Context, name string, args ...string) (string, error) {
	run := e.Run
	if run == nil {
		run = command
	}
	out, err := run(ctx, name, args...)
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("%w: %s is not on the PATH", ErrAbsent, name)
	}
	return strings.TrimSpace(string(out)), err
}

// patience is how long a command of Slurm may take: some wait for ever on a node that is down.
const patience = 60 * time.Second

func command(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.Output()
	if text := strings.TrimSpace(said.String()); err != nil && text != "" {
		err = fmt.Errorf("%s: %s", name, text)
	}
	return out, err
}

// Submit submits a script, with further flags, and returns the id of the job.
func (e Engine) Submit(ctx context.Context, script string, flags ...string) (string, error) {
	out, err := e.run(ctx, "sbatch", append(append([]string{"--parsable"}, flags...), script)...)
	if err != nil {
		return "", err
	}
	id, _, _ := strings.Cut(out, ";") // the cluster may follow
	if !IsJobID(id) {
		return "", fmt.Errorf("sbatch printed %q, want the id of a job", out)
	}
	return id, nil
}

var jobID = regexp.MustCompile(`^[0-9]{1,18}$`)

// IsJobID tells whether a text is the id of a job as sbatch --parsable prints it: a number, also of an array.
func IsJobID(text string) bool { return jobID.MatchString(text) }

// Task is how one task of an array stands.
type Task struct {
	Job    string // id of the array
	Index  int
	State  string // of Slurm: RUNNING, PENDING, COMPLETED, FAILED, CANCELLED, TIMEOUT, …
	Reason string // of a failure, or of waiting; "" if there is none
}

// Alive reports whether the task waits or runs.
func (t Task) Alive() bool {
	switch t.State {
	case "PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "RESIZING", "STOPPED":
		return true
	}
	return false
}

// States asks how the tasks of an array stand: those that Slurm's controller still knows, and of the
// others what the accounting says, if there is one. A task that neither knows is missing.
func (e Engine) States(ctx context.Context, job string) ([]Task, error) {
	if !IsJobID(job) { // it could be a flag
		return nil, fmt.Errorf("job %q is not allowed, want the number that sbatch printed", job)
	}
	known := map[int]Task{}
	if out, err := e.run(ctx, "sacct", "--noheader", "--parsable2", "--array", "--allocations", "--jobs="+job, "--format=JobID,State,ExitCode"); err == nil {
		for line := range strings.Lines(out) {
			f := strings.Split(strings.TrimSpace(line), "|")
			if len(f) != 3 {
				continue
			}
			if i, ok := index(job, f[0]); ok {
				state, _, _ := strings.Cut(f[1], " ") // CANCELLED by 0
				known[i] = Task{job, i, state, exitReason(f[2])}
			}
		}
	}
	out, err := e.run(ctx, "scontrol", "--oneliner", "show", "job", job)
	if errors.Is(err, ErrAbsent) {
		return nil, err
	}
	// An error is that of a job that the controller has forgotten, after some minutes.
	if err == nil {
		for line := range strings.Lines(out) {
			f := fields(line)
			for _, i := range indices(f["ArrayTaskId"]) {
				t := Task{job, i, f["JobState"], ""}
				switch reason := f["Reason"]; {
				case t.State == "PENDING":
					t.Reason = reason
				case !t.Alive() && t.State != "COMPLETED":
					t.Reason = exitReason(f["ExitCode"])
					// Slurm calls any end by a signal a JobLaunchFailure.
					if reason != "" && reason != "None" && (t.Reason == "" || reason != "JobLaunchFailure" && reason != "NonZeroExitCode") {
						t.Reason = strings.TrimPrefix(t.Reason+", "+reason, ", ")
					}
				}
				known[i] = t
			}
		}
	}
	tasks := make([]Task, 0, len(known))
	for _, t := range known {
		tasks = append(tasks, t)
	}
	slices.SortFunc(tasks, func(x, y Task) int { return x.Index - y.Index })
	return tasks, nil
}

// index returns the task index of an id such as 17_3.
func index(job, id string) (int, bool) {
	rest, ok := strings.CutPrefix(id, job+"_")
	i, err := strconv.Atoi(rest)
	return i, ok && err == nil
}

// indices reads an ArrayTaskId: one, or of tasks that wait several, such as 3-7:2,9%4.
func indices(text string) []int {
	text, _, _ = strings.Cut(text, "%")
	var out []int
	for part := range strings.SplitSeq(text, ",") {
		span, stepText, stepped := strings.Cut(part, ":")
		lo, hi, isSpan := strings.Cut(span, "-")
		first, err := strconv.Atoi(lo)
		if err != nil {
			continue
		}
		last, step := first, 1
		if isSpan {
			if last, err = strconv.Atoi(hi); err != nil {
				continue
			}
		}
		if stepped {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
				continue
			}
		}
		const most = 1 << 20
		for i := first; i <= last && len(out) < most; i += step {
			out = append(out, i)
		}
	}
	return out
}

var field = regexp.MustCompile(`([A-Za-z/:]+)=(\S*)`)

func fields(line string) map[string]string {
	out := map[string]string{}
	for _, m := range field.FindAllStringSubmatch(line, -1) {
		if _, twice := out[m[1]]; !twice {
			out[m[1]] = m[2]
		}
	}
	return out
}

// exitReason says what an ExitCode such as 1:0 or 0:9 means.
func exitReason(code string) string {
	exit, signal, _ := strings.Cut(code, ":")
	switch {
	case signal != "" && signal != "0":
		return "signal " + signal
	case exit != "" && exit != "0":
		return "exit code " + exit
	}
	return ""
}
