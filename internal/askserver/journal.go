package askserver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"metriclab/pkg/ask"
)

// Journal is a file of answers that one process appends to. An answer is acknowledged once it is on the disk. Answers that come while the disk
// is busy are written together, so that many people wait for one write.
type Journal struct {
	path   string
	kind   ask.Kind
	names  []string
	f      *os.File
	in     chan *entry
	ended  chan struct{}
	once   sync.Once
	closed error // of Close
	size   int64 // of what is on the disk; of the goroutine that writes
	// sync is f.Sync; tests put others in its place.
	sync func() error
}

// entry is a line that somebody waits for.
type entry struct {
	line []byte
	err  chan error
}

// Resumed says what was found.
type Resumed struct {
	ask.Written
	// Torn is the name of the file with what was being written when a process was killed; "" if all lines were whole.
	Torn string
}

// errInUse is that of a file that another process appends to.
var errInUse = errors.New("another process asks into it: want one of its own, or stop that one")

// errBroken is that of a Journal that does not know what is on the disk.
var errBroken = errors.New("the disk did not confirm earlier answers, so that no more are taken: start again")

// OpenJournal opens a file of answers, or makes it, with the answers that it has. A last line that has no end was never acknowledged: it is moved to a
// file beside it. Another process cannot open it until Close.
func OpenJournal(path string, kind ask.Kind, names []string) (*Journal, Resumed, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, Resumed{}, err
	}
	j := &Journal{path: path, kind: kind, names: names, f: f, in: make(chan *entry), ended: make(chan struct{}), sync: f.Sync}
	found, err := j.resume(path)
	if err != nil {
		_ = f.Close()
		return nil, Resumed{}, err
	}
	go j.write()
	return j, found, nil
}

func (j *Journal) resume(path string) (found Resumed, err error) {
	if is, err := j.f.Stat(); err != nil || !is.Mode().IsRegular() {
		return found, errors.Join(err, fmt.Errorf("%s: it is no regular file", path))
	}
	if err := lock(j.f); err != nil {
		return found, fmt.Errorf("%s: %w", path, err)
	}
	if found.Written, err = j.kind.ReadWritten(j.f, path, j.names); err != nil {
		return found, err
	}
	size, err := j.f.Seek(0, io.SeekEnd)
	if err != nil {
		return found, err
	}
	if size > found.Whole {
		found.Torn = path + ".torn"
		t, err := os.OpenFile(found.Torn, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return found, err
		}
		_, err = io.Copy(t, io.MultiReader(io.NewSectionReader(j.f, found.Whole, size-found.Whole), strings.NewReader("\n")))
		if err := errors.Join(err, t.Sync(), t.Close()); err != nil {
			return found, err
		}
		if err := j.f.Truncate(found.Whole); err != nil {
			return found, err
		}
	}
	j.size = found.Whole
	if j.size == 0 {
		if err := j.put(j.kind.Header()); err != nil {
			return found, err
		}
		syncFolder(filepath.Dir(path))
	}
	return found, nil
}

// syncFolder makes the name of a new file durable where the system allows it.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Append returns once the answer is on the disk. After an error it is not in the file, unless that is errBroken.
func (j *Journal) Append(a ask.Answer) error {
	e := &entry{j.kind.Line(j.names, a), make(chan error, 1)}
	select {
	case j.in <- e:
		return <-e.err
	case <-j.ended:
		return os.ErrClosed
	}
}

// Close waits for what is being written.
func (j *Journal) Close() error {
	j.once.Do(func() {
		close(j.ended)
		j.in <- nil
		j.closed = j.f.Close()
	})
	return j.closed
}

// mostTogether is the largest number of answers of one write.
const mostTogether = 1000

// write writes what has come since the last write, until Close.
func (j *Journal) write() {
	broken := false
	for e := range j.in {
		if e == nil {
			return
		}
		batch, lines := []*entry{e}, e.line
		closing := false
	more:
		for len(batch) < mostTogether {
			select {
			case next := <-j.in:
				if next == nil {
					closing = true
					break more
				}
				batch, lines = append(batch, next), append(lines, next.line...)
			default:
				break more
			}
		}
		err := errBroken
		if !broken {
			if err = j.put(lines); errors.Is(err, errBroken) {
				broken = true
			}
		}
		for _, e := range batch {
			e.err <- err
		}
		if closing {
			return
		}
	}
}

// untouched returns an error unless the file is as it was left: a program that saves it again, or removes it, would take away what is written now.
func (j *Journal) untouched() error {
	ours, err := j.f.Stat()
	if err != nil {
		return err
	}
	if named, err := os.Stat(j.path); err != nil || !os.SameFile(ours, named) || ours.Size() != j.size {
		return fmt.Errorf("%s: another program has changed, replaced or removed it: put it back, or start again", j.path)
	}
	return nil
}

// put appends lines, all or none. If it cannot know which, the error is errBroken.
func (j *Journal) put(lines []byte) error {
	if err := j.untouched(); err != nil {
		return err
	}
	if _, err := j.f.WriteAt(lines, j.size); err != nil {
		if cut := j.f.Truncate(j.size); cut != nil {
			return fmt.Errorf("%w: %w, %w", errBroken, err, cut)
		}
		return err
	}
	// After a failed sync the system may have dropped what was written, and a second one would say nothing of it.
	if err := j.sync(); err != nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	j.size += int64(len(lines))
	return nil
}
