package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"metriclab/internal/needs"
	"metriclab/pkg/limits"
)

type params struct {
	Gamma float64 `json:"gamma"`
}

type state struct {
	Threshold float64 `json:"threshold"`
	U         Floats  `json:"u"`
}

func sample(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, "pairs/test", params{0.5}, state{1.25, Floats{1, -2, math.Pi}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	e, err := Read(bytes.NewReader(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Expect("pairs/test"); err != nil {
		t.Error(err)
	}
	var p params
	var s state
	if err := e.Decode(&p, &s); err != nil {
		t.Fatal(err)
	}
	if want := (state{1.25, Floats{1, -2, math.Pi}}); p != (params{0.5}) || !reflect.DeepEqual(s, want) {
		t.Errorf("read %+v and %+v", p, s)
	}
}

// TestBytesAreStable pins the format: old files must stay readable.
func TestBytesAreStable(t *testing.T) {
	const want = `{"format":"metriclab","version":1,"kind":"pairs/test","params":{"gamma":0.5},` +
		`"sha256":"1accc4445de1a8c5866223eb49410070eb21913b4447347fa38a5e1a99060efa",` +
		`"state":{"threshold":1.25,"u":"AAAAAAAA8D8AAAAAAAAAwBgtRFT7IQlA"}}` + "\n"
	if got := string(sample(t)); got != want {
		t.Errorf("wrote %s\nwant  %s", got, want)
	}
}

func TestReindentedFileIsTheSame(t *testing.T) {
	var b bytes.Buffer
	if err := json.Indent(&b, sample(t), "", "\t"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(&b); err != nil {
		t.Error(err)
	}
}

// TestEveryTruncation: a file cut anywhere is an error, damaged once it can be
// recognised as ours; only the final newline may be missing.
func TestEveryTruncation(t *testing.T) {
	whole := sample(t)
	recognised := len(`{"format":"metriclab"`)
	for n := range len(whole) - 1 {
		_, err := Read(bytes.NewReader(whole[:n]))
		want := ErrDamaged
		if n < recognised {
			want = ErrForeign
		}
		if !errors.Is(err, want) {
			t.Errorf("first %d bytes: got %v, want %v", n, err, want)
		}
	}
}

// TestEveryChangedByte: no change of one byte gives another object; one that JSON
// does not see (the case of a key) gives the same.
func TestEveryChangedByte(t *testing.T) {
	whole := sample(t)
	want, err := Read(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range whole {
		for _, flip := range []byte{1, 2, 8, 32, 128} {
			changed := bytes.Clone(whole)
			changed[i] ^= flip
			got, err := Read(bytes.NewReader(changed))
			if err != nil {
				refused++
			} else if !reflect.DeepEqual(got, want) {
				t.Errorf("byte %d changed from %q to %q: read %+v without an error", i, whole[i], changed[i], got)
			}
		}
	}
	if refused < 4*len(whole) {
		t.Errorf("only %d of %d changes were refused", refused, 5*len(whole))
	}
}

func TestReadErrors(t *testing.T) {
	edit := func(old, new string) string { return strings.Replace(string(sample(t)), old, new, 1) }
	for _, c := range []struct {
		in    string
		is    error
		words string
	}{
		{"", ErrForeign, "not a metriclab file"},
		{"a,b\n1,2\n", ErrForeign, "not a metriclab file"},
		{`{"weights": [1, 2]}`, ErrForeign, `format is "", want "metriclab"`},
		{edit(`"metriclab"`, `"other"`), ErrForeign, `format is "other"`},
		{edit(`"version":1`, `"version":2`), ErrNewer, "version 2, this program reads up to 1"},
		{edit(`"version":1`, `"version":0`), ErrDamaged, "version 0"},
		{edit(`"gamma":0.5`, `"gamma":0.6`), ErrDamaged, "checksum"},
		{edit(`1.25`, `1.26`), ErrDamaged, "checksum"},
		{edit(`pairs/test`, `pairs/tess`), ErrDamaged, "checksum"},
		{string(sample(t)) + "{}", ErrDamaged, "after top-level value"},
	} {
		if _, err := Read(strings.NewReader(c.in)); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%.60q: got %v, want %v with %q", c.in, err, c.is, c.words)
		}
	}
	if _, err := Read(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestExpectAndDecodeErrors(t *testing.T) {
	e, err := Read(bytes.NewReader(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Expect("triplets/erkle"); !errors.Is(err, ErrKind) || !strings.Contains(err.Error(), `"pairs/test", want "triplets/erkle"`) {
		t.Errorf("got %v, want ErrKind with both kinds", err)
	}
	var none struct{}
	var p params
	var s state
	if err := e.Decode(&none, &s); err == nil || !strings.Contains(err.Error(), "params: unknown field gamma") {
		t.Errorf("got %v, want an error that names the unknown field", err)
	}
	if err := e.Decode(&p, &none); err == nil || !strings.Contains(err.Error(), "pairs/test: state: ") {
		t.Errorf("got %v, want an error that names kind and part", err)
	}
}

func TestWriteErrors(t *testing.T) {
	for want, err := range map[string]error{
		"pairs/test: params: ": Write(io.Discard, "pairs/test", math.NaN(), 0),
		"pairs/test: state: ":  Write(io.Discard, "pairs/test", 0, math.Inf(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if err := Write(failing{}, "pairs/test", 0, 0); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestDigestSeparatesFields: moving text from one field to the next changes the
// checksum.
func TestDigestSeparatesFields(t *testing.T) {
	if digest("a", []byte("1"), []byte("23")) == digest("a", []byte("12"), []byte("3")) ||
		digest("a", []byte("1"), []byte("2")) == digest("a1", nil, []byte("2")) {
		t.Error("two different files share a checksum")
	}
}

func TestFloatsKeepEveryBit(t *testing.T) {
	want := Floats{0, math.Copysign(0, -1), math.NaN(), math.Float64frombits(0x7ff8000000000123), math.Inf(1),
		math.SmallestNonzeroFloat64, math.MaxFloat64, 0.1}
	for _, f := range []Floats{want, {}, nil} {
		raw, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var got Floats
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(f) {
			t.Fatalf("%d numbers became %d", len(f), len(got))
		}
		for i := range f {
			if math.Float64bits(got[i]) != math.Float64bits(f[i]) {
				t.Errorf("%v: bits %x became %x", f[i], math.Float64bits(f[i]), math.Float64bits(got[i]))
			}
		}
	}
	for raw, want := range map[string]string{
		`3`:          "cannot unmarshal number",
		`"!"`:        "illegal base64",
		`"AAAAAAA="`: "5 bytes are no whole number of float64",
	} {
		var got Floats
		if err := json.Unmarshal([]byte(raw), &got); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", raw, err, want)
		}
	}
}

// FuzzRead: no input panics, and what is read can be written and read again as the
// same object.
func FuzzRead(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte(`{"format":"metriclab","version":1}`))
	f.Add([]byte(`{"format":"metriclab","version":99,"kind":"x"}`))
	f.Add([]byte(`[]`))
	f.Add([]byte(`{"FORMAT":"metriclab","format":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := Read(bytes.NewReader(raw))
		if err != nil {
			if !errors.Is(err, ErrForeign) && !errors.Is(err, ErrNewer) && !errors.Is(err, ErrDamaged) {
				t.Errorf("error %v wraps none of the documented ones", err)
			}
			return
		}
		var s state
		e.Decode(&struct{}{}, &s) // must not panic either
		if len(e.Params) == 0 || len(e.State) == 0 {
			return // a part is missing: nothing to write again
		}
		var b bytes.Buffer
		if err := Write(&b, e.Kind, e.Params, e.State); err != nil {
			t.Fatalf("cannot write again what was read: %v", err)
		}
		again, err := Read(&b)
		if err != nil {
			t.Fatalf("cannot read again what was written: %v", err)
		}
		if again.Kind != e.Kind || !sameJSON(again.Params, e.Params) || !sameJSON(again.State, e.State) {
			t.Errorf("%+v became %+v", e, again)
		}
	})
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func ExampleWrite() {
	type params struct{ Gamma float64 }
	type state struct{ Weights Floats }
	if err := Write(os.Stdout, "example/weights", params{0.5}, state{Floats{1, 2}}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"format":"metriclab","version":1,"kind":"example/weights","params":{"Gamma":0.5},"sha256":"fcdf64d3519d9ae2b258b84bb771aca20398d9b8c0361d36ca0757aef375b654","state":{"Weights":"AAAAAAAA8D8AAAAAAAAAQA=="}}
}

// endless is an input that never ends.
type endless struct {
	begin string
	read  int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.begin)
	e.begin = e.begin[n:]
	for ; n < len(b); n++ {
		b[n] = ' '
	}
	e.read += n
	return n, nil
}

func TestReadEnds(t *testing.T) {
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(1 << 20)
	for _, begin := range []string{"", `{"format":"metriclab"`} {
		in := &endless{begin: begin}
		var e *limits.MemoryError
		if _, err := Read(in); !errors.As(err, &e) || in.read > 4<<20 {
			t.Errorf("endless from %q on: error %v after %d bytes", begin, err, in.read)
		}
	}
	in := &endless{begin: "\x00\x00"}
	if _, err := Read(in); !errors.Is(err, ErrForeign) || in.read > 64 {
		t.Errorf("endless and foreign: error %v after %d bytes", err, in.read)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "sparse"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("{"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 40); err != nil {
		needs.Missing(t, "needs sparse files: ", err)
	}
	var e *limits.MemoryError
	if _, err := Read(f); !errors.As(err, &e) || e.Bytes != 1<<40 {
		t.Errorf("a sparse file: error %v", err)
	}
}
