//go:build !darwin

package main

// maxRSSKiB is 0: unknown.
func maxRSSKiB() int64 { return 0 }
