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
)

// browsers are the commands that open a file in the user's browser, best first.
func browsers(system string, env func(string) string) [][]string {
	switch system {
	case "windows":
		return [][]string{{"rundll32", "url.dll,FileProtocolHandler"}}
	case "darwin":
		return [][]string{{"open"}}
	}
	var out [][]string
	if b := strings.Fields(env("BROWSER")); len(b) > 0 {
		out = append(out, b)
	}
	if env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != "" { // without a screen these have nowhere to show it
		for _, name := range []string{"xdg-open", "sensible-browser", "x-www-browser"} {
			out = append(out, []string{name})
		}
	}
	return out
}

// open shows a file in the browser. It does not wait for it to be closed.
func (a *app) open(ctx context.Context, file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	for _, b := range browsers(runtime.GOOS, os.Getenv) {
		name, err := exec.LookPath(b[0])
		if err != nil {
			continue
		}
		c := exec.CommandContext(context.WithoutCancel(ctx), name, append(b[1:], path)...)
		if err := c.Start(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(a.err, "opened by %s\n", name)
		return c.Process.Release()
	}
	return errors.New("no browser found; open the file yourself: " + path)
}
