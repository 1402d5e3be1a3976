package slurm

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

func TestTasks(t *testing.T) {
	for _, tt := range []struct {
		indices []int
		most    int
		want    string
	}{
		{[]int{0, 1, 2, 3}, 0, "0-3"},
		{[]int{5, 1, 2, 9}, 4, "1-2,5,9%4"},
		{[]int{7}, 1, "7%1"},
	} {
		got := Tasks(tt.indices, tt.most)
		if got != tt.want {
			t.Errorf("Tasks(%v, %d) = %s, want %s", tt.indices, tt.most, got, tt.want)
		}
	}
}

func TestIndices(t *testing.T) {
	for text, want := range map[string][]int{
		"3": {3}, "0-2,7%2": {0, 1, 2, 7}, "1-7:3": {1, 4, 7}, "N/A": nil, "": nil, "1-": nil, "0-9:0": nil,
	} {
		if got := indices(text); !reflect.DeepEqual(got, want) {
			t.Errorf("indices(%q) = %v, want %v", text, got, want)
		}
	}
}

// What a real scontrol of 22.05 and a real sacct print, shortened.
const shown = `JobId=3 ArrayJobId=1 ArrayTaskId=0 JobName=metriclab UserId=root(0) JobState=FAILED Reason=JobLaunchFailure Dependency=(null) Requeue=1 ExitCode=0:9 RunTime=00:00:01
JobId=4 ArrayJobId=1 ArrayTaskId=1 JobName=metriclab JobState=CANCELLED Reason=None ExitCode=0:15
JobId=5 ArrayJobId=1 ArrayTaskId=2 JobName=metriclab JobState=TIMEOUT Reason=TimeLimit ExitCode=0:15
JobId=6 ArrayJobId=1 ArrayTaskId=3 JobName=metriclab JobState=FAILED Reason=NonZeroExitCode ExitCode=1:0
JobId=7 ArrayJobId=1 ArrayTaskId=4 JobName=metriclab JobState=RUNNING Reason=None ExitCode=0:0
JobId=1 ArrayJobId=1 ArrayTaskId=5-6%2 JobName=metriclab JobState=PENDING Reason=JobArrayTaskLimit ExitCode=0:0
`

func TestStates(t *testing.T) {
	e := Engine{Run: func(_ context.Context, name string, args ...string) ([]byte, error) {
		if name == "sacct" {
			return []byte("1_0|FAILED|0:9\n1_7|CANCELLED by 0|0:0\n1_8|COMPLETED|0:0\n1_[9-10]|PENDING|0:0\n"), nil
		}
		return []byte(shown), nil
	}}
	got, err := e.States(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range got {
		lines = append(lines, fmt.Sprintf("%d %s %q %t", s.Index, s.State, s.Reason, s.Alive()))
	}
	want := `0 FAILED "signal 9" false
1 CANCELLED "signal 15" false
2 TIMEOUT "signal 15, TimeLimit" false
3 FAILED "exit code 1" false
4 RUNNING "" true
5 PENDING "JobArrayTaskLimit" true
6 PENDING "JobArrayTaskLimit" true
7 CANCELLED "" false
8 COMPLETED "" false`
	if g := strings.Join(lines, "\n"); g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
}

// Without Slurm the error says so; a job that the controller has forgotten is none.
func TestStatesUnknown(t *testing.T) {
	absent := Engine{Run: func(_ context.Context, name string, _ ...string) ([]byte, error) {
		return nil, &exec.Error{Name: name, Err: exec.ErrNotFound}
	}}
	if _, err := absent.States(t.Context(), "1"); !errors.Is(err, ErrAbsent) {
		t.Errorf("error %v, want ErrAbsent", err)
	}
	forgotten := Engine{Run: func(context.Context, string, ...string) ([]byte, error) {
		return nil, errors.New("Invalid job id specified")
	}}
	if got, err := forgotten.States(t.Context(), "1"); err != nil || len(got) != 0 {
		t.Errorf("%v, %v, want nothing", got, err)
	}
}

func TestSubmit(t *testing.T) {
	var asked []string
	answer := "17;cluster\n"
	e := Engine{Run: func(_ context.Context, name string, args ...string) ([]byte, error) {
		asked = append([]string{name}, args...)
		return []byte(answer), nil
	}}
	if id, err := e.Submit(t.Context(), "a.sbatch", "--array=1"); err != nil || id != "17" || strings.Join(asked, " ") != "sbatch --parsable --array=1 a.sbatch" {
		t.Errorf("%s, %v by %v", id, err, asked)
	}
	answer = "sbatch: Submitted"
	if _, err := e.Submit(t.Context(), "a.sbatch"); err == nil {
		t.Error("no error of an answer without an id")
	}
}
