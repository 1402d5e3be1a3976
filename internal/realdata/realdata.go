// Package realdata gives tests the real data sets in the repository's data
// folder, and says plainly why when it cannot.
package realdata

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"metriclab/internal/needs"
	"metriclab/pkg/datasets"
)

// Store returns the store on the repository's data folder, in which all files
// of the named data sets are present. Under -short the test is skipped. If a
// file is missing, the message names the command that fetches it: the test
// fails where the environment variable CI is set, and is skipped elsewhere.
func Store(t testing.TB, names ...string) *datasets.Store {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real data: not run under -short")
	}
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	store := datasets.Open(filepath.Join(root, "data"))
	for _, name := range names {
		files, err := store.Status(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.State == datasets.FileUnconfirmed { // its size differs: its values decide
				if f, err = datasets.VerifyFile(t.Context(), f.Path, store.Path(f.Path)); err != nil {
					t.Fatal(err)
				}
			}
			if f.State.Usable() {
				continue
			}
			needs.Missing(t, &datasets.MissingError{Dataset: name, Path: store.Path(f.Path)})
		}
	}
	return store
}

// findRoot returns the folder of the module's go.mod, at or above the working
// directory, which under go test is the package's.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || parent == dir {
			return "", err
		}
		dir = parent
	}
}
