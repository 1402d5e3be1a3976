package datasets_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
)

// TestRealReuters compares the collection with what its README and the literature
// say about it.
func TestRealReuters(t *testing.T) {
	store := realdata.Store(t, "reuters21578")
	r, err := store.Reuters21578()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Docs) != 21578 {
		t.Fatalf("%d documents, want 21578", len(r.Docs))
	}
	for i, d := range r.Docs {
		if d.NewID != i+1 {
			t.Fatalf("document %d has NEWID %d", i, d.NewID)
		}
		if strings.Contains(strings.ToLower(d.Text()), "blah blah") {
			t.Errorf("NEWID %d holds filler: %q", d.NewID, d.Text())
		}
		// One document has no text at all.
		if strings.TrimSpace(d.Text()) == "" && d.NewID != 12793 {
			t.Errorf("NEWID %d has no text", d.NewID)
		}
	}
	if d := r.Docs[0]; d.Title != "BAHIA COCOA REVIEW" || !slices.Equal(d.Topics, []string{"cocoa"}) || d.Date != "26-FEB-1987 15:01:01.79" ||
		!strings.HasPrefix(d.Body, "Showers continued throughout the week in\nthe Bahia cocoa zone") || !strings.HasSuffix(d.Body, "\n Reuter") {
		t.Errorf("document 1 is %+v", d)
	}
	// The byte 0xFC and two control characters are blanks; in a document of the type
	// UNPROC all text is the body.
	if d := r.Docs[17979]; !strings.Contains(d.Body, "world economic growth.          side measures") {
		t.Errorf("NEWID 17980 is %q", d.Body)
	}
	if d := r.Docs[98]; d.Title != "" || !strings.HasPrefix(d.Body, "FEDERAL RESERVE") {
		t.Errorf("NEWID 99 is %+v", d)
	}

	train, test := r.ModApte()
	if len(train) != 9603 || len(test) != 3299 {
		t.Errorf("ModApte has %d and %d documents, want 9603 and 3299", len(train), len(test))
	}
	// Per topic: all documents, and the training and test parts of ModApte.
	for _, tc := range []struct {
		topic            string
		all, train, test int
	}{
		{"earn", 3987, 2877, 1087}, {"acq", 2448, 1650, 719}, {"money-fx", 801, 538, 179}, {"crude", 634, 389, 189}, {"grain", 628, 433, 149},
		{"trade", 551, 369, 117}, {"interest", 513, 347, 131}, {"wheat", 306, 212, 71}, {"ship", 305, 197, 89}, {"corn", 253, 181, 56},
	} {
		for part, want := range map[string]struct {
			idx []int
			n   int
		}{"all": {r.All(), tc.all}, "train": {train, tc.train}, "test": {test, tc.test}} {
			n := 0
			for _, yes := range r.Relevant(want.idx, tc.topic) {
				if yes {
					n++
				}
			}
			if n != want.n {
				t.Errorf("%s: %d documents of %s, want %d", tc.topic, n, part, want.n)
			}
		}
	}

	// Section VII of the README: 120 of the 135 topics occur, 57 at least 20 times.
	list, err := os.ReadFile(store.Path("reuters21578/all-topics-strings.lc.txt"))
	if err != nil {
		t.Fatal(err)
	}
	legal := strings.Fields(string(list))
	counts, frequent := r.TopicCounts(r.All()), 0
	for _, c := range counts {
		if !slices.Contains(legal, c.Topic) {
			t.Errorf("topic %q is not one of the %d legal ones", c.Topic, len(legal))
		}
		if c.Relevant >= 20 {
			frequent++
		}
	}
	if len(legal) != 135 || len(counts) != 120 || frequent != 57 {
		t.Errorf("%d of %d topics occur, %d of them 20 times; want 120 of 135, 57", len(counts), len(legal), frequent)
	}
}

// TestRealReutersTopicsByRatio pins how many topics the rule of pola2004 gives for
// the readings of "all documents": the paper has 13 over "about 10,000".
func TestRealReutersTopicsByRatio(t *testing.T) {
	r, err := realdata.Store(t, "reuters21578").Reuters21578()
	if err != nil {
		t.Fatal(err)
	}
	train, test := r.ModApte()
	split := slices.Sorted(slices.Values(append(slices.Clone(train), test...)))
	withTopic := slices.DeleteFunc(slices.Clone(split), func(i int) bool { return len(r.Docs[i].Topics) == 0 })
	for _, tc := range []struct {
		name       string
		idx        []int
		docs, want int
	}{
		{"all", r.All(), 21578, 9},
		{"ModApte", split, 12902, 14},
		{"ModApte training part", train, 9603, 14},
		{"ModApte with at least one topic", withTopic, 10794, 17},
	} {
		if got := r.TopicsByRatio(tc.idx, 0.01, 0.1); len(tc.idx) != tc.docs || len(got) != tc.want {
			t.Errorf("%s: %d topics over %d documents, want %d over %d", tc.name, len(got), len(tc.idx), tc.want, tc.docs)
		}
	}
	const want = "money-fx 717, grain 582, crude 578, trade 486, interest 478, ship 286, wheat 283, corn 237, dlr 175, money-supply 174, " +
		"oilseed 171, sugar 162, coffee 139, gnp 136"
	var got []string
	for _, c := range r.TopicsByRatio(split, 0.01, 0.1) {
		got = append(got, fmt.Sprint(c.Topic, " ", c.Relevant))
	}
	if strings.Join(got, ", ") != want {
		t.Errorf("topics over ModApte are\n%s, want\n%s", strings.Join(got, ", "), want)
	}
}

func BenchmarkReutersLoad(b *testing.B) {
	store := realdata.Store(b, "reuters21578")
	b.Run("alg=Reuters21578/docs=21578", func(b *testing.B) {
		for b.Loop() {
			if _, err := datasets.Open(store.Dir()).Reuters21578(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
