package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"metriclab/internal/closest"
)

// several are errors of one command line, told together.
type several []error

func (s several) Error() string {
	lines := make([]string, len(s))
	for i, err := range s {
		lines[i] = "\n  " + err.Error()
	}
	return fmt.Sprintf("%d things are wrong:%s", len(s), strings.Join(lines, ""))
}

func (s several) Unwrap() []error { return s }

// together returns an error that tells all of errs, of which some may be nil or told together themselves. It is a usage
// error if one of them is.
func together(errs ...error) error {
	var all several
	usage := false
	for _, err := range errs {
		if err == nil {
			continue
		}
		usage = usage || errors.As(err, new(usageError))
		var more several
		if errors.As(err, &more) {
			all = append(all, more...)
		} else {
			all = append(all, err)
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case len(all) == 1:
		return all[0]
	case usage:
		return usageError{all}
	}
	return all
}

// flagTypes are what values the flags of the library's types want.
var flagTypes = map[string]string{
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number, at least 0", "float64": "a number",
	"bool": "true or false", "duration": "a time such as 30s, 5m or 2h", "intSlice": "whole numbers separated by commas",
	"stringSlice": "words separated by commas",
}

// flagErrors returns all that is wrong with the flags among the arguments of c.
func flagErrors(c *cobra.Command, args []string) error {
	var all []error
	wrong := func(format string, values ...any) { all = append(all, fmt.Errorf(format, values...)) }
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		var f *pflag.Flag
		if strings.HasPrefix(arg, "--") {
			f = c.Flags().Lookup(name)
		} else if len(name) == 1 {
			f = c.Flags().ShorthandLookup(name)
		}
		next := i+1 < len(args) && !strings.HasPrefix(args[i+1], "-")
		switch {
		case f == nil:
			wrong("unknown flag %s%s", strings.SplitN(arg, "=", 2)[0], closest.Hint("--"+name, known))
			if !given && next {
				i++ // its value
			}
			continue
		case !given && f.NoOptDefVal != "":
			continue
		case !given && i+1 == len(args):
			wrong("flag --%s: no value given", f.Name)
			continue
		case !given:
			i++
			value = args[i]
		}
		if err := f.Value.Set(value); err != nil {
			if want, ok := flagTypes[f.Value.Type()]; ok {
				wrong("flag --%s: %q is not allowed, want %s", f.Name, value, want)
			} else {
				wrong("flag --%s: %q is not allowed: %w", f.Name, value, err)
			}
		}
	}
	return together(all...)
}

// atLeastOne checks flags, given as name and value, that were set.
func atLeastOne(c *cobra.Command, nameValue ...any) error {
	var errs []error
	for i := 0; i < len(nameValue); i += 2 {
		name, value := nameValue[i].(string), nameValue[i+1].(int)
		if c.Flags().Changed(name) && value < 1 {
			errs = append(errs, usageError{fmt.Errorf("flag --%s: %d is not allowed, want at least 1", name, value)})
		}
	}
	return together(errs...)
}

// atLeastOneEach is atLeastOne for the values of --k.
func atLeastOneEach(ks []int) error {
	var errs []error
	for _, k := range ks {
		if k < 1 {
			errs = append(errs, usageError{fmt.Errorf("flag --k: %d is not allowed, want at least 1", k)})
		}
	}
	return together(errs...)
}
