package host

import "syscall"

// maxRSSKiB is ru_maxrss, which macOS counts in bytes.
func maxRSSKiB() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Maxrss / 1024
}
