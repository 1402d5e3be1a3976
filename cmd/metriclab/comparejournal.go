package main

import (
	"fmt"
	"os"

	"metriclab/pkg/model"
)

// journal is an open journal.
type journal struct {
	f      *os.File
	j      model.Journal
	trials []model.Trial
	notes  []string
}

// openJournal opens a journal to go on, or begins one. It writes only at the end, a whole line at a time, so that other runs may do so at once.
func openJournal(path string, j model.Journal) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	trials, notes, whole, err := j.Read(f, path)
	var begin []byte
	if !whole {
		begin = []byte("\n") // ends the last line, whose writer was killed
	}
	if len(trials) == 0 {
		begin = append(begin, j.Head()...)
	}
	if err == nil && len(begin) > 0 {
		_, err = f.Write(begin)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("flag --resume: %w", err)
	}
	return &journal{f, j, trials, notes}, nil
}

func (j *journal) record(t model.Trial) error {
	_, err := j.f.Write(j.j.Line(t))
	return err
}

func (j *journal) Close() error { return j.f.Close() }
