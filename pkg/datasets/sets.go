package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/closest"
)

// digits are the labels of sets of digits.
var digits = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}

// tableForm says how the text files of a data set are read: comma-separated cells
// without a header.
type tableForm struct {
	files    []string // below the data folder; the rows of one follow those of another
	rows     []int    // of each file
	features int
	first    bool     // the class is the first cell of a row, not the last
	classes  []string // in the order of labels; digits if the labels are digits
	complete int      // rows without a missing cell, the only ones taken; 0 if none may miss one
}

// tableForms are the sets that Store.Set reads from text, by name.
var tableForms = map[string]tableForm{
	"wine":       {files: []string{"uci/wine.data"}, rows: []int{178}, features: 13, first: true, classes: []string{"1", "2", "3"}},
	"iris":       {files: []string{"uci/iris.data"}, rows: []int{150}, features: 4, classes: []string{"Iris-setosa", "Iris-versicolor", "Iris-virginica"}},
	"ionosphere": {files: []string{"uci/ionosphere.data"}, rows: []int{351}, features: 34, classes: []string{"g", "b"}},
	"balance-scale": {files: []string{"uci/balance-scale.data"}, rows: []int{625}, features: 4, first: true,
		classes: balanceClasses},
	"soybean-large": {files: []string{"uci/soybean-large.data"}, rows: []int{307}, features: 35, first: true, complete: 266,
		classes: []string{"alternarialeaf-spot", "anthracnose", "bacterial-blight", "bacterial-pustule", "brown-spot", "brown-stem-rot",
			"charcoal-rot", "diaporthe-stem-canker", "downy-mildew", "frog-eye-leaf-spot", "phyllosticta-leaf-spot", "phytophthora-rot",
			"powdery-mildew", "purple-seed-stain", "rhizoctonia-root-rot"}},
	"pendigits": {files: []string{"uci/pendigits.tra", "uci/pendigits.tes"}, rows: []int{7494, 3498}, features: 16, classes: digits},
}

// prtoolsForms are the sets that Store.Set reads from files of PRTools, by name:
// the columns of one file follow those of another.
var prtoolsForms = map[string]struct {
	name    string // of the Set
	files   []string
	columns []int // of each file
	height  int   // of an image; 0 if rows are not images
}{
	"nist16": {"nist16", []string{"nist16/nist16.mat"}, []int{256}, 16},
	"mfeat":  {"mfeat-kar-zer", []string{"mfeat/mfeat-kar.mat", "mfeat/mfeat-zer.mat"}, []int{64, 47}, 0},
}

// prtoolsRows is the number of rows of nist16 and of mfeat.
const prtoolsRows = 2000

// SetNames returns the names that Store.Set knows, in the registry's order.
func SetNames() []string {
	var out []string
	for _, e := range registry {
		_, text := tableForms[e.Name]
		_, prtools := prtoolsForms[e.Name]
		if text || prtools || e.Name == uspsName {
			out = append(out, e.Name)
		}
	}
	return out
}

// Set returns a data set of labelled vectors by its name in the registry, which all
// callers share and must not change:
//
//   - wine: 178×13, 3 classes; its 13 features differ in scale a thousandfold.
//   - iris: 150×4, 3 classes.
//   - ionosphere: 351×34, 2 classes: g (good) and b; the second feature is 0 everywhere.
//   - balance-scale: 625×4, 3 classes, equal to Balance.
//   - soybean-large: the 266×35 rows of soybean-large.data without a missing cell,
//     integer codes, 15 classes; three rows stand twice.
//   - pendigits: 10992×16, digits; the first 7494 rows are the training part.
//   - nist16: 2000×256, images of 16×16 pixels 0..144 stored row by row, digits.
//   - usps: 9298×256, images of 16×16 pixels -1..1 stored row by row, digits; the first
//     USPSTrain rows are the training part.
//   - mfeat: 2000×111, digits: the 64 Karhunen-Loève coefficients and then the 47
//     Zernike moments. Perez-Suay and Ferri (2013) used 1710×104 features of a
//     proprietary collection, BDG100; this set can stand in for it and is not it.
//
// The first call that succeeds reads the files, while other callers wait; a failure is
// not remembered, so that a caller may Get and try again. The error is an *UnknownError
// for a name that the registry does not have; for a data set of another kind it lists
// SetNames. It is a *MissingError if a file is missing, and a *FormatError if a file of
// PRTools is damaged. Of a damaged text file it names the line.
func (s *Store) Set(name string) (*Set, error) {
	s.setsMu.Lock()
	defer s.setsMu.Unlock()
	if set, ok := s.sets[name]; ok {
		return set, nil
	}
	set, err := s.loadSet(name)
	if err != nil {
		return nil, err
	}
	s.sets[name] = set
	return set, nil
}

func (s *Store) loadSet(name string) (*Set, error) {
	if form, ok := tableForms[name]; ok {
		paths, err := s.present(name, form.files)
		if err != nil {
			return nil, err
		}
		return form.load(name, paths)
	}
	if form, ok := prtoolsForms[name]; ok {
		paths, err := s.present(name, form.files)
		if err != nil {
			return nil, err
		}
		return loadPRTools(form.name, paths, form.columns, form.height)
	}
	if name == uspsName {
		paths, err := s.present(name, uspsFiles)
		if err != nil {
			return nil, err
		}
		return loadUSPS(paths)
	}
	if _, err := lookup(registry, name); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("datasets: %s is not a set of labelled vectors, want one of %s%s", name, strings.Join(SetNames(), ", "), closest.Hint(name, SetNames()))
}

// present returns the paths of files, or a *MissingError.
func (s *Store) present(name string, files []string) ([]string, error) {
	paths := make([]string, len(files))
	for k, file := range files {
		paths[k] = s.Path(file)
		if _, err := os.Stat(paths[k]); errors.Is(err, fs.ErrNotExist) {
			return nil, &MissingError{Dataset: name, Path: paths[k]}
		}
	}
	return paths, nil
}

// load reads the files at paths.
func (f tableForm) load(name string, paths []string) (*Set, error) {
	out := &Set{Name: name}
	if !slices.Equal(f.classes, digits) {
		out.Classes = slices.Clone(f.classes)
	}
	var cells []float64
	for k, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		t, err := ReadCSV(file, path, CSVOptions{Header: HeaderNo})
		file.Close()
		if err != nil {
			return nil, err
		}
		more, y, err := f.read(t, f.rows[k])
		if err != nil {
			return nil, err
		}
		cells, out.Y = append(cells, more...), append(out.Y, y...)
	}
	out.X = mat.NewDense(len(out.Y), f.features, cells)
	return out, nil
}

// read returns the features, row by row, and the labels of a file that should have
// that many rows.
func (f tableForm) read(t *CSV, rows int) (cells []float64, y []int, err error) {
	if t.Width() != f.features+1 {
		return nil, nil, &LineError{t.Name, t.Line(0), "number of cells", fmt.Sprint(t.Width()), fmt.Sprint(f.features + 1), nil}
	}
	label, columns := f.features, make([]int, f.features)
	for j := range columns {
		columns[j] = j
		if f.first {
			columns[j]++
		}
	}
	if f.first {
		label = 0
	}
	x, err := t.Numbers(columns, f.complete > 0)
	if err != nil {
		return nil, nil, err
	}
	words, err := t.Words(label)
	if err != nil {
		return nil, nil, err
	}
	for i, w := range words {
		row := x.RawRowView(i)
		if slices.ContainsFunc(row, math.IsNaN) { // a missing cell
			continue
		}
		c := slices.Index(f.classes, w)
		if c < 0 {
			return nil, nil, &LineError{t.Name, t.Line(i), "class", quote(w), "one of " + strings.Join(f.classes, ", "), nil}
		}
		cells, y = append(cells, row...), append(y, c)
	}
	last := t.Line(t.Len() - 1)
	if t.Len() != rows {
		return nil, nil, &LineError{t.Name, last, "number of rows", strconv.Itoa(t.Len()), strconv.Itoa(rows), nil}
	}
	if f.complete > 0 && len(y) != f.complete {
		return nil, nil, &LineError{t.Name, last, "number of rows without a missing cell", strconv.Itoa(len(y)), strconv.Itoa(f.complete), nil}
	}
	return cells, y, nil
}

// loadPRTools reads files of PRTools with features of the same digits.
func loadPRTools(name string, paths []string, columns []int, height int) (*Set, error) {
	out := &Set{Name: name}
	var parts []*Set
	for k, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("datasets: %w", err)
		}
		part, err := readPRTools(file, path)
		file.Close()
		if err != nil {
			return nil, err
		}
		switch {
		case part.N() != prtoolsRows || part.Dim() != columns[k] || part.Height != height:
			return nil, fmt.Errorf("datasets: %s: %d×%d numbers, images of height %d, want %d×%d and height %d",
				path, part.N(), part.Dim(), part.Height, prtoolsRows, columns[k], height)
		case !slices.Equal(part.Classes, digits):
			return nil, fmt.Errorf("datasets: %s: classes are %q, want %q", path, part.Classes, digits)
		case k > 0 && !slices.Equal(part.Y, out.Y):
			return nil, fmt.Errorf("datasets: %s: labels are not those of %s, row by row", path, paths[0])
		}
		out.Y, out.Height, out.Width = part.Y, part.Height, part.Width
		parts = append(parts, part)
	}
	out.X = parts[0].X
	for _, part := range parts[1:] {
		var wider mat.Dense
		wider.Augment(out.X, part.X)
		out.X = &wider
	}
	return out, nil
}
