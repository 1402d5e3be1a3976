//go:build unix

package datasets

import "syscall"

// noFollow makes the opening of a symbolic link fail, and that of a pipe not wait.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
