package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"metriclab/internal/needs"
)

// script is a copy of download.sh beside a registry of its own.
type script struct {
	dir string
	env []string
}

// newScript returns the script with only the given programs to fetch with in
// its PATH, or skips if one is not installed.
func newScript(t *testing.T, registry string, fetch ...string) *script {
	t.Helper()
	s := &script{dir: t.TempDir()}
	text, err := os.ReadFile(filepath.Join("..", "..", "download.sh"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(s.dir, "download.sh"), text)
	writeFile(t, filepath.Join(s.dir, "pkg", "datasets", "registry.tsv"), []byte(registry))
	bin := t.TempDir()
	tools := []string{"sh", "awk", "cat", "chmod", "cp", "cut", "dirname", "grep", "gzip", "mkdir", "mv", "rm", "rmdir", "tar", "tr", "wc"}
	for _, tool := range slices.Concat(tools, []string{"sha256sum", "unzip"}, fetch) {
		file, err := exec.LookPath(tool)
		if err != nil {
			needs.Missing(t, err)
		}
		if err := os.Symlink(file, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + bin, "LC_ALL=C"}
	return s
}

// run returns the exit status and what was printed, both streams.
func (s *script) run(t *testing.T, env []string, args ...string) (status int, printed string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{filepath.Join(s.dir, "download.sh")}, args...)...)
	cmd.Dir = t.TempDir() // it must not depend on where it is called
	cmd.Env = slices.Concat(s.env, env)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// expect runs the script and checks its status, a part of its output and all
// files in its data folder.
func (s *script) expect(t *testing.T, status int, says string, files map[string][]byte, env []string, args ...string) {
	t.Helper()
	got, printed := s.run(t, env, args...)
	if got != status || !strings.Contains(printed, says) {
		t.Errorf("download.sh %q: status %d, want %d, and %q in\n%s", args, got, status, says, printed)
	}
	checkFolder(t, Open(s.data()), files)
}

func (s *script) data(elem ...string) string {
	return filepath.Join(append([]string{s.dir, "data"}, elem...)...)
}

// tsvOf writes data sets in the registry's format.
func tsvOf(entries ...Entry) string {
	var b strings.Builder
	or := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	yes := map[bool]string{true: "yes", false: "no"}
	for _, e := range entries {
		def := yes[e.Default]
		if e.Named {
			def = "named"
		}
		fmt.Fprintf(&b, "set\t%s\t%s\t%s\t%s\t%s\n", e.Name, def, or(e.Shape), or(e.Licence), or(e.Citation))
		for _, f := range e.Files {
			var sources []string
			for _, s := range f.Sources {
				sources = append(sources, s.String())
			}
			size := "-"
			if f.Bytes > 0 {
				size = fmt.Sprint(f.Bytes)
			}
			fmt.Fprintf(&b, "file\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Name, f.Path, size, or(f.SHA256), yes[f.Comparable], or(strings.Join(sources, " ")), or(f.Note))
		}
	}
	return b.String()
}

func TestTSVOfIsTheRegistry(t *testing.T) {
	again, err := parseRegistry("again", tsvOf(registry...))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(again), fmt.Sprint(registry); a != b {
		t.Errorf("the registry does not survive writing and reading:\n%s\n%s", a, b)
	}
}

func TestScriptUsage(t *testing.T) {
	s := newScript(t, registryTSV)
	for _, tc := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--help"}, 0, "METRICLAB_MIRROR"},
		{[]string{"--list"}, 0, "mnist          missing   11.6 MB  60000 + 10000 grey images"},
		{[]string{"minst"}, 2, "unknown data set minst; known are: mnist wine"},
		{[]string{"m.*"}, 2, "unknown data set"},
		{[]string{"--force"}, 2, "unknown option --force"},
	} {
		s.expect(t, tc.status, tc.says, nil, nil, tc.args...)
	}
	_, printed := s.run(t, nil, "--list")
	for _, e := range registry {
		if !strings.Contains(printed, e.Name+" ") {
			t.Errorf("--list omits %s", e.Name)
		}
	}
}

func TestScriptMirror(t *testing.T) {
	data, more := randomBytes(5000), randomBytes(600)
	toy := fixture(data, true, "http://127.0.0.1:1/x")[0]
	toy.Default = true
	extra := fixture(more, false)[0]
	extra.Name, extra.Files[0].Dataset, extra.Files[0].Path = "extra", "extra", "extra/deep/y.bin"
	s := newScript(t, tsvOf(toy, extra), "curl")
	mirror := t.TempDir()
	writeFile(t, filepath.Join(mirror, "toy", "x.bin"), data)
	writeFile(t, filepath.Join(mirror, "extra", "deep", "y.bin"), more[1:])
	env := []string{"METRICLAB_MIRROR=" + mirror}

	good := map[string][]byte{"toy/x.bin": data}
	s.expect(t, 0, "copied   toy/x.bin", good, env) // the default set only
	s.expect(t, 0, "ok       toy/x.bin", good, env, "toy")
	writeFile(t, s.data("toy", "x.bin"), []byte("damaged"))
	s.expect(t, 0, "toy/x.bin is wrong and will be replaced", good, env, "toy")

	// A mirror is checked even where the official file is not comparable.
	s.expect(t, 1, "SHA-256 is "+sumOf(more[1:])+", want "+sumOf(more), good, env, "all")
	s.expect(t, 1, "extra/deep/y.bin can only be copied from a mirror: a reason", good, nil, "extra")
	writeFile(t, filepath.Join(mirror, "extra", "deep", "y.bin"), more)
	s.expect(t, 0, "copied   extra/deep/y.bin", map[string][]byte{"toy/x.bin": data, "extra/deep/y.bin": more}, env, "all")

	// A missing mirror file and a dead official source.
	s.expect(t, 1, "not complete: toy", map[string][]byte{"extra/deep/y.bin": more}, []string{"METRICLAB_MIRROR=" + t.TempDir()}, removed(t, s.data("toy", "x.bin"), "toy")...)
}

// removed deletes a file and returns args.
func removed(t *testing.T, file string, args ...string) []string {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	return args
}

func TestScriptDownloads(t *testing.T) {
	data, other := randomBytes(100_000), randomBytes(40_000)
	bad := slices.Clone(data)
	bad[17] ^= 1
	inside := map[string][]byte{"README": []byte("r"), "top/dir/x.bin": data, "y.bin": other, "top/notx.bin": []byte("n")}
	srv := newServer(t, map[string][]byte{
		"/x": data, "/bad": bad, "/short": data[:4000], "/m/toy/x.bin": data,
		"/a.zip": zipOf(t, inside), "/a.tar.gz": tarOf(t, inside),
	})
	good := map[string][]byte{"toy/x.bin": data}
	for _, fetch := range []string{"curl", "wget"} {
		t.Run(fetch, func(t *testing.T) {
			source := func(comparable bool, sources ...string) *script {
				for i := range sources {
					sources[i] = srv.URL + sources[i]
				}
				return newScript(t, tsvOf(fixture(data, comparable, sources...)...), fetch)
			}

			s := source(true, "/gone", "/bad", "/short", "/x")
			s.expect(t, 0, "fetched  toy/x.bin", good, nil, "toy")

			s = source(true, "/gone", "/bad", "/short")
			s.expect(t, 1, "SHA-256 is "+sumOf(bad)+", want "+sumOf(data), nil, nil, "toy")
			writeFile(t, s.data("toy", "x.bin"), []byte("old"))
			s.expect(t, 1, srv.URL+"/bad", map[string][]byte{"toy/x.bin": []byte("old")}, nil, "toy")

			for _, tc := range []struct {
				name    string
				part    []byte
				noRange bool
			}{
				{"half", data[:60_000], false},
				{"half, no range", data[:60_000], true},
				{"complete", data, false},
				{"wrong half", make([]byte, 60_000), false},
				{"too long", make([]byte, 100_001), false},
			} {
				s = source(true, "/x")
				writeFile(t, s.data("toy", "x.bin.part"), tc.part)
				srv.noRange.Store(tc.noRange)
				before := len(srv.asked())
				s.expect(t, 0, "fetched  toy/x.bin", good, nil, "toy")
				srv.noRange.Store(false)
				asks := srv.asked()[before:]
				if tc.name == "half" && !slices.Equal(asks, []string{"/x bytes=60000-"}) {
					t.Errorf("%s: requests %q", tc.name, asks)
				}
				if tc.name == "complete" && len(asks) != 0 {
					t.Errorf("%s: requests %q", tc.name, asks)
				}
			}

			// What breaks off is continued by the next call.
			s = source(true, "/x")
			srv.cut.Store(70_000)
			if status, printed := s.run(t, nil, "toy"); status != 1 {
				t.Errorf("a body that breaks off: status %d\n%s", status, printed)
			}
			srv.cut.Store(0)
			if part, err := os.ReadFile(s.data("toy", "x.bin.part")); err != nil || len(part) == 0 || !bytes.HasPrefix(data, part) {
				t.Errorf("part of %d bytes, %v: not the beginning of the file", len(part), err)
			}
			s.expect(t, 0, "fetched  toy/x.bin", good, nil, "toy")

			s = source(true, "/bad")
			s.expect(t, 0, "fetched  toy/x.bin", good, []string{"METRICLAB_MIRROR=" + srv.URL + "/m/"}, "toy")

			s = source(false, "/bad")
			s.expect(t, 0, "warning: toy/x.bin: checksum not comparable", map[string][]byte{"toy/x.bin": bad}, nil, "toy")
			s.expect(t, 0, "kept     toy/x.bin", map[string][]byte{"toy/x.bin": bad}, nil, "toy")

			for _, archive := range []string{"/a.zip", "/a.tar.gz"} {
				set := fixture(data, true, srv.URL+archive+"#x.bin")
				y := fixture(other, true, srv.URL+archive+"#y.bin")[0].Files[0]
				y.Path = "toy/y.bin"
				set[0].Files = append(set[0].Files, y)
				s = newScript(t, tsvOf(set...), fetch)
				before := len(srv.asked())
				s.expect(t, 0, "fetched  toy/y.bin", map[string][]byte{"toy/x.bin": data, "toy/y.bin": other}, nil, "toy")
				if n := len(srv.asked()) - before; n != 1 {
					t.Errorf("%s: %d requests for two members, want 1", archive, n)
				}
				s = source(true, archive+"#z.bin", archive+"#y.bin")
				s.expect(t, 1, "holds no z.bin", nil, nil, "toy")
				s = source(true, archive+"#y.bin")
				s.expect(t, 1, "SHA-256 is "+sumOf(other), nil, nil, "toy")
			}
		})
	}
}

// A set of which only an official address and a checksum are known is fetched by its
// name alone, and what is known to be missing is said plainly.
func TestScriptNamed(t *testing.T) {
	data, more := randomBytes(5000), randomBytes(600)
	srv := newServer(t, map[string][]byte{"/x": data, "/bad": data[1:]})
	for _, fetch := range []string{"curl", "wget"} {
		with := func(path string) *script {
			toy := fixture(data, true, srv.URL+path)[0]
			toy.Named, toy.Files[0].Bytes, toy.Files[0].Note = true, 0, "ask its authors"
			extra := fixture(more, true, "http://127.0.0.1:1/y")[0]
			extra.Name, extra.Files[0].Dataset, extra.Files[0].Path = "extra", "extra", "extra/y.bin"
			return newScript(t, tsvOf(toy, extra), fetch)
		}
		mirror := t.TempDir()
		writeFile(t, filepath.Join(mirror, "extra", "y.bin"), more)
		env := []string{"METRICLAB_MIRROR=" + mirror}
		y, both := map[string][]byte{"extra/y.bin": more}, map[string][]byte{"extra/y.bin": more, "toy/x.bin": data}

		s := with("/x")
		s.expect(t, 0, "toy            missing         ?", nil, nil, "--list")
		s.expect(t, 0, "copied   extra/y.bin", y, env, "all")
		s.expect(t, 0, "fetched  toy/x.bin", both, env, "toy")
		for _, part := range [][]byte{data, data[:2000], data[1:2000]} { // complete, half, wrong half
			writeFile(t, s.data("toy", "x.bin.part"), part)
			s.expect(t, 0, "fetched  toy/x.bin", both, nil, removed(t, s.data("toy", "x.bin"), "toy")...)
		}
		writeFile(t, filepath.Join(mirror, "toy", "x.bin"), data)
		s.expect(t, 0, "copied   toy/x.bin", both, env, removed(t, s.data("toy", "x.bin"), "toy")...)

		for _, path := range []string{"/gone", "/bad"} {
			with(path).expect(t, 1, "toy/x.bin: ask its authors", nil, nil, "toy")
		}
		with("/bad").expect(t, 1, "SHA-256 is "+sumOf(data[1:])+", want "+sumOf(data)+" (4999 bytes)\n", nil, nil, "toy")
	}
}

// Files of which no copy is known: the script does as Get does (TestGetSupplied).
func TestScriptSupplied(t *testing.T) {
	x, y, more := randomBytes(5000), randomBytes(600), randomBytes(70)
	both := map[string][]byte{"toy/x.bin": x, "toy/y.bin": y}
	extra := fixture(more, true, "http://127.0.0.1:1/y")[0]
	extra.Name, extra.Default, extra.Files[0].Dataset, extra.Files[0].Path = "extra", true, "extra", "extra/y.bin"
	mirror, onlyExtra := t.TempDir(), t.TempDir()
	for name, data := range both {
		writeFile(t, filepath.Join(mirror, filepath.FromSlash(name)), data)
	}
	writeFile(t, filepath.Join(onlyExtra, "extra", "y.bin"), more)
	srv := newServer(t, map[string][]byte{"/m/toy/x.bin": x, "/m/toy/y.bin": y})
	for _, fetch := range []string{"curl", "wget"} {
		s := newScript(t, tsvOf(append(suppliedFixture(), extra)...), fetch)
		s.expect(t, 0, "toy            missing         ?", nil, nil, "--list")
		s.expect(t, 1, "not complete: toy", nil, nil, "toy")
		for _, file := range []string{"toy/x.bin", "toy/y.bin"} {
			s.expect(t, 1, file+": no copy is known; supply "+s.data("toy", filepath.Base(file))+": ask its authors\n", nil, []string{"METRICLAB_MIRROR=" + onlyExtra}, "toy")
		}

		// Neither all nor no name asks for them.
		for _, args := range [][]string{{"all"}, nil} {
			status, printed := s.run(t, []string{"METRICLAB_MIRROR=" + onlyExtra}, args...)
			if status != 0 || strings.Contains(printed, "toy/") {
				t.Errorf("download.sh %q: status %d\n%s", args, status, printed)
			}
		}
		checkFolder(t, Open(s.data()), map[string][]byte{"extra/y.bin": more})

		for _, m := range []string{mirror, srv.URL + "/m"} {
			s := newScript(t, tsvOf(suppliedFixture()...), fetch)
			writeFile(t, s.data("toy", "x.bin.part"), y)
			env := []string{"METRICLAB_MIRROR=" + m}
			s.expect(t, 0, "warning: toy/x.bin: not checked: no checksum is known, so that nothing confirms what "+m+"/toy/x.bin delivers\n", both, env, "toy")

			// What is there is kept, whatever the mirror has.
			writeFile(t, s.data("toy", "x.bin"), more)
			s.expect(t, 0, "kept     toy/x.bin (not checked: no checksum is known)\n", map[string][]byte{"toy/x.bin": more, "toy/y.bin": y}, env, "toy")
			s.expect(t, 0, "toy            here ", map[string][]byte{"toy/x.bin": more, "toy/y.bin": y}, nil, "--list")
		}

		s = newScript(t, tsvOf(suppliedFixture()...), fetch)
		srv.cut.Store(300)
		if status, printed := s.run(t, []string{"METRICLAB_MIRROR=" + srv.URL + "/m"}, "toy"); status != 1 {
			t.Errorf("a body that breaks off: status %d\n%s", status, printed)
		}
		srv.cut.Store(0)
		if _, err := os.Stat(s.data("toy", "x.bin")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("half a file is accepted: %v", err)
		}
	}
}

func TestScriptWithoutFetcher(t *testing.T) {
	s := newScript(t, tsvOf(fixture([]byte("x"), true, "http://127.0.0.1:1/x")...))
	s.expect(t, 1, "needs curl or wget", nil, nil, "toy")
}
