package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A long time is told, and a huge one asked about where somebody can answer: no answer is no, and an interrupt ends the question.
func TestAgree(t *testing.T) {
	const told, asked = "all: about ", "Begin? [y/N] "
	for _, tt := range []struct {
		seconds float64
		asks    bool
		answer  string
		says    []string
		begins  bool
	}{
		{19, true, "", nil, true},
		{20, true, "", []string{told + "20s"}, true},
		{3599, true, "", []string{told + "60m"}, true},
		{3600, false, "", []string{told + "60m"}, true},
		{3600, true, "y\n", []string{told + "60m", asked}, true},
		{1e9, true, " YES \r\nn\n", []string{told + "31.7 years", asked}, true},
		{3600, true, "n\n", []string{told + "60m", asked, "not begun"}, false},
		{3600, true, "yesterday\n", []string{told + "60m", asked, "not begun"}, false},
		{3600, true, "", []string{told + "60m", asked, "not begun"}, false},
		{3600, true, strings.Repeat("y", 1<<20), []string{told + "60m", asked, "not begun"}, false},
	} {
		c := newCommand(toys(nil))
		c.app.asks, c.app.in = tt.asks, strings.NewReader(tt.answer)
		err := c.app.agree(t.Context(), "all", tt.seconds)
		if (err == nil) != tt.begins {
			t.Errorf("%g s, answer %.9q: error %v", tt.seconds, tt.answer, err)
		}
		got := c.err.String()
		for _, text := range []string{told, asked, "not begun"} {
			if wanted := strings.Contains(strings.Join(tt.says, " "), text); strings.Contains(got, text) != wanted {
				t.Errorf("%g s, answer %.9q: %q, with %q: want %v", tt.seconds, tt.answer, got, text, wanted)
			}
		}
		for _, text := range tt.says {
			if !strings.Contains(got, text) {
				t.Errorf("%g s, answer %.9q: %q, want %q", tt.seconds, tt.answer, got, text)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := newCommand(toys(nil))
	waits := make(chan struct{})
	defer close(waits)
	c.app.asks, c.app.in = true, reads(func([]byte) (int, error) { cancel(); <-waits; return 0, errors.New("too late") })
	if err := c.app.agree(ctx, "all", 3600); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
}

// What has no parts to count says how long it goes on, until it ends or is interrupted.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCommand(toys(nil))
		c.app.every = 30 * time.Second
		end := c.app.waiting(t.Context(), "fitting x\x1b")
		time.Sleep(65 * time.Second)
		end()
		end()
		ctx, cancel := context.WithCancel(t.Context())
		end = c.app.waiting(ctx, "more")
		cancel()
		time.Sleep(time.Hour)
		end()
		if got, want := c.err.String(), "fitting x\\u001b, for 30s so far\nfitting x\\u001b, for 1m0s so far\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		c.app.terminal = true
		end = c.app.waiting(t.Context(), "spinning")
		time.Sleep(20 * time.Second)
		end()
		if got := c.err.String(); !strings.Contains(got, "spinning, for 15s so far") {
			t.Errorf("on a terminal: %q", got)
		}
	})
}

// reads is a reader.
type reads func([]byte) (int, error)

func (r reads) Read(p []byte) (int, error) { return r(p) }

func TestAbout(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "less than 1s", 90 * time.Second: "about 1m30s", 599 * time.Second: "about 9m59s", 601 * time.Second: "about 10m", 2 * time.Hour: "about 2h"} {
		if got := about(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
