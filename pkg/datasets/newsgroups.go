package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/enum"
	"metriclab/pkg/limits"
)

const (
	newsgroupsFile = "20news/20news-bydate-repacked.tar.gz"
	// The posts of the two parts, and the most bytes that all may have: those of the
	// collection are 35,854,868.
	newsgroupsTrain = 11314
	newsgroupsTest  = 7532
	newsgroupsBytes = 64 << 20
	// maxPostBytes is the most that one post may have: six times the largest.
	maxPostBytes = 1 << 20
)

// newsgroups are the classes of 20 Newsgroups, ascending.
var newsgroups = []string{
	"alt.atheism", "comp.graphics", "comp.os.ms-windows.misc", "comp.sys.ibm.pc.hardware", "comp.sys.mac.hardware",
	"comp.windows.x", "misc.forsale", "rec.autos", "rec.motorcycles", "rec.sport.baseball", "rec.sport.hockey", "sci.crypt",
	"sci.electronics", "sci.med", "sci.space", "soc.religion.christian", "talk.politics.guns", "talk.politics.mideast",
	"talk.politics.misc", "talk.religion.misc",
}

// PostHeaders says which part of a post's header belongs to its text. The header is all above
// the first empty line; in the "bydate" version it has no line with the newsgroup's name, but
// From, Subject and Organization tell much about it. The zero value is PostHeadersKeep.
type PostHeaders int

const (
	// PostHeadersKeep takes the post as it is: nothing is dropped.
	PostHeadersKeep PostHeaders = iota
	// PostHeadersSubject takes the words of the Subject, without "Subject:", and the body.
	PostHeadersSubject
	// PostHeadersDrop takes the body alone. Quotations and signatures in it stay.
	PostHeadersDrop
)

var postHeadersNames = enum.Of[PostHeaders]("PostHeaders(%d)", "keep", "subject", "drop")

// String returns "keep", "subject" or "drop".
func (h PostHeaders) String() string { return postHeadersNames.Text(h) }

// text returns the part of a post that belongs to its text. A post without an empty line is all
// header.
func (h PostHeaders) text(post string) string {
	if h == PostHeadersKeep {
		return post
	}
	header, body, _ := strings.Cut(post, "\n\n")
	if h == PostHeadersDrop {
		return body
	}
	for line := range strings.SplitSeq(header, "\n") {
		if subject, ok := strings.CutPrefix(line, "Subject:"); ok {
			return strings.TrimSpace(subject) + "\n" + body
		}
	}
	return body
}

// Newsgroups20 returns the 11314 training and 7532 test posts of 20 Newsgroups (Lang 1995),
// version "bydate": the test posts are later than the training posts of their group. Posts are
// decoded as Latin-1 and come by group, then by number. Where headers drops all that a post
// says, its text is empty; no post is left out. Callers share the posts and must not change
// them. The first call that succeeds reads the file, while other callers wait; a failure is not
// remembered. The error is a *MissingError if the file is missing, and names the member of the
// archive that is not as it should be. It panics if headers is not one of the PostHeaders
// constants.
func (s *Store) Newsgroups20(headers PostHeaders) (train, test *Texts, err error) {
	if headers < PostHeadersKeep || headers > PostHeadersDrop {
		panic(fmt.Sprintf("datasets: Newsgroups20: %v is not a choice of headers", headers))
	}
	s.newsMu.Lock()
	defer s.newsMu.Unlock()
	if s.news == nil {
		news, err := s.loadNewsgroups()
		if err != nil {
			return nil, nil, err
		}
		s.news = &news
	}
	return s.news[0].withHeaders(headers), s.news[1].withHeaders(headers), nil
}

// withHeaders returns the same posts, of which headers is the text.
func (t *Texts) withHeaders(headers PostHeaders) *Texts {
	out := *t
	out.Docs = make([]Document, len(t.Docs))
	for i, d := range t.Docs {
		out.Docs[i] = Document{d.ID, headers.text(d.Text)}
	}
	return &out
}

func (s *Store) loadNewsgroups() (parts [2]Texts, err error) {
	file := s.Path(newsgroupsFile)
	f, err := limits.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return parts, &MissingError{Dataset: "20news", Path: file}
	}
	if err != nil {
		return parts, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	if parts, err = readNewsgroups(f, file); err != nil {
		return parts, err
	}
	if train, test := parts[0].N(), parts[1].N(); train != newsgroupsTrain || test != newsgroupsTest {
		return parts, fmt.Errorf("datasets: %s: has %d training and %d test posts, want %d and %d", file, train, test, newsgroupsTrain, newsgroupsTest)
	}
	return parts, nil
}

// newsgroupsParts are the folders of the archive.
var newsgroupsParts = []string{"20news-bydate-train", "20news-bydate-test"}

// readNewsgroups reads the archive of 20 Newsgroups, in which each post is a file
// 20news-bydate-train/<group>/<number> or 20news-bydate-test/<group>/<number>. Folders do not
// matter; any other member is an error, and so are posts of more than maxPostBytes and what
// eachPost refuses.
func readNewsgroups(r io.Reader, name string) (parts [2]Texts, err error) {
	type post struct {
		group, number int
		text          string
	}
	var posts [2][]post
	if err := limits.Check("the posts of "+name, 2*newsgroupsBytes); err != nil { // as bytes and as text
		return parts, fmt.Errorf("datasets: %w", err)
	}
	_, err = eachPost(r, name, newsgroupsTrain+newsgroupsTest, newsgroupsBytes, func(r io.Reader, member string) error {
		words := strings.Split(member, "/")
		if len(words) != 3 {
			return fmt.Errorf("is not allowed, want %s or %s, a group and a number", newsgroupsParts[0], newsgroupsParts[1])
		}
		part := slices.Index(newsgroupsParts, words[0])
		group, known := slices.BinarySearch(newsgroups, words[1])
		number, err := strconv.ParseUint(words[2], 10, 31)
		if part < 0 || !known || err != nil || words[2] != strconv.FormatUint(number, 10) {
			return fmt.Errorf("is not allowed, want %s or %s, one of the %d groups and a number", newsgroupsParts[0], newsgroupsParts[1], len(newsgroups))
		}
		data, err := io.ReadAll(io.LimitReader(r, maxPostBytes+1))
		switch {
		case err != nil:
			return err
		case len(data) > maxPostBytes:
			return fmt.Errorf("has more than %d bytes", maxPostBytes)
		}
		posts[part] = append(posts[part], post{group, int(number), latin1(data)})
		return nil
	})
	if err != nil {
		return parts, err
	}
	for k := range parts {
		slices.SortFunc(posts[k], func(a, b post) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.number, b.number)) })
		parts[k] = Texts{Name: newsgroupsParts[k], Classes: newsgroups}
		for _, p := range posts[k] {
			parts[k].Docs = append(parts[k].Docs, Document{newsgroups[p.group] + "/" + strconv.Itoa(p.number), p.text})
			parts[k].Y = append(parts[k].Y, p.group)
		}
	}
	return parts, nil
}

// latin1 decodes ISO 8859-1.
func latin1(data []byte) string {
	var b strings.Builder
	b.Grow(len(data))
	for _, c := range data {
		b.WriteRune(rune(c))
	}
	return b.String()
}
