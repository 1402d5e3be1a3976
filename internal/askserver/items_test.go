package askserver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/needs"
)

// Pictures are listed by name; what is none, is not readable, or leads elsewhere is left out and counted.
func TestOpenPictures(t *testing.T) {
	dir := pictures(t, 3)
	real, err := os.ReadFile(filepath.Join(dir, "p000.png"))
	if err != nil {
		t.Fatal(err)
	}
	large := slices.Clone(real) // a head that says 60000 × 60000
	binary.BigEndian.PutUint32(large[16:], 60000)
	binary.BigEndian.PutUint32(large[20:], 60000)
	binary.BigEndian.PutUint32(large[29:], crc32.ChecksumIEEE(large[12:29]))
	for name, text := range map[string]string{
		"B.PNG": string(real), "wrong.png": "no picture", "empty.gif": "", "x.svg": "<svg/>", "notes.txt": "", ".hidden": "", "large.png": string(large), "jpeg-that-is.jpg": string(real), "<b>&.png": string(real), "=1.png": string(real),
	} {
		put(t, filepath.Join(dir, name), text)
	}
	put(t, filepath.Join(dir, "a\nb.png"), string(real))
	if err := os.Mkdir(filepath.Join(dir, "below.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	needs.Symlink(t, filepath.Join(dir, "p000.png"), filepath.Join(dir, "link.png"))
	huge, err := os.Create(filepath.Join(dir, "huge.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := huge.Truncate(mostBytes + 1); err != nil {
		t.Fatal(err)
	}
	huge.Close()
	i, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if want := []string{"<b>&.png", "=1.png", "B.PNG", "jpeg-that-is.jpg", "p000.png", "p001.png", "p002.png"}; !slices.Equal(i.Names, want) || !i.Pictures() || i.types[3] != "image/png" {
		t.Errorf("%q, %q", i.Names, i.types)
	}
	notes := strings.Join(i.Notes, "\n")
	for _, want := range []string{"no picture by its name (want .png, .jpg, .gif or .webp): 2", "no readable picture: 2", "more than 50 megapixels, or none: 1", "larger than 16 MiB: 1", "control characters", "a link or no regular file: 2", "formula: 1 name, such as =1.png"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes lack %q:\n%s", want, notes)
		}
	}
}

func TestOpenLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "words.txt")
	put(t, path, "\ufeffone\r\n\n  two \nthree\none\n"+strings.Repeat("x", mostText+1)+"\n\xff\nlast")
	i, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"one", "two", "three", "last"}; !slices.Equal(i.Names, want) || i.Pictures() || len(i.Notes) != 3 {
		t.Errorf("%q, %q", i.Names, i.Notes)
	}
	// A whole number counts by its value, and the map has those from 0 on.
	put(t, path, "7\n007\n7.0\n1990\n+1990\n3")
	if i, err = Open(path); err != nil || !slices.Equal(i.Names, []string{"7", "1990", "3"}) {
		t.Errorf("%q, %v", i.Names, err)
	}
	for _, beyond := range []string{"-1", "1048576"} {
		put(t, path, "1\n2\n"+beyond+"\n")
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "from 0 to 1048575, not "+beyond) {
			t.Errorf("%s: %v", beyond, err)
		}
		put(t, path, "1\n2\na word\n"+beyond+"\n")
		if i, err := Open(path); err != nil || len(i.Names) != 4 {
			t.Errorf("%s and a word: %v", beyond, err)
		}
	}
	put(t, path, "GIF89a\x00\x00")
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "want a folder of pictures") {
		t.Error(err)
	}
	if _, err := Open(path + ".none"); err == nil {
		t.Error("no error without a file")
	}
}

// Names of a hundred thousand lines are read, and a name on the page is the same for all.
func TestManyLines(t *testing.T) {
	var b bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintln(&b, "item", i)
	}
	path := filepath.Join(t.TempDir(), "many.txt")
	put(t, path, b.String())
	i, err := Open(path)
	if err != nil || len(i.Names) != 100_000 || i.alt(99_999) != "item 99999" {
		t.Errorf("%d, %v", len(i.Names), err)
	}
}
