package vectors

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"metriclab/internal/printable"
	"metriclab/pkg/limits"
)

// idBytes is about what an id takes beside its text: a string, and one in a map with its row.
const idBytes = 80

// ReadIDs reads the ids of the rows of a matrix, one per line in their order. Blanks around an id do not count; an id is not
// empty, is UTF-8, and occurs once. Lines end with \n or \r\n. name is that of the file, for errors, which name the line. There are
// errors if ids are not as many as rows, or take more than limits.Memory.
func ReadIDs(r io.Reader, name string, rows int) ([]string, error) {
	if err := limits.Check(fmt.Sprintf("%s: ids of %d rows", name, rows), limits.Product(idBytes, rows)); err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	raw, err := limits.ReadAll(r, "file "+name)
	if err != nil {
		return nil, fmt.Errorf("vectors: %s: %w", name, err)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	var ids []string
	lines := map[string]int{}
	for text := range bytes.Lines(raw) {
		id := string(bytes.TrimSpace(text))
		line := len(ids) + 1
		first, twice := lines[id]
		switch {
		case id == "":
			return nil, fmt.Errorf("vectors: %s:%d: the line is empty, want an id", name, line)
		case !utf8.ValidString(id):
			return nil, fmt.Errorf("vectors: %s:%d: the id %s is not UTF-8", name, line, clip(id))
		case twice:
			return nil, fmt.Errorf("vectors: %s:%d: the id %s is that of line %d, too", name, line, clip(id), first)
		case line > rows:
			return nil, fmt.Errorf("vectors: %s:%d: more ids than the matrix has rows, %d", name, line, rows)
		}
		ids = append(ids, id)
		lines[id] = line
	}
	if len(ids) < rows {
		return nil, fmt.Errorf("vectors: %s: %d ids for %d rows", name, len(ids), rows)
	}
	return ids, nil
}

// clip quotes a text and shortens a long one.
func clip(text string) string { return strconv.Quote(printable.Short(text)) }
