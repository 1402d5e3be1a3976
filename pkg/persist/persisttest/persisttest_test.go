package persisttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"metriclab/pkg/persist"
)

const kind = "persisttest/vector"

// vector is saved and loaded; fault says what its loader or Save does wrong.
type vector struct {
	values persist.Floats
	fault  string
}

type vectorState struct {
	Values persist.Floats `json:"values"`
}

func (v vector) Save(w io.Writer) error {
	if v.fault == "save changes" {
		return persist.Write(w, kind, struct{}{}, vectorState{append(v.values, 1)})
	}
	return persist.Write(w, kind, struct{}{}, vectorState{v.values})
}

func loader(fault string) func(io.Reader) (vector, error) {
	return func(r io.Reader) (vector, error) {
		env, err := persist.Read(r)
		if err != nil {
			switch fault {
			case "hides errors":
				return vector{}, errors.New("cannot load")
			case "accepts all":
				return vector{values: persist.Floats{1, 2}}, nil
			case "forgives checksums":
				if errors.Is(err, persist.ErrDamaged) && strings.Contains(err.Error(), "checksum") {
					return vector{values: persist.Floats{9}}, nil
				}
			}
			return vector{}, err
		}
		if err := env.Expect(kind); err != nil && fault != "any kind" {
			return vector{}, err
		}
		var s vectorState
		if fault == "any field" {
			if err := json.Unmarshal(env.State, &s); err != nil {
				return vector{}, err
			}
		} else if err := env.Decode(&struct{}{}, &s); err != nil {
			return vector{}, fmt.Errorf("%w: %w", persist.ErrDamaged, err)
		}
		if len(s.Values) != 2 && fault != "any length" {
			return vector{}, fmt.Errorf("%w: %d values", persist.ErrDamaged, len(s.Values))
		}
		return vector{s.Values, fault}, nil
	}
}

// recorder is a TB that keeps complaints instead of failing.
type recorder struct{ said []string }

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, a ...any) { r.said = append(r.said, fmt.Sprintf(f, a...)) }

var short = map[string]Edit{"one value": func(_, state map[string]any) { state["values"] = persist.Floats{1} }}

// TestFaultsAreFound gives the checks a loader with one fault each.
func TestFaultsAreFound(t *testing.T) {
	file := Saved(vector{values: persist.Floats{1, 2}})
	for fault, want := range map[string]string{
		"save changes":       "saved again as the same bytes: false",
		"hides errors":       "want a foreign or damaged file",
		"accepts all":        "first 0 of",
		"forgives checksums": "loaded as something else",
		"any kind":           "another kind: got <nil>",
		"any field":          "unknown field in state",
		"any length":         "one value: got <nil>",
	} {
		r := &recorder{}
		Check(r, file, loader(fault))
		Tampered(r, file, loader(fault), short)
		if !strings.Contains(strings.Join(r.said, "\n"), want) {
			t.Errorf("%s: said %q, want a complaint with %q", fault, r.said, want)
		}
	}
	r := &recorder{}
	Check(r, file, loader(""))
	Tampered(r, file, loader(""), short)
	if len(r.said) != 0 {
		t.Errorf("of a loader without fault: %q", r.said)
	}
}

const sizedKind = "persisttest/sized"

// sized has a number that its loader trusts or not.
type sized struct {
	n      int
	values persist.Floats
}

func (s sized) Save(w io.Writer) error {
	return persist.Write(w, sizedKind, struct{}{}, map[string]any{"n": s.n, "values": s.values})
}

// TestNumbersFindsFaults gives Numbers loaders with one fault each.
func TestNumbersFindsFaults(t *testing.T) {
	file := Saved(sized{2, make(persist.Floats, 2)})
	for fault, want := range map[string]string{
		"":          "",
		"panics":    "state.n set to 9223372036854775807: panic: runtime error: makeslice",
		"allocates": "state.n set to 1000000000: loading",
		"use":       "state.n set to -1: panic: of no use",
		"not again": "cannot load what was loaded and saved",
		"NaN":       "2 numbers from [NaN 0] on: panic: NaN",
		"defaults":  "state.n set to 0: the file.state.n: 0 is loaded as 2",
		"drops":     "state.values set to 1 numbers from [0] on: the file.state.values: AAAAAAAAAAA= is loaded as AAAAAAAAAAAAAAAAAAAAAA==",
	} {
		loads := 0
		load := func(r io.Reader) (sized, error) {
			env, err := persist.Read(r)
			if err != nil {
				return sized{}, err
			}
			var s struct {
				N      int            `json:"n"`
				Values persist.Floats `json:"values"`
			}
			if err := env.Decode(&struct{}{}, &s); err != nil {
				return sized{}, err
			}
			loads++
			switch {
			case fault == "panics" && s.N > 1<<60:
				_ = make([]byte, s.N)
			case fault == "allocates" && s.N == 1_000_000_000:
				_ = make([]byte, 16<<20)
			case fault == "not again" && loads > 5 && loads%2 == 0:
				return sized{}, errors.New("no")
			case fault == "NaN" && len(s.Values) > 0 && s.Values[0] != s.Values[0]:
				panic("NaN")
			case fault == "defaults" && s.N == 0:
				s.N = 2
			case fault == "drops":
				s.Values = make(persist.Floats, 2)
			case fault == "" && s.N != 2:
				return sized{}, errors.New("n")
			}
			return sized{s.N, s.Values}, nil
		}
		r := &recorder{}
		Numbers(r, file, load, func(s sized) {
			if fault == "use" && s.n < 0 {
				panic("of no use")
			}
		})
		if said := strings.Join(r.said, "\n"); !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%s: said %q, want a complaint with %q", fault, r.said, want)
		}
	}
}

// TestFaithful gives Faithful files that are loaded otherwise than they say.
func TestFaithful(t *testing.T) {
	const whole = `{"n":1,"list":["x",{"y":true}],"x":0.5}`
	for _, c := range []struct{ file, saved, want string }{
		{whole, whole, ""},
		{`{"x":5e-1,"n":1.0,"list":["\u0078",{"y":true}]}`, whole, ""},
		{`{"n":1,"none":0,"no":-0,"not":false,"empty":"","nothing":null,"list":[]}`, `{"n":1,"list":null}`, ""},
		{`{"n":null}`, `{"n":[]}`, ""},
		{`{"n":null}`, `{"n":0}`, "n: <nil> is loaded as 0"},
		{`{"n":1e-999}`, `{"n":0}`, "n: 1e-999 is loaded as 0"},
		{`{"n":1}`, `{"n":2}`, "n: 1 is loaded as 2"},
		{`{"n":1}`, `{"n":"1"}`, "n: 1 is loaded as 1"},
		{`{"n":true}`, `{"n":false}`, "n: true is loaded as false"},
		{`{"n":[1]}`, `{"n":[1,1]}`, "n: [1] is loaded"},
		{`{"n":{}}`, `{"n":0}`, "n: map[] is loaded"},
		{`{"n":1,"m":1}`, `{"n":1}`, "m: 1 is loaded, and not saved again"},
		{`{"n":1}`, `{"n":1,"m":1}`, "m: is not in the file, and loaded as 1"},
		{`{"n":1,"n":1}`, `{"n":1}`, "a field twice"},
	} {
		loads := 0
		loaded, err := Faithful([]byte(c.file), func(io.Reader) (text, error) { loads++; return text(c.saved), nil })
		if got := fmt.Sprint(err); !loaded || loads != 2 || (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s saved as %s: error %s, want %s", c.file, c.saved, got, c.want)
		}
	}
	if loaded, err := Faithful(nil, func(io.Reader) (text, error) { return "", errors.New("refused") }); loaded || err != nil {
		t.Errorf("refused: %v, %v", loaded, err)
	}
	if loaded, err := Faithful(nil, func(io.Reader) (text, error) { panic("boo") }); loaded || err == nil || !strings.Contains(err.Error(), "boo") {
		t.Errorf("panic: %v, %v", loaded, err)
	}
}

// text saves itself.
type text string

func (s text) Save(w io.Writer) error { _, err := io.WriteString(w, string(s)); return err }

func FuzzLoad(f *testing.F) {
	Fuzz(f, loader(""), func(v vector) { _ = v.values[1] }, Saved(vector{values: persist.Floats{1, 2}}))
}
