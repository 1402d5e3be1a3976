package datasets_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
)

// TestRealNewsgroups20 compares the posts with what is known of the version "bydate".
func TestRealNewsgroups20(t *testing.T) {
	store := realdata.Store(t, "20news")
	train, test, err := store.Newsgroups20(datasets.PostHeadersKeep)
	if err != nil {
		t.Fatal(err)
	}
	if train.N() != 11314 || test.N() != 7532 || len(train.Classes) != 20 || !slices.IsSorted(train.Classes) {
		t.Fatalf("%d training and %d test posts of %d groups", train.N(), test.N(), len(train.Classes))
	}
	for _, c := range []struct {
		group       string
		train, test int
	}{{"alt.atheism", 480, 319}, {"rec.sport.hockey", 600, 399}, {"talk.religion.misc", 377, 251}} {
		y := slices.Index(train.Classes, c.group)
		if a, b := train.Counts()[y], test.Counts()[y]; a != c.train || b != c.test {
			t.Errorf("%s has %d and %d posts, want %d and %d", c.group, a, b, c.train, c.test)
		}
	}
	bytes := 0
	for _, part := range []*datasets.Texts{train, test} {
		for i, d := range part.Docs {
			bytes += len([]rune(d.Text)) // as Latin-1
			if !strings.HasPrefix(d.ID, part.Classes[part.Y[i]]+"/") || !strings.Contains(d.Text, "Subject:") {
				t.Fatalf("%s of %s is %q", d.ID, part.Classes[part.Y[i]], d.Text)
			}
		}
	}
	if bytes != 35854868 {
		t.Errorf("%d bytes, want 35854868", bytes)
	}

	bare, bareTest, err := store.Newsgroups20(datasets.PostHeadersDrop)
	if err != nil {
		t.Fatal(err)
	}
	subject, _, err := store.Newsgroups20(datasets.PostHeadersSubject)
	if err != nil {
		t.Fatal(err)
	}
	empty := 0
	for _, part := range []*datasets.Texts{bare, bareTest} {
		for _, d := range part.Docs {
			if strings.TrimSpace(d.Text) == "" {
				empty++
			}
		}
	}
	if empty != 34 {
		t.Errorf("%d posts without a body, want 34", empty)
	}
	for i := range train.Docs {
		if !strings.HasSuffix(train.Docs[i].Text, "\n\n"+bare.Docs[i].Text) || !strings.HasSuffix(subject.Docs[i].Text, "\n"+bare.Docs[i].Text) {
			t.Fatalf("%s: %q does not end with %q", train.Docs[i].ID, train.Docs[i].Text, bare.Docs[i].Text)
		}
	}
}

func TestRealClassic3(t *testing.T) {
	texts, err := realdata.Store(t, "classic3").Classic3()
	if err != nil {
		t.Fatal(err)
	}
	if got := texts.Counts(); texts.N() != 3891 || !slices.Equal(got, []int{1460, 1398, 1033}) || !slices.Equal(texts.Classes, []string{"CISI", "CRAN", "MED"}) {
		t.Errorf("%d documents, %v of %v", texts.N(), got, texts.Classes)
	}
	if !slices.Equal(texts.Dropped, []string{"CRAN 471", "CRAN 995"}) {
		t.Errorf("dropped are %q", texts.Dropped)
	}
	for _, d := range texts.Docs {
		if strings.TrimSpace(d.Text) == "" || strings.Contains(d.Text, "\r") || strings.Contains(d.Text, "\n.") {
			t.Errorf("%s is %q", d.ID, d.Text)
		}
	}
	for i, want := range map[int]string{
		0:    "18 Editions of the Dewey Decimal Classifications\nThe present study is a history",
		1460: "experimental investigation of the aerodynamics of a\nwing in a slipstream .\n  an experimental study",
		2858: "correlation between maternal and fetal plasma levels of glucose and free\nfatty acids",
	} {
		if want = strings.TrimSpace(want); !strings.HasPrefix(strings.TrimSpace(texts.Docs[i].Text), want) {
			t.Errorf("%s is %q, want it to begin with %q", texts.Docs[i].ID, texts.Docs[i].Text[:min(200, len(texts.Docs[i].Text))], want)
		}
	}
	citation := regexp.MustCompile(`(?m)^[0-9]+\t[0-9]+\t[0-9]+$`) // of the field X of CISI
	for _, d := range texts.Docs {
		if citation.MatchString(d.Text) {
			t.Errorf("%s has a citation: %q", d.ID, d.Text)
		}
	}
}

func BenchmarkTexts(b *testing.B) {
	store := realdata.Store(b, "20news", "classic3")
	b.Run("alg=Newsgroups20/docs=18846", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := datasets.Open(store.Dir()).Newsgroups20(datasets.PostHeadersKeep); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("alg=Classic3/docs=3891", func(b *testing.B) {
		for b.Loop() {
			if _, err := datasets.Open(store.Dir()).Classic3(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
