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
