package datasets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/pkg/limits"
)

// jpegOf is a photograph of one grey value.
func jpegOf(t testing.TB, w, h int, v uint8) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = v
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type photoMember struct {
	name string
	data []byte
}

// photoArchive is a tar.gz of members; a folder ends in a slash.
func photoArchive(t testing.TB, members ...photoMember) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		head := &tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.data)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(m.name, "/") {
			head.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(m.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadPhotos(t *testing.T) {
	archive := photoArchive(t,
		photoMember{"101_ObjectCategories/", nil},
		photoMember{"101_ObjectCategories/cup b/image_0001.jpg", jpegOf(t, 20, 10, 40)},
		photoMember{"101_ObjectCategories/cup/image_0002.jpg", jpegOf(t, 4, 8, 120)},
		photoMember{"101_ObjectCategories/cup/image_0001.JPEG", jpegOf(t, 3, 3, 200)},
		photoMember{"101_ObjectCategories/cup/._image_0001.jpg", []byte("of a Mac")},
		photoMember{"101_ObjectCategories/cup/notes.txt", []byte("no photograph")},
		photoMember{"101_ObjectCategories/BACKGROUND_Google/image_0001.jpg", []byte("skipped")},
	)
	p, err := ReadPhotos(t.Context(), bytes.NewReader(archive), "a.tar.gz", PhotoOptions{Side: 5, Skip: []string{"BACKGROUND_Google"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"cup b/image_0001.jpg", "cup/image_0001.JPEG", "cup/image_0002.jpg"}; !slices.Equal(p.Names, want) {
		t.Errorf("names %q", p.Names)
	}
	if !slices.Equal(p.Classes, []string{"cup", "cup b"}) || !slices.Equal(p.Y, []int{1, 0, 0}) {
		t.Errorf("classes %q, %v", p.Classes, p.Y)
	}
	for i, want := range []Photo{{Height: 2, Width: 5}, {Height: 3, Width: 3}, {Height: 5, Width: 2}} {
		got := p.Images[i]
		if got.Height != want.Height || got.Width != want.Width || len(got.Pix) != want.Height*want.Width {
			t.Errorf("%s: %d×%d", p.Names[i], got.Height, got.Width)
		}
		for _, v := range got.Pix {
			if grey := []int{40, 200, 120}[i]; int(v) < grey-2 || int(v) > grey+2 {
				t.Errorf("%s: grey value %d, want %d", p.Names[i], v, grey)
			}
		}
	}
	whole, err := ReadPhotos(t.Context(), bytes.NewReader(archive), "a.tar.gz", PhotoOptions{Skip: []string{"BACKGROUND_Google"}})
	if err != nil || whole.Images[0].Width != 20 {
		t.Errorf("not reduced: %v", err)
	}
}

// Each pixel is the mean of its rectangle, and the rectangles part the image.
func TestReduced(t *testing.T) {
	m := image.NewGray(image.Rect(3, 5, 10, 8)) // 7×3, not at the origin
	for i := range m.Pix {
		m.Pix[i] = uint8(10 * i)
	}
	p := reduced(m, 3)
	if p.Width != 3 || p.Height != 1 {
		t.Fatalf("%d×%d", p.Width, p.Height)
	}
	for x, columns := range [][]int{{0, 1}, {2, 3}, {4, 5, 6}} {
		var sum float64
		for y := range 3 {
			for _, c := range columns {
				sum += float64(m.GrayAt(3+c, 5+y).Y)
			}
		}
		if want := sum / float64(3*len(columns)); p.Pix[x] != uint8(want+0.5) {
			t.Errorf("pixel %d is %d, want %v", x, p.Pix[x], want)
		}
	}
	colour := image.NewRGBA(image.Rect(0, 0, 1, 1))
	colour.Set(0, 0, color.RGBA{255, 0, 0, 255})
	if p := reduced(colour, 0); p.Pix[0] != 76 { // 0.299·255
		t.Errorf("red is %d", p.Pix[0])
	}
}

func TestReadPhotosRefuses(t *testing.T) {
	good := photoMember{"a/x.jpg", jpegOf(t, 2, 2, 9)}
	archive := photoArchive(t, good)
	huge := jpegOf(t, 8, 8, 1)
	at := bytes.Index(huge, []byte{0xff, 0xc0}) // start of frame: height and width
	copy(huge[at+5:], []byte{0xff, 0xff, 0xff, 0xff})
	for want, data := range map[string][]byte{
		"a.tar.gz: gzip":                  []byte("no archive"),
		"unexpected EOF":                  archive[:len(archive)-5],
		"no photographs":                  photoArchive(t, photoMember{"a/x.txt", []byte("x")}),
		"a/x.jpg: stands twice":           photoArchive(t, good, photoMember{"101/a/x.jpg", good.data}),
		"want class/image.jpg":            photoArchive(t, photoMember{"x.jpg", good.data}),
		"d/x.jpg: is not allowed":         photoArchive(t, photoMember{"a/b/c/d/x.jpg", good.data}),
		"../a/x.jpg: is not allowed":      photoArchive(t, photoMember{"../a/x.jpg", good.data}),
		"a/x.jpg: invalid JPEG":           photoArchive(t, photoMember{"a/x.jpg", []byte("<html>")}),
		"65535×65535 pixels":              photoArchive(t, photoMember{"a/x.jpg", huge}),
		"16777217 bytes, want at most":    photoArchive(t, photoMember{"a/x.jpg", make([]byte, maxPhotoBytes+1)}),
		"stand behind the end of the arc": gzipped(append(unzipped(t, archive), make([]byte, 2<<20)...)),
	} {
		_, err := ReadPhotos(t.Context(), bytes.NewReader(data), "a.tar.gz", PhotoOptions{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "datasets: a.tar.gz: ") {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := ReadPhotos(t.Context(), bytes.NewReader(archive), "a", PhotoOptions{Side: -1}); err == nil {
		t.Error("side −1: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadPhotos(ctx, bytes.NewReader(archive), "a", PhotoOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	limits.SetMemory(3)
	_, err := ReadPhotos(t.Context(), bytes.NewReader(archive), "a", PhotoOptions{})
	limits.SetMemory(0)
	var over *limits.MemoryError
	if !errors.As(err, &over) {
		t.Errorf("memory: %v", err)
	}
}

func unzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := b.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCaltech101(t *testing.T) {
	store := Open(t.TempDir())
	if _, err := store.Caltech101(t.Context(), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	path := store.Path("caltech-101/101_ObjectCategories.tar.gz")
	archive := photoArchive(t, photoMember{"101_ObjectCategories/ant/image_0001.jpg", jpegOf(t, 9, 9, 50)}, photoMember{"101_ObjectCategories/BACKGROUND_Google/image_0001.jpg", nil})
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, archive, 0o644)); err != nil {
		t.Fatal(err)
	}
	p, err := store.Caltech101(t.Context(), 4)
	if err != nil || len(p.Classes) != 1 || p.Images[0].Width != 4 {
		t.Errorf("%+v, %v", p, err)
	}
}

func FuzzReadPhotos(f *testing.F) {
	f.Add(unzipped(f, photoArchive(f, photoMember{"a/x.jpg", jpegOf(f, 2, 2, 9)})))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ReadPhotos(t.Context(), bytes.NewReader(gzipped(data)), "fuzz", PhotoOptions{Side: 8})
		if err != nil {
			return
		}
		for i, m := range p.Images {
			if len(m.Pix) != m.Height*m.Width || max(m.Height, m.Width) > 8 || p.Y[i] >= len(p.Classes) {
				t.Errorf("image %d: %d×%d with %d pixels", i, m.Height, m.Width, len(m.Pix))
			}
		}
	})
}
