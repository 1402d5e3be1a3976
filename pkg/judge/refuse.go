package judge

import "fmt"

// refusal is what Refuse panics with.
type refusal struct{ err error }

// Error makes an uncaught refusal readable.
func (r refusal) Error() string { return r.err.Error() }

// Refuse ends the work that asked for a number which there is not: numbers that do not
// fit together, a table that lacks what is needed. It is never for a bug. Judge, and
// whoever defers Refused, gets the error; elsewhere it panics. So a helper deep inside
// returns a plain number.
func Refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// Refused, deferred, sets err if the function that defers it was ended by Refuse.
// Other panics go on.
func Refused(err *error) {
	switch p := recover().(type) {
	case nil:
	case refusal:
		*err = p.err
	default:
		panic(p)
	}
}
