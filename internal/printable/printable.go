// Package printable writes texts for people. What stands in a name, a file or an answer of another program can neither
// move a terminal's cursor nor change the order in which letters are shown. No message is longer than a screen.
package printable

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Text escapes, as Go and JSON do, what is no letter to a reader: control characters but tab and line feed, Unicode marks that turn
// the direction of text or end a line, and bytes that are no UTF-8. A JSON text stays one, with the same values.
func Text(s string) string {
	if !strings.ContainsFunc(s, Special) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		size := utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Special(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[i : i+size])
		}
	}
	return b.String()
}

// Special tells whether Text escapes a character.
func Special(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u2028', '\u2029': // lines and paragraphs
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}

// Short cuts a name that is longer than 40 characters.
func Short(name string) string {
	const longest = 40
	if r := []rune(name); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return name
}

// Lines and Characters are the most that Screen leaves.
const Lines, Characters = 25, 2000

// Screen cuts a text that is longer than a screen in its middle, since a message begins with where and ends with what to do.
func Screen(s string) string {
	text, end := strings.CutSuffix(s, "\n")
	if lines := strings.Split(text, "\n"); len(lines) > Lines {
		const first, last = Lines - 7, 6
		text = strings.Join(slices.Concat(lines[:first], []string{fmt.Sprintf("... and %d more lines ...", len(lines)-first-last)}, lines[len(lines)-last:]), "\n")
	}
	if r := []rune(text); len(r) > Characters {
		const first, last = Characters - 540, 500
		text = string(r[:first]) + fmt.Sprintf(" ... and %d more characters ... ", len(r)-first-last) + string(r[len(r)-last:])
	}
	if end {
		text += "\n"
	}
	return text
}

// Writer writes Text to another writer. Several goroutines may write at once if they may write to that.
type Writer struct {
	to    io.Writer
	short bool
	mu    sync.Mutex
	err   error
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// NewMessages returns a Writer that cuts each text to a Screen: one Write is one message.
func NewMessages(w io.Writer) *Writer { return &Writer{to: w, short: true} }

func (w *Writer) Write(p []byte) (int, error) {
	text := Text(string(p))
	if w.short {
		text = Screen(text)
	}
	if _, err := w.to.Write([]byte(text)); err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.err == nil {
			w.err = err
		}
		return 0, err
	}
	return len(p), nil
}

// Err returns the first error of a Write.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
