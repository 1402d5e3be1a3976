package askserver

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	_ "golang.org/x/image/webp"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
	"metriclab/internal/printable"
	"metriclab/pkg/feedback"
	"metriclab/pkg/limits"
)

const (
	mostText   = 500      // characters of a line
	mostName   = 200      // bytes of the name of a picture
	mostBytes  = 16 << 20 // of a picture
	mostPixels = 50_000_000
)

// types are what image.DecodeConfig calls the pictures that are served, and how a browser does. SVG, which may have scripts, is not among them.
var types = map[string]string{"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}

// Items are what is asked about: pictures of a folder or lines of text.
type Items struct {
	// Names are those of the pictures' files, or the lines.
	Names []string
	// Notes say what was left out, and what may be odd.
	Notes []string
	root  *os.Root // of pictures
	types []string // of each picture
}

// Open reads the names of the pictures in a folder, in their order, or the lines of a file. Of each picture the head is read.
func Open(path string) (*Items, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	out := &Items{}
	var left left
	if info.IsDir() {
		err = out.pictures(path, &left)
	} else {
		err = out.lines(path, &left)
	}
	if err != nil {
		out.Close()
		return nil, err
	}
	out.Notes = append(out.Notes, left.notes()...)
	if formulas := slices.DeleteFunc(slices.Clone(out.Names), func(n string) bool { return !strings.ContainsAny(n[:1], "=+-@") }); len(formulas) > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("begin with = + - or @, which a spreadsheet may run as a formula: %s, such as %s", plural.Of(len(formulas), "name"), printable.Short(formulas[0])))
	}
	return out, nil
}

// Pictures tells whether the items are pictures.
func (i *Items) Pictures() bool { return i.root != nil }

// Close closes the folder.
func (i *Items) Close() {
	if i.root != nil {
		_ = i.root.Close()
	}
}

// left counts what is left out, by why.
type left struct {
	why   []string
	count map[string]int
	such  map[string]string
}

func (l *left) out(name, why string) {
	if l.count == nil {
		l.count, l.such = map[string]int{}, map[string]string{}
	}
	if l.count[why] == 0 {
		l.why = append(l.why, why)
		l.such[why] = name
	}
	l.count[why]++
}

func (l *left) notes() (out []string) {
	for _, why := range l.why {
		out = append(out, fmt.Sprintf("left out, %s: %d, such as %s", why, l.count[why], printable.Short(l.such[why])))
	}
	return out
}

func (i *Items) pictures(path string, left *left) (err error) {
	if i.root, err = os.OpenRoot(path); err != nil {
		return err
	}
	entries, err := fs.ReadDir(i.root.FS(), ".")
	if err != nil {
		return err
	}
	var bytes int64
	for _, e := range entries {
		name := e.Name()
		if !slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, strings.ToLower(filepath.Ext(name))) {
			if !e.IsDir() && !strings.HasPrefix(name, ".") {
				left.out(name, "no picture by its name (want .png, .jpg, .gif or .webp)")
			}
			continue
		}
		why := wrongName(name, mostName)
		if why == "" && !e.Type().IsRegular() {
			why = "a link or no regular file"
		}
		var form string
		if why == "" {
			var size int64
			form, size, why = i.head(name)
			bytes += size
		}
		if why != "" {
			left.out(name, why)
			continue
		}
		i.Names, i.types = append(i.Names, name), append(i.types, form)
	}
	const heavy = 1 << 20
	if n := int64(len(i.Names)); n > 0 && bytes/n > heavy {
		i.Notes = append(i.Notes, fmt.Sprintf("pictures have %s on average and are sent as they are: smaller ones load faster", limits.Size(bytes/n)))
	}
	return nil
}

// head reads the head of a picture, and returns its type and size, or why it is left out.
func (i *Items) head(name string) (form string, size int64, why string) {
	f, err := i.root.Open(name)
	if err != nil {
		return "", 0, "not readable"
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "", 0, "not readable"
	case info.Size() > mostBytes:
		return "", 0, "larger than " + limits.Size(mostBytes)
	}
	c, form, err := image.DecodeConfig(io.LimitReader(f, mostBytes))
	form, known := types[form]
	switch {
	case err != nil || !known:
		return "", 0, "no readable picture"
	case c.Width < 1 || c.Height < 1 || int64(c.Width)*int64(c.Height) > mostPixels:
		return "", 0, fmt.Sprintf("more than %d megapixels, or none", mostPixels/1_000_000)
	}
	return form, info.Size(), ""
}

// open opens picture n. The file may have become another one since Open; a link, and what is no regular file, is an error, before it is opened: a pipe
// would wait for its other end.
func (i *Items) open(n int) (f *os.File, modified time.Time, err error) {
	named, err := i.root.Lstat(i.Names[n])
	if err == nil && !named.Mode().IsRegular() {
		err = fs.ErrInvalid
	}
	if err != nil {
		return nil, modified, err
	}
	if f, err = i.root.Open(i.Names[n]); err != nil {
		return nil, modified, err
	}
	info, err := f.Stat()
	if err == nil && (!os.SameFile(named, info) || info.Size() > mostBytes) {
		err = fs.ErrInvalid
	}
	if err != nil {
		_ = f.Close()
		return nil, modified, err
	}
	return f, info.ModTime(), nil
}

func (i *Items) lines(path string, left *left) error {
	raw, err := limits.ReadFile(path)
	if err != nil {
		return err
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return errors.New(path + ": it is no text: want a folder of pictures, or a file with a line of text for each item")
	}
	known := map[string]bool{}
	whole, beyond := true, ""
	for text := range strings.SplitSeq(strings.TrimPrefix(string(raw), "\ufeff"), "\n") {
		text = strings.TrimSpace(text)
		why := wrongName(text, 4*mostText)
		if why == "" && utf8.RuneCountInString(text) > mostText {
			why = fmt.Sprintf("longer than %d characters", mostText)
		}
		one := text
		v, number := closest.Whole(text)
		if number {
			one = strconv.Itoa(v)
		}
		switch {
		case text == "":
		case known[one]:
			left.out(text, "there twice")
		case why != "":
			left.out(text, why)
		default:
			known[one] = true
			i.Names = append(i.Names, text)
			whole = whole && number
			if v < 0 || v >= feedback.MaxObjects {
				beyond = text
			}
		}
	}
	if whole && beyond != "" {
		return fmt.Errorf("%s: all lines are whole numbers, which fit takes from 0 to %d, not %s: want a word beside each", path, feedback.MaxObjects-1, beyond)
	}
	return nil
}

// wrongName says why a name cannot stand in a line of a file of answers and on a page, or nothing.
func wrongName(name string, most int) string {
	switch {
	case !utf8.ValidString(name):
		return "the name is no UTF-8"
	case strings.ContainsFunc(name, printable.Special) || strings.ContainsAny(name, "\t\n") || name != strings.TrimSpace(name):
		return "the name has control characters, or blanks around it"
	case len(name) > most:
		return fmt.Sprintf("the name is longer than %d bytes", most)
	}
	return ""
}

// alt is what a screen reader says of an item.
func (i *Items) alt(n int) string {
	return cmp.Or(strings.TrimSuffix(i.Names[n], filepath.Ext(i.Names[n])), i.Names[n])
}
