package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"metriclab/internal/atomicfile"
)

// jsonSchema is the first field of the JSON that the verbs on a model print.
const jsonSchema = 1

// records writes rows as CSV, or as JSON with the same numbers: {"schema":1,"columns":[…],"rows":[[…],…],…}.
type records struct {
	json bool
	// guard has no text run as a formula by a spreadsheet.
	guard bool
	text  []byte // since take
	cell  bytes.Buffer
	csv   *csv.Writer // to cell
	rows  int
}

// head begins with the names of the columns.
func (r *records) head(columns ...string) error {
	if r.json {
		names, err := json.Marshal(columns)
		r.text = append(append(append(r.text, fmt.Sprintf("{\n\"schema\": %d,\n\"columns\": ", jsonSchema)...), names...), ",\n\"rows\": ["...)
		return err
	}
	cells := make([]any, len(columns))
	for i, name := range columns {
		cells[i] = name
	}
	return r.line(cells)
}

// row appends a row of texts, whole numbers, numbers, and slices of numbers, which are as many cells. Numbers have as many digits as bring back every bit.
func (r *records) row(cells ...any) error {
	if r.json {
		if r.rows > 0 {
			r.text = append(r.text, ',')
		}
		r.text = append(r.text, "\n["...)
	}
	r.rows++
	return r.line(cells)
}

func (r *records) line(cells []any) error {
	for _, cell := range cells {
		switch v := cell.(type) {
		case string:
			if err := r.name(v); err != nil {
				return err
			}
		case int:
			r.text = strconv.AppendInt(r.text, int64(v), 10)
		case float64:
			r.text = strconv.AppendFloat(r.text, v, 'g', -1, 64)
		case []float64:
			for i, x := range v {
				if i > 0 {
					r.text = append(r.text, ',')
				}
				r.text = strconv.AppendFloat(r.text, x, 'g', -1, 64)
			}
		default:
			panic(fmt.Sprintf("records: a cell of type %T", cell))
		}
		r.text = append(r.text, ',')
	}
	r.text[len(r.text)-1] = '\n'
	if r.json {
		r.text[len(r.text)-1] = ']'
	}
	return nil
}

// name appends a text.
func (r *records) name(text string) error {
	if text == "" && !r.json {
		return nil
	}
	r.cell.Reset()
	if r.json {
		e := json.NewEncoder(&r.cell)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			return err
		}
	} else {
		if r.guard {
			text = guarded(text)
		}
		if r.csv == nil {
			r.csv = csv.NewWriter(&r.cell)
		}
		err := r.csv.Write([]string{text})
		r.csv.Flush()
		if err := errors.Join(err, r.csv.Error()); err != nil {
			return err
		}
	}
	r.text = append(r.text, bytes.TrimSuffix(r.cell.Bytes(), []byte("\n"))...)
	return nil
}

// end closes the JSON with more fields, given as name and value.
func (r *records) end(nameValue ...any) error {
	if !r.json {
		return nil
	}
	r.text = append(r.text, "\n]"...)
	for i := 0; i < len(nameValue); i += 2 {
		value, err := json.Marshal(nameValue[i+1])
		if err != nil {
			return err
		}
		r.text = append(append(r.text, fmt.Sprintf(",\n%q: ", nameValue[i])...), value...)
	}
	r.text = append(r.text, "\n}\n"...)
	return nil
}

// take returns what was appended since the last call.
func (r *records) take() []byte {
	text := bytes.Clone(r.text)
	r.text = r.text[:0]
	return text
}

// addJSON adds the flag --json.
func addJSON(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "write JSON in place of CSV, with the same numbers")
}

// noGuard refuses --guard-formulas beside --json.
func noGuard(c *cobra.Command) error {
	if c.Flags().Changed("guard-formulas") && c.Flags().Changed("json") {
		return usageError{errors.New("flag --guard-formulas: not together with --json, which no spreadsheet runs")}
	}
	return nil
}

// held is how much text for standard output waits for the end.
const held = 4 << 20

// answer is where a command writes text as it comes: a file, which is there once it is whole, or standard output, which gets nothing before there is more than
// held, or before the end.
type answer struct {
	app     *app
	ctx     context.Context
	file    *atomicfile.File // nil of standard output
	waiting []byte
	through bool
}

// answerTo opens the file of a path, or standard output for "".
func (a *app) answerTo(ctx context.Context, path string) (*answer, error) {
	o := &answer{app: a, ctx: ctx}
	if path == "" {
		return o, nil
	}
	var err error
	o.file, err = atomicfile.Create(path)
	return o, err
}

func (o *answer) Write(text []byte) (int, error) {
	if o.file != nil {
		return o.file.Write(text)
	}
	o.waiting = append(o.waiting, text...)
	if !o.through && len(o.waiting) <= held {
		return len(text), nil
	}
	return len(text), o.flush()
}

// flush writes what waits for standard output.
func (o *answer) flush() error {
	o.through = true
	text := o.waiting
	o.waiting = nil
	_, err := atOnce(o.ctx, func() (int, error) { return o.app.data.Write(text) })
	return err
}

// commit ends the answer.
func (o *answer) commit() error {
	if o.file != nil {
		return o.file.Commit()
	}
	return o.flush()
}

// abort does nothing after commit.
func (o *answer) abort() {
	if o.file != nil {
		o.file.Abort()
	}
}
