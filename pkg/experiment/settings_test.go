package experiment_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
)

type rule int

func (r rule) String() string { return [...]string{"each", "end"}[r] }

type common struct {
	Rounds int `key:"rounds"`
}

type settings struct {
	common
	Rule    rule               `key:"rule"`
	Width   float64            `key:"width,omitzero"`
	Grid    []float64          `key:"grid"`
	Sizes   []int              `key:"sizes,list"`
	Weights map[string]float64 `key:"weight of %v"`
	Steps   []string           `key:"step %v"`
	Small   float64            `key:"small"`
	Draw    func() int         `key:"-" because:"it follows from rule"`
}

func TestParams(t *testing.T) {
	s := settings{common{3}, 1, 0, []float64{1e-4, 10}, []int{5, 10}, map[string]float64{"a": .5}, []string{"x", "y"}, 1e-7, nil}
	want := map[string]string{
		"rounds": "3", "rule": "end", "grid": "[0.0001 10]", "sizes": "5, 10", "weight of a": "0.5", "step 0": "x", "step 1": "y", "small": "1e-07",
	}
	c := experiment.Cell{Settings: s}
	if got := c.Params(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	s.Width = 2
	if got := (experiment.Cell{Settings: s}).Params(); got["width"] != "2" || len(got) != len(want)+1 {
		t.Errorf("with a width: %v", got)
	}
	if got := (experiment.Cell{}).Params(); len(got) != 0 {
		t.Errorf("no settings: %v", got)
	}
}

// A field that could change without a new job is a panic, at the first look at the cell.
func TestParamsPanics(t *testing.T) {
	for want, s := range map[string]any{
		"want a struct":      3,
		"has no tag key":     struct{ A int }{},
		"or is not exported": struct{ a int }{},
		"does not say because of what": struct {
			A int `key:"-"`
		}{},
		`the name "a" occurs twice`: struct {
			A, B int `key:"a"`
		}{},
		`which is not one of Cell.Params`: struct {
			A int `key:"a,omitempty"`
		}{},
		`",list"`: struct {
			A []int `key:",list"`
		}{},
		`"a,list"`: struct {
			A string `key:"a,list"`
		}{},
		`"a %v,typo"`: struct {
			A []int `key:"a %v,typo"`
		}{},
		"want a map or a slice": struct {
			A int `key:"a %v"`
		}{},
		"of type *int, which has no text": struct {
			A *int `key:"a"`
		}{},
		"of type []func(), which has no text": struct {
			A []func() `key:"a"`
		}{},
		"of type []interface {}, which": struct {
			A []any `key:"a"`
		}{},
		`the text "a b" among others`: struct {
			A []string `key:"a"`
		}{A: []string{"a b"}},
		`the element "a, b"`: struct {
			A []string `key:"a,list"`
		}{A: []string{"a, b"}},
		`the element ""`: struct {
			A []string `key:"a,list"`
		}{A: []string{""}},
		`the text "b c:d"`: struct {
			A map[string]string `key:"a"`
		}{A: map[string]string{"a": "b c:d"}},
		"field b of": struct {
			A struct{ b int } `key:"a"`
		}{},
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, want) {
					t.Errorf("panic %q, want %q", p, want)
				}
			}()
			experiment.Cell{Settings: s}.Params()
		}()
	}
}
