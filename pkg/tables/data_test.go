package tables

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/datasets"
)

func read(t *testing.T, text string, c Columns) *Data {
	t.Helper()
	return Must(Read(strings.NewReader(text), "x.csv", c, false))
}

func TestRead(t *testing.T) {
	d := read(t, "id,a,class,b\nr1,1,x,2\nr2,3,y,4\n", Columns{Label: "class", Drop: []string{"1"}})
	if !mat.Equal(d.X, mat.NewDense(2, 2, []float64{1, 2, 3, 4})) || !slices.Equal(d.Labels, []string{"x", "y"}) || !slices.Equal(d.Unused, []string{"id"}) {
		t.Errorf("got %+v", d)
	}
	if l := d.Layout; !l.Header || l.Width != 4 || l.Label != "class" || !slices.Equal(l.Features, []string{"a", "b"}) || l.LabelName() != "class" {
		t.Errorf("layout %+v", l)
	}
	if d = read(t, "id,a,class\nr1,1,x\nr2,3,y\n", Columns{Label: "class", Drop: []string{"id", "1"}}); !slices.Equal(d.Unused, []string{"id"}) {
		t.Errorf("dropped twice: left out are %q", d.Unused)
	}
	d = read(t, "x,1,2\ny,3,4\n", Columns{Label: "1"})
	if l := d.Layout; l.Header || l.Label != "1" || !slices.Equal(l.Features, []string{"2", "3"}) || l.LabelName() != "label" {
		t.Errorf("layout %+v", l)
	}
	holes, err := Read(strings.NewReader("a,class\n?,x\n1,y\n"), "x.csv", Columns{Label: "class"}, true)
	if err != nil || !math.IsNaN(holes.X.At(0, 0)) {
		t.Errorf("a missing cell: %v, error %v", holes, err)
	}
}

func TestReadErrors(t *testing.T) {
	const text = "a,b,class\n1,2,x\n3,?,y\n"
	for _, tt := range []struct {
		columns Columns
		want    string
		option  bool
	}{
		{Columns{}, "label: no column given", true},
		{Columns{Label: "clas"}, `did you mean "class"?`, false},
		{Columns{Label: "class", Drop: []string{"class"}}, "is the label and cannot be dropped", true},
		{Columns{Label: "class", Drop: []string{"a", "2"}}, "no column is left as a feature", true},
		{Columns{Label: "class", Drop: []string{"4"}}, `no column "4"`, false},
		{Columns{Label: "class"}, `x.csv:3: column "b": the cell is missing`, false},
		{Columns{Label: "b"}, `x.csv:2: column "class": "x" is not a number`, false},
		{Columns{Label: "b", Drop: []string{"class"}}, `x.csv:3: column "b": the cell is missing`, false},
	} {
		_, err := Read(strings.NewReader(text), "x.csv", tt.columns, false)
		Refused(t, tt.columns, err, tt.want)
		if _, ok := errors.AsType[*OptionError](err); ok != tt.option {
			t.Errorf("%+v: error %v: OptionError %v, want %v", tt.columns, err, ok, tt.option)
		}
	}
}

// A reader finds its columns in other files: by name, whatever the order, if there
// are names; else by number, with or without the other columns.
func TestReader(t *testing.T) {
	named := Reader{Layout: read(t, "id,a,class,b\nr,1,x,2\nr,3,y,5\nr,4,y,4\n", Columns{Label: "class", Drop: []string{"id"}}).Layout}
	numbered := Reader{Layout: read(t, "x,r,1,2\ny,r,3,5\ny,r,4,4\n", Columns{Label: "1", Drop: []string{"2"}}).Layout}
	for _, tt := range []struct {
		m            Reader
		text         string
		labels, left []string
		err          string
	}{
		{m: named, text: "b,z,a\n8,word,7\n", left: []string{"z"}},
		{m: named, text: "class,b,a\nx,8,7\n", labels: []string{"x"}},
		{m: named, text: "a,class\n7,x\n", err: `no column "b"`},
		{m: named, text: "7,x,8\n7,x,8\n", err: `no column "a"`},
		{m: named, text: "a,b,class\n7,?,x\n", err: "the cell is missing"},
		{m: named, text: "a,b,class\n7,8,\n"}, // new rows have no class yet
		{m: named, text: "a,b,class\n7,8,\n7,8,x\n", err: `x.csv:2: column "class": the cell is missing`},
		{m: numbered, text: "x,r,7,8\n", labels: []string{"x"}, left: []string{"2"}},
		{m: numbered, text: "7,8\n"},
		{m: numbered, text: "x,7,8\n", err: "x.csv has 3 columns, want 4 as the training file, or the 2 features alone"},
		{m: numbered, text: "a,b\n7,8\n", err: `x.csv:1: column 1: "a" is not a number`},
	} {
		d, err := tt.m.CSV(strings.NewReader(tt.text), "x.csv")
		if tt.err != "" {
			Refused(t, tt.text, err, tt.err)
			continue
		}
		if err != nil || !mat.Equal(d.X, mat.NewDense(1, 2, []float64{7, 8})) || !slices.Equal(d.Labels, tt.labels) || !slices.Equal(d.Unused, tt.left) {
			t.Errorf("%q: got %+v, error %v", tt.text, d, err)
		}
	}
	// A name that is a number is not taken for a position.
	years := Reader{Layout: read(t, "2019,2020,class\n1,2,x\n3,4,y\n", Columns{Label: "class"}).Layout}
	if _, err := years.CSV(strings.NewReader("2020,class\n1,x\n"), "x.csv"); !isUnknown(err, "2019") {
		t.Errorf("error %v", err)
	}
	small := Reader{Layout: read(t, "2,1,class\n1,2,x\n3,4,y\n", Columns{Label: "class"}).Layout}
	if _, err := small.CSV(strings.NewReader("1,b,class\n1,2,x\n"), "x.csv"); !isUnknown(err, "2") {
		t.Errorf("error %v", err)
	}
}

func isUnknown(err error, column string) bool {
	e, ok := errors.AsType[*datasets.UnknownColumnError](err)
	return ok && e.Column == column
}

func ExampleRead() {
	d := Must(Read(strings.NewReader("14.2,2.4,red\n13.2,1.8,white\n"), "wine.csv", Columns{Label: "3"}, false))
	fmt.Println(d.Labels, d.Layout.Features, d.X.RawRowView(0))
	// Output: [red white] [1 2] [14.2 2.4]
}
