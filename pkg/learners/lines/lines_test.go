package lines

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/catalog"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// session returns a session with a made-up learner or one of the catalog.
func session(tb testing.TB, name string, o Options) *Session {
	tb.Helper()
	for _, e := range madeUpAndReal {
		if e.Name != name {
			continue
		}
		v, err := e.Parse(nil)
		if err != nil {
			tb.Fatal(err)
		}
		s, err := New(e, v, o)
		if err != nil {
			tb.Fatal(err)
		}
		return s
	}
	tb.Fatalf("no learner %q", name)
	return nil
}

// saved returns what Save writes, or the text of its error.
func saved(s *Session) string {
	var b bytes.Buffer
	if err := s.Save(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

// run runs a session on lines and returns its answers.
func run(tb testing.TB, s *Session, in string) (string, Summary, error) {
	tb.Helper()
	var out bytes.Buffer
	sum, err := s.Run(context.Background(), strings.NewReader(in), &out)
	return out.String(), sum, err
}

// Feedback that was saved on Windows: a byte order mark, and \r before \n. The
// mark counts nowhere else.
func TestSessionFromWindows(t *testing.T) {
	const line = `{"x":[0,1],"y":[1,1],"label":-1}`
	want, _, err := run(t, session(t, "pola", Options{}), line+"\n"+line+"\n")
	if err != nil {
		t.Fatal(err)
	}
	const mark = "\xef\xbb\xbf"
	got, sum, err := run(t, session(t, "pola", Options{}), mark+line+"\r\n"+line+"\r\n")
	if err != nil || got != want || sum.Accepted != 2 {
		t.Errorf("got %s, %+v, %v, want %s", got, sum, err, want)
	}
	if _, sum, err := run(t, session(t, "pola", Options{}), mark+"\r\n"+mark+line); err == nil || sum.Accepted != 0 {
		t.Errorf("a mark in the second line: %+v, %v", sum, err)
	}
}

func TestSessions(t *testing.T) {
	for _, c := range []struct {
		name    string
		o       Options
		in, out string
	}{
		{"pola", Options{StateEvery: 2}, `{"x":[0,1],"y":[1,1],"label":1}
{"x":[0,1],"y":[1,1],"label":-1}

{"y":[0,1],"label":-1.0,"x":[0,1]}
{"x":[0,1],"y":[2,1]}
`, `{"round":1,"sqdist":0,"similar":true,"loss":0,"mistake":false,"step":0}
{"round":2,"sqdist":0,"similar":true,"loss":2,"mistake":true,"step":-1,"state":{"m":[[1,0],[0,0]],"threshold":1}}
{"round":3,"sqdist":0,"similar":true,"loss":2,"mistake":true,"step":-2}
{"round":4,"sqdist":4,"similar":false,"state":{"m":[[1,0],[0,0]],"threshold":1}}
`},
		{"counter", Options{StateEvery: 1}, `{"x":[1e-7],"y":[0],"label":-1}
{"x":[3],"y":[-0]}
{"x":[1e12],"y":[0]}
`, `{"round":1,"sqdist":9.999999999999998e-15,"similar":false,"loss":1e-07,"mistake":false,"step":1,"state":{"support":2,"threshold":1}}
{"round":2,"sqdist":9,"similar":false,"state":{"support":2,"threshold":1}}
{"round":3,"sqdist":1e+24,"similar":false,"state":{"support":2,"threshold":1}}
`},
		{"kernel-pola", Options{StateEvery: 2}, `{"x":[1],"y":[1],"label":1}
{"x":[1],"y":[1],"label":-1}
{"x":[1],"y":[1]}
`, `{"round":1,"sqdist":0,"similar":true,"loss":0,"mistake":false,"step":0}
{"round":2,"sqdist":0,"similar":true,"loss":2,"mistake":true,"step":-2,"state":{"support":0,"threshold":1}}
{"round":3,"sqdist":0,"similar":true}
`},
		{"points", Options{Objects: 3, StateEvery: 3}, `{"a":0,"near":1,"far":2}
{"a":0,"near":2,"far":1}
{"c":1,"b":2,"a":1.0}
{"a":1,"b":0,"c":2}
{"a":1,"b":0,"c":0}
`, `{"round":1,"sqnear":1,"sqfar":4,"loss":0,"mistake":false,"step":0}
{"round":2,"sqnear":4,"sqfar":1,"loss":4,"mistake":true,"step":0.5}
{"round":3,"sqb":1,"sqc":0,"nearer":1,"state":{"kernel":[[0.25,0.5,1],[0.5,1,2],[1,2,4]]}}
{"round":4,"sqb":0.25,"sqc":1,"nearer":0}
{"round":5,"sqb":0.25,"sqc":0.25,"nearer":0}
`},
		{"points", Options{Objects: 3}, `{"a":1,"b":2,"c":0}
{"a":1,"b":0,"c":2}
`, `{"round":1,"sqb":1,"sqc":1,"nearer":2}
{"round":2,"sqb":1,"sqc":1,"nearer":0}
`},
		{"oasis", Options{StateEvery: 2}, `{"a":[1,1],"near":[0,1],"far":[1,0]}
{"c":[0,1],"a":[1,1],"b":[1,0]}
{"a":[1,1],"b":[1,0],"c":[1,0]}
`, `{"round":1,"simnear":1,"simfar":1,"loss":1,"mistake":true,"step":0.1}
{"round":2,"simb":0.8,"simc":1.2000000000000002,"nearer":"c","state":{"w":[[0.9,0.1],[-0.1,1.1]]}}
{"round":3,"simb":0.8,"simc":0.8,"nearer":"b"}
`},
		{"hedge", Options{StateEvery: 2}, `{"cost":[[0.5,0.25],[0,1],[1,0]]}
{"cost":[ [0.5, 0] , [0.25,1] ,[1,0]]}
`, `{"round":1,"map":[0,0,0],"loss":0.5}
{"round":2,"map":[1,0,1],"loss":0.08333333333333333,"state":{"logweights":[[-1,-0.25],[-0.25,-2],[-2,0]]}}
`},
		{"ftl", Options{}, `{"cost":[[1,0.5,0],[1,0,1]]}
{"cost":[[0,0,0.5],[0,0.25,0]]}
`, `{"round":1,"map":[0,0],"loss":2}
{"round":2,"map":[2,1],"loss":0.75}
`},
	} {
		for _, in := range []string{c.in, strings.ReplaceAll(c.in, "\n", "\r\n"), strings.TrimSuffix(c.in, "\n"), "\n \t\r\n" + c.in} {
			s := session(t, c.name, c.o)
			out, sum, err := run(t, s, in)
			if err != nil || out != c.out || sum.Accepted != strings.Count(c.out, "\n") || sum.Bad != 0 {
				t.Errorf("%s: %q\ngives %+v, error %v, answers\n%s\nwant\n%s", c.name, in, sum, err, out, c.out)
			}
		}
	}
}

// A learner that knows the law of its maps says what loss it expected: here that of a uniform map, then
// that of the weights exp(−cost/2) of one object, (0 + 0.5·exp(−0.5))/(1 + exp(−0.5)).
func TestExpectedLoss(t *testing.T) {
	in := `{"cost":[[0,1]]}
{"cost":[[0,0.5]]}
`
	for sampler, want := range map[string][]string{"enumerate": {`,"expected":0.5}`, fmt.Sprintf(`,"expected":%.10f`, 0.5/(1+math.Exp(0.5)))[:20]}, "metropolis": nil} {
		e, err := catalog.Find("rmp")
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Parse(map[string]string{"eta": "0.5", "m": "1", "sampler": sampler})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(e, v, Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := run(t, s, in)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(strings.TrimSpace(out), "\n") {
			if want == nil && strings.Contains(line, "expected") || want != nil && !strings.Contains(line, want[i]) {
				t.Errorf("%s: answer %s, want %q in it", sampler, line, want)
			}
		}
	}
}

// Every way a line can be bad: the error says what, and neither learner nor
// answers change, whether it is the first line or a later one.
// The state of a learner that projects at the end only is what it predicts with:
// here M = [0.75 0; 0 −0.625] and b = 0.375.
func TestStateOfTheRunningHypothesis(t *testing.T) {
	e, err := catalog.Find("pa")
	if err != nil {
		t.Fatal(err)
	}
	v, err := e.Parse(map[string]string{"psd": "end", "b0": "0.5"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(e, v, Options{StateEvery: 2})
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := run(t, s, `{"x":[1,0],"y":[0,0],"label":-1}
{"x":[0,1],"y":[0,0],"label":1}
{"x":[0,2],"y":[0,0]}
`)
	want := `{"round":1,"sqdist":0,"similar":true,"loss":1.5,"mistake":true,"step":-0.75}
{"round":2,"sqdist":0,"similar":false,"loss":1.25,"mistake":true,"step":0.625,"state":{"m":[[0.75,0],[0,-0.625]],"threshold":0.375}}
{"round":3,"sqdist":-2.5,"similar":true}
`
	if err != nil || out != want {
		t.Errorf("answers\n%swant\n%serror %v", out, want, err)
	}
}

func TestBadLines(t *testing.T) {
	good := map[string]string{
		"pola": `{"x":[1,2],"y":[0,5],"label":-1}`, "counter": `{"x":[1,2],"y":[0,5],"label":-1}`,
		"points": `{"a":0,"near":1,"far":2}`, "oasis": `{"a":[1,2],"near":[0,5],"far":[1,1]}`, "hedge": `{"cost":[[0,1]]}`,
	}
	long := strings.Repeat("9", 300)
	for _, c := range []struct {
		name, line string
		want       []string // in the error
	}{
		// No JSON, or not an object.
		{"pola", `hello`, []string{"not valid JSON", "invalid character 'h'"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":1`, []string{"not valid JSON", "unexpected EOF"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":1}}`, []string{"not valid JSON"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":1}{}`, []string{"more follows"}},
		{"pola", "{\"x\":[1,2],\"y\":[0,5]}\r{\"x\":[1,2],\"y\":[0,5]}", []string{"more follows", `not with \r alone`}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":1} 1`, []string{"more follows"}},
		{"pola", `{"x":[1,2],"y":[0,5],}`, []string{"not valid JSON"}},
		{"pola", `{"x":[1,2,],"y":[0,5]}`, []string{"not valid JSON"}},
		{"pola", `{"x":[1 2],"y":[0,5]}`, []string{"not valid JSON"}},
		{"pola", `{"x":[01,2],"y":[0,5]}`, []string{"not valid JSON"}},
		{"pola", `{"x":[+1,2],"y":[0,5]}`, []string{"not valid JSON"}},
		{"pola", `{"x":[0x1p4,2],"y":[0,5]}`, []string{"not valid JSON"}},
		{"pola", `{"x":[1_0,2],"y":[0,5]}`, []string{"not valid JSON"}},
		{"pola", `[1,2]`, []string{"a list", `"x", "y", "label"`}},
		{"pola", `null`, []string{"null", `"x", "y", "label"`}},
		{"pola", `"x"`, []string{"a string"}},
		{"pola", "{\"x\":[1,2],\"y\":[0,5],\"\xff\":1}", []string{"not valid JSON", "UTF-8"}},
		// Fields.
		{"pola", `{}`, []string{"x: missing"}},
		{"pola", `{"x":[1,2]}`, []string{"y: missing"}},
		{"pola", `{"x":[1,2],"y":[0,5],"lable":1}`, []string{`"lable"`, `"x", "y", "label"`}},
		{"pola", `{"X":[1,2],"y":[0,5]}`, []string{`unknown field "X"`}},
		{"pola", `{"x":[1,2],"y":[0,5],"x":[1,2]}`, []string{"duplicate", `"x"`}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":1,"label":1}`, []string{"duplicate", "label"}},
		{"pola", `{"x":[1,2],"y":[0,5],"` + long + `":1}`, []string{"unknown field", "..."}},
		// Vectors.
		{"pola", `{"x":null,"y":[0,5]}`, []string{"x: null is not allowed", "list of numbers"}},
		{"pola", `{"x":{},"y":[0,5]}`, []string{"x: an object"}},
		{"pola", `{"x":1,"y":[0,5]}`, []string{"x: a number"}},
		{"pola", `{"x":[1,null],"y":[0,5]}`, []string{"x[1]: null"}},
		{"pola", `{"x":[1,"2"],"y":[0,5]}`, []string{"x[1]: a string"}},
		{"pola", `{"x":[1,"2,3"],"y":[0,5]}`, []string{"x[1]: a string"}},
		{"pola", `{"x":[1,[2]],"y":[0,5]}`, []string{"x[1]: a list"}},
		{"pola", `{"x":[[1],2],"y":[0,5]}`, []string{"x[0]: a list"}},
		{"pola", `{"x":[1,{"a":2}],"y":[0,5]}`, []string{"x[1]: an object"}},
		{"pola", `{"x":[1,true],"y":[0,5]}`, []string{"x[1]: true"}},
		{"pola", `{"x":[1,2],"y":[0,NaN]}`, []string{"not valid JSON", "'N'", "/y/1"}},
		{"pola", `{"x":[1,2],"y":[0,"NaN"]}`, []string{"y[1]: a string"}},
		{"pola", `{"x":[Infinity,2],"y":[0,5]}`, []string{"not valid JSON", "/x/0"}},
		{"pola", `{"x":[-Infinity,2],"y":[0,5]}`, []string{"not valid JSON", "/x/0"}},
		{"pola", `{"x":[1e999,2],"y":[0,5]}`, []string{"x[0]: 1e999", "finite"}},
		{"pola", `{"x":[1,0.1e-399],"y":[0,5]}`, []string{"x[1]: 0.1e-399", "0 or a number of at least"}},
		{"pola", `{"x":[1,-1e309],"y":[0,5]}`, []string{"x[1]: -1e309", "finite"}},
		{"pola", `{"x":[1,` + long + long + `],"y":[0,5]}`, []string{"x[1]: 999", "...", "finite"}},
		{"pola", `{"x":[1,2],"y":[0,5,1]}`, []string{"y: has 3 numbers, want 2"}},
		{"pola", `{"x":[1],"y":[0,5],"label":1}`, []string{"has", "numbers, want"}},
		{"pola", `{"x":[],"y":[],"label":1}`, []string{"x: has 0 numbers, want"}},
		{"pola", `{"x":[1e200,2],"y":[-1e200,5],"label":1}`, []string{"scale the features down"}},
		{"lego", `{"x":[1e200,2],"y":[-1e200,5],"label":1}`, []string{"lego: x and y: d² overflows float64: scale the features down"}},
		{"lego", `{"x":[1e200,2],"y":[-1e200,5]}`, []string{"lego: x and y: d² overflows float64: scale the features down"}},
		{"counter", `{"x":[1e200,2],"y":[-1e200,5]}`, []string{"counter: x and y: d² overflows float64: scale the features down"}},
		{"counter", `{"x":[13,2],"y":[0,5],"label":1}`, []string{"difference 13"}},
		// Labels.
		{"pola", `{"x":[1,2],"y":[0,5],"label":0}`, []string{"label: 0", "1 (similar) or -1"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":2}`, []string{"label: 2", "1 (similar) or -1"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":0.5}`, []string{"label: 0.5", "1 (similar) or -1"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":"1"}`, []string{"label: a string", "1 (similar) or -1"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":true}`, []string{"label: true"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":null}`, []string{"label: null"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":[1]}`, []string{"label: a list"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":1e999}`, []string{"label: 1e999"}},
		{"pola", `{"x":[1,2],"y":[0,5],"label":NaN}`, []string{"not valid JSON"}},
		// Triplets.
		{"points", `{"a":0,"near":1}`, []string{`"a", "near", "far" to learn`, `"a", "b", "c" to predict`}},
		{"points", `{"a":0,"near":1,"c":2}`, []string{"to predict"}},
		{"points", `{"a":0,"near":1,"far":2,"b":1,"c":2}`, []string{"to predict"}},
		{"points", `{"near":1,"far":2}`, []string{"to predict"}},
		{"points", `{"a":3,"near":1,"far":2}`, []string{"a: 3", "from 0 to 2"}},
		{"points", `{"a":0,"near":-1,"far":2}`, []string{"near: -1", "from 0 to 2"}},
		{"points", `{"a":0,"near":1.5,"far":2}`, []string{"near: 1.5", "from 0 to 2"}},
		{"points", `{"a":0,"b":1,"c":99999999999999999999}`, []string{"c: 9999", "from 0 to 2"}},
		{"points", `{"a":0,"b":1,"c":"2"}`, []string{"c: a string"}},
		{"points", `{"a":0,"near":1,"far":1}`, []string{"same object"}},
		// Comparisons of vectors.
		{"oasis", `{"a":[1,2],"near":[0,5]}`, []string{`"a", "near", "far" to learn`, `"a", "b", "c" to predict`}},
		{"oasis", `{"a":[1,2],"near":[0,5],"c":[1,1]}`, []string{"to predict"}},
		{"oasis", `{"a":[1,2],"near":[0,5],"far":[1]}`, []string{"far: has 1 numbers, want 2"}},
		{"oasis", `{"a":[1,2],"b":[0,5,1],"c":[1,1]}`, []string{"b: has 3 numbers, want 2"}},
		{"oasis", `{"a":[],"near":[],"far":[]}`, []string{"a: has 0 numbers, want"}},
		{"oasis", `{"a":0,"near":1,"far":2}`, []string{"a: a number is not allowed, want a list of numbers"}},
		{"oasis", `{"a":[1,2],"near":[0,1e999],"far":[1,1]}`, []string{"near[1]: 1e999", "finite"}},
		{"oasis", `{"a":[1e200,2],"near":[1e200,5],"far":[1,1]}`, []string{"oasis: a similarity overflows float64: scale the features down"}},
		{"oasis", `{"a":[1e200,2],"b":[1e200,5],"c":[1,1]}`, []string{"oasis: a similarity overflows float64: scale the features down"}},
		{"oasis", `{"a":[1,2],"near":[0,5],"far":[1,1],"label":1}`, []string{`unknown field "label"`}},
		// Costs.
		{"hedge", `{}`, []string{"cost: missing"}},
		{"hedge", `{"cost":[]}`, []string{"cost: has no rows"}},
		{"hedge", `{"cost":[[]]}`, []string{"cost[0]: has 0 numbers, want"}},
		{"hedge", `{"cost":[0,1]}`, []string{"cost[0]: a number", "list of numbers"}},
		{"hedge", `{"cost":{"0":1}}`, []string{"cost: an object", "list of rows"}},
		{"hedge", `{"cost":[[0,1],[1]]}`, []string{"cost[1]: has 1 numbers, want 2"}},
		{"hedge", `{"cost":[[0,1],[1,null]]}`, []string{"cost[1][1]: null"}},
		{"hedge", `{"cost":[[0,1],[1,1e999]]}`, []string{"cost[1][1]: 1e999"}},
		{"hedge", `{"cost":[[0,1.5]]}`, []string{"cost[0][1]: 1.5", "from 0 to 1"}},
		{"hedge", `{"cost":[[-0.5,1]]}`, []string{"cost[0][0]: -0.5", "from 0 to 1"}},
		{"hedge", `{"cost":[[0,1],[1,NaN]]}`, []string{"not valid JSON"}},
	} {
		for _, first := range []bool{true, false} {
			o := Options{}
			if c.name == "points" {
				o.Objects = 3
			}
			s := session(t, c.name, o)
			in, number := c.line, 1
			if !first {
				in, number = good[c.name]+"\n\n"+c.line, 3
				if _, _, err := run(t, s, good[c.name]); err != nil {
					t.Fatal(err)
				}
			}
			before := saved(s)
			out, sum, err := run(t, s, c.line+"\n"+good[c.name]+"\n")
			var bad *LineError
			if !errors.As(err, &bad) || bad.Line != 1 || out != "" || sum != (Summary{Lines: 1, Bad: 1}) {
				t.Errorf("%s: %s\ngives %+v, error %v, answers %q", c.name, c.line, sum, err, out)
				continue
			}
			if after := saved(s); after != before {
				t.Errorf("%s: %s\nchanged the learner from %q to %q", c.name, c.line, before, after)
			}
			for _, w := range append(c.want, "line 1: ") {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: %s\nerror %q does not contain %q", c.name, c.line, err, w)
				}
			}
			if len(err.Error()) > 500 {
				t.Errorf("%.60s...: the error is %d bytes long", c.line, len(err.Error()))
			}
			// The same in the middle of a stream that goes on.
			var skipped []int
			o.Bad = func(e *LineError) { skipped = append(skipped, e.Line) }
			s = session(t, c.name, o)
			out, sum, err = run(t, s, in+"\n"+good[c.name]+"\n")
			if err != nil || len(skipped) != 1 || skipped[0] != number || sum.Bad != 1 || sum.Accepted != strings.Count(out, "\n") || sum.Lines != number+1 {
				t.Errorf("%s: %q\nskipped %v, %+v, error %v", c.name, in, skipped, sum, err)
			}
		}
	}
}

// The dimension is that of the first accepted line, not of a refused one, and
// does not change in mid-stream.
func TestDimension(t *testing.T) {
	var errs []string
	s := session(t, "counter", Options{Bad: func(e *LineError) { errs = append(errs, e.Error()) }})
	_, sum, err := run(t, s, `{"x":[1,2,3],"y":[1,2],"label":1}
{"x":[13,0,0],"y":[0,0,0],"label":1}
{"x":[1,2],"y":[3,4]}
{"x":[1,2,3],"y":[1,2,3],"label":1}
{"x":[1,2],"y":[3,4,5]}
{"x":[1,2],"y":[3,4],"label":1}
`)
	want := `line 1: y: has 2 numbers, want 3
line 2: counter: the difference 13 is not allowed
line 4: x: has 3 numbers, want 2
line 5: y: has 3 numbers, want 2`
	if got := strings.Join(errs, "\n"); got != want || err != nil || sum != (Summary{Lines: 6, Accepted: 2, Bad: 4}) {
		t.Errorf("%+v, error %v, refused\n%s\nwant\n%s", sum, err, got, want)
	}
	// The learner's constructor has a say.
	if _, _, err := run(t, session(t, "counter", Options{}), `{"x":[`+strings.Repeat("0,", 12)+`0],"y":[`+strings.Repeat("0,", 12)+`0]}`); err == nil || !strings.Contains(err.Error(), "13 is not allowed") {
		t.Errorf("error %v", err)
	}
	if _, _, err := run(t, session(t, "counter", Options{Dim: 3}), `{"x":[1],"y":[1]}`); err == nil || !strings.Contains(err.Error(), "x: has 1 numbers, want 3") {
		t.Errorf("error %v", err)
	}
	if _, _, err := run(t, session(t, "hedge", Options{}), "{\"cost\":[[0,1]]}\n{\"cost\":[[0],[1]]}"); err == nil || !strings.Contains(err.Error(), "cost: has 2 rows of 1 numbers, want 1 of 2") {
		t.Errorf("error %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name   string
		o      Options
		option string
	}{
		{"pola", Options{Dim: -1}, "dim"},
		{"pola", Options{Objects: 3}, "objects"},
		{"pola", Options{StateEvery: -1}, "state-every"},
		{"pola", Options{MaxLine: -1}, "max-line"},
		{"points", Options{}, "objects"},
		{"points", Options{Objects: 3, Dim: 2}, "dim"},
		{"hedge", Options{Dim: 2}, "dim"},
		{"hedge", Options{Objects: 2}, "objects"},
	} {
		for _, e := range madeUpAndReal {
			if e.Name != c.name {
				continue
			}
			v, _ := e.Parse(nil)
			_, err := New(e, v, c.o)
			var oe *OptionError
			if !errors.As(err, &oe) || oe.Option != c.option || !strings.HasPrefix(err.Error(), c.option+": ") {
				t.Errorf("%s, %+v: error %v", c.name, c.o, err)
			}
		}
	}
	counter := madeUp[0]
	if _, err := New(counter, catalog.Values{}, Options{Dim: 13}); err == nil || !strings.Contains(err.Error(), "13 is not allowed") {
		t.Errorf("error %v", err)
	}
	if e := session(t, "counter", Options{}).Entry(); e.Name != "counter" {
		t.Errorf("entry %q", e.Name)
	}
	defer func() {
		if recover() == nil {
			t.Error("a batch learner is no bug")
		}
	}()
	_, _ = New(madeUp[3], catalog.Values{}, Options{})
}

// A stream cut anywhere, saved and loaded, gives the same answers and the same
// learner as one that was not.
func TestStoppedAndResumed(t *testing.T) {
	in := map[string][]string{
		"pola":        strings.SplitAfter(strings.TrimSpace(string(labelledPairs(3, 12))), "\n"),
		"kernel-pola": strings.SplitAfter(strings.TrimSpace(string(labelledPairs(3, 8))), "\n"),
		"counter":     {`{"x":[1],"y":[2],"label":1}`, `{"x":[1],"y":[2]}`, `{"x":[1],"y":[2],"label":-1}`},
		"points":      {`{"a":0,"near":2,"far":1}`, `{"a":1,"b":0,"c":2}`, `{"a":1,"near":0,"far":2}`, `{"a":1,"near":2,"far":0}`},
		"hedge":       {`{"cost":[[0.1,0.2]]}`, `{"cost":[[0.3,0.1]]}`, `{"cost":[[0,0.9]]}`},
	}
	for name, lines := range in {
		o := Options{}
		if name == "points" {
			o.Objects = 3
		}
		whole := session(t, name, o)
		want, _, err := run(t, whole, strings.Join(lines, "\n"))
		if err != nil {
			t.Fatal(err)
		}
		for cut := 1; cut < len(lines); cut++ {
			first := session(t, name, o)
			a, _, err := run(t, first, strings.Join(lines[:cut], "\n"))
			if err != nil {
				t.Fatal(err)
			}
			second, err := Load(madeUpAndReal, strings.NewReader(saved(first)), o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if second.Entry().Name != name {
				t.Errorf("%s: loaded as %s", name, second.Entry().Name)
			}
			b, _, err := run(t, second, strings.Join(lines[cut:], "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := renumber(a + b); got != want {
				t.Errorf("%s, cut after %d:\n%s\nwant\n%s", name, cut, got, want)
			}
			if saved(second) != saved(whole) {
				t.Errorf("%s, cut after %d: another learner", name, cut)
			}
		}
	}
}

// renumber makes the rounds of two runs one sequence.
func renumber(answers string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(answers, "\n") {
		if _, rest, ok := strings.Cut(line, ","); ok {
			fmt.Fprintf(&b, `{"round":%d,%s`, i+1, rest)
		}
	}
	return b.String()
}

func TestLoadErrors(t *testing.T) {
	pola := session(t, "pola", Options{Dim: 3})
	points := session(t, "points", Options{Objects: 3})
	hedge := session(t, "hedge", Options{})
	if _, _, err := run(t, hedge, `{"cost":[[0,1]]}`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file   string
		o      Options
		option string // of an OptionError
	}{
		{saved(pola), Options{Dim: 2}, "dim"},
		{saved(pola), Options{Objects: 2}, "objects"},
		{saved(points), Options{Objects: 2}, "objects"},
		{saved(points), Options{Dim: 2}, "dim"},
		{saved(hedge), Options{Dim: 2}, "dim"},
	} {
		_, err := Load(madeUpAndReal, strings.NewReader(c.file), c.o)
		var oe *OptionError
		if !errors.As(err, &oe) || oe.Option != c.option {
			t.Errorf("%.60s with %+v: error %v", c.file, c.o, err)
		}
	}
	if _, err := Load(madeUpAndReal, strings.NewReader(saved(pola)), Options{Dim: 3}); err != nil {
		t.Error(err)
	}
	if _, err := Load(madeUpAndReal, strings.NewReader("hello"), Options{}); !errors.Is(err, persist.ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
	for _, s := range []*Session{pola, points, hedge} { // a state of no learner
		_, kind, _ := strings.Cut(saved(s), `"kind":"`)
		kind, _, _ = strings.Cut(kind, `"`)
		var b bytes.Buffer
		if err := persist.Write(&b, kind, struct{}{}, map[string]int{"no": 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(madeUpAndReal, &b, Options{}); err == nil {
			t.Errorf("%s: a state of no learner is loaded", kind)
		}
	}
	if _, err := Load(madeUp, strings.NewReader(saved(pola)), Options{}); !errors.Is(err, persist.ErrKind) || !strings.Contains(err.Error(), "pairs/pola") {
		t.Errorf("not in the catalog: %v", err)
	}
	if _, err := Load(madeUpAndReal, iotest.ErrReader(io.ErrNoProgress), Options{}); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("unreadable: %v", err)
	}
}

func TestNothingToSave(t *testing.T) {
	for _, name := range []string{"pola", "hedge"} {
		if err := session(t, name, Options{}).Save(io.Discard); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if err := session(t, "pola", Options{Dim: 2}).Save(io.Discard); err != nil {
		t.Errorf("with a dimension: %v", err)
	}
}

// A learner that accepts a line and reports NaN ends the session, whatever
// Options.Bad says, and is not saved.
func TestBrokenLearner(t *testing.T) {
	s := session(t, "counter", Options{Bad: func(*LineError) { t.Error("taken for a bad line") }})
	out, _, err := run(t, s, "{\"x\":[1],\"y\":[1]}\n{\"x\":[666],\"y\":[0],\"label\":1}\n")
	if !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), "line 2") || strings.Count(out, "\n") != 1 {
		t.Errorf("error %v, answers %s", err, out)
	}
	if err := s.Save(io.Discard); !errors.Is(err, ErrBroken) {
		t.Errorf("saved: %v", err)
	}
	for name, break_ := range map[string]func(*Session){
		"points": func(s *Session) { s.p.(*tripletLines).learner.(*points).Z[0] = math.Inf(1) },
		"hedge":  func(s *Session) { s.p.(*costLines).learner.(*hedge).W[1] = math.NaN() },
	} {
		line, o := `{"cost":[[0,1]]}`, Options{StateEvery: 1}
		if name == "points" {
			line, o.Objects = `{"a":1,"b":1,"c":2}`, 3
		}
		s := session(t, name, o)
		if _, _, err := run(t, s, line); err != nil {
			t.Fatal(err)
		}
		break_(s)
		if _, _, err := run(t, s, line); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Lines at the limit pass, lines over it are refused and skipped, wherever the
// reads and the buffer cut them.
func TestMaxLine(t *testing.T) {
	good := `{"x":[1],"y":[2]}`
	pad := func(n int) string { return good + strings.Repeat(" ", n-len(good)) }
	for _, limit := range []int{len(good), 100, bufferSize - 1, bufferSize, bufferSize + 1, 2*bufferSize + 7} {
		for _, end := range []string{"\n", ""} {
			for _, over := range []int{0, 1, 2, bufferSize, 3 * bufferSize} {
				in := good + "\n" + pad(limit+over) + "\n" + good + "\n" + pad(limit+over) + end
				var bad []int
				s := session(t, "counter", Options{MaxLine: limit, Bad: func(e *LineError) {
					bad = append(bad, e.Line)
					if want := fmt.Sprintf("line is too long: want at most %d bytes", limit); e.Err.Error() != want {
						t.Errorf("error %v, want %s", e, want)
					}
				}})
				out, sum, err := run(t, s, in)
				want := Summary{Lines: 4, Accepted: 4}
				if over > 0 {
					want = Summary{Lines: 4, Accepted: 2, Bad: 2}
				}
				if err != nil || sum != want || strings.Count(out, "\n") != want.Accepted || over > 0 && fmt.Sprint(bad) != "[2 4]" {
					t.Errorf("limit %d, %d over, end %q: %+v, bad %v, error %v", limit, over, end, sum, bad, err)
				}
			}
		}
	}
}

// A line that never ends is not held in memory.
func TestEndlessLine(t *testing.T) {
	r := lineReader{r: bufio.NewReaderSize(io.LimitReader(nines{}, 1<<28), bufferSize), max: 1 << 20}
	if _, err := r.next(); !errors.Is(err, errTooLong) {
		t.Fatal(err)
	}
	if _, err := r.next(); err != io.EOF {
		t.Fatal(err)
	}
	if c := cap(r.long); c > 2<<20 {
		t.Errorf("holds %d bytes", c)
	}
}

type nines struct{}

func (nines) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '9'
	}
	return len(b), nil
}

// How the input is cut into reads changes nothing.
func TestReads(t *testing.T) {
	in := string(labelledPairs(3, 50))
	want, _, err := run(t, session(t, "pola", Options{}), in)
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]io.Reader{
		"one byte": iotest.OneByteReader(strings.NewReader(in)),
		"half":     iotest.HalfReader(strings.NewReader(in)),
		"with EOF": iotest.DataErrReader(strings.NewReader(in)),
	} {
		var out bytes.Buffer
		if _, err := session(t, "pola", Options{}).Run(context.Background(), r, &out); err != nil || out.String() != want {
			t.Errorf("%s: error %v, other answers", name, err)
		}
	}
}

// An input that fails gives its error, and the lines before it their answers.
func TestInputFails(t *testing.T) {
	in := io.MultiReader(strings.NewReader("{\"x\":[1],\"y\":[2]}\n{\"x\":[1],\"y"), iotest.ErrReader(io.ErrNoProgress))
	var out bytes.Buffer
	sum, err := session(t, "counter", Options{}).Run(context.Background(), in, &out)
	if !errors.Is(err, io.ErrNoProgress) || sum != (Summary{Lines: 1, Accepted: 1}) || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%+v, error %v, answers %s", sum, err, out.String())
	}
}

type failingWriter struct{ after int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// Answers that cannot be written end the session, whenever that shows, and
// what was learned can be saved.
func TestOutputFails(t *testing.T) {
	for _, n := range []int{1, 5000} {
		for after := range 3 {
			s := session(t, "pola", Options{})
			_, err := s.Run(context.Background(), bytes.NewReader(labelledPairs(3, n)), &failingWriter{after})
			if n == 1 && after > 0 {
				if err != nil {
					t.Errorf("error %v", err)
				}
				continue
			}
			if !errors.Is(err, ErrOutput) || !errors.Is(err, io.ErrClosedPipe) || strings.Count(err.Error(), "cannot be written") != 1 {
				t.Errorf("%d lines, failing after %d writes: error %v", n, after, err)
			}
			if err := s.Save(io.Discard); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := session(t, "pola", Options{}).Run(context.Background(), strings.NewReader("{\"x\":[1],\"y\":[2]}\nbad\n"), &failingWriter{})
	var bad *LineError
	if !errors.As(err, &bad) || !errors.Is(err, ErrOutput) {
		t.Errorf("a bad line and a failing output: %v", err)
	}
}

// A session answers each line before it waits for the next, and ends when its
// context does, though the read goes on.
func TestInteractive(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	type end struct {
		sum Summary
		err error
	}
	ended := make(chan end)
	s := session(t, "counter", Options{})
	go func() {
		sum, err := s.Run(ctx, inR, outW)
		ended <- end{sum, err}
	}()
	answers := bufio.NewReader(outR)
	for i := range 3 {
		if _, err := io.WriteString(inW, "{\"x\":[1],\"y\":[2],\"label\":1}\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil || !strings.HasPrefix(answer, fmt.Sprintf(`{"round":%d,`, i+1)) {
			t.Fatalf("answer %q, error %v", answer, err)
		}
	}
	cancel()
	if e := <-ended; !errors.Is(e.err, context.Canceled) || e.sum != (Summary{Lines: 3, Accepted: 3}) {
		t.Errorf("%+v", e)
	}
	inW.Close() // lets the pending read go
	if got := saved(s); !strings.Contains(got, `"N":3`) {
		t.Errorf("saved %s", got)
	}
	// A context that ends while there is more to read.
	ctx, cancel = context.WithCancel(context.Background())
	s = session(t, "counter", Options{Bad: func(*LineError) { cancel() }})
	if sum, err := s.Run(ctx, strings.NewReader("{\"x\":[1],\"y\":[2]}\nbad\n{\"x\":[1],\"y\":[2]}\n"), io.Discard); !errors.Is(err, context.Canceled) || sum != (Summary{Lines: 2, Accepted: 1, Bad: 1}) {
		t.Errorf("%+v, error %v", sum, err)
	}
	// A context that is done before anything is read.
	if sum, err := s.Run(ctx, strings.NewReader("{\"x\":[1],\"y\":[2]}\n"), io.Discard); !errors.Is(err, context.Canceled) || sum != (Summary{}) {
		t.Errorf("%+v, error %v", sum, err)
	}
}

// A line costs no memory once the buffers are as large as the longest one.
func TestFlatMemory(t *testing.T) {
	in := labelledPairs(10, 1000)
	unlabelled := bytes.ReplaceAll(bytes.ReplaceAll(in, []byte(`,"label":1`), nil), []byte(`,"label":-1`), nil)
	for _, c := range []struct {
		name string
		in   []byte
	}{
		{"pola", in},
		{"counter", in},
		{"counter", unlabelled},
		{"points", []byte("{\"a\":0,\"near\":1,\"far\":2}\n{\"a\":0,\"b\":1,\"c\":2}\n")},
	} {
		o := Options{}
		if c.name == "points" {
			o.Objects = 3
		}
		s := session(t, c.name, o)
		stream := bytes.NewReader(c.in)
		r := lineReader{r: bufio.NewReaderSize(stream, bufferSize), max: DefaultMaxLine}
		w := bufio.NewWriterSize(io.Discard, bufferSize)
		round := func() {
			line, err := r.next()
			if err == io.EOF {
				stream.Reset(c.in)
				line, err = r.next()
			}
			if err != nil {
				t.Fatal(err)
			}
			answer, err := s.line(line, 1)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(answer)
		}
		for range 2000 {
			round()
		}
		if n := testing.AllocsPerRun(2000, round); n != 0 {
			t.Errorf("%s: %v allocations per line", c.name, n)
		}
	}
}

// Numbers are valid JSON and read back as the same bits.
func TestNumbersRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	vs := []float64{0, math.Copysign(0, -1), 1, 1e-6, 9.9e-7, 1e21, 9.99e20, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1}
	for range 10000 {
		if v := math.Float64frombits(rng.Uint64()); finite(v) {
			vs = append(vs, v)
		}
	}
	for _, v := range vs {
		text := appendFloat(nil, v)
		got, err := strconv.ParseFloat(string(text), 64)
		if err != nil || math.Float64bits(got) != math.Float64bits(v) || !json.Valid(text) || len(text) > 25 {
			t.Errorf("%v is written %s and read as %v, %v", v, text, got, err)
		}
	}
}

// The answers agree with the learner itself, asked directly.
func TestAnswersAreTheLearners(t *testing.T) {
	e, err := catalog.Find("pola")
	if err != nil {
		t.Fatal(err)
	}
	v, _ := e.Parse(map[string]string{"gamma": "0.5"})
	l, err := catalog.As[learners.PairMetric](e.New(catalog.Shape{Dim: 4}, v))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(e, v, Options{StateEvery: 1})
	if err != nil {
		t.Fatal(err)
	}
	in := labelledPairs(4, 200)
	out, _, err := run(t, s, string(in))
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(out, "\n")
	for i, line := range bytes.Split(bytes.TrimSpace(in), []byte{'\n'}) {
		var f struct {
			X, Y  []float64
			Label metric.Label
		}
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		pair := metric.Pair{X: f.X, Y: f.Y, Label: f.Label}
		before := l.Predict(pair)
		o, err := l.Step(pair)
		if err != nil {
			t.Fatal(err)
		}
		var a struct {
			Round              int
			SqDist, Loss, Step float64
			Similar, Mistake   bool
			State              struct {
				M         [][]float64
				Threshold float64
			}
		}
		if err := json.Unmarshal([]byte(answers[i]), &a); err != nil {
			t.Fatal(err)
		}
		if a.Round != i+1 || a.SqDist != before.SqDist || a.Similar != before.Similar || a.Loss != o.Loss || a.Step != o.StepSize || a.Mistake != o.Mistake {
			t.Fatalf("line %d: answer %s, learner %+v", i+1, answers[i], o)
		}
		m := l.Metric().M()
		for j, row := range a.State.M {
			for k, got := range row {
				if got != m.At(j, k) {
					t.Fatalf("line %d: m[%d][%d] = %v, want %v", i+1, j, k, got, m.At(j, k))
				}
			}
		}
		if a.State.Threshold != l.Threshold() || len(a.State.M) != 4 {
			t.Fatalf("line %d: state %+v", i+1, a.State)
		}
	}
}
