package datasets_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
)

// packedAgain returns a file with other bytes and the same values: a zip or tar.gz without
// compression, a MAT-file with another text in its head.
func packedAgain(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	if strings.HasSuffix(name, ".tar.gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		out, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, z); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !strings.HasSuffix(name, ".zip") {
		copy(data[40:], "saved again")
		return data
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, m := range z.File {
		r, err1 := m.Open()
		w, err2 := out.CreateHeader(&zip.FileHeader{Name: "top/" + m.Name, Method: zip.Store})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(w, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Files that were saved or packed again are confirmed by the content that the registry pins,
// those of mfeat that no loader reads among them; with another value they are refused.
func TestRealContent(t *testing.T) {
	n := 0
	for _, e := range datasets.Registry() {
		for _, f := range e.Files {
			if f.Content.SHA256 == "" || !e.Default {
				continue // comparable, or not in the default set
			}
			n++
			t.Run(f.Path, func(t *testing.T) {
				data, err := os.ReadFile(realdata.Store(t, e.Name).Path(f.Path))
				if err != nil {
					t.Fatal(err)
				}
				data = packedAgain(t, f.Path, data)
				file := filepath.Join(t.TempDir(), "file")
				check := func(want datasets.FileState, why string) {
					t.Helper()
					if err := os.WriteFile(file, data, 0o644); err != nil {
						t.Fatal(err)
					}
					st, err := datasets.VerifyFile(t.Context(), f.Path, file)
					if err != nil || st.State != want || !strings.Contains(st.Why, why) {
						t.Errorf("%v, %q, %v, want %v", st.State, st.Why, err, want)
					}
				}
				check(datasets.FileSameContent, "")
				data = data[:len(data)/2]
				check(datasets.FileWrongContent, "wrong data: ")
			})
		}
	}
	if n != 11 {
		t.Errorf("%d files, want 11", n)
	}
}
