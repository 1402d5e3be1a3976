package experiment

import (
	"fmt"
	"reflect"
	"strings"

	"metriclab/pkg/table"
)

// keyTag is the tag of a field of Cell.Settings that names its parameter.
const keyTag = "key"

// becauseTag is the tag of a field outside the key, which says why.
const becauseTag = "because"

// Params returns the parameters that the settings put into a job's key, as text by name.
// They are the fields of a struct, each with a tag:
//
//	`key:"passes"`          the field under that name
//	`key:"width,omitzero"`  the same, but nothing at all if it is zero
//	`key:"sizes,list"`      a slice, joined by ", "
//	`key:"τ of %v"`         a map or a slice, one parameter per entry, named by its key or index
//	`key:"-" because:"…"`   outside the key: it does not decide the values, because …
//
// An embedded struct without a tag gives its own fields. A number is written as in a
// table, everything else as fmt.Sprint does, so that a type with String decides how it is
// written.
//
// It panics where a setting could change without a new job. That is a field that has no such
// tag or is not exported, and two parameters of one name. So is a pointer, a function or an
// interface, and a text within a list, a map or a struct that could be taken for two.
func (c Cell) Params() map[string]string {
	out := map[string]string{}
	if c.Settings != nil {
		put(out, reflect.ValueOf(c.Settings))
	}
	return out
}

// put adds the parameters of a struct.
func put(out map[string]string, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		panic(fmt.Sprintf("experiment: settings are a %s, want a struct", v.Type()))
	}
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		tag, tagged := f.Tag.Lookup(keyTag)
		where := fmt.Sprintf("experiment: settings: %s.%s", v.Type(), f.Name)
		switch name, option, _ := strings.Cut(tag, ","); {
		case !tagged && f.Anonymous:
			put(out, x)
		case !tagged || !f.IsExported():
			panic(where + " has no tag key, or is not exported")
		case tag == "-":
			if f.Tag.Get(becauseTag) == "" {
				panic(where + " is outside the key, but does not say because of what")
			}
		case option == "omitzero" && x.IsZero():
		case name == "", option != "" && option != "omitzero" && option != "list", option == "list" && x.Kind() != reflect.Slice:
			panic(fmt.Sprintf("%s has the tag key:%q, which is not one of Cell.Params", where, tag))
		case strings.Contains(name, "%v"):
			for key, value := range entries(where, x) {
				set(out, where, strings.Replace(name, "%v", key, 1), value)
			}
		case option == "list":
			set(out, where, name, listed(where, x))
		default:
			set(out, where, name, written(where, x))
		}
	}
}

func set(out map[string]string, where, name, value string) {
	if _, twice := out[name]; twice {
		panic(fmt.Sprintf("%s: the name %q occurs twice", where, name))
	}
	out[name] = value
}

// written is a value as text.
func written(where string, v reflect.Value) string {
	if !textual(v.Type()) {
		panic(fmt.Sprintf("%s is of type %s, which has no text of its own", where, v.Type()))
	}
	if v.Kind() != reflect.String {
		plain(where, v)
	}
	if f, ok := v.Interface().(float64); ok {
		return table.Format(f)
	}
	return fmt.Sprint(v.Interface())
}

// separators are what fmt.Sprint, and lists, put between values.
const separators = " ,:[]{}"

// plain panics unless fmt.Sprint tells the values of a kind apart: numbers and bools do, and
// lists, maps and structs of these. A text in them must be one word.
func plain(where string, v reflect.Value) {
	if _, ok := v.Interface().(fmt.Stringer); ok {
		return // its author decides
	}
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); s == "" || strings.ContainsAny(s, separators) {
			panic(fmt.Sprintf("%s has the text %q among others, which must be one word", where, s))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			plain(where, v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			plain(where, k)
			plain(where, v.MapIndex(k))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				panic(fmt.Sprintf("%s: field %s of %s is not exported", where, v.Type().Field(i).Name, v.Type()))
			}
			plain(where, v.Field(i))
		}
	}
}

// textual reports whether values of a type are equal exactly if their texts are: no
// addresses, and nothing that may hold values of several types.
func textual(t reflect.Type) bool {
	if t.Implements(reflect.TypeFor[fmt.Stringer]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.UnsafePointer, reflect.Func, reflect.Chan, reflect.Interface:
		return false
	case reflect.Slice, reflect.Array:
		return textual(t.Elem())
	case reflect.Map:
		return textual(t.Key()) && textual(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !textual(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

// listed joins the elements of a slice.
func listed(where string, v reflect.Value) string {
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = written(where, v.Index(i))
		if parts[i] == "" || strings.Contains(parts[i], ",") {
			panic(fmt.Sprintf("%s has the element %q, which a list cannot tell from others", where, parts[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// entries are the elements of a map or a slice as text, by key or index.
func entries(where string, v reflect.Value) map[string]string {
	out := map[string]string{}
	switch v.Kind() {
	case reflect.Map:
		for _, k := range v.MapKeys() {
			set(out, where, fmt.Sprint(k.Interface()), written(where, v.MapIndex(k)))
		}
	case reflect.Slice:
		for i := range v.Len() {
			out[fmt.Sprint(i)] = written(where, v.Index(i))
		}
	default:
		panic(fmt.Sprintf("%s is a %s, want a map or a slice", where, v.Type()))
	}
	return out
}
