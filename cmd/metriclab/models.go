package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"metriclab/pkg/model"
	"metriclab/pkg/persist"
)

// loadModel reads a file that fit has written.
func loadModel(path string) (*model.Model, error) {
	if path == "" {
		return nil, usageError{errors.New("flag --model: no file given; metriclab fit makes one")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := model.Load(f)
	if errors.Is(err, persist.ErrKind) {
		switch kindOf(f) {
		case model.GramKind:
			return nil, fmt.Errorf("%s: %w; a model of fit --gram is for transform --cross-gram", path, err)
		case model.VectorsKind:
			return nil, fmt.Errorf("%s: %w; a model of fit --vectors is for transform and neighbours with --vectors", path, err)
		case model.ComparedKind:
			return nil, fmt.Errorf("%s: %w; a model of fit --triplets has coordinates for the objects compared, and no map for new ones: metriclab plot --model %s draws them, fit --coordinates writes them", path, err, path)
		}
		return nil, fmt.Errorf("%s: %w; only metriclab fit makes models", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// loadVectors reads the model of --model for vectors.
func loadVectors(path string, dim int) (*model.Vectors, error) {
	if path == "" {
		return nil, usageError{errors.New("flag --model: no file given; metriclab fit --vectors makes one")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := model.LoadVectors(f)
	if errors.Is(err, persist.ErrKind) {
		return nil, fmt.Errorf("%s: %w; a model of a table is for transform without --vectors", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Dim() != dim {
		return nil, fmt.Errorf("%s: the metric is of vectors of %d numbers, --vectors has %d", path, m.Dim(), dim)
	}
	return m, nil
}

// loadGram reads a file that fit --gram has written.
func loadGram(path string) (*model.Gram, error) {
	if path == "" {
		return nil, usageError{errors.New("flag --model: no file given; metriclab fit --gram makes one")}
	}
	m, err := persist.ReadFile(path, model.LoadGram)
	if errors.Is(err, persist.ErrKind) {
		return nil, fmt.Errorf("%w; only metriclab fit --gram makes models for --cross-gram", err)
	}
	return m, err
}

// loadTriplets reads a file that fit --triplets has written.
func loadTriplets(path string) (*model.Compared, error) {
	if path == "" {
		return nil, usageError{errors.New("flag --model: no file given; metriclab fit makes one")}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := model.LoadTriplets(f)
	if errors.Is(err, persist.ErrKind) {
		hint := "only metriclab fit makes models"
		switch kindOf(f) {
		case model.Kind:
			hint = "it is drawn with the rows of a table: metriclab plot DATA.csv --model " + path
		case model.VectorsKind:
			hint = "vectors are not drawn: transform --vectors writes their coordinates"
		case model.GramKind:
			hint = "objects of fit --gram are not drawn: transform --cross-gram writes their coordinates"
		}
		return nil, fmt.Errorf("%s: %w; %s", path, err, hint)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, err
}

// kindOf returns the kind of an open file of package persist, "" of another.
func kindOf(f *os.File) string {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	env, err := persist.Read(f)
	if err != nil {
		return ""
	}
	return env.Kind
}
