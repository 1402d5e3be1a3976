//go:build unix

package datasets

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
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
	tools := []string{"sh", "awk", "cat", "chmod", "cp", "cut", "dd", "dirname", "grep", "gzip", "mkdir", "mv", "od", "rm", "rmdir", "tar", "tr", "wc"}
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
			fmt.Fprintf(&b, "file\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Name, f.Path, size, or(f.SHA256), yes[f.Comparable], f.Content, or(strings.Join(sources, " ")), or(f.Note))
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

// fetchers are the programs that fetch; -short tries one.
func fetchers() []string {
	if testing.Short() {
		return []string{"curl"}
	}
	return []string{"curl", "wget"}
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
	for _, fetch := range fetchers() {
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
	for _, fetch := range fetchers() {
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
			s.expect(t, 0, "warning: toy/x.bin: not verified: no checksum is known, so that nothing confirms what "+m+"/toy/x.bin delivers\n", both, env, "toy")

			// What is there is kept, whatever the mirror has.
			writeFile(t, s.data("toy", "x.bin"), more)
			s.expect(t, 0, "kept     toy/x.bin (not verified: no checksum is known)\n", map[string][]byte{"toy/x.bin": more, "toy/y.bin": y}, env, "toy")
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

// scriptLimit shortens the wait for a server that sends nothing.
const scriptLimit = "METRICLAB_STALL=1"

// fakeGo puts a program go into the script's PATH that answers as data verify --as does.
func (s *script) fakeGo(t *testing.T, answer string) {
	t.Helper()
	bin := strings.TrimPrefix(s.env[0], "PATH=")
	// The arguments are: run ./cmd/metriclab data verify --as PATH FILE.
	text := "#!/bin/sh\n[ \"$*\" = \"run ./cmd/metriclab data verify --as $6 $7\" ] && [ -f \"$7\" ] && [ -d pkg/datasets ] || exit 9\n" + answer + "\n"
	writeFile(t, filepath.Join(bin, "go"), []byte(text))
	if err := os.Chmod(filepath.Join(bin, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
}

const (
	goYes  = `echo "$6: ok: content"`
	goNo   = `echo "$6: wrong content: wrong counts: a reason"; exit 1`
	goFail = `echo "no module" >&2; exit 1`
)

// A server that sends something else with status 200: the script takes nothing that it can
// tell, leaves nothing, and fails.
func TestScriptLiar(t *testing.T) {
	l := newLiar(t)
	for _, fetch := range []string{"curl", "wget"} {
		for kind, f := range looseFiles(t) {
			if testing.Short() && kind != "zip-triplets" && fetch == "wget" {
				continue
			}
			s := newScript(t, tsvOf(f.entries(l.URL+"/x")...), fetch)
			try := func(name string, data []byte, mode, says string, old map[string][]byte) {
				t.Helper()
				l.send(data, mode)
				for path, data := range old {
					writeFile(t, s.data(path), data)
				}
				status, printed := s.run(t, []string{scriptLimit}, "toy")
				if status != 1 || !strings.Contains(printed, says) || !strings.Contains(printed, f.Path+" from "+l.URL+"/x: ") || strings.Contains(printed, "fetched") {
					t.Errorf("%s, %s, %s: status %d, want 1, and %q in\n%s", fetch, kind, name, status, says, printed)
				}
				checkFolder(t, Open(s.data()), old)
			}
			old := map[string][]byte{f.Path: htmlPage}
			try("page", htmlPage, "", "wrong kind: no ", nil)
			try("page", htmlPage, "", "wrong kind: no ", old)
			if kind != "zip-triplets" {
				continue // the same transfers for every kind
			}
			try("truncated", f.good[:len(f.good)/2], "", "wrong kind: no whole zip", old)
			try("endless", f.good, "endless", "more than 1049", old)
			if !testing.Short() { // a transfer that stops takes seconds
				try("cut", f.good, "cut", "download failed", old)
				try("longer", f.good, "longer", "", old)
				try("stall", f.good, "stall", "download failed", old)
				try("silent", f.good, "silent", "download failed", old)
			}
			s.fakeGo(t, goNo)
			try("refused by go", f.bad["cut CSV"].data, "", "wrong counts: a reason", old)
		}
	}
}

// What the script cannot confirm itself: the Go program does, or a confirmed copy replaces it.
func TestScriptConfirms(t *testing.T) {
	f := looseFiles(t)["zip-triplets"]
	l := newLiar(t)
	packed := f.again["stored"]
	l.send(packed, "")
	got := map[string][]byte{f.Path: packed}
	good := map[string][]byte{f.Path: f.good}
	mirror, worse := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(mirror, filepath.FromSlash(f.Path)), f.good)
	writeFile(t, filepath.Join(worse, filepath.FromSlash(f.Path)), packed)
	env := []string{"METRICLAB_MIRROR=" + mirror}
	for _, fetch := range fetchers() {
		s := newScript(t, tsvOf(f.entries(l.URL+"/x")...), fetch)
		// Without go, and with one that does not run.
		for _, answer := range []string{"", goFail} {
			if answer != "" {
				s.fakeGo(t, answer)
			}
			s.expect(t, 1, "not complete: toy", got, nil, "toy")
			s.expect(t, 1, "toy/t.csv.zip is not confirmed: its SHA-256 is not that of the known copy (packed again); to compare its values, install go and run: go run ./cmd/metriclab data verify toy\n", got, nil, "toy")
			s.expect(t, 1, "kept     toy/t.csv.zip (not confirmed)", got, []string{"METRICLAB_MIRROR=" + worse}, "toy")
			s.expect(t, 0, "copied   toy/t.csv.zip\n", good, env, "toy")
			s.expect(t, 0, "ok       toy/t.csv.zip\n", good, nil, "toy")
			s.expect(t, 1, "without go its values cannot be compared", got, []string{"METRICLAB_MIRROR=" + worse}, removed(t, s.data(f.Path), "toy")...)
			removed(t, s.data(f.Path))
		}
		s.fakeGo(t, goYes)
		s.expect(t, 0, "fetched  toy/t.csv.zip\n", got, nil, "toy")
		s.expect(t, 0, "ok       toy/t.csv.zip (other bytes, the same values)\n", got, nil, "toy")
		s.expect(t, 0, "copied   toy/t.csv.zip\n", got, []string{"METRICLAB_MIRROR=" + worse}, removed(t, s.data(f.Path), "toy")...)
		s.fakeGo(t, goNo)
		s.expect(t, 1, "toy/t.csv.zip is wrong and will be replaced", got, nil, "toy")
		s.expect(t, 0, "copied   toy/t.csv.zip\n", good, env, "toy")
	}
}

// A table that a user supplied must look like one.
func TestScriptSuppliedTable(t *testing.T) {
	toy := suppliedFixture()
	toy[0].Files = toy[0].Files[:1]
	toy[0].Files[0].Content.Kind = "csv"
	s := newScript(t, tsvOf(toy...), "curl")
	mirror := t.TempDir()
	writeFile(t, filepath.Join(mirror, "toy", "x.bin"), htmlPage)
	env := []string{"METRICLAB_MIRROR=" + mirror}
	s.expect(t, 1, "toy/x.bin from "+mirror+"/toy/x.bin: wrong kind: no CSV table (46 bytes)", nil, env, "toy")
	table := []byte("a,class\n1,x\n")
	writeFile(t, s.data("toy", "x.bin"), htmlPage)
	writeFile(t, filepath.Join(mirror, "toy", "x.bin"), table)
	s.expect(t, 1, "toy/x.bin is left as it is", map[string][]byte{"toy/x.bin": htmlPage}, env, "toy")
	s.expect(t, 0, "copied   toy/x.bin\n", map[string][]byte{"toy/x.bin": table}, env, removed(t, s.data("toy", "x.bin"), "toy")...)
	s.fakeGo(t, goNo)
	s.expect(t, 1, "wrong counts: a reason", nil, env, removed(t, s.data("toy", "x.bin"), "toy")...)
}

// The limits hold for comparable files and for members of archives, too.
func TestScriptLimits(t *testing.T) {
	data := randomBytes(5000)
	zeros := make([]byte, 20<<20)
	member := looseFiles(t)["mat-triplets"]
	archives := newServer(t, map[string][]byte{
		"/a.zip":    zipped(t, zip.Deflate, 2018, "data/t.mat", zeros),
		"/a.tar.gz": tarred(t, 9, "data/t.mat", string(zeros)),
		"/o.tar.gz": tarred(t, 9, "--to-command=touch pwned; cat/data/t.mat", "x"),
		"/o.zip":    zipOf(t, map[string][]byte{"-d/data/t.mat": []byte("x"), "*/data/t.mat": []byte("y")}),
	})
	l := newLiar(t)
	for _, fetch := range []string{"curl", "wget"} {
		s := newScript(t, tsvOf(fixture(data, true, l.URL+"/x")...), fetch)
		for _, mode := range []string{"endless", "longer"} {
			if mode == "longer" && fetch == "wget" && testing.Short() {
				continue // it waits, and tries twice
			}
			l.send(data, mode)
			status, printed := s.run(t, []string{scriptLimit}, "toy")
			if status != 1 || !strings.Contains(printed, l.URL+"/x") {
				t.Errorf("%s, %s: status %d\n%s", fetch, mode, status, printed)
			}
			if part, err := os.ReadFile(s.data("toy", "x.bin.part")); err == nil && len(part) > 5120 {
				t.Errorf("%s, %s: %d bytes were written, want at most 5120", fetch, mode, len(part))
			}
		}
		l.send(data, "")
		s.expect(t, 0, "fetched  toy/x.bin", map[string][]byte{"toy/x.bin": data}, nil, "toy")

		for archive, says := range map[string]string{
			"/a.zip": "cannot unpack data/t.mat", "/a.tar.gz": "cannot unpack data/t.mat",
			"/o.tar.gz": "holds no data/t.mat", "/o.zip": "holds no data/t.mat",
		} {
			s := newScript(t, tsvOf(member.entries(archives.URL+archive+"#data/t.mat")...), fetch)
			s.expect(t, 1, says, nil, nil, "toy")
		}
	}
	// A server that leads to a file of this machine.
	file := filepath.Join(t.TempDir(), "x")
	writeFile(t, file, data)
	redirect := httptest.NewServer(http.RedirectHandler("file://"+filepath.ToSlash(file), http.StatusFound))
	defer redirect.Close()
	for _, fetch := range []string{"curl", "wget"} {
		s := newScript(t, tsvOf(fixture(data, true, redirect.URL+"/x")...), fetch)
		s.expect(t, 1, "toy/x.bin from "+redirect.URL+"/x: download failed", nil, nil, "toy")
	}

	s := newScript(t, tsvOf(fixture(data, true, l.URL+"/x")...), "curl")
	for _, bad := range []string{"0", "x", "-1", "1s"} {
		if status, printed := s.run(t, []string{"METRICLAB_STALL=" + bad}, "toy"); status != 2 || !strings.Contains(printed, "METRICLAB_STALL is "+bad) {
			t.Errorf("METRICLAB_STALL=%s: status %d\n%s", bad, status, printed)
		}
	}
	mirror := t.TempDir()
	writeFile(t, filepath.Join(mirror, "toy", "x.bin"), append(data, 0))
	l.send(htmlPage, "")
	s.expect(t, 1, "5001 bytes, want at most 5000", nil, []string{"METRICLAB_MIRROR=" + mirror}, "toy")
}

// What lies at a name of the script's own and is no file is neither followed nor removed.
func TestScriptPartIsNoFile(t *testing.T) {
	data := randomBytes(5000)
	srv := newServer(t, map[string][]byte{"/x": data, "/a.zip": zipOf(t, map[string][]byte{"x.bin": data})})
	victim := filepath.Join(t.TempDir(), "victim")
	for _, fetch := range fetchers() {
		for source, part := range map[string]string{"/x": "toy/x.bin.part", "/a.zip#x.bin": ".archives/" + archiveName(srv.URL+"/a.zip") + ".part"} {
			for _, to := range []string{victim, victim + "-none", "/dev/null"} {
				writeFile(t, victim, []byte("precious"))
				s := newScript(t, tsvOf(fixture(data, true, srv.URL+source)...), fetch)
				if err := os.MkdirAll(filepath.Dir(s.data(part)), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(to, s.data(part)); err != nil {
					t.Fatal(err)
				}
				status, printed := s.run(t, nil, "toy")
				if status != 1 || !strings.Contains(printed, s.data(part)+" is not a regular file") {
					t.Errorf("%s, %s: status %d\n%s", fetch, source, status, printed)
				}
				if got, err := os.Readlink(s.data(part)); err != nil || got != to {
					t.Errorf("%s, %s: the link was replaced or removed: %v", fetch, source, err)
				}
				if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
					t.Errorf("%s, %s: the link was followed: %q, %v", fetch, source, got, err)
				}
				if _, err := os.Stat(victim + "-none"); err == nil {
					t.Errorf("%s, %s: the link was followed", fetch, source)
				}
			}
		}
		s := newScript(t, tsvOf(fixture(data, true, srv.URL+"/x")...), fetch)
		if err := os.MkdirAll(s.data("toy", "x.bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		s.expect(t, 1, "toy/x.bin is a folder, want a file", nil, nil, "toy")
	}
}
