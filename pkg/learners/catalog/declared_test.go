package catalog

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"metriclab/pkg/learners"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/pairs"
)

// madeUp has a field of each kind that declares a parameter.
type madeUp struct {
	Rule     pairs.PARule `words:"pa1|pa" doc:"an enum"`
	Word     string       `words:"one|two" doc:"a word"`
	Flag     bool         `words:"off|on" doc:"a flag"`
	MaxSteps int          `range:">= 1" doc:"a count"`
	Start    *float64     `json:"b1,omitempty" range:">= -1 and <= 1" needs:"word=two" doc:"a pointer"`
	Rate     float64      `name:"eta" range:"0, or > 0 and <= 9" words:"fast" doc:"a number or a word"`
	Width    *float64     `range:"> 0" auto:"1/dim" doc:"by the dimension"`
	Parts    int          `range:">= 1" words:"all|auto" doc:"a count or a word"`
	Tries    int          `range:">= 1" words:"auto" default:"2" needs:"eta=fast or parts!=all" doc:"a count or a word, with a default of its own"`
	Seed     uint64       `default:"1" doc:"a seed"`
	Inside   struct {
		Cap int `range:"0, or >= 1" doc:"inside"`
	} `needs:"flag=on"`
	Hidden   float64 `range:"> 0"`
	Progress func(learners.Progress)
}

func (p madeUp) Resolved() madeUp {
	p.MaxSteps, p.Start = 7, new(0.5)
	return p
}

func TestDeclared(t *testing.T) {
	e := Entry{Name: "made-up", Use: Use{Params: declared[madeUp]()}}
	var got []string
	for _, p := range e.Params {
		got = append(got, fmt.Sprintf("%s=%s %s %s", p.Name, p.Default, p.Allowed, p.Needs))
	}
	want := `rule=pa1 one of pa1, pa 
word=one one of one, two 
flag=off one of off, on 
max-steps=7 an integer from 1 to 1000000000 
b1=0.5 a number from -1 to 1 word=two
eta=fast fast, or a number > 0 and at most 9 
width=1/dim a finite number > 0, or 1/dim 
parts=all all, auto, or an integer from 1 to 1000000000 
tries=2 auto, or an integer from 1 to 1000000000 eta=fast or parts!=all
seed=1 an integer ≥ 0 
cap=0 an integer from 0 to 1000000000 flag=on`
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("declared\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct {
		given map[string]string
		want  madeUp
	}{
		{nil, madeUp{Rule: pairs.PAI, MaxSteps: 7, Width: new(0.0), Tries: 2, Seed: 1}},
		{map[string]string{"eta": "1", "parts": "5", "tries": "auto"}, madeUp{Rule: pairs.PAI, MaxSteps: 7, Rate: 1, Width: new(0.0), Parts: 5, Seed: 1}},
		{map[string]string{"eta": "1"}, madeUp{Rule: pairs.PAI, MaxSteps: 7, Rate: 1, Width: new(0.0), Seed: 1}},
		{map[string]string{"rule": "pa", "word": "two", "flag": "on", "max-steps": "3", "b1": "0", "eta": "2.5", "width": "4", "seed": "9223372036854775807", "cap": "5"},
			madeUp{Word: "two", Flag: true, MaxSteps: 3, Start: new(0.0), Rate: 2.5, Width: new(4.0), Seed: 1<<63 - 1}},
	} {
		if c.want.Word == "" {
			c.want.Word = "one"
		} else {
			c.want.Inside.Cap = 5
		}
		v, err := e.Parse(c.given)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		p := read[madeUp](v, func(learners.Progress) { told++ })
		p.Progress(learners.Progress{})
		p.Progress = nil
		if told != 1 || !reflect.DeepEqual(p, c.want) {
			t.Errorf("%v: read %+v, told %d times, want %+v", c.given, p, told, c.want)
		}
	}
	for want, given := range map[string]map[string]string{
		"parameter tries is only for eta=fast or parts!=all, but eta is 1":   {"eta": "1", "tries": "3"},
		`parameter parts: "0" is not allowed, want all, auto, or an integer`: {"parts": "0"},
		`parameter parts: "1.5" is not allowed`:                              {"parts": "1.5"},
	} {
		if _, err := e.Parse(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", given, err, want)
		}
	}
	if some := declared[madeUp]("seed", "rule"); len(some) != 2 || some[0].Name != "seed" || some[1].Name != "rule" {
		t.Errorf("two of them are %+v", some)
	}
}

func TestDeclaredPanics(t *testing.T) {
	for want, f := range map[string]func(){
		`"pa9" is no word of field Rule`: func() {
			declared[struct {
				Rule pairs.PARule `words:"pa|pa9" doc:"a word that is none"`
			}]()
		},
		"declares no parameter hidden": func() { declared[madeUp]("hidden") },
		"has no range": func() {
			declared[struct {
				C float64 `doc:"without a range"`
			}]()
		},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %q, want one with %q", got, want)
				}
			}()
			f()
		}()
	}
}

// What tags repeat, as they hold no constants, is what they repeat: conditions name words of an earlier parameter, and texts the
// names and numbers of the code.
func TestTagsAgree(t *testing.T) {
	docs := map[string]string{}
	for _, e := range entries {
		words := map[string][]string{}
		for _, p := range allParams(e) {
			if p.Needs != "" {
				for condition := range strings.SplitSeq(strings.ReplaceAll(p.Needs, " or ", " and "), " and ") {
					name, needed, _ := strings.Cut(condition, "=")
					name = strings.TrimSuffix(name, "!")
					for word := range strings.SplitSeq(needed, "|") {
						if !strings.Contains("|"+strings.Join(words[name], "|")+"|", "|"+word+"|") {
							t.Errorf("%s: %s needs %s, but earlier %s is one of %q", e.Name, p.Name, p.Needs, name, words[name])
						}
					}
				}
			}
			words[p.Name] = p.words
			docs[e.Name+" "+p.Name] = p.Doc + " " + p.Allowed
		}
	}
	for name, want := range map[string][]any{
		"rmp sampler": {fmt.Sprintf("up to %d of them", mapping.MaxSets)},
		"rmp eta":     {mapping.EtaHundredfold, mapping.EtaPrinted, mapping.EtaCorrected, mapping.EtaAnytime},
		"iplr cycles": {fmt.Sprintf("those of %d steps", iplr.DefaultSteps)},
		"itml rule":   {itml.BoundPercentiles, itml.BoundBins},
	} {
		for _, w := range want {
			if !strings.Contains(docs[name], fmt.Sprint(w)) {
				t.Errorf("%s: %q does not have %q", name, docs[name], fmt.Sprint(w))
			}
		}
	}
}
