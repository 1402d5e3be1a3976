//go:build unix

package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"metriclab/pkg/ask"
)

// asking is metriclab ask in a process of its own.
type asking struct {
	cmd *exec.Cmd
	url string
	log *strings.Builder
}

func startAsk(t *testing.T, dir string, args ...string) *asking {
	t.Helper()
	a := &asking{cmd: exec.CommandContext(t.Context(), os.Args[0], append([]string{"ask", "--listen", "127.0.0.1:0"}, args...)...), log: &strings.Builder{}}
	a.cmd.Dir, a.cmd.Env, a.cmd.Stderr = dir, append(os.Environ(), asChild+"=1"), a.log
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewScanner(out)
	for in.Scan() {
		if _, url, ok := strings.Cut(in.Text(), "people:"); ok {
			a.url = strings.TrimSpace(url)
		}
		if strings.HasPrefix(in.Text(), "Ctrl-C ends") {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return a
		}
	}
	t.Fatalf("no address: %v\n%s", a.cmd.Wait(), a.log)
	return nil
}

// answers gives answers until the server is gone, and lists those that were acknowledged, as answer and items.
func (a *asking) answers(name string) (acknowledged []string) {
	jar, _ := cookiejar.New(nil)
	c := http.Client{Jar: jar}
	var q struct {
		ID    string
		Items []struct{ Text string }
	}
	send := func(method, path, body string) bool {
		r, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
		if err != nil {
			return false
		}
		w, err := c.Do(r)
		if err != nil {
			return false
		}
		defer w.Body.Close()
		raw, err := io.ReadAll(w.Body)
		return err == nil && w.StatusCode == http.StatusOK && json.Unmarshal(raw, &q) == nil
	}
	ok := send("POST", "/join", fmt.Sprintf(`{"name":%q,"code":""}`, name)) && send("GET", "/question", "")
	for i := 0; ok; i++ {
		place := 1 + i%2
		near, far, head := q.Items[place].Text, q.Items[3-place].Text, q.Items[0].Text
		if ok = send("POST", "/answer", fmt.Sprintf(`{"id":%q,"said":%d,"ms":1}`, q.ID, place)); ok {
			acknowledged = append(acknowledged, head+","+near+","+far)
		}
	}
	return acknowledged
}

// Killed at any instant, nothing that was acknowledged is lost, and nothing is there twice; the next process goes on. A second one at the same time is refused.
func TestAskKilled(t *testing.T) {
	dir := t.TempDir()
	var words strings.Builder
	for i := range 50 {
		fmt.Fprintln(&words, "word", i)
	}
	writeTest(t, filepath.Join(dir, "words.txt"), words.String())
	const people, kills = 20, 5
	rng := rand.New(rand.NewPCG(1, 2))
	all := 0
	for kill := range kills {
		a := startAsk(t, dir, "words.txt")
		if kill == 0 {
			second := exec.CommandContext(t.Context(), os.Args[0], "ask", "words.txt", "--listen", "127.0.0.1:0")
			second.Dir, second.Env = dir, append(os.Environ(), asChild+"=1")
			if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "another process asks into it") {
				t.Errorf("a second process: %v\n%s", err, out)
			}
		}
		acknowledged := make([][]string, people)
		var wg sync.WaitGroup
		for p := range people {
			wg.Go(func() { acknowledged[p] = a.answers(fmt.Sprintf("k%d-%d", kill, p)) })
		}
		time.Sleep(time.Duration(20+rng.IntN(200)) * time.Millisecond)
		if err := a.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = a.cmd.Wait()
		wg.Wait()
		f, err := os.Open(filepath.Join(dir, "answers", "answers.csv"))
		if err != nil {
			t.Fatal(err)
		}
		in := csv.NewReader(f)
		in.FieldsPerRecord = -1
		written := map[string][]string{}
		for {
			r, err := in.Read()
			if err != nil || len(r) != 9 {
				break // a torn line is the last one
			}
			written[r[6]] = append(written[r[6]], strings.Join(r[:3], ","))
		}
		f.Close()
		for p, list := range acknowledged {
			all += len(list)
			got := written[fmt.Sprintf("k%d-%d", kill, p)]
			if len(got) < len(list) || len(got) > len(list)+1 || !slices.Equal(got[:len(list)], list) {
				t.Errorf("kill %d, person %d: %d answers are written, %d were acknowledged:\n%q\n%q", kill, p, len(got), len(list), got, list)
			}
		}
	}
	if all < kills {
		t.Errorf("%d answers in %d runs: too few to tell", all, kills)
	}
	t.Logf("%d acknowledged answers, %d kills, none lost", all, kills)
	a := startAsk(t, dir, "words.txt")
	if err := a.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Wait(); err != nil {
		t.Errorf("after an interrupt: %v\n%s", err, a.log)
	}
	for _, name := range []string{"coordinates.csv", "map.json", "map.svg", "items.txt"} {
		if _, err := os.Stat(filepath.Join(dir, "answers", name)); err != nil {
			t.Error(err)
		}
	}
}

// Where an item was taken away, its answers stay in the file, and are neither in the map nor in the way of the metric.
func TestAskItemGone(t *testing.T) {
	names := []string{"one", "two", "three", "four", "gone"}
	for _, k := range []ask.Kind{ask.KindCompare, ask.KindOdd, ask.KindAlike} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "answers"), 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := ask.New(rand.NewPCG(1, 2), len(names), ask.Params{Kind: k})
		if err != nil {
			t.Fatal(err)
		}
		text := string(k.Header())
		for i := range 60 {
			a := ask.Answer{Question: s.Next("Ann"), Said: 1, Person: "Ann"}
			if k == ask.KindAlike {
				a.Said = i % 2
			}
			text += string(k.Line(names, a))
		}
		writeTest(t, filepath.Join(dir, "answers", "answers.csv"), text)
		writeTest(t, filepath.Join(dir, "words.txt"), "one\ntwo\nthree\nfour\n")
		writeTest(t, filepath.Join(dir, "x.npy"), npyOf(t, "<f8", "(4, 1)", []float64{1, 2, 4, 8}))
		a := startAsk(t, dir, "words.txt", "--question", k.String(), "--vectors", "x.npy")
		if err := errors.Join(a.cmd.Process.Signal(os.Interrupt), a.cmd.Wait()); err != nil {
			t.Errorf("%v: %v\n%s", k, err, a.log)
		}
		in := func(name string) string {
			raw, err := os.ReadFile(filepath.Join(dir, "answers", name))
			if err != nil {
				t.Errorf("%v: %v", k, err)
			}
			return string(raw)
		}
		if in("answers.csv") != text || strings.Contains(in("coordinates.csv"), "gone") || in("metric.json") == "" {
			t.Errorf("%v: answers of an item that is gone are lost, or in the map:\n%s", k, in("coordinates.csv"))
		}
	}
}

// People who come by another server need the code, though this one is for the machine alone.
func TestAskBehind(t *testing.T) {
	dir := t.TempDir()
	writeTest(t, filepath.Join(dir, "words.txt"), "one\ntwo\nthree\n")
	for code, want := range map[string]int{"": http.StatusForbidden, "abcd": http.StatusOK} {
		a := startAsk(t, dir, "words.txt", "--host", "room.example", "--code", "ABCD")
		r, err := http.Post(a.url+"/join", "application/json", strings.NewReader(fmt.Sprintf(`{"name":"","code":%q}`, code)))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("the code %q: %d, want %d", code, r.StatusCode, want)
		}
		if err := errors.Join(a.cmd.Process.Signal(os.Interrupt), a.cmd.Wait()); err != nil {
			t.Error(err)
		}
	}
}

func TestAskPipe(t *testing.T) {
	files(t, map[string]string{"words.txt": "one\ntwo\nthree\n"})
	if err := errors.Join(os.Mkdir("answers", 0o755), syscall.Mkfifo(filepath.Join("answers", "answers.csv"), 0o644)); err != nil {
		t.Fatal(err)
	}
	say(t, []said{{"ask words.txt", 1, []string{"answers.csv: it is no regular file"}, nil}})
}
