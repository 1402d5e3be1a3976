package experiment

import (
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
	"strings"
	"testing"
)

func TestClaimShort(t *testing.T) {
	twenty := strings.TrimSpace(strings.Repeat("word ", 20))
	for _, tt := range []struct {
		claim Claim
		want  string
		ok    bool
	}{
		{Claim{Statement: twenty}, twenty, true},
		{Claim{Statement: twenty + ", and more"}, twenty + " …", false},
		{Claim{Statement: twenty + " and more", Title: "short"}, "short", true},
		{Claim{Statement: "short", Title: twenty + " more"}, twenty + " more", false},
	} {
		if got := tt.claim.Short(); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.claim, got, tt.want)
		}
		if err := tt.claim.CheckTitle(); (err == nil) != tt.ok {
			t.Errorf("%+v: error %v", tt.claim, err)
		}
	}
}

// The source of a claim is a path that is there: of a program, the file alone.
func TestSourceFile(t *testing.T) {
	for _, c := range []struct{ function, want string }{
		{"metriclab/pkg/papers/pola2004.glob..func1", "pkg/papers/pola2004/x.go"},
		{"example.org/mine/walks.init.func2", "example.org/mine/walks/x.go"},
		{"main.init.func1", "x.go"},
		{"main.slow", "x.go"},
	} {
		if got := sourceFile(c.function, "/home/someone/src/x.go"); got != c.want {
			t.Errorf("%s: %s, want %s", c.function, got, c.want)
		}
	}
}

type judged struct{}

func (judged) test(*table.Table) judge.Test { return judge.Holds{true} }

// The declaration's file is the source, whatever its test is: a method value has none of its own.
func TestClaimsKnowTheirFile(t *testing.T) {
	for _, c := range Claims([]Claim{{Test: judged{}.test}, {}}) {
		if got := c.Source(); got != "pkg/experiment/claim_test.go" {
			t.Errorf("source %q", got)
		}
	}
	if got := (Claim{}).Source(); got != "" {
		t.Errorf("of none: %q", got)
	}
}
