package persist

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

type inner struct {
	N    int    `json:"n"`
	Raw  []byte `json:"raw"`
	Need *int   `json:"need"`
}

type outer struct {
	inner
	Deep   []inner           `json:"deep"`
	Two    [2]float64        `json:"two"`
	Texts  map[string]string `json:"texts"`
	Floats Floats            `json:"floats"`
	List   []int             `json:"list" persist:"null"`
	Some   *float64          `json:"some,omitempty"`
	File   json.RawMessage   `json:"file"`
	Hidden int               `json:"-"`
}

const (
	innerJSON = `"n":1,"raw":"AQ==","need":2`
	outerJSON = `{` + innerJSON + `,"deep":[{` + innerJSON + `}],"two":[1,2],"texts":{"a":"b"},"floats":"AAAAAAAA8D8=","list":[3],"file":{"x":{}}}`
)

// TestUnmarshalIsStrict makes one change each to a value that is read.
func TestUnmarshalIsStrict(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"", "", ""},
		{`[3]`, `null`, ""},
		{`"two"`, `"some":-0,"two"`, ""},
		{`"n":1`, `"N":1`, "unknown field N"},
		{`[{"n":1`, `[{"N":1`, "unknown field deep/0/N"},
		{`[{"n":1,`, `[{`, "the field deep/0/n is missing"},
		{`"n":1,`, ``, "the field n is missing"},
		{`"need":2}`, `"need":null}`, "deep/0/need is null"},
		{`"two":[1,2],`, ``, "the field two is missing"},
		{`"two":[1,2]`, `"two":null`, "two is null"},
		{`[1,2]`, `[1]`, "two has 1 values, want 2"},
		{`[1,2]`, `[1,2,3]`, "two has 3 values, want 2"},
		{`[1,2]`, `[1,null]`, "two/1 is null"},
		{`"b"`, `null`, "texts/a is null"},
		{`{"a":"b"}`, `null`, "texts is null"},
		{`{"a":"b"}`, `{"a":"b","a":"b"}`, "duplicate"},
		{`"n":1`, `"n":1,"n":1`, "duplicate"},
		{`{"x":{}}`, `{"x":{"y":1,"y":1}}`, "duplicate"},
		{`{"x":{}}`, `null`, "file is null"},
		{`"AAAAAAAA8D8="`, `null`, "floats is null"},
		{`AAAAAAAA8D8=`, `AAAAAAAA8D8`, "base64"},
		{`AAAAAAAA8D8=`, `AAAAAAAA8D9=`, "base64"},
		{`AAAAAAAA8D8=`, `AAAA\nAAAA8D8=`, "base64"},
		{`AQ==`, `A\nQ==`, "base64"},
		{`AQ==`, `AR==`, "base64"},
		{`"n":1`, `"n":1e0`, "cannot unmarshal"},
		{`"n":1`, `"n":9223372036854775808`, "cannot unmarshal"},
		{`[1,2]`, `[1,2e999]`, "cannot unmarshal"},
		{`[1,2]`, `[1,-2E-999]`, "two/1 is -2E-999, which is too small for a float64"},
		{`[1,2]`, `[1,0.` + strings.Repeat("0", 400) + `1]`, "too small"},
		{`[1,2]`, `[5e-324,0e-999]`, ""},
		{`"n":1`, `"Hidden":1,"n":1`, "unknown field Hidden"},
		{`"a":"b"`, `"a":"\ud800"`, "surrogate"},
		{`"a":"b"`, "\"a\":\"\xff\"", "UTF-8"},
		{`{"x":{}}}`, `{"x":{}}}{}`, "more follows"},
		{`{"x":{}}}`, `{"x":{}}`, "EOF"},
		{`[3]`, `[3`, "invalid"},
	} {
		text := strings.Replace(outerJSON, c.old, c.new, 1)
		if c.old == "AQ==" { // the one further in
			at := strings.LastIndex(outerJSON, c.old)
			text = outerJSON[:at] + c.new + outerJSON[at+len(c.old):]
		}
		var v outer
		err := Unmarshal([]byte(text), &v)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want one with %q", text, err, c.want)
		}
	}
}

// TestEnvelopeIsStrict: the fields of the envelope are as strict as those inside.
func TestEnvelopeIsStrict(t *testing.T) {
	whole := string(sample(t))
	for _, c := range []struct {
		old, new string
		want     error
	}{
		{`"params":{"gamma":0.5},`, ``, ErrDamaged},
		{`"params"`, `"Params"`, ErrDamaged},
		{`"version":1`, `"version":1,"extra":1`, ErrDamaged},
		{`"version":1`, `"version":1,"version":1`, ErrDamaged},
		{`"version":1`, `"version":null`, ErrDamaged},
		{`"version":1`, `"version":1e0`, ErrDamaged},
		{`"version":1`, `"version":2,"extra":1`, ErrNewer},
		{"}\n", "}\n{}", ErrDamaged},
	} {
		if _, err := Read(strings.NewReader(strings.Replace(whole, c.old, c.new, 1))); !errors.Is(err, c.want) {
			t.Errorf("%s in the place of %s: error %v, want %v", c.new, c.old, err, c.want)
		}
	}
	for _, state := range []string{`{"u":""}`, `{"threshold":1,"u":null}`, `{"threshold":1,"U":""}`} {
		raw := fmt.Sprintf(`{"format":"metriclab","version":1,"kind":"k","params":{"gamma":1},"sha256":%q,"state":%s}`, digest("k", []byte(`{"gamma":1}`), []byte(state)), state)
		if err := Load(strings.NewReader(raw), "k", new(params), new(struct {
			Threshold float64 `json:"threshold"`
			U         Floats  `json:"u"`
		})); !errors.Is(err, ErrDamaged) {
			t.Errorf("state %s: error %v, want %v", state, err, ErrDamaged)
		}
	}
}
