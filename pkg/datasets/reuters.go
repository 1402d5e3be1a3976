package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
)

const (
	// reutersFiles is the number of SGML files of the collection.
	reutersFiles = 22
	// reutersDocs is the number of documents of the collection.
	reutersDocs = 21578
)

// Reuters is the collection Reuters-21578, Distribution 1.0 (Lewis 1997): news
// of 1987 in the order in which they were sent, each with the topics that an
// indexer gave it. A Reuters is not changed by its methods, which are safe for
// concurrent use.
type Reuters struct {
	Docs []ReutersDoc // Docs[i] has NewID i+1
}

// ReutersDoc is one news item.
type ReutersDoc struct {
	NewID      int    // 1, 2, ...: chronological
	Date       string // as printed: "26-FEB-1987 15:01:01.79", sometimes with noise behind
	LewisSplit string // "TRAIN", "TEST" or "NOT-USED"
	// TopicsAttr is "YES", "NO" or "BYPASS": whether the document had topics
	// before the collection was corrected. It defines the ModApte split and says
	// nothing about Topics: 2117 documents with YES have no topic, and some with
	// NO have one.
	TopicsAttr string
	Topics     []string // distinct, in the order of the file; may be empty
	// Title is "" in documents whose TEXT has the type UNPROC.
	Title string
	// Body is "" in documents of the type BRIEF, which are a title only, and all
	// of the text in documents of the type UNPROC, which the collection does not
	// divide. Lines stand as they were sent; most bodies end with the line
	// "Reuter".
	Body string
}

// Text returns the title and the body, on lines of their own.
func (d *ReutersDoc) Text() string { return d.Title + "\n" + d.Body }

// All returns the indices 0..len(Docs)−1.
func (r *Reuters) All() []int {
	out := make([]int, len(r.Docs))
	for i := range out {
		out[i] = i
	}
	return out
}

// ModApte returns the indices of the documents of the modified Apte split,
// ascending: those with TopicsAttr "YES" and LewisSplit "TRAIN" (9603, until 7
// April 1987) and "TEST" (3299, after it); Section VIII.B of the collection's
// README. Documents without topics belong to it.
func (r *Reuters) ModApte() (train, test []int) {
	for i := range r.Docs {
		switch d := &r.Docs[i]; {
		case d.TopicsAttr != "YES":
		case d.LewisSplit == "TRAIN":
			train = append(train, i)
		case d.LewisSplit == "TEST":
			test = append(test, i)
		}
	}
	return train, test
}

// Relevant returns, for each of the documents idx, whether it has the topic. It
// panics if an index is out of range.
func (r *Reuters) Relevant(idx []int, topic string) []bool {
	out := make([]bool, len(idx))
	for k, i := range idx {
		out[k] = slices.Contains(r.Docs[i].Topics, topic)
	}
	return out
}

// TopicCount says how many of some documents have a topic.
type TopicCount struct {
	Topic                string
	Relevant, Irrelevant int // documents with the topic, and without it
}

// Ratio returns Relevant/Irrelevant; +Inf if every document has the topic.
func (c TopicCount) Ratio() float64 { return float64(c.Relevant) / float64(c.Irrelevant) }

// TopicCounts returns the topics of the documents idx, the most frequent first
// and equally frequent ones in alphabetical order. It panics if an index is out
// of range.
func (r *Reuters) TopicCounts(idx []int) []TopicCount {
	n := map[string]int{}
	for _, i := range idx {
		for _, t := range r.Docs[i].Topics {
			n[t]++
		}
	}
	out := make([]TopicCount, 0, len(n))
	for t, relevant := range n {
		out = append(out, TopicCount{Topic: t, Relevant: relevant, Irrelevant: len(idx) - relevant})
	}
	slices.SortFunc(out, func(a, b TopicCount) int {
		return cmp.Or(cmp.Compare(b.Relevant, a.Relevant), cmp.Compare(a.Topic, b.Topic))
	})
	return out
}

// TopicsByRatio returns those of TopicCounts whose Ratio lies in [lo, hi]. With
// 0.01 and 0.1 this is the rule of Shalev-Shwartz, Singer and Ng, Online and
// Batch Learning of Pseudo-Metrics, ICML 2004, Section 7. It panics unless
// 0 ≤ lo ≤ hi, and if an index is out of range.
func (r *Reuters) TopicsByRatio(idx []int, lo, hi float64) []TopicCount {
	if !(0 <= lo && lo <= hi) {
		panic(fmt.Sprintf("datasets: TopicsByRatio with bounds %v and %v", lo, hi))
	}
	return slices.DeleteFunc(r.TopicCounts(idx), func(c TopicCount) bool { return c.Ratio() < lo || c.Ratio() > hi })
}

// Reuters21578 returns the 21578 documents, which all callers share and must not
// change. The first call that succeeds reads the files, while other callers
// wait; a failure is not remembered, so that a caller may Get and try again.
// The error is a *MissingError if a file is missing, a *LineError if one is
// damaged or a number between 1 and 21578 is skipped, and names the last file if
// the collection does not end with 21578.
func (s *Store) Reuters21578() (*Reuters, error) {
	s.reutersMu.Lock()
	defer s.reutersMu.Unlock()
	if s.reuters == nil {
		docs, err := s.loadReuters()
		if err != nil {
			return nil, err
		}
		s.reuters = docs
	}
	return s.reuters, nil
}

func (s *Store) loadReuters() (*Reuters, error) {
	var files [reutersFiles]string
	for k := range files {
		files[k] = s.Path(fmt.Sprintf("reuters21578/reut2-%03d.sgm", k))
		if _, err := os.Stat(files[k]); errors.Is(err, fs.ErrNotExist) {
			return nil, &MissingError{Dataset: "reuters21578", Path: files[k]}
		}
	}
	out := &Reuters{Docs: make([]ReutersDoc, 0, reutersDocs)}
	for _, file := range files {
		docs, err := loadReutersFile(file, len(out.Docs)+1)
		if err != nil {
			return nil, err
		}
		out.Docs = append(out.Docs, docs...)
	}
	if n := len(out.Docs); n != reutersDocs {
		return nil, fmt.Errorf("datasets: %s: NEWID: last is %d, want %d", files[reutersFiles-1], n, reutersDocs)
	}
	return out, nil
}

func loadReutersFile(path string, first int) ([]ReutersDoc, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	return readReuters(f, path, first)
}

// cleanText returns s without blanks at its ends, in memory of its own.
func cleanText(s string) string { return strings.Clone(strings.TrimSpace(s)) }
