package tables

import "fmt"

// OptionError says that a choice of the caller, such as one in Columns, is not allowed, and what is. Package model says it of its recipes and plans.
type OptionError struct{ Err error }

func (e *OptionError) Error() string { return "model: " + e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

func notAllowed(format string, args ...any) error {
	return &OptionError{fmt.Errorf(format, args...)}
}
