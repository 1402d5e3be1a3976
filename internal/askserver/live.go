package askserver

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"

	"metriclab/pkg/ask"
)

const (
	// choosing and reporting are how often, at most, questions are chosen and a report is made.
	choosing  = time.Second
	reporting = 5 * time.Second
	// mostDrawn bounds the marks of the map, mostPeopleShown the rows of people.
	mostDrawn       = 300
	mostPeopleShown = 100
	asCookie        = "metriclab-ask-live"
)

// live is what the live page shows, as of the last report.
type live struct {
	mu     sync.Mutex
	report ask.Report
	curve  []curvePoint
}

// curvePoint is the error after so many answers.
type curvePoint struct {
	Answers int `json:"answers"`
	ask.Share
}

// Report returns the last report.
func (s *Server) Report() ask.Report {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	return s.live.report
}

// work chooses questions and makes reports, one after the other on one core, until ctx is done. Questions are chosen between the fits of a report, too.
func (s *Server) work(ctx context.Context) {
	var chosen, reported time.Time // when each ended
	var took time.Duration         // of the last report
	advance := func() {
		if time.Since(chosen) < choosing {
			return
		}
		if err := s.Session.Advance(ctx); err != nil && ctx.Err() == nil {
			s.Log("questions are random until this is over: %v", err)
		}
		chosen = time.Now()
	}
	for tick := time.NewTicker(choosing / 4); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		advance()
		if time.Since(reported) < max(reporting, took) || s.Session.Count() == s.Report().Answers {
			continue
		}
		begin := time.Now()
		r, err := s.Session.Report(ctx, advance)
		switch {
		case err == nil:
			s.publish(r)
		case ctx.Err() == nil:
			s.Log("the map is not drawn: %v", err)
		}
		reported = time.Now()
		took = reported.Sub(begin)
	}
}

func (s *Server) publish(r ask.Report) {
	s.live.mu.Lock()
	defer s.live.mu.Unlock()
	s.live.report = r
	if r.Wrong.N == 0 {
		return
	}
	s.live.curve = append(s.live.curve, curvePoint{r.Answers, r.Wrong})
	const most = 400
	if len(s.live.curve) > most { // every second point stays, with the last
		kept := s.live.curve[:0]
		for i, p := range s.live.curve {
			if i%2 == 0 {
				kept = append(kept, p)
			}
		}
		s.live.curve = kept
	}
}

// asker tells whether a request has the asker's cookie.
func (s *Server) asker(r *http.Request) bool {
	c, err := r.Cookie(asCookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(sign([]byte(s.Key), asCookie))) == 1
}

// liveEntry makes a cookie of the key in the address, and takes the key out of it.
func (s *Server) liveEntry(w http.ResponseWriter, r *http.Request) {
	if key := r.URL.Query().Get("key"); subtle.ConstantTimeCompare([]byte(key), []byte(s.Key)) == 1 {
		setCookie(w, asCookie, sign([]byte(s.Key), asCookie))
		http.Redirect(w, r, "/live", http.StatusSeeOther)
		return
	}
	if !s.asker(r) {
		http.Error(w, "This page is the asker's: open the address with its key, which the program printed.", http.StatusForbidden)
		return
	}
	s.page("live.html")(w, r)
}

type mark struct {
	shown
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// state is the live page's JSON. The map lies in the square from 0 to 1.
type state struct {
	Answers   int          `json:"answers"` // now
	Of        int          `json:"of"`      // of the report
	Items     int          `json:"items"`
	Unasked   int          `json:"unasked"`
	Choose    string       `json:"choose"`
	Random    float64      `json:"random"` // share
	Pictures  bool         `json:"pictures"`
	Here      int          `json:"here"` // people of the last minute
	People    []ask.Person `json:"people"`
	Everybody int          `json:"everybody"`
	Agreement ask.Share    `json:"agreement"`
	Wrong     ask.Share    `json:"wrong"`
	Chance    float64      `json:"chance"`
	Gain      ask.Share    `json:"gain"`
	Enough    bool         `json:"enough"`
	Last      int          `json:"last"`
	Curve     []curvePoint `json:"curve"`
	Map       []mark       `json:"map"`
	Mapped    int          `json:"mapped"`
}

func (s *Server) liveState(w http.ResponseWriter, r *http.Request) {
	if !s.asker(r) {
		refuse(w, http.StatusForbidden, "This is the asker's.")
		return
	}
	s.live.mu.Lock()
	rep, curve := s.live.report, append([]curvePoint{}, s.live.curve...)
	s.live.mu.Unlock()
	params := s.Session.Params()
	out := state{
		Answers: s.Session.Count(), Of: rep.Answers, Items: len(s.Items.Names), Unasked: s.Session.Unasked(), Pictures: s.Items.Pictures(),
		Choose: params.Choose.String(), Random: params.Random,
		Agreement: s.Session.Agreement(), Wrong: rep.Wrong, Chance: params.Kind.Chance(), Gain: rep.Gain,
		Enough: rep.Enough(), Last: rep.Last, Curve: curve, Map: []mark{}, Mapped: len(rep.Items),
	}
	people := s.Session.People()
	out.Everybody = len(people)
	out.People = people[:min(mostPeopleShown, len(people))]
	s.mu.Lock()
	for _, v := range s.people {
		if time.Since(v.seen) < time.Minute {
			out.Here++
		}
	}
	s.mu.Unlock()
	for i, xy := range rep.Square() {
		if i == mostDrawn {
			break
		}
		item := rep.Items[i]
		out.Map = append(out.Map, mark{shown{item, s.Items.alt(item)}, xy[0], xy[1]})
	}
	reply(w, http.StatusOK, out)
}

// NewCode returns a code that is easy to tell: eight letters and digits, of which none looks like another.
func NewCode() string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789" // 32
	var b strings.Builder
	for _, c := range randomBytes(8) {
		b.WriteByte(letters[c%32])
	}
	return b.String()
}

// NewKey returns what opens the live page.
func NewKey() string { return random(16) }
