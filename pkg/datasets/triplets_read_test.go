package datasets

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

func little(v any) []byte {
	out, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return out
}

// steElement writes a data element of a little-endian MAT-file.
func steElement(kind uint32, data []byte) []byte {
	out := slices.Concat(little(kind), little(uint32(len(data))), data)
	return append(out, make([]byte, (8-len(data)%8)%8)...)
}

// steVariable is the variable "triplets" of an m×3 matrix, column by column.
func steVariable(name string, class uint32, rows, cols int, numbers []byte) []byte {
	return steElement(miMATRIX, slices.Concat(
		steElement(miUINT32, little([]uint32{class, 0})),
		steElement(miINT32, little([]int32{int32(rows), int32(cols)})),
		steElement(miINT8, []byte(name)),
		numbers))
}

// steFile is a MAT-file with one compressed variable.
func steFile(variable []byte) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(variable); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	head := append(fmt.Appendf(nil, "%-124s", "MATLAB 5.0 MAT-file"), "\x00\x01IM"...)
	return slices.Concat(head, little(uint32(15)), little(uint32(z.Len())), z.Bytes())
}

// steNumbers are four rows, the third of which is degenerate.
var steNumbers = []uint16{1, 2, 3, 5, 2, 3, 3, 4, 3, 4, 1, 1}

func TestReadMATTriplets(t *testing.T) {
	for _, numbers := range [][]byte{
		steElement(miUINT16, little(steNumbers)),
		steElement(miDOUBLE, little([]float64{1, 2, 3, 5, 2, 3, 3, 4, 3, 4, 1, 1})),
		steElement(miUINT8, []byte{1, 2, 3, 5, 2, 3, 3, 4, 3, 4, 1, 1}),
	} {
		s, err := ReadMATTriplets(bytes.NewReader(steFile(steVariable("triplets", mxDOUBLE, 4, 3, numbers))), "x.mat", 6)
		if err != nil {
			t.Fatal(err)
		}
		want := &TripletSet{Name: "x.mat", Objects: 6, Triplets: []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 2, Far: 3}, {A: 4, Near: 3, Far: 0}},
			Report: TripletReport{Read: 4, Degenerate: 1, TripletCounts: TripletCounts{Triplets: 3, Distinct: 3, Occurring: 5}}}
		if !reflect.DeepEqual(s, want) {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	good := steElement(miUINT16, little(steNumbers))
	variable := steVariable("triplets", mxDOUBLE, 4, 3, good)
	edit := func(data []byte, at int, to string) []byte {
		out := bytes.Clone(data)
		copy(out[at:], to)
		return out
	}
	with := func(k int, v uint16) []byte {
		n := slices.Clone(steNumbers)
		n[k] = v
		return steFile(steVariable("triplets", mxDOUBLE, 4, 3, steElement(miUINT16, little(n))))
	}
	file := steFile(variable)
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"empty":         {nil, "byte 0, header"},
		"big-endian":    {edit(file, 124, "\x01\x00MI"), "byte 124, version and byte order"},
		"no variable":   {file[:128], "byte 128, variable"},
		"plain":         {append(bytes.Clone(file[:128]), variable...), "byte 128, variable"},
		"cut":           {file[:len(file)-1], "byte 132, size of a data element"},
		"more":          {append(bytes.Clone(file), 0), "byte 132, size of a data element"},
		"huge":          {edit(file, 132, "\xff\xff\xff\x7f"), "byte 132, size of a data element: is 2147483647"},
		"zlib":          {edit(file, 136, "xx"), "byte 136, compressed data"},
		"checksum":      {edit(file, len(file)-1, "\xff"), "byte 136, compressed data"},
		"bomb":          {steFile(make([]byte, maxMATBytes+1)), "(decompressed): byte 16777216, size"},
		"nothing":       {steFile(nil), "byte 0, data element"},
		"two variables": {steFile(append(bytes.Clone(variable), variable...)), "end: is followed by"},
		"name":          {steFile(steVariable("labels", mxDOUBLE, 4, 3, good)), `array "labels" of class 6`},
		"class":         {steFile(steVariable("triplets", mxCHAR, 4, 3, good)), "of class 4"},
		"columns":       {steFile(steVariable("triplets", mxDOUBLE, 3, 4, good)), "a 3×4 array"},
		"too few":       {steFile(steVariable("triplets", mxDOUBLE, 5, 3, good)), "24 bytes, want 5×3 numbers"},
		"overflow":      {steFile(steVariable("triplets", mxDOUBLE, 1<<30, 3, good)), "dimensions"},
		"zero":          {with(2, 0), "object: is 0, want 1 to 6"},
		"seven":         {with(11, 7), "object: is 7, want 1 to 6"},
		"half":          {steFile(steVariable("triplets", mxDOUBLE, 1, 3, steElement(miDOUBLE, little([]float64{1, 2, 2.5})))), "object: is 2.5"},
		"degenerate":    {steFile(steVariable("triplets", mxDOUBLE, 1, 3, steElement(miUINT8, []byte{1, 2, 2}))), "no comparison that can be used, of 1"},
	} {
		_, err := ReadMATTriplets(bytes.NewReader(tc.data), "x.mat", 6)
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "x.mat") {
			t.Errorf("%s: error %v does not say %q", name, err, tc.want)
		}
	}
}

// tripletFormats are the readers of text, by name, with a small file for each and the
// triplets in it.
var tripletFormats = map[string]struct {
	read func(r io.Reader) (*TripletSet, error)
	file string
	want TripletSet
}{
	"votes": {func(r io.Reader) (*TripletSet, error) { return ReadVotedTriplets(r, "x", 5) },
		`{"agreement": [[3, 1], [2, 2], [0, 2], [1, 0], [1, 1]], "answers": [[0, 1, 2], [1, 2, 3], [4, 2, 1], [3, 3, 1], [3, 1, 1]], "answers_diff": [[9]]}`,
		TripletSet{Objects: 5, Triplets: []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 4, Near: 1, Far: 2}}, Votes: []Votes{{3, 1}, {2, 0}},
			Report: TripletReport{5, 2, 1, TripletCounts{2, 2, 4, 0, 0, 0}}}},
	"csv": {func(r io.Reader) (*TripletSet, error) { return ReadTripletCSV(r, "x", 5) },
		"0,1,2\r\n\n4, 0,3\n1,1,2\n0,2,1\n0,1,2",
		TripletSet{Objects: 5, Triplets: []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 4, Near: 0, Far: 3}, {A: 0, Near: 2, Far: 1}, {A: 0, Near: 1, Far: 2}},
			Report: TripletReport{5, 1, 0, TripletCounts{4, 3, 5, 1, 2, 2}}}},
	"food": {func(r io.Reader) (*TripletSet, error) { return readFoodTriplets(r, "x") },
		"images/b.jpg;images/a.jpg;images/c d.jpg\nimages/a.jpg;images/a.jpg;images/b.jpg\nimages/a.jpg;images/c d.jpg;images/b.jpg\n",
		TripletSet{Objects: 3, Triplets: []metric.Triplet{{A: 1, Near: 0, Far: 2}, {A: 0, Near: 2, Far: 1}}, Names: []string{"images/a.jpg", "images/b.jpg", "images/c d.jpg"},
			Report: TripletReport{3, 1, 0, TripletCounts{2, 2, 3, 0, 0, 0}}}},
	"odd": {func(r io.Reader) (*TripletSet, error) { return readOddOneOut(r, "x") },
		"b.jpg a.jpg  d.jpg\na.jpg c.jpg a.jpg\nd.jpg\tc.jpg b.jpg\n",
		TripletSet{Objects: 4, Triplets: []metric.Triplet{{A: 1, Near: 0, Far: 3}, {A: 0, Near: 1, Far: 3}, {A: 3, Near: 2, Far: 1}, {A: 2, Near: 3, Far: 1}},
			Names:  []string{"a.jpg", "b.jpg", "c.jpg", "d.jpg"},
			Report: TripletReport{3, 1, 0, TripletCounts{4, 4, 4, 0, 0, 0}}}},
	"central": {func(r io.Reader) (*TripletSet, error) { return readMostCentral(r, "x", 5) },
		"round,chosen,left,middle,right,time\n1,2,1,2,3,4.25\n1,5,5,4,1,0.5\n2,1,1,1,2,3\n",
		TripletSet{Objects: 5, Triplets: []metric.Triplet{{A: 2, Near: 1, Far: 0}, {A: 0, Near: 1, Far: 2}, {A: 3, Near: 4, Far: 0}, {A: 0, Near: 4, Far: 3}},
			Report: TripletReport{3, 1, 0, TripletCounts{4, 4, 5, 0, 0, 0}}}},
	"musicseer": {func(r io.Reader) (*TripletSet, error) { return readMusicSeer(r, "x", "") },
		"judgement source user target chosen other\n1 S u1 90 100 12\n1 S u1 90 100 \n2 G u2 12 12 90\n2 G u2 12 90 100\n\nend of file\n",
		TripletSet{Objects: 3, Triplets: []metric.Triplet{{A: 1, Near: 2, Far: 0}, {A: 0, Near: 1, Far: 2}}, Names: []string{"12", "90", "100"},
			Report: TripletReport{4, 2, 0, TripletCounts{2, 2, 3, 0, 0, 0}}}},
	"survey": {func(r io.Reader) (*TripletSet, error) { return readMusicSeer(r, "x", "S") },
		"1 S u1 90 100 12\n1 S u1 90 100 \n2 G u2 12 90 7\n3 S 5 90 12 100",
		TripletSet{Objects: 3, Triplets: []metric.Triplet{{A: 1, Near: 2, Far: 0}, {A: 1, Near: 0, Far: 2}}, Names: []string{"12", "90", "100"},
			Report: TripletReport{3, 1, 0, TripletCounts{2, 2, 3, 1, 2, 2}}}},
}

func TestReadTripletFormats(t *testing.T) {
	for name, tc := range tripletFormats {
		s, err := tc.read(strings.NewReader(tc.file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tc.want.Name = "x"
		if !reflect.DeepEqual(*s, tc.want) {
			t.Errorf("%s:\n%+v, want\n%+v", name, *s, tc.want)
		}
		failing := errors.New("broken pipe")
		if _, err := tc.read(iotest.ErrReader(failing)); !errors.Is(err, failing) || !strings.Contains(err.Error(), "x") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Tables that were saved on Windows.
func TestReadTripletsFromWindows(t *testing.T) {
	want, err := ReadTripletCSV(strings.NewReader("0,1,2\n3,4,0\n"), "x", 5)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadTripletCSV(strings.NewReader("\xef\xbb\xbf0,1,2\r\n3,4,0\r\n"), "x", 5)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestReadTripletFormatsRefuse(t *testing.T) {
	for _, tc := range []struct{ format, file, want string }{
		{"votes", "", "x"},
		{"votes", "[]", "x: json"},
		{"votes", `{"answers": [[0, 1]], "agreement": [[1, 0]]}`, "/answers/0"},
		{"votes", `{"answers": [[0, 1, 2, 3]], "agreement": [[1, 0]]}`, "/answers/0"},
		{"votes", `{"answers": [[0, 1, 1.5]], "agreement": [[1, 0]]}`, "/answers/0/2"},
		{"votes", `{"answers": [[0, 1, 2]], "agreement": []}`, "agreement: has 0 entries, want 1"},
		{"votes", `{"answers": [[0, 1, 5]], "agreement": [[1, 0]]}`, "answers[0][2]: 5 is not allowed, want 0 to 4"},
		{"votes", `{"answers": [[0, -1, 2]], "agreement": [[1, 0]]}`, "answers[0][1]: -1"},
		{"votes", `{"answers": [[0, 1, 2]], "agreement": [[1, -1]]}`, "agreement[0][1]: -1"},
		{"votes", `{"answers": [[0, 1, 2]], "agreement": [[2, 2]]}`, "no comparison that can be used, of 1"},
		{"votes", `{"answers": [[0, 1, 2]], "answers": []}`, "duplicate"},
		{"csv", "", "no comparison that can be used, of 0"},
		{"csv", "0,1,2\r1,2,3\r", `x:1: line: is with \r inside, want an end of \n or \r\n`},
		{"csv", "0,1,2\n0,1\n", "x:2: number of cells: is 2, want 3"},
		{"csv", "0,1,5\n", `x:1: object: is "5", want a number from 0 to 4`},
		{"csv", "0,1,-1\n", `x:1: object: is "-1"`},
		{"csv", "0,1,2.0\n", `x:1: object: is "2.0"`},
		{"csv", "head,b,c\n0,1,2\n", `x:1: object: is "head"`},
		{"csv", "0,1,2\n\xff,1,2\n", "x:2: line"},
		{"csv", strings.Repeat("0,1,2\n", 3) + strings.Repeat("0", 5000), "x:4: line: is 5000 bytes long"},
		{"food", "a;b\n", "x:1: number of cells: is 2, want 3"},
		{"food", "a;b;\n", `x:1: object: is "", want a name`},
		{"odd", "a b\n", "x:1: number of cells"},
		{"odd", "a b a\n", "no comparison that can be used, of 1"},
		{"central", "1,2,1,2,3,4\nround,2,1,2,3,4\n1,1,1,2\n", "x:3: number of cells: is 4, want 6"},
		{"central", "1,4,1,2,3,4\n", "x:1: chosen object: is 4, want one of 1, 2 and 3"},
		{"central", "1,2,0,2,3,4\n", `x:1: object: is "0", want a number from 1 to 5`},
		{"central", "1,2,6,2,3,4\n", `x:1: object: is "6"`},
		{"musicseer", "1 S u 1 2 3\nx S u 1 2 3\n1 S u 1 2 3\n1 S u 1 2 3\n", `x:2: judgement: is "x"`},
		{"musicseer", "1 S u 1 2 3\n1 X u 1 2 3\n", `x:2: source of the answer: is "X", want S or G`},
		{"musicseer", "1 S u 1\n", "x:1: number of cells: is 4, want 6"},
		{"musicseer", "1 S u 1 -2 3\n", `x:1: artist: is "-2"`},
		{"musicseer", "1 S u 01 2 3\n", `x:1: artist: is "01"`},
	} {
		if _, err := tripletFormats[tc.format].read(strings.NewReader(tc.file)); err == nil || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), "datasets: x") {
			t.Errorf("%s %.60q: error %v does not say %q", tc.format, tc.file, err, tc.want)
		}
	}
	for name, f := range map[string]func(objects int) (*TripletSet, error){
		"mat":     func(n int) (*TripletSet, error) { return ReadMATTriplets(strings.NewReader(""), "x", n) },
		"votes":   func(n int) (*TripletSet, error) { return ReadVotedTriplets(strings.NewReader(""), "x", n) },
		"csv":     func(n int) (*TripletSet, error) { return ReadTripletCSV(strings.NewReader(""), "x", n) },
		"central": func(n int) (*TripletSet, error) { return readMostCentral(strings.NewReader(""), "x", n) },
	} {
		for _, n := range []int{2, MaxTripletObjects + 1} {
			if _, err := f(n); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("objects: %d", n)) {
				t.Errorf("%s: %d objects: error %v", name, n, err)
			}
		}
	}
	if _, err := readMusicSeer(strings.NewReader(""), "x", "s"); err == nil || !strings.Contains(err.Error(), `source: "s"`) {
		t.Errorf("source s: error %v", err)
	}
}

func TestReadFeatures(t *testing.T) {
	want := mat.NewDense(3, 3, []float64{0, 1.5, 2.25, 0.5, -1, 1e-3, 0, 7, 12.5})
	for name, file := range map[string]string{
		"rows":   "0.0,1.5,2.25\r\n0.5,-1.0,0.001\n0.0,7.0,12.5\n",
		"broken": "0.0,1.5,2.250.5,-1.0,1e-030.0,7.0,12.5\n",
	} {
		x, err := readFeatures(strings.NewReader(file), "x", 3, 3)
		if err != nil || !mat.Equal(x, want) {
			t.Errorf("%s: %v, %v", name, x, err)
		}
	}
	for file, want := range map[string]string{
		"":                             "x:0: number of features",
		"0.0,1.5\n1.0,1.0\n":           "x:1: number of features: is 2, want 3",
		"1,2,3\n1,2,3\n1,2,3\n1,2,3\n": "x:4: features: is more",
		"1,2,3\n1,2,3\n":               "x:2: number of features: is 6, want 3×3",
		"1,2,3\n1,NaN,3\n1,2,3\n":      `x:2: feature: is "NaN"`,
		"0.0,1.5,2.253.5,1,1,1,1,1,1":  "x:1: joined numbers",
		"0.0,1.5,2.25,1,1,1,1,1,1":     "x:1: joined numbers",
		"0.0,1.5,0.5,1,1,1,1,1,1":      "x:1: joined numbers",
		"0.0,1.5,2..5,1,1,1,1,1,1":     "x:1: joined numbers",
		"1,2,30.5,2,30.5,2,3,4":        "x:1: features: is more",
		"1,2,30.5,2,30.5,2":            "x:1: number of features: is 8",
	} {
		if _, err := readFeatures(strings.NewReader(file), "x", 3, 3); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v does not say %q", file, err, want)
		}
	}
}

// zipFile writes a zip with members.
func zipFile(t *testing.T, path string, members map[string]string) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range members {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, b.Bytes())
}

// TestStoreTriplets reads every set from small files in the places of the registry's.
func TestStoreTriplets(t *testing.T) {
	s := Open(t.TempDir())
	for _, name := range TripletSetNames() {
		var missing *MissingError
		if _, err := s.Triplets(name); !errors.As(err, &missing) {
			t.Errorf("%s: error %v, want a MissingError", name, err)
		} else if _, err := Lookup(missing.Dataset); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := func(name string) string { return tripletFormats[name].file }
	writeFile(t, s.Path("triplets/music/music_triplets.mat"), steFile(steVariable("triplets", mxDOUBLE, 4, 3, steElement(miUINT16, little(steNumbers)))))
	writeFile(t, s.Path("triplets/material/answers_processed_train.json"), []byte(file("votes")))
	writeFile(t, s.Path("triplets/material/answers_processed_test.json"), []byte(file("votes")))
	zipFile(t, s.Path("triplets/zappos/deconflicted_triplets.csv.zip"), map[string]string{"deconflicted_triplets.csv": file("csv")})
	features := strings.Repeat(strings.Repeat("0.5,", 4095)+"0.5\n", 85)
	zipFile(t, s.Path("triplets/zappos/cnn_feats.csv.zip"), map[string]string{"cnn_feats.csv": features})
	zipFile(t, s.Path("triplets/food-100/food100-dataset.zip"), map[string]string{"food100-dataset/all-triplets.csv": file("food"), "food100-dataset/images/a.jpg": ""})
	zipFile(t, s.Path("triplets/cars/60_cars_data.zip"), map[string]string{"60_cars_data/survey_data.csv": file("central")})
	zipFile(t, s.Path("triplets/nature-vogue/nature_and_vogue_triplets.zip"), map[string]string{"nature/nature_triplets.txt": file("odd"), "vogue/vogue_triplets.txt": "a b c\n"})
	writeFile(t, s.Path("triplets/musicseer/musicseer-results-2002-04-29.txt"), []byte(file("musicseer")))
	writeFile(t, s.Path("triplets/osr/osr_triplets.csv"), []byte(file("csv")))
	writeFile(t, s.Path("triplets/aset400/aset400_triplets.csv"), []byte(file("csv")))
	for _, name := range TripletSetNames() {
		set, err := s.Triplets(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, err := s.Triplets(name)
		if set.Name != name || len(set.Triplets) == 0 || again != set || err != nil {
			t.Errorf("%s: %+v; again the same: %v, %v", name, set, again == set, err)
		}
		if name == "zappos" {
			if r, c := set.Features.Dims(); r != 85 || c != 4096 {
				t.Errorf("features are %d×%d", r, c)
			}
		}
	}
	if _, err := s.Triplets("wine"); err == nil || !strings.Contains(err.Error(), `"wine" is not a set of comparisons, want one of music, material`) {
		t.Errorf("wine: error %v", err)
	}

	// A user's own answers about the 200 outdoor scenes and the 412 artists.
	own := Open(t.TempDir())
	for name, last := range map[string]int{"osr": 199, "aset400": 411} {
		path := own.Path("triplets/" + name + "/" + name + "_triplets.csv")
		for text, want := range map[string]string{
			fmt.Sprintf("0,1,2\n0,1,%d\n", last+1): fmt.Sprintf(`:2: object: is "%d", want a number from 0 to %d`, last+1, last), "0,1\n": ":1: number of cells: is 2, want 3",
			"a,near,far\n0,1,2\n": `:1: object: is "a"`, "": "no comparison that can be used",
		} {
			writeFile(t, path, []byte(text))
			if _, err := own.Triplets(name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %q: error %v, want %q", name, text, err, want)
			}
		}
		writeFile(t, path, fmt.Appendf(nil, "0,1,%d\n5,5,7\n0,%d,1\n", last, last))
		if set, err := own.Triplets(name); err != nil || set.Objects != last+1 || len(set.Triplets) != 2 || set.Triplets[0] != (metric.Triplet{A: 0, Near: 1, Far: last}) || set.Report.Degenerate != 1 {
			t.Errorf("%s: %+v, %v", name, set, err)
		}
	}

	// Damaged archives.
	damaged := Open(t.TempDir())
	cars := damaged.Path("triplets/cars/60_cars_data.zip")
	writeFile(t, cars, []byte("<html>not found</html>"))
	if _, err := damaged.Triplets("cars"); err == nil || !strings.Contains(err.Error(), filepath.Base(cars)+": zip:") {
		t.Errorf("no zip: error %v", err)
	}
	zipFile(t, cars, map[string]string{"README": ""})
	if _, err := damaged.Triplets("cars"); err == nil || !strings.Contains(err.Error(), "the archive has no member survey_data.csv") {
		t.Errorf("without the member: error %v", err)
	}
	zipFile(t, cars, map[string]string{"survey_data.csv": "1,2,3\n"})
	if _, err := damaged.Triplets("cars"); err == nil || !strings.Contains(err.Error(), "60_cars_data.zip#survey_data.csv:1: number of cells") {
		t.Errorf("damaged member: error %v", err)
	}
}

// checkTriplets fails unless a set that a reader accepted is as its documentation says.
func checkTriplets(t *testing.T, s *TripletSet) {
	t.Helper()
	r := s.Report
	if len(s.Triplets) == 0 || r.Triplets != len(s.Triplets) || r.Distinct > r.Triplets || r.Cyclic > r.Distinct || r.CyclicHead > r.Cyclic || r.Occurring > s.Objects {
		t.Fatalf("%d triplets, %+v", len(s.Triplets), r)
	}
	if per := r.Triplets / (r.Read - r.Degenerate - r.Ties); (per != 1 && per != 2) || per*(r.Read-r.Degenerate-r.Ties) != r.Triplets {
		t.Fatalf("counts do not add up: %+v", r)
	}
	if s.Votes != nil && len(s.Votes) != len(s.Triplets) || s.Names != nil && len(s.Names) != s.Objects {
		t.Fatalf("%d votes, %d names", len(s.Votes), len(s.Names))
	}
	for _, v := range s.Votes {
		if v.For <= v.Against || v.Against < 0 {
			t.Fatalf("votes %v", v)
		}
	}
	if _, err := CountTriplets(s.Objects, s.Triplets); err != nil {
		t.Fatal(err)
	}
}

func FuzzReadMATTriplets(f *testing.F) {
	variable := steVariable("triplets", mxDOUBLE, 4, 3, steElement(miUINT16, little(steNumbers)))
	f.Add(variable)
	f.Add(steVariable("triplets", mxDOUBLE, 1, 3, steElement(miDOUBLE, little([]float64{1, 2, 3}))))
	f.Add(steFile(variable))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range [][]byte{data, steFile(data)} { // zlib's checksum would stop most changes
			if s, err := ReadMATTriplets(bytes.NewReader(file), "fuzz", 6); err == nil {
				checkTriplets(t, s)
			}
		}
	})
}

func FuzzReadTripletFormats(f *testing.F) {
	names := slices.Sorted(maps.Keys(tripletFormats))
	for i, name := range names {
		f.Add(uint8(i), tripletFormats[name].file)
	}
	f.Fuzz(func(t *testing.T, format uint8, file string) {
		s, err := tripletFormats[names[int(format)%len(names)]].read(strings.NewReader(file))
		if err != nil {
			return
		}
		checkTriplets(t, s)
		var text strings.Builder
		for _, a := range s.Triplets {
			fmt.Fprintf(&text, "%d,%d,%d\n", a.A, a.Near, a.Far)
		}
		again, err := ReadTripletCSV(strings.NewReader(text.String()), "again", s.Objects)
		if err != nil || !slices.Equal(again.Triplets, s.Triplets) || again.Report.TripletCounts != s.Report.TripletCounts {
			t.Fatalf("%v comes back as %v, %v", s.Triplets, again, err)
		}
	})
}

func FuzzReadFeatures(f *testing.F) {
	f.Add("0.0,1.5,2.25\n0.5,-1.0,0.001\n")
	f.Add("0.0,1.5,2.250.5,-1.0,1e-03")
	f.Fuzz(func(t *testing.T, file string) {
		x, err := readFeatures(strings.NewReader(file), "fuzz", 2, 3)
		if err != nil {
			return
		}
		var text strings.Builder
		for i := range 2 {
			fmt.Fprintf(&text, "%v,%v,%v\n", x.At(i, 0), x.At(i, 1), x.At(i, 2))
		}
		if again, err := readFeatures(strings.NewReader(text.String()), "again", 2, 3); err != nil || !mat.Equal(again, x) {
			t.Fatalf("%v comes back as %v, %v", x, again, err)
		}
	})
}
