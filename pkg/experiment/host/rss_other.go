//go:build !darwin

package host

// maxRSSKiB is 0: unknown.
func maxRSSKiB() int64 { return 0 }
