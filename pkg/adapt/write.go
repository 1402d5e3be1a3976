package adapt

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/template"

	"gonum.org/v1/gonum/mat"
	"google.golang.org/protobuf/encoding/protowire"

	"metriclab/internal/atomicfile"
	"metriclab/pkg/vectors"
)

// Adapter is a map of vectors, y = Ax, as an index of vectors can use it. Its numbers are written as float32, as indexes keep theirs.
type Adapter struct {
	Way
	Operator Operator
	A        *mat.Dense // r×d
}

// Fit learns the adapter of a way to search from all that is judged. It returns the errors of Compare, and one for a way that learns nothing.
func Fit(ctx context.Context, c *Corpus, way Way, o Options) (*Adapter, error) {
	o, err := o.Resolved()
	if err != nil {
		return nil, err
	}
	if way.Learner == "" || !slices.Contains((Options{Learners: Learners()}).ways(), way) {
		return nil, fmt.Errorf("adapt: %q is no way to search that learns", way)
	}
	w, err := ready(c, o)
	if err != nil {
		return nil, err
	}
	t, err := w.training(o.Folds, w.asked, nil)
	if err != nil {
		return nil, err
	}
	query, both, err := w.fit(ctx, t, way.Learner)
	if err != nil {
		return nil, err
	}
	out := &Adapter{way, o.Operator, query}
	if way.NewIndex() {
		out.A = both
	}
	for _, v := range out.A.RawMatrix().Data {
		if a := float32(v); a-a != 0 {
			return nil, fmt.Errorf("adapt: the map has a number %v, which no float32 holds: scale the vectors", v)
		}
	}
	return out, nil
}

// Evaluate ranks all documents for all queries by adapters that are given, and by the index as it is, which comes first. It learns nothing. It returns the errors of Compare.
func Evaluate(ctx context.Context, c *Corpus, adapters []*Adapter, o Options) ([]Row, error) {
	o, err := o.Resolved()
	if err != nil {
		return nil, err
	}
	w, err := ready(c, o)
	if err != nil {
		return nil, err
	}
	methods := []method{w.method(Way{"", AsItIs}, nil, nil)}
	for i, a := range adapters {
		if _, d := a.A.Dims(); d != c.Documents.Dim() {
			return nil, fmt.Errorf("adapt: adapter %d is of vectors of %d numbers, want %d", i, d, c.Documents.Dim())
		}
		methods = append(methods, w.method(a.Way, a.A, a.A))
	}
	values, err := rank(ctx, c, methods, w.asked, nil, o.K)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for i, m := range methods {
		rows = append(rows, Row{Way: m.Way, Values: values[i]})
		rows[i].sum(values[0])
	}
	return rows, nil
}

// unit tells whether x counts divided by its length, and after whether the image does. What only changes the length of what is compared by angle is left out.
func (a *Adapter) unit() bool  { return a.Search == Distance && a.Operator == Cosine }
func (a *Adapter) after() bool { return a.Search == Angle }

// The files of an adapter.
const (
	NPYFile         = "map.npy"
	SafetensorsFile = "map.safetensors"
	ONNXFile        = "map.onnx"
	SQLFile         = "map.sql"
	ReadmeFile      = "README.md"
)

// Files are the names of the files of an adapter.
func Files() []string { return []string{NPYFile, SafetensorsFile, ONNXFile, SQLFile, ReadmeFile} }

// Write writes the files of the adapter to a folder, all of them or none. score says in a sentence what was measured. The folder is made if it is not there; files of these names are replaced.
func (a *Adapter) Write(dir, score string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	var files []*atomicfile.File
	defer func() {
		for _, f := range files {
			f.Abort()
		}
	}()
	for _, part := range []struct {
		name  string
		write func(io.Writer) error
	}{{NPYFile, a.npy}, {SafetensorsFile, a.safetensors}, {ONNXFile, a.onnx}, {SQLFile, a.sql}, {ReadmeFile, func(w io.Writer) error { return a.readme(w, score) }}} {
		f, err := atomicfile.Create(filepath.Join(dir, part.name))
		if err != nil {
			return err
		}
		files = append(files, f)
		if err := part.write(f); err != nil {
			return err
		}
	}
	return atomicfile.Commit(files...)
}

// numbers are those of a matrix by rows.
func numbers(m mat.Matrix) []byte {
	var out []byte
	r, c := m.Dims()
	for i := range r {
		for j := range c {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(m.At(i, j))))
		}
	}
	return out
}

func (a *Adapter) npy(w io.Writer) error {
	r, d := a.A.Dims()
	_, err := w.Write(append(vectors.Header(r, d, true), numbers(a.A)...))
	return err
}

// safetensors writes the tensor "weight", r×d, as a linear layer has it.
func (a *Adapter) safetensors(w io.Writer) error {
	r, d := a.A.Dims()
	data := numbers(a.A)
	head, err := json.Marshal(map[string]any{
		"__metadata__": map[string]string{"format": "pt", "y": a.formula()},
		"weight":       map[string]any{"dtype": "F32", "shape": []int{r, d}, "data_offsets": []int{0, len(data)}},
	})
	if err != nil {
		return err
	}
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	_, err = w.Write(slices.Concat(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head, data))
	return err
}

// onnx writes a graph from x, n×d, to y, n×r.
func (a *Adapter) onnx(w io.Writer) error {
	r, d := a.A.Dims()
	text := func(b []byte, field protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
	}
	part := func(b []byte, field protowire.Number, p []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), p)
	}
	number := func(b []byte, field protowire.Number, v int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
	}
	const float, integer = 1, 2 // of tensors; of attributes
	value := func(name string, columns int) []byte {
		shape := part(part(nil, 1, text(nil, 2, "n")), 1, number(nil, 1, columns))
		return part(text(nil, 1, name), 2, part(nil, 1, part(number(nil, 1, float), 2, shape)))
	}
	var graph []byte
	last, names := "x", []string{}
	node := func(op, out string, inputs []string, attributes map[string]int) {
		var b []byte
		for _, in := range inputs {
			b = text(b, 1, in)
		}
		b = text(text(b, 2, out), 4, op)
		for _, name := range []string{"axis", "p"} {
			if v, ok := attributes[name]; ok {
				b = part(b, 5, number(number(text(nil, 1, name), 3, v), 20, integer))
			}
		}
		graph = part(graph, 1, b)
		last, names = out, append(names, op)
	}
	unit := map[string]int{"axis": 1, "p": 2}
	if a.unit() {
		node("LpNormalization", "u", []string{last}, unit)
	}
	image := "y"
	if a.after() {
		image = "z"
	}
	node("MatMul", image, []string{last, "A"}, nil)
	if a.after() {
		node("LpNormalization", "y", []string{last}, unit)
	}
	tensor := part(text(number(number(number(nil, 1, d), 1, r), 2, float), 8, "A"), 9, numbers(a.A.T()))
	graph = part(part(part(text(graph, 2, "adapter"), 5, tensor), 11, value("x", d)), 12, value("y", r))
	const ir, opset = 8, 13
	file := part(part(text(number(nil, 1, ir), 2, "metriclab"), 7, graph), 8, number(nil, 2, opset))
	_, err := w.Write(file)
	return err
}

// sql writes a table of the rows of A and a function learned(vector), for pgvector 0.7 or later.
func (a *Adapter) sql(w io.Writer) error {
	r, d := a.A.Dims()
	b := fmt.Appendf(nil, "-- %s\nbegin;\ncreate table metriclab_map (row int primary key, a vector(%d) not null);\ninsert into metriclab_map values\n", a.formula(), d)
	for i := range r {
		b = fmt.Appendf(b, "(%d,'[", i+1)
		for j := range d {
			if j > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendFloat(b, float64(float32(a.A.At(i, j))), 'g', -1, 32)
		}
		b = append(b, "]')"...)
		if i < r-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	x, y := "x", "array_agg(-(a <#> %s) order by row)::vector"
	if a.unit() {
		x = "l2_normalize(x)"
	}
	if a.after() {
		y = "l2_normalize(" + y + ")"
	}
	b = fmt.Appendf(b, ";\ncreate function learned(x vector) returns vector language sql stable strict parallel safe\nas $$ select "+y+" from metriclab_map $$;\ncommit;\n", x)
	_, err := w.Write(b)
	return err
}

// formula says what y is.
func (a *Adapter) formula() string {
	x, y := "x", "A %s"
	if a.unit() {
		x = "x/|x|"
	}
	y = fmt.Sprintf(y, x)
	if a.after() {
		y = "Ax/|Ax|"
	}
	return "y = " + y
}

//go:embed readme.tmpl
var readmeText string

var readmeTemplate = template.Must(template.New(ReadmeFile).Parse(readmeText))

func (a *Adapter) readme(w io.Writer, score string) error {
	r, d := a.A.Dims()
	ops := map[Operator]struct{ SQL, Class, Faiss, HNSW string }{
		Cosine:       {"<=>", "cosine_ops", "METRIC_INNER_PRODUCT", "cosine"},
		InnerProduct: {"<#>", "ip_ops", "METRIC_INNER_PRODUCT", "ip"},
		Euclidean:    {"<->", "l2_ops", "METRIC_L2", "l2"},
	}
	const most = 2000 // numbers of a vector in an index of pgvector
	kind := "vector"
	if r > most {
		kind = "halfvec"
	}
	op := a.Operator
	switch a.Search {
	case Angle:
		op = Cosine
	case Distance:
		op = Euclidean
	}
	var b bytes.Buffer
	err := readmeTemplate.Execute(&b, map[string]any{
		"Way": a.Flag(), "Score": score, "New": a.NewIndex(), "R": r, "D": d, "Op": ops[op], "Type": kind, "Formula": a.formula(),
		"Unit": a.unit(), "After": a.after(), "Cosine": op == Cosine, "Operator": string(op),
	})
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	return err
}
