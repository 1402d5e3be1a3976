package experimenttest

import (
	"fmt"
	"maps"
	"reflect"
	"unsafe"

	"metriclab/pkg/experiment"
)

// checkSettings changes every number, text and switch of a cell's settings, one at a time,
// also those within nested structs, slices and maps, and the lengths of slices. It returns
// an error unless each change gives other parameters, and so another job. Fields that are
// declared to be outside the key must not.
func checkSettings(c experiment.Cell) (err error) {
	if c.Settings == nil {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	root := copied(reflect.ValueOf(c.Settings))
	m := &mutation{want: c.Params(), params: func() map[string]string { return experiment.Cell{Settings: root.Interface()}.Params() }}
	m.fields(root, "", false)
	return m.err
}

// mutation changes settings in place and looks at the parameters that they give then.
type mutation struct {
	want   map[string]string
	params func() map[string]string
	err    error // the first one
}

func (m *mutation) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("settings: "+format, args...)
	}
}

// fields changes the fields of a struct, each by itself.
func (m *mutation) fields(v reflect.Value, path string, outside bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, tagged := f.Tag.Lookup("key")
		x := settable(v.Field(i))
		if f.Anonymous && !tagged {
			m.fields(x, path, outside)
			continue
		}
		m.value(x, path+f.Name, outside || tag == "-")
	}
}

// value changes a value, or what it is made of.
func (m *mutation) value(v reflect.Value, name string, outside bool) {
	switch v.Kind() {
	case reflect.Struct:
		m.fields(v, name+".", outside)
	case reflect.Slice:
		elements := copied(v) // the settings of other cells may share the array
		v.Set(elements)
		for i := range v.Len() {
			m.value(v.Index(i), fmt.Sprintf("%s[%d]", name, i), outside)
		}
		last := reflect.New(v.Type().Elem()).Elem()
		if last.Kind() == reflect.String {
			last.SetString("another") // an empty text is refused
		}
		m.try(v, "the length of "+name, outside, reflect.Append(copied(v), last))
	case reflect.Array:
		for i := range v.Len() {
			m.value(v.Index(i), fmt.Sprintf("%s[%d]", name, i), outside)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			was, entry := v.MapIndex(k), copied(v.MapIndex(k))
			v.Set(copied(v))
			inner := &mutation{want: m.want, params: func() map[string]string {
				v.SetMapIndex(k, entry)
				defer v.SetMapIndex(k, was)
				return m.params()
			}}
			inner.value(entry, fmt.Sprintf("%s[%v]", name, k), outside)
			if inner.err != nil && m.err == nil {
				m.err = inner.err
			}
		}
	case reflect.String:
		m.try(v, name, outside, reflect.ValueOf(v.String()+"x").Convert(v.Type()))
	case reflect.Bool:
		m.try(v, name, outside, reflect.ValueOf(!v.Bool()).Convert(v.Type()))
	case reflect.Int, reflect.Int8, reflect.Int64: // of named values some may not exist
		m.try(v, name, outside, reflect.ValueOf(v.Int()+1).Convert(v.Type()), reflect.ValueOf(v.Int()-1).Convert(v.Type()))
	case reflect.Uint64:
		m.try(v, name, outside, reflect.ValueOf(v.Uint()+1).Convert(v.Type()))
	case reflect.Float64:
		m.try(v, name, outside, reflect.ValueOf(v.Float()+1).Convert(v.Type()))
	default:
		if !outside {
			m.fail("%s of type %s cannot be changed by the test", name, v.Type())
		}
	}
}

// try gives a value others, one after another. One of them must change the parameters;
// outside the key none may.
func (m *mutation) try(v reflect.Value, name string, outside bool, others ...reflect.Value) {
	was, changes := copied(v), false
	for _, o := range others {
		v.Set(o)
		changes = changes || m.changes()
	}
	v.Set(was)
	if changes == outside {
		m.fail("%s: the parameters change with it: %v; it is outside the key: %v", name, changes, outside)
	}
}

// changes reports whether the parameters are not those of the cell. A value that has no text
// at all is no proof of that.
func (m *mutation) changes() (is bool) {
	defer func() {
		if recover() != nil {
			is = false
		}
	}()
	return !maps.Equal(m.params(), m.want)
}

// copied is a settable copy of a value, with arrays and maps of its own.
func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Slice:
		out.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
	case reflect.Map:
		out.Set(reflect.MakeMap(v.Type()))
		for _, k := range v.MapKeys() {
			out.SetMapIndex(k, v.MapIndex(k))
		}
	default:
		out.Set(v)
	}
	return out
}

// settable makes a field that is not exported settable; its struct must be addressable.
func settable(field reflect.Value) reflect.Value {
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}
