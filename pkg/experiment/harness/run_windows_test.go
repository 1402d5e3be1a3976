package harness

import "errors"

// limitFiles stands for the limit on the size of files, which Windows does not
// have; TestRunStoreFails tests there that the first error of the store ends the run.
func limitFiles(uint64) error { return errors.ErrUnsupported }
