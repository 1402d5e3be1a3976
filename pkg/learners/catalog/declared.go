package catalog

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/ranges"
	"metriclab/pkg/learners"
	"metriclab/pkg/metric"
)

// declaration is a field that declares a parameter, which stands in one place: the tags of the field in a struct of parameters:
//
//	C    float64 `json:"c" range:"> 0" doc:"weight of the loss" needs:"rule=pa1|pa2"`
//	Rule PARule  `json:"rule" words:"pa|pa1|pa2" doc:"hard margin, or slack in the loss"`
//
// doc is Param.Doc, and a field without is no parameter. name is the name, by default that in JSON or that of the field
// in kebab case. range is the range, see package ranges. needs is Param.Needs. default is the default where it is not
// that of Resolved; 0 stands for whatever the learner makes of it. words are those of a Choice, of which the first is the
// default: an enum, a string, or a bool, whose words are those of false and true. A number with words is a NumberOrWord, an int a
// CountOrWord; there the tag default goes before the first word.
// auto is a word for a Number that depends on the dimension, and its default.
//
// Fields may stand in structs in structs. There needs and doc go before those of the fields inside.
type declaration struct {
	Param
	field reflect.StructField
	index []int // in the outermost struct
}

// declarationsOf returns the fields of the struct t that declare a parameter, in order.
func declarationsOf(t reflect.Type) (out []declaration) {
	resolved := reflect.New(t).Elem()
	if m := resolved.MethodByName("Resolved"); m.IsValid() && m.Type().Out(0) == t { // not that of an embedded struct
		resolved = m.Call(nil)[0]
	}
	for i := range t.NumField() {
		f := t.Field(i)
		doc, needs := f.Tag.Get("doc"), f.Tag.Get("needs")
		if f.Type.Kind() == reflect.Struct {
			for _, d := range declarationsOf(f.Type) {
				d.index = append([]int{i}, d.index...)
				d.Doc, d.Needs = cmp.Or(doc, d.Doc), cmp.Or(needs, d.Needs)
				out = append(out, d)
			}
			continue
		}
		if doc == "" {
			continue
		}
		d := declaration{field: f, index: []int{i}}
		d.Param = Param{Name: nameOf(f), Doc: doc, Needs: needs, auto: f.Tag.Get("auto")}
		d.Default = cmp.Or(f.Tag.Get("default"), d.auto)
		if words := f.Tag.Get("words"); words != "" {
			d.words = strings.Split(words, "|")
		}
		d.Param = d.of(t, resolved.Field(i))
		out = append(out, d)
	}
	return out
}

// nameOf returns the name of the parameter that f declares.
func nameOf(f reflect.StructField) string {
	return cmp.Or(f.Tag.Get("name"), strings.ReplaceAll(ranges.NameOf(f), "_", "-"))
}

// of returns the parameter of a field of the struct t, whose resolved value is v. What a Choice stands for, +Inf, is not
// in its range, nor is the 0 of a field that a word replaces. A default of 0 is allowed beside the range.
func (d declaration) of(t reflect.Type, v reflect.Value) Param {
	p := d.Param
	p.field = t.String() + "." + d.field.Name
	kind := d.field.Type.Kind()
	if kind == reflect.Pointer {
		kind = d.field.Type.Elem().Kind()
	}
	whole := d.field.Type == reflect.TypeFor[int]() // no enum
	if p.words != nil {
		p.Default = cmp.Or(p.Default, p.words[0])
		if kind != reflect.Float64 && !whole {
			for _, word := range p.words {
				d.set(reflect.New(d.field.Type).Elem(), word) // which panics at a word that is none
			}
			p.Type, p.Allowed = Choice, "one of "+strings.Join(p.words, ", ")
			return p
		}
	}
	var r ranges.Range
	switch {
	case kind == reflect.Uint64:
		r, p.Type = anyCount, Count
	case kind == reflect.Int:
		r, p.Type = ranges.Of(reflect.Zero(t).Interface(), d.field.Name).AtMost(maxCount), Count
		if p.words != nil {
			p.Type = CountOrWord
		}
	case p.words != nil && !whole:
		r, p.Type = ranges.Of(reflect.Zero(t).Interface(), d.field.Name).Finite().WithoutZero(), NumberOrWord
	default:
		r, p.Type = ranges.Of(reflect.Zero(t).Interface(), d.field.Name).Finite(), Number
	}
	if p.Default == "" {
		p.Default = text(v)
	}
	if p.Default == "0" {
		r = r.OrZero()
	}
	return p.allow(r)
}

// anyCount is the range of a uint64.
var anyCount = must(ranges.Parse(">= 0", true))

func must[T any](v T, err error) T {
	if err != nil {
		panic("catalog: " + err.Error())
	}
	return v
}

// declared returns the parameters that P declares: those named, in that order, or all.
func declared[P any](names ...string) (out []Param) {
	all := declarationsOf(reflect.TypeFor[P]())
	if len(names) == 0 {
		for _, d := range all {
			out = append(out, d.Param)
		}
	}
	for _, name := range names {
		i := slices.IndexFunc(all, func(d declaration) bool { return d.Name == name })
		if i < 0 {
			panic(fmt.Sprintf("catalog: %v declares no parameter %s", reflect.TypeFor[P](), name))
		}
		out = append(out, all[i].Param)
	}
	return out
}

// read returns a P whose declared fields are set to v, as far as v has them and they go with the choices made; a word of a
// NumberOrWord or CountOrWord leaves its field at 0. A field Progress is set to progress.
func read[P any](v Values, progress Progress) P {
	var p P
	s := reflect.ValueOf(&p).Elem()
	for _, d := range declarationsOf(s.Type()) {
		if x, ok := v.values[d.Name]; ok && d.Applies(v.Text) {
			d.set(s.FieldByIndex(d.index), x)
		}
	}
	if f := s.FieldByName("Progress"); f.IsValid() {
		f.Set(reflect.ValueOf(progress))
	}
	return p
}

// set sets the field into to x, a parsed value. It panics at a word that is none of the field's.
func (d declaration) set(into reflect.Value, x any) {
	if into.Kind() == reflect.Pointer {
		into.Set(reflect.New(into.Type().Elem()))
		into = into.Elem()
	}
	word, _ := x.(string)
	switch kind := into.Kind(); kind {
	case reflect.String:
		into.SetString(word)
	case reflect.Bool:
		into.SetBool(word == d.words[1])
	case reflect.Float64:
		number, ok := x.(float64)
		if !ok { // of a NumberOrWord
			number, _ = strconv.ParseFloat(word, 64)
		}
		into.SetFloat(number)
	case reflect.Uint64:
		into.SetUint(uint64(x.(int)))
	default:
		n, ok := x.(int)
		if !ok && into.Type() == reflect.TypeFor[int]() { // of a CountOrWord
			n, _ = strconv.Atoi(word)
			ok = true
		}
		for !ok { // by the name of the enum's value
			if into.SetInt(int64(n)); fmt.Sprint(into) == word {
				return
			}
			if n++; n > 99 {
				panic(fmt.Sprintf("catalog: %q is no word of field %s, a %v", word, d.field.Name, into.Type()))
			}
		}
		into.SetInt(int64(n))
	}
}

// online returns e as the entry of an online learner whose parameters P declares.
func online[P any, L Learner](e Entry, f Feedback, fresh func(Shape, P) (L, error), load func(io.Reader) (L, error)) Entry {
	e.Feedback, e.Params = f, declared[P]()
	e.New = func(s Shape, v Values) (Learner, error) { return fresh(s, read[P](v, nil)) }
	e.Load = func(r io.Reader) (Learner, error) { return load(r) }
	return e
}

func onPairs[P any, L learners.Pair](e Entry, fresh func(dim int, p P) (L, error), load func(io.Reader) (L, error)) Entry {
	e.Form = cmp.Or(e.Form, Linear)
	return online(e, Pairs, func(s Shape, p P) (L, error) { return fresh(s.Dim, p) }, load)
}

func onTriplets[P any, L learners.TripletLearner](e Entry, fresh func(objects int, p P) (L, error), load func(io.Reader) (L, error)) Entry {
	return online(e, Triplets, func(s Shape, p P) (L, error) { return fresh(s.Objects, p) }, load)
}

func onSimilarities[P any, L learners.SimilarityLearner](e Entry, fresh func(dim int, p P) (L, error), load func(io.Reader) (L, error)) Entry {
	return online(e, VectorTriplets, func(s Shape, p P) (L, error) { return fresh(s.Dim, p) }, load)
}

func onMaps[P any, L learners.MapLearner](e Entry, fresh func(a, b int, p P) (L, error), load func(io.Reader) (L, error)) Entry {
	return online(e, Costs, func(s Shape, p P) (L, error) { return fresh(s.Objects, s.Prototypes, p) }, load)
}

// onRows returns e as the entry of a batch learner of a linear map whose parameters P declares. So do those below.
func onRows[P any](e Entry, f Feedback, fit func(context.Context, Input, P) (learners.MetricResult, error)) Entry {
	e.Form = Linear
	e.Use = Use{f, declared[P](), func(ctx context.Context, in Input, v Values, progress Progress) (Learned, error) {
		return linear(fit(ctx, in, read[P](v, progress)))
	}}
	return e
}

func onLinks[P any](e Entry, fit func(context.Context, mat.Matrix, []metric.Link, P) (learners.MetricResult, error)) Entry {
	return onRows(e, Links, func(ctx context.Context, in Input, p P) (learners.MetricResult, error) {
		return fit(ctx, in.X, in.Links, p)
	})
}

func onClasses[P any](e Entry, fit func(context.Context, mat.Matrix, []int, P) (learners.MetricResult, error)) Entry {
	return onRows(e, Classes, func(ctx context.Context, in Input, p P) (learners.MetricResult, error) {
		return fit(ctx, in.X, in.Y, p)
	})
}

func onData[P any](e Entry, fit func(context.Context, mat.Matrix, P) (learners.MetricResult, error)) Entry {
	return onRows(e, Data, func(ctx context.Context, in Input, p P) (learners.MetricResult, error) { return fit(ctx, in.X, p) })
}

// linear returns the metric of a learner as what was learned.
func linear(r learners.MetricResult, err error) (Learned, error) {
	if err != nil {
		return Learned{}, err
	}
	return Learned{Result: r.Result, Distance: r.Metric}, nil
}
