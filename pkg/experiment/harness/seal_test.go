package harness

import (
	"bytes"
	"regexp"
)

var sealLine = regexp.MustCompile(`^\{\s*"sha256": ?"[0-9a-f]*",`)

// unsealed takes the checksum out of a file, as earlier versions wrote it.
func unsealed(s string) string { return sealLine.ReplaceAllString(s, "{") }

// resealed is f for the text of a sealed file, with a checksum that fits.
func resealed(f func(string) string) func(string) string {
	return func(s string) string {
		data, err := sealText(bytes.TrimSpace([]byte(unsealed(f(s)))))
		if err != nil {
			panic(err)
		}
		return string(data)
	}
}
