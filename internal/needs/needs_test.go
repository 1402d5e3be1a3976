package needs

import (
	"os"
	"path/filepath"
	"testing"
)

// recorder is a TB that notes how a test ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper() {}

func (r *recorder) Skip(...any) { r.ended = "skip"; panic(r) }

func (r *recorder) Fatal(...any) { r.ended = "fatal"; panic(r) }

func TestMissing(t *testing.T) {
	for ci, want := range map[string]string{"": "skip", "true": "fatal"} {
		t.Setenv("CI", ci)
		r := &recorder{TB: t}
		func() {
			defer func() {
				if p := recover(); p != r {
					t.Errorf("CI=%q: the test went on: %v", ci, p)
				}
			}()
			Missing(r, "a tool")
		}()
		if r.ended != want {
			t.Errorf("CI=%q: %q, want %q", ci, r.ended, want)
		}
	}
}

func TestSymlink(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	Symlink(t, "anywhere", link)
	if target, err := os.Readlink(link); err != nil || target != "anywhere" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}
