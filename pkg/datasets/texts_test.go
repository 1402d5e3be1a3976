package datasets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

const smartSample = "\ufeff\r\n.I 1\r\n.T \r\nOn wings\r\n.A\r\nDoe, J.\r\n.A\r\nRoe\r\n.W  \r\n   On wings\r\nand tails ... .\r\n.5 is a number\r\n.X\r\n1\t5\t1\r\n" +
	".I 2\n.T\nTitle\n.W\nAbstract\n.W\nin two\n.A\nDoe\n" +
	".I 3\n.T\nEmpty\n.W\n \n" +
	".I 4\n.W\nNo title"

func TestReadSMART(t *testing.T) {
	docs, err := readSMART(strings.NewReader(smartSample), "f")
	want := []smartDoc{{"On wings", "On wings\nand tails ... .\n.5 is a number"}, {"Title", "Abstract\nin two"}, {"Empty", ""}, {"", "No title"}}
	if err == nil {
		docs[0].abstract = strings.TrimSpace(docs[0].abstract)
	}
	if err != nil || !slices.Equal(docs, want) {
		t.Errorf("got %q, %v, want %q", docs, err, want)
	}
	for d, want := range map[smartDoc]string{
		{"a b", "a  b\nc"}: "a  b\nc",
		{"a b", "a bc"}:    "a b\na bc",
		{"a b", "a"}:       "a b\na",
		{"", "x"}:          "x",
	} {
		if got := d.text(); got != want {
			t.Errorf("text of %q is %q, want %q", d, got, want)
		}
	}
}

func TestReadSMARTRefuses(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"nothing", "", "f:1: document: is none, want a line .I 1 first"},
		{"blank", "\n\n", "f:2: document: is none, want a line .I 1 first"},
		{"text first", "\nhello\n.I 1\n.W\nx\n", `f:2: text: is "hello", want a line .I 1 first`},
		{"field first", ".W\nx\n", "f:1: field: is .W before a document, want a line .I 1 first"},
		{"no number", ".I\n.W\nx\n", `f:1: .I: is "", want 1: documents are numbered from 1 without a gap`},
		{"word", ".I one\n", `f:1: .I: is "one", want 1: `},
		{"gap", ".I 1\n.W\nx\n.I 3\n.W\ny\n", `f:4: .I: is "3", want 2: `},
		{"twice", ".I 1\n.W\nx\n.I 1\n.W\ny\n", `f:4: .I: is "1", want 2: `},
		{"text between", ".I 1\nx\n", `f:2: text: is "x", want a field, such as .W`},
		{"unknown field", ".I 1\n.T\nx\n.Q\n", "f:4: field: is .Q, want one of .T .A .B .W .K .C .X"},
		{"no text", ".I 1\n.T\nx\n.I 2\n.W\ny\n", "f:4: document: is document 1 without .W, want a field .W"},
		{"no text at the end", ".I 1\n.W\nx\n.I 2\n", "f:4: document: is document 2 without .W, want a field .W"},
		{"NUL", ".I 1\n.W\nx\x00\n", "f:3: character: is byte 0x00, want 7-bit text"},
		{"UTF-8", ".I 1\n.W\r\nna\u00efve\n", "f:3: character: is byte 0xC3, want 7-bit text"},
		{"bad byte", ".I 1\n.W\n\xff\n", "f:3: character: is byte 0xFF, want 7-bit text"},
		{"returns alone", ".I 1\r.W\rx\r", "f:1: character: is byte 0x0D, want 7-bit text"},
		{"huge", ".I 1\n.W\n" + strings.Repeat("x", maxSMARTBytes), "f:3: size: is larger, want at most 16777216 bytes"},
	} {
		docs, err := readSMART(strings.NewReader(tc.file), "f")
		var le *LineError
		if docs != nil || !errors.As(err, &le) || !strings.HasPrefix(err.Error(), "datasets: "+tc.want) {
			t.Errorf("%s: got %d documents, %v; want %s", tc.name, len(docs), err, tc.want)
		}
	}
	broken := errors.New("broken")
	if docs, err := readSMART(iotest.ErrReader(broken), "f"); docs != nil || !errors.Is(err, broken) {
		t.Errorf("an error of the reader: %v, %v", docs, err)
	}
}

func FuzzReadSMART(f *testing.F) {
	// Short ones: making the whole sample smaller would take all the time.
	for _, seed := range []string{"", "\ufeff\r\n.I 1\r\n.T \r\na\r\n.W\r\na b\r\n", ".I 1\n.W\nx\n.I 2\n.W\n", ".I 1\n.W\n", ".I 1\n.T\n.W\nx\n.X\n1 2", "x", ".I 2", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file string) {
		docs, err := readSMART(strings.NewReader(file), "fuzz")
		if err != nil {
			var le *LineError
			if !errors.As(err, &le) || docs != nil || le.Line < 1 || le.Line > 1+strings.Count(file, "\n") {
				t.Fatalf("got %v, %v; want a LineError about a line of the file", docs, err)
			}
			return
		}
		var b strings.Builder
		for i, d := range docs {
			fmt.Fprintf(&b, ".I %d\n.T\n %s\n.W\n %s\n", i+1, d.title, d.abstract) // a blank, as a text may begin like a field
		}
		again, err := readSMART(strings.NewReader(b.String()), "again")
		if err != nil || !slices.Equal(again, docs) {
			t.Fatalf("%q becomes %q, %v once written and read", docs, again, err)
		}
	})
}

// madeClassic3 writes collections with the right numbers of documents into a store.
func madeClassic3(t *testing.T) *Store {
	t.Helper()
	s := Open(t.TempDir())
	for _, c := range classic3 {
		var b strings.Builder
		for i := range c.docs {
			fmt.Fprintf(&b, ".I %d\n.T\nTitle\n.W\n", i+1)
			if c.class != "CRAN" || i != 470 {
				fmt.Fprintf(&b, "text of %s\n", c.class)
			}
		}
		writeFile(t, s.Path(c.file), []byte(b.String()))
	}
	return s
}

func TestStoreClassic3(t *testing.T) {
	s := madeClassic3(t)
	file := s.Path("classic3/MED.ALL")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var missing *MissingError
	if _, err := s.Classic3(); !errors.As(err, &missing) || missing.Path != file || missing.Dataset != "classic3" {
		t.Fatalf("error is %v, want a MissingError for %s", err, file)
	}
	var line *LineError
	writeFile(t, file, append([]byte("noise\n"), good...))
	if _, err := s.Classic3(); !errors.As(err, &line) || line.File != file || line.Line != 1 {
		t.Fatalf("error is %v, want a LineError for line 1 of %s", err, file)
	}
	writeFile(t, file, append(slices.Clone(good), ".I 1034\n.W\nx\n"...))
	if _, err := s.Classic3(); err == nil || !strings.HasSuffix(err.Error(), "MED.ALL: has 1034 documents, want 1033") {
		t.Fatalf("error is %v, want one that counts", err)
	}
	writeFile(t, file, good) // a failure is not remembered
	var wg sync.WaitGroup
	var got [4]*Texts
	var errs [4]error
	for i := range got {
		wg.Go(func() { got[i], errs[i] = s.Classic3() })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	if got[0] != got[3] {
		t.Error("the files were read twice")
	}
	x := got[0]
	if n := 1460 + 1399 + 1033; x.N() != n || !slices.Equal(x.Dropped, []string{"CRAN 471"}) || !slices.Equal(x.Counts(), []int{1460, 1399, 1033}) ||
		!slices.Equal(x.Labels([]int{n - 1, 0, 1460}), []int{2, 0, 1}) || x.Docs[1460+470].ID != "CRAN 472" || x.Docs[n-1] != (Document{"MED 1033", "Title\ntext of MED"}) {
		t.Errorf("%d documents %v, dropped %q", x.N(), x.Counts(), x.Dropped)
	}
}

func TestReadNewsgroups(t *testing.T) {
	train, test := newsgroupsParts[0], newsgroupsParts[1]
	file := tarred(t, 9,
		train+"/", "", train+"/sci.med/", "",
		"./"+train+"/sci.med/20", "From: a\nSubject: Re: caf\xe9 \nOrganization: b\n\nBody\n\nmore",
		train+"/sci.med/3", "all header",
		train+"/alt.atheism/5", "From: c\n\nNo subject\n",
		test+"/sci.med/4", "\nSubject: x\n\nno header",
	)
	parts, err := readNewsgroups(bytes.NewReader(file), "f")
	if err != nil {
		t.Fatal(err)
	}
	for h, want := range map[PostHeaders][]Document{
		PostHeadersKeep: {{"alt.atheism/5", "From: c\n\nNo subject\n"}, {"sci.med/3", "all header"},
			{"sci.med/20", "From: a\nSubject: Re: café \nOrganization: b\n\nBody\n\nmore"}},
		PostHeadersSubject: {{"alt.atheism/5", "No subject\n"}, {"sci.med/3", ""}, {"sci.med/20", "Re: café\nBody\n\nmore"}},
		PostHeadersDrop:    {{"alt.atheism/5", "No subject\n"}, {"sci.med/3", ""}, {"sci.med/20", "Body\n\nmore"}},
	} {
		got := parts[0].withHeaders(h)
		if !slices.Equal(got.Docs, want) || !slices.Equal(got.Y, []int{0, 13, 13}) || got.Classes[13] != "sci.med" || got.Name != train {
			t.Errorf("%v: got %+v, want %q", h, got, want)
		}
	}
	if got := parts[1]; got.N() != 1 || got.Docs[0].ID != "sci.med/4" {
		t.Errorf("test posts are %+v", got)
	}
}

func TestReadNewsgroupsRefuses(t *testing.T) {
	const good = "20news-bydate-train/sci.med/1"
	link := func(kind byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		if err := errors.Join(w.WriteHeader(&tar.Header{Name: good, Linkname: "/etc/passwd", Typeflag: kind}), w.Close(), z.Close()); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, tc := range []struct {
		name string
		file []byte
		want string
	}{
		{"no archive", htmlPage, "f: gzip: invalid header"},
		{"cut", tarred(t, 9, good, strings.Repeat("x\n", 9999))[:90], "unexpected EOF"},
		{"path outside", tarred(t, 9, "../20news-bydate-train/sci.med/1", "x"), "f: ../20news-bydate-train/sci.med/1: is not allowed, want 20news-bydate-train or 20news-bydate-test, "},
		{"path through outside", tarred(t, 9, "20news-bydate-train/../../sci.med/1", "x"), "f: ../sci.med/1: is not allowed"},
		{"absolute", tarred(t, 9, "/20news-bydate-train/sci.med/1", "x"), "f: /20news-bydate-train/sci.med/1: is not allowed"},
		{"other part", tarred(t, 9, "20news-bydate/sci.med/1", "x"), "is not allowed"},
		{"other group", tarred(t, 9, "20news-bydate-test/sci.maths/1", "x"), "one of the 20 groups and a number"},
		{"no number", tarred(t, 9, "20news-bydate-test/sci.med/README", "x"), "is not allowed"},
		{"padded number", tarred(t, 9, "20news-bydate-test/sci.med/01", "x"), "is not allowed"},
		{"huge number", tarred(t, 9, "20news-bydate-test/sci.med/2147483648", "x"), "is not allowed"},
		{"twice", tarred(t, 9, good, "x", "./"+good, "x"), `member "` + good + `" stands twice`},
		{"huge post", tarred(t, 9, good, strings.Repeat("x", maxPostBytes+1)), good + ": has more than 1048576 bytes"},
		{"link", link(tar.TypeSymlink), "has the type '2', want files and folders only"},
		{"hard link", link(tar.TypeLink), "has the type '1', want files and folders only"},
		{"bomb behind", gzipped(behindTar(t, []string{good, "x"}, make([]byte, newsgroupsBytes+(newsgroupsTrain+newsgroupsTest+2)<<12+2<<20))), "unpacks to much more than"},
	} {
		parts, err := readNewsgroups(bytes.NewReader(tc.file), "f")
		if err == nil || parts[0].N() != 0 || !strings.HasPrefix(err.Error(), "datasets: f: ") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %d posts, %v; want an error with %s", tc.name, parts[0].N(), err, tc.want)
		}
	}
}

// A head that promises more bytes than all posts may have is refused before they are read.
func TestReadNewsgroupsHugeMember(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	if err := errors.Join(w.WriteHeader(&tar.Header{Name: "20news-bydate-train/sci.med/1", Size: 1 << 40, Typeflag: tar.TypeReg}), z.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := readNewsgroups(&b, "f"); err == nil || !strings.Contains(err.Error(), "its members have more than 67108864 bytes") {
		t.Errorf("error is %v", err)
	}
}

func TestStoreNewsgroups20(t *testing.T) {
	s := Open(t.TempDir())
	file := s.Path(newsgroupsFile)
	var missing *MissingError
	if _, _, err := s.Newsgroups20(PostHeadersKeep); !errors.As(err, &missing) || missing.Path != file || missing.Dataset != "20news" {
		t.Fatalf("error is %v, want a MissingError for %s", err, file)
	}
	var entries []string
	for k, n := range []int{newsgroupsTrain, newsgroupsTest} {
		for i := range n {
			entries = append(entries, fmt.Sprintf("%s/%s/%d", newsgroupsParts[k], newsgroups[i%20], i), "From: me\n\nbody")
		}
	}
	writeFile(t, file, tarred(t, 1, entries[2:]...))
	if _, _, err := s.Newsgroups20(PostHeadersKeep); err == nil || !strings.HasSuffix(err.Error(), "has 11313 training and 7532 test posts, want 11314 and 7532") {
		t.Fatalf("error is %v, want one that counts", err)
	}
	writeFile(t, file, tarred(t, 1, entries...)) // a failure is not remembered
	var wg sync.WaitGroup
	for h := PostHeadersKeep; h <= PostHeadersDrop; h++ {
		wg.Go(func() {
			train, test, err := s.Newsgroups20(h)
			if err != nil || train.N() != newsgroupsTrain || test.N() != newsgroupsTest || strings.Contains(test.Docs[0].Text, "From") != (h == PostHeadersKeep) {
				t.Errorf("%v: %v", h, err)
			}
		})
	}
	wg.Wait()
	defer func() {
		if recover() == nil {
			t.Error("an unknown choice of headers does not panic")
		}
	}()
	_, _, _ = s.Newsgroups20(9)
}
