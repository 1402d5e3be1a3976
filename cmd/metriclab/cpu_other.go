//go:build unix && !linux

package main

import "time"

// threadCPU is unknown: the system has no such call in the standard library.
func threadCPU() time.Duration { return 0 }
