//go:build !windows && (!unix || solaris || illumos || aix)

package askserver

import (
	"errors"
	"os"
)

// lock refuses systems on which two processes could append to one file.
func lock(*os.File) error { return errors.New("files cannot be locked on this system") }
