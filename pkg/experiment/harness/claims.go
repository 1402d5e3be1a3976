package harness

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/judge"
	"metriclab/pkg/table"
)

// claimsFile is the name of the findings in an experiment's folder.
const claimsFile = "claims.json"

// claimsSchema is the version of the fields of claims.json.
const claimsSchema = 1

// claims is the JSON of claims.json. The file has a checksum, as its first member, over all
// of these.
type claims struct {
	Schema     int          `json:"schema"`
	Experiment string       `json:"experiment"`
	Claims     []ClaimEntry `json:"claims"`
}

// ClaimEntry is a claim with its finding.
type ClaimEntry struct {
	ID         string        `json:"id"`
	Sentence   string        `json:"sentence,omitempty"` // the claim of which this one is a further reading
	Statement  string        `json:"statement"`
	Where      string        `json:"where"`
	Afterwards string        `json:"afterwards,omitempty"`
	Theirs     string        `json:"theirs"`
	Predicate  string        `json:"predicate"`
	View       string        `json:"view"`
	Source     string        `json:"source"` // file that declares it, below the project's root
	Finding    judge.Finding `json:"finding"`
}

// encodeClaims returns the content of claims.json.
func encodeClaims(s experiment.Spec, graded []GradedClaim) ([]byte, error) {
	out := claims{Schema: claimsSchema, Experiment: s.ID}
	for _, c := range graded {
		out.Claims = append(out.Claims, newClaimEntry(s, c))
	}
	return seal(out)
}

func newClaimEntry(s experiment.Spec, c GradedClaim) ClaimEntry {
	return ClaimEntry{c.ID, c.Sentence, c.Statement, c.Where, c.Afterwards, c.Theirs, c.Predicate, viewOf(c.Claim, s), c.Source(), c.Finding}
}

// ClaimsJSON returns the claims.json of a complete table.
func ClaimsJSON(s experiment.Spec, t, times *table.Table) ([]byte, error) {
	var all []GradedClaim
	for _, c := range s.Claims {
		f, err := graded(c, t, times, "")
		if err != nil {
			return nil, err
		}
		all = append(all, GradedClaim{c, f})
	}
	return encodeClaims(s, all)
}
