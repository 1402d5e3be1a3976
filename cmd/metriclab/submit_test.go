package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"metriclab/internal/needs"
	"metriclab/internal/slurm"
)

// madeSlurm answers sbatch with ids from 11 on, and scontrol with what the test says.
type madeSlurm struct {
	asked []string
	next  int
	shown map[string]string // by job id
	fails string            // a command that fails
}

func (m *madeSlurm) run(_ context.Context, name string, args ...string) ([]byte, error) {
	m.asked = append(m.asked, strings.Join(append([]string{name}, args...), " "))
	if name == m.fails {
		return nil, errors.New(name + ": error: Invalid partition name specified")
	}
	switch name {
	case "sbatch":
		m.next++
		return []byte{'1', byte('0' + m.next), '\n'}, nil
	case "scontrol":
		return []byte(m.shown[args[len(args)-1]]), nil
	}
	return nil, &exec.Error{Name: name, Err: exec.ErrNotFound}
}

func withSlurm(t *testing.T) (*command, *madeSlurm, func(string) string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		needs.Missing(t, "needs paths without \\, which scripts for sbatch do not take")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	dir, err := os.Getwd() // as the program sees it
	if err != nil {
		t.Fatal(err)
	}
	c, m := newCommand(toys(nil)), &madeSlurm{shown: map[string]string{}}
	c.app.engine = slurm.Engine{Run: m.run}
	return c, m, func(s string) string { return strings.ReplaceAll(s, dir, "DIR") }
}

func TestGoldenSubmit(t *testing.T) {
	golden, err := filepath.Abs(filepath.Join("testdata", "submit.golden"))
	if err != nil {
		t.Fatal(err)
	}
	c, _, hide := withSlurm(t)
	compare(t, golden, hide(c.session([]string{
		"submit slurm lines --shards 3 --results r --dry-run",
		"submit slurm --shards 8 --max-running 4 --results r --cell b --cell a --dry-run",
		"submit slurm lines --shards 3 --max-running 2 --cpus 2 --partition long,short --account lab --time 1-12 --mem 2G --retry 3 --trials 4 --seed 5 --results r --dry-run",
		"submit parallel lines --shards 4 --max-running 2 --results r", "submit parallel --shards 2 --results r --trials 3",
		"submit kubernetes lines --image example/metriclab:1 --results-claim results --data-claim data --shards 4 --max-running 2 --cpus 2 --mem 2Gi",
		// errors
		"submit", "submit slurm --shards 2", "submit slurm --results r", "submit slurm --shards 0 --results r", "submit slurm --shards 20000 --results r", "submit slurm lnies --shards 2 --results r",
		"submit slurm --shards 2 --results r --time soon", "submit slurm --shards 2 --results r --mem 2GB", "submit slurm --shards 2 --results r --retry -1", "submit slurm --resume --shards 2 --results r",
		"submit slurm --resume lines --results r", "submit slurm --resume --results r", "submit slurm --shards 2 --results r;x --partition a;b", "submit parallel --shards 2", "submit parallel --results r",
		"submit kubernetes --shards 2", "submit kubernetes --image i --results-claim R --data-claim d --shards 2", "submit kubernetes --image i --results-claim r --data-claim d --shards 2 --mem lots", "submit kubernetes --image i --results-claim r --data-claim d",
		"submit kubernetes --image i --results-claim r --data-claim d --shards 2 --cell nowhere", "submit kubernetes --image $(x) --results-claim r --data-claim d --shards 2",
	})))
	if _, err := os.Stat("r"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a dry run has made the results folder: %v", err)
	}
}

// A submission, its status, and --resume: only tasks that miss jobs, and neither wait nor run, go again, with the number of shards of the
// first time.
func TestSubmitAndResume(t *testing.T) {
	c, m, _ := withSlurm(t)
	must := func(line string) string {
		t.Helper()
		if code := c.run(strings.Fields(line)...); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", line, code, c.err.String())
		}
		return c.out.String()
	}
	out := must("submit slurm lines --shards 4 --max-running 2 --results r")
	if !strings.Contains(out, "submitted: job 11, 4 tasks with 4 jobs to run; and its merge, job 12\n") {
		t.Errorf("got %s", out)
	}
	for _, file := range []string{"array.sbatch", "merge.sbatch", "submit.json", "metriclab", "logs"} {
		if _, err := os.Stat(filepath.Join("r", "slurm", file)); err != nil {
			t.Error(err)
		}
	}
	if info, err := os.Stat(filepath.Join("r", "slurm", "metriclab")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("the program cannot be run: %v", err)
	}
	if last := m.asked[len(m.asked)-1]; !strings.HasPrefix(last, "sbatch --parsable --dependency=afterany:11 ") {
		t.Errorf("the merge was submitted by %s", last)
	}
	must("run lines --shard 1/4 --results r --jobs 1")
	m.shown["11"] = "ArrayTaskId=0 JobState=FAILED Reason=JobLaunchFailure ExitCode=0:9\nArrayTaskId=1 JobState=COMPLETED ExitCode=0:0\n" +
		"ArrayTaskId=2 JobState=RUNNING ExitCode=0:0\nArrayTaskId=3 JobState=TIMEOUT Reason=TimeLimit ExitCode=0:15\n"
	out = must("status lines --results r")
	for _, want := range []string{"Slurm, job 11: 1 of 4 shards finished\n", "0      1     0     0       1        11_0  FAILED   signal 9\n", "2      1     0     0       1        11_2  RUNNING  -\n", "11_3  TIMEOUT  signal 15, TimeLimit\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q:\n%s", want, out)
		}
	}
	out = must("submit slurm --resume --results r")
	if !strings.Contains(out, "left alone, since it waits or runs: 1 task\n") || !strings.Contains(out, "submitted: job 13, 2 tasks with 2 jobs to run; and its merge, job 14\n") {
		t.Errorf("got %s", out)
	}
	if asked := strings.Join(m.asked, "\n"); !strings.Contains(asked, "sbatch --parsable --array=0,3%2 ") {
		t.Errorf("asked\n%s", asked)
	}
	// What waits now has the later job's state.
	m.shown["13"] = "ArrayTaskId=0 JobState=RUNNING\nArrayTaskId=3 JobState=PENDING Reason=Resources\n"
	if out = must("submit slurm --resume --results r"); !strings.Contains(out, "left alone, since it waits or runs: 3 tasks\n") || strings.Contains(out, "submitted") {
		t.Errorf("got %s", out)
	}
	for _, i := range []string{"0", "2", "3"} {
		must("run lines --shard " + i + "/4 --results r --jobs 1")
	}
	m.shown = map[string]string{}
	if code := c.run("submit", "slurm", "--resume", "--results", "r"); code != exitFailed || !strings.Contains(c.err.String(), "all jobs are done in ") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	if code := c.run("submit", "slurm", "lines", "--shards", "4", "--results", "r"); code != exitUsage || !strings.Contains(c.err.String(), "--resume goes on with it") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
}

// Where sbatch fails nothing is noted as submitted, and the scripts stay for a second try.
func TestSubmitFails(t *testing.T) {
	c, m, _ := withSlurm(t)
	m.fails = "sbatch"
	for range 2 {
		if code := c.run("submit", "slurm", "lines", "--shards", "2", "--results", "r"); code != exitFailed || !strings.Contains(c.err.String(), "the array was not submitted: sbatch: error: Invalid partition") {
			t.Errorf("exit code %d: %s", code, c.err.String())
		}
	}
	if _, err := os.Stat(filepath.Join("r", "slurm", "submit.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("noted as submitted: %v", err)
	}
}

// submit.json of another hand is refused.
func TestSubmitDamaged(t *testing.T) {
	c, m, _ := withSlurm(t)
	if err := os.MkdirAll(filepath.Join("r", "slurm"), 0o777); err != nil {
		t.Fatal(err)
	}
	// A whole one, with the ids of the array and of the merge.
	ids := func(array, merge string) string {
		return fmt.Sprintf(`{"schema":1,"experiments":["lines"],"scale":"smoke","data":"data","seed":1,"shards":2,"arrays":[%q],"merges":[%q]}`, array, merge)
	}
	writeTest(t, filepath.Join("r", "slurm", "submit.json"), ids("11", "12"))
	if code := c.run("status", "lines", "--results", "r"); code != exitOK {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	asked := len(m.asked)
	for _, text := range []string{
		"", "{}", `{"schema":9}`, `{"schema":1,"shards":99999999999}`, `{"schema":1,"x":1}`,
		ids("--all", "1"), ids("1", "-u"), ids("1;x", "1"), ids("1 2", "1"), ids("", "1"), ids("1,2", "1"), ids("1_2", "1"), ids("\u0661", "1"), ids("1\n", "1"), ids(strings.Repeat("9", 40), "1"),
	} {
		writeTest(t, filepath.Join("r", "slurm", "submit.json"), text)
		for _, line := range []string{"submit slurm --resume --results r", "submit slurm lines --shards 2 --results r", "status lines --results r"} {
			if code := c.run(strings.Fields(line)...); code == exitOK || !strings.Contains(c.err.String(), "submit.json: ") {
				t.Errorf("%q, %s: exit code %d: %s", text, line, code, c.err.String())
			}
		}
	}
	if len(m.asked) > asked {
		t.Errorf("Slurm was asked %q", m.asked[asked:])
	}
}

// In what GNU parallel runs, and in what Kubernetes and Slurm read, no path is more than a path.
func TestSubmitHostilePaths(t *testing.T) {
	for _, tool := range []string{"parallel", "seq", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			needs.Missing(t, "needs ", tool, ": ", err)
		}
	}
	c, m, _ := withSlurm(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	writeTest(t, "metriclab", "#!/bin/sh\nprintf '%s\\n' \"$*\"\n")
	if err := os.Chmod("metriclab", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", here+":"+os.Getenv("PATH"))
	for _, name := range []string{
		"{}", "{= $_ = `touch ran` =}", "{#}{%}{.}{/}{/.}{1}{2}{-1}{1.}{+/}{=1 touch=}{==}{}{}a{b}{1..3}{a,b}", "$(touch ran)`touch ran`$HOME$(SHARD_COUNT)$$", `it's "x" back\nslash\`, "a b *~;touch ran|b&#!x", ":::", "-x", "%A_%a é家",
	} {
		if code := c.run("submit", "parallel", "lines", "--shards", "3", "--max-running", "1", "--results", name, "--data", name); code != exitOK {
			t.Errorf("%s: exit code %d: %s", name, code, c.err.String())
			continue
		}
		run := exec.Command("bash", "-c", c.out.String())
		run.Env = append(os.Environ(), "HOME="+here)
		got, err := run.CombinedOutput()
		want := ""
		for i := range 3 {
			want += fmt.Sprintf("run lines --scale smoke --results %[1]s --data %[1]s --jobs 1 --shard %d/3\n", filepath.Join(here, name), i)
		}
		want += fmt.Sprintf("merge --scale smoke --results %[1]s --data %[1]s --experiment lines\n", filepath.Join(here, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\ngave\n%s\nwant\n%s", name, err, c.out.String(), got, want)
		}
		if _, err := os.Stat("ran"); err == nil {
			t.Fatalf("%s ran", name)
		}
	}
	for _, name := range []string{"a\nb", "a\x1b[2Jb", "a\xffb", "a\u202eb", "a\tb", "a\x7f"} {
		for _, line := range []string{"submit parallel lines --shards 2", "submit slurm lines --shards 2"} {
			for _, flag := range []string{"--results", "--data"} {
				if code := c.run(append(append(strings.Fields(line), "--results", "r"), flag, name)...); code != exitUsage || c.out.Len() > 0 {
					t.Errorf("%s %s %q: exit code %d: %s%s", line, flag, name, code, c.out.String(), c.err.String())
				}
			}
		}
	}
	if len(m.asked) > 0 {
		t.Errorf("Slurm was asked %q", m.asked)
	}
}

// Kubernetes replaces $(NAME) in arguments.
func TestSubmitKubernetesLiteral(t *testing.T) {
	var b strings.Builder
	p := pod{Args: []string{"$(SHARD_COUNT)", "$$", "a\x1b"}}
	if err := kubernetesTemplate.Execute(&b, map[string]any{"Run": p, "Merge": p}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"$$(SHARD_COUNT)"`, `"$$$$"`, `"a\u001b"`} {
		if !strings.Contains(b.String(), "- "+want+"\n") {
			t.Errorf("no argument %s in\n%s", want, b.String())
		}
	}
}
