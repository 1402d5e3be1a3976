package samesite

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

func Example() {
	h := Only(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }), "room.example")
	for _, host := range []string{"localhost:8080", "room.example", "evil.example"} {
		r, w := httptest.NewRequest("GET", "http://"+host+"/", nil), httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(host, w.Code)
	}
	// Output:
	// localhost:8080 200
	// room.example 200
	// evil.example 421
}

// What a page of another site makes a browser send: across origins, or to a name that leads here.
func TestOnly(t *testing.T) {
	h := Only(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "Room.example", "")
	for _, c := range []struct {
		host, origin, site string
		want               int
	}{
		{"127.0.0.1:1", "", "", 200}, {"127.0.0.1:1", "http://127.0.0.1:1", "same-origin", 200}, {"LOCALHOST", "", "", 200}, {"[::1]:1", "", "", 200}, {"10.0.0.1", "", "none", 200}, {"room.example:80", "", "", 200},
		{"127.0.0.1:1", "http://evil.example", "", 403}, {"127.0.0.1:1", "null", "", 403}, {"127.0.0.1:1", "", "cross-site", 403}, {"127.0.0.1:1", "http://127.0.0.1:2", "", 403}, {"127.0.0.1:1", "http://127.0.0.1:1", "same-site", 403},
		{"evil.example", "", "", 421}, {"evil.example:80", "http://evil.example:80", "same-origin", 421}, {"localhost.evil.example", "", "", 421}, {"127.0.0.1.evil.example", "", "", 421}, {"a.room.example", "", "", 421}, {"", "", "", 421}, {":80", "", "", 421},
	} {
		r, w := httptest.NewRequest(http.MethodPost, "http://x/", nil), httptest.NewRecorder()
		r.Host = c.host
		for name, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		if h.ServeHTTP(w, r); w.Code != c.want {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
}
