package nb

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/ask"
	"metriclab/pkg/plots"
)

// interview asks about three items, and logs what Ask asks of it.
func interview(t *testing.T, rounds int, wait time.Duration, log *[]string) Interview {
	panel := func(x int) plots.Panel { return pointAt(float64(x)).Panels[0] }
	return Interview{
		Session: Must(ask.New(rand.NewPCG(1, 2), 3, ask.Params{Choose: ask.ChoiceERKLE})), Rounds: rounds, Wait: wait,
		Picture: func(item int, _ string) plots.Panel { return panel(item) },
		Map: func(k mat.Symmetric, answers int) plots.Panel {
			if k.SymmetricDim() != 3 || answers == 0 {
				t.Errorf("a map of %d items after %d answers", k.SymmetricDim(), answers)
			}
			*log = append(*log, fmt.Sprint("map ", answers))
			return panel(4)
		},
		Respond: func(ask.Question) int { return 2 },
	}
}

// said lists the answers, as places.
func said(i Interview) (out []int) {
	for _, a := range i.Session.Answers() {
		out = append(out, a.Said)
	}
	return out
}

// TestAskWithoutServer: nobody can answer, so that Respond does.
func TestAskWithoutServer(t *testing.T) {
	t.Setenv(protocol.GONB_JUPYTER_KERNEL_ID_ENV, "")
	var log []string
	i := interview(t, 2, 0, &log)
	if n := Ask(i); n != 2 || !slices.Equal(said(i), []int{2, 2}) || !slices.Equal(log, []string{"map 2"}) {
		t.Errorf("%d answers %v, %q", n, said(i), log)
	}
}

// Answers come line by line. What is no answer is asked again, undo takes one back, and no map is drawn before each item was asked about.
func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name, in string
		wait     time.Duration
		said     []int
		log      string
		last     string
	}{
		{"all", "b\nC \n", time.Hour, []int{1, 2}, "map 1, map 2", "You gave 2 answers."},
		{"no answer", "x\n\nc\nb\n", time.Hour, []int{2, 1}, "map 1, map 2", "You gave 2 answers."},
		{"undo", "u\nb\nu\nc\nc\n", time.Hour, []int{2, 2}, "map 1, map 1, map 2", "You gave 2 answers."},
		{"stop", "b\ns\n", time.Hour, []int{1}, "map 1, map 1", "You stopped after 1 of 2 answers."},
		{"stop at once", "s\n", time.Hour, nil, "", "You stopped after 0 of 2 answers."},
		{"closed", "b\n", time.Hour, []int{1}, "map 1, map 1", "You gave 1 answers."},
		{"closed at once", "", time.Hour, []int{2, 2}, "map 2", "a simulated person answered"},
		{"closed at once, without a simulated person", "", 0, nil, "", "You gave 0 answers."},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log, prompts []string
			var shown []map[protocol.MIMEType]any
			i := interview(t, 2, c.wait, &log)
			n := i.run(strings.NewReader(c.in), func(d map[protocol.MIMEType]any) { shown = append(shown, d) }, func(p string) { prompts = append(prompts, p) }, "here")
			if n != len(c.said) || !slices.Equal(said(i), c.said) || strings.Join(log, ", ") != c.log {
				t.Errorf("%d answers %v with %q, want %v with %q", n, said(i), strings.Join(log, ", "), c.said, c.log)
			}
			if last := shown[len(shown)-1][protocol.MIMETextPlain].(string); !strings.Contains(last, c.last) {
				t.Errorf("the last output says %q, want %q", last, c.last)
			}
			for i, d := range shown {
				for _, kind := range []protocol.MIMEType{protocol.MIMETextHTML, protocol.MIMETextPlain} {
					if d[kind] == nil {
						t.Errorf("output %d has no %s", i, kind)
					}
				}
			}
			page := shown[0][protocol.MIMETextHTML].(string)
			if !strings.HasPrefix(prompts[0], "1 of 2: ") || !strings.Contains(page, prompts[0]) || !strings.Contains(page, "once each was asked about: 3 to go") {
				t.Errorf("the page does not wait for the input line %q, or has a map", prompts[0])
			}
		})
	}
}

// A cell that nobody looks at ends.
func TestAskNobody(t *testing.T) {
	var log []string
	in, out := io.Pipe()
	i := interview(t, 2, time.Millisecond, &log)
	n := i.run(in, func(map[protocol.MIMEType]any) {}, func(string) {}, "here")
	out.Close()
	if n != 2 || !slices.Equal(said(i), []int{2, 2}) || !slices.Equal(log, []string{"map 2"}) {
		t.Errorf("%d answers %v with %q", n, said(i), log)
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
