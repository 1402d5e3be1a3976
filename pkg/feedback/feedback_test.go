package feedback

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/limits"
	"metriclab/pkg/metric"
)

func npyOf(t testing.TB, rows ...float64) string {
	t.Helper()
	var b bytes.Buffer
	if err := metric.WriteNPY(&b, mat.NewDense(len(rows)/3, 3, rows)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// int64NPY is what numpy.save writes of an array of integers.
func int64NPY(rows ...int64) string {
	head := fmt.Sprintf("{'descr': '<i8', 'fortran_order': False, 'shape': (%d, 3), }", len(rows)/3)
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), uint16(len(head)))
	b = append(b, head...)
	for _, v := range rows {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return string(b)
}

func TestReadPairs(t *testing.T) {
	want := []metric.Link{{I: 0, J: 3, Label: metric.Similar}, {I: 2, J: 1, Label: metric.Dissimilar}, {I: 0, J: 3, Label: metric.Similar}}
	for form, text := range map[string]string{
		"csv":            "0,3,1\n2,1,-1\n0,3,1\n",
		"header":         "row_1,ROW 2,Similar?\n0,3,1\n2,1,-1\n0,3,+1",
		"among":          "when,left,why,right,same\nx,0,y,3,true\nx,2,,1,False\nx,0,z,3,1",
		"zeros":          "0,3,1\n2,1,0\n0,3,1\n",
		"bars":           "0|3|1\n2|1|-1\n0|3|1\n",
		"booleans":       `{"a":0,"b":3,"same":true,"by":"me"}` + "\n" + `{"a":2,"b":1,"same":false}` + "\n" + `{"a":0,"b":3,"same":true}`,
		"order":          "\ufeffLabel,J,i\r\n1,3,0\r\n\r\n-1,1,2\r\n1,3,0\r\n",
		"semicolons":     "  \n0 ; 3;1\n2;1;-1\n0;3;1",
		"tabs":           "0\t3\t1\n2\t1\t-1.0\n0\t3\t1e0\n",
		"savetxt":        "0.0e+00 3.0e+00 1.0e+00\n2.0e+00 1.0e+00 -1.0e+00\n0 3 1\n",
		"quoted":         "\"0\",\"3\",\"1\"\n2,1,-1\n0,3,1\n",
		"json":           `{"i":0,"j":3,"label":1}` + "\n\n" + `{"label":-1,"j":1,"i":2}` + "\r\n" + `[0,3,1.0]`,
		"npy":            npyOf(t, 0, 3, 1, 2, 1, -1, 0, 3, 1),
		"npy of numbers": int64NPY(0, 3, 1, 2, 1, -1, 0, 3, 1),
	} {
		p, err := ReadPairs(strings.NewReader(text), "p", Objects{Count: 4}, Form{})
		if err != nil || !slices.Equal(p.Links, want) || p.Similar() != 2 || p.Name != "p" {
			t.Errorf("%s: %+v, %v", form, p, err)
		}
	}
	names := Objects{Names: []string{"a", "b 1", "7", "d"}}
	for _, text := range []string{"i,j,label\na,d,1\n7,b 1,-1\na,d,1", "a;d;1\n7;b 1;-1\na;d;1", `{"i":"a","j":"d","label":1}` + "\n" + `{"i":7,"j":"b 1","label":-1}` + "\n" + `["a","d",1]`} {
		if p, err := ReadPairs(strings.NewReader(text), "p", names, Form{}); err != nil || !slices.Equal(p.Links, want) {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

func TestReadPairsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "p: no pair, want at least one",
		"\n \n":                             "p: no pair, want at least one",
		"i,j,label\n":                       "p: no pair, want at least one",
		"0,1,1\n0,4,1":                      `p:2: j: "4" is not allowed, want a number from 0 to 3`,
		"0,-1,1":                            `p:1: j: "-1" is not allowed, want a number from 0 to 3`,
		"0,1.5,1":                           `p:1: j: "1.5" is not allowed, want a number from 0 to 3`,
		"0,1e300,1":                         `p:1: j: "1e300" is not allowed`,
		"0,NaN,1":                           `p:1: j: "NaN" is not allowed`,
		"0,99999999999999999999,1":          `p:1: j: "99999999999999999999" is not allowed`,
		"0,1,2":                             `p:1: label: "2" is not allowed, want 1 or true (similar), or -1, 0 or false (dissimilar)`,
		"0,1,1\n0,1,yes":                    `p:2: label: "yes" is not allowed`,
		"0,1,257":                           `p:1: label: "257" is not allowed`,
		"2,2,1":                             `p:1: i and j: both are "2", want two objects`,
		"0,1\n":                             `p:1: 2 cells, want 3: i, j, label`,
		"0,1,1,1\n":                         `p:1: 4 cells, want 3: i, j, label; or --columns i=1,j=2,label=3`,
		"0,1,0\n1,2,-1":                     `p:2: label: "-1" beside 0: 0 means dissimilar only where no -1 is`,
		"0,1,-1\n1,2,0":                     `p:2: label: "0" beside -1`,
		"u,v,w\n0,1,1":                      `p:1: the first row ("u", "v", "w") is not known as a header; known are i, j; a, b; x, y;`,
		"i,j,w\n0,1,1":                      `p:1: the first row ("i", "j", "w") is not known as a header: no column is called label; known are`,
		"i,i,j,label\n0,0,1,1":              `two columns are called "i"`,
		"i,j,label,extra\n0,1,1":            `p:2: 3 cells, want 4, as in the first row`,
		"1,4,1\n2,3,1":                      `p:1: j: "4" is not allowed, want a number from 0 to 3; no pair names 0: these seem to count from 1`,
		"0,1,1\n\n0,,1":                     `p:3: j: "" is not allowed, want a text without blanks around it`,
		"0,1,1\n\"0,1,1":                    "p:2: ",
		"\xff\xfe0,1":                       "UTF-16",
		"0,\xff,1":                          "is not allowed, want UTF-8",
		`{"i":0,"j":1}`:                     `p:1: no column is called label: the fields are "i", "j"; known are i, j;`,
		`{"i":0,"i":1,"j":1,"label":1}`:     "p:1: no JSON: duplicate",
		`{"i":0,"j":1,"label":null}`:        `p:1: label: "null" is not allowed, want a number or a text`,
		`{"i":0,"j":[1],"label":1}`:         `p:1: j: "[1]" is not allowed`,
		`{"i":0,"j":1,"label":1`:            "p:1: no JSON",
		`{"i":0,"j":1,"label":1}` + "\n5":   "p:2: no JSON object or array",
		"[0,1,1]\n[0,1]":                    "p:2: an array of 2: 2 cells, want 3: i, j, label",
		npyMagic:                            "p: npy: ",
		npyOf(t, 0, 1, 1, 0, 9, 1):          `p: row 1: j: "9" is not allowed`,
		"0,1,1\n" + strings.Repeat("x", 99): `p:2: 1 cells, want 3`,
	} {
		p, err := ReadPairs(strings.NewReader(text), "p", Objects{Count: 4}, Form{})
		if err == nil || !strings.Contains(err.Error(), want) || p != nil {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadPairs(strings.NewReader("a,c,1"), "p", Objects{Names: []string{"a", "b"}}, Form{}); err == nil || !strings.Contains(err.Error(), `p:1: j: "c" is the name of no object`) {
		t.Errorf("an unknown name: %v", err)
	}
	for _, o := range []Objects{{}, {Names: []string{"a", "a"}}, {Count: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v does not panic", o)
				}
			}()
			_, _ = ReadPairs(strings.NewReader("0,1,1"), "p", o, Form{})
		}()
	}
}

func TestReadTriplets(t *testing.T) {
	want := []metric.Triplet{{A: 0, Near: 1, Far: 3}, {A: 3, Near: 1, Far: 0}}
	for form, text := range map[string]string{
		"csv":        "0,1,3\n3,1,0\n",
		"salmon":     "puid,winner,head,response_time,loser\nu,1,0,.5,3\nu,1,3,.5,0\n",
		"responses":  "anchor,positive,negative,response\n0,3,1,-1\n3,1,0,1\n",
		"no names":   "0,1,3,true\n3,0,1,false\n",
		"order":      "far,near,anchor\n3,1,0\n0,1,3\n",
		"json":       `{"a":0,"near":1,"far":3}` + "\n" + `{"anchor":3,"positive":1,"negative":0}`,
		"arrays":     "[0,1,3]\n[3,1,0]",
		"npy":        npyOf(t, 0, 1, 3, 3, 1, 0),
		"cblearn":    int64NPY(0, 1, 3, 3, 1, 0),
		"savetxt":    "0.000000000000000000e+00 1.000000000000000000e+00 3.000000000000000000e+00\n3e0 1e0 0e0\n",
		"degenerate": "0,1,3\n2,2,1\n3,1,0\n",
		"votes":      "{\n\"answers\":[[0,3,1],[3,1,0],[0,1,2]],\n\"agreement\":[[1,4],[2,1],[3,3]]}",
	} {
		set, err := ReadTriplets(strings.NewReader(text), "t", 0, Form{})
		if err != nil || !slices.Equal(set.List, want) || set.Objects != 4 || set.Names != nil {
			t.Errorf("%s: %+v, %v", form, set, err)
			continue
		}
		if dropped := set.Degenerate + set.Ties; set.Read != 2+dropped || (dropped == 1) != (form == "degenerate" || form == "votes") {
			t.Errorf("%s: %+v", form, set)
		}
		if set, err := ReadTriplets(strings.NewReader(text), "t", 9, Form{}); err != nil || set.Objects != 9 {
			t.Errorf("%s: %+v, %v", form, set, err)
		}
	}
	for form, text := range map[string]string{
		"csv": "pear,fig,zoo\nzoo,fig,pear\n", "header": "a,near,far\npear,fig,zoo\nzoo,fig,pear\n", "json": `["pear","fig","zoo"]` + "\n" + `{"a":"zoo","near":"fig","far":"pear"}`,
	} {
		set, err := ReadTriplets(strings.NewReader(text), "t", 0, Form{})
		if err != nil || !slices.Equal(set.Names, []string{"fig", "pear", "zoo"}) || !slices.Equal(set.List, []metric.Triplet{{A: 1, Near: 0, Far: 2}, {A: 2, Near: 0, Far: 1}}) || set.Objects != 3 {
			t.Errorf("%s of names: %+v, %v", form, set, err)
		}
	}
}

// An answer about three objects is two comparisons: the other two are nearer to each other than to the odd one out, and nearer to the most central one than to
// each other.
func TestReadThrees(t *testing.T) {
	odd := []metric.Triplet{{A: 1, Near: 3, Far: 0}, {A: 3, Near: 1, Far: 0}, {A: 2, Near: 0, Far: 1}, {A: 0, Near: 2, Far: 1}}
	central := []metric.Triplet{{A: 1, Near: 0, Far: 3}, {A: 3, Near: 0, Far: 1}, {A: 2, Near: 1, Far: 0}, {A: 0, Near: 1, Far: 2}}
	for _, c := range []struct {
		text, columns string
		want          []metric.Triplet
	}{
		{"odd,a,b\n0,1,3\n1,2,0\n", "", odd},
		{"when,first,Odd-one-out,second\nx,1,0,3\ny,2,1,0\n", "", odd},
		{`{"odd":0,"a":1,"b":3}` + "\n" + `{"i":2,"j":0,"outlier":1}`, "", odd},
		{npyOf(t, 0, 1, 3, 1, 2, 0), "odd=1,a=2,b=3", odd},
		{"0,1,3\n1,2,0\n", "odd=1,a=2,b=3", odd},
		{"p,q,r\n1,3,0\n2,0,1\n", "a=p,b=q,odd=r", odd},
		{"odd,a,b\n0,1,3\n2,2,1\n1,2,0\n", "", odd}, // one that is dropped
		{"a,b,central\n1,3,0\n2,0,1\n", "", central},
		{"most_central;left;right\n0;1;3\n1;2;0\n", "", central},
		{int64NPY(0, 1, 3, 1, 2, 0), "central=1,a=2,b=3", central},
		{`{"odd":0,"a":1,"b":3}` + "\n" + `{"central":1,"a":2,"b":0}`, "", append(odd[:2:2], central[2:]...)},
		{`{"a":1,"near":3,"far":0}` + "\n" + `{"odd":1,"a":2,"b":0}`, "", append([]metric.Triplet{{A: 1, Near: 3, Far: 0}}, odd[2:]...)},
	} {
		form := Form{}
		if c.columns != "" {
			var err error
			if form.Columns, err = ParseColumns(c.columns); err != nil {
				t.Fatal(err)
			}
		}
		threes := 2
		if strings.Contains(c.text, "near") {
			threes = 1
		}
		for name, read := range map[string]func() (*Triplets, error){
			"": func() (*Triplets, error) { return ReadTriplets(strings.NewReader(c.text), "t", 4, form) },
			"of": func() (*Triplets, error) {
				return ReadTripletsOf(strings.NewReader(c.text), "t", Objects{Count: 4}, form)
			},
		} {
			set, err := read()
			if err != nil || !slices.Equal(set.List, c.want) || set.Threes != threes || set.Read != 2+set.Degenerate {
				t.Errorf("%s %q by %q: %+v, %v, want %v", name, c.text, c.columns, set, err, c.want)
			}
		}
	}
	set, err := ReadTriplets(strings.NewReader("odd,a,b\nzoo,fig,pear\npear,fig,zoo\n"), "t", 0, Form{})
	want := []metric.Triplet{{A: 0, Near: 1, Far: 2}, {A: 1, Near: 0, Far: 2}, {A: 0, Near: 2, Far: 1}, {A: 2, Near: 0, Far: 1}}
	if err != nil || !slices.Equal(set.List, want) || !slices.Contains(set.Notes, "2 answers that name the odd one out of three objects, two comparisons each") {
		t.Errorf("names: %+v, %v", set, err)
	}
	for text, want := range map[string]string{
		"odd,a,c\n0,1,2":                 `t:1: the first row ("odd", "a", "c") is not known as a header: no column is called b`,
		"central,x,y\n0,1,2":             "no column is called a",
		"odd,a,b\n0,1,2\n0,1,":           `t:3: b: "" is not allowed`,
		"odd,a,b\n0,1,2\n-1,1,2":         `t:3: odd: "-1" is not allowed, want an object from 0 to `,
		"odd,a,b\n0,1,2\n0,1":            "t:3: 2 cells, want 3",
		"odd,a,b\n0,0,2":                 "no triplet of three distinct objects",
		`{"odd":0,"a":1}`:                `no column is called b: the fields are "a", "odd"; known are a, near, far`,
		`{"odd":0,"a":1,"b":2}` + "\n{}": "t:2: no name of a column is known",
		"odd,central,a,b\n0,1,2,3\n":     "",
		"a,near,far,odd\n0,1,2,3\n":      "",
	} {
		set, err := ReadTriplets(strings.NewReader(text), "t", 0, Form{})
		if want == "" {
			if err != nil || len(set.List) != map[bool]int{true: 1, false: 2}[strings.Contains(text, "near")] {
				t.Errorf("%q: %+v, %v", text, set, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestReadTripletsErrors(t *testing.T) {
	for _, c := range []struct {
		text    string
		objects int
		want    string
	}{
		{"", 0, "t: no triplet"},
		{"0,1,3\n0,1,4", 4, `t:2: far: "4" is not allowed, want an object from 0 to 3`},
		{"0,1,-3", 0, `t:1: far: "-3" is not allowed`},
		{"0,1,2000000", 0, `t:1: far: "2000000" is not allowed, want an object from 0 to 1048575`},
		{"0,0,1\n1,0,0", 0, "t: no triplet of three distinct objects, of 2"},
		{"0,1,2", 2, "objects: 2 is not allowed, want 3 to 1048576"},
		{"x,y,z\ny,z,x", 5, `t: objects: 5 is given, but objects have names, such as `},
		{"x,y,z\n1,2", 0, "t:2: 2 cells, want 3"},
		{"query,b,c\n0,1,3\n", 0, `t:1: the first row ("query", "b", "c") is not known as a header`},
		{"x,y,z\nx,y,w\n", 0, `or say by --no-header that it is data`},
		{"a,near,other\n0,1,3\n", 0, "no column is called far"},
		{"0,1,2,5", 0, `t:1: response: "5" is not allowed, want 1 or true (as it stands), or -1, 0 or false (near and far exchanged)`},
		{`{"answers":[[0,1,9]],"agreement":[[1,0]]}`, 5, "answers[0][2]: 9 is not allowed"},
		{matMagic + ", cut off", 0, "t"},
	} {
		if set, err := ReadTriplets(strings.NewReader(c.text), "t", c.objects, Form{}); err == nil || !strings.Contains(err.Error(), c.want) || set != nil {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	defer limits.SetMemory(0)
	text := strings.Repeat("0,1,1\n", 200)
	limits.SetMemory(int64(len(text)) - 1)
	if _, err := ReadPairs(strings.NewReader(text), "p", Objects{Count: 4}, Form{}); !isMemory(err) {
		t.Errorf("a file over the limit: %v", err)
	}
	limits.SetMemory(int64(len(text)))
	if _, err := ReadPairs(strings.NewReader(text), "p", Objects{Count: 4}, Form{}); !isMemory(err) || !strings.Contains(err.Error(), "p: more than") {
		t.Errorf("pairs over the limit: %v", err)
	}
	if _, err := ReadTriplets(strings.NewReader(strings.Repeat("0,1,2\n", 200)), "t", 0, Form{}); !isMemory(err) {
		t.Errorf("triplets over the limit: %v", err)
	}
}

func isMemory(err error) bool {
	_, ok := errors.AsType[*limits.MemoryError](err)
	return ok
}

// TestForm reads what the head of a file does not say.
func TestForm(t *testing.T) {
	want := []metric.Triplet{{A: 0, Near: 1, Far: 3}, {A: 3, Near: 1, Far: 0}}
	for text, columns := range map[string]string{
		"what,x,y,z\nw,3,0,1\nw,0,3,1\n":                           "a=y,near=z,far=x",
		"w,3,0,1\nw,0,3,1\n":                                       "a=3,near=4,far=2",
		"x,near,a\n3,1,0\n0,1,3\n":                                 "a=3,near=2,far=1",
		"a,near,far\n1,0,3\n1,3,0\n":                               "a=near,near=a,far=far",
		`{"p":0,"q":1,"r":3}` + "\n" + `{"p":3,"q":1,"r":0,"s":1}`: "a=p,near=q,far=r",
	} {
		c, err := ParseColumns(columns)
		if err != nil {
			t.Fatal(err)
		}
		if set, err := ReadTriplets(strings.NewReader(text), "t", 4, Form{Columns: c}); err != nil || !slices.Equal(set.List, want) {
			t.Errorf("%q by %s: %+v, %v", text, columns, set, err)
		}
	}
	if set, err := ReadTriplets(strings.NewReader("x,y,z\nx,y,w\n"), "t", 0, Form{NoHeader: true}); err != nil || len(set.List) != 2 {
		t.Errorf("--no-header: %+v, %v", set, err)
	}
	for columns, want := range map[string]string{"a": "want each column once", "a=1,a=2": "want each column once", "a=1,near=2": "far is not given", "a=1,near=1,far=2": "are one column", "b=1,near=2,far=3": `"b" is not known`, "a=q,near=2,far=3": `no column is called "q"`, "a=9,near=2,far=3": `no column is called "9"`} {
		c, err := ParseColumns(columns)
		if err == nil {
			_, err = ReadTriplets(strings.NewReader("0,1,2\n"), "t", 0, Form{Columns: c})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", columns, err, want)
		}
	}
}

// TestNotes: what a reader should know is said, and nothing else.
func TestNotes(t *testing.T) {
	for text, want := range map[string]string{
		"0,1,1\n1,2,-1": "", "0,1,1\n1,2,0": "label 0 is read as dissimilar", "0,1,1\n1,0,-1\n2,3,1": "labelled both ways: 1 pair; any distance is wrong on at least 33.33 %",
		"0,1,1\n1,2,1": "all pairs are similar", "0,1,-1": "all pairs are dissimilar", "0,1,1\n1,0,1\n1,2,-1": "labelled before: the pairs of 1 of 3 labels",
		"label,left,right\n1,0,1\n-1,1,2": "i = left, j = right, label = label", "i,j,label,why\n0,1,1,x\n1,2,-1,y": `not used: "why"`,
	} {
		p, err := ReadPairs(strings.NewReader(text), "p", Objects{Count: 4}, Form{})
		if err != nil || (want == "") != (len(p.Notes) == 0) || !strings.Contains(strings.Join(p.Notes, "\n"), want) {
			t.Errorf("%q: %+v, %v, want %s", text, p, err, want)
		}
	}
	for text, want := range map[string]string{
		"0,1,2\n1,2,0": "", "0,1,2\n2,1,0\n3,4,5\n5,4,3": "2 groups that no triplet connects", "0,1,2\n1,2,0\n2,0,3": "in a single triplet: 1 object",
		"0,1,2\n1,2.0,0": `"2" and "2.0" are one object`, "u,1,2\n2,1,u": "1 and 2 are", "u,U,1\n1,u,U": `"U" and "u"`, "0,1,2,0\n1,2,0,1": "response 0 is read as near and far exchanged",
	} {
		if want == "1 and 2 are" {
			want = `objects are names, since "u" is no whole number; 2 of 3 are numbers`
		}
		s, err := ReadTriplets(strings.NewReader(text), "t", 0, Form{})
		if err != nil || (want == "") != (len(s.Notes) == 0) || !strings.Contains(strings.Join(s.Notes, "\n"), want) {
			t.Errorf("%q: %+v, %v, want %s", text, s, err, want)
		}
	}
}

// TestFinder: names are found as they are, and whole numbers by their value if that is one name's.
func TestFinder(t *testing.T) {
	find, err := Objects{Names: []string{"007", "8", "Item 1", "9", "9.0"}}.Finder()
	if err != nil {
		t.Fatal(err)
	}
	for cell, want := range map[string]int{"007": 0, "7": 0, "7.0": 0, "8.0": 1, "9": 3, "9.0": 4} {
		if i, err := find(cell); err != nil || i != want {
			t.Errorf("%s: %d, %v, want %d", cell, i, err, want)
		}
	}
	for cell, want := range map[string]string{"item  1": `"item  1" is the name of no object; "Item 1" is one`, "09": `"09" is the name of no object; "9" is one`, "x": `"x" is the name of no object`} {
		if _, err := find(cell); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", cell, err, want)
		}
	}
}

// TestAgreement compares with a count over all pairs of answers.
func TestAgreement(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 40 {
		set := &Triplets{}
		for range 1 + rng.IntN(30) {
			o := rng.Perm(4)
			set.List = append(set.List, metric.Triplet{A: o[0], Near: o[1], Far: o[2]})
		}
		var want Agreement
		for i, a := range set.List {
			same, opposite, first := 0, 0, true
			for k, b := range set.List {
				turned := metric.Triplet{A: b.A, Near: b.Far, Far: b.Near}
				if a == b {
					same++
				}
				if a == turned {
					opposite++
				}
				first = first && (k >= i || a != b && a != turned)
			}
			if first {
				want.Questions++
				want.Outvoted += min(same, opposite)
				if opposite > 0 {
					want.Contradicted++
				}
			}
		}
		if got := set.Agreement(); got != want {
			t.Fatalf("%v: %+v, want %+v", set.List, got, want)
		}
	}
}

// TestForms: whatever form the same random triplets have, they are read as they were.
func TestForms(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		var want []metric.Triplet
		var texts [4]strings.Builder
		var ints []int64
		for range 1 + rng.IntN(20) {
			o := rng.Perm(9)
			want = append(want, metric.Triplet{A: o[0], Near: o[1], Far: o[2]})
			fmt.Fprintf(&texts[0], "%d,%d,%d\n", o[0], o[1], o[2])
			fmt.Fprintf(&texts[1], "{\"far\":%d,\"a\":%d,\"near\":%d}\n", o[2], o[0], o[1])
			fmt.Fprintf(&texts[2], "%d\t%d\t%d\r\n", o[0], o[1], o[2])
			ints = append(ints, int64(o[0]), int64(o[1]), int64(o[2]))
		}
		texts[3].WriteString(int64NPY(ints...))
		for i := range texts {
			if set, err := ReadTriplets(strings.NewReader(texts[i].String()), "t", 9, Form{}); err != nil || !slices.Equal(set.List, want) {
				t.Fatalf("form %d: %v, %v, want %v", i, set, err, want)
			}
		}
	}
}

// seeds are files for the fuzz targets.
var seeds = []string{
	"0,1,1\n2,1,-1\n", "i,j,label\n0,1,1\n", "a;b;1\n", "0 1 1\n", "\ufeff0\t1\t1", `{"i":0,"j":1,"label":1}`, "[0,1,-1]\n\n[1,2,1]", `{"a":"x","near":"y","far":"z"}`, "\"a\nb\",c,d", "a,b,c\n0,1,2", "head,winner,loser,x\n1,2,0,q", "0,1,2,-1\n", "x,y,z\ny,x,z", "odd,a,b\n0,1,2", `{"central":1,"a":2,"b":3}`, `{"a":1,"near":2,"far":3,"response":false}`,
	`{"answers":[[0,1,2]],"agreement":[[1,0]]}`, int64NPY(0, 1, 2), matMagic, npyMagic + "\x01\x00\x10\x00{'descr': '<i8'", "0,1,1e300", "\xff,1,2", `["\ud800",1,2]`, "1,2,3\n\"",
}

func FuzzReadPairs(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, names bool) {
		o := Objects{Count: 3}
		if names {
			o.Names = []string{"a", "b", "1"}
		}
		p, err := ReadPairs(strings.NewReader(text), "p", o, Form{})
		if err != nil {
			if len(err.Error()) > 600 || p != nil {
				t.Fatalf("%q: %v, %v", text, p, err)
			}
			return
		}
		if len(p.Links) == 0 || metric.CheckLinks(3, p.Links) != nil {
			t.Fatalf("%q: %v", text, p)
		}
		for _, l := range p.Links {
			if l.I == l.J {
				t.Fatalf("%q: %v", text, l)
			}
		}
	})
}

func FuzzReadTriplets(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 0)
		f.Add(s, 4)
	}
	f.Fuzz(func(t *testing.T, text string, objects int) {
		set, err := ReadTriplets(strings.NewReader(text), "t", objects, Form{})
		if err != nil {
			if len(err.Error()) > 600 || set != nil {
				t.Fatalf("%q: %v, %v", text, set, err)
			}
			return
		}
		if set.Objects < 3 || set.Objects > MaxObjects || set.Names != nil && len(set.Names) != set.Objects || len(set.List) == 0 {
			t.Fatalf("%q: %+v", text, set)
		}
		for _, v := range set.List {
			if v.Degenerate() || min(v.A, v.Near, v.Far) < 0 || max(v.A, v.Near, v.Far) >= set.Objects {
				t.Fatalf("%q: %v of %d objects", text, v, set.Objects)
			}
		}
	})
}
