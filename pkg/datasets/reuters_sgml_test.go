package datasets

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// reutersHead is how each file of the collection starts.
const reutersHead = "<!DOCTYPE lewis SYSTEM \"lewis.dtd\">\n"

// reutersSample has a document of each kind, with all the oddities of the
// collection.
const reutersSample = reutersHead + `<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" OLDID="5544" NEWID="7">
<DATE>26-FEB-1987 15:01:01.79</DATE>
<MKNOTE>Moved by SPF</MKNOTE>
<TOPICS><D>grain</D><D>wheat</D><D>grain</D></TOPICS>
<PLACES><D>usa</D></PLACES>
<PEOPLE></PEOPLE>
<ORGS></ORGS>
<EXCHANGES></EXCHANGES>
<COMPANIES></COMPANIES>
<UNKNOWN>
&#5;&#5;&#5;C T
&#22;&#22;&#1;f0704&#31;reute</UNKNOWN>
<TEXT>&#2;
<TITLE>WHEAT &lt;USDA> &amp; CORN</TITLE>
<AUTHOR>    By A. Writer, Reuters</AUTHOR>
<DATELINE>    WASHINGTON, Feb 26 - </DATELINE><BODY>Growth.` + "\xfc" + `&#5;&#30;side measures
    at 5 &lt; 6.&#127;
 Reuter
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" CSECS="1" OLDID="5545" NEWID="8">
<DATE> 2-JUN-1987 09:14:36.57</DATE>
<TOPICS></TOPICS>
<TEXT TYPE="BRIEF">&#2;
******<TITLE>FED SETS REPURCHASES
</TITLE>Blah blah blah.
&#3;

</TEXT>
</REUTERS>
<REUTERS TOPICS="BYPASS" LEWISSPLIT="NOT-USED" CGISPLIT="PUBLISHED-TESTSET" OLDID="5546" NEWID="9">
<DATE>3-JUN-1987</DATE>
<TOPICS><D>money-supply</D></TOPICS>
<UNKNOWN></UNKNOWN>
<UNKNOWN></UNKNOWN>
<TEXT TYPE="UNPROC">&#2;
 M-1.....736.7&#9;up&#10; &#13;
 Reuter
&#3;
</TEXT>
</REUTERS>
`

var reutersSampleDocs = []ReutersDoc{
	{NewID: 7, Date: "26-FEB-1987 15:01:01.79", LewisSplit: "TRAIN", TopicsAttr: "YES", Topics: []string{"grain", "wheat"},
		Title: "WHEAT <USDA> & CORN", Body: "Growth.          side measures\n    at 5 < 6.      \n Reuter"},
	{NewID: 8, Date: "2-JUN-1987 09:14:36.57", LewisSplit: "TEST", TopicsAttr: "YES", Title: "FED SETS REPURCHASES"},
	{NewID: 9, Date: "3-JUN-1987", LewisSplit: "NOT-USED", TopicsAttr: "BYPASS", Topics: []string{"money-supply"},
		Body: "M-1.....736.7\tup\n \r\n Reuter"},
}

func TestReadReuters(t *testing.T) {
	docs, err := readReuters(strings.NewReader(reutersSample), "sample.sgm", 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != len(reutersSampleDocs) {
		t.Fatalf("%d documents, want %d", len(docs), len(reutersSampleDocs))
	}
	for i, want := range reutersSampleDocs {
		if !reflect.DeepEqual(docs[i], want) {
			t.Errorf("document %d is\n%#v, want\n%#v", i, docs[i], want)
		}
	}
	if docs, err := readReuters(strings.NewReader(reutersHead), "empty.sgm", 0); err != nil || len(docs) != 0 {
		t.Errorf("a file without documents: %v, %v", docs, err)
	}
}

func TestReadReutersRefuses(t *testing.T) {
	// Line 1 is the head; a made document takes one line.
	const good = `<REUTERS TOPICS="NO" LEWISSPLIT="TRAIN" NEWID="4"><DATE>d</DATE><TOPICS></TOPICS><TEXT>&#2;</TEXT></REUTERS>` + "\n"
	swap := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	for _, tc := range []struct{ name, file, want string }{
		{"cut in a document", good[:70], ":2: markup: is damaged, want tags and references that are complete: unexpected EOF"},
		{"cut in a tag", good[:30], ":2: markup: is damaged"},
		{"wrong end", swap("</DATE>", "</DATUM>"), ":2: markup: is damaged"},
		{"entity", swap("&#2;", "&euro;"), ":2: markup: is damaged"},
		{"entity in line 3", swap("&#2;", "\n&euro;"), ":3: markup: is damaged"},
		{"bare ampersand", swap("&#2;", "R&D"), ":2: markup: is damaged"},
		{"cut reference", swap("&#2;", "&#2"), ":2: markup: is damaged"},
		{"hexadecimal control", swap("&#2;", "&#x2;"), ":2: markup: is damaged"},
		{"raw control", swap("&#2;", "\x02"), ":2: markup: is damaged"},
		{"unquoted attribute", swap(`"4"`, "4"), ":2: markup: is damaged"},
		{"another encoding", "<?xml version=\"1.0\" encoding=\"latin1\"?>", ":2: markup: is damaged"},
		{"byte", good + swap("&#2;", "caf\xe9"), ":3: character: is byte 0xE9, want 7-bit text"},
		{"unknown element", swap("<DATE>d</DATE>", "<DATUM>d</DATUM>"), `:2: element: is "DATUM" in REUTERS, want one of DATE, TOPICS,`},
		{"element in an element", swap("d</DATE>", "<D>d</D></DATE>"), `:2: element: is "D" in DATE, want one of`},
		{"name space", swap("<DATE>d</DATE>", "<x:DATE>d</x:DATE>"), `:2: element: is "DATE" in REUTERS`},
		{"another root", "<html></html>", `:2: element: is "html" in the file, want one of REUTERS`},
		{"two dates", swap("<DATE>d</DATE>", "<DATE>d</DATE>\n<DATE>d</DATE>"), ":3: element: is DATE for the second time in REUTERS, want one"},
		{"no date", swap("<DATE>d</DATE>", ""), ":2: element: is a REUTERS without DATE, want one DATE"},
		{"no topics", swap("<TOPICS></TOPICS>", ""), "a REUTERS without TOPICS"},
		{"no text", swap("<TEXT>&#2;</TEXT>", ""), "a REUTERS without TEXT"},
		{"stray text", good + "stray", `:3: text: is "stray" directly in the file, want elements only`},
		{"text among topics", swap("<TOPICS>", "<TOPICS>grain"), `:2: text: is "grain" directly in TOPICS`},
		{"long text", good + strings.Repeat("x", 100), `"` + strings.Repeat("x", 40) + `"... directly`},
		{"empty topic", swap("<TOPICS>", "<TOPICS><D> </D>"), ":2: topic: is empty, want a name"},
		{"no NEWID", swap(`NEWID="4"`, ""), ":2: NEWID: is missing, want a number"},
		{"NEWID twice", swap(`NEWID="4"`, `NEWID="4" NEWID="5"`), ":2: NEWID: is there twice, want once"},
		{"NEWID zero", swap(`"4"`, `"0"`), `:2: NEWID: is "0", want a number from 1`},
		{"NEWID huge", swap(`"4"`, `"99999999999999999999"`), ":2: NEWID: is"},
		{"NEWID words", swap(`"4"`, `"four"`), `:2: NEWID: is "four"`},
		{"gap", good + swap(`"4"`, `"6"`), ":3: NEWID: is 6, want 5"},
		{"repeated", good + good, ":3: NEWID: is 4, want 5"},
		{"split", swap("TRAIN", "TRAINING"), `:2: LEWISSPLIT: is "TRAINING", want one of TRAIN, TEST, NOT-USED`},
		{"topics attribute", swap(`"NO"`, `"PERHAPS"`), `:2: TOPICS: is "PERHAPS", want one of YES, NO, BYPASS`},
		{"no topics attribute", swap(`TOPICS="NO"`, ""), ":2: TOPICS: is missing"},
		{"type", swap("<TEXT>", `<TEXT TYPE="SHORT">`), `:2: TYPE: is "SHORT", want one of NORM, BRIEF, UNPROC`},
	} {
		docs, err := readReuters(strings.NewReader(reutersHead+tc.file), "dir/x.sgm", 0)
		var le *LineError
		if !errors.As(err, &le) || docs != nil {
			t.Errorf("%s: got %v, %v; want a LineError", tc.name, docs, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "datasets: dir/x.sgm:") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %q does not name the file and %q", tc.name, err, tc.want)
		}
	}
	if _, err := readReuters(strings.NewReader(reutersHead+good), "good.sgm", 0); err != nil {
		t.Errorf("the document that the cases change is refused itself: %v", err)
	}
}

func TestReadReutersBounds(t *testing.T) {
	blanks := func(n int64) io.Reader { return io.LimitReader(endless{}, n) }
	if _, err := readReuters(blanks(maxReutersBytes), "x", 0); err != nil {
		t.Errorf("a file of maxReutersBytes is refused: %v", err)
	}
	var le *LineError
	if _, err := readReuters(blanks(1<<40), "x", 0); !errors.As(err, &le) || le.Field != "size" {
		t.Errorf("an endless file: error is %v, want a LineError about its size", err)
	}
	if _, err := readReuters(iotest.ErrReader(io.ErrNoProgress), "x", 0); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error is %v, want the reader's", err)
	}
}

// endless yields blanks.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// writeReuters writes documents as SGML that readReuters reads.
func writeReuters(docs []ReutersDoc) string {
	escape := strings.NewReplacer("<", "&lt;", "&", "&amp;", ">", "&gt;", "\r", "&#13;")
	var b strings.Builder
	b.WriteString(reutersHead)
	for _, d := range docs {
		fmt.Fprintf(&b, "<REUTERS TOPICS=%q LEWISSPLIT=%q NEWID=\"%d\">\n<DATE>%s</DATE>\n<TOPICS>", d.TopicsAttr, d.LewisSplit, d.NewID, escape.Replace(d.Date))
		for _, t := range d.Topics {
			fmt.Fprintf(&b, "<D>%s</D>", escape.Replace(t))
		}
		fmt.Fprintf(&b, "</TOPICS>\n<TEXT>&#2;\n<TITLE>%s</TITLE><BODY>%s\n&#3;</BODY></TEXT>\n</REUTERS>\n", escape.Replace(d.Title), escape.Replace(d.Body))
	}
	return b.String()
}

func FuzzReadReuters(f *testing.F) {
	// A document per seed: making the whole sample smaller would take all the time.
	for i, doc := range strings.SplitAfter(strings.TrimPrefix(reutersSample, reutersHead), "</REUTERS>\n") {
		f.Add(reutersHead + doc)
		if i < len(reutersSampleDocs) {
			f.Add(writeReuters(reutersSampleDocs[i : i+1]))
		}
	}
	f.Add("")
	f.Add("<REUTERS")
	f.Add("&#&#5;&#5&#0005;&#127;\xfc")
	f.Fuzz(func(t *testing.T, file string) {
		docs, err := readReuters(strings.NewReader(file), "fuzz", 0)
		if err != nil {
			var le *LineError
			if !errors.As(err, &le) || docs != nil || le.Line < 1 || le.Line > 1+strings.Count(file, "\n") {
				t.Fatalf("got %v, %v; want a LineError about a line of the file", docs, err)
			}
			return
		}
		for i, d := range docs {
			if d.NewID != docs[0].NewID+i || d.LewisSplit == "" || d.TopicsAttr == "" {
				t.Fatalf("document %d is %+v", i, d)
			}
		}
		again, err := readReuters(strings.NewReader(writeReuters(docs)), "again", 0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again, docs) {
			t.Fatalf("what was read is written and read as\n%#v, want\n%#v", again, docs)
		}
	})
}
