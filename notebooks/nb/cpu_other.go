//go:build !unix

package nb

import "time"

// processCPU is 0: unknown. GoNB does not run on such systems; this file lets the
// package compile there.
func processCPU() time.Duration { return 0 }
