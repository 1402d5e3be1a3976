//go:build !unix

package datasets

// noFollow is nothing where the system has no such flag: openPart compares what it
// opened with what lies there.
const noFollow = 0
