package nb

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"metriclab/pkg/plots"
)

// interview logs what Ask asks of it.
func interview(rounds int, log *[]string) Interview {
	panel := func(x int) plots.Panel { return pointAt(float64(x)).Panels[0] }
	say := func(format string, args ...any) { *log = append(*log, fmt.Sprintf(format, args...)) }
	return Interview{
		Rounds:   rounds,
		Pictures: func(round int) (a, b, c plots.Panel) { say("ask %d", round); return panel(1), panel(2), panel(3) },
		Map:      func(answers int) plots.Panel { say("map %d", answers); return panel(4) },
		Respond:  func(round int) bool { return round == 1 },
		Learn:    func(round int, second bool) { say("%d %t", round, second) },
		Undo:     func() { say("undo") },
	}
}

// TestAskWithoutServer: nobody can answer, so that Respond does.
func TestAskWithoutServer(t *testing.T) {
	t.Setenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV, "")
	var log []string
	n := Ask(interview(2, &log))
	if want := []string{"0 false", "1 true", "map 2"}; n != 2 || !slices.Equal(log, want) {
		t.Errorf("%d answers with %q, want 2 with %q", n, log, want)
	}
}

// Answers come line by line. What is no answer is asked again, undo takes one back.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name, in string
		answers  int
		log      string
		last     string
	}{
		{"all", "b\nC \n", 2, "ask 0, map 0, 0 false, ask 1, map 1, 1 true, map 2", "You gave 2 answers."},
		{"no answer", "x\n\nc\nb\n", 2, "ask 0, map 0, 0 true, ask 1, map 1, 1 false, map 2", "You gave 2 answers."},
		{"undo", "u\nb\nu\nc\nc\n", 2, "ask 0, map 0, 0 false, ask 1, map 1, undo, ask 0, map 0, 0 true, ask 1, map 1, 1 true, map 2", "You gave 2 answers."},
		{"stop", "b\ns\n", 1, "ask 0, map 0, 0 false, ask 1, map 1, map 1", "You stopped after 1 of 2 answers."},
		{"closed", "b\n", 1, "ask 0, map 0, 0 false, ask 1, map 1, map 1", "You gave 1 answers."},
		{"closed at once", "", 2, "ask 0, map 0, 0 false, 1 true, map 2", "a simulated person answered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log, prompts []string
			var shown []map[protocol.MIMEType]any
			n := interview(2, &log).run(strings.NewReader(c.in), func(d map[protocol.MIMEType]any) { shown = append(shown, d) }, func(p string) { prompts = append(prompts, p) }, "here", time.Hour)
			if n != c.answers || strings.Join(log, ", ") != c.log {
				t.Errorf("%d answers with %q, want %d with %q", n, strings.Join(log, ", "), c.answers, c.log)
			}
			if last := shown[len(shown)-1][protocol.MIMETextPlain].(string); !strings.Contains(last, c.last) {
				t.Errorf("the last output says %q, want %q", last, c.last)
			}
			for i, d := range shown {
				for _, kind := range []protocol.MIMEType{protocol.MIMETextHTML, protocol.MIMEImagePNG, protocol.MIMETextPlain} {
					if d[kind] == nil {
						t.Errorf("output %d has no %s", i, kind)
					}
				}
			}
			if first := prompts[0]; !strings.HasPrefix(first, "1 of 2: ") || !strings.Contains(shown[0][protocol.MIMETextHTML].(string), first) {
				t.Errorf("the page does not wait for the input line %q", first)
			}
		})
	}
}

// A cell that nobody looks at ends.
func TestAskNobody(t *testing.T) {
	var log []string
	in, out := io.Pipe()
	defer out.Close()
	n := interview(2, &log).run(in, func(map[protocol.MIMEType]any) {}, func(string) {}, "here", time.Millisecond)
	if want := []string{"ask 0", "map 0", "0 false", "1 true", "map 2"}; n != 2 || !slices.Equal(log, want) {
		t.Errorf("%d answers with %q, want 2 with %q", n, log, want)
	}
}

func TestAskWithoutRounds(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Ask(Interview{})
}
