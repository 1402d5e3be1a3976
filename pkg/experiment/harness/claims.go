package harness

import (
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

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
	Statement  string        `json:"statement"`
	Where      string        `json:"where"`
	Afterwards string        `json:"afterwards,omitempty"`
	Theirs     string        `json:"theirs"`
	Predicate  string        `json:"predicate"`
	View       string        `json:"view"`
	Source     string        `json:"source"` // file of the test, below the project's root
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
	file, _ := source(c.Claim)
	return ClaimEntry{c.ID, c.Statement, c.Where, c.Afterwards, c.Theirs, c.Predicate, viewOf(c.Claim, s), file, c.Finding}
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

// source returns the file, below the project's root, and the line of the function that
// makes a claim's test.
func source(c experiment.Claim) (file string, line int) {
	f := reflect.ValueOf(c.Test)
	if c.Timed() {
		f = reflect.ValueOf(c.TestTimed)
	}
	fn := runtime.FuncForPC(f.Pointer())
	if fn == nil {
		return "", 0
	}
	file, line = fn.FileLine(fn.Entry())
	return sourceFile(fn.Name(), file), line
}

// sourceFile returns the path below the project's root of the file, as built, of a
// function. The folder is that of the package, since the path as built may be of
// another machine; of a program, whose package is called main, it is not known.
func sourceFile(function, file string) string {
	slash := strings.LastIndex(function, "/")
	dot := strings.Index(function[slash+1:], ".")
	folder := strings.TrimPrefix(function[:slash+1+dot], module)
	if folder == "main" {
		folder = ""
	}
	return path.Join(folder, path.Base(filepath.ToSlash(file)))
}

// module is the path of this module, before that of a package in it.
const module = "metriclab/"
