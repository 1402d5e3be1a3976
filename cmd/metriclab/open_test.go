package main

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBrowsers(t *testing.T) {
	for _, tt := range []struct {
		system string
		env    map[string]string
		want   string
	}{
		{"windows", nil, "rundll32"},
		{"darwin", nil, "open"},
		{"linux", nil, ""},
		{"linux", map[string]string{"BROWSER": "firefox -P me"}, "firefox"},
		{"linux", map[string]string{"DISPLAY": ":0"}, "xdg-open sensible-browser x-www-browser"},
		{"freebsd", map[string]string{"WAYLAND_DISPLAY": "w", "BROWSER": "b"}, "b xdg-open sensible-browser x-www-browser"},
	} {
		var names []string
		for _, b := range browsers(tt.system, func(name string) string { return tt.env[name] }) {
			names = append(names, b[0])
		}
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s %v: got %q, want %q", tt.system, tt.env, got, tt.want)
		}
	}
	if got := browsers("linux", func(string) string { return "firefox -P me" })[0]; !reflect.DeepEqual(got, []string{"firefox", "-P", "me"}) {
		t.Errorf("got %q", got)
	}
}

// The report is opened by the user's browser; where there is none, the command says so and is done.
func TestReportOpen(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("a browser would open")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"} {
		t.Setenv(name, "")
	}
	c := newCommand(toys(nil))
	if code := c.run("report", "--open"); code != 0 || !strings.Contains(c.err.String(), "the report is not opened: no browser found; open the file yourself: ") {
		t.Errorf("exit code %d: %s", code, c.err.String())
	}
	shown := filepath.Join(dir, "shown")
	if err := os.WriteFile(filepath.Join(dir, "browser"), []byte("#!/bin/sh\necho \"$2\" >"+shown+".part && mv "+shown+".part "+shown+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BROWSER", filepath.Join(dir, "browser")+" --new")
	if code := c.run("report", "--open"); code != 0 {
		t.Fatalf("exit code %d: %s", code, c.err.String())
	}
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if got, err := os.ReadFile(shown); err == nil {
			if !strings.HasSuffix(strings.TrimSpace(string(got)), "out/smoke/report.html") {
				t.Errorf("the browser got %q", got)
			}
			return
		} else if time.Since(start) > time.Minute {
			t.Fatal(err)
		}
	}
}
