package main

import (
	"syscall"
	"time"
)

// threadCPU is the user and system time of the calling thread.
func threadCPU() time.Duration { return usage(syscall.RUSAGE_THREAD) }
