//go:build unix

package examples

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// start starts the service, and returns its address and what stops it: an interrupt.
func start(t *testing.T, state string) (url string, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program("service"), "-addr", "127.0.0.1:0", "-state", state)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, cmd.Wait())
	}
	return strings.TrimPrefix(strings.TrimSpace(line), "listening on "), func() {
		t.Helper()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("after an interrupt the service ends with %v", err)
		}
	}
}

// post returns the status and the body of an answer.
func post(t *testing.T, url, body string) string {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.Status + " " + strings.TrimSpace(string(raw))
}

// The service learns, refuses what is no pair, saves at an interrupt, and goes on
// from there.
func TestService(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "new", "state.json")
	const pair, apart = `{"x":[2,0],"y":[0,0]}`, `{"x":[2,0],"y":[0,0],"label":-1}`

	url, stop := start(t, state)
	for _, c := range []struct{ path, body, want string }{
		{"/predict", pair, `200 OK {"sqdist":0,"similar":true}`},
		{"/learn", apart, `200 OK {"sqdist":0,"similar":true,"loss":2,"mistake":true,"step":-0.`},
		{"/learn", pair, "400 Bad Request"},
		{"/predict", `{"x":[2],"y":[0,0]}`, "400 Bad Request"},
		{"/predict", `{"x":[1e300,0],"y":[0,0]}`, "400 Bad Request"},
		{"/predict", `{"x":`, "400 Bad Request"},
		{"/predict", `{"x":[2,0],"y":[0,0],"z":1}`, "400 Bad Request"},
		{"/learn", `{"x":[2,0],"y":[0,0],"lable":1,"label":1}`, "400 Bad Request"},
		{"/learn", `{"x":[2,0],"x":[0,0],"y":[0,0],"label":1}`, "400 Bad Request"},
		{"/learn", `{"X":[2,0],"y":[0,0],"label":1}`, "400 Bad Request"},
		{"/predict", pair + pair, "400 Bad Request"},
	} {
		if got := post(t, url+c.path, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s answers %s, want %s", c.path, c.body, got, c.want)
		}
	}
	// Pages of other sites are refused; package samesite has all cases.
	r, err := http.NewRequest(http.MethodPost, url+"/predict", strings.NewReader(pair))
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a request to evil.example: %s", answer.Status)
	}
	learned := post(t, url+"/predict", pair)
	if !strings.Contains(learned, `"similar":false`) {
		t.Errorf("after learning, the pair is answered %s", learned)
	}
	stop()

	if entries, err := os.ReadDir(filepath.Dir(state)); err != nil || len(entries) != 1 {
		t.Errorf("the folder of the state has %v (%v), want the state alone", entries, err)
	}
	url, stop = start(t, state)
	if got := post(t, url+"/predict", pair); got != learned {
		t.Errorf("started again, the pair is answered %s, before %s", got, learned)
	}
	stop()
}
