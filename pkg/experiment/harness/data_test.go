package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"metriclab/pkg/datasets"
)

func TestDigest(t *testing.T) {
	if d, err := digest(t.Context(), nil, "no such set"); d != "" || err != nil {
		t.Errorf("generated data: %q, %v", d, err)
	}
	// Where every checksum of the registry binds, the digest is the registry's,
	// with and without files; it is what Checksum gives once they are there.
	e, err := datasets.Lookup("mnist")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, f := range e.Files {
		fmt.Fprintf(&lines, "%s  %s\n", f.SHA256, f.Path)
	}
	h := sha256.Sum256([]byte(lines.String()))
	for name, store := range map[string]*datasets.Store{"no store": nil, "empty store": datasets.Open(t.TempDir())} {
		d, err := digest(t.Context(), store, "mnist")
		if err != nil || d != hex.EncodeToString(h[:]) {
			t.Errorf("%s: %q, %v", name, d, err)
		}
	}
	// All others have a digest before they are here, too.
	for _, e := range datasets.Registry() {
		if d, err := digest(t.Context(), datasets.Open(t.TempDir()), e.Name); err != nil || len(d) != 64 {
			t.Errorf("%s: %q, %v", e.Name, d, err)
		}
	}
}

func TestCheckData(t *testing.T) {
	store := datasets.Open(t.TempDir())
	if err := checkData(t.Context(), store, []string{"generated"}); err != nil {
		t.Error(err)
	}
	if err := checkData(t.Context(), store, []string{"generated", "mnist"}); err == nil || !strings.Contains(err.Error(), "metriclab data get mnist") {
		t.Errorf("got %v", err)
	}
}
