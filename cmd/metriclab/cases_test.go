package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
	"metriclab/pkg/model"
)

// said is a command line, its exit code, and what it must print, on standard output or error, or must not.
type said struct {
	line string
	code int
	want []string
	not  []string
}

// say runs the lines in the folder where the test is.
func say(t *testing.T, lines []said) {
	t.Helper()
	c := newCommand(toys(nil))
	for _, s := range lines {
		code := c.run(strings.Fields(s.line)...)
		got := c.out.String() + c.err.String()
		if code != s.code {
			t.Errorf("metriclab %s: exit code %d, want %d:\n%s", s.line, code, s.code, got)
		}
		for _, want := range s.want {
			if !strings.Contains(got, want) {
				t.Errorf("metriclab %s: no %q in:\n%s", s.line, want, got)
			}
		}
		for _, not := range s.not {
			if strings.Contains(got, not) {
				t.Errorf("metriclab %s: %q in:\n%s", s.line, not, got)
			}
		}
	}
}

// files writes files of lines into a new folder and goes there.
func files(t *testing.T, content map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range content {
		writeTest(t, name, text)
	}
}

// each writes a line for each of n.
func each(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

func TestCase38ContradictingPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	pairs := make([][3]int, 40)
	for i := range pairs {
		pairs[i] = [3]int{i % 20, (i + 1 + i/20) % 20, 2*rng.IntN(2) - 1} // each once
	}
	file := func(line func(p [3]int) string) string {
		return "i,j,label\n" + each(len(pairs), func(i int) string { return line(pairs[i]) })
	}
	row := func(i, j, label int) string { return fmt.Sprintf("%d,%d,%d", i, j, label) }
	files(t, map[string]string{
		"t.csv":      "x,y\n" + each(20, func(int) string { return fmt.Sprintf("%.3f,%.3f", rng.NormFloat64(), rng.NormFloat64()) }),
		"base.csv":   file(func(p [3]int) string { return row(p[0], p[1], p[2]) }),
		"contra.csv": file(func(p [3]int) string { return row(p[0], p[1], p[2]) + "\n" + row(p[0], p[1], -p[2]) }),
		"rev.csv":    file(func(p [3]int) string { return row(p[0], p[1], p[2]) + "\n" + row(p[1], p[0], -p[2]) }),
		"allsim.csv": file(func(p [3]int) string { return row(p[0], p[1], 1) }),
		"alldis.csv": file(func(p [3]int) string { return row(p[0], p[1], -1) }),
		"from1.csv":  file(func(p [3]int) string { return row(p[0]+1, p[1]+1, p[2]) }),
	})
	fit := func(file, learner string) string {
		return "fit t.csv --pairs " + file + " --learner " + learner + " --out m.json"
	}
	say(t, []said{
		{fit("base.csv", "itml"), 0, nil, []string{"both ways", "all pairs are"}},
		{fit("contra.csv", "itml"), 0, []string{"contra.csv: labelled both ways", "any distance is wrong on at least 50.00 % of the labels"}, nil},
		{fit("rev.csv", "pola"), 0, []string{"rev.csv: labelled both ways", "50.00 %"}, nil},
		{fit("allsim.csv", "itml"), 0, []string{"all pairs are similar: nothing says what is to be far apart"}, nil},
		{fit("allsim.csv", "pola") + " --passes 50", 0, []string{"all pairs are similar"}, nil},
		{fit("alldis.csv", "itml"), 0, []string{"all pairs are dissimilar: nothing says what is to be near"}, nil},
		{fit("from1.csv", "itml"), 1, []string{`"20" is not allowed, want a number from 0 to 19; no pair names 0: these seem to count from 1`}, nil},
		{"evaluate t.csv --pairs contra.csv --learner itml --test-share 0.5 --json", 0, []string{`"labelled both ways`}, nil},
	})
}

// writeSame writes n equal vectors of 3 numbers.
func writeSame(t *testing.T, name string, n int) {
	t.Helper()
	var b bytes.Buffer
	if err := metric.WriteNPY(&b, mat.NewDense(n, 3, slices.Repeat([]float64{1}, 3*n))); err != nil {
		t.Fatal(err)
	}
	writeTest(t, name, b.String())
}

func TestCase50EvaluateOneSplitLacks(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	var b bytes.Buffer
	x := mat.NewDense(60, 4, nil)
	for i := range 60 {
		for j := range 4 {
			x.Set(i, j, rng.NormFloat64())
		}
	}
	if err := metric.WriteNPY(&b, x); err != nil {
		t.Fatal(err)
	}
	pairs := each(130, func(k int) string {
		i := rng.IntN(60)
		return fmt.Sprintf("%d,%d,%d", i, (i+1+rng.IntN(58))%60, map[bool]int{true: 1, false: -1}[k%9 == 0])
	})
	files(t, map[string]string{"X.npy": b.String(), "p.csv": pairs, "few.csv": "0,1,1\n2,3,-1\n4,5,-1\n6,7,-1\n"})
	say(t, []said{
		{"evaluate --vectors X.npy --pairs p.csv --learner lego", 0, []string{"drawn anew, since a side lacked a kind of answer", `always "similar"`, `always "dissimilar"`}, nil},
		{"compare --vectors X.npy --pairs p.csv --learners lego,cosine --validation 0", 0, []string{"drawn anew, since a side lacked a kind of answer"}, nil},
		{"evaluate --vectors X.npy --pairs p.csv --learner lego --test-share 0.5", 0, nil, []string{"drawn anew"}},
		{"evaluate --vectors X.npy --pairs few.csv --learner lego", 1, []string{"drawn 200 times", "no training pair is dissimilar"}, nil},
	})
}

func TestCase51SmallTableDefaults(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	content := map[string]string{}
	for _, n := range []int{4, 6, 8, 10, 11, 12, 14} {
		content[fmt.Sprintf("t%d.csv", n)] = "a,b,y\n" + each(n, func(i int) string {
			return fmt.Sprintf("%.2f,%.2f,%c", rng.NormFloat64()+3*float64(i%2), rng.NormFloat64(), 'A'+rune(i%2))
		})
	}
	files(t, content)
	writeSame(t, "X.npy", 6)
	writeTest(t, "p.csv", "0,1,1\n1,2,-1\n3,4,1\n4,5,-1\n")
	for n, want := range map[int][]string{
		4: {"4 folds in place of 5: there are no more rows", "k is at most 1 in place of 9"}, 6: {"k is at most 3 in place of 9"}, 8: {"k is at most 5"}, 10: {"k is at most 7"}, 11: {"k is at most 7"}, 12: {"k is at most 7"},
	} {
		say(t, []said{{fmt.Sprintf("evaluate t%d.csv --label y --learner fda --param ridge=0.1", n), 0, want, nil}})
	}
	say(t, []said{
		{"evaluate t14.csv --label y --learner fda", 0, nil, []string{"in place of"}},
		{"evaluate t6.csv --label y --learner fda --k 9", 2, []string{"k: 9 is not allowed, want 1 to 4"}, nil},
		{"evaluate t4.csv --label y --learner fda --folds 5", 2, []string{"folds: 5 is not allowed"}, nil},
		{"compare t10.csv --label y --learners euclidean,fda --repeats 2", 0, []string{"k is at most 7 in place of 9", "euclidean-raw", "best by validation"}, []string{"no error of the choice"}},
		{"fit t4.csv --label y --learner euclidean --out m.json", 0, nil, nil},
		{"predict t6.csv --model m.json --train t4.csv", 0, []string{"--k: 4 in place of 5: there are no more training rows"}, nil},
		{"neighbours t6.csv --model m.json --train t4.csv", 0, []string{"--k: 4 in place of 5"}, nil},
		{"predict t6.csv --model m.json --train t4.csv --k 5", 2, []string{"k: 5 is not allowed, want 1 to 4"}, nil},
		{"fit --vectors X.npy --pairs p.csv --learner lego --no-standardise --out v.json", 0, nil, nil},
		{"neighbours --vectors X.npy --model v.json --rows 0 --k 9", 2, []string{"flag --k: 9 is not allowed, want 1 to 5"}, nil},
		{"neighbours --vectors X.npy --model v.json --rows 0", 0, nil, []string{"in place of"}},
		{"evaluate --triplets t3.csv --learner ste --param tau=1", 1, []string{"t3.csv"}, nil},
	})
	writeTest(t, "t3.csv", "0,1,2\n1,0,2\n2,1,0\n")
	say(t, []said{{"evaluate --triplets t3.csv --learner ste --param tau=1", 0, []string{"3 folds in place of 5: there are no more questions"}, nil}})
}

// npyOf writes an array as numpy.save does.
func npyOf(t *testing.T, descr, shape string, values any) string {
	t.Helper()
	order := binary.ByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	head += strings.Repeat(" ", 117-len(head)) + "\n"
	b := bytes.NewBufferString("\x93NUMPY\x01\x00")
	_ = binary.Write(b, binary.LittleEndian, uint16(len(head))) // to memory
	b.WriteString(head)
	if err := binary.Write(b, order, values); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOddTables: what other programs write is read, or named with advice that then works.
func TestOddTables(t *testing.T) {
	wide := func(text string, order binary.AppendByteOrder, mark string) string {
		out := []byte(mark)
		for _, c := range utf16.Encode([]rune(text)) {
			out = order.AppendUint16(out, c)
		}
		return string(out)
	}
	plain := "a\tb\ty\n" + each(20, func(i int) string { return fmt.Sprintf("%d\t%d\t%s", i, i*7%5, []string{"A", "Ä"}[i%2]) })
	odd := "a,p,d,t,n,y\n" + each(20, func(i int) string {
		return fmt.Sprintf("%d,%d %%,2026-11-%02d,%s,%s,%s", i, i, i+1, []string{"True", "False"}[i%2], []string{"1", "NaN", "2", "N/A", "3"}[i%5], []string{"A", "B"}[i%2])
	})
	files(t, map[string]string{
		"le.txt": wide(plain, binary.LittleEndian, "\xff\xfe"), "be.txt": wide(plain, binary.BigEndian, "\xfe\xff"), "bar.csv": strings.ReplaceAll(plain, "\t", "|"), "sep.csv": "sep=;\n" + strings.ReplaceAll(plain, "\t", ";"),
		"latin.csv": "a,y\n1,\xc4\n2,B\n", "odd.csv": odd, "two.csv": "a,u,v,y\n" + each(20, func(i int) string { return fmt.Sprintf("%d,%c,%c,%d", i, 'a'+i%3, 'p'+i%2, i%2) }),
		"p.csv": wide("i,j,label\n0,1,1\n0,2,-1\n", binary.LittleEndian, "\xff\xfe"),
	})
	for _, f := range []string{"le.txt", "be.txt", "bar.csv", "sep.csv"} {
		say(t, []said{
			{"fit " + f + " --label y --learner euclidean --out m.json", 0, []string{"20 rows, 2 features, 2 classes: A (10), Ä (10)"}, nil},
			{"transform " + f + " --model m.json", 0, nil, nil}, {"predict " + f + " --train " + f + " --model m.json", 0, []string{"0 of 20 rows wrong"}[:0], nil},
		})
	}
	say(t, []said{
		{"fit le.txt --drop y --pairs p.csv --learner itml --out m.json", 0, []string{"2 pairs"}, nil},
		{"fit latin.csv --label y --learner euclidean --out m.json", 1, []string{"iconv -f WINDOWS-1252 -t UTF-8"}, nil},
		{"fit odd.csv --label y --learner euclidean --out m.json", 1, []string{`"p" (20 cells, the first "0 %" on line 2)`, `"d" (20 cells`, `"t" (20 cells`, `"n" (8 cells, the first "NaN" on line 3)`, "delete the signs of per cent", "--drop d", "--one-hot t", "--missing '?,NA,N/A,NaN' --impute mean"}, nil},
		{"fit odd.csv --label y --drop d,p --one-hot t --missing ?,NA,N/A,NaN --impute mean --learner euclidean --out m.json", 0, []string{"4 features"}, nil},
		{"fit two.csv --label y --one-hot u,v --learner euclidean --out m.json", 0, []string{"6 features"}, nil},
	})
}

// onLine are triplets of n objects at places on a line, the far one named by its own rule.
func onLine(n, seed int, name func(o, row int) string) [][3]string {
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	var out [][3]string
	for len(out) < 40*n {
		o := rng.Perm(n)[:3]
		a, b, c := o[0]*o[0]+o[0], o[1]*o[1]+o[1], o[2]*o[2]+o[2]
		if near, far := (a-b)*(a-b), (a-c)*(a-c); near > far {
			o[1], o[2] = o[2], o[1]
		} else if near == far {
			continue
		}
		row := len(out)
		out = append(out, [3]string{name(o[0], row), name(o[1], row), name(o[2], row)})
	}
	return out
}

func TestCase24TripletsOdd(t *testing.T) {
	plain := onLine(6, 1, func(o, _ int) string { return fmt.Sprint(o) })
	rows := func(head string, line func(v [3]string) string) string {
		return head + each(len(plain), func(i int) string { return line(plain[i]) })
	}
	apart := each(120, func(i int) string { return fmt.Sprintf("%d,%d,%d", i/60*3+i%3, i/60*3+(i+1)%3, i/60*3+(i+2)%3) })
	files(t, map[string]string{
		"full.csv":   rows("a,near,far\n", func(v [3]string) string { return v[0] + "," + v[1] + "," + v[2] }),
		"rev.csv":    rows("head,loser,winner\n", func(v [3]string) string { return v[0] + "," + v[2] + "," + v[1] }),
		"salmon.csv": rows("puid,head,winner,loser,response_time\n", func(v [3]string) string { return "u," + strings.Join(v[:], ",") + ",0.5" }),
		"turned.csv": rows("a,near,far,response\n", func(v [3]string) string { return v[0] + "," + v[2] + "," + v[1] + ",False" }),
		"other.csv":  rows("x1,x2,x3\n", func(v [3]string) string { return strings.Join(v[:], ",") }),
		"by.csv":     rows("x1,x2,x3\n", func(v [3]string) string { return v[2] + "," + v[1] + "," + v[0] }),
		"apart.csv":  apart,
		"one.csv":    rows("", func(v [3]string) string { return strings.Join(v[:], ",") }),
	})
	const none = "the learned kernel contradicts 0.00 %"
	fit := func(file, more string) string {
		return "fit --triplets " + file + " --learner ste --param tau=1 --out m.json" + more
	}
	say(t, []said{
		{fit("full.csv", ""), 0, []string{"of 6 objects", none}, []string{"full.csv: a ="}},
		{fit("one.csv", ""), 0, []string{"of 6 objects", none}, nil},
		{fit("rev.csv", ""), 0, []string{"rev.csv: a = head, near = winner, far = loser", "of 6 objects", none}, nil},
		{fit("salmon.csv", ""), 0, []string{`a = head, near = winner, far = loser; not used: "puid", "response_time"`, "of 6 objects", none}, nil},
		{fit("turned.csv", ""), 0, []string{"response = response", "response 0 is read", "of 6 objects", none}[2:], nil},
		{fit("other.csv", ""), 1, []string{`the first row ("x1", "x2", "x3") is not known as a header`, "head, winner, loser", "--columns a=1,near=2,far=3", "--no-header"}, nil},
		{fit("by.csv", " --columns a=x3,near=x2,far=x1"), 0, []string{"a = x3, near = x2, far = x1", "of 6 objects", none}, nil},
		{fit("by.csv", " --columns a=3,near=2,far=1"), 0, []string{"of 6 objects", none}, nil},
		{fit("other.csv", " --no-header"), 0, []string{"of 9 objects"}, nil},
		{fit("apart.csv", ""), 0, []string{"the objects are 2 groups that no triplet connects"}, nil},
		{"fit t.csv --columns i=1,j=2,label=3 --label y --learner fda --out m.json", 2, []string{"flag --columns: only together with --triplets or a file of --pairs"}, nil},
	})
}

func TestCase47NameSpelling(t *testing.T) {
	as := func(name func(o, row int) string) string {
		rows := onLine(6, 2, name)
		return each(len(rows), func(i int) string { return strings.Join(rows[i][:], ",") })
	}
	content := map[string]string{
		"plain.csv": as(func(o, _ int) string { return fmt.Sprint(o) }),
		"half.csv":  as(func(o, row int) string { return fmt.Sprint(o) + []string{"", ".0"}[row%2] }),
		"pad.csv":   as(func(o, row int) string { return []string{"", "0"}[row%2] + fmt.Sprint(o) }),
		"names.csv": as(func(o, row int) string {
			if o == 5 {
				return "o5"
			}
			return fmt.Sprint(o) + []string{"", ".0"}[row%2]
		}),
		"blanks.csv": as(func(o, row int) string {
			return []string{"", " ", "\u00a0"}[row%3] + "Item " + fmt.Sprint(o) + []string{"", " "}[row%2]
		}),
		"case.csv":  as(func(o, row int) string { return []string{"I", "i"}[row%2] + "tem " + fmt.Sprint(o) }),
		"inner.csv": as(func(o, row int) string { return "Item" + []string{" ", "\u00a0"}[row%2] + fmt.Sprint(o) }),
	}
	files(t, content)
	for name := range content {
		s := said{line: "fit --triplets " + name + " --learner ste --param tau=1 --out m.json", want: []string{"of 6 objects"}}
		switch name {
		case "half.csv", "pad.csv":
			s.want = append(s.want, "are one object: whole numbers count by their value")
		case "names.csv":
			s.want = append(s.want, "are one object", `objects are names, since "o5" is no whole number; 5 of 6 are numbers`)
		case "case.csv", "inner.csv":
			s.want = []string{"of 12 objects", "these objects count as different, though they are written alike"}
		default:
			s.not = []string{"one object", "alike"}
		}
		say(t, []said{s})
	}
}

func TestCase10OneColumn(t *testing.T) {
	files(t, map[string]string{
		"t.csv": "a,y\n1,A\n2,A\n3,B\n5,B\n1.1,A\n2.2,A\n3.2,B\n5.4,B\n", "new.csv": "a\n1.5\n4\n", "nohead.csv": "1.5\n4\n", "bare.csv": "1,A\n2,A\n3,B\n5,B\n",
		"u.csv": "a\n1\n1\n2\n5\n7\n9\n", "s.csv": "i,j,label\n0,2,1\n3,4,1\n2,5,-1\n",
	})
	say(t, []said{
		{"fit t.csv --label y --learner euclidean --out m.json", 0, nil, nil},
		{"transform --model m.json new.csv", 0, []string{"z1"}, nil},
		{"transform --model m.json nohead.csv", 2, []string{`no column "a"`, "the first row may be data"}, nil},
		{"predict new.csv --model m.json --train t.csv --k 1", 0, []string{"0,A,1", "1,B,1"}, nil},
		{"neighbours new.csv --model m.json --train t.csv --k 2", 0, []string{"row,rank,training_row"}, nil},
		{"evaluate t.csv --label y --learner fda --folds 2 --k 1 --repeats 1", 0, []string{"fda"}, nil},
		{"fit bare.csv --label 2 --no-header --learner euclidean --out b.json", 0, nil, nil},
		{"transform --model b.json nohead.csv", 0, []string{"z1"}, nil},
		{"fit u.csv --learner pca --out p.json", 0, []string{"pca dim=0", "embeds in 1 dimension"}, nil},
		{"transform --model p.json u.csv", 0, []string{"z1"}, nil},
		{"fit u.csv --pairs s.csv --learner pola --out q.json", 0, nil, nil},
		{"transform --model q.json u.csv", 0, []string{"z1"}, nil},
		{"plot --model q.json u.csv --out u.svg", 0, []string{"The embedding has one dimension"}, nil},
		{"neighbours u.csv --model q.json --train u.csv --k 1", 0, []string{"row,rank,training_row"}, nil},
	})
}

func TestCase36TiedDistances(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(3, 6))
	var lines []string
	for i := range n / 2 { // similar pairs among the first rows alone
		lines = append(lines, fmt.Sprintf("%d,%d,1", i, (i+1)%(n/2)), fmt.Sprintf("%d,%d,-1", n/2+i, n/2+(i+7)%(n/2)))
	}
	file := func(row func(i int) int, order []int) string {
		return each(len(lines), func(k int) string {
			var i, j, label int
			fmt.Sscanf(lines[order[k]], "%d,%d,%d", &i, &j, &label)
			return fmt.Sprintf("%d,%d,%d", row(i), row(j), label)
		})
	}
	inOrder, mixed, perm := make([]int, len(lines)), rng.Perm(len(lines)), rng.Perm(n)
	for i := range inOrder {
		inOrder[i] = i
	}
	files(t, map[string]string{
		"first.csv": file(func(i int) int { return i }, inOrder), "last.csv": file(func(i int) int { return n - 1 - i }, inOrder),
		"perm.csv": file(func(i int) int { return perm[i] }, inOrder), "mixed.csv": file(func(i int) int { return i }, mixed),
	})
	writeSame(t, "same.npy", n)
	c := newCommand(toys(nil))
	for _, name := range []string{"first.csv", "last.csv", "perm.csv", "mixed.csv"} {
		if code := c.run("evaluate", "--vectors", "same.npy", "--pairs", name, "--learner", "lego", "--test-share", "0.5", "--k", "10", "--no-standardise", "--json"); code != 0 {
			t.Fatalf("%s: %s", name, c.err.String())
		}
		var e evaluated
		if err := json.Unmarshal(c.out.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		scores := e.Methods[0].Scores
		if auc := scores[model.MeasureAUC].Mean; e.Methods[0].Name != model.Euclidean || auc != .5 {
			t.Errorf("%s: AUC %v, want .5", name, auc)
		}
		for _, r := range scores[model.MeasureRecall].Splits { // 10 of the others that pairs of held-out items name
			if r < .2 || r > .8 { // chance is 10 of about 25; by the order of rows it was 0 or 1
				t.Errorf("%s: recall %v", name, r)
			}
		}
	}
}

func TestCase54CoordinatesTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 4))
	var z [12][2]float64
	for i := range z {
		z[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	sq := func(i, j int) float64 { return math.Pow(z[i][0]-z[j][0], 2) + math.Pow(z[i][1]-z[j][1], 2) }
	var triplets [][3]int
	for range 300 {
		o := rng.Perm(12)
		if sq(o[0], o[1]) > sq(o[0], o[2]) {
			o[1], o[2] = o[2], o[1]
		}
		triplets = append(triplets, [3]int(o[:3]))
	}
	files(t, map[string]string{"t.csv": each(300, func(i int) string { return fmt.Sprintf("%d,%d,%d", triplets[i][0], triplets[i][1], triplets[i][2]) })})
	c := newCommand(toys(nil))
	if code := c.run("fit", "--triplets", "t.csv", "--learner", "ste", "--dim", "1", "--coordinates", "z.csv"); code != 0 {
		t.Fatal(c.err.String())
	}
	at := map[int]float64{}
	for _, line := range strings.Split(strings.TrimSpace(readTest(t, "z.csv")), "\n")[1:] {
		var o int
		var v float64
		if _, err := fmt.Sscanf(line, "%d,%g", &o, &v); err != nil {
			t.Fatal(err)
		}
		at[o] = v
	}
	wrong := 0
	for _, v := range triplets {
		if math.Abs(at[v[0]]-at[v[1]]) > math.Abs(at[v[0]]-at[v[2]]) {
			wrong++
		}
	}
	if want := fmt.Sprintf("they contradict %.2f %% of the comparisons", 100*float64(wrong)/300); wrong == 0 || !strings.Contains(c.out.String(), want) {
		t.Errorf("no %q in:\n%s", want, c.out.String())
	}
}

func TestCase07NpyKinds(t *testing.T) {
	const big = 1 << 53
	four := func(v ...int64) []int64 { return v }
	files(t, map[string]string{
		"c.npy": npyOf(t, "<f8", "(4, 2)", []float64{0, 1, 2, 3, 1, 5, 6, 2}), "i.npy": npyOf(t, "<i8", "(4, 2)", four(0, 1, 2, 3, 1, 5, 6, 2)), "be.npy": npyOf(t, ">f8", "(4, 2)", []float64{0, 1, 2, 3, 1, 5, 6, 2}),
		"u.npy": npyOf(t, "<u8", "(4, 2)", []uint64{0, 1, 2, 3, 1, 5, 6, 2}), "y.npy": npyOf(t, "<i8", "(4,)", four(0, 1, 0, 1)), "b.npy": npyOf(t, "|b1", "(4,)", []bool{false, true, false, true}),
		"ybig.npy": npyOf(t, "<i8", "(4,)", four(big, big+1, big, big+1)), "ubig.npy": npyOf(t, "<u8", "(4,)", []uint64{1<<64 - 1, 1<<64 - 2, 1<<64 - 1, 1<<64 - 2}), "ybig.csv": each(4, func(i int) string { return fmt.Sprint(big + i%2) }),
		"xbig.npy": npyOf(t, "<i8", "(4, 2)", four(1, 2, 3, 4, 5, big+1, 7, 8)), "xubig.npy": npyOf(t, "<u8", "(4, 2)", []uint64{1, 2, 3, 4, 5, 6, 7, 1<<64 - 1}), "xok.npy": npyOf(t, "<i8", "(4, 2)", four(1, 2, 3, 4, 5, big, 7, 1<<60)),
		"xbig.csv": "a,b,y\n1,2,A\n3,9007199254740993,B\n1,2,A\n3,4,B\n", "xok.csv": "a,b,y\n1,2,A\n3,9007199254740992,B\n1,2,A\n3,100000000000000000000,B\n",
		"f2.npy": npyOf(t, "<f2", "(4, 2)", make([]uint16, 8)), "c16.npy": npyOf(t, "<c16", "(4, 1)", make([]float64, 8)),
	})
	fit := func(x, y string) string {
		return "fit " + x + " --labels " + y + " --learner euclidean --no-standardise --out " + x + ".json"
	}
	say(t, []said{
		{fit("c.npy", "y.npy"), 0, []string{"2 classes: 0 (2), 1 (2)"}, nil}, {fit("i.npy", "b.npy"), 0, []string{"2 classes: false (2), true (2)"}, nil},
		{fit("be.npy", "y.npy"), 0, nil, nil}, {fit("u.npy", "y.npy"), 0, nil, nil}, {fit("xok.npy", "y.npy"), 0, nil, nil}, {"fit xok.csv --label y --learner euclidean --out x.json", 0, nil, nil},
		{fit("c.npy", "ybig.npy"), 0, []string{"2 classes: 9007199254740992 (2), 9007199254740993 (2)"}, nil}, {fit("c.npy", "ybig.csv"), 0, []string{"2 classes: 9007199254740992 (2), 9007199254740993 (2)"}, nil},
		{fit("c.npy", "ubig.npy"), 0, []string{"2 classes", "18446744073709551615 (2)"}, nil},
		{fit("xbig.npy", "y.npy"), 1, []string{"row 2, column 1: an integer beyond ±2^53 is not allowed", "9007199254740992"}, nil}, {fit("xubig.npy", "y.npy"), 1, []string{"row 3, column 1"}, nil},
		{"fit xbig.csv --label y --learner euclidean --out x.json", 1, []string{`xbig.csv:3: column "b": "9007199254740993" would become 9007199254740992`}, nil},
		{fit("f2.npy", "y.npy"), 1, []string{`numbers of type "<f2" are not allowed`}, nil}, {fit("c16.npy", "y.npy"), 1, []string{`numbers of type "<c16" are not allowed`}, nil},
	})
	if readTest(t, "be.npy.json") != readTest(t, "u.npy.json") {
		t.Error("the same numbers in another type give another model")
	}
}

func TestCase12Thousands(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	value := make([]int, 40)
	for i := range value {
		value[i] = 700 + rng.IntN(900) + 300*(i%2)
	}
	table := func(head, sep, mark, more string) string {
		return head + "\n" + each(len(value), func(i int) string {
			v := fmt.Sprint(value[i])
			if len(v) > 3 {
				v = v[:1] + mark + v[1:]
			}
			if sep == "," && mark == "," {
				v = `"` + v + `"`
			}
			cells := []string{v}
			if more != "" {
				cells = append(cells, strings.Replace("0.25", ".", more, 1))
			}
			return strings.Join(append(cells, []string{"A", "B"}[i%2]), sep)
		})
	}
	content := map[string]string{
		"plain.csv": table("v,r,y", ",", "", "."), "us.csv": table("v,r,y", ",", ",", "."), "us_tab.csv": table("v\tr\ty", "\t", ",", "."), "us_semi.csv": table("v;y", ";", ",", ""),
		"eu.csv": table("v;r;y", ";", ".", ","), "eu_int.csv": table("v;y", ";", ".", ""), "eu_tab.csv": table("v\ty", "\t", ".", ""),
	}
	files(t, content)
	fit := func(f, more string) string {
		return "fit " + f + " --label y --learner euclidean --no-standardise --out m.json" + more
	}
	say(t, []said{
		{fit("plain.csv", ""), 0, nil, nil}, {fit("us.csv", ""), 0, nil, nil}, {fit("us_tab.csv", ""), 0, nil, nil}, {fit("eu.csv", ""), 0, nil, nil},
		{fit("us_semi.csv", ""), 2, []string{"may be decimal or mark thousands", "--decimal-comma reads commas as decimal"}, nil}, {fit("eu_int.csv", ""), 2, []string{"may be decimal or mark thousands", "--decimal-comma reads commas as decimal"}, nil},
		{fit("eu_tab.csv", ""), 2, []string{"may be decimal or mark thousands"}, nil},
	})
	// What the advice gives is what was meant.
	for f, flag := range map[string]string{"us.csv": "", "us_tab.csv": "", "eu.csv": "", "us_semi.csv": " --decimal-comma=false", "eu_int.csv": " --decimal-comma", "eu_tab.csv": " --decimal-comma"} {
		c := newCommand(toys(nil))
		if code := c.run(strings.Fields(fit(f, flag))...); code != 0 {
			t.Fatalf("%s: %s", f, c.err.String())
		}
		if code := c.run(strings.Fields("transform " + f + " --model m.json" + flag)...); code != 0 {
			t.Fatalf("%s: %s", f, c.err.String())
		}
		lines := strings.Split(strings.TrimSpace(c.out.String()), "\n")[1:]
		for i, line := range lines {
			if cell := strings.Split(line, ",")[0]; cell != fmt.Sprint(value[i]) && !strings.Contains(line, fmt.Sprint(value[i])) {
				t.Errorf("%s: row %d: %s, want %d", f, i, line, value[i])
				break
			}
		}
	}
}
