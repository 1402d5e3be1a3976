package askserver

import (
	"io"
	"log"
	"net"
	"sync"
)

// mostConnections are open at once, mostFromOne of them from one address. A browser opens up to six.
const (
	mostConnections = 2048
	mostFromOne     = 512
)

// quiet is for what net/http says of clients that break off, which anybody could make it say.
var quiet = log.New(io.Discard, "", 0)

// limited is a listener that closes connections beyond these.
type limited struct {
	net.Listener
	mu   sync.Mutex
	from map[string]int // open ones of each address
	open int
}

func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		if l.count(host, 1) {
			return &counted{Conn: c, leave: sync.OnceFunc(func() { l.count(host, -1) })}, nil
		}
		_ = c.Close()
	}
}

// count counts a connection that comes or goes; one for which there is no room is not counted.
func (l *limited) count(host string, by int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if by > 0 && (l.open >= mostConnections || l.from[host] >= mostFromOne) {
		return false
	}
	l.open += by
	if l.from[host] += by; l.from[host] == 0 {
		delete(l.from, host)
	}
	return true
}

type counted struct {
	net.Conn
	leave func()
}

func (c *counted) Close() error {
	c.leave()
	return c.Conn.Close()
}
