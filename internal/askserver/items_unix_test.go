//go:build unix

package askserver

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A picture that became a pipe is no picture: nobody waits for its other end.
func TestPipeServed(t *testing.T) {
	dir := pictures(t, 3)
	i, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	path := filepath.Join(dir, "p000.png")
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)
	go func() {
		_, _, err := i.open(0)
		opened <- err
	}()
	select {
	case err := <-opened:
		if err == nil {
			t.Error("a pipe was opened")
		}
	case <-time.After(5 * time.Second):
		t.Error("a pipe is waited for")
	}
}
