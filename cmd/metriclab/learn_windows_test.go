package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// noRegularFiles returns paths that must not be replaced; see os.DevNull, too.
func noRegularFiles(*testing.T) []string { return nil }

// interrupts are the ways to end a command in good order. Ctrl-C would reach all
// programs of the console; Ctrl-Break, which the Go library takes for the same
// signal, can be sent to one group.
var interrupts = []interruption{{
	"Ctrl-Break",
	func(c *exec.Cmd) {
		c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
	},
	func(t *testing.T, c *exec.Cmd) error {
		kernel32 := syscall.NewLazyDLL("kernel32.dll")
		if pages, _, _ := kernel32.NewProc("GetConsoleOutputCP").Call(); pages == 0 {
			_ = c.Process.Kill()
			t.Skip("needs a console, which this process does not have")
		}
		if ok, _, err := kernel32.NewProc("GenerateConsoleCtrlEvent").Call(syscall.CTRL_BREAK_EVENT, uintptr(c.Process.Pid)); ok == 0 {
			return err
		}
		return nil
	},
}}

// portable returns what the command printed as it would be on Linux: paths with slashes, also in JSON, and its name of a call and its words for a
// missing file.
func portable(text string) string {
	const missing = "no such file or directory"
	return strings.NewReplacer(`\\`, "/", `\`, "/", "GetFileAttributesEx ", "stat ", syscall.ERROR_FILE_NOT_FOUND.Error(), missing, syscall.ERROR_PATH_NOT_FOUND.Error(), missing).Replace(text)
}
