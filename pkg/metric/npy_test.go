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
