package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A standard output that a shell closed is an error; one that was discarded is none, however that was asked for.
func TestClosedOutput(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for redirected, want := range map[string]string{
		">&-": "1", ">&- <&-": "1", ">/dev/full": "1", ">/dev/null": "0", ">&- 2>&-": "0", "1<>/dev/null 2>&1": "0",
	} {
		c := exec.Command("sh", "-c", `exec 3>&2; "$0" version `+redirected+`; echo "exit code $?" >&3`, self)
		var said strings.Builder
		c.Env, c.Stderr = append(os.Environ(), asChild+"=1"), &said
		if err := c.Run(); err != nil || !strings.HasSuffix(said.String(), "exit code "+want+"\n") || strings.HasPrefix(said.String(), "exit code 1") {
			t.Errorf("%s: want exit code %s; %v: %s", redirected, want, err, said.String())
		}
	}
	// A program's own /dev/null, for reading and writing as Python's is.
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, args := range [][]string{{self, "version"}, {"sh", "-c", `"$0" version; exit $?`, self}} {
		c := exec.Command(args[0], args[1:]...)
		c.Env, c.Stdout = append(os.Environ(), asChild+"=1"), null
		if err := c.Run(); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}
