//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// campaign is one torture: a program, and what it must come to.
type campaign struct {
	ctx         context.Context
	out         io.Writer // one line per loss
	bin, dir    string
	experiments []string
	rng         *rand.Rand
	want        snapshot // of the undisturbed run
	length      time.Duration
	largest     int64  // file of the undisturbed run, in bytes
	total       int64  // bytes of all its files
	folders     int    // made so far
	complete    string // a finished folder in which bits are flipped
	comparison  comparison
}

// snapshot has a checksum per file of a results folder. Of a stored job it has key
// and values only, without the account of its run.
type snapshot map[string][sha256.Size]byte

// snap reads a results folder. A file of a stored job that cannot be read stands
// with the checksum of its bytes.
func snap(dir string) (snapshot, error) {
	s := snapshot{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		jobs := first == ".cells" || first == ".failures"
		if d.IsDir() {
			if strings.HasPrefix(first, ".") && first != "." && !jobs {
				return fs.SkipDir
			}
			return nil
		}
		switch name := d.Name(); {
		case strings.HasPrefix(name, "."): // temporary
			return nil
		case name == "timing.csv", name == "meta.json", name == "report.html":
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var job struct{ Key, Values json.RawMessage }
		if jobs && json.Unmarshal(raw, &job) == nil && len(job.Key) > 0 && len(job.Values) > 0 {
			raw = slices.Concat(job.Key, []byte("\n"), job.Values)
		}
		s[filepath.ToSlash(rel)] = sha256.Sum256(raw)
		return nil
	})
	return s, err
}

// partial returns an error unless each file of a folder is as in the undisturbed
// run. Files may be missing.
func (c *campaign) partial(dir string) error { return c.agree(dir, "") }

// jobs is partial for stored jobs only: a run that cannot store a job draws drafts
// of the others.
func (c *campaign) jobs(dir string) error { return c.agree(dir, ".cells/") }

// agree compares the files whose path has a prefix.
func (c *campaign) agree(dir, prefix string) error {
	got, err := snap(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was written
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if sum, ok := c.want[name]; !ok {
			return fmt.Errorf("%s: the undisturbed run has no such file", name)
		} else if sum != got[name] {
			return fmt.Errorf("%s: differs from the undisturbed run", name)
		}
	}
	return nil
}

// whole returns an error unless a folder is as the undisturbed run left it.
func (c *campaign) whole(dir string) error {
	if err := c.partial(dir); err != nil {
		return err
	}
	got, err := snap(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.want)) {
		if _, ok := got[name]; !ok {
			return fmt.Errorf("%s: missing", name)
		}
	}
	return nil
}

// lose counts a loss and says what it was.
func (c *campaign) lose(r *result, what string, err error) {
	r.losses++
	fmt.Fprintf(c.out, "LOSS: %s: %v\n", what, err)
}

// remark is the last column: whether tries are missing, and counts.
func (r *result) remark(k *kind) string {
	var parts []string
	if r.refused != "" {
		parts = append(parts, r.refused)
	} else if r.tries < k.tries {
		parts = append(parts, fmt.Sprintf("the time cap left no room for all %d", k.tries))
	}
	for _, name := range slices.Sorted(maps.Keys(r.counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.counts[name], name))
	}
	return strings.Join(parts, ", ")
}

// folder returns a new path.
func (c *campaign) folder() string {
	c.folders++
	return filepath.Join(c.dir, strconv.Itoa(c.folders))
}

// moment is a random one of a run.
func (c *campaign) moment() time.Duration {
	return time.Duration(c.rng.Float64() * 1.05 * float64(c.length))
}

// process is a run of the program.
type process struct {
	cmd  *exec.Cmd
	out  bytes.Buffer
	done chan struct{} // closed when it has ended
}

func (c *campaign) start(name string, args ...string) (*process, error) {
	p := &process{cmd: exec.CommandContext(c.ctx, name, args...), done: make(chan struct{})}
	p.cmd.Dir = c.dir
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	// What a cluster's engine would say of shards is not meant here.
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMPDIR=" + c.dir}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // ended says how
		close(p.done)
	}()
	return p, nil
}

// ended waits and returns the exit code as a shell counts it.
func (p *process) ended() int {
	<-p.done
	if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// within reports whether the process ends in a time.
func (p *process) within(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// args is the command line of a run with a results folder.
func (c *campaign) args(dir string, more ...string) []string {
	return slices.Concat([]string{"run", "--scale", "smoke", "--results", dir}, more, c.experiments)
}

// finish runs the program undisturbed; it must succeed.
func (c *campaign) finish(args ...string) error {
	p, err := c.start(c.bin, args...)
	if err != nil {
		return err
	}
	if code := p.ended(); code != 0 {
		return fmt.Errorf("exit code %d, said %q", code, tail(p.out.String()))
	}
	return nil
}

// tail is the end of a text, for a line of a report.
func tail(s string) string {
	const most = 300
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-most):]
}

// resumed has the run of a folder go on undisturbed and compares.
func (c *campaign) resumed(dir string) error {
	if err := c.finish(c.args(dir)...); err != nil {
		return fmt.Errorf("the same command again: %w", err)
	}
	return c.whole(dir)
}

// undisturbed makes what all else is compared with. The second of two runs tells
// the time, since the first also reads the program from disk, and that both agree.
func (c *campaign) undisturbed() error {
	for range 2 {
		dir := c.folder()
		start := time.Now()
		if err := c.finish(c.args(dir)...); err != nil {
			return fmt.Errorf("undisturbed run: %w", err)
		}
		c.length = time.Since(start)
		got, err := snap(dir)
		if err != nil {
			return err
		}
		if c.want == nil {
			c.want = got
		}
		if err := c.whole(dir); err != nil {
			return fmt.Errorf("two undisturbed runs: %w", err)
		}
		c.complete = dir
	}
	return filepath.WalkDir(c.complete, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			c.largest = max(c.largest, info.Size())
			c.total += info.Size()
		}
		return err
	})
}

// kill kills a run, and those that go on with it, at random moments, then lets
// one end.
func (c *campaign) kill(r *result) error {
	dir := c.folder()
	defer os.RemoveAll(dir)
	for range 1 + c.rng.IntN(4) {
		p, err := c.start(c.bin, c.args(dir)...)
		if err != nil {
			return err
		}
		if p.within(c.moment()) {
			r.counts["runs ended before"]++
			break
		}
		_ = p.cmd.Process.Kill() // it may have ended by now
		p.ended()
		r.tries++
		if err := c.partial(dir); err != nil {
			c.lose(r, "after kill -9", err)
		}
	}
	if err := c.resumed(dir); err != nil {
		c.lose(r, "after kill -9", err)
	}
	return nil
}

// interrupt asks a run to end at a random moment.
func (c *campaign) interrupt(r *result) error {
	dir := c.folder()
	defer os.RemoveAll(dir)
	sig, name := syscall.SIGINT, "SIGINT"
	if c.rng.IntN(3) == 0 {
		sig, name = syscall.SIGTERM, "SIGTERM"
	}
	p, err := c.start(c.bin, c.args(dir)...)
	if err != nil {
		return err
	}
	if p.within(c.moment()) {
		r.counts["runs ended before"]++
	} else {
		_ = p.cmd.Process.Signal(sig) // it may have ended by now
		r.tries++
	}
	if !p.within(time.Minute) {
		_ = p.cmd.Process.Kill()
		p.ended()
		c.lose(r, name, errors.New("goes on for a minute"))
		return nil
	}
	switch code := p.ended(); code {
	case 0: // all was done
		if err := c.whole(dir); err != nil {
			c.lose(r, "exit code 0 after "+name, err)
			return nil
		}
	case 130, 128 + int(sig): // the latter before the program listens
		if err := c.partial(dir); err != nil {
			c.lose(r, "after "+name, err)
		}
	default:
		c.lose(r, name, fmt.Errorf("exit code %d, want 130: %q", code, tail(p.out.String())))
	}
	if err := c.resumed(dir); err != nil {
		c.lose(r, "after "+name, err)
	}
	return nil
}

// merge runs 2 to 5 shards, merges some of them, then all, then all again, each
// time in a random order.
func (c *campaign) merge(r *result) error {
	n := 2 + c.rng.IntN(4)
	parts := make([]string, n)
	for i := range parts {
		parts[i] = c.folder()
		defer os.RemoveAll(parts[i])
		if err := c.finish(c.args(parts[i], "--shard", fmt.Sprintf("%d/%d", i, n))...); err != nil {
			return fmt.Errorf("shard %d/%d: %w", i, n, err)
		}
	}
	dir := c.folder()
	defer os.RemoveAll(dir)
	r.tries++
	for pass, sources := range [][]string{parts[:1+c.rng.IntN(n-1)], parts, parts} {
		sources = slices.Clone(sources)
		c.rng.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		args := slices.Concat([]string{"merge", "--scale", "smoke", "--results", dir}, sources)
		for _, e := range c.experiments {
			args = append(args, "--experiment", e)
		}
		p, err := c.start(c.bin, args...)
		if err != nil {
			return err
		}
		want := 0
		if pass == 0 {
			want = 3 // jobs are missing
		}
		if code := p.ended(); code != want {
			c.lose(r, fmt.Sprintf("merge %d of %d shards", pass+1, n), fmt.Errorf("exit code %d, want %d: %q", code, want, tail(p.out.String())))
			return nil
		}
		if pass > 0 {
			if err := c.whole(dir); err != nil {
				c.lose(r, fmt.Sprintf("merge %d of %d shards", pass+1, n), err)
				return nil
			}
		}
	}
	return nil
}

// flip changes one bit of one stored job of a finished folder. The run must see it
// and run the job again, unless the job's values are the same without that bit.
func (c *campaign) flip(r *result) error {
	var cells []string
	for name := range c.want {
		if strings.HasPrefix(name, ".cells/") {
			cells = append(cells, name)
		}
	}
	slices.Sort(cells)
	name := cells[c.rng.IntN(len(cells))]
	path := filepath.Join(c.complete, filepath.FromSlash(name))
	good, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	bad := bytes.Clone(good)
	bit := c.rng.IntN(8 * len(bad))
	bad[bit/8] ^= 1 << (bit % 8)
	if err := os.WriteFile(path, bad, 0o644); err != nil {
		return err
	}
	r.tries++
	fail := c.resumed(c.complete)
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if bytes.Equal(now, bad) {
		r.counts["not noticed"]++
	} else {
		r.counts["run again"]++
	}
	if fail == nil && !bytes.Equal(now, bad) {
		return nil
	}
	if fail != nil {
		from := max(0, bit/8-20)
		c.lose(r, fmt.Sprintf("%s: byte %d from %q to %q, after %q", name, bit/8, good[bit/8], bad[bit/8], good[from:bit/8]), fail)
	}
	// The next try begins from a good folder.
	if err := os.WriteFile(path, good, 0o644); err != nil {
		return err
	}
	if err := c.resumed(c.complete); err != nil {
		return fmt.Errorf("with the file as it was: %w", err)
	}
	return nil
}

// fill limits the size of files, which fails as a full disk does: in the midst of
// a write. Without the limit the run goes on.
func (c *campaign) fill(r *result) error {
	dir := c.folder()
	defer os.RemoveAll(dir)
	const block = 512 // bytes, what ulimit counts in
	// As many small limits as large ones: cells are small, figures large.
	blocks := int(math.Exp(c.rng.Float64()*math.Log(float64(max(1, c.largest/block))))) - 1
	script := `ulimit -f "$0" && exec "$@"`
	p, err := c.start("sh", slices.Concat([]string{"-c", script, strconv.Itoa(blocks), c.bin}, c.args(dir))...)
	if err != nil {
		return err
	}
	r.tries++
	what := fmt.Sprintf("files of at most %d bytes", blocks*block)
	if code := p.ended(); code != 1 || strings.TrimSpace(p.out.String()) == "" {
		c.lose(r, what, fmt.Errorf("exit code %d, want 1 and an error: %q", code, tail(p.out.String())))
	}
	if err := c.jobs(dir); err != nil {
		c.lose(r, what, err)
	}
	if err := c.resumed(dir); err != nil {
		c.lose(r, what, err)
	}
	return nil
}

// fillDisk runs on a file system of a random size that is too small, then makes it
// larger and goes on. A mount of its own needs Linux and some rights; where they
// are missing, the remarks say so.
func (c *campaign) fillDisk(r *result) error {
	prefix := c.namespace()
	if prefix == nil {
		r.refused = "not done: no tmpfs may be mounted here"
		return nil
	}
	disk, failed, ended := c.folder(), c.folder(), c.folder()
	for _, dir := range []string{disk, failed, ended} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	const page = 4096
	size := page * int64(math.Exp(c.rng.Float64()*math.Log(float64(max(1, c.total/page)))))
	// What the mount holds goes with the shell, hence the copies.
	script := `disk=$0 size=$1 failed=$2 ended=$3; shift 3
mount -t tmpfs -o "size=$size" none "$disk" || exit 90
"$@"; code=$?
cp -R "$disk/." "$failed" && mount -o remount,size=1g "$disk" || exit 90
[ $code = 1 ] || exit 91
"$@" || exit 92
cp -R "$disk/." "$ended" || exit 90`
	p, err := c.start(prefix[0], slices.Concat(prefix[1:], []string{"sh", "-c", script, disk, strconv.FormatInt(size, 10), failed, ended, c.bin}, c.args(disk))...)
	if err != nil {
		return err
	}
	r.tries++
	what := fmt.Sprintf("disk of %d bytes", size)
	switch code := p.ended(); code {
	case 0:
	case 91:
		c.lose(r, what, fmt.Errorf("exit code is not 1: %q", tail(p.out.String())))
	case 92:
		c.lose(r, what, fmt.Errorf("fails with space, too: %q", tail(p.out.String())))
	default:
		return fmt.Errorf("%s: the script ended with %d: %q", what, code, tail(p.out.String()))
	}
	if err := c.jobs(failed); err != nil {
		c.lose(r, what, err)
	}
	if err := c.whole(ended); err != nil {
		c.lose(r, what, err)
	}
	return nil
}

// namespace is what starts a program that may mount: nil if nothing may.
func (c *campaign) namespace() []string {
	for _, prefix := range [][]string{{"unshare", "-r", "-m"}, {"unshare", "-m"}} {
		p, err := c.start(prefix[0], append(prefix[1:], "mount", "-t", "tmpfs", "none", c.dir)...)
		if err == nil && p.ended() == 0 {
			return prefix
		}
	}
	return nil
}

// together has two runs work on one folder.
func (c *campaign) together(r *result) error {
	dir := c.folder()
	defer os.RemoveAll(dir)
	first, err := c.start(c.bin, c.args(dir)...)
	if err != nil {
		return err
	}
	first.within(c.moment() / 2)
	second, err := c.start(c.bin, c.args(dir)...)
	if err != nil {
		return err
	}
	r.tries++
	for _, p := range []*process{first, second} {
		if code := p.ended(); code != 0 {
			c.lose(r, "two runs at once", fmt.Errorf("exit code %d: %q", code, tail(p.out.String())))
		}
	}
	if err := c.whole(dir); err != nil {
		c.lose(r, "two runs at once", err)
	}
	return nil
}

// remove takes the results folder away from under a run. The run must not say
// that all is well, unless it was done by then.
func (c *campaign) remove(r *result) error {
	dir, gone := c.folder(), c.folder()
	defer os.RemoveAll(dir)
	defer os.RemoveAll(gone)
	p, err := c.start(c.bin, c.args(dir)...)
	if err != nil {
		return err
	}
	if p.within(c.moment()) {
		r.counts["runs ended before"]++
		return nil
	}
	if err := os.Rename(dir, gone); errors.Is(err, fs.ErrNotExist) {
		r.counts["runs had no folder yet"]++
		p.ended()
		return nil
	} else if err != nil {
		return err
	}
	r.tries++
	code := p.ended()
	_, err = os.Lstat(dir)
	switch {
	case code == 0 && errors.Is(err, fs.ErrNotExist) && c.whole(gone) == nil: // removed after the last write
	case code == 0:
		if err := c.whole(dir); err != nil {
			c.lose(r, "folder removed, exit code 0", err)
		}
	case code != 1 || strings.TrimSpace(p.out.String()) == "":
		c.lose(r, "folder removed", fmt.Errorf("exit code %d, want 1 and an error: %q", code, tail(p.out.String())))
	}
	if err := c.resumed(dir); err != nil {
		c.lose(r, "folder removed", err)
	}
	return nil
}
