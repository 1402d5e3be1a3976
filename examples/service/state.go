package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"metriclab/pkg/learners/pairs"
)

// load returns a service with the learner that save kept, or with a new one.
func load(path string) (*service, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		learner, err := pairs.NewPOLA(2, pairs.POLAParams{})
		return &service{learner: learner}, err
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	learner, err := pairs.LoadPOLA(f) // a damaged file is an error
	return &service{learner: learner}, err
}

// save replaces the file as a whole: a crash on the way leaves the old one.
func (s *service) save(path string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "service-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // there is none after the rename
	if err := errors.Join(s.learner.Save(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
