package printable

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\nc é 家 🙂 e\u0301 a\u200db":        "a\tb\nc é 家 🙂 e\u0301 a\u200db", // what joins letters is one of them
		"\x1b[2J\a\r\x00\x7f":                   `\u001b[2J\u0007\u000d\u0000\u007f`,
		"\u0085\u009b31m":                       `\u0085\u009b31m`,
		"\u202eabc\u2066\u2069\u200f\u061c":     `\u202eabc\u2066\u2069\u200f\u061c`,
		"a\u2028b\u2029":                        `a\u2028b\u2029`,
		"\x9b2J\xff\xed\xa0\x80 \ufffd":         `\x9b2J\xff\xed\xa0\x80 ` + "\ufffd",
		"\\u001b is text, and so is \"quoted\"": "\\u001b is text, and so is \"quoted\"",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %s, want %s", in, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
			t.Errorf("Text(%q) = %q", s, got)
		}
		if Text(got) != got {
			t.Errorf("Text(Text(%q)) is another", s)
		}
		if cut := Screen(got); utf8.RuneCountInString(cut) > Characters+1 || strings.Count(cut, "\n") > Lines {
			t.Errorf("Screen left %d characters", utf8.RuneCountInString(cut))
		}
	})
}

// JSON that passes through the filter says the same.
func TestTextOfJSON(t *testing.T) {
	in := "a\x1b\u009b\u202e\u2028\x7f\"\\\n"
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var got string
	if err := json.Unmarshal([]byte(Text(string(data))), &got); err != nil || got != in {
		t.Errorf("%q, %v", got, err)
	}
}

func TestScreen(t *testing.T) {
	whole := strings.Repeat("l\n", Lines)
	if got := Screen(whole); got != whole {
		t.Errorf("%d lines were cut", Lines)
	}
	if got := Screen("first\n" + whole + "last\n"); !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "\nlast\n") || !strings.Contains(got, "\n... and 3 more lines ...\n") || strings.Count(got, "\n") != Lines {
		t.Errorf("got %s", got)
	}
	if got := Screen("first" + strings.Repeat("é", 3000) + "last"); !strings.HasPrefix(got, "first") || !strings.HasSuffix(got, "last") || utf8.RuneCountInString(got) > Characters {
		t.Errorf("%d characters: %s", utf8.RuneCountInString(got), got)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b)
	if n, err := w.Write([]byte("\x1b\n")); n != 2 || err != nil || b.String() != "\\u001b\n" || w.Err() != nil {
		t.Errorf("%d, %v: %q", n, err, b.String())
	}
	b.Reset()
	if _, err := NewMessages(&b).Write(bytes.Repeat([]byte("x"), 5000)); err != nil || b.Len() > Characters {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
	w = NewWriter(failing{})
	if _, err := w.Write([]byte("a")); err == nil || w.Err() == nil {
		t.Error("an error was lost")
	}
}
