package datasets

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// zipText is made-up text of images: pixel j of image i is ((i+j) mod 5)/2 − 1. Training lines end in a blank.
func zipText(rows int, train bool) string {
	var b strings.Builder
	for i := range rows {
		form, end := "%d", "\n"
		if train {
			form, end = "%d.0000", " \n"
		}
		fmt.Fprintf(&b, form, i%10)
		for j := range uspsPixels {
			fmt.Fprintf(&b, " %.3f", float64((i+j)%5)/2-1)
		}
		b.WriteString(end)
	}
	return b.String()
}

func TestUSPS(t *testing.T) {
	store := Open(t.TempDir())
	for k, file := range uspsFiles {
		if _, err := store.Set(uspsName); err == nil || !strings.Contains(err.Error(), "is missing; get it with: metriclab data get usps") {
			t.Fatalf("without %s: %v", file, err)
		}
		writeFile(t, store.Path(file), gzipped([]byte(zipText(uspsRows[k], k == 0))))
	}
	s, err := store.Set(uspsName)
	if err != nil {
		t.Fatal(err)
	}
	if s.N() != 9298 || s.Dim() != 256 || s.Classes != nil {
		t.Fatalf("%d×%d, classes %v", s.N(), s.Dim(), s.Classes)
	}
	for i, y := range s.Y {
		k := i
		if i >= USPSTrain {
			k = i - USPSTrain
		}
		if y != k%10 || s.X.At(i, 7) != float64((k+7)%5)/2-1 {
			t.Fatalf("row %d: digit %d, pixel 7 is %v", i, y, s.X.At(i, 7))
		}
	}
	if err := checkSet(s); err != nil {
		t.Error(err)
	}
	writeFile(t, store.Path(uspsFiles[1]), []byte("not gzip"))
	if _, err := Open(store.Dir()).Set(uspsName); err == nil || !strings.Contains(err.Error(), "zip.test.gz") {
		t.Errorf("not gzip: %v", err)
	}
}

func TestReadZipErrors(t *testing.T) {
	good := zipText(1, false)
	for _, c := range []struct{ name, text, want string }{
		{"short line", "3 .5 .5\n", "x.gz:1: number of cells: is 3, want 257"},
		{"digit", "10" + good[1:], `x.gz:1: digit: is "10", want 0 to 9`},
		{"fraction", "1.5" + good[1:], "digit"},
		{"word", strings.Replace(good, "-1.000", "black", 1), `pixel 1: is "black"`},
		{"NaN", strings.Replace(good, "-1.000", "NaN", 1), "pixel 1"},
		{"out of range", strings.Replace(good, "-1.000", "-1.001", 1), "pixel 1"},
		{"few lines", good, "x.gz:2: number of lines: is 1, want 2"},
		{"many lines", good + good + good, "x.gz:3: number of lines: is larger, want 2"},
		{"long line", good + strings.Repeat(" ", maxUSPSLine+1), "x.gz:2: length"},
		{"empty line", good + "\n", "x.gz:2: number of cells: is 0"},
	} {
		cells, y, err := readZip(bytes.NewReader(gzipped([]byte(c.text))), "x.gz", 2)
		if err == nil || !strings.Contains(err.Error(), c.want) || cells != nil || y != nil {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	whole := gzipped([]byte(good + good))
	if _, _, err := readZip(bytes.NewReader(whole[:len(whole)-6]), "x.gz", 2); err == nil || !strings.Contains(err.Error(), "x.gz:") {
		t.Errorf("a torn file: %v", err)
	}
}

// Whatever the text, it is refused or its images are whole.
func FuzzReadZip(f *testing.F) {
	for _, text := range []string{"", "\n", "3 0 0", zipText(1, false), zipText(2, true), strings.Replace(zipText(2, true), "0.5", "1e-1", 9)} {
		f.Add(text, uint8(1))
		f.Add(text, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		rows := int(n) // a constant of the caller, never negative
		cells, y, err := readZip(bytes.NewReader(gzipped([]byte(text))), "x.gz", rows)
		if err != nil {
			if cells != nil || y != nil || !strings.Contains(err.Error(), "x.gz") {
				t.Fatalf("error %v beside %d digits", err, len(y))
			}
			return
		}
		if len(y) != rows || len(cells) != rows*uspsPixels {
			t.Fatalf("%d digits and %d pixels, want %d images", len(y), len(cells), rows)
		}
		for _, v := range cells {
			if !(v >= -1 && v <= 1) {
				t.Fatalf("pixel %v", v)
			}
		}
	})
}
