// Package enum is the one home of how a small integer type is written as text and
// read back.
//
// # How it is built
//
// The texts of an enum have one home, a table of this package, from which String, Parse and UnmarshalText are
// made. Package judge has a table of its own, since it imports nothing of ours.
package enum

import (
	"fmt"
	"slices"
	"strings"

	"metriclab/internal/closest"
)

// Names are the names of the values 0, 1, 2, … of T.
type Names[T ~int] struct {
	unknown string
	names   []string
}

// Of returns the names of the values of T from 0 on; "" stands for a value that has
// none. A value without a name is written by unknown, a format with one %d. Of panics
// if a name occurs twice or none is given.
func Of[T ~int](unknown string, names ...string) Names[T] {
	if len(names) == 0 {
		panic("enum: no names")
	}
	for i, name := range names {
		if name != "" && slices.Index(names, name) < i {
			panic(fmt.Sprintf("enum: two values have the name %q", name))
		}
	}
	return Names[T]{unknown, slices.Clone(names)}
}

// List returns the names in the order of their values.
func (n Names[T]) List() []string {
	return slices.DeleteFunc(slices.Clone(n.names), func(name string) bool { return name == "" })
}

// Text returns the name of v, which both readers read, or what stands for a value
// that has none, which neither reads.
func (n Names[T]) Text(v T) string {
	if v < 0 || int(v) >= len(n.names) || n.names[v] == "" {
		return fmt.Sprintf(n.unknown, int(v))
	}
	return n.names[v]
}

// Parse returns the value of that name. The error says what could not be read, such as
// "header", and lists the names; the value is 0 then.
func (n Names[T]) Parse(what, name string) (T, error) {
	v, ok := n.value(name)
	if !ok {
		return 0, fmt.Errorf("%s %q is not allowed, want one of %q%s", what, name, n.List(), closest.Hint(name, n.List()))
	}
	return v, nil
}

// Unmarshal sets v to the value of the name text, for an UnmarshalText. The error lists
// the names, and its caller knows what could not be read; v has not changed then.
func (n Names[T]) Unmarshal(v *T, text []byte) error {
	got, ok := n.value(string(text))
	if !ok {
		return fmt.Errorf("%q is not allowed, want one of %s%s", text, strings.Join(n.List(), ", "), closest.Hint(string(text), n.List()))
	}
	*v = got
	return nil
}

func (n Names[T]) value(name string) (T, bool) {
	i := slices.Index(n.names, name)
	return T(max(i, 0)), i >= 0 && name != ""
}
