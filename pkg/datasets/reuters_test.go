package datasets

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// tinyReuters has ten documents: all ten have "all", three have "some", one has
// "few" and one "rare".
func tinyReuters() *Reuters {
	r := &Reuters{}
	for i := range 10 {
		d := ReutersDoc{NewID: i + 1, LewisSplit: []string{"TRAIN", "TEST", "NOT-USED"}[i%3], TopicsAttr: []string{"YES", "NO"}[i%2], Topics: []string{"all"}}
		if i < 3 {
			d.Topics = append(d.Topics, "some")
		}
		if i == 9 {
			d.Topics = append(d.Topics, "rare", "few")
		}
		r.Docs = append(r.Docs, d)
	}
	return r
}

func TestReutersModApte(t *testing.T) {
	r := tinyReuters()
	train, test := r.ModApte()
	if !slices.Equal(train, []int{0, 6}) || !slices.Equal(test, []int{4}) {
		t.Errorf("ModApte = %v, %v; want [0 6], [4]", train, test)
	}
	if all := r.All(); len(all) != 10 || all[9] != 9 {
		t.Errorf("All = %v", all)
	}
}

func TestReutersTopics(t *testing.T) {
	r := tinyReuters()
	want := []TopicCount{{"all", 10, 0}, {"some", 3, 7}, {"few", 1, 9}, {"rare", 1, 9}}
	if got := r.TopicCounts(r.All()); !slices.Equal(got, want) {
		t.Errorf("TopicCounts = %v, want %v", got, want)
	}
	if got := r.TopicCounts([]int{0, 5}); !slices.Equal(got, []TopicCount{{"all", 2, 0}, {"some", 1, 1}}) {
		t.Errorf("TopicCounts of two documents = %v", got)
	}
	for _, tc := range []struct {
		lo, hi float64
		want   []TopicCount
	}{
		{0, math.Inf(1), want},
		{1. / 9, 3. / 7, want[1:]}, // both bounds belong to the range
		{0.12, 0.5, want[1:2]},
		{0.12, 0.2, nil},
	} {
		if got := r.TopicsByRatio(r.All(), tc.lo, tc.hi); !slices.Equal(got, tc.want) {
			t.Errorf("TopicsByRatio(%v, %v) = %v, want %v", tc.lo, tc.hi, got, tc.want)
		}
	}
	if got := r.Relevant([]int{9, 1, 2, 3}, "some"); !slices.Equal(got, []bool{false, true, true, false}) {
		t.Errorf("Relevant = %v", got)
	}
}

func TestReutersTopicsPanic(t *testing.T) {
	r := tinyReuters()
	for _, b := range [][2]float64{{-1, 1}, {0.2, 0.1}, {math.NaN(), 1}, {0, math.NaN()}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("TopicsByRatio with bounds %v does not panic", b)
				}
			}()
			r.TopicsByRatio(r.All(), b[0], b[1])
		}()
	}
}

// madeReuters writes the 22 files of a collection with the given number of
// documents into a store.
func madeReuters(t *testing.T, docs int) *Store {
	t.Helper()
	s := Open(t.TempDir())
	for k := range reutersFiles {
		var part []ReutersDoc
		for id := 1000*k + 1; id <= min(docs, 1000*(k+1)); id++ {
			part = append(part, ReutersDoc{NewID: id, LewisSplit: "TRAIN", TopicsAttr: "YES"})
		}
		writeFile(t, s.Path(fmt.Sprintf("reuters21578/reut2-%03d.sgm", k)), []byte(writeReuters(part)))
	}
	return s
}

func TestStoreReuters(t *testing.T) {
	s := madeReuters(t, reutersDocs)
	second := s.Path("reuters21578/reut2-001.sgm")
	good, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	var missing *MissingError
	if _, err := s.Reuters21578(); !errors.As(err, &missing) || missing.Path != second || missing.Dataset != "reuters21578" {
		t.Fatalf("error is %v, want a MissingError for %s", err, second)
	}
	var line *LineError
	writeFile(t, second, []byte(strings.Replace(string(good), `NEWID="1001"`, `NEWID="1000"`, 1)))
	if _, err := s.Reuters21578(); !errors.As(err, &line) || line.Field != "NEWID" || !strings.HasPrefix(line.Want, "1001:") {
		t.Fatalf("error is %v, want a LineError that asks for 1001", err)
	}
	writeFile(t, second, good) // a failure is not remembered

	var wg sync.WaitGroup
	var got [4]*Reuters
	var errs [4]error
	for i := range got {
		wg.Go(func() { got[i], errs[i] = s.Reuters21578() })
	}
	wg.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	if n := len(got[0].Docs); n != reutersDocs || got[0].Docs[n-1].NewID != n {
		t.Errorf("%d documents", n)
	}
	for i := range got {
		if got[i] != got[0] {
			t.Errorf("caller %d got a collection of its own", i)
		}
	}
	if other, err := madeReuters(t, reutersDocs).Reuters21578(); err != nil || other == got[0] {
		t.Errorf("another store: %v, and the same collection: %v", err, other == got[0])
	}
}

func TestStoreReutersCounts(t *testing.T) {
	_, err := madeReuters(t, reutersDocs-1).Reuters21578()
	if err == nil || !strings.Contains(err.Error(), "reut2-021.sgm") || !strings.HasSuffix(err.Error(), "NEWID: last is 21577, want 21578") {
		t.Errorf("a collection that ends early: error is %v", err)
	}
}
