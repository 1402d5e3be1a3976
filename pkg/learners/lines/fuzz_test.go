package lines

import (
	"encoding/json"
	"strings"
	"testing"
)

// fuzz checks the invariants of one line: a refused one leaves the learner as
// it was and gives no answer, an accepted one gives a JSON object with the next
// round.
func fuzz(t *testing.T, s *Session, line string) {
	before := saved(s)
	var bad []*LineError
	s.o.Bad = func(e *LineError) { bad = append(bad, e) }
	out, sum, err := run(t, s, line)
	if err != nil {
		t.Fatalf("%q ends the session: %v", line, err)
	}
	if sum.Accepted+sum.Bad > sum.Lines || sum.Bad != len(bad) || strings.Count(out, "\n") != sum.Accepted {
		t.Fatalf("%q: %+v, %d errors, answers %q", line, sum, len(bad), out)
	}
	if sum.Accepted == 0 && saved(s) != before {
		t.Fatalf("%q is refused and changes the learner", line)
	}
	for _, e := range bad {
		if e.Error() == "" || len(e.Error()) > 500 {
			t.Fatalf("%q: error %q", line, e)
		}
	}
	for i, answer := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if out == "" {
			break
		}
		var a map[string]any
		if err := json.Unmarshal([]byte(answer), &a); err != nil {
			t.Fatalf("%q is answered %q: %v", line, answer, err)
		}
		if a["round"] != float64(i+1) || a["state"] == nil {
			t.Fatalf("%q is answered %q", line, answer)
		}
	}
	if sum.Accepted > 0 {
		if _, err := Load(madeUpAndReal, strings.NewReader(saved(s)), Options{}); err != nil {
			t.Fatalf("%q: what was saved is not loaded: %v", line, err)
		}
	}
}

func FuzzPairs(f *testing.F) {
	for _, seed := range []string{
		`{"x":[0,1],"y":[2,1],"label":1}`, `{"x":[0,1],"y":[2,1],"label":-1.0}`, `{"x":[0,1e160],"y":[2,1]}`, `{"x":[1e999,1],"y":[2,NaN],"label":0}`,
		`{"x":[],"y":[],"label":1}`, "{\"y\":[1],\"x\":[2]}\r\n\n{\"x\":[1]", `{"x":[[1]],"y":{"x":1},"label":"1","label":null}`, `{"\u0078":[1],"y":["a,b"]}`, "\xff",
		`{"x":[1e77,1],"y":[-1e77,1],"label":-1}`, `{"x":[1e-300],"y":[-5e-324],"label":-1}`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, line string, fresh bool) {
		for _, name := range []string{"pola", "kernel-pola"} {
			s := session(t, name, Options{StateEvery: 1, MaxLine: 1 << 16})
			if !fresh {
				if _, _, err := run(t, s, `{"x":[1,2],"y":[0,5],"label":-1}`); err != nil {
					t.Fatal(err)
				}
			}
			fuzz(t, s, line)
		}
	})
}

func FuzzTriplets(f *testing.F) {
	for _, seed := range []string{
		`{"a":0,"near":1,"far":2}`, `{"a":0,"b":1,"c":2}`, `{"a":0.0,"near":1e0,"far":2}`, `{"a":-1,"near":3,"far":1e999}`, `{"a":0,"near":1,"c":2}`,
		`{"a":null,"near":"1","far":[2]}`, `{"a":0,"near":1,"far":1}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		fuzz(t, session(t, "points", Options{Objects: 3, StateEvery: 1, MaxLine: 1 << 16}), line)
	})
}

func FuzzComparisons(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,2],"near":[0,5],"far":[1,1]}`, `{"a":[1,2],"b":[0,5],"c":[1,1]}`, `{"a":[1],"near":[2,3],"far":[]}`, `{"a":[1e200],"near":[1e200],"far":[-1e200]}`,
		`{"a":[1e-200],"near":[5e-324],"far":[-1]}`, `{"a":null,"near":"1","far":[[2]]}`, `{"a":[0],"near":[1],"far":[1]}`, `{"a":[1e153],"near":[1e-150],"far":[0]}`,
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, line string, fresh bool) {
		s := session(t, "oasis", Options{StateEvery: 1, MaxLine: 1 << 16})
		if !fresh {
			if _, _, err := run(t, s, `{"a":[1,2],"near":[0,5],"far":[1,1]}`); err != nil {
				t.Fatal(err)
			}
		}
		fuzz(t, s, line)
	})
}

func FuzzCosts(f *testing.F) {
	for _, seed := range []string{
		`{"cost":[[0,1],[0.5,0.2]]}`, `{"cost":[[]]}`, `{"cost":[]}`, `{"cost":[[0],[0,1]]}`, `{"cost":[[2]]}`, `{"cost":[[-0]]}`, `{"cost":[null,[1e999]]}`,
		"{\"cost\":[[0,1]]}\n{\"cost\":[[0],[1]]}", `{"cost":[[0,"],["],[1,1]]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		fuzz(t, session(t, "hedge", Options{StateEvery: 1, MaxLine: 1 << 16}), line)
	})
}
