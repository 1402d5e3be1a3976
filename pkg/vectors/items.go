package vectors

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"metriclab/pkg/limits"
)

// Items are how a user names the rows of a matrix: by number from 0, or by ids. They are immutable.
type Items struct {
	rows int
	ids  map[string]int // nil if by number
	from string         // file of the ids
}

// Numbered returns items 0 to rows−1, which are named by number. It panics if rows < 1.
func Numbered(rows int) *Items {
	if rows < 1 {
		panic(fmt.Sprintf("vectors: Numbered: %d rows", rows))
	}
	return &Items{rows: rows}
}

// idBytes is about what an id takes beside its text: a string and its place in a map.
const idBytes = 64

// ReadIDs reads the ids of the rows of a matrix, one per line in their order. Blanks around an id do not count; an id is not
// empty, is UTF-8, and occurs once. Lines end with \n or \r\n. name is that of the file, for errors, which name the line; there are
// errors if ids are not as many as rows, or take more than limits.Memory. It panics if rows < 1.
func ReadIDs(r io.Reader, name string, rows int) (*Items, error) {
	items := Numbered(rows)
	items.from = name
	if err := limits.Check(fmt.Sprintf("%s: ids of %d rows", name, rows), limits.Product(idBytes, rows)); err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	raw, err := limits.ReadAll(r, name)
	if err != nil {
		return nil, fmt.Errorf("vectors: %s: %w", name, err)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	items.ids = make(map[string]int, min(rows, bytes.Count(raw, []byte{'\n'})+1))
	line := 0
	for text := range bytes.Lines(raw) {
		line++
		id := string(bytes.TrimSpace(text))
		first, twice := items.ids[id]
		switch {
		case id == "":
			return nil, fmt.Errorf("vectors: %s:%d: the line is empty, want an id", name, line)
		case !utf8.ValidString(id):
			return nil, fmt.Errorf("vectors: %s:%d: the id %s is not UTF-8", name, line, clip(id))
		case twice:
			return nil, fmt.Errorf("vectors: %s:%d: the id %s is that of line %d, too", name, line, clip(id), first+1)
		case line > rows:
			return nil, fmt.Errorf("vectors: %s:%d: more ids than the matrix has rows, %d", name, line, rows)
		}
		items.ids[id] = line - 1
	}
	if line < rows {
		return nil, fmt.Errorf("vectors: %s: %d ids for %d rows", name, line, rows)
	}
	return items, nil
}

// Rows returns the number of items.
func (s *Items) Rows() int { return s.rows }

// Named tells whether items have ids.
func (s *Items) Named() bool { return s.ids != nil }

// Want says how an item is to be written, for errors.
func (s *Items) Want() string {
	if s.ids != nil {
		return "an id of " + s.from
	}
	return fmt.Sprintf("the number of a row, 0 to %d", s.rows-1)
}

// Row returns the row of the item of that id or, without ids, number. Blanks around it do not count. The error for an item that is
// not there says what is.
func (s *Items) Row(item string) (int, error) {
	item = strings.TrimSpace(item)
	if s.ids != nil {
		if row, ok := s.ids[item]; ok {
			return row, nil
		}
	} else if row, err := strconv.Atoi(item); err == nil && row >= 0 && row < s.rows {
		return row, nil
	}
	return 0, fmt.Errorf("%s is not allowed, want %s", clip(item), s.Want())
}

// clip quotes a text and shortens a long one.
func clip(text string) string {
	const most = 60 // bytes
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return strconv.Quote(text)
}
