package persist

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"metriclab/internal/atomicfile"
)

// Saver is what has a Save: every online learner, a metric, a model.
type Saver interface{ Save(w io.Writer) error }

// ReadFile loads the file at path by load, such as pairs.LoadPOLA. Its errors name path, and
// wrap those of opening it (fs.ErrNotExist if there is no such file) or of load.
func ReadFile[T any](path string, load func(r io.Reader) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		return *new(T), err
	}
	defer f.Close()
	v, err := load(f)
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// WriteFile saves s to the file at path as a whole, and makes the folders that are
// missing: under a temporary name in the same folder, synced, then renamed. A program that
// dies on the way, or an error, of s.Save too, leaves the old file as it was; one that is killed may leave
// the temporary file, .metriclab-*.tmp, which may be removed. A new file has
// permissions 0644, one that is replaced keeps its own; a link at path is replaced, not
// followed. On Windows a file that another process has open is not replaced, after two
// seconds of trying. Every error names path. WriteFile panics if s is nil.
func WriteFile(path string, s Saver) error {
	if s == nil {
		panic("persist: WriteFile of nil")
	}
	var file bytes.Buffer
	err := s.Save(&file)
	if err == nil {
		err = atomicfile.Write(path, file.Bytes())
	}
	if err != nil {
		return fmt.Errorf("%s is not written: %w", path, err)
	}
	return nil
}
