package tables

import (
	"fmt"
	"io"
	"strings"

	"metriclab/internal/plural"
	"metriclab/pkg/datasets"
	"metriclab/pkg/metric"
)

// ReadNPY reads features from a NumPy .npy file, n×d, a row per object: see metric.ReadNPY. Columns have the numbers 1 to d, as
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
