package lines_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/learners/lines"
	"metriclab/pkg/learners/ltkernel"
	"metriclab/pkg/limits"
)

func ExampleReadConstraints() {
	c, err := lines.ReadConstraints(strings.NewReader(`{"i":0,"j":1,"at_most":1.2}

{"a":0,"near":2,"far":3,"margin":0.2}
`), "c.jsonl", 4)
	if err != nil {
		panic(err)
	}
	for k, l := range c.List {
		fmt.Println("line", c.Lines[k], l.Dists, l.Sense, l.Bound)
	}
	_, err = lines.ReadConstraints(strings.NewReader(`{"i":0,"j":4,"at_most":1.2}`), "c.jsonl", 4)
	fmt.Println(err)
	// Output:
	// line 1 [{0 1 1}] at most 1.2
	// line 3 [{0 2 1} {0 3 -1}] at most -0.2
	// lines: c.jsonl:1: j: 4 is not allowed, want an object from 0 to 3
}

func TestReadConstraints(t *testing.T) {
	text := "\xef\xbb\xbf" + `{"i":0,"j":1,"at_most":1.2}` + "\r\n" + `{"at_least":4,"j":5,"i":0}` + "\n \n" + `{"i":4,"j":0.0,"exactly":2e0}
{"a":0,"near":2,"far":6,"margin":-0.2}
{"i":1,"j":0,"at_least":0}
{"trace_at_most":9}`
	c, err := lines.ReadConstraints(strings.NewReader(text), "c.jsonl", 7)
	if err != nil {
		t.Fatal(err)
	}
	want := []ltkernel.Constraint{
		ltkernel.AtMost(0, 1, 1.2), ltkernel.AtLeast(0, 5, 4), ltkernel.Exactly(4, 0, 2), ltkernel.Nearer(0, 2, 6, -0.2),
		ltkernel.AtLeast(1, 0, 0), ltkernel.TraceAtMost(9),
	}
	if !reflect.DeepEqual(c.List, want) || !slices.Equal(c.Lines, []int{1, 2, 4, 5, 6, 7}) {
		t.Errorf("got %v, lines %v", c.List, c.Lines)
	}
}

func TestReadConstraintsErrors(t *testing.T) {
	for line, want := range map[string]string{
		"":                                       "no line has a constraint",
		"\n\n":                                   "no line has a constraint",
		"[1]":                                    "a list is not allowed, want an object with",
		`{"i":0,"j":1,"at_most":1`:               "not valid JSON",
		`{"i":0,"j":1,"at_most":1}}`:             "not valid JSON",
		`{"i":0,"j":1}`:                          `want the fields "i", "j" and one of`,
		`{}`:                                     `want the fields "i", "j" and one of`,
		`{"i":0,"at_most":1}`:                    `want the fields "i", "j" and one of`,
		`{"a":0,"near":1,"far":2}`:               `want the fields "i", "j" and one of`,
		`{"i":0,"j":1,"atmost":1}`:               `unknown field "atmost"`,
		`{"i":0,"j":1,"at_most":1,"at_least":1}`: `want the fields "i", "j" and one of`,
		`{"i":0,"j":1,"at_most":1,"at_most":1}`:  "duplicate",
		`{"i":0,"j":1,"at_most":null}`:           "at_most: null is not allowed",
		`{"i":0,"j":1,"at_most":"1"}`:            "at_most: a string is not allowed",
		`{"i":0,"j":1,"at_most":-1}`:             "at_most: -1 is not allowed, want a finite number >= 0",
		`{"i":0,"j":1,"at_least":-1e-9}`:         "at_least: -1e-9 is not allowed",
		`{"i":0,"j":1,"exactly":-2}`:             "exactly: -2 is not allowed",
		`{"trace_at_most":-2}`:                   "trace_at_most: -2 is not allowed",
		`{"i":0,"j":1,"at_most":1e-999}`:         "at_most: 1e-999 is not allowed, want 0 or",
		`{"i":0,"j":1,"at_most":1e999}`:          "at_most: 1e999 is not allowed",
		`{"i":0,"j":1,"at_most":NaN}`:            "not valid JSON",
		`{"i":0,"j":3,"at_most":1}`:              "j: 3 is not allowed, want an object from 0 to 2",
		`{"i":-1,"j":1,"at_most":1}`:             "i: -1 is not allowed",
		`{"i":0.5,"j":1,"at_most":1}`:            "i: 0.5 is not allowed",
		`{"i":1e300,"j":1,"at_most":1}`:          "i: 1e300 is not allowed",
		`{"i":1,"j":1,"at_most":1}`:              "i and j: both are 1",
		`{"a":0,"near":0,"far":1,"margin":1}`:    "want three objects",
		`{"a":0,"near":2,"far":2,"margin":1}`:    "want three objects",
		`{"a":0,"near":2,"far":1,"margin":[1]}`:  "margin: a list is not allowed",
		`{"i":0,"j":1,"at_most":1,"x":` + strings.Repeat("9", 300) + `}`: `unknown field "x"`,
	} {
		_, err := lines.ReadConstraints(strings.NewReader(line), "c.jsonl", 3)
		where := "c.jsonl:1: "
		if strings.TrimSpace(line) == "" {
			where = "c.jsonl: "
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), where) || len(err.Error()) > 500 {
			t.Errorf("%q: error %v, want %q", line, err, want)
		}
	}
	_, err := lines.ReadConstraints(strings.NewReader(`{"i":0,"j":1,"at_most":1}`+"\n\n"+`{"i":0,"j":9,"at_most":1}`), "c.jsonl", 3)
	if err == nil || !strings.Contains(err.Error(), "c.jsonl:3: j: 9") {
		t.Errorf("error %v", err)
	}
	broken := errors.New("the disk is gone")
	if _, err := lines.ReadConstraints(io.MultiReader(strings.NewReader("{"), failing{broken}), "c.jsonl", 3); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestConstraintsHaveALimit: a stream without an end is an error, of lines or of one line.
func TestConstraintsHaveALimit(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	for _, text := range []string{"{\"i\":0,\"j\":1,\"at_most\":1}\n", " "} {
		_, err := lines.ReadConstraints(&repeated{[]byte(text), 0}, "c.jsonl", 3)
		if err == nil || !strings.Contains(err.Error(), "c.jsonl:") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// repeated is a text without an end.
type repeated struct {
	text []byte
	at   int
}

func (r *repeated) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = r.text[r.at%len(r.text)]
		r.at++
	}
	return len(b), nil
}

func TestCheckBounds(t *testing.T) {
	differ := func(i, j int) bool { return i != 2 && j != 2 }
	for _, tt := range []struct {
		text   string
		strict bool
		want   string
	}{
		{`{"i":0,"j":1,"at_most":1} {"i":1,"j":0,"at_least":2}`, false, "c.jsonl:2: the squared distance of objects 0 and 1 cannot be at least 2 and, by line 1, at most 1"},
		{`{"i":0,"j":1,"at_least":2} {"i":0,"j":2,"at_least":9} {"i":0,"j":1,"at_most":1}`, false, "c.jsonl:3: the squared distance of objects 0 and 1 cannot be at most 1 and, by line 1, at least 2"},
		{`{"i":0,"j":1,"exactly":1} {"i":0,"j":1,"exactly":2}`, false, "cannot be exactly 2 and, by line 1, exactly 1"},
		{`{"i":0,"j":1,"exactly":2} {"i":0,"j":1,"at_most":1}`, false, "cannot be at most 1 and, by line 1, exactly 2"},
		{`{"i":0,"j":1,"exactly":2} {"i":0,"j":1,"exactly":2}`, false, ""},
		{`{"i":0,"j":1,"at_most":2} {"i":0,"j":1,"at_least":2}`, true, ""},
		{`{"i":0,"j":1,"at_most":2} {"i":0,"j":1,"at_most":1} {"i":0,"j":1,"at_least":0.5}`, true, ""},
		{`{"i":0,"j":1,"at_most":0}`, false, ""},
		{`{"i":0,"j":1,"at_most":0}`, true, "c.jsonl:1: the squared distance of objects 0 and 1 cannot be at most 0: the divergence keeps them apart"},
		{`{"i":0,"j":1,"exactly":0}`, true, "cannot be exactly 0"},
		{`{"i":0,"j":2,"exactly":0}`, true, ""},
		{`{"i":0,"j":1,"at_least":0}`, true, ""},
		{`{"trace_at_most":0}`, true, "c.jsonl:1: trace_at_most: 0"},
		{`{"trace_at_most":0}`, false, ""},
		{`{"a":0,"near":1,"far":2,"margin":0}`, true, ""},
	} {
		c, err := lines.ReadConstraints(strings.NewReader(strings.ReplaceAll(tt.text, "} {", "}\n{")), "c.jsonl", 3)
		if err != nil {
			t.Fatal(err)
		}
		err = c.CheckBounds(tt.strict, differ)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, strict %v: error %v, want %q", tt.text, tt.strict, err, tt.want)
		}
	}
}

// FuzzConstraints: no text makes the reader panic, and what it returns a fit accepts.
func FuzzConstraints(f *testing.F) {
	f.Add([]byte(`{"i":0,"j":1,"at_most":1.2}`))
	f.Add([]byte("{\"a\":0,\"near\":2,\"far\":1,\"margin\":0.2}\n\n{\"trace_at_most\":9}"))
	f.Add([]byte(`{"i":0,"j":1,"exactly":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := lines.ReadConstraints(bytes.NewReader(text), "c.jsonl", 3)
		if err != nil {
			return
		}
		if len(c.List) != len(c.Lines) || len(c.List) == 0 {
			t.Fatalf("%d constraints, %d lines", len(c.List), len(c.Lines))
		}
		_ = c.CheckBounds(true, func(_, _ int) bool { return true })
		for _, l := range c.List {
			for _, d := range l.Dists {
				if d.I < 0 || d.I > 2 || d.J < 0 || d.J > 2 || d.I == d.J {
					t.Errorf("%q: %v", text, d)
				}
			}
		}
	})
}
