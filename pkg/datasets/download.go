package datasets

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/limits"
)

// Options says how Get reaches the world. The zero value downloads from the
// official sources, silently.
type Options struct {
	// Mirror is a folder, or an http(s) address, with the files under their
	// registry paths. It is tried before the official sources. "" means none.
	Mirror string
	// Client makes the requests; nil means http.DefaultClient.
	Client *http.Client
	// Stall is how long a server may send nothing, before its answer or within it,
	// until the download fails with a *StallError; 0 means a minute.
	Stall time.Duration
	// Progress, if not nil, is called as bytes arrive, with the total or −1. For
	// an archive, file is its address.
	Progress func(file string, done, total int64)
	// Warn, if not nil, is called for a file that was accepted although nothing
	// can confirm it.
	Warn func(file, message string)
}

const (
	// maxArchive bounds an archive or file whose size the registry does not know; the
	// largest archive today has about 8 MB.
	maxArchive = 256 << 20
	// unpackedFloor and unpackedRatio bound what is read while searching a tar.gz: the
	// floor, and the ratio for each of its bytes. Texts shrink to a fourth.
	unpackedFloor = 16 << 20
	unpackedRatio = 32
	stallLimit    = time.Minute
)

// Get fetches the files of a data set that are missing or wrong. Each file comes from the
// mirror, or else from the first official source that delivers it. It is checked, and
// only then takes its place by a rename. So a file under its final name is complete, and
// a good one is never touched.
//
// What has arrived of an interrupted download stays beside the file as
// "<name>.part" (of an archive in the folder ".archives") and the next Get
// continues it. A download that fails its check is deleted.
//
// A file whose checksum is not comparable is accepted from wherever it comes if its
// values are the known ones (File.Content), and refused otherwise. Of a file that only a
// user can supply no checksum is known. It is accepted from the mirror with a warning if
// it is of the kind that the registry names. One that lies there is never replaced; it is
// an error if it is of another kind. Get goes on with the other files when one fails,
// except after a local error (full disk) or the end of ctx. The error joins one per file:
// *UnknownError, *ChecksumError, *ContentError, *UnavailableError, *StallError,
// ctx.Err(), or what the network or disk reports.
func (s *Store) Get(ctx context.Context, name string, opts Options) error {
	e, err := lookup(s.entries, name)
	if err != nil {
		return err
	}
	s.getting.Lock()
	defer s.getting.Unlock()
	g := &getter{store: s, opts: opts, client: opts.Client, archives: map[string]fetched{}}
	if g.client == nil {
		g.client = http.DefaultClient
	}
	if g.opts.Stall <= 0 {
		g.opts.Stall = stallLimit
	}
	defer g.removeArchives()
	defer s.forget(name)
	var errs []error
	for _, f := range e.Files {
		st, err := s.statusOf(f)
		if err == nil {
			err = s.verify(ctx, &st)
		}
		switch {
		case err != nil || st.State.Usable():
		case f.SHA256 == "" && st.State != FileMissing:
			// A user's own file, of which there may be no other copy.
			err = fmt.Errorf("%w; it is left as it is: %s", st.wrong(s.Path(f.Path), "", ""), f.Note)
		default:
			err = g.get(ctx, f)
		}
		if err != nil {
			errs = append(errs, err)
		}
		if stops(ctx, err) {
			break
		}
	}
	return errors.Join(errs...)
}

// forget drops what was computed from files that Get may have replaced.
func (s *Store) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sums, name)
}

// UnavailableError is returned for a file that no official URL yields and no
// mirror delivered.
type UnavailableError struct {
	File File
	Path string // where it belongs
}

func (e *UnavailableError) Error() string {
	if e.File.SHA256 == "" {
		return fmt.Sprintf("datasets: %s: no copy is known; supply %s: %s", e.File.Path, e.Path, e.File.Note)
	}
	return fmt.Sprintf("datasets: %s can only be copied from a mirror: %s", e.File.Path, e.File.Note)
}

// StallError is returned for a server that sends nothing for too long.
type StallError struct{ Limit time.Duration }

func (e *StallError) Error() string { return fmt.Sprintf("no byte for %v", e.Limit) }

// Timeout reports true, as of other errors of the network.
func (e *StallError) Timeout() bool { return true }

// sizeError is returned for what is larger than it may be.
type sizeError struct{ limit int64 }

func (e *sizeError) Error() string { return fmt.Sprintf("more than %d bytes", e.limit) }

// localError marks an error of this machine, after which other sources are of
// no use.
type localError struct{ error }

func (e localError) Unwrap() error { return e.error }

func local(err error) error {
	if err == nil {
		return nil
	}
	return localError{fmt.Errorf("datasets: %w", err)}
}

func stops(ctx context.Context, err error) bool {
	var l localError
	return err != nil && (ctx.Err() != nil || errors.As(err, &l))
}

type getter struct {
	store    *Store
	opts     Options
	client   *http.Client
	archives map[string]fetched // by URL
}

func (g *getter) get(ctx context.Context, f File) error {
	if err := os.MkdirAll(filepath.Dir(g.store.Path(f.Path)), 0o777); err != nil {
		return local(err)
	}
	if err := checkPart(g.store.Path(f.Path) + ".part"); err != nil {
		return err
	}
	var tries []func() error
	if m := g.opts.Mirror; strings.HasPrefix(m, "http://") || strings.HasPrefix(m, "https://") {
		tries = append(tries, func() error { return g.direct(ctx, f, strings.TrimSuffix(m, "/")+"/"+f.Path) })
	} else if m != "" {
		tries = append(tries, func() error { return g.copyFrom(ctx, f, m) })
	}
	for _, src := range f.Sources {
		if src.Member != "" {
			tries = append(tries, func() error { return g.member(ctx, f, src) })
		} else {
			tries = append(tries, func() error { return g.direct(ctx, f, src.URL) })
		}
	}
	var errs []error
	for _, try := range tries {
		err := try()
		if err == nil {
			return nil
		}
		errs = append(errs, err)
		if stops(ctx, err) {
			break
		}
	}
	switch {
	case len(f.Sources) == 0:
		errs = append(errs, &UnavailableError{f, g.store.Path(f.Path)})
	case f.Bytes == 0 && !stops(ctx, errs[len(errs)-1]):
		errs = append(errs, fmt.Errorf("datasets: %s: %s", f.Path, f.Note))
	}
	return errors.Join(errs...)
}

// copyFrom copies a file from a mirror folder.
func (g *getter) copyFrom(ctx context.Context, f File, mirror string) error {
	from := filepath.Join(mirror, filepath.FromSlash(f.Path))
	in, err := limits.Open(from)
	if err != nil {
		return fmt.Errorf("datasets: mirror: %w", err)
	}
	defer in.Close()
	return g.place(ctx, f, in, from)
}

// place writes what r yields under the file's final name, if it passes.
func (g *getter) place(ctx context.Context, f File, r io.Reader, from string) error {
	dst := g.store.Path(f.Path)
	out, err := atomicfile.Create(dst)
	if err != nil {
		return local(err)
	}
	defer out.Abort()
	if _, err := g.copy(ctx, out, r, f.Path, 0, knownSize(f), sizeLimit(f)); err != nil {
		return fromError(from, err)
	}
	if err := g.accept(ctx, f, from, out.File); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return local(err)
	}
	return removePart(dst + ".part") // the half of an earlier download
}

// accept decides on a complete file.
func (g *getter) accept(ctx context.Context, f File, from string, file *os.File) error {
	st, err := examine(ctx, f, file)
	switch {
	case err != nil:
		return err
	case !st.State.Usable():
		return st.wrong(g.store.Path(f.Path), from, "")
	case st.State == FileUnchecked && g.opts.Warn != nil:
		g.opts.Warn(f.Path, fmt.Sprintf("not verified: no checksum is known, so that nothing confirms what %s delivers", from))
	}
	return nil
}

// knownSize is the size of a file, or −1 if it is not known.
func knownSize(f File) int64 {
	if f.Bytes == 0 {
		return -1
	}
	return f.Bytes
}

// sizeLimit is the most that is read of a file: what is not comparable may be packed
// in another way.
func sizeLimit(f File) int64 {
	switch {
	case f.Bytes == 0:
		return maxArchive
	case f.Comparable:
		return f.Bytes
	}
	return 4*f.Bytes + 1<<20
}

// direct downloads a file that lies at an address as it is.
func (g *getter) direct(ctx context.Context, f File, address string) error {
	dst := g.store.Path(f.Path)
	want := int64(-1)
	if f.Comparable {
		want = knownSize(f)
	} else if err := removePart(dst + ".part"); err != nil {
		// Without a checksum of the bytes nothing tells whether two halves belong together.
		return err
	}
	for {
		part, err := openPart(dst + ".part")
		if err != nil {
			return err
		}
		resumed, err := g.download(ctx, address, part, f.Path, want, sizeLimit(f))
		if err != nil {
			return errors.Join(err, part.end(f.Comparable, err))
		}
		err = g.accept(ctx, f, address, part.File)
		switch {
		case err == nil:
			return part.finish(dst)
		case stops(ctx, err):
			return errors.Join(err, part.end(f.Comparable, err))
		}
		if err := part.drop(); err != nil {
			return err
		}
		if !resumed {
			return err
		}
		// The fault may lie in what was resumed: once more from the start.
	}
}

// download brings the part file to completion and reports whether it used what
// was already there. want is the size, or −1 if it is unknown.
func (g *getter) download(ctx context.Context, address string, part partFile, label string, want, limit int64) (resumed bool, err error) {
	off, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return false, local(err)
	}
	if want >= 0 && off == want {
		return true, nil
	}
	if off > limit {
		off = 0
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := g.request(ctx, cancel, address, off)
	if err == nil && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && off > 0 {
		resp.Body.Close()
		off = 0
		resp, err = g.request(ctx, cancel, address, 0)
	}
	if err != nil {
		return false, fromError(address, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		off = 0 // the server sends the whole file, asked for a range or not
	case http.StatusPartialContent:
		var start int64
		if _, err := fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-", &start); err != nil || start != off {
			return false, fmt.Errorf("datasets: %s: Content-Range is %q, want it to start at byte %d", address, resp.Header.Get("Content-Range"), off)
		}
	default:
		return false, fmt.Errorf("datasets: %s: HTTP status %s", address, resp.Status)
	}
	total := int64(-1)
	if resp.ContentLength >= 0 {
		total = off + resp.ContentLength
		if want >= 0 && total != want {
			return false, &ChecksumError{File: strings.TrimSuffix(part.Name(), ".part"), URL: address, Size: total, WantSize: want}
		}
		if total > limit {
			return false, fromError(address, &sizeError{limit})
		}
	}
	if err := part.Truncate(off); err != nil {
		return false, local(err)
	}
	if _, err := part.Seek(off, io.SeekStart); err != nil {
		return false, local(err)
	}
	body := &stallReader{resp.Body, g.opts.Stall, cancel}
	n, err := g.copy(ctx, part, body, label, off, max(total, want), limit)
	if err != nil {
		return off > 0, fromError(address, err)
	}
	if want >= 0 && off+n < want {
		return off > 0, fmt.Errorf("datasets: %s: ended after %d of %d bytes", address, off+n, want)
	}
	return off > 0, nil
}

// stallReader cancels a request when a Read takes too long.
type stallReader struct {
	r      io.Reader
	limit  time.Duration
	cancel context.CancelCauseFunc
}

func (s *stallReader) Read(p []byte) (int, error) {
	defer time.AfterFunc(s.limit, func() { s.cancel(&StallError{s.limit}) }).Stop()
	return s.r.Read(p)
}

func (g *getter) request(ctx context.Context, cancel context.CancelCauseFunc, address string, off int64) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	// Without this the client would unpack .gz files that a server labels so.
	req.Header.Set("Accept-Encoding", "identity")
	if off > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", off))
	}
	stall := g.opts.Stall
	defer time.AfterFunc(stall, func() { cancel(&StallError{stall}) }).Stop()
	resp, err := g.client.Do(req)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return resp, err
}

// fromError adds where the data came from, unless the error is local or says so.
func fromError(from string, err error) error {
	var l localError
	if errors.As(err, &l) {
		return err
	}
	return fmt.Errorf("datasets: %s: %w", from, err)
}

// copy is io.Copy with progress, a limit, the context, and write errors marked
// as local. off bytes were there before.
func (g *getter) copy(ctx context.Context, w io.Writer, r io.Reader, label string, off, total, limit int64) (int64, error) {
	var n int64
	buf := make([]byte, 64<<10)
	for {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		k, rerr := r.Read(buf)
		if k > 0 {
			if off+n+int64(k) > limit {
				return n, &sizeError{limit}
			}
			if _, err := w.Write(buf[:k]); err != nil {
				return n, local(err)
			}
			n += int64(k)
			if g.opts.Progress != nil {
				g.opts.Progress(label, off+n, total)
			}
		}
		switch rerr {
		case nil:
		case io.EOF:
			return n, nil
		default:
			if ctx.Err() != nil {
				return n, context.Cause(ctx)
			}
			return n, rerr
		}
	}
}

// fetched is the complete local copy of an archive. resumed says that a part of it
// came from an earlier run, so that its faults may have, too.
type fetched struct {
	file    string
	resumed bool
}

// member takes a file out of an archive, which is downloaded once for all its
// members.
func (g *getter) member(ctx context.Context, f File, src Source) error {
	for {
		archive, err := g.archive(ctx, src.URL)
		if err != nil {
			return err
		}
		err = g.extract(ctx, f, src, archive.file)
		if err == nil || stops(ctx, err) || !archive.resumed {
			return err
		}
		// The fault may lie in what was resumed: once more from the start.
		delete(g.archives, src.URL)
		if err := removePart(archive.file); err != nil {
			return err
		}
	}
}

// archiveName names the local copy of an archive. Different archives may have the same
// base name.
func archiveName(address string) string {
	id := sha256.Sum256([]byte(address))
	return hex.EncodeToString(id[:8]) + "-" + path.Base(address)
}

func (g *getter) archiveDir() string { return filepath.Join(g.store.dir, ".archives") }

func (g *getter) archive(ctx context.Context, address string) (fetched, error) {
	if a, ok := g.archives[address]; ok {
		return a, nil
	}
	if err := os.MkdirAll(g.archiveDir(), 0o777); err != nil {
		return fetched{}, local(err)
	}
	if info, err := os.Lstat(g.archiveDir()); err != nil || !info.IsDir() {
		return fetched{}, local(cmp.Or(err, fmt.Errorf("%s is a link and was not made by a download; remove it", g.archiveDir())))
	}
	file := filepath.Join(g.archiveDir(), archiveName(address))
	part, err := openPart(file + ".part")
	if err != nil {
		return fetched{}, err
	}
	resumed, err := g.download(ctx, address, part, address, -1, maxArchive)
	if err != nil {
		return fetched{}, errors.Join(err, part.end(true, err))
	}
	if err := part.finish(file); err != nil {
		return fetched{}, err
	}
	g.archives[address] = fetched{file, resumed}
	return g.archives[address], nil
}

// removeArchives deletes the complete archives; halves stay to be continued.
func (g *getter) removeArchives() {
	for _, a := range g.archives {
		_ = removePart(a.file)
	}
	if info, err := os.Lstat(g.archiveDir()); err == nil && info.IsDir() { // no link that somebody made
		_ = os.Remove(g.archiveDir()) // fails if a half is left
	}
}

func (g *getter) extract(ctx context.Context, f File, src Source, archive string) error {
	from := src.String()
	if archiveKind(src.URL) == "zip" {
		z, err := zip.OpenReader(archive)
		if err != nil {
			return fromError(from, err)
		}
		defer z.Close()
		for _, m := range z.File {
			if isMember(m.Name, src.Member) {
				r, err := m.Open()
				if err != nil {
					return fromError(from, err)
				}
				defer r.Close()
				return g.place(ctx, f, r, from)
			}
		}
		return fmt.Errorf("datasets: %s: the archive has no such member", from)
	}

	in, err := os.Open(archive)
	if err != nil {
		return local(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return fromError(from, err)
	}
	info, err := in.Stat()
	if err != nil {
		return local(err)
	}
	most := unpackedFloor + unpackedRatio*info.Size()
	unpacked := &io.LimitedReader{R: z, N: most}
	t := tar.NewReader(&ctxReader{ctx, unpacked})
	for {
		h, err := t.Next()
		if err != nil && unpacked.N <= 0 {
			return fromError(from, fmt.Errorf("unpacks to %w", &sizeError{most}))
		}
		if err == io.EOF {
			return fmt.Errorf("datasets: %s: the archive has no such member", from)
		}
		if err != nil {
			return fromError(from, err)
		}
		if h.Typeflag == tar.TypeReg && isMember(h.Name, src.Member) {
			return g.place(ctx, f, t, from)
		}
	}
}

// isMember reports whether an archive's entry is the wanted one; archives often
// add a folder in front.
func isMember(name, member string) bool {
	name = path.Clean(name)
	return name == member || strings.HasSuffix(name, "/"+member)
}
