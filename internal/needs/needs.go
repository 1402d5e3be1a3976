// Package needs is for tests that need something of the machine: a tool, a
// device, a data set.
package needs

import (
	"os"
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
