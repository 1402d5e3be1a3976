package datasets

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"metriclab/internal/closest"
)

// registryTSV is also read by download.sh; its own head explains the columns.
//
//go:embed registry.tsv
var registryTSV string

// Entry is what the registry knows about a data set.
type Entry struct {
	Name     string
	Default  bool   // download.sh fetches it when asked for nothing else
	Named    bool   // download.sh fetches it only by its name: no copy but the official one is known, or none
	Shape    string // in words
	Licence  string
	Citation string
	Files    []File
}

// Bytes returns the size of all files of known size.
func (e Entry) Bytes() int64 {
	var n int64
	for _, f := range e.Files {
		n += f.Bytes
	}
	return n
}

// File is one file of a data set.
type File struct {
	Dataset string
	Path    string // below the data folder and below a mirror, with slashes
	Bytes   int64  // size of the known copy; 0 if it is not known
	SHA256  string // of the known copy, 64 hexadecimal digits; "" if no copy is known: a user must supply it
	// Comparable says that the official file has this SHA-256 too, so that every
	// copy must match it. Where it is false, a copy with another SHA-256 must pass
	// the check of its Content.
	Comparable bool
	Content    Content
	Sources    []Source // official, in order of preference; may be empty
	Note       string   // why it is not comparable or what to supply, or ""
}

// Source is where a file comes from.
type Source struct {
	URL    string
	Member string // path inside the zip or tar.gz at URL; "" if URL is the file
}

// String returns URL, or URL#Member.
func (s Source) String() string {
	if s.Member == "" {
		return s.URL
	}
	return s.URL + "#" + s.Member
}

// registry is parsed once, when the package is initialised, and not changed.
var registry = mustRegistry(registryTSV)

func mustRegistry(tsv string) []Entry {
	entries, err := parseRegistry("registry.tsv", tsv)
	if err != nil {
		panic(err)
	}
	return entries
}

// Registry returns all data sets, in the registry's order.
func Registry() []Entry { return slices.Clone(registry) }

// Holding returns the name of the data set that has a file of this path, below a folder named data, or "".
func Holding(file string) string {
	_, below, _ := strings.Cut("/"+filepath.ToSlash(filepath.Clean(file)), "/data/")
	for _, e := range registry {
		if slices.ContainsFunc(e.Files, func(f File) bool { return f.Path == below }) {
			return e.Name
		}
	}
	return ""
}

// Lookup returns the data set of that name, or an *UnknownError.
func Lookup(name string) (Entry, error) { return lookup(registry, name) }

func lookup(entries []Entry, name string) (Entry, error) {
	for _, e := range entries {
		if e.Name == name {
			return e, nil
		}
	}
	unknown := &UnknownError{Name: name}
	lower := strings.ToLower(name)
	best := 1 + max(2, len(name)/3) // 2 allows for two letters swapped
	for _, e := range entries {
		unknown.Known = append(unknown.Known, e.Name)
		d := closest.Distance(lower, e.Name)
		if len(name) > 2 && strings.HasPrefix(e.Name, lower) {
			d = 1
		}
		if d < best {
			unknown.Suggestion, best = e.Name, d
		}
	}
	return Entry{}, unknown
}

// UnknownError is returned for a name that is not in the registry.
type UnknownError struct {
	Name       string
	Suggestion string // the closest known name, or "" if none is close
	Known      []string
}

func (e *UnknownError) Error() string {
	msg := fmt.Sprintf("datasets: unknown data set %q", e.Name)
	if e.Suggestion != "" {
		return msg + fmt.Sprintf("; did you mean %q?", e.Suggestion)
	}
	return msg + "; known are " + strings.Join(e.Known, ", ")
}

// parseRegistry reads the registry and checks all that its users rely on.
func parseRegistry(name, tsv string) ([]Entry, error) {
	var entries []Entry
	paths := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(tsv, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		var err error
		switch {
		case slices.Contains(fields, ""):
			err = errors.New(`empty field, want "-"`)
		case fields[0] == "set" && len(fields) == 6:
			var e Entry
			if e, err = parseSet(fields); err == nil && slices.ContainsFunc(entries, func(o Entry) bool { return o.Name == e.Name }) {
				err = fmt.Errorf("set %q stands twice", e.Name)
			}
			entries = append(entries, e)
		case fields[0] == "file" && len(fields) == 9:
			var f File
			if f, err = parseFile(fields); err == nil {
				switch last := len(entries) - 1; {
				case last < 0 || entries[last].Name != f.Dataset:
					err = fmt.Errorf("file of %q does not follow its set line", f.Dataset)
				case paths[f.Path]:
					err = fmt.Errorf("path %q stands twice", f.Path)
				case f.SHA256 == "" && !entries[last].Named:
					err = fmt.Errorf(`sha256: "-" is not allowed, as set %q is not named`, f.Dataset)
				default:
					paths[f.Path] = true
					entries[last].Files = append(entries[last].Files, f)
				}
			}
		default:
			err = fmt.Errorf(`%q with %d fields, want "set" with 6 or "file" with 9`, fields[0], len(fields))
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %s:%d: %w", name, i+1, err)
		}
	}
	for _, e := range entries {
		if len(e.Files) == 0 {
			return nil, fmt.Errorf("datasets: %s: set %q has no file", name, e.Name)
		}
	}
	return entries, nil
}

func parseSet(f []string) (Entry, error) {
	e := Entry{Name: f[1], Default: f[2] == "yes", Named: f[2] == "named", Shape: f[3], Licence: f[4], Citation: f[5]}
	if !slices.Contains([]string{"yes", "no", "named"}, f[2]) {
		return e, fmt.Errorf("default: %q is not allowed, want yes, no or named", f[2])
	}
	return e, nil
}

func parseFile(f []string) (File, error) {
	out := File{Dataset: f[1], Path: f[2]}
	if path.Clean(out.Path) != out.Path || path.IsAbs(out.Path) || strings.HasPrefix(out.Path, "..") || strings.ContainsAny(out.Path, `\: `) {
		return out, fmt.Errorf("path: %q is not allowed, want a clean relative path", out.Path)
	}
	if f[4] == "-" {
		if f[3] != "-" || f[5] != "no" || f[7] != "-" || f[8] == "-" {
			return out, errors.New(`sha256: "-" is not allowed, unless bytes and sources are "-", comparable is no and a note says what to supply`)
		}
		var err error
		if out.Content, err = parseContent(f[6]); err == nil && out.Content.SHA256 != "" {
			err = fmt.Errorf("content: %q is not allowed, want no checksum where no copy is known", f[6])
		}
		out.Note = f[8]
		return out, err
	}
	out.SHA256 = f[4]
	var err1, err2, err3 error
	if f[3] != "-" {
		out.Bytes, err1 = strconv.ParseInt(f[3], 10, 64)
		if err1 == nil && out.Bytes < 1 {
			err1 = fmt.Errorf("bytes: %d is not allowed, want at least 1", out.Bytes)
		}
	}
	out.Comparable, err2 = yesNo("comparable", f[5])
	out.Content, err3 = parseContent(f[6])
	if err := cmp.Or(err1, err2, checkSum("sha256", out.SHA256), err3); err != nil {
		return out, err
	}
	if f[7] != "-" {
		for _, s := range strings.Split(f[7], " ") {
			address, member, _ := strings.Cut(s, "#")
			u, err := url.Parse(address)
			if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
				return out, fmt.Errorf("sources: %q is not allowed, want an http or https URL", s)
			}
			if member != "" && archiveKind(address) == "" {
				return out, fmt.Errorf("sources: %q is not allowed, want a zip, tar.gz or tgz before #", s)
			}
			out.Sources = append(out.Sources, Source{URL: address, Member: member})
		}
	}
	if f[8] != "-" {
		out.Note = f[8]
	}
	if out.Bytes == 0 && !out.Comparable {
		return out, errors.New("bytes: unknown is not allowed where the file is not comparable")
	}
	if out.Bytes == 0 && out.Note == "" {
		return out, errors.New("note: empty, want the reason why the size is unknown")
	}
	if !out.Comparable && out.Note == "" {
		return out, errors.New("note: empty, want the reason why the file is not comparable")
	}
	if out.Comparable != (out.Content.SHA256 == "") {
		return out, errors.New(`content: want "-" if the file is comparable, else a kind, its counts and a SHA-256`)
	}
	return out, nil
}

// checkSum returns an error that names the field unless s is a SHA-256 as the registry
// writes it.
func checkSum(field, s string) error {
	if raw, err := hex.DecodeString(s); err != nil || len(raw) != sha256.Size || strings.ToLower(s) != s {
		return fmt.Errorf("%s: %q is not allowed, want 64 lower-case hexadecimal digits", field, s)
	}
	return nil
}

func yesNo(field, s string) (bool, error) {
	switch s {
	case "yes":
		return true, nil
	case "no":
		return false, nil
	}
	return false, fmt.Errorf("%s: %q is not allowed, want yes or no", field, s)
}

// archiveKind returns "zip", "tar.gz" or "" for an address, by how it ends.
func archiveKind(address string) string {
	switch {
	case strings.HasSuffix(address, ".zip"):
		return "zip"
	case strings.HasSuffix(address, ".tar.gz"), strings.HasSuffix(address, ".tgz"):
		return "tar.gz"
	}
	return ""
}
