package feedback

import (
	"slices"
	"strings"
	"testing"
)

func TestReadClicks(t *testing.T) {
	queries, documents := Objects{Names: []string{"q1", "7"}}, Objects{Names: []string{"a", "b", "c", "d", "9"}}
	log := `{"query":"q1","shown":["a","b","c","d"],"clicked":["b"],"time":"12:00"}

{"query":7,"shown":["a",9],"clicked":[9]}
{"query":"q1","shown":["d","a"],"clicked":[]}
{"Query":"q1","Shown":["a","d"],"Clicked":["a"]}
`
	// b was clicked, a above it and c behind it were not; d was not seen. Then a was clicked, and d, in the place behind, passed over.
	want := []Judgement{{0, 0, 1}, {0, 1, 1}, {0, 2, 0}, {1, 0, 0}, {1, 4, 1}, {0, 3, 0}}
	j, err := ReadClicks(strings.NewReader("\ufeff"+log), "e", queries, documents)
	if err != nil || !slices.Equal(j.List, want) {
		t.Fatalf("%+v, %v", j, err)
	}
	if note := "pages without a click, which say nothing: 1 of 4 pages"; !slices.Contains(j.Notes, note) {
		t.Errorf("notes %q, want %q", j.Notes, note)
	}
}

func TestReadClicksErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "e: no page of results, want at least one",
		"{}":                                    "e:1: query: missing",
		`{"query":0,"shown":[0,1]}`:             "e: no page of results has a click",
		`{"query":2,"shown":[0],"clicked":[0]}`: `e:1: query: "2" is not allowed, want a number from 0 to 1`,
		`{"query":0,"shown":[3],"clicked":[3]}`: `e:1: shown: "3" is not allowed, want a number from 0 to 2`,
		`{"query":0,"shown":[1,1],"clicked":[1]}`:  `e:1: shown: "1" stands twice`,
		`{"query":0,"shown":[1],"clicked":[0]}`:    `e:1: clicked: "0" was not shown`,
		`{"query":0,"clicked":[0]}`:                `e:1: clicked: "0" was not shown`,
		`{"query":[0],"shown":[1],"clicked":[1]}`:  `e:1: query: "[0]" is not allowed, want a text or a number`,
		`{"query":null,"shown":[1],"clicked":[1]}`: `e:1: query: "null" is not allowed`,
		`{"query":0,"shown":"1","clicked":[1]}`:    "e:1: ",
		`{"query":0,"shown":[1],"clicked":[1]} {}`: "e:1: ",
		"[0,1,1]":                           "e:1: ",
		`{"query":0,"query":1,"shown":[1]}`: "e:1: ",
	} {
		j, err := ReadClicks(strings.NewReader(text), "e", Objects{Count: 2}, Objects{Count: 3})
		if j != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
