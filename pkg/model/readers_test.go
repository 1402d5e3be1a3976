package model

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"metriclab/internal/needs"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/persist"
)

// node is a value of JSON. Its text is that of a scalar; the kids are those of an object or a list.
type node struct {
	name, text string
	open       byte // { or [, 0 of a scalar
	kids       []*node
	again      bool // stands there twice
	kept       bool // a checksum that is not made right
}

func parse(d *json.Decoder) *node {
	token, err := d.Token()
	if err != nil {
		panic(err)
	}
	switch v := token.(type) {
	case json.Delim:
		n := &node{open: byte(v)}
		for d.More() {
			name := ""
			if v == '{' {
				key, _ := d.Token()
				name = key.(string)
			}
			kid := parse(d)
			kid.name = name
			n.kids = append(n.kids, kid)
		}
		_, _ = d.Token()
		return n
	case string:
		return &node{text: strconv.Quote(v)}
	case nil:
		return &node{text: "null"}
	default:
		return &node{text: fmt.Sprint(v)}
	}
}

// String returns the JSON of n, in which each file and each file in a file has the right checksum.
func (n *node) String() string {
	if n.open == 0 {
		return n.text
	}
	var parts []string
	values := map[string]string{}
	texts := make([]string, len(n.kids))
	for i, k := range n.kids {
		texts[i] = k.String()
		values[k.name] = texts[i]
	}
	for i, k := range n.kids {
		text := texts[i]
		if k.name == "sha256" && !k.kept {
			h := sha256.New()
			kind, _ := strconv.Unquote(values["kind"])
			for _, part := range []string{kind, values["params"], values["state"]} {
				_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
				_, _ = h.Write([]byte(part))
			}
			text = strconv.Quote(hex.EncodeToString(h.Sum(nil)))
		}
		if n.open == '{' {
			text = strconv.Quote(k.name) + ":" + text
		}
		parts = append(parts, text)
		if k.again {
			parts = append(parts, text)
		}
	}
	return string(n.open) + strings.Join(parts, ",") + string(n.open+2)
}

// wrong are put in the place of every value.
var wrong = []string{
	"null", "true", "false", "0", "-0", "1", "-1", "1.5", "1.0", "1e0", "1e999", "-1e200", "2147483648", "9223372036854775808", "18446744073709551616", strings.Repeat("9", 400),
	`""`, `"x"`, `"AAAAAAAA8D8="`, `"AAAAAAAA8H8="`, `"\ud800"`, `[]`, `{}`, `[1]`, `["x"]`, `[null]`, `{"a":"b"}`, `{"a":null}`, strings.Repeat("[", 20000) + strings.Repeat("]", 20000),
}

// mutate calls yield for every structural change below n. What is yielded is changed back afterwards.
func mutate(n *node, path string, yield func(what string)) {
	if n.open == '{' {
		n.kids = append(n.kids, &node{name: "other", text: "1"})
		yield(path + " has an unknown field")
		n.kids = n.kids[:len(n.kids)-1]
	}
	whole := n.kids
	for i, k := range whole {
		if n.open == '[' && i > 1 {
			break
		}
		path := path + "/" + k.name
		n.kids = append(append([]*node{}, whole[:i]...), whole[i+1:]...)
		yield(path + " dropped")
		n.kids = whole
		k.again = true
		yield(path + " twice")
		k.again = false
		if n.open == '{' {
			name := k.name
			for _, other := range []string{strings.ToUpper(name), name + "_", ""} {
				k.name = other
				yield(path + " renamed")
			}
			k.name = name
		}
		old := *k
		k.kept = true
		for _, text := range wrong {
			if text != old.text {
				k.open, k.text, k.kids = 0, text, nil
				yield(path + " set to " + text[:min(len(text), 30)])
			}
		}
		if old.open == 0 && strings.HasPrefix(old.text, `"`) && len(old.text) > 5 {
			inside := strings.Trim(old.text, `"`)
			for _, text := range []string{
				inside[:4] + `\n` + inside[4:], inside + `\r\n`, strings.TrimRight(inside, "="), inside + "=", inside + "====", inside[:len(inside)-4], strings.ToUpper(inside),
				" " + inside, inside[:len(inside)-2] + "B=", inside[:len(inside)-2] + "//", inside + inside, `\u0041` + inside[1:], strings.NewReplacer("+", "-", "/", "_").Replace(inside),
			} {
				k.text = `"` + text + `"`
				yield(path + " set to other base64")
			}
		}
		*k = old
		if i > 0 {
			other := whole[i-1]
			k.name, other.name = other.name, k.name
			yield(path + " swapped with the field before it")
			k.name, other.name = other.name, k.name
		}
		mutate(k, path, yield)
	}
}

// python returns a Python 3 that has NumPy.
func python(t *testing.T) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import numpy").Run() == nil {
			return name
		}
	}
	needs.Missing(t, "needs python3 with NumPy; on Debian: apt-get install --no-install-recommends python3-numpy")
	return ""
}

const readAll = `
import base64, io, sys
sys.path.insert(0, "../../python")
sys.dont_write_bytecode = True
import metriclab
for line in sys.stdin:
    try:
        metriclab.load(io.BytesIO(base64.b64decode(line)))
        print("")
    except metriclab.FormatError as e:
        print(repr(e)[:300])
    except BaseException as e:
        print("OTHER " + repr(e)[:300])
`

// TestReadersAgree: of all structural changes to files of every kind that both read, with checksums made right, the loaders here and
// python/metriclab.py refuse the same.
func TestReadersAgree(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 15,000 files in two languages: not run under -short")
	}
	exe := python(t)
	files := map[string][]byte{}
	paths, err := filepath.Glob("../../cmd/metriclab/testdata/saved/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, "../../python/testdata/metric.json") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if env, err := persist.Read(bytes.NewReader(raw)); err == nil && pythonLoaders[env.Kind] != nil {
			files[strings.TrimPrefix(path, "../../")] = raw
		}
	}
	projection := map[string]persist.Floats{"mean": {0, 0}, "rows": {1, 2}, "values": {3}}
	for kind, params := range map[string]any{labels.PCAKind: struct{}{}, labels.FDAKind: struct{}{}, labels.LSAKind: map[string]bool{"centred": false}} {
		var b bytes.Buffer
		if err := persist.Write(&b, kind, params, projection); err != nil {
			t.Fatal(err)
		}
		files[kind] = b.Bytes()
	}
	var whats, refused []string
	var input strings.Builder
	try := func(what, text string) {
		whats = append(whats, what)
		env, err := persist.Read(strings.NewReader(text))
		if err == nil {
			err = persist.ErrKind
			if load := pythonLoaders[env.Kind]; load != nil {
				err = load(strings.NewReader(text))
			}
		}
		refused = append(refused, "")
		if err != nil {
			refused[len(refused)-1] = err.Error()
		}
		input.WriteString(base64.StdEncoding.EncodeToString([]byte(text)) + "\n")
	}
	for name, raw := range files {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		root := parse(d)
		if try(name+" as it is", root.String()); refused[len(refused)-1] != "" {
			t.Fatalf("%s: %s", name, refused[len(refused)-1])
		}
		mutate(root, name+": ", func(what string) { try(what, root.String()) })
		try(name+": more follows", root.String()+"{}")
		try(name+": byte order mark", "\ufeff"+root.String())
	}
	cmd := exec.Command(exe, "-c", readAll)
	cmd.Stdin, cmd.Stderr = strings.NewReader(input.String()), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	accepted, differ := 0, 0
	for i := range whats {
		if !lines.Scan() {
			t.Fatalf("Python has answered %d of %d files", i, len(whats))
		}
		said := lines.Text()
		if refused[i] == "" {
			accepted++
		}
		if (said == "") != (refused[i] == "") || strings.HasPrefix(said, "OTHER ") {
			if differ++; differ <= 40 {
				t.Errorf("%s: Go says %q, Python %q", whats[i], refused[i], said)
			}
		}
	}
	t.Logf("%d files, %d changes: both read %d, and differ in %d", len(files), len(whats), accepted, differ)
	if len(files) < 14 || accepted > len(whats)/4 {
		t.Errorf("%d files, and %d of %d changes read", len(files), accepted, len(whats))
	}
}
