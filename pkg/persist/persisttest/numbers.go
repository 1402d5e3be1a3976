package persisttest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"metriclab/pkg/persist"
)

// Allocated in a load: at most loadFactor bytes per byte of the file, and
// loadRest. This counts all that was ever allocated: the copies that decoding makes
// too, most of which are garbage by the end.
const (
	loadFactor = 16
	loadRest   = 4 << 20
)

// strange are the values that Numbers puts in the place of each number.
var strange = []json.Number{"1000000000", "2147483648", "9007199254740992", "9223372036854775807", "-1", "0", "1e170"}

// Numbers puts each of 10⁹, 2³¹, 2⁵³, 2⁶³−1, −1, 0 and 1e170 in the place of each
// number in params and state of a file that Save wrote, those of files inside it
// too, and makes the checksums right. It reports each file
//
//   - on which load, or use of what was loaded, panics;
//   - for which load allocates more than 16 bytes per byte of the file and 4 MiB;
//   - that loads otherwise than Faithful allows.
//
// An array of persist.Floats is also cut by its last value, made 8 times as long,
// and has its first and its last value replaced by −1, 1e170 and NaN. use may be nil; it should predict and learn once. No other test may run at
// the same time: what it allocates would count. The cost is some 10 loads per
// number of the file.
func Numbers[T Saver](t TB, file []byte, load func(io.Reader) (T, error), use func(T)) {
	t.Helper()
	env, err := persist.Read(bytes.NewReader(file))
	if err != nil {
		t.Errorf("the file itself: %v", err)
		return
	}
	params, state := decoded(env.Params), decoded(env.State)
	var spots []spot
	find(&spots, "params", params, nil)
	find(&spots, "state", state, nil)
	for _, s := range spots {
		old := s.get()
		for _, v := range replacements(old) {
			s.set(v)
			var b bytes.Buffer
			if err := persist.Write(&b, env.Kind, sealed(params), sealed(state)); err != nil {
				panic(fmt.Sprintf("persisttest: %v", err))
			}
			if err := tryLoad(b.Bytes(), load, use); err != nil {
				t.Errorf("%s set to %s: %v", s.path, brief(v), err)
			}
		}
		s.set(old)
	}
}

// replacements returns what to put in the place of a number or an array.
func replacements(old any) []any {
	var out []any
	if text, ok := old.(string); ok {
		raw, _ := base64.StdEncoding.DecodeString(text) // find has decoded it
		others := [][]byte{raw[:len(raw)-8], slices.Repeat(raw, 8)}
		for _, v := range []float64{-1, 1e170, math.NaN()} {
			for _, at := range []int{0, len(raw) - 8} {
				b := bytes.Clone(raw)
				binary.LittleEndian.PutUint64(b[at:], math.Float64bits(v))
				others = append(others, b)
			}
		}
		for _, b := range others {
			out = append(out, base64.StdEncoding.EncodeToString(b))
		}
		return out
	}
	for _, v := range strange {
		if v != old {
			out = append(out, v)
		}
	}
	return out
}

func brief(v any) string {
	if text, ok := v.(string); ok {
		raw, _ := base64.StdEncoding.DecodeString(text)
		var values []float64
		for i := 0; i < len(raw) && len(values) < 8; i += 8 {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(raw[i:])))
		}
		return fmt.Sprintf("%d numbers from %v on", len(raw)/8, values)
	}
	return fmt.Sprint(v)
}

// tryLoad loads a file and returns what is wrong with that, if anything.
func tryLoad[T Saver](file []byte, load func(io.Reader) (T, error), use func(T)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	limit := uint64(loadFactor*len(file) + loadRest)
	var v T
	var refused error
	least := ^uint64(0)
	for try := 0; try < 3 && least > limit; try++ { // the runtime allocates too, now and then
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v, refused = load(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if least > limit {
		return fmt.Errorf("loading %d bytes allocated %d, want at most %d", len(file), least, limit)
	}
	if refused != nil {
		return nil
	}
	if err := faithful(file, v, load); err != nil {
		return err
	}
	if use != nil {
		use(v)
	}
	return nil
}

// spot is a place in decoded JSON.
type spot struct {
	path string
	get  func() any
	set  func(any)
}

// find appends the numbers and arrays of float64 below v.
func find(spots *[]spot, path string, v any, set func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			find(spots, path+"."+key, v[key], func(x any) { v[key] = x })
		}
	case []any:
		for i := range v {
			find(spots, fmt.Sprintf("%s[%d]", path, i), v[i], func(x any) { v[i] = x })
		}
	case json.Number:
		*spots = append(*spots, spot{path, func() any { return v }, set})
	case string:
		raw, err := base64.StdEncoding.DecodeString(v)
		if err == nil && len(raw) >= 8 && len(raw)%8 == 0 && !strings.HasSuffix(path, ".sha256") {
			*spots = append(*spots, spot{path, func() any { return v }, set})
		}
	}
}

func sortedKeys(m map[string]any) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// decoded keeps numbers as they are written.
func decoded(raw []byte) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("persisttest: %v", err))
	}
	return v
}

// sealed returns v with the right checksum in every file inside it.
func sealed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = sealed(x)
		}
		if _, ok := out["sha256"]; ok {
			kind, _ := out["kind"].(string)
			var b bytes.Buffer
			if err := persist.Write(&b, kind, out["params"], out["state"]); err != nil {
				panic(fmt.Sprintf("persisttest: %v", err))
			}
			inner, _ := decoded(b.Bytes()).(map[string]any)
			out["sha256"] = inner["sha256"]
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = sealed(x)
		}
		return out
	}
	return v
}
