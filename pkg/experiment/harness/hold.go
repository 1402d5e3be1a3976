package harness

import (
	"errors"
	"fmt"
	"os"
)

// hold keeps folders open, so that it is noticed if one is removed or another
// takes its place. An open folder keeps its identity: no new one can get the
// same.
type hold struct{ dirs []*os.File }

// hold has every write to the store check, before and after, that the given
// folders are still those of now. A write makes folders that are missing, so that
// without this one that was removed would come back with a part of its files.
func (s *jobStore) hold(dirs ...string) (*hold, error) {
	h := &hold{}
	for _, dir := range dirs {
		f, err := os.Open(dir)
		if err != nil {
			h.release()
			return nil, fmt.Errorf("experiment: results folder: %w", err)
		}
		h.dirs = append(h.dirs, f)
	}
	write := s.write
	s.write = func(path string, data []byte) error {
		if err := h.check(); err != nil {
			return err
		}
		return errors.Join(write(path, data), h.check())
	}
	return h, nil
}

// check returns an error unless all folders are where they were.
func (h *hold) check() error {
	for _, f := range h.dirs {
		was, err := f.Stat()
		if err != nil {
			return fmt.Errorf("experiment: results folder: %w", err)
		}
		if is, err := os.Stat(f.Name()); err != nil || !os.SameFile(was, is) {
			return fmt.Errorf("experiment: the results folder %s was removed or replaced while it was written to", f.Name())
		}
	}
	return nil
}

func (h *hold) release() {
	for _, f := range h.dirs {
		_ = f.Close() // only read
	}
}
