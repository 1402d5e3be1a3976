package datasets

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRegistry(t *testing.T) {
	entries := Registry()
	want := []string{"mnist", "wine", "iris", "ionosphere", "balance-scale", "soybean-large", "pendigits", "usps", "nist16",
		"mfeat", "reuters21578", "20news", "classic3", "music", "material", "zappos", "food-100", "cars", "nature-vogue", "musicseer", "clarify", "bdg10", "osr", "aset400", "caltech-101-grams", "caltech-101"}
	if len(entries) != len(want) {
		t.Errorf("%d data sets, want %d", len(entries), len(want))
	}
	files := 0
	for _, name := range want {
		e, err := Lookup(name)
		if err != nil {
			t.Error(err)
			continue
		}
		files += len(e.Files)
		named := slices.Contains([]string{"food-100", "cars", "nature-vogue", "musicseer", "clarify", "bdg10", "osr", "aset400", "caltech-101-grams", "caltech-101"}, name)
		if e.Named != named {
			t.Errorf("%s: named is %v", name, e.Named)
		}
		if e.Shape == "" || e.Licence == "" || e.Citation == "" || (e.Bytes() == 0) != named {
			t.Errorf("%s lacks shape, licence, citation or size: %+v", name, e)
		}
		if want := slices.Contains([]string{"mnist", "wine", "iris", "ionosphere", "balance-scale", "soybean-large", "pendigits", "usps", "nist16", "mfeat", "reuters21578", "20news", "classic3", "music", "material", "zappos"}, name); e.Default != want {
			t.Errorf("%s: default is %v", name, e.Default)
		}
		for _, f := range e.Files {
			if f.Comparable && len(f.Sources) == 0 {
				t.Errorf("%s is comparable to nothing", f.Path)
			}
		}
	}
	if files != 76 {
		t.Errorf("%d files, want 76", files)
	}

	// Rows that must not gate a download, one of each kind, and some that must.
	comparable := map[string]bool{
		"mnist/train-images-idx3-ubyte.gz": true, "reuters21578/reut2-000.sgm": true, "classic3/MED.ALL": true,
		"nist16/nist16.mat": false, "mfeat/mfeat-fou.mat": false, "20news/20news-bydate-repacked.tar.gz": false,
		"triplets/zappos/cnn_feats.csv.zip": false, "triplets/music/music_triplets.mat": false,
	}
	for _, e := range entries {
		for _, f := range e.Files {
			if want, ok := comparable[f.Path]; ok && f.Comparable != want {
				t.Errorf("%s: comparable is %v, want %v", f.Path, f.Comparable, want)
			}
		}
	}
	mnist, _ := Lookup("mnist")
	for _, f := range mnist.Files { // which refuses downloads
		if n := len(f.Sources); n != 3 || !strings.Contains(f.Sources[n-1].URL, "yann.lecun.com") {
			t.Errorf("%s: sources %v, want yann.lecun.com last of 3", f.Path, f.Sources)
		}
	}
}

// Of data that are not public the registry says what to supply, and no other file lacks a
// checksum.
func TestToBeSupplied(t *testing.T) {
	var without []string
	for _, e := range Registry() {
		for _, f := range e.Files {
			if f.SHA256 == "" {
				without = append(without, f.Path)
				if e.Name == "clarify" && !strings.Contains(f.Note, "a row per run") || !strings.Contains(f.Note, "in pkg/datasets/registry.tsv") {
					t.Errorf("%s: note %q", f.Path, f.Note)
				}
			}
		}
	}
	if want := []string{"clarify/latex.csv", "clarify/mpg321.csv", "clarify/foxpro.csv", "clarify/iptables.csv",
		"bdg10/bdg10.csv", "triplets/osr/osr_triplets.csv", "triplets/aset400/aset400_triplets.csv", "caltech-101/labels.csv", "caltech-101/pmk.gram", "caltech-101/corr.gram", "caltech-101/sum.gram", "caltech-101/101_ObjectCategories.tar.gz"}; !slices.Equal(without, want) {
		t.Errorf("files without a checksum: %q, want %q", without, want)
	}
	e, err := Lookup("clarify")
	if err != nil || !strings.HasPrefix(e.Shape, "traces of four programs; not public, to be supplied: ") {
		t.Errorf("shape %q, %v", e.Shape, err)
	}
}

func TestRegistryIsACopy(t *testing.T) {
	Registry()[0].Name = "changed"
	if name := Registry()[0].Name; name != "mnist" {
		t.Errorf("the registry now starts with %q", name)
	}
}

func TestLookupSuggests(t *testing.T) {
	for name, want := range map[string]string{"minst": "mnist", "MNIST": "mnist", "pendigit": "pendigits", "reuters": "reuters21578", "zapos": "zappos", "xyzzy": "", "": ""} {
		_, err := Lookup(name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || unknown.Name != name {
			t.Errorf("Lookup(%q): %v", name, err)
			continue
		}
		if unknown.Suggestion != want {
			t.Errorf("Lookup(%q) suggests %q, want %q", name, unknown.Suggestion, want)
		}
		if want != "" && !strings.Contains(err.Error(), `did you mean "`+want+`"?`) {
			t.Errorf("Lookup(%q): %v", name, err)
		}
		if want == "" && !strings.Contains(err.Error(), "mnist, wine") {
			t.Errorf("Lookup(%q) does not list the names: %v", name, err)
		}
	}
}

const (
	goodSum  = "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
	goodSet  = "set\ta\tno\tshape\tlicence\tcitation\n"
	goodFile = "file\ta\ta/x\t5\t" + goodSum + "\tyes\t-\thttp://h/x\t-\n"

	// A file that a user must supply, with its set.
	supplied = "set\ta\tnamed\tshape\tlicence\tcitation\n" + "file\ta\ta/x\t-\t-\tno\tcsv\t-\twhat to supply\n"

	// The end of a file that is not comparable.
	loose = "no\tzip-features 2x3 " + goodSum + "\thttp://h/x\ta reason"
)

func TestParseRegistryRefuses(t *testing.T) {
	if _, err := parseRegistry("r.tsv", "# comment\n\n"+goodSet+goodFile); err != nil {
		t.Fatal(err)
	}
	named := strings.Replace(goodSet, "no", "named", 1) + strings.Replace(strings.Replace(goodFile, "\t5\t", "\t-\t", 1), "\t-\n", "\ta reason\n", 1)
	if e, err := parseRegistry("r.tsv", named); err != nil || !e[0].Named || e[0].Default || e[0].Bytes() != 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err := parseRegistry("r.tsv", supplied); err != nil || e[0].Files[0].SHA256 != "" || e[0].Files[0].Comparable || e[0].Files[0].Note != "what to supply" {
		t.Fatalf("%+v, %v", e, err)
	}
	if e, err := parseRegistry("r.tsv", goodSet+strings.Replace(goodFile, "yes\t-\thttp://h/x\t-", loose, 1)); err != nil || e[0].Files[0].Content.String() != "zip-features 2x3 "+goodSum {
		t.Fatalf("%+v, %v", e, err)
	}
	lacking := func(from, to string) string { return strings.Replace(supplied, from, to, 1) }
	edit := func(from, to string) string { return goodSet + strings.Replace(goodFile, from, to, 1) }
	for name, tc := range map[string]struct{ tsv, want string }{
		"no file":          {goodSet, `"a" has no file`},
		"file first":       {goodFile, "r.tsv:1: file of"},
		"other set":        {edit("\ta\t", "\tb\t"), `r.tsv:2: file of "b"`},
		"set twice":        {goodSet + goodFile + goodSet, "r.tsv:3: set \"a\" stands twice"},
		"path twice":       {goodSet + goodFile + goodFile, "r.tsv:3: path"},
		"default":          {strings.Replace(goodSet, "no", "No", 1), "r.tsv:1: default"},
		"empty field":      {edit("\t-\n", "\t\n"), "r.tsv:2: empty field"},
		"columns":          {edit("\t-", ""), "r.tsv:2: \"file\" with 8 fields"},
		"kind":             {"sett\ta\n", "r.tsv:1: \"sett\""},
		"path up":          {edit("a/x", "../x"), "r.tsv:2: path"},
		"path up inside":   {edit("a/x", "a/../../x"), "r.tsv:2: path"},
		"path absolute":    {edit("a/x", "/x"), "r.tsv:2: path"},
		"path with blank":  {edit("a/x", "a/ x"), "r.tsv:2: path"},
		"unknown bytes":    {strings.Replace(edit("\t5\t", "\t-\t"), "yes\t-\thttp://h/x\t-", loose, 1), "r.tsv:2: bytes: unknown"},
		"why unknown":      {edit("\t5\t", "\t-\t"), "r.tsv:2: note"},
		"bytes":            {edit("\t5\t", "\t5.0\t"), "r.tsv:2: strconv"},
		"no bytes":         {edit("\t5\t", "\t0\t"), "r.tsv:2: bytes"},
		"short sum":        {edit(goodSum, goodSum[2:]), "r.tsv:2: sha256"},
		"upper sum":        {edit(goodSum, strings.ToUpper(goodSum)), "r.tsv:2: sha256"},
		"comparable":       {edit("yes", "maybe"), "r.tsv:2: comparable"},
		"scheme":           {edit("http://", "ftp://"), "r.tsv:2: sources"},
		"member of a file": {edit("http://h/x", "http://h/x#m"), "r.tsv:2: sources"},
		"no reason":        {edit("yes", "no"), "r.tsv:2: note"},
		"content, bound":   {edit("yes\t-", "yes\tzip-features 2x3 "+goodSum), "r.tsv:2: content: want \"-\""},
		"no content":       {edit("yes\t-\thttp://h/x\t-", "no\t-\thttp://h/x\ta reason"), "r.tsv:2: content: want \"-\""},
		"content kind":     {edit("yes\t-", "no\tzip 2x3 "+goodSum), "r.tsv:2: content: kind \"zip\""},
		"content fields":   {edit("yes\t-", "no\tzip-features 2x3"), "r.tsv:2: content: \"zip-features 2x3\""},
		"content alone":    {edit("yes\t-", "no\tzip-features"), "r.tsv:2: content: \"zip-features\""},
		"content of csv":   {edit("yes\t-", "no\tcsv 2x3 "+goodSum), "r.tsv:2: content: \"csv 2x3"},
		"content counts":   {edit("yes\t-", "no\tzip-features 2x3x4 "+goodSum), "r.tsv:2: content: \"2x3x4\""},
		"content count":    {edit("yes\t-", "no\tzip-features 2x-3 "+goodSum), "r.tsv:2: content: count \"-3\""},
		"content sum":      {edit("yes\t-", "no\tzip-features 2x3 "+goodSum[1:]), "r.tsv:2: content: \"" + goodSum[1:]},
		"no sum, content":  {lacking("csv", "zip-features 2x3 "+goodSum), "r.tsv:2: content: \"zip-features 2x3"},

		"no sum, a size":     {lacking("\t-\t-\tno", "\t5\t-\tno"), "r.tsv:2: sha256: \"-\""},
		"no sum, comparable": {lacking("\tno\t", "\tyes\t"), "r.tsv:2: sha256: \"-\""},
		"no sum, a source":   {lacking("csv\t-", "csv\thttp://h/x"), "r.tsv:2: sha256: \"-\""},
		"no sum, no note":    {lacking("what to supply", "-"), "r.tsv:2: sha256: \"-\""},
		"no sum, not named":  {lacking("named", "no"), "r.tsv:2: sha256: \"-\" is not allowed, as set \"a\" is not named"},
		"no sum, default":    {lacking("named", "yes"), "r.tsv:2: sha256: \"-\" is not allowed, as set \"a\" is not named"},
	} {
		if _, err := parseRegistry("r.tsv", tc.tsv); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v does not say %q", name, err, tc.want)
		}
	}
}

func FuzzParseRegistry(f *testing.F) {
	f.Add(goodSet + goodFile) // small seeds: making the whole registry smaller would take all the time
	f.Add("# comment\n\n" + goodSet + goodFile + strings.ReplaceAll(supplied, "\ta\t", "\tb\t"))
	f.Fuzz(func(t *testing.T, tsv string) {
		entries, err := parseRegistry("fuzz", tsv)
		if err != nil {
			return
		}
		for _, e := range entries {
			for _, file := range e.Files {
				if strings.HasPrefix(file.Path, "/") || strings.Contains("/"+file.Path+"/", "/../") || len(file.SHA256) != 64 && !(file.SHA256 == "" && e.Named && file.Note != "") {
					t.Fatalf("accepted %+v", file)
				}
			}
		}
	})
}

func TestHolding(t *testing.T) {
	for file, want := range map[string]string{
		"data/uci/wine.data": "wine", "./data/uci/wine.data": "wine", "/home/me/data/uci/wine.data": "wine", `data/uci/../uci/wine.data`: "wine",
		"uci/wine.data": "", "mydata/uci/wine.data": "", "data/wine.data": "", "data": "", "": "",
	} {
		if got := Holding(file); got != want {
			t.Errorf("%s is of %q, want %q", file, got, want)
		}
	}
}
