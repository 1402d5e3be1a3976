package datasets

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxSMARTBytes is the largest file that readSMART accepts, 16 MiB: seven times the largest of
// Classic3.
const maxSMARTBytes = 16 << 20

// classic3 are the collections: class, file and number of documents, ascending by class.
var classic3 = []struct {
	class, file string
	docs        int
}{{"CISI", "classic3/CISI.ALL", 1460}, {"CRAN", "classic3/cran.all.1400", 1400}, {"MED", "classic3/MED.ALL", 1033}}

// Classic3 returns the 3891 abstracts of CISI (1460, library science), CRAN (1398, aerodynamics)
// and MED (1033, medicine), by collection and number. The text is the abstract (field W) behind
// the title (field T); where the abstract begins with the words of the title, as nearly always
// in CRAN, the title does not stand twice. Authors, sources and citations are no text. Documents
// with an empty abstract, CRAN 471 and CRAN 995, are Dropped. Callers share the result and must
// not change it. The first call that succeeds reads the files, while other callers wait; a
// failure is not remembered. The error is a *MissingError if a file is missing and a *LineError
// if one is damaged.
func (s *Store) Classic3() (*Texts, error) {
	s.classicMu.Lock()
	defer s.classicMu.Unlock()
	if s.classic == nil {
		texts, err := s.loadClassic3()
		if err != nil {
			return nil, err
		}
		s.classic = texts
	}
	return s.classic, nil
}

func (s *Store) loadClassic3() (*Texts, error) {
	for _, c := range classic3 {
		if _, err := os.Stat(s.Path(c.file)); errors.Is(err, fs.ErrNotExist) {
			return nil, &MissingError{Dataset: "classic3", Path: s.Path(c.file)}
		}
	}
	out := &Texts{Name: "classic3"}
	for y, c := range classic3 {
		docs, err := loadSMART(s.Path(c.file))
		if err != nil {
			return nil, err
		}
		if len(docs) != c.docs {
			return nil, fmt.Errorf("datasets: %s: has %d documents, want %d", s.Path(c.file), len(docs), c.docs)
		}
		out.Classes = append(out.Classes, c.class)
		for i, d := range docs {
			id := c.class + " " + strconv.Itoa(i+1)
			if strings.TrimSpace(d.abstract) == "" {
				out.Dropped = append(out.Dropped, id)
				continue
			}
			out.Docs, out.Y = append(out.Docs, Document{id, d.text()}), append(out.Y, y)
		}
	}
	return out, nil
}

func loadSMART(path string) ([]smartDoc, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	return readSMART(f, path)
}

// smartDoc is a document of a collection in SMART format.
type smartDoc struct{ title, abstract string }

// text returns the abstract, behind the title unless it begins with its words.
func (d smartDoc) text() string {
	title, words := strings.Fields(d.title), strings.Fields(d.abstract)
	if len(title) <= len(words) && slices.Equal(title, words[:len(title)]) {
		return d.abstract
	}
	return d.title + "\n" + d.abstract
}

// smartFields are the fields that a document may have; W it must have. Fields that stand
// several times, as authors do, are joined.
const smartFields = "TABWKCX"

// readSMART reads a collection in SMART format: a line ".I n" begins document n = 1, 2, …, and a
// line of a dot and a letter begins a field. Blanks at the end of lines and carriage returns
// before line feeds do not count, nor do blank lines before the first document. The error is a
// *LineError:
//
//   - text that belongs to no field, or a field that the format does not have;
//   - a number that is not the next one, or a document without a field W;
//   - bytes that are no ASCII text;
//   - a file of more than maxSMARTBytes, or without a document.
func readSMART(r io.Reader, name string) ([]smartDoc, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSMARTBytes+1))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if len(data) > maxSMARTBytes {
		return nil, &LineError{name, lineAt(data, len(data)), "size", "larger", fmt.Sprintf("at most %d bytes", maxSMARTBytes), nil}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxSMARTBytes+1)
	var (
		docs            []smartDoc
		line            int
		field           byte // at hand; 0 before the first of a document
		hasText         bool // the document has a field W
		title, abstract strings.Builder
	)
	fail := func(field, value, want string) error { return &LineError{name, line, field, value, want, nil} }
	end := func() error { // of a document
		if len(docs) == 0 {
			return nil
		}
		if !hasText {
			return fail("document", fmt.Sprintf("document %d without .W", len(docs)), "a field .W")
		}
		docs[len(docs)-1] = smartDoc{cleanText(title.String()), cleanText(abstract.String())}
		title.Reset()
		abstract.Reset()
		field, hasText = 0, false
		return nil
	}
	for lines.Scan() {
		line++
		text := strings.TrimRight(lines.Text(), " \t\r")
		if i := strings.IndexFunc(text, func(r rune) bool { return r > unicode.MaxASCII || r < ' ' && r != '\t' }); i >= 0 {
			return nil, fail("character", fmt.Sprintf("byte 0x%02X", text[i]), "7-bit text")
		}
		switch number, isDoc := strings.CutPrefix(text, ".I"); {
		case isDoc && (number == "" || number[0] == ' '):
			if err := end(); err != nil {
				return nil, err
			}
			if n, err := strconv.Atoi(strings.TrimSpace(number)); err != nil || n != len(docs)+1 {
				return nil, fail(".I", quoteShort(strings.TrimSpace(number)), fmt.Sprintf("%d: documents are numbered from 1 without a gap", len(docs)+1))
			}
			docs = append(docs, smartDoc{})
		case len(text) == 2 && text[0] == '.' && 'A' <= text[1] && text[1] <= 'Z':
			switch {
			case len(docs) == 0:
				return nil, fail("field", text+" before a document", "a line .I 1 first")
			case strings.IndexByte(smartFields, text[1]) < 0:
				return nil, fail("field", text, "one of ."+strings.Join(strings.Split(smartFields, ""), " ."))
			}
			field = text[1]
			hasText = hasText || field == 'W'
		case field == 0 && text != "":
			want := "a field, such as .W"
			if len(docs) == 0 {
				want = "a line .I 1 first"
			}
			return nil, fail("text", quoteShort(text), want)
		case field == 'T':
			title.WriteString(text + "\n")
		case field == 'W':
			abstract.WriteString(text + "\n")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	line = max(line, 1)
	if err := end(); err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, fail("document", "none", "a line .I 1 first")
	}
	return docs, nil
}
