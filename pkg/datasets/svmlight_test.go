package datasets

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/sparse"
)

func TestReadSVMLight(t *testing.T) {
	const file = "\ufeff# made by hand\r\n" +
		"+1 1:0.5 3:-2e1 # the first row\r\n" +
		"\r\n" +
		"-1\t2:.25   4:0\n" +
		"   # only a comment\n" +
		"1\n" +
		"3.5 4:1"
	s, err := ReadSVMLight(strings.NewReader(file), "f", SVMLightOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(4, 4, []float64{.5, 0, -20, 0, 0, .25, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	if !mat.Equal(s.X, want) || s.X.Entries() != 4 || s.Query != nil || s.Name != "f" {
		t.Errorf("rows are %v with %d entries, groups %v", mat.Formatted(s.X), s.X.Entries(), s.Query)
	}
	if classes, y := s.Classes(); !slices.Equal(s.Target, []float64{1, -1, 1, 3.5}) || !slices.Equal(classes, []float64{-1, 1, 3.5}) || !slices.Equal(y, []int{1, 0, 1, 2}) {
		t.Errorf("targets are %v, classes %v, %v", s.Target, classes, y)
	}

	s, err = ReadSVMLight(strings.NewReader("2 qid:7 0:1 1:2\n1 qid:7\n-0 qid:0 1:3\n"), "f", SVMLightOptions{Base: IndexBaseZero, Features: 5})
	if err != nil {
		t.Fatal(err)
	}
	if n, d := s.X.Dims(); n != 3 || d != 5 || s.X.At(0, 0) != 1 || s.X.At(2, 1) != 3 || !slices.Equal(s.Query, []int{7, 7, 0}) || math.Signbit(s.Target[2]) {
		t.Errorf("rows are %v, groups %v, targets %v", mat.Formatted(s.X), s.Query, s.Target)
	}
	// The widest file makes a matrix of few bytes.
	if s, err = ReadSVMLight(strings.NewReader("1 2147483647:1\n"), "f", SVMLightOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, d := s.X.Dims(); d != math.MaxInt32 {
		t.Errorf("%d columns", d)
	}
}

func TestReadSVMLightRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		o          SVMLightOptions
		want       string
	}{
		{"nothing", "", SVMLightOptions{}, "f:1: row: is none, want at least one"},
		{"comments", "# x\n\n", SVMLightOptions{}, "f:2: row: is none, want at least one"},
		{"no entry", "1\n2\n", SVMLightOptions{}, "f:2: entry: is none in any row, want at least one, or the number of features"},
		{"no target", "1 1:1\n1:1 2:2\n", SVMLightOptions{}, `f:2: target: is "1:1", want a finite number`},
		{"two targets", "1,2 1:1\n", SVMLightOptions{}, `f:1: target: is "1,2", want a finite number`},
		{"NaN target", "nan 1:1\n", SVMLightOptions{}, `f:1: target: is "nan", want a finite number`},
		{"no colon", "1 1:1\n\n1 7\n", SVMLightOptions{}, `f:3: entry: is "7", want index:value`},
		{"no value", "1 1:\n", SVMLightOptions{}, `f:1: value of feature 1: is "", want a finite number`},
		{"infinite", "1 2:inf\n", SVMLightOptions{}, `f:1: value of feature 2: is "inf", want a finite number`},
		{"too small", "1 2:-1e-400\n", SVMLightOptions{}, `f:1: value of feature 2: is "-1e-400", want 0 or a number of at least`},
		{"too large", "1 2:1e999\n", SVMLightOptions{}, `f:1: value of feature 2: is "1e999", want a finite number`},
		{"hexadecimal", "1 2:0x1p3\n", SVMLightOptions{}, `f:1: value of feature 2: is "0x1p3", want a finite number`},
		{"two colons", "1 2:1:1\n", SVMLightOptions{}, `f:1: value of feature 2: is "1:1", want a finite number`},
		{"zero", "1 0:1\n", SVMLightOptions{}, `f:1: index: is "0", want a whole number from 1 to 2147483647, or IndexBaseZero for a file that counts from 0`},
		{"negative", "1 -1:1\n", SVMLightOptions{Base: IndexBaseZero}, `f:1: index: is "-1", want a whole number from 0 to 2147483646`},
		{"huge", "1 99999999999999999999:1\n", SVMLightOptions{}, `f:1: index: is "99999999999999999999", want a whole number from 1 to 2147483647`},
		{"word", "1 abc:1\n", SVMLightOptions{}, `f:1: index: is "abc", want a whole number from 1 to 2147483647`},
		{"behind the last", "1 3:1\n1 4:1\n", SVMLightOptions{Features: 3}, `f:2: index: is "4", want a whole number from 1 to 3`},
		{"behind the last from 0", "1 3:1\n", SVMLightOptions{Features: 3, Base: IndexBaseZero}, `f:1: index: is "3", want a whole number from 0 to 2`},
		{"twice", "1 3:1 3:1\n", SVMLightOptions{}, `f:1: index: is "3", want more than 3: indices ascend`},
		{"descends", "1 1:1\r\n1 3:0 2:1\r\n", SVMLightOptions{}, `f:2: index: is "2", want more than 3: indices ascend`},
		{"group late", "1 1:1\n1 qid:3 1:1\n", SVMLightOptions{}, "f:2: qid: is given, want none, as in the rows before"},
		{"group missing", "1 qid:3 1:1\n1 1:1\n", SVMLightOptions{}, "f:2: qid: is missing, want one, as in the rows before"},
		{"group of words", "1 qid:a 1:1\n", SVMLightOptions{}, `f:1: qid: is "a", want a whole number from 0`},
		{"group behind", "1 1:1 qid:3\n", SVMLightOptions{}, `f:1: index: is "qid", want a whole number from 1 to 2147483647`},
		{"returns alone", "1 1:1\r1 1:1\r", SVMLightOptions{}, `f:1: entry: is "1", want index:value`},
		{"long", "1 " + strings.Repeat("x", 100) + "\n", SVMLightOptions{}, `f:1: entry: is "` + strings.Repeat("x", 40) + `"..., want index:value`},
	} {
		s, err := ReadSVMLight(strings.NewReader(tc.file), "f", tc.o)
		var le *LineError
		if s != nil || !errors.As(err, &le) || !strings.HasPrefix(err.Error(), "datasets: "+tc.want) {
			t.Errorf("%s: got %v, %v; want datasets: %s", tc.name, s, err, tc.want)
		}
	}
	for _, o := range []SVMLightOptions{{Base: 7}, {Features: -1}, {Features: math.MaxInt32 + 1}} {
		if s, err := ReadSVMLight(strings.NewReader("1 1:1\n"), "f", o); err == nil || s != nil {
			t.Errorf("options %+v: %v, %v", o, s, err)
		}
	}
}

// repeated is a text without an end.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at%len(r.text)]
		r.at++
	}
	return len(p), nil
}

// Rows and lines without an end have one, and errors of the reader come through.
func TestReadSVMLightLimits(t *testing.T) {
	defer limits.SetMemory(0)
	limits.SetMemory(2 << 20)
	var refused *limits.MemoryError
	for name, text := range map[string]string{"rows": "1 1:1 2:1\n", "empty rows": "1\n", "a line": "1 ", "a comment": "#"} {
		if s, err := ReadSVMLight(&repeated{text: text}, "f", SVMLightOptions{}); s != nil || !errors.As(err, &refused) || !strings.HasPrefix(err.Error(), "datasets: f:") {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	broken := errors.New("broken")
	in := io.MultiReader(strings.NewReader("1 1:1\n"), errorReader{broken})
	if s, err := ReadSVMLight(in, "f", SVMLightOptions{}); s != nil || !errors.Is(err, broken) {
		t.Errorf("an error of the reader: %v, %v", s, err)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// writeSVMLight writes what ReadSVMLight reads.
func writeSVMLight(s *SparseSet, base IndexBase) string {
	var b strings.Builder
	for i, target := range s.Target {
		b.WriteString(strconv.FormatFloat(target, 'g', -1, 64))
		if s.Query != nil {
			fmt.Fprintf(&b, " qid:%d", s.Query[i])
		}
		row := s.X.Row(i)
		for k, j := range row.Index {
			fmt.Fprintf(&b, " %d:%s", j+base.first(), strconv.FormatFloat(row.Value[k], 'g', -1, 64))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func equalSparseSets(a, b *SparseSet) bool {
	return mat.Equal(a.X, b.X) && slices.Equal(a.Target, b.Target) && slices.Equal(a.Query, b.Query)
}

func TestSVMLightRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 40 {
		base := IndexBase(trial % 2)
		s := &SparseSet{}
		d := 1 + rng.IntN(20)
		var b sparse.Builder
		for range 1 + rng.IntN(20) {
			var row sparse.Vector
			for j := range d {
				if rng.IntN(3) == 0 {
					row.Index, row.Value = append(row.Index, j), append(row.Value, rng.NormFloat64())
				}
			}
			if err := b.Add(row); err != nil {
				t.Fatal(err)
			}
			s.Target = append(s.Target, rng.NormFloat64())
			if trial%3 == 0 {
				s.Query = append(s.Query, rng.IntN(5))
			}
		}
		var err error
		if s.X, err = b.Matrix(d); err != nil {
			t.Fatal(err)
		}
		got, err := ReadSVMLight(strings.NewReader(writeSVMLight(s, base)), "f", SVMLightOptions{Base: base, Features: d})
		if err != nil || !equalSparseSets(got, s) {
			t.Fatalf("trial %d: %v", trial, err)
		}
	}
}

func FuzzReadSVMLight(f *testing.F) {
	for _, seed := range []string{"", "1 1:1\n", "\ufeff+1 qid:3 0:.5 7:-2e1 # c\r\n-1 qid:4\n", "1 2:0\n", "1 1:1 1:2", "# x\n\n", "nan 1:1", "1 2147483647:1"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	f.Fuzz(func(t *testing.T, file string, zero bool) {
		var o SVMLightOptions
		if zero {
			o.Base = IndexBaseZero
		}
		s, err := ReadSVMLight(strings.NewReader(file), "fuzz", o)
		if err != nil {
			var le *LineError
			if !errors.As(err, &le) || s != nil || le.Line < 1 || le.Line > 1+strings.Count(file, "\n") {
				t.Fatalf("got %v, %v; want a LineError about a line of the file", s, err)
			}
			return
		}
		n, d := s.X.Dims()
		if n != len(s.Target) || s.Query != nil && len(s.Query) != n {
			t.Fatalf("%d rows, %d targets, %d groups", n, len(s.Target), len(s.Query))
		}
		for i := range n {
			if err := s.X.Row(i).Check(d); err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
		}
		o.Features = d
		again, err := ReadSVMLight(strings.NewReader(writeSVMLight(s, o.Base)), "again", o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n { // the matrix may be too wide for mat.Equal
			a, b := s.X.Row(i), again.X.Row(i)
			if !slices.Equal(a.Index, b.Index) || !slices.Equal(a.Value, b.Value) {
				t.Fatalf("row %d is %v, and %v once written and read", i, a, b)
			}
		}
		if !slices.Equal(again.Target, s.Target) || !slices.Equal(again.Query, s.Query) {
			t.Fatal("targets or groups differ once written and read")
		}
	})
}

func BenchmarkReadSVMLight(b *testing.B) {
	row := "1"
	for j := range 80 {
		row += fmt.Sprintf(" %d:0.%d", 1+61*j, 12345+j)
	}
	file := strings.Repeat(row+"\n", 1000)
	b.Run("alg=ReadSVMLight/rows=1000/perRow=80", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			if _, err := ReadSVMLight(strings.NewReader(file), "f", SVMLightOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
