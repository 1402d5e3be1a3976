package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// tableText writes a set as the text that a form is read from; classes are those of
// the form, since a set of digits has none.
func tableText(s *Set, classes []string, first bool) string {
	var b strings.Builder
	for i := range s.N() {
		var cells []string
		for _, v := range s.X.RawRowView(i) {
			cells = append(cells, fmt.Sprint(v))
		}
		at := len(cells)
		if first {
			at = 0
		}
		b.WriteString(strings.Join(slices.Insert(cells, at, classes[s.Y[i]]), ",") + "\n")
	}
	return b.String()
}

// madeUp returns n rows of d features, each of the given classes in turn.
func madeUp(n, d, classes int) *Set {
	s := &Set{X: mat.NewDense(n, d, nil)}
	for i := range n {
		for j := range d {
			s.X.Set(i, j, float64(i*d+j)/4)
		}
		s.Y = append(s.Y, i%classes)
	}
	return s
}

// Made-up files in the form of each set are read as what was written; a set is
// loaded once.
func TestStoreSetTables(t *testing.T) {
	for name, form := range tableForms {
		store := Open(t.TempDir())
		want := &Set{Name: name}
		if form.classes[0] != "0" {
			want.Classes = form.classes
		}
		var cells []float64
		for k, file := range form.files {
			part := madeUp(form.rows[k], form.features, len(form.classes))
			text := tableText(part, form.classes, form.first)
			if form.complete > 0 { // more rows, of a class that no complete row has
				part = madeUp(form.complete, form.features, len(form.classes))
				text = tableText(part, form.classes, form.first)
				gap := "another" + strings.Repeat(",?", form.features) + "\n"
				lines := strings.SplitAfter(text, "\n")
				text = strings.Join(lines[:5], "") + strings.Repeat(gap, form.rows[k]-form.complete) + strings.Join(lines[5:], "")
			}
			writeFile(t, store.Path(file), []byte(text+"\n"))
			cells, want.Y = append(cells, part.X.RawMatrix().Data...), append(want.Y, part.Y...)
		}
		want.X = mat.NewDense(len(want.Y), form.features, cells)
		got, err := store.Set(name)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: error %v, or another set", name, err)
			continue
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if again, err := store.Set(name); again != got || err != nil {
					t.Errorf("%s: loaded twice, error %v", name, err)
				}
			})
		}
		wg.Wait()
	}
}

func TestStoreSetErrors(t *testing.T) {
	text := tableText(Balance(), balanceClasses, true)
	line := func(n int, from, to string) string {
		lines := strings.SplitAfter(text, "\n")
		lines[n-1] = strings.Replace(lines[n-1], from, to, 1)
		return strings.Join(lines, "")
	}
	store := Open(t.TempDir())
	path := store.Path("uci/balance-scale.data")
	_, err := store.Set("balance-scale")
	if e, ok := errors.AsType[*MissingError](err); !ok || e.Dataset != "balance-scale" || e.Path != path || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("no file: %v", err)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"empty":           {"", "the file is empty"},
		"another file":    {strings.ReplaceAll(text, "\n", ",1\n"), ":1: number of cells: is 6, want 5"},
		"a short row":     {line(7, ",1", ""), ":7: 4 cells, want 5"},
		"a class":         {line(625, "B", "S"), `:625: class: is "S", want one of L, B, R`},
		"no class":        {line(3, "R", ""), ":3: column 1: the cell is missing"},
		"a word":          {line(4, "1", "one"), `:4: column 2: "one" is not a number`},
		"NaN":             {line(4, "1", "NaN"), ":4: column 2: NaN is not allowed"},
		"a missing cell":  {line(5, "1", "?"), ":5: column 2: the cell is missing"},
		"a row less":      {line(9, "R,1,1,2,4\n", ""), ":624: number of rows: is 624, want 625"},
		"a row more":      {text + "L,1,1,1,1\n", ":626: number of rows: is 626, want 625"},
		"a header line":   {"class,a,b,c,d\n" + text, `:1: column 2: "a" is not a number`},
		"blanks and CRLF": {strings.NewReplacer(",", " , ", "\n", "\r\n\r\n").Replace(text), ""},
	} {
		writeFile(t, path, []byte(tc.text))
		s, err := store.Set("balance-scale")
		if tc.want == "" {
			if err != nil || !reflect.DeepEqual(s, Balance()) {
				t.Errorf("%s: error %v, or another set", name, err)
			}
			store = Open(store.Dir()) // forgets the set
			continue
		}
		if s != nil || err == nil || !strings.Contains(err.Error(), path+tc.want) && !strings.Contains(err.Error(), path+": "+tc.want) {
			t.Errorf("%s: error %v, want %s%s", name, err, path, tc.want)
		}
	}

	// Too few complete rows.
	form := tableForms["soybean-large"]
	full := madeUp(form.rows[0]-1, form.features, 3)
	writeFile(t, store.Path(form.files[0]), []byte(tableText(full, form.classes, true)+"x"+strings.Repeat(",?", form.features)+"\n"))
	if _, err := store.Set("soybean-large"); err == nil || !strings.Contains(err.Error(), ":307: number of rows without a missing cell: is 306, want 266") {
		t.Errorf("complete rows: %v", err)
	}

	_, err = store.Set("wien")
	if e, ok := errors.AsType[*UnknownError](err); !ok || e.Suggestion != "wine" {
		t.Errorf("an unknown name: %v", err)
	}
	const want = "datasets: mnist is not a set of labelled vectors, want one of wine, iris, ionosphere, balance-scale, soybean-large, pendigits, usps, nist16, mfeat"
	if _, err := store.Set("mnist"); err == nil || err.Error() != want {
		t.Errorf("MNIST: %v, want %s", err, want)
	}
}

// digitParts are made-up features of 2000 digits in the form of PRTools.
func digitParts(d int) *Set {
	s := madeUp(prtoolsRows, d, len(digits))
	s.Classes = digits
	return s
}

func TestStoreSetPRTools(t *testing.T) {
	store := Open(t.TempDir())
	images := digitParts(256)
	images.Height, images.Width = 16, 16
	writeFile(t, store.Path("nist16/nist16.mat"), partsOf(images).file())
	images.Name, images.Classes = "nist16", nil
	if got, err := store.Set("nist16"); err != nil || !reflect.DeepEqual(got, images) {
		t.Errorf("error %v, or another set", err)
	}

	kar, zer := digitParts(64), digitParts(47)
	karFile, zerFile := store.Path("mfeat/mfeat-kar.mat"), store.Path("mfeat/mfeat-zer.mat")
	refused := func(name, want string) {
		t.Helper()
		if s, err := store.Set("mfeat"); s != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	writeFile(t, karFile, partsOf(kar).file())
	refused("one file", "mfeat-zer.mat is missing; get it with: metriclab data get mfeat")
	writeFile(t, zerFile, bytes.Repeat([]byte("x"), 200))
	refused("damaged", "mfeat-zer.mat: byte 124, version and byte order")
	writeFile(t, zerFile, partsOf(kar).file())
	refused("another file", "mfeat-zer.mat: 2000×64 numbers, images of height 0, want 2000×47 and height 0")
	zer.Classes = append(slices.Clone(digits[1:]), "10")
	writeFile(t, zerFile, partsOf(zer).file())
	refused("classes", `mfeat-zer.mat: classes are ["1" "2"`)
	zer.Classes = digits
	zer.Y[1999] = 0
	writeFile(t, zerFile, partsOf(zer).file())
	refused("labels", "mfeat-zer.mat: labels are not those of "+karFile+", row by row")
	zer.Y[1999] = 9
	writeFile(t, zerFile, partsOf(zer).file())
	got, err := store.Set("mfeat")
	if err != nil || got.Name != "mfeat-kar-zer" || got.Classes != nil || !slices.Equal(got.Y, kar.Y) || got.Dim() != 111 {
		t.Fatalf("got %+v, error %v", got, err)
	}
	if !mat.Equal(got.X.Slice(0, 2000, 0, 64), kar.X) || !mat.Equal(got.X.Slice(0, 2000, 64, 111), zer.X) {
		t.Error("the features are not those of kar and then those of zer")
	}
}

// Whatever the text, a table of two features and two classes is refused or is whole.
func FuzzTableForm(f *testing.F) {
	form := tableForm{features: 2, classes: []string{"a", "b"}, first: true}
	for _, text := range []string{"a,1,2\nb,.5,-3e1\n", "a,1,?\nb,1,2\n", "a,1\nb,2\n", "c,1,2\na,1,2\n", "a,NaN,2\nb,1,2", "\n"} {
		f.Add(text, 2, 0)
		f.Add(text, 2, 1)
	}
	f.Fuzz(func(t *testing.T, text string, rows, complete int) {
		table, err := ReadCSV(strings.NewReader(text), "x.data", CSVOptions{Header: HeaderNo})
		if err != nil {
			return
		}
		form := form
		form.complete = max(complete, 0)
		cells, y, err := form.read(table, rows)
		if err != nil {
			if cells != nil || y != nil || !strings.Contains(err.Error(), "x.data:") {
				t.Fatalf("error %v beside %d labels", err, len(y))
			}
			return
		}
		n := rows
		if form.complete > 0 {
			n = form.complete
		}
		if len(y) != n || len(cells) != 2*n {
			t.Fatalf("%d labels and %d numbers, want %d rows", len(y), len(cells), n)
		}
		if err := checkSet(&Set{X: mat.NewDense(n, 2, cells), Y: y, Classes: form.classes}); err != nil {
			t.Fatal(err)
		}
	})
}
