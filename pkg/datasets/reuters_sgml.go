package datasets

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxReutersBytes is the largest file that readReuters accepts, 16 MiB: ten
// times the largest of the collection.
const maxReutersBytes = 16 << 20

// LineError says what is wrong with a text file, in which line, and what is
// allowed there.
type LineError struct {
	File  string
	Line  int    // from 1
	Field string // for example "NEWID"
	Value string // what stands there
	Want  string // what is allowed
	Err   error  // the cause, if another error is
}

func (e *LineError) Error() string {
	msg := fmt.Sprintf("datasets: %s:%d: %s: is %s, want %s", e.File, e.Line, e.Field, e.Value, e.Want)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// readReuters reads one SGML file of the collection Reuters-21578, whose markup
// is described in Section VI of its README and in its lewis.dtd. The NEWIDs must
// ascend by one. The error is a *LineError, which carries name, or says why the
// file cannot be read.
//
// The collection is well-formed XML but for two things, which are read as blanks:
// references to control characters such as &#3;, and one byte 0xFC where a
// character was lost in transmission. Everything else that the collection does
// not have is an error: other bytes above 0x7F, other elements, an attribute or
// element that is missing or stands twice, a file of more than maxReutersBytes.
// No document type is read and no entity is defined, so that memory stays in
// proportion to the file.
//
// first is the NEWID of the first document; 0 allows any.
func readReuters(r io.Reader, name string, first int) ([]ReutersDoc, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxReutersBytes+1))
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if len(data) > maxReutersBytes {
		return nil, &LineError{name, lineAt(data, len(data)), "size", "larger", fmt.Sprintf("at most %d bytes", maxReutersBytes), nil}
	}
	blankControls(data)
	if i := slices.IndexFunc(data, func(b byte) bool { return b > 0x7f }); i >= 0 {
		return nil, &LineError{name, lineAt(data, i), "character", fmt.Sprintf("byte 0x%02X", data[i]), "7-bit text", nil}
	}
	p := &reutersParser{name: name, dec: xml.NewDecoder(bytes.NewReader(data)), next: first}
	docs, err := p.file()
	if err != nil {
		return nil, err
	}
	return docs, nil
}

// lineAt returns the number of the line that holds data[i].
func lineAt(data []byte, i int) int { return 1 + bytes.Count(data[:i], []byte("\n")) }

// blankControls overwrites references to control characters, and the byte 0xFC,
// by blanks. The length and the lines stay as they are.
func blankControls(data []byte) {
	for i := 0; i < len(data); i++ {
		switch {
		case data[i] == 0xfc:
			data[i] = ' '
		case data[i] == '&' && i+1 < len(data) && data[i+1] == '#':
			end, code := i+2, 0
			// Three digits suffice: the largest control character is 127.
			for ; end < len(data) && end < i+5 && '0' <= data[end] && data[end] <= '9'; end++ {
				code = 10*code + int(data[end]-'0')
			}
			isControl := code < 32 && code != '\t' && code != '\n' && code != '\r' || code == 127
			if end > i+2 && end < len(data) && data[end] == ';' && isControl {
				for ; i < end; i++ {
					data[i] = ' '
				}
				data[i] = ' '
			}
		}
	}
}

// Elements by their parents; "" is the file.
var reutersElements = map[string][]string{
	"":          {"REUTERS"},
	"REUTERS":   {"DATE", "TOPICS", "PLACES", "PEOPLE", "ORGS", "EXCHANGES", "COMPANIES", "TEXT", "MKNOTE", "UNKNOWN"},
	"TOPICS":    {"D"},
	"PLACES":    {"D"},
	"PEOPLE":    {"D"},
	"ORGS":      {"D"},
	"EXCHANGES": {"D"},
	"COMPANIES": {"D"},
	"TEXT":      {"TITLE", "AUTHOR", "DATELINE", "BODY"},
}

// reutersRepeat lists the elements that may stand several times in their parent.
var reutersRepeat = []string{"REUTERS", "D", "MKNOTE", "UNKNOWN"}

// reutersNeed lists the elements that each document must have.
var reutersNeed = []string{"DATE", "TOPICS", "TEXT"}

type reutersParser struct {
	name string
	dec  *xml.Decoder
	next int // NEWID to come; 0 allows any
	docs []ReutersDoc

	// Of the current document.
	doc      *ReutersDoc
	textType string
	loose    strings.Builder // text directly in TEXT
}

// fail returns an error about the line that the decoder has reached.
func (p *reutersParser) fail(field, value, want string) error {
	line, _ := p.dec.InputPos()
	return &LineError{p.name, line, field, value, want, nil}
}

func (p *reutersParser) file() ([]ReutersDoc, error) {
	if err := p.element("", nil); err != nil {
		return nil, err
	}
	return p.docs, nil
}

// element reads up to the end of the element, whose start tag has been read. Its
// own text goes to text, if not nil; else only blanks are allowed there.
func (p *reutersParser) element(element string, text *strings.Builder) error {
	var seen []string
	for {
		token, err := p.dec.Token()
		if err == io.EOF && element == "" {
			return nil
		}
		if err != nil {
			return p.syntaxError(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			child := t.Name.Local
			switch allowed := reutersElements[element]; {
			case t.Name.Space != "" || !slices.Contains(allowed, child):
				return p.fail("element", quoteShort(child)+" in "+inElement(element), "one of "+strings.Join(allowed, ", "))
			case slices.Contains(seen, child):
				return p.fail("element", child+" for the second time in "+inElement(element), "one")
			case !slices.Contains(reutersRepeat, child):
				seen = append(seen, child)
			}
			if err := p.child(element, t); err != nil {
				return err
			}
		case xml.EndElement:
			if element == "REUTERS" {
				for _, need := range reutersNeed {
					if !slices.Contains(seen, need) {
						return p.fail("element", "a REUTERS without "+need, "one "+need)
					}
				}
			}
			return nil
		case xml.CharData:
			switch {
			case text != nil:
				text.Write(t)
			case len(bytes.TrimSpace(t)) > 0:
				return p.fail("text", quoteShort(string(bytes.TrimSpace(t)))+" directly in "+inElement(element), "elements only")
			}
		}
		// Comments, the document type and processing instructions say nothing.
	}
}

// child reads the element that starts with the tag t.
func (p *reutersParser) child(parent string, t xml.StartElement) error {
	name := t.Name.Local
	var text strings.Builder
	switch {
	case name == "REUTERS":
		if err := p.begin(t.Attr); err != nil {
			return err
		}
		if err := p.element(name, nil); err != nil {
			return err
		}
		p.end()
		return nil
	case name == "TEXT":
		var err error
		if p.textType, err = p.attr(t.Attr, "TYPE", "NORM", "NORM", "BRIEF", "UNPROC"); err != nil {
			return err
		}
		return p.element(name, &p.loose)
	case name == "TOPICS":
		return p.element(name, nil)
	}
	if err := p.element(name, &text); err != nil {
		return err
	}
	switch {
	case name == "DATE":
		p.doc.Date = cleanText(text.String())
	case name == "TITLE":
		p.doc.Title = cleanText(text.String())
	case name == "BODY":
		p.doc.Body = cleanText(text.String())
	case name == "D" && parent == "TOPICS":
		topic := cleanText(text.String())
		if topic == "" {
			return p.fail("topic", "empty", "a name")
		}
		if !slices.Contains(p.doc.Topics, topic) { // two documents name a topic twice
			p.doc.Topics = append(p.doc.Topics, topic)
		}
	}
	return nil
}

// begin starts the document with these attributes.
func (p *reutersParser) begin(attrs []xml.Attr) error {
	d := ReutersDoc{}
	id, err := p.attr(attrs, "NEWID", "")
	if err != nil {
		return err
	}
	if d.NewID, err = strconv.Atoi(id); err != nil || d.NewID < 1 {
		return p.fail("NEWID", quoteShort(id), "a number from 1")
	}
	if p.next > 0 && d.NewID != p.next {
		return p.fail("NEWID", strconv.Itoa(d.NewID), fmt.Sprintf("%d: documents are numbered without a gap", p.next))
	}
	p.next = d.NewID + 1
	if d.LewisSplit, err = p.attr(attrs, "LEWISSPLIT", "", "TRAIN", "TEST", "NOT-USED"); err != nil {
		return err
	}
	if d.TopicsAttr, err = p.attr(attrs, "TOPICS", "", "YES", "NO", "BYPASS"); err != nil {
		return err
	}
	p.docs = append(p.docs, d)
	p.doc = &p.docs[len(p.docs)-1]
	p.textType = ""
	p.loose.Reset()
	return nil
}

// end completes the document, all of which has been read. In documents of the type BRIEF
// the text outside of the title is asterisks and "Blah blah blah.", which the editors of
// the collection put there. In ordinary ones it is empty, or a piece of a table that was
// cut off.
func (p *reutersParser) end() {
	if p.textType == "UNPROC" {
		p.doc.Body = cleanText(p.loose.String())
	}
}

// attr returns the attribute of that name, or missing if that is not "". It must
// be one of allowed, if there are any.
func (p *reutersParser) attr(attrs []xml.Attr, name, missing string, allowed ...string) (string, error) {
	named := func(a xml.Attr) bool { return a.Name.Space == "" && a.Name.Local == name }
	i := slices.IndexFunc(attrs, named)
	want := "a number"
	if len(allowed) > 0 {
		want = "one of " + strings.Join(allowed, ", ")
	}
	switch {
	case i < 0 && missing != "":
		return missing, nil
	case i < 0:
		return "", p.fail(name, "missing", want)
	case slices.ContainsFunc(attrs[i+1:], named):
		return "", p.fail(name, "there twice", "once")
	}
	value := attrs[i].Value
	if len(allowed) == 0 {
		return value, nil
	}
	// The constant is returned, not the value, which would keep the file in memory.
	if k := slices.Index(allowed, value); k >= 0 {
		return allowed[k], nil
	}
	return "", p.fail(name, quoteShort(value), want)
}

func (p *reutersParser) syntaxError(err error) error {
	line, _ := p.dec.InputPos()
	if syntax := (*xml.SyntaxError)(nil); errors.As(err, &syntax) {
		line, err = syntax.Line, errors.New(syntax.Msg)
	}
	return &LineError{p.name, line, "markup", "damaged", "tags and references that are complete", err}
}

// inElement names a parent in an error.
func inElement(element string) string {
	if element == "" {
		return "the file"
	}
	return element
}

// quoteShort quotes s, cut to a length that an error can carry.
func quoteShort(s string) string {
	const most = 40
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}
