package askserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"metriclab/pkg/ask"
)

var three = []string{"a", "b", "c"}

func answerOf(person string) ask.Answer {
	return ask.Answer{Question: ask.Question{Items: [3]int{0, 1, 2}}, Said: 1, Person: person}
}

// Many answers at once are all in the file, with fewer waits for the disk than answers.
func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "answers.csv")
	j, found, err := OpenJournal(path, ask.KindCompare, three)
	if err != nil || found.Torn != "" || len(found.Answers) > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	if _, _, err := OpenJournal(path, ask.KindCompare, three); !errors.Is(err, errInUse) {
		t.Errorf("a second process: %v", err)
	}
	var syncs atomic.Int32
	sync1 := j.sync
	gate := make(chan struct{}) // the first answer's
	j.sync = func() error {
		if syncs.Add(1) == 1 {
			<-gate
		}
		return sync1()
	}
	const n = 100
	var wg, waiting sync.WaitGroup
	waiting.Add(n)
	for i := range n {
		wg.Go(func() {
			waiting.Done()
			if err := j.Append(answerOf(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	waiting.Wait()
	close(gate)
	wg.Wait()
	if got := syncs.Load(); got > n {
		t.Errorf("%d waits for the disk", got)
	}
	if err := errors.Join(j.Close(), j.Close()); err != nil {
		t.Error(err)
	}
	if err := j.Append(answerOf("late")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	j, found, err = OpenJournal(path, ask.KindCompare, three)
	if err != nil || len(found.Answers) != n {
		t.Fatalf("%d answers, %v", len(found.Answers), err)
	}
	j.Close()
	for kind, want := range map[ask.Kind]string{ask.KindOdd: "another kind", ask.KindAlike: "another kind"} {
		if _, _, err := OpenJournal(path, kind, three); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", kind, err)
		}
	}
}

// What is not ours stays as it is: a file without a line, and what is no file. A byte order mark is no other kind.
func TestForeign(t *testing.T) {
	head, line := string(ask.KindCompare.Header()), string(ask.KindCompare.Line(three, answerOf("Ann")))
	last := func(cell int, text string) string {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), ",")
		cells[cell] = text
		return head + strings.Join(cells, ",") + "\n"
	}
	for text, want := range map[string]string{
		"keep": "want a file that metriclab ask has made", "a,nearer": "want a file that metriclab ask has made", "keep\n": "columns keep, want a,near,far",
		last(7, "yesterday"): `time: "yesterday" is not allowed`, last(8, "1e3"): `ms: "1e3" is not allowed`, last(8, "-1"): `ms: "-1" is not allowed`,
	} {
		path := filepath.Join(t.TempDir(), "answers.csv")
		put(t, path, text)
		if _, _, err := OpenJournal(path, ask.KindCompare, three); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
		raw, err := os.ReadFile(path)
		if beside, _ := os.ReadDir(filepath.Dir(path)); err != nil || string(raw) != text || len(beside) != 1 {
			t.Errorf("%q became %q, among %d files, %v", text, raw, len(beside), err)
		}
	}
	path := filepath.Join(t.TempDir(), "answers.csv")
	put(t, path, "\ufeff"+head+line)
	j, found, err := OpenJournal(path, ask.KindCompare, three)
	if err != nil || len(found.Answers) != 1 {
		t.Fatalf("a byte order mark: %d answers, %v", len(found.Answers), err)
	}
	if err := errors.Join(j.Append(answerOf("Ben")), j.Close()); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Count(string(raw), "\n") != 3 {
		t.Errorf("%q, %v", raw, err)
	}
	// A torn line is moved whole, however long it is.
	put(t, path, head+strings.Repeat("x", 3<<20))
	j, found, err = OpenJournal(path, ask.KindCompare, three)
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	if aside, err := os.Stat(found.Torn); err != nil || aside.Size() != 3<<20+1 {
		t.Errorf("of %d bytes %v are aside, %v", 3<<20, aside, err)
	}
}

// A line without an end was never acknowledged: it is moved away, wherever the process was killed.
func TestTorn(t *testing.T) {
	head, line := string(ask.KindCompare.Header()), string(ask.KindCompare.Line(three, answerOf("Ann")))
	whole := head + line + line
	for cut := range len(whole) + 1 {
		path := filepath.Join(t.TempDir(), "answers.csv")
		put(t, path, whole[:cut])
		j, found, err := OpenJournal(path, ask.KindCompare, three)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if err := errors.Join(j.Append(answerOf("Ben")), j.Close()); err != nil {
			t.Fatal(err)
		}
		kept := max(0, strings.Count(whole[:cut], "\n")-1)
		torn := cut > 0 && whole[cut-1] != '\n'
		raw, err := os.ReadFile(path)
		if err != nil || len(found.Answers) != kept || (found.Torn != "") != torn || strings.Count(string(raw), "\n") != kept+2 || !strings.HasPrefix(string(raw), head) {
			t.Fatalf("cut at %d: %d answers, torn %q, %v:\n%s", cut, len(found.Answers), found.Torn, err, raw)
		}
		if torn {
			if aside, err := os.ReadFile(found.Torn); err != nil || string(aside) != whole[strings.LastIndex(whole[:cut], "\n")+1:cut]+"\n" {
				t.Fatalf("cut at %d: moved away: %q, %v", cut, aside, err)
			}
		}
	}
}

// A file that another program has changed, replaced or removed takes no more answers, and what that program did stays.
func TestTouched(t *testing.T) {
	for what, touch := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+"2", []byte("x"), 0o644), os.Rename(path+"2", path))
		},
		"cut": func(path string) error { return os.Truncate(path, 60) },
		"saved": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("longer than before\n", 20)), 0o644)
		},
	} {
		path := filepath.Join(t.TempDir(), "answers.csv")
		j, _, err := OpenJournal(path, ask.KindCompare, three)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(j.Append(answerOf("Ann")), os.Rename(path, path+".away")); err != nil {
			t.Fatal(err)
		}
		if err := j.Append(answerOf("Ben")); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("renamed: %v", err)
		}
		if err := errors.Join(os.Rename(path+".away", path), j.Append(answerOf("Ben")), touch(path)); err != nil {
			t.Fatal(what, err) // what was put back goes on
		}
		before, _ := os.ReadFile(path)
		if err := j.Append(answerOf("Cid")); err == nil || !strings.Contains(err.Error(), "another program") {
			t.Errorf("%s: %v", what, err)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s: the file became %q", what, after)
		}
		j.Close()
	}
}
