package experiment

import (
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
