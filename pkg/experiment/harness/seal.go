package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A sealed file is a JSON object whose first member, "sha256", is the SHA-256 of
// the text of all others: of the object without that member and without white
// space between tokens. It is a plain hash: it finds accidents, and whoever
// edits a file on purpose can compute it anew.

// errNoChecksum is that of a file that can be read, but that an earlier version
// wrote, without a checksum.
var errNoChecksum = errors.New("it has no checksum; an earlier version wrote it")

// sealed matches the start of the compact text of a sealed file.
var sealed = regexp.MustCompile(`^\{"sha256":"([0-9a-f]{64})",`)

// seal returns the JSON of a struct with its checksum.
func seal(v any) ([]byte, error) {
	data, err := indentJSON(v)
	if err != nil {
		return nil, err
	}
	return sealText(data)
}

// sealText gives the text of a JSON object its checksum.
func sealText(data []byte) ([]byte, error) {
	text := jsontext.Value(slices.Clone(data))
	if err := text.Compact(); err != nil {
		return nil, err
	}
	head, tail := []byte("{\n \"sha256\": \""+sum(text)+"\","), data[1:]
	return slices.Concat(head, tail), nil
}

// unseal checks the file of seal and decodes it into v, a pointer to a struct.
// Every member must be one of the struct's, none may occur twice, all text must
// be UTF-8. The error is errNoChecksum if v is set, but nothing vouches for it.
func unseal(data []byte, v any) error {
	text := jsontext.Value(slices.Clone(data))
	if err := text.Compact(); err != nil {
		return err
	}
	m := sealed.FindSubmatch(text)
	if m != nil {
		// The hash is that of what stands behind it, from a brace on.
		want := string(m[1])
		text = text[len(m[0])-1:]
		text[0] = '{'
		if got := sum(text); got != want {
			return fmt.Errorf("its content has the SHA-256 %s, its checksum is %s", got, want)
		}
	}
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if m == nil {
		return errNoChecksum
	}
	return nil
}

// cause is an error without the path, for messages that name the path already.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
