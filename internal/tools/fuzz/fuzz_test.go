package main

import (
	"testing"
	"time"
)

func TestExecutions(t *testing.T) {
	for out, want := range map[string]int{
		"": 0,
		"fuzz: elapsed: 0s, gathering baseline coverage: 1/1 completed\nPASS\n":                                                                   0,
		"fuzz: elapsed: 3s, execs: 6625 (2208/sec), new interesting: 55\nfuzz: elapsed: 4s, execs: 10000 (2453/sec), new interesting: 75\nPASS\n": 10000,
	} {
		if got := executions([]byte(out)); got != want {
			t.Errorf("%q: %d inputs, want %d", out, got, want)
		}
	}
}

func TestTargets(t *testing.T) {
	src := "package p\n\nfunc FuzzRead(f *testing.F) {\n}\n\nfunc Fuzz[T any](f *testing.F) {}\n\n// func FuzzNot(f *testing.F)\nfunc FuzzHelper(n int) {}\nfunc FuzzLoad(tf *testing.F) {}\n"
	var got []string
	for _, m := range target.FindAllStringSubmatch(src, -1) {
		got = append(got, m[1])
	}
	if len(got) != 2 || got[0] != "FuzzRead" || got[1] != "FuzzLoad" {
		t.Errorf("targets %q, want FuzzRead and FuzzLoad", got)
	}
}

func TestPatience(t *testing.T) {
	for limit, least := range map[string]time.Duration{"10000x": time.Minute, "10m": 10 * time.Minute} {
		if got := patience(limit); got <= least {
			t.Errorf("%s: ended after %v", limit, got)
		}
	}
}
