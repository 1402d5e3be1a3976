package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// standardOutput returns os.Stdout or, if the program was started without one, a writer that fails.
func standardOutput() io.Writer {
	if startedClosed(syscall.Stdout) && !startedClosed(syscall.Stderr) { // without either nobody wants to know
		return closedOutput{}
	}
	return os.Stdout
}

// closedOutput is a standard output that was closed.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) {
	return 0, fmt.Errorf("standard output is closed; to discard what is printed, write it to %s: %w", os.DevNull, syscall.EBADF)
}

// startedClosed tells whether a shell closed a descriptor when it started the program, as >&- does. The Go runtime has then opened
// /dev/null there before anything of ours runs, for reading and writing. A shell's >/dev/null is for writing alone, and what the shell was
// handed down is open in the shell, too. Other programs, such as Python, discard output by a /dev/null that looks like the runtime's: of these nothing can be told.
func startedClosed(fd int) bool {
	parent := os.Getppid()
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent))
	if err != nil || !slices.Contains(shells, strings.TrimSpace(string(name))) || !readsAndWritesNull(fd) {
		return false
	}
	for _, pid := range []int{os.Getpid(), parent} {
		held, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			return false
		}
		for _, e := range held {
			other, err := strconv.Atoi(e.Name())
			if err == nil && (pid == parent || other != fd) && sameDescription(os.Getpid(), fd, pid, other) {
				return false
			}
		}
	}
	return true
}

var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "busybox", "fish", "csh", "tcsh"}

func readsAndWritesNull(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	var is, null unix.Stat_t
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR &&
		unix.Fstat(fd, &is) == nil && unix.Stat(os.DevNull, &null) == nil && is.Mode&unix.S_IFMT == unix.S_IFCHR && is.Rdev == null.Rdev
}

// sameDescription tells whether two descriptors of two processes are of one open file; where the system does not tell, it says that they are.
func sameDescription(pid1, fd1, pid2, fd2 int) bool {
	const file = 0 // KCMP_FILE
	order, _, failed := unix.Syscall6(unix.SYS_KCMP, uintptr(pid1), uintptr(pid2), file, uintptr(fd1), uintptr(fd2), 0)
	return failed == 0 && order == 0 || failed != 0 && failed != unix.EBADF
}
