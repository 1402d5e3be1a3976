package docs

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/harness"
)

// What claims --json prints fits docs/claims.schema.json, and the schema has no member that no claim has.
func TestClaimsSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("judges all claims: not run under -short")
	}
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "..", "docs", "claims.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	sel, cfg := committed(t)
	all, err := harness.Explain(t.Context(), sel, cfg)
	if err != nil {
		t.Fatal(err)
	}
	data, err := harness.ClaimsDocument(all)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
	used := map[string]bool{}
	members(doc, used)
	var declared struct {
		Defs map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(read(t, "docs", "claims.schema.json")), &declared); err != nil {
		t.Fatal(err)
	}
	for name, def := range declared.Defs {
		for _, p := range slices.Sorted(maps.Keys(def.Properties)) {
			if !used[p] {
				t.Errorf("docs/claims.schema.json: %s of %s is in no claim", p, name)
			}
		}
	}
	// Claims without results fit it, too.
	cfg.Folders = harness.FoldersFor(experiment.Full, t.TempDir())
	if all, err = harness.Explain(t.Context(), sel[:1], cfg); err != nil {
		t.Fatal(err)
	}
	if data, err = harness.ClaimsDocument(all); err != nil {
		t.Fatal(err)
	}
	none, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil || len(all[0].Claims) == 0 || schema.Validate(none) != nil {
		t.Errorf("without results: %d claims, %v, %v", len(all[0].Claims), err, schema.Validate(none))
	}
	// A member more is told.
	doc.(map[string]any)["claims"].([]any)[0].(map[string]any)["more"] = true
	if schema.Validate(doc) == nil {
		t.Error("a member more passes")
	}
}

// members marks the names of all members of a document.
func members(v any, used map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for k, w := range v {
			used[k] = true
			members(w, used)
		}
	case []any:
		for _, w := range v {
			members(w, used)
		}
	}
}
