// Package askserver serves the page of metriclab ask: questions to a crowd, answers that are on the disk before they are acknowledged, and a
// live page for whoever asks.
//
// # How it is built
//
// A person is a name in a cookie, with a code that only the server can make from the join code: nothing is kept of people but
// their answers, and a cookie outlives a restart. A question has a random number, under which the server keeps what was shown to whom. An answer
// has that number and a place: it can be given once, and only by who was asked.
package askserver

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/unicode/norm"

	"metriclab/pkg/ask"
	"metriclab/pkg/samesite"
)

//go:embed page
var files embed.FS

var pages = template.Must(template.ParseFS(files, "page/*.html"))

// Config is what a Server serves.
type Config struct {
	Items   *Items
	Session *ask.Session
	Journal *Journal
	// Code is what one must know to join; "" lets everybody in who reaches the server.
	Code string
	// Hosts are names of the server beside localhost and addresses.
	Hosts []string
	// Key opens the live page.
	Key string
	// Log tells the asker of what the page cannot, such as a disk that is full.
	Log func(format string, values ...any)
}

// Server answers the requests of browsers.
type Server struct {
	Config
	mux    *http.ServeMux
	person []byte // key of the cookies of people
	mu     sync.Mutex
	joins  map[netip.Addr]*bucket // wrong codes, by address
	people map[string]*visitor
	live   live
}

const (
	mostPeople  = 2000 // that are here at once
	mostOpen    = 16   // last questions of a person that can be answered, in several tabs
	mostDone    = 64   // last answers that are remembered, to know doubled ones
	mostBody    = 4 << 10
	idle        = 10 * time.Minute
	perSecond   = 8 // requests of a person, and
	atOnce      = 40
	wrongCodes  = 2 // per second and address, and
	wrongAtOnce = 50
	mostJoins   = 4096 // addresses that are remembered
	// hashes make a key of a code so slowly that nobody tries codes by cookies of their own, which are not counted.
	hashes = 600_000
)

// visitor is a person who is here.
type visitor struct {
	name string
	seen time.Time
	rate bucket
	open map[string]issued
	done map[string]*outcome
	// asked and answered are the numbers of questions, oldest first.
	asked, answered []string
}

// issued is a question that was shown.
type issued struct {
	q  ask.Question
	at time.Time
}

// outcome is an answer that is being written, until ready is closed.
type outcome struct {
	said  int
	ready chan struct{}
	err   error
}

// bucket is a rate: tokens come evenly, up to a size.
type bucket struct {
	tokens float64
	at     time.Time
}

// take takes a token if there is one. A clock that goes back gives none.
func (b *bucket) take(now time.Time, perSecond, size float64) bool {
	if b.at.IsZero() {
		b.tokens = size
	} else {
		b.tokens = min(size, b.tokens+perSecond*max(0, now.Sub(b.at).Seconds()))
	}
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// New returns a Server.
func New(c Config) *Server {
	s := &Server{Config: c, mux: http.NewServeMux(), joins: map[netip.Addr]*bucket{}, people: map[string]*visitor{}}
	n := hashes
	if c.Code == "" {
		n = 1
	}
	var err error
	if s.person, err = pbkdf2.Key(sha256.New, c.Code, []byte("metriclab ask person"), n, sha256.Size); err != nil {
		panic("askserver: New: " + err.Error())
	}
	s.mux.HandleFunc("GET /{$}", s.page("ask.html"))
	s.mux.HandleFunc("GET /static/{name}", s.static)
	s.mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	s.mux.HandleFunc("POST /join", s.join)
	s.mux.HandleFunc("GET /question", s.known(s.question))
	s.mux.HandleFunc("POST /answer", s.known(s.answer))
	s.mux.HandleFunc("GET /item/{n}", s.item)
	s.mux.HandleFunc("GET /live", s.liveEntry)
	s.mux.HandleFunc("GET /live/state", s.liveState)
	return s
}

// HTTP returns an http.Server with limits on time and sizes.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: samesite.Only(s.secured(s.mux), s.Hosts...), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: quiet,
	}
}

// secured sets what a browser may do with a page: load nothing from elsewhere, run no script but ours, be in no frame.
func (s *Server) secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cache-Control":                "no-store",
		} {
			w.Header().Set(name, value)
		}
		h.ServeHTTP(w, r)
	})
}

// page renders a page of the folder.
func (s *Server) page(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		host := (&url.URL{Host: r.Host}).Hostname()
		ip := net.ParseIP(host)
		_, joined := s.who(r)
		_ = pages.ExecuteTemplate(w, name, map[string]any{
			"Kind": s.Session.Params().Kind.String(), "Code": s.Code != "", "Plain": r.Header.Get("X-Forwarded-Proto") != "https" && host != "localhost" && (ip == nil || !ip.IsLoopback()), "Pictures": s.Items.Pictures(), "Joined": joined,
		})
	}
}

var staticTypes = map[string]string{"ask.css": "text/css; charset=utf-8", "ask.js": "text/javascript; charset=utf-8", "live.js": "text/javascript; charset=utf-8"}

func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	form, ok := staticTypes[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	raw, _ := files.ReadFile("page/" + name)
	w.Header().Set("Content-Type", form)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(raw)
}

const cookieName = "metriclab-ask"

// sign returns what only who has the key says of a text.
func sign(key []byte, text string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// who returns the name in a cookie, which this server has made, or one with the same join code.
func (s *Server) who(r *http.Request) (string, bool) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return "", false
	}
	text, mac, _ := strings.Cut(c.Value, ".")
	name, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || subtle.ConstantTimeCompare([]byte(mac), []byte(sign(s.person, string(name)))) != 1 {
		return "", false
	}
	return string(name), true
}

func setCookie(w http.ResponseWriter, name, value string) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: 7 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// names are those that people may give themselves: none that is a formula, a tag, or more than a line.
var names = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._'’-]{0,39}$`)

// plainName writes a name in one way: without blanks around it, and letters that nobody sees.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, name)
	return norm.NFC.String(strings.Join(strings.Fields(name), " "))
}

// decode reads a body of JSON.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.UnmarshalRead(http.MaxBytesReader(w, r.Body, mostBody), into, json.RejectUnknownMembers(true)); err != nil {
		refuse(w, http.StatusBadRequest, "this is no request of the page")
		return false
	}
	return true
}

// refuse says why not, for people.
func refuse(w http.ResponseWriter, status int, why string) {
	reply(w, status, struct {
		Error string `json:"error"`
	}{why})
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, value)
}

func (s *Server) join(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Name string `json:"name"`
		Code string `json:"code"`
	}
	if !decode(w, r, &in) {
		return
	}
	name := plainName(in.Name)
	if name == "" {
		name = "p-" + random(4)
	} else if !names.MatchString(name) {
		refuse(w, http.StatusBadRequest, "A name has letters, digits, blanks, and . _ ' -, at most 40, and begins with a letter or digit.")
		return
	}
	switch tried, right := s.try(r, strings.ToUpper(strings.TrimSpace(in.Code))); {
	case !tried:
		refuse(w, http.StatusTooManyRequests, "Too many wrong codes. Wait a little.")
		return
	case !right:
		refuse(w, http.StatusForbidden, "This is not the code.")
		return
	}
	setCookie(w, cookieName, base64.RawURLEncoding.EncodeToString([]byte(name))+"."+sign(s.person, name))
	reply(w, http.StatusOK, struct {
		Name string `json:"name"`
	}{name})
}

// try tells whether a code is the right one, unless too many wrong ones came from the same address: then not even the right one is told from them.
func (s *Server) try(r *http.Request, code string) (tried, right bool) {
	if s.Code == "" {
		return true, true
	}
	from, _ := netip.ParseAddrPort(r.RemoteAddr)
	addr := from.Addr().Unmap()
	if net64, err := addr.Prefix(64); addr.Is6() && err == nil { // of which one machine has all
		addr = net64.Addr()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.joins[addr]
	if b == nil {
		if len(s.joins) >= mostJoins {
			clear(s.joins)
		}
		b = &bucket{}
		s.joins[addr] = b
	}
	if !b.take(time.Now(), wrongCodes, wrongAtOnce) {
		return false, false
	}
	if right = subtle.ConstantTimeCompare([]byte(code), []byte(s.Code)) == 1; right {
		b.tokens++
	}
	return true, right
}

// random returns n random bytes, in hexadecimal digits.
func random(n int) string { return hex.EncodeToString(randomBytes(n)) }

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// known lets those in who have joined, and not more often than a person can.
func (s *Server) known(h func(w http.ResponseWriter, r *http.Request, v *visitor)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, ok := s.who(r)
		if !ok {
			refuse(w, http.StatusUnauthorized, "Join first.")
			return
		}
		s.mu.Lock()
		v := s.visitor(name)
		fast := v != nil && !v.rate.take(time.Now(), perSecond, atOnce)
		s.mu.Unlock()
		switch {
		case v == nil:
			refuse(w, http.StatusServiceUnavailable, "There are too many people here. Try again later.")
		case fast:
			refuse(w, http.StatusTooManyRequests, "Not so fast: take the time to look.")
		default:
			h(w, r, v)
		}
	}
}

// visitor returns who has that name, nil if there is no room. The lock is held.
func (s *Server) visitor(name string) *visitor {
	now := time.Now()
	v := s.people[name]
	if v == nil {
		if len(s.people) >= mostPeople {
			for other, v := range s.people {
				if now.Sub(v.seen) > idle {
					delete(s.people, other)
				}
			}
			if len(s.people) >= mostPeople {
				return nil
			}
		}
		v = &visitor{name: name, open: map[string]issued{}, done: map[string]*outcome{}}
		s.people[name] = v
	}
	v.seen = now
	return v
}

// shown is an item as the page gets it.
type shown struct {
	Item int    `json:"item"`
	Text string `json:"text"`
}

// asked is a question as the page gets it.
type asked struct {
	ID    string  `json:"id"`
	Items []shown `json:"items"`
	Name  string  `json:"name"`
}

// ask issues a question.
func (s *Server) ask(v *visitor) asked {
	q := s.Session.Next(v.name)
	out := asked{ID: random(16), Name: v.name}
	for _, item := range q.Items {
		if item >= 0 {
			text := s.Items.Names[item]
			if s.Items.Pictures() {
				text = s.Items.alt(item)
			}
			out.Items = append(out.Items, shown{item, text})
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v.offer(out.ID, issued{q, time.Now()})
	return out
}

// offer opens a question.
func (v *visitor) offer(id string, q issued) {
	v.open[id] = q
	if v.asked = append(v.asked, id); len(v.asked) > mostOpen {
		delete(v.open, v.asked[0])
		v.asked = v.asked[1:]
	}
}

func (s *Server) question(w http.ResponseWriter, _ *http.Request, v *visitor) {
	reply(w, http.StatusOK, s.ask(v))
}

// claim takes an open question for an answer. One that was answered, or is being answered, has mine = false.
func (v *visitor) claim(id string, said int) (q issued, o *outcome, mine bool) {
	if o := v.done[id]; o != nil {
		return q, o, false
	}
	q, open := v.open[id]
	if !open {
		return q, nil, false
	}
	o = &outcome{said: said, ready: make(chan struct{})}
	delete(v.open, id)
	v.done[id] = o
	if v.answered = append(v.answered, id); len(v.answered) > mostDone {
		delete(v.done, v.answered[0])
		v.answered = v.answered[1:]
	}
	return q, o, true
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, v *visitor) {
	var in struct {
		ID   string `json:"id"`
		Said *int   `json:"said"`
		MS   int64  `json:"ms"`
	}
	if !decode(w, r, &in) {
		return
	}
	if in.Said == nil {
		refuse(w, http.StatusBadRequest, "this is no request of the page")
		return
	}
	said, now := *in.Said, time.Now()
	s.mu.Lock()
	q, o, mine := v.claim(in.ID, said)
	s.mu.Unlock()
	switch {
	case o == nil:
		refuse(w, http.StatusGone, "This question is not open. Here is another one.")
		return
	case mine:
		took := time.Duration(min(max(0, in.MS), now.Sub(q.at).Milliseconds())) * time.Millisecond // by the clock that never goes back
		o.err = s.take(ask.Answer{Question: q.q, Said: said, Person: v.name, At: now, Took: took})
		if o.err != nil {
			s.mu.Lock()
			delete(v.done, in.ID)
			v.offer(in.ID, q)
			s.mu.Unlock()
		}
		close(o.ready)
	default:
		<-o.ready
	}
	switch {
	case errors.Is(o.err, ask.ErrAnswer):
		refuse(w, http.StatusBadRequest, "This is no answer to the question.")
	case o.err != nil:
		if mine {
			s.Log("an answer is not kept, and its sender is told so: %v", o.err)
		}
		refuse(w, http.StatusServiceUnavailable, "The answer could not be kept. Press again.")
	case o.said != said:
		refuse(w, http.StatusConflict, "This question has another answer already. Here is another question.")
	default:
		reply(w, http.StatusOK, s.ask(v))
	}
}

// take writes an answer to the disk, and then learns from it.
func (s *Server) take(a ask.Answer) error {
	if err := s.Session.Check(a); err != nil {
		return err
	}
	if err := s.Journal.Append(a); err != nil {
		return err
	}
	return s.Session.Learn(a)
}

// item sends a picture to those who have joined, and to the asker.
func (s *Server) item(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.PathValue("n"))
	if _, ok := s.who(r); !ok && !s.asker(r) {
		refuse(w, http.StatusUnauthorized, "Join first.")
		return
	}
	if err != nil || n < 0 || n >= len(s.Items.types) {
		http.NotFound(w, r)
		return
	}
	f, modified, err := s.Items.open(n)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", s.Items.types[n])
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	w.Header().Set("Cache-Control", "private, max-age=600")
	http.ServeContent(w, r, "", modified, f)
}

// Serve serves until ctx is done, and then lets requests under way end.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	h := s.HTTP()
	worked := make(chan struct{})
	working, stop := context.WithCancel(ctx)
	go func() {
		defer close(worked)
		s.work(working)
	}()
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(&limited{Listener: l, from: map[string]int{}}) }()
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		end, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if h.Shutdown(end) != nil {
			_ = h.Close()
		}
	}
	stop()
	<-worked
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// Address tells where a listener is reached, for a browser on this machine.
func Address(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("http://%s", net.JoinHostPort(host, port))
}
