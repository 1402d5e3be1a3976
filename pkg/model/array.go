package model

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

// ReadNPY reads features from a NumPy .npy file, n×d, a row per sample: see metric.ReadNPY. Columns have the numbers 1 to d, as
// NewData gives them. labels reads the classes of n rows, as ReadClasses does; nil if there are none.
func ReadNPY(r io.Reader, name string, labels func(n int) ([]string, error)) (*Data, error) {
	x, err := metric.ReadNPY(r)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", name, err)
	}
	var classes []string
	if labels != nil {
		n, _ := x.Dims()
		if classes, err = labels(n); err != nil {
			return nil, err
		}
	}
	d, err := NewData(x, classes, nil)
	if err != nil {
		return nil, err
	}
	d.Name = name
	return d, nil
}

// ReadNPY reads features for a model that was fitted on rows without names of columns: column i of the array is the i-th feature.
func (m *Model) ReadNPY(r io.Reader, name string, labels func(n int) ([]string, error)) (*Data, error) {
	if m.made().layout.Header {
		return nil, fmt.Errorf("model: %s: the model knows features by their names, such as %s, which an array does not have", name, m.layout.Features[0])
	}
	d, err := ReadNPY(r, name, labels)
	if err != nil {
		return nil, err
	}
	if _, width := d.X.Dims(); width != len(m.layout.Features) {
		return nil, fmt.Errorf("model: %s has %s, want %d as the model", name, plural.Of(width, "column"), len(m.layout.Features))
	}
	d.Layout = m.layout.clone()
	d.used = true
	d.Notes = d.Look().strange()
	return d, nil
}

// EmbedNPY is EmbedCSV for a file of ReadNPY, all of which is read first.
func (m *Model) EmbedNPY(r io.Reader, name string, labels func(n int) ([]string, error)) iter.Seq2[*Embedded, error] {
	return func(yield func(*Embedded, error) bool) {
		d, err := m.ReadNPY(r, name, labels)
		if err != nil {
			yield(nil, err)
			return
		}
		z, err := m.Embed(d.X)
		if err != nil {
			yield(nil, err)
			return
		}
		n, width := z.Dims()
		rows := int(max(blockBytes/limits.Floats(width), blockRows))
		for first := 0; first < n; first += rows {
			end := min(first+rows, n)
			b := &Embedded{Z: mat.DenseCopyOf(z.Slice(first, end, 0, width)), Notes: d.Notes, Total: n}
			if d.Labels != nil {
				b.Labels = d.Labels[first:end:end]
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// ReadClasses reads the classes of the n rows of an array, in their order: from a .npy file of numbers, which become their shortest decimal text, or
// from CSV as ReadLabels does.
func ReadClasses(r io.Reader, name string, n int) ([]string, error) {
	if !strings.HasSuffix(strings.ToLower(name), ".npy") {
		return readLabels(r, name, n, "row", "the array")
	}
	labels, err := metric.ReadNPYLabels(r)
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w; labels of text are read from CSV", name, err)
	}
	if len(labels) != n {
		return nil, fmt.Errorf("model: %s: %s, want %d, one per row of the array", name, plural.Of(len(labels), "label"), n)
	}
	classes, y := datasets.Classes(labels)
	for i, c := range y {
		labels[i] = classes[c] // all rows of a class share one string
	}
	return labels, nil
}
