//go:build unix

package main

import (
	"syscall"
	"time"
)

// processCPU is the user and system time of the process.
func processCPU() time.Duration { return usage(syscall.RUSAGE_SELF) }

func usage(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
