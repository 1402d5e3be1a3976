package datasets

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
)

// uspsName is the name of the set of images of zip codes.
const uspsName = "usps"

// Its files, in the format of The Elements of Statistical Learning, and the number of images in each.
var (
	uspsFiles = []string{"usps/zip.train.gz", "usps/zip.test.gz"}
	uspsRows  = []int{USPSTrain, 2007}
)

// USPSTrain is the number of images in the training part of usps, which are the first rows of the set.
const USPSTrain = 7291

const (
	uspsPixels = 256
	// maxUSPSLine bounds a line in bytes; the longest of the files has fewer than 2,100.
	maxUSPSLine = 1 << 14
)

// loadUSPS reads both files at paths.
func loadUSPS(paths []string) (*Set, error) {
	out := &Set{Name: uspsName}
	var cells []float64
	for k, path := range paths {
		file, err := limits.Open(path)
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		more, y, err := readZip(file, path, uspsRows[k])
		file.Close()
		if err != nil {
			return nil, err
		}
		cells, out.Y = append(cells, more...), append(out.Y, y...)
	}
	out.X = mat.NewDense(len(out.Y), uspsPixels, cells)
	return out, nil
}

// readZip reads the gzip-compressed images of zip codes: one of so many rows per line, its digit, as "6" or "6.0000", and 256 grey values
// in [-1, 1], separated by blanks. The error names file and line; it is a *LineError if the text is at fault.
func readZip(r io.Reader, name string, rows int) (cells []float64, y []int, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	in := bufio.NewScanner(z)
	in.Buffer(nil, maxUSPSLine)
	for in.Scan() {
		line := len(y) + 1
		if len(y) == rows {
			return nil, nil, &LineError{name, line, "number of lines", "larger", fmt.Sprint(rows), nil}
		}
		words := strings.Fields(in.Text())
		if len(words) != 1+uspsPixels {
			return nil, nil, &LineError{name, line, "number of cells", fmt.Sprint(len(words)), fmt.Sprint(1 + uspsPixels), nil}
		}
		digit := slices.Index(digits, strings.TrimSuffix(words[0], ".0000"))
		if digit < 0 {
			return nil, nil, &LineError{name, line, "digit", quote(words[0]), "0 to 9", nil}
		}
		for j, word := range words[1:] {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil || !(v >= -1 && v <= 1) {
				return nil, nil, &LineError{name, line, fmt.Sprintf("pixel %d", j+1), quote(word), "a number from -1 to 1", nil}
			}
			cells = append(cells, v)
		}
		y = append(y, digit)
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, nil, &LineError{name, len(y) + 1, "length", "larger", fmt.Sprintf("at most %d bytes", maxUSPSLine), nil}
	case err != nil:
		return nil, nil, fmt.Errorf("datasets: %s:%d: %w", name, len(y)+1, err)
	case len(y) < rows:
		return nil, nil, &LineError{name, len(y) + 1, "number of lines", fmt.Sprint(len(y)), fmt.Sprint(rows), nil}
	}
	return cells, y, nil
}
