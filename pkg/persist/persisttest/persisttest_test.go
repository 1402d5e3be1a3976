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
type sized struct{ n int }

func (s sized) Save(w io.Writer) error {
	return persist.Write(w, sizedKind, struct{}{}, map[string]any{"n": s.n, "values": make(persist.Floats, 2)})
}

// TestNumbersFindsFaults gives Numbers loaders with one fault each.
func TestNumbersFindsFaults(t *testing.T) {
	file := Saved(sized{2})
	for fault, want := range map[string]string{
		"":          "",
		"panics":    "state.n set to 9223372036854775807: panic: runtime error: makeslice",
		"allocates": "state.n set to 1000000000: loading",
		"use":       "state.n set to -1: panic: of no use",
		"not again": "cannot load what was loaded and saved",
		"NaN":       "2 numbers from [NaN 0] on: panic: NaN",
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
			case fault == "" && s.N != 2:
				return sized{}, errors.New("n")
			}
			return sized{s.N}, nil
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

func FuzzLoad(f *testing.F) {
	Fuzz(f, loader(""), func(v vector) { _ = v.values[1] }, Saved(vector{values: persist.Floats{1, 2}}))
}
