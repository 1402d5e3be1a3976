// Package needs is for tests that need something of the machine: a tool, a
// device, a data set.
package needs

import (
	"io/fs"
	"os"
	"runtime"
	"testing"
)

// Missing ends a test whose need is not met. The test fails where the
// environment variable CI is set, so that nothing is left out silently there,
// and is skipped with the reason elsewhere.
func Missing(t testing.TB, why ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(why...)
	}
	t.Skip(why...)
}

// Symlink makes a symbolic link, or skips the test on Windows, where not
// everyone may make one. Some releases of Wine answer that they made a link and
// make none.
func Symlink(t testing.TB, target, link string) {
	t.Helper()
	err := os.Symlink(target, link)
	info, missing := os.Lstat(link)
	made := err == nil && missing == nil && info.Mode()&fs.ModeSymlink != 0
	switch {
	case made:
	case runtime.GOOS == "windows":
		t.Skip("needs the right to make symbolic links: ", err)
	case err != nil:
		t.Fatal(err)
	default:
		t.Fatalf("%s is no link: %v, %v", link, info, missing)
	}
}
