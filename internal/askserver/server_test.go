package askserver

import (
	"bytes"
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"metriclab/internal/needs"
	"metriclab/pkg/ask"
)

// pictures makes a folder with n pictures.
func pictures(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		put(t, filepath.Join(dir, fmt.Sprintf("p%03d.png", i)), b.String())
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// serving is a server that tests ask.
type serving struct {
	*Server
	http *httptest.Server
	file string // answers.csv
	logs *[]string
}

func serve(t testing.TB, path string, c Config) *serving {
	t.Helper()
	items, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(items.Close)
	c.Items, c.Key = items, "the key"
	if c.Session == nil {
		if c.Session, err = ask.New(rand.NewPCG(1, 2), len(items.Names), ask.Params{Repeat: .05}); err != nil {
			t.Fatal(err)
		}
	}
	s := &serving{file: filepath.Join(t.TempDir(), "answers.csv"), logs: new([]string)}
	if c.Journal, _, err = OpenJournal(s.file, c.Session.Params().Kind, items.Names); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Journal.Close() })
	var mu sync.Mutex
	c.Log = func(format string, values ...any) {
		mu.Lock()
		defer mu.Unlock()
		*s.logs = append(*s.logs, fmt.Sprintf(format, values...))
	}
	s.Server = New(c)
	s.http = httptest.NewServer(s.HTTP().Handler)
	t.Cleanup(s.http.Close)
	return s
}

// client is a browser.
type client struct {
	*http.Client
	base string
}

func (s *serving) client() *client {
	jar, _ := cookiejar.New(nil)
	return &client{&http.Client{Jar: jar, Transport: &http.Transport{}}, s.http.URL}
}

// do returns the status and the body.
func (c *client) do(t testing.TB, method, path, body string, header ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	w, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, string(raw)
}

func (c *client) join(t testing.TB, name string) {
	t.Helper()
	if status, body := c.do(t, "POST", "/join", fmt.Sprintf(`{"name":%q,"code":""}`, name)); status != 200 {
		t.Fatalf("join: %d %s", status, body)
	}
}

// question asks for one.
func (c *client) question(t testing.TB) (q asked) {
	t.Helper()
	status, body := c.do(t, "GET", "/question", "")
	if err := json.Unmarshal([]byte(body), &q); status != 200 || err != nil {
		t.Fatalf("question: %d %s", status, body)
	}
	return q
}

func said(id string, place int) string { return fmt.Sprintf(`{"id":%q,"said":%d,"ms":5}`, id, place) }

// written counts the answers on the disk.
func (s *serving) written(t testing.TB) int {
	t.Helper()
	raw, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(raw, []byte("\n")) - 1
}

// A question is answered once, by who was asked, with one of its places.
func TestAnswers(t *testing.T) {
	s := serve(t, pictures(t, 6), Config{})
	ann, ben := s.client(), s.client()
	if status, _ := ann.do(t, "GET", "/question", ""); status != 401 {
		t.Errorf("a question to who has not joined: %d", status)
	}
	ann.join(t, "Ann")
	ben.join(t, "")
	q := ann.question(t)
	if len(q.Items) != 3 || q.Name != "Ann" || !strings.HasPrefix(q.Items[0].Text, "p00") {
		t.Errorf("%+v", q)
	}
	for _, c := range []struct {
		who  *client
		body string
		want int
	}{
		{ann, said("0123456789abcdef0123456789abcdef", 1), 410}, {ann, said("", 1), 410}, {ben, said(q.ID, 1), 410}, // forged, and another's
		{ann, said(q.ID, 0), 400}, {ann, said(q.ID, 3), 400}, {ann, said(q.ID, -1), 400}, // no places
		{ann, `{"id":1}`, 400}, {ann, `{"id":"x","said":1,"ms":1,"more":1}`, 400}, {ann, "{", 400}, {ann, "", 400}, {ann, said(strings.Repeat("x", mostBody), 1), 400},
		{ann, said(q.ID, 1), 200}, {ann, said(q.ID, 1), 200}, // doubled: acknowledged, and counted once
		{ann, said(q.ID, 2), 409}, {ben, said(q.ID, 1), 410},
	} {
		if status, body := c.who.do(t, "POST", "/answer", c.body); status != c.want {
			t.Errorf("%.60s: %d %s, want %d", c.body, status, body, c.want)
		}
	}
	if n := s.written(t); n != 1 || s.Session.Count() != 1 {
		t.Errorf("%d answers are written, %d learned, want 1", n, s.Session.Count())
	}
}

// What names no place is no answer, least of all the first place.
func TestSaysNothing(t *testing.T) {
	odd, err := ask.New(rand.NewPCG(1, 2), 6, ask.Params{Kind: ask.KindOdd})
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, pictures(t, 6), Config{Session: odd})
	c := s.client()
	c.join(t, "Ann")
	q := c.question(t)
	for _, body := range []string{`{"id":%q}`, `{"id":%q,"said":null,"ms":1}`} {
		if status, got := c.do(t, "POST", "/answer", fmt.Sprintf(body, q.ID)); status != 400 {
			t.Errorf("%s: %d %s", body, status, got)
		}
	}
	if status, body := c.do(t, "POST", "/answer", said(q.ID, 0)); status != 200 || s.written(t) != 1 {
		t.Errorf("%d %s", status, body)
	}
}

// The same answer from many tabs at once is one, and each is told so.
func TestDoubled(t *testing.T) {
	s := serve(t, pictures(t, 6), Config{})
	c := s.client()
	c.join(t, "Ann")
	q := c.question(t)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if status, body := c.do(t, "POST", "/answer", said(q.ID, 1)); status != 200 {
				t.Errorf("%d %s", status, body)
			}
		})
	}
	wg.Wait()
	if n := s.written(t); n != 1 {
		t.Errorf("%d answers are written, want 1", n)
	}
}

// What cannot be kept is not acknowledged; the same answer can be given again.
func TestNotKept(t *testing.T) {
	s := serve(t, pictures(t, 6), Config{})
	c := s.client()
	c.join(t, "Ann")
	q := c.question(t)
	full := errors.New("no space left")
	file := s.Journal.f
	closed, err := os.Open(s.file) // cannot be written
	if err != nil {
		t.Fatal(err)
	}
	defer closed.Close()
	s.Journal.f = closed
	status, body := c.do(t, "POST", "/answer", said(q.ID, 1))
	if status != 503 || s.Session.Count() != 0 || len(*s.logs) != 1 {
		t.Errorf("%d %s, %q", status, body, *s.logs)
	}
	s.Journal.f = file
	if !strings.Contains((*s.logs)[0], errBroken.Error()) { // a file that cannot be cut either
		t.Errorf("logged: %q", *s.logs)
	}

	s = serve(t, pictures(t, 6), Config{})
	c = s.client()
	c.join(t, "Ann")
	q = c.question(t)
	sync := s.Journal.sync
	s.Journal.sync = func() error { return full }
	for range 2 { // and after a sync that failed nothing is taken any more
		if status, _ := c.do(t, "POST", "/answer", said(q.ID, 1)); status != 503 || s.Session.Count() != 0 {
			t.Errorf("%d, %d answers", status, s.Session.Count())
		}
		s.Journal.sync = sync
	}
}

func TestJoin(t *testing.T) {
	s := serve(t, pictures(t, 6), Config{Code: "ABCD2345"})
	for _, c := range []struct {
		name, code string
		want       int
	}{
		{"Ann", "ABCD2345", 200}, {"  Ann   B. ", " abcd2345 ", 200}, {"", "ABCD2345", 200}, {"Zoë O'Neill-2", "ABCD2345", 200}, {"名前", "ABCD2345", 200},
		{"Ann", "", 403}, {"Ann", "ABCD2346", 403}, {"Ann", "ABCD2345\x00", 403},
		{"=1+1", "ABCD2345", 400}, {"-Ann", "ABCD2345", 400}, {"@x", "ABCD2345", 400}, {"<script>", "ABCD2345", 400}, {"a,b", "ABCD2345", 400}, {"a\"b", "ABCD2345", 400}, {"a\u202eb", "ABCD2345", 400}, {strings.Repeat("x", 41), "ABCD2345", 400},
	} {
		raw, _ := json.Marshal(map[string]string{"name": c.name, "code": c.code})
		if status, body := s.client().do(t, "POST", "/join", string(raw)); status != c.want {
			t.Errorf("%q, %q: %d %s, want %d", c.name, c.code, status, body, c.want)
		}
	}
	last := 0
	for range 2 * wrongAtOnce {
		last, _ = s.client().do(t, "POST", "/join", `{"name":"","code":"x"}`)
	}
	if last != 429 {
		t.Errorf("the last of many wrong codes: %d", last)
	}
	// Then the right code is not told either, to who tries: others go on.
	if status, body := s.client().do(t, "POST", "/join", `{"name":"","code":"ABCD2345"}`); status != 429 {
		t.Errorf("the right code after many wrong ones: %d %s", status, body)
	}
	from := func(addr, code string) (bool, bool) { return s.try(&http.Request{RemoteAddr: addr}, code) }
	for range wrongAtOnce + 1 {
		if tried, right := from("10.0.0.1:1", "ABCD2345"); !tried || !right {
			t.Fatal("right codes are limited")
		}
		from("[2001:db8::1]:1", "x")
	}
	if tried, _ := from("[2001:db8::ffff]:1", "x"); tried {
		t.Error("a machine has all addresses of its network of 64 bits, and tries from each")
	}
	for i := range mostJoins {
		from(fmt.Sprintf("10.1.%d.%d:1", i/256, i%256), "x")
	}
	if len(s.joins) > mostJoins {
		t.Errorf("%d addresses are remembered", len(s.joins))
	}
	// A cookie of who knows another code, or none, or tries codes fast.
	quick, err := pbkdf2.Key(sha256.New, "ABCD2345", []byte("metriclab ask person"), 1, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	other := serve(t, pictures(t, 6), Config{Code: "ZZZZ"})
	for _, value := range []string{"QW5u." + sign(other.person, "Ann"), "QW5u." + sign(quick, "Ann"), "QW5u.", "QW5u", ".", "QW5u." + sign(s.person, "Ben"), "QW5u." + sign([]byte(s.Key), "Ann")} {
		if status, _ := s.client().do(t, "GET", "/question", "", "Cookie", cookieName+"="+value); status != 401 {
			t.Errorf("the cookie %q: %d", value, status)
		}
	}
	if status, _ := s.client().do(t, "GET", "/question", "", "Cookie", cookieName+"=QW5u."+sign(s.person, "Ann")); status != 200 {
		t.Errorf("the right cookie: %d", status)
	}
}

// A name is written in one way, and is seen.
func TestPlainName(t *testing.T) {
	for name, want := range map[string]string{" Ann  B ": "Ann B", "Zoe\u0308": "Zo\u00eb", "\u3164": "", "A\u034fn\ufe0fn\uffa0": "Ann", "\U000e0100": "", "名前": "名前"} {
		if got := plainName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// How long an answer took is at most the time since the question, whatever the page says.
func TestTook(t *testing.T) {
	s := serve(t, pictures(t, 6), Config{})
	c := s.client()
	c.join(t, "Ann")
	for ms, least := range map[string]time.Duration{"9223372036855": 5 * time.Millisecond, "9223372036854775807": 5 * time.Millisecond, "-5": 0} {
		q := c.question(t)
		time.Sleep(10 * time.Millisecond)
		if status, body := c.do(t, "POST", "/answer", fmt.Sprintf(`{"id":%q,"said":1,"ms":%s}`, q.ID, ms)); status != 200 {
			t.Fatalf("%s: %d %s", ms, status, body)
		}
		all := s.Session.Answers()
		if took := all[len(all)-1].Took; took < least || took > time.Minute {
			t.Errorf("%s ms: %v", ms, took)
		}
	}
}

// Only pictures that are listed are served, to who has joined, and what they have become is never a page.
func TestServedFiles(t *testing.T) {
	dir := pictures(t, 4)
	s := serve(t, dir, Config{})
	c := s.client()
	if status, _ := c.do(t, "GET", "/item/0", ""); status != 401 {
		t.Errorf("a picture for who has not joined: %d", status)
	}
	c.join(t, "Ann")
	if status, body := c.do(t, "GET", "/item/0", ""); status != 200 || !strings.HasPrefix(body, "\x89PNG") {
		t.Errorf("%d %.20q", status, body)
	}
	for _, path := range []string{"/item/4", "/item/-1", "/item/p000.png", "/item/0/../../etc/passwd", "/item/..%2f..%2fetc%2fpasswd", "/item/%2e%2e", "/item/", "/p000.png", "/static/../server.go", "/static/ask.html", "/static/", "/page/ask.js", "/item/0x1", "/item/99999999999999999999"} {
		if status, body := c.do(t, "GET", path, ""); status == 200 && !strings.Contains(body, "</html>") || strings.Contains(body, "root:") {
			t.Errorf("%s: %d %.40q", path, status, body)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, secret, "a secret")
	if err := errors.Join(os.Remove(filepath.Join(dir, "p001.png")), os.Remove(filepath.Join(dir, "p002.png")), os.Mkdir(filepath.Join(dir, "p002.png"), 0o755)); err != nil {
		t.Fatal(err)
	}
	needs.Symlink(t, secret, filepath.Join(dir, "p001.png"))
	put(t, filepath.Join(dir, "p003.png"), "<script>alert(1)</script>")
	put(t, filepath.Join(dir, "hidden"), "a secret that is no picture")
	if err := errors.Join(os.Remove(filepath.Join(dir, "p000.png")), os.Symlink("hidden", filepath.Join(dir, "p000.png"))); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/item/0", "/item/1", "/item/2"} {
		if status, body := c.do(t, "GET", path, ""); status != 404 || strings.Contains(body, "secret") {
			t.Errorf("%s: %d %q", path, status, body)
		}
	}
	w, err := c.Get(c.base + "/item/3")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	if w.Header.Get("Content-Type") != "image/png" || w.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(w.Header.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a picture that became a page has %v", w.Header)
	}
}

// The live page is for who has the key.
func TestLive(t *testing.T) {
	s := serve(t, pictures(t, 8), Config{})
	c := s.client()
	c.join(t, "Ann")
	for _, path := range []string{"/live", "/live?key=", "/live?key=x", "/live/state"} {
		if status, body := c.do(t, "GET", path, ""); status != 403 {
			t.Errorf("%s: %d %.60s", path, status, body)
		}
	}
	for i := range 80 {
		a := ask.Answer{Question: s.Session.Next("Ann"), Said: 1, Person: "Ann"}
		if err := s.take(a); err != nil {
			t.Fatal(i, err)
		}
	}
	r, err := s.Session.Report(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 500 {
		s.publish(r)
	}
	asker := s.client()
	if status, body := asker.do(t, "GET", "/live?key="+url.QueryEscape(s.Key), ""); status != 200 || !strings.Contains(body, "Answers so far") {
		t.Errorf("%d %s", status, body)
	}
	status, body := asker.do(t, "GET", "/live/state", "")
	var got state
	if err := json.Unmarshal([]byte(body), &got); status != 200 || err != nil || got.Answers != 80 || len(got.Map) != len(r.Items) || got.People[0].Name != "Ann" || len(got.Curve) == 0 || len(got.Curve) > 400 || got.Wrong.N == 0 || got.Choose != "random" {
		t.Errorf("%d %v %s", status, err, body)
	}
	if status, _ := asker.do(t, "GET", "/item/0", ""); status != 200 {
		t.Errorf("a picture for the asker: %d", status)
	}
}

// No page has a script, a style or a frame from elsewhere, and no other site's page gets in.
func TestHeaders(t *testing.T) {
	s := serve(t, pictures(t, 5), Config{Hosts: []string{"room.example"}})
	c := s.client()
	w, err := c.Get(c.base + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	page, _ := io.ReadAll(w.Body)
	policy := w.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q lacks %s", policy, part)
		}
	}
	for _, bad := range []string{"unsafe", "*", "data:"} {
		if strings.Contains(policy, bad) {
			t.Errorf("the policy %q has %s", policy, bad)
		}
	}
	for _, bad := range []string{"<script>", "style=", "onclick", "http://", "https://"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page has %s", bad)
		}
	}
	if bytes.Contains(page, []byte("hides nothing")) {
		t.Error("on the loopback the page warns of plain HTTP")
	}
	for _, host := range []string{"localhost", "127.0.0.1", "[::1]"} { // port 80
		if _, body := c.do(t, "GET", "/", "", "Host", host); strings.Contains(body, "hides nothing") {
			t.Errorf("on %s the page warns of plain HTTP", host)
		}
	}
	if _, body := c.do(t, "GET", "/", "", "Host", "10.1.2.3:8765"); !strings.Contains(body, "hides nothing") {
		t.Error("to others the page does not say what plain HTTP means")
	}
	if _, body := c.do(t, "GET", "/", "", "Host", "room.example", "X-Forwarded-Proto", "https"); strings.Contains(body, "hides nothing") {
		t.Error("behind a server with HTTPS the page warns of plain HTTP")
	}
	for _, r := range []struct {
		header []string
		want   int
	}{
		{[]string{"Host", "evil.example"}, 421}, {[]string{"Host", "room.example"}, 200}, {[]string{"Origin", "http://evil.example"}, 403}, {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
	} {
		if status, _ := s.client().do(t, "POST", "/join", `{"name":"","code":""}`, r.header...); status != r.want {
			t.Errorf("%v: %d", r.header, status)
		}
	}
}

// One person cannot hammer, nor fill the memory with open questions; the number of people has an end.
func TestRates(t *testing.T) {
	s := serve(t, pictures(t, 5), Config{})
	c := s.client()
	c.join(t, "Ann")
	first := c.question(t)
	last := 0
	for range atOnce + perSecond*2 {
		last, _ = c.do(t, "GET", "/question", "")
	}
	if last != 429 {
		t.Errorf("the last of many requests: %d", last)
	}
	v := s.people["Ann"]
	if len(v.open) > mostOpen || len(v.asked) > mostOpen || v.open[first.ID] != (issued{}) {
		t.Errorf("%d open questions, %d known", len(v.open), len(v.asked))
	}
	for i := range mostPeople + 10 {
		s.mu.Lock()
		got := s.visitor(fmt.Sprint(i))
		s.mu.Unlock()
		if (got == nil) != (i >= mostPeople-1) {
			t.Fatalf("person %d: %v", i, got)
		}
	}
	s.people["5"].seen = time.Now().Add(-2 * idle)
	if s.visitor("new") == nil || s.people["5"] != nil {
		t.Error("who is gone keeps a place")
	}
}

func TestBucket(t *testing.T) {
	var b bucket
	now := time.Now()
	took := func(at time.Time, n int) (got int) {
		for range n {
			if b.take(at, 2, 3) {
				got++
			}
		}
		return got
	}
	if got := []int{took(now, 5), took(now.Add(-time.Hour), 5), took(now.Add(-time.Hour+time.Second), 5), took(now.Add(24*time.Hour), 9)}; !slices.Equal(got, []int{3, 0, 2, 3}) {
		t.Errorf("%v", got)
	}
}

// One address has a share of the connections, and leaves it again.
func TestLimited(t *testing.T) {
	l := &limited{from: map[string]int{}}
	for i := range mostFromOne + 1 {
		if got := l.count("a", 1); got != (i < mostFromOne) {
			t.Fatalf("connection %d: %t", i, got)
		}
	}
	if !l.count("b", 1) {
		t.Error("another address has no room")
	}
	l.count("a", -1)
	if !l.count("a", 1) {
		t.Error("a connection that ended keeps its room")
	}
}

// Serve ends when it is told to, with a request under way.
func TestServe(t *testing.T) {
	s := serve(t, pictures(t, 5), Config{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	c := s.client()
	c.base = Address(l)
	c.join(t, "Ann")
	q := c.question(t)
	cancel()
	_ = q
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
