package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"metriclab/internal/enum"
	"metriclab/pkg/limits"
)

// Store is a folder of data files laid out as the registry says. It loads each
// data set at most once and is safe for concurrent use.
type Store struct {
	dir     string
	entries []Entry
	getting sync.Mutex // one download at a time: two would share a part file

	mnistMu sync.Mutex
	mnist   *[2]*Images // nil until loaded

	reutersMu sync.Mutex
	reuters   *Reuters // nil until loaded

	newsMu sync.Mutex
	news   *[2]Texts // posts with their headers; nil until loaded

	classicMu sync.Mutex
	classic   *Texts // nil until loaded

	setsMu sync.Mutex
	sets   map[string]*Set // by name, once loaded

	tripletsMu sync.Mutex
	triplets   map[string]*TripletSet // by name, once loaded

	mu   sync.Mutex
	sums map[string]string // data set -> Checksum
}

// Open returns the store on a folder, which need not exist yet. Nothing is
// read before it is asked for.
func Open(dir string) *Store { return open(dir, registry) }

func open(dir string, entries []Entry) *Store {
	return &Store{dir: dir, entries: entries, sums: map[string]string{}, sets: map[string]*Set{}, triplets: map[string]*TripletSet{}}
}

// Dir returns the folder.
func (s *Store) Dir() string { return s.dir }

// Path returns where the file of that registry path lies.
func (s *Store) Path(file string) string { return filepath.Join(s.dir, filepath.FromSlash(file)) }

// MNIST returns the 60000 training and 10000 test images of 28×28 pixels
// (LeCun, Bottou, Bengio, Haffner 1998), which all callers share and must not
// change. The first call that succeeds reads the files, while other callers
// wait; a failure is not remembered, so that a caller may Get and try again.
// The error is a *MissingError if a file is missing, and a *FormatError if one
// is damaged or the two parts differ in shape.
func (s *Store) MNIST() (train, test *Images, err error) {
	s.mnistMu.Lock()
	defer s.mnistMu.Unlock()
	if s.mnist == nil {
		parts, err := s.loadMNIST()
		if err != nil {
			return nil, nil, err
		}
		s.mnist = &parts
	}
	return s.mnist[0], s.mnist[1], nil
}

func (s *Store) loadMNIST() (parts [2]*Images, err error) {
	var files [2][2]string
	for p, part := range []string{"train", "t10k"} {
		for k, kind := range []string{"images-idx3", "labels-idx1"} {
			file := "mnist/" + part + "-" + kind + "-ubyte.gz"
			files[p][k] = s.Path(file)
			if _, err := os.Stat(files[p][k]); errors.Is(err, fs.ErrNotExist) {
				return parts, &MissingError{Dataset: "mnist", Path: files[p][k]}
			}
		}
	}
	for p, name := range []string{"mnist-train", "mnist-test"} {
		m, err := LoadImages(files[p][0], files[p][1])
		if err != nil {
			return [2]*Images{}, err
		}
		m.Name = name
		parts[p] = m
	}
	if a, b := parts[0], parts[1]; a.H != b.H || a.W != b.W {
		return [2]*Images{}, &FormatError{files[1][0], 8, "size of an image", fmt.Sprintf("%d×%d", b.H, b.W),
			fmt.Sprintf("%d×%d, as in %s", a.H, a.W, files[0][0]), nil}
	}
	return parts, nil
}

// MissingError is returned when a data set is needed whose file is missing. It
// says which command fetches it.
type MissingError struct {
	Dataset string
	Path    string // the first missing file
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("datasets: %s is missing; get it with: metriclab data get %s   (or ./download.sh %s)", e.Path, e.Dataset, e.Dataset)
}

// Is reports that a MissingError is fs.ErrNotExist.
func (e *MissingError) Is(target error) bool { return target == fs.ErrNotExist }

// FileState says how a file in a store compares with the registry.
type FileState int

const (
	// FileMissing: there is no such file.
	FileMissing FileState = iota
	// FileWrongSize: the size differs from the registry's, in a file that is comparable.
	FileWrongSize
	// FileWrongChecksum: the SHA-256 differs, in a file that is comparable.
	FileWrongChecksum
	// FileWrongContent: the file differs from the known copy and its values do, too, or it is
	// not of the kind that the registry names. FileStatus.Why says which check failed.
	FileWrongContent
	// FileUnconfirmed: the size differs from that of the known copy, in a file that is not
	// comparable, and the content has not been read. Verify decides.
	FileUnconfirmed
	// FileUnchecked: the file has been read and is of the right kind, if the registry names
	// one, but no checksum is known (File.SHA256 is empty).
	FileUnchecked
	// FilePresent: the size is right, or none is known; the content has not been read.
	FilePresent
	// FileSameContent: the bytes differ from those of the known copy, but the values do
	// not (File.Content).
	FileSameContent
	// FileOK: size and SHA-256 are right.
	FileOK
)

var stateNames = enum.Of[FileState]("State(%d)", "missing", "wrong size", "wrong checksum", "wrong content", "unconfirmed",
	"not verified: no checksum is known", "present", "ok: content", "ok: SHA-256")

// String returns the state in words.
func (s FileState) String() string { return stateNames.Text(s) }

// Usable reports whether the file can be worked with: FileOK, FileSameContent, FilePresent or
// FileUnchecked.
func (s FileState) Usable() bool { return s >= FileUnchecked }

// FileStatus is the state of one file.
type FileStatus struct {
	File
	State FileState
	Size  int64  // found; 0 if missing
	Sum   string // SHA-256 found; "" if the content has not been read
	Why   string // in the state WrongContent, the check that failed and what it found
}

// Status compares the sizes of a data set's files with the registry; it reads
// no content, so that its best answer is Present. It returns an *UnknownError
// for an unknown name, and an error if a file cannot be looked at.
func (s *Store) Status(name string) ([]FileStatus, error) {
	e, err := lookup(s.entries, name)
	if err != nil {
		return nil, err
	}
	out := make([]FileStatus, len(e.Files))
	for i, f := range e.Files {
		if out[i], err = s.statusOf(f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) statusOf(f File) (FileStatus, error) {
	st := FileStatus{File: f}
	info, err := os.Stat(s.Path(f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return st, nil
	case err != nil:
		return st, fmt.Errorf("datasets: %w", err)
	case !info.Mode().IsRegular():
		return st, fmt.Errorf("datasets: %s is not a regular file", s.Path(f.Path))
	}
	st.Size = info.Size()
	switch {
	case st.Size == f.Bytes, f.Bytes == 0:
		st.State = FilePresent
	case f.Comparable:
		st.State = FileWrongSize
	default:
		st.State = FileUnconfirmed
	}
	return st, nil
}

// Verify is Status with the content read and compared: first its SHA-256, and then, in
// a file that is not comparable, its values (File.Content). It returns ctx.Err() if ctx
// ends first.
func (s *Store) Verify(ctx context.Context, name string) ([]FileStatus, error) {
	out, err := s.Status(name)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if err := s.verify(ctx, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Store) verify(ctx context.Context, st *FileStatus) error {
	if st.State == FileMissing || st.State == FileWrongSize {
		return nil
	}
	file, err := os.Open(s.Path(st.Path))
	if err != nil {
		return fmt.Errorf("datasets: %w", err)
	}
	defer file.Close()
	*st, err = examine(ctx, st.File, file)
	return err
}

// VerifyFile is Verify for one file that may lie anywhere: it is compared with the
// registry's file of that path. It returns an error if the registry has no such file.
func VerifyFile(ctx context.Context, registryPath, file string) (FileStatus, error) {
	for _, e := range registry {
		for _, f := range e.Files {
			if f.Path != registryPath {
				continue
			}
			in, err := limits.Open(file)
			if err != nil {
				return FileStatus{File: f}, fmt.Errorf("datasets: %w", err)
			}
			defer in.Close()
			return examine(ctx, f, in)
		}
	}
	return FileStatus{}, fmt.Errorf("datasets: %q is not the path of a file in the registry, such as %q", registryPath, registry[0].Files[0].Path)
}

// examine reads all of a file. Errors are those of reading: a file that is wrong has a
// State that says so.
func examine(ctx context.Context, f File, file *os.File) (FileStatus, error) {
	st := FileStatus{File: f}
	h := sha256.New()
	_, err := file.Seek(0, io.SeekStart)
	if err == nil {
		st.Size, err = io.Copy(h, &ctxReader{ctx, file})
	}
	if err != nil {
		return st, fmt.Errorf("datasets: %s: %w", file.Name(), err)
	}
	st.Sum = hex.EncodeToString(h.Sum(nil))
	switch {
	case st.Sum == f.SHA256:
		st.State = FileOK
		return st, nil
	case f.Comparable:
		st.State = FileWrongChecksum
		if f.Bytes > 0 && st.Size != f.Bytes {
			st.State = FileWrongSize
		}
		return st, nil
	case f.Content.Kind == "" && f.SHA256 != "":
		st.State, st.Why = FileWrongContent, fmt.Sprintf("wrong SHA-256: is %s, want %s", st.Sum, f.SHA256)
		return st, nil
	case f.Content.Kind == "":
		st.State = FileUnchecked
		return st, nil
	}
	err = f.Content.check(ctx, file, f.Path, st.Size)
	var wrong *ContentError
	switch {
	case errors.As(err, &wrong):
		st.State, st.Why, err = FileWrongContent, wrong.Why, nil
	case err == nil && f.SHA256 == "":
		st.State = FileUnchecked
	case err == nil:
		st.State = FileSameContent
	}
	return st, err
}

// wrong is the error for a file that is not usable. from is where it came from, or "".
func (st FileStatus) wrong(file, from, dataset string) error {
	if st.State == FileWrongContent {
		return &ContentError{File: file, From: from, Why: st.Why, Dataset: dataset}
	}
	return &ChecksumError{File: file, URL: from, Size: st.Size, WantSize: st.Bytes, Got: st.Sum, Want: st.SHA256, Dataset: dataset}
}

// Checksum returns one SHA-256 for the data set as it lies in the store: that
// of the lines "<sha256>  <path>\n" of its files in the registry's order. A file in the
// state FileSameContent counts with the SHA-256 of the known copy, since all that is
// computed from the two is equal. The files are read on the first successful call. It
// returns a *MissingError if a file is missing, and a *ChecksumError or a
// *ContentError if one is wrong.
func (s *Store) Checksum(ctx context.Context, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum, ok := s.sums[name]; ok {
		return sum, nil
	}
	files, err := s.Verify(ctx, name)
	if err != nil {
		return "", err
	}
	var lines strings.Builder
	for _, f := range files {
		switch {
		case f.State == FileMissing:
			return "", &MissingError{Dataset: name, Path: s.Path(f.Path)}
		case !f.State.Usable():
			return "", f.wrong(s.Path(f.Path), "", name)
		case f.State == FileSameContent:
			f.Sum = f.SHA256
		}
		fmt.Fprintf(&lines, "%s  %s\n", f.Sum, f.Path)
	}
	sum := sha256.Sum256([]byte(lines.String()))
	s.sums[name] = hex.EncodeToString(sum[:])
	return s.sums[name], nil
}

// ChecksumError is returned for a file whose content is not what the registry
// says.
type ChecksumError struct {
	File           string // where the file is, or was to be
	URL            string // where it came from; "" if it lay there
	Size, WantSize int64  // in bytes; WantSize is 0 if it is not known
	Got, Want      string // SHA-256; Got is "" if the size settled it
	Dataset        string // whose file it is, if it lay there: how to get it again
}

func (e *ChecksumError) Error() string {
	msg := "datasets: " + e.File
	if e.URL != "" {
		msg += " from " + e.URL
	}
	switch {
	case e.Got == "":
		msg = fmt.Sprintf("%s: %d bytes, want %d", msg, e.Size, e.WantSize)
	case e.WantSize == 0:
		msg = fmt.Sprintf("%s: SHA-256 is %s, want %s (%d bytes)", msg, e.Got, e.Want, e.Size)
	default:
		msg = fmt.Sprintf("%s: SHA-256 is %s, want %s (%d bytes, want %d)", msg, e.Got, e.Want, e.Size, e.WantSize)
	}
	if e.Dataset != "" {
		msg += fmt.Sprintf("; get it again with: metriclab data get %s   (or ./download.sh %s)", e.Dataset, e.Dataset)
	}
	return msg
}

// ctxReader is a reader that fails once its context is done.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
