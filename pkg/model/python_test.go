package model

import (
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

var update = flag.Bool("update", false, "write the declarations of python/pymetriclab/_files.py")

// inPython are the kinds that python/pymetriclab/_files.py reads.
var inPython = []string{
	Kind, VectorsKind, ComparedKind, metric.Kind, metric.LowRankKind, kernels.MetricKind, kernels.TransformedKind, labels.PCAKind, labels.LSAKind, labels.FDAKind,
	pairs.POLAKind, pairs.PAKind, pairs.LEGOKind, pairs.KernelPOLAKind,
}

// declared tells what t declares, for python/pymetriclab/_files.py.
func declared(t *testing.T, typ reflect.Type, within string) any {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	rule := strings.TrimRight(" "+within, " ")
	switch p := reflect.New(typ); {
	case typ == reflect.TypeFor[persist.Floats]():
		return "floats"
	case typ == reflect.TypeFor[json.RawMessage]():
		return "any"
	case typ.Kind() == reflect.Int && typ.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		var names []string
		for v := range int64(100) {
			p.Elem().SetInt(v)
			name, err := p.Interface().(encoding.TextMarshaler).MarshalText()
			if err == nil && p.Interface().(encoding.TextUnmarshaler).UnmarshalText(name) == nil {
				names = append(names, string(name))
			}
		}
		return "text " + strings.Join(names, "|")
	}
	switch typ.Kind() {
	case reflect.Struct:
		out := map[string]any{}
		for _, f := range persist.FieldsOf(typ) {
			if f.Optional {
				f.Name += "?"
			}
			out[f.Name] = declared(t, f.Type, f.Range)
		}
		return out
	case reflect.Map:
		return map[string]any{"*": declared(t, typ.Elem(), "")}
	case reflect.Slice:
		return []any{declared(t, typ.Elem(), "")}
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "flag"
	case reflect.Int:
		return "whole" + rule
	case reflect.Uint64:
		return "count" + rule
	case reflect.Float64:
		return "number" + rule
	}
	t.Fatalf("python/pymetriclab/_files.py has no word for a %v", typ)
	return nil
}

// TestPythonDeclarations: what the reader in Python wants of each kind is what the types here declare.
func TestPythonDeclarations(t *testing.T) {
	all := map[string]any{"file": map[string]any{"format": "text", "version": "whole", "kind": "text", "params": "any", "sha256": "text", "state": "any"}}
	for _, kind := range inPython {
		d := persist.Declaration{Kind: VectorsKind, Params: reflect.TypeFor[vectorRecipe](), State: reflect.TypeFor[vectorState]()}
		if kind != VectorsKind { // whose loader looks at the kind first
			_, _ = loaders[kind](&d)
		}
		if d.Kind != kind {
			t.Fatalf("the loader of %s loads %q", kind, d.Kind)
		}
		all[kind] = map[string]any{"params": declared(t, d.Params, ""), "state": declared(t, d.State, "")}
	}
	const path = "../../python/pymetriclab/_files.py"
	raw := Must(os.ReadFile(path))
	place := regexp.MustCompile(`(?s)(_DECLARED: "dict\[str, Any\]" = )(.*?)(  # end of declarations)`)
	parts := place.FindStringSubmatch(string(raw))
	if parts == nil {
		t.Fatalf("%s has no declarations", path)
	}
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		var line strings.Builder
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(all[kind]); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("    %q: %s,\n", kind, strings.TrimSpace(line.String())))
	}
	want := "{\n" + strings.Join(lines, "") + "}"
	if *update {
		whole := place.ReplaceAllLiteralString(string(raw), parts[1]+want+parts[3])
		if err := os.WriteFile(path, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if parts[2] != want {
		t.Errorf("the declarations of %s are not those of Go: go test ./pkg/model -run TestPythonDeclarations -update", path)
	}
}
