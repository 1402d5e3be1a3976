package metric_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// TestNPYRoundTrip reads back with the library's reader, which asks for the
// shape and the type that the header states.
func TestNPYRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	m := metric.FromFactor(normal(rng, 2, 5))
	for name, c := range map[string]struct {
		write func(io.Writer) error
		want  *mat.Dense
	}{
		"factor":           {m.WriteFactorNPY, m.Factor()},
		"matrix":           {m.WriteMatrixNPY, mat.DenseCopyOf(m.M())},
		"factor of rank 0": {metric.Zero(3).WriteFactorNPY, mat.NewDense(1, 3, nil)},
		"matrix of rank 0": {metric.Zero(3).WriteMatrixNPY, mat.NewDense(3, 3, nil)},
	} {
		var file bytes.Buffer
		if err := c.write(&file); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := npy.NewReader(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := r.Header.Descr; d.Type != "<f8" || d.Fortran {
			t.Errorf("%s: header %+v, want little-endian float64 in C order", name, d)
		}
		var got mat.Dense
		if err := r.Read(&got); err != nil || !mat.Equal(&got, c.want) {
			t.Errorf("%s: error %v, read\n%v, want\n%v", name, err, mat.Formatted(&got), mat.Formatted(c.want))
		}
	}
}

// TestNPYBytes holds a file against NumPy's description of the format: magic
// string, version 2.0, four bytes of header length, a dictionary padded with
// spaces and ended by a newline, then the numbers row by row.
func TestNPYBytes(t *testing.T) {
	var file bytes.Buffer
	if err := metric.WriteNPY(&file, mat.NewDense(2, 2, []float64{1, 2, math.Copysign(0, -1), -0.5})); err != nil {
		t.Fatal(err)
	}
	raw := file.Bytes()
	if !bytes.HasPrefix(raw, []byte("\x93NUMPY\x02\x00")) {
		t.Fatalf("starts with %q", raw[:8])
	}
	n := binary.LittleEndian.Uint32(raw[8:])
	header, data := string(raw[12:12+n]), raw[12+n:]
	dict, ok := strings.CutSuffix(header, "\n")
	if got := strings.TrimRight(dict, " "); !ok || got != "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }" {
		t.Errorf("header %q", header)
	}
	want := "\x00\x00\x00\x00\x00\x00\xf0\x3f" + "\x00\x00\x00\x00\x00\x00\x00\x40" +
		"\x00\x00\x00\x00\x00\x00\x00\x80" + "\x00\x00\x00\x00\x00\x00\xe0\xbf"
	if string(data) != want {
		t.Errorf("data % x", data)
	}
}

func TestNPYErrors(t *testing.T) {
	var file bytes.Buffer
	err := metric.WriteNPY(&file, mat.NewDense(1, 2, []float64{0, math.Inf(1)}))
	if err == nil || file.Len() > 0 || !strings.Contains(err.Error(), "npy: row 0, column 1: +Inf") {
		t.Errorf("error %v, %d bytes written", err, file.Len())
	}
	for _, n := range []int{1, 100} { // the small one fails when the buffer is flushed
		if err := metric.WriteNPY(fullDisk{}, mat.NewDense(n, 100, nil)); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d rows: error %v, want the writer's", n, err)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// npyFile is a .npy file of version 1.0 with a header and the numbers.
func npyFile(header string, order binary.ByteOrder, numbers any) []byte {
	b := bytes.NewBufferString("\x93NUMPY\x01\x00")
	header += strings.Repeat(" ", 63-(len(header)+10)%64) + "\n"
	_ = binary.Write(b, binary.LittleEndian, uint16(len(header)))
	b.WriteString(header)
	_ = binary.Write(b, order, numbers)
	return b.Bytes()
}

func npyHead(kind, fortran, shape string) string {
	return "{'descr': '" + kind + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }"
}

func TestReadNPY(t *testing.T) {
	want := mat.NewDense(2, 3, []float64{1, -2, 3, 4, 5, 6})
	var own bytes.Buffer
	if err := metric.WriteNPY(&own, want); err != nil {
		t.Fatal(err)
	}
	le, be := binary.LittleEndian, binary.BigEndian
	for name, file := range map[string][]byte{
		"ours":       own.Bytes(),
		"float64":    npyFile(npyHead("<f8", "False", "(2, 3)"), le, []float64{1, -2, 3, 4, 5, 6}),
		"columns":    npyFile(npyHead("<f8", "True", "(2, 3)"), le, []float64{1, 4, -2, 5, 3, 6}),
		"big-endian": npyFile(npyHead(">f8", "False", "(2, 3)"), be, []float64{1, -2, 3, 4, 5, 6}),
		"float32":    npyFile(npyHead("<f4", "False", "(2, 3)"), le, []float32{1, -2, 3, 4, 5, 6}),
		"int64":      npyFile(npyHead("<i8", "True", "(2, 3)"), le, []int64{1, 4, -2, 5, 3, 6}),
		"int32":      npyFile(npyHead("<i4", "False", "(2, 3)"), le, []int32{1, -2, 3, 4, 5, 6}),
		"int8":       npyFile(npyHead("|i1", "False", "(2, 3)"), le, []int8{1, -2, 3, 4, 5, 6}),
	} {
		if got, err := metric.ReadNPY(bytes.NewReader(file)); err != nil || !mat.Equal(got, want) {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}

func TestReadNPYErrors(t *testing.T) {
	four := []float64{1, 2, 3, 4}
	good := npyFile(npyHead("<f8", "False", "(2, 2)"), binary.LittleEndian, four)
	with := func(head string) []byte { return npyFile(head, binary.LittleEndian, four) }
	for name, tt := range map[string]struct {
		file []byte
		want string
	}{
		"empty":       {nil, "EOF"},
		"text":        {[]byte("1,2\n2,1\n"), "npy: "},
		"cut":         {good[:len(good)-1], "31 bytes follow the header, want 32 for 2×2"},
		"cut whole":   {good[:len(good)-8], "24 bytes follow the header"},
		"more":        {append(bytes.Clone(good), 0), "33 bytes"},
		"head cut":    {good[:40], "npy: "},
		"huge":        {with(npyHead("<f8", "False", "(1000000000, 1000000000)")), "32 bytes follow the header, want 8000000000000000000"},
		"overflow":    {with(npyHead("<f8", "False", "(9223372036854775807, 2)")), "32 bytes follow"},
		"negative":    {with(npyHead("<f8", "False", "(-2, -2)")), "of shape [-2 -2] is not allowed"},
		"no rows":     {with(npyHead("<f8", "False", "(0, 2)")), "of shape [0 2] is not allowed"},
		"vector":      {with(npyHead("<f8", "False", "(4,)")), "of shape [4] is not allowed, want rows and columns"},
		"number":      {with(npyHead("<f8", "False", "()")), "is not allowed, want rows and columns"},
		"cube":        {with(npyHead("<f8", "False", "(2, 2, 1)")), "of shape [2 2 1]"},
		"complex":     {with(npyHead("<c16", "False", "(1, 2)")), `type "<c16" are not allowed`},
		"objects":     {with(npyHead("|O", "False", "(2, 2)")), `type "|O" are not allowed`},
		"words":       {with("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (2, 2), }"), "npy: "},
		"out of turn": {with("{'shape': (2, 2), 'fortran_order': False, 'descr': '<f8', }"), "npy: its header is malformed"},
		"no header":   {[]byte("\x93NUMPY\x01\x00\x02\x00ab"), "npy: its header is malformed"},
		"long header": {[]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"), "npy: its header is cut off"},
		"version 9":   {append([]byte("\x93NUMPY\x09\x00"), good[8:]...), "npy: "},
		"NaN":         {npyFile(npyHead("<f8", "False", "(1, 2)"), binary.LittleEndian, []float64{1, math.NaN()}), "row 0, column 1: NaN is not allowed"},
		"Inf":         {npyFile(npyHead("<f4", "False", "(1, 1)"), binary.LittleEndian, []float32{float32(math.Inf(1))}), "+Inf is not allowed"},
	} {
		if got, err := metric.ReadNPY(bytes.NewReader(tt.file)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, error %v, want %q", name, got, err, tt.want)
		}
	}
	t.Cleanup(func() { limits.SetMemory(0) })
	limits.SetMemory(200)
	var e *limits.MemoryError
	if _, err := metric.ReadNPY(bytes.NewReader(npyFile(npyHead("|i1", "False", "(8, 8)"), binary.LittleEndian, make([]int8, 64)))); !errors.As(err, &e) {
		t.Errorf("error %v, want one about memory", err)
	}
}

// FuzzReadNPY: no file makes the reader panic or take more memory than it warrants.
func FuzzReadNPY(f *testing.F) {
	f.Add(npyFile(npyHead("<f8", "False", "(1, 2)"), binary.LittleEndian, []float64{1, 2}))
	f.Add(npyFile(npyHead("|i1", "True", "(2, 1)"), binary.LittleEndian, []int8{1, 2}))
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := metric.ReadNPY(bytes.NewReader(file))
		if err != nil {
			return
		}
		if r, c := x.Dims(); r*c > len(file) {
			t.Errorf("%d×%d numbers from %d bytes", r, c, len(file))
		}
	})
}
