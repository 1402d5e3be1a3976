package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"metriclab/pkg/datasets"
	"metriclab/pkg/experiment"
)

// digest returns what a job's key says about a data set: "" for generated
// data; the registry's own digest where the registry's checksums bind, so that
// ids are known before the data are there; the digest of the files as they lie
// in the store where official files may differ.
func digest(ctx context.Context, store *datasets.Store, name string) (string, error) {
	entry, err := datasets.Lookup(name)
	if err != nil {
		return "", nil // not a registered data set: generated
	}
	var lines strings.Builder
	for _, f := range entry.Files {
		fmt.Fprintf(&lines, "%s  %s\n", f.SHA256, f.Path)
	}
	if !bound(name) && store != nil {
		sum, err := store.Checksum(ctx, name)
		var missing *datasets.MissingError
		if err == nil || !errors.As(err, &missing) {
			return sum, err
		}
	}
	sum := sha256.Sum256([]byte(lines.String()))
	return hex.EncodeToString(sum[:]), nil
}

// bound reports whether the digest of a data set is known without its files:
// it is generated, or the registry's checksums bind.
func bound(name string) bool {
	entry, err := datasets.Lookup(name)
	return err != nil || !slices.ContainsFunc(entry.Files, func(f datasets.File) bool { return !f.Comparable })
}

// supplied returns the experiment as it can be run: without the cells marked Supplied of whose data set no file is in the store, nil for none. It
// returns a *datasets.MissingError if some files of such a data set are there and others are not, or if all are missing and
// one of its cells is named.
func supplied(s experiment.Spec, scale experiment.Scale, store *datasets.Store, named []string) (experiment.Spec, error) {
	var kept, left []experiment.Cell
	for _, c := range s.Cells(scale) {
		if !c.Supplied {
			kept = append(kept, c)
			continue
		}
		missing, some, err := missingFile(store, c.Dataset)
		if err != nil {
			return s, err
		}
		switch {
		case missing == "":
			kept = append(kept, c)
		case some || slices.Contains(named, c.Name):
			return s, &datasets.MissingError{Dataset: c.Dataset, Path: missing}
		default:
			left = append(left, c)
		}
	}
	if left != nil {
		all := s.Cells
		s.Cells = func(at experiment.Scale) []experiment.Cell {
			if at != scale {
				return all(at)
			}
			return slices.Clone(kept)
		}
	}
	return s, nil
}

// missingFile returns the path of the first missing file of a data set, "" if there is none, and whether some file is there.
func missingFile(store *datasets.Store, name string) (path string, some bool, err error) {
	if store == nil {
		return name, false, nil
	}
	files, err := store.Status(name)
	if err != nil {
		return "", false, err
	}
	for _, f := range files {
		if f.State != datasets.FileMissing {
			some = true
		} else if path == "" {
			path = store.Path(f.Path)
		}
	}
	return path, some, nil
}

// checkData returns the first error of the data sets that jobs need: a file is
// missing or damaged.
func checkData(ctx context.Context, store *datasets.Store, names []string) error {
	for _, name := range names {
		if _, err := datasets.Lookup(name); err != nil {
			continue // generated
		}
		if store == nil {
			return fmt.Errorf("experiment: data set %s is needed, but there is no data store", name)
		}
		if _, err := store.Checksum(ctx, name); err != nil {
			return err
		}
	}
	return nil
}
