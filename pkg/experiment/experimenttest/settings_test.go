package experimenttest

import (
	"fmt"
	"strings"
	"testing"

	"metriclab/pkg/experiment"
)

// pair is written without its second number.
type pair struct{ A, Forgotten int }

func (p pair) String() string { return fmt.Sprint(p.A) }

type inner struct {
	N      int    `key:"n"`
	Common string `key:"common"`
}

// Every value that is not in the key is found, wherever it stands.
func TestCheckSettings(t *testing.T) {
	for want, s := range map[string]any{
		"": struct {
			inner
			Grid  []float64       `key:"grid"`
			Names []string        `key:"names,list"`
			By    map[string]int  `key:"of %v"`
			On    bool            `key:"on"`
			Rest  struct{ B int } `key:"rest"`
			Free  func()          `key:"-" because:"it follows"`
			Also  pair            `key:"-" because:"it follows"`
		}{inner{1, "x"}, []float64{1, 2}, []string{"a"}, map[string]int{"k": 1}, true, struct{ B int }{1}, nil, pair{1, 2}},
		"One.Forgotten": struct {
			One pair `key:"one"`
		}{pair{1, 2}},
		"Many[0].Forgotten": struct {
			Many []pair `key:"many"`
		}{[]pair{{1, 2}, {3, 4}}},
		"By[k].Forgotten": struct {
			By map[string]pair `key:"of %v"`
		}{map[string]pair{"k": {1, 2}}},
	} {
		err := checkSettings(experiment.Cell{Name: "a", Settings: s})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}
